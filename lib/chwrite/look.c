/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: a look at the destination. Its identity, its form and its columns,
 * and whether the settings that an INSERT is sent with take effect.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/codes.h"
#include "chwrite/internal.h"

int look_take_rows(const struct question *q, const char *p, size_t n, uint64_t counted, struct arena *a,
                   struct rows *rows, struct err *err)
{
    size_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    if ((n > 0 && p[n - 1] != '\n') || lines != counted || lines > q->asked.rows) {
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_ANSWER_BROKEN),
                        "%s: the answer of %zu bytes has %zu whole lines, the server counted %" PRIu64
                        " rows, and %" PRIu64 " were "
                        "asked for at most",
                        q->what, n, lines, counted, q->asked.rows);
    }
    *rows = (struct rows){arena_alloc(a, (lines + 1) * sizeof *rows->at), 0};
    for (const char *nl; (nl = n > 0 ? memchr(p, '\n', n) : NULL) != NULL; rows->n++) {
        rows->at[rows->n] = json_parse_named(p, (size_t)(nl - p), a, q->what, err);
        if (!rows->at[rows->n]) {
            err->kind = ERR_TROUBLE;
            return -1;
        }
        n -= (size_t)(nl + 1 - p);
        p = nl + 1;
    }
    return 0;
}

/* A server that lacks what every supported line has is named by its version. An old one proves none of its answers, and
 * nothing but its refusal hangs on what it says here. */
static void name_old_line(struct http *http, struct err *err)
{
    struct buf version = BUF_INIT, shown = BUF_INIT;
    struct http_answer a;

    http_text(http, "SELECT version() FORMAT TabSeparatedRaw", NULL, 64, &version, &a);
    if ((a.outcome == HTTP_DONE || a.unproven) && version.len > 1) {
        msg_mask(&shown, version.p, version.len - 1); /* without its line's end */
        err_prefix(err, "the server is ClickHouse %s, of a line that is not supported", buf_str(&shown));
    } else {
        err_prefix(err, "the server is of a line that is not supported");
    }
    err->kind = ERR_REFUSED;
    err->cause = *BECAUSE(CODE_SERVER_UNSUPPORTED);
    buf_free(&version);
    buf_free(&shown);
}

static int no_rows(struct http *http, const struct question *q, const struct http_answer *answer, struct err *err)
{
    if (answer->outcome == HTTP_ABORTED)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_ANSWER_BROKEN), "%s: the answer is larger than %zu bytes",
                        q->what, q->asked.bytes);
    http_err(answer, q->what, err);
    if (answer->code == 452) { /* a setting that the profile does not let change */
        err->kind = ERR_REFUSED;
    } else if (answer->code == 46 || answer->code == 47) { /* a function or a column that is not there */
        name_old_line(http, err);
    }
    return -1;
}

static int rows_of(struct http *http, const struct question *q, struct arena *a, struct rows *rows, struct err *err)
{
    struct buf text = BUF_INIT;
    struct http_answer answer;
    int rc;

    if (http_text(http, q->sql, q->settings, q->asked.bytes, &text, &answer) != HTTP_DONE) {
        rc = no_rows(http, q, &answer, err);
    } else {
        const char *copy = arena_strndup(a, text.p ? text.p : "", text.len);
        rc = look_take_rows(q, copy, text.len, answer.result_rows, a, rows, err);
    }
    buf_free(&text);
    return rc;
}

static void where_table(struct buf *sql, const struct chwrite_options *o, const char *table_column)
{
    buf_adds(sql, " WHERE database = ");
    http_quote_string(sql, o->database, strlen(o->database));
    buf_printf(sql, " AND %s = ", table_column);
    http_quote_string(sql, o->table, strlen(o->table));
}

int look_take_identity(const struct rows *rows, const struct chwrite_options *o, struct look *l, struct err *err)
{
    static const char what[] = "the table's identity";
    struct destination *d = &l->destination;
    const char *uptime = "";
    uint64_t seconds;
    int rc = 0;
    const struct {
        const char *name, **to;
    } f[] = {{"server_uuid", &d->server_uuid},
             {"server_version", &d->server_version},
             {"server_host", &d->server_host},
             {"table_uuid", &d->table_uuid},
             {"engine", &d->engine},
             {"engine_full", &d->engine_full},
             {"create_table_query", &d->create_table_query},
             {"partition_key", &d->partition_key},
             {"uptime", &uptime}};

    if (rows->n != 1)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_TABLE_MISSING), "no table %s.%s that this user may see",
                        o->database, o->table);
    for (size_t i = 0; rc == 0 && i < sizeof f / sizeof f[0]; i++)
        rc = json_need_str(rows->at[0], f[i].name, &l->arena, f[i].to, what, err);
    if (rc == 0 && (!scan_u64(uptime, strlen(uptime), &seconds) || seconds > INT64_MAX / 1000))
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_ANSWER_BROKEN), "%s: the server's uptime is '%.20s'", what,
                        uptime);
    l->uptime_ms = rc == 0 ? (int64_t)seconds * 1000 : 0;
    d->database = o->database;
    d->table = o->table;
    return rc;
}

