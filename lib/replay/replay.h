/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay: captured epochs of a bundle, driven again through the job's own
 * operators (ops), and what that establishes: replay.determinism,
 * replay.recorded_output and replay.expected_output.
 *
 * Nothing leaves this machine and nothing of the bundle is run but its jq
 * programs, which see what they are given alone; what reaches outside its
 * records is unsupported, and never built. Each replay is a process of its
 * own: libjq ends its process on some values, and then one epoch ends.
 */
#ifndef OWED_REPLAY_H
#define OWED_REPLAY_H

#include "bundle/bundle.h"
#include "stream/stream.h"

#define REPLAY_MAX 64                         /* epochs that a run replays, where nothing else is said */
#define REPLAY_CPU_S 600                      /* processor time of one replay of one epoch, the same */
#define REPLAY_MEMORY ((uint64_t)2 << 30)     /* bytes that one replay may take, the same */
#define REPLAY_ANY UINT64_MAX                 /* no subtask, or no epoch, is named */
#define REPLAY_OUTPUT_MAX ((uint64_t)8 << 30) /* bytes that one replay may give */

struct replay_request {
    const char *op;          /* an operator's id; NULL: any */
    uint64_t subtask, epoch; /* REPLAY_ANY */
    uint64_t max, cpu_s, memory;
    const char *scratch;  /* NULL: /var/tmp */
    const char *expected; /* a file of rows, one JSON object a line; NULL: none */
};

/* ---- deciding ---- */

enum replay_outcome { REPLAY_PASSED, REPLAY_FAILED, REPLAY_UNAVAILABLE, REPLAY_UNSUPPORTED, REPLAY_OUTCOMES };

/* The epochs of one check. checked: those within the bound, which the four outcomes are; the rest is omitted. */
struct replay_counts {
    uint64_t selected, of[REPLAY_OUTCOMES], omitted;
};
/* The rule of four steps: failed where one failed; passed where all that was selected passed, and something was; else
 * unavailable where one lacked evidence or was omitted, or nothing was selected; else unsupported. */
enum status replay_conclude(const struct replay_counts *c);

/* What one check came to. */
struct replay_answer {
    enum status status;
    struct replay_counts counts;
    struct cause cause;
    struct buf reason;
    const char **evidence; /* NULL after the last */
};
struct replay_answers {
    struct replay_answer determinism, recorded, expected;
    struct arena arena;
};

/* Choose the epochs, replay each, and decide. The bundle's artifacts must have been verified. ERR_REFUSED where the
 * expectation cannot be read or does not go with what was selected. *stop (may be NULL) ends it before the next epoch,
 * and those that are left were not replayed. */
int replay_bundle(const struct bundle *b, const struct replay_request *r, const volatile int *stop,
                  struct replay_answers *out, struct err *err);
void replay_answers_free(struct replay_answers *a);
void replay_answer_free(struct replay_answer *a);
void replay_put_answer(struct stream_out *out, enum check_name name, const struct replay_answer *a);
/* The check lines; that of an expectation only where one was given. */
void replay_put(struct stream_out *out, const struct replay_answers *a, bool expected);

#endif
