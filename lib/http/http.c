/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection: options checked, one multi handle that keeps one connection,
 * and the statements over it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "http/internal.h"

#define RECEIVE_BUFFER (256L << 10)

static bool has_break(const char *s)
{
    return s && strpbrk(s, "\r\n") != NULL;
}

/* A part of the URL, or NULL; freed by curl_free. */
static char *part(CURLU *u, CURLUPart what, unsigned flags)
{
    char *s = NULL;
    return curl_url_get(u, what, &s, flags) == CURLUE_OK ? s : NULL;
}

/* No message here shows the URL: what is wrong with it may be the password in it. */
static int read_url(CURLU *u, const char *url, char **endpoint, struct err *err)
{
    CURLUcode rc = curl_url_set(u, CURLUPART_URL, url, CURLU_DISALLOW_USER);
    if (rc == CURLUE_USER_NOT_ALLOWED)
        return err_set(err, ERR_REFUSED,
                       "the URL has a user part; name the user by --user and the password by --password-env");
    if (rc != CURLUE_OK)
        return err_set(err, ERR_REFUSED, "the URL is not http://host[:port] or https://host[:port]");
    char *scheme = part(u, CURLUPART_SCHEME, 0), *host = part(u, CURLUPART_HOST, 0);
    char *port = part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT), *path = part(u, CURLUPART_PATH, 0);
    char *query = part(u, CURLUPART_QUERY, 0), *fragment = part(u, CURLUPART_FRAGMENT, 0);
    int status = 0;
    if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
        status = err_set(err, ERR_REFUSED, "the URL is neither http:// nor https://");
    else if (!host || *host == '\0' || !port)
        status = err_set(err, ERR_REFUSED, "the URL names no host");
    else if (query || fragment)
        status = err_set(err, ERR_REFUSED,
                         "the URL has a query or a fragment; settings and credentials do not belong there");
    if (status == 0) {
        struct buf b = BUF_INIT;
        buf_printf(&b, "%s://%s:%s%s", scheme, host, port, path ? path : "");
        while (b.len > 0 && b.p[b.len - 1] == '/')
            b.len--;
        *endpoint = xstrdup(buf_str(&b));
        buf_free(&b);
    }
    char *const all[] = {scheme, host, port, path, query, fragment};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        curl_free(all[i]);
    return status;
}

static void add_header(struct http *h, const char *name, const char *value)
{
    struct buf b = BUF_INIT;
    buf_printf(&b, "%s: %s", name, value);
    h->headers = curl_slist_append(h->headers, buf_str(&b));
    explicit_bzero(b.p, b.cap);
    buf_free(&b);
}

static void keep_secrets(struct http *h, const char *user, const char *password)
{
    struct buf b = BUF_INIT;
    char *escaped = curl_easy_escape(h->easy, password, 0);
    h->secrets[0] = xstrdup(password);
    h->secrets[1] = xstrdup(escaped ? escaped : "");
    curl_free(escaped);
    base64_add(&b, password, strlen(password));
    h->secrets[2] = xstrdup(buf_str(&b));
    struct buf pair = BUF_INIT;
    buf_printf(&pair, "%s:%s", user ? user : "default", password);
    buf_reset(&b);
    base64_add(&b, pair.p, pair.len);
    h->secrets[3] = xstrdup(buf_str(&b));
    buf_free(&pair);
    buf_free(&b);
}

static void set_headers(struct http *h, const struct http_options *o)
{
    if (o->user)
        add_header(h, "X-ClickHouse-User", o->user);
    if (o->password && *o->password != '\0') {
        add_header(h, "X-ClickHouse-Key", o->password);
        keep_secrets(h, o->user, o->password);
    }
    h->headers = curl_slist_append(h->headers, "Expect:"); /* else a large body waits for a 100 first */
    h->headers = curl_slist_append(h->headers, "Content-Type: application/octet-stream");
    h->headers = curl_slist_append(h->headers, "User-Agent: owed/" OWED_VERSION);
}

static bool readable(const char *path, struct err *err)
{
    if (!path || access(path, R_OK) == 0)
        return true;
    err_sys(err, "cannot read '%s'", path);
    err->kind = ERR_REFUSED;
    return false;
}

