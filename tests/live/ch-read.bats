#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ch-read against the real engine: values, identity, form, stability, bounds, users. OWED_CH_LINE=26.7 tries another line.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers

columns='[{"name":"id","type":"Int64","key":true},{"name":"s","type":"String"}]'

setup_file() {
    clickhouse_up ${OWED_CH_LINE:+--line="$OWED_CH_LINE"} --user='narrow:full:limit=1,offset=1,additional_result_filter=id>1,max_block_size=7' --user='hidden:full:extremes=1,apply_deleted_mask=0,apply_patch_parts=0,final=1' \
        --user='assuming:full:optimize_using_constraints=1,convert_query_to_cnf=1,optimize_append_index=1,optimize_substitute_columns=1' \
        --user='cached:full:use_query_cache=1,query_cache_min_query_runs=0,use_query_condition_cache=1' \
        --user='zoned:select:session_timezone=Asia/Tokyo' --user='capt:select:max_execution_time==5' --user='short_text:select:max_query_size==262144' \
        --user='few_in_set:select:max_rows_in_set=5,max_bytes_in_set=10,set_overflow_mode=break,transform_null_in=1,use_index_for_in_with_subqueries=0'
}

setup() {
    clickhouse_need
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    ch "DROP DATABASE IF EXISTS shop"
    ch "CREATE DATABASE shop"
}

teardown() { [ -n "${CH_LACK:-}" ] || ch_fault clear=1; }

teardown_file() { clickhouse_down; }

server_uuid() { ch "SELECT serverUUID() FORMAT TSV"; }
table_uuid() { ch "SELECT uuid FROM system.tables WHERE database = 'shop' AND name = '$1' FORMAT TSV"; }

# stream_for TABLE COLUMNS CELLS…: a whole input, as evidence of the table as it is now would give it, in the file `in`.
stream_for() {
    local table=$1 cols=$2
    shift 2
    {
        scope_of "$(server_uuid)" "$(table_uuid "$table")" shop "$table" "$cols"
        columns_of "$cols"
        captured_side "$@"
        checked reconcile.scope passed
    } | whole in
}

orders() { # [ENGINE]: three rows
    ch "CREATE TABLE shop.orders (id Int64, s String) ENGINE = ${1:-MergeTree ORDER BY id}"
    ch "INSERT INTO shop.orders VALUES (1, 'one'), (2, 'two'), (3, 'three'), (9, 'not owed')"
    stream_for orders "$columns" '["1","x"]' '["2","x"]' '["3","x"]' '["4","x"]'
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

# between_reads COMMAND…: it runs while the next read's first answer, which no count is, is held back; $held is what to wait for.
between_reads() {
    ch_fault "when=withhold&match=%60+FROM+%60shop"
    while_held "$@" 3>&- &
    held=$!
}

three='["1","one"]
["2","two"]
["3","three"]'

@test "the owed keys' rows, twice, with identity, settings and clocks" {
    orders
    for format in native rowbinary; do
        read_as reader 0 --format=$format
        check_is passed ""
        sides_whole true
        [ "$(read_rows 1)" = "$three" ]
        [ "$(read_rows 2)" = "$three" ]
        jq -se --arg uuid "$(server_uuid)" '.[] | select(.type == "observation") |
            .stable and .unstable == [] and .server_uuid == $uuid and .engine == "MergeTree" and .line_tested and .keys == 4 and
            .settings.readonly == "2" and .settings.result_overflow_mode == "throw" and .settings.apply_patch_parts == "1" and
            .reads[1].rows == 3 and .finished.server_ms >= .started.server_ms and .started.client_ms > 1700000000000' <<<"$output"
    done
}

@test "every type reads as its canonical cell, in both formats" {
    ch "CREATE TABLE shop.types (k Int64, i8 Int8, i16 Int16, i32 Int32, i128 Int128, i256 Int256, u8 UInt8, u16 UInt16,
        u32 UInt32, u64 UInt64, u128 UInt128, u256 UInt256, f32 Float32, f64 Float64, d9 Decimal(9, 2), d18 Decimal(18, 4),
        d38 Decimal(38, 10), d76 Decimal(76, 20), da Date, da32 Date32, dt DateTime('America/Toronto'), dt6 DateTime64(6, 'UTC'),
        dt9 DateTime64(9), b Bool, s String, lc LowCardinality(String), lcn LowCardinality(Nullable(String)),
        n Nullable(Decimal(18, 4)), nf Nullable(Float64)) ENGINE = MergeTree ORDER BY k"
    ch "INSERT INTO shop.types SELECT 1, -128, -32768, -2147483648, toInt128('-170141183460469231731687303715884105728'),
        toInt256('-57896044618658097711785492504343953926634992332820282019728792003956564819968'), 255, 65535, 4294967295,
        18446744073709551615, toUInt128('340282366920938463463374607431768211455'),
        toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935'), nan, -0., '-0.01', '12.3',
        '-1234567890123456789012345678.0123456789', '1', '2149-06-06', '1900-01-01', 1636261200,
        fromUnixTimestamp64Micro(-500000), fromUnixTimestamp64Nano(9223372036854775807), true, unhex('FF41'),
        unhex('6122625C630A01'), NULL, NULL, nan"
    ch "INSERT INTO shop.types SELECT 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 146.4748, -inf, 4, 0, 0, 0, '1970-01-01', '2299-12-31', 0,
        fromUnixTimestamp64Micro(253402300799999999), fromUnixTimestamp64Nano(-1), false, '', unhex('D0B6'), '', '-0.5', NULL"
    cols=$(ch "SELECT name, type FROM system.columns WHERE database = 'shop' AND table = 'types' ORDER BY position FORMAT JSONEachRow" |
        jq -cs 'map(. + {key: (.name == "k")} + if .type | test("^Date") then {from: "ticks"} else {} end)')
    stream_for types "$cols" "$(jq -cn '["1"] + [range(28) | "0"]' | sed 's/"0"/null/g')" "$(jq -cn '["2"] + [range(28) | null]')"
    want='["1","-128","-32768","-2147483648","-170141183460469231731687303715884105728","-57896044618658097711785492504343953926634992332820282019728792003956564819968","255","65535","4294967295","18446744073709551615","340282366920938463463374607431768211455","115792089237316195423570985008687907853269984665640564039457584007913129639935","nan","8000000000000000","-1","123000","-12345678901234567890123456780123456789","100000000000000000000","65535","-25567","1636261200","-500000","9223372036854775807","true",{"b64":"/0E="},"a\"b\\c\n\u0001",null,null,"nan"]
["2","0","0","0","0","0","0","0","0","0","0","0","4312798c","fff0000000000000","400","0","0","0","0","120529","0","253402300799999999","-1","false","","ж","","-5000",null]'
    for format in native rowbinary; do
        read_as reader 0 --format=$format
        diff <(printf '%s\n' "$want") <(read_rows 1 | sort)
        [ "$(read_rows 1 | sort)" = "$(read_rows 2 | sort)" ]
    done
}

