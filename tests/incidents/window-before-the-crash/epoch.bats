#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Written by epoch-freeze(1): the case beside it, run.

@test "operator 3, subtask 0, epoch 2: the replay gives the golden rows" {
    PATH=${OWED_BIN:+$OWED_BIN:}$PATH
    epoch-run "$BATS_TEST_DIRNAME"
}
