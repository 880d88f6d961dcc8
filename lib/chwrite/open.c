/* SPDX-License-Identifier: Apache-2.0 */
/* chwrite: opening a table, the batch, and looking at the destination again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/codes.h"
#include "chwrite/internal.h"
#include "http/lines.h"

/* Only engines that keep rows in parts: what a view, a queue or a remote table does with an INSERT is not theirs to
 * say. */
static int check_engine(const struct destination *d, struct err *err)
{
    size_t n = strlen(d->engine), tail = strlen("MergeTree");

    if (n < tail || strcmp(d->engine + n - tail, "MergeTree") != 0) {
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
                        "table %s.%s has the engine %s, which is no MergeTree", d->database, d->table, d->engine);
    }
    return 0;
}

static void put_leb(struct buf *b, size_t n)
{
    for (; n >= 0x80; n >>= 7)
        buf_addc(b, (char)(unsigned char)(n | 0x80));
    buf_addc(b, (char)(unsigned char)n);
}

/* The statement, and the names and types that stand before the rows: the server holds them against the table at every
 * INSERT, so that rows encoded for one type are never read as another after an ALTER. */
static void prepare(struct chwrite *w, const struct look *l)
{
    buf_adds(&w->statement, "INSERT INTO ");
    http_quote_ident(&w->statement, w->o.database, strlen(w->o.database));
    buf_addc(&w->statement, '.');
    http_quote_ident(&w->statement, w->o.table, strlen(w->o.table));
    buf_adds(&w->statement, " (");
    put_leb(&w->body, w->columns.n);
    for (size_t i = 0; i < w->columns.n; i++) {
        const struct column *c = &w->columns.at[i];
        buf_adds(&w->statement, i == 0 ? "" : ", ");
        http_quote_ident(&w->statement, c->name, c->name_len);
        put_leb(&w->body, c->name_len);
        buf_add(&w->body, c->name, c->name_len);
    }
    buf_adds(&w->statement, ") FORMAT RowBinaryWithNamesAndTypes");
    for (size_t i = 0, at = 0; i < w->columns.n; at++) {
        if (strcmp(l->found[at].name, w->columns.at[i].name) == 0) {
            put_leb(&w->body, strlen(l->found[at].type));
            buf_adds(&w->body, l->found[at].type);
            i++;
        }
    }
    w->header = w->body.len;
    w->ends = xcalloc(w->columns.n, sizeof *w->ends);
}

#define WANTED_EVERYWHERE 6

static int prove_settings(struct chwrite *w, struct err *err)
{
    const struct http_setting wanted[] = {
        {"async_insert", "0"},
        {"wait_for_async_insert", "1"},
        {"insert_deduplicate", "1"},
        {"max_insert_block_size", w->max_rows},
        {"input_format_with_names_use_header", "1"},
        {"input_format_with_types_use_header", "1"},
        {"deduplicate_insert", "enable"}, /* from here on not every line has them */
        {"max_insert_block_size_bytes", "0"},
        {"input_format_max_block_size_bytes", "0"},
    };

    snprintf(w->max_rows, sizeof w->max_rows, "%" PRIu64, w->o.max_rows);
    w->n_settings = sizeof wanted / sizeof wanted[0];
    memcpy(w->settings, wanted, sizeof wanted);
    if (look_settings(w->http, w->settings, &w->n_settings, WANTED_EVERYWHERE, err) != 0)
        return -1;
    return 0;
}

/* Columns as the evidence has them. */
static const char *columns_text(const struct columns *cols, struct arena *a)
{
    struct buf b = BUF_INIT;
    struct json_w jw;
    const char *text;

    jw_init(&jw, &b);
    jw_arr(&jw, NULL);
    for (size_t i = 0; i < cols->n; i++) {
        const struct column *c = &cols->at[i];
        jw_obj(&jw, NULL);
        jw_strn(&jw, "name", c->name, c->name_len);
        jw_str(&jw, "type", c->type.name);
        if (c->from != FROM_NONE)
            jw_str(&jw, "from", type_from_name(c->from));
        jw_end_obj(&jw);
    }
    jw_end_arr(&jw);
    text = arena_strndup(a, b.p, b.len);
    buf_free(&b);
    return text;
}

static bool same_columns(const struct columns *a, const struct columns *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(a->at[i].name, b->at[i].name) != 0 || strcmp(a->at[i].type.name, b->at[i].type.name) != 0)
            return false;
    }
    return true;
}