@test "columns that the table stores sparse read as their values" {
    ch "CREATE TABLE shop.sparse (id Int64, z Int64, s String) ENGINE = MergeTree ORDER BY id
        SETTINGS ratio_of_defaults_for_sparse_serialization = 0.5"
    ch "INSERT INTO shop.sparse SELECT number, if(number = 7, 70, 0), if(number = 8, 'x', '') FROM numbers(100)"
    [[ $(ch "SELECT DISTINCT serialization_kind FROM system.parts_columns WHERE database = 'shop' AND column IN ('z', 's') FORMAT TSV") == Sparse ]]
    stream_for sparse '[{"name":"id","type":"Int64","key":true},{"name":"z","type":"Int64"},{"name":"s","type":"String"}]' \
        '["6","0","0"]' '["7","0","0"]' '["8","0","0"]'
    for format in native rowbinary; do
        read_as reader 0 --format=$format
        [ "$(read_rows 1)" = $'["6","0",""]\n["7","70",""]\n["8","0","x"]' ]
    done
}

@test "String keys of any bytes find their rows and no others" {
    ch "CREATE TABLE shop.texts (k LowCardinality(String), v Int64) ENGINE = MergeTree ORDER BY k"
    ch "INSERT INTO shop.texts SELECT unhex(h), number FROM (SELECT arrayJoin(['', '27', '5C', '5C27', '00', '6100', '610062', '0A', 'FF41',
        'FE41', 'EFBFBD41', 'D0B6', '60', '2D2D', '2F2A', '3B', '25', '4927206F722031']) AS h, rowNumberInAllBlocks() AS number)"
    ch "INSERT INTO shop.texts VALUES ('other', 99), ('a', 98), ('A', 97)"
    stream_for texts '[{"name":"k","type":"LowCardinality(String)","key":true},{"name":"v","type":"Int64"}]' \
        '["","1"]' "[\"'\",\"1\"]" '["\\","1"]' "[\"\\\\'\",\"1\"]" '["\u0000","1"]' '["a\u0000","1"]' '["a\u0000b","1"]' '["\n","1"]' \
        '[{"b64":"/0E="},"1"]' '[{"b64":"/kE="},"1"]' '["�A","1"]' '["ж","1"]' '["`","1"]' '["--","1"]' '["/*","1"]' '[";","1"]' '["%","1"]' \
        "[\"I' or 1\",\"1\"]"
    read_as reader 0
    read_rows 1 >&2
    [ "$(read_rows 1 | wc -l)" -eq 18 ]
    [ -z "$(read_rows 1 | grep -E '"(other|a|A)"' || true)" ]
    [ "$(read_rows 1 | jq -c '.[0]' | sort -u | wc -l)" -eq 18 ]
}

