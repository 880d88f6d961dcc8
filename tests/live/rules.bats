#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What rules that people write say of a real table: from table-look to the report, without a broker (the rows are given as events).
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers

setup_file() { clickhouse_up ${OWED_CH_LINE:+--line="$OWED_CH_LINE"}; }

setup() {
    clickhouse_need
    cd "$BATS_TEST_TMPDIR" || exit 1
    ch "DROP DATABASE IF EXISTS shop"
    ch "CREATE DATABASE shop"
    CH_PASSWORD=$(cat "$CH_DIR/secret/reader")
    export CH_PASSWORD
    login=(--url="$CH_URL" --user=reader --password-env=CH_PASSWORD)
}

teardown_file() { clickhouse_down; }

# declared STATUS ARGUMENT…: the table shop.t as it is, and what is said of it, in the files declared and scope.json.
declared() {
    local want=$1
    shift
    table-look --first "${login[@]}" --table=shop.t >looked
    run "-$want" --separate-stderr bash -c 'scope-declare --topic=t --range=0:0-9 --out=scope.json "$@" <looked >declared' scope-declare "$@"
}

# judged STATUS EVENT…: values as the rules give them, all there are, held against the table; the report is the output.
judged() {
    local want=$1
    shift
    printf '{"type":"event","values":%s}\n' "$@" | whole events
    ref-seal --scope=scope.json --reference-name=rules --out=reference --complete <events >sealed 2>said
    run "-$want" --separate-stderr bash -c 'ref-bind --reference=reference <declared | ch-read --settle-ms=0 "$@" | rows-diff | verdict' audit "${login[@]}" ||
        { printf '%s\n%s\n' "$output" "$stderr" >&2; return 1; }
}

@test "what the table fills itself is compared where the rules give it: a default, a computed column, an alias; and one of the key" {
    ch "CREATE TABLE shop.t (id Int64, v Int64, note String DEFAULT 'none', twice Int64 MATERIALIZED v * 2, half Float64 ALIAS v / 2, raw Int64 EPHEMERAL, day Date MATERIALIZED toDate(v)) ENGINE = MergeTree ORDER BY id"
    ch "INSERT INTO shop.t (id, v) VALUES (1, 10), (2, 25)"
    declared 0 --key=id
    judged 0 '{"id":1,"v":10}' '{"id":2,"v":25,"note":"whatever","half":null}'
    [[ $output == *"not compared  note (DEFAULT), twice (MATERIALIZED), half (ALIAS), raw (EPHEMERAL), day (MATERIALIZED), which the table fills itself"* ]]
    grep -F "'note', which the table fills itself" said
    declared 0 --key=id,twice --filled=note,half
    judged 0 '{"id":1,"v":10,"note":"none","twice":20,"half":5}' '{"id":2,"v":25,"note":"none","twice":50,"half":12.5}'
    judged 1 '{"id":1,"v":10,"note":"none","twice":20,"half":5}' '{"id":2,"v":25,"note":"none","twice":50,"half":11}'
    [[ $output == *"half owed 11, found 12.5"* ]]
    # a column that is something else by now is not read as what it was
    ch "ALTER TABLE shop.t MODIFY COLUMN half Float64 DEFAULT 7"
    judged 3 '{"id":1,"v":10,"note":"none","twice":20,"half":5}'
    [[ $output == *"column 'half' was ALIAS and is DEFAULT now"* ]]
}

@test "what table-look knows is unsupported ends it before any log is read: one message, and the report leads with it" {
    ch "CREATE TABLE shop.t (id Int64, v Int64) ENGINE = Memory"
    declared 3 --key=id
    [[ $stderr == "scope-declare: no scope: the table's engine is Memory, and only "*" can be judged" ]]
    [ ! -e scope.json ]
    [ "$(jq -r 'select(.type == "table") | .unfit_code' looked)" = engine-unsupported ]
    run -3 --separate-stderr verdict <declared
    [[ ${lines[0]} == "NOT DECIDED: scope-declare: no scope: the table's engine is Memory,"* ]]
}

@test "values of the wrong kind are unfit and shown, and hide no other row" {
    ch "CREATE TABLE shop.t (id Int64, u UUID, m Map(String, Int8)) ENGINE = MergeTree ORDER BY id"
    ch "INSERT INTO shop.t VALUES (1, '00000000-0000-0000-0000-000000000001', map('a', 1)), (2, '00000000-0000-0000-0000-000000000002', map())"
    declared 0 --key=id
    judged 1 '{"id":1,"u":"none at all","m":{"a":1}}' '{"id":2,"u":"00000000-0000-0000-0000-000000000002","m":{}}' '{"id":"word","u":null,"m":3}'
    [[ $output == *"u owed none at all (does not fit), found 00000000-0000-0000-0000-000000000001"* ]]
    [[ $output == *"changed 1 rows"* && $output == *"missing 1 rows"* && $output == *"id=word (does not fit)"* ]]
}
