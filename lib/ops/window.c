/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window operator: event lines in, one event line for each key of a
 * tumbling window once event time has passed its end. What it has counted and
 * summed is exact, and is its state.
 */
#include "base/hash.h"
#include "evidence/window_state.h"
#include "json/decimal.h"
#include "ops/internal.h"
#include "stream/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 256
#define SCALE_MAX 38
#define SUM_LIMIT "170141183460469231731687303715884105727" /* 2^127 - 1 */

enum function { COUNT, SUM };

struct aggregate {
    enum function function;
    const char *column; /* NULL: count the rows */
    const char *as;
    uint64_t scale;
};

/* One window's keys. */
struct pane {
    int64_t start, end;
    struct map by_key; /* the number of a key in keys */
    struct window_open *keys;
    struct window_value *values; /* n_aggregates to a key */
    size_t n, cap;
};

struct window {
    struct op op;
    struct arena a;        /* of the parameters */
    struct buf parameters; /* as they run, every default said */
    int64_t size, lateness;
    const char **groups;
    size_t n_groups;
    struct aggregate *aggregates;
    size_t n_aggregates;
    struct pane **panes; /* by start */
    size_t n_panes, cap_panes;
    bool has_watermark;
    int64_t watermark;
    uint64_t late;
    struct arena line;
    struct buf key, out;
    struct window_value *addends;
};

static struct window *window_of_op(struct op *op)
{
    return (struct window *)op; /* op is its first member */
}

/* ---- parameters ---- */

static const char start_name[] = "window_start", end_name[] = "window_end";

static int read_columns(struct window *w, const struct json *list, struct err *err)
{
    w->groups = arena_alloc(&w->a, (list->len + 1) * sizeof *w->groups);
    for (const struct json *v = json_first(list); v; v = json_next(list, v)) {
        if (v->type != JSON_STRING || v->len == 0 || memchr(v->str, '\0', v->len))
            return err_set(err, ERR_REFUSED, "window.partition_by[%zu]: not a column's name", w->n_groups);
        w->groups[w->n_groups++] = arena_strndup(&w->a, v->str, v->len);
    }
    return 0;
}

static int read_aggregate(struct window *w, const struct json *v, struct aggregate *g, const char *place,
                          struct err *err)
{
    static const char *const known[] = {"function", "column", "as", "scale", NULL};
    const char *function = NULL;
    if (json_only(v, known, place, err) != 0 || json_need_str(v, "function", &w->a, &function, place, err) != 0 ||
        json_need_str(v, "as", &w->a, &g->as, place, err) != 0 ||
        json_opt_str(v, "column", &w->a, &g->column, place, err) != 0 ||
        json_opt_u64(v, "scale", &g->scale, place, err) != 0)
        return -1;
    bool sum = strcmp(function, "sum") == 0;
    g->function = sum ? SUM : COUNT;
    if (!sum && strcmp(function, "count") != 0)
        return err_set(err, ERR_REFUSED, "%s.function: neither count nor sum", place);
    if (sum && !g->column)
        return err_set(err, ERR_REFUSED, "%s.column: missing", place);
    if (!sum && json_get(v, "scale"))
        return err_set(err, ERR_REFUSED, "%s.scale: a count has none", place);
    if (g->scale > SCALE_MAX)
        return err_set(err, ERR_REFUSED, "%s.scale: past %d", place, SCALE_MAX);
    return 0;
}

static int read_aggregates(struct window *w, const struct json *list, struct err *err)
{
    char place[64];
    w->aggregates = arena_zalloc(&w->a, (list->len + 1) * sizeof *w->aggregates);
    for (const struct json *v = json_first(list); v; v = json_next(list, v), w->n_aggregates++) {
        snprintf(place, sizeof place, "window.aggregates[%zu]", w->n_aggregates);
        if (read_aggregate(w, v, &w->aggregates[w->n_aggregates], place, err) != 0)
            return -1;
    }
    return w->n_aggregates > 0 ? 0 : err_set(err, ERR_REFUSED, "window.aggregates: none");
}

/* Every column that it gives has one name. */
static int names_once(const struct window *w, struct err *err)
{
    struct map names = MAP_INIT;
    const char *twice = NULL;
    map_add(&names, start_name, strlen(start_name), 0);
    map_add(&names, end_name, strlen(end_name), 0);
    for (size_t i = 0; i < w->n_groups + w->n_aggregates && !twice; i++) {
        const char *name = i < w->n_groups ? w->groups[i] : w->aggregates[i - w->n_groups].as;
        if (!map_add(&names, name, strlen(name), i))
            twice = name;
    }
    map_free(&names);
    return twice ? err_set(err, ERR_REFUSED, "window: two of its columns are named '%.100s'", twice) : 0;
}

