/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a table's definition. */
#include "types/definition.h"

#include "types/internal.h"

#include <ctype.h>
#include <string.h>

enum mark { MARK_END, MARK_WORD, MARK_OPERAND, MARK_CLOSE, MARK_OTHER };

struct scan {
    const char *p;
    const char *at; /* the mark that was read: where it begins */
    size_t len;
    unsigned depth; /* brackets that are open behind it */
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

static enum mark mark_at(struct scan *s)
{
    if (*s->p == '\0')
        return MARK_END;
    if (*s->p == '\'' || *s->p == '"' || *s->p == '`') {
        skip_quoted(s);
        return MARK_OPERAND;
    }
    if (in_word(*s->p)) {
        while (in_word(*s->p))
            s->p++;
        return isdigit((unsigned char)*s->at) ? MARK_OPERAND : MARK_WORD;
    }
    char c = *s->p++;
    bool closes = c == ')' || c == ']';
    s->depth += c == '(' || c == '[';
    s->depth -= closes && s->depth > 0;
    return closes ? MARK_CLOSE : MARK_OTHER;
}

static enum mark next_mark(struct scan *s)
{
    while (isspace((unsigned char)*s->p))
        s->p++;
    s->at = s->p;
    enum mark m = mark_at(s);
    s->len = (size_t)(s->p - s->at);
    return m;
}

static bool is_word(const struct scan *s, const char *w)
{
    return s->len == strlen(w) && memcmp(s->at, w, s->len) == 0;
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

/* Whether a clause's keyword may stand behind the mark. */
static bool ends_operand(const struct scan *s, enum mark m)
{
    return m == MARK_OPERAND || m == MARK_CLOSE || (m == MARK_WORD && !before_operand(s));
}

/* True where a TTL clause was found, and *s is behind its keyword. */
static bool find_ttl(struct scan *s)
{
    bool keyword = false;
    for (enum mark m; (m = next_mark(s)) != MARK_END; keyword = ends_operand(s, m))
        if (m == MARK_WORD && keyword && is_word(s, "TTL"))
            return true;
    return false;
}

bool definition_has_ttl(const char *definition)
{
    struct scan s = {.p = definition};
    return find_ttl(&s);
}

bool definition_has_engine(const char *create, const char *engine_full)
{
    static const char comment[] = " COMMENT ";
    struct scan s = {.p = create};
    bool engine = false;
    for (enum mark m; (m = next_mark(&s)) != MARK_END; engine = m == MARK_WORD && s.depth == 0 && is_word(&s, "ENGINE"))
        if (engine && s.len == 1 && *s.at == '=') {
            const char *from = s.p + strspn(s.p, " ");
            size_t n = strlen(engine_full);
            return strncmp(from, engine_full, n) == 0 &&
                   (from[n] == '\0' || strncmp(from + n, comment, sizeof comment - 1) == 0);
        }
    return false;
}

/* ---- what it deletes ---- */

#define TERM 8 /* marks of `column + toIntervalDay ( - 30 )`: more are another expression */

/* An element's marks up to its keyword. */
struct element {
    struct scan at[TERM];
    enum mark mark[TERM];
    size_t n;
};

static bool is_char(const struct scan *s, char c)
{
    return s->len == 1 && *s->at == c;
}

/* Up to what ends the expression: a word that no operator is, a comma, or the definition's end. */
static enum mark take_expression(struct scan *s, struct element *e)
{
    static const char *const operators[] = {"AND", "OR", "NOT", "IN", "LIKE", "ILIKE", "BETWEEN", "IS", "AS"};
    bool keyword = false;
    for (enum mark m; (m = next_mark(s)) != MARK_END; keyword = ends_operand(s, m)) {
        bool connects = m != MARK_WORD || !keyword;
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
            connects = connects || is_word(s, operators[i]);
        if (s->depth == 0 && (!connects || (m == MARK_OTHER && is_char(s, ','))))
            return m;
        if (e->n < TERM) {
            e->at[e->n] = *s;
            e->mark[e->n] = m;
        }
        e->n++;
    }
    return MARK_END;
}

/* What stands behind an element that moves rows or compresses them, as above. */
static enum mark skip_action(struct scan *s)
{
    enum mark m;
    while ((m = next_mark(s)) != MARK_END)
        if (s->depth == 0 && (is_char(s, ',') || (m == MARK_WORD && (is_word(s, "SETTINGS") || is_word(s, "COMMENT")))))
            break;
    return m;
}

static const char *name_of(const struct scan *at, enum mark m, struct arena *a)
{
    struct buf name = BUF_INIT;
    if (m == MARK_WORD)
        return arena_strndup(a, at->at, at->len);
    if (m != MARK_OPERAND || (*at->at != '`' && *at->at != '"') || !form_quoted(at->at, at->p, NULL))
        return NULL;
    form_quoted(at->at, at->p, &name);
    const char *kept = memchr(buf_str(&name), '\0', name.len) ? NULL : arena_strndup(a, name.p, name.len);
    buf_free(&name);
    return kept;
}

static bool is_interval(const struct scan *at)
{
    static const char *const units[] = {"Second", "Minute", "Hour", "Day", "Week", "Month", "Quarter", "Year"};
    static const char before[] = "toInterval";
    size_t n = sizeof before - 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (at->len == n + strlen(units[i]) && memcmp(at->at, before, n) == 0 &&
            memcmp(at->at + n, units[i], at->len - n) == 0)
            return true;
    return false;
}

/* `toIntervalDay(30)`, of the marks from the third on; NULL for anything else. */
static const char *interval_of(const struct element *e, struct arena *a)
{
    bool minus = e->n == 7 && is_char(&e->at[4], '-');
    const struct scan *number = &e->at[minus ? 5 : 4], *last = &e->at[e->n - 1];
    uint64_t n;
    if (e->n != 6 + (size_t)minus || !is_char(&e->at[1], '+') || !is_interval(&e->at[2]) || !is_char(&e->at[3], '(') ||
        !scan_u64(number->at, number->len, &n) || n > INT64_MAX || !is_char(last, ')'))
        return NULL;
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s(%s%" PRIu64 ")", (int)e->at[2].len, e->at[2].at, minus ? "-" : "", n);
    const char *kept = arena_strndup(a, text.p, text.len);
    buf_free(&text);
    return kept;
}

static void other(struct ttl *t, const char *why)
{
    *t = (struct ttl){.kind = TTL_OTHER, .why = why};
}

/* Rows are deleted once this one's time has passed. */
static void deletes(const struct element *e, struct arena *a, struct ttl *t)
{
    const char *column = e->n > 0 ? name_of(&e->at[0], e->mark[0], a) : NULL,
               *interval = e->n > 1 && e->n <= TERM ? interval_of(e, a) : NULL;
    if (t->kind == TTL_DELETES)
        other(t, "rows go by two TTLs");
    else if (!column || (e->n > 1 && !interval))
        other(t, "its TTL is none of a column plus a constant");
    else
        *t = (struct ttl){.kind = TTL_DELETES, .column = column, .interval = interval};
}

/* The clause behind the keyword, one element after the other. */
static void clause(struct scan *s, struct arena *a, struct ttl *t)
{
    t->kind = TTL_KEEPS;
    for (bool more = true; more && t->kind != TTL_OTHER;) {
        struct element e = {.n = 0};
        enum mark m = take_expression(s, &e);
        bool word = m == MARK_WORD;
        if (word && is_word(s, "WHERE")) {
            other(t, "its TTL has a WHERE");
        } else if (word && is_word(s, "GROUP")) {
            other(t, "its TTL has a GROUP BY");
        } else if (word && (is_word(s, "TO") || is_word(s, "RECOMPRESS"))) {
            m = skip_action(s);
        } else if (m != MARK_WORD || is_word(s, "SETTINGS") || is_word(s, "COMMENT")) {
            deletes(&e, a, t);
        } else {
            other(t, "its TTL is of a form that is not known here");
        }
        more = m == MARK_OTHER;
    }
}

void definition_ttl(const char *definition, struct arena *a, struct ttl *out)
{
    struct scan s = {.p = definition};
    *out = (struct ttl){.kind = TTL_NONE};
    if (!find_ttl(&s))
        return;
    if (s.depth > 0)
        other(out, "a column has a TTL, by which its values vanish");
    else
        clause(&s, a, out);
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void definition_ttl_of_both(const char *create, const char *engine_full, struct arena *a, struct ttl *out)
{
    struct ttl engine;
    definition_ttl(create, a, out);
    definition_ttl(engine_full, a, &engine);
    if (out->kind != TTL_OTHER &&
        (engine.kind != out->kind || !same(engine.column, out->column) || !same(engine.interval, out->interval)))
        other(out, "its definition and its engine's show two TTLs");
}

bool ttl_lacks(const struct ttl *t, const struct columns *c, struct buf *why)
{
    size_t at;
    if (t->kind != TTL_DELETES || columns_find(c, t->column, strlen(t->column), &at))
        return false;
    buf_printf(why,
               "column '%s', of the table's TTL, is not compared: which of the owed rows have expired cannot be told",
               t->column);
    return true;
}

void ttl_say(const struct ttl *t, struct buf *out)
{
    buf_adds(out, t->column);
    if (t->interval)
        buf_printf(out, " + %s", t->interval);
}
