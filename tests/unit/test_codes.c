/* SPDX-License-Identifier: Apache-2.0 */
/* Causes and their codes: facts that are packed, the next action that they fill, the code of an error, and the lines
 * that carry them. */
#include "stream/check.h"
#include "stream/stop.h"
#include "stream/stream.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void facts_are_kept_in_order_once_and_whole(void **state)
{
    (void)state;
    char room[24], long_text[500];
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    struct cause c = *BECAUSE(CODE_TOPIC_COMPACTED, {"topic", "orders"}, {"none", NULL}, {"empty", ""});
    cause_add(&c, "topic", "another");
    cause_add(&c, "long", long_text); /* no room: left out, and the others stay */
    cause_add(&c, "n", fact_number(room, UINT64_MAX));
    const char *value, *at = cause_next(&c, NULL, &value);
    assert_string_equal(at, "topic");
    assert_string_equal(value, "orders");
    at = cause_next(&c, at, &value);
    assert_string_equal(at, "empty");
    assert_string_equal(value, "");
    at = cause_next(&c, at, &value);
    assert_string_equal(at, "n");
    assert_string_equal(value, "18446744073709551615");
    assert_null(cause_next(&c, at, &value));
    assert_null(cause_fact(&c, "long"));
    assert_null(cause_fact(&c, "orders")); /* a value is no name */
}

/* Whatever facts are at hand, no action shows how it is written. */
static void every_action_reads_with_and_without_facts(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    for (unsigned i = CODE_NONE + 1; i < CODES; i++) {
        struct cause c = {.code = i};
        buf_reset(&text);
        code_next(&c, &text);
        assert_true(text.len > 10);
        assert_null(strpbrk(buf_str(&text), "{|}"));
        assert_int_equal(code_of(code_word((enum code)i), strlen(code_word((enum code)i))), i);
        assert_true(strlen(code_means((enum code)i)) > 10 && strlen(code_usually((enum code)i)) > 5);
    }
    struct cause c = *BECAUSE(CODE_MUTATION_RUNNING, {"mutation", "mutation_7.txt"});
    buf_reset(&text);
    code_next(&c, &text);
    assert_string_equal(buf_str(&text),
                        "wait until mutation mutation_7.txt is done (system.mutations), then read again");
    c = *BECAUSE(CODE_MUTATION_RUNNING, {"table", "t"});
    buf_reset(&text);
    code_next(&c, &text);
    assert_non_null(strstr(buf_str(&text), "mutation that the reason names is done"));
    buf_free(&text);
    assert_int_equal(code_of("", 0), CODE_NONE);
    assert_int_equal(code_of("topic", 5), CODES);
}

static enum code code_after(enum err_kind kind, int sys, enum code refused)
{
    struct err err = {.kind = kind, .sys = sys};
    return (enum code)code_of_err(&err, refused).code;
}

static void an_error_has_its_own_code_or_that_of_its_errno_or_kind(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_int_equal(code_after(ERR_TROUBLE, ENOSPC, CODE_USAGE), CODE_SPACE_FULL);
    assert_int_equal(code_after(ERR_MISSING, ENOENT, CODE_USAGE), CODE_FILE_MISSING);
    assert_int_equal(code_after(ERR_TROUBLE, EACCES, CODE_USAGE), CODE_NOT_PERMITTED);
    assert_int_equal(code_after(ERR_TROUBLE, EIO, CODE_USAGE), CODE_IO_FAILED);
    assert_int_equal(code_after(ERR_CHANGED, 0, CODE_USAGE), CODE_FILE_CHANGED);
    assert_int_equal(code_after(ERR_BOUND, 0, CODE_USAGE), CODE_BOUND_PASSED);
    assert_int_equal(code_after(ERR_TIMEOUT, 0, CODE_USAGE), CODE_TIME_PASSED);
    assert_int_equal(code_after(ERR_REFUSED, 0, CODE_USAGE), CODE_USAGE);
    err_fail(&err, ERR_REFUSED, BECAUSE(CODE_BUNDLE_OTHER, {"path", "b"}), "%s", "why");
    err_cause(&err, BECAUSE(CODE_USAGE)); /* it has one */
    err_prefix(&err, "here");
    struct cause c = code_of_err(&err, CODE_USAGE);
    assert_int_equal(c.code, CODE_BUNDLE_OTHER);
    assert_string_equal(cause_fact(&c, "path"), "b");
    err_fail(&err, ERR_TROUBLE, &err.cause, "again");
    assert_int_equal(err.cause.code, CODE_BUNDLE_OTHER);
    err_set(&err, ERR_REFUSED, "another");
    assert_int_equal(code_of_err(&err, CODE_USAGE).code, CODE_USAGE);
    errno = EROFS;
    err_sys(&err, "cannot write");
    assert_int_equal(code_of_err(&err, CODE_USAGE).code, CODE_NOT_PERMITTED);
}

