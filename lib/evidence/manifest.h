/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: an operator's description (op.json) and the job's manifest.
 * Parsers put strings and arrays in the caller's arena, NUL-terminated; writers only read theirs. `where` names the
 * text in errors (a path). What is malformed is refused (ERR_REFUSED); members that are not known are ignored.
 * owed-evidence(5) has the format.
 */
#ifndef OWED_EVIDENCE_MANIFEST_H
#define OWED_EVIDENCE_MANIFEST_H

#include "base/base.h"
#include "json/json.h"

struct op_spec {
    const char *job, *operator_id, *name, *kind, *uid; /* uid may be NULL */
    const char *parameters;                            /* JSON text of an object; NULL: {} */
};
int op_spec_parse(const char *p, size_t n, const char *where, struct arena *a, struct op_spec *out, struct err *err);
/* Write op-<id>/subtask-<s>/op.json, parameters redacted by name. */
int op_spec_write(const char *capture_dir, uint64_t subtask, const struct op_spec *op, struct err *err);

struct graph_operator {
    const char *id, *uid, *type;
    uint64_t parallelism;
    const struct json *parameters;
};

struct job_manifest {
    const char *job, *name, *alignment;
    uint64_t generation, parallelism;
    bool has_confirmation, requires_commit_confirmation;
    struct graph_operator *operators;
    size_t n_operators;
    const char *(*edges)[2];
    size_t n_edges;
    const struct json *document, *graph;
    const struct json *delivery;       /* NULL: none */
    char graph_sha256[SHA256_HEX + 1]; /* of the graph's canonical text */
};
int job_manifest_parse(const char *p, size_t n, const char *where, struct arena *a, struct job_manifest *out,
                       struct err *err);

#endif
