/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observation: of the scope's table, read by settings that leave no row out,
 * to its end, while nothing in it moved; and of the whole of it, where a check is
 * of the whole.
 */
#include "report/internal.h"

#include "base/hash.h"
#include "stream/neutral.h"

#include <string.h>

static const char a_check[] = "a check of the destination passed";

/* ---- on its own ---- */

static bool unstable(const struct report *r)
{
    return !r->observation.stable || r->observation.n_unstable > 0;
}

static bool mutating(const struct report *r)
{
    for (size_t i = 0; i < r->observation.n_mutations; i++)
        if (!r->observation.mutations[i].done)
            return true;
    return false;
}

static bool endless(const struct report *r)
{
    return !r->observation.started.has || !r->observation.finished.has;
}

static bool backwards(const struct report *r)
{
    const struct observed_clocks *a = &r->observation.started, *b = &r->observation.finished;
    return b->client_ms < a->client_ms || b->server_ms < a->server_ms;
}

static bool unasked(const struct report *r)
{
    for (size_t i = 0; i < r->observation.n_reads; i++)
        if (r->observation.reads[i].rows > 0 && r->observation.reads[i].queries == 0)
            return true;
    return false;
}

/* A key that no column can hold is a row that the table lacks: whichever owed side has it differs from the table. */
static bool unfit_found(const struct report *r)
{
    bool passed = true;
    for (size_t i = 0; i < RELATION_TYPES; i++) {
        enum check_name c = relation_table[i].check;
        if (relation_table[i].found == SIDE_READ1 && r->check[c].made)
            passed = passed && r->check[c].status == STATUS_PASSED;
    }
    return r->observation.unfit_keys > 0 && passed &&
           (report_passed(r, CHECK_RECONCILE_ROWS) || report_passed(r, CHECK_REFERENCE_DESTINATION));
}

static const struct {
    bool (*wrong)(const struct report *);
    const char *words;
} rules[] = {
    {unstable, "does not say stable"},
    {mutating, "shows a mutation that was running"},
    {endless, "does not say when it began and ended"},
    {backwards, "ends before it began"},
    {unasked, "counts rows of no query"},
    {unfit_found, "counts owed keys that no column can hold"},
};

/* ---- how it was read ---- */

/* What a reader sends beside the neutral settings; NULL: any value. */
static const struct observed_setting others[] = {{"wait_end_of_query", "1"},
                                                 {"max_execution_time", NULL},
                                                 {"max_result_rows", NULL},
                                                 {"max_query_size", NULL},
                                                 {REPLICA_SETTING, "1"}};

static int settings(const struct observation *o, struct err *err)
{
    size_t always = 0, seen = 0;
    for (size_t i = 0; i < neutral_settings_n; i++)
        always += neutral_settings[i].always;
    for (size_t i = 0; i < o->n_settings; i++) {
        const struct observed_setting *s = &o->settings[i];
        const char *value = neutral_value(s->name);
        bool known = value != NULL;
        for (size_t k = 0; k < sizeof others / sizeof *others && !known; k++)
            if (strcmp(others[k].name, s->name) == 0) {
                known = true;
                value = others[k].value;
            }
        if (!known || (value && strcmp(value, s->value) != 0))
            return err_set(err, ERR_REFUSED, "the observation was made with %.100s, %s, and %s", s->name,
                           known ? "which there changes the rows" : "a setting that is not known here", a_check);
        for (size_t k = 0; k < neutral_settings_n; k++)
            seen += neutral_settings[k].always && strcmp(neutral_settings[k].name, s->name) == 0;
    }
    return seen == always
               ? 0
               : err_set(err, ERR_TROUBLE, "the observation does not say with which settings the table was read");
}

static bool reads_json(const struct report *r)
{
    bool reads = false;
    for (size_t i = 0; r->has_scope && i < r->scope.columns.n; i++)
        reads = reads || r->scope.columns.at[i].from == FROM_JSON_TEXT;
    return reads;
}

/* A JSON is its text only where the server was asked for that. */
static int as_text(const struct report *r, struct err *err)
{
    const struct observation *o = &r->observation;
    const char *need = reads_json(r) ? json_as_text(o->format ? o->format : "") : NULL;
    bool sent = false;
    for (size_t i = 0; need && i < o->n_settings; i++)
        sent = sent || strcmp(o->settings[i].name, need) == 0;
    return !need || sent ? 0 : err_set(err, ERR_REFUSED, "the observation was made without %s, and %s", need, a_check);
}

static bool same_type(const struct column *c, const char *found)
{
    struct type type;
    bool same = type_parse(found, strlen(found), &type, NULL) == 0 && type_same(&type, &c->type);
    type_free(&type);
    return same;
}

