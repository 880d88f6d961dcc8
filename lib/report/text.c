/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a person: the answer first, then what it rests on, then what to do. */
#include "report/report.h"

#include "cells/cells.h"
#include "report/words.h"

#include <inttypes.h>
#include <string.h>

static void put_masked(struct buf *out, const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        buf_adds(out, "-");
    else if (v->type == JSON_STRING)
        msg_mask(out, v->str, v->len);
    else
        msg_mask(out, v->raw, v->raw_len);
}

static void put_member(struct buf *out, const struct json *doc, const char *name)
{
    put_masked(out, json_get(doc, name));
}

static bool has_text(const struct json *doc, const char *name)
{
    const struct json *v = json_get(doc, name);
    return v && v->type == JSON_STRING && v->len > 0;
}

static uint64_t number(const struct json *doc, const char *a, const char *b)
{
    uint64_t v = 0;
    const struct json *at = b ? json_get(json_get(doc, a), b) : json_get(doc, a);
    return at && json_u64(at, &v) ? v : 0;
}

/* ---- what was asked ---- */

static void put_sources(struct buf *out, const struct json *doc)
{
    const struct json *sources = json_get(doc, "sources");
    for (size_t i = 0; sources && sources->type == JSON_ARRAY && i < sources->len; i++) {
        const struct json *s = sources->u.items[i], *parts = json_get(s, "partitions");
        for (size_t k = 0; parts && parts->type == JSON_ARRAY && k < parts->len; k++) {
            buf_adds(out, "              ");
            put_member(out, s, "topic");
            buf_addc(out, '/');
            put_member(out, parts->u.items[k], "partition");
            buf_adds(out, " offsets [");
            put_member(out, parts->u.items[k], "from");
            buf_adds(out, ", ");
            put_member(out, parts->u.items[k], "to");
            buf_adds(out, ")\n");
        }
    }
}

static void put_scope(struct buf *out, const struct json *doc)
{
    const struct json *dest = json_get(doc, "destination");
    buf_adds(out, "asked         does ");
    put_member(out, dest, "database");
    buf_addc(out, '.');
    put_member(out, dest, "table");
    buf_adds(out, " hold exactly what checkpoint ");
    put_member(out, doc, "checkpoint");
    buf_adds(out, " of job ");
    put_member(out, doc, "job");
    buf_adds(out, " owed it\nscope         after ");
    uint64_t since = number(doc, "since", NULL);
    if (json_is(json_get(doc, "start"), "restore"))
        buf_printf(out, "the restore of checkpoint %" PRIu64, number(doc, "restored_from", NULL));
    else if (since)
        buf_printf(out, "checkpoint %" PRIu64, since);
    else
        buf_adds(out, "the run's start");
    buf_adds(out, ", intervals ");
    put_member(out, doc, "epochs");
    buf_addc(out, '\n');
    put_sources(out, doc);
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
    put_member(out, doc, "endpoint");
    buf_adds(out, " (");
    put_member(out, doc, "server_version");
    buf_printf(out, "), %" PRIu64 " keys", number(doc, "keys", NULL));
    const struct json *reads = json_get(doc, "reads");
    for (size_t i = 0; reads && reads->type == JSON_ARRAY && i < reads->len; i++)
        buf_printf(out, "%s read %" PRIu64 ": %" PRIu64 " rows", i ? "," : ";", number(reads->u.items[i], "read", NULL),
                   number(reads->u.items[i], "rows", NULL));
    buf_addc(out, '\n');
    const struct json *mutations = json_get(doc, "mutations");
    if (mutations && mutations->type == JSON_ARRAY && mutations->len)
        buf_printf(out, "              %zu mutations of the table are recorded by the server; their effect is part of what was read\n",
                   mutations->len);
}

/* ---- checks ---- */

static bool line_is(const struct report_line *l, enum check_name c, enum status s)
{
    return json_is(json_get(l->doc, "name"), check_name_text(c)) && json_is(json_get(l->doc, "status"), status_name(s));
}

