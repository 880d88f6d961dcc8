# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pipelines that nobody wrote for this: ClickHouse's own ENGINE = Kafka table with a view, and a consumer on public client
# libraries. Each fills a table named as its topic.

# The statements of examples/pipelines/engine-kafka, for the topic and the table of another name.
engine_sql() { # file, topic, more edits
    sed "s/purchases/$2/g; s/127\.0\.0\.1:9092/$KAFKA_BOOTSTRAP/; ${3:-}" "$root/examples/pipelines/engine-kafka/$1.sql"
}

engine_queue() { # topic, edits of its settings
    sql "$(engine_sql table "$1")"
    sql "$(engine_sql queue "$1" "${2:-}")"
}

engine_view() { # topic, more conditions
    sql "$(engine_sql view "$1")${2:-}"
}

python=${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python

consume() { # topic, more options
    "$python" "$root/examples/pipelines/python/consumer" --bootstrap="$KAFKA_BOOTSTRAP" \
        --port="$CH_PORT" --topic="$1" --table="shop.$1" "${@:2}"
}

# What needs time to arrive is begun here and awaited in the scenarios.
make_others() {
    local topic port
    echo "ENGINE = Kafka tables with views, and a consumer that commits before it writes…"
    for topic in engine purchases consumed; do kafka create-topic "$topic" 2; done
    kafka create-topic twice 1
    # One written as a double: by the specification it is the same time, and the queue's column does not take it.
    { placed_orders 1 56; placed_orders 57 57 '%.1f'; placed_orders 58 200; } | kafka produce purchases
    engine_queue purchases
    engine_view purchases
    send_orders engine 1 200
    engine_queue engine
    engine_view engine
    # All of it is one block, and as the view asks `evict` about it, the consumer that has read it is thrown out of its group.
    placed_orders 1 40 | sed 's/"partition":1/"partition":0/' | kafka produce twice
    engine_queue twice 's/= 300/= 120000/; s/skip_broken_messages = 1/max_block_size = 40/'
    exec {evicting}< <(exec "$python" "$root/examples/pipelines/engine-kafka/evict" --topic=twice --messages=40)
    runner+=" $!" evictor=$!
    read -r -u "$evicting" port
    engine_view twice " AND event_id NOT IN (SELECT id FROM url('http://127.0.0.1:$port/', 'TSV', 'id Int64'))"
    send_orders consumed 1 200
    orders_table consumed
    (consume consumed --die-in-batch=3 || true; consume consumed) >/dev/null 2>"$work/consumer.err" &
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
    wait_for rows_in engine 198
    declared engine
}

twice_scenario() {
    wait_for rows_in twice 72
    declared twice
}

consumed_scenario() {
    wait "$consumer"
    declared consumed
}

other_scenarios() {
    local found=reference-destination
    wait_for rows_in engine 180
    wait_for rows_in purchases 179
    expect 'ENGINE = Kafka and a view, whole' 0 "$(summary $found 0 0 0 0)" "$relations" declared engine
    expect 'the newest stretch not landed yet' 1 "$(summary $found 18 0 0 0) and (.summaries[] | select(.relation == \"$found\") | .tail.rows == 18)" \
        '[.made[] | select(.status == "failed") | .reason] | join("; ")[0:150]' late
    expect 'the same once it has landed' 0 "$(summary $found 0 0 0 0)" "$relations" landed
    expect 'a message that ENGINE = Kafka skips' 1 "$(summary $found 1 0 0 0)" \
        '.findings[0] | "\(.kind) \(.key | join(",")), \(.at)"' declared purchases
    expect 'a batch that ENGINE = Kafka writes twice' 1 "$(summary $found 0 0 36 0)" "$relations" twice_scenario
    expect 'a consumer that commits before it writes, killed' 1 \
        "(.summaries[] | select(.relation == \"$found\") | .missing.rows > 0 and .missing.rows <= 25 and .changed.rows == 0 and .duplicated.surplus == 0)" \
        "$relations" consumed_scenario
}
