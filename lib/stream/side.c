/* SPDX-License-Identifier: Apache-2.0 */
/* The side line, and the names of sides. */
#include "stream/side.h"

#include "stream/stream.h"

#include <string.h>

static const struct {
    const char *name, *words;
    unsigned read;
} table[SIDES] = {
    [SIDE_CAPTURED] = {"captured", "the captured rows", 0},
    [SIDE_REFERENCE] = {"reference", "the reference's rows", 0},
    [SIDE_READ1] = {"destination", "the destination's first read", 1},
    [SIDE_READ2] = {"destination", "the destination's second read", 2},
};

const char *side_name(enum side s)
{
    return table[s].name;
}

const char *side_words(enum side s)
{
    return table[s].words;
}

unsigned side_read(enum side s)
{
    return table[s].read;
}

enum side side_of(const char *name, size_t n, uint64_t read)
{
    for (size_t i = 0; i < SIDES; i++)
        if (table[i].read == read && strlen(table[i].name) == n && memcmp(table[i].name, name, n) == 0)
            return (enum side)i;
    return SIDES;
}

int stream_side(const struct stream_line *line, struct arena *arena, struct stream_side *out, struct err *err)
{
    static const char *const known[] = {"type", "side", "read", "rows", "nearest", "whole", "reason", NULL};
    const struct json *doc = stream_doc(line, arena, err);
    const char *name;
    uint64_t read = 0;
    *out = (struct stream_side){.reason = ""};
    if (!doc)
        return -1;
    if (json_only(doc, known, "side", err) != 0 || json_need_str(doc, "side", arena, &name, "side", err) != 0 ||
        json_opt_u64(doc, "read", &read, "side", err) != 0 ||
        json_need_u64(doc, "rows", &out->rows, "side", err) != 0 ||
        json_opt_u64(doc, "nearest", &out->nearest, "side", err) != 0 ||
        json_need_bool(doc, "whole", &out->whole, "side", err) != 0 ||
        json_opt_str(doc, "reason", arena, &out->reason, "side", err) != 0)
        return stream_misfit(line, err);
    out->side = side_of(name, strlen(name), read);
    if (out->side < SIDES)
        return 0;
    err_set(err, ERR_REFUSED, "a side that is not known here (captured, reference, destination with read 1 or 2)");
    return stream_misfit(line, err);
}

void stream_put_side(struct stream_out *out, const struct stream_side *s)
{
    struct buf *b = stream_build(out, LINE_SIDE);
    buf_printf(b, ",\"side\":\"%s\"", side_name(s->side));
    if (side_read(s->side))
        buf_printf(b, ",\"read\":%u", side_read(s->side));
    buf_adds(b, ",\"rows\":");
    json_put_u64(b, s->rows);
    if (s->nearest)
        buf_printf(b, ",\"nearest\":%" PRIu64, s->nearest);
    buf_printf(b, ",\"whole\":%s", s->whole ? "true" : "false");
    if (!s->whole && s->reason && *s->reason) {
        buf_adds(b, ",\"reason\":");
        json_put_s(b, s->reason);
    }
    stream_put_built(out, LINE_SIDE);
}
