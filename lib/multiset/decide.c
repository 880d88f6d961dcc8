/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deciding: which relations are looked at, whether their sides are fit to be
 * compared, and what the checks say of them.
 */
#include "multiset/decide.h"

#include "multiset/causes.h"

#include <inttypes.h>

/* True where the expectation is a reference's: there, or required and yet to come. */
static bool has_reference(const struct multiset_question *q)
{
    return q->side[SIDE_REFERENCE].seen || q->required[CHECK_REFERENCE_SCOPE] || q->required[CHECK_REFERENCE_CAPTURE] ||
           q->required[CHECK_REFERENCE_DESTINATION];
}

static bool has_captured(const struct multiset_question *q)
{
    return q->side[SIDE_CAPTURED].seen || q->required[CHECK_RECONCILE_ROWS] || q->required[CHECK_REFERENCE_CAPTURE];
}

/* A relation is looked at where the run requires it, or where both its sides are there; one of the whole table where it
 * is required alone. */
static void choose(const struct multiset_question *q, bool chosen[RELATION_TYPES])
{
    bool there[SIDES], any = false;
    for (size_t i = 0; i < SIDES; i++)
        there[i] = q->side[i].seen;
    there[SIDE_READ1] |= there[SIDE_READ2];
    for (size_t r = 0; r < RELATION_TYPES; r++) {
        const struct relation_row *of = &relation_table[r];
        chosen[r] = q->required[of->check] || (r != RELATION_COVERAGE && there[of->owed] && there[of->found]);
        any |= chosen[r];
    }
    /* A comparison of nothing must not look like one that passed. */
    if (!any)
        chosen[q->declared ? RELATION_REFERENCE_DESTINATION : RELATION_DELIVERY] = true;
}

/* Why a side decides nothing, appended to why; false where it is whole. */
static bool side_wanting(const struct multiset_question *q, enum side which, struct cause *cause, struct buf *why)
{
    const struct multiset_side_seen *s = &q->side[which];
    const char *name = side_words(which);
    if (!s->seen)
        buf_printf(why, "%s never came", name);
    else if (!s->closed)
        buf_printf(why, "%s: not whole: %" PRIu64 " rows came and no side line", name, s->rows);
    else if (!s->whole && !(which == SIDE_REFERENCE && q->unreadable))
        buf_printf(why, "%s: not whole: %s", name, s->reason);
    else if (s->said != s->rows)
        buf_printf(why, "%s: not whole: their side line says %" PRIu64 " rows and %" PRIu64 " came", name, s->said,
                   s->rows);
    else if (which == SIDE_REFERENCE && q->unplaced)
        buf_printf(why, "%s: some have no place (at), so that whether a deletion of their key came later is not known",
                   name);
    else
        return false;
    *cause = *BECAUSE(CODE_SIDE_NOT_WHOLE, {"side", name});
    return true;
}

/* What stands in a relation's way. */
struct lack {
    bool blocks; /* a side that it holds against another is not whole: nothing is compared */
    bool keys;   /* the captured side, which would name keys of it, is not: those of the reference are compared */
    struct cause cause; /* of either */
    struct buf why;
};

static void find_lack(const struct multiset_question *q, enum relation r, struct lack *l)
{
    struct relation_sides sides = relation_sides(r, has_reference(q), has_captured(q));
    bool names_keys = sides.need[SIDE_CAPTURED] && sides.owed != SIDE_CAPTURED && sides.found != SIDE_CAPTURED;
    for (size_t i = 0; i < SIDES && !l->blocks; i++)
        l->blocks = sides.need[i] && !(names_keys && i == SIDE_CAPTURED) &&
                    side_wanting(q, (enum side)i, &l->cause, &l->why);
    if (!l->blocks && names_keys)
        l->keys = side_wanting(q, SIDE_CAPTURED, &l->cause, &l->why);
}

/* True where the owed side is a reference that holds records nobody could read: each row of the others must be there,
 * and whatever else is there they may owe. */
static bool may_owe_more(const struct multiset_question *q, enum relation r)
{
    return q->unreadable && relation_sides(r, has_reference(q), has_captured(q)).need[SIDE_REFERENCE];
}

/* Whether a difference of a kind is one all the same. */
static bool is_certain(enum finding_kind kind, bool more)
{
    return !more || kind == KIND_MISSING || kind == KIND_CHANGED;
}

