#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Pipelines as their operators write them (examples/pipelines), on the real broker and engine: each when all is well, killed in the
# middle and started again, and with a fault that is its own. What is asked is the audit of each one's README, word for word.
bats_require_minimum_version 1.5.0
load pipelines

setup_file() { pipelines_up python node; }
setup() { pipelines_need; }
teardown() { pipeline_end; }
teardown_file() { pipelines_down; }

# ---- node ----

payments() { # topic, first, last, [what stands before the digits of each id]
    awk -v a="$2" -v b="$3" -v before="${4:-}" 'BEGIN {
        for (i = a; i <= b; i++) {
            value = sprintf("{\"id\":%s%d,\"account\":\"a-%d\",\"amount\":\"%d.%02d\",\"at\":\"2026-03-01T12:%02d:%02d.%03dZ\"%s%s}", before, i,
                i % 13, i, i % 100, i / 60 % 60, i % 60, i % 1000, i % 3 ? ",\"tags\":[\"web\",\"t" i "\"]" : "", i % 10 ? "" : ",\"kind\":\"test\"")
            gsub(/"/, "\\\"", value)
            printf "{\"partition\":%d,\"key\":\"%d\",\"value\":\"%s\"}\n", i % 2, i, value
        }
    }' | kafka produce "$1"
}

node_topic() { # name
    kafka create-topic "$1" 2
    sql "$(sed "s/shop\.payments/shop.$1/" "$root/examples/pipelines/node/table.sql")"
}

node_begin() { # name, what begins it
    "${@:2}" env TOPIC="$1" TABLE="shop.$1" NODE_PATH="$deps/node/node_modules" node "$root/examples/pipelines/node/consumer.js"
}

@test "node: what it reads is in the table, and the audit passes" {
    node_topic paid
    payments paid 100 299
    node_begin paid pipeline_begin
    wait_for rows_in paid 180
    pipeline_end
    as_written node paid 0
    report "$(summary "$found" 0 0 0 0)"
}

@test "node: killed when a batch is inserted and its offsets are not committed, it inserts that batch again" {
    node_topic resent
    payments resent 100 199
    node_begin resent pipeline_begin
    wait_for rows_in resent 90
    pipeline_end
    echo '{"partition":0,"key":"k","value":"{\"id\":200,\"account\":\"a\",\"amount\":\"1\",\"at\":\"2026-03-01T12:00:00Z\"}"}' | kafka produce resent
    node_begin resent killed_over_an_insert withhold
    [ "$(rows_in resent)" = 91 ]
    payments resent 201 249
    node_begin resent pipeline_begin
    await 'the other payments' at_least 136 sql 'SELECT uniqExact(id) FROM shop.resent'
    pipeline_end
    as_written node resent 1
    # The batch that was in doubt is there twice, its one row, and nothing else is.
    report "$(summary "$found" 0 0 1 0) and .findings[0].key == [\"200\"]"
}

@test "node: ids past 2^53 lose their last digit in JSON.parse, and go under the id of another payment" {
    node_topic big
    payments big 100 199 9007199255000
    node_begin big pipeline_begin
    wait_for rows_in big 90
    pipeline_end
    as_written node big 1
    # Every odd id, and what stands in its place under the even ones, where those are owed: nobody owes a test's.
    report "$(summary "$found" 50 0 0 40) and (.summaries[0].runs | map([.topic, .partition, .first, .last, .rows]) == [[\"big\", 1, 0, 49, 50]])"
    report 'any(.made[]; .code == "rows-under-another-key")'
    [[ $output == *"big/1 offsets 0..49: 50 rows, such as id=9007199255000101"* ]]
}

# ---- ENGINE = Kafka ----

engine_begin() { # topic, [edits of its queue's settings]
    engine_queue "$@"
    engine_view "$1"
}

@test "engine-kafka: what it reads is in the table, and the audit passes" {
    kafka create-topic bought 2
    send_orders bought 1 200
    engine_begin bought
    wait_for rows_in bought 180
    as_written engine-kafka bought 0
    report "$(summary "$found" 0 0 0 0)"
}

read_by_queue() { # topic: how many messages its queue has read
    sql "SELECT sum(num_messages_read) FROM system.kafka_consumers WHERE table = '$1_queue'"
}

# The broker waits a minute for a consumer that was killed; the group is rid of it at once.
forget_members() { # group
    "$python" - "$KAFKA_BOOTSTRAP" "$1" <<'PY'
import sys
from kafka.admin import KafkaAdminClient, MemberToRemove
bootstrap, group = sys.argv[1:]
admin = KafkaAdminClient(bootstrap_servers=bootstrap)
admin.remove_group_members(group, [MemberToRemove(member_id=m["member_id"]) for m in admin.describe_groups([group])[group]["members"]])
admin.close()
PY
}

@test "engine-kafka: its server killed with a block read and not written, it reads that block again, and nothing is lost" {
    kafka create-topic cut 2
    send_orders cut 1 150
    # A block is full, or waits for two minutes.
    engine_begin cut 's/= 300/= 120000/; s/skip_broken_messages = 1/max_block_size = 100/'
    wait_for rows_in cut 1
    await 'the rest in the second block' at_least 150 read_by_queue cut
    [ "$(rows_in cut)" -lt 135 ]
    "$root/tests/services/clickhouse" kill --dir="$work/ch"
    forget_members engine-cut
    services_again
    send_orders cut 151 200
    wait_for rows_in cut 180
    as_written engine-kafka cut 0
    report "$(summary "$found" 0 0 0 0)"
}

@test "engine-kafka: a message that it cannot read is passed over, and the audit names the row and its offset" {
    kafka create-topic skipped 2
    { placed_orders 1 56; placed_orders 57 57 '%.1f'; placed_orders 58 200; } | kafka produce skipped
    engine_begin skipped
    wait_for rows_in skipped 179
    as_written engine-kafka skipped 1
    report "$(summary "$found" 1 0 0 0) and .findings[0].at == \"skipped/1/28\""
}

# ---- python ----

@test "python: what it reads is in the table, and the audit passes" {
    kafka create-topic taken 2
    send_orders taken 1 200
    orders_table taken
    consume taken
    as_written python taken 0
    report "$(summary "$found" 0 0 0 0)"
}

@test "python: killed between commit and insert, it loses the batch, and the audit names its offsets" {
    kafka create-topic lost 2
    send_orders lost 1 200
    orders_table lost
    run -137 consume lost --die-in-batch=3
    consume lost
    as_written python lost 1
    report '(.summaries[0] | .missing.rows > 0 and .missing.rows <= 25 and .changed.rows == 0 and .duplicated.surplus == 0 and .unexpected.rows == 0)
        and any(.made[]; .code == "rows-passed-over")'
}

@test "python: digits past the column's scale are cut off by the client, and the audit says of which value" {
    kafka create-topic digits 2
    placed_orders 1 200 | sed 's/\(amount[^.]*[^0-9]7\.0007\)/\19/' | kafka produce digits
    orders_table digits
    consume digits
    as_written python digits 1
    report "$(summary "$found" 0 1 0 0) and (.findings[0] | .key == [\"7\"] and .differ == [\"amount\"])"
    [[ $output == *7.00079* ]]
}
