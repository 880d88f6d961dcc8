/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The temporary directory beside --out. Its owner holds it by a lock for as long
 * as it lives, so that the next collection of the same --out can tell what a
 * killed one left from what another one is still filling.
 */
#include "pack/temp.h"
#include "stream/codes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100

static int remove_in(int dir, const char *name, unsigned depth);

static int empty(int fd, unsigned depth)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return -1;
    }
    int rc = 0;
    struct dirent *e;
    while (errno = 0, (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            remove_in(dirfd(d), e->d_name, depth + 1) != 0)
            rc = -1;
    closedir(d);
    return rc;
}

/* Remove an entry and all below it, following no link. */
static int remove_in(int dir, const char *name, unsigned depth)
{
    if (unlinkat(dir, name, 0) == 0)
        return 0;
    if ((errno != EISDIR && errno != EPERM) || depth > 64)
        return -1;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        empty(fd, depth);
    return unlinkat(dir, name, AT_REMOVEDIR);
}

/* ---- what killed collections left ---- */

/* True when nothing lies there but the beginnings of what is written here. */
static bool holds_ours(int fd, const char *const *ours)
{
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    if (!d) {
        if (again >= 0)
            close(again);
        return false;
    }
    bool all = true;
    struct dirent *e;
    while (all && (e = readdir(d))) {
        all = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        for (size_t i = 0; ours[i] && !all; i++)
            all = strcmp(e->d_name, ours[i]) == 0;
    }
    closedir(d);
    return all;
}

/* The name may have gone on to another directory, or to --out, before the lock was had. */
static bool is_still(int parent, const char *name, const struct stat *st)
{
    struct stat now;
    return fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st->st_dev &&
           now.st_ino == st->st_ino;
}

/* One directory of that name: removed where it is this user's, nobody holds it, and it looks like the beginnings
 * of what is written here. */
static void clear_one(int parent, const char *name, const char *const *ours, struct buf *note)
{
    struct stat st;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        buf_printf(note, "'%s' is being filled by another run for the same --out\n", name);
    else if (fd < 0 || fstat(fd, &st) != 0 || st.st_uid != geteuid() || !is_still(parent, name, &st) ||
             !holds_ours(fd, ours))
        buf_printf(note, "'%s' has the name of what a killed run leaves, and was left alone\n", name);
    else if (remove_in(parent, name, 0) == 0)
        buf_printf(note, "'%s', left by a run that was killed, was removed\n", name);
    else
        buf_printf(note, "'%s', left by a run that was killed, cannot be removed: %s\n", name, strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void clear_left(const char *parent, const char *prefix, const char *const *ours, struct buf *note)
{
    DIR *d = opendir(parent);
    struct dirent *e;
    size_t n = strlen(prefix);
    while (d && (e = readdir(d)))
        if (strncmp(e->d_name, prefix, n) == 0 && e->d_name[n] &&
            e->d_name[n + strspn(e->d_name + n, "0123456789abcdef")] == '\0')
            clear_one(dirfd(d), e->d_name, ours, note);
    if (d)
        closedir(d);
}

/* ---- this one's ---- */

static int names_of(struct pack_temp *t, const char *out, struct buf *prefix, struct err *err)
{
    buf_adds(&t->final, out);
    while (t->final.len > 1 && t->final.p[t->final.len - 1] == '/')
        t->final.len--;
    const char *slash = strrchr(buf_str(&t->final), '/'), *name = slash ? slash + 1 : t->final.p;
    buf_add(&t->parent, slash ? t->final.p : ".", slash && slash != t->final.p ? (size_t)(slash - t->final.p) : 1);
    buf_str(&t->parent);
    buf_printf(prefix, ".%s.tmp-", name);
    buf_str(prefix);
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_USAGE, {"option", "--out"}),
                        "--out '%s' is no name for a directory", out);
    struct stat st;
    if (lstat(t->final.p, &st) == 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_FILE_EXISTS, {"path", t->final.p}),
                        "--out '%s' is there already", t->final.p);
    return 0;
}

/* Held: no other collection takes it for one that nobody owns. 1 where one was faster, before the lock was had. */
static int hold(struct pack_temp *t, struct err *err)
{
    struct stat st;
    t->fd = open(t->path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (t->fd < 0)
        return errno == ENOENT ? 1 : err_sys(err, "cannot open '%s'", t->path.p);
    /* A file system without locks leaves nobody who could take it for one that is owned by nobody. */
    if (flock(t->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return 1;
    if (fstat(t->fd, &st) != 0)
        return err_sys(err, "cannot look at '%s'", t->path.p);
    return st.st_nlink == 0;
}

int pack_temp_make(struct pack_temp *t, const char *out, const char *const *ours, struct buf *note, struct err *err)
{
    struct buf prefix = BUF_INIT;
    *t = (struct pack_temp){BUF_INIT, BUF_INIT, BUF_INIT, -1, false};
    int rc = names_of(t, out, &prefix, err);
    if (rc == 0)
        clear_left(t->parent.p, prefix.p, ours, note);
    for (int i = 0; rc == 0 && i < TRIES; i++) {
        buf_reset(&t->path);
        buf_printf(&t->path, "%s/%s", t->parent.p, prefix.p);
        temp_suffix(&t->path);
        if (mkdir(buf_str(&t->path), 0777) != 0) {
            if (errno == EEXIST)
                continue;
            rc = err_sys(err, "cannot make '%s'", t->path.p);
            break;
        }
        rc = hold(t, err);
        t->made = rc <= 0;
        if (t->made)
            break;
        if (t->fd >= 0)
            close(t->fd);
        t->fd = -1;
        rc = 0;
    }
    if (rc == 0 && t->fd < 0)
        rc = err_fail(err, ERR_TROUBLE, BECAUSE(CODE_IO_FAILED), "no temporary directory can be made beside '%s'",
                      t->final.p);
    buf_free(&prefix);
    return rc;
}

/* Where the file system cannot rename without replacing, the name is taken by a directory of our own first. */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if ((errno != EINVAL && errno != ENOSYS) || mkdir(to, 0777) != 0)
        return -1;
    if (rename(from, to) == 0)
        return 0;
    int saved = errno;
    rmdir(to);
    errno = saved;
    return -1;
}

int pack_temp_publish(struct pack_temp *t, struct err *err)
{
    /* Once for all files: a sync of each would take a disk's turn a hundred thousand times. */
    if (syncfs(t->fd) != 0)
        return err_sys(err, "cannot sync '%s'", t->path.p);
    if (rename_new(t->path.p, t->final.p) != 0)
        return errno == EEXIST ? err_fail(err, ERR_REFUSED, BECAUSE(CODE_FILE_EXISTS, {"path", t->final.p}),
                                          "--out '%s' is there already", t->final.p)
                               : err_sys(err, "cannot publish '%s'", t->final.p);
    return 0;
}

void pack_temp_end(struct pack_temp *t, bool published)
{
    if (!published && t->made)
        remove_in(AT_FDCWD, t->path.p, 0);
    if (t->fd >= 0)
        close(t->fd);
    buf_free(&t->final);
    buf_free(&t->path);
    buf_free(&t->parent);
}
