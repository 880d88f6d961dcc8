/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: what a job leaves on disk and in its barriers, read and written.
 * Markers and the one restore rule, snapshots with their sidecars, captures,
 * interval evidence, the operators' and the job's own descriptions.
 *
 * Every const char * in these structs is NUL-terminated. Parsers put strings
 * and arrays in the caller's arena; writers only read theirs. `where` names the
 * text in errors (a path). Parsers refuse (ERR_REFUSED) what is malformed and
 * ignore members they do not know. Paths called rel are relative: to the
 * checkpoint directory for markers and snapshots, to the capture directory for
 * captures and interval evidence. owed-evidence(5) has the formats.
 */
#ifndef OWED_EVIDENCE_H
#define OWED_EVIDENCE_H

#include "base/base.h"
#include "json/json.h"
#include "json/redact.h"
#include "stream/stream.h"

/* ---- names and places ---- */

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

/* ---- markers and the restore rule ---- */

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

/* ---- what a stage wrote for a barrier, and the barrier ---- */

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

/* ---- snapshots of a source lane ---- */

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
    const char *job, *operator_id, *kind; /* kind "kafka-source" */
    uint64_t subtask, checkpoint;
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
int snapshot_parse(const char *p, size_t n, const char *where, struct arena *a, struct snapshot *out, struct err *err);
void snapshot_put(struct buf *out, const struct snapshot *s); /* with its final newline */
/* Write <ckpt_dir>/<rel> and its sidecar, durable, making the directories. entry (may be NULL) is filled for `left`,
 * strings in a. rel: evidence_path_snapshot or evidence_path_start. */
int snapshot_write(const char *ckpt_dir, const char *rel, const struct snapshot *s, struct arena *a, struct left *entry,
                   struct err *err);
/* Read one and hold it against its sidecar. The text stays in the arena. */
int snapshot_read(int ckpt_fd, const char *rel, struct arena *a, struct snapshot *out, struct err *err);

struct sidecar {
    uint64_t checkpoint, bytes;
    uint32_t crc32c;
    bool has_sha256;
    char sha256[SHA256_HEX + 1];
};
int sidecar_parse(const char *p, size_t n, const char *where, struct sidecar *out, struct err *err);
void sidecar_put(struct buf *out, uint64_t checkpoint, const char *payload, size_t n);
/* Refuses a payload of another size, CRC or digest, naming which. */
int sidecar_verify(const struct sidecar *s, const char *payload, size_t n, const char *where, struct err *err);
uint32_t crc32c(uint32_t crc, const void *p, size_t n); /* start with 0 */

/* ---- state roots and changelogs ---- */

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

/* ---- captures ---- */

#define CAPTURE_HEADER 512       /* bytes of the first line, padded, newline counted */
#define CAPTURE_RECORDS 10000    /* default bound of data lines an epoch */
#define CAPTURE_CONTROL_FACTOR 4 /* control lines: this many times the bound */

struct capture_header {
    const char *job, *operator_id, *attempt;
    uint64_t subtask, epoch;
    uint64_t seen, stored, control;
    bool truncated;
};

/* A writer of one operator's subtask, used for one interval after another. A failed write disarms the interval:
 * counting goes on, capture_end says what failed, and the next interval starts afresh. */
struct capture_writer {
    char *capture_dir, *job, *operator_id, *attempt; /* owned */
    uint64_t subtask, limit;
    int fd; /* of the interval's temporary file, -1: none */
    uint64_t seen, stored, control;
    bool truncated, failed;
    struct err failure;
    struct buf block;
};

/* limit 0: CAPTURE_RECORDS. Makes op-<id>/subtask-<s> on the first interval. */
void capture_open(struct capture_writer *w, const char *capture_dir, const char *job, const char *op, uint64_t subtask,
                  const char *attempt, uint64_t limit);
void capture_data(struct capture_writer *w, const char *line, size_t n);    /* a record or event line, no newline */
void capture_control(struct capture_writer *w, const char *line, size_t n); /* a watermark line */
/* Close the interval at barrier `epoch`: header in place, synced, renamed to epoch-<n>.cap. Fills entry, strings in a.
 * -1: no file under the final name and no entry to add. Either way the writer is ready for the next interval. */
int capture_end(struct capture_writer *w, uint64_t epoch, struct arena *a, struct left *entry, struct err *err);
/* The tail after the last barrier, as final.cap (its header's epoch is the last barrier's plus one). */
int capture_final(struct capture_writer *w, uint64_t last_epoch, struct err *err);
void capture_close(struct capture_writer *w); /* drops an unfinished interval */