/* True where the table was read whole for an answer about the whole of it, and both reads found no row. */
static bool table_is_empty(const struct multiset_question *q)
{
    return q->required[CHECK_DESTINATION_COVERAGE] && q->table_whole && !q->uncovered.why &&
           q->side[SIDE_READ1].rows == 0 && q->side[SIDE_READ2].rows == 0;
}

/* True where nothing was owed and the sink received nothing: of a complete range no record becomes a row. */
static bool nothing_owed(const struct multiset_question *q)
{
    const struct multiset_side_seen *owed = &q->side[SIDE_REFERENCE], *received = &q->side[SIDE_CAPTURED];
    return owed->whole && owed->rows == 0 && owed->said == 0 && received->whole && received->rows == 0 &&
           received->said == 0;
}

/* Why keys are left out that no reference leaves open. */
static void put_left_out(const struct multiset_question *q, struct buf *why, struct cause *cause)
{
    if (q->expired_ignored) {
        *cause = *BECAUSE(CODE_ROWS_EXPIRED);
        buf_adds(why, ": their rows are past the table's TTL");
    }
    if (!q->left_out.why)
        return;
    *cause = q->left_out.cause;
    buf_printf(why, ": %s", q->left_out.why);
}

/* What a relation without a row to compare comes to, in why; STATUS_TYPES where there are some. */
static enum status nothing_compared(const struct multiset_question *q, enum relation r,
                                    const struct multiset_relation *of, struct buf *why, struct cause *cause)
{
    if (of->sum.ambiguous_keys || (of->sum.keys && (r != RELATION_DELIVERY || of->sum.owed_rows)))
        return STATUS_TYPES;
    cause->code = CODE_SCOPE_EMPTY;
    if (of->sum.excluded_keys) {
        cause->code = CODE_KEYS_LEFT_OUT;
        buf_adds(why, "every key is left out of the comparison");
        put_left_out(q, why, cause);
        return STATUS_UNAVAILABLE;
    }
    if (r == RELATION_TRANSFORMATION || table_is_empty(q)) {
        buf_adds(why, r == RELATION_TRANSFORMATION ? "the reference computes no row, and none was captured"
                                                   : "no row is owed, and the table, read whole, holds none");
        return STATUS_PASSED;
    }
    if (nothing_owed(q)) {
        cause->code = CODE_EMPTY;
        buf_adds(why, "nothing is owed and nothing was received, so no key was looked for");
    } else {
        buf_adds(why, r == RELATION_DELIVERY ? "the sink received no row, so nothing is established"
                                             : "no row names a key, so nothing was looked for");
    }
    return STATUS_UNAVAILABLE;
}

/* Of what is missing, the rows whose token may have outlived them. Where those are all, that is the cause. */
static void put_kept(const struct summary *sum, struct buf *why, struct cause *cause)
{
    uint64_t missing = sum->kind_rows[KIND_MISSING];
    if (!sum->kept)
        return;
    if (sum->kept == missing)
        cause->code = CODE_TOKEN_OUTLIVED_ROWS;
    buf_adds(why, sum->kept == missing ? ", all" : ", ");
    if (sum->kept < missing)
        buf_printf(why, "%" PRIu64 " of them", sum->kept);
    buf_adds(why, " of INSERTs that were sent again under a token which can have outlived its rows");
}

/* Of what is unexpected, the rows whose keys must be absent. Where those are all of one kind, that is the cause. */
static void put_unwanted(const struct summary *sum, struct buf *why, struct cause *cause)
{
    static const enum code codes[ABSENT_TYPES] = {
        [ABSENT_ABORTED] = CODE_ROWS_ABORTED, [ABSENT_DELETED] = CODE_ROWS_NOT_DELETED};
    uint64_t all = sum->kind_rows[KIND_UNEXPECTED];
    for (size_t a = 0; a < ABSENT_TYPES; a++) {
        if (!sum->unwanted[a])
            continue;
        if (sum->unwanted[a] == all && cause->code == CODE_ROWS_UNEXPECTED)
            cause->code = codes[a];
        if (sum->unwanted[a] == all)
            buf_adds(why, ", all");
        else
            buf_printf(why, ", %" PRIu64 " of them", sum->unwanted[a]);
        buf_adds(why, a == ABSENT_ABORTED ? " of records that were aborted" : " of keys that were deleted");
    }
}

