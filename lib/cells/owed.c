/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: from owed values. What a column cannot hold exactly is never rounded,
 * clamped, wrapped or defaulted: it becomes {"unfit":…} and the reason.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells/internal.h"

#define FLOAT_DIGITS 800 /* a point half way between two doubles has at most 768 significant digits */

static const char not_number[] = "not a number";

/* ---- unfit cells ---- */

static void unfit_open(struct buf *out)
{
    buf_adds(out, "{\"unfit\":");
}

/* The plain decimal; past 80 digits, a zero before the point included, the digits and their exponent. */
static void put_plain(struct buf *out, const struct decimal *d)
{
    int64_t whole = decimal_length(d, 0);

    if (d->n > DECIMAL_PLAIN_DIGITS || whole > DECIMAL_PLAIN_DIGITS ||
        (whole <= 0 && 1 - d->exp > DECIMAL_PLAIN_DIGITS))
        decimal_power(d, out);
    else
        decimal_expand(d, out);
}

static void unfit_decimal(struct buf *out, const struct decimal *d)
{
    unfit_open(out);
    buf_addc(out, '"');
    put_plain(out, d);
    buf_adds(out, "\"}");
}

static void unfit_string(struct buf *out, const char *p, size_t n)
{
    unfit_open(out);
    put_string(out, p, n);
    buf_addc(out, '}');
}

/* A value of the wrong kind is shown as it came: text as it is, a number by value, a list or object as JSON. */
static enum cells_result wrong(struct buf *out, const struct json *v, const char *why, const char **reason)
{
    struct decimal d;
    struct buf text = BUF_INIT;

    *reason = why;
    if (v->type == JSON_STRING) {
        unfit_string(out, v->str, v->len);
    } else if (v->type == JSON_NUMBER && decimal_parse(&d, v->str, v->len)) {
        unfit_decimal(out, &d);
    } else {
        json_canonical(&text, v);
        unfit_string(out, text.p, text.len);
        buf_free(&text);
    }
    return CELL_WRONG;
}

static enum cells_result unfit_number(struct buf *out, const struct decimal *d, const char *why, const char **reason)
{
    *reason = why;
    unfit_decimal(out, d);
    return CELL_UNFIT;
}

/* ---- numbers ---- */

/* A JSON number or a string that holds a decimal. */
static bool read_number(const struct json *v, struct decimal *d)
{
    return (v->type == JSON_NUMBER || v->type == JSON_STRING) && decimal_parse(d, v->str, v->len);
}

/* Append value * 10^shift, known to be whole and within the column. */
static void put_whole(struct buf *out, const struct decimal *d, int64_t shift)
{
    buf_addc(out, '"');
    if (d->n == 0) {
        buf_addc(out, '0');
    } else {
        if (d->neg)
            buf_addc(out, '-');
        decimal_digits(d, 0, d->n, out);
        for (int64_t i = d->exp + shift; i > 0; i--)
            buf_addc(out, '0');
    }
    buf_addc(out, '"');
}

static enum cells_result owed_integer(const struct type *t, const struct json *v, struct buf *out, const char **why)
{
    struct decimal d;

    if (!read_number(v, &d))
        return wrong(out, v, not_number, why);
    if (d.exp < 0)
        return unfit_number(out, &d, "a fraction in an integer column", why);
    if (d.n > 0 && !decimal_at_most(&d, 0, range_limit(t->bits, t->kind == TYPE_INT, d.neg)))
        return unfit_number(out, &d, "out of the column's range", why);
    put_whole(out, &d, 0);
    return CELL_FIT;
}

static enum cells_result owed_decimal(const struct type *t, const struct json *v, struct buf *out, const char **why)
{
    struct decimal d;

    if (!read_number(v, &d))
        return wrong(out, v, not_number, why);
    if (d.n > 0 && d.exp < -(int64_t)t->scale)
        return unfit_number(out, &d, "a fraction past the column's scale", why);
    if (d.n > 0 && decimal_length(&d, t->scale) > (int64_t)t->precision)
        return unfit_number(out, &d, "more digits than the column's precision", why);
    put_whole(out, &d, t->scale);
    return CELL_FIT;
}

/* The digits and exponent as text for strtod and strtof, which round once and correctly. There is no point in it,
 * so a locale does not matter; past 800 digits a last 1 stands for all that follow. */
static const char *float_text(const struct decimal *d, char text[FLOAT_DIGITS + 40])
{
    uint64_t n = d->n < FLOAT_DIGITS ? d->n : FLOAT_DIGITS;
    int64_t exp = d->exp + (int64_t)(d->n - n);
    size_t at = 0;

    if (d->neg)
        text[at++] = '-';
    for (uint64_t i = 0; i < n; i++)
        text[at++] = decimal_digit(d, i);
    if (d->n > n) {
        text[at++] = '1';
        exp--;
    }
    snprintf(text + at, 30, "e%lld", (long long)exp);
    return text;
}

static enum cells_result put_float(const struct type *t, const struct decimal *d, struct buf *out, const char **why)
{
    char text[FLOAT_DIGITS + 40];
    int64_t whole = decimal_length(d, 0);
    double wide = 0;
    float narrow = 0;
    uint32_t bits32;
    uint64_t bits64;

