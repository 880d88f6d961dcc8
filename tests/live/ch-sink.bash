# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # stream sets head
# A table, a sink and a lane for the live tests of ch-sink, on a ClickHouse of the file's own.
load services
load ../stream

setup_file() {
    clickhouse_up
    [ -n "${CH_LACK:-}" ] || ch 'CREATE DATABASE shop'
}
teardown_file() { clickhouse_down; }

setup() {
    clickhouse_need
    cd "$BATS_TEST_TMPDIR" || return
    t=t$BATS_TEST_NUMBER
    runner=''
    mkdir cap
    ch_fault clear=1
}

teardown() {
    [ -z "$runner" ] || kill "$runner" 2>/dev/null || true
    cat sink.err 2>/dev/null || true
    for d in "$BATS_TEST_TMPDIR"/other "$BATS_TEST_TMPDIR"/newer; do
        [ ! -d "$d" ] || "$OWED_ROOT/tests/services/clickhouse" down --dir="$d" || true
    done
}

# table COLUMNS [WINDOW [ENGINE CLAUSES]]. The server's uptime is whole seconds: of one that came up just now nobody can tell
# that it did not come up after an INSERT began.
table() {
    until [ "$(ch 'SELECT uptime()')" -ge 2 ]; do sleep 0.1; done
    ch "CREATE TABLE shop.$t ($1) ENGINE = MergeTree ${3:-ORDER BY tuple()} SETTINGS non_replicated_deduplication_window = ${2:-0}"
}

sink_command() {
    command=(ch-sink --url="$CH_URL" --user=default --password-file="$CH_DIR/secret/default" --database=shop --table="$t"
        --job=1 --operator=3 --subtask=0 --attempt=a --capture-dir=cap)
}

sink() { # options
    local command
    sink_command
    "${command[@]}" "$@"
}

rows() { ch "SELECT * FROM shop.$t ORDER BY ALL"; }
count() { ch "SELECT count() FROM shop.$t"; }
evidence() { jq -c "$2" "cap/op-3/subtask-0/epoch-$1.sink.json"; }

recorder() { cap-tee --capture-dir=cap --job=1 --operator=3 --subtask=0 --attempt=a; }

# A sink that reads a lane as it is written to descriptor 9; what it writes is in sink.out.
start_sink() {
    local command
    sink_command
    mkfifo lane.fifo
    # The program itself: a function there would be a shell that the sink outlives.
    "${command[@]}" "$@" <lane.fifo >sink.out 2>sink.err &
    runner=$!
    exec 9>lane.fifo
    echo "$head" >&9
}

# soon COMMAND…: until it holds, however slow the machine is just now
soon() {
    local end=$((SECONDS + 120))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

# The lines of standard input in one write, which the shell's own printf, a write a line, is not: a sink that ends at
# the first of them leaves no pipe for a second.
sink_takes() {
    cat >taken.lines
    cat taken.lines >&9
}

finish_sink() { # expected status
    local status=0
    exec 9>&-
    wait "$runner" || status=$?
    runner=''
    [ "$status" -eq "$1" ] || { echo "status $status" >&2; return 1; }
}

# doubt WHEN WINDOW COLUMNS CLAUSES: three rows in one INSERT whose connection is cut.
doubt() {
    table "$3" "$2" "${4:-ORDER BY tuple()}"
    { event 1; event 2; event 3; barrier 1 0; } | whole lane
    ch_fault "when=$1"
    run -0 --separate-stderr sink <lane
}

ledger() { evidence "${1:-1}" '[.ledger[] | [.rows, .blocks, .attempts, .in_doubt, .resend]]'; }
