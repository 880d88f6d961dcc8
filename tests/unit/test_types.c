/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: every spelling that has cells, every wrong one, equality by value,
 * and the columns array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "types/types.h"

static struct type parse(const char *s)
{
    struct type t;
    struct err err = ERR_INIT;

    if (type_parse(s, strlen(s), &t, &err) != 0) {
        fail_msg("%s: refused: %s", s, err.text);
    }
    return t;
}

/* Spelling, plain spelling, kind, bits, precision, scale. */
static const struct {
    const char *text, *plain;
    enum type_kind kind;
    unsigned bits, precision, scale;
} known[] = {
    {"Int8", "Int8", TYPE_INT, 8, 0, 0},
    {"Int16", "Int16", TYPE_INT, 16, 0, 0},
    {"Int32", "Int32", TYPE_INT, 32, 0, 0},
    {"Int64", "Int64", TYPE_INT, 64, 0, 0},
    {"Int128", "Int128", TYPE_INT, 128, 0, 0},
    {"Int256", "Int256", TYPE_INT, 256, 0, 0},
    {"UInt8", "UInt8", TYPE_UINT, 8, 0, 0},
    {"UInt16", "UInt16", TYPE_UINT, 16, 0, 0},
    {"UInt32", "UInt32", TYPE_UINT, 32, 0, 0},
    {"UInt64", "UInt64", TYPE_UINT, 64, 0, 0},
    {"UInt128", "UInt128", TYPE_UINT, 128, 0, 0},
    {"UInt256", "UInt256", TYPE_UINT, 256, 0, 0},
    {"bigint unsigned", "UInt64", TYPE_UINT, 64, 0, 0},
    {"BIGINT(20)  UNSIGNED", NULL, TYPE_OTHER, 0, 0, 0},
    {"INT(11)", "Int32", TYPE_INT, 32, 0, 0},
    {"Float32", "Float32", TYPE_FLOAT, 32, 0, 0},
    {"Float64", "Float64", TYPE_FLOAT, 64, 0, 0},
    {"double\n precision", "Float64", TYPE_FLOAT, 64, 0, 0},
    {"FLOAT(12, 2)", "Float32", TYPE_FLOAT, 32, 0, 0},
    {"Decimal(18, 4)", "Decimal(18, 4)", TYPE_DECIMAL, 64, 18, 4},
    {" decimal ( 18,4 ) ", "Decimal(18, 4)", TYPE_DECIMAL, 64, 18, 4},
    {"Decimal(5)", "Decimal(5, 0)", TYPE_DECIMAL, 32, 5, 0},
    {"Decimal", "Decimal(10, 0)", TYPE_DECIMAL, 64, 10, 0},
    {"Decimal32(9)", "Decimal(9, 9)", TYPE_DECIMAL, 32, 9, 9},
    {"Decimal64(4)", "Decimal(18, 4)", TYPE_DECIMAL, 64, 18, 4},
    {"Decimal128(0)", "Decimal(38, 0)", TYPE_DECIMAL, 128, 38, 0},
    {"Decimal256(76)", "Decimal(76, 76)", TYPE_DECIMAL, 256, 76, 76},
    {"Decimal(9, 0)", "Decimal(9, 0)", TYPE_DECIMAL, 32, 9, 0},
    {"Decimal(10, 0)", "Decimal(10, 0)", TYPE_DECIMAL, 64, 10, 0},
    {"Decimal(19, 0)", "Decimal(19, 0)", TYPE_DECIMAL, 128, 19, 0},
    {"Decimal(39, 0)", "Decimal(39, 0)", TYPE_DECIMAL, 256, 39, 0},
    {"NUMERIC(12,2)", "Decimal(12, 2)", TYPE_DECIMAL, 64, 12, 2},
    {"Date", "Date", TYPE_DATE, 16, 0, 0},
    {"Date32", "Date32", TYPE_DATE32, 32, 0, 0},
    {"DateTime", "DateTime", TYPE_DATETIME, 32, 0, 0},
    {"DateTime('UTC')", "DateTime", TYPE_DATETIME, 32, 0, 0},
    {"DateTime('America/Argentina/Buenos_Aires')", "DateTime", TYPE_DATETIME, 32, 0, 0},
    {"DateTime(0)", "DateTime", TYPE_DATETIME, 32, 0, 0},
    {"DateTime(3)", "DateTime64(3)", TYPE_DATETIME64, 64, 0, 3},
    {"DateTime32('Etc/GMT+3')", "DateTime", TYPE_DATETIME, 32, 0, 0},
    {"DateTime64(6)", "DateTime64(6)", TYPE_DATETIME64, 64, 0, 6},
    {"DateTime64(0)", "DateTime64(0)", TYPE_DATETIME64, 64, 0, 0},
    {"DateTime64(9, 'Europe/Berlin')", "DateTime64(9)", TYPE_DATETIME64, 64, 0, 9},
    {"DateTime64", "DateTime64(3)", TYPE_DATETIME64, 64, 0, 3},
    {"Bool", "Bool", TYPE_BOOL, 8, 0, 0},
    {"boolean", "Bool", TYPE_BOOL, 8, 0, 0},
    {"String", "String", TYPE_STRING, 0, 0, 0},
    {"VARCHAR(255)", "String", TYPE_STRING, 0, 0, 0},
    {"LowCardinality(String)", "String", TYPE_STRING, 0, 0, 0},
    {"LowCardinality(Nullable(String))", "Nullable(String)", TYPE_STRING, 0, 0, 0},
    {"Nullable(Decimal(18, 4))", "Nullable(Decimal(18, 4))", TYPE_DECIMAL, 64, 18, 4},
    {"Nullable( DateTime64(3, 'UTC') )", "Nullable(DateTime64(3))", TYPE_DATETIME64, 64, 0, 3},
    {"UUID", "UUID", TYPE_UUID, 128, 0, 0},
    {"Nullable(UUID)", "Nullable(UUID)", TYPE_UUID, 128, 0, 0},
    {"LowCardinality(UUID)", "UUID", TYPE_UUID, 128, 0, 0},
    {"LowCardinality(Int64)", "Int64", TYPE_INT, 64, 0, 0},
    {"LowCardinality(Nullable(Date))", "Nullable(Date)", TYPE_DATE, 16, 0, 0},
    {"FixedString(3)", "FixedString(3)", TYPE_FIXED_STRING, 24, 0, 0},
    {"binary(4)", "FixedString(4)", TYPE_FIXED_STRING, 32, 0, 0},
    {"FixedString(16777215)", "FixedString(16777215)", TYPE_FIXED_STRING, 134217720, 0, 0},
    {"IPv4", "IPv4", TYPE_IPV4, 32, 0, 0},
    {"INET6", "IPv6", TYPE_IPV6, 128, 0, 0},
    {"Time", "Time", TYPE_TIME, 32, 0, 0},
    {"Time64", "Time64(3)", TYPE_TIME64, 64, 0, 3},
    {"Time64(9)", "Time64(9)", TYPE_TIME64, 64, 0, 9},
    {"BFloat16", "BFloat16", TYPE_FLOAT, 16, 0, 0},
    {"Enum8('a' = 1, 'b' = -2)", "Enum8('b' = -2, 'a' = 1)", TYPE_ENUM, 8, 0, 0},
    {"Enum16('it''s (x' = 1)", "Enum16('it\\'s (x' = 1)", TYPE_ENUM, 16, 0, 0},
    {"Enum8('\\'' = 1, '' = 2, '\\x41\\t\\\\' = 3)", "Enum8('\\'' = 1, '' = 2, 'A\t\\\\' = 3)", TYPE_ENUM, 8, 0, 0},
    {"ENUM('a', 'b')", "Enum8('a' = 1, 'b' = 2)", TYPE_ENUM, 8, 0, 0},
    {"Enum('a' = 128)", "Enum16('a' = 128)", TYPE_ENUM, 16, 0, 0},
    {"SimpleAggregateFunction(max, Int64)", "Int64", TYPE_INT, 64, 0, 0},
    {"SimpleAggregateFunction(groupArrayArray(3), Array(Int8))", "Array(Int8)", TYPE_ARRAY, 0, 0, 0},
    {"Array(String)", "Array(String)", TYPE_ARRAY, 0, 0, 0},
    {"Array( DateTime64(3, 'UTC') )", "Array(DateTime64(3))", TYPE_ARRAY, 0, 0, 0},
    {"Tuple()", "Tuple()", TYPE_TUPLE, 0, 0, 0},
    {"Tuple(a Int8, `b ``c` String)", "Tuple(`a` Int8, `b \\`c` String)", TYPE_TUPLE, 0, 0, 0},
    {"Map(String, Array(UInt64))", "Map(String, Array(UInt64))", TYPE_MAP, 0, 0, 0},
    {"Nested(a Int8, b String)", "Nested(`a` Int8, `b` String)", TYPE_NESTED, 0, 0, 0},
    {"Point", "Tuple(Float64, Float64)", TYPE_TUPLE, 0, 0, 0},
    {"Polygon", "Array(Array(Tuple(Float64, Float64)))", TYPE_ARRAY, 0, 0, 0},
};

