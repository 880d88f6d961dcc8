/* SPDX-License-Identifier: Apache-2.0 */
/* The two checks of a bundle's traces. */
#include "base/hash.h"
#include "evidence/manifest.h"
#include "evidence/marker.h"
#include "evidence/places.h"
#include "trace/internal.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define TRACE_MAX ((size_t)64 << 20)
#define TRACES_MAX ((uint64_t)256 << 20)
#define JOB_MAX ((size_t)64 << 20)

/* ---- protocol.trace_structure ---- */

/* What the file says of itself must be what its name does. */
static bool named_so(const struct trace_file *t, const char *path)
{
    struct buf name = BUF_INIT;
    buf_printf(&name, "traces/%s-%s.ndjson", t->process, t->attempt);
    bool same = strcmp(buf_str(&name), path) == 0;
    buf_free(&name);
    return same;
}

static void judge_file(const struct bundle *b, struct traces *t, const char *path, const struct trace_file *one,
                       struct bundle_finding *f)
{
    if (one->cut)
        bundle_fault(&f->unavailable, BECAUSE(CODE_TRACE_CUT), path, "'%s': the last line has no end", path);
    if (!one->job) {
        bundle_remark(&f->notes, path, "'%s' holds no event", path);
        return;
    }
    if (strcmp(one->job, b->m.job) != 0) {
        bundle_remark(&f->notes, path, "'%s' is of job '%s', and decides nothing", path, one->job);
        return;
    }
    if (!named_so(one, path)) {
        bundle_fault(&f->failed, BECAUSE(CODE_TRACE_MALFORMED), path, "'%s' is of process '%.100s', attempt '%.100s'",
                     path, one->process, one->attempt);
        return;
    }
    if (!one->armed)
        bundle_remark(&f->notes, path, "'%s' says that it lacks events behind its last", path);
    bundle_used(f, path);
    t->files[t->n] = *one;
    t->paths[t->n++] = path;
}

static void read_file(const struct bundle *b, struct traces *t, const char *path, uint64_t *room,
                      struct bundle_finding *f)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    struct trace_file one;
    size_t max = *room < TRACE_MAX ? (size_t)*room : TRACE_MAX;
    if (bundle_read(b, path, max, &text, &err) != 0) {
        bundle_fault_err(err.kind == ERR_BOUND ? &f->unsupported : &f->unavailable,
                         err.kind == ERR_BOUND ? CODE_PROTOCOL_UNSUPPORTED : CODE_ARTIFACT_CHANGED, path, &err);
        t->broken = true;
    } else if (trace_parse(text.p ? text.p : "", text.len, path, &t->arena, &one, &err) != 0) {
        bundle_fault_err(&f->failed, CODE_TRACE_MALFORMED, path, &err);
        t->broken = true;
    } else {
        judge_file(b, t, path, &one, f);
    }
    *room -= text.len < *room ? text.len : *room;
    buf_free(&text);
}

void traces_read(const struct bundle *b, struct traces *t, const volatile int *stop, struct bundle_finding *f)
{
    uint64_t room = TRACES_MAX, found = 0;
    *t = (struct traces){.files = xcalloc(b->m.n_artifacts + 1, sizeof *t->files),
                         .paths = xcalloc(b->m.n_artifacts + 1, sizeof *t->paths)};
    for (size_t i = 0; i < b->m.n_artifacts; i++) {
        if (b->m.artifacts[i].role != ROLE_TRACE)
            continue;
        if (stop && *stop) {
            bundle_fault(&f->unavailable, BECAUSE(CODE_INTERRUPTED), b->m.artifacts[i].path,
                         "interrupted before every trace was read");
            t->broken = true;
            return;
        }
        found++;
        read_file(b, t, b->m.artifacts[i].path, &room, f);
    }
    if (t->n == 0 && !t->broken && f->failed.total == 0 && f->unavailable.total == 0)
        bundle_fault(&f->unavailable, BECAUSE(CODE_TRACES_NOT_COLLECTED), "manifest.json", "%s",
                     found ? "the bundle holds no trace of its own job" : "the bundle holds no traces");
}

/* ---- protocol.conformance ---- */

