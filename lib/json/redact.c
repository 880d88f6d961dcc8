/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials, taken out by name before anything is written. Better one
 * parameter too many than a password in a bundle; but a table's key columns
 * are evidence, so `key` alone is none.
 */
#include "json/redact.h"

#include <ctype.h>
#include <string.h>

/* The whole name, or its last part behind a separator. */
static const char *const last[] = {"auth", "bearer", "pass", "sasl", "cookie"};

bool redact_name(const char *name, size_t n)
{
    char plain[128];
    size_t len = 0, part = 0;
    for (size_t i = 0; i < n && len < sizeof plain - 1; i++) {
        if (isalnum((unsigned char)name[i]))
            plain[len++] = (char)tolower((unsigned char)name[i]);
        else if (i + 1 < n)
            part = len;
    }
    plain[len] = '\0';
    if (secret_word(name, n))
        return true;
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (strcmp(plain + part, last[i]) == 0)
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

/* A longer word before one that it begins with. */
static const char *const words[] = {"password by",
                                    "password",
                                    "passwd",
                                    "passphrase",
                                    "pwd",
                                    "secret_access_key",
                                    "access_key_id",
                                    "secret",
                                    "token",
                                    "identified by",
                                    "authorization",
                                    "api_key",
                                    "api-key",
                                    "apikey",
                                    "access_key",
                                    "accesskey",
                                    "accountkey",
                                    "private_key",
                                    "x-clickhouse-key",
                                    "x-amz-signature",
                                    "x-amz-credential",
                                    "?sig",
                                    "&sig"};

static size_t word_at(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (n > len && strncasecmp(p, words[i], len) == 0)
            return len;
    }
    return 0;
}

/* The value of a header goes to its end: a scheme's name stands before the credential. */
static const char *ends_of(const char *word)
{
    return strncasecmp(word, "authorization", 13) == 0 ? "\"'\n" : " &,;)\"'\n";
}

/* After a telling word: where its value begins and how long it is, 0 where there is none (a column of that name). */
static size_t value_after(const char *p, size_t n, const char *ends, size_t *from)
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
    while (end < n && (quote ? p[end] != quote : !strchr(ends, p[end])))
        end += quote && p[end] == '\\' && end + 1 < n ? 2 : 1;
    /* A quote that is written twice ends nothing. */
    while (quote == '\'' && end + 1 < n && p[end] == quote && p[end + 1] == quote)
        for (end += 2; end < n && p[end] != quote;)
            end += p[end] == '\\' && end + 1 < n ? 2 : 1;
    end = end < n ? end : n;
    *from = start;
    return end - start;
}

/* Functions and engines that take a credential by its place among their arguments. */
static const char *const takers[] = {"mysql",
                                     "postgresql",
                                     "mongodb",
                                     "redis",
                                     "remote",
                                     "remoteSecure",
                                     "s3",
                                     "s3Cluster",
                                     "S3Queue",
                                     "gcs",
                                     "oss",
                                     "cosn",
                                     "deltaLake",
                                     "hudi",
                                     "iceberg",
                                     "icebergS3",
                                     "icebergAzure",
                                     "azureBlobStorage",
                                     "azureBlobStorageCluster",
                                     "AzureQueue",
                                     "deltaLakeCluster",
                                     "icebergS3Cluster",
                                     "icebergCluster",
                                     "hudiCluster",
                                     "ExternalDistributed",
                                     "MaterializedPostgreSQL",
                                     "MaterializedMySQL",
                                     "encrypt",
                                     "decrypt",
                                     "aes_encrypt_mysql",
                                     "aes_decrypt_mysql",
                                     "tryDecrypt"};

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || ((unsigned char)c & 0x80) != 0;
}

/* The length of such a one's name at p with the bracket behind it; 0 where none begins there. */
static size_t taker_at(const char *p, size_t n)
{
    size_t len = 0, open;
    while (len < n && in_word(p[len]))
        len++;
    for (open = len; open < n && p[open] == ' ';)
        open++;
    if (len == 0 || open == n || p[open] != '(')
        return 0;
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strlen(takers[i]) == len && strncasecmp(p, takers[i], len) == 0)
            return open + 1;
    return 0;
}

/* The length of a text in quotes at p; all of it where it does not end. */
static size_t quoted(const char *p, size_t n)
{
    size_t i = 1;
    while (i < n)
        if (p[i] == '\\')
            i += 2;
        else if (p[i] == *p && i + 1 < n && p[i + 1] == *p)
            i += 2;
        else if (p[i++] == *p)
            break;
    return i < n ? i : n;
}

/* Where a text stands among the arguments of a taker: what it reads from stays, every text behind that goes. */
struct taken {
    size_t depth; /* brackets that are open; 0: in no taker */
    bool first;
    size_t text_end; /* brackets and commas before it are a text's */
};

static void step(struct taken *t, const char *p, size_t n, size_t i)
{
    if (t->depth == 0 || i < t->text_end)
        return;
    if (p[i] == '\'')
        t->text_end = i + quoted(p + i, n - i);
    t->depth += p[i] == '(';
    t->depth -= p[i] == ')';
    t->first = t->first && p[i] != ',';
}

