/* SPDX-License-Identifier: Apache-2.0 */
/* One source of a scope: whether the log is the scope's, what its ranges hold, and whether it stood still meanwhile. */
#include "kafka/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void kafka_source_fail(struct kafka_source *s, const struct cause *cause, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *reason = kafka_reason(fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < s->n_ranges; i++) {
        struct kafka_range *r = &s->ranges[i];
        r->of_source |= !r->reason;
        kafka_range_fail(r, cause, "%s", reason);
    }
    if (s->reason) {
        free(reason);
        return;
    }
    s->reason = reason;
    s->cause = *cause;
}

void kafka_source_free(struct kafka_source *s)
{
    for (size_t i = 0; i < s->n_ranges; i++)
        kafka_range_free(&s->ranges[i]);
    free(s->found_cluster);
    free(s->found_id);
    free(s->policy);
    free(s->reason);
}

bool kafka_source_complete(const struct kafka_source *s)
{
    for (size_t i = 0; i < s->n_ranges; i++)
        if (s->ranges[i].state != KAFKA_RANGE_COMPLETE)
            return false;
    return !s->reason;
}

/* What could not be asked, or read. */
static void fail_err(struct kafka_source *s, const char *what, const struct err *err)
{
    struct cause cause = code_of_err(err, CODE_BROKER_FAILED);
    kafka_source_fail(s, &cause, "%s%s%s", what, *what ? ": " : "", err->text);
}

/* ---- before ---- */

static int check_identity(struct kafka_source *s, const struct kafka_log *log)
{
    s->found_cluster = xstrdup(log->cluster_id);
    s->found_id = log->topic_id ? xstrdup(log->topic_id) : NULL;
    if (s->cluster_id && strcmp(s->cluster_id, log->cluster_id) != 0)
        kafka_source_fail(s, BECAUSE(CODE_CLUSTER_OTHER), "another cluster: its id is %s here, %s in the scope",
                          log->cluster_id, s->cluster_id);
    else if (s->topic_id && !log->topic_id)
        kafka_source_fail(s, BECAUSE(CODE_TOPIC_ID_UNKNOWN),
                          "topic id: not to be had, so that a recreated topic could not be told from %s: %s",
                          s->topic_id, log->topic_id_lack);
    else if (s->topic_id && strcmp(s->topic_id, log->topic_id) != 0)
        kafka_source_fail(s, BECAUSE(CODE_TOPIC_RECREATED),
                          "another topic of this name: its id is %s here, %s in the scope: it was recreated",
                          log->topic_id, s->topic_id);
    return s->reason ? -1 : 0;
}

/* Whether the broker may drop records from the middle of the log. */
static int check_policy(struct kafka_client *k, struct kafka_source *s)
{
    struct err err = ERR_INIT;
    char *policy;
    if (kafka_log_policy(k, &policy, &err) != 0) {
        fail_err(s, "whether it is compacted could not be asked", &err);
        return -1;
    }
    free(s->policy);
    s->policy = policy;
    if (!strstr(policy, "compact"))
        return 0;
    kafka_source_fail(s, BECAUSE(CODE_TOPIC_COMPACTED),
                      "it is compacted (cleanup.policy=%s): what a range held cannot be told from what is left of it",
                      policy);
    return -1;
}

static void say_open(const struct kafka_source *s, const struct kafka_reading *how, const struct kafka_range *r,
                     const struct kafka_bounds *b)
{
    struct buf text = BUF_INIT;
    buf_printf(&text,
               "%s/%u: last stable offset %" PRId64 " < range end %" PRId64
               ": open transaction; waiting for at most %" PRId64 " s",
               s->topic, r->partition, b->stable, r->to, how->stable_wait_ms / 1000);
    how->say(how->ctx, buf_str(&text));
    buf_free(&text);
}

static int begin(struct kafka_client *k, struct kafka_source *s, const struct kafka_reading *how,
                 struct kafka_bounds *bounds)
{
    struct err err = ERR_INIT;
    if (kafka_bounds_again(k, how, bounds, &err) != 0) {
        fail_err(s, "", &err);
        return -1;
    }
    for (size_t i = 0; i < s->n_ranges; i++) {
        struct kafka_range *r = &s->ranges[i];
        if (r->partition >= k->log.partitions) {
            kafka_range_fail(r, BECAUSE(CODE_TOPIC_MISSING), "the topic has %u partitions", k->log.partitions);
            continue;
        }
        const struct kafka_bounds *b = &bounds[r->partition];
        kafka_range_begin(r, b);
        if (r->state == KAFKA_RANGE_OPEN && s->isolation == KAFKA_READ_COMMITTED && b->stable < r->to &&
            b->high >= r->to)
            say_open(s, how, r, b);
    }
    return 0;
}

