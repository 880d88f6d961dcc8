/* SPDX-License-Identifier: Apache-2.0 */
/* engine: what the text of an engine and of a key says, as both lines of the server print them, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "types/engine.h"
#include "types/types.h"

static const struct {
    const char *name, *full, *said; /* said: as engine_say has it; NULL: other */
} engines[] = {
    {"MergeTree", "MergeTree ORDER BY id SETTINGS index_granularity = 8192", "MergeTree"},
    {"MergeTree", "MergeTree() ORDER BY id", "MergeTree"},
    {"MergeTree", "MergeTree", "MergeTree"},
    {"ReplacingMergeTree", "ReplacingMergeTree ORDER BY id", "ReplacingMergeTree"},
    {"ReplacingMergeTree", "ReplacingMergeTree(ver, del) PARTITION BY id % 2 ORDER BY (id)",
     "ReplacingMergeTree(ver, del)"},
    {"ReplacingMergeTree", "ReplacingMergeTree(`a b`, `d\\`x`) ORDER BY `i,d`", "ReplacingMergeTree(a b, d`x)"},
    {"CollapsingMergeTree", "CollapsingMergeTree(sg) ORDER BY id", "CollapsingMergeTree(sg)"},
    {"VersionedCollapsingMergeTree", "VersionedCollapsingMergeTree(sg, ver) ORDER BY id",
     "VersionedCollapsingMergeTree(sg, ver)"},
    {"View", "", "View"},
    {"View", "View", "View"},
    {"Merge", "Merge('g', '^a')", "Merge"},
    {"Merge", "Merge('g', '^a[0-9]\\'x|a\\\\d')", "Merge"},
    {"Merge", "Merge('g')", NULL},
    {"Merge", "Merge(REGEXP('^g'), '^a')", NULL},
    {"Merge", "Merge('g', '^a', x)", NULL},
    {"Merge", "Merge('g', '^a", NULL},
    {"Merge", "Merge", NULL},
    {"ReplicatedMergeTree", "ReplicatedMergeTree('/c/{uuid}/{shard}', '{replica}') ORDER BY id", "ReplicatedMergeTree"},
    {"ReplicatedMergeTree", "ReplicatedMergeTree ORDER BY id", "ReplicatedMergeTree"},
    {"ReplicatedMergeTree", "ReplicatedMergeTree() ORDER BY id", "ReplicatedMergeTree"},
    {"ReplicatedReplacingMergeTree", "ReplicatedReplacingMergeTree('/c/a\\'b, (x', '{r}', ver, `d,l`) ORDER BY id",
     "ReplicatedReplacingMergeTree(ver, d,l)"},
    {"ReplicatedReplacingMergeTree", "ReplicatedReplacingMergeTree(ver) ORDER BY id",
     "ReplicatedReplacingMergeTree(ver)"},
    {"ReplicatedCollapsingMergeTree", "ReplicatedCollapsingMergeTree('/p', 'r', sg) ORDER BY id",
     "ReplicatedCollapsingMergeTree(sg)"},
    {"ReplicatedVersionedCollapsingMergeTree", "ReplicatedVersionedCollapsingMergeTree('/p','r',sg,ver) ORDER BY id",
     "ReplicatedVersionedCollapsingMergeTree(sg, ver)"},
    {"ReplicatedReplacingMergeTree", "ReplicatedReplacingMergeTree('/p', ver) ORDER BY id", NULL},
    {"ReplicatedReplacingMergeTree", "ReplicatedReplacingMergeTree('/p', 'r', 'x', ver) ORDER BY id", NULL},
    {"ReplicatedReplacingMergeTree", "ReplicatedReplacingMergeTree('/p' 'r', ver) ORDER BY id", NULL},
    {"ReplicatedReplacingMergeTree", "ReplicatedReplacingMergeTree('/p', 'r, ver) ORDER BY id", NULL},
    {"ReplicatedReplacingMergeTree", "ReplicatedReplacingMergeTree('/p', 'r'", NULL},
    {"ReplicatedMergeTree", "ReplicatedMergeTree('/p', 'r', d) ORDER BY id", NULL},
    {"ReplicatedMergeTree", "MergeTree ORDER BY id", NULL},
    {"MergeTree", "MergeTree('/p', 'r') ORDER BY id", NULL},
    {"ReplicatedSummingMergeTree", "ReplicatedSummingMergeTree('/p', 'r') ORDER BY id", NULL},
    {"ReplicatedView", "ReplicatedView", NULL},
    {"Replicated", "Replicated", NULL},
    {"SharedMergeTree", "SharedMergeTree('/p', '{r}') ORDER BY id", NULL},
    {"Distributed", "Distributed('c', 'd', 't')", NULL},
    {"SummingMergeTree", "SummingMergeTree ORDER BY id", NULL},
    {"SharedReplacingMergeTree", "SharedReplacingMergeTree('/p', '{r}', ver) ORDER BY id", NULL},
    {"MergeTree", "MergeTreeX ORDER BY id", NULL},
    {"MergeTree", "", NULL},
    {"", "", NULL},
    {"MergeTree", "MergeTree(d, id, 8192)", NULL},
    {"ReplacingMergeTree", "ReplacingMergeTree(ver", NULL},
    {"ReplacingMergeTree", "ReplacingMergeTree(f(ver)) ORDER BY id", NULL},
    {"ReplacingMergeTree", "ReplacingMergeTree(a, b, c) ORDER BY id", NULL},
    {"ReplacingMergeTree", "ReplacingMergeTree('a', b) ORDER BY id", NULL},
    {"CollapsingMergeTree", "CollapsingMergeTree ORDER BY id", NULL},
    {"VersionedCollapsingMergeTree", "VersionedCollapsingMergeTree(sg) ORDER BY id", NULL},
    {"ReplacingMergeTree", "ReplacingMergeTree(`unclosed) ORDER BY id", NULL},
};

