/* SPDX-License-Identifier: Apache-2.0 */
/* Inside trace only: the processes of a job's attempts, and the state that they act on. */
#ifndef OWED_TRACE_INTERNAL_H
#define OWED_TRACE_INTERNAL_H

#include "trace/conform.h"

enum part { PART_PLAN, PART_TAIL, PART_TEE, PART_MAP, PART_WINDOW, PART_SINK, PART_JOIN, PART_MARK, PARTS };

/* One of the stages of every lane, or behind the join. */
struct lane_stage {
    enum part part;
    uint64_t op;
};

struct process {
    enum part part;
    const struct trace_file *file; /* NULL: there is none */
    uint64_t participant;          /* a window's number among those of the checkpoint; the lanes come first */
    size_t at;                     /* events that were taken */
    bool spent;                    /* the act without an event was taken */
    /* volatile: what the process itself knows */
    unsigned phase;
    uint64_t count; /* barriers that it passed; of the mark, that it looked at */
    bool ended;     /* by itself, and whole */
};

struct attempt {
    const char *id;
    const struct trace_file *plan_file;
    const struct trace_event *plan;
    struct process *p; /* plan, tail, each lane's stages, join, what is behind, mark: none before one that it follows */
    size_t n;
    const char *lost;   /* a trace of it that lacks events by its own word, or was cut; or NULL */
    const char *absent; /* a process of it that has no trace, or NULL */
};

struct job {
    const struct trace_file *files;
    size_t n_files;
    struct attempt *attempts; /* by their runs */
    size_t n_attempts;
    struct lane_stage *stages; /* from the source on: of every lane, then behind the join, from the first window on */
    size_t n_stages, n_lane_stages;
    uint64_t lanes, participants; /* participants: windows too */
    struct arena arena;
};

/* More places than this for processes are not looked at: a file is small, and may name any number of them. */
#define PLACES_MAX ((uint64_t)1 << 20)

/* Sort the files to attempts and places. false with *out where they are no job that can be decided. */
bool job_arrange(struct job *j, struct conform *out);
struct process *job_place(const struct attempt *a, const struct job *j, enum part part, uint64_t stage, uint64_t lane);
/* The place behind the lanes' stages, which is the join's. */
size_t job_lanes_end(const struct job *j);
/* "ch-sink-3-0" and its kin. */
bool job_process(const char *name, enum part *part, uint64_t *op, uint64_t *lane);

int conform_say(struct conform *out, enum conform_result r, const char *process, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
