# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pipelines that nobody wrote for this: ClickHouse's own ENGINE = Kafka table with a view, and a consumer on public client
# libraries. Each fills a table named as its topic.

engine_table() { # topic, settings of the queue, condition of the view
    orders_table "$1"
    sql "CREATE TABLE shop.$1_queue (event_id Int64, customer String, amount Decimal(18, 4), seen Int64, score Float64,
        note Nullable(String), serial UInt64, test Bool) ENGINE = Kafka
        SETTINGS kafka_broker_list = '$KAFKA_BOOTSTRAP', kafka_topic_list = '$1', kafka_group_name = 'engine-$1', kafka_format = 'JSONEachRow',
        kafka_flush_interval_ms = 300, kafka_poll_timeout_ms = 100$2"
    sql "CREATE MATERIALIZED VIEW shop.$1_view TO shop.$1 AS SELECT event_id, customer, amount,
        fromUnixTimestamp64Milli(seen) AS seen, score, note, serial FROM shop.$1_queue WHERE NOT test$3"
}

read_by() { # topic: messages that its queue has read
    sql "SELECT sum(num_messages_read) FROM system.kafka_consumers WHERE table = '$1_queue'"
}

soon() { # how many at least, command that says how many there are
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        [ "$("${@:2}")" -lt "$1" ] || return 0
        sleep 0.1
    done
    echo "$1 were awaited: ${*:2}" >&2
    return 1
}

# Throw the queue's consumer out of its group, as a broker does with one that is too slow: what it has written it then cannot commit.
evict() { # topic
    "${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python" - "$KAFKA_BOOTSTRAP" "engine-$1" <<'PYTHON'
import sys
from kafka.admin import KafkaAdminClient, MemberToRemove
admin = KafkaAdminClient(bootstrap_servers=sys.argv[1])
members = admin.describe_groups([sys.argv[2]])[sys.argv[2]]["members"]
admin.remove_group_members(sys.argv[2], [MemberToRemove(member_id=m["member_id"]) for m in members])
PYTHON
}

consume() { # topic, more options
    "${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python" "$root/examples/destination-reconciliation/consumer" --bootstrap="$KAFKA_BOOTSTRAP" \
        --port="$CH_PORT" --topic="$1" --table="shop.$1" "${@:2}"
}

# What needs time to arrive is begun here and awaited in the scenarios.
make_others() {
    local topic
    echo "ENGINE = Kafka tables with views, and a consumer that commits before it writes…"
    for topic in engine skipping twice consumed; do kafka create-topic "$topic" 2; done
    # One written as a double: by the specification it is the same time, and the queue's column does not take it.
    { placed_orders 1 56; placed_orders 57 57 '%.1f'; placed_orders 58 200; } | kafka produce skipping
    engine_table skipping ', kafka_skip_broken_messages = 1' ''
    send_orders engine 1 200
    engine_table engine '' ''
    # A view that takes its time, so that the block is written long after it was read.
    send_orders twice 1 40
    engine_table twice '' ' AND sleepEachRow(0.05) = 0'
    soon 40 read_by twice
    evict twice
    send_orders consumed 1 200
    orders_table consumed
    (consume consumed --die-in-batch=3; consume consumed) >/dev/null 2>"$work/consumer.err" &
    runner+=" $!" consumer=$!
}

declared() { # topic, more arguments: the audit of a pipeline that left no evidence
    audit --topic="$1" --table="shop.$1" --range=ALL --from=seen:ms --bootstrap="$KAFKA_BOOTSTRAP" "${@:2}" -- "${jq_rules[@]}"
}

# The newest records are in the topic and not yet in the table.
late() {
    sql 'DETACH TABLE shop.engine_view SYNC'
    send_orders engine 201 220
    declared engine
}

landed() {
    sql 'ATTACH TABLE shop.engine_view'
    soon 198 rows_in engine
    declared engine
}

twice_scenario() {
    soon 72 rows_in twice
    sql 'DROP TABLE shop.twice_view SYNC'
    declared twice
}

consumed_scenario() {
    wait "$consumer"
    declared consumed
}

other_scenarios() {
    local found=reference-destination
    soon 180 rows_in engine
    soon 179 rows_in skipping
    expect 'ENGINE = Kafka and a view, whole' 0 "$(summary $found 0 0 0 0)" "$relations" declared engine
    expect 'the newest stretch not landed yet' 1 "$(summary $found 18 0 0 0) and (.summaries[] | select(.relation == \"$found\") | .tail.rows == 18)" \
        '[.made[] | select(.status == "failed") | .reason] | join("; ")[0:150]' late
    expect 'the same once it has landed' 0 "$(summary $found 0 0 0 0)" "$relations" landed
    expect 'a message that ENGINE = Kafka skips' 1 "$(summary $found 1 0 0 0)" \
        '.findings[0] | "\(.kind) \(.key | join(",")), \(.at)"' declared skipping
    expect 'a batch that ENGINE = Kafka writes twice' 1 "$(summary $found 0 0 36 0)" "$relations" twice_scenario
    expect 'a consumer that commits before it writes, killed' 1 \
        "(.summaries[] | select(.relation == \"$found\") | .missing.rows > 0 and .missing.rows <= 25 and .changed.rows == 0 and .duplicated.surplus == 0)" \
        "$relations" consumed_scenario
}
