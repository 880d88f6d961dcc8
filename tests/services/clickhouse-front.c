/* SPDX-License-Identifier: Apache-2.0 */
/* clickhouse-front: ClickHouse's HTTP interface on loopback over the embedded engine (libchdb.so).
 * A part of the tests and the demo, never linked into a program. Start it with tests/services/clickhouse.
 * It has no roles, compressed requests (decompress) or framing, and keeps nothing in a session (session_id); what it
 * lacks is refused with code 48. clickhouse-front/fault.h has its test hooks. */
#include "clickhouse-front/body.h"
#include "clickhouse-front/engine.h"
#include "clickhouse-front/fault.h"
#include "clickhouse-front/query.h"
#include "clickhouse-front/reply.h"
#include "clickhouse-front/users.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: clickhouse-front --lib=LIBCHDB --dir=DIR --users=FILE [--config=FILE] [--port=N] [--faults]\n"
    "\n"
    "Serves ClickHouse's HTTP interface on 127.0.0.1. DIR keeps the data and the server's identity;\n"
    "the port in use is written to DIR/port. FILE has lines\n"
    "  NAME full|select PASSWORD_FILE [SETTING=VALUE | SETTING==VALUE]...\n"
    "where == means that the user may not change the setting. --port is tried first; when it is taken,\n"
    "or 0, a free one is used. --config is the engine's own. --faults opens /__fault to full users.\n";

static bool faults_open;

static int trouble(const char *what, const char *why)
{
    fprintf(stderr, "clickhouse-front: %s: %s\n", what, why);
    return 3;
}

static int write_file(const char *dir, const char *name, const char *text)
{
    char path[4096], temp[4096];
    FILE *f;
    bool bad;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(temp, sizeof temp, "%s/.%s.new", dir, name);
    f = fopen(temp, "we");
    if (f == NULL)
        return -1;
    bad = fputs(text, f) < 0 || fflush(f) != 0 || fsync(fileno(f)) != 0;
    return fclose(f) != 0 || bad || rename(temp, path) != 0 ? -1 : 0;
}

static bool has_identity(const char *dir)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/identity", dir);
    return access(path, F_OK) == 0;
}

static bool read_identity(const char *dir)
{
    char path[4096];
    FILE *f;
    bool found;

    snprintf(path, sizeof path, "%s/identity", dir);
    f = fopen(path, "re");
    if (f == NULL)
        return false;
    found = fscanf(f, "%36s", query_server_uuid) == 1 && strlen(query_server_uuid) == 36;
    fclose(f);
    return found;
}

/* Runs a statement of the front's own; its first field goes to out. */
static int run_sql(struct session *s, const char *sql, char *out, size_t out_size)
{
    struct answer a = engine_query(s, sql, strlen(sql), "TabSeparatedRaw", &(struct engine_params){0});
    size_t n = a.len;
    int rc = a.error == NULL ? 0 : trouble(sql, a.error);

    if (rc == 0 && out != NULL) {
        n = n < out_size ? n : out_size - 1;
        memcpy(out, a.data, n);
        out[n] = '\0';
        out[strcspn(out, "\n")] = '\0';
    }
    engine_answer_free(&a);
    return rc;
}

/* The engine always lays an overlay, whose tables have no UUID, over the name `default`; a server's
 * `default` is Atomic. So ours is put aside under another name before the engine opens, and takes the
 * overlay's place afterwards. A kill at any point leaves one of the two names for the next start. */
static int put_default_aside(const char *data)
{
    char from[4200], to[4200];

    snprintf(from, sizeof from, "%s/metadata/default.sql", data);
    if (access(from, F_OK) != 0)
        return 0;
    snprintf(from, sizeof from, "%s/metadata/default", data);
    snprintf(to, sizeof to, "%s/metadata/front_default", data);
    if (rename(from, to) != 0 && errno != ENOENT)
        return trouble(from, strerror(errno));
    snprintf(from, sizeof from, "%s/metadata/default.sql", data);
    snprintf(to, sizeof to, "%s/metadata/front_default.sql", data);
    return rename(from, to) == 0 ? 0 : trouble(from, strerror(errno));
}

