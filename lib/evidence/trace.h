/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: protocol traces, one file a process and attempt, one event a line.
 * An event is written after its act and before the next one, so that of a
 * process that died at most the last act has no event. owed-trace(5) has the
 * format, and what each event says.
 */
#ifndef OWED_EVIDENCE_TRACE_H
#define OWED_EVIDENCE_TRACE_H

#include "base/base.h"

/* clang-format off */
#define TRACE_EVENT_TABLE(X) \
    X(OPENED, "opened") X(PLANNED, "planned") X(REDEPLOYED, "redeployed") X(RESTORED, "restored") X(STATE, "state") \
    X(BARRIER, "barrier") X(ACKNOWLEDGED, "acknowledged") X(EVIDENCE, "evidence") X(PASSED, "passed") \
    X(COMPLETED, "completed") X(CONFIRMED, "confirmed") X(ENDED, "ended")

enum trace_kind {
#define X(id, text) TRACE_##id,
    TRACE_EVENT_TABLE(X)
#undef X
    TRACE_KINDS
};
/* clang-format on */
const char *trace_kind_name(enum trace_kind k);
enum trace_kind trace_kind_of(const char *s); /* TRACE_KINDS for any other */

/* Which members an event of each kind has is trace_members' to say; the others are 0. */
struct trace_event {
    enum trace_kind kind;
    bool ok;                                   /* state, evidence, restored: it is durable */
    bool fresh, confirmation;                  /* planned */
    uint64_t checkpoint;                       /* 0 of planned, redeployed and restored: from nothing */
    uint64_t previous;                         /* barrier: the one before in this run */
    uint64_t participant;                      /* state */
    uint64_t rows;                             /* acknowledged */
    uint64_t run, first, generation, parallel; /* planned; first: of redeployed and restored too */
    uint64_t windows;                          /* planned: participants behind the lanes */
    uint64_t status;                           /* ended */
};

/* ---- writing ---- */

/* fd -1: not armed, and every call does nothing. */
struct trace {
    int fd;
    bool dirty; /* something written is not known to be on disk */
    uint64_t seq;
    size_t armed_at;             /* where the first line says that the trace is armed */
    struct buf path, head, line; /* head: what every line of this process holds before its event */
    struct err failure;
};
#define TRACE_OFF ((struct trace){.fd = -1})

/* Begin the trace of a process in dir (NULL: none is wanted). op NULL: the attempt has one such process. -1 where the
 * file cannot be begun, which stops nobody: the trace is then not armed. */
int trace_open(struct trace *t, const char *dir, const char *job, const char *attempt, const char *program,
               const char *op, uint64_t subtask, struct err *err);
/* Write an event, once its act is done. A write that fails disarms the trace, and the file says so. */
void trace_put(struct trace *t, const struct trace_event *e);
/* What was written is on disk. To be called before others may see what the process did. */
void trace_settle(struct trace *t);
/* The process ends by itself, with this exit status. -1 where the trace had been disarmed. */
int trace_close(struct trace *t, int status, struct err *err);

/* One past the greatest run that a plan of the job in dir names; 1 where there is none. */
int trace_next_run(const char *dir, const char *job, uint64_t *run, struct err *err);

/* ---- reading ---- */

struct trace_file {
    const char *job, *attempt, *process;
    bool armed;                 /* false: a write failed, and events are lacking behind the last */
    bool cut;                   /* the last line lacks its end, and is left out */
    struct trace_event *events; /* without the first, which is the file's head */
    size_t n;
};
/* A whole file; where it has no line, as of a process that was killed at once, all but cut is NULL and 0. Refused
 * (ERR_REFUSED) where a line does not parse, is of another process than the first, or has another number than the one
 * before and one. */
int trace_parse(const char *p, size_t n, const char *where, struct arena *a, struct trace_file *out, struct err *err);

#endif
