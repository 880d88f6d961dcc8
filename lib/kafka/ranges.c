/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges read side by side until each has ended: by its position, or for a reason. */
#include "kafka/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#define WAIT_MS 100     /* longest block: between two, the clock and the connection are looked at */
#define LOOK_MS 500     /* between two questions about the log, while something may be held back */
#define REACH_MS 1000   /* longest wait for a broker to ask: one that is away is heard of in between */
#define ANSWER_MS 5000  /* longest wait for one of these answers: nothing else comes meanwhile */
#define MISSING_MS 3000 /* a topic that is not there for so long was deleted */

struct reader {
    struct kafka_client *k;
    struct kafka_source *s;
    const struct kafka_reading *how;
    struct kafka_range **by_partition; /* of the whole topic; NULL: not asked for */
    struct kafka_bounds *bounds;
    size_t open;
    int64_t next_look_ms, missing_since_ms;
    bool trouble_said;
    struct kafka_event events[KAFKA_BATCH];
};

int kafka_until(int64_t deadline_ms, int most)
{
    int64_t left = deadline_ms - time_mono_ms();
    return left < 1 ? 1 : left < most ? (int)left : most;
}

int kafka_bounds_again(struct kafka_client *k, const struct kafka_reading *how, struct kafka_bounds *out,
                       struct err *err)
{
    int64_t end = time_mono_ms() + how->timeout_ms;
    if (end > how->deadline_ms)
        end = how->deadline_ms;
    for (;;) {
        k->timeout_ms = kafka_until(end, how->timeout_ms);
        int rc = kafka_log_bounds(k, out, err);
        if (rc == 0 || err->kind == ERR_MISSING || err->kind == ERR_REFUSED || time_mono_ms() >= end)
            return rc;
        sleep_ms(WAIT_MS);
    }
}

static void fail_open(struct reader *r, const struct cause *cause, const char *why)
{
    for (size_t i = 0; i < r->s->n_ranges; i++)
        if (r->s->ranges[i].state == KAFKA_RANGE_OPEN)
            kafka_range_fail(&r->s->ranges[i], cause, "%s at offset %" PRId64, why, r->s->ranges[i].position);
    r->open = 0;
}

/* A range that has ended is fetched no more. */
static void settle(struct reader *r, const struct kafka_range *range)
{
    if (range->state == KAFKA_RANGE_OPEN)
        return;
    kafka_unassign(r->k, range->partition);
    r->open--;
}

static int start(struct reader *r, struct err *err)
{
    r->by_partition = xcalloc(r->k->log.partitions, sizeof *r->by_partition);
    r->bounds = xcalloc(r->k->log.partitions, sizeof *r->bounds);
    for (size_t i = 0; i < r->s->n_ranges; i++) {
        struct kafka_range *range = &r->s->ranges[i];
        if (range->state != KAFKA_RANGE_OPEN)
            continue;
        if (kafka_assign(r->k, range->partition, range->position, err) != 0)
            return -1;
        r->by_partition[range->partition] = range;
        r->open++;
    }
    return 0;
}

static int answer_within(const struct reader *r)
{
    return kafka_until(r->how->deadline_ms, r->how->timeout_ms < ANSWER_MS ? r->how->timeout_ms : ANSWER_MS);
}

/* The broker has no answer at the position: what it holds now says why. */
static void partition_failed(struct reader *r, struct kafka_range *range, const struct err *why)
{
    struct err err = ERR_INIT;
    r->k->timeout_ms = answer_within(r);
    if (kafka_log_bounds(r->k, r->bounds, &err) == 0 && r->bounds[range->partition].low > range->position)
        kafka_range_fail(
            range, BECAUSE(CODE_RANGE_EXPIRED, {"offset", FACT_NUMBER((uint64_t)r->bounds[range->partition].low)}),
            "retention passed the position while it was read: first available offset %" PRId64
            " is past the position %" PRId64 ": %" PRId64 " offsets are gone",
            r->bounds[range->partition].low, range->position, r->bounds[range->partition].low - range->position);
    kafka_range_fail(range, &why->cause, "%s", why->text);
}

static int take(struct reader *r, const struct kafka_event *e, struct err *err)
{
    struct kafka_range *range = e->partition < r->k->log.partitions ? r->by_partition[e->partition] : NULL;
    struct err why = ERR_INIT;
    if (!range || range->state != KAFKA_RANGE_OPEN)
        return 0;
    if (kafka_event_failed(e, &why)) {
        partition_failed(r, range, &why);
    } else if (kafka_range_take(range, e)) {
        if (r->how->record && r->how->record(r->how->ctx, r->s, range, e, false, err) != 0)
            return -1;
        kafka_range_count(range, e);
    }
    settle(r, range);
    return 0;
}

