/* SPDX-License-Identifier: Apache-2.0 */
/* Inside cut only. */
#ifndef OWED_CUT_INTERNAL_H
#define OWED_CUT_INTERNAL_H

#include "cut/cut.h"

/* Say why reconcile.scope does not pass. */
void cut_say(struct cut *c, enum status s, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same from an error of reading the bundle; one that is not what the manifest lists is kept for bundle.artifacts.
 */
void cut_say_read(struct cut *c, const char *path, const struct err *err, enum code code);
/* A listed file's bytes, kept in the arena; false once said. */
bool cut_read(struct cut *c, const char *path, enum code code, const char **p, size_t *n);

int cut_find_sink(struct cut *c, struct err *err);
void cut_check_operators(struct cut *c);
void cut_walk(struct cut *c);
int cut_columns(struct cut *c, struct err *err);
void cut_ends(struct cut *c);
void cut_note_kept(struct cut *c);
void cut_cover(struct cut *c);

#endif
