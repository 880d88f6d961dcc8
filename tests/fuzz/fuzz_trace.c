/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz the reader of traces: what is accepted holds what it says, and every beginning of it is accepted too. */
#include "evidence/trace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void insist(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_INIT;
    struct trace_file f, shorter;
    const char *p = (const char *)data;
    if (size > 0 && trace_parse(p, size, "f", &arena, &f, NULL) == 0) {
        insist(f.cut == (p[size - 1] != '\n'));
        insist((f.job && f.attempt && f.process) || (f.n == 0 && !f.job));
        for (size_t i = 0; i < f.n; i++)
            insist(f.events[i].kind > TRACE_OPENED && f.events[i].kind < TRACE_KINDS &&
                   (f.events[i].kind != TRACE_ENDED || i + 1 == f.n));
        size_t n = size - 1;
        insist(n == 0 || trace_parse(p, n, "f", &arena, &shorter, NULL) == 0);
        insist(n == 0 || (shorter.n <= f.n && f.n - shorter.n <= 1));
    }
    arena_free(&arena);
    return 0;
}
