/* SPDX-License-Identifier: Apache-2.0 */
/* cells (private): the special bytes of a row, found many at a time. */
#ifndef OWED_CELLS_MARKS_H
#define OWED_CELLS_MARKS_H

#include "base/bytes.h"

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

#endif
