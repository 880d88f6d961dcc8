/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope-declare: writes the scope of an audit that has no bundle: which offsets
 * of which log are owed to which columns of which table, and the key that names a
 * row. What log-look and table-look found is taken from the stream and held
 * against what the options say; with --first the options say it all.
 *
 * Output: require, scope, columns, and the check reconcile.scope, whose reason
 * names every id that nobody gave. Opens no connection.
 * Exit: 0 declared, 2 refused, 3 the input is unfinished.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "scope/declare.h"
#include "stream/stream.h"

static const char help[] =
    "usage: scope-declare --key=COLUMN[,COLUMN...] --range=[TOPIC/]P:FROM-TO ... [options] [<stream]\n"
    "Declare what a range of a log owes a table, where no bundle shows it.\n"
    "Continues the stream of log-look and table-look; with --first begins one and reads none.\n"
    "  --key=COLUMN,...           the columns that name one row; may be repeated\n"
    "  --range=[TOPIC/]P:FROM-TO  offsets FROM up to TO, which is not among them, of partition P; may be repeated\n"
    "  --range=[TOPIC/]ALL        all that log-look found: up to the stable offset under read_committed, else to the end\n"
    "  --isolation=read_committed|read_uncommitted (read_committed)\n"
    "  --from=COLUMN:UNIT         the unit of an owed time: s, ms, us, ns, ticks, days or iso; may be repeated\n"
    "  --columns=COLUMN,...       the columns that are compared (all that the table stores)\n"
    "  --out=FILE                 write the scope document to FILE too\n"
    "  --topic=NAME --topic-id=ID --cluster-id=ID    where no log was looked at, or to be held against it\n"
    "  --table=DATABASE.TABLE     the same of the table; with --database=NAME the table's name alone\n"
    "  --server-uuid=UUID --server-version=V --table-uuid=UUID\n"
    "  --column=NAME:TYPE         a column, in order, where no table was looked at; repeated\n"
    "  --first                    begin the stream\n"
    "  --max-line=SIZE            longest line of the input (64M)\n"
    "  --help, --version\n"
    "exit: 0 declared, 2 refused, 3 the input is unfinished\n";

enum {
    OPT_KEY = 256,
    OPT_RANGE,
    OPT_ISOLATION,
    OPT_FROM,
    OPT_COLUMNS,
    OPT_OUT,
    OPT_TOPIC,
    OPT_TOPIC_ID,
    OPT_CLUSTER_ID,
    OPT_DATABASE,
    OPT_TABLE,
    OPT_SERVER_UUID,
    OPT_SERVER_VERSION,
    OPT_TABLE_UUID,
    OPT_COLUMN,
    OPT_FIRST,
    OPT_MAX_LINE
};

