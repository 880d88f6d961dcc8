#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ref-bind: bound to the scope or refused by the first field that differs; whole as its writer finished it or refused by the line.
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    cut=$root/fixtures/reference/cut.ndjson
    whole_ref=$root/fixtures/reference/reference.ndjson
}

# finish: header and rows on standard input, an end line with their count and hashes after them. $1: members in place of the usual.
finish() {
    cat >body
    printf '{"end":true,"rows":%s,"header_sha256":"%s","rows_sha256":"%s",%s}\n' "$(sed 1d body | wc -l)" \
        "$(head -n 1 body | sha256sum | cut -d ' ' -f 1)" "$(sed 1d body | sha256sum | cut -d ' ' -f 1)" \
        "${1:-\"complete\":true,\"reasons\":[]}" | cat body - >ref
    rm body
}

header() { head -n 1 "$whole_ref"; }
bind() { ref-bind --reference=ref <"$cut"; }

# bound_to_scope: the same over a stream of the scope alone.
bound_to_scope() {
    [ -e scope ] || { echo "$head"; grep '"type":"scope"' "$cut"; echo '{"type":"end","lines":{"stream":1,"scope":1}}'; } >scope
    ref-bind --reference=ref <scope
}

refused() { # text in the message
    [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$stderr" >&2; return 1; }
    [[ $stderr == "ref-bind: reference 'ref'"*"$1"* ]] || { echo "$stderr" >&2; return 1; }
    [ "$(grep -c '^{"type":"stop","stage":"ref-bind","kind":"refused"' <<<"$output")" -eq 1 ]
    [[ $output == *$'\n{"type":"end",'* ]]
    [[ $output != *'"type":"side","side":"reference"'* && $output != *'"type":"check","stage":"ref-bind"'* ]]
}

@test "bound: rows in their order, side, check, the checks that the run needs, and who verified what" {
    cp "$whole_ref" ref
    run -0 --separate-stderr bind
    [ -z "$stderr" ]
    diff <(of row '"side":"reference"' | jq -c '{cells, at, ts}') <(sed '1d;$d' ref | jq -c .)
    grep -qF '{"type":"row","side":"reference","cells":["1202","c038","12021202","1758001202000000","4062c80000000000","n1202"],"at":"orders/0/651","ts":1795992147158}' <<<"$output"
    [ "$(of side '"side":"reference"')" = '{"type":"side","side":"reference","rows":120,"whole":true}' ]
    [ "$(of check '"stage":"ref-bind"' | jq -c '[.name, .status, .reason, .evidence, .counts]')" = '["reference.scope","passed","",["ref"],{"rows":120}]' ]
    [ "$(of require | tail -n 1 | jq -c .checks)" = '["reference.scope","reference.capture","reference.destination"]' ]
    [ "$(of account | jq -c '[.stage, .implementation.name, .rows, .complete, .verified_here]')" = '["ref-bind","orders.jq",120,true,["binding","hashes","cells"]]' ]
    [ "$(of account | jq -c '[.verified_by_writer, .recorded]')" = "$(tail -n 1 ref | jq -c '[.verified, .recorded]')" ]
    # all that came has passed as it was
    diff <(sed '1d;$d' "$cut") <(sed '1d;$d' <<<"$output" | head -n "$(sed '1d;$d' "$cut" | wc -l)")
    run -3 --separate-stderr bash -c "ref-bind --reference=ref <'$cut' | rows-diff"
    [ "$(of check '"stage":"[a-z-]*","name":"reference.capture"' | jq -r .status)" = passed ]
}

@test "an artifact without its records' times is bound as it is; a time that is none, or stands elsewhere, is refused" {
    rest() { header; sed -n "2s/.*/$1/p" "$whole_ref"; sed '1,2d;$d' "$whole_ref"; }
    { header; sed '1d;$d;s/,"ts":[0-9]*//' "$whole_ref"; } | finish
    run -0 --separate-stderr bind
    [ "$(of row '"side":"reference"' | jq -c 'has("ts")' | sort | uniq -c | tr -d ' ')" = 120false ]
    local cells='{"cells":["1202","c038","12021202","1758001202000000","4062c80000000000","n1202"]'
    for bad in ',"at":"orders\/0\/651","ts":-1}' ',"at":"orders\/0\/651","ts":1.5}' ',"at":"orders\/0\/651","ts":"5"}' ',"at":"orders\/0\/651","ts":05}' \
        ',"ts":5,"at":"orders\/0\/651"}' ',"ts":5}' ',"at":"orders\/0\/651","ts":null}' ',"at":"orders\/0\/651","ts":9007199254740993}'; do
        rest "$cells$bad" | finish
        run -2 --separate-stderr bound_to_scope
        refused ''
    done
    rest "$cells"',"at":"orders\/0\/651","ts":0}' | finish
    run -0 --separate-stderr bound_to_scope
    grep -qF '"at":"orders/0/651","ts":0}' <<<"$output"
}

@test "a credential that another's artifact records goes into no stream and no report" {
    { header | jq -c '.implementation.configuration = {rate: 1.5, "sasl.password": "hunter2", broker: "kafka://u:hunter2@h:9092"}'; sed '1d;$d' "$whole_ref"; } |
        finish '"complete":true,"reasons":[],"recorded":{"http":{"Authorization":"Basic hunter2"},"n":9007199254740993}'
    run -0 --separate-stderr bind
    [[ $output$stderr != *hunter2* ]]
    [ "$(grep -o '"configuration":{[^}]*}' <<<"$output")" = '"configuration":{"rate":1.5,"sasl.password":"<redacted>","broker":"kafka://<redacted>@h:9092"}' ]
    [[ $output == *'"n":9007199254740993}'* ]]
    run -3 --separate-stderr bash -c "ref-bind --reference=ref <'$cut' | rows-diff | verdict --json"
    [[ $output == *"<redacted>"* && $output$stderr != *hunter2* ]]
}

@test "copies, rows without a place, unfit cells, b64 and no row at all" {
    row='{"cells":["1","c","1","1","3ff0000000000000",null]}'
    { header; echo "$row"; echo "$row"; echo '{"cells":["-1",{"b64":"/w=="},{"unfit":"0.00001"},"-1","nan",""],"at":"orders/0/1#2"}'; } | finish
    run -0 --separate-stderr bind
    [ "$(of row '"side":"reference"' | jq -c '[.cells, .at]')" = '[["1","c","1","1","3ff0000000000000",null],null]
[["1","c","1","1","3ff0000000000000",null],null]
[["-1",{"b64":"/w=="},{"unfit":"0.00001"},"-1","nan",""],"orders/0/1#2"]' ]
    header | finish
    run -0 --separate-stderr bind
    [ "$(of side '"side":"reference"')" = '{"type":"side","side":"reference","rows":0,"whole":true}' ]
}

@test "a scope document that went through jq or Python still binds, written by hand as ref-seal does" {
    python3 - "$whole_ref" <<'PY'
import hashlib, json, sys
lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)
h = json.loads(lines[0])
h["scope"] = {k: h["scope"][k] for k in reversed(h["scope"])}
head = json.dumps({k: h[k] for k in reversed(h)}).encode() + b"\n"
end = {"end": True, "complete": True, "reasons": [], "rows": len(lines) - 2, "header_sha256": hashlib.sha256(head).hexdigest(),
       "rows_sha256": hashlib.sha256(b"".join(lines[1:-1])).hexdigest()}
open("ref", "wb").write(head + b"".join(lines[1:-1]) + json.dumps(end).encode() + b"\n")
PY
    run -0 --separate-stderr bind
    [ "$(of account | jq -c '[.verified_by_writer, .recorded]')" = '[[],{}]' ]
    { header | sed 's/"topic":"orders"/"topic":"\\u006frders"/; s/"since":6/"since":6.0/'; sed '1d;$d' "$whole_ref"; } | finish
    run -0 --separate-stderr bind
}

@test "of a scope that is damaged another one is no refusal: the damage leads, and the answer is 3" {
    local bundle
    for bundle in incident-cut incident-unarmed; do
        { bundle-check "$root/fixtures/$bundle" | scope-cut --checkpoint=1 --key=event_id || [ $? -eq 3 ]; } >damaged
        run -3 --separate-stderr ref-bind --reference="$whole_ref" <damaged
        [[ $stderr == *"reconcile.scope did not pass, and reference "*" is of another scope: bundle.job"* ]]
        [ -z "$(of stop)" ]
        [ "$(of check '"stage":"ref-bind"' | jq -r '.name, .status, .code, .facts.check' | tr '\n' ' ')" = "reference.scope unavailable check-not-passed reconcile.scope " ]
        [ "$(of side '"side":"reference"' | jq -c .whole)" = false ]
        { rows-diff <<<"$output" || [ $? -eq 3 ]; } >compared
        run -3 --separate-stderr verdict <compared
        [[ ${lines[0]} == "NOT DECIDED: reconcile.scope: "* && ${lines[1]} != *check-not-passed* ]]
    done
}

@test "another scope is refused by the first field that differs" {
    while IFS=$'\t' read -r edit where; do
        { header | sed "$edit"; sed '1d;$d' "$whole_ref"; } | finish
        run -2 --separate-stderr bound_to_scope
        refused "is of another scope: $where in the reference"
    done <<'BAD'
s/"checkpoint":7/"checkpoint":8/	bundle.checkpoint: 7 here, 8
s/"to":711}]/"to":720}]/	sources[0].partitions[1].to: 711 here, 720
s/"topic_id":"ohygceYDQmuuHtj8For09g"/"topic_id":null/	sources[0].topic_id: "ohygceYDQmuuHtj8For09g" here, null
s/5-f9b4f1cb2b69870e/6-0/	bundle.sink.attempts[0]: "5-f9b4f1cb2b69870e" here, "6-0"
s/"Decimal(18, 4)"/"Decimal(18, 2)"/	columns[2].type: "Decimal(18, 4)" here, "Decimal(18, 2)"
s/"origin":"bundle"/"origin":"declared"/	origin: "bundle" here, "declared"
s/"epochs":\[7\]/"epochs":[7,8]/	bundle.epochs[1]: nothing here, 8
s/"database":"shop",//	destination.database: "shop" here, nothing
s/"job":"1"/"job":"1","more":1/	bundle.more: nothing here, 1
BAD
}

