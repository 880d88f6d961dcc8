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

/* ---- is it exact ---- */

#define FEW_DIGITS 19 /* below 10^19, and so in 64 bits */
#define MOST_FIVES 27 /* 5^27 is the last power of five below 2^63 */

static uint64_t fives(int64_t n)
{
    uint64_t v = 1;
    for (; n > 0; n--)
        v *= 5;
    return v;
}

/* The bits from the first to the last that is set. */
static unsigned width(unsigned __int128 v)
{
    uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;
    unsigned top = high ? 128 - (unsigned)__builtin_clzll(high) : 64 - (unsigned)__builtin_clzll(low);
    return top - (low ? (unsigned)__builtin_ctzll(low) : 64 + (unsigned)__builtin_ctzll(high));
}

/* Whether few digits times a power of ten are a float, whose exponent is in range: that power is one of two and one of
 * five, which the digits must hold (below one) or which multiplies them. */
static bool few_are_exact(const struct decimal *d, unsigned mantissa)
{
    uint64_t v = 0;
    for (uint64_t i = 0; i < d->n; i++)
        v = 10 * v + (uint64_t)(decimal_digit(d, i) - '0');
    if (d->exp < -MOST_FIVES || d->exp > MOST_FIVES)
        return false; /* 19 digits hold no such power, and no mantissa is so wide */
    uint64_t by = fives(d->exp < 0 ? -d->exp : d->exp);
    if (d->exp >= 0)
        return width((unsigned __int128)v * by) <= mantissa;
    return v % by == 0 && width(v / by) <= mantissa;
}

/* Whether many digits are those of the value that they were rounded to: as it prints, and with nothing behind. */
static bool many_are_exact(const struct decimal *d, double value)
{
    char text[FLOAT_DIGITS + 40];
    if (d->n > FLOAT_DIGITS)
        return false; /* no float has so many */
    snprintf(text, sizeof text, "%.*e", FLOAT_DIGITS, value < 0 ? -value : value);
    for (uint64_t i = 0; i <= FLOAT_DIGITS; i++)
        if (text[i + (i > 0)] != (i < d->n ? decimal_digit(d, i) : '0')) /* a point, of one byte, behind the first */
            return false;
    return true;
}

static bool is_exact(const struct type *t, const struct decimal *d, double value)
{
    return d->n <= FEW_DIGITS ? few_are_exact(d, t->bits == 16   ? 8
                                                 : t->bits == 32 ? 24
                                                                 : 53)
                              : many_are_exact(d, value);
}

/* ---- from a number ---- */

static void put_bits(const struct type *t, float narrow, double wide, struct buf *out)
{
    uint64_t bits64;

    if (t->bits < 64) {
        put_narrow(t, narrow, out);
    } else {
        memcpy(&bits64, &wide, sizeof bits64);
        cells_put_f64(out, bits64);
    }
}

/* A whole number must be exact, as an integer or a decimal must; a fraction, which hardly any float is, is the nearest.
 */
static enum cells_result round_float(const struct type *t, const struct decimal *d, struct buf *out, const char **why)
{
    char text[FLOAT_DIGITS + 40];
    int64_t whole = decimal_length(d, 0);
    double wide = 0;
    float narrow = 0;

    if (d->n == 0) {
        put_bits(t, d->neg ? -0.0f : 0, d->neg ? -0.0 : 0, out);
        return CELL_FIT;
    }
    if (whole <= 400 && whole >= -400) {
        float_text(d, text);
        wide = t->bits == 32 ? 0 : strtod(text, NULL);
        narrow = t->bits == 32 ? strtof(text, NULL) : t->bits == 16 ? bfloat_nearest(d, wide) : 0;
        wide = t->bits == 64 ? wide : narrow;
    }
    if (whole > 400 || isinf(wide))
        return unfit_number(out, d, "", "too large for the column", why);
    if (wide == 0)
        return unfit_number(out, d, "", "so small that the column holds it as zero", why);
    bool exact = is_exact(t, d, wide);
    if (!exact && d->exp >= 0)
        return unfit_number(out, d, "", "a whole number that the column holds as another", why);
    put_bits(t, narrow, wide, out);
    return exact ? CELL_FIT : CELL_NEAREST;
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
