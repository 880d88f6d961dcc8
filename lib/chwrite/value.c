/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: a JSON value as RowBinary of a column. RowBinary has no range checks
 * of its own: whatever is not refused here is stored.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/codes.h"
#include "chwrite/chwrite.h"
#include "chwrite/internal.h"

static const char not_number[] = "not a number";
static const char out_of_range[] = "out of the column's range";
static const char fraction_lost[] = "more digits than the column keeps";

static bool is_text_of(const struct json *v, const char *s)
{
    return v->type == JSON_STRING && v->len == strlen(s) && memcmp(v->str, s, v->len) == 0;
}

static bool read_number(const struct json *v, struct decimal *d)
{
    return (v->type == JSON_NUMBER || v->type == JSON_STRING) && decimal_read(v->str, v->len, d);
}

/* v * times * 10^shift, exactly, or the reason why not. */
static const char *exact(const struct json *v, uint64_t times, int shift, struct wide *w)
{
    struct decimal d;

    if (!read_number(v, &d))
        return not_number;
    switch (decimal_scale(&d, times, shift, w)) {
    case DECIMAL_FIT: return NULL;
    case DECIMAL_INEXACT: return fraction_lost;
    default: return out_of_range;
    }
}

static const char *put_int(const struct column *c, const struct json *v, struct buf *out)
{
    const struct type *t = &c->type;
    struct wide w;
    const char *why = exact(v, 1, 0, &w);

    if (why)
        return why == fraction_lost ? "not a whole number" : why;
    if (!wide_in_bits(&w, t->bits, sink_kind(t)->is_signed))
        return out_of_range;
    wide_put(&w, t->bits / 8, out);
    return NULL;
}

static const char *put_decimal(const struct column *c, const struct json *v, struct buf *out)
{
    const struct type *t = &c->type;
    struct wide w;
    const char *why = exact(v, 1, (int)t->scale, &w);

    if (why)
        return why;
    if (!wide_below_power(&w, t->precision))
        return out_of_range;
    wide_put(&w, t->bits / 8, out);
    return NULL;
}

static void put_le(uint64_t v, unsigned bytes, struct buf *out)
{
    for (unsigned i = 0; i < bytes; i++)
        buf_addc(out, (char)(unsigned char)(v >> (i * 8)));
}

static void put_float_bits(const struct type *t, double v64, float v32, struct buf *out)
{
    uint64_t bits = 0;

    if (t->bits == 32) {
        uint32_t narrow;
        memcpy(&narrow, &v32, sizeof narrow);
        bits = narrow;
    } else {
        memcpy(&bits, &v64, sizeof bits);
    }
    put_le(bits, t->bits / 8, out);
}

/* Whether a whole number is the float that it was read as: its digits and its zeros are what the float prints. */
static bool same_whole(const struct decimal *d, double v)
{
    char text[400]; /* the largest has 309 digits */
    size_t n = (size_t)snprintf(text, sizeof text, "%.0f", v < 0 ? -v : v), i = 0;

    if (n < d->digits_len || d->exp != (int64_t)(n - d->digits_len))
        return false;
    for (const char *p = d->digits; i < d->digits_len; p++) {
        if (*p != '.' && *p != text[i++])
            return false;
    }
    while (i < n && text[i] == '0')
        i++;
    return i == n;
}

/* strtof and strtod round the decimal text once, to the nearest value of their own width; a whole number must be that
 * value. */
