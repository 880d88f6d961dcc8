/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of an engine and of a key says. */
#include "types/engine.h"

#include "types/types.h"

#include <ctype.h>
#include <string.h>

#define ARGUMENTS 8 /* more than any engine has that is read here */

static const char *const names[] = {
#define X(id, text) [ENGINE_##id] = text,
    ENGINE_TABLE(X)
#undef X
};

#define REPLICATED "Replicated"

static const char *const replicated_names[] = {
#define X(id, text) [ENGINE_##id] = REPLICATED text,
    ENGINE_TABLE(X)
#undef X
};

const char *engine_name(const struct engine *e)
{
    return (e->replicated ? replicated_names : names)[e->kind];
}

void engine_named(const char *name, struct engine *out)
{
    *out = (struct engine){.kind = ENGINE_PLAIN};
    while (out->kind < ENGINE_OTHER && strcmp(names[out->kind], name) != 0 &&
           strcmp(replicated_names[out->kind], name) != 0)
        out->kind++;
    out->replicated = out->kind < ENGINE_OTHER && strcmp(names[out->kind], name) != 0;
    if (out->replicated && out->kind != ENGINE_PLAIN && !engine_merges(out))
        *out = (struct engine){.kind = ENGINE_OTHER};
}

bool engine_merges(const struct engine *e)
{
    return e->kind == ENGINE_REPLACING || e->kind == ENGINE_COLLAPSING || e->kind == ENGINE_VERSIONED;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool engine_shows_rows(const struct engine *e)
{
    return e->kind == ENGINE_PLAIN || e->kind == ENGINE_VIEW || e->kind == ENGINE_MERGE || engine_merges(e);
}

bool engine_same(const struct engine *a, const struct engine *b)
{
    return a->kind == b->kind && a->replicated == b->replicated && same_text(a->version, b->version) &&
           same_text(a->deleted, b->deleted) && same_text(a->sign, b->sign);
}

void engine_say(const struct engine *e, struct buf *out)
{
    const char *const columns[] = {e->sign, e->version, e->deleted};
    const char *sep = "(";
    buf_adds(out, engine_name(e));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i]) {
            buf_printf(out, "%s%s", sep, columns[i]);
            sep = ", ";
        }
    buf_adds(out, *sep == ',' ? ")" : "");
}

/* ---- names in a text ---- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80) != 0;
}

/* The identifier at *p, unquoted, and *p behind it; NULL where none stands there. */
static const char *take_name(const char **p, struct arena *a)
{
    const char *s = *p;
    size_t n = 0;
    if (*s != '`') {
        while (in_name(s[n]))
            n++;
        if (n == 0 || isdigit((unsigned char)*s))
            return NULL;
        *p = s + n;
        return arena_strndup(a, s, n);
    }
    size_t most = 1;
    while (s[most] != '\0' && s[most] != '`')
        most += s[most] == '\\' && s[most + 1] != '\0' ? 2 : 1;
    char *name = arena_alloc(a, most); /* of this name, and not of all that follows it */
    for (s++; *s != '\0' && *s != '`'; s++) {
        s += *s == '\\' && s[1] != '\0';
        name[n++] = *s;
    }
    name[n] = '\0';
    bool closed = *s == '`';
    *p = s + closed;
    return closed && n > 0 ? name : NULL;
}

/* Past the text in quotes that begins at p. */
static const char *past_text(const char *p)
{
    for (p++; *p != '\0' && *p != '\''; p++)
        p += *p == '\\' && p[1] != '\0';
    return *p == '\'' ? p + 1 : NULL;
}

static void skip_spaces(const char **p)
{
    *p += strspn(*p, " \n");
}

/* ---- engines ---- */

/* Past the path and the name of a replica, which stand before the columns, as they are or not at all. NULL where only
 * one of them does. */
static const char *past_replica(const char *p)
{
    int n = 0;
    for (skip_spaces(&p); p && *p == '\''; n++) {
        p = past_text(p);
        if (p)
            skip_spaces(&p);
        if (p && *p == ',')
            p++;
        else if (p && *p != ')')
            p = NULL;
        if (p)
            skip_spaces(&p);
    }
    return n == 0 || n == 2 ? p : NULL;
}

/* The columns between the brackets behind an engine's name, fewer than the room. -1
 * where something else stands there. */
static int arguments(const char *p, bool replicated, struct arena *a, const char *to[ARGUMENTS])
{
    int n = 0;
    if (*p != '(')
        return *p == '\0' || *p == ' ' ? 0 : -1;
    p++;
    if (replicated && !(p = past_replica(p)))
        return -1;
    for (skip_spaces(&p); *p != ')'; skip_spaces(&p)) {
        to[n] = take_name(&p, a);
        if (!to[n] || ++n == ARGUMENTS)
            return -1;
        skip_spaces(&p);
        if (*p == ',')
            p++;
        else if (*p != ')')
            return -1;
    }
    return n;
}

/* The text in quotes at *p, and *p behind it; NULL where none stands there. */
static const char *take_text(const char **p, struct arena *a)
{
    static const char from[] = "btnfr0", to[] = "\b\t\n\f\r";
    const char *s = *p, *end = *s == '\'' ? past_text(s) : NULL;
    size_t n = 0;
    if (!end)
        return NULL;
    char *text = arena_alloc(a, (size_t)(end - s));
    for (s++; s < end - 1; s++) {
        const char *letter = *s == '\\' ? strchr(from, *++s) : NULL;
        text[n++] = letter && *letter != '\0' ? to[letter - from] : *s;
    }
    text[n] = '\0';
    *p = end;
    return text;
}

