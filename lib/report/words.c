/* SPDX-License-Identifier: Apache-2.0 */
/* What the forms of the report say in the same words: the kind of assurance, the method, the assumptions, what failed
 * first. */
#include "report/words.h"
#include "stream/check.h"

#include <inttypes.h>
#include <string.h>

const char *const report_method[] = {
    "whole rows are compared as multisets, key by key, as canonical cells of version clink-canonical-cells-v1",
    "equal means equal bytes; counts, totals and hashes decide nothing",
    "the destination is read twice, and its identity, definition and mutations before and after",
    "each relation is decided by itself: reference against captured, captured against table, reference against table",
    NULL,
};

void report_assumptions(const struct report *r, void (*fn)(void *ctx, const char *text), void *ctx)
{
    struct report_coverage c = report_coverage(r);
    fn(ctx,
       "the server answers for the table truthfully: a row policy or a view in its place cannot be seen from a read");
    fn(ctx, "the observation is of one time: later writes, merges and the loss of the server's host are not covered");
    if (r->has_scope && r->scope.complete_table)
        fn(ctx, "the operator declares that the table holds this one run's writes and nothing else");
    if (!c.established)
        fn(ctx, "rows of keys that were not selected are not read, and nothing is said about them");
    if (r->bundles.first)
        fn(ctx, "the bundle's digests show that nothing changed after it was collected, not who collected it");
    if (report_reference(r))
        fn(ctx,
           "the reference's hashes show that its file is as its writer finished it, not who wrote it, nor that it is independent of the job");
    if (r->has_scope && r->scope.declared)
        fn(ctx,
           "the operator declares the ranges, the table, its key and its columns: no evidence of a job stands behind them");
}

const char *report_assurance(const struct report *r)
{
    bool destination = false, recorded = false;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        if (!r->required[i])
            continue;
        if (i >= CHECK_RECONCILE_SCOPE)
            destination = true;
        else
            recorded = true;
    }
    if (r->has_scope && r->scope.declared)
        return "this is an audit of a declared range: the observed table against what a reference computed outside the job, only as "
               "independent as that reference is. It says nothing of any job, checkpoint or delivery";
    if (destination && r->required[CHECK_REFERENCE_DESTINATION])
        return "of the three assurances this is the third, the observed destination against what one checkpoint owed it, and the audit "
               "adds: what the job handed its sink and what the table holds, against a reference computed outside the job, only as "
               "independent as that is. It says nothing of what the job's settings promise, nor that the recorded execution replays or "
               "conforms";
    if (destination)
        return "of the three assurances this is the third: the observed destination against what one checkpoint owed it. It says "
               "nothing of what the job's settings promise, nor that the recorded execution replays or conforms, nor that the job "
               "computed the right rows";
    if (recorded)
        return "of the three assurances this is the second: that the recorded evidence is intact and consistent. It says nothing of "
               "what the job's settings promise, nor of any destination";
    return "no assurance: nothing was required";
}

const char *report_means(const struct report *r, enum check_name c)
{
    bool declared = r->has_scope && r->scope.declared;
    if (declared && c == CHECK_RECONCILE_SCOPE)
        return "the declaration is whole: every range has both ends, and the key and the columns are of types that can be compared";
    if (declared && c == CHECK_RECONCILE_DESTINATION && !r->scope.server_uuid && !r->scope.table_uuid)
        return "the table has the declared name and columns, is a plain MergeTree without TTL, and stood still while it was read";
    if (c == CHECK_RECONCILE_ROWS && r->has_scope && r->scope.repeats)
        return "the table holds exactly the scope's rows, equal ones as often as they are owed, value for value, and two reads agreed";
    return check_name_means(c);
}

static bool is_open(const struct report *r, enum check_name c, bool failed, bool following)
{
    const struct report_check *k = &r->check[c];
    bool follows = code_follows(k->cause.code) || k->cause.code == CODE_CHECK_NOT_MADE;
    return r->required[c] && follows == following && (failed ? k->status == STATUS_FAILED : k->status != STATUS_PASSED);
}

static enum check_name first_of(const struct report *r, bool failed, bool following)
{
    enum check_name first = CHECK_NAMES;
    for (size_t i = 0; i < CHECK_NAMES; i++)
        if (relation_of_check((enum check_name)i) == RELATION_TYPES &&
            is_open(r, (enum check_name)i, failed, following) &&
            (first == CHECK_NAMES || r->check[i].line_no < r->check[first].line_no))
            first = (enum check_name)i;
    for (size_t i = 0; i < RELATION_TYPES && first == CHECK_NAMES; i++)
        if (is_open(r, relation_table[relation_order[i]].check, failed, following))
            first = relation_table[relation_order[i]].check;
    return first;
}

