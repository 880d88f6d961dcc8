/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window operator: event lines in, one event line for each key of a
 * tumbling window once event time has passed its end. What it has counted and
 * summed is exact, and is its state.
 */
#include "ops/window.h"

#include "json/decimal.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SUM_LIMIT "170141183460469231731687303715884105727" /* 2^127 - 1 */

static struct window *window_of_op(struct op *op)
{
    return (struct window *)op; /* op is its first member */
}

static void window_close(struct op *op)
{
    struct window *w = window_of_op(op);
    for (size_t i = 0; i < w->n_panes; i++)
        pane_free(w->panes[i]);
    free(w->panes);
    free(w->addends);
    buf_free(&w->parameters);
    buf_free(&w->key);
    buf_free(&w->out);
    arena_free(&w->line);
    arena_free(&w->a);
    free(w);
}

static int window_open_op(struct op **out, const struct json *parameters, struct err *err)
{
    struct window *w = xcalloc(1, sizeof *w);
    if (window_parameters(w, parameters, err) != 0) {
        window_close(&w->op);
        return err_cause(err, BECAUSE(CODE_WINDOW_MALFORMED));
    }
    window_parameters_put(w);
    w->addends = xcalloc(w->n_aggregates, sizeof *w->addends);
    *out = &w->op;
    return 0;
}

/* ---- one event ---- */

static int no_value(const char *column, const char *why, struct err *err)
{
    return err_set(err, ERR_REFUSED, "column '%.100s': %s", column, why);
}

/* A number, or its text, in units of the scale. */
static int read_number(const struct json *v, const struct aggregate *g, int128 *out, struct err *err)
{
    struct decimal d;
    if ((v->type != JSON_NUMBER && v->type != JSON_STRING) || !decimal_parse(&d, v->str, v->len))
        return no_value(g->column, "no number", err);
    if (d.n > 0 && d.exp < -(int64_t)g->scale)
        return err_set(err, ERR_REFUSED, "column '%.100s': more than the %" PRIu64 " decimals that its sum has",
                       g->column, g->scale);
    if (!decimal_at_most(&d, (int64_t)g->scale, SUM_LIMIT))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_SUM_OVERFLOW),
                        "column '%.100s': the sum '%.100s' leaves 128 bits", g->column, g->as);
    *out = 0;
    for (uint64_t i = 0; i < d.n; i++)
        *out = *out * 10 + (decimal_digit(&d, i) - '0');
    for (int64_t i = d.exp + (int64_t)g->scale; d.n > 0 && i > 0; i--)
        *out *= 10;
    *out = d.neg ? -*out : *out;
    return 0;
}

static int read_addend(const struct json *values, const struct aggregate *g, struct window_value *to, struct err *err)
{
    const struct json *v = g->column ? json_get(values, g->column) : NULL;
    *to = (struct window_value){.v = 1};
    if (!g->column)
        return 0;
    if (!v)
        return no_value(g->column, "missing", err);
    to->null = v->type == JSON_NULL;
    return to->null || g->function == COUNT ? 0 : read_number(v, g, &to->v, err);
}

static int read_key(struct window *w, const struct json *values, struct err *err)
{
    buf_reset(&w->key);
    buf_addc(&w->key, '[');
    for (size_t i = 0; i < w->n_groups; i++) {
        const struct json *v = json_get(values, w->groups[i]);
        if (i > 0)
            buf_addc(&w->key, ',');
        if (!v || !window_key_put(&w->key, v))
            return no_value(w->groups[i], v ? "no key: a list, an object, a fraction or a number past 2^53" : "missing",
                            err);
    }
    buf_addc(&w->key, ']');
    return 0;
}

static int add(struct window *w, struct window_value *to, struct err *err)
{
    for (size_t i = 0; i < w->n_aggregates; i++) {
        const struct window_value *by = &w->addends[i];
        if (by->null)
            continue;
        if (__builtin_add_overflow(to[i].v, by->v, &to[i].v))
            return err_fail(err, ERR_REFUSED, BECAUSE(CODE_SUM_OVERFLOW), "the sum '%.100s' leaves 128 bits",
                            w->aggregates[i].as);
        to[i].null = false;
    }
    return 0;
}

static int fold(struct window *w, const struct json *line, struct err *err)
{
    const struct json *ts = json_get(line, "ts");
    struct json *values;
    int64_t t, start, end;
    if (json_need(line, "values", JSON_OBJECT, &values, "event", err) != 0)
        return -1;
    if (!ts || ts->type == JSON_NULL || !json_i64(ts, &t))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_EVENT_WITHOUT_TIME),
                        ts && ts->type != JSON_NULL ? "event.ts: not a whole number of milliseconds"
                                                    : "the row has no time");
    window_of(t, w->size, &start, &end);
    if (w->has_watermark && window_closes(end, w->lateness) <= w->watermark) {
        w->late++;
        return 0;
    }
    if (read_key(w, values, err) != 0)
        return -1;
    for (size_t i = 0; i < w->n_aggregates; i++)
        if (read_addend(values, &w->aggregates[i], &w->addends[i], err) != 0)
            return -1;
    return add(w, pane_values(w, pane_at(w, start, end), w->key.p, w->key.len), err);
}