@test "wide and composite integer keys find their rows" {
    ch "CREATE TABLE shop.wide (a Int256, b String, c UInt64, v Int8) ENGINE = MergeTree ORDER BY (c, a)"
    ch "INSERT INTO shop.wide VALUES ('-57896044618658097711785492504343953926634992332820282019728792003956564819968', 'x', 18446744073709551615, 1),
        ('1', '23', 0, 2), ('12', '3', 0, 3), ('1', '23', 1, 4)"
    stream_for wide '[{"name":"a","type":"Int256","key":true},{"name":"b","type":"String","key":true},{"name":"c","type":"UInt64","key":true},{"name":"v","type":"Int8"}]' \
        '["-57896044618658097711785492504343953926634992332820282019728792003956564819968","x","18446744073709551615","0"]' \
        '["1","23","0","0"]' '["1","2","30","0"]'
    read_as reader 0
    [ "$(read_rows 1 | jq -c '.[3]' | sort | tr -d '\n')" = '"1""2"' ]
    stream_for wide '[{"name":"a","type":"Int256","key":true},{"name":"b","type":"String","key":true},{"name":"c","type":"UInt64","key":true},{"name":"v","type":"Int8"}]' \
        '["12","3","0","0"]'
    read_as reader 0
    [ "$(read_rows 1)" = '["12","3","0","3"]' ]
}

# read_stat MEMBER: of the first read, as the observation has it.
read_stat() { jq "select(.type == \"observation\") | .reads[0].$1" <<<"$output"; }

# many KEYS ROWS [STEP]: a table of so many rows, and a stream that owes each STEPth key, as text or number.
many() {
    local type=$1 rows=$2 step=${3:-1} text=
    [ "$type" = Int64 ] || text='a key of some length, number '
    ch "DROP TABLE IF EXISTS shop.many"
    ch "CREATE TABLE shop.many (k $type, v Int64) ENGINE = MergeTree ORDER BY k"
    ch "INSERT INTO shop.many SELECT $([ -z "$text" ] || echo "'$text' || toString(")number$([ -z "$text" ] || echo ")"), number FROM numbers($rows)"
    cols='[{"name":"k","type":"'$type'","key":true},{"name":"v","type":"Int64"}]'
    awk -v n="$rows" -v step="$step" -v text="$text" 'BEGIN { for (i = 0; i < n; i += step) printf "[\"%s%d\",\"%d\"]\n", text, i, i }' | sort >owed
    {
        scope_of "$(server_uuid)" "$(table_uuid many)" shop many "$cols"
        columns_of "$cols"
        sed 's/.*/{"type":"row","side":"captured","cells":&}/' owed
        checked reconcile.scope passed
    } | whole in
}

@test "how the keys are read is chosen by counting: a range of few other rows, which are passed over, else the keys alone" {
    for type in Int64 String; do
        most=$([ $type = Int64 ] && echo 2 || echo 5)
        for format in native rowbinary; do
            for step in 1 $most $((most + 1)); do
                [ $format = native ] || [ "$step" = "$most" ] || continue
                many $type 6000 "$step"
                read_as reader 0 --format=$format
                cmp owed <(read_rows 1 | sort)
                cmp owed <(read_rows 2 | sort)
                if [ "$step" -le "$most" ]; then
                    [ "$(read_stat ranges)" -eq 1 ] && [ "$(read_stat passed_over)" -gt $((step > 1 ? 1000 : -1)) ]
                else
                    [ "$(read_stat ranges)" -eq 0 ] && [ "$(read_stat passed_over)" -eq 0 ]
                fi
            done
            read_as reader 0 --format=$format --keys-only
            cmp owed <(read_rows 1 | sort)
            [ "$(read_stat ranges)" -eq 0 ]
        done
    done
    # Where they lie close a range, elsewhere none; the row in the middle is one of many copies.
    many Int64 3000
    ch "INSERT INTO shop.many SELECT 3000 + number * 100, number FROM numbers(3000)"
    ch "INSERT INTO shop.many SELECT 1500, 7 FROM numbers(3000)"
    read_as reader 0 --keys-per-query=1000
    [ "$(read_rows 1 | sort -u | wc -l)" -eq 3001 ] && [ "$(read_rows 1 | wc -l)" -eq 6000 ]
    [ "$(read_stat ranges)" -eq 2 ] && [ "$(read_stat queries)" -eq 3 ]
}