static const struct option longopts[] = {
    {"key", required_argument, NULL, OPT_KEY},
    {"range", required_argument, NULL, OPT_RANGE},
    {"isolation", required_argument, NULL, OPT_ISOLATION},
    {"from", required_argument, NULL, OPT_FROM},
    {"columns", required_argument, NULL, OPT_COLUMNS},
    {"out", required_argument, NULL, OPT_OUT},
    {"topic", required_argument, NULL, OPT_TOPIC},
    {"topic-id", required_argument, NULL, OPT_TOPIC_ID},
    {"cluster-id", required_argument, NULL, OPT_CLUSTER_ID},
    {"database", required_argument, NULL, OPT_DATABASE},
    {"table", required_argument, NULL, OPT_TABLE},
    {"server-uuid", required_argument, NULL, OPT_SERVER_UUID},
    {"server-version", required_argument, NULL, OPT_SERVER_VERSION},
    {"table-uuid", required_argument, NULL, OPT_TABLE_UUID},
    {"column", required_argument, NULL, OPT_COLUMN},
    {"first", no_argument, NULL, OPT_FIRST},
    {"max-line", required_argument, NULL, OPT_MAX_LINE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct run {
    struct arena arena;
    struct declare d;
    const char *out_path;
    bool first;
    uint64_t max_line;
};

/* ---- options ---- */

static int add_names(struct arena *a, const char *option, const char *list, const char ***names, size_t *n,
                     struct err *err)
{
    for (const char *p = list;; p++) {
        size_t len = strcspn(p, ",");
        if (len == 0)
            return err_set(err, ERR_REFUSED, "--%s=%s holds an empty name", option, list);
        *names = xrealloc(*names, (*n + 1) * sizeof **names);
        (*names)[(*n)++] = arena_strndup(a, p, len);
        p += len;
        if (*p == '\0')
            return 0;
    }
}

static int add_from(struct run *r, struct err *err)
{
    const char *colon = strrchr(optarg, ':');
    if (!colon || colon == optarg)
        return err_set(err, ERR_REFUSED, "--from=%s is not COLUMN:UNIT", optarg);
    r->d.froms = xrealloc(r->d.froms, (r->d.n_froms + 1) * sizeof *r->d.froms);
    r->d.froms[r->d.n_froms++] = optarg;
    return 0;
}

static int set_isolation(struct run *r, struct err *err)
{
    if (strcmp(optarg, "read_committed") != 0 && strcmp(optarg, "read_uncommitted") != 0)
        return err_set(err, ERR_REFUSED, "--isolation is read_committed or read_uncommitted");
    r->d.isolation = optarg;
    return 0;
}

/* Where an option's text goes as it is; NULL for one that is read further. */
static const char **text_of(int c, struct run *r)
{
    switch (c) {
    case OPT_OUT: return &r->out_path;
    case OPT_TOPIC: return &r->d.topic;
    case OPT_TOPIC_ID: return &r->d.topic_id;
    case OPT_CLUSTER_ID: return &r->d.cluster_id;
    case OPT_DATABASE: return &r->d.database;
    case OPT_TABLE: return &r->d.table;
    case OPT_SERVER_UUID: return &r->d.server_uuid;
    case OPT_SERVER_VERSION: return &r->d.server_version;
    case OPT_TABLE_UUID: return &r->d.table_uuid;
    default: return NULL;
    }
}

static int parse_option(int c, void *ctx, struct err *err)
{
    struct run *r = ctx;
    const char **text = text_of(c, r);
    if (optarg && !utf8_valid(optarg, strlen(optarg)))
        return err_set(err, ERR_REFUSED, "an option's value is not UTF-8: '%s'", optarg);
    if (text) {
        if (*optarg == '\0')
            return err_set(err, ERR_REFUSED, "an option's value is empty: leave out what is not known");
        *text = optarg;
        return 0;
    }
    switch (c) {
    case OPT_KEY: return add_names(&r->arena, "key", optarg, &r->d.keys, &r->d.n_keys, err);
    case OPT_COLUMNS: return add_names(&r->arena, "columns", optarg, &r->d.chosen, &r->d.n_chosen, err);
    case OPT_RANGE: return declare_range(&r->d, optarg, err);
    case OPT_ISOLATION: return set_isolation(r, err);
    case OPT_FROM: return add_from(r, err);
    case OPT_COLUMN: return declare_column(&r->d, optarg, err);
    case OPT_FIRST: r->first = true; return 0;
    default: return parse_size(optarg, 1024, (uint64_t)1 << 40, &r->max_line, "--max-line", err);
    }
}

/* --table=DATABASE.TABLE in its two parts, where --database does not name the one. */
static int split_table(struct run *r, struct err *err)
{
    char *database, *table;
    if (!r->d.table || r->d.database)
        return 0;
    if (table_name_parse(r->d.table, &database, &table, err) != 0)
        return -1;
    r->d.database = arena_strndup(&r->arena, database, strlen(database));
    r->d.table = arena_strndup(&r->arena, table, strlen(table));
    free(database);
    free(table);
    return 0;
}

static int parse_options(int argc, char **argv, struct run *r, int *status, struct err *err)
{
    int rc = opt_read(argc, argv, "hV", longopts, help, parse_option, r, status, err);
    if (rc != 0)
        return rc;
    if (r->d.n_keys == 0)
        return err_set(err, ERR_REFUSED, "--key is needed: the columns that name one row");
    if (r->d.n_ranges == 0)
        return err_set(err, ERR_REFUSED, "--range is needed: which offsets are owed");
    return split_table(r, err);
}

/* ---- what was found ---- */

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    struct run *r = ctx;
    if (line->type == LINE_SCOPE || line->type == LINE_BUNDLE)
        return err_set(err, ERR_REFUSED, "stdin: line %ju: the stream has a %s already", (uintmax_t)line->line_no,
                       line_type_name(line->type));
    if (line->type == LINE_COLUMNS)
        return r->d.has_table
                   ? 1
                   : err_set(err, ERR_REFUSED, "stdin: line %ju: columns of no table", (uintmax_t)line->line_no);
    if (line->type != LINE_LOG && line->type != LINE_TABLE)
        return 0;
    const struct json *v = json_parse_named(arena_strndup(&r->arena, line->p, line->n), line->n, &r->arena, "stdin",
                                            err);
    if (!v)
        return -1;
    if ((line->type == LINE_LOG ? declare_log : declare_table)(&r->d, v, err) != 0)
        return err_prefix(err, "stdin: line %ju", (uintmax_t)line->line_no);
    return 1;
}

/* ---- the scope ---- */

static void put_check(struct stream_out *out, const struct scope *s, const char *note)
{
    struct buf counts = BUF_INIT;
    uint64_t partitions = 0, offsets = 0;
    for (size_t i = 0; i < s->n_sources; i++)
        for (size_t k = 0; k < s->sources[i].n_partitions; k++, partitions++)
            offsets += (uint64_t)(s->sources[i].partitions[k].to - s->sources[i].partitions[k].from);
    buf_printf(&counts, "{\"topics\":%zu,\"partitions\":%ju,\"offsets\":%ju}", s->n_sources, (uintmax_t)partitions,
               (uintmax_t)offsets);
    stream_put_check(out, CHECK_RECONCILE_SCOPE, STATUS_PASSED, note, NULL, NEXT_NONE, buf_str(&counts));
    buf_free(&counts);
}

static void put_scope(struct stream_out *out, struct scope *s, const char *note, const char *path)
{
    /* Without captured rows a reference is all that can tell what is owed: no verdict may pass that has none. */
    static const enum check_name names[] = {CHECK_RECONCILE_SCOPE, CHECK_RECONCILE_DESTINATION, CHECK_REFERENCE_SCOPE,
                                            CHECK_REFERENCE_DESTINATION};
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    scope_put(&text, s);
    stream_put_require(out, names, sizeof names / sizeof *names);
    struct buf *line = stream_build(out, LINE_SCOPE);
    buf_adds(line, ",\"document\":");
    buf_add(line, text.p, text.len);
    stream_put_built(out, LINE_SCOPE);
    line = stream_build(out, LINE_COLUMNS);
    buf_printf(line, ",\"cells\":\"%s\",\"columns\":", CELLS_VERSION);
    columns_write(&s->columns, line);
    stream_put_built(out, LINE_COLUMNS);
    put_check(out, s, note);
    buf_addc(&text, '\n');
    if (path && file_publish(path, text.p, text.len, &err) != 0)
        stream_put_stop(out, &err, NEXT_FIX_USAGE);
    buf_free(&text);
}

static void declare(struct run *r, struct stream_out *out)
{
    struct scope s;
    struct buf note = BUF_INIT;
    struct err err = ERR_INIT;
    if (declare_scope(&r->d, &s, &note, &err) != 0)
        stream_put_stop(out, &err, NEXT_FIX_USAGE);
    else
        put_scope(out, &s, note.len ? buf_str(&note) : "", r->out_path);
    scope_free(&s);
    buf_free(&note);
}

static int run(struct run *r)
{
    struct stream_out out;
    struct stream_in in = {.next = NEXT_FIX_USAGE};
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
    struct run r = {.arena = ARENA_INIT, .d = {.isolation = "read_committed"}, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    r.d.arena = &r.arena;
    int status = 0, rc = parse_options(argc, argv, &r, &status, &err);
    if (rc < 0)
        status = stream_refuse_usage(argc, argv, &err, r.max_line);
    else if (rc == 0)
        status = run(&r);
    free(r.d.keys);
    free(r.d.chosen);
    free(r.d.froms);
    arena_free(&r.arena);
    return status;
}
