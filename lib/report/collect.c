/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering the lines that a report is made of, and deciding its checks. */
#include "report/internal.h"
#include "stream/annotations.h"

#include "scope/line.h"
#include "types/line.h"

#include <inttypes.h>
#include <stdlib.h>
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
    struct report_lines *all[] = {&r->checks, &r->findings,     &r->summaries, &r->intervals, &r->sides,    &r->stops,
                                  &r->scopes, &r->observations, &r->bundles,   &r->columns,   &r->accounts, &r->logs};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        list_init(all[i]);
    scope_looks_init(&r->looks);
    r->made_tail = &r->made;
    r->stopped_tail = &r->stopped;
    r->summary_tail = &r->summary;
    r->finding_tail = &r->finding;
    r->interval_tail = &r->interval;
}

void report_free(struct report *r)
{
    columns_free(&r->cols);
    scope_free(&r->scope);
    scope_looks_free(&r->looks);
    buf_free(&r->unknown_types);
    annotations_free(&r->annotations);
    free(r->account);
    free(r->log);
    arena_free(&r->arena);
    arena_free(&r->line);
}

static int keep(struct report *r, struct report_lines *to, const struct stream_line *line, struct json **doc,
                struct err *err)
{
    *doc = stream_doc(line, &r->arena, err);
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

static int on_check(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct report_made *m = arena_zalloc(&r->arena, sizeof *m);
    if (keep(r, &r->checks, line, &doc, err) != 0 || stream_check(line, &r->arena, &m->line, err) != 0)
        return -1;
    struct report_check *c = &r->check[m->line.name];
    if (!c->made || m->line.status > c->status) {
        c->status = m->line.status;
        c->cause = m->line.cause;
        c->line_no = line->line_no;
    }
    c->made = true;
    m->line_no = line->line_no;
    *r->made_tail = m;
    r->made_tail = &m->next;
    return 0;
}

static int on_summary(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct report_summary *s = arena_zalloc(&r->arena, sizeof *s);
    if (keep(r, &r->summaries, line, &doc, err) != 0 || stream_summary(line, &r->arena, &s->line, err) != 0)
        return -1;
    s->line_no = line->line_no;
    *r->summary_tail = s;
    r->summary_tail = &s->next;
    return 0;
}

static int on_finding(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct report_finding *f = arena_zalloc(&r->arena, sizeof *f);
    if (keep(r, &r->findings, line, &doc, err) != 0 || stream_finding(line, &r->arena, &f->line, err) != 0)
        return -1;
    f->doc = doc;
    f->line_no = line->line_no;
    *r->finding_tail = f;
    r->finding_tail = &f->next;
    return 0;
}

static int on_interval(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct report_interval *i = arena_zalloc(&r->arena, sizeof *i);
    if (keep(r, &r->intervals, line, &doc, err) != 0 || stream_interval(line, &r->arena, &i->line, err) != 0)
        return -1;
    *r->interval_tail = i;
    r->interval_tail = &i->next;
    return 0;
}

static int on_excluded(struct report *r, const struct stream_line *line, struct err *err)
{
    struct stream_excluded e;
    arena_reset(&r->line);
    if (stream_excluded(line, &r->line, &e, err) != 0)
        return -1;
    r->excluded_why[e.why]++;
    r->excluded++;
    return 0;
}

static int on_absent(struct report *r, const struct stream_line *line, struct err *err)
{
    struct stream_absent a;
    arena_reset(&r->line);
    if (stream_absent(line, &r->line, &a, err) != 0)
        return -1;
    if (r->side_line[SIDE_REFERENCE])
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "line %" PRIu64 ": a key that must be absent after the reference's side was closed",
                        line->line_no);
    r->absent[a.why]++;
    return 0;
}

static int on_stop(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct report_stop *s = arena_zalloc(&r->arena, sizeof *s);
    if (keep(r, &r->stops, line, &doc, err) != 0)
        return -1;
    if (stop_line_parse(doc, &r->arena, &s->line, err) != 0)
        return stream_misfit(line, err);
    *r->stopped_tail = s;
    r->stopped_tail = &s->next;
    return 0;
}

