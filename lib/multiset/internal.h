/* SPDX-License-Identifier: Apache-2.0 */
/* Inside multiset only: each file's part, in the order in which they rest on one another. */
#ifndef OWED_MULTISET_INTERNAL_H
#define OWED_MULTISET_INTERNAL_H

#include <pthread.h>

#include "multiset/multiset.h"

/* ---- rows by their cells (rows.c) ---- */

struct key_form {
    size_t columns;
    bool *key;
    size_t last;   /* columns up to the last of the key */
    size_t prefix; /* the key is the first `prefix` columns, else 0 */
    unsigned hash_bits;
    uint64_t seed[3]; /* of the hash, and the key of the other one */
};
void key_form_seed(struct key_form *f, uint64_t seed); /* 0: at random */

/* ends[i]: the offset just past cell i, for the first `want` cells of a canonical row. */
void row_ends(const char *row, size_t len, size_t want, uint32_t *ends);
/* The key's cells. They point into row where the key is a prefix, else into scratch. */
struct multiset_text row_key(const struct key_form *f, const char *row, const uint32_t *ends, struct buf *scratch);
struct multiset_text row_key_of(const struct key_form *f, const char *row, size_t len, struct buf *scratch);
/* Upper 32 bits find the bucket, lower 30 the scratch file, the one between them the worker. */
uint64_t key_hash(const struct key_form *f, const char *p, size_t n);
/* Slower, and nobody can make it collide: for keys of which too many have the same key_hash. */
uint64_t key_hash_keyed(const struct key_form *f, const char *p, size_t n);
uint64_t text_hash(uint64_t seed, const char *p, size_t n);
/* Byte order; a text that is a prefix of another comes first. */
int text_order(struct multiset_text a, struct multiset_text b);
struct multiset_text text_copy(struct arena *a, struct multiset_text t);

/* ---- one distinct row (table.c) ---- */

#define UNIT 8u /* entries are counted in units of 8 bytes, so that 32 bits reach 32 GiB */
#define COUNT_BITS 14u
#define COUNT_MAX ((1u << COUNT_BITS) - 1)

#define ENTRY_HEAD ((uint64_t)1 << 56)  /* first row of its key, found by the key's hash */
#define ENTRY_HEAVY ((uint64_t)1 << 57) /* on a head: its key's other rows are found by their own hash */
#define ENTRY_WIDE ((uint64_t)1 << 58)  /* the counters are an index into table.wide */
#define ENTRY_RESENT ((uint64_t)1 << 59)
#define ENTRY_REPLAYED ((uint64_t)1 << 60)
/* Of ENTRY_RESENT and ENTRY_REPLAYED: one further copy each, or as many as the wide counters say. */
#define ENTRY_FATE_SHIFT 61 /* two bits: the fate of an owed row in the relation at hand */
#define ENTRY_FATE ((uint64_t)3 << ENTRY_FATE_SHIFT)
#define ENTRY_KEPT ((uint64_t)1 << 63)

struct entry {
    uint32_t next; /* the key's next distinct row, 0: none */
    uint32_t len;
    uint64_t state; /* four counters of 14 bits, flags above them */
    char row[];
};

/* What an owed row comes to. */
enum fate { FATE_FINE, FATE_MISSING, FATE_CHANGED, FATE_DUPLICATED, FATES };

struct wide {
    uint64_t copies[SIDES];
    uint32_t resent, replayed;
    uint64_t left[FATES]; /* copies of each fate still to be given out, in the relation at hand */
};

/* Owed rows with a place, in the order they came: entry, and number among all of their side. */
struct order {
    uint32_t *entry;
    size_t n, cap;
    struct buf gaps; /* of each number from the one before, as varints */
    uint64_t last;
};

struct table {
    const struct key_form *form;
    char *base;
    size_t used, cap;
    uint64_t *slots;
    unsigned bits;
    uint64_t filled;
    bool keyed; /* by key_hash_keyed: too many rows had the same hash */
    struct wide *wide;
    size_t wide_n, wide_cap;
    struct order order[2]; /* captured, reference */
    uint64_t budget;
    size_t beside; /* bytes of the budget that are taken by others */
    struct buf scratch[2];
};

