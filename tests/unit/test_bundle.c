/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest: written and read back; roles and their places; reading a listed file against it. */
#include "bundle/bundle.h"
#include "bundle/paths.h"
#include "evidence/sidecar.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[64];
static struct arena arena;
static struct err err;

static int setup(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/owed-bundle-XXXXXX");
    arena = (struct arena)ARENA_INIT;
    err = (struct err)ERR_INIT;
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", root);
    arena_free(&arena);
    return system(command);
}

static void put(const char *rel, const char *text)
{
    struct buf path = BUF_INIT;
    path_join(&path, root, rel);
    char *slash = strrchr(path.p, '/');
    *slash = '\0';
    assert_int_equal(dir_make(path.p, &err), 0);
    *slash = '/';
    assert_int_equal(file_publish(path.p, text, strlen(text), &err), 0);
    buf_free(&path);
}

static struct bundle_artifact artifact(const char *path, enum bundle_role role, const char *text)
{
    char *sha = arena_alloc(&arena, SHA256_HEX + 1);
    sha256_of(text, strlen(text), sha);
    return (struct bundle_artifact){path, role, strlen(text), sha};
}

/* A bundle of a marker and a sidecar, published. */
static void publish(struct bundle_manifest *m)
{
    static uint64_t subtasks[] = {0};
    static const char marker[] = "job=1\ncheckpoint=5\ngeneration=1\nsubtasks=0\n";
    static struct bundle_participant forms[] = {{0, "file"}};
    struct buf meta = BUF_INIT, text = BUF_INIT;
    sidecar_put(&meta, 5, "x", 1);
    *m = (struct bundle_manifest){.collector_name = "t",
                                  .collector_version = "1",
                                  .job = "1",
                                  .checkpoint = 5,
                                  .generation = 1,
                                  .rule = RULE_COMPLETED,
                                  .has_choice = true,
                                  .choice = 5,
                                  .subtasks = subtasks,
                                  .n_subtasks = 1,
                                  .max_bytes = 1 << 20,
                                  .max_files = 10,
                                  .timeout_s = 1,
                                  .participants = forms,
                                  .n_participants = 1,
                                  .state_root = "checkpoint/_state"};
    m->artifacts = arena_alloc(&arena, 2 * sizeof *m->artifacts);
    m->artifacts[0] = artifact("checkpoint/_state/1/v1/0/checkpoint-5.snap.meta", ROLE_SIDECAR, buf_str(&meta));
    m->artifacts[1] = artifact("checkpoint/_jobs/1/COMPLETED-5", ROLE_MARKER, marker);
    m->n_artifacts = 2;
    put(m->artifacts[0].path, meta.p);
    put(m->artifacts[1].path, marker);
    bundle_manifest_sort(m);
    bundle_manifest_put(&text, m);
    put("manifest.json", buf_str(&text));
    buf_free(&meta);
    buf_free(&text);
}

static void comes_back(void **state)
{
    (void)state;
    struct bundle_manifest m;
    struct bundle b;
    struct buf again = BUF_INIT;
    publish(&m);
    assert_int_equal(bundle_open(&b, root, &err), 0);
    assert_true(b.m.checkpoint == 5 && b.m.rule == RULE_COMPLETED && b.m.n_artifacts == 2 && !b.m.has_state);
    assert_non_null(bundle_find(&b.m, "checkpoint/_jobs/1/COMPLETED-5"));
    assert_null(bundle_find(&b.m, "checkpoint/_jobs/1/COMPLETED-6"));
    bundle_manifest_put(&again, &b.m);
    assert_true(buf_is(&again, b.text.p, b.text.len));
    buf_free(&again);
    bundle_close(&b);
}

static void whole_and_not(void **state)
{
    (void)state;
    struct bundle_manifest m;
    struct bundle b;
    struct bundle_verified v;
    struct bundle_finding f;
    bundle_finding_init(&f);
    publish(&m);
    assert_int_equal(bundle_open(&b, root, &err), 0);
    bundle_check_manifest(&b, &f);
    bundle_check_completeness(&b, &f);
    assert_int_equal(f.failed.total, 0);
    assert_int_equal(bundle_verify(&b, false, &v, NULL, &err), 0);
    assert_true(v.missing.total == 0 && v.changed.total == 0 && v.unlisted.total == 0 && v.files == 2);
    bundle_verified_free(&v);
    put("capture/more", "x");
    assert_int_equal(bundle_verify(&b, false, &v, NULL, &err), 0);
    assert_int_equal(v.unlisted.total, 1);
    assert_string_equal(v.unlisted.text[0], "unlisted: 'capture/more'");
    bundle_verified_free(&v);
    bundle_finding_free(&f);
    bundle_close(&b);
}

