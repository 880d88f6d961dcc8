/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One whole read of the keys' rows, query by query over one kept connection, or
 * of all rows in one: every end proven, every new connection held against the
 * look. Rows are decoded behind it, while the server is at the next query. What a
 * server bounds is asked for in another way: a range key by key, many keys in two
 * statements, which loses nothing, since an answer of an error has no rows.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/decoder_thread.h"
#include "chread/keys.h"
#include "chread/session.h"
#include "chread/statement.h"

/* What a statement is raised to where its user's max_query_size is less: room for many keys, and little memory. */
#define RAISED ((uint64_t)16 << 20)
/* Below so many keys a statement is not cut further, whatever bound it met. */
#define FEW 10000

struct reading {
    struct chread *c;
    const struct chread_expect *expect;
    const struct chread_table *t;
    const struct statement *s;
    const struct chread_keys *keys;
    struct decoder_thread *b;
    struct buf sql;
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

void statement_column(struct buf *sql, const struct chread_table *t, const struct map *names, const struct column *c)
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

void statement_free(struct statement *s)
{
    buf_free(&s->head);
    buf_free(&s->tail);
}

static void start_query(struct reading *r)
{
    buf_reset(&r->sql);
    buf_add(&r->sql, r->s->head.p, r->s->head.len);
}

/* What the decoder found wrong comes before what became of the connection meanwhile. */
static int not_decoded(const char *what, const struct err *err, struct chread_why *why)
{
    if (err->kind == ERR_NONE)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_IO_FAILED), "the rows had nowhere to go");
    struct cause cause = code_of_err(err, CODE_ANSWER_BROKEN);
    return chread_say(why, STATUS_UNAVAILABLE, &cause, "%s: %s", what, err->text);
}

/* One statement, whole; an answer over a new connection counts once the look over that very connection is the same. 0,
 * 1 where the server answered with an error and *why says which, -1 with *why. */
static int one_query(struct reading *r, const struct chread_asked *asked, struct chread_why *why)
{
    struct chread *c = r->c;
    struct http_answer a;
    char number[24], size[24];
    buf_add(&r->sql, r->s->tail.p ? r->s->tail.p : "", r->s->tail.len);
    buf_printf(&r->sql, " FORMAT %s", chread_format_name(c->o->format));
    struct http_setting *settings = session_settings(c, asked->most, number);
    if (r->sql.len > c->limits.bytes) {
        snprintf(size, sizeof size, "%" PRIu64, c->raised = RAISED);
        settings[c->n_settings + 1] = (struct http_setting){"max_query_size", size};
    }
    decoder_thread_ask(r->b, asked);
    http_select(c->http, r->sql.p, r->sql.len, settings, on_body, r, &a);
    free(settings);
    c->queries++;
    c->ranges += asked->range;
    int status = 0;
    if (a.outcome != HTTP_DONE) {
        session_why(&a, r->s->what, why);
        status = a.outcome == HTTP_ANSWERED && a.body_bytes == 0 ? 1 : -1;
    } else if (decoder_thread_end(r->b, a.result_rows) != 0) {
        return -1; /* why is what the decoder says at the end */
    }
    if (a.new_connection && chread_look_again(c, r->expect, r->t, why) != 0)
        return -1;
    return status;
}

/* Keys of both reads. */
static void show_progress(struct reading *r, uint64_t keys)
{
    r->c->keys_done += keys;
    progress_share(r->c->keys_done, 2 * r->keys->n);
}

/* All rows of the span, those of other keys passed over. 1 where the server does not answer that. */
static int read_range(struct reading *r, const struct chread_stretch *s, struct chread_why *why)
{
    uint64_t most = keys_break_even(r->keys) * (s->to - s->from);
    start_query(r);
    buf_adds(&r->sql, " WHERE ");
    return keys_span(r->keys, s->from, s->to, &r->sql)
               ? one_query(r, &(struct chread_asked){r->keys, s->from, s->to, true, most, r->c->o->max_rows}, why)
               : 1;
}

/* Does the server unpack these keys as they are meant? Asked once. */
static int need_arrays(struct reading *r, const struct chread_stretch *s, struct chread_why *why)
{
    struct chread *c = r->c;
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    if (c->arrays_known)
        return 0;
    keys_arrays_probe(r->keys, s->from, s->to, &sql);
    int status = sql.len + SESSION_FORMAT_ROOM > c->limits.bytes
                     ? 1
                     : session_ask(c, r->expect, r->t, buf_str(&sql), 1, HTTP_ASKED_WORDS, &x, "unpacking keys", why);
    c->arrays = status == 0 && x.n == 1 && strcmp(x.rows[0][0], "1") == 0;
    c->arrays_known = true;
    texts_free(&x);
    buf_free(&sql);
    return status < 0 ? -1 : 0;
}

