/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many partitions of the table a batch touches: one block each. Exact for a
 * table without a partition key and for one column as the key; a bound from the
 * span of time for the common calendar functions; else one a row, which is
 * never too few. Not for other modules.
 */
#ifndef OWED_CHWRITE_BLOCKS_H
#define OWED_CHWRITE_BLOCKS_H

#include "base/base.h"
#include "types/types.h"

enum blocks_rule { BLOCKS_ONE, BLOCKS_COLUMN, BLOCKS_SPAN, BLOCKS_ROWS };

struct blocks {
    enum blocks_rule rule;
    size_t column;     /* index in the plan */
    int64_t shortest;  /* BLOCKS_SPAN: the shortest partition, in ticks of the column */
    int64_t low, high; /* of this batch */
    uint64_t rows;
    struct block_cell { /* open addressing; a cell is a stretch of the batch's own bytes */
        size_t at, len;
    } * cells;
    size_t size, used; /* slots (a power of two), and how many are taken */
};
#define BLOCKS_INIT ((struct blocks){BLOCKS_ROWS, 0, 0, 0, 0, 0, NULL, 0, 0})

/* From system.tables.partition_key. */
void blocks_init(struct blocks *b, const char *partition_key, const struct columns *cols);
/* Count one row; the cell of b->column stands at body[at .. at+len). */
void blocks_add(struct blocks *b, const struct columns *cols, const struct buf *body, size_t at, size_t len);
uint64_t blocks_count(const struct blocks *b);
void blocks_reset(struct blocks *b); /* for the next batch */
void blocks_free(struct blocks *b);

#endif