/* Who took part in a checkpoint its marker says: one that no process is known of keeps no trace. */
static void hold_participants(const struct bundle *b, const struct conform *c, const char *path, struct arena *a,
                              struct bundle_finding *f)
{
    struct buf text = BUF_INIT;
    struct marker m;
    struct err err = ERR_INIT;
    if (bundle_read(b, path, 1 << 20, &text, &err) != 0 ||
        marker_parse(text.p ? text.p : "", text.len, path, a, &m, &err) != 0)
        bundle_fault_err(&f->unavailable, CODE_MARKER_MALFORMED, path, &err);
    else if (m.n_subtasks < c->participants)
        bundle_fault(&f->failed, BECAUSE(CODE_PROTOCOL_VIOLATED), path,
                     "'%s' names %zu participants, and %" PRIu64 " processes of the job store a state", path,
                     m.n_subtasks, c->participants);
    else if (m.n_subtasks > c->participants)
        bundle_fault(&f->unavailable, BECAUSE(CODE_TRACES_LACKING), path,
                     "'%s' names %zu participants, and the traces tell of %" PRIu64, path, m.n_subtasks,
                     c->participants);
    buf_free(&text);
}

/* A marker was durable before its event, and none is ever removed: so the bundle holds each, and each but the last
 * one's has its event. */
static void hold_markers(const struct bundle *b, const struct conform *c, struct bundle_finding *f)
{
    struct buf path = BUF_INIT, rel = BUF_INIT;
    struct arena a = ARENA_INIT;
    uint64_t id;
    for (size_t i = 0; i < c->n_checkpoints; i++) {
        uint64_t number = c->checkpoints[i].number;
        path_join(&path, "checkpoint", evidence_path_marker(&rel, b->m.job, MARKER_COMPLETED, number));
        if (c->checkpoints[i].completed && !bundle_find(&b->m, path.p))
            bundle_fault(&f->failed, BECAUSE(CODE_PROTOCOL_VIOLATED), path.p,
                         "the traces say that checkpoint %" PRIu64
                         " was completed, and the bundle holds no marker of it",
                         number);
    }
    for (size_t i = 0; i < b->m.n_artifacts; i++) {
        const char *marker = b->m.artifacts[i].path;
        if (b->m.artifacts[i].role != ROLE_MARKER || !evidence_name_id(strrchr(marker, '/') + 1, "COMPLETED-", "", &id))
            continue;
        if (!conform_find(c, id))
            bundle_fault(&f->unavailable, BECAUSE(CODE_TRACES_LACKING), marker,
                         "the bundle holds '%s', and no trace says that it was completed", marker);
        arena_reset(&a);
        hold_participants(b, c, marker, &a, f);
    }
    arena_free(&a);
    buf_free(&path);
    buf_free(&rel);
}

/* RESTORED names the newest restore; where the traces end before it, they are not the whole story. */
static void hold_restored(const struct bundle *b, const struct conform *c, struct bundle_finding *f)
{
    struct arena a = ARENA_INIT;
    struct restored r;
    struct err err = ERR_INIT;
    const char *path;
    int rc = bundle_restored(b, &a, &r, &path, &err);
    if (rc != 0) {
        if (rc < 0)
            bundle_fault_err(&f->unavailable, CODE_MARKER_MALFORMED, path, &err);
        else if (!c->maybe_restored && (!c->has_restored || r.checkpoint != c->from || r.next != c->next))
            bundle_fault(&f->unavailable, BECAUSE(CODE_TRACES_LACKING), path,
                         "'%s' says that %" PRIu64 " was restored and %" PRIu64
                         " is next, and the last restore of the traces is another",
                         path, r.checkpoint, r.next);
    } else if (c->has_restored) {
        bundle_fault(&f->failed, BECAUSE(CODE_PROTOCOL_VIOLATED), path,
                     "the traces say that a restore was recorded, and the bundle holds no '%s'", path);
    }
    arena_free(&a);
}

/* Operators by their ids: those that a trace is of, and those whose recorder one is of. */
struct traced {
    struct map operators, recorders;
};

