/* SPDX-License-Identifier: Apache-2.0 */
/* cells: times, by their ticks. */
#include <string.h>

#include "cells/internal.h"

/* An owed time that is no instant of the column: its UTC text, or what came where the calendar has none for it. */
static enum cells_result unfit_time(const struct column *c, const struct instant *at, const struct json *v,
                                    const struct decimal *d, struct buf *out, const char *why, const char **reason)
{
    struct buf text = BUF_INIT;

    if (at && cell_kind(&c->type)->is != IS_CLOCK && instant_text(at, cell_kind(&c->type)->is == IS_DAYS, &text)) {
        unfit_text(out, buf_str(&text), why, reason);
    } else if (c->from == FROM_ISO) {
        wrong_kind(out, v, why, reason);
    } else {
        buf_printf(&text, " %s", type_from_name(c->from));
        unfit_number(out, d, buf_str(&text),
                     d->exp < 0 ? "a fraction past the column's precision" : "out of the column's range", reason);
    }
    buf_free(&text);
    return CELL_UNFIT;
}

/* The zone that the column's type names, else the scope's. */
static bool read_iso(struct instant *at, const struct json *v, const struct column *c, const char **why)
{
    enum kind_is is = cell_kind(&c->type)->is;
    const char *zone = *c->type.zone ? c->type.zone : c->zone;

    return is == IS_CLOCK ? instant_from_clock(at, v->str, v->len, why)
                          : instant_from_iso(at, v->str, v->len, is == IS_DAYS, zone, why);
}

enum cells_result owed_time(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    struct instant at;
    struct decimal d;
    const char *reason = "not a date or time in ISO form";
    int64_t ticks;

    if (c->from == FROM_NONE)
        return wrong_kind(out, v, "a time in a column that has no unit of time", why);
    if (c->from == FROM_ISO) {
        if (v->type != JSON_STRING || !read_iso(&at, v, c, &reason))
            return wrong_kind(out, v, reason, why);
    } else if (!read_number(v, &d)) {
        return wrong_kind(out, v, not_number, why);
    } else if (!instant_from_number(&at, &d, c->from, &c->type)) {
        return unfit_time(c, NULL, v, &d, out, reason, why);
    }
    if (!instant_ticks(&at, &c->type, &ticks, &reason))
        return unfit_time(c, &at, v, &d, out, reason, why);
    cells_put_i64(out, ticks);
    return CELL_FIT;
}

bool check_time(const struct type *t, const char *p, size_t n, const char **why)
{
    int64_t v, min, max;

    *why = "not a whole number in canonical form";
    if (!is_whole(p, n))
        return false;
    *why = "out of the column's range";
    instant_range(t, &min, &max);
    return scan_i64(p, n, &v) && v >= min && v <= max;
}

/* [-]hh:mm:ss and the fraction of a time of no day, whose ticks are so many seconds and a rest. */
static void human_clock(uint64_t secs, bool neg, const char *frac, size_t nfrac, struct buf *out)
{
    buf_printf(out, "%s%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 "%s", neg ? "-" : "", secs / 3600, secs / 60 % 60,
               secs % 60, nfrac > 0 ? "." : "");
    buf_add(out, frac, nfrac);
}

/* UTC with as many digits of fraction as the column has; ticks past the calendar stay ticks. */
void human_time(const struct type *t, const char *p, size_t n, struct buf *out)
{
    struct instant at = {.frac = at.own, .nfrac = 0};
    bool days = cell_kind(t)->is == IS_DAYS, clock = cell_kind(t)->is == IS_CLOCK;
    int64_t ticks, unit = 1, rest;

    if (!scan_i64(p, n, &ticks)) {
        buf_add(out, p, n);
        return;
    }
    bool neg = clock && ticks < 0;
    ticks = neg ? -ticks : ticks; /* in range, which was checked */
    for (unsigned i = 0; i < t->scale; i++)
        unit *= 10;
    rest = ticks % unit;
    at.secs = ticks / unit;
    if (rest < 0) {
        rest += unit;
        at.secs--;
    }
    for (int64_t place = unit / 10; place > 0; place /= 10)
        at.own[at.nfrac++] = (char)('0' + rest / place % 10);
    if (clock) {
        human_clock((uint64_t)at.secs, neg, at.own, at.nfrac, out);
        return;
    }
    if (days && (at.secs > INT64_MAX / 86400 || at.secs < INT64_MIN / 86400)) {
        buf_add(out, p, n);
        return;
    }
    if (days)
        at.secs *= 86400;
    if (!instant_text(&at, days, out)) {
        buf_add(out, p, n);
        buf_adds(out, " ticks");
    }
}
