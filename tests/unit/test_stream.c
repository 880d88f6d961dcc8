/* SPDX-License-Identifier: Apache-2.0 */
/* The stream's rules on whole streams in memory: what passes, what is refused, what is unfinished. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "stream/excluded.h"
#include "stream/finding.h"
#include "stream/log.h"
#include "stream/observation.h"
#include "stream/stream.h"
#include "stream/summary.h"
#include "stream/watermark.h"

#define HEAD \
    "{\"type\":\"stream\",\"format\":\"owed-stream\",\"version\":1,\"stages\":[{\"name\":\"a\",\"version\":\"1\"}]}\n"
#define ROW "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\"}\n"
#define END(lines) "{\"type\":\"end\",\"lines\":{" lines "}}\n"

/* Read text as a stream to its end. The result of the last stream_next; err holds why. */
static int run(const char *text, size_t n, struct err *err, uint64_t *lines)
{
    int fd = scratch_open(NULL, err);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, text, n, "scratch", err), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct stream_in in;
    struct stream_line line;
    stream_in_init(&in, fd, "stdin", 4096);
    *lines = 0;
    int rc;
    while ((rc = stream_next(&in, &line, err)) > 0)
        (*lines)++;
    stream_in_free(&in);
    close(fd);
    return rc;
}

static void expect(const char *text, int want, enum err_kind kind, const char *why)
{
    struct err err = ERR_INIT;
    uint64_t lines;
    int rc = run(text, strlen(text), &err, &lines);
    if (rc != want || (rc < 0 && (err.kind != kind || !strstr(err.text, why))))
        fail_msg("%s\n  gave %d kind %d: %s", text, rc, err.kind, err.text);
}

static void test_whole(void **state)
{
    (void)state;
    expect(HEAD END("\"stream\":1"), 0, ERR_NONE, "");
    expect(HEAD ROW END("\"stream\":1,\"row\":1"), 0, ERR_NONE, "");
    expect(HEAD "{\"type\":\"note\",\"x\":[1]}\n" END("\"stream\":1,\"note\":1"), 0, ERR_NONE, "");
}

static void test_unfinished(void **state)
{
    (void)state;
    expect("", -1, ERR_TROUBLE, "empty input");
    expect(HEAD, -1, ERR_TROUBLE, "end line is missing");
    expect(HEAD ROW END("\"stream\":1,\"row\":2"), -1, ERR_TROUBLE, "end counts 2 lines of type row, 1 came");
    expect(HEAD ROW END("\"stream\":1"), -1, ERR_TROUBLE, "leaves out lines");
    expect(HEAD "{\"type\":\"note\"}\n" END("\"stream\":1,\"note\":0"), -1, ERR_TROUBLE, "type note, 1 came");
}

/* A stream cut at any byte is never whole. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    const char text[] = HEAD ROW "{\"type\":\"side\",\"side\":\"captured\",\"rows\":1,\"whole\":true}\n" END(
        "\"stream\":1,\"row\":1,\"side\":1");
    struct err err = ERR_INIT;
    uint64_t lines;
    assert_int_equal(run(text, sizeof text - 1, &err, &lines), 0);
    assert_int_equal(lines, 2);
    for (size_t n = 0; n < sizeof text - 1; n++)
        assert_int_equal(run(text, n, &err, &lines), -1);
}

static void test_refused(void **state)
{
    (void)state;
    expect("{\"type\":\"row\"}\n", -1, ERR_REFUSED, "first line must be its header");
    expect("hello\n", -1, ERR_REFUSED, "not an owed-stream");
    expect("{\"type\":\"stream\",\"format\":\"other\",\"version\":1,\"stages\":[]}\n", -1, ERR_REFUSED,
           "another format");
    expect("{\"type\":\"stream\",\"format\":\"owed-stream\",\"version\":2,\"stages\":[]}\n", -1, ERR_REFUSED,
           "version 2");
    expect(HEAD HEAD, -1, ERR_REFUSED, "stream inside a stream");
    expect(HEAD END("\"stream\":1") "x\n", -1, ERR_REFUSED, "follows the stream's end");
    expect(HEAD "{\"a\":1}\n", -1, ERR_REFUSED, "first member is \"type\"");
    expect(HEAD "{\"type\":\"note\",\"x\":1,\"x\":2}\n", -1, ERR_REFUSED, "line 2: byte");
    expect(HEAD "{\"type\":\"note\",\"x\":\"\xff\"}\n", -1, ERR_REFUSED, "line 2: byte");
    expect(HEAD "{\"type\":\"side\",\"side\":\"captured\",\"rows\":1,\"whole\":true,\"x\":1}\n", -1, ERR_REFUSED, "x");
    expect(HEAD "{\"type\":\"check\",\"stage\":\"s\",\"name\":\"bundle.nope\",\"status\":\"passed\"}\n", -1,
           ERR_REFUSED, "not known");
    expect(HEAD "{\"type\":\"check\",\"stage\":\"s\",\"name\":\"bundle.manifest\",\"status\":\"fine\"}\n", -1,
           ERR_REFUSED, "not known");
    expect(HEAD "{\"type\":\"stop\",\"kind\":\"x\"}\n", -1, ERR_REFUSED, "stop");
}

static void test_long_line(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    buf_adds(&text, HEAD "{\"type\":\"note\",\"x\":\"");
    for (int i = 0; i < 5000; i++)
        buf_addc(&text, 'x');
    buf_adds(&text, "\"}\n" END("\"stream\":1,\"note\":1"));
    expect(buf_str(&text), -1, ERR_REFUSED, "line 2 is longer than 4096 bytes");
    buf_free(&text);
}

/* ---- rows ---- */

