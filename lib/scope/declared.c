/* SPDX-License-Identifier: Apache-2.0 */
/* A declaration's part of the scope document. */
#include "scope/internal.h"

#include <string.h>

static const char where[] = "scope.declared";

static int gone_parse(const struct json *v, const char *at, struct arena *a, struct scope_gone *g, struct err *err)
{
    static const char *const members[] = {"topic", "partition", "offsets", NULL};
    if (json_only(v, members, at, err) != 0 || json_need_str(v, "topic", a, &g->topic, at, err) != 0 ||
        json_need_u64(v, "partition", &g->partition, at, err) != 0)
        return -1;
    return json_need_u64(v, "offsets", &g->offsets, at, err);
}

static int final_parse(const struct json *part, struct arena *a, struct scope_declared *d, struct err *err)
{
    static const char *const members[] = {"engine", "version", "deleted", "sign", NULL};
    static const char at[] = "scope.declared.final";
    struct json *v;
    const char *name;
    struct engine *e = &d->engine;
    d->final = json_get(part, "final") != NULL;
    if (!d->final)
        return 0;
    if (json_need(part, "final", JSON_OBJECT, &v, where, err) != 0 || json_only(v, members, at, err) != 0 ||
        json_need_str(v, "engine", a, &name, at, err) != 0 ||
        json_opt_str(v, "version", a, &e->version, at, err) != 0 ||
        json_opt_str(v, "deleted", a, &e->deleted, at, err) != 0 || json_opt_str(v, "sign", a, &e->sign, at, err) != 0)
        return -1;
    const struct engine columns = *e;
    engine_named(name, e);
    e->version = columns.version;
    e->deleted = columns.deleted;
    e->sign = columns.sign;
    if (!engine_merges(e))
        return err_set(err, ERR_REFUSED, "%s.engine: '%.40s' keeps every row, or is not known here", at, name);
    return 0;
}

static int left_parse(const struct json *v, const char *at, struct arena *a, struct scope_left *l, struct err *err)
{
    static const char *const members[] = {"name", "kind", NULL};
    if (json_only(v, members, at, err) != 0 || json_need_str(v, "name", a, &l->name, at, err) != 0)
        return -1;
    return json_need_str(v, "kind", a, &l->kind, at, err);
}

/* Absent where every column is compared. */
static int list_left_parse(const struct json *part, struct arena *a, struct scope *s, struct err *err)
{
    struct json *list;
    if (!json_get(part, "left_out"))
        return 0;
    if (json_need(part, "left_out", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    if (list->len == 0)
        return err_set(err, ERR_REFUSED, "%s.left_out: empty", where);
    s->declared.n_left = list->len;
    s->declared.left = arena_zalloc(a, list->len * sizeof *s->declared.left);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char at[64];
        snprintf(at, sizeof at, "%s.left_out[%zu]", where, i);
        if (left_parse(item, at, a, &s->declared.left[i], err) != 0)
            return -1;
    }
    return 0;
}

static int replica_parse(const struct json *part, struct arena *a, struct scope_declared *d, struct err *err)
{
    static const char *const members[] = {"path", "name", NULL};
    static const char at[] = "scope.declared.replica";
    struct json *v;
    if (!json_get(part, "replica"))
        return 0;
    if (json_need(part, "replica", JSON_OBJECT, &v, where, err) != 0 || json_only(v, members, at, err) != 0 ||
        json_need_str(v, "path", a, &d->replica_path, at, err) != 0)
        return -1;
    return json_need_str(v, "name", a, &d->replica_name, at, err);
}

static const char complete[] = "complete-table";

/* Absent where a person said the offsets, or all were meant. */
static int chosen_parse(const struct json *part, struct arena *a, struct scope *s, struct err *err)
{
    static const char *const members[] = {"from", "to", NULL};
    static const char at[] = "scope.declared.chosen";
    struct scope_declared *d = &s->declared;
    struct json *v;
    if (!json_get(part, "chosen"))
        return 0;
    if (json_need(part, "chosen", JSON_OBJECT, &v, where, err) != 0 || json_only(v, members, at, err) != 0 ||
        json_opt_str(v, "from", a, &d->from, at, err) != 0 || json_opt_str(v, "to", a, &d->to, at, err) != 0)
        return -1;
    return d->from || d->to ? 0 : err_set(err, ERR_REFUSED, "%s: empty", at);
}

static int parse(const struct json *part, struct arena *a, struct scope *s, struct err *err)
{
    struct json *list;
    const char *coverage = NULL;
    if (json_opt_str(part, "coverage", a, &coverage, where, err) != 0)
        return -1;
    if (coverage && strcmp(coverage, complete) != 0)
        return err_set(err, ERR_REFUSED, "%s.coverage: '%.40s' is not %s", where, coverage, complete);
    s->declared.complete_table = coverage != NULL;
    if (json_need(part, "gone", JSON_ARRAY, &list, where, err) != 0)
        return -1;
    s->declared.n_gone = list->len;
    s->declared.gone = arena_zalloc(a, (list->len + 1) * sizeof *s->declared.gone);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char at[64];
        snprintf(at, sizeof at, "%s.gone[%zu]", where, i);
        if (gone_parse(item, at, a, &s->declared.gone[i], err) != 0)
            return -1;
    }
    if (json_opt_str(part, "zone", a, &s->declared.zone, where, err) != 0 ||
        final_parse(part, a, &s->declared, err) != 0 || replica_parse(part, a, &s->declared, err) != 0 ||
        list_left_parse(part, a, s, err) != 0)
        return -1;
    return chosen_parse(part, a, s, err);
}

