/* SPDX-License-Identifier: Apache-2.0 */
/* A directory that is written beside its place and published by one rename; any death leaves what the next run removes.
 */
#ifndef OWED_PACK_TEMP_H
#define OWED_PACK_TEMP_H

#include "base/base.h"

struct pack_temp {
    struct buf final, path, parent; /* --out without final slashes, the temporary name beside it, their directory */
    int fd;
    bool made; /* path is there, and this process's */
};

/* Make a directory of this process's own beside out and hold it by a lock. Directories that killed runs for the same
 * out left, which hold nothing but what is named in ours (NULL after the last), are removed; those that are in use, or
 * are not known for sure to be such, are named on *note, one line each. Refuses an out that is there already. */
int pack_temp_make(struct pack_temp *t, const char *out, const char *const *ours, struct buf *note, struct err *err);
/* Everything on disk, then the one rename. */
int pack_temp_publish(struct pack_temp *t, struct err *err);
/* Remove what was not published, and release everything. */
void pack_temp_end(struct pack_temp *t, bool published);

#endif