@test "a table whose key, partitions or index are conversions that wrap loses no row" {
    for by in 'ORDER BY toInt64(k)' 'PARTITION BY toUInt8(k) ORDER BY v' 'INDEX i toInt64(k) TYPE minmax GRANULARITY 1'; do
        index=
        case $by in INDEX*) index=", $by" by='ORDER BY v' ;; esac
        ch "DROP TABLE IF EXISTS shop.wraps"
        ch "CREATE TABLE shop.wraps (k UInt64, v Int64$index) ENGINE = MergeTree $by SETTINGS index_granularity = 16"
        ch "INSERT INTO shop.wraps SELECT 9223372036854775000 + number, number FROM numbers(3000)" max_partitions_per_insert_block=0
        mapfile -t owed < <(seq -f '["9223372036854%.0f","0"]' 775000 777999)
        stream_for wraps '[{"name":"k","type":"UInt64","key":true},{"name":"v","type":"Int64"}]' "${owed[@]}"
        for way in --keys-only --max-line=64M --keys-per-query=1300; do
            read_as reader 0 $way
            [ "$(read_rows 1 | sort -u | wc -l)" -eq 3000 ]
        done
    done
}

@test "a time is looked for in its column's zone: a table that is cut by hours or days loses no row" {
    for type in "DateTime('Asia/Kolkata')" DateTime "DateTime64(3, 'America/St_Johns')"; do
        for by in 'PARTITION BY toHour(k) ORDER BY v' 'PARTITION BY toDate(k) ORDER BY v' 'ORDER BY toHour(k)'; do
            ch "DROP TABLE IF EXISTS shop.times"
            ch "CREATE TABLE shop.times (k $type, v Int64) ENGINE = MergeTree $by SETTINGS index_granularity = 1"
            ch "INSERT INTO shop.times SELECT toDateTime(1700000000 + 3600 * number), number FROM numbers(48)"
            ticks=1700003600
            [[ $type != DateTime64* ]] || ticks+=000
            stream_for times "$(jq -cn --arg t "$type" '[{name: "k", type: $t, key: true, from: "ticks"}, {name: "v", type: "Int64"}]')" "[\"$ticks\",\"0\"]"
            for user in reader zoned; do
                for way in --keys-only --max-line=64M; do
                    read_as $user 0 $way
                    [ "$(read_rows 1)" = "[\"$ticks\",\"1\"]" ]
                done
            done
        done
    done
}

@test "a statement is raised to what its keys need, and holds fewer for a user who may not raise it" {
    many String 25000
    read_as reader 0 --keys-only
    cmp owed <(read_rows 2 | sort)
    [ "$(read_stat queries)" -eq 1 ]
    jq -se '.[] | select(.type == "observation") | .settings.max_query_size == "16777216"' <<<"$output"
    read_as short_text 0 --keys-only
    cmp owed <(read_rows 2 | sort)
    [ "$(read_stat queries)" -gt 3 ]
    jq -se '.[] | select(.type == "observation") | .settings | has("max_query_size") | not' <<<"$output"
    read_as short_text 0
    cmp owed <(read_rows 2 | sort)
}

@test "a set that its user's profile would break is whole, and many keys' rows past a bound are asked for in two statements" {
    many Int64 20000 10
    read_as few_in_set 0
    cmp owed <(read_rows 1 | sort)
    many Int64 20000
    read_as few_in_set 0 --keys-only
    cmp owed <(read_rows 1 | sort)
    read_as reader 0 --keys-only --max-rows-per-query=10000
    cmp owed <(read_rows 1 | sort)
    [ "$(read_stat queries)" -eq 3 ]
    read_as reader 3 --keys-only --max-rows-per-query=9999
    check_is unavailable "396" server-bound
}

@test "a text key of any bytes finds its row and no other, in whichever way it is asked for" {
    python3 - <<'PY'
import base64, json
special = [b"\\", b"'", b'"', b"\n", b"\0", b"\xff", b",", b"[", b"]", b"\\N", b"\\x00", b"\xc3\xa9", b"`", b"N", b"0", b"x41"]
keys = {b""} | {bytes([b]) for b in range(256) if b != 127} | {a + b for a in special for b in special} | {a + b + c for a in special[:6] for b in special[:6] for c in special[:6]}
keys = sorted(keys)
def cell(k):
    try:
        return json.dumps(k.decode(), ensure_ascii=False)
    except UnicodeDecodeError:
        return json.dumps({"b64": base64.b64encode(k).decode()}, separators=(",", ":"))
open("insert", "w").write("INSERT INTO shop.bytes SELECT unhex(t.1), t.2 FROM (SELECT arrayJoin([" + ",".join("('%s',%d)" % (k.hex(), i) for i, k in enumerate(keys)) + "]) AS t)")
rows = ["[%s,\"%d\"]\n" % (cell(k), i) for i, k in enumerate(keys)]
open("every-other", "w").write("".join(rows[::2]))
open("few", "w").write("".join(rows[::9]))
PY
    cols='[{"name":"k","type":"String","key":true},{"name":"v","type":"Int64"}]'
    for type in String 'LowCardinality(String)'; do
        ch "DROP TABLE IF EXISTS shop.bytes"
        ch "CREATE TABLE shop.bytes (k $type, v Int64) ENGINE = MergeTree ORDER BY k"
        ch "$(cat insert)"
        for owed in every-other few; do
            mapfile -t rows <$owed
            stream_for bytes "${cols/String/$type}" "${rows[@]}"
            for way in '' --keys-only literals; do
                for format in native rowbinary; do
                    [ "$way" != literals ] || ch_fault "when=error&match=toString%28CAST"
                    read_as reader 0 --format=$format "$([ "$way" = '' ] && echo --max-rows-per-query=5000 || echo --keys-only)"
                    cmp <(sort $owed) <(read_rows 1 | sort)
                    [ "$owed$way" != every-other ] || [ "$(read_stat ranges)" -eq 1 ]
                done
            done
        done
    done
}

