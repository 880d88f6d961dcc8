/* SPDX-License-Identifier: Apache-2.0 */
/* The last row of each key: rows are kept in a scratch file, of each key which of them is the last so far. */
#include "reference/last.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "cells/cells.h"
#include "stream/codes.h"

#define HELD ((size_t)1 << 20) /* of the scratch file, in memory */
#define ENTRY_ROOM 96          /* of a key beside its text: its entry and its place in the map */
#define FREE_ROW UINT64_MAX    /* a row that has no key or no order, and is given as it came */

struct head {
    uint64_t entry;
    uint32_t n, at_len;
    struct stream_ts ts;
};

struct entry {
    uint64_t row;        /* of the last row so far: where it stands */
    uint64_t partition;  /* that it came from; 0: none is known */
    char *version;       /* its cell; NULL: there is none */
    struct owner *owner; /* the key */
    int64_t sum;         /* of the signs of a versioned engine's rows */
    bool deleted;        /* it is a delete */
    bool tied;           /* nothing tells it from another */
};

/* A key; of a versioned engine each of its versions is an entry of its own. */
struct owner {
    const char *key; /* its cells, comma separated */
    bool stands;     /* a row of it does */
    bool gone;       /* and was given as deleted */
};

struct reference_last {
    const struct engine *e;
    const struct columns *columns;
    size_t version, deleted, sign; /* places of the engine's columns; columns->n: it has none */
    uint64_t memory, held_keys;
    int fd;
    struct buf tail; /* of the scratch file, not written yet */
    uint64_t written;
    struct arena arena; /* keys, names of partitions */
    struct map keys, owners, partitions;
    struct owner **owner;
    struct entry *entries;
    uint64_t n_entries, rows;
    uint32_t *ends; /* of the row at hand */
    struct buf key, back;
};

static size_t place_of(const struct columns *c, const char *name)
{
    size_t at = c->n;
    if (name)
        columns_find(c, name, strlen(name), &at);
    return at;
}

struct reference_last *reference_last_new(const struct engine *e, const struct columns *columns, const char *scratch,
                                          uint64_t memory, struct err *err)
{
    int fd = scratch_open(scratch, err);
    if (fd < 0)
        return NULL;
    struct reference_last *l = xcalloc(1, sizeof *l);
    *l = (struct reference_last){.e = e,
                                 .columns = columns,
                                 .version = place_of(columns, e->version),
                                 .deleted = place_of(columns, e->deleted),
                                 .sign = place_of(columns, e->sign),
                                 .memory = memory,
                                 .fd = fd,
                                 .ends = xcalloc(columns->n, sizeof *l->ends)};
    return l;
}

/* ---- the scratch file ---- */

static int flush(struct reference_last *l, struct err *err)
{
    if (fd_write_all(l->fd, l->tail.p, l->tail.len, "the scratch file", err) != 0)
        return -1;
    l->written += l->tail.len;
    buf_reset(&l->tail);
    return 0;
}

static int read_at(struct reference_last *l, uint64_t from, void *to, size_t n, struct err *err)
{
    for (size_t got = 0; got < n;) {
        ssize_t k = pread(l->fd, (char *)to + got, n - got, (off_t)(from + got));
        if (k < 0)
            return err_sys(err, "cannot read the scratch file");
        if (k == 0)
            return err_set(err, ERR_TROUBLE, "cannot read the scratch file: it is shorter than what was written");
        got += (size_t)k;
    }
    return 0;
}

static int put_row(struct reference_last *l, uint64_t entry, const struct stream_row *row, struct err *err)
{
    struct head h;
    memset(&h, 0, sizeof h); /* what lies between its members is written too */
    h.entry = entry;
    h.n = (uint32_t)row->cells_len;
    h.at_len = row->at ? (uint32_t)row->at_len : 0;
    h.ts = row->ts;
    buf_add(&l->tail, &h, sizeof h);
    buf_add(&l->tail, row->cells, h.n);
    if (row->at)
        buf_add(&l->tail, row->at, h.at_len);
    l->rows++;
    return l->tail.len < HELD ? 0 : flush(l, err);
}

/* Is the row at `from` the row p[0..n)? 1, 0, or -1 with *err. */
static int is_row(struct reference_last *l, uint64_t from, const char *p, size_t n, struct err *err)
{
    struct head h;
    if (flush(l, err) != 0 || read_at(l, from, &h, sizeof h, err) != 0)
        return -1;
    if (h.n != n)
        return 0;
    buf_reset(&l->back);
    buf_reserve(&l->back, n);
    if (read_at(l, from + sizeof h, l->back.p, n, err) != 0)
        return -1;
    return memcmp(l->back.p, p, n) == 0;
}

/* ---- one row ---- */

static const char *cell_of(const struct reference_last *l, const char *p, size_t column, size_t *n)
{
    size_t from = column == 0 ? 1 : l->ends[column - 1] + 1U;
    *n = l->ends[column] - from;
    return p + from;
}

