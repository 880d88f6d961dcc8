/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table-look: looks at a ClickHouse table over one read-only connection and says
 * who it is: the server's and the table's ids, the engine, the definition and the
 * columns, for scope-declare.
 *
 * Input: a stream, which passes (with --first none is read). Output: a `table`
 * line, and a `columns` line of the columns that the table stores.
 * Exit: 0 found, 2 refused, 3 not to be had.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/chread.h"
#include "http/login.h"
#include "stream/stream.h"
#include "types/line.h"

struct options {
    struct http_login login;
    struct table_name name;
    bool first;
    uint64_t max_line;
};

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("table-look --url=URL --table=DATABASE.TABLE [options] [<stream]\n"
                  "Say a ClickHouse table's ids, engine and columns, over one read-only connection.\n"
                  "Continues the stream on standard input; with --first begins one and reads none."),
        TABLE_NAME_OPTIONS(&o->name),
        HTTP_LOGIN_OPTIONS(&o->login),
        STREAM_OPTION_FIRST(&o->first),
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 found, 2 refused, 3 not to be had"),
        OPT_END};
    int rc = opt_read(argc, argv, table, status, err);
    if (rc != 0)
        return rc;
    if (!o->name.said)
        return err_set(err, ERR_REFUSED, "--table is missing");
    return table_name_settle(&o->name, err) != 0 ? -1 : http_login_settle(&o->login, err);
}

/* ---- the table ---- */

/* A computed column holds nothing that anybody owes. */
static bool is_stored(const struct chread_column *c)
{
    return *c->kind == '\0' || strcmp(c->kind, "DEFAULT") == 0;
}

static int put_columns(struct stream_out *out, const struct chread_table *t, struct err *err)
{
    struct columns cols = {xcalloc(t->n_columns + 1, sizeof *cols.at), 0, MAP_INIT};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->n_columns; i++) {
        const struct chread_column *from = &t->columns[i];
        struct column *to = &cols.at[cols.n];
        if (!is_stored(from))
            continue;
        cols.n++;
        to->name = xstrdup(from->name);
        to->name_len = strlen(from->name);
        if (!utf8_valid(to->name, to->name_len))
            rc = err_set(err, ERR_TROUBLE, "column %zu of the table has a name that is not UTF-8: '%s'", i + 1,
                         from->name);
        else
            rc = type_parse(from->type, strlen(from->type), &to->type, err);
    }
    if (rc == 0)
        stream_put_columns(out, &cols);
    columns_free(&cols);
    return rc;
}

static void look(struct stream_out *out, const struct options *o)
{
    struct chread_options read = {.http = o->login.o, .format = CHREAD_NATIVE, .max_rows = 1, .keys_per_query = 1};
    const struct chread_expect expect = {.database = o->name.database, .table = o->name.table, .every_row = true};
    const struct columns none = COLUMNS_INIT;
    struct chread ch = {0};
    struct chread_table t = CHREAD_TABLE_INIT;
    struct chread_why why = {0}, unfit = {0};
    struct err err = ERR_INIT;
    if (chread_open(&ch, &read, &why) != 0 || chread_look(&ch, &expect, &t, &why) != 0) {
        err_fail(&err, why.refused ? ERR_REFUSED : ERR_TROUBLE, &why.cause, "%s", why.reason);
        stream_put_stop(out, &err, CODE_USAGE);
    } else {
        bool fit = chread_form(&t, &expect, &none, &unfit) == 0;
        chread_describe(stream_build(out, LINE_TABLE), &ch, &expect, &t, fit ? NULL : &unfit);
        stream_put_built(out, LINE_TABLE);
        if (put_columns(out, &t, &err) != 0)
            stream_put_stop(out, &err, CODE_COLUMN_TYPE_UNSUPPORTED);
    }
    chread_table_free(&t);
    chread_close(&ch);
}

static int on_line(void *ctx, const struct stream_line *line, struct err *err)
{
    (void)ctx;
    if (line->type == LINE_TABLE || line->type == LINE_COLUMNS || line->type == LINE_SCOPE)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_LINE_UNEXPECTED),
                        "stdin: line %" PRIu64 ": a table was looked at already", line->line_no);
    return 0;
}

static int run(const struct options *o)
{
    struct stream_out out;
    struct stream_in in = {0};
    bool go = o->first;
    if (o->first)
        stream_begin(&out, 1, NULL);
    else
        go = stream_filter(&in, &out, o->max_line, on_line, NULL);
    if (go)
        look(&out, o);
    int status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    return status;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.login = HTTP_LOGIN_INIT, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0, rc = read_options(argc, argv, &o, &status, &err);
    if (rc < 0)
        status = stream_refuse(&err, o.first ? STREAM_NO_INPUT : o.max_line);
    else if (rc == 0)
        status = run(&o);
    http_login_free(&o.login);
    table_name_free(&o.name);
    return status;
}
