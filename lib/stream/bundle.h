/* SPDX-License-Identifier: Apache-2.0 */
/* The bundle line: which bundle the stream is about. */
#ifndef OWED_STREAM_BUNDLE_H
#define OWED_STREAM_BUNDLE_H

#include "base/base.h"

struct stream_line;
struct stream_out;

struct stream_bundle {
    const char *path;
    const char *manifest_sha256;
    const char *job;
    uint64_t checkpoint;
};
/* Parse a bundle line; strings are in arena. ERR_REFUSED, with the line's number. */
int stream_bundle(const struct stream_line *line, struct arena *arena, struct stream_bundle *out, struct err *err);
void stream_put_bundle(struct stream_out *out, const struct stream_bundle *b);

#endif