/* A private key in PEM, to the end of the text. */
static bool key_begins(const char *p, size_t n)
{
    static const char begin[] = "-----BEGIN ", key[] = "PRIVATE KEY-----";
    size_t head = sizeof begin - 1;
    return n > head && memcmp(p, begin, head) == 0 && memmem(p, n < 80 ? n : 80, key, sizeof key - 1);
}

void redact_text(struct buf *out, const char *p, size_t n)
{
    struct taken taken = {.depth = 0};
    for (size_t i = 0; i < n;) {
        size_t user, word, from, len;
        if (key_begins(p + i, n - i)) {
            buf_adds(out, REDACTED);
            return;
        }
        if (n - i > 3 && memcmp(p + i, "://", 3) == 0 && (user = user_part(p + i + 3, n - i - 3)) > 0) {
            buf_adds(out, "://" REDACTED "@");
            i += 3 + user;
        } else if ((word = word_at(p + i, n - i)) > 0 &&
                   (len = value_after(p + i + word, n - i - word, ends_of(p + i), &from)) > 0) {
            buf_add(out, p + i, word + from);
            buf_adds(out, REDACTED);
            i += word + from + len;
        } else if (taken.depth > 0 && !taken.first && i >= taken.text_end && p[i] == '\'') {
            buf_adds(out, "'" REDACTED "'");
            i += quoted(p + i, n - i);
        } else if (i >= taken.text_end && (i == 0 || !in_word(p[i - 1])) && (len = taker_at(p + i, n - i)) > 0) {
            buf_add(out, p + i, len);
            taken = (struct taken){taken.depth + 1, true, 0};
            i += len;
        } else {
            step(&taken, p, n, i);
            buf_addc(out, p[i++]);
        }
    }
}

void jw_redacted(struct json_w *w, const char *name, const char *s)
{
    struct buf text = BUF_INIT;
    redact_text(&text, s ? s : "", s ? strlen(s) : 0);
    jw_shown(w, name, s ? buf_str(&text) : NULL);
    buf_free(&text);
}

static void put_text(struct buf *out, const char *p, size_t n)
{
    struct buf masked = BUF_INIT;
    redact_text(&masked, p, n);
    json_put_str(out, masked.p ? masked.p : "", masked.len);
    buf_free(&masked);
}

static bool is_credential(const struct json *name)
{
    return name && name->type == JSON_STRING && redact_name(name->str, name->len);
}

/* {"name":"password","value":…}: the name stands beside its value. */
static bool is_pair(const struct json *v)
{
    return json_get(v, "value") && (is_credential(json_get(v, "name")) || is_credential(json_get(v, "key")));
}

/* Whose names tell: a document's; an operator's, whose program is none; of nobody, the texts alone. */
enum names { DOCUMENTS, OPERATORS, NOBODYS };

static void put(struct buf *out, const struct json *v, enum names names);

static void put_object(struct buf *out, const struct json *v, enum names names)
{
    bool pair = names != NOBODYS && is_pair(v);
    buf_addc(out, '{');
    for (const struct json *m = json_first(v); m; m = json_next(v, m)) {
        bool hide = names != NOBODYS && (redact_name(m->str, m->len) || (pair && json_is(m, "value")));
        if (m != json_first(v))
            buf_addc(out, ',');
        json_put_str(out, m->str, m->len);
        buf_addc(out, ':');
        if (hide && json_value(m)->type != JSON_NULL)
            json_put_s(out, REDACTED);
        else if (names == OPERATORS && json_is(m, "program") && json_value(m)->type == JSON_STRING)
            json_put_raw(out, json_value(m));
        else
            put(out, json_value(m), names);
    }
    buf_addc(out, '}');
}

/* Arguments of a program: an option's value is the next one. */
static void put_array(struct buf *out, const struct json *v, enum names names)
{
    buf_addc(out, '[');
    const struct json *before = NULL;
    for (const struct json *item = json_first(v); item; before = item, item = json_next(v, item)) {
        if (before)
            buf_addc(out, ',');
        if (is_credential(before) && before->str[0] == '-' && !memchr(before->str, '=', before->len))
            json_put_s(out, REDACTED);
        else
            put(out, item, names);
    }
    buf_addc(out, ']');
}

static void put(struct buf *out, const struct json *v, enum names names)
{
    switch (v->type) {
    case JSON_STRING: put_text(out, v->str, v->len); break;
    case JSON_ARRAY: put_array(out, v, names); break;
    case JSON_OBJECT: put_object(out, v, names); break;
    default: json_put_raw(out, v);
    }
}

void redact_put(struct buf *out, const struct json *v)
{
    put(out, v, DOCUMENTS);
}

void redact_operators(struct buf *out, const struct json *v)
{
    put(out, v, OPERATORS);
}

void redact_texts(struct buf *out, const struct json *v)
{
    put(out, v, NOBODYS);
}
