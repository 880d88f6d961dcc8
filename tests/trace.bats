#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Traces as a job's stages write them: what stands in them, that the lane is the same with one and without, and that a trace which
# cannot be written stops nobody and says so.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load stream

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

lane() { # barriers
    { event 1; for ((i = 1; i <= $1; i++)); do watermark "$i"; barrier "$i" $((i - 1)); done; event 2; } | whole lane
}

traced() { # program, its arguments: one that has all four ids
    "$1" --trace-dir=traces --job=1 --operator=3 --subtask=0 --attempt=1-a "${@:2}"
}

# The events of a trace without what every line holds, one a line.
events() { jq -c 'del(.seq, .job, .attempt, .process)' "traces/$1-1-a.ndjson"; }

@test "each stage's trace names its process, counts from 1, and has an event for each act" {
    lane 2
    traced cap-tee --capture-dir=cap <lane >teed
    traced row-map --program=. <lane >mapped
    lane-join --trace-dir=traces --job=1 --attempt=1-a lane >joined
    opened='{"event":"opened","format":"owed-trace","version":1,"armed":true}'
    passed() { printf '{"event":"passed","checkpoint":%s}\n' "$1"; }
    [ "$(events row-map-3-0)" = "$opened"$'\n'"$(passed 1)"$'\n'"$(passed 2)"$'\n''{"event":"ended","status":0}' ]
    [ "$(events lane-join)" = "$(events row-map-3-0)" ]
    [ "$(events cap-tee-3-0 | sed -n 2,5p)" = '{"event":"evidence","checkpoint":1,"ok":true}'$'\n'"$(passed 1)"$'\n''{"event":"evidence","checkpoint":2,"ok":true}'$'\n'"$(passed 2)" ]
    for f in traces/*; do
        jq -es --arg f "$f" 'to_entries | all(.value.seq == .key + 1 and .value.job == "1" and "traces/\(.value.process)-\(.value.attempt).ndjson" == $f)' "$f"
    done
}

@test "the lane is the same with a trace and without" {
    lane 3
    traced row-map --program=. <lane | diff - <(row-map --program=. <lane)
    traced cap-tee --capture-dir=cap <lane | diff - <(cap-tee --capture-dir=cap2 --job=1 --operator=3 --subtask=0 --attempt=1-a <lane)
    lane-join --trace-dir=traces --job=1 --attempt=1-a lane | diff - <(lane-join lane)
}

@test "a checkpoint that lacks a snapshot has no completed in the trace" {
    mkdir -p ckpt
    { barrier 1 0 "$(snapshot 0 1)"; barrier 2 1; barrier 3 2 "$(snapshot 0 3)"; } | whole lane
    ckpt-mark --checkpoint-dir=ckpt --job=1 --parallelism=1 --trace-dir=traces --attempt=1-a <lane >marked
    [ "$(events ckpt-mark | jq -r 'select(.event == "completed") | .checkpoint' | paste -sd' ')" = '1 3' ]
}

@test "evidence that could not be written says so" {
    lane 1
    mkdir cap
    : >cap/op-3
    traced cap-tee --capture-dir=cap <lane >teed
    [ "$(events cap-tee-3-0 | sed -n 2p)" = '{"event":"evidence","checkpoint":1,"ok":false}' ]
}

@test "plans are numbered among the job's, whatever other jobs' are, and say what they redeploy" {
    plan() { ckpt-plan --checkpoint-dir=ckpt --job="$1" --parallelism=2 --trace-dir=traces >plan; }
    plan 1 && plan 2 && plan 1
    planned() { jq -sc "map(select(.event == \"planned\" and .job == \"$1\") | [.run, .fresh, .checkpoint, .first_epoch, .parallelism]) | sort" traces/ckpt-plan-*; }
    [ "$(planned 1)" = '[[1,true,0,1,2],[2,true,0,1,2]]' ]
    mkdir -p ckpt/_jobs/1
    printf 'job=1\ncheckpoint=0\nnext=5\n' >ckpt/_jobs/1/RESTORED
    plan 1
    [ "$(planned 1)" = '[[1,true,0,1,2],[2,true,0,1,2],[3,false,0,5,2]]' ]
    [ "$(planned 2)" = '[[1,true,0,1,2]]' ]
    attempt=$(sed -n 's/^attempt=//p' plan)
    [ "$(jq -r .event "traces/ckpt-plan-$attempt.ndjson" | paste -sd' ')" = 'opened planned redeployed ended' ]
    [ "$(jq -c 'select(.event == "redeployed") | [.checkpoint, .first_epoch]' "traces/ckpt-plan-$attempt.ndjson")" = '[0,5]' ]
}

@test "a number that only a source's trace carries is not used again" {
    planned() { rm -rf ckpt && ckpt-plan --checkpoint-dir=ckpt --job=1 --parallelism=2 "$@" | sed -n 's/^first_epoch=//p'; }
    mkdir traces
    line='"job":"1","attempt":"a","process":"kafka-tail"'
    printf '%s\n' "{\"seq\":1,$line,\"event\":\"opened\",\"format\":\"owed-trace\",\"version\":1,\"armed\":true}" \
        "{\"seq\":2,$line,\"event\":\"restored\",\"checkpoint\":0,\"first_epoch\":4,\"ok\":false}" >traces/kafka-tail-a.ndjson
    [ "$(planned --trace-dir=traces)" = 5 ]
    rm traces/ckpt-plan-*
    # The end of a long one, whose last line lacks its end; and another job's counts for that alone.
    for ((i = 4; i < 900; i++)); do printf '{"seq":%s,%s,"event":"barrier","checkpoint":%s,"previous":%s}\n' $i "$line" $i $((i - 1)); done >>traces/kafka-tail-a.ndjson
    printf '{"seq":900,%s,"event":"barrier","checkpoint":900,' "$line" >>traces/kafka-tail-a.ndjson
    sed 's/"job":"1"/"job":"2"/; s/"checkpoint":8/"checkpoint":98/' traces/kafka-tail-a.ndjson >traces/kafka-tail-b.ndjson
    [ "$(wc -c <traces/kafka-tail-a.ndjson)" -gt 66000 ]
    [ "$(planned --trace-dir=traces) $(planned)" = '900 1' ]
}

@test "a plan's trace without a whole line, as one that was killed at once leaves, stops no later plan" {
    mkdir -p traces ckpt
    : >traces/ckpt-plan-0-a.ndjson
    printf '{"seq":1,"job":"1"' >traces/ckpt-plan-0-b.ndjson
    run -0 --separate-stderr ckpt-plan --checkpoint-dir=ckpt --job=1 --parallelism=1 --trace-dir=traces
    [ "$(cat traces/ckpt-plan-* | sed -n '/"planned"/p' | jq .run)" = 1 ]
}

@test "a trace that cannot be begun is said once and stops nobody" {
    lane 2
    : >file
    row-map --program=. <lane >plain
    for dir in file/traces /proc/traces; do
        run -0 --separate-stderr bash -c "row-map --program=. --trace-dir=$dir --job=1 --operator=3 --subtask=0 --attempt=1-a <lane | cmp - plain"
        [[ $stderr == 'row-map: there is no trace: '* ]]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    # Nor is one written by two processes.
    traced row-map --program=. <lane >first
    cp traces/row-map-3-0-1-a.ndjson before
    run -0 --separate-stderr traced row-map --program=. <lane
    [[ $stderr == *'there is no trace: '*'exists'* ]]
    cmp before traces/row-map-3-0-1-a.ndjson
    # An attempt that no file can be named after.
    run -0 --separate-stderr row-map --program=. --trace-dir=traces --job=1 --operator=3 --subtask=0 --attempt=a/b <lane
    [[ $stderr == *"no file can be named after the attempt 'a/b'"* ]]
}

@test "a write that fails disarms the trace, which the file says, and the job goes on" {
    lane 40
    row-map --program=. <lane >plain
    run -0 --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 1; row-map --program=. --trace-dir=traces --job=1 --operator=3 --subtask=0 --attempt=1-a <lane | cmp - plain'
    [[ $stderr == 'row-map: the trace lacks events: '* ]]
    f=traces/row-map-3-0-1-a.ndjson
    [ "$(stat -c %s $f)" -le 1024 ]
    [ "$(head -n 1 $f | jq .armed)" = false ]
    run -1 grep -q '"ended"' $f
}

@test "a process that is killed leaves whole lines, and no end" {
    mkfifo in
    lane 5
    row-map --program=. --trace-dir=traces --job=1 --operator=3 --subtask=0 --attempt=1-a <in >out &
    pid=$!
    exec 7>in
    head -n 6 lane >&7
    until [ -e traces/row-map-3-0-1-a.ndjson ] && grep -q '"passed","checkpoint":2' traces/row-map-3-0-1-a.ndjson; do sleep 0.05; done
    kill -KILL "$pid"
    wait "$pid" || true
    exec 7>&-
    [ "$(events row-map-3-0 | jq -r .event | paste -sd' ')" = 'opened passed passed' ]
}

@test "a trace is its owner's, and by --mode a group's" {
    lane 1
    traced row-map --program=. <lane >out
    [ "$(stat -c %a traces traces/*)" = $'700\n600' ]
    rm -r traces
    traced row-map --mode=0640 --program=. <lane >out
    [ "$(stat -c %a traces traces/*)" = $'750\n640' ]
}

@test "a trace needs what it is named after" {
    for command in 'row-map --program=. --trace-dir=t' 'row-map --program=. --trace-dir=t --job=1 --operator=3 --subtask=0' \
        'lane-join --trace-dir=t --job=1 lane' 'lane-join --trace-dir=t --attempt=a lane' 'kafka-tail -t orders --trace-dir=t' \
        'ckpt-mark --checkpoint-dir=c --job=1 --parallelism=1 --trace-dir=t'; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr $command </dev/null
        [[ $stderr == *'--trace-dir needs '* ]] || { echo "$command: $stderr" >&2; return 1; }
    done
    [ ! -e t ]
}
