#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# table-look, scopes that are declared, and the whole table read by ch-read, against the real engine.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers
load declared

columns='[{"name":"id","type":"Int64","key":true},{"name":"s","type":"String"}]'

setup() {
    shop_anew
    ch "CREATE TABLE shop.orders (id Int64, s String, twice Int64 ALIAS id * 2, day Date MATERIALIZED toDate(id), n Int8 DEFAULT 5)
        ENGINE = MergeTree ORDER BY id"
}

look() { # STATUS TABLE [ARGUMENT…]
    local want=$1 table=$2
    shift 2
    run "-$want" --separate-stderr "$bin/table-look" --first --url="$CH_URL" "${asked[@]}" --table="$table" "$@"
}

# read_it STATUS [ARGUMENT…]: ch-read of the stream in the file `in`.
read_it() {
    local want=$1
    shift
    run "-$want" --separate-stderr from in "$bin/ch-read" --url="$CH_URL" "${asked[@]}" --settle-ms=0 "$@" || { printf '%s\n' "$stderr" >&2; return 1; }
}

# after_first MATCH STATEMENT: it runs once the next statement that holds the text was executed, before that is answered; $held is
# what to wait for.
after_first() {
    ch_fault "when=withhold&match=$1"
    while_held ch "$2" 3>&- &
    held=$!
}
rows_read='%60s%60+FROM+%60shop' # and no count of them

# whole_scope CELLS…: a scope that covers the table, with captured rows, in the file `in`.
whole_scope() {
    local server table
    server=$(ch "SELECT serverUUID() FORMAT TSV")
    table=$(ch "SELECT uuid FROM system.tables WHERE database = 'shop' AND name = 'orders' FORMAT TSV")
    {
        scope_of "$server" "$table" shop orders "$columns" | jq -c '.document | .bundle += {from_run_start: true, coverage: "complete-table"}' | scope_print | scope_line
        columns_of "$columns"
        captured_side "$@"
        checked reconcile.scope passed
    } | whole in
}

coverage() { # the check destination.coverage: STATUS, or nothing
    jq -r 'select(.type == "check" and .name == "destination.coverage") | .status + ": " + .reason + " -> " + .code' <<<"$output"
}

observed() { # FILTER
    jq -se "[.[] | select(.type == \"observation\")] | length == 1 and (.[0] | $1)" <<<"$output" >/dev/null || { grep -a '"observation"' <<<"$output" >&2; return 1; }
}

three() { ch "INSERT INTO shop.orders (id, s) VALUES (1, 'one'), (2, 'two'), (9, 'of nobody')"; }

@test "table-look: ids, definition, every column with its kind, and the columns that are stored" {
    look 0 shop.orders
    [ -z "$stderr" ]
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream table columns end " ]
    jq -se --arg server "$(ch "SELECT serverUUID() FORMAT TSV")" --arg uuid "$(ch "SELECT uuid FROM system.tables WHERE name = 'orders' AND database = 'shop' FORMAT TSV")" '
        .[1] | .server_uuid == $server and .table_uuid == $uuid and .database == "shop" and .table == "orders" and .engine == "MergeTree" and
        .sorting_key == "id" and .unfit == null and (.create_table_query | startswith("CREATE TABLE")) and
        [.columns[] | [.name, .kind]] == [["id", ""], ["s", ""], ["twice", "ALIAS"], ["day", "MATERIALIZED"], ["n", "DEFAULT"]]' <<<"$output" >/dev/null
    [ "$(jq -c 'select(.type == "columns") | [.columns[] | [.name, .type, .key]]' <<<"$output")" = '[["id","Int64",false],["s","String",false],["n","Int8",false]]' ]
    ch "CREATE TABLE shop.\`or.ders\` (id Int64) ENGINE = SummingMergeTree ORDER BY id"
    look 0 or.ders --database=shop
    [ -z "$stderr" ]
    [[ $(jq -r 'select(.type == "table") | .unfit' <<<"$output") == "the table's engine is SummingMergeTree"* ]]
    ch "CREATE TABLE shop.far (id Int64) ENGINE = MySQL('h:3306', 'd', 't', 'u', 'hunter2')" || ch "CREATE TABLE shop.far (id Int64) ENGINE = URL('http://u:hunter2@h/', 'CSV')"
    look 0 shop.far
    [[ $output$stderr != *hunter2* ]]
    look 3 shop.none
    [[ $stderr == *'no table `shop`.`none`'* ]]
    CH_PASSWORD='hunter2 ' run -3 --separate-stderr "$bin/table-look" --first --url="$CH_URL" "${asked[@]}" --table=shop.orders
    [[ $stderr == *connecting* && $output$stderr != *hunter2* ]]
}

