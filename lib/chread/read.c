/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One whole read of the keys' rows, query by query over one kept connection, or
 * of all rows in one: every end proven, every new connection held against the
 * look. Rows are decoded behind it, while the server is at the next query.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/decoder_thread.h"
#include "chread/session.h"

#define FORMAT_ROOM 64 /* for what follows the condition */

struct reading {
    struct chread *c;
    const struct chread_expect *expect;
    const struct chread_table *t;
    const struct columns *cols;
    struct map names; /* of the table's columns */
    struct decoder_thread *b;
    uint64_t max_rows;
};

static int on_body(void *ctx, const char *p, size_t n)
{
    struct reading *r = ctx;
    r->c->bytes += n;
    return decoder_thread_put(r->b, p, n);
}

/* Is the column LowCardinality in the table, or does it hold such? Native then has dictionaries in place of values,
 * whatever the settings say, so that it is selected as a plain column. */
static bool has_dictionary(const struct chread_table *t, const struct map *names, const struct column *c)
{
    const uint64_t *place = map_find(names, c->name, c->name_len);
    const char *text = place ? t->columns[*place].type : "";
    struct type type;
    if (type_parse(text, strlen(text), &type, NULL) != 0)
        return false;
    bool has = type_has_dictionary(&type);
    type_free(&type);
    return has;
}

static void select_column(struct buf *sql, const struct chread_table *t, const struct map *names,
                          const struct column *c)
{
    struct buf plain = BUF_INIT;
    bool cast = has_dictionary(t, names, c);
    buf_adds(sql, cast ? "CAST(" : "");
    http_quote_ident(sql, c->name, c->name_len);
    if (cast) {
        type_spell(&c->type, &plain);
        buf_adds(sql, ", ");
        http_quote_string(sql, plain.p, plain.len);
        buf_addc(sql, ')');
    }
    buf_free(&plain);
}

static void start_query(struct buf *sql, const struct reading *r)
{
    buf_reset(sql);
    buf_adds(sql, "SELECT ");
    for (size_t i = 0; i < r->cols->n; i++) {
        if (i > 0)
            buf_adds(sql, ", ");
        select_column(sql, r->t, &r->names, &r->cols->at[i]);
    }
    buf_adds(sql, " FROM ");
    http_quote_ident(sql, r->expect->database, strlen(r->expect->database));
    buf_addc(sql, '.');
    http_quote_ident(sql, r->expect->table, strlen(r->expect->table));
}

/* What the decoder found wrong comes before what became of the connection meanwhile. */
static int not_decoded(const struct err *err, struct chread_why *why)
{
    if (err->kind == ERR_NONE)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_IO_FAILED), "the rows had nowhere to go");
    struct cause cause = code_of_err(err, CODE_ANSWER_BROKEN);
    return chread_say(why, STATUS_UNAVAILABLE, &cause, "reading the rows: %s", err->text);
}

static int ended(struct reading *r, const struct http_answer *a, struct chread_why *why)
{
    if (a->outcome != HTTP_DONE)
        return session_why(a, "reading the rows", why);
    /* -1: why is what the decoder says at the end. */
    return decoder_thread_end(r->b, a->result_rows);
}

/* One statement, whole; an answer over a new connection counts once the look over that very connection is the same. */
static int one_query(struct reading *r, struct buf *sql, struct chread_why *why)
{
    struct http_answer a;
    struct http_setting *keep;
    char number[24];
    buf_printf(sql, " FORMAT %s", chread_format_name(r->c->o->format));
    const struct http_setting *settings = session_settings(r->c, r->max_rows, &keep, number);
    http_select(r->c->http, sql->p, sql->len, settings, on_body, r, &a);
    free(keep);
    r->c->queries++;
    if (ended(r, &a, why) != 0)
        return -1;
    return a.new_connection ? chread_look_again(r->c, r->expect, r->t, why) : 0;
}

static int read_keys(struct reading *r, const struct chread_keys *keys, struct buf *sql, struct chread_why *why)
{
    struct chread_limits limits = r->c->limits;
    int status = 0;
    limits.bytes -= limits.bytes > FORMAT_ROOM ? FORMAT_ROOM : limits.bytes;
    for (uint64_t from = 0, next; status == 0 && from < chread_keys_count(keys); from = next) {
        start_query(sql, r);
        buf_adds(sql, " WHERE ");
        next = chread_keys_condition(keys, from, &limits, sql);
        if (next == from)
            return chread_say(
                why, STATUS_UNAVAILABLE, BECAUSE(CODE_STATEMENT_TOO_LONG, {"bytes", FACT_NUMBER(r->c->limits.bytes)}),
                "key %" PRIu64 " of the read does not fit into a statement: this user's max_query_size is %" PRIu64,
                from + 1, r->c->limits.bytes);
        status = one_query(r, sql, why);
    }
    return status;
}

static int read_table(struct reading *r, struct buf *sql, struct chread_why *why)
{
    start_query(sql, r);
    return one_query(r, sql, why);
}

int chread_rows(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                const struct columns *cols, const struct chread_keys *keys, chread_row_fn *fn, void *ctx,
                uint64_t *rows, struct chread_why *why)
{
    struct reading r = {.c = c, .expect = expect, .t = t, .cols = cols};
    struct buf sql = BUF_INIT;
    struct err err = ERR_INIT;
    struct chread_decoder *d = chread_decoder_new(c->o->format, cols, c->o->max_bytes, fn, ctx);
    chread_names(t, &r.names);
    for (size_t i = 0; i < cols->n; i++)
        if (has_dictionary(t, &r.names, &cols->at[i]))
            chread_decoder_unnamed(d, i);
    r.max_rows = keys ? c->o->max_rows : c->o->max_table_rows;
    chread_decoder_most(d, r.max_rows);
    r.b = decoder_thread_start(d);
    int status = keys ? read_keys(&r, keys, &sql, why) : read_table(&r, &sql, why);
    if (decoder_thread_finish(r.b, rows, &err) != 0)
        status = not_decoded(&err, why);
    chread_decoder_free(d);
    map_free(&r.names);
    buf_free(&sql);
    return status;
}