@test "bound to what it was computed from: another key, coverage or word for equal rows is the same rows asked otherwise" {
    n=0
    while IFS=$'\t' read -r edit where; do
        n=$((n + 1))
        document=$(header | jq -c ".scope | $edit" | scope_print)
        { header | jq -c --argjson document "$document" '.scope = $document'; sed '1d;$d' "$whole_ref"; } | finish
        run -0 --separate-stderr bind
        [ "$(of row '"side":"reference"' | wc -l)" -eq 120 ]
        [ "$(of check '"stage":"[a-z-]*","name":"reference.scope"' | jq -r '.status + " " + .reason')" = \
            "passed the reference was computed from the same under a scope that asks otherwise: $where in the reference" ]
        # A document that was changed by hand is no scope at all.
        sed '1s/"scope_sha256":"[0-9a-f]/&0/; 1s/\("scope_sha256":"[0-9a-f]*\)[0-9a-f]"/\1"/' ref | sed '$d' | finish
        run -2 --separate-stderr bind
        refused "fingerprint"
    done <<'SAME'
.columns |= map(.key = (.name == "serial"))	columns[0].key: true here, false
.bundle += {coverage: "complete-table", from_run_start: true}	bundle.from_run_start: false here, true
.bundle.repeats = true	bundle.repeats: nothing here, true
SAME
    [ "$n" -eq 3 ]
}

