/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite against a scripted server: what is sent again and with which bytes,
 * which answers count, and what the ledger says where a real server cannot be
 * brought to answer so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stream/codes.h"
#include "chwrite/chwrite.h"
#include "mock_server.h"

#define UUID "11111111-1111-1111-1111-111111111111"
#define TABLE "22222222-2222-2222-2222-222222222222"

struct server {
    const char *uuid, *version, *table, *engine, *columns;
    unsigned window, parts;
    const char *hashing; /* NULL: new_unified_hash */
    const char *uptime;  /* NULL: an hour */
};
static const struct server usual = {
    UUID, "26.7.1.1", TABLE, "MergeTree", "{\"name\":\"id\",\"type\":\"Int64\",\"default_kind\":\"\"}\n",
    100,  7,          NULL,  NULL};

static void answer(struct mock *m, const char *text)
{
    unsigned rows = 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
        rows++;
    }
    mock_own(m, MOCK_ANSWER, rows, 0, text, strlen(text));
}

/* What a look asks for, in its order: identity, columns, and with a window the hashes and the parts. */
static void script_look(struct mock *m, const struct server *s)
{
    struct buf b = BUF_INIT;
    buf_printf(
        &b,
        "{\"server_uuid\":\"%s\",\"server_version\":\"%s\",\"server_host\":\"h\",\"table_uuid\":\"%s\",\"engine\":\"%s\","
        "\"engine_full\":\"%s ORDER BY id SETTINGS non_replicated_deduplication_window = %u\",\"create_table_query\":\"\","
        "\"partition_key\":\"\",\"uptime\":\"%s\"}\n",
        s->uuid, s->version, s->table, s->engine, s->engine, s->window, s->uptime != NULL ? s->uptime : "3600");
    answer(m, buf_str(&b));
    answer(m, s->columns);
    if (s->window > 0) {
        buf_reset(&b);
        buf_printf(&b, "{\"v\":\"%s\"}\n", s->hashing != NULL ? s->hashing : "new_unified_hash");
        answer(m, buf_str(&b));
        buf_reset(&b);
        buf_printf(&b, "{\"v\":\"%u\"}\n", s->parts);
        answer(m, buf_str(&b));
    }
    buf_free(&b);
}

#define SETTING(name, value) "{\"name\":\"" name "\",\"value\":\"" value "\"}\n"
#define OTHERS \
    SETTING("insert_deduplicate", "1") \
    SETTING("max_insert_block_size", "1000000") \
    SETTING("input_format_with_names_use_header", "1") SETTING("input_format_with_types_use_header", "1")
static const char settings[] = SETTING("async_insert", "0") SETTING("wait_for_async_insert", "1") OTHERS;

static void script_open(struct mock *m, const struct server *s)
{
    mock_listen(m);
    script_look(m, s);
    answer(m, settings);
    answer(m, settings);
}

static struct chwrite *open_sink(struct mock *m, struct err *err)
{
    struct chwrite_options o = {
        .http = {.url = m->url, .timeout_ms = 2000}, .database = "d", .table = "t", .retry_ms = 3000};
    mock_start(m);
    return chwrite_open(&o, err);
}

static void two_rows(struct chwrite *w, struct arena *a, struct err *err)
{
    static const char text[] = "{\"id\":%d}";
    for (int i = 1; i <= 2; i++) {
        char row[40];
        struct json_error je;
        snprintf(row, sizeof row, text, i);
        char *copy = arena_strndup(a, row, strlen(row));
        assert_int_equal(chwrite_add(w, json_parse(copy, strlen(copy), a, &je), "orders/0/1", err), 0);
    }
}

/* One INSERT of two rows; the result is chwrite_send's. */
static int send_two(struct chwrite *w, struct arena *a, struct chwrite_sent *e, struct err *err)
{
    two_rows(w, a, err);
    return chwrite_send(w, "token", e, err);
}

static bool in_doubt(const struct chwrite_sent *e)
{
    return e->cut + e->errors > 0;
}

static void finish(struct mock *m, struct chwrite *w, struct arena *a)
{
    chwrite_close(w);
    mock_stop(m);
    arena_free(a);
}

#define DONE MOCK_ID "X-ClickHouse-Summary: {\"read_rows\":\"0\",\"written_rows\":\"2\",\"result_rows\":\"2\"}\r\n"

