/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a stream that ended whole show what its passed checks are about? A line
 * taken out by hand, moved, or one of another run put in, must not leave an
 * answer that reads as if it were about this one.
 *
 * What is not there leaves the run undecided (ERR_TROUBLE); what contradicts a
 * check that passed refuses it (ERR_REFUSED).
 */
#include "report/report.h"

#include "report/sides.h"
#include "report/words.h"

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
    return err_set(err, ERR_TROUBLE, "the stream is one shard of several, and the others are not in it");
}

/* A check is the word of a stage that the stream went through. */
static int makers(const struct report *r, const struct json *stages, struct err *err)
{
    for (const struct report_line *l = r->checks.first; l; l = l->next) {
        const struct json *stage = json_get(l->doc, "stage");
        bool found = false;
        for (size_t i = 0; stages && i < stages->len && !found; i++) {
            const struct json *name = json_get(stages->u.items[i], "name");
            found = name && name->type == JSON_STRING && name->len == stage->len &&
                    memcmp(name->str, stage->str, name->len) == 0;
        }
        if (!found)
            return err_set(err, ERR_REFUSED, "a check of '%.*s', which is no stage that the stream went through",
                           stage->len < 100 ? (int)stage->len : 100, stage->str);
    }
    return 0;
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
    if (r->scope.declared && declared(r, err) != 0)
        return -1;
    if (r->bundles.first && !json_is(json_get(r->bundles.first->doc, "job"), r->scope.job))
        return err_set(err, ERR_REFUSED, "the bundle is of another job than the scope");
    if (r->columns.first && !scope_fits(&r->scope, &r->cols))
        return err_set(err, ERR_REFUSED, "the columns line is not of the scope's columns");
    return 0;
}

static bool in_scope(const struct scope *s, uint64_t epoch)
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

/* The sink's intervals: each of the scope's, from each subtask, and together as many rows as the captured side has. */
static int intervals(const struct report *r, const struct report_sides *s, struct err *err)
{
    uint64_t n = 0, rows = 0, want = (uint64_t)r->scope.n_epochs * r->scope.n_subtasks;
    if (r->scope.declared || (!report_passed(r, CHECK_RECONCILE_ROWS) && !report_passed(r, CHECK_REFERENCE_CAPTURE)))
        return 0;
    for (const struct report_line *l = r->intervals.first; l; l = l->next) {
        uint64_t epoch, seen;
        const struct json *capture = json_get(l->doc, "capture"), *e = json_get(l->doc, "epoch"),
                          *v = capture ? json_get(capture, "seen") : NULL;
        if (!json_is(json_get(l->doc, "operator"), r->scope.sink) || !e || !json_u64(e, &epoch) ||
            !in_scope(&r->scope, epoch))
            continue;
        if (!v || !json_u64(v, &seen) || __builtin_add_overflow(rows, seen, &rows))
            return err_set(err, ERR_REFUSED,
                           "line %" PRIu64 ": the interval does not count its rows, and what was captured passed",
                           l->line_no);
        n++;
    }
    if (n != want)
        return err_set(err, n < want ? ERR_TROUBLE : ERR_REFUSED,
                       "%" PRIu64 " interval lines of the sink, and the scope has %" PRIu64, n, want);
    if (report_side_whole(s, SIDE_CAPTURED, "what was captured", err) != 0)
        return -1;
    if (rows != s->of[SIDE_CAPTURED].rows)
        return err_set(err, ERR_REFUSED, "the sink's intervals count %" PRIu64 " rows, and the captured side %" PRIu64,
                       rows, s->of[SIDE_CAPTURED].rows);
    return 0;
}

/* ---- the destination as it was read ---- */

static bool uses_destination(const struct report *r)
{
    return report_passed(r, CHECK_RECONCILE_DESTINATION) || report_passed(r, CHECK_RECONCILE_ROWS) ||
           report_passed(r, CHECK_REFERENCE_DESTINATION) || report_passed(r, CHECK_DESTINATION_COVERAGE);
}

static bool is_true(const struct json *v)
{
    return v && v->type == JSON_TRUE;
}

