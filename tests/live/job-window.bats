#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A job with a window, on a real broker and a real engine: what it counts and sums is what another program does, through kills of
# each of its processes, and its evidence is checked, replayed and held against the protocol.
# shellcheck disable=SC2154  # job.bash sets some
bats_require_minimum_version 1.5.0

load job

setup_file() { jobs_up; }
setup() { jobs_need; }
teardown() { jobs_end; }
teardown_file() { jobs_down; }

# Two maps, then a window of ten seconds a customer, then a map over its rows.
windowed() { # a filter over the spec
    kafka create-topic "t$id" 2
    sql "CREATE TABLE shop.t$id (start Int64, customer String, orders Int64, amount Decimal(18, 4)) ENGINE = MergeTree ORDER BY (start, customer)"
    spec "$id" "t$id" "t$id" '{"from": {}}'
    jq '.operators = [
            {type: "map", program: "select(.event_id != null)", numbers: "text"},
            {type: "map", program: "{customer: .customer[0:3], amount}", numbers: "text"},
            {type: "window", size_ms: 10000, partition_by: ["customer"],
             aggregates: [{function: "count", as: "orders"}, {function: "sum", column: "amount", as: "amount", scale: 4}]},
            {type: "map", uid: "named", program: "{start: .window_start, customer, orders, amount}", numbers: "text"}]
        | .source.idle_ms = 0 | '"${1:-.}" "$work/$id.json" >"$work/$id.new"
    mv "$work/$id.new" "$work/$id.json"
}

# What 1 to N come to, by awk: the windows that the least of both partitions' last times has passed.
expected() { # N
    orders 1 "$1" | jq -r '.value | fromjson | [.event_id, .seen, .customer[0:3], .amount] | @tsv' | awk -F'\t' '
        { last[$1 % 2] = $2; start = sprintf("%.0f", $2 - $2 % 10000); split($4, a, "."); k = start "\t" $3; n[k]++; sum[k] += a[1] * 10000 + a[2] }
        END { mark = last[0] < last[1] ? last[0] : last[1]
              for (k in n) { split(k, s, "\t"); if (s[1] + 10000 <= mark) printf "%s\t%d\t%.0f\n", k, n[k], sum[k] } }' | LC_ALL=C sort
}

there() {
    sql "SELECT DISTINCT start, customer, orders, toInt64(amount * 10000) FROM shop.t$id FORMAT TSV" | LC_ALL=C sort
}

distinct() { there | wc -l; }

collected() { # more options of bundle-pack
    bundle-pack --checkpoint-dir="$work/job-$id/ckpt" --job="$id" --ha-dir="$work/job-$id/ha" --capture-dir="$work/job-$id/capture" \
        --trace-dir="$work/job-$id/traces" --commit-confirmation=no --include-state --include-captures --out="$work/bundle-$id" "$@" \
        >"$work/packed-$id"
}

audited() { # with what differs, so 1
    run -1 "$root/pipelines/audit" --bundle="$work/bundle-$id" --checkpoint="$good" --key=start --key=customer --url="$CH_URL" --user=reader \
        --password-env=READER_PASSWORD --settle-ms=50 --json --report="$work/report-$id"
    jq -c '.summaries[0]' "$work/report-$id"
}

@test "windows to the topic's end are what another program counts and sums" {
    windowed
    produce "t$id" 1 600
    job "$id" --stop-at-end
    diff <(expected 600) <(there)
    [ "$(rows_in "t$id")" -eq "$(there | wc -l)" ]
    [ "$(there | wc -l)" -gt 100 ]
    grep -qx 'subtasks=0,1,2' "$work/job-$id/ckpt/_jobs/$id/COMPLETED-$(newest "$id")"
    [ "$(cat "$work/job-$id"/capture/op-*/subtask-*/op.json | jq -s -c '[.[] | [.operator_id // .operator, .uid]] | unique | map(.[1]) | sort')" = \
        '["map-2","map-3","named","sink","window"]' ]
}

@test "each process killed between its checkpoints: the windows are the same, and none is lost" {
    windowed '.checkpoint.retain = 20'
    start
    n=0
    for victim in row-window "row-map 0" lane-join kafka-tail ckpt-mark "row-window" "ch-sink 0" "cap-tee 0"; do
        produce "t$id" $((n + 1)) $((n + 100))
        n=$((n + 100))
        # So that each run has written again what the one before it wrote, and no interval but its first has any of that.
        await "windows of $n" at_least "$(expected $n | wc -l)" distinct
        checkpoint "$id"
        produce "t$id" $((n + 1)) $((n + 50))
        n=$((n + 50))
        await "windows of $n" at_least "$(expected $n | wc -l)" distinct
        # shellcheck disable=SC2086
        crash "$id" $victim
    done
    produce "t$id" $((n + 1)) $((n + 300))
    n=$((n + 300))
    await 'all windows' at_least "$(expected $n | wc -l)" distinct
    diff <(expected $n) <(there)
    checkpoint "$id"
    good=$(newest "$id")
    checkpoint "$id"
    checkpoint "$id"
    collected --epochs=1-999
    run -0 "$root/pipelines/verify" "$work/bundle-$id" --profile=full --op=4
    [[ $output == *replay.recorded_output*protocol.conformance* ]]
    # What the restart wrote again is all that differs, and is told from what nothing explains.
    audited
    jq -e '.summaries[0] | .missing.rows == 0 and .changed.rows == 0 and .unexpected.rows == 0 and .duplicated.surplus > 0
        and .explained.replayed == .duplicated.surplus' "$work/report-$id"
    sql "ALTER TABLE shop.t$id UPDATE amount = amount + 1 WHERE start = $(there | tail -n 1 | cut -f1) SETTINGS mutations_sync = 1"
    audited
    jq -e '.summaries[0] | .changed.rows > 0 and .missing.rows == 0' "$work/report-$id"
}
