#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Ranges by the records' times, and by what a group has committed: from a real broker to the records that are read.
bats_require_minimum_version 1.5.0

load kafka

setup_file() { kafka_up; }
teardown_file() { kafka_down; }

setup() {
    kafka_need broker
    cd "$BATS_TEST_TMPDIR" || exit 1
    topic="t$BATS_TEST_NUMBER"
    kafka_topic "$topic" 2
}

# read_of [ARGUMENT OF log-look…]: partition and value of what the scope that is declared of it has.
read_of() {
    log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" "$@" | scope-declare --key=id --table=d.t --column=id:Int64 --out=scope.json "${declared[@]}" >declared.ndjson || return
    kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" | jq -r 'select(.type == "record") | "\(.partition)/\(.payload)"' | sort -V | paste -sd ' '
}

@test "the first record of a time or later begins a range, and ends one; a partition without such is read to its end" {
    declared=()
    # 2026-01-01T00:00:00Z and a second more each
    for n in 0 1 2 3 4 5 6 7 8 9; do printf '{"partition":%d,"value":"%d","ts":%d}\n' $((n < 8 ? 0 : 1)) $n $((1767225600000 + n * 1000)); done | kafka_tool produce "$topic" >/dev/null
    run -0 read_of --since=2026-01-01T00:00:03Z --until=2026-01-01T01:00:06+01:00
    [ "$output" = "0/3 0/4 0/5" ]
    [ "$(jq -c '.declared.chosen' scope.json)" = '{"from":"2026-01-01T00:00:03.000Z","to":"2026-01-01T00:00:06.000Z"}' ]
    run -0 read_of --since=2026-01-01T00:00:06.001Z
    [ "$output" = "0/7 1/8 1/9" ]
    run -0 read_of --until=2026-01-01T00:00:09Z
    [ "$output" = "0/0 0/1 0/2 0/3 0/4 0/5 0/6 0/7 1/8" ]
    run -0 read_of
    [ "$(wc -w <<<"$output")" -eq 10 ]
    run -3 read_of --since=2027-01-01T00:00Z
    [[ $output == *"no offset between those that the times give"* ]]
}

@test "up to what a group has committed, and from there on" {
    for n in 0 1 2 3 4 5; do printf '{"partition":%d,"value":"%d"}\n' $((n % 2)) $n; done | kafka_tool produce "$topic" >/dev/null
    kcat -b "$KAFKA_BOOTSTRAP" -q -G g -X auto.offset.reset=earliest -c 6 "$topic" >/dev/null
    for n in 6 7; do printf '{"partition":%d,"value":"%d"}\n' $((n % 2)) $n; done | kafka_tool produce "$topic" >/dev/null
    log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" --group=g | jq -c 'select(.type == "log") | {(.topic): .groups[0].offsets}' >offsets
    declared=(--to-offsets=offsets)
    run -0 read_of
    [ "$output" = "0/0 0/2 0/4 1/1 1/3 1/5" ]
    declared=(--from-offsets=offsets)
    run -0 read_of
    [ "$output" = "0/6 1/7" ]
}
