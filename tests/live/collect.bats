#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Collecting from a job that runs: a hundred collections while it checkpoints quickly. Every bundle that is published is whole;
# what moved on in the meantime is refused as changed.
# shellcheck disable=SC2154 # bats and the stage set the variables
bats_require_minimum_version 1.5.0

setup_file() {
    export root work=$BATS_FILE_TMPDIR lack=''
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    # shellcheck source=examples/stage.bash
    . "$root/examples/stage.bash"
    services_up 2>"$work/services.err" || lack=$(tail -n 1 "$work/services.err")
    [ -n "$lack" ] || sql 'CREATE DATABASE shop'
}

setup() {
    if [ -n "$lack" ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "$lack" >&2; return 1; }
        skip "$lack"
    fi
    . "$root/examples/stage.bash"
    services_env
    PATH=$root/bin:$PATH
    id=$BATS_TEST_NUMBER
    runner=''
}

teardown() {
    [ -z "$runner" ] || kill -TERM "$runner" 2>/dev/null || true
    [ -z "$runner" ] || wait "$runner" 2>/dev/null || true
    tail -n 20 "$work/job-$id.log" 2>/dev/null || true
}

teardown_file() {
    . "$root/examples/stage.bash"
    services_down
}

collect() { # bundle: 0 published, 1 refused as changed, 2 anything else
    local rc=0
    bundle-pack --checkpoint-dir="$work/job-$id/ckpt" --job="$id" --ha-dir="$work/job-$id/ha" --capture-dir="$work/job-$id/capture" \
        --include-state --include-captures --json --out="$1" >"$work/pack.ndjson" 2>"$work/pack.err" || rc=$?
    [ "$rc" -ne 0 ] || return 0
    [ "$rc" -eq 1 ] && [ "$(jq -r 'select(.type == "stop").refusal' "$work/pack.ndjson")" = changed ] && [ ! -e "$1" ] && return 1
    cat "$work/pack.err" >&2
    return 2
}

@test "a hundred collections of a job that checkpoints: published ones are whole, the others are refused as changed" {
    kafka create-topic "t$id" 2
    table "t$id" 'MergeTree ORDER BY event_id'
    spec "$id" "t$id" "t$id"
    jq '.checkpoint.interval_ms = 60 | .checkpoint.retain = 3' "$work/$id.json" >"$work/$id.new"
    mv "$work/$id.new" "$work/$id.json"
    produce "t$id" 1 2000
    "$root/pipelines/job" --spec="$work/$id.json" --dir="$work/job-$id" --parallelism=2 2>"$work/job-$id.log" &
    runner=$!
    wait_keys "t$id" 2000
    wait_checkpoints "$id" 3
    first=$(newest "$id") published=0 changed=0 n=0 start=$SECONDS
    # Until both were seen: which of them a collection comes to is a matter of a few milliseconds.
    while ((n < 100 || ((published < 50 || changed < 1) && n < 400 && SECONDS - start < 120))); do
        n=$((n + 1)) rc=0
        collect "$work/b-$n" || rc=$?
        case $rc in
            0)
                bundle-check --profile=consistency "$work/b-$n" >"$work/check.ndjson"
                published=$((published + 1))
                rm -r "$work/b-$n"
                ;;
            1) changed=$((changed + 1)) ;;
            *) false ;;
        esac
    done
    echo "# $n collections over $(($(newest "$id") - first)) checkpoints: $published published and whole, $changed refused as changed" >&3
    [ "$published" -ge 50 ]
    [ "$changed" -ge 1 ]
    [ "$(newest "$id")" -gt $((first + 10)) ]
    [ -z "$(find "$work" -maxdepth 1 -name '.b-*')" ]
    kill -0 "$runner"
    [ "$(grep -c 'attempt .* failed' "$work/job-$id.log")" -eq 0 ]
}
