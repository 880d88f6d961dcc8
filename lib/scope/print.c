/* SPDX-License-Identifier: Apache-2.0 */
/* The scope document, written, and its fingerprint. */
#include "scope/internal.h"

#include <stdlib.h>
#include <string.h>

void scope_fingerprint(const struct json *doc, char out[SHA256_HEX + 1])
{
    struct buf text = BUF_INIT;
    json_canonical_without(&text, doc, "scope_sha256");
    sha256_of(text.p, text.len, out);
    buf_free(&text);
}

static void source_put(struct json_w *w, const struct scope_source *s)
{
    jw_obj(w, NULL);
    jw_str(w, "topic", s->topic);
    jw_str(w, "cluster_id", s->cluster_id);
    jw_str(w, "topic_id", s->topic_id);
    jw_str(w, "isolation", s->isolation);
    jw_arr(w, "partitions");
    for (size_t i = 0; i < s->n_partitions; i++) {
        jw_obj(w, NULL);
        jw_u64(w, "partition", s->partitions[i].partition);
        if (s->partitions[i].has_from)
            jw_i64(w, "from", s->partitions[i].from);
        else
            jw_null(w, "from");
        jw_i64(w, "to", s->partitions[i].to);
        jw_end_obj(w);
    }
    jw_end_arr(w);
    jw_end_obj(w);
}

/* Everything but the fingerprint; the object is left open. What another scope of the same kind differs in first (its
 * checkpoint) stands before what follows from it. */
static void body_put(struct json_w *w, const struct scope *s)
{
    const struct scope_part *part = scope_parts[s->origin];
    struct buf columns = BUF_INIT;
    jw_str(w, "format", SCOPE_FORMAT);
    jw_u64(w, "version", SCOPE_VERSION);
    jw_str(w, "origin", part->name);
    jw_obj(w, part->name);
    part->put(w, s);
    jw_end_obj(w);
    jw_obj(w, "destination");
    jw_str(w, "server_uuid", s->server_uuid);
    jw_str(w, "server_version", s->server_version);
    jw_str(w, "database", s->database);
    jw_str(w, "table", s->table);
    jw_str(w, "table_uuid", s->table_uuid);
    jw_end_obj(w);
    jw_arr(w, "sources");
    for (size_t i = 0; i < s->n_sources; i++)
        source_put(w, &s->sources[i]);
    jw_end_arr(w);
    columns_write(&s->columns, &columns);
    jw_raw(w, "columns", columns.p, columns.len);
    jw_str(w, "cells", columns_cells(&s->columns));
    buf_free(&columns);
}

void scope_put(struct buf *out, struct scope *s)
{
    struct buf bare = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct json_w w;
    jw_init(&w, &bare);
    jw_obj(&w, NULL);
    body_put(&w, s);
    jw_end_obj(&w);
    const struct json *doc = json_parse(bare.p, bare.len, &a, NULL);
    if (doc)
        scope_fingerprint(doc, s->sha256);
    buf_add(out, bare.p, bare.len - 1);
    buf_printf(out, ",\"scope_sha256\":\"%s\"}", s->sha256);
    buf_free(&bare);
    arena_free(&a);
}
