/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look at the destination: who the server and the table are, how the table
 * is defined, and which mutations it has. One look is over one connection.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chread/session.h"

#define LOOKS 3 /* a connection may be closed between two statements; this often is not chance */

#define WINDOW "replicated_deduplication_window"

#define SECONDS ((uint64_t)253402300799) /* of the year 9999's last */

/* A time in so many units at most. */
static bool take_time(const char *s, uint64_t most, int64_t *out)
{
    uint64_t v;
    bool ok = scan_u64(s, strlen(s), &v) && v <= most;
    *out = ok ? (int64_t)v : 0;
    return ok;
}

/* Statements of one look share this: whether a later one came over another connection than the one before. */
struct look {
    struct chread *c;
    const struct chread_expect *expect;
    struct chread_why *why;
    unsigned statements;
    bool first_new, moved;
};

static int ask(struct look *l, const char *sql, size_t columns, struct http_asked asked, struct texts *t,
               const char *what)
{
    int status = session_texts(l->c, sql, columns, asked, t, what, l->why);
    if (l->statements++ == 0)
        l->first_new = t->new_connection;
    else if (t->new_connection)
        l->moved = true;
    return status;
}

int table_take_server(const struct texts *x, struct chread_table *t, struct chread_why *why)
{
    if (x->n != 1 || !take_time(x->rows[0][4], 1000 * SECONDS + 999, &t->server_ms))
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN), "the server gave no identity");
    t->server_uuid = xstrdup(x->rows[0][0]);
    t->server_version = xstrdup(x->rows[0][1]);
    t->server_host = xstrdup(x->rows[0][2]);
    t->timezone = xstrdup(x->rows[0][3]);
    return 0;
}

static int read_server(struct look *l, struct chread_table *t)
{
    struct texts x = TEXTS_INIT;
    t->client_ms = time_now_ms();
    int status = ask(
        l,
        "SELECT toString(serverUUID()), version(), hostName(), timezone(), toString(toUnixTimestamp64Milli(now64(3)))",
        5, HTTP_ASKED_WORDS, &x, "reading the server's identity");
    if (status == 0)
        status = table_take_server(&x, t, l->why);
    texts_free(&x);
    return status;
}

/* ` WHERE <database> = 'd' AND <table> = 't'`, as each system table calls them. */
static void where_table(struct buf *sql, const struct chread_expect *e, const char *table_column)
{
    buf_adds(sql, " WHERE database = ");
    http_quote_string(sql, e->database, strlen(e->database));
    buf_printf(sql, " AND %s = ", table_column);
    http_quote_string(sql, e->table, strlen(e->table));
}

int table_take_definition(const struct texts *x, const struct chread_expect *e, struct chread_table *t,
                          struct chread_why *why)
{
    char **const to[] = {&t->table_uuid,         &t->engine,        &t->engine_full,
                         &t->create_table_query, &t->partition_key, &t->sorting_key};
    for (size_t i = 0; x->n == 1 && i < sizeof to / sizeof *to; i++)
        *to[i] = xstrdup(x->rows[0][i]);
    if (x->n == 1)
        return 0;
    struct buf name = BUF_INIT;
    http_quote_ident(&name, e->database, strlen(e->database));
    buf_addc(&name, '.');
    http_quote_ident(&name, e->table, strlen(e->table));
    chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_TABLE_MISSING, {"table", buf_str(&name)}),
               "the server shows this user no table %s: it is not there, or may not be seen", buf_str(&name));
    buf_free(&name);
    return -1;
}

static int read_table(struct look *l, struct chread_table *t)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    buf_adds(
        &sql,
        "SELECT toString(uuid), engine, engine_full, create_table_query, partition_key, sorting_key FROM system.tables");
    where_table(&sql, l->expect, "name");
    int status = ask(l, buf_str(&sql), 6, HTTP_ASKED_ROW, &x, "reading system.tables");
    if (status == 0)
        status = table_take_definition(&x, l->expect, t, l->why);
    texts_free(&x);
    buf_free(&sql);
    return status;
}

int table_take_columns(const struct texts *x, struct chread_table *t, struct chread_why *why)
{
    struct map names = MAP_INIT;
    const char *twice = NULL;
    t->columns = xcalloc(x->n, sizeof *t->columns);
    t->n_columns = x->n;
    for (size_t i = 0; i < x->n; i++) {
        t->columns[i] = (struct chread_column){xstrdup(x->rows[i][0]), xstrdup(x->rows[i][1]), xstrdup(x->rows[i][2])};
        if (!map_add(&names, t->columns[i].name, strlen(t->columns[i].name), i) && !twice)
            twice = t->columns[i].name;
    }
    map_free(&names);
    return twice ? chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                              "reading system.columns: column '%s' is there twice", twice)
                 : 0;
}

static int read_columns(struct look *l, struct chread_table *t)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    buf_adds(&sql, "SELECT name, type, toString(default_kind) FROM system.columns");
    where_table(&sql, l->expect, "table");
    buf_adds(&sql, " ORDER BY position");
    int status = ask(l, buf_str(&sql), 3, HTTP_ASKED_LIST, &x, "reading system.columns");
    if (status == 0)
        status = table_take_columns(&x, t, l->why);
    texts_free(&x);
    buf_free(&sql);
    return status;
}

