/* SPDX-License-Identifier: Apache-2.0 */
/* One request that carries a statement: who asks, which settings, what is run, how it is answered. */
#ifndef CLICKHOUSE_FRONT_QUERY_H
#define CLICKHOUSE_FRONT_QUERY_H

#include "users.h"

#include <microhttpd.h>

struct query_request {
    struct MHD_Connection *conn;
    const char *method;
    int body_fd; /* a memfd holding the body */
    size_t body_len;
};

/* What serverUUID() answers; set once at start. */
extern char query_server_uuid[37];

/* The user that the request's credentials name, or NULL after it was answered with code 516; *queued
 * is then what to return. */
const struct user *query_authenticate(struct MHD_Connection *c, enum MHD_Result *queued);

/* Runs the request's statement and answers it. MHD_NO cuts the connection. */
enum MHD_Result query_run(const struct query_request *q);

#endif
