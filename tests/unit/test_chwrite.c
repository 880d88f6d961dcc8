/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: every type's bounds and exactness against bytes worked out apart,
 * whole rows, the column plan, the window's rule, tokens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chwrite/blocks.h"
#include "chwrite/chwrite.h"
#include "stream/codes.h"
#include "chwrite_values.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct column column(const char *name, const char *type, const char *from)
{
    struct column c = {.name = xstrdup(name), .name_len = strlen(name)};
    struct err err = ERR_INIT;

    if (type_parse(type, strlen(type), &c.type, &err) != 0 ||
        (from != NULL && type_from_parse(from, &c.from, &err) != 0)) {
        fail_msg("%s %s: %s", type, from == NULL ? "" : from, err.text);
    }
    return c;
}

static void column_free(struct column *c)
{
    free(c->name);
    type_free(&c->type);
}

static struct json *parse(const char *text, struct arena *a)
{
    struct json_error e;
    struct json *v = json_parse(text, strlen(text), a, &e);

    if (v == NULL) {
        fail_msg("%s: byte %zu: %s", text, e.offset, e.why);
    }
    return v;
}

static void hex_of(const struct buf *b, struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < b->len; i++) {
        buf_printf(out, "%02x", (unsigned)(unsigned char)b->p[i]);
    }
}

static void every_value(void **state)
{
    struct arena a = ARENA_INIT;
    struct buf got = BUF_INIT, hex = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT(chwrite_values); i++) {
        const char *why = "unset";
        struct column c = column("c", chwrite_values[i].type, chwrite_values[i].from);
        int rc;
        buf_reset(&got);
        buf_adds(&got, "keep");
        rc = chwrite_value(&c, parse(chwrite_values[i].value, &a), &got, &why);
        assert_memory_equal(got.p, "keep", 4);
        got.len -= 4;
        memmove(got.p, got.p + 4, got.len);
        hex_of(&got, &hex);
        if (chwrite_values[i].hex != NULL) {
            if (rc != 0 || strcmp(buf_str(&hex), chwrite_values[i].hex) != 0) {
                fail_msg("%s <- %s: got %s (%s), want %s", chwrite_values[i].type, chwrite_values[i].value,
                         buf_str(&hex), rc == 0 ? "fit" : why, chwrite_values[i].hex);
            }
        } else if (rc == 0 || got.len != 0 || strcmp(why, chwrite_values[i].why) != 0) {
            fail_msg("%s <- %s: got %s (%s), want \"%s\"", chwrite_values[i].type, chwrite_values[i].value,
                     buf_str(&hex), rc == 0 ? "fit" : why, chwrite_values[i].why);
        }
        column_free(&c);
        arena_reset(&a);
    }
    buf_free(&got);
    buf_free(&hex);
    arena_free(&a);
}

/* The length before a string's bytes is seven bits a byte, least first. */
static void string_lengths(void **state)
{
    static const struct {
        size_t n;
        const char *prefix;
        size_t prefix_len;
    } cases[] = {{127, "\x7f", 1},
                 {128, "\x80\x01", 2},
                 {300, "\xac\x02", 2},
                 {16383, "\xff\x7f", 2},
                 {16384, "\x80\x80\x01", 3}};
    struct column c = column("c", "String", NULL);
    struct buf got = BUF_INIT;
    const char *why;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = xmalloc(cases[i].n);
        struct json v = {.type = JSON_STRING, .str = text, .len = (unsigned)cases[i].n & JSON_LEN_MAX};
        memset(text, 'x', cases[i].n);
        buf_reset(&got);
        assert_int_equal(chwrite_value(&c, &v, &got, &why), 0);
        assert_int_equal(got.len, cases[i].prefix_len + cases[i].n);
        assert_memory_equal(got.p, cases[i].prefix, cases[i].prefix_len);
        assert_memory_equal(got.p + cases[i].prefix_len, text, cases[i].n);
        free(text);
    }
    column_free(&c);
    buf_free(&got);
}

static void absent_is_null(void **state)
{
    struct column plain = column("c", "Int8", NULL), nullable = column("c", "Nullable(Int8)", NULL);
    struct buf got = BUF_INIT;
    const char *why;

    (void)state;
    assert_int_equal(chwrite_value(&plain, NULL, &got, &why), -1);
    assert_int_equal(got.len, 0);
    assert_int_equal(chwrite_value(&nullable, NULL, &got, &why), 0);
    assert_true(buf_is(&got, "\x01", 1));
    column_free(&plain);
    column_free(&nullable);
    buf_free(&got);
}

