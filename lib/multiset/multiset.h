/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiset: rows of up to four sides, held once each with a counter a side, and
 * compared key by key (STREAM.md, "Comparing"). A hash only finds a bucket;
 * equal means equal bytes. No choice of rows makes it slow: the hash has a random
 * seed, and keys that collide all the same are told apart by a keyed one. Past its memory the rows go to unlinked
 * scratch files, cut by key, and the result is the same to the byte.
 *
 * Rows are copied in. What a result points to lives until multiset_free.
 */
#ifndef OWED_MULTISET_H
#define OWED_MULTISET_H

#include "base/base.h"
#include "stream/absent.h"
#include "stream/again.h"
#include "stream/stream.h"
#include "stream/summary.h"
#include "types/types.h"

/* A finding shows its rows only where they and its key fit in this many bytes together. */
#define MULTISET_SHOWN ((size_t)8 << 10)
/* What is held beside the rows: the program, batches, buffers of scratch files. */
#define MULTISET_FIXED ((uint64_t)14 << 20)

struct multiset_config {
    size_t columns;
    const bool *key;     /* one a column: part of the key; at least one is. Copied */
    uint64_t memory;     /* bytes that rows, their index and their order may take, beside MULTISET_FIXED */
    const char *scratch; /* directory of scratch files; NULL: /var/tmp */
    size_t list;         /* findings (and runs) shown a relation */
    bool thread;         /* look rows up on threads of their own while the caller reads */
    unsigned hash_bits;  /* 0: all. Fewer makes collisions the rule, for tests */
    uint64_t seed;       /* of the hashes. 0: a random one; another one repeats a run, for tests */
};

struct multiset_row {
    const char *cells; /* canonical cells, '[' to ']' */
    size_t len;
    const uint32_t *ends; /* as cells_scan_row gives them, for the columns up to the last of the key */
    const char *at;       /* topic/partition/offset[#n], or NULL */
    size_t at_len;
    struct again again;
    struct stream_ts ts; /* of an owed row with a place; no part of it */
};

struct multiset;

struct multiset *multiset_new(const struct multiset_config *config);
void multiset_free(struct multiset *m);

/* Add one copy of a row to a side. ERR_REFUSED for an `at` that is not of that form, ERR_TROUBLE where scratch space
 * fails (perhaps for a row given earlier). */
int multiset_add(struct multiset *m, enum side side, const struct multiset_row *row, struct err *err);
/* Leave a key (its cells in order, `"a","b"` without brackets) out of comparisons with the reference. */
void multiset_exclude(struct multiset *m, const char *key, size_t len);
/* The same out of those with the destination, whose reads may then differ for it too. */
void multiset_exclude_found(struct multiset *m, const char *key, size_t len);

/* A key that the destination must not hold: row has its cells, its ends and its at. One that was deleted takes away the
 * reference's rows of earlier offsets of its partition. Errors as of multiset_add. */
int multiset_absent(struct multiset *m, const struct multiset_row *row, enum absent_why why, struct err *err);
/* True where a key was deleted and a row of the reference has no place: nobody knows which of them came first. */
bool multiset_unplaced(const struct multiset *m);

struct multiset_text {
    const char *p; /* NULL: not there, or not shown */
    size_t n;
};

struct multiset_finding {
    enum finding_kind kind;
    unsigned read;            /* which read of the destination it was seen in; 0 where none takes part */
    struct multiset_text key; /* cells without brackets */
    struct multiset_text owed, found;
    struct multiset_text absent;        /* why its key must be absent: multiset_why reads it; p NULL: it need not */
    bool cut;                           /* its rows are too long to be shown */
    bool others;                        /* other rows are owed or found under the key */
    uint64_t owed_copies, found_copies; /* of the rows shown, on their sides */
    uint64_t rows;                      /* how many rows, or surplus copies, it stands for */
    char *at;                           /* of the first owed copy that it touches, or NULL */
    struct stream_ts ts;                /* of the same */
    struct again explained;             /* surplus copies, by what can have made them; of missing rows kept alone */
};

