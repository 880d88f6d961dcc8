/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict reader of RFC 8259. One loop serves json_valid and json_parse: it
 * is inlined into both with `build` known, so the two cannot disagree. It does
 * not recurse; open containers stand in a fixed array of JSON_DEPTH frames and
 * the tree is one growing array of nodes.
 */
#include "json/json.h"
#include "json/internal.h"
#include "json/scan.h"

#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    NAMES_INLINE = 96, /* a row line's names fit without an allocation */
    NODES_FIRST = 32,  /* what a tree begins with */
    SMALL_OBJECT = 16  /* up to here names are compared as they come, beyond in a hash table at the closing brace */
};

struct frame {
    size_t at;     /* where its node stands; without a tree, the first of its names */
    uint64_t seen; /* bit set of the tags of its names: an absent bit proves a name new */
    uint32_t count;
    bool object;
};

struct reader {
    const char *start, *p, *end;
    struct json_error *error;
    struct arena *arena; /* decoded strings, and the tree where there is one */
    struct json *nodes;  /* the tree as far as it is read; without one, the names of what is open */
    size_t used, room;
    unsigned depth;
    struct frame frames[JSON_DEPTH];
    struct json first[NAMES_INLINE];
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

/* A node for a checked span. The bytes of one with escapes are decoded into the arena, and where its text begins stands
 * before them. */
ALWAYS_INLINE void string_put(struct reader *r, const struct span *s, struct json *node)
{
    *node = (struct json){{s->p}, (unsigned)s->n & JSON_LEN_MAX, JSON_STRING, s->escaped};
    if (UNLIKELY(s->escaped)) {
        const char *at = s->p - 1;
        char *room = arena_alloc(r->arena, sizeof at + s->n);
        memcpy(room, &at, sizeof at);
        node->str = room + sizeof at;
        node->len = (unsigned)json_escape_decode(s->p, s->n, room + sizeof at) & JSON_LEN_MAX;
    }
}

/* ---- nodes ---- */

__attribute__((cold, noinline)) static void nodes_grow(struct reader *r, bool build)
{
    size_t had = r->room * sizeof *r->nodes;
    r->room = r->room ? r->room * 2 : NODES_FIRST;
    if (build) {
        r->nodes = arena_resize(r->arena, r->nodes, had, r->room * sizeof *r->nodes);
    } else if (r->nodes == r->first) {
        r->nodes = xmalloc(r->room * sizeof *r->nodes);
        memcpy(r->nodes, r->first, sizeof r->first);
    } else {
        r->nodes = xrealloc(r->nodes, r->room * sizeof *r->nodes);
    }
}

ALWAYS_INLINE struct json *node_push(struct reader *r, const bool build)
{
    if (UNLIKELY(r->used == r->room))
        nodes_grow(r, build);
    return &r->nodes[r->used++];
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

/* True when the name read last repeats one before it in its object. */
static bool name_repeats(const struct reader *r, const struct frame *f, const bool build)
{
    const struct json *name = r->nodes + r->used - 1, *at = r->nodes + f->at + build;
    while (at < name && (at->len != name->len || memcmp(at->str, name->str, name->len) != 0))
        at += build ? 1 + json_span(at + 1) : 1;
    return at < name;
}

ALWAYS_INLINE void skip_space(struct reader *r)
{
    const char *p = r->p;
    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    r->p = p;
}

/* A member's name and the colon after it. */
ALWAYS_INLINE bool name_read(struct reader *r, const bool build)
{
    skip_space(r);
    if (UNLIKELY(r->p == r->end))
        return refuse(r, r->p, "text ends inside an object");
    if (UNLIKELY(*r->p != '"'))
        return refuse(r, r->p, *r->p == '}' ? "comma before a closing brace" : "expected a name in quotes");
    const char *at = r->p;
    struct span name;
    if (!string_scan(r, &name))
        return false;
    struct json *node = node_push(r, build);
    string_put(r, &name, node);
    struct frame *f = &r->frames[r->depth - 1];
    f->count++;
    uint64_t tag = name_tag(node->str, node->len, name.escaped ? node->len : (size_t)(r->end - name.p));
    uint64_t bit = (uint64_t)1 << (tag >> 58);
    if (UNLIKELY(f->seen & bit) && f->count <= SMALL_OBJECT && name_repeats(r, f, build))
        return refuse(r, at, "duplicate name");
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

/* A string, a number or a literal. */
ALWAYS_INLINE bool scalar_read(struct reader *r, const bool build)
{
    const char *at = r->p;
    if (*at == '"') {
        struct span s;
        if (!string_scan(r, &s))
            return false;
        if (build)
            string_put(r, &s, node_push(r, build));
        return true;
    }
    enum json_type type = JSON_NUMBER;
    if (!(*at == '-' || (*at >= '0' && *at <= '9') ? number_scan(r) : literal_scan(r, &type)))
        return false;
    if (build)
        *node_push(r, build) = (struct json){
            {at}, type == JSON_NUMBER ? (unsigned)(r->p - at) & JSON_LEN_MAX : 0, type, 0};
    return true;
}

ALWAYS_INLINE bool container_open(struct reader *r, const bool build)
{
    if (UNLIKELY(r->depth == JSON_DEPTH))
        return refuse(r, r->p, "nested too deeply");
    struct frame *f = &r->frames[r->depth++];
    f->at = r->used;
    f->seen = 0;
    f->count = 0;
    f->object = *r->p == '{';
    if (build)
        *node_push(r, build) = (struct json){{r->p}, 0, f->object ? JSON_OBJECT : JSON_ARRAY, 0};
    r->p++;
    skip_space(r);
    return true;
}

__attribute__((cold, noinline)) static bool names_differ(struct reader *r, const struct frame *f, bool build)
{
    const struct json *twice = json_names_first_repeat(r->nodes + f->at + build, f->count,
                                                       build ? NAMES_AND_VALUES : NAMES_ALONE);
    return !twice || refuse(r, json_raw(twice).p, "duplicate name");
}

/* r->p is on the closing bracket of the innermost container. */
ALWAYS_INLINE bool container_close(struct reader *r, const bool build)
{
    const struct frame *f = &r->frames[--r->depth];
    r->p++;
    if (UNLIKELY(f->count > SMALL_OBJECT) && f->object && !names_differ(r, f, build))
        return false;
    if (build) {
        struct json *node = &r->nodes[f->at];
        const char *at = node->str;
        node->len = f->count & JSON_LEN_MAX;
        if (f->count > 0) {
            node->span = (uint32_t)(r->used - f->at);
            node->back = (uint32_t)(json_text_begin(json_first_scalar(node)) - at);
        }
    } else {
        r->used = f->at;
    }
    return true;
}

/* Past a value: close what ends here and take the comma before the next one. *more says whether one follows. */
ALWAYS_INLINE bool value_after(struct reader *r, const bool build, bool *more)
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
            return object ? name_read(r, build) : true;
        }
        if (UNLIKELY(*r->p != (object ? '}' : ']')))
            return refuse(r, r->p,
                          object ? "expected a comma or a closing brace" : "expected a comma or a closing bracket");
        if (!container_close(r, build))
            return false;
    }
}

