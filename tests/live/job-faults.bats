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

ends() { # status: by itself
    local status=0
    await 'the end of the runner' eval '! kill -0 "$runner" 2>/dev/null'
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

says() { # pattern
    said | grep -q "$1"
}

@test "the runner killed: what it left goes on, holds the next runner back, and is followed by it" {
    prepare 2
    produce "t$id" 1 100
    start
    wait_keys "t$id" 100
    checkpoint "$id"
    kill -KILL "$runner"
    wait "$runner" || true
    produce "t$id" 101 150
    wait_keys "t$id" 150
    start --stop-at-end
    await 'the next runner' held_back
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
    checkpoint "$id"
    rm -rf "$work/job-$id/capture/op-3/subtask-0"
    : >"$work/job-$id/capture/op-3/subtask-0"
    produce "t$id" 21 40
    wait_keys "t$id" 40
    checkpoint "$id"
    checkpoint "$id"
    jobs_stop
    says 'cap-tee: .*disarmed'
    says 'ch-sink: .*has no evidence'
    [ "$(grep -c 'failed' "$work/job-$id.log")" -eq 0 ]
}

@test "checkpoints that can no longer be written do not complete, and complete again when they can" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    checkpoint "$id"
    state=$work/job-$id/ckpt/_state/$id/v1
    mv "$state/0" "$state/away"
    : >"$state/0"
    at=$(newest "$id")
    ask_barrier
    await 'the barrier without a snapshot' says 'checkpoints without it do not complete'
    produce "t$id" 21 40
    wait_keys "t$id" 40
    [ "$(newest "$id")" -eq "$at" ]
    rm "$state/0"
    mv "$state/away" "$state/0"
    # What completes is the next one: this one's barrier was before it in every lane.
    checkpoint "$id"
    [ "$(newest "$id")" -eq $((at + 2)) ]
    [ ! -e "$work/job-$id/ckpt/_jobs/$id/COMPLETED-$((at + 1))" ]
    jobs_stop
    job "$id" --stop-at-end
    holds 40
    [ "$(rows_in "t$id")" -eq 40 ]
}

@test "a barrier whose number nothing on disk would carry is not sent, and its number comes once it can be written" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    checkpoint "$id"
    state=$work/job-$id/ckpt/_state/$id/v1
    mv "$state" "$state.away"
    : >"$state"
    at=$(newest "$id")
    ask_barrier
    await 'no snapshot' says 'checkpoints without it do not complete'
    rm "$state"
    mv "$state.away" "$state"
    # It stays due, and nobody asks again.
    await 'the checkpoint of that number' test -e "$work/job-$id/ckpt/_jobs/$id/COMPLETED-$((at + 1))"
    [ "$(cat "$work/job-$id"/traces/kafka-tail-* | jq -c 'select(.event == "barrier") | .checkpoint' | sort | uniq -d)" = '' ]
    jobs_stop
    job "$id" --stop-at-end
    holds 20
}

@test "the engine killed under the job: nothing is lost, and what is there twice is of INSERTs that the ledger says may be" {
    prepare 2 'SETTINGS non_replicated_deduplication_window = 1000' '.sink.batch_rows = 40'
    start
    checkpoint "$id"
    # Before it has executed an INSERT, and after; and wherever it happens to be.
    for round in 1 2 3; do
        case $round in
            1) fault "when=hold&match=$(insert_into "t$id")" ;;
            2) fault "when=withhold&match=$(insert_into "t$id")" ;;
        esac
        produce "t$id" $((round * 1000 - 999)) $((round * 1000))
        [ "$round" -eq 3 ] || fault await=1
        "$root/tests/services/clickhouse" kill --dir="$work/ch"
        "$root/tests/services/clickhouse" up --dir="$work/ch" >/dev/null
        wait_keys "t$id" $((round * 1000))
        checkpoint "$id"
    done
    jobs_stop
    job "$id" --stop-at-end
    holds 3000
    if [ "$(grep -c failed "$work/job-$id.log")" -eq 0 ]; then
        # A server that was started anew may have kept a token and lost its rows, so the resend has another.
        may=$(cat "$work/job-$id"/capture/op-3/subtask-*/epoch-*.sink.json |
            jq -s '[.[].ledger[] | select(.resend == "may_duplicate") | (.rows | tonumber) * ((.attempts | tonumber) - 1)] | add // 0')
        surplus=$(($(rows_in "t$id") - 3000))
        echo "# $surplus rows twice, of $may that may be" >&2
        [ "$surplus" -ge 0 ] && [ "$surplus" -le "$may" ]
    fi
}

