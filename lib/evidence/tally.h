/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: a sink's own tally of the interval that it is in: how many rows,
 * where those of the batch come from, which INSERTs were acknowledged.
 */
#ifndef OWED_EVIDENCE_TALLY_H
#define OWED_EVIDENCE_TALLY_H

#include "evidence/interval.h"

struct tally {
    const char *job, *operator_id, *attempt; /* the caller's */
    uint64_t subtask;
    uint64_t after; /* the barrier before the interval, 0: the run's start */
    uint64_t seen;  /* rows of the interval, those of the batch included */
    bool has_watermark;
    int64_t watermark;
    uint64_t sequence; /* of the next INSERT in this attempt */
    struct ledger ledger;
    struct range range;
    struct arena arena; /* of the ledger's tokens */
};
#define TALLY_INIT ((struct tally){.ledger = LEDGER_INIT, .range = RANGE_INIT, .arena = ARENA_INIT})

void tally_row(struct tally *a, const char *at); /* at: where the row comes from, or NULL */
/* The token for the batch: the interval's last `rows` rows, sent as body. Never the same again. out is reset first. */
void tally_token(struct tally *a, uint64_t rows, const struct buf *body, struct buf *out);
/* The batch is through: e, whose token is copied, is of the interval's last e->rows rows. */
void tally_enter(struct tally *a, struct ledger_entry e);
/* ERR_REFUSED for a barrier of another job or attempt, or one that does not follow the last. */
int tally_follows(const struct tally *a, const struct barrier *b, struct err *err);
/* The interval that the barrier ends, but for its destination. It points into both. */
struct interval tally_interval(const struct tally *a, const struct barrier *b);
void tally_next(struct tally *a, uint64_t checkpoint); /* the interval after that barrier begins */
void tally_free(struct tally *a);

#endif
