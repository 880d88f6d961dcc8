/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which owed rows a TTL may have taken away. The server computes each one's time itself: months, zones and what wraps
 * are its own, and differ from line to line. What a TTL's column may be is known only when the table has been looked
 * at, so that of every owed row its key and its times are kept until then: in memory, and past a bound in a scratch
 * file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "chread/session.h"

#define HELD ((size_t)64 << 20)
#define BATCH 100000   /* values a statement */
#define TEXT_ROOM 4096 /* of a statement, around its values */

struct owed_time {
    int64_t value;
    bool fits;
};

struct chread_owed {
    const struct columns *cols;
    const char *scratch;
    size_t *times, n_times; /* the columns that a TTL may go by */
    struct owed_time *room; /* of the row at hand */
    struct buf key, held;
    FILE *file; /* NULL: all of it is held */
    uint64_t rows;
};

/* ---- keeping ---- */

struct chread_owed *chread_owed_new(const struct columns *cols, const char *scratch)
{
    struct chread_owed *o = xcalloc(1, sizeof *o);
    *o = (struct chread_owed){.cols = cols, .scratch = scratch};
    o->times = xcalloc(cols->n, sizeof *o->times);
    o->room = xcalloc(cols->n, sizeof *o->room);
    for (size_t i = 0; i < cols->n; i++)
        if (type_is_expiry(&cols->at[i].type))
            o->times[o->n_times++] = i;
    return o;
}

void chread_owed_free(struct chread_owed *o)
{
    if (!o)
        return;
    if (o->file)
        fclose(o->file);
    buf_free(&o->key);
    buf_free(&o->held);
    free(o->times);
    free(o->room);
    free(o);
}

static int write_held(struct chread_owed *o, struct err *err)
{
    if (!o->file) {
        int fd = scratch_open(o->scratch, err);
        if (fd < 0)
            return -1;
        o->file = fdopen(fd, "w+");
        if (!o->file)
            return err_sys(err, "cannot open the scratch file");
    }
    if (fwrite(o->held.p, 1, o->held.len, o->file) != o->held.len)
        return err_sys(err, "cannot write the scratch file");
    buf_reset(&o->held);
    return 0;
}

static size_t cell_from(const uint32_t *ends, size_t i)
{
    return i == 0 ? 1 : ends[i - 1] + 1U;
}

/* A value that its column cannot hold is in no table, and has no time there. */
static struct owed_time time_of(const struct type *t, const char *p, size_t n)
{
    struct owed_time time = {.fits = n > 2 && *p == '"' && scan_i64(p + 1, n - 2, &time.value)};
    int64_t low = t->kind == TYPE_DATE || t->kind == TYPE_DATETIME ? 0 : INT32_MIN,
            high = t->kind == TYPE_DATE       ? UINT16_MAX
                   : t->kind == TYPE_DATETIME ? UINT32_MAX
                                              : INT32_MAX;
    time.fits = time.fits && (t->kind == TYPE_DATETIME64 || (time.value >= low && time.value <= high));
    return time;
}

int chread_owed_add(struct chread_owed *o, const char *p, const uint32_t *ends, struct err *err)
{
    if (o->n_times == 0)
        return 0;
    buf_reset(&o->key);
    for (size_t i = 0; i < o->cols->n; i++)
        if (o->cols->at[i].key) {
            buf_addc(&o->key, o->key.len > 0 ? ',' : '[');
            buf_add(&o->key, p + cell_from(ends, i), ends[i] - cell_from(ends, i));
        }
    buf_addc(&o->key, ']');
    for (size_t i = 0; i < o->n_times; i++) {
        size_t from = cell_from(ends, o->times[i]);
        o->room[i] = time_of(&o->cols->at[o->times[i]].type, p + from, ends[o->times[i]] - from);
    }
    uint32_t key_len = (uint32_t)o->key.len;
    buf_add(&o->held, &key_len, sizeof key_len);
    buf_add(&o->held, o->room, o->n_times * sizeof *o->room);
    buf_add(&o->held, o->key.p, o->key.len);
    o->rows++;
    return o->held.len > HELD ? write_held(o, err) : 0;
}

/* ---- reading it again ---- */

struct reader {
    struct chread_owed *o;
    uint64_t next; /* the row of this number */
    size_t at;     /* in what is held */
    struct buf room;
};

static int reader_begin(struct reader *r, struct err *err)
{
    r->next = 0;
    r->at = 0;
    if (!r->o->file)
        return 0;
    if (write_held(r->o, err) != 0)
        return -1;
    return fseek(r->o->file, 0, SEEK_SET) == 0 ? 0 : err_sys(err, "cannot read the scratch file");
}

/* The next n bytes, which are there, into out. */
static int reader_take(struct reader *r, void *out, size_t n, struct err *err)
{
    if (!r->o->file) {
        memcpy(out, r->o->held.p + r->at, n);
        r->at += n;
        return 0;
    }
    if (fread(out, 1, n, r->o->file) == n)
        return 0;
    return ferror(r->o->file)
               ? err_sys(err, "cannot read the scratch file")
               : err_set(err, ERR_TROUBLE, "cannot read the scratch file: it is shorter than was written");
}

