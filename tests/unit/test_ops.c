/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map operator: what a program sees and gives, what it may not reach, and
 * that no digit changes in silence.
 */
#include "ops/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void collect(void *ctx, const char *p, size_t n)
{
    struct buf *b = ctx;
    buf_add(b, p, n);
    buf_addc(b, '\n');
}

enum numbers { DOUBLE, TEXT };

static int open_map(struct op **out, const char *program, enum numbers numbers, struct err *err)
{
    struct buf text = BUF_INIT;
    struct arena arena = ARENA_INIT;
    struct json_w w;
    jw_init(&w, &text);
    jw_obj(&w, NULL);
    jw_str(&w, "program", program);
    jw_str(&w, "numbers", numbers == TEXT ? "text" : "double");
    jw_end_obj(&w);
    const struct json *parameters = json_parse_named(buf_str(&text), text.len, &arena, "parameters", err);
    int rc = parameters ? op_open(out, "map", parameters, err) : -1;
    buf_free(&text);
    arena_free(&arena);
    return rc;
}

static struct op *compiled(const char *program, enum numbers numbers)
{
    struct op *m = NULL;
    struct err err = ERR_INIT;
    if (open_map(&m, program, numbers, &err) != 0)
        fail_msg("%s: %s", program, err.text);
    return m;
}

/* A record line of orders/3/4711 around the payload's text. */
static void record_of(struct buf *b, const char *payload)
{
    buf_reset(b);
    buf_adds(
        b,
        "{\"type\":\"record\",\"topic\":\"orders\",\"partition\":3,\"offset\":4711,\"tstype\":\"create\",\"ts\":1758000000000,"
        "\"headers\":[\"h\",\"v\"],\"key\":\"k1\",\"payload\":");
    json_put_s(b, payload);
    buf_addc(b, '}');
}

/* The values of the events that the program makes of a payload, one a line; on error, "! " and the error. */
static const char *mapped(struct buf *out, enum numbers numbers, const char *program, const char *payload)
{
    struct op *m = compiled(program, numbers);
    struct buf line = BUF_INIT, events = BUF_INIT;
    struct err err = ERR_INIT;
    record_of(&line, payload);
    buf_reset(out);
    if (op_record(m, line.p, line.len, &(struct op_output){collect, &events}, &err) != 0) {
        assert_int_equal(events.len, 0);
        buf_printf(out, "! %s", err.text);
    }
    for (size_t at = 0; at < events.len;) {
        const char *p = events.p + at, *nl = memchr(p, '\n', events.len - at);
        size_t n = (size_t)(nl - p);
        assert_true(json_valid(p, n, NULL));
        const char *values = memmem(p, n, "\"values\":", 9);
        assert_non_null(values);
        values += 9;
        buf_printf(out, "%s%.*s", out->len ? "\n" : "", (int)(nl - 1 - values), values);
        at += n + 1;
    }
    op_close(m);
    buf_free(&line);
    buf_free(&events);
    return buf_str(out);
}

