/* SPDX-License-Identifier: Apache-2.0 */
/* cells: the nearest BFloat16 of a decimal, ties to even, in one step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells/internal.h"

#define TIE_DIGITS 300 /* a value of 9 bits down to 2^-135 has fewer decimal digits */

/* -1, 0 or 1 as |d| is less than, equal to or greater than v, which is positive and short. */
static int compare(const struct decimal *d, double v)
{
    char text[TIE_DIGITS + 16];
    int64_t exponent;
    size_t n = TIE_DIGITS + 1;

    snprintf(text, sizeof text, "%.*e", TIE_DIGITS, v);
    exponent = strtoll(strchr(text, 'e') + 1, NULL, 10);
    if (decimal_length(d, 0) - 1 != exponent)
        return decimal_length(d, 0) - 1 < exponent ? -1 : 1;
    memmove(text + 1, text + 2, n - 1); /* the digits without the point */
    while (n > 0 && text[n - 1] == '0')
        n--;
    for (uint64_t i = 0; i < d->n && i < n; i++)
        if (decimal_digit(d, i) != text[i])
            return decimal_digit(d, i) < text[i] ? -1 : 1;
    return (d->n > n) - (d->n < n);
}

/* near is the double nearest to d. Only where it stands half way between two values does the decimal itself decide:
 * the double may have been rounded to that very place. */
float bfloat_nearest(const struct decimal *d, double near)
{
    int exponent;
    double steps, rest;
    uint32_t bits;
    bool neg = near < 0;

    if (isinf(near))
        return (float)near;
    near = neg ? -near : near;
    frexp(near, &exponent);
    exponent = exponent - 8 < -133 ? -133 : exponent - 8; /* of the last of eight bits, or of the least value */
    steps = ldexp(near, -exponent);
    bits = (uint32_t)steps;
    rest = steps - bits;
    if (rest == 0.5) {
        int side = compare(d, near);
        bits += side > 0 || (side == 0 && (bits & 1) != 0);
    } else {
        bits += rest > 0.5;
    }
    near = ldexp(bits, exponent); /* past the greatest value it is no Float32 either */
    return (float)(neg ? -near : near);
}
