/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: owed times. ISO text and numbers in a unit become an instant, whole
 * seconds and an exact fraction, and an instant becomes a column's ticks.
 */
#include <string.h>

#include "cells/internal.h"
#include "cells/zone.h"

#define DAY 86400
#define NUMBER_DIGITS 30   /* past it no number of any unit fits a column (2^63 days of ticks have 24) */
#define NUMBER_FRACTION 37 /* 10^37 is in int128 */

typedef __int128 wide;

/* ---- the calendar ---- */

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int64_t year, int month)
{
    static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Days from 1970-01-01 to January 1st of a year from 0 on. */
static int64_t days_to_year(int64_t year)
{
    int64_t past = year - 1; /* the last whole year; -1 for year 0, whose own leap day is still to come */
    int64_t leaps = year == 0 ? -1 : past / 4 - past / 100 + past / 400;

    return year * 365 + leaps - 719162 - 365;
}

int64_t calendar_days(int64_t year, int month, int day)
{
    int64_t days = days_to_year(year) + day - 1;

    for (int m = 1; m < month; m++)
        days += days_in_month(year, m);
    return days;
}

bool calendar_date(int64_t days, int *year, int *month, int *day)
{
    int64_t y;

    if (days < days_to_year(0) || days >= days_to_year(10000))
        return false;
    y = (days + 719528) * 400 / 146097; /* right, or one off at a year's edge */
    while (days < days_to_year(y))
        y--;
    while (days >= days_to_year(y + 1))
        y++;
    days -= days_to_year(y);
    *year = (int)y;
    *month = 1;
    while (days >= days_in_month(y, *month))
        days -= days_in_month(y, (*month)++);
    *day = (int)days + 1;
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* ---- ISO text ---- */

struct cursor {
    const char *p, *end;
};

/* Exactly n digits. */
static bool take_number(struct cursor *c, int n, int *out)
{
    int v = 0;

    if (c->end - c->p < n)
        return false;
    for (int i = 0; i < n; i++) {
        char d = *c->p++;
        if (d < '0' || d > '9')
            return false;
        v = v * 10 + (d - '0');
    }
    *out = v;
    return true;
}

static bool take(struct cursor *c, const char *any)
{
    if (c->p == c->end || *c->p == '\0' || !strchr(any, *c->p))
        return false;
    c->p++;
    return true;
}

static bool take_date(struct cursor *c, int64_t *days)
{
    int year, month, day;

    if (!take_number(c, 4, &year) || !take(c, "-") || !take_number(c, 2, &month) || !take(c, "-") ||
        !take_number(c, 2, &day) || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
        return false;
    }
    *days = calendar_days(year, month, day);
    return true;
}

/* mm[:ss[.fraction]] */
static bool take_minutes(struct cursor *c, int64_t *secs, struct instant *t, const char **why)
{
    int minute, second = 0;

    if (!take_number(c, 2, &minute) || minute > 59)
        return false;
    if (take(c, ":")) {
        if (!take_number(c, 2, &second) || second > 60)
            return false;
        if (second == 60) {
            *why = "a leap second, which no column holds";
            return false;
        }
        if (take(c, ".")) {
            t->frac = c->p;
            while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
                c->p++;
            t->nfrac = (size_t)(c->p - t->frac);
            if (t->nfrac == 0)
                return false;
            while (t->nfrac > 0 && t->frac[t->nfrac - 1] == '0')
                t->nfrac--;
        }
    }
    *secs = minute * 60 + second;
    return true;
}

/* hh:mm[:ss[.fraction]] */
static bool take_clock(struct cursor *c, int64_t *secs, struct instant *t, const char **why)
{
    int hour;

    if (!take_number(c, 2, &hour) || !take(c, ":") || hour > 23 || !take_minutes(c, secs, t, why))
        return false;
    *secs += hour * 3600;
    return true;
}

/* The seconds less the fraction: an instant's fraction is added, so that it counts from the second below. False where
 * it is too long to be turned. */
static bool below(struct instant *t)
{
    size_t n = t->nfrac;

    if (n >= sizeof t->own)
        return false;
    memmove(t->own, t->frac, n);
    t->frac = t->own;
    for (size_t i = 0; i < n; i++) /* no zero ends it, so that the last digit alone is taken from ten */
        t->own[i] = (char)('0' + (i + 1 < n ? 9 : 10) - (t->own[i] - '0'));
    t->secs--;
    return true;
}

/* Z or +hh:mm: what is to be taken off the local time. */
static bool take_zone(struct cursor *c, int64_t *offset)
{
    int hour, minute, sign;

    *offset = 0;
    if (take(c, "Zz"))
        return true;
    if (c->p == c->end)
        return false;
    sign = *c->p == '-' ? -1 : 1;
    if (!take(c, "+-") || !take_number(c, 2, &hour) || !take(c, ":") || !take_number(c, 2, &minute) || hour > 23 ||
        minute > 59) {
        return false;
    }
    *offset = sign * (hour * 3600 + minute * 60);
    return true;
}

const char cells_no_zone[] = "a time without a zone, and neither the column's type nor the scope names one";
const char cells_unknown_zone[] = "a time in a zone that this system does not know";

/* A local time that has no zone of its own. */
static bool in_zone(struct instant *t, int64_t local, const char *zone, const char **why)
{
    const struct zone *z = zone && *zone ? zone_named(zone) : NULL;
    *why = zone && *zone ? cells_unknown_zone : cells_no_zone;
    if (!z)
        return false;
    enum zone_local found = zone_instant(z, local, &t->secs);
    *why = found == ZONE_NEVER ? "a local time that its zone's clocks went past"
                               : "a local time that its zone has twice";
    return found == ZONE_ONCE;
}

bool instant_from_iso(struct instant *t, const char *p, size_t n, bool days, const char *zone, const char **why)
{
    struct cursor c;
    int64_t day, secs, offset;

    if (n == 0)
        p = ""; /* no bytes may come as no pointer */
    c = (struct cursor){p, p + n};
    t->frac = t->own;
    t->nfrac = 0;
    *why = "not a date or time in ISO form";
    if (!take_date(&c, &day))
        return false;
    if (c.p == c.end) {
        *why = "a date where a time is due";
        t->secs = day * DAY;
        return days;
    }
    if (!take(&c, "Tt ") || !take_clock(&c, &secs, t, why))
        return false;
    if (c.p == c.end && !days)
        return in_zone(t, day * DAY + secs, zone, why);
    if (c.p == c.end) {
        *why = "a time without a zone, of which the day is not known";
        return false;
    }
    if (!take_zone(&c, &offset) || c.p != c.end)
        return false;
    t->secs = day * DAY + secs - offset;
    return true;
}

bool instant_from_clock(struct instant *t, const char *p, size_t n, const char **why)
{
    struct cursor c;
    bool neg = n > 0 && *p == '-';
    int hour = 0, digits = 0;
    int64_t secs;

    *why = "not a time of hours, minutes and seconds";
    t->frac = t->own;
    t->nfrac = 0;
    if (n == 0)
        return false;
    c = (struct cursor){p + neg, p + n};
    while (c.p < c.end && *c.p >= '0' && *c.p <= '9' && digits++ < 3)
        hour = hour * 10 + (*c.p++ - '0');
    if (digits == 0 || digits > 3 || !take(&c, ":") || !take_minutes(&c, &secs, t, why) || c.p != c.end)
        return false;
    secs += hour * 3600;
    t->secs = neg ? -secs : secs;
    return neg && t->nfrac > 0 ? below(t) : true;
}

/* ---- numbers ---- */

static wide power_of_ten(int n)
{
    wide v = 1;

    while (n-- > 0)
        v *= 10;
    return v;
}

static int unit_digits(enum type_from from, const struct type *type)
{
    switch (from) {
    case FROM_MS: return 3;
    case FROM_US: return 6;
    case FROM_NS: return 9;
    case FROM_TICKS: return (int)type->scale;
    default: return 0;
    }
}

static bool counts_days(enum type_from from, const struct type *type)
{
    return from == FROM_DAYS || (from == FROM_TICKS && cell_kind(type)->is == IS_DAYS);
}

/* secs and the fraction of m / 10^places, rounded down. */
static bool split(struct instant *t, wide m, int places)
{
    wide unit = power_of_ten(places), secs = m / unit, rest = m % unit;

    if (rest < 0) {
        rest += unit;
        secs--;
    }
    if (secs < INT64_MIN || secs > INT64_MAX)
        return false;
    t->secs = (int64_t)secs;
    t->frac = t->own;
    t->nfrac = 0;
    for (int i = places; i-- > 0 && rest != 0;) {
        wide place = power_of_ten(i);
        t->own[t->nfrac++] = (char)('0' + (int)(rest / place));
        rest %= place;
    }
    return true;
}

bool instant_from_number(struct instant *t, const struct decimal *d, enum type_from from, const struct type *type)
{
    wide m = 0;
    int64_t exp = d->n == 0 ? 0 : d->exp - unit_digits(from, type);

    if (d->n > NUMBER_DIGITS || exp < -NUMBER_FRACTION || decimal_length(d, 0) > NUMBER_DIGITS)
        return false;
    for (uint64_t i = 0; i < d->n; i++)
        m = m * 10 + (decimal_digit(d, i) - '0');
    if (counts_days(from, type))
        m *= DAY;
    if (d->neg)
        m = -m;
    if (exp > 0) {
        m *= power_of_ten((int)exp);
        exp = 0;
    }
    return split(t, m, (int)-exp);
}

/* ---- ticks and text ---- */

void instant_range(const struct type *type, int64_t *min, int64_t *max)
{
    const struct kind *k = cell_kind(type);

    *min = k->min;
    *max = k->max;
    if (k->is == IS_CLOCK) {
        int64_t unit = (int64_t)power_of_ten((int)type->scale);
        *max = *max * unit + unit - 1;
        *min = -*max;
    }
}

bool instant_ticks(const struct instant *t, const struct type *type, int64_t *ticks, const char **why)
{
    const struct kind *k = cell_kind(type);
    int64_t min, max;
    wide v = t->secs;

    if (k->is == IS_DAYS) {
        *why = "a fraction of a day";
        if (t->nfrac > 0 || t->secs % DAY != 0)
            return false;
        v = t->secs / DAY;
    } else {
        size_t places = type->scale;
        wide frac = 0;
        *why = "a fraction past the column's precision";
        if (t->nfrac > places)
            return false;
        for (size_t i = 0; i < places; i++)
            frac = frac * 10 + (i < t->nfrac ? t->frac[i] - '0' : 0);
        v = v * power_of_ten((int)places) + frac;
    }
    *why = "out of the column's range";
    instant_range(type, &min, &max);
    if (v < min || v > max)
        return false;
    *ticks = (int64_t)v;
    return true;
}

bool instant_text(const struct instant *t, bool date_only, struct buf *out)
{
    int year, month, day;
    int64_t days = floor_div(t->secs, DAY);
    int secs;

    if (!calendar_date(days, &year, &month, &day))
        return false;
    secs = (int)(t->secs - days * DAY);
    buf_printf(out, "%04d-%02d-%02d", year, month, day);
    if (date_only && secs == 0 && t->nfrac == 0)
        return true;
    buf_printf(out, "T%02d:%02d:%02d", secs / 3600, secs / 60 % 60, secs % 60);
    if (t->nfrac > 0) {
        buf_addc(out, '.');
        buf_add(out, t->frac, t->nfrac);
    }
    buf_addc(out, 'Z');
    return true;
}
