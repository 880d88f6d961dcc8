/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source's positions and log at both ends of each leg of the scope. The end
 * is the checkpoint's own snapshots; the start is the completed checkpoint
 * before, or what the run started with.
 */
#include "cut/pairs.h"

#include <stdlib.h>
#include <string.h>

static const struct position *position_of(const struct snapshot *s, uint64_t partition)
{
    size_t low = 0, high = s->n_positions; /* they ascend: the reader has seen to that */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->positions[middle].partition < partition)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n_positions && s->positions[low].partition == partition ? &s->positions[low] : NULL;
}

/* Where the bundle has the state's sidecar, the bytes must be those that were synced: a restart holds it to the same.
 */
static bool fits_sidecar(struct cut *c, const char *where, const char *p, size_t n, struct sidecar *side, bool *has)
{
    struct buf path = BUF_INIT;
    struct err err = ERR_INIT;
    const char *text;
    size_t len;
    buf_printf(&path, "%s.meta", where);
    const char *meta = arena_strndup(&c->a, path.p, path.len);
    buf_free(&path);
    *has = bundle_find(&c->b->m, meta) != NULL;
    if (!*has)
        return true;
    if (!cut_read(c, meta, CODE_STATE_NOT_COLLECTED, &text, &len))
        return false;
    if (sidecar_parse(text, len, meta, side, &err) == 0 && sidecar_verify(side, p, n, where, &err) == 0)
        return true;
    cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_MALFORMED), "%s", err.text);
    return false;
}

static const char *state_path(struct cut *c, const char *rel)
{
    struct buf path = BUF_INIT;
    bundle_state_path(&path, &c->b->m, rel);
    const char *where = arena_strndup(&c->a, path.p, path.len);
    buf_free(&path);
    return where;
}

/* The state of one participant, which is a lane of the source or, behind the lanes, a window. */
static bool state_read(struct cut *c, const char *where, uint64_t subtask, uint64_t checkpoint, struct snapshot *out)
{
    struct err err = ERR_INIT;
    struct sidecar side;
    const char *p;
    size_t n;
    bool has_side;
    if (!bundle_find(&c->b->m, where)) {
        cut_say(c, STATUS_UNAVAILABLE, (struct cause[]){cut_lack(c, where, CODE_STATE_NOT_COLLECTED)},
                "the source's positions are not whole: '%s' is not in the bundle", where);
        return false;
    }
    if (!cut_read(c, where, CODE_STATE_NOT_COLLECTED, &p, &n) || !fits_sidecar(c, where, p, n, &side, &has_side))
        return false;
    if (snapshot_parse(p, n, where, &c->a, out, &err) != 0) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_MALFORMED), "%s", err.text);
        return false;
    }
    struct place at = {.job = c->b->m.job, .subtask = subtask, .id = checkpoint};
    bool own = cut_hold(c, STATE_PLACE, (struct said){where, out}, (struct said){"its place", &at});
    bool whole = cut_hold(c, STATE_SELF, (struct said){where, out}, (struct said){"its list of positions", out});
    bool vouched = !has_side ||
                   cut_hold(c, STATE_SIDECAR, (struct said){where, out}, (struct said){"its sidecar", &side});
    return own && whole && vouched;
}

/* A window's participant: no position is in it, and a lane that is taken for one would be left out of the ranges. */
static void hold_window(struct cut *c, uint64_t generation, uint64_t subtask, uint64_t checkpoint)
{
    struct buf rel = BUF_INIT;
    struct snapshot s;
    const char *where = state_path(c, evidence_path_snapshot(&rel, c->b->m.job, generation, subtask, checkpoint));
    buf_free(&rel);
    if (state_read(c, where, subtask, checkpoint, &s) && snapshot_of_lane(&s))
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_OTHER),
                "participant %" PRIu64
                " is a lane of the source by its state, and a window by its number: the job has %" PRIu64
                " windows behind its lanes",
                subtask, c->windows);
}

/* ---- the start of a run ---- */

