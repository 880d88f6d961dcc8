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
    static const char *attempts[] = {"a1"}, *operators[] = {"1"};
    static uint64_t subtasks[] = {0, 1}, epochs[] = {2, 3};
    static struct scope_range ranges[] = {{0, true, 100, 200}, {1, false, 0, INT64_MAX}};
    static struct scope_source sources[] = {{"orders", "read_committed", "c1", NULL, ranges, 2}};
    *s = (struct scope){.bundle = {.job = "1",
                                   .sink = "3",
                                   .attempts = attempts,
                                   .n_attempts = 1,
                                   .subtasks = subtasks,
                                   .n_subtasks = 2,
                                   .checkpoint = 3,
                                   .since = 1,
                                   .start = SCOPE_FROM_CHECKPOINT,
                                   .epochs = epochs,
                                   .n_epochs = 2,
                                   .source_operators = operators,
                                   .n_source_operators = 1},
                        .server_uuid = "s",
                        .server_version = "26.5",
                        .database = "shop",
                        .table = "orders",
                        .table_uuid = "u",
                        .sources = sources,
                        .n_sources = 1,
                        .columns = COLUMNS_INIT};
    const struct json *list = json_parse(columns_text, strlen(columns_text), &arena, NULL);
    assert_int_equal(columns_parse(list, true, &s->columns, &err), 0);
}

/* What a person declares: two topics, one whose ids are known; nothing is known of the table but its name. */
static void declared_sample(struct scope *s)
{
    static struct scope_range first[] = {{0, true, 100, 2000}, {3, true, 7, 7}}, second[] = {{0, true, 0, 1}};
    static struct scope_source sources[] = {{"orders", "read_committed", "c1", "t1", first, 2},
                                            {"caf\u00e9", "read_uncommitted", NULL, NULL, second, 1}};
    static struct scope_gone gone[] = {{"orders", 0, 100}, {"orders", 3, 7}};
    static struct scope_left left[] = {{"caf\u00e9", ""}, {"made", "DEFAULT"}};
    *s = (struct scope){.origin = SCOPE_DECLARED,
                        .declared = {.gone = gone, .n_gone = 2, .left = left, .n_left = 2},
                        .database = "shop",
                        .table = "orders \"x\"",
                        .sources = sources,
                        .n_sources = 2,
                        .columns = COLUMNS_INIT};
    const struct json *list = json_parse(columns_text, strlen(columns_text), &arena, NULL);
    assert_int_equal(columns_parse(list, true, &s->columns, &err), 0);
}

static void document_of(void (*fill)(struct scope *), struct buf *out)
{
    struct scope s;
    fill(&s);
    scope_put(out, &s);
    scope_free(&s);
    buf_str(out);
}

static void document(struct buf *out)
{
    document_of(sample, out);
}

static void comes_back(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, again = BUF_INIT;
    struct scope s;
    document(&text);
    assert_int_equal(scope_parse(text.p, text.len, &arena, &s, &err), 0);
    assert_true(s.origin == SCOPE_BUNDLE && s.bundle.checkpoint == 3 && s.bundle.since == 1 && s.bundle.n_epochs == 2 &&
                s.columns.n == 2 && s.columns.at[0].key);
    assert_true(s.sources[0].partitions[0].has_from && !s.sources[0].partitions[1].has_from);
    assert_true(s.sources[0].partitions[1].to == INT64_MAX && !s.sources[0].topic_id && !s.bundle.job_graph_sha256);
    scope_put(&again, &s);
    assert_string_equal(text.p, buf_str(&again));
    scope_free(&s);
    buf_free(&text);
    buf_free(&again);
}

