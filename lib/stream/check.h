/* SPDX-License-Identifier: Apache-2.0 */
/* The check line: one stage's word on one check. Its writer is stream_put_check. */
#ifndef OWED_STREAM_CHECK_H
#define OWED_STREAM_CHECK_H

#include "json/json.h"
#include "stream/codes.h"
#include "stream/names.h"

struct check_line {
    const char *stage, *reason; /* in the arena that was given */
    enum check_name name;
    enum status status;
    const struct json *counts; /* an object of whole numbers, or NULL */
    struct cause cause;        /* its code is CODE_NONE of one that passed, and of no other */
};

/* Take a parsed line apart. ERR_REFUSED for an unknown member, check, status or code, for a check that did not pass
 * and has no code, for one that passed and has one or counts a fault, and for counts that are no whole numbers. */
int check_line_parse(const struct json *doc, struct arena *arena, struct check_line *out, struct err *err);

/* Parse a check line. ERR_REFUSED, with the line's number. */
struct stream_line;
int stream_check(const struct stream_line *line, struct arena *arena, struct check_line *out, struct err *err);

/* ---- what check and stop have in common ---- */

/* The members code and facts. */
int cause_parse(const struct json *doc, const char *place, struct cause *out, struct err *err);
/* `,"code":"…","facts":{…}`: facts where there are any, nothing for a cause without a code. */
void cause_put(struct buf *line, const struct cause *cause);

#endif