static void test_spellings_that_have_cells(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct type t, u;
        struct err err = ERR_INIT;
        struct buf b = BUF_INIT;

        if (known[i].plain == NULL) { /* the server takes no width before UNSIGNED's word */
            assert_int_equal(type_parse(known[i].text, strlen(known[i].text), &t, &err), -1);
            continue;
        }
        t = parse(known[i].text);
        type_spell(&t, &b);
        assert_string_equal(buf_str(&b), known[i].plain);
        assert_int_equal(t.kind, known[i].kind);
        assert_int_equal(t.bits, known[i].bits);
        assert_int_equal(t.precision, known[i].precision);
        assert_int_equal(t.scale, known[i].scale);
        assert_true(type_supported(&t));
        assert_int_equal(t.nullable, strstr(known[i].text, "Nullable") != NULL);
        assert_int_equal(t.low_cardinality, strstr(known[i].text, "LowCardinality") != NULL);
        u = parse(buf_str(&b));
        assert_true(type_equal(&t, &u));
        type_free(&t);
        type_free(&u);
        buf_free(&b);
    }
}

static void test_well_formed_types_without_cells_keep_their_name(void **state)
{
    static const char *const names[] = {
        "Nothing",
        "Array(Variant(Int8, String))",
        "Array(Int8, Int8)",
        "Map(String)",
        "Map(String, Dynamic)",
        "Tuple(a Int8, String)",
        "Tuple(a Int8, b Dynamic)",
        "Nested(Int8)",
        "Nested()",
        "Nullable(Tuple(Int8))",
        "Nullable(Array(Int8))",
        "Nullable(Point)",
        "LowCardinality(Array(String))",
        "LowCardinality(Decimal(9, 2))",
        "LowCardinality(DateTime64(3))",
        "LowCardinality(Enum8('a' = 1))",
        "SimpleAggregateFunction(sum)",
        "SimpleAggregateFunction(any, Dynamic)",
        "Nullable(SimpleAggregateFunction(max, Int64))",
        "Geometry",
        "QBit(Float32, 4)",
        "Nullable(Nullable(Int8))",
        "Nullable(LowCardinality(String))",
        "LowCardinality(LowCardinality(String))",
        "AggregateFunction(quantiles(0.5, 0.9), UInt64)",
        "Variant(Int8, String)",
        "Dynamic(max_types=3)",
        "JSON(...)",
        "LowCardinality(JSON)",
        "Nullable(LowCardinality(JSON))",
        "Tuple(a DateTime, b JSON)", /* of what its owed values come as there is one word */
        "Map(Date, Array(JSON))",
        "Array(Array(Dynamic))",
        "Object('json')",
        "int64",
        "uint8",
        "float64",
        "string",
        "Enum8(...)",
        "IntervalDay",
        "Int512",
        "nullable(Int8)",
        "Nullable",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct type t = parse(names[i]);
        assert_int_equal(t.kind, TYPE_OTHER);
        assert_string_equal(t.name, names[i]);
        assert_false(type_supported(&t));
        assert_false(t.nullable);
        assert_false(type_is_key(&t));
        type_free(&t);
    }
}

