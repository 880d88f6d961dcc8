/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an epoch starts. Epoch N holds what came between the barriers N-1 and
 * N, so it starts from checkpoint N-1, but for the first epoch of a run that a
 * restore began: that one starts from the restore point.
 */
#include "replay/internal.h"

#include "evidence/snapshot.h"
#include "ops/ops.h"

#include <string.h>

#define STATE_MAX ((size_t)256 << 20)

static const char *text_of(struct replay *p, const char *path, size_t max, size_t *n)
{
    struct buf text = BUF_INIT;
    const char *kept = NULL;
    if (bundle_read(p->b, path, max, &text, NULL) == 0) {
        kept = arena_strndup(&p->a, text.p ? text.p : "", text.len);
        *n = text.len;
    }
    buf_free(&text);
    return kept;
}

/* Every file that tells of a run's start must tell the same. */
static void add_start(struct replay *p, const struct replay_run_start *s, const char *path)
{
    for (size_t i = 0; i < p->n_starts; i++) {
        struct replay_run_start *known = &p->starts[i];
        if (known->first_epoch != s->first_epoch)
            continue;
        if (s->doubt || known->restored_from != s->restored_from)
            known->doubt = path;
        return;
    }
    p->starts[p->n_starts++] = *s;
}

static void read_start(struct replay *p, const char *path)
{
    size_t n = 0;
    struct snapshot s;
    struct replay_run_start start = {0};
    const char *name = strrchr(path, '/'), *text = text_of(p, path, (size_t)64 << 20, &n);
    if (!name || !evidence_name_id(name + 1, "start-", ".snap", &start.first_epoch))
        return;
    if (text && snapshot_parse(text, n, path, &p->a, &s, NULL) == 0 && s.is_start &&
        s.first_epoch == start.first_epoch && strcmp(s.job, p->b->m.job) == 0)
        start.restored_from = s.restored_from;
    else
        start.doubt = path;
    add_start(p, &start, path);
}

static void read_job(struct replay *p)
{
    struct job_manifest *job = arena_zalloc(&p->a, sizeof *job);
    size_t n = 0;
    const char *path = p->b->m.job_manifest, *text = path ? text_of(p, path, (size_t)64 << 20, &n) : NULL;
    if (text && job_manifest_parse(text, n, path, &p->a, job, NULL) == 0 && strcmp(job->job, p->b->m.job) == 0)
        p->job = job;
    p->confirmed = p->b->m.rule == RULE_CONFIRMED ||
                   (p->job && p->job->has_confirmation && p->job->requires_commit_confirmation);
}

void replay_restores(struct replay *p)
{
    const struct bundle_manifest *m = &p->b->m;
    const char *path;
    bundle_markers(m, &p->a, &p->markers);
    int restored = bundle_restored(p->b, &p->a, &p->markers.restored, &path, NULL);
    p->markers.has_restored = restored == 1 && strcmp(p->markers.restored.job, m->job) == 0;
    p->restored_unread = restored != 0 && !p->markers.has_restored;
    p->starts = arena_alloc(&p->a, (m->n_artifacts + 1) * sizeof *p->starts);
    if (p->markers.has_restored)
        add_start(p, &(struct replay_run_start){p->markers.restored.next, p->markers.restored.checkpoint, NULL}, NULL);
    for (size_t i = 0; i < m->n_artifacts; i++)
        if (m->artifacts[i].role == ROLE_RUN_START)
            read_start(p, m->artifacts[i].path);
    read_job(p);
}

static const struct replay_run_start *start_at(const struct replay *p, uint64_t epoch)
{
    for (size_t i = 0; i < p->n_starts; i++)
        if (p->starts[i].first_epoch == epoch)
            return &p->starts[i];
    return NULL;
}

/* The checkpoint that an epoch starts from; 0: from none. False once o says why it is not known. */
static bool starting_checkpoint(struct replay *p, const struct replay_epoch *e, uint64_t *from, struct outcome *o)
{
    const struct restored *r = p->markers.has_restored ? &p->markers.restored : NULL;
    const struct replay_run_start *s = start_at(p, e->epoch);
    const char *doubt = s ? s->doubt : p->restored_unread ? "RESTORED" : NULL;
    if (doubt) {
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                    "what epoch %" PRIu64
                    " starts from is not known: '%s' cannot be read, is of another job or run, or does not agree with "
                    "what else the bundle holds of it",
                    e->epoch, doubt);
        return false;
    }
    if (s) {
        *from = s->restored_from;
        return true;
    }
    *from = e->epoch - 1;
    /* Before the newest restore, a run of this family began from a checkpoint that was confirmed, whichever that was.
     */
    if (p->confirmed && *from > 0 && (!r || e->epoch < r->next) &&
        !markers_have(&p->markers, MARKER_CONFIRMED, *from)) {
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                    "checkpoint %" PRIu64
                    " was not confirmed, so that a restore which the bundle does not record may lie before "
                    "epoch %" PRIu64,
                    *from, e->epoch);
        return false;
    }
    return true;
}

/* One snapshot's state, where it is what the operator kept at that checkpoint. */
static bool own_state(struct replay *p, const struct replay_epoch *e, const char *path, uint64_t from,
                      struct buf *state)
{
    struct arena a = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct snapshot s;
    bool own = bundle_read(p->b, path, STATE_MAX, &text, NULL) == 0 &&
               snapshot_parse(buf_str(&text), text.len, path, &a, &s, NULL) == 0 && !snapshot_of_lane(&s) &&
               s.checkpoint == from && strcmp(s.job, p->b->m.job) == 0 && strcmp(s.operator_id, e->operator_id) == 0;
    if (own)
        buf_add(state, s.state, s.state_len);
    arena_free(&a);
    buf_free(&text);
    return own;
}

/* Of the snapshots that the bundle lists, the one that is the operator's: its path, or NULL once o says that there is
 * none. */
static const char *starting_state(struct replay *p, const struct replay_epoch *e, uint64_t from, struct buf *state,
                                  struct outcome *o)
{
    const struct bundle_manifest *m = &p->b->m;
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const struct bundle_artifact *f = &m->artifacts[i];
        const char *name = strrchr(f->path, '/');
        uint64_t id;
        if ((f->role == ROLE_SNAPSHOT || f->role == ROLE_INTERVAL_STATE) && name &&
            evidence_name_id(name + 1, "checkpoint-", ".snap", &id) && id == from &&
            own_state(p, e, f->path, from, state))
            return f->path;
    }
    outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_STATE_NOT_COLLECTED),
                "the bundle holds no state of operator %s at checkpoint %" PRIu64 ", from which epoch %" PRIu64
                " starts, or none that can be read",
                e->operator_id, from, e->epoch);
    return NULL;
}

struct outcome replay_start(struct replay *p, const struct replay_epoch *e, struct replay_begin *begin,
                            struct buf *text)
{
    struct outcome o = {.is = REPLAY_PASSED};
    *begin = (struct replay_begin){.keeps_state = op_keeps_state(e->op->op)};
    if (begin->keeps_state && starting_checkpoint(p, e, &begin->from, &o) && begin->from > 0)
        begin->path = starting_state(p, e, begin->from, text, &o);
    return o;
}
