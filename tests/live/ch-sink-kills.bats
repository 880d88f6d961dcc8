#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Many ch-sinks at work while the engine is killed under them, again and again: no row is lost, and a row that is there
# twice is one of an INSERT whose ledger says that it may be. ROUNDS=250 is some 1000 resends and a quarter of an hour.
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

# The rows of all writers, by the server's count, are more than so many.
grown() { [ "$(ch "SELECT count() FROM shop.$t" 2>/dev/null || echo 0)" -gt "$1" ]; }

# Every writer has found its table: a server that goes while they look for it stops them.
begun() { [ "$(ch "SELECT uniqExact(intDiv(id, 100000000)) FROM shop.$t")" = $writers ]; }

@test "the engine is killed under many writers: nothing is lost" {
    table 'id Int64' 10000
    local w n=0 rounds=${ROUNDS:-3} pids=()
    for ((w = 0; w < writers; w++)); do
        mkdir "cap$w"
        lane_of $w | ch-sink --url="$CH_URL" --user=default --password-file="$CH_DIR/secret/default" --database=shop \
            --table="$t" --job=1 --operator=3 --subtask=$w --attempt=a --capture-dir="cap$w" --batch-rows=$batch \
            >"out$w" 2>"err$w" &
        pids+=($!)
    done
    soon begun
    for ((; rounds > 0; rounds--)); do
        soon grown "$n"
        "$OWED_ROOT/tests/services/clickhouse" kill --dir="$CH_DIR"
        "$OWED_ROOT/tests/services/clickhouse" up --dir="$CH_DIR" >/dev/null
        n=$(count)
    done
    soon grown "$n"
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
