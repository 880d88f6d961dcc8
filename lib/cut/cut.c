/* SPDX-License-Identifier: Apache-2.0 */
/* The cut as a whole: its status, and the order in which evidence is used. */
#include "cut/pairs.h"

#include <string.h>

#define REASONS_MAX 20
#define READ_MAX ((size_t)64 << 20)

void cut_say(struct cut *c, enum status s, const struct cause *cause, const char *fmt, ...)
{
    c->status = s > c->status ? s : c->status;
    /* The first in the order of the work leads, whatever status the others have: they may follow from it. */
    if (c->cause.code == CODE_NONE || (code_follows(c->cause.code) && !code_follows(cause->code)))
        c->cause = *cause;
    if (c->reasons++ >= REASONS_MAX)
        return;
    if (c->reason.len > 0)
        buf_adds(&c->reason, "; ");
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&c->reason, fmt, ap);
    va_end(ap);
}

void cut_say_read(struct cut *c, const char *path, const struct err *err, enum code code)
{
    struct cause cause = err->cause;
    bool listed = bundle_find(&c->b->m, path) != NULL;
    if (cause.code == CODE_ARTIFACT_CHANGED || cause.code == CODE_BUNDLE_UNSAFE ||
        (listed && cause.code == CODE_ARTIFACT_MISSING)) {
        if (c->broken.len > 0)
            buf_adds(&c->broken, "; ");
        else
            c->broken_cause = cause;
        buf_adds(&c->broken, err->text);
    } else if (cause.code == CODE_NONE || !listed) {
        cause = *BECAUSE(code);
    }
    cut_say(c, STATUS_UNAVAILABLE, &cause, "%s", err->text);
}

struct cause cut_lack(struct cut *c, const char *path, enum code otherwise)
{
    static const char bound[] = "past ", more[] = " more files past ";
    const struct bundle_manifest *m = &c->b->m;
    bool known = c->excluded.used > 0;
    for (size_t i = 0; i < m->n_excluded && !known; i++) {
        const char *rest = strstr(m->excluded[i].why, more);
        map_add(&c->excluded, m->excluded[i].what, strlen(m->excluded[i].what), i);
        if (rest) /* past a number they are only counted */
            c->excluded_bound = rest + sizeof more - 1;
    }
    const uint64_t *at = map_find(&c->excluded, path, strlen(path));
    const char *why = at ? m->excluded[*at].why : NULL;
    if (why && strncmp(why, bound, sizeof bound - 1) == 0)
        return *BECAUSE(CODE_LEFT_OUT_BY_BOUND, {"bound", why + sizeof bound - 1});
    if (why)
        return *BECAUSE(CODE_EPOCHS_NOT_COLLECTED);
    return c->excluded_bound ? *BECAUSE(CODE_LEFT_OUT_BY_BOUND, {"bound", c->excluded_bound}) : *BECAUSE(otherwise);
}

bool cut_read(struct cut *c, const char *path, enum code code, const char **p, size_t *n)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    bool ok = bundle_read(c->b, path, READ_MAX, &text, &err) == 0;
    if (ok) {
        *p = arena_strndup(&c->a, text.p ? text.p : "", text.len);
        *n = text.len;
    } else {
        cut_say_read(c, path, &err, code);
    }
    buf_free(&text);
    return ok;
}

/* The markers that the bundle lists; their names are enough, but for those at the scope's ends and RESTORED. */
static void list_markers(struct cut *c)
{
    const struct bundle_manifest *m = &c->b->m;
    struct err err = ERR_INIT;
    const char *path;
    bundle_markers(m, &c->a, &c->markers);
    int rc = bundle_restored(c->b, &c->a, &c->markers.restored, &path, &err);
    if (rc == 1)
        c->markers.has_restored = cut_hold(c, RESTORED_PLACE, (struct said){path, &c->markers.restored},
                                           (struct said){"its place", &(struct place){.job = m->job}});
    else if (rc < 0)
        cut_say_read(c, path, &err, CODE_MARKER_MALFORMED);
}

