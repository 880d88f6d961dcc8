/* SPDX-License-Identifier: Apache-2.0 */
/* The bundle line, read and written. */
#include "stream/bundle.h"

#include "stream/stream.h"

#include <string.h>

int stream_bundle(const struct stream_line *line, struct arena *arena, struct stream_bundle *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    *out = (struct stream_bundle){0};
    if (!doc)
        return -1;
    if (json_need_str(doc, "path", arena, &out->path, "bundle", err) != 0 ||
        json_need_str(doc, "manifest_sha256", arena, &out->manifest_sha256, "bundle", err) != 0 ||
        json_need_str(doc, "job", arena, &out->job, "bundle", err) != 0 ||
        json_need_u64(doc, "checkpoint", &out->checkpoint, "bundle", err) != 0)
        return stream_misfit(line, err);
    if (sha256_is_hex(out->manifest_sha256, strlen(out->manifest_sha256)))
        return 0;
    err_set(err, ERR_REFUSED, "bundle.manifest_sha256: not 64 lower-case hex digits");
    return stream_misfit(line, err);
}

void stream_put_bundle(struct stream_out *out, const struct stream_bundle *b)
{
    struct buf *line = stream_build(out, LINE_BUNDLE);
    buf_adds(line, ",\"path\":");
    json_put_s(line, b->path);
    buf_adds(line, ",\"manifest_sha256\":");
    json_put_s(line, b->manifest_sha256);
    buf_adds(line, ",\"job\":");
    json_put_s(line, b->job);
    buf_adds(line, ",\"checkpoint\":");
    json_put_u64(line, b->checkpoint);
    stream_put_built(out, LINE_BUNDLE);
}
