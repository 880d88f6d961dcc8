#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The job where its surroundings fail or change: the runner killed, evidence and checkpoints that cannot be written, the
# engine and the broker killed, the table altered, the topic recreated or grown; and topics and values at their edges.
# shellcheck disable=SC2030,SC2031,SC2154  # each test has its own shell; stage.bash and setup set what they share
bats_require_minimum_version 1.5.0

load job

setup_file() { jobs_up; }
setup() { jobs_need; }
teardown_file() { jobs_down; }

teardown() {
    local group
    jobs_stop
    group=$(orphans)
    [ -z "$group" ] || kill -KILL -- "-$group" 2>/dev/null || true
    jobs_end
}

ends() { # status: by itself, within 30 seconds
    local tries status=0
    for ((tries = 0; tries < 300; tries++)); do
        kill -0 "$runner" 2>/dev/null || break
        sleep 0.1
    done
    wait "$runner" || status=$?
    runner=''
    [ "$status" -eq "$1" ]
}

orphans() { # the process group of this test's sinks, by their place: nobody else has it
    ps -ww -eo pgid=,args= | awk -v job="$work/job-$id/" '$2 == "ch-sink" && index($0, job) { print $1; exit }'
}

# All of 1..N, and each interval's ledger names exactly its rows, one INSERT behind the other.
holds() { # N
    [ "$(keys_in "t$id")" -eq "$1" ]
    jq -e '(reduce .ledger[] as $l ({at: 0, ok: true}; .ok = (.ok and $l.first == .at) | .at += $l.rows)) as $sum
        | $sum.ok and $sum.at == .capture.seen' "$work/job-$id"/capture/op-3/subtask-*/epoch-*.sink.json >/dev/null
}

said() { cat "$work/job-$id"/run/attempt-*/stderr.log; }

@test "the runner killed: what it left goes on, holds the next runner back, and is followed by it" {
    prepare 2
    produce "t$id" 1 100
    start
    wait_keys "t$id" 100
    wait_checkpoints "$id" 2
    kill -KILL "$runner"
    wait "$runner" || true
    produce "t$id" 101 150
    wait_keys "t$id" 150
    start --stop-at-end
    sleep 2
    [ "$(grep -c 'attempt 1:' "$work/job-$id.log")" -eq 1 ]
    run -3 "$root/pipelines/job" --spec="$work/$id.json" --dir="$work/job-$id" --parallelism=2
    group=$(orphans)
    [ "$group" -gt 1 ]
    kill -KILL -- "-$group"
    ends 0
    [ "$(grep -c 'attempt 1:' "$work/job-$id.log")" -eq 2 ]
    holds 150
}

@test "evidence that can no longer be written is absent, and the job goes on" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    wait_checkpoints "$id" 1
    rm -rf "$work/job-$id/capture/op-3/subtask-0"
    : >"$work/job-$id/capture/op-3/subtask-0"
    produce "t$id" 21 40
    wait_keys "t$id" 40
    wait_checkpoints "$id" 2
    jobs_stop
    said | grep -q 'cap-tee: .*disarmed'
    said | grep -q 'ch-sink: .*has no evidence'
    [ "$(grep -c 'failed' "$work/job-$id.log")" -eq 0 ]
}

@test "checkpoints that can no longer be written do not complete, and complete again when they can" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    wait_checkpoints "$id" 1
    state=$work/job-$id/ckpt/_state/$id/v1
    mv "$state/0" "$state/away"
    : >"$state/0"
    sleep 1
    at=$(newest "$id")
    produce "t$id" 21 40
    wait_keys "t$id" 40
    sleep 1
    [ "$(newest "$id")" -eq "$at" ]
    rm "$state/0"
    mv "$state/away" "$state/0"
    wait_checkpoints "$id" 2
    jobs_stop
    job "$id" --stop-at-end
    holds 40
    [ "$(rows_in "t$id")" -eq 40 ]
}

@test "the engine killed under the job: nothing is lost, and what is called deduplicated is there once" {
    prepare 2 'SETTINGS non_replicated_deduplication_window = 1000' '.sink.batch_rows = 40'
    start
    wait_checkpoints "$id" 1
    for round in 1 2 3; do
        produce "t$id" $((round * 1000 - 999)) $((round * 1000))
        "$root/tests/services/clickhouse" kill --dir="$work/ch"
        "$root/tests/services/clickhouse" up --dir="$work/ch" >/dev/null
        wait_keys "t$id" $((round * 1000))
        wait_checkpoints "$id" 1
    done
    jobs_stop
    job "$id" --stop-at-end
    holds 3000
    if [ "$(grep -c failed "$work/job-$id.log")" -eq 0 ]; then
        jq -e '[.ledger[] | select(.resend == "may_duplicate")] == []' "$work/job-$id"/capture/op-3/subtask-*/epoch-*.sink.json >/dev/null
        [ "$(rows_in "t$id")" -eq 3000 ]
    fi
}