static char *copy_of(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

struct http *http_open(const struct http_options *o, struct err *err)
{
    static bool begun;
    if (!begun && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        err_set(err, ERR_TROUBLE, "libcurl does not start");
        return NULL;
    }
    begun = true;
    if (has_break(o->user) || has_break(o->password)) {
        err_set(err, ERR_REFUSED, "the user's name or password holds a line break");
        return NULL;
    }
    if (o->client_key && !o->client_cert) {
        err_set(err, ERR_REFUSED, "a client's key without its certificate");
        return NULL;
    }
    if (!readable(o->cacert, err) || !readable(o->client_cert, err) || !readable(o->client_key, err))
        return NULL;
    char *endpoint = NULL;
    CURLU *u = curl_url();
    int bad = !u ? err_set(err, ERR_TROUBLE, "no memory") : read_url(u, o->url, &endpoint, err);
    curl_url_cleanup(u);
    if (bad)
        return NULL;
    struct http *h = xcalloc(1, sizeof *h);
    h->endpoint = endpoint;
    h->cacert = copy_of(o->cacert);
    h->client_cert = copy_of(o->client_cert);
    h->client_key = copy_of(o->client_key ? o->client_key : o->client_cert);
    h->connect_ms = o->connect_timeout_ms != 0 ? o->connect_timeout_ms : HTTP_CONNECT_TIMEOUT_MS;
    h->timeout_ms = o->timeout_ms != 0 ? o->timeout_ms : HTTP_TIMEOUT_MS;
    h->multi = curl_multi_init();
    h->easy = curl_easy_init();
    if (!h->multi || !h->easy) {
        http_close(h);
        err_set(err, ERR_TROUBLE, "libcurl does not start");
        return NULL;
    }
    if (getrandom(h->nonce, sizeof h->nonce, 0) != (ssize_t)sizeof h->nonce) {
        err_sys(err, "no random bytes");
        http_close(h);
        return NULL;
    }
    curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, 1L);
    set_headers(h, o);
    return h;
}

void http_close(struct http *h)
{
    if (!h)
        return;
    curl_easy_cleanup(h->easy);
    curl_multi_cleanup(h->multi);
    for (struct curl_slist *s = h->headers; s; s = s->next)
        explicit_bzero(s->data, strlen(s->data));
    curl_slist_free_all(h->headers);
    for (int i = 0; i < HTTP_SECRETS; i++) {
        if (h->secrets[i])
            explicit_bzero(h->secrets[i], strlen(h->secrets[i]));
        free(h->secrets[i]);
    }
    free(h->endpoint);
    free(h->cacert);
    free(h->client_cert);
    free(h->client_key);
    free(h);
}

const char *http_endpoint(const struct http *h)
{
    return h->endpoint;
}

/* ---- one statement ---- */

static size_t on_send(char *to, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    size_t left = t->send_len - t->sent;
    n *= size;
    if (n > left)
        n = left;
    memcpy(to, t->send + t->sent, n);
    t->sent += n;
    return n;
}

/* curl's way out when a dead kept connection ate the data: there is none, an INSERT is not sent twice unseen. */
static int no_seek(void *ctx, curl_off_t offset, int origin)
{
    (void)ctx, (void)offset, (void)origin;
    return CURL_SEEKFUNC_FAIL;
}

/* A connection that is opened when data has gone already is curl's second one, and the data went over the kept one. */
static int on_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
    struct transfer *t = ctx;
    (void)fd, (void)purpose;
    t->late = t->late || t->sent > 0;
    return CURL_SOCKOPT_OK;
}

static void add_parameter(struct http *h, struct buf *url, const char *name, const char *value)
{
    char *n = curl_easy_escape(h->easy, name, 0), *v = *value == '\0' ? NULL : curl_easy_escape(h->easy, value, 0);
    buf_addc(url, !memchr(url->p, '?', url->len) ? '?' : '&');
    buf_printf(url, "%s=%s", n ? n : "", v ? v : "");
    curl_free(n);
    curl_free(v);
}

static void set_common(struct http *h, struct transfer *t)
{
    CURL *e = h->easy;
    curl_easy_reset(e);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_PROXY, "");
    curl_easy_setopt(e, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    if (h->cacert) {
        curl_easy_setopt(e, CURLOPT_CAINFO, h->cacert);
        curl_easy_setopt(e, CURLOPT_CAPATH, NULL);
    }
    curl_easy_setopt(e, CURLOPT_SSLCERT, h->client_cert);
    curl_easy_setopt(e, CURLOPT_SSLKEY, h->client_key);
    curl_easy_setopt(e, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(e, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
    curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE, RECEIVE_BUFFER);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)h->connect_ms);
    curl_easy_setopt(e, CURLOPT_HTTPHEADER, h->headers);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->curl_text);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, http_on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, http_on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(e, CURLOPT_SOCKOPTFUNCTION, on_socket);
    curl_easy_setopt(e, CURLOPT_SOCKOPTDATA, t);
    curl_easy_setopt(e, CURLOPT_POST, 1L);
}

