/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model's steps, one function a process, fired in any order until none can
 * be: first those that have an event, then, of a process that did not end by
 * itself, the one that it may have died behind.
 */
#include "trace/internal.h"

#include <stdlib.h>
#include <string.h>

struct run {
    const struct job *j;
    struct attempt *a;
    struct conform *out;
    /* durable */
    uint64_t sure, maybe; /* the greatest number that is on disk for sure, and the greatest that may be */
    uint64_t perhaps;     /* what the mark of the run before may have completed without an event; 0: nothing */
    size_t cap_checkpoints;
    /* of the attempt */
    uint64_t asked, whole_states; /* of the barrier that is being made: lanes whose state was, and is durable */
    bool *whole;                  /* by barrier: every participant's state is durable */
    bool redeployed;
    bool allow_end;     /* a process may have ended and not said so: only where somebody went on from it */
    const char *lost;   /* a trace of this or an earlier run that lacks events, or may, or NULL */
    const char *absent; /* a process of this run that has no trace, or NULL */
    /* of the process that acts: how many barriers came to it, and that there will be no more */
    uint64_t came;
    bool no_more;
    const char *why;
};

static bool no(struct run *r, const char *why)
{
    r->why = why;
    return false;
}

static uint64_t number_of(const struct run *r, uint64_t k)
{
    return r->a->plan->first + k;
}

/* A number that a write carries; one that failed may have left it all the same. */
static void carry(struct run *r, uint64_t number, bool sure)
{
    if (sure && number > r->sure)
        r->sure = number;
    if (number > r->maybe)
        r->maybe = number;
}

/* ---- the source ---- */

static bool tail_act(struct run *r, struct process *p, const struct trace_event *e)
{
    const struct trace_event *plan = r->a->plan;
    bool made = r->asked == r->j->lanes;
    switch (e->kind) {
    case TRACE_RESTORED:
        if (p->phase != 0 || e->checkpoint != plan->checkpoint || e->first != plan->first)
            return no(r, "it is not what was planned");
        if (!plan->fresh && !r->redeployed)
            return no(r, "the restore is not recorded");
        p->phase = 1;
        carry(r, e->first, e->ok);
        return true;
    case TRACE_STATE:
        if (made && r->whole_states == 0) {
            r->asked = 0; /* nothing carries the number: it is tried again, and no barrier was sent */
            made = false;
        }
        if (p->phase != 1 || made || e->checkpoint != number_of(r, p->count) || e->participant != r->asked)
            return no(r, "another participant's state, or a barrier, is next");
        r->asked++;
        r->whole_states += e->ok;
        carry(r, e->checkpoint, e->ok);
        return true;
    case TRACE_BARRIER:
        if (p->phase != 1 || !made || e->checkpoint != number_of(r, p->count))
            return no(r, "not every participant's state was asked for");
        if (r->whole_states == 0)
            return no(r, "nothing that is durable carries its number");
        if (e->previous != (p->count ? number_of(r, p->count - 1) : 0))
            return no(r, "another barrier was before it");
        r->whole[p->count++] = r->whole_states == r->j->lanes;
        r->asked = r->whole_states = 0;
        return true;
    case TRACE_ENDED:
        if (p->phase != 1 || (r->asked > 0 && (!made || r->whole_states > 0)))
            return no(r, "a barrier was begun");
        return p->ended = true;
    default: return no(r, "it is no event of this process");
    }
}

/* ---- what a barrier passes ---- */

/* What the process sees of those before it. */
static void look_up(struct run *r, const struct process *p)
{
    const struct job *j = r->j;
    size_t at = (size_t)(p - r->a->p);
    const struct process *before = p - 1;
    if (p->part == PART_JOIN && j->n_lane_stages > 0) {
        const struct process *last = &r->a->p[1 + j->n_lane_stages];
        r->came = UINT64_MAX;
        r->no_more = true;
        for (uint64_t l = 0; l < j->lanes; l++, last += j->n_lane_stages) {
            r->came = last->count < r->came ? last->count : r->came;
            r->no_more = r->no_more && last->ended;
        }
        return;
    }
    if (p->part == PART_JOIN || (at < job_lanes_end(j) && (at - 2) % j->n_lane_stages == 0))
        before = job_place(r->a, j, PART_TAIL, 0, 0);
    r->came = before->count;
    r->no_more = before->ended;
}

