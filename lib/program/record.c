/* SPDX-License-Identifier: Apache-2.0 */
/* A record for the program that is run: its place, and its payload parsed. No digit is read as a number here. */
#include "program/program.h"

#include <string.h>

/* ---- numbers ---- */

static bool in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* The text of a valid document on one line, as json_put_line makes it, with each number in quotes. */
static void put_texts(struct buf *out, const char *p, size_t n)
{
    const char *end = p + n;
    while (p < end) {
        const char *from = p;
        if (*p == '"') {
            for (p++; *p != '"'; p++)
                p += *p == '\\';
            p++;
            buf_add(out, from, (size_t)(p - from));
        } else if (*p == '-' || (*p >= '0' && *p <= '9')) {
            while (p < end && in_number(*p))
                p++;
            buf_addc(out, '"');
            buf_add(out, from, (size_t)(p - from));
            buf_addc(out, '"');
        } else {
            buf_addc(out, (unsigned char)*p < 0x20 ? ' ' : *p);
            p++;
        }
    }
}

/* ---- the payload ---- */

const char *const program_payload_words[] = {"text", "json", "raw", "base64"};

/* What is no JSON often says by its first bytes what it is. */
static void framing(const unsigned char *p, size_t n, char out[PROGRAM_FRAMING])
{
    static const char registry[] = "magic byte 0 and schema id %" PRIu32
                                   ", as the clients of a schema registry frame Avro, Protobuf and JSON";
    if (n > 5 && p[0] == 0)
        snprintf(out, PROGRAM_FRAMING, registry,
                 (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | (uint32_t)p[4]);
    else if (n >= 4 && memcmp(p, "Obj\x01", 4) == 0)
        snprintf(out, PROGRAM_FRAMING, "an Avro container file, by its first bytes");
    else if (n > 10 && p[0] == 0xc3 && p[1] == 0x01)
        snprintf(out, PROGRAM_FRAMING, "an Avro object with its schema's fingerprint, by its first bytes");
}

static void no_value(struct program_record *out, const char *why)
{
    out->value = PROGRAM_NO_VALUE;
    out->why = why;
}

/* What the payload is: out says it, and the payload is returned where it is a JSON text. tree, where it is not NULL,
 * gets that parsed, in arena. */
static const struct json *judge(const struct json *record, struct program_record *out, struct arena *arena,
                                const struct json **tree)
{
    const struct json *payload = json_get(record, "payload"), *b64 = json_get(record, "payload_b64");
    struct json_error e;
    if (b64) {
        struct buf bytes = BUF_INIT;
        out->bytes = true;
        if (b64->type == JSON_STRING && base64_decode(&bytes, b64->str, b64->len))
            framing((const unsigned char *)bytes.p, bytes.len, out->framing);
        buf_free(&bytes);
        no_value(out, "the payload is not UTF-8");
    } else if (!payload) {
        no_value(out, "the record has no payload");
    } else if (payload->type == JSON_NULL) {
        return NULL;
    } else if (payload->type != JSON_STRING) {
        no_value(out, "the payload is no string");
    } else if (tree ? !(*tree = json_parse(payload->str, payload->len, arena, &e))
                    : !json_valid(payload->str, payload->len, &e)) {
        framing((const unsigned char *)payload->str, payload->len, out->framing);
        snprintf(out->why_text, sizeof out->why_text, "byte %zu: %s", e.offset + 1, e.why);
        no_value(out, out->why_text);
    } else {
        return payload;
    }
    return NULL;
}

static void put_value(const struct json *record, bool text, struct program_record *out, struct buf *queue)
{
    const struct json *payload = judge(record, out, NULL, NULL);
    if (out->value == PROGRAM_NO_VALUE) {
        buf_adds(queue, ",\"value_error\":");
        json_put_s(queue, out->why);
        return;
    }
    buf_adds(queue, ",\"value\":");
    if (!payload)
        buf_adds(queue, "null");
    else if (text)
        put_texts(queue, payload->str, payload->len);
    else
        json_put_line(queue, payload->str, payload->len);
}

/* The record's members with its payload's bytes as base64, whatever they are: one form for a program that decodes. */
static int put_base64(const struct json *record, struct buf *queue, struct err *err)
{
    const char *sep = "{";
    const struct json *type = json_first(record);
    for (const struct json *m = json_next(record, type); m; m = json_next(record, m)) {
        const struct json *v = json_value(m);
        buf_adds(queue, sep);
        sep = ",";
        if (!json_is(m, "payload")) {
            json_put_raw(queue, m);
            buf_addc(queue, ':');
            json_put_raw(queue, v);
            continue;
        }
        if (v->type != JSON_NULL && v->type != JSON_STRING)
            return err_set(err, ERR_REFUSED, "a record whose payload is no string");
        buf_adds(queue, v->type == JSON_NULL ? "\"payload_b64\":null" : "\"payload_b64\":\"");
        if (v->type == JSON_STRING) {
            base64_add(queue, v->str, v->len);
            buf_addc(queue, '"');
        }
    }
    buf_adds(queue, "}\n");
    return 0;
}

/* ---- the record ---- */

/* Its time, which stands behind its offset. */
static bool quick_time(const char *p, const char *end, struct program_record *out)
{
    static const char a[] = ",\"tstype\":\"", b[] = "\",\"ts\":";
    const char *q = p + sizeof a - 1, *digits;
    if ((size_t)(end - p) < sizeof a || memcmp(p, a, sizeof a - 1) != 0)
        return false;
    q = memchr(q, '"', (size_t)(end - q));
    if (!q || (size_t)(end - q) < sizeof b || memcmp(q, b, sizeof b - 1) != 0)
        return false;
    digits = q + sizeof b - 1;
    q = memchr(digits, ',', (size_t)(end - digits));
    out->ts.has = true;
    return q && scan_u64(digits, (size_t)(q - digits), &out->ts.ms) && out->ts.ms <= TS_MAX;
}

/* The place and time of a record whose line begins with them, as kafka-read writes it. */
static bool quick_place(const char *p, size_t n, struct program_record *out)
{
    static const char a[] = ",\"topic\":\"", b[] = "\",\"partition\":", c[] = ",\"offset\":";
    const char *end = p + n, *q, *digits;
    if (n < sizeof a || memcmp(p, a, sizeof a - 1) != 0)
        return false;
    out->topic = p + sizeof a - 1;
    q = memchr(out->topic, '"', (size_t)(end - out->topic));
    if (!q || (size_t)(end - q) < sizeof b || memcmp(q, b, sizeof b - 1) != 0 ||
        memchr(out->topic, '\\', (size_t)(q - out->topic)))
        return false;
    out->topic_len = (size_t)(q - out->topic);
    digits = q + sizeof b - 1;
    q = memchr(digits, ',', (size_t)(end - digits));
    if (!q || !scan_u64(digits, (size_t)(q - digits), &out->partition) || (size_t)(end - q) < sizeof c ||
        memcmp(q, c, sizeof c - 1) != 0)
        return false;
    digits = q + sizeof c - 1;
    q = memchr(digits, ',', (size_t)(end - digits));
    return q && scan_u64(digits, (size_t)(q - digits), &out->offset) && quick_time(q, end, out);
}

/* Whether the payload is null, where that can be seen without parsing: no text of a line holds these bytes. */
static bool quick_null(const char *p, size_t n, struct program_record *out)
{
    static const char name[] = ",\"payload", aborted[] = RECORD_ABORTED;
    const char *q = memmem(p, n, name, sizeof name - 1);
    size_t rest = q ? n - (size_t)(q - p) - (sizeof name - 1) : 0;
    q = q ? q + sizeof name - 1 : NULL;
    out->aborted = n > sizeof aborted && memcmp(p + n - sizeof aborted, aborted, sizeof aborted - 1) == 0;
    out->value = rest > 6 && memcmp(q, "\":null", 6) == 0 ? PROGRAM_NULL : PROGRAM_READ;
    return rest > 6 && (out->value == PROGRAM_NULL || memcmp(q, "\":\"", 3) == 0 || memcmp(q, "_b64\":", 6) == 0);
}

static int parse(const char *line, size_t n, struct arena *a, const struct json **record, struct program_record *out,
                 struct err *err)
{
    struct json_error e;
    arena_reset(a);
    *record = json_parse(line, n, a, &e);
    if (!*record)
        return err_set(err, ERR_REFUSED, "byte %zu: %s", e.offset + 1, e.why);
    const struct json *topic = json_get(*record, "topic"), *payload = json_get(*record, "payload");
    if (!topic || topic->type != JSON_STRING ||
        json_need_u64(*record, "partition", &out->partition, "record", err) != 0 ||
        json_need_u64(*record, "offset", &out->offset, "record", err) != 0)
        return err_set(err, ERR_REFUSED, "a record without its topic, partition and offset");
    if (ts_take(*record, "ts", &out->ts, "record", err) != 0)
        return -1;
    out->topic = topic->str;
    out->topic_len = topic->len;
    const struct json *aborted = json_get(*record, "aborted");
    out->aborted = aborted && aborted->type == JSON_TRUE;
    out->value = payload && payload->type == JSON_NULL ? PROGRAM_NULL : PROGRAM_READ;
    return 0;
}

/* Is the line a record's, in the form that is written? What stands behind its type is rest. */
static int begin(const char *line, size_t n, struct program_record *out, const char **rest, size_t *left,
                 struct err *err)
{
    static const char head[] = "{\"type\":\"record\"";
    *rest = line + sizeof head - 1;
    *left = n - (sizeof head - 1);
    out->bytes = false;
    out->framing[0] = '\0';
    return *left < 3 || **rest != ',' || (*rest)[*left - 1] != '}'
               ? err_set(err, ERR_REFUSED, "a record without members, or with spaces between them")
               : 0;
}

static int has_no_value(const struct json *record, struct err *err)
{
    return json_get(record, "value") || json_get(record, "value_error")
               ? err_set(err, ERR_REFUSED, "a record with a value already")
               : 0;
}

int program_record(const char *line, size_t n, enum program_payloads payloads, struct arena *a, struct buf *queue,
                   struct program_record *out, struct err *err)
{
    const char *rest;
    const struct json *record = NULL;
    size_t left;
    if (begin(line, n, out, &rest, &left, err) != 0)
        return -1;
    bool parsed = payloads == PROGRAM_TEXT || payloads == PROGRAM_JSON,
         quick = payloads == PROGRAM_RAW && quick_place(rest, left, out) && quick_null(rest, left, out);
    if (!quick && parse(line, n, a, &record, out, err) != 0)
        return -1;
    if (payloads == PROGRAM_BASE64)
        return put_base64(record, queue, err);
    if (parsed && has_no_value(record, err) != 0)
        return -1;
    buf_addc(queue, '{');
    buf_add(queue, rest + 1, left - 2);
    if (parsed)
        put_value(record, payloads == PROGRAM_TEXT, out, queue);
    buf_adds(queue, "}\n");
    return 0;
}

int program_record_tree(const char *line, size_t n, struct arena *a, const struct json **record,
                        const struct json **value, struct program_record *out, struct err *err)
{
    const char *rest;
    size_t left;
    *value = NULL;
    if (begin(line, n, out, &rest, &left, err) != 0 || parse(line, n, a, record, out, err) != 0 ||
        has_no_value(*record, err) != 0)
        return -1;
    judge(*record, out, a, value);
    return 0;
}
