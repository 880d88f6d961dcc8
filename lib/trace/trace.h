/* SPDX-License-Identifier: Apache-2.0 */
/* trace: the traces of a bundle, read and judged; conform.h has the protocol. */
#ifndef OWED_TRACE_H
#define OWED_TRACE_H

#include "bundle/bundle.h"
#include "evidence/trace.h"

/* Those of the bundle's job; another job's decide nothing. */
struct traces {
    struct trace_file *files;
    const char **paths; /* by file */
    size_t n;
    bool broken; /* one could not be read as a trace */
    struct arena arena;
};

/* protocol.trace_structure: read each, held against the manifest. *stop (may be NULL) ends it before the next one. */
void traces_read(const struct bundle *b, struct traces *t, const volatile int *stop, struct bundle_finding *f);
/* protocol.conformance, of what was read; only where the structure did not fail. counts: an object's text. */
void traces_conform(const struct bundle *b, const struct traces *t, struct buf *counts, struct bundle_finding *f);
void traces_free(struct traces *t);

#endif