static bool pass_act(struct run *r, struct process *p, const struct trace_event *e)
{
    static const enum trace_kind steps[PARTS][3] = {[PART_TEE] = {TRACE_EVIDENCE, TRACE_PASSED},
                                                    [PART_MAP] = {TRACE_PASSED},
                                                    [PART_WINDOW] = {TRACE_STATE, TRACE_PASSED},
                                                    [PART_SINK] = {TRACE_ACKNOWLEDGED, TRACE_EVIDENCE, TRACE_PASSED},
                                                    [PART_JOIN] = {TRACE_PASSED}};
    if (e->kind == TRACE_ENDED) {
        if (p->phase != 0 || p->count != r->came || !r->no_more)
            return no(r, "what stands before it had not ended, or a barrier is not through");
        return p->ended = true;
    }
    if (e->kind != steps[p->part][p->phase])
        return no(r, "another act is next");
    if (e->checkpoint != number_of(r, p->count))
        return no(r, "another checkpoint is next");
    if (p->count >= r->came)
        return no(r, "the barrier had not come there");
    if (e->kind == TRACE_STATE) {
        if (e->participant != p->participant)
            return no(r, "it is another participant's state");
        r->whole[p->count] = r->whole[p->count] && e->ok;
    }
    if (e->kind != TRACE_PASSED) {
        p->phase++;
        return true;
    }
    p->phase = 0;
    p->count++;
    return true;
}

/* ---- completing ---- */

static void add_checkpoint(struct run *r, uint64_t number, bool completed)
{
    struct conform *o = r->out;
    if (o->n_checkpoints == r->cap_checkpoints) {
        r->cap_checkpoints = r->cap_checkpoints ? 2 * r->cap_checkpoints : 64;
        o->checkpoints = xrealloc(o->checkpoints, r->cap_checkpoints * sizeof *o->checkpoints);
    }
    o->checkpoints[o->n_checkpoints++] = (struct conform_checkpoint){.number = number, .completed = completed};
    o->n_completed += completed;
}

/* The next barrier that came to the mark and is to be completed, past those that cannot be; where there is none, all
 * that came. */
static uint64_t completable(struct run *r, const struct process *mark)
{
    uint64_t k = mark->count;
    look_up(r, mark);
    while (k < r->came && !r->whole[k])
        k++;
    return k;
}

static int by_number(const void *x, const void *y)
{
    const struct conform_checkpoint *a = x, *b = y;
    return a->number < b->number ? -1 : a->number > b->number;
}

struct conform_checkpoint *conform_find(const struct conform *c, uint64_t number)
{
    struct conform_checkpoint key = {.number = number};
    return c->n_checkpoints ? bsearch(&key, c->checkpoints, c->n_checkpoints, sizeof key, by_number) : NULL;
}

/* What is confirmed was completed, though its mark may not have come to say so. */
static bool confirm(struct run *r, uint64_t number)
{
    struct conform *o = r->out;
    struct conform_checkpoint *at = o->confirmation ? conform_find(o, number) : NULL;
    if (!at)
        return false;
    o->n_completed += !at->completed;
    at->completed = at->confirmed = true;
    return true;
}

static bool mark_act(struct run *r, struct process *p, const struct trace_event *e)
{
    uint64_t k = completable(r, p);
    switch (e->kind) {
    case TRACE_COMPLETED:
        if (k >= r->came)
            return no(r, "no barrier that every participant stands behind had come there");
        if (e->checkpoint != number_of(r, k))
            return no(r, "another checkpoint is next to be completed");
        add_checkpoint(r, e->checkpoint, true);
        p->count = k + 1;
        return true;
    case TRACE_CONFIRMED:
        if (confirm(r, e->checkpoint))
            return true;
        return no(r, "it was not completed, or the sinks confirm nothing");
    case TRACE_ENDED:
        if (k < r->came || !r->no_more)
            return no(r, "what stands before it had not ended, or a checkpoint is not completed");
        return p->ended = true;
    default: return no(r, "it is no event of this process");
    }
}

/* ---- planning ---- */

/* The newest checkpoint that the restore rule chooses; 0: none. */
static uint64_t choice(const struct run *r)
{
    const struct conform *o = r->out;
    for (size_t i = o->n_checkpoints; i > 0; i--) {
        const struct conform_checkpoint *c = &o->checkpoints[i - 1];
        bool over = o->has_restored && c->number > o->from && c->number < o->next;
        if (!over && (o->confirmation ? c->confirmed : c->completed))
            return c->number;
    }
    return 0;
}

/* The plan's choice may rest on the last act of a mark that died, which is then known to have been done: a checkpoint's
 * completion, or a confirmation. */
