/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict reader of RFC 8259. One loop serves json_valid and json_parse: it
 * is inlined into both with `build` known, so the two cannot disagree. It does
 * not recurse; open containers stand in a fixed array of JSON_DEPTH frames and
 * what they have collected in one growing array of slots.
 */
#include "json/json.h"
#include "json/internal.h"
#include "json/scan.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    SLOTS_INLINE = 96, /* a row line's names fit without an allocation */
    SMALL_OBJECT = 16  /* up to here names are compared as they come, beyond in a hash table at the closing brace */
};

struct frame {
    const char *open;
    size_t base;   /* the first of this container's slots */
    uint64_t seen; /* bit set of the tags of its names: an absent bit proves a name new */
    bool object;
};

struct reader {
    const char *start, *p, *end;
    struct json_error *error;
    struct arena *arena; /* decoded strings, and the tree where there is one */
    struct slot *slots;
    size_t used, room;
    unsigned depth;
    struct frame frames[JSON_DEPTH];
    struct slot first[SLOTS_INLINE];
};

/* A string as found: the bytes between the quotes, and whether escapes stand among them. */
struct span {
    const char *p;
    size_t n;
    bool escaped;
};

__attribute__((cold, noinline)) static bool refuse(struct reader *r, const char *at, const char *why)
{
    r->error->offset = (size_t)(at - r->start);
    r->error->why = why;
    return false;
}

/* ---- strings ---- */

/* From the first byte that is not plain on: escapes, UTF-8, the closing quote. */
static bool string_rest(struct reader *r, const char *p, struct span *s)
{
    for (;;) {
        p = bytes_plain(p, r->end);
        if (p == r->end)
            return refuse(r, p, "text ends inside a string");
        unsigned char c = (unsigned char)*p;
        if (c == '"') {
            s->n = (size_t)(p - s->p);
            r->p = p + 1;
            return true;
        }
        if (c == '\\') {
            unsigned code;
            const char *why;
            size_t n = json_escape_at(p, r->end, &code, &why);
            if (n == 0)
                return refuse(r, p, why);
            s->escaped = true;
            p += n;
        } else if (c < 0x20) {
            return refuse(r, p, "control character in a string");
        } else {
            do {
                size_t n = bytes_utf8(p, r->end);
                if (n == 0)
                    return refuse(r, p, "invalid UTF-8");
                p += n;
            } while (p < r->end && (unsigned char)*p >= 0x80);
        }
    }
}

/* r->p is on the opening quote. */
ALWAYS_INLINE bool string_scan(struct reader *r, struct span *s)
{
    s->p = r->p + 1;
    s->escaped = false;
    const char *p = bytes_plain(s->p, r->end);
    if (p == r->end || *p != '"')
        return string_rest(r, p, s);
    s->n = (size_t)(p - s->p);
    r->p = p + 1;
    return true;
}

/* Replace a checked span with escapes by its decoded bytes in the arena. */
static void span_decode(struct reader *r, struct span *s)
{
    char *out = arena_alloc(r->arena, s->n ? s->n : 1);
    s->n = json_escape_decode(s->p, s->n, out);
    s->p = out;
    s->escaped = false;
}

/* ---- names ---- */

