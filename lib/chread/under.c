/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables under a Merge: which they are by the Merge's own expression, and
 * each one's definition, columns and mutations.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/session.h"

#define MOST 1000 /* tables under a Merge that is read */
#define NAMED 3   /* that a reason names */

static const struct {
    const char *select, *name, *tail;
    size_t columns;
} asks[] = {
    [UNDER_TABLES] =
        {"SELECT name, toString(uuid), engine, engine_full, create_table_query, partition_key, sorting_key FROM system.tables",
         "name", " ORDER BY name LIMIT 1001", 7},
    [UNDER_COLUMNS] = {"SELECT table, name, type, toString(default_kind) FROM system.columns", "table",
                       " ORDER BY table, position", 4},
    [UNDER_MUTATIONS] =
        {"SELECT concat(table, '/', mutation_id), command, toString(toUnixTimestamp(create_time)), toString(is_done) FROM system.mutations",
         "table", " ORDER BY table, create_time, mutation_id", 4},
};

void under_where(struct buf *sql, const struct engine *merge, const struct chread_expect *e, const char *name)
{
    buf_adds(sql, " WHERE database = ");
    http_quote_string(sql, merge->database, strlen(merge->database));
    buf_printf(sql, " AND match(%s, ", name);
    http_quote_string(sql, merge->tables, strlen(merge->tables));
    buf_adds(sql, ") AND NOT (database = "); /* a Merge is not under itself */
    http_quote_string(sql, e->database, strlen(e->database));
    buf_printf(sql, " AND %s = ", name);
    http_quote_string(sql, e->table, strlen(e->table));
    buf_addc(sql, ')');
}

size_t under_ask(struct buf *sql, enum under_what what, const struct engine *merge, const struct chread_expect *e)
{
    buf_adds(sql, asks[what].select);
    under_where(sql, merge, e, asks[what].name);
    buf_adds(sql, asks[what].tail);
    return asks[what].columns;
}

/* ---- what was answered ---- */

static int take_tables(const struct texts *x, struct chread_table *t, struct chread_why *why)
{
    if (x->n > MOST)
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
                          "the table is a Merge of more than %d tables, and is not read", MOST);
    t->under = xcalloc(x->n + 1, sizeof *t->under);
    for (size_t i = 0; i < x->n; i++) {
        struct chread_under *u = &t->under[t->n_under++];
        char **const to[] = {&u->name,
                             &u->look.table_uuid,
                             &u->look.engine,
                             &u->look.engine_full,
                             &u->look.create_table_query,
                             &u->look.partition_key,
                             &u->look.sorting_key};
        for (size_t k = 0; k < sizeof to / sizeof *to; k++)
            *to[k] = xstrdup(x->rows[i][k]);
        if (i > 0 && strcmp(t->under[i - 1].name, u->name) >= 0)
            return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                              "reading system.tables: '%s' is not in the order that was asked for", u->name);
    }
    return 0;
}

static void add_column(struct chread_table *t, char **row)
{
    size_t n = t->n_columns;
    if ((n & (n - 1)) == 0) /* full: the room is a power of two */
        t->columns = xrealloc(t->columns, (n == 0 ? 1 : 2 * n) * sizeof *t->columns);
    t->columns[t->n_columns++] = (struct chread_column){xstrdup(row[1]), xstrdup(row[2]), xstrdup(row[3])};
}

/* Both are sorted by the tables' names; a table that came between the two answers is found by the next look. */
static int take_columns(const struct texts *x, struct chread_table *t)
{
    size_t at = 0;
    for (size_t i = 0; i < x->n; i++) {
        while (at < t->n_under && strcmp(t->under[at].name, x->rows[i][0]) < 0)
            at++;
        if (at < t->n_under && strcmp(t->under[at].name, x->rows[i][0]) == 0)
            add_column(&t->under[at].look, x->rows[i]);
    }
    return 0;
}

int under_take(enum under_what what, const struct texts *x, struct chread_table *t, struct chread_why *why)
{
    switch (what) {
    case UNDER_TABLES: return take_tables(x, t, why);
    case UNDER_COLUMNS: return take_columns(x, t);
    case UNDER_MUTATIONS: break;
    }
    return table_take_mutations(x, t, why);
}

void under_free(struct chread_table *t)
{
    for (size_t i = 0; i < t->n_under; i++) {
        free(t->under[i].name);
        chread_table_free(&t->under[i].look);
    }
    free(t->under);
    t->under = NULL;
    t->n_under = 0;
}

/* ---- two looks ---- */

/* Tables of a that b has not. */
static size_t only_in(const struct chread_table *a, const struct chread_table *b, const char *what, struct buf *out)
{
    size_t found = 0;
    for (size_t i = 0, k = 0; i < a->n_under; i++) {
        while (k < b->n_under && strcmp(b->under[k].name, a->under[i].name) < 0)
            k++;
        if (k < b->n_under && strcmp(b->under[k].name, a->under[i].name) == 0)
            continue;
        if (found++ < NAMED)
            buf_printf(out, "%stable '%s' %s", out->len > 0 ? "; " : "", a->under[i].name, what);
    }
    if (found > NAMED)
        buf_printf(out, ", and %zu more", found - NAMED);
    return found;
}

void under_same(const struct chread_table *a, const struct chread_table *b, struct buf *out)
{
    if (only_in(a, b, "is gone from under the Merge", out) + only_in(b, a, "came under the Merge", out) > 0)
        return;
    for (size_t i = 0; i < a->n_under; i++) {
        const struct chread_table *x = &a->under[i].look, *y = &b->under[i].look;
        struct buf how = BUF_INIT;
        if (strcmp(x->table_uuid, y->table_uuid) != 0)
            buf_printf(&how, "the UUID changed from '%s' to '%s'", x->table_uuid, y->table_uuid);
        else if (strcmp(x->engine, y->engine) != 0 || !table_same_definition(x, y))
            buf_adds(&how, "the definition changed");
        if (how.len > 0)
            buf_printf(out, "%stable '%s' under the Merge: %s", out->len > 0 ? "; " : "", a->under[i].name,
                       buf_str(&how));
        buf_free(&how);
    }
}

/* ---- what is not seen ---- */

int chread_under_whole(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                       struct chread_why *why)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    uint64_t rows = 0;
    if (t->n_under == 0)
        return 0;
    buf_adds(&sql, "SELECT toString(count())");
    session_from(&sql, expect);
    buf_adds(&sql, " WHERE _table NOT IN (");
    for (size_t i = 0; i < t->n_under; i++) {
        buf_adds(&sql, i > 0 ? ", " : "");
        http_quote_string(&sql, t->under[i].name, strlen(t->under[i].name));
    }
    buf_addc(&sql, ')');
    int status = session_ask(c, expect, t, buf_str(&sql), 1, HTTP_ASKED_WORDS, &x,
                             "counting the Merge's rows of other tables", why);
    if (status == 0 && (x.n != 1 || !scan_u64(x.rows[0][0], strlen(x.rows[0][0]), &rows)))
        status = chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                            "counting the Merge's rows of other tables: the server gave no number");
    else if (status == 0 && rows > 0)
        status = chread_say(
            why, STATUS_UNAVAILABLE,
            BECAUSE(CODE_NOT_GRANTED, {"grant", "SHOW TABLES and SELECT on every table under the Merge"}),
            "the Merge shows %" PRIu64 " rows of tables that this user does not see in system.tables", rows);
    texts_free(&x);
    buf_free(&sql);
    return status == 0 ? 0 : -1;
}
