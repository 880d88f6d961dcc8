/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.artifacts: every listed file hashed once, on every core, and a walk of
 * the evidence directories for what is not listed. Every fault is found in one
 * run, and faults come in the manifest's order whatever thread met them.
 */
#include "bundle/bundle.h"
#include "bundle/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_MAX 64

struct work {
    const struct bundle *b;
    const volatile int *stop;
    atomic_size_t next;
    char **fault;          /* by artifact; NULL: none. malloc'd */
    _Atomic uint64_t bytes;
};

static char *hash_one(struct work *w, const struct bundle_artifact *a)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    char sha[SHA256_HEX + 1];
    uint64_t bytes = 0;
    struct stat st;
    int fd = open_beneath(w->b->fd, a->path, O_RDONLY | O_NONBLOCK, &err);
    if (fd < 0 && err.kind == ERR_MISSING)
        buf_printf(&text, "missing: '%s'", a->path);
    else if (fd < 0)
        buf_printf(&text, "%s", err.text);
    else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        buf_printf(&text, "no regular file: '%s' (%s)", a->path, walk_kind(st.st_mode));
    else if ((uint64_t)st.st_size != a->bytes)
        buf_printf(&text, "%s: '%s': expected %ju bytes, got %ju", (uint64_t)st.st_size < a->bytes ? "truncated" : "longer", a->path,
                   (uintmax_t)a->bytes, (uintmax_t)st.st_size);
    else if (sha256_fd(fd, a->path, sha, &bytes, &err) != 0)
        buf_printf(&text, "%s", err.text);
    else if (bytes != a->bytes)
        buf_printf(&text, "changed while it was read: '%s'", a->path);
    else if (strcmp(sha, a->sha256) != 0)
        buf_printf(&text, "another SHA-256: '%s'", a->path);
    if (fd >= 0)
        close(fd);
    atomic_fetch_add(&w->bytes, bytes);
    if (text.len == 0)
        return NULL;
    buf_str(&text);
    return text.p;
}

static void *hash_some(void *arg)
{
    struct work *w = arg;
    const struct bundle_manifest *m = &w->b->m;
    for (;;) {
        size_t i = atomic_fetch_add(&w->next, 1);
        if (i >= m->n_artifacts || (w->stop && *w->stop))
            return NULL;
        w->fault[i] = hash_one(w, &m->artifacts[i]);
    }
}

static void hash_all(struct work *w)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (size_t)cores, started = 0;
    pthread_t thread[THREADS_MAX];
    /* For a handful of small files starting threads costs more than they save. */
    if (n > w->b->m.n_artifacts / 16 + 1)
        n = w->b->m.n_artifacts / 16 + 1;
    while (started + 1 < n && pthread_create(&thread[started], NULL, hash_some, w) == 0)
        started++;
    hash_some(w);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

struct look {
    const struct bundle *b;
    struct bundle_verified *out;
};

static void on_entry(void *ctx, const char *path, const char *name, mode_t mode, const char *trouble)
{
    struct look *l = ctx;
    if (trouble)
        bundle_fault(&l->out->faults, path, "cannot be listed in full: '%s': %s", path, trouble);
    else if (S_ISDIR(mode))
        return;
    else if (S_ISREG(mode) && (strcmp(name, ".DS_Store") == 0 || strncmp(name, "._", 2) == 0) && !bundle_find(&l->b->m, path))
        bundle_fault(&l->out->ignored, path, "%s", path);
    else if (!S_ISREG(mode))
        bundle_fault(&l->out->faults, path, "no regular file: '%s' (%s)", path, walk_kind(mode));
    else if (!bundle_find(&l->b->m, path))
        bundle_fault(&l->out->faults, path, "unlisted: '%s'", path);
}

int bundle_verify(const struct bundle *b, struct bundle_verified *out, const volatile int *stop, struct err *err)
{
    static const char *const roots[] = {"capture", "checkpoint", "job", "traces"};
    *out = (struct bundle_verified){.faults = BUNDLE_FAULTS_INIT, .ignored = BUNDLE_FAULTS_INIT};
    struct work w = {.b = b, .stop = stop, .fault = xcalloc(b->m.n_artifacts + 1, sizeof *w.fault)};
    hash_all(&w);
    for (size_t i = 0; i < b->m.n_artifacts; i++) {
        if (w.fault[i])
            bundle_fault(&out->faults, b->m.artifacts[i].path, "%s", w.fault[i]);
        free(w.fault[i]);
    }
    free(w.fault);
    out->files = b->m.n_artifacts;
    out->bytes = atomic_load(&w.bytes);
    struct look l = {b, out};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        walk(b->fd, roots[i], on_entry, &l);
    if (stop && *stop)
        return err_set(err, ERR_TROUBLE, "interrupted while the bundle was checked");
    return 0;
}

void bundle_verified_free(struct bundle_verified *v)
{
    bundle_faults_free(&v->faults);
    bundle_faults_free(&v->ignored);
}
