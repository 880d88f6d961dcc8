#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What users of other comparing tools ran into, by the case's number: bytes, multisets and types decide.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    row_columns='{"name":"id","type":"String","key":true}'
    whole_table=(reconcile.rows destination.coverage)
}

@test "a key behind a column that holds others is the key, and a difference in that column is its own" {
    row_columns=
    cells() { printf '{"type":"columns","cells":"%s","columns":[{"name":"a","type":"Array(Tuple(String, Map(String, UInt8)))"},{"name":"id","type":"UInt64","key":true},{"name":"v","type":"String"}]}\n' "$1"; }
    one='[[["x],\"",[["1","2"]]],["y",[]]],"7","a"]' other='[[["x],\"",[["1","3"]]]],"7","a"]' third='[[],"8","b"]'
    { cells owed-cells-v2; captured_side "$one" "$third"; found "$other" "$third"; } | whole
    run -1 --separate-stderr diff_
    [ "$(findings | jq -c '[.[0], .[1]]')" = '["changed",["7"]]' ]
    [ "$(jq -c 'select(.type == "finding") | .differ' <<<"$output")" = '["a"]' ]
    # Cells of another version than the columns' are refused.
    { cells clink-canonical-cells-v1; captured_side "$one"; found "$one"; } | whole
    run -2 --separate-stderr diff_
    [[ $stderr == *"columns of types whose cells are owed-cells-v2"* ]]
    { cells owed-cells-v3; captured_side "$one"; found "$one"; } | whole
    run -2 --separate-stderr verdict <stream
    [[ $stderr == *"neither clink-canonical-cells-v1 nor owed-cells-v2"* ]]
}

@test "C02: a JSON column has no cells and is unsupported by its name; in a String column letters are letters" {
    row_columns='{"name":"id","type":"String","key":true},{"name":"u","type":"Dynamic"}'
    { require reference.capture reconcile.rows; captured_side '["1","7e4c"]'; reference_side '["1","7e4c"]'; found '["1","7e4c"]'; } | whole
    run -3 --separate-stderr diff_
    [ "$(check) $(check reference.capture) $(check reference.destination)" = "unsupported unsupported unsupported" ]
    [[ "$(reason)" == "column 'u' is Dynamic, a type without cells" ]]
    row_columns='{"name":"id","type":"String","key":true},{"name":"u","type":"String"}'
    { captured_side '["1","7E4C"]'; found '["1","7e4c"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 1 0 0 0" ]
}

@test "C03: the order that either side came in is nobody's business" {
    local -a binary=('["B"]' '["Z"]' '["a"]' '["c"]' '["é"]') folded=('["a"]' '["B"]' '["c"]' '["é"]' '["Z"]')
    { require "${whole_table[@]}"; captured_side "${binary[@]}"; observed_whole; found "${folded[@]}"; } | whole
    run -0 --separate-stderr diff_
    { require "${whole_table[@]}"; captured_side "${folded[@]}"; observed_whole; found "${binary[@]}"; } | whole
    run -0 --separate-stderr diff_
}

@test "C04: a and A are two keys, and one found for the other is missing and unexpected" {
    { require "${whole_table[@]}"; captured_side '["a"]' '["A"]'; observed_whole; found '["A"]' '["a"]'; } | whole
    run -0 --separate-stderr diff_
    { require "${whole_table[@]}"; captured_side '["a"]'; observed_whole; found '["A"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts coverage) $(counts)" = "1 0 0 0 1 1 0 0 0 0" ]
}

@test "C05: rows that cancel out in a checksum are counted one by one" {
    row_columns='{"name":"id","type":"Int64","key":true}'
    { require "${whole_table[@]}"; captured_side '["1"]'; observed_whole; found '["1"]' '["2"]' '["2"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts coverage)" = "0 0 0 0 2" ]
    { repeats; require "${whole_table[@]}"; captured_side '["1"]' '["2"]' '["2"]'; observed_whole; found '["1"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts coverage)" = "2 0 0 0 0" ]
}

@test "C06: columns do not run together, white space is data, and NULL is no empty text" {
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"p","type":"Nullable(String)"},{"name":"q","type":"String"}'
    { captured_side '["1","ab","c"]' '["2","a b","c"]' '["3",null,"x"]'; found '["1","a","bc"]' '["2","ab","c"]' '["3","","x"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 3 0 0 0" ]
    [ "$(jq -c 'select(.kind == "changed") | .differ' <<<"$output" | tr -d '\n')" = '["p","q"]["p"]["p"]' ]
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"p","type":"String"},{"name":"q","type":"String"}'
    { captured_side '["1","a#b","c"]' '["2","a\",\"b","c"]'; found '["1","a","b#c"]' '["2","a","b\",\"c"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 2 0 0 0" ]
}

@test "C09: five copies of a row that is owed once are four too many, on each of the three comparisons" {
    { require reference.capture reconcile.rows reference.destination; captured_side '["r"]'; reference_side '["r"]'; found '["r"]' '["r"]' '["r"]' '["r"]' '["r"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts) $(counts reference-destination) $(check reference.capture)" = "0 0 1 4 0 0 0 1 4 0 passed" ]
    [ "$(jq -c 'select(.type == "finding" and .relation == "delivery") | [.owed_copies, .found_copies]' <<<"$output")" = "[1,5]" ]
}

@test "C12: one row more is one difference, and a change shows its columns alone" {
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"a","type":"Int64"},{"name":"b","type":"Int64"}'
    { require "${whole_table[@]}"; for i in $(seq 1 1000); do captured "[\"$i\",\"1\",\"2\"]"; done; side captured 1000; observed_whole
        for read in 1 2; do
            table_row $read '["0","1","2"]'
            for i in $(seq 1000 -1 1); do table_row $read "[\"$i\",\"1\",\"$((i == 500 ? 3 : 2))\"]"; done
            side destination 1001 $read
        done; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts coverage) $(counts)" = "0 1 0 0 1 0 1 0 0 0" ]
    [ "$(jq -c 'select(.type == "finding" and .relation == "coverage") | [.kind, .key, .differ]' <<<"$output" | tr -d '\n')" = '["changed",["500"],["b"]]["unexpected",["0"],null]' ]
    [[ $(verdict <<<"$output") == *"id=500; b owed 2, found 3"* ]]
}

@test "F24: of two equal rows that were both meant one is there; a row beside others of its key shows its own values" {
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"v","type":"String"}'
    { repeats; require "${whole_table[@]}"; captured_side '["1","a"]' '["1","a"]' '["2","b"]'; observed_whole; found '["1","a"]' '["2","b"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "1 0 0 0 0" ]
    [[ $(verdict <<<"$output") == *"missing     id=1; owed 2, found 1"* ]]
    { require reference.destination; reference_side '["1","a"]' '["1","b"]' '["3","x"]'; found '["1","a"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(jq -c 'select(.type == "finding") | [.key, .others]' <<<"$output" | tr -d '\n')" = '[["1"],true][["3"],null]' ]
    [[ $(verdict <<<"$output") == *"missing     id=1; v=\"b\"; owed 1, found 0"*"missing     id=3; owed 1, found 0"$'\n'* ]]
    { require reference.destination; reference_side '["1","a"]'; found '["1","a"]' '["1","c"]'; } | whole
    run -1 --separate-stderr diff_
    [[ $(verdict <<<"$output") == *"unexpected  id=1; v=\"c\""* ]]
}
