/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one statement: checks that a server makes and the engine does not, settings on a fresh session,
 * an INSERT's data through a memfd (inline data would end at the first blank line), then the answer. */
#include "query.h"

#include "body.h"
#include "fault.h"
#include "options.h"
#include "reply.h"
#include "sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

char query_server_uuid[37];

/* All that one request needs; freed by run_free. */
struct run {
    const struct query_request *q;
    const struct user *user;
    struct options options;
    struct reply_meta meta;
    struct sql_statement st;
    int body_fd; /* the request's, or plain_fd where that was compressed and is unpacked here */
    size_t body_len;
    int plain_fd;
    char *text; /* the statement's text, with its data unless they stay in the body */
    size_t text_len;
    bool data_in_body;
    char *sql; /* what the engine is given */
    size_t sql_len;
    int data_fd;
    struct session *session;
    struct fault fault;
};

static void run_free(struct run *r)
{
    options_free(&r->options);
    engine_session_close(r->session);
    if (r->data_fd >= 0)
        close(r->data_fd);
    if (r->plain_fd >= 0)
        close(r->plain_fd);
    free(r->text);
    free(r->sql);
}

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

const struct user *query_authenticate(struct MHD_Connection *c, enum MHD_Result *queued)
{
    const char *user = header(c, "X-ClickHouse-User"), *key = header(c, "X-ClickHouse-Key");
    const char *arg_user = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "user");
    const char *arg_key = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "password");
    char *basic_key = NULL, *basic_user = MHD_basic_auth_get_username_password(c, &basic_key);
    bool in_headers = user != NULL || key != NULL, in_url = arg_user != NULL || arg_key != NULL;
    const struct user *found = NULL;
    const char *name = in_headers ? user : basic_user != NULL ? basic_user : arg_user;
    const char *password = in_headers ? key : basic_user != NULL ? basic_key : arg_key;

    name = name != NULL && *name != '\0' ? name : "default";
    if ((int)in_headers + (int)in_url + (int)(basic_user != NULL) <= 1)
        found = users_find(name, password != NULL ? password : "");
    if (found == NULL)
        *queued = reply_error(c, &(struct reply_meta){0}, 516, "AUTHENTICATION_FAILED",
                              "%s: Authentication failed: password is incorrect, or there is no user with such name",
                              name);
    MHD_free(basic_user);
    MHD_free(basic_key);
    return found;
}

/* The statement is the query parameter, a line end, and the body. Where an INSERT's data are just the
 * body, the body stays where it is. */
static int load_text(struct run *r)
{
    const char *query = r->options.query;
    size_t head = query != NULL ? strlen(query) : 0, len = r->body_len;
    char *body;

    if (head > 0)
        head++;
    r->text = malloc(head + len + 1);
    if (r->text == NULL)
        return -1;
    if (head > 0) {
        memcpy(r->text, query, head - 1);
        r->text[head - 1] = '\n';
        sql_scan(r->text, head, &r->st);
        if (r->st.kind == SQL_INSERT_DATA && r->st.data_at == head) {
            r->text_len = head;
            r->data_in_body = true;
            return 0;
        }
    }
    if (len > 0) {
        body = mmap(NULL, len, PROT_READ, MAP_PRIVATE, r->body_fd, 0);
        if (body == MAP_FAILED)
            return -1;
        memcpy(r->text + head, body, len);
        munmap(body, len);
    }
    r->text_len = head + len;
    sql_scan(r->text, r->text_len, &r->st);
    return 0;
}

static int rewrite_insert(struct run *r, const char *encoding)
{
    const struct sql_statement *st = &r->st;
    int fd = r->body_fd;
    int n;

    if (!r->data_in_body) {
        fd = r->data_fd = memfd_create("insert", MFD_CLOEXEC);
        if (fd < 0 || !body_write(fd, r->text + st->data_at, r->text_len - st->data_at))
            return -1;
    }
    n = asprintf(&r->sql, "%.*s FROM INFILE '/proc/self/fd/%d' COMPRESSION '%s' %.*s FORMAT %s", (int)st->infile_at,
                 r->text, fd, encoding, (int)(st->format_at - st->infile_at), r->text + st->infile_at, st->format);
    if (n < 0)
        return -1;
    r->sql_len = (size_t)n;
    return 0;
}

static int make_sql(struct run *r, const char *encoding)
{
    if (r->st.kind == SQL_INSERT_DATA)
        return rewrite_insert(r, encoding);
    r->sql = sql_answer_server_uuid(r->text, r->text_len, query_server_uuid, &r->sql_len);
    return r->sql != NULL ? 0 : -1;
}

#define REFUSE(...) \
    do { \
        *queued = reply_error(r->q->conn, &r->meta, __VA_ARGS__); \
        return false; \
    } while (0)

