#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ref-seal: an artifact that says what it is, and every reason for which it is not whole.
bats_require_minimum_version 1.5.0
load stream
load answers
load stop-at

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    scope=$root/fixtures/reference/scope.json
    events=$root/fixtures/reference/events.ndjson
}

seal() { ref-seal --reference-name=n --out=ref "$@"; }
end_line() { tail -n 1 ref; }
account() { of account '"stage":"ref-seal"'; }

incomplete() { # first reason
    [ "$(end_line | jq -r '.complete, .reasons[0]' | tr '\n' '|')" = "false|$1|" ] || { end_line >&2; return 1; }
    [ "$(account | jq -r '.complete, .reasons[0]' | tr '\n' '|')" = "false|$1|" ]
}

# holds: count and both hashes of the artifact, by other means than ours.
holds() {
    [ "$(end_line | jq -r .header_sha256)" = "$(head -n 1 ref | sha256sum | cut -d ' ' -f 1)" ]
    [ "$(end_line | jq -r .rows_sha256)" = "$(sed '1d;$d' ref | sha256sum | cut -d ' ' -f 1)" ]
    [ "$(end_line | jq -r .rows)" = "$(sed '1d;$d' ref | wc -l)" ]
}

good='{"event_id":1,"customer":"c","amount":1,"seen":1,"score":1,"note":"n"}'
with() { jq -c ". + $1" <<<"$good"; }

# rows: event lines on standard input sealed under the operator's word.
rows() {
    whole in
    seal --scope="$scope" --complete "$@" <in
}

@test "the rows of a saved run: complete, its hashes held by other means, everything but events passed" {
    run -0 --separate-stderr seal --reference-version=3 <"$events"
    [ -z "$stderr" ]
    holds
    [ "$(end_line | jq -c '[.end, .rows, .complete, .reasons]')" = '[true,120,true,[]]' ]
    [ "$(head -n 1 ref | jq -c '[.format, .version, .implementation]')" = '["clink-reference-result",1,{"name":"n","version":"3","configuration":null}]' ]
    [ "$(head -n 1 ref | jq -c .scope)" = "$(jq -c . "$scope")" ]
    [ "$(sed -n 2p ref)" = '{"cells":["1202","c038","12021202","1758001202000000","4062c80000000000","n1202"],"at":"orders/0/651","ts":1795992147158}' ]
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream scope account account account end " ]
    [ "$(account | jq -c '[.complete, .rows, .path, .rows_sha256]')" = "$(end_line | jq -c '[true, 120, "ref", .rows_sha256]')" ]
    [ "$(end_line | jq -c '.recorded | [.reader.client, .program.program]')" = '["librdkafka 2.15.1","jq"]' ]
    [ "$(stat -c %a ref)" = 600 ]
    [ -z "$(find . -name ".*.tmp*")" ]
}

@test "the saved rows give the saved artifact again" {
    run -0 --separate-stderr ref-seal --reference-name=orders.jq --reference-version=1 --out=ref <"$events"
    cmp ref "$root/fixtures/reference/reference.ndjson"
}

@test "the scope from a file, that went through jq and Python; both must be the same" {
    jq . "$scope" >pretty.json
    python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); json.dump({k: d[k] for k in reversed(d)}, open("python.json","w"))' "$scope"
    sed 's/"orders"/"\\u006frders"/' "$scope" >escaped.json
    for s in pretty python escaped; do
        run -0 --separate-stderr seal --scope=$s.json <"$events"
        holds
        [ "$(wc -l <ref)" -eq 122 ]
        run -0 bash -c "ref-bind --reference=ref <'$root/fixtures/reference/cut.ndjson'"
    done
    grep -v '"type":"scope"' "$events" | sed 's/"scope":1,//' >bare
    run -0 --separate-stderr seal --scope=pretty.json <bare
    run -2 --separate-stderr ref-seal --reference-name=n --out=none <bare
    [[ $stderr == *"an event before the scope"* ]]
    [ ! -e none ]
}

