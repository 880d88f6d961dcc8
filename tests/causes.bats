#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Why rows are missing: what rows-diff makes of what was found beside them, which code leads, and what verdict says is not known.
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"Nullable(String)","key":false}'
}

# Rows that a reference owes of partition $3 (0) of t, from offset $1 to $2, each under its own key.
owes() { seq "$1" "$2" | sed 's#.*#{"type":"row","side":"reference","cells":["k&","v&"],"at":"t/'"${3:-0}"'/&"}#'; }
there() { mapfile -t r < <(for i in "$@"; do echo "[\"k$i\",\"v$i\"]"; done); found "${r[@]}"; }
# A log line of t: groups as JSON.
log() { printf '{"type":"log","topic":"%s","partitions":[],"groups":%s}\n' "${2:-t}" "$1"; }
group() { # NAME STATE MEMBERS OFFSETS: a group whose lag is 5 wherever it has committed anything
    jq -cn --arg g "$1" --arg s "$2" --argjson m "$3" --argjson o "$4" '{group: $g, state: $s, members: $m, offsets: $o, lag: ($o | map_values(5))}'
}
# led CODE REASON: by what a failed comparison of the reference with the table leads.
led() {
    { require reference.destination; cat; } | whole
    run -1 --separate-stderr rows-diff <stream
    printf '%s\n' "$output" >said
    [ "$(code reference.destination)" = "$1" ] || { code reference.destination; reason reference.destination; return 1; } >&2
    # shellcheck disable=SC2053
    [[ "$(reason reference.destination)" == $2 ]] || { reason reference.destination >&2; return 1; }
}
next_of() { verdict <said | grep -o "^        $1: .*"; }
facts() { jq -c 'select(.name == "reference.destination") | .facts' said; }

@test "missing from the committed offset on: the consumer lags, or it is down; and before it they will not come" {
    local tail="; all that is missing is the newest stretch of t/0, offsets 6 to 9"
    { log "[$(group g Stable 2 '{"0":6}')]"; owes 0 9; side reference 10; there {0..5}; } |
        led rows-not-consumed "missing 4 rows of 4 keys; group g (Stable, 2 members) had not come to all of them$tail"
    next_of rows-not-consumed | grep -F 'wait until group g has committed past the findings'
    { log "[$(group g Empty 0 '{"0":5}')]"; owes 0 9; side reference 10; there {0..5}; } |
        led consumer-stopped "missing 4 rows of 4 keys; group g (Empty, 0 members) had not come to all of them$tail"
    next_of consumer-stopped | grep -F 'start the consumer of group g,'
    { log "[$(group g Stable 1 '{"0":10}')]"; owes 0 9; side reference 10; there {0..5}; } |
        led rows-passed-over "missing 4 rows of 4 keys; group g (Stable, 1 members) had committed past all of them, from t/0/6 on: they will not come by themselves$tail"
    next_of rows-passed-over | grep -F 'from t/0/6 on'
    # The offset is the next one to be read: 8 means that 7 was.
    { log "[$(group g Stable 1 '{"0":8}')]"; owes 0 9; side reference 10; there {0..5}; } |
        led rows-passed-over "missing 4 rows of 4 keys; * had committed past 2 of them, from t/0/6 on: they will not come by themselves, and had not come to 2 of them$tail"
    # A partition of which it has committed nothing it has not come to; a hole in the middle is passed over.
    { log "[$(group g Stable 1 '{"0":10}')]"; owes 0 9; owes 20 21 1; side reference 12; there {0..2} {4..9}; } |
        led rows-passed-over "missing 3 rows of 3 keys; * had committed past 1 of them, from t/0/3 on: *, and had not come to 2 of them"
}

