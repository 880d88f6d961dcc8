/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of blocks between a thread that reads and the caller, one lock a block. */
#include "stream/prefetch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK ((size_t)128 << 10)
#define BLOCKS 12

struct prefetch {
    int fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t got, given, dropped; /* blocks so far: read, handed out, free again */
    bool closing;
    size_t len[BLOCKS]; /* 0: the end, or error */
    int error;          /* errno of the read that failed */
    char *block[BLOCKS];
};

static ssize_t read_block(int fd, char *p)
{
    ssize_t n;
    /* Only here may the thread be ended from outside: it holds no lock. */
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    do
        n = read(fd, p, BLOCK);
    while (n < 0 && errno == EINTR);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return n;
}

static void *read_on(void *arg)
{
    struct prefetch *a = arg;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_mutex_lock(&a->lock);
    for (ssize_t n = 1; n > 0;) {
        /* Not to be woken for one block: that costs more than reading it. */
        if (a->got - a->dropped == BLOCKS)
            while (a->got - a->dropped > BLOCKS / 2 && !a->closing)
                pthread_cond_wait(&a->changed, &a->lock);
        if (a->closing)
            break;
        size_t at = a->got % BLOCKS;
        pthread_mutex_unlock(&a->lock);
        n = read_block(a->fd, a->block[at] + PREFETCH_ROOM);
        int error = errno;
        pthread_mutex_lock(&a->lock);
        a->len[at] = n > 0 ? (size_t)n : 0;
        if (n < 0)
            a->error = error;
        a->got++;
        pthread_cond_signal(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct prefetch *prefetch_start(int fd)
{
    struct prefetch *a = xcalloc(1, sizeof *a);
    a->fd = fd;
    for (size_t i = 0; i < BLOCKS; i++)
        a->block[i] = xmalloc(PREFETCH_ROOM + BLOCK);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    if (pthread_create(&a->thread, NULL, read_on, a) == 0)
        return a;
    a->thread = pthread_self();
    prefetch_stop(a);
    return NULL;
}

int prefetch_next(struct prefetch *a, char **p, size_t *n)
{
    pthread_mutex_lock(&a->lock);
    while (a->got == a->given)
        pthread_cond_wait(&a->changed, &a->lock);
    size_t at = a->given % BLOCKS;
    *n = a->len[at];
    *p = a->block[at] + PREFETCH_ROOM;
    /* The thread is gone after the end: that block stays the next one. */
    if (*n > 0)
        a->given++;
    errno = a->error;
    pthread_mutex_unlock(&a->lock);
    return *n > 0 ? 1 : errno ? -1 : 0;
}

void prefetch_drop(struct prefetch *a)
{
    pthread_mutex_lock(&a->lock);
    a->dropped = a->given ? a->given - 1 : 0;
    if (a->got - a->dropped <= BLOCKS / 2)
        pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

void prefetch_stop(struct prefetch *a)
{
    if (!a)
        return;
    if (!pthread_equal(a->thread, pthread_self())) {
        pthread_mutex_lock(&a->lock);
        a->closing = true;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
        pthread_cancel(a->thread);
        pthread_join(a->thread, NULL);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(a->block[i]);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    free(a);
}