static int split(const char *text, struct stream_row *row, struct err *err)
{
    struct stream_line line = {.type = LINE_ROW, .p = text, .n = strlen(text), .line_no = 7};
    return stream_row(&line, row, err);
}

static void test_row_members(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct stream_row r;
    assert_int_equal(
        split("{\"type\":\"row\",\"side\":\"destination\",\"read\":2,\"cells\":[\"a],\\\"at\\\":\",null]}", &r, &err),
        0);
    assert_int_equal(r.side, SIDE_READ2);
    assert_int_equal(r.cells_len, strlen("[\"a],\\\"at\\\":\",null]"));
    assert_null(r.at);
    assert_int_equal(
        split("{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"again\":\"resent\"}", &r,
              &err),
        0);
    assert_memory_equal(r.at, "t/0/1", 5);
    assert_memory_equal(r.again, "resent", 6);
    assert_int_equal(r.cells_len, 5);
    assert_false(r.ts.has);
    assert_int_equal(split("{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":"
                           "9007199254740992,\"again\":\"resent\"}",
                           &r, &err),
                     0);
    assert_true(r.ts.has && r.ts.ms == TS_MAX && r.at_len == 5 && r.again_len == 6 && r.cells_len == 5);
    assert_int_equal(
        split("{\"type\":\"row\",\"side\":\"reference\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":0}", &r, &err), 0);
    assert_true(r.ts.has && r.ts.ms == 0 && !r.again);
    assert_int_equal(split("{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"again\":\"resent\"}", &r, &err),
                     0);
    assert_null(r.at);
}

static void test_row_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"type\":\"row\",\"cells\":[\"1\"]}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"x\":1}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"again\":\"resent\",\"at\":\"t/0/1\"}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"a\\\\b\"}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"\"}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"ts\":5}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"ts\":5,\"at\":\"t/0/1\"}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"again\":\"resent\",\"ts\":5}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":-1}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":1.5}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":05}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":\"5\"}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":null}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"],\"at\":\"t/0/1\",\"ts\":9007199254740993}",
        "{\"type\":\"row\",\"side\":\"captured\",\"read\":0,\"cells\":[\"1\"]}",
        "{\"type\":\"row\",\"side\":\"captured\",\"read\":01,\"cells\":[\"1\"]}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":{}}",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[",
        "{\"type\":\"row\",\"side\":\"cap",
        "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"1\"] }",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct err err = ERR_INIT;
        struct stream_row r;
        if (split(bad[i], &r, &err) == 0)
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_non_null(strstr(err.text, "line 7"));
    }
}

