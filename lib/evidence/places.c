/* SPDX-License-Identifier: Apache-2.0 */
/* Names and places: what is an id, and where each kind of evidence lies. */
#include "evidence/places.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

bool evidence_job_ok(const char *job)
{
    size_t n = strlen(job);
    if (n == 0 || n > 64 || job[0] == '.')
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)job[i];
        if (c >= 0x80 || (!isalnum(c) && c != '.' && c != '_' && c != '-'))
            return false;
    }
    return true;
}

bool evidence_operator_ok(const char *op)
{
    uint64_t id;
    return scan_u64(op, strlen(op), &id);
}

bool evidence_name_id(const char *name, const char *prefix, const char *suffix, uint64_t *id)
{
    size_t n = strlen(name), head = strlen(prefix), tail = strlen(suffix);
    if (n <= head + tail || memcmp(name, prefix, head) != 0 || memcmp(name + n - tail, suffix, tail) != 0)
        return false;
    return scan_u64(name + head, n - head - tail, id);
}

const char *evidence_path_jobs(struct buf *out, const char *job)
{
    buf_reset(out);
    buf_printf(out, "_jobs/%s", job);
    return buf_str(out);
}

const char *evidence_path_marker(struct buf *out, const char *job, enum marker_kind k, uint64_t id)
{
    buf_reset(out);
    buf_printf(out, "_jobs/%s/%s-%" PRIu64, job, k == MARKER_CONFIRMED ? "CONFIRMED" : "COMPLETED", id);
    return buf_str(out);
}

const char *evidence_path_restored(struct buf *out, const char *job)
{
    buf_reset(out);
    buf_printf(out, "_jobs/%s/RESTORED", job);
    return buf_str(out);
}

const char *evidence_path_snapshot(struct buf *out, const char *job, uint64_t generation, uint64_t subtask,
                                   uint64_t checkpoint)
{
    buf_reset(out);
    buf_printf(out, "_state/%s/v%" PRIu64 "/%" PRIu64 "/checkpoint-%" PRIu64 ".snap", job, generation, subtask,
               checkpoint);
    return buf_str(out);
}

const char *evidence_path_start(struct buf *out, const char *job, uint64_t generation, uint64_t subtask, uint64_t epoch)
{
    buf_reset(out);
    buf_printf(out, "_state/%s/v%" PRIu64 "/%" PRIu64 "/start-%" PRIu64 ".snap", job, generation, subtask, epoch);
    return buf_str(out);
}

const char *evidence_path_changelog(struct buf *out, const char *job, uint64_t generation, uint64_t subtask,
                                    uint64_t checkpoint)
{
    buf_reset(out);
    buf_printf(out, "_state/%s/v%" PRIu64 "/%" PRIu64 "/changelog-%" PRIu64 ".snap", job, generation, subtask,
               checkpoint);
    return buf_str(out);
}

const char *evidence_path_rocksdb(struct buf *out, const char *job, uint64_t generation, uint64_t subtask,
                                  uint64_t checkpoint)
{
    buf_reset(out);
    buf_printf(out, "_state/%s/v%" PRIu64 "/%" PRIu64 ".cp-%" PRIu64, job, generation, subtask, checkpoint);
    return buf_str(out);
}

const char *evidence_path_op(struct buf *out, const char *op, uint64_t subtask)
{
    buf_reset(out);
    buf_printf(out, "op-%s/subtask-%" PRIu64, op, subtask);
    return buf_str(out);
}

const char *evidence_path_capture(struct buf *out, const char *op, uint64_t subtask, uint64_t epoch)
{
    evidence_path_op(out, op, subtask);
    buf_printf(out, "/epoch-%" PRIu64 ".cap", epoch);
    return buf_str(out);
}

const char *evidence_path_interval(struct buf *out, const char *op, uint64_t subtask, uint64_t epoch)
{
    evidence_path_op(out, op, subtask);
    buf_printf(out, "/epoch-%" PRIu64 ".sink.json", epoch);
    return buf_str(out);
}
