#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# row-window: which window a row is of, when a window's rows go on, exact counts and sums, and state over a restart.
# shellcheck disable=SC2154  # variables of bats and of stream
bats_require_minimum_version 1.5.0
load stream
load make-job

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    parameters '{size_ms: 10, partition_by: ["k"], aggregates: [{function: "count", as: "n"}, {function: "sum", column: "v", as: "s"}]}'
}

parameters() { jq -n "$1" >parameters.json; }
# row TS VALUES [AT]
row() { printf '{"type":"event","at":"%s","ts":%s,"values":%s}\n' "${3:-t/0/1}" "$1" "$2"; }
of_key() { row "$1" "{\"k\":\"$2\",\"v\":$3}"; }
window() { row-window --parameters=parameters.json "$@"; }
# What comes of a lane: the rows' values, watermarks and barriers.
lines() { jq -c 'if .type == "event" then .values elif .type == "watermark" then .ts // "idle" elif .type == "barrier" then "barrier \(.checkpoint)" else empty end' <<<"$output"; }

@test "a window's rows go on when the watermark reaches its end, in order, before that watermark, and not again" {
    { of_key 5 b 1; of_key 9 a 2; of_key 10 a 4; watermark 9; of_key 0 b 3; watermark 10; watermark 19; barrier 1 0; of_key 20 c 7; watermark 20; watermark 21; } | whole lane
    run -0 --separate-stderr window <lane
    [ -z "$stderr" ]
    diff <(lines) - <<'OUT'
9
{"k":"a","window_start":0,"window_end":10,"n":1,"s":2}
{"k":"b","window_start":0,"window_end":10,"n":2,"s":4}
10
19
"barrier 1"
{"k":"a","window_start":10,"window_end":20,"n":1,"s":4}
20
21
OUT
    # The row's own time is the last of its window, and it has no place: it is of no one record.
    [ "$(jq -c 'select(.type == "event") | [.ts, has("at")]' <<<"$output" | head -n 1)" = '[9,false]' ]
    [ "$(tail -n 1 <<<"$output" | jq -c .lines.event)" = 3 ]
}

@test "starts are found by floor division, and a window is held within 64 bits" {
    parameters '{size_ms: 10, partition_by: [], aggregates: [{function: "count", as: "n"}]}'
    { for t in -1 -10 -11 0 '"-9223372036854775808"' '"-9223372036854775801"' '"9223372036854775807"' '"9223372036854775800"'; do row "$t" '{}'; done
        watermark '"9223372036854775806"'; watermark '"9223372036854775807"'; } | whole lane
    run -0 --separate-stderr window <lane
    diff <(lines) - <<'OUT'
{"window_start":"-9223372036854775808","window_end":"-9223372036854775800","n":2}
{"window_start":-20,"window_end":-10,"n":1}
{"window_start":-10,"window_end":0,"n":2}
{"window_start":0,"window_end":10,"n":1}
"9223372036854775806"
{"window_start":"9223372036854775800","window_end":"9223372036854775807","n":2}
"9223372036854775807"
OUT
}

@test "a late row is dropped once its window has closed, and kept within the lateness until then" {
    parameters '{size_ms: 10, allowed_lateness_ms: 5, partition_by: ["k"], aggregates: [{function: "count", as: "n"}]}'
    { of_key 1 a 1; watermark 14; of_key 2 a 1; watermark 15; of_key 3 a 1; watermark 40; } | whole lane
    run -0 --separate-stderr window <lane
    diff <(lines) - <<'OUT'
14
{"k":"a","window_start":0,"window_end":10,"n":2}
15
40
OUT
}

@test "nothing is due at the end of the input, nor for an idle lane" {
    { of_key 1 a 1; idle; watermark 9; } | whole lane
    run -0 --separate-stderr window <lane
    [ "$(lines | paste -sd' ')" = '"idle" 9' ]
}

@test "counts and sums are exact, of numbers and of their texts" {
    parameters '{size_ms: 10, partition_by: [], aggregates: [{function: "count", as: "rows"}, {function: "count", column: "v", as: "values"},
        {function: "sum", column: "v", as: "s", scale: 4}, {function: "sum", column: "i", as: "i"}]}'
    { row 1 '{"v":0.1,"i":9007199254740991}'; row 1 '{"v":"0.2","i":"1"}'; row 1 '{"v":null,"i":1e0}'; row 1 '{"v":-1.0e-4,"i":null}'; watermark 10
        row 11 '{"v":null,"i":-7}'; watermark 20
        row 21 '{"v":-0.05,"i":"170141183460469231731687303715884105726"}'; row 21 '{"v":0,"i":1}'; watermark 30; } | whole lane
    run -0 --separate-stderr window <lane
    diff <(jq -c 'select(.type == "event").values | del(.window_start, .window_end)' <<<"$output") - <<'OUT'
{"rows":4,"values":3,"s":"0.2999","i":"9007199254740993"}
{"rows":1,"values":0,"s":null,"i":-7}
{"rows":2,"values":2,"s":"-0.0500","i":"170141183460469231731687303715884105727"}
OUT
}

