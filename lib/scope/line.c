/* SPDX-License-Identifier: Apache-2.0 */
/* The scope line, read and written. */
#include "scope/line.h"

int stream_scope(const struct stream_line *line, struct arena *arena, const struct json **document, struct scope *out,
                 struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    struct json *found;
    if (!doc)
        return -1;
    if (json_need(doc, "document", JSON_OBJECT, &found, "scope", err) != 0 ||
        scope_parse_json(found, arena, out, err) != 0)
        return stream_misfit(line, err);
    if (document)
        *document = found;
    return 0;
}

void stream_put_scope(struct stream_out *out, const char *document, size_t n)
{
    struct buf *line = stream_build(out, LINE_SCOPE);
    buf_adds(line, ",\"document\":");
    buf_add(line, document, n);
    stream_put_built(out, LINE_SCOPE);
}
