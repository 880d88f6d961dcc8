/* SPDX-License-Identifier: Apache-2.0 */
/* An operator's program, served at both ends, and what it means for its rows how it ended. */
#include "program/program.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUEUE ((size_t)1 << 20) /* bytes held for the program before it is waited for */
#define READ_BLOCK ((size_t)256 << 10)
#define LEFT_OPEN_MS 2000 /* how long the output of a program that ended may stay open */
#define END_MS 10000      /* how long a program may take to end once it has closed its output */

int program_start(struct program *p, char *const *argv, struct err *err)
{
    if (child_start(&p->child, argv, err) != 0)
        return -1;
    p->started = true;
    return 0;
}

void program_free(struct program *p)
{
    program_end(p);
    buf_free(&p->queue);
    buf_free(&p->got);
    buf_free(&p->reason);
}

/* What follows the first reason is its consequence. */
void program_not_whole(struct program *p, const struct cause *cause, const char *fmt, ...)
{
    va_list ap;
    if (p->reason.len > 0)
        return;
    p->cause = *cause;
    va_start(ap, fmt);
    buf_vprintf(&p->reason, fmt, ap);
    va_end(ap);
    buf_str(&p->reason);
}

bool program_whole(const struct program *p)
{
    return p->reason.len == 0;
}

static size_t queued(const struct program *p)
{
    return p->queue.len - p->queue_at;
}

void program_make_room(struct program *p)
{
    if (p->queue_at < QUEUE)
        return;
    p->queue.len -= p->queue_at;
    memmove(p->queue.p, p->queue.p + p->queue_at, p->queue.len);
    p->queue_at = 0;
}

/* ---- both ends ---- */

/* Past the white space between two values. */
static size_t skip_space(struct program *p, size_t from)
{
    for (; p->scan.at == 0 && from < p->got.len && strchr(" \t\r\n", p->got.p[from]) && p->got.p[from]; from++)
        p->lines += p->got.p[from] == '\n';
    return from;
}

/* A line's end in a value is white space between its tokens. */
static void on_one_line(char *p, size_t n)
{
    for (char *nl; (nl = memchr(p, '\n', n)); p = nl) {
        *nl = ' ';
        n -= (size_t)(nl - p);
    }
}

/* The whole values of what has come. -1 once one was not good. */
static int take_values(struct program *p)
{
    size_t from = skip_space(p, 0), n;
    while ((n = program_scan_value(&p->scan, p->got.p + from, p->got.len - from)) > 0) {
        struct err err; /* not cleared whole: this is on the path of every row */
        err.text[0] = '\0';
        if (p->scan.lines > 0)
            on_one_line(p->got.p + from, n);
        if (p->on_value(p->ctx, p->got.p + from, n, &err) != 0) {
            program_not_whole(p, BECAUSE(CODE_PROGRAM_ANSWER, {"program", p->name}), "line %" PRIu64 " of %s: %s",
                              p->lines + 1, p->name, err.text);
            return -1;
        }
        p->lines += p->scan.lines;
        p->scan = (struct program_scan){0};
        from = skip_space(p, from + n);
    }
    p->got.len -= from;
    memmove(p->got.p, p->got.p + from, p->got.len);
    if (p->got.len <= p->max_line)
        return 0;
    program_not_whole(p, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-line"}),
                      "line %" PRIu64 " of %s is longer than %zu bytes", p->lines + 1, p->name, p->max_line);
    return -1;
}

/* Read once. -1 where the program is to be ended. */
static int read_once(struct program *p)
{
    buf_reserve(&p->got, READ_BLOCK);
    ssize_t n = read(p->child.out, p->got.p + p->got.len, READ_BLOCK);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n < 0) {
        program_not_whole(p, BECAUSE(CODE_IO_FAILED), "cannot read what %s writes: %s", p->name, strerror(errno));
        return -1;
    }
    if (n > 0) {
        p->got.len += (size_t)n;
        return take_values(p);
    }
    p->output_over = true;
    return 0;
}