static struct arena arena = ARENA_INIT;

static int parse_check(const char *text, struct check_line *out)
{
    struct err err = ERR_INIT;
    struct json *doc = json_parse(text, strlen(text), &arena, NULL);
    assert_non_null(doc);
    return check_line_parse(doc, &arena, out, &err);
}

#define CHECK(status) \
    "{\"type\":\"check\",\"stage\":\"s\",\"name\":\"bundle.manifest\",\"status\":\"" status "\",\"reason\":\"r\""

static void a_check_line_is_taken_apart(void **state)
{
    (void)state;
    struct check_line c;
    assert_int_equal(parse_check(CHECK("passed") "}", &c), 0);
    assert_true(c.name == CHECK_BUNDLE_MANIFEST && c.status == STATUS_PASSED && c.cause.code == CODE_NONE);
    assert_int_equal(parse_check(CHECK("failed") ",\"code\":\"manifest-contradicts\",\"facts\":{\"file\":\"m\"}}", &c),
                     0);
    assert_int_equal(c.cause.code, CODE_MANIFEST_CONTRADICTS);
    assert_string_equal(cause_fact(&c.cause, "file"), "m");
    assert_string_equal(c.stage, "s");
    static const char *const bad[] = {
        CHECK("failed") "}",                                                        /* without a code */
        CHECK("passed") ",\"code\":\"usage\"}",                                     /* with one */
        CHECK("failed") ",\"code\":\"no-such\"}",                                   /* unknown */
        CHECK("failed") ",\"code\":\"\"}",                                          /* no word */
        CHECK("failed") ",\"code\":7}",                                             /* no text */
        CHECK("failed") ",\"code\":\"usage\",\"facts\":[]}",                        /* no object */
        CHECK("failed") ",\"code\":\"usage\",\"facts\":{\"n\":1}}",                 /* not of texts */
        CHECK("failed") ",\"code\":\"usage\",\"next\":\"x\"}",                      /* an unknown member */
        CHECK("fine") ",\"code\":\"usage\"}",                                       /* an unknown status */
        "{\"type\":\"check\",\"stage\":\"s\",\"name\":\"x\",\"status\":\"passed\"}" /* and check */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(parse_check(bad[i], &c), -1);
}

static void a_stop_line_is_taken_apart(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct stop_line s;
    static const char good[] =
        "{\"type\":\"stop\",\"stage\":\"s\",\"kind\":\"refused\",\"code\":\"usage\",\"reason\":\"r\"}",
                      bare[] = "{\"type\":\"stop\",\"stage\":\"s\",\"kind\":\"refused\",\"reason\":\"r\"}";
    assert_int_equal(stop_line_parse(json_parse(good, sizeof good - 1, &arena, NULL), &arena, &s, &err), 0);
    assert_true(s.refused && s.cause.code == CODE_USAGE);
    assert_int_equal(stop_line_parse(json_parse(bare, sizeof bare - 1, &arena, NULL), &arena, &s, &err), -1);
}

/* Facts hold what files and servers said, in any bytes. */
static void facts_are_written_as_json(void **state)
{
    (void)state;
    struct buf line = BUF_INIT;
    cause_put(&line, BECAUSE(CODE_NONE));
    assert_int_equal(line.len, 0);
    cause_put(&line, BECAUSE(CODE_TOPIC_COMPACTED, {"topic", "a\"b\xff"}));
    assert_string_equal(buf_str(&line), ",\"code\":\"topic-compacted\",\"facts\":{\"topic\":\"a\\\"b\\\\xff\"}");
    buf_reset(&line);
    cause_put(&line, BECAUSE(CODE_USAGE));
    assert_string_equal(buf_str(&line), ",\"code\":\"usage\"");
    buf_free(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_kept_in_order_once_and_whole),
        cmocka_unit_test(every_action_reads_with_and_without_facts),
        cmocka_unit_test(an_error_has_its_own_code_or_that_of_its_errno_or_kind),
        cmocka_unit_test(a_check_line_is_taken_apart),
        cmocka_unit_test(a_stop_line_is_taken_apart),
        cmocka_unit_test(facts_are_written_as_json),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return rc;
}
