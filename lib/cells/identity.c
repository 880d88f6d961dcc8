/* SPDX-License-Identifier: Apache-2.0 */
/* cells: UUID, IPv4 and IPv6, each in its one text. */
#include <arpa/inet.h>
#include <string.h>

#include "cells/internal.h"

#define UUID_TEXT 36
#define IP_TEXT 46 /* the longest, and a NUL */

static const char hex[] = "0123456789abcdef";

static void put_text(struct buf *out, const char *p, size_t n)
{
    buf_addc(out, '"');
    buf_add(out, p, n);
    buf_addc(out, '"');
}

/* ---- UUID ---- */

static bool is_dash(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

/* The lower-case text. False for what is no UUID of 36 characters. */
static bool read_uuid(const char *p, size_t n, char text[UUID_TEXT])
{
    if (n != UUID_TEXT)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] + ('a' - 'A')) : p[i];
        if (is_dash(i) ? c != '-' : c == '\0' || !strchr(hex, c))
            return false;
        text[i] = c;
    }
    return true;
}

enum cells_result owed_uuid(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    char text[UUID_TEXT];

    (void)c;
    if (v->type != JSON_STRING || !read_uuid(v->str, v->len, text))
        return wrong_kind(out, v, "not a UUID of 36 characters", why);
    put_text(out, text, sizeof text);
    return CELL_FIT;
}

bool check_uuid(const struct type *t, const char *p, size_t n, const char **why)
{
    char text[UUID_TEXT];

    (void)t;
    *why = "not a UUID in lower case";
    return read_uuid(p, n, text) && memcmp(text, p, n) == 0;
}

/* Two halves, the high one first, each from its low byte on. */
void put_uuid(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    char text[UUID_TEXT];
    size_t at = 0;

    (void)t;
    for (size_t i = 0; i < n; i++) {
        unsigned char b = p[i < 8 ? 7 - i : 23 - i];
        text[at++] = hex[b >> 4];
        text[at++] = hex[b & 15];
        if (is_dash(at))
            text[at++] = '-';
    }
    put_text(out, text, at);
}

/* ---- addresses ---- */

static size_t ipv4_text(char *to, const unsigned char *network)
{
    return (size_t)snprintf(to, IP_TEXT, "%u.%u.%u.%u", network[0], network[1], network[2], network[3]);
}

static bool is_mapped(const unsigned char *network)
{
    static const unsigned char prefix[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(network, prefix, sizeof prefix) == 0;
}

/* RFC 5952: the first of the longest runs of two and more zero groups is `::`. */
static size_t ipv6_text(char *to, const unsigned char *network)
{
    unsigned group[8], run = 0, best = 0, best_at = 8;
    size_t n = 0;

    if (is_mapped(network)) {
        memcpy(to, "::ffff:", 7);
        return 7 + ipv4_text(to + 7, network + 12);
    }
    for (unsigned i = 0; i < 8; i++) {
        group[i] = (unsigned)network[2 * i] << 8 | network[2 * i + 1];
        run = group[i] == 0 ? run + 1 : 0;
        if (run > best && run > 1) {
            best = run;
            best_at = i + 1 - run;
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        if (i == best_at) {
            to[n++] = ':';
            to[n++] = ':';
            i += best - 1;
            continue;
        }
        n += (size_t)snprintf(to + n, IP_TEXT - n, "%s%x", n > 0 && to[n - 1] != ':' ? ":" : "", group[i]);
    }
    return n;
}

static bool read_ip(const char *p, size_t n, int family, unsigned char *network)
{
    char text[IP_TEXT];

    if (n >= sizeof text || memchr(p, '\0', n))
        return false;
    memcpy(text, p, n);
    text[n] = '\0';
    return inet_pton(family, text, network) == 1;
}

/* The type's text of an address in any of its texts; an IPv6 column takes an IPv4 address as mapped, as the server
 * does. 0 for what is none. */
static size_t address_text(const struct type *t, const char *p, size_t n, char to[IP_TEXT])
{
    unsigned char network[16] = {[10] = 0xff, [11] = 0xff};

    if (n == 0)
        return 0;
    if (t->kind == TYPE_IPV4)
        return read_ip(p, n, AF_INET, network) ? ipv4_text(to, network) : 0;
    if (!read_ip(p, n, AF_INET6, network) && !read_ip(p, n, AF_INET, network + 12))
        return 0;
    return ipv6_text(to, network);
}

enum cells_result owed_ip(const struct column *c, const struct json *v, struct buf *out, const char **why)
{
    char text[IP_TEXT];
    size_t n = v->type == JSON_STRING ? address_text(&c->type, v->str, v->len, text) : 0;

    if (n == 0)
        return wrong_kind(out, v, c->type.kind == TYPE_IPV4 ? "not an IPv4 address" : "not an IPv6 address", why);
    put_text(out, text, n);
    return CELL_FIT;
}

bool check_ip(const struct type *t, const char *p, size_t n, const char **why)
{
    char text[IP_TEXT];

    *why = "not an address in its canonical text";
    return address_text(t, p, n, text) == n && memcmp(text, p, n) == 0;
}

void put_ipv4(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    const unsigned char network[4] = {p[3], p[2], p[1], p[0]};
    char text[IP_TEXT];

    (void)t, (void)n;
    put_text(out, text, ipv4_text(text, network));
}

void put_ipv6(struct buf *out, const struct type *t, const unsigned char *p, size_t n)
{
    char text[IP_TEXT];

    (void)t, (void)n;
    put_text(out, text, ipv6_text(text, p));
}
