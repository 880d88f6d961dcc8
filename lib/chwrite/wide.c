/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: decimal texts as exact whole numbers of up to 256 bits. Nothing owed
 * passes through a double, and an exponent is bounded before it is expanded.
 */
#include "chwrite/internal.h"

#include <string.h>

/* 2^256 has 78 digits: a significand or a result that is longer fits no column. */
#define WIDE_DIGITS 78
#define EXP_LIMIT ((int64_t)1 << 40)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent after `e`, saturated. False where there is no digit or anything else follows. */
static bool read_exponent(const char *p, const char *end, int64_t *out)
{
    bool minus = p < end && *p == '-';
    int64_t v = 0;

    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return false;
    for (; p < end; p++) {
        if (!is_digit(*p))
            return false;
        if (v < EXP_LIMIT)
            v = v * 10 + (*p - '0');
    }
    v = v > EXP_LIMIT ? EXP_LIMIT : v;
    *out = minus ? -v : v;
    return true;
}

/* The extent of `digits[.digits]`; false where there is none. *point is where the point stands, or NULL. */
static bool scan_significand(const char *p, const char *end, const char **stop, const char **point)
{
    const char *start = p;

    while (p < end && is_digit(*p))
        p++;
    if (p == start)
        return false;
    *point = NULL;
    if (p < end && *p == '.') {
        *point = p++;
        while (p < end && is_digit(*p))
            p++;
        if (p == *point + 1)
            return false;
    }
    *stop = p;
    return true;
}

bool decimal_read(const char *p, size_t n, struct decimal *d)
{
    const char *end = p + n, *first, *last, *point;
    int64_t exp = 0;

    d->negative = n > 0 && *p == '-';
    first = p + (d->negative || (n > 0 && *p == '+') ? 1 : 0);
    if (!scan_significand(first, end, &last, &point))
        return false;
    if (last < end && ((*last != 'e' && *last != 'E') || !read_exponent(last + 1, end, &exp)))
        return false;
    if (point)
        exp -= last - point - 1;
    while (first < last && (*first == '0' || *first == '.'))
        first++;
    while (last > first && (last[-1] == '0' || last[-1] == '.')) {
        exp += last[-1] == '0';
        last--;
    }
    d->digits = first;
    d->digits_len = (size_t)(last - first);
    if (point && point > first && point < last)
        d->digits_len--;
    d->exp = d->digits_len == 0 ? 0 : exp;
    return true;
}

/* w = w * by + add; false on overflow. */
static bool mul_add(struct wide *w, uint64_t by, uint64_t add)
{
    unsigned __int128 carry = add;

    for (int i = 0; i < 4; i++) {
        carry += (unsigned __int128)w->limb[i] * by;
        w->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry == 0;
}

/* w = w / 10; false where something is left over. */
static bool div10(struct wide *w)
{
    unsigned __int128 rest = 0;

    for (int i = 3; i >= 0; i--) {
        rest = rest << 64 | w->limb[i];
        w->limb[i] = (uint64_t)(rest / 10);
        rest %= 10;
    }
    return rest == 0;
}

enum decimal_fit decimal_scale(const struct decimal *d, uint64_t times, int shift, struct wide *out)
{
    int64_t exp = d->exp + shift;

    *out = (struct wide){{0, 0, 0, 0}, false};
    if (d->digits_len == 0)
        return DECIMAL_FIT;
    /* Without its zeros the significand is no multiple of 10, and 86400 = 2^7 * 3^3 * 5^2 adds at most seven. */
    if (exp < -7)
        return DECIMAL_INEXACT;
    if (d->digits_len > WIDE_DIGITS || exp > WIDE_DIGITS)
        return exp < 0 && times == 1 ? DECIMAL_INEXACT : DECIMAL_RANGE;
    for (size_t i = 0, left = d->digits_len; left > 0; i++) {
        if (d->digits[i] == '.')
            continue;
        left--;
        if (!mul_add(out, 10, (uint64_t)(d->digits[i] - '0')))
            return DECIMAL_RANGE;
    }
    if (!mul_add(out, times, 0))
        return DECIMAL_RANGE;
    for (; exp > 0; exp--)
        if (!mul_add(out, 10, 0))
            return DECIMAL_RANGE;
    for (; exp < 0; exp++)
        if (!div10(out))
            return DECIMAL_INEXACT;
    out->negative = d->negative;
    return DECIMAL_FIT;
}

static int compare(const struct wide *a, const struct wide *b)
{
    for (int i = 3; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

bool wide_below_power(const struct wide *w, unsigned digits)
{
    struct wide power = {{1, 0, 0, 0}, false};

    while (digits-- > 0)
        mul_add(&power, 10, 0);
    return compare(w, &power) < 0;
}

bool wide_in_bits(const struct wide *w, unsigned bits, bool is_signed)
{
    struct wide top = {{0, 0, 0, 0}, false};
    unsigned at = is_signed ? bits - 1 : bits;

    if (w->negative && !is_signed)
        return false;
    if (at == 256)
        return true;
    top.limb[at / 64] = (uint64_t)1 << (at % 64);
    return compare(w, &top) < (w->negative ? 1 : 0);
}

bool wide_i64(const struct wide *w, int64_t *out)
{
    if (!wide_in_bits(w, 64, true))
        return false;
    *out = (int64_t)(w->negative ? 0 - w->limb[0] : w->limb[0]);
    return true;
}

void wide_add(struct wide *w, uint64_t add)
{
    if (w->negative && w->limb[1] == 0 && w->limb[2] == 0 && w->limb[3] == 0 && w->limb[0] <= add) {
        w->limb[0] = add - w->limb[0];
        w->negative = false;
        return;
    }
    for (int i = 0; i < 4 && add > 0; i++) {
        uint64_t was = w->limb[i];
        w->limb[i] = w->negative ? was - add : was + add;
        add = w->negative ? was < add : w->limb[i] < was;
    }
}

void wide_put(const struct wide *w, unsigned bytes, struct buf *out)
{
    unsigned char le[32];
    bool borrow = w->negative;

    for (unsigned i = 0; i < 4; i++) {
        uint64_t limb = w->limb[i];
        if (w->negative) {
            limb = ~limb + (borrow ? 1 : 0);
            borrow = borrow && limb == 0;
        }
        for (unsigned b = 0; b < 8; b++)
            le[i * 8 + b] = (unsigned char)(limb >> (b * 8));
    }
    buf_add(out, le, bytes);
}