@test "a declared scope: reference rows alone are owed, and an id that was not given is named" {
    three
    echo '{"type":"log","topic":"orders","cluster_id":"c","topic_id":null,"partitions":[{"partition":0,"low":0,"high":5,"stable":5}]}' | whole log
    run -0 --separate-stderr bash -c "'$bin/table-look' --url='$CH_URL' ${asked[*]} --table=shop.orders <log | '$bin/scope-declare' --key=id --columns=id,s --range=ALL"
    with_reference() { # the stream with two rows of a reference
        sed '$d; 1d' <<<"$output" >declared
        { cat declared; reference_side '["1","x"]' '["2","x"]'; } | whole in
    }
    with_reference
    read_it 0
    check_is passed ""
    [ "$(jq -r 'select(.name == "reconcile.destination") | .reason' <<<"$output")" = "" ]
    [ "$(read_rows 1 | tr -d '\n')" = '["1","one"]["2","two"]' ]
    [ -z "$(coverage)" ]
    run -0 --separate-stderr "$bin/scope-declare" --first --topic=orders --range=0:0-5 --table=shop.orders --key=id --column=id:Int64 --column=s:String
    with_reference
    read_it 0
    check_is passed "declared, not established: the server's UUID (found: $(ch "SELECT serverUUID() FORMAT TSV")), the table's UUID (found: "
    ch "DROP TABLE shop.orders"
    read_it 3
    check_is unavailable "no table"
    { cat declared; } | whole in
    read_it 3
    check_is unavailable "nothing says what is owed"
}

@test "a declared table that is another one is refused, and a key the table has otherwise is told" {
    three
    given() { # ARGUMENT…
        run -0 --separate-stderr "$bin/scope-declare" --first --topic=orders --range=0:0-5 --table=shop.orders --key=id --column=id:"${type:-Int64}" "$@"
        sed '$d; 1d' <<<"$output" >declared
        { cat declared; reference_side '["1"]'; } | whole in
    }
    given --table-uuid=11111111-2222-3333-4444-555555555555
    read_it 2
    [[ $stderr == *"the table's UUID is"*11111111* ]]
    given --server-uuid=11111111-2222-3333-4444-555555555555
    read_it 2
    type=Int32 given
    read_it 3
    check_is unavailable "column 'id' was Int32 and is Int64"
}

@test "the whole table, twice: a row of an unrelated key comes too, and the parts are the same" {
    three
    whole_scope '["1","one"]' '["2","two"]'
    for format in native rowbinary; do
        read_it 0 --max-table-rows=3 --format=$format
        check_is passed ""
        sides_whole true
        [ "$(read_rows 1 | sort | tr -d '\n')" = '["1","one"]["2","two"]["9","of nobody"]' ]
        [ "$(read_rows 1)" = "$(read_rows 2)" ]
        observed '.table_whole and .max_table_rows == 3 and .parts == {before: 1, after: 1, same: true} and .stable and .reads[0].queries == 1'
        [ -z "$(coverage)" ]
    done
}

