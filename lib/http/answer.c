/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What came back: the headers that count, the body or the error's text, and
 * what both mean for the statement.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/internal.h"
#include "json/json.h"

/* The value of header `name` in the line p[0..n), or NULL. */
static const char *value_of(const char *p, size_t n, const char *name, size_t *len)
{
    size_t k = strlen(name);
    if (n <= k || p[k] != ':' || strncasecmp(p, name, k) != 0)
        return NULL;
    p += k + 1;
    n -= k + 1;
    while (n > 0 && (*p == ' ' || *p == '\t'))
        p++, n--;
    while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r' || p[n - 1] == '\n'))
        n--;
    *len = n;
    return p;
}

/* {"read_rows":"2",…,"result_rows":"2"}: the numbers as text or bare. Anything else is no summary. */
static void read_summary(struct http_answer *a, const char *p, size_t n)
{
    struct arena arena = ARENA_INIT;
    struct json_error e;
    struct json *v = json_parse(p, n, &arena, &e);
    a->has_summary = v && json_u64(json_get(v, "result_rows"), &a->result_rows);
    if (a->has_summary) {
        if (!json_u64(json_get(v, "read_rows"), &a->read_rows))
            a->read_rows = 0;
        if (!json_u64(json_get(v, "written_rows"), &a->written_rows))
            a->written_rows = 0;
    }
    arena_free(&arena);
}

size_t http_on_header(char *p, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    struct http_answer *a = t->a;
    const char *v;
    size_t len;
    n *= size;
    if (n >= 5 && memcmp(p, "HTTP/", 5) == 0) {
        /* An interim answer came before this one: only the last one's headers count. */
        a->code = 0;
        a->has_summary = a->own = t->exception = false;
        t->ids = t->summaries = 0;
    } else if ((v = value_of(p, n, "X-ClickHouse-Exception-Code", &len)) != NULL) {
        uint64_t code = 0;
        t->exception = true;
        a->code = scan_u64(v, len, &code) && code > 0 && code < 1000000 ? (int)code : 0;
    } else if ((v = value_of(p, n, "X-ClickHouse-Summary", &len)) != NULL) {
        read_summary(a, v, len);
        a->has_summary = ++t->summaries == 1 && a->has_summary; /* of two, neither counts */
    } else if ((v = value_of(p, n, "X-ClickHouse-Query-Id", &len)) != NULL) {
        a->own = ++t->ids == 1 && len == strlen(t->query_id) && memcmp(v, t->query_id, len) == 0;
    }
    return n;
}

size_t http_on_body(char *p, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    long status = 0;
    curl_easy_getinfo(t->h->easy, CURLINFO_RESPONSE_CODE, &status);
    return http_take_body(t, status, p, size * n);
}

size_t http_take_body(struct transfer *t, long status, const char *p, size_t n)
{
    if (status != 200 || t->exception) {
        size_t room = ERROR_BODY - t->error.len;
        buf_add(&t->error, p, n < room ? n : room);
        return n;
    }
    t->a->body_bytes += n;
    if (t->send) {
        t->a->spoken = n > 0;
        return n > 0 ? 0 : n;
    }
    t->aborted = t->fn && t->fn(t->ctx, p, n) != 0;
    /* While bytes keep coming nobody else may get to look at the time. */
    t->a->timed_out = !t->aborted && time_mono_ms() >= t->deadline;
    return t->aborted || t->a->timed_out ? 0 : n;
}

void http_scrub(const struct http *h, char *text, size_t cap)
{
    struct buf b = BUF_INIT;
    for (int i = 0; i < HTTP_SECRETS; i++) {
        const char *secret = h->secrets[i];
        if (!secret || *secret == '\0' || !strstr(text, secret))
            continue;
        buf_reset(&b);
        for (const char *p = text, *hit; *p != '\0'; p = hit + strlen(secret)) {
            hit = strstr(p, secret);
            if (!hit) {
                buf_adds(&b, p);
                break;
            }
            buf_add(&b, p, (size_t)(hit - p));
            buf_adds(&b, "***");
        }
        snprintf(text, cap, "%s", buf_str(&b));
    }
    buf_free(&b);
}