/* Merge('database', 'expression'). */
static bool take_merge(const char *full, struct arena *a, struct engine *out)
{
    const char *p = full;
    if (strncmp(p, "Merge(", 6) != 0)
        return false;
    p += 6;
    out->database = take_text(&p, a);
    if (!out->database || *p != ',')
        return false;
    p++;
    skip_spaces(&p);
    out->tables = take_text(&p, a);
    return out->tables && strcmp(p, ")") == 0;
}

void engine_parse(const char *name, const char *full, struct arena *a, struct engine *out)
{
    const char *at[ARGUMENTS] = {NULL};
    size_t len = strlen(name);
    engine_named(name, out);
    int n = out->kind < ENGINE_OTHER && strncmp(full, name, len) == 0 ? arguments(full + len, out->replicated, a, at)
                                                                      : -1;
    bool fits = n >= 0;
    switch (out->kind) {
    case ENGINE_PLAIN: fits = n == 0; break;
    case ENGINE_MERGE: fits = take_merge(full, a, out); break;
    case ENGINE_VIEW: fits = n == 0 || *full == '\0'; break; /* the server prints no arguments of it */
    case ENGINE_REPLACING:
        fits = fits && n <= 2;
        out->version = at[0];
        out->deleted = at[1];
        break;
    case ENGINE_COLLAPSING:
        fits = n == 1;
        out->sign = at[0];
        break;
    case ENGINE_VERSIONED:
        fits = n == 2;
        out->sign = at[0];
        out->version = at[1];
        break;
    case ENGINE_OTHER:
    case ENGINE_KINDS: break;
    }
    if (!fits)
        *out = (struct engine){.kind = ENGINE_OTHER};
}

static bool lacks(const struct columns *c, const char *name, const char *what, bool (*fits)(const struct type *),
                  struct buf *why)
{
    size_t at;
    if (!name)
        return false;
    if (!columns_find(c, name, strlen(name), &at))
        buf_printf(why, "column '%s', the engine's %s, is not compared: the rules must give it", name, what);
    else if (c->at[at].type.nullable || !fits(&c->at[at].type))
        buf_printf(why, "column '%s', the engine's %s, is %s", name, what, c->at[at].type.name);
    else
        return false;
    return true;
}

static bool is_ordered(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_UINT || t->kind == TYPE_DATE || t->kind == TYPE_DATE32 ||
           t->kind == TYPE_DATETIME || t->kind == TYPE_DATETIME64;
}

static bool is_byte(const struct type *t)
{
    return (t->kind == TYPE_INT || t->kind == TYPE_UINT) && t->bits == 8;
}

bool engine_lacks(const struct engine *e, const struct columns *c, struct buf *why)
{
    return lacks(c, e->version, "version", is_ordered, why) || lacks(c, e->deleted, "mark of a delete", is_byte, why) ||
           lacks(c, e->sign, "sign", is_byte, why);
}

/* ---- keys ---- */

/* The text without brackets around all of it. */
static const char *bare(const char *text, struct arena *a)
{
    size_t n = strlen(text);
    return n > 1 && *text == '(' && text[n - 1] == ')' ? arena_strndup(a, text + 1, n - 2) : text;
}

bool engine_sorts_by(const struct engine *e, const char *sorting_key, const struct columns *c)
{
    struct arena a = ARENA_INIT;
    const char *p = bare(sorting_key, &a);
    size_t keys = 0, found = 0, at;
    bool fits = true;
    for (size_t i = 0; i < c->n; i++)
        keys += c->at[i].key;
    bool *seen = arena_zalloc(&a, (c->n + 1) * sizeof *seen);
    for (skip_spaces(&p); fits && *p != '\0'; skip_spaces(&p)) {
        const char *name = take_name(&p, &a);
        bool known = name && columns_find(c, name, strlen(name), &at);
        bool appended = e->kind == ENGINE_VERSIONED && name && same_text(name, e->version);
        fits = (known && c->at[at].key && !seen[at]) || appended;
        if (fits && known && c->at[at].key) {
            seen[at] = true;
            found++;
        }
        skip_spaces(&p);
        if (*p == ',')
            p++;
        else
            fits = fits && *p == '\0';
    }
    arena_free(&a);
    return fits && found == keys;
}

bool engine_within_key(const char *expression, const struct columns *c)
{
    struct arena a = ARENA_INIT;
    bool within = true;
    const char *p = expression;
    while (within && p && *p != '\0') {
        size_t at;
        if (*p == '\'') {
            p = past_text(p);
        } else if (*p == '`' || (in_name(*p) && !isdigit((unsigned char)*p))) {
            const char *name = take_name(&p, &a);
            if (!name)
                within = false;
            else if (*p != '(') /* a function's name is none of a column */
                within = columns_find(c, name, strlen(name), &at) && c->at[at].key;
        } else if (isdigit((unsigned char)*p)) {
            while (in_name(*p) || *p == '.')
                p++;
        } else {
            p++;
        }
    }
    within = within && p;
    arena_free(&a);
    return within;
}
