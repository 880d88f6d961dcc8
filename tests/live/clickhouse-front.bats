#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The ClickHouse test service: what other tests rely on it for. Each feature is seen with curl on the
# 26.5 line; 26.7 and 18.16 have their own tests below.

bats_require_minimum_version 1.5.0
load services

setup_file() { clickhouse_up; }
teardown_file() { clickhouse_down; }
setup() {
    clickhouse_need
    cd "$BATS_TEST_TMPDIR" || return
}

# elsewhere NAME: what follows in this test has a server of its own.
elsewhere() { export CH_DIR=$BATS_TEST_TMPDIR/$1; }

# refused CODE STATUS USER PARAMETERS SQL
refused() {
    local status code
    status=$(ch_curl "$3" "$4" --data-binary "$5" -D headers -o body -w '%{http_code}')
    code=$(tr -d '\r' <headers | sed -n 's/^X-ClickHouse-Exception-Code: //p')
    [ "$status $code" = "$2 $1" ] || { echo "got status $status code $code: $(cat body)" >&2; return 1; }
    grep -q "^Code: $1. DB::Exception: .*(version 26" body
}

header() { tr -d '\r' <headers | sed -n "s/^$1: //p"; }

summary() { header X-ClickHouse-Summary | jq -r ".$1"; }

@test "answers /ping without a password, and names itself, the query and the format" {
    [ "$(curl -sS "$CH_URL/ping")" = "Ok." ]
    ch_curl default 'query_id=mine' --data-binary 'SELECT 1' -D headers -o /dev/null
    [ "$(header X-ClickHouse-Query-Id)" = mine ]
    [ "$(header X-ClickHouse-Format)" = TabSeparated ]
    [ -n "$(header X-ClickHouse-Server-Display-Name)" ]
    [ -n "$(header X-ClickHouse-Timezone)" ]
}

@test "takes a statement in the URL, in the body, or begun in one and ended in the other" {
    [ "$(ch_curl default 'query=SELECT+1')" = 1 ]
    [ "$(ch 'SELECT 2')" = 2 ]
    [ "$(ch '3' 'query=SELECT')" = 3 ]
    [ "$(ch 'SELECT 4' default_format=JSONEachRow)" = '{"4":4}' ]
    ch 'CREATE DATABASE other'
    [ "$(ch 'SELECT currentDatabase()' database=other)" = other ]
    [ "$(ch 'SELECT {a:UInt8} + 1, {b:String}' 'param_a=4&param_b=it%27s%5Ctso')" = $'5\tit\\\'s\\tso' ]
}

@test "a setting in the URL holds for its own statement alone" {
    before=$(ch "SELECT getSetting('max_result_rows')")
    [ "$(ch "SELECT getSetting('max_result_rows')" max_result_rows=77)" = 77 ]
    [ "$(ch "SELECT getSetting('max_result_rows')")" = "$before" ]
    refused 115 404 default no_such_setting=1 'SELECT 1'
    refused 115 404 default 'a%27%3D1=2' 'SELECT 1'
}

@test "one statement only, and a second one is not run" {
    ch 'CREATE TABLE one (a UInt8) ENGINE = MergeTree ORDER BY a'
    refused 62 400 default '' 'SELECT 1; DROP TABLE one'
    refused 62 400 default 'query=SELECT+1;' 'DROP TABLE one'
    refused 62 400 default '' 'INSERT INTO one SELECT 1; DROP TABLE one'
    refused 62 400 default '' ''
    refused 62 400 default '' 'one'
    [ "$(ch 'SELECT count() FROM one')" = 0 ]
    [ "$(ch "SELECT ';', \$x\$;\$x\$ /* ; */ -- ;
        ;  ;")" = $';\t;' ]
}

@test "readonly=2 refuses a write and takes settings; GET implies it" {
    ch 'CREATE TABLE ro (a UInt8) ENGINE = MergeTree ORDER BY a'
    refused 164 500 default readonly=2 'INSERT INTO ro VALUES (1)'
    refused 164 500 default 'readonly=2&query=INSERT+INTO+ro+FORMAT+TSV' ''
    refused 164 500 default readonly=2 'DROP TABLE ro'
    [ "$(ch 'SELECT 1' 'readonly=2&max_threads=1')" = 1 ]
    [[ $(ch_curl default 'query=DROP+TABLE+ro') == 'Code: 164.'* ]]
    [ "$(ch 'SELECT count() FROM ro')" = 0 ]
}

