/* SPDX-License-Identifier: Apache-2.0 */
/* The reference artifact: written and read back, refused, bound; cells of values, answers to records, payloads, and the
 * story. */
#include "program/program.h"
#include "reference/reference.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static const char columns_text[] =
    "[{\"name\":\"id\",\"type\":\"Int64\",\"key\":true},{\"name\":\"note\",\"type\":\"Nullable(String)\"},"
    "{\"name\":\"amount\",\"type\":\"Decimal(9, 2)\"}]";
static const char scope_text[] = "{\"checkpoint\":7,\"sources\":[{\"partitions\":[{\"to\":200}]}]}";

static struct arena arena;
static struct err err;
static struct columns columns;
static char dir[64], path[80];

static const struct json *parse(const char *text)
{
    const struct json *v = json_parse(text, strlen(text), &arena, NULL);
    assert_non_null(v);
    return v;
}

static int setup(void **state)
{
    (void)state;
    arena = (struct arena)ARENA_INIT;
    err = (struct err)ERR_INIT;
    strcpy(dir, "/tmp/owed-reference.XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/ref", dir);
    assert_int_equal(columns_parse(parse(columns_text), false, &columns, &err), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    columns_free(&columns);
    arena_free(&arena);
    unlink(path);
    return rmdir(dir);
}

/* ---- the artifact ---- */

static const struct reference_head head = {scope_text, sizeof scope_text - 1, "mine", "3", "{\"a\":\n1}"};

static void write_rows(size_t n)
{
    static const struct reference_end end = {
        .complete = true, .reasons = "[]", .verified = "[\"all\"]", .recorded = "{\"x\":1}"};
    struct reference_writer w;
    assert_int_equal(reference_begin(&w, path, &head, &err), 0);
    for (size_t i = 0; i < n; i++) {
        char cells[100];
        int len = snprintf(cells, sizeof cells, "[\"%zu\",\"a \xc3\xa9\",\"100\"]", i);
        const struct stream_row row = {
            .cells = cells, .cells_len = (size_t)len, .at = i % 2 ? "t/0/1" : NULL, .at_len = 5, .ts = {i % 4 == 3, i}};
        assert_int_equal(reference_put(&w, &row, &err), 0);
    }
    assert_int_equal(reference_finish(&w, &end, &err), 0);
    assert_true(w.rows == n);
}

static void comes_back(void **state)
{
    (void)state;
    /* enough rows that the file is longer than what is read of its end first */
    for (size_t n = 0; n <= 5000; n += 2500) {
        struct reference r;
        const struct stream_row *row;
        write_rows(n);
        assert_int_equal(reference_open(&r, path, STREAM_MAX_LINE, &err), 0);
        assert_int_equal(reference_bind(&r, parse(scope_text), &columns, NULL, &err), 0);
        assert_true(r.complete && r.rows == n && r.reasons->len == 0 && r.verified->len == 1);
        assert_true(json_is(json_get(r.implementation, "name"), "mine"));
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(reference_next(&r, &row, &err), 1);
            assert_true(i % 2 ? row->at_len == 5 && memcmp(row->at, "t/0/1", 5) == 0 : row->at == NULL);
            assert_true(row->ts.has == (i % 4 == 3) && (!row->ts.has || row->ts.ms == i));
            assert_true(row->cells[0] == '[' && row->cells[row->cells_len - 1] == ']');
        }
        assert_int_equal(reference_next(&r, &row, &err), 0);
        reference_close(&r);
    }
}

static void any_changed_byte_is_found(void **state)
{
    (void)state;
    struct buf whole = BUF_INIT;
    write_rows(3);
    assert_int_equal(file_read(path, 1 << 20, &whole, &err), 0);
    for (size_t i = 0; i < whole.len; i++) {
        struct reference r;
        const struct stream_row *row;
        whole.p[i] ^= 1;
        assert_int_equal(file_publish(path, whole.p, whole.len, &err), 0);
        int rc = reference_open(&r, path, STREAM_MAX_LINE, &err);
        if (rc == 0)
            rc = reference_bind(&r, parse(scope_text), &columns, NULL, &err);
        while (rc >= 0 && (rc = reference_next(&r, &row, &err)) == 1)
            ;
        /* what the end line says beside its hashes is not hashed: that it is JSON is all that is known of it */
        bool told = memmem(whole.p, whole.len, "\"verified\"", 10) == NULL ||
                    i > (size_t)((char *)memmem(whole.p, whole.len, "\"verified\"", 10) - whole.p);
        assert_true(rc == -1 || told);
        assert_true(rc == 0 || err.kind == ERR_REFUSED);
        reference_close(&r);
        whole.p[i] ^= 1;
    }
    buf_free(&whole);
}

