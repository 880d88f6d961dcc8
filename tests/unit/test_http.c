/* SPDX-License-Identifier: Apache-2.0 */
/* http against a scripted server: how far a statement came, what is never sent, never followed, never shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/lines.h"
#include "http/http.h"
#include "mock_server.h"

/* What proves that an answer is the server's own. */
#define SUMMARY(rows) \
    MOCK_ID "X-ClickHouse-Summary: {\"read_rows\":\"9\",\"written_rows\":\"3\",\"result_rows\":\"" rows "\"}\r\n"
#define SECRET "hunter2/+ x"

static struct http *open_url(const char *url)
{
    struct err err = ERR_INIT;
    struct http_options o = {
        .url = url, .user = "reader", .password = SECRET, .timeout_ms = 400, .connect_timeout_ms = 2000};
    struct http *h = http_open(&o, &err);
    if (h == NULL)
        fail_msg("%s", err.text);
    return h;
}

static void test_urls(void **state)
{
    (void)state;
    static const struct {
        const char *url, *endpoint;
    } good[] = {
        {"http://127.0.0.1:8123", "http://127.0.0.1:8123"},
        {"http://ch.example:8123/", "http://ch.example:8123"},
        {"https://ch.example", "https://ch.example:443"},
        {"http://[::1]:8123/ch/", "http://[::1]:8123/ch"},
    };
    static const char *const bad[] = {
        "http://audit:s3cr%21t@ch:8123/",
        "http://s3cr%21t@ch:8123/",
        "ftp://ch/s3cr%21t",
        "file:///s3cr%21t",
        "ch:8123",
        "",
        "http://ch:8123/?password=s3cr%21t",
        "http://ch:8123/#s3cr%21t",
        "http://",
        "http://ch:99999/s3cr%21t",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct http *h = open_url(good[i].url);
        assert_string_equal(http_endpoint(h), good[i].endpoint);
        http_close(h);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = ERR_INIT;
        struct http_options o = {.url = bad[i]};
        assert_null(http_open(&o, &err));
        assert_int_equal(err.kind, ERR_REFUSED);
        if (strstr(err.text, "s3cr") != NULL)
            fail_msg("shown: %s", err.text);
    }
    struct err err = ERR_INIT;
    struct http_options broken = {.url = "http://ch:1", .user = "a\r\nX-Evil: 1"};
    assert_null(http_open(&broken, &err));
    struct http_options lost = {.url = "https://ch:1", .cacert = "/nonexistent/ca.pem"};
    assert_null(http_open(&lost, &err));
    assert_non_null(strstr(err.text, "/nonexistent/ca.pem"));
}

static void expect_insert(struct http *h, enum http_outcome want, int code, const char *text, size_t body)
{
    struct http_answer a;
    char *data = xcalloc(1, body + 1);
    static const struct http_setting settings[] = {
        {"async_insert", "0"}, {"insert_deduplication_token", "a b&c"}, {NULL, NULL}};
    enum http_outcome got = http_insert(h, "INSERT INTO t FORMAT RowBinary", settings, data, body, &a);
    free(data);
    if (got != want || a.outcome != want || a.code != code || strstr(a.text, text) == NULL ||
        (want == HTTP_DONE && *a.text != '\0'))
        fail_msg("outcome %d code %d: %s", (int)got, a.code, a.text);
    assert_null(strstr(a.text, "hunter2"));
}