static void note_logs(struct cut *c, const struct snapshot *before, const struct snapshot *after)
{
    if (c->note.len > 0)
        return;
    buf_printf(
        &c->note,
        "the runs before and after the restore read different logs (topic '%s', id %s, cluster %s; then topic '%s', id %s, cluster %s): "
        "their offsets are not of one log",
        before->log.topic, before->log.topic_id ? before->log.topic_id : "unknown", before->log.cluster_id,
        after->log.topic, after->log.topic_id ? after->log.topic_id : "unknown", after->log.cluster_id);
}

/* A restored run begins where its restore point stood, where the bundle shows that, and both are of one log. */
static void hold_restore_point(struct cut *c, const struct cut_leg *leg, const struct cut_end *e)
{
    struct buf rel = BUF_INIT;
    struct snapshot point;
    uint64_t id = e->from.restored_from;
    evidence_path_snapshot(&rel, c->b->m.job, leg->marker.generation, e->subtask, id);
    const char *where = state_path(c, rel.p);
    buf_free(&rel);
    if (id == 0 || !bundle_find(&c->b->m, where) || !state_read(c, where, e->subtask, id, &point))
        return;
    cut_hold(c, START_POINT, (struct said){e->from_where, &e->from}, (struct said){where, &point});
    if (!log_id_same(&point.log, &e->from.log)) {
        note_logs(c, &point, &e->from);
        return;
    }
    for (size_t i = 0; i < point.n_positions; i++) {
        const struct position *own = position_of(&e->from, point.positions[i].partition);
        if (own)
            cut_hold(c, STAND_RESTORED, (struct said){e->from_where, &(struct stand){own->partition, own->value}},
                     (struct said){where, &(struct stand){own->partition, point.positions[i].value}});
    }
}

/* Whether the run began with state, from what it started with and from RESTORED. A first run numbers from 1: one that
 * starts later follows an attempt whose rows may be in the table. */
static void start_of_run(struct cut *c, struct cut_leg *leg)
{
    struct scope_bundle *s = &c->scope.bundle;
    const struct restored *r = c->markers.has_restored && c->markers.restored.next == leg->first ? &c->markers.restored
                                                                                                 : NULL;
    const struct cut_end *first = NULL;
    if (c->markers.has_restored && leg->first > c->markers.restored.next)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                "RESTORED has the run of epoch %" PRIu64 " as the newest, and the scope's began at epoch %" PRIu64,
                c->markers.restored.next, leg->first);
    for (size_t i = 0; i < leg->n_ends; i++) {
        const struct cut_end *e = &leg->ends[i];
        struct said start = {e->from_where, &e->from};
        if (!e->has_from)
            continue;
        if (!e->from.is_start) {
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN), "'%s' says of no run that it began so",
                    e->from_where);
            continue;
        }
        cut_hold(c, START_SELF, start, (struct said){"the checkpoint that it numbers from", &e->from});
        cut_hold(c, START_INTERVAL, start, (struct said){leg->intervals[0].path, &leg->intervals[0].iv});
        if (first)
            cut_hold(c, START_LANE, start, (struct said){first->from_where, &first->from});
        if (r)
            cut_hold(c, START_RESTORED, start, (struct said){"RESTORED", r});
        hold_restore_point(c, leg, e);
        first = first ? first : e;
    }
    s->has_restored_from = first || r;
    s->restored_from = first ? first->from.restored_from : r ? r->checkpoint : 0;
    bool again = r || leg->first > 1 || s->restored_from > 0;
    s->start = again ? SCOPE_FROM_RESTORE : SCOPE_FROM_RUN;
    s->has_restored_from = again;
    if (again)
        leg->replays = cut_replays(c, s->restored_from, leg->first);
}

/* ---- both ends ---- */

