/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chwrite: one INSERT until it is acknowledged. What is in doubt is sent again,
 * byte for byte: under its own token while that settles the doubt, under a fresh
 * one where the server may remember a token and not its rows. What that can have
 * done is judged at the end by the window, and any doubt counts against it.
 */
#include <inttypes.h>
#include <string.h>

#include "stream/codes.h"
#include "chwrite/internal.h"

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
    struct chwrite_sent *sent;
    const char *token; /* the first one, or NULL */
    uint64_t first_sent;
    int64_t began;     /* the first attempt under the present token */
    bool doubt;        /* an attempt under the present token is in doubt */
    bool spoilt;       /* the server may remember the present token and not its rows */
    bool left_behind;  /* an attempt was given up while the server may have had it still before it */
    char version[128]; /* of the server at the first attempt, and how it keeps blocks in mind */
    int64_t deadline, backoff;
};

static bool wait_more(struct sending *s)
{
    int64_t left = s->deadline - time_mono_ms();

    if (left <= 0)
        return false;
    sleep_ms(s->backoff < left ? s->backoff : left);
    s->backoff = s->backoff * 2 < SINK_BACKOFF_MOST_MS ? s->backoff * 2 : SINK_BACKOFF_MOST_MS;
    return true;
}

/* What a server must still be for what it remembers of an attempt to count: its version and its way of hashing. */
static void version_of(const struct look *l, char out[128])
{
    snprintf(out, 128, "%.60s %.60s", l->destination.server_version, l->hashing);
}

/* Meet the server again over a new connection: it must be the one that is written to. One that has not been up since
 * the first attempt in doubt was started anew, and what it remembers of the token says nothing. */
static int meet_again(struct chwrite *w, struct sending *s, struct err *err)
{
    char version[sizeof s->version];

    while (sink_look(w, err) != 0) {
        if (err->kind == ERR_REFUSED || !wait_more(s))
            return -1;
    }
    version_of(&w->look, version);
    if (strcmp(s->version, version) != 0)
        s->sent->same_server = false;
    if (s->doubt && w->look.uptime_ms < w->look.seen_ms - s->began) {
        s->sent->restarted = true;
        s->spoilt = true;
    }
    return 0;
}

static int failed(const struct chwrite *w, const struct sending *s, const struct http_answer *a, struct err *err)
{
    char what[200];

    snprintf(what, sizeof what, "INSERT of %" PRIu64 " rows into %.60s.%.60s, attempt %" PRIu64, w->rows, w->o.database,
             w->o.table, s->sent->attempts);
    return http_err(a, what, err);
}

/* What came back left the attempt in doubt. */
static void doubt(struct chwrite *w, struct sending *s, const struct http_answer *a)
{
    bool error = a->outcome == HTTP_ANSWERED;

    *(error ? &s->sent->errors : &s->sent->cut) += 1;
    w->window.sent += s->sent->blocks;
    s->doubt = true;
    /* The token is published before the rows are: an INSERT that fails in between is dropped when it comes again. */
    s->spoilt = s->spoilt || error || a->spoken;
    /* Over a connection that nothing was asked on before, it is not known which server took it. */
    s->sent->same_server = s->sent->same_server && !a->new_connection;
    /* Where no answer came in time, or only a proxy's, the server can execute it later, when the window has moved on.
     */
    s->left_behind = s->left_behind || a->timed_out || (!error && a->status != 0);
}

/* 0 to send once more, -1 to give up. */
static int after_failure(struct chwrite *w, struct sending *s, const struct http_answer *a, struct err *err)
{
    enum verdict_of_code v = a->outcome == HTTP_ANSWERED   ? judge(a->code)
                             : a->outcome == HTTP_NOT_SENT ? CODE_REFUSED
                                                           : CODE_IN_DOUBT;

    /* That nothing was written is believed of the server's own word on this statement alone. */
    if (v == CODE_REFUSED && a->outcome == HTTP_ANSWERED && !a->own)
        v = CODE_IN_DOUBT;
    if (v == CODE_IN_DOUBT)
        doubt(w, s, a);
    if (v == CODE_FATAL || !wait_more(s))
        return failed(w, s, a, err);
    return meet_again(w, s, err);
}

/* An acknowledgement counts when it is this server's and of this many rows. 0; 1 where it settles nothing: what was in
 * doubt is a token that the server kept over its own end. */
