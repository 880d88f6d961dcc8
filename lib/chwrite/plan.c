/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: the column plan. Every column that the server would not compute is
 * written, so that no value is made up where the job gave none.
 */
#include <stdlib.h>
#include <string.h>

#include "chwrite/internal.h"

static bool is_named(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static const struct chwrite_found *find(const struct chwrite_found *found, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(found[i].name, name) == 0)
            return &found[i];
    return NULL;
}

/* The columns that are to be written although they have a default must be there, and be such columns. */
static int check_with(const struct chwrite_found *found, size_t n, const char *const *with, struct err *err)
{
    for (; with && *with; with++) {
        const struct chwrite_found *f = find(found, n, *with);
        if (!f)
            return err_set(err, ERR_REFUSED, "column %s: not a column of the table", *with);
        if (*f->kind != '\0' && strcmp(f->kind, "DEFAULT") != 0)
            return err_set(err, ERR_REFUSED, "column %s: %s, which the server computes", *with, f->kind);
    }
    return 0;
}

static int set_unit(struct column *c, const struct chwrite_from *from, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(from[i].column, c->name) != 0)
            continue;
        if (!type_is_time(&c->type)) {
            return err_set(err, ERR_REFUSED, "column %s (%s): a unit of time for a column that is no time", c->name,
                           c->type.name);
        }
        if (c->from != FROM_NONE)
            return err_set(err, ERR_REFUSED, "column %s: a unit of time is given twice", c->name);
        c->from = from[i].unit;
    }
    if (type_is_time(&c->type) && c->from == FROM_NONE) {
        return err_set(err, ERR_REFUSED, "column %s (%s): the unit of its times is not given (--from=%s:UNIT)", c->name,
                       c->type.name, c->name);
    }
    return 0;
}

static int add_column(const struct chwrite_found *f, const struct chwrite_from *from, size_t n_from,
                      struct columns *out, struct err *err)
{
    struct column *c = &out->at[out->n];

    c->name = xstrdup(f->name);
    c->name_len = strlen(f->name);
    out->n++;
    if (type_parse(f->type, strlen(f->type), &c->type, err) != 0)
        return err_prefix(err, "column %s", f->name);
    if (!sink_writes(&c->type))
        return err_set(err, ERR_REFUSED, "column %s: type %s is not supported", f->name, c->type.name);
    return set_unit(c, from, n_from, err);
}

/* A unit for a column that is not there is a slip of the pen, and would leave another one without. */
static int check_units(const struct columns *cols, const struct chwrite_from *from, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!columns_find(cols, from[i].column, strlen(from[i].column), NULL)) {
            return err_set(err, ERR_REFUSED, "column %s: a unit of time for a column that is not written",
                           from[i].column);
        }
    }
    return 0;
}

int chwrite_plan(const struct chwrite_found *found, size_t n, const struct chwrite_from *from, size_t n_from,
                 const char *const *with, struct columns *out, struct err *err)
{
    int rc;

    *out = (struct columns)COLUMNS_INIT;
    out->at = xcalloc(n + 1, sizeof *out->at);
    rc = check_with(found, n, with, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        if (*found[i].kind == '\0' || is_named(with, found[i].name))
            rc = add_column(&found[i], from, n_from, out, err);
    if (rc == 0 && out->n == 0)
        rc = err_set(err, ERR_REFUSED, "the table has no column to write");
    columns_index(out);
    if (rc == 0)
        rc = check_units(out, from, n_from, err);
    if (rc != 0)
        columns_free(out);
    return rc;
}
