/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes a job's traces are of, attempt by attempt. */
#include "trace/internal.h"

#include <stdlib.h>
#include <string.h>

int conform_say(struct conform *out, enum conform_result r, const char *process, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->why, sizeof out->why, fmt, ap);
    va_end(ap);
    snprintf(out->process, sizeof out->process, "%s", process ? process : "");
    out->result = r;
    return -1;
}

static bool is_stage(enum part p)
{
    return p == PART_TEE || p == PART_MAP || p == PART_WINDOW || p == PART_SINK;
}

bool job_process(const char *name, enum part *part, uint64_t *op, uint64_t *lane)
{
    static const char *const alone[PARTS] = {
        [PART_PLAN] = "ckpt-plan", [PART_TAIL] = "kafka-tail", [PART_JOIN] = "lane-join", [PART_MARK] = "ckpt-mark"};
    static const char *const prefixes[PARTS] = {
        [PART_TEE] = "cap-tee-", [PART_MAP] = "row-map-", [PART_WINDOW] = "row-window-", [PART_SINK] = "ch-sink-"};
    *op = *lane = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        *part = (enum part)i;
        if (alone[i] && strcmp(name, alone[i]) == 0)
            return true;
        size_t n = prefixes[i] ? strlen(prefixes[i]) : 0;
        if (n == 0 || strncmp(name, prefixes[i], n) != 0)
            continue;
        const char *rest = name + n, *dash = strchr(rest, '-');
        return dash && scan_u64(rest, (size_t)(dash - rest), op) && scan_u64(dash + 1, strlen(dash + 1), lane);
    }
    return false;
}

size_t job_lanes_end(const struct job *j)
{
    return 2 + (size_t)j->lanes * j->n_lane_stages;
}

struct process *job_place(const struct attempt *a, const struct job *j, enum part part, uint64_t stage, uint64_t lane)
{
    switch (part) {
    case PART_PLAN: return &a->p[0];
    case PART_TAIL: return &a->p[1];
    case PART_JOIN: return &a->p[job_lanes_end(j)];
    case PART_MARK: return &a->p[a->n - 1];
    default:
        return stage < j->n_lane_stages ? &a->p[2 + lane * j->n_lane_stages + stage]
                                        : &a->p[job_lanes_end(j) + 1 + stage - j->n_lane_stages];
    }
}

/* ---- stages ---- */

static int by_stage(const void *x, const void *y)
{
    const struct lane_stage *s = x, *t = y;
    if (s->op != t->op)
        return s->op < t->op ? -1 : 1;
    return (int)s->part - (int)t->part; /* the recorder stands before its operator */
}

static bool find_stages(struct job *j, struct conform *out)
{
    j->stages = arena_alloc(&j->arena, (j->n_files + 1) * sizeof *j->stages);
    for (size_t i = 0; i < j->n_files; i++) {
        struct lane_stage s;
        uint64_t lane;
        if (!job_process(j->files[i].process, &s.part, &s.op, &lane))
            return conform_say(out, CONFORM_UNSUPPORTED, j->files[i].process, "the model has no process like '%.100s'",
                               j->files[i].process) == 0;
        if (is_stage(s.part))
            j->stages[j->n_stages++] = s;
    }
    if (j->n_stages > 1)
        qsort(j->stages, j->n_stages, sizeof *j->stages, by_stage);
    size_t kept = 0;
    for (size_t i = 0; i < j->n_stages; i++)
        if (kept == 0 || by_stage(&j->stages[kept - 1], &j->stages[i]) != 0)
            j->stages[kept++] = j->stages[i];
    j->n_stages = kept;
    for (size_t i = 0; i < kept; i++)
        if (j->stages[i].part == PART_TEE && (i + 1 == kept || j->stages[i + 1].op != j->stages[i].op))
            return conform_say(out, CONFORM_UNSUPPORTED, NULL,
                               "operator %" PRIu64
                               " has a recorder and no trace of its own: it is none that the model knows",
                               j->stages[i].op) == 0;
    for (size_t i = 0; i < kept; i++)
        if (j->stages[i].part == PART_SINK && i + 1 < kept)
            return conform_say(out, CONFORM_UNSUPPORTED, NULL, "the job has a stage behind a sink, or several sinks") ==
                   0;
    /* A window runs once, behind the join, and its recorder and whatever follows with it. */
    size_t first = 0;
    while (first < kept && j->stages[first].part != PART_WINDOW)
        first++;
    while (first > 0 && first < kept && j->stages[first - 1].op == j->stages[first].op)
        first--;
    j->n_lane_stages = first;
    return true;
}

