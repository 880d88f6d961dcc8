/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: the parser of ClickHouse type names. The form of the whole text is
 * checked first (words, balanced arguments, quotes), then the families that
 * have cells are read; everything else that is well formed is TYPE_OTHER.
 */
#include "types/types.h"

#include <string.h>
#include <strings.h>

enum args {
    ARGS_NONE,      /* String, Bool, Date */
    ARGS_ANY_WIDTH, /* VARCHAR(255): a display width that means nothing */
    ARGS_PS,        /* Decimal(P[, S]) */
    ARGS_S,         /* Decimal64(S): the precision is the family's */
    ARGS_DT,        /* DateTime([scale][, zone]) */
    ARGS_DT32,      /* DateTime32([zone]) */
    ARGS_DT64       /* DateTime64([scale[, zone]]) */
};

struct family {
    const char *name;
    bool fold; /* the server takes the name in any case */
    enum type_kind kind;
    unsigned bits;
    enum args args;
};

static const struct family families[] = {
    {"Int8", false, TYPE_INT, 8, ARGS_ANY_WIDTH},
    {"Int16", false, TYPE_INT, 16, ARGS_ANY_WIDTH},
    {"Int32", false, TYPE_INT, 32, ARGS_ANY_WIDTH},
    {"Int64", false, TYPE_INT, 64, ARGS_ANY_WIDTH},
    {"Int128", false, TYPE_INT, 128, ARGS_ANY_WIDTH},
    {"Int256", false, TYPE_INT, 256, ARGS_ANY_WIDTH},
    {"UInt8", false, TYPE_UINT, 8, ARGS_ANY_WIDTH},
    {"UInt16", false, TYPE_UINT, 16, ARGS_ANY_WIDTH},
    {"UInt32", false, TYPE_UINT, 32, ARGS_ANY_WIDTH},
    {"UInt64", false, TYPE_UINT, 64, ARGS_ANY_WIDTH},
    {"UInt128", false, TYPE_UINT, 128, ARGS_ANY_WIDTH},
    {"UInt256", false, TYPE_UINT, 256, ARGS_ANY_WIDTH},
    {"Float32", false, TYPE_FLOAT, 32, ARGS_ANY_WIDTH},
    {"Float64", false, TYPE_FLOAT, 64, ARGS_ANY_WIDTH},
    {"String", false, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"Bool", true, TYPE_BOOL, 8, ARGS_NONE},
    {"Date", true, TYPE_DATE, 16, ARGS_NONE},
    {"Date32", true, TYPE_DATE32, 32, ARGS_NONE},
    {"DateTime", true, TYPE_DATETIME, 32, ARGS_DT},
    {"DateTime32", true, TYPE_DATETIME, 32, ARGS_DT32},
    {"DateTime64", true, TYPE_DATETIME64, 64, ARGS_DT64},
    {"TIMESTAMP", true, TYPE_DATETIME, 32, ARGS_DT},
    {"Decimal", true, TYPE_DECIMAL, 0, ARGS_PS},
    {"Decimal32", true, TYPE_DECIMAL, 32, ARGS_S},
    {"Decimal64", true, TYPE_DECIMAL, 64, ARGS_S},
    {"Decimal128", true, TYPE_DECIMAL, 128, ARGS_S},
    {"Decimal256", true, TYPE_DECIMAL, 256, ARGS_S},
    {"DEC", true, TYPE_DECIMAL, 0, ARGS_PS},
    {"NUMERIC", true, TYPE_DECIMAL, 0, ARGS_PS},
    {"FIXED", true, TYPE_DECIMAL, 0, ARGS_PS},
    {"boolean", true, TYPE_BOOL, 8, ARGS_NONE},
    {"TINYINT", true, TYPE_INT, 8, ARGS_ANY_WIDTH},
    {"TINYINT SIGNED", true, TYPE_INT, 8, ARGS_ANY_WIDTH},
    {"TINYINT UNSIGNED", true, TYPE_UINT, 8, ARGS_ANY_WIDTH},
    {"INT1", true, TYPE_INT, 8, ARGS_ANY_WIDTH},
    {"INT1 SIGNED", true, TYPE_INT, 8, ARGS_ANY_WIDTH},
    {"INT1 UNSIGNED", true, TYPE_UINT, 8, ARGS_ANY_WIDTH},
    {"BYTE", true, TYPE_INT, 8, ARGS_ANY_WIDTH},
    {"SMALLINT", true, TYPE_INT, 16, ARGS_ANY_WIDTH},
    {"SMALLINT SIGNED", true, TYPE_INT, 16, ARGS_ANY_WIDTH},
    {"SMALLINT UNSIGNED", true, TYPE_UINT, 16, ARGS_ANY_WIDTH},
    {"MEDIUMINT", true, TYPE_INT, 32, ARGS_ANY_WIDTH},
    {"MEDIUMINT SIGNED", true, TYPE_INT, 32, ARGS_ANY_WIDTH},
    {"MEDIUMINT UNSIGNED", true, TYPE_UINT, 32, ARGS_ANY_WIDTH},
    {"INT", true, TYPE_INT, 32, ARGS_ANY_WIDTH},
    {"INT SIGNED", true, TYPE_INT, 32, ARGS_ANY_WIDTH},
    {"INT UNSIGNED", true, TYPE_UINT, 32, ARGS_ANY_WIDTH},
    {"INTEGER", true, TYPE_INT, 32, ARGS_ANY_WIDTH},
    {"INTEGER SIGNED", true, TYPE_INT, 32, ARGS_ANY_WIDTH},
    {"INTEGER UNSIGNED", true, TYPE_UINT, 32, ARGS_ANY_WIDTH},
    {"BIGINT", true, TYPE_INT, 64, ARGS_ANY_WIDTH},
    {"BIGINT SIGNED", true, TYPE_INT, 64, ARGS_ANY_WIDTH},
    {"BIGINT UNSIGNED", true, TYPE_UINT, 64, ARGS_ANY_WIDTH},
    {"FLOAT", true, TYPE_FLOAT, 32, ARGS_ANY_WIDTH},
    {"REAL", true, TYPE_FLOAT, 32, ARGS_ANY_WIDTH},
    {"DOUBLE", true, TYPE_FLOAT, 64, ARGS_ANY_WIDTH},
    {"DOUBLE PRECISION", true, TYPE_FLOAT, 64, ARGS_ANY_WIDTH},
    {"CHAR", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"CHARACTER", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"VARCHAR", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"CHARACTER VARYING", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"TEXT", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"TINYTEXT", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"MEDIUMTEXT", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"LONGTEXT", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"BLOB", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"CLOB", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
    {"BYTEA", true, TYPE_STRING, 0, ARGS_ANY_WIDTH},
};

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

    if (!plain_words(f, words))
        return NULL;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *fam = &families[i];
        if ((fam->fold ? strcasecmp(fam->name, words) : strcmp(fam->name, words)) == 0)
            return fam;
    }
    return NULL;
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
    return a->len > 0 && a->len < sizeof((struct type *)0)->zone;
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