enum check_name report_first(const struct report *r, bool failed)
{
    enum check_name first = first_of(r, failed, false);
    return first < CHECK_NAMES ? first : first_of(r, failed, true);
}

/* The first stop (that refused). */
static bool stop_cause(const struct report *r, bool refused, struct cause *out)
{
    for (const struct report_line *l = r->stops.first; l; l = l->next)
        if (!refused || json_is(json_get(l->doc, "kind"), "refused"))
            return cause_parse(l->doc, "stop", out, NULL) == 0;
    if (r->input.kind != ERR_NONE)
        *out = code_of_err(&r->input, CODE_LINE_MALFORMED);
    return r->input.kind != ERR_NONE;
}

struct cause report_cause(const struct report *r)
{
    struct cause cause = CAUSE_INIT;
    if (r->exit == OWED_OK)
        return cause;
    if (r->exit != OWED_FAILED && stop_cause(r, r->exit == OWED_REFUSED, &cause))
        return cause;
    if (!report_any_required(r))
        return *BECAUSE(CODE_NOTHING_REQUIRED);
    return r->check[report_first(r, r->exit == OWED_FAILED)].cause;
}

const struct json *report_reason(const struct report *r, enum check_name c)
{
    const char *name = check_name_text(c), *status = status_name(r->check[c].status);
    for (const struct report_line *l = r->checks.first; l; l = l->next) {
        const struct json *reason = json_get(l->doc, "reason");
        if (json_is(json_get(l->doc, "name"), name) && json_is(json_get(l->doc, "status"), status) && reason &&
            reason->len)
            return reason;
    }
    return NULL;
}

static uint64_t sum(const struct report *r, enum relation relation, const char *a, const char *b)
{
    uint64_t n = 0;
    for (const struct report_line *l = r->summaries.first; l; l = l->next)
        if (json_is(json_get(l->doc, "relation"), relation_name(relation)))
            n += report_number(l->doc, a, b);
    return n;
}

/* Duplicates alone are within an at-least-once guarantee; nothing else is. */
static void put_delivery(const struct report *r, struct buf *out)
{
    uint64_t surplus = sum(r, RELATION_DELIVERY, "duplicated", "surplus"),
             unexplained = sum(r, RELATION_DELIVERY, "explained", "unexplained");
    bool others = sum(r, RELATION_DELIVERY, "missing", "rows") || sum(r, RELATION_DELIVERY, "changed", "rows") ||
                  sum(r, RELATION_DELIVERY, "unexpected", "rows");
    if (!surplus || others) {
        buf_adds(out, relation_table[RELATION_DELIVERY].failed);
        return;
    }
    buf_adds(out, "the table holds every row that the sink received, some more than once; ");
    if (unexplained)
        buf_printf(out, "nothing explains %" PRIu64 " of the %" PRIu64 " surplus copies", unexplained, surplus);
    else
        buf_adds(out, "a resend or a restore's replay explains each surplus copy");
}

static bool is(const struct report *r, enum check_name c, enum status s)
{
    return r->check[c].made && r->check[c].status == s;
}

void report_meaning(const struct report *r, enum check_name c, struct buf *out)
{
    bool delivered = is(r, CHECK_RECONCILE_ROWS, STATUS_PASSED), lost = is(r, CHECK_RECONCILE_ROWS, STATUS_FAILED);
    bool computed = is(r, CHECK_REFERENCE_CAPTURE, STATUS_PASSED);
    switch (c) {
    case CHECK_REFERENCE_CAPTURE:
        buf_adds(out, relation_table[RELATION_TRANSFORMATION].failed);
        buf_adds(out, delivered ? "; what it computed was delivered"
                      : lost    ? "; and the table does not hold what it computed"
                                : "");
        break;
    case CHECK_RECONCILE_ROWS:
        put_delivery(r, out);
        buf_adds(out, computed ? "; what it received is what the reference computes" : "");
        break;
    default:
        if (relation_of_check(c) < RELATION_TYPES)
            buf_adds(out, relation_table[relation_of_check(c)].failed);
        break;
    }
}
