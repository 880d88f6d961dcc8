/* SPDX-License-Identifier: Apache-2.0 */
/* base: numbers, base64, UTF-8, paths, publishing, opening beneath, secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"

static char dir[] = "/tmp/owed-base-XXXXXX";

static void test_numbers(void **state)
{
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    static const char *const bad[] = {
        "", "+1", "-1", "01", " 1", "1 ", "1x", "0x1", "18446744073709551616", "99999999999999999999999"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_false(scan_u64(bad[k], strlen(bad[k]), &u));
    assert_int_equal(u, 7);
    assert_true(scan_u64("18446744073709551615", 20, &u));
    assert_true(u == UINT64_MAX);
    assert_true(scan_i64("-9223372036854775808", 20, &i));
    assert_true(i == INT64_MIN);
    assert_false(scan_i64("9223372036854775808", 19, &i));
    assert_false(scan_i64("-0", 2, &i));
    struct err err = ERR_INIT;
    assert_int_equal(parse_size("3G", 0, UINT64_MAX, &u, "x", &err), 0);
    assert_true(u == (uint64_t)3 << 30);
    assert_int_equal(parse_size("17179869184G", 0, UINT64_MAX, &u, "x", &err), -1);
    assert_int_equal(parse_size("G", 0, UINT64_MAX, &u, "x", &err), -1);
    assert_int_equal(parse_u64("11", 0, 10, &u, "--keys", &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_string_equal(err.text, "--keys: '11' is not a whole number from 0 to 10");
}

static void test_base64(void **state)
{
    (void)state;
    struct buf out = BUF_INIT, text = BUF_INIT;
    for (size_t n = 0; n < 40; n++) {
        char bytes[40];
        for (size_t k = 0; k < n; k++)
            bytes[k] = (char)(k * 37 + n);
        buf_reset(&out);
        buf_reset(&text);
        base64_add(&text, bytes, n);
        assert_true(base64_decode(&out, text.p, text.len));
        assert_true(buf_is(&out, bytes, n));
    }
    static const char *const bad[] = {
        "A", "AA", "AAA", "AA==AA==", "AB==", "AAB=", "=AAA", "A===", "AA=A", "AA\n=", "A-A="};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        buf_reset(&out);
        if (base64_decode(&out, bad[k], strlen(bad[k])))
            fail_msg("accepted %s", bad[k]);
        assert_int_equal(out.len, 0);
    }
    buf_free(&out);
    buf_free(&text);
}

static void test_utf8(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "a",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "abcdefgh\xff",
                                      "\xe2\x82"};
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++)
        assert_true(utf8_valid(good[k], strlen(good[k])));
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_false(utf8_valid(bad[k], strlen(bad[k])));
}

static void test_paths(void **state)
{
    (void)state;
    assert_true(path_is_plain("a/b.c/d", 7));
    static const char *const bad[] = {"", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.", "a\\b"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_false(path_is_plain(bad[k], strlen(bad[k])));
    assert_false(path_is_plain("a\0b", 3));
    assert_true(path_is_plain("...", 3));
}

static void test_publish(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf path = BUF_INIT, text = BUF_INIT;
    path_join(&path, dir, "f");
    assert_int_equal(file_publish(path.p, "one", 3, &err), 0);
    assert_int_equal(file_publish(path.p, "two", 3, &err), 0);
    assert_int_equal(file_publish_new(path.p, "new", 3, &err), -1);
    assert_int_equal(file_read(path.p, 10, &text, &err), 0);
    assert_true(buf_is(&text, "two", 3));
    buf_reset(&text);
    assert_int_equal(file_read(path.p, 2, &text, &err), -1);
    assert_int_equal(err.kind, ERR_BOUND);
    assert_int_equal(file_read(dir, 2, &text, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(file_publish("/tmp/no-such-dir-for-owed/f", "x", 1, &err), -1);
    assert_int_equal(err.kind, ERR_MISSING);
    buf_free(&path);
    buf_free(&text);
}

/* A name that can be told beforehand can be taken by another: no two are equal, however many are made. */
static void test_temp_names(void **state)
{
    (void)state;
    enum { NAMES = 1000, DIGITS = 16 };
    struct buf name = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct map seen = MAP_INIT;
    for (size_t i = 0; i < NAMES; i++) {
        buf_reset(&name);
        temp_suffix(&name);
        assert_int_equal(name.len, DIGITS);
        assert_int_equal(strspn(buf_str(&name), "0123456789abcdef"), DIGITS);
        assert_null(map_find(&seen, name.p, name.len));
        map_add(&seen, arena_strndup(&arena, name.p, name.len), name.len, i);
    }
    map_free(&seen);
    arena_free(&arena);
    buf_free(&name);
}

