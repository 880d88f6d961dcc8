/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer is about: the scope and its ranges, the reference, what was observed, and how much of the table that
 * covers. */
#include "json/redact.h"
#include "report/internal.h"

#include <inttypes.h>
#include <string.h>

/* ---- the scope ---- */

/* What was read of a range: `: 1890 records (3 null), 10 offsets not delivered (7 aborted, 3 markers or absent)`. */
static void put_figures(struct view *v, const char *topic, uint64_t partition, struct buf *out)
{
    bool only_recorded;
    const struct account_range *range = report_range(v->report, topic, partition, &only_recorded);
    if (!range)
        return;
    buf_printf(out, ": %" PRIu64 " records", range->delivered.n);
    if (range->null_values.n)
        buf_printf(out, " (%" PRIu64 " null)", range->null_values.n);
    buf_printf(out, ", %" PRIu64 " offsets not delivered", range->not_delivered.n);
    if (range->aborted.has)
        buf_printf(out, " (%" PRIu64 " aborted, %" PRIu64 " markers or absent)", range->aborted.n,
                   range->marker_or_absent.n);
    if (range->has_complete && !range->complete)
        buf_printf(out, ", INCOMPLETE: %s", view_shown(v, range->reason));
    buf_adds(out, only_recorded ? ", as the reference records" : "");
}

static void say_sources(struct view *v)
{
    const struct scope *scope = &v->report->scope;
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < scope->n_sources; i++) {
        const struct scope_source *s = &scope->sources[i];
        for (size_t k = 0; k < s->n_partitions; k++) {
            const struct scope_range *p = &s->partitions[k];
            buf_reset(&text);
            if (p->has_from)
                buf_printf(&text, "%" PRId64, p->from);
            else
                buf_addc(&text, '-');
            buf_printf(&text, ", %" PRId64 ")", p->to);
            put_figures(v, s->topic, p->partition, &text);
            view_say(v, &v->about, "scope", "%s/%" PRIu64 " offsets [%s", view_shown(v, s->topic), p->partition,
                     buf_str(&text));
        }
    }
    if (scope->declared.from || scope->declared.to) {
        buf_reset(&text);
        scope_chosen_say(scope, &text);
        view_say(v, &v->about, "scope", "%s", view_shown(v, buf_str(&text)));
    }
    for (size_t i = 0; i < scope->declared.n_gone; i++) {
        buf_reset(&text);
        scope_gone_say(&scope->declared.gone[i], &text);
        view_say(v, &v->about, "scope", "%s", view_shown(v, buf_str(&text)));
    }
    buf_free(&text);
}

static void say_scope(struct view *v)
{
    const struct scope *s = &v->report->scope;
    const struct scope_bundle *b = &s->bundle;
    const struct json *document = json_get(v->report->scopes.first->doc, "document");
    const struct json *epochs = json_get(json_get(document, "bundle"), "epochs");
    const char *database = view_shown(v, s->database), *table = view_shown(v, s->table), *in = view_json(v, epochs);
    if (s->origin == SCOPE_DECLARED) {
        view_say(v, &v->about, "asked", "does %s.%s hold exactly what these offsets owe it", database, table);
        view_say(v, &v->about, "scope", "declared by the operator, not taken from a bundle");
    } else {
        view_say(v, &v->about, "asked", "does %s.%s hold exactly what checkpoint %" PRIu64 " of job %s owed it",
                 database, table, b->checkpoint, view_shown(v, b->job));
        if (b->start == SCOPE_FROM_RESTORE && b->restored_from == 0)
            view_say(v, &v->about, "scope", "after a start from nothing that followed an earlier attempt, intervals %s",
                     in);
        else if (b->start == SCOPE_FROM_RESTORE)
            view_say(v, &v->about, "scope", "after the restore of checkpoint %" PRIu64 ", intervals %s",
                     b->restored_from, in);
        else if (b->since)
            view_say(v, &v->about, "scope", "after checkpoint %" PRIu64 ", intervals %s", b->since, in);
        else
            view_say(v, &v->about, "scope", "after the run's start, intervals %s", in);
    }
    say_sources(v);
    if (s->declared.zone)
        view_say(v, &v->about, "scope", "times without a zone are of %s", view_shown(v, s->declared.zone));
    if (s->declared.n_left > 0) {
        struct buf text = BUF_INIT;
        scope_left_say(s, &text);
        view_say(v, &v->about, "not compared", "%s", view_shown(v, buf_str(&text)));
        buf_free(&text);
    }
}

static void say_bundle(struct view *v)
{
    const struct json *doc = v->report->bundles.first->doc;
    view_say(v, &v->about, "asked", "about the bundle %s of job %s, checkpoint %s", view_json(v, json_get(doc, "path")),
             view_json(v, json_get(doc, "job")), view_json(v, json_get(doc, "checkpoint")));
}