/* What the checks behind read is what was hashed, whatever becomes of the file. */
static void kept_bytes_are_those_hashed(void **state)
{
    (void)state;
    struct bundle_manifest m;
    struct bundle b;
    struct bundle_verified v;
    struct bundle_finding f;
    static const char path[] = "checkpoint/_jobs/1/COMPLETED-5";
    publish(&m);
    assert_int_equal(bundle_open(&b, root, &err), 0);
    assert_int_equal(bundle_verify(&b, true, &v, NULL, &err), 0);
    put(path, "job=2\ncheckpoint=5\ngeneration=1\nsubtasks=0\n");
    bundle_finding_init(&f);
    bundle_check_marker(&b, &f);
    assert_true(f.failed.total == 0 && f.unavailable.total == 0);
    assert_string_equal(f.used.path[0], path);
    bundle_finding_free(&f);
    bundle_verified_free(&v);
    bundle_close(&b);
    /* One that was not verified reads the file, and sees. */
    assert_int_equal(bundle_open(&b, root, &err), 0);
    bundle_finding_init(&f);
    bundle_check_marker(&b, &f);
    assert_int_equal(f.failed.total, 1);
    bundle_finding_free(&f);
    bundle_close(&b);
}

static void a_signal_ends_the_check(void **state)
{
    (void)state;
    struct bundle_manifest m;
    struct bundle b;
    struct bundle_verified v;
    volatile int stop = 15;
    publish(&m);
    assert_int_equal(bundle_open(&b, root, &err), 0);
    assert_int_equal(bundle_verify(&b, true, &v, &stop, &err), -1);
    assert_int_equal(err.kind, ERR_TROUBLE);
    struct bundle_finding f;
    bundle_finding_init(&f);
    bundle_check_state(&b, NULL, &stop, &f);
    assert_int_equal(f.unavailable.total, 1);
    assert_non_null(strstr(f.unavailable.text[0], "interrupted"));
    bundle_finding_free(&f);
    bundle_verified_free(&v);
    bundle_close(&b);
}

static void state_has_its_places(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool found;
        struct bundle_place at;
    } t[] = {{"checkpoint/_state/a.cp-1/v2/3/checkpoint-7.snap", true, {2, 3, 7, false, 0}},
             {"checkpoint/_state/a.cp-1/v2/3/checkpoint-7.snap.meta", true, {2, 3, 7, false, 0}},
             {"checkpoint/_state/a.cp-1/v2/3/start-6.snap", true, {2, 3, 6, true, 0}},
             {"checkpoint/_state/a.cp-1/v2/3/changelog-7.snap", true, {2, 3, 7, false, 0}},
             {"checkpoint/_state/a.cp-1/v2/3.cp-7/a/b", true, {2, 3, 7, false, 34}},
             {"checkpoint/_state/a.cp-1/v2/3.cp-7/", false, {0}},
             {"checkpoint/_state/a.cp-1/v2/3.cp-07/x", false, {0}},
             {"checkpoint/_state/a.cp-1/v2/3/checkpoint-07.snap", false, {0}},
             {"checkpoint/_state/a.cp-1/v2/3/x/checkpoint-7.snap", false, {0}},
             {"checkpoint/_state/b/v2/3/checkpoint-7.snap", false, {0}},
             {"checkpoint/_external/a.cp-1/a.cp-1/v2/3/checkpoint-7.snap", false, {0}},
             {"checkpoint/_state/a.cp-1/v/3/checkpoint-7.snap", false, {0}},
             {"checkpoint/_state/a.cp-1/v99999999999999999999/3/checkpoint-7.snap", false, {0}}};
    struct bundle_manifest m = {.job = "a.cp-1", .state_root = "checkpoint/_state"};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct bundle_place at;
        assert_int_equal(bundle_place(&m, t[i].path, &at), t[i].found);
        if (t[i].found)
            assert_true(at.generation == t[i].at.generation && at.subtask == t[i].at.subtask && at.id == t[i].at.id &&
                        at.is_start == t[i].at.is_start && at.dir_len == t[i].at.dir_len);
    }
    m.state_root = NULL;
    assert_false(bundle_place(&m, t[0].path, &(struct bundle_place){0}));
}

