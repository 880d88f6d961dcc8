/* SPDX-License-Identifier: Apache-2.0 */
/* A job's ids as options give them. */
#include "evidence/options.h"
#include "evidence/places.h"

#include <string.h>

#define ATTEMPT_MAX 200

static int keep(const char *value, void *ctx)
{
    *(const char **)ctx = value;
    return 0;
}

int evidence_take_job(const char *value, void *ctx, struct err *err)
{
    return evidence_job_ok(value) ? keep(value, ctx) : err_set(err, ERR_REFUSED, "--job: '%s' is no job id", value);
}

int evidence_take_operator(const char *value, void *ctx, struct err *err)
{
    return evidence_operator_ok(value) ? keep(value, ctx)
                                       : err_set(err, ERR_REFUSED, "--operator: '%s' is no operator id", value);
}

int evidence_take_attempt(const char *value, void *ctx, struct err *err)
{
    size_t n = strlen(value);
    return n > 0 && n <= ATTEMPT_MAX && utf8_valid(value, n)
               ? keep(value, ctx)
               : err_set(err, ERR_REFUSED, "--attempt: '%s' is no attempt's id (1 to %d bytes of UTF-8)", value,
                         ATTEMPT_MAX);
}

int evidence_traced(const char *trace_dir, const char *attempt, struct err *err)
{
    return trace_dir && !attempt ? err_set(err, ERR_REFUSED, "--trace-dir needs --attempt") : 0;
}
