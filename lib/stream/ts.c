/* SPDX-License-Identifier: Apache-2.0 */
/* A record's time, read and written. */
#include "stream/ts.h"

#include <inttypes.h>

#define YEAR_9999_END UINT64_C(253402300800000)

static int misfit(const char *name, const char *where, struct err *err)
{
    return err_set(err, ERR_REFUSED, "%s.%s: not a whole number of milliseconds", where, name);
}

int ts_parse(const struct json *doc, const char *name, struct stream_ts *out, const char *where, struct err *err)
{
    const struct json *v = json_get(doc, name);
    uint64_t ms;
    *out = (struct stream_ts){.has = false};
    if (!v)
        return 0;
    if (!json_u64(v, &ms) || ms > TS_MAX)
        return misfit(name, where, err);
    *out = (struct stream_ts){true, ms};
    return 0;
}

int ts_take(const struct json *doc, const char *name, struct stream_ts *out, const char *where, struct err *err)
{
    const struct json *v = json_get(doc, name);
    int64_t ms;
    *out = (struct stream_ts){.has = false};
    if (!v || v->type == JSON_NULL)
        return 0;
    if (!json_i64(v, &ms))
        return misfit(name, where, err);
    if (ms >= 0 && ms <= (int64_t)TS_MAX)
        *out = (struct stream_ts){true, (uint64_t)ms};
    return 0;
}

void ts_put(struct buf *line, struct stream_ts ts)
{
    if (!ts.has)
        return;
    buf_adds(line, ",\"ts\":");
    buf_addu64(line, ts.ms);
}

void ts_jw(struct json_w *w, const char *name, struct stream_ts ts)
{
    if (ts.has)
        jw_u64(w, name, ts.ms);
}

void ts_widen(struct stream_ts *oldest, struct stream_ts *newest, struct stream_ts one)
{
    if (!one.has)
        return;
    if (!oldest->has || one.ms < oldest->ms)
        *oldest = one;
    if (!newest->has || one.ms > newest->ms)
        *newest = one;
}

void ts_human(struct buf *out, struct stream_ts ts)
{
    char text[32];
    if (ts.ms >= YEAR_9999_END) {
        buf_printf(out, "%" PRIu64 " ms after 1970", ts.ms);
        return;
    }
    time_iso_ms((int64_t)ts.ms, text);
    buf_adds(out, text);
}
