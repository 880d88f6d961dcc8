/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: is what a job's processes say they did a behaviour of the protocol's
 * model (formal/)? Some interleaving of their sequences must be one: attempts
 * follow one another by their numbers, no clock is asked, and a process that
 * did not end by itself may lack its last event.
 *
 * No search is needed. What a process of the model may do depends on what those
 * before it did and on nothing that another act takes away, so that an act that
 * is possible stays possible; firing whatever can be fired reaches everything
 * that any order reaches. Only what a killed attempt left on disk is open, and
 * the plan of the next attempt says which it was, or a confirmation does later.
 * In tests the model itself (tests/oracle.pml) searches, and must come to the same.
 */
#ifndef OWED_TRACE_CONFORM_H
#define OWED_TRACE_CONFORM_H

#include "evidence/trace.h"

enum conform_result { CONFORM_YES, CONFORM_NO, CONFORM_LACKING, CONFORM_UNSUPPORTED };

/* A checkpoint that a trace says is completed; or, where a mark died, that it may have completed without an event. */
struct conform_checkpoint {
    uint64_t number;
    bool completed; /* false: perhaps */
    bool confirmed;
};

struct conform {
    enum conform_result result;
    char why[600];                          /* of any but yes */
    char process[160];                      /* whose event it is, or "" */
    uint64_t runs, events, participants;    /* participants: lanes and windows */
    struct conform_checkpoint *checkpoints; /* by number; free() */
    size_t n_checkpoints, n_completed;
    bool has_restored, maybe_restored; /* a restore is recorded; perhaps by a plan that died then */
    uint64_t from, next;               /* of the last one */
    bool confirmation;
};

/* The traces of one job; whole files, as trace_parse gives them. out->checkpoints is the caller's to free. */
void conform(const struct trace_file *files, size_t n, struct conform *out);
struct conform_checkpoint *conform_find(const struct conform *c, uint64_t number);

#endif
