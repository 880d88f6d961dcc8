/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounts of a reference that passed, those in the stream and those that its
 * file keeps: each whole, of the scope's ranges and log, with figures that fit one
 * another and the rows, and there where somebody says that they were checked.
 */
#include "report/internal.h"

#include <inttypes.h>
#include <string.h>

static const char passed[] = "a check of the reference passed";

/* Every account of the stream, then what the reference's file keeps of each role: NULL past the last. */
static const struct stream_account *account(const struct report *r, size_t i)
{
    if (i < r->n_accounts)
        return r->account[i];
    for (i -= r->n_accounts; i < ACCOUNT_ROLES; i++)
        if (r->kept[i].stage)
            return &r->kept[i];
    return NULL;
}

/* The first account of a role: NULL where there is none. */
static const struct stream_account *of_role(const struct report *r, enum account_role role)
{
    for (size_t i = 0; i < r->n_accounts; i++)
        if (r->account[i]->role == role)
            return r->account[i];
    return r->kept[role].stage ? &r->kept[role] : NULL;
}

/* ---- each on its own ---- */

static int whole(const struct stream_account *a, bool in_stream, struct err *err)
{
    const struct json *reasons = json_get(a->doc, "reasons");
    if (in_stream && (!a->complete || (reasons && reasons->len > 0) || a->cause.code != CODE_NONE))
        return err_set(err, ERR_REFUSED, "the account of %.100s is not complete, and %s", a->stage, passed);
    if ((a->exit.has && a->exit.n != 0) || a->signal.has)
        return err_set(err, ERR_REFUSED, "the program of %.100s ended with %s %" PRIu64 ", and %s", a->stage,
                       a->signal.has ? "signal" : "exit", a->signal.has ? a->signal.n : a->exit.n, passed);
    if (a->failed_rows.n > 0)
        return err_set(err, ERR_REFUSED, "%.100s could not seal %" PRIu64 " rows, and %s", a->stage, a->failed_rows.n,
                       passed);
    return 0;
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
 * others; and a reader that gives ranges gives each that has offsets. */
static int source(const struct stream_account *a, const struct scope_source *s, struct err *err)
{
    const struct account_log *log = account_log(a, s->topic);
    if (a->role == ACCOUNT_READER && is_other_text(a->isolation, s->isolation))
        return err_set(err, ERR_REFUSED, "%s read %.200s under another isolation than the scope's, and %s", a->stage,
                       s->topic, passed);
    if (log && (is_other_text(log->cluster_id, s->cluster_id) || is_other_text(log->topic_id, s->topic_id)))
        return err_set(err, ERR_REFUSED, "%s read another %.200s than the scope's, and %s", a->stage, s->topic, passed);
    for (size_t k = 0; k < s->n_partitions; k++) {
        const struct scope_range *want = &s->partitions[k];
        const struct account_range *v = account_range(a, s->topic, want->partition);
        if (!v && a->n_ranges > 0 && !(want->has_from && want->from == want->to))
            return err_set(err, ERR_REFUSED, "%s gives no account of %.200s/%" PRIu64 ", and %s", a->stage, s->topic,
                           want->partition, passed);
        bool other = v && (is_other(v->to, want->to) || (want->has_from && is_other(v->from, want->from)));
        if (other || (v && ((v->has_complete && !v->complete) || is_other(v->position, want->to))))
            return err_set(err, ERR_REFUSED, "the account of %.200s/%" PRIu64 " is %s, and %s", s->topic,
                           want->partition, other ? "of another range than the scope's" : "not complete", passed);
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

/* ---- against one another ---- */

static bool differ(struct account_number a, struct account_number b)
{
    return a.has && b.has && a.n != b.n;
}

static int figures(const struct report *r, uint64_t rows, struct err *err)
{
    const struct stream_account *reader = of_role(r, ACCOUNT_READER), *program = of_role(r, ACCOUNT_PROGRAM),
                                *sealer = of_role(r, ACCOUNT_SEALER), *bound = report_reference(r);
    uint64_t came = rows, absent = program ? program->absent.n : 0;
    if (sealer && (sealer->superseded.n > 0 || sealer->deleted_keys.n > 0) && !scope_final(&r->scope))
        return err_set(err, ERR_REFUSED,
                       "%s left out %" PRIu64 " rows before the last of their keys, and the scope is of every row",
                       sealer->stage, sealer->superseded.n);
    if (sealer && (__builtin_add_overflow(rows, sealer->superseded.n, &came) ||
                   __builtin_add_overflow(absent, sealer->deleted_keys.n, &absent)))
        return err_set(err, ERR_REFUSED, "%s counts more rows than can be", sealer->stage);
    for (size_t i = 0; account(r, i); i++) {
        const struct stream_account *a = account(r, i);
        if (differ(a->rows, (struct account_number){true, a->role == ACCOUNT_PROGRAM ? came : rows}))
            return err_set(err, ERR_REFUSED,
                           "%s counts other rows than the %" PRIu64 " of the reference, and a check of it passed",
                           a->stage, rows);
    }
    const char *why = "";
    if (program && !account_adds_up(program, &why))
        return err_set(err, ERR_REFUSED, "the counts of %s cannot be: %s, and a check of the reference passed",
                       program->stage, why);
    if (program && program->unreadable.n > 0 && !program->on_unreadable)
        return err_set(
            err, ERR_REFUSED,
            "%s counts %" PRIu64
            " records that could not be read, nobody said that they owe nothing, and a check of the reference passed",
            program->stage, program->unreadable.n);
    if (reader && program && reader->aborted.n != program->aborted.n)
        return err_set(err, ERR_REFUSED,
                       "%s brought %" PRIu64 " aborted records and %s was given %" PRIu64
                       ", and a check of the reference passed",
                       reader->stage, reader->aborted.n, program->stage, program->aborted.n);
    if (program && bound && absent != bound->absent.n)
        return err_set(err, ERR_REFUSED,
                       "%s counts other keys that must be absent than %s, and a check of the reference passed",
                       program->stage, bound->stage);
    if (reader && program && differ(reader->delivered, program->records))
        return err_set(err, ERR_REFUSED,
                       "%s delivered %" PRIu64 " records and %s was given %" PRIu64
                       ", and a check of the reference passed",
                       reader->stage, reader->delivered.n, program->stage, program->records.n);
    return 0;
}

/* ---- what their writers say that they checked ---- */

static bool ranges_there(const struct report *r)
{
    return report_reader_shown(r);
}

static bool records_there(const struct report *r)
{
    const struct stream_account *reader = of_role(r, ACCOUNT_READER), *program = of_role(r, ACCOUNT_PROGRAM);
    return reader && reader->delivered.has && program && program->records.has;
}

static bool rows_there(const struct report *r)
{
    const struct stream_account *program = of_role(r, ACCOUNT_PROGRAM);
    return program && program->rows.has;
}

static bool answers_there(const struct report *r)
{
    return rows_there(r) && account_all_answered(of_role(r, ACCOUNT_PROGRAM));
}

static const struct {
    const char *word;
    bool (*there)(const struct report *);
    const char *what;
} claims[] = {
    {VERIFIED_CLUSTER_ID, ranges_there, "the ranges read"},
    {VERIFIED_TOPIC_ID, ranges_there, "the ranges read"},
    {VERIFIED_POLICY, ranges_there, "the ranges read"},
    {VERIFIED_LOG_START, ranges_there, "the ranges read"},
    {VERIFIED_RANGES, ranges_there, "the ranges read"},
    {VERIFIED_RECORDS, records_there, "the records delivered and given"},
    {VERIFIED_ROWS, rows_there, "the program's rows"},
    {VERIFIED_EVERY_RECORD, answers_there, "an answer to each"},
};

/* `stage: word`, or the word alone. */
static bool claims_it(const struct json *text, const char *word)
{
    size_t n = strlen(word);
    if (text->type != JSON_STRING || text->len < n || memcmp(text->str + text->len - n, word, n) != 0)
        return false;
    return text->len == n || (text->len > n + 1 && memcmp(text->str + text->len - n - 2, ": ", 2) == 0);
}

static int claimed(const struct report *r, const struct stream_account *bound, struct err *err)
{
    const struct json *said = json_get(bound->doc, "verified_by_writer");
    for (const struct json *text = json_first(said); text; text = json_next(said, text))
        for (size_t k = 0; k < sizeof claims / sizeof *claims; k++)
            if (claims_it(text, claims[k].word) && !claims[k].there(r))
                return err_set(err, ERR_REFUSED,
                               "the reference says '%s' of itself and keeps no account of %s, and a check of it passed",
                               claims[k].word, claims[k].what);
    return 0;
}

/* ---- all of them ---- */

/* A figure that was taken out contradicts nothing, so that what each stage always gives must be there. */
static int figures_there(const struct report *r, struct err *err)
{
    for (size_t i = 0; account(r, i); i++) {
        const char *lacks = account_lacks(account(r, i));
        if (lacks)
            return err_set(err, ERR_REFUSED, "the account of %.100s has no %s, and %s", account(r, i)->stage, lacks,
                           passed);
    }
    return 0;
}

static int accounts(const struct report *r, uint64_t rows, struct err *err)
{
    const struct stream_account *bound = report_reference(r), *a;
    for (size_t i = 0; (a = account(r, i)) != NULL; i++)
        if (whole(a, i < r->n_accounts, err) != 0 || sources(r, a, err) != 0)
            return -1;
    if (!bound)
        return err_set(err, ERR_TROUBLE, "no account of a reference: which one was bound is not in the stream");
    if (report_side_whole(r, SIDE_REFERENCE, "reference.scope", err) != 0)
        return -1;
    if (!bound->rows.has || bound->rows.n != rows)
        return err_set(err, ERR_REFUSED, "the account of %s is not of the %" PRIu64 " rows of the reference",
                       bound->stage, rows);
    if (sources(r, &r->said, err) != 0 || figures(r, rows, err) != 0)
        return -1;
    return claimed(r, bound, err) != 0 ? -1 : figures_there(r, err);
}

int report_hold_reference(const struct report *r, struct err *err)
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
    return accounts(r, r->side[SIDE_REFERENCE].rows, err);
}
