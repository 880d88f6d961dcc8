/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: the ledger of a sink's INSERTs, an entry each that was acknowledged,
 * and the token that an INSERT is sent under.
 */
#ifndef OWED_EVIDENCE_LEDGER_H
#define OWED_EVIDENCE_LEDGER_H

#include "base/base.h"
#include "evidence/range.h"
#include "json/json.h"

enum resend { RESEND_NONE, RESEND_DEDUPLICATED, RESEND_MAY_DUPLICATE };

struct ledger_entry {
    const char *token;    /* under which it was acknowledged */
    uint64_t first, rows; /* range in the interval's events, from 0 */
    uint64_t blocks, attempts;
    bool in_doubt;
    enum resend resend;
    bool recorded;        /* the rest is: evidence of before has none of it */
    uint64_t tokens;      /* under so many tokens was it sent, one after the other */
    uint64_t cut, errors; /* attempts in doubt: without an answer that proved itself, and with an error */
    bool restarted;       /* the server was started after one of those had begun */
};

/* True where the rows of an acknowledged INSERT may be gone for good, and the sink could not tell: one in doubt was
 * sent again under the token that it had, and nothing says that this was within one run of the server. A server that is
 * killed can keep the token of rows that it lost. */
bool ledger_may_lack(const struct ledger_entry *e);

/* The list, growing; what an entry points to is the caller's. */
struct ledger {
    struct ledger_entry *at;
    size_t n, cap;
};
#define LEDGER_INIT ((struct ledger){NULL, 0, 0})
void ledger_add(struct ledger *l, const struct ledger_entry *e);
void ledger_free(struct ledger *l);

const char *resend_name(enum resend r);
/* The member `ledger` of the document; entries in the arena. */
int ledger_parse(const struct json *doc, const char *where, struct arena *a, struct ledger_entry **out, size_t *n,
                 struct err *err);
void ledger_put(struct json_w *w, const struct ledger_entry *l, size_t n);

/* An INSERT as a job sees it. */
struct ledger_batch {
    const char *job, *operator_id, *attempt;
    uint64_t subtask, sequence;  /* of this sink's INSERTs in this attempt */
    uint64_t after, first, rows; /* the barrier before the interval (0: the run's start), and its rows in it */
    const struct buf *body;      /* what is sent */
    const struct range *range;   /* what it was made of */
};

/* Its token: a function of who sends it, its place and its bytes, never the same for other rows. out is reset first. */
void ledger_token(const struct ledger_batch *b, struct buf *out);

#endif