@test "unfit keys are not asked for, and duplicates in the table all come" {
    orders
    ch "INSERT INTO shop.orders VALUES (1, 'one'), (1, 'uno')"
    stream_for orders "$columns" '["1","x"]' '[{"unfit":"1.5"},"x"]'
    read_as reader 0
    [ "$(read_rows 1 | sort | tr -d '\n')" = '["1","one"]["1","one"]["1","uno"]' ]
    jq -se '.[] | select(.type == "observation") | .unfit_keys == 1 and .keys == 1' <<<"$output"
    stream_for orders "$columns"
    read_as reader 3
    check_is unavailable "no row is owed" scope-empty
    [ -z "$(read_rows 1)" ]
}

@test "another server, a recreated table: refused, both values named" {
    orders
    old=$(table_uuid orders)
    cp in mine
    sed "s/$(server_uuid)/11111111-2222-3333-4444-555555555555/" mine >in
    sum=$(jq -c 'select(.type == "scope") | .document | del(.scope_sha256)' in | jq -cjS . | sha256sum | cut -d' ' -f1)
    jq -c --arg sum "$sum" 'if .type == "scope" then .document.scope_sha256 = $sum else . end' in >in.new
    mv in.new in
    read_as reader 2
    [[ $stderr == *"$(server_uuid)"*11111111-2222-3333-4444-555555555555* ]]
    [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = refused ]
    [ -z "$(read_rows 1)" ]
    ch "DROP TABLE shop.orders"
    ch "CREATE TABLE shop.orders (id Int64, s String) ENGINE = MergeTree ORDER BY id"
    cp mine in
    read_as reader 2
    [[ $stderr == *"$(table_uuid orders)"*"$old"* ]]
    ch "DROP TABLE shop.orders"
    read_as reader 3
    check_is unavailable "no table \`shop\`.\`orders\`" table-missing
    sides_whole false
}

@test "a table altered between the two reads decides nothing, and shows what was seen" {
    orders
    between_reads ch "ALTER TABLE shop.orders ADD COLUMN later Int8"
    read_as reader 3
    wait "$held"
    check_is unavailable "the table's definition changed" definition-changed
    sides_whole true
    [ "$(read_rows 1)" = "$three" ]
    jq -se '.[] | select(.type == "observation") | .stable == false and .unstable == ["the table'"'"'s definition changed"]' <<<"$output"
}

@test "a mutation in progress, before the reads or begun between them" {
    orders
    ch "ALTER TABLE shop.orders UPDATE s = 'done' WHERE id = 3 SETTINGS mutations_sync = 1"
    read_as reader 0
    jq -se '.[] | select(.type == "observation") | .mutations | length == 1 and .[0].done' <<<"$output"
    ch "SYSTEM STOP MERGES shop.orders"
    ch "ALTER TABLE shop.orders UPDATE s = 'new' WHERE id = 1 SETTINGS mutations_sync = 0"
    read_as reader 3
    check_is unavailable "in progress" mutation-running
    [ "$(read_rows 1 | head -n 1)" = '["1","one"]' ]
    ch "SYSTEM START MERGES shop.orders"
    ch "DROP TABLE shop.orders"
    orders
    ch "SYSTEM STOP MERGES shop.orders"
    between_reads ch "ALTER TABLE shop.orders DELETE WHERE id = 2 SETTINGS mutations_sync = 0"
    read_as reader 3
    wait "$held"
    check_is unavailable "began while the table was read" mutation-running
    ch "SYSTEM START MERGES shop.orders"
}

