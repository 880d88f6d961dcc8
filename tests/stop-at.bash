# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A program that stops itself where the test says, instead of being caught there by luck.

# start_stopped FILE READ PROGRAM [ARGUMENT…]: in the background as $pid, standing still before its READ-th read of the first file
# whose path ends so; `kill -CONT $pid` lets it go on. Its output goes to the files stdout and stderr.
start_stopped() {
    local shim end=$((SECONDS + 120))
    shim=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/tests/stop-at.so
    [ -e "$shim" ] || { echo "$shim is not built (make tests-services)" >&2; return 1; }
    # A shell has its background ignore SIGINT and SIGQUIT, and what is ignored stays so.
    env --default-signal LD_PRELOAD="$shim" STOP_AT="$1" STOP_READ="$2" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
        "${@:3}" <&0 >stdout 2>stderr 3>&- &
    pid=$!
    until [ "$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat")" = T ]; do
        if [ "$SECONDS" -ge "$end" ] || ! kill -0 "$pid"; then
            cat stderr >&2
            return 1
        fi
        sleep 0.01
    done
}
