/* SPDX-License-Identifier: Apache-2.0 */
/* The scope document: written and read back, its fingerprint, its refusals, and binding. */
#include "scope/scope.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static const char columns_text[] =
    "[{\"name\":\"id\",\"type\":\"Int64\",\"key\":true},{\"name\":\"seen\",\"type\":\"DateTime64(6)\",\"key\":false,\"from\":\"ms\"}]";

static struct arena arena;
static struct err err;

static int setup(void **state)
{
    (void)state;
    arena = (struct arena)ARENA_INIT;
    err = (struct err)ERR_INIT;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void sample(struct scope *s)
{
    static const char *attempts[] = {"a1"};
    static uint64_t subtasks[] = {0, 1}, epochs[] = {2, 3};
    static struct scope_range ranges[] = {{0, true, 100, 200}, {1, false, 0, INT64_MAX}};
    static struct scope_source sources[] = {{"1", "orders", "c1", "read_committed", NULL, ranges, 2}};
    *s = (struct scope){.origin = "bundle", .job = "1", .sink = "3", .attempts = attempts, .n_attempts = 1, .subtasks = subtasks,
                        .n_subtasks = 2, .server_uuid = "s", .server_version = "26.5", .database = "shop", .table = "orders",
                        .table_uuid = "u", .checkpoint = 3, .since = 1, .start = SCOPE_FROM_CHECKPOINT, .epochs = epochs, .n_epochs = 2,
                        .sources = sources, .n_sources = 1, .columns = COLUMNS_INIT, .coverage = "selected-keys"};
    const struct json *list = json_parse(columns_text, strlen(columns_text), &arena, NULL);
    assert_int_equal(columns_parse(list, true, &s->columns, &err), 0);
}

static void document(struct buf *out)
{
    struct scope s;
    sample(&s);
    scope_put(out, &s);
    scope_free(&s);
    buf_str(out);
}

static void comes_back(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, again = BUF_INIT;
    struct scope s;
    document(&text);
    assert_int_equal(scope_parse(text.p, text.len, &arena, &s, &err), 0);
    assert_true(s.checkpoint == 3 && s.since == 1 && s.n_epochs == 2 && s.columns.n == 2 && s.columns.at[0].key);
    assert_true(s.sources[0].partitions[0].has_from && !s.sources[0].partitions[1].has_from);
    assert_true(s.sources[0].partitions[1].to == INT64_MAX && !s.sources[0].topic_id && !s.job_graph_sha256);
    scope_put(&again, &s);
    assert_string_equal(text.p, buf_str(&again));
    scope_free(&s);
    buf_free(&text);
    buf_free(&again);
}

/* Members in another order and with white space are the same document. */
static void fingerprint_is_of_the_values(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, spaced = BUF_INIT;
    char a[SHA256_HEX + 1], b[SHA256_HEX + 1];
    document(&text);
    for (size_t i = 0; i < text.len; i++) {
        buf_addc(&spaced, text.p[i]);
        if (text.p[i] == ',' || text.p[i] == '{')
            buf_adds(&spaced, "\n ");
    }
    scope_fingerprint(json_parse(text.p, text.len, &arena, NULL), a);
    scope_fingerprint(json_parse(spaced.p, spaced.len, &arena, NULL), b);
    assert_string_equal(a, b);
    buf_free(&text);
    buf_free(&spaced);
}

/* text with the first `from` replaced. */
static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    struct buf out = BUF_INIT;
    buf_add(&out, text, (size_t)(at - text));
    buf_adds(&out, to);
    buf_adds(&out, at + strlen(from));
    char *kept = arena_strndup(&arena, out.p, out.len);
    buf_free(&out);
    return kept;
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } t[] = {{"clink-audit-scope", "other", "scope.format"}, {"\"version\":1", "\"version\":2", "scope.version"},
             {"\"version\":1", "\"version\":1,\"more\":1", "more"}, {"\"from\":100", "\"from\":101", "fingerprint"},
             {"\"from\":100", "\"from\":201", "backwards"}, {"\"checkpoint\":3", "\"checkpoint\":\"x\"", "scope.checkpoint"},
             {"[2,3]", "[3,2]", "ascending"}, {"\"start\":\"checkpoint\"", "\"start\":\"dawn\"", "scope.start"},
             {"\"sink\":{", "\"sink\":[],\"sunk\":{", "sunk"}, {"\"attempts\":[\"a1\"]", "\"attempts\":[1]", "attempts"},
             {"\"table_uuid\":\"u\"", "\"table_uuid\":null", "table_uuid"}, {"\"coverage\":\"selected-keys\"", "\"coverage\":\"all\"", "coverage"},
             {"clink-canonical-cells-v1", "cells-v9", "cells"}, {"{\"format\"", "{\"format\":1,\"format\"", "duplicate"}};
    struct buf text = BUF_INIT;
    document(&text);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *bad = replaced(text.p, t[i].from, t[i].to);
        struct scope s;
        assert_int_equal(scope_parse(bad, strlen(bad), &arena, &s, &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
        if (!strstr(err.text, t[i].says))
            fail_msg("'%s' does not say '%s'", err.text, t[i].says);
        scope_free(&s);
    }
    for (size_t n = 0; n < text.len; n++) {
        struct scope s;
        assert_int_equal(scope_parse(text.p, n, &arena, &s, &err), -1);
        scope_free(&s);
    }
    buf_free(&text);
}

static void binding_names_the_first_field(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } t[] = {{"\"from\":100", "\"from\":150", "sources[0].partitions[0].from: 100 here, 150 there"},
             {"\"checkpoint\":3", "\"checkpoint\":4", "checkpoint: 3 here, 4 there"},
             {"\"name\":\"seen\"", "\"name\":\"saw\"", "columns[1].name: \"seen\" here, \"saw\" there"},
             {"\"epochs\":[2,3]", "\"epochs\":[2]", "epochs[1]: 3 here, nothing there"},
             {"\"topic_id\":null", "\"topic_id\":\"t\"", "sources[0].topic_id: null here, \"t\" there"},
             {"\"job\":\"1\"", "\"job\":\"1\",\"extra\":1", "extra: nothing here, 1 there"}};
    struct buf text = BUF_INIT;
    document(&text);
    const struct json *here = json_parse(text.p, text.len, &arena, NULL);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *other = replaced(text.p, t[i].from, t[i].to);
        struct buf where = BUF_INIT;
        assert_true(scope_differs(here, json_parse(other, strlen(other), &arena, NULL), &where));
        assert_string_equal(buf_str(&where), t[i].says);
        buf_free(&where);
    }
    struct buf where = BUF_INIT;
    assert_false(scope_differs(here, here, &where));
    buf_free(&where);
    buf_free(&text);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(comes_back), T(fingerprint_is_of_the_values), T(refuses), T(binding_names_the_first_field)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
