/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells from owed times: by unit and from ISO text, ranges, the calendar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "cells/zone.h"
#include "cells_help.h"

static void test_times_by_unit_are_exact(void **state)
{
    static const struct owed_case cases[] = {
        {"DateTime64(6)", "ms", "1758000000000", "\"1758000000000000\"", CELL_FIT},
        {"DateTime64(6)", "ms", "1758000000000.123", "\"1758000000000123\"", CELL_FIT},
        {"DateTime64(6)", "ms", "\"1758000000000.1234\"", "{\"unfit\":\"2025-09-16T05:20:00.0001234Z\"}", CELL_UNFIT},
        {"DateTime64(6)", "s", "1.758e9", "\"1758000000000000\"", CELL_FIT},
        {"DateTime64(3)", "us", "1700000000123900", "{\"unfit\":\"2023-11-14T22:13:20.1239Z\"}", CELL_UNFIT},
        {"DateTime64(3)", "us", "1700000000123000", "\"1700000000123\"", CELL_FIT},
        {"DateTime64(9)", "ns", "9223372036854775807", "\"9223372036854775807\"", CELL_FIT},
        {"DateTime64(9)", "ns", "9223372036854775808", "{\"unfit\":\"2262-04-11T23:47:16.854775808Z\"}", CELL_UNFIT},
        {"DateTime64(9)", "ms", "9223372036855", "{\"unfit\":\"2262-04-11T23:47:16.855Z\"}", CELL_UNFIT},
        {"DateTime64(3)", "ticks", "-1", "\"-1\"", CELL_FIT},
        {"DateTime64(3)", "ticks", "0.5", "{\"unfit\":\"1970-01-01T00:00:00.0005Z\"}", CELL_UNFIT},
        {"DateTime64(3)", "ticks", "-0.5", "{\"unfit\":\"1969-12-31T23:59:59.9995Z\"}", CELL_UNFIT},
        {"DateTime", "ms", "-500", "{\"unfit\":\"1969-12-31T23:59:59.5Z\"}", CELL_UNFIT},
        {"DateTime", "s", "4294967295", "\"4294967295\"", CELL_FIT},
        {"DateTime", "s", "4294967296", "{\"unfit\":\"2106-02-07T06:28:16Z\"}", CELL_UNFIT},
        {"DateTime", "s", "-1", "{\"unfit\":\"1969-12-31T23:59:59Z\"}", CELL_UNFIT},
        {"DateTime", "ms", "1758000000500", "{\"unfit\":\"2025-09-16T05:20:00.5Z\"}", CELL_UNFIT},
        {"Date", "days", "65535", "\"65535\"", CELL_FIT},
        {"Date", "days", "65536", "{\"unfit\":\"2149-06-07\"}", CELL_UNFIT},
        {"Date", "days", "-1", "{\"unfit\":\"1969-12-31\"}", CELL_UNFIT},
        {"Date", "days", "0.5", "{\"unfit\":\"1970-01-01T12:00:00Z\"}", CELL_UNFIT},
        {"Date", "ms", "86400000", "\"1\"", CELL_FIT},
        {"Date", "ms", "86400001", "{\"unfit\":\"1970-01-02T00:00:00.001Z\"}", CELL_UNFIT},
        {"Date32", "days", "-25567", "\"-25567\"", CELL_FIT},
        {"Date32", "days", "-25568", "{\"unfit\":\"1899-12-31\"}", CELL_UNFIT},
        {"Date32", "ticks", "120529", "\"120529\"", CELL_FIT},
        {"Date32", "ticks", "120530", "{\"unfit\":\"2300-01-01\"}", CELL_UNFIT},
        {"DateTime64(0)", "s", "9223372036854775807", "\"9223372036854775807\"", CELL_FIT},
        {"DateTime64(0)", "s", "9223372036854775808", "{\"unfit\":\"9223372036854775808 s\"}", CELL_UNFIT},
        {"DateTime64(1)", "s", "9223372036854775807", "{\"unfit\":\"9223372036854775807 s\"}", CELL_UNFIT},
        {"DateTime64(3)", "ms", "\"yesterday\"", "{\"unfit\":\"yesterday\"}", CELL_WRONG},
        {"DateTime64(3)", "ms", "\"2023-11-14T22:13:20Z\"", "{\"unfit\":\"2023-11-14T22:13:20Z\"}", CELL_WRONG},
        {"DateTime64(3)", "ms", "true", "{\"unfit\":\"true\"}", CELL_WRONG},
        {"DateTime64(3)", "", "5", "{\"unfit\":\"5\"}", CELL_WRONG},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_iso_times_need_a_zone_and_a_calendar_that_has_them(void **state)
{
    static const struct owed_case cases[] = {
        {"DateTime64(3,'UTC')", "iso", "\"2023-11-14T22:13:20.123900Z\"", "{\"unfit\":\"2023-11-14T22:13:20.1239Z\"}",
         CELL_UNFIT},
        {"DateTime64(3)", "iso", "\"2023-11-14T22:13:20.1Z\"", "\"1700000000100\"", CELL_FIT},
        {"DateTime64(6)", "iso", "\"2023-11-14T22:13:20.100000Z\"", "\"1700000000100000\"", CELL_FIT},
        {"DateTime64(3)", "iso", "\"2023-11-14T22:13:20.10000000000000000000000000000000000000000Z\"",
         "\"1700000000100\"", CELL_FIT},
        /* two instants of one local hour when the clocks go back */
        {"DateTime('America/Toronto')", "iso", "\"2021-11-07T05:00:00Z\"", "\"1636261200\"", CELL_FIT},
        {"DateTime('America/Toronto')", "iso", "\"2021-11-07T06:00:00Z\"", "\"1636264800\"", CELL_FIT},
        {"DateTime('America/Toronto')", "iso", "\"2021-11-07T01:00:00-04:00\"", "\"1636261200\"", CELL_FIT},
        {"DateTime('America/Toronto')", "iso", "\"2021-11-07T01:00:00-05:00\"", "\"1636264800\"", CELL_FIT},
        {"DateTime('America/Toronto')", "iso", "\"2021-11-07T01:00:00\"", "{\"unfit\":\"2021-11-07T01:00:00\"}",
         CELL_WRONG},
        {"DateTime('Europe/Berlin')", "iso", "\"2021-11-07 05:00:00Z\"", "\"1636261200\"", CELL_FIT},
        {"DateTime", "iso", "\"2021-11-07t05:00z\"", "\"1636261200\"", CELL_FIT},
        /* the common "no end": no version's calendar bound is written in here */
        {"DateTime64(6,'UTC')", "iso", "\"9999-12-31T23:59:59.999999Z\"", "\"253402300799999999\"", CELL_FIT},
        {"DateTime64(6)", "iso", "\"1899-12-31T00:00:00Z\"", "\"-2209075200000000\"", CELL_FIT},
        {"DateTime64(9)", "iso", "\"2262-04-11T23:47:16.854775807Z\"", "\"9223372036854775807\"", CELL_FIT},
        {"DateTime64(9)", "iso", "\"2262-04-11T23:47:16.854775808Z\"", "{\"unfit\":\"2262-04-11T23:47:16.854775808Z\"}",
         CELL_UNFIT},
        {"DateTime64(9)", "iso", "\"9999-12-31T23:59:59Z\"", "{\"unfit\":\"9999-12-31T23:59:59Z\"}", CELL_UNFIT},
        {"DateTime64(9)", "iso", "\"1677-09-21T00:12:43.145224192Z\"", "\"-9223372036854775808\"", CELL_FIT},
        {"DateTime64(9)", "iso", "\"1677-09-21T00:12:43.145224191Z\"", "{\"unfit\":\"1677-09-21T00:12:43.145224191Z\"}",
         CELL_UNFIT},
        {"DateTime64(0)", "iso", "\"0000-01-01T00:00:00Z\"", "\"-62167219200\"", CELL_FIT},
        {"DateTime", "iso", "\"0000-02-29T00:00:00Z\"", "{\"unfit\":\"0000-02-29T00:00:00Z\"}", CELL_UNFIT},
        {"DateTime", "iso", "\"2106-02-07T06:28:15Z\"", "\"4294967295\"", CELL_FIT},
        {"DateTime", "iso", "\"2106-02-07T06:28:16Z\"", "{\"unfit\":\"2106-02-07T06:28:16Z\"}", CELL_UNFIT},
        {"Date", "iso", "\"2026-11-29\"", "\"20786\"", CELL_FIT},
        {"Date", "iso", "\"2026-11-29T00:00:00Z\"", "\"20786\"", CELL_FIT},
        {"Date", "iso", "\"2026-11-29T00:00:00+02:00\"", "{\"unfit\":\"2026-11-28T22:00:00Z\"}", CELL_UNFIT},
        {"Date", "iso", "\"2149-06-06\"", "\"65535\"", CELL_FIT},
        {"Date", "iso", "\"2149-06-07\"", "{\"unfit\":\"2149-06-07\"}", CELL_UNFIT},
        {"Date32", "iso", "\"1900-01-01\"", "\"-25567\"", CELL_FIT},
        {"Date32", "iso", "\"1899-12-31\"", "{\"unfit\":\"1899-12-31\"}", CELL_UNFIT},
        {"Date32", "iso", "\"2299-12-31\"", "\"120529\"", CELL_FIT},
        {"Date32", "iso", "\"2300-01-01\"", "{\"unfit\":\"2300-01-01\"}", CELL_UNFIT},
        {"DateTime", "iso", "\"2026-11-29\"", "{\"unfit\":\"2026-11-29\"}", CELL_WRONG},
        {"Date", "iso", "20786", "{\"unfit\":\"20786\"}", CELL_WRONG},
    };

    (void)state;
    CHECK_OWED(cases);
}

static void test_dates_and_clocks_that_are_none(void **state)
{
    static const char *const texts[] = {
        "2023-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2023-04-31T00:00:00Z",
        "2023-00-01T00:00:00Z",
        "2023-13-01T00:00:00Z",
        "2023-01-00T00:00:00Z",
        "2023-01-32T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2023-01-01T24:00:00Z",
        "2023-01-01T00:60:00Z",
        "2023-01-01T00:00:61Z",
        "2023-01-01T00:00:00",
        "2023-01-01T00:00:00.Z",
        "2023-01-01T00:00:00.1",
        "2023-01-01T00:00:00,1Z",
        "2023-01-01T00:00:00+24:00",
        "2023-01-01T00:00:00+01:60",
        "2023-01-01T00:00:00+01",
        "2023-01-01T00:00:00+0100",
        "2023-01-01T00:00:00UTC",
        "2023-01-01T00:00:00ZZ",
        "2023-01-01T00:00:00Z ",
        " 2023-01-01T00:00:00Z",
        "2023-1-1T00:00:00Z",
        "23-01-01T00:00:00Z",
        "+2023-01-01T00:00:00Z",
        "20230101T000000Z",
        "2023-01-01_00:00:00Z",
        "2023-01-01T00Z",
        "2023-01-01T0:00:00Z",
        "2023-01-01TZ",
        "2023-01-01T",
        "",
        "Z",
        "12023-01-01T00:00:00Z",
        "2023-01-01T00:00:00.1.2Z",
        "2023-01-01T-1:00:00Z",
    };
    struct buf json = BUF_INIT, out = BUF_INIT;
    const char *why;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        buf_reset(&json);
        buf_printf(&json, "\"%s\"", texts[i]);
        if (owed("DateTime64(3)", "iso", buf_str(&json), &out, &why) != CELL_WRONG) {
            fail_msg("%s: %s", texts[i], buf_str(&out));
        }
    }
    assert_int_equal(owed("DateTime64(3)", "iso", "\"2016-12-31T23:59:60Z\"", &out, &why), CELL_WRONG);
    assert_non_null(strstr(why, "leap second"));
    assert_int_equal(owed("DateTime64(3)", "iso", "\"2016-12-31T23:59:59\"", &out, &why), CELL_WRONG);
    assert_non_null(strstr(why, "without a zone"));
    buf_free(&json);
    buf_free(&out);
}

static void test_every_day_of_ten_thousand_years_goes_to_its_number_and_back(void **state)
{
    struct column c = column("DateTime64(0)", "iso");
    struct buf out = BUF_INIT, back = BUF_INIT;
    int64_t day = -719528; /* 0000-01-01 */
    const char *why;

    (void)state;
    for (int year = 0; year < 10000; year++) {
        for (int month = 1; month <= 12; month++) {
            int last = month == 2 ? 28 + (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0))
                                  : 30 + (month == 1 || month == 3 || month == 5 || month == 7 || month == 8 ||
                                          month == 10 || month == 12);
            for (int d = 1; d <= last; d++, day++) {
                char text[40], want[40];
                struct json v = {.type = JSON_STRING, .str = text};
                if (d > 2 && d < last && next_random() % 16 != 0) {
                    continue; /* the edges of each month, and a sample of what lies between */
                }
                snprintf(text, sizeof text, "%04d-%02d-%02dT00:00:00Z", year, month, d);
                v.len = (unsigned)strlen(text) & JSON_LEN_MAX;
                buf_reset(&out);
                buf_reset(&back);
                assert_int_equal(cells_owed(&c, &v, &out, &why), CELL_FIT);
                snprintf(want, sizeof want, "\"%" PRId64 "\"", day * 86400);
                if (strcmp(buf_str(&out), want) != 0) {
                    fail_msg("%s: %s, not %s", text, out.p, want);
                }
                cells_human(&c.type, out.p, out.len, &back);
                assert_string_equal(buf_str(&back), text);
            }
        }
    }
    assert_int_equal(day, 2932897); /* 10000-01-01 */
    type_free(&c.type);
    buf_free(&out);
    buf_free(&back);
}

