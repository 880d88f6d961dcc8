/* SPDX-License-Identifier: Apache-2.0 */
/* What was found and what was said, read; and the columns that a declared scope owes. */
#include "scope/declare.h"

#include <stdlib.h>
#include <string.h>

#include "scope/ranges.h"
#include "types/definition.h"

void *declare_room(struct arena *a, const void *at, size_t n, size_t size)
{
    if (n & (n - 1)) /* not a power of two: there is room */
        return (void *)at;
    void *grown = arena_zalloc(a, (n ? 2 * n : 1) * size);
    if (n)
        memcpy(grown, at, n * size);
    return grown;
}

#define ADD(d, list, n) \
    ((d)->list = declare_room((d)->arena, (d)->list, (d)->n, sizeof *(d)->list), &(d)->list[(d)->n++])

void declare_free(struct declare *d)
{
    map_free(&d->topics);
    map_free(&d->names);
    map_free(&d->from.places);
    map_free(&d->to.places);
    buf_free(&d->reason);
}

/* ---- lines ---- */

static int bounds_parse(const struct json *v, const char *at, const struct declare_log *log, struct declare_bounds *b,
                        struct err *err)
{
    if (v->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: not an object", at);
    if (json_need_u64(v, "partition", &b->partition, at, err) != 0 || json_need_i64(v, "low", &b->low, at, err) != 0 ||
        json_need_i64(v, "high", &b->high, at, err) != 0 || json_need_i64(v, "stable", &b->stable, at, err) != 0 ||
        (log->since && json_need_i64(v, "since", &b->since, at, err) != 0) ||
        (log->until && json_need_i64(v, "until", &b->until, at, err) != 0))
        return -1;
    if (b->since < 0 || b->since > b->high || b->until < 0 || b->until > b->high)
        return err_set(err, ERR_REFUSED, "%s: since or until is no offset of the log", at);
    if (b->low < 0 || b->low > b->high || b->stable > b->high)
        return err_set(err, ERR_REFUSED,
                       "%s: low %" PRId64 ", stable %" PRId64 ", high %" PRId64 " are no bounds of a log", at, b->low,
                       b->stable, b->high);
    return 0;
}

static int by_partition(const void *a, const void *b)
{
    uint64_t x = ((const struct declare_bounds *)a)->partition, y = ((const struct declare_bounds *)b)->partition;
    return (x > y) - (x < y);
}

int declare_log(struct declare *d, const struct json *line, struct err *err)
{
    struct json *list;
    struct declare_log log = {0};
    if (json_need_str(line, "topic", d->arena, &log.topic, "log", err) != 0 ||
        json_opt_str(line, "cluster_id", d->arena, &log.cluster_id, "log", err) != 0 ||
        json_opt_str(line, "topic_id", d->arena, &log.topic_id, "log", err) != 0 ||
        json_opt_str(line, "cleanup_policy", d->arena, &log.policy, "log", err) != 0 ||
        json_opt_str(line, "since", d->arena, &log.since, "log", err) != 0 ||
        json_opt_str(line, "until", d->arena, &log.until, "log", err) != 0 ||
        json_need(line, "partitions", JSON_ARRAY, &list, "log", err) != 0)
        return -1;
    if (!map_add(&d->topics, log.topic, strlen(log.topic), d->n_logs))
        return err_set(err, ERR_REFUSED, "log: topic '%s' was looked at already", log.topic);
    log.partitions = arena_zalloc(d->arena, (list->len + 1) * sizeof *log.partitions);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char at[64];
        snprintf(at, sizeof at, "log.partitions[%zu]", i);
        if (bounds_parse(item, at, &log, &log.partitions[i], err) != 0)
            return -1;
    }
    log.n_partitions = list->len;
    qsort(log.partitions, log.n_partitions, sizeof *log.partitions, by_partition);
    *ADD(d, logs, n_logs) = log;
    return 0;
}

/* A name or an id that the line has: what was said of it must be the same. */
static int found(struct declare *d, const struct json *line, const char *name, const char *option, const char **to,
                 struct err *err)
{
    const char *v = NULL;
    if (json_opt_str(line, name, d->arena, &v, "table", err) != 0)
        return -1;
    if (v && *to && strcmp(v, *to) != 0)
        return err_set(err, ERR_REFUSED, "--%s=%s, and the table found has %s", option, *to, v);
    *to = v ? v : *to;
    return 0;
}