/* An open range that is dry waits for a transaction, for so long as may be waited, or the log ends early. */
static void judge(struct reader *r, struct kafka_range *range, int64_t now)
{
    const struct kafka_bounds *b = &r->bounds[range->partition];
    if (!kafka_range_dry(range, b, r->s->isolation) ||
        kafka_range_judge(range, b, r->s->isolation) == KAFKA_RANGE_MOVES)
        return;
    if (!range->waits_since)
        range->waits_since = now;
    if (now - range->waits_since >= r->how->stable_wait_ms)
        kafka_range_fail(range, BECAUSE(CODE_TRANSACTION_OPEN),
                         "an open transaction holds the last stable offset at %" PRId64
                         ", under the range's end %" PRId64 ", after %" PRId64 " s of waiting",
                         b->stable, range->to, r->how->stable_wait_ms / 1000);
}

/* False where the topic is another one by now, or is none any more: the client library would wait, or go on in the new
 * one. A broker that is away is waited for until the deadline. */
static bool still_there(struct reader *r, int64_t now)
{
    struct err err = ERR_INIT;
    if (kafka_log_check(r->k, r->k->timeout_ms, &err) == 0 || (err.kind != ERR_REFUSED && err.kind != ERR_MISSING)) {
        r->missing_since_ms = 0;
        return true;
    }
    if (err.kind == ERR_MISSING && !r->missing_since_ms)
        r->missing_since_ms = now;
    if (err.kind == ERR_MISSING && now - r->missing_since_ms < MISSING_MS)
        return true;
    fail_open(r, BECAUSE(err.kind == ERR_MISSING ? CODE_TOPIC_MISSING : CODE_TOPIC_RECREATED),
              err.kind == ERR_MISSING ? "the topic was deleted" : "the topic was recreated");
    return false;
}

/* Nothing came: that alone says nothing, so ask what the log is and holds. */
static void look(struct reader *r)
{
    struct err err = ERR_INIT;
    int64_t now = time_mono_ms();
    if (now < r->next_look_ms)
        return;
    r->next_look_ms = now + LOOK_MS;
    if (kafka_reach(r->k, kafka_until(r->how->deadline_ms, REACH_MS), &err) < 0) {
        r->missing_since_ms = 0;
        return;
    }
    r->k->timeout_ms = answer_within(r);
    if (!still_there(r, now) || kafka_log_bounds(r->k, r->bounds, &err) != 0)
        return;
    for (size_t i = 0; i < r->s->n_ranges; i++) {
        struct kafka_range *range = &r->s->ranges[i];
        if (range->state != KAFKA_RANGE_OPEN)
            continue;
        judge(r, range, now);
        settle(r, range);
    }
}

static void say_trouble(struct reader *r)
{
    const char *why = kafka_trouble(r->k);
    if (!why || r->trouble_said)
        return;
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s: waiting for the broker: %s", r->s->topic, why);
    r->how->say(r->how->ctx, buf_str(&text));
    buf_free(&text);
    r->trouble_said = true;
}

/* What is there already, else what comes within WAIT_MS. */
static int fetch(struct reader *r, size_t *n, struct err *err)
{
    if (kafka_read_each(r->k, 0, r->events, KAFKA_BATCH, n, err) != 0)
        return -1;
    r->how->tick(r->how->ctx, r->s, *n == 0);
    if (*n == 0 && kafka_read_each(r->k, WAIT_MS, r->events, 1, n, err) != 0)
        return -1;
    if (*n > 0)
        r->trouble_said = false;
    else
        say_trouble(r);
    return 0;
}

static int read_all(struct reader *r, struct err *err)
{
    struct err why = ERR_INIT;
    if (start(r, &why) != 0)
        fail_open(r, &why.cause, why.text);
    while (r->open > 0) {
        size_t n;
        if (time_mono_ms() >= r->how->deadline_ms) {
            fail_open(r, BECAUSE(CODE_READ_TIMED_OUT, {"option", "--deadline-s"}), "the deadline passed");
        } else if (fetch(r, &n, &why) != 0) {
            fail_open(r, &why.cause, why.text);
        } else {
            bool ended = n == 0;
            for (size_t i = 0; i < n; i++) {
                ended = ended || r->events[i].end;
                if (take(r, &r->events[i], err) != 0)
                    return -1;
            }
            if (ended && r->open > 0)
                look(r);
        }
    }
    return 0;
}

int kafka_ranges_read(struct kafka_client *k, struct kafka_source *s, const struct kafka_reading *how, struct err *err)
{
    struct reader *r = xcalloc(1, sizeof *r);
    r->k = k;
    r->s = s;
    r->how = how;
    int rc = read_all(r, err);
    if (rc != 0) {
        struct cause cause = code_of_err(err, CODE_IO_FAILED);
        fail_open(r, &cause, err->text);
    }
    free(r->by_partition);
    free(r->bounds);
    free(r);
    return rc;
}
