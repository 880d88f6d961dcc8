/* SPDX-License-Identifier: Apache-2.0 */
/* Declared ranges: read from their text, held against what was found of the log. */
#include "scope/ranges.h"

#include <stdlib.h>
#include <string.h>

#define COMMITTED "read_committed"

static int not_a_range(const struct declare_range *r, struct err *err)
{
    return err_set(err, ERR_REFUSED, "--range=%s is not P:FROM-TO, TOPIC/P:FROM-TO or ALL", r->said);
}

int range_read(struct arena *a, struct declare_range *r, struct err *err)
{
    const char *slash = strrchr(r->said, '/'), *p = slash ? slash + 1 : r->said;
    if (slash == r->said)
        return not_a_range(r, err);
    r->topic = slash ? arena_strndup(a, r->said, (size_t)(slash - r->said)) : NULL;
    r->all = strcmp(p, "ALL") == 0;
    if (r->all)
        return 0;
    const char *colon = strchr(p, ':'), *dash = colon ? strchr(colon, '-') : NULL;
    if (!dash || !scan_u64(p, (size_t)(colon - p), &r->partition) ||
        !scan_i64(colon + 1, (size_t)(dash - colon) - 1, &r->from) || !scan_i64(dash + 1, strlen(dash + 1), &r->to) ||
        r->partition > INT32_MAX || r->to < 0)
        return not_a_range(r, err);
    if (r->from > r->to)
        return err_set(err, ERR_REFUSED, "--range=%s runs backwards", r->said);
    if (r->from == r->to)
        return err_set(err, ERR_REFUSED, "--range=%s holds no offset: its end is the offset after the last", r->said);
    return 0;
}

const struct declare_log *log_found(const struct declare *d, const char *topic)
{
    const uint64_t *place = map_find(&d->topics, topic, strlen(topic));
    return place ? &d->logs[*place] : NULL;
}

/* The topic that a range without one means. */
static int only_topic(const struct declare *d, const struct declare_range *r, const char **topic, struct err *err)
{
    if (r->topic || d->topic) {
        *topic = r->topic ? r->topic : d->topic;
        return 0;
    }
    if (d->n_logs == 1) {
        *topic = d->logs[0].topic;
        return 0;
    }
    if (d->n_logs == 0)
        return err_set(err, ERR_REFUSED, "no topic: look at it with log-look, or name it with --topic");
    return err_set(err, ERR_REFUSED, "--range=%s: %zu topics were found; say TOPIC/%s", r->said, d->n_logs, r->said);
}

/* The scope as it grows: where each topic, and each "topic/partition", stands. */
struct growing {
    struct declare *d;
    struct scope *scope;
    struct map topics, partitions;
};

static struct scope_source *source_of(struct growing *g, const char *topic)
{
    struct scope *s = g->scope;
    uint64_t place = *map_at(&g->topics, topic, strlen(topic), s->n_sources);
    if (place == s->n_sources)
        s->sources[s->n_sources++] = (struct scope_source){.topic = topic};
    return &s->sources[place];
}

static int add_range(struct growing *g, const char *topic, const struct declare_range *r, struct scope_range range,
                     struct err *err)
{
    struct scope_source *s = source_of(g, topic);
    struct buf key = BUF_INIT;
    buf_printf(&key, "%s/%" PRIu64, topic, range.partition);
    const char *name = arena_strndup(g->d->arena, key.p, key.len);
    uint64_t place = *map_at(&g->partitions, name, key.len, s->n_partitions);
    buf_free(&key);
    if (place < s->n_partitions) {
        const struct scope_range *had = &s->partitions[place];
        bool overlap = had->from < range.to && range.from < had->to;
        return err_set(err, ERR_REFUSED, "%s%s: %s has the range %" PRId64 "-%" PRId64 " already%s", r->by, r->said,
                       name, had->from, had->to,
                       overlap ? ", and the two overlap" : "; a scope holds one range of a partition");
    }
    s->partitions = declare_room(g->d->arena, s->partitions, s->n_partitions, sizeof *s->partitions);
    s->partitions[s->n_partitions++] = range;
    return 0;
}

const struct declare_bounds *log_partition(const struct declare_log *log, uint64_t partition)
{
    size_t low = 0, high = log->n_partitions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->partitions[middle].partition < partition)
            low = middle + 1;
        else
            high = middle;
    }
    return low < log->n_partitions && log->partitions[low].partition == partition ? &log->partitions[low] : NULL;
}

