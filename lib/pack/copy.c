/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying on every core. Items are admitted one after the other in the order of
 * need, so that bounds fall the same way every time; then each thread reads its
 * file once, hashing what it writes, and looks at it again afterwards.
 */
#include "pack/internal.h"
#include "base/walk.h"
#include "json/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 64
/* Small enough that what was read is still in the cache when it is hashed and written. */
#define BLOCK ((size_t)128 << 10)
#define OPERATOR_MAX ((size_t)16 << 20)
/* From this size on a file is worth a call of its own to begin its way to the disk. */
#define EARLY ((uint64_t)1 << 20)
/* Of a manifest's bytes: kept for what is not artifacts. */
#define MANIFEST_OTHER ((size_t)512 << 10)

struct copier {
    struct pack *p;
    pthread_mutex_t lock;
    size_t next;
    uint64_t bytes, files;        /* admitted */
    size_t listing;               /* bytes of the manifest that they take */
    struct buf made;              /* the directory that was made last */
    struct bundle_artifact *done; /* by item; path NULL: left out */
    char (*sha)[SHA256_HEX + 1];  /* by item */
    size_t failed_at;             /* the first item that failed; n_items: none */
    struct err err;
};

struct copying { /* one thread's */
    struct copier *c;
    char *block;
    struct sha256 sha;
};

int pack_alive(const struct pack *p, struct err *err)
{
    if (p->r->stop && *p->r->stop)
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_INTERRUPTED), "interrupted by signal %d", *p->r->stop);
    if (time_mono_ms() > p->deadline_ms)
        return err_fail(err, ERR_TIMEOUT, BECAUSE(CODE_TIME_PASSED, {"option", "--timeout-s"}),
                        "the collection took longer than --timeout-s=%" PRIu64, p->r->timeout_s);
    return 0;
}

/* ---- one at a time: opening and admitting ---- */

static int make_dirs(int root, const char *path, struct buf *made, struct err *err)
{
    const char *last = strrchr(path, '/');
    size_t n = (size_t)(last - path);
    if (buf_is(made, path, n))
        return 0;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        buf_reset(made);
        buf_add(made, path, (size_t)(slash - path));
        if (mkdirat(root, buf_str(made), 0777) != 0 && errno != EEXIST) {
            err_sys(err, "cannot make the directory '%s' of the bundle", made->p);
            buf_reset(made);
            return -1;
        }
    }
    return 0;
}

static size_t digits(uint64_t v)
{
    size_t n = 1;
    while (v > 9) {
        v /= 10;
        n++;
    }
    return n;
}

/* What an item's entries take of the manifest, as bundle_manifest_put writes them. */
static size_t listing_cost(const struct pack_item *it, uint64_t size)
{
    static const char artifact[] = "{'path':'','role':'','bytes':'','sha256':''},",
                      captured[] = "{'operator':'','subtask':'','epoch':'','path':''},";
    size_t path = strlen(it->dest),
           n = sizeof artifact + path + strlen(bundle_role_name(it->role)) + digits(size) + SHA256_HEX;
    const struct bundle_captured *c = &it->captured;
    return c->operator_id ? n + sizeof captured + strlen(c->operator_id) + digits(c->subtask) + digits(c->epoch) + path
                          : n;
}

/* What an item may come to: a credential taken out can be shorter than what stands in its place. */
static uint64_t charged(const struct pack_item *it, const struct stat *st)
{
    uint64_t size = (uint64_t)st->st_size;
    return it->role == ROLE_OPERATOR && size <= OPERATOR_MAX ? 4 * size + 64 : size;
}

static const char *past_a_bound(const struct copier *c, const struct pack_item *it, uint64_t size, size_t *cost,
                                enum pack_out *kind)
{
    const struct pack_request *r = c->p->r;
    *cost = listing_cost(it, size);
    *kind = c->files + 1 > r->max_files ? OUT_FILES : size > r->max_bytes - c->bytes ? OUT_BYTES : OUT_MANIFEST;
    if (*kind == OUT_FILES)
        return "past --max-files";
    if (*kind == OUT_BYTES)
        return "past --max-bytes";
    return c->listing + *cost > BUNDLE_MANIFEST_MAX - MANIFEST_OTHER ? "past the 16 MiB that a manifest may have"
                                                                     : NULL;
}

