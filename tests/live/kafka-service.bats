#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The test broker itself: its lines, its data over a kill, its end, and the mock where there is no broker.
bats_require_minimum_version 1.5.0
load kafka

stderr="" # run sets it

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    service=$OWED_ROOT/tests/services/kafka
}

teardown() { [ ! -d k ] || "$service" down --dir=k; }

# One that is dead and not yet reaped has no command line.
gone() { [ -z "$(tr -d '\0' 2>/dev/null <"/proc/$1/cmdline")" ]; }

@test "up, kill, up again with its data on its port, down" {
    if [ "${REQUIRE_LIVE:-}" != 1 ] && [ ! -d "${OWED_DEPS:-$HOME/.cache/owed}/kafka-4" ]; then skip "no broker here"; fi
    eval "$("$service" up --dir=k)"
    [ "$KAFKA_KIND" = broker ]
    first=$KAFKA_BOOTSTRAP first_pid=$KAFKA_PID
    kafka_topic orders 1
    echo '{"value":"x","ts":1000}' | kafka_tool produce orders
    id=$(kafka_tool topic-info orders | jq -r .topic_id)
    eval "$("$service" up --dir=k)"
    [ "$KAFKA_PID" = "$first_pid" ]
    "$service" kill --dir=k
    gone "$first_pid"
    eval "$("$service" up --dir=k)"
    [ "$KAFKA_BOOTSTRAP" = "$first" ]
    [ "$(kafka_tool topic-info orders | jq -c '[.topic_id, .partitions[0].high]')" = "[\"$id\",1]" ]
    "$service" down --dir=k
    gone "$KAFKA_PID"
    "$service" down --dir=k
}

@test "without a broker: the mock, which says so; with REQUIRE_LIVE=1 an error" {
    export OWED_DEPS=$PWD/none
    run -3 --separate-stderr env REQUIRE_LIVE=1 "$service" up --dir=k
    [[ $stderr == "kafka: no broker in $OWED_DEPS/kafka-4/libs"* ]]
    run -0 --separate-stderr env -u REQUIRE_LIVE "$service" up --dir=k
    [[ $stderr == *"mock"*"no transactions"* ]]
    eval "$output"
    [ "$KAFKA_KIND" = mock ]
    kafka_topic orders 3
    echo '{"partition":2,"value":"x"}' | kafka_tool produce orders
    [ "$(kcat -b "$KAFKA_BOOTSTRAP" -C -t orders -e -q -f '%p %s\n')" = "2 x" ]
}

@test "bad usage is 2" {
    for arguments in "" up "up k" "start --dir=k" "up --dir="; do
        # shellcheck disable=SC2086
        run -2 "$service" $arguments
    done
}
