/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of ClickHouse's native compression. */
#include "frames.h"

#include "city.h"

#include <endian.h>
#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKSUM = 16, HEAD = 9, LZ4 = 0x82 };

static void put_u32(char *at, uint32_t n)
{
    n = htole32(n);
    memcpy(at, &n, sizeof n);
}

static void put_u64(char *at, uint64_t n)
{
    n = htole64(n);
    memcpy(at, &n, sizeof n);
}

size_t frame_bound(size_t len)
{
    return CHECKSUM + HEAD + (size_t)LZ4_compressBound((int)len);
}

size_t frame_write(const char *data, size_t len, char *out)
{
    char *head = out + CHECKSUM;
    int packed = LZ4_compress_default(data, head + HEAD, (int)len, LZ4_compressBound((int)len));
    size_t size = HEAD + (size_t)packed;
    struct city sum;

    if (packed <= 0)
        return 0;
    head[0] = (char)LZ4;
    put_u32(head + 1, (uint32_t)size);
    put_u32(head + 5, (uint32_t)len);
    sum = city_hash128(head, size);
    put_u64(out, sum.low);
    put_u64(out + 8, sum.high);
    return CHECKSUM + size;
}

char *frames_of(const char *data, size_t len, size_t *size)
{
    size_t frames = len / FRAME_HOLDS + 1, done = 0;
    char *out = malloc(frames * frame_bound(FRAME_HOLDS));

    *size = 0;
    while (out != NULL && done < len) {
        size_t n = len - done < FRAME_HOLDS ? len - done : FRAME_HOLDS,
               wrote = frame_write(data + done, n, out + *size);

        if (wrote == 0) {
            free(out);
            return NULL;
        }
        *size += wrote;
        done += n;
    }
    return out;
}