/* Cheap, and equal for equal names: both ends of the name and its length. room: bytes that may be read at p. */
ALWAYS_INLINE uint64_t name_tag(const char *p, size_t n, size_t room)
{
    uint64_t head = 0, tail = 0;
    if (n >= 8) {
        memcpy(&head, p, 8);
        memcpy(&tail, p + n - 8, 8);
    } else if (room >= 8) {
        memcpy(&head, p, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        head &= ((uint64_t)1 << (8 * n)) - 1;
#else
        head &= ~(~(uint64_t)0 >> (8 * n));
#endif
    } else {
        memcpy(&head, p, n);
    }
    return (head ^ (tail << 23 | tail >> 41) ^ n) * 0x9e3779b97f4a7c15u;
}

__attribute__((cold, noinline)) static void slots_grow(struct reader *r)
{
    size_t room = r->room * 2;
    struct slot *more = xmalloc(room * sizeof *more);
    memcpy(more, r->slots, r->used * sizeof *more);
    if (r->slots != r->first)
        free(r->slots);
    r->slots = more;
    r->room = room;
}

ALWAYS_INLINE struct slot *slot_push(struct reader *r)
{
    if (UNLIKELY(r->used == r->room))
        slots_grow(r);
    return &r->slots[r->used++];
}

ALWAYS_INLINE void skip_space(struct reader *r)
{
    const char *p = r->p;
    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    r->p = p;
}

/* A member's name and the colon after it. */
ALWAYS_INLINE bool name_read(struct reader *r)
{
    skip_space(r);
    if (UNLIKELY(r->p == r->end))
        return refuse(r, r->p, "text ends inside an object");
    if (UNLIKELY(*r->p != '"'))
        return refuse(r, r->p, *r->p == '}' ? "comma before a closing brace" : "expected a name in quotes");
    struct slot *s = slot_push(r);
    struct span name;
    s->at = r->p;
    if (!string_scan(r, &name))
        return false;
    size_t room = (size_t)(r->end - name.p);
    if (UNLIKELY(name.escaped)) {
        span_decode(r, &name);
        room = name.n;
    }
    s->name = name.p;
    s->name_len = name.n;
    s->tag = name_tag(name.p, name.n, room);
    s->value = NULL;
    struct frame *f = &r->frames[r->depth - 1];
    uint64_t bit = (uint64_t)1 << (s->tag >> 58);
    if (UNLIKELY(f->seen & bit) && r->used - f->base <= SMALL_OBJECT && json_name_repeats(r->slots + f->base, s))
        return refuse(r, s->at, "duplicate name");
    f->seen |= bit;
    skip_space(r);
    if (UNLIKELY(r->p == r->end))
        return refuse(r, r->p, "text ends inside an object");
    if (UNLIKELY(*r->p != ':'))
        return refuse(r, r->p, "expected a colon");
    r->p++;
    return true;
}

/* ---- values ---- */

static bool number_fail(struct reader *r, const char *p)
{
    if (p == r->end)
        return refuse(r, p, "text ends inside a number");
    return refuse(r, p, "expected a digit");
}

/* r->p is on a minus sign or a digit. */
ALWAYS_INLINE bool number_scan(struct reader *r)
{
    const char *p = r->p, *end = r->end, *q;
    p += *p == '-';
    if (UNLIKELY(p == end || *p < '0' || *p > '9'))
        return number_fail(r, p);
    if (*p == '0') {
        p++;
        if (UNLIKELY(p < end && *p >= '0' && *p <= '9'))
            return refuse(r, p, "leading zero");
    } else {
        p = scan_digits(p, end);
    }
    if (p < end && *p == '.') {
        q = scan_digits(p + 1, end);
        if (UNLIKELY(q == p + 1))
            return number_fail(r, q);
        p = q;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        q = scan_digits(p, end);
        if (UNLIKELY(q == p))
            return number_fail(r, q);
        p = q;
    }
    r->p = p;
    return true;
}

__attribute__((cold, noinline)) static bool no_value(struct reader *r)
{
    if (r->p == r->end)
        return refuse(r, r->p, r->depth ? "text ends before a value" : "no value");
    if (r->p == r->start && r->end - r->p >= 3 && memcmp(r->p, "\xef\xbb\xbf", 3) == 0)
        return refuse(r, r->p, "byte order mark");
    if (r->depth && (*r->p == ']' || *r->p == '}' || *r->p == ','))
        return refuse(r, r->p, "a value is missing");
    return refuse(r, r->p, "not the start of a value");
}

static bool literal_scan(struct reader *r, enum json_type *type)
{
    static const struct {
        char text[6];
        unsigned char len, type;
    } words[] = {{"null", 4, JSON_NULL}, {"true", 4, JSON_TRUE}, {"false", 5, JSON_FALSE}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((size_t)(r->end - r->p) >= words[i].len && memcmp(r->p, words[i].text, words[i].len) == 0) {
            r->p += words[i].len;
            *type = (enum json_type)words[i].type;
            return true;
        }
    return no_value(r);
}

/* Hand a finished value to the container it stands in; the root goes to *root. */
ALWAYS_INLINE void value_place(struct reader *r, struct json *v, struct json **root)
{
    if (r->depth == 0)
        *root = v;
    else if (r->frames[r->depth - 1].object)
        r->slots[r->used - 1].value = v;
    else
        slot_push(r)->value = v;
}

/* A string, a number or a literal. */
ALWAYS_INLINE bool scalar_read(struct reader *r, const bool build, struct json **root)
{
    const char *at = r->p;
    struct span s = {at, 0, false};
    enum json_type type = JSON_STRING;
    if (*at == '"') {
        if (!string_scan(r, &s))
            return false;
    } else if (*at == '-' || (*at >= '0' && *at <= '9')) {
        type = JSON_NUMBER;
        if (!number_scan(r))
            return false;
    } else if (!literal_scan(r, &type)) {
        return false;
    }
    if (!build)
        return true;
    if (s.escaped)
        span_decode(r, &s);
    struct json *v = arena_alloc(r->arena, sizeof *v);
    v->type = type;
    v->raw = at;
    v->raw_len = (size_t)(r->p - at);
    v->str = type == JSON_STRING || type == JSON_NUMBER ? s.p : NULL;
    v->len = type == JSON_STRING ? s.n : type == JSON_NUMBER ? v->raw_len : 0;
    v->u.items = NULL;
    value_place(r, v, root);
    return true;
}

ALWAYS_INLINE bool container_open(struct reader *r)
{
    if (UNLIKELY(r->depth == JSON_DEPTH))
        return refuse(r, r->p, "nested too deeply");
    struct frame *f = &r->frames[r->depth++];
    f->open = r->p;
    f->base = r->used;
    f->seen = 0;
    f->object = *r->p++ == '{';
    skip_space(r);
    return true;
}

static void container_build(struct reader *r, const struct frame *f, struct json **root)
{
    size_t n = r->used - f->base;
    struct json *v = arena_alloc(r->arena, sizeof *v);
    v->type = f->object ? JSON_OBJECT : JSON_ARRAY;
    v->raw = f->open;
    v->raw_len = (size_t)(r->p - f->open);
    v->str = NULL;
    v->len = n;
    const struct slot *s = r->slots + f->base;
    if (f->object) {
        v->u.members = arena_alloc(r->arena, (n ? n : 1) * sizeof *v->u.members);
        for (size_t i = 0; i < n; i++)
            v->u.members[i] = (struct json_member){s[i].name, s[i].name_len, s[i].value};
    } else {
        v->u.items = arena_alloc(r->arena, (n ? n : 1) * sizeof *v->u.items);
        for (size_t i = 0; i < n; i++)
            v->u.items[i] = s[i].value;
    }
    r->used = f->base;
    value_place(r, v, root);
}

/* r->p is on the closing bracket of the innermost container. */
ALWAYS_INLINE bool container_close(struct reader *r, const bool build, struct json **root)
{
    const struct frame *f = &r->frames[--r->depth];
    r->p++;
    if (UNLIKELY(r->used - f->base > SMALL_OBJECT) && f->object) {
        const struct slot *twice = json_names_first_repeat(r->slots + f->base, r->used - f->base);
        if (twice)
            return refuse(r, twice->at, "duplicate name");
    }
    if (build)
        container_build(r, f, root);
    else
        r->used = f->base;
    return true;
}

/* Past a value: close what ends here and take the comma before the next one. *more says whether one follows. */
ALWAYS_INLINE bool value_after(struct reader *r, const bool build, struct json **root, bool *more)
{
    for (;;) {
        skip_space(r);
        *more = r->depth > 0;
        if (r->depth == 0)
            return r->p == r->end ? true : refuse(r, r->p, "text after the value");
        bool object = r->frames[r->depth - 1].object;
        if (UNLIKELY(r->p == r->end))
            return refuse(r, r->p, object ? "text ends inside an object" : "text ends inside an array");
        if (*r->p == ',') {
            r->p++;
            return object ? name_read(r) : true;
        }
        if (UNLIKELY(*r->p != (object ? '}' : ']')))
            return refuse(r, r->p,
                          object ? "expected a comma or a closing brace" : "expected a comma or a closing bracket");
        if (!container_close(r, build, root))
            return false;
    }
}

ALWAYS_INLINE bool walk(struct reader *r, const bool build, struct json **root)
{
    bool more = true;
    while (more) {
        skip_space(r);
        if (UNLIKELY(r->p == r->end))
            return no_value(r);
        if (*r->p == '{' || *r->p == '[') {
            if (!container_open(r))
                return false;
            bool object = r->frames[r->depth - 1].object;
            if (r->p == r->end || *r->p != (object ? '}' : ']')) {
                if (object && !name_read(r))
                    return false;
                continue;
            }
            if (!container_close(r, build, root))
                return false;
        } else if (!scalar_read(r, build, root)) {
            return false;
        }
        if (!value_after(r, build, root, &more))
            return false;
    }
    return true;
}

static void reader_start(struct reader *r, const char *p, size_t n, struct arena *arena, struct json_error *e)
{
    r->start = r->p = p;
    r->end = p + n;
    r->error = e;
    r->arena = arena;
    r->slots = r->first;
    r->used = 0;
    r->room = SLOTS_INLINE;
    r->depth = 0;
}

static void reader_end(struct reader *r)
{
    if (r->slots != r->first)
        free(r->slots);
}

bool json_valid(const char *p, size_t n, struct json_error *e)
{
    struct json_error unused;
    struct arena names = ARENA_INIT;
    struct reader r;
    reader_start(&r, n ? p : "", n, &names, e ? e : &unused);
    bool ok = walk(&r, false, NULL);
    reader_end(&r);
    if (names.first)
        arena_free(&names);
    return ok;
}

struct json *json_parse(const char *p, size_t n, struct arena *arena, struct json_error *e)
{
    struct json_error unused;
    struct json *root = NULL;
    struct reader r;
    reader_start(&r, n ? p : "", n, arena, e ? e : &unused);
    bool ok = walk(&r, true, &root);
    reader_end(&r);
    return ok ? root : NULL;
}

struct json *json_parse_named(const char *p, size_t n, struct arena *arena, const char *what, struct err *err)
{
    struct json_error e;
    struct json *v = json_parse(p, n, arena, &e);
    if (!v)
        err_set(err, ERR_REFUSED, "%s: byte %zu: %s", what, e.offset + 1, e.why);
    return v;
}