static int on_columns(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    if (keep(r, &r->columns, line, &doc, err) != 0)
        return -1;
    columns_free(&r->cols);
    if (stream_columns(line, &r->cols, err) != 0)
        return -1;
    if (!r->has_scope || scope_fits(&r->scope, &r->cols))
        return 0;
    err_set(err, ERR_REFUSED, "the columns are not the scope's");
    return stream_misfit(line, err);
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
    struct json *doc;
    if (keep_once(r, &r->scopes, line, &doc, err) != 0 || stream_scope(line, &r->arena, NULL, &r->scope, err) != 0)
        return -1;
    r->has_scope = true;
    return 0;
}

static int on_bundle(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct stream_bundle said;
    if (keep_once(r, &r->bundles, line, &doc, err) != 0)
        return -1;
    return stream_bundle(line, &r->arena, &said, err);
}

static int on_observation(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    if (keep_once(r, &r->observations, line, &doc, err) != 0 ||
        stream_observation(line, &r->arena, &r->observation, err) != 0)
        return -1;
    r->observed = true;
    return 0;
}

/* What the reference's file keeps of the accounts before it. */
static int on_kept(struct report *r, const struct stream_account *binder, struct err *err)
{
    const struct json *all = json_get(binder->doc, "recorded");
    struct stream_account said, kept[ACCOUNT_ROLES];
    if (account_recorded(all, &r->arena, "account.recorded", &said, kept, err) != 0)
        return -1;
    r->said = said;
    r->said.stage = binder->stage;
    for (size_t i = 0; i < ACCOUNT_ROLES; i++) {
        r->kept[i] = kept[i];
        if (kept[i].doc && !kept[i].stage)
            r->kept[i].stage = kept[i].doc == all ? binder->stage : account_role_name((enum account_role)i);
    }
    return 0;
}

static int on_account(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct stream_account *a = arena_alloc(&r->arena, sizeof *a);
    if (keep(r, &r->accounts, line, &doc, err) != 0 || stream_account(line, &r->arena, a, err) != 0)
        return -1;
    if (a->role == ACCOUNT_BINDER && report_reference(r))
        err_set(err, ERR_REFUSED, "a second account of %s", a->stage);
    if (err->kind != ERR_NONE || (a->role == ACCOUNT_BINDER && on_kept(r, a, err) != 0))
        return stream_misfit(line, err);
    if (r->n_accounts == r->cap_accounts) {
        r->cap_accounts = r->cap_accounts ? 2 * r->cap_accounts : 8;
        r->account = xrealloc(r->account, r->cap_accounts * sizeof *r->account);
    }
    r->account[r->n_accounts++] = a;
    return 0;
}

static int on_side(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct stream_side side;
    if (keep(r, &r->sides, line, &doc, err) != 0 || stream_side(line, &r->arena, &side, err) != 0)
        return -1;
    if (r->side_line[side.side])
        return err_set(err, ERR_REFUSED, "line %" PRIu64 ": a second side line of %s", line->line_no,
                       side_words(side.side));
    r->side[side.side] = side;
    r->side_line[side.side] = line->line_no;
    return 0;
}

static int on_log(struct report *r, const struct stream_line *line, struct err *err)
{
    struct json *doc;
    struct stream_log log;
    if (keep(r, &r->logs, line, &doc, err) != 0 || stream_log(line, &r->arena, &log, err) != 0 ||
        scope_looks_take(&r->looks, line, err) != 0)
        return -1;
    if (log.again)
        return 0; /* the first look is what is told */
    r->log = xrealloc(r->log, (r->n_logs + 1) * sizeof *r->log);
    r->log[r->n_logs++] = log;
    return 0;
}

static void on_unknown(struct report *r, const struct stream_line *line)
{
    r->unknown_lines++;
    uint64_t *count = annotations_count(&r->annotations, line->type_name, line->type_len);
    if ((*count)++ > 0)
        return;
    buf_printf(&r->unknown_types, "%.*s,", (int)line->type_len, line->type_name);
}

