/* SPDX-License-Identifier: Apache-2.0 */
/* A row of cells from values by column name. */
#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

void reference_cells_init(struct reference_cells *c, const struct scope *s)
{
    *c = (struct reference_cells){.columns = &s->columns, .values = xcalloc(s->columns.n, sizeof *c->values)};
    for (size_t i = 0; i < s->declared.n_left; i++)
        map_add(&c->passed, s->declared.left[i].name, strlen(s->declared.left[i].name), 0);
}

void reference_cells_free(struct reference_cells *c)
{
    free(c->values);
    map_free(&c->passed);
    *c = (struct reference_cells){0};
}

static int unknown(const struct json *m, struct err *err)
{
    struct buf shown = BUF_INIT;
    msg_mask(&shown, m->str, m->len < 80 ? m->len : 80);
    err_fail(err, ERR_REFUSED, BECAUSE(CODE_COLUMN_UNKNOWN, {"column", buf_str(&shown)}),
             "column '%s': the table's scope has no such column", buf_str(&shown));
    buf_free(&shown);
    return -1;
}

/* The next cell of a row: that of column i. */
static int put_cell(struct reference_cells *c, size_t i, struct buf *out, int *unfit, struct err *err)
{
    const struct column *column = &c->columns->at[i];
    const char *why = "";
    if (out->p[out->len - 1] != '[')
        buf_addc(out, ',');
    enum cells_result got = cells_owed(column, c->values[i], out, &why);
    if (got == CELL_WRONG && (why == cells_no_zone || why == cells_unknown_zone))
        return err_fail(err, ERR_REFUSED, BECAUSE(CODE_ZONE_MISSING, {"column", column->name}), "column '%s': %s",
                        column->name, why);
    *unfit |= got == CELL_UNFIT || got == CELL_WRONG;
    c->nearest += got == CELL_NEAREST;
    return 0;
}

int reference_cells_put(struct reference_cells *c, const struct json *values, struct buf *out, struct err *err)
{
    int unfit = 0;
    const struct json *other = columns_spread(c->columns, &c->passed, values, c->values);
    if (other)
        return unknown(other, err);
    buf_addc(out, '[');
    for (size_t i = 0; i < c->columns->n; i++)
        if (put_cell(c, i, out, &unfit, err) != 0)
            return -1;
    buf_addc(out, ']');
    return unfit;
}

int reference_key_put(struct reference_cells *c, const struct json *values, bool alone, struct buf *out,
                      struct err *err)
{
    int unfit = 0;
    const struct json *other = columns_spread(c->columns, &c->passed, values, c->values);
    if (other)
        return unknown(other, err);
    buf_addc(out, '[');
    for (size_t i = 0; i < c->columns->n; i++) {
        const struct column *column = &c->columns->at[i];
        if (alone && !column->key != !c->values[i])
            return err_fail(err, ERR_REFUSED, BECAUSE(CODE_COLUMN_UNKNOWN, {"column", column->name}),
                            "a key that must be absent: column '%s' is %s", column->name,
                            column->key ? "of the key, and has no value" : "not of the key");
        if (column->key && put_cell(c, i, out, &unfit, err) != 0)
            return -1;
    }
    buf_addc(out, ']');
    return unfit;
}