/* 1 for a row, whose times are then in the room of o and whose key in r's; 0 at the end. */
static int reader_next(struct reader *r, struct err *err)
{
    uint32_t key_len;
    if (r->next == r->o->rows)
        return 0;
    buf_reset(&r->room);
    if (reader_take(r, &key_len, sizeof key_len, err) != 0 ||
        reader_take(r, r->o->room, r->o->n_times * sizeof *r->o->room, err) != 0)
        return -1;
    buf_reserve(&r->room, key_len);
    r->room.len = key_len;
    r->next++;
    return reader_take(r, r->room.p, key_len, err) == 0 ? 1 : -1;
}

/* ---- asking ---- */

struct expiry {
    struct chread *c;
    const struct chread_expect *expect;
    const struct chread_table *t;
    const struct ttl *ttl;
    const char *type;         /* of its column, as the server has it */
    size_t width;             /* of a value's bytes */
    size_t column;            /* which of the kept times it is */
    int64_t now;              /* the server's clock, in seconds */
    struct buf values;        /* of the batch: each as its bytes, once where the next has the same */
    uint64_t n_values, first; /* and the number of the batch's first row */
    int64_t last;
    struct buf of;   /* of its rows: the number of its value, 32 bits each, UINT32_MAX for none */
    struct buf bits; /* of all rows: a bit for one that has expired */
    struct chread_why *why;
};

static void put_times(const struct expiry *e, const char *values, size_t n, const char *around, struct buf *sql)
{
    buf_printf(sql, "arrayMap(x -> %s(x", around);
    if (e->ttl->interval)
        buf_printf(sql, " + %s", e->ttl->interval);
    buf_adds(sql, "), reinterpret(base64Decode('");
    base64_add(sql, values, n);
    buf_adds(sql, "'), ");
    struct buf type = BUF_INIT;
    buf_printf(&type, "Array(%s)", e->type);
    http_quote_string(sql, type.p, type.len);
    buf_free(&type);
    buf_adds(sql, "))");
}

static int broken(const struct expiry *e)
{
    return chread_say(e->why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                      "asking when rows expire: the server gave no times");
}

/* The times of the batch's values in the answer, each against the limit. A time of 0 is none to the server, as long as
 * it has not dropped the row with others that have expired: it is before every limit here. */
static int take_times(const struct expiry *e, char **row, bool *passed)
{
    int64_t limit = e->now, v;
    if (strcmp(row[1], "Array(Date)") == 0 || strcmp(row[1], "Array(Date32)") == 0) {
        if (!scan_i64(row[2], strlen(row[2]), &limit))
            return broken(e);
    } else if (strncmp(row[1], "Array(DateTime", sizeof "Array(DateTime" - 1) != 0) {
        return broken(e);
    }
    const char *p = row[0];
    for (uint64_t i = 0; i < e->n_values; i++) {
        size_t n = strcspn(p, ",");
        if (!scan_i64(p, n, &v) || (p[n] == '\0') != (i + 1 == e->n_values))
            return broken(e);
        passed[i] = v <= limit;
        p += n + (p[n] == ',');
    }
    return 0;
}

static int ask_batch(struct expiry *e)
{
    static const char none[8] = {0};
    struct texts x = TEXTS_INIT;
    struct buf sql = BUF_INIT;
    uint64_t rows = e->of.len / sizeof(uint32_t);
    bool *passed = xcalloc(e->n_values + 1, sizeof *passed);
    int status = 0;
    if (e->n_values > 0) {
        buf_adds(&sql, "SELECT arrayStringConcat(");
        put_times(e, e->values.p, e->values.len, "toInt64", &sql);
        buf_adds(&sql, ", ','), toTypeName(");
        put_times(e, none, e->width, "", &sql);
        buf_printf(&sql, "), toString(toInt64(toDate(toDateTime(%" PRId64 "))))", e->now);
        status = session_ask(e->c, e->expect, e->t, buf_str(&sql), 3, HTTP_ASKED_ROW, &x, "asking when rows expire",
                             e->why);
        status = status != 0 ? -1 : x.n == 1 ? take_times(e, x.rows[0], passed) : broken(e);
    }
    for (uint64_t i = 0; status == 0 && i < rows; i++) {
        uint32_t value;
        memcpy(&value, e->of.p + i * sizeof value, sizeof value);
        if (value != UINT32_MAX && passed[value])
            e->bits.p[(e->first + i) / 8] |= (char)(1 << (e->first + i) % 8);
    }
    e->first += rows;
    e->n_values = 0;
    buf_reset(&e->values);
    buf_reset(&e->of);
    free(passed);
    texts_free(&x);
    buf_free(&sql);
    return status;
}