static int settle_default(struct session *s)
{
    char tables[32], aside[32];
    int rc;

    rc = run_sql(s, "SELECT count() FROM system.tables WHERE database = 'default'", tables, sizeof tables);
    if (rc == 0 && strcmp(tables, "0") != 0)
        return trouble("default", "the engine's overlay holds tables");
    rc = rc == 0 ? run_sql(s, "SELECT count() FROM system.databases WHERE name = 'front_default'", aside, sizeof aside)
                 : rc;
    rc = rc == 0 ? run_sql(s, "DROP DATABASE IF EXISTS default", NULL, 0) : rc;
    if (rc != 0)
        return rc;
    return run_sql(s,
                   strcmp(aside, "0") == 0 ? "CREATE DATABASE default ENGINE = Atomic"
                                           : "RENAME DATABASE front_default TO default",
                   NULL, 0);
}

static int settle(const char *dir)
{
    struct session *s = engine_session();
    char uuid[64];
    int rc;

    if (s == NULL)
        return trouble("engine", "no session");
    rc = settle_default(s);
    if (rc == 0 && !read_identity(dir)) {
        rc = run_sql(s, "SELECT generateUUIDv4()", uuid, sizeof uuid);
        if (rc == 0 && write_file(dir, "identity", uuid) != 0)
            rc = trouble("identity", strerror(errno));
        if (rc == 0)
            memcpy(query_server_uuid, uuid, sizeof query_server_uuid);
    }
    rc = rc == 0 ? run_sql(s, "SELECT version()", reply_server.version, sizeof reply_server.version) : rc;
    rc = rc == 0 ? run_sql(s, "SELECT timezone()", reply_server.timezone, sizeof reply_server.timezone) : rc;
    engine_session_close(s);
    return rc;
}

static unsigned long number_arg(struct MHD_Connection *c, const char *name, unsigned long missing)
{
    const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
    char *end;
    unsigned long n;

    if (text == NULL)
        return missing;
    n = strtoul(text, &end, 10);
    return *text != '\0' && *end == '\0' ? n : missing;
}

static enum MHD_Result take_fault(struct MHD_Connection *c)
{
    const char *match = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "match");
    struct fault f = {0};
    enum MHD_Result queued = MHD_NO;
    const struct user *u = query_authenticate(c, &queued);

    if (u == NULL)
        return queued;
    if (u->select_only || user_setting(u, "readonly") != NULL)
        return reply_text(c, MHD_HTTP_FORBIDDEN, "faults are for full users\n");
    if (MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "clear") != NULL) {
        fault_clear();
        return reply_text(c, MHD_HTTP_OK, "Ok.\n");
    }
    if (MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "release") != NULL) {
        fault_release();
        return reply_text(c, MHD_HTTP_OK, "Ok.\n");
    }
    if (MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "await") != NULL)
        return fault_await(number_arg(c, "await", 1), number_arg(c, "ms", 120000))
                   ? reply_text(c, MHD_HTTP_OK, "Ok.\n")
                   : reply_text(c, MHD_HTTP_GATEWAY_TIMEOUT, "so many were not held at once\n");
    f.when = fault_when_named(MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "when"));
    f.n = number_arg(c, "n", 1);
    f.ms = number_arg(c, "ms", 0);
    f.bytes = number_arg(c, "bytes", 0);
    f.status = number_arg(c, "status", 0);
    f.code = number_arg(c, "code", 0);
    snprintf(f.match, sizeof f.match, "%s", match != NULL ? match : "");
    if (f.when == FAULT_NONE || f.n == 0 || !fault_add(&f))
        return reply_text(c, MHD_HTTP_BAD_REQUEST,
                          "when=before|after|error|refuse|delay|stall|during|hold|withhold|made, n>0\n");
    return reply_text(c, MHD_HTTP_OK, "Ok.\n");
}

static enum MHD_Result answer(const struct query_request *q, const char *url)
{
    bool is_read = strcmp(q->method, MHD_HTTP_METHOD_GET) == 0 || strcmp(q->method, MHD_HTTP_METHOD_HEAD) == 0;
    bool has_query = MHD_lookup_connection_value(q->conn, MHD_GET_ARGUMENT_KIND, "query") != NULL;

