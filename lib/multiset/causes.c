/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why rows are missing. What explains all of them leads, then what was done to the table, then what explains some; that
 * they may only be late comes last, since it is what everybody would like to hear.
 */
#include "multiset/causes.h"

#include <inttypes.h>
#include <string.h>

/* The first that leads stays: what is said of each stands in the reason all the same. */
static void lead(struct cause *cause, const struct cause *with)
{
    if (cause->code == CODE_ROWS_MISSING)
        *cause = *with;
}

/* "3 of them", or "all of them". */
static void put_share(struct buf *why, uint64_t n, uint64_t of)
{
    if (n == of)
        buf_adds(why, n == 1 ? "it" : "all of them");
    else
        buf_printf(why, "%" PRIu64 " of them", n);
}

static void put_stretch(struct buf *why, const struct summary_run *run)
{
    buf_printf(why, "%s/%" PRIu64 ", offsets %" PRIu64 " to %" PRIu64, run->topic, run->partition, run->first,
               run->last);
}

/* ---- the rows themselves ---- */

/* Missing rows that a value explains which its column cannot hold: the row's own, or one beside it in a lost stretch.
 */
static uint64_t unfit_explains(const struct multiset_missing *m)
{
    return m->unfit - m->batches_unfit + m->batches_rows;
}

static void put_unfit(const struct multiset_missing *m, uint64_t rows, struct buf *why, struct cause *cause)
{
    if (m->batches > 0) {
        lead(cause, BECAUSE(CODE_BATCH_UNFIT, {"at", m->batch_at}));
        buf_printf(why, "; %" PRIu64 " rows that follow one another, ", m->batch.rows);
        put_stretch(why, &m->batch);
        buf_printf(why, ", hold one at %s with a value that its column cannot hold", m->batch_at);
        if (m->batches > 1)
            buf_printf(why, ", and so do %" PRIu64 " more such stretches", m->batches - 1);
    }
    if (m->unfit > m->batches_unfit) {
        if (m->unfit == rows)
            lead(cause, BECAUSE(CODE_ROWS_UNFIT));
        buf_adds(why, "; ");
        put_share(why, m->unfit - m->batches_unfit, rows);
        buf_adds(why, m->unfit - m->batches_unfit == 1 ? " holds a value that its column cannot hold"
                                                       : " hold a value that its column cannot hold");
    }
}

static void put_near(const struct multiset_missing *m, uint64_t rows, struct buf *why, struct cause *cause)
{
    if (m->near == 0)
        return;
    lead(cause, BECAUSE(CODE_ROWS_UNDER_OTHER_KEY, {"key", m->near_key}, {"other", m->near_other}));
    buf_printf(why, "; the values that are owed under %s stand under %s", m->near_key, m->near_other);
    if (rows > 1) {
        buf_adds(why, ", and so do those of ");
        put_share(why, m->near, rows);
        buf_adds(why, " under keys next to their own");
    }
}

/* ---- the table ---- */

static void put_deletion(const struct multiset_question *q, struct buf *why, struct cause *cause)
{
    if (!q->deletion)
        return;
    lead(cause, BECAUSE(CODE_ROWS_DELETED, {"mutation", q->deletion}, {"created", q->deletion_created}));
    buf_printf(why, "; mutation %s of %s, which is done, deletes rows of the table", q->deletion, q->deletion_created);
}

/* What a TTL that the table had before may have taken away nobody can tell. */
static void put_expiry(const struct multiset_question *q, struct buf *why)
{
    if (q->ttl)
        buf_printf(why, "; by the table's TTL, %s, none of them had expired", q->ttl);
}

/* A row that a merge took away had landed, and which rows those are the table does not keep. */
static void put_merges(const struct multiset_question *q, struct buf *why, struct cause *cause)
{
    if (!q->merges)
        return;
    lead(cause, BECAUSE(CODE_ROWS_MERGED));
    buf_printf(why, "; merges of the table, a %s, take rows of equal keys away", q->merges);
}

/* Nothing of what a relation owes is there. */
static bool none_there(const struct multiset_relation *of)
{
    return of->sum.owed_rows > 0 && of->sum.kind_rows[KIND_MISSING] == of->sum.owed_rows;
}

static void put_none(const struct multiset_relation *of, struct buf *why, struct cause *cause)
{
    if (!none_there(of))
        return;
    /* What nobody has read yet is not there for that reason. */
    if (of->missing.pending < of->sum.owed_rows)
        lead(cause, BECAUSE(CODE_NONE_LANDED));
    buf_adds(why, "; nothing of what is owed is in the table");
}

/* ---- the consumers ---- */

static const struct stream_log *log_of(const struct multiset_question *q, const char *topic)
{
    for (size_t i = 0; i < q->n_logs; i++)
        if (strcmp(q->logs[i].topic, topic) == 0)
            return &q->logs[i];
    return NULL;
}

