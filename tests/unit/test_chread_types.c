/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chread on types that hold others, and on keys of every type: bytes as the
 * server sends them, cut anywhere, and bytes that it never sends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chread/keys.h"

static void parse(const char *type, bool key, struct columns *cols)
{
    struct err err = ERR_INIT;
    *cols = (struct columns){.at = xcalloc(1, sizeof *cols->at), .n = 1};
    *cols->at = (struct column){.name = xstrdup("c"), .name_len = 1, .key = key};
    if (type_parse(type, strlen(type), &cols->at->type, &err) != 0)
        fail_msg("%s", err.text);
}

static int collect(void *ctx, const char *cells, size_t n)
{
    buf_add(ctx, cells, n);
    return 0;
}

static void add_hex(struct buf *out, const char *hex)
{
    for (; *hex != '\0'; hex += *hex == ' ' ? 1 : 2) {
        unsigned v;
        if (*hex == ' ')
            continue;
        assert_int_equal(sscanf(hex, "%2x", &v), 1);
        buf_addc(out, (char)(unsigned char)v);
    }
}

/* A block of so many rows of the column c, announced as of that type. */
static void add_block(struct buf *out, unsigned rows, const char *type, const char *hex)
{
    size_t n = strlen(type);
    buf_addc(out, 1);
    buf_addc(out, (char)rows);
    buf_adds(out, "\1c");
    if (n >= 128)
        buf_addc(out, (char)(unsigned char)(n % 128 | 128));
    buf_addc(out, (char)(n >= 128 ? n / 128 : n));
    buf_adds(out, type);
    add_hex(out, hex);
}

static void expect_rows(enum chread_format f, const struct columns *cols, const struct buf *in, const char *want)
{
    struct buf got = BUF_INIT;
    struct chread_decoder *d = chread_decoder_new(f, cols, 1 << 20, collect, &got);
    for (size_t piece = 1; piece <= in->len; piece++) {
        struct err err = ERR_INIT;
        buf_reset(&got);
        chread_decoder_reset(d);
        for (size_t at = 0; at < in->len; at += piece)
            if (chread_decode(d, in->p + at, in->len - at < piece ? in->len - at : piece, &err) != 0)
                fail_msg("%s in pieces of %zu: %s", cols->at->type.name, piece, err.text);
        assert_int_equal(chread_decode_end(d, &err), 0);
        if (strcmp(buf_str(&got), want) != 0)
            fail_msg("%s in pieces of %zu: %s", cols->at->type.name, piece, buf_str(&got));
    }
    chread_decoder_free(d);
    buf_free(&got);
}

