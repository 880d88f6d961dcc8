/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of a bundle as check lines. */
#include "bundle/say.h"

#include <stdlib.h>
#include <string.h>

int bundle_is(const struct bundle *b, const struct stream_bundle *said, struct err *err)
{
    if (strcmp(b->sha256, said->manifest_sha256) != 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_BUNDLE_OTHER),
                        "bundle '%s': its manifest is %s, the stream's bundle line says %s", b->path, b->sha256,
                        said->manifest_sha256);
    if (strcmp(b->m.job, said->job) != 0)
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_BUNDLE_OTHER),
                        "bundle '%s': job '%s', the stream's bundle line says '%s'", b->path, b->m.job, said->job);
    return 0;
}

enum status bundle_put_finding(struct stream_out *out, enum check_name name, struct bundle_finding *f)
{
    return bundle_put_counted(out, name, f, NULL);
}

enum status bundle_put_counted(struct stream_out *out, enum check_name name, struct bundle_finding *f,
                               const char *counts)
{
    const struct {
        const struct bundle_faults *why;
        enum status status;
    } by_weight[] = {
        {&f->failed, STATUS_FAILED}, {&f->unavailable, STATUS_UNAVAILABLE}, {&f->unsupported, STATUS_UNSUPPORTED}};
    struct buf reason = BUF_INIT;
    size_t i = 0, n = sizeof by_weight / sizeof *by_weight;
    while (i < n && by_weight[i].why->total == 0)
        i++;
    bundle_faults_text(i < n ? by_weight[i].why : &f->notes, &reason);
    enum status status = i < n ? by_weight[i].status : STATUS_PASSED;
    if (i == n)
        stream_put_check(out, name, status, NULL, reason.p, f->used.text, counts);
    else
        stream_put_check(out, name, status, &by_weight[i].why->cause, reason.p, by_weight[i].why->path, counts);
    buf_free(&reason);
    bundle_finding_free(f);
    return status;
}

/* Missing, changed and unlisted files are each named up to a bound of their own, and counted. */
static void put_artifacts(struct stream_out *out, const struct bundle_verified *v)
{
    const struct bundle_faults *kinds[] = {&v->missing, &v->changed, &v->unlisted};
    const char *const self[] = {"manifest.json", NULL};
    struct buf counts = BUF_INIT, reason = BUF_INIT;
    const char **paths = xmalloc((3 * BUNDLE_FAULTS_KEPT + 1) * sizeof *paths);
    size_t n = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k]->total > 0 && reason.len > 0)
            buf_adds(&reason, "; ");
        bundle_faults_text(kinds[k], &reason);
        for (size_t i = 0; i < kinds[k]->n; i++)
            paths[n++] = kinds[k]->path[i];
    }
    paths[n] = NULL;
    bool whole = n == 0;
    const struct cause *cause = &(v->changed.total   ? &v->changed
                                  : v->missing.total ? &v->missing
                                                     : &v->unlisted)
                                     ->cause;
    if (v->ignored.total > 0) {
        buf_printf(&reason, "%snot evidence and left out: ", whole ? "" : "; ");
        bundle_faults_text(&v->ignored, &reason);
    }
    buf_printf(&counts,
               "{\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"missing\":%" PRIu64 ",\"changed\":%" PRIu64
               ",\"unlisted\":%" PRIu64 ",\"ignored\":%" PRIu64 "}",
               v->files, v->bytes, v->missing.total, v->changed.total, v->unlisted.total, v->ignored.total);
    stream_put_check(out, CHECK_BUNDLE_ARTIFACTS, whole ? STATUS_PASSED : STATUS_FAILED, cause,
                     reason.len ? buf_str(&reason) : "", whole ? self : paths, counts.p);
    free(paths);
    buf_free(&reason);
    buf_free(&counts);
}

static enum status put_files(struct stream_out *out, struct bundle *b, bool keep, const volatile int *stop,
                             struct err *err)
{
    struct bundle_verified v;
    enum status status = STATUS_UNAVAILABLE;
    if (bundle_verify(b, keep, &v, stop, err) != 0) {
        struct cause cause = code_of_err(err, CODE_INTERRUPTED);
        stream_put_check(out, CHECK_BUNDLE_ARTIFACTS, status, &cause, err->text, NULL, NULL);
    } else {
        put_artifacts(out, &v);
        status = v.missing.total || v.changed.total || v.unlisted.total ? STATUS_FAILED : STATUS_PASSED;
    }
    bundle_verified_free(&v);
    return status;
}

void bundle_not_passed(enum check_name name, enum status status, struct buf *list)
{
    if (status != STATUS_PASSED)
        buf_printf(list, "%s%s %s", list->len ? ", " : "", check_name_text(name), status_name(status));
}

enum status bundle_put_integrity(struct stream_out *out, struct bundle *b, bool keep, const volatile int *stop,
                                 struct buf *not_passed, struct err *err)
{
    struct bundle_finding f;
    bundle_finding_init(&f);
    bundle_check_manifest(b, &f);
    bundle_not_passed(CHECK_BUNDLE_MANIFEST, bundle_put_finding(out, CHECK_BUNDLE_MANIFEST, &f), not_passed);
    enum status files = put_files(out, b, keep, stop, err);
    bundle_not_passed(CHECK_BUNDLE_ARTIFACTS, files, not_passed);
    bundle_finding_init(&f);
    bundle_check_completeness(b, &f);
    bundle_not_passed(CHECK_BUNDLE_COMPLETENESS, bundle_put_finding(out, CHECK_BUNDLE_COMPLETENESS, &f), not_passed);
    return files;
}