/* What an INSERT's request asks for, without the query id that is of one attempt alone. */
static const char *asked_for(struct buf *head)
{
    char *end = strstr(buf_str(head), "&query_id=");
    *end = '\0';
    return head->p;
}

static void test_resent_byte_for_byte(void **state)
{
    (void)state;
    struct mock m;
    struct err err = ERR_INIT;
    struct arena a = ARENA_INIT;
    struct chwrite_sent e;
    script_open(&m, &usual);
    mock_raw(&m, MOCK_CUT_BODY, "", 0);
    script_look(&m, &usual);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    script_look(&m, &usual);
    struct chwrite *w = open_sink(&m, &err);
    assert_non_null(w);
    assert_int_equal(send_two(w, &a, &e, &err), 0);
    assert_int_equal(e.attempts, 2);
    assert_true(in_doubt(&e));
    assert_true(e.deduplicated);
    chwrite_close(w);
    mock_stop(&m);
    static const char body[] = "\x01\x02id\x05Int64\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0";
    assert_true(buf_is(&m.bodies[6], body, sizeof body - 1));
    assert_true(buf_is(&m.bodies[11], body, sizeof body - 1));
    const char *request = asked_for(&m.heads[6]);
    assert_string_equal(request, asked_for(&m.heads[11]));
    assert_non_null(strstr(request, "async_insert=0&wait_for_async_insert=1"));
    assert_non_null(strstr(request, "&insert_deduplication_token=token&"));
    assert_true(e.tokens == 1 && e.cut == 1 && e.errors == 0 && !e.restarted && e.same_server);
    assert_non_null(
        strstr(request, "INSERT%20INTO%20%60d%60.%60t%60%20%28%60id%60%29%20FORMAT%20RowBinaryWithNamesAndTypes"));
    mock_free(&m);
    arena_free(&a);
}

/* One doubt, and then the server as it is met again. */
static const struct {
    const char *what;
    struct server met;
    int rc;
    bool deduplicated;
    const char *why;
} meetings[] = {
    {"the same", {UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 100, 9, NULL, NULL}, 0, true, NULL},
    {"another version", {UUID, "26.8.1.1", TABLE, "MergeTree", NULL, 100, 9, NULL, NULL}, 0, false, NULL},
    {"the same with another way of hashing",
     {UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 100, 9, "old_separate_hashes", NULL},
     0,
     false,
     NULL},
    {"others wrote as much as the window holds",
     {UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 100, 107, NULL, NULL},
     0,
     true,
     NULL},
    {"others wrote more", {UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 100, 108, NULL, NULL}, 0, false, NULL},
    {"parts went away", {UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 100, 6, NULL, NULL}, 0, false, NULL},
    {"the window went away", {UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 0, 0, NULL, NULL}, 0, false, NULL},
    {"another server",
     {"99999999-1111-1111-1111-111111111111", "26.7.1.1", TABLE, "MergeTree", NULL, 100, 9, NULL, NULL},
     -1,
     false,
     "d.t: another server answers at this endpoint"},
    {"another table",
     {UUID, "26.7.1.1", UUID, "MergeTree", NULL, 100, 9, NULL, NULL},
     -1,
     false,
     "d.t: the table was dropped and created again"},
    {"other columns",
     {UUID, "26.7.1.1", TABLE, "MergeTree", "{\"name\":\"id\",\"type\":\"Int32\",\"default_kind\":\"\"}\n", 100, 9,
      NULL, NULL},
     -1,
     false,
     "d.t was altered: its columns are not those that this run began with"},
};

static void test_meetings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof meetings / sizeof *meetings; i++) {
        struct mock m;
        struct err err = ERR_INIT;
        struct arena a = ARENA_INIT;
        struct chwrite_sent e;
        struct server met = meetings[i].met;
        met.columns = met.columns != NULL ? met.columns : usual.columns;
        script_open(&m, &usual);
        mock_raw(&m, MOCK_CUT_BODY, "", 0);
        script_look(&m, &met);
        mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
        script_look(&m, &met);
        struct chwrite *w = open_sink(&m, &err);
        int rc = send_two(w, &a, &e, &err);
        if (rc != meetings[i].rc || e.deduplicated != meetings[i].deduplicated ||
            (rc != 0 && strcmp(err.text, meetings[i].why) != 0))
            fail_msg("%s: %d, deduplicated %d: %s", meetings[i].what, rc, e.deduplicated, err.text);
        finish(&m, w, &a);
        mock_free(&m);
    }
}