static int observed(const struct report *r, struct err *err)
{
    if (!uses_destination(r))
        return 0;
    if (!r->observations.first)
        return err_set(err, ERR_TROUBLE, "no observation line: what the destination was read as is not in the stream");
    const struct json *doc = r->observations.first->doc;
    if (!is_true(json_get(doc, "stable")))
        return err_set(err, ERR_REFUSED, "the observation does not say stable, and a check of the destination passed");
    const struct {
        const char *name, *value;
    } same[] = {{"server_uuid", r->scope.server_uuid},
                {"database", r->scope.database},
                {"table", r->scope.table},
                {"table_uuid", r->scope.table_uuid}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (same[i].value &&
            !json_is(json_get(doc, same[i].name), same[i].value)) /* one that was not declared is anybody's */
            return err_set(err, ERR_REFUSED, "the observation's %s is not the scope's", same[i].name);
    const struct report_check *c = &r->check[CHECK_RECONCILE_DESTINATION];
    if (c->made && c->status != STATUS_PASSED)
        return err_set(err, ERR_REFUSED, "reconcile.destination is %s, and what the table holds passed",
                       status_name(c->status));
    return 0;
}

#define QUIET 2 /* barriers after the checkpoint that each sink subtask must show empty */

/* The sink's interval of a subtask that the barrier before it began, where it held no row. */
static const struct json *quiet_after(const struct report *r, uint64_t subtask, uint64_t previous)
{
    for (const struct report_line *l = r->intervals.first; l; l = l->next) {
        const struct json *capture = json_get(l->doc, "capture"), *ledger = json_get(l->doc, "ledger"),
                          *epoch = json_get(l->doc, "epoch");
        const struct json *before = json_get(l->doc, "previous"), *of = json_get(l->doc, "subtask"),
                          *seen = capture ? json_get(capture, "seen") : NULL;
        uint64_t n, at, who;
        if (json_is(json_get(l->doc, "operator"), r->scope.sink) && of && json_u64(of, &who) && who == subtask &&
            before && json_u64(before, &at) && at == previous && epoch && seen && json_u64(seen, &n) && n == 0 &&
            ledger && ledger->type == JSON_ARRAY && ledger->len == 0)
            return epoch;
    }
    return NULL;
}

/* What a bundle must show of a run whose table is taken whole: it began with nothing, and its sink had stopped writing.
 */
static int run_shown(const struct report *r, struct err *err)
{
    if (r->scope.start != SCOPE_FROM_RUN)
        return err_set(err, ERR_REFUSED, "the scope does not begin with the run, and destination.coverage passed");
    for (size_t i = 0; i < r->scope.n_subtasks; i++) {
        uint64_t at = r->scope.checkpoint;
        for (unsigned k = 0; k < QUIET; k++) {
            const struct json *epoch = quiet_after(r, r->scope.subtasks[i], at);
            if (!epoch || !json_u64(epoch, &at))
                return err_set(err, ERR_TROUBLE,
                               "no interval line shows sink subtask %" PRIu64
                               " quiet for %d barriers after checkpoint %" PRIu64,
                               r->scope.subtasks[i], QUIET, r->scope.checkpoint);
        }
    }
    return 0;
}

static int covered(const struct report *r, struct err *err)
{
    if (!report_passed(r, CHECK_DESTINATION_COVERAGE))
        return 0;
    const struct json *doc = r->observations.first->doc;
    uint64_t bound, rows = report_coverage(r).rows;
    if (!r->scope.complete_table)
        return err_set(err, ERR_REFUSED, "the scope is of selected keys, and destination.coverage passed");
    if (!is_true(json_get(doc, "table_whole")))
        return err_set(err, ERR_REFUSED, "the observation does not say table_whole, and destination.coverage passed");
    if (!is_true(json_get(json_get(doc, "parts"), "same")))
        return err_set(
            err, ERR_REFUSED,
            "the observation does not say that the table's parts stayed the same, and destination.coverage passed");
    if (!json_get(doc, "max_table_rows") || !json_u64(json_get(doc, "max_table_rows"), &bound) || rows > bound)
        return err_set(
            err, ERR_REFUSED,
            "the observation's max_table_rows does not bound what was read, and destination.coverage passed");
    return run_shown(r, err);
}

/* ---- the reference ---- */

/* The accounts of a reference that passed: each complete, the binding's own there and of the rows that came. */
static int accounts(const struct report *r, const struct report_line **bound, struct err *err)
{
    *bound = NULL;
    for (const struct report_line *l = r->accounts.first; l; l = l->next) {
        const struct json *stage = json_get(l->doc, "stage"), *reasons = json_get(l->doc, "reasons");
        if (!is_true(json_get(l->doc, "complete")) || (reasons && (reasons->type != JSON_ARRAY || reasons->len > 0)))
            return err_set(err, ERR_REFUSED, "the account of %.*s is not complete, and a check of the reference passed",
                           stage->len < 100 ? (int)stage->len : 100, stage->str);
        if (!json_is(stage, "ref-bind"))
            continue;
        if (*bound)
            return err_set(err, ERR_REFUSED, "line %" PRIu64 ": a second account of ref-bind", l->line_no);
        *bound = l;
    }
    return *bound ? 0
                  : err_set(err, ERR_TROUBLE, "no account of ref-bind: which reference was bound is not in the stream");
}

static const struct json *item_of(const struct json *list, const char *topic, const uint64_t *partition)
{
    for (size_t i = 0; list && list->type == JSON_ARRAY && i < list->len; i++) {
        const struct json *v = list->u.items[i], *p = json_get(v, "partition");
        uint64_t n;
        if (json_is(json_get(v, "topic"), topic) && (!partition || (p && json_u64(p, &n) && n == *partition)))
            return v;
    }
    return NULL;
}

static bool is_other(const struct json *doc, const char *name, int64_t wanted)
{
    const struct json *v = json_get(doc, name);
    int64_t n;
    return v && (!json_i64(v, &n) || n != wanted);
}

static bool is_other_text(const struct json *doc, const char *name, const char *wanted)
{
    const struct json *v = json_get(doc, name);
    return wanted && v && v->type != JSON_NULL && !json_is(v, wanted);
}

/* What an account says of the ranges that it read must not be less than the scope's ranges. */
static int ranges(const struct report *r, const struct json *account, struct err *err)
{
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        const struct scope_source *s = &r->scope.sources[i];
        for (size_t k = 0; k < s->n_partitions; k++) {
            const struct scope_range *want = &s->partitions[k];
            const struct json *v = item_of(json_get(account, "ranges"), s->topic, &want->partition),
                              *whole = json_get(v, "complete");
            bool other = is_other(v, "to", want->to) || (want->has_from && is_other(v, "from", want->from));
            if (other || (whole && whole->type != JSON_TRUE) || is_other(v, "position", want->to))
                return err_set(err, ERR_REFUSED,
                               "the account of %.200s/%" PRIu64 " is %s, and a check of the reference passed", s->topic,
                               want->partition, other ? "of another range than the scope's" : "not complete");
        }
    }
    return 0;
}

