/* SPDX-License-Identifier: Apache-2.0 */
/* One range: what moves its position, what ends it, and why it is not whole. No broker is asked here. */
#include "kafka/internal.h"

#include <inttypes.h>
#include <stdlib.h>

void kafka_range_init(struct kafka_range *r, uint32_t partition, int64_t from, int64_t to)
{
    *r = (struct kafka_range){.partition = partition, .from = from, .to = to, .position = from};
    if (from == to)
        r->state = KAFKA_RANGE_COMPLETE;
}

void kafka_range_free(struct kafka_range *r)
{
    free(r->reason);
    r->reason = NULL;
    free(r->gaps);
    r->gaps = NULL;
}

char *kafka_reason(const char *fmt, va_list ap)
{
    struct buf text = BUF_INIT, masked = BUF_INIT;
    buf_vprintf(&text, fmt, ap);
    msg_mask(&masked, text.p ? text.p : "", text.len);
    buf_free(&text);
    char *reason = xstrdup(buf_str(&masked));
    buf_free(&masked);
    return reason;
}

void kafka_range_fail(struct kafka_range *r, const struct cause *cause, const char *fmt, ...)
{
    va_list ap;
    r->state = KAFKA_RANGE_INCOMPLETE;
    if (r->reason)
        return;
    va_start(ap, fmt);
    r->cause = *cause;
    r->reason = kafka_reason(fmt, ap);
    va_end(ap);
}

static void move(struct kafka_range *r, int64_t position)
{
    if (position > r->position) {
        r->position = position < r->to ? position : r->to;
        r->waits_since = 0; /* what it waits for next is another transaction */
    }
    if (r->position >= r->to)
        r->state = KAFKA_RANGE_COMPLETE;
}

static void note_gap(struct kafka_range *r, int64_t until)
{
    if (!r->note_gaps || until <= r->position)
        return;
    if (r->n_gaps > 0 && r->gaps[r->n_gaps - 1].end == r->position) {
        r->gaps[r->n_gaps - 1].end = until;
        return;
    }
    if (r->n_gaps == r->cap_gaps) {
        r->cap_gaps = r->cap_gaps ? 2 * r->cap_gaps : 64;
        r->gaps = xrealloc(r->gaps, r->cap_gaps * sizeof *r->gaps);
    }
    r->gaps[r->n_gaps++] = (struct kafka_gap){r->position, until};
}

/* Up to `until` nothing was delivered from the position on. */
static void pass_gap(struct kafka_range *r, int64_t until)
{
    until = until < r->to ? until : r->to;
    note_gap(r, until);
    int64_t over = until - r->from - 2 * (int64_t)r->delivered;
    if (until <= r->position || over <= 0)
        return;
    if (r->excess == 0)
        r->excess_at = until - over;
    if ((uint64_t)over > r->excess)
        r->excess = (uint64_t)over;
}

void kafka_range_begin(struct kafka_range *r, const struct kafka_bounds *b)
{
    if (r->from < b->low && r->from < r->to) {
        int64_t gone = (b->low < r->to ? b->low : r->to) - r->from;
        kafka_range_fail(r, BECAUSE(CODE_RANGE_EXPIRED, {"offset", FACT_NUMBER((uint64_t)b->low)}),
                         "first available offset %" PRId64 " is past the range's start %" PRId64 ": %" PRId64
                         " offsets are gone",
                         b->low, r->from, gone);
    } else if (r->from > b->high) {
        kafka_range_fail(r, BECAUSE(CODE_RANGE_BEYOND, {"offset", FACT_NUMBER((uint64_t)b->high)}),
                         "the log ends at %" PRId64 ", before the range's start %" PRId64, b->high, r->from);
    }
}

bool kafka_range_take(struct kafka_range *r, const struct kafka_event *e)
{
    if (r->state != KAFKA_RANGE_OPEN)
        return false;
    r->at_end = e->end;
    if (e->end || e->offset >= r->to) {
        pass_gap(r, e->offset);
        move(r, e->offset);
        return false;
    }
    if (e->offset < r->position) {
        kafka_range_fail(r, BECAUSE(CODE_LOG_CHANGED), "offset %" PRId64 " came after the position %" PRId64, e->offset,
                         r->position);
        return false;
    }
    return true;
}

void kafka_range_count(struct kafka_range *r, const struct kafka_event *e)
{
    pass_gap(r, e->offset);
    r->delivered++;
    if (!e->value)
        r->null_values++;
    move(r, e->offset + 1);
}

static int64_t deliverable(const struct kafka_bounds *b, enum kafka_isolation isolation)
{
    return isolation == KAFKA_READ_COMMITTED ? b->stable : b->high;
}

bool kafka_range_dry(const struct kafka_range *r, const struct kafka_bounds *b, enum kafka_isolation isolation)
{
    return r->state == KAFKA_RANGE_OPEN && (r->at_end || deliverable(b, isolation) <= r->position);
}

enum kafka_range_wait kafka_range_judge(struct kafka_range *r, const struct kafka_bounds *b,
                                        enum kafka_isolation isolation)
{
    if (b->high < r->to) {
        kafka_range_fail(r, BECAUSE(CODE_RANGE_BEYOND, {"offset", FACT_NUMBER((uint64_t)b->high)}),
                         "the log ends at %" PRId64 ", before the range's end %" PRId64 ": %" PRId64
                         " offsets are not there",
                         b->high, r->to, r->to - (b->high > r->from ? b->high : r->from));
        return KAFKA_RANGE_MOVES;
    }
    return deliverable(b, isolation) < r->to ? KAFKA_RANGE_WAITS : KAFKA_RANGE_MOVES;
}

void kafka_range_end(struct kafka_range *r, const struct kafka_bounds *b)
{
    if (r->from < b->low && r->from < r->to)
        kafka_range_fail(r, BECAUSE(CODE_RANGE_EXPIRED, {"offset", FACT_NUMBER((uint64_t)b->low)}),
                         "retention passed its start while it was read: first available offset %" PRId64
                         ", past the range's start %" PRId64 ": what lay between may not have been delivered",
                         b->low, r->from);
}

uint64_t kafka_range_undelivered(const struct kafka_range *r)
{
    return (uint64_t)(r->position - r->from) - r->delivered;
}
