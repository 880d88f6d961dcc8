/* SPDX-License-Identifier: Apache-2.0 */
/* http against a scripted server: how far a statement came, what is never sent, never followed, never shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/http.h"
#include "mock_server.h"

#define SUMMARY(rows) \
    "X-ClickHouse-Summary: {\"read_rows\":\"9\",\"written_rows\":\"3\",\"result_rows\":\"" rows "\"}\r\n"
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
    expect_insert(h, HTTP_IN_DOUBT, 0, "broke off", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "", 100);
    expect_insert(h, HTTP_IN_DOUBT, 0, "no whole answer within 400 ms", 100);
    http_close(h);
    mock_stop(&m);
    assert_int_equal(m.requests, 8);
    assert_int_equal(m.connections, 3); /* after the cut answer, and after the cut request */
    assert_non_null(strstr(buf_str(&m.heads[0]), "POST /?query=INSERT%20INTO%20t%20FORMAT%20RowBinary&async_insert=0&"
                                                 "insert_deduplication_token=a%20b%26c HTTP/1.1\r\n"));
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
    mock_answer(&m, MOCK_QUIET_CLOSE, 200, "", "", 0);
    mock_answer(&m, MOCK_ANSWER, 200, "", "", 0);
    mock_answer(&m, MOCK_QUIET_CLOSE, 200, "", "", 0);
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
    mock_answer(&m, MOCK_ANSWER, 200, "X-ClickHouse-Summary: {\"result_rows\":\"x\"}\r\n", "abc", 3);
    mock_answer(&m, MOCK_ANSWER, 200, "", "abcdefghijk", 11);
    mock_answer(&m, MOCK_ANSWER, 200, "", "abc", 3);
    mock_raw(&m, MOCK_CLOSE, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 54);
    mock_raw(&m, MOCK_CLOSE, "nonsense\r\n\r\n", 12);
    mock_answer(&m, MOCK_ANSWER, 516, "X-ClickHouse-Exception-Code: 516\r\n",
                "aHVudGVyMi8rIHg= hunter2%2F%2B%20x\x01\xff", 36);
    mock_start(&m);
    struct http *h = open_url(m.url);
    expect_select(h, HTTP_ANSWERED, 62, "Code: 62");
    assert_int_equal(http_select(h, "SELECT 1", 8, NULL, NULL, NULL, &a), HTTP_DONE);
    assert_false(a.has_summary);
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
    mock_answer(&m, MOCK_ANSWER, 200, "", "", 0);
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

/* Time that the caller spends in its callback is not the server's. */
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
    mock_answer(&m, MOCK_ANSWER, 200, "", "abc", 3);
    mock_start(&m);
    struct http *h = open_url(m.url);
    assert_int_equal(http_select(h, "SELECT 1", 8, NULL, slow, NULL, &a), HTTP_DONE);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_insert_outcomes),
        cmocka_unit_test(test_not_sent),
        cmocka_unit_test(test_dead_connection),
        cmocka_unit_test(test_select_outcomes),
        cmocka_unit_test(test_no_proxy),
        cmocka_unit_test(test_own_time),
        cmocka_unit_test(test_quoting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