/* What is written is read back whole, with its counts, its stages and its statuses. */
static void test_write_and_read(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    int fd = scratch_open(NULL, &err);
    struct stream_out out;
    stream_begin(&out, fd, NULL);
    stream_put_row(&out, &(struct stream_row){.side = SIDE_CAPTURED,
                                              .cells = "[\"1\"]",
                                              .cells_len = 5,
                                              .at = "t/0/1",
                                              .at_len = 5,
                                              .ts = {true, 1},
                                              .again = AGAIN_RESENT,
                                              .again_len = sizeof AGAIN_RESENT - 1});
    stream_put_side(&out, &(struct stream_side){SIDE_CAPTURED, 1, 0, false, "cut \x01 short"});
    stream_put_check(&out, CHECK_RECONCILE_ROWS, STATUS_UNAVAILABLE, BECAUSE(CODE_READS_DIFFER), "bad \xff byte",
                     (const char *const[]){"a", "b", NULL}, "{\"n\":1}");
    assert_int_equal(out.status, OWED_TROUBLE);
    stream_put_check(&out, CHECK_RECONCILE_ROWS, STATUS_FAILED, BECAUSE(CODE_ROWS_MISSING, {"at", "t/0/1 \xff"}), "",
                     NULL, NULL);
    assert_int_equal(out.status, OWED_FAILED);
    stream_status(&out, OWED_TROUBLE);
    assert_int_equal(stream_end(&out), OWED_FAILED);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct stream_in in;
    struct stream_line line;
    stream_in_init(&in, fd, "again", STREAM_MAX_LINE);
    int rc, lines = 0;
    while ((rc = stream_next(&in, &line, &err)) > 0)
        lines++;
    if (rc < 0)
        fail_msg("%s", err.text);
    assert_int_equal(lines, 4);
    assert_int_equal(in.stages->len, 1);
    stream_in_free(&in);
    stream_out_free(&out);
    close(fd);
}

/* times: of the first of its two runs, of which the other has none. */
#define SUMMARY(TIMES) \
    "{\"type\":\"summary\",\"relation\":\"delivery\",\"missing\":{\"keys\":3,\"rows\":3}," \
    "\"changed\":{\"keys\":0,\"rows\":0},\"duplicated\":{\"keys\":0,\"surplus\":0},\"unexpected\":{\"keys\":0,\"rows\":0}," \
    "\"owed_rows\":5,\"found_rows\":2,\"keys\":5,\"explained\":{\"resent\":0,\"replayed\":0,\"unexplained\":0}," \
    "\"owed_duplicate_keys\":0,\"unsupported_keys\":0,\"excluded_keys\":0,\"runs_total\":2," \
    "\"tail\":{\"rows\":0,\"partitions\":0},\"listed\":3,\"runs\":[" \
    "{\"kind\":\"missing\",\"topic\":\"t\",\"partition\":0,\"first\":1,\"last\":2,\"rows\":2," TIMES "}," \
    "{\"kind\":\"missing\",\"topic\":\"t\",\"partition\":0,\"first\":4,\"last\":4,\"rows\":1}],\"runs_unordered\":[]}"

