/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that were read, and which were answered: per partition the runs of
 * offsets without a gap, and two bits a record.
 */
#include "program/program.h"
#include "base/hash.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

struct run {
    uint64_t first; /* offset */
    uint64_t index; /* of its bit */
};

struct part {
    char *topic; /* and behind it, for the map, the partition's bytes */
    size_t topic_len;
    uint64_t partition, next; /* one past the last offset */
    struct run *runs;
    size_t n_runs, cap_runs;
    uint64_t records, answered, with_row;
    unsigned char *bits; /* four records a byte: ANSWERED, WITH_ROW */
    size_t cap_bits;     /* bytes */
};

enum { ANSWERED = 1, WITH_ROW = 2 };

struct program_answers {
    struct part *parts;
    size_t n, cap, last; /* last: the one that was looked for before */
    struct map places;
    struct buf key; /* of what is looked for */
};

struct program_answers *program_answers_new(void)
{
    return xcalloc(1, sizeof(struct program_answers));
}

void program_answers_free(struct program_answers *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n; i++) {
        free(a->parts[i].topic);
        free(a->parts[i].runs);
        free(a->parts[i].bits);
    }
    free(a->parts);
    map_free(&a->places);
    buf_free(&a->key);
    free(a);
}

static bool is_part(const struct part *p, const char *topic, size_t len, uint64_t partition)
{
    return p->partition == partition && p->topic_len == len && memcmp(p->topic, topic, len) == 0;
}

static struct part *find(struct program_answers *a, const char *topic, size_t len, uint64_t partition)
{
    if (a->n > 0 && is_part(&a->parts[a->last], topic, len, partition))
        return &a->parts[a->last];
    buf_reset(&a->key);
    buf_add(&a->key, topic, len);
    buf_add(&a->key, &partition, sizeof partition);
    const uint64_t *place = map_find(&a->places, a->key.p, a->key.len);
    return place ? &a->parts[a->last = *place] : NULL;
}

/* Of what find() did not find. */
static struct part *add_part(struct program_answers *a, size_t len, uint64_t partition)
{
    if (a->n == a->cap)
        a->parts = xrealloc(a->parts, (a->cap = a->cap ? 2 * a->cap : 16) * sizeof *a->parts);
    a->last = a->n++;
    char *key = xstrndup(a->key.p, a->key.len);
    a->parts[a->last] = (struct part){.topic = key, .topic_len = len, .partition = partition};
    map_add(&a->places, key, a->key.len, a->last);
    return &a->parts[a->last];
}

static void add_run(struct part *p, uint64_t offset)
{
    if (p->n_runs == p->cap_runs) {
        p->cap_runs = p->cap_runs ? 2 * p->cap_runs : 16;
        p->runs = xrealloc(p->runs, p->cap_runs * sizeof *p->runs);
    }
    p->runs[p->n_runs++] = (struct run){offset, p->records};
}

int program_answers_record(struct program_answers *a, const char *topic, size_t topic_len, uint64_t partition,
                           uint64_t offset, struct err *err)
{
    struct part *p = find(a, topic, topic_len, partition);
    if (!p)
        p = add_part(a, topic_len, partition);
    if (p->records > 0 && offset < p->next)
        return err_set(err, ERR_REFUSED,
                       "record %.*s/%" PRIu64 "/%" PRIu64 " comes after offset %" PRIu64 " of its partition",
                       (int)topic_len, topic, partition, offset, p->next - 1);
    if (p->records == 0 || offset != p->next)
        add_run(p, offset);
    if (p->records / 4 == p->cap_bits) {
        size_t more = p->cap_bits ? p->cap_bits : 4096;
        p->bits = xrealloc(p->bits, p->cap_bits + more);
        memset(p->bits + p->cap_bits, 0, more);
        p->cap_bits += more;
    }
    p->records++;
    p->next = offset + 1;
    return 0;
}

/* The bit of an offset, or UINT64_MAX. */
static uint64_t index_of(const struct part *p, uint64_t offset)
{
    size_t low = 0, high = p->n_runs; /* the run is in [low, high) */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->runs[middle].first <= offset)
            low = middle;
        else
            high = middle;
    }
    if (p->n_runs == 0 || offset < p->runs[low].first)
        return UINT64_MAX;
    uint64_t index = p->runs[low].index + (offset - p->runs[low].first);
    return index < (low + 1 < p->n_runs ? p->runs[low + 1].index : p->records) ? index : UINT64_MAX;
}

int program_answers_at(struct program_answers *a, const char *at, size_t len, bool row, struct err *err)
{
    struct stream_place place;
    if (!stream_place_split(at, len, &place))
        return err_set(err, ERR_REFUSED, "at '%.*s' is not topic/partition/offset", (int)(len < 200 ? len : 200), at);
    struct part *p = find(a, at, place.topic_len, place.partition);
    uint64_t index = p ? index_of(p, place.offset) : UINT64_MAX;
    if (index == UINT64_MAX)
        return err_set(err, ERR_REFUSED, "at '%.*s': no such record was read so far", (int)(len < 200 ? len : 200), at);
    unsigned shift = 2 * (index % 4), was = (unsigned)p->bits[index / 4] >> shift & 3u,
             now = was | ANSWERED | (row ? WITH_ROW : 0u);
    p->answered += !(was & ANSWERED);
    p->with_row += (now & WITH_ROW) != (was & WITH_ROW);
    p->bits[index / 4] |= (unsigned char)(now << shift);
    return 0;
}

static uint64_t first_missing(const struct part *p)
{
    uint64_t index = 0;
    while (p->bits[index / 4] >> 2 * (index % 4) & ANSWERED)
        index++;
    size_t run = p->n_runs - 1;
    while (p->runs[run].index > index)
        run--;
    return p->runs[run].first + (index - p->runs[run].index);
}

uint64_t program_answers_missing(const struct program_answers *a, struct buf *place)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct part *p = &a->parts[i];
        if (p->answered == p->records)
            continue;
        if (missing == 0)
            buf_printf(place, "%.*s/%" PRIu64 "/%" PRIu64, (int)p->topic_len, p->topic, p->partition, first_missing(p));
        missing += p->records - p->answered;
    }
    return missing;
}

uint64_t program_answers_without_row(const struct program_answers *a)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += a->parts[i].records - a->parts[i].with_row;
    return n;
}
