/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle: a job's evidence in one directory with a manifest
 * (clink-incident-bundle, version 1): its reader, its writer and its checks.
 * owed-bundle(5) has the format.
 *
 * A bundle is taken to be hostile: nothing in it is opened before its whole
 * manifest is read, and everything is opened beneath its root with no link
 * followed. Strings and arrays of an opened bundle live in its arena.
 */
#ifndef OWED_BUNDLE_H
#define OWED_BUNDLE_H

#include "base/base.h"
#include "json/json.h"
#include "stream/codes.h"

#define BUNDLE_FORMAT "clink-incident-bundle"
#define BUNDLE_MANIFEST_MAX ((size_t)16 << 20)
#define BUNDLE_ARTIFACTS_MAX 100000
#define BUNDLE_VALUES_MAX 2500000

/* ---- the manifest ---- */

/* clang-format off */
#define BUNDLE_ROLE_TABLE(X) \
    X(JOB_MANIFEST, "job_manifest") X(MARKER, "marker") X(CONFIRMED, "confirmed") X(RESTORED, "restored") X(SIDECAR, "sidecar") \
    X(SNAPSHOT, "snapshot") X(INTERVAL_STATE, "interval_state") X(RUN_START, "run_start") X(CAPTURE, "capture") \
    X(OPERATOR, "operator") X(INTERVAL, "interval") X(TRACE, "trace") X(CHANGELOG, "changelog") X(MATERIALIZATION, "materialization") \
    X(ROCKSDB, "rocksdb")

enum bundle_role {
#define X(id, text) ROLE_##id,
    BUNDLE_ROLE_TABLE(X)
#undef X
    ROLE_TYPES
};
/* clang-format on */
const char *bundle_role_name(enum bundle_role r);
enum bundle_role bundle_role_of(const char *s); /* ROLE_TYPES for any other */
/* True for a file that holds state: a snapshot, a changelog or a file of a RocksDB checkpoint. */
bool bundle_role_is_state(enum bundle_role r);
/* True where a file of this role may lie at path, for this job. */
bool bundle_role_fits(enum bundle_role r, const char *path, const char *job);

struct bundle_artifact {
    const char *path;
    enum bundle_role role;
    uint64_t bytes;
    const char *sha256;
};

struct bundle_captured {
    const char *operator_id;
    uint64_t subtask, epoch;
    const char *path;
};

struct bundle_note { /* of absent: what is not there; of excluded: a path; and why */
    const char *what, *why;
};

struct bundle_participant {
    uint64_t subtask;
    const char *form; /* one of those below */
};
#define FORM_FILE "file"
#define FORM_CHANGELOG "changelog"
#define FORM_ROCKSDB "rocksdb"
#define FORM_REMOTE "remote" /* in an object store: nothing of it is in the bundle */

enum bundle_rule { RULE_NONE, RULE_COMPLETED, RULE_CONFIRMED };

struct bundle_manifest {
    const char *collector_name, *collector_version;
    const char *job;
    const char *job_manifest; /* path, or NULL */
    uint64_t checkpoint, generation;
    enum bundle_rule rule;
    bool has_choice;
    uint64_t choice; /* the restore rule's own */
    bool named;      /* the checkpoint was named, not chosen */
    uint64_t *subtasks;
    size_t n_subtasks;
    const char
        *state_root; /* where state lies in the bundle: checkpoint/_state or checkpoint/_external/<job>; NULL: remote */
    const char *delivery;                              /* JSON text of the delivery report, or NULL */
    bool has_job, has_state, has_captures, has_traces; /* contains */
    uint64_t max_bytes, max_files, timeout_s;
    struct bundle_captured *captured;
    size_t n_captured;
    struct bundle_artifact *artifacts; /* ascending by path */
    size_t n_artifacts;
    struct bundle_note *absent;
    size_t n_absent;
    const char **operators; /* selection; sorted once read, as participants are */
    size_t n_operators;
    bool has_epochs;
    uint64_t first_epoch, last_epoch;
    struct bundle_participant *participants;
    size_t n_participants;
    struct bundle_note *excluded;
    size_t n_excluded;
};

/* Parse and check every field. Refuses (ERR_REFUSED) another format or version, any field of another type, a path that
 * is not plain, leaves the evidence directories (checkpoint, capture, traces, job) or holds a byte outside
 * [A-Za-z0-9._/=@+-], a path listed twice or that differs in case alone, a captured epoch not at its path, more than
 * BUNDLE_ARTIFACTS_MAX artifacts and more than BUNDLE_VALUES_MAX values. Artifacts come out sorted by path, whatever
 * order they were in. */
int bundle_manifest_parse(const char *p, size_t n, struct arena *a, struct bundle_manifest *out, struct err *err);
/* The document with its final newline. Artifacts must be sorted (bundle_manifest_sort). */
void bundle_manifest_put(struct buf *out, const struct bundle_manifest *m);
void bundle_manifest_sort(struct bundle_manifest *m);
const struct bundle_artifact *bundle_find(const struct bundle_manifest *m, const char *path);

/* The path in the bundle of state that evidence_path_snapshot and its kin place at rel ("_state/…"); resets out. */
const char *bundle_state_path(struct buf *out, const struct bundle_manifest *m, const char *rel);

/* ---- an opened bundle ---- */

struct bundle {
    int fd;
    const char *path;            /* as given */
    char sha256[SHA256_HEX + 1]; /* of manifest.json */
    struct bundle_manifest m;
    char **kept; /* by artifact: its bytes, held against the manifest (bundle_verify); NULL: none */
    struct buf text;
    struct arena arena;
};

