/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle: what a stage does around its checks of one bundle. Given a directory
 * it begins a stream; otherwise it takes the `bundle` line of its input and
 * refuses another manifest than that line's. A signal ends the work, and not
 * the stream.
 */
#ifndef OWED_BUNDLE_STAGE_H
#define OWED_BUNDLE_STAGE_H

#include "bundle/bundle.h"
#include "stream/stream.h"

struct bundle_stage {
    const char *path; /* the bundle's directory; NULL: the stream on standard input names it */
    uint64_t max_line;
    bool
        needs_files; /* bundle.artifacts is asked for: where the stream has no such check, the bundle.* are made here */
    /* intact: needs_files, and each bundle.artifacts of the stream, or the one made here, passed. *stop: a signal came.
     */
    void (*work)(void *ctx, struct stream_out *out, struct bundle *b, bool intact, const volatile int *stop);
    void *ctx;
};

/* ERR_REFUSED for a path that no stream can name. */
int bundle_stage_path(const char *path, struct err *err);
/* The whole stream, and the stage's exit status. */
int bundle_stage_run(const struct bundle_stage *s);

#endif