/* ---- the reference ---- */

/* The records that nobody could read, those that the account names by their places. */
static void say_unreadable(struct view *v, const struct stream_account *run)
{
    const struct json *places = json_get(run->doc, "unreadable_records");
    size_t n = places ? places->len : 0;
    for (const struct json *at = n ? json_first(places) : NULL; at; at = json_next(places, at))
        view_say(v, &v->about, "unreadable", "%s", view_json(v, at));
    if (n > 0 && run->unreadable.n > n)
        view_say(v, &v->about, "unreadable", "and %" PRIu64 " more", run->unreadable.n - n);
}

static void say_program(struct view *v, const struct stream_account *run)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%" PRIu64 " records went to %s", run->records.n, view_shown(v, run->program));
    if (run->null_values.n)
        buf_printf(&text, ", %" PRIu64 " of them null", run->null_values.n);
    if (run->unreadable.n)
        buf_printf(&text, ", %" PRIu64 " that could not be read", run->unreadable.n);
    if (run->without_row.has)
        buf_printf(&text, ", and it gave no row for %" PRIu64 " of them", run->without_row.n);
    else
        buf_adds(&text, "; which of them have no row is not known");
    if (run->without_row.has && run->skips.has)
        buf_printf(&text, " (%" PRIu64 " skips)", run->skips.n);
    view_say(v, &v->about, "reference", "%s", buf_str(&text));
    say_unreadable(v, run);
    buf_free(&text);
}

static void say_reference(struct view *v, const struct stream_account *a)
{
    const struct stream_account *program = &v->report->kept[ACCOUNT_PROGRAM];
    const char *by = report_implementation(v, a);
    bool unreadable = a->cause.code == CODE_RECORDS_UNREADABLE;
    if (a->complete)
        view_say(v, &v->about, "reference", "%s, %" PRIu64 " rows", by, a->rows.n);
    else
        view_say(v, &v->about, "reference", "%s, INCOMPLETE and %s: %s", by,
                 unreadable ? "compared for what could be read" : "not compared",
                 view_list(v, json_get(a->doc, "reasons")));
    if (program->stage && (a->complete || program->unreadable.n > 0))
        say_program(v, program);
}

/* A fraction has seldom a float of its own: how many were compared as the one next to it. */
static void say_nearest(struct view *v)
{
    for (size_t i = 0; i < SIDES; i++)
        if (v->report->side[i].nearest)
            view_say(v, &v->about, "compared", "%" PRIu64 " fractions of %s as the nearest value of their float column",
                     v->report->side[i].nearest, side_words((enum side)i));
}

/* ---- the consumers ---- */

/* How far each group that was looked at had read a topic. */
static void say_consumed(struct view *v)
{
    const struct report *r = v->report;
    for (size_t i = 0; i < r->n_logs; i++)
        for (size_t k = 0; k < r->log[i].n_groups; k++) {
            const struct log_group *g = &r->log[i].groups[k];
            const char *topic = view_shown(v, r->log[i].topic), *name = view_shown(v, g->name);
            uint64_t lag = 0;
            for (size_t p = 0; p < g->n; p++)
                lag += (uint64_t)g->at[p].lag;
            if (strcmp(g->state, LOG_GROUP_UNKNOWN) == 0)
                view_say(v, &v->about, "consumed", "the cluster knows no group %s", name);
            else if (g->n == 0)
                view_say(v, &v->about, "consumed", "group %s (%s, %" PRIu64 " members) has committed nothing of %s",
                         name, view_shown(v, g->state), g->members, topic);
            else
                view_say(v, &v->about, "consumed",
                         "group %s (%s, %" PRIu64 " members) has committed in %zu partitions of %s, %" PRIu64
                         " offsets short of their ends",
                         name, view_shown(v, g->state), g->members, g->n, topic, lag);
        }
}

/* ---- the destination ---- */

/* A stream may be edited, and what stands in it shown: neither its definition nor its address with a credential. */
static const char *without_credentials(struct view *v, const char *s)
{
    struct buf text = BUF_INIT;
    redact_text(&text, s ? s : "", s ? strlen(s) : 0);
    const char *shown = view_shown(v, s ? buf_str(&text) : NULL);
    buf_free(&text);
    return shown;
}

static void say_observation(struct view *v, const struct observation *o)
{
    char when[32] = "-";
    struct buf text = BUF_INIT;
    if (o->started.has)
        time_iso_ms(o->started.client_ms, when);
    for (size_t i = 0; i < o->n_reads; i++)
        buf_printf(&text, "%s read %" PRIu64 ": %" PRIu64 " rows", i ? "," : ";", o->reads[i].read, o->reads[i].rows);
    view_say(v, &v->about, "observed", "%s at %s (%s)%s", when, without_credentials(v, o->endpoint),
             view_shown(v, o->server_version), buf_str(&text));
    if (o->n_mutations)
        view_say(v, &v->about, "observed",
                 "%zu mutations of the table are recorded by the server; their effect is part of what was read",
                 o->n_mutations);
    buf_free(&text);
}