/* The differences that are certain (or else those that are not), in why. */
static void put_kinds(const struct multiset_relation *of, bool more, bool certain, struct buf *why, struct cause *cause)
{
    static const char *const text[KIND_TYPES] = {"missing", "changed", "duplicated", "unexpected"};
    const char *separator = "";
    for (size_t k = 0; k < KIND_TYPES; k++)
        if (of->sum.kind_rows[k] && is_certain((enum finding_kind)k, more) == certain) {
            buf_printf(why, "%s%s %" PRIu64 "%s of %" PRIu64 " keys", separator, text[k], of->sum.kind_rows[k],
                       k == KIND_DUPLICATED ? " surplus copies" : " rows", of->sum.kind_keys[k]);
            if (k == KIND_MISSING)
                put_kept(&of->sum, why, cause);
            if (k == KIND_UNEXPECTED)
                put_unwanted(&of->sum, why, cause);
            separator = ", ";
        }
}

/* Surplus rows under keys that owe others: where a key stands in offsets outside the ranges too, they may be theirs. */
static void put_several(const struct summary *sum, struct buf *why, struct cause *cause)
{
    uint64_t rows = sum->beside + sum->kind_rows[KIND_DUPLICATED];
    if (rows == 0)
        return;
    if ((cause->code == CODE_ROWS_DUPLICATED || cause->code == CODE_ROWS_UNEXPECTED) &&
        sum->beside == sum->kind_rows[KIND_UNEXPECTED])
        cause->code = CODE_KEY_NAMES_SEVERAL;
    buf_printf(why,
               "; %" PRIu64
               " rows stand beside what their keys owe: offsets outside the ranges may owe them, if a key names"
               " several rows of the table",
               rows);
}

static enum status differences(const struct multiset_question *q, enum relation r, const struct multiset_relation *of,
                               struct buf *why, struct cause *cause)
{
    static const enum code codes[KIND_TYPES] = {CODE_ROWS_MISSING, CODE_ROWS_CHANGED, CODE_ROWS_DUPLICATED,
                                                CODE_ROWS_UNEXPECTED};
    bool more = may_owe_more(q, r);
    for (size_t k = KIND_TYPES; k-- > 0;)
        cause->code = of->sum.kind_rows[k] && is_certain((enum finding_kind)k, more) ? codes[k] : cause->code;
    put_kinds(of, more, true, why, cause);
    if (q->subrange && r == RELATION_REFERENCE_DESTINATION)
        put_several(&of->sum, why, cause);
    bool failed = why->len > 0,
         late = failed && multiset_only_tail(r, of) && (r == RELATION_DELIVERY || !has_captured(q));
    if (of->sum.ambiguous_keys) {
        cause->code = failed ? cause->code : CODE_KEY_REPEATS;
        buf_printf(why,
                   "%s%" PRIu64 " keys are held twice by the captured rows and cannot be compared, the first of them ",
                   failed ? "; " : "", of->sum.ambiguous_keys);
        multiset_put_key(why, of->ambiguous);
        if (of->ambiguous_at[0] && of->ambiguous_at[1])
            buf_printf(why, " at %s and %s", of->ambiguous_at[0], of->ambiguous_at[1]);
    }
    if (more && (of->sum.kind_rows[KIND_DUPLICATED] || of->sum.kind_rows[KIND_UNEXPECTED])) {
        buf_adds(why, "; not decided, as the records that could not be read may owe them: ");
        put_kinds(of, more, false, why, cause);
    }
    if (of->sum.kind_rows[KIND_MISSING] && relation_table[r].found != SIDE_CAPTURED)
        causes_put(q, r, of, late, why, cause);
    if (failed || of->sum.ambiguous_keys)
        return failed ? STATUS_FAILED : STATUS_UNSUPPORTED;
    if (of->sum.excluded_keys == 0 || (!q->left_out.why && (r != RELATION_COVERAGE || q->expired_ignored)))
        return STATUS_PASSED;
    cause->code = CODE_KEYS_LEFT_OUT;
    buf_printf(why,
               r == RELATION_COVERAGE ? "the table holds rows of %" PRIu64 " keys that are left out of the comparison"
                                      : "%" PRIu64 " keys are left out of the comparison",
               of->sum.excluded_keys);
    put_left_out(q, why, cause);
    return STATUS_UNAVAILABLE;
}

