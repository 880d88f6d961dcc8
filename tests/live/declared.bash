# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats sets output and stderr
# An audit of shop.orders on the real engine by what is declared, its reference made of events: a table, a scope, what it owes, and the
# answer. For a file of tests that has loaded services, stream and answers; each test begins in a database shop of its own.

setup_file() { clickhouse_up ${OWED_CH_LINE:+--line="$OWED_CH_LINE"}; }

# A test that begins with more has a setup of its own, which calls this.
setup() { shop_anew; }

shop_anew() {
    clickhouse_need
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    CH_PASSWORD=$(cat "$CH_DIR/secret/reader")
    export CH_PASSWORD
    ch "DROP DATABASE IF EXISTS shop"
    ch "CREATE DATABASE shop"
}

teardown() { [ -n "${CH_LACK:-}" ] || ch_fault clear=1; }

teardown_file() { clickhouse_down; }

asked=(--user=reader --password-env=CH_PASSWORD)

# table COLUMNS ENGINE [STATEMENT…]: shop.orders anew, looked at, in the file looked. A statement VALUES inserts those as a part.
table() {
    local statement columns=$1 engine=$2
    shift 2
    ch "DROP TABLE IF EXISTS shop.orders"
    ch "CREATE TABLE shop.orders ($columns) ENGINE = $engine"
    ch "SYSTEM STOP MERGES shop.orders"
    for statement; do insert "$statement"; done
    { echo '{"type":"log","topic":"t","cluster_id":"c","topic_id":"i","partitions":[{"partition":0,"low":0,"high":9,"stable":9},{"partition":1,"low":0,"high":9,"stable":9}]}' | whole log; }
    from log "$bin/table-look" --url="$CH_URL" "${asked[@]}" --table=shop.orders >looked 2>said || [ $? -le 3 ]
}
insert() { ch "INSERT INTO shop.orders SETTINGS optimize_on_insert = 0 VALUES $1"; }

# declare STATUS [ARGUMENT…]
declare_() {
    local want=$1
    shift
    run "-$want" --separate-stderr from looked "$bin/scope-declare" --range=ALL --out=scope.json "$@" || { printf '%s\n' "$stderr" >&2; return 1; }
    printf '%s\n' "$output" >declared
}

# owes STATUS EVENT…: the reference of these events, VALUES@AT each, sealed with the status.
owes() {
    local want=$1 one
    shift
    for one; do event_of "${one%@*}" "${one##*@}"; done | whole events
    run "-$want" --separate-stderr from events "$bin/ref-seal" --scope=scope.json --reference-name=r --complete --out=reference || { printf '%s\n' "$stderr" >&2; return 1; }
}

# audit STATUS [ARGUMENT…]: of the table as it stands; the report is in $output, what ch-read wrote in the file read.ndjson.
audit() {
    local want=$1
    shift
    "$bin/ref-bind" --reference=reference <declared >bound 2>/dev/null || [ $? -le 3 ]
    "$bin/ch-read" --url="$CH_URL" "${asked[@]}" --settle-ms=0 "$@" <bound >read.ndjson 2>said || [ $? -le 3 ]
    "$bin/rows-diff" <read.ndjson >diffed 2>>said || [ $? -le 3 ]
    run "-$want" --separate-stderr from diffed "$bin/verdict" || { printf '%s\n' "$output" >&2; cat said >&2; return 1; }
}
says() { [[ $output == *"$1"* ]] || { printf 'not said: %s\n%s\n' "$1" "$output" >&2; return 1; }; }
read_is() { # CELLS…: what the first read found, sorted
    local found
    found=$(output=$(cat read.ndjson) read_rows 1 | sort | tr -d '\n')
    [ "$found" = "$1" ] || { printf 'found %s\n' "$found" >&2; return 1; }
}
