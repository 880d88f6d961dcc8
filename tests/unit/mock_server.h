/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small HTTP server on loopback that answers from a script, one step a
 * request, for what a real server cannot be made to do: cut a connection at a
 * given byte, close it before or after the body, redirect, append an error's
 * text to rows, answer without an end. It keeps what it was sent, and $QUERY_ID
 * in an answer stands for the query id that its request had.
 */
#ifndef OWED_TEST_MOCK_SERVER_H
#define OWED_TEST_MOCK_SERVER_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"

enum mock_do {
    MOCK_ANSWER,      /* send reply, keep the connection */
    MOCK_CLOSE,       /* send reply, close the connection */
    MOCK_CUT_HEAD,    /* close before the body is read: nothing of it was asked for */
    MOCK_CUT_BODY,    /* read the whole request, close without an answer */
    MOCK_QUIET_CLOSE, /* send reply, then close at the next request, once that is read */
    MOCK_HANG,        /* read the request, and wait until the client goes */
    MOCK_ENDLESS,     /* send reply, then `again` over and over until the client goes */
    MOCK_DRIP         /* the same, with a pause before each */
};

#define MOCK_ID "X-ClickHouse-Query-Id: $QUERY_ID\r\n"
#define MOCK_PAUSE_MS 20

struct mock_step {
    enum mock_do what;
    struct buf reply; /* the whole answer, head and body */
    struct buf again;
};

#define MOCK_STEPS 32

struct mock {
    int fd;
    char url[64];
    pthread_t thread;
    struct mock_step steps[MOCK_STEPS];
    size_t n_steps;
    /* read after mock_stop */
    size_t done;
    unsigned connections, requests;
    struct buf heads[MOCK_STEPS], bodies[MOCK_STEPS];
};

/* Read one request; false where the client is gone. The body is left unread where read_body is false. */
static bool mock_request(struct mock *m, int fd, bool read_body)
{
    struct buf *head = &m->heads[m->done], *body = &m->bodies[m->done];
    char c;
    buf_reset(head);
    while (head->len < 4 || memcmp(head->p + head->len - 4, "\r\n\r\n", 4) != 0) {
        if (read(fd, &c, 1) != 1)
            return false;
        buf_addc(head, c);
    }
    m->requests++;
    const char *length = strcasestr(buf_str(head), "content-length:");
    size_t left = length != NULL ? strtoul(length + 15, NULL, 10) : 0;
    char block[65536];
    while (read_body && left > 0) {
        ssize_t n = read(fd, block, left < sizeof block ? left : sizeof block);
        if (n <= 0)
            return false;
        buf_add(body, block, (size_t)n);
        left -= (size_t)n;
    }
    return true;
}

