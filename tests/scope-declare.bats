#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# scope-declare: from what was found of a log and a table, or from options alone, to a scope; and what is refused.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    log=$(found_log orders t1 '[{"partition":0,"low":100,"high":2000,"stable":1990},{"partition":1,"low":0,"high":1800,"stable":1800},{"partition":2,"low":7,"high":7,"stable":7}]')
    table=$(found_table '[["id","Int64",""],["amount","Decimal(18, 4)",""],["seen","DateTime64(6)",""]]')
    { echo "$log"; echo "$table"; columns_of '[{"name":"id","type":"Int64","key":false}]'; echo '{"type":"note","x":1}'; } | whole found
    key=(--key=id --from=seen:ms)
    gone="the log of orders/0 begins at 100: offsets before it are gone and owe nothing that can be computed"
}

found_log() { # TOPIC TOPIC_ID PARTITIONS
    jq -cn --arg topic "$1" --arg id "$2" --argjson partitions "$3" \
        '{type: "log", topic: $topic, cluster_id: "c1", topic_id: $id, cleanup_policy: "delete", partitions: $partitions}'
}

found_table() { # COLUMNS as [name, type, kind]
    jq -cn --argjson columns "$1" '{type: "table", endpoint: "http://h:8123", server_uuid: "s1", server_version: "26.5.3.1", database: "shop", table: "orders",
        table_uuid: "u1", engine: "MergeTree", sorting_key: "id", columns: [$columns[] | {name: .[0], type: .[1], kind: .[2]}], unfit: null}'
}

declare_it() { # STATUS STREAM [ARGUMENT…]
    local want=$1 in=$2
    shift 2
    run "-$want" --separate-stderr from "$in" "$bin/scope-declare" "$@" || { printf '%s\n%s\n' "$stderr" "$output" >&2; return 1; }
}

reason() { jq -r 'select(.type == "check" and .name == "reconcile.scope" and .status == "passed") | .reason' <<<"$output"; }

