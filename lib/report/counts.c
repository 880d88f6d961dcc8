/* SPDX-License-Identifier: Apache-2.0 */
/* What a check that passed counts beside what the stream shows of the same. The counts of comparisons are held to their
 * summaries, with them. */
#include "report/internal.h"

#include <inttypes.h>

static bool of_bundle(const struct report *r)
{
    return r->has_scope && r->scope.origin == SCOPE_BUNDLE;
}

static bool of_declaration(const struct report *r)
{
    return r->has_scope && r->scope.origin == SCOPE_DECLARED;
}

/* ---- what the stream shows; false where it shows nothing of it ---- */

static bool captured_rows(const struct report *r, uint64_t *n)
{
    *n = r->side[SIDE_CAPTURED].rows;
    return of_bundle(r) && r->side_line[SIDE_CAPTURED];
}

static bool epochs(const struct report *r, uint64_t *n)
{
    *n = r->scope.bundle.n_epochs;
    return of_bundle(r);
}

static bool intervals(const struct report *r, uint64_t *n)
{
    *n = (uint64_t)r->scope.bundle.n_epochs * r->scope.bundle.n_subtasks;
    return of_bundle(r);
}

static bool topics(const struct report *r, uint64_t *n)
{
    *n = r->scope.n_sources;
    return of_declaration(r);
}

static bool partitions(const struct report *r, uint64_t *n)
{
    for (size_t i = *n = 0; i < r->scope.n_sources; i++)
        *n += r->scope.sources[i].n_partitions;
    return of_declaration(r);
}

static bool offsets(const struct report *r, uint64_t *n)
{
    for (size_t i = *n = 0; i < r->scope.n_sources; i++)
        for (size_t k = 0; k < r->scope.sources[i].n_partitions; k++)
            *n += (uint64_t)(r->scope.sources[i].partitions[k].to - r->scope.sources[i].partitions[k].from);
    return of_declaration(r);
}

static bool keys_read(const struct report *r, uint64_t *n)
{
    *n = r->observation.keys;
    return r->observed && r->observation.has_keys;
}

static bool unfit_keys(const struct report *r, uint64_t *n)
{
    *n = r->observation.unfit_keys;
    return r->observed;
}

static bool rows_read(const struct report *r, uint64_t *n)
{
    *n = report_rows_read(r);
    return r->observed && r->observation.n_reads > 0;
}

static bool reference_rows(const struct report *r, uint64_t *n)
{
    *n = r->side[SIDE_REFERENCE].rows;
    return r->side_line[SIDE_REFERENCE];
}

static const struct {
    enum check_name check;
    const char *count;
    bool (*shown)(const struct report *, uint64_t *);
    const char *what;
} held[] = {
    {CHECK_RECONCILE_SCOPE, "rows", captured_rows, "the captured side"},
    {CHECK_RECONCILE_SCOPE, "epochs", epochs, "the scope"},
    {CHECK_RECONCILE_SCOPE, "intervals", intervals, "the scope"},
    {CHECK_RECONCILE_SCOPE, "topics", topics, "the scope"},
    {CHECK_RECONCILE_SCOPE, "partitions", partitions, "the scope"},
    {CHECK_RECONCILE_SCOPE, "offsets", offsets, "the scope"},
    {CHECK_RECONCILE_DESTINATION, "keys", keys_read, "the observation"},
    {CHECK_RECONCILE_DESTINATION, "unfit_keys", unfit_keys, "the observation"},
    {CHECK_RECONCILE_DESTINATION, "rows", rows_read, "the observation"},
    {CHECK_REFERENCE_SCOPE, "rows", reference_rows, "the reference's side"},
};

int report_hold_counts(const struct report *r, struct err *err)
{
    for (const struct report_made *m = r->made; m; m = m->next)
        for (size_t i = 0; m->line.status == STATUS_PASSED && i < sizeof held / sizeof *held; i++) {
            uint64_t said, shown;
            const struct json *v = held[i].check == m->line.name ? json_get(m->line.counts, held[i].count) : NULL;
            if (!v || !held[i].shown(r, &shown) || (json_u64(v, &said) && said == shown))
                continue;
            return err_set(err, ERR_REFUSED,
                           "line %" PRIu64 ": %s counts other %s than the %" PRIu64 " of %s, and passed", m->line_no,
                           check_name_text(m->line.name), held[i].count, shown, held[i].what);
        }
    return 0;
}
