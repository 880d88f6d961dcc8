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
/* What left a file out of the bundle: a bound or the selection; else otherwise. */
struct cause cut_lack(struct cut *c, const char *path, enum code otherwise);
/* A listed file's bytes, kept in the arena; false once said. */
bool cut_read(struct cut *c, const char *path, enum code code, const char **p, size_t *n);

/* More subtasks than this are no job of ours; a graph that claims them would only cost time. */
#define PARALLELISM_MAX 4096

int cut_find_sink(struct cut *c, struct err *err);
void cut_check_operators(struct cut *c);
void cut_walk(struct cut *c);
/* A completed checkpoint's marker, which must be of it: a file's name alone completes nothing. */
void cut_marker(struct cut *c, uint64_t id, struct marker *out);
int cut_columns(struct cut *c, struct err *err);
void cut_ends(struct cut *c);
const struct scope_range *cut_range(const struct cut_leg *leg, uint64_t partition); /* NULL: none */
/* So many attempts, at most and at least one, wrote rows after the restore point (0: nothing was restored) and before a
 * run whose first epoch this is. */
uint64_t cut_replays(const struct cut *c, uint64_t restored_from, uint64_t first_epoch);
void cut_note_kept(struct cut *c);
void cut_cover(struct cut *c);

#endif
