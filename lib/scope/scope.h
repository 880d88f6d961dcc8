/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope: the scope document (clink-audit-scope, version 1): what one checkpoint
 * owes one table, and where in the log that came from. Written by scope-cut,
 * carried verbatim, bound to by its fingerprint.
 *
 * Strings and arrays of a parsed scope live in the caller's arena; its columns
 * are owned by the struct (scope_free).
 */
#ifndef OWED_SCOPE_H
#define OWED_SCOPE_H

#include "base/base.h"
#include "json/json.h"
#include "types/types.h"

#define SCOPE_FORMAT "clink-audit-scope"
#define SCOPE_VERSION 1

struct scope_range {
    uint64_t partition;
    bool has_from; /* false: the source's position at the start is not in the evidence */
    int64_t from, to; /* [from, to), next offsets to read */
};

struct scope_source {
    const char *operator_id, *topic, *cluster_id, *isolation;
    const char *topic_id; /* NULL: not known */
    struct scope_range *partitions; /* ascending */
    size_t n_partitions;
};

enum scope_start {
    SCOPE_FROM_CHECKPOINT, /* after the completed checkpoint `since` of the same run */
    SCOPE_FROM_RUN,        /* the start of a run that restored nothing */
    SCOPE_FROM_RESTORE     /* the start of a run restored from `restored_from` */
};

struct scope {
    const char *origin; /* "bundle" */
    const char *job;
    const char *job_graph_sha256; /* NULL: the bundle has no job manifest */
    const char *sink; /* operator id */
    const char **attempts;
    size_t n_attempts;
    uint64_t *subtasks;
    size_t n_subtasks;
    const char *server_uuid, *server_version, *database, *table, *table_uuid;
    uint64_t checkpoint, since;
    enum scope_start start;
    bool has_restored_from;
    uint64_t restored_from;
    bool from_run_start;
    uint64_t *epochs; /* ascending */
    size_t n_epochs;
    struct scope_source *sources;
    size_t n_sources;
    struct columns columns;
    const char *coverage; /* "selected-keys" */
    char sha256[SHA256_HEX + 1]; /* scope_sha256 */
};

/* Append the document, one line without its newline, its fingerprint in place. s->sha256 is set. */
void scope_put(struct buf *out, struct scope *s);
/* Parse and check every member: format, version, types, an unknown member, the fingerprint. ERR_REFUSED with the place. The
 * text must outlive the arena's use. */
int scope_parse(const char *p, size_t n, struct arena *a, struct scope *out, struct err *err);
int scope_parse_json(const struct json *doc, struct arena *a, struct scope *out, struct err *err);
void scope_free(struct scope *s);
const char *scope_start_name(enum scope_start s);

/* True when c are the scope's columns: their names, types and key, in order. */
bool scope_fits(const struct scope *s, const struct columns *c);

/* SHA-256 over the canonical document without scope_sha256. */
void scope_fingerprint(const struct json *doc, char out[SHA256_HEX + 1]);
/* Compare two documents field by field, scope_sha256 last: false when they are the same, else where holds the first field that
 * differs with both values ("sources[0].partitions[1].to: 200 here, 300 there"). */
bool scope_differs(const struct json *here, const struct json *there, struct buf *where);

#endif
