/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a bundle, and reading listed files beneath its root. */
#include "bundle/bundle.h"
#include "evidence/capture.h"
#include "bundle/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bundle_open(struct bundle *b, const char *path, struct err *err)
{
    *b = (struct bundle){.fd = -1};
    b->path = arena_strndup(&b->arena, path, strlen(path));
    b->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (b->fd < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        err_sys(err, "cannot open the bundle '%s'", path);
        if (missing)
            err_cause(err, BECAUSE(CODE_BUNDLE_MISSING));
        if (err)
            err->kind = ERR_REFUSED;
        return -1;
    }
    int fd = open_beneath(b->fd, "manifest.json", O_RDONLY | O_NONBLOCK, err);
    struct stat st;
    int rc = -1;
    if (fd < 0 && err && (err->kind == ERR_MISSING || err->sys == ELOOP))
        err_cause(err, BECAUSE(err->kind == ERR_MISSING ? CODE_BUNDLE_MISSING : CODE_BUNDLE_UNSAFE));
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)))
        err_fail(err, ERR_REFUSED, BECAUSE(CODE_BUNDLE_UNSAFE), "'manifest.json' is no regular file");
    else if (fd >= 0)
        rc = file_read_fd(fd, "manifest.json", BUNDLE_MANIFEST_MAX, &b->text, err);
    if (fd >= 0)
        close(fd);
    if (rc == 0) {
        sha256_of(b->text.p, b->text.len, b->sha256);
        rc = bundle_manifest_parse(b->text.p ? b->text.p : "", b->text.len, &b->arena, &b->m, err);
        if (rc == 0)
            rc = bundle_links_refused(&b->m, b->fd, err);
    }
    if (rc != 0) {
        err_prefix(err, "bundle '%s'", path);
        if (err && err->kind == ERR_BOUND)
            err_cause(err, BECAUSE(CODE_MANIFEST_MALFORMED));
        /* A bundle that cannot be read as one is outside the contract, whatever stood in the way. */
        if (err && err->kind != ERR_TROUBLE)
            err->kind = ERR_REFUSED;
    }
    return rc;
}

void bundle_close(struct bundle *b)
{
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
    for (size_t i = 0; b->kept && i < b->m.n_artifacts; i++)
        free(b->kept[i]);
    free(b->kept);
    b->kept = NULL;
    buf_free(&b->text);
    arena_free(&b->arena);
}

/* A listed file that cannot be opened: what that makes of the bundle. */
static void not_opened(struct err *err)
{
    if (err && err->kind == ERR_MISSING)
        err_cause(err, BECAUSE(CODE_ARTIFACT_MISSING));
    else if (err && err->kind == ERR_REFUSED)
        err_cause(err, BECAUSE(err->sys == ELOOP ? CODE_BUNDLE_UNSAFE : CODE_ARTIFACT_CHANGED));
}

int bundle_open_file(const struct bundle *b, const char *path, const struct bundle_artifact **artifact, struct err *err)
{
    *artifact = bundle_find(&b->m, path);
    if (!*artifact)
        return err_set(err, ERR_MISSING, "'%s' is not in the bundle", path);
    int fd = open_beneath(b->fd, path, O_RDONLY | O_NONBLOCK, err);
    struct stat st;
    if (fd < 0)
        not_opened(err);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    return err_fail(err, ERR_REFUSED, BECAUSE(CODE_ARTIFACT_CHANGED), "'%s' is no regular file", path);
}

int bundle_hold(const struct bundle_artifact *a, int fd, struct err *err)
{
    char sha[SHA256_HEX + 1];
    unsigned char block[65536];
    struct sha256 h;
    uint64_t total = 0;
    off_t at = 0;
    ssize_t n;
    sha256_init(&h);
    while ((n = pread(fd, block, sizeof block, at)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        sha256_add(&h, block, (size_t)n);
        at += n;
        total += (uint64_t)n;
        if (total > a->bytes)
            break;
    }
    sha256_hex(&h, sha);
    if (n < 0)
        return err_fail(err, ERR_CHANGED, BECAUSE(CODE_ARTIFACT_CHANGED), "'%s' cannot be read", a->path);
    if (total == a->bytes && strcmp(sha, a->sha256) == 0)
        return 0;
    return err_fail(err, ERR_CHANGED, BECAUSE(CODE_ARTIFACT_CHANGED),
                    "'%s' is not what the manifest lists: %s%" PRIu64 " bytes, SHA-256 %s", a->path,
                    total > a->bytes ? "more than " : "", total > a->bytes ? a->bytes : total, sha);
}

int bundle_hold_capture(const struct bundle_artifact *a, struct capture_reader *r, struct err *err)
{
    uint64_t bytes;
    char sha[SHA256_HEX + 1];
    capture_read_digest(r, &bytes, sha);
    if (bytes == a->bytes && strcmp(sha, a->sha256) == 0)
        return 0;
    return err_fail(err, ERR_CHANGED, BECAUSE(CODE_ARTIFACT_CHANGED),
                    "'%s' is not what the manifest lists: %" PRIu64 " bytes, SHA-256 %s", a->path, bytes, sha);
}

int bundle_read(const struct bundle *b, const char *path, size_t max, struct buf *out, struct err *err)
{
    const struct bundle_artifact *f = b->kept ? bundle_find(&b->m, path) : NULL;
    const char *kept = f ? b->kept[f - b->m.artifacts] : NULL;
    if (kept && f->bytes <= max) {
        buf_add(out, kept, (size_t)f->bytes);
        return 0;
    }
    int fd = bundle_open_file(b, path, &f, err);
    if (fd < 0)
        return -1;
    size_t start = out->len;
    int rc = file_read_fd(fd, path, max, out, err);
    close(fd);
    if (rc != 0)
        return -1;
    size_t n = out->len - start;
    char sha[SHA256_HEX + 1];
    if (n != f->bytes)
        return err_fail(err, ERR_CHANGED, BECAUSE(CODE_ARTIFACT_CHANGED),
                        "'%s' %s: expected %" PRIu64 " bytes, got %zu", path,
                        n < f->bytes ? "is truncated" : "has grown", f->bytes, n);
    sha256_of(out->p ? out->p + start : "", n, sha);
    if (strcmp(sha, f->sha256) != 0)
        return err_fail(err, ERR_CHANGED, BECAUSE(CODE_ARTIFACT_CHANGED),
                        "'%s' has another SHA-256 than the manifest lists", path);
    return 0;
}
