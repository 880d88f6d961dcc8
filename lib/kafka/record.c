/* SPDX-License-Identifier: Apache-2.0 */
/* A record as a line's members. Bytes that are not UTF-8 go as base64 under a name that says so. */
#include "kafka/internal.h"

#include <string.h>

/* `,"name":"…"`, `,"name_b64":"…"` or `,"name":null`. */
static void put_bytes(struct buf *b, const char *name, const char *p, size_t n)
{
    buf_adds(b, ",\"");
    buf_adds(b, name);
    if (!p) {
        buf_adds(b, "\":null");
    } else if (utf8_valid(p, n)) {
        buf_adds(b, "\":");
        json_put_str(b, p, n);
    } else {
        buf_adds(b, "_b64\":\"");
        base64_add(b, p, n);
        buf_addc(b, '"');
    }
}

/* A header has no name of its own to say so by, so its bytes stand in an object. */
static void put_header(struct buf *b, const char *p, size_t n)
{
    if (!p) {
        buf_adds(b, "null");
    } else if (utf8_valid(p, n)) {
        json_put_str(b, p, n);
    } else {
        buf_adds(b, "{\"b64\":\"");
        base64_add(b, p, n);
        buf_adds(b, "\"}");
    }
}

void kafka_headers_put(struct buf *b, const rd_kafka_headers_t *headers)
{
    const char *name;
    const void *value;
    size_t size;
    buf_adds(b, ",\"headers\":[");
    for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; i++) {
        if (i)
            buf_addc(b, ',');
        put_header(b, name, strlen(name));
        buf_addc(b, ',');
        put_header(b, value, size);
    }
    buf_addc(b, ']');
}

static void put_headers(struct buf *b, const rd_kafka_message_t *m)
{
    rd_kafka_headers_t *headers;
    if (m && rd_kafka_message_headers(m, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
        kafka_headers_put(b, headers);
}

void kafka_record_put(struct buf *line, const char *topic_json, const struct kafka_event *r)
{
    buf_adds(line, ",\"topic\":");
    buf_adds(line, topic_json);
    buf_adds(line, ",\"partition\":");
    buf_addu64(line, r->partition);
    buf_adds(line, ",\"offset\":");
    json_put_i64(line, r->offset);
    buf_adds(line, ",\"tstype\":\"");
    buf_adds(line, r->ts_type);
    buf_adds(line, "\",\"ts\":");
    if (r->ts_type[0] == 'u')
        buf_adds(line, "null");
    else
        json_put_i64(line, r->ts);
    put_headers(line, r->message);
    put_bytes(line, "key", r->key, r->key_len);
    put_bytes(line, "payload", r->value, r->value_len);
}

bool kafka_event_time(const struct kafka_event *record, const char *field, struct arena *a, int64_t *time)
{
    if (!field) {
        *time = record->ts;
        return record->ts_type[0] != 'u';
    }
    if (!record->value)
        return false;
    const struct json *member = json_get(json_parse(record->value, record->value_len, a, NULL), field);
    return member && json_i64(member, time);
}
