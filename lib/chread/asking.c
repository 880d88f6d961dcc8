/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How keys are asked for: as the span that they lie in, as arrays that the server
 * unpacks, or as literals. Values of a fixed width go as their own bytes, since an
 * array's text would be converted and wrap in silence; texts go as the text of an
 * array, in which any byte has its escape.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/keys.h"

/* A row that is read for nothing costs less than a key that is asked for: measured, as often as this. */
#define ROWS_A_KEY 3
#define ROWS_A_TEXT_KEY 6
/* A statement of many conditions is slower than a list: a run of integers is one of them from here on. */
#define RUN 1000

unsigned keys_break_even(const struct chread_keys *k)
{
    for (size_t c = 0; c < k->n_columns; c++)
        if (keys_column(k, c)->type.kind == TYPE_STRING)
            return ROWS_A_TEXT_KEY;
    return ROWS_A_KEY;
}

static void put_name(const struct chread_keys *k, size_t c, struct buf *sql)
{
    http_quote_ident(sql, keys_column(k, c)->name, keys_column(k, c)->name_len);
}

/* The key's columns, as a tuple where there are several. */
static void put_names(const struct chread_keys *k, struct buf *sql)
{
    buf_adds(sql, k->n_columns > 1 ? "(" : "");
    for (size_t c = 0; c < k->n_columns; c++) {
        buf_adds(sql, c > 0 ? "," : "");
        put_name(k, c, sql);
    }
    buf_adds(sql, k->n_columns > 1 ? ")" : "");
}

/* ---- a span ---- */

static void put_between(const struct chread_keys *k, size_t c, const unsigned char *low, const unsigned char *high,
                        struct buf *scratch, struct buf *sql)
{
    const struct type *t = &keys_column(k, c)->type;
    put_name(k, c, sql);
    buf_adds(sql, " BETWEEN ");
    key_typed_literal(t, low, scratch, sql);
    buf_adds(sql, " AND ");
    key_typed_literal(t, high, scratch, sql);
}

/* Sorted keys share what the first and the last share, and in the first column where those two differ every key lies
 * between them: by the order of the encoding, which must be the server's. */
bool keys_span(const struct chread_keys *k, uint64_t from, uint64_t to, struct buf *sql)
{
    unsigned char room[2][8];
    const unsigned char *low = keys_at(k, from, room[0]), *high = keys_at(k, to - 1, room[1]);
    struct buf scratch = BUF_INIT;
    size_t terms = 0;
    bool open = true;
    for (size_t c = 0; c < k->n_columns && open; c++) {
        const struct type *t = &keys_column(k, c)->type;
        size_t n = key_length(t, low);
        open = n == key_length(t, high) && memcmp(low, high, n) == 0;
        if (!open && !keys_in_order(k, c))
            break;
        buf_adds(sql, terms++ > 0 ? " AND " : "");
        if (open) {
            put_name(k, c, sql);
            buf_adds(sql, " = ");
            key_typed_literal(t, low, &scratch, sql);
        } else {
            put_between(k, c, low, high, &scratch, sql);
        }
        low += n;
        high += n;
    }
    buf_free(&scratch);
    return terms > 0;
}

/* ---- literals ---- */

static void add_key(const struct chread_keys *k, uint64_t i, bool typed, struct buf *scratch, struct buf *sql)
{
    unsigned char room[8];
    const unsigned char *p = keys_at(k, i, room);
    if (k->n_columns > 1)
        buf_addc(sql, '(');
    for (size_t c = 0; c < k->n_columns; c++) {
        const struct type *t = &keys_column(k, c)->type;
        if (c > 0)
            buf_addc(sql, ',');
        if (typed)
            key_typed_literal(t, p, scratch, sql);
        else
            key_literal(t, p, scratch, sql);
        p += key_length(t, p);
    }
    if (k->n_columns > 1)
        buf_addc(sql, ')');
}

static uint64_t elements_of(const struct chread_keys *k)
{
    uint64_t n = k->n_columns > 1 ? 2 : 0;
    for (size_t c = 0; c < k->n_columns; c++)
        n += key_elements(&keys_column(k, c)->type);
    return n;
}

uint64_t keys_literals(const struct chread_keys *k, uint64_t from, uint64_t to, const struct chread_limits *limits,
                       struct buf *sql)
{
    struct buf scratch = BUF_INIT;
    uint64_t i = from, each = elements_of(k), most = limits->elements / each;
    if (most > limits->keys)
        most = limits->keys;
    put_names(k, sql);
    buf_adds(sql, " IN (");
    for (; i < to && i - from < most; i++) {
        size_t had = sql->len;
        if (i > from)
            buf_addc(sql, ',');
        add_key(k, i, false, &scratch, sql);
        if (sql->len + 1 > limits->bytes) {
            sql->len = had;
            break;
        }
    }
    buf_addc(sql, ')');
    buf_free(&scratch);
    return i;
}

/* ---- arrays ---- */

/* The values of one column: bytes of a fixed width one after the other, or texts as what stands between the brackets
 * of a quoted array. */
struct arrays {
    const struct chread_keys *k;
    struct buf *at;
    size_t *had;     /* their lengths before the key at hand */
    struct buf runs; /* conditions of consecutive integers */
    struct buf scratch, quoted;
    uint64_t n; /* in the arrays */
};

static struct arrays arrays_new(const struct chread_keys *k)
{
    return (struct arrays){
        .k = k, .at = xcalloc(k->n_columns, sizeof(struct buf)), .had = xcalloc(k->n_columns, sizeof(size_t))};
}

static void arrays_free(struct arrays *a)
{
    for (size_t c = 0; c < a->k->n_columns; c++)
        buf_free(&a->at[c]);
    free(a->at);
    free(a->had);
    buf_free(&a->runs);
    buf_free(&a->scratch);
    buf_free(&a->quoted);
}