/* ---- the second read ---- */

static int open_client(const char *topic, enum kafka_isolation isolation, const struct kafka_reading *how,
                       struct kafka_client **k, struct err *err)
{
    return kafka_open(how->conf, topic, isolation, kafka_until(how->deadline_ms, how->timeout_ms), k, err);
}

/* The second read, where it hands on too: what lies in a gap of the first is of an aborted transaction. */
struct second {
    const struct kafka_reading *how;
    const struct kafka_source *s; /* of the first read */
    struct kafka_range *copies;
    size_t *gap; /* of each range: the first that does not end before the offset at hand */
    uint64_t *handed;
};

static int second_record(void *ctx, const struct kafka_source *s, const struct kafka_range *r,
                         const struct kafka_event *e, bool aborted, struct err *err)
{
    struct second *second = ctx;
    size_t i = (size_t)(r - second->copies);
    const struct kafka_range *first = &second->s->ranges[i];
    (void)s;
    (void)aborted;
    while (second->gap[i] < first->n_gaps && first->gaps[second->gap[i]].end <= e->offset)
        second->gap[i]++;
    if (second->gap[i] == first->n_gaps || e->offset < first->gaps[second->gap[i]].first)
        return 0;
    second->handed[i]++;
    return second->how->record(second->how->ctx, second->s, first, e, true, err);
}

static void second_tick(void *ctx, const struct kafka_source *s, bool waiting)
{
    const struct second *second = ctx;
    second->how->tick(second->how->ctx, s, waiting);
}

static void second_say(void *ctx, const char *text)
{
    const struct second *second = ctx;
    second->how->say(second->how->ctx, text);
}

/* What read_uncommitted delivers of the offsets that were passed and is not among the records, was aborted. handed: how
 * many were handed on, where they were to be. */
static void take_recount(struct kafka_range *r, const struct kafka_range *again, const uint64_t *handed)
{
    if (again->state != KAFKA_RANGE_COMPLETE)
        kafka_range_fail(r, again->reason ? &again->cause : BECAUSE(CODE_READ_TIMED_OUT),
                         "the second read, for the account: %s", again->reason ? again->reason : "not begun");
    else if (again->delivered < r->delivered)
        kafka_range_fail(r, BECAUSE(CODE_LOG_CHANGED),
                         "the second read, for the account, found %" PRIu64 " records where the first found %" PRIu64,
                         again->delivered, r->delivered);
    else
        r->aborted = again->delivered - r->delivered;
    if (handed && again->state == KAFKA_RANGE_COMPLETE && *handed != r->aborted)
        kafka_range_fail(r, BECAUSE(CODE_LOG_CHANGED),
                         "the second read found %" PRIu64
                         " records between those of the first, which by their counts are %" PRIu64,
                         *handed, r->aborted);
    r->recounted = again->state == KAFKA_RANGE_COMPLETE && again->delivered >= r->delivered;
}

static int recount(struct kafka_source *s, const struct kafka_reading *how, const struct kafka_bounds *bounds,
                   struct err *err)
{
    struct kafka_range *copies = xcalloc(s->n_ranges, sizeof *copies);
    struct kafka_source again = {
        .topic = s->topic, .isolation = KAFKA_READ_UNCOMMITTED, .ranges = copies, .n_ranges = s->n_ranges};
    struct second second = {how, s, copies, xcalloc(s->n_ranges, sizeof *second.gap),
                            xcalloc(s->n_ranges, sizeof *second.handed)};
    struct kafka_reading reading = *how;
    struct kafka_client *k = NULL;
    struct err why = ERR_INIT;
    bool needed = false;
    reading.ctx = &second;
    reading.tick = second_tick;
    reading.say = second_say;
    reading.record = how->aborted ? second_record : NULL;
    for (size_t i = 0; i < s->n_ranges; i++) {
        const struct kafka_range *r = &s->ranges[i];
        /* Where everything was delivered, or aborted records are delivered too, there is nothing to tell apart. */
        bool plain = s->isolation == KAFKA_READ_UNCOMMITTED || kafka_range_undelivered(r) == 0;
        kafka_range_init(&copies[i], r->partition, r->from, plain ? r->from : r->position);
        copies[i].delivered = plain ? r->delivered : 0;
        needed = needed || !plain;
    }
    int rc = 0;
    if (needed && (rc = open_client(s->topic, KAFKA_READ_UNCOMMITTED, how, &k, &why)) == 0)
        rc = kafka_ranges_read(k, &again, &reading, &why);
    if (rc != 0)
        fail_err(&again, "", &why);
    kafka_gaps_judge(&again, how, bounds);
    for (size_t i = 0; i < s->n_ranges; i++)
        take_recount(&s->ranges[i], &copies[i], how->aborted ? &second.handed[i] : NULL);
    bool refused = rc != 0 && k && how->aborted; /* by whoever took the records */
    kafka_close(k);
    kafka_source_free(&again);
    free(copies);
    free(second.gap);
    free(second.handed);
    if (refused)
        *err = why;
    return refused ? -1 : 0;
}