/* A range beyond what the log holds cannot be read whole, now or ever; what retention took was once there. */
static int within(struct declare *d, const struct declare_log *log, const struct declare_range *r, struct err *err)
{
    const struct declare_bounds *b = log_partition(log, r->partition);
    if (!b)
        return err_set(err, ERR_REFUSED, "%s%s: %s has no partition %" PRIu64 "; it has %zu", r->by, r->said,
                       log->topic, r->partition, log->n_partitions);
    if (r->to > b->high)
        return err_set(err, ERR_REFUSED, "%s%s ends at %" PRId64 ", and the log of %s/%" PRIu64 " ends at %" PRId64,
                       r->by, r->said, r->to, log->topic, b->partition, b->high);
    if (r->from >= b->low)
        return 0;
    char place[300]; /* a topic's name has at most 249 bytes */
    snprintf(place, sizeof place, "%s/%" PRIu64, log->topic, b->partition);
    return declare_say(d, STATUS_UNAVAILABLE,
                       BECAUSE(CODE_RANGE_EXPIRED, {"offset", FACT_NUMBER((uint64_t)b->low)}, {"partition", place}),
                       "%s%s begins at %" PRId64 ", and the first offset of %s is %" PRId64 ": %" PRId64
                       " offsets are gone",
                       r->by, r->said, r->from, place, b->low, (r->to < b->low ? r->to : b->low) - r->from);
}

/* ---- by files of offsets, and by times ---- */

/* Where a file has the partition; NULL where it has not. */
static const struct declare_offset *offset_of(const struct declare_offsets *o, const char *topic, uint64_t partition)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%s/%" PRIu64, topic, partition);
    const uint64_t *place = map_find(&o->places, key.p, key.len);
    buf_free(&key);
    return place ? &o->at[*place] : NULL;
}

/* Where a range begins: at an offset of the file, at the first record since, or where the log does. A partition that is
 * not in the file came after it. */
static int begin_of(const struct declare *d, const struct declare_log *log, const struct declare_bounds *b,
                    struct scope_range *r, struct err *err)
{
    const struct declare_offset *o = offset_of(&d->from, log->topic, b->partition);
    r->from = log->since && !d->from.given ? b->since : b->low;
    if (o && o->offset == DECLARE_LATEST)
        return err_set(err, ERR_REFUSED, "--from-offsets: %s/%" PRIu64 " has -1, its end, at which no range begins",
                       log->topic, b->partition);
    if (o && o->offset != DECLARE_EARLIEST)
        r->from = o->offset;
    return 0;
}

static int end_of(const struct declare *d, const struct declare_log *log, const struct declare_bounds *b,
                  struct scope_range *r, struct err *err)
{
    const struct declare_offset *o = offset_of(&d->to, log->topic, b->partition);
    int64_t end = strcmp(d->isolation, COMMITTED) == 0 ? b->stable : b->high;
    if (o && o->offset == DECLARE_EARLIEST)
        return err_set(err, ERR_REFUSED, "--to-offsets: %s/%" PRIu64 " has -2, its beginning, at which no range ends",
                       log->topic, b->partition);
    if (!o && d->to.given && b->high > b->low)
        return err_set(err, ERR_REFUSED,
                       "--to-offsets: the file has no offset of %s/%" PRIu64 ", which holds %" PRId64 " offsets",
                       log->topic, b->partition, b->high - b->low);
    if (log->until && !d->to.given && b->until < end)
        end = b->until;
    r->to = o && o->offset != DECLARE_LATEST ? o->offset : end;
    return 0;
}

static int add_chosen(struct growing *g, const struct declare_log *log, const struct declare_bounds *b, struct err *err)
{
    struct declare *d = g->d;
    struct scope_range range = {.partition = b->partition, .has_from = true};
    if (begin_of(d, log, b, &range, err) != 0 || end_of(d, log, b, &range, err) != 0)
        return -1;
    char said[330];
    snprintf(said, sizeof said, "%s/%" PRIu64 ":%" PRId64 "-%" PRId64, log->topic, b->partition, range.from, range.to);
    const struct declare_range r = {.by = "the range ",
                                    .said = arena_strndup(d->arena, said, strlen(said)),
                                    .partition = b->partition,
                                    .from = range.from,
                                    .to = range.to};
    bool by_file = d->from.given || d->to.given;
    if (range.from > range.to && by_file)
        return err_set(err, ERR_REFUSED, "the range %s, by the offsets of the files, runs backwards", r.said);
    if (range.from > range.to) /* an open transaction holds the log before the first record since */
        range.to = range.from;
    if (by_file && range.from < range.to && within(d, log, &r, err) != 0)
        return -1;
    return add_range(g, log->topic, &r, range, err);
}

