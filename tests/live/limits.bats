#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Memory as the LIMITS of a page state it, of the programs that read a broker: four times the records take no more.
bats_require_minimum_version 1.5.0
load kafka
load ../stream

setup_file() { kafka_up; }
teardown_file() { kafka_down; }
setup() {
    kafka_need broker
    cd "$BATS_TEST_TMPDIR" || exit 1
    topic=l-$BATS_TEST_NUMBER-$$
}

filled() { # COUNT: a topic of $topic's name and the count, with so many records of 200 bytes
    kafka_topic "$topic-$1" 1
    yes "{\"partition\":0,\"value\":\"$(printf '%200s' '' | tr ' ' x)\"}" | head -n "$1" | kafka_tool produce "$topic-$1" >produced
}

# peak COUNT COMMAND…: KiB that it took at most; its output must hold as many records.
peak() {
    local want=$1
    shift
    /usr/bin/time -q -o most -f %M "$@" >out
    [ "$(grep -c '^{"type":"record"' out)" -ge "$want" ] || return 1
    cat most
}

# constant PROGRAM FEW MANY: the page says so, and it is so, but for what it reads ahead and 3 MB of buffers.
constant() {
    local ahead
    echo "$1: $2 KiB, of four times as much $3 KiB"
    grep -q '^Memory: what it reads does not make it grow' "$OWED_ROOT/man/$1.1"
    ahead=$(sed -n 's/^It reads ahead up to \([0-9]*\)M of each partition\.$/\1/p' "$OWED_ROOT/man/$1.1")
    [ $(($3 - $2)) -le $(((ahead + 3) * 1024)) ]
}

range_read() { # COUNT: what kafka-read takes on so many records
    local cluster id topic=$topic-$1
    read -r cluster id < <(log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" | jq -r 'select(.type == "log") | [.cluster_id, .topic_id] | @tsv')
    scope_of_sources "$(source_of "$topic" "$cluster" "$id" read_committed "0:0-$1")" >scope.json
    peak "$1" kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60
}

@test "kafka-read takes no more for more records" {
    filled 60000
    filled 240000
    few=$(range_read 60000)
    constant kafka-read "$few" "$(range_read 240000)"
}

@test "kafka-tail takes no more for more records" {
    filled 60000
    filled 240000
    few=$(peak 60000 kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic-60000" --stop-at-end)
    constant kafka-tail "$few" "$(peak 240000 kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic-240000" --stop-at-end)"
}
