#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# JSON columns on the real engine: compared as the text that the server prints of them, on the operator's word. OWED_CH_LINE=26.7
# tries another line.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers
load declared

setup_file() { clickhouse_up ${OWED_CH_LINE:+--line="$OWED_CH_LINE"} --user='small:select:max_block_size=3' --user='odd:select:output_format_json_quote_64bit_integers=1,output_format_json_escape_forward_slashes=1,date_time_output_format=iso,output_format_native_write_json_as_string=0' --user='fixed:select:output_format_native_write_json_as_string==0,output_format_binary_write_json_as_string==0'; }

# as_user NAME: who reads the table from here on.
as_user() {
    asked=(--user="$1" --password-env=CH_PASSWORD)
    CH_PASSWORD=$(cat "$CH_DIR/secret/$1")
}

@test "every place of a JSON reads as its text, in both formats, in several blocks, and before and after a merge" {
    table 'id Int64, j JSON(max_dynamic_paths=2), n Nullable(JSON), a Array(JSON), t Tuple(x JSON, y Array(Nullable(JSON)), z JSON), m Map(LowCardinality(String), JSON), p JSON(a UInt32, b.c DateTime, f Float64, max_dynamic_types=3, SKIP z, SKIP REGEXP '"'q.*'"')' "MergeTree ORDER BY id" \
        "(1, '{\"z\":1,\"b\":{\"d\":[1,2.5,null,\"s\"],\"c\":\"x/y\"},\"a\":1e3}', NULL, ['{\"k\":1}','{}'], ('{\"q\":true}',[NULL,'{\"r\":1}'],'{}'), map('k','{\"m\":null}'), '{\"a\":5,\"u\":\"é\",\"z\":9,\"qq\":1,\"f\":\"nan\"}')" \
        "(2, '{\"b-x\":1,\"b\":{\"c\":9007199254740993},\"y\":\"2020-01-01T00:00:00Z\"}', '{\"a\":\"2020-01-01\"}', [], ('{}',[],'{\"s\":\"2020-01-01T00:00:00.123456\"}'), map(), '{\"b\":{\"c\":\"2020-01-01 00:00:00\"}}'), (3, '{}', NULL, [], ('{}',[],'{}'), map(), '{}'), (4, '{\"e\":{}}', '{}', [], ('{}',[],'{}'), map(), '{}')"
    declare_ 0 --key=id --from={j,n,a,t,m,p}:json-text
    cat >events.in <<'ROWS'
{"id":1,"j":"{\"a\":1000,\"b\":{\"c\":\"x/y\",\"d\":[1,2.5,null,\"s\"]},\"z\":1}","n":null,"a":["{\"k\":1}","{}"],"t":{"x":"{\"q\":true}","y":[null,"{\"r\":1}"],"z":"{}"},"m":{"k":"{}"},"p":"{\"a\":5,\"b\":{\"c\":\"1970-01-01 00:00:00\"},\"f\":\"nan\",\"u\":\"é\"}"}
{"id":2,"j":"{\"b-x\":1,\"b\":{\"c\":9007199254740993},\"y\":\"2020-01-01 00:00:00\"}","n":"{\"a\":\"2020-01-01\"}","a":[],"t":["{}",[],"{\"s\":\"2020-01-01 00:00:00.123456000\"}"],"m":{},"p":"{\"a\":0,\"b\":{\"c\":\"2020-01-01 00:00:00\"},\"f\":0}"}
{"id":3,"j":"{}","n":null,"a":[],"t":["{}",[],"{}"],"m":{},"p":"{\"a\":0,\"b\":{\"c\":\"1970-01-01 00:00:00\"},\"f\":0}"}
{"id":4,"j":"{}","n":"{}","a":[],"t":["{}",[],"{}"],"m":{},"p":"{\"a\":0,\"b\":{\"c\":\"1970-01-01 00:00:00\"},\"f\":0}"}
ROWS
    mapfile -t rows <events.in
    owes 0 "${rows[0]}@t/0/0" "${rows[1]}@t/0/1" "${rows[2]}@t/0/2" "${rows[3]}@t/0/3"
    for merged in no yes; do
        for format in native rowbinary; do
            for user in reader small odd; do # a profile's own spelling does not reach the text
                as_user $user
                audit 0 --format=$format
                says "assumed, not established: column 'j' is compared as the text that the server prints of its JSON (--from=j:json-text)"
                says "assumed, not established: column 'p' is compared as the text"
            done
        done
        ch "SYSTEM START MERGES shop.orders"
        ch "OPTIMIZE TABLE shop.orders FINAL"
    done
}

@test "one digit, another order of members or a member more is a change; an object from the rules is no text" {
    table "id Int64, j JSON" "MergeTree ORDER BY id" "(1, '{\"a\":1,\"b\":2}'), (2, '{\"a\":1}'), (3, '{\"a\":1}'), (4, '{\"a\":\"x\"}')"
    declare_ 0 --key=id --from=j:json-text
    owes 0 '{"id":1,"j":"{\"b\":2,\"a\":1}"}@t/0/0' '{"id":2,"j":"{\"a\":2}"}@t/0/1' '{"id":3,"j":{"a":1}}@t/0/2' '{"id":4,"j":"{\"a\":\"x\"}"}@t/0/3'
    for format in native rowbinary; do
        audit 1 --format=$format
        says "changed 3 rows of 3 keys"
    done
}

