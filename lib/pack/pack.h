/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack: collecting a job's evidence into a bundle, from its directories, while
 * the job runs. What is published held at one moment; any failure leaves nothing.
 */
#ifndef OWED_PACK_H
#define OWED_PACK_H

#include "bundle/bundle.h"

struct pack_request {
    const char *checkpoint_dir, *job, *ha_dir, *capture_dir, *trace_dir; /* the last three may be NULL */
    const char *out;
    bool include_state, include_captures;
    bool named;
    uint64_t checkpoint;     /* where named */
    int commit_confirmation; /* -1: from the job's manifest; 0 no; 1 yes */
    const char **operators;  /* none: all */
    size_t n_operators;
    bool has_epochs;
    uint64_t first_epoch, last_epoch;
    uint64_t max_bytes, max_files, timeout_s;
    const char *collector;    /* the collecting program's name */
    const volatile int *stop; /* a signal's number once one came, or NULL */
};

struct pack_result {
    char sha256[SHA256_HEX + 1]; /* of the manifest */
    uint64_t checkpoint, files, bytes;
    struct buf
        note; /* what a person is to know of temporary directories that lay there, one line each; the caller frees it */
};

/* Collect and publish by one rename. Any failure leaves nothing; out->note is set whatever came of it. err->kind says
 * the refusal's: ERR_CHANGED, ERR_MISSING, ERR_BOUND, ERR_TIMEOUT, and ERR_REFUSED or ERR_TROUBLE for other. */
int pack_collect(const struct pack_request *r, struct pack_result *out, struct err *err);

#endif