/* The descriptor of an item that is to be copied; -1 with err->kind 0 where it is left out, else refused. */
static int admit(struct copier *c, const struct pack_item *it, struct stat *st, struct err *err)
{
    struct err why = ERR_INIT;
    enum pack_out kind;
    int fd = open_beneath(it->root, it->rel, O_RDONLY | O_NONBLOCK, &why);
    if (fd < 0 && why.kind == ERR_MISSING && !it->listed && !it->required) {
        pack_absent(c->p, it->dest, "not on disk: retention removed it, or it was never written");
        return -1;
    }
    if (fd < 0) {
        *err = why;
        if (why.kind == ERR_MISSING && it->listed)
            err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' disappeared before it was copied", it->rel);
        else if (why.kind == ERR_MISSING)
            err_cause(err, BECAUSE(CODE_PARTICIPANT_MISSING));
        return err_prefix(err, "%s", bundle_role_name(it->role));
    }
    size_t cost = 0;
    const char *bound = NULL;
    int64_t size = fstat(fd, st) == 0 ? (int64_t)st->st_size : -1;
    if (size >= 0 && it->grows && S_ISREG(st->st_mode))
        st->st_size = (off_t)it->upto;
    if (size < 0)
        err_sys(err, "cannot look at '%s'", it->rel);
    else if (!S_ISREG(st->st_mode))
        err_set(err, ERR_REFUSED, "'%s' is no regular file but a %s", it->rel, walk_kind(st->st_mode));
    else if (size < st->st_size)
        err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' became shorter", it->rel);
    else if ((bound = past_a_bound(c, it, charged(it, st), &cost, &kind)) && it->required)
        err_fail(err, ERR_BOUND, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-bytes or --max-files"}),
                 "'%s', which the selected checkpoint needs, is %s", it->rel, bound);
    else if (bound)
        pack_excluded(c->p, it->dest, kind, bound);
    else if (make_dirs(c->p->out, it->dest, &c->made, err) == 0) {
        c->files++;
        c->bytes += charged(it, st);
        c->listing += cost;
        return fd;
    }
    close(fd);
    return -1;
}

static void failed(struct copier *c, size_t i, const struct err *err)
{
    pthread_mutex_lock(&c->lock);
    if (i < c->failed_at) {
        c->failed_at = i;
        c->err = *err;
    }
    pthread_mutex_unlock(&c->lock);
}

/* The next item to copy with its descriptor; false at the end, or once one failed. */
static bool next_item(struct copier *c, size_t *i, int *fd, struct stat *st)
{
    struct err err = ERR_INIT;
    bool have = false;
    pthread_mutex_lock(&c->lock);
    while (!have && c->failed_at == c->p->n_items && c->next < c->p->n_items) {
        *i = c->next++;
        *fd = -1;
        if (pack_alive(c->p, &err) == 0)
            *fd = admit(c, &c->p->items[*i], st, &err);
        if (err.kind) {
            c->failed_at = *i;
            c->err = err;
        } else {
            have = *fd >= 0;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return have;
}

/* ---- side by side: copying ---- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The file must be as it was when it was opened, and still have a name. */
static int unchanged(const struct pack_item *it, int fd, const struct stat *before, struct err *err)
{
    struct stat now;
    if (fstat(fd, &now) != 0 || (!it->grows && !same_file(before, &now)))
        return err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' changed while it was copied", it->rel);
    if (now.st_nlink == 0)
        return err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' disappeared while it was copied",
                        it->rel);
    return 0;
}

/* Reads no further than the file was long: one that grows as fast as it is read would never end. */
static int copy_bytes(struct copying *w, const struct pack_item *it, int from, int to, uint64_t size, uint64_t *bytes,
                      struct err *err)
{
    *bytes = 0;
    for (;;) {
        if (pack_alive(w->c->p, err) != 0)
            return -1;
        ssize_t n = read(from, w->block, it->grows && size - *bytes < BLOCK ? size - *bytes : BLOCK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(err, "cannot read '%s'", it->rel);
        *bytes += (uint64_t)n;
        if ((n == 0 && *bytes < size) || *bytes > size)
            return err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' changed while it was copied",
                            it->rel);
        if (n == 0)
            return 0;
        sha256_add(&w->sha, w->block, (size_t)n);
        if (fd_write_all(to, w->block, (size_t)n, it->dest, err) != 0)
            return -1;
    }
}

/* An operator's description goes without its credentials, whoever wrote it: what is put is made here. */
static int copy_operator(struct copying *w, const struct pack_item *it, int from, int to, const struct stat *st,
                         uint64_t *bytes, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct buf text = BUF_INIT, out = BUF_INIT;
    const struct json *doc = NULL;
    int rc = file_read_fd(from, it->rel, OPERATOR_MAX, &text, err);
    if (rc == 0 && text.len != (uint64_t)st->st_size)
        rc = err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' changed while it was copied", it->rel);
    if (rc == 0 && !(doc = json_parse_named(text.p ? text.p : "", text.len, &a, it->rel, err)))
        rc = err_prefix(err, "no credential can be taken out of what is no JSON");
    if (rc == 0) {
        redact_operators(&out, doc);
        buf_addc(&out, '\n');
        sha256_add(&w->sha, out.p, out.len);
        *bytes = out.len;
        rc = fd_write_all(to, out.p, out.len, it->dest, err);
    }
    arena_free(&a);
    buf_free(&text);
    buf_free(&out);
    return rc;
}

static int copy_one(struct copying *w, size_t i, int from, const struct stat *st, struct err *err)
{
    struct copier *c = w->c;
    const struct pack_item *it = &c->p->items[i];
    struct bundle_artifact *out = &c->done[i];
    int to = openat(c->p->out, it->dest, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (to < 0)
        return err_sys(err, "cannot create '%s' of the bundle", it->dest);
    int rc = it->role == ROLE_OPERATOR ? copy_operator(w, it, from, to, st, &out->bytes, err)
                                       : copy_bytes(w, it, from, to, (uint64_t)st->st_size, &out->bytes, err);
    /* The disk begins while the rest is copied; that all of it is there is asked once, at the end. */
    if (rc == 0 && out->bytes >= EARLY)
        sync_file_range(to, 0, 0, SYNC_FILE_RANGE_WRITE);
    if (close(to) != 0 && rc == 0)
        rc = err_sys(err, "cannot write '%s' of the bundle", it->dest);
    sha256_take(&w->sha, c->sha[i]);
    if (rc == 0)
        rc = unchanged(it, from, st, err);
    if (rc == 0 && it->sha256 && strcmp(it->sha256, c->sha[i]) != 0)
        rc = err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED), "'%s' changed while the bundle was collected",
                      it->rel);
    out->path = it->dest;
    out->role = it->role;
    out->sha256 = c->sha[i];
    c->p->seen[i] = *st;
    return rc;
}

