# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# How a service is known, and how it ends.

# A process that is killed loses its command line first and its locks last, and they are all its threads': it is over when there is
# none of it, or only what its parent has not asked for.
process_over() { # PID
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || return 0
    [ -z "$state" ] || { [ "$state" = Z ] && [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -le 1 ]; }
}

# process_serves PID DIR: it runs, and is the one whose command line names DIR: a pid can have gone to someone else. One that is on its way
# out, whoever killed it, is waited for: nobody could start in its place yet.
process_serves() {
    local args
    while args=$(tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline"); do
        [ -z "$args" ] || break
        ! process_over "$1" || return 1
        sleep 0.05
    done
    [[ $args == *"$2"* ]]
}

# end_process SIGNAL PID: sends it, and comes back when the process is over; after 20 seconds it is killed.
end_process() {
    local end=$((SECONDS + 20))
    kill "-$1" "$2" 2>/dev/null || true
    until process_over "$2"; do
        [ $SECONDS -lt $end ] || kill -KILL "$2" 2>/dev/null || true
        sleep 0.05
    done
}
