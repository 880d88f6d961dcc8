/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a person: the answer first, then what it rests on, then what to do. */
#include "report/report.h"

#include "report/words.h"
#include "stream/check.h"

#include <inttypes.h>
#include <string.h>

/* ---- the answer ---- */

static const char *label(enum check_name c)
{
    enum relation r = relation_of_check(c);
    return r < RELATION_TYPES ? relation_name(r) : check_name_text(c);
}

static void put_check_reason(struct buf *out, const struct report *r, enum check_name c)
{
    const struct json *reason = report_reason(r, c);
    buf_printf(out, "%s: ", label(c));
    if (!r->check[c].made)
        buf_adds(out, "no stage made this check");
    else if (reason)
        report_put(out, reason);
    else
        buf_adds(out, status_name(r->check[c].status));
}

/* Why the run was refused or did not end: the first stop of that kind, else what is wrong with the stream itself. */
static bool put_stop_reason(struct buf *out, const struct report *r, bool refused)
{
    for (const struct report_line *l = r->stops.first; l; l = l->next) {
        if (refused && !json_is(json_get(l->doc, "kind"), "refused"))
            continue;
        report_put_member(out, l->doc, "stage");
        buf_adds(out, ": ");
        report_put_member(out, l->doc, "reason");
        return true;
    }
    if (r->input.kind == ERR_NONE)
        return false;
    msg_mask(out, r->input.text, strlen(r->input.text));
    return true;
}

/* What could not be checked: a stop says why the checks after it are not there. */
static void put_open(struct buf *out, const struct report *r)
{
    if (put_stop_reason(out, r, false))
        return;
    if (report_any_required(r))
        put_check_reason(out, r, report_first(r, false));
    else
        buf_adds(out, "nothing was required");
}

/* `rows-missing: what to do about it`, masked. */
static void put_cause(struct buf *out, const struct cause *cause)
{
    buf_printf(out, "%s: ", code_word(cause->code));
    code_next(cause, out);
}

static void put_answer(struct buf *out, const struct report *r)
{
    static const char *const words[] = {[OWED_OK] = "PASSED: every required check passed",
                                        [OWED_FAILED] = "FAILED: ",
                                        [OWED_REFUSED] = "REFUSED: ",
                                        [OWED_TROUBLE] = "NOT DECIDED: "};
    enum check_name failed = report_first(r, true);
    buf_adds(out, words[r->exit]);
    if (r->exit == OWED_FAILED)
        put_check_reason(out, r, failed);
    else if (r->exit == OWED_REFUSED)
        put_stop_reason(out, r, r->input.kind != ERR_REFUSED || r->stops.n);
    else if (r->exit != OWED_OK)
        put_open(out, r);
    buf_printf(out, " (exit %d)\n", r->exit);
    struct cause cause = report_cause(r);
    struct buf means = BUF_INIT;
    if (r->exit == OWED_FAILED)
        report_meaning(r, failed, &means);
    if (means.len)
        buf_printf(out, "        %s\n", buf_str(&means));
    if (cause.code != CODE_NONE) {
        buf_adds(out, "        ");
        put_cause(out, &cause);
        buf_addc(out, '\n');
    }
    buf_addc(out, '\n');
    buf_free(&means);
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
    for (const struct report_line *l = r->checks.first; l; l = l->next) {
        const struct json *reason = json_get(l->doc, "reason");
        if (!line_is(l, c, check->status) || (check->status == STATUS_PASSED && reason->len == 0))
            continue;
        buf_adds(out, "                ");
        report_put_member(out, l->doc, "stage");
        buf_adds(out, ": ");
        report_put(out, reason);
        buf_addc(out, '\n');
    }
}

/* The checks that passed without a word, one line of those that decide and one of the others. */
static void put_passed(struct buf *out, const struct report *r, bool required)
{
    bool any = false;
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        const struct report_check *c = &r->check[i];
        if (r->required[i] != required || !c->made || c->status != STATUS_PASSED ||
            report_reason(r, (enum check_name)i))
            continue;
        buf_printf(out, "%s%s", any ? ", " : "  passed        ", check_name_text((enum check_name)i));
        any = true;
    }
    buf_adds(out, any ? required ? "\n" : "  (not required; do not decide)\n" : "");
}