    if (strcmp(url, "/ping") == 0 || (strcmp(url, "/") == 0 && is_read && !has_query))
        return reply_text(q->conn, MHD_HTTP_OK, "Ok.\n");
    if (faults_open && strcmp(url, "/__fault") == 0 && !is_read)
        return take_fault(q->conn);
    if (strcmp(url, "/") == 0)
        return query_run(q);
    return reply_text(q->conn, MHD_HTTP_NOT_FOUND, "There is no such handle\n");
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state)
{
    struct query_request *q = *state;

    (void)cls;
    (void)version;
    if (q == NULL) {
        q = calloc(1, sizeof *q);
        if (q == NULL)
            return MHD_NO;
        *state = q;
        q->conn = c;
        q->method = method;
        q->body_fd = memfd_create("body", MFD_CLOEXEC);
        return q->body_fd >= 0 ? MHD_YES : MHD_NO;
    }
    if (*size > 0) {
        if (!body_write(q->body_fd, data, *size))
            return MHD_NO;
        q->body_len += *size;
        *size = 0;
        return MHD_YES;
    }
    return answer(q, url);
}

static void finished(void *cls, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why)
{
    struct query_request *q = *state;

    (void)cls;
    (void)c;
    (void)why;
    if (q == NULL)
        return;
    if (q->body_fd >= 0)
        close(q->body_fd);
    free(q);
    *state = NULL;
}

static struct MHD_Daemon *listen_on(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* A query may come whole in the URL, which lives in the connection's memory. */
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, port, NULL, NULL, handle,
                            NULL, MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)4 << 20,
                            MHD_OPTION_NOTIFY_COMPLETED, finished, NULL, MHD_OPTION_END);
}

static int serve(const char *dir, uint16_t port)
{
    struct MHD_Daemon *d = listen_on(port);
    const union MHD_DaemonInfo *info;
    char text[16];
    sigset_t stop;

    if (d == NULL && port != 0)
        d = listen_on(0);
    if (d == NULL)
        return trouble("listen", strerror(errno));
    info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT);
    snprintf(text, sizeof text, "%u\n", (unsigned)info->port);
    if (write_file(dir, "port", text) != 0)
        return trouble("port", strerror(errno));
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    /* Whoever removes the directory without stopping the server leaves no orphan. */
    while (sigtimedwait(&stop, NULL, &(struct timespec){.tv_sec = 2}) < 0 && has_identity(dir))
        ;
    fault_clear();
    alarm(5); /* a statement that does not end is not waited for: the data survive a kill */
    MHD_stop_daemon(d);
    engine_close();
    return 0;
}

struct arguments {
    const char *lib, *dir, *users, *config;
    uint16_t port;
};

static int read_arguments(int argc, char **argv, struct arguments *a)
{
    static const struct option options[] = {
        {"lib", required_argument, NULL, 'l'},   {"dir", required_argument, NULL, 'd'},
        {"users", required_argument, NULL, 'u'}, {"config", required_argument, NULL, 'c'},
        {"port", required_argument, NULL, 'p'},  {"faults", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},        {0},
    };
    unsigned long port;
    char *end;
    int o;

    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (o) {
        case 'l': a->lib = optarg; break;
        case 'd': a->dir = optarg; break;
        case 'u': a->users = optarg; break;
        case 'c': a->config = optarg; break;
        case 'f': faults_open = true; break;
        case 'h': fputs(usage, stdout); exit(0);
        case 'p':
            port = strtoul(optarg, &end, 10);
            if (*optarg == '\0' || *end != '\0' || port > 65535)
                return trouble("not a port", optarg);
            a->port = (uint16_t)port;
            break;
        default: return 2;
        }
    }
    if (a->lib == NULL || a->dir == NULL || a->users == NULL || optind != argc) {
        fputs(usage, stderr);
        return 2;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct arguments a = {0};
    char why[4096], data[4096];
    sigset_t stop;
    int rc;

    if (read_arguments(argc, argv, &a) != 0)
        return 2;
    /* Before the engine starts its threads, so that only serve() takes them. */
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    if (users_read(a.users, why, sizeof why) != 0)
        return trouble("users", why);
    snprintf(data, sizeof data, "%s/data", a.dir);
    if (mkdir(data, 0700) != 0 && errno != EEXIST)
        return trouble(data, strerror(errno));
    if (put_default_aside(data) != 0)
        return 3;
    if (engine_open(a.lib, data, a.config, why, sizeof why) != 0)
        return trouble("engine", why);
    rc = settle(a.dir);
    if (rc == 0)
        rc = serve(a.dir, a.port);
    /* The engine's own exit handlers have nothing left to do and may wait for its threads. */
    fflush(NULL);
    _exit(rc);
}
