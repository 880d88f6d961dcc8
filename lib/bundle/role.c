/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of artifacts, and where a file of each may lie. */
#include "bundle/bundle.h"

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

bool bundle_role_fits(enum bundle_role r, const char *path, const char *job)
{
    uint64_t id;
    const char *jobs = after_job(path, "checkpoint/_jobs/", job), *state = after_job(path, "checkpoint/_state/", job);
    const char *snap = after_two(state, "v", ""), *cap = after_two(after(path, "capture/"), "op-", "subtask-");
    switch (r) {
    case ROLE_JOB_MANIFEST:
        return strcmp(path, "job/manifest.json") == 0;
    case ROLE_MARKER:
        return jobs && evidence_name_id(jobs, "COMPLETED-", "", &id);
    case ROLE_CONFIRMED:
        return jobs && evidence_name_id(jobs, "CONFIRMED-", "", &id);
    case ROLE_RESTORED:
        return jobs && strcmp(jobs, "RESTORED") == 0;
    case ROLE_SIDECAR:
        return snap && (evidence_name_id(snap, "checkpoint-", ".snap.meta", &id) || evidence_name_id(snap, "start-", ".snap.meta", &id));
    case ROLE_SNAPSHOT:
    case ROLE_INTERVAL_STATE:
        return snap && evidence_name_id(snap, "checkpoint-", ".snap", &id);
    case ROLE_RUN_START:
        return snap && evidence_name_id(snap, "start-", ".snap", &id);
    case ROLE_CAPTURE:
        return cap && evidence_name_id(cap, "epoch-", ".cap", &id);
    case ROLE_OPERATOR:
        return cap && strcmp(cap, "op.json") == 0;
    case ROLE_INTERVAL:
        return cap && evidence_name_id(cap, "epoch-", ".sink.json", &id);
    case ROLE_TRACE:
        return after(path, "traces/") != NULL;
    case ROLE_TYPES:
        break;
    }
    return false;
}