static void declared_comes_back(void **state)
{
    (void)state;
    static const char expected[] =
        "{\"format\":\"clink-audit-scope\",\"version\":1,\"origin\":\"declared\",\"declared\":{\"gone\":["
        "{\"topic\":\"orders\",\"partition\":0,\"offsets\":100},{\"topic\":\"orders\",\"partition\":3,\"offsets\":7}],"
        "\"left_out\":[{\"name\":\"caf\u00e9\",\"kind\":\"\"},{\"name\":\"made\",\"kind\":\"DEFAULT\"}]},"
        "\"destination\":{\"server_uuid\":null,\"server_version\":null,\"database\":\"shop\",\"table\":\"orders \\\"x\\\"\",\"table_uuid\":null},"
        "\"sources\":[{\"topic\":\"orders\",\"cluster_id\":\"c1\",\"topic_id\":\"t1\",\"isolation\":\"read_committed\","
        "\"partitions\":[{\"partition\":0,\"from\":100,\"to\":2000},{\"partition\":3,\"from\":7,\"to\":7}]},"
        "{\"topic\":\"caf\u00e9\",\"cluster_id\":null,\"topic_id\":null,\"isolation\":\"read_uncommitted\","
        "\"partitions\":[{\"partition\":0,\"from\":0,\"to\":1}]}],\"columns\":";
    struct buf text = BUF_INIT, again = BUF_INIT;
    struct scope s;
    document_of(declared_sample, &text);
    assert_memory_equal(text.p, expected, sizeof expected - 1);
    assert_int_equal(scope_parse(text.p, text.len, &arena, &s, &err), 0);
    assert_true(s.origin == SCOPE_DECLARED && !scope_complete_table(&s) && !s.bundle.job && !s.server_uuid &&
                !s.table_uuid);
    assert_true(s.declared.n_gone == 2 && s.declared.gone[1].partition == 3 && s.declared.gone[1].offsets == 7);
    assert_true(!s.sources[1].cluster_id && s.sources[0].partitions[0].to == 2000);
    scope_put(&again, &s);
    assert_string_equal(text.p, buf_str(&again));
    scope_free(&s);
    buf_free(&text);
    buf_free(&again);
}

static void whole_sample(struct scope *s)
{
    sample(s);
    s->bundle.complete_table = s->bundle.from_run_start = true;
}

