/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz the cells. A row that is accepted is the one spelling of its cells; an
 * owed value always gives a canonical cell, the same one from its own text.
 */
#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {
    "Int8",
    "UInt64",
    "Int128",
    "UInt256",
    "Float32",
    "Float64",
    "Decimal(10, 3)",
    "Decimal(76, 20)",
    "Date",
    "Date32",
    "DateTime",
    "DateTime64(3)",
    "DateTime64(9)",
    "Bool",
    "String",
    "Nullable(Int64)",
    "Nullable(String)",
    "Array(Int8)",
    "UUID",
    "FixedString(3)",
    "Enum8('a' = 1, '' = -2)",
    "IPv4",
    "IPv6",
    "Time",
    "Time64(3)",
    "BFloat16",
    "Array(Nullable(String))",
    "Tuple(a Int8, b Array(UUID))",
    "Tuple()",
    "Map(String, Map(UInt8, DateTime64(3)))",
    "Nested(a Int8, b Array(String))",
    "JSON",
    "Array(Nullable(JSON(a Int8)))",
};
#define N_TYPES (sizeof types / sizeof types[0])

static void insist(bool ok)
{
    if (!ok) {
        abort();
    }
}

static void scan_row(const char *p, size_t n, size_t want)
{
    uint32_t ends[16];
    size_t len, start = 1;
    const char *why = NULL;
    struct buf again = BUF_INIT, bytes = BUF_INIT;

    if (!cells_scan_row(p, n, want, &len, ends, 16, &why)) {
        insist(why != NULL);
        return;
    }
    insist(len <= n && json_valid(p, len, NULL));
    buf_addc(&again, '[');
    for (size_t i = 0; i < want; i++) {
        size_t cell = ends[i] - start;
        if (i > 0) {
            buf_addc(&again, ',');
        }
        buf_reset(&bytes);
        if (cells_text(p + start, cell, &bytes)) {
            cells_put_bytes(&again, bytes.p, bytes.len);
        } else if (p[start] == '[') { /* of what stands inside fuzz targets of decoders see to it */
            buf_add(&again, p + start, cell);
        } else if (p[start] == '{') {
            struct arena a = ARENA_INIT;
            struct json *v = json_parse(p + start, cell, &a, NULL);
            insist(v != NULL);
            json_canonical(&again, v);
            arena_free(&a);
        } else {
            cells_put_null(&again);
        }
        start = ends[i] + 1;
    }
    buf_addc(&again, ']');
    insist(buf_is(&again, p, len));
    buf_free(&again);
    buf_free(&bytes);
}

static void owed_value(const char *p, size_t n, const struct column *c)
{
    struct arena a = ARENA_INIT;
    struct json *v = json_parse(p, n, &a, NULL);
    struct json text = {.type = JSON_STRING, .str = p, .len = (uint32_t)n};
    struct buf out = BUF_INIT, human = BUF_INIT, twin = BUF_INIT;
    const char *why = NULL;

    if (v == NULL && utf8_valid(p, n)) {
        v = &text;
    }
    if (v != NULL) {
        enum cells_result r = cells_owed(c, v, &out, &why);
        bool fits = r == CELL_FIT || r == CELL_NEAREST;
        insist(fits == (why == NULL));
        insist(cells_is_unfit(out.p, out.len) == !fits);
        insist(cells_is_canonical(&c->type, out.p, out.len, !fits, &why));
        cells_human(&c->type, out.p, out.len, &human);
        insist(utf8_valid(human.p, human.len));
        if (v->type == JSON_NUMBER && r != CELL_WRONG) {
            text.str = v->str; /* a number and its text are one value */
            text.len = v->len;
            insist(cells_owed(c, &text, &twin, &why) == r && buf_is(&twin, out.p, out.len));
        }
    }
    buf_free(&out);
    buf_free(&human);
    buf_free(&twin);
    arena_free(&a);
}

static void destination_value(const unsigned char *p, size_t n, const struct type *t)
{
    struct buf out = BUF_INIT;
    const char *why;

    if (!cells_put_of(t) || n < t->bits / 8) {
        return;
    }
    cells_put_of(t)(&out, t, p, t->bits > 0 ? t->bits / 8 : n);
    /* a server may hold a Decimal or Date32 past its range: its form is canonical all the same */
    insist(cells_is_canonical(t, out.p, out.len, false, &why) || strstr(why, "range") != NULL);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct column c = {.name = NULL};
    struct err err = ERR_INIT;
    const char *type;
    char *p;

    if (size < 2) {
        return 0;
    }
    type = types[data[0] % N_TYPES];
    insist(type_parse(type, strlen(type), &c.type, &err) == 0);
    if (type_is_time(&c.type))
        c.from = (enum type_from)(data[1] % FROM_JSON_TEXT);
    else if (type_holds_json(&c.type))
        c.from = FROM_JSON_TEXT;
    size -= 2;
    p = xmalloc(size + (size == 0)); /* a block of its own, so that a read past its end is seen */
    memcpy(p, data + 2, size);
    scan_row(p, size, data[1] % 5);
    owed_value(p, size, &c);
    destination_value((const unsigned char *)p, size, &c.type);
    free(p);
    type_free(&c.type);
    return 0;
}