static int found_columns(struct declare *d, const struct json *line, struct err *err)
{
    struct json *list;
    if (json_need(line, "columns", JSON_ARRAY, &list, "table", err) != 0)
        return -1;
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        struct declare_column *c = ADD(d, columns, n_columns);
        char at[64];
        snprintf(at, sizeof at, "table.columns[%zu]", i);
        c->kind = "";
        if (json_need_str(item, "name", d->arena, &c->name, at, err) != 0 ||
            json_need_str(item, "type", d->arena, &c->type, at, err) != 0 ||
            json_opt_str(item, "kind", d->arena, &c->kind, at, err) != 0)
            return -1;
    }
    return 0;
}

/* Absent where the table is not replicated. */
static int found_replica(struct declare *d, const struct json *line, struct err *err)
{
    struct json *of;
    if (!json_get(line, "replica"))
        return 0;
    if (json_need(line, "replica", JSON_OBJECT, &of, "table", err) != 0 ||
        json_need_str(of, "path", d->arena, &d->replica_path, "table.replica", err) != 0)
        return -1;
    return json_need_str(of, "name", d->arena, &d->replica_name, "table.replica", err);
}

int declare_table(struct declare *d, const struct json *line, struct err *err)
{
    const char *code = NULL;
    if (d->has_table)
        return err_set(err, ERR_REFUSED, "table: a table was looked at already");
    if (d->n_columns > 0)
        return err_set(err, ERR_REFUSED, "--column=%s, and the table's columns were found", d->columns[0].name);
    if (found(d, line, "database", "database", &d->database, err) != 0 ||
        found(d, line, "table", "table", &d->table, err) != 0 ||
        found(d, line, "server_uuid", "server-uuid", &d->server_uuid, err) != 0 ||
        found(d, line, "server_version", "server-version", &d->server_version, err) != 0 ||
        found(d, line, "table_uuid", "table-uuid", &d->table_uuid, err) != 0 ||
        json_opt_str(line, "unfit", d->arena, &d->unfit, "table", err) != 0 ||
        json_opt_str(line, "engine", d->arena, &d->engine, "table", err) != 0 ||
        json_opt_str(line, "engine_full", d->arena, &d->engine_full, "table", err) != 0 ||
        json_opt_str(line, "sorting_key", d->arena, &d->sorting_key, "table", err) != 0 ||
        json_opt_str(line, "unfit_code", d->arena, &code, "table", err) != 0 || found_replica(d, line, err) != 0)
        return -1;
    d->unfit_code = code ? code_of(code, strlen(code)) : CODE_ENGINE_UNSUPPORTED;
    if (d->unfit && (d->unfit_code == CODES || d->unfit_code == CODE_NONE))
        return err_set(err, ERR_REFUSED, "table.unfit_code: not known here");
    d->has_table = true;
    return found_columns(d, line, err);
}

/* ---- options ---- */

int declare_column(struct declare *d, const char *said, struct err *err)
{
    const char *colon = strchr(said, ':');
    if (!colon || colon == said || colon[1] == '\0')
        return err_set(err, ERR_REFUSED, "--column=%s is not NAME:TYPE", said);
    *ADD(d, columns, n_columns) = (struct declare_column){arena_strndup(d->arena, said, (size_t)(colon - said)),
                                                          colon + 1, ""};
    return 0;
}

int declare_range(struct declare *d, const char *said, struct err *err)
{
    struct declare_range r = {.by = "--range=", .said = said};
    if (range_read(d->arena, &r, err) != 0)
        return -1;
    *ADD(d, ranges, n_ranges) = r;
    return 0;
}

/* ---- columns ---- */

static const struct declare_column *column_of(const struct declare *d, const char *name)
{
    const uint64_t *place = map_find(&d->names, name, strlen(name));
    return place ? &d->columns[*place] : NULL;
}