static int window_event(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err)
{
    (void)out;
    struct window *w = window_of_op(op);
    struct err why = ERR_INIT;
    arena_reset(&w->line);
    const struct json *v = json_parse_named(line, n, &w->line, "event", err), *at = json_get(v, "at");
    if (!v)
        return -1;
    op->at[0] = '\0';
    if (at &&
        (at->type != JSON_STRING || at->escaped || at->len >= sizeof op->at || !stream_place_ok(at->str, at->len)))
        return err_set(err, ERR_REFUSED, "event.at: no place in a log");
    if (at)
        snprintf(op->at, sizeof op->at, "%.*s", (int)at->len, at->str);
    if (fold(w, v, &why) == 0)
        return 0;
    const char *place = at ? op->at : "a row without a place";
    err_fail(err, ERR_REFUSED, BECAUSE(why.cause.code ? why.cause.code : CODE_EVENT_NOT_WINDOWED, {"at", place}),
             "%s: %s", place, why.text);
    return -1;
}

/* ---- what is due ---- */

static void put_value(struct buf *b, const struct aggregate *g, const struct window_value *v)
{
    struct buf text = BUF_INIT;
    if (v->null) {
        buf_adds(b, "null");
        return;
    }
    int128_put(&text, v->v);
    bool neg = v->v < 0, bare = g->scale == 0 && v->v <= (int128)1 << 53 && v->v >= -((int128)1 << 53);
    size_t digits = text.len - neg;
    if (!bare)
        buf_addc(b, '"');
    buf_adds(b, neg ? "-" : "");
    for (size_t i = digits; i <= g->scale; i++)
        buf_addc(b, '0');
    buf_add(b, text.p + neg, text.len - neg);
    if (g->scale > 0) { /* the point goes before the last `scale` digits */
        buf_addc(b, '.');
        memmove(b->p + b->len - g->scale, b->p + b->len - 1 - g->scale, g->scale);
        b->p[b->len - 1 - g->scale] = '.';
    }
    if (!bare)
        buf_addc(b, '"');
    buf_free(&text);
}

/* The key's values are JSON already: each is put under its column's name. */
static void put_group(struct window *w, const struct window_open *k)
{
    arena_reset(&w->line);
    const struct json *key = json_parse(k->key, k->key_len, &w->line, NULL), *v = json_first(key);
    for (size_t i = 0; i < w->n_groups && v; i++, v = json_next(key, v)) {
        json_put_s(&w->out, w->groups[i]);
        buf_addc(&w->out, ':');
        json_put_raw(&w->out, v);
        buf_addc(&w->out, ',');
    }
}

static void put_bound(struct buf *b, const char *name, int64_t ms)
{
    json_put_s(b, name);
    buf_addc(b, ':');
    json_put_i64(b, ms);
}

static void give(struct window *w, const struct window_open *k, const struct window_value *values,
                 const struct op_output *out)
{
    struct buf *b = &w->out;
    buf_reset(b);
    buf_adds(b, "{\"type\":\"event\",\"ts\":");
    json_put_i64(b, k->end - 1);
    buf_adds(b, ",\"values\":{");
    put_group(w, k);
    put_bound(b, WINDOW_START, k->start);
    buf_addc(b, ',');
    put_bound(b, WINDOW_END, k->end);
    for (size_t i = 0; i < w->n_aggregates; i++) {
        buf_addc(b, ',');
        json_put_s(b, w->aggregates[i].as);
        buf_addc(b, ':');
        put_value(b, &w->aggregates[i], &values[i]);
    }
    buf_adds(b, "}}");
    out->event(out->ctx, b->p, b->len);
}

static void fire(struct window *w, const struct pane *p, const struct op_output *out)
{
    struct window_open *keys = pane_sorted(p);
    for (size_t i = 0; i < p->n; i++)
        give(w, &keys[i], pane_values_of(w, p, &keys[i]), out);
    free(keys);
}

static int window_watermark(struct op *op, int64_t ms, const struct op_output *out, struct err *err)
{
    (void)err;
    struct window *w = window_of_op(op);
    size_t n = 0;
    if (w->has_watermark && ms <= w->watermark)
        return 0;
    w->has_watermark = true;
    w->watermark = ms;
    for (; n < w->n_panes && window_closes(w->panes[n]->end, w->lateness) <= ms; n++) {
        fire(w, w->panes[n], out);
        pane_free(w->panes[n]);
    }
    memmove(w->panes, w->panes + n, (w->n_panes - n) * sizeof(*w->panes));
    w->n_panes -= n;
    return 0;
}

static bool window_time(const struct op *op, int64_t *ms)
{
    const struct window *w = (const struct window *)op;
    *ms = w->watermark;
    return w->has_watermark;
}

const struct op_kind op_window = {.name = "window",
                                  .open = window_open_op,
                                  .close = window_close,
                                  .event = window_event,
                                  .watermark = window_watermark,
                                  .time = window_time,
                                  .snapshot = window_snapshot,
                                  .restore = window_restore};
