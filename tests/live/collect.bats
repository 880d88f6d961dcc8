#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Collecting from a job that runs, COLLECTIONS times (100), while it checkpoints. Every bundle that is published is whole;
# what moved on in the meantime is refused as changed.
# shellcheck disable=SC2154 # bats and the stage set the variables
bats_require_minimum_version 1.5.0

load job
load ../stop-at

setup_file() { jobs_up; }
setup() { jobs_need; }
teardown() { jobs_end; }
teardown_file() { jobs_down; }

# collect BUNDLE [COMMAND…]: 0 published, 1 refused as changed, 2 anything else. The command runs while the collection stands
# still, before it reads the newest checkpoint's first snapshot.
collect() {
    local rc=0 out=$1
    local command=(bundle-pack --checkpoint-dir="$work/job-$id/ckpt" --job="$id" --ha-dir="$work/job-$id/ha" --capture-dir="$work/job-$id/capture"
        --include-state --include-captures --out="$out")
    shift
    if [ $# -eq 0 ]; then
        "${command[@]}" >stdout 2>stderr || rc=$?
    else
        start_stopped "/0/checkpoint-$(newest "$id").snap" 1 "${command[@]}" || return 2
        "$@" || return 2
        kill -CONT "$pid"
        wait "$pid" || rc=$?
    fi
    [ "$rc" -ne 0 ] || return 0
    [ "$rc" -eq 1 ] && [ "$(jq -r 'select(.type == "stop").code' stdout)" = evidence-moved ] && [ ! -e "$out" ] && return 1
    cat stderr >&2
    return 2
}

@test "collections of a job that checkpoints: published ones are whole, the others are refused as changed" {
    prepare 2 '' '.checkpoint.retain = 1'
    produce "t$id" 1 2000
    start
    wait_keys "t$id" 2000
    checkpoint "$id"
    cd "$BATS_TEST_TMPDIR" || return 1
    first=$(newest "$id") published=0 changed=0 many=${COLLECTIONS:-100}
    # Of each four: two of a job that stands still, one beside a checkpoint that falls where it falls, and one from under which
    # the checkpoint that it collects is removed.
    for ((n = 1; n <= many; n++)); do
        rc=0 want=0 before=$(newest "$id")
        case $((n % 4)) in
            0) want=1; collect "b-$n" checkpoint "$id" || rc=$? ;;
            1) want=any; ask_barrier; collect "b-$n" || rc=$? ;;
            *) collect "b-$n" || rc=$? ;;
        esac
        echo "collection $n: $rc" >&2
        [ "$rc" -eq "${want/any/$rc}" ]
        case $rc in
            0)
                bundle-check --profile=consistency "b-$n" >check.ndjson
                published=$((published + 1))
                rm -r "b-$n"
                ;;
            1) changed=$((changed + 1)) ;;
            *) false ;;
        esac
        # What was asked for beside it is over before the next one.
        [ $((n % 4)) -ne 1 ] || await 'the checkpoint beside it' at_least $((before + 1)) newest "$id"
    done
    echo "# $many collections over $(($(newest "$id") - first)) checkpoints: $published published and whole, $changed refused as changed" >&3
    [ "$published" -ge $((many / 2)) ]
    [ "$changed" -ge $((many / 4)) ]
    [ "$(newest "$id")" -ge $((first + many / 2)) ]
    [ -z "$(find . -maxdepth 1 -name '.b-*')" ]
    kill -0 "$runner"
    [ "$(grep -c 'attempt .* failed' "$work/job-$id.log")" -eq 0 ]
}

@test "the whole run on ch-read's page" {
    prepare 2
    produce "t$id" 1 40
    start
    wait_keys "t$id" 40
    checkpoint "$id"
    checkpoint "$id"
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