@test "of several groups the one that is behind decides; one that never read the topic, or that nobody knows, says nothing" {
    { log "[$(group a Stable 1 '{"0":10}'),$(group b Empty 0 '{"0":6}')]"; owes 0 9; side reference 10; there {0..5}; } |
        led rows-not-consumed "*; group a (Stable, 1 members) and group b (Empty, 0 members) had not come to all of them; *"
    { log "[$(group a Stable 1 '{"0":10}'),$(group b Stable 1 '{}'),$(group c Dead 0 '{}')]"; owes 0 9; side reference 10; there {0..5}; } |
        led rows-passed-over "*; group a (Stable, 1 members) had committed past all of them, *"
    for groups in "[$(group c Dead 0 '{}')]" '[]'; do
        { log "$groups"; owes 0 9; side reference 10; there {0..5}; } | led rows-late "*: it may not have landed yet, and no consumer group was looked at, which would say"
    done
    { log "[$(group g Stable 1 '{"0":10}')]" other; owes 0 9; side reference 10; there {0..5}; } | led rows-late '*'
    # The first look at a topic is the one from before the table was read.
    { log "[$(group g Stable 1 '{"0":6}')]"; owes 0 9; side reference 10; there {0..5}; log "[$(group g Stable 1 '{"0":10}')]" | jq -c '.again = true'; } | led rows-not-consumed '*'
}

@test "a lost stretch that holds a row which its column cannot hold" {
    unfit() { reference '["k'"$1"'",{"unfit":"1.5"}]' "t/0/$1"; }
    { owes 0 4; unfit 5; owes 6 9; side reference 10; there {0..2} 8 9; } |
        led batch-unfit "missing 5 rows of 5 keys; 5 rows that follow one another, t/0, offsets 3 to 7, hold one at t/0/5 with a value that its column cannot hold"
    [ "$(facts)" = '{"at":"t/0/5"}' ]
    # Before what else may be: the newest stretch, and a mutation that deletes, since it explains all of them.
    { owes 0 4; unfit 5; owes 6 9; side reference 10; there {0..2}; } | led batch-unfit '*t/0, offsets 3 to 9,*'
    observed='"mutations":[{"id":"m","command":"DELETE WHERE 1","created":"2026-11-29T10:00:00.000Z","done":true}]'
    { owes 0 4; unfit 5; owes 6 9; side reference 10; observation "$observed"; there {0..2} 8 9; } | led batch-unfit '*; mutation m of *'
    # Where it does not explain all, the mutation may.
    { owes 0 4; unfit 5; owes 6 9; side reference 10; observation "$observed"; there 1 2 8 9; } | led rows-deleted '*; 5 rows that follow one another, *'
    # By itself such a row takes none with it.
    { owes 0 4; unfit 5; owes 6 9; side reference 10; there {0..4} {6..9}; } | led rows-unfit 'missing 1 rows of 1 keys; it holds a value that its column cannot hold'
    { owes 0 4; unfit 5; owes 6 9; side reference 10; there 0 1 3 4 {6..9}; } | led rows-missing '*; 1 of them holds a value that its column cannot hold'
    { unfit 0; unfit 1; unfit 2; side reference 3; there; } | led rows-unfit '*; all of them hold a value that its column cannot hold; nothing of what is owed is in the table'
    # In little memory it is the same.
    { owes 0 4; unfit 5; owes 6 9; side reference 10; there {0..2} 8 9; } | led batch-unfit '*'
    run -1 --separate-stderr rows-diff --memory=16M --list=0 <stream
    [ "$(code reference.destination)" = batch-unfit ]
}