static void programs_map_payloads(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"{id, n: .name}", "{\"id\":7,\"name\":\"x\"}", "{\"id\":7,\"n\":\"x\"}"},
        {".rows[]", "{\"rows\":[{\"a\":1},{\"a\":2}]}", "{\"a\":1}\n{\"a\":2}"},
        {"select(.ok)", "{\"ok\":false}", ""},
        {"{a: .}", "\"\\u0000\\u007f\\ud83d\\ude00\\\"\"", "{\"a\":\"\\u0000\x7f\xf0\x9f\x98\x80\\\"\"}"},
        {"{a: .}", "[[],{},null,true]", "{\"a\":[[],{},null,true]}"},
        {"{a: $record.key, b: $record.offset, c: $record.headers, d: ($record | has(\"payload\"))}", "1",
         "{\"a\":\"k1\",\"b\":4711,\"c\":[\"h\",\"v\"],\"d\":false}"},
        {"def twice(f): f | f; {a: (3 | twice(. * 2))}", "1", "{\"a\":12}"},
        {"# $ENV, now\n{a: \"$ENV \\(.) now\"}", "1", "{\"a\":\"$ENV 1 now\"}"},
        {"{now, env: .env, input: .input, x: .[\"halt\"]}", "{\"now\":1,\"env\":\"e\",\"input\":2,\"halt\":3}",
         "{\"now\":1,\"env\":\"e\",\"input\":2,\"x\":3}"},
        {"def now: 5; {a: now}", "1", "{\"a\":5}"},
        {"{a: (1425599621 | todate), b: (\"2015-03-05T23:53:41Z\" | fromdate), c: (0 | strftime(\"%Z %s\"))}", "1",
         "{\"a\":\"2015-03-05T23:53:41Z\",\"b\":1425599621,\"c\":\"UTC 0\"}"},
        {"label $out | {a: 1}, break $out, {a: 2}", "1", "{\"a\":1}"},
        {"{a: (try error(\"x\") catch .)}", "1", "{\"a\":\"x\"}"},
        {"{a: (.a | fromjson)}", "{\"a\":\"{\\\"b\\\":[1.50]}\"}", "{\"a\":{\"b\":[1.5]}}"},
        {"{a: (.a | @base64d), b: @base64 \"\\(.a)\", c: ([233] | implode)}", "{\"a\":\"aGk\"}",
         "{\"a\":\"hi\",\"b\":\"YUdr\",\"c\":\"\xc3\xa9\"}"},
        {"{a: (try ([-1] | implode) catch \"no\"), b: (try ([55296] | implode) catch \"no\")}", "1",
         "{\"a\":\"no\",\"b\":\"no\"}"},
    };
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(mapped(&out, DOUBLE, cases[i][0], cases[i][1]), cases[i][2]);
    buf_free(&out);
}

static void doubles_keep_their_value_or_stop(void **state)
{
    (void)state;
    static const char *const kept[][2] = {
        {"0", "0"},
        {"-0", "-0"},
        {"-0.0", "-0"},
        {"1.0", "1"},
        {"1e3", "1000"},
        {"0.1", "0.1"},
        {"-12.3400", "-12.34"},
        {"9007199254740992", "9007199254740992"},
        {"9007199254740994", "\"9007199254740994\""},
        {"1e22", "\"1e+22\""},
        {"12345678901234.568", "12345678901234.568"},
        {"123456789012345", "123456789012345"},
        {"0.000001", "0.000001"},
        {"1e-7", "0.0000001"},
        {"1.5e-7", "0.00000015"},
        {"1.5e-9", "1.5e-09"},
        {"5e-324", "5e-324"},
        {"1.7976931348623157e308", "\"1.7976931348623157e+308\""},
        {"0.30000000000000004", "0.30000000000000004"},
        {"3.141592653589793", "3.141592653589793"},
        {"0e999", "0"},
        {"2.2250738585072014e-308", "2.2250738585072014e-308"},
        {"999999999999999", "999999999999999"},
        {"1000000.25", "1000000.25"},
    };
    static const char *const lost[] = {
        "9007199254740993",
        "-9007199254740993",
        "12345678901234.5678",
        "1e400",
        "-1e400",
        "1e-400",
        "4.9e-324",
        "0.1000000000000000055511151231257827",
        "1.00000000000000001",
        "18446744073709551615",
        "123456789012345678901234567890",
    };
    struct buf out = BUF_INIT, payload = BUF_INIT, want = BUF_INIT;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        buf_reset(&payload);
        buf_reset(&want);
        buf_printf(&payload, "{\"a\":%s}", kept[i][0]);
        buf_printf(&want, "{\"a\":%s}", kept[i][1]);
        assert_string_equal(mapped(&out, DOUBLE, ".", buf_str(&payload)), buf_str(&want));
        buf_reset(&want);
        buf_printf(&want, "{\"a\":\"%s\"}", kept[i][0]);
        assert_string_equal(mapped(&out, TEXT, ".", buf_str(&payload)), buf_str(&want));
        assert_int_equal(mapped(&out, DOUBLE, "{b: 1}", kept[i][0])[0], '{');
    }
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        buf_reset(&payload);
        buf_printf(&payload, "{\"a\":{\"b c\":[1,%s]}}", lost[i]);
        mapped(&out, DOUBLE, "{z: 1}", buf_str(&payload));
        assert_true(strncmp(out.p, "! orders/3/4711: payload: field .a.b c[1] (byte 16): ", 53) == 0);
        assert_non_null(strstr(out.p, "declare numbers: text"));
        buf_reset(&want);
        buf_printf(&want, "{\"a\":{\"b c\":[\"1\",\"%s\"]}}", lost[i]);
        assert_string_equal(mapped(&out, TEXT, ".", buf_str(&payload)), buf_str(&want));
    }
    buf_free(&out);
    buf_free(&payload);
    buf_free(&want);
}

