/* SPDX-License-Identifier: Apache-2.0 */
/* What a program asks of us (guard.h): tonumber, which in libjq 1.6 loses digits, fromjson, which loses them too,
 * implode, which aborts, and base64d, which replaces bytes. Numbers in a document are their text here, as in a payload.
 */
#include "guard/guard.h"
#include "rules/internal.h"

#include <math.h>
#include <string.h>

static jv failed(const char *what, const char *why)
{
    return jv_invalid_with_msg(jv_string_fmt("%s: %s", what, why));
}

static jv number_of(const char *p, size_t n, struct err *lost)
{
    struct arena arena = ARENA_INIT;
    const struct json *v = json_parse(p, n, &arena, NULL);
    jv out;
    if (!v || v->type != JSON_NUMBER) {
        out = failed("tonumber", "not a number");
    } else if (rules_value(v, NUMBERS_EXACT, NULL, &out, lost) != 0) {
        err_prefix(lost, "tonumber");
        out = failed("tonumber", "digits that a number does not keep");
    }
    arena_free(&arena);
    return out;
}

static jv document_of(const char *p, size_t n)
{
    struct arena arena = ARENA_INIT;
    struct json_error e;
    const struct json *v = json_parse(p, n, &arena, &e);
    struct names names = {.n = 0};
    jv out;
    if (!v)
        out = failed("fromjson", e.why);
    else
        rules_value(v, NUMBERS_TEXT, &names, &out, NULL); /* texts always fit */
    names_free(&names);
    arena_free(&arena);
    return out;
}

static bool is_point(double c)
{
    return c >= 0 && c <= 0x10ffff && c == trunc(c) && !(c >= 0xd800 && c <= 0xdfff);
}

/* list is consumed. */
static jv text_of(jv list)
{
    static const char why[] = "not an array of code points";
    jv out = jv_get_kind(list) == JV_KIND_ARRAY ? jv_string("") : failed("implode", why);
    int n = jv_is_valid(out) ? jv_array_length(jv_copy(list)) : 0;
    for (int i = 0; i < n && jv_is_valid(out); i++) {
        jv one = jv_array_get(jv_copy(list), i);
        double c = jv_get_kind(one) == JV_KIND_NUMBER ? jv_number_value(one) : -1;
        jv_free(one);
        if (is_point(c)) {
            out = jv_string_append_codepoint(out, (uint32_t)c);
        } else {
            jv_free(out);
            out = failed("implode", why);
        }
    }
    jv_free(list);
    return out;
}

static jv bytes_of(const char *p, size_t n, struct err *lost)
{
    struct buf text = BUF_INIT, bytes = BUF_INIT;
    jv out;
    for (; n > 0 && p[n - 1] == '='; n--)
        continue;
    buf_add(&text, p, n);
    while (text.len % 4 != 0)
        buf_addc(&text, '=');
    if (!base64_decode(&bytes, buf_str(&text), text.len)) {
        out = failed("base64d", "not base64");
    } else if (!utf8_valid(buf_str(&bytes), bytes.len)) {
        err_set(lost, ERR_REFUSED, "base64d: the bytes are not UTF-8, and jq has no others");
        out = failed("base64d", "not UTF-8");
    } else {
        out = jv_string_sized(buf_str(&bytes), (int)bytes.len);
    }
    buf_free(&text);
    buf_free(&bytes);
    return out;
}

jv rules_answer(jv question, struct err *lost)
{
    jv name = jv_array_get(jv_copy(question), 0), value = jv_array_get(question, 1), out;
    const char *what = jv_string_value(name);
    bool text = jv_get_kind(value) == JV_KIND_STRING;
    const char *p = text ? jv_string_value(value) : NULL;
    size_t n = text ? (size_t)jv_string_length_bytes(jv_copy(value)) : 0;
    if (strcmp(what, "implode") == 0)
        out = text_of(jv_copy(value));
    else if (!text)
        out = failed(what, "not a string");
    else if (strcmp(what, "tonumber") == 0)
        out = number_of(p, n, lost);
    else if (strcmp(what, "base64d") == 0)
        out = bytes_of(p, n, lost);
    else
        out = document_of(p, n);
    jv_free(value);
    jv_free(name);
    return out;
}
