/* SPDX-License-Identifier: Apache-2.0 */
/* types: the one table of the types that have cells, and what a type may be used for. */
#include "types/internal.h"

#include <string.h>
#include <strings.h>

/* A family that types are printed as stands before those that only name some of its widths. */
static const struct family families[] = {
    {"Int8", "TINYINT|TINYINT SIGNED|INT1|INT1 SIGNED|BYTE", TYPE_INT, 8, ARGS_WIDTH, USE_KEY | USE_V1},
    {"Int16", "SMALLINT|SMALLINT SIGNED", TYPE_INT, 16, ARGS_WIDTH, USE_KEY | USE_V1},
    {"Int32", "INT|INT SIGNED|INTEGER|INTEGER SIGNED|MEDIUMINT|MEDIUMINT SIGNED", TYPE_INT, 32, ARGS_WIDTH,
     USE_KEY | USE_V1},
    {"Int64", "BIGINT|BIGINT SIGNED", TYPE_INT, 64, ARGS_WIDTH, USE_KEY | USE_V1},
    {"Int128", "", TYPE_INT, 128, ARGS_WIDTH, USE_KEY | USE_V1},
    {"Int256", "", TYPE_INT, 256, ARGS_WIDTH, USE_KEY | USE_V1},
    {"UInt8", "TINYINT UNSIGNED|INT1 UNSIGNED", TYPE_UINT, 8, ARGS_WIDTH, USE_KEY | USE_V1},
    {"UInt16", "SMALLINT UNSIGNED", TYPE_UINT, 16, ARGS_WIDTH, USE_KEY | USE_V1},
    {"UInt32", "INT UNSIGNED|INTEGER UNSIGNED|MEDIUMINT UNSIGNED", TYPE_UINT, 32, ARGS_WIDTH, USE_KEY | USE_V1},
    {"UInt64", "BIGINT UNSIGNED", TYPE_UINT, 64, ARGS_WIDTH, USE_KEY | USE_V1},
    {"UInt128", "", TYPE_UINT, 128, ARGS_WIDTH, USE_KEY | USE_V1},
    {"UInt256", "", TYPE_UINT, 256, ARGS_WIDTH, USE_KEY | USE_V1},
    {"Float32", "FLOAT|REAL", TYPE_FLOAT, 32, ARGS_WIDTHS, USE_V1},
    {"Float64", "DOUBLE|DOUBLE PRECISION", TYPE_FLOAT, 64, ARGS_WIDTHS, USE_V1},
    {"Decimal", "DECIMAL|DEC|NUMERIC|FIXED", TYPE_DECIMAL, 0, ARGS_PS, USE_KEY | USE_V1},
    {"Decimal32", "DECIMAL32", TYPE_DECIMAL, 32, ARGS_S, USE_KEY | USE_V1},
    {"Decimal64", "DECIMAL64", TYPE_DECIMAL, 64, ARGS_S, USE_KEY | USE_V1},
    {"Decimal128", "DECIMAL128", TYPE_DECIMAL, 128, ARGS_S, USE_KEY | USE_V1},
    {"Decimal256", "DECIMAL256", TYPE_DECIMAL, 256, ARGS_S, USE_KEY | USE_V1},
    {"Date", "DATE", TYPE_DATE, 16, ARGS_NONE, USE_KEY | USE_TIME | USE_V1},
    {"Date32", "DATE32", TYPE_DATE32, 32, ARGS_NONE, USE_KEY | USE_TIME | USE_V1},
    {"DateTime", "DATETIME|TIMESTAMP", TYPE_DATETIME, 32, ARGS_DT, USE_KEY | USE_TIME | USE_V1},
    {"DateTime32", "DATETIME32", TYPE_DATETIME, 32, ARGS_DT32, USE_KEY | USE_TIME | USE_V1},
    {"DateTime64", "DATETIME64", TYPE_DATETIME64, 64, ARGS_DT64, USE_KEY | USE_TIME | USE_V1},
    {"Bool", "BOOL|BOOLEAN", TYPE_BOOL, 8, ARGS_NONE, USE_KEY | USE_V1},
    {"String", "CHAR|CHARACTER|CHARACTER VARYING|VARCHAR|TEXT|TINYTEXT|MEDIUMTEXT|LONGTEXT|BLOB|CLOB|BYTEA",
     TYPE_STRING, 0, ARGS_WIDTH, USE_KEY | USE_V1},
    {"BFloat16", "", TYPE_FLOAT, 16, ARGS_NONE, 0},
    {"FixedString", "BINARY", TYPE_FIXED_STRING, 0, ARGS_BYTES, USE_KEY},
    {"UUID", "", TYPE_UUID, 128, ARGS_NONE, USE_KEY},
    {"Enum8", "", TYPE_ENUM, 8, ARGS_NAMES, USE_KEY},
    {"Enum16", "", TYPE_ENUM, 16, ARGS_NAMES, USE_KEY},
    {"Enum", "ENUM", TYPE_ENUM, 0, ARGS_NAMES, USE_KEY},
    {"IPv4", "INET4", TYPE_IPV4, 32, ARGS_NONE, USE_KEY},
    {"IPv6", "INET6", TYPE_IPV6, 128, ARGS_NONE, USE_KEY},
    {"Time", "TIME", TYPE_TIME, 32, ARGS_NONE, USE_KEY | USE_TIME},
    {"Time64", "TIME64", TYPE_TIME64, 64, ARGS_TIME64, USE_KEY | USE_TIME},
    {"JSON", "JSON", TYPE_JSON, 0, ARGS_TEXT, 0},
    {"Array", "", TYPE_ARRAY, 0, ARGS_ONE, 0},
    {"Tuple", "", TYPE_TUPLE, 0, ARGS_ANY, 0},
    {"Map", "", TYPE_MAP, 0, ARGS_TWO, 0},
    {"Nested", "", TYPE_NESTED, 0, ARGS_NAMED, 0},
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

bool family_holds(const struct family *f)
{
    return f->args >= ARGS_ONE;
}

bool type_supported(const struct type *t)
{
    return t->kind != TYPE_OTHER;
}

bool type_is_key(const struct type *t)
{
    const struct family *f = family_of(t);
    return f && (f->use & USE_KEY) && !t->nullable;
}

bool type_is_expiry(const struct type *t)
{
    return t->kind >= TYPE_DATE && t->kind <= TYPE_DATETIME64 && !t->nullable && !t->low_cardinality && !t->aggregated;
}

bool type_is_time(const struct type *t)
{
    const struct family *f = family_of(t);
    bool is = f && (f->use & USE_TIME);
    for (size_t i = 0; f && !is && i < t->n_of; i++)
        is = type_is_time(&t->of[i]);
    return is;
}

bool type_holds_json(const struct type *t)
{
    bool holds = t->kind == TYPE_JSON;
    for (size_t i = 0; type_supported(t) && !holds && i < t->n_of; i++)
        holds = type_holds_json(&t->of[i]);
    return holds;
}

bool type_has_dictionary(const struct type *t)
{
    bool has = t->low_cardinality;
    for (size_t i = 0; !has && i < t->n_of; i++)
        has = type_has_dictionary(&t->of[i]);
    return has;
}

/* v1 knows LowCardinality around String alone. */
static bool needs_v2(const struct type *t)
{
    const struct family *f = family_of(t);
    return f && (!(f->use & USE_V1) || t->aggregated || (t->low_cardinality && t->kind != TYPE_STRING));
}

enum code column_lacks(const struct column *c, const char **what)
{
    bool json = type_holds_json(&c->type);
    *what = json ? "which is compared as text, and on the operator's word alone" : "a type without cells";
    if (!type_supported(&c->type))
        return CODE_COLUMN_TYPE_UNSUPPORTED;
    return json && c->from != FROM_JSON_TEXT ? CODE_JSON_NOT_DECLARED : CODE_NONE;
}

const char *columns_cells(const struct columns *c)
{
    const char *what;
    for (size_t i = 0; i < c->n; i++)
        if (column_lacks(&c->at[i], &what) == CODE_NONE && needs_v2(&c->at[i].type))
            return CELLS_V2;
    return CELLS_V1;
}
