/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table's TTL: that keys were left out as expired by the one that the table
 * has, and on whose word the answer holds without them.
 */
#include "report/internal.h"

#include "types/definition.h"

#include <inttypes.h>
#include <string.h>

static const char a_check[] = "a check of the destination passed";

static void ttl_of(const struct observation *o, struct arena *a, struct ttl *out)
{
    definition_ttl_of_both(o->create_table_query ? o->create_table_query : "", o->engine_full ? o->engine_full : "", a,
                           out);
}

/* ---- held ---- */

/* What the observation says of the TTL is what the table's definition does. */
static bool is_backed(const struct observation *o)
{
    struct arena a = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct ttl ttl;
    ttl_of(o, &a, &ttl);
    if (ttl.kind == TTL_DELETES)
        ttl_say(&ttl, &text);
    bool backed = ttl.kind == TTL_DELETES && o->ttl && strcmp(o->ttl, buf_str(&text)) == 0 && o->finished.has;
    buf_free(&text);
    arena_free(&a);
    return backed;
}

bool report_has_expiry(const struct report *r)
{
    return r->observed && is_backed(&r->observation);
}

/* Whether a check passed that holds rows against the table's. */
static bool compared(const struct report *r)
{
    for (size_t i = 0; i < RELATION_TYPES; i++)
        if (relation_table[i].found == SIDE_READ1 && report_passed(r, relation_table[i].check))
            return true;
    return false;
}

/* Figures that no reading gives: expired rows without a key, more keys than rows, more rows than were owed. */
static bool figures_fit(const struct report *r)
{
    const struct observation *o = &r->observation;
    uint64_t owed = r->side[SIDE_CAPTURED].rows;
    return !__builtin_add_overflow(owed, r->side[SIDE_REFERENCE].rows, &owed) && o->expired_rows <= owed &&
           o->expired_keys <= o->expired_rows && o->expired_mixed <= o->expired_keys &&
           (o->expired_rows == 0 || o->expired_keys > 0);
}

int report_hold_expiry(const struct report *r, struct err *err)
{
    const struct observation *o = &r->observation;
    struct arena a = ARENA_INIT;
    struct buf lacks = BUF_INIT;
    struct ttl ttl;
    ttl_of(o, &a, &ttl);
    int rc = 0;
    bool deletes = ttl.kind == TTL_DELETES;
    if (ttl.kind == TTL_OTHER)
        rc = err_set(err, ERR_REFUSED,
                     "the observation is of a table with a TTL by which nobody can tell what is gone, and %s", a_check);
    else if (deletes != (o->ttl != NULL) || (deletes && !is_backed(o)))
        rc = err_set(err, ERR_REFUSED, "the observation does not say what had expired by the table's own TTL, and %s",
                     a_check);
    else if (r->has_scope && ttl_lacks(&ttl, &r->scope.columns, &lacks))
        rc = err_set(err, ERR_REFUSED, "the column of the observation's TTL is none of the scope's, and %s", a_check);
    else if (deletes && o->expired_keys != r->excluded_why[EXCLUDED_EXPIRED])
        rc = err_set(err, ERR_REFUSED,
                     "the observation counts %" PRIu64 " expired keys, and the stream names %" PRIu64 ", and %s",
                     o->expired_keys, r->excluded_why[EXCLUDED_EXPIRED], a_check);
    else if (!figures_fit(r))
        rc = err_set(err, ERR_REFUSED,
                     "the observation counts %" PRIu64 " expired rows, of %" PRIu64 " keys, %" PRIu64
                     " of these with others, which cannot be of what was owed, and %s",
                     o->expired_rows, o->expired_keys, o->expired_mixed, a_check);
    else if (o->expired_keys > 0 && compared(r) && (!o->expired_ignored || o->expired_mixed > 0))
        rc = err_set(err, ERR_REFUSED, "%" PRIu64 " keys are left out as expired, %s, and what the table holds passed",
                     o->expired_keys,
                     o->expired_ignored ? "some of them with rows that have not"
                                        : "and nobody says that they are of no matter");
    buf_free(&lacks);
    arena_free(&a);
    return rc;
}

/* ---- said ---- */

static bool any_missing(const struct report *r)
{
    for (const struct report_summary *s = r->summary; s; s = s->next)
        if (relation_table[s->line.relation].found == SIDE_READ1 && s->line.kind_rows[KIND_MISSING] > 0)
            return true;
    return false;
}

void view_expiry(struct view *v)
{
    const struct observation *o = &v->report->observation;
    char when[32] = "-";
    if (!o->ttl)
        return;
    const char *ttl = view_shown(v, o->ttl);
    if (o->finished.has)
        time_iso_ms(o->finished.server_ms, when);
    view_say(v, &v->about, "observed",
             "a TTL, %s: of the owed rows %" PRIu64 " had expired by the server's clock, %s, behind the reads", ttl,
             o->expired_rows, when);
    view_say(v, &v->assumptions, NULL,
             "the table never had another TTL than %s: rows that an earlier one took away are as if they never came",
             ttl);
    if (o->expired_keys == 0)
        return;
    if (o->expired_ignored)
        view_say(
            v, &v->assumptions, NULL,
            "the operator declares that rows past the table's TTL are of no matter, whether they stand there or not");
    if (o->expired_ignored)
        view_say(v, &v->leads, NULL,
                 "assumed, not established: %" PRIu64
                 " keys whose rows are past the table's TTL, %s, are of no matter (--expired=ignore)",
                 o->expired_keys, ttl);
    else
        view_say(
            v, &v->leads, NULL,
            "%" PRIu64
            " keys were left out: their rows are past the table's TTL, %s, and a merge may take them away at any time",
            o->expired_keys, ttl);
    if (o->expired_mixed)
        view_say(v, &v->leads, NULL,
                 "%" PRIu64 " of them owe rows that have not expired too, which were left out with them",
                 o->expired_mixed);
}

void view_not_kept(struct view *v)
{
    const struct report *r = v->report;
    if (r->observed && any_missing(r))
        view_say(v, &v->not_known, NULL,
                 "whether the missing rows had landed: a table keeps no record of partitions that were dropped, of a "
                 "truncation and of an earlier TTL");
}