#define CODE(n) "X-ClickHouse-Exception-Code: " #n "\r\n"

/* One answer to the first attempt, and what becomes of it; a second attempt is acknowledged. The same token settles a
 * doubt after no proven answer, and none after an error: its resend has a fresh one. */
static const struct {
    int status;
    const char *head, *body;
    int rc;
    unsigned attempts, cut, errors, tokens;
    const char *why;
} answers[] = {
    {200, DONE, "", 0, 1, 0, 0, 1, NULL},
    {200, "", "", 0, 2, 1, 0, 1, NULL},
    {200, MOCK_ID, "", 0, 2, 1, 0, 1, NULL},
    {200, DONE DONE, "", 0, 2, 1, 0, 1, NULL},
    {200, "Content-Type: text/html\r\n", "<html></html>", 0, 2, 1, 0, 2, NULL},
    {200, "", "Code: 999. DB::Exception: keeper\n", 0, 2, 1, 0, 2, NULL},
    {200, DONE, "\n", 0, 2, 1, 0, 2, NULL},
    {200, MOCK_ID "X-ClickHouse-Summary: {\"written_rows\":\"1\",\"read_rows\":\"0\",\"result_rows\":\"0\"}\r\n", "",
     -1, 1, 0, 0, 1, "says that it wrote 1"},
    {200, CODE(469) DONE, "", -1, 1, 0, 0, 1, "469"},
    {500, CODE(469), "Code: 469. DB::Exception: constraint\n", -1, 1, 0, 0, 1, "Code: 469"},
    {404, CODE(60), "no text of the usual kind", -1, 1, 0, 0, 1, "code 60: no text of the usual kind"},
    {500, MOCK_ID CODE(252), "Code: 252. DB::Exception: too many parts\n", 0, 2, 0, 0, 1, NULL},
    {500, MOCK_ID CODE(202), "Code: 202. DB::Exception: too many queries\n", 0, 2, 0, 0, 1, NULL},
    /* not this statement's own refusal, for all that is known */
    {500, CODE(252), "Code: 252. DB::Exception: too many parts\n", 0, 2, 0, 1, 2, NULL},
    {500, "X-ClickHouse-Query-Id: x\r\n" CODE(252), "Code: 252. DB::Exception: parts\n", 0, 2, 1, 0, 1, NULL},
    {500, MOCK_ID CODE(241), "Code: 241. DB::Exception: memory\n", 0, 2, 0, 1, 2, NULL},
    {500, MOCK_ID CODE(159), "Code: 159. DB::Exception: time\n", 0, 2, 0, 1, 2, NULL},
    {502, "", "a proxy's own words", 0, 2, 1, 0, 1, NULL},
};

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct mock m;
        struct err err = ERR_INIT;
        struct arena a = ARENA_INIT;
        struct chwrite_sent e;
        script_open(&m, &usual);
        mock_answer(&m, MOCK_ANSWER, answers[i].status, answers[i].head, answers[i].body, strlen(answers[i].body));
        script_look(&m, &usual);
        mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
        script_look(&m, &usual);
        struct chwrite *w = open_sink(&m, &err);
        int rc = send_two(w, &a, &e, &err);
        /* Any answer but the acknowledgement leaves the attempt behind: what gave it may not be the server. */
        if (rc != answers[i].rc || e.attempts != answers[i].attempts || e.cut != answers[i].cut ||
            e.errors != answers[i].errors || e.tokens != answers[i].tokens || e.restarted || e.deduplicated ||
            strcmp(e.token, e.tokens == 1 ? "token" : "token.2") != 0 ||
            (rc != 0 && strstr(err.text, answers[i].why) == NULL))
            fail_msg("answer %zu: %d, attempts %d, cut %d, errors %d, token %s, deduplicated %d: %s", i, rc,
                     (int)e.attempts, (int)e.cut, (int)e.errors, e.token, e.deduplicated, err.text);
        finish(&m, w, &a);
        mock_free(&m);
    }
}

