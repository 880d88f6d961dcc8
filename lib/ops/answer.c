/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a map program asks of us and not of libjq 1.6: tonumber and fromjson,
 * which there lose digits; @base64d, which replaces bytes that are no UTF-8;
 * implode, which aborts the process. Loss that jq would not even report stops
 * the job, whatever `try` or `//` stands around it.
 */
#include "ops/internal.h"

#include <math.h>
#include <string.h>

/* A jq error, which the program may catch. */
static jv complain(const char *what, const char *why)
{
    return jv_invalid_with_msg(jv_string_fmt("%s: %s", what, why));
}

/* Loss: the program sees an error, and *lost stops the job. */
static jv lose(struct err *lost, const char *what)
{
    err_prefix(lost, "%s", what);
    return complain(what, lost->text);
}

static jv answer_tonumber(const char *p, size_t n, struct err *lost)
{
    struct arena arena = ARENA_INIT;
    const struct json *v = json_parse(p, n, &arena, NULL);
    double d = 0;
    jv out;
    if (!v || v->type != JSON_NUMBER) {
        out = complain("tonumber", "not a number");
    } else if (!number_to_double(v->str, v->len, &d)) {
        struct buf as = BUF_INIT;
        number_put(&as, d);
        err_set(lost, ERR_REFUSED, "%.*s does not fit a double (the nearest is %s); keep it as text",
                (int)(v->len < 60 ? v->len : 60), v->str, buf_str(&as));
        buf_free(&as);
        out = lose(lost, "tonumber");
    } else {
        out = jv_number(d);
    }
    arena_free(&arena);
    return out;
}

static jv answer_fromjson(const char *p, size_t n, enum ops_numbers numbers, struct err *lost)
{
    struct arena arena = ARENA_INIT;
    struct json_error e;
    const struct json *v = json_parse(p, n, &arena, &e);
    jv out;
    if (!v)
        out = jv_invalid_with_msg(jv_string_fmt("fromjson: byte %zu: %s", e.offset + 1, e.why));
    else if (value_from_json(v, numbers, NULL, &out, lost) < 0)
        out = lose(lost, "fromjson");
    arena_free(&arena);
    return out;
}

static jv answer_implode(jv points)
{
    static const char why[] = "not an array of code points";
    if (jv_get_kind(points) != JV_KIND_ARRAY)
        return complain("implode", why);
    jv out = jv_string("");
    int n = jv_array_length(jv_copy(points));
    for (int i = 0; i < n; i++) {
        jv point = jv_array_get(jv_copy(points), i);
        double c = jv_get_kind(point) == JV_KIND_NUMBER ? jv_number_value(point) : -1;
        jv_free(point);
        if (!(c >= 0 && c <= 0x10ffff && c == trunc(c)) || (c >= 0xd800 && c <= 0xdfff)) {
            jv_free(out);
            return complain("implode", why);
        }
        out = jv_string_append_codepoint(out, (uint32_t)c);
    }
    return out;
}

static jv answer_base64d(const char *p, size_t n, struct err *lost)
{
    struct buf text = BUF_INIT, bytes = BUF_INIT;
    jv out;
    while (n && p[n - 1] == '=')
        n--;
    buf_add(&text, p, n);
    while (text.len % 4)
        buf_addc(&text, '=');
    if (!base64_decode(&bytes, text.p, text.len)) {
        out = complain("base64d", "not base64");
    } else if (!utf8_valid(bytes.p, bytes.len)) {
        err_set(lost, ERR_REFUSED, "the decoded bytes are not UTF-8");
        out = lose(lost, "base64d");
    } else {
        out = jv_string_sized(bytes.len ? bytes.p : "", (int)bytes.len);
    }
    buf_free(&text);
    buf_free(&bytes);
    return out;
}

jv program_answer(jv question, enum ops_numbers numbers, struct err *lost)
{
    jv name = jv_array_get(jv_copy(question), 0), value = jv_array_get(question, 1);
    const char *what = jv_string_value(name);
    bool text = jv_get_kind(value) == JV_KIND_STRING;
    const char *p = text ? jv_string_value(value) : "";
    size_t n = text ? (size_t)jv_string_length_bytes(jv_copy(value)) : 0;
    jv out;
    if (strcmp(what, "implode") == 0)
        out = answer_implode(value);
    else if (!text)
        out = complain(what, "not a string");
    else if (strcmp(what, "base64d") == 0)
        out = answer_base64d(p, n, lost);
    else if (strcmp(what, "tonumber") == 0)
        out = answer_tonumber(p, n, lost);
    else
        out = answer_fromjson(p, n, numbers, lost);
    jv_free(name);
    jv_free(value);
    return out;
}
