/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an answer is about: the scope and its ranges, the reference, what was
 * observed and how much of the table that covers; and what of it was verified
 * here, is only recorded or declared, or is not established.
 */
#include "report/words.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS_SHOWN 10

/* ---- printing ---- */

void report_put(struct buf *out, const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        buf_adds(out, "-");
    else if (v->type == JSON_STRING)
        msg_mask(out, v->str, v->len);
    else
        msg_mask(out, v->raw, v->raw_len);
}

void report_put_member(struct buf *out, const struct json *doc, const char *name)
{
    report_put(out, json_get(doc, name));
}

uint64_t report_number(const struct json *doc, const char *a, const char *b)
{
    uint64_t v = 0;
    const struct json *at = b ? json_get(json_get(doc, a), b) : json_get(doc, a);
    return at && json_u64(at, &v) ? v : 0;
}

static bool is_list(const struct json *v)
{
    return v && v->type == JSON_ARRAY;
}

void report_put_texts(struct buf *out, const struct json *list)
{
    for (size_t i = 0; is_list(list) && i < list->len; i++) {
        buf_adds(out, i ? ", " : "");
        report_put(out, list->u.items[i]);
    }
}

static void put_s(struct buf *out, const char *s)
{
    msg_mask(out, s, strlen(s));
}

/* ---- gathered from several lines ---- */

const struct account *report_reference(const struct report *r)
{
    for (size_t i = 0; i < r->n_accounts; i++)
        if (r->account[i]->role == ACCOUNT_BINDER)
            return r->account[i];
    return NULL;
}

const struct account_range *report_range(const struct report *r, const char *topic, uint64_t partition,
                                         bool *only_recorded)
{
    const struct account_range *found = NULL;
    *only_recorded = false;
    for (size_t i = 0; i < r->n_accounts && !found; i++)
        found = account_range(r->account[i], topic, partition);
    *only_recorded = !found;
    return found ? found : account_range(&r->kept[ACCOUNT_READER], topic, partition);
}

struct report_coverage report_coverage(const struct report *r)
{
    const struct report_check *check = &r->check[CHECK_DESTINATION_COVERAGE];
    struct report_coverage c = {.asked = r->required[CHECK_DESTINATION_COVERAGE],
                                .established = r->required[CHECK_DESTINATION_COVERAGE] && check->made &&
                                               check->status == STATUS_PASSED};
    if (!r->observations.first)
        return c;
    const struct json *doc = r->observations.first->doc, *reads = json_get(doc, "reads");
    c.read = is_list(reads) && reads->len > 0;
    c.keys = report_number(doc, "keys", NULL);
    c.rows = c.read ? report_number(reads->u.items[0], "rows", NULL) : 0;
    return c;
}

static void put_id(struct buf *out, const char *id, const char *what, const char *of)
{
    if (id)
        return;
    buf_adds(out, out->len ? ", " : "");
    buf_printf(out, "%s of ", what);
    put_s(out, of);
}

void report_not_given(const struct report *r, struct buf *out)
{
    const struct scope *s = &r->scope;
    if (!r->has_scope || !s->declared)
        return;
    for (size_t i = 0; i < s->n_sources; i++) {
        put_id(out, s->sources[i].cluster_id, "cluster id", s->sources[i].topic);
        put_id(out, s->sources[i].topic_id, "topic id", s->sources[i].topic);
    }
    put_id(out, s->server_uuid, "server UUID", s->table);
    put_id(out, s->table_uuid, "table UUID", s->table);
}

/* ---- the head of the text ---- */

/* What was read of a range: `: 1890 records (3 null), 10 offsets not delivered (7 aborted, 3 markers or absent)`. */
static void put_figures(struct buf *out, const struct report *r, const char *topic, uint64_t partition)
{
    bool only_recorded;
    const struct account_range *v = report_range(r, topic, partition, &only_recorded);
    if (!v)
        return;
    buf_printf(out, ": %" PRIu64 " records", v->delivered.n);
    if (v->null_values.n)
        buf_printf(out, " (%" PRIu64 " null)", v->null_values.n);
    buf_printf(out, ", %" PRIu64 " offsets not delivered", v->not_delivered.n);
    if (v->aborted.has)
        buf_printf(out, " (%" PRIu64 " aborted, %" PRIu64 " markers or absent)", v->aborted.n, v->marker_or_absent.n);
    if (v->has_complete && !v->complete) {
        buf_adds(out, ", INCOMPLETE: ");
        put_s(out, v->reason);
    }
    buf_adds(out, only_recorded ? ", as the reference records" : "");
}