/* What must hold however a path is opened beneath a root; 0, or the number of what does not. */
static int beneath_fault(int root)
{
    struct err err = ERR_INIT;
    static const char *const links[] = {"link/f", "out", "side/in"}, *const refused[] = {"../f", "/etc/passwd",
                                                                                         "side/../side/f", "side/f/",
                                                                                         "side/f/x"};
    int fd = open_beneath(root, "side/f", O_RDONLY, &err);
    if (fd < 0 || close(fd) != 0)
        return 1;
    for (int k = 0; k < 3; k++)
        if (open_beneath(root, links[k], O_RDONLY, &err) != -1 || err.kind != ERR_REFUSED ||
            !strstr(err.text, "symbolic link"))
            return 10 + k;
    for (int k = 0; k < 5; k++)
        if (open_beneath(root, refused[k], O_RDONLY, &err) != -1 || err.kind != ERR_REFUSED)
            return 20 + k;
    if (open_beneath(root, "side/none", O_RDONLY, &err) != -1 || err.kind != ERR_MISSING)
        return 30;
    if (open_beneath(root, "none/f", O_RDONLY, &err) != -1 || err.kind != ERR_MISSING)
        return 31;
    fd = open_beneath(root, "side/new", O_WRONLY | O_CREAT | O_EXCL, &err);
    return fd < 0 || close(fd) != 0 || unlinkat(root, "side/new", 0) != 0 ? 40 : 0;
}

/* As a kernel before 5.6 answers, or one whose filter does not know the call. Where nobody knows it to begin with, as
 * under valgrind, it is away already, whatever a filter would say. */
static int take_openat2_away(int answer)
{
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &(struct open_how){.flags = O_RDONLY}, sizeof(struct open_how));
    if (fd < 0 && errno == ENOSYS)
        return 0;
    close(fd);
    struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)answer),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return -1;
    return syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0) == -1 && errno == answer ? 0 : -1;
}

static void test_beneath(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf path = BUF_INIT;
    assert_int_equal(dir_make(path_join(&path, dir, "in/side"), &err), 0);
    assert_int_equal(file_publish(path_join(&path, dir, "in/side/f"), "x", 1, &err), 0);
    assert_int_equal(symlink("side", path_join(&path, dir, "in/link")), 0);
    assert_int_equal(symlink("f", path_join(&path, dir, "in/side/in")), 0);
    assert_int_equal(symlink("/etc/passwd", path_join(&path, dir, "in/out")), 0);
    int root = open(path_join(&path, dir, "in"), O_RDONLY | O_DIRECTORY);
    assert_int_equal(beneath_fault(root), 0);
    static const int answers[] = {ENOSYS, EPERM};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(take_openat2_away(answers[i]) != 0 ? 99 : beneath_fault(root));
        assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    close(root);
    buf_free(&path);
}

static void test_secret(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf path = BUF_INIT;
    char *secret;
    setenv("OWED_TEST_SECRET", "hunter2", 1);
    assert_int_equal(secret_read("OWED_TEST_SECRET", NULL, &secret, &err), 0);
    assert_string_equal(secret, "hunter2");
    free(secret);
    assert_int_equal(secret_read("OWED_TEST_NONE", NULL, &secret, &err), -1);
    path_join(&path, dir, "pw");
    assert_int_equal(file_publish(path.p, "s3cret\r\nrest", 12, &err), 0);
    assert_int_equal(secret_read(NULL, path.p, &secret, &err), 0);
    assert_string_equal(secret, "s3cret");
    free(secret);
    assert_int_equal(file_publish(path.p, "a\0b", 3, &err), 0);
    assert_int_equal(secret_read(NULL, path.p, &secret, &err), -1);
    buf_free(&path);
}