/* What a server checks before its parser and the engine would let pass. */
static bool admit(struct run *r, enum MHD_Result *queued)
{
    const struct user *u = r->user;
    const char *fixed = options_fixed_setting(&r->options, u);

    if (r->options.unsupported != NULL)
        REFUSE(48, "NOT_IMPLEMENTED", "This test front has no parameter %s", r->options.unsupported);
    if (r->options.bad_name != NULL)
        REFUSE(115, "UNKNOWN_SETTING", "Unknown setting '%s'", r->options.bad_name);
    if (r->st.kind == SQL_NONE)
        REFUSE(62, "SYNTAX_ERROR", "Syntax error: failed at position 1 (end of query): . Empty query");
    if (r->st.several)
        REFUSE(62, "SYNTAX_ERROR", "Syntax error (Multi-statements are not allowed)");
    /* A session_id is taken and nothing is kept: each statement has a session of its own. */
    if (r->options.in_session && r->st.in_session)
        REFUSE(48, "NOT_IMPLEMENTED", "This test front keeps nothing in a session");
    if (r->st.outfile)
        REFUSE(358, "INTO_OUTFILE_NOT_ALLOWED", "INTO OUTFILE and FROM INFILE are not allowed over HTTP");
    if (u->select_only && (r->st.kind == SQL_WRITE || r->st.kind == SQL_INSERT_DATA))
        REFUSE(497, "ACCESS_DENIED", "%s: Not enough privileges. This user may only SELECT", u->name);
    for (size_t i = 0; fixed == NULL && i < u->setting_count; i++)
        if (u->settings[i].fixed &&
            sql_changes_setting(r->text, r->st.kind == SQL_INSERT_DATA ? r->st.data_at : r->text_len,
                                u->settings[i].name, u->settings[i].value))
            fixed = u->settings[i].name;
    if (fixed != NULL)
        REFUSE(452, "SETTING_CONSTRAINT_VIOLATION", "Setting %s should not be changed", fixed);
    return true;
}

static bool set(struct run *r, const char *sql, enum MHD_Result *queued)
{
    struct answer a;
    bool done;

    if (sql == NULL || *sql == '\0')
        return true;
    a = engine_query(r->session, sql, strlen(sql), "Null", &(struct engine_params){0});
    done = a.error == NULL;
    if (!done)
        *queued = reply_exception(r->q->conn, &r->meta, a.error);
    engine_answer_free(&a);
    return done;
}

/* The profile first, then the request's own settings, each with readonly last: so the engine itself
 * refuses what a readonly user may not send. */
static bool prepare(struct run *r, enum MHD_Result *queued)
{
    bool is_post = strcmp(r->q->method, MHD_HTTP_METHOD_POST) == 0;
    bool done;
    char *sql;

    r->session = engine_session();
    if (r->session == NULL) {
        *queued = reply_error(r->q->conn, &r->meta, 439, "CANNOT_SCHEDULE_TASK", "no session");
        return false;
    }
    if (!set(r, r->options.use, queued))
        return false;
    sql = options_profile_sql(r->user);
    done = sql != NULL && set(r, sql, queued);
    free(sql);
    if (!done || !set(r, r->options.set, queued) || !set(r, r->options.set_readonly, queued))
        return false;
    return is_post || options_is_readonly(&r->options, r->user) || set(r, "SET readonly = 2", queued);
}