/* ---- attempts ---- */

static const struct trace_event *planned(const struct trace_file *f)
{
    return f->n > 0 && f->events[0].kind == TRACE_PLANNED ? &f->events[0] : NULL;
}

static int by_run(const void *x, const void *y)
{
    const struct attempt *a = x, *b = y;
    return a->plan->run < b->plan->run ? -1 : a->plan->run > b->plan->run;
}

/* One plan an attempt; a plan that died before it planned began none. */
static void find_attempts(struct job *j)
{
    j->attempts = arena_zalloc(&j->arena, (j->n_files + 1) * sizeof *j->attempts);
    for (size_t i = 0; i < j->n_files; i++) {
        const struct trace_file *f = &j->files[i];
        if (strcmp(f->process, "ckpt-plan") == 0 && planned(f))
            j->attempts[j->n_attempts++] = (struct attempt){.id = f->attempt, .plan_file = f, .plan = planned(f)};
    }
    if (j->n_attempts > 1)
        qsort(j->attempts, j->n_attempts, sizeof *j->attempts, by_run);
}

static bool check_attempts(const struct job *j, struct conform *out)
{
    const struct trace_event *first = j->n_attempts ? j->attempts[0].plan : NULL;
    if (!first)
        return conform_say(out, CONFORM_LACKING, "ckpt-plan", "no trace holds a plan of the job") == 0;
    if (first->run != 1 || !first->fresh)
        return conform_say(out, CONFORM_UNSUPPORTED, "ckpt-plan",
                           "the traces lack the job's first attempt: the earliest is run %" PRIu64
                           ", which found earlier ones on disk",
                           first->run) == 0;
    for (size_t i = 1; i < j->n_attempts; i++) {
        const struct trace_event *plan = j->attempts[i].plan;
        if (plan->run != i + 1)
            return conform_say(out, CONFORM_LACKING, "ckpt-plan",
                               "the plans are of the runs 1 to %zu and then %" PRIu64
                               ": one is not there, or two have one number",
                               i, plan->run) == 0;
        if (plan->parallel != first->parallel || plan->windows != first->windows ||
            plan->generation != first->generation)
            return conform_say(out, CONFORM_UNSUPPORTED, "ckpt-plan",
                               "the job was rescaled: run %" PRIu64 " has parallelism %" PRIu64
                               " in generation %" PRIu64 ", the first %" PRIu64 " in %" PRIu64,
                               plan->run, plan->parallel, plan->generation, first->parallel, first->generation) == 0;
        if (plan->confirmation != first->confirmation)
            return conform_say(out, CONFORM_UNSUPPORTED, "ckpt-plan",
                               "the job has sinks of both families: its runs do not agree on commit confirmation") == 0;
    }
    return true;
}

/* ---- places ---- */

static int by_id(const void *x, const void *y)
{
    return strcmp((*(const struct attempt *const *)x)->id, (*(const struct attempt *const *)y)->id);
}

static size_t stage_of(const struct job *j, enum part part, uint64_t op)
{
    size_t i = 0;
    while (j->stages[i].part != part || j->stages[i].op != op)
        i++;
    return i;
}

static void make_places(struct job *j, struct attempt *a)
{
    a->n = job_lanes_end(j) + 2 + j->n_stages - j->n_lane_stages;
    a->p = arena_zalloc(&j->arena, a->n * sizeof *a->p);
    *job_place(a, j, PART_PLAN, 0, 0) = (struct process){.part = PART_PLAN, .file = a->plan_file, .at = 1};
    job_place(a, j, PART_TAIL, 0, 0)->part = PART_TAIL;
    job_place(a, j, PART_JOIN, 0, 0)->part = PART_JOIN;
    job_place(a, j, PART_MARK, 0, 0)->part = PART_MARK;
    for (uint64_t l = 0; l < j->lanes; l++)
        for (size_t s = 0; s < j->n_lane_stages; s++)
            job_place(a, j, j->stages[s].part, s, l)->part = j->stages[s].part;
    uint64_t participants = j->lanes;
    for (size_t s = j->n_lane_stages; s < j->n_stages; s++) {
        struct process *p = job_place(a, j, j->stages[s].part, s, 0);
        p->part = j->stages[s].part;
        p->participant = p->part == PART_WINDOW ? participants++ : 0;
    }
}

