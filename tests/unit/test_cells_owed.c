/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells from owed values: numbers, text, Bool and NULL. The big table, which has
 * times too, comes from exact fractions in another language.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "cells_help.h"
#include "cells_table.h"

static void check_table_row(size_t i, struct buf *out, const char *json)
{
    const char *why;
    enum cells_result r = owed(cells_table[i].type, cells_table[i].from, json, out, &why);
    bool fits = strncmp(cells_table[i].cell, "{\"unfit", 7) != 0;
    struct column c = column(cells_table[i].type, cells_table[i].from);

    if (strcmp(buf_str(out), cells_table[i].cell) != 0 || r != (!fits                    ? CELL_UNFIT
                                                                : cells_table[i].nearest ? CELL_NEAREST
                                                                                         : CELL_FIT)) {
        fail_msg("%s %s %s: %s (%d), not %s", cells_table[i].type, cells_table[i].from, json, buf_str(out), (int)r,
                 cells_table[i].cell);
    }
    assert_true(cells_is_canonical(&c.type, out->p, out->len, !fits, &why));
    type_free(&c.type);
}

static void test_owed_values_agree_with_exact_fractions(void **state)
{
    struct buf out = BUF_INIT, json = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof cells_table / sizeof cells_table[0]; i++) {
        const char *text = cells_table[i].value;
        if (json_valid(text, strlen(text), NULL)) {
            check_table_row(i, &out, text);
        }
        buf_reset(&json);
        buf_printf(&json, "\"%s\"", text);
        check_table_row(i, &out, buf_str(&json));
    }
    buf_free(&out);
    buf_free(&json);
}

static void test_values_that_hold_others_agree_with_the_table(void **state)
{
    struct buf out = BUF_INIT;
    const char *why;

    (void)state;
    for (size_t i = 0; i < sizeof cells_values / sizeof cells_values[0]; i++) {
        enum cells_result r = owed(cells_values[i].type, cells_values[i].from, cells_values[i].json, &out, &why);
        bool fits = strncmp(cells_values[i].cell, "{\"unfit", 7) != 0;
        struct column c = column(cells_values[i].type, cells_values[i].from);
        struct buf human = BUF_INIT;
        if (strcmp(buf_str(&out), cells_values[i].cell) != 0 || (r <= CELL_NEAREST) != fits) {
            fail_msg("%s %s: %s (%d), not %s", cells_values[i].type, cells_values[i].json, buf_str(&out), (int)r,
                     cells_values[i].cell);
        }
        assert_true(cells_is_canonical(&c.type, out.p, out.len, !fits, &why));
        cells_human(&c.type, out.p, out.len, &human);
        assert_true(human.len > 0 && utf8_valid(human.p, human.len));
        buf_free(&human);
        type_free(&c.type);
    }
    buf_free(&out);
}

