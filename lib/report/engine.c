/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the table's engine does to its rows: that the observation was read as the
 * scope says, and what a reader must know of it.
 */
#include "report/internal.h"

#include "types/definition.h"
#include "types/engine.h"

#include <string.h>

static const char a_check[] = "a check of the destination passed";

/* The settings without which FINAL may show a stale row, where the server has them. */
static const char *const pinned[] = {
    "do_not_merge_across_partitions_select_final", "enable_automatic_decision_for_merging_across_partitions_for_final",
    "defer_partition_pruning_after_final",         "optimize_move_to_prewhere_if_final",
    "use_skip_indexes_if_final_exact_mode",        "query_plan_optimize_lazy_final"};

/* What the observation names as the table's engine. */
static void engine_of(const struct observation *o, struct arena *a, struct engine *out)
{
    const char *name = o->engine ? o->engine : "";
    engine_parse(name, o->engine_full ? o->engine_full : name, a, out);
}

/* ---- held ---- */

/* FINAL shows the scope's last rows only of the engine and the sorting key that the scope names. */
static int hold_final(const struct report *r, const struct engine *found, struct err *err)
{
    const struct observation *o = &r->observation;
    const struct engine *meant = r->has_scope ? scope_final(&r->scope) : NULL;
    if (o->final != (meant != NULL))
        return err_set(err, ERR_REFUSED, "the observation %s, and the scope is of %s, and %s",
                       o->final ? "was read with FINAL" : "was not read with FINAL",
                       meant ? "the last row of each key" : "every row", a_check);
    if (!meant)
        return 0;
    if (!engine_same(meant, found))
        return err_set(err, ERR_REFUSED, "the observation's engine is not that of the scope's last rows, and %s",
                       a_check);
    if (!engine_sorts_by(found, o->sorting_key ? o->sorting_key : "", &r->scope.columns))
        return err_set(err, ERR_REFUSED, "the observation's sorting key is not the scope's key, and %s", a_check);
    if (o->undetermined_keys != r->excluded_why[EXCLUDED_UNDETERMINED])
        return err_set(err, ERR_REFUSED,
                       "the observation counts %" PRIu64 " undetermined keys, and the stream names %" PRIu64 ", and %s",
                       o->undetermined_keys, r->excluded_why[EXCLUDED_UNDETERMINED], a_check);
    return 0;
}

/* A UUID in the one spelling that the server has, and not the one of none. */
static bool is_uuid(const char *s)
{
    bool some = false;
    size_t i = 0;
    for (; s[i] != '\0'; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s[i] != '-' : !strchr("0123456789abcdef", s[i]))
            return false;
        some = some || (!dash && s[i] != '0');
    }
    return i == 36 && some;
}

/* The two texts that a server has of a table are of one engine: what one of them alone says was put in. */
static bool definitions_agree(const char *create, const char *engine_full)
{
    return !create || *create == '\0' || !engine_full || *engine_full == '\0' ||
           definition_has_engine(create, engine_full);
}

/* Each table under a Merge is held to what one is that was read alone. */
static int hold_merge(const struct observation *o, const struct engine *found, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct map uuids = MAP_INIT, names = MAP_INIT;
    int rc = 0;
    if (o->table_uuid)
        map_add(&uuids, o->table_uuid, strlen(o->table_uuid), 0);
    if ((found->kind == ENGINE_MERGE) != (o->n_tables > 0))
        rc = err_set(err, ERR_REFUSED, "the observation is of a%s, and %s",
                     o->n_tables > 0 ? " table with others under it and no Merge" : " Merge without a table under it",
                     a_check);
    for (size_t i = 0; i < o->n_tables && rc == 0; i++) {
        const struct observed_under *u = &o->tables[i];
        struct engine e;
        engine_parse(u->engine, u->engine_full, &a, &e);
        const char *wrong = NULL;
        if (e.kind != ENGINE_PLAIN || e.replicated)
            wrong = "is of another engine than " OBSERVED_ENGINE;
        else if (definition_has_ttl(u->engine_full) || definition_has_ttl(u->create_table_query))
            wrong = "has a TTL";
        else if (!is_uuid(u->table_uuid) || !map_add(&uuids, u->table_uuid, strlen(u->table_uuid), i))
            wrong = "has no UUID of its own";
        else if (!map_add(&names, u->table, strlen(u->table), i))
            wrong = "is there twice";
        else if (!definitions_agree(u->create_table_query, u->engine_full))
            wrong = "has two definitions, of two engines";
        if (wrong)
            rc = err_set(err, ERR_REFUSED, "the observation's table '%.100s' under the Merge %s, and %s", u->table,
                         wrong, a_check);
    }
    map_free(&names);
    map_free(&uuids);
    arena_free(&a);
    return rc;
}