static void every_cut_is_found(void **state)
{
    (void)state;
    struct buf whole = BUF_INIT;
    write_rows(3);
    assert_int_equal(file_read(path, 1 << 20, &whole, &err), 0);
    for (size_t n = 0; n < whole.len; n++) {
        struct reference r;
        assert_int_equal(file_publish(path, whole.p, n, &err), 0);
        assert_int_equal(reference_open(&r, path, STREAM_MAX_LINE, &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
        reference_close(&r);
    }
    buf_free(&whole);
}

static void first_field_that_differs(void **state)
{
    (void)state;
    struct reference r;
    write_rows(1);
    assert_int_equal(reference_open(&r, path, STREAM_MAX_LINE, &err), 0);
    assert_int_equal(reference_bind(&r, parse("{\"sources\":[{\"partitions\":[{\"to\":300}]}],\"checkpoint\":7}"),
                                    &columns, NULL, &err),
                     -1);
    assert_non_null(
        strstr(err.text, "is of another scope: sources[0].partitions[0].to: 300 here, 200 in the reference"));
    reference_close(&r);
}

static void dropped_leaves_nothing(void **state)
{
    (void)state;
    struct reference_writer w;
    assert_int_equal(reference_begin(&w, path, &head, &err), 0);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(reference_put(&w, &(struct stream_row){.cells = "[\"1\"]", .cells_len = 5}, &err), 0);
    reference_drop(&w);
    assert_int_equal(access(path, F_OK), -1);
    /* the directory is removed by teardown, which fails where anything is left in it */
}

static void published_over_what_was_there(void **state)
{
    (void)state;
    struct file_out f;
    struct buf got = BUF_INIT;
    struct stat st;
    assert_int_equal(file_publish(path, "old", 3, &err), 0);
    assert_int_equal(file_begin(&f, path, &err), 0);
    assert_int_equal(file_add(&f, "new", 3, &err), 0);
    assert_int_equal(file_read(path, 100, &got, &err), 0);
    assert_true(buf_is(&got, "old", 3));
    assert_int_equal(file_commit(&f, &err), 0);
    buf_reset(&got);
    assert_int_equal(file_read(path, 100, &got, &err), 0);
    assert_true(buf_is(&got, "new", 3));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(file_begin(&f, dir, &err), -1);
    assert_int_equal(err.kind, ERR_REFUSED);
    assert_int_equal(file_begin(&f, "", &err), -1);
    assert_int_equal(file_begin(&f, "/none-of-this/x", &err), -1);
    buf_free(&got);
}

/* ---- cells ---- */

static void cells_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *values, *cells, *error;
    } cases[] = {
        {"{\"id\":1,\"note\":\"n\",\"amount\":1}", "[\"1\",\"n\",\"100\"]", NULL},
        {"{\"amount\":\"1.5\",\"id\":2}", "[\"2\",null,\"150\"]", NULL},
        {"{\"note\":null,\"amount\":1e1,\"id\":\"3\"}", "[\"3\",null,\"1000\"]", NULL},
        {"{\"id\":1.5,\"amount\":0.001}", "[{\"unfit\":\"1.5\"},null,{\"unfit\":\"0.001\"}]", NULL},
        {"{\"id\":null,\"amount\":0}", "[{\"unfit\":\"null\"},null,\"0\"]", NULL},
        {"{\"id\":1}", "[\"1\",null,{\"unfit\":\"null\"}]", NULL},
        {"{\"id\":1,\"amount\":1,\"x\\n\":1}", NULL, "column 'x\\x0a': the table's scope has no such column"},
        {"{\"id\":\"one\",\"amount\":1}", "[{\"unfit\":\"one\"},null,\"100\"]", NULL},
        {"{\"id\":1,\"amount\":1,\"note\":1}", "[\"1\",{\"unfit\":\"1\"},\"100\"]", NULL},
        {"{}", "[{\"unfit\":\"null\"},null,{\"unfit\":\"null\"}]", NULL},
        {"{\"late\":[{}],\"id\":1,\"other\":2,\"amount\":1}", "[\"1\",null,\"100\"]", NULL},
        {"{\"late\":1,\"later\":1}", NULL, "column 'later': the table's scope has no such column"},
        {"{\"id\":1,\"note\":\"n\",\"amount\":1}", "[\"1\",\"n\",\"100\"]", NULL},
    };
    struct scope_left left[] = {{"late", "DEFAULT"}, {"other", ""}};
    const struct scope scope = {.columns = columns, .declared = {.left = left, .n_left = 2}};
    struct reference_cells c;
    struct buf out = BUF_INIT;
    reference_cells_init(&c, &scope);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&out);
        int rc = reference_cells_put(&c, parse(cases[i].values), &out, &err);
        assert_int_equal(rc, cases[i].error ? -1 : strstr(cases[i].cells, "unfit") != NULL);
        if (cases[i].error)
            assert_string_equal(err.text, cases[i].error);
        else
            assert_string_equal(buf_str(&out), cases[i].cells);
    }
    assert_true(*map_find(&c.passed, "late", 4) == 2 && *map_find(&c.passed, "other", 5) == 1);
    buf_free(&out);
    reference_cells_free(&c);
}

