/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into a program under test: it stops itself, as by SIGSTOP, at an exact point of its work, before its
 * STOP_READ-th read (default: first) of the first file whose path ends with STOP_AT. Whoever waits for it sees it
 * stopped, changes what it likes, and sends SIGCONT. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static void stop_at(int fd)
{
    static int reads;
    const char *at = getenv("STOP_AT"), *which = getenv("STOP_READ");
    char link[32], path[4096];
    if (at == NULL)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path);
    size_t tail = strlen(at);
    if (n > 0 && (size_t)n >= tail && memcmp(path + n - tail, at, tail) == 0 &&
        ++reads == (which == NULL ? 1 : atoi(which)))
        raise(SIGSTOP);
}

ssize_t read(int fd, void *to, size_t max)
{
    static ssize_t (*next)(int, void *, size_t);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "read");
    stop_at(fd);
    return next(fd, to, max);
}

/* What read becomes in a fortified build, where the room is known. */
ssize_t __read_chk(int fd, void *to, size_t max, size_t room);
ssize_t __read_chk(int fd, void *to, size_t max, size_t room)
{
    return read(fd, to, max < room ? max : room);
}

/* One core, and so no thread beside the one that stops: what another had done by then would be luck. */
long sysconf(int name)
{
    static long (*next)(int);
    if (name == _SC_NPROCESSORS_ONLN)
        return 1;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "sysconf");
    return next(name);
}
