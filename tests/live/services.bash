# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A ClickHouse for a file of live tests. In the file:
#   setup_file()    { clickhouse_up; }       or with --line=…, --user=… (see tests/services/clickhouse)
#   setup()         { clickhouse_need; }
#   teardown_file() { clickhouse_down; }
# Sets CH_URL, CH_PID, CH_USER, CH_PASSWORD and what else the service prints. Where no server can be
# had, clickhouse_need skips the test by name, or fails it when REQUIRE_LIVE=1.

OWED_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Starts one, or starts the same again after a kill; exports what it prints.
clickhouse_up() {
    local out
    export CH_LACK=""
    CH_DIR=${CH_DIR:-$BATS_FILE_TMPDIR/clickhouse}
    if out=$("$OWED_ROOT/tests/services/clickhouse" up --dir="$CH_DIR" "$@" 2>"$BATS_FILE_TMPDIR/clickhouse.err"); then
        set -a
        eval "$out"
        set +a
    else
        CH_LACK=$(tail -n 1 "$BATS_FILE_TMPDIR/clickhouse.err")
    fi
}

clickhouse_down() {
    [ -z "${CH_DIR:-}" ] || "$OWED_ROOT/tests/services/clickhouse" down --dir="$CH_DIR"
}

clickhouse_need() {
    [ -n "${CH_LACK:-}" ] || return 0
    if [ "${REQUIRE_LIVE:-}" = 1 ]; then
        printf '%s\n' "$CH_LACK" >&2
        return 1
    fi
    skip "$CH_LACK"
}

# ch_curl USER PARAMETERS [CURL ARGUMENT…]: one request as that user; the password is on no command line.
ch_curl() {
    local user=$1 parameters=$2
    shift 2
    curl -sS -K <(printf 'user = "%s:%s"\n' "$user" "$(cat "$CH_DIR/secret/$user")") "$CH_URL/?$parameters" "$@"
}

# ch SQL [PARAMETERS]: runs a statement as the full user and prints its answer; an exception is a failure.
ch() {
    ch_curl default "${2:-}" --fail-with-body --data-binary "$1"
}

# ch_fault PARAMETERS: asks the front for a fault, or for one of await=, release=, clear= (clickhouse-front/fault.h).
ch_fault() {
    curl -sS --fail-with-body -o /dev/null -X POST "$CH_URL/__fault?$1" \
        -K <(printf 'user = "default:%s"\n' "$(cat "$CH_DIR/secret/default")")
}

# while_held COMMAND…: run it once the front holds a statement (the faults hold and withhold), which then goes on.
while_held() {
    local rc=0
    { ch_fault await=1 && "$@"; } || rc=$?
    ch_fault release=1
    return "$rc"
}
