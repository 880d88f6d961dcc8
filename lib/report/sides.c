/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a comparison that passed rests on: its sides, closed whole before the table
 * was read and before the check was made; its summary, without a difference and of
 * as many rows as the sides had; and no finding.
 */

#include "report/internal.h"

#include <inttypes.h>
#include <string.h>

int report_side_whole(const struct report *r, enum side side, const char *check, struct err *err)
{
    if (!r->side_line[side])
        return err_set(err, ERR_TROUBLE, "no side line of %s: what %s rests on is not in the stream", side_words(side),
                       check);
    if (!r->side[side].whole)
        return err_set(err, ERR_REFUSED, "%s are not whole, and %s passed", side_words(side), check);
    return 0;
}

/* ---- one comparison ---- */

struct compared {
    const struct report *r;
    enum relation relation;
    enum check_name check;
    const char *name; /* of the check */
    struct relation_sides of;
    uint64_t keys, owed_rows, found_rows, excluded, repeated; /* of the summary */
    uint64_t deleted;                                         /* of the same: owed rows that deletions took away */
    uint64_t line_no;                                         /* of the last line that it rests on */
};

static void plan(struct compared *c)
{
    /* Wherever a sink has rows, they name keys too. */
    c->of = relation_sides(c->relation, report_has_reference(c->r), c->r->scope.origin != SCOPE_DECLARED);
}

static bool any_absent(const struct report *r, size_t side)
{
    return side == SIDE_REFERENCE && (r->absent[ABSENT_ABORTED] || r->absent[ABSENT_DELETED]);
}

static int sides(struct compared *c, struct err *err)
{
    const struct observation *o = &c->r->observation;
    for (size_t i = 0; i < SIDES; i++) {
        const struct stream_side *s = &c->r->side[i];
        if (!c->of.need[i])
            continue;
        if (report_side_whole(c->r, (enum side)i, c->name, err) != 0)
            return -1;
        c->line_no = c->r->side_line[i] > c->line_no ? c->r->side_line[i] : c->line_no;
        if (c->of.need[SIDE_READ1] && i <= SIDE_REFERENCE && (s->rows > 0 || any_absent(c->r, i)) && !o->table_whole &&
            c->r->side_line[i] > o->line_no)
            return err_set(err, ERR_REFUSED, "%s came after the table was read, and %s passed",
                           side_words((enum side)i), c->name);
    }
    if (c->of.need[SIDE_READ1] && o->line_no > c->line_no)
        c->line_no = o->line_no;
    return 0;
}

/* The observation counts the reads that the sides do. */
static int reads(const struct compared *c, struct err *err)
{
    if (!c->of.need[SIDE_READ1])
        return 0;
    const struct observation *o = &c->r->observation;
    if (o->n_reads != 2)
        return err_set(err, ERR_REFUSED, "the observation is not of two reads, and %s passed", c->name);
    for (size_t i = 0; i < 2; i++)
        if (o->reads[i].read != i + 1 || o->reads[i].rows != c->r->side[SIDE_READ1 + i].rows)
            return err_set(err, ERR_REFUSED, "the observation does not count the rows of %s, and %s passed",
                           side_words((enum side)(SIDE_READ1 + i)), c->name);
    if (c->r->side[SIDE_READ1].rows != c->r->side[SIDE_READ2].rows && !c->r->excluded_why[EXCLUDED_EXPIRED])
        return err_set(err, ERR_REFUSED, "two reads of the table differ, and %s passed", c->name);
    return 0;
}

static bool add(uint64_t n, uint64_t *to)
{
    return !__builtin_add_overflow(*to, n, to);
}

