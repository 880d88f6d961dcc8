/* SPDX-License-Identifier: Apache-2.0 */
/* The faults that are waiting for their statements; the oldest that fits is used first. */
#include "fault.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault faults[32];
static size_t fault_count;

static pthread_cond_t held_changed = PTHREAD_COND_INITIALIZER, released = PTHREAD_COND_INITIALIZER;
static unsigned long held, releases;

enum fault_when fault_when_named(const char *name)
{
    static const char *const names[] = {"",      "before", "after", "error",    "refuse", "delay",
                                        "stall", "during", "hold",  "withhold", "made"};

    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (name != NULL && strcmp(name, names[i]) == 0)
            return (enum fault_when)i;
    return FAULT_NONE;
}

bool fault_add(const struct fault *f)
{
    bool fits;

    pthread_mutex_lock(&lock);
    fits = fault_count < sizeof faults / sizeof *faults;
    if (fits)
        faults[fault_count++] = *f;
    pthread_mutex_unlock(&lock);
    return fits;
}

void fault_clear(void)
{
    pthread_mutex_lock(&lock);
    fault_count = 0;
    pthread_mutex_unlock(&lock);
    fault_release();
}

static bool applies(const struct fault *f, const char *sql, size_t len, bool is_insert)
{
    if (f->match[0] == '\0')
        return is_insert;
    return memmem(sql, len, f->match, strlen(f->match)) != NULL;
}

struct fault fault_take(const char *sql, size_t len, bool is_insert)
{
    struct fault taken = {0};

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < fault_count; i++) {
        if (!applies(&faults[i], sql, len, is_insert))
            continue;
        taken = faults[i];
        if (--faults[i].n == 0) {
            fault_count--;
            memmove(&faults[i], &faults[i + 1], (fault_count - i) * sizeof faults[i]);
        }
        break;
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void fault_hold(void)
{
    unsigned long since;

    pthread_mutex_lock(&lock);
    held++;
    pthread_cond_broadcast(&held_changed);
    for (since = releases; releases == since;)
        pthread_cond_wait(&released, &lock);
    pthread_mutex_unlock(&lock);
}

void fault_release(void)
{
    pthread_mutex_lock(&lock);
    held = 0; /* at once, so that whoever waits for the next one does not count these */
    releases++;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
}

bool fault_await(unsigned long n, unsigned long ms)
{
    struct timespec end;
    bool came;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)(ms / 1000);
    end.tv_nsec += (long)(ms % 1000) * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    while (held < n && pthread_cond_timedwait(&held_changed, &lock, &end) == 0)
        ;
    came = held >= n;
    pthread_mutex_unlock(&lock);
    return came;
}