@test "what cannot be counted or summed stops the lane, naming the row" {
    parameters '{size_ms: 10, partition_by: ["k"], aggregates: [{function: "sum", column: "v", as: "s", scale: 1}]}'
    while IFS='@' read -r ts values code said; do
        { row 1 '{"k":1,"v":"17014118346046923173168730371588410572.6"}'; row "$ts" "$values" t/0/7; barrier 1 0; watermark 100; } | whole lane
        run -2 --separate-stderr window <lane
        [[ $stderr == "row-window: t/0/7: "$said ]] || { echo "$values: $stderr" >&2; return 1; }
        [ "$(jq -r .type <<<"$output" | paste -sd' ')" = "stream stop end" ]
        [ "$(jq -r 'select(.type == "stop") | .code + " " + .facts.at' <<<"$output")" = "$code t/0/7" ]
    done <<'ROWS'
null@{"k":1,"v":1}@event-without-time@the row has no time
1.5@{"k":1,"v":1}@event-without-time@event.ts: not a whole number*
1@{"k":1}@event-not-windowed@column 'v': missing
1@{"v":1}@event-not-windowed@column 'k': missing
1@{"k":[1],"v":1}@event-not-windowed@column 'k': no key*
1@{"k":0.5,"v":1}@event-not-windowed@column 'k': no key*
1@{"k":9007199254740993,"v":1}@event-not-windowed@column 'k': no key*
1@{"k":1,"v":true}@event-not-windowed@column 'v': no number
1@{"k":1,"v":"x"}@event-not-windowed@column 'v': no number
1@{"k":1,"v":0.25}@event-not-windowed@column 'v': more than the 1 decimals*
1@{"k":1,"v":0.2}@sum-overflow@the sum 's' leaves 128 bits
1@{"k":2,"v":1e38}@sum-overflow@column 'v': the sum 's' leaves 128 bits
1@{"k":2,"v":1e999999999}@sum-overflow@column 'v': the sum 's' leaves 128 bits
ROWS
    { row 1 '{"k":1,"v":1}' | jq -c 'del(.at) | .ts = null'; } | whole lane
    run -2 --separate-stderr window <lane
    [ "$stderr" = "row-window: a row without a place: the row has no time" ]
    record 1 '{}' | whole lane
    run -2 --separate-stderr window <lane
    [[ $stderr == *"a window takes no record" ]]
}

@test "a key is its values: a text is no number, and null is a key" {
    parameters '{size_ms: 10, partition_by: ["k", "l"], aggregates: [{function: "count", as: "n"}]}'
    { row 1 '{"k":5,"l":null}'; row 1 '{"k":"5","l":null}'; row 1 '{"k":5.0,"l":null}'; row 1 '{"k":true,"l":"a\u0001\""}'; row 1 '{"l":"\u0061\u0001\"","k":true}'; watermark 10; } | whole lane
    run -0 --separate-stderr window <lane
    [ "$(jq -c 'select(.type == "event").values | [.k, .l, .n]' <<<"$output" | paste -sd' ')" = '["5",null,1] [5,null,2] [true,"a\u0001\"",2]' ]
}

@test "parameters are those of a window, each of its kind" {
    while IFS='@' read -r filter said; do
        jq "$filter" parameters.json >bad.json
        run -2 --separate-stderr row-window --parameters=bad.json </dev/null
        [ "$stderr" = "row-window: $said" ] || { echo "$filter: $stderr" >&2; return 1; }
        [ "$(jq -r 'select(.type == "stop").code' <<<"$output")" = window-malformed ]
    done <<'BAD'
del(.size_ms)@window.size_ms: missing
.size_ms = 0@window.size_ms: not past zero
.allowed_lateness_ms = -1@window.allowed_lateness_ms: below zero
del(.partition_by)@window.partition_by: missing
.partition_by = [1]@window.partition_by[0]: not a column's name
.aggregates = []@window.aggregates: none
.aggregates[0].function = "avg"@window.aggregates[0].function: neither count nor sum
.aggregates[0].scale = 1@window.aggregates[0].scale: a count has none
.aggregates[1].scale = 39@window.aggregates[1].scale: past 38
del(.aggregates[1].column)@window.aggregates[1].column: missing
.aggregates[1].as = "n"@window: two of its columns are named 'n'
.aggregates[1].as = "window_end"@window: two of its columns are named 'window_end'
.slide_ms = 1@window: unknown member slide_ms
BAD
    run -2 --separate-stderr row-window </dev/null
    run -2 --separate-stderr window --restore=1 </dev/null
    run -2 --separate-stderr window --checkpoint-dir=ckpt --job=1 </dev/null
}