static bool set_zone(struct type *t, const struct arg *a)
{
    if (!a->quoted)
        return false;
    memcpy(t->zone, a->text, a->len);
    t->zone[a->len] = '\0';
    return true;
}

/* DateTime, DateTime32 and DateTime64, whose first argument may be left out for the zone alone. */
static bool set_datetime(struct type *t, enum args form, const struct arg *a, int n)
{
    uint64_t scale = form == ARGS_DT64 ? 3 : 0;
    int at = 0;

    if (n > 0 && !a[0].quoted) {
        scale = a[0].number;
        at = 1;
    }
    if (scale > 9 || (at == 1 && form == ARGS_DT32) || (at == 0 && n > 0 && form == ARGS_DT64) || n > at + 1 ||
        (n == at + 1 && !set_zone(t, &a[at]))) {
        return false;
    }
    if (form == ARGS_DT64 || scale > 0) {
        t->kind = TYPE_DATETIME64;
        t->bits = 64;
    }
    t->scale = (unsigned)scale;
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
    case ARGS_ANY_WIDTH: return n == 0 || (!a[0].quoted && (n == 1 || (fam->kind == TYPE_FLOAT && !a[1].quoted)));
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

/* The name as written, where it fits and is text; else a name that still reads as the same family. f is what stands
 * inside the wrappers. */
static void set_name(struct type *t, const struct type *wraps, const struct form *f, const char *p, size_t n)
{
    struct buf b = BUF_INIT;

    if (n < sizeof t->name && !memchr(p, '\0', n) && utf8_valid(p, n)) {
        memcpy(t->name, p, n);
        t->name[n] = '\0';
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
    memcpy(t->name, buf_str(&b), b.len + 1);
    buf_free(&b);
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
    if (fam) {
        if (!set_family(out, fam, &f))
            return refuse(p, n, "not valid arguments for this type", err);
        if (out->low_cardinality && out->kind != TYPE_STRING)
            fam = NULL;
    }
    if (!fam) {
        memset(out, 0, sizeof *out);
        out->kind = TYPE_OTHER;
    }
    set_name(out, &wraps, &f, p, n);
    return 0;
}
