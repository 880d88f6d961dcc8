#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ch-read and rows-diff on every type of owed-cells-v2, against the real engine, whose tables and their cells column_types.py makes.
# OWED_CH_LINE=26.7 tries another line.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers

settings='enable_time_time64_type=1&allow_experimental_bfloat16_type=1&flatten_nested=0&allow_suspicious_low_cardinality_types=1&allow_suspicious_fixed_string_types=1'

setup_file() {
    clickhouse_up ${OWED_CH_LINE:+--line="$OWED_CH_LINE"} --user='small:select:max_block_size=3'
    export MADE=$BATS_FILE_TMPDIR/made
    mkdir -p "$MADE"
    [ -n "${CH_LACK:-}" ] || python3 "$BATS_TEST_DIRNAME/column_types.py" "$MADE"
}

setup() {
    clickhouse_need
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    ch "DROP DATABASE IF EXISTS shop"
    ch "CREATE DATABASE shop"
}

teardown_file() { clickhouse_down; }

# stream_for TABLE COLUMNS CELLS ROW…: evidence of the table as it is now, in the file `in`.
stream_for() {
    local table=$1 cols=$2 cells=$3 server uuid
    shift 3
    server=$(ch "SELECT serverUUID() FORMAT TSV")
    uuid=$(ch "SELECT uuid FROM system.tables WHERE database = 'shop' AND name = '$table' FORMAT TSV")
    {
        scope_of "$server" "$uuid" shop "$table" "$cols" "$cells"
        columns_of "$cols" "$cells"
        captured_side "$@"
        checked reconcile.scope passed
    } | whole in
}

# read_as USER STATUS [ARGUMENT…]
read_as() {
    local user=$1 want=$2
    shift 2
    CH_PASSWORD=$(cat "$CH_DIR/secret/$user")
    export CH_PASSWORD
    run "-$want" --separate-stderr from in "$bin/ch-read" --url="$CH_URL" --user="$user" \
        --password-env=CH_PASSWORD --settle-ms=0 "$@" || { printf '%s\n' "$stderr" >&2; return 1; }
}

# Both formats, in blocks of three rows and in one: what is read is what is owed, and rows-diff passes it.
passes() { # FILE OF CELLS
    local format user
    for format in native rowbinary; do
        for user in reader small; do
            read_as "$user" 0 --format=$format
            diff <(sort "$1") <(read_rows 1 | sort)
            printf '%s\n' "$output" >seen
            run -0 --separate-stderr from seen "$bin/rows-diff"
            [ "$(check)" = passed ]
        done
    done
}

@test "every type reads as its cell, in both formats and in several blocks, and passes" {
    ch "$(cat "$MADE/create.sql")" "$settings"
    ch "$(cat "$MADE/insert-0.sql")" "$settings"
    ch "$(cat "$MADE/insert-1.sql")" "$settings"
    mapfile -t rows <"$MADE/rows"
    stream_for kinds "$(cat "$MADE/columns.json")" owed-cells-v2 "${rows[@]}"
    passes "$MADE/rows"
}

@test "a value of a column differs, in either format: changed, and a person reads both" {
    ch "CREATE TABLE shop.one (k Int64, m Map(String, Array(UInt8)), e Enum8('a' = 1, 'b' = 2)) ENGINE = MergeTree ORDER BY k"
    ch "INSERT INTO shop.one VALUES (1, map('x', [1, 2]), 'a'), (2, map('x', [1], 'y', []), 'b')"
    stream_for one '[{"name":"k","type":"Int64","key":true},{"name":"m","type":"Map(String, Array(UInt8))"},{"name":"e","type":"Enum8('"'a' = 1, 'b' = 2"')"}]' \
        owed-cells-v2 '["1",[["x",["1","3"]]],"a"]' '["2",[["x",["1"]],["y",[]]],"a"]'
    for format in native rowbinary; do
        read_as reader 0 --format=$format
        printf '%s\n' "$output" >seen
        run -1 --separate-stderr from seen "$bin/rows-diff"
        [ "$(findings | jq -c '[.[0], .[1]]' | sort | tr -d '\n')" = '["changed",["1"]]["changed",["2"]]' ]
        printf '%s\n' "$output" >compared
        run --separate-stderr from compared "$bin/verdict"
        [[ $output == *'m owed {"x": [1, 3]}, found {"x": [1, 2]}'* ]]
        [[ $output == *'e owed "a", found "b"'* ]]
    done
}

@test "a key of every type that may be one finds its row and no other" {
    for f in "$MADE"/key*.json; do
        table=$(basename "$f" .json)
        ch "$(cat "$MADE/$table.sql")" "$settings"
        ch "$(cat "$MADE/$table-insert.sql")" "$settings"
        mapfile -t rows <"$MADE/$table"
        cells=owed-cells-v2
        [[ $(jq -r '.[0].type' "$f") =~ ^(Date|Decimal|Bool) ]] && cells=clink-canonical-cells-v1
        # All of them, those at the ends, and one between.
        for some in all ends one; do
            case $some in
                all) wanted=("${rows[@]}") ;;
                ends) wanted=("${rows[0]}" "${rows[-1]}") ;;
                one) wanted=("${rows[1]}") ;;
            esac
            stream_for "$table" "$(cat "$f")" "$cells" "${wanted[@]}"
            for format in native rowbinary; do
                for way in --max-line=64M --keys-only; do
                    read_as reader 0 --format=$format $way
                    diff <(printf '%s\n' "${wanted[@]}" | sort) <(read_rows 1 | sort)
                done
            done
            ch_fault "when=error&match=SELECT+toString%28reinterpret"
            ch_fault "when=error&match=SELECT+toString%28CAST"
            read_as reader 0 --keys-only
            ch_fault clear=1
            diff <(printf '%s\n' "${wanted[@]}" | sort) <(read_rows 1 | sort)
        done
    done
}