/* A replica's rows are the table's only where it had all that the log holds, before they were read and after. */
static int hold_replica(const struct report *r, const struct engine *found, struct err *err)
{
    const struct observation *o = &r->observation;
    const struct scope_declared *d = &r->scope.declared;
    struct buf why = BUF_INIT;
    int rc = 0;
    if (!found->replicated)
        rc = o->has_replica || (r->has_scope && d->replica_path)
                 ? err_set(err, ERR_REFUSED,
                           "the observation's table is not replicated, and it or the scope names a replica, and %s",
                           a_check)
                 : 0;
    else if (!o->has_replica)
        rc = err_set(err, ERR_REFUSED, "the observation is of a replicated table and of no replica, and %s", a_check);
    else if (r->has_scope && d->replica_path &&
             (strcmp(d->replica_path, o->replica.path) != 0 || strcmp(d->replica_name, o->replica.name) != 0))
        rc = err_set(err, ERR_REFUSED, "the observation's replica is not the scope's, and %s", a_check);
    else if (replica_unfit(&o->replica, &why) != CODE_NONE)
        rc = err_set(err, ERR_REFUSED, "the observation's replica could not stand for the table, %s, and %s",
                     buf_str(&why), a_check);
    buf_free(&why);
    return rc;
}

int report_hold_engine(const struct report *r, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct engine found;
    engine_of(&r->observation, &a, &found);
    bool declared = r->has_scope && r->scope.origin == SCOPE_DECLARED;
    int rc = 0;
    if ((found.kind != ENGINE_PLAIN || found.replicated) && !(declared && engine_shows_rows(&found)))
        rc = err_set(err, ERR_REFUSED, "the observation is of another engine than %s, and %s", OBSERVED_ENGINE,
                     a_check);
    else if (found.kind == ENGINE_VIEW && report_passed(r, CHECK_DESTINATION_COVERAGE))
        rc = err_set(err, ERR_REFUSED, "the observation is of a view, and %s passed",
                     check_name_text(CHECK_DESTINATION_COVERAGE));
    else if (hold_merge(&r->observation, &found, err) != 0)
        rc = -1;
    else if (hold_final(r, &found, err) != 0)
        rc = -1;
    else
        rc = hold_replica(r, &found, err);
    arena_free(&a);
    return rc;
}

int report_hold_definitions(const struct report *r, struct err *err)
{
    const struct observation *o = &r->observation;
    if (definitions_agree(o->create_table_query, o->engine_full))
        return 0;
    return err_set(err, ERR_REFUSED, "the observation's two definitions of the table are of two engines, and %s",
                   a_check);
}

/* ---- said ---- */

static bool was_sent(const struct observation *o, const char *name)
{
    for (size_t i = 0; i < o->n_settings; i++)
        if (strcmp(o->settings[i].name, name) == 0)
            return true;
    return false;
}

static void say_final(struct view *v, const struct engine *e, const struct observation *o)
{
    struct buf text = BUF_INIT;
    engine_say(e, &text);
    view_say(v, &v->about, "observed", "with FINAL: of each key the row that the table, a %s, shows as the last",
             view_shown(v, buf_str(&text)));
    buf_reset(&text);
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        if (!was_sent(o, pinned[i]))
            buf_printf(&text, "%s%s", text.len > 0 ? ", " : "", pinned[i]);
    if (text.len > 0)
        view_say(v, &v->about, "observed",
                 "settings of FINAL that this server does not have, and that were not pinned: %s", buf_str(&text));
    buf_free(&text);
    if (o->undetermined_keys)
        view_say(v, &v->leads, NULL,
                 "%" PRIu64
                 " keys have several rows of the highest version that differ: which one FINAL shows is chance",
                 o->undetermined_keys);
    if (o->unpaired)
        view_say(v, &v->leads, NULL, "%" PRIu64 " keys have more rows with the sign -1 than with 1: %s", o->unpaired,
                 e->kind == ENGINE_VERSIONED
                     ? "FINAL shows such a row"
                     : "FINAL does not show them, and the next row of such a key will be lost to them");
    if (o->partition_key && !engine_within_key(o->partition_key, &v->report->scope.columns))
        view_say(
            v, &v->leads, NULL,
            "the partition key, %s, is no function of the sorting key: rows of a key in several partitions are never merged, and FINAL alone makes one of them",
            view_shown(v, o->partition_key));
}

