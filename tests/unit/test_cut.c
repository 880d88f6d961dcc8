/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the cut: how reasons add up. What a bundle's evidence comes to is tested on the program. */
#include "cut/internal.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static void the_worst_status_counts_the_first_cause_leads_and_every_reason_stands(void **state)
{
    (void)state;
    struct cut c = {.status = STATUS_PASSED, .scope.columns = COLUMNS_INIT};
    cut_say(&c, STATUS_UNSUPPORTED, BECAUSE(CODE_KEY_REPEATS), "first");
    cut_say(&c, STATUS_UNAVAILABLE, BECAUSE(CODE_STATE_NOT_COLLECTED), "second %d", 2);
    cut_say(&c, STATUS_UNSUPPORTED, BECAUSE(CODE_JOB_UNSUPPORTED), "third");
    assert_int_equal(c.status, STATUS_UNAVAILABLE);
    assert_int_equal(c.cause.code, CODE_KEY_REPEATS);
    assert_string_equal(buf_str(&c.reason), "first; second 2; third");
    cut_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worst_status_counts_the_first_cause_leads_and_every_reason_stands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