@test "an empty table is read whole, and owed nothing is no reason not to" {
    whole_scope
    read_it 0 --max-table-rows=1
    observed '.table_whole and .parts == {before: 0, after: 0, same: true} and .reads[1].rows == 0'
    sides_whole true
    [ -z "$(read_rows 1)$(coverage)" ]
    ch "INSERT INTO shop.orders (id, s) VALUES (1, 'one')"
    ch "DELETE FROM shop.orders WHERE id = 1"
    read_it 0 --max-table-rows=1
    observed '.table_whole and .parts.same and .reads[0].rows == 0'
    [ -z "$(read_rows 1)$(coverage)" ]
}

@test "without --max-table-rows the keys are read, and coverage is unavailable; without the scope's word it is refused" {
    three
    whole_scope '["1","one"]'
    read_it 3
    check_is passed ""
    [ "$(read_rows 1)" = '["1","one"]' ]
    observed '.table_whole == null'
    [[ $(coverage) == "unavailable: the table was not read whole: nobody said"*" -> table-not-read-whole" ]]
    { scope_of s t shop orders "$columns"; columns_of "$columns"; captured_side '["1","one"]'; checked reconcile.scope passed; } | whole in
    read_it 2 --max-table-rows=10
    [[ $stderr == *"the scope does not say that the table is dedicated to it"* ]]
    [ -z "$(read_rows 1)" ]
}

@test "the bound: a table that holds more is not read whole, with both figures; its keys are" {
    three
    whole_scope '["1","one"]'
    read_it 3 --max-table-rows=2
    [[ $(coverage) == "unavailable: the table holds 3 rows, and --max-table-rows is 2: it was not read whole -> table-too-large" ]]
    check_is passed ""
    [ "$(read_rows 2)" = '["1","one"]' ]
    observed '.table_whole == null'
    # Rows that come between the count and the read pass the bound in the statement itself.
    after_first "count%28%29%29+FROM+%60shop" "INSERT INTO shop.orders (id, s) VALUES (10, 'late')"
    read_it 3 --max-table-rows=3
    wait "$held"
    check_is unavailable "396"
    sides_whole false
    [[ $(coverage) == "unavailable: "*396* ]]
}

@test "an insert, a merge, a dropped part between the reads: the parts are others, by name" {
    three
    ch "INSERT INTO shop.orders (id, s) VALUES (3, 'three')"
    whole_scope '["1","one"]'
    changed() { # STATEMENT TEXT: while it reads
        after_first "$rows_read" "$1"
        read_it 3 --max-table-rows=100
        wait "$held"
        observed '.table_whole and (.parts.same | not)'
        [[ $(coverage) == "unavailable: the table's parts changed while it was read: "*$2*" -> parts-changed" ]] || { coverage >&2; return 1; }
        check_is passed ""
        sides_whole true
    }
    changed "INSERT INTO shop.orders (id, s) VALUES (4, 'four')" "new all_?_?_0 (1 rows)"
    changed "OPTIMIZE TABLE shop.orders FINAL" "gone all_1_1_0 (3 rows), gone all_?_?_0 (1 rows), gone all_?_?_0 (1 rows), new all_1_?_1 (5 rows)"
    [ "$(read_rows 1 | sort)" = "$(read_rows 2 | sort)" ]
    changed "ALTER TABLE shop.orders DROP PARTITION tuple()" "gone all_1_?_1 (5 rows)"
}

@test "a mutation, in progress or begun meanwhile, leaves the table unknown; one that is done does not" {
    three
    whole_scope '["1","one"]'
    ch "ALTER TABLE shop.orders UPDATE s = 'uno' WHERE id = 1 SETTINGS mutations_sync = 1"
    read_it 0 --max-table-rows=10
    [ -z "$(coverage)" ]
    ch "SYSTEM STOP MERGES shop.orders"
    after_first "$rows_read" "ALTER TABLE shop.orders DELETE WHERE id = 2 SETTINGS mutations_sync = 0"
    read_it 3 --max-table-rows=10
    wait "$held"
    [[ $(coverage) == "unavailable: mutation "*" began while the table was read -> mutation-running" ]]
    read_it 3 --max-table-rows=10
    [[ $(coverage) == "unavailable: mutation "*" in progress"* ]]
    check_is unavailable "in progress"
    ch "SYSTEM START MERGES shop.orders"
}

