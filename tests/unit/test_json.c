/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict JSON reader and the canonical writer. Cases follow RFC 8259
 * production by production: what the grammar allows is accepted, all else is
 * refused at a stated byte; where the standard leaves a choice, ours is here.
 */
#include "json/json.h"
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct text {
    const char *p;
    size_t n;
};
#define T(s) \
    { \
        s, sizeof(s) - 1 \
    }

/* Both readers must say the same of a text. Returns acceptance; *e as refused. */
static bool both(const char *p, size_t n, struct json_error *e)
{
    struct arena a = ARENA_INIT;
    struct json_error f = {0, NULL};
    e->offset = 0;
    e->why = NULL;
    char *exact = malloc(n ? n : 1); /* its end is the end of the memory, so that a sanitizer sees a read past it */
    if (n)
        memcpy(exact, p, n);
    bool valid = json_valid(exact, n, e);
    struct json *tree = json_parse(exact, n, &a, &f);
    assert_int_equal(valid, tree != NULL);
    if (!valid) {
        assert_int_equal(e->offset, f.offset);
        assert_string_equal(e->why, f.why);
        assert_true(e->offset <= n);
    }
    free(exact);
    arena_free(&a);
    return valid;
}

static void accepts_the_grammar(void **state)
{
    (void)state;
    static const struct text texts[] = {
        /* section 2: any value is a text; white space is space, tab, line feed, carriage return, around any token */
        T("null"),
        T("true"),
        T("false"),
        T("0"),
        T("\"\""),
        T("[]"),
        T("{}"),
        T(" 1 "),
        T("\t\n\r [ \t1\r,\n2 ] \n"),
        T(" { \"a\" : 1 , \"b\" : 2 } "),
        T("[\n]"),
        T("{\r\n}"),
        /* 4: members; names any string, empty and escaped ones too; the same name again in another object */
        T("{\"\":0}"),
        T("{\"a\":{\"a\":{\"a\":[]}}}"),
        T("[{\"a\":1},{\"a\":2}]"),
        T("{\"a\":1,\"A\":2,\"a \":3}"),
        T("{\"\\u0000\":1,\"\":2}"),
        T("{\"a\\tb\":1,\"a\\nb\":2}"),
        T("{\"min\":-1.0e+28,\"max\":1.0e+28}"),
        /* 5: arrays of mixed values */
        T("[null,1,\"1\",{}]"),
        T("[[]]"),
        T("[[],[[]]]"),
        T("[1,null,null,null,2]"),
        T("[\"a\"]"),
        T("[false]"),
        /* 6: numbers */
        T("-0"),
        T("-0.0"),
        T("0.0"),
        T("-1"),
        T("10"),
        T("123456789012345678901234567890"),
        T("0e1"),
        T("0E+1"),
        T("1e-2"),
        T("1E22"),
        T("123.456e78"),
        T("123e45"),
        T("[0e+1]"),
        T("-0e-0"),
        T("1.5E+3"),
        T("0.000000000000000000000000000000000000001"),
        T("100000000000000000000000000000000"),
        T("-123"),
        T("1e00"),
        T("20e1"),
        /* past what a double holds: the grammar allows it, and the text is kept */
        T("1e400"),
        T("-1e400"),
        T("123.456e-789"),
        T("0.4e006699999999999999999999999999999999969999999006"),
        T("1.5e+9999"),
        T("-123123123123123123123123123123"),
        /* 7: every escape; the solidus raw too; U+0000 escaped; U+007F and the line separators raw */
        T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
        T("\"/\""),
        T("\"\\u0000\""),
        T("\"\x7f\""),
        T("\"\xe2\x80\xa8\xe2\x80\xa9\""),
        T("\"\\u0041\\u00e9\\u20AC\\uFFFF\\ufffe\""),
        T("\"\\u0012\""),
        T("\"\\\\u0000\""),
        T("\"\\\\\\\"\""),
        T("\"a/*b*/c\""),
        /* pairs of surrogates, either case of digits, the least and the greatest; noncharacters */
        T("\"\\ud800\\udc00\""),
        T("\"\\uDBFF\\uDFFF\""),
        T("\"\\uD83d\\uDe39\\ud83d\\ude00\""),
        T("\"\\ufdd0\\u200B\""),
        /* 8.1: raw UTF-8 of 2, 3 and 4 bytes, at the edges of each length */
        T("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""),
        T("{\"\xd0\xb8\xd0\xbc\xd1\x8f\":\"\xe2\x82\xac\"}"),
        T("\"\xef\xbb\xbf\""),
        /* longer than the wide loops take at once */
        T("\"0123456789abcdef0123456789abcdef0123456789abcdef\""),
        T("[12345678901234567,1234567890123456]"),
        T("\"0123456789abcd\xc3\xa9\""),
        T("\"0123456789abcde\xc3\xa9g\""),
        T("\"0123456789abcdef\\n\""),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct json_error e;
        if (!both(texts[i].p, texts[i].n, &e))
            fail_msg("refused %s: byte %zu: %s", texts[i].p, e.offset, e.why);
    }
}

struct refusal {
    const char *p;
    size_t n, at;
    const char *why;
};
#define R(s, at, why) \
    { \
        s, sizeof(s) - 1, at, why \
    }

static const struct refusal structure[] = {
    R("", 0, "no value"),
    R("  \n", 3, "no value"),
    R("\xef\xbb\xbf", 0, "byte order mark"),
    R("\xef\xbb\xbf{}", 0, "byte order mark"),
    R("1 2", 2, "text after the value"),
    R("{}}", 2, "text after the value"),
    R("[1]]", 3, "text after the value"),
    R("nullx", 4, "text after the value"),
    R("1]", 1, "text after the value"),
    R("\"\"x", 2, "text after the value"),
    R("[]//c", 2, "text after the value"),
    R("{}\f", 2, "text after the value"),
    R("[][]", 2, "text after the value"),
    R("1\0", 1, "text after the value"),
    R("\"a\",", 3, "text after the value"),
    R("nul", 0, "not the start of a value"),
    R("True", 0, "not the start of a value"),
    R("NaN", 0, "not the start of a value"),
    R("Infinity", 0, "not the start of a value"),
    R("'a'", 0, "not the start of a value"),
    R("a", 0, "not the start of a value"),
    R("*", 0, "not the start of a value"),
    R("\xe5", 0, "not the start of a value"),
    R("\f1", 0, "not the start of a value"),
    R("\xc2\xa0"
      "1",
      0, "not the start of a value"),
    R("]", 0, "not the start of a value"),
    R(",", 0, "not the start of a value"),
    R("\0", 0, "not the start of a value"),
    R("/**/1", 0, "not the start of a value"),
    R("<.>", 0, "not the start of a value"),
    R("\\u000A\"\"", 0, "not the start of a value"),
    R("[", 1, "text ends before a value"),
    R("[1,", 3, "text ends before a value"),
    R("[ \v1]", 2, "not the start of a value"),
    R("[nul]", 1, "not the start of a value"),
    R("[fals", 1, "not the start of a value"),
    R("[tru]", 1, "not the start of a value"),
    R("[\xff]", 1, "not the start of a value"),
    R("[,1]", 1, "a value is missing"),
    R("[1,,2]", 3, "a value is missing"),
    R("[1,]", 3, "a value is missing"),
    R("[,]", 1, "a value is missing"),
    R("[}", 1, "a value is missing"),
    R("{\"a\":}", 5, "a value is missing"),
    R("{\"a\":,", 5, "a value is missing"),
    R("{\"a\":1,\"b\":]", 11, "a value is missing"),
    R("{\"a\":", 5, "text ends before a value"),
    R("[1 2]", 3, "expected a comma or a closing bracket"),
    R("[1}", 2, "expected a comma or a closing bracket"),
    R("[\"a\"\xc3\xa9]", 4, "expected a comma or a closing bracket"),
    R("[1:2]", 2, "expected a comma or a closing bracket"),
    R("[3[4]]", 2, "expected a comma or a closing bracket"),
    R("[0x1]", 2, "expected a comma or a closing bracket"),
    R("[1+2]", 2, "expected a comma or a closing bracket"),
    R("[1", 2, "text ends inside an array"),
    R("{\"a\":1 \"b\":2}", 7, "expected a comma or a closing brace"),
    R("{\"a\":1]", 6, "expected a comma or a closing brace"),
    R("{\"a\":true]", 9, "expected a comma or a closing brace"),
    R("{\"a\":1#}", 6, "expected a comma or a closing brace"),
    R("{\"a\":1", 6, "text ends inside an object"),
    R("{", 1, "text ends inside an object"),
    R("{\"a\"", 4, "text ends inside an object"),
    R("{\"a\":1,", 7, "text ends inside an object"),
    R("{a:1}", 1, "expected a name in quotes"),
    R("{1:1}", 1, "expected a name in quotes"),
    R("{'a':1}", 1, "expected a name in quotes"),
    R("{[", 1, "expected a name in quotes"),
    R("{,", 1, "expected a name in quotes"),
    R("{\"a\":1,,\"b\":2}", 7, "expected a name in quotes"),
    R("{null:1}", 1, "expected a name in quotes"),
    R("{\"a\":1,}", 7, "comma before a closing brace"),
    R("{\"a\" 1}", 5, "expected a colon"),
    R("{\"a\",1}", 4, "expected a colon"),
    R("{\"a\"}", 4, "expected a colon"),
    R("{\"a\"::1}", 5, "not the start of a value"),
};

static const struct refusal numbers[] = {
    R("01", 1, "leading zero"),
    R("-01", 2, "leading zero"),
    R("[-012]", 3, "leading zero"),
    R("00", 1, "leading zero"),
    R("012.3", 1, "leading zero"),
    R("-", 1, "text ends inside a number"),
    R("1.", 2, "text ends inside a number"),
    R("1e", 2, "text ends inside a number"),
    R("1e+", 3, "text ends inside a number"),
    R("0.e1", 2, "expected a digit"),
    R("[1.]", 3, "expected a digit"),
    R("[-]", 2, "expected a digit"),
    R("[--1]", 2, "expected a digit"),
    R("[-a]", 2, "expected a digit"),
    R("[1.e1]", 3, "expected a digit"),
    R("[1e]", 3, "expected a digit"),
    R("[1e-]", 4, "expected a digit"),
    R("[1.0e+]", 6, "expected a digit"),
    R("[0.3e]", 5, "expected a digit"),
    R("[1eE2]", 3, "expected a digit"),
    R("[-.1]", 2, "expected a digit"),
    R("[- 1]", 2, "expected a digit"),
    R("[-Infinity]", 2, "expected a digit"),
    R("+1", 0, "not the start of a value"),
    R(".5", 0, "not the start of a value"),
    R("[++1]", 1, "not the start of a value"),
    R("[\xef\xbc\x91]", 1, "not the start of a value"),
    R("[1.2.3]", 4, "expected a comma or a closing bracket"),
    R("[1 000]", 3, "expected a comma or a closing bracket"),
    R("[1e1.5]", 4, "expected a comma or a closing bracket"),
    R("[1_0]", 2, "expected a comma or a closing bracket"),
    R("[1ea]", 3, "expected a digit"),
    R("1f", 1, "text after the value"),
};

static const struct refusal strings[] = {
    R("\"", 1, "text ends inside a string"),
    R("\"abc", 4, "text ends inside a string"),
    R("\"\\\"", 3, "text ends inside a string"),
    R("\"\\", 1, "text ends inside a string"),
    R("[\"x", 3, "text ends inside a string"),
    R("\"a\tb\"", 2, "control character in a string"),
    R("\"a\nb\"", 2, "control character in a string"),
    R("\"\0\"", 1, "control character in a string"),
    R("\"\x1f\"", 1, "control character in a string"),
    R("{\"a\rb\":1}", 3, "control character in a string"),
    R("\"0123456789abcdef\x01\"", 17, "control character in a string"),
    R("\"\\a\"", 1, "unknown escape"),
    R("\"\\x41\"", 1, "unknown escape"),
    R("\"\\'\"", 1, "unknown escape"),
    R("\"\\\0\"", 1, "unknown escape"),
    R("\"\\U0041\"", 1, "unknown escape"),
    R("\"\\\xc3\xa9\"", 1, "unknown escape"),
    R("\"\\\n\"", 1, "unknown escape"),
    R("\"\\0\"", 1, "unknown escape"),
    R("\"\\u\"", 1, "\\u without four hexadecimal digits"),
    R("\"\\u123\"", 1, "\\u without four hexadecimal digits"),
    R("\"\\u00g0\"", 1, "\\u without four hexadecimal digits"),
    R("\"ab\\u12", 3, "\\u without four hexadecimal digits"),
    R("\"\\u 123\"", 1, "\\u without four hexadecimal digits"),
    R("\"\\u-123\"", 1, "\\u without four hexadecimal digits"),
    R("\"\\ud800\"", 1, "lone surrogate"),
    R("\"\\udc00\"", 1, "lone surrogate"),
    R("\"\\ud800x\"", 1, "lone surrogate"),
    R("\"\\ud800\\n\"", 1, "lone surrogate"),
    R("\"\\ud800\\ud800\"", 1, "lone surrogate"),
    R("\"\\udfff\\ud800\"", 1, "lone surrogate"),
    R("\"\\ud800\\u0041\"", 1, "lone surrogate"),
    R("\"\\ud83d\\ude0\"", 1, "lone surrogate"),
    R("\"\\ud83d\\u\"", 1, "lone surrogate"),
    R("\"a\\ud83d\\ude00\\udead\"", 14, "lone surrogate"),
    R("{\"\\udbff\":1}", 2, "lone surrogate"),
    R("\"\\ud800", 1, "lone surrogate"),
    R("\"\\ud800\\udc00\\ud800\\\"", 13, "lone surrogate"),
    /* 8.1: UTF-8 only. A lone continuation, an overlong form of each length, a surrogate, past U+10FFFF, cut short */
    R("\"\x80\"", 1, "invalid UTF-8"),
    R("\"a\xff\"", 2, "invalid UTF-8"),
    R("\"\xc0\xaf\"", 1, "invalid UTF-8"),
    R("\"\xc1\xbf\"", 1, "invalid UTF-8"),
    R("\"\xe0\x9f\xbf\"", 1, "invalid UTF-8"),
    R("\"\xf0\x8f\xbf\xbf\"", 1, "invalid UTF-8"),
    R("\"\xed\xa0\x80\"", 1, "invalid UTF-8"),
    R("\"\xed\xbf\xbf\"", 1, "invalid UTF-8"),
    R("\"\xf4\x90\x80\x80\"", 1, "invalid UTF-8"),
    R("\"\xf5\x80\x80\x80\"", 1, "invalid UTF-8"),
    R("\"\xfc\x83\xbf\xbf\xbf\xbf\"", 1, "invalid UTF-8"),
    R("\"\xc3\"", 1, "invalid UTF-8"),
    R("\"\xe2\x82\"", 1, "invalid UTF-8"),
    R("\"\xf0\x9f\x98\"", 1, "invalid UTF-8"),
    R("\"\xc3\xa9\xe2\x82", 3, "invalid UTF-8"),
    R("\"\xe9\"", 1, "invalid UTF-8"),
    R("\"0123456789abcdef\xc3(\"", 17, "invalid UTF-8"),
    R("{\"\xb9\":\"0\"}", 2, "invalid UTF-8"),
    R("\"\xc3\xa9\xa9\"", 3, "invalid UTF-8"),
    /* UTF-16, with and without its mark */
    R("[\0\"\0\xe9\0\"\0]\0", 1, "not the start of a value"),
    R("\xff\xfe[\0", 0, "not the start of a value"),
};

static const struct refusal duplicates[] = {
    R("{\"a\":1,\"a\":1}", 7, "duplicate name"),
    R("{\"a\":1,\"\\u0061\":2}", 7, "duplicate name"),
    R("{\"\\u0061\":1,\"a\":2}", 12, "duplicate name"),
    R("{\"\":1,\"\":2}", 6, "duplicate name"),
    R("{\"\\/\":1,\"/\":2}", 8, "duplicate name"),
    R("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", 18, "duplicate name"),
    R("{\"a\":{},\"b\":[{\"a\":1}],\"a\":1}", 22, "duplicate name"),
    R("{\"x\":{\"a\":1,\"b\":2,\"a\":3}}", 18, "duplicate name"),
    R("{\"\\u0000\":1,\"\\u0000\":2}", 12, "duplicate name"),
    R("{\"a name that is long enough\":1,\"b\":2,\"a name that is long enough\":3}", 38, "duplicate name"),
    R("{ \"a\" :1, \n\"a\":2}", 11, "duplicate name"),
};

static void refuse_all(const struct refusal *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct json_error e;
        if (both(r[i].p, r[i].n, &e))
            fail_msg("accepted %s", r[i].p);
        if (e.offset != r[i].at || strcmp(e.why, r[i].why) != 0)
            fail_msg("%s: byte %zu: %s, and not byte %zu: %s", r[i].p, e.offset, e.why, r[i].at, r[i].why);
    }
}

