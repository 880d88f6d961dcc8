/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a stream that ended whole show what its passed checks are about? A line
 * taken out by hand, moved, or one of another run put in, must not leave an
 * answer that reads as if it were about this one.
 *
 * What is not there leaves the run undecided (ERR_TROUBLE); what contradicts a
 * check that passed refuses it (ERR_REFUSED).
 */
#include "base/hash.h"
#include "report/internal.h"

#include <inttypes.h>
#include <string.h>

static bool any_reconciled(const struct report *r)
{
    for (size_t c = CHECK_RECONCILE_SCOPE; c < CHECK_NAMES; c++)
        if (report_passed(r, (enum check_name)c))
            return true;
    return false;
}

static int one_of_several(const struct json *shard, struct err *err)
{
    uint64_t of = 0;
    if (!shard || (json_u64(json_get(shard, "of"), &of) && of == 1))
        return 0;
    return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_SHARDS_APART),
                    "the stream is one shard of several, and the others are not in it");
}

/* A check is the word of a stage that the stream went through. */
static int makers(const struct report *r, const struct json *stages, struct err *err)
{
    struct map names = MAP_INIT;
    int rc = 0;
    for (const struct json *item = json_first(stages); item; item = json_next(stages, item)) {
        const struct json *name = json_get(item, "name");
        if (name && name->type == JSON_STRING)
            map_add(&names, name->str, name->len, 0);
    }
    for (const struct report_made *m = r->made; m && rc == 0; m = m->next)
        if (!map_find(&names, m->line.stage, strlen(m->line.stage)))
            rc = err_set(err, ERR_REFUSED, "a check of '%.100s', which is no stage that the stream went through",
                         m->line.stage);
    map_free(&names);
    return rc;
}

/* What only a bundle shows cannot have passed without one. */
static int declared(const struct report *r, struct err *err)
{
    static const enum check_name of_a_bundle[] = {CHECK_RECONCILE_ROWS, CHECK_REFERENCE_CAPTURE,
                                                  CHECK_DESTINATION_COVERAGE};
    if (r->bundles.first)
        return err_set(err, ERR_REFUSED, "the scope is declared, and there is a bundle line");
    for (size_t i = 0; i < sizeof of_a_bundle / sizeof *of_a_bundle; i++)
        if (r->check[of_a_bundle[i]].made && r->check[of_a_bundle[i]].status == STATUS_PASSED)
            return err_set(err, ERR_REFUSED, "the scope is declared, and %s passed, which only a bundle can show",
                           check_name_text(of_a_bundle[i]));
    return 0;
}

static int question(const struct report *r, struct err *err)
{
    if (!r->bundles.first && (report_passed(r, CHECK_BUNDLE_MANIFEST) || report_passed(r, CHECK_BUNDLE_ARTIFACTS) ||
                              report_passed(r, CHECK_BUNDLE_COMPLETENESS)))
        return err_set(err, ERR_TROUBLE, "no bundle line: which bundle was checked is not in the stream");
    if (!r->has_scope)
        return any_reconciled(r)
                   ? err_set(err, ERR_TROUBLE, "no scope line: what the checks are about is not in the stream")
                   : 0;
    if (r->scope.origin == SCOPE_DECLARED && declared(r, err) != 0)
        return -1;
    if (r->bundles.first && !json_is(json_get(r->bundles.first->doc, "job"), r->scope.bundle.job))
        return err_set(err, ERR_REFUSED, "the bundle is of another job than the scope");
    if (r->columns.first && !scope_fits(&r->scope, &r->cols))
        return err_set(err, ERR_REFUSED, "the columns line is not of the scope's columns");
    return 0;
}

static bool in_scope(const struct scope_bundle *s, uint64_t epoch)
{
    size_t lo = 0, hi = s->n_epochs;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->epochs[mid] < epoch)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n_epochs && s->epochs[lo] == epoch;
}

static bool of_the_sink(const struct report *r, const struct interval_line *l)
{
    return !l->source && r->scope.bundle.sink && strcmp(l->operator_id, r->scope.bundle.sink) == 0;
}

