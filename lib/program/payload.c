/* SPDX-License-Identifier: Apache-2.0 */
/* A record's payload, parsed for the program that is run. Its digits are never read as a number here. */
#include "program/program.h"

#include <string.h>

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

static bool no_value(struct buf *out, const char *why)
{
    buf_adds(out, ",\"value_error\":");
    json_put_s(out, why);
    return false;
}

bool program_payload(const struct json *record, bool text, struct buf *out)
{
    const struct json *payload = json_get(record, "payload");
    struct json_error e;
    if (json_get(record, "payload_b64"))
        return no_value(out, "the payload is not UTF-8");
    if (!payload)
        return no_value(out, "the record has no payload");
    if (payload->type == JSON_NULL) {
        buf_adds(out, ",\"value\":null");
        return true;
    }
    if (payload->type != JSON_STRING)
        return no_value(out, "the payload is no string");
    if (!json_valid(payload->str, payload->len, &e)) {
        char why[200];
        snprintf(why, sizeof why, "byte %zu: %s", e.offset + 1, e.why);
        return no_value(out, why);
    }
    buf_adds(out, ",\"value\":");
    if (text)
        put_texts(out, payload->str, payload->len);
    else
        json_put_line(out, payload->str, payload->len);
    return true;
}
