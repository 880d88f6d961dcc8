/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json (private): the two loops that the reader spends its time in, over the
 * plain bytes of a string and over digits. SSE2 is part of every x86-64; other
 * machines take eight bytes at a time. Both forms are always compiled where
 * they can be, so that a test can hold one against the other.
 */
#ifndef OWED_JSON_SCAN_H
#define OWED_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define SCAN_SSE2 1
#endif

#define SCAN_ONES 0x0101010101010101u
#define SCAN_HIGHS 0x8080808080808080u

/* True for the bytes at which a string's plain run ends: ", \, U+0000..U+001F, and all that is not ASCII. */
static inline int scan_is_special(unsigned char c)
{
    return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

static inline uint64_t scan_zero_bytes(uint64_t w)
{
    return (w - SCAN_ONES) & ~w & SCAN_HIGHS;
}

/* The first special byte in [p, end), or end. A word that may hold one is gone through by the byte, since the
 * arithmetic can also mark the byte above a true hit. */
static inline const char *scan_plain_portable(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        uint64_t low = (w - SCAN_ONES * 0x20) & ~w;
        uint64_t hit = (low | w) & SCAN_HIGHS;
        hit |= scan_zero_bytes(w ^ (SCAN_ONES * '"')) | scan_zero_bytes(w ^ (SCAN_ONES * '\\'));
        if (hit)
            break;
        p += 8;
    }
    while (p < end && !scan_is_special((unsigned char)*p))
        p++;
    return p;
}

static inline const char *scan_digits_portable(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

#ifdef SCAN_SSE2
static inline const char *scan_plain(const char *p, const char *end)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* compared as signed bytes, so that "below a space" takes in everything from 0x80 up */
        __m128i hit = _mm_or_si128(_mm_cmplt_epi8(v, space),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask)
            return p + __builtin_ctz(mask);
        p += 16;
    }
    return scan_plain_portable(p, end);
}

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
#define scan_plain scan_plain_portable
#define scan_digits scan_digits_portable
#endif

/* How many bytes the valid UTF-8 sequence at p takes (2 to 4), or 0. *p is 0x80 or above. No overlong form, no
 * surrogate, nothing past U+10FFFF. */
static inline size_t scan_utf8(const char *s, const char *end)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t left = (size_t)(end - s);
    unsigned char c = p[0];
    if (c < 0xe0)
        return c >= 0xc2 && left >= 2 && (p[1] & 0xc0) == 0x80 ? 2 : 0;
    if (left < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
        return 0;
    if (c < 0xf0)
        return (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] >= 0xa0) ? 0 : 3;
    if (left < 4 || (p[3] & 0xc0) != 0x80 || c > 0xf4)
        return 0;
    return (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] >= 0x90) ? 0 : 4;
}

#endif