static void refuses_and_says_where(void **state)
{
    (void)state;
    refuse_all(structure, sizeof structure / sizeof structure[0]);
    refuse_all(numbers, sizeof numbers / sizeof numbers[0]);
    refuse_all(strings, sizeof strings / sizeof strings[0]);
    refuse_all(duplicates, sizeof duplicates / sizeof duplicates[0]);
}

/* Each text that is one object or array, cut anywhere, is refused at or before the cut. */
static void refuses_every_cut(void **state)
{
    (void)state;
    static const char text[] =
        "{\"type\":\"row\",\"cells\":[\"4\\u00e9\xc3\xa9\\ud83d\\ude00\",null,-1.5e+3,true],\"of\":{\"a\":[],\"b\":{}}}";
    struct json_error e;
    assert_true(both(text, sizeof text - 1, &e));
    for (size_t n = 0; n < sizeof text - 1; n++)
        assert_false(both(text, n, &e));
}

static void bounds_the_depth(void **state)
{
    (void)state;
    struct json_error e;
    for (int object = 0; object < 2; object++) {
        struct buf b = BUF_INIT;
        for (int i = 0; i < JSON_DEPTH; i++)
            buf_adds(&b, object ? "{\"a\":" : "[");
        buf_addc(&b, '1');
        size_t head = b.len;
        for (int i = 0; i < JSON_DEPTH; i++)
            buf_addc(&b, object ? '}' : ']');
        assert_true(both(b.p, b.len, &e));
        b.p[head - 1] = '[';
        assert_false(both(b.p, b.len, &e));
        assert_int_equal(e.offset, head - 1);
        assert_string_equal(e.why, "nested too deeply");
        buf_free(&b);
    }
    struct buf deep = BUF_INIT;
    for (int i = 0; i < 1000000; i++)
        buf_addc(&deep, '[');
    assert_false(both(deep.p, deep.len, &e));
    assert_int_equal(e.offset, JSON_DEPTH);
    buf_free(&deep);
}

