/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4 (Aumasson, Bernstein), and a map of names on it. */
#include "base/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t rotated(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned n)
{
    while (n-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32) + v[3];
        v[2] += v[1];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[2] = rotated(v[2], 32);
    }
}

static uint64_t word(const char *p, size_t n)
{
    uint64_t w = 0;
    for (size_t i = 0; i < n; i++)
        w |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return w;
}

uint64_t siphash(const uint64_t key[2], const char *p, size_t n)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                     key[1] ^ 0x7465646279746573};
    for (size_t left = n;; left -= 8, p += 8) {
        uint64_t m = left >= 8 ? word(p, 8) : word(p, left) | (uint64_t)n << 56;
        v[3] ^= m;
        rounds(v, 2);
        v[0] ^= m;
        if (left < 8)
            break;
    }
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static uint64_t process_key[2];

static void key_make(void)
{
    if (getrandom(process_key, sizeof process_key, 0) != (ssize_t)sizeof process_key) {
        process_key[0] = (uint64_t)time_mono_ms();
        process_key[1] = (uint64_t)(uintptr_t)&process_key;
    }
}

uint64_t hash_bytes(const char *p, size_t n)
{
    pthread_once(&key_once, key_make);
    return siphash(process_key, p, n);
}

/* ---- the map ---- */

struct map_slot {
    const char *name; /* NULL: free */
    size_t n;
    uint64_t hash, number;
};

static struct map_slot *slot_of(const struct map *m, uint64_t hash, const char *name, size_t n)
{
    size_t at = (size_t)hash & (m->size - 1);
    while (m->slots[at].name &&
           (m->slots[at].hash != hash || m->slots[at].n != n || memcmp(m->slots[at].name, name, n) != 0))
        at = (at + 1) & (m->size - 1);
    return &m->slots[at];
}

static void map_grow(struct map *m)
{
    struct map more = {NULL, m->size ? 2 * m->size : 32, m->used};
    more.slots = xcalloc(more.size, sizeof *more.slots);
    for (size_t i = 0; i < m->size; i++) {
        size_t at = (size_t)m->slots[i].hash & (more.size - 1);
        while (m->slots[i].name && more.slots[at].name)
            at = (at + 1) & (more.size - 1);
        if (m->slots[i].name)
            more.slots[at] = m->slots[i];
    }
    free(m->slots);
    *m = more;
}

uint64_t *map_find(const struct map *m, const char *name, size_t n)
{
    if (m->size == 0)
        return NULL;
    struct map_slot *s = slot_of(m, hash_bytes(name, n), name, n);
    return s->name ? &s->number : NULL;
}

uint64_t *map_at(struct map *m, const char *name, size_t n, uint64_t fresh)
{
    if (2 * m->used >= m->size)
        map_grow(m);
    uint64_t hash = hash_bytes(name, n);
    struct map_slot *s = slot_of(m, hash, name, n);
    if (!s->name) {
        *s = (struct map_slot){name, n, hash, fresh};
        m->used++;
    }
    return &s->number;
}

bool map_add(struct map *m, const char *name, size_t n, uint64_t number)
{
    size_t before = m->used;
    map_at(m, name, n, number);
    return m->used > before;
}

void map_free(struct map *m)
{
    free(m->slots);
    *m = MAP_INIT;
}
