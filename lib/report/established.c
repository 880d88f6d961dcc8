/* SPDX-License-Identifier: Apache-2.0 */
/* What of an answer is only recorded or declared, what is not established, and what all of it rests on. */
#include "report/internal.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS_SHOWN 10

const char *report_implementation(struct view *v, const struct stream_account *a)
{
    const struct json *by = json_get(a->doc, "implementation"), *version = json_get(by, "version");
    const char *name = view_json(v, json_get(by, "name"));
    if (!version || version->type != JSON_STRING || version->len == 0)
        return name;
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s %s", name, view_json(v, version));
    const char *kept = arena_strndup(&v->arena, text.p, text.len);
    buf_free(&text);
    return kept;
}

static bool has_members(const struct json *v)
{
    return v && v->type == JSON_OBJECT && v->len > 0;
}

/* What stands in the reference's file and nobody held against anything. */
static void say_recorded(struct view *v, const struct stream_account *a)
{
    const struct stream_account *reader = &v->report->kept[ACCOUNT_READER];
    const struct json *checked = json_get(a->doc, "verified_by_writer"),
                      *configuration = json_get(json_get(a->doc, "implementation"), "configuration"),
                      *starts = json_get(reader->doc, "run_start_offsets");
    starts = starts ? starts : json_get(json_get(reader->doc, "recorded"), "run_start_offsets");
    view_say(v, &v->recorded, NULL, "computed by %s%s%s%s", report_implementation(v, a),
             reader->client ? ", reading with " : "", reader->client ? view_shown(v, reader->client) : "",
             has_members(configuration) ? "; its configuration is in the JSON report" : "");
    if (checked && checked->type == JSON_ARRAY && checked->len)
        view_say(v, &v->recorded, NULL, "checked by its writer: %s", view_list(v, checked));
    if (v->report->kept[ACCOUNT_SEALER].word)
        view_say(v, &v->recorded, NULL,
                 "that it is complete is the operator's word: no account of its reader stands behind it");
    if (has_members(starts))
        view_say(v, &v->recorded, NULL, "first offsets given by the operator: %s", view_json(v, starts));
}

static void put_id(struct buf *out, const char *id, const char *what, const char *of)
{
    if (id)
        return;
    buf_printf(out, "%s%s of ", out->len ? ", " : "", what);
    msg_mask(out, of, strlen(of));
}

static const char *not_given(struct view *v)
{
    const struct scope *s = &v->report->scope;
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < s->n_sources; i++) {
        put_id(&text, s->sources[i].cluster_id, "cluster id", s->sources[i].topic);
        put_id(&text, s->sources[i].topic_id, "topic id", s->sources[i].topic);
    }
    put_id(&text, s->server_uuid, "server UUID", s->table);
    put_id(&text, s->table_uuid, "table UUID", s->table);
    const char *kept = arena_strndup(&v->arena, text.len ? text.p : "", text.len);
    buf_free(&text);
    return kept;
}

static void say_declared(struct view *v, const struct scope *s)
{
    if (s->declared.complete_table)
        view_say(v, &v->declared, NULL, "the table holds what these ranges owe and nothing else");
    else if (scope_complete_table(s))
        view_say(v, &v->declared, NULL, "the table holds this one run's writes and nothing else");
    if (s->bundle.repeats)
        view_say(v, &v->declared, NULL, "rows that are equal in every column are meant, and their copies count");
    if (s->origin != SCOPE_DECLARED)
        return;
    view_say(v, &v->declared, NULL, "the ranges, the table, its key and columns");
    v->not_given = not_given(v);
    if (*v->not_given)
        view_say(v, &v->declared, NULL, "declared, not established: %s", v->not_given);
}

/* ---- what is not established ---- */

/* What no id holds together: a topic made anew under the same name has offsets of the same numbers. */
static void say_same_topic(struct view *v, const struct scope *scope)
{
    for (size_t i = 0; i < scope->n_sources; i++) {
        const struct scope_source *s = &scope->sources[i];
        if (!s->cluster_id || !s->topic_id)
            view_say(v, &v->not_known, NULL, "that the reference read the %s that the job read: the evidence has no %s",
                     view_shown(v, s->topic),
                     s->topic_id ? "cluster id" : "topic id, and another topic of the name would not be told from it");
    }
}

