/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: the two walks that every string goes through, over its plain bytes and
 * over a UTF-8 sequence. SSE2 where the machine has it, eight bytes at a time
 * elsewhere; both forms are always compiled, so that a test can hold one
 * against the other.
 */
#ifndef OWED_BASE_BYTES_H
#define OWED_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What ends a plain run: ", \, a control character, a byte past ASCII. */
static inline bool bytes_special(unsigned char c)
{
    return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}

static inline const char *bytes_plain_portable(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;

    while (end - p >= 8) {
        uint64_t w, quote, slash;
        memcpy(&w, p, 8);
        quote = w ^ (ones * '"');
        slash = w ^ (ones * '\\');
        /* A borrow can mark a byte too many, never one too few: the loop below decides. */
        if (((w | (w - ones * 0x20) | (quote - ones) | (slash - ones)) & highs) != 0)
            break;
        p += 8;
    }
    while (p < end && !bytes_special((unsigned char)*p))
        p++;
    return p;
}

/* The first byte in [p, end) that is special, or end. */
static inline const char *bytes_plain(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i space = _mm_set1_epi8(0x20), quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');

    while (end - p >= 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* Signed: a byte past ASCII is below the space too. */
        __m128i hit = _mm_or_si128(_mm_cmplt_epi8(v, space),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)));
        int mask = _mm_movemask_epi8(hit);
        if (mask != 0)
            return p + __builtin_ctz((unsigned)mask);
        p += 16;
    }
    /* The end of a row is short of sixteen bytes once a row. */
    if (end - p >= 8) {
        __m128i v = _mm_loadl_epi64((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_cmplt_epi8(v, space),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)));
        int mask = _mm_movemask_epi8(hit) & 0xff;
        if (mask != 0)
            return p + __builtin_ctz((unsigned)mask);
        p += 8;
    }
    while (p < end && !bytes_special((unsigned char)*p))
        p++;
    return p;
#else
    return bytes_plain_portable(p, end);
#endif
}

/* How many bytes the well-formed UTF-8 sequence at p takes (one past ASCII; p < end), or 0. */
static inline size_t bytes_utf8(const char *p, const char *end)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
    unsigned char lo = 0x80, hi = 0xbf;

    if (u[0] < 0xc2 || u[0] > 0xf4)
        return 0;
    if (u[0] < 0xe0)
        return left >= 2 && (u[1] & 0xc0) == 0x80 ? 2 : 0;
    if (u[0] == 0xe0)
        lo = 0xa0;
    else if (u[0] == 0xed)
        hi = 0x9f;
    else if (u[0] == 0xf0)
        lo = 0x90;
    else if (u[0] == 0xf4)
        hi = 0x8f;
    if (left < 3 || u[1] < lo || u[1] > hi || (u[2] & 0xc0) != 0x80)
        return 0;
    if (u[0] < 0xf0)
        return 3;
    return left >= 4 && (u[3] & 0xc0) == 0x80 ? 4 : 0;
}

#endif
