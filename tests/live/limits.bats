#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Memory as the LIMITS of a page state it, of the programs that read a broker or a server: so many times what they read of it, or
# no more for more of it.
bats_require_minimum_version 1.5.0
load kafka
load services
load ../stream

setup_file() {
    kafka_up
    clickhouse_up
    [ -n "${CH_LACK:-}" ] || ch 'CREATE DATABASE shop'
}
teardown_file() {
    kafka_down
    clickhouse_down
}
setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    topic=l-$BATS_TEST_NUMBER-$$
}

filled() { # COUNT: a topic of $topic's name and the count, with so many records of 200 bytes
    kafka_topic "$topic-$1" 1
    yes "{\"partition\":0,\"value\":\"$(printf '%200s' '' | tr ' ' x)\"}" | head -n "$1" | kafka_tool produce "$topic-$1" >produced
}

# took COMMAND…: KiB that it took at most; its output is in out.
took() {
    /usr/bin/time -q -o most -f %M "$@" >out || return 1
    cat most
}

# peak COUNT COMMAND…: the same; its output must hold as many records.
peak() {
    local want=$1 most
    shift
    most=$(took "$@") || return 1
    [ "$(grep -c '^{"type":"record"' out)" -ge "$want" ] || return 1
    echo "$most"
}

# times PROGRAM FEW MANY BYTES: at most as many times what it read as its page says, and 3 MB of buffers.
times() {
    local most
    most=$(sed -n 's/^Memory: at most \([0-9]*\) times .*/\1/p' "$OWED_ROOT/man/$1.1")
    echo "$1: $2 KiB, of $4 bytes $3 KiB, its page says $most times"
    [ $(($3 - $2 - 3 * 1024)) -le $((most * $4 / 1024)) ]
}

# constant PROGRAM FEW MANY: the page says so, and it is so, but for what it reads ahead and 3 MB of buffers.
constant() {
    local ahead
    echo "$1: $2 KiB, of four times as much $3 KiB"
    grep -q '^Memory: what it reads does not make it grow' "$OWED_ROOT/man/$1.1"
    ahead=$(sed -n 's/^It reads ahead up to \([0-9]*\)M of each partition\.$/\1/p' "$OWED_ROOT/man/$1.1")
    [ $(($3 - $2)) -le $(((${ahead:-0} + 3) * 1024)) ]
}

range_read() { # COUNT: what kafka-read takes on so many records
    local cluster id topic=$topic-$1
    read -r cluster id < <(log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" | jq -r 'select(.type == "log") | [.cluster_id, .topic_id] | @tsv')
    scope_of_sources "$(source_of "$topic" "$cluster" "$id" read_committed "0:0-$1")" >scope.json
    peak "$1" kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60
}

login() { echo "--url=$CH_URL" --user=default "--password-file=$CH_DIR/secret/default"; }

looked() { # TABLE COLUMNS PREFIX: what table-look takes on a table of so many columns, and what the server answers of it
    local most
    seq "$2" | sed "s/.*/$3& UInt8/" | paste -sd, | sed "s/.*/CREATE TABLE shop.$1 (id Int64, &) ENGINE = MergeTree ORDER BY id/" >sql
    ch @sql 'max_query_size=100000000&max_ast_elements=10000000'
    # shellcheck disable=SC2046 # words without blanks
    most=$(took table-look $(login) --table="shop.$1" --first) || return 1
    echo "$most $(ch "SELECT (SELECT sum(length(name) + length(type) + length(default_kind) + 3) FROM system.columns
        WHERE database = 'shop' AND table = '$1') + (SELECT sum(length(create_table_query) + length(engine_full)) FROM system.tables
        WHERE database = 'shop' AND name = '$1')")"
}

@test "table-look takes as many times what the server answers as its page says" {
    clickhouse_need
    few=$(looked few 5 c)
    short=$(looked short 20000 c)
    long=$(looked long 20000 "$(printf '%200s' '' | tr ' ' x)")
    times table-look "${few% *}" "${short% *}" "${short#* }"
    times table-look "${few% *}" "${long% *}" "${long#* }"
}

keys_read() { # COUNT: what ch-read takes on so many owed keys of 200 bytes, and the bytes of its input
    local columns='[{"name":"k","type":"String","key":true},{"name":"v","type":"Int64"}]' most
    {
        scope_of "$(ch 'SELECT serverUUID() FORMAT TSV')" "$(ch "SELECT uuid FROM system.tables WHERE name = 'keyed' FORMAT TSV")" \
            shop keyed "$columns"
        columns_of "$columns"
        seq "$1" | sed "s#.*#{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"$(printf '%200s' '' | tr ' ' x)&\",\"&\"],\"at\":\"orders/0/&\"}#"
        side captured "$1"
        checked reconcile.scope passed
    } | whole in
    # shellcheck disable=SC2046
    most=$(took ch-read $(login) --settle-ms=0 <in) || return 1
    [ "$(grep -c '"side":"destination","read":2,"cells"' out)" = "$1" ] || return 1
    echo "$most $(stat -c %s in)"
}

@test "ch-read takes as many times what it reads as its page says" {
    clickhouse_need
    ch "CREATE TABLE shop.keyed (k String, v Int64) ENGINE = MergeTree ORDER BY k"
    ch "INSERT INTO shop.keyed SELECT concat(repeat('x', 200), toString(number)), number FROM numbers(1, 60000)"
    few=$(keys_read 12)
    many=$(keys_read 60000)
    times ch-read "${few% *}" "${many% *}" "${many#* }"
}

rows_written() { # COUNT: what ch-sink takes on so many events of 500 bytes
    local before
    before=$(ch 'SELECT count() FROM shop.written')
    {
        seq "$1" | sed "s#.*#{\"type\":\"event\",\"at\":\"t/0/&\",\"ts\":&,\"values\":{\"id\":&,\"s\":\"$(printf '%500s' '' | tr ' ' x)\"}}#"
        barrier 1 0
    } | whole lane
    # shellcheck disable=SC2046
    took ch-sink $(login) --database=shop --table=written --job=1 --operator=3 --subtask=0 --attempt=a --capture-dir=. <lane || return 1
    [ "$(ch 'SELECT count() FROM shop.written')" = $((before + $1)) ]
}

@test "ch-sink takes no more for more rows" {
    clickhouse_need
    ch "CREATE TABLE shop.written (id Int64, s String) ENGINE = MergeTree ORDER BY id"
    few=$(rows_written 15000)
    constant ch-sink "$few" "$(rows_written 60000)"
}

@test "log-look takes no more for each partition than its page says" {
    kafka_need broker
    kafka_topic "$topic-few" 12
    kafka_topic "$topic" 612
    few=$(took log-look -b "$KAFKA_BOOTSTRAP" -t "$topic-few")
    many=$(took log-look -b "$KAFKA_BOOTSTRAP" -t "$topic")
    most=$(sed -n 's/^Memory: at most \([0-9]*\)K for each partition, .*/\1/p' "$OWED_ROOT/man/log-look.1")
    echo "log-look: $few KiB, of 600 partitions more $many KiB, its page says $most each"
    [ $((many - few - 1024)) -le $((600 * most)) ]
}

@test "kafka-read takes no more for more records" {
    kafka_need broker
    filled 60000
    filled 240000
    few=$(range_read 60000)
    constant kafka-read "$few" "$(range_read 240000)"
}

@test "kafka-tail takes no more for more records" {
    kafka_need broker
    filled 60000
    filled 240000
    few=$(peak 60000 kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic-60000" --stop-at-end)
    constant kafka-tail "$few" "$(peak 240000 kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic-240000" --stop-at-end)"
}
