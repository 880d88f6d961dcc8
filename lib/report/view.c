/* SPDX-License-Identifier: Apache-2.0 */
/* The view: the answer, the checks, what to do; and of which kind of assurance it is. */
#include "base/hash.h"
#include "report/internal.h"

#include "stream/stop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const view_method[] = {
    "whole rows are compared as multisets, key by key, as canonical cells of version ",
    "equal means equal bytes; counts, totals and hashes decide nothing",
    "the destination is read twice, and its identity, definition and mutations before and after",
    "each relation is decided by itself: reference against captured, captured against table, reference against table",
    NULL,
};

/* ---- texts ---- */

static const char *keep(struct view *v, struct buf *text)
{
    const char *kept = arena_strndup(&v->arena, text->len ? text->p : "", text->len);
    buf_free(text);
    return kept;
}

void view_say(struct view *v, struct view_texts *to, const char *label, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    if (to->n == to->cap) {
        to->cap = to->cap ? 2 * to->cap : 4;
        to->at = xrealloc(to->at, to->cap * sizeof *to->at);
    }
    to->at[to->n++] = (struct view_text){label, keep(v, &text)};
}

const char *view_shown(struct view *v, const char *s)
{
    struct buf text = BUF_INIT;
    msg_mask(&text, s ? s : "-", s ? strlen(s) : 1);
    return keep(v, &text);
}

const char *view_json(struct view *v, const struct json *value)
{
    struct buf text = BUF_INIT;
    if (!value || value->type == JSON_NULL)
        return "-";
    if (value->type == JSON_STRING)
        msg_mask(&text, value->str, value->len);
    else
        msg_mask(&text, json_raw(value).p, json_raw(value).n);
    return keep(v, &text);
}

const char *view_list(struct view *v, const struct json *texts)
{
    struct buf text = BUF_INIT;
    for (const struct json *item = json_first(texts); item; item = json_next(texts, item))
        buf_printf(&text, "%s%s", text.len ? ", " : "", view_json(v, item));
    return keep(v, &text);
}

/* ---- checks ---- */

static const char *means(struct view *v, enum check_name c)
{
    const struct report *r = v->report;
    if (c == CHECK_RECONCILE_SCOPE && r->has_scope && r->scope.origin == SCOPE_DECLARED)
        return "the declaration is whole: every range has both ends, and the key and the columns are of types that can be compared";
    if (c == CHECK_RECONCILE_DESTINATION && (r->observed || r->has_scope))
        return view_destination(v);
    if (c == CHECK_RECONCILE_ROWS && r->has_scope && r->scope.bundle.repeats)
        return "the table holds exactly the scope's rows, equal ones as often as they are owed, value for value, and two reads agreed";
    return check_name_means(c);
}

static bool counts_epochs(enum check_name c)
{
    return c >= CHECK_REPLAY_DETERMINISM && c <= CHECK_REPLAY_GOLDEN_OUTPUT;
}

static void say_counts(struct view *v, struct view_check *c, const struct json *counts)
{
    struct buf text = BUF_INIT;
    for (const struct json *m = json_first(counts); m; m = json_next(counts, m))
        buf_printf(&text, "%s%.*s %.*s", text.len ? ", " : "", (int)json_value(m)->len, json_value(m)->str, (int)m->len,
                   m->str);
    if (text.len > 0)
        view_say(v, &c->said, NULL, "counts: %s", view_shown(v, buf_str(&text)));
    buf_free(&text);
}

static void say_makers(struct view *v, struct view_check *c)
{
    if (!c->made && v->report->unread)
        view_say(v, &c->said, NULL, "not known: line %" PRIu64 " was refused, and nothing was read from there on",
                 v->report->unread);
    else if (!c->made)
        view_say(v, &c->said, NULL, "no stage made this check");
    for (const struct report_made *m = v->report->made; m; m = m->next)
        if (m->line.name == c->name && m->line.status == c->status && (c->status != STATUS_PASSED || *m->line.reason))
            view_say(v, &c->said, NULL, "%s: %s", view_shown(v, m->line.stage), view_shown(v, m->line.reason));
    for (const struct report_made *m = v->report->made; m; m = m->next)
        if (m->line.name == c->name && m->line.status == c->status && counts_epochs(c->name))
            say_counts(v, c, m->line.counts);
}

