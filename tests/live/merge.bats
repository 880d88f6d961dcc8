#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tables that are a Merge of others, on the real engine: read where each under it could be read alone, and bound while they are read.
# OWED_CH_LINE=26.7 tries another line.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers
load declared

cols='id Int64, s LowCardinality(String)'

# under NAME ENGINE ROWS: a table that may stand under the Merge, with rows.
under() {
    ch "CREATE TABLE shop.$1 (${4:-$cols}) ENGINE = $2"
    [ -z "$3" ] || ch "INSERT INTO shop.$1 VALUES $3"
}

# merged [ENGINE]: shop.orders as a Merge of the tables p…, looked at, in the file looked.
merged() {
    ch "DROP TABLE IF EXISTS shop.orders"
    ch "CREATE TABLE shop.orders ($cols) ENGINE = ${1:-Merge('shop', '^p[0-9]+')}"
    { echo '{"type":"log","topic":"t","cluster_id":"c","topic_id":"i","partitions":[{"partition":0,"low":0,"high":9,"stable":9}]}' | whole log; }
    from log "$bin/table-look" --url="$CH_URL" "${asked[@]}" --table=shop.orders >looked 2>said || [ $? -le 3 ]
}

three='{"id":1,"s":"a"}@t/0/0|{"id":2,"s":"b"}@t/0/1|{"id":3,"s":"a"}@t/0/2'
owed() { IFS='|' read -ra events <<<"$three"; owes 0 "${events[@]}"; }

@test "rows of every table under a Merge are compared, and the answer says through which" {
    under p1 "MergeTree ORDER BY id" "(1, 'a'), (2, 'b')"
    under p2 "MergeTree PARTITION BY id % 2 ORDER BY s" "(3, 'a')"
    under q1 "MergeTree ORDER BY id" "(4, 'x')"
    merged
    jq -es '.[] | select(.type == "table") | [.tables[].table] == ["p1", "p2"] and .unfit == null and (.tables | all(.table_uuid | length == 36))' looked
    declare_ 0 --key=id
    owed
    for how in --format=native --format=rowbinary --keys-only; do
        audit 0 $how
        says "the table was read through a Merge of 2 tables: p1, p2"
        jq -es '.[] | select(.type == "observation") | .engine_full == "Merge('"'shop', '^p[0-9]+'"')" and
            [.tables[] | .table, .engine, .sorting_key, .partition_key] == ["p1", "MergeTree", "id", "", "p2", "MergeTree", "s", "id % 2"]' read.ndjson
    done
    # A row twice, in two tables, is two rows of its key; one that is gone is missing.
    ch "INSERT INTO shop.p2 VALUES (1, 'a')"
    audit 1
    says "duplicated"
    ch "ALTER TABLE shop.p2 DELETE WHERE id = 1 SETTINGS mutations_sync = 2"
    ch "ALTER TABLE shop.p1 DELETE WHERE id = 2 SETTINGS mutations_sync = 2"
    audit 1
    says "missing 1 rows of 1 keys"
    jq -es '.[] | select(.type == "observation") | [.mutations[].id | split("/")[0]] == ["p1", "p2"]' read.ndjson
    declare_ 2 --key=id --final
}

@test "a table under a Merge that could not be read alone makes it unsupported, by the table's name" {
    while IFS='|' read -r engine columns code words; do
        ch "DROP DATABASE shop"
        ch "CREATE DATABASE shop"
        under p1 "MergeTree ORDER BY id" "(1, 'a'), (2, 'b')"
        under p2 "MergeTree ORDER BY id" "(3, 'a')"
        merged
        declare_ 0 --key=id
        owed
        ch "DROP TABLE shop.p2"
        case $engine in
            VIEW) ch "CREATE VIEW shop.p2 AS SELECT * FROM shop.p1" ;;
            *) ch "CREATE TABLE shop.p2 ($columns) ENGINE = $engine" ;;
        esac
        merged # anew, so that the scope's Merge is another: its own uuid is not said
        declare_ 3 --key=id || declare_ 0 --key=id
        # what needs no columns is found by table-look and stops early; the rest where the rows are read
        if [ "$status" = 0 ]; then
            owed
            audit 3
            [ "$(jq -r 'select(.name == "reconcile.destination") | .code' read.ndjson)" = "$code" ]
            says "table 'p2' under the Merge: $words"
        else
            [ "$(code reconcile.scope)" = "$code" ]
            [[ $output == *"table 'p2' under the Merge: $words"* ]] || { printf '%s\n' "$output" >&2; return 1; }
        fi
    done <<'CASES'
ReplacingMergeTree ORDER BY id|id Int64, s LowCardinality(String)|engine-unsupported|its engine is ReplacingMergeTree, and only a plain MergeTree is read through a Merge
VIEW||engine-unsupported|its engine is View
Merge('shop', '^p1')|id Int64, s LowCardinality(String)|engine-unsupported|its engine is Merge
Buffer('shop', 'p1', 1, 10, 100, 10, 100, 10, 100)|id Int64, s LowCardinality(String)|engine-unsupported|its engine is Buffer
Memory|id Int64, s LowCardinality(String)|engine-unsupported|its engine is Memory
MergeTree ORDER BY id TTL d + toIntervalDay(1)|id Int64, s LowCardinality(String), d DateTime|table-expires|its definition has a TTL
MergeTree ORDER BY id|id Int32, s LowCardinality(String)|column-type-changed|column 'id' was Int64 and is Int32
MergeTree ORDER BY id|id Int64, s String|column-type-changed|column 's' was LowCardinality(String) and is String
MergeTree ORDER BY id|id Int64|column-missing|column 's' is not in the table any more
MergeTree ORDER BY id|id Int64, s LowCardinality(String) MATERIALIZED 'z'|column-type-changed|column 's' was filled by its writers and is MATERIALIZED now
CASES
}

