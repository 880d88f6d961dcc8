/* SPDX-License-Identifier: Apache-2.0 */
/* Time: both clocks in milliseconds, and how an instant is written. */
#include "base/base.h"

#include <errno.h>
#include <time.h>

static int64_t clock_ms(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t time_now_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

int64_t time_mono_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

void time_iso_ms(int64_t ms, char out[32])
{
    int64_t left = ((ms % 1000) + 1000) % 1000;
    time_t s = (time_t)((ms - left) / 1000);
    struct tm tm;
    gmtime_r(&s, &tm);
    snprintf(out, 32, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (tm.tm_year + 1900) % 10000, (tm.tm_mon + 1) % 100,
             tm.tm_mday % 100, tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100, (int)(left % 1000));
}

void sleep_ms(int64_t ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (ms > 0 && nanosleep(&ts, &ts) != 0 && errno == EINTR)
        ;
}
