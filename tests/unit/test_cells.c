/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells from decoded destination values, and cells read back: the extent of a
 * row, the one spelling, ranges by type, bytes, and text for a person.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cells/marks.h"
#include "cells_help.h"

/* ---- from decoded destination values ---- */

static void expect_put(struct buf *out, const char *want)
{
    assert_string_equal(buf_str(out), want);
    buf_reset(out);
}

/* Little-endian bytes of a 64-bit pattern. */
static void store(unsigned char *le, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        le[i] = (unsigned char)(v >> 8 * i);
    }
}

static void test_integers_of_every_width_print_as_printf_prints_them(void **state)
{
    struct buf out = BUF_INIT;

    (void)state;
    for (int i = 0; i < 50000; i++) {
        uint64_t v = next_random() >> (next_random() % 64);
        size_t bytes = (size_t)1 << (next_random() % 4);
        unsigned char le[8];
        char want[40];
        int64_t s;

        v &= bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
        if (next_random() % 4 == 0) { /* about a power of ten */
            v = 1;
            for (uint64_t k = next_random() % 20; k > 0; k--) {
                v *= 10;
            }
            v -= next_random() % 2;
            bytes = 8;
        }
        store(le, v, 8);
        cells_put_int(&out, le, bytes, false);
        snprintf(want, sizeof want, "\"%" PRIu64 "\"", v);
        expect_put(&out, want);
        s = bytes == 1 ? (int8_t)v : bytes == 2 ? (int16_t)v : bytes == 4 ? (int32_t)v : (int64_t)v;
        cells_put_int(&out, le, bytes, true);
        snprintf(want, sizeof want, "\"%" PRId64 "\"", s);
        expect_put(&out, want);
    }
    cells_put_i64(&out, INT64_MIN);
    expect_put(&out, "\"-9223372036854775808\"");
    cells_put_u64(&out, UINT64_MAX);
    expect_put(&out, "\"18446744073709551615\"");
    buf_free(&out);
}

/* Long division by ten, byte by byte: slow and plain. */
static void slow_decimal(const unsigned char *le, size_t bytes, bool is_signed, char *want)
{
    unsigned char v[32];
    char digits[90];
    size_t n = 0;
    bool neg = is_signed && (le[bytes - 1] & 0x80) != 0, more = true;

    memcpy(v, le, bytes);
    if (neg) {
        unsigned carry = 1;
        for (size_t i = 0; i < bytes; i++) {
            carry += (unsigned char)~v[i];
            v[i] = (unsigned char)carry;
            carry >>= 8;
        }
    }
    while (more) {
        unsigned rest = 0;
        more = false;
        for (size_t i = bytes; i-- > 0;) {
            rest = rest << 8 | v[i];
            v[i] = (unsigned char)(rest / 10);
            rest %= 10;
            more |= v[i] != 0;
        }
        digits[n++] = (char)('0' + rest);
    }
    *want++ = '"';
    if (neg) {
        *want++ = '-';
    }
    while (n > 0) {
        *want++ = digits[--n];
    }
    memcpy(want, "\"", 2);
}

static void test_wide_integers_agree_with_long_division(void **state)
{
    struct buf out = BUF_INIT;
    char want[100];

    (void)state;
    for (int i = 0; i < 30000; i++) {
        unsigned char le[32] = {0};
        size_t bytes = next_random() % 2 ? 16 : 32;
        size_t filled = next_random() % (bytes + 1);
        bool is_signed = next_random() % 2;
        unsigned char pad = next_random() % 3 == 0 ? 0xff : 0;

        for (size_t k = 0; k < bytes; k++) {
            le[k] = k < filled ? (unsigned char)next_random() : pad;
        }
        if (i % 8 == 0) { /* minus powers of two: the carry of a negation goes through whole limbs */
            memset(le, 0, sizeof le);
            memset(le + filled, 0xff, sizeof le - filled);
        }
        slow_decimal(le, bytes, is_signed, want);
        cells_put_int(&out, le, bytes, is_signed);
        expect_put(&out, want);
    }
    for (unsigned ten = 0; ten < 39; ten++) { /* where a group of 19 digits is zeros or nines */
        unsigned __int128 v = 1;
        unsigned char le[16];
        for (unsigned k = 0; k < ten; k++) {
            v *= 10;
        }
        for (int less = 0; less < 2; less++) {
            unsigned __int128 w = v - (unsigned)less;
            store(le, (uint64_t)w, 8);
            store(le + 8, (uint64_t)(w >> 64), 8);
            slow_decimal(le, 16, false, want);
            cells_put_int(&out, le, 16, false);
            expect_put(&out, want);
        }
    }
    buf_free(&out);
}