/* The server's own words: its first line, printable, without the prefixes that say nothing. */
static void add_error_text(struct buf *b, const struct buf *error)
{
    const char *p = error->p;
    size_t n = error->len;
    const char *nl = n > 0 ? memchr(p, '\n', n) : NULL;
    if (nl)
        n = (size_t)(nl - p);
    msg_mask(b, p, n);
}

/* A server that sets no exception header still begins its text with the code. */
static int code_in_text(const struct buf *error)
{
    static const char lead[] = "Code: ";
    size_t at = sizeof lead - 1;
    int code = 0;
    if (error->len <= at || memcmp(error->p, lead, at) != 0)
        return 0;
    while (at < error->len && error->p[at] >= '0' && error->p[at] <= '9' && code < 100000)
        code = code * 10 + (error->p[at++] - '0');
    return code;
}

static void settle_answered(struct transfer *t, struct buf *text)
{
    struct http_answer *a = t->a;
    if (a->code == 0 && !t->send)
        a->code = code_in_text(&t->error);
    if (t->ids > 0 && !a->own) {
        a->outcome = HTTP_IN_DOUBT;
        a->code = 0;
        buf_adds(text, "an answer that the server gave to another statement, by its query id");
        return;
    }
    if (a->code > 0) {
        a->outcome = HTTP_ANSWERED;
        if (t->error.len == 0) {
            buf_printf(text, "error %d, without a text", a->code);
            return;
        }
        if (code_in_text(&t->error) != a->code)
            buf_printf(text, "code %d: ", a->code);
        add_error_text(text, &t->error);
        return;
    }
    a->outcome = HTTP_IN_DOUBT;
    buf_printf(text, "HTTP status %ld without an exception code", a->status);
    if (a->status >= 300 && a->status < 400)
        buf_adds(text, "; redirects are not followed");
    else if (t->error.len > 0) {
        buf_adds(text, ": ");
        add_error_text(text, &t->error);
    }
}

static void settle_broken(struct transfer *t, CURLcode rc, bool requested, struct buf *text)
{
    struct http_answer *a = t->a;
    bool begun = t->send && t->send_len > 0 ? t->sent > 0 : requested;
    a->outcome = begun ? HTTP_IN_DOUBT : HTTP_NOT_SENT;
    if (a->timed_out || rc == CURLE_OPERATION_TIMEDOUT) {
        bool connecting = rc == CURLE_OPERATION_TIMEDOUT; /* the one time that curl itself keeps */
        a->timed_out = true;
        buf_printf(text, begun ? "no whole answer within %" PRIu64 " ms" : "no connection within %" PRIu64 " ms",
                   (connecting ? t->h->connect_ms : t->h->timeout_ms));
        return;
    }
    const char *why = t->curl_text[0] != '\0' ? t->curl_text : curl_easy_strerror(rc);
    msg_mask(text, why, strlen(why));
    if (a->status == 200 && begun)
        buf_printf(text, "; the answer broke off after %" PRIu64 " bytes", a->body_bytes);
}

/* What a whole answer of status 200 lacks to be the server's own to this statement, or NULL. */
static const char *lacks(const struct transfer *t)
{
    if (t->ids == 0)
        return "the query id did not come back";
    if (!t->a->own)
        return t->ids > 1 ? "it has more than one query id" : "it has the query id of another statement";
    if (t->summaries > 1)
        return "it has more than one summary";
    return t->a->has_summary ? NULL : "it has no summary";
}

static void settle_whole(struct transfer *t, struct buf *text)
{
    const char *lack = t->a->spoken ? "an INSERT's acknowledgement has no body, and this has" : lacks(t);
    t->a->unproven = lack != NULL;
    t->a->outcome = lack ? HTTP_IN_DOUBT : HTTP_DONE;
    if (lack)
        buf_printf(text, "an answer of status 200 that the server did not provably give to this statement: %s", lack);
}

void http_settle(struct transfer *t, CURLcode rc)
{
    long connects = 0, requested = 0;
    curl_easy_getinfo(t->h->easy, CURLINFO_RESPONSE_CODE, &t->a->status);
    curl_easy_getinfo(t->h->easy, CURLINFO_NUM_CONNECTS, &connects);
    curl_easy_getinfo(t->h->easy, CURLINFO_REQUEST_SIZE, &requested);
    t->a->new_connection = connects > 0 && !t->late;
    http_decide(t, rc, requested > 0);
}

