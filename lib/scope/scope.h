/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope: the scope document (clink-audit-scope, version 1; owed-scope(5)): what
 * one checkpoint, or one declared set of ranges of a log, owes one table. Written
 * by scope-cut from a bundle and by scope-declare from what a person says, carried
 * verbatim, bound to by its fingerprint.
 *
 * What every scope has is common; what only one origin can say stands in that
 * origin's part, in the document and here. An id that was not given is null.
 *
 * Strings and arrays of a parsed scope live in the caller's arena; its columns
 * are owned by the struct (scope_free).
 */
#ifndef OWED_SCOPE_H
#define OWED_SCOPE_H

#include "base/base.h"
#include "json/json.h"
#include "types/engine.h"
#include "types/types.h"

#define SCOPE_FORMAT "clink-audit-scope"
#define SCOPE_VERSION 1

struct scope_range {
    uint64_t partition;
    bool has_from;    /* false: the source's position at the start is not in the evidence */
    int64_t from, to; /* [from, to), next offsets to read */
};

struct scope_source {
    const char *topic, *isolation;
    const char *cluster_id, *topic_id; /* NULL: not known; a bundle always has the cluster's */
    struct scope_range *partitions;    /* ascending */
    size_t n_partitions;
};

enum scope_start {
    SCOPE_FROM_CHECKPOINT, /* after the completed checkpoint `since` of the same run */
    SCOPE_FROM_RUN,        /* the start of a run that restored nothing */
    SCOPE_FROM_RESTORE     /* the start of a run restored from `restored_from` */
};

enum scope_origin { SCOPE_BUNDLE, SCOPE_DECLARED, SCOPE_ORIGINS };

/* What only a bundle shows, or is asked of one. */
struct scope_bundle {
    const char *job;
    const char *job_graph_sha256; /* NULL: the bundle has no job manifest */
    const char *sink;             /* operator id */
    const char **attempts;
    size_t n_attempts;
    uint64_t *subtasks;
    size_t n_subtasks;
    uint64_t checkpoint, since;
    enum scope_start start;
    bool has_restored_from;
    uint64_t restored_from;
    bool from_run_start;
    uint64_t *epochs; /* ascending */
    size_t n_epochs;
    const char **source_operators; /* the operator of each of the scope's sources, in their order */
    size_t n_source_operators;
    bool complete_table; /* the table is declared dedicated to this one run; only from the run's start */
    bool repeats;        /* equal rows are declared to be meant, and their copies count */
};

/* A range that begins where the log did when it was looked at, above 0: as many offsets before it are gone, and owe
 * nothing that can be computed. */
struct scope_gone {
    const char *topic;
    uint64_t partition, offsets;
};

/* A column of the table that is not compared. kind: how the table fills it ("DEFAULT", "ALIAS", ...); "": it does not,
 * and the operator left it out. */
struct scope_left {
    const char *name, *kind;
};

/* What only a declaration has: what was found where a person looked, and how they say that a value is read. */
struct scope_declared {
    struct scope_gone *gone; /* by source, then partition */
    size_t n_gone;
    struct scope_left *left; /* in the table's order; empty too where nobody looked at the table */
    size_t n_left;
    const char *zone;      /* of ISO times without one, of columns whose type names none; NULL: there is none */
    const char *from, *to; /* what chose where the ranges begin and end, but for a person: SCOPE_BY_…; NULL */
    bool final;            /* of each key the row that the table's engine shows as the last */
    struct engine engine;  /* then: the engine, with the columns by which it does */
    const char *replica_path, *replica_name; /* of a replicated table: where it was looked at; both or neither */
    bool complete_table; /* the operator's word: the table holds what these ranges owe and nothing else */
};
#define SCOPE_BY_OFFSETS "offsets" /* a file of offsets; any other is the instant of the first record */

struct scope {
    enum scope_origin origin;
    struct scope_bundle bundle;     /* zeros but of SCOPE_BUNDLE */
    struct scope_declared declared; /* zeros but of SCOPE_DECLARED */
    const char *database, *table;
    const char *server_uuid, *server_version, *table_uuid; /* NULL only where declared: not given */
    struct scope_source *sources;
    size_t n_sources;
    struct columns columns;
    char sha256[SHA256_HEX + 1]; /* scope_sha256 */
};

/* Append the document, one line without its newline, its fingerprint in place. s->sha256 is set. */
void scope_put(struct buf *out, struct scope *s);
/* Parse and check every member: format, version, types, an unknown member or one of another origin's part, the
 * fingerprint. ERR_REFUSED with the place. The text must outlive the arena's use. */
int scope_parse(const char *p, size_t n, struct arena *a, struct scope *out, struct err *err);
int scope_parse_json(const struct json *doc, struct arena *a, struct scope *out, struct err *err);
void scope_free(struct scope *s);
/* "the log of t/0 begins at 2: offsets before it are gone and owe nothing that can be computed" */
void scope_gone_say(const struct scope_gone *g, struct buf *out);
/* "note, which --columns or --except leaves out; day (MATERIALIZED), which the table fills itself": the columns that
 * are not compared, where there are any. */
void scope_left_say(const struct scope *s, struct buf *out);
/* "the ranges begin at the offsets of a file": what chose them, where no person did. */
void scope_chosen_say(const struct scope *s, struct buf *out);
bool scope_complete_table(const struct scope *s);
/* The engine by which the last row of each key is meant, or NULL: every row is. */
const struct engine *scope_final(const struct scope *s);

/* True when c are the scope's columns: their names, types and key, in order. */
bool scope_fits(const struct scope *s, const struct columns *c);

/* SHA-256 over the canonical document without scope_sha256. */
void scope_fingerprint(const struct json *doc, char out[SHA256_HEX + 1]);
/* Compare two documents field by field, scope_sha256 last: false when they are the same, else where holds the first
 * field that differs with both values ("sources[0].partitions[1].to: 200 here, 300 there"). */
bool scope_differs(const struct json *here, const struct json *there, struct buf *where);
/* The same, of what a reference is computed from alone: of what is asked of its rows (the key, the coverage, whether
 * equal rows are meant) two scopes may differ, and each row of the one is a row of the other. */
bool scope_owes_other(const struct json *here, const struct json *there, struct buf *where);

#endif
