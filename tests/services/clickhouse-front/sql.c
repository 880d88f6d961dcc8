/* SPDX-License-Identifier: Apache-2.0 */
/* A lexer of ClickHouse's SQL and the few questions the front asks of a text. */
#include "sql.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum token_type { T_END, T_WORD, T_STRING, T_QUOTED_NAME, T_NUMBER, T_SIGN };

struct token {
    enum token_type type;
    size_t at, end;
};

struct lexer {
    const char *s;
    size_t len, pos;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80) != 0;
}

static bool starts(const struct lexer *x, const char *with)
{
    size_t n = strlen(with);

    return x->len - x->pos >= n && memcmp(x->s + x->pos, with, n) == 0;
}

static void skip_past(struct lexer *x, const char *end)
{
    const char *hit = memmem(x->s + x->pos, x->len - x->pos, end, strlen(end));

    x->pos = hit != NULL ? (size_t)(hit - x->s) + strlen(end) : x->len;
}

static void skip_blank(struct lexer *x)
{
    while (x->pos < x->len) {
        if (isspace((unsigned char)x->s[x->pos]) || x->s[x->pos] == '\0')
            x->pos++;
        else if (starts(x, "--") || starts(x, "# ") || starts(x, "#!"))
            skip_past(x, "\n");
        else if (starts(x, "/*"))
            skip_past(x, "*/");
        else
            return;
    }
}

static void skip_quoted(struct lexer *x)
{
    char quote = x->s[x->pos++];

    while (x->pos < x->len) {
        char c = x->s[x->pos++];

        if (c == '\\' && x->pos < x->len)
            x->pos++;
        else if (c == quote && x->pos < x->len && x->s[x->pos] == quote)
            x->pos++;
        else if (c == quote)
            return;
    }
}

/* $tag$ … $tag$; false when it is no such thing. */
static bool skip_heredoc(struct lexer *x)
{
    size_t i = x->pos + 1;
    char tag[66];

    while (i < x->len && is_word(x->s[i]))
        i++;
    if (i >= x->len || x->s[i] != '$' || i - x->pos >= sizeof tag - 1)
        return false;
    memcpy(tag, x->s + x->pos, i + 1 - x->pos);
    tag[i + 1 - x->pos] = '\0';
    x->pos = i + 1;
    skip_past(x, tag);
    return true;
}

static struct token next(struct lexer *x)
{
    struct token t = {T_END, 0, 0};
    char c;

    skip_blank(x);
    t.at = t.end = x->pos;
    if (x->pos >= x->len)
        return t;
    c = x->s[x->pos];
    if (c == '\'' || c == '"' || c == '`') {
        t.type = c == '\'' ? T_STRING : T_QUOTED_NAME;
        skip_quoted(x);
    } else if (c == '$' && skip_heredoc(x)) {
        t.type = T_STRING;
    } else if (is_word(c)) {
        t.type = isdigit((unsigned char)c) ? T_NUMBER : T_WORD;
        while (x->pos < x->len && is_word(x->s[x->pos]))
            x->pos++;
    } else {
        t.type = T_SIGN;
        x->pos++;
    }
    t.end = x->pos;
    return t;
}

static bool word_is(const struct lexer *x, struct token t, const char *word)
{
    return t.type == T_WORD && t.end - t.at == strlen(word) && strncasecmp(x->s + t.at, word, t.end - t.at) == 0;
}

static bool sign_is(const struct lexer *x, struct token t, char sign)
{
    return t.type == T_SIGN && x->s[t.at] == sign;
}

static bool word_in(const struct lexer *x, struct token t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (word_is(x, t, *words))
            return true;
    return false;
}

static enum sql_kind kind_of(const struct lexer *x, struct token first)
{
    static const char *const selects[] = {"select", "with", NULL};
    static const char *const looks[] = {"show", "describe", "desc", "exists", "explain", "use", "set", NULL};

    if (first.type == T_END)
        return SQL_NONE;
    if (sign_is(x, first, '(') || word_in(x, first, selects))
        return SQL_SELECT;
    return word_in(x, first, looks) ? SQL_LOOK : SQL_WRITE;
}

