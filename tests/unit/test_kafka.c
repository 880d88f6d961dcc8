/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kafka without a broker: properties and their secrets, a lane's positions and
 * watermark, its snapshot taken over or refused, what ends a range and why it
 * is not whole, the account, and the members of a record.
 */
#include "evidence/snapshot.h"
#include "json/json.h"
#include "lane/lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- properties ---- */

static void refused_naming(int rc, struct err *err, const char *place)
{
    assert_int_equal(rc, -1);
    assert_int_equal(err->kind, ERR_REFUSED);
    assert_non_null(strstr(err->text, place));
    assert_null(strstr(err->text, "hunter2"));
}

static void test_secrets_by_name(void **state)
{
    static const char *const secrets[] = {"sasl.password",
                                          "SASL.PASSWORD",
                                          "ssl.key.password",
                                          "ssl.keystore.password",
                                          "ssl.key.pem",
                                          "sasl.oauthbearer.client.secret",
                                          "sasl.oauthbearer.config",
                                          "sasl.oauthbearer.client.credentials.client.secret",
                                          "sasl.oauthbearer.assertion.private.key.passphrase",
                                          "sasl.oauthbearer.assertion.private.key.pem",
                                          "sasl.jaas.config",
                                          "ssl_key"};
    static const char *const plain[] = {"bootstrap.servers",
                                        "sasl.username",
                                        "security.protocol",
                                        "ssl.key.location",
                                        "ssl.keystore.location",
                                        "sasl.mechanisms",
                                        "sasl.oauthbearer.token.endpoint.url",
                                        "sasl.oauthbearer.assertion.private.key.file",
                                        "sasl.oauthbearer.client.credentials.client.id",
                                        "ssl.ca.location"};
    (void)state;
    struct kafka_conf *c = kafka_conf_new();
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        struct err err = ERR_INIT;
        char text[128];
        snprintf(text, sizeof text, "%s=hunter2", secrets[i]);
        assert_true(kafka_conf_secret(secrets[i]));
        refused_naming(kafka_conf_arg(c, text, &err), &err, secrets[i]);
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_false(kafka_conf_secret(plain[i]));
    kafka_conf_free(c);
}

static void test_bad_properties(void **state)
{
    static const char *const bad[][2] = {{"bootstrap", "NAME=VALUE"},
                                         {"=x", "NAME=VALUE"},
                                         {"no.such=1", "no.such"},
                                         {"group.id=g", "group.id"},
                                         {"isolation.level=read_uncommitted", "isolation.level"},
                                         {"auto.offset.reset=latest", "auto.offset.reset"},
                                         {"socket.timeout.ms=ten", "socket.timeout.ms"}};
    (void)state;
    struct kafka_conf *c = kafka_conf_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = ERR_INIT;
        refused_naming(kafka_conf_arg(c, bad[i][0], &err), &err, bad[i][1]);
    }
    kafka_conf_free(c);
}

