#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ref-run: an operator's program served at both ends, and every way in which its rows are not whole.
# shellcheck disable=SC2016  # programs in other languages hold their own $
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
}

events() { jq -c 'select(.type == "event") | del(.type)' <<<"$output"; }
account() { of account '"stage":"ref-run"'; }
of_account() { account | jq -r "$1"; }

not_whole() { # reason
    [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$stderr" >&2; return 1; }
    [ "$stderr" = "ref-run: $1" ] || { echo "$stderr" >&2; return 1; }
    [ "$(of_account '.complete, .reasons[0]' | tr '\n' '|')" = "false|$1|" ]
    [ "$(tail -n 1 <<<"$output" | jq -r .type)" = end ]
    [ -z "$(of stop)" ]
}

# gone PID: it ends; one that nobody has waited for yet has ended too.
gone() {
    local end=$((SECONDS + 120))
    while [ "$SECONDS" -lt "$end" ]; do
        [[ -e /proc/$1 && $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) != [ZX]* ]] || return 0
        sleep 0.05
    done
    return 1
}

@test "records go to the program without their type; rows, rows with their place and skips come back" {
    { record 1 '{"id":1}'; echo '{"type":"note","x":1}'; record 2 'x'; record 3 ''; record 4 '{}'; } | whole in
    run -0 --separate-stderr ref-run --payload=raw -- sh -c 'tee seen; cat >/dev/null; echo "{\"at\":\"t/0/1\",\"values\":{\"id\":1e0,\"s\":\"\\u00e9\"}}
{\"id\":1234567890123456789012345678901234567890.10}
{\"at\":\"t/0/2\",\"skip\":true}
{\"values\":{\"id\":7}}
{\"at\":\"t/0/4#1\",\"values\":{}}"' <in
    # what tee wrote came back as bare rows, before the others
    [ "$(cat seen)" = "$(jq -c 'select(.type == "record") | del(.type)' in)" ]
    # Numbers and texts as the program wrote them.
    [ "$(of event | tail -n +5)" = '{"type":"event","at":"t/0/1","ts":101,"values":{"id":1e0,"s":"\u00e9"}}
{"type":"event","values":{"id":1234567890123456789012345678901234567890.10}}
{"type":"event","values":{"id":7}}
{"type":"event","at":"t/0/4#1","ts":104,"values":{}}' ]
    [ "$(jq -r .type <<<"$output" | grep -v event | tr '\n' ' ')" = "stream note account end " ]
    [ "$(account)" = '{"type":"account","stage":"ref-run","role":"program","complete":true,"reasons":[],"program":"sh","payload":"raw","records":4,"rows":8,"skips":1,"without_row":null,"readable":4,"null_values":0,"unreadable":0,"exit":0}' ]
}

# The time of each record as $1, in a stream.
timed() { jq -c "if .type == \"record\" then .ts = $1 else . end" in >timed; }

@test "a row has the time of the record that it names, whenever and however it is answered; no time is none" {
    for i in $(seq 0 199); do record "$i" "{\"id\":$i}"; done | whole in
    # in a moment, days apart, backwards, and some without one: kcat's null and -1, and what is no time at all
    for ts in 1796000000000 '(1796000000000 + .offset * 86400000)' '(1796000000000 - .offset)' \
        'if .offset % 7 == 0 then null elif .offset % 7 == 1 then -1 elif .offset == 100 then 0 else 9007199254740992 - .offset end'; do
        timed "$ts"
        for payload in raw text base64; do
            run -0 --separate-stderr ref-run --payload="$payload" -- sh -c 'tac | jq -c "{at: \"t/0/\(.offset)#1\", values: {id: .offset}}"' <timed
            diff <(events | jq -c '[.at, .ts]') \
                <(jq -c 'select(.type == "record") | ["t/0/\(.offset)#1", if (.ts // -1) < 0 then null else .ts end]' timed | tac)
        done
    done
    [ "$(grep -c '"ts":null' <<<"$output")" = 0 ]
    # one without its place has none; what is answered of a key that must be absent has its record's
    run -0 --separate-stderr ref-run -- sh -c 'cat >/dev/null; echo "{\"id\":1}"; echo "{\"at\":\"t/0/100\",\"absent\":{\"id\":1}}"' <timed
    [ "$(events)" = $'{"values":{"id":1}}\n{"at":"t/0/100","ts":0,"absent":{"id":1}}' ]
}

@test "a record's time that is no whole number is refused, however its payload goes" {
    { record 1 '{"id":1}'; record 2 '{"id":2}'; } | whole in
    for ts in 1.5 '"yesterday"' true '[]' 1e300; do
        timed "if .offset == 2 then $ts else 5 end"
        for payload in raw text base64; do
            run -2 --separate-stderr ref-run --payload="$payload" -- cat <timed
            [[ $stderr == *"stdin: line 3: record.ts: not a whole number of milliseconds"* ]] || { echo "$ts $payload $status $stderr" >&2; return 1; }
        done
    done
}

@test "no records: the program runs, and may give rows all the same" {
    whole none </dev/null
    run -0 --separate-stderr ref-run --payload=raw -- cat <none
    [ "$(of_account '[.records, .rows, .complete] | tostring')" = '[0,0,true]' ]
    run -0 --separate-stderr ref-run -- echo '{"id":1}' <none
    [ "$(events)" = '{"values":{"id":1}}' ]
}

@test "the payload goes parsed, each number as its text, or with --payload=json as it stands" {
    { record 1 '{"id":9007199254740993,"a":[-1.50e+3,0.1,{"b":"1 \" 2"}],"n":null,"t":true,"s":"7"}'
      record 2 '
{
  "id" : 1,
	"x" : [ 1.0 ] }'
      record 3 'null'; jq -c '.payload = null' <(record 4 ''); record 5 '12'; } | whole in
    run -0 --separate-stderr ref-run --payload=json -- cat <in
    grep -qF '"value":{"id":9007199254740993,"a":[-1.50e+3,0.1,{"b":"1 \" 2"}],"n":null,"t":true,"s":"7"}}' <<<"$output"
    [ "$(grep -c '"type":"event"' <<<"$output")" -eq 5 ]
    [ "$(of_account '[.payload, .records, .readable, .null_values, .unreadable] | tostring')" = '["json",5,4,1,0]' ]
    run -0 --separate-stderr ref-run --payload=text -- cat <in
    grep -qF '"value":{"id":"9007199254740993","a":["-1.50e+3","0.1",{"b":"1 \" 2"}],"n":null,"t":true,"s":"7"}}' <<<"$output"
    [ "$(events | jq -c .values.value | tail -n 4 | tr '\n' ' ')" = '{"id":"1","x":["1.0"]} null null "12" ' ]
    [ "$(events | jq -c '.values.payload' | tail -n 3 | tr '\n' ' ')" = '"null" null "12" ' ]
    text=$output
    run -0 --separate-stderr ref-run -- cat <in
    [ "$output" = "$text" ]
    run -0 --separate-stderr ref-run --payload=raw -- cat <in
    [ "$(events | jq -c '.values | has("value")' | sort -u)" = false ]
    [ "$(of_account '[.payload, .records, .readable, .null_values, .unreadable] | tostring')" = '["raw",5,4,1,0]' ]
}

@test "a record that says its place or its payload twice is refused, whatever is made of the payload" {
    local payload again
    for payload in text json raw; do
        for again in '"topic":"u"' '"partition":3' '"offset":7' '"payload":"x"' '"type":"row"'; do
            record 0 '{}' | sed "s/}\$/,$again}/" | whole
            run -2 --separate-stderr ref-run --payload=$payload -- cat <stream
            [[ "$stderr" == *"duplicate name"* ]] || { echo "$payload $again: $stderr" >&2; return 1; }
        done
    done
}

@test "jq keeps every digit of a number as its text" {
    { record 1 '{"id":9007199254740993,"amount":12345678901234.5678,"tiny":1e-400}'; } | whole in
    run -0 --separate-stderr ref-run -- jq -c .value <in
    grep -qF '{"type":"event","values":{"id":"9007199254740993","amount":"12345678901234.5678","tiny":"1e-400"}}' <<<"$output"
}

# Payloads of which t/0/2 to t/0/7 cannot be read.
unread() {
    { record 1 '{"id":1}'; record 2 '{"a":1,"a":2}'; record 3 ''; record 4 '"\ud800"'; jq -c '.payload_b64 = "/w==" | del(.payload)' <(record 5 '')
      record 6 '01'; record 7 '{} {}'; jq -c '.payload = null' <(record 8 ''); } | whole in
}
skipping='{at: "\(.topic)/\(.partition)/\(.offset)"} + if .value.id then {values: .value} else {skip: true} end'
counts_of() { of_account '[.records, .readable, .null_values, .unreadable, .without_row] | tostring'; }

@test "a payload that is no JSON says so in its line, and a skip does not make it one that owes nothing" {
    unread
    run -3 --separate-stderr ref-run -- cat <in
    [ "$(events | jq -c '.values | [has("value"), .value_error]' | tr '\n' ' ')" = \
        '[true,null] [false,"byte 8: duplicate name"] [false,"byte 1: no value"] [false,"byte 2: lone surrogate"] [false,"the payload is not UTF-8"] [false,"byte 2: leading zero"] [false,"byte 4: text after the value"] [true,null] ' ]
    for strict in '' --strict; do
        # shellcheck disable=SC2086 # none is none
        run -3 --separate-stderr ref-run $strict -- jq -c "$skipping" <in
        not_whole "6 of 8 records could not be read, the first t/0/2: byte 8: duplicate name"
        [ "$(counts_of)" = '[8,1,1,6,7]' ]
        [ "$(of_account '.code, .facts.at, .facts.payload, .unreadable_records[]')" = "records-unreadable
t/0/2
payload
t/0/2: byte 8: duplicate name
t/0/3: byte 1: no value
t/0/4: byte 2: lone surrogate
t/0/5 is not UTF-8
t/0/6: byte 2: leading zero
t/0/7: byte 4: text after the value" ]
    done
    # one that is left to ref-run need not be answered
    run -3 --separate-stderr ref-run --strict -- jq -c "select(.value_error == null) | $skipping" <in
    not_whole "6 of 8 records could not be read, the first t/0/2: byte 8: duplicate name"
    [ "$(of_account '.verified[0]')" = "every record that could be read was answered" ]
    run -3 --separate-stderr ref-run --strict -- jq -c "select(.value_error == null and .value != null) | $skipping" <in
    not_whole "jq did not answer t/0/8"
}

@test "a row shows that its record could be read, whatever ref-run made of it" {
    unread
    run -3 --separate-stderr ref-run -- jq -c '{at: "\(.topic)/\(.partition)/\(.offset)"} + if .offset == 3 or .offset == 6 then {skip: true} else {values: {}} end' <in
    not_whole "2 of 8 records could not be read, the first t/0/3: byte 1: no value"
    [ "$(counts_of)" = '[8,5,1,2,2]' ]
    [ "$(of_account '.unreadable_records | tostring')" = '["t/0/3: byte 1: no value","t/0/6: byte 2: leading zero"]' ]
    run -0 --separate-stderr ref-run -- jq -c '{at: "\(.topic)/\(.partition)/\(.offset)", values: {}}' <in
    [ "$(counts_of)" = '[8,7,1,0,0]' ]
    # rows without a place say nothing of which record they are of
    run -3 --separate-stderr ref-run -- jq -c '{}' <in
    [ "$(counts_of)" = '[8,1,1,6,null]' ]
}

@test "the program's own word that a record cannot be read, with why, in any mode and whatever else it answers" {
    unread
    answers=('{"at":"t/0/1","values":{}}' '{"at":"t/0/8","unreadable":"no tombstones here"}' '{"at":"t/0/2","unreadable":"cut off"}'
        '{"at":"t/0/1","unreadable":"half of it"}' '{"at":"t/0/1","unreadable":"again"}' '{"at":"t/0/2","values":{}}')
    run -3 --separate-stderr ref-run --payload=raw --strict -- sh -c 'cat >/dev/null; printf "%s\n" "$@"' sh "${answers[@]}" \
        '{"at":"t/0/'{3,4,5,6,7}'","skip":true}' <in
    not_whole "3 of 8 records could not be read, the first t/0/1: half of it"
    [ "$(counts_of)" = '[8,5,0,3,6]' ]
    [ "$(of_account '.unreadable_records | tostring')" = '["t/0/1: half of it","t/0/2: cut off","t/0/8: no tombstones here"]' ]
    # beside what ref-run could not read, in whatever order they come
    run -3 --separate-stderr ref-run -- sh -c 'cat >/dev/null; printf "%s\n" "$@"' sh "${answers[@]}" <in
    [ "$(counts_of)" = '[8,0,0,8,6]' ]
    [ "$(of_account '.unreadable_records[:3] | tostring')" = '["t/0/1: half of it","t/0/2: cut off","t/0/3: byte 1: no value"]' ]
    # and never lost
    for at in t/0/9 nowhere; do
        run -3 --separate-stderr ref-run -- sh -c 'cat >/dev/null; echo "{\"at\":\"$1\",\"unreadable\":\"x\"}"' sh "$at" <in
        [[ $(of_account '.code, .reasons[0]') == "program-answer"$'\n'"line 1 of sh: at '$at'"* ]]
    done
    # other members, or another type, are a row's values
    run -3 --separate-stderr ref-run -- sh -c 'cat >/dev/null; echo "{\"at\":\"t/0/1\",\"unreadable\":true}"' <in
    [ "$(events)" = '{"values":{"at":"t/0/1","unreadable":true}}' ]
}

@test "none of the payloads is JSON: said as that, with where they are" {
    jq -c '.payload_b64 = "AAAAAAEC/w==" | del(.payload)' <(record 0 '') | whole avro
    run -3 --separate-stderr ref-run --strict -- jq -c 'if .value == null then {at: "\(.topic)/\(.partition)/\(.offset)", skip: true} else error end' <avro
    registry="as the clients of a schema registry frame Avro, Protobuf and JSON"
    not_whole "none of 1 payloads is JSON (the first, t/0/0, is not UTF-8): magic byte 0 and schema id 1, $registry"
    [ "$(of_account '.facts | tostring')" = '{"at":"t/0/0","payload":"payload_b64"}' ]
    while read -r bytes said; do
        jq -c --arg bytes "$bytes" '.payload_b64 = $bytes | del(.payload)' <(record 0 '') | whole other
        run -3 --separate-stderr ref-run -- jq -c "$skipping" <other
        not_whole "none of 1 payloads is JSON (the first, t/0/0, is not UTF-8)${said:+: $said}"
    done <<BYTES
AP///wEKAv8= magic byte 0 and schema id 4294967041, $registry
T2JqAf8= an Avro container file, by its first bytes
wwEBAgMEBQYHCP8= an Avro object with its schema's fingerprint, by its first bytes
AAAAAf8=
/w==
BYTES
    # framed JSON is text
    jq -c '.payload = "\u0000\u0000\u0000\u0001\u0002{}"' <(record 1 '') | whole other
    run -3 --separate-stderr ref-run -- jq -c "$skipping" <other
    not_whole "none of 1 payloads is JSON (the first, t/0/1: byte 1: not the start of a value): magic byte 0 and schema id 258, $registry"
    { record 1 'x'; jq -c '.payload = null' <(record 2 ''); record 3 '<a/>'; } | whole in
    run -3 --separate-stderr ref-run -- cat <in
    [ "$(of_account '.rows')" = 3 ]
    run -3 --separate-stderr ref-run -- jq -c "$skipping" <in
    not_whole "none of 2 payloads is JSON (the first, t/0/1: byte 1: not the start of a value)"
}

@test "--unreadable=skip: the operator says that they owe nothing; they are counted and named all the same" {
    unread
    run -0 --separate-stderr ref-run --strict --unreadable=skip -- jq -c "$skipping" <in
    [ "$stderr" = "ref-run: 6 of 8 records could not be read, the first t/0/2: byte 8: duplicate name: taken to owe nothing, as --unreadable=skip says" ]
    [ "$(counts_of)" = '[8,1,1,6,7]' ]
    [ "$(of_account '[.complete, .on_unreadable, (.unreadable_records | length)] | tostring')" = '[true,"skip",6]' ]
    run -3 --separate-stderr ref-run --unreadable=skip -- sh -c 'cat >/dev/null; exit 5' <in
    not_whole "sh exited with status 5"
    for bad in '' keep; do
        run -2 --separate-stderr ref-run --unreadable=$bad -- cat <in
        [[ $stderr == *--unreadable* ]]
    done
}

@test "the first of many that cannot be read are named by topic, partition and offset, in whatever order they come" {
    record 0 x | jq -c '(.partition = (10, 9) | .offset = range(150)), (.topic = "s" | .offset = 7)' | whole in
    run -3 --separate-stderr ref-run -- jq -c 'select(.topic == "t" and .partition == 9 and .offset < 148) | {at: "t/9/\(.offset)", values: {}}' <in
    [ "$(of_account '[.unreadable, .unreadable_records[]] | tostring')" = \
        '[153,"s/0/7: byte 1: not the start of a value","t/9/148: its value cannot be read","t/9/149: its value cannot be read","t/10/0: its value cannot be read","t/10/1: its value cannot be read","t/10/2: its value cannot be read","t/10/3: its value cannot be read","t/10/4: its value cannot be read","t/10/5: its value cannot be read","t/10/6: its value cannot be read"]' ]
}

@test "what the program writes is values, on however many lines: jq without -c" {
    { record 1 '{"id":7,"s":"a \" { [ \\","l":[{},[]]}'; record 2 '{"id":8}'; } | whole in
    rules='{at: "\(.topic)/\(.partition)/\(.offset)", values: .value}'
    run -0 --separate-stderr ref-run --strict -- jq -c "$rules" <in
    compact=$(events)
    for how in '' --tab '--indent 7' -j; do
        # shellcheck disable=SC2086 # none is none
        run -0 --separate-stderr ref-run --strict -- jq $how "$rules" <in
        [ "$(events)" = "$compact" ] || { echo "$how: $output" >&2; return 1; }
    done
    # each byte by itself
    jq "$rules" <<<'{"topic":"t","partition":0,"offset":1,"value":{"id":"\\\"","a":[[],{"b":null}]}}' >slow
    run -0 --separate-stderr ref-run --strict -- bash -c 'cat >/dev/null; while IFS= read -r -n 1 -d "" c; do printf %s "$c"; done <slow; echo "{\"at\":\"t/0/2\",\"skip\":true}"' <in
    [ "$(events | jq -c 'del(.ts)')" = "$(jq -c . slow)" ]
    # one that is no object is named by the line on which it begins
    whole none </dev/null
    while IFS=$'\t' read -r text why; do
        run -3 --separate-stderr ref-run -- printf "$text" <none
        not_whole "line $why"
    done <<'BAD'
{\n"id":1\n}\n\nnull\n	5 of printf: not an object
{\n"id":1\n}\n{"id":\n{}\n{}	4 of printf: byte 11: text ends inside an object
[\n{}]\n	1 of printf: not an object
{"id":"\n"}\n	1 of printf: byte 8: text ends inside a string
{\n"id":1\n	1 of printf is cut in the middle
{"id":1}x\n	1 of printf: byte 1: not the start of a value
}{}\n	1 of printf: byte 1: not the start of a value
BAD
}

@test "--payload=base64: every payload by its bytes, in one form" {
    { record 1 'é '; jq -c '.payload_b64 = "AAAAAAEC/w==" | del(.payload)' <(record 2 ''); jq -c '.payload = null' <(record 3 ''); record 4 ''; } | whole in
    run -0 --separate-stderr ref-run --payload=base64 -- cat <in
    [ "$(events | jq -c '.values | [.offset, .payload_b64, has("payload"), has("value"), .topic]' | tr '\n' ' ')" = \
        '[1,"w6kg",false,false,"t"] [2,"AAAAAAEC/w==",false,false,"t"] [3,null,false,false,"t"] [4,"",false,false,"t"] ' ]
    [ "$(of_account '[.payload, .records, .readable, .null_values, .unreadable] | tostring')" = '["base64",4,3,1,0]' ]
}

@test "--strict: every record answered by rows or a skip, in any order and more than once" {
    { record 1 ''; record 2 ''; record 5 ''; record 6 ''; } | whole in
    answers=('{"at":"t/0/6","skip":true}' '{"at":"t/0/1","values":{}}' '{"at":"t/0/5#1","values":{}}' '{"at":"t/0/5","values":{}}'
        '{"at":"t/0/2","skip":true}' '{"at":"t/0/2","skip":true}')
    run -0 --separate-stderr ref-run --payload=raw --strict -- sh -c 'cat >/dev/null; printf "%s\n" "$@"' sh "${answers[@]}" <in
    [ "$(of_account '[.complete, .rows, .skips, .without_row] | tostring')" = '[true,3,3,2]' ]
    [ "$(of_account '.verified[0]')" = "every record that could be read was answered" ]
    run -3 --separate-stderr ref-run --payload=raw --strict -- sh -c 'cat >/dev/null; printf "%s\n" "$@"' sh "${answers[@]:1}" <in
    not_whole "sh did not answer t/0/6"
    run -3 --separate-stderr ref-run --payload=raw --strict -- sh -c 'cat >/dev/null' <in
    not_whole "sh did not answer t/0/1, nor other records"
    # without it, which records have no row is counted where every row says its place
    run -0 --separate-stderr ref-run --payload=raw -- sh -c 'cat >/dev/null; printf "%s\n" "$@"' sh "${answers[@]:1}" <in
    [ "$(of_account .without_row)" = 2 ]
    run -0 --separate-stderr ref-run --payload=raw -- sh -c 'cat >/dev/null; echo {}; printf "%s\n" "$@"' sh "${answers[@]:1}" <in
    [ "$(of_account .without_row)" = null ]
}

@test "--strict: an answer to no record that was read, and one without its place" {
    { record 1 ''; record 5 ''; } | whole in
    for at in t/0/3 t/0/0 t/0/6 t/1/1 u/0/1 t/0/1x t/0 t/0/1#x '' t/0/-1 t/0/01; do
        run -3 --separate-stderr ref-run --payload=raw --strict -- sh -c 'cat >/dev/null; echo "{\"at\":\"$1\",\"values\":{}}"' sh "$at" <in
        [[ $stderr == "ref-run: line 1 of sh: "* ]]
        [ "$(of_account .complete)" = false ]
    done
    run -3 --separate-stderr ref-run --payload=raw --strict -- sh -c 'cat >/dev/null; echo "{\"id\":1}"' <in
    not_whole "line 1 of sh: no at, which --strict wants"
    { record 5 ''; record 1 ''; } | whole back
    run -2 --separate-stderr ref-run --strict -- cat <back
    [[ $stderr == *"t/0/1 comes after offset 5 of its partition"* ]]
}

@test "a line that is no object, is cut, or is too long ends the program there" {
    records 1000 | whole in
    while IFS=$'\t' read -r line why; do
        run -3 --separate-stderr ref-run -- sh -c 'echo "{\"id\":0}"; echo "$1"; exec cat' sh "$line" <in
        not_whole "line 2 of sh: $why"
        [ "$(of_account '[.rows, .records] | tostring')" = '[1,1000]' ]
    done <<'BAD'
[1]	not an object
{"id":1	byte 9: text ends inside an object
{"id":1,"id":2}	byte 9: duplicate name
null	not an object
{"at":7,"values":{}}	its at is no text, or needs an escape
BAD
    whole none </dev/null
    run -0 --separate-stderr ref-run -- printf '\n \n{"id":1}\n\n{"id":2}' <none
    [ "$(events)" = '{"values":{"id":1}}
{"values":{"id":2}}' ]
    run -3 --separate-stderr ref-run -- printf '{"id":1}\n{"id":2' <none
    not_whole "line 2 of printf is cut in the middle"
    run -3 --separate-stderr ref-run --max-line=1K -- sh -c 'cat >/dev/null; head -c 5000 /dev/zero | tr "\0" x; sleep 100' <none
    not_whole "line 1 of sh is longer than 1024 bytes"
    run -3 --separate-stderr ref-run -- printf '{"a":"\xff"}\n' <none
    not_whole "line 1 of printf: byte 7: invalid UTF-8"
}

@test "a program that fails, dies by a signal or ends too early" {
    records 3 | whole few
    records 30000 | whole many
    run -3 --separate-stderr ref-run -- sh -c 'cat >/dev/null; echo "{\"id\":1}"; exit 5' <few
    not_whole "sh exited with status 5"
    [ "$(of_account '[.exit, .rows] | tostring')" = '[5,1]' ]
    run -3 --separate-stderr ref-run -- sh -c 'cat >/dev/null; kill -9 $$' <few
    not_whole "sh was ended by signal 9 (Killed)"
    [ "$(of_account '[.exit, .signal] | tostring')" = '[null,9]' ]
    run -3 --separate-stderr ref-run -- sh -c 'head -c 1000 >/dev/null; kill -9 $$' <many
    not_whole "sh was ended by signal 9 (Killed) before it had read all the records"
    run -3 --separate-stderr ref-run -- sh -c 'head -n 2 >/dev/null; exit 0' <many
    not_whole "sh ended before it had read all the records"
    run -3 --separate-stderr ref-run -- true <few
    not_whole "true ended before it had read all the records"
    run -3 --separate-stderr ref-run -- python3 -c 'import sys; sys.stdin.read(); sys.exit("no")' <few
    [ "${stderr_lines[-1]}" = "ref-run: python3 exited with status 1" ]
    [ "${stderr_lines[0]}" = no ]
}

@test "a program's failure is seen where this one came with signals ignored" {
    records 3 | whole few
    run -3 --separate-stderr env --ignore-signal=CHLD,PIPE,TERM ref-run -- sh -c 'cat >/dev/null; exit 5' <few
    not_whole "sh exited with status 5"
    run -0 --separate-stderr env --ignore-signal=CHLD ref-run -- cat <few
}

@test "a program that closes its output, or leaves it open to another" {
    records 30000 | whole many
    records 3 | whole few
    run -3 --separate-stderr timeout 60 ref-run -- sh -c 'exec >&-; cat' <many
    [ "$(of_account .complete)" = false ]
    run -3 --separate-stderr timeout 60 ref-run -- sh -c "cat >/dev/null; sleep 1000.$$ & exit 0" <few
    not_whole "sh ended and left its output open to another process"
    run -1 pgrep -f "^sleep 1000[.]$$\$"
    # a background writer that is done in time is no fault: it writes once the program itself has ended
    run -0 --separate-stderr ref-run -- sh -c '(while grep -q "^State:.[RSD]" /proc/$$/status; do :; done 2>/dev/null; echo "{\"id\":1}") & cat >/dev/null' <few
    [ "$(of_account .rows)" = 1 ]
}

@test "a program that writes nothing until the end, and one that floods before it reads: nothing lost, no deadlock" {
    records 50000 | whole many
    run -0 --separate-stderr timeout 60 bash -c 'ref-run --payload=json --strict -- python3 -c "
import sys, json
rows = [json.loads(l) for l in sys.stdin]
for r in rows: print(json.dumps({\"at\": \"%s/%d/%d\" % (r[\"topic\"], r[\"partition\"], r[\"offset\"]), \"values\": r[\"value\"]}))" <many | tail -n 2'
    [ "$(of_account '[.complete, .records, .rows, .without_row] | tostring')" = '[true,50000,50000,0]' ]
    run -0 --separate-stderr timeout 60 bash -c 'ref-run -- sh -c "yes {} | head -n 500000; exec cat" <many | tail -n 2'
    [ "$(of_account '[.complete, .records, .rows] | tostring')" = '[true,50000,550000]' ]
}

@test "a slow input: what the program wrote is there before the next record comes" {
    mkfifo in out
    ref-run --payload=raw -- cat <in >out 3>&- &
    pid=$!
    exec 8>in 9<out
    echo "$head" >&8
    record 1 x >&8
    read -r -t 120 line <&9
    [[ $line == *'"stream"'* ]]
    read -r -t 120 line <&9
    [[ $line == '{"type":"event","values":{"topic":"t","partition":0,"offset":1,'* ]]
    record 2 y >&8
    read -r -t 120 line <&9
    [[ $line == *'"offset":2,'* ]]
    exec 8>&- 9<&-
    wait "$pid" || true
}

@test "ended by a signal, or with its reader gone: the program and what it started go too" {
    records 10 | whole in
    for signal in TERM INT PIPE KILL; do
        rm -f pids
        # a shell's background jobs ignore INT, and what came ignored stays so
        env --default-signal=INT ref-run -- bash -c 'sleep 4321 & echo $$ $! >pids; wait' <in >/dev/null 3>&- &
        pid=$!
        for _ in $(seq 2400); do [ ! -s pids ] || break; sleep 0.05; done
        read -r program helper <pids
        kill -"$signal" "$pid"
        wait "$pid" || status=$?
        [ "$status" -gt 128 ]
        gone "$program"
        gone "$helper"
    done
    records 30000 | whole many
    run bash -c 'ref-run -- cat <many | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"'
    [ "$output" = 141 ]
}

@test "a program that cannot be run, and bad usage" {
    records 1 | whole in
    for program in ./none none-of-this-name . /etc/passwd; do
        run -2 --separate-stderr ref-run -- "$program" hunter2 <in
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "ref-run: cannot run '$program': "* ]]
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = refused ]
        [[ $output$stderr != *hunter2* ]]
        [ "$(of_account .complete)" = false ]
        [[ $(of_account '.reasons[]') == "cannot run '$program': "* ]]
    done
    run -2 --separate-stderr ref-run </dev/null
    [[ $stderr == *"no program"* ]]
    run -2 --separate-stderr ref-run --payload=double -- cat </dev/null
    run -2 --separate-stderr ref-run -- '' </dev/null
    run -2 --separate-stderr ref-run --max-line=x -- cat </dev/null
}

@test "the program's arguments are said nowhere" {
    records 2 | whole in
    run -3 --separate-stderr ref-run -- sh -c 'cat >/dev/null; exit 3' --password=hunter2 <in
    [[ $output$stderr != *hunter2* ]]
    [ "$(of_account .program)" = sh ]
}

@test "an unfinished stream, and one that was stopped: the program is ended, the account is not complete" {
    records 10 | whole in
    sed '$d' in >short
    run -3 --separate-stderr timeout 60 ref-run -- sh -c 'cat; sleep 1000' <short
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ "$(of_account '.complete, .reasons[0]' | tr '\n' '|')" = "false|the stream did not come whole|" ]
    { records 5; stopped unfinished gone kafka-read; records 1; } | whole stopped
    run -3 --separate-stderr timeout 60 ref-run -- cat <stopped
    [ -z "$stderr" ]
    [ "$(of_account '[.complete, .exit] | tostring')" = '[false,null]' ]
    run -3 --separate-stderr ref-run -- touch ran </dev/null
    [ ! -e ran ]
}

@test "the saved records give the saved rows again" {
    cd "$root/fixtures/reference" || exit 1
    run -0 --separate-stderr ref-run --strict -- jq -c -f orders.jq <records.ndjson
    diff <(printf '%s\n' "$output") events.ndjson
}
