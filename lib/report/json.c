/* SPDX-License-Identifier: Apache-2.0 */
/* The report as clink-reconcile-report, version 1. */
#include "report/report.h"

#include "report/words.h"

#include <string.h>

/* Every kept line of one kind as an array, each without its "type". */
static void put_lines(struct json_w *w, const char *name, const struct report_lines *lines)
{
    jw_arr(w, name);
    for (const struct report_line *l = lines->first; l; l = l->next) {
        jw_obj(w, NULL);
        for (size_t i = 0; i < l->doc->len; i++) {
            const struct json_member *m = &l->doc->u.members[i];
            if (m->name_len == 4 && memcmp(m->name, "type", 4) == 0)
                continue;
            struct buf member = BUF_INIT; /* a name may be long, and hold any character */
            json_put_str(&member, m->name, m->name_len);
            buf_addc(&member, ':');
            buf_add(&member, m->value->raw, m->value->raw_len);
            jw_raw(w, NULL, member.p, member.len);
            buf_free(&member);
        }
        jw_end_obj(w);
    }
    jw_end_arr(w);
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

static void put_checks(struct json_w *w, const struct report *r)
{
    jw_arr(w, "checks");
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        const struct report_check *c = &r->check[i];
        if (!r->required[i] && !c->made)
            continue;
        jw_obj(w, NULL);
        jw_str(w, "name", check_name_text((enum check_name)i));
        jw_str(w, "status", status_name(c->status));
        jw_bool(w, "required", r->required[i]);
        jw_bool(w, "made", c->made);
        jw_str(w, "means", report_means(r, (enum check_name)i));
        put_cause(w, &c->cause);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void put_texts(struct json_w *w, const char *name, const char *const *texts)
{
    jw_arr(w, name);
    for (size_t i = 0; texts[i]; i++)
        jw_str(w, NULL, texts[i]);
    jw_end_arr(w);
}

static void put_text(void *w, const char *text)
{
    jw_str(w, NULL, text);
}

/* What the relations came to, in the order in which a fault is looked for. */
static void put_relations(struct json_w *w, const struct report *r)
{
    jw_arr(w, "relations");
    for (size_t i = 0; i < RELATION_TYPES; i++) {
        enum check_name c = relation_table[relation_order[i]].check;
        if (!r->required[c] && !r->check[c].made)
            continue;
        jw_obj(w, NULL);
        jw_str(w, "relation", relation_name(relation_order[i]));
        jw_str(w, "check", check_name_text(c));
        jw_str(w, "status", status_name(r->check[c].status));
        jw_end_obj(w);
    }
    jw_end_arr(w);
    enum check_name failed = report_first(r, true);
    jw_str(w, "failed_first", failed < CHECK_NAMES ? check_name_text(failed) : NULL);
}

static void put_coverage(struct json_w *w, const struct report *r)
{
    struct report_coverage c = report_coverage(r);
    jw_obj(w, "coverage");
    jw_str(w, "of", c.asked ? "complete-table" : "selected-keys");
    jw_bool(w, "whole_table_established", c.established);
    if (c.read) {
        jw_u64(w, "keys", c.keys);
        jw_u64(w, "rows", c.rows);
    }
    jw_end_obj(w);
    struct buf ids = BUF_INIT;
    report_not_given(r, &ids);
    jw_strn(w, "declared_not_established", ids.p, ids.len);
    buf_free(&ids);
}

static void put_stops(struct json_w *w, const struct report *r)
{
    put_lines(w, "stops", &r->stops);
    if (r->input.kind == ERR_NONE)
        return;
    jw_obj(w, "input");
    jw_str(w, "kind", r->input.kind == ERR_REFUSED ? "refused" : "unfinished");
    struct buf masked = BUF_INIT;
    msg_mask(&masked, r->input.text, strlen(r->input.text));
    jw_str(w, "reason", buf_str(&masked));
    buf_free(&masked);
    struct cause cause = code_of_err(&r->input, CODE_LINE_MALFORMED);
    put_cause(w, &cause);
    jw_end_obj(w);
}

void report_json(const struct report *r, struct buf *out)
{
    struct json_w w;
    jw_init(&w, out);
    jw_obj(&w, NULL);
    jw_str(&w, "format", REPORT_FORMAT);
    jw_u64(&w, "version", REPORT_VERSION);
    jw_str(&w, "verdict", report_word(r->exit));
    jw_i64(&w, "exit", r->exit);
    struct cause cause = report_cause(r);
    put_cause(&w, &cause);
    jw_str(&w, "assurance", report_assurance(r));
    if (r->stages)
        jw_raw(&w, "stages", r->stages->raw, r->stages->raw_len);
    put_checks(&w, r);
    put_relations(&w, r);
    put_coverage(&w, r);
    put_lines(&w, "made", &r->checks);
    put_stops(&w, r);
    put_lines(&w, "bundles", &r->bundles);
    put_lines(&w, "scopes", &r->scopes);
    put_lines(&w, "columns", &r->columns);
    put_lines(&w, "intervals", &r->intervals);
    put_lines(&w, "accounts", &r->accounts);
    put_lines(&w, "observations", &r->observations);
    put_lines(&w, "sides", &r->sides);
    put_lines(&w, "summaries", &r->summaries);
    put_lines(&w, "findings", &r->findings);
    put_texts(&w, "method", report_method);
    jw_arr(&w, "assumptions");
    report_assumptions(r, put_text, &w);
    jw_end_arr(&w);
    jw_u64(&w, "keys_left_out", r->excluded);
    jw_u64(&w, "rows_not_compared", r->rows_left);
    jw_u64(&w, "lines_of_unknown_types", r->unknown_lines);
    jw_strn(&w, "unknown_types", r->unknown_types.p, r->unknown_types.len);
    jw_end_obj(&w);
    buf_addc(out, '\n');
}
