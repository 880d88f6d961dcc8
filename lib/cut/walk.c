/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk back from the checkpoint: each sink subtask's intervals through each
 * one's previous barrier, until a completed checkpoint or the start of the run.
 * A checkpoint that was triggered and never completed left its interval to the
 * next one.
 */
#include "cut/pairs.h"

#include <stdlib.h>
#include <string.h>

static struct cut_interval *interval_add(struct cut *c)
{
    if (c->n_intervals == c->cap_intervals) {
        size_t cap = c->cap_intervals ? c->cap_intervals * 2 : 16;
        struct cut_interval *grown = arena_alloc(&c->a, cap * sizeof *grown);
        if (c->n_intervals > 0)
            memcpy(grown, c->intervals, c->n_intervals * sizeof *grown);
        c->intervals = grown;
        c->cap_intervals = cap;
    }
    return &c->intervals[c->n_intervals++];
}

static void say_missing(struct cut *c, const char *path, uint64_t subtask, uint64_t epoch)
{
    const struct bundle_manifest *m = &c->b->m;
    bool outside = m->has_epochs && (epoch < m->first_epoch || epoch > m->last_epoch);
    struct cause cause = cut_lack(c, path,
                                  outside           ? CODE_EPOCHS_NOT_COLLECTED
                                  : m->has_captures ? CODE_INTERVAL_MISSING
                                                    : CODE_CAPTURES_NOT_COLLECTED);
    cause_add(&cause, "epoch", FACT_NUMBER(epoch));
    cut_say(c, STATUS_UNAVAILABLE, &cause,
            "no interval evidence of sink %s, subtask %" PRIu64 ", epoch %" PRIu64 ": '%s' is not in the bundle",
            c->sink, subtask, epoch, path);
}

/* The capture must be the file that the evidence speaks of, and whole. */
static void check_capture(struct cut *c, struct cut_interval *i)
{
    const struct interval *iv = &i->iv;
    const struct bundle_artifact *f = bundle_find(&c->b->m, i->capture);
    if (iv->outcome == CAPTURE_DISARMED)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_CAPTURE_DISARMED),
                "'%s': the capture of this interval was disarmed", i->path);
    else if (iv->truncated || iv->stored < iv->seen)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_CAPTURE_TRUNCATED),
                "'%s': the capture is truncated: %" PRIu64 " of %" PRIu64 " rows were stored", i->path, iv->stored,
                iv->seen);
    else if (!f)
        cut_say(c, STATUS_UNAVAILABLE, (struct cause[]){cut_lack(c, i->capture, CODE_CAPTURE_MISSING)},
                "the capture '%s' is not in the bundle", i->capture);
    else if (strcmp(f->sha256, iv->sha256) != 0 || f->bytes != iv->bytes)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_CAPTURE_CHANGED),
                "the capture '%s' is not the one that '%s' speaks of", i->capture, i->path);
}

/* The acknowledged INSERTs must be exactly the recorded rows, one range after another. */
static void check_ledger(struct cut *c, const struct cut_interval *i)
{
    uint64_t at = 0;
    for (size_t k = 0; k < i->iv.n_ledger; k++) {
        const struct ledger_entry *l = &i->iv.ledger[k];
        if (!cut_hold(c, LEDGER_INTERVAL, (struct said){i->path, l}, (struct said){"the interval", &i->iv}))
            return;
        if (l->first != at || l->rows == 0) {
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_LEDGER_DIFFERS),
                    "'%s': ledger entry %zu begins at row %" PRIu64 ", the ones before end at %" PRIu64, i->path, k,
                    l->first, at);
            return;
        }
        at += l->rows;
    }
    if (at != i->iv.seen)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_LEDGER_DIFFERS),
                "'%s': the ledger acknowledges %" PRIu64 " rows, the sink's input had %" PRIu64, i->path, at,
                i->iv.seen);
    c->owed_rows += at;
}

