#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The whole job on a real broker and a real engine: to its end, through kills at each step, and what it leaves on disk.
bats_require_minimum_version 1.5.0

load job

setup_file() { jobs_up; }
setup() { jobs_need; }
teardown() { jobs_end; }
teardown_file() { jobs_down; }

# The job is told to end by a second run over the same directory that stops at the topic's end.
finish() {
    jobs_stop
    job "$id" --stop-at-end
}

pid_of() { # program, subtask (or nothing): of this test's job
    job_pids "$runner" "$1" "${2:-}" | head -n 1
}

die_now() { # program, subtask
    crash "$id" "$@"
}

# Every record 1..N is in the table, and what stands twice is only what no restored checkpoint covered.
nothing_lost() { # N
    [ "$(sql "SELECT count(DISTINCT event_id) FROM shop.t$id")" -eq "$1" ]
    [ "$(sql "SELECT min(event_id), max(event_id) FROM shop.t$id")" = "1"$'\t'"$1" ]
}

only_replayed() { # the first record that may stand twice
    [ "$(sql "SELECT count() FROM (SELECT event_id FROM shop.t$id GROUP BY event_id HAVING count() > 1 AND event_id < $1)")" -eq 0 ]
}

# No number names the evidence of two attempts.
numbers_unique() {
    jq -r '"\(.epoch) \(.subtask)"' "$work/job-$id"/capture/op-3/subtask-*/epoch-*.sink.json | sort | uniq -d | wc -l | grep -qx 0
    jq -r '"\(.epoch) \(.attempt)"' "$work/job-$id"/capture/op-3/subtask-*/epoch-*.sink.json | sort -u | cut -d' ' -f1 | uniq -d | wc -l | grep -qx 0
}

# The traces that the job left are a behaviour of the protocol's model, those of its killed processes too.
conforms() {
    "$root/bin/bundle-pack" --checkpoint-dir="$work/job-$id/ckpt" --job="$id" --commit-confirmation=no --trace-dir="$work/job-$id/traces" \
        --out="$work/bundle-$id" >"$work/packed"
    run -0 "$root/bin/trace-check" "$work/bundle-$id"
    [ "$(jq -r 'select(.type == "check") | .status' <<<"$output" | sort -u)" = passed ]
}

@test "to the topic's end: every row once, markers, and two empty intervals behind" {
    prepare 2
    produce "t$id" 1 500
    produce_aborted "t$id" 900001 900050
    produce "t$id" 501 600
    job "$id" --stop-at-end
    nothing_lost 600
    [ "$(rows_in "t$id")" -eq 600 ]
    last=$(newest "$id")
    [ "$(interval_rows "$id" "$last")" -eq 0 ]
    [ "$(interval_rows "$id" $((last - 1)))" -eq 0 ]
    [ -e "$work/job-$id/ckpt/_jobs/$id/COMPLETED-$((last - 2))" ]
    [ ! -e "$work/job-$id/ckpt/_jobs/$id/RESTORED" ]
    [ ! -e "$work/job-$id/ha/job-$id.json" ]
    [ "$(jq -r .status "$work/job-$id/ha/job-$id.status.json")" = finished ]
    conforms
}

@test "the manifest stands while the job runs, with the delivery report and without a credential" {
    prepare 2
    produce "t$id" 1 10
    start
    wait_keys "t$id" 10
    m=$work/job-$id/ha/job-$id.json
    [ "$(jq -r '.format, .alignment, .delivery.guarantee' "$m" | tr '\n' ' ')" = "owed-job aligned at-least-once " ]
    finish
    run -1 grep -rF "$CH_PASSWORD" "$work/job-$id" "$work/job-$id.log"
}

@test "no password on any process's command line" {
    prepare 2
    produce "t$id" 1 10
    start
    wait_keys "t$id" 10
    printf '%s\n' "$CH_PASSWORD" >"$work/secret-$id"
    run -1 grep -F -f "$work/secret-$id" <(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ')
    finish
}

@test "kill -9 of each process: nothing lost, only uncovered records again, no number used twice" {
    prepare 2
    produce "t$id" 1 100
    start
    wait_keys "t$id" 100
    n=100 rows=100
    for victim in kafka-tail "cap-tee 0" row-map "ch-sink 0" lane-join ckpt-mark; do
        checkpoint "$id"
        produce "t$id" $((n + 1)) $((n + 50))
        n=$((n + 50)) rows=$((rows + 50))
        wait_for rows_in "t$id" "$rows"
        # The victim's name and its subtask are two arguments.
        # shellcheck disable=SC2086
        die_now $victim
        rows=$((rows + 50))
        wait_for rows_in "t$id" "$rows"
        nothing_lost "$n"
    done
    checkpoint "$id"
    finish
    nothing_lost "$n"
    only_replayed 101
    [ "$(rows_in "t$id")" -eq "$rows" ]
    numbers_unique
    [ "$(grep -c 'attempt .* failed' "$work/job-$id.log")" -ge 6 ]
    conforms
}

@test "killed before its INSERT: the rows come once, from the next attempt" {
    prepare 2
    start
    checkpoint "$id"
    fault "when=hold&n=2&match=$(insert_into "t$id")"
    produce "t$id" 1 40
    fault await=2
    [ "$(rows_in "t$id")" -eq 0 ]
    die_now ch-sink 0
    wait_keys "t$id" 40
    checkpoint "$id"
    finish
    nothing_lost 40
    [ "$(rows_in "t$id")" -eq 40 ]
    numbers_unique
    fault release=1
    conforms
}

@test "killed after its INSERT and before the acknowledgement: replayed, and only that" {
    # A batch is sent when it holds what one lane gets of the records below, and no sooner.
    prepare 2 '' '.sink.batch_rows = 20 | .sink.batch_ms = 3600000'
    produce "t$id" 1 40
    start
    wait_keys "t$id" 40
    checkpoint "$id"
    fault "when=withhold&n=2&match=$(insert_into "t$id")"
    produce "t$id" 41 80
    fault await=2
    nothing_lost 80
    die_now ch-sink 0
    fault release=1
    wait_for rows_in "t$id" 120
    checkpoint "$id"
    finish
    nothing_lost 80
    only_replayed 41
    [ "$(rows_in "t$id")" -eq 120 ]
    numbers_unique
}

@test "a process that dies while the topic is quiet is noticed at once, wherever it stands" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    for victim in "ch-sink 0" "cap-tee 0" row-map lane-join ckpt-mark kafka-tail; do
        # Nothing is written by anybody until it was noticed: no record, and no barrier.
        checkpoint "$id"
        # shellcheck disable=SC2086
        die_now $victim
    done
    [ "$(attempts "$id")" -eq 7 ]
    checkpoint "$id"
    finish
    [ "$(rows_in "t$id")" -eq 20 ]
    numbers_unique
}

