/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session: which settings go with every statement, statements that answer
 * with texts, and what an error means for the check.
 */
#include <stdlib.h>
#include <string.h>

#include "chread/decode.h"
#include "chread/session.h"
#include "stream/neutral.h"

int chread_say(struct chread_why *why, enum status status, const struct cause *cause, const char *fmt, ...)
{
    struct buf b = BUF_INIT, shown = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    /* A server's own words may be any bytes, and a reason is cut between characters. */
    msg_mask(&shown, b.p, b.len);
    size_t n = shown.len;
    if (n >= sizeof why->reason)
        for (n = sizeof why->reason - 1; n > 0 && ((unsigned char)shown.p[n] & 0xc0) == 0x80; n--)
            continue;
    struct cause own = *cause; /* which may be the one that why holds */
    *why = (struct chread_why){.status = status, .cause = own};
    memcpy(why->reason, shown.p, n);
    buf_free(&b);
    buf_free(&shown);
    return -1;
}

int session_why(const struct http_answer *a, const char *what, struct chread_why *why)
{
    struct cause cause = http_cause(a);
    const char *setting = cause_fact(&cause, "setting"), *option = cause_fact(&cause, "option");
    if (cause.code == CODE_SETTING_FIXED && option)
        return chread_say(why, STATUS_UNAVAILABLE, &cause,
                          "%s: %s is fixed for this user: give %s as the profile has it: %s", what, setting, option,
                          a->text);
    return chread_say(why, STATUS_UNAVAILABLE, &cause,
                      cause.code == CODE_SETTINGS_NOT_ALLOWED ? "%s: the user may not send settings: %s" : "%s: %s",
                      what, a->text);
}

struct http_setting *session_settings(struct chread *c, uint64_t max_rows, char number[24])
{
    struct http_setting *s = xcalloc(c->n_settings + 3, sizeof *s);
    for (size_t i = 0; i < c->n_settings; i++)
        s[i] = (struct http_setting){c->settings[i].name, c->settings[i].value};
    snprintf(number, 24, "%" PRIu64, max_rows);
    s[c->n_settings] = (struct http_setting){"max_result_rows", number}; /* and room for one more */
    return s;
}

/* ---- answers of texts ---- */

/* 0, or -1 for what is no such answer; a row more than was asked is kept from being taken, and is one too many. */
static int split(const struct buf *b, size_t columns, uint64_t most, struct texts *t)
{
    const unsigned char *p = (const unsigned char *)b->p;
    size_t left = b->len;
    while (left > 0) {
        if (t->n == most)
            return -1;
        char **row = arena_alloc(&t->arena, columns * sizeof *row);
        for (size_t i = 0; i < columns; i++) {
            uint64_t len = 0;
            size_t k = 0;
            if (decode_varint(p, left, &len, &k) != 1 || len > left - k)
                return -1;
            row[i] = arena_strndup(&t->arena, (const char *)p + k, (size_t)len);
            p += k + (size_t)len;
            left -= k + (size_t)len;
        }
        if (t->n == t->cap) {
            t->cap = t->cap == 0 ? 16 : 2 * t->cap;
            t->rows = xrealloc(t->rows, t->cap * sizeof *t->rows);
        }
        t->rows[t->n++] = row;
    }
    return 0;
}

void texts_free(struct texts *t)
{
    free(t->rows);
    arena_free(&t->arena);
    *t = (struct texts)TEXTS_INIT;
}

int session_take(const struct buf *answer, uint64_t counted, size_t columns, uint64_t most, struct texts *t,
                 const char *what, struct chread_why *why)
{
    if (split(answer, columns, most, t) != 0)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                          "%s: the answer is not the %" PRIu64 " rows of %zu texts, at most, that were asked for", what,
                          most, columns);
    if (counted != t->n)
        return chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                          "%s: the answer's end is not proven: the server counted %" PRIu64 " rows and %zu came", what,
                          counted, t->n);
    return 0;
}

int session_texts(struct chread *c, const char *sql, size_t columns, struct http_asked asked, struct texts *t,
                  const char *what, struct chread_why *why)
{
    struct buf b = BUF_INIT, text = BUF_INIT;
    struct http_answer a;
    char number[24];
    buf_printf(&text, "%s FORMAT RowBinary", sql);
    struct http_setting *settings = session_settings(c, asked.rows, number);
    enum http_outcome got = http_text(c->http, buf_str(&text), settings, asked.bytes, &b, &a);
    free(settings);
    c->code = a.code;
    c->unproven = a.unproven;
    int status = 0;
    if (got == HTTP_ABORTED)
        status = chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                            "%s: the answer is larger than %zu bytes", what, asked.bytes);
    else if (got != HTTP_DONE)
        status = session_why(&a, what, why);
    else
        status = session_take(&b, a.result_rows, columns, asked.rows, t, what, why);
    t->new_connection = a.new_connection;
    buf_free(&b);
    buf_free(&text);
    return status;
}

