/* SPDX-License-Identifier: Apache-2.0 */
/* The interval line, read and written. */
#include "evidence/line.h"

#include <string.h>

static const char where[] = "interval";

/* ---- reading ---- */

static int positions_parse(const struct json *stand, const char *name, struct arena *arena, struct interval_stand *out,
                           struct err *err)
{
    struct json *list;
    if (json_need(stand, "positions", JSON_ARRAY, &list, name, err) != 0)
        return -1;
    struct position *p = arena_alloc(arena, (list->len + 1) * sizeof *p);
    out->positions = p;
    out->n_positions = list->len;
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item))
        if (json_need_u64(item, "partition", &p[i].partition, "interval.positions", err) != 0 ||
            json_need_i64(item, "offset", &p[i].value, "interval.positions", err) != 0)
            return -1;
    return 0;
}

static int stand_parse(const struct json *doc, const char *name, struct arena *arena, struct interval_stand *out,
                       struct err *err)
{
    const struct json *v = json_get(doc, name);
    struct json *stand, *log;
    out->known = v && v->type != JSON_NULL;
    if (!out->known)
        return 0;
    if (json_need(doc, name, JSON_OBJECT, &stand, where, err) != 0 ||
        json_need(stand, "log", JSON_OBJECT, &log, name, err) != 0 ||
        json_need_str(log, "topic", arena, &out->log.topic, "interval.log", err) != 0 ||
        json_opt_str(log, "cluster_id", arena, &out->log.cluster_id, "interval.log", err) != 0 ||
        json_opt_str(log, "topic_id", arena, &out->log.topic_id, "interval.log", err) != 0)
        return -1;
    return positions_parse(stand, name, arena, out, err);
}

int stream_interval(const struct stream_line *line, struct arena *arena, struct interval_line *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    *out = (struct interval_line){.line_no = line->line_no};
    if (!doc)
        return -1;
    if (json_need_str(doc, "operator", arena, &out->operator_id, where, err) != 0 ||
        json_need_u64(doc, "subtask", &out->subtask, where, err) != 0)
        return stream_misfit(line, err);
    out->source = !json_get(doc, "capture");
    if (out->source && !json_get(doc, "from") && !json_get(doc, "to"))
        err_set(err, ERR_REFUSED, "interval.capture: missing");
    if (err->kind != ERR_NONE || (!out->source && interval_members(doc, where, arena, &out->iv, err) != 0) ||
        (out->source &&
         (stand_parse(doc, "from", arena, &out->from, err) != 0 || stand_parse(doc, "to", arena, &out->to, err) != 0)))
        return stream_misfit(line, err);
    out->has_destination = !out->source && json_get(doc, "destination");
    if (out->has_destination && destination_parse(doc, where, arena, &out->iv.destination, err) != 0)
        return stream_misfit(line, err);
    return 0;
}

/* ---- writing ---- */

static void begin(struct json_w *w, struct buf *text, const char *operator_id, uint64_t subtask)
{
    jw_init(w, text);
    jw_obj(w, NULL);
    jw_str(w, "type", line_type_name(LINE_INTERVAL));
    jw_str(w, "operator", operator_id);
    jw_u64(w, "subtask", subtask);
}

static void finish(struct stream_out *out, struct json_w *w, struct buf *text)
{
    jw_end_obj(w);
    stream_put(out, LINE_INTERVAL, text->p, text->len);
    buf_free(text);
}

void stream_put_interval(struct stream_out *out, const struct interval *iv)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    begin(&w, &text, iv->operator_id, iv->subtask);
    jw_u64(&w, "epoch", iv->epoch);
    jw_u64(&w, "previous", iv->previous);
    jw_str(&w, "attempt", iv->attempt);
    capture_put(&w, iv);
    if (iv->has_watermark)
        jw_i64(&w, "watermark", iv->watermark);
    else
        jw_null(&w, "watermark");
    ledger_put(&w, iv->ledger, iv->n_ledger);
    if (iv->destination.columns)
        destination_put(&w, &iv->destination);
    finish(out, &w, &text);
}

static void stand_put(struct json_w *w, const char *name, const struct interval_stand *s)
{
    if (!s->known) {
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

void stream_put_interval_stands(struct stream_out *out, const struct interval_line *l)
{
    struct buf text = BUF_INIT;
    struct json_w w;
    begin(&w, &text, l->operator_id, l->subtask);
    stand_put(&w, "from", &l->from);
    stand_put(&w, "to", &l->to);
    finish(out, &w, &text);
}
