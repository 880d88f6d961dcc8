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

static bool is_named(const struct column *column, const struct json_member *m)
{
    return column->name_len == m->name_len && memcmp(column->name, m->name, m->name_len) == 0;
}

static int unknown(const struct json_member *m, struct err *err)
{
    struct buf shown = BUF_INIT;
    msg_mask(&shown, m->name, m->name_len < 80 ? m->name_len : 80);
    err_fail(err, ERR_REFUSED, BECAUSE(CODE_COLUMN_UNKNOWN, {"column", buf_str(&shown)}),
             "column '%s': the table's scope has no such column", buf_str(&shown));
    buf_free(&shown);
    return -1;
}

/* Put each value at its column. Names do not repeat: the reader has seen to that. */
static int spread(struct reference_cells *c, const struct json *values, struct err *err)
{
    const struct columns *all = c->columns;
    memset(c->values, 0, all->n * sizeof *c->values);
    for (size_t i = 0; i < values->len; i++) {
        const struct json_member *m = &values->u.members[i];
        size_t at;
        if (i < c->n_order && is_named(&all->at[c->order[i]], m)) {
            at = c->order[i];
        } else if (columns_find(all, m->name, m->name_len, &at)) {
            if (i < c->n_order)
                c->order[i] = at;
        } else {
            return unknown(m, err);
        }
        c->values[at] = m->value;
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
        if (i > 0)
            buf_addc(out, ',');
        enum cells_result got = cells_owed(column, c->values[i], out, &why);
        unfit |= got == CELL_UNFIT || got == CELL_WRONG;
        c->nearest += got == CELL_NEAREST;
    }
    buf_addc(out, ']');
    return unfit;
}
