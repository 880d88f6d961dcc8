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

/* Exactly n digits at s, and not past the text's end. */
static bool digits(const char **s, int n, int *out)
{
    *out = 0;
    for (; n > 0 && **s >= '0' && **s <= '9'; n--)
        *out = *out * 10 + *(*s)++ - '0';
    return n == 0;
}

static bool mark(const char **s, char c)
{
    bool is = **s == c;
    *s += is;
    return is;
}

/* What is to be taken off the local time, in seconds. */
static bool zone(const char **s, int *out)
{
    int hour, minute, sign = **s == '-' ? -1 : 1;
    *out = 0;
    if (mark(s, 'Z'))
        return true;
    if ((!mark(s, '+') && !mark(s, '-')) || !digits(s, 2, &hour) || !mark(s, ':') || !digits(s, 2, &minute) ||
        hour > 23 || minute > 59)
        return false;
    *out = sign * (hour * 3600 + minute * 60);
    return true;
}

bool time_parse_ms(const char *s, int64_t *ms)
{
    struct tm tm = {0};
    int month, fraction = 0, off, unit = 100;
    if (!digits(&s, 4, &tm.tm_year) || !mark(&s, '-') || !digits(&s, 2, &month) || !mark(&s, '-') ||
        !digits(&s, 2, &tm.tm_mday) || !mark(&s, 'T') || !digits(&s, 2, &tm.tm_hour) || !mark(&s, ':') ||
        !digits(&s, 2, &tm.tm_min))
        return false;
    if (mark(&s, ':') && !digits(&s, 2, &tm.tm_sec))
        return false;
    if (mark(&s, '.')) {
        for (; unit > 0 && *s >= '0' && *s <= '9'; unit /= 10)
            fraction += (*s++ - '0') * unit;
        if (unit == 100)
            return false;
    }
    if (!zone(&s, &off) || *s != '\0' || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 59 || month < 1 || month > 12)
        return false;
    int day = tm.tm_mday;
    tm.tm_year -= 1900;
    tm.tm_mon = month - 1;
    time_t secs = timegm(&tm); /* which makes another day of one that the month does not have */
    *ms = (secs - off) * (int64_t)1000 + fraction;
    return tm.tm_mday == day && tm.tm_mon == month - 1 && *ms >= 0;
}

void sleep_ms(int64_t ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (ms > 0 && nanosleep(&ts, &ts) != 0 && errno == EINTR)
        ;
}
