/* SPDX-License-Identifier: Apache-2.0 */
/* Inside program only: the times of a partition's records, by their number, in the few bytes that times which lie close
 * together take. */
#ifndef OWED_PROGRAM_TIMES_H
#define OWED_PROGRAM_TIMES_H

#include "base/base.h"
#include "stream/ts.h"

#define TIMES_BLOCK 64u

struct times_block;

struct times {
    uint64_t before, n;     /* records without a time before the first that has one; those from it on */
    struct stream_ts *open; /* of the last n % TIMES_BLOCK; NULL before the first */
    struct times_block *blocks;
    struct buf steps;
};

void times_add(struct times *t, struct stream_ts ts);
struct stream_ts times_get(const struct times *t, uint64_t index);
void times_free(struct times *t);

#endif
