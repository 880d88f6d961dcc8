/* SPDX-License-Identifier: Apache-2.0 */
/* chwrite: counting the partitions that a batch touches. */
#include "chwrite/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chwrite/internal.h"

#define DAY 86400

/* Calendar functions of one column, with the shortest stretch of time that one of their values covers. A day has at
 * least 23 hours where clocks change, a month 28 days less an hour. */
static const struct {
    const char *name;
    int64_t seconds;
} spans[] = {
    {"toYYYYMM", 28 * DAY - 3600}, {"toStartOfMonth", 28 * DAY - 3600}, {"toYYYYMMDD", DAY - 3600},
    {"toDate", DAY - 3600},        {"toStartOfDay", DAY - 3600},        {"toMonday", 7 * DAY - 3600},
    {"toStartOfHour", 1800},       {"toYear", 365 * DAY - 3600},        {"toStartOfYear", 365 * DAY - 3600},
};

static int64_t ticks_per_second(const struct type *t)
{
    int64_t n = 1;

    for (unsigned i = 0; i < t->scale; i++)
        n *= 10;
    return n;
}

/* `function(column)`; false where the key is anything else. */
static bool read_span(struct blocks *b, const char *key, const struct columns *cols)
{
    const char *open = strchr(key, '(');
    size_t n = strlen(key);

    if (!open || key[n - 1] != ')')
        return false;
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        size_t name = (size_t)(open - key), index;
        const struct column *c;
        if (strlen(spans[i].name) != name || memcmp(key, spans[i].name, name) != 0)
            continue;
        c = columns_find(cols, open + 1, n - name - 2, &index);
        /* A Nullable time's NULL is a partition of its own, and a DateTime64's span can pass int64: both count by rows.
         */
        if (!c || !type_is_time(&c->type) || c->type.nullable || c->type.scale > 6)
            return false;
        b->column = index;
        b->shortest = sink_kind(&c->type)->days ? (spans[i].seconds + 3600) / DAY
                                                : spans[i].seconds * ticks_per_second(&c->type);
        return b->shortest > 0;
    }
    return false;
}

void blocks_init(struct blocks *b, const char *partition_key, const struct columns *cols)
{
    const struct column *c = columns_find(cols, partition_key, strlen(partition_key), &b->column);

    if (*partition_key == '\0')
        b->rule = BLOCKS_ONE;
    else if (c)
        b->rule = BLOCKS_COLUMN;
    else
        b->rule = read_span(b, partition_key, cols) ? BLOCKS_SPAN : BLOCKS_ROWS;
}

static void insert(struct blocks *b, const char *body, size_t at, size_t len)
{
    size_t slot = (size_t)hash_bytes(body + at, len) & (b->size - 1);

    while (b->cells[slot].len != 0) {
        if (b->cells[slot].len == len && memcmp(body + b->cells[slot].at, body + at, len) == 0)
            return;
        slot = (slot + 1) & (b->size - 1);
    }
    b->cells[slot] = (struct block_cell){at, len};
    b->used++;
}

static void grow(struct blocks *b, const char *body)
{
    struct block_cell *old = b->cells;
    size_t n = b->size;

    b->size = n == 0 ? 64 : n * 2;
    b->cells = xcalloc(b->size, sizeof *b->cells);
    b->used = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i].len != 0)
            insert(b, body, old[i].at, old[i].len);
    free(old);
}

static void widen(struct blocks *b, const struct type *t, const char *le, size_t len)
{
    uint64_t v = 0;
    int64_t at;

    for (size_t i = len; i-- > 0;)
        v = v << 8 | (unsigned char)le[i];
    at = (int64_t)(v << (64 - 8 * len));
    at = sink_kind(t)->is_signed ? at >> (64 - 8 * len) : (int64_t)v;
    if (b->rows == 0 || at < b->low)
        b->low = at;
    if (b->rows == 0 || at > b->high)
        b->high = at;
}

void blocks_add(struct blocks *b, const struct columns *cols, const struct buf *body, size_t at, size_t len)
{
    if (b->rule == BLOCKS_COLUMN) {
        if (b->used * 2 >= b->size)
            grow(b, body->p);
        insert(b, body->p, at, len);
    } else if (b->rule == BLOCKS_SPAN) {
        widen(b, &cols->at[b->column].type, body->p + at, len);
    }
    b->rows++;
}

uint64_t blocks_count(const struct blocks *b)
{
    uint64_t n = b->rows;

    if (b->rows == 0)
        return 0;
    if (b->rule == BLOCKS_ONE)
        return 1;
    if (b->rule == BLOCKS_COLUMN)
        return b->used;
    if (b->rule == BLOCKS_SPAN) {
        /* As unsigned: the difference of two int64 fits there. n partitions in a row cover at least n - 2 whole ones.
         */
        uint64_t bound = ((uint64_t)b->high - (uint64_t)b->low) / (uint64_t)b->shortest + 2;
        bound = b->low == b->high ? 1 : bound;
        return bound < n ? bound : n;
    }
    return n;
}

void blocks_reset(struct blocks *b)
{
    b->rows = 0;
    b->used = 0;
    if (b->size > 0)
        memset(b->cells, 0, b->size * sizeof *b->cells);
}

void blocks_free(struct blocks *b)
{
    free(b->cells);
    *b = (struct blocks)BLOCKS_INIT;
}