static int read_identity(struct http *http, const struct chwrite_options *o, struct look *l, struct err *err)
{
    struct buf sql = BUF_INIT;
    struct question q = {.what = "the table's identity", .asked = HTTP_ASKED_ROW};
    struct rows rows;
    int rc;

    buf_adds(&sql,
             "SELECT toString(serverUUID()) AS server_uuid, version() AS server_version, hostName() AS server_host, "
             "toString(uptime()) AS uptime, toString(uuid) AS table_uuid, engine, engine_full, create_table_query, "
             "partition_key FROM system.tables");
    where_table(&sql, o, "name");
    buf_adds(&sql, " FORMAT JSONEachRow");
    q.sql = buf_str(&sql);
    rc = rows_of(http, &q, &l->arena, &rows, err);
    buf_free(&sql);
    if (rc == 0)
        rc = look_take_identity(&rows, o, l, err);
    l->seen_ms = time_mono_ms();
    l->destination.endpoint = arena_strndup(&l->arena, http_endpoint(http), strlen(http_endpoint(http)));
    return rc;
}

int look_take_columns(const struct rows *rows, struct look *l, struct err *err)
{
    struct map names = MAP_INIT;
    int rc = 0;

    l->n_found = rows->n;
    l->found = arena_zalloc(&l->arena, (l->n_found + 1) * sizeof *l->found);
    for (size_t i = 0; rc == 0 && i < l->n_found; i++) {
        struct chwrite_found *f = &l->found[i];
        if (json_need_str(rows->at[i], "name", &l->arena, &f->name, "a column", err) != 0 ||
            json_need_str(rows->at[i], "type", &l->arena, &f->type, "a column", err) != 0 ||
            json_need_str(rows->at[i], "default_kind", &l->arena, &f->kind, "a column", err) != 0) {
            rc = -1;
        } else if (!map_add(&names, f->name, strlen(f->name), i)) {
            rc = err_fail(err, ERR_TROUBLE, BECAUSE(CODE_ANSWER_BROKEN), "the table's columns: %s is there twice",
                          f->name);
        }
    }
    map_free(&names);
    return rc;
}

static int read_columns(struct http *http, const struct chwrite_options *o, struct look *l, struct err *err)
{
    struct buf sql = BUF_INIT;
    struct question q = {.what = "the table's columns", .asked = HTTP_ASKED_LIST};
    struct rows rows;
    int rc;

    buf_adds(&sql, "SELECT name, type, default_kind FROM system.columns");
    where_table(&sql, o, "table");
    buf_adds(&sql, " ORDER BY position FORMAT JSONEachRow");
    q.sql = buf_str(&sql);
    rc = rows_of(http, &q, &l->arena, &rows, err);
    buf_free(&sql);
    return rc == 0 ? look_take_columns(&rows, l, err) : -1;
}

/* One text from a query of at most one row and the one column `v`; *out stays where there is no row or no right to ask.
 */
static int read_text(struct http *http, const char *sql, struct look *l, const char **out, struct err *err)
{
    struct question q = {.sql = sql, .what = "the server's settings", .asked = HTTP_ASKED_WORDS};
    struct err failure = ERR_INIT;
    struct rows rows;

    if (rows_of(http, &q, &l->arena, &rows, &failure) != 0)
        return failure.kind == ERR_TIMEOUT ? (*err = failure, -1) : 0;
    return rows.n == 0 ? 0 : json_need_str(rows.at[0], "v", &l->arena, out, q.what, err);
}

const char *look_window(const char *engine_full, struct arena *a)
{
    static const char name[] = " non_replicated_deduplication_window = ";
    const char *at = strstr(engine_full, " SETTINGS ");

    at = !at ? NULL : strstr(at, name);
    return !at ? NULL : arena_strndup(a, at + sizeof name - 1, strspn(at + sizeof name - 1, "0123456789"));
}

/* The window and how many of its entries a block takes. A server may keep two hashes of each block, as 26.5 does by
 * default, and then its window holds half as many blocks. Where it does not say that it keeps one, two are assumed. */
