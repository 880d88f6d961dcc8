/* SPDX-License-Identifier: Apache-2.0 */
/* A child process with both its pipes, in a process group of its own that never outlives this program. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20)

/* ---- our own death by a signal ---- */

static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
static volatile sig_atomic_t guarded; /* the group that goes with us */

static void on_deadly(int number)
{
    if (guarded > 0)
        kill(-(pid_t)guarded, SIGKILL);
    signal(number, SIG_DFL);
    raise(number);
}

/* Hold the deadly signals back until the group that must go with us is known. */
static void hold(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaddset(&held, deadly[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

/* A signal that came ignored (nohup) stays ignored. */
static void guard(pid_t group)
{
    guarded = group;
    for (size_t i = 0; group && i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction was, now = {.sa_handler = on_deadly};
        sigemptyset(&now.sa_mask);
        if (sigaction(deadly[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaction(deadly[i], &now, NULL);
    }
}

/* ---- start ---- */

struct ends {
    int in[2], out[2], said[2]; /* said: why the program could not be started */
    int life[2];                /* closed at our end by whatever ends us */
};

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

static void close_ends(struct ends *e)
{
    close_pair(e->in);
    close_pair(e->out);
    close_pair(e->said);
    close_pair(e->life);
}

/* The warden: a process of the child's group, so that the group's number cannot become another's while it waits for our
 * end. It holds nothing of ours but the pipe that tells. Nothing here may allocate. */
static void watch(int life, pid_t group)
{
    char unused;
    setpgid(0, group);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        signal(deadly[i], SIG_IGN);
    if (dup2(life, 0) != 0)
        _exit(1);
    if (close_range(1, ~0u, 0) != 0)
        for (int fd = 1; fd < 1024; fd++)
            close(fd);
    while (read(0, &unused, 1) < 0 && errno == EINTR)
        ;
    kill(-group, SIGKILL);
    _exit(0);
}

/* In the child. Nothing here may allocate. */
static void become(const struct ends *e, char *const *argv, pid_t parent, const sigset_t *mask)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction was;
        if (sigaction(deadly[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            signal(deadly[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    mode_give_back();
    if (dup2(e->in[0], STDIN_FILENO) >= 0 && dup2(e->out[1], STDOUT_FILENO) >= 0)
        execvp(argv[0], argv);
    int why = errno;
    ssize_t unused = write(e->said[1], &why, sizeof why);
    (void)unused;
    _exit(127);
}

/* Wait until the program runs, or says why it does not. 0 or an errno. */
static int started(int fd)
{
    int why = 0;
    ssize_t n;
    do
        n = read(fd, &why, sizeof why);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof why ? why : 0;
}

static void take_ends(struct child *c, struct ends *e)
{
    c->in = e->in[1];
    c->unread = e->in[0];
    c->out = e->out[0];
    c->life = e->life[1];
    e->in[0] = e->in[1] = e->out[0] = e->life[1] = -1;
    fcntl(c->in, F_SETFL, O_NONBLOCK);
    fcntl(c->out, F_SETFL, O_NONBLOCK);
    /* Fewer turns a megabyte; where the system allows no more, all stays as it is. */
    fcntl(c->in, F_SETPIPE_SZ, PIPE_BYTES);
    fcntl(c->out, F_SETPIPE_SZ, PIPE_BYTES);
}

static int make_pipes(struct ends *e, struct err *err)
{
    *e = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe2(e->in, O_CLOEXEC) == 0 && pipe2(e->out, O_CLOEXEC) == 0 && pipe2(e->said, O_CLOEXEC) == 0 &&
        pipe2(e->life, O_CLOEXEC) == 0)
        return 0;
    err_sys(err, "cannot make a pipe");
    close_ends(e);
    return -1;
}

/* The child and its warden, in one group. -1 with errno where a process cannot be had; what was started stands in c. */
static int start_both(struct child *c, const struct ends *e, char *const *argv, const sigset_t *mask)
{
    pid_t parent = getpid();
    c->pid = fork();
    if (c->pid == 0)
        become(e, argv, parent, mask);
    if (c->pid < 0)
        return -1;
    setpgid(c->pid, c->pid); /* both do, whoever is first */
    guard(c->pid);
    c->warden = fork();
    if (c->warden == 0)
        watch(e->life[0], c->pid);
    if (c->warden < 0)
        return -1;
    setpgid(c->warden, c->pid);
    return 0;
}

int child_start(struct child *c, char *const *argv, struct err *err)
{
    struct ends e;
    *c = CHILD_INIT;
    if (make_pipes(&e, err) != 0)
        return -1;
    /* Where it came ignored, the child's status would be lost. */
    signal(SIGCHLD, SIG_DFL);
    sigset_t mask;
    hold(&mask);
    int why = start_both(c, &e, argv, &mask) == 0 ? 0 : errno;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(e.said[1]);
    e.said[1] = -1;
    bool forked = why == 0;
    if (forked)
        why = started(e.said[0]);
    take_ends(c, &e);
    close_ends(&e);
    if (why == 0)
        return 0;
    child_end(c);
    errno = why;
    if (!forked)
        return err_sys(err, "cannot start a process");
    err_sys(err, "cannot run '%s'", argv[0]);
    err->kind = ERR_REFUSED;
    return -1;
}

/* ---- end ---- */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

size_t child_unread(const struct child *c)
{
    int n = 0;
    return c->unread >= 0 && ioctl(c->unread, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

void child_close_in(struct child *c)
{
    close_end(&c->in);
}

bool child_ended(const struct child *c)
{
    siginfo_t info = {0};
    return c->pid > 0 && waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid;
}

static bool reap(pid_t pid, int *status)
{
    pid_t got;
    while ((got = waitpid(pid, status, 0)) < 0 && errno == EINTR)
        ;
    return got == pid;
}

void child_end(struct child *c)
{
    int unused;
    if (c->pid > 0) {
        /* Before it is reaped, while its number cannot be another's. */
        kill(-c->pid, SIGKILL);
        kill(c->pid, SIGKILL);
        if (!reap(c->pid, &c->status))
            c->status = 0xff00; /* not known: never a success */
        guard(0);
    }
    if (c->warden > 0) {
        kill(c->warden, SIGKILL);
        reap(c->warden, &unused);
    }
    c->pid = c->warden = 0;
    close_end(&c->in);
    close_end(&c->out);
    close_end(&c->unread);
    close_end(&c->life);
}
