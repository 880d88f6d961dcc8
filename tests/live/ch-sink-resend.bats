#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ch-sink on the real engine: what is sent again, how often it lands, and what the ledger says of it.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154  # each test has its own shell; soon evaluates; bats and the helpers set some
bats_require_minimum_version 1.5.0
load ch-sink

@test "cut after the INSERT was executed: in doubt, resent; within a window it lands once" {
    doubt after 100 'id Int64'
    [ "$(ledger)" = '[[3,1,2,true,"deduplicated"]]' ]
    [ "$(count)" = 3 ]
}

@test "cut before the INSERT was executed: in doubt, resent, and lands once" {
    doubt before 100 'id Int64'
    [ "$(ledger)" = '[[3,1,2,true,"deduplicated"]]' ]
    [ "$(count)" = 3 ]
}

@test "without a window a resend lands twice, byte for byte, and the ledger says that it may" {
    doubt after 0 'id Int64'
    [ "$(ledger)" = '[[3,1,2,true,"may_duplicate"]]' ]
    [ "$(rows | tr '\n' ' ')" = '1 1 2 2 3 3 ' ]
}

@test "over more partitions than the window holds it lands twice, and the ledger says that it may" {
    doubt after 2 'id Int64' 'PARTITION BY id ORDER BY id'
    [ "$(ledger)" = '[[3,3,2,true,"may_duplicate"]]' ]
    [ "$(count)" = 6 ]
}

@test "a server that keeps two hashes of a block remembers half as many" {
    [ "$(ch "SELECT value FROM system.server_settings WHERE name = 'insert_deduplication_version'")" = compatible_double_hashes ]
    doubt after 3 'id Int64' 'PARTITION BY id ORDER BY id'
    [ "$(ledger)" = '[[3,3,2,true,"may_duplicate"]]' ]
    [ "$(count)" = 6 ]
    t=${t}b
    doubt after 6 'id Int64' 'PARTITION BY id ORDER BY id'
    [ "$(ledger)" = '[[3,3,2,true,"deduplicated"]]' ]
    [ "$(count)" = 3 ]
}

@test "a server that keeps one hash of a block remembers as many as the window says" {
    CH_DIR=$BATS_TEST_TMPDIR/newer
    out=$("$OWED_ROOT/tests/services/clickhouse" up --line=26.7 --dir="$CH_DIR" 2>up.err) || { CH_LACK=$(tail -n 1 up.err); clickhouse_need; }
    local CH_URL
    eval "$(grep '^CH_URL=' <<<"$out")"
    ch 'CREATE DATABASE shop'
    [ "$(ch "SELECT value FROM system.server_settings WHERE name = 'insert_deduplication_version'")" = new_unified_hash ]
    doubt after 2 'id Int64' 'PARTITION BY id ORDER BY id'
    [ "$(ledger) $(count)" = '[[3,3,2,true,"may_duplicate"]] 6' ]
    t=${t}b
    doubt after 3 'id Int64' 'PARTITION BY id ORDER BY id'
    [ "$(ledger) $(count)" = '[[3,3,2,true,"deduplicated"]] 3' ]
}

@test "what others write between counts against the window" {
    table 'id Int64' 8
    start_sink --batch-rows=1
    event 1 >&9
    soon eval '[ "$(count)" = 1 ]'
    for i in 11 12 13 14; do ch "INSERT INTO shop.$t VALUES ($i)" async_insert=0; done
    ch_fault when=after
    { event 2; barrier 1 0; } >&9
    soon grep -q barrier sink.out
    [ "$(ledger)" = '[[1,1,1,false,"none"],[1,1,2,true,"may_duplicate"]]' ]
    ch_fault when=after
    { event 3; barrier 2 1; } >&9
    soon grep -q '"checkpoint":2' sink.out
    [ "$(ledger 2)" = '[[1,1,2,true,"deduplicated"]]' ]
    [ "$(ch "SELECT count() FROM shop.$t WHERE id = 3")" = 1 ]
    end_of stream 1 event 3 barrier 2 >&9
    finish_sink 0
}

@test "several cuts in a row are one INSERT of several attempts" {
    table 'id Int64' 100
    { event 1; barrier 1 0; } | whole lane
    ch_fault 'when=after&n=3'
    run -0 --separate-stderr sink <lane
    [ "$(ledger)" = '[[1,1,4,true,"deduplicated"]]' ]
    [ "$(count)" = 1 ]
}

@test "no answer in time is in doubt, and may still be executed when the window has moved on" {
    table 'id Int64' 100
    { event 1; barrier 1 0; } | whole lane
    ch_fault when=withhold
    run -0 --separate-stderr sink --query-timeout-ms=700 <lane
    [ "$(ledger | jq -c '.[0][3:]')" = '[true,"may_duplicate"]' ]
    [ "$(count)" = 1 ]
}

@test "the same rows in two INSERTs are both kept: each has a token of its own" {
    table 'v Int64' 100
    { valued 1 '{"v":7}'; valued 2 '{"v":7}'; barrier 1 0; } | whole lane
    run -0 --separate-stderr sink --batch-rows=1 <lane
    [ "$(count)" = 2 ]
    run -0 --separate-stderr sink --batch-rows=1 --attempt=b <<<"$(sed 's/"attempt":"a"/"attempt":"b"/' lane)"
    [ "$(count)" = 4 ]
}

