/* SPDX-License-Identifier: Apache-2.0 */
/* The lines before the rows: what the run needs, the scope, its columns, its intervals and both ends. */
#include "cut/internal.h"
#include "scope/line.h"
#include "types/line.h"

#include <string.h>

/* JSON text as a file had it, made one line. */
static void put_text(struct json_w *w, const char *name, const char *p, size_t n)
{
    struct buf one = BUF_INIT;
    json_put_line(&one, p, n);
    jw_raw(w, name, one.p, one.len);
    buf_free(&one);
}

static void put_built(struct stream_out *out, const struct buf *text)
{
    stream_put(out, LINE_INTERVAL, text->p, text->len);
}

static void put_interval(struct stream_out *out, const struct interval *iv)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", "interval");
    jw_str(&w, "operator", iv->operator_id);
    jw_u64(&w, "subtask", iv->subtask);
    jw_u64(&w, "epoch", iv->epoch);
    jw_u64(&w, "previous", iv->previous);
    jw_str(&w, "attempt", iv->attempt);
    put_text(&w, "capture", iv->capture_text, iv->capture_len);
    if (iv->has_watermark)
        jw_i64(&w, "watermark", iv->watermark);
    else
        jw_null(&w, "watermark");
    put_text(&w, "ledger", iv->ledger_text, iv->ledger_len);
    jw_end_obj(&w);
    put_built(out, &text);
    buf_free(&text);
}

static void put_stand(struct json_w *w, const char *name, bool has, const struct snapshot *s)
{
    if (!has) {
        jw_null(w, name);
        return;
    }
    jw_obj(w, name);
    jw_obj(w, "log");
    jw_str(w, "topic", s->log.topic);
    jw_str(w, "cluster_id", s->log.cluster_id);
    jw_str(w, "topic_id", s->log.topic_id);
    jw_end_obj(w);
    jw_arr(w, "positions");
    for (size_t i = 0; i < s->n_positions; i++) {
        jw_obj(w, NULL);
        jw_u64(w, "partition", s->positions[i].partition);
        jw_i64(w, "offset", s->positions[i].value);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_end_obj(w);
}

static void put_end(struct stream_out *out, const struct cut_end *e)
{
    const char *op = e->has_to ? e->to.operator_id : e->has_from ? e->from.operator_id : NULL;
    struct buf text = BUF_INIT;
    struct json_w w;
    if (!op)
        return;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "type", "interval");
    jw_str(&w, "operator", op);
    jw_u64(&w, "subtask", e->subtask);
    put_stand(&w, "from", e->has_from, &e->from);
    put_stand(&w, "to", e->has_to, &e->to);
    jw_end_obj(&w);
    put_built(out, &text);
    buf_free(&text);
}

void cut_put_head(struct cut *c, struct stream_out *out)
{
    if (c->has_scope) {
        struct buf text = BUF_INIT;
        scope_put(&text, &c->scope);
        stream_put_scope(out, text.p, text.len);
        buf_free(&text);
    }
    if (c->has_columns)
        stream_put_columns(out, &c->scope.columns);
    for (size_t i = 0; i < c->n_intervals; i++)
        put_interval(out, &c->intervals[i].iv);
    for (size_t i = 0; i < c->n_quiet; i++)
        put_interval(out, c->quiet[i]);
    for (size_t i = 0; i < c->n_ends; i++)
        put_end(out, &c->ends[i]);
}
