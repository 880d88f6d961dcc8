/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: the parser of ClickHouse type names. The form of the whole text is
 * checked first (words, balanced arguments, quotes), then the families that
 * have cells are read; everything else that is well formed is TYPE_OTHER.
 */
#include "types/internal.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 255 /* of a name that is kept as it was written */

/* A type name in two pieces: its words, and what stands between its outer parentheses. */
struct form {
    const char *words;
    size_t words_len;
    const char *args; /* NULL where there are no parentheses */
    size_t args_len;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void trim(const char **p, size_t *n)
{
    while (*n > 0 && is_space((*p)[0])) {
        (*p)++;
        (*n)--;
    }
    while (*n > 0 && is_space((*p)[*n - 1]))
        (*n)--;
}

/* Just past the quoted text that starts at p, or NULL where it does not end. */
static const char *skip_quoted(const char *p, const char *end)
{
    char q = *p++;

    while (p < end)
        if (*p == '\\' && end - p > 1)
            p += 2;
        else if (*p == q)
            return p + 1; /* a doubled quote is two quoted texts side by side */
        else
            p++;
    return NULL;
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
        else if (!is_word(c) && !is_space(c) && !strchr("),.=+-<>:", c))
            return NULL;
        else if (c == '\0')
            return NULL;
        p++;
    }
    return NULL;
}