void http_decide(struct transfer *t, CURLcode rc, bool requested)
{
    struct http_answer *a = t->a;
    struct buf text = BUF_INIT;
    if (t->aborted) {
        a->outcome = HTTP_ABORTED;
        buf_adds(&text, "given up");
    } else if ((rc == CURLE_OK && !a->timed_out && (a->status != 200 || t->exception)) || a->code > 0) {
        settle_answered(t, &text);
    } else if (!a->spoken && (rc != CURLE_OK || a->timed_out)) {
        settle_broken(t, rc, requested, &text);
    } else {
        settle_whole(t, &text);
    }
    /* Scrubbed whole, before it is cut: half a password is too much. */
    size_t cap = text.len + 3 * HTTP_SECRETS * text.len + 8;
    buf_reserve(&text, cap);
    buf_str(&text);
    http_scrub(t->h, text.p, cap);
    size_t len = strlen(text.p);
    if (len >= sizeof a->text) {
        len = sizeof a->text - 1;
        while (len > 0 && ((unsigned char)text.p[len] & 0xc0) == 0x80)
            len--;
    }
    memcpy(a->text, text.p, len);
    a->text[len] = '\0';
    buf_free(&text);
}

static enum code code_of_server(int code)
{
    static const struct {
        int code;
        enum code as;
    } known[] = {
        {497, CODE_NOT_GRANTED},          {60, CODE_TABLE_MISSING},   {81, CODE_TABLE_MISSING},
        {164, CODE_SETTINGS_NOT_ALLOWED}, {452, CODE_SETTING_FIXED},  {115, CODE_SERVER_UNSUPPORTED},
        {192, CODE_LOGIN_REFUSED},        {193, CODE_LOGIN_REFUSED},  {194, CODE_LOGIN_REFUSED},
        {516, CODE_LOGIN_REFUSED},        {396, CODE_SERVER_BOUND},   {159, CODE_SERVER_BOUND},
        {160, CODE_SERVER_BOUND},         {241, CODE_SERVER_BOUND},   {158, CODE_SERVER_BOUND},
        {307, CODE_SERVER_BOUND},         {62, CODE_SERVER_BOUND},    {168, CODE_SERVER_BOUND},
        {191, CODE_SERVER_BOUND},         {289, CODE_REPLICA_BEHIND},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code)
            return known[i].as;
    return CODE_SERVER_FAILED;
}

/* The setting that a constraint of the profile is about, as the server's text names it, and the option that this
 * program sends it by: facts for the next action, which the code decides without them. */
static void add_setting(struct cause *c, const char *text)
{
    static const char before[] = "Setting ";
    char name[64];
    const char *p = strstr(text, before);
    size_t n = p ? strspn(p + sizeof before - 1, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    if (n == 0 || n >= sizeof name)
        return;
    memcpy(name, p + sizeof before - 1, n);
    name[n] = '\0';
    cause_add(c, "setting", name);
    if (strcmp(name, "max_execution_time") == 0)
        cause_add(c, "option", "--query-timeout-ms");
    else if (strcmp(name, "max_result_rows") == 0)
        cause_add(c, "option", "--max-rows-per-query");
}

struct cause http_cause(const struct http_answer *a)
{
    if (a->outcome == HTTP_ANSWERED) {
        struct cause c = *BECAUSE(code_of_server(a->code), {"error", FACT_NUMBER((uint64_t)a->code)});
        if (c.code == CODE_SETTING_FIXED)
            add_setting(&c, a->text);
        return c;
    }
    if (a->outcome == HTTP_NOT_SENT)
        return *BECAUSE(CODE_SERVER_UNREACHABLE);
    return *BECAUSE(a->timed_out ? CODE_ANSWER_LATE : CODE_ANSWER_BROKEN);
}

int http_err(const struct http_answer *a, const char *what, struct err *err)
{
    struct cause cause = http_cause(a);
    return err_fail(err, a->timed_out ? ERR_TIMEOUT : ERR_TROUBLE, &cause, "%s: %s", what, a->text);
}
