/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash-2-4 (Aumasson, Bernstein): a hash that who does not know its key cannot make collide. */
#include <string.h>

#include "multiset/internal.h"

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
