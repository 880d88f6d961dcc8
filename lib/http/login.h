/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a program that reads from ClickHouse, so that they are the same
 * in each: where it is, who asks, and how long it may take.
 */
#ifndef OWED_HTTP_LOGIN_H
#define OWED_HTTP_LOGIN_H

#include <getopt.h>

#include "http/http.h"

struct http_login {
    struct http_options o;
    const char *password_env, *password_file;
    char *password; /* malloc'd; http_login_free */
};
#define HTTP_LOGIN_INIT \
    ((struct http_login){.o = {.timeout_ms = HTTP_TIMEOUT_MS, .connect_timeout_ms = HTTP_CONNECT_TIMEOUT_MS}})

/* Values of getopt_long for the options below. A program's own begin with HTTP_OPT_END. */
enum {
    HTTP_OPT_URL = 256,
    HTTP_OPT_USER,
    HTTP_OPT_PASSWORD_ENV,
    HTTP_OPT_PASSWORD_FILE,
    HTTP_OPT_CACERT,
    HTTP_OPT_QUERY_TIMEOUT,
    HTTP_OPT_CONNECT_TIMEOUT,
    HTTP_OPT_END
};

/* clang-format off */
#define HTTP_LONGOPTS \
    {"url", required_argument, NULL, HTTP_OPT_URL}, {"user", required_argument, NULL, HTTP_OPT_USER}, \
    {"password-env", required_argument, NULL, HTTP_OPT_PASSWORD_ENV}, {"password-file", required_argument, NULL, HTTP_OPT_PASSWORD_FILE}, \
    {"cacert", required_argument, NULL, HTTP_OPT_CACERT}, {"query-timeout-ms", required_argument, NULL, HTTP_OPT_QUERY_TIMEOUT}, \
    {"connect-timeout-ms", required_argument, NULL, HTTP_OPT_CONNECT_TIMEOUT}
/* clang-format on */

#define HTTP_LOGIN_HELP \
    "  --url=URL                 http://host[:port] or https://host[:port]; no user part\n" \
    "  --user=NAME               ClickHouse user\n" \
    "  --password-env=VAR        the password is in the environment variable VAR\n" \
    "  --password-file=FILE      the password is the first line of FILE\n" \
    "  --cacert=FILE             PEM file of the authorities to trust, in place of the system's\n" \
    "  --query-timeout-ms=N      a statement's time, on the server and here (30000)\n" \
    "  --connect-timeout-ms=N    (10000)\n"

/* Take the value of one of these options. 0, 1 where c is none of them, or -1 with *err. arg must outlive the login. */
int http_login_option(int c, const char *arg, struct http_login *l, struct err *err);
/* All are given: they hold together, the password is read, and the connection could be prepared. ERR_REFUSED else. */
int http_login_settle(struct http_login *l, struct err *err);
void http_login_free(struct http_login *l);

#endif