/* n members "m<i>", the last of them named as member `again` where that is not below 0. */
static void object_of(struct buf *b, int n, int again)
{
    buf_reset(b);
    buf_addc(b, '{');
    for (int i = 0; i < n; i++)
        buf_printf(b, "%s\"m%d\":{\"m0\":%d}", i ? "," : "", i == n - 1 && again >= 0 ? again : i, i);
    buf_addc(b, '}');
}

static void finds_duplicates_in_objects_of_any_size(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    struct json_error e;
    for (int n = 2; n < 200; n += n < 40 ? 1 : 37)
        for (int again = 0; again < n - 1; again += 1 + n / 8) {
            object_of(&b, n, -1);
            assert_true(both(b.p, b.len, &e));
            object_of(&b, n, again);
            assert_false(both(b.p, b.len, &e));
            assert_string_equal(e.why, "duplicate name");
            char last[32];
            int len = snprintf(last, sizeof last, "\"m%d\"", again);
            assert_memory_equal(b.p + e.offset, last, (size_t)len);
            assert_true(e.offset > b.len - 24);
        }
    buf_free(&b);
}

/* Two hundred thousand names: minutes where each is compared with all before it, a moment here. */
static void large_objects_are_not_quadratic(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    struct json_error e;
    object_of(&b, 200000, -1);
    int64_t t0 = time_mono_ms();
    assert_true(json_valid(b.p, b.len, &e));
    assert_true(time_mono_ms() - t0 < 20000);
    object_of(&b, 200000, 100000);
    assert_false(json_valid(b.p, b.len, &e));
    assert_string_equal(e.why, "duplicate name");
    buf_free(&b);
}