/* The least of those that read the topic: whoever is behind may still bring a row. */
int64_t causes_consumed(const void *question, const char *topic, uint64_t partition)
{
    const struct stream_log *log = log_of(question, topic);
    int64_t least = MULTISET_NOT_KNOWN;
    for (size_t i = 0; log && i < log->n_groups; i++) {
        const struct log_group *g = &log->groups[i];
        const struct log_position *at = log_group_at(g, partition);
        int64_t committed = at ? at->committed : 0;
        if (g->n > 0 && (least == MULTISET_NOT_KNOWN || committed < least))
            least = committed;
    }
    return least;
}

/* The groups that have committed anything, each once with its state, in names and said: how many members they have. */
static uint64_t name_groups(const struct multiset_question *q, struct buf *names, struct buf *said)
{
    uint64_t members = 0, n = 0;
    for (size_t i = 0; i < q->n_logs; i++)
        for (size_t k = 0; k < q->logs[i].n_groups; k++) {
            const struct log_group *g = &q->logs[i].groups[k];
            bool again = false;
            for (size_t j = 0; j < i; j++)
                for (size_t l = 0; l < q->logs[j].n_groups; l++)
                    again = again || (q->logs[j].groups[l].n > 0 && strcmp(q->logs[j].groups[l].name, g->name) == 0);
            if (g->n == 0 || again)
                continue;
            members += g->members;
            buf_printf(names, "%s%s", n > 0 ? ", " : "", g->name);
            buf_printf(said, "%sgroup %s (%s, %" PRIu64 " members)", n > 0 ? " and " : "", g->name, g->state,
                       g->members);
            n++;
        }
    return members;
}

static void put_groups(const struct multiset_question *q, const struct multiset_missing *m, uint64_t rows,
                       struct buf *why, struct cause *cause)
{
    struct buf names = BUF_INIT, said = BUF_INIT;
    if (m->passed + m->pending == 0)
        return;
    uint64_t members = name_groups(q, &names, &said);
    const char *group = buf_str(&names);
    if (m->passed > 0)
        lead(cause, BECAUSE(CODE_ROWS_PASSED_OVER, {"group", group}, {"at", m->passed_at}));
    else if (m->pending == rows && members > 0)
        lead(cause, BECAUSE(CODE_ROWS_NOT_CONSUMED, {"group", group}));
    else if (m->pending == rows)
        lead(cause, BECAUSE(CODE_CONSUMER_STOPPED, {"group", group}));
    buf_printf(why, "; %s", buf_str(&said));
    if (m->passed > 0) {
        buf_adds(why, " had committed past ");
        put_share(why, m->passed, rows);
        buf_printf(why, ", from %s on: they will not come by themselves", m->passed_at);
    }
    if (m->pending > 0) {
        buf_adds(why, m->passed > 0 ? ", and had not come to " : " had not come to ");
        put_share(why, m->pending, rows);
    }
    buf_free(&names);
    buf_free(&said);
}

/* All that is missing is the newest. */
static void put_tail(const struct multiset_tail *tail, bool acknowledged, bool known, struct buf *why,
                     struct cause *cause)
{
    buf_adds(why, "; all that is missing is the newest stretch of ");
    put_stretch(why, &tail->first);
    buf_adds(why, tail->whole ? ", which is all that it owes" : "");
    if (tail->partitions > 1)
        buf_printf(why, ", and of %" PRIu64 " more partitions", tail->partitions - 1);
    if (acknowledged)
        buf_adds(why, ", which the sink had written and acknowledged");
    else if (!known) {
        lead(cause, BECAUSE(CODE_ROWS_LATE));
        buf_adds(why, ": it may not have landed yet, and no consumer group was looked at, which would say");
    }
}

void causes_put(const struct multiset_question *q, enum relation r, const struct multiset_relation *of, bool late,
                struct buf *why, struct cause *cause)
{
    const struct multiset_missing *m = &of->missing;
    uint64_t rows = of->sum.kind_rows[KIND_MISSING];
    bool unfit_all = unfit_explains(m) == rows, near_all = m->near == rows;
    if (unfit_all)
        put_unfit(m, rows, why, cause);
    if (near_all)
        put_near(m, rows, why, cause);
    put_deletion(q, why, cause);
    put_expiry(q, why);
    put_merges(q, why, cause);
    if (!unfit_all)
        put_unfit(m, rows, why, cause);
    if (!near_all)
        put_near(m, rows, why, cause);
    put_none(of, why, cause);
    put_groups(q, m, rows, why, cause);
    if (late)
        put_tail(&of->tail, r == RELATION_DELIVERY, m->passed + m->pending > 0, why, cause);
}