@test "without the operator's word it is unsupported by name, and the next action names the option" {
    table "id Int64, j Array(JSON)" "MergeTree ORDER BY id" "(1, ['{\"a\":1}'])"
    declare_ 3 --key=id
    run -3 --separate-stderr from declared "$bin/verdict"
    [[ $output == *"column 'j' is Array(JSON), which is compared as text, and on the operator's word alone"* ]]
    [[ $output == *"say scope-declare --from=j:json-text"* ]]
}

@test "a user whose profile keeps a JSON from being its text is told which setting, and nothing is read" {
    table "id Int64, j JSON" "MergeTree ORDER BY id" "(1, '{}')"
    declare_ 0 --key=id --from=j:json-text
    owes 0 '{"id":1,"j":"{}"}@t/0/0'
    for format in native rowbinary; do
        [ "$format" = native ] && setting=output_format_native_write_json_as_string || setting=output_format_binary_write_json_as_string
        as_user reader
        audit 0 --format=$format
        jq -es --arg s "$setting" 'any(.[]; .type == "observation" and .settings[$s] == "1")' read.ndjson
        as_user fixed
        audit 3 --format=$format
        says "setting-fixed"
        ! grep -q '"side":"destination","read":1,"cells"' read.ndjson
    done
    # Where no JSON is read, none of its settings is sent, and a profile may fix them.
    declare_ 0 --key=id --except=j
    owes 0 '{"id":1}@t/0/0'
    audit 0
    jq -es 'all(.[]; .type != "observation" or (.settings | has("output_format_native_write_json_as_string") | not))' read.ndjson
}

@test "with --final: a JSON's text tells the last row, and rows that are equal in it are no tie" {
    table "id Int64, ver UInt64, j JSON" "ReplacingMergeTree(ver) ORDER BY id" "(1, 1, '{\"a\":1}'), (2, 5, '{\"a\":1}')" "(1, 2, '{\"b\":1}'), (2, 5, '{\"a\":1}')"
    declare_ 0 --key=id --final --from=j:json-text
    owes 0 '{"id":1,"ver":2,"j":"{\"b\":1}"}@t/0/0' '{"id":2,"ver":5,"j":"{\"a\":1}"}@t/0/1'
    for format in native rowbinary; do
        audit 0 --format=$format
    done
    insert "(2, 5, '{\"a\":2}')"
    audit 3
    says "1 keys have several rows of the highest version that differ"
}

@test "the text is spelled as owed-stream(5) says" {
    ch "CREATE TABLE shop.orders (id Int64, j JSON) ENGINE = MergeTree ORDER BY id"
    # what is written, and what is read
    cat >documents <<'ROWS'
{"b":{"c":2,"-":1},"b-x":1,"d":[{"b-x":1,"b":{"c":2}}]}|{"b-x":1,"b":{"-":1,"c":2},"d":[{"b-x":1,"b":{"c":2}}]}
{"s":"\u001f\u000b\b\t\n\f\r\"\\/\u007f<é\u2028\u2029"}|{"s":"\u001F\u000B\b\t\n\f\r\"\\/<é\u2028\u2029"}
{"a":1.0,"b":1e3,"c":1e-7,"d":-0.0,"e":12345678901234.5678,"f":-9223372036854775808,"g":18446744073709551615}|{"a":1,"b":1000,"c":1e-7,"d":-0,"e":12345678901234.568,"f":-9223372036854775808,"g":18446744073709551615}
{"a":"2020-01-01T00:00:00Z","b":"2020-01-01 00:00:00.5","c":"2020-1-1","d":"Jan 1 2020","e":"12:30:00","f":"20200101"}|{"a":"2020-01-01 00:00:00","b":"2020-01-01 00:00:00.500000000","c":"2020-01-01","d":"2020-01-01 00:00:00","e":"12:30:00","f":"20200101"}
{"a":null,"b":{},"c":[],"d":[null,{}],"e":[true,1],"f.g":1}|{"c":[],"d":[null,{}],"e":[1,1],"f":{"g":1}}
ROWS
    local n=0 events=() written wanted
    while IFS='|' read -r written wanted; do
        printf '{"id":%d,"j":%s}\n' $n "$written" | ch_curl default 'query=INSERT+INTO+shop.orders+FORMAT+JSONEachRow' --fail-with-body --data-binary @-
        [ "$n" = 1 ] && wanted=${wanted/<é/$'\x7f'<é}
        events+=("$(jq -cn --argjson id $n --arg j "$wanted" '{id: $id, j: $j}')@t/0/$n")
        n=$((n + 1))
    done <documents
    { echo '{"type":"log","topic":"t","cluster_id":"c","topic_id":"i","partitions":[{"partition":0,"low":0,"high":9,"stable":9}]}' | whole log; }
    from log "$bin/table-look" --url="$CH_URL" "${asked[@]}" --table=shop.orders >looked
    declare_ 0 --key=id --from=j:json-text
    owes 0 "${events[@]}"
    for format in native rowbinary; do audit 0 --format=$format; done
}
