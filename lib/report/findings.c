/* SPDX-License-Identifier: Apache-2.0 */
/* The relations and what was found in each, for a person: one lost batch is one line. */

#include "report/internal.h"

#include "cells/cells.h"

#include <inttypes.h>
#include <string.h>

/* Runs past this many are counted, and hide no finding. */
#define RUNS_SHOWN 100

/* Masked; "-" where it is not there. */
static void put_json(struct buf *out, const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        buf_adds(out, "-");
    else if (v->type == JSON_STRING)
        msg_mask(out, v->str, v->len);
    else
        msg_mask(out, v->raw, v->raw_len);
}

static bool has_text(const struct json *doc, const char *name)
{
    const struct json *v = json_get(doc, name);
    return v && v->type == JSON_STRING && v->len > 0;
}

static bool is_of(const struct json *doc, enum relation r)
{
    return json_is(json_get(doc, "relation"), relation_name(r));
}

/* ---- one finding ---- */

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
        put_json(out, cell);
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
        put_json(out, key);
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

static void put_kind(struct buf *out, const struct json *doc)
{
    const struct json *kind = json_get(doc, "kind");
    bool text = kind && kind->type == JSON_STRING;
    enum finding_kind k = text ? finding_kind_of(kind->str, kind->len) : KIND_TYPES;
    buf_printf(out, "    %-10s  ", k < KIND_TYPES ? finding_kind_name(k) : "-");
}

static void put_finding(struct buf *out, const struct report *r, const struct json *doc)
{
    put_kind(out, doc);
    put_key(out, r, json_get(doc, "key"));
    put_differ(out, r, doc);
    if (json_is(json_get(doc, "kind"), "duplicated")) {
        buf_printf(out, "; owed %" PRIu64 ", found %" PRIu64, report_number(doc, "owed_copies", NULL),
                   report_number(doc, "found_copies", NULL));
        buf_adds(out, has_text(doc, "explained") ? ", explained: " : ", not explained");
        if (has_text(doc, "explained"))
            put_json(out, json_get(doc, "explained"));
    }
    if (has_text(doc, "at")) {
        buf_adds(out, "  at ");
        put_json(out, json_get(doc, "at"));
    }
    buf_addc(out, '\n');
}

/* ---- runs ---- */

struct run {
    const struct json *doc;
    const struct json *kind, *topic;
    uint64_t partition, first, last, rows;
};

static bool run_of(const struct json *doc, struct run *run)
{
    *run = (struct run){.doc = doc, .kind = json_get(doc, "kind"), .topic = json_get(doc, "topic")};
    run->partition = report_number(doc, "partition", NULL);
    run->first = report_number(doc, "first", NULL);
    run->last = report_number(doc, "last", NULL);
    run->rows = report_number(doc, "rows", NULL);
    return run->kind && run->kind->type == JSON_STRING && run->topic && run->topic->type == JSON_STRING;
}

static bool same_text(const struct json *a, const struct json *b)
{
    return a && b && a->type == JSON_STRING && b->type == JSON_STRING && a->len == b->len &&
           memcmp(a->str, b->str, a->len) == 0;
}

/* True where a finding's row lies in a run: its kind, and its at between the ends. */
static bool lies_in(const struct json *finding, const struct run *run)
{
    const struct json *at = json_get(finding, "at");
    if (!at || at->type != JSON_STRING || !same_text(json_get(finding, "kind"), run->kind) ||
        at->len <= run->topic->len || memcmp(at->str, run->topic->str, run->topic->len) != 0)
        return false;
    char rest[64];
    uint64_t partition, offset;
    size_t n = at->len - run->topic->len;
    if (n >= sizeof rest || at->str[run->topic->len] != '/')
        return false;
    memcpy(rest, at->str + run->topic->len + 1, n - 1);
    rest[n - 1] = '\0';
    char *slash = strchr(rest, '/'), *hash = strchr(rest, '#');
    size_t end = hash ? (size_t)(hash - rest) : n - 1;
    return slash && scan_u64(rest, (size_t)(slash - rest), &partition) && slash + 1 < rest + end &&
           scan_u64(slash + 1, (size_t)(rest + end - slash - 1), &offset) && partition == run->partition &&
           offset >= run->first && offset <= run->last;
}

static const struct json *first_in(const struct report *r, enum relation relation, const struct run *run)
{
    for (const struct report_line *l = r->findings.first; l; l = l->next)
        if (is_of(l->doc, relation) && lies_in(l->doc, run))
            return l->doc;
    return NULL;
}

static void put_run(struct buf *out, const struct report *r, enum relation relation, const struct run *run)
{
    const struct json *one = first_in(r, relation, run);
    if (run->rows == 1 && one)
        return; /* its finding says more */
    put_kind(out, run->doc);
    put_json(out, run->topic);
    buf_printf(out, "/%" PRIu64 " offsets %" PRIu64 "..%" PRIu64 ": %" PRIu64 " rows", run->partition, run->first,
               run->last, run->rows);
    if (one) {
        buf_adds(out, ", such as ");
        put_key(out, r, json_get(one, "key"));
    }
    buf_addc(out, '\n');
}

