/* SPDX-License-Identifier: Apache-2.0 */
/* Two words of state, seeded from the first 16 bytes. Up to 127 bytes more are mixed in by 16; from there on five
 * further words take 64 bytes a step, and what is left by 32, from the end backwards. */
#include "city.h"

#include <endian.h>
#include <string.h>

#define P0 UINT64_C(0xc3a5c85c97cb3127)
#define P1 UINT64_C(0xb492b66fbe98f273)
#define P2 UINT64_C(0x9ae16a3b2f90404f)
#define P3 UINT64_C(0xc949d7c7509e6557)
#define FOLD UINT64_C(0x9ddfea08eb382d69)

static uint64_t word(const unsigned char *at)
{
    uint64_t w;

    memcpy(&w, at, sizeof w);
    return le64toh(w);
}

static uint64_t half_word(const unsigned char *at)
{
    uint32_t w;

    memcpy(&w, at, sizeof w);
    return le32toh(w);
}

static uint64_t turn(uint64_t w, unsigned bits)
{
    return bits == 0 ? w : w >> bits | w << (64 - bits);
}

static uint64_t drop(uint64_t w)
{
    return w ^ w >> 47;
}

/* Two words to one. */
static uint64_t fold(uint64_t low, uint64_t high)
{
    uint64_t once = drop((low ^ high) * FOLD);

    return drop((high ^ once) * FOLD) * FOLD;
}

static uint64_t hash_up_to_16(const unsigned char *at, size_t len)
{
    uint64_t tail;

    if (len > 8) {
        tail = word(at + len - 8);
        return fold(word(at), turn(tail + len, (unsigned)len)) ^ tail;
    }
    if (len >= 4)
        return fold(len + (half_word(at) << 3), half_word(at + len - 4));
    if (len == 0)
        return P2;
    return drop((at[0] + ((uint64_t)at[len / 2] << 8)) * P2 ^ (len + ((uint64_t)at[len - 1] << 2)) * P3) * P2;
}

static struct city hash_short(const unsigned char *at, size_t len, struct city seed)
{
    uint64_t a = seed.low, b = seed.high, c, d;

    if (len <= 16) {
        a = drop(a * P1) * P1;
        c = b * P1 + hash_up_to_16(at, len);
        d = drop(a + (len >= 8 ? word(at) : c));
    } else {
        c = fold(word(at + len - 8) + P1, a);
        d = fold(b + len, c + word(at + len - 16));
        a += d;
        /* Short of the end, which c and d hold already. */
        for (size_t done = 0; done + 16 < len; done += 16) {
            a = (a ^ drop(word(at + done) * P1) * P1) * P1;
            b ^= a;
            c = (c ^ drop(word(at + done + 8) * P1) * P1) * P1;
            d ^= c;
        }
    }
    a = fold(a, c);
    b = fold(d, b);
    return (struct city){a ^ b, fold(b, a)};
}

/* 32 bytes into a pair of words. */
static struct city mix(const unsigned char *at, uint64_t a, uint64_t b)
{
    uint64_t first = a + word(at), all = first + word(at + 8) + word(at + 16), last = word(at + 24);

    b = turn(b + first + last, 21) + turn(all, 44);
    return (struct city){all + last, b + first};
}

struct state {
    uint64_t x, y, z;
    struct city v, w;
};

static void step(struct state *s, const unsigned char *at)
{
    uint64_t x = turn(s->x + s->y + s->v.low + word(at + 16), 37) * P1 ^ s->w.high;
    uint64_t y = turn(s->y + s->v.high + word(at + 48), 42) * P1 ^ s->v.low;
    uint64_t z = turn(s->z ^ s->w.low, 33);

    s->v = mix(at, s->v.high * P1, x + s->w.low);
    s->w = mix(at + 32, z + s->w.high, y);
    s->x = z;
    s->y = y;
    s->z = x;
}

static struct city hash_long(const unsigned char *at, size_t len, struct city seed)
{
    struct state s = {.x = seed.low, .y = seed.high, .z = len * P1};
    size_t left = len;

    s.v.low = turn(s.y ^ P1, 49) * P1 + word(at);
    s.v.high = turn(s.v.low, 42) * P1 + word(at + 8);
    s.w.low = turn(s.y + s.z, 35) * P1 + s.x;
    s.w.high = turn(s.x + word(at + 88), 53) * P1;
    for (; left >= 128; left -= 128, at += 128) {
        step(&s, at);
        step(&s, at + 64);
    }
    s.y += turn(s.w.low, 37) * P0 + s.z;
    s.x += turn(s.v.low + s.z, 49) * P0;
    /* The last of these may begin before what is left, never before the data: a step was made. */
    for (size_t done = 32; done < left + 32; done += 32) {
        const unsigned char *chunk = at + left - done;

        s.y = turn(s.y - s.x, 42) * P0 + s.v.high;
        s.w.low += word(chunk + 16);
        s.x = turn(s.x, 49) * P0 + s.w.low;
        s.w.low += s.v.low;
        s.v = mix(chunk, s.v.low, s.v.high);
    }
    s.x = fold(s.x, s.v.low);
    s.y = fold(s.y, s.w.low);
    return (struct city){fold(s.x + s.v.high, s.w.high) + s.y, fold(s.x + s.w.high, s.y + s.v.high)};
}

struct city city_hash128(const void *data, size_t len)
{
    const unsigned char *at = data;
    struct city seed = {P0, P1};

    if (len >= 16) {
        seed = (struct city){word(at) ^ P3, word(at + 8)};
        at += 16;
        len -= 16;
    } else if (len >= 8) {
        seed = (struct city){word(at) ^ len * P0, word(at + len - 8) ^ P1};
        len = 0;
    }
    return len < 128 ? hash_short(at, len, seed) : hash_long(at, len, seed);
}