static void coverage_comes_back(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct scope s;
    document_of(whole_sample, &text);
    assert_non_null(strstr(text.p, "\"coverage\":\"complete-table\""));
    assert_int_equal(scope_parse(text.p, text.len, &arena, &s, &err), 0);
    assert_true(scope_complete_table(&s) && s.bundle.from_run_start);
    scope_free(&s);
    buf_free(&text);
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

struct refusal {
    const char *from, *to, *says;
};

static void refuse_each(const char *text, const struct refusal *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *bad = replaced(text, t[i].from, t[i].to);
        struct scope s;
        assert_int_equal(scope_parse(bad, strlen(bad), &arena, &s, &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
        if (!strstr(err.text, t[i].says))
            fail_msg("'%s' does not say '%s'", err.text, t[i].says);
        scope_free(&s);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const struct refusal t[] = {
        {"clink-audit-scope", "other", "scope.format"},
        {"\"version\":1", "\"version\":2", "scope.version"},
        {"\"version\":1", "\"version\":1,\"more\":1", "more"},
        {"\"from\":100", "\"from\":101", "fingerprint"},
        {"\"from\":100", "\"from\":201", "backwards"},
        {"\"checkpoint\":3", "\"checkpoint\":\"x\"", "scope.bundle.checkpoint"},
        {"[2,3]", "[3,2]", "ascending"},
        {"\"start\":\"checkpoint\"", "\"start\":\"dawn\"", "scope.bundle.start"},
        {"\"sink\":{", "\"sink\":[],\"sunk\":{", "sunk"},
        {"\"attempts\":[\"a1\"]", "\"attempts\":[1]", "attempts"},
        {"\"table_uuid\":\"u\"", "\"table_uuid\":null",
         "scope.destination.table_uuid: null, and the scope is a bundle's"},
        {"\"cluster_id\":\"c1\"", "\"cluster_id\":null", "scope.sources[0].cluster_id: null, and"},
        {"\"topic_id\":null,", "", "scope.sources[0].topic_id: missing"},
        {"\"source_operators\":[\"1\"]", "\"source_operators\":[]",
         "scope.bundle.source_operators: 0 of them, and 1 sources"},
        {"\"coverage\":\"selected-keys\"", "\"coverage\":\"all\"", "coverage"},
        {"clink-canonical-cells-v1", "cells-v9", "cells"},
        {"{\"format\"", "{\"format\":1,\"format\"", "duplicate"}};
    struct buf text = BUF_INIT;
    document(&text);
    refuse_each(text.p, t, sizeof t / sizeof *t);
    for (size_t n = 0; n < text.len; n++) {
        struct scope s;
        assert_int_equal(scope_parse(text.p, n, &arena, &s, &err), -1);
        scope_free(&s);
    }
    buf_free(&text);
}

static void refuses_a_declaration(void **state)
{
    (void)state;
    static const struct refusal t[] = {
        {"\"gone\":[", "\"job\":\"1\",\"gone\":[",
         "scope.declared.job: a member of the part bundle, and the scope's origin is declared"},
        {"\"gone\":[", "\"repeats\":true,\"gone\":[", "scope.declared.repeats: a member of the part bundle"},
        {"\"gone\":[", "\"coverage\":\"selected-keys\",\"gone\":[",
         "scope.declared.coverage: 'selected-keys' is not complete-table"},
        {"\"gone\":[", "\"coverage\":\"complete-table\",\"gone\":[",
         "scope.scope_sha256: the document does not have this"},
        {"\"gone\":[", "\"more\":1,\"gone\":[", "scope.declared: unknown member more"},
        {"\"destination\":", "\"bundle\":{},\"destination\":",
         "scope.bundle: the part of the origin bundle, and the scope's origin is declared"},
        {"\"destination\":", "\"checkpoint\":1,\"destination\":", "scope.checkpoint: a member of the part bundle"},
        {"\"destination\":", "\"gone\":[],\"destination\":", "scope.gone: a member of the part declared"},
        {"\"offsets\":100", "\"offsets\":99", "scope.declared.gone[0]: no range begins after these offsets"},
        {"\"partition\":3,\"offsets\"", "\"partition\":0,\"offsets\"", "scope.declared.gone[1]: no range begins"},
        {"\"topic\":\"orders\",\"partition\"", "\"topic\":\"order\",\"partition\"",
         "scope.declared.gone[0]: no range begins"},
        {"\"offsets\":7", "\"offsets\":-7", "scope.declared.gone[1].offsets"},
        {"\"kind\":\"\"", "\"kind\":0", "scope.declared.left_out[0].kind"},
        {"\"declared\":{\"gone\"", "\"declared\":{\"gine\"", "scope.declared: unknown member gine"},
        {"\"from\":100", "\"from\":null", "scope.sources[0].partitions[0].from: null"},
        {"read_committed", "read_some", "scope.sources[0].isolation: 'read_some'"},
        {"\"topic\":\"caf\u00e9\"", "\"topic\":\"orders\"",
         "scope.sources[1].topic: 'orders' stands in scope.sources[0] already"},
        {"[{\"partition\":0,\"from\":0,\"to\":1}]", "[]", "scope.sources[1].partitions: none"},
        {"\"declared\",", "\"guessed\",", "scope.origin: 'guessed'"},
        {"\"origin\":\"declared\"", "\"origin\":\"bundle\"",
         "scope.declared: the part of the origin declared, and the scope's origin is bundle"},
        {"\"to\":2000", "\"to\":2001", "fingerprint"},
        {"\"database\":\"shop\"", "\"database\":null", "scope.destination.database"}};
    struct buf text = BUF_INIT;
    document_of(declared_sample, &text);
    refuse_each(text.p, t, sizeof t / sizeof *t);
    buf_free(&text);
    document_of(whole_sample, &text);
    refuse_each(
        text.p,
        (struct refusal[]){{"\"from_run_start\":true", "\"from_run_start\":false", "the coverage is complete-table"}},
        1);
    buf_free(&text);
}

/* What another JSON program makes of a document: members in another order, white space, characters as \u escapes, other
 * escapes of the same characters. It parses, has its fingerprint still, and differs in nothing. */
static void survives_another_program(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, where = BUF_INIT;
    struct scope s, again;
    document_of(declared_sample, &text);
    const char *other = replaced(text.p, "\"caf\u00e9\"", "\"\\u0063af\\u00E9\"");
    other = replaced(other, "\"format\":\"clink-audit-scope\",\"version\":1,",
                     "\n  \"version\" : 1 ,\t\"format\": \"clink-audit-scope\",\r\n");
    other = replaced(other, "\"from\":100,\"to\":2000", "\"to\": 2000,  \"from\": 100");
    other = replaced(other, "\"shop\"", "\"\\u0073hop\"");
    assert_int_equal(scope_parse(text.p, text.len, &arena, &s, &err), 0);
    scope_free(&s);
    assert_int_equal(scope_parse(other, strlen(other), &arena, &again, &err), 0);
    assert_string_equal(s.sha256, again.sha256);
    assert_string_equal(again.sources[1].topic, "caf\u00e9");
    scope_free(&again);
    assert_false(scope_differs(json_parse(text.p, text.len, &arena, NULL),
                               json_parse(other, strlen(other), &arena, NULL), &where));
    buf_free(&where);
    buf_free(&text);
}

static void binding_names_the_first_field(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } t[] = {{"\"from\":100", "\"from\":150", "sources[0].partitions[0].from: 100 here, 150 there"},
             {"\"checkpoint\":3", "\"checkpoint\":4", "bundle.checkpoint: 3 here, 4 there"},
             {"\"name\":\"seen\"", "\"name\":\"saw\"", "columns[1].name: \"seen\" here, \"saw\" there"},
             {"\"epochs\":[2,3]", "\"epochs\":[2]", "bundle.epochs[1]: 3 here, nothing there"},
             {"\"topic_id\":null", "\"topic_id\":\"t\"", "sources[0].topic_id: null here, \"t\" there"},
             {"\"job\":\"1\"", "\"job\":\"1\",\"extra\":1", "bundle.extra: nothing here, 1 there"}};
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

/* What is asked of the rows does not bind; what they are computed from does, whatever else differs before it. */
static void what_is_asked_does_not_bind(void **state)
{
    (void)state;
    static const char *const asked[][2] = {
        {"\"key\":true", "\"key\":false"},
        {"\"type\":\"DateTime64(6)\",\"key\":false", "\"type\":\"DateTime64(6)\",\"key\":true"},
        {"selected-keys", "complete-table"},
        {"\"from_run_start\":false", "\"from_run_start\":true"},
        {"\"epochs\":", "\"repeats\":true,\"epochs\":"},
        {"\"from\":\"ms\"", "\"from\":\"ms\",\"kind\":\"ALIAS\""},
        {"\"scope_sha256\":\"", "\"scope_sha256\":\"0"}};
    struct buf text = BUF_INIT, where = BUF_INIT;
    document(&text);
    const struct json *here = json_parse(text.p, text.len, &arena, NULL);
    const char *all = buf_str(&text);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *other = replaced(text.p, asked[i][0], asked[i][1]);
        const struct json *there = json_parse(other, strlen(other), &arena, NULL);
        assert_true(scope_differs(here, there, &where));
        buf_reset(&where);
        assert_false(scope_owes_other(here, there, &where));
        assert_int_equal(where.len, 0);
        all = replaced(all, asked[i][0], asked[i][1]);
    }
    all = replaced(all, "\"to\":200", "\"to\":201");
    assert_true(scope_owes_other(here, json_parse(all, strlen(all), &arena, NULL), &where));
    assert_string_equal(buf_str(&where), "sources[0].partitions[0].to: 200 here, 201 there");
    buf_free(&where);
    buf_free(&text);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(comes_back),
                                       T(fingerprint_is_of_the_values),
                                       T(refuses),
                                       T(declared_comes_back),
                                       T(coverage_comes_back),
                                       T(refuses_a_declaration),
                                       T(survives_another_program),
                                       T(binding_names_the_first_field),
                                       T(what_is_asked_does_not_bind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
