#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What users saw a table do to their rows, by the case's number: how many rows, of which records, and in which run.
# shellcheck disable=SC2154 # bats sets output
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"String"}'
}

# owed FIRST LAST: one row a record of t/0, whose key is its offset, as the captured side.
owed() {
    local n
    for ((n = $1; n <= $2; n++)); do captured "[\"$n\",\"v\"]" "t/0/$n"; done
    side captured $(($2 - $1 + 1))
}

# held N…: the rows of those offsets, as often as they are named.
held() { found "${@/%/\",\"v\"]}"; }
held_all() { # FIRST LAST…: stretches
    local list=()
    while [ $# -gt 0 ]; do
        mapfile -t -O ${#list[@]} list < <(seq "$1" "$2")
        shift 2
    done
    held "${list[@]/#/[\"}"
}

# judged STATUS COUNTS RUNS
judged() {
    run "-$1" --separate-stderr diff_
    if [ "$(counts)" != "$2" ] || [ "$(runs | paste -sd" ")" != "$3" ]; then counts && runs && return 1; fi >&2
}

@test "A01: three records of one INSERT are three missing rows in one run, by partition and offset" {
    { owed 7407345 7407359; held_all 7407345 7407349 7407353 7407359; } | whole
    judged 1 "3 0 0 0 0" '["missing","t",0,7407350,7407352,3]'
}

@test "A02, A12, A13: batches that were dropped, whatever was committed, are what the range is owed and the table lacks" {
    { owed 0 9; held_all 9 9; } | whole
    judged 1 "9 0 0 0 0" '["missing","t",0,0,8,9]'
    { owed 0 99; held_all 0 79; } | whole
    judged 1 "20 0 0 0 0" '["missing","t",0,80,99,20]'
    { owed 0 11; held_all 0 3 8 11; } | whole
    judged 1 "4 0 0 0 0" '["missing","t",0,4,7,4]'
}

@test "A03: blocks that vanished are runs of a block's length, each its own" {
    { owed 0 39; held_all 0 9 20 29; } | whole
    judged 1 "20 0 0 0 0" '["missing","t",0,10,19,10] ["missing","t",0,30,39,10]'
}

@test "A04, A09: a batch that landed twice is surplus copies and keys, and nothing else" {
    { owed 5 7; held_all 5 7 6 7; } | whole
    judged 1 "0 0 2 2 0" '["duplicated","t",0,6,7,2]'
    { owed 1 2; held_all 1 2 1 1; } | whole
    judged 1 "0 0 1 1 0" '["duplicated","t",0,1,1,1]'
}

@test "A07: equal rows that were meant are owed as often as there are records, and a table that kept one of each lacks one of each" {
    row_columns='{"name":"id","type":"String","key":true}'
    { repeats; captured_side '["1"]' '["2"]' '["1"]' '["2"]'; found '["1"]' '["2"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "2 0 0 0 0" ]
    [ "$(findings | jq -c '[.[0], .[4], .[5]]' | paste -sd' ')" = '["missing",2,1] ["missing",2,1]' ]
}

@test "A30, A33: NULL is no empty text and no text that names it, and bytes are bytes" {
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"Nullable(String)"}'
    { captured_side '["1",""]' '["2",null]' '["3",""]' '["4",null]' '["5","\\N"]' '["6","null"]' '["7",{"b64":"/0E="}]'
        found '["1",null]' '["2",""]' '["3",""]' '["4",null]' '["5","\\N"]' '["6","null"]' '["7",{"b64":"/kE="}]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 3 0 0 0" ]
    [ "$(findings | jq -r '"\(.[0])\(.[1][0])"' | sort | paste -sd' ')" = "changed1 changed2 changed7" ]
}

@test "A15, A18: a digit that was cut off, and a number that wrapped, are a changed row" {
    row_columns='{"name":"id","type":"String","key":true},{"name":"d","type":"Decimal(10, 3)"},{"name":"w","type":"Decimal(38, 0)"}'
    { captured_side '["1",{"unfit":"1.2349"},"1"]' '["2","1234","123456789012345678901"]' '["3","1234","1"]'
        found '["1","1234","1"]' '["2","1234","-5670419503621182411"]' '["3","1234","1"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 2 0 0 0" ]
    [ "$(jq -c 'select(.type == "finding") | .differ' <<<"$output" | paste -sd' ')" = '["d"] ["w"]' ]
}

@test "A46: a record's further rows have places of their own, and the one that is lacking is named" {
    { captured '["1","v"]' t-0/0/7; captured '["2","v"]' t-0/0/7#1; captured '["3","v"]' t-0/0/7#2; side captured 3; found '["1","v"]' '["2","v"]'; } | whole
    judged 1 "1 0 0 0 0" '["missing","t-0",0,7,7,1]'
    [ "$(findings | jq -r '.[6]')" = "t-0/0/7#2" ]
}