@test "a readonly=1 user may not send settings, in the URL or in the statement" {
    [ "$(ch_curl readonly1 wait_end_of_query=1 -d 'SELECT 1')" = 1 ]
    refused 164 500 readonly1 max_threads=1 'SELECT 1'
    refused 164 500 readonly1 readonly=2 'SELECT 1'
    refused 164 500 readonly1 '' 'SELECT 1 SETTINGS max_threads = 1'
    refused 164 500 readonly1 '' 'CREATE TABLE no (a UInt8) ENGINE = Memory'
}

@test "a user who may only SELECT is refused every write with 497" {
    ch 'CREATE TABLE rd (a UInt8) ENGINE = MergeTree ORDER BY a'
    [ "$(ch_curl reader max_threads=1 -d 'SELECT count() FROM rd')" = 0 ]
    refused 497 403 reader '' 'INSERT INTO rd VALUES (1)'
    refused 497 403 reader '' 'INSERT INTO rd SELECT 1'
    refused 497 403 reader '' '/* x */ ALTER TABLE rd DELETE WHERE 1'
    refused 497 403 reader '' 'KILL QUERY WHERE 1'
    [ "$(ch 'SELECT count() FROM rd')" = 0 ]
}

@test "a profile's settings hold, fixed ones against the request and the others not" {
    [ "$(ch_curl pinned '' -d "SELECT getSetting('async_insert')")" = true ]
    refused 452 500 pinned async_insert=0 'SELECT 1'
    refused 452 500 pinned '' 'SELECT 1 SETTINGS async_insert = 0'
    [ "$(ch_curl pinned async_insert=1 -d "SELECT 'async_insert = 0'")" = 'async_insert = 0' ]
    # break shortens the result and says nothing: what a reader must protect itself from.
    rows=$(ch_curl short '' --fail-with-body -d 'SELECT number FROM numbers(1000005)' | wc -l)
    [ "$rows" -gt 0 ]
    [ "$rows" -lt 1000005 ]
    refused 396 500 short result_overflow_mode=throw 'SELECT number FROM numbers(1000005)'
}

@test "passwords: three ways to give one, and a wrong one is 516" {
    reader=$(cat "$CH_DIR/secret/reader")
    [ "$(curl -sS "$CH_URL" -H 'X-ClickHouse-User: reader' -H "X-ClickHouse-Key: $reader" -d 'SELECT 1')" = 1 ]
    [ "$(curl -sS "$CH_URL/?user=reader&password=$reader" -d 'SELECT 1')" = 1 ]
    for credentials in '' 'default:' 'default:wrong' "nobody:$reader" "default:$reader"; do
        run -0 curl -sS ${credentials:+-u "$credentials"} "$CH_URL" -d 'SELECT 1' -D headers -w '%{http_code}'
        [[ $output == "Code: 516. DB::Exception: "*403 ]]
        [ "$(header X-ClickHouse-Exception-Code)" = 516 ]
    done
    run -0 curl -sS -u "reader:$reader" "$CH_URL/?user=reader&password=$reader" -d 'SELECT 1'
    [[ $output == "Code: 516."* ]]
}

