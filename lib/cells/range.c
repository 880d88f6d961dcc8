/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: the ranges of the integer and time types, as ClickHouse documents
 * and keeps them. DateTime64 has no calendar bound here: servers differ in
 * theirs, so its Int64 ticks are the bound and the value speaks.
 */
#include "cells/internal.h"

#define DATE32_MIN (-25567) /* 1900-01-01 */
#define DATE32_MAX 120529   /* 2299-12-31 */

const char *range_limit(unsigned bits, bool is_signed, bool neg)
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

void range_ticks(const struct type *t, int64_t *min, int64_t *max)
{
    switch (t->kind) {
    case TYPE_DATE:
        *min = 0;
        *max = UINT16_MAX;
        break;
    case TYPE_DATE32:
        *min = DATE32_MIN;
        *max = DATE32_MAX;
        break;
    case TYPE_DATETIME:
        *min = 0;
        *max = UINT32_MAX;
        break;
    default:
        *min = INT64_MIN;
        *max = INT64_MAX;
        break;
    }
}
