/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard: which jq programs may run, for the job's map and for the reference's
 * rules. It looks at a program's text and says whether a number keeps its digits;
 * no value of a record goes through it, so that a fault in how one side turns
 * values shows as a difference to the other.
 */
#ifndef OWED_GUARD_H
#define OWED_GUARD_H

#include "base/base.h"

/* Look at the program's tokens before jq does: $ENV, which no definition can take away, and numbers that are no
 * double. */
int program_check(const char *p, size_t n, struct err *err);
/* The text to compile: definitions that take away what reaches outside, then the program. Its first line is ours. It
 * asks by `debug` for what libjq would lose in silence, [name, value], and takes the answer from `input`: tonumber,
 * fromjson, implode, base64d. */
void program_wrap(struct buf *out, const char *p, size_t n, bool with_record);
/* Compile the text. libjq looks for a library in ~/.jq and reads it before any program, so it is given no home
 * meanwhile: before there are threads. False where jq refuses the text, which its error callback then has said. */
struct jq_state;
bool program_compile(struct jq_state *jq, const char *text);
/* Turn the first message of jq's compiler into an error about the program. */
int program_error(const char *message, struct err *err);

/* The double that p[0..n), a number, is written for. False where the double's shortest text has another value. */
bool number_to_double(const char *p, size_t n, double *out);
/* Append the shortest text that reads back as d. */
void number_put(struct buf *out, double d);

#endif
