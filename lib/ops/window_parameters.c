/* SPDX-License-Identifier: Apache-2.0 */
/* A window's parameters: read, and written as they run. */
#include "ops/window.h"

#include "stream/codes.h"

#include <string.h>

#define COLUMNS_MAX 256
#define SCALE_MAX 38

static int read_columns(struct window *w, const struct json *list, struct err *err)
{
    w->groups = arena_alloc(&w->a, (list->len + 1) * sizeof *w->groups);
    for (const struct json *v = json_first(list); v; v = json_next(list, v)) {
        if (v->type != JSON_STRING || v->len == 0 || memchr(v->str, '\0', v->len))
            return err_set(err, ERR_REFUSED, "window.partition_by[%zu]: not a column's name", w->n_groups);
        w->groups[w->n_groups++] = arena_strndup(&w->a, v->str, v->len);
    }
    return 0;
}

static int read_aggregate(struct window *w, const struct json *v, struct aggregate *g, const char *place,
                          struct err *err)
{
    static const char *const known[] = {"function", "column", "as", "scale", NULL};
    const char *function = NULL;
    if (json_only(v, known, place, err) != 0 || json_need_str(v, "function", &w->a, &function, place, err) != 0 ||
        json_need_str(v, "as", &w->a, &g->as, place, err) != 0 ||
        json_opt_str(v, "column", &w->a, &g->column, place, err) != 0 ||
        json_opt_u64(v, "scale", &g->scale, place, err) != 0)
        return -1;
    bool sum = strcmp(function, "sum") == 0;
    g->function = sum ? SUM : COUNT;
    if (!sum && strcmp(function, "count") != 0)
        return err_set(err, ERR_REFUSED, "%s.function: neither count nor sum", place);
    if (sum && !g->column)
        return err_set(err, ERR_REFUSED, "%s.column: missing", place);
    if (!sum && json_get(v, "scale"))
        return err_set(err, ERR_REFUSED, "%s.scale: a count has none", place);
    if (g->scale > SCALE_MAX)
        return err_set(err, ERR_REFUSED, "%s.scale: past %d", place, SCALE_MAX);
    return 0;
}

static int read_aggregates(struct window *w, const struct json *list, struct err *err)
{
    char place[64];
    w->aggregates = arena_zalloc(&w->a, (list->len + 1) * sizeof *w->aggregates);
    for (const struct json *v = json_first(list); v; v = json_next(list, v), w->n_aggregates++) {
        snprintf(place, sizeof place, "window.aggregates[%zu]", w->n_aggregates);
        if (read_aggregate(w, v, &w->aggregates[w->n_aggregates], place, err) != 0)
            return -1;
    }
    return w->n_aggregates > 0 ? 0 : err_set(err, ERR_REFUSED, "window.aggregates: none");
}

/* Every column that it gives has one name. */
static int names_once(const struct window *w, struct err *err)
{
    struct map names = MAP_INIT;
    const char *twice = NULL;
    map_add(&names, WINDOW_START, strlen(WINDOW_START), 0);
    map_add(&names, WINDOW_END, strlen(WINDOW_END), 0);
    for (size_t i = 0; i < w->n_groups + w->n_aggregates && !twice; i++) {
        const char *name = i < w->n_groups ? w->groups[i] : w->aggregates[i - w->n_groups].as;
        if (!map_add(&names, name, strlen(name), i))
            twice = name;
    }
    map_free(&names);
    return twice ? err_set(err, ERR_REFUSED, "window: two of its columns are named '%.100s'", twice) : 0;
}

void window_parameters_put(struct window *w)
{
    struct json_w out;
    jw_init(&out, &w->parameters);
    jw_obj(&out, NULL);
    jw_i64(&out, "size_ms", w->size);
    jw_i64(&out, "allowed_lateness_ms", w->lateness);
    jw_arr(&out, "partition_by");
    for (size_t i = 0; i < w->n_groups; i++)
        jw_str(&out, NULL, w->groups[i]);
    jw_end_arr(&out);
    jw_arr(&out, "aggregates");
    for (const struct aggregate *g = w->aggregates; g < w->aggregates + w->n_aggregates; g++) {
        jw_obj(&out, NULL);
        jw_str(&out, "function", g->function == SUM ? "sum" : "count");
        if (g->column)
            jw_str(&out, "column", g->column);
        jw_str(&out, "as", g->as);
        if (g->function == SUM)
            jw_u64(&out, "scale", g->scale);
        jw_end_obj(&out);
    }
    jw_end_arr(&out);
    jw_end_obj(&out);
}

int window_parameters(struct window *w, const struct json *parameters, struct err *err)
{
    static const char *const known[] = {"size_ms", "allowed_lateness_ms", "partition_by", "aggregates", NULL};
    struct json *groups, *aggregates;
    if (json_only(parameters, known, "window", err) != 0 ||
        json_need_i64(parameters, "size_ms", &w->size, "window", err) != 0 ||
        (json_get(parameters, "allowed_lateness_ms") &&
         json_need_i64(parameters, "allowed_lateness_ms", &w->lateness, "window", err) != 0) ||
        json_need(parameters, "partition_by", JSON_ARRAY, &groups, "window", err) != 0 ||
        json_need(parameters, "aggregates", JSON_ARRAY, &aggregates, "window", err) != 0)
        return -1;
    if (w->size <= 0 || w->lateness < 0)
        return err_set(err, ERR_REFUSED,
                       w->size <= 0 ? "window.size_ms: not past zero" : "window.allowed_lateness_ms: below zero");
    if (groups->len + aggregates->len > COLUMNS_MAX)
        return err_set(err, ERR_REFUSED, "window: more than %d columns", COLUMNS_MAX);
    return read_columns(w, groups, err) != 0 || read_aggregates(w, aggregates, err) != 0 || names_once(w, err) != 0 ? -1
                                                                                                                    : 0;
}
