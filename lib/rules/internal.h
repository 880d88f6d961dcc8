/* SPDX-License-Identifier: Apache-2.0 */
/* rules (private): values in and out of libjq, and what a program asks of us and not of it. */
#ifndef OWED_RULES_INTERNAL_H
#define OWED_RULES_INTERNAL_H

#include "json/json.h"
#include "rules/rules.h"

#include <jv.h>

/* How numbers of a document come: as doubles, which must hold them, or as their text. */
enum numbers { NUMBERS_EXACT, NUMBERS_TEXT };

/* Names that were seen, each where it stood: a document's are mostly those of the one before, and libjq has their hash
 * then. */
#define NAMES 64
struct names {
    jv at[NAMES];
    size_t n, next;
};
void names_free(struct names *names);
jv names_get(struct names *names, const char *p, size_t n);

/* A jq value of v. -1 where a number is no double. */
int rules_value(const struct json *v, enum numbers numbers, struct names *names, jv *out, struct err *err);
/* Append v, which is not consumed, as JSON. -1 where it has no JSON. */
int rules_put(struct buf *out, jv v, unsigned depth, struct err *err);
/* The answer to question, [name, value], which is consumed (guard.h). Where jq's own would have lost something in
 * silence, *lost says so. */
jv rules_answer(jv question, struct err *lost);

#endif