static const struct {
    const char *values, *hex, *why;
} rows[] = {
    {"{\"id\":1,\"amount\":\"1.5\",\"note\":\"a\"}", "01000000000000009600000000000000000161", NULL},
    {"{\"note\":\"a\",\"id\":1,\"amount\":1.5}", "01000000000000009600000000000000000161", NULL},
    {"{\"amount\":1.5,\"id\":1}", "0100000000000000960000000000000001", NULL},
    {"{\"id\":1,\"amount\":1.5,\"note\":null}", "0100000000000000960000000000000001", NULL},
    {"{\"id\":1,\"amount\":1.234}", NULL,
     "orders/0/7: column amount (Decimal(18, 2)) cannot hold 1.234: more digits than the column keeps"},
    {"{\"id\":9223372036854775808,\"amount\":1}", NULL,
     "orders/0/7: column id (Int64) cannot hold 9223372036854775808: out of the column's range"},
    {"{\"amount\":1}", NULL,
     "orders/0/7: column id (Int64) cannot hold no value: NULL in a column that is not Nullable"},
    {"{\"id\":null,\"amount\":1}", NULL,
     "orders/0/7: column id (Int64) cannot hold null: NULL in a column that is not Nullable"},
    {"{\"id\":1,\"amount\":1,\"Note\":\"a\"}", NULL, "orders/0/7: no column named Note is written"},
    {"{\"id\":1,\"amount\":1,\"\\u0007\":\"a\"}", NULL, "orders/0/7: no column named \\x07 is written"},
    {"{}", NULL, "orders/0/7: column id (Int64) cannot hold no value: NULL in a column that is not Nullable"},
};

static void whole_rows(void **state)
{
    struct column at[] = {column("id", "Int64", NULL), column("amount", "Decimal(18, 2)", NULL),
                          column("note", "Nullable(String)", NULL)};
    struct columns cols = {.at = at, .n = 3};
    struct arena a = ARENA_INIT;
    struct buf got = BUF_INIT, hex = BUF_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = ERR_INIT;
        int rc;
        buf_reset(&got);
        rc = chwrite_row(&cols, parse(rows[i].values, &a), "orders/0/7", &got, &err);
        hex_of(&got, &hex);
        if (rows[i].hex != NULL) {
            assert_int_equal(rc, 0);
            assert_string_equal(buf_str(&hex), rows[i].hex);
        } else {
            assert_int_equal(rc, -1);
            assert_int_equal(err.kind, ERR_REFUSED);
            assert_string_equal(err.text, rows[i].why);
            assert_int_equal(err.cause.code,
                             strstr(err.text, "no column named") ? CODE_COLUMN_UNKNOWN : CODE_VALUE_NOT_STORABLE);
            assert_int_equal(got.len, 0);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        column_free(&at[i]);
    }
    arena_free(&a);
    buf_free(&got);
    buf_free(&hex);
}

static const struct chwrite_found found[] = {
    {"id", "Int64", ""},
    {"seen", "DateTime64(6)", ""},
    {"state", "String", "DEFAULT"},
    {"day", "Date", "MATERIALIZED"},
    {"twice", "Int64", "ALIAS"},
    {"raw", "String", "EPHEMERAL"},
};

static void plan_takes_what_has_no_default(void **state)
{
    static const struct chwrite_from from[] = {{"seen", FROM_MS}};
    static const char *const with[] = {"state", NULL};
    struct columns cols;
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(chwrite_plan(found, COUNT(found), from, 1, NULL, &cols, &err), 0);
    assert_int_equal(cols.n, 2);
    assert_string_equal(cols.at[0].name, "id");
    assert_string_equal(cols.at[1].name, "seen");
    assert_int_equal(cols.at[1].from, FROM_MS);
    columns_free(&cols);
    assert_int_equal(chwrite_plan(found, COUNT(found), from, 1, with, &cols, &err), 0);
    assert_int_equal(cols.n, 3);
    assert_string_equal(cols.at[2].name, "state");
    columns_free(&cols);
}