/* ---- answers ---- */

static int record_of(struct program_answers *a, uint64_t partition, uint64_t offset, enum program_value value)
{
    return program_answers_record(
        a,
        &(struct program_record){
            .topic = "t", .topic_len = 1, .partition = partition, .offset = offset, .value = value, .why = "no"},
        &err);
}

static int record(struct program_answers *a, uint64_t partition, uint64_t offset)
{
    return record_of(a, partition, offset, PROGRAM_READ);
}

static int answer(struct program_answers *a, const char *place, enum program_answer what)
{
    return program_answers_at(a, place, strlen(place), what, "said", 4, NULL, &err);
}

static int at(struct program_answers *a, const char *place)
{
    return answer(a, place, strncmp(place, "t/3/", 4) != 0 ? PROGRAM_ROW : PROGRAM_SKIP);
}

static struct stream_ts time_of(uint64_t kind, uint64_t i)
{
    static const uint64_t ends[] = {0, TS_MAX, 1796000000123, 1796000000123, 1};
    switch (kind) {
    case 0: return (struct stream_ts){.has = false};
    case 1: return (struct stream_ts){true, 1796000000000 + i / 7};
    case 2: return (struct stream_ts){true, 1796000000000};
    case 3: return (struct stream_ts){i > 500 && i % 3 != 0, 1796000000000 - i * i};
    default: return (struct stream_ts){i / 64 % 2 == 0, ends[i % 5]};
    }
}

/* Whatever is answered in whatever order, it is of the time of its record. */
static void answers_know_times(void **state)
{
    (void)state;
    struct program_answers *a = program_answers_new();
    for (uint64_t i = 0; i < 5000; i++)
        for (uint64_t kind = 0; kind < 5; kind++)
            assert_int_equal(
                program_answers_record(
                    a,
                    &(struct program_record){
                        .topic = "t", .topic_len = 1, .partition = kind, .offset = 2 * i, .ts = time_of(kind, i)},
                    &err),
                0);
    for (uint64_t i = 0; i < 5000; i++)
        for (uint64_t kind = 0; kind < 5; kind++) {
            char place[64];
            uint64_t of = i * 2713 % 5000;
            struct stream_ts got = {true, 77}, want = time_of(kind, of);
            int n = snprintf(place, sizeof place, "t/%" PRIu64 "/%" PRIu64, kind, 2 * of);
            assert_int_equal(program_answers_at(a, place, (size_t)n, PROGRAM_ROW, NULL, 0, &got, &err), 0);
            assert_true(got.has == want.has && (!got.has || got.ms == want.ms));
        }
    program_answers_free(a);
}

