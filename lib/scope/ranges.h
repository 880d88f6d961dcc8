/* SPDX-License-Identifier: Apache-2.0 */
/* Inside scope only: the ranges that a person declares, the sources of the document that they become, and what of it
 * cannot be audited. */
#ifndef OWED_SCOPE_RANGES_H
#define OWED_SCOPE_RANGES_H

#include "scope/declare.h"

/* What is said well, and cannot be audited. Returns 0. */
int declare_say(struct declare *d, enum status status, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Read r->said into the rest of *r. */
/* Room for one more in an array that lives in the arena, of n so far. */
void *declare_room(struct arena *a, const void *at, size_t n, size_t size);
int range_read(struct arena *a, struct declare_range *r, struct err *err);
/* What was found of a topic, and of a partition of it; NULL: nothing. */
const struct declare_log *log_found(const struct declare *d, const char *topic);
const struct declare_bounds *log_partition(const struct declare_log *log, uint64_t partition);
/* The document's sources, from the ranges: held against the logs found, sorted, without two of one partition. */
int ranges_source(struct declare *d, struct scope *out, struct err *err);
/* What is gone before the ranges, and what they leave to be waited for. */
void ranges_note(const struct declare *d, const struct scope *s, struct buf *note);

#endif
