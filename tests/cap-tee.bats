#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# cap-tee: the lane passes unchanged, its intervals are on disk before their barriers, failures disarm and never stop.
bats_require_minimum_version 1.5.0
load stream

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; mkdir cap; }

tee_() { cap-tee --capture-dir=cap --job=1 --operator=3 --subtask=0 --attempt=a "$@"; }

lane() {
    { event 1; watermark 5; event 2; barrier 1 0; event 3; barrier 2 1; event 4; } | whole lane
}

@test "the lane passes byte for byte, but for what the barriers gain" {
    lane
    run -0 --separate-stderr tee_ <lane
    diff <(grep -v '"type":"\(stream\|barrier\|end\)"' lane) <(grep -v '"type":"\(stream\|barrier\|end\)"' <<<"$output")
    [ "$(jq -c 'select(.type == "barrier") | .left[0] | [.kind, .operator, .subtask, .file, .seen, .stored, .truncated]' <<<"$output" | head -n 1)" = \
        '["capture","3",0,"op-3/subtask-0/epoch-1.cap",2,2,false]' ]
}

@test "each interval's file holds its data and watermarks, and is what the barrier says" {
    lane
    run -0 --separate-stderr tee_ <lane
    f=cap/op-3/subtask-0/epoch-1.cap
    [ "$(head -n 1 $f | wc -c)" -eq 512 ]
    [ "$(head -n 1 $f | jq -c '[.format, .epoch, .seen, .stored, .control, .truncated]')" = '["owed-capture",1,2,2,1,false]' ]
    diff <(tail -n +2 $f) <(event 1; watermark 5; event 2)
    [ "$(sha256sum <$f | cut -d' ' -f1)" = "$(jq -r 'select(.type == "barrier" and .checkpoint == 1) | .left[0].sha256' <<<"$output")" ]
    [ "$(tail -n +2 cap/op-3/subtask-0/final.cap)" = "$(event 4)" ]
    [ "$(jq -r .kind cap/op-3/subtask-0/op.json)" = unknown ]
}

@test "past the bound the file is marked truncated and the count goes on" {
    { for i in 1 2 3 4 5; do event $i; done; for i in $(seq 1 20); do watermark "$i"; done; barrier 1 0; event 6; barrier 2 1; } | whole lane
    run -0 --separate-stderr tee_ --capture-records=3 <lane
    [ "$(head -n 1 cap/op-3/subtask-0/epoch-1.cap | jq -c '[.seen, .stored, .control, .truncated]')" = '[5,3,12,true]' ]
    [ "$(head -n 1 cap/op-3/subtask-0/epoch-2.cap | jq -c '[.seen, .stored, .truncated]')" = '[1,1,false]' ]
    [ "$(jq -c 'select(.checkpoint == 1) | .left[0].truncated' <<<"$output")" = true ]
}

@test "a write that fails disarms its interval, is said once, and the job goes on" {
    lane
    : >cap/op-3
    run -0 --separate-stderr tee_ <lane
    [ "$(jq -c 'select(.type == "barrier") | .left' <<<"$output" | sort -u)" = '[]' ]
    [ "$(grep -c disarmed <<<"$stderr")" -eq 1 ]
    [ "$(jq -c 'select(.type == "event")' <<<"$output" | wc -l)" -eq 4 ]
}

@test "no space for a capture leaves no file under its name" {
    lane
    run -0 --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 0; cap-tee --capture-dir=cap --job=1 --operator=3 --subtask=0 --attempt=a <lane | cat'
    [ -z "$(find cap -name '*.cap*')" ]
    [ "$(jq -c 'select(.type == "barrier") | .left' <<<"$output" | sort -u)" = '[]' ]
}

@test "a lane that is cut leaves no final capture and is 3" {
    lane
    head -n 4 lane >short
    run -3 --separate-stderr tee_ <short
    [ -z "$(find cap -name '*.cap*')" ]
}

@test "a credential among the parameters does not reach op.json" {
    lane
    echo '{"user":"u","password":"hunter2","nested":{"api_token":"t0ken"}}' >params
    run -0 --separate-stderr tee_ --name=sink --kind=clickhouse-sink --parameters=params <lane
    run -1 grep -rE 'hunter2|t0ken' cap
    [ "$(jq -r .parameters.user cap/op-3/subtask-0/op.json)" = u ]
}

@test "a bad line is refused here, or by the next stage where that reads the data in full" {
    { event 1; echo '{"type":"event","at":"t/0/2","at":"twice"}'; barrier 1 0; } >lines
    { echo "$head"; cat lines; end_of stream 1 event 2 barrier 1; } >lane
    run -2 --separate-stderr tee_ <lane
    [[ $stderr == *'line 3'* ]]
    run -0 --separate-stderr tee_ --data-unchecked <lane
    grep -q '"checkpoint":1' <<<"$output"
    run -2 --separate-stderr bash -c 'row-map --program=. 2>&1 >out' <<<"$output"
    run -1 grep -q '"checkpoint":1' out
    for bad in '{"type":"watermark","ts":1,"ts":2}' '{"at":"t/0/2","type":"event"}' 'event' ''; do
        { echo "$head"; echo "$bad"; } >lane
        run -2 --separate-stderr tee_ --data-unchecked <lane
    done
}

@test "usage" {
    run -2 --separate-stderr cap-tee --capture-dir=cap
    run -2 --separate-stderr tee_ --subtask=1x
    run -2 --separate-stderr tee_ --parameters=none </dev/null || run -3 --separate-stderr tee_ --parameters=none </dev/null
    lane
    run -3 bash -c 'cap-tee --capture-dir=cap --job=1 --operator=3 --subtask=0 --attempt=a <lane >/dev/full'
}