/* The makers whose word decided, with their reasons. */
static void put_reasons(struct buf *out, const struct report *r, enum check_name c)
{
    const struct report_check *check = &r->check[c];
    if (!check->made) {
        buf_adds(out, "                no stage made this check\n");
        return;
    }
    if (check->status == STATUS_PASSED)
        return;
    for (const struct report_line *l = r->checks.first; l; l = l->next) {
        if (!line_is(l, c, check->status))
            continue;
        buf_adds(out, "                ");
        put_member(out, l->doc, "stage");
        buf_adds(out, ": ");
        put_member(out, l->doc, "reason");
        buf_addc(out, '\n');
    }
}

static void put_checks(struct buf *out, const struct report *r)
{
    buf_adds(out, "\nchecks\n");
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        const struct report_check *c = &r->check[i];
        if (!c->required && !c->made)
            continue;
        buf_printf(out, "  %-12s  %s%s\n", status_name(c->status), check_name_text((enum check_name)i),
                   c->required ? "" : "  (not required; does not decide)");
        put_reasons(out, r, (enum check_name)i);
    }
    if (!r->any_required)
        buf_adds(out, "  nothing was required: no stage said what this run needs, and no --profile was given\n");
}

static void put_stops(struct buf *out, const struct report *r)
{
    if (r->stops.n == 0 && r->input.kind == ERR_NONE)
        return;
    buf_adds(out, "\nstopped\n");
    for (const struct report_line *l = r->stops.first; l; l = l->next) {
        buf_adds(out, "  ");
        put_member(out, l->doc, "kind");
        buf_adds(out, "  ");
        put_member(out, l->doc, "stage");
        buf_adds(out, ": ");
        put_member(out, l->doc, "reason");
        buf_addc(out, '\n');
    }
    if (r->input.kind != ERR_NONE) {
        buf_printf(out, "  %s  ", r->input.kind == ERR_REFUSED ? "refused" : "unfinished");
        msg_mask(out, r->input.text, strlen(r->input.text));
        buf_addc(out, '\n');
    }
}

/* ---- findings ---- */

static void put_cell(struct buf *out, const struct report *r, size_t column, const struct json *cell)
{
    if (!cell)
        buf_adds(out, "-");
    else if (column < r->cols.n) {
        struct buf plain = BUF_INIT;
        cells_human(&r->cols.at[column].type, cell->raw, cell->raw_len, &plain);
        msg_mask(out, plain.p ? plain.p : "", plain.len);
        buf_free(&plain);
    } else
        put_masked(out, cell);
}

static void put_key(struct buf *out, const struct report *r, const struct json *key)
{
    size_t k = 0;
    for (size_t c = 0; c < r->cols.n && key && key->type == JSON_ARRAY && k < key->len; c++) {
        if (!r->cols.at[c].key)
            continue;
        buf_adds(out, k ? ", " : "");
        msg_mask(out, r->cols.at[c].name, r->cols.at[c].name_len);
        buf_addc(out, '=');
        put_cell(out, r, c, key->u.items[k++]);
    }
    if (k == 0)
        put_masked(out, key);
}

/* The columns that differ, owed and found side by side. */
static void put_differ(struct buf *out, const struct report *r, const struct json *doc)
{
    const struct json *differ = json_get(doc, "differ"), *owed = json_get(doc, "owed"), *found = json_get(doc, "found");
    for (size_t i = 0; differ && differ->type == JSON_ARRAY && i < differ->len; i++) {
        const struct json *name = differ->u.items[i];
        size_t c = 0;
        if (name->type != JSON_STRING || !columns_find(&r->cols, name->str, name->len, &c))
            continue;
        const struct json *a = owed && owed->type == JSON_ARRAY && c < owed->len ? owed->u.items[c] : NULL;
        const struct json *b = found && found->type == JSON_ARRAY && c < found->len ? found->u.items[c] : NULL;
        buf_adds(out, "; ");
        msg_mask(out, name->str, name->len);
        buf_adds(out, " owed ");
        put_cell(out, r, c, a);
        buf_adds(out, ", found ");
        put_cell(out, r, c, b);
    }
}

