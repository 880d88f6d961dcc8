/* SPDX-License-Identifier: Apache-2.0 */
/* The summary line: what the rows of one relation came to. */
#ifndef OWED_STREAM_SUMMARY_H
#define OWED_STREAM_SUMMARY_H

#include "stream/absent.h"
#include "stream/relation.h"
#include "stream/ts.h"

#include "base/base.h"

struct stream_line;
struct stream_out;

/* Owed rows of one fate that follow one another in offset order in one topic partition. */
struct summary_run {
    enum finding_kind kind;
    const char *topic;
    uint64_t partition, first, last, rows;
    struct stream_ts oldest, newest; /* of those of their records whose time is known */
};

struct summary {
    enum relation relation;
    bool undecided;                                        /* what was seen, and decides nothing */
    uint64_t owed_rows, found_rows, keys;                  /* of the keys compared */
    uint64_t kind_keys[KIND_TYPES], kind_rows[KIND_TYPES]; /* duplicated rows: surplus copies */
    uint64_t resent, replayed, unexplained;                /* surplus copies */
    uint64_t beside;                                       /* unexpected rows under keys that owe others */
    uint64_t unwanted[ABSENT_TYPES];                       /* unexpected rows under keys that must be absent */
    uint64_t kept;           /* missing rows of INSERTs whose token may have outlived them */
    uint64_t repeated_keys;  /* keys with equal owed copies */
    uint64_t ambiguous_keys; /* keys that the captured rows hold twice, not compared */
    uint64_t excluded_keys;
    uint64_t absent_keys;           /* keys that must be absent and have no owed row */
    uint64_t deleted_rows;          /* owed rows that the deletion of their key took away */
    const struct summary_run *runs; /* the longest, by topic, partition and offset */
    size_t runs_listed;
    uint64_t runs_total;
    const char *const *unordered; /* topic/partition that did not come in offset order: no runs */
    size_t unordered_n;
    uint64_t tail_rows, tail_partitions; /* where all that is missing is the newest */
    uint64_t listed;                     /* findings */
};

/* Parse a summary line; everything lives in arena. ERR_REFUSED, with the line's number. */
int stream_summary(const struct stream_line *line, struct arena *arena, struct summary *out, struct err *err);
void stream_put_summary(struct stream_out *out, const struct summary *s);

#endif
