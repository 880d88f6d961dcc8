/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: the strict reader and the canonical writer of RFC 8259 text.
 *
 * The reader refuses duplicate names, lone surrogates, bytes that are not
 * UTF-8 and nesting past JSON_DEPTH; it keeps the exact text of a number and
 * says where it stopped. Trees live in the caller's arena and point into the
 * caller's text, which must outlive them.
 */
#ifndef OWED_JSON_H
#define OWED_JSON_H

#include "base/base.h"

#define JSON_DEPTH 64

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_member;

struct json {
    enum json_type type;
    const char *raw; /* the value's text as written, in the caller's buffer */
    size_t raw_len;
    const char *str; /* JSON_STRING: the decoded bytes (may hold NUL); JSON_NUMBER: its text */
    size_t len;      /* bytes of str, or how many items or members */
    union {
        struct json **items;         /* JSON_ARRAY */
        struct json_member *members; /* JSON_OBJECT, in the order written */
    } u;
};

struct json_member {
    const char *name;
    size_t name_len;
    struct json *value;
};

/* Where a text was refused. offset counts bytes from 0. */
struct json_error {
    size_t offset;
    const char *why; /* static text, such as "duplicate name" */
};

/* True when p[0..n) is one JSON text (white space around it allowed). No tree and no allocation for
 * objects of few members; the fastest path. *e may be NULL. */
bool json_valid(const char *p, size_t n, struct json_error *e);

/* Parse one JSON text into a tree in arena. NULL with *e set where it is refused. */
struct json *json_parse(const char *p, size_t n, struct arena *arena, struct json_error *e);
/* The same, with an err that reads "what: byte N: why" (kind ERR_REFUSED); in messages bytes count from 1, as lines do.
 */
struct json *json_parse_named(const char *p, size_t n, struct arena *arena, const char *what, struct err *err);

/* A member's value by name, or NULL (also where obj is NULL or no object). */
struct json *json_get(const struct json *obj, const char *name);
bool json_is(const struct json *v, const char *s); /* a string equal to s */

/* Typed members for documents whose every field is checked. All refuse (ERR_REFUSED, "where.name: …") a member
 * of another type; the _opt forms accept a missing member or null and leave *out as it was. */
int json_need(const struct json *obj, const char *name, enum json_type t, struct json **out, const char *where,
              struct err *err);
/* A whole number, written as a number or as decimal text, within [0, 2^64) or int64. 1e3 and 1.0 are refused. */
int json_need_u64(const struct json *obj, const char *name, uint64_t *out, const char *where, struct err *err);
int json_need_i64(const struct json *obj, const char *name, int64_t *out, const char *where, struct err *err);
int json_need_bool(const struct json *obj, const char *name, bool *out, const char *where, struct err *err);
/* *out is NUL-terminated in arena; a string that holds NUL is refused. */
int json_need_str(const struct json *obj, const char *name, struct arena *a, const char **out, const char *where,
                  struct err *err);
int json_opt_u64(const struct json *obj, const char *name, uint64_t *out, const char *where, struct err *err);
int json_opt_bool(const struct json *obj, const char *name, bool *out, const char *where, struct err *err);
int json_opt_str(const struct json *obj, const char *name, struct arena *a, const char **out, const char *where,
                 struct err *err);
/* Refuse any member whose name is not in names (NULL-terminated). */
int json_only(const struct json *obj, const char *const *names, const char *where, struct err *err);
bool json_u64(const struct json *v, uint64_t *out); /* the rule of json_need_u64 on a value */
bool json_i64(const struct json *v, int64_t *out);
/* True when two number texts (RFC 8259) have the same value; the sign of zero is ignored. Exponents of 17 digits and
 * more compare as text. */
bool json_number_same(const char *a, size_t a_len, const char *b, size_t b_len);

/* ---- writing ---- */

/* Append a JSON string: only ", \ and U+0000..U+001F escaped (\b \t \n \f \r, else \u00xx, lower case). The bytes
 * must be valid UTF-8. */
void json_put_str(struct buf *b, const char *p, size_t n);
void json_put_s(struct buf *b, const char *s);
/* Integers: bare within 2^53, else as decimal text (STREAM.md, Lines). */
void json_put_u64(struct buf *b, uint64_t v);
void json_put_i64(struct buf *b, int64_t v);

/* Append valid JSON text made one line: a raw control character can only be white space between its tokens. */
void json_put_line(struct buf *b, const char *p, size_t n);

/* A small writer for objects and arrays that puts the commas. Depth at most JSON_DEPTH. */
struct json_w {
    struct buf *b;
    unsigned depth;
    uint64_t filled; /* bit d: something was written at depth d */
};
void jw_init(struct json_w *w, struct buf *b);
void jw_obj(struct json_w *w, const char *name); /* name NULL inside arrays and at the top */
void jw_arr(struct json_w *w, const char *name);
void jw_end_obj(struct json_w *w);
void jw_end_arr(struct json_w *w);
void jw_str(struct json_w *w, const char *name, const char *s); /* NULL s writes null */
void jw_strn(struct json_w *w, const char *name, const char *p, size_t n);
void jw_u64(struct json_w *w, const char *name, uint64_t v);
void jw_i64(struct json_w *w, const char *name, int64_t v);
void jw_bool(struct json_w *w, const char *name, bool v);
void jw_null(struct json_w *w, const char *name);
void jw_raw(struct json_w *w, const char *name, const char *p, size_t n); /* text that is already JSON */

/* Append v in canonical form: members sorted by name bytes, no white space, strings as json_put_str, integers
 * within 2^53 as numbers, all other numbers as text (STREAM.md, the scope's fingerprint). An integer is any whole
 * value, however spelled (1.0, 1e3): documents that went through another JSON program keep their fingerprint. */
void json_canonical(struct buf *b, const struct json *v);

#endif
