/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a name repeat another of its object? One by one for the few members of
 * most objects, by a hash table for thousands.
 */
#include "json/json.h"
#include "json/internal.h"

#define XXH_INLINE_ALL
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

static pthread_once_t seed_once = PTHREAD_ONCE_INIT;
static uint64_t seed;

/* Names can be chosen by whoever wrote the text; a seed of this process keeps them from meeting in one bucket. */
static void seed_make(void)
{
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = (uint64_t)time_mono_ms() ^ (uint64_t)(uintptr_t)&seed;
}

static bool same_name(const struct slot *a, const struct slot *b)
{
    return a->tag == b->tag && a->name_len == b->name_len && memcmp(a->name, b->name, a->name_len) == 0;
}

bool json_name_repeats(const struct slot *from, const struct slot *name)
{
    for (; from < name; from++)
        if (same_name(from, name))
            return true;
    return false;
}

const struct slot *json_names_first_repeat(struct slot *s, size_t n)
{
    size_t size = 64;
    while (size < 2 * n)
        size *= 2;
    pthread_once(&seed_once, seed_make);
    const struct slot **table = xcalloc(size, sizeof(*table));
    const struct slot *twice = NULL;
    for (size_t i = 0; i < n && !twice; i++) {
        s[i].tag = XXH3_64bits_withSeed(s[i].name, s[i].name_len, seed);
        size_t h = (size_t)s[i].tag & (size - 1);
        while (table[h] && !same_name(table[h], &s[i]))
            h = (h + 1) & (size - 1);
        if (table[h])
            twice = &s[i];
        table[h] = &s[i];
    }
    free(table);
    return twice;
}