static bool put_file(struct job *j, struct attempt **ids, const struct trace_file *f, struct conform *out)
{
    struct attempt key = {.id = f->attempt}, *k = &key, **a;
    enum part part;
    uint64_t op, lane;
    job_process(f->process, &part, &op, &lane);
    a = bsearch(&k, ids, j->n_attempts, sizeof *ids, by_id);
    if (part == PART_PLAN)
        return a || !planned(f);
    if (!a)
        return conform_say(out, CONFORM_LACKING, f->process, "no trace holds the plan of attempt '%.100s'",
                           f->attempt) == 0;
    size_t stage = is_stage(part) ? stage_of(j, part, op) : 0;
    uint64_t subtasks = is_stage(part) && stage >= j->n_lane_stages ? 1 : j->lanes;
    if (lane >= subtasks)
        return conform_say(out, CONFORM_UNSUPPORTED, f->process, "subtask %" PRIu64 " in a job of parallelism %" PRIu64,
                           lane, subtasks) == 0;
    struct process *p = job_place(*a, j, part, stage, lane);
    if (p->file)
        return conform_say(out, CONFORM_LACKING, f->process, "two traces are of this process in attempt '%.100s'",
                           f->attempt) == 0;
    p->file = f;
    if (!f->armed || f->cut)
        (*a)->lost = f->process;
    return true;
}

/* Whoever plans has ended well before the run begins. */
static bool began(const struct trace_file *plan)
{
    const struct trace_event *last = &plan->events[plan->n - 1];
    return last->kind == TRACE_ENDED && last->status == 0;
}

static void find_absent(struct attempt *a)
{
    static const char *const names[PARTS] = {"ckpt-plan",  "kafka-tail", "cap-tee",   "row-map",
                                             "row-window", "ch-sink",    "lane-join", "ckpt-mark"};
    if (!a->plan_file->armed || a->plan_file->cut)
        a->lost = a->plan_file->process;
    size_t there = 0;
    for (size_t k = 0; k < a->n; k++)
        there += a->p[k].file != NULL;
    if (there == 1 && !a->lost && !began(a->plan_file))
        return;
    for (size_t k = 0; k < a->n && !a->absent; k++)
        a->absent = a->p[k].file ? NULL : names[a->p[k].part];
}

/* Where one window keeps no trace in any run, nobody knows which of the operators it is. */
static bool count_participants(struct job *j, struct conform *out)
{
    uint64_t planned = j->attempts[0].plan->windows, windows = 0;
    bool any_run = false, sink = j->n_stages > 0 && j->stages[j->n_stages - 1].part == PART_SINK;
    for (size_t s = j->n_lane_stages; s < j->n_stages; s++)
        windows += j->stages[s].part == PART_WINDOW;
    for (size_t i = 0; i < j->n_files && !any_run; i++)
        any_run = strcmp(j->files[i].process, "ckpt-plan") != 0;
    if (any_run && windows < planned)
        return conform_say(out, CONFORM_LACKING, "ckpt-plan",
                           "the job is planned with %" PRIu64 " windows, and the traces are of %" PRIu64, planned,
                           windows) == 0;
    /* What its rows were acknowledged by. */
    if (any_run && !sink)
        return conform_say(out, CONFORM_LACKING, NULL, "no trace is of the job's sink") == 0;
    j->participants = j->lanes + windows;
    return true;
}

bool job_arrange(struct job *j, struct conform *out)
{
    if (!find_stages(j, out))
        return false;
    find_attempts(j);
    if (!check_attempts(j, out))
        return false;
    j->lanes = j->attempts[0].plan->parallel;
    if (!count_participants(j, out))
        return false;
    if (j->lanes < 1 || j->lanes > 4096 || (4 + j->lanes * j->n_lane_stages + j->n_stages) * j->n_attempts > PLACES_MAX)
        return conform_say(out, CONFORM_UNSUPPORTED, "ckpt-plan",
                           "%zu runs of %" PRIu64 " lanes of %zu stages are more processes than are looked at",
                           j->n_attempts, j->lanes, j->n_stages) == 0;
    struct attempt **ids = arena_alloc(&j->arena, j->n_attempts * sizeof *ids);
    for (size_t i = 0; i < j->n_attempts; i++) {
        make_places(j, &j->attempts[i]);
        ids[i] = &j->attempts[i];
    }
    if (j->n_attempts > 1)
        qsort(ids, j->n_attempts, sizeof *ids, by_id);
    for (size_t i = 0; i < j->n_files; i++)
        if (!put_file(j, ids, &j->files[i], out))
            return false;
    for (size_t i = 0; i < j->n_attempts; i++)
        find_absent(&j->attempts[i]);
    return true;
}
