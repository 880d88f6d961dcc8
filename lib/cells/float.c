/* SPDX-License-Identifier: Apache-2.0 */
/* cells: floats, by their bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells/internal.h"

#define FLOAT_DIGITS 800 /* a point half way between two doubles has at most 768 significant digits */

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
    snprintf(text + at, 30, "e%" PRId64, exp);
    return text;
}

/* The bits of a Float32, or of a BFloat16, which is the upper half of one. */
static void put_narrow(const struct type *t, float v, struct buf *out)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    if (t->bits == 16)
        cells_put_bf16(out, (uint16_t)(bits >> 16));
    else
        cells_put_f32(out, bits);
}

static enum cells_result round_float(const struct type *t, const struct decimal *d, struct buf *out, const char **why)
{
    char text[FLOAT_DIGITS + 40];
    int64_t whole = decimal_length(d, 0);
    double wide = 0;
    float narrow = 0;
    uint64_t bits64;

    if (d->n > 0 && whole <= 400 && whole >= -400) {
        float_text(d, text);
        wide = t->bits == 32 ? 0 : strtod(text, NULL);
        narrow = t->bits == 32 ? strtof(text, NULL) : t->bits == 16 ? bfloat_nearest(d, wide) : 0;
        wide = t->bits == 64 ? wide : narrow;
    }
    if (d->n > 0 && (whole > 400 || isinf(wide)))
        return unfit_number(out, d, "", "too large for the column", why);
    if (d->n > 0 && wide == 0)
        return unfit_number(out, d, "", "so small that the column holds it as zero", why);
    if (d->n == 0 && d->neg) {
        narrow = -0.0f;
        wide = -0.0;
    }
    if (t->bits < 64) {
        put_narrow(t, narrow, out);
    } else {
        memcpy(&bits64, &wide, sizeof bits64);
        cells_put_f64(out, bits64);
    }
    return CELL_FIT;
}

enum cells_result owed_float(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    struct decimal d;
    bool narrow = c->type.bits < 64;

    if (read_number(v, &d))
        return round_float(&c->type, &d, out, why);
    if (json_is(v, "nan"))
        cells_put_f64(out, 0x7ff8000000000000u);
    else if (json_is(v, "inf"))
        narrow ? put_narrow(&c->type, INFINITY, out) : cells_put_f64(out, 0x7ff0000000000000u);
    else if (json_is(v, "-inf"))
        narrow ? put_narrow(&c->type, -INFINITY, out) : cells_put_f64(out, 0xfff0000000000000u);
    else
        return wrong_kind(out, v, not_number, why);
    return CELL_FIT;
}

bool check_float(const struct type *t, const char *p, size_t n, const char **why)
{
    uint64_t v = 0, inf = t->bits == 16 ? 0x7f80u : t->bits == 32 ? 0x7f800000u : 0x7ff0000000000000u;

    if (n == 3 && memcmp(p, "nan", 3) == 0)
        return true;
    *why = "not the float's bits in lower-case hex";
    if (n != t->bits / 4)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned digit;
        if (p[i] >= '0' && p[i] <= '9')
            digit = (unsigned)(p[i] - '0');
        else if (p[i] >= 'a' && p[i] <= 'f')
            digit = (unsigned)(p[i] - 'a') + 10;
        else
            return false;
        v = v << 4 | digit;
    }
    *why = "a NaN by its bits, which is \"nan\"";
    return (v & (inf | (inf - 1))) <= inf;
}

/* The shortest decimal that reads back as the same value. */
void human_float(const struct type *t, const char *p, size_t n, struct buf *out)
{
    char hex[17], text[40];
    uint64_t v;

    if (n != t->bits / 4) {
        buf_add(out, p, n); /* nan */
        return;
    }
    memcpy(hex, p, n);
    hex[n] = '\0';
    v = strtoull(hex, NULL, 16);
    for (int digits = 1; digits <= 17; digits++) {
        if (t->bits < 64) {
            uint32_t narrow = (uint32_t)(t->bits == 16 ? v << 16 : v);
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