static void test_engines_as_they_are_printed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct arena a = ARENA_INIT;
        struct buf said = BUF_INIT;
        struct engine e;
        engine_parse(engines[i].name, engines[i].full, &a, &e);
        engine_say(&e, &said);
        if ((e.kind == ENGINE_OTHER) != (engines[i].said == NULL) ||
            (engines[i].said && strcmp(buf_str(&said), engines[i].said) != 0))
            fail_msg("%s: %s", engines[i].full, buf_str(&said));
        assert_int_equal(e.replicated, engines[i].said && strncmp(engines[i].said, "Replicated", 10) == 0);
        assert_int_equal(engine_merges(&e), strstr(buf_str(&said), "ingMergeTree") != NULL);
        assert_int_equal(engine_shows_rows(&e), engines[i].said != NULL);
        buf_free(&said);
        arena_free(&a);
    }
}

static void columns_of(const char *text, struct columns *c)
{
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    const struct json *doc = json_parse_named(text, strlen(text), &a, "columns", &err);
    if (!doc || columns_parse(doc, false, c, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    arena_free(&a);
}

static const char columns[] =
    "[{\"name\":\"id\",\"type\":\"Int64\",\"key\":true},{\"name\":\"a b\",\"type\":\"String\","
    "\"key\":true},{\"name\":\"ver\",\"type\":\"UInt64\"},{\"name\":\"s\",\"type\":\"String\"},"
    "{\"name\":\"n\",\"type\":\"Nullable(UInt8)\"},{\"name\":\"sg\",\"type\":\"Int8\"}]";

static void test_a_sorting_key_is_the_audits_key_or_not(void **state)
{
    (void)state;
    static const struct {
        enum engine_kind kind;
        const char *key;
        bool is;
    } cases[] = {
        {ENGINE_REPLACING, "id, `a b`", true},
        {ENGINE_REPLACING, "`a b`, id", true},
        {ENGINE_REPLACING, "(id, `a b`)", true},
        {ENGINE_REPLACING, "id", false},
        {ENGINE_REPLACING, "id, `a b`, s", false},
        {ENGINE_REPLACING, "id, `a b`, ver", false},
        {ENGINE_VERSIONED, "id, `a b`, ver", true},
        {ENGINE_VERSIONED, "id, `a b`", true},
        {ENGINE_REPLACING, "id, lower(`a b`)", false},
        {ENGINE_REPLACING, "id, id", false},
        {ENGINE_REPLACING, "", false},
        {ENGINE_REPLACING, "id, `a b", false},
        {ENGINE_REPLACING, "id `a b`", false},
        {ENGINE_REPLACING, "-id, `a b`", false},
    };
    struct columns c;
    columns_of(columns, &c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct engine e = {.kind = cases[i].kind, .version = "ver"};
        if (engine_sorts_by(&e, cases[i].key, &c) != cases[i].is)
            fail_msg("%s", cases[i].key);
    }
    columns_free(&c);
}

static void test_an_expression_names_columns_of_the_key_alone_or_others(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool within;
    } cases[] = {{"", true},
                 {"id % 2", true},
                 {"toYYYYMM(toDate(id, 'UTC id')), cityHash64(`a b`) % 10.5", true},
                 {"tuple()", true},
                 {"ver % 2", false},
                 {"id, s", false},
                 {"toYYYYMM(`other`)", false},
                 {"`unclosed", false},
                 {"'unclosed", false}};
    struct columns c;
    columns_of(columns, &c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (engine_within_key(cases[i].text, &c) != cases[i].within)
            fail_msg("%s", cases[i].text);
    columns_free(&c);
}

static void test_names_take_the_room_of_their_own_text(void **state)
{
    (void)state;
    struct columns c;
    struct buf text = BUF_INIT;
    columns_of(columns, &c);
    for (size_t i = 0; i < 400000; i++)
        buf_adds(&text, "`a b`,");
    assert_true(engine_within_key(buf_str(&text), &c));
    buf_free(&text);
    columns_free(&c);
}

static void test_the_engines_columns_are_compared_and_ordered(void **state)
{
    (void)state;
    static const struct {
        struct engine e;
        const char *why;
    } cases[] = {
        {{.kind = ENGINE_REPLACING}, NULL},
        {{.kind = ENGINE_REPLACING, .version = "ver"}, NULL},
        {{.kind = ENGINE_VERSIONED, .version = "ver", .sign = "sg"}, NULL},
        {{.kind = ENGINE_REPLACING, .version = "v"}, "column 'v', the engine's version, is not compared"},
        {{.kind = ENGINE_REPLACING, .version = "s"}, "column 's', the engine's version, is String"},
        {{.kind = ENGINE_REPLACING, .version = "n"}, "is Nullable(UInt8)"},
        {{.kind = ENGINE_REPLACING, .version = "ver", .deleted = "ver"}, "the engine's mark of a delete, is UInt64"},
        {{.kind = ENGINE_COLLAPSING, .sign = "x"}, "the engine's sign, is not compared"},
    };
    struct columns c;
    columns_of(columns, &c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf why = BUF_INIT;
        bool lacks = engine_lacks(&cases[i].e, &c, &why);
        if (lacks != (cases[i].why != NULL) || (lacks && !strstr(buf_str(&why), cases[i].why)))
            fail_msg("case %zu: %s", i, buf_str(&why));
        buf_free(&why);
    }
    columns_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines_as_they_are_printed),
        cmocka_unit_test(test_a_sorting_key_is_the_audits_key_or_not),
        cmocka_unit_test(test_an_expression_names_columns_of_the_key_alone_or_others),
        cmocka_unit_test(test_names_take_the_room_of_their_own_text),
        cmocka_unit_test(test_the_engines_columns_are_compared_and_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
