/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by their cells: where cells end, the key within a row, its hash, byte order. */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "multiset/internal.h"

/* Just past the string whose opening quote is at p. */
static const char *past_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p + 1;
}

void row_ends(const char *row, size_t len, size_t want, uint32_t *ends)
{
    const char *p = row + 1, *end = row + len;
    for (size_t i = 0; i < want; i++) {
        if (*p == '"') {
            p = past_string(p, end);
        } else if (*p == '{') {
            p = past_string(past_string(p + 1, end) + 1, end) + 1;
        } else {
            p += 4;
        }
        ends[i] = (uint32_t)(p - row);
        p++;
    }
}

struct multiset_text row_key(const struct key_form *f, const char *row, const uint32_t *ends, struct buf *scratch)
{
    if (f->prefix)
        return (struct multiset_text){row + 1, ends[f->prefix - 1] - 1};
    buf_reset(scratch);
    for (size_t i = 0; i < f->last; i++) {
        if (!f->key[i])
            continue;
        uint32_t from = i ? ends[i - 1] + 1 : 1;
        if (scratch->len)
            buf_addc(scratch, ',');
        buf_add(scratch, row + from, ends[i] - from);
    }
    return (struct multiset_text){scratch->p, scratch->len};
}

struct multiset_text row_key_of(const struct key_form *f, const char *row, size_t len, struct buf *scratch)
{
    uint32_t few[32], *ends = f->last <= 32 ? few : xmalloc(f->last * sizeof *ends);
    row_ends(row, len, f->last, ends);
    struct multiset_text key = row_key(f, row, ends, scratch);
    if (ends != few)
        free(ends);
    return key;
}

uint64_t key_hash(const struct key_form *f, const char *p, size_t n)
{
    uint64_t h = XXH3_64bits(p, n);
    if (f->hash_bits)
        h = (h & UINT32_MAX) | (h >> (64 - f->hash_bits)) << (64 - f->hash_bits);
    return h;
}

int text_order(struct multiset_text a, struct multiset_text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int d = n ? memcmp(a.p, b.p, n) : 0;
    return d ? d : (a.n > b.n) - (a.n < b.n);
}

struct multiset_text text_copy(struct arena *a, struct multiset_text t)
{
    return t.p ? (struct multiset_text){arena_strndup(a, t.p, t.n), t.n} : t;
}
