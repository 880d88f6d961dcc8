/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of artifacts: what is legal, which are one and the same, and which pass a link. */
#include "bundle/paths.h"
#include "evidence/places.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bundle_path_check(const char *path, const char *place, struct err *err)
{
    static const char *const roots[] = {"checkpoint/", "capture/", "traces/", "job/"};
    size_t n = strlen(path);
    if (!path_is_plain(path, n))
        return err_set(err, ERR_REFUSED, "%s: not a plain relative path: '%.200s'", place, path);
    if (strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/=@+-") != n)
        return err_set(err, ERR_REFUSED, "%s: a byte outside [A-Za-z0-9._/=@+-] in '%.200s'", place, path);
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (strncmp(path, roots[i], strlen(roots[i])) == 0)
            return 0;
    return err_set(err, ERR_REFUSED, "%s: '%.200s' is in no evidence directory", place, path);
}

/* ---- once ---- */

struct folded {
    uint64_t hash;
    const char *path;
};

static uint64_t fold_hash(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (uint64_t)(*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s)) * 1099511628211u;
    return h;
}

static int by_hash(const void *a, const void *b)
{
    const struct folded *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : strcasecmp(x->path, y->path);
}

int bundle_paths_once(const struct bundle_manifest *m, const char *where, struct err *err)
{
    struct folded *f = xmalloc((m->n_artifacts + 1) * sizeof *f);
    for (size_t i = 0; i < m->n_artifacts; i++)
        f[i] = (struct folded){fold_hash(m->artifacts[i].path), m->artifacts[i].path};
    qsort(f, m->n_artifacts, sizeof *f, by_hash);
    int rc = 0;
    for (size_t i = 1; i < m->n_artifacts && rc == 0; i++)
        if (strcasecmp(f[i - 1].path, f[i].path) == 0)
            rc = err_set(err, ERR_REFUSED, "%s.artifacts: '%.200s' is listed twice%s", where, f[i].path,
                         strcmp(f[i - 1].path, f[i].path) ? ", with other letters' case" : "");
    free(f);
    return rc;
}

/* ---- places of state ---- */

static bool take(const char **p, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*p, text, n) != 0)
        return false;
    *p += n;
    return true;
}

static bool take_number(const char **p, uint64_t *out)
{
    size_t n = strspn(*p, "0123456789");
    if (!scan_u64(*p, n, out))
        return false;
    *p += n;
    return true;
}

static bool is_file(const char *name, struct bundle_place *out)
{
    static const struct {
        const char *prefix, *suffix;
        bool is_start;
    } t[] = {{"checkpoint-", ".snap", false},
             {"checkpoint-", ".snap.meta", false},
             {"start-", ".snap", true},
             {"start-", ".snap.meta", true},
             {"changelog-", ".snap", false}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        if (evidence_name_id(name, t[i].prefix, t[i].suffix, &out->id)) {
            out->is_start = t[i].is_start;
            return true;
        }
    return false;
}

bool bundle_place(const struct bundle_manifest *m, const char *path, struct bundle_place *out)
{
    const char *p = path;
    *out = (struct bundle_place){0};
    if (!m->state_root || !take(&p, m->state_root) || !take(&p, "/") || !take(&p, m->job) || !take(&p, "/v") ||
        !take_number(&p, &out->generation) || !take(&p, "/") || !take_number(&p, &out->subtask))
        return false;
    if (take(&p, ".cp-")) {
        bool whole = take_number(&p, &out->id);
        out->dir_len = (size_t)(p - path);
        return whole && take(&p, "/") && *p;
    }
    return take(&p, "/") && !strchr(p, '/') && is_file(p, out);
}

/* ---- links ---- */

/* The first part of path that is a link, as bytes of path; 0: none. */
static size_t link_at(int root, const char *path)
{
    char part[4096];
    struct stat st;
    for (const char *p = path; p;) {
        const char *slash = strchr(p, '/');
        size_t n = slash ? (size_t)(slash - path) : strlen(path);
        memcpy(part, path, n);
        part[n] = '\0';
        if (fstatat(root, part, &st, AT_SYMLINK_NOFOLLOW) != 0)
            return 0;
        if (S_ISLNK(st.st_mode))
            return n;
        p = slash ? slash + 1 : NULL;
    }
    return 0;
}

struct links {
    struct buf text;
    uint64_t total;
    const char *last; /* the one before, so that a linked directory is named once */
    size_t last_len;
};

static void link_found(struct links *l, const char *path, size_t n)
{
    if (l->last && l->last_len == n && memcmp(l->last, path, n) == 0)
        return;
    l->last = path;
    l->last_len = n;
    if (l->total++ < LINKS_NAMED)
        buf_printf(&l->text, "%s'%.*s'", l->total > 1 ? ", " : "", (int)(n < 60 ? n : 60), path);
}

/* Artifacts stand sorted, so that one descriptor serves a directory's files. */
int bundle_links_refused(const struct bundle_manifest *m, int root, struct err *err)
{
    struct links l = {.text = BUF_INIT};
    struct buf dir = BUF_INIT;
    struct stat st;
    int fd = -1;
    for (size_t i = 0; i < m->n_artifacts; i++) {
        const char *path = m->artifacts[i].path, *slash = strrchr(path, '/');
        size_t n = (size_t)(slash - path);
        if (dir.len != n || memcmp(dir.p, path, n) != 0) {
            if (fd >= 0)
                close(fd);
            buf_reset(&dir);
            buf_add(&dir, path, n);
            fd = open_beneath(root, buf_str(&dir), O_PATH | O_DIRECTORY, NULL);
        }
        if (fd < 0 || (fstatat(fd, slash + 1, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))) {
            size_t at = link_at(root, path);
            if (at)
                link_found(&l, path, at);
        }
    }
    if (fd >= 0)
        close(fd);
    if (l.total > LINKS_NAMED)
        buf_printf(&l.text, " and %" PRIu64 " more", l.total - LINKS_NAMED);
    int rc = l.total ? err_fail(err, ERR_REFUSED, BECAUSE(CODE_BUNDLE_UNSAFE),
                                "manifest.json.artifacts: symbolic link%s on a listed path: %s", l.total > 1 ? "s" : "",
                                buf_str(&l.text))
                     : 0;
    buf_free(&l.text);
    buf_free(&dir);
    return rc;
}