/* The array's text is quoted as a whole, and each text in it: two levels of escapes. */
static void add_text(struct arrays *a, size_t c, const struct type *t, const unsigned char *p)
{
    struct buf *to = &a->at[c];
    buf_reset(&a->quoted);
    key_literal(t, p, &a->scratch, &a->quoted);
    if (a->n > 0)
        buf_addc(to, ',');
    for (size_t i = 0; i < a->quoted.len; i++) {
        if (a->quoted.p[i] == '\\' || a->quoted.p[i] == '\'')
            buf_addc(to, '\\');
        buf_addc(to, a->quoted.p[i]);
    }
}

static void arrays_add(struct arrays *a, uint64_t i)
{
    unsigned char room[8];
    const unsigned char *p = keys_at(a->k, i, room);
    for (size_t c = 0; c < a->k->n_columns; c++) {
        const struct type *t = &keys_column(a->k, c)->type;
        if (t->kind == TYPE_STRING)
            add_text(a, c, t, p);
        else
            key_value(t, p, &a->at[c]);
        p += key_length(t, p);
    }
    a->n++;
}

static size_t arrays_length(const struct arrays *a)
{
    size_t n = a->runs.len;
    for (size_t c = 0; c < a->k->n_columns; c++)
        n += keys_column(a->k, c)->type.kind == TYPE_STRING ? a->at[c].len : (a->at[c].len + 2) / 3 * 4;
    return n;
}

static void put_arrays(struct arrays *a, struct buf *sql)
{
    buf_adds(sql, a->k->n_columns > 1 ? "arrayZip(" : "");
    for (size_t c = 0; c < a->k->n_columns; c++) {
        const struct type *t = &keys_column(a->k, c)->type;
        bool text = t->kind == TYPE_STRING;
        buf_adds(sql, c > 0 ? "," : "");
        buf_adds(sql, text ? "CAST('[" : "reinterpret(base64Decode('");
        if (text)
            buf_add(sql, a->at[c].p, a->at[c].len);
        else
            base64_add(sql, a->at[c].p, a->at[c].len);
        buf_adds(sql, text ? "]'," : "'),");
        key_array_type(t, &a->scratch, sql);
        buf_addc(sql, ')');
    }
    buf_adds(sql, a->k->n_columns > 1 ? ")" : "");
}

static void put_condition(struct arrays *a, struct buf *sql)
{
    bool both = a->runs.len > 0 && a->n > 0;
    buf_add(sql, a->runs.p, a->runs.len);
    buf_adds(sql, both ? " OR " : "");
    if (a->runs.len > 0 && !both)
        return;
    put_names(a->k, sql);
    buf_adds(sql, " IN (SELECT arrayJoin(");
    put_arrays(a, sql);
    buf_adds(sql, "))");
}

/* Where the run of consecutive integers that begins with key i ends; i where it is too short. */
static uint64_t run_end(const struct chread_keys *k, uint64_t i, uint64_t to)
{
    if (!k->narrow || !key_is_integer(&keys_column(k, 0)->type) || !keys_in_order(k, 0) || to - i < RUN ||
        k->numbers[i + RUN - 1] - k->numbers[i] != RUN - 1)
        return i;
    for (i += RUN; i < to && k->numbers[i] == k->numbers[i - 1] + 1; i++)
        continue;
    return i;
}

/* The next key, or the whole run that it begins. Returns the number of the key behind; `from`, and nothing added, where
 * room bytes do not hold it. */
static uint64_t add_next(struct arrays *a, uint64_t from, uint64_t to, size_t room)
{
    unsigned char low[8], high[8];
    uint64_t end = run_end(a->k, from, to);
    size_t runs = a->runs.len;
    if (end > from) {
        buf_adds(&a->runs, runs > 0 ? " OR " : "");
        put_between(a->k, 0, keys_at(a->k, from, low), keys_at(a->k, end - 1, high), &a->scratch, &a->runs);
        if (arrays_length(a) <= room)
            return end;
        a->runs.len = runs;
        return from;
    }
    for (size_t c = 0; c < a->k->n_columns; c++)
        a->had[c] = a->at[c].len;
    arrays_add(a, from);
    bool fits = arrays_length(a) <= room;
    for (size_t c = 0; c < a->k->n_columns && !fits; c++)
        a->at[c].len = a->had[c];
    a->n -= !fits;
    return from + fits;
}

uint64_t keys_arrays(const struct chread_keys *k, uint64_t from, uint64_t to, const struct chread_limits *limits,
                     struct buf *sql)
{
    struct arrays a = arrays_new(k);
    size_t begin = sql->len;
    put_condition(&a, sql); /* of none: what stands around them */
    size_t around = sql->len + sizeof " OR ";
    size_t room = limits->bytes > around ? limits->bytes - around : 0;
    sql->len = begin;
    to = to - from > limits->keys ? from + limits->keys : to;
    uint64_t i = from, next;
    while (i < to && (next = add_next(&a, i, to, room)) > i)
        i = next;
    if (i > from)
        put_condition(&a, sql);
    arrays_free(&a);
    return i;
}

void keys_arrays_probe(const struct chread_keys *k, uint64_t from, uint64_t to, struct buf *sql)
{
    struct arrays a = arrays_new(k);
    arrays_add(&a, from);
    arrays_add(&a, to - 1);
    buf_adds(sql, "SELECT toString(");
    put_arrays(&a, sql);
    buf_adds(sql, " = [");
    add_key(k, from, true, &a.scratch, sql);
    buf_addc(sql, ',');
    add_key(k, to - 1, true, &a.scratch, sql);
    buf_adds(sql, "])");
    arrays_free(&a);
}