static int summary(struct compared *c, struct err *err)
{
    const char *relation = relation_name(c->relation);
    bool found = false;
    for (const struct report_summary *s = c->r->summary; s; s = s->next) {
        const struct summary *l = &s->line;
        uint64_t different = l->resent | l->replayed | l->unexplained | l->runs_total | l->tail_rows |
                             l->tail_partitions | l->listed;
        if (s->line.relation != c->relation)
            continue;
        found = true;
        c->line_no = s->line_no > c->line_no ? s->line_no : c->line_no;
        for (size_t k = 0; k < KIND_TYPES; k++)
            different |= l->kind_rows[k] | l->kind_keys[k];
        if (different)
            return err_set(err, ERR_REFUSED, "the summary of %s counts differences, and %s passed", relation, c->name);
        if (s->line.undecided || s->line.ambiguous_keys)
            return err_set(err, ERR_REFUSED, "the summary of %s does not decide, and %s passed", relation, c->name);
        if (!add(s->line.keys, &c->keys) || !add(s->line.owed_rows, &c->owed_rows) ||
            !add(s->line.found_rows, &c->found_rows) || !add(s->line.excluded_keys, &c->excluded) ||
            !add(s->line.repeated_keys, &c->repeated) || !add(s->line.deleted_rows, &c->deleted))
            return err_set(err, ERR_REFUSED, "the summary of %s does not count its keys and rows, and %s passed",
                           relation, c->name);
    }
    if (!found)
        return err_set(err, ERR_TROUBLE, "no summary of %s: what %s compared is not in the stream", relation, c->name);
    for (const struct report_finding *f = c->r->finding; f; f = f->next)
        if (f->line.relation == c->relation)
            return err_set(err, ERR_REFUSED, "line %" PRIu64 ": a finding of %s, and %s passed", f->line_no, relation,
                           c->name);
    return 0;
}

/* A comparison of nothing passes only where both sides are known to be empty. */
static bool empty_fits(const struct compared *c)
{
    if (c->relation == RELATION_REFERENCE_DESTINATION ? c->keys > 0 : c->owed_rows > 0)
        return true;
    return c->r->side[c->of.found].rows == 0 &&
           (c->relation == RELATION_TRANSFORMATION ||
            (scope_complete_table(&c->r->scope) && c->r->observed && c->r->observation.table_whole));
}

/* The relation of every owed key: where only such keys were asked for, it has each row that was read. */
static bool widest(const struct compared *c)
{
    return c->relation == RELATION_REFERENCE_DESTINATION ||
           (c->relation == RELATION_DELIVERY && !report_has_reference(c->r));
}

static int counts(const struct compared *c, struct err *err)
{
    const struct stream_side *owed = &c->r->side[c->of.owed], *found = &c->r->side[c->of.found];
    bool all_found = c->relation == RELATION_TRANSFORMATION || c->relation == RELATION_COVERAGE ||
                     (widest(c) && c->r->excluded == 0 && !c->r->observation.table_whole);
    if (c->excluded > c->r->excluded)
        return err_set(err, ERR_TROUBLE,
                       "%" PRIu64 " keys were left out of %s, and the stream names %" PRIu64 " of them", c->excluded,
                       c->name, c->r->excluded);
    if (c->deleted > owed->rows || (c->deleted > 0 && (c->of.owed != SIDE_REFERENCE || !c->r->absent[ABSENT_DELETED])))
        return err_set(err, ERR_REFUSED,
                       "the summary of %s counts %" PRIu64 " rows that deletions took away, and %s passed",
                       relation_name(c->relation), c->deleted, c->name);
    uint64_t left = owed->rows - c->deleted;
    if (c->owed_rows != c->found_rows || c->owed_rows > left || c->found_rows > found->rows ||
        (c->excluded == 0 && (c->owed_rows != left || (all_found && c->found_rows != found->rows))))
        return err_set(err, ERR_REFUSED,
                       "the summary of %s counts %" PRIu64 " and %" PRIu64 " rows of %" PRIu64 " and %" PRIu64
                       ", and %s passed",
                       relation_name(c->relation), c->owed_rows, c->found_rows, left, found->rows, c->name);
    /* Each key has a row, and one alone where equal ones are not meant. A captured key need not be the reference's. */
    bool one_a_key = c->relation == RELATION_DELIVERY && !c->r->scope.bundle.repeats;
    if (c->relation != RELATION_REFERENCE_DESTINATION &&
        (c->keys > c->owed_rows || (one_a_key && c->keys != c->owed_rows)))
        return err_set(err, ERR_REFUSED, "the summary of %s counts %" PRIu64 " keys of %" PRIu64 " rows, and %s passed",
                       relation_name(c->relation), c->keys, c->owed_rows, c->name);
    uint64_t spare = c->relation == RELATION_REFERENCE_DESTINATION ? c->owed_rows / 2 : c->owed_rows - c->keys;
    if (c->repeated > spare)
        return err_set(err, ERR_REFUSED,
                       "the summary of %s counts %" PRIu64 " keys owed more than once in %" PRIu64 " rows of %" PRIu64
                       " keys, and %s passed",
                       relation_name(c->relation), c->repeated, c->owed_rows, c->keys, c->name);
    if (c->relation == RELATION_COVERAGE && c->excluded > c->r->excluded_why[EXCLUDED_EXPIRED])
        return err_set(err, ERR_REFUSED, "the table holds keys that were left out, and %s passed", c->name);
    if (!empty_fits(c))
        return err_set(err, ERR_REFUSED, "nothing was compared, and %s passed", c->name);
    return 0;
}

