/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window operator beside one that keeps every row in a list and computes a
 * window anew when it is due: random rows, watermarks and restarts, the same rows
 * out. And the arithmetic at the ends of 64 and of 128 bits.
 */
#include "evidence/window_state.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define ROWS 3000

static uint64_t seed = 88172645463325252;

static uint64_t roll(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static void collect(void *ctx, const char *p, size_t n)
{
    struct buf *b = ctx;
    buf_add(b, p, n);
    buf_addc(b, '\n');
}

static struct op *window(int64_t size, int64_t lateness)
{
    struct buf text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct op *op = NULL;
    buf_printf(&text,
               "{\"size_ms\":%" PRId64 ",\"allowed_lateness_ms\":%" PRId64
               ",\"partition_by\":[\"k\"],\"aggregates\":[{\"function\":\"count\",\"as\":\"n\"},{\"function\":\"sum\","
               "\"column\":\"v\",\"as\":\"s\"}]}",
               size, lateness);
    if (op_open(&op, "window", json_parse_named(text.p, text.len, &a, "p", &err), &err) != 0)
        fail_msg("%s", err.text);
    buf_free(&text);
    arena_free(&a);
    return op;
}

/* ---- every row in a list ---- */

struct row {
    int64_t t;
    unsigned key;
    int64_t v;
    bool done; /* dropped, or given */
};

struct naive {
    struct row rows[ROWS];
    size_t n;
    int64_t size, lateness, mark;
};

static int64_t floor_of(int64_t t, int64_t size)
{
    int64_t q = t / size;
    return (t < 0 && q * size != t ? q - 1 : q) * size;
}

static void naive_row(struct naive *m, int64_t t, unsigned key, int64_t v)
{
    bool late = floor_of(t, m->size) + m->size + m->lateness <= m->mark;
    m->rows[m->n++] = (struct row){t, key, v, late};
}

/* The windows that mark closes, by start and then key, each from all rows. */
static void naive_mark(struct naive *m, int64_t mark, struct buf *out)
{
    m->mark = mark > m->mark ? mark : m->mark;
    for (;;) {
        const struct row *first = NULL;
        for (const struct row *r = m->rows; r < m->rows + m->n; r++) {
            int64_t start = floor_of(r->t, m->size), other = first ? floor_of(first->t, m->size) : 0;
            if (r->done || start + m->size + m->lateness > m->mark)
                continue;
            if (!first || start < other || (start == other && r->key < first->key))
                first = r;
        }
        if (!first)
            return;
        struct row is = *first;
        int64_t start = floor_of(is.t, m->size), n = 0, s = 0;
        for (struct row *r = m->rows; r < m->rows + m->n; r++)
            if (!r->done && r->key == is.key && floor_of(r->t, m->size) == start) {
                r->done = true;
                n++;
                s += r->v;
            }
        buf_printf(out,
                   "{\"type\":\"event\",\"ts\":%" PRId64 ",\"values\":{\"k\":\"k%u\",\"window_start\":%" PRId64
                   ",\"window_end\":%" PRId64 ",\"n\":%" PRId64 ",\"s\":%" PRId64 "}}\n",
                   start + m->size - 1, is.key, start, start + m->size, n, s);
    }
}

static void one_event(struct op *op, const struct row *r, struct buf *out)
{
    struct buf line = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&line, "{\"type\":\"event\",\"ts\":%" PRId64 ",\"values\":{\"v\":%" PRId64 ",\"k\":\"k%u\"}}", r->t,
               r->v, r->key);
    if (op_event(op, line.p, line.len, &(struct op_output){collect, out}, &err) != 0)
        fail_msg("%s: %s", line.p, err.text);
    buf_free(&line);
}

