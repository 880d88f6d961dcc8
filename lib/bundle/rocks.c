/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RocksDB checkpoint as an owed-state document. Its files are copied to
 * scratch, each held against the manifest, and opened read-only there, so that
 * the bundle is not touched; in a child of its own, because the library was not
 * written for files that somebody made to harm their reader.
 */
#include "bundle/state.h"

#ifndef WITH_ROCKSDB

bool bundle_has_rocksdb(void)
{
    return false;
}

int bundle_rocksdb_read(const struct bundle *b, const char *dir, const char *scratch, struct buf *out, struct err *err)
{
    (void)b;
    (void)scratch;
    (void)out;
    return err_set(err, ERR_REFUSED, "'%s' was written by RocksDB, and this build has none", dir);
}

#else

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <rocksdb/c.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nobody's state of positions takes a minute of processor time to read. */
#define CHILD_SECONDS 60

bool bundle_has_rocksdb(void)
{
    return true;
}

/* ---- the copy ---- */

static int copy_content(int from, int to, const struct bundle_artifact *a, struct err *err)
{
    enum { CHUNK = 64 << 10 };
    unsigned char *chunk = xmalloc(CHUNK);
    struct sha256 s;
    char sha[SHA256_HEX + 1];
    uint64_t total = 0;
    ssize_t n;
    int rc = 0;
    sha256_init(&s);
    while (rc == 0 && total <= a->bytes && ((n = read(from, chunk, CHUNK)) > 0 || (n < 0 && errno == EINTR))) {
        if (n < 0)
            continue;
        sha256_add(&s, chunk, (size_t)n);
        total += (uint64_t)n;
        rc = fd_write_all(to, chunk, (size_t)n, "scratch", err);
    }
    sha256_hex(&s, sha);
    free(chunk);
    if (rc == 0 && (total != a->bytes || strcmp(sha, a->sha256) != 0))
        rc = err_set(err, ERR_CHANGED, "'%s' changed while the bundle was checked", a->path);
    return rc;
}

static int copy_one(const struct bundle *b, const struct bundle_artifact *a, const char *to, struct err *err)
{
    const struct bundle_artifact *listed;
    char *parent = xstrndup(to, (size_t)(strrchr(to, '/') - to));
    int rc = dir_make(parent, err), from = rc == 0 ? bundle_open_file(b, a->path, &listed, err) : -1;
    free(parent);
    if (from < 0)
        return -1;
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    rc = fd < 0 ? err_sys(err, "cannot write scratch '%s'", to) : copy_content(from, fd, a, err);
    if (fd >= 0)
        close(fd);
    close(from);
    return rc;
}

/* CURRENT names the file that the library opens first: nothing but one beside it. */
static int current_is_plain(const struct bundle *b, const char *dir, struct err *err)
{
    struct buf path = BUF_INIT, text = BUF_INIT;
    static const char manifest[] = "MANIFEST-";
    path_join(&path, dir, "CURRENT");
    int rc = bundle_read(b, path.p, 4096, &text, err);
    if (rc == 0) {
        size_t head = sizeof manifest - 1, digits = text.len > head ? strspn(buf_str(&text) + head, "0123456789") : 0;
        if (digits == 0 || text.len != head + digits + 1 || memcmp(text.p, manifest, head) != 0 ||
            text.p[text.len - 1] != '\n')
            rc = err_set(err, ERR_REFUSED, "'%s' names no manifest beside it", path.p);
    } else if (err->kind == ERR_MISSING) {
        err->kind = ERR_REFUSED;
    }
    buf_free(&path);
    buf_free(&text);
    return rc;
}

static int copy_all(const struct bundle *b, const char *dir, const char *to, struct err *err)
{
    size_t n = strlen(dir);
    uint64_t bytes = 0;
    struct buf path = BUF_INIT;
    int rc = current_is_plain(b, dir, err);
    for (size_t i = 0; i < b->m.n_artifacts && rc == 0; i++) {
        const struct bundle_artifact *a = &b->m.artifacts[i];
        if (strncmp(a->path, dir, n) != 0 || a->path[n] != '/')
            continue;
        bytes += a->bytes;
        /* A file of holes takes no room in a bundle, and would take all of scratch. */
        rc = a->bytes > BUNDLE_STATE_MAX || bytes > BUNDLE_STATE_MAX
                 ? err_set(err, ERR_BOUND, "'%s' is larger than the bound, %zu bytes", dir, BUNDLE_STATE_MAX)
                 : copy_one(b, a, path_join(&path, to, a->path + n + 1), err);
    }
    buf_free(&path);
    return rc;
}

