/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the cut: which row a key named, and how reasons add up. What a bundle's evidence comes to is tested on the
 * program. */
#include "cut/internal.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static void a_key_names_one_row(void **state)
{
    (void)state;
    struct keyed *k = keyed_new();
    assert_false(keyed_add(k, "\"1\",", 4, "[\"1\",\"a\"]", 9));
    assert_false(keyed_add(k, "\"1\",", 4, "[\"1\",\"a\"]", 9));
    assert_true(keyed_add(k, "\"1\",", 4, "[\"1\",\"b\"]", 9));
    assert_false(keyed_add(k, "\"2\",", 4, "[\"1\",\"b\"]", 9));
    keyed_free(k);
}

static void many_keys_stay_apart(void **state)
{
    (void)state;
    struct keyed *k = keyed_new();
    char key[32];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++) {
            int n = snprintf(key, sizeof key, "\"%d\",", i);
            assert_false(keyed_add(k, key, (size_t)n, key, (size_t)n));
        }
    for (int i = 0; i < 20000; i += 97) {
        int n = snprintf(key, sizeof key, "\"%d\",", i);
        assert_true(keyed_add(k, key, (size_t)n, "another", 7));
    }
    keyed_free(k);
}

static void the_worst_status_counts_and_every_reason_stands(void **state)
{
    (void)state;
    struct cut c = {.status = STATUS_PASSED, .scope.columns = COLUMNS_INIT};
    cut_say(&c, STATUS_UNSUPPORTED, BECAUSE(CODE_KEY_REPEATS), "first");
    cut_say(&c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_NOT_COLLECTED), "second %d", 2);
    cut_say(&c, STATUS_UNSUPPORTED, BECAUSE(CODE_JOB_UNSUPPORTED), "third");
    assert_int_equal(c.status, STATUS_UNAVAILABLE);
    assert_int_equal(c.cause.code, CODE_STATE_NOT_COLLECTED);
    assert_string_equal(buf_str(&c.reason), "first; second 2; third");
    cut_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_key_names_one_row), cmocka_unit_test(many_keys_stay_apart),
                                       cmocka_unit_test(the_worst_status_counts_and_every_reason_stands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
