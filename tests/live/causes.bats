#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Why rows are missing, on real services: a writer in a consumer group that lags, that loses what it has read, whose batch the
# server refuses for one row, whose keys go through a double; rows deleted by a mutation, and a table that was emptied.
bats_require_minimum_version 1.5.0

setup_file() {
    export root work=$BATS_FILE_TMPDIR lack=''
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    sources
    services_up 2>"$work/services.err" || lack=$(tail -n 1 "$work/services.err")
    [ -n "$lack" ] || sql 'CREATE DATABASE shop'
}

sources() {
    # shellcheck source=tests/programs.bash
    . "$root/tests/programs.bash"
    # shellcheck source=examples/stage.bash
    . "$root/examples/stage.bash"
}

setup() {
    if [ -n "$lack" ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "$lack" >&2; return 1; }
        skip "$lack"
    fi
    sources
    services_env
    cd "$BATS_TEST_TMPDIR" || return 1
    topic="t$BATS_TEST_NUMBER"
    kafka create-topic "$topic" 1
    sql "CREATE TABLE shop.$topic (id UInt64, amount Decimal(9, 2)) ENGINE = MergeTree ORDER BY id"
}

teardown_file() {
    . "$root/examples/stage.bash"
    services_down
}

# records FIRST LAST [ID WITH-AMOUNT]: into the topic.
records() {
    seq -f %.0f "$1" "$2" | jq -cR --arg odd "${3:-}" --arg amount "${4:-}" \
        '{partition: 0, value: "{\"id\":\(.),\"amount\":\(if . == $odd then $amount else "\(.[-2:]).25" end)}"}' | kafka produce "$topic" >/dev/null
}

# take N: the next N records that the group reads and commits, one a line.
take() { kcat -b "$KAFKA_BOOTSTRAP" -q -G "loader-$topic" -X auto.offset.reset=earliest -c "$1" -f '%s\n' "$topic"; }
# write: the rows of standard input as one INSERT; what the server refuses is dropped.
write() { sql "INSERT INTO shop.$topic FORMAT JSONEachRow $(cat)" >answer 2>&1 || true; }

rules='{at: "\(.topic)/\(.partition)/\(.offset)", values: .value}'

# led CODE [ARGUMENT…]: the audit fails and leads with this code.
led() {
    local status=0
    "$root/pipelines/audit" --topic="$topic" --table="shop.$topic" --range=ALL --key=id --bootstrap="$KAFKA_BOOTSTRAP" --url="$CH_URL" --user=reader \
        --password-env=READER_PASSWORD --settle-ms=10 --json "${@:2}" -- jq -c "$rules" >report.json 2>stderr || status=$?
    [[ $status = 1 && $(jq -r .code report.json) = "$1" ]] || { jq -c '[.exit, .code, .answer]' report.json; cat stderr; return 1; } >&2
}

@test "what its consumer has not come to, and what it has read and lost" {
    records 1 30
    take 20 | write
    led rows-late
    jq -e '.not_established | any(startswith("whether a consumer has read the records of the missing rows"))' report.json
    led consumer-stopped --group="loader-$topic"
    jq -e '.answer | endswith("members) had not come to all of them; all that is missing is the newest stretch of \("'"$topic"'")/0, offsets 20 to 29")' report.json
    take 10 >/dev/null
    led rows-passed-over --group="loader-$topic"
    jq -e '.facts.at == "'"$topic"'/0/20" and (.about | tostring | contains("group loader-'"$topic"' (Empty, 0 members) has committed in 1 partitions of '"$topic"', 0 offsets short of their ends"))' report.json
}

@test "a lost batch, with the times of its records as the log has them" {
    local status=0 of=([10]='' [19]='') i
    # a second apart, from 2026-11-30T02:00:00.123Z on
    seq 1 30 | jq -c '{partition: 0, ts: (1796004000123 + (. - 1) * 1000), value: "{\"id\":\(.),\"amount\":\(.).25}"}' | kafka produce "$topic" >/dev/null
    take 10 | write
    take 10 >/dev/null
    take 10 | write
    for i in "${!of[@]}"; do of[i]=$(kcat -b "$KAFKA_BOOTSTRAP" -q -C -t "$topic" -p 0 -o "$i" -c 1 -f %T); done
    led rows-missing
    jq -e --argjson oldest "${of[10]}" --argjson newest "${of[19]}" '(.summaries[0].runs | length == 1 and (.[0] |
        [.first, .last, .oldest_ts, .newest_ts] == [10, 19, $oldest, $newest])) and [.findings[].ts] == [range($oldest; $newest + 1; 1000)]' report.json
    "$root/pipelines/audit" --topic="$topic" --table="shop.$topic" --range=ALL --key=id --bootstrap="$KAFKA_BOOTSTRAP" --url="$CH_URL" --user=reader \
        --password-env=READER_PASSWORD --settle-ms=10 -- jq -c "$rules" >report 2>stderr || status=$?
    [ "$status" = 1 ]
    grep -qxF "    missing     $topic/0 offsets 10..19: 10 rows, such as id=11; records of 2026-11-30T02:00:10.123Z to 2026-11-30T02:00:19.123Z" report
}

@test "a batch that the server refuses for one row, which leads before lateness" {
    records 1 30 25 123456789012.25
    take 20 | write
    take 10 | write
    grep -q DB::Exception answer
    led batch-unfit
    jq -e '.facts.at == "'"$topic"'/0/24"' report.json
    led batch-unfit --group="loader-$topic"
}

@test "F09: rows that a mutation deleted" {
    records 1 10
    take 10 | write
    sql "ALTER TABLE shop.$topic DELETE WHERE id > 8 SETTINGS mutations_sync = 2"
    led rows-deleted
    led rows-deleted --group="loader-$topic"
}

@test "nothing at all: the table was emptied, which leaves no trace, or the writer writes elsewhere" {
    records 1 10
    take 10 | write
    sql "TRUNCATE TABLE shop.$topic"
    led none-landed
    led none-landed --group="loader-$topic"
    jq -e '.answer | contains("had committed past all of them")' report.json
}

@test "keys past 2^53 that went through a double" {
    records 9007199254740992 9007199254740999
    take 8 | awk '{ match($0, /[0-9]+/); printf "%s%.0f%s\n", substr($0, 1, RSTART - 1), substr($0, RSTART, RLENGTH) + 0, substr($0, RSTART + RLENGTH) }' | write
    led rows-under-another-key --group="loader-$topic"
    jq -e '.answer | contains("stand under [\"9007199254740992\"]")' report.json
}