int report_line(struct report *r, const struct stream_line *line, struct err *err)
{
    switch (line->type) {
    case LINE_REQUIRE: return stream_require(line, r->required, err);
    case LINE_CHECK: return on_check(r, line, err);
    case LINE_COLUMNS: return on_columns(r, line, err);
    case LINE_FINDING: return on_finding(r, line, err);
    case LINE_SUMMARY: return on_summary(r, line, err);
    case LINE_INTERVAL: return on_interval(r, line, err);
    case LINE_SIDE: return on_side(r, line, err);
    case LINE_STOP: return on_stop(r, line, err);
    case LINE_SCOPE: return on_scope(r, line, err);
    case LINE_OBSERVATION: return on_observation(r, line, err);
    case LINE_BUNDLE: return on_bundle(r, line, err);
    case LINE_ACCOUNT: return on_account(r, line, err);
    case LINE_EXCLUDED: return on_excluded(r, line, err);
    case LINE_ABSENT: return on_absent(r, line, err);
    case LINE_LOG: return on_log(r, line, err);
    case LINE_ROW: r->rows_left++; return 0;
    case LINE_UNKNOWN: on_unknown(r, line); return 0;
    default: return 0;
    }
}

/* ---- of what was gathered ---- */

const struct stream_account *report_reference(const struct report *r)
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

bool report_reader_shown(const struct report *r)
{
    for (size_t i = 0; i < r->n_accounts; i++)
        if (r->account[i]->n_ranges > 0)
            return true;
    return r->kept[ACCOUNT_READER].n_ranges > 0;
}

bool report_passed(const struct report *r, enum check_name c)
{
    return r->required[c] && r->check[c].made && r->check[c].status == STATUS_PASSED;
}

bool report_has_reference(const struct report *r)
{
    return r->side_line[SIDE_REFERENCE] || report_reference(r) || r->required[CHECK_REFERENCE_SCOPE] ||
           r->required[CHECK_REFERENCE_CAPTURE] || r->required[CHECK_REFERENCE_DESTINATION];
}

uint64_t report_rows_read(const struct report *r)
{
    return r->observed && r->observation.n_reads ? r->observation.reads[0].rows : 0;
}

/* ---- deciding ---- */

void report_imply(struct report *r, const struct json *stages)
{
    struct run_known known = {.scope = r->has_scope,
                              .declared = r->has_scope && r->scope.origin == SCOPE_DECLARED,
                              .complete_table = r->has_scope && scope_complete_table(&r->scope),
                              .rows = r->rows_left > 0 || r->summary,
                              .stages = stages,
                              .profile = r->profile};
    r->stages = stages;
    known.reference = report_reference(r) || r->side_line[SIDE_REFERENCE];
    require_checks(&known, r->required);
}

void report_decide(struct report *r)
{
    /* After a stop there is nobody to make the rest. */
    bool stopped = r->stopped || !r->ended, refused = r->input.kind == ERR_REFUSED, failed = false,
         open = stopped || r->input.kind != ERR_NONE, any = false;
    for (const struct report_stop *s = r->stopped; s; s = s->next)
        refused |= s->line.refused;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        struct report_check *c = &r->check[i];
        if (!c->made) {
            c->status = STATUS_UNAVAILABLE;
            c->cause = r->unread ? *BECAUSE(CODE_LINE_MALFORMED, {"line", FACT_NUMBER(r->unread)})
                                 : *BECAUSE(stopped ? CODE_RUN_STOPPED : CODE_CHECK_NOT_MADE,
                                            {"check", check_name_text((enum check_name)i)});
        }
        if (!r->required[i])
            continue;
        any = true;
        failed |= c->status == STATUS_FAILED;
        open |= c->status != STATUS_PASSED;
    }
    r->exit = refused ? OWED_REFUSED : failed ? OWED_FAILED : open || !any ? OWED_TROUBLE : OWED_OK;
}
