/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: a barrier, and what each stage before wrote for it (`left`).
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_BARRIER_H
#define OWED_EVIDENCE_BARRIER_H

#include "base/base.h"

#define LEFT_SNAPSHOT "snapshot"
#define LEFT_CAPTURE "capture"
#define LEFT_INTERVAL "interval"

struct left {
    const char *operator_id;
    uint64_t subtask;
    const char *kind;
    const char *file; /* rel */
    uint64_t bytes;
    const char *sha256;
    uint64_t seen, stored; /* captures only */
    bool truncated;
};

struct barrier {
    const char *job;
    uint64_t checkpoint, previous; /* previous 0: the first barrier of this run */
    const char *attempt;
    struct left *left;
    size_t n_left;
};

int barrier_parse(const char *p, size_t n, const char *where, struct arena *a, struct barrier *out, struct err *err);
/* The barrier's line, without newline, appended to out. */
void barrier_put(struct buf *out, const struct barrier *b);
/* Add one entry (copied into the arena) after those that b holds. */
void barrier_add(struct barrier *b, struct arena *a, const struct left *entry);
/* Add the entries of from to b; refuses another job, checkpoint, previous or attempt. */
int barrier_join(struct barrier *b, const struct barrier *from, struct arena *a, struct err *err);
/* The entry of an operator's subtask and kind, or NULL. */
const struct left *barrier_find(const struct barrier *b, const char *op, uint64_t subtask, const char *kind);
/* The subtasks that left a snapshot, ascending: the participants of the marker. */
void barrier_participants(const struct barrier *b, struct arena *a, uint64_t **subtasks, size_t *n);

#endif
