#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Collecting from a job that runs: a hundred collections while it checkpoints quickly. Every bundle that is published is whole;
# what moved on in the meantime is refused as changed.
# shellcheck disable=SC2154 # bats and the stage set the variables
bats_require_minimum_version 1.5.0

load job

setup_file() { jobs_up; }
setup() { jobs_need; }
teardown() { jobs_end; }
teardown_file() { jobs_down; }

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
    prepare 2 '' '.checkpoint.interval_ms = 60 | .checkpoint.retain = 3'
    produce "t$id" 1 2000
    start
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

@test "the whole run on ch-read's page" {
    prepare 2 '' '.checkpoint.interval_ms = 1000 | .checkpoint.retain = 20'
    produce "t$id" 1 40
    start
    wait_keys "t$id" 40
    wait_checkpoints "$id" 2
    n=$(jq -r 'select(.capture.seen > 0).epoch' "$work/job-$id"/capture/op-3/subtask-*/epoch-*.sink.json | sort -n | tail -n 1)
    cd "$work" || return 1
    bundle-pack --checkpoint-dir="job-$id/ckpt" --job="$id" --ha-dir="job-$id/ha" --capture-dir="job-$id/capture" --checkpoint="$n" \
        --include-state --include-captures --out=incident-1 >pack.ndjson
    sed '1,/^\.Sh EXAMPLES/d' "$root/man/ch-read.1" | awk '/live/ { on = 1 } /^\.Ed/ { on = 0 } on && !/^\./ { sub(/^[$>] /, ""); print }' |
        sed "s#http://127.0.0.1:8123#$CH_URL#; s/reconciler/reader/; s/--checkpoint=12/--checkpoint=$n/" >example
    grep -q "ch-read --url=$CH_URL" example
    CH_PASSWORD=$READER_PASSWORD run -0 --separate-stderr bash -o pipefail -e example
    [[ $output == "PASSED: every required check passed (exit 0)"* ]]
}
