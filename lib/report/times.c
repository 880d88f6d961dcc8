/* SPDX-License-Identifier: Apache-2.0 */
/* The times of records decide nothing, and are told: those of a run are in order, and hold those of its findings. */
#include "report/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A run, or what a finding says of a place, in the order in which a place is looked for. */
struct at_run {
    enum relation relation;
    enum finding_kind kind;
    const char *topic;
    size_t topic_len;
    uint64_t partition, first;
    const struct summary_run *run;
};

static int order(const void *a, const void *b)
{
    const struct at_run *x = a, *y = b;
    size_t n = x->topic_len < y->topic_len ? x->topic_len : y->topic_len;
    int d = (x->relation > y->relation) - (x->relation < y->relation);
    d = d ? d : (x->kind > y->kind) - (x->kind < y->kind);
    d = d ? d : memcmp(x->topic, y->topic, n);
    d = d ? d : (x->topic_len > y->topic_len) - (x->topic_len < y->topic_len);
    d = d ? d : (x->partition > y->partition) - (x->partition < y->partition);
    return d ? d : (x->first > y->first) - (x->first < y->first);
}

/* Every run that is listed, in order; *n of them. NULL with *err where the times of one are not. */
static struct at_run *gather(const struct report *r, size_t *n, struct err *err)
{
    size_t cap = 0;
    for (const struct report_summary *s = r->summary; s; s = s->next)
        cap += s->line.runs_listed;
    struct at_run *all = xmalloc((cap + 1) * sizeof *all);
    *n = 0;
    for (const struct report_summary *s = r->summary; s; s = s->next)
        for (size_t i = 0; i < s->line.runs_listed; i++) {
            const struct summary_run *run = &s->line.runs[i];
            if (run->oldest.has && run->oldest.ms > run->newest.ms) {
                free(all);
                err_set(err, ERR_REFUSED, "line %" PRIu64 ": a run whose oldest record is newer than its newest",
                        s->line_no);
                return NULL;
            }
            all[(*n)++] = (struct at_run){s->line.relation, run->kind,  run->topic, strlen(run->topic),
                                          run->partition,   run->first, run};
        }
    qsort(all, *n, sizeof *all, order);
    return all;
}

/* The last run that begins no later than the place; NULL where it is of another partition, or ends before. */
static const struct summary_run *run_at(const struct at_run *all, size_t n, const struct at_run *place)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(&all[middle], place) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    struct at_run found = all[low - 1];
    found.first = place->first;
    return order(&found, place) == 0 && found.run->last >= place->first ? found.run : NULL;
}

static int hold_finding(const struct report_finding *f, const struct at_run *all, size_t n, struct err *err)
{
    const struct finding *l = &f->line;
    struct stream_place at;
    if (!l->ts.has)
        return 0;
    if (!l->at || !stream_place_split(l->at, strlen(l->at), &at))
        return err_set(err, ERR_REFUSED, "line %" PRIu64 ": a finding with a record's time and no place", f->line_no);
    const struct at_run place = {l->relation, l->kind, l->at, at.topic_len, at.partition, at.offset, NULL};
    const struct summary_run *run = run_at(all, n, &place);
    if (!run || (run->oldest.has && run->oldest.ms <= l->ts.ms && l->ts.ms <= run->newest.ms))
        return 0;
    return err_set(err, ERR_REFUSED,
                   "line %" PRIu64 ": a finding of a time that is not among those of the run that it lies in",
                   f->line_no);
}

int report_hold_times(const struct report *r, struct err *err)
{
    size_t n;
    struct at_run *all = gather(r, &n, err);
    int rc = all ? 0 : -1;
    for (const struct report_finding *f = r->finding; f && rc == 0; f = f->next)
        rc = hold_finding(f, all, n, err);
    free(all);
    return rc;
}