struct item {
    const char *row;
    uint32_t len;
    uint32_t key_len; /* of the key's cells where they are a prefix, else 0 */
    uint64_t hash;
    uint64_t number;        /* of an owed row with a place, else NO_NUMBER */
    const uint64_t *copies; /* one a side, where side is SIDES */
    unsigned side;          /* one copy of this side */
    struct again again;
};
#define NO_NUMBER UINT64_MAX
#define ITEMS 64 /* that room is made for at once */

int table_init(struct table *t, const struct key_form *form, uint64_t budget, struct err *err);
void table_free(struct table *t);
void table_reset(struct table *t); /* empty, memory kept */
/* True where n more rows of `bytes` bytes together, of which `placed` have a number, fit in the budget. Grows the
 * index. */
bool table_room(struct table *t, size_t n, size_t bytes, size_t placed);
/* Prefetch what table_add will need of the first of n rows. */
void table_prefetch(const struct table *t, const struct item *items, size_t n);
/* `more` rows that come next follow the n: what they need is prefetched too. */
void table_add(struct table *t, const struct item *items, size_t n, size_t more);
uint64_t entry_copies(const struct table *t, const struct entry *e, unsigned side);
struct wide *entry_wide(struct table *t, struct entry *e);              /* widened where it is not yet */
struct again entry_again(const struct table *t, const struct entry *e); /* of all its captured copies together */

/* One copy less of a side that has any. */
void entry_uncount(struct table *t, struct entry *e, unsigned side);
/* The first entry of this one's key. */
struct entry *table_head(struct table *t, const struct entry *of);

static inline struct entry *entry_at(const struct table *t, uint32_t ref)
{
    return (struct entry *)(void *)(t->base + (size_t)ref * UNIT);
}
static inline size_t entry_size(size_t len)
{
    return (sizeof(struct entry) + len + UNIT - 1) & ~(size_t)(UNIT - 1);
}
#define FIRST_ENTRY 1u /* reference 0 is none */

/* ---- an append-only store of bytes, in memory until it is put on disk (spool.c) ---- */

struct spool {
    struct buf held;
    int fd; /* -1: in memory */
    uint64_t bytes;
};
void spool_init(struct spool *s);
int spool_to_disk(struct spool *s, const char *dir, struct err *err);
int spool_flush(struct spool *s, struct err *err); /* before reading */
static inline bool spool_full(const struct spool *s)
{
    return s->fd >= 0 && s->held.len >= (16u << 10);
}
void spool_free(struct spool *s);

struct spool_reader {
    struct spool *from;
    uint64_t at; /* next byte of the store not yet in block */
    struct buf block;
    size_t used;
};
void spool_read(struct spool_reader *r, struct spool *s);
/* At least n bytes (fewer only at the end) from the reader's place; *have is how many. */
int spool_peek(struct spool_reader *r, size_t n, const char **p, size_t *have, struct err *err);
void spool_reader_free(struct spool_reader *r);

#define VARINT_MAX ((size_t)10)
void varint_put(struct buf *b, uint64_t v);
size_t varint_get(const char *p, size_t n, uint64_t *v); /* bytes taken, 0 where cut */

/* The next gap of an order, from *at 0. */
static inline uint64_t order_gap(const struct order *o, size_t *at)
{
    uint64_t gap;
    *at += varint_get(o->gaps.p + *at, o->gaps.len - *at, &gap);
    return gap;
}

/* ---- places (places.c) ---- */

struct partition_name {
    char *name; /* topic/partition */
    size_t name_len;
    char *topic;
    uint64_t partition;
    uint64_t last_offset, last_n; /* of the row before */
    uint64_t last_ms;             /* of the one before that has a time */
    bool any, unordered;
    size_t rank; /* in the order of topic and partition */
};

/* Fates of a side's placed rows in one relation: two bits each, nothing until the first that is not fine. */
struct fates {
    unsigned char *bits;
    uint64_t rows;
};
void fates_set(struct fates *f, uint64_t rows, uint64_t number, enum fate fate);

