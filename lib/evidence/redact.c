/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials, taken out by name before anything is written. Better one
 * parameter too many than a password in a bundle; but a table's key columns
 * are evidence, so `key` alone is none.
 */
#include "evidence/evidence.h"

#include <ctype.h>
#include <string.h>

static const char *const inside[] = {"password", "passwd",     "passphrase",  "secret",     "token",        "credential",
                                     "jaas",     "apikey",     "api_key",     "access_key", "private_key",  "account_key",
                                     "ssl_key",  "signing_key", "shared_key", "master_key", "authorization", "encryption_key"};
static const char *const whole[] = {"auth", "bearer", "pwd", "pass", "sasl"};

bool redact_name(const char *name, size_t n)
{
    char plain[128];
    size_t len = 0;
    for (size_t i = 0; i < n && len < sizeof plain - 1; i++) {
        int c = tolower((unsigned char)name[i]);
        plain[len++] = (char)(c == '-' || c == '.' || c == ' ' ? '_' : c);
    }
    plain[len] = '\0';
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (strstr(plain, inside[i]))
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(plain, whole[i]) == 0)
            return true;
    return false;
}

/* The length of a URL's user part at p (just past "://"), its @ counted; 0 where it has none. */
static size_t user_part(const char *p, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n && !strchr("/?#'\"` \t\n", p[i]); i++)
        if (p[i] == '@')
            at = i + 1;
    return at;
}

static const char *const words[] = {"password", "passwd", "secret_access_key", "access_key_id", "secret", "token", "identified by"};

static size_t word_at(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (n > len && strncasecmp(p, words[i], len) == 0)
            return len;
    }
    return 0;
}

/* After a telling word: where its value begins and how long it is, 0 where there is none (a column of that name). */
static size_t value_after(const char *p, size_t n, size_t *from)
{
    size_t i = 0;
    bool assigned = false;
    if (i < n && strchr("\"'`", p[i]))
        i++;
    while (i < n && (p[i] == ' ' || p[i] == '=' || p[i] == ':'))
        assigned |= p[i++] != ' ';
    if (i >= n)
        return 0;
    char quote = p[i] == '\'' || p[i] == '"' ? p[i] : '\0';
    if (!quote && !assigned)
        return 0;
    if (quote == '"' && !assigned)
        return 0;
    size_t start = quote ? i + 1 : i, end = start;
    while (end < n && (quote ? p[end] != quote : !strchr(" &,;)\"'\n", p[end])))
        end += quote && p[end] == '\\' && end + 1 < n ? 2 : 1;
    *from = start;
    return end - start;
}

void redact_text(struct buf *out, const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t user, word, from, len;
        if (n - i > 3 && memcmp(p + i, "://", 3) == 0 && (user = user_part(p + i + 3, n - i - 3)) > 0) {
            buf_adds(out, "://" REDACTED "@");
            i += 3 + user;
        } else if ((word = word_at(p + i, n - i)) > 0 && (len = value_after(p + i + word, n - i - word, &from)) > 0) {
            buf_add(out, p + i, word + from);
            buf_adds(out, REDACTED);
            i += word + from + len;
        } else {
            buf_addc(out, p[i++]);
        }
    }
}

static void put_text(struct buf *out, const char *p, size_t n)
{
    struct buf masked = BUF_INIT;
    redact_text(&masked, p, n);
    json_put_str(out, masked.p ? masked.p : "", masked.len);
    buf_free(&masked);
}

void redact_put(struct buf *out, const struct json *v)
{
    switch (v->type) {
    case JSON_STRING:
        put_text(out, v->str, v->len);
        break;
    case JSON_ARRAY:
        buf_addc(out, '[');
        for (size_t i = 0; i < v->len; i++) {
            if (i > 0)
                buf_addc(out, ',');
            redact_put(out, v->u.items[i]);
        }
        buf_addc(out, ']');
        break;
    case JSON_OBJECT:
        buf_addc(out, '{');
        for (size_t i = 0; i < v->len; i++) {
            const struct json_member *m = &v->u.members[i];
            if (i > 0)
                buf_addc(out, ',');
            json_put_str(out, m->name, m->name_len);
            buf_addc(out, ':');
            if (redact_name(m->name, m->name_len) && m->value->type != JSON_NULL)
                json_put_s(out, REDACTED);
            else
                redact_put(out, m->value);
        }
        buf_addc(out, '}');
        break;
    default:
        buf_add(out, v->raw, v->raw_len);
    }
}