static void read_ends(struct cut *c, struct cut_leg *leg)
{
    struct buf rel = BUF_INIT;
    const struct marker *m = &leg->marker;
    /* Behind the lanes stand the windows, which have no positions. */
    leg->n_ends = c->windows < m->n_subtasks ? m->n_subtasks - c->windows : 0;
    leg->ends = arena_zalloc(&c->a, (leg->n_ends + 1) * sizeof *leg->ends);
    for (size_t i = 0; i < leg->n_ends; i++) {
        struct cut_end *e = &leg->ends[i];
        e->subtask = m->subtasks[i];
        evidence_path_snapshot(&rel, c->b->m.job, m->generation, e->subtask, leg->last);
        e->to_where = state_path(c, rel.p);
        e->has_to = state_read(c, e->to_where, e->subtask, leg->last, &e->to);
        uint64_t from = leg->since > 0 ? leg->since : leg->first - 1;
        if (leg->since > 0)
            evidence_path_snapshot(&rel, c->b->m.job, m->generation, e->subtask, leg->since);
        else
            evidence_path_start(&rel, c->b->m.job, m->generation, e->subtask, leg->first);
        e->from_where = state_path(c, rel.p);
        e->has_from = state_read(c, e->from_where, e->subtask, from, &e->from);
    }
    for (size_t i = leg->n_ends; i < m->n_subtasks; i++)
        hold_window(c, m->generation, m->subtasks[i], leg->last);
    buf_free(&rel);
}

/* Within one run a subtask's source is one, and so are those of its lanes. */
static void hold_ends(struct cut *c, const struct cut_leg *leg)
{
    const struct cut_end *first = NULL;
    for (size_t i = 0; i < leg->n_ends; i++) {
        const struct cut_end *e = &leg->ends[i];
        struct said to = {e->to_where, &e->to};
        if (e->has_from && e->has_to)
            cut_hold(c, STATE_RUN, (struct said){e->from_where, &e->from}, to);
        if (e->has_to && first)
            cut_hold(c, STATE_LANE, (struct said){first->to_where, &first->to}, to);
        if (e->has_to && c->source_node)
            cut_hold(c, NODE_SOURCE, (struct said){"the job's graph", c->source_node}, to);
        if (e->has_to && !first)
            first = e;
    }
}

/* ---- the ranges ---- */

static int by_partition(const void *a, const void *b)
{
    uint64_t x = ((const struct scope_range *)a)->partition, y = ((const struct scope_range *)b)->partition;
    return x < y ? -1 : x > y;
}

static void add_range(struct cut *c, struct cut_leg *leg, const struct cut_end *e, const struct position *to,
                      bool one_log)
{
    const struct position *from = e->has_from && one_log ? position_of(&e->from, to->partition) : NULL;
    struct scope_range r = {
        .partition = to->partition, .to = to->value, .has_from = from, .from = from ? from->value : 0};
    if (e->has_from && one_log && !from)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_MISSING),
                "partition %" PRIu64 " has no position at the scope's start", to->partition);
    if (r.has_from && r.from > r.to) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_CONTRADICT),
                "partition %" PRIu64 "'s positions run backwards, from %" PRId64 " to %" PRId64, to->partition, r.from,
                r.to);
        r.has_from = false;
    }
    leg->ranges[leg->n_ranges++] = r;
}

/* In order, each once. */
static void sort_ranges(struct cut *c, struct cut_leg *leg)
{
    size_t kept = 0;
    if (leg->n_ranges > 1)
        qsort(leg->ranges, leg->n_ranges, sizeof *leg->ranges, by_partition);
    for (size_t i = 0; i < leg->n_ranges; i++) {
        if (kept > 0 && leg->ranges[kept - 1].partition == leg->ranges[i].partition)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_CONTRADICT),
                    "partition %" PRIu64 " has a position in two source subtasks", leg->ranges[i].partition);
        else
            leg->ranges[kept++] = leg->ranges[i];
    }
    leg->n_ranges = kept;
}