@test "not an artifact as its writer finished it" {
    cp "$whole_ref" good
    head -n -1 good >ref && run -2 --separate-stderr bound_to_scope && refused "no end line"
    head -c -1 good >ref && run -2 --separate-stderr bound_to_scope && refused "no end line: cut in the middle of a line"
    head -n 50 good >ref && run -2 --separate-stderr bound_to_scope && refused "no end line: its writer did not finish it"
    { cat good; echo; } >ref && run -2 --separate-stderr bound_to_scope && refused "last line: byte 1: no value"
    { cat good; sed -n 2p good; } >ref && run -2 --separate-stderr bound_to_scope && refused "no end line"
    { cat good; tail -n 1 good; } >ref && run -2 --separate-stderr bound_to_scope && refused "something follows the end line"
    { head -n 30 good; tail -n 1 good; } >ref && run -2 --separate-stderr bound_to_scope && refused "its end line counts 120 rows, there are 29"
    { cat good; cat good; } >ref && run -2 --separate-stderr bound_to_scope && refused "something follows the end line"
    sed '3s/c0/c1/' good >ref && run -2 --separate-stderr bound_to_scope && refused "its rows are not those that its end line has the hash of"
    sed '3{h;d};4{G}' good >ref && run -2 --separate-stderr bound_to_scope && refused "its rows are not those"
    sed '1s/orders.jq/orders.js/' good >ref && run -2 --separate-stderr bound_to_scope && refused "its header is not the one"
    sed '1s/"name"/ "name"/' good >ref && run -2 --separate-stderr bound_to_scope && refused "its header is not the one"
    head -n 1 good >ref && run -2 --separate-stderr bound_to_scope && refused "no end line: one line alone"
    : >ref && run -2 --separate-stderr bound_to_scope && refused "empty"
    sed 1d good >ref && run -2 --separate-stderr bound_to_scope && refused "header"
    head -c 4000 /dev/zero >ref && run -2 --separate-stderr bound_to_scope && refused "no end line"
    { head -c 100000 /dev/zero; echo; } >ref && run -2 --separate-stderr bound_to_scope && refused "no end line: one line alone"
    printf '\n\n' >ref && run -2 --separate-stderr bound_to_scope && refused "last line: byte 1: no value"
    sed 's/$/\r/' good >ref && run -2 --separate-stderr bound_to_scope && refused "header"
}

