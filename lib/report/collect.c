/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering the lines that a report is made of, and deciding its checks. */
#include "report/report.h"
#include "stream/check.h"

#include <inttypes.h>
#include <string.h>

static void list_init(struct report_lines *l)
{
    l->first = NULL;
    l->tail = &l->first;
    l->n = 0;
}

void report_init(struct report *r)
{
    memset(r, 0, sizeof *r);
    struct report_lines *all[] = {&r->checks, &r->findings,     &r->summaries, &r->intervals, &r->sides,   &r->stops,
                                  &r->scopes, &r->observations, &r->bundles,   &r->columns,   &r->accounts};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        list_init(all[i]);
}

void report_free(struct report *r)
{
    columns_free(&r->cols);
    scope_free(&r->scope);
    buf_free(&r->unknown_types);
    arena_free(&r->arena);
}

void report_require(struct report *r, enum check_name c)
{
    r->check[c].required = true;
    r->any_required = true;
}

static const char *const profiles[] = {[PROFILE_INTEGRITY] = "integrity",
                                       [PROFILE_CONSISTENCY] = "consistency",
                                       [PROFILE_REPLAY] = "replay",
                                       [PROFILE_FULL] = "full"};

int report_profile_parse(const char *s, enum report_profile *out, struct err *err)
{
    for (size_t i = PROFILE_INTEGRITY; i <= PROFILE_FULL; i++)
        if (strcmp(profiles[i], s) == 0) {
            *out = (enum report_profile)i;
            return 0;
        }
    return err_set(err, ERR_REFUSED, "--profile: '%s' is none of integrity, consistency, replay, full", s);
}

void report_profile(struct report *r, enum report_profile p)
{
    static const struct {
        enum report_profile from;
        enum check_name check;
    } needs[] = {
        {PROFILE_INTEGRITY, CHECK_BUNDLE_MANIFEST},
        {PROFILE_INTEGRITY, CHECK_BUNDLE_ARTIFACTS},
        {PROFILE_INTEGRITY, CHECK_BUNDLE_COMPLETENESS},
        {PROFILE_CONSISTENCY, CHECK_CHECKPOINT_MARKER},
        {PROFILE_CONSISTENCY, CHECK_CHECKPOINT_RESTORE_RULE},
        {PROFILE_CONSISTENCY, CHECK_CHECKPOINT_PARTICIPANTS},
        {PROFILE_CONSISTENCY, CHECK_STATE_DECODE},
        {PROFILE_REPLAY, CHECK_REPLAY_DETERMINISM},
        {PROFILE_REPLAY, CHECK_REPLAY_RECORDED_OUTPUT},
        {PROFILE_FULL, CHECK_PROTOCOL_TRACE_STRUCTURE},
        {PROFILE_FULL, CHECK_PROTOCOL_CONFORMANCE},
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (p >= needs[i].from)
            report_require(r, needs[i].check);
}

static int keep(struct report *r, struct report_lines *to, const struct stream_line *line, struct json **doc,
                struct err *err)
{
    const char *copy = arena_strndup(&r->arena, line->p, line->n);
    char where[64];
    snprintf(where, sizeof where, "line %" PRIu64, line->line_no);
    *doc = json_parse_named(copy, line->n, &r->arena, where, err);
    if (!*doc)
        return -1;
    struct report_line *l = arena_zalloc(&r->arena, sizeof *l);
    l->type = line->type;
    l->line_no = line->line_no;
    l->doc = *doc;
    *to->tail = l;
    to->tail = &l->next;
    to->n++;
    return 0;
}

static int on_require(struct report *r, const struct stream_line *line, struct err *err)
{
    struct report_lines unused;
    struct json *doc, *names;
    list_init(&unused);
    if (keep(r, &unused, line, &doc, err) != 0 || json_need(doc, "checks", JSON_ARRAY, &names, "require", err) != 0)
        return -1;
    for (size_t i = 0; i < names->len; i++) {
        const struct json *v = names->u.items[i];
        enum check_name c = v->type == JSON_STRING ? check_name_of(v->str, v->len) : CHECK_NAMES;
        if (c == CHECK_NAMES)
            return err_set(err, ERR_REFUSED, "line %" PRIu64 ": require names a check that is not known here",
                           line->line_no);
        report_require(r, c);
    }
    return 0;
}

static int on_check(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct check_line made;
    if (keep(r, &r->checks, line, &doc, err) != 0 || check_line_parse(doc, &r->arena, &made, err) != 0)
        return -1;
    struct report_check *c = &r->check[made.name];
    if (!c->made || made.status > c->status) {
        c->status = made.status;
        c->cause = made.cause;
        c->line_no = line->line_no;
    }
    c->made = true;
    return 0;
}

static int on_columns(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc, *arr;
    if (keep(r, &r->columns, line, &doc, err) != 0 || json_need(doc, "columns", JSON_ARRAY, &arr, "columns", err) != 0)
        return -1;
    columns_free(&r->cols);
    r->cols = (struct columns)COLUMNS_INIT;
    return columns_parse(arr, false, &r->cols, err);
}

/* A line that a stream has once: two would leave open what the answer is about. */
static int keep_once(struct report *r, struct report_lines *to, const struct stream_line *line, struct json **doc,
                     struct err *err)
{
    if (to->n > 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED), "line %" PRIu64 ": a second %s line",
                        line->line_no, line_type_name(line->type));
    return keep(r, to, line, doc, err);
}