static bool chosen(struct run *r, const struct trace_event *plan, bool mark_open)
{
    struct conform *o = r->out;
    uint64_t perhaps = r->perhaps;
    r->perhaps = 0;
    if (plan->checkpoint == choice(r)) {
        /* Without confirmation it would have been chosen. */
        if (perhaps && o->confirmation)
            add_checkpoint(r, perhaps, false);
        return true;
    }
    if (!o->confirmation && perhaps && plan->checkpoint == perhaps) {
        add_checkpoint(r, perhaps, true);
        return true;
    }
    if (mark_open && plan->checkpoint > choice(r) && confirm(r, plan->checkpoint) && plan->checkpoint == choice(r))
        return true;
    return no(r, "the restore rule chooses another checkpoint");
}

static bool plan_act(struct run *r, const struct trace_event *plan, bool mark_open)
{
    const struct conform *o = r->out;
    if (plan->fresh ? r->sure > 0 || o->has_restored || plan->first != 1
                    : !o->has_restored && (r->maybe == 0 || plan->first == 1))
        return no(r, "whether anything on disk named the job is not as it says");
    if (!chosen(r, plan, mark_open))
        return false;
    if (plan->first <= r->sure || plan->first - 1 > r->maybe)
        return no(r, "its first number is not one past the greatest that was used");
    r->sure = r->maybe = plan->first - 1;
    return true;
}

static bool redeploy_act(struct run *r, const struct trace_event *e)
{
    const struct trace_event *plan = r->a->plan;
    struct conform *o = r->out;
    if (e->kind == TRACE_ENDED)
        return plan->fresh || r->redeployed ? true : no(r, "the restore is not recorded");
    if (e->kind != TRACE_REDEPLOYED || plan->fresh || r->redeployed || e->checkpoint != plan->checkpoint ||
        e->first != plan->first)
        return no(r, "it is not what was planned");
    r->redeployed = o->has_restored = true;
    o->from = e->checkpoint;
    o->next = e->first;
    return true;
}

/* ---- an attempt ---- */

static bool act(struct run *r, struct process *p, const struct trace_event *e)
{
    /* One that ends in trouble says nothing more of the protocol, and may have done an act that it did not come to say.
     */
    if (e->kind == TRACE_ENDED && e->status != 0)
        return true;
    switch (p->part) {
    case PART_PLAN: return redeploy_act(r, e);
    case PART_TAIL: return tail_act(r, p, e);
    case PART_MARK: return mark_act(r, p, e);
    default: return pass_act(r, p, e);
    }
}

static bool take(struct run *r, struct process *p)
{
    bool any = false;
    if (p->part != PART_PLAN && p->part != PART_TAIL)
        look_up(r, p);
    while (p->file && p->at < p->file->n && act(r, p, &p->file->events[p->at])) {
        p->at++;
        any = true;
    }
    return any;
}

/* True where the process may have done one act more than it says. */
static bool open_ended(const struct process *p)
{
    return p->file && p->at == p->file->n && !p->ended && !p->spent &&
           (p->part != PART_PLAN || p->at == 0 || p->file->events[p->at - 1].kind != TRACE_ENDED ||
            p->file->events[p->at - 1].status != 0);
}

/* The act behind a process's last event, where others may have gone on from it. */
static bool take_unsaid(struct run *r, struct process *p)
{
    const struct process *tail = job_place(r->a, r->j, PART_TAIL, 0, 0);
    uint64_t number = number_of(r, p->count);
    const struct trace_event redeployed = {
        .kind = TRACE_REDEPLOYED, .checkpoint = r->a->plan->checkpoint, .first = r->a->plan->first};
    const struct trace_event barrier = {
        .kind = TRACE_BARRIER, .checkpoint = number, .previous = p->count ? number - 1 : 0};
    const struct trace_event passed = {.kind = TRACE_PASSED, .checkpoint = number}, ended = {.kind = TRACE_ENDED};
    if (!open_ended(p))
        return false;
    if (p->part == PART_PLAN)
        p->spent = tail->file && tail->at < tail->file->n && act(r, p, &redeployed);
    else if (p->part != PART_MARK)
        p->spent = act(r, p, p->part == PART_TAIL ? &barrier : &passed);
    if (!p->spent && r->allow_end && p->part != PART_PLAN)
        p->spent = act(r, p, &ended);
    return p->spent;
}

static void fire(struct run *r)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < r->a->n; i++) {
            any |= take(r, &r->a->p[i]);
            any |= take_unsaid(r, &r->a->p[i]);
        }
    }
}

