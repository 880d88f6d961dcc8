#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The deduplication window at its bound, on both lines of the engine: where the ledger says `deduplicated`, the rows are
# there once. One line keeps two entries for each block and the other one.
# shellcheck disable=SC2154  # stream sets some
bats_require_minimum_version 1.5.0
load services
load ../stream

# Each line has a server of its own; the file's functions start both.
setup_file() {
    export CH_DIR=$BATS_FILE_TMPDIR/26.5
    clickhouse_up --line=26.5
    [ -z "$CH_LACK" ] || return 0
    CH_DIR=$BATS_FILE_TMPDIR/26.7 clickhouse_up --line=26.7
    [ -z "$CH_LACK" ] || return 0
    for line in 26.5 26.7; do
        use "$line"
        ch 'CREATE DATABASE shop'
    done
}

teardown_file() {
    for line in 26.5 26.7; do
        CH_DIR=$BATS_FILE_TMPDIR/$line clickhouse_down
    done
}

setup() {
    clickhouse_need
    cd "$BATS_TEST_TMPDIR" || return
    t=t$BATS_TEST_NUMBER
}

use() { # line
    export CH_DIR=$BATS_FILE_TMPDIR/$1 CH_URL
    CH_URL=http://127.0.0.1:$(cat "$CH_DIR/port")
}

# One INSERT of rows 1 to $2, a partition each, into a table whose window is $3; options for the sink follow.
insert() { # line, rows, window
    use "$1"
    t=t${BATS_TEST_NUMBER}_${2}_$3
    ch "CREATE TABLE shop.$t (id Int64) ENGINE = MergeTree PARTITION BY id ORDER BY id
        SETTINGS non_replicated_deduplication_window = $3"
    rm -rf cap
    mkdir cap
    { for ((i = 1; i <= $2; i++)); do event $i; done; barrier 1 0; } | whole lane
    ch_fault "$4&match=RowBinary"
    ch-sink --url="$CH_URL" --user=default --password-file="$CH_DIR/secret/default" --database=shop --table="$t" \
        --job=1 --operator=3 --subtask=0 --attempt=a --capture-dir=cap "${@:5}" <lane >/dev/null
}

resend() { jq -r '.ledger[0].resend' cap/op-3/subtask-0/epoch-1.sink.json; }
copies() { ch "SELECT count() FROM shop.$t WHERE id = 1"; }

# Above the bound it says so, below it it does not, and it never says so of rows that are there twice.
around() { # line, entries a block
    local blocks window
    for blocks in 1 2 3 5; do
        for ((window = blocks - 1; window <= 2 * blocks + 1; window++)); do
            insert "$1" $blocks $window when=after
            echo "$1: $blocks blocks, window $window: $(resend), $(copies) copies"
            if [ "$window" -ge $((blocks * $2)) ]; then
                [ "$(resend) $(copies)" = 'deduplicated 1' ]
            else
                [ "$(resend)" = may_duplicate ]
            fi
            [ "$window" -ge "$blocks" ] || [ "$(copies)" = 2 ]
        done
    done
}

@test "26.5, which keeps two entries a block: deduplicated only within half the window" {
    around 26.5 2
}

@test "26.7, which keeps one entry a block: deduplicated within the window" {
    around 26.7 1
}

@test "an INSERT given up on can be executed when the window has moved on, and is never said to be deduplicated" {
    for line in 26.5 26.7; do
        insert $line 1 4 when=hold --query-timeout-ms=500
        for i in 11 12 13 14 15; do ch "INSERT INTO shop.$t VALUES ($i)" async_insert=0; done
        [ "$(copies)" = 1 ]
        ch_fault release=1
        end=$((SECONDS + 120))
        until [ "$(copies)" = 2 ]; do
            [ "$SECONDS" -lt "$end" ]
            sleep 0.05
        done
        [ "$(resend)" = may_duplicate ]
        ch "DROP TABLE shop.$t"
    done
}
