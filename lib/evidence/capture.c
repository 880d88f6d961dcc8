/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder's writer: one operator subtask's input, an interval a
 * file. Lines are stored as they came, behind a header of a fixed size that is
 * written again in place once the counts are known. Recording never stops the
 * job: a failed write disarms the interval and is told at its end.
 */
#include "evidence/barrier.h"
#include "evidence/capture.h"
#include "evidence/places.h"
#include "json/json.h"
#include "evidence/fields.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 65536
/* One name for every interval and attempt: what a killed process left is written over by the next. */
#define TEMPORARY ".interval.cap.tmp"

void capture_open(struct capture_writer *w, const char *capture_dir, const char *job, const char *op, uint64_t subtask,
                  const char *attempt, uint64_t limit)
{
    *w = (struct capture_writer){.capture_dir = xstrdup(capture_dir),
                                 .job = xstrdup(job),
                                 .operator_id = xstrdup(op),
                                 .attempt = xstrdup(attempt),
                                 .subtask = subtask,
                                 .limit = limit ? limit : CAPTURE_RECORDS,
                                 .fd = -1};
}

static void path_in(const struct capture_writer *w, const char *name, struct buf *out)
{
    struct buf op = BUF_INIT;
    buf_reset(out);
    buf_printf(out, "%s/%s/%s", w->capture_dir, evidence_path_op(&op, w->operator_id, w->subtask), name);
    buf_str(out);
    buf_free(&op);
}

static void disarm(struct capture_writer *w)
{
    w->failed = true;
    w->block.len = 0;
    if (w->fd < 0)
        return;
    close(w->fd);
    w->fd = -1;
    struct buf tmp = BUF_INIT;
    path_in(w, TEMPORARY, &tmp);
    unlink(tmp.p);
    buf_free(&tmp);
}

static void header_put(const struct capture_writer *w, uint64_t epoch, struct buf *out)
{
    struct json_w j;
    jw_init(&j, out);
    jw_obj(&j, NULL);
    jw_str(&j, "format", "owed-capture");
    jw_u64(&j, "version", 1);
    jw_str(&j, "job", w->job);
    jw_str(&j, "operator", w->operator_id);
    jw_u64(&j, "subtask", w->subtask);
    jw_u64(&j, "epoch", epoch);
    jw_str(&j, "attempt", w->attempt);
    jw_u64(&j, "seen", w->seen);
    jw_u64(&j, "stored", w->stored);
    jw_u64(&j, "control", w->control);
    jw_bool(&j, "truncated", w->truncated);
    jw_end_obj(&j);
    out->len--;
    while (out->len < CAPTURE_HEADER - 2)
        buf_addc(out, ' ');
    buf_adds(out, "}\n");
}

static bool flush(struct capture_writer *w)
{
    if (fd_write_all(w->fd, w->block.p, w->block.len, "a capture", &w->failure) != 0) {
        disarm(w);
        return false;
    }
    w->block.len = 0;
    return true;
}

/* The interval's file, begun; false once the interval is disarmed. */
static bool begin(struct capture_writer *w)
{
    if (w->failed)
        return false;
    if (w->fd >= 0)
        return true;
    struct buf tmp = BUF_INIT;
    path_in(w, TEMPORARY, &tmp);
    if (make_parent(tmp.p, &w->failure) != 0)
        w->failed = true;
    else if ((w->fd = open(tmp.p, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)) < 0)
        err_sys(&w->failure, "cannot create '%s'", tmp.p);
    buf_free(&tmp);
    if (w->fd < 0) {
        w->failed = true;
        return false;
    }
    buf_reset(&w->block);
    header_put(w, 0, &w->block);
    return true;
}

static void store(struct capture_writer *w, const char *line, size_t n)
{
    buf_add(&w->block, line, n);
    buf_addc(&w->block, '\n');
    if (w->block.len >= BLOCK)
        flush(w);
}

void capture_data(struct capture_writer *w, const char *line, size_t n)
{
    w->seen++;
    if (w->stored >= w->limit) {
        w->truncated = true;
        return;
    }
    if (!begin(w))
        return;
    w->stored++;
    store(w, line, n);
}

