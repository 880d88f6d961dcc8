/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which row each key has named: a table of 128-bit hashes. It only warns before
 * the table is read; rows-diff compares the rows themselves and decides.
 */
#include "cut/internal.h"

#define XXH_INLINE_ALL
#include <stdlib.h>
#include <xxhash.h>

struct slot {
    XXH128_hash_t key;
    uint64_t row;
    bool used;
};

struct keyed {
    struct slot *at;
    size_t n, cap; /* cap: a power of two */
};

struct keyed *keyed_new(void)
{
    struct keyed *k = xcalloc(1, sizeof *k);
    k->cap = 1024;
    k->at = xcalloc(k->cap, sizeof *k->at);
    return k;
}

static struct slot *slot_of(struct keyed *k, XXH128_hash_t key)
{
    size_t i = (size_t)key.low64 & (k->cap - 1);
    while (k->at[i].used && !XXH128_isEqual(k->at[i].key, key))
        i = (i + 1) & (k->cap - 1);
    return &k->at[i];
}

static void grow(struct keyed *k)
{
    struct keyed more = {.n = k->n, .cap = k->cap * 2, .at = xcalloc(k->cap * 2, sizeof *k->at)};
    for (size_t i = 0; i < k->cap; i++)
        if (k->at[i].used)
            *slot_of(&more, k->at[i].key) = k->at[i];
    free(k->at);
    *k = more;
}

bool keyed_add(struct keyed *k, const char *key, size_t key_len, const char *row, size_t row_len)
{
    struct slot now = {XXH3_128bits(key, key_len), XXH3_64bits(row, row_len), true};
    struct slot *s = slot_of(k, now.key);
    if (s->used)
        return s->row != now.row;
    *s = now;
    if (++k->n * 4 > k->cap * 3)
        grow(k);
    return false;
}

void keyed_free(struct keyed *k)
{
    free(k->at);
    free(k);
}