/* ---- the child ---- */

static bool put_pair(struct buf *doc, const char *key, size_t key_len, const char *value, size_t value_len,
                     const char **why)
{
    *why = !utf8_valid(key, key_len)                 ? "a key is not text"
           : !json_valid(value, value_len, NULL)     ? "a value is not JSON"
           : doc->len + value_len > BUNDLE_STATE_MAX ? "it is larger than the bound"
                                                     : NULL;
    if (*why)
        return false;
    buf_addc(doc, doc->len > 1 ? ',' : '{');
    json_put_str(doc, key, key_len);
    buf_addc(doc, ':');
    buf_add(doc, value, value_len);
    return true;
}

static char *read_database(const char *path, struct buf *doc)
{
    char *failed = NULL;
    const char *why = NULL;
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(o, 0);
    rocksdb_options_set_paranoid_checks(o, 1);
    rocksdb_t *db = rocksdb_open_for_read_only(o, path, 0, &failed);
    if (failed)
        return failed;
    rocksdb_readoptions_t *ro = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(ro, 1);
    rocksdb_iterator_t *it = rocksdb_create_iterator(db, ro);
    buf_reserve(doc, 1);
    for (rocksdb_iter_seek_to_first(it); !why && rocksdb_iter_valid(it); rocksdb_iter_next(it)) {
        size_t key_len, value_len;
        const char *key = rocksdb_iter_key(it, &key_len), *value = rocksdb_iter_value(it, &value_len);
        put_pair(doc, key, key_len, value, value_len, &why);
    }
    rocksdb_iter_get_error(it, &failed);
    rocksdb_iter_destroy(it);
    rocksdb_readoptions_destroy(ro);
    rocksdb_close(db);
    rocksdb_options_destroy(o);
    if (doc->len == 0)
        buf_addc(doc, '{');
    buf_adds(doc, "}\n");
    return failed ? failed : why ? xstrdup(why) : NULL;
}

/* The document, or what was wrong with exit status 1, goes down the pipe. */
static _Noreturn void child(const char *path, int to)
{
    struct buf doc = BUF_INIT;
    struct rlimit no_core = {0, 0}, seconds = {CHILD_SECONDS, CHILD_SECONDS};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &seconds);
    char *failed = read_database(path, &doc);
    const char *text = failed ? failed : doc.p;
    int rc = fd_write_all(to, text, failed ? strlen(failed) : doc.len, "pipe", NULL);
    _exit(failed || rc != 0 ? 1 : 0);
}

static int run_child(const char *dir, const char *path, struct buf *out, struct err *err)
{
    int fd[2], status = 0;
    if (pipe2(fd, O_CLOEXEC) != 0)
        return err_sys(err, "cannot make a pipe");
    pid_t pid = fork();
    if (pid == 0)
        child(path, fd[1]);
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return err_sys(err, "cannot start a reader of '%s'", dir);
    }
    int rc = file_read_fd(fd[0], dir, BUNDLE_STATE_MAX + (1 << 20), out, err);
    close(fd[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (rc != 0)
        return rc;
    if (WIFSIGNALED(status))
        return err_set(err, ERR_REFUSED, "'%s': RocksDB died of signal %d while it read it", dir, WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return err_set(err, ERR_REFUSED, "'%s': RocksDB: %.500s", dir, buf_str(out));
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

int bundle_rocksdb_read(const struct bundle *b, const char *dir, const char *scratch, struct buf *out, struct err *err)
{
    struct buf copy = BUF_INIT;
    buf_printf(&copy, "%s/owed-rocksdb-XXXXXX", scratch ? scratch : "/var/tmp");
    buf_str(&copy);
    if (!mkdtemp(copy.p)) {
        err_sys(err, "cannot make scratch '%s'", copy.p);
        err->kind = ERR_TROUBLE;
        buf_free(&copy);
        return -1;
    }
    int rc = copy_all(b, dir, copy.p, err);
    if (rc == 0)
        rc = run_child(dir, copy.p, out, err);
    nftw(copy.p, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    buf_free(&copy);
    return rc;
}

#endif
