/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: a sink's own account of the interval that it is in: how many rows,
 * where those of the batch come from, which INSERTs were acknowledged.
 */
#ifndef OWED_EVIDENCE_ACCOUNT_H
#define OWED_EVIDENCE_ACCOUNT_H

#include "evidence/interval.h"

struct account {
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
#define ACCOUNT_INIT ((struct account){.ledger = LEDGER_INIT, .range = RANGE_INIT, .arena = ARENA_INIT})

void account_row(struct account *a, const char *at); /* at: where the row comes from, or NULL */
/* The token for the batch: the interval's last `rows` rows, sent as body. Never the same again. out is reset first. */
void account_token(struct account *a, uint64_t rows, const struct buf *body, struct buf *out);
/* The batch is through: e, whose token is copied, is of the interval's last e->rows rows. */
void account_enter(struct account *a, struct ledger_entry e);
/* ERR_REFUSED for a barrier of another job or attempt, or one that does not follow the last. */
int account_follows(const struct account *a, const struct barrier *b, struct err *err);
/* The interval that the barrier ends, but for its destination. It points into both. */
struct interval account_interval(const struct account *a, const struct barrier *b);
void account_next(struct account *a, uint64_t checkpoint); /* the interval after that barrier begins */
void account_free(struct account *a);

#endif