static void put_sources(struct buf *out, const struct report *r)
{
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        const struct scope_source *s = &r->scope.sources[i];
        for (size_t k = 0; k < s->n_partitions; k++) {
            const struct scope_range *p = &s->partitions[k];
            buf_adds(out, "              ");
            put_s(out, s->topic);
            buf_printf(out, "/%" PRIu64 " offsets [", p->partition);
            if (p->has_from)
                buf_printf(out, "%" PRId64, p->from);
            else
                buf_addc(out, '-');
            buf_printf(out, ", %" PRId64 ")", p->to);
            put_figures(out, r, s->topic, p->partition);
            buf_addc(out, '\n');
        }
    }
}

static void put_scope(struct buf *out, const struct report *r)
{
    const struct scope *s = &r->scope;
    const struct json *doc = json_get(r->scopes.first->doc, "document");
    buf_adds(out, "asked         does ");
    put_s(out, s->database);
    buf_addc(out, '.');
    put_s(out, s->table);
    if (s->declared) {
        buf_adds(
            out,
            " hold exactly what these offsets owe it\nscope         declared by the operator, not taken from a bundle\n");
        put_sources(out, r);
        return;
    }
    buf_printf(out, " hold exactly what checkpoint %" PRIu64 " of job ", s->checkpoint);
    put_s(out, s->job);
    buf_adds(out, " owed it\nscope         after ");
    if (s->start == SCOPE_FROM_RESTORE)
        buf_printf(out, "the restore of checkpoint %" PRIu64, s->restored_from);
    else if (s->since)
        buf_printf(out, "checkpoint %" PRIu64, s->since);
    else
        buf_adds(out, "the run's start");
    buf_adds(out, ", intervals ");
    report_put_member(out, doc, "epochs");
    buf_addc(out, '\n');
    put_sources(out, r);
}

static void put_implementation(struct buf *out, const struct json *by)
{
    const struct json *version = json_get(by, "version");
    report_put_member(out, by, "name");
    if (!version || version->type != JSON_STRING || version->len == 0)
        return;
    buf_addc(out, ' ');
    report_put(out, version);
}

/* The program's own account says, as the artifact keeps it, that it looked at every record. */
static bool every_record_answered(const struct report *r)
{
    const struct json *checked = json_get(report_reference(r)->doc, "verified_by_writer");
    struct buf text = BUF_INIT;
    bool found = false;
    buf_printf(&text, "%s: " VERIFIED_EVERY_RECORD, r->kept[ACCOUNT_PROGRAM].stage);
    for (size_t i = 0; checked && i < checked->len && !found; i++)
        found = json_is(checked->u.items[i], buf_str(&text));
    buf_free(&text);
    return found;
}

static void put_program(struct buf *out, const struct account *run)
{
    buf_printf(out, "              %" PRIu64 " records went to ", run->records.n);
    put_s(out, run->program ? run->program : "-");
    if (run->without_row.has)
        buf_printf(out, ", and it gave no row for %" PRIu64 " of them (%" PRIu64 " skips)", run->without_row.n,
                   run->skips.n);
    else
        buf_adds(out, "; which of them have no row is not known");
    if (run->value_errors.n)
        buf_printf(out, "; %" PRIu64 " had a payload that is no JSON", run->value_errors.n);
    buf_addc(out, '\n');
}

static void put_reference(struct buf *out, const struct report *r)
{
    const struct account *a = report_reference(r);
    buf_adds(out, "reference     ");
    put_implementation(out, json_get(a->doc, "implementation"));
    if (a->complete) {
        buf_printf(out, ", %" PRIu64 " rows\n", a->rows.n);
        if (r->kept[ACCOUNT_PROGRAM].stage)
            put_program(out, &r->kept[ACCOUNT_PROGRAM]);
        return;
    }
    buf_adds(out, ", INCOMPLETE and not compared: ");
    report_put_texts(out, json_get(a->doc, "reasons"));
    buf_addc(out, '\n');
}