static bool interval_read(struct cut *c, uint64_t subtask, uint64_t epoch, struct cut_interval **out)
{
    struct buf rel = BUF_INIT, path = BUF_INIT;
    struct err err = ERR_INIT;
    struct interval iv;
    const char *p;
    size_t n;
    path_join(&path, "capture", evidence_path_interval(&rel, c->sink, subtask, epoch));
    const char *where = arena_strndup(&c->a, path.p, path.len);
    path_join(&path, "capture", evidence_path_capture(&rel, c->sink, subtask, epoch));
    const char *capture = arena_strndup(&c->a, path.p, path.len);
    buf_free(&rel);
    buf_free(&path);
    if (!bundle_find(&c->b->m, where)) {
        say_missing(c, where, subtask, epoch);
        return false;
    }
    if (!cut_read(c, where, CODE_INTERVAL_MISSING, &p, &n))
        return false;
    if (interval_parse(p, n, where, &c->a, &iv, &err) != 0) {
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_INTERVAL_MALFORMED), "%s", err.text);
        return false;
    }
    struct place at = {c->b->m.job, c->sink, strrchr(capture, '/') + 1, subtask, epoch, 0};
    if (!cut_hold(c, INTERVAL_PLACE, (struct said){where, &iv}, (struct said){"its place", &at}))
        return false;
    *out = interval_add(c);
    **out = (struct cut_interval){where, capture, iv};
    check_capture(c, *out);
    check_ledger(c, *out);
    return true;
}

/* One subtask's walk. False where it did not reach the scope's start. */
static bool walk_subtask(struct cut *c, uint64_t subtask, uint64_t *since)
{
    const struct restored *r = c->markers.has_restored ? &c->markers.restored : NULL;
    for (uint64_t e = c->scope.bundle.checkpoint;;) {
        struct cut_interval *i;
        if (restored_passes_over(r, e)) {
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_RESTORE_DISCARDED),
                    "epoch %" PRIu64 " is of a run that the restore from %" PRIu64 " discarded", e, r->checkpoint);
            return false;
        }
        if (!interval_read(c, subtask, e, &i))
            return false;
        uint64_t previous = i->iv.previous;
        *since = previous;
        if (r && previous != 0 && previous < r->next && e >= r->next) {
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_INTERVALS_APART),
                    "'%s': the barrier before it is %" PRIu64
                    ", and a restore lies between them (RESTORED's next is %" PRIu64 ")",
                    i->path, previous, r->next);
            return false;
        }
        if (previous == 0 || (!c->scope.bundle.from_run_start && markers_have(&c->markers, MARKER_COMPLETED, previous)))
            return true;
        e = previous;
    }
}

static int by_epoch(const void *a, const void *b)
{
    const struct interval *x = &((const struct cut_interval *)a)->iv, *y = &((const struct cut_interval *)b)->iv;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return x->subtask < y->subtask ? -1 : x->subtask > y->subtask;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every subtask that the sink had, by anything that tells: the graph, the checkpoint's participants (a lane each), and
 * what the bundle holds of the sink. One that only one of them names still owes its evidence. */
static void subtasks_of(struct cut *c)
{
    const struct bundle_manifest *m = &c->b->m;
    struct scope_bundle *s = &c->scope.bundle;
    uint64_t parallelism = c->sink_node ? c->sink_node->parallelism : 0;
    if (parallelism > PARALLELISM_MAX)
        parallelism = PARALLELISM_MAX;
    s->subtasks = arena_alloc(&c->a, (c->marker.n_subtasks + m->n_artifacts + parallelism + 1) * sizeof *s->subtasks);
    for (uint64_t i = 0; i < parallelism; i++)
        s->subtasks[s->n_subtasks++] = i;
    /* Behind a window the sink has no lane of the source's. */
    for (size_t i = 0; i < c->marker.n_subtasks && c->windows == 0; i++)
        s->subtasks[s->n_subtasks++] = c->marker.subtasks[i];
    struct buf head = BUF_INIT;
    buf_printf(&head, "capture/op-%s/subtask-", c->sink);
    buf_str(&head);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *path = m->artifacts[i].path;
        uint64_t subtask;
        if (strncmp(path, head.p, head.len) == 0 && scan_u64(path + head.len, strcspn(path + head.len, "/"), &subtask))
            s->subtasks[s->n_subtasks++] = subtask;
    }
    buf_free(&head);
    qsort(s->subtasks, s->n_subtasks, sizeof *s->subtasks, by_number);
    size_t kept = 0;
    for (size_t i = 0; i < s->n_subtasks; i++)
        if (kept == 0 || s->subtasks[i] != s->subtasks[kept - 1])
            s->subtasks[kept++] = s->subtasks[i];
    s->n_subtasks = kept;
}

/* What one attempt left: all of it is of one attempt, one destination and one contract, and each epoch's lanes follow
 * one barrier. */
