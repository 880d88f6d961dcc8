/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by their cells: where cells end, the key within a row, its hash, byte order. */
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/hash.h"
#include "multiset/internal.h"

/* Just past the string whose opening quote is at p. */
static const char *past_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p + 1;
}

/* Just past the array whose opening bracket is at p. */
static const char *past_array(const char *p, const char *end)
{
    size_t depth = 0;
    do {
        if (*p == '"') {
            p = past_string(p, end);
            continue;
        }
        depth += *p == '[';
        depth -= *p == ']';
        p++;
    } while (depth > 0 && p < end);
    return p;
}

void row_ends(const char *row, size_t len, size_t want, uint32_t *ends)
{
    const char *p = row + 1, *end = row + len;
    for (size_t i = 0; i < want; i++) {
        if (*p == '"') {
            p = past_string(p, end);
        } else if (*p == '[') {
            p = past_array(p, end);
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

void key_form_seed(struct key_form *f, uint64_t seed)
{
    f->seed[0] = f->seed[1] = f->seed[2] = seed;
    /* Without a random one, which no supported system lacks, the time is as good as any. */
    if (seed == 0 && getrandom(f->seed, sizeof f->seed, 0) != (ssize_t)sizeof f->seed)
        f->seed[0] = f->seed[1] = (uint64_t)time_mono_ms();
}

uint64_t text_hash(uint64_t seed, const char *p, size_t n)
{
    return XXH3_64bits_withSeed(p, n, seed);
}

uint64_t key_hash(const struct key_form *f, const char *p, size_t n)
{
    uint64_t h = text_hash(f->seed[0], p, n);
    /* Odd, so that as many hashes are left as there are bits for. */
    return f->hash_bits ? (h >> (64 - f->hash_bits)) * 0x9e3779b97f4a7c15 : h;
}

uint64_t key_hash_keyed(const struct key_form *f, const char *p, size_t n)
{
    return siphash(f->seed + 1, p, n);
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