static void test_insert_outcomes(void **state)
{
    (void)state;
    struct mock m;
    mock_listen(&m);
    mock_answer(&m, MOCK_ANSWER, 200, SUMMARY("0"), "", 0);
    mock_answer(&m, MOCK_ANSWER, 500, "X-ClickHouse-Exception-Code: 469\r\n", "Code: 469. violated by " SECRET "\nmore",
                35);
    mock_answer(&m, MOCK_ANSWER, 200, "X-ClickHouse-Exception-Code: 241\r\n", "", 0);
    mock_answer(&m, MOCK_ANSWER, 503, "", "overloaded", 10);
    mock_answer(&m, MOCK_ANSWER, 302, "Location: http://evil/\r\n", "", 0);
    mock_raw(&m, MOCK_CLOSE, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 43);
    mock_raw(&m, MOCK_CUT_BODY, "", 0);
    mock_raw(&m, MOCK_HANG, "", 0);
    mock_start(&m);
    struct http *h = open_url(m.url);
    expect_insert(h, HTTP_DONE, 0, "", 100);
    expect_insert(h, HTTP_ANSWERED, 469, "violated by ***", 100);
    expect_insert(h, HTTP_ANSWERED, 241, "error 241", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "HTTP status 503 without an exception code: overloaded", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "redirects are not followed", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "has no body, and this has", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "no whole answer within 400 ms", 100);
    http_close(h);
    mock_stop(&m);
    assert_int_equal(m.requests, 8);
    assert_int_equal(m.connections, 3); /* after the cut answer, and after the cut request */
    assert_non_null(strstr(buf_str(&m.heads[0]),
                           "POST /?query=INSERT%20INTO%20t%20FORMAT%20RowBinary&async_insert=0&"
                           "insert_deduplication_token=a%20b%26c&wait_end_of_query=1&query_id=owed-"));
    assert_non_null(strstr(buf_str(&m.heads[0]), "X-ClickHouse-User: reader\r\n"));
    assert_non_null(strstr(buf_str(&m.heads[0]), "X-ClickHouse-Key: " SECRET "\r\n"));
    assert_null(strcasestr(buf_str(&m.heads[0]), "expect:"));
    assert_int_equal(m.bodies[0].len, 100);
    mock_free(&m);
}

/* Nothing listens: refused before anything was sent. */
static void test_not_sent(void **state)
{
    (void)state;
    struct mock m;
    struct http_answer a;
    mock_listen(&m);
    close(m.fd);
    struct http *h = open_url(m.url);
    expect_insert(h, HTTP_NOT_SENT, 0, "onnect", 100);
    assert_int_equal(http_select(h, "SELECT 1", 8, NULL, NULL, NULL, &a), HTTP_NOT_SENT);
    http_close(h);
}

/* The server closes a kept connection just as an INSERT's data were sent over it: it must not be sent again unseen,
 * while a SELECT is, and says that its answer came over a new connection. */
static void test_dead_connection(void **state)
{
    (void)state;
    struct mock m;
    mock_listen(&m);
    mock_own(&m, MOCK_QUIET_CLOSE, 0, 0, "", 0);
    mock_own(&m, MOCK_ANSWER, 0, 0, "", 0);
    mock_own(&m, MOCK_QUIET_CLOSE, 0, 0, "", 0);
    mock_answer(&m, MOCK_ANSWER, 200, SUMMARY("1"), "x", 1);
    mock_start(&m);
    struct http *h = open_url(m.url);
    struct http_answer a;
    struct buf out = BUF_INIT;
    expect_insert(h, HTTP_DONE, 0, "", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "", 100);
    assert_int_equal(http_select(h, "SELECT 1", 8, NULL, NULL, NULL, &a), HTTP_DONE);
    assert_int_equal(http_select(h, "SELECT 2", 8, NULL, NULL, NULL, &a), HTTP_DONE);
    assert_false(a.new_connection);
    assert_int_equal(http_text(h, "SELECT 3", NULL, 10, &out, &a), HTTP_DONE);
    assert_true(a.new_connection);
    assert_true(a.has_summary);
    assert_int_equal(a.result_rows, 1);
    assert_int_equal(a.read_rows, 9);
    assert_int_equal(a.written_rows, 3);
    assert_true(buf_is(&out, "x", 1));
    http_close(h);
    mock_stop(&m);
    assert_int_equal(m.requests, 6); /* the INSERT in doubt once, the last SELECT twice */
    assert_true(buf_is(&m.bodies[3], "SELECT 3", 8));
    buf_free(&out);
    mock_free(&m);
}

static int give_up(void *ctx, const char *p, size_t n)
{
    (void)ctx, (void)p, (void)n;
    return -1;
}

