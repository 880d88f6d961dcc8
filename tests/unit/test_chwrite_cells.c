/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite beside cells: two conversions written apart must agree on what fits a
 * column, and the bytes that the sink sends must be the cell that is owed. This
 * is the one place where both are linked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cells/cells.h"
#include "chwrite/chwrite.h"
#include "chwrite_values.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t compared;

/* The cell of what the sink would send, from its RowBinary. */
static void cell_of_binary(const struct type *t, const struct buf *b, struct buf *out)
{
    const unsigned char *p = (const unsigned char *)b->p, *end = p + b->len;

    if (t->nullable && *p++ == 1) {
        cells_put_null(out);
    } else if (t->kind == TYPE_STRING) {
        size_t n = 0;
        unsigned shift = 0;
        do {
            n |= (size_t)(*p & 0x7f) << shift;
            shift += 7;
        } while (*p++ & 0x80);
        assert_int_equal(n, (size_t)(end - p));
        cells_put_of(t)(out, t, p, n);
    } else {
        cells_put_of(t)(out, t, p, (size_t)(end - p));
    }
}

static void compare(const char *type, const char *from, const char *value)
{
    struct column c = {.name = (char *)(uintptr_t) "c", .name_len = 1}, zoneless;
    struct arena a = ARENA_INIT;
    struct buf sent = BUF_INIT, owed = BUF_INIT, stored = BUF_INIT;
    struct err err = ERR_INIT;
    struct json_error e;
    struct json *v = json_parse(value, strlen(value), &a, &e);
    const char *why_sent = "", *why_owed = "";
    bool fits, owes;

    assert_non_null(v);
    assert_int_equal(type_parse(type, strlen(type), &c.type, &err), 0);
    assert_true(from == NULL || type_from_parse(from, &c.from, &err) == 0);
    fits = chwrite_value(&c, v, &sent, &why_sent) == 0;
    zoneless = c; /* a local time is read by the audit alone, in the column's zone */
    zoneless.type.zone[0] = '\0';
    owes = cells_owed(&zoneless, v, &owed, &why_owed) <= CELL_NEAREST;
    if (fits) {
        cell_of_binary(&c.type, &sent, &stored);
    }
    if (fits != owes || (fits && (owed.len != stored.len || memcmp(owed.p, stored.p, owed.len) != 0))) {
        fail_msg("%s from %s <- %s: sent %s (%s), owed %s (%s)", type, from == NULL ? "-" : from, value,
                 fits ? buf_str(&stored) : "refused", fits ? "" : why_sent, buf_str(&owed), owes ? "" : why_owed);
    }
    compared++;
    buf_free(&sent);
    buf_free(&owed);
    buf_free(&stored);
    type_free(&c.type);
    arena_free(&a);
}

static void the_table_of_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(chwrite_values); i++) {
        compare(chwrite_values[i].type, chwrite_values[i].from, chwrite_values[i].value);
    }
}

static const char *const numeric[] = {
    "Int8",
    "UInt8",
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Int64",
    "UInt64",
    "Int128",
    "UInt128",
    "Int256",
    "UInt256",
    "Float32",
    "Float64",
    "Decimal(9, 2)",
    "Decimal(18, 18)",
    "Decimal(38, 10)",
    "Decimal(76, 0)",
    "Decimal(76, 40)",
    "Bool",
    "String",
    "Nullable(Int64)",
    "Nullable(Decimal(18, 4))",
    "LowCardinality(Nullable(String))",
};
static const char *const times[] = {
    "Date",          "Date32",        "DateTime",      "DateTime('America/Toronto')", "DateTime64(0)",
    "DateTime64(3)", "DateTime64(6)", "DateTime64(9)", "Nullable(DateTime64(6))",     "Nullable(Date)"};
static const char *const units[] = {"s", "ms", "us", "ns", "ticks", "days", "iso"};

