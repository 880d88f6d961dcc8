#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# scope-cut --coverage=complete-table: what the bundle must show of it, each condition both ways; and --expected-out.
# shellcheck disable=SC2034,SC2154 # make-job uses job; bats sets stderr
bats_require_minimum_version 1.5.0
load make-job
load answers

# A job of one run: 1 to 3 as make_job has them (2 never completed), then 4 and 5 without rows, and it ends.
setup_file() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    make_job "$BATS_FILE_TMPDIR/job"
    for s in 0 1; do
        rm "$job"/capture/op-?/subtask-$s/epoch-[567].* "$job"/ckpt/_state/1/v1/$s/start-6.* "$job"/ckpt/_state/1/v1/$s/checkpoint-[567].*
    done
    rm "$job"/ckpt/_jobs/1/COMPLETED-[67] "$job/ckpt/_jobs/1/RESTORED"
    epoch 5 4 a1 10 10
    marker 5
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    cp -a "$BATS_FILE_TMPDIR/job" job
    job=$PWD/job
    window=(--epochs=1-9)
}

# cover STATUS [ARGUMENT…]: over a bundle collected from the job as it is now.
cover() {
    local want=$1
    shift
    rm -rf b
    pack_job job b "${window[@]}" --commit-confirmation=no --checkpoint=3 >packed
    run "-$want" --separate-stderr "$bin/scope-cut" --key=id --coverage=complete-table "$@" b || { printf '%s\n%s\n' "$stderr" "$(checks)" >&2; return 1; }
}

checks() { of check | jq -r 'select(.name | startswith("bundle.") | not) | .name + " " + .status + " " + .reason + " -> " + .code'; }
coverage() { checks | grep ^destination.coverage || true; }

not_shown() { # TEXT [CODE]: the scope is whole, and coverage is not
    [[ $(coverage) == "destination.coverage unavailable "*"$1"*" -> ${2:-}"* ]] || { checks >&2; return 1; }
    [[ $(checks) == "reconcile.scope passed"* ]]
    [ "$(document | jq -r .bundle.coverage)" = complete-table ]
}

@test "a run from nothing, and two quiet barriers after: the scope is the whole run's, and no check says more than that" {
    cover 0 --out=scope.json
    [ "$(document | jq -c '.bundle | [.coverage, .from_run_start, .start, .checkpoint, .since, .epochs]')" = '["complete-table",true,"run",3,0,[1,2,3]]' ]
    [ "$(of require | jq -c '.checks[-1]')" = '"destination.coverage"' ]
    [ "$(checks)" = "reconcile.scope passed  -> " ]
    [ "$(of row | wc -l)" -eq 20 ]
    # The two that each subtask was quiet for are shown, so that whoever reads the answer has them too.
    [ "$(of interval | jq -c 'select(.epoch > 3) | [.subtask, .epoch, .previous, .capture.seen, .ledger]' | tr -d '\n')" = '[0,4,3,0,[]][0,5,4,0,[]][1,4,3,0,[]][1,5,4,0,[]]' ]
    [ "$(cat scope.json)" = "$(document)" ]
    run -0 --separate-stderr "$bin/scope-cut" --key=id --coverage=selected-keys --checkpoint=3 b
    [ "$(document | jq -c '.bundle | [.coverage, .from_run_start, .epochs]')" = '["selected-keys",false,[2,3]]' ]
    [[ $(of require) != *coverage* ]]
    run -2 --separate-stderr "$bin/scope-cut" --key=id --coverage=all b
    [[ $stderr == "scope-cut: --coverage: 'all' is not one of selected-keys|complete-table" ]]
}

@test "the window that bundle-pack takes by itself reaches over the two barriers" {
    window=()
    cover 3
    [ -e b/capture/op-3/subtask-1/epoch-5.sink.json ]
    [[ $(checks) == *"reconcile.scope unavailable"*" -> epochs-not-collected"* ]]
    window=(--epochs=1-5)
    cover 0
    window=(--epochs=1-4)
    cover 3
    not_shown "shows sink subtask 0 quiet for 1 of 2 barriers after checkpoint 3" epochs-not-collected
}

@test "one barrier after is not enough, of every subtask" {
    rm job/capture/op-3/subtask-1/epoch-5.*
    cover 3
    not_shown "shows sink subtask 1 quiet for 1 of 2 barriers after checkpoint 3" sink-quiet-not-shown
    [[ $(coverage) != *"subtask 0"* ]]
    rm job/capture/op-3/subtask-?/epoch-[45].*
    cover 3
    not_shown "subtask 0 quiet for 0 of 2 barriers after checkpoint 3; the bundle shows sink subtask 1 quiet for 0 of 2" sink-quiet-not-shown
}

@test "rows after the checkpoint, however late, leave the table unknown" {
    epoch 5 4 a1 10 12
    cover 3
    not_shown "'capture/op-3/subtask-0/epoch-5.sink.json' shows 2 rows after checkpoint 3; 'capture/op-3/subtask-1/epoch-5.sink.json' shows 2 rows" sink-not-quiet
    epoch 5 4 a1 10 10
    epoch 6 5 a1 10 10
    marker 6
    cover 0
    epoch 7 6 a1 10 11
    cover 3
    not_shown "epoch-7.sink.json' shows 1 rows after checkpoint 3" sink-not-quiet
}