@test "the values of a missing row stand under a key next to its own" {
    row_columns='{"name":"id","type":"UInt64","key":true},{"name":"v","type":"String","key":false}'
    rows() { reference '["9007199254740992","a"]' t/0/0; reference '["9007199254740993","b"]' t/0/1; reference '["9007199254740994","c"]' t/0/2; side reference 3; }
    { rows; found '["9007199254740992","a"]' '["9007199254740992","b"]' '["9007199254740994","c"]'; } |
        led rows-under-another-key '*; the values that are owed under ?"9007199254740993"] stand under ?"9007199254740992"]'
    [ "$(facts)" = '{"key":"[\"9007199254740993\"]","other":"[\"9007199254740992\"]"}' ]
    # None is shown, and it is known all the same.
    run -1 --separate-stderr rows-diff --list=0 <stream
    [ "$(code reference.destination)" = rows-under-another-key ]
    # Other values, or a key that is not near, are two rows.
    { rows; found '["9007199254740992","a"]' '["9007199254740992","x"]' '["9007199254740994","c"]'; } | led rows-missing '*'
    { reference '["17","a"]' t/0/0; reference '["400","b"]' t/0/1; side reference 2; found '["400","b"]' '["400","a"]'; } | led rows-missing '*'
    # A time without its fraction; a text that was cut, trimmed or written small; one column of two.
    { reference '["1758000057123","a"]' t/0/0; reference '["1758000057000","b"]' t/0/1; side reference 2; found '["1758000057000","b"]' '["1758000057000","a"]'; } |
        led rows-under-another-key '*'
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"String","key":false}'
    for near in 'order-000' 'ORDER-000017' ' order-000017 '; do
        { reference '["order-000017","a"]' t/0/0; reference "[\"$near\",\"b\"]" t/0/1; side reference 2; found "[\"$near\",\"b\"]" "[\"$near\",\"a\"]"; } |
            led rows-under-another-key '*'
    done
    { reference '["order-000017","a"]' t/0/0; reference '["ord","b"]' t/0/1; side reference 2; found '["ord","b"]' '["ord","a"]'; } | led rows-missing '*'
    row_columns='{"name":"a","type":"String","key":true},{"name":"b","type":"UInt64","key":true}'
    # Keys alone have no values to be known by.
    { reference '["x","9007199254740993"]' t/0/0; reference '["x","9007199254740992"]' t/0/1; side reference 2; found '["x","9007199254740992"]' '["x","9007199254740992"]'; } | led rows-missing '*'
}

@test "a TTL, and nothing at all" {
    ttl='"expiry":{"ttl":"t + toIntervalDay(1)","rows":0,"keys":0,"mixed_keys":0,"ignored":false}'
    { owes 0 9; side reference 10; observation "$ttl"; there {0..5}; } | led rows-late "*; by the table's TTL, t + toIntervalDay(1), none of them had expired; all that is missing *"
    { owes 0 9; side reference 10; observation "$ttl"; there; } | led none-landed "*; by the table's TTL, t + toIntervalDay(1), none of them had expired; *"
    { owes 0 9; side reference 10; there; } | led none-landed '*; nothing of what is owed is in the table; *'
    # What the consumer has read and what it has not come to are two things.
    { log "[$(group g Stable 1 '{"0":10}')]"; owes 0 9; side reference 10; there; } | led none-landed '*; nothing of what is owed is in the table; group g *had committed past all of them*'
    { log "[$(group g Stable 1 '{"0":0}')]"; owes 0 9; side reference 10; there; } | led rows-not-consumed '*; nothing of what is owed is in the table; group g *had not come to all of them*'
}

