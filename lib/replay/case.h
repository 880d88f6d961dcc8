/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case: a regression case, one captured epoch with all that it takes to drive it
 * again and the rows that it gave then: written from a bundle, and run. What
 * lies in its directory owed-case(5) has.
 */
#ifndef OWED_REPLAY_CASE_H
#define OWED_REPLAY_CASE_H

#include "replay/replay.h"

/* ---- writing one ---- */

struct freeze_request {
    struct replay_request r; /* op and epoch are given; REPLAY_ANY: the only subtask */
    const char *out;         /* the directory, which must not be there */
};

struct frozen {
    struct replay_answer determinism; /* counts.selected 0: nothing was replayed */
    struct buf note; /* what a person is to know of temporary directories that lay there, one line each */
    struct arena arena;
};

/* Replay the epoch twice, write the case beside its place, run it there, and publish it by one rename. The bundle's
 * artifacts must have been verified. -1 with *err once it is refused, or cannot be written: then nothing is left. */
int case_freeze(const struct bundle *b, const struct freeze_request *f, const volatile int *stop, struct frozen *out,
                struct err *err);
void frozen_free(struct frozen *f);

/* ---- running one ---- */

struct case_run {
    struct replay_answer determinism, golden;
    struct bundle b; /* the case's own */
    bool opened;     /* it is the one that the case names */
    struct arena arena;
};

/* Hold the case's files against its own words, replay its epoch, and hold the rows against the golden ones. What cannot
 * be believed or replayed leaves the checks unavailable or unsupported. -1 with *err where there is no case in dir. */
int case_run(const char *dir, const struct replay_request *r, struct case_run *out, struct err *err);
void case_run_free(struct case_run *c);

#endif