static void expect_token(struct mock *m, size_t request, const char *token)
{
    char want[80];
    snprintf(want, sizeof want, "insert_deduplication_token=%s&", token);
    if (strstr(buf_str(&m->heads[request]), want) == NULL)
        fail_msg("request %zu is not under %s: %s", request, token, buf_str(&m->heads[request]));
}

/* The server was started anew while an INSERT was in doubt: its token may be all that it kept of the rows. */
static const struct server young = {
    UUID, "26.7.1.1", TABLE, "MergeTree", "{\"name\":\"id\",\"type\":\"Int64\",\"default_kind\":\"\"}\n",
    100,  9,          NULL,  "0"};

static void test_started_anew(void **state)
{
    (void)state;
    struct mock m;
    struct err err = ERR_INIT;
    struct arena a = ARENA_INIT;
    struct chwrite_sent e;
    script_open(&m, &usual);
    mock_raw(&m, MOCK_CUT_BODY, "", 0);
    script_look(&m, &young);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    script_look(&m, &usual);
    struct chwrite *w = open_sink(&m, &err);
    assert_int_equal(send_two(w, &a, &e, &err), 0);
    assert_true(e.restarted && !e.deduplicated && e.tokens == 2 && e.attempts == 2 && e.cut == 1);
    assert_string_equal(e.token, "token.2");
    finish(&m, w, &a);
    expect_token(&m, 6, "token");
    expect_token(&m, 11, "token.2");
    mock_free(&m);
}

/* It is found to be started anew only once the resend was acknowledged, perhaps by nothing but the token that it kept:
 * that settles nothing, and the rows are sent once more. */
static void test_acknowledged_by_a_token_alone(void **state)
{
    (void)state;
    struct mock m;
    struct err err = ERR_INIT;
    struct arena a = ARENA_INIT;
    struct chwrite_sent e;
    script_open(&m, &usual);
    mock_raw(&m, MOCK_CUT_BODY, "", 0);
    script_look(&m, &usual);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    script_look(&m, &young);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    script_look(&m, &young);
    struct chwrite *w = open_sink(&m, &err);
    assert_int_equal(send_two(w, &a, &e, &err), 0);
    assert_true(e.restarted && !e.deduplicated && e.tokens == 2 && e.attempts == 3 && e.cut == 1);
    finish(&m, w, &a);
    expect_token(&m, 6, "token");
    expect_token(&m, 11, "token");
    expect_token(&m, 16, "token.2");
    mock_free(&m);
}

/* A server that was started after the last statement, and before the first attempt, settles doubts as any other. */
static void test_refused_by_nobody(void **state)
{
    (void)state;
    struct mock m;
    struct err err = ERR_INIT;
    struct arena a = ARENA_INIT;
    struct chwrite_sent e;
    script_open(&m, &usual);
    mock_answer(&m, MOCK_ANSWER, 500, MOCK_ID CODE(252), "Code: 252. DB::Exception: parts\n", 32);
    script_look(&m, &young);
    mock_raw(&m, MOCK_CUT_BODY, "", 0);
    script_look(&m, &usual);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    script_look(&m, &usual);
    struct chwrite *w = open_sink(&m, &err);
    assert_int_equal(send_two(w, &a, &e, &err), 0);
    assert_true(!e.restarted && e.deduplicated && e.tokens == 1 && e.attempts == 3);
    finish(&m, w, &a);
    mock_free(&m);
}

/* Without a token equal batches are kept, whatever the table's window, and a resend is never taken for dropped. */
static void test_without_a_token(void **state)
{
    (void)state;
    struct mock m;
    struct err err = ERR_INIT;
    struct arena a = ARENA_INIT;
    struct chwrite_sent e;
    script_open(&m, &usual);
    mock_raw(&m, MOCK_CUT_BODY, "", 0);
    script_look(&m, &usual);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    script_look(&m, &usual);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    struct chwrite *w = open_sink(&m, &err);
    two_rows(w, &a, &err);
    assert_int_equal(chwrite_send(w, NULL, &e, &err), 0);
    assert_true(e.token == NULL && in_doubt(&e) && !e.deduplicated);
    assert_int_equal(send_two(w, &a, &e, &err), 0);
    finish(&m, w, &a);
    for (size_t i = 6; i <= 11; i += 5) {
        assert_null(strstr(buf_str(&m.heads[i]), "insert_deduplication_token"));
        assert_non_null(strstr(buf_str(&m.heads[i]), "insert_deduplicate=0&"));
    }
    expect_token(&m, 16, "token");
    assert_non_null(strstr(buf_str(&m.heads[16]), "insert_deduplicate=1&"));
    mock_free(&m);
}

