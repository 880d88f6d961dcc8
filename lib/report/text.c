/* SPDX-License-Identifier: Apache-2.0 */
/* The view for a person: the answer first, then what it rests on, then what to do. */
#include "report/internal.h"

#include <string.h>

/* `rows-missing: what to do about it`, masked. */
static void put_cause(struct buf *out, const char *before, const struct cause *cause)
{
    buf_printf(out, "%s%s: ", before, code_word(cause->code));
    code_next(cause, out);
    buf_addc(out, '\n');
}

static void put_answer(struct buf *out, const struct view *v)
{
    static const char *const words[] = {[OWED_OK] = "PASSED: every required check passed",
                                        [OWED_FAILED] = "FAILED: ",
                                        [OWED_REFUSED] = "REFUSED: ",
                                        [OWED_TROUBLE] = "NOT DECIDED: "};
    buf_printf(out, "%s%s (exit %d)\n", words[v->exit], v->answer ? v->answer : "", v->exit);
    if (v->meaning)
        buf_printf(out, "        %s\n", v->meaning);
    for (size_t i = 0; i < v->leads.n; i++)
        buf_printf(out, "        %s\n", v->leads.at[i].text);
    if (v->cause.code != CODE_NONE)
        put_cause(out, "        ", &v->cause);
    buf_addc(out, '\n');
}

/* Each text behind its label, which stands once before those that have it in common. */
static void put_labelled(struct buf *out, const struct view_texts *texts)
{
    const char *last = "";
    for (size_t i = 0; i < texts->n; i++) {
        const struct view_text *t = &texts->at[i];
        bool again = strcmp(t->label, last) == 0;
        buf_printf(out, "%-14s%s\n", again ? "" : t->label, t->text);
        last = t->label;
    }
}

static void put_section(struct buf *out, const char *title, const char *separator, const struct view_texts *texts)
{
    if (texts->n)
        buf_printf(out, "\n%s\n", title);
    for (size_t i = 0; i < texts->n; i++)
        buf_printf(out, "  %s%s%s\n", texts->at[i].label ? texts->at[i].label : "", texts->at[i].label ? separator : "",
                   texts->at[i].text);
}

/* ---- checks ---- */

static bool without_a_word(const struct view_check *c)
{
    return c->status == STATUS_PASSED && c->said.n == 0;
}

/* The checks that passed without a word, one line of those that decide and one of the others. */
static void put_passed(struct buf *out, const struct view *v, bool required)
{
    bool any = false;
    for (size_t i = 0; i < v->n_checks; i++) {
        if (v->check[i].required != required || !without_a_word(&v->check[i]))
            continue;
        buf_printf(out, "%s%s", any ? ", " : "  passed        ", check_name_text(v->check[i].name));
        any = true;
    }
    buf_adds(out, !any ? "" : required ? "\n" : "  (not required; do not decide)\n");
}

static void put_check(struct buf *out, const struct view_check *c)
{
    buf_printf(out, "  %-12s  %s", status_name(c->status), check_name_text(c->name));
    if (c->relation < RELATION_TYPES)
        buf_printf(out, "  (%s)", relation_name(c->relation));
    if (c->cause.code != CODE_NONE)
        buf_printf(out, "  %s", code_word(c->cause.code));
    buf_adds(out, c->required ? "\n" : "  (not required; does not decide)\n");
    for (size_t i = 0; i < c->said.n; i++)
        buf_printf(out, "                %s\n", c->said.at[i].text);
}

static void put_checks(struct buf *out, const struct view *v)
{
    buf_adds(out, "\nchecks\n");
    for (size_t i = 0; i < v->n_checks; i++)
        if (!without_a_word(&v->check[i]))
            put_check(out, &v->check[i]);
    put_passed(out, v, true);
    put_passed(out, v, false);
    if (!v->any_required)
        buf_adds(out, "  nothing was required: no stage said what this run needs, and no --profile was given\n");
}

void report_text(const struct view *v, uint64_t list, struct buf *out)
{
    put_answer(out, v);
    put_labelled(out, &v->about);
    put_section(out, "stopped", "  ", &v->stopped);
    view_put_findings(v, list, out);
    put_checks(out, v);
    put_section(out, "verified here", ": ", &v->verified);
    put_section(out, "only recorded in the reference", "", &v->recorded);
    put_section(out, "declared by the operator", "", &v->declared);
    put_section(out, "not established", "", &v->not_known);
    buf_printf(out, "\nassurance\n  %s.\n", v->assurance);
    buf_adds(out, v->n_next ? "\nnext\n" : "");
    for (size_t i = 0; i < v->n_next; i++)
        put_cause(out, "  - ", &v->next[i]);
}
