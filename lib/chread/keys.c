/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys: collected, sorted as the table sorts them, each once, and looked up. A
 * key of one value of at most 64 bits is a number and no more.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/keys.h"

struct chread_keys *chread_keys_new(const struct columns *cols)
{
    struct chread_keys *k = xcalloc(1, sizeof *k);
    k->cols = cols;
    k->columns = xcalloc(cols->n, sizeof *k->columns);
    k->expressed = xcalloc(cols->n, sizeof *k->expressed);
    for (size_t i = 0; i < cols->n; i++)
        if (cols->at[i].key)
            k->columns[k->n_columns++] = i;
    if (k->n_columns == 1) {
        const struct type *t = &cols->at[k->columns[0]].type;
        k->narrow = t->bits > 0 && t->bits <= 64;
    }
    return k;
}

void chread_keys_free(struct chread_keys *k)
{
    if (!k)
        return;
    free(k->columns);
    free(k->expressed);
    free(k->numbers);
    free(k->entries);
    buf_free(&k->bytes);
    buf_free(&k->scratch);
    buf_free(&k->text);
    free(k);
}

uint64_t chread_keys_count(const struct chread_keys *k)
{
    return k->n;
}

static uint64_t prefix_of(const unsigned char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < 8; i++)
        v = v << 8 | (i < n ? p[i] : 0);
    return v;
}

static void grow(struct chread_keys *k)
{
    if (k->n < k->cap)
        return;
    k->cap = k->cap == 0 ? 1024 : 2 * k->cap;
    if (k->narrow)
        k->numbers = xrealloc(k->numbers, k->cap * sizeof *k->numbers);
    else
        k->entries = xrealloc(k->entries, k->cap * sizeof *k->entries);
}

int chread_keys_add(struct chread_keys *k, const char *p, const uint32_t *ends, struct err *err)
{
    size_t had = k->bytes.len;
    for (size_t i = 0; i < k->n_columns; i++) {
        size_t c = k->columns[i];
        size_t from = c == 0 ? 1 : ends[c - 1] + 1U; /* past the bracket, or the comma */
        const char *cell = p + from;
        size_t n = ends[c] - from;
        if (cells_is_unfit(cell, n)) {
            k->bytes.len = had;
            return 0;
        }
        if (key_encode(&k->cols->at[c], cell, n, &k->text, &k->bytes, err) != 0)
            return -1;
    }
    grow(k);
    const unsigned char *e = (const unsigned char *)k->bytes.p + had;
    size_t n = k->bytes.len - had;
    if (k->narrow) {
        k->numbers[k->n++] = prefix_of(e, n) >> (64 - 8 * n);
        k->bytes.len = had;
    } else {
        k->entries[k->n++] = (struct key_entry){prefix_of(e, n), had};
    }
    return 1;
}

/* ---- order ---- */

/* The place of a column in the text of a sorting key, an expression a comma; past every place where it is none of them.
 */
static size_t place(const struct column *c, const char *sorting_key)
{
    struct buf quoted = BUF_INIT;
    size_t at = 0, found = SIZE_MAX;
    http_quote_ident(&quoted, c->name, c->name_len);
    for (const char *p = sorting_key; *p != '\0' && found == SIZE_MAX; at++) {
        size_t n = strcspn(p, ",");
        const char *word = p + strspn(p, " (");
        size_t len = (size_t)(p + n - word);
        while (len > 0 && (word[len - 1] == ' ' || word[len - 1] == ')'))
            len--;
        if ((len == c->name_len && memcmp(word, c->name, len) == 0) || buf_is(&quoted, word, len))
            found = at;
        p += n + (p[n] == ',');
    }
    buf_free(&quoted);
    return found;
}

