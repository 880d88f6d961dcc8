/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chread without a server: both decoders on known bytes cut at every place and
 * on hostile ones, keys and their conditions, definitions, lines; and against a
 * scripted server what a real one cannot be made to answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <time.h>

#include "chread/decode.h"
#include "chread/session.h"
#include "stream/neutral.h"
#include "types/definition.h"
#include "mock_server.h"

static void parse(const char *json, struct columns *cols)
{
    static struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json *v = json_parse_named(json, strlen(json), &arena, "columns", &err);
    if (v == NULL || columns_parse(v, false, cols, &err) != 0)
        fail_msg("%s", err.text);
}

static int collect(void *ctx, const char *cells, size_t n)
{
    struct buf *b = ctx;
    buf_add(b, cells, n);
    buf_addc(b, '\n');
    return 0;
}

/* ---- decoders ---- */

#define THREE \
    "[{\"name\":\"k\",\"type\":\"Int32\",\"key\":true},{\"name\":\"s\",\"type\":\"Nullable(String)\"},{\"name\":\"u\",\"type\":\"UInt8\"}]"
#define THREE_CELLS "[\"-2\",\"ab\",\"7\"]\n[\"1\",null,\"255\"]\n[\"0\",{\"b64\":\"/0E=\"},\"0\"]\n"

static const unsigned char rowbinary[] = {
    0xfe, 0xff, 0xff, 0xff, 0, 2, 'a', 'b', 7, 1, 0, 0, 0, 1, 255, 0, 0, 0, 0, 0, 2, 0xff, 0x41, 0,
};
static const unsigned char native[] = {
    3,   0,   1,   'k', 5,   'I', 'n', 't', '3',  '2',  1,    's',  16,   'N',  'u', 'l', 'l', 'a', 'b', 'l',
    'e', '(', 'S', 't', 'r', 'i', 'n', 'g', ')',  1,    'u',  5,    'U',  'I',  'n', 't', '8', /* no rows */
    3,   2,   1,   'k', 5,   'I', 'n', 't', '3',  '2',  0xfe, 0xff, 0xff, 0xff, 1,   0,   0,   0,   1,   's',
    16,  'N', 'u', 'l', 'l', 'a', 'b', 'l', 'e',  '(',  'S',  't',  'r',  'i',  'n', 'g', ')', 0,   1,   2,
    'a', 'b', 0,   1,   'u', 5,   'U', 'I', 'n',  't',  '8',  7,    255,  3,    1,   1,   'k', 5,   'I', 'n',
    't', '3', '2', 0,   0,   0,   0,   1,   's',  16,   'N',  'u',  'l',  'l',  'a', 'b', 'l', 'e', '(', 'S',
    't', 'r', 'i', 'n', 'g', ')', 0,   2,   0xff, 0x41, 1,    'u',  5,    'U',  'I', 'n', 't', '8', 0,
};

static void expect_decoded(enum chread_format f, const unsigned char *p, size_t n, const char *columns,
                           const char *want)
{
    struct columns cols = COLUMNS_INIT;
    struct buf got = BUF_INIT;
    parse(columns, &cols);
    struct chread_decoder *d = chread_decoder_new(f, &cols, 1 << 20, collect, &got);
    for (size_t piece = 1; piece <= n; piece++) {
        struct err err = ERR_INIT;
        buf_reset(&got);
        chread_decoder_reset(d);
        for (size_t at = 0; at < n; at += piece)
            if (chread_decode(d, (const char *)p + at, n - at < piece ? n - at : piece, &err) != 0)
                fail_msg("pieces of %zu: %s", piece, err.text);
        assert_int_equal(chread_decode_end(d, &err), 0);
        if (strcmp(buf_str(&got), want) != 0)
            fail_msg("pieces of %zu: %s", piece, buf_str(&got));
    }
    chread_decoder_free(d);
    columns_free(&cols);
    buf_free(&got);
}

static void test_every_cut(void **state)
{
    (void)state;
    expect_decoded(CHREAD_ROWBINARY, rowbinary, sizeof rowbinary, THREE, THREE_CELLS);
    expect_decoded(CHREAD_NATIVE, native, sizeof native, THREE, THREE_CELLS);
}

/* A result that stops early is never taken for a shorter one, but at the end of a row or block, which the count
 * settles. */
static void test_every_end(void **state)
{
    (void)state;
    struct columns cols = COLUMNS_INIT;
    struct buf got = BUF_INIT;
    parse(THREE, &cols);
    for (int f = 0; f < 2; f++) {
        const unsigned char *p = f == 0 ? native : rowbinary;
        size_t n = f == 0 ? sizeof native : sizeof rowbinary, whole = 0;
        struct chread_decoder *d = chread_decoder_new(f == 0 ? CHREAD_NATIVE : CHREAD_ROWBINARY, &cols, 1 << 20,
                                                      collect, &got);
        for (size_t end = 0; end < n; end++) {
            struct err err = ERR_INIT;
            chread_decoder_reset(d);
            assert_int_equal(chread_decode(d, (const char *)p, end, &err), 0);
            whole += chread_decode_end(d, &err) == 0;
        }
        assert_int_equal(whole, 3); /* nothing; and after two of the three blocks, or rows */
        chread_decoder_free(d);
    }
    columns_free(&cols);
    buf_free(&got);
}

static void expect_bad(enum chread_format f, const char *columns, size_t max, const char *bytes, size_t n,
                       enum err_kind kind, const char *text)
{
    struct columns cols = COLUMNS_INIT;
    struct buf got = BUF_INIT;
    struct err err = ERR_INIT;
    parse(columns, &cols);
    struct chread_decoder *d = chread_decoder_new(f, &cols, max, collect, &got);
    int rc = chread_decode(d, bytes, n, &err);
    if (rc == 0)
        rc = chread_decode_end(d, &err);
    if (rc == 0 || err.kind != kind || strstr(err.text, text) == NULL)
        fail_msg("gave %d, kind %d: %s", rc, (int)err.kind, err.text);
    chread_decoder_free(d);
    columns_free(&cols);
    buf_free(&got);
}