static void expect_select(struct http *h, enum http_outcome want, int code, const char *text)
{
    struct http_answer a;
    if (http_select(h, "SELECT 1", 8, NULL, NULL, NULL, &a) != want || a.code != code || strstr(a.text, text) == NULL)
        fail_msg("outcome %d code %d: %s", (int)a.outcome, a.code, a.text);
}

static void test_select_outcomes(void **state)
{
    (void)state;
    struct mock m;
    struct http_answer a;
    struct buf out = BUF_INIT;
    mock_listen(&m);
    mock_answer(&m, MOCK_ANSWER, 500, "", "Code: 62, e.displayText() = x", 29);
    mock_own(&m, MOCK_ANSWER, 1, 0, "abc", 3);
    mock_own(&m, MOCK_ANSWER, 1, 0, "abcdefghijk", 11);
    mock_own(&m, MOCK_ANSWER, 1, 0, "abc", 3);
    mock_raw(&m, MOCK_CLOSE, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 54);
    mock_raw(&m, MOCK_CLOSE, "nonsense\r\n\r\n", 12);
    mock_answer(&m, MOCK_ANSWER, 516, "X-ClickHouse-Exception-Code: 516\r\n",
                "aHVudGVyMi8rIHg= hunter2%2F%2B%20x\x01\xff", 36);
    mock_start(&m);
    struct http *h = open_url(m.url);
    expect_select(h, HTTP_ANSWERED, 62, "Code: 62");
    assert_int_equal(http_select(h, "SELECT 1", 8, NULL, NULL, NULL, &a), HTTP_DONE);
    assert_int_equal(a.body_bytes, 3);
    assert_int_equal(http_text(h, "SELECT 1", NULL, 10, &out, &a), HTTP_ABORTED);
    assert_int_equal(http_select(h, "SELECT 1", 8, NULL, give_up, NULL, &a), HTTP_ABORTED);
    expect_select(h, HTTP_IN_DOUBT, 0, "broke off after 3 bytes");
    expect_select(h, HTTP_IN_DOUBT, 0, "");
    expect_select(h, HTTP_ANSWERED, 516, "*** ***\\x01\\xff");
    http_close(h);
    mock_stop(&m);
    buf_free(&out);
    mock_free(&m);
}

/* No proxy from the environment: the statement goes to the server named, not to what http_proxy says. */
static void test_no_proxy(void **state)
{
    (void)state;
    struct mock m;
    mock_listen(&m);
    mock_own(&m, MOCK_ANSWER, 0, 0, "", 0);
    mock_start(&m);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    struct http *h = open_url(m.url);
    expect_select(h, HTTP_DONE, 0, "");
    http_close(h);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    mock_stop(&m);
    mock_free(&m);
}

/* A hostile server, or what stands before one: a whole answer of status 200 that is not provably the server's own to
 * this very statement. Nothing of it acknowledges an INSERT or answers a SELECT. */
#define ONE "X-ClickHouse-Summary: {\"read_rows\":\"1\",\"written_rows\":\"1\",\"result_rows\":\"1\"}\r\n"
static const struct {
    const char *head, *body, *why;
} unproven[] = {
    {"", "", "the query id did not come back"},
    {ONE, "", "the query id did not come back"},
    {"Content-Type: text/html\r\n", "<html>It works!</html>", "the query id did not come back"},
    {"", "Code: 241. DB::Exception: Memory limit exceeded\n", "the query id did not come back"},
    {"X-ClickHouse-Query-Id: owed-of-another\r\n" ONE, "", "the query id of another statement"},
    {"X-ClickHouse-Query-Id: $QUERY_ID0\r\n" ONE, "", "the query id of another statement"},
    {"X-ClickHouse-Query-Id:\r\n" ONE, "", "the query id of another statement"},
    {MOCK_ID MOCK_ID ONE, "", "more than one query id"},
    {MOCK_ID "X-ClickHouse-Query-Id: x\r\n" ONE, "", "more than one query id"},
    {MOCK_ID, "", "no summary"},
    {MOCK_ID "X-ClickHouse-Summary: {\"result_rows\":\"x\"}\r\n", "", "no summary"},
    {MOCK_ID "X-ClickHouse-Summary: [1]\r\n", "", "no summary"},
    {MOCK_ID ONE ONE, "", "more than one summary"},
    {MOCK_ID "X-ClickHouse-Summary: broken\r\n" ONE, "", "more than one summary"},
};