/* The length of the first of a list's items, up to a comma that neither brackets nor quotes hold. */
static size_t item_length(const char *p)
{
    size_t n = 0, depth = 0;
    for (char quote = '\0'; p[n] != '\0' && (quote || depth > 0 || p[n] != ','); n++) {
        if (p[n] == '\\' && quote && p[n + 1] != '\0')
            n++;
        else if (quote)
            quote = p[n] == quote ? '\0' : quote;
        else if (strchr("`'\"", p[n]))
            quote = p[n];
        else if (p[n] == '(')
            depth++;
        else if (p[n] == ')' && depth > 0)
            depth--;
    }
    return n;
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_quoted_name(const char *p, size_t n)
{
    size_t i = 1;
    while (i < n && p[i] != '`')
        i += p[i] == '\\' ? 2 : 1;
    return p[0] == '`' && i + 1 == n;
}

/* May the item be an expression of the column, and not the column or another one? A name that is no plain word is taken
 * for any quoted one. */
static bool is_made_of(const char *p, size_t n, const struct column *c)
{
    size_t word = 0, len = c->name_len;
    struct buf quoted = BUF_INIT;
    http_quote_ident(&quoted, c->name, len);
    bool itself = (n == len && memcmp(p, c->name, n) == 0) || buf_is(&quoted, p, n);
    buf_free(&quoted);
    if (itself || is_quoted_name(p, n))
        return false;
    while (word < len && in_word(c->name[word]))
        word++;
    if (word < len)
        return memchr(p, '`', n) != NULL;
    for (const char *at = p, *end = p + n; (at = memmem(at, (size_t)(end - at), c->name, len)); at++)
        if ((at == p || !in_word(at[-1])) && (at + len == end || !in_word(at[len])))
            return true;
    return false;
}

void chread_keys_expressions(struct chread_keys *k, const char *table_key)
{
    for (const char *p = table_key; *p != '\0'; p += *p == ',') {
        size_t n = item_length(p), from = strspn(p, " ");
        for (size_t i = 0; i < k->n_columns && from < n; i++) {
            bool made = is_made_of(p + from, n - from, keys_column(k, i));
            k->expressed[i] = k->expressed[i] || made;
        }
        p += n;
    }
}

/* Put the key's columns in the table's order and encode again what was encoded in the other. */
static void reorder(struct chread_keys *k, const char *sorting_key)
{
    size_t n = k->n_columns, *from = xcalloc(n, sizeof *from), *old = xcalloc(n, sizeof *old);
    bool moved = false;
    memcpy(old, k->columns, n * sizeof *old);
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && place(&k->cols->at[old[from[at - 1]]], sorting_key) > place(&k->cols->at[old[i]], sorting_key);
             at--)
            from[at] = from[at - 1];
        from[at] = i;
        moved = moved || at != i;
    }
    if (moved) {
        struct buf now = BUF_INIT;
        const unsigned char **values = xcalloc(n, sizeof *values);
        size_t *lengths = xcalloc(n, sizeof *lengths);
        for (size_t i = 0; i < n; i++)
            k->columns[i] = old[from[i]];
        for (uint64_t e = 0; e < k->n; e++) {
            const unsigned char *p = (const unsigned char *)k->bytes.p + k->entries[e].at;
            size_t begin = now.len;
            for (size_t i = 0; i < n; p += lengths[i++]) {
                values[i] = p;
                lengths[i] = key_length(&k->cols->at[old[i]].type, p);
            }
            for (size_t i = 0; i < n; i++)
                buf_add(&now, values[from[i]], lengths[from[i]]);
            k->entries[e] = (struct key_entry){prefix_of((const unsigned char *)now.p + begin, now.len - begin), begin};
        }
        free(values);
        free(lengths);
        buf_free(&k->bytes);
        k->bytes = now;
    }
    free(from);
    free(old);
}