static void view_checks(struct view *v)
{
    const struct report *r = v->report;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        const struct report_check *of = &r->check[i];
        v->any_required |= r->required[i];
        if (!r->required[i] && !of->made)
            continue;
        struct view_check *c = &v->check[v->n_checks++];
        *c = (struct view_check){.name = (enum check_name)i,
                                 .relation = relation_of_check((enum check_name)i),
                                 .required = r->required[i],
                                 .made = of->made,
                                 .status = of->status,
                                 .cause = of->cause,
                                 .means = means(v, (enum check_name)i)};
        say_makers(v, c);
        if (c->required && c->status == STATUS_PASSED)
            view_say(v, &v->verified, check_name_text(c->name), "%s", c->means);
    }
}

const struct view_check *view_check(const struct view *v, enum check_name c)
{
    for (size_t i = 0; i < v->n_checks; i++)
        if (v->check[i].name == c)
            return &v->check[i];
    return NULL;
}

static bool is(const struct view *v, enum check_name c, enum status s)
{
    const struct view_check *of = view_check(v, c);
    return of && of->made && of->status == s;
}

/* ---- what leads ---- */

static bool is_open(const struct report *r, enum check_name c, bool failed, bool following)
{
    const struct report_check *k = &r->check[c];
    bool follows = code_follows(k->cause.code) || k->cause.code == CODE_CHECK_NOT_MADE;
    return r->required[c] && follows == following && (failed ? k->status == STATUS_FAILED : k->status != STATUS_PASSED);
}

static enum check_name first_of(const struct report *r, bool failed, bool following)
{
    enum check_name first = CHECK_NAMES;
    for (size_t i = 0; i < CHECK_NAMES; i++)
        if (relation_of_check((enum check_name)i) == RELATION_TYPES &&
            is_open(r, (enum check_name)i, failed, following) &&
            (first == CHECK_NAMES || r->check[i].line_no < r->check[first].line_no))
            first = (enum check_name)i;
    for (size_t i = 0; i < RELATION_TYPES && first == CHECK_NAMES; i++)
        if (is_open(r, relation_table[relation_order[i]].check, failed, following))
            first = relation_table[relation_order[i]].check;
    return first;
}

/* The first required check that failed (or else is not passed): in the order in which the stages made them, the
 * relations in theirs, and one that follows from another only where nothing else is. CHECK_NAMES where there is none.
 */
static enum check_name first(const struct report *r, bool failed)
{
    enum check_name c = first_of(r, failed, false);
    return c < CHECK_NAMES ? c : first_of(r, failed, true);
}

/* Why the run was refused or did not end: the first stop of that kind, else what is wrong with the stream itself. */
static bool stop_leads(struct view *v)
{
    const struct report *r = v->report;
    bool refused = v->exit == OWED_REFUSED;
    for (const struct report_stop *s = r->stopped; s; s = s->next) {
        if (refused && !s->line.refused)
            continue;
        struct buf text = BUF_INIT;
        buf_printf(&text, "%s: %s", view_shown(v, s->line.stage), view_shown(v, s->line.reason));
        v->answer = keep(v, &text);
        v->cause = s->line.cause;
        return true;
    }
    if (r->input.kind == ERR_NONE)
        return false;
    v->answer = view_shown(v, r->input.text);
    v->cause = code_of_err(&r->input, CODE_LINE_MALFORMED);
    return true;
}

static void check_leads(struct view *v, enum check_name c)
{
    const struct view_check *of = view_check(v, c);
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s: ", of->relation < RELATION_TYPES ? relation_name(of->relation) : check_name_text(of->name));
    const char *said = of->made ? status_name(of->status) : "no stage made this check";
    /* The headline is about the check, not about who made it. */
    for (const struct report_made *m = v->report->made; m; m = m->next)
        if (m->line.name == c && m->line.status == of->status && *m->line.reason) {
            said = view_shown(v, m->line.reason);
            break;
        }
    buf_adds(&text, said);
    v->answer = keep(v, &text);
    v->cause = of->cause;
}