static void leg_ranges(struct cut *c, struct cut_leg *leg)
{
    size_t partitions = 0;
    bool whole = true;
    for (size_t i = 0; i < leg->n_ends; i++)
        partitions += leg->ends[i].has_to ? leg->ends[i].to.n_positions : 0;
    leg->ranges = arena_alloc(&c->a, (partitions + 1) * sizeof *leg->ranges);
    for (size_t i = 0; i < leg->n_ends; i++) {
        const struct cut_end *e = &leg->ends[i];
        whole = whole && e->has_to;
        if (!e->has_to)
            continue;
        bool one_log = !e->has_from || log_id_same(&e->from.log, &e->to.log);
        for (size_t k = 0; k < e->to.n_positions; k++)
            add_range(c, leg, e, &e->to.positions[k], one_log);
        for (size_t k = 0; e->has_from && one_log && k < e->from.n_positions; k++)
            if (!position_of(&e->to, e->from.positions[k].partition))
                cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_MISSING),
                        "partition %" PRIu64 " has no position at the scope's end", e->from.positions[k].partition);
    }
    if (whole && leg->n_ends > 0)
        leg->topic = leg->ends[0].to.log.topic;
    sort_ranges(c, leg);
}

const struct scope_range *cut_range(const struct cut_leg *leg, uint64_t partition)
{
    struct scope_range key = {.partition = partition};
    return leg->n_ranges ? bsearch(&key, leg->ranges, leg->n_ranges, sizeof key, by_partition) : NULL;
}

/* The document's source: from where the first leg began to where the last one stood. */
static void put_source(struct cut *c)
{
    const struct cut_leg *first = c->legs, *last = &c->legs[c->n_legs - 1];
    const struct cut_end *e = last->ends;
    while (e < last->ends + last->n_ends && !e->has_to)
        e++;
    if (e == last->ends + last->n_ends)
        return;
    struct scope_source *s = arena_zalloc(&c->a, sizeof *s);
    const char **operators = arena_alloc(&c->a, sizeof *operators);
    operators[0] = e->to.operator_id;
    *s = (struct scope_source){.topic = e->to.log.topic,
                               .cluster_id = e->to.log.cluster_id,
                               .topic_id = e->to.log.topic_id,
                               .isolation = e->to.isolation,
                               .partitions = arena_alloc(&c->a, (last->n_ranges + 1) * sizeof *s->partitions),
                               .n_partitions = last->n_ranges};
    for (size_t i = 0; i < last->n_ranges; i++) {
        const struct scope_range *from = cut_range(first, last->ranges[i].partition);
        s->partitions[i] = last->ranges[i];
        s->partitions[i].has_from = from && from->has_from;
        s->partitions[i].from = from ? from->from : 0;
    }
    c->scope.sources = s;
    c->scope.n_sources = 1;
    c->scope.bundle.source_operators = operators;
    c->scope.bundle.n_source_operators = 1;
}

static void leg_ends(struct cut *c, struct cut_leg *leg)
{
    struct marker base;
    if (leg->last == c->scope.bundle.checkpoint)
        leg->marker = c->marker;
    else
        cut_marker(c, leg->last, &leg->marker);
    if (leg->since > 0) {
        cut_marker(c, leg->since, &base);
        if (leg->marker.job && base.job)
            cut_hold(c, MARKER_RUN, (struct said){"the marker of the scope's start", &base},
                     (struct said){"the marker of its end", &leg->marker});
    }
    if (leg->marker.n_subtasks == 0)
        return;
    if (c->source_node && leg->marker.n_subtasks != c->source_node->parallelism + c->windows)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_MARKER_OTHER),
                "the marker names %zu participants, and the job's source has %" PRIu64 " subtasks%s",
                leg->marker.n_subtasks, c->source_node->parallelism, c->windows ? ", beside its window" : "");
    read_ends(c, leg);
    hold_ends(c, leg);
    leg_ranges(c, leg);
    if (leg->since == 0)
        start_of_run(c, leg);
}

void cut_ends(struct cut *c)
{
    c->scope.bundle.start = SCOPE_FROM_CHECKPOINT;
    for (size_t i = 0; i < c->n_legs; i++)
        leg_ends(c, &c->legs[i]);
    if (c->n_legs > 0)
        put_source(c);
}