static void take_format(const struct lexer *x, struct token name, struct sql_statement *out)
{
    size_t n = name.end - name.at;

    if (n >= sizeof out->format)
        n = sizeof out->format - 1;
    memcpy(out->format, x->s + name.at, n);
    out->format[n] = '\0';
}

/* The data begin after the blanks and one line end that follow the format's name. */
static size_t data_start(const struct lexer *x, size_t pos)
{
    while (pos < x->len && (x->s[pos] == ' ' || x->s[pos] == '\t' || x->s[pos] == '\f'))
        pos++;
    if (pos < x->len && x->s[pos] == '\r')
        pos++;
    if (pos < x->len && x->s[pos] == '\n')
        pos++;
    return pos;
}

/* The rest of an INSERT up to its data. True when data follow; false leaves the lexer at the end of
 * what was read (a SELECT, say). */
static bool scan_insert(struct lexer *x, struct sql_statement *out)
{
    struct token prev = {T_SIGN, 0, 0}, t;
    size_t settings_at = 0;
    int depth = 0;

    for (;; prev = t) {
        t = next(x);
        depth += sign_is(x, t, '(') ? 1 : sign_is(x, t, ')') ? -1 : 0;
        if (t.type == T_END || (depth == 0 && sign_is(x, t, ';'))) {
            x->pos = t.at;
            return false;
        }
        /* A table may bear a keyword's name. */
        if (depth != 0 || word_is(x, prev, "into") || word_is(x, prev, "table") || sign_is(x, prev, '.'))
            continue;
        if (word_is(x, t, "select") || word_is(x, t, "with") || word_is(x, t, "watch"))
            return false;
        if (word_is(x, t, "infile"))
            out->outfile = true;
        if (word_is(x, t, "settings"))
            settings_at = t.at;
        if (word_is(x, t, "values") || word_is(x, t, "format"))
            break;
    }
    out->format_at = t.at;
    out->infile_at = settings_at != 0 ? settings_at : t.at;
    out->data_at = t.end;
    strcpy(out->format, "Values");
    if (word_is(x, t, "format")) {
        t = next(x);
        take_format(x, t, out);
        if (strcasecmp(out->format, "Values") != 0)
            t.end = data_start(x, t.end);
        out->data_at = t.end;
    }
    out->kind = SQL_INSERT_DATA;
    return true;
}

void sql_scan(const char *text, size_t len, struct sql_statement *out)
{
    struct lexer x = {text, len, 0};
    struct token t, prev;
    int depth = 0;

    *out = (struct sql_statement){0};
    t = next(&x);
    out->kind = kind_of(&x, t);
    out->in_session = word_is(&x, t, "use") || word_is(&x, t, "set");
    if (word_is(&x, t, "insert") && scan_insert(&x, out))
        return;
    for (prev = t; t.type != T_END; prev = t, t = next(&x)) {
        depth += sign_is(&x, t, '(') ? 1 : sign_is(&x, t, ')') ? -1 : 0;
        if (sign_is(&x, t, ';')) {
            while (sign_is(&x, t, ';'))
                t = next(&x);
            out->several = t.type != T_END;
            return;
        }
        if (depth == 0 && word_is(&x, t, "insert"))
            out->kind = SQL_WRITE; /* WITH … INSERT */
        if (word_is(&x, prev, "into") && word_is(&x, t, "outfile"))
            out->outfile = true;
        if ((word_is(&x, prev, "create") || word_is(&x, prev, "replace")) && word_is(&x, t, "temporary"))
            out->in_session = true;
        if (depth == 0 && word_is(&x, prev, "format") && t.type == T_WORD) {
            struct lexer ahead = x;
            struct token after = next(&ahead);

            /* A column may be named format: the clause stands last. */
            if (after.type == T_END || sign_is(&ahead, after, ';') || word_is(&ahead, after, "settings"))
                take_format(&x, t, out);
        }
    }
}

