/* SPDX-License-Identifier: Apache-2.0 */
/* A request's body in its memfd, and unpacked where the engine cannot be left to do it. */
#ifndef CLICKHOUSE_FRONT_BODY_H
#define CLICKHOUSE_FRONT_BODY_H

#include <stdbool.h>
#include <stddef.h>

/* Writes all of it. */
bool body_write(int fd, const char *data, size_t len);
/* Unpacks an LZ4 body (Content-Encoding: lz4) of len bytes, which may hold its statement too. A new memfd and in *plain
 * its size, or -1 where the body is no whole LZ4 frame or there is no room. */
int body_unpack_lz4(int fd, size_t len, size_t *plain);

#endif
