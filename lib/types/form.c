/* SPDX-License-Identifier: Apache-2.0 */
/* types: the form of a type's name: words, balanced arguments, quotes. */
#include <string.h>

#include "types/internal.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool form_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void form_trim(const char **p, size_t *n)
{
    while (*n > 0 && is_space((*p)[0])) {
        (*p)++;
        (*n)--;
    }
    while (*n > 0 && is_space((*p)[*n - 1]))
        (*n)--;
}

/* Just past the quoted text that starts at p, or NULL where it does not end. A doubled quote is one of its bytes. */
static const char *skip_quoted(const char *p, const char *end)
{
    char q = *p++;

    while (p < end)
        if ((*p == '\\' || (*p == q && end - p > 1 && p[1] == q)) && end - p > 1)
            p += 2;
        else if (*p == q)
            return p + 1;
        else
            p++;
    return NULL;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that the escape at p (past its backslash) means; *p is moved past it. */
static char unescape(const char **p, const char *end)
{
    static const char from[] = "bfnrt0ave", to[] = "\b\f\n\r\t\0\a\v\x1b";
    char c = *(*p)++;
    const char *letter = strchr(from, c);

    if (c == 'x' && end - *p >= 2 && hex((*p)[0]) >= 0 && hex((*p)[1]) >= 0) {
        c = (char)(hex((*p)[0]) * 16 + hex((*p)[1]));
        *p += 2;
        return c;
    }
    return c != '\0' && letter ? to[letter - from] : c;
}

const char *form_quoted(const char *p, const char *end, struct buf *out)
{
    const char *past = skip_quoted(p, end), *last = past ? past - 1 : p;

    for (p++; out && p < last;) {
        if (*p == '\\') {
            p++;
            buf_addc(out, unescape(&p, last));
            continue;
        }
        p += *p == *last;
        buf_addc(out, *p++);
    }
    return past;
}

/* Where the balanced text that starts after the opening parenthesis ends (at its closing one), or NULL. */
static const char *skip_args(const char *p, const char *end)
{
    size_t depth = 1;

    while (p < end) {
        char c = *p;
        if (c == '\'' || c == '`' || c == '"') {
            p = skip_quoted(p, end);
            if (!p)
                return NULL;
            continue;
        }
        if (c == ')' && --depth == 0)
            return p;
        if (c == '(')
            depth++;
        else if (!form_is_word(c) && !is_space(c) && !strchr("),.=+-<>:", c))
            return NULL;
        else if (c == '\0')
            return NULL;
        p++;
    }
    return NULL;
}

bool form_read(const char *p, size_t n, struct form *f)
{
    const char *end;
    size_t i = 0;

    form_trim(&p, &n);
    end = p + n;
    if (n == 0 || !form_is_word(p[0]) || (p[0] >= '0' && p[0] <= '9'))
        return false;
    while (i < n && (form_is_word(p[i]) || is_space(p[i])))
        i++;
    f->words = p;
    f->words_len = i;
    form_trim(&f->words, &f->words_len);
    f->args = NULL;
    f->args_len = 0;
    if (i < n) {
        const char *close = p[i] == '(' ? skip_args(p + i + 1, end) : NULL;
        if (!close || close + 1 != end)
            return false;
        f->args = p + i + 1;
        f->args_len = (size_t)(close - f->args);
    }
    return true;
}

bool form_words(const struct form *f, char out[64])
{
    size_t n = 0;

    for (size_t i = 0; i < f->words_len; i++) {
        char c = f->words[i];
        if (is_space(c)) {
            if (is_space(f->words[i - 1]))
                continue;
            c = ' ';
        }
        if (n == 63)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

const char *form_argument(const char *p, const char *end)
{
    while (p < end && *p != ',')
        if (*p == '\'' || *p == '`' || *p == '"')
            p = skip_quoted(p, end);
        else
            p = *p == '(' ? skip_args(p + 1, end) + 1 : p + 1;
    return p;
}
