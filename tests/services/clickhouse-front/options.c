/* SPDX-License-Identifier: Apache-2.0 */
/* URL parameters to settings, query parameters and options. */
#include "options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static bool in_list(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static bool is_setting_name(const char *name)
{
    if (*name == '\0')
        return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* Appends NAME = 'value' to a SET, beginning it where *sql is NULL. */
static int append_setting(char **sql, const char *name, const char *value)
{
    size_t have = *sql != NULL ? strlen(*sql) : 0;
    char *grown = realloc(*sql, have + strlen(name) + 2 * strlen(value) + 16), *at;

    if (grown == NULL)
        return -1;
    *sql = grown;
    at = grown + have;
    at += sprintf(at, "%s%s = '", have > 0 ? ", " : "SET ", name);
    for (; *value != '\0'; value++) {
        if (*value == '\'' || *value == '\\')
            *at++ = '\\';
        *at++ = *value;
    }
    strcpy(at, "'");
    return 0;
}

static char *use_sql(const char *database)
{
    char *sql = malloc(2 * strlen(database) + 8), *at = sql;

    if (sql == NULL)
        return NULL;
    at += sprintf(at, "USE `");
    for (; *database != '\0'; database++) {
        if (*database == '`' || *database == '\\')
            *at++ = '\\';
        *at++ = *database;
    }
    strcpy(at, "`");
    return sql;
}

static int add_param(struct engine_params *p, const char *name, const char *value, size_t value_len)
{
    size_t n = p->count + 1;
    const char **names = realloc(p->names, n * sizeof *names), **values;
    size_t *name_lens, *value_lens;

    if (names == NULL)
        return -1;
    p->names = names;
    values = realloc(p->values, n * sizeof *values);
    if (values == NULL)
        return -1;
    p->values = values;
    name_lens = realloc(p->name_lens, n * sizeof *name_lens);
    if (name_lens == NULL)
        return -1;
    p->name_lens = name_lens;
    value_lens = realloc(p->value_lens, n * sizeof *value_lens);
    if (value_lens == NULL)
        return -1;
    p->value_lens = value_lens;
    names[p->count] = name;
    name_lens[p->count] = strlen(name);
    values[p->count] = value;
    value_lens[p->count] = value_len;
    p->count = n;
    return 0;
}

static int add_setting(struct options *o, const char *name, const char *value)
{
    struct options_setting *grown = realloc(o->settings, (o->setting_count + 1) * sizeof *grown);

    if (grown == NULL)
        return -1;
    o->settings = grown;
    grown[o->setting_count++] = (struct options_setting){name, value};
    if (!is_setting_name(name)) {
        o->bad_name = name;
        return 0;
    }
    if (strcmp(name, "readonly") == 0) {
        o->readonly = value;
        free(o->set_readonly);
        o->set_readonly = NULL;
        return append_setting(&o->set_readonly, name, value);
    }
    return append_setting(&o->set, name, value);
}

struct reading {
    struct options *options;
    int rc;
};

static enum MHD_Result take(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value,
                            size_t value_len)
{
    static const char *const ignored[] = {
        "user",     "password",   "quota_key",     "buffer_size",     "stacktrace",    "client_protocol_version",
        "database", "session_id", "session_check", "session_timeout", "close_session", NULL};
    static const char *const unsupported[] = {"role", "decompress", "framing", NULL};
    struct reading *r = cls;
    struct options *o = r->options;

    (void)kind;
    (void)name_len;
    if (value == NULL)
        value = "";
    o->in_session = o->in_session || strcmp(name, "session_id") == 0;
    if (strcmp(name, "query") == 0)
        o->query = value;
    else if (strcmp(name, "default_format") == 0)
        o->default_format = value;
    else if (strcmp(name, "query_id") == 0)
        snprintf(o->query_id, sizeof o->query_id, "%s", value);
    else if (strcmp(name, "wait_end_of_query") == 0)
        o->wait_end = strcmp(value, "0") != 0;
    else if (strcmp(name, "compress") == 0)
        o->compress = strcmp(value, "0") != 0;
    else if (strncmp(name, "param_", 6) == 0)
        r->rc = add_param(&o->params, name + 6, value, value_len);
    else if (in_list(name, unsupported) && strcmp(value, "0") != 0)
        o->unsupported = name;
    else if (!in_list(name, ignored) && !in_list(name, unsupported))
        r->rc = add_setting(o, name, value);
    return r->rc == 0 ? MHD_YES : MHD_NO;
}

static void random_query_id(char *out)
{
    unsigned char b[16] = {0};

    if (getrandom(b, sizeof b, 0) < 0)
        memset(b, 1, sizeof b);
    for (size_t i = 0; i < sizeof b; i++)
        out += sprintf(out, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", b[i]);
}

int options_read(struct MHD_Connection *c, struct options *o)
{
    struct reading r = {o, 0};
    const char *database = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "database");

    *o = (struct options){0};
    if (database == NULL)
        database = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "X-ClickHouse-Database");
    if (database != NULL && *database != '\0') {
        o->use = use_sql(database);
        if (o->use == NULL)
            return -1;
    }
    MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, take, &r);
    if (o->query_id[0] == '\0')
        random_query_id(o->query_id);
    return r.rc;
}

void options_free(struct options *o)
{
    free(o->use);
    free(o->set);
    free(o->set_readonly);
    free(o->settings);
    free(o->params.names);
    free(o->params.values);
    free(o->params.name_lens);
    free(o->params.value_lens);
}

const char *options_fixed_setting(const struct options *o, const struct user *u)
{
    for (size_t i = 0; i < o->setting_count; i++)
        for (size_t k = 0; k < u->setting_count; k++)
            if (u->settings[k].fixed && strcmp(u->settings[k].name, o->settings[i].name) == 0 &&
                strcmp(u->settings[k].value, o->settings[i].value) != 0)
                return u->settings[k].name;
    return NULL;
}

char *options_profile_sql(const struct user *u)
{
    const char *readonly = user_setting(u, "readonly");
    char *sql = NULL;
    int rc;

    /* The embedded engine reads a bare expression as a SELECT of it; a server does not. */
    rc = append_setting(&sql, "implicit_select", "0");
    for (size_t i = 0; rc == 0 && i < u->setting_count; i++)
        if (strcmp(u->settings[i].name, "readonly") != 0)
            rc = append_setting(&sql, u->settings[i].name, u->settings[i].value);
    if (rc == 0 && readonly != NULL)
        rc = append_setting(&sql, "readonly", readonly);
    if (rc != 0) {
        free(sql);
        return NULL;
    }
    return sql;
}

bool options_is_readonly(const struct options *o, const struct user *u)
{
    const char *value = o->readonly != NULL ? o->readonly : user_setting(u, "readonly");

    return value != NULL && strcmp(value, "0") != 0;
}