static void refuse_plan(const struct chwrite_found *f, size_t n, const struct chwrite_from *from, size_t n_from,
                        const char *const *with, const char *why)
{
    struct columns cols;
    struct err err = ERR_INIT;

    assert_int_equal(chwrite_plan(f, n, from, n_from, with, &cols, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_string_equal(err.text, why);
}

static void plan_refuses_by_name(void **state)
{
    static const struct chwrite_found array[] = {{"id", "Int64", ""}, {"tags", "Array(String)", ""}};
    static const struct chwrite_found only[] = {{"state", "String", "DEFAULT"}};
    static const struct chwrite_from seen = {"seen", FROM_MS}, id[] = {{"seen", FROM_MS}, {"id", FROM_MS}},
                                     gone[] = {{"seen", FROM_MS}, {"gone", FROM_MS}},
                                     twice[] = {{"seen", FROM_MS}, {"seen", FROM_S}};
    static const char *const no_column[] = {"gone", NULL}, *const no_default[] = {"day", NULL};

    (void)state;
    refuse_plan(found, COUNT(found), NULL, 0, NULL,
                "column seen (DateTime64(6)): the unit of its times is not given (--from=seen:UNIT)");
    refuse_plan(found, COUNT(found), id, 2, NULL, "column id (Int64): a unit of time for a column that is no time");
    refuse_plan(found, COUNT(found), gone, 2, NULL, "column gone: a unit of time for a column that is not written");
    refuse_plan(found, COUNT(found), twice, 2, NULL, "column seen: a unit of time is given twice");
    refuse_plan(found, COUNT(found), &seen, 1, no_column, "column gone: not a column of the table");
    refuse_plan(found, COUNT(found), &seen, 1, no_default, "column day: MATERIALIZED, which the server computes");
    refuse_plan(array, COUNT(array), NULL, 0, NULL, "column tags: type Array(String) is not supported");
    refuse_plan(only, 1, NULL, 0, NULL, "the table has no column to write");
    refuse_plan(NULL, 0, NULL, 0, NULL, "the table has no column to write");
}

static const struct {
    uint64_t size, each, sent, first, blocks;
    bool tested, want;
} windows[] = {
    /* sent counts the first attempt and the resend */
    {100, 1, 2, 0, 1, true, true},    {0, 1, 2, 0, 1, true, false},         {100, 1, 2, 0, 1, false, false},
    {100, 0, 2, 0, 1, true, false},   {2, 1, 6, 0, 3, true, false},         {3, 1, 6, 0, 3, true, true},
    {5, 2, 6, 0, 3, true, false},     {6, 2, 6, 0, 3, true, true},          {1, 2, 2, 0, 1, true, false},
    {100, 1, 151, 50, 1, true, true}, {100, 1, 152, 50, 1, true, false},    {100, 1, 2, 0, 0, true, false},
    {100, 1, 0, 0, 1, true, false},   {UINT64_MAX, 1, 2, 0, 1, true, true},
};

static void window_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(windows); i++) {
        struct chwrite_window w = {windows[i].size, windows[i].each, windows[i].sent, windows[i].tested};
        if (chwrite_window_holds(&w, windows[i].first, windows[i].blocks) != windows[i].want) {
            fail_msg("window case %zu", i);
        }
    }
}

static const struct {
    const char *key;
    size_t column; /* whose cells differ from row to row */
    uint64_t step, rows, want;
} partitions[] = {
    {"", 0, 1, 100, 1},
    {"p", 0, 1, 100, 100},
    {"p", 1, 1, 100, 1},
    {"p", 0, 0, 100, 1},
    {"(p, t)", 0, 0, 100, 100},
    {"p % 4", 0, 1, 100, 100},
    {"toYYYYMM(t)", 1, 0, 100, 1},
    {"toYYYYMM(t)", 1, 1000, 100, 2},       /* a step is in ms: under two minutes may cross one end of a month */
    {"toYYYYMM(t)", 1, 86400000, 1000, 37}, /* 999 days: never fewer than the 33 or 34 months that they touch */
    {"toYYYYMM(t)", 1, 8640000000, 50, 50},
    {"toStartOfHour(t)", 1, 3600000, 10, 10},
    {"toYYYYMM(p)", 1, 0, 10, 10},
};

static void partitions_are_never_undercounted(void **state)
{
    struct column at[] = {column("p", "UInt64", NULL), column("t", "DateTime64(3)", "ms")};
    struct columns cols = {.at = at, .n = 2};

    (void)state;
    for (size_t i = 0; i < COUNT(partitions); i++) {
        struct blocks b = BLOCKS_INIT;
        struct buf body = BUF_INIT;
        blocks_init(&b, partitions[i].key, &cols);
        for (int twice = 0; twice < 2; twice++) {
            buf_reset(&body);
            blocks_reset(&b);
            assert_int_equal(blocks_count(&b), 0);
            for (uint64_t r = 0; r < partitions[i].rows; r++) {
                uint64_t cell[2] = {5, 1758000000000};
                cell[partitions[i].column] += r * partitions[i].step;
                buf_add(&body, cell, sizeof cell);
                blocks_add(&b, &cols, &body, body.len - sizeof cell + b.column * sizeof cell[0], sizeof cell[0]);
            }
            if (blocks_count(&b) != partitions[i].want) {
                fail_msg("%s: %d blocks, want %d", partitions[i].key, (int)blocks_count(&b), (int)partitions[i].want);
            }
        }
        blocks_free(&b);
        buf_free(&body);
    }
    column_free(&at[0]);
    column_free(&at[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value),
        cmocka_unit_test(string_lengths),
        cmocka_unit_test(absent_is_null),
        cmocka_unit_test(whole_rows),
        cmocka_unit_test(plan_takes_what_has_no_default),
        cmocka_unit_test(plan_refuses_by_name),
        cmocka_unit_test(window_decides),
        cmocka_unit_test(partitions_are_never_undercounted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
