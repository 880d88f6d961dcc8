/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope-declare: writes the scope of an audit that has no bundle: which offsets
 * of which log are owed to which columns of which table, and the key that names a
 * row. What log-look and table-look found is taken from the stream and held
 * against what the options say; with --first the options say it all.
 *
 * Output: require, scope, columns, and the check reconcile.scope, whose reason
 * names every id that nobody gave. Opens no connection.
 * Exit: 0 declared, 2 refused, 3 the input is unfinished, or what is declared cannot be audited.
 */
#include <stdlib.h>
#include <string.h>

#include "scope/declare.h"
#include "scope/line.h"
#include "stream/stream.h"
#include "types/line.h"

struct run {
    struct arena arena;
    struct declare d;
    struct opt_list keys, columns, except, filled, froms;
    struct table_name name;
    unsigned isolation, coverage;
    const char *out_path, *from_offsets, *to_offsets;
    bool first;
    uint64_t max_line;
};

/* ---- options ---- */

static int check_utf8(const char *option, const char *value, struct err *err)
{
    return utf8_valid(value, strlen(value)) ? 0 : err_set(err, ERR_REFUSED, "%s: '%s' is not UTF-8", option, value);
}

static int take_range(const char *value, void *ctx, struct err *err)
{
    return check_utf8("--range", value, err) != 0 ? -1 : declare_range(ctx, value, err);
}

static int take_column(const char *value, void *ctx, struct err *err)
{
    return check_utf8("--column", value, err) != 0 ? -1 : declare_column(ctx, value, err);
}

static int take_from(const char *value, void *ctx, struct err *err)
{
    const char *colon = strrchr(value, ':');
    if (check_utf8("--from", value, err) != 0)
        return -1;
    if (!colon || colon == value)
        return err_set(err, ERR_REFUSED, "--from=%s is not COLUMN:UNIT", value);
    opt_list_add(ctx, value, strlen(value));
    return 0;
}

