/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file written piece by piece and published whole: until file_commit it has
 * no name where the file system can do that, so that any death leaves nothing.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)

void temp_suffix(struct buf *out)
{
    unsigned char at[8];
    for (size_t got = 0; got < sizeof at;) {
        ssize_t n = getrandom(at + got, sizeof at - got, 0);
        got += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < sizeof at; i++)
        buf_printf(out, "%02x", at[i]);
}

/* The directory that holds path, and the temporary name beside it. */
static void name_both(struct file_out *f, const char *path)
{
    struct buf dir = BUF_INIT, tmp = BUF_INIT;
    const char *slash = strrchr(path, '/');
    if (slash)
        buf_add(&dir, path, slash == path ? 1 : (size_t)(slash - path));
    else
        buf_addc(&dir, '.');
    buf_add(&tmp, path, slash ? (size_t)(slash + 1 - path) : 0);
    buf_printf(&tmp, ".%s.tmp-", slash ? slash + 1 : path);
    temp_suffix(&tmp);
    f->path = xstrdup(path);
    f->dir = xstrdup(buf_str(&dir));
    f->tmp = xstrdup(buf_str(&tmp));
    buf_free(&dir);
    buf_free(&tmp);
}

int file_apart(const char *out, const char *in, struct err *err)
{
    struct stat a, b;
    if (!out || !in || stat(out, &a) != 0 || stat(in, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return 0;
    return err_set(err, ERR_REFUSED, "'%s' would be written over '%s', which is read", out, in);
}

int file_begin(struct file_out *f, const char *path, struct err *err)
{
    struct stat st;
    *f = (struct file_out){.fd = -1};
    size_t n = strlen(path);
    if (n == 0 || path[n - 1] == '/' || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return err_set(err, ERR_REFUSED, "cannot write '%s': it is no regular file", path);
    name_both(f, path);
    f->fd = open(f->dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (f->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        f->named = true;
        f->fd = open(f->tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (f->fd >= 0)
        return 0;
    f->named = false;
    err_sys(err, "cannot create '%s'", path);
    file_drop(f);
    return -1;
}

static int write_held(struct file_out *f, struct err *err)
{
    int rc = fd_write_all(f->fd, f->held.p, f->held.len, f->path, err);
    buf_reset(&f->held);
    return rc;
}

int file_add(struct file_out *f, const void *p, size_t n, struct err *err)
{
    buf_add(&f->held, p, n);
    return f->held.len >= BLOCK ? write_held(f, err) : 0;
}

/* Give the unnamed file its temporary name. */
static int give_name(struct file_out *f, struct err *err)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, f->tmp, AT_SYMLINK_FOLLOW) != 0)
        return err_sys(err, "cannot name '%s'", f->tmp);
    f->named = true;
    return 0;
}

static int commit(struct file_out *f, unsigned how, struct err *err)
{
    int rc = write_held(f, err);
    if (rc == 0 && fsync(f->fd) != 0)
        rc = err_sys(err, "cannot sync '%s'", f->path);
    if (rc == 0 && !f->named)
        rc = give_name(f, err);
    if (rc == 0 && renameat2(AT_FDCWD, f->tmp, AT_FDCWD, f->path, how) != 0)
        rc = err_sys(err, "cannot publish '%s'", f->path);
    if (rc == 0) {
        f->named = false;
        rc = dir_sync(f->dir, err);
    }
    file_drop(f);
    return rc;
}

int file_commit(struct file_out *f, struct err *err)
{
    return commit(f, 0, err);
}

static int publish(const char *path, const void *p, size_t n, unsigned how, struct err *err)
{
    struct file_out f;
    if (file_begin(&f, path, err) != 0)
        return -1;
    if (file_add(&f, p, n, err) == 0)
        return commit(&f, how, err);
    file_drop(&f);
    return -1;
}

int file_publish(const char *path, const void *p, size_t n, struct err *err)
{
    return publish(path, p, n, 0, err);
}

int file_publish_new(const char *path, const void *p, size_t n, struct err *err)
{
    return publish(path, p, n, RENAME_NOREPLACE, err);
}

void file_drop(struct file_out *f)
{
    if (!f->path)
        return;
    if (f->named)
        unlink(f->tmp);
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->dir);
    free(f->tmp);
    buf_free(&f->held);
    *f = (struct file_out){.fd = -1};
}