/* The same of the log and the isolation: of kafka-read's account, in the stream or kept by ref-seal. */
static int reader(const struct report *r, const struct json *account, struct err *err)
{
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        const struct scope_source *s = &r->scope.sources[i];
        const struct json *log = item_of(json_get(account, "logs"), s->topic, NULL);
        if (is_other_text(account, "isolation", s->isolation))
            return err_set(
                err, ERR_REFUSED,
                "kafka-read read %.200s under another isolation than the scope's, and a check of the reference passed",
                s->topic);
        if (is_other_text(log, "cluster_id", s->cluster_id) || is_other_text(log, "topic_id", s->topic_id))
            return err_set(err, ERR_REFUSED,
                           "kafka-read read another %.200s than the scope's, and a check of the reference passed",
                           s->topic);
    }
    return ranges(r, account, err);
}

/* A key is left out of the comparison by the reference that was bound, and by nobody else. */
static int left_out(const struct report *r, const struct json *bound, struct err *err)
{
    const struct json *said = json_get(bound, "excluded");
    uint64_t n = 0;
    if ((said && !json_u64(said, &n)) || n != r->excluded)
        return err_set(err, ERR_REFUSED,
                       "%" PRIu64 " keys are left out and ref-bind left out %" PRIu64
                       ", and a check of the reference passed",
                       r->excluded, n);
    return 0;
}

/* What the artifact keeps of the accounts before it must not contradict what it says at its end. */
static int kept(const struct report *r, const struct json *bound, uint64_t rows, struct err *err)
{
    const struct json *recorded = json_get(bound, "recorded"), *made = json_get(json_get(recorded, "ref-run"), "rows");
    uint64_t n;
    for (const struct report_line *l = r->accounts.first; l; l = l->next)
        if ((json_is(json_get(l->doc, "stage"), "kafka-read") ? reader : ranges)(r, l->doc, err) != 0)
            return -1;
    if (made && (!json_u64(made, &n) || n != rows))
        return err_set(err, ERR_REFUSED,
                       "ref-run counts other rows than the %" PRIu64 " of the reference, and a check of it passed",
                       rows);
    return ranges(r, recorded, err) == 0 ? reader(r, json_get(recorded, "kafka-read"), err) : -1;
}

static int reference(const struct report *r, const struct report_sides *s, struct err *err)
{
    static const enum check_name need[] = {CHECK_REFERENCE_SCOPE, CHECK_REFERENCE_CAPTURE, CHECK_REFERENCE_DESTINATION};
    const struct report_check *c = &r->check[CHECK_REFERENCE_SCOPE];
    const struct report_line *bound;
    bool any = report_passed(r, CHECK_DESTINATION_COVERAGE) && report_has_reference(r);
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        any = any || report_passed(r, need[i]);
    if (!any)
        return 0;
    if (c->made && c->status != STATUS_PASSED)
        return err_set(err, ERR_REFUSED, "reference.scope is %s, and a comparison with the reference passed",
                       status_name(c->status));
    const struct report_side *side = &s->of[SIDE_REFERENCE];
    uint64_t rows;
    if (accounts(r, &bound, err) != 0 || report_side_whole(s, SIDE_REFERENCE, "reference.scope", err) != 0)
        return -1;
    if (!json_get(bound->doc, "rows") || !json_u64(json_get(bound->doc, "rows"), &rows) || rows != side->rows)
        return err_set(err, ERR_REFUSED, "the account of ref-bind is not of the %" PRIu64 " rows of the reference",
                       side->rows);
    return left_out(r, bound->doc, err) == 0 ? kept(r, bound->doc, rows, err) : -1;
}

int report_whole(const struct report *r, const struct json *stages, const struct json *shard, struct err *err)
{
    struct report_sides sides;
    if (makers(r, stages, err) != 0 || question(r, err) != 0 || observed(r, err) != 0 ||
        report_sides(r, &sides, err) != 0)
        return -1;
    if (intervals(r, &sides, err) != 0 || covered(r, err) != 0 || reference(r, &sides, err) != 0 ||
        report_compared(r, &sides, err) != 0)
        return -1;
    return one_of_several(shard, err);
}