static void write_once(struct program *p)
{
    ssize_t n = write(p->child.in, p->queue.p + p->queue_at, queued(p));
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        program_not_whole(p, BECAUSE(CODE_IO_FAILED), "cannot write to %s: %s", p->name, strerror(errno));
    p->queue_at += n > 0 ? (size_t)n : 0;
    if (p->queue_at == p->queue.len)
        p->queue_at = p->queue.len = 0;
}

/* One turn. False where the program is over, or what was waited for is there. */
static bool turn(struct program *p, enum program_until until)
{
    bool writing = p->child.in >= 0 && queued(p) > 0, ended = false;
    struct pollfd fds[3] = {{p->child.out, POLLIN, 0},
                            {writing ? p->child.in : -1, POLLOUT, 0},
                            {until == PROGRAM_INPUT ? STDIN_FILENO : -1, POLLIN, 0}};
    int n = poll(fds, 3, 0);
    if (n == 0) {
        p->before_wait(p->ctx);
        ended = child_ended(&p->child);
        n = poll(fds, 3, LEFT_OPEN_MS);
    }
    if (n < 0)
        return errno == EINTR;
    if (n == 0 && ended)
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}),
                          "%s ended and left its output open to another process", p->name);
    if (fds[1].revents)
        write_once(p);
    if (fds[0].revents && read_once(p) != 0)
        return false;
    if (p->output_over || !program_whole(p))
        return false;
    return until != PROGRAM_INPUT || !fds[2].revents || queued(p) >= QUEUE;
}

void program_serve(struct program *p, enum program_until until)
{
    while (p->started && !p->ended) {
        if (until == PROGRAM_ROOM && queued(p) < QUEUE)
            return;
        if (until == PROGRAM_END && queued(p) == 0)
            child_close_in(&p->child);
        if (turn(p, until))
            continue;
        if (p->output_over || !program_whole(p))
            program_end(p);
        return;
    }
}

/* ---- its end ---- */

/* What the way it ended says of its rows. rest: bytes that it was to read and did not. */
static void judge(struct program *p, size_t rest)
{
    int status = p->child.status;
    const char *when = p->fed && rest == 0 ? "" : " before it had read all the records";
    if (WIFSIGNALED(status))
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}), "%s was ended by signal %d (%s)%s",
                          p->name, WTERMSIG(status), strsignal(WTERMSIG(status)), when);
    else if (WEXITSTATUS(status) != 0)
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}), "%s exited with status %d%s", p->name,
                          WEXITSTATUS(status), when);
    else if (*when)
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}), "%s ended%s", p->name, when);
    else if (p->got.len > 0)
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}),
                          "line %" PRIu64 " of %s is cut in the middle", p->lines + 1, p->name);
}

/* Wait for a program that has closed its output; false where it does not end of itself. */
static bool wait_end(struct program *p)
{
    int64_t until = time_mono_ms() + END_MS;
    for (int64_t pause = 1; !child_ended(&p->child); pause = pause < 50 ? pause * 2 : 50) {
        if (time_mono_ms() >= until)
            return false;
        sleep_ms(pause);
    }
    return true;
}

void program_end(struct program *p)
{
    if (!p->started || p->ended)
        return;
    if (p->output_over) {
        child_close_in(&p->child);
        p->before_wait(p->ctx);
        if (!wait_end(p))
            program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}),
                              "%s closed its output and did not end within %d s", p->name, END_MS / 1000);
    }
    size_t rest = child_unread(&p->child) + queued(p);
    p->of_itself = child_ended(&p->child);
    child_end(&p->child);
    p->ended = true;
    if (p->of_itself && p->output_over)
        judge(p, rest);
    else
        program_not_whole(p, BECAUSE(CODE_PROGRAM_FAILED, {"program", p->name}),
                          "%s was ended before its output was over", p->name);
}
