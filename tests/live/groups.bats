#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# log-look --group on a real broker: what consumer groups have committed, while they run, after they ended, and of a name that is none.
bats_require_minimum_version 1.5.0

stderr="" # run sets it
load kafka

setup_file() { kafka_up; }
teardown_file() { kafka_down; }

setup() {
    kafka_need broker
    cd "$BATS_TEST_TMPDIR" || exit 1
    topic="t$BATS_TEST_NUMBER"
    kafka_topic "$topic" 2
    for p in 0 1; do
        seq 1 10 | jq -c --argjson p "$p" '{partition: $p, value: tostring}' | kafka_tool produce "$topic" >/dev/null
    done
}

# look GROUP…: the groups of the topic's log line.
look() {
    log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" "${@/#/--group=}" | jq -c 'select(.type == "log") | .groups'
}

# consume GROUP N: a member that ends after N records.
consume() {
    kcat -b "$KAFKA_BOOTSTRAP" -q -G "$1" -X auto.offset.reset=earliest -c "$2" -f '%p %o\n' "$topic"
}

@test "a group that ended: what it has committed, its lag, no member; and the form that Spark's checkpoints have" {
    consume short 7 >seen
    consume whole 20 >/dev/null
    run -0 look short whole
    for p in 0 1; do
        n=$(grep -c "^$p " seen || true)
        jq -e --arg p "$p" --argjson n "$n" '.[0] | (.offsets[$p] // 0) == $n and (.lag[$p] // 10) == 10 - $n' <<<"$output"
    done
    jq -e '.[0] | .group == "short" and .state == "Empty" and .members == 0' <<<"$output"
    jq -e '.[1] | .group == "whole" and .offsets == {"0": 10, "1": 10} and .lag == {"0": 0, "1": 0}' <<<"$output"
    run -0 bash -c 'log-look -b "$KAFKA_BOOTSTRAP" -t "$0" --group=whole | jq -c "select(.type == \"log\") | {(.topic): .groups[0].offsets}"' "$topic"
    [ "$output" = "{\"$topic\":{\"0\":10,\"1\":10}}" ]
}

@test "a group that runs has its member; one that the cluster does not know is named, and has committed nothing" {
    mkfifo heard
    kcat -b "$KAFKA_BOOTSTRAP" -q -u -G live -X auto.offset.reset=earliest -X auto.commit.interval.ms=100 "$topic" >heard 3>&- &
    member=$!
    exec 4<heard
    for _ in {1..20}; do read -r _ <&4; done
    run -0 --separate-stderr look live
    jq -e '.[0] | .members == 1 and .state == "Stable"' <<<"$output"
    kill "$member"
    wait "$member" || true
    run -0 --separate-stderr look none
    [ "$output" = '[{"group":"none","state":"Dead","members":0,"offsets":{},"lag":{}}]' ]
    [ "$stderr" = "log-look: group none: the cluster knows no such group" ]
    run -0 look
    [ "$output" = null ]
}