/* The types inside, as text: each its plain spelling and, in brackets, what stands in it. */
static void show(const struct type *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_of; i++) {
        buf_adds(out, i > 0 ? ";" : "");
        type_spell(&t->of[i], out);
        buf_addc(out, '[');
        show(&t->of[i], out);
        buf_addc(out, ']');
    }
}

static void test_what_stands_inside_a_type_is_read_with_it(void **state)
{
    static const struct {
        const char *name, *of;
    } cases[] = {
        {"Array( Decimal64(4) )", "Decimal(18, 4)[]"},
        {"Array(Nullable(DateTime64(3, 'UTC')))", "Nullable(DateTime64(3))[]"},
        {"Array(Variant(Int8, String))", "Variant(Int8, String)[Int8[];String[]]"},
        {"Nullable(Tuple(a Int8))", "Tuple(`a` Int8)[Int8[]]"},
        {"Map(String, Array(UInt64))", "String[];Array(UInt64)[UInt64[]]"},
        {"Tuple(a Int8, `b, (c` String, \"d\" double precision)", "Int8[];String[];Float64[]"},
        {"Tuple(Int8, String)", "Int8[];String[]"},
        {"Tuple(a Tuple(b Enum8('x,)' = 1), c UUID))",
         "Tuple(`b` Enum8('x,)' = 1), `c` UUID)[Enum8('x,)' = 1)[];UUID[]]"},
        {"Nested(a TINYINT UNSIGNED)", "UInt8[]"},
        {"Nullable(Nullable(Int8))", "Nullable(Int8)[]"},
        {"Nullable(UUID)", ""},
        {"LowCardinality(Nullable(Date))", ""},
        {"SimpleAggregateFunction(max, Int64)", ""},
        {"SimpleAggregateFunction(any, Dynamic)", "any[];Dynamic[]"},
        {"AggregateFunction(quantiles(0.5, 0.9), UInt64)", "quantiles(0.5, 0.9)[];UInt64[]"},
        {"Tuple()", ""},
        {"FixedString(3)", ""},
        {"Enum8('a' = 1, 'b' = -2)", ""},
        {"Object('json')", ""},
        {"JSON(max_dynamic_paths=8, a.b UInt32, SKIP c)", ""},
        {"Array(Decimal(99, 1))", ""}, /* no type: the array is known by its name alone */
        {"Tuple(Int8, )", ""},
        {"Tuple(`a`)", ""},
        {"Enum8(...)", ""},
        {"Int64", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct type t = parse(cases[i].name);
        struct buf b = BUF_INIT;
        show(&t, &b);
        assert_string_equal(buf_str(&b), cases[i].of);
        assert_string_equal(t.name, cases[i].name);
        buf_free(&b);
        type_free(&t);
    }
}

static void test_text_that_is_no_type_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "8Int",
        "Int64)",
        "Int64(",
        "(Int64)",
        "Array(String",
        "Array(String))",
        "Array(String) x",
        "Enum8('a = 1)",
        "Enum8('a\\')",
        "Tuple(`a Int8)",
        "Int64;",
        "Int64, Int8",
        "Enum8('a' = 128)",
        "Enum8('a' = 1, 'a' = 2)",
        "Enum8('a' = 1, 'b' = 1)",
        "Enum16('a' = 32768)",
        "Enum8()",
        "Enum8",
        "Enum8(a = 1)",
        "Enum8('a' = 1,)",
        "FixedString(0)",
        "FixedString",
        "FixedString(16777216)",
        "FixedString('a')",
        "Time64(10)",
        "Time64('UTC')",
        "Time(3)",
        "UUID(1)",
        "Decimal(0, 0)",
        "Decimal(77, 2)",
        "Decimal(4, 5)",
        "Decimal(18, 4, 2)",
        "Decimal(18,)",
        "Decimal(,4)",
        "Decimal()",
        "Decimal(-1, 0)",
        "Decimal('18', 4)",
        "Decimal(18, '4')",
        "Decimal32(10)",
        "Decimal64()",
        "Decimal64",
        "Decimal128(39)",
        "Decimal256('x')",
        "Decimal(18446744073709551634, 4)",
        "DateTime64(10)",
        "DateTime64('UTC')",
        "DateTime64(3, 4)",
        "DateTime64(3, UTC)",
        "DateTime64(3, 'UTC', 1)",
        "DateTime64(3, '')",
        "DateTime(3, 'UTC'",
        "DateTime('a b')",
        "DateTime(UTC)",
        "DateTime32(3)",
        "Date(3)",
        "Bool(1)",
        "Int64(x)",
        "Int64(1, 2)",
        "String('a')",
        "Nullable()",
        "Nullable(Int8",
        "Nullable(Decimal(99, 1))",
        "LowCardinality()",
        "Int64#",
        "\xc3\xa9",
        "Array(\x01)",
        "Array(String, $)",
        "DateTime('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct type t;
        struct err err = ERR_INIT;
        if (type_parse(texts[i], strlen(texts[i]), &t, &err) == 0) {
            fail_msg("%s: accepted as kind %d", texts[i], (int)t.kind);
        }
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_non_null(strstr(err.text, "type \""));
    }
    {
        struct type t;
        struct err err = ERR_INIT;
        assert_int_equal(type_parse("Int64\0", 6, &t, &err), -1);
        assert_int_equal(type_parse("Array(\0)", 8, &t, &err), -1);
        assert_int_equal(type_parse("DateTime('\0')", 13, &t, &err), -1);
    }
}