/* Nothing but the ranges tells what is owed: each has both ends, and how far it is read is known. */
static int check_source(const struct scope *s, size_t i, struct err *err)
{
    const struct scope_source *source = &s->sources[i];
    if (source->n_partitions == 0)
        return err_set(err, ERR_REFUSED, "scope.sources[%zu].partitions: none, and the scope is declared", i);
    for (size_t k = 0; k < source->n_partitions; k++)
        if (!source->partitions[k].has_from)
            return err_set(err, ERR_REFUSED, "scope.sources[%zu].partitions[%zu].from: null, and the scope is declared",
                           i, k);
    if (strcmp(source->isolation, "read_committed") != 0 && strcmp(source->isolation, "read_uncommitted") != 0)
        return err_set(err, ERR_REFUSED, "scope.sources[%zu].isolation: '%.40s' is not known here", i,
                       source->isolation);
    return 0;
}

static int topics_once(const struct scope *s, struct err *err)
{
    struct map topics = MAP_INIT;
    int rc = 0;
    for (size_t i = 0; i < s->n_sources && rc == 0; i++) {
        const char *topic = s->sources[i].topic;
        uint64_t before = *map_at(&topics, topic, strlen(topic), i);
        if (before != i)
            rc = err_set(err, ERR_REFUSED,
                         "scope.sources[%zu].topic: '%s' stands in scope.sources[%" PRIu64 "] already", i, topic,
                         before);
    }
    map_free(&topics);
    return rc;
}

/* The range of what is gone begins at the offset after it. The two stand in one order, so that each is met once. */
static int check_gone(const struct scope *s, struct err *err)
{
    const struct scope_declared *d = &s->declared;
    size_t n = 0;
    for (size_t i = 0; i < s->n_sources; i++)
        for (size_t k = 0; n < d->n_gone && k < s->sources[i].n_partitions; k++) {
            const struct scope_range *r = &s->sources[i].partitions[k];
            n += strcmp(d->gone[n].topic, s->sources[i].topic) == 0 && d->gone[n].partition == r->partition &&
                 r->from > 0 && d->gone[n].offsets == (uint64_t)r->from;
        }
    if (n < d->n_gone)
        return err_set(err, ERR_REFUSED, "%s.gone[%zu]: no range begins after these offsets", where, n);
    return 0;
}

static int check(const struct scope *s, struct err *err)
{
    if (s->n_sources == 0)
        return err_set(err, ERR_REFUSED, "scope.sources: none, and the scope is declared");
    for (size_t i = 0; i < s->n_sources; i++)
        if (check_source(s, i, err) != 0)
            return -1;
    return topics_once(s, err) != 0 ? -1 : check_gone(s, err);
}

