/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: instants written as text. An instant needs its zone: without one,
 * which moment is meant depends on who reads it.
 */
#include "chwrite/internal.h"

#include <string.h>

/* `count` digits at p as a number; -1 where they are not all digits. */
static int digits(const char *p, int count)
{
    int v = 0;

    for (int i = 0; i < count; i++) {
        if (p[i] < '0' || p[i] > '9')
            return -1;
        v = v * 10 + (p[i] - '0');
    }
    return v;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days since 1970-01-01 in the proleptic Gregorian calendar, for years 0 to 9999. */
static int64_t days_of(int year, int month, int day)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int64_t past = year - 1;
    int64_t leaps = year == 0 ? 0 : past / 4 - past / 100 + past / 400 + 1; /* year 0 is a leap year */

    return (int64_t)year * 365 + leaps + before[month - 1] + (month > 2 && is_leap(year)) + day - 1 - 719528;
}

static bool is_date(int year, int month, int day)
{
    static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return year >= 0 && month >= 1 && month <= 12 && day >= 1 &&
           day <= length[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

/* `Z` or +hh:mm, the whole rest of the text, as seconds east of UTC. */
static const char *read_zone(const char *p, size_t n, int64_t *east)
{
    int h, m;

    *east = 0;
    if (n == 1 && (*p == 'Z' || *p == 'z'))
        return NULL;
    if (n == 0)
        return "a time without a zone";
    if (n != 6 || (*p != '+' && *p != '-') || p[3] != ':' || (h = digits(p + 1, 2)) < 0 || h > 23 ||
        (m = digits(p + 4, 2)) < 0 || m > 59) {
        return "not an ISO 8601 instant";
    }
    *east = (h * 3600 + m * 60) * (*p == '-' ? -1 : 1);
    return NULL;
}

/* What stands after the seconds' point, the zeros at its end not counted. */
static bool read_fraction(const char *p, size_t n, size_t *at, struct instant *out)
{
    size_t start = ++*at;

    out->fraction = p + start;
    while (*at < n && p[*at] >= '0' && p[*at] <= '9')
        ++*at;
    out->fraction_len = *at - start;
    while (out->fraction_len > 0 && out->fraction[out->fraction_len - 1] == '0')
        out->fraction_len--;
    return *at > start;
}

/* What stands after the date: `Thh:mm[:ss[.fraction]]zone`. */
static const char *read_time(const char *p, size_t n, struct instant *out)
{
    const char *why;
    size_t at = 6;
    int64_t east;
    int h, m, s = 0;
    bool well = n >= 6 && (p[0] == 'T' || p[0] == 't' || p[0] == ' ') && p[3] == ':' && (h = digits(p + 1, 2)) >= 0 &&
                h < 24 && (m = digits(p + 4, 2)) >= 0 && m < 60;

    if (well && n >= 9 && p[6] == ':') {
        s = digits(p + 7, 2);
        at = 9;
        well = s >= 0 && s < 60;
        if (well && n > at && p[at] == '.')
            well = read_fraction(p, n, &at, out);
    }
    if (!well)
        return "not an ISO 8601 instant";
    why = read_zone(p + at, n - at, &east);
    out->has_time = true;
    out->seconds += h * 3600 + m * 60 + s - east;
    return why;
}

const char *instant_read(const char *p, size_t n, struct instant *out)
{
    int year, month, day;

    *out = (struct instant){0, NULL, 0, false};
    if (n < 10 || p[4] != '-' || p[7] != '-')
        return "not an ISO 8601 instant";
    year = digits(p, 4);
    month = digits(p + 5, 2);
    day = digits(p + 8, 2);
    if (!is_date(year, month, day))
        return "not a date of the calendar";
    out->seconds = days_of(year, month, day) * 86400;
    return n == 10 ? NULL : read_time(p + 10, n - 10, out);
}