int table_take_mutations(const struct texts *x, struct chread_table *t, struct chread_why *why)
{
    t->mutations = xcalloc(x->n, sizeof *t->mutations);
    for (size_t i = 0; i < x->n; i++) {
        char **row = x->rows[i];
        int64_t created;
        if (!take_time(row[2], SECONDS, &created))
            return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                              "reading system.mutations: '%s' is no time", row[2]);
        /* Only what says that it is done is; anything else still runs. */
        t->mutations[t->n_mutations++] = (struct chread_mutation){xstrdup(row[0]), xstrdup(row[1]), 1000 * created,
                                                                  strcmp(row[3], "1") == 0};
    }
    return 0;
}

static int read_mutations(struct look *l, struct chread_table *t)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    buf_adds(
        &sql,
        "SELECT mutation_id, command, toString(toUnixTimestamp(create_time)), toString(is_done) FROM system.mutations");
    where_table(&sql, l->expect, "table");
    buf_adds(&sql, " ORDER BY create_time, mutation_id");
    int status = ask(l, buf_str(&sql), 4, HTTP_ASKED_LIST, &x, "reading system.mutations");
    if (status == 0)
        status = table_take_mutations(&x, t, l->why);
    texts_free(&x);
    buf_free(&sql);
    return status;
}

/* The tables under a Merge, in place of its own mutations, which it has none of. */
static int read_under(struct look *l, struct chread_table *t, const struct engine *merge)
{
    static const char *const what[] = {"reading system.tables of the tables under the Merge",
                                       "reading system.columns of the tables under the Merge",
                                       "reading system.mutations of the tables under the Merge"};
    int status = 0;
    for (enum under_what i = UNDER_TABLES; i <= UNDER_MUTATIONS && status == 0; i++) {
        struct texts x = TEXTS_INIT;
        struct buf sql = BUF_INIT;
        size_t columns = under_ask(&sql, i, merge, l->expect);
        status = ask(l, buf_str(&sql), columns, HTTP_ASKED_LIST, &x, what[i]);
        if (status == 0)
            status = under_take(i, &x, t, l->why);
        texts_free(&x);
        buf_free(&sql);
    }
    return status;
}

static int read_changes(struct look *l, struct chread_table *t)
{
    struct arena a = ARENA_INIT;
    struct engine e;
    engine_parse(t->engine, t->engine_full, &a, &e);
    int status = e.kind == ENGINE_MERGE ? read_under(l, t, &e) : read_mutations(l, t);
    arena_free(&a);
    return status;
}

/* One that is not shown is found to be that where the replica is judged: who the table is can be told without it. */
static int read_replica(struct look *l, struct chread_table *t)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    replica_ask(&sql);
    where_table(&sql, l->expect, "table");
    int status = ask(l, buf_str(&sql), replica_asked(), HTTP_ASKED_ROW, &x, "reading system.replicas");
    if (status == 0)
        status = replica_take(&x, t, l->why);
    texts_free(&x);
    buf_free(&sql);
    return status;
}

static const char *window_name(bool replicated)
{
    return replicated ? WINDOW : "non_" WINDOW;
}

char *table_window(const char *engine_full, bool replicated)
{
    const char *name = window_name(replicated);
    size_t n = strlen(name);
    for (const char *in = strstr(engine_full, name); in; in = strstr(in + n, name))
        if ((in == engine_full || in[-1] == ' ') && (in[n] == ' ' || in[n] == '=')) {
            in += n + strspn(in + n, " =");
            return xstrndup(in, strspn(in, "0123456789"));
        }
    return NULL;
}

/* Of no weight for the check: what the table keeps against repeated INSERTs, "" where it cannot be told. */
static void read_window(struct look *l, struct chread_table *t)
{
    bool replicated = chread_replicated(t);
    t->dedup_window = table_window(t->engine_full, replicated);
    if (t->dedup_window)
        return;
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    struct chread_why ignored;
    struct look aside = {.c = l->c, .expect = l->expect, .why = &ignored, .statements = l->statements};
    buf_printf(&sql, "SELECT value FROM system.merge_tree_settings WHERE name = '%s'", window_name(replicated));
    bool got = ask(&aside, buf_str(&sql), 1, HTTP_ASKED_WORDS, &x, "reading system.merge_tree_settings") == 0 &&
               x.n == 1;
    t->dedup_window = xstrdup(got ? x.rows[0][0] : "");
    l->moved = l->moved || aside.moved;
    texts_free(&x);
    buf_free(&sql);
}

static void fill_texts(struct chread_table *t)
{
    char **const all[] = {&t->server_uuid,   &t->server_version, &t->server_host, &t->timezone,
                          &t->table_uuid,    &t->engine,         &t->engine_full, &t->create_table_query,
                          &t->partition_key, &t->sorting_key,    &t->dedup_window};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!*all[i])
            *all[i] = xstrdup("");
}