/* The sink's intervals: each of the scope's, from each subtask, and together as many rows as the captured side has. */
static int intervals(const struct report *r, struct err *err)
{
    uint64_t n = 0, rows = 0, want = (uint64_t)r->scope.bundle.n_epochs * r->scope.bundle.n_subtasks;
    if (r->scope.origin == SCOPE_DECLARED ||
        (!report_passed(r, CHECK_RECONCILE_ROWS) && !report_passed(r, CHECK_REFERENCE_CAPTURE)))
        return 0;
    for (const struct report_interval *l = r->interval; l; l = l->next) {
        if (!of_the_sink(r, &l->line) || !in_scope(&r->scope.bundle, l->line.iv.epoch))
            continue;
        if (__builtin_add_overflow(rows, l->line.iv.seen, &rows))
            return err_set(err, ERR_REFUSED, "line %" PRIu64 ": the intervals count more rows than there can be",
                           l->line.line_no);
        n++;
    }
    if (n != want)
        return err_set(err, n < want ? ERR_TROUBLE : ERR_REFUSED,
                       "%" PRIu64 " interval lines of the sink, and the scope has %" PRIu64, n, want);
    if (report_side_whole(r, SIDE_CAPTURED, "what was captured", err) != 0)
        return -1;
    if (rows != r->side[SIDE_CAPTURED].rows)
        return err_set(err, ERR_REFUSED, "the sink's intervals count %" PRIu64 " rows, and the captured side %" PRIu64,
                       rows, r->side[SIDE_CAPTURED].rows);
    return 0;
}

/* ---- the destination as it was read ---- */

static bool uses_destination(const struct report *r)
{
    return report_passed(r, CHECK_RECONCILE_DESTINATION) || report_passed(r, CHECK_RECONCILE_ROWS) ||
           report_passed(r, CHECK_REFERENCE_DESTINATION) || report_passed(r, CHECK_DESTINATION_COVERAGE);
}

static int observed(const struct report *r, struct err *err)
{
    const struct observation *o = &r->observation;
    if (!uses_destination(r))
        return 0;
    if (!r->observed)
        return err_set(err, ERR_TROUBLE, "no observation line: what the destination was read as is not in the stream");
    if (!o->stable)
        return err_set(err, ERR_REFUSED, "the observation does not say stable, and a check of the destination passed");
    const struct {
        const char *name, *said, *value;
    } same[] = {{"server_uuid", o->server_uuid, r->scope.server_uuid},
                {"database", o->database, r->scope.database},
                {"table", o->table, r->scope.table},
                {"table_uuid", o->table_uuid, r->scope.table_uuid}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) /* one that was not declared is anybody's */
        if (same[i].value && (!same[i].said || strcmp(same[i].said, same[i].value) != 0))
            return err_set(err, ERR_REFUSED, "the observation's %s is not the scope's", same[i].name);
    const struct report_check *c = &r->check[CHECK_RECONCILE_DESTINATION];
    if (c->made && c->status != STATUS_PASSED)
        return err_set(err, ERR_REFUSED, "reconcile.destination is %s, and what the table holds passed",
                       status_name(c->status));
    return 0;
}

#define QUIET 2 /* barriers after the checkpoint that each sink subtask must show empty */

/* The sink's interval of a subtask that the barrier before it began, where it held no row. */
static const struct interval *quiet_after(const struct report *r, uint64_t subtask, uint64_t previous)
{
    for (const struct report_interval *l = r->interval; l; l = l->next) {
        const struct interval *iv = &l->line.iv;
        if (of_the_sink(r, &l->line) && iv->subtask == subtask && iv->previous == previous && iv->seen == 0 &&
            iv->n_ledger == 0)
            return iv;
    }
    return NULL;
}

/* What a bundle must show of a run whose table is taken whole: it began with nothing, and its sink had stopped writing.
 */
