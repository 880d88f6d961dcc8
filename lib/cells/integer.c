/* SPDX-License-Identifier: Apache-2.0 */
/* cells: integers, and decimals by their unscaled integer. */
#include <string.h>

#include "cells/internal.h"

/* The greatest magnitude, in decimal, of an integer of so many bits; neg: that of a negative one. */
static const char *limit_of(unsigned bits, bool is_signed, bool neg)
{
    static const struct {
        const char *most, *least, *whole;
    } limits[] = {
        {"127", "128", "255"},
        {"32767", "32768", "65535"},
        {"2147483647", "2147483648", "4294967295"},
        {"9223372036854775807", "9223372036854775808", "18446744073709551615"},
        {"170141183460469231731687303715884105727", "170141183460469231731687303715884105728",
         "340282366920938463463374607431768211455"},
        {"57896044618658097711785492504343953926634992332820282019728792003956564819967",
         "57896044618658097711785492504343953926634992332820282019728792003956564819968",
         "115792089237316195423570985008687907853269984665640564039457584007913129639935"},
    };
    unsigned i = 0;

    while ((8u << i) < bits)
        i++;
    if (!is_signed)
        return neg ? "0" : limits[i].whole;
    return neg ? limits[i].least : limits[i].most;
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

enum cells_result owed_integer(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    const struct type *t = &c->type;
    struct decimal d;

    if (!read_number(v, &d))
        return wrong_kind(out, v, not_number, why);
    if (d.exp < 0)
        return unfit_number(out, &d, "", "a fraction in an integer column", why);
    if (d.n > 0 && !decimal_at_most(&d, 0, limit_of(t->bits, cell_kind(t)->is == IS_SIGNED, d.neg)))
        return unfit_number(out, &d, "", "out of the column's range", why);
    put_whole(out, &d, 0);
    return CELL_FIT;
}

enum cells_result owed_decimal(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    const struct type *t = &c->type;
    struct decimal d;

    if (!read_number(v, &d))
        return wrong_kind(out, v, not_number, why);
    if (d.n > 0 && d.exp < -(int64_t)t->scale)
        return unfit_number(out, &d, "", "a fraction past the column's scale", why);
    if (d.n > 0 && decimal_length(&d, t->scale) > (int64_t)t->precision)
        return unfit_number(out, &d, "", "more digits than the column's precision", why);
    put_whole(out, &d, t->scale);
    return CELL_FIT;
}

bool is_whole(const char *p, size_t n)
{
    size_t i = n > 0 && p[0] == '-';

    if (i == n || (p[i] == '0' && n > 1))
        return false;
    for (; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return true;
}

static bool check_limits(const char *p, size_t n, const char *most, const char *least, const char **why)
{
    const char *limit = most;

    *why = "not a whole number in canonical form";
    if (!is_whole(p, n))
        return false;
    if (p[0] == '-') {
        p++;
        n--;
        limit = least;
    }
    *why = "out of the column's range";
    return n < strlen(limit) || (n == strlen(limit) && memcmp(p, limit, n) <= 0);
}

bool check_integer(const struct type *t, const char *p, size_t n, const char **why)
{
    bool is_signed = cell_kind(t)->is == IS_SIGNED;

    return check_limits(p, n, limit_of(t->bits, is_signed, false), limit_of(t->bits, is_signed, true), why);
}

bool check_decimal(const struct type *t, const char *p, size_t n, const char **why)
{
    static const char nines[] = "9999999999999999999999999999999999999999999999999999999999999999999999999999";
    const char *digits = nines + sizeof nines - 1 - t->precision;

    return check_limits(p, n, digits, digits, why);
}

void human_decimal(const struct type *t, const char *p, size_t n, struct buf *out)
{
    size_t scale = t->scale;

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