static void test_masks(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    msg_mask(&out, "a\x1b[31m\n\xc3\xa9\xc2\x9b", 11);
    assert_string_equal(buf_str(&out), "a\\x1b[31m\\x0a\xc3\xa9\\xc2\\x9b");
    buf_reset(&out);
    /* Turned, broken and unseen: U+202E, U+2028, U+200B; and what is only far away: U+20AC, U+1F600. */
    msg_mask(&out, "\xe2\x80\xae\xe2\x80\xa8\xe2\x80\x8b\xe2\x82\xac\xf0\x9f\x98\x80", 16);
    assert_string_equal(buf_str(&out), "\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xe2\\x80\\x8b\xe2\x82\xac\xf0\x9f\x98\x80");
    buf_reset(&out);
    msg_mask(&out, "\xff\xc3\xa9", 3);
    assert_string_equal(buf_str(&out), "\\xff\\xc3\\xa9");
    buf_free(&out);
}

static void test_arena(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    for (int round = 0; round < 3; round++) {
        for (size_t n = 1; n < 200000; n = n * 3 + 1) {
            char *p = arena_alloc(&a, n);
            assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
            memset(p, round, n);
        }
        arena_reset(&a);
    }
    arena_free(&a);
}

static void test_time(void **state)
{
    (void)state;
    char text[32];
    time_iso_ms(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    time_iso_ms(1758000000123, text);
    assert_string_equal(text, "2025-09-16T05:20:00.123Z");
    int64_t ms;
    for (int64_t at = 0; at < 253402300799999; at += 86399999 * (int64_t)97) {
        time_iso_ms(at, text);
        assert_true(time_parse_ms(text, &ms) && ms == at);
    }
    assert_true(time_parse_ms("2025-09-16T05:20:00.1+02:30", &ms) && ms == 1757991000100);
    assert_true(time_parse_ms("2024-02-29T00:00-00:01", &ms) && ms == 1709164860000);
    assert_false(time_parse_ms("2023-02-29T00:00Z", &ms) || time_parse_ms("2023-02-28T00:00", &ms) ||
                 time_parse_ms("2023-02-28T00:00ZZ", &ms) || time_parse_ms("", &ms));
}

/* An allocation that grows is what it was, wherever it comes to stand, and takes nothing from the others. */
static void test_arena_resize(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    for (int round = 0; round < 2; round++) {
        size_t n = 0;
        unsigned char *p = NULL;
        for (size_t more = 16; more < (size_t)1 << 20; more *= 2) {
            p = arena_resize(&a, p, n, more);
            memset(p + n, (int)(more >> 4), more - n);
            n = more;
            if (more == 128 || more == (size_t)1 << 17)
                memset(arena_alloc(&a, 40), 0xee, 40);
        }
        for (size_t i = 0, of = 16; i < n; i++) {
            of = i == of ? of * 2 : of;
            assert_int_equal(p[i], (unsigned char)(of >> 4));
        }
        p = arena_resize(&a, p, n, 32);
        assert_int_equal(p[31], 2);
        arena_reset(&a);
    }
    arena_free(&a);
}

static void test_map(void **state)
{
    (void)state;
    struct map m = MAP_INIT;
    static char names[5000][8];
    assert_null(map_find(&m, "", 0));
    for (size_t i = 0; i < 5000; i++) {
        int n = snprintf(names[i], sizeof names[i], "%zu", i);
        assert_true(map_add(&m, names[i], (size_t)n, i));
        assert_false(map_add(&m, names[i], (size_t)n, 7));
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(*map_find(&m, names[i], strlen(names[i])), i);
    assert_null(map_find(&m, "5000", 4));
    assert_null(map_find(&m, "49", 1 + 2));
    ++*map_at(&m, "", 0, 41);
    assert_int_equal(*map_at(&m, "", 0, 0), 42);
    map_free(&m);
    assert_null(map_find(&m, "1", 1));
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_base64),  cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_paths),   cmocka_unit_test(test_publish), cmocka_unit_test(test_temp_names),
        cmocka_unit_test(test_beneath), cmocka_unit_test(test_secret),  cmocka_unit_test(test_masks),
        cmocka_unit_test(test_arena),   cmocka_unit_test(test_time),    cmocka_unit_test(test_arena_resize),
        cmocka_unit_test(test_map),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0 || failed != 0;
}