static void test_a_decimals_trailing_zeros_and_a_zeros_sign_are_no_difference(void **state)
{
    static const struct owed_case cases[] = {
        {"Decimal(18,2)", "", "4.00", "\"400\"", CELL_FIT},     {"Decimal(18,2)", "", "\"4\"", "\"400\"", CELL_FIT},
        {"Decimal(18,2)", "", "4.0", "\"400\"", CELL_FIT},      {"Decimal(18,2)", "", "0.00", "\"0\"", CELL_FIT},
        {"Decimal(18,2)", "", "-0.00", "\"0\"", CELL_FIT},      {"Decimal(18,2)", "", "-0.10", "\"-10\"", CELL_FIT},
        {"Decimal(18,2)", "", "-0.1", "\"-10\"", CELL_FIT},     {"Decimal(18,2)", "", "1e2", "\"10000\"", CELL_FIT},
        {"Decimal(18,2)", "", "100.00", "\"10000\"", CELL_FIT}, {"Decimal(18,2)", "", "0e999999999", "\"0\"", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_digits_past_the_scale_are_unfit_and_never_cut(void **state)
{
    static const struct owed_case cases[] = {
        {"Decimal(10,3)", "", "\"1.2349\"", "{\"unfit\":\"1.2349\"}", CELL_UNFIT},
        {"Decimal(10,3)", "", "1.234", "\"1234\"", CELL_FIT},
        {"Decimal(10,3)", "", "1.2340000", "\"1234\"", CELL_FIT},
        {"Decimal(10,3)", "", "-1.2349", "{\"unfit\":\"-1.2349\"}", CELL_UNFIT},
        {"Decimal(10,2)", "", "\"-0.001\"", "{\"unfit\":\"-0.001\"}", CELL_UNFIT},
        {"Decimal(10,2)", "", "1e8", "{\"unfit\":\"100000000\"}", CELL_UNFIT},
        {"Decimal(10,2)", "", "99999999.99", "\"9999999999\"", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_decimals_of_21_digits_do_not_wrap(void **state)
{
    static const struct owed_case cases[] = {
        {"Decimal(38,0)", "", "\"123456789012345678901\"", "\"123456789012345678901\"", CELL_FIT},
        {"Decimal(38,0)", "", "123456789012345678901", "\"123456789012345678901\"", CELL_FIT},
        {"Int128", "", "123456789012345678901", "\"123456789012345678901\"", CELL_FIT},
        {"Int64", "", "123456789012345678901", "{\"unfit\":\"123456789012345678901\"}", CELL_UNFIT},
        {"Int64", "", "18446744073709551615", "{\"unfit\":\"18446744073709551615\"}", CELL_UNFIT},
        {"UInt64", "", "18446744073709551615", "\"18446744073709551615\"", CELL_FIT},
        {"UInt64", "", "-1", "{\"unfit\":\"-1\"}", CELL_UNFIT},
        {"UInt8", "", "-1", "{\"unfit\":\"-1\"}", CELL_UNFIT},
        {"Int64", "", "9007199254740993", "\"9007199254740993\"", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_nan_null_and_minus_zero_are_three_things(void **state)
{
    static const struct owed_case cases[] = {
        {"Nullable(Float64)", "", "\"nan\"", "\"nan\"", CELL_FIT},
        {"Nullable(Float64)", "", "\"-inf\"", "\"fff0000000000000\"", CELL_FIT},
        {"Nullable(Float64)", "", "\"inf\"", "\"7ff0000000000000\"", CELL_FIT},
        {"Float32", "", "\"inf\"", "\"7f800000\"", CELL_FIT},
        {"Float32", "", "\"-inf\"", "\"ff800000\"", CELL_FIT},
        {"Float32", "", "\"nan\"", "\"nan\"", CELL_FIT},
        {"Nullable(Float64)", "", "-0.0", "\"8000000000000000\"", CELL_FIT},
        {"Nullable(Float64)", "", "\"-0\"", "\"8000000000000000\"", CELL_FIT},
        {"Nullable(Float64)", "", "0", "\"0000000000000000\"", CELL_FIT},
        {"Float32", "", "-0e5", "\"80000000\"", CELL_FIT},
        {"Nullable(Float64)", "", "null", "null", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_a_float_is_the_nearest_of_its_own_width(void **state)
{
    static const struct owed_case cases[] = {
        {"Float32", "", "146.4748", "\"4312798c\"", CELL_NEAREST},
        {"Float32", "", "146.47479248046875", "\"4312798c\"", CELL_FIT},
        {"Float64", "", "0.1", "\"3fb999999999999a\"", CELL_NEAREST},
        {"Float64", "", "0.10000000149011612", "\"3fb99999a0000000\"", CELL_NEAREST},
        {"Float64", "", "0.100000001490116119384765625", "\"3fb99999a0000000\"", CELL_FIT},
        {"Float32", "", "0.1", "\"3dcccccd\"", CELL_NEAREST},
        {"Float32", "", "16777216", "\"4b800000\"", CELL_FIT},
        {"Float32", "", "16777217", "{\"unfit\":\"16777217\"}", CELL_UNFIT},
        {"Float32", "", "\"1677721.70e1\"", "{\"unfit\":\"16777217\"}", CELL_UNFIT},
        {"Float32", "", "16777217.5", "\"4b800001\"", CELL_NEAREST},
        {"Float64", "", "-9007199254740993", "{\"unfit\":\"-9007199254740993\"}", CELL_UNFIT},
        {"Float64", "", "1e22", "\"4480f0cf064dd592\"", CELL_FIT},
        {"Float64", "", "1e23", "{\"unfit\":\"100000000000000000000000\"}", CELL_UNFIT},
        /* half way between two floats and a hair more: by way of a double it would go to the even one below */
        {"Float32", "", "1.000000059604644775390625000000000000000001", "\"3f800001\"", CELL_NEAREST},
        {"Float32", "", "1.000000059604644775390625", "\"3f800000\"", CELL_NEAREST},
        {"Float32", "", "1e39", "{\"unfit\":\"1000000000000000000000000000000000000000\"}", CELL_UNFIT},
        {"Float32", "", "1e-46", "{\"unfit\":\"0.0000000000000000000000000000000000000000000001\"}", CELL_UNFIT},
        {"Float64", "", "1e400", "{\"unfit\":\"1e400\"}", CELL_UNFIT},
        {"Float64", "", "-1e-400", "{\"unfit\":\"-1e-400\"}", CELL_UNFIT},
        {"Float64", "", "\"NaN\"", "{\"unfit\":\"NaN\"}", CELL_WRONG},
        {"Float64", "", "\"Infinity\"", "{\"unfit\":\"Infinity\"}", CELL_WRONG},
        {"Float64", "", "\"0x1p3\"", "{\"unfit\":\"0x1p3\"}", CELL_WRONG},
        {"Float64", "", "\"+inf\"", "{\"unfit\":\"+inf\"}", CELL_WRONG},
        {"Float64", "", "\"INF\"", "{\"unfit\":\"INF\"}", CELL_WRONG},
        {"Float64", "", "\"nan(1)\"", "{\"unfit\":\"nan(1)\"}", CELL_WRONG},
        {"Float64", "", "\"1,5\"", "{\"unfit\":\"1,5\"}", CELL_WRONG},
        {"Float64", "", "\" 1\"", "{\"unfit\":\" 1\"}", CELL_WRONG},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_random_floats_agree_with_the_c_library_in_both_directions(void **state)
{
    struct buf out = BUF_INIT;
    const char *why;
    char text[400], want[32];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random();
        uint32_t half = (uint32_t)(bits >> 7);
        double d;
        float f;

        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &half, sizeof f);
        if (isfinite(d) && d != 0) {
            /* a whole number in full, as it must be exact */
            snprintf(text, sizeof text, fabs(d) < 1e16 ? "%.17g" : "%.0f", d);
            assert_true(owed("Float64", NULL, text, &out, &why) <= (fabs(d) < 1e16 ? CELL_NEAREST : CELL_FIT));
            snprintf(want, sizeof want, "\"%016" PRIx64 "\"", bits);
            assert_string_equal(buf_str(&out), want);
        }
        if (isfinite(f) && f != 0) {
            snprintf(text, sizeof text, fabsf(f) < 1e7f ? "%.9g" : "%.0f", (double)f);
            assert_true(owed("Float32", NULL, text, &out, &why) <= (fabsf(f) < 1e7f ? CELL_NEAREST : CELL_FIT));
            snprintf(want, sizeof want, "\"%08x\"", half);
            assert_string_equal(buf_str(&out), want);
        }
    }
    buf_free(&out);
}

static void test_digits_past_every_buffer_still_decide_a_float(void **state)
{
    struct buf json = BUF_INIT, out = BUF_INIT;
    const char *why;

    (void)state;
    /* 1 + 2^-53 is half way; 5000 zeros and a 1 more is above it */
    buf_adds(&json, "1.00000000000000011102230246251565404236316680908203125");
    assert_int_equal(owed("Float64", NULL, buf_str(&json), &out, &why), CELL_NEAREST);
    assert_string_equal(buf_str(&out), "\"3ff0000000000000\"");
    for (int i = 0; i < 5000; i++) {
        buf_addc(&json, '0');
    }
    buf_addc(&json, '1');
    assert_int_equal(owed("Float64", NULL, buf_str(&json), &out, &why), CELL_NEAREST);
    assert_string_equal(buf_str(&out), "\"3ff0000000000001\"");
    buf_free(&json);
    buf_free(&out);
}

/* Set a locale whose decimal point is a comma: one made here, since a machine may have none. */
static void set_comma_locale(void)
{
    static const char make[] =
        "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND LC_NUMERIC\\n' |"
        " localedef -c -i - \"$LOCPATH/comma\" 2>\"$LOCPATH/said\"";
    char dir[] = "/tmp/owed-locale.XXXXXX", command[sizeof dir + 16];

    assert_non_null(mkdtemp(dir));
    assert_int_equal(setenv("LOCPATH", dir, 1), 0);
    assert_int_not_equal(system(make), -1); /* 1 for the categories that it does not have */
    const char *set = setlocale(LC_NUMERIC, "comma");
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    assert_int_equal(system(command), 0);
    assert_non_null(set);
    assert_string_equal(localeconv()->decimal_point, ",");
}

static void test_a_locale_with_a_comma_changes_nothing(void **state)
{
    struct buf out = BUF_INIT;
    const char *why;

    (void)state;
    set_comma_locale();
    assert_int_equal(owed("Float64", NULL, "0.5", &out, &why), CELL_FIT);
    setlocale(LC_ALL, "C");
    assert_string_equal(buf_str(&out), "\"3fe0000000000000\"");
    buf_free(&out);
}

static void test_an_exponent_is_bounded_before_it_is_expanded(void **state)
{
    static const struct owed_case cases[] = {
        {"Int64", "", "1e999999999", "{\"unfit\":\"1e999999999\"}", CELL_UNFIT},
        {"Int256", "", "-1e999999999999999999999999", "{\"unfit\":\"-1e999999999999999999999999\"}", CELL_UNFIT},
        {"Int64", "", "1e-999999999", "{\"unfit\":\"1e-999999999\"}", CELL_UNFIT},
        {"Decimal(76, 76)", "", "12.50e-999999999999999999999999", "{\"unfit\":\"125e-1000000000000000000000000\"}",
         CELL_UNFIT},
        {"Float64", "", "10e99999999999999999", "{\"unfit\":\"1e100000000000000000\"}", CELL_UNFIT},
        {"Float64", "", "1e100000000000000000", "{\"unfit\":\"1e100000000000000000\"}", CELL_UNFIT},
        {"Float64", "", "0.1e100000000000000000", "{\"unfit\":\"1e99999999999999999\"}", CELL_UNFIT},
        {"Float64", "", "10e-100000000000000000", "{\"unfit\":\"1e-99999999999999999\"}", CELL_UNFIT},
        {"Float32", "", "1.05e-999999999999999999", "{\"unfit\":\"105e-1000000000000000001\"}", CELL_UNFIT},
        {"Float32", "", "\"1e0000000000000000000000000000002\"", "\"42c80000\"", CELL_FIT},
        {"DateTime64(3)", "s", "1e999999999", "{\"unfit\":\"1e999999999 s\"}", CELL_UNFIT},
        {"DateTime64(3)", "days", "-1e-999999999999999999999", "{\"unfit\":\"-1e-999999999999999999999 days\"}",
         CELL_UNFIT},
        {"UInt8", "", "0e999999999999999999999", "\"0\"", CELL_FIT},
        {"DateTime", "ms", "0e999999999999999999999", "\"0\"", CELL_FIT},
        {"Float64", "", "-0e999999999999999999999", "\"8000000000000000\"", CELL_FIT},
        {"Int64", "", "100000e-5", "\"1\"", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_unfit_text_is_plain_to_80_digits_and_scientific_after(void **state)
{
    struct buf json = BUF_INIT, want = BUF_INIT, out = BUF_INIT;
    const char *why;

    (void)state;
    for (int zeros = 78; zeros <= 81; zeros++) {
        buf_reset(&json);
        buf_reset(&want);
        buf_printf(&json, "12e%d", zeros - 1);
        if (zeros < 80) {
            buf_adds(&want, "{\"unfit\":\"12");
            for (int i = 0; i < zeros - 1; i++) {
                buf_addc(&want, '0');
            }
            buf_adds(&want, "\"}");
        } else {
            buf_printf(&want, "{\"unfit\":\"12e%d\"}", zeros - 1);
        }
        assert_int_equal(owed("UInt256", NULL, buf_str(&json), &out, &why), CELL_UNFIT);
        assert_string_equal(buf_str(&out), buf_str(&want));
    }
    for (int places = 78; places <= 81; places++) { /* the zero before the point counts */
        buf_reset(&json);
        buf_reset(&want);
        buf_printf(&json, "7e-%d", places);
        if (places < 80) {
            buf_printf(&want, "{\"unfit\":\"0.%0*d\"}", places, 7);
        } else {
            buf_printf(&want, "{\"unfit\":\"7e-%d\"}", places);
        }
        assert_int_equal(owed("Decimal(76, 76)", NULL, buf_str(&json), &out, &why), CELL_UNFIT);
        assert_string_equal(buf_str(&out), buf_str(&want));
    }
    buf_free(&json);
    buf_free(&want);
    buf_free(&out);
}

static void test_decimal_text_is_read_by_value_and_nothing_else_is(void **state)
{
    static const struct owed_case cases[] = {
        {"Int64", "", "\"007\"", "\"7\"", CELL_FIT},
        {"Int64", "", "\"+7\"", "\"7\"", CELL_FIT},
        {"Int64", "", "\"-0\"", "\"0\"", CELL_FIT},
        {"Int64", "", "1e3", "\"1000\"", CELL_FIT},
        {"Int64", "", "1.0", "\"1\"", CELL_FIT},
        {"Int64", "", "\"1E+3\"", "\"1000\"", CELL_FIT},
        {"Int64", "", "\"\"", "{\"unfit\":\"\"}", CELL_WRONG},
        {"Int64", "", "\"seven\"", "{\"unfit\":\"seven\"}", CELL_WRONG},
        {"Int64", "", "\"1.\"", "{\"unfit\":\"1.\"}", CELL_WRONG},
        {"Int64", "", "\".5\"", "{\"unfit\":\".5\"}", CELL_WRONG},
        {"Int64", "", "\"1e\"", "{\"unfit\":\"1e\"}", CELL_WRONG},
        {"Int64", "", "\"1e+\"", "{\"unfit\":\"1e+\"}", CELL_WRONG},
        {"Int64", "", "\"--1\"", "{\"unfit\":\"--1\"}", CELL_WRONG},
        {"Int64", "", "\"-\"", "{\"unfit\":\"-\"}", CELL_WRONG},
        {"Int64", "", "\"1 \"", "{\"unfit\":\"1 \"}", CELL_WRONG},
        {"Int64", "", "\"1_000\"", "{\"unfit\":\"1_000\"}", CELL_WRONG},
        {"Int64", "", "\"0x10\"", "{\"unfit\":\"0x10\"}", CELL_WRONG},
        {"Int64", "", "\"1\\u0000\"", "{\"unfit\":\"1\\u0000\"}", CELL_WRONG},
        {"Int64", "", "\"\\u0661\"", "{\"unfit\":\"\xd9\xa1\"}", CELL_WRONG},
        {"Int64", "", "true", "{\"unfit\":\"true\"}", CELL_WRONG},
        {"Int64", "", "[1, 2]", "{\"unfit\":\"[1,2]\"}", CELL_WRONG},
        {"Int64", "", "{\"a\": \"\\\"\"}", "{\"unfit\":\"{\\\"a\\\":\\\"\\\\\\\"\\\"}\"}", CELL_WRONG},
        {"Decimal(9, 2)", "", "\"nan\"", "{\"unfit\":\"nan\"}", CELL_WRONG},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_null_and_the_empty_text_are_told_apart(void **state)
{
    static const struct owed_case cases[] = {
        {"Nullable(String)", "", "\"\"", "\"\"", CELL_FIT},
        {"Nullable(String)", "", "null", "null", CELL_FIT},
        {"Nullable(String)", "", "\"null\"", "\"null\"", CELL_FIT},
        {"LowCardinality(Nullable(String))", "", "null", "null", CELL_FIT},
        {"Nullable(String)", "", "\"\\\\N\"", "\"\\\\N\"", CELL_FIT},
        {"String", "", "null", "{\"unfit\":\"null\"}", CELL_UNFIT},
        {"Int64", "", "null", "{\"unfit\":\"null\"}", CELL_UNFIT},
        {"Bool", "", "null", "{\"unfit\":\"null\"}", CELL_UNFIT},
        {"Date", "iso", "null", "{\"unfit\":\"null\"}", CELL_UNFIT},
        {"Nullable(Date)", "iso", "null", "null", CELL_FIT},
    };
    struct column c = column("Nullable(Int8)", NULL);
    struct buf out = BUF_INIT;
    const char *why;

    (void)state;
    CHECK_OWED(cases);
    assert_int_equal(cells_owed(&c, NULL, &out, &why), CELL_FIT); /* a field that is not there */
    assert_string_equal(buf_str(&out), "null");
    type_free(&c.type);
    buf_free(&out);
}

static void test_a_number_is_no_string_and_a_bit_is_no_bool(void **state)
{
    static const struct owed_case cases[] = {
        {"String", "", "5", "{\"unfit\":\"5\"}", CELL_WRONG},
        {"String", "", "1.50", "{\"unfit\":\"1.5\"}", CELL_WRONG},
        {"String", "", "true", "{\"unfit\":\"true\"}", CELL_WRONG},
        {"String", "", "[]", "{\"unfit\":\"[]\"}", CELL_WRONG},
        {"Bool", "", "true", "\"true\"", CELL_FIT},
        {"Bool", "", "false", "\"false\"", CELL_FIT},
        {"Bool", "", "1", "{\"unfit\":\"1\"}", CELL_WRONG},
        {"Bool", "", "0", "{\"unfit\":\"0\"}", CELL_WRONG},
        {"Bool", "", "\"true\"", "{\"unfit\":\"true\"}", CELL_WRONG},
        {"UInt8", "", "true", "{\"unfit\":\"true\"}", CELL_WRONG},
        {"UInt8", "", "1", "\"1\"", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_text_is_bytes_case_space_and_form_included(void **state)
{
    static const struct owed_case cases[] = {
        {"String", "", "\"a\\/b\"", "\"a/b\"", CELL_FIT},
        {"String", "", "\"\\u0041\"", "\"A\"", CELL_FIT},
        {"String", "", "\"a b\"", "\"a b\"", CELL_FIT},
        {"String", "", "\"7E4C\"", "\"7E4C\"", CELL_FIT},
        {"String", "", "\"\\u00e9\"", "\"\xc3\xa9\"", CELL_FIT},
        {"String", "", "\"e\\u0301\"", "\"e\xcc\x81\"", CELL_FIT}, /* no normal form is applied */
        {"String", "", "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", CELL_FIT},
        {"String", "", "\"\\b\\t\\n\\f\\r\\u000b\\u0000\\u001F\\u007f\"",
         "\"\\b\\t\\n\\f\\r\\u000b\\u0000\\u001f\x7f\"", CELL_FIT},
        {"String", "", "\"\\\"\\\\\"", "\"\\\"\\\\\"", CELL_FIT},
        {"String", "", "\"{\\\"a\\\": 1}\"", "\"{\\\"a\\\": 1}\"", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_a_column_without_cells_never_fits(void **state)
{
    static const struct owed_case cases[] = {
        {"Dynamic", "", "\"a\"", "{\"unfit\":\"a\"}", CELL_WRONG},
        {"Array(Dynamic)", "", "[1]", "{\"unfit\":\"[1]\"}", CELL_WRONG},
        {"Nullable(Dynamic)", "", "null", "{\"unfit\":\"null\"}", CELL_UNFIT},
        {"JSON", "", "\"a\"", "{\"unfit\":\"a\"}", CELL_WRONG}, /* without the operator's word */
        {"Array(JSON)", "", "[\"{}\"]", "{\"unfit\":\"[\\\"{}\\\"]\"}", CELL_WRONG},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_a_json_is_the_text_that_the_rules_give(void **state)
{
    static const struct owed_case cases[] = {
        {"JSON", "json-text", "\"{\\\"b\\\": 1,\\\"a\\\":2}\"", "\"{\\\"b\\\": 1,\\\"a\\\":2}\"", CELL_FIT},
        {"JSON", "json-text", "\"no JSON\"", "\"no JSON\"", CELL_FIT},
        {"JSON", "json-text", "{\"a\":1}", "{\"unfit\":\"{\\\"a\\\":1}\"}", CELL_WRONG},
        {"JSON", "json-text", "1", "{\"unfit\":\"1\"}", CELL_WRONG},
        {"JSON", "json-text", "null", "{\"unfit\":\"null\"}", CELL_UNFIT},
        {"Nullable(JSON)", "json-text", "null", "null", CELL_FIT},
        {"Array(Nullable(JSON(a Int8)))", "json-text", "[\"{}\",null]", "[\"{}\",null]", CELL_FIT},
        {"Tuple(a JSON, b UInt8)", "json-text", "{\"b\":1,\"a\":\"{}\"}", "[\"{}\",\"1\"]", CELL_FIT},
        {"Map(String, JSON)", "json-text", "{\"k\":\"{}\"}", "[[\"k\",\"{}\"]]", CELL_FIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_values_of_the_wrong_kind_never_fit(void **state)
{
    static const struct owed_case cases[] = {
        {"UUID", "", "\"7e4ca296f7ba11eca5d90242ac120002\"", "{\"unfit\":\"7e4ca296f7ba11eca5d90242ac120002\"}",
         CELL_WRONG},
        {"UUID", "", "\"7e4ca296-f7ba-11ec-a5d9-0242ac12000g\"", "{\"unfit\":\"7e4ca296-f7ba-11ec-a5d9-0242ac12000g\"}",
         CELL_WRONG},
        {"UUID", "", "7", "{\"unfit\":\"7\"}", CELL_WRONG},
        {"FixedString(2)", "", "\"abc\"", "{\"unfit\":\"abc\"}", CELL_UNFIT},
        {"FixedString(2)", "", "\"\"", "\"\\u0000\\u0000\"", CELL_FIT},
        {"FixedString(2)", "", "12", "{\"unfit\":\"12\"}", CELL_WRONG},
        {"Enum8('a' = 1)", "", "\"b\"", "{\"unfit\":\"b\"}", CELL_UNFIT},
        {"Enum8('a' = 1)", "", "1", "{\"unfit\":\"1\"}", CELL_WRONG},
        {"Enum8('1' = 2)", "", "\"1\"", "\"1\"", CELL_FIT},
        {"IPv4", "", "\"1.2.3\"", "{\"unfit\":\"1.2.3\"}", CELL_WRONG},
        {"IPv4", "", "\"1.2.3.04\"", "{\"unfit\":\"1.2.3.04\"}", CELL_WRONG},
        {"IPv4", "", "\"::1\"", "{\"unfit\":\"::1\"}", CELL_WRONG},
        {"IPv4", "", "\"1.2.3.4\\u0000\"", "{\"unfit\":\"1.2.3.4\\u0000\"}", CELL_WRONG},
        {"IPv6", "", "\"1.2.3.4\"", "\"::ffff:1.2.3.4\"", CELL_FIT},
        {"IPv6", "", "\"::FFFF:1.2.3.4\"", "\"::ffff:1.2.3.4\"", CELL_FIT},
        {"IPv6", "", "\"::1.2.3.4\"", "\"::102:304\"", CELL_FIT},
        {"IPv6", "", "\"fe80::1%eth0\"", "{\"unfit\":\"fe80::1%eth0\"}", CELL_WRONG},
        {"IPv6", "", "\"\"", "{\"unfit\":\"\"}", CELL_WRONG},
        {"Time", "iso", "\"12:60:00\"", "{\"unfit\":\"12:60:00\"}", CELL_WRONG},
        {"Time", "iso", "\"12\"", "{\"unfit\":\"12\"}", CELL_WRONG},
        {"Time", "iso", "\"-\"", "{\"unfit\":\"-\"}", CELL_WRONG},
        {"Time", "iso", "\"12:00:00Z\"", "{\"unfit\":\"12:00:00Z\"}", CELL_WRONG},
        {"Time", "iso", "\"12:00:00.5\"", "{\"unfit\":\"12:00:00.5\"}", CELL_UNFIT},
        {"BFloat16", "", "\"nan\"", "\"nan\"", CELL_FIT},
        {"BFloat16", "", "\"-inf\"", "\"ff80\"", CELL_FIT},
        {"BFloat16", "", "-0.0", "\"8000\"", CELL_FIT},
        {"Array(Int8)", "", "{}", "{\"unfit\":\"{}\"}", CELL_WRONG},
        {"Array(Int8)", "", "[1,200]", "{\"unfit\":\"[1,200]\"}", CELL_UNFIT},
        {"Array(Int8)", "", "[null]", "{\"unfit\":\"[null]\"}", CELL_UNFIT},
        {"Array(Int8)", "", "null", "{\"unfit\":\"null\"}", CELL_UNFIT},
        {"Tuple(Int8, String)", "", "[1]", "{\"unfit\":\"[1]\"}", CELL_WRONG},
        {"Tuple(Int8, String)", "", "{\"1\":1}", "{\"unfit\":\"{\\\"1\\\":1}\"}", CELL_WRONG},
        {"Tuple(a Int8)", "", "{\"a\":1,\"b\":2}", "{\"unfit\":\"{\\\"a\\\":1,\\\"b\\\":2}\"}", CELL_WRONG},
        {"Tuple(a Int8, b Nullable(Int8))", "", "{\"a\":1}", "[\"1\",null]", CELL_FIT},
        {"Tuple(a Int8, b Int8)", "", "{\"a\":1}", "{\"unfit\":\"{\\\"a\\\":1}\"}", CELL_UNFIT},
        {"Tuple()", "", "[]", "[]", CELL_FIT},
        {"Map(String, Int8)", "", "[[\"a\",1,2]]", "{\"unfit\":\"[[\\\"a\\\",1,2]]\"}", CELL_WRONG},
        {"Map(String, Int8)", "", "[[\"b\",1],[\"a\",2],[\"b\",1]]", "[[\"a\",\"2\"],[\"b\",\"1\"],[\"b\",\"1\"]]",
         CELL_FIT},
        {"Map(UInt8, Int8)", "", "{\"10\":1,\"9\":2}", "[[\"10\",\"1\"],[\"9\",\"2\"]]", CELL_FIT},
        {"Nested(a Int8, b Int8)", "", "{\"a\":[1],\"b\":[1,2]}", "{\"unfit\":\"{\\\"a\\\":[1],\\\"b\\\":[1,2]}\"}",
         CELL_WRONG},
        {"Nested(a Int8, b Int8)", "", "{\"a\":[1]}", "{\"unfit\":\"{\\\"a\\\":[1]}\"}", CELL_WRONG},
        {"Nested(a Int8, b Int8)", "", "[]", "[[],[]]", CELL_FIT},
        {"Point", "", "[1.5,-0.0]", "[\"3ff8000000000000\",\"8000000000000000\"]", CELL_FIT},
        {"LowCardinality(Nullable(UUID))", "", "null", "null", CELL_FIT},
        {"SimpleAggregateFunction(sum, UInt8)", "", "256", "{\"unfit\":\"256\"}", CELL_UNFIT},
    };

    (void)state;
    CHECK_OWED(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owed_values_agree_with_exact_fractions),
        cmocka_unit_test(test_values_that_hold_others_agree_with_the_table),
        cmocka_unit_test(test_a_decimals_trailing_zeros_and_a_zeros_sign_are_no_difference),
        cmocka_unit_test(test_digits_past_the_scale_are_unfit_and_never_cut),
        cmocka_unit_test(test_decimals_of_21_digits_do_not_wrap),
        cmocka_unit_test(test_nan_null_and_minus_zero_are_three_things),
        cmocka_unit_test(test_a_float_is_the_nearest_of_its_own_width),
        cmocka_unit_test(test_random_floats_agree_with_the_c_library_in_both_directions),
        cmocka_unit_test(test_digits_past_every_buffer_still_decide_a_float),
        cmocka_unit_test(test_a_locale_with_a_comma_changes_nothing),
        cmocka_unit_test(test_an_exponent_is_bounded_before_it_is_expanded),
        cmocka_unit_test(test_unfit_text_is_plain_to_80_digits_and_scientific_after),
        cmocka_unit_test(test_decimal_text_is_read_by_value_and_nothing_else_is),
        cmocka_unit_test(test_null_and_the_empty_text_are_told_apart),
        cmocka_unit_test(test_a_number_is_no_string_and_a_bit_is_no_bool),
        cmocka_unit_test(test_text_is_bytes_case_space_and_form_included),
        cmocka_unit_test(test_a_column_without_cells_never_fits),
        cmocka_unit_test(test_a_json_is_the_text_that_the_rules_give),
        cmocka_unit_test(test_values_of_the_wrong_kind_never_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
