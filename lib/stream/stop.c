/* SPDX-License-Identifier: Apache-2.0 */
/* The stop line, read and written. */
#include "stream/stop.h"

#include "stream/check.h"
#include "stream/stream.h"

#include <string.h>

int stop_line_parse(const struct json *doc, struct arena *arena, struct stop_line *out, struct err *err)
{
    const struct json *kind = json_get(doc, "kind");
    *out = (struct stop_line){.refused = json_is(kind, "refused")};
    if (!out->refused && !json_is(kind, "unfinished"))
        return err_set(err, ERR_REFUSED, "a stop whose kind is neither refused nor unfinished");
    if (json_need_str(doc, "stage", arena, &out->stage, "stop", err) != 0 ||
        json_need_str(doc, "reason", arena, &out->reason, "stop", err) != 0 ||
        cause_parse(doc, "stop", &out->cause, err) != 0)
        return -1;
    return out->cause.code == CODE_NONE ? err_set(err, ERR_REFUSED, "a stop without a code") : 0;
}

void stream_put_stop(struct stream_out *out, const struct err *err, enum code refused)
{
    msg_error("%s", err->text);
    struct cause cause = code_of_err(err, refused);
    struct buf *b = stream_build(out, LINE_STOP);
    buf_adds(b, ",\"stage\":");
    json_put_s(b, msg_program());
    buf_printf(b, ",\"kind\":\"%s\"", err->kind == ERR_REFUSED ? "refused" : "unfinished");
    cause_put(b, &cause);
    buf_adds(b, ",\"reason\":");
    stream_put_text(b, err->text);
    stream_put_built(out, LINE_STOP);
    if (!out->stop_reason)
        out->stop_reason = arena_strndup(&out->arena, err->text, strlen(err->text));
    if (out->stop_cause.code == CODE_NONE)
        out->stop_cause = cause;
    out->stopped = true;
    out->rows_off = true;
    stream_status(out, err_exit(err));
}
