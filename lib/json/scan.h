/* SPDX-License-Identifier: Apache-2.0 */
/* json (private): the loop over the digits of a number, sixteen at a time where the machine can. */
#ifndef OWED_JSON_SCAN_H
#define OWED_JSON_SCAN_H

#include "base/bytes.h"

static inline const char *scan_digits_portable(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

#ifdef __SSE2__
static inline const char *scan_digits(const char *p, const char *end)
{
    const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
    while (end - p >= 16) {
        __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), zero);
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, nine), v));
        if (mask != 0xffff)
            return p + __builtin_ctz(~mask);
        p += 16;
    }
    return scan_digits_portable(p, end);
}
#else
#define scan_digits scan_digits_portable
#endif

#endif
