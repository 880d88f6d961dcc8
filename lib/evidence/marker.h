/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: completion markers, RESTORED, the one restore rule, and what retention keeps.
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_MARKER_H
#define OWED_EVIDENCE_MARKER_H

#include "base/base.h"
#include "evidence/places.h"

struct marker {
    const char *job;
    uint64_t checkpoint, generation;
    uint64_t *subtasks; /* participants, ascending */
    size_t n_subtasks;
    const char *state_root; /* NULL: <checkpoint dir>/_state */
};

struct restored {
    const char *job;
    uint64_t checkpoint; /* restored from; 0: nothing was restored */
    uint64_t next;       /* first epoch of the restored run */
};

int marker_parse(const char *p, size_t n, const char *where, struct arena *a, struct marker *out, struct err *err);
/* Durable before it returns; refuses to write over a marker. Makes _jobs/<job>. */
int marker_write(const char *ckpt_dir, enum marker_kind k, const struct marker *m, struct err *err);
int restored_parse(const char *p, size_t n, const char *where, struct arena *a, struct restored *out, struct err *err);
/* Durable before it returns; replaces the one before. */
int restored_write(const char *ckpt_dir, const struct restored *r, struct err *err);

/* The markers of one job, ids ascending. */
struct markers {
    uint64_t *completed, *confirmed;
    size_t n_completed, n_confirmed;
    bool has_restored;
    struct restored restored;
};

/* Scan <checkpoint dir>/_jobs/<job>. A directory that is not there is no marker at all. Names that are not a prefix and
 * an id, whole, are no markers. A link or a directory under a marker's name is refused. RESTORED is read and parsed. */
int markers_scan(int ckpt_fd, const char *job, struct arena *a, struct markers *out, struct err *err);
/* Markers that were put together in any order; all that asks them wants them ascending. */
void markers_sort(struct markers *m);
bool markers_have(const struct markers *m, enum marker_kind k, uint64_t id);

/* The one restore rule: the newest id c of ids for which not (R < c < next) holds, R and next being RESTORED's
 * (NULL: there is none). False: start from nothing. */
bool restore_choice(const uint64_t *ids, size_t n, const struct restored *r, uint64_t *choice);
/* The restore point on disk: that rule over the completed checkpoints, or over the confirmed ones where the job's sinks
 * need commit confirmation. What a restart restores and what a collection is for are both chosen here. */
bool restore_point(const struct markers *m, bool confirmed, uint64_t *choice);
/* True when RESTORED passes the id over: it belongs to a run that a restore discarded. */
bool restored_passes_over(const struct restored *r, uint64_t id);

/* True when checkpoint id keeps its snapshots: it is among the newest `retain` completed ones, is not older than the
 * newest (it may be on its way), or is the restore point of a run that has not completed `retain` of its own. */
bool evidence_keeps(const struct markers *m, uint64_t retain, uint64_t id);
/* Remove the snapshots of every checkpoint of the generation that evidence_keeps does not keep. */
int evidence_retain(const char *ckpt_dir, const char *job, uint64_t generation, uint64_t retain, struct err *err);

/* The greatest id that anything on disk names: markers, snapshots, starts, captures, interval evidence, RESTORED's
 * next - 1. 0 where there is none. A new attempt numbers from one past it. capture_dir may be NULL. */
int evidence_greatest_id(const char *ckpt_dir, const char *capture_dir, const char *job, uint64_t *greatest,
                         struct err *err);

#endif
