#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Keys that the table must not hold: what was deleted, and what aborted transactions wrote.
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"v","type":"String","key":false}'
    scope-declare --first --key=id --range=0:0-100 --range=1:0-100 --topic=t --database=d --table=t --column=id:Int64 --column=v:String --out=scope.json >declared
}

absent() { printf '{"type":"absent","key":%s%s,"why":"%s"}\n' "$1" "${3:+,\"at\":\"$3\"}" "$2"; } # KEY WHY [AT]
deleted() { absent "[\"$1\"]" deleted "$2"; }
aborted() { absent "[\"$1\"]" aborted "$2"; }
row() { reference "[\"$1\",\"$2\"]" "$3"; } # ID V AT
summed() { jq -c 'select(.type == "summary" and .relation == "reference-destination") | ['"$1"']' <<<"$output"; }
needed() { require reference.destination; } # so that it is decided without a captured side

# ---- comparing ----

@test "a row under the key of an aborted record is unexpected, and says so; where a row is owed the key is as any other" {
    { needed; row 1 a t/0/0; aborted 1 t/0/1; aborted 9 t/0/2; side reference 1; found '["1","a"]' '["9","x"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts reference-destination)" = "0 0 0 0 1" ]
    [ "$(jq -c 'select(.type == "finding") | [.kind, .key, .absent, .absent_at]' <<<"$output")" = '["unexpected",["9"],"aborted","t/0/2"]' ]
    [ "$(code reference.destination)" = rows-aborted ]
    [ "$(reason reference.destination)" = "unexpected 1 rows of 1 keys, all of records that were aborted" ]
    [ "$(summed '.keys, .absent_keys, .unexpected.aborted')" = '[2,1,1]' ]
    { needed; row 1 a t/0/0; aborted 1 t/0/1; aborted 9 t/0/2; side reference 1; found '["1","a"]'; } | whole
    run -0 --separate-stderr diff_
    [ "$(summed '.keys, .owed_rows, .absent_keys, .deleted_rows')" = '[2,1,1,null]' ]
    # Another row under a key that is owed is unexpected for itself.
    { needed; row 1 a t/0/0; aborted 1 t/0/1; side reference 1; found '["1","a"]' '["1","x"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(jq -c 'select(.type == "finding") | [.kind, .absent]' <<<"$output") $(code reference.destination)" = '["unexpected",null] rows-unexpected' ]
}

@test "a deletion takes away the rows of earlier offsets of its partition, and no others" {
    # 1: deleted; 2: owed again since; 3: of another partition; 4: two rows before and one after; 5: a further row of the deletion's own record
    rows() {
        needed
        row 1 a t/0/0; row 2 a t/0/1; row 3 a t/1/0; row 4 a t/0/2; row 4 b t/0/3
        deleted 1 t/0/10; deleted 2 t/0/11; deleted 3 t/0/12; deleted 4 t/0/13; deleted 5 t/0/14
        row 2 b t/0/20; row 4 c t/0/21; row 5 z t/0/14
        side reference 8
    }
    { rows; found '["2","b"]' '["3","a"]' '["4","c"]' '["5","z"]'; } | whole
    run -0 --separate-stderr diff_
    [ "$(summed '.keys, .owed_rows, .found_rows, .absent_keys, .deleted_rows')" = '[5,4,4,1,4]' ]
    { rows; found '["1","a"]' '["2","b"]' '["3","a"]' '["4","a"]' '["5","z"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts reference-destination)" = "0 1 0 0 1" ]
    [ "$(jq -c 'select(.kind == "unexpected") | [.key, .absent, .absent_at]' <<<"$output")" = '[["1"],"deleted","t/0/10"]' ]
}

@test "rows that were not deleted lead with that; a deleted row breaks no run of missing ones" {
    { needed; row 1 a t/0/0; deleted 1 t/0/9; side reference 1; found '["1","a"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(code reference.destination)" = rows-not-deleted ]
    { needed; row 1 a t/0/0; deleted 1 t/0/9; aborted 2 t/0/8; side reference 1; found '["1","a"]' '["2","x"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(code reference.destination)" = rows-unexpected ]
    [ "$(reason reference.destination)" = "unexpected 2 rows of 2 keys, 1 of them of records that were aborted, 1 of them of keys that were deleted" ]
    { needed; for i in 0 1 2 3 4; do row $i a t/0/$i; done; deleted 2 t/0/9; side reference 5; found '["0","a"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(runs)" = '["missing","t",0,1,4,3]' ]
}

@test "nothing owed and keys that must be absent: the table is looked at, and an empty answer passes" {
    { needed; aborted 1 t/0/0; side reference 0; found; } | whole
    run -0 --separate-stderr diff_
    [ "$(summed '.keys, .owed_rows, .absent_keys')" = '[1,0,1]' ]
    # A key that no cell holds is nowhere.
    { needed; absent '[{"unfit":"x"}]' aborted t/0/0; row 1 a t/0/0; side reference 1; found '["1","a"]'; } | whole
    run -0 --separate-stderr diff_
    [ "$(summed '.keys, .absent_keys')" = '[1,null]' ]
}

@test "in scratch files too, whatever the key's columns are" {
    row_columns='{"name":"v","type":"String","key":false},{"name":"id","type":"Int64","key":true},{"name":"t","type":"String","key":true},{"name":"w","type":"String","key":false}'
    many() {
        needed
        awk 'BEGIN { for (i = 0; i < 60000; i++) printf "{\"type\":\"row\",\"side\":\"reference\",\"cells\":[\"%0100d\",\"%d\",\"x\",\"w\"],\"at\":\"t/%d/%d\"}\n", i, i, i % 2, i
            for (i = 0; i < 60000; i += 3) printf "{\"type\":\"absent\",\"key\":[\"%d\",\"x\"],\"at\":\"t/0/%d\",\"why\":\"deleted\"}\n", i, 100000 + i
            for (i = 60000; i < 70000; i++) printf "{\"type\":\"absent\",\"key\":[\"%d\",\"x\"],\"at\":\"t/0/%d\",\"why\":\"aborted\"}\n", i, i }'
        side reference 60000
        for read in 1 2; do
            awk -v r=$read 'BEGIN { for (i = 0; i < 60000; i++) if (i % 6 != 0) printf "{\"type\":\"row\",\"side\":\"destination\",\"read\":%d,\"cells\":[\"%0100d\",\"%d\",\"x\",\"w\"]}\n", r, i, i
                printf "{\"type\":\"row\",\"side\":\"destination\",\"read\":%d,\"cells\":[\"y\",\"6\",\"x\",\"w\"]}\n", r
                printf "{\"type\":\"row\",\"side\":\"destination\",\"read\":%d,\"cells\":[\"y\",\"66666\",\"x\",\"w\"]}\n", r }'
            side destination 50002 $read
        done
    }
    many | whole
    run -1 --separate-stderr diff_ --memory=16M --scratch=.
    small=$(jq -c 'select(.type == "summary" or .type == "finding")' <<<"$output")
    [ "$(summed '.keys, .owed_rows, .found_rows, .absent_keys, .deleted_rows, .unexpected.rows')" = '[70000,50000,50002,20000,10000,2]' ]
    run -1 --separate-stderr diff_ --memory=1G
    [ "$(jq -c 'select(.type == "summary" or .type == "finding")' <<<"$output")" = "$small" ]
}

@test "rows without a place and a deletion: which came first is not known, and nothing is decided" {
    { needed; reference '["1","a"]'; deleted 2 t/0/9; side reference 1; found '["1","a"]'; } | whole
    run -3 --separate-stderr diff_
    [[ "$(code reference.destination) $(reason reference.destination)" == "side-not-whole "*"some have no place"* ]]
    { needed; reference '["1","a"]'; aborted 2 t/0/9; absent '["3"]' deleted; side reference 1; found '["1","a"]'; } | whole
    run -0 --separate-stderr diff_
}

@test "keys that must be absent are asked for before the table is read, and stand before their side ends" {
    { needed; side reference 0; aborted 1 t/0/0; found; } | whole
    run -2 --separate-stderr diff_
    { needed; observation; aborted 1 t/0/0; side reference 0; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(code reference.destination)" = read-before-owed ]
    for line in '{"type":"absent","key":["1","2"],"why":"aborted"}' '{"type":"absent","key":["1"],"why":"gone"}' '{"type":"absent","key":["1"],"at":"x","why":"aborted"}' \
        '{"type":"absent","key":"1","why":"aborted"}' '{"type":"absent","why":"aborted"}'; do
        { needed; echo "$line"; side reference 0; found; } | whole
        run -2 --separate-stderr diff_
    done
}

# ---- the rules and the artifact ----

account() { # ABORTED [DELIVERED]
    local n=${2:-3}
    printf '{"type":"account","stage":"kafka-read","role":"reader","complete":true,"reasons":[],"isolation":"read_committed","logs":[],"ranges":[%s,%s],"delivered":%s,"aborted":%s,"verified":[]}\n' \
        '{"topic":"t","partition":0,"from":0,"to":100,"position":100,"offsets":100,"delivered":'"$n"',"null_values":0,"not_delivered":'$((100 - n))',"complete":true,"reason":""}' \
        '{"topic":"t","partition":1,"from":0,"to":100,"position":100,"offsets":100,"delivered":0,"null_values":0,"not_delivered":100,"complete":true,"reason":""}' "$n" "$1"
}
gone() { record "$@" | sed 's/}$/,"aborted":true}/'; }
read_() {
    jq -c 'select(.type == "scope")' declared
    record 0 '{"id":1,"v":"a"}'
    record 4 '{"id":1,"gone":true}'
    record 5 '{"id":3,"v":"c"}'
    gone 2 '{"id":3,"v":"x"}'
    gone 3 '{"id":9,"v":"x"}'
    gone 6 '{"id":8,"gone":true}'
    account "${1:-3}"
}
rules='"\(.topic)/\(.partition)/\(.offset)" as $at | if .value.gone then {at: $at, absent: {id: .value.id}} else {at: $at, values: .value} end'
run_rules() { # OPTIONS…
    row_columns='' whole
    ref-run "$@" -- jq -c "${filter:-$rules}" <stream >ran
}
lines() { jq -c 'select(.type == "row" or .type == "absent") | [.key // .cells, .at, .why]' "$1"; }

@test "what the rules make of a deletion and of aborted records goes to the artifact, and from there into the stream" {
    read_ | run_rules --strict
    grep -q '"aborted":3,.*"records":3,"rows":2,"absent":3,' ran
    ref-seal --reference-name=x --out=art <ran >sealed
    [ "$(jq -c 'select(.absent and .why) | [.absent, .at, .why]' art)" = $'[["1"],"t/0/4","deleted"]\n[["3"],"t/0/2","aborted"]\n[["9"],"t/0/3","aborted"]' ]
    ref-bind --reference=art <declared >bound
    [ "$(lines bound)" = $'[["1","a"],"t/0/0",null]\n[["1"],"t/0/4","deleted"]\n[["3","c"],"t/0/5",null]\n[["3"],"t/0/2","aborted"]\n[["9"],"t/0/3","aborted"]' ]
    # Bound twice, an artifact that lost such a line, and one that says less than it has.
    run -2 --separate-stderr ref-bind --reference=art <bound
    grep -v '"why":"deleted"' art >less
    run -2 --separate-stderr ref-bind --reference=less <declared
    sed 's/"absent":3,"header/"absent":2,"header/' art >less
    run -2 --separate-stderr ref-bind --reference=less <declared
    sed 's/"why":"deleted"/"why":"aborted"/' art >less
    run -2 --separate-stderr ref-bind --reference=less <declared
    sed 's/{"absent":\["1"\]/{"absent":["01"]/' art >less
    run -2 --separate-stderr ref-bind --reference=less <declared
}

@test "what the accounts count of aborted records and of such keys must fit" {
    read_ 2 | run_rules
    run -3 --separate-stderr ref-seal --reference-name=x --out=art <ran
    [[ $stderr == *"are not those that ref-run was given"* ]]
    read_ | run_rules
    jq -c 'select(.absent == null or .type == "account")' ran | grep -v '"end"' | ended >less
    run -3 --separate-stderr ref-seal --reference-name=x --out=art <less
    [[ $stderr == *"keys that must be absent came, which is not what ref-run counts"* ]]
}

@test "rules without at: what is of an aborted record is not known, nor what a deletion takes away" {
    filter='.value' read_ | filter='.value | del(.gone)' run_rules || [ $? -eq 3 ]
    [ "$(jq -r 'select(.role == "program") | .complete, .code' ran | paste -sd' ')" = "false program-answer" ]
    { jq -c 'select(.type == "scope")' declared; event_of '{"id":1,"v":"a"}'; echo '{"type":"event","at":"t/0/1","absent":{"id":1}}'; } | row_columns='' whole
    run -3 --separate-stderr ref-seal --complete --reference-name=x --out=art <stream
    [[ $stderr == *"1 keys were deleted, and 1 rows have no at"* ]]
}

@test "a deleted key that its column cannot hold: what it takes away is not known, and the artifact says so; of an aborted record it is nowhere" {
    for id in '"one"' 1.5 null 9223372036854775808; do
        { jq -c 'select(.type == "scope")' declared; printf '{"type":"event","at":"t/0/4","absent":{"id":%s}}\n' "$id"; } | row_columns='' whole
        run -3 --separate-stderr ref-seal --complete --reference-name=x --out=art <stream
        [[ $stderr == *"the key that was deleted at t/0/4 does not fit its columns"* ]]
        run -3 --separate-stderr ref-bind --reference=art <declared
        [ "$(code reference.scope)" = program-answer ]
    done
    { jq -c 'select(.type == "scope")' declared; echo '{"type":"event","at":"t/0/4","values":{"id":1.5,"v":"a"},"aborted":true}'; } | row_columns='' whole
    run -0 --separate-stderr ref-seal --complete --reference-name=x --out=art <stream
}

@test "an absent key that is not spelled as its column's type spells it, or one deleted that does not fit, is refused" {
    read_ | run_rules --strict
    ref-seal --reference-name=x --out=art <ran >sealed
    ref-bind --reference=art <declared >bound
    run -3 --separate-stderr rows-diff <bound
    for key in '"01"' '{"unfit":"one"}' '[]'; do
        sed 's/^\({"type":"absent","key":\)\["1"\]\(,.*"deleted"\)/\1['"$key"']\2/' bound >edited
        [ "$(diff bound edited | grep -c '^>')" -eq 1 ]
        run -2 --separate-stderr rows-diff <edited
        # The same of an artifact whose end line has the hash of what it now holds.
        sed '$d; s/^{"absent":\["1"\]/{"absent":['"$key"']/' art >less
        sum=$(sed 1d less | sha256sum | cut -d' ' -f1)
        tail -n 1 art | jq -c --arg sum "$sum" '.rows_sha256 = $sum' >>less
        run -2 --separate-stderr ref-bind --reference=less <declared
        [[ $stderr == *"line "*column* || $stderr == *"deleted key"* ]]
    done
}

@test "a time without a zone in a key that must be absent is refused as in any other value" {
    scope-declare --first --key=at --range=0:0-100 --topic=t --database=d --table=t --column=at:DateTime --from=at:iso --out=zoned.json >zoned
    for answer in '"absent":{"at":"2026-07-01T12:00:00"}' '"values":{"at":"2026-07-01T12:00:00"},"aborted":true'; do
        { jq -c 'select(.type == "scope")' zoned; printf '{"type":"event","at":"t/0/1",%s}\n' "$answer"; } | row_columns='' whole
        run -2 --separate-stderr ref-seal --complete --reference-name=x --out=art <stream
        [ "$(jq -r 'select(.type == "stop") | .code' <<<"$output")" = zone-missing ]
    done
}

@test "a key that must be absent is the key's columns, each and no other" {
    for key in '{"v":"a"}' '{"id":1,"v":"a"}' '{}' '{"x":1}'; do
        { jq -c 'select(.type == "scope")' declared; printf '{"type":"event","at":"t/0/1","absent":%s}\n' "$key"; } | row_columns='' whole
        run -2 --separate-stderr ref-seal --complete --reference-name=x --out=art <stream
        [[ $stderr == *column* ]]
    done
    # What is no object, or comes with more, is a row's values as ever.
    read_ | filter='{at: "\(.topic)/\(.partition)/\(.offset)", absent: 1}' run_rules || [ $? -eq 3 ]
    [ "$(jq -c 'select(.type == "event") | has("values")' ran | sort -u)" = true ]
}
