#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Many ch-sinks at work while the engine is killed under them, again and again: no row is lost, and a row that is there
# twice is one of an INSERT whose ledger says that it may be. KILLS=190 is some 1000 resends and twenty minutes.
# shellcheck disable=SC2030,SC2031,SC2034,SC2154  # each test has its own shell; bats and the helpers set some
bats_require_minimum_version 1.5.0
load ch-sink

writers=6 batch=40

# A lane of events with ids of the writer's own, as fast as they are taken, until the file `stop` is there.
lane_of() { # writer
    awk -v w="$1" -v batch=$batch -v head="$head" -v barrier="$(barrier 1 0)" 'BEGIN {
        print head
        for (n = 0; (getline line <"stop") < 0; close("stop"))
            for (end = n + batch; n < end; n++)
                printf "{\"type\":\"event\",\"at\":\"t/%d/%d\",\"ts\":1,\"values\":{\"id\":%d}}\n", w, n, w * 100000000 + n
        print barrier
        printf "{\"type\":\"end\",\"lines\":{\"stream\":1,\"event\":%d,\"barrier\":1}}\n", n
    }'
}

# The last id of each writer, by the writers' order, commas between.
places() { ch "SELECT max(id) FROM shop.$t GROUP BY intDiv(id, 100000000) ORDER BY 1" | paste -sd ,; }

# Every writer has come past its place of those given, if it had one: all of them are at work.
past() {
    local many
    many=$(ch "SELECT countIf(last > arrayElement([$1]::Array(Int64), w + 1))
        FROM (SELECT intDiv(id, 100000000) AS w, max(id) AS last FROM shop.$t GROUP BY w)")
    [ "$many" = $writers ]
}

@test "the engine is killed under many writers: nothing is lost" {
    table 'id Int64' 10000
    local w at='' kills=${KILLS:-3} pids=()
    for ((w = 0; w < writers; w++)); do
        mkdir "cap$w"
        lane_of $w | ch-sink --url="$CH_URL" --user=default --password-file="$CH_DIR/secret/default" --database=shop \
            --table="$t" --job=1 --operator=3 --subtask=$w --attempt=a --capture-dir="cap$w" --batch-rows=$batch \
            >"out$w" 2>"err$w" &
        pids+=($!)
    done
    # A server that goes while a writer looks for its table would stop it.
    for ((; kills > 0; kills--)); do
        soon past "$at"
        "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
        "$OWED_ROOT/tests/services/clickhouse" up --dir="$CH_DIR" >/dev/null
        at=$(places)
    done
    soon past "$at"
    touch stop
    for ((w = 0; w < writers; w++)); do
        wait "${pids[w]}" || { cat "err$w"; false; }
    done
    cat cap?/op-3/subtask-?/epoch-1.sink.json >ledgers
    local owed there rows resends anew twice
    owed=$(jq -s 'map(.capture.seen) | add' ledgers)
    read -r there rows <<<"$(ch "SELECT uniqExact(id), count() FROM shop.$t")"
    resends=$(jq -s '[.[].ledger[] | select(.in_doubt) | .attempts - 1] | add // 0' ledgers)
    anew=$(jq -s '[.[].ledger[] | select(.restarted)] | length' ledgers)
    twice=$(jq -s '[.[].ledger[] | select(.resend == "may_duplicate") | .rows * (.attempts - 1)] | add // 0' ledgers)
    echo "# $owed rows owed, $there there; $resends resends, $anew INSERTs across a restart; $((rows - there)) rows twice" >&3
    [ "$there" = "$owed" ]
    [ $((rows - there)) -le "$twice" ]
    [ "$anew" -gt 0 ]
    run -0 jq -s '[.[].ledger[] | select(.restarted and (.tokens < 2 or .resend != "may_duplicate"))] | length' ledgers
    [ "$output" = 0 ]
}
