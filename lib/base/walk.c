/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a directory tree without following links. */
#include "base/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Deeper than any layout of evidence; a tree made to exhaust descriptors stops here. */
#define DEPTH_MAX 64
/* In place of a depth: what lies at the root, and nothing below it. */
#define ROOT_ALONE UINT_MAX

const char *walk_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR: return "directory";
    case S_IFLNK: return "symbolic link";
    case S_IFIFO: return "fifo";
    case S_IFSOCK: return "socket";
    case S_IFCHR:
    case S_IFBLK: return "device";
    case S_IFREG: return "regular file";
    default: return "of an unknown kind";
    }
}

/* A name, with the kind of its entry before it as readdir gave it. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a + 1, *(char *const *)b + 1);
}

static char **names_of(DIR *d, size_t *n)
{
    char **names = NULL;
    size_t cap = 0;
    struct dirent *e;
    *n = 0;
    while (errno = 0, (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (*n == cap)
            names = xrealloc(names, (cap = cap ? cap * 2 : 32) * sizeof *names);
        size_t len = strlen(e->d_name) + 1;
        char *one = xmalloc(len + 1);
        one[0] = (char)e->d_type;
        memcpy(one + 1, e->d_name, len);
        names[(*n)++] = one;
    }
    int saved = errno;
    if (*n > 0)
        qsort(names, *n, sizeof *names, by_name);
    errno = saved;
    return names;
}

static void walk_dir(int fd, const char *path, unsigned depth, walk_fn *on_entry, void *ctx);

/* kind: what readdir said, which saves a look at every file; some file systems do not say. */
static void visit(int dir, const char *path, const char *name, unsigned char kind, unsigned depth, walk_fn *on_entry,
                  void *ctx)
{
    struct buf below = BUF_INIT;
    struct stat st = {.st_mode = (mode_t)DTTOIF(kind)};
    if (*path) {
        buf_adds(&below, path);
        buf_addc(&below, '/');
    }
    buf_adds(&below, name);
    buf_str(&below);
    if (kind == DT_UNKNOWN && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        on_entry(ctx, below.p, name, 0, errno);
    } else {
        on_entry(ctx, below.p, name, st.st_mode, 0);
        if (S_ISDIR(st.st_mode) && depth != ROOT_ALONE) {
            int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (fd < 0)
                on_entry(ctx, below.p, name, st.st_mode, errno);
            else
                walk_dir(fd, below.p, depth + 1, on_entry, ctx);
        }
    }
    buf_free(&below);
}

/* Takes fd over. */
static void walk_dir(int fd, const char *path, unsigned depth, walk_fn *on_entry, void *ctx)
{
    const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
    bool may = depth < DEPTH_MAX || depth == ROOT_ALONE;
    DIR *d = may ? fdopendir(fd) : NULL;
    if (!d) {
        on_entry(ctx, path, own, S_IFDIR, may ? errno : WALK_TOO_DEEP);
        close(fd);
        return;
    }
    size_t n;
    char **names = names_of(d, &n);
    if (errno != 0)
        on_entry(ctx, path, own, S_IFDIR, errno);
    for (size_t i = 0; i < n; i++) {
        visit(dirfd(d), path, names[i] + 1, (unsigned char)names[i][0], depth, on_entry, ctx);
        free(names[i]);
    }
    free(names);
    closedir(d);
}

static void begin(int rootfd, const char *rel, unsigned depth, walk_fn *on_entry, void *ctx)
{
    struct stat st;
    const char *at = *rel ? rel : ".";
    if (fstatat(rootfd, at, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            on_entry(ctx, rel, rel, 0, errno);
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        on_entry(ctx, rel, rel, st.st_mode, 0);
        return;
    }
    int fd = openat(rootfd, at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        on_entry(ctx, rel, rel, st.st_mode, errno);
    else
        walk_dir(fd, rel, depth, on_entry, ctx);
}

void walk(int rootfd, const char *rel, walk_fn *on_entry, void *ctx)
{
    begin(rootfd, rel, 0, on_entry, ctx);
}

void walk_root(int rootfd, walk_fn *on_entry, void *ctx)
{
    begin(rootfd, "", ROOT_ALONE, on_entry, ctx);
}

const char *walk_trouble(int trouble)
{
    return trouble == WALK_TOO_DEEP ? "nested too deep" : strerror(trouble);
}
