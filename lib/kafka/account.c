/* SPDX-License-Identifier: Apache-2.0 */
/* The account of what was read: every offset of every range stands in it as delivered, or not, or not reached. */
#include "kafka/kafka.h"
#include "stream/check.h"

void kafka_account_reasons(const struct kafka_source *sources, size_t n, void (*each)(void *ctx, const char *text),
                           void *ctx)
{
    struct buf text = BUF_INIT;
    for (const struct kafka_source *s = sources; s < sources + n; s++) {
        if (s->reason) {
            buf_reset(&text);
            buf_printf(&text, "%s: %s", s->topic, s->reason);
            each(ctx, buf_str(&text));
        }
        for (size_t i = 0; i < s->n_ranges; i++) {
            const struct kafka_range *r = &s->ranges[i];
            if (!r->reason || r->of_source)
                continue;
            buf_reset(&text);
            buf_printf(&text, "%s/%u: %s", s->topic, r->partition, r->reason);
            each(ctx, buf_str(&text));
        }
    }
    buf_free(&text);
}

/* The cause of the first source or range that is incomplete, with its place. */
static struct cause first_cause(const struct kafka_source *sources, size_t n)
{
    for (const struct kafka_source *s = sources; s < sources + n; s++) {
        struct cause c = s->reason ? s->cause : CAUSE_INIT;
        for (size_t i = 0; i < s->n_ranges && c.code == CODE_NONE; i++) {
            char place[300];
            if (!s->ranges[i].reason)
                continue;
            snprintf(place, sizeof place, "%s/%u", s->topic, s->ranges[i].partition);
            c = s->ranges[i].cause;
            cause_add(&c, "partition", place);
        }
        if (c.code == CODE_NONE)
            continue;
        cause_add(&c, "topic", s->topic);
        return c;
    }
    return CAUSE_INIT;
}

static void put_reason(void *w, const char *text)
{
    jw_str(w, NULL, text);
}

static struct account_text kept(struct arena *arena, struct buf *text)
{
    struct account_text t = {arena_strndup(arena, text->p, text->len), text->len};
    buf_free(text);
    return t;
}

static struct account_text verified(const struct kafka_source *sources, size_t n, struct arena *arena)
{
    bool cluster = n > 0, id = n > 0, policy = n > 0, start = n > 0;
    for (size_t i = 0; i < n; i++) {
        cluster = cluster && sources[i].same_cluster;
        id = id && sources[i].same_id;
        policy = policy && sources[i].not_compacted;
        start = start && sources[i].start_held;
    }
    struct buf text = BUF_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_arr(&w, NULL);
    if (cluster)
        jw_str(&w, NULL, VERIFIED_CLUSTER_ID);
    if (id)
        jw_str(&w, NULL, VERIFIED_TOPIC_ID);
    if (policy)
        jw_str(&w, NULL, VERIFIED_POLICY);
    if (start)
        jw_str(&w, NULL, VERIFIED_LOG_START);
    jw_end_arr(&w);
    return kept(arena, &text);
}

static struct account_range range_of(const struct kafka_source *s, const struct kafka_range *r)
{
    uint64_t undelivered = kafka_range_undelivered(r);
    return (struct account_range){
        .topic = s->topic,
        .partition = {true, r->partition},
        .from = {true, (uint64_t)r->from},
        .to = {true, (uint64_t)r->to},
        .position = {true, (uint64_t)r->position},
        .offsets = {true, (uint64_t)(r->position - r->from)},
        .delivered = {true, r->delivered},
        .null_values = {true, r->null_values},
        .not_delivered = {true, undelivered},
        .aborted = {r->recounted, r->aborted},
        .marker_or_absent = {r->recounted, undelivered - r->aborted},
        .complete = r->state == KAFKA_RANGE_COMPLETE,
        .reason = r->reason ? r->reason : "",
    };
}

void kafka_account(const struct kafka_source *sources, size_t n, struct arena *arena, struct stream_account *out)
{
    struct buf reasons = BUF_INIT;
    struct json_w w;
    bool alike = n > 0;
    size_t ranges = 0;
    *out = (struct stream_account){
        .role = ACCOUNT_READER, .complete = true, .client = kafka_library(), .n_logs = n, .delivered.has = true};
    for (size_t i = 0; i < n; i++)
        ranges += sources[i].n_ranges;
    struct account_log *log = arena_alloc(arena, (n + 1) * sizeof *log);
    struct account_range *range = arena_alloc(arena, (ranges + 1) * sizeof *range);
    out->logs = log;
    out->ranges = range;
    for (const struct kafka_source *s = sources; s < sources + n; s++) {
        out->complete = out->complete && kafka_source_complete(s);
        alike = alike && s->isolation == sources[0].isolation;
        *log++ = (struct account_log){s->topic, s->found_cluster, s->found_id};
        for (size_t k = 0; k < s->n_ranges; k++) {
            out->delivered.n += s->ranges[k].delivered;
            range[out->n_ranges++] = range_of(s, &s->ranges[k]);
        }
    }
    jw_init(&w, &reasons);
    jw_arr(&w, NULL);
    kafka_account_reasons(sources, n, put_reason, &w);
    jw_end_arr(&w);
    out->cause = first_cause(sources, n);
    out->reasons = kept(arena, &reasons);
    out->isolation = alike ? kafka_isolation_name(sources[0].isolation) : NULL;
    out->verified = verified(sources, n, arena);
}