static void *copy_some(void *arg)
{
    struct copying w = {.c = arg};
    struct err err = ERR_INIT;
    struct stat st;
    size_t i;
    int fd = -1;
    w.block = xmalloc(BLOCK);
    sha256_init(&w.sha);
    while (next_item(w.c, &i, &fd, &st)) {
        if (copy_one(&w, i, fd, &st, &err) != 0)
            failed(w.c, i, &err);
        close(fd);
    }
    sha256_free(&w.sha);
    free(w.block);
    return NULL;
}

static void copy_all(struct copier *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (size_t)cores, started = 0;
    pthread_t thread[THREADS_MAX];
    while (started + 1 < n && started + 1 < c->p->n_items && pthread_create(&thread[started], NULL, copy_some, c) == 0)
        started++;
    copy_some(c);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

/* ---- the whole ---- */

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

static int put_job_manifest(struct copier *c, struct err *err)
{
    static const char path[] = "job/manifest.json";
    struct pack *p = c->p;
    if (p->job_text.len == 0)
        return 0;
    if (p->job_text.len > p->r->max_bytes || p->r->max_files == 0)
        return err_fail(err, ERR_BOUND, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-bytes or --max-files"}),
                        "'%s' is past a bound", path);
    if (make_dirs(p->out, path, &c->made, err) != 0)
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
                                                                  pack_kept(p, sha)};
    c->bytes += p->job_text.len;
    c->files++;
    return rc;
}

int pack_copy(struct pack *p, struct err *err)
{
    struct copier c = {.p = p, .lock = PTHREAD_MUTEX_INITIALIZER, .failed_at = p->n_items};
    p->m.artifacts = arena_alloc(&p->a, (p->n_items + 1) * sizeof *p->m.artifacts);
    p->m.captured = arena_alloc(&p->a, (p->n_items + 1) * sizeof *p->m.captured);
    c.done = arena_zalloc(&p->a, (p->n_items + 1) * sizeof *c.done);
    c.sha = arena_alloc(&p->a, (p->n_items + 1) * sizeof *c.sha);
    p->seen = arena_zalloc(&p->a, (p->n_items + 1) * sizeof *p->seen);
    int rc = put_job_manifest(&c, err);
    if (rc == 0)
        copy_all(&c);
    if (rc == 0 && c.err.kind) {
        *err = c.err;
        rc = -1;
    }
    for (size_t i = 0; rc == 0 && i < p->n_items; i++)
        if (c.done[i].path)
            record(p, &p->items[i], &c.done[i]);
    pack_excluded_rest(p);
    buf_free(&c.made);
    pthread_mutex_destroy(&c.lock);
    return rc;
}

/* A trace may have grown since, and retention may have removed what nothing needs. */
int pack_still_there(const struct pack *p, struct err *err)
{
    struct stat now;
    for (size_t i = 0; i < p->n_items; i++) {
        const struct pack_item *it = &p->items[i];
        struct err why = ERR_INIT;
        if (p->seen[i].st_nlink == 0 || it->role == ROLE_TRACE)
            continue;
        if (pack_alive(p, err) != 0)
            return -1;
        int fd = open_beneath(it->root, it->rel, O_PATH | O_NOFOLLOW, &why);
        bool same = fd >= 0 && fstat(fd, &now) == 0 && same_file(&p->seen[i], &now);
        if (fd >= 0)
            close(fd);
        if (!same && (it->required || why.kind != ERR_MISSING))
            return err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED),
                            "'%s' is not the file that was copied any more; collect again, or stop the job first",
                            it->rel);
    }
    return 0;
}