static void wait_ms(unsigned long ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

static enum MHD_Result run_stream(struct run *r)
{
    struct answer stream, first;
    struct session *s = r->session;

    stream = engine_stream(s, r->sql, r->sql_len, r->meta.format, &r->options.params);
    if (stream.error != NULL) {
        enum MHD_Result queued = reply_exception(r->q->conn, &r->meta, stream.error);

        engine_answer_free(&stream);
        return queued;
    }
    first = engine_fetch(s, &stream);
    if (first.error != NULL) {
        enum MHD_Result queued = reply_exception(r->q->conn, &r->meta, first.error);

        engine_answer_free(&first);
        engine_answer_free(&stream);
        return queued;
    }
    r->session = NULL; /* the body's now */
    return reply_stream(r->q->conn, &r->meta, s, stream, first);
}

static enum MHD_Result run_whole(struct run *r)
{
    struct answer a = engine_query(r->session, r->sql, r->sql_len, r->meta.format, &r->options.params);
    enum MHD_Result queued = MHD_NO;

    if (r->fault.when == FAULT_STALL)
        wait_ms(r->fault.ms);
    if (r->fault.when == FAULT_WITHHOLD)
        fault_hold();
    if (a.error != NULL && r->fault.when != FAULT_AFTER) {
        queued = reply_exception(r->q->conn, &r->meta, a.error);
    } else if (r->fault.when == FAULT_ERROR && r->fault.code != 0) {
        queued = reply_error(r->q->conn, &r->meta, (int)r->fault.code, "FAULT", "a fault asked for by the test");
    } else if (r->fault.when == FAULT_ERROR) {
        queued = reply_text(r->q->conn, (unsigned)(r->fault.status != 0 ? r->fault.status : 500),
                            "Code: 999. DB::Exception: a fault asked for by the test\n");
    } else if (r->fault.when != FAULT_AFTER) {
        if (r->st.kind == SQL_INSERT_DATA || r->st.kind == SQL_WRITE) {
            a.result_rows = a.written_rows;
            a.result_bytes = a.written_bytes;
        }
        return reply_answer(r->q->conn, &r->meta, a);
    }
    engine_answer_free(&a);
    return queued;
}

static bool take_made(struct run *r)
{
    char *own = r->sql;

    r->sql = sql_of_made(own, r->sql_len, &r->sql_len);
    free(own);
    return r->sql != NULL;
}

static enum MHD_Result execute(struct run *r)
{
    struct fault *f = &r->fault;
    bool can_stream;

    *f = fault_take(r->text, r->st.kind == SQL_INSERT_DATA ? r->st.data_at : r->text_len,
                    r->st.kind == SQL_INSERT_DATA);
    if (f->when == FAULT_BEFORE)
        return MHD_NO;
    if (f->when == FAULT_REFUSE)
        return reply_text(r->q->conn, (unsigned)(f->status != 0 ? f->status : 503), "refused by the test\n");
    if (f->when == FAULT_MADE && !take_made(r))
        return MHD_NO;
    if (f->when == FAULT_DELAY)
        wait_ms(f->ms);
    if (f->when == FAULT_HOLD)
        fault_hold();
    r->meta.has_limit = f->when == FAULT_DURING;
    r->meta.limit = f->bytes;
    can_stream = r->st.kind == SQL_SELECT && !r->options.wait_end && reply_can_stream(r->meta.format) &&
                 f->when != FAULT_AFTER && f->when != FAULT_ERROR && f->when != FAULT_STALL &&
                 f->when != FAULT_WITHHOLD;
    return can_stream ? run_stream(r) : run_whole(r);
}

/* A body that holds its statement too is unpacked here, whatever it holds; clients do that in LZ4 alone. */
static bool unpack_body(struct run *r)
{
    const char *encoding = header(r->q->conn, "Content-Encoding");

    r->body_fd = r->q->body_fd;
    r->body_len = r->q->body_len;
    if (encoding == NULL || strcasecmp(encoding, "lz4") != 0)
        return true;
    r->body_fd = r->plain_fd = body_unpack_lz4(r->q->body_fd, r->q->body_len, &r->body_len);
    return r->plain_fd >= 0;
}

/* The engine's name of how the data are compressed, or NULL. Only where the body is data alone can the engine read it.
 */
static const char *encoding_of(const struct run *r)
{
    static const char *const names[] = {"gzip", "deflate", "zstd", "br"};
    const char *encoding = header(r->q->conn, "Content-Encoding");

    if (encoding == NULL || strcasecmp(encoding, "identity") == 0 || r->plain_fd >= 0)
        return "none";
    for (size_t i = 0; r->data_in_body && i < sizeof names / sizeof *names; i++)
        if (strcasecmp(encoding, names[i]) == 0)
            return names[i];
    return NULL;
}

static enum MHD_Result run_loaded(struct run *r)
{
    const char *default_format = r->options.default_format, *encoding;
    enum MHD_Result queued = MHD_NO;

    if (default_format == NULL)
        default_format = header(r->q->conn, "X-ClickHouse-Format");
    if (default_format == NULL)
        default_format = "TabSeparated";
    if (!unpack_body(r))
        return reply_error(r->q->conn, &r->meta, 271, "CANNOT_DECOMPRESS", "The body is no whole LZ4 frame");
    if (load_text(r) != 0)
        return MHD_NO;
    snprintf(r->meta.format, sizeof r->meta.format, "%s", r->st.format[0] != '\0' ? r->st.format : default_format);
    encoding = encoding_of(r);
    if (encoding == NULL)
        return reply_error(r->q->conn, &r->meta, 48, "NOT_IMPLEMENTED",
                           "Only INSERT data with the statement in the URL may be compressed, unless it is with lz4");
    if (!admit(r, &queued) || !prepare(r, &queued))
        return queued;
    return make_sql(r, encoding) == 0 ? execute(r) : MHD_NO;
}

enum MHD_Result query_run(const struct query_request *q)
{
    struct run r = {.q = q, .data_fd = -1, .plain_fd = -1};
    enum MHD_Result queued = MHD_NO;

    r.user = query_authenticate(q->conn, &queued);
    if (r.user == NULL)
        return queued;
    if (options_read(q->conn, &r.options) == 0) {
        snprintf(r.meta.query_id, sizeof r.meta.query_id, "%s", r.options.query_id);
        r.meta.compress = r.options.compress;
        queued = run_loaded(&r);
    }
    run_free(&r);
    return queued;
}
