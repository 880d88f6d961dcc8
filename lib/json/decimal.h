/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: decimal text read by value. The sink's writer reads its decimals for
 * itself: a fault here must show as a difference from what it stores.
 */
#ifndef OWED_JSON_DECIMAL_H
#define OWED_JSON_DECIMAL_H

#include "base/base.h"

#define DECIMAL_PLAIN_DIGITS 80 /* past so many a number is written as <digits>e<n> */

/* A decimal as it stands in the text it was read from: nothing is expanded. Its value is the digits, with neither
 * leading nor trailing zeros, as an integer, times 10^exp. Zero has no digits. */
struct decimal {
    bool neg;
    const char *p;   /* the first digit */
    uint64_t n;      /* how many digits */
    uint64_t point;  /* how many of them stand before the point, which is skipped; past n where none is */
    int64_t exp;     /* held within +-DECIMAL_FAR */
    int64_t written; /* the exponent in the text, where far does not hold it */
    const char *far; /* an exponent that int64 does not hold: its digits, */
    size_t far_len;  /* for the text alone; */
    int64_t far_add; /* exp is then far (with its sign) plus far_add */
    bool far_neg;
};
#define DECIMAL_FAR ((int64_t)1 << 60)

/* Read [+-]digits[.digits][e[+-]digits], the whole of p[0..n). Leading zeros are no matter. */
bool decimal_parse(struct decimal *d, const char *p, size_t n);

static inline char decimal_digit(const struct decimal *d, uint64_t i)
{
    return d->p[i + (i >= d->point)];
}

/* How many digits stand before the point of value * 10^shift; zero or less for a value below one. */
static inline int64_t decimal_length(const struct decimal *d, int64_t shift)
{
    return (int64_t)d->n + d->exp + shift;
}

/* Append the digits alone. */
void decimal_digits(const struct decimal *d, uint64_t from, uint64_t count, struct buf *out);
/* Append the plain decimal with all its zeros, which the caller bounds. A zero has no sign. */
void decimal_expand(const struct decimal *d, struct buf *out);
/* Append [-]<digits>e<n>. */
void decimal_power(const struct decimal *d, struct buf *out);
bool decimal_same(const struct decimal *a, const struct decimal *b);
/* Compare |value * 10^shift|, which must be whole, with a limit in decimal digits. */
bool decimal_at_most(const struct decimal *d, int64_t shift, const char *limit);

#endif
