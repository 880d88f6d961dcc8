/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on their way into libjq and out of it. libjq 1.6 holds numbers as
 * doubles and says nothing when one does not fit, so every number is looked at
 * here on its way in.
 */
#include "ops/internal.h"

#include <math.h>
#include <string.h>

#define TWO_TO_53 9007199254740992.0

/* ---- in ---- */

/* Where in a document a value stands; innermost last. */
struct place {
    const struct json *root;
    enum ops_numbers numbers;
    const char *const *without; /* members of the root that are left out, or NULL */
    unsigned depth;
    struct step {
        const char *name; /* NULL in an array */
        size_t at;        /* the name's length, or the index */
    } steps[JSON_DEPTH];
};

/* Names from outside stand in a message, so they are masked and cut. */
static void put_shown(struct buf *out, const char *p, size_t n)
{
    size_t most = n < 60 ? n : 60;
    msg_mask(out, p, most);
    if (most < n)
        buf_adds(out, "...");
}

static int no_double(const struct place *w, const struct json *v, double d, struct err *err)
{
    struct buf path = BUF_INIT, text = BUF_INIT, as = BUF_INIT;
    for (unsigned i = 0; i < w->depth; i++) {
        if (w->steps[i].name) {
            buf_addc(&path, '.');
            put_shown(&path, w->steps[i].name, w->steps[i].at);
        } else {
            buf_printf(&path, "[%zu]", w->steps[i].at);
        }
    }
    put_shown(&text, v->str, v->len);
    number_put(&as, d);
    err_set(err, ERR_REFUSED,
            "field %s (byte %zu): %s does not fit a double (the nearest is %s); declare numbers: text",
            path.len ? buf_str(&path) : ".", (size_t)(v->str - json_raw(w->root).p) + 1, buf_str(&text), buf_str(&as));
    buf_free(&path);
    buf_free(&text);
    buf_free(&as);
    return -1;
}

static int from_json(struct place *w, const struct json *v, jv *out, struct err *err);

static bool is_left_out(const struct place *w, const struct json *name)
{
    for (const char *const *one = w->depth == 1 ? w->without : NULL; one && *one; one++)
        if (json_is(name, *one))
            return true;
    return false;
}

static int from_object(struct place *w, const struct json *v, jv *out, struct err *err)
{
    jv object = jv_object();
    w->depth++;
    for (const struct json *m = json_first(v); m; m = json_next(v, m)) {
        jv value;
        if (is_left_out(w, m))
            continue;
        w->steps[w->depth - 1] = (struct step){m->str, m->len};
        if (from_json(w, json_value(m), &value, err) < 0) {
            jv_free(object);
            return -1;
        }
        object = jv_object_set(object, jv_string_sized(m->str, (int)m->len), value);
    }
    w->depth--;
    *out = object;
    return 0;
}

static int from_array(struct place *w, const struct json *v, jv *out, struct err *err)
{
    jv array = jv_array_sized((int)v->len);
    w->depth++;
    const struct json *item = json_first(v);
    for (size_t i = 0; i < v->len; i++, item = json_next(v, item)) {
        jv value;
        w->steps[w->depth - 1] = (struct step){NULL, i};
        if (from_json(w, item, &value, err) < 0) {
            jv_free(array);
            return -1;
        }
        array = jv_array_append(array, value);
    }
    w->depth--;
    *out = array;
    return 0;
}

static int from_json(struct place *w, const struct json *v, jv *out, struct err *err)
{
    double d;
    switch (v->type) {
    case JSON_NULL: *out = jv_null(); break;
    case JSON_FALSE: *out = jv_false(); break;
    case JSON_TRUE: *out = jv_true(); break;
    case JSON_STRING: *out = jv_string_sized(v->str, (int)v->len); break;
    case JSON_ARRAY: return from_array(w, v, out, err);
    case JSON_OBJECT: return from_object(w, v, out, err);
    case JSON_NUMBER:
        if (w->numbers == OPS_TEXT) {
            *out = jv_string_sized(v->str, (int)v->len);
        } else {
            if (!number_to_double(v->str, v->len, &d))
                return no_double(w, v, d, err);
            *out = jv_number(d);
        }
        break;
    }
    return 0;
}

int value_from_json(const struct json *v, enum ops_numbers numbers, const char *const *without, jv *out,
                    struct err *err)
{
    struct place w;
    w.root = v;
    w.numbers = numbers;
    w.without = without;
    w.depth = 0;
    return from_json(&w, v, out, err);
}

/* ---- out ---- */

static void put_number(struct buf *out, double d)
{
    bool quoted = !(fabs(d) <= TWO_TO_53); /* also true of a NaN */
    if (quoted)
        buf_addc(out, '"');
    number_put(out, d);
    if (quoted)
        buf_addc(out, '"');
}

static int put_array(struct buf *out, jv v, unsigned depth, struct err *err)
{
    int n = jv_array_length(jv_copy(v)), rc = 0;
    buf_addc(out, '[');
    for (int i = 0; i < n && rc == 0; i++) {
        jv item = jv_array_get(jv_copy(v), i);
        if (i)
            buf_addc(out, ',');
        rc = value_put(out, item, depth - 1, err);
        jv_free(item);
    }
    buf_addc(out, ']');
    return rc;
}

static void put_string(struct buf *out, jv s)
{
    json_put_str(out, jv_string_value(s), (size_t)jv_string_length_bytes(jv_copy(s)));
}

static int put_object(struct buf *out, jv v, unsigned depth, struct err *err)
{
    int rc = 0;
    bool first = true;
    buf_addc(out, '{');
    for (int i = jv_object_iter(v); rc == 0 && jv_object_iter_valid(v, i); i = jv_object_iter_next(v, i)) {
        jv name = jv_object_iter_key(v, i), value = jv_object_iter_value(v, i);
        if (!first)
            buf_addc(out, ',');
        first = false;
        put_string(out, name);
        buf_addc(out, ':');
        rc = value_put(out, value, depth - 1, err);
        jv_free(name);
        jv_free(value);
    }
    buf_addc(out, '}');
    return rc;
}

int value_put(struct buf *out, jv v, unsigned depth, struct err *err)
{
    jv_kind kind = jv_get_kind(v);
    if ((kind == JV_KIND_ARRAY || kind == JV_KIND_OBJECT) && depth == 0)
        return err_set(err, ERR_REFUSED, "the program's output is nested too deeply");
    switch (kind) {
    case JV_KIND_FALSE: buf_adds(out, "false"); return 0;
    case JV_KIND_TRUE: buf_adds(out, "true"); return 0;
    case JV_KIND_NUMBER: put_number(out, jv_number_value(v)); return 0;
    case JV_KIND_STRING: put_string(out, v); return 0;
    case JV_KIND_ARRAY: return put_array(out, v, depth, err);
    case JV_KIND_OBJECT: return put_object(out, v, depth, err);
    default: buf_adds(out, "null"); return 0;
    }
}