@test "members of the header and the end line that are not as they must be" {
    while IFS=$'\t' read -r edit why; do
        { header | sed "$edit"; sed '1d;$d' "$whole_ref"; } | finish
        run -2 --separate-stderr bound_to_scope
        refused "$why"
    done <<'BAD'
s/clink-reference-result/clink-audit-scope/	header.format: 'clink-audit-scope' is not 'clink-reference-result'
s/"version":1,"scope"/"version":2,"scope"/	header.version: 2 is not known here, only 1
s/^{/{"more":1,/	header: unknown member more
s/"name":"orders.jq",//	header.implementation.name: missing
s/"configuration":null/"configuration":[]/	header.implementation.configuration: neither an object nor null
s/^{/{"format":"x",/	header: byte
BAD
    while IFS=$'\t' read -r members why; do
        { header; sed '1d;$d' "$whole_ref"; } | finish "$members"
        run -2 --separate-stderr bound_to_scope
        refused "$why"
    done <<'BAD'
"complete":true,"reasons":["a"]	end line: complete, and reasons why it is not
"complete":false,"reasons":[]	end line: not complete, and no reason
"complete":1,"reasons":[]	end line.complete: not true or false
"complete":true	end line.reasons: missing
"complete":true,"reasons":[],"verified":[1]	end line.verified[0]: not a string
"complete":true,"reasons":[],"recorded":[]	end line.recorded: not an object
"complete":true,"reasons":[],"recorded":{"reader":{"logs":[{"topic":"t"},{"topic":"t"}]}}	end line.recorded.reader.logs: two of t
"complete":true,"reasons":[],"recorded":{"program":{"rows":"x"}}	end line.recorded.program.rows: not a whole number
"complete":true,"reasons":[],"recorded":{"delivered":2,"ranges":[{"topic":"t","partition":0,"delivered":1}]}	end line.recorded.delivered: not what its ranges deliver
"complete":true,"reasons":[],"more":1	end line: unknown member more
"complete":true,"reasons":[],"rows":1	last line: byte
BAD
}

@test "a row that is not in its one spelling, and a cell that is not canonical for its column" {
    while IFS=$'\t' read -r row why; do
        { header; sed -n 2p "$whole_ref"; echo "$row"; } | finish
        run -2 --separate-stderr bound_to_scope
        refused "line 3: $why"
    done <<'BAD'
{"cells": ["1","c","1","1","3ff0000000000000",null]}	not a row
{"at":"orders/0/1","cells":["1","c","1","1","3ff0000000000000",null]}	not a row
[1]	not a row
{"cells":["1","c","1","1","3ff0000000000000", null]}	neither a string, null, an array, b64, unnamed nor unfit
{"cells":["1","c","1","1","3ff0000000000000"]}	fewer cells than columns
{"cells":["1","c","1","1","3ff0000000000000",null,null]}	more cells than columns
{"cells":["1","c","1","1","3ff0000000000000",null],"at":7}	a row has a member that is not known
{"cells":["1","c","1","1","3ff0000000000000",null],"at":"a\\b"}	a row has a member
{"cells":["1","c","1","1","3ff0000000000000",null],"at":"nowhere"}	its at is not topic/partition/offset
{"cells":["1","c","1","1","3ff0000000000000",null],"at":"t/0/1#0"}	its at is not topic/partition/offset
{"cells":["1","c","1","1","3ff0000000000000",null],"at":"t/2147483648/1"}	its at is not topic/partition/offset
{"cells":["1","c","1","1","3ff0000000000000",null],"again":"resent"}	a row of a reference with again
{"cells":["1","c","1","1","3ff0000000000000",null],"x":"y"}	a row has a member
{"cells":["1","c","1","1","3ff0000000000000",null]} 	a row does not end
{"cells":["01","c","1","1","3ff0000000000000",null]}	column 'event_id': not a whole number in canonical form
{"cells":["9223372036854775808","c","1","1","3ff0000000000000",null]}	column 'event_id': out of the column's range
{"cells":[null,"c","1","1","3ff0000000000000",null]}	column 'event_id': NULL in a column that is not Nullable
{"cells":[{"b64":"/w=="},"c","1","1","3ff0000000000000",null]}	column 'event_id': b64 in a column that is not a String
{"cells":["1","c","1.5","1","3ff0000000000000",null]}	column 'amount': not a whole number
{"cells":["1","c","1000000000000000000","1","3ff0000000000000",null]}	column 'amount': out of the column's range
{"cells":["1","c","1","2025-01-01","3ff0000000000000",null]}	column 'seen': not a whole number
{"cells":["1","c","1","1","3FF0000000000000",null]}	column 'score': not the float's bits
{"cells":["1","c","1","1","7ff8000000000000",null]}	column 'score': a NaN by its bits
{"cells":["1","\u0041","1","1","3ff0000000000000",null]}	an escape that is not canonical
{"cells":["1","\/","1","1","3ff0000000000000",null]}	an escape that is not canonical
{"cells":["1",{"b64":"YQ=="},"1","1","3ff0000000000000",null]}	b64 of bytes that are a string
BAD
    { header; printf '{"cells":["1","\xff","1","1","3ff0000000000000",null]}\n'; } | finish
    run -2 --separate-stderr bound_to_scope
    refused "line 2: bytes that are not UTF-8"
}

@test "a fault at the end is found after rows went out, and nobody decides by them" {
    sed '120s/c0/c1/' "$whole_ref" >ref
    run -2 --separate-stderr bind
    refused "its rows are not those"
    [ -n "$(of row '"side":"reference"')" ]
    run -3 --separate-stderr bash -c "ref-bind --reference=ref <'$cut' 2>/dev/null | rows-diff"
    [ -z "$(of check '"stage":"rows-diff"')" ]
}

@test "an incomplete reference is bound and never compared" {
    { header; sed '1d;$d' "$whole_ref"; } | finish '"complete":false,"reasons":["orders/0: 122 offsets are gone","b","c","d","e","f","g"]'
    run -3 --separate-stderr ref-bind --reference=ref --expected-out=expected <"$cut"
    [ "$stderr" = "" ] # its maker said it, and the report leads with it
    [ -z "$(of row '"side":"reference"')" ]
    [ "$(of side '"side":"reference"' | jq -c '[.rows, .whole]')" = '[0,false]' ]
    [ "$(of check '"stage":"ref-bind"' | jq -c '[.name, .status, .code]')" = '["reference.scope","unavailable","reference-not-whole"]' ]
    [ "$(of account | jq -c '[.complete, (.reasons | length), .rows]')" = '[false,7,120]' ]
    [ ! -e expected ]
    [ -z "$(of stop)" ]
    # and is held to all the rest
    sed '3s/c0/c1/' ref >changed && mv changed ref
    run -2 --separate-stderr bind
    refused "its rows are not those"
    { header | sed 's/"checkpoint":7/"checkpoint":8/'; } | finish '"complete":false,"reasons":["a"]'
    run -2 --separate-stderr bind
    refused "another scope"
}

@test "a declared scope needs no reference.capture" {
    scope-declare --first --topic=orders --cluster-id=c --topic-id=t --range=0:100-200 --table=shop.orders --server-uuid=s --table-uuid=u \
        --column=id:Int64 --key=id >declared
    grep -q '"type":"scope"' declared
    jq -c 'select(.type == "scope") | {format: "clink-reference-result", version: 1, scope: .document, implementation: {name: "x", version: "", configuration: null}}' declared >h
    { cat h; echo '{"cells":["1"],"at":"orders/0/100"}'; } | finish
    run -0 --separate-stderr bash -c 'ref-bind --reference=ref <declared'
    [ "$(of require | tail -n 1 | jq -c .checks)" = '["reference.scope","reference.destination"]' ]
}

@test "the writer on the manual's page makes an artifact that binds" {
    awk '/^import hashlib/ { on = 1 } /^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print }' "$root/man/owed-reference.5" >writer.py
    [ "$(wc -l <writer.py)" -gt 15 ]
    scope-declare --first --topic=t --cluster-id=c --topic-id=t --range=0:1-3 --table=shop.t --server-uuid=s --table-uuid=u \
        --column=id:Int64 --column=name:String --key=id --out=scope.json >declared
    printf '%s\n' '{"topic":"t","partition":0,"offset":1,"payload":"{\"id\":9007199254740993,\"name\":\"a\\u0001\\u001f\\b\\n\\\"é\\u007f/😀\"}"}' \
        '{"topic":"t","partition":0,"offset":2,"payload":"{\"id\":-1,\"name\":\"\"}"}' | python3 writer.py
    run -0 --separate-stderr ref-bind --reference=reference.ndjson <declared
    [ "$(of row | jq -c '[.cells[0], .at]')" = '["9007199254740993","t/0/1"]
["-1","t/0/2"]' ]
}

@test "a stream without a scope, with several, with a reference already, or unfinished" {
    cp "$whole_ref" ref
    echo '{"type":"note"}' | whole none
    run -2 --separate-stderr bash -c 'ref-bind --reference=ref <none'
    [[ $stderr == *"no scope line"* ]]
    { grep '"type":"scope"' "$cut"; grep '"type":"scope"' "$cut"; } | whole twice
    run -2 --separate-stderr bash -c 'ref-bind --reference=ref <twice'
    [[ $stderr == *"line 3: a second scope"* ]]
    bind >bound
    run -2 --separate-stderr bash -c 'ref-bind --reference=ref <bound'
    [[ $stderr == *"has a reference already"* ]]
    sed '/"checkpoint":7/s/"since":6/"since":5/' "$cut" >changed
    run -2 --separate-stderr bash -c 'ref-bind --reference=ref <changed'
    [[ $stderr == *"scope_sha256"* ]]
    sed '$d' "$cut" >short
    run -3 --separate-stderr bash -c 'ref-bind --reference=none <short'
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ -z "$(of row '"side":"reference"')$(of check '"stage":"ref-bind"')" ]
}

@test "--expected-out: the rows as they stand, whole or not at all" {
    cp "$whole_ref" ref
    run -0 --separate-stderr ref-bind --reference=ref --expected-out=expected <"$cut"
    diff expected <(sed '1d;$d' ref)
    rm expected
    sed '120s/c0/c1/' "$whole_ref" >ref
    run -2 --separate-stderr ref-bind --reference=ref --expected-out=expected <"$cut"
    [ ! -e expected ]
    [ -z "$(find . -name '.*.tmp*')" ]
    cp "$whole_ref" ref
    run -3 --separate-stderr ref-bind --reference=ref --expected-out=none/expected <"$cut"
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "a reference that is no regular file, or not there; bad usage" {
    mkfifo ref
    run -2 --separate-stderr timeout 60 ref-bind --reference=ref <"$cut"
    refused "not a regular file"
    run -2 --separate-stderr ref-bind --reference=. <"$cut"
    [[ $stderr == *"not a regular file"* ]]
    run -3 --separate-stderr ref-bind --reference=none <"$cut"
    [[ $stderr == *"cannot open the reference 'none'"* ]]
    run -2 --separate-stderr ref-bind <"$cut"
    [[ $stderr == *"--reference is missing"* ]]
    run -2 --separate-stderr ref-bind --reference=x stray <"$cut"
    cp "$whole_ref" ref2
    ln ref2 same
    run -2 --separate-stderr ref-bind --reference=ref2 --expected-out=same <"$cut"
    [[ $stderr == *"'same' would be written over 'ref2', which is read"* ]]
    cmp ref2 "$whole_ref"
    run -2 --separate-stderr ref-bind --reference=ref2 --max-line=1K <"$cut"
}