void scope_gone_say(const struct scope_gone *g, struct buf *out)
{
    buf_printf(out,
               "the log of %s/%" PRIu64 " begins at %" PRIu64
               ": offsets before it are gone and owe nothing that can be computed",
               g->topic, g->partition, g->offsets);
}

void scope_chosen_say(const struct scope *s, struct buf *out)
{
    const char *const by[] = {s->declared.from, s->declared.to}, *const verb[] = {"begin", "end"};
    for (size_t i = 0; i < 2; i++) {
        if (!by[i])
            continue;
        buf_printf(out, "%s%s", out->len ? "; " : "the ranges ", i == 1 && s->declared.from ? "they " : "");
        if (strcmp(by[i], SCOPE_BY_OFFSETS) == 0)
            buf_printf(out, "%s at the offsets of a file", verb[i]);
        else
            buf_printf(out,
                       "%s at the first record of %s or later: records stand in a log by their offsets, and those of "
                       "other times may lie between",
                       verb[i], by[i]);
    }
}

enum { LEFT_SHOWN = 20 };

/* Those that the table fills itself, or the others, in one list. */
static size_t left_list(const struct scope *s, bool filled, struct buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->declared.n_left; i++) {
        const struct scope_left *l = &s->declared.left[i];
        if ((*l->kind != '\0') != filled || n++ >= LEFT_SHOWN)
            continue;
        buf_printf(out, "%s%s", n > 1 ? ", " : "", l->name);
        if (filled)
            buf_printf(out, " (%s)", l->kind);
    }
    if (n > LEFT_SHOWN)
        buf_printf(out, " and %zu more", n - LEFT_SHOWN);
    return n;
}

void scope_left_say(const struct scope *s, struct buf *out)
{
    size_t from = out->len;
    if (left_list(s, false, out) > 0)
        buf_adds(out, ", which --columns or --except leaves out");
    struct buf filled = BUF_INIT;
    size_t n = left_list(s, true, &filled);
    if (n > 0)
        buf_printf(out, "%s%s, which the table fills itself", out->len > from ? "; " : "", buf_str(&filled));
    buf_free(&filled);
}

static void final_put(struct json_w *w, const struct engine *e)
{
    if (!e)
        return;
    jw_obj(w, "final");
    jw_str(w, "engine", engine_name(e));
    jw_str(w, "version", e->version);
    jw_str(w, "deleted", e->deleted);
    jw_str(w, "sign", e->sign);
    jw_end_obj(w);
}

static void put(struct json_w *w, const struct scope *s)
{
    if (s->declared.complete_table)
        jw_str(w, "coverage", complete);
    jw_arr(w, "gone");
    for (size_t i = 0; i < s->declared.n_gone; i++) {
        const struct scope_gone *g = &s->declared.gone[i];
        jw_obj(w, NULL);
        jw_str(w, "topic", g->topic);
        jw_u64(w, "partition", g->partition);
        jw_u64(w, "offsets", g->offsets);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    if (s->declared.zone)
        jw_str(w, "zone", s->declared.zone);
    if (s->declared.from || s->declared.to) {
        jw_obj(w, "chosen");
        if (s->declared.from)
            jw_str(w, "from", s->declared.from);
        if (s->declared.to)
            jw_str(w, "to", s->declared.to);
        jw_end_obj(w);
    }
    final_put(w, scope_final(s));
    if (s->declared.replica_path) {
        jw_obj(w, "replica");
        jw_str(w, "path", s->declared.replica_path);
        jw_str(w, "name", s->declared.replica_name);
        jw_end_obj(w);
    }
    if (s->declared.n_left == 0)
        return;
    jw_arr(w, "left_out");
    for (size_t i = 0; i < s->declared.n_left; i++) {
        jw_obj(w, NULL);
        jw_str(w, "name", s->declared.left[i].name);
        jw_str(w, "kind", s->declared.left[i].kind);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static const char *const known[] = {"coverage", "gone", "final", "zone", "replica", "left_out", "chosen", NULL};

const struct scope_part scope_declared_part = {"declared", known, parse, check, put};
