/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.artifacts: every listed file read and hashed once, on every core, and a
 * walk of the evidence directories for what is not listed. Every fault is found
 * in one run, and faults come in the manifest's order whatever thread met them.
 */
#include "bundle/bundle.h"
#include "base/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 64
#define CHUNK ((size_t)256 << 10)
/* Files of this size and more are begun first, so that no core is left with one of them at the end. */
#define LARGE ((uint64_t)1 << 20)
/* What is kept for the checks behind: files up to KEEP_FILE, KEEP_ALL together. */
#define KEEP_FILE ((uint64_t)1 << 20)
#define KEEP_ALL ((uint64_t)64 << 20)

struct work {
    struct bundle *b;
    const volatile int *stop;
    bool keep;
    size_t *order; /* artifacts as they are taken */
    atomic_size_t next;
    char **fault;  /* by artifact; NULL: none. malloc'd */
    bool *missing; /* by artifact: what the fault is */
    _Atomic uint64_t bytes, kept;
};

/* One thread's own. */
struct hasher {
    struct work *w;
    struct sha256 sha;
    unsigned char *chunk;
};

static bool stopped(const struct work *w)
{
    return w->stop && *w->stop;
}

/* ---- one file ---- */

static bool is_read_behind(enum bundle_role r)
{
    return r == ROLE_MARKER || r == ROLE_RESTORED || r == ROLE_SIDECAR || r == ROLE_SNAPSHOT ||
           r == ROLE_INTERVAL_STATE || r == ROLE_RUN_START || r == ROLE_CHANGELOG || r == ROLE_MATERIALIZATION;
}

/* Memory to keep the file in, with room for one byte more than listed, or NULL. */
static char *room_for(struct work *w, const struct bundle_artifact *a)
{
    if (!w->keep || !is_read_behind(a->role) || a->bytes > KEEP_FILE ||
        atomic_fetch_add(&w->kept, a->bytes) + a->bytes > KEEP_ALL)
        return NULL;
    return xmalloc((size_t)a->bytes + 1);
}

/* A file that was unlinked or replaced while it was read is no longer the bundle's. */
static bool same_moment(const struct stat *x, const struct stat *y)
{
    return y->st_nlink > 0 && x->st_size == y->st_size && x->st_mtim.tv_sec == y->st_mtim.tv_sec &&
           x->st_mtim.tv_nsec == y->st_mtim.tv_nsec;
}

static void hash_content(struct hasher *h, int fd, size_t i, const struct stat *before, struct buf *text)
{
    struct bundle *b = h->w->b;
    const struct bundle_artifact *a = &b->m.artifacts[i];
    char sha[SHA256_HEX + 1], *kept = room_for(h->w, a);
    struct stat after;
    uint64_t total = 0;
    ssize_t n = 0;
    while (!stopped(h->w)) {
        unsigned char *at = kept ? (unsigned char *)kept + total : h->chunk;
        n = read(fd, at, kept ? (size_t)(a->bytes + 1 - total) : CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        sha256_add(&h->sha, at, (size_t)n);
        total += (uint64_t)n;
        if (total > a->bytes)
            break;
    }
    int saved = errno;
    sha256_take(&h->sha, sha);
    atomic_fetch_add(&h->w->bytes, total);
    if (n < 0)
        buf_printf(text, "cannot be read: '%s': %s", a->path, strerror(saved));
    else if (fstat(fd, &after) != 0 || !same_moment(before, &after) || total != a->bytes)
        buf_printf(text, "changed while it was read: '%s'", a->path);
    else if (strcmp(sha, a->sha256) != 0)
        buf_printf(text, "another SHA-256: '%s'", a->path);
    if (kept && text->len == 0 && !stopped(h->w))
        b->kept[i] = kept;
    else
        free(kept);
}

static void hash_one(struct hasher *h, size_t i)
{
    struct work *w = h->w;
    const struct bundle_artifact *a = &w->b->m.artifacts[i];
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct stat st;
    int fd = open_beneath(w->b->fd, a->path, O_RDONLY | O_NONBLOCK, &err);
    w->missing[i] = fd < 0 && err.kind == ERR_MISSING;
    if (w->missing[i])
        buf_printf(&text, "missing: '%s'", a->path);
    else if (fd < 0)
        buf_printf(&text, "%s", err.text);
    else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        buf_printf(&text, "no regular file: '%s' (%s)", a->path, walk_kind(st.st_mode));
    else if ((uint64_t)st.st_size != a->bytes)
        buf_printf(&text, "%s: '%s': expected %" PRIu64 " bytes, got %" PRIu64,
                   (uint64_t)st.st_size < a->bytes ? "truncated" : "longer", a->path, a->bytes, st.st_size);
    else
        hash_content(h, fd, i, &st, &text);
    if (fd >= 0)
        close(fd);
    if (text.len > 0) {
        buf_str(&text);
        w->fault[i] = text.p;
    }
}

/* ---- all of them ---- */

static void *hash_some(void *arg)
{
    struct hasher h = {.w = arg, .chunk = xmalloc(CHUNK)};
    sha256_init(&h.sha);
    size_t i;
    while (!stopped(h.w) && (i = atomic_fetch_add(&h.w->next, 1)) < h.w->b->m.n_artifacts)
        hash_one(&h, h.w->order[i]);
    sha256_free(&h.sha);
    free(h.chunk);
    return NULL;
}

static int by_size(const void *x, const void *y, void *artifacts)
{
    const struct bundle_artifact *all = artifacts, *a = &all[*(const size_t *)x], *b = &all[*(const size_t *)y];
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : a < b ? -1 : a > b;
}

/* Large files first, the largest before the others; the small ones as they lie in their directories. */
static size_t *order_of(const struct bundle_manifest *m)
{
    size_t *order = xmalloc((m->n_artifacts + 1) * sizeof *order), n = 0;
    for (size_t i = 0; i < m->n_artifacts; i++)
        if (m->artifacts[i].bytes >= LARGE)
            order[n++] = i;
    if (n > 1)
        qsort_r(order, n, sizeof *order, by_size, m->artifacts);
    for (size_t i = 0; i < m->n_artifacts; i++)
        if (m->artifacts[i].bytes < LARGE)
            order[n++] = i;
    return order;
}

/* For a handful of small files, starting threads costs more than they save. */
static size_t threads_for(const struct bundle_manifest *m)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (size_t)cores, useful;
    uint64_t mib = 0;
    for (size_t i = 0; i < m->n_artifacts && mib < THREADS_MAX; i++)
        mib += m->artifacts[i].bytes >> 20;
    useful = m->n_artifacts / 64 + (size_t)mib + 1;
    return n < useful ? n : useful;
}

