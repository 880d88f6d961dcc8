/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sink writes of a value beside the cell that is owed: both take the value exactly or neither does, and what
 * the audit decodes of the sink's bytes is the owed cell. The first byte says the column's type, the second the unit of
 * a time; the rest is the value, JSON or a bare text.
 */
#include "chread/chread.h"
#include "chwrite/chwrite.h"

#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"Int8",
                                    "UInt8",
                                    "Int16",
                                    "UInt32",
                                    "Int64",
                                    "UInt64",
                                    "Int128",
                                    "UInt256",
                                    "Int256",
                                    "Float32",
                                    "Float64",
                                    "Decimal(9, 2)",
                                    "Decimal(18, 18)",
                                    "Decimal(38, 10)",
                                    "Decimal(76, 40)",
                                    "Bool",
                                    "String",
                                    "Nullable(Int64)",
                                    "Nullable(Decimal(18, 4))",
                                    "LowCardinality(Nullable(String))",
                                    "Date",
                                    "Date32",
                                    "DateTime",
                                    "DateTime('America/Toronto')",
                                    "DateTime64(0)",
                                    "DateTime64(6)",
                                    "DateTime64(9)",
                                    "Nullable(DateTime64(3))",
                                    "Nullable(Date)"};
static const char *const units[] = {"s", "ms", "us", "ns", "ticks", "days", "iso"};

static int on_row(void *ctx, const char *cells, size_t n)
{
    buf_add(ctx, cells, n);
    return 0;
}

/* The row of the sink's bytes, as the audit reads them. */
static void decode(const struct columns *cols, const struct buf *sent, struct buf *row)
{
    struct err err = ERR_INIT;
    struct chread_decoder *d = chread_decoder_new(CHREAD_ROWBINARY, cols, 1 << 20, on_row, row);
    if (chread_decode(d, sent->p, sent->len, &err) != 0 || chread_decode_end(d, &err) != 0)
        abort();
    chread_decoder_free(d);
}

static void compare(const struct column *c, const struct json *v)
{
    struct columns cols = {.at = (struct column *)(uintptr_t)c, .n = 1};
    struct column zoneless = *c; /* a local time is read by the audit alone, in the column's zone */
    struct buf sent = BUF_INIT, owed = BUF_INIT, row = BUF_INIT;
    const char *why = "";
    bool fits = chwrite_value(c, v, &sent, &why) == 0;
    zoneless.type.zone[0] = '\0';
    buf_addc(&owed, '[');
    bool owes = cells_owed(&zoneless, v, &owed, &why) <= CELL_NEAREST;
    buf_addc(&owed, ']');
    if (fits)
        decode(&cols, &sent, &row);
    if (fits != owes || (fits && !buf_is(&row, owed.p, owed.len)))
        abort();
    buf_free(&sent);
    buf_free(&owed);
    buf_free(&row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return -1;
    const char *p = (const char *)data + 2, *type = types[data[0] % (sizeof types / sizeof *types)];
    size_t n = size - 2;
    struct arena a = ARENA_INIT;
    struct column c = {.name = (char *)(uintptr_t) "c", .name_len = 1};
    if (type_parse(type, strlen(type), &c.type, NULL) != 0 ||
        (type_is_time(&c.type) && type_from_parse(units[data[1] % (sizeof units / sizeof *units)], &c.from, NULL) != 0))
        abort();
    const struct json text = {.type = JSON_STRING, .str = p, .len = (unsigned)n & JSON_LEN_MAX},
                      *v = json_parse(p, n, &a, NULL);
    if (v || utf8_valid(p, n))
        compare(&c, v ? v : &text);
    type_free(&c.type);
    arena_free(&a);
    return 0;
}
