/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: names and places of what a job leaves. Paths are relative: to the checkpoint
 * directory for markers and snapshots, to the capture directory for captures and
 * interval evidence.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_PLACES_H
#define OWED_EVIDENCE_PLACES_H

#include "base/base.h"

/* A job id is one plain path component of [A-Za-z0-9._-], 1 to 64 bytes, not starting with a dot. */
bool evidence_job_ok(const char *job);
/* An operator id is a decimal of 64 bits as text. */
bool evidence_operator_ok(const char *op);
/* True when name is prefix, a decimal id (no sign, no leading zero) and suffix, whole. */
bool evidence_name_id(const char *name, const char *prefix, const char *suffix, uint64_t *id);

enum marker_kind { MARKER_COMPLETED, MARKER_CONFIRMED };

/* Each resets out and returns the relative path. */
const char *evidence_path_jobs(struct buf *out, const char *job); /* _jobs/<job> */
const char *evidence_path_marker(struct buf *out, const char *job, enum marker_kind k, uint64_t id);
const char *evidence_path_restored(struct buf *out, const char *job);
const char *evidence_path_snapshot(struct buf *out, const char *job, uint64_t generation, uint64_t subtask,
                                   uint64_t checkpoint);
const char *evidence_path_start(struct buf *out, const char *job, uint64_t generation, uint64_t subtask,
                                uint64_t epoch);
const char *evidence_path_changelog(struct buf *out, const char *job, uint64_t generation, uint64_t subtask,
                                    uint64_t checkpoint);
/* _state/<job>/v<gen>/<sub>.cp-<id>, a directory */
const char *evidence_path_rocksdb(struct buf *out, const char *job, uint64_t generation, uint64_t subtask,
                                  uint64_t checkpoint);
const char *evidence_path_op(struct buf *out, const char *op, uint64_t subtask); /* op-3/subtask-0 */
const char *evidence_path_capture(struct buf *out, const char *op, uint64_t subtask, uint64_t epoch);
const char *evidence_path_interval(struct buf *out, const char *op, uint64_t subtask, uint64_t epoch);

#endif
