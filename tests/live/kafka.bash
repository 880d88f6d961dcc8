# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A broker for a file of live tests. In the file:
#   setup_file()    { kafka_up; }
#   setup()         { kafka_need broker; }    what only a real broker does; without the word the mock will do
#   teardown_file() { kafka_down; }
# Where no broker can be had, kafka_need skips the test by name, or fails it when REQUIRE_LIVE=1.

OWED_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/programs.bash
. "$OWED_ROOT/tests/programs.bash"

kafka_up() {
    local out
    export KAFKA_LACK="" KAFKA_BOOTSTRAP KAFKA_PID KAFKA_DIR KAFKA_KIND KAFKA_SASL
    if out=$("$OWED_ROOT/tests/services/kafka" up --dir="${1:-$BATS_FILE_TMPDIR/kafka}" 2>"$BATS_FILE_TMPDIR/kafka.err"); then
        eval "$out"
    else
        KAFKA_LACK=$(tail -n 1 "$BATS_FILE_TMPDIR/kafka.err")
    fi
}

kafka_down() {
    [ -z "${KAFKA_DIR:-}" ] || "$OWED_ROOT/tests/services/kafka" down --dir="$KAFKA_DIR"
}

kafka_need() {
    local lack=${KAFKA_LACK:-}
    [ -n "$lack" ] || [ "${1:-}" != broker ] || [ "$KAFKA_KIND" = broker ] || lack="no real broker here"
    [ -n "$lack" ] || return 0
    if [ "${REQUIRE_LIVE:-}" = 1 ]; then
        printf '%s\n' "$lack" >&2
        return 1
    fi
    skip "$lack"
}

kafka_tool() {
    "$OWED_ROOT/build/tests/kafka-tool" -b "$KAFKA_BOOTSTRAP" "$@"
}

# kafka_topic NAME PARTITIONS [CONFIG…]: a topic whose partitions answer.
kafka_topic() {
    if [ "$KAFKA_KIND" = broker ]; then
        kafka_tool create-topic "$@"
    else
        printf '%s %s\n' "$1" "$2" >"$KAFKA_DIR/topics"
        until kcat -b "$KAFKA_BOOTSTRAP" -L -t "$1" 2>/dev/null | grep -q "with $2 partitions"; do sleep 0.05; done
    fi
}