/* Open the directory and read its manifest. Refused as bundle_manifest_parse, for a manifest that is missing, a link,
 * no regular file, or past BUNDLE_MANIFEST_MAX, and for a symbolic link on a listed path; no listed file is opened.
 * bundle_close is needed whatever came of it. */
int bundle_open(struct bundle *b, const char *path, struct err *err);
void bundle_close(struct bundle *b);

/* Read a listed file and hold it against the manifest while it is read: size and SHA-256. ERR_MISSING where it is not
 * listed or not there, ERR_CHANGED where it is not what the manifest says, ERR_REFUSED for a link or another kind of
 * file. */
int bundle_read(const struct bundle *b, const char *path, size_t max, struct buf *out, struct err *err);
/* Open one for a caller that hashes what it reads. */
int bundle_open_file(const struct bundle *b, const char *path, const struct bundle_artifact **artifact,
                     struct err *err);

/* Hold an opened file's bytes against what the manifest lists of it, from its first to its last, whatever was read of
 * it before. */
int bundle_hold(const struct bundle_artifact *a, int fd, struct err *err);
/* The same of a capture that was read to its end. */
struct capture_reader;
int bundle_hold_capture(const struct bundle_artifact *a, struct capture_reader *r, struct err *err);

/* The markers that the bundle lists, by their names; without RESTORED. */
struct markers;
void bundle_markers(const struct bundle_manifest *m, struct arena *a, struct markers *out);
/* RESTORED, of whatever job it says: 1 with *out read, 0 where the bundle lists none (the job never restored), -1 where
 * it cannot be used. *where is its path, in the arena. */
struct restored;
int bundle_restored(const struct bundle *b, struct arena *a, struct restored *out, const char **where, struct err *err);

/* ---- faults and checks ---- */

struct bundle_faults {
    const char **text; /* one a fault, "missing: …"; at most BUNDLE_FAULTS_KEPT of them are kept; NULL after the last */
    const char **path; /* the file it is about; NULL after the last */
    size_t n;
    uint64_t total;
    struct cause cause; /* of the first */
    struct arena arena;
};
#define BUNDLE_FAULTS_KEPT 1000
#define BUNDLE_FAULTS_INIT ((struct bundle_faults){.n = 0})
void bundle_fault(struct bundle_faults *f, const struct cause *cause, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* What is no fault: a note, or a file that a finding rests on. */
void bundle_remark(struct bundle_faults *f, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The text of an error, with its own cause or, where it has none, this one. */
void bundle_fault_err(struct bundle_faults *f, enum code code, const char *path, const struct err *err);
/* All kept faults as one text, "; " between them, and how many more there were; appended to what out holds. */
void bundle_faults_text(const struct bundle_faults *f, struct buf *out);
void bundle_faults_free(struct bundle_faults *f);

/* What a check found. It failed where failed is not empty, else it is unavailable, else unsupported, where those are
 * not empty. */
struct bundle_finding {
    struct bundle_faults failed, unavailable, unsupported;
    struct bundle_faults notes; /* said beside a pass */
    struct bundle_faults used;  /* the files that it rests on; the text is the path and may say more of it */
};
void bundle_finding_init(struct bundle_finding *f);
void bundle_used(struct bundle_finding *f, const char *path);
void bundle_finding_free(struct bundle_finding *f);

/* bundle.manifest: where the manifest's own statements contradict each other. */
void bundle_check_manifest(const struct bundle *b, struct bundle_finding *f);
/* bundle.completeness: what the selected checkpoint and the manifest's claims need and the list does not have. */
void bundle_check_completeness(const struct bundle *b, struct bundle_finding *f);

struct bundle_verified {
    uint64_t files, bytes;        /* listed; hashed */
    struct bundle_faults missing; /* listed and not there */
    struct bundle_faults changed; /* another kind, truncated, longer, another digest, not readable, changed meanwhile */
    struct bundle_faults
        unlisted; /* files that are not listed, what is no file, directories that cannot be listed in full */
    struct bundle_faults ignored; /* .DS_Store and ._*, and what lies at the bundle's root beside its own */
};
/* bundle.artifacts: read and hash every listed file once, on every core, and look for files that are not listed. With
 * keep, the bytes of small files that the checks behind read are kept in b, so that those checks see what was hashed
 * and nothing is read twice. *stop (may be NULL) ends the work early with ERR_TROUBLE; out is good to be freed either
 * way. */
int bundle_verify(struct bundle *b, bool keep, struct bundle_verified *out, const volatile int *stop, struct err *err);
void bundle_verified_free(struct bundle_verified *v);

/* The checks behind; only for a bundle whose files were verified. */
void bundle_check_marker(const struct bundle *b, struct bundle_finding *f);
void bundle_check_restore_rule(const struct bundle *b, struct bundle_finding *f);
void bundle_check_participants(const struct bundle *b, struct bundle_finding *f);
/* state.decode; used says of each state what it is: "<path> (kafka-source version 1, subtask 0 at checkpoint 7,
 * fingerprint …)". A RocksDB checkpoint is copied to a directory of its own in scratch (NULL: /var/tmp), which is
 * removed. *stop (may be NULL) ends the work before the next state, and what was not read leaves the finding
 * unavailable. */
void bundle_check_state(const struct bundle *b, const char *scratch, const volatile int *stop,
                        struct bundle_finding *f);

#endif