static void test_environment(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    struct kafka_conf *c = kafka_conf_new();
    setenv("OWED_TEST_SECRET", "hunter2", 1);
    assert_int_equal(kafka_conf_env(c, "sasl.password=OWED_TEST_SECRET", &err), 0);
    refused_naming(kafka_conf_env(c, "sasl.password=OWED_TEST_NO_SUCH", &err), &err, "OWED_TEST_NO_SUCH");
    /* A secret that is put under a name that wants something else is not shown. */
    refused_naming(kafka_conf_env(c, "ssl.key.pem.nope=OWED_TEST_SECRET", &err), &err, "ssl.key.pem.nope");
    kafka_conf_free(c);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void test_files(void **state)
{
    static const char *const bad[][2] = {{"client.id=x\nsasl.password hunter2\n", "line 2"},
                                         {"\n# note\n no.such = hunter2 \n", "line 3"},
                                         {"socket.timeout.ms=x\n", "line 1"}};
    char path[] = "/tmp/owed-test-kafka-XXXXXX";
    struct err err = ERR_INIT;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct kafka_conf *c = kafka_conf_new();
    write_file(path, "# broker\n\n  bootstrap.servers=127.0.0.1:1  \r\nsasl.password=hunter2\nclient.id=no newline");
    assert_int_equal(kafka_conf_file(c, path, &err), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(path, bad[i][0]);
        refused_naming(kafka_conf_file(c, path, &err), &err, bad[i][1]);
    }
    unlink(path);
    assert_int_equal(kafka_conf_file(c, path, &err), -1);
    assert_int_equal(kafka_conf_file(c, "/tmp", &err), -1);
    kafka_conf_free(c);
}

/* ---- lanes ---- */

static void test_partitions_of_a_lane(void **state)
{
    struct lane_state lane;
    (void)state;
    lane_init(&lane, 1, 3, 8, 0);
    assert_int_equal(lane.n_parts, 3);
    for (uint32_t p = 0; p < 12; p++) {
        struct lane_part *part = lane_part(&lane, p);
        assert_true(p == 1 || p == 4 || p == 7 ? part && part->partition == p : !part);
    }
    lane_free(&lane);
    lane_init(&lane, 2, 3, 2, 0);
    assert_int_equal(lane.n_parts, 0);
    assert_null(lane_part(&lane, 2));
    assert_false(lane_advance(&lane));
    lane_free(&lane);
}

static bool take(struct lane_part *part, int64_t offset, bool end)
{
    struct kafka_event e = {.partition = part->partition, .offset = offset, .end = end};
    struct err err = ERR_INIT;
    bool hand_on = false;
    assert_int_equal(lane_take(part, &e, &hand_on, &err), 0);
    return hand_on;
}

static void test_positions(void **state)
{
    struct lane_part part = {.partition = 0, .position = 5, .stop = -1};
    struct kafka_event early = {.offset = 7};
    struct err err = ERR_INIT;
    bool hand_on;
    (void)state;
    assert_true(take(&part, 5, false));
    assert_true(take(&part, 9, false)); /* 6 to 8 were never delivered */
    assert_int_equal(part.position, 10);
    assert_false(take(&part, 12, true)); /* the end lies past markers */
    assert_int_equal(part.position, 12);
    assert_false(lane_part_done(&part));
    assert_int_equal(lane_take(&part, &early, &hand_on, &err), -1);
    assert_non_null(strstr(err.text, "offset 7"));
}

static void test_stop(void **state)
{
    struct lane_part at_record = {.stop = 3}, at_end = {.stop = 3}, empty = {.stop = 0};
    (void)state;
    assert_true(take(&at_record, 1, false));
    assert_false(lane_part_done(&at_record));
    assert_false(take(&at_record, 4, false)); /* offset 2 was a marker, 3 is past the stop */
    assert_int_equal(at_record.position, 3);
    assert_true(lane_part_done(&at_record));
    assert_false(take(&at_record, 5, false));
    assert_int_equal(at_record.position, 3);
    assert_false(take(&at_end, 7, true));
    assert_int_equal(at_end.position, 3);
    assert_true(lane_part_done(&empty));
}

static void test_at_end(void **state)
{
    struct lane_state lane;
    (void)state;
    lane_init(&lane, 0, 1, 2, 0);
    assert_false(lane_at_end(&lane)); /* silence before the first answer is no idleness */
    take(&lane.parts[0], 0, true);
    assert_false(lane_at_end(&lane));
    take(&lane.parts[1], 4, true);
    assert_true(lane_at_end(&lane));
    take(&lane.parts[1], 4, false);
    assert_false(lane_at_end(&lane));
    lane.parts[1].stop = 5;
    assert_true(lane_at_end(&lane));
    lane_free(&lane);
}

static void test_placed(void **state)
{
    static const struct kafka_bounds bounds[] = {{.low = 3, .stable = 7, .high = 9},
                                                 {.low = 0, .stable = 0, .high = 0}};
    struct lane_state lane;
    (void)state;
    lane_init(&lane, 0, 1, 2, 0);
    lane_place(&lane, bounds, KAFKA_READ_COMMITTED, false, false);
    assert_int_equal(lane.parts[0].position, 3);
    assert_int_equal(lane.parts[0].stop, -1);
    assert_false(lane_done(&lane));
    lane_place(&lane, bounds, KAFKA_READ_UNCOMMITTED, true, true);
    assert_int_equal(lane.parts[0].position, 9);
    assert_int_equal(lane.parts[0].stop, 9);
    assert_true(lane_done(&lane));
    lane.parts[0].restored = true; /* a snapshot's position stays, wherever the log begins */
    lane.parts[0].position = 5;
    lane_place(&lane, bounds, KAFKA_READ_COMMITTED, false, true);
    assert_int_equal(lane.parts[0].position, 5);
    assert_int_equal(lane.parts[0].stop, 7);
    assert_false(lane_done(&lane));
    lane_free(&lane);
}

static void test_event_time(void **state)
{
    static const char *const none[] = {"{\"t\":1.5}", "{\"t\":\"noon\"}", "{\"s\":1}",
                                       "[1]",         "no JSON",          "{\"t\":1,\"t\":2}"};
    struct kafka_event e = {.ts = 7, .ts_type = "create", .value = "{\"t\":-12}", .value_len = 9};
    struct arena a = {0};
    int64_t time = 0;
    (void)state;
    assert_true(kafka_event_time(&e, "t", &a, &time));
    assert_int_equal(time, -12);
    assert_true(kafka_event_time(&e, NULL, &a, &time));
    assert_int_equal(time, 7);
    e.ts_type = "unknown";
    assert_false(kafka_event_time(&e, NULL, &a, &time));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        e.value = none[i];
        e.value_len = strlen(none[i]);
        assert_false(kafka_event_time(&e, "t", &a, &time));
    }
    e.value = NULL;
    assert_false(kafka_event_time(&e, "t", &a, &time));
    arena_free(&a);
}

