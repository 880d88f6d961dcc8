#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The demonstrations: every scenario as expected, nothing left running and nothing left on disk.
bats_require_minimum_version 1.5.0

# demonstration DIRECTORY LEAST: it ends well with at least so many scenarios.
demonstration() {
    local root deps=${OWED_DEPS:-$HOME/.cache/owed}
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    if [ "${REQUIRE_LIVE:-}" != 1 ] && ! { [ -e "$deps/kafka-4" ] && [ -e "$deps/chdb-26.5" ] && [ -e "$deps/python" ]; }; then
        skip "the services are not installed"
    fi
    export TMPDIR=$BATS_TEST_TMPDIR/work
    mkdir "$TMPDIR"
    run "$root/examples/$1/demo"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^ok ' <<<"$output")" -ge "$2" ]
    run -1 grep -c '^WRONG' <<<"$output"
    [ -z "$(ls -A "$TMPDIR")" ]
    run -1 pgrep -f "$TMPDIR"
}

@test "the demonstration of reconciliation ends with every scenario as expected and leaves nothing" {
    demonstration reconcile 33
}

@test "the demonstration of a windowed job's verification ends with every scenario as expected and leaves nothing" {
    demonstration incident-verification 7
}

@test "the demonstration of audits ends with every scenario as expected and leaves nothing" {
    demonstration destination-reconciliation 28
}
