/* SPDX-License-Identifier: Apache-2.0 */
/* Values into libjq 1.6 and out of it. */
#include "guard/guard.h"
#include "rules/internal.h"

#include <math.h>
#include <string.h>

#define PAST_EXACT 9007199254740992.0 /* 2^53 */

void names_free(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        jv_free(names->at[i]);
    names->n = names->next = 0;
}

jv names_get(struct names *names, const char *p, size_t n)
{
    size_t i = names->next;
    if (i < names->n && (size_t)jv_string_length_bytes(jv_copy(names->at[i])) == n &&
        memcmp(jv_string_value(names->at[i]), p, n) == 0) {
        names->next++;
        return jv_copy(names->at[i]);
    }
    jv name = jv_string_sized(p, (int)n);
    if (i == NAMES)
        return name;
    if (i < names->n)
        jv_free(names->at[i]);
    else
        names->n++;
    names->at[i] = jv_copy(name);
    names->next++;
    return name;
}

static int members(const struct json *v, enum numbers numbers, struct names *names, jv *out, struct err *err)
{
    *out = jv_object();
    for (const struct json *m = json_first(v); m; m = json_next(v, m)) {
        jv name = names_get(names, m->str, m->len), value;
        if (rules_value(json_value(m), numbers, names, &value, err) != 0) {
            jv_free(name);
            jv_free(*out);
            return -1;
        }
        *out = jv_object_set(*out, name, value);
    }
    return 0;
}

static int items(const struct json *v, enum numbers numbers, struct names *names, jv *out, struct err *err)
{
    *out = jv_array_sized((int)v->len);
    for (const struct json *item = json_first(v); item; item = json_next(v, item)) {
        jv value;
        if (rules_value(item, numbers, names, &value, err) != 0) {
            jv_free(*out);
            return -1;
        }
        *out = jv_array_append(*out, value);
    }
    return 0;
}

int rules_value(const struct json *v, enum numbers numbers, struct names *names, jv *out, struct err *err)
{
    double d;
    switch (v->type) {
    case JSON_NULL: *out = jv_null(); return 0;
    case JSON_FALSE: *out = jv_false(); return 0;
    case JSON_TRUE: *out = jv_true(); return 0;
    case JSON_STRING: *out = jv_string_sized(v->str, (int)v->len); return 0;
    case JSON_ARRAY: return items(v, numbers, names, out, err);
    case JSON_OBJECT: return members(v, numbers, names, out, err);
    case JSON_NUMBER: break;
    }
    if (numbers == NUMBERS_TEXT) {
        *out = jv_string_sized(v->str, (int)v->len);
        return 0;
    }
    if (!number_to_double(v->str, v->len, &d))
        return err_set(err, ERR_REFUSED, "%.*s does not fit a double", (int)(v->len < 60 ? v->len : 60), v->str);
    *out = jv_number(d);
    return 0;
}

/* ---- out ---- */

static int put_number(struct buf *out, double d, struct err *err)
{
    if (!isfinite(d))
        return err_set(err, ERR_REFUSED, "the program's output holds %s, a number that JSON does not have",
                       isnan(d) ? "nan" : "an infinite number");
    if (fabs(d) > PAST_EXACT)
        return err_set(
            err, ERR_REFUSED,
            "the program's output holds %.17g, a number past 2^53, whose digits jq does not keep: give it as text", d);
    number_put(out, d);
    return 0;
}

static void put_text(struct buf *out, jv s)
{
    json_put_str(out, jv_string_value(s), (size_t)jv_string_length_bytes(jv_copy(s)));
}

static int put_items(struct buf *out, jv v, unsigned depth, struct err *err)
{
    int n = jv_array_length(jv_copy(v)), rc = 0;
    buf_addc(out, '[');
    for (int i = 0; i < n && rc == 0; i++) {
        jv item = jv_array_get(jv_copy(v), i);
        buf_adds(out, i > 0 ? "," : "");
        rc = rules_put(out, item, depth - 1, err);
        jv_free(item);
    }
    buf_addc(out, ']');
    return rc;
}

static int put_members(struct buf *out, jv v, unsigned depth, struct err *err)
{
    const char *sep = "";
    int rc = 0;
    buf_addc(out, '{');
    for (int i = jv_object_iter(v); rc == 0 && jv_object_iter_valid(v, i); i = jv_object_iter_next(v, i)) {
        jv name = jv_object_iter_key(v, i), value = jv_object_iter_value(v, i);
        buf_adds(out, sep);
        sep = ",";
        put_text(out, name);
        buf_addc(out, ':');
        rc = rules_put(out, value, depth - 1, err);
        jv_free(name);
        jv_free(value);
    }
    buf_addc(out, '}');
    return rc;
}

int rules_put(struct buf *out, jv v, unsigned depth, struct err *err)
{
    if (depth == 0)
        return err_set(err, ERR_REFUSED, "the program's output is nested too deeply");
    if (out->len > RULES_MAX_OUTPUT)
        return err_set(err, ERR_BOUND, "the program's output for one record is larger than %zu bytes",
                       RULES_MAX_OUTPUT);
    switch (jv_get_kind(v)) {
    case JV_KIND_FALSE: buf_adds(out, "false"); return 0;
    case JV_KIND_TRUE: buf_adds(out, "true"); return 0;
    case JV_KIND_NUMBER: return put_number(out, jv_number_value(v), err);
    case JV_KIND_STRING: put_text(out, v); return 0;
    case JV_KIND_ARRAY: return put_items(out, v, depth, err);
    case JV_KIND_OBJECT: return put_members(out, v, depth, err);
    default: buf_adds(out, "null"); return 0;
    }
}