/* Why what was seen decides nothing, in why. */
static bool undecided(const struct multiset_question *q, enum relation r, const struct multiset_result *res,
                      struct buf *why, struct cause *cause)
{
    const struct summary *sum = &res->of[r].sum;
    if (may_owe_more(q, r) && !sum->kind_rows[KIND_MISSING] && !sum->kind_rows[KIND_CHANGED]) {
        const char *name = side_words(SIDE_REFERENCE);
        *cause = *BECAUSE(CODE_SIDE_NOT_WHOLE, {"side", name});
        buf_printf(why, "%s: not whole: %s", name, q->side[SIDE_REFERENCE].reason);
        return true;
    }
    if (relation_table[r].found == SIDE_CAPTURED)
        return false;
    if (res->differ_keys) {
        cause->code = CODE_READS_DIFFER;
        buf_printf(why, "two reads of the table differ for %" PRIu64 " keys, the first of them ", res->differ_keys);
        multiset_put_key(why, res->differ);
    } else if (q->unsettled.why) {
        *cause = q->unsettled.cause;
        buf_adds(why, q->unsettled.why);
    } else if (r == RELATION_COVERAGE && q->uncovered.why) {
        *cause = q->uncovered.cause;
        buf_adds(why, q->uncovered.why);
    } else if (r == RELATION_COVERAGE && !q->table_whole) {
        cause->code = CODE_TABLE_NOT_READ_WHOLE;
        buf_adds(why, "the table was not read whole");
    }
    return why->len > 0;
}

/* A difference counts whatever other keys there may be; without one the keys that nobody named decide. */
static enum status without_keys(struct lack *l, enum status status, struct cause *cause, struct buf *why)
{
    buf_printf(why, "%sthe reference's keys alone were compared: %s", why->len ? "; " : "", buf_str(&l->why));
    if (status == STATUS_FAILED)
        return status;
    *cause = l->cause;
    return STATUS_UNAVAILABLE;
}

/* Puts the relation's lines; true where it was decided. */
static bool put_relation(const struct multiset_question *q, const struct columns *columns, struct stream_out *out,
                         enum relation r, const struct multiset_result *res, struct lack *lack)
{
    const struct multiset_relation *of = &res->of[r];
    struct buf why = BUF_INIT, counts = BUF_INIT;
    enum status status = STATUS_UNAVAILABLE;
    struct cause cause = CAUSE_INIT;
    bool seen_only = undecided(q, r, res, &why, &cause);
    multiset_put(out, r, of, columns, seen_only, may_owe_more(q, r));
    if (!seen_only) {
        status = nothing_compared(q, r, of, &why, &cause);
        if (status == STATUS_TYPES)
            status = differences(q, r, of, &why, &cause);
        if (lack->keys)
            status = without_keys(lack, status, &cause, &why);
    }
    buf_adds(&counts, "{\"keys\":");
    json_put_u64(&counts, of->sum.keys);
    buf_adds(&counts, ",\"owed_rows\":");
    json_put_u64(&counts, of->sum.owed_rows);
    buf_adds(&counts, ",\"found_rows\":");
    json_put_u64(&counts, of->sum.found_rows);
    buf_adds(&counts, "}");
    stream_put_check(out, relation_table[r].check, status, &cause, buf_str(&why), NULL, buf_str(&counts));
    buf_free(&why);
    buf_free(&counts);
    return !seen_only;
}

/* ---- the places of missing rows ---- */

struct offsets {
    struct file_out file;
    struct buf line;
};

static int put_offset(void *ctx, const char *topic, uint64_t partition, uint64_t offset, struct err *err)
{
    struct offsets *o = ctx;
    buf_reset(&o->line);
    buf_printf(&o->line, "%s %" PRIu64 " %" PRIu64 "\n", topic, partition, offset);
    return file_add(&o->file, o->line.p, o->line.len, err);
}

/* What the table should hold: by the reference, else by what was captured. RELATION_TYPES where no rows of it are asked
 * about. */
static enum relation tells_offsets(const bool asked[RELATION_TYPES])
{
    static const enum relation order[] = {RELATION_REFERENCE_DESTINATION, RELATION_DELIVERY, RELATION_COVERAGE};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (asked[order[i]])
            return order[i];
    return RELATION_TYPES;
}

