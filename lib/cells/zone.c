/* SPDX-License-Identifier: Apache-2.0 */
/* Time zones, from TZif files: the table of changes, and the rule for what comes after it. */
#include "cells/zone.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cells/internal.h"

#define ZONES "/usr/share/zoneinfo/"
#define ZONE_FILE ((size_t)1 << 20)
#define MAX_OFFSET 93600 /* 26 hours, past any that RFC 8536 allows */
#define DAY 86400

/* When clocks change within a year. */
struct change {
    char form; /* 'M', 'J', or 0: a day from 0 on */
    int month, week, day;
    int64_t time; /* local seconds of that day, of either sign */
};

struct zone {
    int64_t *at; /* ascending: when an offset begins */
    unsigned char *type;
    size_t n;
    int64_t offsets[256]; /* of the types; those of the rule last */
    size_t n_offsets;
    bool rule, summer; /* summer: the rule has two offsets */
    int64_t standard, other;
    struct change begin, end; /* of `other` */
};

/* ---- the rule: a POSIX TZ text ---- */

struct text {
    const char *p, *end;
};

static bool take(struct text *t, char c)
{
    bool is = t->p < t->end && *t->p == c;
    t->p += is;
    return is;
}

static bool take_int(struct text *t, int most, int *out)
{
    const char *from = t->p;
    *out = 0;
    while (t->p < t->end && *t->p >= '0' && *t->p <= '9' && *out <= most)
        *out = *out * 10 + (*t->p++ - '0');
    return t->p > from && *out <= most;
}

/* [+-]h[:mm[:ss]] */
static bool take_time(struct text *t, int most, int64_t *out)
{
    int hour, minute = 0, second = 0, sign = take(t, '-') ? -1 : 1;
    if (sign == 1)
        take(t, '+');
    if (!take_int(t, most, &hour))
        return false;
    if (take(t, ':') && (!take_int(t, 59, &minute) || (take(t, ':') && !take_int(t, 59, &second))))
        return false;
    *out = sign * ((int64_t)hour * 3600 + minute * 60 + second);
    return true;
}

static bool take_name(struct text *t)
{
    const char *from = t->p;
    if (take(t, '<')) {
        while (t->p < t->end && *t->p != '>')
            t->p++;
        return take(t, '>');
    }
    while (t->p < t->end && ((*t->p >= 'A' && *t->p <= 'Z') || (*t->p >= 'a' && *t->p <= 'z')))
        t->p++;
    return t->p - from >= 3;
}

static bool take_change(struct text *t, struct change *c)
{
    c->time = 7200;
    c->form = take(t, 'M') ? 'M' : take(t, 'J') ? 'J' : '\0';
    if (c->form == 'M' && (!take_int(t, 12, &c->month) || c->month < 1 || !take(t, '.') || !take_int(t, 5, &c->week) ||
                           c->week < 1 || !take(t, '.') || !take_int(t, 6, &c->day)))
        return false;
    if (c->form != 'M' && (!take_int(t, 365, &c->day) || (c->form == 'J' && c->day < 1)))
        return false;
    return !take(t, '/') || take_time(t, 167, &c->time);
}

static bool take_rule(struct zone *z, struct text t)
{
    if (t.p == t.end)
        return true;
    z->rule = true;
    if (!take_name(&t) || !take_time(&t, 24, &z->standard))
        return false;
    z->standard = -z->standard; /* POSIX counts to the west */
    z->offsets[z->n_offsets++] = z->standard;
    if (t.p == t.end)
        return true;
    z->summer = true;
    z->other = z->standard + 3600;
    if (!take_name(&t))
        return false;
    if (t.p < t.end && *t.p != ',') {
        if (!take_time(&t, 24, &z->other))
            return false;
        z->other = -z->other;
    }
    z->offsets[z->n_offsets++] = z->other;
    return take(&t, ',') && take_change(&t, &z->begin) && take(&t, ',') && take_change(&t, &z->end) && t.p == t.end;
}

static int weekday(int64_t days)
{
    int64_t day = (days + 4) % 7;
    return (int)(day < 0 ? day + 7 : day);
}

/* The local time of a change, in seconds since the epoch. */
static int64_t change_in(const struct change *c, int64_t year)
{
    int64_t day;
    bool leap = calendar_days(year, 3, 1) - calendar_days(year, 2, 1) == 29;
    if (c->form == 'M') {
        int64_t first = calendar_days(year, c->month, 1),
                next = c->month == 12 ? calendar_days(year + 1, 1, 1) : calendar_days(year, c->month + 1, 1);
        day = first + (c->day - weekday(first) + 7) % 7 + 7 * (c->week - 1);
        while (day >= next)
            day -= 7;
    } else {
        day = calendar_days(year, 1, 1) + c->day - (c->form == 'J');
        day += c->form == 'J' && leap && c->day >= 60; /* J never counts February 29 */
    }
    return day * DAY + c->time;
}

static int64_t offset_by_rule(const struct zone *z, int64_t utc)
{
    int year, month, day;
    int64_t local = utc + z->standard, days = local / DAY - (local % DAY < 0);
    if (!z->summer || !calendar_date(days, &year, &month, &day))
        return z->standard;
    int64_t begin = change_in(&z->begin, year) - z->standard, end = change_in(&z->end, year) - z->other;
    bool other = begin < end ? utc >= begin && utc < end : utc >= begin || utc < end;
    return other ? z->other : z->standard;
}