@test "a Merge of databases by an expression, and one of no table, are unsupported by name" {
    under p1 "MergeTree ORDER BY id" "(1, 'a')"
    merged "Merge(REGEXP('^shop'), '^p')"
    declare_ 3 --key=id
    [ "$(code reconcile.scope)" = engine-unsupported ]
    [[ $output == *"the table is a Merge that does not name one database and an expression of tables: Merge(REGEXP("* ]]
    merged "Merge('shop', '^none')"
    declare_ 3 --key=id
    [[ $output == *"the table is a Merge, and this user sees no table under it"* ]]
}

# meanwhile STATEMENT…: run once the first read of the rows is held.
meanwhile() {
    ch_fault "when=hold&match=SELECT+%60id%60"
    "$bin/ref-bind" --reference=reference <declared >bound 2>/dev/null || [ $? -le 3 ]
    "$bin/ch-read" --url="$CH_URL" "${asked[@]}" --settle-ms=0 <bound >read.ndjson 2>said 3>&- &
    local pid=$! statement
    ch_fault await=1
    for statement; do ch "$statement"; done
    ch_fault release=1
    wait $pid || true
    ch_fault clear=1
    "$bin/rows-diff" <read.ndjson >diffed 2>>said || [ $? -le 3 ]
    run --separate-stderr from diffed "$bin/verdict"
}

@test "a table that comes, goes or changes under a Merge while it is read makes the answer unavailable" {
    while IFS='|' read -r statement words; do
        ch "DROP DATABASE shop"
        ch "CREATE DATABASE shop"
        under p1 "MergeTree ORDER BY id" "(1, 'a'), (2, 'b')"
        under p2 "MergeTree ORDER BY id" "(3, 'a')"
        under other "MergeTree ORDER BY id" ""
        merged
        declare_ 0 --key=id
        owed
        IFS=';' read -ra statements <<<"$statement"
        meanwhile "${statements[@]}"
        [ "$status" -eq 3 ] || { printf '%s: %s\n' "$statement" "$output" >&2; return 1; }
        says "$words"
    done <<'CASES'
RENAME TABLE shop.other TO shop.p3|table 'p3' came under the Merge
RENAME TABLE shop.p2 TO shop.gone|table 'p2' is gone from under the Merge
EXCHANGE TABLES shop.p2 AND shop.other|table 'p2' under the Merge: the UUID changed
ALTER TABLE shop.p2 ADD COLUMN more Int8|table 'p2' under the Merge: the definition changed
ALTER TABLE shop.p2 DELETE WHERE id = 9 SETTINGS mutations_sync = 2|mutation p2/mutation_2.txt began while the table was read
CASES
}

# whole_ STATUS: as audit, of the whole table, with the log looked at again.
whole_() {
    "$bin/ref-bind" --reference=reference <declared >bound 2>/dev/null || [ $? -le 3 ]
    "$bin/ch-read" --url="$CH_URL" "${asked[@]}" --settle-ms=0 --max-table-rows=100 <bound >read.ndjson 2>said || [ $? -le 3 ]
    { jq -c 'select(.type != "end")' read.ndjson; jq -c 'select(.type == "log") | .again = true' log; } | ended | "$bin/rows-diff" >diffed 2>>said || [ $? -le 3 ]
    run "-$1" --separate-stderr from diffed "$bin/verdict" || { printf '%s\n' "$output" >&2; cat said >&2; return 1; }
}

@test "the whole of a Merge is established where the parts of all its tables are unchanged" {
    under p1 "MergeTree ORDER BY id" "(1, 'a'), (2, 'b')"
    under p2 "MergeTree ORDER BY id" "(3, 'a'), (9, 'z')"
    ch "DELETE FROM shop.p2 WHERE id = 9"
    merged
    declare_ 0 --key=id --coverage=complete-table
    owed
    whole_ 0
    says "coverage      the whole table, 3 rows"
    says "the table was read through a Merge of 2 tables: p1, p2"
    jq -es '.[] | select(.type == "observation") | .table_whole and .parts == {before: 2, after: 2, same: true}' read.ndjson
    ch "INSERT INTO shop.p1 VALUES (77, 'extra')"
    whole_ 1
    says "unexpected 1 rows of 1 keys"
    ch "ALTER TABLE shop.p1 DELETE WHERE id = 77 SETTINGS mutations_sync = 2"
    "$bin/ref-bind" --reference=reference <declared >bound 2>/dev/null || [ $? -le 3 ]
    ch_fault "when=hold&match=SELECT+%60id%60"
    "$bin/ch-read" --url="$CH_URL" "${asked[@]}" --settle-ms=0 --max-table-rows=100 <bound >read.ndjson 2>said 3>&- &
    local pid=$!
    ch_fault await=1
    ch "INSERT INTO shop.p2 VALUES (3, 'a')"
    ch_fault release=1
    wait $pid || true
    ch_fault clear=1
    jq -es 'any(.[]; .name == "destination.coverage" and .code == "parts-changed" and (.reason | test(" of p2 ")))' read.ndjson
}