@test "another scope in the stream than in the file: refused by the field, nothing written" {
    jq -c '.sources[0].partitions[1].to = 712' "$scope" >other.json
    run -2 --separate-stderr seal --scope=other.json <"$events"
    [[ $stderr == *"scope_sha256"* ]]
    sed 's/"checkpoint":7/"checkpoint":9/' "$events" >changed
    run -2 --separate-stderr seal --scope="$scope" <changed
    [ "${#stderr_lines[@]}" -eq 1 ]
    { grep '"type":"scope"' "$events"; grep '"type":"scope"' "$events"; } | whole twice
    run -2 --separate-stderr seal <twice
    [[ $stderr == *"line 3: a second scope"* ]]
    whole none </dev/null
    run -2 --separate-stderr seal <none
    [[ $stderr == "ref-seal: no scope line and no --scope"* ]]
    for bad in '{}' '[]' 'x' '' '{"format":"clink-audit-scope","version":9}'; do
        printf '%s' "$bad" >bad.json
        run -2 --separate-stderr seal --scope=bad.json <"$events"
        [[ $stderr == "ref-seal: 'bad.json': scope"* ]]
    done
    [ ! -e ref ]
}

@test "values: by value, exactly, and unfit where the column cannot hold them" {
    { event_of "$good" t/0/1; event_of "$(with '{amount: "1e-4", event_id: "9007199254740993", score: "-0", note: null}')"
      event_of '{"note":"\u00e9\u0001","score":"inf","seen":"1.5","amount":"123456789012345.12","customer":"\u0000","event_id":1.0}'
      event_of '{"event_id":9223372036854775808,"customer":"","amount":0.00001,"seen":1e30,"score":1e400}'; } >lines
    run -0 --separate-stderr rows <lines
    holds
    [ "$(sed '1d;$d' ref)" = '{"cells":["1","c","10000","1000","3ff0000000000000","n"],"at":"t/0/1"}
{"cells":["9007199254740993","c","1","1000","8000000000000000",null]}
{"cells":["1","\u0000",{"unfit":"123456789012345.12"},"1500","7ff0000000000000","é\u0001"]}
{"cells":[{"unfit":"9223372036854775808"},"",{"unfit":"0.00001"},{"unfit":"1000000000000000000000000000000 ms"},{"unfit":"1e400"},null]}' ]
    [ "$(account | jq -c '[.rows, .unfit_rows, .failed_rows]')" = '[4,2,0]' ]
}

@test "a value of the wrong kind, or none, is unfit and hides no other row" {
    while IFS=$'\t' read -r values cell; do
        { event_of "$good" t/0/1; event_of "$values" t/0/2; event_of "$good"; } >lines
        run -0 --separate-stderr rows <lines
        holds
        [ "$(account | jq -c '[.rows, .unfit_rows, .failed_rows]')" = '[3,1,0]' ]
        [ "$(sed -n 3p ref | jq -c '.cells[] | select(type == "object")')" = "{\"unfit\":$cell}" ] || { sed -n 3p ref >&2; return 1; }
    done <<BAD
$(with '{amount: "12,5"}')	"12,5"
$(with '{amount: true}')	"true"
$(with '{customer: 7}')	"7"
$(with '{seen: "2025-01-01T00:00:00Z"}')	"2025-01-01T00:00:00Z"
$(with '{score: [1]}')	"[1]"
$(with '{score: 9007199254740993}' | sed s/9007199254740992/9007199254740993/)	"9007199254740993"
$(jq -c 'del(.amount)' <<<"$good")	"null"
BAD
}

@test "a value of the wrong kind of any type there is: unfit as it came, beside the rows that are right" {
    types=(UUID "Enum8('a' = 1)" IPv4 IPv6 'FixedString(2)' 'Array(Int8)' 'Tuple(a Int8, b String)' 'Tuple(Int8, UUID)' 'Map(String, Int8)'
        'Nested(a Int8)' Point 'Array(Array(Decimal(4, 2)))' BFloat16 'Map(UUID, Array(IPv4))' 'Decimal(9, 2)' Int256 Bool 'SimpleAggregateFunction(max, Int8)' 'Nullable(UUID)')
    times=(Date Date32 DateTime 'DateTime64(3)' 'Time64(3)' 'Array(Date)')
    columns=(--column=id:Int64) froms=()
    for i in "${!types[@]}"; do columns+=("--column=v$i:${types[i]}"); done
    for i in "${!times[@]}"; do columns+=("--column=t$i:${times[i]}") froms+=("--from=t$i:iso"); done
    scope-declare --first --key=id --range=0:0-100 --topic=t --database=d --table=t "${columns[@]}" "${froms[@]}" --out=v2.json >/dev/null
    n=${#columns[@]}
    jq -cn '("word", "", "2024-02-30", "2024-01-01T25:00:00Z", "12:60", 7.25, true, [[]], ["x", null], {"no": 1}, {"a": {}, "b": []}, [["k", "v"]], "é\u0000") as $v |
        [range('"$((n - 1))"')] | {type: "event", values: ({id: 1} + (to_entries | map({key: (if .key < '"${#types[@]}"' then "v\(.key)" else "t\(.key - '"${#types[@]}"')" end), value: $v}) | from_entries))}' | whole events
    run -0 --separate-stderr ref-seal --scope=v2.json --reference-name=x --out=v2 --complete <events
    [ "$(account | jq -c '[.rows, .unfit_rows, .failed_rows, .complete]')" = '[13,13,0,true]' ]
    # a null is unfit in each that is not Nullable, and no more
    jq -cn '{type: "event", values: {id: 1}}' | whole events
    run -0 --separate-stderr ref-seal --scope=v2.json --reference-name=x --out=v2 --complete <events
    [ "$(sed -n 2p v2 | jq -c '[.cells[] | if type == "object" then .unfit else . end] | group_by(.) | map([.[0], length])')" = '[[null,1],["1",1],["null",'$((n - 2))']]' ]
}

@test "a field that is no column is an error at once; what came before it is sealed, and the artifact incomplete" {
    { event_of "$good" t/0/1; event_of "$(with '{nope: 1}')" t/0/2; event_of "$good"; } >lines
    run -2 --separate-stderr rows <lines
    incomplete "the stream did not come whole: stdin: line 3: column 'nope': the table's scope has no such column"
    [ "$stderr" = "ref-seal: stdin: line 3: column 'nope': the table's scope has no such column" ]
    [ "$(end_line | jq -c '[.rows, .code, .facts]')" = '[1,"column-unknown",{"column":"nope","line":"3"}]' ]
    holds
}

@test "fractions that are compared as their nearest float are counted, on the account, the artifact and the side" {
    for score in 0.1 0.5 3 1e-3; do event_of "$(with "{score: $score}")"; done >lines
    event_of '{"event_id":2,"customer":"c","amount":0.1,"seen":1,"score":"0.3","note":"n"}' >>lines
    run -0 --separate-stderr rows <lines
    [ "$(account | jq .nearest) $(end_line | jq .nearest)" = "3 3" ]
    ref-bind --reference=ref <"$root/fixtures/reference/cut.ndjson" >bound
    [ "$(jq -c 'select(.type == "side" and .side == "reference")' bound)" = '{"type":"side","side":"reference","rows":5,"nearest":3,"whole":true}' ]
    run --separate-stderr bash -c 'rows-diff <bound | verdict'
    [[ $output == *"compared      3 fractions of the reference's rows as the nearest value of their float column"* ]]
    [ "$(rows-diff <bound 2>/dev/null | verdict --json | jq -c .nearest)" = '{"captured":0,"reference":3}' ]
}

@test "a row whose place is none is not sealed: the others are, and the artifact is incomplete" {
    places=('"a\"b"' 7 '"nowhere"' '"t/0/1#0"' '"t/0/9223372036854775808"' '"a b/0/1"' '"t/0/-1"')
    { event_of "$good"; for at in "${places[@]}"; do printf '{"type":"event","at":%s,"values":%s}\n' "$at" "$good"; done; } >lines
    run -3 --separate-stderr rows <lines
    incomplete "the event on line 3: its at is not topic/partition/offset"
    [ "$(end_line | jq -r '.code, .reasons[1:][]')" = "program-answer
$(for i in $(seq 4 9); do echo "the event on line $i: its at is not topic/partition/offset"; done)" ]
    for _ in $(seq 25); do printf '{"type":"event","at":"x","values":%s}\n' "$good"; done >lines
    run -3 --separate-stderr rows <lines
    [ "$(end_line | jq -c '[(.reasons | length), .reasons[10]]')" = '[11,"15 more rows that cannot be sealed"]' ]
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "the time of a row's record is sealed behind its place, and is none where it is no time; what is no number is refused" {
    { event_of "$good" t/0/1 1796000000123; event_of "$good" t/0/2 -1; event_of "$good" t/0/3 null; event_of "$good" t/0/4 0
      event_of "$good" t/0/5 9007199254740993; event_of "$good" '' 7; event_of "$good" t/0/6 9007199254740992; } | rows >/dev/null
    [ "$(sed '1d;$d' ref | sed 's/.*]//' | paste -sd'|')" = \
        ',"at":"t/0/1","ts":1796000000123}|,"at":"t/0/2"}|,"at":"t/0/3"}|,"at":"t/0/4","ts":0}|,"at":"t/0/5"}|}|,"at":"t/0/6","ts":9007199254740992}' ]
    holds
    for ts in 1.5 '"yesterday"' true '[1]' 1e30; do
        event_of "$good" t/0/1 "$ts" | whole in
        run -2 --separate-stderr seal --scope="$scope" --complete <in
        [[ $stderr == *"event.ts: not a whole number of milliseconds" ]]
    done
}

@test "an account that is not complete, in the words of its stage" {
    sed 's/"role":"reader","complete":true,"reasons":\[\]/"role":"reader","complete":false,"reasons":["orders\/0: 122 offsets are gone","b"]/' "$events" >in
    run -3 --separate-stderr seal <in
    incomplete "kafka-read: orders/0: 122 offsets are gone"
    [ "$(end_line | jq .rows)" = 120 ]
    run -3 --separate-stderr seal --complete <in
    incomplete "kafka-read: orders/0: 122 offsets are gone"
    sed 's/"role":"program","complete":true/"role":"program","complete":false/' "$events" >in
    run -3 --separate-stderr seal <in
    incomplete "ref-run: incomplete, without a reason"
    sed 's/"role":"program","complete":true/"role":"program","complete":"yes"/' "$events" >in
    run -2 --separate-stderr ref-seal --reference-name=n --out=none <in
    [[ $stderr == *"account.complete: not true or false"* && ! -e none ]]
    { grep '"type":"scope"' "$events"; grep '"stage":"ref-run"' "$events"; grep '"stage":"ref-run"' "$events"; } | whole in
    run -2 --separate-stderr seal <in
    [[ $stderr == *"a second account of ref-run"* ]]
}

@test "accounts that do not fit the scope, each other or the rows" {
    while IFS=$'\t' read -r edit reason; do
        sed "$edit" "$events" >in
        run -3 --separate-stderr seal <in
        incomplete "$reason"
    done <<'BAD'
s/"partition":1,"from":651,"to":711/"partition":1,"from":651,"to":712/;/"type":"scope"/s/"to":712/"to":711/;/"account"/s/"to":712\(.*\)"complete":true,"reason"/"to":712\1"complete":false,"reason"/	kafka-read read 651 to 712 of orders/1, which is not the scope's range
s/"partition":1,"from":651,"to":711,"position":711,"offsets":60,"delivered":60,"null_values":0,"not_delivered":0/"partition":1,"from":650,"to":711,"position":711,"offsets":61,"delivered":60,"null_values":0,"not_delivered":1/	kafka-read read 650 to 711 of orders/1, which is not the scope's range
/"account"/s/"topic":"orders","partition":1/"topic":"orders","partition":2/	kafka-read gives no account of orders/1
s/"not_delivered":0,"complete":true/"not_delivered":0,"complete":false/	kafka-read did not read orders/0 to its end
/"account"/s/"isolation":"read_committed"/"isolation":"read_uncommitted"/	kafka-read read orders under read_uncommitted, the scope says read_committed
/"account"/s/"position":711,"offsets":60,"delivered":60,"null_values":0,"not_delivered":0,"complete":true/"position":700,"offsets":49,"delivered":49,"null_values":0,"not_delivered":0,"complete":false/g;s/"delivered":120/"delivered":98/;s/"records":120/"records":98/	kafka-read did not read orders/0 to its end
/"account"/s/"topic_id":"[^"]*"/"topic_id":"other"/	kafka-read read another orders than the scope's, by its ids
/"account"/s/"cluster_id":"[^"]*"/"cluster_id":"other"/	kafka-read read another orders than the scope's, by its ids
s/"records":120/"records":119/;s/"readable":120/"readable":119/	the records that kafka-read delivered are not those that ref-run was given, by their counts
s/"rows":120/"rows":121/	120 rows came, which is not what ref-run counts
s/"logs":\[[^]]*\],//	the account of kafka-read has no logs
s/"null_values":0,"not_delivered"/"not_delivered"/	the account of kafka-read has no null_values
s/"records":120,"rows":120,"skips":0,/"records":120,"rows":120,/	the account of ref-run has no skips
s/"readable":120,"null_values":0,"unreadable":0,//	the account of ref-run has no readable
BAD
}

@test "an account that cannot be is refused, and nothing is sealed" {
    while IFS=$'\t' read -r edit why; do
        sed "$edit" "$events" >in
        run -2 --separate-stderr ref-seal --reference-name=n --out=none <in
        [[ $stderr == *"line 3: account$why"* && ! -e none ]] || { echo "$edit: $stderr" >&2; return 1; }
    done <<'BAD'
s/"not_delivered":0/"not_delivered":8/	.ranges[0]: its offsets are not those delivered and those not delivered
s/"offsets":60,/"offsets":68,/;s/"not_delivered":0/"not_delivered":8/	.ranges[0]: its offsets are not those from its first to its position
s/"position":711/"position":712/	.ranges[0]: its positions run backwards
s/"position":711/"position":650/	.ranges[0]: its positions run backwards
s/"from":651,"to":711,"position"/"from":712,"to":711,"position"/	.ranges[0]: its positions run backwards
s/"position":711,"offsets":60,"delivered":60/"position":700,"offsets":49,"delivered":49/	.ranges[0]: it is complete, and was not read to its end
s/"null_values":0/"null_values":61/	.ranges[0]: a part of its offsets is more than all of them
s/"null_values":0/"null_values":-1/	.ranges[0].null_values: not a whole number in [0, 2^64)
s/"not_delivered":0/"not_delivered":0,"aborted":1,"marker_or_absent":0/	.ranges[0]: its offsets not delivered are not those aborted and the others
s/"offsets":60,"delivered":60/"offsets":60,"delivered":18446744073709551615/	.ranges[0]: its offsets are not those delivered and those not delivered
s/"delivered":120/"delivered":119/	.delivered: not what its ranges deliver
BAD
    sed 's/"without_row":0/"without_row":121/' "$events" >in
    run -2 --separate-stderr ref-seal --reference-name=n --out=none <in
    [[ $stderr == *"line 124: account.records: fewer than those of one kind"* && ! -e none ]]
}

@test "no account: the operator's word is needed, and is recorded as that" {
    for role in reader program; do
        grep -v "\"role\":\"$role\"" "$events" | sed 's/"account":2/"account":1/' >in
        run -3 --separate-stderr seal <in
        [[ $stderr == "ref-seal: the reference is incomplete: no account of a $role: "* ]]
        run -0 --separate-stderr seal --complete <in
        [ "$(end_line | jq -c '.complete, .recorded.sealer')" = "true
{\"complete_by_the_operator\":true,\"instead_of\":[\"$role\"]}" ]
    done
    run -0 --separate-stderr seal --complete <"$events"
    [ "$(end_line | jq '.recorded | has("sealer")')" = false ]
}

@test "a stream that is unfinished, or was stopped: incomplete, published, in the words of who stopped" {
    sed '$d' "$events" >short
    run -3 --separate-stderr seal <short
    incomplete "the stream did not come whole: stdin: unfinished stream: its end line is missing"
    [ "${#stderr_lines[@]}" -eq 1 ]
    holds
    head -c 20000 "$events" >cut-off
    run -3 --separate-stderr seal <cut-off
    [ "$(end_line | jq .complete)" = false ]
    { head -n 50 "$events" | sed 1d; stopped unfinished 'the broker is gone' kafka-read
      event_of "$good"; grep '"stage":"ref-run"' "$events"; } | whole stopped
    run -3 --separate-stderr seal --complete <stopped
    incomplete "the stream was stopped by kafka-read: the broker is gone"
    [ "$(end_line | jq .rows)" = 47 ]
    run -3 --separate-stderr seal --scope="$scope" </dev/null
    incomplete "the stream did not come whole: stdin: unfinished stream: empty input"
    { grep '"type":"scope"' "$events"; echo '{"type":"event","values":{"a":1,"a":2}}'; } | whole in
    run -2 --separate-stderr seal --complete <in
    incomplete "the stream did not come whole: stdin: line 3: byte 33: duplicate name"
}

@test "no events: a reference of no row" {
    { grep '"type":"scope"' "$events"; } | whole in
    run -0 --separate-stderr seal --complete <in
    holds
    [ "$(wc -l <ref)" -eq 2 ]
}

@test "the configuration is recorded, and nothing that is named as a secret" {
    printf '{\n  "rate": 1.10,\n  "note": "a\\tb" }\n' >config.json
    run -0 --separate-stderr seal --reference-config=config.json <"$events"
    holds
    head -n 1 ref | grep -qF '"configuration":{   "rate": 1.10,   "note": "a\tb" }}'
    for bad in '[]' '{"a":1,"a":2}' 'x' '{"kafka":{"sasl.password":"hunter2"}}' '[{"api-key":"hunter2"}]' '{"x":[{"Secret":"hunter2"}]}' \
        '{"accessKey":"hunter2"}' '{"pwd":"hunter2"}' '{"broker":["kafka://u:hunter2@h:9092"]}'; do
        echo "$bad" >config.json
        run -2 --separate-stderr ref-seal --reference-name=n --out=none --reference-config=config.json <"$events"
        [[ $stderr == "ref-seal: 'config.json': "* && $stderr$output != *hunter2* ]]
        [ ! -e none ]
    done
}

@test "the artifact appears whole or not at all" {
    mkdir dir
    run -2 --separate-stderr ref-seal --reference-name=n --out=dir <"$events"
    [[ $stderr == *"'dir': it is no regular file"* ]]
    run -3 --separate-stderr ref-seal --reference-name=n --out=none/ref <"$events"
    [ "${#stderr_lines[@]}" -eq 1 ]
    run -2 --separate-stderr ref-seal --reference-name=n --out=/dev/null <"$events"
    echo old >ref
    mkfifo in
    exec 8<>in
    head -n 60 "$events" >&8
    # All that has come is read.
    start_stopped /in 2 ref-seal --reference-name=n --out=ref <in
    kill -9 "$pid"
    wait "$pid" || true
    exec 8>&-
    [ "$(cat ref)" = old ]
    [ -z "$(find . -name ".*.tmp*")" ]
    # a file that may not grow: nothing of it is published
    for _ in $(seq 2000); do event_of "$good"; done | whole in2
    run -3 --separate-stderr bash -c "trap '' XFSZ; ulimit -f 8; exec ref-seal --reference-name=n --scope='$scope' --out=ref <in2 >/dev/null"
    [[ $stderr == *"File too large"* ]]
    [ "$(cat ref)" = old ]
    [ -z "$(find . -name ".*.tmp*")" ]
}

@test "bad usage" {
    run -2 --separate-stderr ref-seal --out=x </dev/null
    [[ $stderr == *"--reference-name and --out are needed"* ]]
    run -2 --separate-stderr ref-seal --reference-name=x </dev/null
    run -2 --separate-stderr ref-seal --reference-name= --out=x </dev/null
    run -2 --separate-stderr seal stray <"$events"
    run -2 --separate-stderr seal --reference-name=$'\xff' <"$events"
    run -3 --separate-stderr seal --scope=none.json <"$events"
    [[ $stderr == *"none.json"* ]]
    [ ! -e ref ]
}

# ---- the last row of each key ----

# last ENGINE_JSON: the scope of three columns whose last rows are meant, in the file last.json.
last() {
    scope_made '.origin = "declared" | del(.bundle) | .declared = {gone: [], final: $final} | .sources = [$source] |
        .columns = [{name: "id", type: "Int64", key: true}, {name: "ver", type: "Int32", key: false}, {name: "s", type: "String", key: false}, {name: "m", type: "Int8", key: false}]' \
        --argjson final "$1" --argjson source "$(source_of t c i read_committed 0:0-9)" | jq -c 'del(.bundle, .scope_sha256)' | scope_print >last.json
}
# rows_at ID,VER,S,M@AT@TS…: such events.
rows_at() {
    local one
    for one; do
        IFS=, read -r id ver s m <<<"${one%%@*}"
        event_of "{\"id\":$id,\"ver\":$ver,\"s\":\"$s\",\"m\":${m:-0}}" "$(cut -s -d@ -f2 <<<"$one")" "$(cut -s -d@ -f3 <<<"$one")"
    done | whole in
}
sealed() { jq -r 'select(.cells) | .cells[:3] | map(if type == "object" then "unfit" else . end) | join(" ")' ref | paste -sd,; }
last_of() { run "-$1" --separate-stderr seal --scope=last.json --complete <in; }

@test "the last row of each key by its version, by its number; one that is unfit orders nothing" {
    last '{"engine":"ReplacingMergeTree","version":"ver","deleted":null,"sign":null}'
    rows_at 1,9,a@t/0/0 1,10,b@t/1/0 1,-11,c@t/0/1 2,-3,x@t/0/2 2,-20,y@t/0/3 3,1,z 3,1,z 4,99999999999,w@t/0/4 4,1,v@t/0/5
    last_of 0
    holds
    [ "$(sealed)" = "1 10 b,2 -3 x,3 1 z,4 unfit w,4 1 v" ]
    [ "$(account | jq -c '[.rows, .superseded]')" = '[5,4]' ]
    # Of one version the later of a partition; of two partitions nothing tells, until a higher version comes.
    rows_at 1,1,a@t/0/0 1,1,b@t/0/5
    last_of 0
    [ "$(sealed)" = "1 1 b" ]
    rows_at 1,1,a@t/0/0 1,1,b@t/1/5
    last_of 3
    incomplete '1 keys have several rows of which nothing says that one is the last, the first ["1"]'
    [ "$(end_line | jq -r .code)" = keys-undetermined ]
    rows_at 1,1,a@t/0/0 1,1,b@t/1/5 1,1,b@t/1/6
    last_of 3
    rows_at 1,1,a@t/0/0 1,1,b@t/1/5 1,2,c@t/0/1
    last_of 0
    rows_at 1,1,a 1,1,b
    last_of 3
    run -3 --separate-stderr seal --scope=last.json --complete --key-memory=1M < <(for i in $(seq 12000); do event_of "{\"id\":$i,\"ver\":1,\"s\":\"x\",\"m\":0}"; done | whole in; cat in)
    [[ $stderr == *"more than the 1048576 bytes of memory"* ]]
    [ "$(jq -r 'select(.type == "stop") | .code' <<<"$output")" = bound-passed ]
}

@test "the last row of a key has the time of its own record, whatever order they came in" {
    local want='["1","t/0/1",5]
["2","t/1/0",null]
["3","t/0/3",0]
["4",null,null]'
    last '{"engine":"ReplacingMergeTree","version":"ver","deleted":null,"sign":null}'
    rows_at 1,9,a@t/0/0@7 1,10,b@t/0/1@5 2,5,y@t/1/0 2,4,x@t/0/2@9 3,1,z@t/0/3@0 4,1,v
    last_of 0
    holds
    [ "$(jq -c 'select(.cells) | [.cells[0], .at, .ts]' ref)" = "$want" ]
    # of equal rows the later one, with its own
    rows_at 1,1,a@t/0/0@9 1,1,a@t/0/5@8
    last_of 0
    [ "$(sed '1d;$d' ref)" = '{"cells":["1","1","a","0"],"at":"t/0/5","ts":8}' ]
}

@test "the rows of a versioned key that take each other away" {
    last '{"engine":"VersionedCollapsingMergeTree","version":"ver","deleted":null,"sign":"m"}'
    rows_at 1,1,a,-1@t/0/0 1,1,a,1@t/0/1 1,2,b,1@t/0/2 2,1,x,1@t/0/3
    last_of 0
    [ "$(sealed)" = "1 2 b,2 1 x" ]
    rows_at 1,1,a,1@t/0/0 1,1,b,1@t/0/1 1,1,a,-1@t/0/2
    last_of 3
    rows_at 1,1,a,-1@t/0/0 1,2,a,1@t/0/1
    last_of 3
}

@test "a scope of last rows names an engine that keeps them, and its columns" {
    rows_at 1,1,a@t/0/0
    while IFS='|' read -r final why; do
        last "$final"
        last_of 2
        [[ $stderr == *"$why"* ]] || { echo "$final: $stderr" >&2; return 1; }
    done <<'CASES'
{"engine":"MergeTree","version":null,"deleted":null,"sign":null}|'MergeTree' keeps every row
{"engine":"SummingMergeTree"}|'SummingMergeTree' keeps every row, or is not known here
{"engine":"ReplacingMergeTree","version":"no"}|column 'no', the engine's version, is not compared
{"engine":"ReplacingMergeTree","version":"s"}|column 's', the engine's version, is String
{"engine":"ReplacingMergeTree","other":1}|other
CASES
}

# zoned STATUS [ARGUMENT OF scope-declare…]: ISO times that stand in `events`, into a column whose type names a zone and one whose does not.
zoned() {
    local want=$1
    shift
    scope-declare --first --key=id --range=0:0-100 --topic=t --database=d --table=t --column=id:Int64 --column="own:DateTime('Europe/Berlin')" \
        --column='v:Array(DateTime64(3))' --from=own:iso --from=v:iso --out=zoned.json "$@" >declared
    run "-$want" --separate-stderr ref-seal --scope=zoned.json --reference-name=x --out=zoned --complete <events
}

@test "A28: a time without a zone is of the zone that its column's type names, else of --zone; what clocks skip or show twice is unfit" {
    printf '{"type":"event","values":{"id":%s,"own":"%s","v":["%s"]}}\n' 1 2026-07-01T12:00:00 2026-07-01T12:00:00.5Z 2 2026-03-29T02:30 2026-01-01T00:00-05:00 \
        3 2026-10-25T02:30:00 2026-01-01T00:00Z 4 2026-10-25T02:30:00+02:00 2026-01-01T00:00Z | whole events
    zoned 0
    [ "$(sed '1d;$d' zoned)" = '{"cells":["1","1782900000",["1782907200500"]]}
{"cells":["2",{"unfit":"2026-03-29T02:30"},["1767243600000"]]}
{"cells":["3",{"unfit":"2026-10-25T02:30:00"},["1767225600000"]]}
{"cells":["4","1792888200",["1767225600000"]]}' ] || { cat zoned >&2; return 1; }
    # the environment's zone is none
    TZ=Asia/Tokyo zoned 0
    cp zoned tokyo
    TZ=UTC zoned 0
    cmp zoned tokyo
    echo '{"type":"event","values":{"id":1,"own":"2026-07-01T12:00:00","v":["2021-11-07T00:59:00","2021-11-07T02:00:00"]}}' | whole events
    zoned 2
    [[ $stderr == *"line 2: column 'v': a time without a zone, and neither the column's type nor the scope names one" ]]
    [ "$(jq -r 'select(.type == "stop") | .code' <<<"$output")" = zone-missing ]
    zoned 0 --zone=America/Toronto
    [ "$(sed -n 2p zoned)" = '{"cells":["1","1782900000",["1636261140000","1636268400000"]]}' ]
    [ "$(jq -r .declared.zone zoned.json)" = America/Toronto ]
    zoned 2 --zone=Nowhere/None
    [[ $stderr == *"a time in a zone that this system does not know" ]]
    # what it was computed with is part of what binds it
    zoned 0 --zone=America/Toronto
    scope-declare --first --key=id --range=0:0-100 --topic=t --database=d --table=t --column=id:Int64 --column="own:DateTime('Europe/Berlin')" \
        --column='v:Array(DateTime64(3))' --from=own:iso --from=v:iso --zone=UTC >declared
    run -2 --separate-stderr ref-bind --reference=zoned <declared
    [[ $stderr == *'declared.zone: '* ]]
    for bad in '' ../x /etc/x 'a b' "$(printf '%064d' 0)"; do
        run -2 --separate-stderr scope-declare --first --key=id --range=0:0-1 --topic=t --table=d.t --column=id:Int64 --zone="$bad"
    done
}