static void answers_over_gaps(void **state)
{
    (void)state;
    struct program_answers *a = program_answers_new();
    struct buf place = BUF_INIT;
    assert_true(program_answers_missing(a, &place) == 0);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(record(a, 0, i + i / 1000 * 7), 0);
        assert_int_equal(record(a, 3, i), 0);
    }
    assert_int_equal(record(a, 0, 5), -1);
    assert_int_equal(record(a, 1, INT64_MAX), 0);
    char text[64];
    for (uint64_t i = 100000; i-- > 0;) {
        snprintf(text, sizeof text, "t/0/%" PRIu64 "%s", (i + i / 1000 * 7), i % 3 ? "" : "#1");
        if (i != 77777)
            assert_int_equal(at(a, text), 0);
        snprintf(text, sizeof text, "t/3/%" PRIu64, i);
        assert_int_equal(at(a, text), 0);
        assert_int_equal(at(a, text), 0);
    }
    assert_int_equal(at(a, "t/1/9223372036854775807"), 0);
    assert_true(program_answers_missing(a, &place) == 1);
    assert_string_equal(buf_str(&place), "t/0/78316");
    assert_true(program_answers_count(a).without_row == 100001); /* partition 3 was skipped */
    assert_int_equal(answer(a, "t/3/99999", PROGRAM_ROW), 0);
    assert_int_equal(answer(a, "t/3/99999", PROGRAM_SKIP), 0);
    assert_true(program_answers_count(a).without_row == 100000);
    static const char *const wrong[] = {"t/0/1000",
                                        "t/0/100700",
                                        "t/2/1",
                                        "u/0/1",
                                        "t/1/0",
                                        "",
                                        "t",
                                        "t/",
                                        "t/0",
                                        "t/0/",
                                        "t/0/1#",
                                        "t//1",
                                        "/0/1",
                                        "t/0/-1",
                                        "t/0/1/2",
                                        "t/0/01",
                                        "t/0/18446744073709551616",
                                        "t/1/9223372036854775808",
                                        "t/0/1#0",
                                        "t#/0/1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(at(a, wrong[i]), -1);
    buf_free(&place);
    program_answers_free(a);
}

/* Each record is one of three things, whatever is answered to it and in whatever order. */
static void records_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct {
        enum program_value value;
        const char *answers; /* r a row, s a skip, u unreadable */
        char is;             /* r readable, n null, u unreadable */
    } cases[] = {
        {PROGRAM_READ, "", 'r'},      {PROGRAM_READ, "s", 'r'},      {PROGRAM_READ, "rs", 'r'},
        {PROGRAM_READ, "u", 'u'},     {PROGRAM_READ, "ru", 'u'},     {PROGRAM_READ, "uru", 'u'},
        {PROGRAM_NULL, "", 'n'},      {PROGRAM_NULL, "rs", 'n'},     {PROGRAM_NULL, "us", 'u'},
        {PROGRAM_NO_VALUE, "", 'u'},  {PROGRAM_NO_VALUE, "s", 'u'},  {PROGRAM_NO_VALUE, "sr", 'r'},
        {PROGRAM_NO_VALUE, "u", 'u'}, {PROGRAM_NO_VALUE, "ru", 'u'}, {PROGRAM_NO_VALUE, "ur", 'u'},
    };
    struct program_answers *a = program_answers_new();
    uint64_t was[128] = {0}, n = sizeof cases / sizeof *cases;
    for (uint64_t i = 0; i < n; i++) {
        char place[32];
        assert_int_equal(record_of(a, 0, 2 * i, cases[i].value), 0);
        snprintf(place, sizeof place, "t/0/%" PRIu64, 2 * i);
        for (const char *p = cases[i].answers; *p; p++)
            assert_int_equal(answer(a, place,
                                    *p == 'r'   ? PROGRAM_ROW
                                    : *p == 's' ? PROGRAM_SKIP
                                                : PROGRAM_UNREADABLE),
                             0);
        was[(int)cases[i].is]++;
        struct program_counts c = program_answers_count(a);
        assert_true(c.records == i + 1 && c.readable == was['r'] && c.nulls == was['n'] && c.unreadable == was['u']);
    }
    struct program_place out[20];
    size_t shown = program_answers_unreadable(a, out, 20), k = 0;
    assert_true(shown == was['u'] && program_answers_unreadable(a, out, 2) == 2);
    shown = program_answers_unreadable(a, out, 20);
    for (uint64_t i = 0; i < n; i++) {
        char place[32];
        snprintf(place, sizeof place, "t/0/%" PRIu64, 2 * i);
        if (cases[i].is != 'u')
            continue;
        assert_string_equal(out[k].at, place);
        assert_string_equal(out[k++].why, strchr(cases[i].answers, 'u') ? "said" : "no");
    }
    assert_true(k == shown);
    program_answers_free(a);
}

