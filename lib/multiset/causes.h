/* SPDX-License-Identifier: Apache-2.0 */
/* Why rows are missing: what speaks for each cause, said in a reason, and the code that leads. */
#ifndef OWED_MULTISET_CAUSES_H
#define OWED_MULTISET_CAUSES_H

#include "multiset/decide.h"

/* How far the consumers that were looked at had come in a partition; a multiset_consumed_fn of a question. */
int64_t causes_consumed(const void *question, const char *topic, uint64_t partition);
/* Of a relation with the table in which rows are missing for certain. late: all that is wrong is that the newest rows
 * of some partitions are missing, and nothing says that they had been written. */
void causes_put(const struct multiset_question *q, enum relation r, const struct multiset_relation *of, bool late,
                struct buf *why, struct cause *cause);

#endif
