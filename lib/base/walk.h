/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a directory tree without following links. */
#ifndef OWED_BASE_WALK_H
#define OWED_BASE_WALK_H

#include "base/base.h"

/* path: relative to the root; name: its last component. trouble not NULL: what lies there could not be looked at or
 * listed. */
typedef void walk_fn(void *ctx, const char *path, const char *name, mode_t mode, const char *trouble);

/* Every entry beneath <root>/<rel>, in name order, directories before what they hold. Nothing where rel is not there.
 * rel "" is the root itself. */
void walk(int rootfd, const char *rel, walk_fn *on_entry, void *ctx);
/* "directory", "symbolic link", "fifo", … */
const char *walk_kind(mode_t mode);

#endif