/* The program's own account says, as the artifact keeps it, that it looked at every record. */
static bool every_record_answered(const struct report *r)
{
    const struct json *checked = json_get(report_reference(r)->doc, "verified_by_writer");
    struct buf text = BUF_INIT;
    bool found = false;
    buf_printf(&text, "%s: " VERIFIED_EVERY_RECORD, r->kept[ACCOUNT_PROGRAM].stage);
    for (const struct json *item = json_first(checked); item && !found; item = json_next(checked, item))
        found = json_is(item, buf_str(&text));
    buf_free(&text);
    return found;
}

/* What the table has beside the columns that were compared: a row that is right may be wrong there. */
static void say_other_columns(struct view *v)
{
    const struct report *r = v->report;
    struct buf text = BUF_INIT;
    size_t at, n = 0;
    for (size_t i = 0; r->observed && i < r->observation.n_columns; i++) {
        const char *name = r->observation.columns[i].name;
        if (columns_find(&r->scope.columns, name, strlen(name), &at))
            continue;
        if (n++ < COLUMNS_SHOWN)
            buf_printf(&text, "%s%s", n > 1 ? ", " : "", view_shown(v, name));
    }
    if (n > COLUMNS_SHOWN)
        buf_printf(&text, " and %zu more", n - COLUMNS_SHOWN);
    if (n > 0)
        view_say(v, &v->not_known, NULL, "the table's columns that were not compared: %s", buf_str(&text));
    buf_free(&text);
}

/* Of rows that are missing it is not known whether anybody has read their records. */
static bool consumers_not_known(const struct report *r)
{
    bool missing = false, looked = false;
    for (const struct report_summary *s = r->summary; s; s = s->next)
        missing = missing || (s->line.relation != RELATION_TRANSFORMATION && s->line.kind_rows[KIND_MISSING] > 0);
    for (size_t i = 0; i < r->n_logs; i++)
        for (size_t k = 0; k < r->log[i].n_groups; k++)
            looked = looked || r->log[i].groups[k].n > 0;
    return missing && !looked && r->has_scope && r->scope.origin == SCOPE_DECLARED;
}

static void say_not_known(struct view *v)
{
    const struct report *r = v->report;
    const struct stream_account *reference = report_reference(r);
    const char *program = r->kept[ACCOUNT_PROGRAM].stage;
    if (r->has_scope && r->scope.origin == SCOPE_DECLARED)
        view_say(
            v, &v->not_known, NULL,
            "what only a bundle can show: which job wrote the table, what it read and handed its sink, and any checkpoint");
    else if (r->has_scope && reference)
        say_same_topic(v, &r->scope);
    if (reference && !v->report->kept[ACCOUNT_SEALER].word && !report_reader_shown(r))
        view_say(v, &v->not_known, NULL,
                 "that the reference's source was read whole: its file keeps no account of a reader's ranges");
    if (reference && program && !every_record_answered(r))
        view_say(v, &v->not_known, NULL,
                 "that the reference's program looked at every record: %s --strict was not asked for",
                 view_shown(v, program));
    if (reference && r->kept[ACCOUNT_PROGRAM].aborted_unreadable.n > 0)
        view_say(v, &v->not_known, NULL,
                 "%" PRIu64 " aborted records that could not be read: no key of theirs was looked for",
                 r->kept[ACCOUNT_PROGRAM].aborted_unreadable.n);
    view_not_kept(v);
    if (consumers_not_known(r))
        view_say(
            v, &v->not_known, NULL,
            "whether a consumer has read the records of the missing rows: no consumer group was looked at that has committed anything (log-look --group; "
            "Spark Structured Streaming commits nothing, its checkpoint has the offsets)");
    if (r->has_scope)
        say_other_columns(v);
    if (r->has_scope && !v->coverage.established)
        view_say(v, &v->not_known, NULL,
                 v->coverage.whole ? "that the table, read whole, holds what it should and nothing else"
                                   : "rows of any other key than those selected");
    if (r->excluded)
        view_say(v, &v->not_known, NULL, "%" PRIu64 " keys that were left out of the comparison with the reference",
                 r->excluded);
    if (r->rows_left)
        view_say(v, &v->not_known, NULL, "%" PRIu64 " rows that came here and no stage compared", r->rows_left);
    if (r->unknown_lines) {
        struct buf types = BUF_INIT;
        msg_mask(&types, r->unknown_types.p, r->unknown_types.len - 1);
        view_say(v, &v->not_known, NULL, "%" PRIu64 " lines of types that are not known here: %s", r->unknown_lines,
                 buf_str(&types));
        buf_free(&types);
    }
}

