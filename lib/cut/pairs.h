/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside cut only: what two pieces of evidence both say, and must say alike. No
 * digest shows that a bundle's files are of one job and one run; what they say
 * of one another does.
 */
#ifndef OWED_CUT_PAIRS_H
#define OWED_CUT_PAIRS_H

#include "cut/internal.h"
#include "evidence/capture.h"
#include "evidence/manifest.h"
#include "evidence/sidecar.h"

/* What a file's place in the bundle, and the bundle's manifest, say of it. */
struct place {
    const char *job, *operator_id, *file;
    uint64_t subtask, id, generation; /* id: its epoch or checkpoint */
};

/* Where one partition stands. */
struct stand {
    uint64_t partition;
    int64_t offset;
};

/* The relation that two pieces of evidence are in, by what the first and the second is. */
enum pair_of {
    MARKER_PLACE,      /* struct marker, struct place */
    MARKER_RUN,        /* struct marker of the scope's start, and of its end */
    RESTORED_PLACE,    /* struct restored, struct place */
    JOB_PLACE,         /* struct job_manifest, struct place */
    JOB_BUNDLE,        /* struct job_manifest, struct bundle_manifest */
    JOB_CONTRACT,      /* struct job_manifest, nothing */
    NODE_JOB,          /* struct graph_operator, struct job_manifest */
    NODE_OPERATOR,     /* struct graph_operator, struct op_spec */
    OPERATOR_PLACE,    /* struct op_spec, struct place */
    OPERATOR_LANE,     /* struct op_spec of two subtasks */
    NODE_SINK,         /* struct graph_operator, struct interval */
    NODE_SOURCE,       /* struct graph_operator, struct snapshot */
    STATE_PLACE,       /* struct snapshot, struct place */
    STATE_SIDECAR,     /* struct snapshot, struct sidecar */
    STATE_SELF,        /* struct snapshot, itself */
    STATE_RUN,         /* struct snapshot of one subtask at two moments of one run */
    STATE_LANE,        /* struct snapshot of two subtasks at one moment */
    START_SELF,        /* struct snapshot that a run began with, itself */
    START_INTERVAL,    /* struct snapshot that a run began with, struct interval of its first epoch */
    START_LANE,        /* struct snapshot that a run began with, of two subtasks */
    START_RESTORED,    /* struct snapshot that a run began with, struct restored */
    START_POINT,       /* struct snapshot that a run began with, and of its restore point */
    STAND_RESTORED,    /* struct stand at a run's start, and at its restore point */
    INTERVAL_PLACE,    /* struct interval, struct place */
    INTERVAL_RUN,      /* struct interval, and another one of its run */
    INTERVAL_LANE,     /* struct interval of two subtasks of one epoch */
    INTERVAL_CAPTURE,  /* struct interval, struct capture_header */
    INTERVAL_SELF,     /* struct interval, itself */
    INTERVAL_CONTRACT, /* struct interval, nothing */
    LEDGER_INTERVAL,   /* struct ledger_entry, struct interval */
    PAIRS
};

struct said {
    const char *where; /* the file, or what else says it */
    const void *doc;
};

/* Hold two pieces against each other by every row of the table that is of this relation, and say what differs. False
 * where something does. */
bool cut_hold(struct cut *c, enum pair_of of, struct said one, struct said other);
/* The first thing that differs, or NULL; nothing is said. */
const char *cut_differs(enum pair_of of, const void *one, const void *other);

#endif