static void put_finding(struct buf *out, const struct report *r, const struct json *doc)
{
    buf_adds(out, "    ");
    const struct json *kind = json_get(doc, "kind");
    buf_printf(out, "%-10.*s  ", kind && kind->type == JSON_STRING ? (int)kind->len : 1, kind && kind->type == JSON_STRING ? kind->str : "-");
    put_key(out, r, json_get(doc, "key"));
    put_differ(out, r, doc);
    if (json_is(kind, "duplicated")) {
        buf_printf(out, "; owed %" PRIu64 ", found %" PRIu64, number(doc, "owed_copies", NULL), number(doc, "found_copies", NULL));
        buf_adds(out, has_text(doc, "explained") ? ", explained: " : ", not explained");
        if (has_text(doc, "explained"))
            put_member(out, doc, "explained");
    }
    if (has_text(doc, "at")) {
        buf_adds(out, "  at ");
        put_member(out, doc, "at");
    }
    buf_addc(out, '\n');
}

static void put_runs(struct buf *out, const struct json *doc, uint64_t list)
{
    const struct json *runs = json_get(doc, "runs");
    size_t n = runs && runs->type == JSON_ARRAY ? runs->len : 0;
    for (size_t i = 0; i < n && i < list; i++) {
        const struct json *run = runs->u.items[i];
        buf_adds(out, "    run: ");
        put_member(out, run, "kind");
        buf_adds(out, " ");
        put_member(out, run, "topic");
        buf_printf(out, "/%" PRIu64 " offsets %" PRIu64 "..%" PRIu64 ", %" PRIu64 " rows\n", number(run, "partition", NULL),
                   number(run, "first", NULL), number(run, "last", NULL), number(run, "rows", NULL));
    }
    uint64_t total = number(doc, "runs_total", NULL);
    if (total > n || n > list)
        buf_printf(out, "    %" PRIu64 " runs in all\n", total > n ? total : n);
}

static void put_summary(struct buf *out, const struct report *r, const struct json *doc, uint64_t list)
{
    buf_adds(out, "  ");
    put_member(out, doc, "relation");
    buf_printf(out, ": %" PRIu64 " rows owed, %" PRIu64 " found: %" PRIu64 " missing, %" PRIu64 " changed, %" PRIu64
                    " duplicated (%" PRIu64 " surplus copies), %" PRIu64 " unexpected\n",
               number(doc, "owed_rows", NULL), number(doc, "found_rows", NULL), number(doc, "missing", "rows"),
               number(doc, "changed", "rows"), number(doc, "duplicated", "keys"), number(doc, "duplicated", "surplus"),
               number(doc, "unexpected", "rows"));
    if (number(doc, "duplicated", "surplus"))
        buf_printf(out, "    duplicates: %" PRIu64 " explained by a resend, %" PRIu64 " by a restore's replay, %" PRIu64 " by nothing\n",
                   number(doc, "explained", "resent"), number(doc, "explained", "replayed"), number(doc, "explained", "unexplained"));
    put_runs(out, doc, list);
    const struct json *relation = json_get(doc, "relation");
    uint64_t shown = 0, total = 0;
    for (const struct report_line *l = r->findings.first; l; l = l->next) {
        const struct json *of = json_get(l->doc, "relation");
        if (!of || !relation || of->len != relation->len || memcmp(of->raw, relation->raw, of->raw_len) != 0)
            continue;
        total++;
        if (shown < list) {
            put_finding(out, r, l->doc);
            shown++;
        }
    }
    if (total > shown)
        buf_printf(out, "    %" PRIu64 " more findings are in the stream\n", total - shown);
}

/* ---- what follows from it ---- */

