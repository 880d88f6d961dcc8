/* SPDX-License-Identifier: Apache-2.0 */
/* The absent line: a key that the destination must not hold, and why. */
#ifndef OWED_STREAM_ABSENT_H
#define OWED_STREAM_ABSENT_H

#include "base/base.h"
#include "json/json.h"

struct stream_line;
struct stream_out;

/* clang-format off */
/* id, as the line has it, what it says of a row that is found under the key, what such lines come from. */
#define ABSENT_TABLE(X) \
    X(ABORTED, "aborted", "its record was aborted", "rows of aborted records") \
    X(DELETED, "deleted", "deleted", "deletions")

enum absent_why {
#define X(id, text, row, from) ABSENT_##id,
    ABSENT_TABLE(X)
#undef X
    ABSENT_TYPES
};
/* clang-format on */
const char *absent_why_name(enum absent_why w);
const char *absent_why_row(enum absent_why w);
const char *absent_why_from(enum absent_why w);
enum absent_why absent_why_of(const struct json *text); /* ABSENT_TYPES for any other */

struct stream_absent {
    enum absent_why why;
    const char *key; /* an array of cells, as it stands */
    size_t key_len;
    const char *at; /* topic/partition/offset, or NULL */
    size_t at_len;
};

/* The members of such an object; they live as long as doc. ERR_REFUSED, with what was wrong. */
int absent_parse(const struct json *doc, const char *key, struct stream_absent *out, struct err *err);
/* Parse an absent line; what it points to lives in arena. ERR_REFUSED, with the line's number. */
int stream_absent(const struct stream_line *line, struct arena *arena, struct stream_absent *out, struct err *err);
/* Append `,"at":…,"why":…`. */
void absent_put(struct buf *line, const struct stream_absent *a);
void stream_put_absent(struct stream_out *out, const struct stream_absent *a);

#endif