/* The check itself: made after all that it rests on, and of the same counts. */
static int made(const struct compared *c, struct err *err)
{
    const struct {
        const char *name;
        uint64_t n;
    } said[] = {{"keys", c->keys}, {"owed_rows", c->owed_rows}, {"found_rows", c->found_rows}};
    for (const struct report_made *m = c->r->made; m; m = m->next) {
        if (m->line.name != c->check)
            continue;
        if (m->line_no < c->line_no)
            return err_set(err, ERR_REFUSED, "line %" PRIu64 ": %s passed before what it rests on had come", m->line_no,
                           c->name);
        uint64_t n;
        for (size_t i = 0; m->line.counts && i < sizeof said / sizeof *said; i++)
            if (json_get(m->line.counts, said[i].name) &&
                (!json_u64(json_get(m->line.counts, said[i].name), &n) || n != said[i].n))
                return err_set(err, ERR_REFUSED, "line %" PRIu64 ": %s counts other %s than its summary", m->line_no,
                               c->name, said[i].name);
    }
    return 0;
}

/* It looks at each key that was read, no more and no fewer. */
static int keys(const struct compared *c, struct err *err)
{
    const struct observation *o = &c->r->observation;
    if (!widest(c) || c->excluded || c->r->excluded || c->r->required[CHECK_DESTINATION_COVERAGE] || !o->has_keys ||
        o->keys == c->keys)
        return 0;
    return err_set(err, ERR_REFUSED, "%" PRIu64 " keys were read and %" PRIu64 " compared, and %s passed", o->keys,
                   c->keys, c->name);
}

int report_hold_comparisons(const struct report *r, struct err *err)
{
    for (size_t i = 0; i < RELATION_TYPES; i++) {
        struct compared c = {.r = r, .relation = (enum relation)i, .check = relation_table[(enum relation)i].check};
        c.name = check_name_text(c.check);
        if (!report_passed(r, c.check))
            continue;
        if (r->rows_left)
            return err_set(err, ERR_TROUBLE, "rows came here that no stage compared, and %s passed", c.name);
        if (!r->columns.first)
            return err_set(err, ERR_TROUBLE, "no columns line: what the cells of %s are is not in the stream", c.name);
        plan(&c);
        if (sides(&c, err) != 0 || reads(&c, err) != 0 || summary(&c, err) != 0 || counts(&c, err) != 0 ||
            made(&c, err) != 0 || keys(&c, err) != 0)
            return -1;
    }
    return 0;
}