/* ---- what a failure means ---- */

/* Duplicates alone are within an at-least-once guarantee; nothing else is. */
static void put_delivery(const struct report *r, struct buf *out)
{
    uint64_t surplus = 0, unexplained = 0, others = 0;
    for (const struct report_summary *s = r->summary; s; s = s->next) {
        if (s->line.relation != RELATION_DELIVERY)
            continue;
        surplus += s->line.kind_rows[KIND_DUPLICATED];
        unexplained += s->line.unexplained;
        for (size_t k = 0; k < KIND_TYPES; k++)
            others += k == KIND_DUPLICATED ? 0 : s->line.kind_rows[k];
    }
    if (!surplus || others) {
        buf_adds(out, relation_table[RELATION_DELIVERY].failed);
        return;
    }
    buf_adds(out, "the table holds every row that the sink received, some more than once; ");
    if (unexplained)
        buf_printf(out, "nothing explains %" PRIu64 " of the %" PRIu64 " surplus copies", unexplained, surplus);
    else
        buf_adds(out, "a resend or a restore's replay explains each surplus copy");
}

/* What a failed check says of the job and the table, with what the others say beside it. */
static const char *meaning(struct view *v, enum check_name c)
{
    enum relation relation = relation_of_check(c);
    struct buf text = BUF_INIT;
    if (relation == RELATION_TYPES)
        return NULL;
    if (relation == RELATION_DELIVERY)
        put_delivery(v->report, &text);
    else
        buf_adds(&text, relation_table[relation].failed);
    if (relation == RELATION_DELIVERY && is(v, CHECK_REFERENCE_CAPTURE, STATUS_PASSED))
        buf_adds(&text, "; what it received is what the reference computes");
    if (relation == RELATION_TRANSFORMATION)
        buf_adds(&text, is(v, CHECK_RECONCILE_ROWS, STATUS_PASSED)   ? "; what it computed was delivered"
                        : is(v, CHECK_RECONCILE_ROWS, STATUS_FAILED) ? "; and the table does not hold what it computed"
                                                                     : "");
    return keep(v, &text);
}

/* A pass is of what was looked at. */
static const char *passed_for(struct view *v)
{
    struct buf text = BUF_INIT;
    if (!v->coverage.read || v->coverage.whole)
        return NULL;
    uint64_t expired = v->report->excluded_why[EXCLUDED_EXPIRED];
    if (expired > 0 && expired <= v->coverage.keys)
        buf_printf(&text, "for %" PRIu64 " of ", v->coverage.keys - expired);
    else
        buf_adds(&text, "for ");
    buf_printf(&text, "the %" PRIu64 " keys that are owed; rows of other keys were not looked at", v->coverage.keys);
    return keep(v, &text);
}

static void view_answer(struct view *v)
{
    const struct report *r = v->report;
    static const char *const words[] = {
        [OWED_OK] = "passed", [OWED_FAILED] = "failed", [OWED_REFUSED] = "refused", [OWED_TROUBLE] = "partial"};
    v->exit = r->exit;
    v->word = words[r->exit];
    v->failed_first = first(r, true);
    if (r->exit == OWED_OK) {
        v->meaning = passed_for(v);
    } else if (r->exit == OWED_FAILED) {
        check_leads(v, v->failed_first);
        v->meaning = meaning(v, v->failed_first);
    } else if (!stop_leads(v)) {
        if (v->any_required) {
            check_leads(v, first(r, false));
        } else {
            v->answer = "nothing was required";
            v->cause = *BECAUSE(CODE_NOTHING_REQUIRED);
        }
    }
}

/* ---- what to do ---- */

/* What was asked for so far: each code with its action's text. */
struct asked {
    struct map known;
    struct arena texts;
};

/* False where it was asked for before. */
static bool ask(struct asked *a, const struct cause *cause)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%u ", cause->code);
    code_next(cause, &text);
    bool fresh = !map_find(&a->known, text.p, text.len);
    if (fresh)
        map_add(&a->known, arena_strndup(&a->texts, text.p, text.len), text.len, 0);
    buf_free(&text);
    return fresh;
}

