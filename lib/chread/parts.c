/* SPDX-License-Identifier: Apache-2.0 */
/* The table's active parts: what a whole read is held against, by name and rows, before it and after. */
#include <stdlib.h>
#include <string.h>

#include "chread/session.h"

#define SHOWN 3 /* parts that a reason names */

int parts_take(const struct texts *x, struct chread_parts *parts, struct chread_why *why)
{
    parts->at = xcalloc(x->n + 1, sizeof *parts->at);
    for (size_t i = 0; i < x->n; i++) {
        struct chread_part *p = &parts->at[parts->n];
        if (!scan_u64(x->rows[i][1], strlen(x->rows[i][1]), &p->rows))
            return -chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                               "reading system.parts: '%s' is no number of rows", x->rows[i][1]);
        if (i > 0 && strcmp(parts->at[i - 1].name, x->rows[i][0]) >= 0)
            return -chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                               "reading system.parts: '%s' is not in the order that was asked for", x->rows[i][0]);
        p->name = xstrdup(x->rows[i][0]);
        parts->n++;
        parts->masked = parts->masked || strcmp(x->rows[i][2], "0") != 0;
        /* A patch changes rows that other parts hold. */
        if (strncmp(p->name, "patch-", 6) != 0 && __builtin_add_overflow(parts->rows, p->rows, &parts->rows))
            return -chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                               "reading system.parts: more rows than can be counted");
    }
    return 0;
}

/* Of a Merge the parts of all tables under it, each by its name and its table's. */
static void ask_parts(const struct chread_expect *expect, const struct chread_table *t, struct buf *sql)
{
    struct arena a = ARENA_INIT;
    struct engine e;
    engine_parse(t->engine, t->engine_full, &a, &e);
    bool merge = e.kind == ENGINE_MERGE;
    buf_printf(sql, "SELECT %s, toString(rows), toString(has_lightweight_delete) FROM system.parts",
               merge ? "concat(name, ' of ', table) AS part" : "name");
    if (merge) {
        under_where(sql, &e, expect, "table");
    } else {
        buf_adds(sql, " WHERE database = ");
        http_quote_string(sql, expect->database, strlen(expect->database));
        buf_adds(sql, " AND table = ");
        http_quote_string(sql, expect->table, strlen(expect->table));
    }
    buf_printf(sql, " AND active ORDER BY %s", merge ? "part" : "name");
    arena_free(&a);
}

int chread_parts_look(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                      struct chread_parts *parts, struct chread_why *why)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    *parts = (struct chread_parts)CHREAD_PARTS_INIT;
    ask_parts(expect, t, &sql);
    int status = session_ask(c, expect, t, buf_str(&sql), 3, HTTP_ASKED_LIST, &x, "reading system.parts", why);
    if (status > 0 && why->cause.code == CODE_NOT_GRANTED)
        why->cause = *BECAUSE(CODE_NOT_GRANTED, {"grant", "SELECT on system.parts"});
    if (status == 0)
        status = parts_take(&x, parts, why);
    texts_free(&x);
    buf_free(&sql);
    return status;
}

/* One count; deleted: with the rows that a lightweight DELETE hides from every user. */
static int count_once(struct chread *c, const struct chread_expect *expect, const struct chread_table *t, bool deleted,
                      uint64_t *rows, struct chread_why *why)
{
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    buf_adds(&sql, "SELECT toString(count())");
    session_from(&sql, expect);
    if (deleted)
        buf_adds(&sql, " SETTINGS apply_deleted_mask = 0");
    int status = session_ask(c, expect, t, buf_str(&sql), 1, HTTP_ASKED_WORDS, &x, "counting the rows", why);
    if (status == 0 && (x.n != 1 || !scan_u64(x.rows[0][0], strlen(x.rows[0][0]), rows)))
        status = -chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                             "counting the rows: the server gave no number");
    texts_free(&x);
    buf_free(&sql);
    return status;
}

int chread_count(struct chread *c, const struct chread_expect *expect, const struct chread_table *t,
                 const struct chread_parts *parts, uint64_t *rows, uint64_t *seen, struct chread_why *why)
{
    int status = count_once(c, expect, t, false, rows, why);
    *seen = *rows;
    return status == 0 && parts->masked ? count_once(c, expect, t, true, seen, why) : status;
}

/* Parts of a that b has not, or has with other rows. Both are sorted. */
static size_t only_in(const struct chread_parts *a, const struct chread_parts *b, const char *what, struct buf *out)
{
    size_t found = 0;
    for (size_t i = 0, k = 0; i < a->n; i++) {
        while (k < b->n && strcmp(b->at[k].name, a->at[i].name) < 0)
            k++;
        if (k < b->n && strcmp(b->at[k].name, a->at[i].name) == 0 && b->at[k].rows == a->at[i].rows)
            continue;
        if (found++ < SHOWN)
            buf_printf(out, "%s%s %s (%" PRIu64 " rows)", out->len > 0 ? ", " : "", what, a->at[i].name, a->at[i].rows);
    }
    if (found > SHOWN)
        buf_printf(out, ", and %zu more", found - SHOWN);
    return found;
}

bool chread_parts_same(const struct chread_parts *before, const struct chread_parts *after, struct buf *out)
{
    struct buf list = BUF_INIT;
    size_t gone = only_in(before, after, "gone", &list), come = only_in(after, before, "new", &list);
    if (gone + come > 0)
        buf_printf(out, "the table's parts changed while it was read: %s", buf_str(&list));
    buf_free(&list);
    return gone + come == 0;
}

void chread_parts_free(struct chread_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        free(parts->at[i].name);
    free(parts->at);
    *parts = (struct chread_parts)CHREAD_PARTS_INIT;
}
