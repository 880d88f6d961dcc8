/* SPDX-License-Identifier: Apache-2.0 */
/* A row of cells from values by column name. The members of one program's rows come in one order, which is remembered.
 */
#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

void reference_cells_init(struct reference_cells *c, const struct columns *columns)
{
    *c = (struct reference_cells){.columns = columns};
    c->values = xcalloc(columns->n, sizeof *c->values);
    c->order = xcalloc(columns->n, sizeof *c->order);
    for (size_t i = 0; i < columns->n; i++)
        c->order[i] = i;
    c->n_order = columns->n;
}

void reference_cells_free(struct reference_cells *c)
{
    free(c->values);
    free(c->order);
    *c = (struct reference_cells){0};
}

static bool is_named(const struct column *column, const struct json *m)
{
    return column->name_len == m->len && memcmp(column->name, m->str, m->len) == 0;
}

static int unknown(const struct json *m, struct err *err)
{
    struct buf shown = BUF_INIT;
    msg_mask(&shown, m->str, m->len < 80 ? m->len : 80);
    err_set(err, ERR_REFUSED, "column '%s': the table's scope has no such column", buf_str(&shown));
    buf_free(&shown);
    return -1;
}

/* Put each value at its column. Names do not repeat: the reader has seen to that. */
static int spread(struct reference_cells *c, const struct json *values, struct err *err)
{
    const struct columns *all = c->columns;
    memset(c->values, 0, all->n * sizeof *c->values);
    const struct json *m = json_first(values);
    for (size_t i = 0; m; i++, m = json_next(values, m)) {
        size_t at;
        if (i < c->n_order && is_named(&all->at[c->order[i]], m)) {
            at = c->order[i];
        } else if (columns_find(all, m->str, m->len, &at)) {
            if (i < c->n_order)
                c->order[i] = at;
        } else {
            return unknown(m, err);
        }
        c->values[at] = json_value(m);
    }
    return 0;
}

int reference_cells_put(struct reference_cells *c, const struct json *values, struct buf *out, struct err *err)
{
    const struct columns *all = c->columns;
    int unfit = 0;
    if (spread(c, values, err) != 0)
        return -1;
    buf_addc(out, '[');
    for (size_t i = 0; i < all->n; i++) {
        const struct column *column = &all->at[i];
        const char *why = "";
        if (!c->values[i] && !column->type.nullable)
            return err_set(err, ERR_REFUSED, "column '%s': no value, and it is not Nullable", column->name);
        if (i > 0)
            buf_addc(out, ',');
        enum cells_result got = cells_owed(column, c->values[i], out, &why);
        if (got == CELL_WRONG)
            return err_set(err, ERR_REFUSED, "column '%s': %s", column->name, why);
        unfit |= got == CELL_UNFIT;
    }
    buf_addc(out, ']');
    return unfit;
}
