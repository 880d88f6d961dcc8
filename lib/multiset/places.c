/* SPDX-License-Identifier: Apache-2.0 */
/* Where owed rows came from, topic/partition/offset[#n], kept in a few bytes a row. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "multiset/internal.h"

void places_init(struct places *p, uint64_t seed)
{
    *p = (struct places){.seed = seed};
    spool_init(&p->log);
}

void places_free(struct places *p)
{
    spool_free(&p->log);
    for (size_t i = 0; i < p->n; i++) {
        free(p->at[i].name);
        free(p->at[i].topic);
    }
    free(p->at);
    free(p->slots);
    free(p->gone.bits);
}

/* The slot of a name in the index of partitions. */
static size_t slot_of(const struct places *p, const char *name, size_t n)
{
    size_t i = (size_t)text_hash(p->seed, name, n) & (p->slots_n - 1);
    for (; p->slots[i]; i = (i + 1) & (p->slots_n - 1)) {
        const struct partition_name *at = &p->at[p->slots[i] - 1];
        if (at->name_len == n && memcmp(at->name, name, n) == 0)
            break;
    }
    return i;
}

size_t places_find(const struct places *p, const char *name, size_t n)
{
    uint32_t found = p->n > 0 ? p->slots[slot_of(p, name, n)] : 0;
    return found ? found - 1 : SIZE_MAX;
}

static void index_grow(struct places *p)
{
    p->slots_n = p->slots_n ? p->slots_n * 2 : 64;
    free(p->slots);
    p->slots = xcalloc(p->slots_n, sizeof *p->slots);
    for (size_t i = 0; i < p->n; i++)
        p->slots[slot_of(p, p->at[i].name, p->at[i].name_len)] = (uint32_t)(i + 1);
}

static size_t partition_of(struct places *p, const char *at, const struct stream_place *parsed, struct err *err)
{
    if (p->latest < p->n && p->at[p->latest].name_len == parsed->name_len &&
        memcmp(p->at[p->latest].name, at, parsed->name_len) == 0)
        return p->latest;
    if (p->n * 2 >= p->slots_n)
        index_grow(p);
    size_t slot = slot_of(p, at, parsed->name_len);
    if (p->slots[slot])
        return p->slots[slot] - 1;
    if (!stream_place_named(at, parsed) || p->n == UINT32_MAX - 1) {
        err_set(err, ERR_REFUSED, "a row whose at is not topic/partition/offset");
        return SIZE_MAX;
    }
    if (p->n == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 16;
        p->at = xrealloc(p->at, p->cap * sizeof *p->at);
    }
    p->at[p->n] = (struct partition_name){
        .name = xstrndup(at, parsed->name_len),
        .name_len = parsed->name_len,
        .topic = xstrndup(at, parsed->topic_len),
        .partition = parsed->partition,
    };
    p->slots[slot] = (uint32_t)++p->n;
    return p->n - 1;
}

static uint64_t zigzag(uint64_t to, uint64_t from)
{
    int64_t step = (int64_t)(to - from);
    return (uint64_t)step << 1 ^ (step < 0 ? UINT64_MAX : 0);
}

static uint64_t zagzig(uint64_t v)
{
    return (v >> 1) ^ (0 - (v & 1));
}

/* Written as: partition, doubled, and 1 more where there is a time; offset less the one before in that partition
 * (zigzag); n; the time, less the one before. */
int places_add(struct places *p, const char *at, size_t n, struct stream_ts ts, struct err *err)
{
    struct stream_place parsed;
    if (!stream_place_split(at, n, &parsed))
        return err_set(err, ERR_REFUSED, "a row whose at is not topic/partition/offset");
    size_t which = partition_of(p, at, &parsed, err);
    if (which == SIZE_MAX)
        return -1;
    struct partition_name *name = &p->at[which];
    uint64_t offset = parsed.offset, rank = parsed.n;
    if (name->any && (offset < name->last_offset || (offset == name->last_offset && rank <= name->last_n)))
        name->unordered = true;
    varint_put(&p->log.held, which << 1 | ts.has);
    varint_put(&p->log.held, zigzag(offset, name->last_offset));
    varint_put(&p->log.held, rank);
    if (ts.has) {
        varint_put(&p->log.held, zigzag(ts.ms, name->last_ms));
        name->last_ms = ts.ms;
    }
    name->any = true;
    name->last_offset = offset;
    name->last_n = rank;
    p->latest = which;
    p->rows++;
    return spool_full(&p->log) ? spool_flush(&p->log, err) : 0;
}

void places_read(struct places_reader *r, struct places *p)
{
    *r = (struct places_reader){.from = p, .offset = xcalloc(2 * p->n, sizeof *r->offset), .left = p->rows};
    r->ms = r->offset + p->n;
    spool_read(&r->in, &p->log);
}

int places_next(struct places_reader *r, struct place *out, struct err *err)
{
    if (r->left == 0)
        return 0;
    const char *p;
    size_t have, used = 0, k;
    if (spool_peek(&r->in, 4 * VARINT_MAX, &p, &have, err) != 0)
        return -1;
    uint64_t v[4] = {0};
    for (size_t i = 0; i < (v[0] & 1 ? 4 : 3); i++, used += k)
        if ((k = varint_get(p + used, have - used, &v[i])) == 0)
            return err_set(err, ERR_TROUBLE, "the order of the rows does not read back from the scratch file");
    out->partition = (size_t)(v[0] >> 1);
    if (out->partition >= r->from->n)
        return err_set(err, ERR_TROUBLE, "the order of the rows does not read back from the scratch file");
    r->in.used += used;
    r->left--;
    out->offset = r->offset[out->partition] += zagzig(v[1]);
    out->n = v[2];
    out->ts = (struct stream_ts){.has = v[0] & 1};
    if (out->ts.has)
        out->ts.ms = r->ms[out->partition] += zagzig(v[3]);
    return 1;
}

void places_reader_free(struct places_reader *r)
{
    spool_reader_free(&r->in);
    free(r->offset);
}
