/* SPDX-License-Identifier: Apache-2.0 */
/* evidence: where a batch's rows come from, a stretch of offsets for each topic's partition, in the order of
 * appearance.
 */
#ifndef OWED_EVIDENCE_RANGE_H
#define OWED_EVIDENCE_RANGE_H

#include "base/base.h"

struct range {
    struct stretch {
        struct buf place, first, last;
    } * at;
    size_t n, cap; /* those past n are kept for reuse */
};
#define RANGE_INIT ((struct range){NULL, 0, 0})

void range_add(struct range *r, const char *at);
void range_put(const struct range *r, struct buf *out); /* "orders/0/4711../4720 orders/2/7../9" */
void range_reset(struct range *r);
void range_free(struct range *r);

#endif