/* ---- records ---- */

static void payloads(void **state)
{
    (void)state;
    static const struct {
        const char *payload, *as_is, *text;
        enum program_value value;
    } cases[] = {
        {"\"payload\":null", "\"value\":null", NULL, PROGRAM_NULL},
        {"\"payload\":\"{\\\"a\\\":[1,-0.50E+2,\\\"3 \\\\\\\" 4\\\"],\\n\\\"1\\\":true}\"",
         "\"value\":{\"a\":[1,-0.50E+2,\"3 \\\" 4\"], \"1\":true}",
         "\"value\":{\"a\":[\"1\",\"-0.50E+2\",\"3 \\\" 4\"], \"1\":true}", PROGRAM_READ},
        {"\"payload\":\"7\"", "\"value\":7", "\"value\":\"7\"", PROGRAM_READ},
        {"\"payload\":\"null\"", "\"value\":null", NULL, PROGRAM_READ},
        {"\"payload\":\"\"", "\"value_error\":\"byte 1: no value\"", NULL, PROGRAM_NO_VALUE},
        {"\"payload\":\"{\"", "\"value_error\":\"byte 2: text ends inside an object\"", NULL, PROGRAM_NO_VALUE},
        {"\"payload_b64\":\"/w==\"", "\"value_error\":\"the payload is not UTF-8\"", NULL, PROGRAM_NO_VALUE},
        {"\"payload\":1", "\"value_error\":\"the payload is no string\"", NULL, PROGRAM_NO_VALUE},
        {"\"key\":\"payload\"", "\"value_error\":\"the record has no payload\"", NULL, PROGRAM_NO_VALUE},
    };
    static const char place[] = "\"topic\":\"t\",\"partition\":3,\"offset\":9";
    struct buf line = BUF_INIT, out = BUF_INIT, want = BUF_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int how = PROGRAM_TEXT; how <= PROGRAM_RAW; how++) {
            struct program_record r;
            buf_reset(&line);
            buf_reset(&out);
            buf_reset(&want);
            buf_printf(&line, "{\"type\":\"record\",%s,%s}", place, cases[i].payload);
            buf_printf(&want, "{%s,%s", place, cases[i].payload);
            if (how != PROGRAM_RAW)
                buf_printf(&want, ",%s", how == PROGRAM_TEXT && cases[i].text ? cases[i].text : cases[i].as_is);
            buf_adds(&want, "}\n");
            assert_int_equal(program_record(line.p, line.len, (enum program_payloads)how, &arena, &out, &r, &err), 0);
            assert_string_equal(buf_str(&out), buf_str(&want));
            assert_true(r.partition == 3 && r.offset == 9 && r.topic_len == 1);
            assert_int_equal(r.value,
                             how == PROGRAM_RAW && cases[i].value == PROGRAM_NO_VALUE ? PROGRAM_READ : cases[i].value);
        }
    }
    buf_free(&line);
    buf_free(&out);
    buf_free(&want);
}

/* A null payload is seen without parsing where nothing hides it, and parsed for where something may. */
static void null_payloads(void **state)
{
    (void)state;
    static const struct {
        const char *members;
        bool null;
    } cases[] = {
        {"\"key\":null,\"payload\":null", true},
        {"\"key\":null,\"payload\":\"null\"", false},
        {"\"headers\":[\"a\",\"payload\"],\"payload\":null", true},
        {"\"headers\":[\"a\",\"payload\"],\"payload\":\"x\"", false},
        {"\"key\":\"a,\\\"payload\\\":null\",\"payload\":\"x\"", false},
        {"\"payload\": null,\"key\":\"k\"", true},
        {"\"payload\":\"a,\\\"payload\\\":null\"", false},
    };
    struct buf line = BUF_INIT, out = BUF_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program_record r;
        buf_reset(&line);
        buf_printf(&line, "{\"type\":\"record\",\"topic\":\"t\",\"partition\":0,\"offset\":1,%s}", cases[i].members);
        assert_int_equal(program_record(line.p, line.len, PROGRAM_RAW, &arena, &out, &r, &err), 0);
        assert_int_equal(r.value, cases[i].null ? PROGRAM_NULL : PROGRAM_READ);
    }
    buf_free(&line);
    buf_free(&out);
}

