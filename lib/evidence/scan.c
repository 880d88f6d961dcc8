/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a job's directories hold: the markers, the restore rule over them, and
 * the greatest id that anything names. A coordinator that takes over, ckpt-plan
 * and bundle-pack all choose by the one function here.
 */
#include "evidence/marker.h"
#include "evidence/places.h"
#include "evidence/ids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKER_MAX ((size_t)1 << 20)

bool restored_passes_over(const struct restored *r, uint64_t id)
{
    return r && id > r->checkpoint && id < r->next;
}

bool restore_choice(const uint64_t *ids, size_t n, const struct restored *r, uint64_t *choice)
{
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        if (restored_passes_over(r, ids[i]) || (found && ids[i] <= *choice))
            continue;
        *choice = ids[i];
        found = true;
    }
    return found;
}

bool restore_point(const struct markers *m, bool confirmed, uint64_t *choice)
{
    return restore_choice(confirmed ? m->confirmed : m->completed, confirmed ? m->n_confirmed : m->n_completed,
                          m->has_restored ? &m->restored : NULL, choice);
}

bool markers_have(const struct markers *m, enum marker_kind k, uint64_t id)
{
    const uint64_t *ids = k == MARKER_CONFIRMED ? m->confirmed : m->completed;
    size_t n = k == MARKER_CONFIRMED ? m->n_confirmed : m->n_completed;
    size_t at = ids_below(ids, n, id);
    return at < n && ids[at] == id;
}

void markers_sort(struct markers *m)
{
    struct ids completed = {m->completed, m->n_completed, 0}, confirmed = {m->confirmed, m->n_confirmed, 0};
    ids_sort(&completed);
    ids_sort(&confirmed);
    m->n_completed = completed.n;
    m->n_confirmed = confirmed.n;
}

/* Open a directory beneath fd for listing; NULL with err->kind ERR_MISSING where there is none. */
static DIR *list_open(int fd, const char *rel, struct err *err)
{
    int dir = open_beneath(fd, rel, O_RDONLY | O_DIRECTORY, err);
    if (dir < 0)
        return NULL;
    DIR *d = fdopendir(dir);
    if (!d) {
        err_sys(err, "cannot list '%s'", rel);
        close(dir);
    }
    return d;
}

/* The next name that is not hidden, NULL at the end or on an error (*failed). */
static const char *list_next(DIR *d, const char *rel, bool *failed, struct err *err)
{
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (!e && errno != 0) {
            err_sys(err, "cannot list '%s'", rel);
            *failed = true;
        }
        if (!e)
            return NULL;
        if (e->d_name[0] != '.')
            return e->d_name;
    }
}

static int need_file(DIR *d, const char *name, const char *rel, struct err *err)
{
    struct stat st;
    if (fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? err_set(err, ERR_CHANGED, "'%s/%s' vanished while it was listed", rel, name)
                               : err_sys(err, "cannot look at '%s/%s'", rel, name);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_REFUSED, "'%s/%s' is no regular file", rel, name);
    return 0;
}

static int read_restored(int ckpt_fd, const char *job, struct arena *a, struct markers *out, struct err *err)
{
    struct buf rel = BUF_INIT, text = BUF_INIT;
    int rc = -1;
    int fd = open_beneath(ckpt_fd, evidence_path_restored(&rel, job), O_RDONLY | O_NONBLOCK, err);
    if (fd >= 0) {
        rc = file_read_fd(fd, rel.p, MARKER_MAX, &text, err);
        close(fd);
    }
    if (rc == 0)
        rc = restored_parse(text.p, text.len, rel.p, a, &out->restored, err);
    if (rc == 0 && strcmp(out->restored.job, job) != 0)
        rc = err_set(err, ERR_REFUSED, "%s is of job '%s', not '%s'", rel.p, out->restored.job, job);
    out->has_restored = rc == 0;
    buf_free(&rel);
    buf_free(&text);
    return rc;
}

static int scan_names(DIR *d, const char *rel, struct arena *a, struct ids *completed, struct ids *confirmed,
                      bool *has_restored, struct err *err)
{
    bool failed = false;
    const char *name;
    while ((name = list_next(d, rel, &failed, err))) {
        uint64_t id;
        struct ids *to = NULL;
        if (evidence_name_id(name, "COMPLETED-", "", &id))
            to = completed;
        else if (evidence_name_id(name, "CONFIRMED-", "", &id))
            to = confirmed;
        else if (strcmp(name, "RESTORED") == 0)
            *has_restored = true;
        else
            continue;
        if (need_file(d, name, rel, err) != 0)
            return -1;
        if (to)
            ids_add(to, a, id);
    }
    return failed ? -1 : 0;
}

