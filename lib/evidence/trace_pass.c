/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier going on, in the one order that a trace may be believed by. */
#include "evidence/trace_pass.h"

static void passed(struct trace *t, struct stream_out *out, uint64_t checkpoint)
{
    if (t->fd >= 0 && stream_flush(out) == 0)
        trace_put(t, &(struct trace_event){.kind = TRACE_PASSED, .checkpoint = checkpoint});
}

void trace_pass(struct trace *t, struct stream_out *out, const struct barrier *b)
{
    struct buf text = BUF_INIT;
    trace_settle(t);
    barrier_put(&text, b);
    stream_put(out, LINE_BARRIER, text.p, text.len);
    passed(t, out, b->checkpoint);
    buf_free(&text);
}

int trace_pass_line(struct trace *t, struct stream_out *out, const struct stream_line *line, struct err *err)
{
    struct arena a = ARENA_INIT;
    struct barrier b;
    if (t->fd < 0)
        return 0;
    int rc = barrier_parse(line->p, line->n, "barrier", &a, &b, err) == 0 ? 1 : -1;
    if (rc > 0) {
        trace_settle(t);
        stream_put(out, LINE_BARRIER, line->p, line->n);
        passed(t, out, b.checkpoint);
    }
    arena_free(&a);
    return rc;
}
