/* SPDX-License-Identifier: Apache-2.0 */
/* Inside evidence only: the members of each kind of event, for who writes and who reads. */
#ifndef OWED_EVIDENCE_TRACE_MEMBERS_H
#define OWED_EVIDENCE_TRACE_MEMBERS_H

#include "evidence/trace.h"

#define TRACE_FORMAT "owed-trace"
#define TRACE_MEMBERS_MAX 9

struct trace_member {
    const char *name; /* NULL behind the last */
    bool is_bool;
    size_t offset; /* in struct trace_event */
};
extern const struct trace_member trace_members[TRACE_KINDS][TRACE_MEMBERS_MAX];

#endif
