# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The independent reader of examples/reference beside kafka-read: the same records of a scope, and complete where it is complete.

# For setup_file and teardown_file: one process of it for all tests of the file.
agree_up() {
    local python=${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python
    export AGREE_PID=""
    [ -x "$python" ] || return 0
    mkfifo "$BATS_FILE_TMPDIR/ask" "$BATS_FILE_TMPDIR/answer"
    "$python" "$OWED_ROOT/tests/live/agree.py" "$BATS_FILE_TMPDIR" </dev/null >"$BATS_FILE_TMPDIR/agree.log" 2>&1 3>&- &
    AGREE_PID=$!
}

agree_down() {
    [ -z "$AGREE_PID" ] || kill "$AGREE_PID"
}

# agree_need: skip the test that says how often they agreed where there is no such reader, or fail it when REQUIRE_LIVE=1.
agree_need() {
    [ -z "$AGREE_PID" ] || return 0
    [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "no Python with another Kafka client (deps.sh python)" >&2; return 1; }
    skip "no Python with another Kafka client (deps.sh python)"
}

# agrees STATUS [OPTION…]: of what kafka-read left in `out` for scope.json. Bounds are kafka-read's own and end it early.
agrees() {
    local want=$1 option options=() answer
    shift
    [ -n "$AGREE_PID" ] || return 0
    for option; do
        case $option in
            --max-* | --deadline-s=*) return 0 ;;
            # One topic is read, so that its name before the partition says nothing more.
            --run-start-offset=*) options+=("$(sed 's/=[^=]*\//=/' <<<"$option")") ;;
            --stable-wait-s=*) options+=("$option") ;;
        esac
    done
    # Opened for both, so that it waits for nobody; the times are the reader's, and past them it has died.
    exec 9<>"$BATS_FILE_TMPDIR/answer"
    if ! jq -cn --arg dir "$PWD" --argjson want "$want" '[$dir, $want] + $ARGS.positional' --args -- --bootstrap="$KAFKA_BOOTSTRAP" --deadline-s=60 \
        --records "${options[@]}" | timeout 90 tee "$BATS_FILE_TMPDIR/ask" >/dev/null || ! read -r -t 90 -u 9 answer; then
        answer="the other reader is gone: $(tail -n 1 "$BATS_FILE_TMPDIR/agree.log")"
    fi
    exec 9>&-
    [ -z "$answer" ] || { printf '%s\n' "$answer" >&2; return 1; }
    echo "$BATS_TEST_NUMBER" >>"$BATS_FILE_TMPDIR/agreed"
}