/* The first attempt went over a connection that nothing was asked on: which server took it is not known. */
static void test_unknown_connection(void **state)
{
    (void)state;
    struct mock m;
    struct err err = ERR_INIT;
    struct arena a = ARENA_INIT;
    struct chwrite_sent e;
    mock_listen(&m);
    script_look(&m, &usual);
    answer(&m, settings);
    mock_answer(&m, MOCK_CLOSE, 200,
                "Connection: close\r\n" MOCK_ID "X-ClickHouse-Summary: {\"result_rows\":\"6\"}\r\n", settings,
                strlen(settings));
    mock_raw(&m, MOCK_CUT_BODY, "", 0);
    script_look(&m, &usual);
    mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
    script_look(&m, &usual);
    struct chwrite *w = open_sink(&m, &err);
    assert_int_equal(send_two(w, &a, &e, &err), 0);
    assert_true(in_doubt(&e));
    assert_false(e.deduplicated);
    finish(&m, w, &a);
    mock_free(&m);
}

static const struct {
    struct server s;
    const char *proved, *why, *known;
} openings[] = {
    {{UUID, "26.7.1.1", TABLE, "Distributed", NULL, 0, 0, NULL, NULL},
     settings,
     "table d.t has the engine Distributed, which is no MergeTree",
     NULL},
    {{UUID, "26.7.1.1", TABLE, "MergeTree", "", 0, 0, NULL, NULL}, settings, "the table has no column to write", NULL},
    {{UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 0, 0, NULL, NULL},
     SETTING("async_insert", "1") SETTING("wait_for_async_insert", "1") OTHERS,
     "the server does not take async_insert=0 from this user",
     NULL},
    {{UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 0, 0, NULL, NULL},
     SETTING("async_insert", "0") OTHERS,
     "the server does not take wait_for_async_insert=1 from this user",
     NULL},
    {{UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 0, 0, NULL, NULL},
     SETTING("async_insert", "0") SETTING("wait_for_async_insert", "1"),
     "the server does not take insert_deduplicate=1 from this user",
     NULL},
    {{UUID, "26.7.1.1", TABLE, "MergeTree", NULL, 0, 0, NULL, NULL},
     settings,
     "the server does not show the setting async_insert to this user",
     SETTING("wait_for_async_insert", "1") OTHERS},
};

static void test_refused_at_open(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        struct mock m;
        struct err err = ERR_INIT;
        struct server s = openings[i].s;
        s.columns = s.columns != NULL ? s.columns : usual.columns;
        mock_listen(&m);
        script_look(&m, &s);
        answer(&m, openings[i].known != NULL ? openings[i].known : settings);
        answer(&m, openings[i].proved);
        assert_null(open_sink(&m, &err));
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_string_equal(err.text, openings[i].why);
        /* What the plan refuses is INSERT_NOT_POSSIBLE, which ch-sink says. */
        assert_int_equal(err.cause.code, strstr(err.text, "engine")   ? CODE_ENGINE_UNSUPPORTED
                                         : strstr(err.text, "server") ? CODE_SETTINGS_NOT_ALLOWED
                                                                      : CODE_NONE);
        mock_stop(&m);
        mock_free(&m);
    }
}

/* A hostile server: an answer about the table counts only where it is proven, whole, and no more than was asked for. */
#define IDENTITY(uptime) \
    "{\"server_uuid\":\"" UUID "\",\"server_version\":\"26.7.1.1\",\"server_host\":\"h\",\"table_uuid\":\"" TABLE \
    "\",\"engine\":\"MergeTree\",\"engine_full\":\"MergeTree\",\"create_table_query\":\"\",\"partition_key\":\"\"," \
    "\"uptime\":\"" uptime "\"}"