@test "a server that stays silent is given up after --retry-ms" {
    table 'id Int64' 100
    { event 1; barrier 1 0; } | whole lane
    ch_fault 'when=before&n=1000'
    run -3 --separate-stderr sink --retry-ms=600 <lane
    [[ $stderr == 'ch-sink: INSERT of 1 rows into '* ]]
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = 'stream stop end ' ]
    ch_fault clear=1
    [ "$(count)" = 0 ]
}

@test "another server behind the same endpoint stops the job" {
    table 'id Int64'
    CH_DIR=$BATS_TEST_TMPDIR/other
    out=$("$OWED_ROOT/tests/services/clickhouse" up --dir="$CH_DIR")
    local CH_URL
    eval "$(grep '^CH_URL=' <<<"$out")"
    ch 'CREATE DATABASE shop'
    table 'id Int64'
    start_sink --batch-rows=1
    { event 1; barrier 1 0; } >&9
    soon grep -q barrier sink.out
    "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
    rm -rf "$CH_DIR/identity"
    "$OWED_ROOT/tests/services/clickhouse" up --dir="$CH_DIR" >/dev/null
    { event 2; barrier 2 1; } | sink_takes
    finish_sink 2
    grep -q 'another server' sink.err
    run -1 grep -q '"checkpoint":2' sink.out
}

@test "the server is killed and comes back: nothing is lost, and nothing twice within the window" {
    table 'id Int64' 1000
    start_sink --batch-rows=1
    { event 1; barrier 1 0; } >&9
    soon grep -q barrier sink.out
    "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
    { event 2; event 3; } >&9
    "$OWED_ROOT/tests/services/clickhouse" up --dir="$CH_DIR" >/dev/null
    barrier 2 1 >&9
    soon grep -q '"checkpoint":2' sink.out
    [ "$(rows | tr '\n' ' ')" = '1 2 3 ' ]
    end_of stream 1 event 3 barrier 2 >&9
    finish_sink 0
}

@test "an error that came after the rows: the resend has a fresh token, lands twice, and the ledger says that it may" {
    table 'id Int64' 100
    { event 1; event 2; event 3; barrier 1 0; } | whole lane
    ch_fault 'when=error&code=241'
    run -0 --separate-stderr sink <lane
    [ "$(ledger)" = '[[3,1,2,true,"may_duplicate"]]' ]
    [ "$(evidence 1 '.ledger[] | [.tokens, .cut, .errors, .restarted, (.token | endswith(".2"))]')" = '[2,0,1,false,true]' ]
    [ "$(count)" = 6 ]
}

@test "F16: a 200 that is not provably the server's acknowledges nothing: no barrier passes on it" {
    table 'id Int64' 100
    { event 1; event 2; event 3; barrier 1 0; } | whole lane
    ch_fault 'when=refuse&status=200&n=2'
    run -0 --separate-stderr sink <lane
    [ "$(ledger)" = '[[3,1,3,true,"may_duplicate"]]' ]
    [ "$(count)" = 3 ]
    t=${t}b
    table 'id Int64' 100
    ch_fault 'when=refuse&status=200&n=1000'
    run -3 --separate-stderr sink --retry-ms=600 <lane
    ch_fault clear=1
    [[ $stderr == 'ch-sink: INSERT of 3 rows into '*'an answer of status 200 that the server did not provably give to this statement'* ]]
    [[ $output != *'"type":"barrier"'* ]]
    [ "$(count)" = 0 ]
}

# The rows of an INSERT in doubt are there, and then gone, as after a kill between the server's deduplication log and the
# part; the token stays. A resend under it would be acknowledged and dropped.
@test "a server that was started anew may keep a token without its rows: the resend has a fresh one, and nothing is lost" {
    table 'id Int64' 100
    start_sink --batch-rows=1
    ch_fault when=withhold
    event 1 >&9
    soon eval '[ "$(count)" = 1 ]'
    ch "DELETE FROM shop.$t WHERE id = 1"
    [ "$(count)" = 0 ]
    "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
    "$OWED_ROOT/tests/services/clickhouse" up --dir="$CH_DIR" >/dev/null
    barrier 1 0 >&9
    soon grep -q barrier sink.out
    [ "$(count)" = 1 ]
    [ "$(ledger)" = '[[1,1,2,true,"may_duplicate"]]' ]
    [ "$(evidence 1 '.ledger[] | [.tokens, .cut, .errors, .restarted]')" = '[2,1,0,true]' ]
    end_of stream 1 event 1 barrier 1 >&9
    finish_sink 0
}

@test "kill -9 of the sink before and after its INSERT: no barrier, no evidence, at most the rows sent" {
    table 'id Int64'
    start_sink --batch-rows=1
    ch_fault when=hold
    { event 1; barrier 1 0; } >&9
    ch_fault await=1
    kill -9 "$runner"
    wait "$runner" || true
    exec 9>&-
    run -1 grep -q barrier sink.out
    [ -z "$(find cap -name '*.sink.json*')" ]
    [ "$(count)" = 0 ]
    ch_fault release=1
    rm lane.fifo
    start_sink --batch-rows=1
    ch_fault when=withhold
    { event 2; barrier 1 0; } >&9
    ch_fault await=1
    kill -9 "$runner"
    wait "$runner" || true
    runner=''
    exec 9>&-
    run -1 grep -q barrier sink.out
    [ -z "$(find cap -name '*.sink.json*')" ]
    [ "$(ch "SELECT count() FROM shop.$t WHERE id = 2")" = 1 ]
}
