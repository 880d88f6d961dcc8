/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evidence: the options of a job's programs and of those that collect what it
 * left, so that an id is named and held to the same form in each. Entries for a
 * table of options (base/options.h).
 */
#ifndef OWED_EVIDENCE_OPTIONS_H
#define OWED_EVIDENCE_OPTIONS_H

#include "base/options.h"

/* Each checks an id's form and puts it at ctx, a const char **. */
opt_take evidence_take_job, evidence_take_operator, evidence_take_attempt;
/* A trace is named after its attempt. */
int evidence_traced(const char *trace_dir, const char *attempt, struct err *err);

/* clang-format off */
#define EVIDENCE_OPTION_CHECKPOINT_DIR(TO) OPT_TEXT("checkpoint-dir", "DIR", TO, "the job's markers and snapshots")
#define EVIDENCE_OPTION_CAPTURE_DIR(TO) OPT_TEXT("capture-dir", "DIR", TO, "the job's captures and its sinks' intervals")
#define EVIDENCE_OPTION_TRACE_DIR(TO) OPT_TEXT("trace-dir", "DIR", TO, "the job's protocol traces, one file a process")
#define EVIDENCE_OPTION_JOB(TO) OPT_TAKE("job", "JOB", evidence_take_job, TO, "the job's id")
#define EVIDENCE_OPTION_GENERATION(TO) OPT_U64("generation", TO, 1, UINT32_MAX, "of the job's parallelism (1)")
#define EVIDENCE_OPTION_PARALLELISM(TO) \
    OPT_U64("parallelism", TO, 1, 4096, "the source's lanes, which are the job's participants 0 to N-1")
#define EVIDENCE_OPTION_WINDOWS(TO) \
    OPT_U64("windows", TO, 0, 4096, "the job's windows, which are the participants behind its lanes (0)")
#define EVIDENCE_OPTION_RESTORE(TO) \
    OPT_U64("restore", TO, 0, UINT64_MAX, "go on from the snapshots of this checkpoint (0: none), as ckpt-plan says")
#define EVIDENCE_OPTION_OPERATOR(TO, MORE) \
    OPT_TAKE("operator", "ID", evidence_take_operator, TO, "the operator in the job's graph" MORE)
#define EVIDENCE_OPTION_ATTEMPT(TO, MORE) OPT_TAKE("attempt", "ID", evidence_take_attempt, TO, "the job's attempt" MORE)
/* Which of a job's writers this one is. */
#define EVIDENCE_OPTIONS_WRITER(JOB, OPERATOR, SUBTASK, ATTEMPT) \
    EVIDENCE_OPTION_JOB(JOB), \
    EVIDENCE_OPTION_OPERATOR(OPERATOR, ""), \
    OPT_U64("subtask", SUBTASK, 0, UINT32_MAX, "the operator's subtask"), \
    EVIDENCE_OPTION_ATTEMPT(ATTEMPT, "")
/* Of one whose attempt is asked for only where it keeps a trace; evidence_traced sees to it. */
#define EVIDENCE_OPTION_TRACED(DIR, ATTEMPT) EVIDENCE_OPTION_TRACE_DIR(DIR), EVIDENCE_OPTION_ATTEMPT(ATTEMPT, "")
/* A subtask that nobody gave. */
#define EVIDENCE_NO_SUBTASK UINT64_MAX
/* clang-format on */

#endif
