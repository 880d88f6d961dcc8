/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: a cell's bytes, and a cell as a person reads it.
 */
#include <stdlib.h>
#include <string.h>

#include "cells/internal.h"

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The content of a canonical string, without its escapes. */
static void unescape(const char *p, size_t n, struct buf *out)
{
    static const char from[] = "btnfr", to[] = "\b\t\n\f\r";
    const char *end = p + n;

    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        const char *letter;
        if (!slash) {
            buf_add(out, p, (size_t)(end - p));
            return;
        }
        buf_add(out, p, (size_t)(slash - p));
        p = slash + 2;
        letter = strchr(from, slash[1]);
        if (slash[1] == 'u') {
            buf_addc(out, (char)(hex_digit(slash[4]) << 4 | hex_digit(slash[5])));
            p = slash + 6;
        } else {
            buf_addc(out, letter ? to[letter - from] : slash[1]);
        }
    }
}

bool cells_text(const char *p, size_t n, struct buf *out)
{
    enum cell_form form;
    const char *in, *why;
    size_t in_len;

    if (scan_cell(p, p + n, &form, &in, &in_len, &why) != p + n)
        return false;
    if (form == CELL_FORM_STRING) {
        unescape(in, in_len, out);
        return true;
    }
    return form == CELL_FORM_B64 && base64_decode(out, in, in_len);
}

static void human_decimal(const char *p, size_t n, unsigned scale, struct buf *out)
{
    if (n > 0 && p[0] == '-') {
        buf_addc(out, '-');
        p++;
        n--;
    }
    if (scale == 0) {
        buf_add(out, p, n);
        return;
    }
    if (n <= scale) {
        buf_adds(out, "0.");
        for (size_t i = n; i < scale; i++)
            buf_addc(out, '0');
    } else {
        buf_add(out, p, n - scale);
        buf_addc(out, '.');
        p += n - scale;
        n = scale;
    }
    buf_add(out, p, n);
}

/* The shortest decimal that reads back as the same value. */
static void human_float(unsigned bits, const char *p, size_t n, struct buf *out)
{
    char hex[17], text[40];
    uint64_t v;

    if (n != bits / 4) {
        buf_add(out, p, n); /* nan */
        return;
    }
    memcpy(hex, p, n);
    hex[n] = '\0';
    v = strtoull(hex, NULL, 16);
    for (int digits = 1; digits <= 17; digits++) {
        if (bits == 32) {
            uint32_t narrow = (uint32_t)v;
            float f;
            memcpy(&f, &narrow, sizeof f);
            snprintf(text, sizeof text, "%.*g", digits, (double)f);
            if (strtof(text, NULL) == f)
                break;
        } else {
            double d;
            memcpy(&d, &v, sizeof d);
            snprintf(text, sizeof text, "%.*g", digits, d);
            if (strtod(text, NULL) == d)
                break;
        }
    }
    buf_adds(out, text);
}

/* UTC with as many digits of fraction as the column has; ticks past the calendar stay ticks. */
static void human_time(const struct type *t, const char *p, size_t n, struct buf *out)
{
    struct instant at = {.frac = at.own, .nfrac = 0};
    bool days = t->kind == TYPE_DATE || t->kind == TYPE_DATE32;
    int64_t ticks, unit = 1, rest;

    if (!scan_i64(p, n, &ticks)) {
        buf_add(out, p, n);
        return;
    }
    for (unsigned i = 0; t->kind == TYPE_DATETIME64 && i < t->scale; i++)
        unit *= 10;
    rest = ticks % unit;
    at.secs = ticks / unit;
    if (rest < 0) {
        rest += unit;
        at.secs--;
    }
    for (int64_t place = unit / 10; place > 0; place /= 10)
        at.own[at.nfrac++] = (char)('0' + rest / place % 10);
    if (days && (at.secs > INT64_MAX / 86400 || at.secs < INT64_MIN / 86400)) {
        buf_add(out, p, n);
        return;
    }
    if (days)
        at.secs *= 86400;
    if (!instant_text(&at, days, out)) {
        buf_add(out, p, n);
        buf_adds(out, " ticks");
    }
}

void cells_human(const struct type *t, const char *p, size_t n, struct buf *out)
{
    enum cell_form form;
    const char *in, *why;
    size_t in_len;

    if (scan_cell(p, p + n, &form, &in, &in_len, &why) != p + n || form == CELL_FORM_B64) {
        msg_mask(out, p, n);
        return;
    }
    if (form == CELL_FORM_NULL) {
        buf_adds(out, "NULL");
    } else if (form == CELL_FORM_UNFIT) {
        msg_mask(out, in, in_len);
        buf_adds(out, " (does not fit)");
    } else if (t->kind == TYPE_STRING) {
        msg_mask(out, p, n);
    } else if (!cells_is_canonical(t, p, n, true, &why)) {
        msg_mask(out, p, n);
    } else if (t->kind == TYPE_DECIMAL) {
        human_decimal(in, in_len, t->scale, out);
    } else if (t->kind == TYPE_FLOAT) {
        human_float(t->bits, in, in_len, out);
    } else if (type_is_time(t)) {
        human_time(t, in, in_len, out);
    } else {
        buf_add(out, in, in_len);
    }
}
