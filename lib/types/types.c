/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: the parser of ClickHouse type names. The form of the whole text is
 * checked first (form.c), then the families that have cells are read; everything
 * else that is well formed is TYPE_OTHER.
 */
#include "types/internal.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_NAME_BYTES 255     /* of a name without cells that is kept as it was written */
#define NAME_BYTES (1024 * 1024) /* of one that has cells: an Enum16 may have 65,536 names */
#define BYTES_MAX 0xffffff       /* of a FixedString, as the server has it */
#define DEPTH 24                 /* of types within types, each of at most two arrays: no JSON is deeper than 64 */

static int parse(const char *p, size_t n, unsigned depth, struct type *out, struct err *err);

static const struct family *find_family(const struct form *f)
{
    char words[64];

    return form_words(f, words) ? family_named(words) : NULL;
}

static bool is_words(const struct form *f, const char *name)
{
    return f->words_len == strlen(name) && memcmp(f->words, name, f->words_len) == 0;
}

/* What a name of geometry stands for; NULL for any other. */
static const char *shape_of(const struct form *f)
{
    static const char *const shapes[][2] = {
        {"Point", "Tuple(Float64, Float64)"}, {"Ring", "Array(Point)"},           {"LineString", "Array(Point)"},
        {"Polygon", "Array(Ring)"},           {"MultiLineString", "Array(Ring)"}, {"MultiPolygon", "Array(Polygon)"},
    };
    for (size_t i = 0; !f->args && i < sizeof shapes / sizeof *shapes; i++)
        if (is_words(f, shapes[i][0]))
            return shapes[i][1];
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
    form_trim(&p, &n);
    a->quoted = n >= 2 && p[0] == '\'' && p[n - 1] == '\'';
    if (!a->quoted)
        return scan_u64(p, n, &a->number);
    a->text = p + 1;
    a->len = n - 2;
    for (size_t i = 0; i < a->len; i++) {
        char c = a->text[i];
        if (!form_is_word(c) && (c == '\0' || !strchr("/+-:.", c)))
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

/* What stands between the parentheses says how the server keeps a value, and which types some of its parts have. */
static bool set_text(struct type *t, const struct form *f)
{
    const char *p = f->args;
    size_t n = f->args_len;

    if (p)
        form_trim(&p, &n);
    if (n > 0)
        words_add(t, p, n);
    return true;
}

static bool set_family(struct type *t, const struct family *fam, const struct form *f)
{
    struct arg a[2];
    int n;

    t->kind = fam->kind;
    t->bits = fam->bits;
    if (fam->args == ARGS_NAMES)
        return words_of_enum(t, f);
    if (fam->args == ARGS_TEXT)
        return set_text(t, f);
    n = read_args(f, a);
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
    case ARGS_BYTES:
        t->bits = n == 1 && !a[0].quoted && a[0].number <= BYTES_MAX ? 8 * (unsigned)a[0].number : 0;
        return t->bits > 0;
    case ARGS_TIME64:
        t->scale = n == 0 ? 3 : (unsigned)a[0].number;
        return n == 0 || (n == 1 && !a[0].quoted && a[0].number <= 9);
    default: return set_datetime(t, fam->args, a, n);
    }
}

/* May LowCardinality stand around it? The server takes no Decimal, DateTime64 or Time64 there, no Enum and no JSON. */
static bool has_dictionaries(const struct type *t)
{
    return t->kind != TYPE_DECIMAL && t->kind != TYPE_DATETIME64 && t->kind != TYPE_TIME64 && t->kind != TYPE_ENUM &&
           t->kind != TYPE_JSON && t->kind != TYPE_OTHER;
}

/* Take one wrapper off. 1 where it stood there, -1 around what is no type name. */
static int unwrap_one(struct form *f, const char *name, bool *has)
{
    struct form in;

    if (!is_words(f, name) || !f->args)
        return 0;
    if (!form_read(f->args, f->args_len, &in))
        return -1;
    *f = in;
    *has = true;
    return 1;
}

/* SimpleAggregateFunction(f, T): what is left of *f is T. With other than two arguments it stays what it is. */
static int unwrap_aggregate(struct type *t, struct form *f)
{
    const char *end, *comma;
    struct form in;

    if (!is_words(f, "SimpleAggregateFunction") || !f->args)
        return 0;
    end = f->args + f->args_len;
    comma = form_argument(f->args, end);
    if (comma == end || form_argument(comma + 1, end) != end || !form_read(comma + 1, (size_t)(end - comma - 1), &in))
        return 0;
    *f = in;
    t->aggregated = true;
    return 1;
}

/* The wrappers are taken off here; what is left of *f is the type inside. Around a type that holds others only
 * SimpleAggregateFunction may stand: another stays on, so that such a type has no family. False where one stands
 * around what is no type name. */
static bool unwrap(struct type *t, struct form *f)
{
    struct form before;

    unwrap_aggregate(t, f);
    before = *f;
    if (unwrap_one(f, "LowCardinality", &t->low_cardinality) < 0 || unwrap_one(f, "Nullable", &t->nullable) < 0)
        return false;
    const struct family *in = find_family(f);
    if ((t->low_cardinality || t->nullable) && ((in && family_holds(in)) || shape_of(f))) {
        t->low_cardinality = t->nullable = false;
        *f = before;
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
    words_free(t);
    free(t->name);
    memset(t, 0, sizeof *t);
}

/* ---- the name ---- */

/* The name as written, where it fits and is text; else a name that still reads as the same family. f is what stands
 * inside the wrappers. A type whose own words are lost with its name has no cells. */
static void set_name(struct type *t, const struct type *wraps, const struct form *f, const char *p, size_t n)
{
    struct buf b = BUF_INIT;
    bool whole = t->n_words > 0 || t->n_of > 0;
    size_t most = t->kind != TYPE_OTHER && whole ? NAME_BYTES : OTHER_NAME_BYTES;

    if (n <= most && !memchr(p, '\0', n) && utf8_valid(p, n)) {
        t->name = xstrndup(p, n);
        return;
    }
    if (t->kind != TYPE_OTHER && whole)
        t->kind = TYPE_OTHER;
    if (t->kind == TYPE_OTHER) {
        size_t keep = f->words_len < 200 ? f->words_len : 200;
        free_children(t);
        words_free(t);
        *t = (struct type){.kind = TYPE_OTHER};
        buf_printf(&b, "%s%s%.*s(...)%s%s", wraps->low_cardinality ? "LowCardinality(" : "",
                   wraps->nullable ? "Nullable(" : "", (int)keep, f->words, wraps->nullable ? ")" : "",
                   wraps->low_cardinality ? ")" : "");
    } else {
        type_spell(t, &b);
    }
    t->name = xstrdup(buf_str(&b));
    buf_free(&b);
}

/* ---- what stands inside ---- */

/* Past the name of an element (`name Type`), where there is one and the words are no type's as they stand; the name
 * is then kept. */
static const char *take_element_name(struct type *t, const char *p, const char *end)
{
    const char *past = p;
    struct form f;

    if (*p == '`' || *p == '"') {
        struct buf name = BUF_INIT;
        past = form_quoted(p, end, &name);
        words_add(t, name.len > 0 ? name.p : "", name.len);
        buf_free(&name);
        return past;
    }
    if (!form_read(p, (size_t)(end - p), &f) || find_family(&f))
        return p;
    while (past < f.words + f.words_len && form_is_word(*past))
        past++;
    if (past == f.words + f.words_len)
        return p;
    words_add(t, p, (size_t)(past - p));
    return past;
}

/* The arguments that are types, as of Array(T), Tuple(name T, …) and Map(K, V). Where one argument is none, the type
 * has no children and no names. */
static bool set_children(struct type *t, const struct form *f, unsigned depth)
{
    const char *end = f->args + f->args_len, *stop, *arg;

    for (const char *p = f->args; p <= end; p = stop + 1) {
        size_t len = (size_t)((stop = form_argument(p, end)) - p);
        arg = p;
        form_trim(&arg, &len);
        if (len == 0 && t->n_of == 0 && stop == end)
            return true;
        if (len > 0)
            arg = take_element_name(t, arg, arg + len);
        t->of = xrealloc(t->of, (t->n_of + 1) * sizeof *t->of);
        if (parse(arg, (size_t)(stop - arg), depth + 1, &t->of[t->n_of], NULL) != 0) {
            free_children(t);
            words_free(t);
            return false;
        }
        t->n_of++;
    }
    return true;
}

/* Has a type that holds others cells? All that it holds must have them, and be as many and as named as it says. */
static bool holds_cells(const struct type *t, enum family_args args)
{
    if ((args == ARGS_ONE && t->n_of != 1) || (args == ARGS_TWO && t->n_of != 2) ||
        (args == ARGS_NAMED && (t->n_of == 0 || t->n_words == 0)) || (t->n_words > 0 && t->n_words != t->n_of) ||
        ((args == ARGS_ONE || args == ARGS_TWO) && t->n_words > 0))
        return false;
    for (size_t i = 0; i < t->n_of; i++)
        if (!type_supported(&t->of[i]))
            return false;
    return !(type_is_time(t) && type_holds_json(t)); /* a column's owed values come as one thing */
}

/* What a type without cells holds is kept without its names. */
static void become_other(struct type *t)
{
    words_free(t);
    *t = (struct type){.kind = TYPE_OTHER, .of = t->of, .n_of = t->n_of};
}

static void set_holder(struct type *t, const struct family *fam, const struct form *f, unsigned depth)
{
    t->kind = fam->kind;
    if (depth >= DEPTH || !f->args || !set_children(t, f, depth) || !holds_cells(t, fam->args))
        become_other(t);
}

static int refuse(const char *p, size_t n, const char *why, struct err *err)
{
    struct buf shown = BUF_INIT;

    msg_mask(&shown, p, n < 100 ? n : 100);
    err_set(err, ERR_REFUSED, "type \"%s\": %s", buf_str(&shown), why);
    buf_free(&shown);
    return -1;
}

/* Of a type without cells the children are read from the name that is kept, whose length bounds how deep this goes. */
static void set_others_children(struct type *t, unsigned depth)
{
    struct form f;

    if (depth < DEPTH && form_read(t->name, strlen(t->name), &f) && f.args && !is_shortened(&f))
        set_children(t, &f, depth);
    words_free(t);
}

static int parse(const char *p, size_t n, unsigned depth, struct type *out, struct err *err)
{
    struct form f, shape;
    struct type wraps;
    const struct family *fam;
    const char *means;
    bool holder;

    memset(out, 0, sizeof *out);
    form_trim(&p, &n);
    if (!form_read(p, n, &f) || !unwrap(out, &f))
        return refuse(p, n, "not a type name", err);
    wraps = *out;
    means = shape_of(&f);
    shape = f;
    if (means)
        form_read(means, strlen(means), &shape);
    fam = is_shortened(&f) ? NULL : find_family(&shape);
    holder = fam && family_holds(fam);
    if (holder)
        set_holder(out, fam, &shape, depth);
    else if (fam && !set_family(out, fam, &f)) {
        words_free(out);
        return refuse(p, n, "not valid arguments for this type", err);
    }
    if (!fam || (wraps.low_cardinality && !has_dictionaries(out)))
        become_other(out);
    set_name(out, &wraps, &f, p, n);
    if (out->kind == TYPE_OTHER && (!holder || wraps.aggregated)) {
        free_children(out);
        set_others_children(out, depth);
    }
    return 0;
}

int type_parse(const char *p, size_t n, struct type *out, struct err *err)
{
    return parse(p, n, 0, out, err);
}