@test "passwords are on no command line and in no log" {
    for file in "$CH_DIR"/secret/*; do
        [ "$(stat -c %a "$file")" = 600 ]
        run -1 grep -aF -f "$file" "/proc/$CH_PID/cmdline" "/proc/$CH_PID/environ" "$CH_DIR/log" "$CH_DIR/users"
    done
}

@test "a binary INSERT with blank lines and statements in its bytes lands byte for byte" {
    ch 'CREATE TABLE bin (k UInt8, s String) ENGINE = MergeTree ORDER BY k'
    printf '\x01\x16a\n\n;\nDROP TABLE bin;\n\n' >data
    printf '\x0a\x03\n\n\n\x0d\x00' >>data
    ch_curl default 'query=INSERT+INTO+bin+FORMAT+RowBinary' --data-binary @data -D headers --fail-with-body
    [ "$(summary written_rows)" = 3 ]
    { printf 'INSERT INTO bin (k, s)\nFORMAT RowBinary\n'; cat data; } >whole
    ch_curl default '' --data-binary @whole --fail-with-body
    [ "$(ch 'SELECT count(), uniqExact(k, s) FROM bin')" = $'6\t3' ]
    [ "$(ch 'SELECT hex(s) FROM bin WHERE k = 1 LIMIT 1')" = "$(printf 'a\n\n;\nDROP TABLE bin;\n\n' | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F)" ]
    [ "$(ch 'SELECT hex(s) FROM bin WHERE k = 10 LIMIT 1')" = 0A0A0A ]
}

@test "INSERT in text formats, inline or after the statement, with settings between" {
    ch 'CREATE TABLE txt (a Int32, s String) ENGINE = MergeTree ORDER BY a'
    ch "INSERT INTO txt VALUES (1, 'a\\nb'), (2, concat('x', 'y'));"
    ch $'INSERT INTO txt (s, a) SETTINGS max_threads = 1 FORMAT CSV\n"p\n\nq",3\n'
    ch $'INSERT INTO txt FORMAT JSONEachRow {"a": 4, "s": "j"}\n\n{"a": 5}'
    ch $'6\tt\n' 'query=INSERT+INTO+txt+FORMAT+TSV'
    ch "INSERT INTO txt SELECT 7, 'sel'"
    [ "$(ch 'SELECT groupArray((a, s)) FROM (SELECT * FROM txt ORDER BY a)')" = \
        "[(1,'a\\nb'),(2,'xy'),(3,'p\\n\\nq'),(4,'j'),(5,''),(6,'t'),(7,'sel')]" ]
    run ! ch $'x\ty\n' 'query=INSERT+INTO+txt+FORMAT+TSV'
    [ "$(ch 'SELECT count() FROM txt')" = 7 ]
}

@test "an INSERT with an empty body is answered with 0 rows, for a table that is there" {
    ch 'CREATE TABLE empty (a UInt8) ENGINE = MergeTree ORDER BY a'
    for format in RowBinary TSV Native JSONEachRow; do
        ch_curl default "query=INSERT+INTO+empty+FORMAT+$format" -X POST -D headers --fail-with-body
        [ "$(summary written_rows)" = 0 ]
    done
    refused 60 404 default 'query=INSERT+INTO+absent+FORMAT+RowBinary' ''
    [ "$(ch 'SELECT count() FROM empty')" = 0 ]
}

@test "Native out of one table goes into another, gzip and Expect: 100-continue too" {
    ch 'CREATE TABLE src (k UInt64, s String, n Nullable(Decimal(18, 4))) ENGINE = MergeTree ORDER BY k'
    ch 'CREATE TABLE dst AS src'
    ch 'INSERT INTO src SELECT number, hex(sipHash128(number)), if(number % 7 = 0, NULL, number / 3) FROM numbers(200000)'
    ch 'SELECT * FROM src FORMAT Native' >data
    run -0 --separate-stderr ch_curl default 'query=INSERT+INTO+dst+FORMAT+Native' -v --data-binary @data
    # shellcheck disable=SC2154 # run sets it
    [[ $stderr == *'Expect: 100-continue'*'HTTP/1.1 100 Continue'*'HTTP/1.1 200 OK'* ]]
    [ "$(ch 'SELECT count(), sum(sipHash64(*)) FROM dst')" = "$(ch 'SELECT count(), sum(sipHash64(*)) FROM src')" ]
    gzip -1 data
    ch 'TRUNCATE TABLE dst'
    ch_curl default 'query=INSERT+INTO+dst+FORMAT+Native' -H 'Content-Encoding: gzip' --data-binary @data.gz --fail-with-body
    [ "$(ch 'SELECT count() FROM dst')" = 200000 ]
}

python=${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python

need_python() {
    [ -x "$python" ] || [ "${REQUIRE_LIVE:-}" = 1 ] || skip 'no python clients (deps.sh python)'
}

unframe() { "$python" "$BATS_TEST_DIRNAME/unframe.py"; }

@test "compress=1: a body goes in LZ4 frames, streamed or whole, an exception's too, and a refused password's not" {
    need_python
    query="SELECT number, hex(sipHash128(number)), repeat('x', 300) FROM numbers(200000) ORDER BY number FORMAT"
    for format in RowBinaryWithNamesAndTypes TSVWithNames JSONCompact; do
        for wait in 0 1; do
            ch "$query $format" "wait_end_of_query=$wait&max_threads=1&output_format_write_statistics=0" >plain
            ch "$query $format" "wait_end_of_query=$wait&max_threads=1&output_format_write_statistics=0&compress=1" >frames
            unframe <frames | cmp - plain
            [ "$(stat -c %s frames)" -lt "$(($(stat -c %s plain) / 2))" ]
        done
    done
    [ "$(ch 'SELECT 1' compress=0)" = 1 ]
    # What nothing is in has no frame.
    ch 'CREATE TABLE frm (a UInt8) ENGINE = MergeTree ORDER BY a' compress=1 >frames
    [ ! -s frames ]
    ch_curl default compress=1 -d 'SELECT * FROM absent' -D headers -o frames
    [ "$(header X-ClickHouse-Exception-Code)" = 60 ]
    [[ $(unframe <frames) == 'Code: 60. DB::Exception: '* ]]
    [[ $(curl -sS -u default:wrong "$CH_URL/?compress=1" -d 'SELECT 1') == 'Code: 516. '* ]]
    run -18 ch_curl default compress=1 -d 'SELECT throwIf(number = 2000000) FROM numbers(5000000) FORMAT RowBinary' -o frames
    unframe <frames | tail -c 600 | grep -aq '^Code: 395. DB::Exception: '
    ch_fault 'when=during&bytes=1000&match=numbers(7777)'
    run -18 ch_curl default compress=1 -d 'SELECT number FROM numbers(7777) FORMAT RowBinary' -o frames
    [ "$(stat -c %s frames)" = 1000 ]
}

@test "a format comes in a header too, after the statement's own and the parameter; bodies come in chunks" {
    [ "$(ch_curl default '' -H 'X-ClickHouse-Format: JSONEachRow' -d 'SELECT 1 AS a')" = '{"a":1}' ]
    [ "$(ch_curl default default_format=CSV -H 'X-ClickHouse-Format: JSONEachRow' -d "SELECT 'a' AS a")" = '"a"' ]
    [ "$(ch_curl default '' -H 'X-ClickHouse-Format: JSONEachRow' -d 'SELECT 1 AS a FORMAT CSV')" = 1 ]
    ch 'CREATE TABLE chn (a UInt64, s String) ENGINE = MergeTree ORDER BY a'
    seq 300000 | sed 's/.*/&\tx&/' >data
    { echo 'INSERT INTO chn FORMAT TSV'; cat data; } >whole
    for sent in "query=INSERT+INTO+chn+FORMAT+TSV data" " whole"; do
        ch_curl default "${sent% *}" -H 'Transfer-Encoding: chunked' --data-binary "@${sent#* }" -v --fail-with-body 2>sent
        grep -qi '^> Transfer-Encoding: chunked' sent
        run -1 grep -qi '^> Content-Length' sent
    done
    [ "$(ch 'SELECT count(), sum(a), uniqExact(s) FROM chn')" = $'600000\t90000300000\t300000' ]
}