/* A reader that hashes what it gives out. */
struct capture_reader {
    struct line_in lines;
    struct capture_header h;
    struct arena arena;
    struct sha256 sha;
    bool hashing;
    uint64_t data, control, bytes;
    char *name; /* owned */
};

/* Read the header from fd (kept open by the caller; name for messages). */
int capture_read_open(struct capture_reader *r, int fd, const char *name, struct err *err);
/* 1 with a line (*is_data false for a control line; only `event`, `record` and `watermark` lines are legal), 0 at the
 * end, once the counts hold against the header: fewer lines than stored is "cut short" (ERR_REFUSED), -1 on error. */
int capture_read_next(struct capture_reader *r, const char **p, size_t *n, bool *is_data, struct err *err);
/* After the end: the bytes and the digest of the whole file. */
void capture_read_digest(struct capture_reader *r, uint64_t *bytes, char sha256[SHA256_HEX + 1]);
void capture_read_close(struct capture_reader *r);

/* ---- interval evidence of a sink ---- */

enum capture_outcome { CAPTURE_WRITTEN, CAPTURE_EMPTY, CAPTURE_DISARMED };
enum resend { RESEND_NONE, RESEND_DEDUPLICATED, RESEND_MAY_DUPLICATE };

struct destination {
    const char *endpoint, *server_uuid, *server_version, *server_host, *database, *table, *table_uuid;
    const char *engine, *engine_full, *create_table_query, *partition_key, *dedup_window;
    const char *async_insert, *wait_for_async_insert;
    const char *columns; /* JSON text of the array: [{"name","type","from"?}] */
};

struct ledger_entry {
    const char *token;
    uint64_t first, rows; /* range in the interval's events, from 0 */
    uint64_t blocks, attempts;
    bool in_doubt;
    enum resend resend;
};

struct interval {
    const char *job, *operator_id, *attempt;
    uint64_t subtask, epoch, previous;
    enum capture_outcome outcome;
    const char *file, *sha256; /* NULL when disarmed; file is the name beside the interval's own */
    uint64_t bytes, seen, stored;
    bool truncated;
    bool has_watermark;
    int64_t watermark;
    struct destination destination;
    struct ledger_entry *ledger;
    size_t n_ledger;
    const char *capture_text, *ledger_text; /* set by interval_parse: their JSON as written */
    size_t capture_len, ledger_len;
};

int interval_parse(const char *p, size_t n, const char *where, struct arena *a, struct interval *out, struct err *err);
/* The document with its final newline. A user part of the endpoint's URL and what looks like a credential in
 * create_table_query are masked. */
void interval_put(struct buf *out, const struct interval *iv);
/* Written beside its name, synced, renamed. entry as in capture_end. */
int interval_write(const char *capture_dir, const struct interval *iv, struct arena *a, struct left *entry,
                   struct err *err);
/* Fill the capture part of iv from the barrier's entry of the sink's own input (NULL: there is none) and the sink's own
 * count: written, empty, or disarmed where there is no entry or the counts differ. */
void interval_set_capture(struct interval *iv, const struct left *capture, uint64_t sink_seen);
/* NULL when two intervals name one destination, else the first field that differs. */
const char *destination_differs(const struct destination *a, const struct destination *b);
const char *resend_name(enum resend r);
const char *capture_outcome_name(enum capture_outcome o);

/* ---- op.json and the job's manifest ---- */

struct op_spec {
    const char *job, *operator_id, *name, *kind, *uid; /* uid may be NULL */
    const char *parameters;                            /* JSON text of an object; NULL: {} */
};
int op_spec_parse(const char *p, size_t n, const char *where, struct arena *a, struct op_spec *out, struct err *err);
/* Write op-<id>/subtask-<s>/op.json, parameters redacted by name. */
int op_spec_write(const char *capture_dir, uint64_t subtask, const struct op_spec *op, struct err *err);

struct graph_operator {
    const char *id, *uid, *type;
    uint64_t parallelism;
    const struct json *parameters;
};

struct job_manifest {
    const char *job, *name, *alignment;
    uint64_t generation, parallelism;
    bool has_confirmation, requires_commit_confirmation;
    struct graph_operator *operators;
    size_t n_operators;
    const char *(*edges)[2];
    size_t n_edges;
    const struct json *document, *graph;
    const struct json *delivery;       /* NULL: none */
    char graph_sha256[SHA256_HEX + 1]; /* of the graph's canonical text */
};
int job_manifest_parse(const char *p, size_t n, const char *where, struct arena *a, struct job_manifest *out,
                       struct err *err);

#endif