static void put_observation(struct buf *out, const struct json *doc)
{
    char when[32];
    int64_t ms = 0;
    const struct json *at = json_get(json_get(doc, "started"), "client_ms");
    if (at && json_i64(at, &ms))
        time_iso_ms(ms, when);
    else
        snprintf(when, sizeof when, "-");
    buf_printf(out, "observed      %s at ", when);
    report_put_member(out, doc, "endpoint");
    buf_adds(out, " (");
    report_put_member(out, doc, "server_version");
    buf_addc(out, ')');
    const struct json *reads = json_get(doc, "reads");
    for (size_t i = 0; is_list(reads) && i < reads->len; i++)
        buf_printf(out, "%s read %" PRIu64 ": %" PRIu64 " rows", i ? "," : ";",
                   report_number(reads->u.items[i], "read", NULL), report_number(reads->u.items[i], "rows", NULL));
    buf_addc(out, '\n');
    const struct json *mutations = json_get(doc, "mutations");
    if (is_list(mutations) && mutations->len)
        buf_printf(
            out,
            "              %zu mutations of the table are recorded by the server; their effect is part of what was read\n",
            mutations->len);
}

static void put_coverage(struct buf *out, const struct report *r)
{
    struct report_coverage c = report_coverage(r);
    if (!c.read)
        return;
    if (c.established)
        buf_printf(out, "coverage      the whole table, %" PRIu64 " rows\n", c.rows);
    else
        buf_printf(out, "coverage      %s%" PRIu64 " selected keys; the rest of the table is not established\n",
                   c.asked ? "the whole table was asked for and is not established; " : "", c.keys);
}

void report_put_about(const struct report *r, struct buf *out)
{
    if (r->has_scope)
        put_scope(out, r);
    else if (r->bundles.first) {
        const struct json *doc = r->bundles.first->doc;
        buf_adds(out, "asked         about the bundle ");
        report_put_member(out, doc, "path");
        buf_adds(out, " of job ");
        report_put_member(out, doc, "job");
        buf_adds(out, ", checkpoint ");
        report_put_member(out, doc, "checkpoint");
        buf_addc(out, '\n');
    }
    if (report_reference(r))
        put_reference(out, r);
    if (r->observations.first)
        put_observation(out, r->observations.first->doc);
    put_coverage(out, r);
}

/* ---- what follows ---- */

static void put_verified(const struct report *r, struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        if (!r->required[i] || r->check[i].status != STATUS_PASSED)
            continue;
        buf_printf(out, "%s  %s: %s\n", any ? "" : "\nverified here\n", check_name_text((enum check_name)i),
                   report_means(r, (enum check_name)i));
        any = true;
    }
}

static bool has_members(const struct json *v)
{
    return v && v->type == JSON_OBJECT && v->len > 0;
}

/* What stands in the reference's file and nobody held against anything. */
static void put_recorded(const struct report *r, struct buf *out)
{
    const struct account *a = report_reference(r), *reader = &r->kept[ACCOUNT_READER];
    if (!a)
        return;
    const struct json *by = json_get(a->doc, "implementation"), *checked = json_get(a->doc, "verified_by_writer");
    const struct json *configuration = json_get(by, "configuration"),
                      *starts = json_get(reader->doc, "run_start_offsets");
    starts = starts ? starts : json_get(json_get(reader->doc, "recorded"), "run_start_offsets");
    buf_adds(out, "\nonly recorded in the reference\n  computed by ");
    put_implementation(out, by);
    if (reader->client) {
        buf_adds(out, ", reading with ");
        put_s(out, reader->client);
    }
    buf_adds(out, has_members(configuration) ? "; its configuration is in the JSON report\n" : "\n");
    if (is_list(checked) && checked->len) {
        buf_adds(out, "  checked by its writer: ");
        report_put_texts(out, checked);
        buf_addc(out, '\n');
    }
    if (r->kept[ACCOUNT_SEALER].word)
        buf_adds(out, "  that it is complete is the operator's word: no account of its reader stands behind it\n");
    if (has_members(starts)) {
        buf_adds(out, "  first offsets given by the operator: ");
        report_put(out, starts);
        buf_addc(out, '\n');
    }
}

