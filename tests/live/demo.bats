#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The demonstration: every scenario as expected, nothing left running and nothing left on disk.
bats_require_minimum_version 1.5.0

@test "the demonstration ends with every scenario as expected and leaves nothing" {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    if [ "${REQUIRE_LIVE:-}" != 1 ] && ! { [ -e "${OWED_DEPS:-$HOME/.cache/owed}/kafka-4" ] && [ -e "${OWED_DEPS:-$HOME/.cache/owed}/chdb-26.5" ]; }; then
        skip "the services are not installed"
    fi
    export TMPDIR=$BATS_TEST_TMPDIR/work
    mkdir "$TMPDIR"
    run "$root/examples/reconcile/demo"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^ok ' <<<"$output")" -ge 33 ]
    run -1 grep -c '^WRONG' <<<"$output"
    [ -z "$(ls -A "$TMPDIR")" ]
    run -1 pgrep -f "$TMPDIR"
}
