/* SPDX-License-Identifier: Apache-2.0 */
/* State roots, changelogs with their materializations, and the restore point of either family. */
#include "evidence/changelog.h"
#include "evidence/marker.h"
#include "evidence/snapshot.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

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

static void roots_of_this_machine(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum state_root_kind kind;
        const char *path;
    } t[] = {{NULL, ROOT_OWN, NULL},
             {"/data/s", ROOT_LOCAL, "/data/s"},
             {"/data/s/", ROOT_LOCAL, "/data/s"},
             {"file:///data/s", ROOT_LOCAL, "/data/s"},
             {"file://localhost/data/s", ROOT_LOCAL, "/data/s"},
             {"rocksdb:///d", ROOT_LOCAL, "/d"},
             {"changelog+file:///d", ROOT_LOCAL, "/d"},
             {"changelog+rocksdb:///d", ROOT_LOCAL, "/d"},
             {"s3://b/p", ROOT_REMOTE, NULL},
             {"file://host/p", ROOT_REMOTE, NULL},
             {"changelog+s3://b", ROOT_REMOTE, NULL},
             {"File:///d", ROOT_REMOTE, NULL}};
    struct state_root r;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_int_equal(state_root_parse(t[i].text, &arena, &r, "m", &err), 0);
        assert_int_equal(r.kind, t[i].kind);
        assert_true(t[i].path ? strcmp(r.path, t[i].path) == 0 : !r.path);
    }
    static const char *const bad[] = {"",         "data",           "./d",    "/", "//d", "/a/../b", "/a//b", "/a/.",
                                      "file:///", "file:///a/../b", "file:/d"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(state_root_parse(bad[i], &arena, &r, "m", &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
    }
}

static void handles_below_the_root(void **state)
{
    (void)state;
    const struct state_root own = {ROOT_OWN, NULL}, local = {ROOT_LOCAL, "/data/s"};
    static const struct {
        const char *location, *own, *local;
    } t[] = {{"1/v1/0/materializations/m", "1/v1/0/materializations/m", "1/v1/0/materializations/m"},
             {"materializations/m", "materializations/m", "materializations/m"},
             {"/data/s/1/materializations/m", NULL, "1/materializations/m"},
             {"file:///data/s/1/materializations/m", NULL, "1/materializations/m"},
             {"/data/s2/1/materializations/m", NULL, NULL},
             {"/data/s/../x/materializations/m", NULL, NULL},
             {"../materializations/m", NULL, NULL},
             {"1/v1/0/m", NULL, NULL},
             {"1/materializations/a/m", NULL, NULL},
             {"xmaterializations/m", NULL, NULL},
             {"1/xmaterializations/m", NULL, NULL},
             {"materializations", NULL, NULL},
             {"materializations/", NULL, NULL},
             {"s3://b/materializations/m", NULL, NULL},
             {"", NULL, NULL},
             {"rocksdb:key-1", NULL, NULL}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const char *a = changelog_rel(t[i].location, &own), *b = changelog_rel(t[i].location, &local);
        assert_true(t[i].own ? a && strcmp(a, t[i].own) == 0 : !a);
        assert_true(t[i].local ? b && strcmp(b, t[i].local) == 0 : !b);
    }
}

/* A changelog of one materialization with the given changes. */
static const char *changelog_of(const char *mat, const char *changes, unsigned n)
{
    struct buf text = BUF_INIT;
    char sha[SHA256_HEX + 1];
    sha256_of(mat, strlen(mat), sha);
    buf_printf(
        &text,
        "{\"format\":\"owed-changelog\",\"version\":1,\"job\":\"1\",\"operator\":\"1\",\"kind\":\"kafka-source\",\"subtask\":0,"
        "\"checkpoint\":7,\"materializations\":[{\"location\":\"materializations/m\",\"bytes\":%zu,\"sha256\":\"%s\"}],\"changes\":%u}\n%s",
        strlen(mat), sha, n, changes);
    const char *kept = arena_strndup(&arena, text.p, text.len);
    buf_free(&text);
    return kept;
}

static int replay(const char *text, const char *mat, struct buf *out)
{
    struct changelog c;
    struct buf m = BUF_INIT;
    buf_adds(&m, mat);
    int rc = changelog_parse(text, strlen(text), "c", &arena, &c, &err);
    if (rc == 0)
        rc = changelog_replay(&c, &m, "c", out, &err);
    buf_free(&m);
    return rc;
}

#define MAT \
    "{\"checkpoint\":5,\"log\":{\"topic\":\"t\",\"cluster_id\":\"c\"},\"isolation\":\"read_committed\",\"positions\":[],\"declared\":[0]," \
    "\"watermark\":5,\"partition_max\":[],\"gone\":1}\n"

static void changelog_becomes_a_snapshot(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct snapshot s;
    const char *text = changelog_of(
        MAT,
        "{\"put\":\"positions\",\"value\":[{\"partition\":0,\"offset\":9}]}\n{\"delete\":\"watermark\"}\n"
        "{\"put\":\"positions\",\"value\":[{\"partition\":0,\"offset\":17}]}\n{\"delete\":\"gone\"}\n",
        4);
    assert_int_equal(replay(text, MAT, &out), 0);
    assert_int_equal(snapshot_parse(out.p, out.len, "s", &arena, &s, &err), 0);
    assert_true(s.checkpoint == 7 && s.n_positions == 1 && s.positions[0].value == 17 && !s.has_watermark &&
                s.subtask == 0);
    assert_null(strstr(buf_str(&out), "gone"));
    buf_free(&out);
}

static void changelog_refuses(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    const char *good = changelog_of(MAT, "{\"delete\":\"gone\"}\n", 1);
    assert_int_equal(replay(good, MAT, &out), 0);
    assert_int_equal(replay(good, MAT " ", &out), -1);
    assert_non_null(strstr(err.text, "bytes"));
    assert_int_equal(replay(changelog_of("{\"a\":1}", "", 0), "{\"a\":2}", &out), -1);
    assert_non_null(strstr(err.text, "SHA-256"));
    assert_int_equal(replay(changelog_of("[1]", "", 0), "[1]", &out), -1);
    static const char *const bad[] = {"{\"put\":\"a\"}\n",
                                      "{\"value\":1}\n",
                                      "{\"put\":1,\"value\":1}\n",
                                      "{\"delete\":\"a\",\"value\":1}\n",
                                      "[]\n",
                                      "\n",
                                      "{\"put\":\"a\",\"value\":1,\"more\":1}\n",
                                      "{\"put\":\"a\",\"value\":1}{}\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(replay(changelog_of(MAT, bad[i], 1), MAT, &out), -1);
        assert_non_null(strstr(err.text, "c: line 2"));
    }
    /* Cut at every byte: never whole. */
    struct changelog c;
    for (size_t n = 0; n < strlen(good); n++)
        assert_int_equal(changelog_parse(good, n, "c", &arena, &c, &err), -1);
    assert_int_equal(replay(changelog_of(MAT, "{\"delete\":\"a\"}\n{\"delete\":\"a\"}\n", 1), MAT, &out), -1);
    buf_free(&out);
}

static void restore_point_of_either_family(void **state)
{
    (void)state;
    uint64_t completed[] = {1, 2, 3, 8}, confirmed[] = {1, 2}, at = 0;
    struct markers m = {.completed = completed, .n_completed = 4, .confirmed = confirmed, .n_confirmed = 2};
    assert_true(restore_point(&m, false, &at) && at == 8);
    assert_true(restore_point(&m, true, &at) && at == 2);
    m.has_restored = true;
    m.restored = (struct restored){"1", 1, 9};
    assert_true(restore_point(&m, false, &at) && at == 1);
    assert_true(restore_point(&m, true, &at) && at == 1);
    m.n_confirmed = 0;
    assert_false(restore_point(&m, true, &at));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(roots_of_this_machine), T(handles_below_the_root),
                                       T(changelog_becomes_a_snapshot), T(changelog_refuses),
                                       T(restore_point_of_either_family)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
