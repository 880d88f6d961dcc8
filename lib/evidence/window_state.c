/* SPDX-License-Identifier: Apache-2.0 */
/* A window's state, read and written; and the arithmetic of windows that it is held to. */
#include "evidence/window_state.h"
#include "json/decimal.h"

#include <inttypes.h>
#include <string.h>

#define EXACT "9007199254740992" /* 2^53 */

/* ---- arithmetic ---- */

void window_of(int64_t t, int64_t size, int64_t *start, int64_t *end)
{
    int64_t into = t % size;
    if (into < 0)
        into += size;
    if (__builtin_sub_overflow(t, into, start))
        *start = INT64_MIN;
    if (__builtin_add_overflow(t, size - into, end))
        *end = INT64_MAX;
}

int64_t window_closes(int64_t end, int64_t lateness)
{
    int64_t at;
    return __builtin_add_overflow(end, lateness, &at) ? INT64_MAX : at;
}

int window_compare(const struct window_open *a, const struct window_open *b)
{
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    int rc = memcmp(a->key, b->key, a->key_len < b->key_len ? a->key_len : b->key_len);
    return rc ? rc : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

void int128_put(struct buf *out, int128 v)
{
    char text[48], *p = text + sizeof text;
    unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    do
        *--p = (char)('0' + (int)(rest % 10));
    while ((rest /= 10) > 0);
    if (v < 0)
        *--p = '-';
    buf_add(out, p, (size_t)(text + sizeof text - p));
}

bool int128_read(const char *p, size_t n, int128 *out)
{
    bool neg = n > 0 && p[0] == '-';
    size_t i = neg;
    *out = 0;
    if (i == n || (p[i] == '0' && (neg || n > 1)))
        return false;
    for (; i < n; i++) {
        int digit = p[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(*out, (int128)10, out) ||
            __builtin_add_overflow(*out, (int128)(neg ? -digit : digit), out))
            return false;
    }
    return true;
}

bool window_key_put(struct buf *out, const struct json *v)
{
    struct decimal d;
    switch (v->type) {
    case JSON_NULL: buf_adds(out, "null"); return true;
    case JSON_FALSE: buf_adds(out, "false"); return true;
    case JSON_TRUE: buf_adds(out, "true"); return true;
    case JSON_STRING: json_put_str(out, v->str, v->len); return true;
    case JSON_NUMBER:
        if (!decimal_parse(&d, v->str, v->len) || d.exp < 0 || !decimal_at_most(&d, 0, EXACT))
            return false;
        decimal_expand(&d, out);
        return true;
    default: return false;
    }
}

/* ---- reading ---- */

struct reading {
    const char *where;
    struct window_state *s;
    size_t groups;
    int64_t size, lateness;
    struct err *err;
};

static int bad(const struct reading *r, size_t i, const char *why)
{
    return err_set(r->err, ERR_REFUSED, "%s.windows[%zu]: %s", r->where, i, why);
}

static int read_parameters(struct reading *r, const struct json *doc)
{
    struct json *parameters, *groups, *aggregates;
    char place[300];
    snprintf(place, sizeof place, "%.200s.parameters", r->where);
    if (json_need(doc, "parameters", JSON_OBJECT, &parameters, r->where, r->err) != 0 ||
        json_need_i64(parameters, "size_ms", &r->size, place, r->err) != 0 ||
        json_need_i64(parameters, "allowed_lateness_ms", &r->lateness, place, r->err) != 0 ||
        json_need(parameters, "partition_by", JSON_ARRAY, &groups, place, r->err) != 0 ||
        json_need(parameters, "aggregates", JSON_ARRAY, &aggregates, place, r->err) != 0)
        return -1;
    if (r->size <= 0 || r->lateness < 0)
        return err_set(r->err, ERR_REFUSED, "%s: no size or lateness of a window", place);
    struct json_text text = json_raw(parameters);
    r->s->parameters = text.p;
    r->s->parameters_len = text.n;
    r->groups = groups->len;
    r->s->n_values = aggregates->len;
    return 0;
}

static int read_values(const struct reading *r, const struct json *list, size_t i)
{
    const struct json *v = json_first(list);
    for (size_t k = 0; k < list->len; k++, v = json_next(list, v)) {
        struct window_value *to = &r->s->values[i * r->s->n_values + k];
        *to = (struct window_value){.null = v->type == JSON_NULL};
        if (!to->null && (v->type != JSON_STRING || !int128_read(v->str, v->len, &to->v)))
            return bad(r, i, "a value that is no whole number of 128 bits");
    }
    return 0;
}

static int read_key(const struct reading *r, const struct json *list, size_t i)
{
    struct buf key = BUF_INIT;
    struct json_text text = json_raw(list);
    bool ok = list->len == r->groups;
    buf_addc(&key, '[');
    for (const struct json *v = json_first(list); v && ok; v = json_next(list, v)) {
        if (v != json_first(list))
            buf_addc(&key, ',');
        ok = window_key_put(&key, v);
    }
    buf_addc(&key, ']');
    ok = ok && buf_is(&key, text.p, text.n);
    buf_free(&key);
    r->s->open[i].key = text.p;
    r->s->open[i].key_len = text.n;
    return ok ? 0 : bad(r, i, "no key of its operator, or one that is spelled otherwise");
}

static bool is_window(const struct window_open *w, int64_t t, int64_t size)
{
    int64_t start, end;
    window_of(t, size, &start, &end);
    return w->start == start && w->end == end;
}

static int read_window(const struct reading *r, const struct json *doc, size_t i)
{
    struct window_open *w = &r->s->open[i];
    struct json *key, *values;
    char place[300];
    snprintf(place, sizeof place, "%.200s.windows[%zu]", r->where, i);
    if (json_need_i64(doc, "start", &w->start, place, r->err) != 0 ||
        json_need_i64(doc, "end", &w->end, place, r->err) != 0 ||
        json_need(doc, "key", JSON_ARRAY, &key, place, r->err) != 0 ||
        json_need(doc, "values", JSON_ARRAY, &values, place, r->err) != 0 || read_key(r, key, i) != 0 ||
        read_values(r, values, i) != 0)
        return -1;
    /* Its last time is its end less one, or its end where that is the last time that there is. */
    if (!is_window(w, w->end - (w->end > INT64_MIN), r->size) && !is_window(w, w->end, r->size))
        return bad(r, i, "no window of its operator's size");
    if (r->s->has_watermark && window_closes(w->end, r->lateness) <= r->s->watermark)
        return bad(r, i, "a window that its watermark has closed");
    if (i > 0 && window_compare(w - 1, w) >= 0)
        return bad(r, i, "out of order");
    return 0;
}

/* Each window has the values that its operator has, so that what they take follows from the document's length. */
static int count_values(const struct reading *r, const struct json *windows)
{
    const struct json *v = json_first(windows);
    if (r->s->n_values == 0)
        return err_set(r->err, ERR_REFUSED, "%s.parameters.aggregates: none", r->where);
    for (size_t i = 0; v; i++, v = json_next(windows, v)) {
        const struct json *values = json_get(v, "values");
        if (!values || values->type != JSON_ARRAY || values->len != r->s->n_values)
            return bad(r, i, "another number of values than its operator has");
    }
    return 0;
}

int window_state_parse(const struct json *doc, const char *where, struct arena *a, struct window_state *out,
                       struct err *err)
{
    struct reading r = {.where = where, .s = out, .err = err};
    struct json *windows;
    *out = (struct window_state){0};
    const struct json *mark = json_get(doc, "watermark");
    out->has_watermark = mark && mark->type != JSON_NULL;
    if ((out->has_watermark && json_need_i64(doc, "watermark", &out->watermark, where, err) != 0) ||
        json_need_u64(doc, "late", &out->late, where, err) != 0 || read_parameters(&r, doc) != 0 ||
        json_need(doc, "windows", JSON_ARRAY, &windows, where, err) != 0 || count_values(&r, windows) != 0)
        return -1;
    out->open = arena_zalloc(a, (windows->len + 1) * sizeof *out->open);
    out->values = arena_zalloc(a, (windows->len + 1) * out->n_values * sizeof *out->values);
    const struct json *v = json_first(windows);
    for (size_t i = 0; v; i++, v = json_next(windows, v)) {
        if (read_window(&r, v, i) != 0)
            return -1;
        out->n_open = i + 1;
    }
    return 0;
}

/* ---- writing ---- */

static void put_window(struct json_w *w, const struct window_state *s, size_t i)
{
    const struct window_open *open = &s->open[i];
    struct buf text = BUF_INIT;
    jw_obj(w, NULL);
    jw_i64(w, "start", open->start);
    jw_i64(w, "end", open->end);
    jw_raw(w, "key", open->key, open->key_len);
    jw_arr(w, "values");
    for (size_t k = 0; k < s->n_values; k++) {
        const struct window_value *v = &s->values[i * s->n_values + k];
        buf_reset(&text);
        int128_put(&text, v->v);
        if (v->null)
            jw_null(w, NULL);
        else
            jw_strn(w, NULL, text.p, text.len);
    }
    jw_end_arr(w);
    jw_end_obj(w);
    buf_free(&text);
}

void window_state_put(struct buf *out, const struct window_state *s)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_raw(&w, "parameters", s->parameters, s->parameters_len);
    if (s->has_watermark)
        jw_i64(&w, "watermark", s->watermark);
    else
        jw_null(&w, "watermark");
    jw_u64(&w, "late", s->late);
    jw_arr(&w, "windows");
    for (size_t i = 0; i < s->n_open; i++)
        put_window(&w, s, i);
    jw_end_arr(&w);
    jw_end_obj(&w);
}
