/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source's positions and log at both ends of the scope. The end is the
 * checkpoint's own snapshots; the start is the completed checkpoint before, or
 * what the run started with.
 */
#include "cut/internal.h"
#include "evidence/sidecar.h"

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

/* What the file says it is must be what its name says, and every partition that it declares must have a position. */
static bool is_state_of(struct cut *c, const struct snapshot *s, const char *where, uint64_t subtask,
                        uint64_t checkpoint)
{
    if (strcmp(s->job, c->b->m.job) != 0 || s->subtask != subtask || s->checkpoint != checkpoint) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_OTHER),
                "'%s' is of job '%s', subtask %" PRIu64 ", checkpoint %" PRIu64, where, s->job, s->subtask,
                s->checkpoint);
        return false;
    }
    for (size_t i = 0; i < s->n_declared; i++)
        if (!position_of(s, s->declared[i])) {
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_MISSING),
                    "'%s' declares partition %" PRIu64 " and has no position of it", where, s->declared[i]);
            return false;
        }
    return true;
}

/* Where the bundle has the state's sidecar, the bytes must be those that were synced: a restart holds it to the same.
 */
static bool fits_sidecar(struct cut *c, const char *where, const char *p, size_t n)
{
    struct buf path = BUF_INIT;
    struct err err = ERR_INIT;
    struct sidecar side;
    const char *text;
    size_t len;
    buf_printf(&path, "%s.meta", where);
    const char *meta = arena_strndup(&c->a, path.p, path.len);
    buf_free(&path);
    if (!bundle_find(&c->b->m, meta))
        return true;
    if (!cut_read(c, meta, CODE_STATE_NOT_COLLECTED, &text, &len))
        return false;
    if (sidecar_parse(text, len, meta, &side, &err) == 0 && sidecar_verify(&side, p, n, where, &err) == 0)
        return true;
    cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_MALFORMED), "%s", err.text);
    return false;
}

static bool state_read(struct cut *c, const char *rel, uint64_t subtask, uint64_t checkpoint, struct snapshot *out)
{
    struct buf path = BUF_INIT;
    struct err err = ERR_INIT;
    const char *p;
    size_t n;
    bundle_state_path(&path, &c->b->m, rel);
    const char *where = arena_strndup(&c->a, path.p, path.len);
    buf_free(&path);
    if (!bundle_find(&c->b->m, where)) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_NOT_COLLECTED),
                "the source's positions are not whole: '%s' is not in the bundle", where);
        return false;
    }
    if (!cut_read(c, where, CODE_STATE_NOT_COLLECTED, &p, &n) || !fits_sidecar(c, where, p, n))
        return false;
    if (snapshot_parse(p, n, where, &c->a, out, &err) != 0) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_MALFORMED), "%s", err.text);
        return false;
    }
    return is_state_of(c, out, where, subtask, checkpoint);
}

/* Whether the run began with state, from what it started with and from RESTORED. A first run numbers from 1: one that
 * starts later follows an attempt whose rows may be in the table. */
static void start_of_run(struct cut *c, uint64_t first_epoch)
{
    struct scope_bundle *s = &c->scope.bundle;
    const struct restored *r = c->markers.has_restored && c->markers.restored.next == first_epoch ? &c->markers.restored
                                                                                                  : NULL;
    for (size_t i = 0; i < c->n_ends; i++) {
        const struct cut_end *e = &c->ends[i];
        if (!e->has_from)
            continue;
        if (!e->from.is_start || e->from.first_epoch != first_epoch) {
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                    "the start of source subtask %" PRIu64 " is not that of epoch %" PRIu64, e->subtask, first_epoch);
            continue;
        }
        if (strcmp(e->from.attempt, c->intervals[0].iv.attempt) != 0)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                    "source subtask %" PRIu64 " started in attempt '%s', the sink's evidence is of '%s'", e->subtask,
                    e->from.attempt, c->intervals[0].iv.attempt);
        if (s->has_restored_from && s->restored_from != e->from.restored_from)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                    "the source's subtasks were restored from %" PRIu64 " and %" PRIu64, s->restored_from,
                    e->from.restored_from);
        if (r && r->checkpoint != e->from.restored_from)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                    "RESTORED names checkpoint %" PRIu64 ", source subtask %" PRIu64 " was restored from %" PRIu64,
                    r->checkpoint, e->subtask, e->from.restored_from);
        s->restored_from = e->from.restored_from;
        s->has_restored_from = true;
    }
    if (!s->has_restored_from && r) {
        s->restored_from = r->checkpoint;
        s->has_restored_from = true;
    }
    bool again = r || first_epoch > 1 || (s->has_restored_from && s->restored_from > 0);
    s->start = again ? SCOPE_FROM_RESTORE : SCOPE_FROM_RUN;
    if (!again)
        s->has_restored_from = false;
    else if (!s->has_restored_from)
        s->has_restored_from = true;
}