# ---- state ----

kept() { window --checkpoint-dir=ckpt --job=1 --operator=3 --participant=2 "$@"; }

@test "at a barrier the window is a participant: its state is durable, with its sidecar, and named in left" {
    { of_key 5 b 1; of_key 9 a 2; watermark 3; barrier 1 0 "$(snapshot 0 1)"; } | whole lane
    run -0 --separate-stderr kept <lane
    file=ckpt/_state/1/v1/2/checkpoint-1.snap
    [ "$(jq -c 'select(.type == "barrier").left[] | [.operator, .subtask, .kind, .file]' <<<"$output" | tail -n 1)" = '["3",2,"snapshot","_state/1/v1/2/checkpoint-1.snap"]' ]
    [ "$(jq -r 'select(.type == "barrier").left[1].sha256' <<<"$output")" = "$(sha256sum <$file | cut -d' ' -f1)" ]
    [ -s $file.meta ]
    jq -e '. == {format: "owed-state", version: 1, job: "1", operator: "3", kind: "window", subtask: 2, checkpoint: 1, state: {
        parameters: {size_ms: 10, allowed_lateness_ms: 0, partition_by: ["k"], aggregates: [{function: "count", as: "n"}, {function: "sum", column: "v", as: "s", scale: 0}]},
        watermark: 3, late: 0, windows: [{start: 0, end: 10, key: ["a"], values: ["1", "2"]}, {start: 0, end: 10, key: ["b"], values: ["1", "1"]}]}}' $file
}

@test "its trace has each state that it stored, and each barrier that it handed on" {
    { of_key 5 a 1; barrier 1 0; barrier 2 1; } | whole lane
    run -0 --separate-stderr kept --trace-dir=traces --subtask=0 --attempt=a <lane
    [ "$(jq -r '[.event, .checkpoint // "", .participant // ""] | join(" ")' traces/row-window-3-0-a.ndjson | tail -n +2 | paste -sd,)" = "state 1 2,passed 1 ,state 2 2,passed 2 ,ended  " ]
    run -2 --separate-stderr kept --trace-dir=traces --attempt=a <lane
}

@test "a run that is cut at any barrier and restored gives what one run gives" {
    { for i in $(seq 1 60); do
        of_key $((i * 7 % 50)) "k$((i % 3))" "$i"
        [ $((i % 4)) -ne 0 ] || watermark $((i * 7 % 50 - 20 + i / 4))
        [ $((i % 10)) -ne 0 ] || barrier $((i / 10)) $((i / 10 - 1))
    done; watermark 1000; } >all
    whole lane <all
    run -0 --separate-stderr kept <lane
    [ "$(jq -c 'select(.type == "event")' <<<"$output" | wc -l)" -ge 10 ]
    jq -c 'select(.type == "event" or .type == "watermark")' <<<"$output" >once
    for c in 1 3 5; do
        n=$(grep -n "\"checkpoint\":$c," all | cut -d: -f1)
        head -n "$n" all | whole before
        run -0 --separate-stderr kept <before
        jq -c 'select(.type == "event" or .type == "watermark")' <<<"$output" >both
        tail -n +$((n + 1)) all | whole after
        run -0 --separate-stderr kept --restore="$c" <after
        # The first line says again how far the window's time had come.
        [ "$(sed -n 2p <<<"$output" | jq -c .)" = "$(jq -c 'select(.type == "watermark")' both | tail -n 1)" ]
        jq -c 'select(.type == "event" or .type == "watermark")' <<<"$output" | tail -n +2 >>both
        diff once both
    done
}

@test "after a restore time does not fall, whatever the lanes say of theirs" {
    { of_key 5 a 1; watermark 8; barrier 1 0; } | whole lane
    run -0 --separate-stderr kept <lane
    { watermark 2; of_key 6 a 1; idle; watermark 8; watermark 10; } | whole lane
    run -0 --separate-stderr kept --restore=1 <lane
    diff <(lines) - <<'OUT'
8
8
"idle"
8
{"k":"a","window_start":0,"window_end":10,"n":2,"s":2}
10
OUT
}