/* False where the client is gone. */
static bool mock_send(int fd, const struct buf *b)
{
    for (size_t at = 0; at < b->len;) {
        ssize_t n = send(fd, b->p + at, b->len - at, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static void mock_reply(int fd, const struct mock_step *s, struct buf *head)
{
    static const char mark[] = "$QUERY_ID";
    const char *id = strstr(buf_str(head), "query_id="), *p = s->reply.p, *end = p + s->reply.len;
    size_t id_len = id != NULL ? strcspn(id + 9, "& ") : 0;
    struct buf b = BUF_INIT;
    for (const char *at; (at = memmem(p, (size_t)(end - p), mark, sizeof mark - 1)) != NULL; p = at + sizeof mark - 1) {
        buf_add(&b, p, (size_t)(at - p));
        buf_add(&b, id + 9, id_len);
    }
    buf_add(&b, p, (size_t)(end - p));
    bool there = mock_send(fd, &b);
    while (there && (s->what == MOCK_ENDLESS || s->what == MOCK_DRIP)) {
        if (s->what == MOCK_DRIP)
            sleep_ms(MOCK_PAUSE_MS);
        there = mock_send(fd, &s->again);
    }
    buf_free(&b);
}

/* A reset, not an orderly end, is what a dying peer looks like once it had unread bytes. */
static void mock_connection(struct mock *m, int fd)
{
    bool quiet = false;
    while (m->done < m->n_steps) {
        struct mock_step *s = &m->steps[m->done];
        if (!mock_request(m, fd, quiet || s->what != MOCK_CUT_HEAD))
            break;
        if (quiet) {
            buf_reset(&m->bodies[m->done]);
            break;
        }
        m->done++;
        if (s->what == MOCK_CUT_HEAD || s->what == MOCK_CUT_BODY)
            break;
        if (s->what == MOCK_HANG) {
            char c;
            while (read(fd, &c, 1) > 0)
                continue;
            break;
        }
        mock_reply(fd, s, &m->heads[m->done - 1]);
        if (s->what == MOCK_CLOSE || s->what == MOCK_ENDLESS || s->what == MOCK_DRIP)
            break;
        quiet = s->what == MOCK_QUIET_CLOSE;
    }
    close(fd);
}

static void *mock_main(void *arg)
{
    struct mock *m = arg;
    while (m->done < m->n_steps) {
        int fd = accept(m->fd, NULL, NULL);
        if (fd < 0)
            break;
        m->connections++;
        mock_connection(m, fd);
    }
    return NULL;
}

static inline void mock_listen(struct mock *m)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    memset(m, 0, sizeof *m);
    m->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (m->fd < 0 || bind(m->fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(m->fd, 16) != 0 ||
        getsockname(m->fd, (struct sockaddr *)&at, &len) != 0)
        abort();
    snprintf(m->url, sizeof m->url, "http://127.0.0.1:%u", ntohs(at.sin_port));
}

/* Steps are added before mock_start. head: header lines, each with its line's end, or "". */
static inline void mock_raw(struct mock *m, enum mock_do what, const char *p, size_t n)
{
    struct mock_step *s = &m->steps[m->n_steps++];
    s->what = what;
    buf_add(&s->reply, p, n);
}

static inline void mock_answer(struct mock *m, enum mock_do what, int status, const char *head, const char *body,
                               size_t n)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "HTTP/1.1 %d X\r\n%sContent-Length: %zu\r\n\r\n", status, head, n);
    buf_add(&b, body, n);
    mock_raw(m, what, b.p, b.len);
    buf_free(&b);
}

/* An answer as the server proves its own: `rows` in it, `written` by it. */
static inline void mock_own(struct mock *m, enum mock_do what, unsigned rows, unsigned written, const char *body,
                            size_t n)
{
    char head[200];
    snprintf(head, sizeof head,
             MOCK_ID "X-ClickHouse-Summary: {\"read_rows\":\"0\",\"written_rows\":\"%u\",\"result_rows\":\"%u\"}\r\n",
             written, rows);
    mock_answer(m, what, 200, head, body, n);
}

/* One without an end: its head, and what comes again and again after it. */
static inline void mock_forever(struct mock *m, enum mock_do what, const char *head, const char *again, size_t n)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "HTTP/1.1 200 OK\r\n%sConnection: close\r\n\r\n", head);
    mock_raw(m, what, b.p, b.len);
    buf_add(&m->steps[m->n_steps - 1].again, again, n);
    buf_free(&b);
}

static inline void mock_start(struct mock *m)
{
    if (pthread_create(&m->thread, NULL, mock_main, m) != 0)
        abort();
}

static inline void mock_stop(struct mock *m)
{
    shutdown(m->fd, SHUT_RDWR);
    pthread_join(m->thread, NULL);
    close(m->fd);
}

static inline void mock_free(struct mock *m)
{
    for (size_t i = 0; i < MOCK_STEPS; i++) {
        buf_free(&m->steps[i].reply);
        buf_free(&m->steps[i].again);
        buf_free(&m->heads[i]);
        buf_free(&m->bodies[i]);
    }
}

#endif
