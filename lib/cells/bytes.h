/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells (private): the loops that every string cell goes through. SSE2 where
 * the machine has it, eight bytes at a time elsewhere; both forms are always
 * compiled, so that a test can hold one against the other.
 */
#ifndef OWED_CELLS_BYTES_H
#define OWED_CELLS_BYTES_H

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

/* A stretch of up to 64 bytes of a row and where its special bytes are, so that the next of many costs little. */
struct bytes_marks {
    const char *start, *end; /* of the row */
    const char *base;        /* of the stretch */
    uint64_t marks;          /* bit i: base[i] is special, or the end */
};

#ifdef __SSE2__
static inline uint64_t bytes_marks16(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* Signed: a byte past ASCII is below the space too. */
    __m128i hit = _mm_or_si128(
        _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
        _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
    return (unsigned)_mm_movemask_epi8(hit);
}

static inline uint64_t bytes_marks64(const char *p)
{
    return bytes_marks16(p) | bytes_marks16(p + 16) << 16 | bytes_marks16(p + 32) << 32 | bytes_marks16(p + 48) << 48;
}

static inline void bytes_mark(struct bytes_marks *m, const char *p)
{
    size_t n = (size_t)(m->end - p), i = 0;

    m->base = p;
    if (n >= 64) {
        m->marks = bytes_marks64(p);
        return;
    }
    m->marks = (uint64_t)1 << n;
    if (n == 0)
        return;
    /* The last 64 or 16 bytes of the row, less those before the rest. */
    if (m->end - m->start >= 64) {
        m->marks |= bytes_marks64(m->end - 64) >> (64 - n);
        return;
    }
    for (; i + 16 <= n; i += 16)
        m->marks |= bytes_marks16(p + i) << i;
    if (i < n && m->end - m->start >= 16) {
        m->marks |= bytes_marks16(m->end - 16) >> (16 - (n - i)) << i;
        return;
    }
    for (; i < n; i++)
        m->marks |= (uint64_t)bytes_special((unsigned char)p[i]) << i;
}
#endif

/* Begin with the row [start, end). */
static inline void bytes_begin(struct bytes_marks *m, const char *start, const char *end)
{
    m->start = start;
    m->end = end;
#ifdef __SSE2__
    bytes_mark(m, start);
#endif
}

/* The first special byte of the row at or after p, or its end. p must not go back behind an earlier one. */
static inline const char *bytes_next(struct bytes_marks *m, const char *p)
{
#ifdef __SSE2__
    for (;;) {
        size_t at = (size_t)(p - m->base);

        if (at < 64) {
            uint64_t marks = m->marks >> at;
            if (marks != 0)
                return p + __builtin_ctzll(marks);
            p = m->base + 64;
        }
        bytes_mark(m, p);
    }
#else
    return bytes_plain_portable(p, m->end);
#endif
}

/* How many bytes the well-formed UTF-8 sequence at p takes (one past ASCII; p < end), or 0. */
static inline size_t bytes_sequence(const char *p, const char *end)
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
