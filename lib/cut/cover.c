/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the bundle shows of a table declared dedicated to one run: that the run
 * began with no state, and that its sink was quiet for two barriers after the
 * checkpoint. Whether the table holds the scope and nothing else is for those
 * who read it.
 */
#include "cut/pairs.h"

#include <string.h>

#define REASONS_MAX 6
#define QUIET 2 /* barriers after the checkpoint that each sink subtask must show empty */

static void say(struct cut *c, const struct cause *cause, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct cut *c, const struct cause *cause, const char *fmt, ...)
{
    if (c->uncovered_reasons++ == 0)
        c->uncovered_cause = *cause;
    else if (c->uncovered_reasons <= REASONS_MAX)
        buf_adds(&c->uncovered, "; ");
    if (c->uncovered_reasons > REASONS_MAX)
        return;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&c->uncovered, fmt, ap);
    va_end(ap);
}

static void start(struct cut *c)
{
    const struct scope_bundle *s = &c->scope.bundle;
    if (c->n_intervals == 0 || s->start == SCOPE_FROM_CHECKPOINT) {
        say(c, BECAUSE(CODE_EPOCHS_NOT_COLLECTED), "the bundle does not reach back to the run's start");
    } else if (s->start == SCOPE_FROM_RESTORE && s->restored_from > 0) {
        say(c, BECAUSE(CODE_TABLE_OF_SEVERAL_RUNS), "the run began with the state of checkpoint %" PRIu64,
            s->restored_from);
    } else if (s->start == SCOPE_FROM_RESTORE) {
        say(c, BECAUSE(CODE_TABLE_OF_SEVERAL_RUNS),
            "the run began at epoch %" PRIu64 ", after an attempt whose rows may be in the table",
            c->intervals[0].iv.epoch);
    } else {
        const struct cut_leg *leg = &c->legs[0];
        for (size_t i = 0; i < leg->n_ends; i++)
            if (!leg->ends[i].has_from || !leg->ends[i].from.is_start)
                say(c, BECAUSE(CODE_RUN_START_NOT_SHOWN),
                    "the bundle does not hold what source subtask %" PRIu64 " started with", leg->ends[i].subtask);
    }
    if (c->markers.has_restored && c->markers.restored.next > s->checkpoint)
        say(c, BECAUSE(CODE_TABLE_OF_SEVERAL_RUNS),
            "the job was restored from checkpoint %" PRIu64 " after checkpoint %" PRIu64
            ": the table is not of one run",
            c->markers.restored.checkpoint, s->checkpoint);
}

/* The sink's interval that an artifact is evidence of, where it is one after the checkpoint. */
static bool after(const struct cut *c, const struct bundle_artifact *f, const char *head, uint64_t *subtask,
                  uint64_t *epoch)
{
    const char *name = strrchr(f->path, '/'), *rest = f->path + strlen(head);
    return f->role == ROLE_INTERVAL && name && strncmp(f->path, head, strlen(head)) == 0 &&
           scan_u64(rest, strcspn(rest, "/"), subtask) && evidence_name_id(name + 1, "epoch-", ".sink.json", epoch) &&
           *epoch > c->scope.bundle.checkpoint;
}

static bool is_quiet(const struct interval *iv)
{
    return iv->outcome == CAPTURE_EMPTY && iv->seen == 0 && iv->n_ledger == 0;
}

/* All that the bundle holds of the sink after the checkpoint, in quiet; the number of them in *n. */
static struct interval *read_after(struct cut *c, size_t *n)
{
    const struct bundle_manifest *m = &c->b->m;
    struct interval *quiet = arena_alloc(&c->a, (m->n_artifacts + 1) * sizeof *quiet), *iv;
    struct buf head = BUF_INIT;
    *n = 0;
    buf_printf(&head, "capture/op-%s/subtask-", c->sink);
    for (size_t i = 0; i < m->n_artifacts; i++) {
        uint64_t subtask, epoch;
        const char *p;
        size_t len;
        struct err err = ERR_INIT;
        if (!after(c, &m->artifacts[i], buf_str(&head), &subtask, &epoch) ||
            !cut_read(c, m->artifacts[i].path, CODE_INTERVAL_MISSING, &p, &len))
            continue;
        iv = &quiet[*n];
        if (interval_parse(p, len, m->artifacts[i].path, &c->a, iv, &err) != 0)
            say(c, BECAUSE(CODE_INTERVAL_MALFORMED), "%s", err.text);
        else if (strcmp(iv->job, m->job) != 0 || strcmp(iv->operator_id, c->sink) != 0 || iv->subtask != subtask ||
                 iv->epoch != epoch)
            say(c, BECAUSE(CODE_INTERVAL_OTHER),
                "'%s' is of job '%s', operator %s, subtask %" PRIu64 ", epoch %" PRIu64, m->artifacts[i].path, iv->job,
                iv->operator_id, iv->subtask, iv->epoch);
        else if (is_quiet(iv))
            ++*n;
        else
            say(c, BECAUSE(CODE_SINK_NOT_QUIET), "'%s' shows %" PRIu64 " rows after checkpoint %" PRIu64 "%s",
                m->artifacts[i].path, iv->seen, c->scope.bundle.checkpoint,
                iv->outcome == CAPTURE_DISARMED ? ", and its capture was disarmed" : "");
    }
    buf_free(&head);
    return quiet;
}

/* The barriers of one subtask that follow one another from the checkpoint on, in the scope's own run. */
static unsigned barriers_after(struct cut *c, const struct interval *quiet, size_t n, uint64_t subtask)
{
    unsigned found = 0;
    uint64_t at = c->scope.bundle.checkpoint;
    for (bool more = true; more && found < QUIET;) {
        more = false;
        for (size_t i = 0; i < n && !more; i++) {
            more = quiet[i].subtask == subtask && quiet[i].previous == at &&
                   !cut_differs(INTERVAL_RUN, &quiet[i], &c->legs[c->n_legs - 1].intervals[0].iv);
            if (more) {
                at = quiet[i].epoch;
                c->quiet[c->n_quiet++] = &quiet[i];
            }
        }
        found += more;
    }
    return found;
}

void cut_cover(struct cut *c)
{
    const struct bundle_manifest *m = &c->b->m;
    size_t n;
    start(c);
    const struct interval *quiet = read_after(c, &n);
    if (c->n_intervals == 0)
        return;
    c->quiet = arena_alloc(&c->a, (QUIET * c->scope.bundle.n_subtasks + 1) * sizeof(*c->quiet));
    for (size_t i = 0; i < c->scope.bundle.n_subtasks; i++) {
        unsigned found = barriers_after(c, quiet, n, c->scope.bundle.subtasks[i]);
        bool cut_short = m->has_epochs && m->last_epoch < c->scope.bundle.checkpoint + QUIET;
        if (found < QUIET)
            say(c, BECAUSE(cut_short ? CODE_EPOCHS_NOT_COLLECTED : CODE_SINK_QUIET_NOT_SHOWN),
                "the bundle shows sink subtask %" PRIu64 " quiet for %u of %d barriers after checkpoint %" PRIu64,
                c->scope.bundle.subtasks[i], found, QUIET, c->scope.bundle.checkpoint);
    }
    if (c->uncovered_reasons > REASONS_MAX)
        buf_printf(&c->uncovered, "; and %u more reasons", c->uncovered_reasons - REASONS_MAX);
}