static int read_window(struct http *http, struct look *l, struct err *err)
{
    static const char by_default[] = "SELECT value AS v FROM system.merge_tree_settings WHERE name = "
                                     "'non_replicated_deduplication_window' FORMAT JSONEachRow";
    static const char hashes[] =
        "SELECT value AS v FROM system.server_settings WHERE name = 'insert_deduplication_version' "
        "FORMAT JSONEachRow";
    const char *window = look_window(l->destination.engine_full, &l->arena), *kept = "";

    if (!window && read_text(http, by_default, l, &window, err) != 0)
        return -1;
    l->destination.dedup_window = window ? window : "0";
    if (!scan_u64(l->destination.dedup_window, strlen(l->destination.dedup_window), &l->window))
        l->window = 0;
    if (l->window > 0 && read_text(http, hashes, l, &kept, err) != 0)
        return -1;
    l->hashing = kept;
    l->entries_per_block = strcmp(kept, "old_separate_hashes") == 0 || strcmp(kept, "new_unified_hash") == 0 ? 1 : 2;
    return 0;
}

/* Parts are numbered as they are written, whoever writes them: the difference of two readings is how many there were.
 */
static int read_block_number(struct http *http, const struct chwrite_options *o, struct look *l, struct err *err)
{
    struct buf sql = BUF_INIT;
    const char *v = NULL;
    int rc;

    if (l->window == 0) {
        return 0; /* nothing is remembered, so nothing has to be counted */
    }
    buf_adds(&sql, "SELECT toString(max(max_block_number)) AS v FROM system.parts");
    where_table(&sql, o, "table");
    buf_adds(&sql, " FORMAT JSONEachRow");
    rc = read_text(http, buf_str(&sql), l, &v, err);
    buf_free(&sql);
    l->has_block_number = v && scan_u64(v, strlen(v), &l->block_number);
    return rc;
}

int look_read(struct http *http, const struct chwrite_options *o, struct look *out, struct err *err)
{
    *out = (struct look){.arena = ARENA_INIT};
    if (read_identity(http, o, out, err) == 0 && read_columns(http, o, out, err) == 0 &&
        read_window(http, out, err) == 0 && read_block_number(http, o, out, err) == 0) {
        return 0;
    }
    look_free(out);
    return -1;
}

void look_free(struct look *l)
{
    arena_free(&l->arena);
    *l = (struct look){.arena = ARENA_INIT};
}

const char *look_differs(const struct look *a, const struct look *b)
{
    if (strcmp(a->destination.server_uuid, b->destination.server_uuid) != 0)
        return "another server answers at this endpoint";
    if (strcmp(a->destination.table_uuid, b->destination.table_uuid) != 0)
        return "the table was dropped and created again";
    return NULL;
}

/* ---- settings ---- */

static const struct json *row_named(const struct rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (json_is(json_get(rows->at[i], "name"), name))
            return json_get(rows->at[i], "value");
    }
    return NULL;
}

static int read_settings(struct http *http, const struct http_setting *names, const struct http_setting *sent,
                         struct arena *a, struct rows *rows, struct err *err)
{
    struct buf sql = BUF_INIT;
    struct question q = {.what = "the settings of an INSERT", .settings = sent, .asked = HTTP_ASKED_LIST};
    int rc;

    buf_adds(&sql, "SELECT name, value FROM system.settings WHERE name IN (");
    for (size_t i = 0; names[i].name; i++) {
        buf_adds(&sql, i == 0 ? "" : ", ");
        http_quote_string(&sql, names[i].name, strlen(names[i].name));
    }
    buf_adds(&sql, ") FORMAT JSONEachRow");
    q.sql = buf_str(&sql);
    rc = rows_of(http, &q, a, rows, err);
    buf_free(&sql);
    return rc;
}

int look_take_known(const struct rows *rows, struct http_setting *settings, size_t *n, size_t needed, struct err *err)
{
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        if (row_named(rows, settings[i].name))
            settings[kept++] = settings[i];
        else if (i < needed)
            return err_fail(err, ERR_REFUSED, BECAUSE(CODE_SETTINGS_NOT_ALLOWED),
                            "the server does not show the setting %s to this user", settings[i].name);
    }
    *n = kept;
    settings[kept] = (struct http_setting){NULL, NULL};
    return 0;
}

int look_take_effect(const struct rows *rows, const struct http_setting *settings, struct err *err)
{
    for (; settings->name; settings++) {
        if (!json_is(row_named(rows, settings->name), settings->value))
            return err_fail(err, ERR_REFUSED, BECAUSE(CODE_SETTINGS_NOT_ALLOWED),
                            "the server does not take %s=%s from this user", settings->name, settings->value);
    }
    return 0;
}

int look_settings(struct http *http, struct http_setting *settings, size_t *n, size_t needed, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct rows rows;
    int rc = read_settings(http, settings, NULL, &a, &rows, err);

    if (rc == 0)
        rc = look_take_known(&rows, settings, n, needed, err);
    if (rc == 0)
        rc = read_settings(http, settings, settings, &a, &rows, err);
    if (rc == 0)
        rc = look_take_effect(&rows, settings, err);
    arena_free(&a);
    return rc;
}
