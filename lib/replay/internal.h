/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay only. */
#ifndef OWED_REPLAY_INTERNAL_H
#define OWED_REPLAY_INTERNAL_H

#include "base/hash.h"
#include "evidence/capture.h"
#include "evidence/manifest.h"
#include "evidence/marker.h"
#include "replay/replay.h"

/* What one epoch came to, for one check; why, where it did not pass. */
struct outcome {
    enum replay_outcome is;
    struct cause cause;
    const char *why; /* in the run's arena */
};

/* One operator's subtask as its op.json says. */
struct op;
struct replay_operator {
    const char *path, *text; /* of op.json in the bundle */
    struct op_spec spec;
    const struct json *parameters; /* NULL: it could not be read, and judged says why */
    struct outcome judged;         /* REPLAY_PASSED: it can be replayed, and op is it */
    struct op *op;                 /* as it was opened; subtasks of one description share it */
    bool seen;
    struct replay_operator *next_opened;
};

/* A captured epoch that was selected. */
struct replay_epoch {
    const char *operator_id, *path;
    uint64_t subtask, epoch;
    struct replay_operator *op;
};

/* A run of the job by what it left: its first epoch, and the checkpoint that it started from (0: none). */
struct replay_run_start {
    uint64_t first_epoch, restored_from;
    const char *doubt; /* a file that says otherwise, or cannot be read; NULL: none */
};

struct replay {
    const struct bundle *b;
    const struct replay_request *r;
    const volatile int *stop; /* NULL: nothing stops the run */
    struct arena a;
    struct replay_epoch *epochs; /* by operator, subtask and epoch */
    size_t n_epochs;
    struct markers markers;
    struct replay_run_start *starts;
    size_t n_starts;
    bool restored_unread;           /* there is a RESTORED, and what it says is not known */
    const struct job_manifest *job; /* NULL: the bundle has none that can be used */
    bool confirmed;                 /* the sinks need commit confirmation */
    struct map by_path, by_text;    /* operators */
    struct replay_operator *opened;
};

/* Fill *o; the text is kept in the run's arena. */
void outcome_set(struct replay *p, struct outcome *o, enum replay_outcome is, const struct cause *cause,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same of an error, under this code where it has none. */
void outcome_err(struct replay *p, struct outcome *o, enum replay_outcome is, enum code code, const struct err *err);

/* A check of one epoch, or of none that could be selected: what it came to. */
void replay_answer_one(const struct replay *p, const struct outcome *o, struct arena *a, struct replay_answer *to);

/* ---- what is replayed (select.c, operator.c, start.c) ---- */

/* The captured epochs that the request selects, in order; sinks' are none. */
void replay_select(struct replay *p);
/* An operator's description; and whether it can be replayed, by which it is opened. */
struct replay_operator *replay_operator(struct replay *p, const char *operator_id, uint64_t subtask);
void replay_judge(struct replay *p, struct replay_operator *o);
void replay_operators_free(struct replay *p);
/* Parameters that are one operator's: the same JSON. */
bool replay_same_parameters(const struct json *a, const struct json *b);
/* True for an operator that writes to a destination. */
bool replay_is_sink(const char *kind);
/* Markers, RESTORED and the starts of runs, as the bundle has them. */
void replay_restores(struct replay *p);
/* What an epoch starts from. */
struct replay_begin {
    bool keeps_state;
    uint64_t from;    /* where it keeps state, the checkpoint; 0: none */
    const char *path; /* the snapshot in the bundle; NULL: from no state */
};
/* The state that an epoch starts from. REPLAY_PASSED with *text empty: from none. */
struct outcome replay_start(struct replay *p, const struct replay_epoch *e, struct replay_begin *begin,
                            struct buf *text);

/* ---- processes (process.c) ---- */

/* What a process of its own begins with: it ends with its parent, without a core, after so much processor time, and has
 * no more memory than the request allows beyond what it begins with: without, it ends with OWED_TROUBLE. */
void replay_child(const struct replay *p, pid_t parent, uint64_t cpu_s);
/* In it: true where so much memory was had that an error may be another's word for there being none. */
bool replay_short_of_memory(const struct replay *p);
/* Wait for it to end; once the run is to stop, end it. */
void replay_wait(const struct replay *p, pid_t pid, int *status);
bool replay_stopped(const struct replay *p);
/* What it comes to that one did not come to its end; what: the file that it was about. */
void replay_cut_off(struct replay *p, const char *what, int status, struct outcome *o);
void replay_no_memory(struct replay *p, const char *what, struct outcome *o);

/* ---- replaying (drive.c, output.c) ---- */

/* A capture that was opened must be of the place that it lies at. */
int replay_place(const struct replay *p, const struct capture_header *h, const struct bundle_captured *at,
                 struct err *err);

#define REPLAY_ATTEMPT_MAX 160 /* of an attempt's id, what is compared */

/* One epoch, driven twice at a time, each into a scratch file of event lines. */
struct replayed {
    int out[2]; /* -1: none */
    uint64_t rows;
    bool truncated; /* the capture holds a prefix: out is what that gave */
    char attempt[REPLAY_ATTEMPT_MAX];
    struct replay_begin begin;
    struct outcome is;
};
void replay_drive(struct replay *p, const struct replay_epoch *e, struct replayed *out);
void replayed_free(struct replayed *r);

/* A text for a reason: masked, and cut short. It lives in the run's arena. */
const char *replay_shown(struct replay *p, const char *text, size_t n);

/* Where two files of lines part: the line (from 1) and what each has there, cut short; NULL where it ended. */
struct parting {
    uint64_t line;
    off_t begins; /* the line, in both */
    const char *a, *b;
};
/* 1 where they differ, 0 where they do not, -1 on error. */
int output_differs(struct replay *p, int a, int b, struct parting *where, struct err *err);

/* ---- holding against (recorded.c, expected.c) ---- */

/* The names of the columns that an operator's rows are grouped by; NULL where it declares none. */
const struct json *replay_group(const struct json *parameters);
/* A row's key: the group's values, each with a comma behind it; nothing where there is no group. False where the row
 * lacks one. */
bool replay_key(const struct json *group, const char *text, size_t n, struct arena *a, struct buf *key);

/* The replay's rows against what the one operator behind received in that epoch. */
struct outcome replay_recorded(struct replay *p, const struct replay_epoch *e, const struct replayed *r);

struct expectation;
/* Read the rows of an expectation. */
int expectation_open(struct expectation **out, struct replay *p, struct err *err);
/* The rows that one epoch's replay gave. */
int expectation_add(struct expectation *x, int fd, struct err *err);
/* whole: every selected epoch was replayed to its end. */
struct outcome expectation_decide(struct expectation *x, struct replay *p, bool whole);
void expectation_close(struct expectation *x);

#endif
