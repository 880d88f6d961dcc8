/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a stream: every line counted, every write checked, the status only rising. */
#include "stream/annotations.h"
#include "stream/stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WRITE_BLOCK ((size_t)64 << 10)

static void put_bytes(struct stream_out *out, const char *p, size_t n)
{
    buf_add(&out->block, p, n);
    buf_addc(&out->block, '\n');
    if (out->block.len >= WRITE_BLOCK)
        stream_flush(out);
}

int stream_flush(struct stream_out *out)
{
    struct err err = ERR_INIT;
    if (!out->broken && out->block.len &&
        fd_write_all(out->fd, out->block.p, out->block.len, "standard output", &err) != 0) {
        out->broken = true;
        msg_error("%s", err.text);
        stream_status(out, OWED_TROUBLE);
    }
    buf_reset(&out->block);
    return out->broken ? -1 : 0;
}

void stream_status(struct stream_out *out, int status)
{
    static const int rank[] = {[OWED_OK] = 0, [OWED_TROUBLE] = 1, [OWED_FAILED] = 2, [OWED_REFUSED] = 3};
    if (rank[status] > rank[out->status])
        out->status = status;
}

void stream_begin(struct stream_out *out, int fd, const struct stream_in *in)
{
    memset(out, 0, sizeof *out);
    out->fd = fd;
    out->begun = true;
    struct buf *b = stream_build(out, LINE_STREAM);
    buf_printf(b, ",\"format\":\"%s\",\"version\":%d,\"stages\":[", STREAM_FORMAT, STREAM_VERSION);
    if (in && in->stages) {
        for (const struct json *stage = json_first(in->stages); stage; stage = json_next(in->stages, stage)) {
            json_put_raw(b, stage);
            buf_addc(b, ',');
        }
    }
    buf_adds(b, "{\"name\":");
    json_put_s(b, msg_program());
    buf_adds(b, ",\"version\":\"" OWED_VERSION "\"}]");
    if (in && in->shard) {
        buf_adds(b, ",\"shard\":");
        json_put_raw(b, in->shard);
    }
    stream_put_built(out, LINE_STREAM);
}

static bool provisional(enum line_type t)
{
    return t == LINE_ROW || t == LINE_RECORD || t == LINE_EVENT || t == LINE_WATERMARK || t == LINE_BARRIER;
}

void stream_put(struct stream_out *out, enum line_type type, const char *p, size_t n)
{
    if (out->rows_off && provisional(type))
        return;
    out->counts[type]++;
    stream_progress(type);
    put_bytes(out, p, n);
}

void stream_progress(enum line_type type)
{
    if (type == LINE_RECORD)
        progress_count(PROGRESS_RECORDS, 1);
    else if (type == LINE_EVENT)
        progress_count(PROGRESS_EVENTS, 1);
    else if (type == LINE_ROW)
        progress_count(PROGRESS_ROWS, 1);
}

void stream_pass(struct stream_out *out, const struct stream_line *line)
{
    if (out->rows_off && provisional(line->type))
        return;
    if (line->type == LINE_UNKNOWN)
        (*annotations_count(&out->annotations, line->type_name, line->type_len))++;
    out->counts[line->type]++;
    put_bytes(out, line->p, line->n);
}

struct buf *stream_build(struct stream_out *out, enum line_type type)
{
    buf_reset(&out->line);
    buf_adds(&out->line, "{\"type\":\"");
    buf_adds(&out->line, line_type_name(type));
    buf_addc(&out->line, '"');
    return &out->line;
}

void stream_put_built(struct stream_out *out, enum line_type type)
{
    buf_addc(&out->line, '}');
    stream_put(out, type, out->line.p, out->line.len);
}

void stream_row_place(struct buf *line, const struct stream_row *row)
{
    if (!row->at)
        return;
    buf_adds(line, ",\"at\":\"");
    buf_add(line, row->at, row->at_len);
    buf_addc(line, '"');
    ts_put(line, row->ts);
}

void stream_put_row(struct stream_out *out, const struct stream_row *row)
{
    struct buf *b = stream_build(out, LINE_ROW);
    buf_adds(b, ",\"side\":\"");
    buf_adds(b, side_name(row->side));
    buf_addc(b, '"');
    if (side_read(row->side)) {
        buf_adds(b, ",\"read\":");
        buf_addu64(b, side_read(row->side));
    }
    buf_adds(b, ",\"cells\":");
    buf_add(b, row->cells, row->cells_len);
    stream_row_place(b, row);
    if (row->again) {
        buf_adds(b, ",\"again\":\"");
        buf_add(b, row->again, row->again_len);
        buf_addc(b, '"');
    }
    stream_put_built(out, LINE_ROW);
}

void stream_put_text(struct buf *b, const char *s)
{
    if (utf8_valid(s, strlen(s))) {
        json_put_s(b, s);
        return;
    }
    struct buf masked = BUF_INIT;
    msg_mask(&masked, s, strlen(s));
    json_put_str(b, masked.p, masked.len);
    buf_free(&masked);
}

int stream_end(struct stream_out *out)
{
    struct buf *b = stream_build(out, LINE_END);
    buf_adds(b, ",\"lines\":{");
    bool first = true;
    for (size_t t = 0; t < LINE_UNKNOWN; t++) {
        if (!out->counts[t])
            continue;
        buf_printf(b, "%s\"%s\":", first ? "" : ",", line_type_name((enum line_type)t));
        json_put_u64(b, out->counts[t]);
        first = false;
    }
    for (size_t i = 0; out->annotations && i < out->annotations->n; i++) {
        const struct annotation *one = &out->annotations->at[i];
        buf_addc(b, ',');
        json_put_str(b, one->name, one->len);
        buf_addc(b, ':');
        json_put_u64(b, one->count);
    }
    buf_addc(b, '}');
    stream_put_built(out, LINE_END);
    out->ended = true;
    stream_flush(out);
    /* The last write's failure can show only when the descriptor is closed (a full disk over a network). */
    if (!out->broken && out->fd == STDOUT_FILENO && close(out->fd) != 0 && errno != EINTR) {
        msg_error("cannot write standard output: %s", strerror(errno));
        stream_status(out, OWED_TROUBLE);
    }
    return out->broken ? OWED_TROUBLE : out->status;
}

void stream_out_free(struct stream_out *out)
{
    buf_free(&out->block);
    buf_free(&out->line);
    annotations_free(&out->annotations);
    arena_free(&out->arena);
}
