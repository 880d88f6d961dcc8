/* SPDX-License-Identifier: Apache-2.0 */
/* Inside evidence only: growing lists of ids. */
#ifndef OWED_EVIDENCE_IDS_H
#define OWED_EVIDENCE_IDS_H

#include "base/base.h"

struct ids {
    uint64_t *at;
    size_t n, cap;
};

void ids_add(struct ids *l, struct arena *a, uint64_t id);
void ids_sort(struct ids *l);                                /* ascending, each once */
size_t ids_below(const uint64_t *at, size_t n, uint64_t id); /* how many of sorted ones are less */

#endif