static void put_next(struct buf *out, const struct report *r)
{
    struct buf seen = BUF_INIT;
    const struct report_lines *from[] = {&r->stops, &r->checks};
    for (size_t k = 0; k < 2; k++) {
        for (const struct report_line *l = from[k]->first; l; l = l->next) {
            const struct json *next = json_get(l->doc, "next");
            if (!next || next->type != JSON_STRING || next->len == 0 || json_is(json_get(l->doc, "status"), "passed"))
                continue;
            struct buf text = BUF_INIT;
            buf_adds(&text, "  - ");
            msg_mask(&text, next->str, next->len);
            buf_addc(&text, '\n');
            if (!seen.p || !strstr(buf_str(&seen), buf_str(&text)))
                buf_add(&seen, text.p, text.len);
            buf_free(&text);
        }
    }
    for (size_t i = 0; i < CHECK_NAMES; i++)
        if (r->check[i].required && !r->check[i].made) {
            buf_printf(&seen, "  - %s: %s\n", check_name_text((enum check_name)i), next_action_text(NEXT_MAKE_CHECK));
        }
    if (seen.len) {
        buf_adds(out, "\nnext\n");
        buf_add(out, seen.p, seen.len);
    }
    buf_free(&seen);
}

static void put_established(struct buf *out, const struct report *r)
{
    buf_adds(out, "\nestablished\n");
    for (size_t i = 0; i < CHECK_NAMES; i++)
        if (r->check[i].required && r->check[i].status == STATUS_PASSED)
            buf_printf(out, "  %s: %s\n", check_name_text((enum check_name)i), check_name_means((enum check_name)i));
    buf_printf(out, "  %s.\n", report_assurance(r));
    const struct report_check *coverage = &r->check[CHECK_DESTINATION_COVERAGE];
    if (r->check[CHECK_RECONCILE_ROWS].required && !(coverage->made && coverage->status == STATUS_PASSED))
        buf_adds(out, "  coverage: the scope's own keys; rows of any other key are not established.\n");
    if (r->rows_left)
        buf_printf(out, "  %" PRIu64 " rows came here that no stage compared.\n", r->rows_left);
    if (r->unknown_lines) {
        buf_printf(out, "  %" PRIu64 " lines of types that are not known here: ", r->unknown_lines);
        msg_mask(out, r->unknown_types.p, r->unknown_types.len ? r->unknown_types.len - 1 : 0);
        buf_addc(out, '\n');
    }
}

void report_text(const struct report *r, uint64_t list, struct buf *out)
{
    static const char *const says[] = {
        [OWED_OK] = "PASSED: every required check passed",
        [OWED_FAILED] = "FAILED: a required check failed",
        [OWED_REFUSED] = "REFUSED: the request does not fit what it was made of",
        [OWED_TROUBLE] = "NOT DECIDED: nothing failed, but not everything that is required could be checked",
    };
    buf_printf(out, "%s (exit %d)\n\n", says[r->exit], r->exit);
    for (const struct report_line *l = r->scopes.first; l; l = l->next)
        put_scope(out, json_get(l->doc, "document"));
    if (!r->scopes.first)
        for (const struct report_line *l = r->bundles.first; l; l = l->next) {
            buf_adds(out, "asked         about the bundle ");
            put_member(out, l->doc, "path");
            buf_adds(out, " of job ");
            put_member(out, l->doc, "job");
            buf_adds(out, ", checkpoint ");
            put_member(out, l->doc, "checkpoint");
            buf_addc(out, '\n');
        }
    for (const struct report_line *l = r->observations.first; l; l = l->next)
        put_observation(out, l->doc);
    put_stops(out, r);
    put_checks(out, r);
    if (r->summaries.n)
        buf_adds(out, "\nfindings\n");
    for (const struct report_line *l = r->summaries.first; l; l = l->next)
        put_summary(out, r, l->doc, list);
    put_established(out, r);
    put_next(out, r);
}