static void test_floats_are_their_bits_and_every_nan_is_one(void **state)
{
    struct buf out = BUF_INIT;

    (void)state;
    cells_put_f32(&out, 0x80000000u);
    expect_put(&out, "\"80000000\"");
    cells_put_f32(&out, 0x7f800000u);
    expect_put(&out, "\"7f800000\"");
    cells_put_f32(&out, 0x7f800001u);
    expect_put(&out, "\"nan\"");
    cells_put_f32(&out, 0xffc00000u);
    expect_put(&out, "\"nan\"");
    cells_put_f64(&out, 0x3fb999999999999au);
    expect_put(&out, "\"3fb999999999999a\"");
    cells_put_f64(&out, 0xfff0000000000000u);
    expect_put(&out, "\"fff0000000000000\"");
    cells_put_f64(&out, 0xfff0000000000001u);
    expect_put(&out, "\"nan\"");
    cells_put_f64(&out, 0x7ff8000000000000u);
    expect_put(&out, "\"nan\"");
    cells_put_f64(&out, 1);
    expect_put(&out, "\"0000000000000001\"");
    buf_free(&out);
}

static void test_fixed_width_values_follow_the_columns_type(void **state)
{
    static const struct {
        const char *type, *hex, *cell;
    } cases[] = {
        {"Int8", "ff", "\"-1\""},
        {"UInt8", "ff", "\"255\""},
        {"Int16", "0080", "\"-32768\""},
        {"UInt32", "ffffffff", "\"4294967295\""},
        {"Int128", "ffffffffffffffffffffffffffffffff", "\"-1\""},
        {"UInt256", "0000000000000000000000000000000000000000000000000000000000000080",
         "\"57896044618658097711785492504343953926634992332820282019728792003956564819968\""},
        {"Decimal(9, 2)", "90010000", "\"400\""},
        {"Decimal(18, 4)", "f0d8ffffffffffff", "\"-10000\""},
        {"Decimal(38, 0)", "351c1469e0f4100b0600000000000000", NULL},
        {"Date", "ffff", "\"65535\""},
        {"Date32", "219cffff", "\"-25567\""},
        {"DateTime", "ffffffff", "\"4294967295\""},
        {"DateTime64(3)", "ffffffffffffffff", "\"-1\""},
        {"Bool", "01", "\"true\""},
        {"Bool", "00", "\"false\""},
        {"Float32", "00000080", "\"80000000\""},
        {"BFloat16", "c03f", "\"3fc0\""},
        {"BFloat16", "c07f", "\"nan\""},
        {"BFloat16", "80ff", "\"ff80\""},
        {"UUID", "7766554433221100ffeeddccbbaa9988", "\"00112233-4455-6677-8899-aabbccddeeff\""},
        {"FixedString(4)", "61620000", "\"ab\\u0000\\u0000\""},
        {"FixedString(2)", "ff41", "{\"b64\":\"/0E=\"}"},
        {"Enum8('a' = 5)", "05", "\"a\""},
        {"Enum8('a' = -5)", "fb", "\"a\""},
        {"Enum8('a' = 5)", "09", "{\"unnamed\":\"9\"}"},
        {"Enum16('a' = 500)", "f401", "\"a\""},
        {"Enum16('a' = -32768)", "0080", "\"a\""},
        {"Enum16('a' = 500)", "ffff", "{\"unnamed\":\"-1\"}"},
        {"IPv4", "04030201", "\"1.2.3.4\""},
        {"IPv6", "20010db8000000000000000000000001", "\"2001:db8::1\""},
        {"IPv6", "00000000000000000000ffff01020304", "\"::ffff:1.2.3.4\""},
        {"Time", "104fffff", "\"-45296\""},
        {"Time64(3)", "05d64cfdffffffff", "\"-45296123\""},
        {"Float64", "9a9999999999b93f", "\"3fb999999999999a\""},
        {"Nullable(Int64)", "0100000000000000", "\"1\""},
    };
    struct buf out = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct column c = column(cases[i].type, NULL);
        cells_put_fn *put = cells_put_of(&c.type);
        unsigned char le[32];
        char want[100];
        size_t n = strlen(cases[i].hex) / 2;
        const char *why;

        for (size_t k = 0; k < n; k++) {
            unsigned v;
            assert_int_equal(sscanf(cases[i].hex + 2 * k, "%2x", &v), 1);
            le[k] = (unsigned char)v;
        }
        assert_int_equal(n * 8, c.type.bits);
        put(&out, &c.type, le, n);
        assert_true(cells_is_canonical(&c.type, out.p, out.len, false, &why));
        slow_decimal(le, n, true, want);
        expect_put(&out, cases[i].cell != NULL ? cases[i].cell : want);
        type_free(&c.type);
    }
    cells_put_null(&out);
    expect_put(&out, "null");
    buf_free(&out);
}

