/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP answers. A body is read from one whole result or from a stream of blocks by the same reader. */
#include "reply.h"

#include "blocks.h"
#include "frames.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

struct reply_server reply_server;

/* What is not listed is 500, as the server has it. */
static unsigned status_of(int code)
{
    static const struct {
        unsigned status;
        int codes[32];
    } table[] = {
        {400,
         {6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676}},
        {401, {194}},
        {403, {192, 193, 497, 516}},
        {404, {46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511}},
        {408, {159}},
        {413, {229}},
        {501, {48}},
        {503, {76, 209, 439}},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t k = 0; k < 32 && table[i].codes[k] != 0; k++)
            if (table[i].codes[k] == code)
                return table[i].status;
    return 500;
}

bool reply_can_stream(const char *format)
{
    return blocks_header(format) != BLOCKS_WHOLE;
}

static const char *content_type(const char *format)
{
    if (strncasecmp(format, "JSONEachRow", 11) == 0 || strncasecmp(format, "JSONCompactEachRow", 18) == 0)
        return "application/x-ndjson; charset=UTF-8";
    if (strncasecmp(format, "JSON", 4) == 0)
        return "application/json; charset=UTF-8";
    if (strncasecmp(format, "CSV", 3) == 0)
        return "text/csv; charset=UTF-8";
    if (strncasecmp(format, "TabSeparated", 12) == 0 || strncasecmp(format, "TSV", 3) == 0)
        return "text/tab-separated-values; charset=UTF-8";
    if (strncasecmp(format, "RowBinary", 9) == 0 || strcasecmp(format, "Native") == 0)
        return "application/octet-stream";
    return "text/plain; charset=UTF-8";
}

static void add_common(struct MHD_Response *r, const struct reply_meta *m)
{
    MHD_add_response_header(r, "X-ClickHouse-Server-Display-Name", "clickhouse-front");
    MHD_add_response_header(r, "X-ClickHouse-Timezone", reply_server.timezone);
    if (m->query_id[0] != '\0')
        MHD_add_response_header(r, "X-ClickHouse-Query-Id", m->query_id);
}

static void add_summary(struct MHD_Response *r, const struct answer *a)
{
    char text[400];

    snprintf(text, sizeof text,
             "{\"read_rows\":\"%llu\",\"read_bytes\":\"%llu\",\"written_rows\":\"%llu\","
             "\"written_bytes\":\"%llu\",\"total_rows_to_read\":\"0\",\"result_rows\":\"%llu\","
             "\"result_bytes\":\"%llu\"}",
             (unsigned long long)a->read_rows, (unsigned long long)a->read_bytes, (unsigned long long)a->written_rows,
             (unsigned long long)a->written_bytes, (unsigned long long)a->result_rows,
             (unsigned long long)a->result_bytes);
    MHD_add_response_header(r, "X-ClickHouse-Summary", text);
}

/* The engine repeats its prefix and version in some errors; a server gives each once. Allocated. */
static char *plain_exception(const char *error, int *code)
{
    const char *at = error, *rest, *cut;
    char *text = NULL;
    int n = 0, found = 1001;

    while (sscanf(at, "Code: %d. DB::Exception: %n", &found, &n) == 1 && n > 0) {
        rest = at + n;
        if (strncmp(rest, "Code: ", 6) != 0)
            break;
        at = rest;
        n = 0;
    }
    *code = found;
    cut = strstr(at, " (version ");
    if (asprintf(&text, "%s%.*s (version %s (official build))\n",
                 strncmp(at, "Code: ", 6) == 0 ? "" : "Code: 1001. DB::Exception: ",
                 cut != NULL ? (int)(cut - at) : (int)strlen(at), at, reply_server.version) < 0)
        return NULL;
    return text;
}

enum MHD_Result reply_exception(struct MHD_Connection *c, const struct reply_meta *m, const char *error)
{
    struct MHD_Response *r;
    enum MHD_Result queued;
    char number[16];
    int code;
    char *text = plain_exception(error, &code);
    size_t size = text != NULL ? strlen(text) : 0;

    if (text != NULL && m->compress) {
        char *plain = text;

        text = frames_of(plain, size, &size);
        free(plain);
    }
    if (text == NULL)
        return MHD_NO;
    r = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (r == NULL) {
        free(text);
        return MHD_NO;
    }
    snprintf(number, sizeof number, "%d", code);
    add_common(r, m);
    add_summary(r, &(struct answer){0});
    MHD_add_response_header(r, "X-ClickHouse-Exception-Code", number);
    MHD_add_response_header(r, "Content-Type", "text/plain; charset=UTF-8");
    queued = MHD_queue_response(c, status_of(code), r);
    MHD_destroy_response(r);
    return queued;
}

enum MHD_Result reply_error(struct MHD_Connection *c, const struct reply_meta *m, int code, const char *name,
                            const char *format, ...)
{
    char what[1024], text[1200];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(text, sizeof text, "Code: %d. DB::Exception: %s. (%s)", code, what, name);
    return reply_exception(c, m, text);
}

enum MHD_Result reply_text(struct MHD_Connection *c, unsigned status, const char *text)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                             MHD_RESPMEM_MUST_COPY);
    enum MHD_Result queued;

    if (r == NULL)
        return MHD_NO;
    MHD_add_response_header(r, "Content-Type", "text/html; charset=UTF-8");
    queued = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return queued;
}

struct body {
    struct session *session; /* NULL: block is all there is */
    struct answer stream, block;
    size_t pos;
    size_t sent, limit;
    bool has_limit, ended;
    char *plain, *frame; /* where the body goes in frames: what the next holds, and the one that is being sent */
    size_t frame_pos, frame_len;
    char format[64];
    char tag[17];
    char *exception; /* what ends a body whose stream failed */
};