/* Missing rows that nothing owed follows in their partition. */
struct multiset_tail {
    uint64_t rows, partitions;
    struct summary_run first; /* of the first partition that has any, by topic and number */
    bool whole;               /* the first one is all that its partition owes */
};

/* What speaks for one cause or another of missing rows. Texts are NULL where there is nothing to say. */
struct multiset_missing {
    uint64_t placed;          /* rows with a place */
    uint64_t unfit;           /* rows with a cell that is unfit: no table will hold them */
    uint64_t batches;         /* runs of missing rows, some of them unfit and others not */
    uint64_t batches_rows;    /* the rows of these */
    uint64_t batches_unfit;   /* the unfit ones among them */
    struct summary_run batch; /* the longest of them */
    char *batch_at;           /* its first unfit row */
    uint64_t near;            /* of those that were looked at, rows whose values stand under a key next to their own */
    const char *near_key, *near_other; /* the first of them: its key, and the one that it stands under */
    uint64_t passed, pending;          /* before what the consumers had committed, and from there on */
    char *passed_at;                   /* the first of those before */
};

struct multiset_relation {
    bool asked;
    struct summary sum;                /* its own arrays live as long as the multiset */
    struct multiset_text ambiguous;    /* the first in byte order of the keys that are held twice */
    char *ambiguous_at[2];             /* of its first two rows, NULL where they have none */
    struct multiset_finding *findings; /* by kind, then key and rows in byte order */
    struct multiset_tail tail;
    struct multiset_missing missing;
};

struct multiset_result {
    struct multiset_relation of[RELATION_TYPES];
    uint64_t rows[SIDES];        /* added */
    uint64_t differ_keys;        /* keys that the two reads saw differently; their findings stand once a read */
    struct multiset_text differ; /* the first of them in byte order */
    bool on_disk;                /* scratch files were used */
};

/* The next offset that the consumers of a topic had to read of a partition, or MULTISET_NOT_KNOWN. */
typedef int64_t multiset_consumed_fn(const void *ctx, const char *topic, uint64_t partition);
#define MULTISET_NOT_KNOWN ((int64_t)-1)

/* Told the place of each missing row, in the order in which the rows were added; -1 with *err ends the comparison. */
typedef int multiset_missing_fn(void *ctx, const char *topic, uint64_t partition, uint64_t offset, struct err *err);

struct multiset_asked {
    bool relation[RELATION_TYPES];
    bool reference;      /* the expectation of RELATION_COVERAGE is the reference's rows, else the captured ones */
    bool repeats;        /* equal captured rows under one key are meant */
    bool reference_keys; /* RELATION_REFERENCE_DESTINATION looks at the reference's keys alone */
    multiset_consumed_fn *consumed; /* NULL: nobody knows */
    const void *consumed_ctx;
    multiset_missing_fn *missing; /* NULL: nobody asks */
    void *missing_ctx;
    enum relation missing_of;
};
/* Compare what was added; once, at the end. found_rows are of read 1. */
int multiset_compare(struct multiset *m, const struct multiset_asked *asked, struct multiset_result *out,
                     struct err *err);

/* True where all that is wrong in a relation with the table is that the newest rows of some partitions are missing. */
bool multiset_only_tail(enum relation r, const struct multiset_relation *of);

/* ---- as lines ---- */

/* A key (its cells without brackets) as a reason shows it, cut where it is long. */
void multiset_put_key(struct buf *out, struct multiset_text key);

/* The finding lines of a relation, then its summary line. undecided: what was seen, where nothing is decided by it;
 * may_owe_more: the same of what is found above what is owed. */
void multiset_put(struct stream_out *out, enum relation r, const struct multiset_relation *of,
                  const struct columns *columns, bool undecided, bool may_owe_more);

#endif