static int run_shown(const struct report *r, struct err *err)
{
    if (r->scope.bundle.start != SCOPE_FROM_RUN)
        return err_set(err, ERR_REFUSED, "the scope does not begin with the run, and destination.coverage passed");
    for (size_t i = 0; i < r->scope.bundle.n_subtasks; i++) {
        uint64_t at = r->scope.bundle.checkpoint;
        for (unsigned k = 0; k < QUIET; k++) {
            const struct interval *quiet = quiet_after(r, r->scope.bundle.subtasks[i], at);
            if (!quiet)
                return err_set(err, ERR_TROUBLE,
                               "no interval line shows sink subtask %" PRIu64
                               " quiet for %d barriers after checkpoint %" PRIu64,
                               r->scope.bundle.subtasks[i], QUIET, r->scope.bundle.checkpoint);
            at = quiet->epoch;
        }
    }
    return 0;
}

static int covered(const struct report *r, struct err *err)
{
    if (!report_passed(r, CHECK_DESTINATION_COVERAGE))
        return 0;
    const struct observation *o = &r->observation;
    if (!scope_complete_table(&r->scope))
        return err_set(err, ERR_REFUSED, "the scope is of selected keys, and destination.coverage passed");
    if (!o->table_whole)
        return err_set(err, ERR_REFUSED, "the observation does not say table_whole, and destination.coverage passed");
    if (!o->has_parts || !o->parts_same)
        return err_set(
            err, ERR_REFUSED,
            "the observation does not say that the table's parts stayed the same, and destination.coverage passed");
    if (!o->has_max_table_rows || report_rows_read(r) > o->max_table_rows)
        return err_set(
            err, ERR_REFUSED,
            "the observation's max_table_rows does not bound what was read, and destination.coverage passed");
    return run_shown(r, err);
}

/* ---- the reference ---- */

/* The accounts of a reference that passed: each complete, the binding's own there. */
static int accounts(const struct report *r, struct err *err)
{
    for (size_t i = 0; i < r->n_accounts; i++) {
        const struct stream_account *a = r->account[i];
        const struct json *reasons = json_get(a->doc, "reasons");
        if (!a->complete || (reasons && reasons->len > 0))
            return err_set(err, ERR_REFUSED,
                           "the account of %.100s is not complete, and a check of the reference passed", a->stage);
    }
    return report_reference(r)
               ? 0
               : err_set(err, ERR_TROUBLE, "no account of a reference: which one was bound is not in the stream");
}

static bool is_other(struct account_number said, int64_t wanted)
{
    return said.has && said.n != (uint64_t)wanted;
}

static bool is_other_text(const char *said, const char *wanted)
{
    return said && wanted && strcmp(said, wanted) != 0;
}

/* What an account says of the ranges, the log and the isolation that it read must not be less than the scope's, nor
 * others: of the reader's account, in the stream or kept by the artifact. */
static int source(const struct stream_account *a, const struct scope_source *s, struct err *err)
{
    const struct account_log *log = account_log(a, s->topic);
    if (a->role == ACCOUNT_READER && is_other_text(a->isolation, s->isolation))
        return err_set(err, ERR_REFUSED,
                       "%s read %.200s under another isolation than the scope's, and a check of the reference passed",
                       a->stage, s->topic);
    if (log && (is_other_text(log->cluster_id, s->cluster_id) || is_other_text(log->topic_id, s->topic_id)))
        return err_set(err, ERR_REFUSED, "%s read another %.200s than the scope's, and a check of the reference passed",
                       a->stage, s->topic);
    for (size_t k = 0; k < s->n_partitions; k++) {
        const struct scope_range *want = &s->partitions[k];
        const struct account_range *v = account_range(a, s->topic, want->partition);
        bool other = v && (is_other(v->to, want->to) || (want->has_from && is_other(v->from, want->from)));
        if (other || (v && ((v->has_complete && !v->complete) || is_other(v->position, want->to))))
            return err_set(err, ERR_REFUSED,
                           "the account of %.200s/%" PRIu64 " is %s, and a check of the reference passed", s->topic,
                           want->partition, other ? "of another range than the scope's" : "not complete");
    }
    return 0;
}