/* Values that some of the types hold and others do not; each also as text. */
static const char *const plain[] = {
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "1.5",
    "0.1",
    "127",
    "128",
    "-129",
    "255",
    "256",
    "32768",
    "65535",
    "65536",
    "86400",
    "86399",
    "86400000",
    "86400000000",
    "86400000000000",
    "-86400",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1e3",
    "1E+3",
    "1.0e-3",
    "1e-19",
    "1e-400",
    "1e400",
    "1e38",
    "3.4028235677973366e38",
    "1e-45",
    "7e-46",
    "5e-324",
    "2e-324",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "0e99999999999999999999",
    "123456789012345678901",
    "0.5",
    "0.25",
    "0.0000115740740740740",
    "1758000000",
    "1758000000123",
    "1758000000123456",
    "1758000000123456789",
    "0.000000001",
    "-0.001",
    "99999999.99",
    "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
    "0.123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890",
    "16777217",
    "16777219",
    "1.00000005960464477626",
    "79228162514264337593543950336",
    "1000000000000000000000000000000",
    "-25567",
    "-25568",
    "120529",
    "120530",
};
static const char *const texts[] = {
    "\"\"",
    "\"x\"",
    "\" 1\"",
    "\"1 \"",
    "\"+7\"",
    "\"-+7\"",
    "\"007\"",
    "\".5\"",
    "\"5.\"",
    "\"1e\"",
    "\"0x10\"",
    "\"1_0\"",
    "\"nan\"",
    "\"inf\"",
    "\"-inf\"",
    "\"NaN\"",
    "\"+inf\"",
    "\"Infinity\"",
    "\"true\"",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "{\"b64\":\"AA==\"}",
    "\"\\u0000\"",
    "\"1\\u0000\"",
    "\"\\u00e9\\ud83d\\ude00\"",
    "\"1970-01-01\"",
    "\"1969-12-31\"",
    "\"2149-06-06\"",
    "\"2149-06-07\"",
    "\"1900-01-01\"",
    "\"1899-12-31\"",
    "\"2299-12-31\"",
    "\"2300-01-01\"",
    "\"2026-02-29\"",
    "\"2024-02-29\"",
    "\"2026-1-1\"",
    "\"0000-01-01\"",
    "\"9999-12-31\"",
    "\"2026-01-02T03:04:05Z\"",
    "\"2026-01-02t03:04:05z\"",
    "\"2026-01-02 03:04:05Z\"",
    "\"2026-01-02T03:04Z\"",
    "\"2026-01-02T03Z\"",
    "\"2026-01-02T03:04:05\"",
    "\"2026-01-02T03:04:05.5Z\"",
    "\"2026-01-02T03:04:05.123456789Z\"",
    "\"2026-01-02T03:04:05.1234567890Z\"",
    "\"2026-01-02T03:04:05.1234567891Z\"",
    "\"2026-01-02T03:04:05,5Z\"",
    "\"2026-01-02T03:04:05.Z\"",
    "\"2026-01-02T03:04:05+01:00\"",
    "\"2026-01-02T00:00:00-00:00\"",
    "\"2026-01-02T03:04:05+0100\"",
    "\"2026-01-02T03:04:05+01\"",
    "\"2026-01-02T03:04:05+24:00\"",
    "\"2026-01-02T03:04:05+23:59\"",
    "\"2026-01-02T24:00:00Z\"",
    "\"2026-01-02T23:59:60Z\"",
    "\"2026-01-02T00:00:00Z\"",
    "\"2026-01-02T00:00:00.000Z\"",
    "\"2026-01-02T02:00:00+02:00\"",
    "\"9999-12-31T23:59:59.999999Z\"",
    "\"0000-01-01T00:00:00Z\"",
    "\"2262-04-11T23:47:16.854775807Z\"",
    "\"2262-04-11T23:47:16.854775808Z\"",
    "\"1677-09-21T00:12:43.145224192Z\"",
    "\"1677-09-21T00:12:43.145224191Z\"",
    "\"2106-02-07T06:28:15Z\"",
    "\"2106-02-07T06:28:16Z\"",
    "\"1969-12-31T23:59:59Z\"",
    "\"2026-01-02T03:04:05Zx\"",
    "\"2026-01-02T03:04:05 Z\"",
    "\"-001-01-01T00:00:00Z\"",
    "\"12026-01-01T00:00:00Z\"",
};

static void against(const char *type, const char *from)
{
    for (size_t i = 0; i < COUNT(plain); i++) {
        char text[200];
        snprintf(text, sizeof text, "\"%s\"", plain[i]);
        compare(type, from, plain[i]);
        compare(type, from, text);
    }
    for (size_t i = 0; i < COUNT(texts); i++) {
        compare(type, from, texts[i]);
    }
}

static void every_type_with_every_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(numeric); i++) {
        against(numeric[i], NULL);
    }
    for (size_t i = 0; i < COUNT(times); i++) {
        for (size_t u = 0; u < COUNT(units); u++) {
            against(times[i], units[u]);
        }
    }
    assert_true(compared > 15000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_of_values),
                                       cmocka_unit_test(every_type_with_every_value)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