@test "killed after the evidence and before the marker: the checkpoint never completes, its number is not used again" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    checkpoint "$id"
    checkpoint "$id"
    at=$(newest "$id")
    kill -STOP "$(pid_of ckpt-mark)"
    ask_barrier
    for s in 0 1; do
        await 'the evidence' test -e "$work/job-$id/capture/op-3/subtask-$s/epoch-$((at + 1)).sink.json"
    done
    die_now ckpt-mark
    checkpoint "$id"
    [ ! -e "$work/job-$id/ckpt/_jobs/$id/COMPLETED-$((at + 1))" ]
    [ "$(sed -n 's/^checkpoint=//p' "$work/job-$id/ckpt/_jobs/$id/RESTORED")" -eq "$at" ]
    finish
    nothing_lost 20
    [ "$(rows_in "t$id")" -eq 20 ]
    numbers_unique
    conforms
}

@test "killed right after the marker, and again during the restore" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    checkpoint "$id"
    die_now ckpt-mark
    die_now kafka-tail
    produce "t$id" 21 40
    wait_keys "t$id" 40
    checkpoint "$id"
    finish
    nothing_lost 40
    [ "$(rows_in "t$id")" -eq 40 ]
    numbers_unique
    conforms
}

@test "killed before any checkpoint: the next attempt starts from nothing, under new numbers" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    die_now kafka-tail
    wait_for rows_in "t$id" 40
    finish
    [ "$(sed -n 's/^checkpoint=//p' "$work/job-$id/ckpt/_jobs/$id/RESTORED")" = 0 ]
    nothing_lost 20
    numbers_unique
    conforms
}

@test "a process that outlives its attempt holds the next one back" {
    prepare 2
    produce "t$id" 1 20
    mkdir -p "$work/job-$id"
    mkfifo "$work/outlives-$id"
    flock "$work/job-$id/lock" cat "$work/outlives-$id" 3>&- &
    await 'the lock' eval '! flock -n "$work/job-$id/lock" true'
    start --stop-at-end
    await 'the runner' held_back
    [ "$(attempts "$id")" -eq 0 ]
    : >"$work/outlives-$id"
    wait "$runner"
    runner=''
    [ "$(rows_in "t$id")" -eq 20 ]
    conforms
}

@test "an idle lane does not hold checkpoints up" {
    prepare 2 '' "$every_300_ms"
    orders 1 100 | jq -c '.partition = 0' | kafka produce "t$id"
    start
    wait_keys "t$id" 100
    wait_checkpoints "$id" 3
    finish
    [ "$(rows_in "t$id")" -eq 100 ]
}

@test "a value that the column cannot hold stops the job, naming its record" {
    prepare 2
    produce "t$id" 1 10
    echo '{"partition":0,"key":"x","value":"{\"event_id\":11,\"customer\":\"c\",\"amount\":\"1.23456\",\"seen\":1,\"score\":1,\"note\":null}"}' | kafka produce "t$id"
    run -2 job "$id" --stop-at-end
    grep -qE "t$id/0/5.*amount|amount.*t$id/0/5" "$work/job-$id"/run/attempt-*/stderr.log
    [ "$(grep -c 'attempt 2' "$work/job-$id.log")" -eq 0 ]
    [ "$(jq -r .status "$work/job-$id/ha/job-$id.status.json")" = refused ]
}

@test "a spec that does not do is 2 and starts nothing" {
    echo '{"job":"x"}' >"$work/bad.json"
    run -2 "$root/pipelines/job" --spec="$work/bad.json" --dir="$work/job-bad"
    run -2 "$root/pipelines/job" --spec="$work/none.json" --dir="$work/job-bad"
    run -2 "$root/pipelines/job" --spec="$work/bad.json" --dir="$work/job-bad" --parallelism=2x
    run -2 "$root/pipelines/job" --password=hunter2
    [[ $output != *hunter2* ]]
}
