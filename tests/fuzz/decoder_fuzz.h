/* SPDX-License-Identifier: Apache-2.0 */
/* What both decoders' fuzz targets do with an input. */
#ifndef OWED_DECODER_FUZZ_H
#define OWED_DECODER_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chread/keys.h"

static const char *const fuzz_columns[] = {
    "[{\"name\":\"a\",\"type\":\"UInt8\",\"key\":true}]",
    "[{\"name\":\"a\",\"type\":\"String\",\"key\":true}]",
    "[{\"name\":\"a\",\"type\":\"Nullable(String)\"},{\"name\":\"b\",\"type\":\"Int256\"}]",
    ("[{\"name\":\"a\",\"type\":\"Bool\"},{\"name\":\"b\",\"type\":\"Nullable(Decimal(38, 9))\"},{\"name\":\"c\",\"type\":\"Float32\"},"
     "{\"name\":\"d\",\"type\":\"DateTime64(6)\",\"from\":\"ms\"},{\"name\":\"e\",\"type\":\"Date32\",\"from\":\"days\"}]"),
    "[{\"name\":\"a\",\"type\":\"Array(Nullable(String))\"}]",
    "[{\"name\":\"a\",\"type\":\"Map(UInt8, Array(String))\"},{\"name\":\"b\",\"type\":\"Tuple(Int8, Array(Tuple()))\"}]",
    "[{\"name\":\"a\",\"type\":\"Nested(a UInt8, b Map(String, UInt8))\"},{\"name\":\"b\",\"type\":\"Enum8('a' = 1)\",\"key\":true}]",
    "[{\"name\":\"a\",\"type\":\"Array(Array(Array(UInt8)))\"},{\"name\":\"b\",\"type\":\"FixedString(3)\",\"key\":true}]",
    "[{\"name\":\"a\",\"type\":\"Tuple(UUID, IPv6, BFloat16, Nullable(IPv4))\"}]",
    "[{\"name\":\"a\",\"type\":\"Nullable(JSON(a Int8))\",\"from\":\"json-text\"},{\"name\":\"b\",\"type\":\"Map(String, JSON)\",\"from\":\"json-text\"}]",
};

#define FUZZ_ROWS 64

struct fuzz_rows {
    const struct columns *cols;
    struct buf text;
    size_t at[FUZZ_ROWS], n; /* where the first rows end in it */
};

static int fuzz_row(void *ctx, const char *cells, size_t n)
{
    struct fuzz_rows *r = ctx;
    uint32_t ends[8];
    size_t len;
    const char *why;
    if (!cells_scan_row(cells, n, r->cols->n, &len, ends, 8, &why) || len != n)
        abort();
    size_t at = 1;
    for (size_t i = 0; i < r->cols->n; i++) {
        /* A date past the type's range is the server's word, and only a range. */
        if (!cells_is_canonical(&r->cols->at[i].type, cells + at, ends[i] - at, false, &why) && !strstr(why, "range"))
            abort();
        at = ends[i] + 1U;
    }
    buf_add(&r->text, cells, n);
    if (r->n < FUZZ_ROWS)
        r->at[r->n] = r->text.len;
    r->n++;
    return 0;
}

static int fuzz_add(struct chread_keys *k, const struct columns *cols, const char *row, size_t n)
{
    uint32_t ends[8];
    size_t len;
    const char *why;
    struct err err = ERR_INIT;
    if (!cells_scan_row(row, n, cols->n, &len, ends, 8, &why))
        abort();
    return chread_keys_add(k, row, ends, &err);
}

/* All rows in text, 1 where the whole was a result. */
static int fuzz_decode(struct chread_decoder *d, struct fuzz_rows *r, const uint8_t *p, size_t n, size_t piece)
{
    struct err err = ERR_INIT;
    buf_reset(&r->text);
    r->n = 0;
    chread_decoder_reset(d);
    for (size_t at = 0; at < n; at += piece)
        if (chread_decode(d, (const char *)p + at, n - at < piece ? n - at : piece, &err) != 0)
            return 0;
    return chread_decode_end(d, &err) == 0;
}