refused() { # TEXT ARGUMENT…: by one line, in the stream and on standard error; no scope
    local text=$1
    shift
    declare_it 2 "${found:-found}" "$@"
    [[ ${#stderr_lines[@]} -eq 1 && $stderr == "scope-declare: "*"$text"* ]] || { printf 'not "%s": %s\n' "$text" "$stderr" >&2; return 1; }
    [[ $output == *'"type":"stop"'*'"kind":"refused"'*'{"type":"end"'* && $output != *'"type":"require"'* ]]
}

# Well said, and not to be audited: a check with the status and the code, what is required, no scope; and verdict leads with it.
not_audited() { # STATUS CODE REASON ARGUMENT…
    local as=$1 code=$2 text=$3
    shift 3
    declare_it 3 "${found:-found}" "$@" --out=scope.json
    [ "$(jq -r 'select(.type == "check") | .name + " " + .status + " " + .code + " " + .reason' <<<"$output")" = "reconcile.scope $as $code $text" ] ||
        { printf '%s\n' "$output" >&2; return 1; }
    [ "$(jq -r .type <<<"$output" | grep -v '^note$\|^log$' | tr '\n' ' ')" = "stream require check stop end " ]
    [ ! -e scope.json ]
    echo "$output" >declared
    run -3 --separate-stderr from declared "$bin/verdict"
    [[ ${lines[0]} == "NOT DECIDED: scope-declare: no scope: $text (exit 3)" ]] || { printf '%s\n' "$output" >&2; return 1; }
}

@test "ranges of a log and a table that were found" {
    declare_it 0 found "${key[@]}" --range=1:0-1800 --range=0:100-1990 --out=scope.json
    [ -z "$stderr" ]
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream log note require scope columns check end " ]
    [ "$(jq -c 'select(.type == "require") | .checks' <<<"$output")" = '["reconcile.scope","reconcile.destination","reference.scope","reference.destination"]' ]
    document | jq -e '.origin == "declared" and .declared == {gone: [{topic: "orders", partition: 0, offsets: 100}]} and (has("bundle") | not) and
        .destination == {server_uuid: "s1", server_version: "26.5.3.1", database: "shop", table: "orders", table_uuid: "u1"} and
        .sources == [{topic: "orders", cluster_id: "c1", topic_id: "t1",
            isolation: "read_committed", partitions: [{partition: 0, from: 100, to: 1990}, {partition: 1, from: 0, to: 1800}]}] and
        .columns == [{name: "id", type: "Int64", key: true}, {name: "amount", type: "Decimal(18, 4)", key: false},
            {name: "seen", type: "DateTime64(6)", key: false, from: "ms"}]' >/dev/null
    [ "$(reason)" = "$gone" ]
    [ "$(jq -c 'select(.type == "check") | .counts' <<<"$output")" = '{"topics":1,"partitions":2,"offsets":3690}' ]
    [ "$(jq -c 'select(.type == "columns") | .columns' <<<"$output")" = "$(document | jq -c .columns)" ]
    [ "$(cat scope.json)" = "$(document)" ]
}

@test "ALL: up to the stable offset, or under read_uncommitted to the end; an empty partition is said" {
    declare_it 0 found "${key[@]}" --range=ALL
    [ "$(document | jq -c '[.sources[0].partitions[] | [.partition, .from, .to]]')" = '[[0,100,1990],[1,0,1800],[2,7,7]]' ]
    declare_it 0 found "${key[@]}" --range=ALL --isolation=read_uncommitted
    [ "$(document | jq -c '[.sources[0] | .isolation, (.partitions[0] | .to)]')" = '["read_uncommitted",2000]' ]
}

ranges() { document | jq -c '[.sources[] | .topic as $t | .partitions[] | "\($t)/\(.partition):\(.from)-\(.to)"]'; }
chosen() { document | jq -c '.declared.chosen'; }

@test "no range is all of it" {
    declare_it 0 found "${key[@]}"
    all=$(ranges)
    [ "$all" = '["orders/0:100-1990","orders/1:0-1800","orders/2:7-7"]' ]
    [ "$(chosen)" = null ]
    [[ $(reason) == *"the range of orders/0 ends at 1990, where an open transaction holds the log, and not at its end, 2000"* ]]
    declare_it 0 found "${key[@]}" --range=ALL
    [ "$(ranges)" = "$all" ]
}

@test "ranges by files of offsets: those of a Spark checkpoint, of a group, or by hand; at one end or at both" {
    { printf 'v1\n{"batchWatermarkMs":0,"conf":{"a":"1"}}\n{"orders":{"0":150,"1":0,"2":7}}\n'; } >offsets-3
    printf 'v1\n{"batchWatermarkMs":0}\n-\n{"orders":{"2":7,"1":900,"0":250}}' >offsets-4
    declare_it 0 found "${key[@]}" --from-offsets=offsets-3 --to-offsets=offsets-4
    [ "$(ranges)" = '["orders/0:150-250","orders/1:0-900","orders/2:7-7"]' ]
    [ "$(chosen)" = '{"from":"offsets","to":"offsets"}' ]
    echo "$output" >declared
    run -3 --separate-stderr from declared "$bin/verdict"
    grep -qx " *the ranges begin at the offsets of a file; they end at the offsets of a file" <<<"$output"
    declare_it 0 found "${key[@]}" --from-offsets=offsets-4
    [ "$(ranges)" = '["orders/0:250-1990","orders/1:900-1800","orders/2:7-7"]' ]
    [ "$(chosen)" = '{"from":"offsets"}' ]
    declare_it 0 found "${key[@]}" --to-offsets=offsets-4 --isolation=read_uncommitted
    [ "$(ranges)" = '["orders/0:100-250","orders/1:0-900","orders/2:7-7"]' ]
    # -2 and -1 are the log's ends; a partition that the first file does not know came later
    echo '{"orders":{"0":-2}}' >first
    echo '{"orders":{"0":-1,"1":1}}' >last
    declare_it 0 found "${key[@]}" --from-offsets=first --to-offsets=last
    [ "$(ranges)" = '["orders/0:100-1990","orders/1:0-1","orders/2:7-7"]' ]
    refused "--from-offsets: orders/0 has -1, its end, at which no range begins" "${key[@]}" --from-offsets=last
    refused "--to-offsets: orders/0 has -2, its beginning, at which no range ends" "${key[@]}" --to-offsets=first
    echo '{"orders":{"0":200}}' >one
    refused "--to-offsets: the file has no offset of orders/1, which holds 1800 offsets" "${key[@]}" --to-offsets=one
    refused "the range orders/0:250-150, by the offsets of the files, runs backwards" "${key[@]}" --from-offsets=offsets-4 --to-offsets=offsets-3
    refused "--range=0:1-2, and a file of offsets is given too" "${key[@]}" --range=0:1-2 --to-offsets=one
    echo '{"orders":{"0":99,"1":0,"2":7}}' >early
    not_audited unavailable range-expired "the range orders/0:99-250 begins at 99, and the first offset of orders/0 is 100: 1 offsets are gone" "${key[@]}" --from-offsets=early --to-offsets=offsets-4
    echo '{"orders":{"0":2001,"1":0,"2":7}}' >late
    refused "the range orders/0:100-2001 ends at 2001, and the log of orders/0 ends at 2000" "${key[@]}" --to-offsets=late
    while IFS='~' read -r text why; do
        printf '%b' "$text" >bad
        refused "--from-offsets: 'bad': offsets: $why" "${key[@]}" --from-offsets=bad
    done <<'BAD'
{"orders":{"0":-3}}~orders/0: no offset, nor -1
{"orders":{"0":1.5}}~orders/0: no offset, nor -1
{"orders":{"x":1}}~a name within 'orders' that is no partition
{"orders":{"00":1}}~a name within 'orders' that is no partition
{"orders":[1]}~no object of topics
{}~no object of topics
{"orders":{}}~none is there
v2\n{}\n{"orders":{"0":1}}~a checkpoint's file of another version than v1
v1\n{}\n-\n~none is there
v1\n{}\n{"orders":{"0":1}}\n{"orders":{"0":2}}\n~orders/0 stands there twice
~byte 1
BAD
    echo '{"other":{"0":1}}' >other
    refused "--from-offsets: other/0 was not looked at, or is not there" "${key[@]}" --from-offsets=other
    declare_it 3 found "${key[@]}" --from-offsets=nowhere
    [[ $stderr == *"cannot open 'nowhere'"* ]]
    # nobody looked
    run -0 --separate-stderr "$bin/scope-declare" --first --key=id --table=shop.orders --column=id:Int64 --from-offsets=offsets-3 --to-offsets=offsets-4
    [ "$(ranges)" = '["orders/0:150-250","orders/1:0-900","orders/2:7-7"]' ]
    for files in '--from-offsets=offsets-3' '--from-offsets=first --to-offsets=last' '--from-offsets=one --to-offsets=offsets-4' '--from-offsets=offsets-3 --to-offsets=one'; do
        # shellcheck disable=SC2086 # two words
        run -2 --separate-stderr "$bin/scope-declare" --first --key=id --table=shop.orders --column=id:Int64 $files
    done
}

@test "ranges by the times that log-look was asked for, which the scope and the report say" {
    jq -c '.since = "2026-01-01T00:00:00.000Z" | .until = "2026-01-02T00:00:00.000Z" | .partitions |= map(.since = ([.low, 120] | max | [., 7] | if .[0] > 1000 then .[1] else .[0] end) | .until = .high)' <<<"$log" |
        jq -c '.partitions[2].since = 7 | .partitions[0].until = 1995 | .partitions[1].until = 1000' >line
    { cat line; echo "$table"; } | whole timed
    declare_it 0 timed "${key[@]}"
    [ "$(ranges)" = '["orders/0:120-1990","orders/1:120-1000","orders/2:7-7"]' ]
    [ "$(chosen)" = '{"from":"2026-01-01T00:00:00.000Z","to":"2026-01-02T00:00:00.000Z"}' ]
    echo "$output" >declared
    run -3 --separate-stderr from declared "$bin/verdict"
    grep -q "the ranges begin at the first record of 2026-01-01T00:00:00.000Z or later: " <<<"$output"
    found=timed refused "--range=ALL, and log-look was asked for a range by its times" "${key[@]}" --range=ALL
    # a file takes the place of a time, at its end
    echo '{"orders":{"0":130,"1":130,"2":7}}' >from
    declare_it 0 timed "${key[@]}" --from-offsets=from
    [ "$(ranges)" = '["orders/0:130-1990","orders/1:130-1000","orders/2:7-7"]' ]
    # an open transaction before the first record leaves nothing of a partition
    jq -c '.partitions[0].since = 1995' line >later
    { cat later; echo "$table"; } | whole timed
    declare_it 0 timed "${key[@]}"
    [ "$(ranges)" = '["orders/0:1995-1995","orders/1:120-1000","orders/2:7-7"]' ]
    jq -c '.partitions |= map(.since = .high | .until = .high)' line >later
    { cat later; echo "$table"; } | whole none
    found=none not_audited unavailable log-empty "the log of orders has no offset between those that the times give: the ranges hold none, which establishes nothing" "${key[@]}"
    for bad in 'del(.partitions[0].since)' '.partitions[1].until = 1801' '.partitions[1].since = -1'; do
        jq -c "$bad" line >wrong
        { cat wrong; echo "$table"; } | whole timed
        found=timed refused "log.partitions[" "${key[@]}"
    done
}

@test "B01: a range past the stable offset is waited for, and one that ends there for that reason says so" {
    declare_it 0 found "${key[@]}" --range=ALL
    [ "$(reason)" = "$gone; the log of orders/2 begins at 7: offsets before it are gone and owe nothing that can be computed; the range of orders/0 ends at 1990, where an open transaction holds the log, and not at its end, 2000" ]
    declare_it 0 found "${key[@]}" --range=0:101-1990
    [ "$(reason)" = "" ]
    declare_it 0 found "${key[@]}" --range=0:101-2000
    [ "$(reason)" = "the range of orders/0 ends at 2000, and an open transaction holds the log at 1990" ]
    declare_it 0 found "${key[@]}" --range=0:101-2000 --isolation=read_uncommitted
    [ "$(reason)" = "" ]
}

@test "options alone: --first reads nothing, and every id that was not given is named" {
    mkfifo silent
    run -0 --separate-stderr bash -c "timeout 60 '$bin/scope-declare' --first --topic=orders --range=0:0-5 --table=shop.orders --key=id,k \
        --column=id:UInt64 --column='k:LowCardinality(String)' --column='amount:Decimal(18, 4)' <>silent"
    [ "$(reason)" = "declared, not established: the cluster's id, topic id of orders, the server's UUID, the table's UUID" ]
    document | jq -e '.destination == {server_uuid: null, server_version: null, database: "shop", table: "orders", table_uuid: null} and
        .sources[0].cluster_id == null and .sources[0].topic_id == null and [.columns[].key] == [true, true, false]' >/dev/null
    run -0 --separate-stderr "$bin/scope-declare" --first --topic=orders --range=0:0-5 --table=orders.v2 --database=shop --key=id --column=id:UInt64 \
        --cluster-id=c --topic-id=t --server-uuid=s --server-version=26.5 --table-uuid=u
    [ "$(reason)" = "" ]
    document | jq -e '.destination == {server_uuid: "s", server_version: "26.5", database: "shop", table: "orders.v2", table_uuid: "u"} and
        .sources[0].cluster_id == "c" and .sources[0].topic_id == "t"' >/dev/null
}

@test "a half was found, and options say the other" {
    { echo "$log"; } | whole half
    declare_it 0 half --key=id --range=1:0-5 --table=shop.orders --column=id:Int64
    [ "$(reason)" = "declared, not established: the server's UUID, the table's UUID" ]
    { echo "$table"; } | whole half
    declare_it 0 half "${key[@]}" --range=0:0-5 --topic=orders
    [ "$(reason)" = "declared, not established: the cluster's id, topic id of orders" ]
    found_log orders t1 '[{"partition":0,"low":0,"high":5,"stable":5}]' | sed 's/"topic_id":"t1"/"topic_id":null/' >line
    { cat line; echo "$table"; } | whole half
    declare_it 0 half "${key[@]}" --range=ALL
    [ "$(reason)" = "declared, not established: topic id of orders" ]
    declare_it 0 half "${key[@]}" --range=ALL --topic-id=said
    [ "$(document | jq -r '.sources[0].topic_id')" = said ]
}

@test "two topics: a range says which; ALL takes both, or the one that is named" {
    { echo "$log"; found_log refunds t2 '[{"partition":0,"low":0,"high":9,"stable":9}]'; echo "$table"; } | whole two
    declare_it 0 two "${key[@]}" --range=refunds/0:0-9 --range=orders/1:0-5
    [ "$(document | jq -c '[.sources[] | [.topic, .topic_id, .partitions[0].to]]')" = '[["refunds","t2",9],["orders","t1",5]]' ]
    declare_it 0 two "${key[@]}" --range=ALL
    [ "$(document | jq -c '[.sources[].topic]')" = '["orders","refunds"]' ]
    declare_it 0 two "${key[@]}" --range=refunds/ALL
    [ "$(document | jq -c '[.sources[].topic]')" = '["refunds"]' ]
    declare_it 0 two "${key[@]}" --range=ALL --topic=refunds
    [ "$(document | jq -c '[.sources[].topic]')" = '["refunds"]' ]
    found=two refused "2 topics were found; say TOPIC/0:0-5" "${key[@]}" --range=0:0-5
    found=two refused "the ranges are of 2 topics" "${key[@]}" --range=ALL --topic-id=t1
}

@test "--columns chooses and orders; what is left out is named" {
    declare_it 0 found --key=id --columns=amount,id --range=1:0-5
    [ "$(document | jq -c '[.columns[].name]')" = '["amount","id"]' ]
    [ "$(reason)" = "not compared: seen, which --columns or --except leaves out" ]
    table=$(found_table '[["id","Int64",""],["tags","Array(Dynamic)",""],["a,b:c","DateTime",""]]')
    { echo "$log"; echo "$table"; } | whole found
    not_audited unsupported column-type-unsupported "column 'tags' is Array(Dynamic), a type without cells: leave it out, with --except=tags" \
        --key=id --from=a,b:c:ms --range=ALL
    declare_it 0 found --key=id --columns=id --range=1:0-5
    [ "$(reason)" = "not compared: tags, a,b:c, which --columns or --except leaves out" ]
    table=$(found_table '[["id","Int64",""],["tags","Array(Dynamic)",""],["when","DateTime",""]]')
    { echo "$log"; echo "$table"; } | whole found
    declare_it 0 found --key=id --except=tags --from=when:ms --range=1:0-5
    [ "$(document | jq -c '[.columns[].name]')" = '["id","when"]' ]
    [ "$(reason)" = "not compared: tags, which --columns or --except leaves out" ]
    refused "--from=when: --columns leaves this column out" --key=id --columns=id --from=when:ms --range=ALL
    refused "--from=when: --except leaves this column out" --key=id --except=tags,when --from=when:ms --range=ALL
    refused "--except=id: it is a column of the key" --key=id --except=id,tags --from=when:ms --range=ALL
    refused "--except names 'tags' twice" --key=id --except=tags,tags --from=when:ms --range=ALL
    refused "--except=nope: the table has no such column" --key=id --except=nope --from=when:ms --range=ALL
    refused "--columns names all that is compared, and --except is given too" --key=id --columns=id --except=tags --range=ALL
    refused "--columns names all that is compared, and --filled is given too" --key=id --columns=id --filled=tags --range=ALL
    refused "--filled=tags: the table does not fill this column itself" --key=id --filled=tags --from=when:ms --range=ALL
}

# A table that fills columns in each of the ways there are.
fills() {
    { echo "$log"; found_table '[["id","Int64",""],["note","String","DEFAULT"],["day","Date","MATERIALIZED"],["twice","Decimal(18, 4)","ALIAS"],["raw","String","EPHEMERAL"],["at","DateTime","DEFAULT"],["v","Int8",""]]'; } | whole fills
    found=fills
}
left() { document | jq -c '[.declared.left_out[]? | [.name, .kind]]'; }
compared() { document | jq -c '[.columns[] | [.name, .kind // ""]]'; }

@test "a column that the table fills itself is compared where the operator says that the rules give it, and named where not" {
    fills
    declare_it 0 fills --key=id --range=1:0-5
    [ "$(compared)" = '[["id",""],["v",""]]' ]
    [ "$(left)" = '[["note","DEFAULT"],["day","MATERIALIZED"],["twice","ALIAS"],["raw","EPHEMERAL"],["at","DEFAULT"]]' ]
    itself="note (DEFAULT), day (MATERIALIZED), twice (ALIAS), raw (EPHEMERAL), at (DEFAULT), which the table fills itself"
    [ "$(reason)" = "not compared: $itself" ]
    # in the report's first lines
    echo "$output" >declared
    run -3 --separate-stderr from declared "$bin/verdict"
    [ "$(grep -n "^not compared *$itself$" <<<"$output" | cut -d: -f1)" -lt 10 ]
    # said by one option, or by those that name it as owed anyway
    declare_it 0 fills --key=id --range=1:0-5 --filled=note,twice --from=at:s --except=v
    [ "$(compared)" = '[["id",""],["note",""],["twice","ALIAS"],["at",""]]' ]
    [ "$(reason)" = "not compared: v, which --columns or --except leaves out; day (MATERIALIZED), raw (EPHEMERAL), which the table fills itself" ]
    declare_it 0 fills --key=id,day --range=1:0-5 --from=day:days
    [ "$(document | jq -c '.columns[1]')" = '{"name":"day","type":"Date","key":true,"from":"days","kind":"MATERIALIZED"}' ]
    declare_it 0 fills --key=id --range=1:0-5 --columns=twice,id
    [ "$(compared)" = '[["twice","ALIAS"],["id",""]]' ]
    refused "--filled=raw: the table does not keep this column (EPHEMERAL), so that nobody can read it" --key=id --filled=raw --range=ALL
    refused "--columns=raw: the table does not keep this column (EPHEMERAL)" --key=id --columns=id,raw --range=ALL
    refused "--key=raw: the table does not keep this column (EPHEMERAL)" --key=id,raw --range=ALL
    refused "--filled=note: --except leaves this column out" --key=id --filled=note --except=note --range=ALL
    refused "--filled=nope: the table has no such column" --key=id --filled=nope --range=ALL
    refused "column 'day' is Date: say --from=day:UNIT" --key=id --filled=day --range=ALL
}

@test "the columns that a scope leaves out are no others, and what the rules give of them is passed over and counted" {
    fills
    declare_it 0 fills --key=id --range=1:0-5 --out=scope.json
    for bad in '.declared.left_out = []' '.declared.left_out[0].name = "v"' '.declared.left_out[0].x = 1' '.declared.left_out[0] |= del(.kind)' '.columns[1].kind = "DEFAULT"'; do
        jq "$bad" scope.json | scope_print >bad.json
        run -2 --separate-stderr "$bin/kafka-read" --scope=bad.json -b 127.0.0.1:1
        [[ $stderr == *"left_out"* || $stderr == *"columns[1].kind: neither MATERIALIZED nor ALIAS"* ]] || { echo "$bad: $stderr" >&2; return 1; }
    done
    echo '{"type":"event","values":{"id":1,"note":[null],"day":"x","v":2}}' | whole events
    run -0 --separate-stderr from events "$bin/ref-seal" --scope=scope.json --reference-name=r --out=r.ndjson --complete
    [ "$stderr" = "ref-seal: 1 rows give 'note', which the table fills itself (DEFAULT) and the scope leaves out: passed over (scope-declare --filled compares it)
ref-seal: 1 rows give 'day', which the table fills itself (MATERIALIZED) and the scope leaves out: passed over (scope-declare --filled compares it)" ]
    grep -qF '"cells":["1","2"]' r.ndjson
    echo '{"type":"event","values":{"id":1,"nota":1,"v":2}}' | whole events
    run -2 --separate-stderr from events "$bin/ref-seal" --scope=scope.json --reference-name=r --out=r.ndjson --complete
    [[ $stderr == *"column 'nota': the table's scope has no such column"* ]]
}

@test "a table that cannot be judged is not declared, so that no log is read for it" {
    { echo "$log"; jq -c '.unfit = "the table'\''s engine is ReplacingMergeTree, and only a plain MergeTree can be judged"' <<<"$table"; } | whole found
    not_audited unsupported engine-unsupported "the table's engine is ReplacingMergeTree, and only a plain MergeTree can be judged" "${key[@]}" --range=1:0-5
    { echo "$log"; jq -c '.unfit = "the table'\''s definition has a TTL" | .unfit_code = "table-expires"' <<<"$table"; } | whole found
    not_audited unsupported table-expires "the table's definition has a TTL" "${key[@]}" --range=1:0-5
    # A TTL that goes by a column which no row gives.
    { echo "$log"; jq -c '.engine_full = "MergeTree ORDER BY id TTL seen + toIntervalDay(1) SETTINGS x = 1"' <<<"$table"; } | whole found
    not_audited unsupported ttl-column-left-out "column 'seen', of the table's TTL, is not compared: which of the owed rows have expired cannot be told" --key=id --columns=id,amount --range=1:0-5
    declare_it 0 found "${key[@]}" --range=1:0-5
    { echo "$log"; jq -c '.unfit = "x" | .unfit_code = "nope"' <<<"$table"; } | whole found
    refused "table.unfit_code: not known here" "${key[@]}" --range=1:0-5
}

@test "a compacted topic is declared, and said" {
    { echo "${log/\"delete\"/\"compact,delete\"}"; echo "$table"; } | whole found
    declare_it 0 found "${key[@]}" --range=1:0-5
    [ "$(reason)" = "kafka-read will not take orders for whole: it is compacted" ]
}

@test "ranges that are none, overlap, run backwards, or lie past the log are refused with the figures" {
    refused "--range=0:5 is not P:FROM-TO" "${key[@]}" --range=0:5
    for bad in 0:-5 0:5- :1-2 x:1-2 0:01-2 0:1-2x 0:1-9223372036854775808 99999999999:1-2 /0:1-2 -1:1-2 '' all; do
        refused "is not P:FROM-TO" "${key[@]}" --range="$bad"
    done
    refused "--range=0:500-400 runs backwards" "${key[@]}" --range=0:500-400
    refused "--range=0:500-500 holds no offset: its end is the offset after the last" "${key[@]}" --range=0:500-500
    refused "orders/0 has the range 100-200 already, and the two overlap" "${key[@]}" --range=0:100-200 --range=0:199-300
    refused "orders/0 has the range 100-200 already; a scope holds one range of a partition" "${key[@]}" --range=0:100-200 --range=0:200-300
    refused "orders/1 has the range 0-5 already" "${key[@]}" --range=1:0-5 --range=ALL
    refused "--range=1:0-1801 ends at 1801, and the log of orders/1 ends at 1800" "${key[@]}" --range=1:0-1801
    refused "orders has no partition 3; it has 3" "${key[@]}" --range=3:0-1
    refused "topic 'other' was not looked at" "${key[@]}" --range=other/0:0-1
    refused "--topic=other was not looked at" "${key[@]}" --range=0:0-1 --topic=other
    run -2 --separate-stderr "$bin/scope-declare" --first --key=id --range=ALL --table=shop.orders --column=id:Int64
    [[ $stderr == *"ALL needs log-look before"* ]]
    run -2 --separate-stderr "$bin/scope-declare" --first --key=id --table=shop.orders --column=id:Int64
    [[ $stderr == *"--range is needed where log-look did not look"* ]]
}

@test "keys, times and columns that do not fit are refused by name" {
    refused "--key is needed" --range=ALL
    refused "--key=nope: the table has no such column" --key=nope --from=seen:ms --range=ALL
    refused "--key names 'id' twice" --key=id,id --from=seen:ms --range=ALL
    refused "--key: 'id,' holds an empty name" --key=id, --range=ALL
    refused "--key=id: --columns leaves this column out" --key=id --columns=amount --range=ALL
    refused "column 'seen' is DateTime64(6): say --from=seen:UNIT" --key=id --range=ALL
    refused '--from=seen: "weeks" is no unit of time' --key=id --from=seen:weeks --range=ALL
    refused "--from=amount:ms: the column is Decimal(18, 4), which is no time" "${key[@]}" --from=amount:ms --range=ALL
    refused "--from=nope: the table has no such column" "${key[@]}" --from=nope:ms --range=ALL
    refused "--from names 'seen' twice" "${key[@]}" --from=seen:us --range=ALL
    refused "--from=ms is not COLUMN:UNIT" --key=id --from=ms --range=ALL
    refused "--isolation: 'serializable'" "${key[@]}" --range=ALL --isolation=serializable
}

@test "F12: a type without cells, and a column that is no key, are unsupported by name; a key's advice is not to leave it out" {
    { echo "$log"; found_table '[["ts","DateTime64(3, '"'UTC'"')",""],["sensor","String",""],["v","Float64",""]]'; } | whole found
    declare_it 0 found --key=sensor,ts --from=ts:ms --range=ALL
    [ "$(document | jq -c '[.cells, (.columns[] | select(.key).name)]')" = '["clink-canonical-cells-v1","ts","sensor"]' ]
    not_key="and a key is a scalar type, no float and not Nullable"
    not_audited unsupported key-unsupported "--key=v: the column is Float64, $not_key" --key=v --from=ts:ms --range=ALL
    [[ $output == *"choose a --key of scalar columns, no float and not Nullable, instead of v"* && $output != *"leave "*"out"* ]]
    for type in "Variant(Int8, String)" Dynamic "Array(Dynamic)" "AggregateFunction(sum, Int64)" "Nullable(Tuple(Int8))" IntervalDay "QBit(Float32, 4)"; do
        { echo "$log"; jq -c --arg type "$type" '.columns = [{name: "id", type: "Int64", kind: ""}, {name: "x", type: $type, kind: ""}]' <<<"$table"; } | whole found
        not_audited unsupported column-type-unsupported "column 'x' is $type, a type without cells: leave it out, with --except=x" \
            --key=id --range=ALL
        [[ $output == *"leave x out, with --except"* ]]
        not_audited unsupported key-unsupported "--key=x: the column is $type, $not_key" --key=x --range=ALL
        [[ $output != *"leave "*"out"* ]]
        declare_it 0 found --key=id --columns=id --range=ALL
        # the same, said by a person
        run -3 --separate-stderr "$bin/scope-declare" --first --topic=t --range=0:0-5 --table=a.b --column=id:Int64 --column="x:$type" --key=id
        [ "$(jq -r 'select(.type == "check") | .status + " " + .code' <<<"$output")" = "unsupported column-type-unsupported" ]
    done
    for type in "Nullable(Int64)" Float64 BFloat16 "Array(Int64)" "Map(String, Int64)" Point; do
        { echo "$log"; jq -c --arg type "$type" '.columns = [{name: "id", type: $type, kind: ""}]' <<<"$table"; } | whole found
        not_audited unsupported key-unsupported "--key=id: the column is $type, $not_key" --key=id --range=ALL
    done
    # What is said wrong is still refused, and every unsupported column is named.
    { echo "$log"; found_table '[["id","Array(UUID)",""],["a","Dynamic",""],["seen","Date",""]]'; } | whole found
    refused "column 'seen' is Date: say --from=seen:UNIT" --key=id --range=ALL
    not_audited unsupported key-unsupported "--key=id: the column is Array(UUID), $not_key; column 'a' is Dynamic, a type without cells: leave it out, with --except=a" \
        --key=id --from=seen:days --range=ALL
}

@test "columns of types that v1 lacks have cells of v2, in the scope and in the stream; times need a unit wherever they stand" {
    for type in UUID "Enum8('a' = 1)" "Array(String)" "Map(String, Int64)" "FixedString(3)" IPv4 "LowCardinality(Int64)"; do
        { echo "$log"; jq -c --arg type "$type" '.columns = [{name: "id", type: "Int64", kind: ""}, {name: "x", type: $type, kind: ""}]' <<<"$table"; } | whole found
        declare_it 0 found --key=id --range=ALL
        [ "$(document | jq -r .cells) $(jq -r 'select(.type == "columns") | .cells' <<<"$output")" = "owed-cells-v2 owed-cells-v2" ]
        [ "$(document | jq -r '.columns[1].type')" = "$type" ]
    done
    { echo "$log"; found_table '[["id","Int64",""],["x","Array(Tuple(a Date, b Int8))",""]]'; } | whole found
    refused "column 'x' is Array(Tuple(a Date, b Int8)): say --from=x:UNIT" --key=id --range=ALL
    declare_it 0 found --key=id --from=x:days --range=ALL
}

@test "F25: what retention took is counted; a range that it has taken, and a log that holds nothing, are unavailable" {
    { found_log t t1 '[{"partition":0,"low":2,"high":4,"stable":4}]'; echo "$table"; } | whole found
    declare_it 0 found "${key[@]}" --range=ALL
    [ "$(document | jq -c '[.declared.gone, .sources[0].partitions]')" = '[[{"topic":"t","partition":0,"offsets":2}],[{"partition":0,"from":2,"to":4}]]' ]
    gone="the log of t/0 begins at 2: offsets before it are gone and owe nothing that can be computed"
    [ "$(reason)" = "$gone" ]
    echo "$output" >declared
    run -3 --separate-stderr from declared "$bin/verdict"
    # in the first lines, beside the range
    [ "$(grep -nx " *$gone" <<<"$output" | cut -d: -f1)" -lt 10 ]
    run -3 --separate-stderr from declared "$bin/verdict" --json
    jq -e --arg gone "$gone" '.about.scope | index($gone)' <<<"$output"
    declare_it 0 found "${key[@]}" --range=0:3-4
    [ "$(document | jq -c .declared)" = '{"gone":[]}' ]
    declare_it 0 found "${key[@]}" --range=0:2-4
    [ "$(document | jq -c '.declared.gone[].offsets')" = 2 ]
    not_audited unavailable range-expired "--range=0:0-4 begins at 0, and the first offset of t/0 is 2: 2 offsets are gone" "${key[@]}" --range=0:0-4
    [[ $output == *"from offset 2 of t/0 on"* ]]
    refused "--range=0:0-5 ends at 5, and the log of t/0 ends at 4" "${key[@]}" --range=0:0-5
    { found_log t t1 '[{"partition":0,"low":4,"high":4,"stable":4},{"partition":1,"low":0,"high":0,"stable":0}]'; echo "$table"; } | whole found
    not_audited unavailable log-expired "the log of t begins where it ends: all of it is gone, which establishes nothing" "${key[@]}" --range=ALL
    not_audited unavailable range-expired "--range=0:0-4 begins at 0, and the first offset of t/0 is 4: 4 offsets are gone" "${key[@]}" --range=0:0-4
    { found_log t t1 '[{"partition":0,"low":0,"high":0,"stable":0}]'; echo "$table"; } | whole found
    not_audited unavailable log-empty "the log of t is empty: the ranges hold no offset, which establishes nothing" "${key[@]}" --range=ALL
    { found_log t t1 '[{"partition":0,"low":0,"high":3,"stable":0}]'; echo "$table"; } | whole found
    not_audited unavailable transaction-open "an open transaction holds the log of t/0 at 0, and its end is 3: the ranges hold no offset, which establishes nothing" \
        "${key[@]}" --range=ALL
}

@test "what is said and what was found must agree" {
    refused "--database=mall, and the table found has shop" "${key[@]}" --range=ALL --database=mall
    refused "--database=mall, and the table found has shop" "${key[@]}" --range=ALL --table=mall.orders
    refused "--server-version=24.3, and the table found has 26.5.3.1" "${key[@]}" --range=ALL --server-version=24.3
    { echo "$log"; found_log refunds t2 '[{"partition":0,"low":0,"high":9,"stable":9}]'; echo "$table"; } | whole two
    found=two refused "--topic=orders, and each --range names another topic" "${key[@]}" --topic=orders --range=refunds/0:0-9
    run -2 --separate-stderr "$bin/scope-declare" --first --key=id --topic=orders --range=refunds/0:0-9 --table=shop.orders --column=id:Int64
    [[ $stderr == *"--topic=orders, and each --range names another topic" ]]
    refused "--cluster-id=c2, and the log of orders has c1" "${key[@]}" --range=ALL --cluster-id=c2
    refused "--topic-id=t2, and the log of orders has t1" "${key[@]}" --range=ALL --topic-id=t2
    refused "--table=payments, and the table found has orders" "${key[@]}" --range=ALL --table=shop.payments
    refused "--table-uuid=u2, and the table found has u1" "${key[@]}" --range=ALL --table-uuid=u2
    refused "--server-uuid=s2, and the table found has s1" "${key[@]}" --range=ALL --server-uuid=s2
    refused "--column=id, and the table's columns were found" "${key[@]}" --range=ALL --column=id:Int64
    refused "--table=orders is not DATABASE.TABLE" "${key[@]}" --range=ALL --table=orders
    refused "holds several dots" "${key[@]}" --range=ALL --table=a.b.c
    refused "is empty" "${key[@]}" --range=ALL --topic-id=
    declare_it 0 found "${key[@]}" --range=ALL --cluster-id=c1 --topic-id=t1 --table=shop.orders --table-uuid=u1 --topic=orders
}

@test "a stream that has a scope, a bundle, two tables, or one topic twice is refused" {
    for line in '{"type":"bundle","path":"b","manifest_sha256":"x","job":"1","checkpoint":1}' "$(scope_of s u d t '[{"name":"id","type":"Int64"}]')" \
        "$table" "$log" '{"type":"log","topic":"x"}' '{"type":"log","topic":"x","partitions":[{"partition":0,"low":5,"high":1,"stable":1}]}'; do
        { echo "$log"; echo "$table"; echo "$line"; } | whole twice
        found=twice refused "line 4: " "${key[@]}" --range=ALL
    done
    columns_of '[{"name":"id","type":"Int64"}]' | whole lone
    found=lone refused "columns of no table" "${key[@]}" --range=ALL
}

@test "an input that is unfinished or stopped declares nothing" {
    head -n 3 found >part
    declare_it 3 part "${key[@]}" --range=ALL
    [ -z "$(jq -c 'select(.type == "require")' <<<"$output")" ]
    { echo "$log"; stopped unfinished r table-look; } | whole part
    declare_it 3 part "${key[@]}" --range=ALL --out=scope.json
    [ -z "$(jq -c 'select(.type == "require")' <<<"$output")" ]
    [ ! -e scope.json ]
}

@test "a declared scope alone is no verdict: what nobody compared is unavailable" {
    declare_it 0 found "${key[@]}" --range=ALL
    echo "$output" >declared
    run -3 --separate-stderr from declared "$bin/verdict"
    [[ $output == *reference.destination* ]]
    run -3 --separate-stderr bash -c "'$bin/ch-read' --url=http://127.0.0.1:1 <declared"
    [[ $stderr == "ch-read: not read: nothing says what is owed"* ]]
}

@test "a document that went through jq or Python is the same scope" {
    # As text: jq 1.6 would make another number of it here.
    found_log orders t1 '[{"partition":0,"low":0,"high":"9007199254740993","stable":"9007199254740993"}]' >line
    { cat line; found_table '[["id","Int64",""],["naïve \"q\" \u007f","String",""],["☃","Float64",""]]'; } | whole found
    declare_it 0 found --key=id --range=ALL --out=scope.json
    [ "$(document | jq -r '.sources[0].partitions[0].to')" = 9007199254740993 ]
    rewrite() { # NAME: standard input is the document as another program wrote it
        { printf '{"type":"scope","document":'; tr -d '\n' <"$1"; printf '}\n'; jq -c 'select(.type == "columns" or .type == "check")' <<<"$declared"; captured_side '["1","x","3ff0000000000000"]'; } | whole again
        run -3 --separate-stderr from again "$bin/ch-read" --url=http://127.0.0.1:1
        [[ $stderr == *connecting* ]] || { echo "$1: $stderr" >&2; return 1; }
    }
    declared=$output
    jq . scope.json >by-jq
    jq -aS --indent 7 . scope.json >by-jq-ascii
    python3 -c 'import json; print(json.dumps(json.load(open("scope.json")), indent=2))' >by-python
    python3 -c 'import json; print(json.dumps(json.load(open("scope.json")), sort_keys=True, ensure_ascii=False))' >by-python-raw
    run ! grep -q 'naïve' by-python
    for other in by-jq by-jq-ascii by-python by-python-raw; do
        run ! cmp -s scope.json $other
        rewrite $other
    done
    sed 's/"partition": 0/"partition": 1/' by-python >changed
    run ! rewrite changed
}

@test "a JSON is compared as text on the operator's word alone, at any depth, and never as a key" {
    for type in JSON "JSON(max_dynamic_paths=4, a UInt32, SKIP b)" "Nullable(JSON)" "Array(JSON)" "Tuple(x JSON, y UInt8)" "Map(LowCardinality(String), JSON)"; do
        { echo "$log"; jq -c --arg type "$type" '.columns = [{name: "id", type: "Int64", kind: ""}, {name: "x", type: $type, kind: ""}]' <<<"$table"; } | whole found
        not_audited unsupported json-not-declared "column 'x' is $type, which is compared as text, and on the operator's word alone: leave it out, with --except=x" \
            --key=id --range=ALL
        [[ $output == *"say scope-declare --from=x:json-text, with rules that give the server's text; or leave x out, with --except"* ]]
        plain=$(declare_it 0 found --key=id --except=x --range=ALL; document | jq -r .scope_sha256)
        declare_it 0 found --key=id --from=x:json-text --range=ALL
        [ "$(document | jq -c '[.cells, (.columns[] | select(.name == "x") | .type, .from)]')" = "$(jq -cn --arg t "$type" '["owed-cells-v2", $t, "json-text"]')" ]
        [[ $output == *'"type":"columns","cells":"owed-cells-v2"'* && "$(document | jq -r .scope_sha256)" != "$plain" ]]
        refused "--from=x:ms: the column is $type, which is no time" --key=id --from=x:ms --range=ALL
        not_audited unsupported key-unsupported "--key=x: the column is $type, and a key is a scalar type, no float and not Nullable" --key=x --from=x:json-text --range=ALL
    done
    refused "--from=id:json-text: the column is Int64, which is no JSON" --key=id --from=x:json-text --from=id:json-text --range=ALL
    for type in "LowCardinality(JSON)" "Tuple(t DateTime, j JSON)" "Array(Dynamic)"; do
        { echo "$log"; jq -c --arg type "$type" '.columns = [{name: "id", type: "Int64", kind: ""}, {name: "x", type: $type, kind: ""}]' <<<"$table"; } | whole found
        not_audited unsupported column-type-unsupported "column 'x' is $type, a type without cells: leave it out, with --except=x" --key=id --from=x:json-text --range=ALL
    done
}