/* Drive curl until the statement is through or its time is. */
static CURLcode drive(struct http *h, struct transfer *t)
{
    int running = 1;
    t->deadline = time_mono_ms() + (int64_t)h->timeout_ms;
    if (curl_multi_add_handle(h->multi, h->easy) != CURLM_OK)
        return CURLE_FAILED_INIT;
    for (;;) {
        if (curl_multi_perform(h->multi, &running) != CURLM_OK || running == 0)
            break;
        int64_t left = t->deadline - time_mono_ms();
        if (left <= 0) {
            t->a->timed_out = true;
            break;
        }
        if (curl_multi_poll(h->multi, NULL, 0, left < 1000 ? (int)left : 1000, NULL) != CURLM_OK)
            break;
    }
    CURLcode rc = running != 0 ? CURLE_ABORTED_BY_CALLBACK : CURLE_GOT_NOTHING;
    int queued;
    for (CURLMsg *m; (m = curl_multi_info_read(h->multi, &queued)) != NULL;)
        if (m->msg == CURLMSG_DONE && m->easy_handle == h->easy)
            rc = m->data.result;
    return rc;
}

static enum http_outcome run(struct transfer *t, const char *sql, size_t sql_len, const struct http_setting *settings)
{
    struct http *h = t->h;
    struct buf url = BUF_INIT;
    memset(t->a, 0, sizeof *t->a);
    set_common(h, t);
    buf_adds(&url, h->endpoint);
    buf_addc(&url, '/');
    if (t->send)
        add_parameter(h, &url, "query", sql);
    for (const struct http_setting *s = settings; s && s->name != NULL; s++)
        add_parameter(h, &url, s->name, s->value);
    snprintf(t->query_id, sizeof t->query_id, "owed-%016" PRIx64 "%016" PRIx64 "-%" PRIu64, h->nonce[0], h->nonce[1],
             ++h->statements);
    add_parameter(h, &url, "wait_end_of_query", "1"); /* else the summary is older than the answer's end */
    add_parameter(h, &url, "query_id", t->query_id);
    curl_easy_setopt(h->easy, CURLOPT_URL, buf_str(&url));
    if (t->send) {
        curl_easy_setopt(h->easy, CURLOPT_READFUNCTION, on_send);
        curl_easy_setopt(h->easy, CURLOPT_READDATA, t);
        curl_easy_setopt(h->easy, CURLOPT_SEEKFUNCTION, no_seek);
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->send_len);
    } else {
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sql_len);
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, sql);
    }
    CURLcode rc = drive(h, t);
    http_settle(t, rc);
    curl_multi_remove_handle(h->multi, h->easy);
    buf_free(&url);
    buf_free(&t->error);
    return t->a->outcome;
}

enum http_outcome http_select(struct http *h, const char *sql, size_t sql_len, const struct http_setting *settings,
                              http_body_fn *fn, void *ctx, struct http_answer *a)
{
    struct transfer t = {.h = h, .a = a, .fn = fn, .ctx = ctx};
    return run(&t, sql, sql_len, settings);
}

enum http_outcome http_insert(struct http *h, const char *sql, const struct http_setting *settings, const void *body,
                              size_t n, struct http_answer *a)
{
    struct transfer t = {.h = h, .a = a, .send = n > 0 ? body : "", .send_len = n};
    return run(&t, sql, strlen(sql), settings);
}

struct text_out {
    struct buf *out;
    size_t max, had;
};

static int on_text(void *ctx, const char *p, size_t n)
{
    struct text_out *t = ctx;
    if (n > t->max - (t->out->len - t->had))
        return -1;
    buf_add(t->out, p, n);
    return 0;
}

enum http_outcome http_text(struct http *h, const char *sql, const struct http_setting *settings, size_t max,
                            struct buf *out, struct http_answer *a)
{
    struct text_out t = {out, max, out->len};
    return http_select(h, sql, strlen(sql), settings, on_text, &t, a);
}
