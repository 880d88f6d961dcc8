/* SPDX-License-Identifier: Apache-2.0 */
/* The view as clink-reconcile-report, version 1, with the lines that it was made from. */
#include "json/redact.h"
#include "report/internal.h"

#include <string.h>

/* A kept line's members without its "type". What says where a table is, how it is made or who read goes without
 * credentials, whatever wrote the stream; a ledger's tokens are none. */
static void put_members(struct json_w *w, const struct json *doc, bool masked)
{
    for (const struct json *m = json_first(doc); m; m = json_next(doc, m)) {
        if (json_is(m, "type"))
            continue;
        struct buf member = BUF_INIT; /* a name may be long, and hold any character */
        json_put_str(&member, m->str, m->len);
        buf_addc(&member, ':');
        if (masked && json_is(m, "ledger"))
            redact_texts(&member, json_value(m));
        else if (masked)
            redact_put(&member, json_value(m));
        else
            json_put_raw(&member, json_value(m));
        jw_raw(w, NULL, member.p, member.len);
        buf_free(&member);
    }
}

/* Every kept line of one kind as an array. */
static void put_lines(struct json_w *w, const char *name, const struct report_lines *lines, bool masked)
{
    jw_arr(w, name);
    for (const struct report_line *l = lines->first; l; l = l->next) {
        jw_obj(w, NULL);
        put_members(w, l->doc, masked);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_findings(struct json_w *w, const struct report *r)
{
    jw_arr(w, "findings");
    for (const struct report_finding *f = r->finding; f; f = f->next) {
        jw_obj(w, NULL);
        put_members(w, f->doc, false);
        jw_str(w, "breaks", view_breaks(f->line.relation, f->line.kind));
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* The table as the sink's evidence has it, and as it was found: members of the same names. */
static void put_destination(struct json_w *w, const struct view *v)
{
    const struct destination *d = v->table_recorded;
    const struct observation *o = v->report->observed ? &v->report->observation : NULL;
    const struct {
        const char *name, *recorded, *observed;
    } all[] = {{"engine", d ? d->engine : NULL, o ? o->engine : NULL},
               {"definition", d ? d->create_table_query : NULL, o ? o->create_table_query : NULL},
               {"endpoint", d ? d->endpoint : NULL, o ? o->endpoint : NULL},
               {"server_host", d ? d->server_host : NULL, o ? o->server_host : NULL},
               {"server_version", d ? d->server_version : NULL, o ? o->server_version : NULL},
               {"dedup_window", d ? d->dedup_window : NULL, o ? o->dedup_window : NULL}};
    jw_obj(w, "destination");
    for (unsigned observed = 0; observed < 2; observed++) {
        if (observed ? !o : !d)
            continue;
        jw_obj(w, observed ? "observed" : "recorded");
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            jw_redacted(w, all[i].name, observed ? all[i].observed : all[i].recorded);
        if (observed && o->has_replica) {
            jw_obj(w, "replica");
            jw_shown(w, "path", o->replica.path);
            jw_shown(w, "name", o->replica.name);
            jw_end_obj(w);
        }
        if (!observed) {
            jw_str(w, "async_insert", d->async_insert);
            jw_str(w, "wait_for_async_insert", d->wait_for_async_insert);
        }
        jw_end_obj(w);
    }
    jw_end_obj(w);
}

/* code, facts and the next action; nothing of what passed. */
static void put_cause(struct json_w *w, const struct cause *cause)
{
    struct buf text = BUF_INIT;
    const char *name = NULL, *value;
    if (cause->code == CODE_NONE)
        return;
    jw_str(w, "code", code_word(cause->code));
    jw_obj(w, "facts");
    while ((name = cause_next(cause, name, &value)) != NULL)
        jw_str(w, name, value);
    jw_end_obj(w);
    code_next(cause, &text);
    jw_strn(w, "next", text.p, text.len);
    buf_free(&text);
}

/* What was said, one text after another; of those with a label each under its own. */
static void put_texts(struct json_w *w, const char *name, const struct view_texts *texts, bool labelled)
{
    if (labelled)
        jw_obj(w, name);
    else
        jw_arr(w, name);
    for (size_t i = 0; i < texts->n; i++) {
        const struct view_text *t = &texts->at[i];
        if (labelled && (i == 0 || strcmp(t->label, texts->at[i - 1].label) != 0))
            jw_arr(w, t->label);
        jw_str(w, NULL, t->text);
        if (labelled && (i + 1 == texts->n || strcmp(t->label, texts->at[i + 1].label) != 0))
            jw_end_arr(w);
    }
    if (labelled)
        jw_end_obj(w);
    else
        jw_end_arr(w);
}

static void put_checks(struct json_w *w, const struct view *v)
{
    jw_arr(w, "checks");
    for (size_t i = 0; i < v->n_checks; i++) {
        const struct view_check *c = &v->check[i];
        jw_obj(w, NULL);
        jw_str(w, "name", check_name_text(c->name));
        jw_str(w, "status", status_name(c->status));
        jw_bool(w, "required", c->required);
        jw_bool(w, "made", c->made);
        jw_str(w, "means", c->means);
        put_cause(w, &c->cause);
        put_texts(w, "said", &c->said, false);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

/* What the relations came to, in the order in which a fault is looked for. */
static void put_relations(struct json_w *w, const struct view *v)
{
    jw_arr(w, "relations");
    for (size_t i = 0; i < RELATION_TYPES; i++) {
        const struct relation_row *of = &relation_table[relation_order[i]];
        const struct view_check *c = view_check(v, of->check);
        if (!c)
            continue;
        jw_obj(w, NULL);
        jw_str(w, "relation", of->name);
        jw_str(w, "check", check_name_text(c->name));
        jw_str(w, "status", status_name(c->status));
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_str(w, "failed_first", v->failed_first < CHECK_NAMES ? check_name_text(v->failed_first) : NULL);
}

static void put_coverage(struct json_w *w, const struct view *v)
{
    const struct view_coverage *c = &v->coverage;
    jw_obj(w, "coverage");
    jw_str(w, "of", c->asked ? "complete-table" : "selected-keys");
    jw_bool(w, "whole_table_established", c->established);
    if (c->read) {
        jw_u64(w, "keys", c->keys);
        jw_u64(w, "rows", c->rows);
    }
    jw_end_obj(w);
    jw_str(w, "declared_not_established", v->not_given);
}

/* Owed fractions that were compared as the nearest value of their float column, of each side that has any. */
static void put_nearest(struct json_w *w, const struct report *r)
{
    const uint64_t captured = r->side[SIDE_CAPTURED].nearest, reference = r->side[SIDE_REFERENCE].nearest;
    if (!captured && !reference)
        return;
    jw_obj(w, "nearest");
    jw_u64(w, "captured", captured);
    jw_u64(w, "reference", reference);
    jw_end_obj(w);
}

/* Records of the reference that nobody could read. */
static void put_unreadable(struct json_w *w, const struct report *r)
{
    const struct stream_account *run = &r->kept[ACCOUNT_PROGRAM];
    if (!report_reference(r) || run->unreadable.n == 0)
        return;
    jw_obj(w, "unreadable");
    jw_u64(w, "records", run->unreadable.n);
    jw_u64(w, "of", run->records.n);
    jw_bool(w, "assumed_to_owe_nothing", run->on_unreadable != NULL);
    if (run->unreadable_records.p)
        jw_raw(w, "first", run->unreadable_records.p, run->unreadable_records.n);
    jw_end_obj(w);
}

/* What could not be done, and what is wrong with the stream itself. */
static void put_input(struct json_w *w, const struct view *v)
{
    const struct err *input = &v->report->input;
    if (input->kind == ERR_NONE)
        return;
    const struct view_text *said = &v->stopped.at[v->stopped.n - 1];
    struct cause cause = code_of_err(input, CODE_LINE_MALFORMED);
    jw_obj(w, "input");
    jw_str(w, "kind", said->label);
    jw_str(w, "reason", said->text);
    put_cause(w, &cause);
    jw_end_obj(w);
}

/* What the text says, in its sentences. */
static void put_sentences(struct json_w *w, const struct view *v)
{
    struct buf cells = BUF_INIT;
    jw_str(w, "answer", v->answer);
    jw_str(w, "meaning", v->meaning);
    put_texts(w, "leads", &v->leads, false);
    put_texts(w, "about", &v->about, true);
    put_texts(w, "verified", &v->verified, true);
    put_texts(w, "only_recorded", &v->recorded, false);
    put_texts(w, "declared", &v->declared, false);
    put_texts(w, "not_established", &v->not_known, false);
    put_texts(w, "assumptions", &v->assumptions, false);
    buf_printf(&cells, "%s%s", view_method[0], columns_cells(&v->report->cols));
    jw_arr(w, "method");
    jw_str(w, NULL, buf_str(&cells));
    for (size_t i = 1; view_method[i]; i++)
        jw_str(w, NULL, view_method[i]);
    jw_end_arr(w);
    buf_free(&cells);
    jw_arr(w, "also");
    for (size_t i = 0; i < v->n_next; i++) {
        jw_obj(w, NULL);
        put_cause(w, &v->next[i]);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_evidence(struct json_w *w, const struct report *r)
{
    const struct {
        const char *name;
        const struct report_lines *lines;
        bool masked;
    } all[] = {{"made", &r->checks, false},      {"stops", &r->stops, false},
               {"bundles", &r->bundles, false},  {"scopes", &r->scopes, false},
               {"columns", &r->columns, false},  {"intervals", &r->intervals, true},
               {"accounts", &r->accounts, true}, {"observations", &r->observations, true},
               {"sides", &r->sides, false},      {"summaries", &r->summaries, false},
               {"logs", &r->logs, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_lines(w, all[i].name, all[i].lines, all[i].masked);
    put_findings(w, r);
    jw_u64(w, "keys_left_out", r->excluded);
    jw_obj(w, "must_be_absent");
    for (size_t i = 0; i < ABSENT_TYPES; i++)
        jw_u64(w, absent_why_name((enum absent_why)i), r->absent[i]);
    jw_end_obj(w);
    jw_u64(w, "rows_not_compared", r->rows_left);
    jw_u64(w, "lines_of_unknown_types", r->unknown_lines);
    jw_strn(w, "unknown_types", r->unknown_types.p, r->unknown_types.len);
}

void report_json(const struct view *v, struct buf *out)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "format", REPORT_FORMAT);
    jw_u64(&w, "version", REPORT_VERSION);
    jw_str(&w, "verdict", v->word);
    jw_i64(&w, "exit", v->exit);
    put_cause(&w, &v->cause);
    jw_str(&w, "assurance", v->assurance);
    if (v->report->stages)
        jw_raw(&w, "stages", json_raw(v->report->stages).p, json_raw(v->report->stages).n);
    put_checks(&w, v);
    put_relations(&w, v);
    put_coverage(&w, v);
    put_unreadable(&w, v->report);
    put_nearest(&w, v->report);
    put_destination(&w, v);
    put_input(&w, v);
    put_sentences(&w, v);
    put_evidence(&w, v->report);
    jw_end_obj(&w);
    buf_addc(out, '\n');
}