static const char *const roots[] = {"capture", "checkpoint", "job", "traces"};

struct look {
    const struct bundle *b;
    struct bundle_verified *out;
};

static void on_entry(void *ctx, const char *path, const char *name, mode_t mode, int trouble)
{
    struct look *l = ctx;
    bool listed = bundle_find(&l->b->m, path) != NULL;
    if (trouble)
        bundle_fault(&l->out->unlisted, BECAUSE(CODE_ARTIFACT_UNLISTED), path, "cannot be listed in full: '%s': %s",
                     path, walk_trouble(trouble));
    else if (S_ISDIR(mode) || listed) /* a listed path that is no file is the reading thread's to say */
        return;
    else if (S_ISREG(mode) && (strcmp(name, ".DS_Store") == 0 || strncmp(name, "._", 2) == 0))
        bundle_remark(&l->out->ignored, path, "%s", path);
    else if (!S_ISREG(mode))
        bundle_fault(&l->out->unlisted, BECAUSE(CODE_ARTIFACT_UNLISTED), path, "no regular file: '%s' (%s)", path,
                     walk_kind(mode));
    else
        bundle_fault(&l->out->unlisted, BECAUSE(CODE_ARTIFACT_UNLISTED), path, "unlisted: '%s'", path);
}

/* What lies beside the manifest is nobody's evidence, and is named, so that no one takes it for some. */
static void on_root(void *ctx, const char *path, const char *name, mode_t mode, int trouble)
{
    struct look *l = ctx;
    bool own = strcmp(name, "manifest.json") == 0;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        own = own || strcmp(name, roots[i]) == 0;
    if (trouble)
        bundle_fault(&l->out->unlisted, BECAUSE(CODE_ARTIFACT_UNLISTED), "manifest.json",
                     "cannot be listed in full: '%s' of the bundle's root: %s", path, walk_trouble(trouble));
    else if (!own)
        bundle_remark(&l->out->ignored, path, "%s%s%s%s", path, S_ISREG(mode) ? "" : " (",
                      S_ISREG(mode) ? "" : walk_kind(mode), S_ISREG(mode) ? "" : ")");
}

/* The walk needs one thread, which then helps the others. */
static void run(struct work *w, struct bundle_verified *out)
{
    size_t n = threads_for(&w->b->m), started = 0;
    pthread_t thread[THREADS_MAX];
    struct look l = {w->b, out};
    while (started + 1 < n && pthread_create(&thread[started], NULL, hash_some, w) == 0)
        started++;
    walk_root(w->b->fd, on_root, &l);
    for (size_t i = 0; i < sizeof roots / sizeof *roots && !stopped(w); i++)
        walk(w->b->fd, roots[i], on_entry, &l);
    hash_some(w);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

int bundle_verify(struct bundle *b, bool keep, struct bundle_verified *out, const volatile int *stop, struct err *err)
{
    size_t n = b->m.n_artifacts;
    *out = (struct bundle_verified){.missing = BUNDLE_FAULTS_INIT,
                                    .changed = BUNDLE_FAULTS_INIT,
                                    .unlisted = BUNDLE_FAULTS_INIT,
                                    .ignored = BUNDLE_FAULTS_INIT};
    struct work w = {.b = b,
                     .stop = stop,
                     .keep = keep,
                     .order = order_of(&b->m),
                     .fault = xcalloc(n + 1, sizeof *w.fault),
                     .missing = xcalloc(n + 1, sizeof *w.missing)};
    if (keep && !b->kept)
        b->kept = xcalloc(n + 1, sizeof *b->kept);
    run(&w, out);
    for (size_t i = 0; i < n; i++) {
        if (w.fault[i])
            bundle_fault(w.missing[i] ? &out->missing : &out->changed,
                         BECAUSE(w.missing[i] ? CODE_ARTIFACT_MISSING : CODE_ARTIFACT_CHANGED), b->m.artifacts[i].path,
                         "%s", w.fault[i]);
        free(w.fault[i]);
    }
    out->files = n;
    out->bytes = atomic_load(&w.bytes);
    free(w.order);
    free(w.fault);
    free(w.missing);
    return stop && *stop ? err_set(err, ERR_TROUBLE, "interrupted before every file was checked") : 0;
}

void bundle_verified_free(struct bundle_verified *v)
{
    bundle_faults_free(&v->missing);
    bundle_faults_free(&v->changed);
    bundle_faults_free(&v->unlisted);
    bundle_faults_free(&v->ignored);
}