static void test_watermark(void **state)
{
    struct lane_state lane;
    (void)state;
    lane_init(&lane, 0, 1, 2, 10);
    lane_time(&lane.parts[0], 100);
    assert_false(lane_advance(&lane)); /* the other partition has delivered nothing */
    lane_time(&lane.parts[1], -500);
    assert_true(lane_advance(&lane));
    assert_int_equal(lane.watermark, -510);
    lane_time(&lane.parts[1], -600); /* a late record takes nothing back */
    assert_false(lane_advance(&lane));
    lane_time(&lane.parts[1], 300);
    assert_true(lane_advance(&lane));
    assert_int_equal(lane.watermark, 90);
    lane_free(&lane);
    lane_init(&lane, 0, 1, 1, 10);
    lane_time(&lane.parts[0], INT64_MIN + 5);
    assert_true(lane_advance(&lane));
    assert_true(lane.watermark == INT64_MIN);
    lane_free(&lane);
}

/* ---- snapshots ---- */

static const struct kafka_log LOG = {"orders", "cluster-1", "topic-1", NULL, 4};

static void test_snapshot_round(void **state)
{
    static const struct kafka_bounds bounds[4] = {{0, 10, 10}, {0, 10, 10}, {0, 10, 10}, {0, 10, 10}};
    char dir[] = "/tmp/owed-test-kafka-XXXXXX", command[64];
    struct lane_state lanes[2], back[2];
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    (void)state;
    assert_non_null(mkdtemp(dir));
    struct lane_owner owner = {dir, "1", "1", "a", 1, KAFKA_READ_COMMITTED};
    for (uint32_t i = 0; i < 2; i++) {
        lane_init(&lanes[i], i, 2, 4, 0);
        lane_init(&back[i], i, 2, 4, 0);
        lanes[i].parts[1].position = 7 + i;
        lane_time(&lanes[i].parts[0], 50);
        assert_int_equal(lane_store(&lanes[i], i, &owner, &LOG, 3, &a, NULL, &err), 0);
    }
    assert_int_equal(lane_restore_all(back, 2, &owner, &LOG, bounds, 3, &err), 0);
    for (uint32_t p = 0; p < 4; p++) {
        const struct lane_part *part = lane_part(&back[p % 2], p);
        assert_true(part->restored && part->timed == (p < 2));
        assert_int_equal(part->position, p < 2 ? 0 : 5 + p);
    }
    refused_naming(lane_restore_all(back, 1, &owner, &LOG, bounds, 3, &err), &err, "more lanes");
    owner.isolation = KAFKA_READ_UNCOMMITTED;
    refused_naming(lane_restore_all(back, 2, &owner, &LOG, bounds, 3, &err), &err, "read_uncommitted");
    owner.job = "2";
    assert_int_equal(lane_restore_all(back, 2, &owner, &LOG, bounds, 3, &err), -1);
    for (uint32_t i = 0; i < 2; i++) {
        lane_free(&lanes[i]);
        lane_free(&back[i]);
    }
    arena_free(&a);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void test_snapshot_of_another_log(void **state)
{
    static const struct {
        struct log_id log;
        const char *names; /* NULL: taken over */
    } cases[] = {{{"other", "cluster-1", "topic-1"}, "other"},
                 {{"orders", "cluster-2", "topic-1"}, "cluster-2"},
                 {{"orders", "cluster-1", "topic-2"}, "recreated"},
                 {{"orders", "cluster-1", NULL}, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct snapshot s = {.log = cases[i].log};
        struct lane_state lane;
        struct err err = ERR_INIT;
        lane_init(&lane, 0, 1, 4, 0);
        int rc = lane_restore(&lane, &LOG, &s, &err);
        if (cases[i].names)
            refused_naming(rc, &err, cases[i].names);
        else
            assert_int_equal(rc, 0);
        lane_free(&lane);
    }
}

static void test_snapshot_of_other_lanes(void **state)
{
    struct position p = {3, 1};
    struct snapshot s = {.log = {"orders", "cluster-1", "topic-1"}, .positions = &p, .n_positions = 1};
    struct lane_state lane;
    struct err err = ERR_INIT;
    (void)state;
    lane_init(&lane, 0, 2, 4, 0);
    refused_naming(lane_restore(&lane, &LOG, &s, &err), &err, "partition 3");
    lane_free(&lane);
}

static void test_position_outside_the_log(void **state)
{
    struct kafka_bounds b = {.low = 10, .high = 20, .stable = 20};
    struct lane_part part = {.partition = 2, .position = 9};
    struct err err = ERR_INIT;
    (void)state;
    assert_int_equal(lane_position_check(&LOG, &part, &b, &err), -1);
    assert_int_equal(err.kind, ERR_TROUBLE);
    assert_non_null(strstr(err.text, "9 to 9"));
    part.position = 10;
    assert_int_equal(lane_position_check(&LOG, &part, &b, &err), 0);
    part.position = 20;
    assert_int_equal(lane_position_check(&LOG, &part, &b, &err), 0);
    part.position = 21;
    refused_naming(lane_position_check(&LOG, &part, &b, &err), &err, "partition 2");
}

/* ---- ranges ---- */

static struct kafka_event at_offset(int64_t offset)
{
    return (struct kafka_event){.offset = offset, .value = "v", .value_len = 1};
}

static void hand_on(struct kafka_range *r, int64_t offset)
{
    struct kafka_event e = at_offset(offset);
    assert_true(kafka_range_take(r, &e));
    kafka_range_count(r, &e);
}

static void pass_by(struct kafka_range *r, int64_t offset, bool end)
{
    struct kafka_event e = at_offset(offset);
    e.end = end;
    assert_false(kafka_range_take(r, &e));
}

static void expect(const struct kafka_range *r, enum kafka_range_state state, int64_t position, uint64_t delivered,
                   const char *reason)
{
    assert_int_equal(r->state, state);
    assert_int_equal(r->position, position);
    assert_int_equal(r->delivered, delivered);
    assert_int_equal(kafka_range_undelivered(r), (uint64_t)(position - r->from) - delivered);
    if (reason)
        assert_non_null(strstr(r->reason, reason));
    else
        assert_null(r->reason);
}

static void test_range_ends_by_its_position(void **state)
{
    struct kafka_range r;
    (void)state;
    kafka_range_init(&r, 0, 5, 8);
    hand_on(&r, 5);
    expect(&r, KAFKA_RANGE_OPEN, 6, 1, NULL);
    hand_on(&r, 7); /* 6 was never delivered */
    expect(&r, KAFKA_RANGE_COMPLETE, 8, 2, NULL);
    pass_by(&r, 8, false); /* nothing after the end is handed on */
    expect(&r, KAFKA_RANGE_COMPLETE, 8, 2, NULL);

    kafka_range_init(&r, 0, 5, 8); /* a record past the end shows that 6 and 7 are not delivered any more */
    hand_on(&r, 5);
    pass_by(&r, 20, false);
    expect(&r, KAFKA_RANGE_COMPLETE, 8, 1, NULL);

    kafka_range_init(&r, 0, 5, 8); /* the log's end, short of the range's, then at it */
    pass_by(&r, 6, true);
    expect(&r, KAFKA_RANGE_OPEN, 6, 0, NULL);
    assert_true(r.at_end);
    pass_by(&r, 8, true);
    expect(&r, KAFKA_RANGE_COMPLETE, 8, 0, NULL);

    kafka_range_init(&r, 0, 5, 5);
    expect(&r, KAFKA_RANGE_COMPLETE, 5, 0, NULL);
    kafka_range_init(&r, 0, INT64_MAX - 1, INT64_MAX);
    hand_on(&r, INT64_MAX - 1);
    expect(&r, KAFKA_RANGE_COMPLETE, INT64_MAX, 1, NULL);
}

/* Each end of a transaction takes an offset, and has a record of its own before it. */
static void test_range_counts_gaps(void **state)
{
    static const struct {
        const char *log; /* r: a record, -: none */
        uint64_t excess;
        int64_t at;
    } cases[] = {{"rrrr", 0, 0},    {"r-r-rr-", 0, 0},   {"rrr---", 0, 0},      {"-", 1, 10},         {"r--", 1, 12},
                 {"r-r--r", 1, 14}, {"rr-----r", 3, 14}, {"r--rrr----", 2, 12}, {"rrr----rrr", 1, 16}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kafka_range r;
        int64_t n = (int64_t)strlen(cases[i].log);
        kafka_range_init(&r, 0, 10, 10 + n);
        for (int64_t k = 0; k < n; k++)
            if (cases[i].log[k] == 'r')
                hand_on(&r, 10 + k);
        if (r.state == KAFKA_RANGE_OPEN)
            pass_by(&r, 10 + n + 5, i % 2 == 0); /* the log's end, or a record past the range */
        assert_int_equal(r.state, KAFKA_RANGE_COMPLETE);
        if (r.excess != cases[i].excess || (r.excess > 0 && r.excess_at != cases[i].at))
            fail_msg("%s: %d at %d", cases[i].log, (int)r.excess, (int)r.excess_at);
    }
}

static void test_range_counts_null_values(void **state)
{
    struct kafka_range r;
    struct kafka_event null = {.offset = 1}, empty = {.offset = 2, .value = ""};
    (void)state;
    kafka_range_init(&r, 0, 0, 9);
    hand_on(&r, 0);
    assert_true(kafka_range_take(&r, &null));
    kafka_range_count(&r, &null);
    assert_true(kafka_range_take(&r, &empty));
    kafka_range_count(&r, &empty);
    expect(&r, KAFKA_RANGE_OPEN, 3, 3, NULL);
    assert_int_equal(r.null_values, 1);
}

static void test_range_refuses_what_comes_twice(void **state)
{
    struct kafka_range r;
    (void)state;
    kafka_range_init(&r, 0, 0, 9);
    hand_on(&r, 4);
    pass_by(&r, 4, false);
    expect(&r, KAFKA_RANGE_INCOMPLETE, 5, 1, "offset 4 came after the position 5");
    kafka_range_free(&r);
}

/* What the log holds when the range begins, and what the range then is. */
static void test_range_begins_in_the_log(void **state)
{
    static const struct {
        int64_t from, to;
        struct kafka_bounds b;
        enum kafka_range_state state;
        const char *reason;
    } cases[] = {
        {378,
         804,
         {500, 804, 804},
         KAFKA_RANGE_INCOMPLETE,
         "first available offset 500 is past the range's start 378: 122 offsets are gone"},
        {378, 400, {500, 804, 804}, KAFKA_RANGE_INCOMPLETE, "22 offsets are gone"},
        {500, 804, {500, 804, 804}, KAFKA_RANGE_OPEN, NULL},
        {10, 20, {0, 9, 9}, KAFKA_RANGE_INCOMPLETE, "the log ends at 9, before the range's start 10"},
        {10, 20, {0, 10, 10}, KAFKA_RANGE_OPEN, NULL},
        {10, 10, {0, 9, 9}, KAFKA_RANGE_INCOMPLETE, "the log ends at 9"},
        {10, 10, {50, 60, 60}, KAFKA_RANGE_COMPLETE, NULL}, /* nothing was owed, so nothing is gone */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kafka_range r;
        kafka_range_init(&r, 0, cases[i].from, cases[i].to);
        kafka_range_begin(&r, &cases[i].b);
        expect(&r, cases[i].state, cases[i].from, 0, cases[i].reason);
        kafka_range_free(&r);
    }
}

static void test_range_that_is_dry(void **state)
{
    const struct kafka_bounds open = {0, 1663, 200}, early = {0, 150, 150}, all = {0, 1663, 1663};
    struct kafka_range r;
    (void)state;
    kafka_range_init(&r, 0, 0, 1663);
    r.waits_since = 1;
    pass_by(&r, 0, true);
    assert_int_equal(r.waits_since, 1);
    hand_on(&r, 198);
    assert_int_equal(r.waits_since, 0);
    assert_false(kafka_range_dry(&r, &open, KAFKA_READ_COMMITTED)); /* 199 may still come */
    hand_on(&r, 199);
    assert_true(kafka_range_dry(&r, &open, KAFKA_READ_COMMITTED)); /* also where the broker never said so */
    assert_false(kafka_range_dry(&r, &open, KAFKA_READ_UNCOMMITTED));
    assert_int_equal(kafka_range_judge(&r, &open, KAFKA_READ_COMMITTED), KAFKA_RANGE_WAITS);
    assert_int_equal(kafka_range_judge(&r, &open, KAFKA_READ_UNCOMMITTED), KAFKA_RANGE_MOVES);
    assert_int_equal(kafka_range_judge(&r, &all, KAFKA_READ_COMMITTED),
                     KAFKA_RANGE_MOVES); /* it was committed meanwhile */
    expect(&r, KAFKA_RANGE_OPEN, 200, 2, NULL);
    kafka_range_judge(&r, &early, KAFKA_READ_COMMITTED);
    expect(&r, KAFKA_RANGE_INCOMPLETE, 200, 2,
           "the log ends at 150, before the range's end 1663: 1513 offsets are not there");
    assert_false(kafka_range_dry(&r, &open, KAFKA_READ_COMMITTED)); /* it is decided */
    kafka_range_free(&r);
}

static void test_range_whose_start_expires(void **state)
{
    const struct kafka_bounds held = {5, 9, 9}, passed = {6, 9, 9};
    struct kafka_range r;
    (void)state;
    kafka_range_init(&r, 0, 5, 7);
    pass_by(&r, 7, true);
    kafka_range_end(&r, &held);
    expect(&r, KAFKA_RANGE_COMPLETE, 7, 0, NULL);
    kafka_range_end(&r, &passed);
    expect(&r, KAFKA_RANGE_INCOMPLETE, 7, 0, "first available offset 6, past the range's start 5");
    kafka_range_fail(&r, BECAUSE(CODE_RANGE_BEYOND), "another reason");
    expect(&r, KAFKA_RANGE_INCOMPLETE, 7, 0, "first available offset 6");
    kafka_range_free(&r);
}

static void test_account_of_a_read(void **state)
{
    struct kafka_range a[2], b[1];
    struct kafka_source sources[2] = {{.topic = "orders",
                                       .cluster_id = "c",
                                       .topic_id = "t",
                                       .ranges = a,
                                       .n_ranges = 2,
                                       .same_cluster = true,
                                       .same_id = true,
                                       .not_compacted = true,
                                       .start_held = true,
                                       .found_cluster = xstrdup("c"),
                                       .found_id = xstrdup("t")},
                                      {.topic = "returns", .ranges = b, .n_ranges = 1}};
    struct stream_account account;
    struct arena arena = ARENA_INIT;
    (void)state;
    kafka_range_init(&a[0], 0, 0, 10);
    hand_on(&a[0], 3);
    pass_by(&a[0], 10, true);
    a[0].recounted = true;
    a[0].aborted = 4;
    kafka_range_init(&a[1], 1, 5, 9);
    kafka_range_fail(&a[1], BECAUSE(CODE_BROKER_FAILED), "a broker said \xff");
    kafka_range_init(&b[0], 0, 2, 2);
    kafka_source_fail(&sources[1], BECAUSE(CODE_CLUSTER_OTHER), "another cluster");
    kafka_account(sources, 2, &arena, &account);
    assert_false(account.complete);
    const struct json *reasons = json_parse(account.reasons.p, account.reasons.n, &arena, NULL);
    assert_int_equal(reasons->len, 2); /* a reason of a whole source is said once */
    assert_true(json_is(json_at(reasons, 0), "orders/1: a broker said \\xff"));
    assert_true(json_is(json_at(reasons, 1), "returns: another cluster"));
    assert_int_equal(account.cause.code, CODE_BROKER_FAILED); /* the first one's, with its place */
    assert_string_equal(cause_fact(&account.cause, "partition"), "orders/1");
    assert_string_equal(cause_fact(&account.cause, "topic"), "orders");
    const struct account_range *r = &account.ranges[0];
    assert_true(r->from.n == 0 && r->to.n == 10 && r->position.n == 10 && r->offsets.n == 10 && r->complete);
    assert_true(r->delivered.n == 1 && r->null_values.n == 0 && r->not_delivered.n == 9);
    assert_true(r->aborted.has && r->aborted.n == 4 && r->marker_or_absent.n == 5 && *r->reason == '\0');
    r = &account.ranges[1];
    assert_true(!r->complete && !r->aborted.has && strcmp(r->reason, "a broker said \\xff") == 0);
    assert_int_equal(account.n_ranges, 3);
    assert_int_equal(account.delivered.n, 1);
    assert_string_equal(account.verified.p, "[]"); /* only what holds of every source */
    arena_free(&arena);
    kafka_source_free(&sources[0]);
    kafka_source_free(&sources[1]);
}

/* ---- record lines ---- */

static void test_record_members(void **state)
{
    static const struct {
        struct kafka_event e;
        const char *members;
    } cases[] = {
        {{.offset = 7, .ts_type = "create", .ts = 5, .key = "k", .key_len = 1, .value = "a\"b", .value_len = 3},
         ",\"topic\":\"t\",\"partition\":0,\"offset\":7,\"tstype\":\"create\",\"ts\":5,\"key\":\"k\",\"payload\":\"a\\\"b\""},
        {{.ts_type = "logappend", .ts = -1, .value = "", .value_len = 0},
         ",\"topic\":\"t\",\"partition\":0,\"offset\":0,\"tstype\":\"logappend\",\"ts\":-1,\"key\":null,\"payload\":\"\""},
        {{.ts_type = "unknown", .ts = -1, .key = "\xff", .key_len = 1, .value = "\x00\xc3", .value_len = 2},
         ",\"topic\":\"t\",\"partition\":0,\"offset\":0,\"tstype\":\"unknown\",\"ts\":null,\"key_b64\":\"/w==\",\"payload_b64\":\"AMM=\""},
        {{.ts_type = "create", .ts = 1, .value = "null", .value_len = 4, .offset = 9007199254740993},
         ",\"topic\":\"t\",\"partition\":0,\"offset\":\"9007199254740993\",\"tstype\":\"create\",\"ts\":1,\"key\":null,\"payload\":\"null\""}};
    struct buf b = BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&b);
        kafka_record_put(&b, "\"t\"", &cases[i].e);
        assert_string_equal(buf_str(&b), cases[i].members);
    }
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secrets_by_name),
        cmocka_unit_test(test_bad_properties),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_partitions_of_a_lane),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_watermark),
        cmocka_unit_test(test_at_end),
        cmocka_unit_test(test_placed),
        cmocka_unit_test(test_event_time),
        cmocka_unit_test(test_snapshot_round),
        cmocka_unit_test(test_snapshot_of_another_log),
        cmocka_unit_test(test_snapshot_of_other_lanes),
        cmocka_unit_test(test_position_outside_the_log),
        cmocka_unit_test(test_range_ends_by_its_position),
        cmocka_unit_test(test_range_counts_null_values),
        cmocka_unit_test(test_range_refuses_what_comes_twice),
        cmocka_unit_test(test_range_begins_in_the_log),
        cmocka_unit_test(test_range_that_is_dry),
        cmocka_unit_test(test_range_counts_gaps),
        cmocka_unit_test(test_range_whose_start_expires),
        cmocka_unit_test(test_account_of_a_read),
        cmocka_unit_test(test_record_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
