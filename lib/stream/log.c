/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a log line, read and written: of each its offsets in the form in which Spark's checkpoints have them.
 */
#include "stream/log.h"

#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"

static int by_partition(const void *a, const void *b)
{
    uint64_t x = ((const struct log_position *)a)->partition, y = ((const struct log_position *)b)->partition;
    return (x > y) - (x < y);
}

/* `offsets` and `lag` are objects whose names are the partitions, the same in both. */
static int positions_parse(const struct json *doc, struct arena *arena, struct log_group *g, const char *where,
                           struct err *err)
{
    struct json *offsets, *lag;
    if (json_need(doc, "offsets", JSON_OBJECT, &offsets, where, err) != 0 ||
        json_need(doc, "lag", JSON_OBJECT, &lag, where, err) != 0)
        return -1;
    struct log_position *at = arena_zalloc(arena, (offsets->len + 1) * sizeof *at);
    const struct json *name = json_first(offsets);
    for (size_t i = 0; name; i++, name = json_next(offsets, name)) {
        if (!scan_u64(name->str, name->len, &at[i].partition) || at[i].partition > INT32_MAX)
            return err_set(err, ERR_REFUSED, "%s.offsets: a name that is no partition", where);
        const char *partition = arena_strndup(arena, name->str, name->len);
        if (json_need_i64(offsets, partition, &at[i].committed, where, err) != 0 ||
            json_need_i64(lag, partition, &at[i].lag, where, err) != 0)
            return -1;
        if (at[i].committed < 0 || at[i].lag < 0)
            return err_set(err, ERR_REFUSED, "%s: partition %s has an offset or a lag below 0", where, partition);
    }
    qsort(at, offsets->len, sizeof *at, by_partition);
    g->at = at;
    g->n = offsets->len;
    return 0;
}

static int groups_parse(const struct json *doc, struct arena *arena, struct stream_log *out, struct err *err)
{
    struct json *list;
    if (!json_get(doc, "groups"))
        return 0;
    if (json_need(doc, "groups", JSON_ARRAY, &list, "log", err) != 0)
        return -1;
    struct log_group *g = arena_zalloc(arena, (list->len + 1) * sizeof *g);
    const struct json *item = json_first(list);
    for (size_t i = 0; i < list->len; i++, item = json_next(list, item)) {
        char where[64];
        snprintf(where, sizeof where, "log.groups[%zu]", i);
        if (json_need_str(item, "group", arena, &g[i].name, where, err) != 0 ||
            json_need_str(item, "state", arena, &g[i].state, where, err) != 0 ||
            json_need_u64(item, "members", &g[i].members, where, err) != 0 ||
            positions_parse(item, arena, &g[i], where, err) != 0)
            return -1;
    }
    out->groups = g;
    out->n_groups = list->len;
    return 0;
}

int stream_log(const struct stream_line *line, struct arena *arena, struct stream_log *out, struct err *err)
{
    const struct json *doc = stream_doc(line, arena, err);
    *out = (struct stream_log){0};
    if (!doc)
        return -1;
    if (json_need_str(doc, "topic", arena, &out->topic, "log", err) != 0 ||
        json_opt_bool(doc, "again", &out->again, "log", err) != 0 || groups_parse(doc, arena, out, err) != 0)
        return stream_misfit(line, err);
    return 0;
}

static void put_by_partition(struct json_w *w, const char *name, const struct log_group *g, bool lag)
{
    jw_obj(w, name);
    for (size_t i = 0; i < g->n; i++) {
        char partition[24];
        jw_i64(w, fact_number(partition, g->at[i].partition), lag ? g->at[i].lag : g->at[i].committed);
    }
    jw_end_obj(w);
}

void stream_log_put_groups(struct json_w *w, const struct log_group *groups, size_t n)
{
    if (n == 0)
        return;
    jw_arr(w, "groups");
    for (size_t i = 0; i < n; i++) {
        jw_obj(w, NULL);
        jw_str(w, "group", groups[i].name);
        jw_str(w, "state", groups[i].state);
        jw_u64(w, "members", groups[i].members);
        put_by_partition(w, "offsets", &groups[i], false);
        put_by_partition(w, "lag", &groups[i], true);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

const struct log_position *log_group_at(const struct log_group *g, uint64_t partition)
{
    const struct log_position key = {.partition = partition};
    return g->n ? bsearch(&key, g->at, g->n, sizeof *g->at, by_partition) : NULL;
}
