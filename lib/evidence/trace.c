/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a protocol trace: one write a line, so that whoever is killed leaves whole ones. */
#include "evidence/trace.h"
#include "evidence/trace_members.h"
#include "json/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAN_MAX ((size_t)1 << 20)
/* The end of the first line, and what takes its place, byte for byte, once events are lost. */
#define ARMED ",\"armed\":true }\n"
#define DISARMED ",\"armed\":false}\n"

static const char *const names[] = {
#define X(id, text) text,
    TRACE_EVENT_TABLE(X)
#undef X
};

const char *trace_kind_name(enum trace_kind k)
{
    return names[k];
}

enum trace_kind trace_kind_of(const char *s)
{
    size_t i = 0;
    while (i < TRACE_KINDS && strcmp(names[i], s) != 0)
        i++;
    return (enum trace_kind)i;
}

/* clang-format off */
#define NUMBER(NAME, FIELD) {NAME, false, offsetof(struct trace_event, FIELD)}
#define TRUTH(NAME, FIELD) {NAME, true, offsetof(struct trace_event, FIELD)}
#define CHECKPOINT NUMBER("checkpoint", checkpoint)
const struct trace_member trace_members[TRACE_KINDS][TRACE_MEMBERS_MAX] = {
    [TRACE_PLANNED] = {NUMBER("run", run), TRUTH("fresh", fresh), CHECKPOINT, NUMBER("first_epoch", first),
                       NUMBER("generation", generation), NUMBER("parallelism", parallel),
                       NUMBER("windows", windows), TRUTH("commit_confirmation", confirmation)},
    [TRACE_REDEPLOYED] = {CHECKPOINT, NUMBER("first_epoch", first)},
    [TRACE_RESTORED] = {CHECKPOINT, NUMBER("first_epoch", first), TRUTH("ok", ok)},
    [TRACE_STATE] = {CHECKPOINT, NUMBER("participant", participant), TRUTH("ok", ok)},
    [TRACE_BARRIER] = {CHECKPOINT, NUMBER("previous", previous)},
    [TRACE_ACKNOWLEDGED] = {CHECKPOINT, NUMBER("rows", rows)},
    [TRACE_EVIDENCE] = {CHECKPOINT, TRUTH("ok", ok)},
    [TRACE_PASSED] = {CHECKPOINT},
    [TRACE_COMPLETED] = {CHECKPOINT},
    [TRACE_CONFIRMED] = {CHECKPOINT},
    [TRACE_ENDED] = {NUMBER("status", status)},
};
/* clang-format on */

/* Events are lacking from here on, which the first line says: the change needs no room on the disk. Where even that
 * fails, no trace is better than one that lacks events and does not say so. */
static void disarm(struct trace *t)
{
    static const char disarmed[] = DISARMED;
    ssize_t n = sizeof disarmed - 1;
    if (pwrite(t->fd, disarmed, (size_t)n, (off_t)t->armed_at) != n || fdatasync(t->fd) != 0)
        unlink(buf_str(&t->path));
    close(t->fd);
    t->fd = -1;
}

static void line_begin(struct trace *t, enum trace_kind kind)
{
    buf_reset(&t->line);
    buf_adds(&t->line, "{\"seq\":");
    buf_addu64(&t->line, ++t->seq);
    buf_add(&t->line, t->head.p, t->head.len);
    buf_adds(&t->line, names[kind]);
    buf_addc(&t->line, '"');
}

static int line_end(struct trace *t)
{
    t->dirty = true;
    return fd_write_all(t->fd, t->line.p, t->line.len, "a trace", &t->failure);
}

