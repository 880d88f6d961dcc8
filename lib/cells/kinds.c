/* SPDX-License-Identifier: Apache-2.0 */
/* cells: the kinds of types, an entry each, and what is asked of any of them. */
#include <string.h>

#include "cells/internal.h"

static const char no_cells[] = "the column's type has no cells";

static enum cells_result owed_none(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    (void)c;
    return wrong_kind(out, v, no_cells, why);
}

/* Its text, byte for byte: nothing here knows which spelling of a value the server prints. */
static enum cells_result owed_json(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    if (c->from != FROM_JSON_TEXT)
        return owed_none(c, v, out, why);
    if (v->type != JSON_STRING)
        return wrong_kind(out, v, "not the text of a JSON, as a string", why);
    return owed_string(c, v, out, why);
}

static bool check_none(const struct type *t, const char *p, size_t n, const char **why)
{
    (void)t, (void)p, (void)n;
    *why = no_cells;
    return false;
}

/* The ranges of times are as ClickHouse documents and keeps them: Date32 from 1900-01-01 to 2299-12-31, Time and Time64
 * to 999:59:59 and its fraction on either side. DateTime64 has
 * no calendar bound: servers differ in theirs, so its Int64 ticks are the bound and the value speaks. */
static const struct kind kinds[] = {
    [TYPE_INT] = {owed_integer, check_integer, put_signed, human_plain, IS_SIGNED, 0, 0},
    [TYPE_UINT] = {owed_integer, check_integer, put_unsigned, human_plain, IS_PLAIN, 0, 0},
    [TYPE_FLOAT] = {owed_float, check_float, put_float, human_float, IS_PLAIN, 0, 0},
    [TYPE_DECIMAL] = {owed_decimal, check_decimal, put_signed, human_decimal, IS_PLAIN, 0, 0},
    [TYPE_DATE] = {owed_time, check_time, put_unsigned, human_time, IS_DAYS, 0, UINT16_MAX},
    [TYPE_DATE32] = {owed_time, check_time, put_signed, human_time, IS_DAYS, -25567, 120529},
    [TYPE_DATETIME] = {owed_time, check_time, put_unsigned, human_time, IS_PLAIN, 0, UINT32_MAX},
    [TYPE_DATETIME64] = {owed_time, check_time, put_signed, human_time, IS_PLAIN, INT64_MIN, INT64_MAX},
    [TYPE_BOOL] = {owed_bool, check_bool, put_bool, human_plain, IS_PLAIN, 0, 0},
    [TYPE_STRING] = {owed_string, check_string, put_bytes, human_string, IS_BYTES, 0, 0},
    [TYPE_FIXED_STRING] = {owed_fixed, check_fixed, put_bytes, human_string, IS_EXACT, 0, 0},
    [TYPE_UUID] = {owed_uuid, check_uuid, put_uuid, human_plain, IS_PLAIN, 0, 0},
    [TYPE_ENUM] = {owed_enum, check_enum, put_enum, human_string, IS_NAMES, 0, 0},
    [TYPE_IPV4] = {owed_ip, check_ip, put_ipv4, human_plain, IS_PLAIN, 0, 0},
    [TYPE_IPV6] = {owed_ip, check_ip, put_ipv6, human_plain, IS_PLAIN, 0, 0},
    [TYPE_TIME] = {owed_time, check_time, put_signed, human_time, IS_CLOCK, -3599999, 3599999},
    [TYPE_TIME64] = {owed_time, check_time, put_signed, human_time, IS_CLOCK, -3599999, 3599999},
    [TYPE_ARRAY] = {owed_held, check_held, NULL, human_held, IS_HELD, 0, 0},
    [TYPE_TUPLE] = {owed_held, check_held, NULL, human_held, IS_HELD, 0, 0},
    [TYPE_MAP] = {owed_held, check_held, NULL, human_held, IS_HELD, 0, 0},
    [TYPE_NESTED] = {owed_held, check_held, NULL, human_held, IS_HELD, 0, 0},
    [TYPE_JSON] = {owed_json, check_string, put_bytes, human_string, IS_BYTES, 0, 0},
    [TYPE_OTHER] = {owed_none, check_none, NULL, NULL, IS_PLAIN, 0, 0},
};

const struct kind *cell_kind(const struct type *t)
{
    return &kinds[t->kind];
}

