/* SPDX-License-Identifier: Apache-2.0 */
/* Inside bundle only: a completed checkpoint's marker in a bundle. */
#ifndef OWED_BUNDLE_MARKER_H
#define OWED_BUNDLE_MARKER_H

#include "bundle/bundle.h"
#include "evidence/marker.h"

/* Read and parse it; *where is its path in the bundle (in the arena) whatever comes of it. As bundle_read and
 * marker_parse. */
int bundle_marker(const struct bundle *b, uint64_t checkpoint, struct arena *a, struct marker *out, const char **where,
                  struct err *err);

#endif
