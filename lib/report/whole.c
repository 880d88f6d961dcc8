/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a stream that ended whole show what its passed checks are about? A line
 * taken out by hand, or one of another run put in, must not leave an answer that
 * reads as if it were about this one.
 */
#include "report/report.h"

#include <string.h>

static bool passed(const struct report *r, enum check_name c)
{
    return r->check[c].required && r->check[c].made && r->check[c].status == STATUS_PASSED;
}

static bool any_reconciled(const struct report *r)
{
    for (size_t c = CHECK_RECONCILE_SCOPE; c < CHECK_NAMES; c++)
        if (passed(r, (enum check_name)c))
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
            found = name && name->type == JSON_STRING && name->len == stage->len && memcmp(name->str, stage->str, name->len) == 0;
        }
        if (!found)
            return err_set(err, ERR_REFUSED, "a check of '%.*s', which is no stage that the stream went through",
                           stage->len < 100 ? (int)stage->len : 100, stage->str);
    }
    return 0;
}

static int question(const struct report *r, struct err *err)
{
    if (!r->bundles.first && (passed(r, CHECK_BUNDLE_MANIFEST) || passed(r, CHECK_BUNDLE_ARTIFACTS) || passed(r, CHECK_BUNDLE_COMPLETENESS)))
        return err_set(err, ERR_TROUBLE, "no bundle line: which bundle was checked is not in the stream");
    if (r->bundles.first && r->scopes.first && !json_is(json_get(r->bundles.first->doc, "job"), r->scope.job))
        return err_set(err, ERR_REFUSED, "the bundle is of another job than the scope");
    if (!r->scopes.first)
        return any_reconciled(r) ? err_set(err, ERR_TROUBLE, "no scope line: what the checks are about is not in the stream") : 0;
    if (r->columns.first && !scope_fits(&r->scope, &r->cols))
        return err_set(err, ERR_REFUSED, "the columns line is not of the scope's columns");
    return 0;
}

static int observed(const struct report *r, struct err *err)
{
    if (!passed(r, CHECK_RECONCILE_DESTINATION))
        return 0;
    if (!r->observations.first)
        return err_set(err, ERR_TROUBLE, "no observation line: what the destination was read as is not in the stream");
    const struct json *doc = r->observations.first->doc, *stable = json_get(doc, "stable");
    if (!stable || stable->type != JSON_TRUE)
        return err_set(err, ERR_REFUSED, "the observation does not say stable, and reconcile.destination passed");
    const struct {
        const char *name, *value;
    } same[] = {{"server_uuid", r->scope.server_uuid}, {"database", r->scope.database}, {"table", r->scope.table}, {"table_uuid", r->scope.table_uuid}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (!json_is(json_get(doc, same[i].name), same[i].value))
            return err_set(err, ERR_REFUSED, "the observation's %s is not the scope's", same[i].name);
    return 0;
}

static bool no_difference(const struct json *doc)
{
    static const char *const kinds[][2] = {{"missing", "rows"}, {"changed", "rows"}, {"duplicated", "surplus"}, {"unexpected", "rows"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t n;
        if (!json_u64(json_get(json_get(doc, kinds[i][0]), kinds[i][1]), &n) || n != 0)
            return false;
    }
    return true;
}

static const struct {
    enum check_name check;
    enum relation relation;
} compared[] = {{CHECK_RECONCILE_ROWS, RELATION_DELIVERY}, {CHECK_REFERENCE_CAPTURE, RELATION_TRANSFORMATION},
                {CHECK_REFERENCE_DESTINATION, RELATION_REFERENCE_DESTINATION}, {CHECK_DESTINATION_COVERAGE, RELATION_COVERAGE}};

static int rows(const struct report *r, struct err *err)
{
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        const char *check = check_name_text(compared[i].check), *relation = relation_name(compared[i].relation);
        bool found = false;
        if (!passed(r, compared[i].check))
            continue;
        if (r->rows_left)
            return err_set(err, ERR_TROUBLE, "rows came here that no stage compared, and %s passed", check);
        for (const struct report_line *l = r->summaries.first; l; l = l->next) {
            if (!json_is(json_get(l->doc, "relation"), relation))
                continue;
            found = true;
            if (!no_difference(l->doc))
                return err_set(err, ERR_REFUSED, "the summary of %s counts differences, and %s passed", relation, check);
        }
        if (!found)
            return err_set(err, ERR_TROUBLE, "no summary of %s: what %s compared is not in the stream", relation, check);
    }
    return 0;
}

int report_whole(const struct report *r, const struct json *stages, const struct json *shard, struct err *err)
{
    return makers(r, stages, err) != 0 || question(r, err) != 0 || observed(r, err) != 0 || rows(r, err) != 0 ||
                   one_of_several(shard, err) != 0
               ? -1
               : 0;
}
