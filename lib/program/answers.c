/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that were read, what became of their values and which were answered:
 * per partition the runs of offsets without a gap, and four bits a record.
 */
#include "program/program.h"
#include "base/hash.h"
#include "program/times.h"
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
    uint64_t records, answered, with_row, nulls, no_values, unreadable;
    unsigned char *bits; /* two records a byte: ANSWERED, WITH_ROW, and the record's value */
    size_t cap_bits;     /* bytes */
    struct times times;
};

enum { ANSWERED = 1, WITH_ROW = 2, VALUE_SHIFT = 2, SAID = 3 /* a value: the program says that it cannot be read */ };

/* Why a record cannot be read. */
struct why {
    size_t part;
    uint64_t offset;
    bool said; /* by the program */
    bool bytes;
    char *text, *framing;
};
#define WHYS 100 /* held, of the first places; of more the places alone are known */

struct program_answers {
    struct part *parts;
    size_t n, cap, last; /* last: the one that was looked for before */
    struct map places;
    struct buf key;   /* of what is looked for */
    struct why *whys; /* by place */
    size_t n_whys;
};

static void why_free(struct why *w)
{
    free(w->text);
    free(w->framing);
}

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
        times_free(&a->parts[i].times);
    }
    for (size_t i = 0; i < a->n_whys; i++)
        why_free(&a->whys[i]);
    free(a->whys);
    free(a->parts);
    map_free(&a->places);
    buf_free(&a->key);
    free(a);
}

static unsigned bits_of(const struct part *p, uint64_t index)
{
    return (unsigned)p->bits[index / 2] >> 4 * (index % 2) & 15u;
}

/* A row shows that its record could be read, unless the program says itself that it could not. */
static bool unreadable(unsigned bits)
{
    unsigned value = bits >> VALUE_SHIFT;
    return value == SAID || (value == PROGRAM_NO_VALUE && !(bits & WITH_ROW));
}

/* ---- why ---- */

static int part_order(const struct part *a, const struct part *b)
{
    size_t n = a->topic_len < b->topic_len ? a->topic_len : b->topic_len;
    int d = memcmp(a->topic, b->topic, n);
    d = d ? d : (a->topic_len > b->topic_len) - (a->topic_len < b->topic_len);
    return d ? d : (a->partition > b->partition) - (a->partition < b->partition);
}

static int why_order(const struct program_answers *a, const struct why *w, size_t part, uint64_t offset)
{
    int d = part_order(&a->parts[w->part], &a->parts[part]);
    return d ? d : (w->offset > offset) - (w->offset < offset);
}

