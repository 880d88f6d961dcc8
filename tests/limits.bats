#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Memory as each page's LIMITS states it: so many times the input of a program that holds it, and the same whatever the input of
# one that does not.
bats_require_minimum_version 1.5.0
load stream
# bats file_tags=plain

# holds PROGRAM…
holds() {
    local program status=0
    for program; do python3 "$BATS_TEST_DIRNAME/limits.py" "$program" || status=1; done
    return "$status"
}

@test "each program's page says what it takes of memory" {
    for stage in "$BATS_TEST_DIRNAME"/../stages/*.c; do
        page=$BATS_TEST_DIRNAME/../man/$(basename "$stage" .c).1
        sed -n '/^\.Sh LIMITS/,/^\.Sh SEE ALSO/p' "$page" | grep -q '^Memory: ' || { echo "$page" >&2; return 1; }
    done
}

@test "what holds its input takes as many times the input as its page says" {
    holds verdict scope-declare ref-seal ref-bind bundle-check bundle-pack scope-cut ckpt-plan trace-check
}

@test "what does not hold its input takes no more for more of it" {
    holds lane-join cap-tee row-map ref-run ref-jq ckpt-mark
}

@test "what is given its memory takes no more, whatever it reads" {
    holds rows-diff
}