@test "a state that is not this window's is refused, by what it is" {
    { of_key 5 a 1; of_key 15 a 1; watermark 8; barrier 1 0; } | whole lane
    run -0 --separate-stderr kept <lane
    barrier 2 1 | whole next
    file=ckpt/_state/1/v1/2/checkpoint-1.snap
    cp $file good
    run -0 "$BATS_TEST_DIRNAME/../bin/row-window" --parameters=parameters.json --checkpoint-dir=ckpt --job=1 --operator=3 --participant=2 --restore=1 <next
    run -2 --separate-stderr kept --restore=1 --operator=4 <next
    [ "$(jq -r 'select(.type == "stop").code' <<<"$output")" = state-other ]
    jq '.size_ms = 20' parameters.json >other.json
    run -2 --separate-stderr row-window --parameters=other.json --checkpoint-dir=ckpt --job=1 --operator=3 --participant=2 --restore=1 <next
    [[ $stderr == *"it is of a window with other parameters"* ]]
    # One digit more in a sum: the sidecar says so; and what no window's state can be is refused with a sidecar that fits.
    sed -i 's/"values":\["1","1"\]/"values":["1","2"]/' $file
    run -2 --separate-stderr kept --restore=1 <next
    [ "$(jq -r 'select(.type == "stop").code' <<<"$output")" = state-malformed ]
    while IFS='@' read -r filter said; do
        jq -c "$filter" good >$file
        sidecar $file 1
        run -2 --separate-stderr kept --restore=1 <next
        [[ $stderr == *"$said"* ]] || { echo "$filter: $stderr" >&2; return 1; }
    done <<'BAD'
.state.watermark = 10@a window that its watermark has closed
.state.windows |= reverse@out of order
.state.windows[1] = .state.windows[0]@out of order
.state.windows[0].end = 11@no window of its operator's size
.state.windows[0].key = ["a", "b"]@no key of its operator
.state.windows[0].key = [1.5]@no key of its operator
.state.windows[0].values = ["1"]@another number of values
.state.windows[0].values[1] = 1@no whole number
.state.windows[0].values[1] = "01"@no whole number
.state.parameters.aggregates = []@aggregates: none
del(.state)@state: missing
.run = {first_epoch: 1}@begins with no snapshot
BAD
    run -3 --separate-stderr kept --restore=9 <next
}

@test "a state that cannot be stored leaves the barrier without it, and the job goes on" {
    : >full
    { of_key 5 a 1; barrier 1 0; barrier 2 1; watermark 10; } | whole lane
    run -0 --separate-stderr row-window --parameters=parameters.json --checkpoint-dir=full --job=1 --operator=3 --participant=2 <lane
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == *"checkpoints without it do not complete" ]]
    [ "$(jq -c 'select(.type == "barrier").left' <<<"$output" | paste -sd' ')" = '[] []' ]
    [ "$(jq -c 'select(.type == "event").values.n' <<<"$output")" = 1 ]
    echo '{"type":"barrier","job":"2","checkpoint":1,"previous":0,"attempt":"a","left":[]}' | whole lane
    run -2 --separate-stderr kept <lane
}

@test "a checkpoint with a window completes, is planned from, collected and checked, and not where its state is none" {
    bin=$BATS_TEST_DIRNAME/../bin job=job
    for s in 0 1; do snap $s 1 5; done
    { of_key 5 a 1; of_key 15 a 1; watermark 8; barrier 1 0 "$(snapshot 0 1),$(snapshot 1 1)"; } | whole lane
    window --checkpoint-dir=job/ckpt --job=1 --operator=3 --participant=2 <lane |
        ckpt-mark --checkpoint-dir=job/ckpt --job=1 --parallelism=2 --windows=1 >marked
    grep -qx 'subtasks=0,1,2' job/ckpt/_jobs/1/COMPLETED-1
    run -0 --separate-stderr ckpt-plan --checkpoint-dir=job/ckpt --job=1 --parallelism=2 --windows=1
    grep -qx restore=1 <<<"$output"
    # Without the window's own it is no checkpoint of this job, nor with as many participants of another kind.
    for other in '--parallelism=2' '--parallelism=3' '--parallelism=1 --windows=2'; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr ckpt-plan --checkpoint-dir=job/ckpt --job=1 $other
    done
    [[ $stderr == *"checkpoint 1: participant 1 is no window, and the attempt has 1 lanes with 2 windows behind them" ]]
    rm job/ckpt/_jobs/1/RESTORED
    collected() {
        rm -rf b
        bundle-pack --checkpoint-dir=job/ckpt --job=1 --commit-confirmation=no --include-state --out=b >packed
    }
    collected
    run -0 --separate-stderr bundle-check b
    [ "$(jq -r 'select(.name == "state.decode" or .name == "checkpoint.participants") | .status' <<<"$output" | paste -sd' ')" = 'passed passed' ]
    file=job/ckpt/_state/1/v1/2/checkpoint-1.snap
    jq -c '.state.windows |= reverse' $file >other
    mv other $file
    sidecar $file 1
    collected
    run -1 --separate-stderr bundle-check b
    [ "$(jq -r 'select(.name == "state.decode") | .status + " " + .code' <<<"$output")" = 'failed state-malformed' ]
}