static void take_look(struct chwrite *w, struct look *l)
{
    look_free(&w->look);
    w->look = *l;
    w->look.destination.async_insert = "0";
    w->look.destination.wait_for_async_insert = "1";
    w->look.destination.columns = columns_text(&w->columns, &w->look.arena);
    w->window.size = l->window;
    w->window.entries_per_block = l->entries_per_block;
    w->window.tested = strcmp(l->destination.engine, "MergeTree") == 0 &&
                       http_line_tested(l->destination.server_version);
}

static int open_table(struct chwrite *w, struct err *err)
{
    struct look l;

    if (look_read(w->http, &w->o, &l, err) != 0)
        return -1;
    if (check_engine(&l.destination, err) != 0 ||
        chwrite_plan(l.found, l.n_found, w->o.from, w->o.n_from, w->o.with, &w->columns, err) != 0) {
        look_free(&l);
        return -1;
    }
    prepare(w, &l);
    blocks_init(&w->blocks, l.destination.partition_key, &w->columns);
    take_look(w, &l);
    w->mark = w->look.block_number;
    w->has_mark = w->look.has_block_number;
    return prove_settings(w, err);
}

struct chwrite *chwrite_open(const struct chwrite_options *o, struct err *err)
{
    struct chwrite *w = xcalloc(1, sizeof *w);

    w->o = *o;
    w->o.retry_ms = o->retry_ms != 0 ? o->retry_ms : CHWRITE_RETRY_MS;
    w->o.max_rows = o->max_rows != 0 ? o->max_rows : CHWRITE_MAX_ROWS;
    w->http = http_open(&o->http, err);
    if (!w->http || open_table(w, err) != 0) {
        chwrite_close(w);
        return NULL;
    }
    return w;
}

void chwrite_close(struct chwrite *w)
{
    if (!w)
        return;
    http_close(w->http);
    look_free(&w->look);
    columns_free(&w->columns);
    blocks_free(&w->blocks);
    buf_free(&w->body);
    buf_free(&w->statement);
    buf_free(&w->token);
    free(w->ends);
    free(w);
}

const struct columns *chwrite_columns(const struct chwrite *w)
{
    return &w->columns;
}

const struct destination *chwrite_destination(const struct chwrite *w)
{
    return &w->look.destination;
}

int chwrite_add(struct chwrite *w, const struct json *values, const char *where, struct err *err)
{
    size_t start = w->body.len, cell = w->blocks.column;

    if (chwrite_row_cells(&w->columns, values, where, &w->body, w->ends, err) != 0)
        return -1;
    start = cell == 0 ? start : w->ends[cell - 1];
    blocks_add(&w->blocks, &w->columns, &w->body, start, w->ends[cell] - start);
    w->rows++;
    return 0;
}

uint64_t chwrite_rows(const struct chwrite *w)
{
    return w->rows;
}

size_t chwrite_bytes(const struct chwrite *w)
{
    return w->body.len - w->header;
}

const struct buf *chwrite_body(const struct chwrite *w)
{
    return &w->body;
}

int sink_look(struct chwrite *w, struct err *err)
{
    struct look l;
    struct columns cols;
    const char *another;
    uint64_t smaller;

    if (look_read(w->http, &w->o, &l, err) != 0)
        return -1;
    another = look_differs(&w->look, &l);
    if (another) {
        look_free(&l);
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_SERVER_OTHER), "%s.%s: %s", w->o.database, w->o.table, another);
    }
    if (chwrite_plan(l.found, l.n_found, w->o.from, w->o.n_from, w->o.with, &cols, err) != 0) {
        look_free(&l);
        err_cause(err, BECAUSE(CODE_DEFINITION_CHANGED));
        return err_prefix(err, "%s.%s was altered", w->o.database, w->o.table);
    }
    if (!same_columns(&w->columns, &cols)) {
        columns_free(&cols);
        look_free(&l);
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_DEFINITION_CHANGED),
                        "%s.%s was altered: its columns are not those that this run began with", w->o.database,
                        w->o.table);
    }
    columns_free(&cols);
    /* A window that was widened meanwhile has forgotten what the narrower one dropped. */
    smaller = l.window < w->window.size ? l.window : w->window.size;
    take_look(w, &l);
    w->window.size = smaller;
    return 0;
}

int chwrite_look(struct chwrite *w, struct err *err)
{
    int64_t deadline = time_mono_ms() + (int64_t)w->o.retry_ms, pause = SINK_BACKOFF_FIRST_MS;

    while (sink_look(w, err) != 0) {
        if (err->kind == ERR_REFUSED || time_mono_ms() + pause > deadline)
            return -1;
        sleep_ms(pause);
        pause = pause * 2 < SINK_BACKOFF_MOST_MS ? pause * 2 : SINK_BACKOFF_MOST_MS;
    }
    w->window.size = w->look.window;
    w->mark = w->look.block_number;
    w->has_mark = w->look.has_block_number;
    return 0;
}