/* Append the condition for the keys from number `from` on; the number of the next one. */
static uint64_t put_keys(struct reading *r, uint64_t from, uint64_t to)
{
    struct chread_limits limits = r->c->limits;
    if (!r->c->size_fixed && limits.bytes < RAISED)
        limits.bytes = RAISED;
    uint64_t room = SESSION_FORMAT_ROOM + r->s->tail.len;
    limits.bytes -= limits.bytes > room ? room : limits.bytes;
    if (r->c->arrays)
        return keys_arrays(r->keys, from, to, &limits, &r->sql);
    limits.keys = limits.keys < FEW ? limits.keys : FEW;
    return keys_literals(r->keys, from, to, &limits, &r->sql);
}

/* May the statement be asked in another way, after the error that why holds? */
static bool ask_less(struct reading *r, uint64_t keys, const struct chread_why *why)
{
    struct chread *c = r->c;
    if (why->cause.code == CODE_SETTING_FIXED && r->sql.len > c->limits.bytes && !c->size_fixed) {
        c->size_fixed = true;
        c->raised = 0;
        return true;
    }
    if (why->cause.code != CODE_SERVER_BOUND || keys <= FEW)
        return false;
    c->limits.keys = keys / 2 > FEW ? keys / 2 : FEW;
    return true;
}

static int read_keys(struct reading *r, const struct chread_stretch *s, struct chread_why *why)
{
    uint64_t max = r->c->o->max_rows;
    int status = need_arrays(r, s, why);
    for (uint64_t from = s->from, next; status == 0 && from < s->to; from = next) {
        start_query(r);
        buf_adds(&r->sql, " WHERE ");
        next = put_keys(r, from, s->to);
        if (next == from)
            return chread_say(
                why, STATUS_UNAVAILABLE, BECAUSE(CODE_STATEMENT_TOO_LONG, {"bytes", FACT_NUMBER(r->c->limits.bytes)}),
                "key %" PRIu64 " of the read does not fit into a statement: this user's max_query_size is %" PRIu64,
                from + 1, r->c->limits.bytes);
        status = one_query(r, &(struct chread_asked){r->keys, from, next, false, max, max}, why);
        if (status == 0)
            show_progress(r, next - from);
        if (status > 0 && ask_less(r, next - from, why)) {
            status = 0;
            next = from;
        }
    }
    return status;
}

static int read_plan(struct reading *r, const struct chread_plan *plan, struct chread_why *why)
{
    int status = 0;
    for (size_t i = 0; i < plan->n && status == 0; i++) {
        status = plan->at[i].range ? read_range(r, &plan->at[i], why) : 1;
        if (status == 0)
            show_progress(r, plan->at[i].to - plan->at[i].from);
        if (status > 0)
            status = read_keys(r, &plan->at[i], why);
    }
    return status;
}

static int read_table(struct reading *r, struct chread_why *why)
{
    uint64_t max = r->c->o->max_table_rows;
    start_query(r);
    return one_query(r, &(struct chread_asked){.most = max, .most_kept = max}, why);
}

int statement_read(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                   const struct statement *s, const struct chread_keys *keys, const struct chread_plan *plan,
                   chread_row_fn *fn, void *ctx, uint64_t *rows, struct chread_why *why)
{
    struct reading r = {.c = c, .expect = expect, .t = t, .s = s, .keys = keys};
    struct map names = MAP_INIT;
    struct err err = ERR_INIT;
    uint64_t passed_over = 0;
    struct chread_decoder *d = chread_decoder_new(c->o->format, s->cols, c->o->max_bytes, fn, ctx);
    chread_names(t, &names);
    for (size_t i = 0; i < s->cols->n; i++)
        if (has_dictionary(t, &names, &s->cols->at[i]))
            chread_decoder_unnamed(d, i);
    map_free(&names);
    r.b = decoder_thread_start(d);
    int status = plan ? read_plan(&r, plan, why) : read_table(&r, why);
    if (decoder_thread_finish(r.b, rows, &passed_over, &err) != 0)
        status = not_decoded(s->what, &err, why);
    c->passed_over += passed_over;
    chread_decoder_free(d);
    buf_free(&r.sql);
    return status == 0 ? 0 : -1;
}

int chread_rows(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                const struct columns *cols, const struct chread_keys *keys, const struct chread_plan *plan,
                chread_row_fn *fn, void *ctx, uint64_t *rows, struct chread_why *why)
{
    struct statement s = STATEMENT_INIT;
    struct map names = MAP_INIT;
    s.cols = cols;
    chread_names(t, &names);
    buf_adds(&s.head, "SELECT ");
    for (size_t i = 0; i < cols->n; i++) {
        buf_adds(&s.head, i > 0 ? ", " : "");
        statement_column(&s.head, t, &names, &cols->at[i]);
    }
    session_from(&s.head, expect);
    /* What is asked for stands in WHERE: a PREWHERE would be before the last row of a key is known. */
    buf_adds(&s.head, expect->final ? " FINAL" : "");
    int status = statement_read(c, expect, t, &s, keys, plan, fn, ctx, rows, why);
    map_free(&names);
    statement_free(&s);
    return status;
}