static void add_value(struct expiry *e, const struct owed_time *time)
{
    uint32_t number = UINT32_MAX;
    if (time->fits) {
        if (e->n_values == 0 || time->value != e->last) {
            uint64_t bytes = (uint64_t)time->value;
            for (size_t i = 0; i < e->width; i++)
                buf_addc(&e->values, (char)(unsigned char)(bytes >> 8 * i));
            e->n_values++;
            e->last = time->value;
        }
        number = (uint32_t)(e->n_values - 1);
    }
    buf_add(&e->of, &number, sizeof number);
}

static bool is_expired(const struct expiry *e, uint64_t row)
{
    return (e->bits.p[row / 8] >> row % 8 & 1) != 0;
}

static int fail(const struct expiry *e, const struct err *err)
{
    struct cause cause = code_of_err(err, CODE_IO_FAILED);
    return chread_say(e->why, STATUS_UNAVAILABLE, &cause, "%s", err->text);
}

static int ask_all(struct expiry *e, struct reader *r)
{
    struct err err = ERR_INIT;
    uint64_t text = e->c->limits.bytes > 2 * TEXT_ROOM ? e->c->limits.bytes - TEXT_ROOM : TEXT_ROOM;
    uint64_t most = text / 4 * 3 / e->width;
    most = most > BATCH ? BATCH : most;
    buf_reserve(&e->bits, r->o->rows / 8 + 1);
    memset(e->bits.p, 0, r->o->rows / 8 + 1);
    int got = reader_begin(r, &err) == 0 ? 1 : -1;
    while (got > 0 && (got = reader_next(r, &err)) > 0) {
        add_value(e, &r->o->room[e->column]);
        if ((e->n_values == most || e->of.len / sizeof(uint32_t) == BATCH) && ask_batch(e) != 0)
            return -1;
    }
    return got < 0 ? fail(e, &err) : ask_batch(e);
}

/* Each key of an expired row once to fn, and of these those that owe another row, which has not expired. */
static int put_keys(struct expiry *e, struct reader *r, chread_row_fn *fn, void *ctx, struct chread_expired *out)
{
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct map keys = MAP_INIT;
    int got = 1;
    for (unsigned pass = 0; pass < 2 && got >= 0; pass++) {
        got = reader_begin(r, &err) == 0 ? 1 : -1;
        while (got > 0 && (got = reader_next(r, &err)) > 0) {
            bool expired = is_expired(e, r->next - 1);
            uint64_t *known = map_find(&keys, r->room.p, r->room.len);
            if (pass == 0 && expired) {
                out->rows++;
                if (known)
                    continue;
                out->keys++;
                map_add(&keys, arena_strndup(&arena, r->room.p, r->room.len), r->room.len, 0);
                if (fn(ctx, r->room.p, r->room.len) != 0)
                    got = -1;
            } else if (pass == 1 && !expired && known && *known == 0) {
                out->mixed++;
                *known = 1;
            }
        }
        if (out->rows == 0)
            break;
    }
    map_free(&keys);
    arena_free(&arena);
    return got < 0 ? fail(e, &err) : 0;
}

/* Which of the kept times is the TTL's, and how the server has it. */
static bool find_column(struct expiry *e, const struct chread_owed *o)
{
    for (size_t i = 0; i < o->n_times; i++) {
        const struct column *c = &o->cols->at[o->times[i]];
        if (strcmp(c->name, e->ttl->column) != 0)
            continue;
        e->column = i;
        e->width = c->type.bits / 8;
        for (size_t k = 0; k < e->t->n_columns; k++)
            if (strcmp(e->t->columns[k].name, c->name) == 0)
                e->type = e->t->columns[k].type;
    }
    return e->type != NULL;
}

int chread_expired(struct chread *c, const struct chread_expect *expect, const struct chread_table *t, int64_t now_ms,
                   struct chread_owed *owed, chread_row_fn *fn, void *ctx, struct chread_expired *out,
                   struct chread_why *why)
{
    struct arena arena = ARENA_INIT;
    struct ttl ttl;
    chread_ttl(t, &arena, &ttl);
    struct expiry e = {.c = c, .expect = expect, .t = t, .ttl = &ttl, .now = now_ms / 1000, .why = why};
    struct reader r = {.o = owed};
    int status = 0;
    *out = (struct chread_expired){0};
    if (ttl.kind == TTL_DELETES && owed->rows > 0) {
        if (!find_column(&e, owed))
            status = chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_TTL_COLUMN_LEFT_OUT, {"column", ttl.column}),
                                "column '%s', of the table's TTL, is not compared", ttl.column);
        else if (ask_all(&e, &r) != 0 || put_keys(&e, &r, fn, ctx, out) != 0)
            status = -1;
    }
    buf_free(&e.values);
    buf_free(&e.of);
    buf_free(&e.bits);
    buf_free(&r.room);
    arena_free(&arena);
    return status;
}