static const struct {
    const char *body;
    unsigned counted;
    bool own;
    const char *why;
} identities[] = {
    {IDENTITY("9") "\n", 1, false,
     "the table's identity: an answer of status 200 that the server did not provably give"},
    {IDENTITY("9") "\n" IDENTITY("9") "\n", 2, true,
     "has 2 whole lines, the server counted 2 rows, and 1 were asked for"},
    {IDENTITY("9") "\n", 2, true, "has 1 whole lines, the server counted 2 rows"},
    {IDENTITY("9"), 1, true, "has 0 whole lines, the server counted 1 rows"},
    {IDENTITY("9") "\n{}", 1, true, "has 1 whole lines, the server counted 1 rows"},
    {"<html>\n", 1, true, "the table's identity"},
    {IDENTITY("soon") "\n", 1, true, "the table's identity: the server's uptime is 'soon'"},
    {IDENTITY("18446744073709551615") "\n", 1, true, "the server's uptime is '18446744073709551615'"},
};

static void test_hostile_looks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        struct mock m;
        struct err err = ERR_INIT;
        const char *body = identities[i].body;
        mock_listen(&m);
        if (identities[i].own) {
            mock_own(&m, MOCK_ANSWER, identities[i].counted, 0, body, strlen(body));
        } else {
            mock_answer(&m, MOCK_ANSWER, 200, "", body, strlen(body));
        }
        assert_null(open_sink(&m, &err));
        if (err.kind != ERR_TROUBLE || strstr(err.text, identities[i].why) == NULL) {
            fail_msg("identity %zu: kind %d: %s", i, (int)err.kind, err.text);
        }
        mock_stop(&m);
        mock_free(&m);
    }
}

static void test_endless_look(void **state)
{
    (void)state;
    static char block[65536];
    struct mock m;
    struct err err = ERR_INIT;
    memset(block, 'x', sizeof block);
    mock_listen(&m);
    mock_forever(&m, MOCK_ENDLESS, MOCK_ID, block, sizeof block);
    assert_null(open_sink(&m, &err));
    assert_string_equal(err.text, "the table's identity: the answer is larger than 16777216 bytes");
    mock_stop(&m);
    mock_free(&m);
}

static void test_old_line(void **state)
{
    (void)state;
    static const char text[] = "Code: 46. DB::Exception: Unknown function serverUUID\n";
    for (int named = 0; named < 2; named++) {
        struct mock m;
        struct err err = ERR_INIT;
        mock_listen(&m);
        mock_answer(&m, MOCK_ANSWER, 500, named ? "" : CODE(46), text, sizeof text - 1);
        mock_answer(&m, MOCK_ANSWER, named ? 200 : 500, "", "18.16.1\n", 8);
        assert_null(open_sink(&m, &err));
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_non_null(strstr(err.text, named ? "the server is ClickHouse 18.16.1, of a line that is not supported: "
                                               : "the server is of a line that is not supported: "));
        mock_stop(&m);
        mock_free(&m);
    }
}

/* Another engine of the family, or another line, deduplicates as it likes: no resend there is taken for dropped. */
static void test_untested(void **state)
{
    (void)state;
    static const struct server of[] = {
        {UUID, "26.7.1.1", TABLE, "ReplacingMergeTree", NULL, 100, 7, NULL, NULL},
        {UUID, "26.4.1.1", TABLE, "MergeTree", NULL, 100, 7, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct mock m;
        struct err err = ERR_INIT;
        struct arena a = ARENA_INIT;
        struct chwrite_sent e;
        struct server s = of[i];
        s.columns = usual.columns;
        script_open(&m, &s);
        mock_raw(&m, MOCK_CUT_BODY, "", 0);
        script_look(&m, &s);
        mock_answer(&m, MOCK_ANSWER, 200, DONE, "", 0);
        script_look(&m, &s);
        struct chwrite *w = open_sink(&m, &err);
        assert_int_equal(send_two(w, &a, &e, &err), 0);
        assert_false(e.deduplicated);
        finish(&m, w, &a);
        mock_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resent_byte_for_byte),
        cmocka_unit_test(test_meetings),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_started_anew),
        cmocka_unit_test(test_acknowledged_by_a_token_alone),
        cmocka_unit_test(test_refused_by_nobody),
        cmocka_unit_test(test_without_a_token),
        cmocka_unit_test(test_unknown_connection),
        cmocka_unit_test(test_refused_at_open),
        cmocka_unit_test(test_untested),
        cmocka_unit_test(test_hostile_looks),
        cmocka_unit_test(test_endless_look),
        cmocka_unit_test(test_old_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