static void test_bytes_that_are_no_text_keep_every_bit(void **state)
{
    static const struct {
        const char *p;
        size_t n;
        const char *cell;
    } cases[] = {
        {"\xff\x41", 2, "{\"b64\":\"/0E=\"}"},
        {"\xfe\x41", 2, "{\"b64\":\"/kE=\"}"},
        {"", 0, "\"\""},
        {"\xef\xbf\xbd\x41", 4, "\"\xef\xbf\xbd\x41\""},
        {"abc\x80", 4, "{\"b64\":\"YWJjgA==\"}"},
        {"0123456789abcdef\n\xc0\xaf", 19, "{\"b64\":\"MDEyMzQ1Njc4OWFiY2RlZgrArw==\"}"},
        {"\xed\xa0\x80", 3, "{\"b64\":\"7aCA\"}"},
        {"\xf4\x90\x80\x80", 4, "{\"b64\":\"9JCAgA==\"}"},
        {"\xe2\x82", 2, "{\"b64\":\"4oI=\"}"},
        {"\0\x1f\"\\/\x7f", 6, "\"\\u0000\\u001f\\\"\\\\/\x7f\""},
    };
    struct buf out = BUF_INIT, back = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cells_put_bytes(&out, cases[i].p, cases[i].n);
        assert_true(cells_text(out.p, out.len, &back));
        assert_true(buf_is(&back, cases[i].p, cases[i].n));
        buf_reset(&back);
        expect_put(&out, cases[i].cell);
    }
    buf_free(&out);
    buf_free(&back);
}

static void test_random_bytes_come_back_and_agree_with_the_json_writer(void **state)
{
    struct buf out = BUF_INIT, back = BUF_INIT, json = BUF_INIT;

    (void)state;
    for (int i = 0; i < 60000; i++) {
        char p[48];
        size_t n = next_random() % sizeof p, row_len;
        uint64_t kind = next_random() % 4;
        const char *why = NULL;

        for (size_t k = 0; k < n; k++) {
            uint64_t r = next_random();
            p[k] = (char)(kind == 0 ? r & 0x7f : kind == 1 ? 0x20 + (r & 0x3f) : r & 0xff);
            if (kind == 2) {
                p[k] = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98"[r % 8];
            }
        }
        buf_reset(&out);
        buf_reset(&back);
        buf_addc(&out, '[');
        cells_put_bytes(&out, p, n);
        buf_addc(&out, ']');
        if (!cells_scan_row(out.p, out.len, 1, &row_len, NULL, 0, &why)) {
            fail_msg("%s: %s", buf_str(&out), why);
        }
        assert_int_equal(row_len, out.len);
        assert_true(cells_text(out.p + 1, out.len - 2, &back));
        assert_true(buf_is(&back, p, n));
        assert_int_equal(out.p[1] == '"', utf8_valid(p, n));
        if (utf8_valid(p, n)) {
            buf_reset(&json);
            json_put_str(&json, p, n);
            assert_true(buf_is(&json, out.p + 1, out.len - 2));
        }
    }
    buf_free(&out);
    buf_free(&back);
    buf_free(&json);
}

/* ---- reading ---- */

static void test_rows_in_canonical_form_are_measured(void **state)
{
    static const struct {
        const char *text;
        size_t want, len;
        uint32_t ends[4];
    } rows[] = {
        {"[\"4711\",\"1230000\",\"1758000000000000\"]}\n", 3, 37, {7, 17, 36}},
        {"[null]", 1, 6, {5}},
        {"[\"\",null,{\"b64\":\"/0E=\"},{\"unfit\":\"1.5\"}]", 4, 40, {3, 8, 23, 39}},
        {"[\"a]\\\",\"]", 1, 9, {8}},
        {"[]", 0, 2, {0}},
        {"[\"\\u0000\\u000b\\u001f\\b\\t\\n\\f\\r\\\"\\\\\"]tail", 1, 36, {35}},
        {"[\"\\u0001\"]", 1, 10, {9}},
        {"[\"\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80\x7f\"]", 1, 15, {14}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = strlen(rows[i].text), len = 0;
        const char *why = "";
        uint32_t ends[5] = {0, 0, 0, 0, 99};

        if (!cells_scan_row(rows[i].text, n, rows[i].want, &len, ends, 4, &why)) {
            fail_msg("%s: %s", rows[i].text, why);
        }
        assert_int_equal(len, rows[i].len);
        assert_memory_equal(ends, rows[i].ends, rows[i].want * sizeof ends[0]);
        assert_int_equal(ends[4], 99);
        for (size_t cut = 0; cut < len; cut++) {
            assert_false(cells_scan_row(rows[i].text, cut, rows[i].want, &len, NULL, 0, &why));
            len = rows[i].len;
        }
    }
    {
        uint32_t ends[2] = {77, 77};
        size_t len;
        const char *why;
        assert_true(cells_scan_row("[\"1\",\"2\"]", 9, 2, &len, ends, 1, &why));
        assert_int_equal(ends[0], 4);
        assert_int_equal(ends[1], 77);
    }
}

static void refused(const char *const *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *why = NULL;
        if (cells_scan_row(rows[i], strlen(rows[i]), 1, &len, NULL, 0, &why)) {
            fail_msg("%s: accepted", rows[i]);
        }
        assert_non_null(why);
    }
}

