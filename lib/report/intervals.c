/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The intervals of a bundle's scope: each sink subtask's once, following one
 * another, whole, acknowledged to the last row and of the scope's attempts; and
 * the source standing where the scope's ranges begin and end.
 */
#include "report/internal.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sink's ---- */

/* The sink's intervals by subtask, then epoch; the scope's attempts. */
struct sink {
    const struct scope *of;
    const struct scope_bundle *scope;
    const struct interval_line **at;
    size_t n;
    struct map attempts;
};

static int by_place(const void *a, const void *b)
{
    const struct interval_line *x = *(const struct interval_line *const *)a,
                               *y = *(const struct interval_line *const *)b;
    if (x->subtask != y->subtask)
        return x->subtask < y->subtask ? -1 : 1;
    if (x->iv.epoch != y->iv.epoch)
        return x->iv.epoch < y->iv.epoch ? -1 : 1;
    return (x->line_no > y->line_no) - (x->line_no < y->line_no);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool has_number(const uint64_t *list, size_t n, uint64_t wanted)
{
    return n > 0 && bsearch(&wanted, list, n, sizeof *list, by_number);
}

static bool of_scope(const struct sink *s, const struct interval *iv)
{
    return has_number(s->scope->epochs, s->scope->n_epochs, iv->epoch);
}

static bool other_subtask(const struct sink *s, const struct interval *iv)
{
    return !has_number(s->scope->subtasks, s->scope->n_subtasks, iv->subtask);
}

static bool other_attempt(const struct sink *s, const struct interval *iv)
{
    return !map_find(&s->attempts, iv->attempt, strlen(iv->attempt));
}

/* Beside its epochs a scope of the whole table has those after its checkpoint, which show the sink quiet. */
static bool other_epoch(const struct sink *s, const struct interval *iv)
{
    return !of_scope(s, iv) && (!s->scope->complete_table || iv->epoch <= s->scope->checkpoint);
}

static bool not_quiet(const struct sink *s, const struct interval *iv)
{
    return !of_scope(s, iv) && (iv->seen > 0 || iv->n_ledger > 0);
}

static bool disarmed(const struct sink *s, const struct interval *iv)
{
    (void)s;
    return iv->outcome == CAPTURE_DISARMED;
}

static bool truncated(const struct sink *s, const struct interval *iv)
{
    (void)s;
    return iv->truncated || iv->stored != iv->seen;
}

/* The acknowledged INSERTs are exactly the rows, one range after another. */
static bool ledger_differs(const struct sink *s, const struct interval *iv)
{
    uint64_t at = 0;
    (void)s;
    for (size_t i = 0; i < iv->n_ledger; at += iv->ledger[i++].rows)
        if (iv->ledger[i].first != at || iv->ledger[i].rows == 0)
            return true;
    return at != iv->seen;
}

static bool is_other(const char *said, const char *wanted)
{
    return said && wanted && strcmp(said, wanted) != 0;
}

/* What was in doubt was sent again, and nothing else; each is of a block, and of an attempt that was not in doubt. */
static bool ledger_impossible(const struct sink *s, const struct interval *iv)
{
    (void)s;
    for (size_t i = 0; i < iv->n_ledger; i++) {
        const struct ledger_entry *e = &iv->ledger[i];
        if (e->blocks == 0 || e->attempts <= e->in_doubt || e->in_doubt != (e->resend != RESEND_NONE))
            return true;
    }
    return false;
}

/* As scope-cut holds its evidence against the scope: by the table's names, whatever it was called through. */
static bool other_table(const struct sink *s, const struct interval *iv)
{
    const struct destination *d = &iv->destination;
    return is_other(d->server_uuid, s->of->server_uuid) || is_other(d->database, s->of->database) ||
           is_other(d->table, s->of->table) || is_other(d->table_uuid, s->of->table_uuid);
}

static bool other_engine(const struct sink *s, const struct interval *iv)
{
    (void)s;
    return is_other(iv->destination.engine, OBSERVED_ENGINE);
}

static bool unacknowledged(const struct sink *s, const struct interval *iv)
{
    (void)s;
    return is_other(iv->destination.async_insert, "0") || is_other(iv->destination.wait_for_async_insert, "1");
}

static const struct {
    bool (*wrong)(const struct sink *, const struct interval *);
    const char *words;
} rules[] = {
    {other_subtask, "is of a subtask that the scope does not have"},
    {other_attempt, "is of an attempt that the scope does not have"},
    {other_epoch, "is of an epoch that the scope does not have"},
    {disarmed, "was disarmed"},
    {truncated, "is truncated"},
    {ledger_differs, "has a ledger of other rows than it counts"},
    {ledger_impossible, "has a ledger that cannot be"},
    {other_table, "is of another table than the scope's"},
    {other_engine, "is of a table of another engine than " OBSERVED_ENGINE},
    {unacknowledged, "is of INSERTs that may be acknowledged before they are stored"},
    {not_quiet, "shows rows after the scope's checkpoint"},
};

static int refuse(const struct interval_line *l, const char *words, struct err *err)
{
    return err_set(err, ERR_REFUSED,
                   "line %" PRIu64 ": the interval of sink subtask %" PRIu64 ", epoch %" PRIu64
                   " %s, and what was captured passed",
                   l->line_no, l->subtask, l->iv.epoch, words);
}

/* Each on its own, and each behind the one before it. */
static int follow(const struct sink *s, uint64_t *rows, struct err *err)
{
    uint64_t n = 0, want = (uint64_t)s->scope->n_epochs * s->scope->n_subtasks;
    for (size_t i = 0; i < s->n; i++) {
        const struct interval_line *l = s->at[i],
                                   *before = i > 0 && s->at[i - 1]->subtask == l->subtask ? s->at[i - 1] : NULL;
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
            if (rules[k].wrong(s, &l->iv))
                return refuse(l, rules[k].words, err);
        if (before && before->iv.epoch == l->iv.epoch)
            return refuse(l, "stands twice", err);
        if (!of_scope(s, &l->iv))
            continue;
        if (before ? l->iv.previous != before->iv.epoch : s->scope->since > 0 && l->iv.previous != s->scope->since)
            return refuse(l, "does not follow the one before it", err);
        if (__builtin_add_overflow(*rows, l->iv.seen, rows))
            return refuse(l, "counts more rows than there can be", err);
        n++;
    }
    return n == want ? 0
                     : err_set(err, ERR_TROUBLE, "%" PRIu64 " interval lines of the sink, and the scope has %" PRIu64,
                               n, want);
}

static bool of_sink(const struct report *r, const struct interval_line *l)
{
    return !l->source && strcmp(l->operator_id, r->scope.bundle.sink) == 0;
}

static void sink_open(struct sink *s, const struct report *r)
{
    *s = (struct sink){.of = &r->scope, .scope = &r->scope.bundle};
    s->at = xmalloc((r->intervals.n + 1) * sizeof(*s->at));
    for (const struct report_interval *l = r->interval; l; l = l->next)
        if (of_sink(r, &l->line))
            s->at[s->n++] = &l->line;
    for (size_t i = 0; i < s->scope->n_attempts; i++)
        map_add(&s->attempts, s->scope->attempts[i], strlen(s->scope->attempts[i]), i);
    qsort(s->at, s->n, sizeof(*s->at), by_place);
}

static void sink_close(struct sink *s)
{
    free(s->at);
    map_free(&s->attempts);
}

static int sink_whole(const struct report *r, struct err *err)
{
    struct sink s;
    uint64_t rows = 0;
    sink_open(&s, r);
    int rc = follow(&s, &rows, err);
    sink_close(&s);
    if (rc != 0 || report_side_whole(r, SIDE_CAPTURED, "what was captured", err) != 0)
        return -1;
    if (rows != r->side[SIDE_CAPTURED].rows)
        return err_set(err, ERR_REFUSED, "the sink's intervals count %" PRIu64 " rows, and the captured side %" PRIu64,
                       rows, r->side[SIDE_CAPTURED].rows);
    return 0;
}

/* ---- the source's ---- */

/* The scope's ranges of all its sources, numbered one after another: which of them a line shows each end of. */
struct stands {
    const struct scope *scope;
    size_t *first; /* of each source */
    bool *from, *to;
};

static int by_partition(const void *key, const void *range)
{
    uint64_t x = *(const uint64_t *)key, y = ((const struct scope_range *)range)->partition;
    return (x > y) - (x < y);
}

static int misplaced(const struct interval_line *l, const char *what, struct err *err)
{
    return err_set(err, ERR_REFUSED,
                   "line %" PRIu64 ": the interval of source subtask %" PRIu64 " %s, and reconcile.scope passed",
                   l->line_no, l->subtask, what);
}

static bool other_log(const struct log_id *log, const struct scope_source *s)
{
    return is_other(log->topic, s->topic) || is_other(log->cluster_id, s->cluster_id) ||
           is_other(log->topic_id, s->topic_id);
}

/* One end: each of its positions is one of the scope's, and stands once. */
static int stand(const struct stands *s, const struct interval_line *l, size_t source, bool end, struct err *err)
{
    const struct interval_stand *at = end ? &l->to : &l->from;
    const struct scope_source *of = &s->scope->sources[source];
    for (size_t i = 0; at->known && i < at->n_positions; i++) {
        const struct position *p = &at->positions[i];
        const struct scope_range *range = of->n_partitions ? bsearch(&p->partition, of->partitions, of->n_partitions,
                                                                     sizeof *range, by_partition)
                                                           : NULL;
        if (!range)
            return misplaced(l, "is of a partition that the scope does not have", err);
        if (!end && !range->has_from) /* the log was another one, or the position is in no evidence */
            continue;
        bool *shown = &(end ? s->to : s->from)[s->first[source] + (size_t)(range - of->partitions)];
        if (other_log(&at->log, of))
            return misplaced(l, "is of another log than the scope's", err);
        if (p->value != (end ? range->to : range->from))
            return misplaced(l, "is of another range than the scope's", err);
        if (*shown)
            return misplaced(l, "has a position that another one has too", err);
        *shown = true;
    }
    return 0;
}

/* The source that a line is of: n_sources for none. */
static size_t source_of(const struct report *r, const struct interval_line *l)
{
    const struct scope_bundle *b = &r->scope.bundle;
    size_t i = 0;
    while (i < r->scope.n_sources && (!l->source || strcmp(b->source_operators[i], l->operator_id) != 0))
        i++;
    return i;
}

static int by_source(const void *a, const void *b)
{
    const struct interval_line *x = *(const struct interval_line *const *)a,
                               *y = *(const struct interval_line *const *)b;
    int operators = strcmp(x->operator_id, y->operator_id);
    if (operators != 0)
        return operators;
    if (x->subtask != y->subtask)
        return x->subtask < y->subtask ? -1 : 1;
    return (x->line_no > y->line_no) - (x->line_no < y->line_no);
}

/* Each source subtask stands in one line. */
static int each_once(const struct report *r, struct err *err)
{
    const struct interval_line **at = xmalloc((r->intervals.n + 1) * sizeof *at);
    size_t n = 0;
    int rc = 0;
    for (const struct report_interval *l = r->interval; l; l = l->next)
        if (l->line.source)
            at[n++] = &l->line;
    qsort(at, n, sizeof *at, by_source);
    for (size_t i = 1; i < n && rc == 0; i++)
        if (at[i]->subtask == at[i - 1]->subtask && strcmp(at[i]->operator_id, at[i - 1]->operator_id) == 0)
            rc = misplaced(at[i], "stands twice", err);
    free(at);
    return rc;
}

static int stands_read(const struct report *r, const struct stands *s, struct err *err)
{
    for (const struct report_interval *l = r->interval; l; l = l->next) {
        size_t i = source_of(r, &l->line);
        if (i < r->scope.n_sources && (stand(s, &l->line, i, true, err) != 0 || stand(s, &l->line, i, false, err) != 0))
            return -1;
    }
    if (each_once(r, err) != 0)
        return -1;
    for (size_t i = 0; i < r->scope.n_sources; i++)
        for (size_t k = 0; k < r->scope.sources[i].n_partitions; k++) {
            const struct scope_range *range = &r->scope.sources[i].partitions[k];
            if (!s->to[s->first[i] + k] || (range->has_from && !s->from[s->first[i] + k]))
                return err_set(err, ERR_TROUBLE,
                               "no interval line shows where the source stood in %.200s/%" PRIu64
                               " at both ends of the scope",
                               r->scope.sources[i].topic, range->partition);
        }
    return 0;
}

static int source_stands(const struct report *r, struct err *err)
{
    struct stands s = {.scope = &r->scope};
    size_t n = 0;
    s.first = xcalloc(r->scope.n_sources + 1, sizeof *s.first);
    for (size_t i = 0; i < r->scope.n_sources; n += r->scope.sources[i++].n_partitions)
        s.first[i] = n;
    s.from = xcalloc(2 * n + 2, sizeof *s.from);
    s.to = s.from + n + 1;
    int rc = stands_read(r, &s, err);
    free(s.first);
    free(s.from);
    return rc;
}

/* ---- both ---- */

int report_hold_intervals(const struct report *r, struct err *err)
{
    if (!r->has_scope || r->scope.origin != SCOPE_BUNDLE ||
        (!report_passed(r, CHECK_RECONCILE_SCOPE) && !report_passed(r, CHECK_RECONCILE_ROWS) &&
         !report_passed(r, CHECK_REFERENCE_CAPTURE)))
        return 0;
    for (const struct report_interval *l = r->interval; l; l = l->next)
        if (!of_sink(r, &l->line) && source_of(r, &l->line) == r->scope.n_sources)
            return err_set(err, ERR_REFUSED,
                           "line %" PRIu64 ": an interval of operator '%.100s', which is not in the scope",
                           l->line.line_no, l->line.operator_id);
    return sink_whole(r, err) == 0 ? source_stands(r, err) : -1;
}

int report_hold_quiet(const struct report *r, struct err *err)
{
    const struct scope_bundle *b = &r->scope.bundle;
    struct sink s;
    int rc = 0;
    sink_open(&s, r);
    for (size_t i = 0, k = 0; i < b->n_subtasks && rc == 0; i++) {
        unsigned quiet = 0;
        uint64_t at = b->checkpoint;
        while (k < s.n && s.at[k]->subtask < b->subtasks[i])
            k++;
        for (; k < s.n && s.at[k]->subtask == b->subtasks[i]; k++)
            if (s.at[k]->iv.epoch > at && s.at[k]->iv.previous == at) {
                at = s.at[k]->iv.epoch;
                quiet++;
            }
        if (quiet < REPORT_QUIET)
            rc = err_set(err, ERR_TROUBLE,
                         "no interval line shows sink subtask %" PRIu64
                         " quiet for %d barriers after checkpoint %" PRIu64,
                         b->subtasks[i], REPORT_QUIET, b->checkpoint);
    }
    sink_close(&s);
    return rc;
}
