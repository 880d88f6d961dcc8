/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a descriptor, read by a thread of their own while the caller works on the ones before. */
#ifndef OWED_STREAM_PREFETCH_H
#define OWED_STREAM_PREFETCH_H

#include <stddef.h>

#include "base/base.h"

/* Bytes before each block that the caller may write to: the rest of the block before fits in front of it. */
#define PREFETCH_ROOM ((size_t)64 << 10)

struct prefetch;

/* NULL where no thread can be had. */
struct prefetch *prefetch_start(int fd);
/* Wait for the next block: 1 with its bytes, 0 at the end of the input, -1 with errno. The block before stays until
 * prefetch_drop. */
int prefetch_next(struct prefetch *a, char **p, size_t *n);
/* The block before the last that prefetch_next gave is done with. */
void prefetch_drop(struct prefetch *a);
/* Also where the thread still waits for input. */
void prefetch_stop(struct prefetch *a);

#endif
