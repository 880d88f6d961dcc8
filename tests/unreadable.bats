#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A record that nobody could read is not one that owes nothing: from the rules to the verdict, by the cases' numbers.
# shellcheck disable=SC2154 # bats sets output
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    rules=(jq -c -f "$root/examples/reference/orders.jq")
    order='{"event_id":1,"customer":"c","amount":"2.5","seen":1000,"score":0.5,"note":null,"serial":9007199254740993}'
    row='["1","c","25000","1000000","3fe0000000000000",null,"9007199254740993"]'
    scope-declare --first --key=event_id --range=0:0-3 --topic=t --cluster-id=c --topic-id=i --table=d.t --server-uuid=s --table-uuid=u \
        --column=event_id:Int64 --column=customer:String --column='amount:Decimal(18, 4)' --column='seen:DateTime64(6)' --from=seen:ms \
        --column=score:Float64 --column='note:Nullable(String)' --column=serial:UInt64 --out=scope.json >declared
}

# audited STATUS CELLS…: the records in the file in against a table of those rows; the report in $output. The stages before end as they
# must: $said for the three that make and bind the reference.
audited() {
    local want=$1 n=$(($# - 1)) got=()
    shift
    ref-run --strict "${options[@]}" -- "${rules[@]}" <in >rows 2>err || got+=($?)
    ref-seal --scope=scope.json --reference-name=r --out=ref <rows >sealed 2>>err || got+=($?)
    ref-bind --reference=ref <declared >bound 2>>err || got+=($?)
    [ "${got[*]}" = "${said-3 3 3}" ] || { cat err >&2; return 1; }
    {
        jq -c 'if .type == "end" then empty elif .type == "stream" then .stages += [{name: "t", version: "1"}] else . end' bound
        checked reconcile.destination passed ''
        jq -c --argjson n "$n" --argjson keys "${keys:-1}" --slurpfile scope scope.json 'select(.type == "observation") |
            . + {server_uuid: "s", database: "d", table: "t", table_uuid: "u", keys: $keys} | .reads[].rows = $n |
            .columns = ($scope[0].columns | map({name, type}))' "$saved"
        found "$@"
    } | ended >stream
    rows-diff <stream >compared || [ $? -le 3 ]
    verdict --json <compared >report.json || [ $? -le 3 ]
    run "-$want" --separate-stderr verdict <compared
}
account_of_3() { # what kafka-read says of them
    jq -cn '{type: "account", stage: "kafka-read", role: "reader", complete: true, reasons: [], client: "t", isolation: "read_committed",
        logs: [{topic: "t", cluster_id: "c", topic_id: "i"}], ranges: [{topic: "t", partition: 0, from: 0, to: 3, position: 3, offsets: 3,
        delivered: 3, null_values: 0, not_delivered: 0, complete: true, reason: ""}], delivered: 3}'
}
options=()


@test "F17: a message that was cut and one with a name twice, skipped by the pipeline: not passed, and named" {
    { record 0 "$order"; record 1 '{"event_id":2,"customer":"c","amount":"2.5","se'; record 2 '{"event_id":3,"customer":"c","serial":1,"serial":2}'; account_of_3; } | whole in
    audited 3 "$row"
    [[ ${lines[0]} == "NOT DECIDED: reference.scope: the reference is incomplete: ref-run: 2 of 3 records could not be read, the first t/0/1: byte 48: text ends inside a string (exit 3)" ]]
    [[ ${lines[1]} == *"records-unreadable: look at t/0/1"*"--unreadable=skip"* ]]
    [[ $output == *"3 records went to jq, 2 that could not be read, and it gave no row for 2 of them"* ]]
    [[ $output == *"
unreadable    t/0/1: byte 48: text ends inside a string
              t/0/2: byte 41: duplicate name"* ]]
    [ "$(jq -c '[.verdict, .code, .unreadable, .also]' report.json)" = '["partial","records-unreadable",{"records":2,"of":3,"assumed_to_owe_nothing":false,"first":["t/0/1: byte 48: text ends inside a string","t/0/2: byte 41: duplicate name"]},[]]' ]
    # the same of rules that know nothing of it
    rules=(jq -c '{at: "\(.topic)/\(.partition)/\(.offset)"} + if .value.event_id then {values: .value} else {skip: true} end')
    audited 3 "$row"
}

@test "the operator's word that they owe nothing: the assumption leads the report, with their number" {
    { record 0 "$order"; record 1 '{"event_id":2,"customer":"c","amount":"2.5","se'; record 2 'x'; account_of_3; } | whole in
    options=(--unreadable=skip)
    said='' audited 0 "$row"
    [[ ${lines[0]} == PASSED* ]]
    [[ $(sed -n '2,3p' <<<"$output") == *"        assumed, not established: 2 records that could not be read owe nothing (--unreadable=skip), the first t/0/1: byte 48: text ends inside a string" ]]
    [ "$(jq -c '[.verdict, .unreadable.records, .unreadable.assumed_to_owe_nothing, .leads[0]]' report.json)" = \
        "[\"passed\",2,true,\"$(sed -n 's/^ *\(assumed, .*\)/\1/p' <<<"$output")\"]" ]
    [ "$(jq '.assumptions | map(select(test("2 records which could not be read"))) | length' report.json)" = 1 ]
    # and is asked for by nothing else
    said='' audited 1
    [[ ${lines[0]} == FAILED* && ${lines[2]} == *"assumed, not established: 2 records"* ]]
}

@test "rows of the records that could be read fail where they are missing or changed; what is found beyond them decides nothing" {
    { record 0 "$order"; record 1 'x'; record 2 "${order/1/3}"; account_of_3; } | whole in
    local third=${row/1/3}
    keys=2 audited 1 "$row"
    [[ ${lines[0]} == "FAILED: reference-destination: missing 1 rows of 1 keys"* ]]
    [[ $output == *"next"*"records-unreadable: look at t/0/1"* ]]
    keys=2 audited 1 "$row" "${third/25000/25001}"
    [[ ${lines[0]} == "FAILED: reference-destination: changed 1 rows of 1 keys (exit 1)" ]]
    for more in "$row" "${row/25000/25001}"; do
        keys=2 audited 3 "$row" "$third" "$more"
        [ "$(jq -r .code report.json)" = records-unreadable ]
        [[ $output == *"(seen, not decided)"* ]]
        [ "$(jq -c '.findings | map(.undecided) | unique' report.json)" = '[true]' ]
    done
    keys=2 audited 1 "$row" "${row/25000/25001}"
    [[ ${lines[0]} == "FAILED: reference-destination: missing 1 rows of 1 keys; not decided, as the records that could not be read may owe them: unexpected 1 rows of 1 keys (exit 1)" ]]
    [ "$(jq -c '.findings | map([.kind, .undecided])' report.json)" = '[["missing",null],["unexpected",true]]' ]
    [[ $output == *"unexpected  event_id=1"*"(not decided)"* ]]
}

@test "F22: a topic of framed Avro is said to be no JSON, with what to do about that" {
    jq -c '.payload_b64 = "AAAAAAEC/w==" | del(.payload)' <(record 0 '') | { cat; record 1 '' | jq -c '.payload_b64 = "AAAAAAEC/w==" | del(.payload)'
        record 2 '' | jq -c '.payload_b64 = "AAAAAAEC/w==" | del(.payload)'; account_of_3; } | whole in
    rules=(jq -c '{at: "\(.topic)/\(.partition)/\(.offset)"} + if .value == null then {skip: true} else {values: .value} end')
    keys=0 audited 3 "$row"
    [[ ${lines[0]} == *"none of 3 payloads is JSON (the first, t/0/0, is not UTF-8): magic byte 0 and schema id 1, as the clients of a schema registry frame Avro, Protobuf and JSON (exit 3)" ]]
    [[ ${lines[1]} == *"decode payload_b64 in the program (--payload=base64)"* ]]
    [[ $output != *"widen the scope"* ]]
    [ "$(jq -r '[.. | .next? // empty] | map(select(test("widen"))) | length' report.json)" = 0 ]
}

# ---- the captured side, and the whole table ----

unreadable_reference() { # CELLS…
    rows_of '"side":"reference"' "$@"
    open_side reference $# 'the reference is incomplete: 1 of 9 records could not be read'
    checked reference.scope unavailable | sed 's/server-failed/records-unreadable/'
}

@test "against what was captured, and of the whole table, by the same rule" {
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"String"}'
    asked=(reference.capture reconcile.rows reference.destination)
    { require "${asked[@]}"; captured_side '["1","a"]' '["2","a"]'; unreadable_reference '["1","a"]'; found '["1","a"]' '["2","a"]'; } | whole
    run -3 --separate-stderr diff_
    [ "$(check reference.capture) $(check) $(check reference.destination)" = "unavailable passed unavailable" ]
    [[ $(reason reference.capture) == "the reference's rows: not whole: the reference is incomplete: 1 of 9"* ]]
    { require "${asked[@]}"; captured_side '["1","b"]'; unreadable_reference '["1","a"]'; found '["1","b"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(check reference.capture) $(check) $(check reference.destination)" = "failed passed failed" ]
    # nothing on either side is no pass
    { require "${asked[@]}"; captured_side; unreadable_reference; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(check reference.capture) $(check reference.destination)" = "unavailable unavailable" ]
    local more=('["1","a"]')
    for _ in 1 2; do
        { require destination.coverage reference.destination; unreadable_reference '["1","a"]'; observed_whole; found "${more[@]}"; } | whole
        run -3 --separate-stderr diff_
        [ "$(check destination.coverage)" = unavailable ]
        more+=('["3","a"]')
    done
    { require destination.coverage reference.destination; unreadable_reference '["1","a"]'; observed_whole; found; } | whole
    run -1 --separate-stderr diff_
    [ "$(check destination.coverage)" = failed ]
    # a side that says it is whole all the same does not pass, and one that is not for another reason is not compared
    { require reference.destination; unreadable_reference '["1","a"]' | sed 's/"whole":false,"reason":"[^"]*"/"whole":true/'; found '["1","a"]'; } | whole
    run -3 --separate-stderr diff_
    { require reference.destination; unreadable_reference '["1","a"]' | sed s/records-unreadable/reference-unproven/; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(check reference.destination)" = unavailable ]
}

# ---- the artifact ----

# sealed_as FILTER: the artifact's end line changed so.
sealed_as() {
    { head -n -1 ref; tail -n 1 ref | jq -c "$1"; } >changed
    run --separate-stderr ref-bind --reference=changed <declared
}

@test "an artifact whose counts disagree is refused, by their names" {
    { record 0 "$order"; record 1 'x'; record 2 "${order/1/3}"; account_of_3; } | whole in
    keys=2 audited 1
    while IFS=$'\t' read -r edit why; do
        sealed_as "$edit"
        [ "$status" -eq 2 ]
        [[ $stderr == "ref-bind: reference 'changed': end line.recorded$why"* ]] || { echo "$edit: $stderr" >&2; return 1; }
    done <<'BAD'
.recorded.program.readable = 3	.program: records is not the sum of readable, null_values and unreadable
.recorded.program.records = 4	.program: records is not the sum
.recorded.program.without_row = 0	.program: fewer rows than records that have one
.recorded.program.without_row = 3	.program: rows, and every record is without one
.recorded.program.unreadable_records = []	.program: unreadable_records names others than unreadable counts
.recorded.program.rows = 3	: the program's rows are not those of the end line
.recorded.reader |= (.delivered = 4 | .ranges = [])	: the program's records are not those that the reader delivered
.recorded.program += {readable: 3, unreadable: 0, unreadable_records: []}	: not complete for records-unreadable, and the program counts none
.complete = true | .reasons = [] | del(.code, .facts)	: complete, and the program counts unreadable records, which nobody said owe nothing
.complete = true | .reasons = [] | del(.code, .facts, .recorded.program.readable, .recorded.program.null_values, .recorded.program.unreadable)	.program: complete, and without readable
.complete = true | .reasons = [] | del(.code, .facts) | del(.recorded.reader.delivered)	.reader: complete, and without delivered
BAD
    # for one reason more than that it is not compared
    sealed_as '.reasons += ["orders/0: 122 offsets are gone"]'
    [ "$status" -eq 3 ]
    [[ $output != *'"type":"row","side":"reference"'* ]]
    sealed_as '.code = "reference-unproven"'
    [ "$status" -eq 3 ]
    [[ $output != *'"type":"row","side":"reference"'* ]]
    # without rows of its own it is one that lacks them all
    run -3 --separate-stderr ref-bind --reference=ref --expected-out=expected <declared
    [ "$(grep -c '"type":"row","side":"reference"' <<<"$output")" -eq 2 ]
    [ ! -e expected ]
}

@test "accounts that cannot be leave the artifact incomplete" {
    { record 0 "$order"; record 1 'x'; record 2 "${order/1/3}"; account_of_3; } | whole in
    keys=2 audited 1
    while IFS=$'\t' read -r change why; do
        jq -c 'if .role == "program" then '"$change"' else . end' rows >edited
        run -3 --separate-stderr ref-seal --scope=scope.json --reference-name=r --out=other <edited
        [[ $(tail -n 1 other | jq -r '.reasons[-1]') == "$why" ]] || { tail -n 1 other >&2; return 1; }
        [ "$(ref-bind --reference=other <declared 2>/dev/null | grep -c '"type":"row","side":"reference"')" -eq 0 ]
    done <<'BAD'
.readable = 3	the counts of ref-run cannot be: records is not the sum of readable, null_values and unreadable
.complete = true | .reasons = [] | del(.code, .facts)	ref-run is complete, and counts 1 records that could not be read
BAD
    # a range that was not read to its end is said beside them
    sed 's/"complete":true,"reason":""/"complete":false,"reason":""/' rows >edited
    run -3 --separate-stderr ref-seal --scope=scope.json --reference-name=r --out=other <edited
    [ "$(tail -n 1 other | jq -c '[.code, (.reasons | length), .reasons[1]]')" = '["records-unreadable",2,"kafka-read did not read t/0 to its end"]' ]
}