static void put_parameters(struct window *w)
{
    struct json_w out;
    jw_init(&out, &w->parameters);
    jw_obj(&out, NULL);
    jw_i64(&out, "size_ms", w->size);
    jw_i64(&out, "allowed_lateness_ms", w->lateness);
    jw_arr(&out, "partition_by");
    for (size_t i = 0; i < w->n_groups; i++)
        jw_str(&out, NULL, w->groups[i]);
    jw_end_arr(&out);
    jw_arr(&out, "aggregates");
    for (const struct aggregate *g = w->aggregates; g < w->aggregates + w->n_aggregates; g++) {
        jw_obj(&out, NULL);
        jw_str(&out, "function", g->function == SUM ? "sum" : "count");
        if (g->column)
            jw_str(&out, "column", g->column);
        jw_str(&out, "as", g->as);
        if (g->function == SUM)
            jw_u64(&out, "scale", g->scale);
        jw_end_obj(&out);
    }
    jw_end_arr(&out);
    jw_end_obj(&out);
}

static int read_parameters(struct window *w, const struct json *parameters, struct err *err)
{
    static const char *const known[] = {"size_ms", "allowed_lateness_ms", "partition_by", "aggregates", NULL};
    struct json *groups, *aggregates;
    if (json_only(parameters, known, "window", err) != 0 ||
        json_need_i64(parameters, "size_ms", &w->size, "window", err) != 0 ||
        (json_get(parameters, "allowed_lateness_ms") &&
         json_need_i64(parameters, "allowed_lateness_ms", &w->lateness, "window", err) != 0) ||
        json_need(parameters, "partition_by", JSON_ARRAY, &groups, "window", err) != 0 ||
        json_need(parameters, "aggregates", JSON_ARRAY, &aggregates, "window", err) != 0)
        return -1;
    if (w->size <= 0 || w->lateness < 0)
        return err_set(err, ERR_REFUSED,
                       w->size <= 0 ? "window.size_ms: not past zero" : "window.allowed_lateness_ms: below zero");
    if (groups->len + aggregates->len > COLUMNS_MAX)
        return err_set(err, ERR_REFUSED, "window: more than %d columns", COLUMNS_MAX);
    return read_columns(w, groups, err) != 0 || read_aggregates(w, aggregates, err) != 0 || names_once(w, err) != 0 ? -1
                                                                                                                    : 0;
}

static void pane_free(struct pane *p)
{
    for (size_t i = 0; i < p->n; i++)
        free((char *)(uintptr_t)p->keys[i].key);
    map_free(&p->by_key);
    free(p->keys);
    free(p->values);
    free(p);
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
    if (read_parameters(w, parameters, err) != 0) {
        window_close(&w->op);
        return err_cause(err, BECAUSE(CODE_WINDOW_MALFORMED));
    }
    put_parameters(w);
    w->addends = xcalloc(w->n_aggregates, sizeof *w->addends);
    *out = &w->op;
    return 0;
}

/* ---- panes and keys ---- */

/* The pane of a start, made where there is none. Most rows are of the newest. */
static struct pane *pane_at(struct window *w, int64_t start, int64_t end)
{
    size_t low = 0, high = w->n_panes;
    while (low < high) {
        size_t middle = high - 1 - (high - 1 - low) / 2;
        if (w->panes[middle]->start < start)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < w->n_panes && w->panes[low]->start == start)
        return w->panes[low];
    if (w->n_panes == w->cap_panes) {
        w->cap_panes = w->cap_panes ? 2 * w->cap_panes : 16;
        w->panes = xrealloc(w->panes, w->cap_panes * sizeof(*w->panes));
    }
    memmove(w->panes + low + 1, w->panes + low, (w->n_panes - low) * sizeof(*w->panes));
    w->n_panes++;
    w->panes[low] = xcalloc(1, sizeof(**w->panes));
    w->panes[low]->start = start;
    w->panes[low]->end = end;
    return w->panes[low];
}