static void test_every_other_shape_of_a_row_is_refused(void **state)
{
    static const char *const rows[] = {
        "",
        "[",
        "[]",
        "\"a\"",
        "[\"a\"",
        "[\"a]",
        "[ \"a\"]",
        "[\"a\" ]",
        " [\"a\"]",
        "[\"a\",]",
        "[,\"a\"]",
        "[\"a\",\"b\"]",
        "[\"a\"\"b\"]",
        "[a]",
        "[1]",
        "[true]",
        "[nul]",
        "[null ]",
        "[NULL]",
        "[[\"a\",]]",
        "[[,\"a\"]]",
        "[[\"a\" ]]",
        "[[ ]]",
        "[[\"a\"]",
        "[[\"a\"",
        "[[",
        "[[]",
        "[[[]]",
        "[[\"a\"\"b\"]]",
        "[[{\"unfit\":\"1\"}]]",
        "[{\"unnamed\":9}]",
        "[{\"unnamed\":\"9\",\"a\":\"b\"}]",
        "[{}]",
        "[{\"a\":\"b\"}]",
        "[\"a\";\"b\"]",
    };

    (void)state;
    refused(rows, sizeof rows / sizeof rows[0]);
}

static void test_every_other_escape_in_a_row_is_refused(void **state)
{
    static const char *const rows[] = {
        "[\"\\/\"]",
        "[\"\\u0041\"]",
        "[\"\\u001F\"]",
        "[\"\\u0008\"]",
        "[\"\\u0009\"]",
        "[\"\\u000a\"]",
        "[\"\\u000c\"]",
        "[\"\\u000d\"]",
        "[\"\\u000A\"]",
        "[\"\\u0020\"]",
        "[\"\\u007f\"]",
        "[\"\\u00e9\"]",
        "[\"\\ud83d\\ude00\"]",
        "[\"\\U0000\"]",
        "[\"\\x00\"]",
        "[\"\\a\"]",
        "[\"\\v\"]",
        "[\"\\'\"]",
        "[\"\\",
        "[\"\\u",
        "[\"\\u00",
        "[\"\\\"]",
        "[\"\\u001g\"]",
        "[\"\\u0022\"]",
        "[\"\t\"]",
        "[\"\n\"]",
        "[\"\x1f\"]",
        "[\"0123456789abcdef01234567\\u0041\"]",
    };

    (void)state;
    refused(rows, sizeof rows / sizeof rows[0]);
}

static void test_bytes_of_a_row_that_are_no_text_are_refused(void **state)
{
    static const char *const rows[] = {
        "[\"\x80\"]",
        "[\"\xc0\xaf\"]",
        "[\"\xc1\xbf\"]",
        "[\"\xe0\x9f\xbf\"]",
        "[\"\xed\xa0\x80\"]",
        "[\"\xf0\x8f\xbf\xbf\"]",
        "[\"\xf4\x90\x80\x80\"]",
        "[\"\xf5\x80\x80\x80\"]",
        "[\"\xff\"]",
        "[\"\xc3\"]",
        "[\"\xe2\x82\"]",
        "[\"\xf0\x9f\x98\"]",
        "[\"\xc3\x28\"]",
        "[\"\xe2\x28\xa1\"]",
        "[\"\xe2\x82\x28\"]",
        "[\"\xf0\x9f\x98\x28\"]",
        "[\"0123456789abcdef\x1f\"]",
        "[\"0123456789abcde\xff\"]",
    };

    (void)state;
    refused(rows, sizeof rows / sizeof rows[0]);
}

static void test_every_other_spelling_of_a_marked_cell_is_refused(void **state)
{
    static const char *const rows[] = {
        "[{\"b64\":\"/0E\"}]",
        "[{\"b64\":\"/0F=\"}]",
        "[{\"b64\":\"_0E=\"}]",
        "[{\"b64\":\"/0E= \"}]",
        "[{\"b64\":\"\"}]",
        "[{\"b64\":\"YWJj\"}]",
        "[{\"b64\":\"\\/0E=\"}]",
        "[{\"b64\": \"/0E=\"}]",
        "[{ \"b64\":\"/0E=\"}]",
        "[{\"b64\":\"/0E=\" }]",
        "[{\"b64\":\"/0E=\",\"b64\":\"/0E=\"}]",
        "[{\"b64\":null}]",
        "[{\"B64\":\"/0E=\"}]",
        "[{\"b64\":\"/0E=\"",
        "[{\"unfit\":1}]",
        "[{\"unfit\":\"1\",\"x\":\"y\"}]",
        "[{\"unfit\":\"\\u0041\"}]",
        "[{\"unfit\":\"\xff\"}]",
        "[{\"unfit\": \"1\"}]",
        "[{\"unfit\":\"1\"",
    };

    (void)state;
    refused(rows, sizeof rows / sizeof rows[0]);
}