static void say_replica(struct view *v, const struct observation *o)
{
    const struct replica *r = &o->replica;
    const struct replica_state *last = r->has_after ? &r->after : &r->before;
    const char *name = view_shown(v, r->name), *path = view_shown(v, r->path);
    bool sent = was_sent(o, REPLICA_SETTING);
    view_say(v, &v->about, "observed",
             "replica %s of %s, one of %" PRIu64 " of which %" PRIu64 " are active; of the log's entries up to %" PRIu64
             " it had taken those before %" PRIu64 ", and %" PRIu64 " waited in its queue",
             name, path, last->replicas, last->active, last->log_max, last->log_pointer, last->queue);
    if (o->n_reads == 0)
        return;
    view_say(v, &v->leads, NULL,
             "the answer is of replica %s of %s alone; how replicas are read was never run on a server", name, path);
    view_say(v, &v->about, "observed", REPLICA_SETTING " %s",
             sent ? "went with every statement that read rows" : "was not sent: the server does not take it");
    const uint64_t behind = r->has_before && r->before.delay_s > last->delay_s ? r->before.delay_s : last->delay_s;
    if (behind)
        view_say(v, &v->leads, NULL,
                 "the replica said that it was %" PRIu64 " s behind, and the operator allows %" PRIu64
                 ": rows of that time may not be in this answer",
                 behind, r->max_delay_s);
    if (last->lost_parts)
        view_say(v, &v->leads, NULL, "%" PRIu64 " parts of the table were lost since it was made, on all replicas",
                 last->lost_parts);
    view_say(v, &v->not_known, NULL, "what the other replicas of the table hold: they were not read");
    view_say(
        v, &v->assumptions, NULL,
        "ZooKeeper or Keeper showed the replica all entries of the table's log: one that another replica wrote a moment before may be missing");
}

static void say_every_row(struct view *v, const struct engine *e)
{
    view_say(
        v, &v->leads, NULL,
        "every row that stands was compared, and merges of the table, a %s, take rows of equal keys away at any time",
        engine_name(e));
    view_say(
        v, &v->assumptions, NULL,
        "rows that a merge of the %s took away before the read were never there for this answer: a row that is missing may have been there",
        engine_name(e));
}

static void say_view(struct view *v)
{
    view_say(
        v, &v->leads, NULL,
        "the table was read through a view: the tables behind it, their engines and their mutations were not looked at");
    view_say(v, &v->assumptions, NULL, "the view shows what the operator means by the table");
}

#define TABLES_SHOWN 5

static void say_merge(struct view *v, const struct observation *o)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < o->n_tables && i < TABLES_SHOWN; i++)
        buf_printf(&text, "%s%s", i > 0 ? ", " : "", view_shown(v, o->tables[i].table));
    if (o->n_tables > TABLES_SHOWN)
        buf_printf(&text, " and %zu more", o->n_tables - TABLES_SHOWN);
    view_say(v, &v->leads, NULL, "the table was read through a Merge of %zu table%s: %s", o->n_tables,
             o->n_tables == 1 ? "" : "s", buf_str(&text));
    view_say(v, &v->assumptions, NULL,
             "the tables that the Merge finds by their names are those that the operator means");
    buf_free(&text);
}

void view_engine(struct view *v)
{
    const struct report *r = v->report;
    struct arena a = ARENA_INIT;
    struct engine e;
    engine_of(&r->observation, &a, &e);
    if (r->observation.has_replica)
        say_replica(v, &r->observation);
    if (r->observation.final && r->has_scope)
        say_final(v, &e, &r->observation);
    else if (engine_merges(&e) && r->observation.n_reads > 0)
        say_every_row(v, &e);
    else if (e.kind == ENGINE_VIEW && r->observation.n_reads > 0)
        say_view(v);
    else if (e.kind == ENGINE_MERGE && r->observation.n_reads > 0)
        say_merge(v, &r->observation);
    arena_free(&a);
}
