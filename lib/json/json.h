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
#define JSON_LEN_MAX 0xfffffffu              /* of what a value is long */
#define JSON_TREE_MAX ((size_t)JSON_LEN_MAX) /* bytes of a text that a tree is made of */

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* A value. A tree is one run of these in the order written: a container before what it holds, a member's name (a
 * JSON_STRING) before its value. So a tree takes 12 bytes for each value and each name, 20 and its bytes where a string
 * has escapes, and no list is copied; json_first, json_next and json_value walk it. */
struct __attribute__((packed, aligned(4))) json {
    union {
        const char
            *str; /* JSON_STRING: the decoded bytes (may hold NUL); of a scalar, and of what is empty: its text */
        struct {  /* of a container that holds something: */
            uint32_t span; /* how many nodes it is, with all that it holds */
            uint32_t back; /* so far before the text of the first scalar in it begins its own */
        };
    };
    unsigned len : 28; /* bytes of str (strings and numbers), or how many items or members */
    enum json_type type : 3;
    unsigned escaped : 1; /* a string's text is not its bytes */
};

/* Where a text was refused. offset counts bytes from 0. */
struct json_error {
    size_t offset;
    const char *why; /* static text, such as "duplicate name" */
};

/* True when p[0..n) is one JSON text (white space around it allowed). No tree and no allocation for
 * objects of few members; the fastest path. *e may be NULL. */
bool json_valid(const char *p, size_t n, struct json_error *e);

/* Parse one JSON text into a tree in arena. NULL with *e set where it is refused, also past JSON_TREE_MAX. */
struct json *json_parse(const char *p, size_t n, struct arena *arena, struct json_error *e);
/* The same, with an err that reads "what: byte N: why" (kind ERR_REFUSED); in messages bytes count from 1, as lines do.
 */
struct json *json_parse_named(const char *p, size_t n, struct arena *arena, const char *what, struct err *err);

static inline bool json_holds(const struct json *v) /* a container with something in it */
{
    return v->type >= JSON_ARRAY && v->len > 0;
}
static inline size_t json_span(const struct json *v) /* how many nodes it is, with all that it holds */
{
    return json_holds(v) ? v->span : 1;
}
/* The first item of an array, or the name of the first member of an object; NULL where there is none, of all else, and
 * of NULL. */
static inline struct json *json_first(const struct json *v)
{
    return v && json_holds(v) ? (struct json *)(uintptr_t)(v + 1) : NULL;
}
static inline struct json *json_value(const struct json *name)
{
    return (struct json *)(uintptr_t)(name + 1);
}
/* What follows `at`, an item or a name of v; NULL behind the last. */
static inline struct json *json_next(const struct json *v, const struct json *at)
{
    const struct json *next = v->type == JSON_OBJECT ? at + 1 + json_span(at + 1) : at + json_span(at);
    return next < v + v->span ? (struct json *)(uintptr_t)next : NULL;
}
struct json *json_at(const struct json *array, size_t i); /* NULL past the end. It counts: for short arrays */
/* A value's text as written, in the caller's buffer. It looks for the end of a container. */
struct json_text {
    const char *p;
    size_t n;
};
struct json_text json_raw(const struct json *v);
char *json_raw_dup(struct arena *a, const struct json *v); /* the same, NUL-terminated in arena */

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

/* Append a value's text as written. */
void json_put_raw(struct buf *b, const struct json *v);
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
/* Another's text: masked where it is not UTF-8. */
void jw_shown(struct json_w *w, const char *name, const char *s);
void jw_u64(struct json_w *w, const char *name, uint64_t v);
void jw_i64(struct json_w *w, const char *name, int64_t v);
void jw_bool(struct json_w *w, const char *name, bool v);
void jw_null(struct json_w *w, const char *name);
void jw_raw(struct json_w *w, const char *name, const char *p, size_t n); /* text that is already JSON */

/* Append v in canonical form: members sorted by name bytes, no white space, strings as json_put_str, integers
 * within 2^53 as numbers, all other numbers as text (STREAM.md, the scope's fingerprint). An integer is any whole
 * value, however spelled (1.0, 1e3): documents that went through another JSON program keep their fingerprint. */
void json_canonical(struct buf *b, const struct json *v);
/* The same of an object without its member of that name. */
void json_canonical_without(struct buf *b, const struct json *obj, const char *name);

#endif