static int sources(const struct report *r, const struct stream_account *a, struct err *err)
{
    for (size_t i = 0; i < r->scope.n_sources; i++)
        if (source(a, &r->scope.sources[i], err) != 0)
            return -1;
    return 0;
}

/* A key is left out of the comparison by the reference that was bound, and by nobody else. */
static int left_out(const struct report *r, const struct stream_account *bound, struct err *err)
{
    if (bound->excluded.n == r->excluded)
        return 0;
    return err_set(err, ERR_REFUSED,
                   "%" PRIu64 " keys are left out and %s left out %" PRIu64 ", and a check of the reference passed",
                   r->excluded, bound->stage, bound->excluded.n);
}

/* What the stream and the artifact keep of the accounts before must not contradict what the artifact says at its end.
 */
static int kept(const struct report *r, uint64_t rows, struct err *err)
{
    const struct stream_account *program = &r->kept[ACCOUNT_PROGRAM];
    const char *why;
    if (!account_adds_up(program, &why))
        return err_set(err, ERR_REFUSED, "the counts of %s cannot be: %s, and a check of the reference passed",
                       program->stage, why);
    if (program->unreadable.n > 0 && !program->on_unreadable)
        return err_set(
            err, ERR_REFUSED,
            "%s counts %" PRIu64
            " records that could not be read, nobody said that they owe nothing, and a check of the reference passed",
            program->stage, program->unreadable.n);
    for (size_t i = 0; i < r->n_accounts; i++)
        if (sources(r, r->account[i], err) != 0)
            return -1;
    if (program->rows.has && program->rows.n != rows)
        return err_set(err, ERR_REFUSED,
                       "%s counts other rows than the %" PRIu64 " of the reference, and a check of it passed",
                       program->stage, rows);
    return sources(r, &r->said, err) == 0 ? sources(r, &r->kept[ACCOUNT_READER], err) : -1;
}

static int reference(const struct report *r, struct err *err)
{
    static const enum check_name need[] = {CHECK_REFERENCE_SCOPE, CHECK_REFERENCE_CAPTURE, CHECK_REFERENCE_DESTINATION};
    const struct report_check *c = &r->check[CHECK_REFERENCE_SCOPE];
    bool any = report_passed(r, CHECK_DESTINATION_COVERAGE) && report_has_reference(r);
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        any = any || report_passed(r, need[i]);
    if (!any)
        return 0;
    if (c->made && c->status != STATUS_PASSED)
        return err_set(err, ERR_REFUSED, "reference.scope is %s, and a comparison with the reference passed",
                       status_name(c->status));
    uint64_t rows = r->side[SIDE_REFERENCE].rows;
    if (accounts(r, err) != 0 || report_side_whole(r, SIDE_REFERENCE, "reference.scope", err) != 0)
        return -1;
    const struct stream_account *bound = report_reference(r);
    if (!bound->rows.has || bound->rows.n != rows)
        return err_set(err, ERR_REFUSED, "the account of %s is not of the %" PRIu64 " rows of the reference",
                       bound->stage, rows);
    return left_out(r, bound, err) == 0 ? kept(r, rows, err) : -1;
}

static int whole(const struct report *r, const struct json *stages, const struct json *shard, struct err *err)
{
    if (makers(r, stages, err) != 0 || question(r, err) != 0 || observed(r, err) != 0 || intervals(r, err) != 0 ||
        covered(r, err) != 0 || reference(r, err) != 0 || report_compared(r, err) != 0)
        return -1;
    return one_of_several(shard, err);
}

int report_whole(const struct report *r, const struct json *stages, const struct json *shard, struct err *err)
{
    if (whole(r, stages, shard, err) == 0)
        return 0;
    return err_cause(err, BECAUSE(err->kind == ERR_REFUSED ? CODE_EVIDENCE_CONTRADICTS : CODE_EVIDENCE_LACKING));
}
