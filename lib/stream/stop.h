/* SPDX-License-Identifier: Apache-2.0 */
/* The stop line: why a stage did not do its work. Its writer is stream_put_stop. */
#ifndef OWED_STREAM_STOP_H
#define OWED_STREAM_STOP_H

#include "json/json.h"
#include "stream/codes.h"

struct stop_line {
    const char *stage, *reason; /* in the arena that was given */
    bool refused;               /* else unfinished */
    struct cause cause;
};

/* Take a parsed line apart. ERR_REFUSED for another kind, and for a code that is missing or not known. */
int stop_line_parse(const struct json *doc, struct arena *arena, struct stop_line *out, struct err *err);

#endif
