/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types: ClickHouse's type names, parsed. Types are compared parsed, never as
 * spelling (STREAM.md, `columns`). All that the two sides of the wall share:
 * the sink's writer and the reader's cells meet in this module alone.
 */
#ifndef OWED_TYPES_H
#define OWED_TYPES_H

#include "base/base.h"
#include "base/hash.h"
#include "base/options.h"
#include "json/json.h"
#include "stream/codes.h"

/* The versions of cells, as a line of columns and a scope name them. */
#define CELLS_V1 "clink-canonical-cells-v1"
#define CELLS_V2 "owed-cells-v2"

enum type_kind {
    TYPE_INT, /* bits 8, 16, 32, 64, 128, 256 */
    TYPE_UINT,
    TYPE_FLOAT,      /* bits 32, 64; BFloat16: 16 */
    TYPE_DECIMAL,    /* precision, scale; bits 32, 64, 128, 256 by precision */
    TYPE_DATE,       /* bits 16 */
    TYPE_DATE32,     /* bits 32 */
    TYPE_DATETIME,   /* bits 32 */
    TYPE_DATETIME64, /* bits 64; scale is the ticks' precision 0..9 */
    TYPE_BOOL,
    TYPE_STRING,
    TYPE_FIXED_STRING, /* bits 8 a byte */
    TYPE_UUID,         /* bits 128 */
    TYPE_ENUM,         /* bits 8, 16; words are its names by their numbers */
    TYPE_IPV4,         /* bits 32 */
    TYPE_IPV6,         /* bits 128 */
    TYPE_TIME,         /* bits 32 */
    TYPE_TIME64,       /* bits 64; scale as DateTime64's */
    TYPE_ARRAY,        /* of its element; Ring, LineString, Polygon, MultiLineString and MultiPolygon are such */
    TYPE_TUPLE,        /* of its elements, words their names where it has any; Point is one */
    TYPE_MAP,          /* of key and value */
    TYPE_NESTED,       /* of its columns, words their names */
    TYPE_JSON,         /* its one word is what stands between its parentheses, where it has any */
    TYPE_OTHER         /* a well-formed name that has no cells: unsupported, by its name */
};

/* A name within a type. */
struct type_word {
    char *p; /* NUL at its end too */
    size_t n;
    int number; /* an Enum's */
};

#define TYPE_ZONE_BYTES 63 /* longest name of a time zone */

struct type {
    enum type_kind kind;
    unsigned bits;
    unsigned precision, scale;
    bool nullable, low_cardinality;
    bool aggregated;                /* SimpleAggregateFunction(f, T), which is read as T */
    char zone[TYPE_ZONE_BYTES + 1]; /* of TYPE_DATETIME and TYPE_DATETIME64, as the type names it; "": it does not */
    char *name;      /* as it was written; of a TYPE_OTHER past 255 bytes, or not UTF-8, its family: "JSON(...)" */
    struct type *of; /* what stands inside; of TYPE_OTHER: its arguments where all are types */
    size_t n_of;
    struct type_word *words;
    size_t n_words;
};

/* Parse a ClickHouse type name (any spelling that the server prints or that a CREATE accepts for these types,
 * such as Decimal64(4), DateTime('UTC'), LowCardinality(Nullable(String)), Map(String, Array(UUID))). A name that is
 * well formed and has no cells (Variant(Int8, String), Nullable(Tuple(Int8)), an Array of such) is TYPE_OTHER.
 * ERR_REFUSED for text that is no type name at all; nothing is then to be freed. */
int type_parse(const char *p, size_t n, struct type *out, struct err *err);
void type_free(struct type *t);
/* Same values: kind, width, precision, scale, nullable, names, and what stands inside. LowCardinality,
 * SimpleAggregateFunction and the zone are storage and display. Two TYPE_OTHER are equal where their names are, white
 * space apart; a shortened name equals none. */
bool type_equal(const struct type *a, const struct type *b);
/* The same type as defined: type_equal, stored the same (LowCardinality, SimpleAggregateFunction) and shown the same
 * (the zone), at any depth. */
bool type_same(const struct type *a, const struct type *b);
/* The type's plain spelling without LowCardinality, SimpleAggregateFunction and zone, at any depth, such as
 * "Nullable(Decimal(18, 4))"; a TYPE_OTHER is spelled by its name. */