static bool named(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

/* The unit that --from gives a column; NULL without one. Its last colon ends the column's name. */
static const char *unit_of(const struct declare *d, const char *name)
{
    for (size_t i = 0; i < d->n_froms; i++) {
        const char *colon = strrchr(d->froms[i], ':');
        if (strlen(name) == (size_t)(colon - d->froms[i]) && strncmp(name, d->froms[i], strlen(name)) == 0)
            return colon + 1;
    }
    return NULL;
}

/* A column that the table fills itself is owed where the operator says that the rules give it: who names a key of it,
 * or the unit of its times, says so. */
static bool is_compared(const struct declare *d, const struct declare_column *c)
{
    if (named(d->keys, d->n_keys, c->name))
        return true;
    if (*c->kind != '\0' && !unit_of(d, c->name) && !named(d->filled, d->n_filled, c->name))
        return false;
    return !named(d->excepted, d->n_excepted, c->name);
}

static int add_column(struct declare *d, const struct declare_column *c, struct columns *all, struct err *err)
{
    struct column *to = &all->at[all->n++];
    const char *unit = unit_of(d, c->name);
    column_kind_parse(c->kind, &to->kind);
    to->name = xstrdup(c->name);
    to->name_len = strlen(c->name);
    to->key = named(d->keys, d->n_keys, c->name);
    if (type_parse(c->type, strlen(c->type), &to->type, err) != 0)
        return err_prefix(err, "column '%s'", c->name);
    if (to->key && !type_is_key(&to->type))
        return declare_say(d, STATUS_UNSUPPORTED, BECAUSE(CODE_KEY_UNSUPPORTED, {"column", c->name}),
                           "--key=%s: the column is %s, and a key is a scalar type, no float and not Nullable", c->name,
                           c->type);
    if (unit && type_supported(&to->type) && type_from_parse(unit, &to->from, err) != 0)
        return err_prefix(err, "--from=%s", c->name);
    if (to->from != FROM_NONE && !type_takes_from(&to->type, to->from))
        return err_set(err, ERR_REFUSED, "--from=%s:%s: the column is %s, which is no %s", c->name, unit, c->type,
                       to->from == FROM_JSON_TEXT ? "JSON" : "time");
    const char *what;
    enum code lacks = column_lacks(to, &what);
    if (lacks != CODE_NONE)
        return declare_say(d, STATUS_UNSUPPORTED, BECAUSE(lacks, {"column", c->name}),
                           "column '%s' is %s, %s: leave it out, with --except=%s", c->name, c->type, what, c->name);
    if (!unit && type_is_time(&to->type))
        return err_set(
            err, ERR_REFUSED,
            "column '%s' is %s: say --from=%s:UNIT, the unit of an owed time (s, ms, us, ns, ticks, days, iso)",
            c->name, c->type, c->name);
    return 0;
}

/* Every name that an option gives is one of the columns, and is given once; where all is given, it is compared. */
static int check_names(const struct declare *d, const char *option, const char *const *names, size_t n,
                       const struct columns *all, struct err *err)
{
    enum column_kind kind;
    for (size_t i = 0; i < n; i++) {
        if (named(names, i, names[i]))
            return err_set(err, ERR_REFUSED, "--%s names '%s' twice", option, names[i]);
        const struct declare_column *c = column_of(d, names[i]);
        if (!c)
            return err_set(err, ERR_REFUSED, "--%s=%s: the table has no such column", option, names[i]);
        if (all && !columns_find(all, names[i], strlen(names[i]), NULL))
            return err_set(err, ERR_REFUSED, "--%s=%s: --%s leaves this column out", option, names[i],
                           d->n_chosen > 0 ? "columns" : "except");
        if (all && !column_kind_parse(c->kind, &kind))
            return err_set(err, ERR_REFUSED,
                           "--%s=%s: the table does not keep this column (%s), so that nobody can read it", option,
                           names[i], c->kind);
    }
    return 0;
}

/* What is chosen is chosen in one way, and what is left out is not named as compared. */
static int check_choice(const struct declare *d, struct err *err)
{
    if (d->n_chosen > 0 && d->n_excepted + d->n_filled > 0)
        return err_set(err, ERR_REFUSED, "--columns names all that is compared, and --%s is given too",
                       d->n_excepted > 0 ? "except" : "filled");
    for (size_t i = 0; i < d->n_filled; i++) {
        const struct declare_column *c = column_of(d, d->filled[i]);
        if (c && *c->kind == '\0')
            return err_set(err, ERR_REFUSED, "--filled=%s: the table does not fill this column itself", c->name);
        if (named(d->excepted, d->n_excepted, d->filled[i]))
            return err_set(err, ERR_REFUSED, "--filled=%s: --except leaves this column out", d->filled[i]);
    }
    for (size_t i = 0; i < d->n_excepted; i++)
        if (named(d->keys, d->n_keys, d->excepted[i]))
            return err_set(err, ERR_REFUSED, "--except=%s: it is a column of the key", d->excepted[i]);
    return 0;
}

static int from_names(struct declare *d, const struct columns *all, struct err *err)
{
    const char **names = arena_alloc(d->arena, (d->n_froms + 1) * sizeof *names);
    for (size_t i = 0; i < d->n_froms; i++) {
        const char *colon = strrchr(d->froms[i], ':');
        names[i] = arena_strndup(d->arena, d->froms[i], (size_t)(colon - d->froms[i]));
    }
    return check_names(d, "from", names, d->n_froms, all, err);
}

static void list_left(struct declare *d, struct scope *s)
{
    s->declared.left = arena_zalloc(d->arena, (d->n_columns + 1) * sizeof *s->declared.left);
    for (size_t i = 0; i < d->n_columns; i++) {
        const struct declare_column *c = &d->columns[i];
        if (!columns_find(&s->columns, c->name, strlen(c->name), NULL))
            s->declared.left[s->declared.n_left++] = (struct scope_left){c->name, c->kind};
    }
}

static void note_left(const struct scope *s, struct buf *note)
{
    if (s->declared.n_left == 0)
        return;
    buf_printf(note, "%snot compared: ", note->len ? "; " : "");
    scope_left_say(s, note);
}

static int columns_of(struct declare *d, struct columns *all, struct err *err)
{
    if (d->n_columns == 0)
        return err_set(err, ERR_REFUSED,
                       "no column: look at the table with table-look, or give each one as --column=NAME:TYPE");
    if (d->n_keys == 0)
        return err_set(err, ERR_REFUSED, "--key is needed: the columns that name one row");
    for (size_t i = 0; i < d->n_columns; i++)
        if (!map_add(&d->names, d->columns[i].name, strlen(d->columns[i].name), i))
            return err_set(err, ERR_REFUSED, "--column names '%s' twice", d->columns[i].name);
    if (check_names(d, "columns", d->chosen, d->n_chosen, NULL, err) != 0 ||
        check_names(d, "except", d->excepted, d->n_excepted, NULL, err) != 0 || check_choice(d, err) != 0)
        return -1;
    all->at = xcalloc(d->n_columns + 1, sizeof *all->at);
    for (size_t i = 0; i < d->n_columns; i++) {
        if (d->n_chosen == 0 && is_compared(d, &d->columns[i]) && add_column(d, &d->columns[i], all, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < d->n_chosen; i++)
        if (add_column(d, column_of(d, d->chosen[i]), all, err) != 0)
            return -1;
    columns_index(all);
    if (check_names(d, "columns", d->chosen, d->n_chosen, all, err) != 0 ||
        check_names(d, "filled", d->filled, d->n_filled, all, err) != 0 ||
        check_names(d, "key", d->keys, d->n_keys, all, err) != 0)
        return -1;
    return from_names(d, all, err);
}

/* ---- the scope ---- */

int declare_say(struct declare *d, enum status status, const struct cause *cause, const char *fmt, ...)
{
    if (status > d->status) {
        d->status = status;
        d->cause = *cause;
    }
    if (d->reason.len > 0)
        buf_adds(&d->reason, "; ");
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&d->reason, fmt, ap);
    va_end(ap);
    buf_str(&d->reason);
    return 0;
}

/* FINAL is no guess where the engine names what tells the last row, and the rows that it makes one of are a key's. */
static int final_of(struct declare *d, struct scope *out, struct err *err)
{
    struct engine e;
    struct buf why = BUF_INIT;
    if (!d->has_table)
        return err_set(err, ERR_REFUSED, "--final: look at the table with table-look: its engine names the columns");
    engine_parse(d->engine ? d->engine : "", d->engine_full ? d->engine_full : "", d->arena, &e);
    if (!engine_merges(&e))
        return err_set(err, ERR_REFUSED, "--final: the table's engine is %s, %s", d->engine ? d->engine : "not known",
                       e.kind == ENGINE_PLAIN ? "which keeps every row" : "whose FINAL is not known here");
    if (!engine_sorts_by(&e, d->sorting_key ? d->sorting_key : "", &out->columns))
        buf_printf(&why, "--key is not the table's sorting key, '%s', by which its engine makes one row of several",
                   d->sorting_key ? d->sorting_key : "");
    else
        engine_lacks(&e, &out->columns, &why);
    if (why.len > 0)
        declare_say(d, STATUS_UNSUPPORTED, BECAUSE(CODE_FINAL_UNSUPPORTED), "--final: %s", buf_str(&why));
    buf_free(&why);
    out->declared.final = true;
    out->declared.engine = e;
    return 0;
}

static void note_merges(const struct declare *d, const struct scope *s, struct buf *note)
{
    struct arena a = ARENA_INIT;
    struct engine e;
    engine_parse(d->engine ? d->engine : "", d->engine_full ? d->engine_full : "", &a, &e);
    if (engine_merges(&e) && !scope_final(s))
        buf_printf(
            note,
            "%severy row that was written is compared, and merges of a %s take rows away: --final compares the last of each key",
            note->len ? "; " : "", engine_name(&e));
    arena_free(&a);
}

static void lacks(struct buf *note, const char *id, const char *what, bool lacking)
{
    if (!lacking)
        return;
    buf_printf(note, note->len == 0 ? "declared, not established: %s" : ", %s", what);
    if (id)
        buf_printf(note, " of %s", id);
}

static void note_lacking(const struct scope *s, struct buf *note)
{
    bool cluster = true;
    for (size_t i = 0; i < s->n_sources; i++)
        cluster = cluster && s->sources[i].cluster_id;
    lacks(note, NULL, "the cluster's id", !cluster);
    for (size_t i = 0; i < s->n_sources; i++)
        lacks(note, s->sources[i].topic, "topic id", !s->sources[i].topic_id);
    lacks(note, NULL, "the server's UUID", !s->server_uuid);
    lacks(note, NULL, "the table's UUID", !s->table_uuid);
}

/* By the engine's own text, which has no other TTL than the table's. */
static void hold_ttl(struct declare *d, const struct scope *s)
{
    struct buf lacks = BUF_INIT;
    struct ttl ttl;
    definition_ttl(d->engine_full ? d->engine_full : "", d->arena, &ttl);
    if (ttl_lacks(&ttl, &s->columns, &lacks))
        declare_say(d, STATUS_UNSUPPORTED, BECAUSE(CODE_TTL_COLUMN_LEFT_OUT, {"column", ttl.column}), "%s",
                    buf_str(&lacks));
    buf_free(&lacks);
}

int declare_scope(struct declare *d, struct scope *out, struct buf *note, struct err *err)
{
    *out = (struct scope){.origin = SCOPE_DECLARED, .columns = COLUMNS_INIT};
    if (!d->database || !d->table)
        return err_set(err, ERR_REFUSED,
                       "no table: look at it with table-look, or name it with --table=DATABASE.TABLE");
    out->database = d->database;
    out->table = d->table;
    out->server_uuid = d->server_uuid;
    out->server_version = d->server_version;
    out->table_uuid = d->table_uuid;
    out->declared.complete_table = d->complete_table;
    out->declared.replica_path = d->replica_path;
    out->declared.replica_name = d->replica_name;
    if (ranges_source(d, out, err) != 0 || columns_of(d, &out->columns, err) != 0 ||
        (d->final && final_of(d, out, err) != 0))
        return -1;
    /* Before the log is read, which may take hours. */
    if (d->unfit)
        declare_say(d, STATUS_UNSUPPORTED, BECAUSE(d->unfit_code), "%s", d->unfit);
    hold_ttl(d, out);
    if (d->status != STATUS_PASSED)
        return 0;
    note_lacking(out, note);
    out->declared.zone = d->zone;
    list_left(d, out);
    note_left(out, note);
    ranges_note(d, out, note);
    note_merges(d, out, note);
    return 0;
}