static void put_declared(const struct report *r, struct buf *out)
{
    if (!r->has_scope || (!r->scope.declared && !r->scope.complete_table))
        return;
    buf_adds(out, "\ndeclared by the operator\n");
    if (r->scope.complete_table)
        buf_adds(out, "  the table holds this one run's writes and nothing else\n");
    if (!r->scope.declared)
        return;
    buf_adds(out, "  the ranges, the table, its key and columns\n");
    struct buf ids = BUF_INIT;
    report_not_given(r, &ids);
    if (ids.len)
        buf_printf(out, "  declared, not established: %s\n", buf_str(&ids));
    buf_free(&ids);
}

/* What no id holds together: a topic made anew under the same name has offsets of the same numbers. */
static void put_same_topic(const struct report *r, struct buf *out)
{
    if (!r->has_scope || r->scope.declared || !report_reference(r))
        return;
    for (size_t i = 0; i < r->scope.n_sources; i++) {
        const struct scope_source *s = &r->scope.sources[i];
        if (s->cluster_id && s->topic_id)
            continue;
        buf_adds(out, "  that the reference read the ");
        put_s(out, s->topic);
        buf_printf(out, " that the job read: the evidence has no %s\n",
                   s->topic_id ? "cluster id" : "topic id, and another topic of the name would not be told from it");
    }
}

/* What the table has beside the columns that were compared: a row that is right may be wrong there. */
static void put_other_columns(const struct report *r, struct buf *out)
{
    const struct json *list = r->observations.first ? json_get(r->observations.first->doc, "columns") : NULL;
    size_t at, n = 0;
    for (size_t i = 0; r->has_scope && is_list(list) && i < list->len; i++) {
        const struct json *name = json_get(list->u.items[i], "name");
        if (!name || name->type != JSON_STRING || columns_find(&r->scope.columns, name->str, name->len, &at))
            continue;
        buf_adds(out, n == 0 ? "  the table's columns that were not compared: " : n < COLUMNS_SHOWN ? ", " : "");
        if (n++ < COLUMNS_SHOWN)
            report_put(out, name);
    }
    if (n > COLUMNS_SHOWN)
        buf_printf(out, " and %zu more", n - COLUMNS_SHOWN);
    buf_adds(out, n > 0 ? "\n" : "");
}

static void put_not_established(const struct report *r, struct buf *out)
{
    struct report_coverage c = report_coverage(r);
    size_t before = out->len; /* of a part that may have nothing to say */
    buf_adds(out, "\nnot established\n");
    size_t empty = out->len;
    if (r->has_scope && r->scope.declared)
        buf_adds(
            out,
            "  what only a bundle can show: which job wrote the table, what it read and handed its sink, and any checkpoint\n");
    put_same_topic(r, out);
    if (report_reference(r) && r->kept[ACCOUNT_PROGRAM].stage && !every_record_answered(r)) {
        buf_adds(out, "  that the reference's program looked at every record: ");
        put_s(out, r->kept[ACCOUNT_PROGRAM].stage);
        buf_adds(out, " --strict was not asked for\n");
    }
    put_other_columns(r, out);
    if (r->has_scope && !c.established)
        buf_adds(out, "  rows of any other key than those selected\n");
    if (r->excluded)
        buf_printf(out, "  %" PRIu64 " keys that the reference leaves out\n", r->excluded);
    if (r->rows_left)
        buf_printf(out, "  %" PRIu64 " rows that came here and no stage compared\n", r->rows_left);
    if (r->unknown_lines) {
        buf_printf(out, "  %" PRIu64 " lines of types that are not known here: ", r->unknown_lines);
        msg_mask(out, r->unknown_types.p, r->unknown_types.len ? r->unknown_types.len - 1 : 0);
        buf_addc(out, '\n');
    }
    if (out->len == empty)
        out->len = before;
}

void report_put_established(const struct report *r, struct buf *out)
{
    put_verified(r, out);
    put_recorded(r, out);
    put_declared(r, out);
    put_not_established(r, out);
    buf_printf(out, "\nassurance\n  %s.\n", report_assurance(r));
}
