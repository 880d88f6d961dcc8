/* SPDX-License-Identifier: Apache-2.0 */
/* A replica's state, judged, read and written. */
#include "stream/replica.h"

#include "json/json.h"

#include <stddef.h>

#define OF(member, column) \
    { \
#member, column, offsetof(struct replica_state, member) \
    }

const struct replica_number replica_numbers[REPLICA_NUMBERS] = {
    OF(readonly, "is_readonly"),     OF(expired, "is_session_expired"), OF(queue, "queue_size"),
    OF(inserts, "inserts_in_queue"), OF(merges, "merges_in_queue"),     OF(mutations, "part_mutations_in_queue"),
    OF(checks, "parts_to_check"),    OF(log_max, "log_max_index"),      OF(log_pointer, "log_pointer"),
    OF(delay_s, "absolute_delay"),   OF(lost_parts, "lost_part_count"), OF(active, "active_replicas"),
    OF(replicas, "total_replicas"),
};

uint64_t *replica_number(struct replica_state *s, size_t i)
{
    return (uint64_t *)(void *)((char *)s + replica_numbers[i].at);
}

/* ---- judged ---- */

struct judged {
    struct buf *why;
    size_t had;
    enum code code; /* of the first that was found */
};

__attribute__((format(printf, 3, 4))) static void found(struct judged *j, enum code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_adds(j->why, j->why->len > j->had ? "; " : "");
    buf_vprintf(j->why, fmt, ap);
    va_end(ap);
    j->code = j->code == CODE_NONE ? code : j->code;
}

/* Of an empty log, and of one whose first entry was not taken yet, the server shows the same two zeros. */
static void judge_log(struct judged *j, const struct replica_state *s)
{
    if (s->log_pointer > s->log_max)
        return;
    if (s->log_max == 0)
        found(j, CODE_REPLICA_BEHIND, "it took no entry of the table's log yet");
    else
        found(j, CODE_REPLICA_BEHIND, "%" PRIu64 " entries of the table's log are not in its queue",
              s->log_max - s->log_pointer + 1);
}

/* The queue, and each kind of entry that is counted in it: none of them is empty where another is not. */
static uint64_t most_waiting(const struct replica_state *s)
{
    const uint64_t kinds[] = {s->inserts, s->merges, s->mutations};
    uint64_t most = s->queue;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        most = kinds[i] > most ? kinds[i] : most;
    return most;
}

enum code replica_lacks(const struct replica_state *s, uint64_t max_delay_s, struct buf *why)
{
    struct judged j = {why, why->len, CODE_NONE};
    if (s->readonly)
        found(&j, CODE_REPLICA_READ_ONLY, "it is read-only");
    if (s->expired)
        found(&j, CODE_REPLICA_EXPIRED, "its session with the coordination service has expired");
    if (s->active == 0)
        found(&j, CODE_REPLICA_EXPIRED, "no replica of the table has a session with the coordination service");
    if (*s->exception)
        found(&j, CODE_REPLICA_EXPIRED, "it could not ask the coordination service");
    if (*s->queue_exception)
        found(&j, CODE_REPLICA_BEHIND, "its queue could not be brought up to date");
    judge_log(&j, s);
    const uint64_t waiting = most_waiting(s);
    if (waiting)
        found(&j, CODE_REPLICA_BEHIND, "%" PRIu64 " entries wait in its queue", waiting);
    if (s->checks)
        found(&j, CODE_REPLICA_BEHIND, "%" PRIu64 " parts wait to be checked", s->checks);
    if (s->delay_s > max_delay_s)
        found(&j, CODE_REPLICA_BEHIND, "it is %" PRIu64 " s behind", s->delay_s);
    return j.code;
}

enum code replica_unfit(const struct replica *r, struct buf *why)
{
    const struct {
        const char *when;
        const struct replica_state *s;
        bool has;
    } at[] = {{"before the first read", &r->before, r->has_before}, {"after the last read", &r->after, r->has_after}};
    for (size_t i = 0; i < 2; i++) {
        size_t had = why->len;
        buf_printf(why, "%s ", at[i].when);
        if (!at[i].has) {
            buf_adds(why, "the server showed no state of it");
            return CODE_REPLICA_NOT_SHOWN;
        }
        enum code code = replica_lacks(at[i].s, r->max_delay_s, why);
        if (code != CODE_NONE)
            return code;
        why->len = had;
    }
    if (r->after.log_max < r->before.log_max || r->after.log_pointer < r->before.log_pointer) {
        buf_adds(why, "the table's log went back while it was read");
        return CODE_REPLICA_BEHIND;
    }
    if (r->after.lost_parts == r->before.lost_parts)
        return CODE_NONE;
    buf_adds(why, "parts of the table were lost while it was read");
    return CODE_REPLICA_BEHIND;
}

/* ---- read and written ---- */

static int state_parse(const struct json *doc, const char *name, struct arena *arena, bool *has,
                       struct replica_state *s, struct err *err)
{
    struct json *of;
    *s = (struct replica_state){.exception = "", .queue_exception = ""};
    *has = json_get(doc, name) != NULL;
    if (!*has)
        return 0;
    if (json_need(doc, name, JSON_OBJECT, &of, "observation.replica", err) != 0)
        return -1;
    for (size_t i = 0; i < REPLICA_NUMBERS; i++)
        if (json_need_u64(of, replica_numbers[i].name, replica_number(s, i), name, err) != 0)
            return -1;
    if (json_need_str(of, "exception", arena, &s->exception, name, err) != 0)
        return -1;
    return json_need_str(of, "queue_exception", arena, &s->queue_exception, name, err);
}

int replica_parse(const struct json *doc, struct arena *arena, bool *has, struct replica *out, struct err *err)
{
    static const char where[] = "observation.replica";
    struct json *of;
    *has = json_get(doc, "replica") != NULL;
    if (!*has)
        return 0;
    if (json_need(doc, "replica", JSON_OBJECT, &of, "observation", err) != 0 ||
        json_need_str(of, "path", arena, &out->path, where, err) != 0 ||
        json_need_str(of, "name", arena, &out->name, where, err) != 0 ||
        json_need_u64(of, "max_delay_s", &out->max_delay_s, where, err) != 0 ||
        state_parse(of, "before", arena, &out->has_before, &out->before, err) != 0)
        return -1;
    return state_parse(of, "after", arena, &out->has_after, &out->after, err);
}

static void state_put(struct json_w *w, const char *name, bool has, const struct replica_state *s)
{
    if (!has)
        return;
    jw_obj(w, name);
    for (size_t i = 0; i < REPLICA_NUMBERS; i++)
        jw_u64(w, replica_numbers[i].name, *(const uint64_t *)(const void *)((const char *)s + replica_numbers[i].at));
    jw_shown(w, "exception", s->exception);
    jw_shown(w, "queue_exception", s->queue_exception);
    jw_end_obj(w);
}

void replica_put(struct json_w *w, const struct replica *r)
{
    jw_obj(w, "replica");
    jw_shown(w, "path", r->path);
    jw_shown(w, "name", r->name);
    jw_u64(w, "max_delay_s", r->max_delay_s);
    state_put(w, "before", r->has_before, &r->before);
    state_put(w, "after", r->has_after, &r->after);
    jw_end_obj(w);
}