void capture_control(struct capture_writer *w, const char *line, size_t n)
{
    if (w->control >= w->limit * CAPTURE_CONTROL_FACTOR) {
        w->truncated = true;
        return;
    }
    if (!begin(w))
        return;
    w->control++;
    store(w, line, n);
}

static int header_write(struct capture_writer *w, uint64_t epoch, struct err *err)
{
    struct buf head = BUF_INIT;
    header_put(w, epoch, &head);
    int rc = 0;
    if (head.len != CAPTURE_HEADER)
        rc = err_set(err, ERR_BOUND, "a capture's header does not fit %d bytes", CAPTURE_HEADER);
    else if (pwrite(w->fd, head.p, head.len, 0) != (ssize_t)head.len)
        rc = err_sys(err, "cannot write a capture's header");
    buf_free(&head);
    return rc;
}

static int publish(struct capture_writer *w, const char *name, char sha[SHA256_HEX + 1], uint64_t *bytes,
                   struct err *err)
{
    struct buf from = BUF_INIT, to = BUF_INIT, dir = BUF_INIT;
    path_in(w, TEMPORARY, &from);
    path_in(w, name, &to);
    buf_add(&dir, to.p, to.len - strlen(name) - 1);
    int rc = 0;
    if (fsync(w->fd) != 0)
        rc = err_sys(err, "cannot sync '%s'", from.p);
    else if (lseek(w->fd, 0, SEEK_SET) != 0)
        rc = err_sys(err, "cannot read '%s'", from.p);
    else
        rc = sha256_fd(w->fd, from.p, sha, bytes, err);
    if (rc == 0 && rename(from.p, to.p) != 0)
        rc = err_sys(err, "cannot publish '%s'", to.p);
    if (rc == 0)
        rc = dir_sync(buf_str(&dir), err);
    buf_free(&from);
    buf_free(&to);
    buf_free(&dir);
    return rc;
}

static void start_over(struct capture_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    w->seen = w->stored = w->control = 0;
    w->truncated = w->failed = false;
    w->block.len = 0;
}

static int finish(struct capture_writer *w, uint64_t epoch, const char *name, char sha[SHA256_HEX + 1], uint64_t *bytes,
                  struct err *err)
{
    bool armed = begin(w) && flush(w);
    if (armed && (header_write(w, epoch, &w->failure) != 0 || publish(w, name, sha, bytes, &w->failure) != 0)) {
        disarm(w);
        armed = false;
    }
    if (!armed && err)
        *err = w->failure;
    return armed ? 0 : -1;
}

int capture_end(struct capture_writer *w, uint64_t epoch, struct arena *a, struct left *entry, struct err *err)
{
    char name[64], sha[SHA256_HEX + 1];
    uint64_t bytes = 0;
    snprintf(name, sizeof name, "epoch-%" PRIu64 ".cap", epoch);
    int rc = finish(w, epoch, name, sha, &bytes, err);
    if (rc == 0 && entry) {
        struct buf rel = BUF_INIT;
        evidence_path_capture(&rel, w->operator_id, w->subtask, epoch);
        *entry = (struct left){.operator_id = arena_strndup(a, w->operator_id, strlen(w->operator_id)),
                               .subtask = w->subtask,
                               .kind = LEFT_CAPTURE,
                               .file = arena_strndup(a, rel.p, rel.len),
                               .bytes = bytes,
                               .sha256 = arena_strndup(a, sha, SHA256_HEX),
                               .seen = w->seen,
                               .stored = w->stored,
                               .truncated = w->truncated};
        buf_free(&rel);
    }
    start_over(w);
    return rc;
}

int capture_final(struct capture_writer *w, uint64_t last_epoch, struct err *err)
{
    char sha[SHA256_HEX + 1];
    uint64_t bytes;
    int rc = finish(w, last_epoch + 1, "final.cap", sha, &bytes, err);
    start_over(w);
    return rc;
}

void capture_close(struct capture_writer *w)
{
    disarm(w);
    buf_free(&w->block);
    free(w->capture_dir);
    free(w->job);
    free(w->operator_id);
    free(w->attempt);
}
