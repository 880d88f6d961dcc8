/* SPDX-License-Identifier: Apache-2.0 */
/* What the traces of a job's earlier runs have numbered: runs, and checkpoints. */
#include "evidence/trace.h"
#include "json/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAN_MAX ((size_t)1 << 20)
/* Numbers ascend within a trace, so that its end has the greatest. */
#define END_MAX ((size_t)64 << 10)

/* Each file of dir whose name begins so. A directory that is not there has none. */
static int each(const char *dir, const char *prefix, const char *job, uint64_t *greatest,
                void (*look)(int fd, const char *name, const char *job, uint64_t *greatest), struct err *err)
{
    DIR *d = opendir(dir);
    if (!d)
        return errno == ENOENT ? 0 : err_sys(err, "cannot list '%s'", dir);
    struct dirent *e;
    while ((e = readdir(d))) {
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
            continue;
        int fd = open_beneath(dirfd(d), e->d_name, O_RDONLY | O_NONBLOCK, NULL);
        if (fd < 0)
            continue;
        look(fd, e->d_name, job, greatest);
        close(fd);
    }
    closedir(d);
    return 0;
}

/* One that cannot be read names no run; whoever checks the traces sees the number that stands twice. */
static void run_of(int fd, const char *name, const char *job, uint64_t *greatest)
{
    struct buf text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct trace_file f;
    if (file_read_fd(fd, name, PLAN_MAX, &text, NULL) == 0 &&
        trace_parse(text.p ? text.p : "", text.len, name, &a, &f, NULL) == 0 && f.job && strcmp(f.job, job) == 0)
        for (size_t i = 0; i < f.n; i++)
            if (f.events[i].kind == TRACE_PLANNED && f.events[i].run > *greatest)
                *greatest = f.events[i].run;
    arena_free(&a);
    buf_free(&text);
}

int trace_next_run(const char *dir, const char *job, uint64_t *run, struct err *err)
{
    uint64_t greatest = 0;
    int rc = each(dir, "ckpt-plan-", job, &greatest, run_of, err);
    *run = greatest + 1;
    return rc;
}

static void number_of(const char *p, size_t n, const char *job, struct arena *a, uint64_t *greatest)
{
    static const char *const members[] = {"checkpoint", "first_epoch"};
    struct json *doc = json_parse_named(p, n, a, "a trace", NULL);
    const char *of;
    if (!doc || doc->type != JSON_OBJECT || json_need_str(doc, "job", a, &of, "", NULL) != 0 || strcmp(of, job) != 0)
        return;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        uint64_t number;
        if (json_need_u64(doc, members[i], &number, "", NULL) == 0 && number > *greatest && number < INT64_MAX)
            *greatest = number;
    }
}

static void checkpoint_of(int fd, const char *name, const char *job, uint64_t *greatest)
{
    (void)name;
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    char *text = xmalloc(END_MAX), *p = text, *end;
    off_t from = st.st_size > (off_t)END_MAX ? st.st_size - (off_t)END_MAX : 0;
    ssize_t n = pread(fd, text, END_MAX, from);
    struct arena a = ARENA_INIT;
    /* A line without its beginning or its end parses as none. */
    for (; n > 0 && (end = memchr(p, '\n', (size_t)(text + n - p))); p = end + 1) {
        number_of(p, (size_t)(end - p), job, &a, greatest);
        arena_reset(&a);
    }
    arena_free(&a);
    free(text);
}

int trace_greatest_checkpoint(const char *dir, const char *job, uint64_t *greatest, struct err *err)
{
    *greatest = 0;
    return each(dir, "kafka-tail-", job, greatest, checkpoint_of, err);
}
