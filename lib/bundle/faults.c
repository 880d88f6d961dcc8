/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a bundle, all found in one run and kept up to a bound. */
#include "bundle/bundle.h"

#include <stdlib.h>
#include <string.h>

static void add(struct bundle_faults *f, const char *path, const char *fmt, va_list ap)
{
    f->total++;
    if (f->n == BUNDLE_FAULTS_KEPT)
        return;
    if (!f->text) {
        f->text = arena_alloc(&f->arena, (BUNDLE_FAULTS_KEPT + 1) * sizeof *f->text);
        f->path = arena_alloc(&f->arena, (BUNDLE_FAULTS_KEPT + 1) * sizeof *f->path);
    }
    struct buf text = BUF_INIT;
    buf_vprintf(&text, fmt, ap);
    f->text[f->n] = arena_strndup(&f->arena, text.p, text.len);
    f->path[f->n++] = arena_strndup(&f->arena, path, strlen(path));
    f->text[f->n] = f->path[f->n] = NULL;
    buf_free(&text);
}

void bundle_fault(struct bundle_faults *f, const struct cause *cause, const char *path, const char *fmt, ...)
{
    if (f->total == 0)
        f->cause = *cause;
    va_list ap;
    va_start(ap, fmt);
    add(f, path, fmt, ap);
    va_end(ap);
}

void bundle_remark(struct bundle_faults *f, const char *path, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add(f, path, fmt, ap);
    va_end(ap);
}

void bundle_fault_err(struct bundle_faults *f, enum code code, const char *path, const struct err *err)
{
    bundle_fault(f, err->cause.code != CODE_NONE ? &err->cause : BECAUSE(code), path, "%s", err->text);
}

void bundle_faults_text(const struct bundle_faults *f, struct buf *out)
{
    for (size_t i = 0; i < f->n; i++) {
        if (i > 0)
            buf_adds(out, "; ");
        buf_adds(out, f->text[i]);
    }
    if (f->total > f->n)
        buf_printf(out, "; and %" PRIu64 " more", f->total - f->n);
    buf_str(out);
}

void bundle_faults_free(struct bundle_faults *f)
{
    arena_free(&f->arena);
    *f = (struct bundle_faults)BUNDLE_FAULTS_INIT;
}

void bundle_finding_init(struct bundle_finding *f)
{
    *f = (struct bundle_finding){.failed = BUNDLE_FAULTS_INIT};
}

void bundle_used(struct bundle_finding *f, const char *path)
{
    bundle_remark(&f->used, path, "%s", path);
}

void bundle_finding_free(struct bundle_finding *f)
{
    bundle_faults_free(&f->failed);
    bundle_faults_free(&f->unavailable);
    bundle_faults_free(&f->unsupported);
    bundle_faults_free(&f->notes);
    bundle_faults_free(&f->used);
}