@test "lightweight deletes and updates are read as they are, whatever the profile says" {
    orders
    ch "DELETE FROM shop.orders WHERE id = 2"
    read_as hidden 0
    [ "$(read_rows 1)" = $'["1","one"]\n["3","three"]' ]
    ch "DROP TABLE shop.orders"
    orders "MergeTree ORDER BY id SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1"
    ch "UPDATE shop.orders SET s = 'patched' WHERE id = 2" enable_lightweight_update=1
    [ "$(ch "SELECT s FROM shop.orders WHERE id = 2 FORMAT TSV" apply_patch_parts=0)" = two ]
    read_as hidden 0
    [ "$(read_rows 1 | sed -n 2p)" = '["2","patched"]' ]
}

@test "F09: rows that a done mutation deleted are missing under its name and time, whichever way they were deleted" {
    for statement in 'DELETE FROM shop.orders WHERE true' 'ALTER TABLE shop.orders DELETE WHERE true SETTINGS mutations_sync = 2'; do
        orders
        ch "$statement"
        read_as reader 0
        run "$bin/rows-diff" <<<"$output"
        [ "$status" -eq 1 ]
        jq -se '[.[] | select(.name == "reconcile.rows")] | length == 1 and .[0].code == "rows-deleted" and
            (.[0].reason | test("; mutation mutation_[0-9]+.txt of 20[0-9-]+T[0-9:.]+Z, which is done, deletes rows of the table"))' <<<"$output"
        ch 'DROP TABLE shop.orders'
    done
}

@test "the second read is not answered from the first" {
    orders
    between_reads ch "INSERT INTO shop.orders VALUES (4, 'late')"
    read_as cached 0
    wait "$held"
    [ "$(read_rows 1 | sort)" = "$(sort <<<"$three")" ]
    [ "$(read_rows 2 | sort)" = "$(sort <<<"$three"$'\n["4","late"]')" ] || { read_rows 2 >&2; return 1; }
}

@test "profiles that cut results do not cut these" {
    ch "CREATE TABLE shop.orders (id Int64, s String) ENGINE = MergeTree ORDER BY id"
    ch "INSERT INTO shop.orders SELECT number, 'x' FROM numbers(3000)"
    {
        scope_of "$(server_uuid)" "$(table_uuid orders)" shop orders "$columns"
        columns_of "$columns"
        awk 'BEGIN { for (i = 0; i < 3000; i++) printf "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"%d\",\"x\"]}\n", i }'
        checked reconcile.scope passed
    } | whole in
    for user in short narrow; do
        read_as $user 0
        [ "$(read_rows 1 | wc -l)" -eq 3000 ]
    done
}

@test "constraints that are assumed, projections and computed columns change nothing that is read" {
    orders
    ch "ALTER TABLE shop.orders ADD CONSTRAINT more ASSUME id > 2"
    ch "ALTER TABLE shop.orders ADD COLUMN twice Int64 MATERIALIZED id * 2, ADD COLUMN thrice Int64 ALIAS id * 3, ADD COLUMN five Int64 DEFAULT 5"
    ch "ALTER TABLE shop.orders ADD PROJECTION by_s (SELECT * ORDER BY s)"
    ch "ALTER TABLE shop.orders MATERIALIZE PROJECTION by_s SETTINGS mutations_sync = 1"
    for user in reader assuming; do
        read_as "$user" 0
        [ "$(read_rows 1)" = "$three" ]
        jq -se '[.[] | select(.type == "observation") | .settings][0] | .optimize_using_constraints == "0" and .optimize_use_projections == "0"' <<<"$output"
    done
    ch "ALTER TABLE shop.orders DETACH PARTITION tuple()"
    read_as reader 0
    [ -z "$(read_rows 1)" ]
}

@test "a view in the table's place, of any kind, is refused or unsupported by name" {
    orders
    ch "CREATE VIEW shop.seen AS SELECT * FROM shop.orders"
    ch "CREATE MATERIALIZED VIEW shop.kept ENGINE = MergeTree ORDER BY id POPULATE AS SELECT * FROM shop.orders"
    ch "CREATE TABLE shop.merged AS shop.orders ENGINE = Merge('shop', '^orders$')"
    for table in seen:View kept:MaterializedView merged:Merge; do
        stream_for "${table%:*}" "$columns" '["1","x"]'
        read_as reader 3
        check_is unsupported "the table's engine is ${table#*:}," engine-unsupported
    done
    stream_for orders "$columns" '["1","x"]'
    ch "DROP TABLE shop.orders"
    ch "CREATE VIEW shop.orders AS SELECT toInt64(1) AS id, 'one' AS s"
    read_as reader 2
    [[ $stderr == *"the table's UUID is"* ]]
}

