/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: bytes by their hash, under a key of this process: whoever made the
 * bytes cannot make them meet. Nothing is identified by a hash; equal means
 * equal bytes.
 */
#ifndef OWED_BASE_HASH_H
#define OWED_BASE_HASH_H

#include "base/base.h"

/* SipHash-2-4. */
uint64_t siphash(const uint64_t key[2], const char *p, size_t n);
/* The same under the key of this process. */
uint64_t hash_bytes(const char *p, size_t n);

/* Numbers by name, for lists that grow with the input. Names are not copied: they must stay while the map is used. */
struct map_slot;
struct map {
    struct map_slot *slots;
    size_t size, used;
};
#define MAP_INIT ((struct map){NULL, 0, 0})

uint64_t *map_find(const struct map *m, const char *name, size_t n); /* NULL where it is not there */
/* The number of a name, made `fresh` where it was not there. It lives until the next name is new. */
uint64_t *map_at(struct map *m, const char *name, size_t n, uint64_t fresh);
/* False where the name was there, whose number is kept. */
bool map_add(struct map *m, const char *name, size_t n, uint64_t number);
void map_free(struct map *m);

#endif