/* Whether what follows serverUUID() names the expression already. */
static bool is_named(const struct lexer *x)
{
    static const char *const clauses[] = {"from",  "format", "settings",  "where",   "limit", "union", "order",
                                          "group", "having", "prewhere",  "and",     "or",    "as",    "in",
                                          "is",    "not",    "like",      "between", "then",  "else",  "end",
                                          "when",  "except", "intersect", "into",    NULL};
    struct lexer ahead = *x;
    struct token t = next(&ahead);

    if (t.type == T_QUOTED_NAME || word_is(&ahead, t, "as"))
        return true;
    return t.type == T_WORD && !word_in(&ahead, t, clauses);
}

struct text {
    char *s;
    size_t len, size;
};

static bool append(struct text *t, const char *s, size_t n)
{
    if (t->len + n + 1 > t->size) {
        size_t size = (t->len + n + 1) * 2;
        char *grown = realloc(t->s, size);

        if (grown == NULL)
            return false;
        t->s = grown;
        t->size = size;
    }
    memcpy(t->s + t->len, s, n);
    t->len += n;
    t->s[t->len] = '\0';
    return true;
}

static bool append_uuid(struct text *t, const char *uuid, bool named)
{
    return append(t, "(toUUID('", 9) && append(t, uuid, strlen(uuid)) &&
           append(t, named ? "'))" : "') AS `serverUUID()`)", named ? 3 : 21);
}

char *sql_answer_server_uuid(const char *text, size_t len, const char *uuid, size_t *out_len)
{
    struct lexer x = {text, len, 0};
    struct text out = {0};
    size_t copied = 0;
    bool ok = append(&out, "", 0);

    for (struct token t = next(&x); ok && t.type != T_END; t = next(&x)) {
        struct lexer ahead = x;

        /* This function's name is case-sensitive. */
        if (t.end - t.at != 10 || memcmp(text + t.at, "serverUUID", 10) != 0 || t.type != T_WORD)
            continue;
        if (!sign_is(&ahead, next(&ahead), '(') || !sign_is(&ahead, next(&ahead), ')'))
            continue;
        ok = append(&out, text + copied, t.at - copied) && append_uuid(&out, uuid, is_named(&ahead));
        copied = ahead.pos;
        x = ahead;
    }
    ok = ok && append(&out, text + copied, len - copied);
    if (!ok) {
        free(out.s);
        return NULL;
    }
    *out_len = out.len;
    return out.s;
}

char *sql_of_made(const char *text, size_t len, size_t *out_len)
{
    static const char of[] = "system", made[] = "made";
    struct lexer x = {text, len, 0};
    struct text out = {0};
    size_t copied = 0;
    bool ok = append(&out, "", 0);

    for (struct token t = next(&x); ok && t.type != T_END; t = next(&x)) {
        struct lexer ahead = x;

        if (t.type != T_WORD || t.end - t.at != sizeof of - 1 || memcmp(text + t.at, of, sizeof of - 1) != 0 ||
            !sign_is(&ahead, next(&ahead), '.'))
            continue;
        ok = append(&out, text + copied, t.at - copied) && append(&out, made, sizeof made - 1);
        copied = t.end;
    }
    ok = ok && append(&out, text + copied, len - copied);
    if (!ok) {
        free(out.s);
        return NULL;
    }
    *out_len = out.len;
    return out.s;
}

static bool value_is(const struct lexer *x, struct token t, const char *value)
{
    const char *s = x->s + t.at;
    size_t n = t.end - t.at;

    if (t.type == T_STRING && n >= 2) {
        s++;
        n -= 2;
    }
    return n == strlen(value) && strncasecmp(s, value, n) == 0;
}

bool sql_changes_setting(const char *text, size_t len, const char *setting, const char *value)
{
    struct lexer x = {text, len, 0};
    struct token prev = {T_END, 0, 0};

    for (struct token t = next(&x); t.type != T_END; prev = t, t = next(&x)) {
        struct lexer ahead = x;

        if (!word_is(&x, t, setting) || !sign_is(&ahead, next(&ahead), '='))
            continue;
        if (!word_is(&x, prev, "settings") && !word_is(&x, prev, "set") && !sign_is(&x, prev, ','))
            continue;
        if (!value_is(&ahead, next(&ahead), value))
            return true;
    }
    return false;
}