/* Random doubles, and random decimals of up to 15 digits: what is written reads back as the same double, and as few
 * digits as were given come out. */
static void numbers_round_trip(void **state)
{
    (void)state;
    struct op *m = compiled(".", DOUBLE);
    struct buf line = BUF_INIT, events = BUF_INIT, payload = BUF_INIT;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double d;
        char given[64];
        if (i % 2) {
            memcpy(&d, &seed, sizeof d);
            if (!(d - d == 0))
                continue;
            snprintf(given, sizeof given, "%.17g", d);
            for (int digits = 1; digits < 17; digits++) {
                char shorter[64];
                snprintf(shorter, sizeof shorter, "%.*g", digits, d);
                if (strtod(shorter, NULL) == d) {
                    memcpy(given, shorter, sizeof given);
                    break;
                }
            }
        } else {
            int places = (int)(seed % 12);
            uint64_t digits = (seed >> 8) % 1000000000000000u, unit = 1;
            for (int k = 0; k < places; k++)
                unit *= 10;
            snprintf(given, sizeof given, "%s%" PRIu64 ".%0*" PRIu64, seed & 16 ? "-" : "", digits / unit,
                     places ? places : 1, digits % unit);
            d = strtod(given, NULL);
        }
        struct err err = ERR_INIT;
        buf_reset(&payload);
        buf_printf(&payload, "{\"a\":%s}", given);
        record_of(&line, buf_str(&payload));
        buf_reset(&events);
        if (op_record(m, line.p, line.len, &(struct op_output){collect, &events}, &err) != 0)
            fail_msg("%s: %s", given, err.text);
        const char *a = strstr(buf_str(&events), "{\"a\":") + 5;
        a += *a == '"';
        char *end;
        double back = strtod(a, &end);
        assert_memory_equal(&back, &d, sizeof d);
        assert_true(json_number_same(a, (size_t)(end - a), given, strlen(given)));
    }
    op_close(m);
    buf_free(&line);
    buf_free(&events);
    buf_free(&payload);
}

/* Ways to lose digits that libjq keeps silent about, and that try, ? and // would hide. */
static void no_digit_is_lost_in_silence(void **state)
{
    (void)state;
    static const char *const programs[] = {
        "{a: (.a | tonumber)}",
        "{a: ((.a | tonumber) // 0)}",
        "{a: ((.a | tonumber)? // 0)}",
        "{a: (try (.a | tonumber) catch 0)}",
        "{a: (.a | fromjson)}",
        "{a: ((.a | fromjson) // 0)}",
        "select(((.a | tonumber) // 1) > 3)",
    };
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        mapped(&out, DOUBLE, programs[i], "{\"a\":\"9007199254740993\"}");
        assert_non_null(strstr(out.p, "9007199254740993 does not fit a double (the nearest is 9007199254740992)"));
        assert_true(strncmp(out.p, "! orders/3/4711: ", 17) == 0);
    }
    mapped(&out, DOUBLE, "{a: (try (.a | @base64d) catch 0)}", "{\"a\":\"/w==\"}");
    assert_string_equal(out.p, "! orders/3/4711: base64d: the decoded bytes are not UTF-8");
    assert_string_equal(mapped(&out, TEXT, "{a: (.a | fromjson)}", "{\"a\":\"9007199254740993\"}"),
                        "{\"a\":\"9007199254740993\"}");
    assert_string_equal(mapped(&out, DOUBLE, "{a: ((.a | tonumber) // 0)}", "{\"a\":\"x\"}"),
                        "! orders/3/4711: the program failed: tonumber: not a number");
    assert_string_equal(mapped(&out, DOUBLE, "{a: nan, b: infinite, c: -infinite}", "1"),
                        "{\"a\":\"nan\",\"b\":\"inf\",\"c\":\"-inf\"}");
    buf_free(&out);
}