static bool read_form(const char *p, size_t n, struct form *f)
{
    const char *end;
    size_t i = 0;

    trim(&p, &n);
    end = p + n;
    if (n == 0 || !is_word(p[0]) || (p[0] >= '0' && p[0] <= '9'))
        return false;
    while (i < n && (is_word(p[i]) || is_space(p[i])))
        i++;
    f->words = p;
    f->words_len = i;
    trim(&f->words, &f->words_len);
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

/* The words with one space between them. False where they are too long to be a family's. */
static bool plain_words(const struct form *f, char out[64])
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

static const struct family *find_family(const struct form *f)
{
    char words[64];

    return plain_words(f, words) ? family_named(words) : NULL;
}

/* One argument: a number or a quoted time zone. */
struct arg {
    bool quoted;
    uint64_t number;
    const char *text;
    size_t len;
};

static bool read_arg(const char *p, size_t n, struct arg *a)
{
    trim(&p, &n);
    a->quoted = n >= 2 && p[0] == '\'' && p[n - 1] == '\'';
    if (!a->quoted)
        return scan_u64(p, n, &a->number);
    a->text = p + 1;
    a->len = n - 2;
    for (size_t i = 0; i < a->len; i++) {
        char c = a->text[i];
        if (!is_word(c) && (c == '\0' || !strchr("/+-:.", c)))
            return false;
    }
    return a->len > 0 && a->len <= TYPE_ZONE_BYTES;
}

/* At most two arguments. -1 where one is neither a number nor a zone, or where there are more. */
static int read_args(const struct form *f, struct arg a[2])
{
    const char *comma;

    if (!f->args)
        return 0;
    comma = memchr(f->args, ',', f->args_len);
    if (!comma)
        return read_arg(f->args, f->args_len, &a[0]) ? 1 : -1;
    if (!read_arg(f->args, (size_t)(comma - f->args), &a[0]) ||
        !read_arg(comma + 1, (size_t)(f->args + f->args_len - comma - 1), &a[1])) {
        return -1;
    }
    return 2;
}

static unsigned decimal_bits(unsigned precision)
{
    return precision <= 9 ? 32 : precision <= 18 ? 64 : precision <= 38 ? 128 : 256;
}

static unsigned decimal_precision(unsigned bits)
{
    return bits == 32 ? 9 : bits == 64 ? 18 : bits == 128 ? 38 : 76;
}

static bool set_decimal(struct type *t, uint64_t precision, uint64_t scale)
{
    if (precision < 1 || precision > 76 || scale > precision)
        return false;
    t->precision = (unsigned)precision;
    t->scale = (unsigned)scale;
    t->bits = decimal_bits(t->precision);
    return true;
}

/* DateTime, DateTime32 and DateTime64, whose first argument may be left out for the zone alone. */
static bool set_datetime(struct type *t, enum family_args form, const struct arg *a, int n)
{
    uint64_t scale = form == ARGS_DT64 ? 3 : 0;
    int at = 0;

    if (n > 0 && !a[0].quoted) {
        scale = a[0].number;
        at = 1;
    }
    if (scale > 9 || (at == 1 && form == ARGS_DT32) || (at == 0 && n > 0 && form == ARGS_DT64) || n > at + 1 ||
        (n == at + 1 && !a[at].quoted)) {
        return false;
    }
    if (form == ARGS_DT64 || scale > 0) {
        t->kind = TYPE_DATETIME64;
        t->bits = 64;
    }
    t->scale = (unsigned)scale;
    if (n > at)
        memcpy(t->zone, a[at].text, a[at].len);
    return true;
}

static bool set_family(struct type *t, const struct family *fam, const struct form *f)
{
    struct arg a[2];
    int n = read_args(f, a);

    t->kind = fam->kind;
    t->bits = fam->bits;
    if (n < 0)
        return false;
    switch (fam->args) {
    case ARGS_NONE: return !f->args;
    case ARGS_WIDTH: return n == 0 || (n == 1 && !a[0].quoted);
    case ARGS_WIDTHS: return n == 0 || (!a[0].quoted && (n == 1 || !a[1].quoted));
    case ARGS_PS:
        if (n > 0 && (a[0].quoted || (n == 2 && a[1].quoted)))
            return false;
        return set_decimal(t, n > 0 ? a[0].number : 10, n == 2 ? a[1].number : 0);
    case ARGS_S: return n == 1 && !a[0].quoted && set_decimal(t, decimal_precision(fam->bits), a[0].number);
    default: return set_datetime(t, fam->args, a, n);
    }
}

static bool is_words(const struct form *f, const char *name)
{
    return f->words_len == strlen(name) && memcmp(f->words, name, f->words_len) == 0;
}

/* Nullable and LowCardinality are taken off here; what is left of *f is the type inside. False where they stand
 * around what is no type name. */
static bool unwrap(struct type *t, struct form *f)
{
    if (is_words(f, "LowCardinality") && f->args) {
        struct form in;
        if (!read_form(f->args, f->args_len, &in))
            return false;
        *f = in;
        t->low_cardinality = true;
    }
    if (is_words(f, "Nullable") && f->args) {
        struct form in;
        if (!read_form(f->args, f->args_len, &in))
            return false;
        *f = in;
        t->nullable = true;
    }
    return true;
}

/* A name that set_name made: what stood between the parentheses is not known. */
static bool is_shortened(const struct form *f)
{
    return f->args_len == 3 && memcmp(f->args, "...", 3) == 0;
}

static void free_children(struct type *t)
{
    for (size_t i = 0; i < t->n_of; i++)
        type_free(&t->of[i]);
    free(t->of);
    t->of = NULL;
    t->n_of = 0;
}

void type_free(struct type *t)
{
    free_children(t);
    free(t->name);
    memset(t, 0, sizeof *t);
}

/* The name as written, where it fits and is text; else a name that still reads as the same family. f is what stands
 * inside the wrappers. */
static void set_name(struct type *t, const struct type *wraps, const struct form *f, const char *p, size_t n)
{
    struct buf b = BUF_INIT;

    if (n <= NAME_MAX_BYTES && !memchr(p, '\0', n) && utf8_valid(p, n)) {
        t->name = xstrndup(p, n);
        return;
    }
    if (t->kind == TYPE_OTHER) {
        size_t keep = f->words_len < 200 ? f->words_len : 200;
        buf_printf(&b, "%s%s%.*s(...)%s%s", wraps->low_cardinality ? "LowCardinality(" : "",
                   wraps->nullable ? "Nullable(" : "", (int)keep, f->words, wraps->nullable ? ")" : "",
                   wraps->low_cardinality ? ")" : "");
    } else {
        type_spell(t, &b);
    }
    t->name = xstrdup(buf_str(&b));
    buf_free(&b);
}

/* ---- what stands inside a type without cells ---- */

/* Where the argument at p ends: at its comma or at the end. The form of the text was checked. */
static const char *argument_end(const char *p, const char *end)
{
    while (p < end && *p != ',')
        if (*p == '\'' || *p == '`' || *p == '"')
            p = skip_quoted(p, end);
        else
            p = *p == '(' ? skip_args(p + 1, end) + 1 : p + 1;
    return p;
}

/* Past the name of an element (`name Type`), where there is one and the words are no type's as they stand. */
static const char *skip_element_name(const char *p, const char *end)
{
    const char *past = p;
    struct form f;

    if (*p == '`' || *p == '"')
        return skip_quoted(p, end);
    if (!read_form(p, (size_t)(end - p), &f) || find_family(&f))
        return p;
    while (past < f.words + f.words_len && is_word(*past))
        past++;
    return past < f.words + f.words_len ? past : p;
}

/* The arguments that are types, as of Array(T), Tuple(name T, …) and Map(K, V). A type of which one argument is none
 * has no children. They are read from the name that is kept, whose length bounds how deep this goes. */
static void set_children(struct type *t)
{
    const char *p, *end, *stop;
    struct form f;

    if (!read_form(t->name, strlen(t->name), &f) || !f.args)
        return;
    end = f.args + f.args_len;
    for (p = f.args; p <= end; p = stop + 1) {
        const char *arg = p;
        size_t len = (size_t)((stop = argument_end(p, end)) - p);
        trim(&arg, &len);
        if (len > 0)
            arg = skip_element_name(arg, arg + len);
        t->of = xrealloc(t->of, (t->n_of + 1) * sizeof *t->of);
        if (type_parse(arg, (size_t)(stop - arg), &t->of[t->n_of], NULL) != 0) {
            free_children(t);
            return;
        }
        t->n_of++;
    }
}

static int refuse(const char *p, size_t n, const char *why, struct err *err)
{
    struct buf shown = BUF_INIT;

    msg_mask(&shown, p, n < 100 ? n : 100);
    err_set(err, ERR_REFUSED, "type \"%s\": %s", buf_str(&shown), why);
    buf_free(&shown);
    return -1;
}

int type_parse(const char *p, size_t n, struct type *out, struct err *err)
{
    struct form f;
    struct type wraps;
    const struct family *fam;

    memset(out, 0, sizeof *out);
    trim(&p, &n);
    if (!read_form(p, n, &f) || !unwrap(out, &f))
        return refuse(p, n, "not a type name", err);
    wraps = *out;
    fam = is_shortened(&f) ? NULL : find_family(&f);
    if (fam && !set_family(out, fam, &f))
        return refuse(p, n, "not valid arguments for this type", err);
    if (!fam || (out->low_cardinality && out->kind != TYPE_STRING))
        *out = (struct type){.kind = TYPE_OTHER};
    set_name(out, &wraps, &f, p, n);
    if (out->kind == TYPE_OTHER)
        set_children(out);
    return 0;
}
