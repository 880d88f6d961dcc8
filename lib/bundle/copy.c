/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying: each file is hashed while it is copied and looked at again
 * afterwards. Files are not synced one by one: a bundle that lost bytes in a
 * power cut does not hash to its manifest.
 */
#include "bundle/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)256 << 10)

int pack_alive(const struct pack *p, struct err *err)
{
    if (p->r->stop && *p->r->stop)
        return err_set(err, ERR_TROUBLE, "interrupted by signal %d", *p->r->stop);
    if (time_mono_ms() > p->deadline_ms)
        return err_set(err, ERR_TIMEOUT, "the collection took longer than --timeout-s=%ju", (uintmax_t)p->r->timeout_s);
    return 0;
}

static int make_dirs(int root, const char *path, struct err *err)
{
    struct buf dir = BUF_INIT;
    int rc = 0;
    for (const char *slash = strchr(path, '/'); slash && rc == 0; slash = strchr(slash + 1, '/')) {
        buf_reset(&dir);
        buf_add(&dir, path, (size_t)(slash - path));
        if (mkdirat(root, buf_str(&dir), 0777) != 0 && errno != EEXIST)
            rc = err_sys(err, "cannot make the directory '%s' of the bundle", dir.p);
    }
    buf_free(&dir);
    return rc;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The file at the path must still be the one that was copied, as it was when it was opened. */
static int unchanged(const struct pack_item *it, const struct stat *before, struct err *err)
{
    struct err why = ERR_INIT;
    struct stat now;
    int fd = open_beneath(it->root, it->rel, O_RDONLY | O_NONBLOCK, &why);
    if (fd < 0)
        return err_set(err, ERR_CHANGED, "'%s' disappeared while it was copied", it->rel);
    int rc = fstat(fd, &now);
    close(fd);
    if (rc != 0 || !same_file(before, &now))
        return err_set(err, ERR_CHANGED, "'%s' changed while it was copied", it->rel);
    return 0;
}

static int copy_bytes(const struct pack *p, int from, int to, const struct pack_item *it, char *block, char sha[SHA256_HEX + 1],
                      uint64_t *bytes, struct err *err)
{
    struct sha256 s;
    sha256_init(&s);
    int rc = 0;
    *bytes = 0;
    while (rc == 0 && (rc = pack_alive(p, err)) == 0) {
        ssize_t n = read(from, block, BLOCK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        if (n < 0) {
            rc = err_sys(err, "cannot read '%s'", it->rel);
            break;
        }
        sha256_add(&s, block, (size_t)n);
        *bytes += (uint64_t)n;
        rc = fd_write_all(to, block, (size_t)n, it->dest, err);
    }
    sha256_hex(&s, sha);
    return rc;
}

static int copy_open(const struct pack *p, const struct pack_item *it, int from, const struct stat *st, char *block,
                     struct bundle_artifact *out, struct err *err)
{
    char sha[SHA256_HEX + 1];
    struct arena *a = (struct arena *)&p->a;
    if (make_dirs(p->out, it->dest, err) != 0)
        return -1;
    int to = openat(p->out, it->dest, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (to < 0)
        return err_sys(err, "cannot create '%s' of the bundle", it->dest);
    *out = (struct bundle_artifact){.path = it->dest, .role = it->role};
    int rc = copy_bytes(p, from, to, it, block, sha, &out->bytes, err);
    if (close(to) != 0 && rc == 0)
        rc = err_sys(err, "cannot write '%s' of the bundle", it->dest);
    if (rc == 0 && out->bytes != (uint64_t)st->st_size)
        rc = err_set(err, ERR_CHANGED, "'%s' changed while it was copied", it->rel);
    if (rc == 0)
        rc = unchanged(it, st, err);
    out->sha256 = arena_strndup(a, sha, SHA256_HEX);
    return rc;
}

static void record(struct pack *p, const struct pack_item *it, const struct bundle_artifact *done)
{
    p->m.artifacts[p->m.n_artifacts++] = *done;
    if (it->captured.operator_id) {
        p->m.captured[p->m.n_captured] = it->captured;
        p->m.captured[p->m.n_captured++].path = it->dest;
    }
    p->m.has_captures |= it->role == ROLE_CAPTURE || it->role == ROLE_INTERVAL;
    p->m.has_state |= bundle_role_is_state(it->role);
    p->m.has_traces |= it->role == ROLE_TRACE;
}

/* 0 copied, 1 left out and said so, -1 refused. */
static int copy_item(struct pack *p, const struct pack_item *it, uint64_t *total, char *block, struct err *err)
{
    struct err why = ERR_INIT;
    struct stat st;
    struct bundle_artifact done;
    int from = open_beneath(it->root, it->rel, O_RDONLY | O_NONBLOCK, &why);
    if (from < 0 && why.kind == ERR_MISSING && !it->required && it->role != ROLE_CAPTURE && it->role != ROLE_INTERVAL) {
        pack_absent(p, it->dest, "not on disk: retention removed it, or it was never written");
        return 1;
    }
    if (from < 0) {
        *err = why;
        if (why.kind == ERR_MISSING && !it->required)
            err->kind = ERR_CHANGED;
        return err_prefix(err, "%s", bundle_role_name(it->role));
    }
    int rc = fstat(from, &st) != 0 ? err_sys(err, "cannot look at '%s'", it->rel) : 0;
    if (rc == 0 && !S_ISREG(st.st_mode))
        rc = err_set(err, ERR_REFUSED, "'%s' is no regular file", it->rel);
    const char *bound = p->m.n_artifacts + 1 > p->r->max_files                       ? "past --max-files"
                        : (uint64_t)st.st_size > p->r->max_bytes - *total ? "past --max-bytes"
                                                                                     : NULL;
    if (rc == 0 && bound && it->required)
        rc = err_set(err, ERR_BOUND, "'%s', which the selected checkpoint needs, is %s", it->rel, bound);
    else if (rc == 0 && bound) {
        pack_excluded(p, it->dest, bound);
        rc = 1;
    }
    if (rc == 0)
        rc = copy_open(p, it, from, &st, block, &done, err);
    close(from);
    if (rc == 0) {
        *total += done.bytes;
        record(p, it, &done);
    }
    return rc;
}

static int put_job_manifest(struct pack *p, uint64_t *total, struct err *err)
{
    static const char path[] = "job/manifest.json";
    if (p->job_text.len == 0)
        return 0;
    if (p->job_text.len > p->r->max_bytes || p->r->max_files == 0)
        return err_set(err, ERR_BOUND, "'%s' is past a bound", path);
    if (make_dirs(p->out, path, err) != 0)
        return -1;
    int fd = openat(p->out, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_sys(err, "cannot create '%s' of the bundle", path);
    int rc = fd_write_all(fd, p->job_text.p, p->job_text.len, path, err);
    if (close(fd) != 0 && rc == 0)
        rc = err_sys(err, "cannot write '%s' of the bundle", path);
    char sha[SHA256_HEX + 1];
    sha256_of(p->job_text.p, p->job_text.len, sha);
    p->m.artifacts[p->m.n_artifacts++] = (struct bundle_artifact){path, ROLE_JOB_MANIFEST, p->job_text.len,
                                                                  arena_strndup(&p->a, sha, SHA256_HEX)};
    *total += p->job_text.len;
    return rc;
}

int pack_copy(struct pack *p, struct err *err)
{
    uint64_t total = 0;
    if (p->n_items + 1 > BUNDLE_ARTIFACTS_MAX)
        return err_set(err, ERR_BOUND, "%zu files, a bundle holds at most %d", p->n_items + 1, BUNDLE_ARTIFACTS_MAX);
    p->m.artifacts = arena_alloc(&p->a, (p->n_items + 1) * sizeof *p->m.artifacts);
    p->m.captured = arena_alloc(&p->a, (p->n_items + 1) * sizeof *p->m.captured);
    if (put_job_manifest(p, &total, err) != 0)
        return -1;
    char *block = xmalloc(BLOCK);
    int rc = 0;
    for (size_t i = 0; i < p->n_items && rc >= 0; i++)
        rc = copy_item(p, &p->items[i], &total, block, err);
    free(block);
    return rc < 0 ? -1 : 0;
}