static struct json *tree(struct arena *a, const char *s)
{
    struct json_error e;
    struct json *v = json_parse(s, strlen(s), a, &e);
    if (!v)
        fail_msg("%s: byte %zu: %s", s, e.offset, e.why);
    return v;
}

static void trees_hold_what_was_written(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    const char *text =
        " {\"n\":-1.50e+1 , \"s\":\"a\\u0000\\ud83d\\ude00\\/\",\"l\":[ 1,[ ] ,\"x\"],\"o\":{ },\"t\":true,\"f\":false,\"z\":null} ";
    struct json *v = tree(&a, text);
    assert_int_equal(v->type, JSON_OBJECT);
    assert_int_equal(v->len, 7);
    assert_ptr_equal(json_raw(v).p, text + 1);
    assert_int_equal(json_raw(v).n, strlen(text) - 2);
    const struct json *n = json_get(v, "n"), *s = json_get(v, "s"), *l = json_get(v, "l");
    assert_int_equal(n->len, 8);
    assert_memory_equal(n->str, "-1.50e+1", 8);
    assert_int_equal(s->type, JSON_STRING);
    assert_int_equal(s->len, 7);
    assert_memory_equal(s->str, "a\0\xf0\x9f\x98\x80/", 7);
    assert_memory_equal(json_raw(s).p, "\"a\\u0000", 8);
    assert_int_equal(json_raw(s).n, strlen("\"a\\u0000\\ud83d\\ude00\\/\""));
    assert_int_equal(l->len, 3);
    assert_memory_equal(json_raw(l).p, "[ 1,[ ] ,\"x\"]", json_raw(l).n);
    assert_null(json_at(l, 3));
    assert_int_equal(json_at(l, 1)->type, JSON_ARRAY);
    assert_int_equal(json_at(l, 1)->len, 0);
    assert_true(json_is(json_at(l, 2), "x"));
    assert_int_equal(json_get(v, "o")->type, JSON_OBJECT);
    assert_int_equal(json_get(v, "t")->type, JSON_TRUE);
    assert_int_equal(json_get(v, "f")->type, JSON_FALSE);
    assert_int_equal(json_get(v, "z")->type, JSON_NULL);
    assert_null(json_get(v, "q"));
    assert_null(json_get(l, "n"));
    assert_null(json_get(NULL, "n"));
    assert_memory_equal(json_first(v)->str, "n", 1);
    assert_true(json_get(tree(&a, "{\"\\u0061b\":1}"), "ab") != NULL);
    arena_free(&a);
}

