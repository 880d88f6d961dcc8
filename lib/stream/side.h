/* SPDX-License-Identifier: Apache-2.0 */
/* The sides whose rows are compared, and the line that closes one: how many rows came of it, and whether they are all.
 */
#ifndef OWED_STREAM_SIDE_H
#define OWED_STREAM_SIDE_H

#include "base/base.h"

struct stream_line;
struct stream_out;

/* Each read of the destination is a side of its own. */
enum side { SIDE_CAPTURED, SIDE_REFERENCE, SIDE_READ1, SIDE_READ2, SIDES };

const char *side_name(enum side s);  /* as a line has it: "captured", "reference", "destination" */
const char *side_words(enum side s); /* "the captured rows" */
unsigned side_read(enum side s);     /* 1 or 2; 0 of an owed side */
/* From a line's side and read (0: none); SIDES for any other. */
enum side side_of(const char *name, size_t n, uint64_t read);

static inline bool side_is_owed(enum side s)
{
    return s < SIDE_READ1;
}

struct stream_side {
    enum side side;
    uint64_t rows;
    uint64_t nearest; /* of an owed side: fractions that are compared as the nearest value of their float column */
    bool whole;
    const char *reason; /* why it is not whole; "" where none is given */
};
/* Parse a side line; the reason is in arena. ERR_REFUSED, with the line's number. */
int stream_side(const struct stream_line *line, struct arena *arena, struct stream_side *out, struct err *err);
void stream_put_side(struct stream_out *out, const struct stream_side *s);

#endif