static void test_a_name_that_does_not_fit_keeps_its_family_and_can_be_read_again(void **state)
{
    struct buf b = BUF_INIT;
    struct err err = ERR_INIT;
    struct type t, u;

    (void)state;
    buf_adds(&b, "Enum16(");
    for (int i = 0; i < 100; i++) {
        buf_printf(&b, "%s'member %d' = %d", i > 0 ? ", " : "", i, i);
    }
    buf_addc(&b, ')');
    t = parse(buf_str(&b));
    assert_int_equal(t.kind, TYPE_ENUM);
    assert_string_equal(t.name, buf_str(&b));
    assert_int_equal(t.n_words, 100);
    b.p[b.len - 8] = 'x'; /* of the last member's name */
    u = parse(buf_str(&b));
    assert_false(type_equal(&t, &u));
    type_free(&t);
    type_free(&u);
    t = parse("Enum16(...)");
    u = parse("Enum16(...)");
    assert_false(type_equal(&t, &u)); /* two shortened names must not pass for one type */
    type_free(&t);
    type_free(&u);

    assert_int_equal(type_parse("Enum8('\xff' = 1)", 14, &t, &err), 0);
    assert_string_equal(t.name, "Enum8(...)");
    type_free(&t);
    assert_int_equal(type_parse("Nullable(Enum8('\xff' = 1))", 24, &t, &err), 0);
    assert_string_equal(t.name, "Nullable(Enum8(...))");
    u = parse(t.name);
    assert_int_equal(u.kind, TYPE_OTHER);
    type_free(&t);
    type_free(&u);

    buf_reset(&b);
    buf_adds(&b, "Nullable(Int64");
    for (int i = 0; i < 300; i++) {
        buf_addc(&b, ' ');
    }
    buf_addc(&b, ')');
    t = parse(buf_str(&b));
    assert_string_equal(t.name, "Nullable(Int64)");
    type_free(&t);

    buf_reset(&b);
    buf_adds(&b, "Array(String"); /* a name whose inside is known is kept, however long */
    for (int i = 0; i < 300; i++) {
        buf_addc(&b, ' ');
    }
    buf_addc(&b, ')');
    t = parse(buf_str(&b));
    assert_int_equal(t.kind, TYPE_ARRAY);
    assert_string_equal(t.name, buf_str(&b));
    type_free(&t);

    buf_reset(&b);
    buf_adds(&b, "LowCardinality(Decimal(18, 4)"); /* a family that has cells, where it has none */
    for (int i = 0; i < 300; i++) {
        buf_addc(&b, ' ');
    }
    buf_addc(&b, ')');
    t = parse(buf_str(&b));
    assert_string_equal(t.name, "LowCardinality(Decimal(...))");
    u = parse(t.name);
    assert_int_equal(u.kind, TYPE_OTHER);
    type_free(&t);
    type_free(&u);

    buf_reset(&b);
    for (int i = 0; i < 5000; i++) {
        buf_addc(&b, 'x');
    }
    t = parse(buf_str(&b));
    assert_int_equal(t.kind, TYPE_OTHER);
    type_free(&t);

    buf_reset(&b);
    for (int i = 0; i < 100000; i++) { /* depth costs no stack */
        buf_adds(&b, "Array(");
    }
    assert_int_equal(type_parse(b.p, b.len, &t, &err), -1);
    for (int i = 0; i < 100000; i++) {
        buf_addc(&b, ')');
    }
    t = parse(buf_str(&b));
    assert_string_equal(t.name, "Array(...)");
    assert_int_equal(t.n_of, 0);
    type_free(&t);
    buf_free(&b);
}