static void find_traced(const struct traces *t, struct arena *a, struct traced *out)
{
    enum part part;
    uint64_t op, lane;
    *out = (struct traced){MAP_INIT, MAP_INIT};
    for (size_t i = 0; i < t->n; i++) {
        const char *name = t->files[i].process;
        if (!job_process(name, &part, &op, &lane) || strchr(name, '-') == strrchr(name, '-'))
            continue;
        char id[24];
        int n = snprintf(id, sizeof id, "%" PRIu64, op);
        map_add(part == PART_TEE ? &out->recorders : &out->operators, arena_strndup(a, id, (size_t)n), (size_t)n, i);
    }
}

static bool has(const struct map *m, const char *id)
{
    return map_find(m, id, strlen(id)) != NULL;
}

/* What the job's graph has behind its source. */
static void hold_graph(const struct job_manifest *job, const char *path, const struct traced *traced,
                       struct bundle_finding *f)
{
    struct map fed = MAP_INIT;
    for (size_t e = 0; e < job->n_edges; e++)
        map_add(&fed, job->edges[e][1], strlen(job->edges[e][1]), e);
    for (size_t i = 0; i < job->n_operators; i++) {
        const char *id = job->operators[i].id;
        if (has(&fed, id) && !has(&traced->operators, id))
            bundle_fault(&f->unavailable, BECAUSE(CODE_TRACES_LACKING), path,
                         "the job's graph has operator %.100s, and no trace is of it", id);
    }
    map_free(&fed);
}

/* The stages are known by their traces: one that keeps none in any run is known by the job's graph alone, and its
 * recorder by what it recorded. */
static void hold_stages(const struct bundle *b, const struct traces *t, struct bundle_finding *f)
{
    const char *path = b->m.job_manifest;
    struct buf text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct job_manifest job = {.job = NULL};
    struct traced traced;
    struct err err = ERR_INIT;
    find_traced(t, &a, &traced);
    if (path && (bundle_read(b, path, JOB_MAX, &text, &err) != 0 ||
                 job_manifest_parse(text.p ? text.p : "", text.len, path, &a, &job, &err) != 0))
        bundle_fault_err(&f->unavailable, CODE_JOB_UNKNOWN, path, &err);
    else if (path && strcmp(job.job, b->m.job) != 0)
        bundle_fault(&f->unavailable, BECAUSE(CODE_JOB_UNKNOWN), path, "'%s' is of job '%.64s'", path, job.job);
    else if (path)
        hold_graph(&job, path, &traced, f);
    for (size_t i = 0; i < b->m.n_captured; i++)
        if (!has(&traced.recorders, b->m.captured[i].operator_id))
            bundle_fault(&f->unavailable, BECAUSE(CODE_TRACES_LACKING), b->m.captured[i].path,
                         "'%s' was recorded, and no trace is of a recorder of operator %.100s", b->m.captured[i].path,
                         b->m.captured[i].operator_id);
    map_free(&traced.operators);
    map_free(&traced.recorders);
    arena_free(&a);
    buf_free(&text);
}

void traces_conform(const struct bundle *b, const struct traces *t, struct buf *counts, struct bundle_finding *f)
{
    struct conform c;
    conform(t->files, t->n, &c);
    for (size_t i = 0; i < t->n; i++)
        bundle_used(f, t->paths[i]);
    switch (c.result) {
    case CONFORM_YES:
        hold_markers(b, &c, f);
        hold_restored(b, &c, f);
        hold_stages(b, t, f);
        break;
    case CONFORM_NO:
        bundle_fault(&f->failed, BECAUSE(CODE_PROTOCOL_VIOLATED, {"process", c.process}), "manifest.json", "%s", c.why);
        break;
    case CONFORM_LACKING:
        bundle_fault(&f->unavailable, BECAUSE(CODE_TRACES_LACKING, {"process", c.process}), "manifest.json", "%s",
                     c.why);
        break;
    case CONFORM_UNSUPPORTED:
        bundle_fault(&f->unsupported, BECAUSE(CODE_PROTOCOL_UNSUPPORTED), "manifest.json", "%s", c.why);
        break;
    }
    buf_printf(counts, "{\"traces\":%zu,\"events\":%" PRIu64 ",\"runs\":%" PRIu64 ",\"completed\":%zu}", t->n, c.events,
               c.runs, c.n_completed);
    free(c.checkpoints);
}

void traces_free(struct traces *t)
{
    free(t->files);
    free(t->paths);
    arena_free(&t->arena);
}