/* ---- after ---- */

/* Who answers now, asked again while the broker is away. */
static int ask_identity(struct kafka_client *k, const struct kafka_reading *how, char **cluster, char **id,
                        struct err *err)
{
    const char *lack;
    uint32_t partitions;
    int64_t end = time_mono_ms() + how->timeout_ms;
    if (end > how->deadline_ms)
        end = how->deadline_ms;
    for (;;) {
        k->timeout_ms = kafka_until(end, how->timeout_ms);
        int rc = kafka_log_cluster(k, cluster, err);
        if (rc == 0)
            rc = kafka_topic_look(k, k->timeout_ms, id, &lack, &partitions, err);
        if (rc == 0 || err->kind == ERR_MISSING || time_mono_ms() >= end)
            return rc;
        free(*cluster);
        *cluster = NULL;
        sleep_ms(100);
    }
}

static int still_same(struct kafka_client *k, struct kafka_source *s, const struct kafka_reading *how)
{
    struct err err = ERR_INIT;
    char *cluster = NULL, *id = NULL;
    int rc = ask_identity(k, how, &cluster, &id, &err);
    if (rc != 0 && err.kind == ERR_MISSING)
        kafka_source_fail(s, BECAUSE(CODE_TOPIC_MISSING), "it was deleted while it was read");
    else if (rc != 0)
        fail_err(s, "whether it is still the same log could not be asked", &err);
    else if (strcmp(cluster, s->found_cluster) != 0)
        kafka_source_fail(s, BECAUSE(CODE_CLUSTER_OTHER),
                          "another cluster answers than before: its id was %s and is %s", s->found_cluster, cluster);
    else if (s->found_id && (!id || strcmp(id, s->found_id) != 0))
        kafka_source_fail(s, BECAUSE(CODE_TOPIC_RECREATED),
                          "it was recreated while it was read: its id was %s and is %s", s->found_id,
                          id ? id : "not to be had");
    free(cluster);
    free(id);
    return s->reason ? -1 : 0;
}

/* What was looked at before the read is looked at again: each of them could have changed under it. */
static void look_again(struct kafka_client *k, struct kafka_source *s, const struct kafka_reading *how,
                       struct kafka_bounds *bounds)
{
    struct err err = ERR_INIT;
    if (time_mono_ms() >= how->deadline_ms) {
        kafka_source_fail(s, BECAUSE(CODE_READ_TIMED_OUT, {"option", "--deadline-s"}),
                          "the deadline passed before the log could be looked at again");
        return;
    }
    if (still_same(k, s, how) != 0)
        return;
    s->same_cluster = s->cluster_id != NULL;
    s->same_id = s->topic_id != NULL;
    s->not_compacted = check_policy(k, s) == 0;
    if (kafka_bounds_again(k, how, bounds, &err) != 0) {
        fail_err(s, "the log's start could not be looked at again", &err);
        return;
    }
    for (size_t i = 0; i < s->n_ranges; i++)
        if (s->ranges[i].partition < k->log.partitions)
            kafka_range_end(&s->ranges[i], &bounds[s->ranges[i].partition]);
    s->start_held = true;
}

int kafka_source_read(struct kafka_source *s, const struct kafka_reading *how, struct err *err)
{
    struct kafka_client *k = NULL;
    struct err why = ERR_INIT;
    int rc = 0;
    if (open_client(s->topic, s->isolation, how, &k, &why) != 0) {
        fail_err(s, "", &why);
        if (why.kind == ERR_REFUSED)
            *err = why;
        return why.kind == ERR_REFUSED ? -1 : 0;
    }
    struct kafka_bounds *bounds = xcalloc(k->log.partitions, sizeof *bounds);
    for (size_t i = 0; i < s->n_ranges; i++)
        s->ranges[i].note_gaps = how->aborted;
    if (check_identity(s, kafka_log(k)) == 0 && check_policy(k, s) == 0 && begin(k, s, how, bounds) == 0) {
        rc = kafka_ranges_read(k, s, how, err);
        if (rc == 0 && s->isolation == KAFKA_READ_UNCOMMITTED)
            kafka_gaps_judge(s, how, bounds);
        if (rc == 0 && (how->account || how->aborted))
            rc = recount(s, how, bounds, err);
        if (rc == 0)
            look_again(k, s, how, bounds);
    }
    free(bounds);
    kafka_close(k);
    return rc;
}