static void refuses_programs_that_reach_outside(void **state)
{
    (void)state;
    static const char *const programs[][2] = {
        {"{a: now}", "now reaches"},
        {"env.HOME", "env reaches"},
        {"$ENV.HOME", "$ENV reaches"},
        {"{$ENV}", "$ENV reaches"},
        {"{a: \"x\\($ENV | length)\"}", "$ENV reaches"},
        {"$ # c\n ENV", "line 2: $ENV"},
        {"\n\n$ENV", "line 3: $ENV"},
        {"\"a\\(\"b\\(1)\")\" | $ENV", "$ENV reaches"},
        {"input", "input reaches"},
        {"[inputs]", "inputs reaches"},
        {"debug", "debug reaches"},
        {"stderr", "stderr reaches"},
        {"halt", "halt reaches"},
        {"halt_error", "halt_error reaches"},
        {"halt_error(2)", "halt_error reaches"},
        {"input_filename", "input_filename reaches"},
        {"input_line_number", "input_line_number reaches"},
        {"get_search_list", "get_search_list reaches"},
        {"\"m\" | modulemeta", "modulemeta reaches"},
        {"localtime", "localtime reaches"},
        {"strflocaltime(\"%Y\")", "strflocaltime reaches"},
        {"def f: now; {a: f}", "now reaches"},
        {"{a: (now? // 1)}", "now reaches"},
        {"include \"m\"; .", "unexpected include"},
        {"import \"m\" as m; .", "unexpected import"},
        {"import \"d\" as $d; .", "unexpected import"},
        {"$__prog_args", "not defined"},
        {"", "program: "},
        {"{", "line 1: syntax error"},
        {"{\na: foo}", "line 2: foo/0 is not defined"},
        {"}", "syntax error"},
        {"{a: 9007199254740993}", "the number 9007199254740993"},
        {"select(.a > 1e400)", "the number 1e400"},
    };
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct op *m = NULL;
        struct err err = ERR_INIT;
        if (open_map(&m, programs[i][0], DOUBLE, &err) == 0)
            fail_msg("compiled: %s", programs[i][0]);
        assert_int_equal(err.kind, ERR_REFUSED);
        if (strncmp(err.text, "program", 7) != 0 || !strstr(err.text, programs[i][1]))
            fail_msg("%s: %s", programs[i][0], err.text);
    }
}

/* ~/.jq is a library to libjq, the zone moves strftime: neither may change a row. */
static void the_users_surroundings_change_nothing(void **state)
{
    (void)state;
    char home[] = "/tmp/test_ops.XXXXXX", file[64];
    assert_non_null(mkdtemp(home));
    snprintf(file, sizeof file, "%s/.jq", home);
    struct err err = ERR_INIT;
    static const char library[] = "def map(f): \"taken over\";";
    assert_int_equal(file_publish(file, library, sizeof library - 1, &err), 0);
    setenv("HOME", home, 1);
    setenv("TZ", "America/New_York", 1);
    struct buf out = BUF_INIT;
    assert_string_equal(mapped(&out, DOUBLE, "{a: ([1] | map(.)), b: (0 | strftime(\"%Z %s\"))}", "1"),
                        "{\"a\":[1],\"b\":\"UTC 0\"}");
    assert_string_equal(getenv("HOME"), home);
    buf_free(&out);
    unlink(file);
    rmdir(home);
}