/* Two decimal cells, by their number. */
static int by_number(const char *a, size_t n, const char *b, size_t m)
{
    bool minus = *a == '-';
    if (minus != (*b == '-'))
        return minus ? -1 : 1;
    int order = n != m ? (n < m ? -1 : 1) : memcmp(a, b, n);
    return minus ? -order : order;
}

/* The key's cells, comma separated. False where one is unfit. */
static bool key_of(struct reference_last *l, const char *p)
{
    buf_reset(&l->key);
    for (size_t i = 0; i < l->columns->n; i++) {
        if (!l->columns->at[i].key)
            continue;
        size_t n;
        const char *cell = cell_of(l, p, i, &n);
        if (cells_is_unfit(cell, n))
            return false;
        if (l->key.len > 0)
            buf_addc(&l->key, ',');
        buf_add(&l->key, cell, n);
    }
    return true;
}

/* Whether the engine's column is the mark: 1, 0; -1 where it is unfit. */
static int mark_of(const struct reference_last *l, const char *p, size_t column, const char *mark)
{
    size_t n;
    if (column == l->columns->n)
        return 0;
    const char *cell = cell_of(l, p, column, &n);
    if (cells_is_unfit(cell, n))
        return -1;
    return n == strlen(mark) + 2 ? memcmp(cell + 1, mark, n - 2) == 0 : 0;
}

static uint64_t partition_of(struct reference_last *l, const char *at, size_t n)
{
    while (at && n > 0 && at[n - 1] != '/')
        n--;
    if (!at || n == 0)
        return 0;
    const uint64_t *known = map_find(&l->partitions, at, n);
    if (known)
        return *known;
    map_add(&l->partitions, arena_strndup(&l->arena, at, n), n, l->partitions.used + 1);
    return l->partitions.used;
}

static bool full(uint64_t n)
{
    return (n & (n - 1)) == 0; /* the room is a power of two */
}

/* The number of the text in the map; *fresh where it is new there. -1 past the memory. */
static int number_of(struct reference_last *l, struct map *m, const char *p, size_t n, uint64_t *number, bool *fresh,
                     struct err *err)
{
    const uint64_t *known = map_find(m, p, n);
    *fresh = !known;
    *number = known ? *known : m->used;
    if (known)
        return 0;
    l->held_keys += n + ENTRY_ROOM;
    if (l->held_keys > l->memory)
        return err_fail(err, ERR_BOUND, BECAUSE(CODE_BOUND_PASSED, {"option", "--key-memory"}),
                        "the last rows of more than %" PRIu64 " keys take more than the %" PRIu64
                        " bytes of memory that they may",
                        l->n_entries, l->memory);
    map_add(m, arena_strndup(&l->arena, p, n), n, *number);
    return 0;
}

/* The owner of the key at hand. */
static int owner_of(struct reference_last *l, struct owner **out, struct err *err)
{
    uint64_t number;
    bool fresh;
    if (number_of(l, &l->owners, l->key.p, l->key.len, &number, &fresh, err) != 0)
        return -1;
    if (fresh) {
        if (full(number))
            l->owner = xrealloc(l->owner, (number == 0 ? 1 : 2 * number) * sizeof *l->owner);
        l->owner[number] = arena_zalloc(&l->arena, sizeof **l->owner);
        l->owner[number]->key = arena_strndup(&l->arena, l->key.p, l->key.len);
    }
    *out = l->owner[number];
    return 0;
}

static int entry_of(struct reference_last *l, const char *p, struct entry **out, struct err *err)
{
    uint64_t number;
    bool fresh;
    struct owner *owner;
    if (owner_of(l, &owner, err) != 0)
        return -1;
    if (l->e->kind == ENGINE_VERSIONED) {
        size_t n;
        const char *version = cell_of(l, p, l->version, &n);
        buf_addc(&l->key, ',');
        buf_add(&l->key, version, n);
    }
    if (number_of(l, &l->keys, l->key.p, l->key.len, &number, &fresh, err) != 0)
        return -1;
    if (fresh) {
        if (full(l->n_entries))
            l->entries = xrealloc(l->entries, (l->n_entries == 0 ? 1 : 2 * l->n_entries) * sizeof *l->entries);
        l->entries[l->n_entries++] = (struct entry){.row = FREE_ROW, .owner = owner};
    }
    *out = &l->entries[number];
    return 0;
}

/* A row as good as the last so far: the later of one partition is the last, but where the engine may keep either. What
 * nothing orders is tied, unless it is the same row. */
static int is_tied(struct reference_last *l, const struct entry *e, const char *p, size_t n, uint64_t partition,
                   struct err *err)
{
    if (l->e->kind != ENGINE_VERSIONED && partition != 0 && partition == e->partition)
        return 0;
    int same = is_row(l, e->row, p, n, err);
    return same < 0 ? -1 : !same;
}