ALWAYS_INLINE bool walk(struct reader *r, const bool build)
{
    bool more = true;
    while (more) {
        skip_space(r);
        if (UNLIKELY(r->p == r->end))
            return no_value(r);
        if (build && r->depth && !r->frames[r->depth - 1].object)
            r->frames[r->depth - 1].count++;
        if (*r->p == '{' || *r->p == '[') {
            if (!container_open(r, build))
                return false;
            bool object = r->frames[r->depth - 1].object;
            if (r->p == r->end || *r->p != (object ? '}' : ']')) {
                if (object && !name_read(r, build))
                    return false;
                continue;
            }
            if (!container_close(r, build))
                return false;
        } else if (!scalar_read(r, build)) {
            return false;
        }
        if (!value_after(r, build, &more))
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
    r->nodes = NULL;
    r->used = r->room = 0;
    r->depth = 0;
}

bool json_valid(const char *p, size_t n, struct json_error *e)
{
    struct json_error unused;
    struct arena names = ARENA_INIT;
    struct reader r;
    reader_start(&r, n ? p : "", n, &names, e ? e : &unused);
    r.nodes = r.first;
    r.room = NAMES_INLINE;
    bool ok = walk(&r, false);
    if (r.nodes != r.first)
        free(r.nodes);
    if (names.first)
        arena_free(&names);
    return ok;
}

struct json *json_parse(const char *p, size_t n, struct arena *arena, struct json_error *e)
{
    struct json_error unused;
    struct reader r;
    reader_start(&r, n ? p : "", n, arena, e ? e : &unused);
    bool ok = n <= JSON_TREE_MAX ? walk(&r, true) : refuse(&r, r.p, "longer than 256 MiB");
    if (r.nodes)
        r.nodes = arena_resize(arena, r.nodes, r.room * sizeof *r.nodes, r.used * sizeof *r.nodes);
    return ok ? r.nodes : NULL;
}

struct json *json_parse_named(const char *p, size_t n, struct arena *arena, const char *what, struct err *err)
{
    struct json_error e;
    struct json *v = json_parse(p, n, arena, &e);
    if (!v)
        err_set(err, ERR_REFUSED, "%s: byte %zu: %s", what, e.offset + 1, e.why);
    return v;
}
