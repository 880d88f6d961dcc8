/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http: ClickHouse over HTTP on libcurl. One kept connection, settings as URL
 * parameters, quoting, and an answer that says how far a statement came.
 *
 * No redirect is followed, no proxy and no .netrc is taken from the environment,
 * TLS is verified, and the user's name and password travel as headers only. No
 * text that this module returns holds the password.
 */
#ifndef OWED_HTTP_H
#define OWED_HTTP_H

#include "base/base.h"
#include "stream/codes.h"

#define HTTP_CONNECT_TIMEOUT_MS 10000
#define HTTP_TIMEOUT_MS 30000

struct http_options {
    const char *url;             /* http://host[:port][/path] or https://; no user part, no query, no fragment */
    const char *user;            /* NULL: none is named and the server takes its default one */
    const char *password;        /* NULL: none */
    const char *cacert;          /* PEM file of the authorities to trust for https, instead of the system's; or NULL */
    const char *client_cert;     /* PEM file of the certificate that the server asks of its clients; or NULL */
    const char *client_key;      /* PEM file of its key; NULL: in client_cert */
    uint64_t connect_timeout_ms; /* 0: HTTP_CONNECT_TIMEOUT_MS */
    uint64_t timeout_ms;         /* for one statement, from its sending to its answer's last byte; 0: HTTP_TIMEOUT_MS */
};
#define HTTP_OPTIONS_INIT ((struct http_options){NULL, NULL, NULL, NULL, NULL, NULL, 0, 0})

struct http;

/* Check the options (ERR_REFUSED, without echoing the URL) and prepare. Opens no connection. The strings are copied. */
struct http *http_open(const struct http_options *o, struct err *err);
void http_close(struct http *h); /* NULL is fine */
/* scheme://host:port[/path], as the evidence and the observation name the server. Lives as long as h. */
const char *http_endpoint(const struct http *h);

struct http_setting {
    const char *name, *value;
};

/* How far a statement came. An INSERT may be repeated without a doubt only after HTTP_NOT_SENT.
 *
 * Every statement goes with a query id of its own and with wait_end_of_query=1, and what comes back counts only where
 * it shows that it is the server's own answer to this statement: status 200 and no exception, the query id once and as
 * it was sent, one well-formed summary, all of the body, and of an INSERT no body at all. A proxy's page, another
 * statement's answer or a bare 200 is in doubt. */
enum http_outcome {
    HTTP_DONE = 0, /* proven so */
    HTTP_NOT_SENT, /* no connection, or it ended before a byte of the body was given to it: nothing was executed */
    HTTP_ANSWERED, /* ClickHouse answered with an error: code > 0. What the code means for an INSERT is the caller's to
                      judge */
    HTTP_IN_DOUBT, /* the connection ended or the time ran out after something was sent, or what answered did not prove
                      to be the server's own: the statement may have been executed */
    HTTP_ABORTED   /* the caller's body callback gave up */
};

struct http_answer {
    enum http_outcome outcome;
    int code;            /* ClickHouse's exception code, 0 where there is none */
    long status;         /* HTTP status, 0 where no answer came */
    bool own;            /* the query id came back, once and as it was sent */
    bool unproven;       /* HTTP_IN_DOUBT: a whole answer of status 200 came that does not prove whose it is */
    bool spoken;         /* unproven: an INSERT was answered with a body, whatever it says */
    bool timed_out;      /* the client's own time ran out */
    bool new_connection; /* the answer came, or without one the data went, over a connection that no earlier statement
                            used */
    bool has_summary;    /* X-ClickHouse-Summary was there once and well formed; the three below are its numbers */
    uint64_t result_rows, read_rows, written_rows;
    uint64_t body_bytes; /* of the answer, as given to the callback */
    char text[700];      /* what went wrong, one printable line without the password, with the exception's code where
                            there is one; "" after HTTP_DONE */
};

/* Gets the body of an answer of status 200 as it comes: what it is worth is known at the end. Return 0 to go on; else
 * the statement is given up (HTTP_ABORTED) and the connection closed. Time spent in it counts towards timeout_ms. */
typedef int http_body_fn(void *ctx, const char *p, size_t n);

/* Run one statement and hand its body to fn (NULL: dropped). The text goes in the body of a POST. On a kept connection
 * that the server had closed it is sent once more, over a new one: for statements that change nothing. settings ends
 * with a NULL name, or is NULL. Returns the outcome, which *a holds too. */
enum http_outcome http_select(struct http *h, const char *sql, size_t sql_len, const struct http_setting *settings,
                              http_body_fn *fn, void *ctx, struct http_answer *a);

/* Run one INSERT: the statement's text in the URL, `body` as its data. Never sent twice. HTTP_DONE is the server's
 * acknowledgement of as many rows as written_rows says, which is the caller's to hold against what it sent. */
enum http_outcome http_insert(struct http *h, const char *sql, const struct http_setting *settings, const void *body,
                              size_t n, struct http_answer *a);

/* The most that an answer may hold by what was asked. A row may be missing, and is then for the caller to miss. */
struct http_asked {
    uint64_t rows;
    size_t bytes;
};
#define HTTP_ASKED_WORDS ((struct http_asked){1, (size_t)16 << 10}) /* one row of versions, names, numbers */
#define HTTP_ASKED_ROW ((struct http_asked){1, (size_t)16 << 20})   /* one row with a definition in it */
#define HTTP_ASKED_LIST ((struct http_asked){100000, (size_t)64 << 20})

/* As http_select for a small text answer: appended to out, at most max bytes (past it HTTP_ABORTED). */
enum http_outcome http_text(struct http *h, const char *sql, const struct http_setting *settings, size_t max,
                            struct buf *out, struct http_answer *a);

/* The cause of an answer that is not HTTP_DONE, by its outcome and ClickHouse's error code. */
struct cause http_cause(const struct http_answer *a);
/* Set *err from an answer that is not HTTP_DONE: ERR_TIMEOUT for the client's own time, else ERR_TROUBLE; text "what:
 * …"; its cause is http_cause. Returns -1. */
int http_err(const struct http_answer *a, const char *what, struct err *err);

/* Replace the connection's password wherever it stands in text (as is, percent-encoded, base64) by ***. In place:
 * cap counts the NUL. */
void http_scrub(const struct http *h, char *text, size_t cap);

/* ---- quoting ---- */

void http_quote_ident(struct buf *b, const char *p, size_t n); /* `name`, with \ and ` and control bytes escaped */
void http_quote_string(struct buf *b, const char *p,
                       size_t n); /* 'text'; any bytes, those that are not UTF-8 as \xNN */

#endif
