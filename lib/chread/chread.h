/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chread: reading a ClickHouse table read-only: the server's and the table's
 * identity and form, the keys to ask for, and rows as canonical cells.
 *
 * A function that fails fills a struct chread_why: what the check
 * reconcile.destination says about it, and whether the run is refused. Nothing
 * here holds or prints the password.
 */
#ifndef OWED_CHREAD_H
#define OWED_CHREAD_H

#include "cells/cells.h"
#include "http/http.h"
#include "stream/codes.h"
#include "stream/names.h"
#include "types/definition.h"
#include "stream/replica.h"
#include "types/engine.h"
#include "types/types.h"

/* Why a destination was not read, or not to be judged by. */
struct chread_why {
    bool refused;       /* another server or table than the evidence's: exit 2 */
    enum status status; /* STATUS_UNAVAILABLE or STATUS_UNSUPPORTED */
    struct cause cause;
    char reason[1000];
};

/* Fill *why and return -1. */
int chread_say(struct chread_why *why, enum status status, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- decoding ---- */

enum chread_format { CHREAD_NATIVE, CHREAD_ROWBINARY };
const char *chread_format_word(enum chread_format f); /* "native", "rowbinary" */
const char *chread_format_name(enum chread_format f); /* as ClickHouse's FORMAT clause has it */

/* Gets one row as `[cell,…]`, valid until it returns. Not 0: give up. */
typedef int chread_row_fn(void *ctx, const char *cells, size_t n);

/* A result as it comes, in pieces of any size, into rows. Takes no input on trust: a row is at most max_bytes and a
 * block sixteen times that, and every length is checked before it is used. cols must outlive the decoder; its types
 * must be supported. */
struct chread_decoder;
struct chread_decoder *chread_decoder_new(enum chread_format f, const struct columns *cols, size_t max_bytes,
                                          chread_row_fn *fn, void *ctx);
/* Column i is selected as an expression: its name in a Native block is the server's own. */
void chread_decoder_unnamed(struct chread_decoder *d, size_t i);
/* What the next result answers, which is kept until another is said. Without this call any rows, any number of them. */
struct chread_keys;
struct chread_asked {
    const struct chread_keys *keys; /* sorted; NULL: every row is asked for */
    uint64_t from, to;              /* the keys of these numbers are */
    bool range;         /* rows of other keys may come too, and are passed over unseen; else they are ERR_TROUBLE */
    uint64_t most;      /* rows; one more is ERR_BOUND, before it is given on */
    uint64_t most_kept; /* of the keys, where rows are passed over */
};
void chread_decoder_ask(struct chread_decoder *d, const struct chread_asked *asked);
/* 0, or -1 with *err: ERR_TROUBLE for bytes that are not such a result (with the row or block), ERR_BOUND past
 * max_bytes or the most rows, ERR_NONE where fn gave up. After -1 the decoder is only good for chread_decoder_free. */
int chread_decode(struct chread_decoder *d, const char *p, size_t n, struct err *err);
/* The result is through: -1 (ERR_TROUBLE) in the middle of a row or block. */
int chread_decode_end(struct chread_decoder *d, struct err *err);
uint64_t chread_decoded(const struct chread_decoder *d);     /* rows so far */
uint64_t chread_passed_over(const struct chread_decoder *d); /* those of other keys among them */
void chread_decoder_reset(struct chread_decoder *d);         /* for the next result; memory kept */
void chread_decoder_free(struct chread_decoder *d);

/* ---- keys ---- */

/* Keys of rows, collected in any order and number, then sorted and unique. */
struct chread_keys;
struct chread_keys *chread_keys_new(const struct columns *cols);
/* Add the key of the row of cells p with the cells' ends as cells_scan_row gives them. 1 added, 0 left out because a
 * cell of it is unfit, -1 with *err (ERR_REFUSED) where a cell is none of its column. */
int chread_keys_add(struct chread_keys *k, const char *p, const uint32_t *ends, struct err *err);
/* Sort in the order of the table's sorting key (its text; columns that it does not name follow) and drop repeated keys.
 */
void chread_keys_sort(struct chread_keys *k, const char *sorting_key);
/* After they are sorted: the text of one of the table's keys, by which the server passes rows over. A column that an
 * expression of it is made of is never asked for by a span: a conversion that wraps is taken for one that keeps the
 * order, and rows of the span are then not found. */
void chread_keys_expressions(struct chread_keys *k, const char *table_key);
uint64_t chread_keys_count(const struct chread_keys *k);
void chread_keys_free(struct chread_keys *k);

/* How much one query's text may hold. */
struct chread_limits {
    uint64_t keys;     /* keys a query */
    uint64_t bytes;    /* of text, the whole statement */
    uint64_t elements; /* of the server's syntax tree */
};

/* ---- the server ---- */

struct chread_options {
    struct http_options http;
    enum chread_format format;
    uint64_t max_rows; /* a query */
    uint64_t keys_per_query;
    bool json_text;          /* a column is a JSON, or holds such, and is read as its text */
    bool keys_only;          /* no row of another key is read */
    uint64_t settle_ms;      /* between two reads; the caller's to wait, kept here for the observation */
    uint64_t max_table_rows; /* of the whole table; 0: it is not read whole */
    size_t max_bytes;        /* of one row's cells */
    uint64_t max_delay_s;    /* that a replica may have */
};

struct chread_setting {
    char *name, *value;
};

struct chread {
    struct http *http;
    const struct chread_options *o;
    struct chread_setting *settings; /* sent with every statement */
    size_t n_settings;
    struct map setting_names;
    struct chread_limits limits; /* bytes: max_query_size as the user's profile has it */
    bool size_fixed;             /* it cannot be raised in a request */
    bool arrays, arrays_known;   /* the server unpacks arrays of keys as they are meant */
    uint64_t raised;             /* to what it was raised, 0 where it was not */
    uint64_t bytes, queries;     /* of answers, statements that read the table */
    uint64_t ranges;             /* those among them that read a range */
    uint64_t keys_done;          /* of all reads */
    uint64_t passed_over;        /* rows of other keys in it */
    int code;                    /* ClickHouse's code of the last answer of texts, 0 for none */
    bool unproven;               /* it was whole, and did not prove to be the server's own */
};

/* Connect: the server's line and the settings it knows are read, so that every later statement carries readonly=2 and
 * the neutral value of each setting that changes what a SELECT returns. A setting that the server does not know cannot
 * change its answers and is not sent. -1 with *why: server down, wrong password, a user who may not send settings, an
 * old line, one that gives no JSON as text where o->json_text is set. */
int chread_open(struct chread *c, const struct chread_options *o, struct chread_why *why);
void chread_close(struct chread *c);

struct chread_column {
    char *name, *type, *kind; /* kind: "" or ALIAS, MATERIALIZED, … */
};

struct chread_mutation {
    char *id, *command;
    int64_t created_ms;
    bool done;
};

struct chread_under;

/* The replica that answers, of a table that is replicated. */
struct chread_replica {
    bool shown; /* in system.replicas; else the rest is empty */
    char *path, *name, *exception, *queue_exception;
    struct replica_state state;
};

/* The destination as found. All texts are malloc'd and never NULL after chread_look. */
struct chread_table {
    char *server_uuid, *server_version, *server_host, *timezone;
    char *table_uuid, *engine, *engine_full, *create_table_query, *partition_key, *sorting_key, *dedup_window;
    struct chread_column *columns;
    size_t n_columns;
    struct chread_mutation *mutations;
    size_t n_mutations;         /* of a Merge: those of all tables under it, each id behind its table's name */
    struct chread_under *under; /* of a Merge: the tables under it, by name */
    size_t n_under;
    int64_t client_ms, server_ms; /* both clocks when the look began */
    struct chread_replica replica;
};
#define CHREAD_TABLE_INIT ((struct chread_table){0})

/* A table under a Merge: its identity, definition and columns; what is the server's, and its mutations, stand with the
 * Merge. */
struct chread_under {
    char *name;
    struct chread_table look;
};

/* What the scope names. */
struct chread_expect {
    const char *server_uuid, *database, *table, *table_uuid; /* the uuids NULL where nothing names them */
    const char *replica_path, *replica_name;                 /* both or neither: the table's, and the replica's of it */
    bool every_row;             /* a table whose engine merges rows is read too, each row that stands */
    const struct engine *final; /* of each key the last row, as this engine shows it; NULL: every row */
};

/* Look at the server and the table: who they are, the definition, columns and mutations. Held against expect: another
 * server or table uuid sets why->refused. */
int chread_look(struct chread *c, const struct chread_expect *expect, struct chread_table *t, struct chread_why *why);
void chread_table_free(struct chread_table *t);
/* Where each column of the table stands, by its name. */
void chread_names(const struct chread_table *t, struct map *names);
/* 0 where the table has a supported form (a MergeTree without a TTL but one whose rows chread_expired tells, with a
 * UUID of its own, whose engine is one that expect takes) and every column of cols is there with its type. */
int chread_form(const struct chread_table *t, const struct chread_expect *expect, const struct columns *cols,
                struct chread_why *why);
/* 0 where the Merge shows no row but of the tables that were seen under it, or the table is none; -1 with *why. */
int chread_under_whole(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                       struct chread_why *why);
/* What the table's TTL does to its rows; texts live in the arena. */
void chread_ttl(const struct chread_table *t, struct arena *a, struct ttl *out);
/* True where the table's engine is one that replicates, of those that are read. */
bool chread_replicated(const struct chread_table *t);
/* 0 where the table is not replicated, or the replica that answers has all that the table's log holds; from then on
 * every statement asks the server to refuse a read of one that lacks what a quorum has, where it takes that setting. */
int chread_replica_ready(struct chread *c, const struct chread_expect *e, const struct chread_table *t,
                         struct chread_why *why);
/* The replica as it was seen at both looks; last NULL: there was none. Its texts are the looks'. */
struct replica chread_replica(const struct chread *c, const struct chread_table *first,
                              const struct chread_table *last);
/* What differs between two looks (identity, definition, columns), as text appended to out. True where nothing does. */
bool chread_same(const struct chread_table *a, const struct chread_table *b, struct buf *out);
/* True for a line that this program reads: 24.3 and later. */
bool chread_line_supported(const char *version);

/* Look again over the connection that the last answer came over, and hold what is found against t: -1 (unavailable)
 * where that connection is gone or anything differs. */
int chread_look_again(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                      struct chread_why *why);

/* How the sorted keys are read: stretches of them, each as a range in which rows of other keys are passed over, or key
 * by key. */
struct chread_stretch {
    uint64_t from, to;
    bool range;
};
struct chread_plan {
    struct chread_stretch *at;
    size_t n;
};
#define CHREAD_PLAN_INIT ((struct chread_plan){NULL, 0})

/* Choose by counting the rows of the span of every keys_per_query keys: no more than decides, and each count a proven
 * answer. It decides how the keys are read and nothing else: a range is read to its end as the table then is, so that a
 * count that is wrong or out of date makes a read slow and loses no row. Where the span cannot be told or counted, or
 * keys_only is set, the keys are asked for. -1 with *why where the server or the table is not the one of the look. */
int chread_plan(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                const struct chread_keys *keys, struct chread_plan *plan, struct chread_why *why);
void chread_plan_free(struct chread_plan *plan);

/* Read all rows of the keys by the plan to fn; plan NULL: every row of the table, at most max_table_rows. Whenever the
 * connection is a new one, the look is taken again over that very connection and held against t. *rows counts the rows.
 * Ends: every query's end is proven. */
int chread_rows(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                const struct columns *cols, const struct chread_keys *keys, const struct chread_plan *plan,
                chread_row_fn *fn, void *ctx, uint64_t *rows, struct chread_why *why);

/* ---- the last rows ---- */

/* Call fn with each key (an array of its cells, in the columns' order) of which several rows, unlike in what is
 * compared, have the highest version, so that FINAL shows any of them; and count in *unpaired the keys, or the versions
 * of keys, with more rows taken back than written. Both are asked for without FINAL. */
int chread_undetermined(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                        const struct columns *cols, const struct chread_keys *keys, const struct chread_plan *plan,
                        chread_row_fn *fn, void *ctx, uint64_t *unpaired, struct chread_why *why);

/* ---- rows that a TTL may have taken away ---- */

/* Of each owed row what its expiry can be told by, kept until the table's TTL is known. cols must outlive it; scratch:
 * where a file goes that holds what memory does not, NULL for its usual place. */
struct chread_owed;
struct chread_owed *chread_owed_new(const struct columns *cols, const char *scratch);
/* As chread_keys_add has them. -1 with *err where scratch space fails. */
int chread_owed_add(struct chread_owed *o, const char *p, const uint32_t *ends, struct err *err);
void chread_owed_free(struct chread_owed *o);

struct chread_expired {
    uint64_t rows, keys; /* owed rows that have expired, and their keys */
    uint64_t mixed;      /* of these: keys that also owe a row which has not */
};

/* Call fn with the key (an array of its cells) of each owed row whose time by the table's TTL, as the server computes
 * it, is not past now_ms, the server's clock: once a key. */
int chread_expired(struct chread *c, const struct chread_expect *expect, const struct chread_table *t, int64_t now_ms,
                   struct chread_owed *owed, chread_row_fn *fn, void *ctx, struct chread_expired *out,
                   struct chread_why *why);

/* ---- the whole table ---- */

struct chread_part {
    char *name;
    uint64_t rows;
};

/* The table's active parts, by name. A part's name is never used again, so that the same names are the same rows. */
struct chread_parts {
    struct chread_part *at;
    size_t n;
    uint64_t rows; /* of all; rows that a lightweight DELETE masks are among them */
    bool masked;   /* there may be such */
};
#define CHREAD_PARTS_INIT ((struct chread_parts){NULL, 0, 0, false})

/* The next two: 0, 1 with *why where this cannot be told and the rest can still be read, -1 with *why where the server
 * or the table is not the one of the look any more. */
int chread_parts_look(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                      struct chread_parts *parts, struct chread_why *why);
/* How many rows a SELECT of the table returns now, and how many of the parts' rows this user sees: with those that a
 * lightweight DELETE hides, where a part has any. Fewer than the parts hold: something else hides the others. */
int chread_count(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                 const struct chread_parts *parts, uint64_t *rows, uint64_t *seen, struct chread_why *why);
/* What differs between two looks at the parts, by name and rows, as text appended to out. True where nothing does. */
bool chread_parts_same(const struct chread_parts *before, const struct chread_parts *after, struct buf *out);
void chread_parts_free(struct chread_parts *parts);

/* Append the members of a `table` line, each with its comma before it: where and what the table is, its definition, and
 * its columns with their kind. `unfit` and `unfit_code` among them are why it cannot be judged, or null (unfit: NULL).
 */
void chread_describe(struct buf *out, const struct chread *c, const struct chread_expect *e,
                     const struct chread_table *t, const struct chread_why *unfit);

/* ---- what was observed ---- */

/* The reads so far: n of them, by which (from 0). */
struct chread_reads {
    unsigned n;
    uint64_t rows[2], queries[2], bytes[2], ranges[2], passed_over[2];
    uint64_t keys, unfit; /* unfit: owed rows whose key no column can hold, which were not asked for */
    bool table_whole;     /* every row of the table, not those of the keys */
    size_t parts[2];      /* then: how many there were before and after */
    bool parts_same;
    uint64_t undetermined, unpaired; /* under FINAL: keys left out, and rows that took back what nobody wrote */
    struct chread_expired expired;   /* of a TTL that deletes */
    bool expired_ignored;            /* the operator says that those are of no matter */
};

struct chread_unstable {
    char **why; /* each what was seen */
    size_t n;
    struct buf reason; /* the same for a person; "" where the table stood still */
    struct cause cause;
};
#define CHREAD_UNSTABLE_INIT ((struct chread_unstable){.cause = {.code = CODE_NONE}})

/* A mutation that runs or began, a definition that changed, or a replica that fell behind: the two reads may be of two
 * tables. Appends to *u. */
void chread_find_unstable(const struct chread *c, const struct chread_table *first, const struct chread_table *last,
                          struct chread_unstable *u);
void chread_unstable_free(struct chread_unstable *u);
/* Write the observation. last NULL: the read did not come to its end. */
struct stream_out;
void chread_observe(struct stream_out *out, const struct chread *c, const struct chread_expect *e,
                    const struct chread_table *first, const struct chread_table *last, const struct chread_reads *reads,
                    const struct chread_unstable *u, bool stable);

#endif