static void reading_holds_to_the_manifest(void **state)
{
    (void)state;
    struct bundle_manifest m;
    struct bundle b;
    struct buf text = BUF_INIT;
    static const char marker[] = "checkpoint/_jobs/1/COMPLETED-5";
    publish(&m);
    assert_int_equal(bundle_open(&b, root, &err), 0);
    assert_int_equal(bundle_read(&b, marker, 4096, &text, &err), 0);
    assert_int_equal(bundle_read(&b, "checkpoint/_jobs/1/COMPLETED-6", 4096, &text, &err), -1);
    assert_int_equal(err.kind, ERR_MISSING);
    put(marker, "job=1\ncheckpoint=6\ngeneration=1\nsubtasks=0\n");
    assert_int_equal(bundle_read(&b, marker, 4096, &text, &err), -1);
    assert_int_equal(err.kind, ERR_CHANGED);
    put(marker, "x");
    assert_int_equal(bundle_read(&b, marker, 4096, &text, &err), -1);
    assert_non_null(strstr(err.text, "truncated"));
    struct buf path = BUF_INIT;
    path_join(&path, root, marker);
    assert_int_equal(unlink(path.p), 0);
    assert_int_equal(symlink("/etc/passwd", path.p), 0);
    assert_int_equal(bundle_read(&b, marker, 4096, &text, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(unlink(path.p), 0);
    assert_int_equal(mkfifo(path.p, 0600), 0);
    assert_int_equal(bundle_read(&b, marker, 4096, &text, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    buf_free(&path);
    buf_free(&text);
    bundle_close(&b);
}

static void roles_have_their_places(void **state)
{
    (void)state;
    static const struct {
        enum bundle_role role;
        const char *fits, *not ;
    } t[] = {{ROLE_MARKER, "checkpoint/_jobs/1/COMPLETED-5", "checkpoint/_jobs/2/COMPLETED-5"},
             {ROLE_MARKER, "checkpoint/_jobs/1/COMPLETED-5", "checkpoint/_jobs/1/COMPLETED-05"},
             {ROLE_CONFIRMED, "checkpoint/_jobs/1/CONFIRMED-5", "checkpoint/_jobs/1/COMPLETED-5"},
             {ROLE_RESTORED, "checkpoint/_jobs/1/RESTORED", "checkpoint/_jobs/1/x/RESTORED"},
             {ROLE_SNAPSHOT, "checkpoint/_state/1/v1/0/checkpoint-5.snap",
              "checkpoint/_state/1/v1/0/checkpoint-5.snap.meta"},
             {ROLE_RUN_START, "checkpoint/_state/1/v1/0/start-5.snap", "checkpoint/_state/1/v1/start-5.snap"},
             {ROLE_SIDECAR, "checkpoint/_state/1/v1/0/start-5.snap.meta", "checkpoint/_state/1/1/0/start-5.snap.meta"},
             {ROLE_CAPTURE, "capture/op-3/subtask-0/epoch-1.cap", "capture/op-3/subtask-0/final.cap"},
             {ROLE_INTERVAL, "capture/op-3/subtask-0/epoch-1.sink.json", "capture/op-3/epoch-1.sink.json"},
             {ROLE_OPERATOR, "capture/op-3/subtask-0/op.json", "capture/op-3/op.json"},
             {ROLE_JOB_MANIFEST, "job/manifest.json", "job/manifest"},
             {ROLE_TRACE, "traces/a.ndjson", "job/a.ndjson"},
             {ROLE_TRACE, "traces/.ndjson.ndjson", "traces/a/b.ndjson"},
             {ROLE_TRACE, "traces/a.b.ndjson", "traces/a.json"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        assert_true(bundle_role_fits(t[i].role, t[i].fits, "1"));
        assert_false(bundle_role_fits(t[i].role, t[i].not, "1"));
        assert_int_equal(bundle_role_of(bundle_role_name(t[i].role)), t[i].role);
    }
    assert_int_equal(bundle_role_of("other"), ROLE_TYPES);
}

static void faults_are_counted_past_what_is_kept(void **state)
{
    (void)state;
    struct bundle_faults f = BUNDLE_FAULTS_INIT;
    struct buf text = BUF_INIT;
    for (int i = 0; i < BUNDLE_FAULTS_KEPT + 7; i++)
        bundle_fault(&f, BECAUSE(i ? CODE_ARTIFACT_MISSING : CODE_ARTIFACT_CHANGED), "p", "fault %d", i);
    assert_true(f.n == BUNDLE_FAULTS_KEPT && f.total == BUNDLE_FAULTS_KEPT + 7 && !f.text[f.n] && !f.path[f.n]);
    bundle_faults_text(&f, &text);
    assert_non_null(strstr(text.p, "; and 7 more"));
    assert_int_equal(f.cause.code, CODE_ARTIFACT_CHANGED); /* the first one's */
    bundle_faults_free(&f);
    buf_free(&text);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(comes_back),
                                       T(whole_and_not),
                                       T(kept_bytes_are_those_hashed),
                                       T(a_signal_ends_the_check),
                                       T(state_has_its_places),
                                       T(reading_holds_to_the_manifest),
                                       T(roles_have_their_places),
                                       T(faults_are_counted_past_what_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