static void add_next(struct view *v, struct asked *asked, const struct cause *cause)
{
    /* What follows from another cause asks for nothing of its own, unless nothing else is at hand. */
    if (cause->code == CODE_NONE || code_follows(cause->code) || !ask(asked, cause))
        return;
    v->next = xrealloc(v->next, (v->n_next + 1) * sizeof *v->next);
    v->next[v->n_next++] = *cause;
}

/* What the causes beside the one that the answer leads with ask for. */
static void view_next(struct view *v)
{
    const struct report *r = v->report;
    struct asked asked = {MAP_INIT, ARENA_INIT};
    ask(&asked, &v->cause);
    for (const struct report_stop *s = r->stopped; s; s = s->next)
        add_next(v, &asked, &s->line.cause);
    /* What failed comes before what could not be decided, which it may explain. */
    for (int failed = 1; failed >= 0; failed--)
        for (const struct report_made *m = r->made; m; m = m->next)
            if ((m->line.status == STATUS_FAILED) == (failed == 1))
                add_next(v, &asked, &m->line.cause);
    for (size_t i = 0; i < v->n_checks; i++)
        if (v->check[i].required && !v->check[i].made)
            add_next(v, &asked, &v->check[i].cause);
    map_free(&asked.known);
    arena_free(&asked.texts);
}

static void view_stopped(struct view *v)
{
    const struct report *r = v->report;
    for (const struct report_stop *s = r->stopped; s; s = s->next)
        view_say(v, &v->stopped, s->line.refused ? "refused" : "unfinished", "%s: %s", view_shown(v, s->line.stage),
                 view_shown(v, s->line.reason));
    if (r->input.kind != ERR_NONE)
        view_say(v, &v->stopped, r->input.kind == ERR_REFUSED ? "refused" : "unfinished", "%s",
                 view_shown(v, r->input.text));
}

/* Which kind of assurance the required checks are about, in a sentence. */
static const char *assurance(const struct report *r)
{
    bool destination = false, recorded = false;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        destination |= r->required[i] && i >= CHECK_RECONCILE_SCOPE;
        recorded |= i < CHECK_RECONCILE_SCOPE && r->required[i];
    }
    if (r->has_scope && r->scope.origin == SCOPE_DECLARED)
        return "this is an audit of a declared range: the observed table against what a reference computed outside the job, only as "
               "independent as that reference is. It says nothing of any job, checkpoint or delivery";
    if (destination && r->required[CHECK_REFERENCE_DESTINATION])
        return "of the three assurances this is the third, the observed destination against what one checkpoint owed it, and the audit "
               "adds: what the job handed its sink and what the table holds, against a reference computed outside the job, only as "
               "independent as that is. It says nothing of what the job's settings promise, nor that the recorded execution replays or "
               "conforms";
    if (destination)
        return "of the three assurances this is the third: the observed destination against what one checkpoint owed it. It says "
               "nothing of what the job's settings promise, nor that the recorded execution replays or conforms, nor that the job "
               "computed the right rows";
    if (recorded)
        return "of the three assurances this is the second: that the recorded evidence is intact and consistent. It says nothing of "
               "what the job's settings promise, nor of any destination";
    return "no assurance: nothing was required";
}

void view_make(struct view *v, const struct report *r)
{
    *v = (struct view){.report = r, .arena = ARENA_INIT, .cause = CAUSE_INIT, .assurance = assurance(r)};
    view_checks(v);
    view_about(v);
    view_answer(v);
    view_stopped(v);
    view_established(v);
    view_next(v);
}

void view_free(struct view *v)
{
    struct view_texts *all[] = {&v->leads,    &v->about,    &v->stopped,   &v->verified,
                                &v->recorded, &v->declared, &v->not_known, &v->assumptions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->at);
    for (size_t i = 0; i < v->n_checks; i++)
        free(v->check[i].said.at);
    free(v->next);
    arena_free(&v->arena);
}
