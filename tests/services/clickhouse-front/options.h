/* SPDX-License-Identifier: Apache-2.0 */
/* A request's URL parameters: what is for the front, query parameters, and settings, which are all the
 * rest. Settings hold for the one statement, since its session is its own. */
#ifndef CLICKHOUSE_FRONT_OPTIONS_H
#define CLICKHOUSE_FRONT_OPTIONS_H

#include "engine.h"
#include "users.h"

#include <microhttpd.h>

struct options {
    const char *query, *default_format; /* the connection's memory */
    char query_id[64];
    bool wait_end, compress, in_session;
    const char *unsupported; /* a parameter that a server has and this front has not */
    const char *bad_name;    /* no setting can have this name */
    char *use;               /* USE …, or NULL */
    char *set;               /* SET … of all settings but readonly, or NULL */
    char *set_readonly;      /* SET readonly = …, or NULL */
    const char *readonly;    /* its value */
    struct options_setting {
        const char *name, *value;
    } * settings;
    size_t setting_count;
    struct engine_params params;
};

/* 0, or -1 when memory is out. Free it either way. */
int options_read(struct MHD_Connection *c, struct options *o);
void options_free(struct options *o);

/* The name of a setting that the user may not change and the request does, or NULL. */
const char *options_fixed_setting(const struct options *o, const struct user *u);
/* SET of the front's and the user's settings, readonly last. Allocated; NULL when memory is out. */
char *options_profile_sql(const struct user *u);
/* Whether the statement will run under a readonly setting. */
bool options_is_readonly(const struct options *o, const struct user *u);

#endif
