/* SPDX-License-Identifier: Apache-2.0 */
/* How often a run that a restore began can have written again what runs before it wrote. */
#include "cut/internal.h"

#include <string.h>

/* True where the sink's evidence shows the number to be a barrier within a run: then no run began with it. */
static bool is_within(const struct cut *c, const struct bundle_artifact *f)
{
    struct buf text = BUF_INIT;
    struct arena a = ARENA_INIT;
    struct interval iv;
    bool within = bundle_read(c->b, f->path, (size_t)64 << 20, &text, NULL) == 0 &&
                  interval_parse(text.p, text.len, f->path, &a, &iv, NULL) == 0 && iv.previous > 0;
    buf_free(&text);
    arena_free(&a);
    return within;
}

/* Each attempt numbers on from one past all that was on disk. So between the restore point and the run's first epoch as
 * many others can have begun as there are numbers that are no barrier within a run; and where something was restored,
 * the one that completed it wrote on before. */
uint64_t cut_replays(const struct cut *c, uint64_t restored_from, uint64_t first_epoch)
{
    const struct bundle_manifest *m = &c->b->m;
    uint64_t began = first_epoch > restored_from ? first_epoch - restored_from - 1 : 0, epoch;
    struct buf head = BUF_INIT;
    buf_printf(&head, "capture/op-%s/subtask-%" PRIu64 "/", c->sink, c->scope.bundle.subtasks[0]);
    buf_str(&head);
    for (size_t i = 0; i < m->n_artifacts && began > 0; i++)
        if (m->artifacts[i].role == ROLE_INTERVAL && strncmp(m->artifacts[i].path, head.p, head.len) == 0 &&
            evidence_name_id(m->artifacts[i].path + head.len, "epoch-", ".sink.json", &epoch) &&
            epoch > restored_from && epoch < first_epoch && is_within(c, &m->artifacts[i]))
            began--;
    buf_free(&head);
    began += restored_from > 0;
    return began > 0 ? began : 1;
}