static void test_a_row_needs_as_many_cells_as_columns(void **state)
{
    size_t len;
    const char *why;

    (void)state;
    assert_false(cells_scan_row("[\"a\",\"b\"]", 9, 3, &len, NULL, 0, &why));
    assert_string_equal(why, "fewer cells than columns");
    assert_false(cells_scan_row("[\"a\",\"b\"]", 9, 1, &len, NULL, 0, &why));
    assert_string_equal(why, "more cells than columns");
    assert_false(cells_scan_row("[]", 2, 1, &len, NULL, 0, &why));
}

/* Whatever byte is written over whatever place of a row, it is refused or it is the one spelling of its cells. */
static void test_one_byte_changed_anywhere_gives_no_second_spelling(void **state)
{
    static const char row[] =
        "[\"ab\\u0001\\n\xc3\xa9\",null,{\"b64\":\"/0E=\"},{\"unfit\":\"-1\"},\"0123456789abcdefg\"]";
    char text[sizeof row];
    struct buf again = BUF_INIT, bytes = BUF_INIT;

    (void)state;
    for (size_t at = 0; at < sizeof row - 1; at++) {
        for (int c = 0; c < 256; c++) {
            size_t len, start = 1;
            const char *why;
            uint32_t ends[5];

            memcpy(text, row, sizeof row);
            text[at] = (char)c;
            if (!cells_scan_row(text, sizeof row - 1, 5, &len, ends, 5, &why)) {
                continue;
            }
            buf_reset(&again);
            buf_addc(&again, '[');
            for (int i = 0; i < 5; i++) {
                size_t n = ends[i] - start;
                buf_reset(&bytes);
                if (cells_text(text + start, n, &bytes)) {
                    cells_put_bytes(&again, bytes.p, bytes.len);
                } else { /* null and unfit */
                    buf_add(&again, text + start, n);
                }
                buf_addc(&again, i < 4 ? ',' : ']');
                start = ends[i] + 1;
            }
            assert_true(buf_is(&again, text, len));
        }
    }
    buf_free(&again);
    buf_free(&bytes);
}

static void test_both_forms_of_the_byte_loop_agree(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        char p[70];
        size_t n = next_random() % sizeof p;

        memset(p, 'a', sizeof p);
        for (uint64_t k = next_random() % 4; n > 0 && k > 0; k--) {
            p[next_random() % n] = (char)next_random();
        }
        assert_ptr_equal(bytes_plain(p, p + n), bytes_plain_portable(p, p + n));
    }
    for (int c = 0; c < 256; c++) {
        char p[32];
        memset(p, 'a', sizeof p);
        p[17] = (char)c;
        assert_int_equal(bytes_plain(p, p + 32) == p + 17, bytes_special((unsigned char)c));
        assert_int_equal(bytes_plain_portable(p, p + 32) == p + 17, bytes_special((unsigned char)c));
    }
}

static void test_marks_find_what_the_byte_loop_finds(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t n = next_random() % (i % 2 ? 80 : 300);
        char *p = malloc(n + 1); /* its very size, so that reading past it is seen */
        struct bytes_marks marks;

        assert_non_null(p);
        memset(p, 'a', n);
        for (uint64_t k = next_random() % 40; n > 0 && k > 0; k--) {
            p[next_random() % n] = (char)next_random();
        }
        p = realloc(p, n > 0 ? n : 1);
        assert_non_null(p);
        bytes_begin(&marks, p, p + n);
        /* Mostly the next byte, now and then far behind it, as after a cell that is no string. */
        for (size_t at = 0; at <= n; at += 1 + (next_random() % 8 == 0 ? next_random() % 150 : 0)) {
            const char *want = bytes_plain_portable(p + at, p + n);
            assert_ptr_equal(bytes_next(&marks, p + at), want);
            if (next_random() % 2) {
                at = (size_t)(want - p);
            }
        }
        free(p);
    }
}

struct held {
    const char *type, *cell;
    bool ok;
};

static void held(const struct held *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct column c = column(cases[i].type, NULL);
        const char *why = NULL;
        bool ok = cells_is_canonical(&c.type, cases[i].cell, strlen(cases[i].cell), true, &why);
        if (ok != cases[i].ok) {
            fail_msg("%s %s: %s", cases[i].type, cases[i].cell, ok ? "accepted" : why);
        }
        type_free(&c.type);
    }
}