static void raw_is(const struct json *v, const char *text)
{
    assert_int_equal(json_raw(v).n, strlen(text));
    assert_memory_equal(json_raw(v).p, text, strlen(text));
}

/* A container does not keep where its text begins, but how far before its first scalar's that is. */
static void texts_of_containers(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    static const char deep[] = "[ [\n[ {  \"\\n\" : [[ ], {}] } ],2 ], [\"\\t\", 1] ,[\"a\"],[true],[{ }] ,[-1]]";
    const struct json *v = tree(&a, deep), *first = json_first(v), *object = json_first(json_first(first));
    raw_is(v, deep);
    raw_is(first, "[\n[ {  \"\\n\" : [[ ], {}] } ],2 ]");
    raw_is(json_first(first), "[ {  \"\\n\" : [[ ], {}] } ]");
    raw_is(object, "{  \"\\n\" : [[ ], {}] }");
    raw_is(json_first(object), "\"\\n\"");
    raw_is(json_get(object, "\n"), "[[ ], {}]");
    raw_is(json_first(json_get(object, "\n")), "[ ]");
    static const char *const rest[] = {"[\"\\t\", 1]", "[\"a\"]", "[true]", "[{ }]", "[-1]"};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        raw_is(json_at(v, i + 1), rest[i]);
    assert_int_equal(json_span(v), 20);
    arena_free(&a);
}

