/* SPDX-License-Identifier: Apache-2.0 */
/* ClickHouse's native compression (compress=1): a body is a row of frames, each 16 bytes of checksum (CityHash128 of
 * what follows, low half first), the method's byte (0x82 is LZ4), the frame's size without the checksum, the size of
 * what it holds, both UInt32 in little-endian order, and one LZ4 block. */
#ifndef CLICKHOUSE_FRONT_FRAMES_H
#define CLICKHOUSE_FRONT_FRAMES_H

#include <stddef.h>

/* How much goes into a frame at most, as the server has it. */
#define FRAME_HOLDS ((size_t)1 << 20)

/* The most bytes that a frame of len bytes can take; len is at most FRAME_HOLDS. */
size_t frame_bound(size_t len);
/* Writes the frame that holds the data and gives its size; 0 when LZ4 could not. */
size_t frame_write(const char *data, size_t len, char *out);
/* The frames that hold all of the data. Allocated; NULL when memory is out. */
char *frames_of(const char *data, size_t len, size_t *size);

#endif