static void test_numbers_are_held_to_their_columns_form_and_range(void **state)
{
    static const struct held cases[] = {
        {"Int8", "\"127\"", true},
        {"Int8", "\"-128\"", true},
        {"Int8", "\"128\"", false},
        {"Int8", "\"-129\"", false},
        {"Int8", "\"-0\"", false},
        {"Int8", "\"+1\"", false},
        {"Int8", "\"01\"", false},
        {"Int8", "\"\"", false},
        {"Int8", "\"-\"", false},
        {"Int8", "\"1.0\"", false},
        {"Int8", "\"1e1\"", false},
        {"Int8", "null", false},
        {"Nullable(Int8)", "null", true},
        {"Int8", "\"1\" ", false},
        {"Int8", "1", false},
        {"Int8", "{\"b64\":\"/0E=\"}", false},
        {"UInt64", "\"18446744073709551615\"", true},
        {"UInt64", "\"18446744073709551616\"", false},
        {"UInt64", "\"-1\"", false},
        {"Int256", "\"-57896044618658097711785492504343953926634992332820282019728792003956564819968\"", true},
        {"Int256", "\"57896044618658097711785492504343953926634992332820282019728792003956564819968\"", false},
        {"Decimal(4, 2)", "\"9999\"", true},
        {"Decimal(4, 2)", "\"-9999\"", true},
        {"Decimal(4, 2)", "\"10000\"", false},
        {"Decimal(4, 2)", "\"99.99\"", false},
        {"Decimal(4, 2)", "\"0\"", true},
        {"Decimal(4, 2)", "\"00\"", false},
        {"Float32", "\"3dcccccd\"", true},
        {"Float32", "\"3DCCCCCD\"", false},
        {"Float32", "\"3fb999999999999a\"", false},
        {"Float32", "\"nan\"", true},
        {"Float32", "\"7f800000\"", true},
        {"Float32", "\"7f800001\"", false},
        {"Float32", "\"ffc00000\"", false},
        {"Float64", "\"ffffffffffffffff\"", false},
        {"Float64", "\"fff0000000000000\"", true},
        {"Float64", "\"inf\"", false},
        {"Float64", "\"NaN\"", false},
        {"Bool", "\"true\"", true},
        {"Bool", "\"True\"", false},
        {"Bool", "\"1\"", false},
        {"Bool", "true", false},
        {"Int8", "[]", false},
        {"Int8", "{\"unnamed\":\"9\"}", false},
        {"BFloat16", "\"7f80\"", true},
        {"BFloat16", "\"7f81\"", false},
        {"BFloat16", "\"3f800000\"", false},
    };

    (void)state;
    held(cases, sizeof cases / sizeof cases[0]);
}

static void test_times_are_held_to_their_columns_form_and_range(void **state)
{
    static const struct held cases[] = {
        {"Date", "\"65535\"", true},
        {"Date", "\"65536\"", false},
        {"Date", "\"-1\"", false},
        {"Date", "\"2026-11-29\"", false},
        {"Date32", "\"-25567\"", true},
        {"Date32", "\"-25568\"", false},
        {"Date32", "\"120529\"", true},
        {"Date32", "\"120530\"", false},
        {"DateTime", "\"4294967295\"", true},
        {"DateTime", "\"4294967296\"", false},
        {"DateTime", "\"-1\"", false},
        {"DateTime64(9)", "\"9223372036854775807\"", true},
        {"DateTime64(9)", "\"9223372036854775808\"", false},
        {"DateTime64(9)", "\"-9223372036854775808\"", true},
        {"DateTime64(9)", "\"-0\"", false},
        {"Time", "\"3599999\"", true},
        {"Time", "\"3600000\"", false},
        {"Time64(3)", "\"-3599999999\"", true},
        {"Time64(3)", "\"-3600000000\"", false},
    };

    (void)state;
    held(cases, sizeof cases / sizeof cases[0]);
}

static void test_texts_and_addresses_are_held_to_their_columns_form(void **state)
{
    static const struct held cases[] = {
        {"String", "\"\"", true},
        {"String", "{\"b64\":\"/0E=\"}", true},
        {"String", "{\"b64\":\"YQ==\"}", false},
        {"String", "null", false},
        {"String", "\"\\/\"", false},
        {"Dynamic", "\"a\"", false},
        {"Dynamic", "null", false},
        {"Dynamic", "[]", false},
        {"JSON", "\"{\\\"a\\\":1}\"", true},
        {"JSON", "{\"b64\":\"/w==\"}", true},
        {"JSON", "null", false},
        {"JSON", "[]", false},
        {"Nullable(JSON(a Int8))", "null", true},
        {"String", "[\"a\"]", false},
        {"UUID", "\"7e4ca296-f7ba-11ec-a5d9-0242ac120002\"", true},
        {"UUID", "\"7E4CA296-f7ba-11ec-a5d9-0242ac120002\"", false},
        {"UUID", "\"a\"", false},
        {"UUID", "null", false},
        {"FixedString(2)", "\"ab\"", true},
        {"FixedString(2)", "\"a\\u0000\"", true},
        {"FixedString(2)", "{\"b64\":\"/0E=\"}", true},
        {"FixedString(2)", "{\"b64\":\"/0FB\"}", false},
        {"FixedString(2)", "\"a\"", false},
        {"FixedString(2)", "\"\\u0000\"", false},
        {"Enum8('a\"' = 1)", "\"a\\\"\"", true},
        {"Enum8('a' = 1)", "\"b\"", false},
        {"Enum8('a' = 1)", "{\"unnamed\":\"-128\"}", true},
        {"Enum8('a' = 1)", "{\"unnamed\":\"1\"}", false},
        {"Enum8('a' = 1)", "{\"unnamed\":\"128\"}", false},
        {"Enum16('a' = 1)", "{\"unnamed\":\"128\"}", true},
        {"Enum8('a' = 1)", "{\"unnamed\":\"-0\"}", false},
        {"IPv4", "\"1.2.3.4\"", true},
        {"IPv4", "\"1.2.3.04\"", false},
        {"IPv4", "{\"b64\":\"/0E=\"}", false},
        {"IPv6", "\"::ffff:1.2.3.4\"", true},
        {"IPv6", "\"::ffff:102:304\"", false},
        {"IPv6", "\"1:0:0:2:0:0:0:3\"", false},
        {"IPv6", "\"1:0:0:2::3\"", true},
        {"IPv6", "\"1.2.3.4\"", false},
        {"IPv6", "\"0:0:0:0:0:0:0:0\"", false},
        {"IPv6", "\"::\"", true},
        {"LowCardinality(Nullable(UUID))", "null", true},
    };

    (void)state;
    held(cases, sizeof cases / sizeof cases[0]);
}