int markers_scan(int ckpt_fd, const char *job, struct arena *a, struct markers *out, struct err *err)
{
    *out = (struct markers){0};
    struct buf rel = BUF_INIT;
    struct err why = ERR_INIT;
    DIR *d = list_open(ckpt_fd, evidence_path_jobs(&rel, job), &why);
    if (!d) {
        buf_free(&rel);
        if (why.kind == ERR_MISSING)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    struct ids completed = {NULL, 0, 0}, confirmed = {NULL, 0, 0};
    bool has_restored = false;
    int rc = scan_names(d, rel.p, a, &completed, &confirmed, &has_restored, err);
    closedir(d);
    buf_free(&rel);
    if (rc != 0)
        return -1;
    ids_sort(&completed);
    ids_sort(&confirmed);
    *out = (struct markers){
        .completed = completed.at, .n_completed = completed.n, .confirmed = confirmed.at, .n_confirmed = confirmed.n};
    return has_restored ? read_restored(ckpt_fd, job, a, out, err) : 0;
}

/* ---- the greatest id ---- */

/* A form of name that carries an id. */
struct form {
    const char *prefix, *suffix;
};

static const struct form state_forms[] = {{"checkpoint-", ".snap"}, {"checkpoint-", ".snap.meta"}, {"start-", ".snap"},
                                          {"start-", ".snap.meta"}, {"changelog-", ".snap"},       {NULL, NULL}};
static const struct form capture_forms[] = {{"epoch-", ".cap"}, {"epoch-", ".sink.json"}, {NULL, NULL}};

/* Files may lie beside the directories. A link is not passed by: what cannot be looked at must not be taken for
 * nothing. */
static bool may_descend(DIR *d, const char *name)
{
    struct stat st;
    return fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode));
}

/* The id of a directory "<subtask>.cp-<id>". */
static bool rocksdb_id(const char *name, uint64_t *id)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && evidence_name_id(name + digits, ".cp-", "", id);
}

/* Walk `levels` directories down from rel, then take the ids of the forms. */
static int greatest_in(int fd, const char *rel, unsigned levels, const struct form *forms, uint64_t *greatest,
                       struct err *err)
{
    struct err why = ERR_INIT;
    DIR *d = list_open(fd, rel, &why);
    if (!d) {
        if (why.kind == ERR_MISSING)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    bool failed = false;
    const char *name;
    int rc = 0;
    struct buf below = BUF_INIT;
    while (rc == 0 && (name = list_next(d, rel, &failed, err))) {
        uint64_t id;
        if (levels > 0) {
            if (rocksdb_id(name, &id))
                *greatest = id > *greatest ? id : *greatest;
            else if (may_descend(d, name))
                rc = greatest_in(fd, path_join(&below, rel, name), levels - 1, forms, greatest, err);
            continue;
        }
        for (const struct form *f = forms; f->prefix; f++)
            if (evidence_name_id(name, f->prefix, f->suffix, &id) && id > *greatest)
                *greatest = id;
    }
    buf_free(&below);
    closedir(d);
    return failed ? -1 : rc;
}

static int greatest_capture(const char *capture_dir, uint64_t *greatest, struct err *err)
{
    DIR *top = opendir(capture_dir);
    if (!top)
        return errno == ENOENT ? 0 : err_sys(err, "cannot list '%s'", capture_dir);
    bool failed = false;
    const char *name;
    int rc = 0;
    while (rc == 0 && (name = list_next(top, capture_dir, &failed, err))) {
        uint64_t op;
        if (evidence_name_id(name, "op-", "", &op) && may_descend(top, name))
            rc = greatest_in(dirfd(top), name, 1, capture_forms, greatest, err);
    }
    closedir(top);
    return failed ? -1 : rc;
}

static int greatest_checkpoint(int fd, const char *job, uint64_t *greatest, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct markers m;
    int rc = markers_scan(fd, job, &a, &m, err);
    if (rc == 0) {
        uint64_t last[] = {m.n_completed ? m.completed[m.n_completed - 1] : 0,
                           m.n_confirmed ? m.confirmed[m.n_confirmed - 1] : 0,
                           m.has_restored ? m.restored.next - 1 : 0};
        for (size_t i = 0; i < sizeof last / sizeof *last; i++)
            if (last[i] > *greatest)
                *greatest = last[i];
        struct buf state = BUF_INIT;
        buf_printf(&state, "_state/%s", job);
        rc = greatest_in(fd, buf_str(&state), 2, state_forms, greatest, err);
        buf_free(&state);
    }
    arena_free(&a);
    return rc;
}

int evidence_greatest_id(const char *ckpt_dir, const char *capture_dir, const char *job, uint64_t *greatest,
                         struct err *err)
{
    *greatest = 0;
    int fd = open(ckpt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        return err_sys(err, "cannot open '%s'", ckpt_dir);
    int rc = 0;
    if (fd >= 0) {
        rc = greatest_checkpoint(fd, job, greatest, err);
        close(fd);
    }
    if (rc == 0 && capture_dir)
        rc = greatest_capture(capture_dir, greatest, err);
    return rc;
}