static void test_unproven(void **state)
{
    (void)state;
    struct mock m;
    struct http_answer a;
    for (size_t i = 0; i < sizeof unproven / sizeof *unproven; i++) {
        struct buf out = BUF_INIT;
        const char *body = unproven[i].body;
        mock_listen(&m);
        mock_answer(&m, MOCK_ANSWER, 200, unproven[i].head, body, strlen(body));
        mock_answer(&m, MOCK_ANSWER, 200, unproven[i].head, body, strlen(body));
        mock_start(&m);
        struct http *h = open_url(m.url);
        enum http_outcome got = http_text(h, "SELECT 1", NULL, 100, &out, &a);
        if (got != HTTP_IN_DOUBT || !a.unproven || strstr(a.text, unproven[i].why) == NULL)
            fail_msg("SELECT, answer %zu: outcome %d: %s", i, (int)got, a.text);
        got = http_insert(h, "INSERT INTO t FORMAT RowBinary", NULL, "x", 1, &a);
        if (got != HTTP_IN_DOUBT || !a.unproven || a.spoken != (*body != '\0') ||
            strstr(a.text, a.spoken ? "has no body, and this has" : unproven[i].why) == NULL)
            fail_msg("INSERT, answer %zu: outcome %d: %s", i, (int)got, a.text);
        http_close(h);
        mock_stop(&m);
        mock_free(&m);
        buf_free(&out);
    }
}

/* All is as it should be, but that an INSERT is answered with a body: of any length, it is not read on. */
static void test_insert_with_a_body(void **state)
{
    (void)state;
    struct mock m;
    mock_listen(&m);
    mock_own(&m, MOCK_ANSWER, 0, 1, "\n", 1);
    mock_forever(&m, MOCK_ENDLESS, SUMMARY("0"), "x", 1);
    mock_start(&m);
    struct http *h = open_url(m.url);
    expect_insert(h, HTTP_IN_DOUBT, 0, "has no body, and this has", 3);
    expect_insert(h, HTTP_IN_DOUBT, 0, "has no body, and this has", 3);
    http_close(h);
    mock_stop(&m);
    mock_free(&m);
}

/* An error counts as the server's word on this statement where its query id came back; another's does not count. */
static void test_whose_error(void **state)
{
    (void)state;
    struct mock m;
    struct http_answer a;
    static const char text[] = "Code: 252. DB::Exception: too many parts\n";
    mock_listen(&m);
    mock_answer(&m, MOCK_ANSWER, 500, MOCK_ID "X-ClickHouse-Exception-Code: 252\r\n", text, sizeof text - 1);
    mock_answer(&m, MOCK_ANSWER, 500, "X-ClickHouse-Exception-Code: 252\r\n", text, sizeof text - 1);
    mock_answer(&m, MOCK_ANSWER, 500, "X-ClickHouse-Query-Id: x\r\nX-ClickHouse-Exception-Code: 252\r\n", text,
                sizeof text - 1);
    mock_answer(&m, MOCK_ANSWER, 500, MOCK_ID "X-ClickHouse-Exception-Code: 252\r\n", "no code in here", 15);
    mock_start(&m);
    struct http *h = open_url(m.url);
    assert_int_equal(http_insert(h, "INSERT", NULL, "x", 1, &a), HTTP_ANSWERED);
    assert_true(a.own && a.code == 252);
    assert_string_equal(a.text, "Code: 252. DB::Exception: too many parts");
    assert_int_equal(http_insert(h, "INSERT", NULL, "x", 1, &a), HTTP_ANSWERED);
    assert_true(!a.own && a.code == 252);
    assert_int_equal(http_insert(h, "INSERT", NULL, "x", 1, &a), HTTP_IN_DOUBT);
    assert_true(!a.own && a.code == 0);
    assert_non_null(strstr(a.text, "another statement"));
    assert_int_equal(http_insert(h, "INSERT", NULL, "x", 1, &a), HTTP_ANSWERED);
    assert_string_equal(a.text, "code 252: no code in here");
    http_close(h);
    mock_stop(&m);
    mock_free(&m);
}