@test "a client of Python with its defaults: a session's name, LZ4 over statement and data" {
    need_python
    CH_PASSWORD=$CH_PASSWORD "$python" - <<'PY'
import os
import clickhouse_connect
c = clickhouse_connect.get_client(host="127.0.0.1", port=int(os.environ["CH_PORT"]), username="default", password=os.environ["CH_PASSWORD"])
c.command("CREATE TABLE pyc (a Int64, s String) ENGINE = MergeTree ORDER BY a")
c.insert("pyc", [[i, "x" * 100] for i in range(100000)], column_names=["a", "s"])
assert c.query("SELECT count(), sum(a), min(length(s)) FROM pyc").result_rows == [(100000, 4999950000, 100)]
PY
    # A session holds nothing here, so what would be kept in one is refused, and not forgotten.
    [ "$(ch 'SELECT 1' session_id=s)" = 1 ]
    for sql in 'SET max_threads = 1' 'USE default' 'CREATE TEMPORARY TABLE t (a UInt8)' 'CREATE OR REPLACE TEMPORARY TABLE t (a UInt8)'; do
        refused 48 501 default session_id=s "$sql"
    done
    printf 'SELECT 1' | "$python" -c 'import lz4.frame, sys; sys.stdout.buffer.write(lz4.frame.compress(sys.stdin.buffer.read()))' >packed
    [ "$(ch_curl default '' -H 'Content-Encoding: lz4' --data-binary @packed)" = 1 ]
    truncate -s -1 packed
    [[ $(ch_curl default '' -H 'Content-Encoding: lz4' --data-binary @packed) == 'Code: 271. '* ]]
    [[ $(ch_curl default '' -H 'Content-Encoding: gzip' --data-binary @packed) == 'Code: 48. '* ]]
}