static inline enum fate fates_get(const struct fates *f, uint64_t number)
{
    return f->bits ? (enum fate)(f->bits[number / 4] >> (number % 4 * 2) & 3) : FATE_FINE;
}

/* The places of one side's rows, in the order they came. */
struct places {
    struct spool log;
    struct fates gone; /* rows that a deletion took away are not fine */
    struct partition_name *at;
    size_t n, cap;
    uint32_t *slots; /* by name: index in at, plus 1 */
    size_t slots_n;
    uint64_t seed;
    size_t latest; /* the partition of the row before */
    uint64_t rows;
};
void places_init(struct places *p, uint64_t seed);
/* 0, or -1 where text is not topic/partition/offset[#n]. */
int places_add(struct places *p, const char *at, size_t n, struct stream_ts ts, struct err *err);
/* The index of a partition by its name, or SIZE_MAX. */
size_t places_find(const struct places *p, const char *name, size_t n);
void places_free(struct places *p);

struct place {
    size_t partition; /* index in places.at */
    uint64_t offset, n;
    struct stream_ts ts;
};
struct places_reader {
    struct spool_reader in;
    const struct places *from;
    uint64_t *offset, *ms; /* of the row before, a partition each */
    uint64_t left;
};
void places_read(struct places_reader *r, struct places *p);
int places_next(struct places_reader *r, struct place *out, struct err *err); /* 1, 0 at the end, -1 */
void places_reader_free(struct places_reader *r);

/* ---- keys that must be absent (absent.c) ---- */

/* The entry of such a key, whose cells, ends and place row holds. */
void absent_entry(struct buf *out, const struct key_form *form, const struct multiset_row *row, enum absent_why why);
bool absent_is(const char *row, size_t len);
/* What the entry says behind its key; why, and where (p NULL: it does not say). */
struct multiset_text absent_said(const struct key_form *form, const struct entry *e);
enum absent_why absent_read(struct multiset_text said, struct multiset_text *at);
/* Take from the table, before it is compared, the reference's rows that deletions take away; how many is added. */
int absent_take(struct table *t, struct places *p, uint64_t *taken, struct err *err);

/* ---- listed findings (list.c) ---- */

struct candidate {
    struct multiset_finding f; /* its texts, cut to MULTISET_SHOWN each, are in bytes */
    char *bytes;
    bool key_cut;
    uint64_t tie;    /* hash of the whole texts: an order for rows alike as far as they are held */
    uint32_t entry;  /* the owed row, in the table at hand, or 0 */
    uint64_t number; /* of the first of its copies that it touches, or NO_NUMBER */
};
struct list {
    struct candidate *heap[KIND_TYPES]; /* the first `max` of each kind, the last of them on top */
    size_t n[KIND_TYPES];
    size_t max;
};
#define LIST_LEAST ((size_t)100) /* held of each kind to look for causes, however few are shown */
void list_init(struct list *l, size_t max);
void list_offer(struct list *l, const struct multiset_finding *f, uint32_t entry);
void list_settle(struct list *l); /* the table at hand goes: entries are no longer known */
/* Put each kind in order. */
void list_order(struct list *l);
/* Of lists in order: note in m the missing rows whose values stand under a key next to their own (near.c). */
void list_near(const struct list *l, const struct key_form *form, struct arena *arena, struct multiset_missing *m);
/* Share `show` among the kinds of an ordered list that have any: how many are left. */
size_t list_finish(struct list *l, size_t show);
void list_free(struct list *l);

/* ---- keys left out (list.c) ---- */

struct key_set {
    uint64_t seed; /* set by the caller */
    struct multiset_text *slots;
    size_t n, size;
    struct arena arena;
    uint64_t bytes;
};
bool key_set_has(const struct key_set *s, struct multiset_text key);
void key_set_add(struct key_set *s, struct multiset_text key);
void key_set_free(struct key_set *s);

/* ---- runs (runs.c) ---- */

struct work;
/* Walk the places of one side: runs, what is said of the missing rows by their places, and the `at` of listed findings,
 * for each relation owed from it (runs.c). */
