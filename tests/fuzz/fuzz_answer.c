/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came back for a statement: headers line by line, a body in pieces, and what both are taken for. The first byte
 * says how the transfer ended, the second its status and how large a piece is; then header lines up to an empty one,
 * and the body. Only an answer that is provably the server's own is done, and no text shows the password.
 */
#include "http/internal.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define QUERY_ID "owed-1"
#define PASSWORD "hunter2"

static const CURLcode ends[] = {CURLE_OK, CURLE_OK, CURLE_OK, CURLE_RECV_ERROR, CURLE_OPERATION_TIMEDOUT};
static const long statuses[] = {200, 200, 500, 404, 302, 0};

static void insist(bool ok)
{
    if (!ok)
        abort();
}

static int on_body(void *ctx, const char *p, size_t n)
{
    buf_add(ctx, p, n);
    return ((struct buf *)ctx)->len > 4096;
}

static bool begins(const char *p, size_t n, const char *name)
{
    return n >= strlen(name) && strncasecmp(p, name, strlen(name)) == 0;
}

/* How often the last answer's headers have each name that decides. */
struct seen {
    unsigned ids, summaries, exceptions;
};

static size_t headers(struct transfer *t, const char *p, size_t n, struct seen *seen)
{
    size_t at = 0;
    while (at < n) {
        const char *line = p + at, *nl = memchr(line, '\n', n - at);
        size_t len = nl ? (size_t)(nl - line) + 1 : n - at;
        char *copy = xmalloc(len);
        memcpy(copy, line, len);
        insist(http_on_header(copy, 1, len, t) == len);
        free(copy);
        at += len;
        if (len == 1)
            break;
        if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
            *seen = (struct seen){0};
        seen->ids += begins(line, len, "X-ClickHouse-Query-Id:");
        seen->summaries += begins(line, len, "X-ClickHouse-Summary:");
        seen->exceptions += begins(line, len, "X-ClickHouse-Exception-Code:");
    }
    return at;
}

static CURLcode body(struct transfer *t, const char *p, size_t n, size_t piece)
{
    for (size_t at = 0; at < n; at += piece) {
        size_t len = n - at < piece ? n - at : piece;
        if (http_take_body(t, t->a->status, p + at, len) != len)
            return CURLE_WRITE_ERROR;
    }
    return CURLE_OK;
}

static void check(const struct transfer *t, CURLcode rc, const struct seen *seen, size_t body_bytes)
{
    const struct http_answer *a = t->a;
    bool whole = rc == CURLE_OK && a->status == 200 && seen->ids == 1 && seen->summaries == 1 && seen->exceptions == 0;
    insist(a->outcome != HTTP_DONE || (whole && a->has_summary && a->own && (!t->send || body_bytes == 0)));
    insist((a->outcome == HTTP_DONE) == (a->text[0] == '\0'));
    insist(a->outcome != HTTP_ANSWERED || (a->code > 0 && http_cause(a).code != CODE_NONE));
    insist(utf8_valid(a->text, strlen(a->text)) && !strstr(a->text, PASSWORD));
    for (const char *p = a->text; *p; p++)
        insist((unsigned char)*p >= 0x20 && *p != 0x7f);
    if (a->outcome != HTTP_DONE) {
        struct err err = ERR_INIT;
        insist(http_err(a, "it", &err) == -1 && err.kind != ERR_NONE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return -1;
    char password[] = PASSWORD, encoded[] = "aHVudGVyMg==";
    struct http h = {.secrets = {password, password, encoded}, .connect_ms = 1, .timeout_ms = 1};
    struct http_answer a = {.status = statuses[data[1] % (sizeof statuses / sizeof *statuses)]};
    struct buf got = BUF_INIT;
    struct seen seen = {0};
    bool insert = data[0] & 1;
    struct transfer t = {.h = &h, .a = &a, .fn = on_body, .ctx = &got, .query_id = QUERY_ID, .deadline = INT64_MAX};
    if (insert) {
        t.send = "x";
        t.send_len = t.sent = 1;
    }
    CURLcode rc = ends[(data[0] >> 1) % (sizeof ends / sizeof *ends)];
    const char *p = (const char *)data + 2;
    size_t n = size - 2, at = headers(&t, p, n, &seen);
    CURLcode taken = body(&t, p + at, n - at, data[1] + 1U);
    http_decide(&t, rc != CURLE_OK ? rc : taken, true);
    check(&t, rc != CURLE_OK ? rc : taken, &seen, n - at);
    buf_free(&t.error);
    buf_free(&got);
    return 0;
}
