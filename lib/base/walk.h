/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a directory tree without following links. */
#ifndef OWED_BASE_WALK_H
#define OWED_BASE_WALK_H

#include "base/base.h"

/* path: relative to the root; name: its last component. trouble: 0, or the errno of looking at what lies there or of
 * listing it; WALK_TOO_DEEP for what nobody nests. */
typedef void walk_fn(void *ctx, const char *path, const char *name, mode_t mode, int trouble);
#define WALK_TOO_DEEP (-1)
/* What trouble says to a person. */
const char *walk_trouble(int trouble);

/* Every entry beneath <root>/<rel>, in name order, directories before what they hold. Nothing where rel is not there.
 * rel "" is the root itself. */
void walk(int rootfd, const char *rel, walk_fn *on_entry, void *ctx);
/* The same of the root alone, not of what its directories hold. */
void walk_root(int rootfd, walk_fn *on_entry, void *ctx);
/* "directory", "symbolic link", "fifo", … */
const char *walk_kind(mode_t mode);

#endif