int runs_find(struct places *p, struct work *const *works, size_t n, size_t max, const struct multiset_asked *asked,
              struct arena *arena, struct err *err);

/* ---- comparing the rows of a table (compare.c) ---- */

struct work {
    struct multiset_relation *out;
    enum relation relation;
    enum side owed;
    bool found_captured; /* found: captured rows; else the destination */
    bool reads;          /* this one looks for keys that the reads saw differently */
    struct list list;
    struct fates fates;
    struct fates unfit; /* missing for the rows that are missing and have a cell that is unfit */
    uint64_t placed;    /* rows with a place on the owed side */
    bool touched;       /* a fate that is not fine in the table at hand */
    uint64_t twice[2];  /* numbers of the first two captured rows of the first key that is held twice, or NO_NUMBER */
};

struct left {
    struct entry *e;
    uint64_t copies;
};
struct compare {
    struct table *t;
    const struct key_set *excluded, *excluded_found; /* of the reference's keys; of the destination's */
    struct arena *arena;                             /* of the result's texts */
    struct multiset_result *result;
    struct entry **group; /* the rows of the key at hand */
    size_t n, cap;
    bool absents;               /* keys may have to be absent */
    const struct entry *absent; /* of the key at hand: the first that says so, where no row of the reference is owed */
    struct left *owed, *found;  /* copies of them that no equal row paired */
    struct buf key;
    bool fates_set;      /* the relation before left fates in the table at hand */
    bool repeats;        /* equal captured rows are meant */
    bool reference_keys; /* as asked */
};
void compare_table(struct compare *c, struct work *w);
/* Give the fates out to the rows in their order, and listed findings the number of their first row. */
void compare_fates(struct compare *c, struct work *w);
void compare_free(struct compare *c);

/* ---- scratch files by key (spill.c) ---- */

#define SPILL_BITS 6u
#define SPILL_FILES (1u << SPILL_BITS)
#define SPILL_LEVELS 5u
#define WORKER_BIT (SPILL_BITS * SPILL_LEVELS) /* of the hash: the first that no scratch file depends on */
_Static_assert(WORKER_BIT < 32, "the worker is not of the bits that find the bucket");

struct spill {
    struct spool at[SPILL_FILES];
    unsigned level;
    const char *dir;
    const struct key_form *form;
    struct buf key; /* scratch */
};
int spill_open(struct spill *p, unsigned level, const char *dir, const struct key_form *form, struct err *err);
int spill_put(struct spill *p, const struct item *item, struct err *err);
int spill_table(struct spill *p, struct table *t, struct err *err);
int spill_flush(struct spill *p, struct err *err);
void spill_close(struct spill *p);
typedef int spill_fn(void *ctx, struct err *err);
/* Load each file into t and call fn on it; one that does not fit is cut again. */
int spill_each(struct spill *p, struct table *t, spill_fn *fn, void *ctx, struct err *err);

/* ---- a share of the keys: its queue, thread, table and scratch files (worker.c) ---- */

#define BATCHES 16
struct batch;

struct worker {
    struct batch *batch[BATCHES];
    size_t filling; /* the batch that the caller fills */
    const char *scratch;
    bool thread;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t ready; /* batches given on and not yet done */
    bool closing, failed, on_disk;
    struct err err;

    /* of the worker, until it is joined */
    struct table table;
    struct spill spill;
    bool spilled;
};
/* share: the bytes of the memory that its table may take. scratch is kept, not copied. */
void worker_init(struct worker *w, const struct key_form *form, uint64_t memory, uint64_t share, const char *scratch,
                 bool thread);
/* True where a row of len bytes has no room left in the batch: it is to be submitted first. */
bool worker_full(const struct worker *w, size_t len);
/* One more row, copied: the caller says of it what is not row and len. */
struct item *worker_add(struct worker *w, const char *row, size_t len);
/* Give the batch on, and wait for an empty one. beside: bytes of the share that are taken by others. */
int worker_submit(struct worker *w, size_t beside, bool *on_disk, struct err *err);
/* Wait for what was given on. Then the table and files are the caller's. */
int worker_join(struct worker *w, struct err *err);
void worker_free(struct worker *w);

#endif
