#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The counting of tests: a failure, a death, a test that did not run and a run of nothing cannot pass for success.
# shellcheck disable=SC2154,SC2016 # bats sets output; suites stand in single quotes
bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    cd "$BATS_TEST_TMPDIR" || exit 1
    work=$PWD
    unset REQUIRE_LIVE
    . "$root/tests/count.bash"
}

suite() { # NAME, then its tests on standard input: lines `NAME: COMMAND`, before one perhaps `tags TAGS`
    sed 's/^tags /# bats test_tags=/; s/^\([a-z]*\): \(.*\)/@test "\1" { \2; }/' >"$1.bats"
}

# A program that ends with STATUS after it has said what a unit test says: standard input.
unit() { # NAME STATUS
    { echo '#!/bin/sh'; echo "cat <<'EOF'"; cat; echo EOF; echo "exit $2"; } >"$1"
    chmod +x "$1"
}

says() { # STATUS TEXT: the last line, and how everything ends
    run "-$1" total
    [ "$output" = "$2" ] || { echo "$output" >&2; return 1; }
}

@test "what passed, failed and was skipped in suites is counted apart, and shown where it did not pass" {
    suite good <<<'a: true
b: true'
    suite mixed <<<'planted: false
c: skip "no broker here"
d: true'
    run_bats 2 '' good.bats
    says 0 "2 passed, 0 failed, 0 skipped"
    run -0 run_bats 2 '' good.bats mixed.bats
    [[ $output == *"not ok 1 planted"* && $output == *"# skip no broker here"* ]]
    says 1 "5 passed, 1 failed, 1 skipped"
}

@test "of a suite only the tests with one of the tags are run" {
    suite tagged <<<'tags plain
a: true
tags both
b: true
c: false'
    run_bats 1 'plain both' tagged.bats
    says 0 "2 passed, 0 failed, 0 skipped"
    run -0 run_bats 1 '!plain' tagged.bats
    says 1 "3 passed, 1 failed, 0 skipped"
}

@test "a suite that runs no test, or ends before its last, failed" {
    suite none <<<'setup() { true; }'
    suite half <<<'a: true
b: kill -9 $$
c: true'
    run -0 run_bats 1 '' none.bats
    says 1 "0 passed, 1 failed, 0 skipped"
    run -0 run_bats 1 '' half.bats
    [ "$(awk '{ n += $2 } END { print n }' counts)" -ge 2 ]
}

@test "a unit test's own words are counted, and its death is a failure" {
    unit good 0 <<<'[       OK ] a
[       OK ] b'
    unit bad 1 <<<'[       OK ] a
[  FAILED  ] planted
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] planted'
    unit skips 0 <<<'[  SKIPPED ] c
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] c'
    unit dies 139 <<<'[       OK ] a'
    unit silent 0 </dev/null
    run_units 2 ./good
    says 0 "2 passed, 0 failed, 0 skipped"
    run -0 run_units 2 ./bad ./skips
    [[ $output == *planted*SKIPPED* ]]
    says 1 "3 passed, 1 failed, 1 skipped"
    run -0 run_units 2 ./dies ./silent
    says 1 "4 passed, 3 failed, 1 skipped"
}

@test "a command on each item is a case each; 77 is a skip, and any other status a failure" {
    ended() { echo "ended by $1"; return "$1"; }
    run -0 run_each 2 ended 0 77 3
    [[ $output == *"skipped: ended 77: ended by 77"*"failed: ended 3: status 3"* ]]
    says 1 "1 passed, 1 failed, 1 skipped"
}

@test "with REQUIRE_LIVE=1 a skip is a failure" {
    suite skips <<<'a: skip "no broker here"
b: true'
    REQUIRE_LIVE=1 run -0 run_bats 1 '' skips.bats
    says 1 "1 passed, 1 failed, 0 skipped"
}

@test "nothing that ran is no success" {
    : >counts
    says 1 "0 passed, 0 failed, 0 skipped"
    tally 0 0 3
    says 1 "0 passed, 0 failed, 3 skipped"
}

@test "a name that is none is refused" {
    run -2 "$root/tests/check" no-such-test
    [ "$output" = "check: there is no no-such-test" ]
}