static void random_tag(char tag[17])
{
    unsigned char bytes[16] = {0};

    if (getrandom(bytes, sizeof bytes, 0) < 0)
        memset(bytes, 7, sizeof bytes);
    for (size_t i = 0; i < 16; i++)
        tag[i] = (char)('a' + bytes[i] % 26);
    tag[16] = '\0';
}

static void fail_body(struct body *b, const char *error)
{
    int code;
    char *text = plain_exception(error, &code);

    b->ended = true;
    if (text == NULL || asprintf(&b->exception, "\r\n__exception__\r\n%s\r\n%s%zu %s\r\n__exception__\r\n", b->tag,
                                 text, strlen(text), b->tag) < 0)
        b->exception = NULL;
    free(text);
}

static void next_block(struct body *b)
{
    engine_answer_free(&b->block);
    b->block = engine_fetch(b->session, &b->stream);
    b->pos = 0;
    if (b->block.error != NULL)
        fail_body(b, b->block.error);
    else if (b->block.result_rows == 0)
        b->ended = true;
    if (b->block.data != NULL)
        b->pos = blocks_header_len(blocks_header(b->format), b->block.data, b->block.len);
}

static ssize_t read_plain(struct body *b, char *out, size_t max)
{
    size_t n;

    while (b->pos >= b->block.len && !b->ended)
        next_block(b);
    n = b->pos < b->block.len ? b->block.len - b->pos : 0;
    if (n > max)
        n = max;
    if (n > 0) {
        memcpy(out, b->block.data + b->pos, n);
        b->pos += n;
    } else if (b->exception != NULL && b->exception[0] != '\0') {
        n = strlen(b->exception) < max ? strlen(b->exception) : max;
        memcpy(out, b->exception, n);
        b->exception[0] = '\0'; /* said; the next call breaks the transfer */
    } else {
        return b->exception != NULL ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
    }
    return (ssize_t)n;
}

static ssize_t read_framed(struct body *b, char *out, size_t max)
{
    size_t n;

    if (b->frame_pos == b->frame_len) {
        ssize_t held = read_plain(b, b->plain, FRAME_HOLDS);

        if (held < 0)
            return held;
        b->frame_pos = 0;
        b->frame_len = frame_write(b->plain, (size_t)held, b->frame);
        if (b->frame_len == 0)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    n = b->frame_len - b->frame_pos < max ? b->frame_len - b->frame_pos : max;
    memcpy(out, b->frame + b->frame_pos, n);
    b->frame_pos += n;
    return (ssize_t)n;
}

static ssize_t read_body(void *cls, uint64_t at, char *out, size_t max)
{
    struct body *b = cls;
    ssize_t n;

    (void)at;
    if (b->has_limit && max > b->limit - b->sent)
        max = b->limit - b->sent;
    if (max == 0)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    n = b->frame != NULL ? read_framed(b, out, max) : read_plain(b, out, max);
    if (n > 0)
        b->sent += (size_t)n;
    return n;
}

static void free_body(void *cls)
{
    struct body *b = cls;

    if (b->session != NULL && !b->ended)
        engine_cancel(b->session, &b->stream);
    engine_answer_free(&b->block);
    engine_answer_free(&b->stream);
    engine_session_close(b->session);
    free(b->plain);
    free(b->frame);
    free(b->exception);
    free(b);
}

static enum MHD_Result send_body(struct MHD_Connection *c, const struct reply_meta *m, struct body *b, uint64_t size,
                                 const struct answer *counts)
{
    struct MHD_Response *r;
    enum MHD_Result queued;

    snprintf(b->format, sizeof b->format, "%s", m->format);
    random_tag(b->tag);
    b->has_limit = m->has_limit;
    b->limit = m->limit;
    if (m->compress) {
        size = MHD_SIZE_UNKNOWN;
        b->plain = malloc(FRAME_HOLDS);
        b->frame = malloc(frame_bound(FRAME_HOLDS));
        if (b->plain == NULL || b->frame == NULL) {
            free_body(b);
            return MHD_NO;
        }
    }
    r = MHD_create_response_from_callback(size, 256 << 10, read_body, b, free_body);
    if (r == NULL) {
        free_body(b);
        return MHD_NO;
    }
    add_common(r, m);
    add_summary(r, counts);
    MHD_add_response_header(r, "X-ClickHouse-Exception-Tag", b->tag);
    MHD_add_response_header(r, "X-ClickHouse-Format", m->format);
    MHD_add_response_header(r, "Content-Type", content_type(m->format));
    queued = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return queued;
}

enum MHD_Result reply_answer(struct MHD_Connection *c, const struct reply_meta *m, struct answer a)
{
    struct body *b = calloc(1, sizeof *b);

    if (b == NULL) {
        engine_answer_free(&a);
        return MHD_NO;
    }
    b->block = a;
    b->ended = true;
    return send_body(c, m, b, a.len, &a);
}

enum MHD_Result reply_stream(struct MHD_Connection *c, const struct reply_meta *m, struct session *s,
                             struct answer stream, struct answer first)
{
    struct body *b = calloc(1, sizeof *b);

    if (b == NULL) {
        engine_answer_free(&first);
        engine_answer_free(&stream);
        engine_session_close(s);
        return MHD_NO;
    }
    b->session = s;
    b->stream = stream;
    b->block = first;
    b->ended = first.result_rows == 0;
    return send_body(c, m, b, MHD_SIZE_UNKNOWN, &(struct answer){0});
}
