#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ref-jq: the answers and the account of ref-run with jq, in process; what jq would lose in silence is said; nothing outside the record.
# shellcheck disable=SC2016,SC2154  # programs in jq hold their own $; bats sets output
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
}

account() { of account '"stage":"ref-[a-z]*","role":"program"'; }
of_account() { account | jq -r "$1"; }
placed='{at: "\(.topic)/\(.partition)/\(.offset)"}'

# same PROGRAM [OPTION…]: as ref-run with jq, over the file in; the account's words but for how a process ended.
same() {
    local want program=$1
    shift
    run --separate-stderr ref-run "$@" -- jq -c "$program" <in
    want=$status
    grep '"type":"event"' <<<"$output" | jq -c . >theirs || true
    account | jq -c 'del(.stage, .exit)' >their-account
    run "-$want" --separate-stderr ref-jq "$@" --rules="$program" <in
    grep '"type":"event"' <<<"$output" | jq -c . | diff theirs - || return 1
    account | jq -c 'del(.stage, .exit)' | diff their-account -
    [ "$(tail -n 1 <<<"$output" | jq -r .type)" = end ]
}

# Payloads of every kind of JSON, and of which t/0/2 to t/0/7 cannot be read.
mixed() {
    { record 1 '{"id":9007199254740993,"a":[-1.50e+3,0.1,{"b":"1 \" 2","é":"\u0000\u007f\\"}],"n":null,"t":true,"s":"7","big":1e400}'
      record 2 '{"a":1,"a":2}'; record 3 ''; record 4 '"\ud800"'; jq -c '.payload_b64 = "/w==" | del(.payload)' <(record 5 '')
      record 6 '01'; record 7 '{} {}'; jq -c '.payload = null' <(record 8 ''); record 9 'null'; record 10 '[]'; record 11 '12'
      record 12 '{"z":1,"y":{"x":[[],{},[{}]]},"w":"𝄞"}'; } | whole in
}

@test "a row has the time of the record that it names, over many batches; no time is none, and what is no number is refused" {
    records 6000 | jq -c '.ts = if .offset % 5 == 0 then -1 elif .offset % 5 == 1 then null else 1796000000000 + .offset * 7 end' | whole in
    run -0 --separate-stderr ref-jq --rules="$placed"' + {values: {id: .value.id}}' <in
    diff <(jq -c 'select(.type == "event") | [.at, .ts, has("ts")]' <<<"$output") \
        <(jq -c 'select(.type == "record") | ["t/\(.partition)/\(.offset)", if (.ts // -1) < 0 then null else .ts end] | . + [.[1] != null]' in)
    # and of a record before its own
    run -0 --separate-stderr ref-jq --rules='{at: "t/\(.partition)/\(.offset / 2 | floor)", values: {id: 1}}' <in
    diff <(jq -c 'select(.type == "event") | [.at, .ts]' <<<"$output") \
        <(jq -c 'select(.type == "record") | (.offset / 2 | floor) as $o | ["t/\(.partition)/\($o)", if $o % 5 < 2 then null else 1796000000000 + $o * 7 end]' in)
    { record 1 '{}'; record 2 '{}' | jq -c '.ts = 0.5'; } | whole in
    run -2 --separate-stderr ref-jq --rules="$placed"' + {values: {}}' <in
    [[ $stderr == *"stdin: line 3: record.ts: not a whole number of milliseconds"* ]]
}

@test "the same answers and the same account as ref-run with jq, in whatever form they come" {
    mixed
    same "$placed + {values: {v: .value, e: .value_error, p: .payload, o: .offset, k: keys}}"
    same "$placed + if (.value | type) == \"object\" then {values: .value} else {skip: true} end" --strict
    same "select(.value_error == null) | $placed + {values: {}}" --strict
    same "$placed + if .value_error then {unreadable: .value_error} else {skip: true} end" --unreadable=skip
    same "$placed + {absent: {id: 1}}"
    same '{a: .value}' 
    same "$placed + {values: {n: [1, 1.5, -0.25, 100, 1e3, 123456789012, 0.1, -3]}}"
    { record 1 '{"id":1}'; echo '{"type":"note","x":1}'; jq -c '. + {aborted: true}' <(record 2 '{"id":2}'); } | whole in
    same "$placed + {values: .value}"
    whole in </dev/null
    same .
}

@test "the records' order is kept over many batches and threads, and every row is there" {
    awk 'BEGIN { for (i = 0; i < 30000; i++) printf "{\"type\":\"record\",\"topic\":\"t\",\"partition\":%d,\"offset\":%d,\"ts\":1,\"key\":null,\"payload\":\"{\\\"i\\\":%d,\\\"s\\\":\\\"%*s\\\"}\"}\n", i % 3, int(i / 3), i, i % 97, "" }' | whole in
    run -0 --separate-stderr ref-jq --strict --rules="$placed + {values: {i: .value.i}}, (select(.offset % 7 == 0) | {at: \"\\(.topic)/\\(.partition)/\\(.offset)#1\", values: {i: \"again\"}})" <in
    [ "$(grep -c '"type":"event"' <<<"$output")" -eq 34287 ]
    cmp <(seq 0 29999) <(jq -r 'select(.type == "event" and .values.i != "again") | .values.i' <<<"$output")
    [ "$(of_account '[.complete, .records, .rows, .without_row] | tostring')" = '[true,30000,34287,0]' ]
}

