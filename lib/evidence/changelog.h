/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: state roots, and changelogs over materializations.
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_CHANGELOG_H
#define OWED_EVIDENCE_CHANGELOG_H

#include "base/base.h"

enum state_root_kind {
    ROOT_OWN,   /* none is named: <checkpoint dir>/_state */
    ROOT_LOCAL, /* a directory of this machine */
    ROOT_REMOTE /* an object store or a remote tier */
};

struct state_root {
    enum state_root_kind kind;
    const char *path; /* of ROOT_LOCAL: absolute, without a final slash */
};

/* A marker's state_root (NULL: none): an absolute path, bare or behind file://, rocksdb://, changelog+file:// or
 * changelog+rocksdb://, or another scheme's address. Refuses any other text. Nothing is opened. */
int state_root_parse(const char *text, struct arena *a, struct state_root *out, const char *where, struct err *err);

struct materialization {
    const char *location; /* as written */
    uint64_t bytes;
    const char *sha256;
};

struct changelog {
    const char *job, *operator_id, *kind;
    uint64_t subtask, checkpoint;
    struct materialization *handles;
    size_t n_handles;
    const char *lines; /* the changes, in the caller's text */
    size_t lines_len;
    uint64_t changes;
};

/* Read a changelog's header and hold the count of its lines against it; the lines are read by changelog_replay. The
 * text must outlive out. */
int changelog_parse(const char *p, size_t n, const char *where, struct arena *a, struct changelog *out,
                    struct err *err);
/* Where a handle's file lies below its state root, in location's own text, or NULL where it lies outside of it or is in
 * no directory materializations/. Decided by the texts alone. */
const char *changelog_rel(const char *location, const struct state_root *root);
/* Put the materializations (texts[i] is that of handles[i]) and then the changes into one state, and append its
 * owed-state document, as snapshot_parse reads it. Refuses a text that its handle does not describe. */
int changelog_replay(const struct changelog *c, const struct buf *texts, const char *where, struct buf *out,
                     struct err *err);

#endif
