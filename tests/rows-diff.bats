#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# rows-diff: rows as multisets, key by key; what is not whole decides nothing; bounds change no answer.
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"Nullable(String)","key":false}'
}

@test "the same rows pass, and rows end here" {
    { require reconcile.rows; range 1 3; side captured 3; mapfile -t r < <(keys 3 1 2); found "${r[@]}"; } | whole
    run -0 --separate-stderr diff_
    [ "$(check)" = passed ]
    [ "$(counts)" = "0 0 0 0 0" ]
    [ "$(jq -c 'select(.type == "row")' <<<"$output")" = "" ]
    [ "$(jq -c 'select(.type == "end") | .lines' <<<"$output")" = '{"stream":1,"columns":1,"require":1,"side":3,"check":1,"summary":1}' ] ||
        [ "$(jq -c 'select(.type == "end") | .lines.summary' <<<"$output")" = 1 ]
    [ -z "$stderr" ]
}

@test "a lost batch is one run of its offsets" {
    { range 7407345 7407359; side captured 15; mapfile -t r < <(keys {7407345..7407349} {7407353..7407359}); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "3 0 0 0 0" ]
    [ "$(runs)" = '["missing","t",0,7407350,7407352,3]' ]
}

@test "runs of what is missing" {
    { range 0 29; side captured 30; mapfile -t r < <(keys {0..9} {20..29}); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_
    [ "$(runs)" = '["missing","t",0,10,19,10]' ]
    { range 0 9; side captured 10; mapfile -t r < <(keys 9); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts) $(runs)" = '9 0 0 0 0 ["missing","t",0,0,8,9]' ]
    { range 0 9; side captured 10; mapfile -t r < <(keys 0 1 2 3 8 9); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_
    [ "$(runs)" = '["missing","t",0,4,7,4]' ]
}

# The times of findings and of runs, by their places.
times() {
    jq -c 'if .type == "finding" then [.kind, .at, .ts] elif .type == "summary" then .runs[] | [.kind, .first, .last, .oldest_ts, .newest_ts] else empty end' <<<"$output"
}

@test "findings have their record's time, and runs those of their oldest and newest; times decide nothing" {
    { require reference.destination; reference '["a","v"]' t/0/0 50; reference '["b","v"]' t/0/1 9; reference '["c","v"]' t/0/2; reference '["d","v"]' t/0/3 7
      reference '["e","v"]' t/0/4 0; reference '["f","v"]' t/0/5 1796000000123; reference '["g","v"]' t/0/6 5; reference '["g","v"]' t/0/7 6
      reference '["h","v"]' '' ; reference '["i","v"]' t/0/9; side reference 10
      found '["a","v"]' '["e","x"]' '["f","v"]' '["f","v"]' '["g","v"]' '["i","x"]' '["a","w"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(times)" = '["missing","t/0/1",9]
["missing","t/0/2",null]
["missing","t/0/3",7]
["missing","t/0/7",6]
["missing",null,null]
["changed","t/0/4",0]
["changed","t/0/9",null]
["duplicated","t/0/5",1796000000123]
["unexpected",null,null]
["missing",1,3,7,9]
["changed",4,4,0,0]
["duplicated",5,5,1796000000123,1796000000123]
["missing",7,7,6,6]
["changed",9,9,null,null]' ]
    [ "$(grep -c '"ts":null\|_ts":null' <<<"$output")" = 0 ]
    # Equal rows of different times are equal, on one side and on two.
    { require reference.capture; captured '["a","v"]' t/0/0; reference '["a","v"]' t/0/0 7; side captured 1; side reference 1; } | whole
    run -0 --separate-stderr diff_
    [ "$(check reference.capture)" = passed ]
}

@test "times on disk are those in memory" {
    seq 0 39999 | jq -c '{type: "row", side: "reference", cells: ["k\(.)", "'"$(printf '%0600d' 0)"'"], at: "t/\(. % 3)/\(.)"} +
        if . % 4 == 0 then {} else {ts: (1796000000000 + . * 37 % 100000)} end' >owed
    { require reference.destination; cat owed; side reference 40000
      for read in 1 2; do sed -n 's/"side":"reference"/"side":"destination","read":'$read'/;s/,"at":.*/}/;1,20000p;30000,$p' owed; side destination 30001 $read; done; } | whole
    run -1 --separate-stderr diff_
    printf '%s\n' "$output" >memory
    [ "$(jq -c 'select(.type == "summary") | .runs | [length, (map(.rows) | add), (map(.oldest_ts) | min), (map(.newest_ts) | max)]' memory)" = \
        "[3,9999,$(jq -s '.[20000:29999] | map(.ts // empty) | [min, max] | "\(.[0]),\(.[1])"' -r owed)]" ]
    run -1 --separate-stderr bounded
    cmp memory - <<<"$output"
}

@test "a row's time that is no whole number, or stands without a place, is refused; so is one of the table" {
    for bad in '"at":"t/0/1","ts":-1' '"at":"t/0/1","ts":1.5' '"at":"t/0/1","ts":"5"' '"at":"t/0/1","ts":null' '"ts":5' '"ts":5,"at":"t/0/1"'; do
        { range 0 0; printf '{"type":"row","side":"captured","cells":["b","v"],%s}\n' "$bad"; side captured 2; found; } | whole
        run -2 --separate-stderr diff_
        [[ $stderr == *"line 4: a row has"* ]] || { echo "$bad: $stderr" >&2; return 1; }
    done
    { range 0 0; side captured 1; printf '{"type":"row","side":"destination","read":1,"cells":["k0","v"],"at":"t/0/0","ts":1}\n'; } | whole
    run -2 --separate-stderr diff_
    [[ $stderr == *"a row of the destination with at or again"* ]]
}

@test "a run goes over offsets that owe nothing and ends at a row that is fine" {
    { captured '["a","v"]' t/0/1; captured '["b","v"]' t/0/5; captured '["x","v"]' t/1/6; captured '["c","v"]' t/0/9; captured '["d","v"]' t/0/10; captured '["e","v"]' "t/0/10#1"
        side captured 6; found '["c","v"]' '["x","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(runs)" = $'["missing","t",0,1,5,2]\n["missing","t",0,10,10,2]' ]
    [ "$(jq -r 'select(.kind == "missing") | .at' <<<"$output" | tail -n 1)" = "t/0/10#1" ]
}

@test "keys duplicated and surplus copies are both counted" {
    { range 5 7; side captured 3; mapfile -t r < <(keys 5 6 6 7 7); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 0 2 2 0" ]
    [ "$(runs)" = '["duplicated","t",0,6,7,2]' ]
}

@test "equal rows that are owed twice are a multiset where the scope says that they are meant; else unsupported, with both places" {
    twice() { for i in 0 1 2 3; do captured "[\"$((i % 2))\",\"v\"]" t/0/$i; done; side captured 4; found '["0","v"]' '["1","v"]'; }
    twice | whole
    run -3 --separate-stderr diff_
    [ "$(check) $(counts)" = "unsupported 0 0 0 0 0" ]
    [ "$(reason)" = '2 keys are held twice by the captured rows and cannot be compared, the first of them ["0"] at t/0/0 and t/0/2' ]
    # A scope that says nothing of them says the same as none.
    { scope_made '.columns = $columns' --argjson columns "[$row_columns]" | scope_line; twice; } | whole
    run -3 --separate-stderr diff_
    [ "$(check)" = unsupported ]
    { repeats; twice; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "2 0 0 0 0" ]
    [ "$(jq -c 'select(.type == "summary") | .owed_duplicate_keys' <<<"$output")" = 2 ]
    [ "$(jq -c 'select(.type == "finding") | [.owed_copies, .found_copies]' <<<"$output" | sort -u)" = "[2,1]" ]
    [ "$(runs)" = '["missing","t",0,2,3,2]' ]
}

@test "one lost, one twice, five for one" {
    { captured '["7","v"]'; captured '["8","v"]'; side captured 2; found '["7","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "1 0 0 0 0" ]
    { captured '["r","v"]'; side captured 1; found '["r","v"]' '["r","v"]' '["r","v"]' '["r","v"]' '["r","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 0 1 4 0" ]
}

@test "nothing arrived" {
    { range 0 4; side captured 5; found; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts) $(runs)" = '5 0 0 0 0 ["missing","t",0,0,4,5]' ]
}

@test "many duplicates stay a count, a run and a sample" {
    { range 0 2999; side captured 3000; mapfile -t r < <(keys {0..2999} {1000..2998}); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_ --list=5
    [ "$(counts) $(runs)" = '0 0 1999 1999 0 ["duplicated","t",0,1000,2998,1999]' ]
    [ "$(findings | wc -l)" -eq 5 ]
    [ "$(jq -c 'select(.type == "summary") | .listed' <<<"$output")" = 5 ]
}

@test "bytes decide, NULL is not empty text" {
    { for k in a B c é Z A; do captured "[\"$k\",\"\"]"; done; side captured 6; found '["Z",""]' '["é",""]' '["A",""]' '["c",""]' '["B",""]' '["a",""]'; } | whole
    run -0 --separate-stderr diff_
    { captured '["1",null]'; captured '["2",""]'; captured '["3",null]'; captured '["4","\\N"]'; captured '["5","null"]'; captured '["6",{"b64":"/0E="}]'; captured '["a","x"]'; captured '["7","a b"]'
        side captured 8
        found '["1",""]' '["2",null]' '["3",null]' '["4","\\N"]' '["5","null"]' '["6",{"b64":"/kE="}]' '["A","x"]' '["7","ab"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "1 4 0 0 0" ]
    [ "$(jq -c 'select(.kind == "changed") | .key[0]' <<<"$output" | tr -d '\n')" = '"1""2""6""7"' ]
}

@test "with the whole table, rows of other keys are unexpected; without, they are not looked at" {
    { require destination.coverage reconcile.rows; captured '["1","v"]'; side captured 1; observed_whole; found '["1","v"]' '["2","v"]' '["2","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts coverage)" = "0 0 0 0 2" ]
    [ "$(check destination.coverage) $(check)" = "failed passed" ]
    grep -v '"type":"\(stream\|columns\|require\|end\)"' stream >others
    whole <others
    run -0 --separate-stderr diff_
}

@test "rows are aligned by key, and a change names its columns" {
    row_columns='{"name":"a","type":"Int64"},{"name":"id","type":"String","key":true},{"name":"b","type":"Int64"},{"name":"n","type":"Int8","key":true}'
    { captured '["1","k","2","3"]' t/0/1; captured '["1","k","9","4"]' t/0/2; side captured 2; found '["1","k","5","3"]' '["1","k","9","4"]' '["1","k","9","4"]' '["0","k","9","5"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "0 1 1 1 0" ]
    [ "$(jq -c 'select(.kind == "changed") | [.key, .owed, .found, .differ, .at]' <<<"$output")" = '[["k","3"],["1","k","2","3"],["1","k","5","3"],["b"],"t/0/1"]' ]
}

@test "C17: a NULL key is no empty one, and keys of two columns do not run together" {
    row_columns='{"name":"id","type":"Nullable(String)","key":true},{"name":"v","type":"String"}'
    { captured '[null,"v"]'; captured '["","v"]'; side captured 2; found '["","v"]' '["","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "1 0 1 1 0" ]
    row_columns='{"name":"a","type":"Int64","key":true},{"name":"b","type":"Int64","key":true}'
    { captured '["1","23"]'; side captured 1; found '["12","3"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "1 0 0 0 0" ]
}

@test "equal copies pair first, what is left pairs in byte order, the rest is missing or unexpected" {
    { captured '["k","b"]' t/0/1; side captured 1; found '["k","z"]' '["k","a"]' '["k","a"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(findings)" = '["changed",["k"],["k","b"],["k","a"],1,2,"t/0/1",null]
["unexpected",["k"],null,["k","a"],0,2,null,null]
["unexpected",["k"],null,["k","z"],0,1,null,null]' ]
}

@test "a duplicate is explained only by the row's own again" {
    { captured '["a","v"]' t/0/1 resent; captured '["b","v"]' t/0/2 replayed; captured '["c","v"]' t/0/3; side captured 3
        found '["a","v"]' '["a","v"]' '["b","v"]' '["b","v"]' '["b","v"]' '["c","v"]' '["c","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(jq -r 'select(.kind == "duplicated") | .explained' <<<"$output" | tr '\n' ' ')" = "resent replayed null " ]
    [ "$(jq -c 'select(.type == "summary") | .explained' <<<"$output")" = '{"resent":1,"replayed":1,"unexplained":2}' ]
}

@test "a duplicate is explained up to the copies that its attempts or the runs before can have made, and no further" {
    { require reconcile.rows; captured '["a","v"]' t/1/1 resent; captured '["b","v"]' t/2/1 resent:3; captured '["c","v"]' t/3/1 resent,replayed:2; captured '["d","v"]' t/4/1 replayed; captured '["e","v"]' t/5/1 kept; side captured 5
        mapfile -t r < <(printf '["%s","v"]\n' a a a a b b b b c c c c c d d d e e); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_
    [ "$(jq -c 'select(.kind == "duplicated") | [.key[0], .rows, .explained, .explained_copies]' <<<"$output")" = '["a",3,"resent",1]
["b",3,"resent",null]
["c",4,"resent,replayed",3]
["d",2,"replayed",1]
["e",1,null,null]' ]
    [ "$(jq -c 'select(.type == "summary") | .explained' <<<"$output")" = '{"resent":5,"replayed":3,"unexplained":5}' ]
    printf '%s\n' "$output" >said
    run -1 --separate-stderr diff_ --memory=16M
    printf '%s\n' "$output" | cmp - said
    run -1 --separate-stderr verdict <said
    [[ $output == *"nothing explains 5 of the 13 surplus copies"* && $output == *'id="a"; owed 1, found 4, explained: resent, 1 of 3 surplus copies'* ]]
    # Copies that are meant are explained by what each of them says.
    { repeats; captured '["a","v"]' t/0/1 resent; captured '["a","v"]' t/0/2 resent; side captured 2; mapfile -t r < <(printf '["%s","v"]\n' a a a a a); found "${r[@]}"; } | whole
    run -1 --separate-stderr diff_
    [ "$(jq -c 'select(.type == "summary") | .explained' <<<"$output")" = '{"resent":2,"replayed":0,"unexplained":1}' ]
    for bad in resent:1 resent:0 resent:02 "resent:" replayed,resent resent,resent kept:2 "resent," ",kept" resent:4294967296; do
        { captured '["a","v"]' t/0/1 "$bad"; side captured 1; found; } | whole
        run -2 --separate-stderr diff_
        [[ $stderr == *"again says something else"* ]]
    done
}

@test "a missing row of an INSERT whose token may have outlived it is said to be of this kind" {
    { require reconcile.rows; captured '["a","v"]' t/0/1 kept; captured '["b","v"]' t/1/2 resent,kept; captured '["c","v"]' t/0/3; side captured 3; found '["c","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(code reconcile.rows)" = token-outlived-rows ]
    [[ "$(reason)" == "missing 2 rows of 2 keys, all of INSERTs that were sent again under a token which can have outlived its rows"* ]]
    [ "$(jq -c 'select(.kind == "missing") | [.key[0], .explained]' <<<"$output" | tr -d '\n')" = '["a","kept"]["b","kept"]' ]
    [ "$(jq -c 'select(.type == "summary") | .missing' <<<"$output")" = '{"keys":2,"rows":2,"kept":2}' ]
    run -1 --separate-stderr verdict <<<"$output"
    [[ $output == *"token-outlived-rows: write these rows again"* && $output == *"id=\"a\"; owed 1, found 0; its INSERT's token can have outlived it  at t/0/1"* ]]
    { captured '["a","v"]' t/0/1 kept; captured '["c","v"]' t/0/3; captured '["d","v"]' t/0/4; side captured 3; found '["d","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(code reconcile.rows)" = rows-missing ]
    [[ "$(reason)" == "missing 2 rows of 2 keys, 1 of them of INSERTs that were sent again"* ]]
}

@test "F09: a done mutation that deletes is named before lateness, and so is a table that has nothing of what is owed" {
    observed() { observation '"mutations":[{"id":"mutation_2.txt","command":"(UPDATE x = 1 WHERE 1)","created":"2026-11-29T10:00:00.000Z","done":true},{"id":"mutation_3.txt","command":"'"$1"'","created":"2026-11-30T10:00:00.000Z","done":true}]'; }
    tail_() { require reference.destination; reference '["1","v"]' t/0/1; reference '["2","v"]' t/0/2; side reference 2; }
    for command in 'DELETE WHERE 1' '(DELETE WHERE (id = 2))' '(UPDATE _row_exists = 0 WHERE 1)'; do
        for rest in '["1","v"]' ''; do
            { tail_; observed "$command"; mapfile -t r < <(printf '%s' "$rest"); found "${r[@]}"; } | whole
            run -1 --separate-stderr diff_
            [ "$(code reference.destination)" = rows-deleted ]
            [[ "$(reason reference.destination)" == "missing "*"; mutation mutation_3.txt of 2026-11-30T10:00:00.000Z, which is done, deletes rows of the table; "*"may not have landed yet, and no consumer group was looked at, which would say" ]]
            [ "$(jq -c 'select(.name == "reference.destination") | .facts' <<<"$output")" = '{"mutation":"mutation_3.txt","created":"2026-11-30T10:00:00.000Z"}' ]
        done
    done
    { tail_; observed '(UPDATE v = 1 WHERE 1)'; found '["1","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(code reference.destination)" = rows-late ]
    [[ $(verdict <<<"$output") == *"rows-late: name the writer's consumer group to log-look with --group"* ]]
    { tail_; observed '(UPDATE v = 1 WHERE 1)'; found; } | whole
    run -1 --separate-stderr diff_
    [ "$(code reference.destination)" = none-landed ]
    [[ "$(reason reference.destination)" == "missing 2 rows of 2 keys; nothing of what is owed is in the table; "* ]]
    # What was acknowledged is no later for it, and a row that a mutation deleted had landed.
    { range 1 2; side captured 2; observed 'DELETE WHERE 1'; found '["k1","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(code reconcile.rows)" = rows-deleted ]
}

@test "an owed cell that does not fit equals nothing found" {
    { captured '["1",{"unfit":"1.2349"}]'; captured '[{"unfit":"1e99"},"v"]'; side captured 2; found '["1","1.234"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "1 1 0 0 0" ]
    { captured '["1","v"]'; side captured 1; found '["1",{"unfit":"1"}]'; } | whole
    run -2 --separate-stderr diff_
    [[ "$stderr" == *"line 5"*unfit* ]]
}

@test "different captured rows under one key make it unsupported, by name; a difference elsewhere fails" {
    { captured '["k","a"]'; captured '["k","b"]'; captured '["m","v"]'; side captured 3; found '["k","a"]' '["k","b"]' '["m","v"]'; } | whole
    run -3 --separate-stderr diff_
    [ "$(check)" = unsupported ]
    [[ "$(reason)" == *'["k"]' ]]
    { repeats; captured '["k","a"]' t/0/7; captured '["m","v"]'; captured '["k","b"]' t/1/8; side captured 3; found '["k","a"]' '["k","b"]' '["m","v"]'; } | whole
    run -3 --separate-stderr diff_
    [[ "$(reason)" == *'["k"] at t/0/7 and t/1/8' ]]
    { captured '["k","a"]'; captured '["k","b"]'; captured '["m","v"]'; side captured 3; found '["k","a"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(check) $(counts)" = "failed 1 0 0 0 0" ]
}

@test "three sides: the transformation is untouched by what the table does" {
    { reference '["1","v"]' t/0/1; reference '["2","v"]' t/0/2; side reference 2; captured '["1","v"]' t/0/1; captured '["3","v"]' t/0/3; side captured 2
        found '["1","v"]' '["3","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(check reference.capture) $(counts transformation)" = "failed 1 0 0 0 1" ]
    [ "$(check) $(counts)" = "passed 0 0 0 0 0" ]
    [ "$(check reference.destination) $(counts reference-destination)" = "failed 1 0 0 0 1" ]
    { reference '["1","v"]'; side reference 1; captured '["1","v"]'; side captured 1; table_row 1 '["1","v"]'; side destination 1 1; side destination 0 2; } | whole
    run -3 --separate-stderr diff_
    [ "$(check reference.capture) $(check) $(check reference.destination)" = "passed unavailable unavailable" ]
}

@test "keys left out are left out of comparisons with the reference alone" {
    { reference '["1","v"]'; side reference 1; captured '["1","v"]'; captured '["2","v"]'; side captured 2; echo '{"type":"excluded","key":["2"],"why":"open"}'
        found '["1","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(check reference.capture) $(check reference.destination) $(check)" = "passed passed failed" ]
    [ "$(jq -c 'select(.type == "summary") | .excluded_keys' <<<"$output" | tr -d '\n')" = "011" ]
}

@test "values that were cut, wrapped or folded on their way are changed, and an hour that came twice is missing and duplicated" {
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"v","type":"Decimal(38, 0)","key":false},{"name":"d","type":"Decimal(10, 3)","key":false},{"name":"t","type":"DateTime64(3)","key":false}'
    { captured '["1","123456789012345678901","1235","0"]'; captured '["2","5",{"unfit":"1.2349"},"0"]'; captured '["3","5","0",{"unfit":"2023-11-14T22:13:20.1239Z"}]'
      captured '["4","0","4000","1700000000100"]'; side captured 4
      found '["1","-5670419503621182411","1235","0"]' '["2","5","1234","0"]' '["3","5","0","1700000000123"]' '["4","0","4000","1700000000100"]'; } | whole
    run -1 diff_
    [ "$(counts)" = "0 3 0 0 0" ]
    [ "$(jq -c 'select(.kind == "changed") | .differ' <<<"$output" | tr -d '\n')" = '["v"]["d"]["t"]' ]
    [[ $(verdict <<<"$output") == *"v owed 123456789012345678901, found -5670419503621182411"*"d owed 1.2349"*"found 1.234"* ]]
    row_columns='{"name":"epoch","type":"Int64","key":true}'
    { captured '["1636261200"]'; captured '["1636264800"]'; side captured 2; found '["1636261200"]' '["1636261200"]'; } | whole
    run -1 diff_
    [ "$(counts)" = "1 0 1 1 0" ]
}

# bats test_tags=both
@test "C10: more rows than memory may hold, under a limit that the system keeps" {
    # Two million of them are more than ten times what the table may hold. Under a sanitizer, which takes longer, twice.
    rows=2000000
    [ -z "${ASAN_OPTIONS:-}" ] || rows=300000
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"String","key":false}'
    mkfifo stream
    {
        echo "$head"
        columns_of "[$row_columns]"
        awk -v n=$rows 'BEGIN {
            pad = sprintf("%100s", ""); gsub(/ /, "x", pad)
            split("\"captured\" \"destination\",\"read\":1 \"destination\",\"read\":2", sides, " ")
            for (s = 1; s <= 3; s++) {
                for (i = 0; i < n; i++)
                    if (s == 1 || i != 777) print "{\"type\":\"row\",\"side\":" sides[s] ",\"cells\":[\"k" i "\",\"" pad "\"]}"
                print "{\"type\":\"side\",\"side\":" sides[s] ",\"rows\":" n - (s > 1) ",\"whole\":true}"
            }
        }'
    } | ended >stream 3>&- &
    run -1 --separate-stderr bounded
    [ "$(counts)" = "1 0 0 0 0" ]
    [ "$(jq -c 'select(.type == "summary") | [.owed_rows, .found_rows]' <<<"$output")" = "[$rows,$((rows - 1))]" ]
    [ "$(findings | jq -c .[1])" = '["k777"]' ]
}

@test "two reads that differ: what was seen is listed and not decided" {
    { captured '["1","v"]' t/0/1; captured '["2","v"]' t/0/2; side captured 2; table_row 1 '["1","v"]'; side destination 1 1; table_row 2 '["1","v"]'; table_row 2 '["2","w"]'; side destination 2 2; } | whole
    run -3 --separate-stderr diff_
    [ "$(check)" = unavailable ]
    [[ "$(reason)" == *"differ for 1 keys"*'["2"]'* ]]
    [ "$(jq -c 'select(.type == "finding") | [.kind, .read, .undecided]' <<<"$output")" = $'["missing",1,true]\n["changed",2,true]' ]
}

@test "a table that did not stand still or was not found right decides nothing" {
    for line in '{"type":"observation","stable":false,"unstable":["mutation 7 in progress"]}' \
        '{"type":"check","stage":"ch-read","name":"reconcile.destination","status":"unavailable","code":"server-failed","reason":"mutation 7 in progress","evidence":[]}'; do
        { captured '["1","v"]'; side captured 1; found; echo "$line"; } | whole
        run -3 --separate-stderr diff_
        [ "$(check)" = unavailable ]
        [[ "$(reason)" == *"mutation 7 in progress"* ]]
        [ "$(jq -c 'select(.type == "finding") | .undecided' <<<"$output")" = true ]
    done
}

@test "a side that is not whole, not closed, miscounted or absent decides nothing, and no rows is not a side" {
    { captured '["1","v"]'; open_side captured 1 'epoch 12 is missing'; found '["1","v"]'; } | whole
    run -3 --separate-stderr diff_
    [[ "$(check) $(reason)" == "unavailable "*"epoch 12 is missing"* ]]
    { captured '["1","v"]'; found '["1","v"]'; } | whole
    run -3 --separate-stderr diff_
    [[ "$(reason)" == *"no side line"* ]]
    { captured '["1","v"]'; side captured 2; found '["1","v"]'; } | whole
    run -3 --separate-stderr diff_
    [[ "$(reason)" == *"says 2 rows and 1 came"* ]]
    { require reconcile.rows; captured '["1","v"]'; side captured 1; } | whole
    run -3 --separate-stderr diff_
    [[ "$(reason)" == *"first read never came"* ]]
    { captured '["1","v"]'; side captured 1; table_row 1 '["1","v"]'; side destination 1 1; } | whole
    run -3 --separate-stderr diff_
    [[ "$(reason)" == *"second read never came"* ]]
    [ -z "$(findings)" ]
    { require destination.coverage; } | whole
    run -3 --separate-stderr diff_
    [ "$(check destination.coverage)" = unavailable ]
}

@test "a job that dropped every row: the delivery is not decided, and what computes rows fails it" {
    { require reference.capture reconcile.rows reference.destination; side captured 0; reference_side '["1","v"]' '["2","v"]'; found; } | whole
    run -1 --separate-stderr diff_
    [ "$(check) $(code reconcile.rows)" = "unavailable scope-empty" ]
    [[ "$(reason)" == "the sink received no row, so nothing is established" ]]
    [ "$(check reference.capture) $(counts transformation)" = "failed 2 0 0 0 0" ]
    [ "$(check reference.destination) $(counts reference-destination)" = "failed 2 0 0 0 0" ]
    { require reference.capture reconcile.rows reference.destination; side captured 0; reference_side '["1","v"]'; found '["1","v"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(check) $(check reference.capture) $(check reference.destination)" = "unavailable failed passed" ]
}

@test "nothing owed and nothing received has a code of its own, which no half of it has" {
    all=(reference.capture reconcile.rows reference.destination)
    { require "${all[@]}"; side captured 0; side reference 0; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(check reference.capture) $(code reconcile.rows) $(code reference.destination)" = "passed empty empty" ]
    { require "${all[@]}"; open_side captured 0 "a bound"; side reference 0; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(code reconcile.rows) $(code reference.destination)" = "side-not-whole side-not-whole" ]
    { require "${all[@]}"; side captured 0; open_side reference 0 "a gap"; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(code reconcile.rows) $(code reference.destination)" = "scope-empty side-not-whole" ]
    { require reference.destination; side reference 0; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(code reference.destination)" = scope-empty ]
}

@test "captured rows that are not whole leave the reference's own keys: a difference fails, none is unavailable" {
    part() { require reference.capture reconcile.rows reference.destination; captured '["9","v"]'; open_side captured 1 "epoch 12 is missing"; reference_side '["1","v"]' '["2","v"]'; }
    { part; found '["1","v"]' '["9","w"]'; } | whole
    run -1 --separate-stderr diff_
    [ "$(check reference.destination) $(code reference.destination) $(counts reference-destination)" = "failed rows-missing 1 0 0 0 0" ]
    [[ "$(reason reference.destination)" == "missing 1 rows of 1 keys; "*"the reference's keys alone were compared: the captured rows: not whole: epoch 12 is missing" ]]
    [ "$(check) $(check reference.capture)" = "unavailable unavailable" ]
    { part; found '["1","v"]' '["2","v"]' '["9","w"]'; } | whole
    run -3 --separate-stderr diff_
    [ "$(check reference.destination) $(code reference.destination) $(counts reference-destination)" = "unavailable side-not-whole 0 0 0 0 0" ]
    # A second read of a third key must not count here, and one of a key of the reference's must.
    { part; table_row 1 '["1","v"]'; table_row 1 '["2","v"]'; side destination 2 1; table_row 2 '["1","v"]'; side destination 1 2; } | whole
    run -3 --separate-stderr diff_
    [ "$(check reference.destination) $(code reference.destination)" = "unavailable reads-differ" ]
}

@test "nothing owed, and nothing at all, do not pass" {
    { side captured 0; found; } | whole
    run -3 --separate-stderr diff_
    [ "$(code reconcile.rows)" = scope-empty ]
    whole </dev/null
    run -3 --separate-stderr diff_
    [ "$(check)" = unavailable ]
    row_columns='' whole </dev/null
    run -3 --separate-stderr diff_
}

@test "rows outside the contract are refused by line" {
    bad() { # the line, what the message holds
        { echo "$1"; } | whole 2>/dev/null || true
        run -2 --separate-stderr diff_
        [[ "$stderr" == *"line 3"*"$2"* ]] || { echo "$1: $stderr"; return 1; }
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = refused ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    }
    bad '{"type":"row","side":"captured","cells":["1"]}' "fewer cells"
    bad '{"type":"row","side":"captured","cells":["1","2","3"]}' "more cells"
    bad '{"type":"row","side":"captured","cells":["1",2]}' ""
    bad '{"type":"row","side":"captured","cells":["1", "2"]}' ""
    bad '{"type":"row","side":"captured","cells":["1","\u0041"]}' ""
    bad '{"type":"row","side":"captured","cells":["1","2"],"extra":"1"}' ""
    bad '{"type":"row","side":"captured","cells":["1","2"],"again":"resent","at":"t/0/1"}' ""
    bad '{"type":"row","side":"captured","read":1,"cells":["1","2"]}' "no side"
    bad '{"type":"row","side":"destination","cells":["1","2"]}' "no side"
    bad '{"type":"row","side":"destination","read":3,"cells":["1","2"]}' "no side"
    bad '{"type":"row","side":"else","cells":["1","2"]}' "no side"
    bad '{"type":"row","side":"captured","cells":["1","2"],"at":"nowhere"}' "topic/partition/offset"
    bad '{"type":"row","side":"captured","cells":["1","2"],"again":"perhaps"}' "again"
    bad '{"type":"row","side":"destination","read":1,"cells":["1","2"],"at":"t/0/1"}' "at or again"
    bad '{"type":"side","side":"else","rows":0,"whole":true}' "side"
    bad '{"type":"side","side":"captured","rows":0,"whole":true,"more":1}' ""
    bad '{"type":"excluded","key":["1","2"],"why":"open"}' "more cells"
    row_columns='{"name":"id","type":"String"}' bad '{"type":"row","side":"captured","cells":["1"]}' "no key"
}

@test "an owed cell that its column's type does not spell so is refused: another spelling is another key" {
    local type cell other why
    while IFS='|' read -r type cell other why; do
        row_columns='{"name":"id","type":"Int64","key":true},{"name":"v","type":"'$type'"}'
        { captured "[\"1\",$cell]"; side captured 1; found "[\"1\",$cell]"; } | whole
        run -0 --separate-stderr diff_
        for side in captured reference; do
            { echo "{\"type\":\"row\",\"side\":\"$side\",\"cells\":[\"1\",$other]}"; side $side 1; found "[\"1\",$other]"; } | whole
            run -2 --separate-stderr diff_
            [[ "$stderr" == *"line 3: column 'v': $why"* && $(wc -l <<<"$stderr") -eq 1 ]] || { echo "$type $other: $stderr" >&2; return 1; }
        done
    done <<'CELLS'
Int64|"1"|"01"|
Int64|"1"|null|NULL in a column that is not Nullable
Int64|"1"|["1"]|an array in a column that holds none
UInt8|"255"|"256"|
Decimal(18, 4)|"1"|"1.0"|
Float32|"4312798c"|"4312798C"|
Bool|"true"|"1"|
DateTime64(3)|"0"|"-0"|
String|"x"|["x"]|an array in a column that holds none
String|"x"|{"unnamed":"9"}|unnamed in a column that is no Enum
CELLS
}

@test "rows before their columns, after their side, or of other columns are refused" {
    row_columns=''
    captured '["1","v"]' | whole
    run -2 --separate-stderr diff_
    [[ "$stderr" == *"before their columns"* ]]
    row_columns='{"name":"id","type":"String","key":true},{"name":"v","type":"String"}'
    { side captured 0; captured '["1","v"]'; } | whole
    run -2 --separate-stderr diff_
    { side captured 0; side captured 0; } | whole
    run -2 --separate-stderr diff_
    other='{"type":"columns","cells":"clink-canonical-cells-v1","columns":[{"name":"id","type":"String","key":true},{"name":"w","type":"String"}]}'
    { captured '["1","v"]'; echo "$other"; } | whole
    run -2 --separate-stderr diff_
    { echo "$other"; captured '["1","v"]'; side captured 1; found '["1","v"]'; } | whole
    run -0 --separate-stderr diff_
}

@test "columns that are not the scope's are refused: another key would leave rows out of the comparison" {
    read_() { # jq filter
        jq -c "$1" "$BATS_TEST_DIRNAME/../fixtures/the-table-untouched/7-ch-read.ndjson" | grep -v '^{"type":"end"' | ended >stream
    }
    read_ .
    run -0 diff_
    for change in '(.columns |= map(.key = true))' '(.columns[0].type = "Int32")' '(., (.columns |= map(.key = true)))'; do
        read_ "if .type == \"columns\" then $change else . end"
        run -2 --separate-stderr diff_
        [[ $stderr == *"the columns are not the scope's"* ]]
    done
    read_ 'if .type == "scope" then ., . else . end'
    run -2 --separate-stderr diff_
    [[ $stderr == *"a second scope"* ]]
    read_ 'if .type == "scope" then .document.bundle.epochs = [] else . end'
    run -2 --separate-stderr diff_
    [[ $stderr == *fingerprint* ]]
}

@test "a stream cut anywhere is unfinished, and nothing is decided" {
    { range 1 3; side captured 3; mapfile -t r < <(keys 1 2 3); found "${r[@]}"; } | whole
    size=$(stat -c %s stream)
    for at in 0 1 50 "$((size / 2))" "$((size - 30))" "$((size - 1))"; do
        head -c "$at" stream >short
        run --separate-stderr rows-diff <short
        [ "$status" -eq 3 ]
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = unfinished ]
        [ -z "$(check)" ]
        [ "$(tail -n 1 <<<"$output" | jq -r .type)" = end ]
    done
    sed 's/"row":9/"row":8/' stream >short
    cmp -s short stream && return 1
    run -3 --separate-stderr rows-diff <short
}

@test "after a stop upstream nothing is decided" {
    { range 1 1; side captured 1; mapfile -t r < <(keys 1); found "${r[@]}"; stopped unfinished down ch-read; } | whole
    run -3 --separate-stderr diff_
    [ -z "$(check)$(jq -c 'select(.type == "row")' <<<"$output")" ]
}

@test "memory, scratch files and lists change no answer" {
    awk 'BEGIN { for (i = 0; i < 20000; i++) printf "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"%d\",\"%0600d\"],\"at\":\"t/%d/%d\"}\n", i, i, i % 3, i }' >owed
    awk 'BEGIN { for (i = 0; i < 20000; i++) if (i % 80 != 7) printf "{\"type\":\"row\",\"side\":\"destination\",\"read\":1,\"cells\":[\"%d\",\"%0600d\"]}\n", i, i % 500 == 3 ? 1 : i }' >reads
    n=$(wc -l <reads)
    { cat owed; side captured 20000; cat reads; side destination "$n" 1; sed 's/"read":1/"read":2/' reads; side destination "$n" 2; } | whole
    run -1 --separate-stderr diff_
    printf '%s\n' "$output" >all
    run -1 --separate-stderr diff_ --memory=16M
    printf '%s\n' "$output" | cmp - all
    [ "$(jq -r 'select(.type == "summary") | "\(.missing.rows) \(.changed.rows)"' all)" = "250 40" ]
    run -1 --separate-stderr diff_ --list=0
    [ -z "$(findings)" ]
    [ "$(counts)" = "250 40 0 0 0" ]
    run -3 --separate-stderr diff_ --memory=16M --scratch="$BATS_TEST_TMPDIR/none"
    [[ "$stderr" == *"$BATS_TEST_TMPDIR/none"* ]]
    # shellcheck disable=SC2016
    run -3 --separate-stderr bash -c 'ulimit -f 64; trap "" XFSZ; rows-diff --memory=16M --scratch=. <stream | cat; exit "${PIPESTATUS[0]}"'
    [[ "$stderr" == *"scratch"* ]]
    [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = unfinished ]
    [ -z "$(check)" ]
}

@test "a row too long to show is still counted" {
    long=$(head -c 20000 /dev/zero | tr '\0' x)
    { captured "[\"k\",\"$long\"]"; captured "[\"$long\",\"v\"]"; side captured 2; found "[\"k\",\"y\"]"; } | whole
    run -1 --separate-stderr diff_
    [ "$(counts)" = "1 1 0 0 0" ]
    [ "$(jq -c 'select(.type == "finding") | [.key == null, .owed, .found, .cut]' <<<"$output")" = $'[true,null,null,true]\n[false,null,null,true]' ]
    run -2 --separate-stderr diff_ --max-line=10K
    [[ "$stderr" == *"longer than"* ]]
}

@test "annotations and other lines pass as they are" {
    { echo '{"type":"note","x": 1.50}'; range 1 1; side captured 1; mapfile -t r < <(keys 1); found "${r[@]}"; } | whole
    run -0 --separate-stderr diff_
    grep -qxF '{"type":"note","x": 1.50}' <<<"$output"
}

@test "usage, help, version, a closed and a full output" {
    whole </dev/null
    for bad in --what --list=x --list=5k --memory=1K --memory extra; do
        run -2 --separate-stderr diff_ $bad
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = refused ]
        [ "$(tail -n 1 <<<"$output" | jq -r .type)" = end ]
    done
    run -2 --separate-stderr rows-diff --what </dev/null
    run -0 --separate-stderr rows-diff --help
    [[ "$output" == usage:* ]]
    run -0 --separate-stderr rows-diff --version
    run -3 --separate-stderr bash -c 'rows-diff <stream >/dev/full'
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    run -3 --separate-stderr bash -c 'rows-diff <stream >&-'
    run -3 --separate-stderr bash -c 'rows-diff </'
}

@test "rows beside what a key owes, of ranges that are not all of the log: the key may name several rows, which is said before a repair" {
    row_columns='{"name":"id","type":"Int64","key":true},{"name":"v","type":"String","key":false}'
    several() { # LOG STABLE ROWS…
        scope-declare --first --topic=t --topic-id=i --cluster-id=c --key=id --range=0:0-10 --database=d --table=t --column=id:Int64 --column=v:String >scoped
        { printf '{"type":"log","topic":"t","cluster_id":"c","topic_id":"i","cleanup_policy":"delete","partitions":[{"partition":0,"low":0,"high":%s,"stable":%s}]}\n' "$1" "$1"
            jq -c 'select(.type != "stream" and .type != "end")' scoped; reference '["1","b"]' t/0/1; reference '["2","b"]' t/0/2; side reference 2; found "${@:2}"; } | row_columns='' whole
        run -1 --separate-stderr diff_
    }
    # The key stands in offsets behind the range as well: an update, and the same row again.
    several 20 '["1","b"]' '["1","c"]' '["2","b"]'
    [ "$(code reference.destination)" = key-names-several ]
    [[ "$(reason reference.destination)" == "unexpected 1 rows of 1 keys; 1 rows stand beside what their keys owe"* ]]
    [ "$(jq -c 'select(.type == "summary") | .unexpected' <<<"$output")" = '{"keys":1,"rows":1,"beside":1}' ]
    several 20 '["1","b"]' '["1","b"]' '["2","b"]'
    [ "$(code reference.destination)" = key-names-several ]
    # Of the whole log nothing else can owe them.
    several 10 '["1","b"]' '["1","c"]' '["2","b"]'
    [ "$(code reference.destination)" = rows-unexpected ]
    several 10 '["1","b"]' '["1","b"]' '["2","b"]'
    [ "$(code reference.destination)" = rows-duplicated ]
    # What is missing or changed leads, whatever the key names.
    several 20 '["1","b"]' '["1","c"]'
    [ "$(code reference.destination)" = rows-missing ]
}