@test "--offsets: the place of every missing row, for a replay, whole or not at all" {
    { require reference.destination; owes 0 9; reference '["x","a"]' t/1/7; reference '["y","a"]' "t/1/7#1"; side reference 12; there {0..2} {5..9}; } | whole
    run -1 --separate-stderr rows-diff --offsets=missing --list=0 <stream
    [ "$(cat missing)" = $'t 0 3\nt 0 4\nt 1 7' ]
    [ "$(stat -c %a missing)" = 600 ]
    run -1 --separate-stderr rows-diff --offsets=others --mode=0644 <stream
    [ "$(stat -c %a others)" = 644 ]
    # No row is missing: nothing to send again.
    { require reference.destination; owes 0 2; side reference 3; there {0..2}; } | whole
    run -0 --separate-stderr rows-diff --offsets=missing <stream
    [ -e missing ] && [ ! -s missing ]
    # Nothing is decided: none is written, and what stood there stays.
    rm missing
    { require reference.destination; owes 0 2; open_side reference 3 because; there {0..2}; } | whole
    run -3 --separate-stderr rows-diff --offsets=missing <stream
    [[ ! -e missing && $stderr == *"--offsets: no file is written"* ]]
    { require reference.destination; owes 0 2; side reference 3; rows_of '"side":"destination","read":1' '["k0","v0"]'; side destination 1 1; side destination 0 2; } | whole
    run -3 --separate-stderr rows-diff --offsets=missing <stream
    [ ! -e missing ]
    # By what was captured where no reference is; a row without a place is said not to be in it.
    { require reconcile.rows; captured '["k0","v0"]' t/0/0; captured '["w","v"]'; side captured 2; found; } | whole
    run -1 --separate-stderr rows-diff --offsets=missing <stream
    [ "$(cat missing)" = "t 0 0" ]
    [[ $stderr == *"--offsets: 1 of 2 missing rows have no place, and are not in the file"* ]]
    for place in none/there . ''; do
        run ! --separate-stderr rows-diff --offsets="$place" <stream
        [[ $output == *'"type":"stop"'* ]]
    done
    [ -z "$(find . -name '*.tmp-*')" ]
}

@test "in little memory the places are the same, by the thousand" {
    seq 0 39999 | sed 's#.*#{"type":"row","side":"reference","cells":["k&","'"$(printf '%0600d' 0)"'"],"at":"t/0/&"}#' >owed
    { require reference.destination; cat owed; side reference 40000; found; } | whole
    run -1 --separate-stderr rows-diff --offsets=missing --memory=16M --scratch="$PWD" <stream
    seq 0 39999 | sed 's/^/t 0 /' | cmp - missing
}

@test "F24: counts always, and a row under a key with others shows its own values; what more there is, and how to see it" {
    { require reference.destination; reference '["1","a"]' t/0/0; reference '["1","a"]' t/0/1; reference '["2","b"]' t/0/2; side reference 3; found '["1","a"]' '["2","b"]'; } | whole
    run -1 --separate-stderr bash -c 'rows-diff <stream | verdict'
    [[ $output == *'missing     id="1"; owed 2, found 1  at t/0/1'* ]]
    # A run stands for no row that has more to say than its key.
    { require reference.destination; for i in 0 1 2; do reference '["1","a"]' t/0/$i; done; reference '["2","b"]' t/0/3; reference '["2","c"]' t/0/4; side reference 5; found '["2","x"]'; } | whole
    run -1 --separate-stderr bash -c 'rows-diff <stream | verdict'
    [[ $output == *'missing     t/0 offsets 0..2: 3 rows, such as id="1"'* ]]
    [[ $output == *'missing     id="2"; v="c"; owed 1, found 0  at t/0/4'* ]]
    # The value for which no table will hold it.
    { require reference.destination; reference '["1",{"unfit":"1.5"}]' t/0/0; side reference 1; found; } | whole
    run -1 --separate-stderr bash -c 'rows-diff <stream | verdict'
    [[ $output == *'missing     id="1"; v='*' does not fit Nullable(String); owed 1, found 0  at t/0/0'* ]]
    { require reference.destination; for i in {0..9}; do reference "[\"k$i\",\"v\"]" "t/$i/0"; done; side reference 10; found; } | whole
    run -1 --separate-stderr bash -c 'rows-diff --list=6 <stream | verdict --show=4'
    [[ $output == *"2 more findings are in the stream: verdict --show=N shows more of them"* ]]
    [[ $output == *"4 more rows differ and have no finding: rows-diff --list=N finds more of them, rows-diff --offsets=FILE the places of all that are missing"* ]]
}
