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

# agrees STATUS [OPTION…]: of what kafka-read left in `out` for scope.json. Bounds are kafka-read's own and end it early.
agrees() {
    local want=$1 option options=() answer
    shift
    if [ -z "$AGREE_PID" ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "no Python with another Kafka client (deps.sh python)" >&2; return 1; }
        return 0
    fi
    for option; do
        case $option in
            --max-* | --deadline-s=*) return 0 ;;
            # One topic is read, so that its name before the partition says nothing more.
            --run-start-offset=*) options+=("$(sed 's/=[^=]*\//=/' <<<"$option")") ;;
            --stable-wait-s=*) options+=("$option") ;;
        esac
    done
    # Opened for both, so that it waits for nobody; the time is the read's, and past it the reader has died.
    exec 9<>"$BATS_FILE_TMPDIR/answer"
    jq -cn --arg dir "$PWD" --argjson want "$want" '[$dir, $want] + $ARGS.positional' --args -- --bootstrap="$KAFKA_BOOTSTRAP" --deadline-s=60 --records \
        "${options[@]}" >"$BATS_FILE_TMPDIR/ask"
    read -r -t 90 -u 9 answer || answer=$(tail -n 1 "$BATS_FILE_TMPDIR/agree.log")
    exec 9>&-
    [ -z "$answer" ] || { printf '%s\n' "$answer" >&2; return 1; }
}
