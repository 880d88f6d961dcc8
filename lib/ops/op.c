/* SPDX-License-Identifier: Apache-2.0 */
/* The interface: which kinds there are, and what one that lacks a function does. */
#include "ops/internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct op_kind *const kinds[] = {&op_map, &op_window};

static const struct op_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

bool op_kind_known(const char *kind)
{
    return kind_of(kind) != NULL;
}

int op_open(struct op **out, const char *kind, const struct json *parameters, struct err *err)
{
    const struct op_kind *k = kind_of(kind);
    if (!k)
        return err_set(err, ERR_REFUSED, "an operator of the kind '%s' is not known here", kind);
    setenv("TZ", "UTC0", 1);
    tzset();
    if (k->open(out, parameters, err) != 0)
        return -1;
    (*out)->kind = k;
    return 0;
}

void op_close(struct op *op)
{
    if (op)
        op->kind->close(op);
}

int op_record(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err)
{
    if (!op->kind->record)
        return err_set(err, ERR_REFUSED, "a %s takes no record", op->kind->name);
    return op->kind->record(op, line, n, out, err);
}

int op_event(struct op *op, const char *line, size_t n, const struct op_output *out, struct err *err)
{
    if (!op->kind->event)
        return err_set(err, ERR_REFUSED, "a %s takes no event", op->kind->name);
    return op->kind->event(op, line, n, out, err);
}

int op_watermark(struct op *op, int64_t ms, const struct op_output *out, struct err *err)
{
    return op->kind->watermark ? op->kind->watermark(op, ms, out, err) : 0;
}

bool op_time(const struct op *op, int64_t *ms)
{
    return op->kind->time && op->kind->time(op, ms);
}

int op_barrier(struct op *op, uint64_t checkpoint, const struct op_output *out, struct err *err)
{
    return op->kind->barrier ? op->kind->barrier(op, checkpoint, out, err) : 0;
}

bool op_keeps_state(const struct op *op)
{
    return op->kind->snapshot != NULL;
}

int op_snapshot(const struct op *op, struct buf *out, struct err *err)
{
    return op->kind->snapshot(op, out, err);
}

int op_restore(struct op *op, const char *p, size_t n, struct err *err)
{
    return op->kind->restore(op, p, n, err);
}

const char *op_at(const struct op *op)
{
    return op->at;
}
