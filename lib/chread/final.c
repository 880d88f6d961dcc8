/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a read with FINAL does not tell: keys of which it shows one row of
 * several that are as good, and rows that take back what is not there.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/keys.h"
#include "chread/session.h"
#include "chread/statement.h"

struct asking {
    const struct chread_expect *expect;
    const struct chread_table *t;
    const struct columns *cols;
    struct columns keys; /* of cols, which own what stands in them */
    struct map names;    /* of the table's columns */
};

static void put_name(struct buf *sql, const char *name)
{
    http_quote_ident(sql, name, strlen(name));
}

/* The key's columns; cast: as they are to be decoded. */
static void put_keys(const struct asking *a, bool cast, struct buf *sql)
{
    for (size_t i = 0; i < a->keys.n; i++) {
        buf_adds(sql, i > 0 ? ", " : "");
        if (cast)
            statement_column(sql, a->t, &a->names, &a->keys.at[i]);
        else
            put_name(sql, a->keys.at[i].name);
    }
}

/* The version, where it is not among the key's columns already. */
static void put_version(const struct asking *a, const char *version, struct buf *sql)
{
    size_t at;
    if (columns_find(a->cols, version, strlen(version), &at) && a->cols->at[at].key)
        return;
    buf_adds(sql, ", ");
    put_name(sql, version);
}

/* A name that no column has. */
static void put_free_name(const struct asking *a, struct buf *name)
{
    buf_adds(name, "owed_rows");
    while (map_find(&a->names, name->p, name->len))
        buf_addc(name, '_');
    buf_str(name);
}

/* Keys whose highest version stands in rows that differ. */
static void ask_ties(const struct asking *a, const char *version, struct statement *s)
{
    struct buf n = BUF_INIT;
    put_free_name(a, &n);
    buf_adds(&s->head, "SELECT ");
    put_keys(a, true, &s->head);
    buf_adds(&s->head, " FROM (SELECT ");
    put_keys(a, false, &s->head);
    put_version(a, version, &s->head);
    buf_adds(&s->head, ", uniqExact(tuple(");
    for (size_t i = 0; i < a->cols->n; i++) {
        buf_adds(&s->head, i > 0 ? ", " : "");
        put_name(&s->head, a->cols->at[i].name);
    }
    buf_printf(&s->head, ")) AS %s", n.p);
    session_from(&s->head, a->expect);
    buf_adds(&s->tail, " GROUP BY ");
    put_keys(a, false, &s->tail);
    put_version(a, version, &s->tail);
    buf_adds(&s->tail, ") GROUP BY ");
    put_keys(a, false, &s->tail);
    buf_printf(&s->tail, " HAVING argMax(%s, ", n.p);
    put_name(&s->tail, version);
    buf_adds(&s->tail, ") > 1");
    buf_free(&n);
}

/* Keys, or of each its versions, of which more rows take back than stand. */
static void ask_unpaired(const struct asking *a, const struct engine *e, struct statement *s)
{
    buf_adds(&s->head, "SELECT ");
    put_keys(a, true, &s->head);
    session_from(&s->head, a->expect);
    buf_adds(&s->tail, " GROUP BY ");
    put_keys(a, false, &s->tail);
    if (e->version)
        put_version(a, e->version, &s->tail);
    buf_adds(&s->tail, " HAVING sum(");
    put_name(&s->tail, e->sign);
    buf_adds(&s->tail, ") < 0");
}

static int drop_row(void *ctx, const char *cells, size_t n)
{
    (void)ctx;
    (void)cells;
    (void)n;
    return 0;
}

int chread_undetermined(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                        const struct columns *cols, const struct chread_keys *keys, const struct chread_plan *plan,
                        chread_row_fn *fn, void *ctx, uint64_t *unpaired, struct chread_why *why)
{
    const struct engine *e = expect->final;
    struct asking a = {.expect = expect, .t = t, .cols = cols};
    struct statement s = STATEMENT_INIT;
    uint64_t rows;
    int status = 0;
    *unpaired = 0;
    a.keys.at = xcalloc(cols->n + 1, sizeof *a.keys.at);
    for (size_t i = 0; i < cols->n; i++)
        if (cols->at[i].key)
            a.keys.at[a.keys.n++] = cols->at[i];
    const struct chread_keys own = keys_narrow(keys, &a.keys);
    chread_names(t, &a.names);
    s.cols = &a.keys;
    if (e->kind == ENGINE_REPLACING && e->version) {
        s.what = "asking which keys have several rows of the highest version";
        ask_ties(&a, e->version, &s);
        status = statement_read(c, expect, t, &s, &own, plan, fn, ctx, &rows, why);
    } else if (e->sign) {
        s.what = "asking which keys have rows that take back what is not there";
        ask_unpaired(&a, e, &s);
        status = statement_read(c, expect, t, &s, &own, plan, drop_row, NULL, unpaired, why);
    }
    statement_free(&s);
    map_free(&a.names);
    free(own.columns);
    free(a.keys.at);
    return status;
}