/* ---- the file ---- */

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64(const unsigned char *p)
{
    return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

struct counts {
    size_t isut, isstd, leap, time, type, chars;
};

#define HEAD ((size_t)44)

static bool read_head(const unsigned char *p, size_t n, struct counts *c)
{
    if (n < HEAD || memcmp(p, "TZif", 4) != 0 || p[4] < '2')
        return false;
    size_t *const to[] = {&c->isut, &c->isstd, &c->leap, &c->time, &c->type, &c->chars};
    for (size_t i = 0; i < 6; i++)
        if ((*to[i] = be32(p + 20 + 4 * i)) > ZONE_FILE)
            return false;
    return true;
}

static size_t body(const struct counts *c, size_t width)
{
    return c->time * (width + 1) + c->type * 6 + c->chars + c->leap * (width + 4) + c->isstd + c->isut;
}

/* The block of 64-bit times and what it says. */
static bool read_block(struct zone *z, const unsigned char *p, const struct counts *c)
{
    const unsigned char *types = p + c->time * 8, *infos = types + c->time;
    z->n = c->time;
    z->at = xcalloc(c->time + 1, sizeof *z->at);
    z->type = xcalloc(c->time + 1, 1);
    for (size_t i = 0; i < c->time; i++) {
        z->at[i] = be64(p + 8 * i);
        z->type[i] = types[i];
        if (types[i] >= c->type || (i > 0 && z->at[i] <= z->at[i - 1]))
            return false;
    }
    z->n_offsets = c->type;
    for (size_t i = 0; i < c->type; i++) {
        z->offsets[i] = (int32_t)be32(infos + 6 * i);
        if (z->offsets[i] < -MAX_OFFSET || z->offsets[i] > MAX_OFFSET)
            return false;
    }
    return true;
}

static bool read_file(struct zone *z, const unsigned char *p, size_t n)
{
    struct counts c;
    if (!read_head(p, n, &c) || body(&c, 4) > n - HEAD)
        return false;
    size_t skip = HEAD + body(&c, 4); /* the block of 32-bit times, which the other holds too */
    /* Two more offsets come of the rule; a file with leap seconds counts in other seconds than a table does. */
    if (!read_head(p + skip, n - skip, &c) || c.type == 0 || c.type > 254 || c.leap > 0 ||
        body(&c, 8) > n - skip - HEAD || !read_block(z, p + skip + HEAD, &c))
        return false;
    const char *foot = (const char *)p + skip + HEAD + body(&c, 8), *end = (const char *)p + n;
    if (end - foot < 2 || *foot != '\n')
        return false;
    const char *last = memchr(foot + 1, '\n', (size_t)(end - foot) - 1);
    return last && take_rule(z, (struct text){foot + 1, last});
}

struct zone *zone_parse(const unsigned char *p, size_t n)
{
    struct zone *z = xcalloc(1, sizeof *z);
    if (read_file(z, p, n))
        return z;
    zone_free(z);
    return NULL;
}

void zone_free(struct zone *z)
{
    if (z) {
        free(z->at);
        free(z->type);
    }
    free(z);
}

/* ---- instants ---- */

int64_t zone_offset(const struct zone *z, int64_t utc)
{
    size_t low = 0, high = z->n; /* the last change at or before it is low - 1 */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (z->at[middle] <= utc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == z->n && z->rule)
        return offset_by_rule(z, utc);
    return z->offsets[low == 0 ? 0 : z->type[low - 1]];
}

enum zone_local zone_instant(const struct zone *z, int64_t local, int64_t *utc)
{
    size_t found = 0;
    for (size_t i = 0; i < z->n_offsets; i++) {
        int64_t at = local - z->offsets[i];
        if (zone_offset(z, at) != z->offsets[i] || (found > 0 && at == *utc))
            continue;
        if (found++ > 0)
            return ZONE_TWICE;
        *utc = at;
    }
    return found > 0 ? ZONE_ONCE : ZONE_NEVER;
}

/* ---- by name ---- */

enum { ZONES_KEPT = 64 };
static struct {
    char name[TYPE_ZONE_BYTES + 1];
    struct zone *zone; /* NULL: there is none */
} kept[ZONES_KEPT];
static size_t n_kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A name that stays beneath the directory. */
static bool is_name(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= TYPE_ZONE_BYTES && *name != '/' && !strstr(name, "..") &&
           name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/.")] == '\0';
}

static struct zone *load(const char *name)
{
    struct buf path = BUF_INIT, bytes = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&path, ZONES "%s", name);
    struct zone *z = file_read(buf_str(&path), ZONE_FILE, &bytes, &err) == 0
                         ? zone_parse((const unsigned char *)bytes.p, bytes.len)
                         : NULL;
    buf_free(&path);
    buf_free(&bytes);
    return z;
}

const struct zone *zone_named(const char *name)
{
    size_t i = 0;
    if (!is_name(name))
        return NULL;
    pthread_mutex_lock(&lock);
    while (i < n_kept && strcmp(kept[i].name, name) != 0)
        i++;
    if (i == n_kept && n_kept < ZONES_KEPT) {
        strcpy(kept[i].name, name);
        kept[i].zone = load(name);
        n_kept++;
    }
    const struct zone *z = i < ZONES_KEPT ? kept[i].zone : NULL;
    pthread_mutex_unlock(&lock);
    return z;
}
