/* SPDX-License-Identifier: Apache-2.0 */
/* A sink's account of its interval, from barrier to barrier. */
#include "evidence/tally.h"
#include "stream/codes.h"

#include <inttypes.h>
#include <string.h>

void tally_row(struct tally *a, const char *at)
{
    if (at)
        range_add(&a->range, at);
    a->seen++;
}

void tally_token(struct tally *a, uint64_t rows, const struct buf *body, struct buf *out)
{
    struct ledger_batch b = {.job = a->job,
                             .operator_id = a->operator_id,
                             .attempt = a->attempt,
                             .subtask = a->subtask,
                             .sequence = a->sequence++,
                             .after = a->after,
                             .first = a->seen - rows,
                             .rows = rows,
                             .body = body,
                             .range = &a->range};
    ledger_token(&b, out);
}

void tally_enter(struct tally *a, struct ledger_entry e)
{
    e.token = arena_strndup(&a->arena, e.token, strlen(e.token));
    e.first = a->seen - e.rows;
    ledger_add(&a->ledger, &e);
    range_reset(&a->range);
}

int tally_follows(const struct tally *a, const struct barrier *b, struct err *err)
{
    if (strcmp(b->job, a->job) != 0 || strcmp(b->attempt, a->attempt) != 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LANES_APART),
                        "barrier %" PRIu64 " is of job %s, attempt %s, not of job %s, attempt %s", b->checkpoint,
                        b->job, b->attempt, a->job, a->attempt);
    if (b->previous != a->after || b->checkpoint <= a->after)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LANES_APART),
                        "barrier %" PRIu64 " says that it follows %" PRIu64 ", and the last one here was %" PRIu64,
                        b->checkpoint, b->previous, a->after);
    return 0;
}

struct interval tally_interval(const struct tally *a, const struct barrier *b)
{
    struct interval iv = {.job = a->job,
                          .operator_id = a->operator_id,
                          .attempt = a->attempt,
                          .subtask = a->subtask,
                          .epoch = b->checkpoint,
                          .previous = b->previous,
                          .has_watermark = a->has_watermark,
                          .watermark = a->watermark,
                          .ledger = a->ledger.at,
                          .n_ledger = a->ledger.n};
    interval_set_capture(&iv, barrier_find(b, a->operator_id, a->subtask, LEFT_CAPTURE), a->seen);
    return iv;
}

void tally_next(struct tally *a, uint64_t checkpoint)
{
    a->after = checkpoint;
    a->seen = 0;
    a->ledger.n = 0;
    arena_reset(&a->arena);
}

void tally_free(struct tally *a)
{
    ledger_free(&a->ledger);
    range_free(&a->range);
    arena_free(&a->arena);
}
