/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the logs around a read of the table, and what they show of the ranges. */
#include "scope/looks.h"

#include <inttypes.h>
#include <string.h>

#include "scope/ranges.h"
#include "stream/stream.h"

static const char *const when_words[LOOKS] = {"before the table was read", "after the table was read"};

void scope_looks_init(struct scope_looks *l)
{
    *l = (struct scope_looks){.arena = ARENA_INIT};
    for (size_t i = 0; i < LOOKS; i++)
        l->at[i].arena = &l->arena;
}

void scope_looks_free(struct scope_looks *l)
{
    for (size_t i = 0; i < LOOKS; i++)
        declare_free(&l->at[i]);
    arena_free(&l->arena);
}

int scope_looks_take(struct scope_looks *l, const struct stream_line *line, struct err *err)
{
    bool again = false;
    const struct json *doc = stream_doc(line, &l->arena, err);
    if (!doc)
        return -1;
    if (json_opt_bool(doc, "again", &again, "log", err) != 0 ||
        declare_log(&l->at[again ? LOOKED_AFTER : LOOKED_BEFORE], doc, err) != 0)
        return stream_misfit(line, err);
    if (!again)
        l->last_before = line->line_no;
    else if (!l->first_after)
        l->first_after = line->line_no;
    return 0;
}

/* ---- what they show ---- */

struct question {
    const struct scope_source *source;
    const struct declare_log *log;
    enum scope_when when;
    struct cause *cause;
    struct buf *why;
};

static bool say(const struct question *q, const struct cause *cause)
{
    *q->cause = *cause;
    return false;
}

static bool same_log(const struct question *q)
{
    const struct scope_source *s = q->source;
    if (!s->topic_id || !q->log->topic_id) {
        buf_printf(q->why,
                   "the topic id of %s is not known, so that another topic of the name would not be told from it",
                   s->topic);
        return say(q, BECAUSE(CODE_TOPIC_ID_UNKNOWN, {"topic", s->topic}));
    }
    if (strcmp(s->topic_id, q->log->topic_id) != 0) {
        buf_printf(q->why, "%s was another topic %s", s->topic, when_words[q->when]);
        return say(q, BECAUSE(CODE_TOPIC_RECREATED, {"topic", s->topic}));
    }
    if (!s->cluster_id || !q->log->cluster_id || strcmp(s->cluster_id, q->log->cluster_id) != 0) {
        buf_printf(q->why, "%s is not known to be of the scope's cluster %s", s->topic, when_words[q->when]);
        return say(q, BECAUSE(CODE_CLUSTER_OTHER, {"topic", s->topic}));
    }
    return true;
}

/* The log's partition holds what the range (NULL: the scope has none of it) does, from the first offset that there ever
 * was. */
static bool same_range(const struct question *q, const struct declare_bounds *b, const struct scope_range *r)
{
    bool committed = strcmp(q->source->isolation, "read_committed") == 0;
    int64_t end = committed ? b->stable : b->high, to = r ? r->to : 0;
    char place[300];
    snprintf(place, sizeof place, "%s/%" PRIu64, q->source->topic, b->partition);
    if (b->low > 0 || (r && r->from > 0)) {
        buf_printf(q->why, "the %s of %s begins at %" PRId64 ": what lay before it may have left rows",
                   b->low > 0 ? "log" : "range", place, b->low > 0 ? b->low : r->from);
        return say(q, BECAUSE(CODE_LOG_NOT_FROM_START, {"partition", place}));
    }
    if (end != to) {
        buf_printf(q->why, "%s ended at %" PRId64 " %s, and the scope's range of it at %" PRId64, place, end,
                   when_words[q->when], to);
        return say(q, BECAUSE(CODE_LOG_WENT_ON, {"partition", place}));
    }
    return true;
}

static bool unseen(const struct question *q)
{
    buf_printf(q->why, "the log of %s was not looked at %s", q->source->topic, when_words[q->when]);
    return say(q, BECAUSE(CODE_LOG_NOT_LOOKED_AT, {"topic", q->source->topic},
                          {"option", q->when == LOOKED_AFTER ? "--again" : "--topic"}));
}

static bool covers(const struct question *q)
{
    if (!q->log)
        return unseen(q);
    if (!same_log(q))
        return false;
    for (size_t i = 0; i < q->source->n_partitions; i++)
        if (!log_partition(q->log, q->source->partitions[i].partition))
            return unseen(q);
    /* Both are in ascending order. */
    size_t r = 0, n = q->source->n_partitions;
    for (size_t i = 0; i < q->log->n_partitions; i++) {
        const struct declare_bounds *b = &q->log->partitions[i];
        while (r < n && q->source->partitions[r].partition < b->partition)
            r++;
        bool has = r < n && q->source->partitions[r].partition == b->partition;
        if (!same_range(q, b, has ? &q->source->partitions[r] : NULL))
            return false;
    }
    return true;
}

bool scope_looks_cover(const struct scope_looks *l, const struct scope *s, uint64_t observed, struct cause *cause,
                       struct buf *why)
{
    for (size_t i = 0; i < s->n_sources; i++)
        for (enum scope_when when = LOOKED_BEFORE; when < LOOKS; when++) {
            bool in_time = when == LOOKED_BEFORE ? l->last_before < observed : l->first_after > observed;
            struct question q = {.source = &s->sources[i], .when = when, .cause = cause, .why = why};
            q.log = observed > 0 && in_time ? log_found(&l->at[when], s->sources[i].topic) : NULL;
            if (!covers(&q))
                return false;
        }
    return true;
}

bool scope_looks_all(const struct scope_looks *l, const struct scope *s)
{
    struct cause cause = CAUSE_INIT;
    struct buf why = BUF_INIT;
    bool all = true;
    for (size_t i = 0; i < s->n_sources && all; i++) {
        struct question q = {&s->sources[i], log_found(&l->at[LOOKED_BEFORE], s->sources[i].topic), LOOKED_BEFORE,
                             &cause, &why};
        all = covers(&q);
    }
    buf_free(&why);
    return all;
}
