/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of chread share about the server: statements whose answer is texts, and errors put into words. */
#ifndef OWED_CHREAD_SESSION_H
#define OWED_CHREAD_SESSION_H

#include "chread/chread.h"

/* An answer of n rows of texts; all of it lives in the arena. */
struct texts {
    struct arena arena;
    char ***rows;
    size_t n, cap;
    bool new_connection; /* the answer came over a connection of its own */
};
#define TEXTS_INIT ((struct texts){ARENA_INIT, NULL, 0, 0, false})

/* Run a SELECT of `columns` String columns (its text without FORMAT), whole and proven, and no more than was asked.
 * what names it in the reason. */
int session_texts(struct chread *c, const char *sql, size_t columns, struct http_asked asked, struct texts *t,
                  const char *what, struct chread_why *why);
void texts_free(struct texts *t);
/* Take the rows of such an answer, which the server counted as so many. */
int session_take(const struct buf *answer, uint64_t counted, size_t columns, uint64_t most, struct texts *t,
                 const char *what, struct chread_why *why);

/* What each of the session's, the look's and the parts' answers says, in *c, *t or *parts. */
void session_take_settings(struct chread *c, const struct texts *t);
int table_take_server(const struct texts *x, struct chread_table *t, struct chread_why *why);
int table_take_definition(const struct texts *x, const struct chread_expect *e, struct chread_table *t,
                          struct chread_why *why);
int table_take_columns(const struct texts *x, struct chread_table *t, struct chread_why *why);
int table_take_mutations(const struct texts *x, struct chread_table *t, struct chread_why *why);

/* What a look asks of the tables under a Merge, in this order; each answer is of as many texts a row as under_ask
 * returns, and what it says goes into *t. */
enum under_what { UNDER_TABLES, UNDER_COLUMNS, UNDER_MUTATIONS };
size_t under_ask(struct buf *sql, enum under_what what, const struct engine *merge, const struct chread_expect *e);
int under_take(enum under_what what, const struct texts *x, struct chread_table *t, struct chread_why *why);
/* Append the condition under which a system table's row is of one of them; name: its column of their names. */
void under_where(struct buf *sql, const struct engine *merge, const struct chread_expect *e, const char *name);
void under_free(struct chread_table *t);
/* Append what differs between the tables under it at two looks. */
void under_same(const struct chread_table *a, const struct chread_table *b, struct buf *out);
/* Are both defined alike, their columns among it? */
bool table_same_definition(const struct chread_table *a, const struct chread_table *b);
int replica_take(const struct texts *x, struct chread_table *t, struct chread_why *why);
/* Append the SELECT of system.replicas, without its condition, and how many columns it asks for. */
void replica_ask(struct buf *sql);
size_t replica_asked(void);
void replica_free(struct chread_replica *r);
/* The window where the definition says it, or NULL; malloc'd. */
char *table_window(const char *engine_full, bool replicated);
int parts_take(const struct texts *x, struct chread_parts *parts, struct chread_why *why);

#define SESSION_FORMAT_ROOM 64 /* for what follows a statement's condition */
/* ` FROM` the table. */
void session_from(struct buf *sql, const struct chread_expect *expect);
/* As session_texts, of the table: over a connection that no look was taken over, the answer may be another server's,
 * and so may what is read over it next, whatever this answer was. 0, 1 with *why where there is no answer, -1 with *why
 * where the server or the table is not the one of the look any more. */
int session_ask(struct chread *c, const struct chread_expect *expect, const struct chread_table *t, const char *sql,
                size_t columns, struct http_asked asked, struct texts *x, const char *what, struct chread_why *why);

/* Send the setting with every statement from now on, if the server takes it from this user. -1 with *why where that
 * cannot be told, or the server is not the one of the look. */
int session_offer(struct chread *c, const struct chread_expect *expect, const struct chread_table *t, const char *name,
                  const char *value, struct chread_why *why);

/* The settings as http takes them, with max_result_rows as given and room for one more; NULL-terminated, to be freed.
 */
struct http_setting *session_settings(struct chread *c, uint64_t max_rows, char number[24]);

/* The reason and the next action for an answer that is not HTTP_DONE. Returns -1. */
int session_why(const struct http_answer *a, const char *what, struct chread_why *why);

#endif
