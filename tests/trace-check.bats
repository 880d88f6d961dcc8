#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# trace-check: the traces of a whole job pass, a killed process may lack its last event and no more, each forbidden trace is refused
# by what it breaks, and what cannot be decided is said by name.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load make-job
load stop-at

setup_file() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_FILE_TMPDIR" || return
    make_job job
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    job=$BATS_FILE_TMPDIR/job
}

traces() { python3 "$BATS_TEST_DIRNAME/traces.py" traces "$@"; }

# judged STATUS: the job with what lies in traces, collected and checked; $structure and $conformance are "status code".
judged() {
    rm -rf b
    "$bin/bundle-pack" --checkpoint-dir="$job/ckpt" --ha-dir="$job/ha" --job=1 --trace-dir=traces --out=b >packed
    run "-$1" --separate-stderr "$bin/trace-check" b
    structure=$(said protocol.trace_structure) conformance=$(said protocol.conformance)
}
# bundle.artifacts as it came, and once more with another status, in this order. twice STATUS STATUS.
twice() {
    jq -c --arg first "$1" 'if .type == "end" then .lines.check += 1 elif .name == "bundle.artifacts" then
        (del(.code, .facts, .counts) + {status: "passed"}) as $passed |
        if $first == "passed" then $passed, . else ., $passed end else . end'
}
export -f twice
said() { jq -r --arg n "$1" 'select(.type == "check" and .name == $n) | [.status, .code // empty] | join(" ")' <<<"$output"; }
reason() { jq -r 'select(.name == "protocol.conformance") | .reason' <<<"$output"; }

@test "the traces of a job with a restore pass, and what was looked at is counted" {
    traces
    judged 0
    [ "$structure $conformance" = 'passed passed' ]
    [ "$(jq -c 'select(.name == "protocol.conformance") | .counts | [.traces, .runs, .completed]' <<<"$output")" = '[24,2,5]' ]
    [ "$(jq -r 'select(.name == "protocol.trace_structure") | .evidence | length' <<<"$output")" = 24 ]
}

@test "a killed process may lack its last event, whichever process it is" {
    for p in kafka-tail cap-tee-2-0 cap-tee-3-1 row-map-2-1 ch-sink-3-0 lane-join ckpt-mark; do
        rm -rf traces
        traces last_unsaid $p
        judged 0
    done
}

@test "each forbidden trace is refused by what it breaks" {
    python3 "$BATS_TEST_DIRNAME/traces.py" --list >list
    [ "$(wc -l <list)" -ge 15 ]
    while read -r name; do
        rm -rf traces
        traces "$name"
        judged 1 || { echo "$name" >&2; return 1; }
        [ "$structure $conformance" = 'passed failed protocol-violated' ] || { echo "$name: $conformance" >&2; return 1; }
        printf '%s: %s\n' "$name" "$(reason)" >>reasons
    done <list
    grep -q '^number_used_twice: run 2, planned from checkpoint 4 with first number 5: its first number' reasons
    grep -q '^restore_that_passes_over_a_completed_one: run 2, planned from checkpoint 3 .*the restore rule chooses another' reasons
    grep -q '^barrier_that_nothing_carries: run 1, kafka-tail, line 17: barrier 5: nothing that is durable carries its number' reasons
    grep -q '^completed_with_one_lane: run 1, lane-join, line 4: passed 3: the barrier had not come there' reasons
}

@test "what the model does not describe is unsupported by name" {
    for edit in rescaled both_families renumbered later unknown unknown_operator; do
        rm -rf traces
        traces $edit
        judged 3
        [ "$structure $conformance" = 'passed unsupported protocol-unsupported' ] || { echo "$edit: $conformance" >&2; return 1; }
        reason >>reasons
    done
    [ "$(grep -cE 'was rescaled|both families|lack the job.s first attempt: the earliest is run [12]|no process like .row-group-4-0|operator 4 has a recorder and no trace' reasons)" -eq 6 ]
}

# of_participants LIST: the job, each checkpoint of it with these.
of_participants() {
    cp -R "$job" mine
    job=$PWD/mine
    sed -i "s/^subtasks=.*/subtasks=$1/" mine/ckpt/_jobs/1/COMPLETED-*
    [ "$1" = 0,1 ] || snap 2 7 5
}

