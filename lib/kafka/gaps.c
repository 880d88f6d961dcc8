/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets without a record that no transaction explains. The client library does
 * not tell a marker from a record that was removed; but a transaction ends once,
 * and has a record before its end, so that up to no offset there are more ends
 * than records. That holds from where no transaction was open: from offset 0.
 */
#include "kafka/internal.h"

#include <inttypes.h>
#include <stdlib.h>

static void fail(struct kafka_range *r, const struct kafka_range *counted)
{
    kafka_range_fail(r,
                     BECAUSE(CODE_MORE_GAPS, {"offset", FACT_NUMBER((uint64_t)counted->excess_at)},
                             {"count", FACT_NUMBER(counted->excess)}),
                     "more gaps than transactions: %" PRIu64
                     " offsets without a record cannot be ends of transactions, the first of them %" PRId64
                     ": records were compacted or deleted",
                     counted->excess, counted->excess_at);
}

static void take_count(struct kafka_range *r, const struct kafka_range *counted)
{
    if (counted->state != KAFKA_RANGE_COMPLETE)
        kafka_range_fail(
            r, counted->reason ? &counted->cause : BECAUSE(CODE_READ_TIMED_OUT),
            "the read from the log's start, to tell ends of transactions from records that were removed: %s",
            counted->reason ? counted->reason : "not begun");
    else if (counted->excess > 0)
        fail(r, counted);
}

/* Only a range that could not be explained if it were the log's start is counted from there, without writing. */
static bool is_open(const struct kafka_range *r, const struct kafka_bounds *bounds)
{
    return r->state == KAFKA_RANGE_COMPLETE && r->excess > 0 && r->from > 0 && bounds[r->partition].low == 0;
}

void kafka_gaps_judge(struct kafka_source *s, const struct kafka_reading *how, const struct kafka_bounds *bounds)
{
    struct kafka_range *copies = xcalloc(s->n_ranges, sizeof *copies);
    struct kafka_source whole = {
        .topic = s->topic, .isolation = KAFKA_READ_UNCOMMITTED, .ranges = copies, .n_ranges = s->n_ranges};
    struct kafka_reading only_count = *how;
    struct kafka_client *k = NULL;
    struct err err = ERR_INIT;
    bool needed = false;
    only_count.record = NULL;
    for (size_t i = 0; i < s->n_ranges; i++) {
        struct kafka_range *r = &s->ranges[i];
        bool count = is_open(r, bounds);
        kafka_range_init(&copies[i], r->partition, 0, count ? r->to : 0);
        needed = needed || count;
        if (r->state == KAFKA_RANGE_COMPLETE && r->excess > 0 && r->from == 0)
            fail(r, r);
    }
    if (needed && (kafka_open(how->conf, s->topic, KAFKA_READ_UNCOMMITTED,
                              kafka_until(how->deadline_ms, how->timeout_ms), &k, &err) != 0 ||
                   kafka_ranges_read(k, &whole, &only_count, &err) != 0)) {
        struct cause cause = code_of_err(&err, CODE_BROKER_FAILED);
        kafka_source_fail(&whole, &cause, "%s", err.text);
    }
    for (size_t i = 0; i < s->n_ranges; i++)
        if (is_open(&s->ranges[i], bounds))
            take_count(&s->ranges[i], &copies[i]);
    kafka_close(k);
    kafka_source_free(&whole);
    free(copies);
}
