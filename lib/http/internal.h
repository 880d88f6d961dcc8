/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of http share: the handle, and one statement on its way. */
#ifndef OWED_HTTP_INTERNAL_H
#define OWED_HTTP_INTERNAL_H

#include <curl/curl.h>

#include "http/http.h"

/* The password as it may turn up in a text: as is, percent-encoded, base64, and base64 of user:password. */
#define HTTP_SECRETS 4

struct http {
    CURLM *multi; /* holds the kept connection between statements */
    CURL *easy;
    struct curl_slist *headers;
    char *endpoint, *cacert, *client_cert, *client_key;
    char *secrets[HTTP_SECRETS];
    uint64_t connect_ms, timeout_ms;
    uint64_t nonce[2], statements; /* together a query id that nobody else sends */
};

struct transfer {
    struct http *h;
    struct http_answer *a;
    http_body_fn *fn;
    void *ctx;
    const char *send; /* the INSERT's data, taken by curl piece by piece; NULL for other statements */
    size_t send_len, sent;
    bool late;      /* a connection was opened when data had been sent already: over the kept one, which then broke */
    bool exception; /* the exception header was there, whatever it held */
    bool aborted;
    unsigned ids, summaries; /* how often each header was there */
    char query_id[64];
    int64_t deadline;
    struct buf error; /* the body of an answer that is no result, cut at ERROR_BODY */
    char curl_text[CURL_ERROR_SIZE];
};

#define ERROR_BODY ((size_t)16 << 10)

/* curl's callbacks. */
size_t http_on_header(char *p, size_t size, size_t n, void *ctx);
size_t http_on_body(char *p, size_t size, size_t n, void *ctx);

/* The body's next bytes, of an answer of this status. As curl has it: how many were taken, fewer to give up. */
size_t http_take_body(struct transfer *t, long status, const char *p, size_t n);

/* Decide outcome and text of t->a once curl has come back with rc. */
void http_settle(struct transfer *t, CURLcode rc);
/* The same once t->a has the status; requested: bytes of the request went out. */
void http_decide(struct transfer *t, CURLcode rc, bool requested);

#endif
