/* SPDX-License-Identifier: Apache-2.0 */
/* The watermark line, read and written. */
#include "stream/watermark.h"

#include "stream/stream.h"

int watermark_parse(const struct json *doc, struct stream_watermark *out, struct err *err)
{
    static const char where[] = "watermark";
    bool said = json_get(doc, "idle");
    *out = (struct stream_watermark){0};
    if (said && json_need_bool(doc, "idle", &out->idle, where, err) != 0)
        return -1;
    out->has_time = json_get(doc, "ts") || !said;
    if (out->has_time && json_need_i64(doc, "ts", &out->time, where, err) != 0)
        return -1;
    if (out->has_time && out->idle)
        return err_set(err, ERR_REFUSED, "%s: of a lane that is idle, with a time", where);
    return 0;
}

int stream_watermark(const struct stream_line *line, struct stream_watermark *out, struct err *err)
{
    struct arena arena = ARENA_INIT;
    const struct json *doc = stream_doc(line, &arena, err);
    int rc = doc ? watermark_parse(doc, out, err) : -1;
    arena_free(&arena);
    return doc && rc != 0 ? stream_misfit(line, err) : rc;
}

void stream_put_watermark(struct stream_out *out, const struct stream_watermark *w)
{
    struct buf *line = stream_build(out, LINE_WATERMARK);
    if (w->has_time) {
        buf_adds(line, ",\"ts\":");
        json_put_i64(line, w->time);
    } else {
        buf_printf(line, ",\"idle\":%s", w->idle ? "true" : "false");
    }
    stream_put_built(out, LINE_WATERMARK);
}
