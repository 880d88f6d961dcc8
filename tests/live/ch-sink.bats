#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ch-sink on the real engine: what an acknowledgement is, what is refused, what is left as evidence.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154  # each test has its own shell; soon evaluates; bats and the helpers set some
bats_require_minimum_version 1.5.0
load ch-sink

@test "rows are written, barriers and watermarks pass, events end here" {
    table 'id Int64'
    { event 1; event 2; watermark 5; barrier 1 0; event 3; idle; barrier 2 1; barrier 3 2; event 4; } | whole lane
    recorder <lane >recorded
    run -0 --separate-stderr sink <recorded
    [ -z "$stderr" ]
    [ "$(rows | tr '\n' ' ')" = '1 2 3 4 ' ]
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = 'stream watermark barrier watermark barrier barrier end ' ]
    [ "$(jq -c 'select(.type == "barrier") | [.left[].kind]' <<<"$output" | sort -u)" = '["capture","interval"]' ]
    [ "$(evidence 1 '[.epoch, .previous, .watermark, .capture.outcome, .capture.seen, .capture.file]')" = '[1,0,5,"written",2,"epoch-1.cap"]' ]
    [ "$(evidence 1 '[.ledger[] | [.first, .rows, .blocks, .attempts, .in_doubt, .resend]]')" = '[[0,2,1,1,false,"none"]]' ]
    [ "$(evidence 3 '[.capture.outcome, .ledger]')" = '["empty",[]]' ]
    [ "$(evidence 1 '.destination | [.engine, .dedup_window, .async_insert, .wait_for_async_insert, .columns]')" = \
        '["MergeTree","0","0","1",[{"name":"id","type":"Int64"}]]' ]
    [ "$(evidence 1 .destination.table_uuid)" = "\"$(ch "SELECT uuid FROM system.tables WHERE database = 'shop' AND name = '$t'")\"" ]
    for f in cap/op-3/subtask-0/epoch-*.sink.json; do
        grep -q "$(sha256sum <"$f" | cut -d' ' -f1)" <<<"$output"
    done
    # Evidence is its owner's, and by --mode a group's.
    [ -z "$(find cap -mindepth 1 \( -type f ! -perm 600 -o -type d ! -perm 700 \) -printf '%m %p\n' | tee /dev/stderr)" ]
    rm -r cap/*
    sink --mode=0640 <lane >shared
    [ -z "$(find cap -mindepth 1 \( -type f ! -perm 640 -o -type d ! -perm 750 \) -printf '%m %p\n' | tee /dev/stderr)" ]
    [ -n "$(find cap -name '*.sink.json')" ]
}

@test "a barrier passes only after every INSERT of its interval was acknowledged" {
    table 'id Int64'
    start_sink --batch-rows=1
    ch_fault when=withhold
    { event 1; barrier 1 0; } >&9
    ch_fault await=1
    [ "$(count)" = 1 ]
    [ "$(grep -c barrier sink.out)" -eq 0 ]
    [ ! -e cap/op-3/subtask-0/epoch-1.sink.json ]
    ch_fault release=1
    soon grep -q barrier sink.out
    [ -e cap/op-3/subtask-0/epoch-1.sink.json ]
    ch_fault when=hold
    { event 2; barrier 2 1; } >&9
    ch_fault await=1
    [ "$(grep -c '"checkpoint":2' sink.out)" -eq 0 ]
    ch_fault release=1
    soon grep -q '"checkpoint":2' sink.out
    [ "$(count)" = 2 ]
    end_of stream 1 event 2 barrier 2 >&9
    finish_sink 0
}

@test "rows of one INSERT are acknowledged in one batch, by count, by age and at the barrier" {
    table 'id Int64'
    start_sink --batch-rows=2 --batch-ms=300
    # In one write, so that the first two have the same age.
    { event 1; event 2; event 3; } | sink_takes
    soon eval '[ "$(count)" = 3 ]'
    { event 4; barrier 1 0; } >&9
    soon grep -q barrier sink.out
    [ "$(evidence 1 '[.ledger[] | [.first, .rows]]')" = '[[0,2],[2,1],[3,1]]' ]
    [ "$(evidence 1 '.ledger | map(.token) | unique | length')" = 3 ]
    end_of stream 1 event 4 barrier 1 >&9
    finish_sink 0
}

@test "an INSERT that the server refuses for good stops the job, naming the code" {
    table 'id Int64'
    ch "ALTER TABLE shop.$t ADD CONSTRAINT small CHECK id < 2"
    { event 1; event 2; barrier 1 0; } | whole lane
    run -3 --separate-stderr sink <lane
    [[ $stderr == *469* ]]
    [[ $output != *'"type":"barrier"'* ]]
    [ ! -e cap/op-3/subtask-0/epoch-1.sink.json ]
    [ "$(count)" = 0 ]
}

@test "a profile that pins async_insert is refused by name" {
    table 'id Int64'
    { event 1; barrier 1 0; } | whole lane
    run -2 --separate-stderr sink --user=pinned --password-file="$CH_DIR/secret/pinned" <lane
    [[ $stderr == *async_insert* ]]
    [ "$(count)" = 0 ]
}

@test "a user who may not write, a wrong password, no such table: named, nothing written" {
    table 'id Int64'
    { event 1; barrier 1 0; } | whole lane
    run -3 --separate-stderr sink --user=reader --password-file="$CH_DIR/secret/reader" <lane
    [[ $stderr == *497* ]]
    run -3 --separate-stderr sink --user=default --password-file="$CH_DIR/secret/reader" <lane
    [[ $stderr == *516* ]]
    run -2 --separate-stderr sink --table=nowhere <lane
    [[ $stderr == *'no table shop.nowhere'* ]]
    [ "$(count)" = 0 ]
}

# It gives neither query id nor summary, so that none of its answers is proven: it is refused by its line all the same.
@test "a server of the 18.16 line is refused by its line, and nothing is written" {
    old=$BATS_TEST_TMPDIR/other
    "$OWED_ROOT/tests/services/clickhouse" up --dir="$old" --line=18.16 >old.env || skip "no server of line 18.16"
    url=$(sed -n 's/^CH_URL=//p' old.env)
    with() { curl -sS -u "default:$(cat "$old/secret/default")" "$url" -d "$1"; }
    with 'CREATE TABLE default.here (id Int64, d Date) ENGINE = MergeTree(d, (id), 8192)'
    { event 1; barrier 1 0; } | whole lane
    for name in here nowhere; do
        run -2 --separate-stderr sink --url="$url" --password-file="$old/secret/default" --database=default --table=$name <lane
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "ch-sink: the server is ClickHouse 18.16.1, of a line that is not supported: "* ]]
        [ "$(jq -r 'select(.type == "stop") | .kind + " " + .code' <<<"$output")" = "refused server-unsupported" ]
        [ -z "$(jq -c 'select(.type == "barrier")' <<<"$output")" ]
        [[ $output$stderr != *"$(cat "$old/secret/default")"* ]]
    done
    [ "$(with 'SELECT count() FROM default.here')" = 0 ]
    [ -z "$(find cap -type f)" ]
}

@test "what is no table of the MergeTree family is refused by its engine" {
    { event 1; barrier 1 0; } | whole lane
    ch "CREATE TABLE shop.$t (id Int64) ENGINE = Memory"
    run -2 --separate-stderr sink <lane
    [[ $stderr == *'engine Memory, which is no MergeTree'* ]]
    ch "CREATE VIEW shop.${t}v AS SELECT 1 AS id"
    run -2 --separate-stderr sink --table="${t}v" <lane
    [[ $stderr == *'engine View'* ]]
}

@test "a value that its column cannot hold stops the job, naming row, column and value" {
    table 'id UInt8, d Decimal(10, 3)'
    { valued 1 '{"id":255,"d":"1.234"}'; barrier 1 0; valued 2 '{"id":1,"d":"2.5"}'; valued 3 '{"id":1,"d":"1.2349"}'; barrier 2 1; } | whole lane
    run -2 --separate-stderr sink <lane
    [ "$stderr" = 'ch-sink: t/0/3: column d (Decimal(10, 3)) cannot hold "1.2349": more digits than the column keeps' ]
    [ "$(rows)" = $'255\t1.234' ]
    [[ $output != *'"checkpoint":2'* ]]
    { valued 9 '{"id":256,"d":1}'; barrier 1 0; } | whole lane
    run -2 --separate-stderr sink <lane
    [ "$stderr" = "ch-sink: t/0/9: column id (UInt8) cannot hold 256: out of the column's range" ]
    { valued 9 '{"id":1,"d":1,"more":1}'; barrier 1 0; } | whole lane
    run -2 --separate-stderr sink <lane
    [ "$stderr" = 'ch-sink: t/0/9: no column named more is written' ]
}

@test "columns with a default are the server's, but for those named by --column" {
    table "id Int64, s String DEFAULT 'x', m Int64 MATERIALIZED id * 2, a Int64 ALIAS id"
    { valued 1 '{"id":1}'; barrier 1 0; } | whole lane
    run -0 --separate-stderr sink <lane
    { valued 2 '{"id":2,"s":"y"}'; barrier 1 0; } | whole lane
    run -2 --separate-stderr sink <lane
    [[ $stderr == *'no column named s is written' ]]
    run -0 --separate-stderr sink --write-default=s <lane
    [ "$(ch "SELECT id, s, m FROM shop.$t ORDER BY id")" = $'1\tx\t2\n2\ty\t4' ]
    run -2 --separate-stderr sink --write-default=m <lane
    [[ $stderr == *'column m: MATERIALIZED'* ]]
    run -2 --separate-stderr sink --from=id:ms <lane
    [[ $stderr == *'column id (Int64): a unit of time'* ]]
}

@test "an unsupported type, and a time without its unit, are refused by name" {
    { event 1; barrier 1 0; } | whole lane
    table 'id Int64, tags Array(String)'
    run -2 --separate-stderr sink <lane
    [[ $stderr == *'column tags: type Array(String) is not supported' ]]
    t=${t}b
    table 'id Int64, at DateTime'
    run -2 --separate-stderr sink <lane
    [[ $stderr == *'column at (DateTime)'*'--from=at:UNIT'* ]]
}

@test "every type arrives as it was owed" {
    table 'i8 Int8, u8 UInt8, i16 Int16, u16 UInt16, i32 Int32, u32 UInt32, i64 Int64, u64 UInt64, i128 Int128, u128 UInt128,
        i256 Int256, u256 UInt256, f32 Float32, f64 Float64, d9 Decimal(9, 2), d18 Decimal(18, 4), d38 Decimal(38, 10),
        d76 Decimal(76, 20), b Bool, s String, l LowCardinality(String), ln LowCardinality(Nullable(String)), n Nullable(Int32),
        da Date, d32 Date32, dt DateTime, t6 DateTime64(6), t9 DateTime64(9)'
    units=(--from=da:iso --from=d32:days --from=dt:s --from=t6:ms --from=t9:iso)
    low='{"i8":-128,"u8":0,"i16":-32768,"u16":0,"i32":-2147483648,"u32":0,"i64":-9223372036854775808,"u64":0,
        "i128":"-170141183460469231731687303715884105728","u128":0,
        "i256":"-57896044618658097711785492504343953926634992332820282019728792003956564819968","u256":0,"f32":-0.0,"f64":"-inf",
        "d9":"-9999999.99","d18":"-99999999999999.9999","d38":"-9999999999999999999999999999.9999999999",
        "d76":"-99999999999999999999999999999999999999999999999999999999.99999999999999999999","b":false,"s":"","l":"","ln":null,
        "n":null,"da":"1970-01-01","d32":-25567,"dt":0,"t6":-1,"t9":"1970-01-01T00:00:00Z"}'
    high='{"i8":127,"u8":255,"i16":32767,"u16":65535,"i32":2147483647,"u32":4294967295,"i64":9223372036854775807,
        "u64":18446744073709551615,"i128":"170141183460469231731687303715884105727","u128":"340282366920938463463374607431768211455",
        "i256":"57896044618658097711785492504343953926634992332820282019728792003956564819967",
        "u256":"115792089237316195423570985008687907853269984665640564039457584007913129639935","f32":16777216,"f64":0.1,
        "d9":"9999999.99","d18":"1e-4","d38":"0.0000000001","d76":"0.00000000000000000001","b":true,"s":"a\u0000\u00e9\n","l":"x",
        "ln":"","n":2147483647,"da":"2149-06-06","d32":120529,"dt":4294967295,"t6":1758000000123,
        "t9":"2262-04-11T23:47:16.854775807Z"}'
    { valued 1 "$(tr -d '\n' <<<"$low")"; valued 2 "$(tr -d '\n' <<<"$high")"; barrier 1 0; } | whole lane
    run -0 --separate-stderr sink "${units[@]}" <lane
    ch "SELECT i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, i256, u256, hex(reinterpretAsString(f32)), f64 FROM shop.$t ORDER BY i8" >got
    cat >want <<'TSV'
-128	0	-32768	0	-2147483648	0	-9223372036854775808	0	-170141183460469231731687303715884105728	0	-57896044618658097711785492504343953926634992332820282019728792003956564819968	0	00000080	-inf
127	255	32767	65535	2147483647	4294967295	9223372036854775807	18446744073709551615	170141183460469231731687303715884105727	340282366920938463463374607431768211455	57896044618658097711785492504343953926634992332820282019728792003956564819967	115792089237316195423570985008687907853269984665640564039457584007913129639935	0000804B	0.1
TSV
    diff want got
    ch "SELECT d9, d18, d38, d76, b, hex(s), l, ln, n, da, d32, toUInt32(dt), toUnixTimestamp64Micro(t6), toUnixTimestamp64Nano(t9) FROM shop.$t ORDER BY i8" >got
    cat >want <<'TSV'
-9999999.99	-99999999999999.9999	-9999999999999999999999999999.9999999999	-99999999999999999999999999999999999999999999999999999999.99999999999999999999	false			\N	\N	1970-01-01	1900-01-01	0	-1000	0
9999999.99	0.0001	0.0000000001	0.00000000000000000001	true	6100C3A90A	x		2147483647	2149-06-06	2299-12-31	4294967295	1758000000123000	9223372036854775807
TSV
    diff want got
}

@test "a table that is dropped and created again stops the job at the next barrier" {
    table 'id Int64'
    start_sink --batch-rows=1
    { event 1; barrier 1 0; } >&9
    soon grep -q barrier sink.out
    ch "DROP TABLE shop.$t"
    table 'id Int64'
    { event 2; barrier 2 1; } | sink_takes
    finish_sink 2
    grep -q 'dropped and created again' sink.err
    [ ! -e cap/op-3/subtask-0/epoch-2.sink.json ]
    run -1 grep -q '"checkpoint":2' sink.out
}

@test "rows encoded for one type are not read as another after an ALTER" {
    table 'id Int32, v Int32'
    start_sink --batch-rows=1
    { valued 1 '{"id":1,"v":2}'; barrier 1 0; } >&9
    soon grep -q barrier sink.out
    ch "ALTER TABLE shop.$t MODIFY COLUMN id Int64"
    { valued 2 '{"id":2,"v":3}'; barrier 2 1; } | sink_takes
    finish_sink 3
    [ "$(rows)" = $'1\t2' ]
}

@test "a lane that is cut is 3: what was acknowledged stays, no evidence, no barrier" {
    table 'id Int64'
    { event 1; event 2; event 3; } | whole lane
    head -n 3 lane >cut.lane
    run -3 --separate-stderr sink --batch-rows=1 <cut.lane
    [ "$(count)" = 2 ]
    [[ $stderr == *unfinished* ]]
    t=${t}b
    table 'id Int64'
    run -3 --separate-stderr sink --batch-ms=100000 <cut.lane
    [ "$(count)" = 0 ]
    [ -z "$(find cap -name '*.sink.json*')" ]
}

@test "evidence that cannot be written is absent, is said once, and stops nothing" {
    table 'id Int64'
    { event 1; barrier 1 0; event 2; barrier 2 1; } | whole lane
    : >cap/op-3
    run -0 --separate-stderr sink <lane
    [ "$(grep -c 'no evidence' <<<"$stderr")" -eq 1 ]
    [ "$(jq -c 'select(.type == "barrier") | .left' <<<"$output" | sort -u)" = '[]' ]
    [ "$(count)" = 2 ]
}

@test "without a capture of its own input, or with another count, the interval is disarmed" {
    table 'id Int64'
    capture='{"operator":"3","subtask":0,"kind":"capture","file":"op-3/subtask-0/epoch-1.cap","bytes":1,"sha256":"'$(printf %064d 0)'","seen":%d,"stored":%d,"truncated":false}'
    # shellcheck disable=SC2059
    { event 1; barrier 1 0 "$(printf "$capture" 2 2)"; event 2; barrier 2 1 "$(printf "$capture" 1 1)"; event 3; barrier 3 2; } | whole lane
    run -0 --separate-stderr sink <lane
    [ "$(for e in 1 2 3; do evidence $e '[.capture.outcome, .capture.seen]'; done | tr '\n' ' ')" = \
        '["disarmed",1] ["written",1] ["disarmed",1] ' ]
}

@test "the password is in no output, no evidence and on no command line" {
    table 'id Int64'
    PW=$(cat "$CH_DIR/secret/default")
    export PW
    mkfifo lane.fifo
    ch-sink --url="$CH_URL" --user=default --password-env=PW --database=shop --table="$t" --job=1 --operator=3 --subtask=0 \
        --attempt=a --capture-dir=cap --batch-rows=1 <lane.fifo >sink.out 2>sink.err &
    runner=$!
    exec 9>lane.fifo
    echo "$head" >&9
    ch_fault when=after
    { event 1; barrier 1 0; } >&9
    soon grep -q barrier sink.out
    tr '\0' ' ' <"/proc/$runner/cmdline" >cmdline
    exec 9>&-
    wait "$runner" || true
    runner=''
    for secret in "$PW" "$(base64 -w0 <<<"$PW" | cut -c1-40)" "$(printf 'default:%s' "$PW" | base64 -w0)"; do
        run -1 grep -rF -- "$secret" sink.out sink.err cmdline cap
    done
    { event 1; barrier 1 0; } | whole lane
    run -3 --separate-stderr sink --user=nobody --password-file="$CH_DIR/secret/default" <lane
    [[ $stderr$output != *"$PW"* ]]
}