static void check_leg(struct cut *c, const struct cut_leg *leg)
{
    const struct cut_interval *first = leg->intervals;
    for (size_t i = 1; i < leg->n_intervals; i++) {
        const struct cut_interval *other = &first[i], *before = other - 1;
        cut_hold(c, INTERVAL_RUN, (struct said){first->path, &first->iv}, (struct said){other->path, &other->iv});
        if (other->iv.epoch == before->iv.epoch)
            cut_hold(c, INTERVAL_LANE, (struct said){before->path, &before->iv},
                     (struct said){other->path, &other->iv});
    }
    /* The others are as the first. */
    cut_hold(c, INTERVAL_SELF, (struct said){first->path, &first->iv}, (struct said){"its definition", &first->iv});
    cut_hold(c, INTERVAL_CONTRACT, (struct said){first->path, &first->iv}, (struct said){"the contract", NULL});
    if (c->sink_node)
        cut_hold(c, NODE_SINK, (struct said){"the job's graph", c->sink_node}, (struct said){first->path, &first->iv});
}

/* The sorted intervals, a leg for each attempt: one begins where an interval has no barrier before it. */
static void make_legs(struct cut *c)
{
    c->legs = arena_zalloc(&c->a, c->n_intervals * sizeof *c->legs);
    for (size_t i = 0; i < c->n_intervals; i++) {
        struct cut_interval *iv = &c->intervals[i];
        struct cut_leg *leg = c->n_legs ? &c->legs[c->n_legs - 1] : NULL;
        if (!leg || (iv->iv.previous == 0 && iv->iv.epoch != leg->last)) {
            leg = &c->legs[c->n_legs++];
            *leg = (struct cut_leg){
                .attempt = iv->iv.attempt, .since = iv->iv.previous, .first = iv->iv.epoch, .intervals = iv};
        }
        leg->last = iv->iv.epoch;
        leg->n_intervals++;
    }
    for (size_t i = 0; i < c->n_legs; i++)
        check_leg(c, &c->legs[i]);
}

static void list_epochs(struct cut *c)
{
    struct scope_bundle *s = &c->scope.bundle;
    s->epochs = arena_alloc(&c->a, (c->n_intervals + 1) * sizeof *s->epochs);
    s->attempts = arena_alloc(&c->a, (c->n_intervals + 1) * sizeof *s->attempts);
    struct map attempts = MAP_INIT;
    for (size_t i = 0; i < c->n_intervals; i++) {
        const struct interval *iv = &c->intervals[i].iv;
        if (s->n_epochs == 0 || s->epochs[s->n_epochs - 1] != iv->epoch)
            s->epochs[s->n_epochs++] = iv->epoch;
        if (map_add(&attempts, iv->attempt, strlen(iv->attempt), i))
            s->attempts[s->n_attempts++] = iv->attempt;
    }
    map_free(&attempts);
}

/* Evidence of an interval within the scope that the walk did not meet: an interval of it names a barrier too early. */
static void check_passed_by(struct cut *c)
{
    const struct bundle_manifest *m = &c->b->m;
    struct scope_bundle *s = &c->scope.bundle;
    struct buf head = BUF_INIT;
    uint64_t from = s->since > 0 ? s->since : s->epochs[0];
    buf_printf(&head, "capture/op-%s/subtask-", c->sink);
    buf_str(&head);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *path = m->artifacts[i].path, *name = strrchr(path, '/');
        uint64_t epoch;
        if (m->artifacts[i].role != ROLE_INTERVAL || strncmp(path, head.p, head.len) != 0 || !name ||
            !evidence_name_id(name + 1, "epoch-", ".sink.json", &epoch) || epoch <= from || epoch >= s->checkpoint)
            continue;
        if (!bsearch(&epoch, s->epochs, s->n_epochs, sizeof epoch, by_number))
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_INTERVALS_APART),
                    "'%s' lies within the scope, and no later interval names it as the one before", path);
    }
    buf_free(&head);
}

void cut_walk(struct cut *c)
{
    bool whole = true, any = false;
    uint64_t since = 0;
    subtasks_of(c);
    for (size_t i = 0; i < c->scope.bundle.n_subtasks; i++) {
        uint64_t own;
        if (!walk_subtask(c, c->scope.bundle.subtasks[i], &own)) {
            whole = false;
            continue;
        }
        if (any && own != since)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_INTERVALS_APART),
                    "the subtasks' intervals begin after different checkpoints: %" PRIu64 " and %" PRIu64, since, own);
        since = own;
        any = true;
    }
    c->scope.bundle.since = any ? since : 0;
    if (c->n_intervals == 0)
        return;
    qsort(c->intervals, c->n_intervals, sizeof *c->intervals, by_epoch);
    make_legs(c);
    list_epochs(c);
    if (whole && c->scope.bundle.n_epochs * c->scope.bundle.n_subtasks != c->n_intervals)
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_INTERVALS_APART),
                "the subtasks' intervals are not of the same epochs");
    if (whole)
        check_passed_by(c);
}