static int refuse(struct chread_why *why, const char *what, const char *found, const char *expected)
{
    chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_SERVER_OTHER), "the %s is %s, and the scope's is %s", what, found,
               expected);
    why->refused = true;
    return -1;
}

/* Another replica of the scope's table is said to be that, whatever else about it is another. */
static bool is_other_replica(const struct chread_expect *e, const struct chread_table *t)
{
    return e->replica_path && t->replica.shown && strcmp(t->replica.path, e->replica_path) == 0 &&
           strcmp(t->replica.name, e->replica_name) != 0;
}

/* One that is not shown at all is no other: what it lacks is not known, which is found where that is judged. */
static int hold_replica(const struct chread_expect *e, const struct chread_table *t, struct chread_why *why)
{
    const struct chread_replica *r = &t->replica;
    bool replicated = chread_replicated(t);
    if (!e->replica_path || (replicated && !r->shown) ||
        (r->shown && strcmp(r->path, e->replica_path) == 0 && strcmp(r->name, e->replica_name) == 0))
        return 0;
    struct buf found = BUF_INIT;
    buf_adds(&found, r->shown ? "" : "not replicated");
    if (r->shown)
        buf_printf(&found, "replica '%s' of %s", r->name, r->path);
    chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_REPLICA_OTHER, {"replica", e->replica_name}),
               "the table that answers is %s, and the scope's is replica '%s' of %s", buf_str(&found), e->replica_name,
               e->replica_path);
    why->refused = true;
    buf_free(&found);
    return -1;
}

/* A look over one connection. The server is held against the evidence before anything is said about the table. */
static int look_once(struct look *l, struct chread_table *t, bool hold)
{
    const struct chread_expect *e = l->expect;
    l->statements = 0;
    l->moved = false;
    if (read_server(l, t) != 0)
        return -1;
    bool other = hold && e->server_uuid && strcmp(t->server_uuid, e->server_uuid) != 0;
    if (other && !e->replica_path)
        return refuse(l->why, "server's UUID", t->server_uuid, e->server_uuid);
    bool found = read_table(l, t) == 0 && (!chread_replicated(t) || read_replica(l, t) == 0);
    if (found && hold && is_other_replica(e, t))
        return hold_replica(e, t, l->why);
    if (other)
        return refuse(l->why, "server's UUID", t->server_uuid, e->server_uuid);
    if (!found)
        return -1;
    if (hold && e->table_uuid && strcmp(t->table_uuid, e->table_uuid) != 0)
        return refuse(l->why, "table's UUID", t->table_uuid, e->table_uuid);
    if (hold && hold_replica(e, t, l->why) != 0)
        return -1;
    if (read_columns(l, t) != 0 || read_changes(l, t) != 0)
        return -1;
    read_window(l, t);
    return 0;
}

static int not_kept(struct chread_why *why)
{
    return chread_say(
        why, STATUS_UNAVAILABLE, BECAUSE(CODE_CONNECTION_NOT_KEPT),
        "the server, or a proxy before it, keeps no connection, so that it cannot be told whose answers they are");
}

int chread_look(struct chread *c, const struct chread_expect *expect, struct chread_table *t, struct chread_why *why)
{
    struct look l = {.c = c, .expect = expect, .why = why};
    for (int i = 0; i < LOOKS; i++) {
        *t = (struct chread_table)CHREAD_TABLE_INIT;
        int status = look_once(&l, t, true);
        if (status == 0 && l.moved) {
            chread_table_free(t);
            continue;
        }
        fill_texts(t);
        return status;
    }
    fill_texts(t);
    return not_kept(why);
}

int chread_look_again(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                      struct chread_why *why)
{
    struct look l = {.c = c, .expect = expect, .why = why};
    struct chread_table now = CHREAD_TABLE_INIT;
    struct buf differs = BUF_INIT;
    int status = look_once(&l, &now, false);
    fill_texts(&now);
    if (status == 0 && (l.moved || l.first_new))
        status = not_kept(why);
    else if (status == 0 && !chread_same(t, &now, &differs))
        status = chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_DEFINITION_CHANGED), "over a new connection: %s",
                            buf_str(&differs));
    buf_free(&differs);
    chread_table_free(&now);
    return status;
}

void chread_table_free(struct chread_table *t)
{
    char *const all[] = {t->server_uuid,   t->server_version, t->server_host, t->timezone,
                         t->table_uuid,    t->engine,         t->engine_full, t->create_table_query,
                         t->partition_key, t->sorting_key,    t->dedup_window};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (size_t i = 0; i < t->n_columns; i++) {
        free(t->columns[i].name);
        free(t->columns[i].type);
        free(t->columns[i].kind);
    }
    for (size_t i = 0; i < t->n_mutations; i++) {
        free(t->mutations[i].id);
        free(t->mutations[i].command);
    }
    free(t->columns);
    free(t->mutations);
    under_free(t);
    replica_free(&t->replica);
    *t = (struct chread_table)CHREAD_TABLE_INIT;
}
