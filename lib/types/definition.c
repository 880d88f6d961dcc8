/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a table's definition. */
#include "types/definition.h"

#include <ctype.h>
#include <string.h>

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

bool definition_has_ttl(const char *definition)
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
