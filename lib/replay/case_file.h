/* SPDX-License-Identifier: Apache-2.0 */
/* A case's directory, private to what writes and what runs it. */
#ifndef OWED_REPLAY_CASE_FILE_H
#define OWED_REPLAY_CASE_FILE_H

#include "replay/case.h"
#include "replay/internal.h"

#define CASE_FORMAT "owed-case"
#define CASE_JSON "case.json"
#define CASE_BUNDLE "bundle"
#define CASE_GOLDEN "golden.ndjson"
#define CASE_TEST "epoch.bats"
#define CASE_README "README"

/* What a file holds. */
struct case_content {
    uint64_t lines, bytes;
    char sha256[SHA256_HEX + 1];
};

/* case.json: which epoch it is, and the digests that all else in the directory hangs on. */
struct case_file {
    const char *job, *operator_id;
    uint64_t subtask, epoch;
    char manifest_sha256[SHA256_HEX + 1];
    struct case_content golden;
};
void case_put(struct buf *out, const struct case_file *c);
int case_parse(const char *p, size_t n, struct arena *a, struct case_file *out, struct err *err);

/* All of a file, from its first byte, to where `to` stands. */
int case_copy(int from, int to, const char *name, struct case_content *out, struct err *err);

#endif