cells_put_fn *cells_put_of(const struct type *t)
{
    return kinds[t->kind].put;
}

enum cells_result cells_owed(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    const struct type *t = &c->type;

    if (!v || v->type == JSON_NULL) {
        if (t->nullable) {
            cells_put_null(out);
            return CELL_FIT;
        }
        buf_adds(out, "{\"unfit\":\"null\"}");
        *why = "NULL in a column that is not Nullable";
        return CELL_UNFIT;
    }
    return cell_kind(t)->owed(c, v, out, why);
}

/* The content of a string or b64 cell. */
static bool check_content(const struct type *t, const char *cell, size_t cell_len, const char *in, size_t in_len,
                          const char **why)
{
    const struct kind *k = cell_kind(t);
    struct buf bytes = BUF_INIT;
    bool ok;

    if (k->is != IS_EXACT && k->is != IS_NAMES)
        return k->check(t, in, in_len, why);
    ok = cells_text(cell, cell_len, &bytes) && k->check(t, bytes.p, bytes.len, why);
    buf_free(&bytes);
    return ok;
}

static bool takes_b64(const struct kind *k)
{
    return k->is == IS_BYTES || k->is == IS_EXACT || k->is == IS_NAMES;
}

bool cells_is_canonical(const struct type *t, const char *p, size_t n, bool allow_unfit, const char **why)
{
    const struct kind *k = cell_kind(t);
    enum cell_form form;
    const char *in, *end;
    size_t in_len;

    end = scan_cell(p, p + n, &form, &in, &in_len, why);
    if (!end)
        return false;
    if (end != p + n) {
        *why = "something after the cell";
        return false;
    }
    if (form == CELL_FORM_NULL) {
        *why = type_supported(t) ? "NULL in a column that is not Nullable" : no_cells;
        return t->nullable;
    }
    if (form == CELL_FORM_UNFIT) {
        *why = "an unfit cell where none may be";
        return allow_unfit;
    }
    if (form == CELL_FORM_UNNAMED) {
        *why = "unnamed in a column that is no Enum";
        return k->is == IS_NAMES && check_unnamed(t, in, in_len, why);
    }
    *why = "b64 in a column that is not a String";
    if (form == CELL_FORM_B64 && !takes_b64(k))
        return false;
    *why = form == CELL_FORM_ARRAY ? "an array in a column that holds none" : "not an array";
    if (type_supported(t) && (form == CELL_FORM_ARRAY) != (k->is == IS_HELD))
        return false;
    return check_content(t, p, n, in, in_len, why);
}

const struct column *cells_row_misfit(const struct columns *cols, const char *row, const uint32_t *ends, bool key,
                                      const char **why)
{
    for (size_t i = 0; i < cols->n; i++) {
        const struct column *c = &cols->at[i];
        size_t from = i ? ends[i - 1] + 1 : 1;
        /* Any text is one of a String, and the scan has seen that it is one. */
        if ((!key || c->key) && !(c->type.kind == TYPE_STRING && row[from] == '"') &&
            !cells_is_canonical(&c->type, row + from, ends[i] - from, true, why))
            return c;
    }
    return NULL;
}

bool cells_is_unfit(const char *p, size_t n)
{
    return n >= 10 && memcmp(p, "{\"unfit\":\"", 10) == 0;
}

bool cells_row_unfit(const char *row, const uint32_t *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t from = i ? ends[i - 1] + 1 : 1;
        if (cells_is_unfit(row + from, ends[i] - from))
            return true;
    }
    return false;
}

void cells_human(const struct type *t, const char *p, size_t n, struct buf *out)
{
    const struct kind *k = cell_kind(t);
    enum cell_form form;
    const char *in, *why;
    size_t in_len;

    if (!cells_is_canonical(t, p, n, true, &why) || scan_cell(p, p + n, &form, &in, &in_len, &why) != p + n ||
        form == CELL_FORM_B64) {
        msg_mask(out, p, n);
    } else if (form == CELL_FORM_NULL) {
        buf_adds(out, "NULL");
    } else if (form == CELL_FORM_UNFIT) {
        msg_mask(out, in, in_len);
        buf_adds(out, " (does not fit)");
    } else if (form == CELL_FORM_UNNAMED) {
        buf_add(out, in, in_len);
        buf_adds(out, " (no name of the Enum)");
    } else {
        k->human(t, in, in_len, out);
    }
}