@test "F12: a table named by a sensor and an instant, in the table's order" {
    ch "CREATE TABLE shop.sensed (ts DateTime64(3, 'UTC'), sensor String, v Float64) ENGINE = MergeTree ORDER BY (sensor, ts)"
    ch "INSERT INTO shop.sensed VALUES ('2024-03-10 07:00:00.001', 'a', 1.5), ('2024-03-10 07:00:00.002', 'a', 2), ('1969-12-31 23:59:59.999', 'b', 0)"
    cols='[{"name":"ts","type":"DateTime64(3, '"'UTC'"')","key":true,"from":"ms"},{"name":"sensor","type":"String","key":true},{"name":"v","type":"Float64"}]'
    stream_for sensed "$cols" clink-canonical-cells-v1 '["1710054000002","a","4000000000000000"]' '["-1","b","0000000000000000"]' '["-1","a","0000000000000000"]'
    for format in native rowbinary; do
        read_as reader 0 --format=$format
        [ "$(read_rows 1 | sort)" = $'["-1","b","0000000000000000"]\n["1710054000002","a","4000000000000000"]' ]
    done
}

@test "what a column stores and its type's range does not hold has a cell and does not end the read" {
    ch "$(cat "$MADE/stored.sql")" "$settings"
    ch_curl default 'query=INSERT+INTO+shop.stored+FORMAT+RowBinary' --fail-with-body --data-binary @"$MADE/stored.bin"
    stream_for stored "$(cat "$MADE/stored.json")" owed-cells-v2 "$(cat "$MADE/stored")"
    for format in native rowbinary; do
        read_as reader 0 --format=$format
        diff "$MADE/stored" <(read_rows 1)
        # No owed value comes to such a cell: a row of an owed side that has one was not made from a value.
        printf '%s\n' "$output" >seen
        run -2 --separate-stderr from seen "$bin/rows-diff"
        [[ $stderr == *"line "*"column '"* ]]
    done
}

@test "a Map of equal pairs in any order is one value, and one pair more or less is another" {
    ch "CREATE TABLE shop.maps (k Int64, m Map(String, UInt8)) ENGINE = MergeTree ORDER BY k"
    ch "INSERT INTO shop.maps VALUES (1, map('b', 1, 'a', 2, 'a', 2)), (2, map('a', 2, 'b', 1))"
    stream_for maps '[{"name":"k","type":"Int64","key":true},{"name":"m","type":"Map(String, UInt8)"}]' owed-cells-v2 \
        '["1",[["a","2"],["a","2"],["b","1"]]]' '["2",[["a","2"],["a","2"],["b","1"]]]'
    for format in native rowbinary; do
        read_as reader 0 --format=$format
        [ "$(read_rows 1 | sort | tr -d '\n')" = '["1",[["a","2"],["a","2"],["b","1"]]]["2",[["a","2"],["b","1"]]]' ]
    done
}

@test "types without cells are unsupported by name, and so is a key of a type that holds others" {
    while IFS='|' read -r type said; do
        ch "DROP TABLE IF EXISTS shop.other"
        ch "CREATE TABLE shop.other (id Int64, c $type) ENGINE = MergeTree ORDER BY id" "$settings&allow_experimental_nullable_tuple_type=1&allow_experimental_qbit_type=1&enable_nullable_tuple_type=1" ||
            ch "CREATE TABLE shop.other (id Int64, c $type) ENGINE = MergeTree ORDER BY id" "allow_experimental_nullable_tuple_type=1"
        stream_for other "$(jq -cn --arg t "$said" '[{name: "id", type: "Int64", key: true}, {name: "c", type: $t}]')" clink-canonical-cells-v1 '["1","x"]'
        read_as reader 3
        check_is unsupported "column 'c' is $said, a type without cells" column-type-unsupported
    done <<'TYPES'
Variant(String, UInt8)|Variant(String, UInt8)
Dynamic|Dynamic
Array(Variant(String, UInt8))|Array(Variant(String, UInt8))
AggregateFunction(sum, UInt64)|AggregateFunction(sum, UInt64)
IntervalDay|IntervalDay
Nullable(Tuple(Int8))|Nullable(Tuple(Int8))
TYPES
    ch "CREATE TABLE shop.held (k Array(Int8), v Int64) ENGINE = MergeTree ORDER BY v"
    stream_for held '[{"name":"k","type":"Array(Int8)","key":true},{"name":"v","type":"Int64"}]' owed-cells-v2 '[["1"],"1"]'
    read_as reader 3
    check_is unsupported "key column 'k' is Array(Int8), which cannot be a key" key-unsupported
}