@test "the broker killed under the job: it waits and goes on" {
    [ "$KAFKA_KIND" = broker ] || skip 'the mock broker forgets its records'
    prepare 2
    produce "t$id" 1 50
    start
    wait_keys "t$id" 50
    wait_checkpoints "$id" 1
    "$root/tests/services/kafka" kill --dir="$work/kafka"
    sleep 1
    "$root/tests/services/kafka" up --dir="$work/kafka" >/dev/null
    produce "t$id" 51 100
    wait_keys "t$id" 100
    wait_checkpoints "$id" 1
    jobs_stop
    job "$id" --stop-at-end
    holds 100
}

@test "a table altered under the job stops it for good, by name" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    wait_checkpoints "$id" 1
    sql "ALTER TABLE shop.t$id ADD COLUMN more Int64"
    ends 2
    said | grep -q "shop.t$id was altered"
    [ "$(jq -r .status "$work/job-$id/ha/job-$id.status.json")" = refused ]
    [ "$(grep -c 'attempt 2' "$work/job-$id.log")" -eq 0 ]
}

@test "a topic recreated between two runs is refused by its id" {
    prepare 2
    produce "t$id" 1 20
    job "$id" --stop-at-end
    kafka delete-topic "t$id"
    for ((tries = 0; tries < 100; tries++)); do
        ! kafka create-topic "t$id" 2 2>/dev/null || break
        sleep 0.1
    done
    produce "t$id" 1 40
    run -2 job "$id" --stop-at-end
    said | grep -q "topic t$id was recreated"
    holds 20
}

@test "partitions that the topic gains while the job runs are read from their beginning" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    wait_checkpoints "$id" 1
    kafka add-partitions "t$id" 4
    orders 21 40 | jq -c '.partition += 2' | kafka produce "t$id"
    wait_keys "t$id" 40
    jobs_stop
    job "$id" --stop-at-end
    holds 40
    [ "$(jq -s 'map(.declared) | add | unique' -c "$work/job-$id/ckpt/_state/$id"/v1/*/checkpoint-"$(newest "$id")".snap)" = '[0,1,2,3]' ]
}

@test "an empty topic, and more lanes than partitions" {
    prepare 2
    job "$id" --stop-at-end
    [ "$(newest "$id")" -eq 3 ]
    holds 0
    id=${id}lanes
    prepare 2
    produce "t$id" 1 31
    "$root/pipelines/job" --spec="$work/$id.json" --dir="$work/job-$id" --parallelism=3 --stop-at-end 2>"$work/job-$id.log"
    holds 31
    [ "$(rows_in "t$id")" -eq 31 ]
    run -2 job "$id" --stop-at-end
    grep -q 'a change of parallelism is not supported' "$work/job-$id.log"
}

@test "one interval over many INSERTs, and many intervals over one" {
    prepare 2 '' '.checkpoint.interval_ms = 600000 | .sink.batch_rows = 701 | .capture_records = 20000'
    produce "t$id" 1 20000
    job "$id" --stop-at-end
    holds 20000
    [ "$(jq -s 'map(.ledger | length) | max > 10' "$work/job-$id"/capture/op-3/subtask-*/epoch-1.sink.json)" = true ]
    id=${id}short
    prepare 2 '' '.checkpoint.interval_ms = 20 | .sink.batch_rows = 10'
    fault "when=delay&ms=300&n=4&match=$(insert_into "t$id")"
    produce "t$id" 1 200
    job "$id" --stop-at-end
    holds 200
    [ "$(rows_in "t$id")" -eq 200 ]
}

@test "large values, escapes, and records that hold nothing" {
    prepare 2 '' '.map.program = "select(type == \"object\")"'
    for ((i = 1; i <= 6; i++)); do
        jq -nc --argjson i $i '("x\u0001\"\\é☃" * 40000) as $big | {partition: ($i % 2), key: "\($i)", headers: [["h", null], ["h", ""]],
            value: ({event_id: $i, customer: $big, amount: "1.5", seen: 1, score: 0.5, note: null} | tojson)}'
    done >"$work/big"
    printf '{"partition":0,"key":null,"value":null}\n{"partition":1,"key":"","value":"null"}\n' >>"$work/big"
    kafka produce "t$id" <"$work/big"
    job "$id" --stop-at-end
    holds 6
    [ "$(sql "SELECT uniqExact(customer), any(length(customer)) FROM shop.t$id")" = $'1\t360000' ]
    [ "$(jq -r 'select(.capture.seen > 0) | .capture.outcome' "$work/job-$id"/capture/op-3/subtask-*/epoch-1.sink.json | sort -u)" = written ]
}

@test "without the recorder every interval is disarmed, by the sink's own word" {
    prepare 2
    produce "t$id" 1 50
    job "$id" --stop-at-end --no-capture
    holds 50
    [ "$(jq -r .capture.outcome "$work/job-$id"/capture/op-3/subtask-*/epoch-*.sink.json | sort -u)" = disarmed ]
    [ -z "$(find "$work/job-$id/capture" -name '*.cap')" ]
}
