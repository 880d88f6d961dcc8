# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Orders, the two references of them, and running an audit; for the demonstration and its tests.

# The independent reference: another Kafka client, another JSON reader.
reference() { # scope document, artifact, more options
    "${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python" "$root/examples/reference/reference" --scope="$1" --out="$2" \
        --bootstrap="$KAFKA_BOOTSTRAP" --rules="$root/examples/reference/orders.py" "${@:3}"
}

# The same rules in jq, for what runs a program itself.
jq_rules=(jq -c -f "$root/examples/reference/orders.jq")

# Orders first to last, alternately in both partitions: every value a plain function of its number. Each tenth is a test, which
# owes nothing; serial is past 2^53, where a double has no odd numbers. A third argument is printed in the place of "seen".
placed_orders() { # first, last, [format of seen]
    awk -v a="$1" -v b="$2" -v seen="${3:-%.0f}" 'BEGIN {
        for (i = a; i <= b; i++) {
            value = sprintf("{\"event_id\":%d,\"customer\":\"c%03d\",\"amount\":\"%d.%04d\",\"seen\":" seen ",\"score\":%s,\"note\":%s,\"serial\":9007199254%06d%s}",
                i, i % 97, i, i % 10000, 1758000000000 + i * 1000, i / 8, i % 3 == 0 ? "null" : "\"n" i "\"", 740993 + 2 * i,
                i % 10 == 0 ? ",\"test\":true" : "")
            gsub(/"/, "\\\"", value)
            printf "{\"partition\":%d,\"key\":\"%d\",\"value\":\"%s\"}\n", i % 2, i, value
        }
    }'
}

send_orders() { # topic, then placed_orders' arguments
    placed_orders "${@:2}" | kafka produce "$1"
}

orders_table() { # name
    sql "CREATE TABLE shop.$1 (event_id Int64, customer String, amount Decimal(18, 4), seen DateTime64(6), score Float64,
        note Nullable(String), serial UInt64) ENGINE = MergeTree ORDER BY event_id"
}

# Audit; the report goes to $work/report.json and the status is returned.
audit() { # arguments of pipelines/audit, a program last
    local status=0 more=()
    [ -z "$fixtures" ] || more+=(--out="$fixtures/$scenario")
    [[ " $* " != *' -- '* ]] || more+=(--reference-name=orders.jq --reference-version=1)
    "$root/pipelines/audit" --key=event_id --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=50 --json "${more[@]}" "$@" >"$work/report.json" 2>"$work/stderr" || status=$?
    return "$status"
}

# Every check's status, the worst of its makers.
statuses='(reduce .made[] as $c ({}; .[$c.name] |= ([., $c.status] | map(select(. != null)) | if index("failed") then "failed" elif index("unavailable") then "unavailable" elif index("unsupported") then "unsupported" else "passed" end)))'

# Each relationship that was checked: its check's status, and what differs.
relations="$statuses"' as $checks
    | (INDEX(.summaries[]; .relation) | map_values([(.missing.rows, .changed.rows, .duplicated.surplus, .unexpected.rows)])) as $rows
    | [["transformation", "reference.capture"], ["delivery", "reconcile.rows"], ["reference-destination", "reference.destination"],
       ["coverage", "destination.coverage"]]
    | map(select($checks[.[1]]) | "\(.[0]) \($checks[.[1]])" + (
        [[$rows[.[0]] // [], ["missing", "changed", "duplicated", "unexpected"]] | transpose[] | select((.[0] // 0) > 0) | "\(.[0]) \(.[1])"]
        | if . == [] then "" else " (\(join(", ")))" end))
    | join(", ")'

checks() { # name=status…: the condition that says so of each
    local c out=true
    for c in "$@"; do out+=" and ${statuses}[\"${c%=*}\"] == \"${c#*=}\""; done
    printf '(%s)' "$out"
}

summary() { # relation missing changed surplus unexpected
    printf '(.summaries[] | select(.relation == "%s") | .missing.rows == %s and .changed.rows == %s and .duplicated.surplus == %s and .unexpected.rows == %s)' "$@"
}
