/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: rows to a ClickHouse table. Values to RowBinary with range checks,
 * the table's column plan, synchronous INSERTs under tokens that the caller
 * gives them, retries, and what became of each.
 *
 * Nothing is rounded, clamped, wrapped or defaulted on the way: what a column
 * cannot hold exactly is an error that names the row, the column and the value.
 * The conversions share nothing with the reader's cells but the types' names,
 * so that a fault here shows there.
 */
#ifndef OWED_CHWRITE_H
#define OWED_CHWRITE_H

#include "base/base.h"
#include "evidence/destination.h"
#include "http/http.h"
#include "json/json.h"
#include "types/types.h"

/* ---- values ---- */

/* Append v (NULL: absent, which is as null) as RowBinary of the column. 0; or -1 with nothing appended and *why a
 * static text: the column cannot hold the value exactly, or it is of the wrong kind. */
int chwrite_value(const struct column *c, const struct json *v, struct buf *out, const char **why);

/* Append a row: the columns in their order, from `values` by name. An absent member is NULL. ERR_REFUSED naming
 * at, column and value, with nothing appended; also for a name that is no column of the plan. */
int chwrite_row(const struct columns *cols, const struct json *values, const char *at, struct buf *out,
                struct err *err);

/* ---- the plan: which columns are written, and the unit of each owed time ---- */

struct chwrite_from {
    const char *column;
    enum type_from unit;
};

/* A column of the table as system.columns has it; kind is "", DEFAULT, MATERIALIZED, ALIAS or EPHEMERAL. */
struct chwrite_found {
    const char *name, *type, *kind;
};

/* The columns to write, in the table's order: every one without a default expression, and those DEFAULT columns that
 * `with` names (NULL-terminated, or NULL). The rest is the server's to compute. Refused by name: a column of a type
 * that has no cells, a time without its unit, a unit or a `with` for a column that is not there or takes none. */
int chwrite_plan(const struct chwrite_found *found, size_t n, const struct chwrite_from *from, size_t n_from,
                 const char *const *with, struct columns *out, struct err *err);

/* ---- the deduplication window ---- */

/* The window as this sink sees it. Blocks are one for each partition of the table that an INSERT touches. */
struct chwrite_window {
    uint64_t size;              /* entries that the table remembers; 0: none */
    uint64_t entries_per_block; /* a server that keeps two hashes of a block remembers half as many; 0: not known */
    uint64_t sent;              /* blocks sent to the table so far, every attempt counted */
    bool tested;                /* plain MergeTree on a line on which resends under a token were tested */
};

/* Whether a resend under its token is dropped where the first attempt landed: every condition of the window holds.
 * first_sent is window->sent as it was before the first attempt; blocks are the INSERT's own (never too few). */
bool chwrite_window_holds(const struct chwrite_window *w, uint64_t first_sent, uint64_t blocks);

/* ---- writing ---- */

struct chwrite_options {
    struct http_options http;
    const char *database, *table;
    const struct chwrite_from *from;
    size_t n_from;
    const char *const *with; /* DEFAULT columns that are written all the same, or NULL */
    uint64_t retry_ms;       /* give up on an INSERT after this long; 0: CHWRITE_RETRY_MS */
    uint64_t max_rows;       /* of one INSERT: it is one block of the server, never cut */
};
#define CHWRITE_RETRY_MS 120000
#define CHWRITE_MAX_ROWS 1000000

struct chwrite;

/* Connect and look at the table: identity, form, columns, window, and that an INSERT of ours is synchronous whatever
 * the user's profile says. ERR_REFUSED for a table or a profile that cannot be written so, by name; else ERR_TROUBLE.
 * The options' strings must outlive the writer. */
struct chwrite *chwrite_open(const struct chwrite_options *o, struct err *err);
void chwrite_close(struct chwrite *w); /* drops a batch that was not sent; NULL is fine */
const struct columns *chwrite_columns(const struct chwrite *w);
/* As found last; lives until the next call that talks to the server. */
const struct destination *chwrite_destination(const struct chwrite *w);

/* Add one row to the batch. where is where it comes from, such as topic/partition/offset, for errors. -1 as
 * chwrite_row.
 */
int chwrite_add(struct chwrite *w, const struct json *values, const char *where, struct err *err);
uint64_t chwrite_rows(const struct chwrite *w); /* of the batch */
size_t chwrite_bytes(const struct chwrite *w);
const struct buf *chwrite_body(const struct chwrite *w); /* what the batch is sent as; lives until the next row */

/* What became of a batch that was sent. An attempt in doubt may have been executed, whole or in part. */
struct chwrite_sent {
    const char *token; /* under which it was acknowledged; lives until the next batch is sent. NULL: none was given */
    uint64_t rows, blocks;
    uint64_t attempts, tokens;
    uint64_t cut;      /* attempts in doubt that no answer came to, or none that proved to be the server's */
    uint64_t errors;   /* attempts in doubt that were answered with an error */
    bool restarted;    /* the server was started after an attempt in doubt had begun */
    bool same_server;  /* nothing says that an attempt met another server, or version of it, than the first */
    bool deduplicated; /* what is in doubt lies in one run of the server, which drops the resend of what it has */
};

/* Send the batch as one INSERT under that deduplication token (NULL: none, and the server is told to keep equal
 * batches) and wait until it is acknowledged, sending again byte for byte what is in doubt. A token settles a doubt
 * only within one run of the server: after an error that may have come late, or once the server was started anew, the
 * resend goes under a fresh one, the token with `.2`, `.3`, … behind it, and may land twice. The batch is then empty.
 * -1: not acknowledged, and it may or may not have been executed. Must not be called without a row. */
int chwrite_send(struct chwrite *w, const char *token, struct chwrite_sent *sent, struct err *err);

/* Read the destination again, as its identity is to be known at this point. -1 where it is another server or table, or
 * its columns are not those of the plan (ERR_REFUSED), or it cannot be read. */
int chwrite_look(struct chwrite *w, struct err *err);

#endif