@test "bounds: rows, time, a key too long; each by its name" {
    orders
    read_as reader 3 --max-rows-per-query=2
    check_is unavailable "more rows than --max-rows-per-query, 2" server-bound
    sides_whole false
    read_as reader 3 --max-rows-per-query=2 --keys-only
    check_is unavailable "396" server-bound
    sides_whole false
    ch_fault "when=hold&n=9&match=%60+FROM+%60shop"
    read_as reader 3 --query-timeout-ms=300
    check_is unavailable "no whole answer within 300 ms" answer-late
    ch_fault clear=1
    ch "CREATE TABLE shop.long (id String) ENGINE = MergeTree ORDER BY id"
    stream_for long '[{"name":"id","type":"String","key":true}]' "[\"$(head -c 60000 /dev/zero | tr '\0' x)\"]" \
        "[\"$(head -c 60000 /dev/zero | tr '\0' y)$(head -c 60000 /dev/zero | tr '\0' z)\"]"
    read_as reader 0
    head -c 270000 /dev/zero | tr '\0' x >text
    {
        sed '/"row"/d; /"end"/d; 1d' in
        printf '{"type":"row","side":"reference","cells":["%s"]}\n' "$(cat text)"
    } | whole in.new
    mv in.new in
    read_as short_text 3
    check_is unavailable "max_query_size" statement-too-long
    read_as reader 0
}

@test "C14: users without settings or rights, a wrong password, nobody; no credential anywhere" {
    orders
    read_as readonly1 3
    check_is unavailable "may not send settings" settings-not-allowed
    # F07: a profile that fixes the time of a statement.
    read_as capt 3
    check_is unavailable "max_execution_time is fixed for this user: give --query-timeout-ms as the profile has it" setting-fixed
    [ "$(jq -r 'select(.name == "reconcile.destination") | .facts.option' <<<"$output")" = --query-timeout-ms ]
    read_as capt 0 --query-timeout-ms=5000
    CH_PASSWORD='hunter2/+ x' run -3 --separate-stderr from in "$bin/ch-read" --url="$CH_URL" --user=reader --password-env=CH_PASSWORD
    check_is unavailable "connecting" login-refused
    [[ $output$stderr != *hunter2* ]] && [[ $output$stderr != *aHVudGVyMi8rIHg=* ]]
    printf 'hunter2/+ x\n' >secret
    run -3 --separate-stderr from in "$bin/ch-read" --url="$CH_URL" --user=reader --password-file=secret
    [[ $output$stderr != *hunter2* ]]
    run -3 --separate-stderr from in "$bin/ch-read" --url="$CH_URL" --user=nobody --password-file=secret
    check_is unavailable "connecting"
    read_as reader 0
    secret=$(cat "$CH_DIR/secret/reader")
    [[ $output$stderr != *$secret* ]] && [[ $output$stderr != *$(printf %s "$secret" | base64 -w0)* ]]
}