/* Only a name of the kind that zones have; whether the system knows it, the one who reads a time sees. */
static int take_zone(const char *value, void *ctx, struct err *err)
{
    size_t n = strlen(value);
    if (n == 0 || n > TYPE_ZONE_BYTES || strstr(value, "..") || *value == '/' ||
        value[strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/")] != '\0')
        return err_set(err, ERR_REFUSED, "--zone: '%s' is no name of a time zone, such as Europe/Berlin", value);
    ((struct declare *)ctx)->zone = value;
    return 0;
}

#define MAX_OFFSETS ((size_t)16 << 20)

static int read_offsets(struct run *r, bool to, const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    int rc = path ? file_read(path, MAX_OFFSETS, &text, err) : 0;
    if (path && rc == 0)
        rc = declare_offsets(&r->d, to, text.p ? text.p : "", text.len, err) == 0
                 ? 0
                 : err_prefix(err, "--%s-offsets: '%s'", to ? "to" : "from", path);
    buf_free(&text);
    return rc;
}

static int settle_options(struct run *r, struct err *err)
{
    struct declare *d = &r->d;
    if (r->keys.n == 0)
        return err_set(err, ERR_REFUSED, "--key is needed: the columns that name one row");
    d->keys = r->keys.at;
    d->n_keys = r->keys.n;
    d->chosen = r->columns.at;
    d->n_chosen = r->columns.n;
    d->excepted = r->except.at;
    d->n_excepted = r->except.n;
    d->filled = r->filled.at;
    d->n_filled = r->filled.n;
    d->froms = r->froms.at;
    d->n_froms = r->froms.n;
    d->complete_table = r->coverage == 1;
    d->isolation = r->isolation == 0 ? "read_committed" : "read_uncommitted";
    if (table_name_settle(&r->name, err) != 0 || read_offsets(r, false, r->from_offsets, err) != 0 ||
        read_offsets(r, true, r->to_offsets, err) != 0)
        return -1;
    d->database = r->name.database;
    d->table = r->name.table;
    return 0;
}

static int read_options(int argc, char **argv, struct run *r, int *status, struct err *err)
{
    struct declare *d = &r->d;
    const struct opt table[] = {
        OPT_USAGE("scope-declare --key=COLUMN[,COLUMN...] [--range=[TOPIC/]P:FROM-TO ...] [options] [<stream]\n"
                  "Declare what a range of a log owes a table, where no bundle shows it.\n"
                  "Continues the stream of log-look and table-look; with --first begins one and reads none."),
        OPT_NAMES("key", "COLUMN,...", &r->keys, "the columns that name one row; may be repeated"),
        OPT_TAKE("range", "[TOPIC/]P:FROM-TO", take_range, d,
                 "offsets FROM up to TO, which is not among them, of partition P; may be repeated.\n"
                 "[TOPIC/]ALL: all that log-look found, up to the stable offset under read_committed,\n"
                 "else to the end; without --range all of that, or what log-look was asked for by its times"),
        OPT_NAME("from-offsets", "FILE", &r->from_offsets,
                 "in place of --range: each partition from its offset in FILE, a file of a Spark checkpoint or\n"
                 "{\"topic\":{\"0\":123}}"),
        OPT_NAME("to-offsets", "FILE", &r->to_offsets, "the same, up to its offset"),
        OPT_WORD("isolation", "read_committed|read_uncommitted", &r->isolation,
                 "which records are there (read_committed)"),
        OPT_WORD("coverage", "selected-keys|complete-table", &r->coverage,
                 "complete-table: your word that the table holds what these ranges owe and nothing\n"
                 "else; it is then read whole, and the logs are looked at again (selected-keys)"),
        TYPE_FROM_OPTION(take_from, &r->froms),
        OPT_FLAG("final", &d->final,
                 "compare of each key the row that the table shows with FINAL: the last by its engine's version"),
        OPT_TAKE("zone", "NAME", take_zone, d,
                 "the zone of iso times that have none, of columns whose type names none (Europe/Berlin)"),
        OPT_NAMES("columns", "COLUMN,...", &r->columns,
                  "the columns that are compared (all that the table does not fill itself)"),
        OPT_NAMES("except", "COLUMN,...", &r->except, "the columns that are not, in place of that"),
        OPT_NAMES("filled", "COLUMN,...", &r->filled,
                  "columns that the table fills itself (DEFAULT, MATERIALIZED, ALIAS) and the rules give:\n"
                  "compared too, as are those that --key and --from name"),
        OPT_NAME("out", "FILE", &r->out_path, "write the scope document to FILE too"),
        OPT_NAME("topic", "NAME", &d->topic, "the topic, where no log was looked at or to be held against it"),
        OPT_NAME("topic-id", "ID", &d->topic_id, "its id, the same"),
        OPT_NAME("cluster-id", "ID", &d->cluster_id, "its cluster's id, the same"),
        TABLE_NAME_OPTIONS(&r->name),
        OPT_NAME("server-uuid", "UUID", &d->server_uuid,
                 "the server's, where no table was looked at or to be held against it"),
        OPT_NAME("server-version", "V", &d->server_version, "the server's, the same"),
        OPT_NAME("table-uuid", "UUID", &d->table_uuid, "the table's, the same"),
        OPT_TAKE("column", "NAME:TYPE", take_column, d, "a column, in order, where no table was looked at; repeated"),
        STREAM_OPTION_FIRST(&r->first),
        MODE_OPTION,
        STREAM_OPTIONS(&r->max_line),
        OPT_EXIT("0 declared, 2 refused, 3 the input is unfinished, or what is declared cannot be audited"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    return rc != 0 ? rc : settle_options(r, err);
}

/* ---- what was found ---- */

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct run *r = ctx;
    if (line->type == LINE_SCOPE || line->type == LINE_BUNDLE)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 ": the stream has a %s already", line->line_no,
                        line_type_name(line->type));
    if (line->type == LINE_COLUMNS)
        return r->d.has_table
                   ? 1
                   : err_set(err, ERR_REFUSED, "stdin: line %" PRIu64 ": columns of no table", line->line_no);
    if (line->type != LINE_LOG && line->type != LINE_TABLE)
        return 0;
    const struct json *v = json_parse_named(arena_strndup(&r->arena, line->p, line->n), line->n, &r->arena, "stdin",
                                            err);
    if (!v)
        return -1;
    if ((line->type == LINE_LOG ? declare_log : declare_table)(&r->d, v, err) != 0)
        return err_prefix(err, "stdin: line %" PRIu64, line->line_no);
    return line->type == LINE_TABLE; /* what was found of the log goes on: the answer speaks of it */
}

/* ---- the scope ---- */

static void put_check(struct stream_out *out, const struct scope *s, const char *note)
{
    struct buf counts = BUF_INIT;
    uint64_t partitions = 0, offsets = 0;
    for (size_t i = 0; i < s->n_sources; i++)
        for (size_t k = 0; k < s->sources[i].n_partitions; k++, partitions++)
            offsets += (uint64_t)(s->sources[i].partitions[k].to - s->sources[i].partitions[k].from);
    buf_printf(&counts, "{\"topics\":%zu,\"partitions\":%" PRIu64 ",\"offsets\":%" PRIu64 "}", s->n_sources, partitions,
               offsets);
    stream_put_check(out, CHECK_RECONCILE_SCOPE, STATUS_PASSED, NULL, note, NULL, buf_str(&counts));
    buf_free(&counts);
}

static void put_scope(struct stream_out *out, struct scope *s, const char *note, const char *path)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    scope_put(&text, s);
    stream_put_require(
        out, &(struct run_known){.scope = true, .declared = true, .complete_table = s->declared.complete_table});
    stream_put_scope(out, text.p, text.len);
    stream_put_columns(out, &s->columns);
    put_check(out, s, note);
    buf_addc(&text, '\n');
    if (path && file_publish(path, text.p, text.len, &err) != 0)
        stream_put_stop(out, &err, CODE_USAGE);
    buf_free(&text);
}

/* Without a scope nothing can be read behind: the check says why, and whoever follows is told to stop. */
static void put_no_scope(struct stream_out *out, const struct declare *d)
{
    struct err err = ERR_INIT;
    stream_put_require(out, &(struct run_known){.scope = true, .declared = true, .complete_table = d->complete_table});
    stream_put_check(out, CHECK_RECONCILE_SCOPE, d->status, &d->cause, d->reason.p, NULL, NULL);
    err_fail(&err, ERR_TROUBLE, &d->cause, "no scope: %s", d->reason.p);
    stream_put_stop(out, &err, CODE_NONE);
}

static void declare(struct run *r, struct stream_out *out)
{
    struct scope s;
    struct buf note = BUF_INIT;
    struct err err = ERR_INIT;
    if (declare_scope(&r->d, &s, &note, &err) != 0)
        stream_put_stop(out, &err, CODE_USAGE);
    else if (r->d.status != STATUS_PASSED)
        put_no_scope(out, &r->d);
    else
        put_scope(out, &s, note.len ? buf_str(&note) : "", r->out_path);
    scope_free(&s);
    buf_free(&note);
}

static int run(struct run *r)
{
    struct stream_out out;
    struct stream_in in = {.code = CODE_USAGE};
    bool go = r->first;
    if (r->first)
        stream_begin(&out, 1, NULL);
    else
        go = stream_filter(&in, &out, r->max_line, on_line, r);
    if (go)
        declare(r, &out);
    int status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    return status;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct run r = {.arena = ARENA_INIT, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    r.d.arena = &r.arena;
    int status = 0, rc = read_options(argc, argv, &r, &status, &err);
    if (rc < 0)
        status = stream_refuse(&err, r.first ? STREAM_NO_INPUT : r.max_line);
    else if (rc == 0)
        status = run(&r);
    table_name_free(&r.name);
    opt_list_free(&r.keys);
    opt_list_free(&r.columns);
    opt_list_free(&r.except);
    opt_list_free(&r.filled);
    opt_list_free(&r.froms);
    declare_free(&r.d);
    arena_free(&r.arena);
    return status;
}
