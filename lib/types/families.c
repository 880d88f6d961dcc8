/* SPDX-License-Identifier: Apache-2.0 */
/* types: the one table of the types that have cells, and what a type may be used for. */
#include "types/internal.h"

#include <string.h>
#include <strings.h>

/* A family that types are printed as stands before those that only name some of its widths. */
static const struct family families[] = {
    {"Int8", "TINYINT|TINYINT SIGNED|INT1|INT1 SIGNED|BYTE", TYPE_INT, 8, ARGS_WIDTH, USE_KEY},
    {"Int16", "SMALLINT|SMALLINT SIGNED", TYPE_INT, 16, ARGS_WIDTH, USE_KEY},
    {"Int32", "INT|INT SIGNED|INTEGER|INTEGER SIGNED|MEDIUMINT|MEDIUMINT SIGNED", TYPE_INT, 32, ARGS_WIDTH, USE_KEY},
    {"Int64", "BIGINT|BIGINT SIGNED", TYPE_INT, 64, ARGS_WIDTH, USE_KEY},
    {"Int128", "", TYPE_INT, 128, ARGS_WIDTH, USE_KEY},
    {"Int256", "", TYPE_INT, 256, ARGS_WIDTH, USE_KEY},
    {"UInt8", "TINYINT UNSIGNED|INT1 UNSIGNED", TYPE_UINT, 8, ARGS_WIDTH, USE_KEY},
    {"UInt16", "SMALLINT UNSIGNED", TYPE_UINT, 16, ARGS_WIDTH, USE_KEY},
    {"UInt32", "INT UNSIGNED|INTEGER UNSIGNED|MEDIUMINT UNSIGNED", TYPE_UINT, 32, ARGS_WIDTH, USE_KEY},
    {"UInt64", "BIGINT UNSIGNED", TYPE_UINT, 64, ARGS_WIDTH, USE_KEY},
    {"UInt128", "", TYPE_UINT, 128, ARGS_WIDTH, USE_KEY},
    {"UInt256", "", TYPE_UINT, 256, ARGS_WIDTH, USE_KEY},
    {"Float32", "FLOAT|REAL", TYPE_FLOAT, 32, ARGS_WIDTHS, USE_VALUE},
    {"Float64", "DOUBLE|DOUBLE PRECISION", TYPE_FLOAT, 64, ARGS_WIDTHS, USE_VALUE},
    {"Decimal", "DECIMAL|DEC|NUMERIC|FIXED", TYPE_DECIMAL, 0, ARGS_PS, USE_VALUE},
    {"Decimal32", "DECIMAL32", TYPE_DECIMAL, 32, ARGS_S, USE_VALUE},
    {"Decimal64", "DECIMAL64", TYPE_DECIMAL, 64, ARGS_S, USE_VALUE},
    {"Decimal128", "DECIMAL128", TYPE_DECIMAL, 128, ARGS_S, USE_VALUE},
    {"Decimal256", "DECIMAL256", TYPE_DECIMAL, 256, ARGS_S, USE_VALUE},
    {"Date", "DATE", TYPE_DATE, 16, ARGS_NONE, USE_TIME},
    {"Date32", "DATE32", TYPE_DATE32, 32, ARGS_NONE, USE_TIME},
    {"DateTime", "DATETIME|TIMESTAMP", TYPE_DATETIME, 32, ARGS_DT, USE_TIME},
    {"DateTime32", "DATETIME32", TYPE_DATETIME, 32, ARGS_DT32, USE_TIME},
    {"DateTime64", "DATETIME64", TYPE_DATETIME64, 64, ARGS_DT64, USE_TIME},
    {"Bool", "BOOL|BOOLEAN", TYPE_BOOL, 8, ARGS_NONE, USE_VALUE},
    {"String", "CHAR|CHARACTER|CHARACTER VARYING|VARCHAR|TEXT|TINYTEXT|MEDIUMTEXT|LONGTEXT|BLOB|CLOB|BYTEA",
     TYPE_STRING, 0, ARGS_WIDTH, USE_KEY},
};

static const struct family *const families_end = families + sizeof families / sizeof *families;

static bool among(const char *names, const char *words)
{
    size_t n = strlen(words);
    for (; *names; names += strcspn(names, "|"), names += *names == '|')
        if (strcspn(names, "|") == n && strncasecmp(names, words, n) == 0)
            return true;
    return false;
}

const struct family *family_named(const char *words)
{
    for (const struct family *f = families; f < families_end; f++)
        if (strcmp(f->name, words) == 0 || among(f->also, words))
            return f;
    return NULL;
}

const struct family *family_of(const struct type *t)
{
    for (const struct family *f = families; f < families_end; f++)
        if (f->kind == t->kind && (f->bits == t->bits || f->bits == 0))
            return f;
    return NULL;
}

bool type_supported(const struct type *t)
{
    return t->kind != TYPE_OTHER;
}

bool type_is_key(const struct type *t)
{
    const struct family *f = family_of(t);
    return f && f->use == USE_KEY && !t->nullable;
}

bool type_is_time(const struct type *t)
{
    const struct family *f = family_of(t);
    return f && f->use == USE_TIME;
}

void type_spell(const struct type *t, struct buf *out)
{
    const struct family *f = family_of(t);
    buf_adds(out, t->nullable ? "Nullable(" : "");
    buf_adds(out, f ? f->name : t->name);
    if (f && f->args == ARGS_PS)
        buf_printf(out, "(%u, %u)", t->precision, t->scale);
    else if (f && f->args == ARGS_DT64)
        buf_printf(out, "(%u)", t->scale);
    buf_adds(out, t->nullable ? ")" : "");
}