/* The first event, from the source on, that nothing leads to. */
static bool stuck(const struct attempt *a, struct process **p)
{
    for (size_t i = 0; i < a->n; i++) {
        *p = &a->p[i];
        if ((*p)->file && (*p)->at < (*p)->file->n)
            return true;
    }
    return false;
}

/* Nothing leads to this: a violation, where all traces are there that could have led to it. */
static bool refuse(struct run *r, const char *process, const char *what)
{
    uint64_t n = r->a->plan->run;
    if (r->lost || r->absent)
        conform_say(r->out, CONFORM_LACKING, process, "run %" PRIu64 ", %.300s, and the trace of %.80s %s", n, what,
                    r->lost ? r->lost : r->absent,
                    r->lost ? "lacks events, as it says itself or where it was cut" : "is not there");
    else
        conform_say(r->out, CONFORM_NO, process, "run %" PRIu64 ", %.400s", n, what);
    return false;
}

static bool refuse_event(struct run *r, struct process *p)
{
    const struct trace_event *e = &p->file->events[p->at];
    char what[400];
    if (p->part != PART_PLAN && p->part != PART_TAIL)
        look_up(r, p);
    act(r, p, e);
    snprintf(what, sizeof what, "%.100s, line %zu: %s %" PRIu64 ": %s", p->file->process, p->at + 2,
             trace_kind_name(e->kind), e->kind == TRACE_ENDED ? e->status : e->checkpoint, r->why);
    if (p->part == PART_PLAN)
        r->absent = NULL; /* what it did no other process of its run led to */
    return refuse(r, p->file->process, what);
}

static bool refuse_plan(struct run *r)
{
    char what[300];
    snprintf(what, sizeof what, "planned from checkpoint %" PRIu64 " with first number %" PRIu64 ": %s",
             r->a->plan->checkpoint, r->a->plan->first, r->why);
    return refuse(r, "ckpt-plan", what);
}

/* What the attempt may have left on disk and not said. */
static void leave(struct run *r)
{
    const struct process *plan = job_place(r->a, r->j, PART_PLAN, 0, 0), *tail = job_place(r->a, r->j, PART_TAIL, 0, 0),
                         *mark = job_place(r->a, r->j, PART_MARK, 0, 0);
    bool made = r->asked == r->j->lanes && r->whole_states > 0;
    bool started = tail->phase == 1 || r->a->plan->fresh || r->redeployed;
    uint64_t k = completable(r, mark);
    r->perhaps = open_ended(mark) && k < r->came ? number_of(r, k) : 0;
    if (open_ended(tail) && started && !made)
        carry(r, number_of(r, tail->count), false);
    r->out->maybe_restored = !r->a->plan->fresh && !r->redeployed && open_ended(plan);
}

static bool run_attempt(struct run *r, size_t i)
{
    const struct attempt *before = i ? &r->j->attempts[i - 1] : NULL;
    bool mark_open = before && open_ended(job_place(before, r->j, PART_MARK, 0, 0));
    struct process *p;
    r->a = &r->j->attempts[i];
    if (!plan_act(r, r->a->plan, mark_open))
        return refuse_plan(r);
    r->absent = r->a->absent;
    r->lost = r->lost ? r->lost : r->a->lost;
    const struct process *tail = job_place(r->a, r->j, PART_TAIL, 0, 0);
    r->whole = xcalloc(tail->file ? tail->file->n + 2 : 2, sizeof *r->whole);
    r->asked = r->whole_states = 0;
    r->redeployed = r->allow_end = false;
    fire(r);
    if (stuck(r->a, &p)) {
        r->allow_end = true;
        fire(r);
    }
    bool ok = !stuck(r->a, &p);
    if (!ok)
        refuse_event(r, p);
    leave(r);
    free(r->whole);
    return ok;
}

void conform(const struct trace_file *files, size_t n, struct conform *out)
{
    struct job j = {.files = files, .n_files = n, .arena = ARENA_INIT};
    *out = (struct conform){.result = CONFORM_YES};
    for (size_t i = 0; i < n; i++)
        out->events += files[i].n;
    if (job_arrange(&j, out)) {
        struct run r = {.j = &j, .out = out};
        out->participants = j.participants;
        out->confirmation = j.attempts[0].plan->confirmation;
        for (size_t i = 0; i < j.n_attempts && run_attempt(&r, i); i++)
            out->runs++;
        if (r.perhaps)
            add_checkpoint(&r, r.perhaps, false);
    }
    arena_free(&j.arena);
}