/* A key's values in a pane, new ones being zero or nothing. */
static struct window_value *values_at(const struct window *w, struct pane *p, const char *key, size_t n)
{
    const uint64_t *known = map_find(&p->by_key, key, n);
    if (known)
        return &p->values[*known * w->n_aggregates];
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 8;
        p->keys = xrealloc(p->keys, p->cap * sizeof *p->keys);
        p->values = xrealloc(p->values, p->cap * w->n_aggregates * sizeof *p->values);
    }
    struct window_value *values = &p->values[p->n * w->n_aggregates];
    p->keys[p->n] = (struct window_open){p->start, p->end, xstrndup(key, n), n};
    for (size_t i = 0; i < w->n_aggregates; i++)
        values[i] = (struct window_value){.null = w->aggregates[i].function == SUM};
    map_add(&p->by_key, p->keys[p->n].key, n, p->n);
    p->n++;
    return values;
}

static int by_key(const void *a, const void *b)
{
    return window_compare(a, b);
}

/* The pane's keys in their order; the numbers by which their values are found stay in by_key. */
static struct window_open *sorted_keys(const struct pane *p)
{
    struct window_open *keys = xcalloc(p->n, sizeof *keys);
    memcpy(keys, p->keys, p->n * sizeof *keys);
    qsort(keys, p->n, sizeof *keys, by_key);
    return keys;
}

static const struct window_value *values_of(const struct window *w, const struct pane *p, const struct window_open *key)
{
    return &p->values[*map_find(&p->by_key, key->key, key->key_len) * w->n_aggregates];
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
    return add(w, values_at(w, pane_at(w, start, end), w->key.p, w->key.len), err);
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
    put_bound(b, start_name, k->start);
    buf_addc(b, ',');
    put_bound(b, end_name, k->end);
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
    struct window_open *keys = sorted_keys(p);
    for (size_t i = 0; i < p->n; i++)
        give(w, &keys[i], values_of(w, p, &keys[i]), out);
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

/* ---- state ---- */

static int window_snapshot(const struct op *op, struct buf *out, struct err *err)
{
    (void)err;
    const struct window *w = (const struct window *)op;
    struct arena a = ARENA_INIT;
    size_t n = 0;
    struct window_state s = {.parameters = w->parameters.p,
                             .parameters_len = w->parameters.len,
                             .has_watermark = w->has_watermark,
                             .watermark = w->watermark,
                             .late = w->late,
                             .n_values = w->n_aggregates};
    for (size_t i = 0; i < w->n_panes; i++)
        n += w->panes[i]->n;
    s.open = arena_alloc(&a, (n + 1) * sizeof *s.open);
    s.values = arena_alloc(&a, (n + 1) * s.n_values * sizeof *s.values);
    for (size_t i = 0; i < w->n_panes; i++) {
        struct window_open *keys = sorted_keys(w->panes[i]);
        for (size_t k = 0; k < w->panes[i]->n; k++) {
            s.open[s.n_open] = keys[k];
            memcpy(&s.values[s.n_open++ * s.n_values], values_of(w, w->panes[i], &keys[k]),
                   s.n_values * sizeof *s.values);
        }
        free(keys);
    }
    window_state_put(out, &s);
    arena_free(&a);
    return 0;
}

static int take_state(struct window *w, const char *p, size_t n, struct arena *a, struct err *err)
{
    struct window_state s;
    const struct json *doc = json_parse_named(p, n, a, "state", err);
    if (!doc || window_state_parse(doc, "state", a, &s, err) != 0)
        return err_cause(err, BECAUSE(CODE_STATE_MALFORMED));
    if (!buf_is(&w->parameters, s.parameters, s.parameters_len))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_STATE_OTHER), "it is of a window with other parameters: %.*s",
                        (int)(s.parameters_len < 300 ? s.parameters_len : 300), s.parameters);
    w->has_watermark = s.has_watermark;
    w->watermark = s.watermark;
    w->late = s.late;
    for (size_t i = 0; i < s.n_open; i++)
        memcpy(values_at(w, pane_at(w, s.open[i].start, s.open[i].end), s.open[i].key, s.open[i].key_len),
               &s.values[i * s.n_values], s.n_values * sizeof *s.values);
    return 0;
}

static int window_restore(struct op *op, const char *p, size_t n, struct err *err)
{
    struct arena a = ARENA_INIT;
    int rc = take_state(window_of_op(op), p, n, &a, err);
    arena_free(&a);
    return rc;
}

const struct op_kind op_window = {.name = "window",
                                  .open = window_open_op,
                                  .close = window_close,
                                  .event = window_event,
                                  .watermark = window_watermark,
                                  .time = window_time,
                                  .snapshot = window_snapshot,
                                  .restore = window_restore};
