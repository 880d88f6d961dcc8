/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each type of line by its own parser and writer: the input is one line, its type the first member's. What is accepted
 * is written, and what was written is accepted and written as the same.
 */
#include "evidence/line.h"
#include "scope/line.h"
#include "stream/absent.h"
#include "stream/excluded.h"
#include "stream/finding.h"
#include "stream/log.h"
#include "stream/observation.h"
#include "stream/summary.h"
#include "stream/watermark.h"
#include "types/line.h"

#include <stdlib.h>
#include <string.h>

#define MOST ((size_t)16 << 10) /* so that all that is written is held */

static void insist(bool ok)
{
    if (!ok)
        abort();
}

/* X(the line's type, its struct, its parser's and writer's name): those that are read into what their writer takes. */
/* clang-format off */
#define PLAIN(X) \
    X(ABSENT, struct stream_absent, absent) X(ACCOUNT, struct stream_account, account) \
    X(BUNDLE, struct stream_bundle, bundle) X(EXCLUDED, struct stream_excluded, excluded) \
    X(FINDING, struct finding, finding) X(OBSERVATION, struct observation, observation) \
    X(SIDE, struct stream_side, side) X(SUMMARY, struct summary, summary)
/* clang-format on */

/* Those that are only read, or whose writer takes something else. */
static int read_only(const struct stream_line *line, struct arena *a, struct err *err)
{
    bool required[CHECK_NAMES] = {false};
    struct check_line check;
    struct stream_log log;
    switch (line->type) {
    case LINE_CHECK: return stream_check(line, a, &check, err);
    case LINE_LOG: return stream_log(line, a, &log, err);
    case LINE_REQUIRE: return stream_require(line, required, err);
    default: return -1;
    }
}

static int others(const struct stream_line *line, struct arena *a, struct stream_out *out, struct err *err)
{
    struct interval_line interval;
    struct stream_watermark mark;
    struct columns columns = COLUMNS_INIT;
    struct scope scope;
    const struct json *document;
    switch (line->type) {
    case LINE_INTERVAL:
        if (stream_interval(line, a, &interval, err) != 0)
            return -1;
        if (interval.source)
            stream_put_interval_stands(out, &interval);
        else
            stream_put_interval(out, &interval.iv);
        return 0;
    case LINE_WATERMARK:
        if (stream_watermark(line, &mark, err) != 0)
            return -1;
        insist(mark.has_time ? !mark.idle : mark.time == 0);
        stream_put_watermark(out, &mark);
        return 0;
    case LINE_COLUMNS:
        if (stream_columns(line, &columns, err) != 0)
            return -1;
        stream_put_columns(out, &columns);
        columns_free(&columns);
        return 0;
    case LINE_SCOPE:
        if (stream_scope(line, a, &document, &scope, err) != 0)
            return -1;
        scope_free(&scope);
        stream_put_scope(out, json_raw(document).p, json_raw(document).n);
        return 0;
    default: return read_only(line, a, err);
    }
}

/* Read and write it; -1 where it is refused. */
static int there(const struct stream_line *line, struct arena *a, struct stream_out *out)
{
    struct err err = ERR_INIT;
    int rc = -1;
    buf_reset(&out->block);
    switch (line->type) {
#define X(id, type, name) \
    case LINE_##id: { \
        type it; \
        rc = stream_##name(line, a, &it, &err); \
        if (rc == 0) \
            stream_put_##name(out, &it); \
        break; \
    }
        PLAIN(X)
#undef X
    default: rc = others(line, a, out, &err);
    }
    insist(rc == 0 || err.kind == ERR_REFUSED || err.kind == ERR_NONE);
    return rc;
}

static bool line_of(const char *p, size_t n, struct arena *a, struct stream_line *line)
{
    const struct json *doc = json_parse(p, n, a, NULL), *name = doc ? json_first(doc) : NULL;
    const struct json *type = json_get(doc, "type");
    if (!type || json_value(name) != type || type->type != JSON_STRING || memchr(p, '\n', n))
        return false;
    *line = (struct stream_line){line_type_of(type->str, type->len), type->str, type->len, p, n, 1};
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct stream_out out = {.fd = -1};
    struct stream_line line;
    struct buf first = BUF_INIT;
    if (size > MOST)
        return -1;
    if (line_of((const char *)data, size, &a, &line) && there(&line, &a, &out) == 0 && out.block.len > 0) {
        buf_add(&first, out.block.p, out.block.len);
        insist(first.p[first.len - 1] == '\n' && line_of(first.p, first.len - 1, &a, &line));
        insist(there(&line, &a, &out) == 0 && buf_is(&out.block, first.p, first.len));
    }
    buf_free(&first);
    stream_out_free(&out);
    arena_free(&a);
    return 0;
}