static int acknowledged(struct chwrite *w, struct sending *s, const struct http_answer *a, struct err *err)
{
    const struct chwrite_sent *sent = s->sent;
    bool resent = sent->cut + sent->errors > 0;

    w->window.sent += sent->blocks;
    if (a->written_rows != w->rows && !(resent && a->written_rows == 0)) {
        return err_fail(err, ERR_TROUBLE, BECAUSE(CODE_ANSWER_BROKEN),
                        "INSERT of %" PRIu64 " rows into %s.%s: the server says that it wrote %" PRIu64, w->rows,
                        w->o.database, w->o.table, a->written_rows);
    }
    if (!a->new_connection && !resent)
        return 0;
    s->sent->same_server = sent->same_server && !a->new_connection;
    if (meet_again(w, s, err) != 0)
        return -1;
    if (!s->spoilt)
        return 0;
    return time_mono_ms() < s->deadline
               ? 1
               : err_set(err, ERR_TIMEOUT,
                         "INSERT of %" PRIu64 " rows into %s.%s: the server was started anew while it was in doubt",
                         w->rows, w->o.database, w->o.table);
}

/* The settings that depend on the token. Without one, equal batches are to be kept. */
static void put_token(struct chwrite *w, struct sending *s)
{
    const char *token = s->token ? buf_str(&w->token) : NULL;

    for (size_t i = 0; i < w->n_settings; i++) {
        struct http_setting *set = &w->settings[i];
        if (strcmp(set->name, "insert_deduplicate") == 0) {
            set->value = token ? "1" : "0";
        } else if (strcmp(set->name, "deduplicate_insert") == 0) {
            set->value = token ? "enable" : "disable";
        }
    }
    w->settings[w->n_settings] = token ? (struct http_setting){"insert_deduplication_token", token}
                                       : (struct http_setting){NULL, NULL};
    w->settings[w->n_settings + 1] = (struct http_setting){NULL, NULL};
}

/* The token of the next attempt: the one at hand while it can settle what is in doubt. */
static void take_token(struct chwrite *w, struct sending *s)
{
    s->began = s->doubt ? s->began : time_mono_ms(); /* an attempt that was never sent is none */
    if (s->sent->tokens > 0 && !s->spoilt)
        return;
    s->sent->tokens++;
    buf_reset(&w->token);
    if (s->token) {
        buf_adds(&w->token, s->token);
        if (s->sent->tokens > 1)
            buf_printf(&w->token, ".%" PRIu64, s->sent->tokens);
    }
    put_token(w, s);
    s->began = time_mono_ms();
    s->doubt = s->spoilt = false;
}

static int send_until_done(struct chwrite *w, struct sending *s, struct err *err)
{
    struct http_answer a;
    int rc;

    do {
        take_token(w, s);
        s->sent->attempts++;
        rc = http_insert(w->http, buf_str(&w->statement), w->settings, w->body.p, w->body.len, &a) == HTTP_DONE
                 ? acknowledged(w, s, &a, err)
             : after_failure(w, s, &a, err) == 0 ? 1
                                                 : -1;
    } while (rc > 0);
    return rc;
}

/* What other writers have put between counts as well: the table's own part numbers say how much that can be, at most.
 */
static bool deduplicated(const struct chwrite *w, const struct sending *s)
{
    const struct chwrite_sent *sent = s->sent;
    uint64_t each = w->window.entries_per_block;

    if (!s->token || sent->tokens > 1 || sent->cut + sent->errors == 0 || !sent->same_server || s->left_behind ||
        !w->has_mark || !w->look.has_block_number || w->look.block_number < w->mark || each == 0 ||
        w->look.block_number - w->mark > w->window.size / each) {
        return false;
    }
    return chwrite_window_holds(&w->window, s->first_sent, sent->blocks);
}

static void empty_batch(struct chwrite *w)
{
    w->body.len = w->header;
    w->rows = 0;
    blocks_reset(&w->blocks);
}

int chwrite_send(struct chwrite *w, const char *token, struct chwrite_sent *sent, struct err *err)
{
    struct sending s = {.sent = sent, .token = token, .first_sent = w->window.sent, .backoff = SINK_BACKOFF_FIRST_MS};
    int rc;

    *sent = (struct chwrite_sent){.rows = w->rows, .blocks = blocks_count(&w->blocks), .same_server = true};
    version_of(&w->look, s.version);
    s.deadline = time_mono_ms() + (int64_t)w->o.retry_ms;
    rc = send_until_done(w, &s, err);
    sent->token = token ? buf_str(&w->token) : NULL;
    sent->deduplicated = rc == 0 && deduplicated(w, &s);
    empty_batch(w);
    return rc;
}