/* Nothing stands under the name unless it is all of it. */
static void offsets_end(struct offsets *o, const struct multiset_relation *decided, struct stream_out *out)
{
    struct err err = ERR_INIT;
    uint64_t missing = decided ? decided->sum.kind_rows[KIND_MISSING] : 0;
    if (decided && missing > decided->missing.placed)
        msg_error("--offsets: %" PRIu64 " of %" PRIu64 " missing rows have no place, and are not in the file",
                  missing - decided->missing.placed, missing);
    if (decided && file_commit(&o->file, &err) != 0)
        stream_put_stop(out, &err, CODE_IO_FAILED);
    if (!decided) {
        msg_error("--offsets: no file is written, since nothing is decided of the rows of the table");
        file_drop(&o->file);
    }
    buf_free(&o->line);
}

/* Cells of a type that has none are nobody's canonical cells: equal bytes of them say nothing. */
static bool without_cells(const struct columns *columns, struct cause *cause, struct buf *why)
{
    for (size_t i = 0; i < columns->n; i++) {
        const struct column *c = &columns->at[i];
        const char *what;
        enum code lacks = column_lacks(c, &what);
        if (lacks != CODE_NONE) {
            *cause = *BECAUSE(lacks, {"column", c->name});
            buf_printf(why, "column '%s' is %s, %s", c->name, c->type.name, what);
            return true;
        }
    }
    return false;
}

static void compare_and_put(const struct multiset_question *q, struct multiset *rows, const struct columns *columns,
                            const struct multiset_asked *asked, struct lack lack[RELATION_TYPES], const char *path,
                            struct stream_out *out)
{
    struct multiset_result res = {0};
    struct offsets offsets = {.line = BUF_INIT};
    struct err err = ERR_INIT;
    bool decided = false;
    struct multiset_asked with = *asked;
    with.missing_of = path ? tells_offsets(asked->relation) : RELATION_TYPES;
    if (path && file_begin(&offsets.file, path, &err) == 0) {
        with.missing = put_offset;
        with.missing_ctx = &offsets;
    }
    bool any = false;
    for (size_t r = 0; r < RELATION_TYPES; r++)
        any |= asked->relation[r];
    if (err.kind != ERR_NONE || (any && rows && multiset_compare(rows, &with, &res, &err) != 0))
        stream_put_stop(out, &err, CODE_IO_FAILED);
    for (size_t r = 0; r < RELATION_TYPES; r++)
        if (err.kind == ERR_NONE && asked->relation[r])
            decided |= put_relation(q, columns, out, (enum relation)r, &res, &lack[r]) && r == with.missing_of;
    if (with.missing)
        offsets_end(&offsets, decided ? &res.of[with.missing_of] : NULL, out);
}

void multiset_decide(const struct multiset_question *q, struct multiset *rows, const struct columns *columns,
                     const char *offsets, struct stream_out *out)
{
    struct multiset_asked asked = {
        .reference = has_reference(q), .repeats = q->repeats, .consumed = causes_consumed, .consumed_ctx = q};
    struct lack lack[RELATION_TYPES] = {0};
    bool chosen[RELATION_TYPES];
    choose(q, chosen);
    struct buf other = BUF_INIT;
    struct cause no_cells = CAUSE_INIT;
    bool unsupported = without_cells(columns, &no_cells, &other);
    for (size_t r = 0; r < RELATION_TYPES; r++) {
        struct lack *l = &lack[r];
        if (chosen[r])
            find_lack(q, (enum relation)r, l);
        asked.relation[r] = chosen[r] && !l->blocks && !unsupported;
        asked.reference_keys |= l->keys;
        if (l->blocks)
            stream_put_check(out, relation_table[r].check, STATUS_UNAVAILABLE, &l->cause, buf_str(&l->why), NULL, NULL);
        else if (chosen[r] && unsupported)
            stream_put_check(out, relation_table[r].check, STATUS_UNSUPPORTED, &no_cells, buf_str(&other), NULL, NULL);
    }
    compare_and_put(q, rows, columns, &asked, lack, offsets, out);
    for (size_t r = 0; r < RELATION_TYPES; r++)
        buf_free(&lack[r].why);
    buf_free(&other);
}
