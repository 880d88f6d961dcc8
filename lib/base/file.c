/* SPDX-License-Identifier: Apache-2.0 */
/* Files: whole reads, publishing by rename, opening beneath a root, scratch. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fd_write_all(int fd, const void *bytes, size_t n, const char *name, struct err *err)
{
    const char *p = bytes;
    while (n > 0) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return err_sys(err, "cannot write %s", name);
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

int file_read_fd(int fd, const char *name, size_t max, struct buf *out, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_sys(err, "cannot read '%s'", name);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_REFUSED, "cannot read '%s': it is a directory", name);
    size_t start = out->len;
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size <= max)
        buf_reserve(out, (size_t)st.st_size + 1);
    for (;;) {
        buf_reserve(out, 65536);
        ssize_t r = read(fd, out->p + out->len, out->cap - out->len);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return err_sys(err, "cannot read '%s'", name);
        if (r == 0)
            return 0;
        out->len += (size_t)r;
        if (out->len - start > max)
            return err_set(err, ERR_BOUND, "'%s' is larger than %zu bytes", name, max);
    }
}

int file_read(const char *path, size_t max, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    int rc = file_read_fd(fd, path, max, out, err);
    close(fd);
    return rc;
}

int dir_sync(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, "cannot open the directory '%s'", path);
    int rc = fsync(fd);
    if (rc != 0)
        err_sys(err, "cannot sync the directory '%s'", path);
    close(fd);
    return rc != 0 ? -1 : 0;
}

int dir_make(const char *path, struct err *err)
{
    char *copy = xstrdup(path);
    for (char *p = copy + 1; *copy; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char held = *p;
        *p = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
            err_sys(err, "cannot make the directory '%s'", copy);
            free(copy);
            return -1;
        }
        *p = held;
        if (held == '\0')
            break;
    }
    free(copy);
    struct stat st;
    if (stat(path, &st) != 0)
        return err_sys(err, "cannot make the directory '%s'", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_TROUBLE, "cannot make the directory '%s': a file is in the way", path);
    return 0;
}

bool path_is_plain(const char *path, size_t n)
{
    if (n == 0 || n > 4095 || memchr(path, '\0', n) || memchr(path, '\\', n))
        return false;
    size_t at = 0;
    while (at <= n) {
        const char *slash = at < n ? memchr(path + at, '/', n - at) : NULL;
        size_t len = slash ? (size_t)(slash - path) - at : n - at;
        if (len == 0 || len > 255)
            return false;
        if (path[at] == '.' && (len == 1 || (len == 2 && path[at + 1] == '.')))
            return false;
        if (!slash)
            return true;
        at += len + 1;
    }
    return false;
}

static bool is_link(int dir, const char *name)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* For kernels without openat2: each directory is opened by itself, with no link followed. */
static int open_by_component(int rootfd, const char *path, int flags)
{
    int at = rootfd;
    const char *p = path;
    for (;;) {
        const char *slash = strchr(p, '/');
        size_t len = slash ? (size_t)(slash - p) : strlen(p);
        char part[256];
        memcpy(part, p, len);
        part[len] = '\0';
        int how = slash ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC : flags | O_NOFOLLOW | O_CLOEXEC;
        int fd = openat(at, part, how, 0666);
        int saved = fd < 0 && errno == ENOTDIR && is_link(at, part) ? ELOOP : errno;
        if (at != rootfd)
            close(at);
        errno = saved;
        if (fd < 0 || !slash)
            return fd;
        at = fd;
        p = slash + 1;
    }
}

int open_beneath(int rootfd, const char *path, int flags, struct err *err)
{
    if (!path_is_plain(path, strlen(path)))
        return err_set(err, ERR_REFUSED, "'%s' is not a plain relative path", path);
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? 0666 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, rootfd, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = open_by_component(rootfd, path, flags);
    if (fd >= 0)
        return fd;
    int sys = errno;
    if (sys != ELOOP && sys != EXDEV && sys != ENOTDIR)
        return err_sys(err, "cannot open '%s'", path);
    err_set(err, ERR_REFUSED,
            sys == ENOTDIR ? "'%s' passes something that is not a directory" : "'%s' is or passes a symbolic link",
            path);
    if (err)
        err->sys = sys == EXDEV ? ELOOP : sys;
    return -1;
}

int scratch_open(const char *dir, struct err *err)
{
    if (!dir)
        dir = "/var/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return err_sys(err, "cannot open scratch space in '%s'", dir);
    struct buf name = BUF_INIT;
    buf_printf(&name, "%s/.owed-scratch-XXXXXX", dir);
    buf_str(&name);
    fd = mkostemp(name.p, O_CLOEXEC);
    if (fd < 0)
        err_sys(err, "cannot open scratch space in '%s'", dir);
    else
        unlink(name.p);
    buf_free(&name);
    return fd;
}

const char *path_join(struct buf *out, const char *dir, const char *name)
{
    buf_reset(out);
    buf_printf(out, "%s/%s", dir, name);
    return buf_str(out);
}