void type_spell(const struct type *t, struct buf *out);
bool type_supported(const struct type *t);
/* May be a key: a scalar of which a value has one spelling (no float), not Nullable. */
bool type_is_key(const struct type *t);
/* Holds a date or a time, at any depth: a column whose owed values need a unit (`from`). */
bool type_is_time(const struct type *t);
/* May be what a TTL goes by: a date or a time that is plain. */
bool type_is_expiry(const struct type *t);
/* Holds a JSON, at any depth: a column whose values have cells on the operator's word alone (`from`). It holds no time.
 */
bool type_holds_json(const struct type *t);
/* LowCardinality at any depth. */
bool type_has_dictionary(const struct type *t);

/* A table as options name it: --table=DATABASE.TABLE, or --database=NAME and the table's own name, dots and all. A name
 * with more than one dot is refused without the latter, since it cannot be told where the database ends. */
struct table_name {
    const char *said, *said_database;
    char *database, *table; /* malloc'd by table_name_settle; NULL where nothing was said */
};
/* clang-format off */
/* Entries for a table of options (base/options.h). */
#define TABLE_NAME_OPTIONS(T) \
    OPT_NAME("table", "DATABASE.TABLE", &(T)->said, "the table"), \
    OPT_NAME("database", "NAME", &(T)->said_database, "its database; --table is then the table's name alone, dots and all")
/* clang-format on */
int table_name_settle(struct table_name *t, struct err *err);
void table_name_free(struct table_name *t);

/* What an owed value comes as (STREAM.md, `columns`.from): the unit of a time, or a JSON's text. */
enum type_from { FROM_NONE, FROM_S, FROM_MS, FROM_US, FROM_NS, FROM_TICKS, FROM_DAYS, FROM_ISO, FROM_JSON_TEXT };
/* clang-format off */
#define TYPE_FROM_OPTION(TAKE, CTX) \
    OPT_TAKE("from", "COLUMN:UNIT", TAKE, CTX, \
             "the unit of a column's times: s, ms, us, ns, ticks, days or iso; or json-text, which\n" \
             "only a declared scope takes, of a JSON's text; may be repeated")
/* clang-format on */
int type_from_parse(const char *s, enum type_from *out, struct err *err);
/* Does a column of the type take it? */
bool type_takes_from(const struct type *t, enum type_from f);
const char *type_from_name(enum type_from f); /* NULL for FROM_NONE */

/* How a table fills a column that nobody writes, where it is read all the same. */
enum column_kind { COLUMN_WRITTEN, COLUMN_MATERIALIZED, COLUMN_ALIAS };
/* False for a word of the server's that is none of these; DEFAULT is written, or may be. */
bool column_kind_parse(const char *s, enum column_kind *out);
const char *column_kind_name(enum column_kind k); /* NULL for COLUMN_WRITTEN */

struct column {
    char *name;
    size_t name_len;
    struct type type;
    bool key;
    enum type_from from;
    enum column_kind kind;
    const char *zone; /* of times without one where the type names none: the scope's, not owned; NULL */
};

struct columns {
    struct column *at;
    size_t n;
    struct map names; /* of many columns: where each stands, once columns_index has been called */
};
#define COLUMNS_INIT ((struct columns){NULL, 0, MAP_INIT})

/* From the `columns` array of a columns line or a scope document: [{"name","type","key","from","kind"}], the last three
 * optional. Refuses duplicate names, an unknown member, no column at all, `from` on a column that does not
 * take it, and a time column without `from` where need_from is set. */
int columns_parse(const struct json *arr, bool need_from, struct columns *out, struct err *err);
void columns_write(const struct columns *c, struct buf *out); /* the array's JSON text */
void columns_free(struct columns *c);
/* Why the column's values are not compared: the code, and for a person what the column is; CODE_NONE where they are. */
enum code column_lacks(const struct column *c, const char **what);
/* The version of the columns' cells: v1 where all are of its types (one without cells asks for none). */
const char *columns_cells(const struct columns *c);
/* Call it when the last column stands, and find is no longer a search. The first column whose name another has, or
 * NULL.
 */
const struct column *columns_index(struct columns *c);
const struct column *columns_find(const struct columns *c, const char *name, size_t n, size_t *index);
/* Put the value of each member at its column; at has room for every column, and NULL where none came. The first name
 * that is no column's and not in passed (which counts its values by name, and may be NULL), or NULL. */
const struct json *columns_spread(const struct columns *c, const struct map *passed, const struct json *values,
                                  const struct json **at);

#endif
