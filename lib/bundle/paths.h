/* SPDX-License-Identifier: Apache-2.0 */
/* Inside bundle only: the paths that a manifest lists. */
#ifndef OWED_BUNDLE_PATHS_H
#define OWED_BUNDLE_PATHS_H

#include "bundle/bundle.h"

/* How many links a refusal names; the rest is counted. */
#define LINKS_NAMED 12

/* Refused where path is not plain, holds a byte outside [A-Za-z0-9._/=@+-], or lies in no evidence directory. */
int bundle_path_check(const char *path, const char *place, struct err *err);
/* Refused where two paths are one name, or one but for the letters' case: a file system may take them for one file, and
 * which digest counts would be open. */
int bundle_paths_once(const struct bundle_manifest *m, const char *where, struct err *err);
/* Refused where a listed path is a symbolic link or passes one; the artifacts are sorted, their paths checked. */
int bundle_links_refused(const struct bundle_manifest *m, int root, struct err *err);

/* Where a path of state lies: checkpoint-7.snap, start-6.snap (id: the epoch), either's .meta, changelog-7.snap and
 * <subtask>.cp-7/<anything>. */
struct bundle_place {
    uint64_t generation, subtask, id;
    bool is_start;
    size_t dir_len; /* of a RocksDB checkpoint: bytes of the path that are its directory; else 0 */
};
/* False where the path is no such one below checkpoint.state_root. */
bool bundle_place(const struct bundle_manifest *m, const char *path, struct bundle_place *out);

/* How a participant's checkpoint was written, file where the manifest does not say. */
const char *bundle_form_of(const struct bundle_manifest *m, uint64_t subtask);

#endif