static void test_cells_of_cells_are_held_to_their_columns_form(void **state)
{
    static const struct held cases[] = {
        {"Array(JSON)", "[\"{}\",\"{}\"]", true},
        {"Array(JSON)", "[null]", false},
        {"Array(Nullable(Int8))", "[\"1\",null]", true},
        {"Array(Int8)", "[]", true},
        {"Array(Int8)", "[null]", false},
        {"Array(Int8)", "[\"200\"]", false},
        {"Array(Int8)", "\"[]\"", false},
        {"Array(Array(Int8))", "[[],[\"1\"]]", true},
        {"Array(Array(Int8))", "[[],\"1\"]", false},
        {"Tuple(Int8, String)", "[\"1\",\"x\"]", true},
        {"Tuple(Int8, String)", "[\"1\"]", false},
        {"Tuple(Int8, String)", "[\"1\",\"x\",\"y\"]", false},
        {"Tuple()", "[]", true},
        {"Tuple()", "[[]]", false},
        {"Map(String, Int8)", "[[\"a\",\"1\"],[\"a\",\"1\"],[\"b\",\"0\"]]", true},
        {"Map(String, Int8)", "[[\"b\",\"0\"],[\"a\",\"1\"]]", false},
        {"Map(String, Int8)", "[[\"a\"]]", false},
        {"Map(String, Int8)", "[\"a\",\"1\"]", false},
        {"Nested(a Int8, b String)", "[[\"1\"],[\"x\"]]", true},
        {"Nested(a Int8, b String)", "[[],[]]", true},
        {"Nested(a Int8, b String)", "[[\"1\"],[]]", false},
        {"Nested(a Int8, b String)", "[[\"1\"]]", false},
        {"Nested(a Int8, b String)", "[]", false},
    };

    (void)state;
    held(cases, sizeof cases / sizeof cases[0]);
}

static void test_what_does_not_fit_is_a_cell_where_that_is_allowed(void **state)
{
    struct column c = column("Int8", NULL);
    const char *why;

    (void)state;
    assert_true(cells_is_canonical(&c.type, "{\"unfit\":\"200\"}", 15, true, &why));
    assert_false(cells_is_canonical(&c.type, "{\"unfit\":\"200\"}", 15, false, &why));
    assert_true(cells_is_unfit("{\"unfit\":\"200\"}", 15));
    assert_false(cells_is_unfit("\"{\\\"unfit\\\":\"", 13));
    assert_false(cells_is_unfit("{\"b64\":\"/0E=\"}", 14));
    type_free(&c.type);
}