static void read_ends(struct cut *c, uint64_t first_epoch)
{
    struct buf rel = BUF_INIT;
    const struct marker *m = &c->marker;
    c->n_ends = m->n_subtasks;
    c->ends = arena_zalloc(&c->a, (c->n_ends + 1) * sizeof *c->ends);
    for (size_t i = 0; i < c->n_ends; i++) {
        struct cut_end *e = &c->ends[i];
        e->subtask = m->subtasks[i];
        evidence_path_snapshot(&rel, c->b->m.job, m->generation, e->subtask, m->checkpoint);
        e->has_to = state_read(c, rel.p, e->subtask, m->checkpoint, &e->to);
        uint64_t from = c->scope.bundle.since > 0 ? c->scope.bundle.since : first_epoch - 1;
        if (c->scope.bundle.since > 0)
            evidence_path_snapshot(&rel, c->b->m.job, m->generation, e->subtask, c->scope.bundle.since);
        else
            evidence_path_start(&rel, c->b->m.job, m->generation, e->subtask, first_epoch);
        e->has_from = state_read(c, rel.p, e->subtask, from, &e->from);
    }
    buf_free(&rel);
}

/* ---- the document's sources ---- */

static struct scope_source *source_of(struct cut *c, struct map *operators, const struct snapshot *s)
{
    struct scope *sc = &c->scope;
    uint64_t place = *map_at(operators, s->operator_id, strlen(s->operator_id), sc->n_sources);
    if (place < sc->n_sources)
        return &sc->sources[place];
    sc->bundle.source_operators[sc->bundle.n_source_operators++] = s->operator_id;
    struct scope_source *own = &sc->sources[sc->n_sources++];
    *own = (struct scope_source){
        .topic = s->log.topic, .cluster_id = s->log.cluster_id, .topic_id = s->log.topic_id, .isolation = s->isolation};
    return own;
}

static void note_logs(struct cut *c, const struct cut_end *e)
{
    if (c->note.len > 0)
        return;
    buf_printf(
        &c->note,
        "the ends of the scope are of different logs (topic '%s', id %s, cluster %s; then topic '%s', id %s, cluster %s): "
        "its offsets are not a range of one log",
        e->from.log.topic, e->from.log.topic_id ? e->from.log.topic_id : "unknown", e->from.log.cluster_id,
        e->to.log.topic, e->to.log.topic_id ? e->to.log.topic_id : "unknown", e->to.log.cluster_id);
}

static void add_range(struct cut *c, const struct cut_end *e, struct scope_source *s, const struct position *to,
                      bool one_log)
{
    const struct position *from = e->has_from ? position_of(&e->from, to->partition) : NULL;
    struct scope_range r = {
        .partition = to->partition, .to = to->value, .has_from = from && one_log, .from = from ? from->value : 0};
    if (!r.has_from)
        r.from = 0;
    if (e->has_from && one_log && !from)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_MISSING),
                "partition %" PRIu64 " has no position at the scope's start", to->partition);
    if (r.has_from && r.from > r.to) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_CONTRADICT),
                "partition %" PRIu64 "'s positions run backwards, from %" PRId64 " to %" PRId64, to->partition, r.from,
                r.to);
        r.has_from = false;
    }
    s->partitions[s->n_partitions++] = r;
}

