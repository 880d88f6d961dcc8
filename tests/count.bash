# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # whoever counts sets work, a directory for what was said
# Running tests and counting them. Each case that ran is a pass or a failure, a fallback that ran as well; what did not run is a
# skip, and with REQUIRE_LIVE=1 a failure. Every run_* shows what failed and what was skipped, and leaves its counts in $work.

# tally PASSED FAILED SKIPPED
tally() {
    local failed=$2 skipped=$3
    if [ "${REQUIRE_LIVE:-}" = 1 ] && [ "$skipped" -gt 0 ]; then
        echo "skipped, where REQUIRE_LIVE=1 allows no skip: $skipped"
        failed=$((failed + skipped)) skipped=0
    fi
    echo "$1 $failed $skipped" >>"$work/counts"
}

# total: the last line of everything. Nothing that ran at all is no success.
total() {
    awk '{ passed += $1; failed += $2; skipped += $3 }
        END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 || passed == 0 }' "$work/counts"
}

# count_tap LOG: of one bats run. One that ran no test, or fewer than it planned, failed.
count_tap() {
    local p f s planned
    s=$(grep -cE '^ok .* # skip' "$1" || true)
    p=$(($(grep -cE '^ok ' "$1" || true) - s))
    f=$(grep -cE '^not ok ' "$1" || true)
    grep -E '^not ok |^#|^ok .* # skip' "$1" || true
    planned=$(sed -n 's/^1\.\.//p' "$1")
    if [ $((p + f + s)) -eq 0 ] || [ "${planned:-0}" -ne $((p + f + s)) ]; then
        echo "$(basename "$1"): ran $((p + f + s)) of ${planned:-no} tests"
        tail -n 20 "$1"
        f=$((f + 1))
    fi
    tally "$p" "$f" "$s"
}

# said_of WORD LOG: how many tests a cmocka program says that of, which it does where it happens and again at its end.
said_of() { sed -n "s/^\[ *$1 *\] \([A-Za-z0-9_]*\)\$/\1/p" "$2" | sort -u | wc -l; }

# count_cmocka LOG STATUS: of one unit test. One that dies is a failure, whatever it had said.
count_cmocka() {
    local p f s
    p=$(said_of OK "$1")
    f=$(said_of FAILED "$1")
    s=$(said_of SKIPPED "$1")
    [ "$2" -eq 0 ] || [ "$f" -gt 0 ] || f=1
    [ "$f" -eq 0 ] || tail -n 60 "$1"
    [ "$s" -eq 0 ] || grep -h '^\[  SKIPPED' "$1"
    if [ $((p + f + s)) -eq 0 ]; then
        echo "$(basename "$1"): ran no test"
        f=1
    fi
    tally "$p" "$f" "$s"
}

log_of() { printf '%s/%s' "$logs" "${1//\//-}"; }

# at_once N COMMAND ITEM…: a program or a function on each item, so many at a time: what it said is in the log_of the item and
# .log, how it ended in .status.
at_once() {
    [ $# -gt 2 ] || return 0
    export logs command=$2
    logs=$(mktemp -d "$work/logs.XXXXXX")
    ! declare -F "$2" >/dev/null || export -f "${2?}"
    # shellcheck disable=SC2016
    printf '%s\0' "${@:3}" | xargs -0 -P "$1" -I{} bash -c 'to=$logs/${1//\//-} s=$SECONDS status=0
        $command "$1" >"$to.log" 2>&1 </dev/null || status=$?
        echo "$status" >"$to.status"
        echo "$((SECONDS - s))s $1" >>"$logs/times"' _ {}
    slowest=$(sort -rn "$logs/times" | head -n 4 | paste -sd' ')
}

one_suite() {
    local tag filter=()
    for tag in $tags; do filter+=(--filter-tags "$tag"); done
    bats --tap "${filter[@]}" "$1"
}

# run_bats N TAGS FILE…: suites, so many at a time; of their tests those with one of these tags, or all where there are none.
run_bats() {
    local item
    export tags=$2
    at_once "$1" one_suite "${@:3}"
    for item in "${@:3}"; do count_tap "$(log_of "$item").log"; done
}

one_unit() { "$1"; }

# run_units N PROGRAM…
run_units() {
    local item
    at_once "$1" one_unit "${@:2}"
    for item in "${@:2}"; do count_cmocka "$(log_of "$item").log" "$(cat "$(log_of "$item").status")"; done
}

# run_each N COMMAND ITEM…: the command on each item is a case. With status 77 it was skipped, and says why in its last line.
run_each() {
    local item status
    at_once "$@"
    for item in "${@:3}"; do
        status=$(cat "$(log_of "$item").status")
        case $status in
            0) tally 1 0 0 ;;
            77)
                echo "skipped: $2 $item: $(tail -n 1 "$(log_of "$item").log")"
                tally 0 0 1
                ;;
            *)
                tail -n 60 "$(log_of "$item").log"
                echo "failed: $2 $item: status $status"
                tally 0 1 0
                ;;
        esac
    done
}