# landed WINDOW PARTITIONS: how many rows two INSERTs of PARTITIONS rows under one token leave.
landed() {
    ch "CREATE TABLE w$1_$2 (k UInt64) ENGINE = MergeTree ORDER BY k PARTITION BY k % 10 SETTINGS non_replicated_deduplication_window = $1"
    ch "$(seq "$2")" "query=INSERT+INTO+w$1_$2+FORMAT+TSV&insert_deduplication_token=t"
    ch "$(seq "$2")" "query=INSERT+INTO+w$1_$2+FORMAT+TSV&insert_deduplication_token=t"
    ch "SELECT count() FROM w$1_$2"
}

@test "a token deduplicates within the window alone; this line takes two entries a block" {
    [ "$(landed 0 1)" = 2 ]
    [ "$(landed 1 1)" = 1 ]
    [ "$(landed 2 3)" = 6 ]
    [ "$(landed 3 3)" = 6 ]
    [ "$(landed 6 3)" = 3 ]
    # A reused token drops other rows and still acknowledges them.
    ch 11 'query=INSERT+INTO+w1_1+FORMAT+TSV&insert_deduplication_token=t'
    [ "$(ch 'SELECT groupArray(k) FROM w1_1')" = '[1]' ]
}

@test "wait_end_of_query has exact counts; a stream's summary comes before them" {
    ch 'CREATE TABLE cnt (k UInt64) ENGINE = MergeTree ORDER BY k'
    ch 'INSERT INTO cnt SELECT number FROM numbers(300001)'
    for format in RowBinary Native JSON TSVWithNames; do
        ch_curl default wait_end_of_query=1 -d "SELECT k FROM cnt WHERE k % 3 = 1 FORMAT $format" -D headers -o body
        [ "$(summary result_rows)" = 100000 ]
        [ "$(summary read_rows)" = 300001 ]
    done
    [ "$(jq '.data | length' <(ch 'SELECT k FROM cnt WHERE k % 3 = 1 FORMAT JSON'))" = 100000 ]
    ch_curl default '' -d 'SELECT k FROM cnt FORMAT RowBinary' -D headers -o body
    [ "$(summary result_rows)" = 0 ]
    [ "$(stat -c %s body)" = 2400008 ]
}

