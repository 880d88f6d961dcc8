# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# One job as it is specified and others with a deliberate defect, on the same topic, each with its own table and bundle.

right='select(.event_id != null and .test != true) | del(.test)'

bundles=(orders projected dropped let_through digits swapped quiet)

start_job() { # job, topic, table, program
    orders_table "$3"
    spec "$1" "$2" "$3"
    jq --arg p "$4" '.operators[0].program = $p' "$work/$1.json" >"$work/$1.json.new"
    mv "$work/$1.json.new" "$work/$1.json"
    "$root/pipelines/job" --spec="$work/$1.json" --dir="$work/job-$1" --parallelism=2 --stop-at-end 2>"$work/job-$1.log" &
    runner+=" $!" running+=("$!")
}

# Each job's bundle is called as its table.
make_jobs() {
    local pid n running=()
    echo "a job as specified and five with a defect, each from the same topic of 2 partitions to its own table…"
    kafka create-topic orders 2
    kafka create-topic quiet 2
    send_orders orders 1 300
    placed_orders 900001 900100 | kafka --transactional-id=aborted --abort produce orders
    send_orders orders 301 400
    placed_orders 1 40 | grep -F test | kafka produce quiet
    start_job 1 orders orders "$right"
    start_job 2 orders projected "$right | .customer |= ascii_upcase"
    start_job 3 orders dropped "$right | select(.note != null)"
    start_job 4 orders let_through 'select(.event_id != null) | del(.test)'
    start_job 5 orders digits "$right | .serial = (.serial[0:10] | tonumber) * 1000000 + (.serial[10:] | tonumber)"
    start_job 6 orders swapped "$right | .amount = ({\"7\": \"9.0009\", \"9\": \"7.0007\"}[.event_id] // .amount)"
    start_job 7 quiet quiet "$right"
    for pid in "${running[@]}"; do wait "$pid" || { tail -n 3 "$work"/job-?.log >&2; return 1; }; done
    for n in "${!bundles[@]}"; do
        pack $((n + 1)) "${bundles[n]}" "${whole[@]}" --epochs=1-999
    done
}

# The checkpoint that ends a job's rows: two quiet barriers stand behind it.
last_with_rows() { # job
    local n
    for ((n = $(newest "$1"); n >= 1; n--)); do
        [ "$(interval_rows "$1" "$n")" -eq 0 ] || break
    done
    echo "$((n > 0 ? n : 1))"
}