@test "a table's definition and its mutations are observed without what looks like a credential" {
    ch "CREATE TABLE shop.told (id Int64, s String DEFAULT 'https://ops:hunter2-a@db.example/x' COMMENT 'password=hunter2-b') ENGINE = MergeTree ORDER BY id"
    ch "INSERT INTO shop.told VALUES (1, 'x')"
    ch "ALTER TABLE shop.told UPDATE s = 'token=hunter2-c' WHERE s = 'https://ops:hunter2-d@db.example/x'" mutations_sync=1
    stream_for told "$columns" '["1","x"]'
    read_as reader 0
    [[ $output$stderr != *hunter2* ]]
    [ "$(jq 'select(.type == "observation") | (.create_table_query | contains("https://<redacted>@db.example/x")) and
        (.mutations[0].command | contains("https://<redacted>@db.example/x"))' <<<"$output")" = true ]
    CH_PASSWORD=$(cat "$CH_DIR/secret/reader") run -0 "$bin/table-look" --url="$CH_URL" --user=reader --password-env=CH_PASSWORD --table=shop.told --first
    [[ $output != *hunter2* && $output == *"https://<redacted>@db.example/x"* ]]
}

@test "C14: the password is in no process argument while it reads" {
    orders
    export CH_PASSWORD
    CH_PASSWORD=$(cat "$CH_DIR/secret/reader")
    ch_fault "when=withhold&match=%60+FROM+%60shop"
    "$bin/ch-read" --url="$CH_URL" --user=reader --password-env=CH_PASSWORD --settle-ms=0 <in >out 3>&- &
    pid=$!
    while_held cp "/proc/$pid/cmdline" cmdline.0
    wait "$pid"
    tr '\0' ' ' <cmdline.0 >cmdline
    grep -q -- --user=reader cmdline
    run -1 grep -F "$CH_PASSWORD" cmdline out
}

@test "a cut connection leaves the side open and the check unavailable" {
    ch "CREATE TABLE shop.orders (id Int64, s String) ENGINE = MergeTree ORDER BY id"
    ch "INSERT INTO shop.orders SELECT 1, repeat('x', 1000) FROM numbers(2000)"
    stream_for orders "$columns" '["1","x"]'
    for format in native rowbinary; do
        ch_fault "when=during&bytes=500000&match=%60+FROM+%60shop"
        read_as reader 3 --format=$format
        check_is unavailable "reading the rows" answer-broken
        sides_whole false
    done
    ch_fault "when=error&n=9&match=%60+FROM+%60shop&status=500"
    read_as reader 3
    sides_whole false
    ch_fault clear=1
    ch_fault "when=refuse&match=%60+FROM+%60shop"
    read_as reader 3
    check_is unavailable "503" answer-broken
}

@test "tables of another form are unsupported by name" {
    while IFS='|' read -r engine text code; do
        ch "DROP TABLE IF EXISTS shop.orders"
        orders "$engine"
        read_as reader 3
        check_is unsupported "$text" "$code"
        sides_whole false
        [ -z "$(read_rows 1)" ]
    done <<'FORMS'
ReplacingMergeTree ORDER BY id|ReplacingMergeTree|engine-unsupported
SummingMergeTree ORDER BY id|SummingMergeTree|engine-unsupported
Memory|Memory|engine-unsupported
MergeTree ORDER BY id TTL toDateTime(id) + INTERVAL 1000 YEAR|TTL|table-expires
FORMS
    ch "DROP TABLE shop.orders"
    ch "CREATE TABLE shop.orders (id Int64, s String TTL toDateTime(id) + INTERVAL 1000 YEAR) ENGINE = MergeTree ORDER BY id"
    stream_for orders "$columns" '["1","x"]'
    read_as reader 3
    check_is unsupported TTL table-expires
}

@test "columns that are not what they were" {
    orders
    ch "ALTER TABLE shop.orders MODIFY COLUMN s LowCardinality(String)"
    read_as reader 3
    check_is unavailable "column 's' was String and is LowCardinality(String)" column-type-changed
    [ -z "$(read_rows 1)" ]
    ch "ALTER TABLE shop.orders MODIFY COLUMN s Nullable(String)"
    read_as reader 3
    check_is unavailable "column 's' was String and is Nullable(String)" column-type-changed
    ch "ALTER TABLE shop.orders DROP COLUMN s"
    read_as reader 3
    check_is unavailable "column 's' is not in the table" column-missing
    ch "ALTER TABLE shop.orders ADD COLUMN s Array(String)"
    read_as reader 3
    check_is unavailable "column 's' was String and is Array(String)"
    ch "ALTER TABLE shop.orders DROP COLUMN s, ADD COLUMN s String ALIAS toString(id)" || {
        ch "ALTER TABLE shop.orders DROP COLUMN s"
        ch "ALTER TABLE shop.orders ADD COLUMN s String ALIAS toString(id)"
    }
    read_as reader 3
    check_is unavailable "is ALIAS now" column-type-changed
}

@test "names that need quoting" {
    ch "CREATE TABLE shop.\`o'r\\\\d\\\`ers\` (\`i d\` Int64, \`s'\` String) ENGINE = MergeTree ORDER BY \`i d\`"
    ch "INSERT INTO shop.\`o'r\\\\d\\\`ers\` VALUES (1, 'one')"
    cols='[{"name":"i d","type":"Int64","key":true},{"name":"s'"'"'","type":"String"}]'
    {
        scope_of "$(server_uuid)" "$(ch "SELECT uuid FROM system.tables WHERE database = 'shop' FORMAT TSV")" shop "o'r\\d\`ers" "$cols"
        columns_of "$cols"
        captured_side '["1","x"]'
        checked reconcile.scope passed
    } | whole in
    read_as reader 0
    [ "$(read_rows 1)" = '["1","one"]' ]
}

@test "no server, and a server of an old line" {
    orders
    here=$CH_URL
    CH_URL=http://127.0.0.1:1
    read_as reader 3
    CH_URL=$here
    check_is unavailable "connecting" server-unreachable
    old=$BATS_TEST_TMPDIR/old
    "$OWED_ROOT/tests/services/clickhouse" up --dir="$old" --line=18.16 >old.env || {
        "$OWED_ROOT/tests/services/clickhouse" down --dir="$old"
        skip "no server of line 18.16"
    }
    secret=$old/secret/default
    run -3 --separate-stderr from in "$bin/ch-read" --user=default --password-file="$secret" \
        --url="$(sed -n 's/^CH_URL=//p' old.env)"
    "$OWED_ROOT/tests/services/clickhouse" down --dir="$old"
    check_is unsupported "18.16" server-unsupported
    sides_whole false
    [[ $output$stderr != *$(cat "$secret")* ]]
}
