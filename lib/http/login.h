/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a program that talks to ClickHouse, so that they are the same
 * in each: where it is, who asks, and how long it may take.
 */
#ifndef OWED_HTTP_LOGIN_H
#define OWED_HTTP_LOGIN_H

#include "base/options.h"
#include "http/http.h"

struct http_login {
    struct http_options o;
    const char *password_env, *password_file;
    char *password; /* malloc'd; http_login_free */
};
#define HTTP_LOGIN_INIT \
    ((struct http_login){.o = {.timeout_ms = HTTP_TIMEOUT_MS, .connect_timeout_ms = HTTP_CONNECT_TIMEOUT_MS}})
#define HTTP_LONGEST_MS 86400000

/* clang-format off */
/* Entries for a table of options (base/options.h); L points to the login, which the arguments must outlive. */
#define HTTP_LOGIN_OPTIONS(L) \
    OPT_TEXT("url", "URL", &(L)->o.url, "http://host[:port] or https://host[:port]; no user part"), \
    OPT_TEXT("user", "NAME", &(L)->o.user, "ClickHouse user"), \
    OPT_TEXT("password-env", "VAR", &(L)->password_env, "the password is in the environment variable VAR"), \
    OPT_TEXT("password-file", "FILE", &(L)->password_file, "the password is the first line of FILE"), \
    OPT_TEXT("cacert", "FILE", &(L)->o.cacert, "PEM file of the authorities to trust, in place of the system's"), \
    OPT_TEXT("client-cert", "FILE", &(L)->o.client_cert, "PEM file of the certificate that the server asks for"), \
    OPT_TEXT("client-key", "FILE", &(L)->o.client_key, "PEM file of its key, where it is not in the same file"), \
    OPT_U64("connect-timeout-ms", &(L)->o.connect_timeout_ms, 1, HTTP_LONGEST_MS, "how long a connection may take (10000)"), \
    OPT_U64("query-timeout-ms", &(L)->o.timeout_ms, 1, HTTP_LONGEST_MS, "a statement's time, on the server and here (30000)")
/* clang-format on */

/* All are given: they hold together, the password is read, and the connection could be prepared. ERR_REFUSED else. */
int http_login_settle(struct http_login *l, struct err *err);
void http_login_free(struct http_login *l);

#endif
