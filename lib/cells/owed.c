/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: what the kinds share where they read an owed value. What a column
 * cannot hold exactly is never rounded, clamped, wrapped or defaulted: it
 * becomes {"unfit":…} and the reason.
 */
#include <string.h>

#include "cells/internal.h"

const char not_number[] = "not a number";

/* The plain decimal; past 80 digits, a zero before the point included, the digits and their exponent. */
static void put_plain(struct buf *out, const struct decimal *d)
{
    int64_t whole = decimal_length(d, 0);

    if (d->n > DECIMAL_PLAIN_DIGITS || whole > DECIMAL_PLAIN_DIGITS ||
        (whole <= 0 && 1 - d->exp > DECIMAL_PLAIN_DIGITS))
        decimal_power(d, out);
    else
        decimal_expand(d, out);
}

enum cells_result unfit_text(struct buf *out, const char *text, const char *why, const char **reason)
{
    buf_printf(out, "{\"unfit\":\"%s\"}", text);
    *reason = why;
    return CELL_UNFIT;
}

enum cells_result unfit_number(struct buf *out, const struct decimal *d, const char *unit, const char *why,
                               const char **reason)
{
    buf_adds(out, "{\"unfit\":\"");
    put_plain(out, d);
    buf_adds(out, unit);
    buf_adds(out, "\"}");
    *reason = why;
    return CELL_UNFIT;
}

/* A value of the wrong kind is shown as it came: text as it is, a number by value, a list or object as JSON. */
enum cells_result wrong_kind(struct buf *out, const struct json *v, const char *why, const char **reason)
{
    struct decimal d;
    struct buf text = BUF_INIT;

    *reason = why;
    if (v->type == JSON_NUMBER && decimal_parse(&d, v->str, v->len)) {
        unfit_number(out, &d, "", why, reason);
        return CELL_WRONG;
    }
    buf_adds(out, "{\"unfit\":");
    if (v->type == JSON_STRING) {
        put_string(out, v->str, v->len);
    } else {
        json_canonical(&text, v);
        put_string(out, text.p, text.len);
    }
    buf_addc(out, '}');
    buf_free(&text);
    return CELL_WRONG;
}

/* A JSON number or a string that holds a decimal. */
bool read_number(const struct json *v, struct decimal *d)
{
    return (v->type == JSON_NUMBER || v->type == JSON_STRING) && decimal_parse(d, v->str, v->len);
}