static void test_cells_as_a_person_reads_them(void **state)
{
    static const struct {
        const char *type, *cell, *text;
    } cases[] = {
        {"Decimal(18, 4)", "\"1230000\"", "123.0000"},
        {"Decimal(18, 2)", "\"-5\"", "-0.05"},
        {"Decimal(9, 0)", "\"7\"", "7"},
        {"Decimal(9, 2)", "\"0\"", "0.00"},
        {"Decimal(9, 2)", "\"-123\"", "-1.23"},
        {"Int64", "\"-5\"", "-5"},
        {"Float64", "\"3fb999999999999a\"", "0.1"},
        {"Float64", "\"3fd3333333333334\"", "0.30000000000000004"},
        {"Float32", "\"4312798c\"", "146.4748"},
        {"Float64", "\"8000000000000000\"", "-0"},
        {"Float64", "\"nan\"", "nan"},
        {"Float64", "\"fff0000000000000\"", "-inf"},
        {"DateTime64(6)", "\"1758000000000000\"", "2025-09-16T05:20:00.000000Z"},
        {"DateTime64(3)", "\"-500\"", "1969-12-31T23:59:59.500Z"},
        {"DateTime", "\"0\"", "1970-01-01T00:00:00Z"},
        {"Date", "\"20786\"", "2026-11-29"},
        {"Date32", "\"-25567\"", "1900-01-01"},
        {"DateTime64(0)", "\"9223372036854775807\"", "9223372036854775807 ticks"},
        {"DateTime64(9)", "\"-9223372036854775808\"", "1677-09-21T00:12:43.145224192Z"},
        {"Bool", "\"true\"", "true"},
        {"String", "\"a\\\"b\"", "\"a\\\"b\""},
        {"Nullable(String)", "null", "NULL"},
        {"String", "\"null\"", "\"null\""},
        {"String", "\"\xc2\x9b\x7f\"", "\"\\xc2\\x9b\\x7f\""},
        {"String", "{\"b64\":\"/0E=\"}", "{\"b64\":\"/0E=\"}"},
        {"Decimal(10, 3)", "{\"unfit\":\"1.2349\"}", "1.2349 (does not fit)"},
        {"UUID", "\"7e4ca296-f7ba-11ec-a5d9-0242ac120002\"", "7e4ca296-f7ba-11ec-a5d9-0242ac120002"},
        {"FixedString(2)", "\"a\\u0000\"", "\"a\\u0000\""},
        {"Enum8('a' = 1)", "\"a\"", "\"a\""},
        {"Enum8('a' = 1)", "{\"unnamed\":\"9\"}", "9 (no name of the Enum)"},
        {"Time", "\"-45296\"", "-12:34:56"},
        {"Time64(3)", "\"-3599999999\"", "-999:59:59.999"},
        {"Time64(3)", "\"-1\"", "-00:00:00.001"},
        {"Time", "\"-2147483648\"", "\"-2147483648\""},
        {"BFloat16", "\"3fc0\"", "1.5"},
        {"Array(Nullable(Int8))", "[\"1\",null]", "[1, NULL]"},
        {"Tuple(Int8, String)", "[\"1\",\"x\"]", "(1, \"x\")"},
        {"Map(String, Array(Int8))", "[[\"a\",[\"1\",\"2\"]],[\"b\",[]]]", "{\"a\": [1, 2], \"b\": []}"},
        {"Nested(a Int8, b String)", "[[\"1\",\"2\"],[\"x\",\"y\"]]", "{a [1, 2], b [\"x\", \"y\"]}"},
        {"Array(Int8)", "{\"unfit\":\"[200]\"}", "[200] (does not fit)"},
        {"Int64", "\"\x1b[31m", "\"\\x1b[31m"},
    };
    struct buf out = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct column c = column(cases[i].type, NULL);
        cells_human(&c.type, cases[i].cell, strlen(cases[i].cell), &out);
        expect_put(&out, cases[i].text);
        type_free(&c.type);
    }
    buf_free(&out);
}

static void test_only_text_has_bytes(void **state)
{
    struct buf out = BUF_INIT;

    (void)state;
    assert_false(cells_text("null", 4, &out));
    assert_false(cells_text("{\"unfit\":\"a\"}", 13, &out));
    assert_false(cells_text("\"a", 2, &out));
    assert_false(cells_text("\"a\"x", 4, &out));
    assert_int_equal(out.len, 0);
    assert_true(cells_text("\"4711\"", 6, &out));
    assert_string_equal(buf_str(&out), "4711");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_of_every_width_print_as_printf_prints_them),
        cmocka_unit_test(test_wide_integers_agree_with_long_division),
        cmocka_unit_test(test_floats_are_their_bits_and_every_nan_is_one),
        cmocka_unit_test(test_fixed_width_values_follow_the_columns_type),
        cmocka_unit_test(test_bytes_that_are_no_text_keep_every_bit),
        cmocka_unit_test(test_random_bytes_come_back_and_agree_with_the_json_writer),
        cmocka_unit_test(test_rows_in_canonical_form_are_measured),
        cmocka_unit_test(test_every_other_shape_of_a_row_is_refused),
        cmocka_unit_test(test_every_other_escape_in_a_row_is_refused),
        cmocka_unit_test(test_bytes_of_a_row_that_are_no_text_are_refused),
        cmocka_unit_test(test_every_other_spelling_of_a_marked_cell_is_refused),
        cmocka_unit_test(test_a_row_needs_as_many_cells_as_columns),
        cmocka_unit_test(test_one_byte_changed_anywhere_gives_no_second_spelling),
        cmocka_unit_test(test_both_forms_of_the_byte_loop_agree),
        cmocka_unit_test(test_marks_find_what_the_byte_loop_finds),
        cmocka_unit_test(test_numbers_are_held_to_their_columns_form_and_range),
        cmocka_unit_test(test_times_are_held_to_their_columns_form_and_range),
        cmocka_unit_test(test_texts_and_addresses_are_held_to_their_columns_form),
        cmocka_unit_test(test_cells_of_cells_are_held_to_their_columns_form),
        cmocka_unit_test(test_what_does_not_fit_is_a_cell_where_that_is_allowed),
        cmocka_unit_test(test_cells_as_a_person_reads_them),
        cmocka_unit_test(test_only_text_has_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