/* The runs of a summary, at most list: how many of them were shown. */
static size_t put_runs(struct buf *out, const struct report *r, enum relation relation, const struct json *doc,
                       uint64_t list, struct run *shown)
{
    const struct json *runs = json_get(doc, "runs");
    size_t n = runs && runs->type == JSON_ARRAY ? runs->len : 0, k = 0;
    for (size_t i = 0; i < n && k < list && k < RUNS_SHOWN; i++)
        if (run_of(runs->u.items[i], &shown[k]))
            put_run(out, r, relation, &shown[k++]);
    uint64_t total = report_number(doc, "runs_total", NULL);
    if (total > k)
        buf_printf(out, "    %" PRIu64 " more runs of offsets\n", total - k);
    const struct json *unordered = json_get(doc, "runs_unordered");
    if (unordered && unordered->type == JSON_ARRAY && unordered->len) {
        buf_adds(out, "    not in offset order, so without runs: ");
        for (size_t i = 0; i < unordered->len; i++) {
            buf_adds(out, i ? ", " : "");
            put_json(out, unordered->u.items[i]);
        }
        buf_addc(out, '\n');
    }
    return k;
}

/* True where a line of a run says what this finding would. */
static bool told(const struct json *finding, const struct run *shown, size_t n)
{
    if (json_is(json_get(finding, "kind"), finding_kind_name(KIND_CHANGED)))
        return false;
    for (size_t i = 0; i < n; i++)
        if (shown[i].rows > 1 && lies_in(finding, &shown[i]))
            return true;
    return false;
}

/* ---- relations ---- */

static void put_counts(struct buf *out, const struct json *doc)
{
    size_t before = out->len;
    for (size_t k = 0; k < KIND_TYPES; k++) {
        const char *name = finding_kind_name((enum finding_kind)k);
        uint64_t rows = report_number(doc, name, k == KIND_DUPLICATED ? "keys" : "rows");
        if (!rows && !report_number(doc, name, "surplus"))
            continue;
        buf_printf(out, "%s%" PRIu64 " %s", out->len > before ? ", " : "", rows, name);
        if (k == KIND_DUPLICATED)
            buf_printf(out, " (%" PRIu64 " surplus copies)", report_number(doc, name, "surplus"));
    }
    if (out->len == before)
        buf_adds(out, "no difference");
}

static void put_summary(struct buf *out, const struct report *r, enum relation relation, const struct json *doc,
                        uint64_t list)
{
    struct run shown[RUNS_SHOWN];
    const struct json *undecided = json_get(doc, "undecided");
    buf_printf(out, "  %s: %" PRIu64 " %s, %" PRIu64 " %s: ", relation_name(relation),
               report_number(doc, "owed_rows", NULL), relation_table[relation].owed_rows,
               report_number(doc, "found_rows", NULL), relation_table[relation].found_rows);
    put_counts(out, doc);
    if (report_number(doc, "excluded_keys", NULL))
        buf_printf(out, "; %" PRIu64 " keys left out", report_number(doc, "excluded_keys", NULL));
    buf_adds(out, undecided && undecided->type == JSON_TRUE ? " (seen, not decided)\n" : "\n");
    if (report_number(doc, "duplicated", "surplus"))
        buf_printf(out,
                   "    duplicates: %" PRIu64 " explained by a resend, %" PRIu64 " by a restore's replay, %" PRIu64
                   " by nothing\n",
                   report_number(doc, "explained", "resent"), report_number(doc, "explained", "replayed"),
                   report_number(doc, "explained", "unexplained"));
    size_t n = put_runs(out, r, relation, doc, list, shown);
    uint64_t put = 0, more = 0;
    for (const struct report_line *l = r->findings.first; l; l = l->next) {
        if (!is_of(l->doc, relation))
            continue;
        if (told(l->doc, shown, n) || put >= list) {
            more++;
            continue;
        }
        put_finding(out, r, l->doc);
        put++;
    }
    if (more)
        buf_printf(out, "    %" PRIu64 " more findings, row by row, are in the stream and in the JSON report\n", more);
}

void view_put_findings(const struct view *v, uint64_t list, struct buf *out)
{
    const struct report *r = v->report;
    bool any = false, failed = false;
    for (size_t i = 0; i < RELATION_TYPES; i++) {
        enum relation relation = relation_order[i];
        const struct view_check *check = view_check(v, relation_table[relation].check);
        for (const struct report_line *l = r->summaries.first; l; l = l->next) {
            if (!is_of(l->doc, relation))
                continue;
            buf_adds(out, any ? "" : "\nfindings\n");
            any = true;
            /* What follows the first relation that failed is mostly the same rows again. */
            put_summary(out, r, relation, l->doc, failed ? (list + 3) / 4 : list);
        }
        failed = failed || (check && check->status == STATUS_FAILED);
    }
}