not_whole() { # CODE REASON
    [ "$stderr" = "ref-jq: $2" ] || { echo "$stderr" >&2; return 1; }
    [ "$(of_account '[.complete, .code, .reasons[0]] | join("|")')" = "false|$1|$2" ]
}

@test "an error at one record leaves the rows not whole, names it, and the others are there" {
    { record 1 '{"id":1}'; record 2 '{"id":"x"}'; record 3 '{"id":3}'; record 4 '{"id":"y"}'; } | whole in
    run -3 --separate-stderr ref-jq --rules="$placed + {values: {id: (.value.id | tonumber)}}" <in
    not_whole program-failed "t/0/2: tonumber: not a number"
    [ "$(of_account .rows)" = 2 ]
    run -3 --separate-stderr ref-jq --rules='if .offset == 2 then error else {id: 1} end' <in
    [[ $(of_account '.reasons[0]') == "t/0/2: "* ]]
    run -3 --separate-stderr ref-jq --rules='.offset' <in
    not_whole program-answer "t/0/1: not an object"
    run -3 --separate-stderr ref-jq --strict --rules="select(.offset != 3) | $placed + {values: {}}" <in
    not_whole program-failed "jq did not answer t/0/3"
}

@test "what jq would lose in silence is said: digits, bytes, numbers that JSON has not" {
    { record 1 '{"n":9007199254740993,"d":0.1,"j":"{\"a\":9007199254740993}"}'; } | whole in
    while IFS='~' read -r program said; do
        run -3 --separate-stderr ref-jq --rules="$program" <in
        [[ $stderr == "ref-jq: t/0/1: $said"* ]] || { echo "$program: $stderr" >&2; return 1; }
    done <<'LOST'
{n: (.value.n | tonumber)}~tonumber: 9007199254740993 does not fit a double
{n: (try (.value.n | tonumber) catch "x")}~tonumber: 9007199254740993 does not fit a double
{n: (9007199254740992 * 3)}~the program's output holds 27021597764222976, a number past 2^53
{n: nan}~the program's output holds nan
{n: infinite}~the program's output holds an infinite number
{n: ("/w==" | @base64d)}~base64d: the bytes are not UTF-8
{n: ([55296] | implode)}~implode: not an array of code points
LOST
    run -0 --separate-stderr ref-jq --rules='{n: .value.n, d: (.value.d | tonumber), a: (.value.j | fromjson | .a), b: ("aGk=" | @base64d)}' <in
    grep -qF '"values":{"n":"9007199254740993","d":0.1,"a":"9007199254740993","b":"hi"}' <<<"$output"
    jq -c '.offset = 9007199254740993' <(record 1 '{}') | sed 's/9007199254740992/9007199254740993/' | whole in
    run -3 --separate-stderr ref-jq --rules='{}' <in
    [[ $stderr == *"offset: 9007199254740993 does not fit a double"* ]]
}

@test "what reaches outside the record is refused before a record is read, as the job's map refuses it" {
    record 1 '{"id":1}' | whole in
    mkdir home
    echo 'def id: "of ~/.jq"; def surely: 1;' >home/.jq
    for p in now env '$ENV' input inputs input_filename input_line_number debug 'debug("x")' stderr halt halt_error localtime 'strflocaltime("x")' \
        get_search_list modulemeta surely 'include "x"; .' 'import "x" as x; .' '9007199254740993' '{' ''; do
        [ -n "$p" ] || continue
        HOME=$PWD/home run -2 --separate-stderr ref-jq --rules="$p" <in
        [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop end " ] || { echo "$p: $output" >&2; return 1; }
        HOME=$PWD/home run -2 --separate-stderr row-map --program="$p" </dev/null
    done
    HOME=$PWD/home run -0 --separate-stderr ref-jq --rules='{id: .value.id}' <in
    echo '{id: .value.id}' >rules.jq
    run -0 --separate-stderr ref-jq --rules-file=rules.jq <in
    run -3 --separate-stderr ref-jq --rules-file=none.jq <in
    run -2 --separate-stderr ref-jq --rules=. --rules-file=rules.jq <in
    run -2 --separate-stderr ref-jq <in
}

@test "a stream that is not whole, a record that is none and one that comes twice are no whole rows" {
    { record 1 '{}'; stopped unfinished r; } | whole in
    run -3 --separate-stderr ref-jq --rules='{}' <in
    [ "$(of_account .complete)" = false ]
    { record 1 '{}'; record 2 '{}'; } | whole in
    head -n 2 in >short
    run -3 --separate-stderr ref-jq --rules='{}' <short
    { record 2 '{}'; record 1 '{}'; } | whole in
    run -2 --separate-stderr ref-jq --rules='{}' <in
    [[ $stderr == *"stdin: line 3: record t/0/1 comes after offset 2"* ]]
    { record 1 '{}' | sed 's/"offset":1/"offset":"x"/'; } | whole in
    run -2 --separate-stderr ref-jq --rules='{}' <in
    [[ $stderr == *"stdin: line 2: "* ]]
    record 1 '{}' | whole in
    run -3 bash -c "ref-jq --rules='{}' <in >/dev/full"
}

@test "a program that gives without an end is stopped at a bound" {
    record 1 '{}' | whole in
    run -0 --separate-stderr bash -c "ref-jq --rules='repeat({a: (\"x\" * 1000)})' <in | tail -n 2"
    [[ $(of_account '.reasons[0]') == "t/0/1: the program's output for one record is larger than"* ]]
}
