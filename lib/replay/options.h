/* SPDX-License-Identifier: Apache-2.0 */
/* replay: the options of every program that replays, entries for a table of options (base/options.h). */
#ifndef OWED_REPLAY_OPTIONS_H
#define OWED_REPLAY_OPTIONS_H

#include "base/options.h"
#include "replay/replay.h"

#define REPLAY_REQUEST_INIT \
    { \
        .subtask = REPLAY_ANY, .epoch = REPLAY_ANY, .max = REPLAY_MAX, .cpu_s = REPLAY_CPU_S, .memory = REPLAY_MEMORY \
    }

/* clang-format off */
#define REPLAY_OPTION_OP(OP) \
    OPT_TEXT("op", "OPERATOR", OP, "the operator, by its id in the job")
#define REPLAY_OPTION_SUBTASK(SUBTASK) OPT_U64("subtask", SUBTASK, 0, UINT32_MAX, "the operator's subtask")
#define REPLAY_OPTION_EPOCH(EPOCH) OPT_U64("epoch", EPOCH, 1, UINT64_MAX - 1, "the epoch")
#define REPLAY_OPTION_BOUNDS(R) \
    OPT_U64("max-cpu-s", &(R)->cpu_s, 1, UINT32_MAX, "processor time of one replay of one epoch, in seconds (600)"), \
    OPT_SIZE("max-memory", &(R)->memory, (uint64_t)1 << 20, INT64_MAX, \
             "memory of one replay of one epoch, beside what this program takes (2G)")
/* clang-format on */

/* ERR_REFUSED for an --op that is no operator's id; NULL is none. */
int replay_op_check(const char *op, struct err *err);

#endif