@test "a stream is the same bytes as the whole result, headers once" {
    for format in RowBinary RowBinaryWithNames RowBinaryWithNamesAndTypes TSVWithNamesAndTypes CSVWithNames \
        CSVWithNamesAndTypes JSONEachRow JSONCompactEachRowWithNamesAndTypes JSON; do
        query="SELECT number AS \`a\"
b\`, toString(number) AS s FROM numbers(200000) ORDER BY number SETTINGS output_format_write_statistics = 0 FORMAT $format"
        ch "$query" max_threads=1 >stream
        ch "$query" 'max_threads=1&wait_end_of_query=1' >whole
        cmp stream whole
    done
    [ "$(ch 'SELECT 1 AS a WHERE 0 FORMAT CSVWithNames')" = '"a"' ]
    [ -z "$(ch 'SELECT 1 AS a WHERE 0 FORMAT Native')" ]
}

@test "5 million rows stream without being held in memory" {
    for format in RowBinary Native; do
        echo 5 >"/proc/$CH_PID/clear_refs"
        before=$(awk '/VmHWM/ { print $2 }' "/proc/$CH_PID/status")
        bytes=$(ch "SELECT toFixedString('', 100) FROM numbers(5000000) FORMAT $format" | wc -c)
        after=$(awk '/VmHWM/ { print $2 }' "/proc/$CH_PID/status")
        [ "$bytes" -ge 500000000 ]
        [ $((after - before)) -lt 150000 ]
    done
}

@test "an error in mid-stream breaks the transfer; with wait_end_of_query it is a plain error" {
    query='SELECT throwIf(number = 2000000) FROM numbers(5000000) FORMAT RowBinary'
    run -18 ch_curl default '' -d "$query" -D headers -o body
    grep -q 'HTTP/1.1 200' headers
    tag=$(header X-ClickHouse-Exception-Tag)
    [ "${#tag}" = 16 ]
    tail -c 600 body | tr -d '\r' | grep -aq "^Code: 395. DB::Exception: "
    [ "$(tail -c 600 body | tr -d '\r' | grep -ac -e "^$tag$" -e "^[0-9]* $tag$" -e '^__exception__$')" = 4 ]
    refused 395 500 default wait_end_of_query=1 "$query"
    [ "$(ch 'SELECT 1')" = 1 ]
}

@test "a client that leaves in mid-stream leaves nothing running" {
    query='SELECT number FROM system.numbers FORMAT RowBinary'
    run -28 ch_curl default '' --max-time 1 --limit-rate 1M -o /dev/null -d "$query"
    end=$((SECONDS + 120))
    until [ "$(ch "SELECT count() FROM system.processes WHERE query LIKE '${query% *}%'")" = 0 ]; do
        [ "$SECONDS" -lt "$end" ]
        sleep 0.1
    done
}

@test "status and code of common errors are the server's" {
    refused 60 404 default '' 'SELECT * FROM absent'
    refused 81 404 default '' 'SELECT * FROM absent.absent'
    refused 81 404 default database=absent 'SELECT 1'
    refused 47 404 default '' 'SELECT absent'
    refused 62 400 default max_query_size=10 'SELECT 1 + 1 + 1 + 1'
    refused 168 400 default max_ast_elements=3 'SELECT 1 + 1 + 1 + 1'
    refused 396 500 default max_result_rows=3 'SELECT number FROM numbers(10)'
    refused 159 408 default max_execution_time=0.1 'SELECT count() FROM system.numbers WHERE NOT ignore(sipHash64(number))'
    refused 48 501 default role=r 'SELECT 1'
    refused 358 500 default '' "SELECT 1 INTO OUTFILE '/tmp/x'"
    ch 'CREATE TABLE chk (a Int8, CONSTRAINT c CHECK a > 0) ENGINE = MergeTree ORDER BY a'
    refused 469 500 default '' 'INSERT INTO chk VALUES (1), (-1)'
    [ "$(ch 'SELECT count() FROM chk')" = 0 ]
}

@test "serverUUID() is the directory's own and keeps its column's name" {
    uuid=$(cat "$CH_DIR/identity")
    [[ $uuid =~ ^[0-9a-f]{8}-[0-9a-f]{4}-4 ]]
    [ "$(ch 'SELECT serverUUID() FORMAT TSVWithNames')" = $'serverUUID()\n'"$uuid" ]
    [ "$(ch 'SELECT toString(serverUUID ( )) AS u, serverUUID() v FORMAT TSVWithNames')" = $'u\tv\n'"$uuid	$uuid" ]
    [ "$(ch "SELECT 'serverUUID()' /* serverUUID() */")" = 'serverUUID()' ]
    [ "$(ch 'SELECT toTypeName(serverUUID()), count() FROM system.one WHERE serverUUID() != generateUUIDv4()')" = $'UUID\t1' ]
}

@test "table UUIDs, parts and mutations are real" {
    ch 'CREATE TABLE mut (a UInt64) ENGINE = MergeTree ORDER BY a'
    ch 'INSERT INTO mut SELECT number FROM numbers(5)'
    [ "$(ch "SELECT uuid != toUUIDOrZero('') FROM system.tables WHERE database = 'default' AND name = 'mut'")" = 1 ]
    [ "$(ch "SELECT sum(rows) FROM system.parts WHERE table = 'mut' AND active")" = 5 ]
    # This engine's own mutations_sync is 1: without the setting the statement waits for its end.
    ch 'SYSTEM STOP MERGES mut'
    ch 'ALTER TABLE mut DELETE WHERE a = 1' mutations_sync=0
    [ "$(ch "SELECT count() FROM system.mutations WHERE table = 'mut' AND NOT is_done")" = 1 ]
    ch "KILL MUTATION WHERE table = 'mut'" >/dev/null
    [ "$(ch "SELECT count() FROM system.mutations WHERE table = 'mut' AND NOT is_done")" = 0 ]
}

@test "four requests at once keep their settings and their results apart" {
    for i in 1 2 3 4; do
        for _ in 1 2 3 4 5; do
            ch "SELECT getSetting('max_result_rows'), count() FROM (SELECT number FROM numbers(${i}000000) WHERE NOT ignore(sipHash64(number)))" \
                "max_result_rows=$i" >>"out$i"
        done &
    done
    wait
    for i in 1 2 3 4; do
        [ "$(sort -u "out$i")" = "$i	${i}000000" ]
        [ "$(wc -l <"out$i")" = 5 ]
    done
}

@test "faults cut real connections before and after the statement" {
    ch 'CREATE TABLE flt (a UInt8) ENGINE = MergeTree ORDER BY a'
    ch_fault 'when=before'
    run -52 ch 'INSERT INTO flt VALUES (1)'
    [ "$(ch 'SELECT groupArray(a) FROM flt')" = '[]' ]
    ch_fault 'when=after&n=2&match=flt'
    run -52 ch 'INSERT INTO flt VALUES (2)'
    run -52 ch 'INSERT INTO flt VALUES (3)'
    ch 'INSERT INTO flt VALUES (4)'
    ch_fault 'when=error'
    run -22 ch 'INSERT INTO flt VALUES (5)'
    ch_fault 'when=refuse&status=503'
    run -22 ch 'INSERT INTO flt VALUES (6)'
    [ "$(ch 'SELECT groupArray(a) FROM (SELECT a FROM flt ORDER BY a)')" = '[2,3,4,5]' ]
    ch_fault 'when=during&bytes=1000&match=numbers(7777)'
    run -18 ch 'SELECT number FROM numbers(7777) FORMAT RowBinary'
    ch_fault 'when=delay&ms=300'
    ch_fault 'when=stall&ms=300'
    start=$(date +%s%N)
    ch 'INSERT INTO flt VALUES (7)'
    ch 'INSERT INTO flt VALUES (8)'
    [ $(($(date +%s%N) - start)) -ge 600000000 ]
    ch_fault 'when=before' && ch_fault 'clear=1'
    ch 'INSERT INTO flt VALUES (9)'
    run ! ch_fault 'when=never'
    [[ $(curl -sS -X POST "$CH_URL/__fault?when=before") == "Code: 516."* ]]
}

@test "a statement is held before it is executed, or its answer after, until it is released; and that it is held can be awaited" {
    ch 'CREATE TABLE held (a UInt8) ENGINE = MergeTree ORDER BY a'
    run ! ch_fault 'await=1&ms=1'
    for when in hold withhold; do
        ch_fault "when=$when&n=2&match=held+"
        ch 'INSERT INTO held VALUES (1)' >answer.1 3>&- && : >done.1 &
        first=$!
        ch 'INSERT INTO held VALUES (2)' >answer.2 3>&- && : >done.2 &
        second=$!
        ch_fault await=2
        # Both are used up, and nobody else is held.
        run ! ch_fault 'await=3&ms=1'
        [ "$(ch 'SELECT count() FROM held')" = "$([ $when = hold ] && echo 0 || echo 2)" ]
        [ ! -e done.1 ] && [ ! -e done.2 ]
        ch_fault release=1
        wait "$first" "$second"
        [ -e done.1 ] && [ -e done.2 ]
        [ "$(ch 'SELECT count() FROM held')" = 2 ]
        run ! ch_fault 'await=1&ms=1'
        ch 'TRUNCATE TABLE held'
        rm done.1 done.2
    done
    # What is dropped holds nobody any more, and who was held goes on.
    ch_fault 'when=hold&n=2'
    ch 'INSERT INTO held VALUES (3)' 3>&- &
    first=$!
    ch_fault await=1
    ch_fault clear=1
    wait "$first"
    ch 'INSERT INTO held VALUES (4)'
    [ "$(ch 'SELECT count() FROM held')" = 2 ]
}

@test "after kill -9 it is back on its port with its data and identity; another directory is another server" {
    elsewhere second
    clickhouse_up
    ch 'CREATE TABLE kept (a UInt64, s String) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100'
    ch 'CREATE DATABASE more'
    ch 'CREATE TABLE more.kept AS default.kept'
    ch 'INSERT INTO more.kept SELECT number, toString(number) FROM numbers(1000)'
    ch $'1\tx\n' 'query=INSERT+INTO+kept+FORMAT+TSV&insert_deduplication_token=t'
    identity='SELECT serverUUID(), groupArray(uuid) FROM system.tables WHERE name = '"'kept'"
    before=$(ch "$identity")
    for _ in 1 2; do
        "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
        run ! ch 'SELECT 1'
        url=$CH_URL
        clickhouse_up
        [ "$CH_URL" = "$url" ]
        [ "$(ch "$identity")" = "$before" ]
        [ "$(ch 'SELECT count(), sum(a) FROM more.kept')" = $'1000\t499500' ]
        ch $'1\tx\n' 'query=INSERT+INTO+kept+FORMAT+TSV&insert_deduplication_token=t'
        [ "$(ch 'SELECT * FROM kept')" = $'1\tx' ]
    done
    "$OWED_ROOT/tests/services/clickhouse" down --dir="$CH_DIR"
    [ "$(cat "$CH_DIR/identity")" != "$(cat "$BATS_FILE_TMPDIR/clickhouse/identity")" ]
}

@test "the 26.7 line serves too; there a block takes one entry of the window" {
    elsewhere newer
    clickhouse_up --line=26.7
    clickhouse_need
    [[ $(ch 'SELECT version()') == 26.7.* ]]
    [ "$(landed 3 3)" = 3 ]
    [ "$(landed 2 3)" = 6 ]
    printf '\x01\x03\n\n\n' >data
    ch 'CREATE TABLE bin (k UInt8, s String) ENGINE = MergeTree ORDER BY k'
    ch_curl default 'query=INSERT+INTO+bin+FORMAT+RowBinary' --data-binary @data --fail-with-body
    [ "$(ch 'SELECT hex(s) FROM bin')" = 0A0A0A ]
    [ "$(ch 'SELECT number FROM numbers(1000000) FORMAT RowBinary' | wc -c)" = 8000000 ]
    run -18 ch_curl default '' -d 'SELECT throwIf(number = 2000000) FROM numbers(5000000) FORMAT RowBinary' -o body
    refused 164 500 default readonly=2 'DROP TABLE bin'
    uuid=$(ch 'SELECT serverUUID()')
    "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
    clickhouse_up --line=26.7
    [ "$(ch 'SELECT serverUUID(), count() FROM bin')" = "$uuid	1" ]
    "$OWED_ROOT/tests/services/clickhouse" down --dir="$CH_DIR"
}

@test "the 18.16 server answers, without what came later" {
    elsewhere old
    clickhouse_up --line=18.16
    clickhouse_need
    [ "$(ch 'SELECT version()')" = 18.16.1 ]
    ch_curl default '' -d 'SELECT serverUUID()' -D headers -o body
    [ -z "$(header X-ClickHouse-Exception-Code)" ]
    grep -q '^Code: 46' body
    "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
    clickhouse_up --line=18.16
    [ "$(ch 'SELECT 1')" = 1 ]
    "$OWED_ROOT/tests/services/clickhouse" down --dir="$CH_DIR"
}

@test "a server whose directory is gone ends by itself" {
    elsewhere gone
    clickhouse_up
    rm -r "$CH_DIR"
    end=$((SECONDS + 120))
    while kill -0 "$CH_PID" 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ]
        sleep 0.1
    done
}

@test "what is missing is said: status 77, or 1 with REQUIRE_LIVE=1" {
    OWED_DEPS=/dev/null/none REQUIRE_LIVE=0 run -77 "$OWED_ROOT/tests/services/clickhouse" up --dir=none
    [[ $output == *'not available here: '*libchdb.so* ]]
    OWED_DEPS=/dev/null/none REQUIRE_LIVE=1 run -1 "$OWED_ROOT/tests/services/clickhouse" up --dir=none
}