/* ---- zones ---- */

/* What the C library says of the same files, for instants all over a zone's table and beyond it. */
static void agrees(const char *name)
{
    const struct zone *z = zone_named(name);
    assert_non_null(z);
    assert_int_equal(setenv("TZ", name, 1), 0);
    tzset();
    for (int64_t at = -4000000000; at < 8000000000; at += 3600 * 7 + 1799) {
        struct tm tm;
        time_t t = (time_t)at;
        int64_t found;
        assert_non_null(localtime_r(&t, &tm));
        if (zone_offset(z, at) != tm.tm_gmtoff)
            fail_msg("%s at %lld: %lld, not %ld", name, (long long)at, (long long)zone_offset(z, at), tm.tm_gmtoff);
        enum zone_local got = zone_instant(z, at + tm.tm_gmtoff, &found);
        assert_true(got == ZONE_TWICE || (got == ZONE_ONCE && found == at));
    }
}

static void test_zones_are_those_of_the_system(void **state)
{
    static const char *const names[] = {
        "UTC",          "Europe/Berlin",    "America/Toronto",   "Europe/Dublin", "Australia/Lord_Howe",
        "Asia/Kolkata", "America/Santiago", "Africa/Casablanca", "Pacific/Apia",  "Asia/Tehran",
        "America/Nuuk", "Antarctica/Troll"};
    const char *was = getenv("TZ");
    char *kept = was ? xstrdup(was) : NULL;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        agrees(names[i]);
    if (kept)
        setenv("TZ", kept, 1);
    else
        unsetenv("TZ");
    tzset();
    free(kept);
    static const char *const none[] = {"", "/etc/passwd", "../passwd", "Europe", "Nowhere/None", "zone.tab", "a b"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(zone_named(none[i]));
}

/* A28: what its clocks do not show, or show twice, is no instant. The second is the first hour of the day again. */
static void test_local_times(void **state)
{
    static const struct {
        const char *zone;
        int64_t local;
        enum zone_local found;
        int64_t utc;
    } cases[] = {
        {"Europe/Berlin", 1774749599, ZONE_ONCE, 1774745999}, {"Europe/Berlin", 1774749600, ZONE_NEVER, 0},
        {"Europe/Berlin", 1774753199, ZONE_NEVER, 0},         {"Europe/Berlin", 1774753200, ZONE_ONCE, 1774746000},
        {"Europe/Berlin", 1792893599, ZONE_ONCE, 1792886399}, {"Europe/Berlin", 1792893600, ZONE_TWICE, 0},
        {"Europe/Berlin", 1792897199, ZONE_TWICE, 0},         {"Europe/Berlin", 1792897200, ZONE_ONCE, 1792893600},
        {"America/Toronto", 1636246800, ZONE_TWICE, 0},       {"America/Chicago", 1772935200, ZONE_NEVER, 0},
        {"Europe/Berlin", 4109886000, ZONE_ONCE, 4109878800}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t utc = 0;
        enum zone_local found = zone_instant(zone_named(cases[i].zone), cases[i].local, &utc);
        if (found != cases[i].found || (found == ZONE_ONCE && utc != cases[i].utc))
            fail_msg("case %zu: %d %lld", i, (int)found, (long long)utc);
    }
}

/* A file that is cut, or says what cannot be, is no zone. */
static void test_zone_files(void **state)
{
    struct buf bytes = BUF_INIT;
    struct err err = ERR_INIT;
    (void)state;
    assert_int_equal(file_read("/usr/share/zoneinfo/Europe/Berlin", 1 << 20, &bytes, &err), 0);
    for (size_t n = 0; n < bytes.len; n++)
        assert_null(zone_parse((const unsigned char *)bytes.p, n));
    struct zone *z = zone_parse((const unsigned char *)bytes.p, bytes.len);
    assert_non_null(z);
    zone_free(z);
    bytes.p[4] = '1';
    assert_null(zone_parse((const unsigned char *)bytes.p, bytes.len));
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_by_unit_are_exact),
        cmocka_unit_test(test_zones_are_those_of_the_system),
        cmocka_unit_test(test_local_times),
        cmocka_unit_test(test_zone_files),
        cmocka_unit_test(test_iso_times_need_a_zone_and_a_calendar_that_has_them),
        cmocka_unit_test(test_dates_and_clocks_that_are_none),
        cmocka_unit_test(test_every_day_of_ten_thousand_years_goes_to_its_number_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
