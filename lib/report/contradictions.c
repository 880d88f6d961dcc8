/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a stream that ended whole show what its passed checks are about? A line
 * taken out by hand, moved, or one of another run put in, must not leave an
 * answer that reads as if it were about this one.
 *
 * What is not there leaves the run undecided (ERR_TROUBLE); what contradicts a
 * check that passed refuses it (ERR_REFUSED).
 */
#include "report/internal.h"

#include "base/hash.h"

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

static int said_by(const struct map *names, const char *what, const char *stage, struct err *err)
{
    if (map_find(names, stage, strlen(stage)))
        return 0;
    return err_set(err, ERR_REFUSED, "%s of '%.100s', which is no stage that the stream went through", what, stage);
}

/* What a check or an account says is the word of a stage that the stream went through. */
static int makers(const struct report *r, struct err *err)
{
    struct map names = MAP_INIT;
    int rc = 0;
    for (const struct json *item = json_first(r->stages); item; item = json_next(r->stages, item)) {
        const struct json *name = json_get(item, "name");
        if (name && name->type == JSON_STRING)
            map_add(&names, name->str, name->len, 0);
    }
    for (const struct report_made *m = r->made; m && rc == 0; m = m->next)
        rc = said_by(&names, "a check", m->line.stage, err);
    for (size_t i = 0; i < r->n_accounts && rc == 0; i++)
        rc = said_by(&names, "an account", r->account[i]->stage, err);
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
        if ((of_a_bundle[i] != CHECK_DESTINATION_COVERAGE || !scope_complete_table(&r->scope)) &&
            r->check[of_a_bundle[i]].made && r->check[of_a_bundle[i]].status == STATUS_PASSED)
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
        return err_set(err, ERR_REFUSED, "the columns are not the scope's");
    return 0;
}

/* ---- keys left out ---- */

/* No document of this version has windows. */
static bool has_windows(const struct report *r)
{
    (void)r;
    return false;
}

/* Of rows of one version nobody can tell which one FINAL shows. */
static bool is_final(const struct report *r)
{
    return has_windows(r) || (r->observed && r->observation.final);
}

/* No scope of this version is of a source with a position. */
static bool has_position(const struct report *r)
{
    (void)r;
    return false;
}

/* What must be there for a key to be left out. */
static const struct {
    bool (*backed)(const struct report *);
    const char *wanting;
} left_out[EXCLUDED_TYPES] = {
    [EXCLUDED_OPEN] = {has_windows, "the scope has no windows"},
    [EXCLUDED_UNDETERMINED] = {is_final, "neither windows of the scope nor the table's engine make it so"},
    [EXCLUDED_EXPIRED] = {report_has_expiry, "the table has no TTL that makes it so"},
    [EXCLUDED_MOVED_ON] = {has_position, "no position of a source is known"},
};

/* A key is left out of a comparison that passed only where the scope or the table as found makes it so. */
static int excluded(const struct report *r, struct err *err)
{
    const struct stream_account *bound = report_reference(r);
    for (size_t i = 0; i < EXCLUDED_TYPES && any_reconciled(r); i++)
        if (r->excluded_why[i] && !left_out[i].backed(r))
            return err_set(err, ERR_REFUSED, "%" PRIu64 " keys are left out as '%s', and %s", r->excluded_why[i],
                           excluded_why_name((enum excluded_why)i), left_out[i].wanting);
    if (r->excluded_why[EXCLUDED_UNDETERMINED] && !has_windows(r) && report_passed(r, CHECK_REFERENCE_DESTINATION))
        return err_set(err, ERR_REFUSED, "%" PRIu64 " keys are undetermined, and %s passed",
                       r->excluded_why[EXCLUDED_UNDETERMINED], check_name_text(CHECK_REFERENCE_DESTINATION));
    if (any_reconciled(r) && bound && bound->excluded.n > r->excluded)
        return err_set(err, ERR_REFUSED, "%s left out %" PRIu64 " keys, and the stream names %" PRIu64, bound->stage,
                       bound->excluded.n, r->excluded);
    return 0;
}

/* Of the keys that must be absent, the stream has those that the reference gave. */
static int absent(const struct report *r, struct err *err)
{
    const struct stream_account *bound = report_reference(r);
    uint64_t named = 0;
    for (size_t i = 0; i < ABSENT_TYPES; i++)
        named += r->absent[i];
    if (!any_reconciled(r) || named == (bound ? bound->absent.n : 0))
        return 0;
    return err_set(err, ERR_REFUSED,
                   "the reference has %" PRIu64 " keys that must be absent, and the stream names %" PRIu64,
                   bound ? bound->absent.n : 0, named);
}

/* ---- all of it ---- */

/* What is held, in this order: the first that does not hold is said. */
static int (*const rules[])(const struct report *, struct err *) = {
    makers,           question, report_hold_observation, report_hold_intervals,   report_hold_coverage,
    excluded,         absent,   report_hold_reference,   report_hold_comparisons, report_hold_counts,
    report_hold_times};

int report_whole(const struct report *r, const struct json *shard, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && rc == 0; i++)
        rc = rules[i](r, err);
    if (rc == 0)
        rc = one_of_several(shard, err);
    return rc == 0
               ? 0
               : err_cause(err, BECAUSE(err->kind == ERR_REFUSED ? CODE_EVIDENCE_CONTRADICTS : CODE_EVIDENCE_LACKING));
}
