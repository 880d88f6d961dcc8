/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a filter, and the stream of a refusal. */
#include "stream/stream.h"

#include <string.h>
#include <unistd.h>

/* One line of the input, to the stage or straight on. */
static void filter_line(struct stream_out *out, const struct stream_line *line, enum code refused,
                        stream_line_fn *on_line, void *ctx)
{
    struct err err;
    err_reset(&err);
    /* After a stop, whoever wrote it, nothing more is decided here. */
    int rc = out->rows_off || line->type == LINE_STOP ? 0 : on_line(ctx, line, &err);
    if (rc < 0) {
        char number[24];
        cause_add(&err.cause, "line", fact_number(number, line->line_no));
        stream_put_stop(out, &err, refused == CODE_NONE ? CODE_LINE_MALFORMED : refused);
    }
    if (rc <= 0)
        stream_pass(out, line);
    if (line->type == LINE_STOP)
        out->rows_off = true;
}

bool stream_filter(struct stream_in *in, struct stream_out *out, size_t max_line, stream_line_fn *on_line, void *ctx)
{
    struct err err = ERR_INIT;
    const struct stream_in set = *in;
    stream_in_init(in, STDIN_FILENO, "stdin", max_line);
    in->rows_unchecked = set.rows_unchecked;
    in->data_unchecked = set.data_unchecked;
    in->lane = set.lane;
    in->prefetch = set.prefetch;
    in->code = set.code;
    int rc = stream_open(in, &err);
    stream_begin(out, STDOUT_FILENO, rc == 0 ? in : NULL);
    struct stream_line line;
    while (rc >= 0 && !out->broken && !(in->lane && out->rows_off)) {
        if (!line_in_ready(&in->lines))
            stream_flush(out);
        rc = stream_next(in, &line, &err);
        if (rc == 0)
            break;
        if (rc > 0)
            filter_line(out, &line, in->code, on_line, ctx);
    }
    if (rc < 0)
        stream_put_stop(out, &err, CODE_LINE_MALFORMED);
    /* What could not do its work did not succeed, whoever stopped it. */
    if (in->stopped || out->stopped)
        stream_status(out, OWED_TROUBLE);
    return in->ended && !in->stopped && !out->stopped && !out->broken;
}

int stream_refuse(const struct err *usage, size_t max_line)
{
    struct stream_in in;
    struct stream_out out;
    struct stream_line line;
    struct err err = ERR_INIT;
    stream_in_init(&in, STDIN_FILENO, "stdin", max_line);
    bool came = max_line != STREAM_NO_INPUT && !isatty(STDIN_FILENO) && stream_open(&in, &err) == 0;
    stream_begin(&out, STDOUT_FILENO, came ? &in : NULL);
    stream_put_stop(&out, usage, CODE_USAGE);
    while (came && !out.broken && stream_next(&in, &line, &err) > 0)
        stream_pass(&out, &line);
    int status = stream_end(&out);
    stream_out_free(&out);
    stream_in_free(&in);
    return status;
}
