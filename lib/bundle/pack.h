/* SPDX-License-Identifier: Apache-2.0 */
/* Inside bundle only: the state of one collection. */
#ifndef OWED_BUNDLE_PACK_H
#define OWED_BUNDLE_PACK_H

#include "bundle/bundle.h"

/* A file to copy. */
struct pack_item {
    int root;           /* descriptor of the directory that rel is under */
    const char *rel;
    const char *dest;   /* path in the bundle */
    enum bundle_role role;
    bool required;      /* the selected checkpoint needs it: what stands in its way refuses the collection */
    struct bundle_captured captured; /* operator_id not NULL: a captured epoch */
};

/* A file of the recorder, found on disk. */
struct pack_found {
    const char *rel, *operator_id;
    uint64_t subtask, epoch;
    enum bundle_role role;
    bool wanted;
};

struct pack {
    const struct bundle_request *r;
    struct arena a;
    int ckpt, capture, trace;     /* directories; -1: not given */
    struct markers markers;       /* before anything was copied */
    struct marker marker;         /* of the selected checkpoint */
    struct buf job_text;          /* the job's manifest, redacted; empty: there is none */
    struct bundle_manifest m;
    struct pack_item *items;
    size_t n_items, cap_items;
    struct pack_found *found;
    size_t n_found, cap_found;
    size_t cap_absent, cap_excluded;
    uint64_t *epochs;             /* the default window, where --epochs is not given */
    size_t n_epochs, cap_epochs;
    int64_t deadline_ms;          /* monotonic */
    int out;                      /* descriptor of the temporary directory */
    struct err failed;            /* of a walk's callback */
};

/* Append to an array in the arena: *at has room for one more element of `size` bytes once it returns. */
void *pack_grow(struct arena *a, void *at, size_t n, size_t *cap, size_t size);
void pack_absent(struct pack *p, const char *what, const char *why);
void pack_excluded(struct pack *p, const char *path, const char *why);
void pack_add(struct pack *p, int root, const char *prefix, const char *rel, enum bundle_role role, bool required);

/* The job's manifest, the markers, the rule and the checkpoint. */
int pack_choose(struct pack *p, struct err *err);
/* What to copy, in the order of need. */
int pack_select(struct pack *p, struct err *err);
/* Copy every item; artifacts and captured epochs go into the manifest. */
int pack_copy(struct pack *p, struct err *err);
/* ERR_TIMEOUT past the deadline, ERR_TROUBLE once a signal came. */
int pack_alive(const struct pack *p, struct err *err);

#endif