/* `one` again and again, with commas between. */
static void repeated(struct buf *b, const char *before, const char *one, const char *after)
{
    buf_reserve(b, (size_t)5 << 20);
    buf_adds(b, before);
    while (b->len < (size_t)4 << 20) {
        buf_adds(b, one);
        buf_addc(b, ',');
    }
    b->len--;
    buf_adds(b, after);
}

/* The most that a byte of text can ask for; tests/limits.bats has what programs take. */
static void trees_are_small(void **state)
{
    (void)state;
    static const struct {
        const char *before, *one, *after;
    } texts[] = {{"{\"a\":[", "1", "]}"},
                 {"[", "[]", "]"},
                 {"[", "{\"a\":1}", "]"},
                 {"[", "\"\\n\"", "]"},
                 {"[", "[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]", "]"},
                 {"[", "{\"partition\":1,\"from\":0,\"to\":75}", "]"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf text = BUF_INIT;
        struct arena a = ARENA_INIT;
        repeated(&text, texts[i].before, texts[i].one, texts[i].after);
        const struct json *v = json_parse(text.p, text.len, &a, NULL);
        assert_non_null(v);
        assert_true(json_span(v) * sizeof *v <= 6 * text.len + 64);
        arena_free(&a);
        buf_free(&text);
    }
}

static void a_tree_has_a_bound(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct json_error e;
    assert_null(json_parse("[]", JSON_TREE_MAX + 1, &a, &e));
    assert_string_equal(e.why, "longer than 256 MiB");
}

static void typed_members_refuse_other_types(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct json *v = tree(
        &a,
        "{\"u\":18446744073709551615,\"ut\":\"18446744073709551615\",\"i\":-9223372036854775808,\"big\":18446744073709551616,"
        "\"f\":1.0,\"e\":1e3,\"lead\":\"01\",\"s\":\"x\",\"nul\":\"a\\u0000b\",\"b\":true,\"none\":null,\"l\":[]}");
    uint64_t u = 7;
    int64_t i = 7;
    bool b = false;
    const char *s = NULL;
    struct json *m = NULL;
    assert_int_equal(json_need_u64(v, "u", &u, "doc", &err), 0);
    assert_true(u == UINT64_MAX);
    assert_int_equal(json_need_u64(v, "ut", &u, "doc", &err), 0);
    assert_int_equal(json_need_i64(v, "i", &i, "doc", &err), 0);
    assert_true(i == INT64_MIN);
    static const char *const not_u64[] = {"i", "big", "f", "e", "lead", "s", "b", "none", "l"};
    for (size_t k = 0; k < sizeof not_u64 / sizeof not_u64[0]; k++) {
        assert_int_equal(json_need_u64(v, not_u64[k], &u, "doc", &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_memory_equal(err.text, "doc.", 4);
    }
    assert_int_equal(json_need_u64(v, "gone", &u, "doc", &err), -1);
    assert_string_equal(err.text, "doc.gone: missing");
    assert_int_equal(json_need_i64(v, "u", &i, "doc", &err), -1);
    assert_int_equal(json_need_bool(v, "b", &b, "doc", &err), 0);
    assert_true(b);
    assert_int_equal(json_need_bool(v, "s", &b, "doc", &err), -1);
    assert_string_equal(err.text, "doc.s: not true or false");
    assert_int_equal(json_need_str(v, "s", &a, &s, "doc", &err), 0);
    assert_string_equal(s, "x");
    assert_int_equal(json_need_str(v, "nul", &a, &s, "doc", &err), -1);
    assert_int_equal(json_need_str(v, "u", &a, &s, "doc", &err), -1);
    assert_string_equal(err.text, "doc.u: not a string");
    assert_int_equal(json_need(v, "l", JSON_ARRAY, &m, "doc", &err), 0);
    assert_int_equal(json_need(v, "none", JSON_ARRAY, &m, "doc", &err), -1);
    u = 7;
    s = "kept";
    assert_int_equal(json_opt_u64(v, "gone", &u, "doc", &err), 0);
    assert_int_equal(json_opt_u64(v, "none", &u, "doc", &err), 0);
    assert_int_equal(json_opt_str(v, "none", &a, &s, "doc", &err), 0);
    assert_true(u == 7 && strcmp(s, "kept") == 0);
    assert_int_equal(json_opt_u64(v, "s", &u, "doc", &err), -1);
    assert_int_equal(json_opt_bool(v, "s", &b, "doc", &err), -1);
    assert_int_equal(json_opt_str(v, "u", &a, &s, "doc", &err), -1);
    static const char *const few[] = {"u", NULL}, *const xs[] = {"x", "y", NULL};
    assert_int_equal(json_only(v, few, "doc", &err), -1);
    assert_string_equal(err.text, "doc: unknown member ut");
    assert_int_equal(json_only(tree(&a, "{\"y\":1}"), xs, "doc", &err), 0);
    assert_int_equal(json_only(tree(&a, "[]"), xs, "doc", &err), -1);
    arena_free(&a);
}

static void errors_name_the_document(void **state)
{
    (void)state;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    assert_null(json_parse_named("{\"a\":01}", 8, &a, "scope.json", &err));
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_string_equal(err.text, "scope.json: byte 7: leading zero");
    arena_free(&a);
}

static void writes_with_the_fewest_escapes(void **state)
{
    (void)state;
    struct buf b = BUF_INIT;
    static const char in[] = "\"\\/\b\t\n\f\r\0\x01\x1f\x7f\xc3\xa9\xe2\x80\xa8 0123456789abcdef0123456789\x0b";
    json_put_str(&b, in, sizeof in - 1);
    assert_string_equal(
        buf_str(&b),
        "\"\\\"\\\\/\\b\\t\\n\\f\\r\\u0000\\u0001\\u001f\x7f\xc3\xa9\xe2\x80\xa8 0123456789abcdef0123456789\\u000b\"");
    struct json_w w;
    buf_reset(&b);
    jw_init(&w, &b);
    jw_obj(&w, NULL);
    jw_str(&w, "s", "x");
    jw_str(&w, "none", NULL);
    jw_arr(&w, "l");
    jw_u64(&w, NULL, 9007199254740992u);
    jw_u64(&w, NULL, 9007199254740993u);
    jw_i64(&w, NULL, -9007199254740992);
    jw_i64(&w, NULL, -9007199254740993);
    jw_obj(&w, NULL);
    jw_end_obj(&w);
    jw_arr(&w, NULL);
    jw_end_arr(&w);
    jw_end_arr(&w);
    jw_bool(&w, "b", true);
    jw_raw(&w, "r", "[1]", 3);
    jw_null(&w, "z");
    jw_shown(&w, "whole", "\xc3\xa9");
    jw_shown(&w, "broken", "a\xff");
    jw_shown(&w, "nothing", NULL);
    jw_end_obj(&w);
    assert_string_equal(buf_str(&b),
                        "{\"s\":\"x\",\"none\":null,\"l\":[9007199254740992,\"9007199254740993\",-9007199254740992,"
                        "\"-9007199254740993\",{},[]],\"b\":true,\"r\":[1],\"z\":null,"
                        "\"whole\":\"\xc3\xa9\",\"broken\":\"a\\\\xff\",\"nothing\":null}");
    buf_reset(&b);
    jw_init(&w, &b);
    for (int i = 0; i < JSON_DEPTH; i++)
        jw_arr(&w, NULL);
    jw_u64(&w, NULL, 1);
    jw_u64(&w, NULL, 2);
    for (int i = 0; i < JSON_DEPTH; i++) {
        jw_end_arr(&w);
        if (i < JSON_DEPTH - 1)
            jw_null(&w, NULL);
    }
    assert_true(json_valid(b.p, b.len, NULL));
    buf_free(&b);
}

static void canonical_form(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {" { \"b\" : 1 , \"a\" : [ true , false , null ] } ", "{\"a\":[true,false,null],\"b\":1}"},
        {"{\"aa\":1,\"a\":2,\"\":3,\"\\u00e9\":4,\"z\":5}", "{\"\":3,\"a\":2,\"aa\":1,\"z\":5,\"\xc3\xa9\":4}"},
        {"\"\\u0041\\/\\u007f\\n\\u000b\"", "\"A/\x7f\\n\\u000b\""},
        {"1.0", "1"},
        {"1e3", "1000"},
        {"1000", "1000"},
        {"0.001e6", "1000"},
        {"12300e-2", "123"},
        {"-0", "0"},
        {"-0.0e5", "0"},
        {"0", "0"},
        {"9007199254740992", "9007199254740992"},
        {"9007199254740993", "\"9007199254740993\""},
        {"-9007199254740992", "-9007199254740992"},
        {"-9007199254740993", "\"-9007199254740993\""},
        {"1e16", "\"10000000000000000\""},
        {"1.5", "\"1.5\""},
        {"1.50", "\"1.5\""},
        {"15e-1", "\"1.5\""},
        {"-0.00150", "\"-0.0015\""},
        {"1e400", "\"1e400\""},
        {"10e399", "\"1e400\""},
        {"1e-400", "\"1e-400\""},
        {"1e99999999999999999999", "\"1e99999999999999999999\""},
        {"0e99999999999999999999", "\"0e99999999999999999999\""},
        {"\"1.50\"", "\"1.50\""},
        {"[]", "[]"},
        {"{}", "{}"},
    };
    struct arena a = ARENA_INIT;
    struct buf b = BUF_INIT;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        for (int again = 0; again < 2; again++) {
            buf_reset(&b);
            json_canonical(&b, tree(&a, pairs[i][again]));
            assert_string_equal(buf_str(&b), pairs[i][1]);
        }
    }
    buf_free(&b);
    arena_free(&a);
}

static void numbers_compare_by_value(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"1.0", "1", true},
        {"1e3", "1000", true},
        {"1E+3", "1000.00", true},
        {"0.001", "1e-3", true},
        {"-0.0", "0", true},
        {"0e5", "0.00", true},
        {"9007199254740993", "9007199254740992", false},
        {"1", "-1", false},
        {"1", "10", false},
        {"0", "1", false},
        {"12345678901234.5678", "12345678901234.568", false},
        {"1e400", "1.7976931348623157e308", false},
        {"1e99999999999999999999", "1e99999999999999999999", true},
        {"1e99999999999999999999", "1", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *a = pairs[i].a, *b = pairs[i].b;
        assert_int_equal(json_number_same(a, strlen(a), b, strlen(b)), pairs[i].same);
        assert_int_equal(json_number_same(b, strlen(b), a, strlen(a)), pairs[i].same);
    }
}