static int check_request(struct cut *c, struct err *err)
{
    const struct bundle_manifest *m = &c->b->m;
    if (c->r->job && strcmp(c->r->job, m->job) != 0)
        return err_set(err, ERR_REFUSED, "--job=%s, and the bundle is of job '%s'", c->r->job, m->job);
    c->scope.bundle.checkpoint = c->r->has_checkpoint ? c->r->checkpoint : m->checkpoint;
    if (markers_have(&c->markers, MARKER_COMPLETED, c->scope.bundle.checkpoint))
        return 0;
    struct buf have = BUF_INIT;
    for (size_t i = 0; i < c->markers.n_completed && i < 50; i++)
        buf_printf(&have, "%s%" PRIu64, i ? ", " : "", c->markers.completed[i]);
    err_fail(err, ERR_REFUSED, BECAUSE(CODE_CHECKPOINT_NOT_COMPLETED, {"completed", have.len ? buf_str(&have) : NULL}),
             "--checkpoint=%" PRIu64 ", and the bundle holds as completed: %s", c->scope.bundle.checkpoint,
             have.len ? buf_str(&have) : "none");
    buf_free(&have);
    return -1;
}

void cut_marker(struct cut *c, uint64_t id, struct marker *out)
{
    struct buf rel = BUF_INIT, path = BUF_INIT;
    struct err err = ERR_INIT;
    const char *p;
    size_t n;
    *out = (struct marker){0};
    path_join(&path, "checkpoint", evidence_path_marker(&rel, c->b->m.job, MARKER_COMPLETED, id));
    const char *where = arena_strndup(&c->a, path.p, path.len);
    if (cut_read(c, where, CODE_MARKER_MISSING, &p, &n)) {
        struct place at = {.job = c->b->m.job, .id = id, .generation = c->b->m.generation};
        if (marker_parse(p, n, where, &c->a, out, &err) != 0)
            cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_MARKER_MALFORMED), "%s", err.text);
        else
            cut_hold(c, MARKER_PLACE, (struct said){where, out}, (struct said){"its place", &at});
    }
    buf_free(&rel);
    buf_free(&path);
}

int cut_scope(struct cut *c, const struct bundle *b, const struct cut_request *r, struct err *err)
{
    *c = (struct cut){.b = b, .r = r, .status = STATUS_PASSED, .scope.columns = COLUMNS_INIT};
    c->scope.bundle.job = b->m.job;
    c->scope.bundle.complete_table = r->complete_table;
    c->scope.bundle.repeats = r->repeats;
    c->scope.bundle.from_run_start = r->from_run_start || r->complete_table;
    list_markers(c);
    if (check_request(c, err) != 0 || cut_find_sink(c, err) != 0)
        return -1;
    const struct restored *passed = c->markers.has_restored ? &c->markers.restored : NULL;
    if (restored_passes_over(passed, c->scope.bundle.checkpoint))
        cut_say(c, STATUS_UNAVAILABLE, BECAUSE(CODE_RESTORE_DISCARDED),
                "checkpoint %" PRIu64 " is of a run that the restore from %" PRIu64 " discarded",
                c->scope.bundle.checkpoint, passed->checkpoint);
    cut_marker(c, c->scope.bundle.checkpoint, &c->marker);
    cut_check_operators(c);
    if (!c->sink)
        return 0;
    cut_walk(c);
    if (cut_columns(c, err) != 0)
        return -1;
    cut_ends(c);
    cut_note_kept(c);
    if (r->complete_table)
        cut_cover(c);
    c->has_scope = c->has_columns;
    return 0;
}

void cut_free(struct cut *c)
{
    scope_free(&c->scope);
    buf_free(&c->reason);
    buf_free(&c->note);
    buf_free(&c->uncovered);
    buf_free(&c->broken);
    buf_free(&c->unknown);
    map_free(&c->excluded);
    arena_free(&c->a);
}
