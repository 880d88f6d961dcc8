#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# rows-diff with three sides: what was held against what, over which keys, and what decides it.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    shopt -s lastpipe # what is at the end of a pipe is run in the test itself
    cd "$BATS_TEST_TMPDIR" || exit 1
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"Nullable(String)","key":false}'
}

all=(reconcile.rows reference.capture reference.destination destination.coverage)
no_whole=(reconcile.rows reference.capture reference.destination)

# The four answers: delivery, transformation, reference-destination, coverage.
answers() { echo "$(check reconcile.rows) $(check reference.capture) $(check reference.destination) $(check destination.coverage)"; }
# Run what is on standard input, wanting an exit status, the four answers, and counts a relation.
says() { # status, answers, then RELATION COUNTS pairs
    whole
    local status=$1 want=$2
    shift 2
    run "-$status" --separate-stderr rows-diff <stream
    [ "$(answers)" = "$want" ] || { echo "answers: $(answers), not $want" >&2; return 1; }
    while [ $# -gt 0 ]; do
        [ "$(counts "$1")" = "$2" ] || { echo "$1: $(counts "$1"), not $2" >&2; return 1; }
        shift 2
    done
}
# Both reads of the whole table.
table() {
    observed_whole
    found "$@"
}

@test "three sides and a table that are the same pass everywhere" {
    { require "${all[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["2","b"]' '["1","a"]'; table '["1","a"]' '["2","b"]'; } |
        says 0 "passed passed passed passed" delivery "0 0 0 0 0" transformation "0 0 0 0 0" reference-destination "0 0 0 0 0" coverage "0 0 0 0 0"
}

@test "a wrong transformation that was written faithfully fails as one, and the delivery passes" {
    # a wrong value, a row dropped, a row let through, a row twice: each alone, and what the table holds is what was captured
    local captured delivery want
    while IFS='|' read -r captured delivery want; do
        local -a rows
        mapfile -t rows < <(tr ' ' '\n' <<<"$captured")
        { require "${all[@]}"; captured_side "${rows[@]}"; reference_side '["1","a"]' '["2","b"]'; table "${rows[@]}"; } |
            says 1 "$delivery failed failed failed" delivery "0 0 0 0 0" transformation "$want" reference-destination "$want" coverage "$want"
        # Where the scope says that equal rows are meant, the delivery of one that came twice is decided too.
        { repeats; require "${all[@]}"; captured_side "${rows[@]}"; reference_side '["1","a"]' '["2","b"]'; table "${rows[@]}"; } |
            says 1 "passed failed failed failed" delivery "0 0 0 0 0" transformation "$want" reference-destination "$want" coverage "$want"
    done <<'CASES'
["1","x"] ["2","b"]|passed|0 1 0 0 0
["2","b"]|passed|1 0 0 0 0
["1","a"] ["2","b"] ["3","c"]|passed|0 0 0 0 1
["1","a"] ["2","b"] ["2","b"]|unsupported|0 0 1 1 0
CASES
}

@test "equal counts and totals over different rows are no equal rows" {
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"v","type":"Int64","key":false}'
    { require "${no_whole[@]}"; captured_side '["1","20"]' '["2","10"]'; reference_side '["1","10"]' '["2","20"]'; found '["1","20"]' '["2","10"]'; } |
        says 1 "passed failed failed " transformation "0 2 0 0 0" reference-destination "0 2 0 0 0"
}

@test "a fault of the table alone leaves the transformation passed" {
    local found
    while IFS='|' read -r found want; do
        local -a rows
        mapfile -t rows < <(tr ' ' '\n' <<<"$found")
        { require "${all[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["1","a"]' '["2","b"]'; table "${rows[@]}"; } |
            says 1 "failed passed failed failed" transformation "0 0 0 0 0" delivery "$want" reference-destination "$want" coverage "$want"
    done <<'CASES'
["1","x"] ["2","b"]|0 1 0 0 0
["2","b"]|1 0 0 0 0
["1","a"] ["2","b"] ["2","c"]|0 0 0 0 1
["1","a"] ["2","b"] ["2","b"]|0 0 1 1 0
CASES
}

@test "a fault of the job that the table undoes: each relation says its own" {
    # The job dropped key 2 and somebody wrote it by hand: the table is right, the job is not.
    { require "${all[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]' '["2","b"]'; table '["1","a"]' '["2","b"]'; } |
        says 1 "passed failed passed passed" transformation "1 0 0 0 0" delivery "0 0 0 0 0" reference-destination "0 0 0 0 0"
    # Both at once: the job computes x for 1, and the table lost 2.
    { require "${all[@]}"; captured_side '["1","x"]' '["2","b"]'; reference_side '["1","a"]' '["2","b"]'; table '["1","x"]'; } |
        says 1 "failed failed failed failed" transformation "0 1 0 0 0" delivery "1 0 0 0 0" reference-destination "1 1 0 0 0"
}

@test "the keys of each relation: delivery those captured, the reference's relations those of either, coverage all" {
    # key 1 of both, 2 captured alone, 3 the reference's alone, 4 of the table alone; the table holds each once
    { require "${all[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["1","a"]' '["3","c"]'
        table '["1","a"]' '["2","b"]' '["3","c"]' '["4","d"]'; } |
        says 1 "passed failed failed failed" delivery "0 0 0 0 0" transformation "1 0 0 0 1" reference-destination "0 0 0 0 1" coverage "0 0 0 0 2"
    [ "$(jq -r 'select(.type == "summary") | "\(.relation) \(.keys) \(.owed_rows) \(.found_rows)"' <<<"$output")" = \
        'delivery 2 2 2
transformation 3 2 2
reference-destination 3 2 3
coverage 4 2 4' ]
    # A row of another key in a table read whole changes the coverage alone.
    { require "${all[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]'; table '["1","a"]' '["4","d"]'; } |
        says 1 "passed passed passed failed" coverage "0 0 0 0 1"
    # And with selected keys it is not looked at.
    { require "${no_whole[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]'; found '["1","a"]' '["4","d"]'; } |
        says 0 "passed passed passed "
}

@test "a declared scope has a reference and nothing captured" {
    { require reference.destination; reference_side '["1","a"]' '["2","b"]'; found '["2","b"]' '["1","a"]'; } | says 0 "  passed "
    { require reference.destination; reference_side '["1","a"]' '["2","b"]'; found '["2","x"]'; } |
        says 1 "  failed " reference-destination "1 1 0 0 0"
    # Where captured rows are wanted too, their keys are: without them the reference's relations are not decided.
    { require reconcile.rows reference.destination; reference_side '["1","a"]'; found '["1","a"]'; } |
        says 3 "unavailable  unavailable "
}

@test "two reads that differ make every check of the table unavailable and leave the transformation alone" {
    for captured in a x; do
        { require "${all[@]}"; captured_side "[\"1\",\"$captured\"]"; reference_side '["1","a"]'; observed_whole
            table_row 1 '["1","a"]'; side destination 1 1; table_row 2 '["1","b"]'; side destination 1 2; } | whole
        run --separate-stderr rows-diff <stream
        [ "$(answers)" = "unavailable $([ "$captured" = a ] && echo passed || echo failed) unavailable unavailable" ]
        [ "$(jq -r 'select(.type == "finding" and .relation != "transformation") | .undecided' <<<"$output" | sort -u)" = true ]
    done
    # The difference may lie under a key that nobody owes: the table moved all the same.
    { require "${all[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]'; observed_whole
        table_row 1 '["1","a"]'; side destination 1 1; table_row 2 '["1","a"]'; table_row 2 '["9","z"]'; side destination 2 2; } |
        says 3 "unavailable passed unavailable unavailable"
}

@test "a table that moved or is not the one decides nothing but the transformation" {
    for line in '{"type":"observation","stable":false,"unstable":["mutation 7 in progress"],"table_whole":true}' \
        '{"type":"check","stage":"ch-read","name":"reconcile.destination","status":"unsupported","code":"server-failed","reason":"a ReplacingMergeTree","evidence":[]}'; do
        { require "${all[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]'; echo "$line"; found '["1","a"]'; } |
            says 3 "unavailable passed unavailable unavailable"
    done
}

@test "the whole table is decided only where it was read whole and nothing upstream stands against it" {
    rows() { captured_side '["1","a"]'; reference_side '["1","a"]'; }
    # not said to be read whole: seen, not decided
    { require "${all[@]}"; rows; found '["1","a"]' '["2","b"]'; } | says 3 "passed passed passed unavailable" coverage "0 0 0 0 1"
    [[ "$(reason destination.coverage)" == *"not read whole"* && "$(code destination.coverage)" == table-not-read-whole ]]
    [ "$(jq -r 'select(.type == "finding") | "\(.relation) \(.undecided)"' <<<"$output")" = "coverage true" ]
    { require "${all[@]}"; rows; observation '"table_whole":false'; found '["1","a"]'; } | says 3 "passed passed passed unavailable"
    # a check upstream that is not passed, before the rows or after them
    for status in unavailable unsupported failed; do
        against='{"type":"check","stage":"scope-cut","name":"destination.coverage","status":"'$status'","code":"sink-not-quiet","reason":"the run was still writing","evidence":[]}'
        { require "${all[@]}"; echo "$against"; rows; table '["1","a"]' '["2","b"]'; } | says 3 "passed passed passed $status
unavailable" coverage "0 0 0 0 1"
        [[ "$(reason destination.coverage)" == *"destination.coverage is $status: the run was still writing"* ]]
        { require "${all[@]}"; rows; table '["1","a"]'; echo "$against"; } | says 3 "passed passed passed $status
unavailable"
    done
    # and a passed one does not stand in for the comparison
    { require "${all[@]}"; checked destination.coverage passed '' ch-read
        rows; table '["1","a"]' '["2","b"]'; } | says 1 "passed passed passed passed
failed"
    # the expectation is the reference's where there is one, else what was captured
    { require reconcile.rows destination.coverage; captured_side '["1","a"]'; table '["1","a"]'; } | says 0 "passed   passed"
    { require "${all[@]}"; captured_side '["1","a"]'; table '["1","a"]'; } | says 3 "passed unavailable unavailable unavailable"
}

@test "nothing expected passes only where the table was read whole and is empty" {
    { require "${all[@]}"; captured_side; reference_side; table; } | says 0 "passed passed passed passed"
    [[ "$(reason)" == *"read whole, holds none"* && "$(reason reference.destination)" == *"read whole, holds none"* ]]
    [[ "$(reason reference.capture)" == *"computes no row"* ]]
    { require "${all[@]}"; captured_side; reference_side; table '["9","z"]'; } | says 1 "unavailable passed unavailable failed" coverage "0 0 0 0 1"
    { require "${no_whole[@]}"; captured_side; reference_side; found; } | says 3 "unavailable passed unavailable "
    { require reference.destination; reference_side; found; } | says 3 "  unavailable "
    { require "${no_whole[@]}"; captured_side; reference_side; table; } | says 3 "unavailable passed unavailable "
    { require "${all[@]}"; captured_side; reference_side; found; } | says 3 "unavailable passed unavailable unavailable"
    { require "${all[@]}"; captured_side; reference_side; table
        checked destination.coverage unavailable 'no quiet barrier' scope-cut; } |
        says 3 "unavailable passed unavailable unavailable
unavailable"
    # one side alone is empty
    { require "${all[@]}"; captured_side; reference_side '["1","a"]'; table; } | says 1 "passed failed failed failed" transformation "1 0 0 0 0"
    { require "${all[@]}"; captured_side '["1","a"]'; reference_side; table '["1","a"]'; } |
        says 1 "passed failed failed failed" transformation "0 0 0 0 1" reference-destination "0 0 0 0 1"
    { require "${all[@]}"; captured_side '["1","a"]'; reference_side; table; } | says 1 "failed failed passed passed" delivery "1 0 0 0 0"
}

@test "a reference that is not whole decides none of its relations and leaves the delivery alone" {
    { require "${all[@]}"; captured_side '["1","a"]'; reference '["1","a"]'
        open_side reference 1 'orders/0: 122 offsets are gone'; table '["1","a"]'; } |
        says 3 "passed unavailable unavailable unavailable"
    [[ "$(reason reference.capture)" == *"122 offsets are gone"* ]]
    { require "${all[@]}"; captured_side '["1","a"]'; reference '["1","a"]'; side reference 2; table '["1","a"]'; } |
        says 3 "passed unavailable unavailable unavailable"
}

@test "owed rows that came after the table was read had no key looked for" {
    read_() { observation; found '["1","a"]'; }
    { require "${no_whole[@]}"; captured_side '["1","a"]'; read_; reference_side '["1","a"]' '["2","b"]'; } | says 1 "unavailable failed unavailable "
    [[ "$(reason reference.destination)" == *"before the last of the owed rows"* ]]
    { require "${no_whole[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]'; read_; } | says 0 "passed passed passed "
    { require "${no_whole[@]}"; captured_side '["1","a"]'; read_; observation; } | whole
    run -2 --separate-stderr rows-diff <stream
}

@test "a key left out leaves the delivery alone, and the table is not known whole where it holds that key" {
    left='{"type":"excluded","key":["2"],"why":"open"}'
    { require "${all[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]'; echo "$left"; table '["1","a"]'; } | says 0 "passed passed passed passed"
    { require "${all[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]'; echo "$left"; table '["1","a"]' '["2","z"]'; } |
        says 3 "passed passed passed unavailable" coverage "0 0 0 0 0"
    [[ "$(reason destination.coverage)" == *"1 keys that are left out"* ]]
    { require "${no_whole[@]}"; captured_side '["2","z"]'; reference_side '["2","a"]'; echo "$left"; found; } | says 1 "failed unavailable unavailable "
}

@test "an expired key is left out of what the table holds, and decides it only on the operator's word" {
    local left='{"type":"excluded","key":["2"],"why":"expired"}'
    seen() { observation "\"table_whole\":true,\"expiry\":{\"ttl\":\"t\",\"rows\":1,\"keys\":1,\"mixed_keys\":$1,\"ignored\":$2}"; }
    local rows word status answer there
    of_word() { if [ "$1" = true ]; then status=0 answer=passed; else status=3 answer=unavailable; fi; }
    # gone, as it was, changed, twice, gone between the reads
    for rows in '[]' '[["2","b"]]' '[["2","z"]]' '[["2","b"],["2","b"]]' between; do
        for word in false true; do
            of_word $word
            {
                require "${no_whole[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["1","a"]' '["2","b"]'
                seen 0 $word | jq -c 'del(.table_whole)'
                echo "$left"
                if [ "$rows" = between ]; then
                    table_row 1 '["1","a"]'; table_row 1 '["2","b"]'; side destination 2 1; table_row 2 '["1","a"]'; side destination 1 2
                else
                    mapfile -t there < <(jq -c '.[]' <<<"$rows")
                    found '["1","a"]' "${there[@]}"
                fi
            } | says $status "$answer passed $answer "
            [ "$(jq -c 'select(.type == "summary") | [.relation, .excluded_keys]' <<<"$output" | sort | tr -d '\n')" = '["delivery",1]["reference-destination",1]["transformation",0]' ]
            [ $word = true ] || [ "$(code reconcile.rows) $(code reference.destination)" = "rows-expired rows-expired" ]
        done
    done
    # What the job computed is no matter of the table's, and a row that has not expired is owed.
    { require "${no_whole[@]}"; captured_side '["1","a"]' '["2","c"]'; reference_side '["1","a"]' '["2","b"]'; seen 0 true; echo "$left"; found '["1","a"]'; } |
        says 1 "passed failed passed " transformation "0 1 0 0 0"
    { require "${no_whole[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["1","a"]' '["2","b"]'; seen 0 true; echo "$left"; found; } |
        says 1 "failed passed failed "
    # A key that also owes a row which has not expired is on nobody's word.
    { require "${no_whole[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["1","a"]' '["2","b"]'; seen 1 true; echo "$left"; found '["1","a"]'; } |
        says 3 "unavailable passed unavailable "
    [ "$(code reconcile.rows) $(code reference.destination)" = "rows-expired-in-part rows-expired-in-part" ]
    # Of the whole table alike; a key left out for another reason is none of it.
    for word in false true; do
        of_word $word
        { require "${all[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["1","a"]' '["2","b"]'; seen 0 $word; echo "$left"; found '["1","a"]' '["2","b"]'; } |
            says $status "$answer passed $answer $answer"
    done
    { require "${all[@]}"; captured_side '["1","a"]' '["2","b"]'; reference_side '["1","a"]' '["2","b"]' '["3","x"]'; seen 0 true; echo "$left"; echo '{"type":"excluded","key":["3"],"why":"open"}'
        found '["1","a"]' '["2","b"]' '["3","x"]'; } | says 3 "passed passed passed unavailable"
}

@test "different reference rows under one key are a multiset; different captured ones cannot be compared as owed" {
    { require "${no_whole[@]}"; captured_side '["1","a"]' '["1","b"]'; reference_side '["1","b"]' '["1","a"]'; found '["1","a"]' '["1","b"]'; } |
        says 3 "unsupported passed passed "
    { require "${no_whole[@]}"; captured_side '["1","a"]'; reference_side '["1","a"]' '["1","a"]'; found '["1","a"]'; } |
        says 1 "passed failed failed " transformation "1 0 0 0 0" reference-destination "1 0 0 0 0"
}

# bats test_tags=both
@test "four sides in little memory give the answer of much" {
    local s side
    for s in 'captured' 'reference' 'destination","read":1' 'destination","read":2'; do
        awk -v s="$s" 'BEGIN { for (i = 0; i < 12000; i++) {
            if (s == "captured" && i % 900 == 5) continue
            if (s ~ /destination/ && i % 700 == 6) continue
            q = s ~ /destination/ ? s : s "\""
            printf "{\"type\":\"row\",\"side\":\"%s,\"cells\":[\"%d\",\"%0500d\"]%s}\n", q, i, s == "reference" && i % 800 == 7 ? 1 : i, s ~ /destination/ ? "" : ",\"at\":\"t/" i % 3 "/" i "\"" } }' >rows
        side=${s%%\"*}
        cat rows
        side "$side" "$(wc -l <rows)" "$([ "$side" = destination ] && echo "${s##*:}")"
    done >sides
    { require "${all[@]}"; observed_whole; cat sides; } | whole
    run -1 --separate-stderr rows-diff <stream
    [ "$(answers)" = "failed failed failed failed" ]
    [ "$(counts delivery) $(counts transformation) $(counts reference-destination)" = "18 0 0 0 0 14 15 0 0 0 18 15 0 0 0" ]
    cp <(printf '%s\n' "$output") all
    run -1 --separate-stderr bounded
    printf '%s\n' "$output" | cmp - all
}

# ---- the tail ----

tail_() { jq -c 'select(.type == "summary" and .relation == "'"${1:-reference-destination}"'") | [.tail.rows, .tail.partitions]' <<<"$output"; }
# Reference rows of a topic's partition 0, from offset $1 to $2.
owes() { for i in $(seq "$1" "$2"); do reference "[\"k$i\",\"v\"]" "t/${3:-0}/$i"; done; }

@test "B17: what is missing at the end of a partition may not have landed yet; read again, it has" {
    local -a r
    mapfile -t r < <(keys {0..89})
    { require reference.destination; owes 0 99; side reference 100; found "${r[@]}"; } | says 1 "  failed " reference-destination "10 0 0 0 0"
    [ "$(tail_)" = "[10,1]" ]
    [[ "$(reason reference.destination)" == "missing 10 rows of 10 keys; all that is missing is the newest stretch of t/0, offsets 90 to 99: it may not have landed yet, and no consumer group was looked at, which would say" ]]
    [ "$(code reference.destination)" = rows-late ]
    mapfile -t r < <(keys {0..99})
    { require reference.destination; owes 0 99; side reference 100; found "${r[@]}"; } | says 0 "  passed "
    [ "$(tail_)" = "[0,0]" ]
}

@test "the note of the tail is given only where nothing else is wrong" {
    local -a r
    none() {
        [ "$(tail_)" = "[0,0]" ]
        [[ "$(reason reference.destination)" != *landed* && "$(code reference.destination)" == "${1:-rows}"-* ]]
    }
    # a hole before it
    mapfile -t r < <(keys {0..4} {6..7})
    { require reference.destination; owes 0 9; side reference 10; found "${r[@]}"; } | says 1 "  failed " && none
    # a changed, a doubled, an unexpected row
    mapfile -t r < <(keys {1..7})
    { require reference.destination; owes 0 9; side reference 10; found '["k0","w"]' "${r[@]}"; } | says 1 "  failed " && none
    mapfile -t r < <(keys {0..7} 3)
    { require reference.destination; owes 0 9; side reference 10; found "${r[@]}"; } | says 1 "  failed " && none
    mapfile -t r < <(keys {0..7})
    { require reference.destination; owes 0 9; side reference 10; found "${r[@]}" '["k3","w"]'; } | says 1 "  failed " && none
    # a missing row without a place, and a partition out of order
    { require reference.destination; owes 0 9; reference '["w","v"]'; side reference 11; found "${r[@]}"; } | says 1 "  failed " && none
    { require reference.destination; owes 5 9; owes 0 4; side reference 10; mapfile -t r < <(keys {5..9} {0..3}); found "${r[@]}"; } | says 1 "  failed " && none
    # a row that no table can hold
    { require reference.destination; owes 0 8; reference '["k9",{"unfit":"1.5"}]' t/0/9; side reference 10; found "${r[@]}"; } | says 1 "  failed " && none batch
    # the end of one partition and the middle of another
    { require reference.destination; owes 0 9; owes 20 29 1; side reference 20; mapfile -t r < <(keys {0..7} {20..23} {25..29}); found "${r[@]}"; } |
        says 1 "  failed " && none
}

@test "the tails of several partitions are counted, and a partition that has nothing is said to have nothing" {
    local -a r
    mapfile -t r < <(keys {0..7})
    { require reference.destination; owes 20 29 1; owes 0 9; owes 40 49 2; side reference 30; mapfile -t r < <(keys {0..7} {20..24} {40..49}); found "${r[@]}"; } |
        says 1 "  failed "
    [ "$(tail_)" = "[7,2]" ]
    [[ "$(reason reference.destination)" == *"newest stretch of t/0, offsets 8 to 9, and of 1 more partitions: it may not have landed yet, and no consumer group was looked at, which would say" ]]
    { require reference.destination; owes 0 9; side reference 10; found; } | says 1 "  failed "
    [[ "$(reason reference.destination)" == *"offsets 0 to 9, which is all that it owes: it may not have landed yet, and no consumer group was looked at, which would say" ]]
}

@test "what a sink had an acknowledgement for is not late: the same hole in captured rows is a loss" {
    local -a r
    mapfile -t r < <(keys {0..7})
    { require reconcile.rows reference.capture reference.destination; range 0 9; side captured 10; owes 0 9; side reference 10; found "${r[@]}"; } |
        says 1 "failed passed failed "
    [[ "$(reason)" == *"newest stretch of t/0, offsets 8 to 9, which the sink had written and acknowledged" ]]
    [[ "$(code reconcile.rows)" == rows-missing && "$(reason reference.destination)" != *landed* ]]
    # a captured side that lacks the reference's last rows is no matter of landing
    { require reference.capture; range 0 7; side captured 8; owes 0 9; side reference 10; } | says 1 " failed  "
    [ "$(tail_ transformation)" = "[0,0]" ]
}
