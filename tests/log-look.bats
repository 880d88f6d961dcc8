#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# log-look without a broker: what it refuses, and that a refusal is a whole stream and shows no secret.
bats_require_minimum_version 1.5.0

stderr="" stderr_lines=() # run sets them
load programs

refused() { # NAMED ARGUMENT…: exit 2, one line that names the place, a whole stream with one stop
    local named=$1
    shift
    run -2 --separate-stderr log-look "$@"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "log-look: "*"$named"* ]]
    [ "$(jq -c '[.type, .kind]' <<<"$output")" = $'["stream",null]\n["stop","refused"]\n["end",null]' ]
    [[ $output$stderr != *hunter2* ]]
}

@test "unusable options and values" {
    refused "no topic" -b 127.0.0.1:1
    refused "no broker" -t orders
    refused twice -b 127.0.0.1:1 -t orders -t orders
    for t in a/b '' $'\xff' .. 'a b'; do
        refused "not a topic's name" -b 127.0.0.1:1 -t "$t"
    done
    for n in 0 x -1 3600001; do
        refused timeout-ms -b 127.0.0.1:1 -t orders --timeout-ms="$n"
    done
    for g in '' $'\xff'; do
        refused "not a group's name" -b 127.0.0.1:1 -t orders --group="$g"
    done
    for at in '' 2026-01-01 2026-01-01T00:00 2026-02-30T00:00Z 2026-13-01T00:00Z 2026-01-01T24:00Z 2026-01-01T00:00:60Z '2026-01-01 00:00Z' 2026-01-01T00:00:00.Z \
        2026-01-01T00:00:00.1234Z 2026-01-01T00:00+1:00 2026-01-01T00:00+24:00 2026-01-01T00:00Zx 1969-12-31T23:59Z 1767225600; do
        refused "--since" -b 127.0.0.1:1 -t orders --since="$at"
        refused "--until" -b 127.0.0.1:1 -t orders --until="$at"
    done
    refused "--until is not after --since" -b 127.0.0.1:1 -t orders --since=2026-01-01T01:00:00.001+01:00 --until=2026-01-01T00:00Z
    refused "twice" -b 127.0.0.1:1 -t orders --group=a --group=a
    refused more -b 127.0.0.1:1 -t orders more
}

@test "a secret among the arguments is refused by its name, and never shown" {
    refused sasl.password -b 127.0.0.1:1 -t orders -X sasl.password=hunter2
    refused NO_SUCH -b 127.0.0.1:1 -t orders -E sasl.password=NO_SUCH
    refused group.id -b 127.0.0.1:1 -t orders -X group.id=g
}

@test "nobody answers: 3, and why" {
    run -3 --separate-stderr log-look -b 127.0.0.1:1 -t orders --timeout-ms=200
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "log-look: topic orders: no broker answered in 200 ms: "*"127.0.0.1:1"* ]]
    [ "$(jq -c 'select(.type == "stop") | .kind' <<<"$output")" = '"unfinished"' ]
    [ "$(tail -n 1 <<<"$output")" = '{"type":"end","lines":{"stream":1,"stop":1}}' ]
}

@test "standard output that is full or closed: 3" {
    run -3 bash -c 'log-look -b 127.0.0.1:1 -t orders --timeout-ms=100 >/dev/full'
    run -3 bash -c 'log-look -b 127.0.0.1:1 -t orders --timeout-ms=100 >&-'
}