/* Every topic and partition of a file is one that was looked at. */
static int known(const struct declare *d, const char *option, const struct declare_offsets *o, struct err *err)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct declare_log *log = log_found(d, o->at[i].topic);
        if (!log || !log_partition(log, o->at[i].partition))
            return err_set(err, ERR_REFUSED, "--%s: %s/%" PRIu64 " was not looked at, or is not there", option,
                           o->at[i].topic, o->at[i].partition);
    }
    return 0;
}

/* Nobody looked: both files say it all. */
static int take_files(struct growing *g, struct err *err)
{
    struct declare *d = g->d;
    if (!d->from.given || !d->to.given)
        return err_set(err, ERR_REFUSED, "--%s alone needs log-look before, which finds the other end",
                       d->from.given ? "from-offsets" : "to-offsets");
    for (size_t i = 0; i < d->to.n; i++) {
        const struct declare_offset *to = &d->to.at[i], *from = offset_of(&d->from, to->topic, to->partition);
        if (!from || from->offset < 0 || to->offset < 0 || from->offset > to->offset)
            return err_set(err, ERR_REFUSED,
                           "%s/%" PRIu64 ": both files must have its offset, in order, where log-look did not look",
                           to->topic, to->partition);
        const struct declare_range r = {.by = "the range ", .said = to->topic, .partition = to->partition};
        if (add_range(g, to->topic, &r, (struct scope_range){to->partition, true, from->offset, to->offset}, err) != 0)
            return -1;
    }
    return d->from.n == d->to.n ? 0
                                : err_set(err, ERR_REFUSED, "--from-offsets has a partition that --to-offsets has not");
}

/* No range was said. */
static int take_chosen(struct growing *g, struct err *err)
{
    struct declare *d = g->d;
    if (d->n_logs == 0)
        return d->from.given || d->to.given
                   ? take_files(g, err)
                   : err_set(err, ERR_REFUSED, "--range is needed where log-look did not look: which offsets are owed");
    if (known(d, "from-offsets", &d->from, err) != 0 || known(d, "to-offsets", &d->to, err) != 0)
        return -1;
    for (size_t i = 0; i < d->n_logs; i++) {
        const struct declare_log *log = &d->logs[i];
        if (d->topic && strcmp(d->topic, log->topic) != 0)
            continue;
        source_of(g, log->topic);
        for (size_t k = 0; k < log->n_partitions; k++)
            if (add_chosen(g, log, &log->partitions[k], err) != 0)
                return -1;
        g->scope->declared.from = d->from.given ? SCOPE_BY_OFFSETS : log->since;
        g->scope->declared.to = d->to.given ? SCOPE_BY_OFFSETS : log->until;
    }
    return 0;
}

static int add_all(struct growing *g, const struct declare_range *r, const struct declare_log *log, struct err *err)
{
    bool committed = strcmp(g->d->isolation, COMMITTED) == 0;
    source_of(g, log->topic); /* there also without a partition, which is refused */
    for (size_t i = 0; i < log->n_partitions; i++) {
        const struct declare_bounds *b = &log->partitions[i];
        int64_t to = committed ? b->stable : b->high;
        struct scope_range range = {b->partition, true, b->low, to > b->low ? to : b->low};
        if (add_range(g, log->topic, r, range, err) != 0)
            return -1;
    }
    return 0;
}

static int take_all(struct growing *g, const struct declare_range *r, struct err *err)
{
    const struct declare *d = g->d;
    const char *topic = r->topic ? r->topic : d->topic;
    const struct declare_log *log = topic ? log_found(d, topic) : NULL;
    if (d->n_logs == 0 || (topic && !log))
        return err_set(err, ERR_REFUSED, "--range=%s: %s was not looked at; ALL needs log-look before", r->said,
                       topic ? topic : "no topic");
    for (size_t i = 0; i < d->n_logs; i++)
        if ((!topic || log == &d->logs[i]) && add_all(g, r, &d->logs[i], err) != 0)
            return -1;
    return 0;
}

static int take_one(struct growing *g, const struct declare_range *r, struct err *err)
{
    struct declare *d = g->d;
    const char *topic = NULL;
    if (only_topic(d, r, &topic, err) != 0)
        return -1;
    const struct declare_log *log = log_found(d, topic);
    if (!log && d->n_logs > 0)
        return err_set(err, ERR_REFUSED, "--range=%s: topic '%s' was not looked at", r->said, topic);
    if (log && within(d, log, r, err) != 0)
        return -1;
    return add_range(g, topic, r, (struct scope_range){r->partition, true, r->from, r->to}, err);
}