@test "a window is a participant of its own, behind the join" {
    of_participants 0,1,2
    traces windowed
    judged 0
    [ "$structure $conformance" = 'passed passed' ]
    for edit in without_its_state in_a_lanes_place passed_before_its_state before_the_join; do
        rm -rf traces
        traces windowed_$edit
        judged 1
        [ "$structure $conformance" = 'passed failed protocol-violated' ] || { echo "$edit: $conformance" >&2; return 1; }
        printf '%s: %s\n' "$edit" "$(reason)" >>reasons
    done
    grep -q '^without_its_state: run 1, ckpt-mark, line 3: completed 3: another checkpoint is next to be completed' reasons
    grep -q "^in_a_lanes_place: run 1, row-window-3-0, line 6: state 3: it is another participant's state" reasons
    grep -q '^passed_before_its_state: run 1, row-window-3-0, line 6: passed 3: another act is next' reasons
    grep -q '^before_the_join: run 1, cap-tee-3-0, line 10: evidence 5: the barrier had not come there' reasons
    # Its trace is not there in the run that it is to be judged by, and in none.
    rm -rf traces && traces windowed && rm traces/row-window-3-0-a1.ndjson
    judged 3
    [[ $conformance == 'unavailable traces-lacking' && $(reason) == *'the trace of row-window is not there' ]]
    rm traces/row-window-* traces/cap-tee-3-*
    judged 3
    [[ $conformance == 'unavailable traces-lacking' && $(reason) == 'the job is planned with 1 windows, and the traces are of 0' ]]
    rm -rf traces && traces
    judged 3
    [[ $conformance == 'unavailable traces-lacking' && $(reason) == *"COMPLETED-1' names 3 participants, and the traces tell of 2"* ]]
}

@test "a checkpoint that was completed without asking the window is a violation" {
    of_participants 0,1
    traces windowed
    judged 1
    [[ $conformance == 'failed protocol-violated' && $(reason) == *"COMPLETED-1' names 2 participants, and 3 processes of the job store a state"* ]]
}

@test "traces that are not all there are unavailable, and so is a bundle that has none" {
    traces
    rm traces/ch-sink-3-0-a1.ndjson
    judged 3
    [ "$structure $conformance" = 'passed unavailable traces-lacking' ]
    [[ $(reason) == *'the trace of ch-sink is not there' ]]
    # What the plan did follows from no other process of its run.
    rm -rf traces && traces restore_that_is_not_recorded && rm traces/row-map-2-0-a2.ndjson
    judged 1
    [ "$conformance" = 'failed protocol-violated' ]
    rm -rf traces && traces && rm traces/ckpt-plan-a2.ndjson
    judged 3
    [[ $conformance == 'unavailable traces-lacking' && $(reason) == *"no trace holds the plan of attempt 'a2'"* ]]
    # All of the last attempt: the markers show that it was.
    rm traces/*-a2.ndjson
    judged 3
    [[ $conformance == 'unavailable traces-lacking' && $(reason) == *'COMPLETED-6'* ]]
    rm traces/*
    judged 3
    [ "$structure $conformance" = 'unavailable traces-not-collected unavailable traces-not-collected' ]
}

@test "a stage that keeps no trace in any run is known by the job's graph, and its recorder by what it recorded" {
    lacking() { # WHY
        [[ $structure == passed && $conformance == 'unavailable traces-lacking' && $(reason) == "$1"* ]] || { reason >&2; return 1; }
    }
    traces && rm traces/*-2-?-a?.ndjson
    judged 3
    lacking "the job's graph has operator 2,"
    # A sink every job has, whether or not its manifest was collected.
    rm -rf traces && traces && rm traces/*-3-?-a?.ndjson
    judged 3
    lacking "no trace is of the job's sink"
    rm -r b
    "$bin/bundle-pack" --checkpoint-dir="$job/ckpt" --job=1 --commit-confirmation=no --trace-dir=traces --out=b >packed
    run -3 --separate-stderr "$bin/trace-check" b
    structure=$(said protocol.trace_structure) conformance=$(said protocol.conformance)
    lacking "no trace is of the job's sink"
    rm -rf traces && traces && rm traces/cap-tee-2-*
    judged 0
    "$bin/bundle-pack" --checkpoint-dir="$job/ckpt" --ha-dir="$job/ha" --capture-dir="$job/capture" --job=1 --include-captures --epochs=1-99 \
        --trace-dir=traces --out=recorded >packed
    run -3 --separate-stderr "$bin/trace-check" recorded
    [[ $(said protocol.conformance) == 'unavailable traces-lacking' && $(reason) == *'no trace is of a recorder of operator 2'* ]]
}

@test "a trace that was disarmed, and a line without its end, leave it open" {
    traces
    sed -i '1s/"armed":true/"armed":false/; 5,$d' traces/ch-sink-3-0-a1.ndjson
    judged 3
    [ "$structure $conformance" = 'passed unavailable traces-lacking' ]
    [[ $(reason) == *'the trace of ch-sink-3-0 lacks events, '* ]]
    rm -rf traces && traces
    truncate -s -3 traces/ckpt-mark-a2.ndjson
    judged 3
    [ "$structure" = 'unavailable trace-cut' ]
    # What it was cut with may have led to what the others say.
    rm -rf traces && traces
    sed -i '4,$d' traces/lane-join-a2.ndjson && truncate -s -3 traces/lane-join-a2.ndjson
    judged 3
    [ "$structure $conformance" = 'unavailable trace-cut unavailable traces-lacking' ]
    # One that its process was killed before it wrote to is none.
    rm -rf traces && traces last_unsaid kafka-tail
    : >traces/row-map-2-0-a9.ndjson
    judged 0
}

# growing FILE: the collection of traces, standing still before it copies this one.
growing() {
    rm -rf b
    start_stopped "$1" 1 "$bin/bundle-pack" --checkpoint-dir="$job/ckpt" --ha-dir="$job/ha" --job=1 --trace-dir=traces --out=b
}

@test "traces that grow while they are collected are taken as far as they went, no event without those that led to it" {
    of_participants 0,1,2
    traces windowed
    sed -i '/"ended"/d' traces/*-a2.ndjson
    growing lane-join-a2.ndjson
    # What stands behind the join was looked at before it, and what stands before it afterwards.
    taken=$(find . -path './.b*/traces/*-a2.ndjson' -printf '%f\n')
    for p in ckpt-mark ch-sink-4-0 cap-tee-4-0 row-window-3-0 cap-tee-3-0; do grep -qx "$p-a2.ndjson" <<<"$taken"; done
    run -1 grep -E '^(row-map-2|kafka-tail|ckpt-plan)' <<<"$taken"
    for f in traces/*-a2.ndjson; do
        case $f in
            */kafka-tail-*) printf '{"seq":9,"job":"1","attempt":"a2","process":"kafka-tail","event":"sta' >>"$f" ;;
            *) printf '{"seq":1,"job":"1"' >>"$f" ;;
        esac
    done
    kill -CONT "$pid"
    wait "$pid"
    run -0 --separate-stderr "$bin/trace-check" b
    [ "$(said protocol.trace_structure) $(said protocol.conformance)" = 'passed passed' ]
    # One that is looked at in the middle of a line is open, and decides nothing against the job.
    judged 3
    [ "$structure $conformance" = 'unavailable trace-cut passed' ]
}