/* What the operator says of records that nobody could read: whatever they owe, nothing here looked for it. */
static void say_unread(struct view *v)
{
    const struct stream_account *run = &v->report->kept[ACCOUNT_PROGRAM];
    const struct json *places = json_get(run->doc, "unreadable_records");
    if (!report_reference(v->report) || !run->on_unreadable || run->unreadable.n == 0)
        return;
    view_say(v, &v->leads, NULL,
             "assumed, not established: %" PRIu64
             " records that could not be read owe nothing (--unreadable=%s), the first %s",
             run->unreadable.n, ON_UNREADABLE_SKIP, view_json(v, places ? json_first(places) : NULL));
    view_say(v, &v->assumptions, NULL,
             "the operator declares that %" PRIu64 " records which could not be read owe nothing", run->unreadable.n);
}

/* The operator's word, by which a row of anybody else's is a fault. */
static void say_alone(struct view *v)
{
    if (v->report->has_scope && v->report->scope.declared.complete_table)
        view_say(v, &v->leads, NULL,
                 "assumed, not established: the table holds what these ranges owe and nothing else "
                 "(--coverage=complete-table)");
}

/* Two documents that a server prints alike are equal here, and one that it changed is no difference. */
static void say_json(struct view *v)
{
    const struct report *r = v->report;
    for (size_t i = 0; r->has_scope && i < r->scope.columns.n; i++) {
        const struct column *c = &r->scope.columns.at[i];
        if (c->from != FROM_JSON_TEXT)
            continue;
        const char *name = view_shown(v, c->name);
        view_say(
            v, &v->leads, NULL,
            "assumed, not established: column '%s' is compared as the text that the server prints of its JSON (--from=%s:json-text): "
            "what it does not keep of a document as written, such as null members and how a date or a number was spelled, is not compared",
            name, name);
        view_say(v, &v->assumptions, NULL,
                 "the operator takes the text that the server prints of column '%s' for the JSON that was owed", name);
    }
}

static void say_assumptions(struct view *v)
{
    const struct report *r = v->report;
    say_alone(v);
    say_json(v);
    say_unread(v);
    const struct {
        bool holds;
        const char *text;
    } all[] = {
        {true,
         "the server answers for the table truthfully: a row policy or a view in its place cannot be seen from a read"},
        {true,
         "the observation is of one time: later writes, merges and the loss of the server's host are not covered"},
        {r->observed,
         "a table keeps no record of partitions that were dropped and of a truncation: rows lost to them cannot be told from rows that never came"},
        {r->has_scope && r->scope.declared.complete_table,
         "the operator declares that the table holds what these ranges owe and nothing else"},
        {r->has_scope && r->scope.bundle.complete_table,
         "the operator declares that the table holds this one run's writes and nothing else"},
        {r->has_scope && r->scope.bundle.repeats,
         "the operator declares that rows which are equal in every column are meant to stand as often as they came"},
        {!v->coverage.established && !v->coverage.whole,
         "rows of keys that were not selected are not read, and nothing is said about them"},
        {r->bundles.first,
         "the bundle's digests show that nothing changed after it was collected, not who collected it"},
        {report_reference(r),
         "the reference's hashes show that its file is as its writer finished it, not who wrote it, nor that it is independent of the job"},
        {r->has_scope && r->scope.origin == SCOPE_DECLARED,
         "the operator declares the ranges, the table, its key and its columns: no evidence of a job stands behind them"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].holds)
            view_say(v, &v->assumptions, NULL, "%s", all[i].text);
}

void view_established(struct view *v)
{
    v->not_given = "";
    if (report_reference(v->report))
        say_recorded(v, report_reference(v->report));
    if (v->report->has_scope)
        say_declared(v, &v->report->scope);
    say_not_known(v);
    say_assumptions(v);
}