/* ---- ids ---- */

static int same_id(const char *option, const char *said, const char *found, const char *topic, const char **to,
                   struct err *err)
{
    if (said && found && strcmp(said, found) != 0)
        return err_set(err, ERR_REFUSED, "--%s=%s, and the log of %s has %s", option, said, topic, found);
    *to = found ? found : said;
    return 0;
}

static int identify(const struct declare *d, struct scope *s, struct err *err)
{
    if (d->topic_id && s->n_sources > 1)
        return err_set(err, ERR_REFUSED, "--topic-id=%s, and the ranges are of %zu topics: look at them with log-look",
                       d->topic_id, s->n_sources);
    for (size_t i = 0; i < s->n_sources; i++) {
        struct scope_source *source = &s->sources[i];
        const struct declare_log *log = log_found(d, source->topic);
        source->isolation = d->isolation;
        if (same_id("cluster-id", d->cluster_id, log ? log->cluster_id : NULL, source->topic, &source->cluster_id,
                    err) != 0 ||
            same_id("topic-id", d->topic_id, log ? log->topic_id : NULL, source->topic, &source->topic_id, err) != 0)
            return -1;
        if (source->cluster_id && s->sources[0].cluster_id && strcmp(source->cluster_id, s->sources[0].cluster_id) != 0)
            return err_set(err, ERR_REFUSED,
                           "%s is of cluster %s, and %s of cluster %s: one reading has one connection",
                           s->sources[0].topic, s->sources[0].cluster_id, source->topic, source->cluster_id);
    }
    return 0;
}

static int by_partition(const void *a, const void *b)
{
    uint64_t x = ((const struct scope_range *)a)->partition, y = ((const struct scope_range *)b)->partition;
    return (x > y) - (x < y);
}

/* Nothing to read, which establishes nothing: every range is of ALL, and so is its log known. */
static int nothing_left(struct declare *d, const struct scope *s)
{
    bool expired = false;
    if (s->declared.from || s->declared.to)
        return declare_say(d, STATUS_UNAVAILABLE, BECAUSE(CODE_LOG_EMPTY),
                           "the log of %s has no offset between those that %s: the ranges hold none, which establishes "
                           "nothing",
                           s->sources[0].topic,
                           d->from.given || d->to.given ? "the files of offsets give" : "the times give");
    for (size_t i = 0; i < s->n_sources; i++) {
        const struct declare_log *log = log_found(d, s->sources[i].topic);
        for (size_t k = 0; k < log->n_partitions; k++) {
            const struct declare_bounds *b = &log->partitions[k];
            if (b->high > b->low)
                return declare_say(d, STATUS_UNAVAILABLE, BECAUSE(CODE_TRANSACTION_OPEN),
                                   "an open transaction holds the log of %s/%" PRIu64 " at %" PRId64
                                   ", and its end is %" PRId64 ": the ranges hold no offset, which establishes nothing",
                                   log->topic, b->partition, b->stable, b->high);
            expired = expired || b->low > 0;
        }
    }
    if (expired)
        return declare_say(d, STATUS_UNAVAILABLE, BECAUSE(CODE_LOG_EXPIRED),
                           "the log of %s begins where it ends: all of it is gone, which establishes nothing",
                           s->sources[0].topic);
    return declare_say(d, STATUS_UNAVAILABLE, BECAUSE(CODE_LOG_EMPTY),
                       "the log of %s is empty: the ranges hold no offset, which establishes nothing",
                       s->sources[0].topic);
}

/* The ranges that begin where their log does, above 0. */
static void list_gone(struct declare *d, struct scope *s, size_t n_ranges)
{
    s->declared.gone = arena_zalloc(d->arena, (n_ranges + 1) * sizeof *s->declared.gone);
    for (size_t i = 0; i < s->n_sources; i++) {
        const struct scope_source *source = &s->sources[i];
        const struct declare_log *log = log_found(d, source->topic);
        for (size_t k = 0; log && k < source->n_partitions; k++) {
            const struct scope_range *r = &source->partitions[k];
            const struct declare_bounds *b = log_partition(log, r->partition);
            if (b && b->low > 0 && b->low == r->from)
                s->declared.gone[s->declared.n_gone++] = (struct scope_gone){source->topic, r->partition,
                                                                             (uint64_t)r->from};
        }
    }
}

