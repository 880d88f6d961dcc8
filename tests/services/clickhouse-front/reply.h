/* SPDX-License-Identifier: Apache-2.0 */
/* Answers as ClickHouse's HTTP interface gives them: status, headers, bodies, exceptions.
 * Every function answers the connection and takes over the answers and sessions it is given. */
#ifndef CLICKHOUSE_FRONT_REPLY_H
#define CLICKHOUSE_FRONT_REPLY_H

#include "engine.h"

#include <microhttpd.h>

/* What all answers say of the server; set once at start. */
struct reply_server {
    char version[64], timezone[64];
};
extern struct reply_server reply_server;

struct reply_meta {
    char query_id[64];
    char format[64];
    bool compress;  /* the body goes in frames, an exception's too */
    bool has_limit; /* cut the connection after limit bytes of the body */
    size_t limit;
};

/* Whether the format's blocks can be joined to one document. */
bool reply_can_stream(const char *format);

/* The engine's error text, as a whole answer. */
enum MHD_Result reply_exception(struct MHD_Connection *c, const struct reply_meta *m, const char *error);
/* An error of the front's own: text with a code and the code's name. */
__attribute__((format(printf, 5, 6))) enum MHD_Result reply_error(struct MHD_Connection *c, const struct reply_meta *m,
                                                                  int code, const char *name, const char *format, ...);
/* A given status with a body of text; no exception. */
enum MHD_Result reply_text(struct MHD_Connection *c, unsigned status, const char *text);
/* A whole result. The summary's counts are exact. */
enum MHD_Result reply_answer(struct MHD_Connection *c, const struct reply_meta *m, struct answer a);
/* A stream from its first block on. The summary, sent before the body, has no counts. A later error
 * ends the body with an exception block and a broken transfer. */
enum MHD_Result reply_stream(struct MHD_Connection *c, const struct reply_meta *m, struct session *s,
                             struct answer stream, struct answer first);

#endif