/* ---- is it whole ---- */

static void tell(struct reference_story *s, const char *line)
{
    assert_int_equal(reference_story_account(s, &(struct stream_line){.p = line, .n = strlen(line)}, &err), 0);
}

static void story_of_both(void **state)
{
    (void)state;
    static struct scope_range ranges[] = {{0, true, 5, 10}, {1, false, 0, 20}, {2, true, 7, 7}};
    static struct scope_source source = {.topic = "t", .partitions = ranges, .n_partitions = 3};
    const struct scope scope = {.sources = &source, .n_sources = 1};
    static const char reader[] =
        "{\"type\":\"account\",\"stage\":\"kafka-read\",\"role\":\"reader\",\"complete\":true,\"reasons\":[],\"logs\":[],\"ranges\":["
        "{\"topic\":\"t\",\"partition\":0,\"from\":5,\"to\":10,\"position\":10,\"offsets\":5,\"delivered\":5,\"null_values\":0,"
        "\"not_delivered\":0,\"complete\":true},"
        "{\"topic\":\"t\",\"partition\":1,\"from\":3,\"to\":20,\"position\":20,\"offsets\":17,\"delivered\":4,\"null_values\":0,"
        "\"not_delivered\":13,\"complete\":true}],\"delivered\":9,\"verified\":[\"ids\"]}";
    static const char program[] =
        "{\"type\":\"account\",\"stage\":\"ref-run\",\"role\":\"program\",\"complete\":true,\"reasons\":[],\"records\":9,\"rows\":4,"
        "\"skips\":5,\"readable\":9,\"null_values\":0,\"unreadable\":0}";
    for (uint64_t rows = 3; rows <= 4; rows++) {
        struct reference_story s = {0};
        struct reference_end end;
        tell(&s, reader);
        tell(&s, program);
        assert_int_equal(reference_story_account(&s, &(struct stream_line){.p = program, .n = strlen(program)}, &err),
                         -1);
        err = (struct err)ERR_INIT;
        reference_story_judge(&s, &scope, &(struct reference_writer){.rows = rows}, 0, false);
        reference_story_end(&s, &end);
        assert_true(end.complete == (rows == 4));
        assert_true(parse(end.reasons)->len == (rows == 4 ? 0 : 1) && parse(end.verified)->len == (rows == 4 ? 4 : 3));
        assert_non_null(json_get(json_get(parse(end.recorded), "reader"), "delivered"));
        reference_story_free(&s);
    }
}

static void many_reasons_are_counted(void **state)
{
    (void)state;
    struct reference_story s = {0};
    struct reference_end end;
    for (int i = 0; i < 50; i++)
        reference_story_say(&s, BECAUSE(i ? CODE_REFERENCE_UNPROVEN : CODE_TOPIC_COMPACTED), "reason %d \xff", i);
    reference_story_end(&s, &end);
    const struct json *list = parse(end.reasons);
    assert_true(list->len == REFERENCE_REASONS + 1 && !end.complete);
    assert_true(json_is(json_at(list, REFERENCE_REASONS), "30 more reasons"));
    assert_true(json_is(json_at(list, 0), "reason 0 \\xff"));
    assert_int_equal(end.cause.code, CODE_TOPIC_COMPACTED);
    reference_story_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(any_changed_byte_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(every_cut_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(first_field_that_differs, setup, teardown),
        cmocka_unit_test_setup_teardown(dropped_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(published_over_what_was_there, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_by_name, setup, teardown),
        cmocka_unit_test(answers_know_times),
        cmocka_unit_test_setup_teardown(answers_over_gaps, setup, teardown),
        cmocka_unit_test_setup_teardown(records_that_cannot_be_read, setup, teardown),
        cmocka_unit_test_setup_teardown(null_payloads, setup, teardown),
        cmocka_unit_test_setup_teardown(payloads, setup, teardown),
        cmocka_unit_test_setup_teardown(story_of_both, setup, teardown),
        cmocka_unit_test_setup_teardown(many_reasons_are_counted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
