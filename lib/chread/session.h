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

/* The settings as http takes them, with max_result_rows as given; NULL-terminated, valid until the next call. */
const struct http_setting *session_settings(struct chread *c, uint64_t max_rows, struct http_setting **keep,
                                            char number[24]);

/* The reason and the next action for an answer that is not HTTP_DONE. Returns -1. */
int session_why(const struct http_answer *a, const char *what, struct chread_why *why);

#endif
