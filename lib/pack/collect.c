/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collection from end to end: in a temporary directory beside --out, between
 * two looks at the markers, published by one rename. Whatever goes wrong, the
 * temporary directory goes too.
 */
#include "pack/internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int open_dir(const char *path, const char *option, int *fd, struct err *err)
{
    *fd = -1;
    if (!path)
        return 0;
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? err_sys(err, "cannot open %s '%s'", option, path) : 0;
}

static bool same_ids(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

/* A checkpoint that completed or a restart that was recorded in the meantime: the copies are not of one moment. */
static int markers_unchanged(struct pack *p, struct err *err)
{
    struct markers now;
    const struct markers *was = &p->markers;
    if (markers_scan(p->ckpt, p->r->job, &p->a, &now, err) != 0)
        return -1;
    if (!same_ids(was->completed, was->n_completed, now.completed, now.n_completed) ||
        !same_ids(was->confirmed, was->n_confirmed, now.confirmed, now.n_confirmed))
        return err_fail(
            err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED),
            "the job's markers changed while the bundle was collected; collect again, or stop the job first");
    if (was->has_restored != now.has_restored ||
        (now.has_restored &&
         (was->restored.checkpoint != now.restored.checkpoint || was->restored.next != now.restored.next)))
        return err_fail(err, ERR_CHANGED, BECAUSE(CODE_EVIDENCE_MOVED),
                        "a restart was recorded while the bundle was collected; collect again, or stop the job first");
    return 0;
}

/* What is missing because the job went on, as retention removes the state of a checkpoint that is no more the newest,
 * is a change: collecting again helps. */
static int missing_or_changed(struct pack *p, struct err *err)
{
    struct err why = ERR_INIT;
    if (err->kind == ERR_MISSING && markers_unchanged(p, &why) != 0 && why.kind == ERR_CHANGED)
        *err = why;
    return -1;
}

static int put_manifest(struct pack *p, struct pack_result *out, struct err *err)
{
    struct buf text = BUF_INIT;
    struct bundle_manifest again;
    bundle_manifest_sort(&p->m);
    bundle_manifest_put(&text, &p->m);
    sha256_of(text.p, text.len, out->sha256);
    /* What a reader would refuse (a trace's odd name) is refused here. */
    if (bundle_manifest_parse(text.p, text.len, &p->a, &again, err) != 0) {
        buf_free(&text);
        return err_prefix(err, "no reader would take this bundle");
    }
    int rc = 0, fd = openat(p->out, "manifest.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (text.len > BUNDLE_MANIFEST_MAX)
        rc = err_fail(err, ERR_BOUND, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-bytes or --max-files"}),
                      "the manifest would have %zu bytes, a reader takes %zu", text.len, BUNDLE_MANIFEST_MAX);
    else if (fd < 0)
        rc = err_sys(err, "cannot create the bundle's manifest.json");
    else
        rc = fd_write_all(fd, text.p, text.len, "manifest.json", err);
    if (rc == 0 && fsync(fd) != 0)
        rc = err_sys(err, "cannot sync the bundle's manifest.json");
    if (fd >= 0 && close(fd) != 0 && rc == 0)
        rc = err_sys(err, "cannot write the bundle's manifest.json");
    buf_free(&text);
    return rc;
}

static int fill(struct pack *p, struct pack_result *out, struct err *err)
{
    if (pack_choose(p, err) != 0 || pack_select(p, err) != 0 || pack_copy(p, err) != 0)
        return missing_or_changed(p, err);
    if (markers_unchanged(p, err) != 0 || pack_still_there(p, err) != 0 || put_manifest(p, out, err) != 0)
        return -1;
    out->checkpoint = p->m.checkpoint;
    out->files = p->m.n_artifacts;
    out->bytes = 0;
    for (size_t i = 0; i < p->m.n_artifacts; i++)
        out->bytes += p->m.artifacts[i].bytes;
    return pack_alive(p, err);
}

static int collect(struct pack *p, struct pack_result *out, struct err *err)
{
    struct pack_temp temp;
    static const char *const ours[] = {"checkpoint", "capture", "traces", "job", "manifest.json", NULL};
    int rc = pack_temp_make(&temp, p->r->out, ours, &out->note, err);
    p->out = temp.fd;
    if (rc == 0)
        rc = fill(p, out, err);
    if (rc == 0)
        rc = pack_temp_publish(&temp, err);
    bool published = rc == 0;
    if (published)
        rc = dir_sync(temp.parent.p, err);
    pack_temp_end(&temp, published);
    return rc;
}

int pack_collect(const struct pack_request *r, struct pack_result *out, struct err *err)
{
    struct pack p = {.r = r, .ckpt = -1, .capture = -1, .trace = -1, .state = -1, .out = -1};
    *out = (struct pack_result){.note = BUF_INIT};
    p.deadline_ms = time_mono_ms() + (int64_t)r->timeout_s * 1000;
    p.m.collector_name = r->collector;
    p.m.collector_version = OWED_VERSION;
    p.m.max_bytes = r->max_bytes;
    p.m.max_files = r->max_files;
    p.m.timeout_s = r->timeout_s;
    p.m.operators = r->operators;
    p.m.n_operators = r->n_operators;
    p.m.has_epochs = r->has_epochs;
    p.m.first_epoch = r->first_epoch;
    p.m.last_epoch = r->last_epoch;
    int rc = open_dir(r->checkpoint_dir, "--checkpoint-dir", &p.ckpt, err);
    if (rc == 0)
        rc = open_dir(r->include_captures ? r->capture_dir : NULL, "--capture-dir", &p.capture, err);
    if (rc == 0)
        rc = open_dir(r->trace_dir, "--trace-dir", &p.trace, err);
    if (rc == 0)
        rc = collect(&p, out, err);
    int fds[] = {p.ckpt, p.capture, p.trace, p.state == p.ckpt ? -1 : p.state};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    buf_free(&p.job_text);
    map_free(&p.materializations);
    arena_free(&p.a);
    return rc;
}