void session_from(struct buf *sql, const struct chread_expect *expect)
{
    buf_adds(sql, " FROM ");
    http_quote_ident(sql, expect->database, strlen(expect->database));
    buf_addc(sql, '.');
    http_quote_ident(sql, expect->table, strlen(expect->table));
}

int session_ask(struct chread *c, const struct chread_expect *expect, const struct chread_table *t, const char *sql,
                size_t columns, struct http_asked asked, struct texts *x, const char *what, struct chread_why *why)
{
    int status = session_texts(c, sql, columns, asked, x, what, why);
    if (x->new_connection && chread_look_again(c, expect, t, why) != 0)
        return -1;
    return status != 0;
}

/* ---- settings ---- */

static void push_setting(struct chread *c, const char *name, const char *value)
{
    if ((c->n_settings & (c->n_settings - 1)) == 0) /* full: the room is a power of two */
        c->settings = xrealloc(c->settings, (c->n_settings == 0 ? 1 : 2 * c->n_settings) * sizeof *c->settings);
    c->settings[c->n_settings++] = (struct chread_setting){xstrdup(name), xstrdup(value)};
}

static void add_setting(struct chread *c, const char *name, const char *value)
{
    if (map_find(&c->setting_names, name, strlen(name)))
        return;
    push_setting(c, name, value);
    map_add(&c->setting_names, c->settings[c->n_settings - 1].name, strlen(name), c->n_settings - 1);
}

int session_offer(struct chread *c, const struct chread_expect *expect, const struct chread_table *t, const char *name,
                  const char *value, struct chread_why *why)
{
    struct buf sql = BUF_INIT;
    struct texts x = TEXTS_INIT;
    push_setting(c, name, value);
    buf_printf(&sql, "SELECT toString(getSetting('%s'))", name);
    int status = session_ask(c, expect, t, buf_str(&sql), 1, HTTP_ASKED_WORDS, &x, "asking for a setting", why);
    bool taken = status == 0 && x.n == 1 && strcmp(x.rows[0][0], value) == 0;
    /* Unknown, or not to be sent by this user. */
    bool refused = status == 1 && (c->code == 115 || c->code == 164 || c->code == 452);
    if (!taken) {
        struct chread_setting *last = &c->settings[--c->n_settings];
        free(last->name);
        free(last->value);
    }
    texts_free(&x);
    buf_free(&sql);
    return status == 0 || refused ? 0 : -1;
}

static void add_always(struct chread *c)
{
    char seconds[24];
    uint64_t ms = c->o->http.timeout_ms != 0 ? c->o->http.timeout_ms : HTTP_TIMEOUT_MS;
    for (size_t i = 0; i < neutral_settings_n; i++)
        if (neutral_settings[i].always)
            add_setting(c, neutral_settings[i].name, neutral_settings[i].value);
    snprintf(seconds, sizeof seconds, "%" PRIu64, ms / 1000 + (ms % 1000 != 0));
    add_setting(c, "max_execution_time", seconds);
}

static void take_limit(const char *name, const char *value, struct chread_limits *l)
{
    uint64_t v;
    if (!scan_u64(value, strlen(value), &v) || v == 0)
        return;
    if (strcmp(name, "max_query_size") == 0)
        l->bytes = v;
    else if (strcmp(name, "max_ast_elements") == 0 && v < l->elements)
        l->elements = v;
    else if (strcmp(name, "max_expanded_ast_elements") == 0 && v < l->elements)
        l->elements = v;
}

void session_take_settings(struct chread *c, const struct texts *t)
{
    c->limits = (struct chread_limits){c->o->keys_per_query, 262144, 50000};
    for (size_t i = 0; i < t->n; i++) {
        const char *name = t->rows[i][0], *value = neutral_value(name);
        if (value)
            add_setting(c, name, value);
        else
            take_limit(name, t->rows[i][1], &c->limits);
    }
    /* The server's own count of elements is not ours to the last one. */
    c->limits.elements -= c->limits.elements / 8;
}