/* A restart: its state into another operator. */
static struct op *restarted(struct op *op, int64_t size, int64_t lateness)
{
    struct buf state = BUF_INIT, back = BUF_INIT;
    struct err err = ERR_INIT;
    struct op *other = window(size, lateness);
    assert_int_equal(op_snapshot(op, &state, &err), 0);
    if (op_restore(other, state.p, state.len, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(op_snapshot(other, &back, &err), 0);
    assert_true(buf_is(&back, state.p, state.len));
    op_close(op);
    buf_free(&state);
    buf_free(&back);
    return other;
}

static void as_with_every_row_kept(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        static struct naive m;
        struct buf out = BUF_INIT, want = BUF_INIT;
        m = (struct naive){.size = 1 + (int64_t)roll(50), .lateness = (int64_t)roll(3) * 10, .mark = INT64_MIN};
        struct op *op = window(m.size, m.lateness);
        int64_t now = -500;
        while (m.n < ROWS) {
            now += (int64_t)roll(2);
            naive_row(&m, now + (int64_t)roll(120) - 60, (unsigned)roll(5), (int64_t)roll(1000) - 500);
            one_event(op, &m.rows[m.n - 1], &out);
            if (roll(10) == 0) {
                int64_t mark = now - 40 + (int64_t)roll(30);
                naive_mark(&m, mark, &want);
                assert_int_equal(op_watermark(op, mark, &(struct op_output){collect, &out}, NULL), 0);
            }
            if (roll(200) == 0)
                op = restarted(op, m.size, m.lateness);
        }
        naive_mark(&m, 1000000, &want);
        assert_int_equal(op_watermark(op, 1000000, &(struct op_output){collect, &out}, NULL), 0);
        assert_true(want.len > 1000);
        assert_string_equal(buf_str(&out), buf_str(&want));
        op_close(op);
        buf_free(&out);
        buf_free(&want);
    }
}

static void windows_are_held_within_64_bits(void **state)
{
    (void)state;
    static const struct {
        int64_t t, size, start, end;
    } cases[] = {{0, 10, 0, 10},
                 {-1, 10, -10, 0},
                 {-10, 10, -10, 0},
                 {9, 10, 0, 10},
                 {INT64_MAX, 10, 9223372036854775800, INT64_MAX},
                 {INT64_MIN, 10, INT64_MIN, -9223372036854775800},
                 {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
                 {-1, INT64_MAX, -INT64_MAX, 0},
                 {INT64_MIN, INT64_MAX, INT64_MIN, -INT64_MAX},
                 {INT64_MIN, 1, INT64_MIN, INT64_MIN + 1},
                 {INT64_MAX, 1, INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t start, end;
        window_of(cases[i].t, cases[i].size, &start, &end);
        assert_int_equal(start, cases[i].start);
        assert_int_equal(end, cases[i].end);
        /* What is open there comes back from its state. */
        struct op *op = window(cases[i].size, 0);
        one_event(op, &(struct row){.t = cases[i].t, .v = 1}, NULL);
        op_close(restarted(op, cases[i].size, 0));
    }
    assert_int_equal(window_closes(INT64_MAX - 1, 5), INT64_MAX);
    assert_int_equal(window_closes(5, INT64_MAX), INT64_MAX);
    assert_int_equal(window_closes(-5, 2), -3);
}

static void whole_numbers_of_128_bits_have_one_spelling(void **state)
{
    (void)state;
    static const char *const good[] = {"0", "7", "-7", "170141183460469231731687303715884105727",
                                       "-170141183460469231731687303715884105728"},
                             *const bad[] = {"",
                                             "-",
                                             "-0",
                                             "00",
                                             "07",
                                             "+7",
                                             "7 ",
                                             "1e3",
                                             "170141183460469231731687303715884105728",
                                             "-170141183460469231731687303715884105729",
                                             "1701411834604692317316873037158841057270"};
    int128 v;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct buf b = BUF_INIT;
        assert_true(int128_read(good[i], strlen(good[i]), &v));
        int128_put(&b, v);
        assert_string_equal(buf_str(&b), good[i]);
        buf_free(&b);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(int128_read(bad[i], strlen(bad[i]), &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_with_every_row_kept),
                                       cmocka_unit_test(windows_are_held_within_64_bits),
                                       cmocka_unit_test(whole_numbers_of_128_bits_have_one_spelling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
