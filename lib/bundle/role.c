/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of artifacts, and where a file of each may lie. */
#include "bundle/bundle.h"
#include "evidence/places.h"
#include "evidence/changelog.h"

#include <string.h>

static const char *const names[] = {
#define X(id, text) text,
    BUNDLE_ROLE_TABLE(X)
#undef X
};

const char *bundle_role_name(enum bundle_role r)
{
    return r < ROLE_TYPES ? names[r] : "unknown";
}

enum bundle_role bundle_role_of(const char *s)
{
    for (size_t i = 0; i < ROLE_TYPES; i++)
        if (strcmp(names[i], s) == 0)
            return (enum bundle_role)i;
    return ROLE_TYPES;
}

static const char *after(const char *s, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

/* What follows "<prefix><job>/". */
static const char *after_job(const char *path, const char *prefix, const char *job)
{
    const char *rest = after(path, prefix);
    rest = rest ? after(rest, job) : NULL;
    return rest && *rest == '/' ? rest + 1 : NULL;
}

/* The file's name below <number>/<number>/ with the two numbers' prefixes given, or NULL. */
static const char *after_two(const char *rest, const char *first, const char *second)
{
    const char *prefix[] = {first, second};
    for (size_t i = 0; i < 2; i++) {
        rest = rest ? after(rest, prefix[i]) : NULL;
        size_t digits = rest ? strspn(rest, "0123456789") : 0;
        if (digits == 0 || rest[digits] != '/')
            return NULL;
        rest += digits + 1;
    }
    return strchr(rest, '/') ? NULL : rest;
}

bool bundle_role_is_state(enum bundle_role r)
{
    return r == ROLE_SNAPSHOT || r == ROLE_INTERVAL_STATE || r == ROLE_CHANGELOG || r == ROLE_ROCKSDB;
}

const char *bundle_state_path(struct buf *out, const struct bundle_manifest *m, const char *rel)
{
    const char *own = after(rel, "_state/");
    return path_join(out, m->state_root ? m->state_root : "checkpoint/_state", own ? own : rel);
}

/* What follows the state root, which is the checkpoint directory's own or a mirror of another one. */
static const char *after_root(const char *path, const char *job)
{
    const char *rest = after_job(path, "checkpoint/_external/", job);
    return rest ? rest : after(path, "checkpoint/_state/");
}

/* True for v<generation>/<subtask>.cp-<id>/<anything>. */
static bool is_rocksdb(const char *rest)
{
    uint64_t id;
    rest = rest ? after(rest, "v") : NULL;
    size_t digits = rest ? strspn(rest, "0123456789") : 0;
    if (digits == 0 || rest[digits] != '/')
        return false;
    rest += digits + 1;
    digits = strspn(rest, "0123456789");
    const char *cp = digits ? after(rest + digits, ".cp-") : NULL, *slash = cp ? strchr(cp, '/') : NULL;
    return slash && slash[1] && scan_u64(cp, (size_t)(slash - cp), &id);
}

static bool is_trace(const char *name)
{
    static const char suffix[] = ".ndjson";
    size_t n = name ? strlen(name) : 0, tail = sizeof suffix - 1;
    return n > tail && !strchr(name, '/') && strcmp(name + n - tail, suffix) == 0;
}

bool bundle_role_fits(enum bundle_role r, const char *path, const char *job)
{
    uint64_t id;
    const char *jobs = after_job(path, "checkpoint/_jobs/", job), *root = after_root(path, job);
    const char *state = root ? after_job(root, "", job) : NULL, *snap = after_two(state, "v", ""),
               *cap = after_two(after(path, "capture/"), "op-", "subtask-");
    switch (r) {
    case ROLE_JOB_MANIFEST: return strcmp(path, "job/manifest.json") == 0;
    case ROLE_MARKER: return jobs && evidence_name_id(jobs, "COMPLETED-", "", &id);
    case ROLE_CONFIRMED: return jobs && evidence_name_id(jobs, "CONFIRMED-", "", &id);
    case ROLE_RESTORED: return jobs && strcmp(jobs, "RESTORED") == 0;
    case ROLE_SIDECAR:
        return snap && (evidence_name_id(snap, "checkpoint-", ".snap.meta", &id) ||
                        evidence_name_id(snap, "start-", ".snap.meta", &id));
    case ROLE_SNAPSHOT:
    case ROLE_INTERVAL_STATE: return snap && evidence_name_id(snap, "checkpoint-", ".snap", &id);
    case ROLE_RUN_START: return snap && evidence_name_id(snap, "start-", ".snap", &id);
    case ROLE_CAPTURE: return cap && evidence_name_id(cap, "epoch-", ".cap", &id);
    case ROLE_OPERATOR: return cap && strcmp(cap, "op.json") == 0;
    case ROLE_INTERVAL: return cap && evidence_name_id(cap, "epoch-", ".sink.json", &id);
    case ROLE_TRACE: return is_trace(after(path, "traces/"));
    case ROLE_CHANGELOG: return snap && evidence_name_id(snap, "changelog-", ".snap", &id);
    case ROLE_MATERIALIZATION: return root && changelog_rel(root, &(struct state_root){ROOT_OWN, NULL});
    case ROLE_ROCKSDB: return is_rocksdb(state);
    case ROLE_TYPES: break;
    }
    return false;
}