static void test_types_are_equal_by_value_not_by_spelling(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
        bool same; /* as defined, too */
    } pairs[] = {
        {"Decimal64(4)", "Decimal(18,4)", true, true},
        {"Decimal(18, 4)", "Decimal(18, 5)", false, false},
        {"Decimal(18, 4)", "Decimal(17, 4)", false, false},
        {"DateTime('UTC')", "DateTime('Europe/Berlin')", true, false},
        {"DateTime64(3)", "DateTime64(3, 'Asia/Tokyo')", true, false},
        {"DateTime64(3)", "DateTime64(6)", false, false},
        {"DateTime64(0)", "DateTime", false, false},
        {"LowCardinality(String)", "String", true, false},
        {"LowCardinality(Nullable(String))", "String", false, false},
        {"Nullable(Int64)", "Int64", false, false},
        {"Int64", "UInt64", false, false},
        {"Int64", "Int32", false, false},
        {"Bool", "UInt8", false, false},
        {"Date", "Date32", false, false},
        {"Float32", "Float64", false, false},
        {"Array(Int8)", "Array( Int8 )", true, true},
        {"Array(Int8)", "Array(Int16)", false, false},
        {"Array(Int8)", "Int8", false, false},
        {"Enum8('a' = 1)", "Enum8('a'=1)", true, true},
        {"Enum8('a ' = 1)", "Enum8('a' = 1)", false, false},
        {"DateTime64(3,'UTC')", "DateTime64( 3 , 'UTC')", true, true},
        {"DateTime", "DateTime('UTC')", true, false},
        {"Nullable(DateTime('UTC'))", "Nullable(DateTime('Etc/UTC'))", true, false},
        {"LowCardinality(String)", "LowCardinality( String )", true, true},
        {"LowCardinality(Nullable(String))", "Nullable(String)", true, false},
        {"Array(DateTime('UTC'))", "Array(DateTime)", true, false},
        {"Array(LowCardinality(String))", "Array(String)", true, false},
        {"SimpleAggregateFunction(max, Int64)", "Int64", true, false},
        {"Point", "Tuple(Float64, Float64)", true, true},
        {"Enum8('b' = 2, 'a' = 1)", "Enum8('a' = 1, 'b' = 2)", true, true},
        {"Enum8('a' = 1)", "Enum8('a' = 2)", false, false},
        {"Enum8('a' = 1)", "Enum8('a' = 1, 'b' = 2)", false, false},
        {"Enum8('a' = 1)", "Enum16('a' = 1)", false, false},
        {"FixedString(3)", "FixedString(4)", false, false},
        {"Tuple(a Int8)", "Tuple(`a` Int8)", true, true},
        {"Tuple(a Int8)", "Tuple(b Int8)", false, false},
        {"Tuple(a Int8)", "Tuple(Int8)", false, false},
        {"Map(String, UUID)", "Map(String,UUID)", true, true},
        {"Map(String, UUID)", "Map(String, Nullable(UUID))", false, false},
        {"Nested(a Int8)", "Array(Tuple(a Int8))", false, false},
        {"Array(Variant(Int8))", "Array( Variant(Int8) )", true, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct type a = parse(pairs[i].a), b = parse(pairs[i].b);
        if (type_equal(&a, &b) != pairs[i].equal || type_equal(&b, &a) != pairs[i].equal ||
            type_same(&a, &b) != pairs[i].same || type_same(&b, &a) != pairs[i].same) {
            fail_msg("%s against %s", pairs[i].a, pairs[i].b);
        }
        type_free(&a);
        type_free(&b);
    }
}