@test "many reasons end in how many more there are" {
    epoch 4 3 a1 10 11
    epoch 5 4 a1 11 12
    epoch 6 5 a1 12 13
    cover 3
    [[ $(coverage) == *"epoch-6.sink.json' shows 1 rows after checkpoint 3; and 2 more reasons -> "* ]]
}

@test "quiet is shown by the sink's own evidence, of this run and this table, and one barrier after another" {
    interval 0 5 3 a1 0
    cover 3
    not_shown "subtask 0 quiet for 1 of 2 barriers"
    interval 0 5 4 a2 0
    cover 3
    not_shown "subtask 0 quiet for 1 of 2 barriers"
    table=other interval 0 5 4 a1 0
    cover 3
    not_shown "subtask 0 quiet for 1 of 2 barriers"
    interval 0 5 4 a1 0
    sed -i 's/"capture":{[^}]*}/"capture":{"outcome":"disarmed","seen":0}/' job/capture/op-3/subtask-0/epoch-5.sink.json
    cover 3
    not_shown "shows 0 rows after checkpoint 3, and its capture was disarmed" sink-not-quiet
    printf '{}\n' >job/capture/op-3/subtask-0/epoch-5.sink.json
    cover 3
    not_shown "epoch-5.sink.json"
}

@test "a run that began with state, after another attempt, or was restored later, is not all that the table holds" {
    printf 'job=1\ncheckpoint=5\nnext=6\n' >job/ckpt/_jobs/1/RESTORED
    cover 3
    not_shown "the job was restored from checkpoint 5 after checkpoint 3: the table is not of one run" table-of-several-runs
    rm job/ckpt/_jobs/1/RESTORED
    rm job/ckpt/_jobs/1/COMPLETED-3
    for s in 0 1; do
        snap $s 5 10 6 4 a2
        rm "job/ckpt/_state/1/v1/$s/start-1.snap"*
    done
    epoch 6 0 a2 10 15
    epoch 7 6 a2 15 15
    epoch 8 7 a2 15 15
    printf 'job=1\ncheckpoint=4\nnext=6\n' >job/ckpt/_jobs/1/RESTORED
    marker 6
    rm -rf b
    pack_job job b --epochs=1-9 --commit-confirmation=no --checkpoint=6 >packed
    run -3 --separate-stderr "$bin/scope-cut" --key=id --coverage=complete-table b
    not_shown "the run began with the state of checkpoint 4" table-of-several-runs
    [[ $(coverage) != *barriers* ]]
    printf 'job=1\ncheckpoint=0\nnext=6\n' >job/ckpt/_jobs/1/RESTORED
    for s in 0 1; do snap $s 5 0 6 0 a2; done
    rm -rf b
    pack_job job b --epochs=1-9 --commit-confirmation=no --checkpoint=6 >packed
    run -3 --separate-stderr "$bin/scope-cut" --key=id --coverage=complete-table b
    not_shown "the run began at epoch 6, after an attempt whose rows may be in the table"
}

@test "without what the run started with, neither the scope nor coverage is shown" {
    rm job/ckpt/_state/1/v1/1/start-1.snap*
    cover 3
    [[ $(coverage) == *"unavailable the bundle does not hold what source subtask 1 started with -> run-start-not-shown"* ]]
    [[ $(checks) == "reconcile.scope unavailable"*"start-1.snap"* ]]
}

@test "an empty scope is whole, of keys and of the table" {
    epoch 1 0 a1 0 0
    epoch 2 1 a1 0 0
    epoch 3 2 a1 0 0
    epoch 4 3 a1 0 0
    epoch 5 4 a1 0 0
    cover 0 --expected-out=rows
    [ "$(of side)" = '{"type":"side","side":"captured","rows":0,"whole":true}' ]
    [[ -e rows && ! -s rows ]]
    run -0 --separate-stderr "$bin/scope-cut" --key=id --from-run-start b
    [ "$(checks)" = "reconcile.scope passed  -> " ]
}

@test "--expected-out: the captured rows, whole or not at all" {
    cover 0 --expected-out=rows
    diff rows <(of row | jq -c '{cells, at}')
    [ "$(head -n 1 rows)" = '{"cells":["0","n0","5000","1758000000000000"],"at":"orders/0/0"}' ]
    rm job/capture/op-3/subtask-1/epoch-2.cap
    cover 3 --expected-out=part
    [ ! -e part ]
    run -3 --separate-stderr "$bin/scope-cut" --key=id --checkpoint=1 --expected-out=none/rows b
    [[ $stderr == *none* ]]
    mkdir taken
    run -2 --separate-stderr "$bin/scope-cut" --key=id --checkpoint=1 --expected-out=taken b
    [ -z "$(ls -A taken; compgen -G '.*tmp*' || true)" ]
}
