/* SPDX-License-Identifier: Apache-2.0 */
/* replay: how the outcomes of epochs decide a check, against the rule written as a table; and what a case says of
 * itself. */
#include "replay/case_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The rule as the manual has it, its first line that holds: by whether there are failed, passed, unavailable,
 * unsupported and omitted epochs. 2: either. */
static const struct {
    int failed, passed, unavailable, unsupported, omitted;
    enum status is;
} rule[] = {
    {1, 2, 2, 2, 2, STATUS_FAILED},      {0, 1, 0, 0, 0, STATUS_PASSED},      {0, 2, 1, 2, 2, STATUS_UNAVAILABLE},
    {0, 2, 2, 2, 1, STATUS_UNAVAILABLE}, {0, 0, 0, 0, 0, STATUS_UNAVAILABLE}, {0, 2, 0, 1, 0, STATUS_UNSUPPORTED},
};

static bool is(int wanted, uint64_t n)
{
    return wanted == 2 || wanted == (n > 0);
}

static enum status by_table(const struct replay_counts *c)
{
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        if (is(rule[i].failed, c->of[REPLAY_FAILED]) && is(rule[i].passed, c->of[REPLAY_PASSED]) &&
            is(rule[i].unavailable, c->of[REPLAY_UNAVAILABLE]) && is(rule[i].unsupported, c->of[REPLAY_UNSUPPORTED]) &&
            is(rule[i].omitted, c->omitted))
            return rule[i].is;
    fail_msg("the table has no line for this");
    return STATUS_FAILED;
}

/* Every selection of up to three epochs of each kind. */
static void test_conclude(void **unused)
{
    (void)unused;
    size_t seen[STATUS_TYPES] = {0};
    for (unsigned n = 0; n < 1024; n++) {
        struct replay_counts c = {
            .of = {[REPLAY_PASSED] = n & 3,
                   [REPLAY_FAILED] = n >> 2 & 3,
                   [REPLAY_UNAVAILABLE] = n >> 4 & 3,
                   [REPLAY_UNSUPPORTED] = n >> 6 & 3},
            .omitted = n >> 8 & 3,
        };
        c.selected = c.omitted;
        for (int i = 0; i < REPLAY_OUTCOMES; i++)
            c.selected += c.of[i];
        assert_int_equal(replay_conclude(&c), by_table(&c));
        seen[replay_conclude(&c)]++;
    }
    for (int s = 0; s < STATUS_TYPES; s++)
        assert_true(seen[s] > 0);
}

/* ---- case.json ---- */

static int parse(const char *text, struct case_file *out)
{
    static struct arena a;
    struct err err = ERR_INIT;
    int rc = case_parse(text, strlen(text), &a, out, &err);
    assert_int_equal(rc != 0, err.kind == ERR_REFUSED);
    arena_free(&a);
    return rc;
}

/* What is written is read; each member is needed, of its type, and no other may stand beside. */
static void test_case(void **unused)
{
    (void)unused;
    struct case_file c = {.job = "1", .operator_id = "18446744073709551615", .subtask = 3, .epoch = UINT64_MAX - 1}, is;
    struct buf text = BUF_INIT;
    memset(c.manifest_sha256, 'a', SHA256_HEX);
    memset(c.golden.sha256, 'b', SHA256_HEX);
    c.golden.lines = 7;
    c.golden.bytes = (uint64_t)1 << 60;
    case_put(&text, &c);
    assert_int_equal(parse(buf_str(&text), &is), 0);
    assert_true(is.subtask == 3 && is.epoch == UINT64_MAX - 1 && is.golden.lines == 7);
    assert_true(is.golden.bytes == (uint64_t)1 << 60 && strcmp(is.golden.sha256, c.golden.sha256) == 0);
    static const char *const names[] = {"format",          "version", "job",  "operator", "subtask", "epoch",
                                        "manifest_sha256", "golden",  "rows", "bytes",    "sha256"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[40];
        snprintf(name, sizeof name, "\"%s\"", names[i]);
        char *copy = xstrdup(buf_str(&text)), *at = strstr(copy, name), *value;
        assert_non_null(at);
        at[1] = 'x'; /* one is missing, and another there */
        assert_int_equal(parse(copy, &is), -1);
        at[1] = names[i][0];
        value = at + strlen(name) + 1;
        *value = *value == '"' ? '[' : *value == '{' ? '[' : '-';
        assert_int_equal(parse(copy, &is), -1);
        free(copy);
    }
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conclude), cmocka_unit_test(test_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
