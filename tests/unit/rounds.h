/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many rounds a random test runs: as many as ROUNDS in the environment says, so that one run is quick and another
 * thorough, or else its usual number. Round n is the same in every run.
 */
#ifndef OWED_TEST_ROUNDS_H
#define OWED_TEST_ROUNDS_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t rounds(uint64_t usual)
{
    const char *asked = getenv("ROUNDS");
    uint64_t n = asked ? strtoull(asked, NULL, 10) : 0;
    return n > 0 ? n : usual;
}

#endif