static void failures_name_the_record(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {".", "nope", "payload: byte 1: not the start of a value"},
        {".", "", "payload: byte 1: no value"},
        {".", "{\"a\":1,\"\\u0061\":2}", "payload: byte 8: duplicate name"},
        {".", "{\"a\":\"\\ud800\"}", "payload: byte 7: lone surrogate"},
        {"{a: .b.c}", "{\"b\":\"x\"}", "the program failed: Cannot index string with string \"c\""},
        {"error({a: 1})", "1", "the program failed: {\"a\":1}"},
        {"error(null)", "1", "the program failed: error(null)"},
        {".a | error", "{}", "the program failed: error(null)"},
        {"{a: 1}, error(\"late\")", "1", "the program failed: late"},
        {".", "5", "the program gave a number; each output must be an object of values by column name"},
        {"[.]", "5", "the program gave an array; each output must be an object of values by column name"},
        {"reduce range(70) as $i ({}; {a: .})", "5", "the program's output is nested too deeply"},
        {"{a: (range(100000) | tostring), b: (\"x\" * 1000)}", "5",
         "the program gave more than 67108864 bytes for one record"},
    };
    struct buf out = BUF_INIT, want = BUF_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_reset(&want);
        buf_printf(&want, "! orders/3/4711: %s", cases[i][2]);
        assert_string_equal(mapped(&out, DOUBLE, cases[i][0], cases[i][1]), buf_str(&want));
    }
    buf_free(&out);
    buf_free(&want);
}

/* One record line through a program that gives its rows, or {a: .}: its event lines, or "! " and the error. */
static const char *line_through(struct buf *out, const char *line)
{
    struct op *m = compiled("if type == \"object\" then .rows[] else {a: .} end", DOUBLE);
    struct err err = ERR_INIT;
    buf_reset(out);
    if (op_record(m, line, strlen(line), &(struct op_output){collect, out}, &err) != 0)
        buf_printf(out, "! %s", err.text);
    op_close(m);
    return buf_str(out);
}

#define LINE(members) "{\"type\":\"record\",\"topic\":\"t\",\"partition\":0,\"offset\":5" members "}"

static void events_carry_place_and_time(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {LINE(",\"ts\":7,\"payload\":\"1\""), "{\"type\":\"event\",\"at\":\"t/0/5\",\"ts\":7,\"values\":{\"a\":1}}\n"},
        {LINE(",\"ts\":7,\"event_time\":3,\"payload\":\"1\""),
         "{\"type\":\"event\",\"at\":\"t/0/5\",\"ts\":3,\"values\":{\"a\":1}}\n"},
        {LINE(",\"ts\":7,\"event_time\":null,\"payload\":\"1\""),
         "{\"type\":\"event\",\"at\":\"t/0/5\",\"ts\":null,\"values\":{\"a\":1}}\n"},
        {LINE(",\"ts\":\"-9223372036854775808\",\"payload\":\"1\""),
         "{\"type\":\"event\",\"at\":\"t/0/5\",\"ts\":\"-9223372036854775808\",\"values\":{\"a\":1}}\n"},
        {LINE(",\"ts\":7,\"payload\":null"),
         "{\"type\":\"event\",\"at\":\"t/0/5\",\"ts\":7,\"values\":{\"a\":null}}\n"},
        {LINE(",\"ts\":7,\"payload\":\"{\\\"rows\\\":[{\\\"b\\\":1},{\\\"b\\\":2},{}]}\""),
         "{\"type\":\"event\",\"at\":\"t/0/5\",\"ts\":7,\"values\":{\"b\":1}}\n{\"type\":\"event\",\"at\":\"t/0/5#1\",\"ts\":7,\"values\":{\"b\":2}}\n"
         "{\"type\":\"event\",\"at\":\"t/0/5#2\",\"ts\":7,\"values\":{}}\n"},
        {LINE(",\"ts\":7,\"payload_b64\":\"/w==\""), "! t/0/5: payload: not UTF-8, so not JSON"},
        {LINE(",\"ts\":7"), "! t/0/5: record.payload: missing"},
        {LINE(",\"ts\":7,\"payload\":{}"), "! t/0/5: record.payload: not a string"},
        {LINE(",\"ts\":1.5,\"payload\":\"1\""), "! t/0/5: record.ts: not a whole number of milliseconds"},
        {"{\"type\":\"record\",\"partition\":0,\"offset\":5}", "! record.topic: missing"},
        {"{\"type\":\"record\",\"topic\":\"t\",\"partition\":-1,\"offset\":5}",
         "! record.partition: not a whole number in [0, 2^64)"},
        {"{\"type\":\"record\",\"topic\":\"t\",\"partition\":2147483648,\"offset\":5}",
         "! record: its topic, partition and offset are no place in a log"},
        {"{\"type\":\"record\",\"topic\":\"t\",\"partition\":0,\"offset\":\"9223372036854775808\"}",
         "! record: its topic, partition and offset are no place in a log"},
        {"{\"type\":\"record\",\"topic\":\"t t\",\"partition\":0,\"offset\":5}",
         "! record: its topic, partition and offset are no place in a log"},
    };
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(line_through(&out, cases[i][0]), cases[i][1]);
    buf_free(&out);
}

