/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules: a jq program of the operator's over records, in this process (libjq).
 * It is given what ref-run gives a program, with every number of the payload as
 * its text, and sees one record at a time and nothing else. It turns values of
 * its own into libjq's and back and shares nothing of that with the job's map.
 */
#ifndef OWED_RULES_H
#define OWED_RULES_H

#include "json/json.h"

/* What one record's answers may come to; a program that gives more has run away. */
#define RULES_MAX_OUTPUT ((size_t)64 << 20)

/* One compiled program, for one thread at a time. */
struct rules;
/* ERR_REFUSED where the program is none, or reaches outside its record. To be called before other threads run, since it
 * takes HOME away while libjq compiles, which would read a library there. */
struct rules *rules_open(const char *program, size_t n, struct err *err);
/* Run it over a record (its line's tree, of which the first member is left out) with its value (NULL: null), or where
 * value_error is not NULL with that in its place, and append each answer to out as a line of JSON. -1 with *err where
 * the program ended in an error, a number has no JSON or would lose digits, or past RULES_MAX_OUTPUT; what it answered
 * before is in out. */
int rules_run(struct rules *r, const struct json *record, const struct json *value, const char *value_error,
              struct buf *out, struct err *err);
void rules_close(struct rules *r); /* NULL is fine */

#endif