static int take(void *ctx, const char *p, size_t n)
{
    (void)ctx, (void)p, (void)n;
    return 0;
}

/* An answer without an end is over when the statement's time is, however fast or slow it comes and whether or not
 * anybody wants it; and a text ends where no more was asked for. */
static void test_endless(void **state)
{
    (void)state;
    static char block[65536];
    struct mock m;
    struct http_answer a;
    struct buf out = BUF_INIT;
    mock_listen(&m);
    mock_forever(&m, MOCK_ENDLESS, SUMMARY("1"), block, sizeof block);
    mock_forever(&m, MOCK_DRIP, SUMMARY("1"), "x", 1);
    mock_forever(&m, MOCK_ENDLESS, SUMMARY("1"), block, sizeof block);
    mock_start(&m);
    struct http *h = open_url(m.url);
    for (int i = 0; i < 2; i++) {
        int64_t from = time_mono_ms();
        assert_int_equal(http_select(h, "SELECT 1", 8, NULL, take, NULL, &a), HTTP_IN_DOUBT);
        assert_true(a.timed_out && !a.unproven);
        assert_string_equal(a.text, "no whole answer within 400 ms");
        assert_in_range(time_mono_ms() - from, 400, 10000);
    }
    assert_int_equal(http_text(h, "SELECT version()", NULL, 100, &out, &a), HTTP_ABORTED);
    assert_in_range(out.len, 0, 100);
    http_close(h);
    mock_stop(&m);
    mock_free(&m);
    buf_free(&out);
}

/* Time that the caller spends on what has come is the statement's too. */
static int slow(void *ctx, const char *p, size_t n)
{
    (void)ctx, (void)p, (void)n;
    sleep_ms(600);
    return 0;
}

static void test_own_time(void **state)
{
    (void)state;
    struct mock m;
    struct http_answer a;
    mock_listen(&m);
    mock_own(&m, MOCK_ANSWER, 1, 0, "abc", 3);
    mock_start(&m);
    struct http *h = open_url(m.url);
    assert_int_equal(http_select(h, "SELECT 1", 8, NULL, slow, NULL, &a), HTTP_IN_DOUBT);
    assert_true(a.timed_out);
    http_close(h);
    mock_stop(&m);
    mock_free(&m);
}

static void test_quoting(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    http_quote_ident(&b, "a`b\\c\n", 6);
    assert_string_equal(buf_str(&b), "`a\\`b\\\\c\\x0A`");
    buf_reset(&b);
    http_quote_string(&b, "it's\0\\\xd0\xb6`\x7f", 10);
    assert_string_equal(buf_str(&b), "'it\\'s\\x00\\\\\xd0\xb6`\\x7F'");
    buf_reset(&b);
    http_quote_string(&b, "\xff\xd0\xb6", 3);
    assert_string_equal(buf_str(&b), "'\\xFF\\xD0\\xB6'");
    buf_free(&b);
}

static void lines_tested(void **state)
{
    static const char *const yes[] = {"26.5.3.1", "26.7.3.1", "26.7"};
    static const char *const no[] = {"26.3.1.1", "26.6.1.1", "26.50.1.1", "126.5.1", "18.16.1",
                                     "26.",      "26",       "",          "26.7x"};
    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(http_line_tested(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(http_line_tested(no[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_tested),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_insert_outcomes),
        cmocka_unit_test(test_not_sent),
        cmocka_unit_test(test_dead_connection),
        cmocka_unit_test(test_select_outcomes),
        cmocka_unit_test(test_no_proxy),
        cmocka_unit_test(test_unproven),
        cmocka_unit_test(test_insert_with_a_body),
        cmocka_unit_test(test_whose_error),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_own_time),
        cmocka_unit_test(test_quoting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
