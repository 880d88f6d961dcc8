/* SPDX-License-Identifier: Apache-2.0 */
/* Inside pack only: the state of one collection. */
#ifndef OWED_PACK_INTERNAL_H
#define OWED_PACK_INTERNAL_H

#include "base/hash.h"
#include "pack/pack.h"
#include "pack/temp.h"
#include "stream/codes.h"
#include "evidence/marker.h"
#include "evidence/changelog.h"

#include <sys/stat.h>

/* A file to copy. */
struct pack_item {
    int root; /* descriptor of the directory that rel is under */
    const char *rel;
    const char *dest; /* path in the bundle */
    enum bundle_role role;
    bool required;      /* the selected checkpoint needs it: what stands in its way refuses the collection */
    bool listed;        /* it was seen on disk: where it is gone, the job went on */
    const char *sha256; /* of what was read of it before, or NULL: another digest is a change */
    bool grows;         /* it is written on and on: its first upto bytes are copied */
    uint64_t upto;
    struct bundle_captured captured; /* operator_id not NULL: a captured epoch */
};

/* A file of the recorder, found on disk. */
struct pack_found {
    const char *rel, *operator_id;
    uint64_t subtask, epoch;
    enum bundle_role role;
    bool wanted;
};

struct pack_ids {
    uint64_t *at;
    size_t n, cap;
};

/* Why files were left out. One list would outgrow the manifest, so that past a number they are counted. */
enum pack_out { OUT_SELECTION, OUT_FILES, OUT_BYTES, OUT_MANIFEST, OUT_KINDS };

struct pack {
    const struct pack_request *r;
    struct arena a;
    int ckpt, capture, trace; /* directories; -1: not given */
    int state; /* what state paths are relative to: ckpt, or the root that the marker names; -1: remote */
    const char *state_prefix; /* of the bundle's paths of that state */
    struct state_root root;   /* as the marker names it */
    struct markers markers;   /* before anything was copied */
    struct marker marker;     /* of the selected checkpoint */
    const char *marker_sha256;
    struct buf job_text; /* the job's manifest, redacted; empty: there is none */
    struct bundle_manifest m;
    struct pack_item *items;
    size_t n_items, cap_items;
    struct map materializations; /* those among the items */
    struct pack_found *found;
    size_t n_found, cap_found;
    size_t cap_absent, cap_excluded;
    uint64_t uncounted[OUT_KINDS]; /* left out and not in the list */
    struct stat *seen;             /* by item: the file as it was copied; st_nlink 0: left out */
    struct pack_ids epochs;        /* the default window, where --epochs is not given */
    struct pack_ids starts;        /* the wanted epochs that were found */
    struct pack_ids ends;          /* the checkpoints that bound them */
    int64_t deadline_ms;           /* monotonic */
    int out;                       /* descriptor of the temporary directory */
    struct err failed;             /* of a walk's callback */
};

/* Append to an array in the arena: *at has room for one more element of `size` bytes once it returns. */
void *pack_grow(struct arena *a, void *at, size_t n, size_t *cap, size_t size);
const char *pack_kept(struct pack *p, const char *s);
void pack_id(struct pack *p, struct pack_ids *ids, uint64_t id);
void pack_ids_sort(struct pack_ids *ids);                    /* ascending, each once */
bool pack_ids_have(const struct pack_ids *ids, uint64_t id); /* sorted ones */
void pack_absent(struct pack *p, const char *what, const char *why);
void pack_excluded(struct pack *p, const char *path, enum pack_out kind, const char *why);
/* After the last: how many more there were. */
void pack_excluded_rest(struct pack *p);
struct pack_item *pack_add(struct pack *p, int root, const char *prefix, const char *rel, enum bundle_role role,
                           bool required);
/* As pack_add, of state at rel as evidence_path_snapshot and its kin give it ("_state/…"). */
struct pack_item *pack_add_state(struct pack *p, const char *rel, enum bundle_role role, bool required);
/* rel of such state below p->state. */
const char *pack_state_rel(const struct pack *p, const char *rel);
/* Read a regular file beneath root, no link followed, whatever else lies there refused by its kind. */
int pack_read(int root, const char *rel, size_t max, struct buf *out, struct err *err);
/* What a walk met and no collection may pass by: trouble, a link, a special file. option names the directory. True
 * where p->failed is set. vanished names with a leading dot are temporary and no trouble. */
bool pack_met(struct pack *p, const char *option, const char *path, const char *name, mode_t mode, int trouble);

/* The job's manifest, the markers, the rule and the checkpoint. */
int pack_choose(struct pack *p, struct err *err);
/* What to copy, in the order of need: the checkpoint, the participants' state, the recorder's files, the state around
 * them. */
int pack_select(struct pack *p, struct err *err);
/* A participant's checkpoint, whatever it was written by, found by what is on disk. form (may be NULL) is set to
 * FORM_*. Where it is not the selected checkpoint's, what is not there is absent. */
int pack_participant(struct pack *p, const struct marker *m, uint64_t subtask, bool selected, const char **form,
                     struct err *err);
/* The recorder's files of the wanted operators and epochs; those that the epochs need of state. */
int pack_captures(struct pack *p, struct err *err);
bool pack_wants_epoch(const struct pack *p, uint64_t epoch);
/* Each trace as far as it goes now, those whose events follow from others' before those others. */
int pack_traces(struct pack *p, struct err *err);
/* State at both ends of every wanted epoch, and what the runs started with. */
int pack_ends(struct pack *p, struct err *err);
/* Copy every item; artifacts and captured epochs go into the manifest. */
int pack_copy(struct pack *p, struct err *err);
/* After the copies, and after the markers were found as they were: each file at its path is still the one that was
 * copied. Then the disk held all that the bundle does at one moment, the end of the copying. ERR_CHANGED where it is
 * not. */
int pack_still_there(const struct pack *p, struct err *err);
/* ERR_TIMEOUT past the deadline, ERR_TROUBLE once a signal came. */
int pack_alive(const struct pack *p, struct err *err);

#endif
