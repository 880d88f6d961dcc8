/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process for what a program of a bundle may do to its own: it has bounds,
 * ends with its parent, and how it ended is said in the words of a check.
 */
#include "replay/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the child ---- */

/* Bytes of this process's own memory, of those that a limit counts: what it wrote or may write, and shares with nobody.
 * Of a sanitized program they are terabytes from the start. */
static uint64_t memory_now(void)
{
    char text[256];
    uint64_t pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%*u %*u %*u %*u %*u %" SCNu64, &pages) != 1)
        pages = 0;
    if (fd >= 0)
        close(fd);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void replay_child(const struct replay *p, pid_t parent, uint64_t cpu_s)
{
    uint64_t most = memory_now() + p->r->memory;
    struct rlimit no_core = {0, 0}, memory = {most, most},
                  seconds = {cpu_s, cpu_s + 5}; /* at the second one a signal that cannot be told from others */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(OWED_TROUBLE);
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_CPU, &seconds);
    setrlimit(RLIMIT_DATA, &memory);
    /* An operator that takes memory without end is who goes, and not another program of this machine. */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t unused = write(fd, "1000", 4);
        (void)unused;
        close(fd);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

bool replay_short_of_memory(const struct replay *p)
{
    struct rusage used;
    return getrusage(RUSAGE_SELF, &used) != 0 || (uint64_t)used.ru_maxrss * 1024 >= p->r->memory / 4;
}

/* ---- here ---- */

bool replay_stopped(const struct replay *p)
{
    return p->stop && *p->stop;
}

/* The signals that stop a run come in while this sleeps and at no other time, so that none falls between asking and
 * sleeping. Without process descriptors a stop waits for the process. */
void replay_wait(const struct replay *p, pid_t pid, int *status)
{
    sigset_t stopping, before;
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGTERM);
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGHUP);
    sigprocmask(SIG_BLOCK, &stopping, &before);
    while (end.fd >= 0 && !replay_stopped(p) && ppoll(&end, 1, NULL, &before) < 0 && errno == EINTR)
        ;
    if (replay_stopped(p))
        kill(pid, SIGKILL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (end.fd >= 0)
        close(end.fd);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        if (replay_stopped(p))
            kill(pid, SIGKILL);
}

void replay_cut_off(struct replay *p, const char *what, int status, struct outcome *o)
{
    if (replay_stopped(p))
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_INTERRUPTED), "interrupted in the replay of '%s'", what);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_TIME_PASSED, {"option", "--max-cpu-s"}),
                    "the replay of '%s' took more than %" PRIu64 " s of processor time", what, p->r->cpu_s);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == OWED_TROUBLE)
        replay_no_memory(p, what, o);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
        outcome_set(p, o, REPLAY_FAILED, BECAUSE(CODE_REPLAY_STOPPED),
                    "the operator ended its process on a record of '%s', which the job's let pass", what);
    else
        outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_IO_FAILED), "the replay of '%s' was ended (%s %d)", what,
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

void replay_no_memory(struct replay *p, const char *what, struct outcome *o)
{
    outcome_set(p, o, REPLAY_UNAVAILABLE, BECAUSE(CODE_BOUND_PASSED, {"option", "--max-memory"}),
                "the replay of '%s' takes more than --max-memory=%" PRIu64 " bytes", what, p->r->memory);
}
