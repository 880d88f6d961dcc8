#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# pipelines/verify: a bundle by itself, each profile, and what the status says.
bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export OWED_BIN=${OWED_BIN:-$root/bin}
    cd "$root/fixtures" || exit 1
    verify=$root/pipelines/verify
    report=$BATS_TEST_TMPDIR/report.json
}

decided() { jq -c '[.checks[] | select(.status == "passed") | .name]' "$report"; }

@test "each profile requires its checks, and consistency is what is meant without one" {
    run -0 "$verify" incident --profile=integrity --json --report="$report"
    [ "$(decided)" = '["bundle.manifest","bundle.artifacts","bundle.completeness"]' ]
    run -0 "$verify" incident --report="$report" --json
    [[ "$(decided)" == *'"checkpoint.restore_rule","checkpoint.participants","state.decode"]' ]]
    for profile in replay full; do
        run -3 "$verify" incident --profile="$profile" --json --report="$report"
        jq -e '[.checks[] | select(.status == "passed") | .name] | index("replay.determinism")' "$report"
        jq -e '[.checks[] | select(.status == "unsupported") | .name] == ["replay.recorded_output"]' "$report"
    done
    run -3 "$verify" incident --profile=replay --op=2 --epoch=1 --max-replays=1 --json --report="$report"
    [ "$(jq -r '.made[] | select(.name == "replay.determinism") | .counts.selected' "$report")" -eq 2 ]
    run -2 "$verify" incident --op=2
    [[ $output == *'--op is of a replay'* ]]
}

@test "a bundle that was changed fails, and one that is none is refused" {
    cp -R incident "$BATS_TEST_TMPDIR/changed"
    chmod -R u+w "$BATS_TEST_TMPDIR/changed"
    printf x >>"$(find "$BATS_TEST_TMPDIR/changed/checkpoint" -name '*.snap' | head -n 1)"
    run -1 "$verify" "$BATS_TEST_TMPDIR/changed"
    [[ $output == FAILED:* ]]
    run -2 --separate-stderr "$verify" "$BATS_TEST_TMPDIR"
    [[ $output == REFUSED:* ]]
}

@test "verify reaches no network, which is proven here" {
    "$root/pipelines/isolate" --prove || skip "no user and network namespace can be made here"
    run -0 "$root/pipelines/isolate" -- "$verify" incident
    [[ $output == PASSED:* ]]
}

@test "what is no option, no profile or no bundle is said" {
    run -2 "$verify"
    run -2 "$verify" incident other
    run -2 "$verify" incident --profile=whole
    [[ $output == *"'whole' is none of"* ]]
    run -2 "$verify" incident --token=s3cret
    [[ $output == *"--token"* && $output != *s3cret* ]]
}
