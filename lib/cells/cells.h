/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells: canonical cells, clink-canonical-cells-v1 and owed-cells-v2 (STREAM.md,
 * "Cells"). A cell is a JSON string, null, {"b64":"…"}, {"unnamed":"…"}, an array
 * of cells or, on an owed side, {"unfit":"…"}. Two equal rows are equal bytes. The conversions here are the
 * comparison's own and share nothing with the sink's writer.
 */
#ifndef OWED_CELLS_H
#define OWED_CELLS_H

#include "base/base.h"
#include "json/json.h"
#include "types/types.h"

enum cells_result {
    CELL_FIT = 0, /* the value's own cell was appended */
    CELL_NEAREST, /* that of the float next to a fraction that no float of the column's width is */
    CELL_UNFIT,   /* {"unfit":…} was appended; why says the reason */
    CELL_WRONG    /* the same of a value of the wrong kind (a word for a number) */
};

/* Append the cell of an owed value (a JSON value as the job or the reference gave it; NULL: the value is absent,
 * which is as null) for column c. *why is a static text when not CELL_FIT.
 * Numeric columns and times in a unit take a JSON number or a string [+-]digits[.digits][e[+-]digits], by value
 * (leading zeros are no matter); String columns take a JSON string alone, Bool true and false alone. ISO text is
 * YYYY-MM-DDThh:mm[:ss[.fraction]] (T or a space) with Z or +hh:mm, or without in the
 * zone that the column's type names, else c->zone; a date alone only for Date and Date32. A time in a
 * unit is the exact instant: any unit on any time column, ticks being the column's own (days for Date and Date32).
 * Unfit text: the plain decimal; past 80 digits, a zero before the point included, the digits as an integer and its
 * exponent; UTC text (the date alone for Date and Date32 at midnight); the number and its unit ("1e400 s") for a time
 * outside the years 0 to 9999 or with more than 37 digits of fraction; for the wrong kind the value as it came.
 * FixedString takes a shorter string, with zeros added; Enum a name; Time and Time64 as ISO text
 * [-]hhh:mm[:ss[.fraction]]. Array takes an array; Tuple one too, or an object of its names; Map an object or an array
 * of pairs; Nested an object of arrays by name, or an array of what Tuple takes. One part of these that is unfit or
 * wrong makes the whole cell so, with the value as JSON. */
/* *why of ISO text without a zone: the column's type and the scope name none for it; the system has not that zone. */
extern const char cells_no_zone[], cells_unknown_zone[];
enum cells_result cells_owed(const struct column *c, const struct json *v, struct buf *out, const char **why);

/* ---- from decoded destination values; each appends one whole cell ---- */

void cells_put_null(struct buf *out);
void cells_put_i64(struct buf *out, int64_t v);
void cells_put_u64(struct buf *out, uint64_t v);
/* A little-endian two's-complement (or unsigned) integer of 1, 2, 4, 8, 16 or 32 bytes. */
void cells_put_int(struct buf *out, const unsigned char *le, size_t bytes, bool is_signed);
void cells_put_bf16(struct buf *out, uint16_t bits);
void cells_put_f32(struct buf *out, uint32_t bits);
void cells_put_f64(struct buf *out, uint64_t bits);
void cells_put_bool(struct buf *out, bool v);
void cells_put_bytes(struct buf *out, const char *p, size_t n); /* string, or b64 where it is not UTF-8 */
/* Append the cell of a destination value of type t, which is not NULL: its n bytes as Native and RowBinary carry them,
 * those of a String without its length. */
typedef void cells_put_fn(struct buf *out, const struct type *t, const unsigned char *p, size_t n);
cells_put_fn *cells_put_of(const struct type *t); /* NULL for a type without cells, and for one that holds others */
/* Sort the n cells that stand in out, with a comma between two, from starts[0] to its end, by their bytes: the pairs of
 * a Map. Each begins at its start. */
void cells_sort(struct buf *out, const size_t *starts, size_t n);

/* ---- reading cells ---- */

/* The extent of the row of cells that starts at p with '[': *cell_len bytes. Checks the form of every cell (spelling,
 * escapes, UTF-8, base64, no space), at most n bytes; columns must be `want`. Returns false with *why set. Fast: this
 * is on the path of every row. ends, when not NULL, receives the offset just past each of the first `max_ends` cells.
 */
bool cells_scan_row(const char *p, size_t n, size_t want, size_t *row_len, uint32_t *ends, size_t max_ends,
                    const char **why);

/* Append the row of a key alone: key is an array of the cells of c's key columns, the others are null. False with *why
 * where it is no such array. */
bool cells_key_row(const struct columns *c, const char *key, size_t n, struct buf *row, const char **why);

/* True where the cell p[0..n) is a canonical cell of the type (form and range of the value): what ref-bind holds an
 * artifact to. unfit is allowed only where allow_unfit is set. */
bool cells_is_canonical(const struct type *t, const char *p, size_t n, bool allow_unfit, const char **why);

/* The first column, of all or of the key's, whose cell in a row that cells_scan_row took is not canonical for its type,
 * with *why set; NULL where each is. unfit is allowed. */
const struct column *cells_row_misfit(const struct columns *cols, const char *row, const uint32_t *ends, bool key,
                                      const char **why);

/* True for {"unfit":…}, of a cell that was scanned. */
bool cells_is_unfit(const char *p, size_t n);
/* True where one of the n cells of a row that cells_scan_row took is. */
bool cells_row_unfit(const char *row, const uint32_t *ends, size_t n);

/* The bytes of a string or b64 cell, appended (for rendering a key as a literal). False for null and unfit. */
bool cells_text(const char *p, size_t n, struct buf *out);

/* A cell as a person reads it in column type t, with nothing that drives a terminal: decimal with its point, UTC time,
 * the shortest text of a float, text quoted, NULL; unfit text with "(does not fit)". */
void cells_human(const struct type *t, const char *p, size_t n, struct buf *out);

#endif
