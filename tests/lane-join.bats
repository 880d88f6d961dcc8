#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lane-join: alignment, the least watermark, idleness, and lanes that do not end well.
bats_require_minimum_version 1.5.0
load stream

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

types() { jq -r 'select(.type != "stream" and .type != "end") | [.type, (.at // .ts // .checkpoint // "idle")] | join(" ")' <<<"$output" | tr '\n' ','; }

@test "a lane waits at its barrier until all have it, and left is joined" {
    { event 1; barrier 1 0 "$(snapshot 0 1)"; event 2; } | whole a
    { event 5; event 6; barrier 1 0 "$(snapshot 1 1)"; event 7; } | whole b
    run -0 --separate-stderr lane-join a b
    [ "$(types)" = "event t/0/1,event t/0/5,event t/0/6,barrier 1,event t/0/2,event t/0/7," ] ||
        [ "$(types)" = "event t/0/1,event t/0/5,event t/0/6,barrier 1,event t/0/7,event t/0/2," ]
    [ "$(jq -c 'select(.type == "barrier") | [.left[].subtask]' <<<"$output")" = "[0,1]" ]
}

@test "nothing passes a barrier, whatever the order of arrival" {
    for i in $(seq 1 200); do event "$i"; [ $((i % 20)) -ne 0 ] || barrier $((i / 20)) $((i / 20 - 1)); done | whole a
    for i in $(seq 1 10); do event $((1000 + i)); barrier "$i" $((i - 1)); done | whole b
    mkfifo fa fb
    # Bounded: a join that does not open its lanes must fail this test, not hold it.
    (timeout 60 cat a >fa) & (timeout 60 cat b >fb) &
    run -0 --separate-stderr lane-join fa fb
    wait
    # Between two barriers stand 20 events of one lane and one of the other.
    jq -r 'select(.type == "event" or .type == "barrier") | .type' <<<"$output" | awk '
        $1 == "event" { n++ } $1 == "barrier" { if (n != 21) exit 1; n = 0; b++ } END { if (b != 10) exit 1 }'
}

@test "a lane that has given its header alone holds up no other" {
    seq 1 20000 | sed 's#.*#{"type":"event","at":"t/0/&","ts":&,"values":{"id":&}}#' | whole a
    { watermark 7; } | whole b
    mkfifo fa fb
    # One writer of both, as kafka-tail is: what follows in b is written once all of a has been taken.
    timeout 60 bash -c 'exec 4>fa 5>fb && head -n 1 b >&5 && cat a >&4 && exec 4>&- && tail -n +2 b >&5' &
    # shellcheck disable=SC2094
    run -0 --separate-stderr timeout 90 lane-join fa fb
    wait
    [ "$(jq -r .type <<<"$output" | sort | uniq -c | tr -s ' ' | paste -sd,)" = " 1 end, 20000 event, 1 stream" ]
}

@test "the least watermark goes on, and only when it moves" {
    { watermark 10; watermark 30; barrier 1 0; } | whole a
    { watermark 20; barrier 1 0; watermark 40; } | whole b
    run -0 --separate-stderr lane-join a b
    [[ "$(types)" == "watermark 10,"*"watermark 20,barrier 1,"* ]] || [[ "$(types)" == "watermark 20,barrier 1,"* ]]
    [ "$(jq -r 'select(.type == "watermark") | .ts' <<<"$output" | sort -nc && echo sorted)" = sorted ]
}

@test "an idle lane holds nothing back; all idle is said once" {
    { watermark 10; watermark 50; idle; idle; barrier 1 0; } | whole a
    { idle; barrier 1 0; } | whole b
    run -0 --separate-stderr lane-join a b
    [ "$(jq -c 'select(.type == "watermark")' <<<"$output" | tail -n 1)" = '{"type":"watermark","idle":true}' ]
    [ "$(jq -c 'select(.idle)' <<<"$output" | wc -l)" -eq 1 ]
}

@test "a lane that is no longer idle and has no time yet holds back those that have" {
    { echo '{"type":"watermark","idle":false}'; barrier 1 0; watermark 20; barrier 2 1; } | whole a
    { idle; barrier 1 0; barrier 2 1; watermark 30; } | whole b
    run -0 --separate-stderr lane-join a b
    [ "$(jq -c 'select(.type == "watermark" or .type == "barrier") | .ts // .idle // .checkpoint' <<<"$output" | head -n 3 | paste -sd' ')" = "1 20 2" ]
    { watermark 10; barrier 1 0; } | whole b
    { echo '{"type":"watermark","idle":false}'; barrier 1 0; } | whole a
    run -0 --separate-stderr lane-join a b
    [[ "$(types)" == "barrier 1,"* ]]
    echo '{"type":"watermark"}' | whole a
    run -2 --separate-stderr lane-join a
    [[ $stderr == *"lane 'a': line 2: watermark.ts: missing"* ]]
    echo '{"type":"watermark","idle":true,"ts":5}' | whole a
    run -2 --separate-stderr lane-join a
    [[ $stderr == *"of a lane that is idle, with a time"* ]]
}

@test "a lane that ended keeps its last watermark, and one that had none holds the others back" {
    { watermark 10; watermark 50; } | whole a
    { watermark 20; watermark 100; } | whole b
    run -0 --separate-stderr lane-join a b
    [ "$(jq -r 'select(.type == "watermark") | .ts' <<<"$output" | tail -n 1)" = 50 ]
    event 1 | whole a
    run -0 --separate-stderr lane-join a b
    [ "$(types)" = "event t/0/1," ]
    # What it said of itself at last holds: an idle one stays out of the way.
    { watermark 50; idle; } | whole a
    run -0 --separate-stderr lane-join a b
    [ "$(jq -r 'select(.type == "watermark") | .ts // "idle"' <<<"$output" | tail -n 1)" = 100 ]
}

@test "a lane that ends before the others' barrier is unfinished" {
    { event 1; } | whole a
    { barrier 1 0; } | whole b
    for order in "a b" "b a"; do
        # shellcheck disable=SC2086
        run -3 --separate-stderr lane-join $order
        [[ $stderr == *"ended before barrier 1"* ]]
        [ -z "$(jq -c 'select(.type == "barrier")' <<<"$output")" ]
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = unfinished ]
    done
}

@test "barriers that disagree are refused" {
    barrier 1 0 | whole a
    barrier 2 0 | whole b
    run -2 --separate-stderr lane-join a b
    [[ $stderr == *"lane 'b'"* ]]
}

@test "a cut lane, an empty one and one that is not there are 3" {
    { event 1; barrier 1 0; } | whole a
    head -n 2 a >short
    : >empty
    for bad in short empty none; do
        run -3 --separate-stderr lane-join a "$bad"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [ "$(jq -r 'select(.type == "end") | .type' <<<"$output")" = end ]
    done
}

@test "usage and a full output" {
    run -2 --separate-stderr lane-join
    run -2 --separate-stderr lane-join --nope
    event 1 | whole a
    run -3 bash -c 'lane-join a >/dev/full'
}