static size_t length_of(const struct chread_keys *k, uint64_t at)
{
    const unsigned char *p = (const unsigned char *)k->bytes.p + at;
    size_t n = 0;
    for (size_t i = 0; i < k->n_columns; i++)
        n += key_length(&k->cols->at[k->columns[i]].type, p + n);
    return n;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* No encoding is the beginning of another, so the shorter one's length decides. */
static int by_bytes(const void *a, const void *b, void *ctx)
{
    const struct key_entry *x = a, *y = b;
    const struct chread_keys *k = ctx;
    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    size_t nx = length_of(k, x->at), ny = length_of(k, y->at);
    return memcmp(k->bytes.p + x->at, k->bytes.p + y->at, nx < ny ? nx : ny);
}

void chread_keys_sort(struct chread_keys *k, const char *sorting_key)
{
    uint64_t kept = 0;
    if (k->n == 0)
        return;
    if (k->narrow) {
        qsort(k->numbers, k->n, sizeof *k->numbers, by_number);
        for (uint64_t i = 0; i < k->n; i++)
            if (i == 0 || k->numbers[i] != k->numbers[kept - 1])
                k->numbers[kept++] = k->numbers[i];
    } else {
        reorder(k, sorting_key);
        qsort_r(k->entries, k->n, sizeof *k->entries, by_bytes, k);
        for (uint64_t i = 0; i < k->n; i++)
            if (i == 0 || by_bytes(&k->entries[i], &k->entries[kept - 1], k) != 0)
                k->entries[kept++] = k->entries[i];
    }
    k->n = kept;
}

/* ---- one key ---- */

struct chread_keys keys_narrow(const struct chread_keys *k, const struct columns *own)
{
    struct chread_keys view = *k;
    view.cols = own;
    view.columns = xcalloc(k->n_columns, sizeof *view.columns);
    for (size_t i = 0; i < k->n_columns; i++)
        for (size_t c = 0; c < k->columns[i]; c++)
            view.columns[i] += k->cols->at[c].key;
    return view;
}

size_t keys_columns(const struct chread_keys *k)
{
    return k->n_columns;
}

const struct column *keys_column(const struct chread_keys *k, size_t i)
{
    return &k->cols->at[k->columns[i]];
}

bool keys_in_order(const struct chread_keys *k, size_t i)
{
    return key_is_ordered(&keys_column(k, i)->type) && !k->expressed[i];
}

size_t keys_column_index(const struct chread_keys *k, size_t i)
{
    return k->columns[i];
}

const unsigned char *keys_at(const struct chread_keys *k, uint64_t i, unsigned char room[8])
{
    if (!k->narrow)
        return (const unsigned char *)k->bytes.p + k->entries[i].at;
    size_t width = keys_column(k, 0)->type.bits / 8;
    for (size_t b = 0; b < width; b++)
        room[b] = (unsigned char)(k->numbers[i] >> (8 * (width - 1 - b)));
    return room;
}

/* Less than 0, 0 or more: number i beside the key in scratch, whose first bytes are prefix. */
static int beside(const struct chread_keys *k, uint64_t i, uint64_t prefix, const struct buf *scratch)
{
    if (k->narrow)
        return (k->numbers[i] > prefix) - (k->numbers[i] < prefix);
    if (k->entries[i].prefix != prefix)
        return k->entries[i].prefix < prefix ? -1 : 1;
    size_t n = length_of(k, k->entries[i].at);
    return memcmp(k->bytes.p + k->entries[i].at, scratch->p, n < scratch->len ? n : scratch->len);
}

bool keys_hold(const struct chread_keys *k, uint64_t from, uint64_t to, const struct key_bytes *values, uint64_t *hint,
               struct buf *scratch)
{
    buf_reset(scratch);
    for (size_t c = 0; c < k->n_columns; c++)
        key_encode_value(&keys_column(k, c)->type, values[c].p, values[c].n, scratch);
    uint64_t prefix = prefix_of((const unsigned char *)scratch->p, scratch->len);
    if (k->narrow)
        prefix >>= 64 - 8 * scratch->len;
    /* Rows come in runs of the table's order, so that most follow the one before. */
    for (uint64_t i = *hint; i < *hint + 2; i++)
        if (i >= from && i < to && beside(k, i, prefix, scratch) == 0) {
            *hint = i;
            return true;
        }
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        int order = beside(k, middle, prefix, scratch);
        if (order == 0) {
            *hint = middle;
            return true;
        }
        from = order < 0 ? middle + 1 : from;
        to = order < 0 ? to : middle;
    }
    return false;
}
