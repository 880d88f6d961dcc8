/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window's parameters, its state and its rows. With an odd first byte the rest is a state: one that is taken over is
 * given again byte for byte, and all of it is due in the end. With an even one it is, a line each, the parameters and
 * then rows: what came of them in one piece comes of them over a restart too.
 */
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

static void insist(bool ok)
{
    if (!ok)
        abort();
}

static void on_event(void *ctx, const char *p, size_t n)
{
    struct buf *b = ctx;
    insist(json_valid(p, n, NULL) && !memchr(p, '\n', n));
    buf_add(b, p, n);
    buf_addc(b, '\n');
}

static struct op *window(const char *p, size_t n)
{
    struct arena a = ARENA_INIT;
    struct err err = ERR_INIT;
    struct op *op = NULL;
    const struct json *v = json_parse(p, n, &a, NULL);
    if (!v || op_open(&op, "window", v, &err) != 0)
        op = NULL;
    arena_free(&a);
    return op;
}

static void due(struct op *op, struct buf *out)
{
    insist(op_watermark(op, INT64_MAX, &(struct op_output){on_event, out}, NULL) == 0);
    insist(op_watermark(op, INT64_MAX, &(struct op_output){on_event, NULL}, NULL) == 0);
}

static struct op *again(const char *parameters, size_t n, const struct buf *state)
{
    struct op *op = window(parameters, n);
    struct buf back = BUF_INIT;
    insist(op && op_restore(op, state->p, state->len, NULL) == 0 && op_snapshot(op, &back, NULL) == 0);
    insist(buf_is(&back, state->p, state->len));
    buf_free(&back);
    return op;
}

static void read_state(const char *p, size_t n)
{
    static const char parameters[] =
        "{\"size_ms\":10,\"partition_by\":[\"k\"],\"aggregates\":[{\"function\":\"count\",\"as\":\"n\"},"
        "{\"function\":\"sum\",\"column\":\"v\",\"as\":\"s\",\"scale\":2}]}";
    struct op *op = window(parameters, sizeof parameters - 1);
    struct buf state = BUF_INIT, out = BUF_INIT, other = BUF_INIT;
    struct err err = ERR_INIT;
    if (op_restore(op, p, n, &err) == 0) {
        insist(op_snapshot(op, &state, NULL) == 0);
        struct op *twin = again(parameters, sizeof parameters - 1, &state);
        due(op, &out);
        due(twin, &other);
        insist(buf_is(&out, other.p, other.len));
        op_close(twin);
    }
    op_close(op);
    buf_free(&state);
    buf_free(&out);
    buf_free(&other);
}

static void rows(const char *p, size_t n)
{
    const char *end = memchr(p, '\n', n);
    size_t head = end ? (size_t)(end - p) : n;
    struct op *op = window(p, head);
    struct buf state = BUF_INIT, out = BUF_INIT, other = BUF_INIT;
    bool stopped = false;
    for (size_t at = head + 1; op && at < n && !stopped;) {
        const char *nl = memchr(p + at, '\n', n - at);
        size_t len = nl ? (size_t)(nl - (p + at)) : n - at;
        stopped = op_event(op, p + at, len, &(struct op_output){on_event, &out}, &(struct err){0}) != 0;
        at += len + 1;
    }
    if (op && !stopped) {
        insist(op_snapshot(op, &state, NULL) == 0);
        struct op *twin = again(p, head, &state);
        due(op, &out);
        due(twin, &other);
        insist(buf_is(&out, other.p ? other.p : "", other.len));
        op_close(twin);
    }
    op_close(op);
    buf_free(&state);
    buf_free(&out);
    buf_free(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return -1;
    if (data[0] & 1)
        read_state((const char *)data + 1, size - 1);
    else
        rows((const char *)data + 1, size - 1);
    return 0;
}
