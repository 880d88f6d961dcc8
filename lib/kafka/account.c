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

static void put_logs(struct json_w *w, const struct kafka_source *sources, size_t n)
{
    jw_arr(w, "logs");
    for (size_t i = 0; i < n; i++) {
        jw_obj(w, NULL);
        jw_str(w, "topic", sources[i].topic);
        jw_str(w, "cluster_id", sources[i].found_cluster);
        jw_str(w, "topic_id", sources[i].found_id);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_range(struct json_w *w, const struct kafka_source *s, const struct kafka_range *r)
{
    uint64_t undelivered = kafka_range_undelivered(r);
    jw_obj(w, NULL);
    jw_str(w, "topic", s->topic);
    jw_u64(w, "partition", r->partition);
    jw_i64(w, "from", r->from);
    jw_i64(w, "to", r->to);
    jw_i64(w, "position", r->position);
    jw_u64(w, "offsets", (uint64_t)(r->position - r->from));
    jw_u64(w, "delivered", r->delivered);
    jw_u64(w, "null_values", r->null_values);
    jw_u64(w, "not_delivered", undelivered);
    if (r->recounted) {
        jw_u64(w, "aborted", r->aborted);
        jw_u64(w, "marker_or_absent", undelivered - r->aborted);
    }
    jw_bool(w, "complete", r->state == KAFKA_RANGE_COMPLETE);
    jw_str(w, "reason", r->reason ? r->reason : "");
    jw_end_obj(w);
}

static void put_verified(struct json_w *w, const struct kafka_source *sources, size_t n)
{
    bool cluster = n > 0, id = n > 0, policy = n > 0, start = n > 0;
    for (size_t i = 0; i < n; i++) {
        cluster = cluster && sources[i].same_cluster;
        id = id && sources[i].same_id;
        policy = policy && sources[i].not_compacted;
        start = start && sources[i].start_held;
    }
    jw_arr(w, "verified");
    if (cluster)
        jw_str(w, NULL, "cluster id");
    if (id)
        jw_str(w, NULL, "topic id");
    if (policy)
        jw_str(w, NULL, "cleanup policy");
    if (start)
        jw_str(w, NULL, "log start before and after");
    jw_end_arr(w);
}

void kafka_account_put(struct buf *line, const struct kafka_source *sources, size_t n)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    bool complete = true, alike = n > 0;
    uint64_t delivered = 0;
    for (size_t i = 0; i < n; i++) {
        complete = complete && kafka_source_complete(&sources[i]);
        alike = alike && sources[i].isolation == sources[0].isolation;
        for (size_t k = 0; k < sources[i].n_ranges; k++)
            delivered += sources[i].ranges[k].delivered;
    }
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_bool(&w, "complete", complete);
    jw_arr(&w, "reasons");
    kafka_account_reasons(sources, n, put_reason, &w);
    jw_end_arr(&w);
    jw_str(&w, "client", kafka_library());
    jw_str(&w, "isolation", alike ? kafka_isolation_name(sources[0].isolation) : NULL);
    put_logs(&w, sources, n);
    jw_arr(&w, "ranges");
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sources[i].n_ranges; k++)
            put_range(&w, &sources[i], &sources[i].ranges[k]);
    jw_end_arr(&w);
    jw_u64(&w, "delivered", delivered);
    put_verified(&w, sources, n);
    jw_end_obj(&w);
    struct cause cause = first_cause(sources, n);
    cause_put(line, &cause);
    buf_addc(line, ',');
    buf_add(line, text.p + 1, text.len - 2);
    buf_free(&text);
}