/* Each byte value at each place of a stretch longer than the wide loop's step: both forms of the loops stop alike. */
static void wide_and_narrow_loops_agree(void **state)
{
    (void)state;
    char s[40];
    for (size_t at = 0; at < sizeof s; at++)
        for (int c = 0; c < 256; c++) {
            memset(s, '5', sizeof s);
            s[at] = (char)c;
            for (size_t n = at; n <= sizeof s; n += 13) {
                const char *end = s + n, *q = s;
                while (q < end && !bytes_special((unsigned char)*q))
                    q++;
                assert_ptr_equal(bytes_plain(s, end), q);
                assert_ptr_equal(bytes_plain_portable(s, end), q);
                assert_ptr_equal(scan_digits(s, end), scan_digits_portable(s, end));
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_the_grammar),
        cmocka_unit_test(refuses_and_says_where),
        cmocka_unit_test(refuses_every_cut),
        cmocka_unit_test(bounds_the_depth),
        cmocka_unit_test(finds_duplicates_in_objects_of_any_size),
        cmocka_unit_test(large_objects_are_not_quadratic),
        cmocka_unit_test(trees_hold_what_was_written),
        cmocka_unit_test(texts_of_containers),
        cmocka_unit_test(trees_are_small),
        cmocka_unit_test(a_tree_has_a_bound),
        cmocka_unit_test(typed_members_refuse_other_types),
        cmocka_unit_test(errors_name_the_document),
        cmocka_unit_test(writes_with_the_fewest_escapes),
        cmocka_unit_test(canonical_form),
        cmocka_unit_test(numbers_compare_by_value),
        cmocka_unit_test(wide_and_narrow_loops_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
