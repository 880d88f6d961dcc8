/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: one INSERT until it is acknowledged. What is in doubt is sent again,
 * byte for byte and under its own token; what that can have done is judged at
 * the end by the window, and any doubt counts against it.
 */
#include <inttypes.h>
#include <string.h>

#include "chwrite/sink.h"

/* What an exception of the server means for an INSERT that it answered. */
enum verdict_of_code {
    CODE_FATAL,   /* trying again would not help */
    CODE_REFUSED, /* raised before anything is written, and passes */
    CODE_IN_DOUBT /* passes, and may have come after a part of the INSERT was written */
};

static enum verdict_of_code judge(int code)
{
    switch (code) {
    case 202: /* too many simultaneous queries */
    case 203: /* no free connection */
    case 242: /* the table is read-only just now */
    case 252: /* too many parts */ return CODE_REFUSED;
    case 159: /* time limit */
    case 173: /* no memory from the system */
    case 209: /* socket timeout */
    case 210: /* network */
    case 236: /* aborted: the server is ending */
    case 241: /* memory limit: the parts of some partitions can be written by then */
    case 319: /* unknown status of the insert */
    case 439: /* no thread */
    case 999: /* keeper */ return CODE_IN_DOUBT;
    default: return CODE_FATAL;
    }
}

/* One INSERT on its way. */
struct sending {
    uint64_t blocks, first_sent;
    uint64_t attempts;
    bool in_doubt;
    bool same_server;  /* nothing says that an attempt met another server than the first */
    bool left_behind;  /* an attempt was given up while the server may have had it still before it */
    char version[128]; /* of the server at the first attempt, and how it keeps blocks in mind */
    int64_t deadline, backoff;
};

static bool wait_more(struct sending *s)
{
    int64_t left = s->deadline - time_mono_ms();

    if (left <= 0) {
        return false;
    }
    sleep_ms(s->backoff < left ? s->backoff : left);
    s->backoff = s->backoff * 2 < SINK_BACKOFF_MOST_MS ? s->backoff * 2 : SINK_BACKOFF_MOST_MS;
    return true;
}

/* What a server must still be for what it remembers of an attempt to count: its version and its way of hashing. */
static void version_of(const struct look *l, char out[128])
{
    snprintf(out, 128, "%.60s %.60s", l->destination.server_version, l->hashing);
}

/* Meet the server again over a new connection: it must be the one that this job writes to. */
static int meet_again(struct chwrite *w, struct sending *s, struct err *err)
{
    char version[sizeof s->version];

    while (sink_look(w, err) != 0) {
        if (err->kind == ERR_REFUSED || !wait_more(s)) {
            return -1;
        }
    }
    version_of(&w->look, version);
    if (strcmp(s->version, version) != 0) {
        s->same_server = false;
    }
    return 0;
}

static int failed(const struct chwrite *w, const struct sending *s, const struct http_answer *a, struct err *err)
{
    char what[200];

    snprintf(what, sizeof what, "INSERT of %" PRIu64 " rows into %.60s.%.60s, attempt %" PRIu64, w->rows, w->o.database,
             w->o.table, s->attempts);
    return http_err(a, what, err);
}

/* 0 to send once more, -1 to give up. */
static int after_failure(struct chwrite *w, struct sending *s, const struct http_answer *a, struct err *err)
{
    enum verdict_of_code v = a->outcome == HTTP_ANSWERED   ? judge(a->code)
                             : a->outcome == HTTP_NOT_SENT ? CODE_REFUSED
                                                           : CODE_IN_DOUBT;

    if (v == CODE_IN_DOUBT) {
        s->in_doubt = true;
        w->window.sent += s->blocks;
        /* Over a connection that nothing was asked on before, it is not known which server took it. */
        s->same_server = s->same_server && !a->new_connection;
        /* Where no answer came in time, or only a proxy's, the server can execute it later, when the window has moved
         * on. */
        s->left_behind = s->left_behind || a->timed_out || (a->outcome == HTTP_IN_DOUBT && a->status != 0);
    }
    if (v == CODE_FATAL || !wait_more(s)) {
        return failed(w, s, a, err);
    }
    return meet_again(w, s, err);
}

/* An acknowledgement counts when it is this server's and of this many rows. */
static int acknowledged(struct chwrite *w, struct sending *s, const struct http_answer *a, struct err *err)
{
    w->window.sent += s->blocks;
    if (a->has_summary && a->written_rows != w->rows && !(s->in_doubt && a->written_rows == 0)) {
        return err_set(err, ERR_TROUBLE,
                       "INSERT of %" PRIu64 " rows into %s.%s: the server says that it wrote %" PRIu64, w->rows,
                       w->o.database, w->o.table, a->written_rows);
    }
    if (!a->new_connection && !s->in_doubt) {
        return 0;
    }
    s->same_server = s->same_server && !a->new_connection;
    return meet_again(w, s, err);
}

static int send_until_done(struct chwrite *w, struct sending *s, struct err *err)
{
    struct http_answer a;

    for (;;) {
        s->attempts++;
        if (http_insert(w->http, buf_str(&w->statement), w->settings, w->body.p, w->body.len, &a) == HTTP_DONE) {
            return acknowledged(w, s, &a, err);
        }
        if (after_failure(w, s, &a, err) != 0) {
            return -1;
        }
    }
}

/* What other writers have put between counts as well: the table's own part numbers say how much that can be, at most.
 */
static enum resend judge_resend(const struct chwrite *w, const struct sending *s)
{
    uint64_t each = w->window.entries_per_block;

    if (!s->in_doubt) {
        return RESEND_NONE;
    }
    if (s->left_behind || !w->has_mark || !w->look.has_block_number || w->look.block_number < w->mark || each == 0 ||
        w->look.block_number - w->mark > w->window.size / each) {
        return RESEND_MAY_DUPLICATE;
    }
    return chwrite_resend(&w->window, s->first_sent, s->blocks, s->same_server);
}

static void empty_batch(struct chwrite *w)
{
    w->body.len = w->header;
    w->rows = 0;
    blocks_reset(&w->blocks);
    range_reset(&w->range);
}

int chwrite_send(struct chwrite *w, uint64_t after, uint64_t first, struct arena *a, struct ledger_entry *e,
                 struct err *err)
{
    struct buf range = BUF_INIT;
    struct chwrite_batch b = {after, first, w->rows, &w->body, NULL};
    struct sending s = {.blocks = blocks_count(&w->blocks), .first_sent = w->window.sent, .same_server = true};
    int rc;

    range_put(&w->range, &range);
    b.range = buf_str(&range);
    chwrite_token(w->o.job, w->o.operator_id, w->o.subtask, w->o.attempt, w->sequence++, &b, &w->scratch);
    buf_free(&range);
    snprintf(w->token, sizeof w->token, "%s", buf_str(&w->scratch));
    version_of(&w->look, s.version);
    s.deadline = time_mono_ms() + (int64_t)w->o.retry_ms;
    s.backoff = SINK_BACKOFF_FIRST_MS;
    rc = send_until_done(w, &s, err);
    *e = (struct ledger_entry){
        arena_strndup(a, w->token, strlen(w->token)),        first, w->rows, s.blocks, s.attempts, s.in_doubt,
        rc == 0 ? judge_resend(w, &s) : RESEND_MAY_DUPLICATE};
    empty_batch(w);
    return rc;
}
