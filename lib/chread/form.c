/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table's form: which tables can be reconciled, whether the columns are
 * still those of the evidence, and what changed between two looks.
 */
#include <ctype.h>
#include <string.h>

#include "chread/chread.h"

/* ---- a definition's words ---- */

enum mark { MARK_END, MARK_WORD, MARK_OPERAND, MARK_CLOSE, MARK_OTHER };

struct scan {
    const char *p;
    const char *word; /* MARK_WORD: where it begins */
    size_t len;
};

static void skip_quoted(struct scan *s)
{
    char quote = *s->p++;
    while (*s->p != '\0')
        if (*s->p == '\\' && s->p[1] != '\0')
            s->p += 2;
        else if (*s->p == quote && s->p[1] == quote)
            s->p += 2;
        else if (*s->p++ == quote)
            return;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80) != 0;
}

static enum mark next_mark(struct scan *s)
{
    while (isspace((unsigned char)*s->p))
        s->p++;
    if (*s->p == '\0')
        return MARK_END;
    if (*s->p == '\'' || *s->p == '"' || *s->p == '`') {
        skip_quoted(s);
        return MARK_OPERAND;
    }
    if (in_word(*s->p)) {
        s->word = s->p;
        while (in_word(*s->p))
            s->p++;
        s->len = (size_t)(s->p - s->word);
        return isdigit((unsigned char)*s->word) ? MARK_OPERAND : MARK_WORD;
    }
    return *s->p++ == ')' || s->p[-1] == ']' ? MARK_CLOSE : MARK_OTHER;
}

static bool is_word(const struct scan *s, const char *w)
{
    return s->len == strlen(w) && memcmp(s->word, w, s->len) == 0;
}

/* After these an operand comes, so that TTL there is a column's name. The server prints keywords in capitals. */
static bool before_operand(const struct scan *s)
{
    static const char *const words[] = {"BY",       "DEFAULT", "MATERIALIZED", "ALIAS", "EPHEMERAL", "AND",
                                        "OR",       "NOT",     "IN",           "LIKE",  "ILIKE",     "BETWEEN",
                                        "THEN",     "ELSE",    "WHEN",         "CASE",  "CHECK",     "ASSUME",
                                        "INTERVAL", "WHERE",   "SELECT",       "AS"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(s, words[i]))
            return true;
    return false;
}

bool chread_has_ttl(const char *definition)
{
    struct scan s = {definition, NULL, 0};
    bool keyword = false; /* may a clause's keyword stand here */
    for (enum mark m; (m = next_mark(&s)) != MARK_END;) {
        if (m == MARK_WORD && keyword && is_word(&s, "TTL"))
            return true;
        keyword = m == MARK_OPERAND || m == MARK_CLOSE || (m == MARK_WORD && !before_operand(&s));
    }
    return false;
}

/* ---- the form ---- */

void chread_names(const struct chread_table *t, struct map *names)
{
    for (size_t i = 0; i < t->n_columns; i++)
        map_add(names, t->columns[i].name, strlen(t->columns[i].name), i);
}

static int form_of_column(const struct chread_table *t, const struct map *names, const struct column *c,
                          struct chread_why *why)
{
    const uint64_t *place = map_find(names, c->name, c->name_len);
    const struct chread_column *found = place ? &t->columns[*place] : NULL;
    struct type type;
    if (!type_supported(&c->type))
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_COLUMN_TYPE_UNSUPPORTED, {"column", c->name}),
                          "column '%s' is %s, a type without cells", c->name, c->type.name);
    if (!found)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_COLUMN_MISSING, {"column", c->name}),
                          "column '%s' is not in the table any more", c->name);
    bool same = type_parse(found->type, strlen(found->type), &type, NULL) == 0 && type_same(&type, &c->type);
    type_free(&type);
    if (!same)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_COLUMN_TYPE_CHANGED, {"column", c->name}),
                          "column '%s' was %s and is %s", c->name, c->type.name, found->type);
    if (*found->kind != '\0' && strcmp(found->kind, "DEFAULT") != 0)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_COLUMN_TYPE_CHANGED, {"column", c->name}),
                          "column '%s' is computed by the table now (%s)", c->name, found->kind);
    return 0;
}

static bool no_uuid(const char *uuid)
{
    return uuid[strspn(uuid, "0-")] == '\0';
}

int chread_form(const struct chread_table *t, const struct columns *cols, struct chread_why *why)
{
    if (no_uuid(t->server_uuid))
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_SERVER_UNSUPPORTED),
                          "the server has no UUID, so that it cannot be told from another");
    if (strcmp(t->engine, "MergeTree") != 0)
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
                          "the table's engine is %s, and only a plain MergeTree can be judged",
                          *t->engine != '\0' ? t->engine : "unknown");
    if (no_uuid(t->table_uuid))
        return chread_say(
            why, STATUS_UNSUPPORTED, BECAUSE(CODE_ENGINE_UNSUPPORTED),
            "the table has no UUID (its database is not Atomic), so that it cannot be told from a recreated one");
    if (chread_has_ttl(t->create_table_query) || chread_has_ttl(t->engine_full))
        return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_TABLE_EXPIRES),
                          "the table's definition has a TTL, by which rows or values vanish");
    struct map names = MAP_INIT;
    int status = 0;
    chread_names(t, &names);
    for (size_t i = 0; i < cols->n && status == 0; i++)
        status = form_of_column(t, &names, &cols->at[i], why);
    map_free(&names);
    return status;
}

/* ---- two looks ---- */

static void differs(struct buf *out, const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    buf_printf(out, "%sthe %s changed from '%s' to '%s'", out->len > 0 ? "; " : "", what, a, b);
}

bool chread_same(const struct chread_table *a, const struct chread_table *b, struct buf *out)
{
    size_t had = out->len;
    struct buf x = BUF_INIT;
    differs(&x, "server's UUID", a->server_uuid, b->server_uuid);
    differs(&x, "server's version", a->server_version, b->server_version);
    differs(&x, "table's UUID", a->table_uuid, b->table_uuid);
    differs(&x, "engine", a->engine, b->engine);
    bool same = a->n_columns == b->n_columns && strcmp(a->create_table_query, b->create_table_query) == 0 &&
                strcmp(a->engine_full, b->engine_full) == 0;
    for (size_t i = 0; same && i < a->n_columns; i++)
        same = strcmp(a->columns[i].name, b->columns[i].name) == 0 &&
               strcmp(a->columns[i].type, b->columns[i].type) == 0 &&
               strcmp(a->columns[i].kind, b->columns[i].kind) == 0;
    if (!same && x.len == 0)
        buf_adds(&x, "the table's definition changed");
    buf_add(out, x.p, x.len);
    buf_free(&x);
    return out->len == had;
}
