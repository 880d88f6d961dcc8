/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol traces of a job that may run on. What a process did follows from
 * what those before it in the job had done; so each trace is taken as far as it
 * goes when it is looked at, and the last process of the job is looked at first:
 * then no event is collected without those that led to it.
 */
#include "base/walk.h"
#include "pack/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void on_trace(void *ctx, const char *path, const char *name, mode_t mode, int trouble)
{
    struct pack *p = ctx;
    size_t n = strlen(name);
    if (pack_met(p, "--trace-dir", path, name, mode, trouble))
        return;
    if (!S_ISREG(mode) || name[0] == '.' || strcmp(path, name) != 0 || n <= 7 || strcmp(name + n - 7, ".ndjson") != 0)
        return;
    struct pack_item *it = pack_add(p, p->trace, "traces", path, ROLE_TRACE, false);
    it->listed = true;
    it->grows = true;
}

/* ---- the order ---- */

/* How far from the job's end a process stands, by its name: the greater, the nearer to its source. Operators are
 * numbered from the source on, and each has its recorder before it; those from the first window on are behind the join.
 */
struct stand {
    unsigned part;
    uint64_t before_operator;
    bool recorder;
};
enum { AT_END, BEHIND_JOIN, AT_JOIN, IN_LANE, AT_SOURCE, AT_PLAN };

static bool begins(const char *s, const char *prefix, const char **rest)
{
    size_t n = strlen(prefix);
    *rest = s + n;
    return strncmp(s, prefix, n) == 0;
}

/* window: the operator of the first window, as above; 0 where there is none. */
static struct stand stand_of(const char *name, uint64_t window)
{
    static const char *const operators[] = {"row-map-", "row-window-", "ch-sink-"};
    const char *rest;
    struct stand s = {.part = AT_PLAN};
    if (begins(name, "ckpt-mark-", &rest))
        s.part = AT_END;
    else if (begins(name, "lane-join-", &rest))
        s.part = AT_JOIN;
    else if (begins(name, "kafka-tail-", &rest))
        s.part = AT_SOURCE;
    else if (begins(name, "cap-tee-", &rest))
        s = (struct stand){.part = IN_LANE, .recorder = true};
    for (size_t i = 0; s.part == AT_PLAN && i < sizeof operators / sizeof *operators; i++)
        if (begins(name, operators[i], &rest))
            s.part = IN_LANE;
    uint64_t op = 0;
    if (s.part == IN_LANE && scan_u64(rest, strspn(rest, "0123456789"), &op))
        s.before_operator = UINT64_MAX - op;
    if (s.part == IN_LANE && window > 0 && s.before_operator <= window)
        s.part = BEHIND_JOIN;
    return s;
}

static uint64_t first_window(const struct pack_item *items, size_t n)
{
    uint64_t first = 0;
    const char *rest;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = stand_of(items[i].rel, 0).before_operator;
        if (begins(items[i].rel, "row-window-", &rest) && at > first)
            first = at;
    }
    return first;
}

static int by_stand(const void *a, const void *b, void *window)
{
    const struct pack_item *x = a, *y = b;
    struct stand s = stand_of(x->rel, *(uint64_t *)window), t = stand_of(y->rel, *(uint64_t *)window);
    if (s.part != t.part)
        return s.part < t.part ? -1 : 1;
    if (s.before_operator != t.before_operator)
        return s.before_operator < t.before_operator ? -1 : 1;
    if (s.recorder != t.recorder)
        return s.recorder ? 1 : -1;
    return strcmp(x->rel, y->rel);
}

int pack_traces(struct pack *p, struct err *err)
{
    size_t before = p->n_items;
    walk(p->trace, "", on_trace, p);
    if (p->failed.kind) {
        *err = p->failed;
        return -1;
    }
    if (p->n_items == before) {
        pack_absent(p, "traces", "no *.ndjson file lies in --trace-dir");
        return 0;
    }
    uint64_t window = first_window(p->items + before, p->n_items - before);
    qsort_r(p->items + before, p->n_items - before, sizeof *p->items, by_stand, &window);
    for (size_t i = before; i < p->n_items; i++) {
        struct stat st;
        /* One that cannot be looked at is refused by name when it is to be copied. */
        if (fstatat(p->trace, p->items[i].rel, &st, AT_SYMLINK_NOFOLLOW) == 0)
            p->items[i].upto = (uint64_t)st.st_size;
    }
    return 0;
}