/* Two rows, in Native as one block and as that block twice, and in RowBinary. */
static const struct {
    const char *type, *head, *native, *rowbinary, *first, *second;
} values[] = {
    {"Array(UInt8)", NULL, "0200000000000000 0300000000000000 01 02 03", "02 01 02 01 03", "[[\"1\",\"2\"]]",
     "[[\"3\"]]"},
    {"Array(Nullable(String))", NULL, "0000000000000000 0200000000000000 0100 00 0161", "00 02 01 00 01 61", "[[]]",
     "[[null,\"a\"]]"},
    {"Array(Array(UInt8))", NULL,
     "0200000000000000 0300000000000000 0100000000000000 0100000000000000 0300000000000000 07 08 09",
     "02 01 07 00 01 02 08 09", "[[[\"7\"],[]]]", "[[[\"8\",\"9\"]]]"},
    {"Tuple(Int8, String)", NULL, "01 02 0131 0132", "01 01 31 02 01 32", "[[\"1\",\"1\"]]", "[[\"2\",\"2\"]]"},
    {"Tuple()", NULL, "30 30", "", NULL, NULL},
    {"Array(Tuple())", NULL, "0100000000000000 0300000000000000 30 30 30", "01 02", "[[[]]]", "[[[],[]]]"},
    {"Map(String, UInt8)", NULL, "0300000000000000 0400000000000000 0162 0161 0162 0178 02 05 01 09",
     "03 0162 02 0161 05 0162 01 01 0178 09", "[[[\"a\",\"5\"],[\"b\",\"1\"],[\"b\",\"2\"]]]", "[[[\"x\",\"9\"]]]"},
    {"Nested(a String, b UInt8)", NULL, "0200000000000000 0200000000000000 0178 0179 01 02", "02 0178 01 0179 02 00",
     "[[[\"x\",\"y\"],[\"1\",\"2\"]]]", "[[[],[]]]"},
    {"Point", NULL, "000000000000f83f 0000000000000080 0000000000000440 000000000000f0ff",
     "000000000000f83f 0000000000000440 0000000000000080 000000000000f0ff",
     "[[\"3ff8000000000000\",\"4004000000000000\"]]", "[[\"8000000000000000\",\"fff0000000000000\"]]"},
    {"Nullable(UUID)", NULL, "01 00 00000000000000000000000000000000 7766554433221100ffeeddccbbaa9988",
     "01 00 7766554433221100ffeeddccbbaa9988", "[null]", "[\"00112233-4455-6677-8899-aabbccddeeff\"]"},
    {"Array(LowCardinality(Date))", "Array(Date)", "0100000000000000 0100000000000000 ffff", "01 ffff 00",
     "[[\"65535\"]]", "[[]]"},
    {"DateTime('Asia/Tokyo')", "DateTime", "01000000 ffffffff", "01000000 ffffffff", "[\"1\"]", "[\"4294967295\"]"},
    {"Array(DateTime('Asia/Tokyo'))", NULL, "0100000000000000 0100000000000000 01000000", "01 01000000 00", "[[\"1\"]]",
     "[[]]"},
    {"SimpleAggregateFunction(sum, UInt8)", NULL, "01 02", "01 02", "[\"1\"]", "[\"2\"]"},
    {"JSON", NULL, "0100000000000000 027b7d 077b2261223a317d", "027b7d 077b2261223a317d", "[\"{}\"]",
     "[\"{\\\"a\\\":1}\"]"},
    {"Nullable(JSON(a Int8))", NULL, "0100000000000000 01 00 027b7d 027b7d", "01 00 027b7d", "[null]", "[\"{}\"]"},
    {"Array(JSON)", NULL, "0100000000000000 0200000000000000 0200000000000000 027b7d 01ff", "02 027b7d 01ff 00",
     "[[\"{}\",{\"b64\":\"/w==\"}]]", "[[]]"},
    {"Tuple(JSON, Map(String, JSON), UInt8)", NULL,
     "0100000000000000 0100000000000000 027b7d 0131 0000000000000000 0100000000000000 016b 027b7d 01 02",
     "027b7d 00 01 0131 01 016b 027b7d 02", "[[\"{}\",[],\"1\"]]", "[[\"1\",[[\"k\",\"{}\"]],\"2\"]]"},
    {"Map(UInt8, Nested(a Array(Bool)))", NULL,
     "0100000000000000 0100000000000000 07 0200000000000000 0100000000000000 0300000000000000 01 00 01",
     "01 07 02 01 01 02 00 01 00", "[[[\"7\",[[[\"true\"],[\"false\",\"true\"]]]]]]", "[[]]"},
};

static void test_every_cut_of_what_holds_others(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct buf in = BUF_INIT, want = BUF_INIT;
        struct columns cols;
        parse(values[i].type, false, &cols);
        for (int blocks = 0; blocks < 2; blocks++) {
            add_block(&in, 2, values[i].head ? values[i].head : values[i].type, values[i].native);
            buf_adds(&want, values[i].first ? values[i].first : "[[]]");
            buf_adds(&want, values[i].second ? values[i].second : "[[]]");
            expect_rows(CHREAD_NATIVE, &cols, &in, buf_str(&want));
        }
        buf_reset(&in);
        buf_reset(&want);
        add_hex(&in, values[i].rowbinary);
        if (values[i].first)
            buf_printf(&want, "%s%s", values[i].first, values[i].second);
        expect_rows(CHREAD_ROWBINARY, &cols, &in, buf_str(&want));
        columns_free(&cols);
        buf_free(&in);
        buf_free(&want);
    }
}

static void expect_bad(enum chread_format f, const char *type, const struct buf *in, enum err_kind kind,
                       const char *text)
{
    struct columns cols;
    struct buf got = BUF_INIT;
    struct err err = ERR_INIT;
    parse(type, false, &cols);
    struct chread_decoder *d = chread_decoder_new(f, &cols, 4096, collect, &got);
    int rc = chread_decode(d, in->p, in->len, &err);
    if (rc == 0)
        rc = chread_decode_end(d, &err);
    if (rc == 0 || err.kind != kind || strstr(err.text, text) == NULL)
        fail_msg("%s gave %d, kind %d: %s", type, rc, (int)err.kind, err.text);
    chread_decoder_free(d);
    columns_free(&cols);
    buf_free(&got);
}