/* Read which of the settings this server knows, and how long a statement may be for this user: without IN, whose set
 * the profile may bound. */
static int read_settings(struct chread *c, struct chread_why *why)
{
    struct buf sql = BUF_INIT;
    struct texts t = TEXTS_INIT;
    buf_adds(&sql, "SELECT name, value FROM system.settings WHERE name LIKE '%overflow\\\\_mode%'"
                   " OR position(',max_query_size,max_ast_elements,max_expanded_ast_elements");
    for (size_t i = 0; i < neutral_settings_n; i++)
        if (!neutral_settings[i].always)
            buf_printf(&sql, ",%s", neutral_settings[i].name);
    for (size_t i = 0; c->o->json_text && i < json_settings_n; i++)
        buf_printf(&sql, ",%s", json_settings[i].name);
    buf_adds(&sql, ",', concat(',', name, ',')) > 0 ORDER BY name");
    int status = session_texts(c, buf_str(&sql), 2, HTTP_ASKED_LIST, &t, "reading system.settings", why);
    if (status == 0)
        session_take_settings(c, &t);
    texts_free(&t);
    buf_free(&sql);
    const char *need = c->o->json_text ? json_as_text(chread_format_word(c->o->format)) : NULL;
    if (status == 0 && need && !map_find(&c->setting_names, need, strlen(need)))
        status = chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_SERVER_UNSUPPORTED),
                            "the server has no setting %s, and gives no JSON as its text without it", need);
    return status;
}

/* ---- the line ---- */

bool chread_line_supported(const char *version)
{
    char *end;
    unsigned long major = strtoul(version, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return major > 24 || (major == 24 && minor >= 3);
}

static int old_line(struct chread_why *why, const char *version)
{
    return chread_say(why, STATUS_UNSUPPORTED, BECAUSE(CODE_SERVER_UNSUPPORTED),
                      "the server is ClickHouse %s; lines before 24.3 are not supported", version);
}

/* A server that does not know one of the settings, or proves no answer, is asked for its version alone, to be named: an
 * old one gives neither query id nor summary, and nothing but its refusal hangs on what it says here. */
static int name_old_line(struct chread *c, struct chread_why *why)
{
    static const struct http_setting bare[] = {{"readonly", "2"}, {NULL, NULL}};
    struct buf b = BUF_INIT;
    struct http_answer a;
    struct texts t = TEXTS_INIT;
    int status = -1;
    http_text(c->http, "SELECT version() FORMAT RowBinary", bare, HTTP_ASKED_WORDS.bytes, &b, &a);
    if ((a.outcome == HTTP_DONE || a.unproven) && split(&b, 1, 1, &t) == 0 && t.n == 1 &&
        !chread_line_supported(t.rows[0][0])) {
        struct buf shown = BUF_INIT;
        msg_mask(&shown, t.rows[0][0], strlen(t.rows[0][0]));
        status = old_line(why, buf_str(&shown));
        buf_free(&shown);
    }
    texts_free(&t);
    buf_free(&b);
    return status;
}

int chread_open(struct chread *c, const struct chread_options *o, struct chread_why *why)
{
    struct err err = ERR_INIT;
    struct texts t = TEXTS_INIT;
    *c = (struct chread){.o = o};
    c->http = http_open(&o->http, &err);
    if (!c->http) {
        struct cause cause = code_of_err(&err, CODE_USAGE);
        chread_say(why, STATUS_UNAVAILABLE, &cause, "%s", err.text);
        why->refused = err.kind == ERR_REFUSED;
        return -1;
    }
    add_always(c);
    int status = session_texts(c, "SELECT version()", 1, HTTP_ASKED_WORDS, &t, "connecting", why);
    if (status != 0 && (c->code == 115 || c->unproven))
        status = name_old_line(c, why);
    else if (status == 0 && t.n != 1)
        status = chread_say(why, STATUS_UNAVAILABLE, BECAUSE(CODE_ANSWER_BROKEN),
                            "connecting: the server gave no version");
    else if (status == 0 && !chread_line_supported(t.rows[0][0]))
        status = old_line(why, t.rows[0][0]);
    texts_free(&t);
    return status == 0 ? read_settings(c, why) : status;
}

void chread_close(struct chread *c)
{
    for (size_t i = 0; i < c->n_settings; i++) {
        free(c->settings[i].name);
        free(c->settings[i].value);
    }
    free(c->settings);
    map_free(&c->setting_names);
    http_close(c->http);
    *c = (struct chread){0};
}