@test "the broker killed under the job: it waits and goes on" {
    [ "$KAFKA_KIND" = broker ] || skip 'the mock broker forgets its records'
    prepare 2
    produce "t$id" 1 50
    start
    wait_keys "t$id" 50
    checkpoint "$id"
    "$root/tests/services/kafka" kill --dir="$work/kafka"
    # What is asked for meanwhile comes when it is back.
    ask_barrier
    await 'the outage' says 'waiting for the broker'
    at=$(newest "$id")
    "$root/tests/services/kafka" up --dir="$work/kafka" >/dev/null
    await 'the checkpoint' at_least $((at + 1)) newest "$id"
    produce "t$id" 51 100
    wait_keys "t$id" 100
    checkpoint "$id"
    jobs_stop
    job "$id" --stop-at-end
    holds 100
}

@test "a table altered under the job stops it for good, by name" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    checkpoint "$id"
    sql "ALTER TABLE shop.t$id ADD COLUMN more Int64"
    ask_barrier
    ends 2
    says "shop.t$id was altered"
    [ "$(jq -r .status "$work/job-$id/ha/job-$id.status.json")" = refused ]
    [ "$(grep -c 'attempt 2' "$work/job-$id.log")" -eq 0 ]
}

@test "a topic recreated between two runs is refused by its id" {
    prepare 2
    produce "t$id" 1 20
    job "$id" --stop-at-end
    kafka delete-topic "t$id"
    await 'the end of the deleted topic' kafka create-topic "t$id" 2 2>/dev/null
    produce "t$id" 1 40
    run -2 job "$id" --stop-at-end
    says "topic t$id was recreated"
    holds 20
}

@test "partitions that the topic gains while the job runs are read from their beginning" {
    prepare 2
    produce "t$id" 1 20
    start
    wait_keys "t$id" 20
    checkpoint "$id"
    kafka add-partitions "t$id" 4
    orders 21 40 | jq -c '.partition += 2' | kafka produce "t$id"
    ask_barrier # which is where the topic is looked at again
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
    prepare 2 '' '.sink.batch_rows = 701 | .capture_records = 20000'
    produce "t$id" 1 20000
    job "$id" --stop-at-end
    holds 20000
    [ "$(jq -s 'map(.ledger | length) | max > 10' "$work/job-$id"/capture/op-3/subtask-*/epoch-1.sink.json)" = true ]
    id=${id}short
    prepare 2 '' '.sink.batch_rows = 10'
    fault "when=withhold&match=$(insert_into "t$id")"
    produce "t$id" 1 200
    start
    fault await=1
    for n in 1 2 3 4 5; do
        ask_barrier
        await "barrier $n" test -e "$work/job-$id/ckpt/_state/$id/v1/1/checkpoint-$n.snap"
    done
    [ "$(newest "$id")" -eq 0 ]
    fault release=1
    await 'the checkpoints' at_least 5 newest "$id"
    wait_keys "t$id" 200
    checkpoint "$id"
    jobs_stop
    holds 200
    [ "$(rows_in "t$id")" -eq 200 ]
}

@test "large values, escapes, and records that hold nothing" {
    prepare 2 '' '.operators[0].program = "select(type == \"object\")"'
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