/* `MergeTree ORDER BY id, at http://host:8123 on host (26.5.1.1); deduplication window 0`. */
static void put_table(struct view *v, struct buf *out, const char *definition, const char *endpoint, const char *host,
                      const char *version, const char *window)
{
    buf_printf(out, "%s, at %s on %s (%s); deduplication window %s", without_credentials(v, definition),
               without_credentials(v, endpoint), view_shown(v, host), view_shown(v, version), view_shown(v, window));
}

/* The table as the sink found it, and what it promised of it. */
static void say_recorded(struct view *v, const struct destination *d)
{
    struct buf text = BUF_INIT;
    bool drops = d->dedup_window && strcmp(d->dedup_window, "0") != 0;
    put_table(v, &text, d->engine_full, d->endpoint, d->server_host, d->server_version, d->dedup_window);
    view_say(v, &v->about, "recorded", "%s, async_insert %s, wait_for_async_insert %s", buf_str(&text),
             view_shown(v, d->async_insert), view_shown(v, d->wait_for_async_insert));
    view_say(v, &v->about, "recorded", "its sink promises at-least-once; %s",
             drops ? "a resend under its own token is dropped within the window, and any other may stand twice"
                   : "nothing drops a resend");
    buf_free(&text);
}

/* The table as it was found, beside that. */
static void say_found(struct view *v, const struct observation *o)
{
    const struct destination *d = v->table_recorded;
    struct buf text = BUF_INIT;
    const char *definition = o->create_table_query;
    put_table(v, &text, o->engine_full ? o->engine_full : o->engine, o->endpoint, o->server_host, o->server_version,
              o->dedup_window);
    if (d && definition)
        buf_adds(&text, strcmp(definition, d->create_table_query) == 0
                            ? "; its definition is the recorded one"
                            : "; its definition is another than the recorded one");
    view_say(v, &v->about, "observed", "%s", buf_str(&text));
    buf_free(&text);
}

static void say_coverage(struct view *v)
{
    const struct view_coverage *c = &v->coverage;
    if (c->read && c->established)
        view_say(v, &v->about, "coverage", "the whole table, %" PRIu64 " rows", c->rows);
    else if (c->read && c->whole)
        view_say(v, &v->about, "coverage", "%sthe table was read whole, %" PRIu64 " rows",
                 c->asked ? "the whole table was asked for and is not established; " : "", c->rows);
    else if (c->read)
        view_say(v, &v->about, "coverage", "%s%" PRIu64 " selected keys; the rest of the table is not established",
                 c->asked ? "the whole table was asked for and is not established; " : "", c->keys);
}

void view_about(struct view *v)
{
    const struct report *r = v->report;
    const struct report_check *check = &r->check[CHECK_DESTINATION_COVERAGE];
    v->coverage.asked = r->required[CHECK_DESTINATION_COVERAGE];
    v->coverage.established = v->coverage.asked && check->made && check->status == STATUS_PASSED;
    if (r->has_scope)
        say_scope(v);
    else if (r->bundles.first)
        say_bundle(v);
    if (report_reference(r))
        say_reference(v, report_reference(r));
    say_consumed(v);
    say_nearest(v);
    for (size_t i = 0; i < EXCLUDED_TYPES; i++)
        if (r->excluded_why[i])
            view_say(v, &v->about, "left out", "%" PRIu64 " keys %s", r->excluded_why[i],
                     excluded_why_words((enum excluded_why)i));
    for (size_t i = 0; i < ABSENT_TYPES; i++)
        if (r->absent[i])
            view_say(v, &v->about, "absent",
                     "%" PRIu64 " %s: no row may stand under their keys, but where another one is owed there",
                     r->absent[i], absent_why_from((enum absent_why)i));
    for (const struct report_interval *i = r->interval; i && !v->table_recorded; i = i->next)
        v->table_recorded = i->line.has_destination ? &i->line.iv.destination : NULL;
    if (v->table_recorded)
        say_recorded(v, v->table_recorded);
    if (!r->observed)
        return;
    v->coverage.read = r->observation.n_reads > 0;
    v->coverage.whole = v->coverage.read && r->observation.table_whole;
    v->coverage.keys = r->observation.keys;
    v->coverage.rows = report_rows_read(r);
    say_observation(v, &r->observation);
    say_found(v, &r->observation);
    view_engine(v);
    view_expiry(v);
    say_coverage(v);
}