static int take(struct declare *d, struct scope *out, struct err *err)
{
    struct growing g = {d, out, MAP_INIT, MAP_INIT};
    int rc = d->n_ranges == 0 ? take_chosen(&g, err) : 0;
    for (size_t i = 0; i < d->n_ranges && rc == 0; i++)
        rc = (d->ranges[i].all ? take_all : take_one)(&g, &d->ranges[i], err);
    map_free(&g.topics);
    map_free(&g.partitions);
    return rc;
}

int ranges_source(struct declare *d, struct scope *out, struct err *err)
{
    int64_t offsets = 0;
    size_t n_ranges = 0;
    bool used = !d->topic;
    if (d->n_ranges > 0 && (d->from.given || d->to.given))
        return err_set(err, ERR_REFUSED, "--range=%s, and a file of offsets is given too", d->ranges[0].said);
    for (size_t i = 0; i < d->n_logs; i++)
        if (d->n_ranges > 0 && (d->logs[i].since || d->logs[i].until))
            return err_set(err, ERR_REFUSED, "--range=%s, and log-look was asked for a range by its times",
                           d->ranges[0].said);
    if (d->topic && d->n_logs > 0 && !log_found(d, d->topic))
        return err_set(err, ERR_REFUSED, "--topic=%s was not looked at", d->topic);
    out->sources = arena_zalloc(d->arena, (d->n_ranges + d->n_logs + d->to.n + 1) * sizeof *out->sources);
    if (take(d, out, err) != 0)
        return -1;
    for (size_t i = 0; i < out->n_sources; i++) {
        struct scope_source *s = &out->sources[i];
        if (s->n_partitions == 0)
            return err_set(err, ERR_REFUSED, "%s has no partition", s->topic);
        used = used || strcmp(s->topic, d->topic) == 0;
        n_ranges += s->n_partitions;
        qsort(s->partitions, s->n_partitions, sizeof *s->partitions, by_partition);
        for (size_t k = 0; k < s->n_partitions; k++)
            offsets |= s->partitions[k].to - s->partitions[k].from;
    }
    if (!used)
        return err_set(err, ERR_REFUSED, "--topic=%s, and each --range names another topic", d->topic);
    if (offsets == 0)
        nothing_left(d, out);
    list_gone(d, out, n_ranges);
    return identify(d, out, err);
}

static bool taken_whole(const struct declare *d, const char *topic)
{
    if (d->n_ranges == 0 && !d->to.given)
        return true;
    for (size_t i = 0; i < d->n_ranges; i++)
        if (d->ranges[i].all && (!d->ranges[i].topic || strcmp(d->ranges[i].topic, topic) == 0))
            return true;
    return false;
}

/* An open transaction: a range past it is waited for by the reader, and one of ALL ends before it. */
static void note_open(const struct scope_range *r, const struct declare_bounds *b, const char *topic, bool all,
                      struct buf *note)
{
    const char *sep = note->len ? "; " : "";
    if (r->to > b->stable && !all)
        buf_printf(note,
                   "%sthe range of %s/%" PRIu64 " ends at %" PRId64
                   ", and an open transaction holds the log at %" PRId64,
                   sep, topic, r->partition, r->to, b->stable);
    else if (all && r->to < b->high)
        buf_printf(note,
                   "%sthe range of %s/%" PRIu64 " ends at %" PRId64
                   ", where an open transaction holds the log, and not at its end, %" PRId64,
                   sep, topic, r->partition, r->to, b->high);
}

void ranges_note(const struct declare *d, const struct scope *s, struct buf *note)
{
    bool committed = strcmp(d->isolation, COMMITTED) == 0;
    for (size_t i = 0; i < s->declared.n_gone; i++) {
        buf_adds(note, note->len ? "; " : "");
        scope_gone_say(&s->declared.gone[i], note);
    }
    for (size_t i = 0; i < s->n_sources; i++) {
        const struct declare_log *log = log_found(d, s->sources[i].topic);
        if (!log)
            continue;
        if (log->policy && strstr(log->policy, "compact"))
            buf_printf(note, "%skafka-read will not take %s for whole: it is compacted", note->len ? "; " : "",
                       log->topic);
        bool all = taken_whole(d, log->topic);
        for (size_t k = 0; committed && k < s->sources[i].n_partitions; k++) {
            const struct scope_range *r = &s->sources[i].partitions[k];
            const struct declare_bounds *b = log_partition(log, r->partition);
            if (b)
                note_open(r, b, log->topic, all, note);
        }
    }
}
