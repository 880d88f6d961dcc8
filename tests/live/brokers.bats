#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A cluster of three brokers with every record on all of them: the leader killed under a reader of exact ranges, and under a
# job. BROKER_RECORDS is how many the reader's log holds.
# shellcheck disable=SC2154 # the services set what they print
bats_require_minimum_version 1.5.0
load job

setup_file() { jobs_up --brokers=3; }
setup() {
    jobs_need
    cd "$BATS_TEST_TMPDIR" || return 1
    reading=''
}
teardown() {
    [ -z "$reading" ] || kill "$reading" 2>/dev/null || true
    jobs_end
}
teardown_file() { jobs_down; }

service() { "$root/tests/services/kafka" "$@"; }
leader() { # topic, partition: the number of its leader
    kcat -b "$KAFKA_BOOTSTRAP" -L -t "$1" 2>/dev/null | sed -n "s/^    partition $2, leader \([0-9]*\),.*/\1/p"
}

# Until the partition has another leader than that.
moves_on() { # topic, partition, leader
    local now tries
    for ((tries = 0; tries < 600; tries++)); do
        now=$(leader "$1" "$2")
        [[ ! $now =~ ^[1-9]$ ]] || [ "$now" = "$3" ] || return 0
        sleep 0.2
    done
    return 1
}

# The broker is there again, and has what the others have.
comes_back() { # broker, topic
    local tries
    service up --dir="$KAFKA_DIR/$1" >/dev/null
    for ((tries = 0; tries < 600; tries++)); do
        [ "$(kcat -b "$KAFKA_BOOTSTRAP" -L -t "$2" 2>/dev/null | grep -cE 'isrs: [1-3],[1-3],[1-3]$')" -ne 2 ] || return 0
        sleep 0.2
    done
    return 1
}

@test "a leader killed under a reader of exact ranges: every offset once, in order, and the account whole" {
    local n=${BROKER_RECORDS:-60000} lead taking
    kafka create-topic "t$id" 2
    # wide ones, so that what was read ahead before the kill is a small part
    seq 1 "$n" | awk '{ printf "{\"partition\":%d,\"key\":\"%d\",\"value\":\"%d%600s\"}\n", $1 % 2, $1, $1, "." }' | kafka produce "t$id"
    log-look -b "$KAFKA_BOOTSTRAP" -t "t$id" | scope-declare --key=id --column=id:Int64 --table=shop.t --range=ALL --out=scope.json >/dev/null
    mkfifo pipe
    kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --account --deadline-s=600 >pipe 2>err 3>&- &
    reading=$!
    # whoever takes the lines waits in their midst until the leader is another
    awk -v at=$((n / 4)) '{ print } NR == at { system("touch there; until [ -e go ]; do sleep 0.05; done") }' <pipe >out 3>&- &
    taking=$!
    until [ -e there ]; do kill -0 "$taking"; sleep 0.05; done
    lead=$(leader "t$id" 0)
    service kill --dir="$KAFKA_DIR/$lead"
    moves_on "t$id" 0 "$lead"
    touch go
    wait "$reading"
    wait "$taking"
    reading=''
    comes_back "$lead" "t$id"
    [ "$(grep -c '^{"type":"record"' out)" -eq "$n" ]
    for p in 0 1; do
        grep "\"partition\":$p," out | sed -n 's/^{"type":"record".*"offset":\([0-9]*\),.*/\1/p' | cmp - <(seq 0 $((n / 2 - 1)))
    done
    jq -es --argjson n "$n" 'map(select(.type == "account"))[0] | .complete and ([.ranges[] | .delivered] | add) == $n' \
        <(grep '^{"type":"account"' out)
}

@test "leaders killed under a job, one after another: it goes on by itself, and the table holds what is owed" {
    local lead first=1
    prepare 2 '' "$every_300_ms"
    start
    for round in 1 2; do
        produce "t$id" "$first" $((first + 199))
        wait_keys "t$id" $((first + 199))
        lead=$(leader "t$id" $((round - 1)))
        service kill --dir="$KAFKA_DIR/$lead"
        moves_on "t$id" $((round - 1)) "$lead"
        produce "t$id" $((first + 200)) $((first + 399))
        wait_keys "t$id" $((first + 399))
        comes_back "$lead" "t$id"
        first=$((first + 400))
    done
    jobs_stop
    run -0 --separate-stderr "$root/pipelines/audit" --topic="t$id" --table="shop.t$id" --key=event_id --range=ALL --from=seen:ms \
        --bootstrap="$KAFKA_BOOTSTRAP" --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=0 --json \
        -- jq -c '{at: "\(.topic)/\(.partition)/\(.offset)", values: .value}'
    [ "$(jq -r .verdict <<<"$output")" = passed ]
    [ "$(jq '.summaries[0].keys' <<<"$output")" -eq 800 ]
    # one attempt did it all
    [ "$(grep -c ': attempt' "$work/job-$id.log")" -eq 1 ]
}
