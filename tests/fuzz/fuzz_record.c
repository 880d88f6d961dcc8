/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Kafka record to its line and back, and what the job's map takes of it. With an even first byte the rest is the
 * record: two bytes of what it has, key and header with their length before them, and the payload. With an odd one the
 * rest is the line, a record or (the next bit) an event, and what the map takes of a record has a place in a log.
 */
#include "kafka/internal.h"
#include "ops/ops.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

#define TOPIC "t.1"

static void insist(bool ok)
{
    if (!ok)
        abort();
}

struct input {
    const char *p;
    size_t n;
};

static size_t byte(struct input *in)
{
    if (in->n == 0)
        return 0;
    in->n--;
    return (unsigned char)*in->p++;
}

static struct input bytes(struct input *in, size_t n)
{
    struct input out = {in->p, n < in->n ? n : in->n};
    in->p += out.n;
    in->n -= out.n;
    return out;
}

/* The bytes that a member holds, as its text or under another name as base64. */
static bool holds(const struct json *text, const struct json *b64, const char *p, size_t n)
{
    struct buf b = BUF_INIT;
    bool same;
    if (b64) {
        same = b64->type == JSON_STRING && base64_decode(&b, b64->str, b64->len) && buf_is(&b, p, n);
        same = same && !text && !utf8_valid(p, n);
    } else if (!p) {
        same = text && text->type == JSON_NULL;
    } else {
        same = text && text->type == JSON_STRING && text->len == n && memcmp(text->str, p, n) == 0;
    }
    buf_free(&b);
    return same;
}

/* ---- what reads the line ---- */

static void on_event(void *ctx, const char *p, size_t n)
{
    (void)ctx;
    insist(json_valid(p, n, NULL) && !memchr(p, '\n', n));
}

/* libjq holds its stack by the stack's end alone, which the search for leaks does not see. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:jv_mem_realloc\n";
}

static struct op *map_op(void)
{
    static const char text[] = "{\"program\":\"{k: $record.key, h: $record.headers, v: .}\",\"numbers\":\"text\"}";
    struct arena a = ARENA_INIT;
    struct op *op;
    insist(op_open(&op, "map", json_parse(text, sizeof text - 1, &a, NULL), NULL) == 0);
    arena_free(&a);
    return op;
}

static void read_line(const char *p, size_t n, bool event)
{
    static struct op *op;
    struct op_output out = {on_event, NULL};
    struct err err = ERR_INIT;
    if (!op)
        op = map_op();
    int rc = event ? op_event(op, p, n, &out, &err) : op_record(op, p, n, &out, &err);
    if (rc == 0)
        insist(json_valid(p, n, NULL) && ((event && !*op_at(op)) || stream_place_ok(op_at(op), strlen(op_at(op)))));
}

/* ---- a record ---- */

/* A header's bytes: a string, null, or an object that says that they are base64. */
static bool header_holds(const struct json *v, const char *p, size_t n)
{
    const struct json *b64 = json_get(v, "b64");
    return holds(b64 ? NULL : v, b64, p, n);
}

static void check_line(const struct buf *line, const struct kafka_event *e, const char *name, const struct input *value)
{
    struct arena a = ARENA_INIT;
    const struct json *record = json_parse(line->p, line->len, &a, NULL), *headers = json_get(record, "headers"),
                      *ts = json_get(record, "ts");
    uint64_t partition;
    int64_t offset, time;
    insist(record && json_is(json_get(record, "topic"), TOPIC) && json_is(json_get(record, "tstype"), e->ts_type));
    insist(json_u64(json_get(record, "partition"), &partition) && partition == e->partition);
    insist(json_i64(json_get(record, "offset"), &offset) && offset == e->offset);
    insist(e->ts_type[0] == 'u' ? ts->type == JSON_NULL : json_i64(ts, &time) && time == e->ts);
    insist(holds(json_get(record, "key"), json_get(record, "key_b64"), e->key, e->key_len));
    insist(holds(json_get(record, "payload"), json_get(record, "payload_b64"), e->value, e->value_len));
    insist(headers && headers->len == 2);
    insist(header_holds(json_at(headers, 0), name, strlen(name)));
    insist(header_holds(json_at(headers, 1), value->p, value->n));
    arena_free(&a);
}

static void record(struct input in)
{
    static const char *const kinds[] = {"create", "logappend", "unknown"};
    size_t has = byte(&in), place = byte(&in);
    struct kafka_event e = {.partition = (uint32_t)place,
                            .offset = (int64_t)(place * 0x01010101010101),
                            .ts_type = kinds[has % 3],
                            .ts = (int64_t)(has * 0x0101010101010101)};
    struct input key = bytes(&in, byte(&in)), name = bytes(&in, byte(&in)), value = bytes(&in, byte(&in));
    char *named = xstrndup(name.p, name.n);
    if (has & 4)
        value = (struct input){NULL, 0};
    e.key = has & 8 ? NULL : key.p;
    e.key_len = has & 8 ? 0 : key.n;
    e.value = has & 16 ? NULL : in.p;
    e.value_len = has & 16 ? 0 : in.n;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
    insist(rd_kafka_header_add(headers, named, -1, value.p, (ssize_t)value.n) == RD_KAFKA_RESP_ERR_NO_ERROR);
    struct buf line = BUF_INIT;
    buf_adds(&line, "{\"type\":\"record\"");
    kafka_record_put(&line, "\"" TOPIC "\"", &e);
    kafka_headers_put(&line, headers);
    buf_addc(&line, '}');
    insist(!memchr(line.p, '\n', line.len));
    check_line(&line, &e, named, &value);
    read_line(line.p, line.len, false);
    rd_kafka_headers_destroy(headers);
    buf_free(&line);
    free(named);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return -1;
    struct input in = {(const char *)data + 1, size - 1};
    if (data[0] & 1)
        read_line(in.p, in.n, data[0] & 2);
    else
        record(in);
    return 0;
}
