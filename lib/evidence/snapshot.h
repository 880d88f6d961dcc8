/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: the snapshot of a checkpoint's participant: of a source lane, or of an operator that keeps state.
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_SNAPSHOT_H
#define OWED_EVIDENCE_SNAPSHOT_H

#include "base/base.h"
#include "evidence/barrier.h"

struct log_id {
    const char *topic, *cluster_id;
    const char *topic_id; /* NULL: not known */
};
bool log_id_same(const struct log_id *a, const struct log_id *b); /* an unknown topic id equals any */

struct position {
    uint64_t partition;
    int64_t value; /* offset: the next one to read; or a time in ms */
};

struct snapshot {
    const char *job, *operator_id, *kind; /* kind "kafka-source" or "window" */
    uint64_t subtask; /* the participant's number: lanes first, then the operators that keep state */
    uint64_t checkpoint;
    const char *state; /* of an operator: its state as one JSON text, all that there is of it; NULL: of a lane */
    size_t state_len;
    struct log_id log;
    const char *isolation;
    struct position *positions; /* ascending by partition */
    size_t n_positions;
    uint64_t *declared; /* the partitions that the lane owns */
    size_t n_declared;
    bool has_watermark;
    int64_t watermark;
    struct position *partition_max; /* greatest event time by partition */
    size_t n_partition_max;
    bool is_start; /* of a run: the three below are set */
    uint64_t first_epoch, restored_from;
    const char *attempt;
};

bool snapshot_kind_known(const char *kind); /* of state that snapshot_parse reads */
bool snapshot_of_lane(const struct snapshot *s);
int snapshot_parse(const char *p, size_t n, const char *where, struct arena *a, struct snapshot *out, struct err *err);
void snapshot_put(struct buf *out, const struct snapshot *s); /* with its final newline */
/* Write <ckpt_dir>/<rel> and its sidecar, durable, making the directories. entry (may be NULL) is filled for `left`,
 * strings in a. rel: evidence_path_snapshot or evidence_path_start. */
int snapshot_write(const char *ckpt_dir, const char *rel, const struct snapshot *s, struct arena *a, struct left *entry,
                   struct err *err);
/* Read one and hold it against its sidecar. The text stays in the arena. */
int snapshot_read(int ckpt_fd, const char *rel, struct arena *a, struct snapshot *out, struct err *err);

#endif