static void test_scalars_of_one_spelling_are_keys(void **state)
{
    static const char *const keys[] = {"Int8",          "UInt256",
                                       "String",        "LowCardinality(String)",
                                       "Decimal(9, 0)", "Date",
                                       "Date32",        "DateTime",
                                       "Bool",          "UUID",
                                       "DateTime64(3)", "FixedString(300)",
                                       "IPv4",          "IPv6",
                                       "Enum8('a'=1)",  "Time",
                                       "Time64",        "SimpleAggregateFunction(max, Int64)"};
    static const char *const none[] = {"Nullable(Int8)", "LowCardinality(Nullable(String))",
                                       "Float64",        "BFloat16",
                                       "Array(Int8)",    "Tuple(Int8)",
                                       "Point",          "Map(Int8, Int8)",
                                       "Nested(a Int8)", "Nullable(UUID)",
                                       "JSON",           "LowCardinality(Float32)"};

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct type t = parse(keys[i]);
        assert_true(type_is_key(&t));
        type_free(&t);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct type t = parse(none[i]);
        assert_false(type_is_key(&t));
        type_free(&t);
    }
}

static void test_a_column_holds_times_or_dictionaries_at_any_depth(void **state)
{
    static const struct {
        const char *type, *cells;
        bool time, dictionary;
    } cases[] = {
        {"Int64", CELLS_V1, false, false},
        {"LowCardinality(String)", CELLS_V1, false, true},
        {"LowCardinality(Nullable(String))", CELLS_V1, false, true},
        {"DateTime64(3)", CELLS_V1, true, false},
        {"JSON", CELLS_V1, false, false}, /* without cells it asks for none */
        {"LowCardinality(Int64)", CELLS_V2, false, true},
        {"SimpleAggregateFunction(max, Int64)", CELLS_V2, false, false},
        {"BFloat16", CELLS_V2, false, false},
        {"Time", CELLS_V2, true, false},
        {"Map(String, Array(Nullable(Date)))", CELLS_V2, true, false},
        {"Tuple(a Int8, b Array(LowCardinality(String)))", CELLS_V2, false, true},
        {"Array(UUID)", CELLS_V2, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct column c[2] = {{.type = parse("Int8")}, {.type = parse(cases[i].type)}};
        struct columns all = {.at = c, .n = 2};
        assert_int_equal(type_is_time(&c[1].type), cases[i].time);
        assert_int_equal(type_has_dictionary(&c[1].type), cases[i].dictionary);
        assert_string_equal(columns_cells(&all), cases[i].cells);
        type_free(&c[0].type);
        type_free(&c[1].type);
    }
}

static void test_json_has_cells_on_the_operators_word(void **state)
{
    static const char *const names[] = {"JSON",
                                        "Json",
                                        "JSON()",
                                        "JSON(max_dynamic_paths=8, a.b UInt32, SKIP c, SKIP REGEXP '(...)')",
                                        "JSON(  max_dynamic_paths = 8,a.b  UInt32 , SKIP c, SKIP REGEXP '(...)' )",
                                        "Nullable(JSON)",
                                        "Nullable(JSON(t DateTime))",
                                        "Array(Nullable(JSON(max_dynamic_types=3, `b.c` DateTime)))",
                                        "Tuple(a JSON, json JSON, Json Array(JSON(a Int8)))",
                                        "Map(LowCardinality(String), JSON)",
                                        "Nested(a JSON, b UInt8)",
                                        "SimpleAggregateFunction(anyLast, JSON)"};
    static const int same_as[] = {0, 0, 0, 3, 3, 5, 6, 7, 8, 9, 10, 0};
    const char *what;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct column c = {.type = parse(names[i])};
        struct columns all = {.at = &c, .n = 1};
        struct buf b = BUF_INIT;
        assert_true(type_supported(&c.type) && type_holds_json(&c.type) && !type_is_time(&c.type));
        assert_false(type_is_key(&c.type));
        assert_string_equal(c.type.name, names[i]);
        assert_int_equal(column_lacks(&c, &what), CODE_JSON_NOT_DECLARED);
        assert_string_equal(columns_cells(&all), CELLS_V1);
        c.from = FROM_JSON_TEXT;
        assert_int_equal(column_lacks(&c, &what), CODE_NONE);
        assert_string_equal(columns_cells(&all), CELLS_V2);
        type_spell(&c.type, &b);
        struct type plain = parse(buf_str(&b));
        assert_true(type_equal(&plain, &c.type));
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct type other = parse(names[k]);
            assert_int_equal(type_equal(&other, &c.type), same_as[i] == same_as[k]);
            type_free(&other);
        }
        type_free(&plain);
        type_free(&c.type);
        buf_free(&b);
    }
    struct column c = {.type = parse("Array(Dynamic)"), .from = FROM_JSON_TEXT};
    assert_int_equal(column_lacks(&c, &what), CODE_COLUMN_TYPE_UNSUPPORTED);
    type_free(&c.type);
}

