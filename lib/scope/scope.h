/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope: the scope document (clink-audit-scope, version 1): what one checkpoint,
 * or one declared set of ranges of a log, owes one table. Written by scope-cut
 * from a bundle and by scope-declare from what a person says, carried verbatim,
 * bound to by its fingerprint.
 *
 * The same members stand in both: what only a bundle shows (job, sink,
 * checkpoint, a source's operator) is null in a declared document, and an id
 * that was not given is null too.
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
    bool has_from;    /* false: the source's position at the start is not in the evidence */
    int64_t from, to; /* [from, to), next offsets to read */
};

struct scope_source {
    const char *operator_id; /* NULL where declared */
    const char *topic, *isolation;
    const char *cluster_id, *topic_id; /* NULL: not known; a bundle always has the cluster's */
    struct scope_range *partitions;    /* ascending */
    size_t n_partitions;
};

enum scope_start {
    SCOPE_FROM_CHECKPOINT, /* after the completed checkpoint `since` of the same run */
    SCOPE_FROM_RUN,        /* the start of a run that restored nothing */
    SCOPE_FROM_RESTORE,    /* the start of a run restored from `restored_from` */
    SCOPE_DECLARED         /* the ranges' own first offsets; of every declared scope, and of no other */
};

struct scope {
    bool declared;       /* said by a person; else cut from a bundle */
    bool complete_table; /* the table is declared dedicated to this one run; only of a bundle, from the run's start */
    bool repeats;        /* equal rows are declared to be meant, and their copies count; only of a bundle */
    const char *job;     /* NULL where declared, as the next two */
    const char *job_graph_sha256; /* NULL too: the bundle has no job manifest */
    const char *sink;             /* operator id */
    const char **attempts;
    size_t n_attempts;
    uint64_t *subtasks;
    size_t n_subtasks;
    const char *database, *table;
    const char *server_uuid, *server_version, *table_uuid; /* NULL only where declared: not given */
    uint64_t checkpoint, since;                            /* 0 where declared */
    enum scope_start start;
    bool has_restored_from;
    uint64_t restored_from;
    bool from_run_start;
    uint64_t *epochs; /* ascending */
    size_t n_epochs;
    struct scope_source *sources;
    size_t n_sources;
    struct columns columns;
    char sha256[SHA256_HEX + 1]; /* scope_sha256 */
};

/* Append the document, one line without its newline, its fingerprint in place. s->sha256 is set. */
void scope_put(struct buf *out, struct scope *s);
/* Parse and check every member: format, version, types, an unknown member, the fingerprint. ERR_REFUSED with the place.
 * The text must outlive the arena's use. */
int scope_parse(const char *p, size_t n, struct arena *a, struct scope *out, struct err *err);
int scope_parse_json(const struct json *doc, struct arena *a, struct scope *out, struct err *err);
void scope_free(struct scope *s);
const char *scope_start_name(enum scope_start s);
const char *scope_origin(const struct scope *s);   /* as the document has it: "bundle", "declared" */
const char *scope_coverage(const struct scope *s); /* "selected-keys", "complete-table" */

/* True when c are the scope's columns: their names, types and key, in order. */
bool scope_fits(const struct scope *s, const struct columns *c);

/* SHA-256 over the canonical document without scope_sha256. */
void scope_fingerprint(const struct json *doc, char out[SHA256_HEX + 1]);
/* Compare two documents field by field, scope_sha256 last: false when they are the same, else where holds the first
 * field that differs with both values ("sources[0].partitions[1].to: 200 here, 300 there"). */
bool scope_differs(const struct json *here, const struct json *there, struct buf *where);

#endif
