#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The cases of tests/incidents: this build gives the rows that each was frozen with, and its bundle gives the same case again.
bats_require_minimum_version 1.5.0

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    incidents=$BATS_TEST_DIRNAME/incidents
    cases=$(cd "$incidents" && printf '%s\n' */case.json | xargs -n 1 dirname)
    cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "every case gives its golden rows" {
    [ "$(wc -l <<<"$cases")" -ge 6 ]
    # Nothing else lies there, and README tells of each.
    [ "$(find "$incidents" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq "$(wc -l <<<"$cases")" ]
    for case in $cases; do
        run "$bin/epoch-run" "$incidents/$case"
        [ "$status" -eq 0 ] || { echo "$case: $output" >&2; return 1; }
        grep -qE "^ *$case " "$incidents/README" || { echo "README has no $case" >&2; return 1; }
        # One without rows would hold nothing.
        [ "$(jq .golden.rows "$incidents/$case/case.json")" -gt 0 ]
    done
}

@test "the tests that came with the cases run them" {
    readarray -t dirs <<<"$cases"
    dirs=("${dirs[@]/#/$incidents/}")
    run -0 env OWED_BIN="$bin" bats --tap "${dirs[@]}"
    [ "$(grep -c '^ok ' <<<"$output")" -eq "${#dirs[@]}" ]
}

@test "frozen again, they are the same" {
    mkdir again
    run -0 env PATH="$bin:$PATH" "$incidents/freeze" again
    # But for the release that froze them, which their manifests name.
    for case in $cases; do diff -r -x manifest.json -x case.json "again/$case" "$incidents/$case"; done
    [ "$(cd again && printf '%s\n' *)" = "$cases" ]
}