/* The row at hand of a key against the one before: it takes its place, or not. */
static int take(struct reference_last *l, struct entry *e, const struct stream_row *row, bool deleted, struct err *err)
{
    const char *p = row->cells;
    uint64_t partition = partition_of(l, row->at, row->at_len);
    const char *version = NULL;
    size_t len = 0;
    int order = 1;
    if (l->e->kind == ENGINE_REPLACING && l->e->version) {
        version = cell_of(l, p, l->version, &len) + 1;
        len -= 2;
    }
    if (e->row != FREE_ROW)
        order = version ? by_number(version, len, e->version, strlen(e->version)) : 0;
    if (order < 0)
        return 0;
    int tied = order > 0 ? 0 : is_tied(l, e, p, row->cells_len, partition, err);
    if (tied < 0)
        return -1;
    e->tied = tied || (e->tied && order == 0);
    e->row = l->written + l->tail.len;
    e->partition = partition;
    e->deleted = deleted;
    if (order > 0 && version) {
        free(e->version);
        e->version = xstrndup(version, len);
    }
    return 0;
}

int reference_last_add(struct reference_last *l, const struct stream_row *row, struct err *err)
{
    const char *p = row->cells, *why;
    size_t len;
    struct entry *e = NULL;
    if (!cells_scan_row(p, row->cells_len, l->columns->n, &len, l->ends, l->columns->n, &why))
        return err_set(err, ERR_REFUSED, "cells: %s", why);
    int deleted = mark_of(l, p, l->deleted, "1"), back = mark_of(l, p, l->sign, "-1");
    bool ordered = key_of(l, p) && deleted >= 0 && back >= 0;
    if (ordered && l->version < l->columns->n) {
        size_t of;
        const char *version = cell_of(l, p, l->version, &of);
        ordered = !cells_is_unfit(version, of);
    }
    if (!ordered)
        return put_row(l, FREE_ROW, row, err);
    if (entry_of(l, p, &e, err) != 0)
        return -1;
    e->sum += back ? -1 : 1;
    bool stands = l->e->kind != ENGINE_VERSIONED || !back;
    if (stands && take(l, e, row, deleted || back, err) != 0)
        return -1;
    return put_row(l, (uint64_t)(e - l->entries), row, err);
}

/* ---- all of them ---- */

static void settle(struct reference_last *l, struct reference_last_found *found)
{
    for (uint64_t i = 0; i < l->n_entries; i++) {
        struct entry *e = &l->entries[i];
        if (l->e->kind == ENGINE_VERSIONED) {
            e->tied = e->sum < 0 || e->sum > 1 || (e->tied && e->sum == 1);
            e->deleted = e->sum == 0;
        }
        found->tied += e->tied;
        e->owner->stands = e->owner->stands || e->tied || !e->deleted;
        if (e->tied && !found->tie)
            found->tie = e->owner->key;
    }
}

/* The row at the scratch file's place `at`, or the key that it deletes, where it is the last of its key. */
static int give(struct reference_last *l, uint64_t at, const struct head *h, reference_row_fn *fn,
                reference_row_fn *gone, void *ctx, struct reference_last_found *found, struct err *err)
{
    struct entry *e = h->entry == FREE_ROW ? NULL : &l->entries[h->entry];
    size_t n = h->n, all = n + h->at_len;
    if (e && (e->row != at || e->tied || (e->deleted && (e->owner->stands || e->owner->gone))))
        return 0;
    buf_reset(&l->back);
    buf_reserve(&l->back, all);
    if (read_at(l, at + sizeof *h, l->back.p, all, err) != 0)
        return -1;
    struct stream_row row = {.side = SIDE_REFERENCE,
                             .cells = l->back.p,
                             .cells_len = n,
                             .at = h->at_len > 0 ? l->back.p + n : NULL,
                             .at_len = h->at_len,
                             .ts = h->ts};
    if (!e || !e->deleted) {
        found->kept++;
        return fn(ctx, &row, err);
    }
    e->owner->gone = true;
    found->deleted++;
    buf_reset(&l->key);
    buf_printf(&l->key, "[%s]", e->owner->key);
    row.cells = l->key.p;
    row.cells_len = l->key.len;
    return gone(ctx, &row, err);
}

int reference_last_rows(struct reference_last *l, reference_row_fn *fn, reference_row_fn *gone, void *ctx,
                        struct reference_last_found *found, struct err *err)
{
    struct head h;
    *found = (struct reference_last_found){0};
    settle(l, found);
    if (flush(l, err) != 0)
        return -1;
    for (uint64_t at = 0; at < l->written; at += sizeof h + h.n + h.at_len)
        if (read_at(l, at, &h, sizeof h, err) != 0 || give(l, at, &h, fn, gone, ctx, found, err) != 0)
            return -1;
    found->superseded = l->rows - found->kept;
    return 0;
}

void reference_last_free(struct reference_last *l)
{
    if (!l)
        return;
    for (uint64_t i = 0; i < l->n_entries; i++)
        free(l->entries[i].version);
    free(l->entries);
    free(l->owner);
    free(l->ends);
    close(l->fd);
    map_free(&l->keys);
    map_free(&l->owners);
    map_free(&l->partitions);
    arena_free(&l->arena);
    buf_free(&l->tail);
    buf_free(&l->key);
    buf_free(&l->back);
    free(l);
}