static const char *put_float(const struct column *c, const struct json *v, struct buf *out)
{
    const struct type *t = &c->type;
    struct decimal d;
    char small[64], *text = small;
    double v64 = 0;
    float v32 = 0;
    bool none;

    if (is_text_of(v, "nan") || is_text_of(v, "inf") || is_text_of(v, "-inf")) {
        v64 = is_text_of(v, "nan") ? (double)NAN : v->str[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        put_float_bits(t, v64, (float)v64, out);
        return NULL;
    }
    if (!read_number(v, &d))
        return not_number;
    if (v->len >= sizeof small) {
        text = xstrndup(v->str, v->len);
    } else {
        memcpy(small, v->str, v->len);
        small[v->len] = '\0';
    }
    if (t->bits == 32)
        v32 = strtof(text, NULL);
    else
        v64 = strtod(text, NULL);
    if (text != small)
        free(text);
    none = v32 == 0 && v64 == 0;
    if (none && d.digits_len > 0)
        return "too small: it would become zero";
    if (isinf(v32) || isinf(v64))
        return out_of_range;
    if (d.digits_len > 0 && d.exp >= 0 && !same_whole(&d, t->bits == 32 ? (double)v32 : v64))
        return "a whole number that the column cannot hold exactly";
    put_float_bits(t, v64, v32, out);
    return NULL;
}

/* Ticks of 10^-scale seconds from an instant written as text. */
static const char *ticks_of_text(const struct json *v, unsigned scale, struct wide *w)
{
    struct instant at;
    const char *why;
    struct json whole = {.type = JSON_NUMBER};
    char text[40];
    uint64_t ticks = 0;

    if (v->type != JSON_STRING)
        return "not an ISO 8601 instant";
    why = instant_read(v->str, v->len, &at);
    if (why)
        return why;
    if (!at.has_time)
        return "a date without a time and a zone";
    if (at.fraction_len > scale)
        return fraction_lost;
    for (unsigned i = 0; i < scale; i++)
        ticks = ticks * 10 + (i < at.fraction_len ? (uint64_t)(at.fraction[i] - '0') : 0);
    snprintf(text, sizeof text, "%" PRId64, at.seconds);
    whole.str = text;
    whole.len = (unsigned)strlen(text) & JSON_LEN_MAX;
    why = exact(&whole, 1, (int)scale, w);
    if (!why)
        wide_add(w, ticks);
    return why;
}

/* An owed time as ticks of 10^-scale seconds. */
static const char *ticks_of(const struct column *c, const struct json *v, unsigned scale, struct wide *w)
{
    switch (c->from) {
    case FROM_S: return exact(v, 1, (int)scale, w);
    case FROM_MS: return exact(v, 1, (int)scale - 3, w);
    case FROM_US: return exact(v, 1, (int)scale - 6, w);
    case FROM_NS: return exact(v, 1, (int)scale - 9, w);
    case FROM_TICKS: return exact(v, 1, 0, w);
    case FROM_DAYS: return exact(v, 86400, (int)scale, w);
    case FROM_ISO: return ticks_of_text(v, scale, w);
    default: return "a time without a unit";
    }
}

static const char *put_datetime(const struct column *c, const struct json *v, struct buf *out)
{
    const struct type *t = &c->type;
    struct wide w;
    const char *why = ticks_of(c, v, t->scale, &w);

    if (why)
        return why;
    if (!wide_in_bits(&w, t->bits, sink_kind(t)->is_signed))
        return out_of_range;
    wide_put(&w, t->bits / 8, out);
    return NULL;
}

/* Whole days: a date alone, a number of days, or an instant that is a midnight in UTC. */
static const char *days_of_value(const struct column *c, const struct json *v, int64_t *days)
{
    struct instant at;
    struct wide w;
    const char *why;
    int64_t n;

    if (c->from == FROM_ISO && v->type == JSON_STRING && !instant_read(v->str, v->len, &at) && !at.has_time) {
        *days = at.seconds / 86400;
        return NULL;
    }
    if (c->from == FROM_DAYS || c->from == FROM_TICKS) {
        why = exact(v, 1, 0, &w);
        if (why)
            return why;
        return wide_i64(&w, days) ? NULL : out_of_range;
    }
    why = ticks_of(c, v, 0, &w);
    if (why)
        return why;
    if (!wide_i64(&w, &n))
        return out_of_range;
    *days = n / 86400;
    return n % 86400 == 0 ? NULL : "not a midnight in UTC";
}

static const char *put_date(const struct column *c, const struct json *v, struct buf *out)
{
    const struct kind *k = sink_kind(&c->type);
    int64_t days;
    const char *why = days_of_value(c, v, &days);

    if (why)
        return why;
    if (days < k->first || days > k->last)
        return out_of_range;
    put_le((uint64_t)days, c->type.bits / 8, out);
    return NULL;
}

static const char *put_string(const struct column *c, const struct json *v, struct buf *out)
{
    (void)c;
    size_t n = v->len;

    if (v->type != JSON_STRING)
        return "not a string";
    for (; n >= 0x80; n >>= 7)
        buf_addc(out, (char)(unsigned char)(n | 0x80));
    buf_addc(out, (char)(unsigned char)n);
    buf_add(out, v->str, v->len);
    return NULL;
}

static const char *put_bool(const struct column *c, const struct json *v, struct buf *out)
{
    (void)c;
    if (v->type != JSON_TRUE && v->type != JSON_FALSE)
        return "not true or false";
    buf_addc(out, v->type == JSON_TRUE ? 1 : 0);
    return NULL;
}

/* ---- every kind ---- */

/* Date32 runs from 1900-01-01 to 2299-12-31. */
static const struct kind kinds[] = {
    [TYPE_INT] = {.put = put_int, .is_signed = true},
    [TYPE_UINT] = {.put = put_int},
    [TYPE_FLOAT] = {.put = put_float},
    [TYPE_DECIMAL] = {.put = put_decimal},
    [TYPE_DATE] = {.put = put_date, .days = true, .first = 0, .last = UINT16_MAX},
    [TYPE_DATE32] = {.put = put_date, .is_signed = true, .days = true, .first = -25567, .last = 120529},
    [TYPE_DATETIME] = {.put = put_datetime},
    [TYPE_DATETIME64] = {.put = put_datetime, .is_signed = true},
    [TYPE_BOOL] = {.put = put_bool},
    [TYPE_STRING] = {.put = put_string},
    [TYPE_OTHER] = {.put = NULL},
};

const struct kind *sink_kind(const struct type *t)
{
    return &kinds[t->kind];
}

bool sink_writes(const struct type *t)
{
    return kinds[t->kind].put && !(t->kind == TYPE_FLOAT && t->bits == 16) && !t->aggregated &&
           (!t->low_cardinality || t->kind == TYPE_STRING);
}

int chwrite_value(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    size_t before = out->len;

    if (!v || v->type == JSON_NULL) {
        *why = "NULL in a column that is not Nullable";
        if (!c->type.nullable)
            return -1;
        buf_addc(out, 1);
        return 0;
    }
    if (c->type.nullable)
        buf_addc(out, 0);
    *why = sink_writes(&c->type) ? sink_kind(&c->type)->put(c, v, out) : "no conversion to the column's type";
    if (*why) {
        out->len = before;
        return -1;
    }
    return 0;
}

static int refuse_value(const struct column *c, const struct json *v, const char *at, const char *why, struct err *err)
{
    struct buf name = BUF_INIT, shown = BUF_INIT;

    msg_mask(&name, c->name, c->name_len);
    if (!v) {
        buf_adds(&shown, "no value");
    } else {
        const struct json_text raw = json_raw(v);
        msg_mask(&shown, raw.p, raw.n < 120 ? raw.n : 120);
        buf_adds(&shown, raw.n > 120 ? "..." : "");
    }
    err_fail(err, ERR_REFUSED, BECAUSE(CODE_VALUE_NOT_STORABLE, {"at", at}, {"column", c->name}),
             "%s: column %s (%s) cannot hold %s: %s", at, buf_str(&name), c->type.name, buf_str(&shown), why);
    buf_free(&name);
    buf_free(&shown);
    return -1;
}

static int refuse_unknown(const struct json *name, const char *at, struct err *err)
{
    struct buf shown = BUF_INIT;
    msg_mask(&shown, name->str, name->len < 120 ? name->len : 120);
    err_fail(err, ERR_REFUSED, BECAUSE(CODE_COLUMN_UNKNOWN, {"at", at}), "%s: no column named %s is written", at,
             buf_str(&shown));
    buf_free(&shown);
    return -1;
}

enum { FEW_VALUES = 64 };

int chwrite_row_cells(const struct columns *cols, const struct json *values, const char *at, struct buf *out,
                      size_t *ends, struct err *err)
{
    size_t before = out->len;
    const struct json *few[FEW_VALUES], **value = cols->n <= FEW_VALUES ? few : xmalloc(cols->n * sizeof(*value));
    const struct json *other = columns_spread(cols, NULL, values, value);
    const char *why;
    int rc = other ? refuse_unknown(other, at, err) : 0;

    for (size_t i = 0; i < cols->n && rc == 0; i++) {
        if (chwrite_value(&cols->at[i], value[i], out, &why) != 0)
            rc = refuse_value(&cols->at[i], value[i], at, why, err);
        else if (ends)
            ends[i] = out->len;
    }
    if (rc != 0)
        out->len = before;
    if (value != few)
        free(value);
    return rc;
}

int chwrite_row(const struct columns *cols, const struct json *values, const char *at, struct buf *out, struct err *err)
{
    return chwrite_row_cells(cols, values, at, out, NULL, err);
}
