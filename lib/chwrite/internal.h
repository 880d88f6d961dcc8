/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of chwrite share: exact decimals in 256 bits, instants, and the destination as it was looked at. Not
 * for other modules. */
#ifndef OWED_CHWRITE_INTERNAL_H
#define OWED_CHWRITE_INTERNAL_H

#include "base/base.h"
#include "chwrite/blocks.h"
#include "chwrite/chwrite.h"
#include "json/json.h"
#include "types/types.h"

/* A magnitude of 256 bits, least limb first, and its sign. Zero is never negative. */
struct wide {
    uint64_t limb[4];
    bool negative;
};

/* A decimal text taken apart: value = (negative ? -1 : 1) * digits * 10^exp. Leading and trailing zeros of the
 * significand are gone, so digits_len is 0 exactly for zero. digits points into the text and may hold its point. */
struct decimal {
    const char *digits;
    size_t digits_len; /* digits alone, the point not counted */
    int64_t exp;       /* bounded: past +-2^40 it stays there */
    bool negative;     /* as written: also for -0 */
};

/* Read [+-]digits[.digits][e[+-]digits], the whole of p[0..n). False for anything else. */
bool decimal_read(const char *p, size_t n, struct decimal *d);

enum decimal_fit { DECIMAL_FIT, DECIMAL_INEXACT, DECIMAL_RANGE };

/* d * times * 10^shift as a whole number: exact, or why not. times is at least 1 and at most 86400. */
enum decimal_fit decimal_scale(const struct decimal *d, uint64_t times, int shift, struct wide *out);

/* |w| < 10^digits (digits at most 77). */
bool wide_below_power(const struct wide *w, unsigned digits);
/* Within the range of a signed or unsigned integer of that many bits (8..256). */
bool wide_in_bits(const struct wide *w, unsigned bits, bool is_signed);
bool wide_i64(const struct wide *w, int64_t *out);
/* Add a small number that is not negative. The result must fit, which the callers' ranges see to. */
void wide_add(struct wide *w, uint64_t add);
/* Append the low bytes in little-endian two's complement. */
void wide_put(const struct wide *w, unsigned bytes, struct buf *out);

/* An instant, as seconds since the epoch (floor) and the digits of its fraction. */
struct instant {
    int64_t seconds;
    const char *fraction; /* decimal digits, trailing zeros not counted */
    size_t fraction_len;
    bool has_time; /* false where only a date was written */
};

/* YYYY-MM-DDThh:mm[:ss[.fraction]] with `Z` or an offset, or a date alone. NULL, or a static text saying what is wrong.
 */
const char *instant_read(const char *p, size_t n, struct instant *out);

/* What the sink knows of one kind of type. */
struct kind {
    /* Append a value that is not null as RowBinary. NULL, or a static text saying why not. */
    const char *(*put)(const struct column *c, const struct json *v, struct buf *out);
    bool is_signed;      /* an integer, or a time by its ticks */
    bool days;           /* a time that is stored as days */
    int64_t first, last; /* then: the range of the days */
};

const struct kind *sink_kind(const struct type *t);
/* Values of other types are not written: such a column is refused by its name. */
bool sink_writes(const struct type *t);

/* As chwrite_row; ends (of cols->n, or NULL) receives where each cell ends in out. */
int chwrite_row_cells(const struct columns *cols, const struct json *values, const char *at, struct buf *out,
                      size_t *ends, struct err *err);

/* ---- the destination, and what is sent to it ---- */

#define SINK_SETTINGS 16
#define SINK_BACKOFF_FIRST_MS 50
#define SINK_BACKOFF_MOST_MS 5000

/* One look at the destination. Strings live in the arena. */
struct look {
    struct arena arena;
    struct destination destination;
    struct chwrite_found *found;
    size_t n_found;
    uint64_t window;            /* of this table, or the server's default */
    uint64_t entries_per_block; /* 0: not known */
    const char *hashing;        /* the server's name for how it keeps blocks in mind, "" where it has none */
    int64_t uptime_ms;          /* the server had been up for at least so long, */
    int64_t seen_ms;            /* at this time of the monotonic clock, or before it */
    uint64_t block_number;      /* greatest of the table's parts so far */
    bool has_block_number;
};

struct chwrite {
    struct chwrite_options o;
    struct http *http;
    struct look look; /* the last one */
    struct columns columns;
    struct chwrite_window window;
    uint64_t mark; /* block_number as of the last look that the caller or the open made */
    bool has_mark;
    struct blocks blocks;
    struct buf body, statement, token;
    size_t header; /* bytes of body before the first row */
    size_t *ends;
    uint64_t rows;
    char max_rows[24];
    struct http_setting settings[SINK_SETTINGS];
    size_t n_settings;
};

/* As chwrite_look, once, and without forgetting how much was written since the last one. */
int sink_look(struct chwrite *w, struct err *err);
/* Read the table's identity, form and columns. ERR_REFUSED where trying again would not help. */
int look_read(struct http *http, const struct chwrite_options *o, struct look *out, struct err *err);
void look_free(struct look *l);

/* A question of a look, whose answer is rows of JSONEachRow. */
struct question {
    const char *sql, *what; /* what: its name in errors */
    const struct http_setting *settings;
    struct http_asked asked; /* the most that the answer may be */
};

struct rows {
    struct json **at;
    size_t n;
};

/* Each line of p[0..n) as a tree: whole lines, as many as the server counted and no more than were asked for. */
int look_take_rows(const struct question *q, const char *p, size_t n, uint64_t counted, struct arena *a,
                   struct rows *rows, struct err *err);
/* What the answers say: of the table, its columns, which of the settings the server knows, and whether each has the
 * value that it was sent with. */
int look_take_identity(const struct rows *rows, const struct chwrite_options *o, struct look *l, struct err *err);
int look_take_columns(const struct rows *rows, struct look *l, struct err *err);
int look_take_known(const struct rows *rows, struct http_setting *settings, size_t *n, size_t needed, struct err *err);
int look_take_effect(const struct rows *rows, const struct http_setting *settings, struct err *err);
/* What the table's own SETTINGS say of the window, or NULL. */
const char *look_window(const char *engine_full, struct arena *a);

/* NULL where b is the same server and table as a, else what is another. */
const char *look_differs(const struct look *a, const struct look *b);
/* Prove on this connection that the settings (ending in a NULL name) take effect whatever the profile says, and keep
 * only those that the server knows; the first `needed` it must know. ERR_REFUSED naming the setting that does not. */
int look_settings(struct http *http, struct http_setting *settings, size_t *n, size_t needed, struct err *err);

#endif