/* Where the reason of a place stands, or would. */
static size_t why_find(const struct program_answers *a, size_t part, uint64_t offset, bool *found)
{
    size_t low = 0, high = a->n_whys;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (why_order(a, &a->whys[middle], part, offset) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < a->n_whys && why_order(a, &a->whys[low], part, offset) == 0;
    return low;
}

/* The program's word comes before ours, and its first before its second. */
static void why_keep(struct program_answers *a, struct why w, const char *text, size_t n)
{
    bool found;
    size_t at = why_find(a, w.part, w.offset, &found);
    if (found && (a->whys[at].said || !w.said))
        return;
    if (found) {
        why_free(&a->whys[at]);
    } else {
        if (at == WHYS)
            return;
        if (!a->whys)
            a->whys = xcalloc(WHYS, sizeof *a->whys);
        if (a->n_whys == WHYS)
            why_free(&a->whys[--a->n_whys]);
        memmove(a->whys + at + 1, a->whys + at, (a->n_whys++ - at) * sizeof *a->whys);
    }
    w.text = xstrndup(text, n < PROGRAM_WHY ? n : PROGRAM_WHY);
    w.framing = xstrdup(w.framing ? w.framing : "");
    a->whys[at] = w;
}

/* ---- records ---- */

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

int program_answers_record(struct program_answers *a, const struct program_record *r, struct err *err)
{
    struct part *p = find(a, r->topic, r->topic_len, r->partition);
    if (!p)
        p = add_part(a, r->topic_len, r->partition);
    if (p->records > 0 && r->offset < p->next)
        return err_set(err, ERR_REFUSED,
                       "record %.*s/%" PRIu64 "/%" PRIu64 " comes after offset %" PRIu64 " of its partition",
                       (int)r->topic_len, r->topic, r->partition, r->offset, p->next - 1);
    if (p->records == 0 || r->offset != p->next)
        add_run(p, r->offset);
    if (p->records / 2 == p->cap_bits) {
        size_t more = p->cap_bits ? p->cap_bits : 4096;
        p->bits = xrealloc(p->bits, p->cap_bits + more);
        memset(p->bits + p->cap_bits, 0, more);
        p->cap_bits += more;
    }
    /* Of one without a value is known what there is to say, whether or not the program says it too. */
    unsigned bits = (unsigned)r->value << VALUE_SHIFT | (r->value == PROGRAM_NO_VALUE ? ANSWERED : 0u);
    p->bits[p->records / 2] |= (unsigned char)(bits << 4 * (p->records % 2));
    p->nulls += r->value == PROGRAM_NULL;
    p->no_values += r->value == PROGRAM_NO_VALUE;
    p->answered += bits & ANSWERED;
    p->unreadable += unreadable(bits);
    times_add(&p->times, r->ts);
    p->records++;
    p->next = r->offset + 1;
    if (r->value == PROGRAM_NO_VALUE)
        why_keep(a, (struct why){a->last, r->offset, false, r->bytes, NULL, (char *)(uintptr_t)r->framing}, r->why,
                 strlen(r->why));
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

int program_answers_at(struct program_answers *a, const char *at, size_t len, enum program_answer answer,
                       const char *why, size_t why_len, struct stream_ts *ts, struct err *err)
{
    struct stream_place place;
    if (!stream_place_split(at, len, &place))
        return err_set(err, ERR_REFUSED, "at '%.*s' is not topic/partition/offset", (int)(len < 200 ? len : 200), at);
    struct part *p = find(a, at, place.topic_len, place.partition);
    uint64_t index = p ? index_of(p, place.offset) : UINT64_MAX;
    if (index == UINT64_MAX)
        return err_set(err, ERR_REFUSED, "at '%.*s': no such record was read so far", (int)(len < 200 ? len : 200), at);
    if (ts)
        *ts = times_get(&p->times, index);
    unsigned was = bits_of(p, index), now = was | ANSWERED | (answer == PROGRAM_ROW ? WITH_ROW : 0u);
    if (answer == PROGRAM_UNREADABLE) {
        p->nulls -= was >> VALUE_SHIFT == PROGRAM_NULL;
        p->no_values -= was >> VALUE_SHIFT == PROGRAM_NO_VALUE;
        now |= (unsigned)SAID << VALUE_SHIFT;
        why_keep(a, (struct why){.part = a->last, .offset = place.offset, .said = true}, why, why_len);
    }
    p->answered += !(was & ANSWERED);
    p->with_row += (now & WITH_ROW) != (was & WITH_ROW);
    p->unreadable += unreadable(now);
    p->unreadable -= unreadable(was);
    p->bits[index / 2] = (unsigned char)((unsigned)p->bits[index / 2] | now << 4 * (index % 2));
    return 0;
}

static uint64_t offset_of(const struct part *p, uint64_t index)
{
    size_t run = p->n_runs - 1;
    while (p->runs[run].index > index)
        run--;
    return p->runs[run].first + (index - p->runs[run].index);
}

static uint64_t first_missing(const struct part *p)
{
    uint64_t index = 0;
    while (bits_of(p, index) & ANSWERED)
        index++;
    return offset_of(p, index);
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

struct program_counts program_answers_count(const struct program_answers *a)
{
    struct program_counts n = {0};
    uint64_t no_values = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct part *p = &a->parts[i];
        n.records += p->records;
        n.nulls += p->nulls;
        n.unreadable += p->unreadable;
        n.without_row += p->records - p->with_row;
        no_values += p->no_values;
    }
    n.readable = n.records - n.nulls - n.unreadable;
    n.no_value_is_json = no_values > 0 && no_values == n.unreadable && n.readable == 0;
    return n;
}

/* ---- which could not be read ---- */

static void put_unreadable(const struct program_answers *a, size_t part, uint64_t index, struct program_place *out)
{
    const struct part *p = &a->parts[part];
    bool found;
    uint64_t offset = offset_of(p, index);
    size_t at = why_find(a, part, offset, &found);
    snprintf(out->at, sizeof out->at, "%.*s/%" PRIu64 "/%" PRIu64, (int)p->topic_len, p->topic, p->partition, offset);
    out->why = found ? a->whys[at].text : "its value cannot be read";
    out->framing = found ? a->whys[at].framing : "";
    out->bytes = found && a->whys[at].bytes;
}

/* The part with any that follows `last` in their order (a->n: the first); a->n where none does. */
static size_t next_part(const struct program_answers *a, size_t last)
{
    size_t best = a->n;
    for (size_t i = 0; i < a->n; i++)
        if (a->parts[i].unreadable > 0 && (last == a->n || part_order(&a->parts[i], &a->parts[last]) > 0) &&
            (best == a->n || part_order(&a->parts[i], &a->parts[best]) < 0))
            best = i;
    return best;
}

size_t program_answers_unreadable(const struct program_answers *a, struct program_place *out, size_t max)
{
    size_t n = 0;
    for (size_t i = next_part(a, a->n); i < a->n && n < max; i = next_part(a, i)) {
        const struct part *p = &a->parts[i];
        uint64_t here = p->unreadable;
        for (uint64_t index = 0; here > 0 && n < max; index++)
            if (unreadable(bits_of(p, index))) {
                put_unreadable(a, i, index, &out[n++]);
                here--;
            }
    }
    return n;
}