/* What a kind does not take is refused by the kind's name; what it has no use for passes. */
static void an_operator_takes_what_its_kind_does(void **state)
{
    (void)state;
    static const char *const refused[][3] = {
        {"nosuch", "{\"program\":\".\"}", "an operator of the kind 'nosuch' is not known here"},
        {"map", "{}", "map.program: missing"},
        {"map", "{\"program\":\".\",\"numbers\":\"exact\"}", "map.numbers: neither double nor text"},
        {"map", "{\"program\":\".\",\"size\":1}", "map: unknown member size"},
    };
    struct arena arena = ARENA_INIT;
    struct op *op = NULL;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct err err = ERR_INIT;
        const struct json *v = json_parse_named(refused[i][1], strlen(refused[i][1]), &arena, "parameters", &err);
        assert_int_equal(op_open(&op, refused[i][0], v, &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_string_equal(err.text, refused[i][2]);
    }
    struct buf events = BUF_INIT;
    struct err err = ERR_INIT;
    struct op_output out = {collect, &events};
    op = compiled(".", DOUBLE);
    assert_int_equal(op_event(op, "{}", 2, &out, &err), -1);
    assert_string_equal(err.text, "a window's row: event.values: missing");
    static const char event[] = "{\"type\":\"event\",\"ts\":-5,\"values\":{\"a\":1}}";
    assert_int_equal(op_event(op, event, sizeof event - 1, &out, &err), 0);
    assert_true(buf_is(&events, "{\"type\":\"event\",\"ts\":-5,\"values\":{\"a\":1}}\n", sizeof event));
    buf_reset(&events);
    assert_int_equal(op_watermark(op, INT64_MAX, &out, &err), 0);
    assert_int_equal(op_barrier(op, 1, &out, &err), 0);
    assert_int_equal(events.len, 0);
    assert_false(op_keeps_state(op));
    op_close(op);
    op_close(NULL);
    arena_free(&arena);
    buf_free(&events);
}

/* State of one record must not reach the next, errors included. */
static void records_do_not_touch_each_other(void **state)
{
    (void)state;
    struct op *m = compiled("{a: (.a | tonumber)}", DOUBLE);
    struct buf line = BUF_INIT, events = BUF_INIT;
    struct err err = ERR_INIT;
    for (int i = 0; i < 3; i++) {
        record_of(&line, "{\"a\":\"9007199254740993\"}");
        assert_int_equal(op_record(m, line.p, line.len, &(struct op_output){collect, &events}, &err), -1);
        record_of(&line, "{\"a\":\"1e400x\"}");
        assert_int_equal(op_record(m, line.p, line.len, &(struct op_output){collect, &events}, &err), -1);
        assert_int_equal(events.len, 0);
        record_of(&line, "{\"a\":\"2\"}");
        assert_int_equal(op_record(m, line.p, line.len, &(struct op_output){collect, &events}, &err), 0);
        assert_non_null(strstr(buf_str(&events), "{\"a\":2}"));
        buf_reset(&events);
    }
    assert_string_equal(op_at(m), "orders/3/4711");
    op_close(m);
    buf_free(&line);
    buf_free(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_map_payloads),
        cmocka_unit_test(doubles_keep_their_value_or_stop),
        cmocka_unit_test(numbers_round_trip),
        cmocka_unit_test(no_digit_is_lost_in_silence),
        cmocka_unit_test(refuses_programs_that_reach_outside),
        cmocka_unit_test(the_users_surroundings_change_nothing),
        cmocka_unit_test(failures_name_the_record),
        cmocka_unit_test(events_carry_place_and_time),
        cmocka_unit_test(an_operator_takes_what_its_kind_does),
        cmocka_unit_test(records_do_not_touch_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