@test "a trace that is none fails the structure, and nothing is said of the protocol" {
    for edit in '3d' '3s/"seq":3/"seq":4/' '3s/"attempt":"a1"/"attempt":"a2"/' '3s/"event":"[a-z]*"/"event":"sent"/' '3s/}$//' '1d'; do
        rm -rf traces
        traces
        sed -i "$edit" traces/lane-join-a1.ndjson
        judged 1
        [ "$structure $conformance" = 'failed trace-malformed unavailable check-not-passed' ] || { echo "$edit: $structure $conformance" >&2; return 1; }
    done
    rm -rf traces && traces
    mv traces/lane-join-a1.ndjson traces/lane-join-a3.ndjson
    judged 1
    [ "$structure" = 'failed trace-malformed' ]
}

@test "another job's traces decide nothing" {
    traces forbidden_number_used_twice
    sed -i 's/"job":"1"/"job":"2"/' traces/*
    mkdir kept && for f in traces/*; do mv "$f" "kept/other-${f##*/}"; done
    rm -rf traces && traces && mv kept/* traces
    judged 0
    [[ $(jq -r 'select(.name == "protocol.trace_structure") | .reason' <<<"$output") == *"is of job '2', and decides nothing"* ]]
    rm -rf traces && traces && sed -i 's/"job":"1"/"job":"2"/' traces/*
    judged 3
    [ "$structure" = 'unavailable traces-not-collected' ]
}

@test "markers that the traces contradict" {
    traces
    cp -R "$job" mine
    job=$PWD/mine
    rm mine/ckpt/_jobs/1/COMPLETED-3
    judged 1
    [[ $conformance == 'failed protocol-violated' && $(reason) == *'checkpoint 3 was completed, and the bundle holds no marker of it' ]]
}

@test "behind a bundle's check in a pipe, and open where the files changed" {
    traces
    judged 0
    run -0 --separate-stderr bash -c "'$bin/bundle-check' b | '$bin/trace-check'"
    [ "$(said protocol.conformance)" = passed ]
    echo x >>b/traces/lane-join-a1.ndjson
    run -3 --separate-stderr bash -c "'$bin/bundle-check' b | '$bin/trace-check'"
    [ "$(said protocol.trace_structure)" = 'unavailable check-not-passed' ]
    run -1 --separate-stderr "$bin/trace-check" b
    [ "$(said bundle.artifacts) $(said protocol.conformance)" = 'failed artifact-changed unavailable check-not-passed' ]
    run -2 --separate-stderr "$bin/trace-check" none
    # Of several lines for one check the worst counts, wherever it stands; here of a file that no trace is.
    judged 0
    echo x >>b/checkpoint/_jobs/1/COMPLETED-3
    for order in 'failed passed' 'passed failed'; do
        # shellcheck disable=SC2086 # two words
        run -3 --separate-stderr bash -c "'$bin/bundle-check' b | twice $order | '$bin/trace-check'"
        [ "$(said protocol.conformance)" = 'unavailable check-not-passed' ]
    done
}
