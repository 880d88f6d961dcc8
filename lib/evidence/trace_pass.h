/* SPDX-License-Identifier: Apache-2.0 */
/* evidence: handing a barrier on in a stage that keeps a trace: what was done for it is on disk in the trace, the
 * barrier goes out, and then the trace says so. Without a trace the barrier goes out with what follows, as any line. */
#ifndef OWED_EVIDENCE_TRACE_PASS_H
#define OWED_EVIDENCE_TRACE_PASS_H

#include "evidence/barrier.h"
#include "evidence/trace.h"
#include "stream/stream.h"

void trace_pass(struct trace *t, struct stream_out *out, const struct barrier *b);
/* The same for a barrier that passes as it came; for a stream_line_fn: 1 where it was handed on, 0 where there is no
 * trace and the caller's filter passes it. */
int trace_pass_line(struct trace *t, struct stream_out *out, const struct stream_line *line, struct err *err);

#endif