    if (d->n > 0 && whole <= 400 && whole >= -400) {
        float_text(d, text);
        if (t->bits == 32) {
            narrow = strtof(text, NULL);
            wide = narrow;
        } else {
            wide = strtod(text, NULL);
        }
    }
    if (d->n > 0 && (whole > 400 || isinf(wide)))
        return unfit_number(out, d, "too large for the column", why);
    if (d->n > 0 && wide == 0)
        return unfit_number(out, d, "so small that the column holds it as zero", why);
    if (d->n == 0 && d->neg) {
        narrow = -0.0f;
        wide = -0.0;
    }
    if (t->bits == 32) {
        memcpy(&bits32, &narrow, sizeof bits32);
        cells_put_f32(out, bits32);
    } else {
        memcpy(&bits64, &wide, sizeof bits64);
        cells_put_f64(out, bits64);
    }
    return CELL_FIT;
}

static enum cells_result owed_float(const struct type *t, const struct json *v, struct buf *out, const char **why)
{
    struct decimal d;
    bool single = t->bits == 32;

    if (read_number(v, &d))
        return put_float(t, &d, out, why);
    if (json_is(v, "nan"))
        cells_put_f64(out, 0x7ff8000000000000u);
    else if (json_is(v, "inf"))
        single ? cells_put_f32(out, 0x7f800000u) : cells_put_f64(out, 0x7ff0000000000000u);
    else if (json_is(v, "-inf"))
        single ? cells_put_f32(out, 0xff800000u) : cells_put_f64(out, 0xfff0000000000000u);
    else
        return wrong(out, v, not_number, why);
    return CELL_FIT;
}

/* ---- times ---- */

static bool holds_days(const struct type *t)
{
    return t->kind == TYPE_DATE || t->kind == TYPE_DATE32;
}

static enum cells_result unfit_instant(const struct type *t, const struct instant *at, const struct json *v,
                                       struct buf *out, const char *why, const char **reason)
{
    size_t start = out->len;

    unfit_open(out);
    buf_addc(out, '"');
    if (!instant_text(at, holds_days(t), out)) {
        out->len = start;
        (void)wrong(out, v, why, reason);
        return CELL_UNFIT;
    }
    buf_adds(out, "\"}");
    *reason = why;
    return CELL_UNFIT;
}

static enum cells_result owed_iso(const struct type *t, const struct json *v, struct buf *out, const char **why)
{
    struct instant at;
    const char *reason = "not a date or time in ISO form";
    int64_t ticks;

    if (v->type != JSON_STRING || !instant_from_iso(&at, v->str, v->len, holds_days(t), &reason))
        return wrong(out, v, reason, why);
    if (!instant_ticks(&at, t, &ticks, &reason))
        return unfit_instant(t, &at, v, out, reason, why);
    cells_put_i64(out, ticks);
    return CELL_FIT;
}

/* A number that has no calendar text is shown as the number that came, and its unit. */
static enum cells_result unfit_unit(const struct decimal *d, enum type_from from, struct buf *out, const char **why)
{
    *why = d->exp < 0 ? "a fraction past the column's precision" : "out of the column's range";
    unfit_open(out);
    buf_addc(out, '"');
    put_plain(out, d);
    buf_addc(out, ' ');
    buf_adds(out, type_from_name(from));
    buf_adds(out, "\"}");
    return CELL_UNFIT;
}

static enum cells_result owed_time(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    struct instant at;
    struct decimal d;
    const char *reason;
    size_t start = out->len;
    int64_t ticks;

    if (c->from == FROM_ISO)
        return owed_iso(&c->type, v, out, why);
    if (c->from == FROM_NONE)
        return wrong(out, v, "a time in a column that has no unit of time", why);
    if (!read_number(v, &d))
        return wrong(out, v, not_number, why);
    if (!instant_from_number(&at, &d, c->from, &c->type))
        return unfit_unit(&d, c->from, out, why);
    if (instant_ticks(&at, &c->type, &ticks, &reason)) {
        cells_put_i64(out, ticks);
        return CELL_FIT;
    }
    unfit_open(out);
    buf_addc(out, '"');
    if (!instant_text(&at, holds_days(&c->type), out)) {
        out->len = start;
        return unfit_unit(&d, c->from, out, why);
    }
    buf_adds(out, "\"}");
    *why = reason;
    return CELL_UNFIT;
}

/* ---- every column ---- */

enum cells_result cells_owed(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    const struct type *t = &c->type;

    if (!v || v->type == JSON_NULL) {
        if (t->nullable) {
            cells_put_null(out);
            return CELL_FIT;
        }
        buf_adds(out, "{\"unfit\":\"null\"}");
        *why = "NULL in a column that is not Nullable";
        return CELL_UNFIT;
    }
    switch (t->kind) {
    case TYPE_INT:
    case TYPE_UINT: return owed_integer(t, v, out, why);
    case TYPE_FLOAT: return owed_float(t, v, out, why);
    case TYPE_DECIMAL: return owed_decimal(t, v, out, why);
    case TYPE_DATE:
    case TYPE_DATE32:
    case TYPE_DATETIME:
    case TYPE_DATETIME64: return owed_time(c, v, out, why);
    case TYPE_BOOL:
        if (v->type != JSON_TRUE && v->type != JSON_FALSE)
            return wrong(out, v, "neither true nor false", why);
        cells_put_bool(out, v->type == JSON_TRUE);
        return CELL_FIT;
    case TYPE_STRING:
        if (v->type != JSON_STRING)
            return wrong(out, v, "not a string", why);
        cells_put_bytes(out, v->str, v->len);
        return CELL_FIT;
    case TYPE_OTHER: break;
    }
    return wrong(out, v, "the column's type has no cells", why);
}