/* Each of the scope's columns is the table's, of its type. */
static int columns(const struct report *r, struct err *err)
{
    const struct observation *o = &r->observation;
    struct map names = MAP_INIT;
    int rc = 0;
    for (size_t i = 0; i < o->n_columns && rc == 0; i++)
        if (!map_add(&names, o->columns[i].name, strlen(o->columns[i].name), i))
            rc = err_set(err, ERR_REFUSED, "the observation has two columns of one name, and %s", a_check);
    for (size_t i = 0; r->has_scope && i < r->scope.columns.n && rc == 0; i++) {
        const struct column *c = &r->scope.columns.at[i];
        const uint64_t *found = map_find(&names, c->name, c->name_len);
        if (!found || !same_type(c, o->columns[*found].type))
            rc = err_set(err, ERR_REFUSED, "the observation %s the scope's column '%.100s', and %s",
                         found ? "has another type of" : "does not have", c->name, a_check);
    }
    map_free(&names);
    return rc;
}

/* ---- all of it ---- */

static bool uses_destination(const struct report *r)
{
    return report_passed(r, CHECK_RECONCILE_DESTINATION) || report_passed(r, CHECK_RECONCILE_ROWS) ||
           report_passed(r, CHECK_REFERENCE_DESTINATION) || report_passed(r, CHECK_DESTINATION_COVERAGE);
}

static int same_table(const struct report *r, struct err *err)
{
    const struct observation *o = &r->observation;
    const struct {
        const char *name, *said, *value;
    } same[] = {{"server_uuid", o->server_uuid, r->scope.server_uuid},
                {"database", o->database, r->scope.database},
                {"table", o->table, r->scope.table},
                {"table_uuid", o->table_uuid, r->scope.table_uuid}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) /* one that was not declared is anybody's */
        if (same[i].value && (!same[i].said || strcmp(same[i].said, same[i].value) != 0))
            return err_set(err, ERR_REFUSED, "the observation's %s is not the scope's", same[i].name);
    return 0;
}

int report_hold_observation(const struct report *r, struct err *err)
{
    const struct report_check *c = &r->check[CHECK_RECONCILE_DESTINATION];
    if (!uses_destination(r))
        return 0;
    if (!r->observed)
        return err_set(err, ERR_TROUBLE, "no observation line: what the destination was read as is not in the stream");
    if (c->made && c->status != STATUS_PASSED)
        return err_set(err, ERR_REFUSED, "reconcile.destination is %s, and what the table holds passed",
                       status_name(c->status));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong(r))
            return err_set(err, ERR_REFUSED, "the observation %s, and %s", rules[i].words, a_check);
    if (report_hold_engine(r, err) != 0 || report_hold_expiry(r, err) != 0 || report_hold_definitions(r, err) != 0 ||
        same_table(r, err) != 0 || settings(&r->observation, err) != 0 || as_text(r, err) != 0)
        return -1;
    return columns(r, err);
}

/* ---- the whole table ---- */

/* The ranges of a declared scope are all that the logs ever held. */
static int declared_alone(const struct report *r, struct err *err)
{
    struct cause cause = CAUSE_INIT;
    struct buf why = BUF_INIT;
    int rc = 0;
    if (!scope_looks_cover(&r->looks, &r->scope, r->observation.line_no, &cause, &why))
        rc = err_set(err, ERR_REFUSED, "%s, and destination.coverage passed", buf_str(&why));
    buf_free(&why);
    return rc;
}

int report_hold_coverage(const struct report *r, struct err *err)
{
    static const char passed[] = "destination.coverage passed";
    const struct observation *o = &r->observation;
    if (!report_passed(r, CHECK_DESTINATION_COVERAGE))
        return 0;
    if (!scope_complete_table(&r->scope))
        return err_set(err, ERR_REFUSED, "the scope is of selected keys, and %s", passed);
    if (!o->table_whole)
        return err_set(err, ERR_REFUSED, "the observation does not say table_whole, and %s", passed);
    if (!o->has_parts || !o->parts_same || o->parts_before != o->parts_after)
        return err_set(err, ERR_REFUSED, "the observation does not say that the table's parts stayed the same, and %s",
                       passed);
    if (!o->has_max_table_rows || report_rows_read(r) > o->max_table_rows)
        return err_set(err, ERR_REFUSED, "the observation's max_table_rows does not bound what was read, and %s",
                       passed);
    if (r->scope.origin == SCOPE_DECLARED)
        return declared_alone(r, err);
    /* It began with nothing, and its sink had stopped writing. */
    if (r->scope.bundle.start != SCOPE_FROM_RUN)
        return err_set(err, ERR_REFUSED, "the scope does not begin with the run, and %s", passed);
    return report_hold_quiet(r, err);
}