static void put_checks(struct buf *out, const struct report *r)
{
    buf_adds(out, "\nchecks\n");
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        const struct report_check *c = &r->check[i];
        if ((!r->required[i] && !c->made) ||
            (c->made && c->status == STATUS_PASSED && !report_reason(r, (enum check_name)i)))
            continue;
        const char *name = check_name_text((enum check_name)i), *as = label((enum check_name)i);
        buf_printf(out, "  %-12s  %s%s%s%s%s%s%s\n", status_name(c->status), name, as == name ? "" : "  (",
                   as == name ? "" : as, as == name ? "" : ")", c->cause.code == CODE_NONE ? "" : "  ",
                   code_word(c->cause.code), r->required[i] ? "" : "  (not required; does not decide)");
        put_reasons(out, r, (enum check_name)i);
    }
    put_passed(out, r, true);
    put_passed(out, r, false);
    if (!report_any_required(r))
        buf_adds(out, "  nothing was required: no stage said what this run needs, and no --profile was given\n");
}

static void put_stops(struct buf *out, const struct report *r)
{
    if (r->stops.n == 0 && r->input.kind == ERR_NONE)
        return;
    buf_adds(out, "\nstopped\n");
    for (const struct report_line *l = r->stops.first; l; l = l->next) {
        buf_adds(out, "  ");
        report_put_member(out, l->doc, "kind");
        buf_adds(out, "  ");
        report_put_member(out, l->doc, "stage");
        buf_adds(out, ": ");
        report_put_member(out, l->doc, "reason");
        buf_addc(out, '\n');
    }
    if (r->input.kind != ERR_NONE) {
        buf_printf(out, "  %s  ", r->input.kind == ERR_REFUSED ? "refused" : "unfinished");
        msg_mask(out, r->input.text, strlen(r->input.text));
        buf_addc(out, '\n');
    }
}

/* ---- what follows from it ---- */

/* One line of each cause: seen holds those that were written, each with its NUL. False where it stood there. */
static bool see(struct buf *seen, const struct cause *cause)
{
    size_t had = seen->len;
    put_cause(seen, cause);
    buf_addc(seen, '\0');
    for (const char *p = seen->p; p < seen->p + had; p += strlen(p) + 1)
        if (strcmp(p, seen->p + had) == 0) {
            seen->len = had;
            return false;
        }
    return true;
}

static void add_next(struct buf *out, struct buf *seen, const struct cause *cause)
{
    /* What follows from another cause asks for nothing of its own, unless nothing else is at hand. */
    if (cause->code == CODE_NONE || code_follows(cause->code) || !see(seen, cause))
        return;
    buf_adds(out, out->len ? "  - " : "\nnext\n  - ");
    put_cause(out, cause);
    buf_addc(out, '\n');
}

static void add_next_of(struct buf *out, struct buf *seen, const struct json *doc)
{
    struct cause cause;
    if (cause_parse(doc, "line", &cause, NULL) == 0)
        add_next(out, seen, &cause);
}

/* What to do about the causes beside the one that the answer leads with. */
static void put_next(struct buf *to, const struct report *r)
{
    struct buf seen = BUF_INIT, own = BUF_INIT, *out = &own;
    struct cause leads = report_cause(r);
    if (leads.code != CODE_NONE)
        see(&seen, &leads);
    for (const struct report_line *l = r->stops.first; l; l = l->next)
        add_next_of(out, &seen, l->doc);
    /* What failed comes before what could not be decided, which it may explain. */
    for (int failed = 1; failed >= 0; failed--)
        for (const struct report_line *l = r->checks.first; l; l = l->next)
            if (json_is(json_get(l->doc, "status"), status_name(STATUS_FAILED)) == (failed == 1))
                add_next_of(out, &seen, l->doc);
    for (size_t i = 0; i < CHECK_NAMES; i++)
        if (r->required[i] && !r->check[i].made)
            add_next(out, &seen, &r->check[i].cause);
    buf_add(to, own.p, own.len);
    buf_free(&own);
    buf_free(&seen);
}

void report_text(const struct report *r, uint64_t list, struct buf *out)
{
    put_answer(out, r);
    report_put_about(r, out);
    put_stops(out, r);
    report_put_findings(r, list, out);
    put_checks(out, r);
    report_put_established(r, out);
    put_next(out, r);
}
