#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every statement of every file of a bundle changed, with sizes and digests mended: found, or left with its reason (walk/left.py).
# shellcheck disable=SC2034,SC2154 # make-job uses job; bats sets output
bats_require_minimum_version 1.5.0
load make-job
# bats file_tags=plain

@test "each statement of a bundle that is changed, with every digest mended, is found or stands in the list with its reason" {
    local c share=$((${ROUNDS:-40} / 10)) # of the changes, in percent
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR"
    make_job "$PWD/job"
    for c in 1 3 6; do pack_job job all$c --epochs=1-9 --checkpoint=$c >/dev/null; done
    run python3 "$BATS_TEST_DIRNAME/walk/evidence.py" "$bin" . "$((share < 100 ? share : 100))" all1:1 all3:3 all6:6
    echo "$output"
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} =~ ^([0-9]+)\ changes ]]
    [ "${BASH_REMATCH[1]}" -ge 50 ]
}