static int on_scope(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc, *document;
    if (keep_once(r, &r->scopes, line, &doc, err) != 0)
        return -1;
    if (json_need(doc, "document", JSON_OBJECT, &document, "scope", err) != 0 ||
        scope_parse_json(document, &r->arena, &r->scope, err) != 0)
        return err_prefix(err, "line %" PRIu64, line->line_no);
    r->has_scope = true;
    return 0;
}

static int on_bundle(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct stream_bundle said;
    if (keep_once(r, &r->bundles, line, &doc, err) != 0)
        return -1;
    return stream_bundle(line, &r->arena, &said, err) == 0 ? 0 : err_prefix(err, "line %" PRIu64, line->line_no);
}

static int on_account(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc, *unused;
    if (keep(r, &r->accounts, line, &doc, err) != 0)
        return -1;
    return json_need(doc, "stage", JSON_STRING, &unused, "account", err) == 0
               ? 0
               : err_prefix(err, "line %" PRIu64, line->line_no);
}

static void on_unknown(struct report *r, const struct stream_line *line)
{
    r->unknown_lines++;
    const char *p = buf_str(&r->unknown_types);
    for (size_t n; *p; p += n + 1) {
        n = strcspn(p, ",");
        if (n == line->type_len && memcmp(p, line->type_name, n) == 0)
            return;
    }
    buf_printf(&r->unknown_types, "%.*s,", (int)line->type_len, line->type_name);
}

int report_line(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    switch (line->type) {
    case LINE_REQUIRE: return on_require(r, line, err);
    case LINE_CHECK: return on_check(r, line, err);
    case LINE_COLUMNS: return on_columns(r, line, err);
    case LINE_FINDING: return keep(r, &r->findings, line, &doc, err);
    case LINE_SUMMARY: return keep(r, &r->summaries, line, &doc, err);
    case LINE_INTERVAL: return keep(r, &r->intervals, line, &doc, err);
    case LINE_SIDE: return keep(r, &r->sides, line, &doc, err);
    case LINE_STOP: return keep(r, &r->stops, line, &doc, err);
    case LINE_SCOPE: return on_scope(r, line, err);
    case LINE_OBSERVATION: return keep_once(r, &r->observations, line, &doc, err);
    case LINE_BUNDLE: return on_bundle(r, line, err);
    case LINE_ACCOUNT: return on_account(r, line, err);
    case LINE_EXCLUDED: r->excluded++; return 0;
    case LINE_ROW: r->rows_left++; return 0;
    case LINE_UNKNOWN: on_unknown(r, line); return 0;
    default: return 0;
    }
}

/* ---- deciding ---- */

static bool went_through(const struct json *stages, const char *name)
{
    for (size_t i = 0; stages && i < stages->len; i++)
        if (json_is(json_get(stages->u.items[i], "name"), name))
            return true;
    return false;
}

static bool says(const struct report_lines *lines, const char *name, const char *text)
{
    for (const struct report_line *l = lines->first; l; l = l->next)
        if (json_is(json_get(l->doc, name), text))
            return true;
    return false;
}

static void require_all(struct report *r, const enum check_name *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        report_require(r, names[i]);
}

void report_imply(struct report *r, const struct json *stages)
{
    static const enum check_name scope[] = {CHECK_RECONCILE_SCOPE, CHECK_RECONCILE_DESTINATION};
    static const enum check_name bundle[] = {CHECK_BUNDLE_MANIFEST, CHECK_BUNDLE_ARTIFACTS, CHECK_BUNDLE_COMPLETENESS,
                                             CHECK_RECONCILE_ROWS};
    static const enum check_name reference[] = {CHECK_REFERENCE_SCOPE, CHECK_REFERENCE_DESTINATION};
    bool declared = r->has_scope && r->scope.declared;
    if (r->has_scope)
        require_all(r, scope, 2);
    if (r->has_scope && !declared)
        require_all(r, bundle, 4);
    if (r->has_scope && r->scope.complete_table)
        report_require(r, CHECK_DESTINATION_COVERAGE);
    /* Without a reference a declared scope owes nothing that could be held against the table. */
    if (!declared && !went_through(stages, "ref-bind") && !says(&r->accounts, "stage", "ref-bind") &&
        !says(&r->sides, "side", SIDE_REFERENCE))
        return;
    require_all(r, reference, 2);
    if (!declared)
        report_require(r, CHECK_REFERENCE_CAPTURE);
}

void report_decide(struct report *r, const struct json *stages)
{
    r->stages = stages;
    bool refused = r->input.kind == ERR_REFUSED, failed = false, open = r->input.kind != ERR_NONE || !r->any_required;
    for (const struct report_line *l = r->stops.first; l; l = l->next) {
        refused |= json_is(json_get(l->doc, "kind"), "refused");
        open = true;
    }
    /* After a stop there is nobody to make the rest. */
    bool stopped = r->stops.n > 0 || r->input.kind != ERR_NONE;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        struct report_check *c = &r->check[i];
        if (!c->made) {
            c->status = STATUS_UNAVAILABLE;
            c->cause = *BECAUSE(stopped ? CODE_RUN_STOPPED : CODE_CHECK_NOT_MADE,
                                {"check", check_name_text((enum check_name)i)});
        }
        if (!c->required)
            continue;
        failed |= c->status == STATUS_FAILED;
        open |= c->status != STATUS_PASSED;
    }
    r->exit = refused ? OWED_REFUSED : failed ? OWED_FAILED : open ? OWED_TROUBLE : OWED_OK;
}

const char *report_word(int exit)
{
    return exit == OWED_OK ? "passed" : exit == OWED_FAILED ? "failed" : exit == OWED_REFUSED ? "refused" : "partial";
}