static int name_of(struct trace *t, const char *dir, const char *process, const char *attempt, struct err *err)
{
    if (attempt[strspn(attempt, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._=@+-")])
        return err_set(err, ERR_REFUSED, "no file can be named after the attempt '%s'", attempt);
    buf_reset(&t->path);
    buf_printf(&t->path, "%s/%s-%s.ndjson", dir, process, attempt);
    buf_str(&t->path);
    return dir_make(dir, err);
}

static void free_all(struct trace *t)
{
    buf_free(&t->path);
    buf_free(&t->head);
    buf_free(&t->line);
}

int trace_open(struct trace *t, const char *dir, const char *job, const char *attempt, const char *program,
               const char *op, uint64_t subtask, struct err *err)
{
    *t = TRACE_OFF;
    if (!dir)
        return 0;
    struct buf process = BUF_INIT;
    buf_adds(&process, program);
    if (op)
        buf_printf(&process, "-%s-%" PRIu64, op, subtask);
    int rc = name_of(t, dir, buf_str(&process), attempt, err);
    if (rc == 0) {
        t->fd = open(t->path.p, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        rc = t->fd < 0 ? err_sys(err, "cannot create '%s'", t->path.p) : dir_sync(dir, err);
    }
    buf_adds(&t->head, ",\"job\":");
    json_put_s(&t->head, job);
    buf_adds(&t->head, ",\"attempt\":");
    json_put_s(&t->head, attempt);
    buf_adds(&t->head, ",\"process\":");
    json_put_s(&t->head, process.p);
    buf_adds(&t->head, ",\"event\":\"");
    line_begin(t, TRACE_OPENED);
    buf_adds(&t->line, ",\"format\":\"" TRACE_FORMAT "\",\"version\":1" ARMED);
    t->armed_at = t->line.len - strlen(ARMED);
    if (rc == 0 && line_end(t) != 0) {
        if (err)
            *err = t->failure;
        rc = -1;
    }
    if (rc != 0 && t->fd >= 0) {
        unlink(t->path.p);
        close(t->fd);
    }
    if (rc != 0) {
        free_all(t);
        *t = TRACE_OFF;
    }
    buf_free(&process);
    return rc;
}

void trace_put(struct trace *t, const struct trace_event *e)
{
    if (t->fd < 0)
        return;
    line_begin(t, e->kind);
    for (const struct trace_member *m = trace_members[e->kind]; m->name; m++) {
        const char *at = (const char *)e + m->offset;
        buf_printf(&t->line, ",\"%s\":", m->name);
        if (m->is_bool)
            buf_adds(&t->line, *(const bool *)at ? "true" : "false");
        else
            json_put_u64(&t->line, *(const uint64_t *)(const void *)at);
    }
    buf_adds(&t->line, "}\n");
    if (line_end(t) != 0)
        disarm(t);
}

void trace_settle(struct trace *t)
{
    if (t->fd < 0 || !t->dirty)
        return;
    t->dirty = false;
    if (fdatasync(t->fd) == 0)
        return;
    err_sys(&t->failure, "cannot sync '%s'", t->path.p);
    disarm(t);
}

int trace_close(struct trace *t, int status, struct err *err)
{
    trace_put(t, &(struct trace_event){.kind = TRACE_ENDED, .status = (uint64_t)status});
    trace_settle(t);
    if (t->fd >= 0)
        close(t->fd);
    int rc = 0;
    if (t->failure.kind != ERR_NONE) {
        *err = t->failure;
        rc = -1;
    }
    free_all(t);
    *t = TRACE_OFF;
    return rc;
}

/* ---- runs ---- */

static void run_of(int dir, const char *name, const char *job, uint64_t *greatest)
{
    struct buf text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct trace_file f;
    int fd = open_beneath(dir, name, O_RDONLY | O_NONBLOCK, NULL);
    /* One that cannot be read names no run; whoever checks the traces sees the number that stands twice. */
    if (fd >= 0 && file_read_fd(fd, name, PLAN_MAX, &text, NULL) == 0 &&
        trace_parse(text.p ? text.p : "", text.len, name, &a, &f, NULL) == 0 && f.job && strcmp(f.job, job) == 0)
        for (size_t i = 0; i < f.n; i++)
            if (f.events[i].kind == TRACE_PLANNED && f.events[i].run > *greatest)
                *greatest = f.events[i].run;
    if (fd >= 0)
        close(fd);
    arena_free(&a);
    buf_free(&text);
}

int trace_next_run(const char *dir, const char *job, uint64_t *run, struct err *err)
{
    static const char plan[] = "ckpt-plan-";
    uint64_t greatest = 0;
    *run = 1;
    DIR *d = opendir(dir);
    if (!d)
        return errno == ENOENT ? 0 : err_sys(err, "cannot list '%s'", dir);
    struct dirent *e;
    while ((e = readdir(d)))
        if (strncmp(e->d_name, plan, sizeof plan - 1) == 0)
            run_of(dirfd(d), e->d_name, job, &greatest);
    closedir(d);
    *run = greatest + 1;
    return 0;
}