@test "a user who may not see the parts: coverage alone is unavailable, with the grant" {
    three
    whole_scope '["1","one"]'
    ch_fault "when=error&code=497&match=FROM+system.parts"
    read_it 3 --max-table-rows=10
    [[ $(coverage) == "unavailable: reading system.parts: "*" -> not-granted" ]]
    check_is passed ""
    [ "$(read_rows 1)" = '["1","one"]' ]
    # Seen before, not after.
    ch_fault "when=stall&ms=1&match=FROM+system.parts"
    ch_fault "when=error&code=497&match=FROM+system.parts"
    read_it 3 --max-table-rows=10
    observed '.table_whole and (.parts.same | not)'
    [[ $(coverage) == "unavailable: reading system.parts: "* ]]
    check_is passed ""
}

@test "rows that the parts hold and the user does not see: hidden by something, whether somebody deleted rows or not" {
    three
    ch "INSERT INTO shop.orders (id, s) VALUES (3, 'three')"
    whole_scope '["1","one"]'
    # No row policy can be made here: rows go between the look at the parts and the count, which looks the same.
    after_first FROM+system.parts "ALTER TABLE shop.orders DROP PART 'all_1_1_0'"
    read_it 3 --max-table-rows=10
    wait "$held"
    [[ $(coverage) == "unavailable: the table's parts hold 4 rows, none deleted, and this user sees 1: something hides the others, such as a row policy -> rows-hidden" ]]
    check_is passed ""
    ch "INSERT INTO shop.orders (id, s) VALUES (4, 'four'), (5, 'five')"
    ch "DELETE FROM shop.orders WHERE id = 4"
    read_it 0 --max-table-rows=10
    observed '.table_whole and .parts.same and .reads[0].rows == 2'
    [ -z "$(coverage)" ]
    # The row that was deleted hides no other: what goes between the two counts is missed in the second.
    ch "INSERT INTO shop.orders (id, s) VALUES (6, 'six')"
    part=$(ch "SELECT name FROM system.parts WHERE database = 'shop' AND table = 'orders' AND active ORDER BY min_block_number DESC LIMIT 1 FORMAT TSV")
    ch_fault "when=hold&match=apply_deleted_mask+%3D+0"
    while_held ch "ALTER TABLE shop.orders DROP PART '$part'" 3>&- &
    held=$!
    read_it 3 --max-table-rows=10
    wait "$held"
    [[ $(coverage) == "unavailable: the table's parts hold 4 rows, deleted ones among them, and this user sees 3: something hides the others, such as a row policy -> rows-hidden" ]]
    check_is passed ""
}

@test "a lightweight UPDATE adds a part of no rows of its own" {
    ch "DROP TABLE shop.orders"
    ch "CREATE TABLE shop.orders (id Int64, s String) ENGINE = MergeTree ORDER BY id SETTINGS enable_block_number_column = 1, enable_block_offset_column = 1"
    three
    ch "UPDATE shop.orders SET s = 'patched' WHERE id = 2" enable_lightweight_update=1
    whole_scope '["1","one"]'
    read_it 0 --max-table-rows=3
    observed '.table_whole and .parts == {before: 2, after: 2, same: true}'
    [ "$(read_rows 2 | sort | tr -d '\n')" = '["1","one"]["2","patched"]["9","of nobody"]' ]
    [ -z "$(coverage)" ]
}

@test "a connection that is cut before the parts are seen is looked over anew" {
    three
    whole_scope '["1","one"]'
    ch_fault "when=before&match=FROM+system.parts"
    read_it 0 --max-table-rows=10
    [ -z "$(coverage)" ]
    ch_fault "when=before&match=count%28%29%29+FROM+%60shop"
    after_first FROM+system.parts "ALTER TABLE shop.orders ADD COLUMN later Int8"
    read_it 3 --max-table-rows=10
    wait "$held"
    check_is unavailable "over a new connection: the table's definition changed"
    sides_whole false
    [[ $(coverage) == "unavailable: over a new connection"* ]]
}