/* Of a result of few rows every other row's key is asked for: a range gives the rows with the cells of such a key, and
 * no other. */
static void fuzz_range(enum chread_format f, const struct columns *cols, struct fuzz_rows *whole, const uint8_t *p,
                       size_t n, size_t piece)
{
    struct fuzz_rows kept = {.cols = cols};
    struct buf want = BUF_INIT;
    struct chread_keys *k = chread_keys_new(cols);
    for (size_t i = 0; i < whole->n; i += 2)
        fuzz_add(k, cols, whole->text.p + (i ? whole->at[i - 1] : 0), whole->at[i] - (i ? whole->at[i - 1] : 0));
    chread_keys_sort(k, "");
    for (size_t i = 0; i < whole->n; i++) {
        struct chread_keys *with = chread_keys_new(cols);
        const char *row = whole->text.p + (i ? whole->at[i - 1] : 0);
        size_t len = whole->at[i] - (i ? whole->at[i - 1] : 0);
        bool is_key = fuzz_add(with, cols, row, len) == 1;
        for (size_t e = 0; e < whole->n && is_key; e += 2)
            fuzz_add(with, cols, whole->text.p + (e ? whole->at[e - 1] : 0), whole->at[e] - (e ? whole->at[e - 1] : 0));
        chread_keys_sort(with, "");
        if (is_key && chread_keys_count(with) == chread_keys_count(k)) /* it added none */
            buf_add(&want, row, len);
        chread_keys_free(with);
    }
    struct chread_decoder *d = chread_decoder_new(f, cols, 1 << 16, fuzz_row, &kept);
    chread_decoder_ask(d, &(struct chread_asked){k, 0, chread_keys_count(k), true, FUZZ_ROWS, FUZZ_ROWS});
    if (fuzz_decode(d, &kept, p, n, piece) != 1 || !buf_is(&kept.text, want.p, want.len) ||
        kept.n + chread_passed_over(d) != whole->n)
        abort();
    chread_decoder_free(d);
    chread_keys_free(k);
    buf_free(&kept.text);
    buf_free(&want);
}

static int decoder_fuzz(enum chread_format f, const uint8_t *data, size_t size)
{
    if (size < 2)
        return -1;
    struct arena arena = ARENA_INIT;
    struct columns cols = COLUMNS_INIT;
    struct err err = ERR_INIT;
    const char *json = fuzz_columns[data[0] % (sizeof fuzz_columns / sizeof *fuzz_columns)];
    if (columns_parse(json_parse_named(json, strlen(json), &arena, "columns", &err), false, &cols, &err) != 0)
        abort();
    struct fuzz_rows whole = {.cols = &cols}, pieces = {.cols = &cols};
    struct chread_decoder *d = chread_decoder_new(f, &cols, 1 << 16, fuzz_row, &whole);
    struct chread_decoder *e = chread_decoder_new(f, &cols, 1 << 16, fuzz_row, &pieces);
    int a = fuzz_decode(d, &whole, data + 2, size - 2, size);
    int b = fuzz_decode(e, &pieces, data + 2, size - 2, data[1] % 64 + 1U);
    if (a != b || !buf_is(&pieces.text, whole.text.p, whole.text.len))
        abort();
    if (a == 1 && whole.n > 0 && whole.n <= FUZZ_ROWS && strstr(json, "key"))
        fuzz_range(f, &cols, &whole, data + 2, size - 2, data[1] % 64 + 1U);
    chread_decoder_free(d);
    chread_decoder_free(e);
    buf_free(&whole.text);
    buf_free(&pieces.text);
    columns_free(&cols);
    arena_free(&arena);
    return 0;
}

#endif