static void test_arrays_that_no_server_sends(void **state)
{
    static const struct {
        const char *type, *head, *hex;
        enum err_kind kind;
        const char *text;
    } blocks[] = {
        {"Array(UInt8)", "Array(UInt8)", "0200000000000000 0100000000000000 0102", ERR_TROUBLE,
         "ends before it begins"},
        {"Array(UInt8)", "Array(UInt8)", "0100000000000000 ffffffffffffffff 0102", ERR_BOUND, "larger than"},
        {"Array(Tuple())", "Array(Tuple())", "0100000000000000 ffffffffffffff7f 0102", ERR_BOUND, "larger than"},
        {"Array(FixedString(4000))", "Array(FixedString(4000))", "0100000000000000 0001000000000000", ERR_BOUND,
         "larger than"},
        {"Array(UInt8)", "Array(UInt8)", "0100000000000000 0200000000000000 01", ERR_TROUBLE,
         "in the middle of a block"},
        {"Array(Nullable(UInt8))", "Array(Nullable(UInt8))", "0100000000000000 0200000000000000 0203 0000", ERR_TROUBLE,
         "is NULL"},
        {"Array(UInt8)", "Array(Int8)", "", ERR_TROUBLE, "another column type"},
        {"Array(String)", "Array(LowCardinality(String))", "", ERR_TROUBLE, "another column type"},
        {"Enum8('a' = 1)", "Enum8('b' = 1)", "", ERR_TROUBLE, "another column type"},
        {"Tuple(a Int8)", "Tuple(b Int8)", "", ERR_TROUBLE, "another column type"},
        {"FixedString(4)", "FixedString(5)", "", ERR_TROUBLE, "another column type"},
        {"JSON", "JSON", "0000000000000000 027b7d 027b7d", ERR_TROUBLE, "does not come as its text"},
        {"Array(JSON)", "Array(JSON)", "0100000001000000", ERR_TROUBLE, "does not come as its text"},
        {"JSON", "JSON", "01000000", ERR_TROUBLE, "in the middle of a block"},
        {"JSON", "String", "", ERR_TROUBLE, "another column type"},
        {"JSON(a Int8)", "JSON(a Int16)", "", ERR_TROUBLE, "another column type"},
    };
    static const struct {
        const char *type, *hex;
        enum err_kind kind;
        const char *text;
    } rows[] = {
        {"Array(Tuple())", "ffffffffffffffff7f", ERR_BOUND, "longer than a row may be"},
        {"Array(Nullable(Int8))", "ff7f 02", ERR_TROUBLE, "neither"},
        {"Array(UInt8)", "03 01 02", ERR_TROUBLE, "in the middle of a row"},
        {"Map(String, Int8)", "01 ffffffffffffffffff01", ERR_BOUND, "longer than a row may be"},
        {"Array(FixedString(5000))", "01", ERR_BOUND, "longer than a row may be"},
        {"Nested(a Int8)", "ffffffffffffffffff02", ERR_TROUBLE, "past 64 bits"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct buf in = BUF_INIT;
        add_block(&in, 2, blocks[i].head, blocks[i].hex);
        expect_bad(CHREAD_NATIVE, blocks[i].type, &in, blocks[i].kind, blocks[i].text);
        buf_free(&in);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf in = BUF_INIT;
        add_hex(&in, rows[i].hex);
        expect_bad(CHREAD_ROWBINARY, rows[i].type, &in, rows[i].kind, rows[i].text);
        buf_free(&in);
    }
}

/* Each key as the server's own bytes, and the order of the values. */
static void test_keys_of_every_type(void **state)
{
    static const struct {
        const char *type, *small, *great, *want;
    } cases[] = {
        {"UUID", "00112233-4455-6677-8899-aabbccddeeff", "f0000000-0000-0000-0000-000000000001",
         "reinterpret(unhex('7766554433221100ffeeddccbbaa9988'),'Array(UUID)')[1],"
         "reinterpret(unhex('00000000000000f00100000000000000'),'Array(UUID)')[1]"},
        {"FixedString(2)", "a\\u0000", "ab",
         "reinterpret(unhex('6100'),'Array(FixedString(2))')[1],reinterpret(unhex('6162'),'Array(FixedString(2))')[1]"},
        {"Enum8('it\\'s' = -5, 'b' = 3)", "it's", "b", "'it\\'s','b'"},
        {"Enum16('x' = -300, 'b' = 300)", "x", "b", "'x','b'"},
        {"IPv4", "1.2.3.4", "10.0.0.1",
         "reinterpret(unhex('04030201'),'Array(IPv4)')[1],reinterpret(unhex('0100000a'),'Array(IPv4)')[1]"},
        {"IPv6", "::ffff:1.2.3.4", "2001:db8::1",
         "reinterpret(unhex('00000000000000000000ffff01020304'),'Array(IPv6)')[1],"
         "reinterpret(unhex('20010db8000000000000000000000001'),'Array(IPv6)')[1]"},
        {"DateTime64(3, 'UTC')", "-1", "1",
         "reinterpret(unhex('ffffffffffffffff'),'Array(DateTime64(3, \\'UTC\\'))')[1],"
         "reinterpret(unhex('0100000000000000'),'Array(DateTime64(3, \\'UTC\\'))')[1]"},
        {"Date32", "-25567", "120529",
         "reinterpret(unhex('219cffff'),'Array(Date32)')[1],reinterpret(unhex('d1d60100'),'Array(Date32)')[1]"},
        {"Decimal(9, 2)", "-1", "0",
         "reinterpret(unhex('ffffffff'),'Array(Decimal(9, 2))')[1],reinterpret(unhex('00000000'),'Array(Decimal(9, 2))')[1]"},
        {"Bool", "false", "true",
         "reinterpret(unhex('00'),'Array(Bool)')[1],reinterpret(unhex('01'),'Array(Bool)')[1]"},
        {"Time64(3)", "-45296123", "0",
         "reinterpret(unhex('05d64cfdffffffff'),'Array(Time64(3))')[1],reinterpret(unhex('0000000000000000'),'Array(Time64(3))')[1]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct columns cols;
        struct buf row = BUF_INIT, sql = BUF_INIT, want = BUF_INIT;
        struct err err = ERR_INIT;
        parse(cases[i].type, true, &cols);
        struct chread_keys *k = chread_keys_new(&cols);
        for (int n = 0; n < 3; n++) { /* the great one first, and the small one twice */
            uint32_t end;
            size_t len;
            const char *why;
            buf_reset(&row);
            buf_printf(&row, "[\"%s\"]", n == 0 ? cases[i].great : cases[i].small);
            assert_true(cells_scan_row(row.p, row.len, 1, &len, &end, 1, &why));
            if (chread_keys_add(k, row.p, &end, &err) != 1)
                fail_msg("%s: %s", cases[i].type, err.text);
        }
        chread_keys_sort(k, "c");
        assert_int_equal(keys_literals(k, 0, 2, &(struct chread_limits){9, 4096, 100}, &sql), 2);
        buf_printf(&want, "`c` IN (%s)", cases[i].want);
        assert_string_equal(buf_str(&sql), buf_str(&want));
        /* The server's own bytes of a key are looked up as it, and are its cell. */
        for (uint64_t n = 0; n < 2; n++) {
            unsigned char room[8];
            const struct type *t = &cols.at[0].type;
            struct buf bytes = BUF_INIT, cell = BUF_INIT, scratch = BUF_INIT;
            uint64_t hint = 0;
            key_value(t, keys_at(k, n, room), &bytes);
            assert_true(
                keys_hold(k, n, n + 1, &(struct key_bytes){(unsigned char *)bytes.p, bytes.len}, &hint, &scratch));
            assert_false(
                keys_hold(k, 1 - n, 2 - n, &(struct key_bytes){(unsigned char *)bytes.p, bytes.len}, &hint, &scratch));
            cells_put_of(t)(&cell, t, (unsigned char *)bytes.p, bytes.len);
            buf_reset(&row);
            buf_printf(&row, "\"%s\"", n == 0 ? cases[i].small : cases[i].great);
            assert_string_equal(buf_str(&cell), buf_str(&row));
            buf_free(&bytes);
            buf_free(&cell);
            buf_free(&scratch);
        }
        chread_keys_free(k);
        columns_free(&cols);
        buf_free(&row);
        buf_free(&sql);
        buf_free(&want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut_of_what_holds_others),
        cmocka_unit_test(test_arrays_that_no_server_sends),
        cmocka_unit_test(test_keys_of_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
