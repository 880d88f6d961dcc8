/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal text read by value. A decimal stays where it was written, and an
 * exponent is bounded before it is used.
 */
#include "json/decimal.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* The exponent at p (past its e). An exponent of 18 digits fits; a longer one keeps its text. */
static bool read_exponent(struct decimal *d, const char *p, const char *end, int64_t *exp)
{
    bool neg = false;
    int64_t v = 0;

    if (p < end && (*p == '+' || *p == '-'))
        neg = *p++ == '-';
    if (p == end || skip_digits(p, end) != end)
        return false;
    while (p < end - 1 && *p == '0')
        p++;
    if (end - p > 17) {
        d->far = p;
        d->far_len = (size_t)(end - p);
        d->far_neg = neg;
        *exp = 0;
        return true;
    }
    while (p < end)
        v = v * 10 + (*p++ - '0');
    *exp = neg ? -v : v;
    return true;
}

/* The digits of whole[0..nw) and frac[0..nf) as one run, stripped of zeros on both sides. */
static void strip(struct decimal *d, const char *whole, uint64_t nw, const char *frac, uint64_t nf, int64_t exp)
{
    uint64_t lead = 0, tail = 0, all = nw + nf;

    while (lead < nw && whole[lead] == '0')
        lead++;
    if (lead == nw)
        while (lead < all && frac[lead - nw] == '0')
            lead++;
    d->written = exp;
    if (lead == all)
        return; /* zero, whatever its exponent */
    while (tail < nf && frac[nf - 1 - tail] == '0')
        tail++;
    if (tail == nf)
        while (whole[all - 1 - tail] == '0')
            tail++;
    d->n = all - lead - tail;
    d->p = lead < nw ? whole + lead : frac + (lead - nw);
    d->point = lead < nw ? nw - lead : UINT64_MAX;
    d->exp = exp - (int64_t)nf + (int64_t)tail;
    if (d->far) {
        d->far_add = d->exp;
        d->exp = d->far_neg ? -DECIMAL_FAR : DECIMAL_FAR;
    }
}

bool decimal_parse(struct decimal *d, const char *p, size_t n)
{
    const char *end, *whole, *whole_end, *frac = NULL;
    uint64_t nf = 0;
    int64_t exp = 0;

    memset(d, 0, sizeof *d);
    if (n == 0)
        return false;
    end = p + n;
    if (*p == '-' || *p == '+')
        d->neg = *p++ == '-';
    whole = p;
    p = whole_end = skip_digits(p, end);
    if (whole == whole_end)
        return false;
    if (p < end && *p == '.') {
        frac = p + 1;
        p = skip_digits(frac, end);
        nf = (uint64_t)(p - frac);
        if (nf == 0)
            return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        if (!read_exponent(d, p + 1, end, &exp))
            return false;
        p = end;
    }
    if (p != end)
        return false;
    strip(d, whole, (uint64_t)(whole_end - whole), frac, nf, exp);
    return true;
}

void decimal_digits(const struct decimal *d, uint64_t from, uint64_t count, struct buf *out)
{
    uint64_t before = d->point > from ? d->point - from : 0;

    if (before > count)
        before = count;
    buf_add(out, d->p + from, before);
    if (count > before)
        buf_add(out, d->p + from + before + 1, count - before);
}

static void add_zeros(struct buf *out, uint64_t n)
{
    buf_reserve(out, n);
    memset(out->p + out->len, '0', n);
    out->len += n;
}

/* The text of an exponent that int64 does not hold: its digits plus or minus a small number, digit by digit. */
static void put_far(const struct decimal *d, struct buf *out)
{
    uint64_t add = d->far_add < 0 ? 0 - (uint64_t)d->far_add : (uint64_t)d->far_add;
    bool down = (d->far_add < 0) != d->far_neg; /* towards zero */
    size_t at;
    int carry = 0;

    if (d->far_neg)
        buf_addc(out, '-');
    at = out->len;
    buf_addc(out, '0');
    buf_add(out, d->far, d->far_len);
    for (size_t i = out->len; i-- > at;) {
        int v = out->p[i] - '0' + carry + (down ? -(int)(add % 10) : (int)(add % 10));
        add /= 10;
        carry = v < 0 ? -1 : v > 9 ? 1 : 0;
        out->p[i] = (char)('0' + v - 10 * carry);
    }
    if (out->p[at] == '0') {
        size_t zeros = out->p[at + 1] == '0' ? 2 : 1; /* 10^17 less a little loses a digit */
        memmove(out->p + at, out->p + at + zeros, out->len - at - zeros);
        out->len -= zeros;
    }
}

void decimal_power(const struct decimal *d, struct buf *out)
{
    buf_adds(out, d->neg ? "-" : "");
    decimal_digits(d, 0, d->n, out);
    buf_addc(out, 'e');
    if (d->far)
        put_far(d, out);
    else
        buf_addi64(out, d->exp);
}

void decimal_expand(const struct decimal *d, struct buf *out)
{
    int64_t whole = decimal_length(d, 0);

    if (d->n == 0) {
        buf_addc(out, '0');
        return;
    }
    buf_adds(out, d->neg ? "-" : "");
    if (whole <= 0) {
        buf_adds(out, "0.");
        add_zeros(out, (uint64_t)-whole);
        decimal_digits(d, 0, d->n, out);
    } else if (d->exp >= 0) {
        decimal_digits(d, 0, d->n, out);
        add_zeros(out, (uint64_t)d->exp);
    } else {
        decimal_digits(d, 0, (uint64_t)whole, out);
        buf_addc(out, '.');
        decimal_digits(d, (uint64_t)whole, d->n - (uint64_t)whole, out);
    }
}

bool decimal_same(const struct decimal *a, const struct decimal *b)
{
    if (a->n != b->n || (a->n > 0 && (a->neg != b->neg || a->exp != b->exp)))
        return false;
    for (uint64_t i = 0; i < a->n; i++)
        if (decimal_digit(a, i) != decimal_digit(b, i))
            return false;
    return true;
}

bool decimal_at_most(const struct decimal *d, int64_t shift, const char *limit)
{
    int64_t length = decimal_length(d, shift), max = (int64_t)strlen(limit);

    if (d->n == 0 || length < max)
        return true;
    if (length > max)
        return false;
    for (int64_t i = 0; i < max; i++) {
        char c = (uint64_t)i < d->n ? decimal_digit(d, (uint64_t)i) : '0';
        if (c != limit[i])
            return c < limit[i];
    }
    return true;
}
