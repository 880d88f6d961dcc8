/* SPDX-License-Identifier: Apache-2.0 */
/* The excluded line: a key left out of comparisons with the reference, and why. */
#ifndef OWED_STREAM_EXCLUDED_H
#define OWED_STREAM_EXCLUDED_H

#include "base/base.h"

struct stream_line;
struct stream_out;

/* clang-format off */
/* id, as the line has it, what it says of a key. */
#define EXCLUDED_TABLE(X) \
    X(OPEN, "open", "of a window that is open still") \
    X(UNDETERMINED, "undetermined", "of which nobody can tell what the table must show") \
    X(EXPIRED, "expired", "whose row the table's TTL may have taken away") \
    X(MOVED_ON, "moved-on", "that the table shows later than the source was read")

enum excluded_why {
#define X(id, text, words) EXCLUDED_##id,
    EXCLUDED_TABLE(X)
#undef X
    EXCLUDED_TYPES
};
/* clang-format on */
const char *excluded_why_name(enum excluded_why w);
const char *excluded_why_words(enum excluded_why w); /* "3 keys …" */

struct stream_excluded {
    enum excluded_why why;
    const char *key; /* an array of cells, as it stands */
    size_t key_len;
};

/* Parse an excluded line; the key lives in arena. ERR_REFUSED, with the line's number. */
int stream_excluded(const struct stream_line *line, struct arena *arena, struct stream_excluded *out, struct err *err);
void stream_put_excluded(struct stream_out *out, const struct stream_excluded *e);

#endif