/* A record's time is a whole number of milliseconds, and a run has both of its own. */
static void test_times_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {SUMMARY("\"oldest_ts\":1"),
                                      SUMMARY("\"newest_ts\":1"),
                                      SUMMARY("\"oldest_ts\":-1,\"newest_ts\":-1"),
                                      SUMMARY("\"oldest_ts\":1.5,\"newest_ts\":2"),
                                      SUMMARY("\"oldest_ts\":null,\"newest_ts\":null"),
                                      SUMMARY("\"oldest_ts\":\"yesterday\",\"newest_ts\":2"),
                                      SUMMARY("\"oldest_ts\":1,\"newest_ts\":9007199254740993")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena arena = ARENA_INIT;
        struct err err = ERR_INIT;
        struct summary summary;
        struct stream_line line = {.p = bad[i], .n = strlen(bad[i]), .line_no = 3};
        assert_int_equal(stream_summary(&line, &arena, &summary, &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
        assert_non_null(strstr(err.text, "_ts"));
        arena_free(&arena);
    }
}

/* A line that is taken apart and written again is the line that it was. */
static void test_lines(void **state)
{
    (void)state;
    static const char *const all[] = {
        "{\"type\":\"finding\",\"relation\":\"delivery\",\"kind\":\"changed\",\"key\":[\"1\"],\"owed\":[\"1\",null],"
        "\"found\":[\"1\",\"a\"],\"owed_copies\":1,\"found_copies\":2,\"rows\":3,\"differ\":[\"v\"],\"at\":\"t/0/1\","
        "\"ts\":9007199254740992,\"explained\":\"resent\",\"cut\":true,\"undecided\":true,\"read\":2}",
        "{\"type\":\"finding\",\"relation\":\"coverage\",\"kind\":\"unexpected\",\"key\":null,\"owed\":null,"
        "\"found\":null,\"owed_copies\":0,\"found_copies\":1,\"rows\":1,\"at\":null,\"explained\":null}",
        "{\"type\":\"excluded\",\"key\":[\"1\",\"2\"],\"why\":\"moved-on\"}",
        SUMMARY("\"oldest_ts\":0,\"newest_ts\":1796000000123"),
        "{\"type\":\"observation\",\"endpoint\":\"http://h:1\",\"user\":\"u\",\"server_uuid\":\"s\",\"server_version\":\"26\","
        "\"line_tested\":true,\"server_host\":\"h\",\"timezone\":\"UTC\",\"database\":\"d\",\"table\":\"t\",\"table_uuid\":\"x\","
        "\"engine\":\"MergeTree\",\"engine_full\":\"MergeTree\",\"create_table_query\":\"CREATE\",\"partition_key\":\"\","
        "\"sorting_key\":\"id\",\"dedup_window\":\"100\",\"columns\":[{\"name\":\"id\",\"type\":\"Int64\"}],"
        "\"settings\":{\"final\":\"0\",\"max_result_rows\":\"7\"},\"format\":\"native\",\"bounds\":{\"query_timeout_ms\":1,"
        "\"max_rows_per_query\":2,\"keys_per_query\":3,\"settle_ms\":4},\"mutations\":[{\"id\":\"m\",\"command\":\"c\","
        "\"created\":\"2026-01-01T00:00:00.000Z\",\"done\":false}],\"started\":{\"client_ms\":5,\"server_ms\":-6},"
        "\"finished\":{\"client_ms\":7,\"server_ms\":8},\"reads\":[{\"read\":1,\"rows\":9,\"queries\":1,\"bytes\":10,\"ranges\":1,\"passed_over\":2}],"
        "\"keys\":11,\"unfit_keys\":12,\"table_whole\":true,\"max_table_rows\":13,\"parts\":{\"before\":1,\"after\":2,"
        "\"same\":false},\"final\":{\"undetermined_keys\":1,\"unpaired\":2},\"replica\":{\"path\":\"/p\",\"name\":\"r\",\"max_delay_s\":1,"
        "\"before\":{\"readonly\":0,\"expired\":0,\"queue\":2,\"inserts\":3,\"merges\":4,\"mutations\":5,\"checks\":6,"
        "\"log_max\":7,\"log_pointer\":8,\"delay_s\":9,\"lost_parts\":10,\"active\":11,\"replicas\":12,\"exception\":\"e\","
        "\"queue_exception\":\"q\"}},\"stable\":false,\"unstable\":[\"mutation m in progress\"]}",
        "{\"type\":\"observation\",\"endpoint\":null,\"user\":null,\"server_uuid\":null,\"server_version\":null,"
        "\"line_tested\":false,\"server_host\":null,\"timezone\":null,\"database\":null,\"table\":null,\"table_uuid\":null,"
        "\"engine\":null,\"partition_key\":null,\"sorting_key\":null,\"dedup_window\":null,\"columns\":[],\"settings\":{},"
        "\"format\":null,\"bounds\":{\"query_timeout_ms\":0,\"max_rows_per_query\":0,\"keys_per_query\":0,\"settle_ms\":0},"
        "\"mutations\":[],\"reads\":[],\"keys\":0,\"unfit_keys\":0,\"stable\":true,\"unstable\":[]}",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct arena arena = ARENA_INIT;
        struct err err = ERR_INIT;
        struct stream_out out = {.fd = -1};
        struct stream_line line = {.p = all[i], .n = strlen(all[i]), .line_no = 3};
        struct finding finding;
        struct stream_excluded excluded;
        struct observation observation;
        struct summary summary;
        if (strstr(all[i], "{\"type\":\"finding\"") && stream_finding(&line, &arena, &finding, &err) == 0)
            stream_put_finding(&out, &finding);
        else if (strstr(all[i], "{\"type\":\"excluded\"") && stream_excluded(&line, &arena, &excluded, &err) == 0)
            stream_put_excluded(&out, &excluded);
        else if (strstr(all[i], "{\"type\":\"summary\"") && stream_summary(&line, &arena, &summary, &err) == 0)
            stream_put_summary(&out, &summary);
        else if (stream_observation(&line, &arena, &observation, &err) == 0)
            stream_put_observation(&out, &observation);
        assert_string_equal(err.text, "");
        assert_int_equal(out.block.len, line.n + 1);
        assert_memory_equal(out.block.p, all[i], line.n);
        stream_out_free(&out);
        arena_free(&arena);
    }
}

/* A watermark says one of two things, and each comes back as it was written. */
static void test_watermarks(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } all[] = {
        {"{\"type\":\"watermark\",\"ts\":-5}", NULL},
        {"{\"type\":\"watermark\",\"ts\":\"9223372036854775807\"}", NULL},
        {"{\"type\":\"watermark\",\"idle\":true}", NULL},
        {"{\"type\":\"watermark\",\"idle\":false}", NULL},
        {"{\"type\":\"watermark\"}", "watermark.ts: missing"},
        {"{\"type\":\"watermark\",\"ts\":null}", "watermark.ts: not a whole number"},
        {"{\"type\":\"watermark\",\"ts\":1.5,\"idle\":false}", "watermark.ts: not a whole number"},
        {"{\"type\":\"watermark\",\"idle\":null}", "watermark.idle: not true or false"},
        {"{\"type\":\"watermark\",\"idle\":true,\"ts\":1}", "of a lane that is idle, with a time"},
        {"[\"watermark\"]", "watermark.ts: missing"},
        {"{\"type\":\"watermark\",\"ts\":1", "byte"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct err err = ERR_INIT;
        struct stream_out out = {.fd = -1};
        struct stream_line line = {.p = all[i].text, .n = strlen(all[i].text), .line_no = 3};
        struct stream_watermark w;
        assert_int_equal(stream_watermark(&line, &w, &err), all[i].why ? -1 : 0);
        if (all[i].why) {
            assert_int_equal(err.kind, ERR_REFUSED);
            assert_non_null(strstr(err.text, "line 3: "));
            assert_non_null(strstr(err.text, all[i].why));
        } else {
            stream_put_watermark(&out, &w);
            assert_int_equal(out.block.len, line.n + 1);
            assert_memory_equal(out.block.p, all[i].text, line.n);
        }
        stream_out_free(&out);
    }
}

/* One thing at a time that a replica lacks, before the reads or after them. */
static void test_what_a_replica_lacks(void **state)
{
    (void)state;
    static const struct replica_state current = {
        .log_max = 5, .log_pointer = 6, .active = 1, .replicas = 3, .exception = "", .queue_exception = ""};
    static const struct {
        size_t number; /* of replica_numbers */
        uint64_t value;
        enum code code;
    } cases[] = {{0, 1, CODE_REPLICA_READ_ONLY},
                 {1, 1, CODE_REPLICA_EXPIRED},
                 {2, 1, CODE_REPLICA_BEHIND},
                 {3, 1, CODE_REPLICA_BEHIND},
                 {4, 1, CODE_REPLICA_BEHIND},
                 {5, 1, CODE_REPLICA_BEHIND},
                 {6, 1, CODE_REPLICA_BEHIND},
                 {7, 6, CODE_REPLICA_BEHIND},
                 {8, 5, CODE_REPLICA_BEHIND},
                 {8, 0, CODE_REPLICA_BEHIND},
                 {9, 2, CODE_NONE},
                 {9, 3, CODE_REPLICA_BEHIND},
                 {11, 0, CODE_REPLICA_EXPIRED},
                 {12, 1, CODE_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int after = 0; after < 2; after++) {
            struct buf why = BUF_INIT;
            struct replica r = {"/p", "r", 2, true, true, current, current};
            *replica_number(after ? &r.after : &r.before, cases[i].number) = cases[i].value;
            enum code code = replica_unfit(&r, &why);
            if (code != cases[i].code || (code == CODE_NONE) != (why.len == 0))
                fail_msg("case %zu: %s %s", i, code_word(code), buf_str(&why));
            buf_free(&why);
        }
    struct buf why = BUF_INIT;
    struct replica r = {"/p", "r", 0, true, false, current, current};
    assert_int_equal(replica_unfit(&r, &why), CODE_REPLICA_NOT_SHOWN);
    r.has_after = true;
    r.after.lost_parts = 1;
    assert_int_equal(replica_unfit(&r, &why), CODE_REPLICA_BEHIND);
    r.before.lost_parts = 1;
    assert_int_equal(replica_unfit(&r, &why), CODE_NONE);
    /* A log that went back is of another table than the one that was read. */
    r.before.log_pointer = 900;
    assert_int_equal(replica_unfit(&r, &why), CODE_REPLICA_BEHIND);
    r.before.log_max = 899;
    assert_int_equal(replica_unfit(&r, &why), CODE_REPLICA_BEHIND);
    /* An empty log, and one whose first entry was not taken, are the same two zeros. */
    r.before.log_max = r.before.log_pointer = 0;
    assert_int_equal(replica_unfit(&r, &why), CODE_REPLICA_BEHIND);
    buf_free(&why);
}

static int log_of(const char *text, struct arena *arena, struct stream_log *log, struct err *err)
{
    struct stream_line line = {.p = text, .n = strlen(text), .line_no = 3};
    return stream_log(&line, arena, log, err);
}

/* What groups had committed comes back, whatever order its partitions stood in, and nothing else is taken for it. */
static void test_groups_of_a_log(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "{\"type\":\"log\"}",
        "{\"type\":\"log\",\"topic\":\"t\",\"groups\":{}}",
        "{\"type\":\"log\",\"topic\":\"t\",\"groups\":[{\"group\":\"g\",\"state\":\"Empty\",\"members\":0,\"offsets\":{}}]}",
        "{\"type\":\"log\",\"topic\":\"t\",\"groups\":[{\"group\":\"g\",\"state\":\"Empty\",\"members\":0,\"offsets\":{\"x\":1},"
        "\"lag\":{\"x\":1}}]}",
        "{\"type\":\"log\",\"topic\":\"t\",\"groups\":[{\"group\":\"g\",\"state\":\"Empty\",\"members\":0,\"offsets\":{\"1\":1},"
        "\"lag\":{}}]}",
        "{\"type\":\"log\",\"topic\":\"t\",\"groups\":[{\"group\":\"g\",\"state\":\"Empty\",\"members\":0,\"offsets\":{\"1\":-1},"
        "\"lag\":{\"1\":0}}]}",
    };
    struct arena arena = ARENA_INIT;
    struct stream_log log;
    struct err err = ERR_INIT;
    assert_int_equal(
        log_of("{\"type\":\"log\",\"topic\":\"t\",\"groups\":[{\"group\":\"g\",\"state\":\"Stable\",\"members\":2,"
               "\"offsets\":{\"10\":7,\"2\":5},\"lag\":{\"2\":1,\"10\":0}}]}",
               &arena, &log, &err),
        0);
    assert_int_equal(log.n_groups, 1);
    assert_int_equal(log.groups[0].members, 2);
    assert_int_equal(log_group_at(&log.groups[0], 10)->committed, 7);
    assert_int_equal(log_group_at(&log.groups[0], 2)->lag, 1);
    assert_null(log_group_at(&log.groups[0], 3));
    assert_int_equal(log_of("{\"type\":\"log\",\"topic\":\"t\"}", &arena, &log, &err), 0);
    assert_int_equal(log.n_groups, 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        err_reset(&err);
        assert_int_equal(log_of(refused[i], &arena, &log, &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
    }
    arena_free(&arena);
}

/* A file gives as much as is asked for, unlike a pipe: the buffer must not grow with it. */
static void test_large_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    int fd = scratch_open(NULL, &err);
    assert_true(fd >= 0);
    char lines[1000 * 101];
    memset(lines, 'x', sizeof lines);
    for (size_t i = 100; i < sizeof lines; i += 101)
        lines[i] = '\n';
    for (int i = 0; i < 40; i++)
        assert_int_equal(fd_write_all(fd, lines, sizeof lines, "scratch", &err), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct line_in in;
    line_in_init(&in, fd, "scratch", 4096);
    const char *p;
    size_t n, read = 0;
    while (line_in_next(&in, &p, &n, &err) > 0) {
        read++;
        assert_int_equal(n, 100);
        assert_memory_equal(p, lines, n);
    }
    assert_int_equal(read, 40000);
    assert_true(in.own.cap <= (size_t)256 << 10);
    line_in_free(&in);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_row_members),
        cmocka_unit_test(test_row_refused),
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_large_file),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_groups_of_a_log),
        cmocka_unit_test(test_watermarks),
        cmocka_unit_test(test_what_a_replica_lacks),
        cmocka_unit_test(test_times_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