static void test_hostile(void **state)
{
    (void)state;
    static const char one[] = "[{\"name\":\"s\",\"type\":\"String\",\"key\":true}]";
    static const char null_one[] = "[{\"name\":\"n\",\"type\":\"Nullable(UInt8)\"}]";
    static const char wide[] = "[{\"name\":\"w\",\"type\":\"Int256\"}]";
    static const char big[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                      past[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
    expect_bad(CHREAD_ROWBINARY, one, 4096, big, 10, ERR_BOUND, "row 1: column 's'");
    expect_bad(CHREAD_ROWBINARY, one, 4096, past, 10, ERR_TROUBLE, "past 64 bits");
    expect_bad(CHREAD_ROWBINARY, null_one, 4096, "\0\1\2\1", 4, ERR_TROUBLE, "row 2: column 'n'");
    expect_bad(CHREAD_ROWBINARY, one, 16,
               "\x10"
               "0123456789abcdef",
               17, ERR_BOUND, "longer than 16 bytes");
    expect_bad(CHREAD_ROWBINARY, one, 4096, "Code: 395. DB::Exception", 24, ERR_TROUBLE, "in the middle of a row");
    expect_bad(CHREAD_NATIVE, one, 4096, past, 10, ERR_TROUBLE, "past 64 bits");
    expect_bad(CHREAD_NATIVE, one, 4096, "\2\1", 2, ERR_TROUBLE, "another number of columns");
    expect_bad(CHREAD_NATIVE, one, 4096, "\0\1", 2, ERR_TROUBLE, "another number of columns");
    expect_bad(CHREAD_NATIVE, one, 4096, "\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, ERR_BOUND,
               "larger than 65536 bytes");
    expect_bad(CHREAD_NATIVE, one, 4096, "\1\1\1t\6String\0", 12, ERR_TROUBLE, "another column's name");
    expect_bad(CHREAD_NATIVE, one, 4096, "\1\1\1s\5Int64\0", 11, ERR_TROUBLE, "another column type");
    expect_bad(CHREAD_NATIVE, one, 4096, "\1\1\1s\x16LowCardinality(String)\0", 28, ERR_TROUBLE, "another column type");
    expect_bad(CHREAD_NATIVE, one, 4096, "\1\1\1s\6String\xff\xff\xff\xff\x0f", 16, ERR_BOUND, "larger than");
    expect_bad(CHREAD_NATIVE, null_one, 4096, "\1\2\1n\x0fNullable(UInt8)\0\2\0\0", 25, ERR_TROUBLE,
               "whether a value is NULL");
    expect_bad(CHREAD_NATIVE, wide, 4096, "\1\xff\xff\3\1w\6Int256", 13, ERR_BOUND, "larger than");
}

/* ---- keys ---- */

static void add(struct chread_keys *k, size_t columns, const char *cells, int want)
{
    uint32_t ends[8];
    const char *why = NULL;
    size_t len;
    struct err err = ERR_INIT;
    assert_true(cells_scan_row(cells, strlen(cells), columns, &len, ends, 8, &why));
    int got = chread_keys_add(k, cells, ends, &err);
    if (got != want)
        fail_msg("%s: %d %s", cells, got, err.text);
}

static void expect_conditions(struct chread_keys *k, struct chread_limits limits, const char *want)
{
    struct buf all = BUF_INIT;
    for (uint64_t at = 0, next; at < chread_keys_count(k); at = next) {
        struct buf sql = BUF_INIT;
        next = keys_literals(k, at, chread_keys_count(k), &limits, &sql);
        assert_true(next > at && sql.len <= limits.bytes);
        buf_printf(&all, "%s\n", buf_str(&sql));
        buf_free(&sql);
    }
    assert_string_equal(buf_str(&all), want);
    buf_free(&all);
}

static const struct chread_limits wide_limits = {10000, 262144, 43750};

static void test_number_keys(void **state)
{
    (void)state;
    static const char *const types[] = {"Int8", "Int64", "Int128", "Int256"};
    static const char *const wants[] = {
        "`k` IN (-128,-2,0,9,127)\n", "`k` IN (-128,-2,0,9,127)\n",
        "`k` IN (toInt128('-128'),toInt128('-2'),toInt128('0'),toInt128('9'),toInt128('127'))\n",
        "`k` IN (toInt256('-128'),toInt256('-2'),toInt256('0'),toInt256('9'),toInt256('127'))\n"};
    for (int i = 0; i < 4; i++) {
        struct columns cols = COLUMNS_INIT;
        char json[128];
        snprintf(json, sizeof json,
                 "[{\"name\":\"v\",\"type\":\"String\"},{\"name\":\"k\",\"type\":\"%s\",\"key\":true}]", types[i]);
        parse(json, &cols);
        struct chread_keys *k = chread_keys_new(&cols);
        static const char *const cells[] = {"[\"\",\"9\"]",    "[\"\",\"-2\"]", "[\"a,b\",\"127\"]",
                                            "[null,\"-128\"]", "[\"\",\"0\"]",  "[\"\",\"-2\"]"};
        for (size_t r = 0; r < 6; r++)
            add(k, 2, cells[r], 1);
        add(k, 2, "[\"\",{\"unfit\":\"1.5\"}]", 0);
        add(k, 2, "[\"\",\"1.5\"]", -1);
        add(k, 2, "[\"\",null]", -1);
        chread_keys_sort(k, "k");
        assert_int_equal(chread_keys_count(k), 5);
        expect_conditions(k, wide_limits, wants[i]);
        chread_keys_free(k);
        columns_free(&cols);
    }
}

static void test_extreme_keys(void **state)
{
    (void)state;
    struct columns cols = COLUMNS_INIT;
    parse("[{\"name\":\"a\",\"type\":\"UInt64\",\"key\":true},{\"name\":\"b\",\"type\":\"UInt256\",\"key\":true}]",
          &cols);
    struct chread_keys *k = chread_keys_new(&cols);
    add(k, 2,
        "[\"18446744073709551615\",\"115792089237316195423570985008687907853269984665640564039457584007913129639935\"]",
        1);
    add(k, 2, "[\"18446744073709551616\",\"0\"]", -1);
    chread_keys_sort(k, "");
    expect_conditions(
        k, wide_limits,
        "(`a`,`b`) IN ((18446744073709551615,toUInt256('115792089237316195423570985008687907853269984665640564039457584"
        "007913129639935')))\n");
    chread_keys_free(k);
    columns_free(&cols);
}

static void test_text_keys(void **state)
{
    (void)state;
    struct columns cols = COLUMNS_INIT;
    parse("[{\"name\":\"k`1\",\"type\":\"LowCardinality(String)\",\"key\":true}]", &cols);
    struct chread_keys *k = chread_keys_new(&cols);
    add(k, 1, "[\"it's\"]", 1);
    add(k, 1, "[\"\"]", 1);
    add(k, 1, "[\"a\\u0000b\"]", 1);
    add(k, 1, "[\"a\"]", 1);
    add(k, 1, "[{\"b64\":\"/0E=\"}]", 1);
    add(k, 1, "[\"a\\u0000\"]", 1);
    add(k, 1, "[\"a\"]", 1);
    add(k, 1, "[\"abcdefghij\"]", 1);
    add(k, 1, "[\"abcdefghii\"]", 1);
    chread_keys_sort(k, "k");
    expect_conditions(k, wide_limits,
                      "`k\\`1` IN ('','a','a\\x00','a\\x00b','abcdefghii','abcdefghij','it\\'s','\\xFFA')\n");
    chread_keys_free(k);
    columns_free(&cols);
}

/* (1,23) is not (12,3), and the table's order is that of its sorting key. */
static void test_composite_keys(void **state)
{
    (void)state;
    struct columns cols = COLUMNS_INIT;
    parse(
        "[{\"name\":\"a\",\"type\":\"String\",\"key\":true},{\"name\":\"v\",\"type\":\"Int8\"},{\"name\":\"b\",\"type\":\"Int32\",\"key\":true}]",
        &cols);
    struct chread_keys *k = chread_keys_new(&cols);
    add(k, 3, "[\"1\",\"0\",\"23\"]", 1);
    add(k, 3, "[\"12\",\"0\",\"3\"]", 1);
    add(k, 3, "[\"1\",\"5\",\"23\"]", 1);
    add(k, 3, "[\"0\",\"0\",\"30\"]", 1);
    chread_keys_sort(k, "toDate(x), `b`, a");
    expect_conditions(k, wide_limits, "(`b`,`a`) IN ((3,'12'),(23,'1'),(30,'0'))\n");
    chread_keys_free(k);
    columns_free(&cols);
}

static void test_cuts(void **state)
{
    (void)state;
    struct columns cols = COLUMNS_INIT;
    parse("[{\"name\":\"k\",\"type\":\"Int64\",\"key\":true}]", &cols);
    struct chread_keys *k = chread_keys_new(&cols);
    for (int i = 0; i < 5; i++) {
        char cell[16];
        snprintf(cell, sizeof cell, "[\"%d\"]", 1000 + i);
        add(k, 1, cell, 1);
    }
    chread_keys_sort(k, "k");
    expect_conditions(k, (struct chread_limits){2, 4096, 100},
                      "`k` IN (1000,1001)\n`k` IN (1002,1003)\n`k` IN (1004)\n");
    expect_conditions(k, (struct chread_limits){9, 23, 100}, "`k` IN (1000,1001,1002)\n`k` IN (1003,1004)\n");
    expect_conditions(k, (struct chread_limits){9, 4096, 4}, "`k` IN (1000,1001,1002,1003)\n`k` IN (1004)\n");
    struct buf sql = BUF_INIT;
    assert_int_equal(keys_literals(k, 0, 5, &(struct chread_limits){9, 12, 100}, &sql), 0);
    buf_free(&sql);
    chread_keys_free(k);
    columns_free(&cols);
}

/* ---- keys as spans and arrays ---- */

static struct chread_keys *keys_of(const char *columns, struct columns *cols, size_t n, const char *const *rows,
                                   const char *sorting_key)
{
    parse(columns, cols);
    struct chread_keys *k = chread_keys_new(cols);
    for (size_t i = 0; i < n; i++)
        add(k, cols->n, rows[i], 1);
    chread_keys_sort(k, sorting_key);
    return k;
}

static void expect_span(const char *columns, size_t n, const char *const *rows, const char *want)
{
    struct columns cols = COLUMNS_INIT;
    struct buf sql = BUF_INIT;
    struct chread_keys *k = keys_of(columns, &cols, n, rows, "");
    assert_true(keys_span(k, 0, chread_keys_count(k), &sql) == (want != NULL));
    assert_string_equal(buf_str(&sql), want ? want : "");
    chread_keys_free(k);
    columns_free(&cols);
    buf_free(&sql);
}

#define KEY(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"key\":true}"

/* A span holds every key by the server's own order, or there is none. */
static void test_spans(void **state)
{
    (void)state;
    static const char *const numbers[] = {"[\"5\"]", "[\"-128\"]", "[\"127\"]"};
    expect_span("[" KEY("k", "Int8") "]", 3, numbers, "`k` BETWEEN toInt8('-128') AND toInt8('127')");
    expect_span("[" KEY("k", "Int256") "]", 3, numbers, "`k` BETWEEN toInt256('-128') AND toInt256('127')");
    expect_span("[" KEY("k", "Decimal(9, 2)") "]", 2, numbers,
                "`k` BETWEEN reinterpret(unhex('80ffffff'),'Array(Decimal(9, 2))')[1] AND "
                "reinterpret(unhex('05000000'),'Array(Decimal(9, 2))')[1]");
    static const char *const texts[] = {"[\"it's\"]", "[\"\"]", "[{\"b64\":\"/wA=\"}]"};
    expect_span("[" KEY("k", "String") "]", 3, texts, "`k` BETWEEN '' AND '\\xFF\\x00'");
    expect_span("[" KEY("k", "String") "]", 1, texts, "`k` = 'it\\'s'");
    static const char *const uuids[] = {"[\"00112233-4455-6677-8899-aabbccddeeff\"]",
                                        "[\"f0000000-0000-0000-0000-000000000001\"]"};
    expect_span("[" KEY("k", "UUID") "]", 2, uuids, NULL);
    expect_span("[" KEY("k", "UUID") "]", 1, uuids,
                "`k` = reinterpret(unhex('7766554433221100ffeeddccbbaa9988'),'Array(UUID)')[1]");
    static const char *const places[] = {"[\"t\",\"1\",\"7\"]", "[\"t\",\"1\",\"3\"]", "[\"t\",\"1\",\"5\"]"};
    static const char place[] = "[" KEY("t", "String") "," KEY("p", "Int32") "," KEY("o", "Int64") "]";
    expect_span(place, 3, places, "`t` = 't' AND `p` = toInt32('1') AND `o` BETWEEN toInt64('3') AND toInt64('7')");
    static const char *const two[] = {"[\"t\",\"1\",\"7\"]", "[\"t\",\"2\",\"3\"]"};
    expect_span(place, 2, two, "`t` = 't' AND `p` BETWEEN toInt32('1') AND toInt32('2')");
    static const char *const ids[] = {"[\"t\",\"00112233-4455-6677-8899-aabbccddeeff\"]",
                                      "[\"t\",\"f0000000-0000-0000-0000-000000000001\"]"};
    expect_span("[" KEY("t", "String") "," KEY("u", "UUID") "]", 2, ids, "`t` = 't'");
}

static void expect_span_under(const char *table_key, const char *want)
{
    struct columns cols = COLUMNS_INIT;
    struct buf sql = BUF_INIT;
    static const char *const rows[] = {"[\"1\",\"1\",\"1\"]", "[\"1\",\"2\",\"1\"]"};
    struct chread_keys *k = keys_of("[" KEY("a", "Int64") "," KEY("id", "Int64") "," KEY("x`y", "Int64") "]", &cols, 2,
                                    rows, "");
    chread_keys_expressions(k, table_key);
    keys_span(k, 0, 2, &sql);
    if (strcmp(buf_str(&sql), want) != 0)
        fail_msg("%s: %s", table_key, buf_str(&sql));
    chread_keys_free(k);
    columns_free(&cols);
    buf_free(&sql);
}

/* A column that the table's keys have in an expression has no order to ask by, whatever the expression is. */
static void test_expressions(void **state)
{
    (void)state;
    static const char span[] = "`a` = toInt64('1') AND `id` BETWEEN toInt64('1') AND toInt64('2')",
                      none[] = "`a` = toInt64('1')";
    static const char *const plain[] = {"",     "id",           "a, id",       "`id`, a",
                                        "v, i", "toDate(grid)", "toDate(id_)", "f(',', v), id",
                                        "f(a)", "`x,id(`, id",  "a + 1, id",   "toInt8(`x\\`y`)"};
    static const char *const made[] = {"toUInt32(id)",      "a, toInt64(id)", "id, -id",      "id % 10",
                                       "cityHash64(a, id)", "id DESC",        "toDate(`id`)", "f(')', id)"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        expect_span_under(plain[i], span);
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        expect_span_under(made[i], none);
    struct columns cols = COLUMNS_INIT;
    struct buf sql = BUF_INIT;
    static const char *const rows[] = {"[\"1\"]", "[\"2\"]"};
    struct chread_keys *k = keys_of("[" KEY("x`y", "Int64") "]", &cols, 2, rows, "");
    chread_keys_expressions(k, "`x\\`y`");
    assert_true(keys_span(k, 0, 2, &sql));
    chread_keys_expressions(k, "toInt8(`x\\`y`)");
    assert_false(keys_span(k, 0, 2, &sql));
    chread_keys_free(k);
    columns_free(&cols);
    buf_free(&sql);
}

static void expect_arrays(const char *columns, size_t n, const char *const *rows, struct chread_limits limits,
                          const char *want)
{
    struct columns cols = COLUMNS_INIT;
    struct buf all = BUF_INIT;
    struct chread_keys *k = keys_of(columns, &cols, n, rows, "");
    for (uint64_t at = 0, next; at < chread_keys_count(k); at = next) {
        struct buf sql = BUF_INIT;
        next = keys_arrays(k, at, chread_keys_count(k), &limits, &sql);
        assert_true(next > at && sql.len <= limits.bytes);
        buf_printf(&all, "%s\n", buf_str(&sql));
        buf_free(&sql);
    }
    assert_string_equal(buf_str(&all), want);
    chread_keys_free(k);
    columns_free(&cols);
    buf_free(&all);
}

static void test_arrays(void **state)
{
    (void)state;
    static const char *const numbers[] = {"[\"1\"]", "[\"-1\"]", "[\"9223372036854775807\"]"};
    expect_arrays(
        "[" KEY("k", "Int64") "]", 3, numbers, wide_limits,
        "`k` IN (SELECT arrayJoin(reinterpret(base64Decode('//////////8BAAAAAAAAAP////////9/'),'Array(Int64)')))\n");
    expect_arrays("[" KEY("k", "Int64") "]", 3, numbers, (struct chread_limits){2, 262144, 9},
                  "`k` IN (SELECT arrayJoin(reinterpret(base64Decode('//////////8BAAAAAAAAAA=='),'Array(Int64)')))\n"
                  "`k` IN (SELECT arrayJoin(reinterpret(base64Decode('/////////38='),'Array(Int64)')))\n");
    /* Both levels of escapes, and no byte that could end either. */
    static const char *const texts[] = {"[\"it's \\\\ \\\"x\\\"\"]", "[\"\"]",         "[\"\\u0000\\n\\t\"]",
                                        "[{\"b64\":\"/0E=\"}]",      "[\"\xc3\xa9\"]", "[\"\\\\N\"]"};
    expect_arrays("[" KEY("k", "String") "]", 6, texts, wide_limits,
                  "`k` IN (SELECT arrayJoin(CAST('[\\'\\',\\'\\\\x00\\\\x0A\\\\x09\\',\\'\\\\\\\\N\\',"
                  "\\'it\\\\\\'s \\\\\\\\ \"x\"\\',\\'\xc3\xa9\\',\\'\\\\xFFA\\']','Array(String)')))\n");
    expect_arrays("[" KEY("k", "String") "]", 1, texts + 1, wide_limits,
                  "`k` IN (SELECT arrayJoin(CAST('[\\'\\']','Array(String)')))\n");
    static const char *const both[] = {"[\"b\",\"2\"]", "[\"a\",\"1\"]"};
    expect_arrays("[" KEY("s", "String") "," KEY("n", "UInt8") "]", 2, both, wide_limits,
                  "(`s`,`n`) IN (SELECT arrayJoin(arrayZip(CAST('[\\'a\\',\\'b\\']','Array(String)'),"
                  "reinterpret(base64Decode('AQI='),'Array(UInt8)'))))\n");
    /* As many as the bytes hold, and none where not one fits. */
    expect_arrays("[" KEY("k", "String") "]", 3, texts, (struct chread_limits){9, 80, 9},
                  "`k` IN (SELECT arrayJoin(CAST('[\\'\\']','Array(String)')))\n"
                  "`k` IN (SELECT arrayJoin(CAST('[\\'\\\\x00\\\\x0A\\\\x09\\']','Array(String)')))\n"
                  "`k` IN (SELECT arrayJoin(CAST('[\\'it\\\\\\'s \\\\\\\\ \"x\"\\']','Array(String)')))\n");
    struct columns cols = COLUMNS_INIT;
    struct buf sql = BUF_INIT;
    struct chread_keys *k = keys_of("[" KEY("k", "String") "]", &cols, 1, texts, "");
    assert_int_equal(keys_arrays(k, 0, 1, &(struct chread_limits){9, 70, 9}, &sql), 0);
    assert_int_equal(sql.len, 0);
    chread_keys_free(k);
    columns_free(&cols);
    buf_free(&sql);
}

/* Consecutive integers are a condition of their own from a thousand on, and no other key is in it. */
static void test_runs(void **state)
{
    (void)state;
    struct columns cols = COLUMNS_INIT;
    struct buf sql = BUF_INIT;
    parse("[" KEY("k", "Int32") "]", &cols);
    struct chread_keys *k = chread_keys_new(&cols);
    char cell[32];
    for (int i = 0; i < 4000; i++) {
        /* 999 that follow one another, 1000, and the rest with gaps */
        int v = i < 999 ? i - 500 : i < 1999 ? i + 1 : 2 * i;
        snprintf(cell, sizeof cell, "[\"%d\"]", v);
        add(k, 1, cell, 1);
    }
    chread_keys_sort(k, "");
    assert_int_equal(keys_arrays(k, 0, 4000, &(struct chread_limits){2001, 262144, 9}, &sql), 2001);
    assert_non_null(strstr(
        buf_str(&sql),
        "`k` BETWEEN toInt32('1000') AND toInt32('1999') OR `k` IN (SELECT arrayJoin(reinterpret(base64Decode('"));
    assert_int_equal(strstr(buf_str(&sql), "`k` BETWEEN") - buf_str(&sql), 0);
    assert_null(strstr(buf_str(&sql) + 1, "`k` BETWEEN"));
    buf_reset(&sql);
    assert_int_equal(keys_arrays(k, 999, 4000, &(struct chread_limits){1000, 262144, 9}, &sql), 1999);
    assert_string_equal(buf_str(&sql), "`k` BETWEEN toInt32('1000') AND toInt32('1999')");
    buf_reset(&sql);
    assert_int_equal(keys_arrays(k, 999, 1998, &(struct chread_limits){1000, 262144, 9}, &sql), 1998);
    assert_null(strstr(buf_str(&sql), "BETWEEN"));
    buf_reset(&sql);
    chread_keys_expressions(k, "toInt8(k)");
    assert_int_equal(keys_arrays(k, 999, 4000, &(struct chread_limits){1000, 262144, 9}, &sql), 1999);
    assert_null(strstr(buf_str(&sql), "BETWEEN"));
    chread_keys_free(k);
    columns_free(&cols);
    buf_free(&sql);
}

/* ---- answers that hold other keys ---- */

static void expect_asked(enum chread_format f, const unsigned char *p, size_t n, struct chread_asked asked,
                         const char *rows, const char *why)
{
    struct columns cols = COLUMNS_INIT;
    static const char *const owed[] = {"[\"0\",null,\"1\"]", "[\"-2\",null,\"1\"]", "[\"7\",null,\"1\"]"};
    struct chread_keys *k = keys_of(THREE, &cols, 3, owed, "k");
    asked.keys = k;
    for (size_t piece = 1; piece <= n; piece += 7) {
        struct buf got = BUF_INIT;
        struct err err = ERR_INIT;
        struct chread_decoder *d = chread_decoder_new(f, &cols, 1 << 20, collect, &got);
        chread_decoder_ask(d, &asked);
        int rc = 0;
        for (size_t at = 0; at < n && rc == 0; at += piece)
            rc = chread_decode(d, (const char *)p + at, n - at < piece ? n - at : piece, &err);
        if ((rc == 0) != (why == NULL) || (why && !strstr(err.text, why)) || strcmp(buf_str(&got), rows) != 0)
            fail_msg("pieces of %zu: %d %s: %s", piece, rc, err.text, buf_str(&got));
        if (rc == 0)
            assert_true(chread_decoded(d) == 3 && chread_passed_over(d) == 1);
        chread_decoder_free(d);
        buf_free(&got);
    }
    chread_keys_free(k);
    columns_free(&cols);
}

static void test_rows_of_other_keys(void **state)
{
    (void)state;
    for (int f = 0; f < 2; f++) {
        enum chread_format form = f == 0 ? CHREAD_NATIVE : CHREAD_ROWBINARY;
        const unsigned char *p = f == 0 ? native : rowbinary;
        size_t n = f == 0 ? sizeof native : sizeof rowbinary;
        static const char both[] = "[\"-2\",\"ab\",\"7\"]\n[\"0\",{\"b64\":\"/0E=\"},\"0\"]\n",
                          one[] = "[\"-2\",\"ab\",\"7\"]\n";
        expect_asked(form, p, n, (struct chread_asked){NULL, 0, 3, true, 3, 2}, both, NULL);
        expect_asked(form, p, n, (struct chread_asked){NULL, 0, 3, false, 3, 3}, one,
                     "row 2 of the answer is of a key that was not asked for");
        expect_asked(form, p, n, (struct chread_asked){NULL, 0, 1, false, 3, 3}, one,
                     "row 2 of the answer is of a key");
        expect_asked(form, p, n, (struct chread_asked){NULL, 1, 3, false, 3, 3}, "", "row 1 of the answer is of a key");
        expect_asked(form, p, n, (struct chread_asked){NULL, 0, 3, true, 2, 2}, one, "more rows than the 2");
        expect_asked(form, p, n, (struct chread_asked){NULL, 0, 3, true, 3, 1}, one,
                     "more rows than --max-rows-per-query, 1");
    }
}

/* ---- definitions and lines ---- */

static void test_ttl(void **state)
{
    (void)state;
    static const char *const with[] = {
        "CREATE TABLE d.t (`a` Int64, `ts` DateTime) ENGINE = MergeTree ORDER BY a TTL ts + toIntervalDay(1) SETTINGS x = 1",
        "CREATE TABLE d.t (`a` Int64, `s` String TTL ts + toIntervalDay(1)) ENGINE = MergeTree ORDER BY a",
        "CREATE TABLE d.t (`a` Int64, `s` String DEFAULT 'x' TTL ts) ENGINE = MergeTree ORDER BY a",
        "CREATE TABLE d.t (`a` Int64, `s` String CODEC(ZSTD(1)) TTL ts) ENGINE = MergeTree ORDER BY a",
        "MergeTree PARTITION BY toYYYYMM(ts) ORDER BY (a, b) TTL ts + toIntervalDay(1) WHERE a > 1",
    };
    static const char *const without[] = {
        "CREATE TABLE d.t (`a` Int64) ENGINE = MergeTree ORDER BY a SETTINGS merge_with_ttl_timeout = 1",
        "CREATE TABLE d.TTL (`TTL` Int64 COMMENT ' TTL x', `b` Int64 DEFAULT TTL + 1) ENGINE = MergeTree PARTITION BY TTL ORDER BY (TTL, b)",
        "CREATE TABLE d.t (`a` String DEFAULT 'it\\'s TTL x') ENGINE = MergeTree ORDER BY a COMMENT 'no '' TTL x'",
        "MergeTree ORDER BY TTL SETTINGS index_granularity = 8192",
        "MergeTree ORDER BY 'unclosed TTL x",
    };
    for (size_t i = 0; i < sizeof with / sizeof *with; i++)
        if (!definition_has_ttl(with[i]))
            fail_msg("no TTL seen: %s", with[i]);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (definition_has_ttl(without[i]))
            fail_msg("TTL seen: %s", without[i]);
}

static void expect_ttl(const char *definition, enum ttl_kind kind, const char *said)
{
    struct arena a = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct ttl t;
    definition_ttl(definition, &a, &t);
    if (t.kind == TTL_DELETES)
        ttl_say(&t, &text);
    else if (t.kind == TTL_OTHER)
        buf_adds(&text, t.why);
    if (t.kind != kind || strcmp(buf_str(&text), said) != 0)
        fail_msg("%s: %d '%s'", definition, (int)t.kind, buf_str(&text));
    buf_free(&text);
    arena_free(&a);
}

static void test_ttl_forms(void **state)
{
    (void)state;
    static const char none_of[] = "its TTL is none of a column plus a constant",
                      column[] = "a column has a TTL, by which its values vanish";
    static const struct {
        const char *clause;
        enum ttl_kind kind;
        const char *said;
    } of[] = {
        {"", TTL_NONE, ""},
        {" TTL t", TTL_DELETES, "t"},
        {" TTL t SETTINGS index_granularity = 8192", TTL_DELETES, "t"},
        {" TTL t + toIntervalDay(30) COMMENT ' TTL x'", TTL_DELETES, "t + toIntervalDay(30)"},
        {" TTL t + toIntervalMonth(-3)", TTL_DELETES, "t + toIntervalMonth(-3)"},
        {" TTL `a \\`+ t` + toIntervalYear(1) SETTINGS x = 1", TTL_DELETES, "a `+ t + toIntervalYear(1)"},
        {" TTL TTL + toIntervalSecond(9223372036854775807)", TTL_DELETES,
         "TTL + toIntervalSecond(9223372036854775807)"},
        {" TTL toIntervalDay + toIntervalWeek(1)", TTL_DELETES, "toIntervalDay + toIntervalWeek(1)"},
        {" TTL t + toIntervalDay(1) RECOMPRESS CODEC(ZSTD(3), LZ4), t + toIntervalDay(9)", TTL_DELETES,
         "t + toIntervalDay(9)"},
        {" TTL t + toIntervalDay(9), x(t) TO DISK 'a, b' SETTINGS y = 2", TTL_DELETES, "t + toIntervalDay(9)"},
        {" TTL t + toIntervalDay(1) TO VOLUME 'slow'", TTL_KEEPS, ""},
        {" TTL t + toIntervalDay(1) WHERE a > 5", TTL_OTHER, "its TTL has a WHERE"},
        {" TTL t + toIntervalDay(1) TO DISK 'a', t WHERE a > 5, t", TTL_OTHER, "its TTL has a WHERE"},
        {" TTL t + toIntervalDay(1) GROUP BY a SET b = max(b), t = max(t)", TTL_OTHER, "its TTL has a GROUP BY"},
        {" TTL t, u", TTL_OTHER, "rows go by two TTLs"},
        {" TTL t FOREVER", TTL_OTHER, "its TTL is of a form that is not known here"},
        {" TTL t + toIntervalMillisecond(30)", TTL_OTHER, none_of},
        {" TTL t - toIntervalDay(30)", TTL_OTHER, none_of},
        {" TTL t + toIntervalDay(1.5)", TTL_OTHER, none_of},
        {" TTL t + toIntervalDay(a)", TTL_OTHER, none_of},
        {" TTL t + toIntervalDay(9223372036854775808)", TTL_OTHER, none_of},
        {" TTL (t + toIntervalDay(1)) + toIntervalHour(1)", TTL_OTHER, none_of},
        {" TTL (t + toIntervalDay(1))", TTL_OTHER, none_of},
        {" TTL t + toIntervalDay(1) + toIntervalHour(1)", TTL_OTHER, none_of},
        {" TTL toIntervalDay(1) + t", TTL_OTHER, none_of},
        {" TTL addDays(t, 3)", TTL_OTHER, none_of},
        {" TTL t + 86400", TTL_OTHER, none_of},
        {" TTL 't' + toIntervalDay(1)", TTL_OTHER, none_of},
        {" TTL `t + toIntervalDay(1)", TTL_OTHER, none_of},
        {" TTL if(a > 0 AND b IN (1, 2), t, u) + toIntervalDay(1)", TTL_OTHER, none_of},
        {" TTL", TTL_OTHER, none_of},
        {" TTL + toIntervalDay(1)", TTL_OTHER, none_of},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct buf text = BUF_INIT;
        struct arena a = ARENA_INIT;
        struct ttl both;
        buf_printf(&text, "MergeTree PARTITION BY toYYYYMM(t) ORDER BY (a, TTL)%s", of[i].clause);
        expect_ttl(buf_str(&text), of[i].kind, of[i].said);
        definition_ttl_of_both("CREATE TABLE d.t (`a` Int64) ENGINE = MergeTree ORDER BY a TTL a", text.p, &a, &both);
        assert_int_equal(both.kind, TTL_OTHER);
        arena_free(&a);
        buf_reset(&text);
        buf_printf(
            &text,
            "CREATE TABLE d.t (`a` Int64, `t` DateTime DEFAULT now(), `TTL` Int8) ENGINE = MergeTree ORDER BY a%s",
            of[i].clause);
        expect_ttl(buf_str(&text), of[i].kind, of[i].said);
        buf_reset(&text);
        buf_printf(&text, "CREATE TABLE d.t (`a` Int64, `s` String TTL t) ENGINE = MergeTree ORDER BY a%s",
                   of[i].clause);
        expect_ttl(buf_str(&text), TTL_OTHER, column);
        buf_free(&text);
    }
}

/* Every row of a table that keeps all. */
static const struct chread_expect bare = {.database = "d", .table = "t"};

/* All tables of an Ordinary database have the same UUID, zero: it names none of them. */
static void test_form(void **state)
{
    (void)state;
    static const char zero[] = "00000000-0000-0000-0000-000000000000";
    static const struct {
        const char *server, *table, *engine, *type, *kind, *why;
        enum status status;
    } cases[] = {
        {"u", "t", "MergeTree", "String", "DEFAULT", NULL, STATUS_PASSED},
        {"u", "t", "MergeTree", "LowCardinality(String)", "", "'s' was String and is LowCardinality(String)",
         STATUS_UNAVAILABLE},
        {zero, "t", "MergeTree", "String", "", "server has no UUID", STATUS_UNSUPPORTED},
        {"u", zero, "MergeTree", "String", "", "table has no UUID", STATUS_UNSUPPORTED},
        {"u", "t", "ReplicatedMergeTree", "String", "", "ReplicatedMergeTree", STATUS_UNSUPPORTED},
        {"u", "t", "Distributed", "String", "", "Distributed", STATUS_UNSUPPORTED},
        {"u", "t", "", "String", "", "unknown", STATUS_UNSUPPORTED},
        {"u", "t", "MergeTree", "FixedString(2)", "", "was String and is FixedString(2)", STATUS_UNAVAILABLE},
        {"u", "t", "MergeTree", "String", "MATERIALIZED", "'s' was filled by its writers and is MATERIALIZED now",
         STATUS_UNAVAILABLE},
        {"u", "t", "MergeTree", "String", "EPHEMERAL", "is EPHEMERAL now", STATUS_UNAVAILABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chread_table t = CHREAD_TABLE_INIT;
        struct chread_column c = {(char[]){"s"}, xstrdup(cases[i].type), xstrdup(cases[i].kind)};
        struct chread_why why = {0};
        struct columns cols = COLUMNS_INIT;
        char *texts[] = {xstrdup(cases[i].server), xstrdup(cases[i].table), xstrdup(cases[i].engine)};
        parse("[{\"name\":\"s\",\"type\":\"String\",\"key\":true}]", &cols);
        t.server_uuid = texts[0];
        t.table_uuid = texts[1];
        t.engine = texts[2];
        t.create_table_query = (char[]){""};
        t.engine_full = texts[2];
        t.columns = &c;
        t.n_columns = 1;
        int got = chread_form(&t, &bare, &cols, &why);
        if ((got == 0) != (cases[i].why == NULL) || why.status != cases[i].status ||
            (got != 0 && strstr(why.reason, cases[i].why) == NULL))
            fail_msg("case %zu: %d %s", i, got, why.reason);
        for (int k = 0; k < 3; k++)
            free(texts[k]);
        free(c.type);
        free(c.kind);
        columns_free(&cols);
    }
}

/* What the table computed when it was declared is read as that, and as nothing else. */
static void test_form_of_a_computed_column(void **state)
{
    (void)state;
    static const struct {
        const char *is, *why;
    } cases[] = {{"ALIAS", NULL},
                 {"MATERIALIZED", "'s' was ALIAS and is MATERIALIZED now"},
                 {"", "'s' was ALIAS and is filled by its writers now"},
                 {"DEFAULT", "'s' was ALIAS and is DEFAULT now"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct chread_table t = CHREAD_TABLE_INIT;
        struct chread_column c = {(char[]){"s"}, (char[]){"String"}, (char *)(uintptr_t)cases[i].is};
        struct chread_why why = {0};
        struct columns cols = COLUMNS_INIT;
        parse("[{\"name\":\"s\",\"type\":\"String\",\"kind\":\"ALIAS\"}]", &cols);
        t.server_uuid = t.table_uuid = (char[]){"u"};
        t.engine = t.engine_full = (char[]){"MergeTree"};
        t.create_table_query = (char[]){""};
        t.columns = &c;
        t.n_columns = 1;
        int got = chread_form(&t, &bare, &cols, &why);
        assert_int_equal(got, cases[i].why ? -1 : 0);
        assert_true(!cases[i].why || strstr(why.reason, cases[i].why));
        columns_free(&cols);
    }
}

/* Another zone is another type, though its values are the same numbers; another spelling is none. */
static void test_form_of_a_type(void **state)
{
    (void)state;
    static const struct {
        const char *was, *is, *why;
    } cases[] = {
        {"DateTime64(3,'UTC')", "DateTime64(3, 'UTC')", NULL},
        {"DateTime64(3)", "DateTime64(3, 'UTC')", "'s' was DateTime64(3) and is DateTime64(3, 'UTC')"},
        {"DateTime('UTC')", "DateTime('Europe/Berlin')", "was DateTime('UTC') and is DateTime('Europe/Berlin')"},
        {"Nullable(DateTime('UTC'))", "Nullable(DateTime)", "was Nullable(DateTime('UTC')) and is Nullable(DateTime)"},
        {"LowCardinality(Nullable(String))", "Nullable(String)", "was LowCardinality(Nullable(String)) and is"},
        {"Decimal64(4)", "Decimal(18, 4)", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = BUF_INIT;
        struct columns cols = COLUMNS_INIT;
        struct chread_why why = {0};
        struct chread_column c = {(char[]){"s"}, (char *)(uintptr_t)cases[i].is, (char[]){""}};
        struct chread_table t = CHREAD_TABLE_INIT;
        buf_printf(&text, "[{\"name\":\"s\",\"type\":\"%s\"%s}]", cases[i].was,
                   strstr(cases[i].was, "Date") ? ",\"from\":\"ms\"" : "");
        parse(buf_str(&text), &cols);
        t.server_uuid = t.table_uuid = (char[]){"u"};
        t.engine = t.engine_full = (char[]){"MergeTree"};
        t.create_table_query = (char[]){""};
        t.columns = &c;
        t.n_columns = 1;
        int got = chread_form(&t, &bare, &cols, &why);
        if ((got == 0) != (cases[i].why == NULL) ||
            (got != 0 && (!strstr(why.reason, cases[i].why) || why.cause.code != CODE_COLUMN_TYPE_CHANGED)))
            fail_msg("case %zu: %d %s", i, got, why.reason);
        columns_free(&cols);
        buf_free(&text);
    }
}

static void test_lines(void **state)
{
    (void)state;
    assert_false(chread_line_supported("18.16.1"));
    assert_false(chread_line_supported("24.2.9.1"));
    assert_false(chread_line_supported(""));
    assert_true(chread_line_supported("24.3.1.1"));
    assert_true(chread_line_supported("26.5.1.1"));
    assert_true(chread_line_supported("26.7.3.1"));
    assert_true(chread_line_supported("126.5"));
}

/* ---- a scripted server ---- */

static void text(struct buf *b, const char *s)
{
    buf_addc(b, (char)strlen(s)); /* shorter than 128 bytes */
    buf_adds(b, s);
}

static void answer_texts(struct mock *m, enum mock_do what, size_t rows, size_t n, const char *const *texts)
{
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < n; i++)
        text(&b, texts[i]);
    mock_own(m, what, (unsigned)rows, 0, b.p, b.len);
    buf_free(&b);
}

static void script_open(struct mock *m)
{
    answer_texts(m, MOCK_ANSWER, 1, 1, (const char *[]){"26.5.1.1"});
    answer_texts(m, MOCK_ANSWER, 3, 6,
                 (const char *[]){"apply_patch_parts", "0", "max_query_size", "262144", "new_overflow_mode", "break"});
}

static void script_look(struct mock *m, const char *server, const char *table, enum mock_do last)
{
    answer_texts(m, MOCK_ANSWER, 1, 5, (const char *[]){server, "26.5.1.1", "host", "UTC", "1758000000000"});
    answer_texts(m, MOCK_ANSWER, 1, 6,
                 (const char *[]){table, "MergeTree", "MergeTree ORDER BY k", "CREATE TABLE t", "", "k"});
    answer_texts(m, MOCK_ANSWER, 1, 3, (const char *[]){"k", "UInt8", ""});
    answer_texts(m, MOCK_ANSWER, 0, 0, NULL);
    answer_texts(m, last, 1, 1, (const char *[]){"0"});
}

struct served {
    struct columns cols;
    struct chread ch;
    struct chread_options o;
    struct chread_table t;
    struct chread_keys *keys;
    struct buf rows;
    struct chread_why why;
};

static const struct chread_expect evidence = {.server_uuid = "u1", .database = "d", .table = "t", .table_uuid = "t1"};

static int begin(struct served *s, struct mock *m)
{
    *s = (struct served){.o = {.format = CHREAD_ROWBINARY, .max_rows = 100, .keys_per_query = 100, .max_bytes = 4096}};
    s->o.http.url = m->url;
    parse("[{\"name\":\"k\",\"type\":\"UInt8\",\"key\":true}]", &s->cols);
    s->keys = chread_keys_new(&s->cols);
    add(s->keys, 1, "[\"7\"]", 1);
    chread_keys_sort(s->keys, "k");
    mock_start(m);
    if (chread_open(&s->ch, &s->o, &s->why) != 0)
        return -1;
    s->ch.arrays_known = true; /* and none are taken */
    return chread_look(&s->ch, &evidence, &s->t, &s->why);
}

static int rows_of(struct served *s)
{
    uint64_t n;
    buf_reset(&s->rows);
    struct chread_stretch all = {0, chread_keys_count(s->keys), false};
    return chread_rows(&s->ch, &evidence, &s->t, &s->cols, s->keys, &(struct chread_plan){&all, 1}, collect, &s->rows,
                       &n, &s->why);
}

static void end(struct served *s, struct mock *m)
{
    chread_close(&s->ch);
    chread_table_free(&s->t);
    chread_keys_free(s->keys);
    columns_free(&s->cols);
    buf_free(&s->rows);
    mock_stop(m);
    mock_free(m);
}

static void expect_why(const struct served *s, enum status status, bool refused, const char *text_part)
{
    if (s->why.status != status || s->why.refused != refused || strstr(s->why.reason, text_part) == NULL)
        fail_msg("status %d refused %d: %s", (int)s->why.status, s->why.refused, s->why.reason);
}

/* What stands behind the rows, such as an old server's text of an error, decodes as rows: where they are of keys that
 * were asked for, only the count tells. */
static void test_phantom_rows(void **state)
{
    (void)state;
    struct mock m;
    struct served s;
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u1", "t1", MOCK_ANSWER);
    mock_own(&m, MOCK_ANSWER, 1, 0, "\7", 1);
    mock_own(&m, MOCK_ANSWER, 1, 0, "\7\7\7\7\7\7\7\7\7\7", 10);
    mock_answer(&m, MOCK_ANSWER, 200, MOCK_ID, "\7", 1);
    mock_own(&m, MOCK_ANSWER, 2, 0, "\7", 1);
    mock_raw(
        &m, MOCK_CLOSE,
        "HTTP/1.1 200 OK\r\nX-ClickHouse-Summary: {\"result_rows\":\"1\"}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\7\r\n",
        95);
    assert_int_equal(begin(&s, &m), 0);
    assert_int_equal(rows_of(&s), 0);
    assert_string_equal(buf_str(&s.rows), "[\"7\"]\n");
    assert_int_equal(rows_of(&s), -1);
    expect_why(&s, STATUS_UNAVAILABLE, false, "the server counted 1 rows and 10 came");
    assert_int_equal(rows_of(&s), -1);
    expect_why(&s, STATUS_UNAVAILABLE, false, "it has no summary");
    assert_int_equal(rows_of(&s), -1);
    expect_why(&s, STATUS_UNAVAILABLE, false, "the server counted 2 rows and 1 came");
    assert_int_equal(rows_of(&s), -1);
    expect_why(&s, STATUS_UNAVAILABLE, false, "broke off");
    end(&s, &m);
}

/* What the server knows is sent neutral, whatever the user's profile says, and nothing that it does not know. */
static void test_settings_sent(void **state)
{
    (void)state;
    struct mock m;
    struct served s;
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u1", "t1", MOCK_ANSWER);
    mock_own(&m, MOCK_ANSWER, 0, 0, "", 0);
    assert_int_equal(begin(&s, &m), 0);
    assert_int_equal(rows_of(&s), 0);
    chread_close(&s.ch);
    mock_stop(&m);
    for (size_t i = 0; i < m.done; i++) {
        const char *head = buf_str(&m.heads[i]);
        static const char *const always[] = {"readonly=2",
                                             "wait_end_of_query=1",
                                             "limit=0",
                                             "offset=0",
                                             "additional_table_filters=%7B%7D",
                                             "result_overflow_mode=throw",
                                             "max_execution_time=30",
                                             "apply_deleted_mask=1",
                                             "final=0"};
        for (size_t k = 0; k < sizeof always / sizeof *always; k++)
            if (strstr(head, always[k]) == NULL)
                fail_msg("statement %zu: no %s", i, always[k]);
        bool known = i >= 2;
        assert_true((strstr(head, "new_overflow_mode=throw") != NULL) == known);
        assert_true((strstr(head, "apply_patch_parts=1") != NULL) == known);
        assert_null(strstr(head, "use_query_condition_cache"));
    }
    assert_non_null(strstr(buf_str(&m.heads[7]), "max_result_rows=100&"));
    assert_string_equal(buf_str(&m.bodies[7]), "SELECT `k` FROM `d`.`t` WHERE `k` IN (7) FORMAT RowBinary");
    chread_table_free(&s.t);
    chread_keys_free(s.keys);
    columns_free(&s.cols);
    buf_free(&s.rows);
    mock_free(&m);
}

static void test_identity(void **state)
{
    (void)state;
    struct mock m;
    struct served s;
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u2", "t1", MOCK_ANSWER);
    assert_int_equal(begin(&s, &m), -1);
    expect_why(&s, STATUS_UNAVAILABLE, true, "server's UUID is u2, and the scope's is u1");
    end(&s, &m);
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u1", "t2", MOCK_ANSWER);
    assert_int_equal(begin(&s, &m), -1);
    expect_why(&s, STATUS_UNAVAILABLE, true, "table's UUID is t2, and the scope's is t1");
    end(&s, &m);
}

/* An owed cell may be of a number without a name, as a stream that somebody edited has it. */
static void test_enum_without_a_name(void **state)
{
    (void)state;
    static const char *const rows[] = {"[{\"unnamed\":\"-9\"}]", "[\"a\"]"};
    struct columns cols = COLUMNS_INIT;
    struct buf sql = BUF_INIT;
    struct chread_keys *k = keys_of("[" KEY("k", "Enum8('a' = 1)") "]", &cols, 2, rows, "");
    keys_literals(k, 0, 2, &wide_limits, &sql);
    assert_string_equal(buf_str(&sql), "`k` IN (reinterpret(unhex('f7'),'Array(Enum8(\\'a\\' = 1))')[1],'a')");
    chread_keys_free(k);
    columns_free(&cols);
    buf_free(&sql);
}

/* ---- how the keys are read ---- */

static void script_error(struct mock *m, int code)
{
    char head[128];
    snprintf(head, sizeof head, "%sX-ClickHouse-Exception-Code: %d\r\n", MOCK_ID, code);
    mock_answer(m, MOCK_ANSWER, 500, head, "limit exceeded", 14);
}

#define COUNTED \
    "SELECT toString(count()) FROM (SELECT 1 FROM `d`.`t` WHERE `k` BETWEEN toUInt8('7') AND toUInt8('9') LIMIT 6) FORMAT RowBinary"
#define RANGE "SELECT `k` FROM `d`.`t` WHERE `k` BETWEEN toUInt8('7') AND toUInt8('9') FORMAT RowBinary"
#define PROBE \
    "SELECT toString(reinterpret(base64Decode('Bwk='),'Array(UInt8)') = [toUInt8('7'),toUInt8('9')]) FORMAT RowBinary"
#define ARRAYS \
    "SELECT `k` FROM `d`.`t` WHERE `k` IN (SELECT arrayJoin(reinterpret(base64Decode('Bwk='),'Array(UInt8)'))) FORMAT RowBinary"
#define LITERALS "SELECT `k` FROM `d`.`t` WHERE `k` IN (7,9) FORMAT RowBinary"

/* The keys 7 and 9, planned and read from a server that answers as the letters say: n a count (of the digit behind), y
 * and z the probe, e an error of the server, r three rows of which 8 was not asked for, k the two. What was asked
 * stands in want, NULL at its end. */
static void expect_way(const char *answers, uint64_t limit, int rc, const char *const *want, const char *why)
{
    struct mock m;
    struct served s;
    struct chread_plan plan;
    uint64_t n = 0;
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u1", "t1", MOCK_ANSWER);
    for (const char *a = answers; *a != '\0'; a++)
        switch (*a) {
        case 'n': answer_texts(&m, MOCK_ANSWER, 1, 1, (const char *[]){(char[]){*++a, '\0'}}); break;
        case 'y': answer_texts(&m, MOCK_ANSWER, 1, 1, (const char *[]){"1"}); break;
        case 'z': answer_texts(&m, MOCK_ANSWER, 1, 1, (const char *[]){"0"}); break;
        case 'e': script_error(&m, 396); break;
        case 'r': mock_own(&m, MOCK_ANSWER, 3, 0, "\7\10\11", 3); break;
        default: mock_own(&m, MOCK_ANSWER, 2, 0, "\7\11", 2); break;
        }
    assert_int_equal(begin(&s, &m), 0);
    s.ch.arrays_known = false;
    s.ch.limits.bytes = limit;
    add(s.keys, 1, "[\"9\"]", 1);
    chread_keys_sort(s.keys, "k");
    assert_int_equal(chread_plan(&s.ch, &evidence, &s.t, s.keys, &plan, &s.why), 0);
    int got = chread_rows(&s.ch, &evidence, &s.t, &s.cols, s.keys, &plan, collect, &s.rows, &n, &s.why);
    if (got != rc || (rc == 0 && (n != 2 || strcmp(buf_str(&s.rows), "[\"7\"]\n[\"9\"]\n") != 0)))
        fail_msg("%s: %d %s: %s", answers, got, s.why.reason, buf_str(&s.rows));
    if (rc != 0)
        expect_why(&s, STATUS_UNAVAILABLE, false, why);
    assert_int_equal(s.ch.passed_over, strchr(answers, 'r') != NULL && rc == 0);
    chread_close(&s.ch);
    mock_stop(&m);
    size_t i = 7;
    for (; want[i - 7]; i++)
        if (i >= m.done || strcmp(buf_str(&m.bodies[i]), want[i - 7]) != 0)
            fail_msg("%s: statement %zu: %s", answers, i, i < m.done ? buf_str(&m.bodies[i]) : "none");
    assert_int_equal(m.done, i);
    chread_plan_free(&plan);
    chread_table_free(&s.t);
    chread_keys_free(s.keys);
    columns_free(&s.cols);
    buf_free(&s.rows);
    mock_free(&m);
}

/* Few rows beside the keys: a range, whose other rows are passed over; else the keys. */
static void test_chosen(void **state)
{
    (void)state;
    expect_way("n5r", 262144, 0, (const char *[]){COUNTED, RANGE, NULL}, NULL);
    expect_way("n6yk", 262144, 0, (const char *[]){COUNTED, PROBE, ARRAYS, NULL}, NULL);
    expect_way("nxyk", 262144, 0, (const char *[]){COUNTED, PROBE, ARRAYS, NULL}, NULL);
    expect_way("eyk", 262144, 0, (const char *[]){COUNTED, PROBE, ARRAYS, NULL}, NULL);
    expect_way("n6yr", 262144, -1, (const char *[]){COUNTED, PROBE, ARRAYS, NULL},
               "reading the rows: row 2 of the answer is of a key that was not asked for");
}

/* What the server does not answer is asked for in another way; what it does not unpack as it is meant goes as literals.
 */
static void test_asked_in_another_way(void **state)
{
    (void)state;
    expect_way("n5eyk", 262144, 0, (const char *[]){COUNTED, RANGE, PROBE, ARRAYS, NULL}, NULL);
    expect_way("n6zk", 262144, 0, (const char *[]){COUNTED, PROBE, LITERALS, NULL}, NULL);
    expect_way("n6ek", 262144, 0, (const char *[]){COUNTED, PROBE, LITERALS, NULL}, NULL);
    /* A profile that lets through no statement of that length is not asked that. */
    expect_way("n6zk", 199, 0, (const char *[]){COUNTED, PROBE, LITERALS, NULL}, NULL);
    expect_way("k", 110, 0, (const char *[]){LITERALS, NULL}, NULL);
    expect_way("n6ye", 262144, -1, (const char *[]){COUNTED, PROBE, ARRAYS, NULL}, "396");
}

/* ---- lists of any length ---- */

enum { FEW = 25000, MANY = 4 * FEW, RATIO_MOST = 9 };

static void numbered(struct buf *b, const char *form, unsigned i)
{
    char name[100];
    snprintf(name, sizeof name, form, i);
    text(b, name);
}

/* n settings of the user that the server knows, each to be sent neutral. */
static void script_settings(struct mock *m, unsigned n)
{
    struct buf b = BUF_INIT;
    answer_texts(m, MOCK_ANSWER, 1, 1, (const char *[]){"26.5.1.1"});
    for (unsigned i = 0; i < n; i++) {
        numbered(&b, "s%u_overflow_mode", i);
        text(&b, "break");
    }
    mock_own(m, MOCK_ANSWER, n, 0, b.p, b.len);
    buf_free(&b);
}

static void script_mutations(struct mock *m, unsigned n)
{
    struct buf b = BUF_INIT;
    answer_texts(m, MOCK_ANSWER, 1, 5, (const char *[]){"u1", "26.5.1.1", "host", "UTC", "1758000000000"});
    answer_texts(m, MOCK_ANSWER, 1, 6,
                 (const char *[]){"t1", "MergeTree", "MergeTree ORDER BY k", "CREATE TABLE t", "", "k"});
    answer_texts(m, MOCK_ANSWER, 1, 3, (const char *[]){"k", "UInt8", ""});
    for (unsigned i = 0; i < n; i++) {
        numbered(&b, "mutation_%u.txt", i);
        text(&b, "(DELETE WHERE k = 1)");
        text(&b, "1758000000");
        text(&b, i % 2 == 0 ? "1" : "0");
    }
    mock_own(m, MOCK_ANSWER, n, 0, b.p, b.len);
    answer_texts(m, MOCK_ANSWER, 1, 1, (const char *[]){"0"});
    buf_free(&b);
}

/* This thread's: what the scripted server takes is not counted. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A server answers without the setting too, and its JSON is then something else than text: in RowBinary nothing shows
 * it. */
static void test_a_server_that_gives_no_json_as_text(void **state)
{
    static const char *const settings[][2] = {{"output_format_binary_write_json_as_string", "0"},
                                              {"output_format_native_write_json_as_string", "0"}};
    (void)state;
    for (int format = CHREAD_NATIVE; format <= CHREAD_ROWBINARY; format++)
        for (int has = 0; has < 2; has++) {
            struct mock m;
            struct chread ch;
            struct chread_why why = {0};
            struct chread_options o = {.format = (enum chread_format)format, .json_text = true};
            bool fits = (format == CHREAD_ROWBINARY) == (has == 0);
            mock_listen(&m);
            answer_texts(&m, MOCK_ANSWER, 1, 1, (const char *[]){"26.5.1.1"});
            answer_texts(&m, MOCK_ANSWER, 1, 2, settings[has]);
            o.http.url = m.url;
            mock_start(&m);
            assert_int_equal(chread_open(&ch, &o, &why), fits ? 0 : -1);
            if (fits)
                assert_string_equal(ch.settings[ch.n_settings - 1].value, "1");
            else
                assert_true(why.status == STATUS_UNSUPPORTED && why.cause.code == CODE_SERVER_UNSUPPORTED &&
                            strstr(why.reason, settings[!has][0]));
            chread_close(&ch);
            mock_stop(&m);
            mock_free(&m);
        }
}

static double open_with_settings(unsigned n)
{
    struct mock m;
    struct chread ch;
    struct chread_why why;
    struct chread_options o = {.format = CHREAD_ROWBINARY, .max_rows = 100, .keys_per_query = 100, .max_bytes = 4096};
    mock_listen(&m);
    script_settings(&m, n);
    o.http.url = m.url;
    mock_start(&m);
    double before = cpu_s();
    if (chread_open(&ch, &o, &why) != 0)
        fail_msg("%s", why.reason);
    double took = cpu_s() - before;
    assert_true(ch.n_settings >= n);
    chread_close(&ch);
    mock_stop(&m);
    mock_free(&m);
    return took;
}

/* Two looks at n mutations each, half of them running, and what the second has that the first had not: none. */
static double look_at_mutations(unsigned n)
{
    struct mock m;
    struct served s;
    struct chread_table last;
    struct chread_unstable u = CHREAD_UNSTABLE_INIT;
    mock_listen(&m);
    script_open(&m);
    script_mutations(&m, n);
    script_mutations(&m, n);
    double before = cpu_s();
    assert_int_equal(begin(&s, &m), 0);
    assert_int_equal(chread_look(&s.ch, &evidence, &last, &s.why), 0);
    chread_find_unstable(&s.ch, &s.t, &last, &u);
    double took = cpu_s() - before;
    assert_int_equal(last.n_mutations, n);
    assert_int_equal(u.n, n / 2);
    chread_unstable_free(&u);
    chread_table_free(&last);
    end(&s, &m);
    return took;
}

/* Four times as many take about four times the processor's time; once more where not, as the machine has other work. */
static void expect_linear(double (*take)(unsigned n), const char *what)
{
    double few = 0, many = 0;
    for (int i = 0; i < 2; i++) {
        few = take(FEW);
        many = take(MANY);
        if (many <= RATIO_MOST * (few > 0.02 ? few : 0.02))
            return;
    }
    fail_msg("%d %s took %.2f s, %d %.2f s", FEW, what, few, MANY, many);
}

static void test_many_settings(void **state)
{
    (void)state;
    expect_linear(open_with_settings, "settings");
}

static void test_many_mutations(void **state)
{
    (void)state;
    expect_linear(look_at_mutations, "mutations");
}

/* The kept connection goes away under the read: what answers at the address now is looked at before its rows count. */
static void moved(const char *server, const char *table, enum mock_do rows, int want, const char *why)
{
    struct mock m;
    struct served s;
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u1", "t1", MOCK_CLOSE);
    mock_own(&m, rows, 1, 0, "\7", 1);
    script_look(&m, server, table, MOCK_ANSWER);
    assert_int_equal(begin(&s, &m), 0);
    int got = rows_of(&s);
    if (got != want)
        fail_msg("%s/%s: %d %s", server, table, got, s.why.reason);
    if (want != 0)
        expect_why(&s, STATUS_UNAVAILABLE, false, why);
    end(&s, &m);
}

static void test_new_connection(void **state)
{
    (void)state;
    moved("u1", "t1", MOCK_ANSWER, 0, "");
    moved("u2", "t1", MOCK_ANSWER, -1, "server's UUID changed from 'u1' to 'u2'");
    moved("u1", "t2", MOCK_ANSWER, -1, "table's UUID changed from 't1' to 't2'");
    moved("u1", "t1", MOCK_CLOSE, -1, "keeps no connection");
}

/* A hostile server: what it sends beyond what was asked for is not taken, and what it does not prove does not count. */
static void test_more_than_asked(void **state)
{
    (void)state;
    struct mock m;
    struct served s;
    static char sevens[4096];
    memset(sevens, 7, sizeof sevens);
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u1", "t1", MOCK_ANSWER);
    mock_own(&m, MOCK_ANSWER, 101, 0, sevens, 101);
    mock_forever(&m, MOCK_ENDLESS, "", sevens, sizeof sevens);
    assert_int_equal(begin(&s, &m), 0);
    assert_int_equal(rows_of(&s), -1);
    expect_why(&s, STATUS_UNAVAILABLE, false, "more rows than the 100 that were asked for at most");
    assert_int_equal(s.rows.len, 100 * strlen("[\"7\"]\n"));
    assert_int_equal(rows_of(&s), -1);
    expect_why(&s, STATUS_UNAVAILABLE, false, "more rows than the 100 that were asked for at most");
    end(&s, &m);
}

static void expect_no_look(void (*script)(struct mock *m), enum status status, const char *why)
{
    struct mock m;
    struct served s;
    mock_listen(&m);
    script(&m);
    assert_int_equal(begin(&s, &m), -1);
    expect_why(&s, status, false, why);
    end(&s, &m);
}

static void huge_version(struct mock *m)
{
    mock_forever(m, MOCK_ENDLESS, MOCK_ID, "\1", 1);
}

static void two_versions(struct mock *m)
{
    answer_texts(m, MOCK_ANSWER, 2, 2, (const char *[]){"26.5.1.1", "26.7.1.1"});
}

static void page(struct mock *m)
{
    mock_answer(m, MOCK_ANSWER, 200, "", "<html>", 6);
    mock_answer(m, MOCK_ANSWER, 200, "", "<html>", 6);
}

/* An old line proves nothing of its answers, and is refused by its name all the same. */
static void old_line(struct mock *m)
{
    for (int i = 0; i < 2; i++)
        mock_answer(m, MOCK_ANSWER, 200, "", "\00718.16.1", 8);
}

/* One that does not prove itself is not taken at its word for a line that is supported. */
static void unproven_line(struct mock *m)
{
    for (int i = 0; i < 2; i++)
        mock_answer(m, MOCK_ANSWER, 200, "", "\01026.5.1.1", 9);
}

static void another_server(struct mock *m)
{
    script_open(m);
    mock_answer(m, MOCK_ANSWER, 200, "X-ClickHouse-Query-Id: x\r\nX-ClickHouse-Summary: {\"result_rows\":\"1\"}\r\n",
                "\2u1\00826.5.1.1\1h\3UTC\0010", 20);
}

static void test_unproven_looks(void **state)
{
    (void)state;
    expect_no_look(huge_version, STATUS_UNAVAILABLE, "connecting: the answer is larger than 16384 bytes");
    expect_no_look(two_versions, STATUS_UNAVAILABLE, "connecting: the answer is not the 1 rows of 1 texts");
    expect_no_look(page, STATUS_UNAVAILABLE,
                   "connecting: an answer of status 200 that the server did not provably give");
    expect_no_look(old_line, STATUS_UNSUPPORTED, "the server is ClickHouse 18.16.1; lines before 24.3");
    expect_no_look(unproven_line, STATUS_UNAVAILABLE, "the query id did not come back");
    expect_no_look(another_server, STATUS_UNAVAILABLE, "the query id of another statement");
}

/* ---- answers that cannot be ---- */

static void test_answers_that_cannot_be(void **state)
{
    (void)state;
    char *running[] = {"m", "DELETE WHERE 1", "1758000000", "2"}, *late[] = {"m", "c", "9223372036854775807", "1"};
    char *here[] = {"u", "26.5.1.1", "h", "UTC", "9223372036854775807"};
    char *a[] = {"a", "1", "0"}, *b[] = {"b", "18446744073709551615", "0"};
    char **one[] = {running}, **no_time[] = {late}, **server[] = {here}, **backwards[] = {b, a}, **twice[] = {a, a},
         **many[] = {a, b};
    struct chread_table t = CHREAD_TABLE_INIT;
    struct chread_why why;
    /* What does not say that it is done runs. */
    assert_int_equal(table_take_mutations(&(struct texts){.rows = one, .n = 1}, &t, &why), 0);
    assert_false(t.mutations[0].done);
    chread_table_free(&t);
    assert_int_equal(table_take_mutations(&(struct texts){.rows = no_time, .n = 1}, &t, &why), -1);
    assert_string_equal(why.reason, "reading system.mutations: '9223372036854775807' is no time");
    chread_table_free(&t);
    assert_int_equal(table_take_server(&(struct texts){.rows = server, .n = 1}, &t, &why), -1);
    chread_table_free(&t);
    /* Of two columns of a name nobody could tell which one is meant. */
    char *id[] = {"id", "Int64", ""}, *s[] = {"s", "String", ""}, *id_again[] = {"id", "String", ""};
    char **columns[] = {id, s, id_again};
    assert_int_equal(table_take_columns(&(struct texts){.rows = columns, .n = 2}, &t, &why), 0);
    chread_table_free(&t);
    assert_int_equal(table_take_columns(&(struct texts){.rows = columns, .n = 3}, &t, &why), -1);
    assert_int_equal(why.cause.code, CODE_ANSWER_BROKEN);
    assert_string_equal(why.reason, "reading system.columns: column 'id' is there twice");
    chread_table_free(&t);
    /* Parts are compared in the order of their names. */
    char ***const lists[] = {backwards, twice, many};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct chread_parts parts = CHREAD_PARTS_INIT;
        assert_int_equal(parts_take(&(struct texts){.rows = lists[i], .n = 2}, &parts, &why), 1);
        assert_int_equal(why.cause.code, CODE_ANSWER_BROKEN);
        chread_parts_free(&parts);
    }
    assert_string_equal(neutral_value("new_overflow_mode"), "throw");
    assert_null(neutral_value("n\xadw_overflow_mode"));
}

/* ---- the tables under a Merge ---- */

static void texts_of(struct texts *x, size_t columns, size_t n, const char *const *all)
{
    struct chread_why why;
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < n * columns; i++)
        text(&b, all[i]);
    *x = (struct texts)TEXTS_INIT;
    if (session_take(&b, n, columns, n, x, "it", &why) != 0)
        fail_msg("%s", why.reason);
    buf_free(&b);
}

static int take(struct chread_table *t, enum under_what what, size_t n, const char *const *all, struct chread_why *why)
{
    static const struct engine merge = {.kind = ENGINE_MERGE, .database = "d", .tables = "^a"};
    struct buf sql = BUF_INIT;
    struct texts x;
    texts_of(&x, under_ask(&sql, what, &merge, &evidence), n, all);
    assert_non_null(strstr(buf_str(&sql), " WHERE database = 'd' AND match("));
    assert_non_null(strstr(buf_str(&sql), ", '^a') AND NOT (database = 'd' AND "));
    int rc = under_take(what, &x, t, why);
    texts_free(&x);
    buf_free(&sql);
    return rc;
}

#define UNDER(name, uuid) name, uuid, "MergeTree", "MergeTree ORDER BY k", "CREATE TABLE", "", "k"

/* A Merge of these tables, each with the columns k and, but for the last, s. */
static void merge_of(struct chread_table *t, size_t n, const char *const *all)
{
    struct chread_why why;
    *t = (struct chread_table)CHREAD_TABLE_INIT;
    t->server_uuid = xstrdup("u1");
    t->server_version = xstrdup("26.5.1.1");
    t->table_uuid = xstrdup("t1");
    t->engine = xstrdup("Merge");
    t->engine_full = xstrdup("Merge('d', '^a')");
    t->create_table_query = xstrdup("");
    t->sorting_key = xstrdup("");
    assert_int_equal(take(t, UNDER_TABLES, n, all, &why), 0);
    const char **columns = xcalloc(8 * n, sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        const char *const own[] = {all[7 * i], "k", "UInt8", "", all[7 * i], "s", "String", ""};
        memcpy(columns + 8 * i, own, sizeof own);
    }
    assert_int_equal(take(t, UNDER_COLUMNS, 2 * n - 1, columns, &why), 0);
    assert_int_equal(take(t, UNDER_MUTATIONS, 1, (const char *[]){"a1/mutation_2.txt", "DELETE", "7", "0"}, &why), 0);
    free(columns);
}

static void test_tables_under_a_merge(void **state)
{
    static const char *const two[] = {UNDER("a1", "x"), UNDER("a2", "y")},
                             *const third[] = {UNDER("a1", "x"), UNDER("a2", "y"), UNDER("a3", "z")},
                             *const other[] = {UNDER("a1", "x"), UNDER("a2", "w")},
                             *const unordered[] = {UNDER("a2", "x"), UNDER("a1", "y")};
    (void)state;
    struct chread_table a, b, c;
    struct chread_unstable u = CHREAD_UNSTABLE_INIT;
    struct chread_why why;
    struct buf differs = BUF_INIT;
    struct columns cols;
    const struct chread_expect rows = {.every_row = true};
    const struct chread_options none = {.max_rows = 1};
    const struct chread ch = {.o = &none};
    merge_of(&a, 2, two);
    merge_of(&b, 3, third);
    merge_of(&c, 2, other);
    assert_int_equal(a.n_under, 2);
    assert_int_equal(a.under[0].look.n_columns, 2);
    assert_int_equal(a.under[1].look.n_columns, 1);
    assert_true(chread_same(&a, &a, &differs));
    assert_false(chread_same(&a, &b, &differs));
    assert_string_equal(buf_str(&differs), "table 'a3' came under the Merge");
    buf_reset(&differs);
    assert_false(chread_same(&b, &a, &differs));
    assert_string_equal(buf_str(&differs), "table 'a3' is gone from under the Merge");
    buf_reset(&differs);
    assert_false(chread_same(&a, &c, &differs));
    assert_string_equal(buf_str(&differs), "table 'a2' under the Merge: the UUID changed from 'y' to 'w'");
    chread_find_unstable(&ch, &a, &a, &u);
    assert_string_equal(buf_str(&u.reason), "mutation a1/mutation_2.txt in progress");
    parse("[{\"name\":\"k\",\"type\":\"UInt8\",\"key\":true}]", &cols);
    /* its own columns are not asked for here: the Merge's are judged as any table's */
    a.columns = xcalloc(1, sizeof *a.columns);
    a.columns[a.n_columns++] = (struct chread_column){xstrdup("k"), xstrdup("UInt8"), xstrdup("")};
    if (chread_form(&a, &rows, &cols, &why) != 0)
        fail_msg("%s", why.reason);
    free(a.under[1].look.columns[0].type);
    a.under[1].look.columns[0].type = xstrdup("UInt16");
    assert_int_equal(chread_form(&a, &rows, &cols, &why), -1);
    assert_string_equal(why.reason, "table 'a2' under the Merge: column 'k' was UInt8 and is UInt16");
    chread_table_free(&c);
    c = (struct chread_table)CHREAD_TABLE_INIT;
    assert_int_equal(take(&c, UNDER_TABLES, 2, unordered, &why), -1);
    assert_int_equal(why.cause.code, CODE_ANSWER_BROKEN);
    chread_unstable_free(&u);
    columns_free(&cols);
    buf_free(&differs);
    chread_table_free(&a);
    chread_table_free(&b);
    chread_table_free(&c);
}

/* A table whose name this user is not shown may have rows that the Merge shows. */
static void test_rows_of_tables_that_are_not_seen_under_a_merge(void **state)
{
    static const char *const two[] = {UNDER("a'2", "y"), UNDER("a1", "x")}, *const counts[] = {"5", "x", "0"};
    (void)state;
    struct mock m;
    struct served s;
    struct chread_table t;
    mock_listen(&m);
    script_open(&m);
    script_look(&m, "u1", "t1", MOCK_ANSWER);
    for (size_t i = 0; i < 3; i++)
        answer_texts(&m, MOCK_ANSWER, 1, 1, &counts[i]);
    assert_int_equal(begin(&s, &m), 0);
    merge_of(&t, 2, two);
    assert_int_equal(chread_under_whole(&s.ch, &evidence, &t, &s.why), -1);
    expect_why(&s, STATUS_UNAVAILABLE, false, "shows 5 rows of tables that this user does not see");
    assert_int_equal(chread_under_whole(&s.ch, &evidence, &t, &s.why), -1);
    assert_int_equal(s.why.cause.code, CODE_ANSWER_BROKEN);
    assert_int_equal(chread_under_whole(&s.ch, &evidence, &t, &s.why), 0);
    assert_int_equal(chread_under_whole(&s.ch, &evidence, &s.t, &s.why), 0); /* no Merge: nothing is asked */
    chread_table_free(&t);
    end(&s, &m);
}

static void test_more_tables_than_are_read_under_a_merge(void **state)
{
    enum { OVER = 1001 };
    static char names[OVER][8];
    static const char *all[7 * OVER];
    struct chread_table t = CHREAD_TABLE_INIT;
    struct chread_why why;
    (void)state;
    for (size_t i = 0; i < OVER; i++) {
        snprintf(names[i], sizeof names[i], "a%05zu", i);
        const char *const one[] = {UNDER(names[i], names[i])};
        memcpy(all + 7 * i, one, sizeof one);
    }
    assert_int_equal(take(&t, UNDER_TABLES, OVER, all, &why), -1);
    assert_int_equal(why.status, STATUS_UNSUPPORTED);
    assert_int_equal(take(&t, UNDER_TABLES, OVER - 1, all, &why), 0);
    chread_table_free(&t);
}

/* The page's table of engines is what is read: each that it names, and every one that is known. */
static void test_engines_of_the_page(void **state)
{
    (void)state;
    struct buf page = BUF_INIT;
    struct err err = ERR_INIT;
    size_t listed = 0;
    unsigned known = 0;
    if (file_read("man/owed.7", (size_t)1 << 20, &page, &err) != 0)
        fail_msg("%s", err.text);
    const char *p = strstr(buf_str(&page), ".Sh ENGINES"), *end = p ? strstr(p, ".El") : NULL;
    assert_non_null(end);
    while ((p = strstr(p, "\n.It ")) != NULL && p < end) {
        char name[64], every[8], last[8], full[128];
        p += 5;
        if (sscanf(p, "%63s Ta %7s Ta %7s", name, every, last) != 3 || strcmp(name, "Em") == 0)
            continue;
        const char *plain = strncmp(name, "Replicated", 10) == 0 ? name + 10 : name;
        const char *columns = strncmp(plain, "Versioned", 9) == 0 ? "(sg, ver)"
                              : strncmp(plain, "Coll", 4) == 0    ? "(sg)"
                                                                  : "";
        snprintf(full, sizeof full, "%s%s%s", name, columns, strcmp(name, "View") == 0 ? "" : " ORDER BY s");
        struct arena a = ARENA_INIT;
        struct engine e;
        struct columns cols = COLUMNS_INIT;
        struct chread_column c = {.name = (char[]){"s"}, .type = (char[]){"String"}, .kind = (char[]){""}};
        struct chread_why why = {0};
        struct chread_table t = CHREAD_TABLE_INIT;
        parse("[{\"name\":\"s\",\"type\":\"String\",\"key\":true}]", &cols);
        engine_parse(name, full, &a, &e);
        known |= 1u << e.kind;
        t.server_uuid = t.table_uuid = (char[]){"u"};
        t.engine = name;
        t.engine_full = full;
        t.sorting_key = (char[]){"s"};
        t.create_table_query = (char[]){""};
        t.columns = &c;
        t.n_columns = 1;
        struct chread_under under = {.name = (char[]){"u"}};
        under.look = t;
        under.look.engine = under.look.engine_full = (char[]){"MergeTree"};
        if (strcmp(name, "Merge") == 0) {
            static char merge[] = "Merge('d', '^u')";
            t.engine_full = merge;
            engine_parse(name, t.engine_full, &a, &e);
            known |= 1u << e.kind;
            t.under = &under;
            t.n_under = 1;
        }
        const struct chread_expect rows = {.every_row = true}, final = {.every_row = true, .final = &e};
        if ((chread_form(&t, &rows, &cols, &why) == 0) != (strcmp(every, "yes") == 0))
            fail_msg("%s: every row: %s, and %s", name, every, why.reason);
        if ((engine_merges(&e) && chread_form(&t, &final, &cols, &why) == 0) != (strcmp(last, "yes") == 0))
            fail_msg("%s: with --final: %s", name, last);
        listed++;
        columns_free(&cols);
        arena_free(&a);
    }
    assert_true(listed >= 18);
    assert_int_equal(known, (1u << ENGINE_KINDS) - 1);
    buf_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_every_end),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_number_keys),
        cmocka_unit_test(test_extreme_keys),
        cmocka_unit_test(test_text_keys),
        cmocka_unit_test(test_composite_keys),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_rows_of_other_keys),
        cmocka_unit_test(test_enum_without_a_name),
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_asked_in_another_way),
        cmocka_unit_test(test_ttl),
        cmocka_unit_test(test_ttl_forms),
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_engines_of_the_page),
        cmocka_unit_test(test_form_of_a_computed_column),
        cmocka_unit_test(test_form_of_a_type),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_phantom_rows),
        cmocka_unit_test(test_settings_sent),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_many_settings),
        cmocka_unit_test(test_many_mutations),
        cmocka_unit_test(test_new_connection),
        cmocka_unit_test(test_more_than_asked),
        cmocka_unit_test(test_unproven_looks),
        cmocka_unit_test(test_a_server_that_gives_no_json_as_text),
        cmocka_unit_test(test_tables_under_a_merge),
        cmocka_unit_test(test_rows_of_tables_that_are_not_seen_under_a_merge),
        cmocka_unit_test(test_more_tables_than_are_read_under_a_merge),
        cmocka_unit_test(test_answers_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