static void test_units_of_time_are_read_and_named(void **state)
{
    static const char *const names[] = {"s", "ms", "us", "ns", "ticks", "days", "iso", "json-text"};
    enum type_from f = FROM_NONE;
    struct err err = ERR_INIT;

    (void)state;
    assert_null(type_from_name(FROM_NONE));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(type_from_parse(names[i], &f, &err), 0);
        assert_int_equal(f, FROM_S + (int)i);
        assert_string_equal(type_from_name(f), names[i]);
    }
    assert_int_equal(type_from_parse("m", &f, &err), -1);
    assert_int_equal(type_from_parse("", &f, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
}

static int read_columns(const char *text, bool need_from, struct columns *c, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct json *v = json_parse(text, strlen(text), &a, NULL);
    int rc;

    assert_non_null(v);
    rc = columns_parse(v, need_from, c, err);
    arena_free(&a);
    return rc;
}

static void test_columns_are_read_found_and_written(void **state)
{
    const char *text = "[{\"name\":\"event_id\",\"type\":\"Int64\",\"key\":true},"
                       "{\"name\":\"a\\u0000\\\"b\",\"type\":\"Decimal(18, 4)\",\"key\":false},"
                       "{\"name\":\"seen\",\"type\":\"DateTime64(6, 'UTC')\",\"key\":false,\"from\":\"ms\"}]";
    struct columns c;
    struct err err = ERR_INIT;
    struct buf b = BUF_INIT;
    size_t at = 9;

    (void)state;
    assert_int_equal(read_columns(text, true, &c, &err), 0);
    assert_int_equal(c.n, 3);
    assert_true(c.at[0].key);
    assert_int_equal(c.at[2].from, FROM_MS);
    assert_ptr_equal(columns_find(&c, "a\0\"b", 4, &at), &c.at[1]);
    assert_int_equal(at, 1);
    assert_null(columns_find(&c, "a", 1, NULL));
    columns_write(&c, &b);
    assert_string_equal(buf_str(&b), text);
    buf_free(&b);
    columns_free(&c);
    assert_int_equal(c.n, 0);
}

static void test_columns_without_key_and_from(void **state)
{
    struct columns c;
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(read_columns("[{\"name\":\"t\",\"type\":\"Date\"}]", false, &c, &err), 0);
    assert_false(c.at[0].key);
    assert_int_equal(c.at[0].from, FROM_NONE);
    columns_free(&c);
}

static void test_columns_outside_the_contract_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"{}", "not an array"},
        {"[]", "no column"},
        {"[1]", "columns[0]: not an object"},
        {"[{\"name\":\"a\"}]", "type"},
        {"[{\"type\":\"Int8\"}]", "name"},
        {"[{\"name\":\"\",\"type\":\"Int8\"}]", "empty"},
        {"[{\"name\":1,\"type\":\"Int8\"}]", "name"},
        {"[{\"name\":\"a\",\"type\":\"Int8(\"}]", "not a type name"},
        {"[{\"name\":\"a\",\"type\":\"Int8\",\"key\":1}]", "key"},
        {"[{\"name\":\"a\",\"type\":\"Int8\",\"extra\":1}]", "extra"},
        {"[{\"name\":\"a\",\"type\":\"Int8\"},{\"name\":\"b\",\"type\":\"Int8\"},{\"name\":\"a\",\"type\":\"Date\",\"from\":\"s\"}]",
         "two columns named \"a\""},
        {"[{\"name\":\"a\",\"type\":\"Int8\",\"from\":\"s\"}]", "on a column of type Int8"},
        {"[{\"name\":\"a\",\"type\":\"Date\"}]", "needs \"from\""},
        {"[{\"name\":\"a\",\"type\":\"Nullable(DateTime)\"}]", "needs \"from\""},
        {"[{\"name\":\"a\",\"type\":\"Date\",\"from\":\"weeks\"}]", "unit of time"},
        {"[{\"name\":\"a\",\"type\":\"Date\",\"from\":null}]", "unit of time"},
        {"[{\"name\":\"a\",\"type\":\"Date\",\"from\":\"s\\u0000\"}]", "unit of time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct columns c;
        struct err err = ERR_INIT;
        if (read_columns(bad[i].text, true, &c, &err) == 0) {
            fail_msg("%s: accepted", bad[i].text);
        }
        if (err.kind != ERR_REFUSED || strstr(err.text, bad[i].why) == NULL) {
            fail_msg("%s: %s", bad[i].text, err.text);
        }
        assert_null(c.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings_that_have_cells),
        cmocka_unit_test(test_well_formed_types_without_cells_keep_their_name),
        cmocka_unit_test(test_what_stands_inside_a_type_is_read_with_it),
        cmocka_unit_test(test_text_that_is_no_type_is_refused),
        cmocka_unit_test(test_a_name_that_does_not_fit_keeps_its_family_and_can_be_read_again),
        cmocka_unit_test(test_types_are_equal_by_value_not_by_spelling),
        cmocka_unit_test(test_scalars_of_one_spelling_are_keys),
        cmocka_unit_test(test_a_column_holds_times_or_dictionaries_at_any_depth),
        cmocka_unit_test(test_json_has_cells_on_the_operators_word),
        cmocka_unit_test(test_units_of_time_are_read_and_named),
        cmocka_unit_test(test_columns_are_read_found_and_written),
        cmocka_unit_test(test_columns_without_key_and_from),
        cmocka_unit_test(test_columns_outside_the_contract_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