static int by_partition(const void *a, const void *b)
{
    uint64_t x = ((const struct scope_range *)a)->partition, y = ((const struct scope_range *)b)->partition;
    return x < y ? -1 : x > y;
}

/* In order, each once. */
static void sort_ranges(struct cut *c, struct scope_source *s)
{
    size_t kept = 0;
    if (s->n_partitions > 1)
        qsort(s->partitions, s->n_partitions, sizeof *s->partitions, by_partition);
    for (size_t i = 0; i < s->n_partitions; i++) {
        if (kept > 0 && s->partitions[kept - 1].partition == s->partitions[i].partition)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_CONTRADICT),
                    "partition %" PRIu64 " has a position in two source subtasks", s->partitions[i].partition);
        else
            s->partitions[kept++] = s->partitions[i];
    }
    s->n_partitions = kept;
}

static void sources(struct cut *c)
{
    struct map operators = MAP_INIT;
    size_t partitions = 0;
    for (size_t i = 0; i < c->n_ends; i++)
        partitions += c->ends[i].has_to ? c->ends[i].to.n_positions : 0;
    c->scope.sources = arena_alloc(&c->a, (c->n_ends + 1) * sizeof *c->scope.sources);
    c->scope.bundle.source_operators = arena_alloc(&c->a, (c->n_ends + 1) * sizeof *c->scope.bundle.source_operators);
    for (size_t i = 0; i < c->n_ends; i++) {
        const struct cut_end *e = &c->ends[i];
        if (!e->has_to)
            continue;
        struct scope_source *s = source_of(c, &operators, &e->to);
        struct log_id own = {s->topic, s->cluster_id, s->topic_id};
        if (!s->partitions)
            s->partitions = arena_alloc(&c->a, (partitions + 1) * sizeof *s->partitions);
        if (!log_id_same(&own, &e->to.log) || strcmp(s->isolation, e->to.isolation) != 0)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_CONTRADICT),
                    "the source's subtasks name different logs or isolation levels");
        if (c->scope.n_sources > 1 || (e->has_from && strcmp(e->from.operator_id, e->to.operator_id) != 0))
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_CONTRADICT),
                    "the source's state is of several operators");
        if (e->has_from && strcmp(e->from.isolation, e->to.isolation) != 0)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_CONTRADICT),
                    "source subtask %" PRIu64 " reads %s at the scope's start and %s at its end", e->subtask,
                    e->from.isolation, e->to.isolation);
        bool one_log = !e->has_from || log_id_same(&e->from.log, &e->to.log);
        if (!one_log)
            note_logs(c, e);
        for (size_t k = 0; k < e->to.n_positions; k++)
            add_range(c, e, s, &e->to.positions[k], one_log);
        for (size_t k = 0; e->has_from && one_log && k < e->from.n_positions; k++)
            if (!position_of(&e->to, e->from.positions[k].partition))
                cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_POSITIONS_MISSING),
                        "partition %" PRIu64 " has no position at the scope's end", e->from.positions[k].partition);
    }
    for (size_t i = 0; i < c->scope.n_sources; i++)
        sort_ranges(c, &c->scope.sources[i]);
    map_free(&operators);
}

void cut_ends(struct cut *c)
{
    if (c->n_intervals == 0 || c->marker.n_subtasks == 0)
        return;
    uint64_t first_epoch = c->intervals[0].iv.epoch;
    if (c->source_parallelism > 0 && c->marker.n_subtasks != c->source_parallelism)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_MARKER_OTHER),
                "the marker names %zu participants, and the job's source has %" PRIu64 " subtasks",
                c->marker.n_subtasks, c->source_parallelism);
    c->scope.bundle.start = SCOPE_FROM_CHECKPOINT;
    read_ends(c, first_epoch);
    if (c->scope.bundle.since == 0)
        start_of_run(c, first_epoch);
    sources(c);
}
