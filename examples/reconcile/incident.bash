# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The incidents: a job that crashes and restarts while it works, a job whose INSERT was in doubt, jobs whose evidence is
# not whole, and a job that writes a kind of table that is not supported.

make_incidents() {
    sql 'CREATE DATABASE shop'
    main_incident
    resend_incident
    evidence_incidents
    replacing_incident
}

restored_record() { # key of job 1's restore record
    sed -n "s/^$1=//p" "$work/job-1/ckpt/_jobs/1/RESTORED" 2>/dev/null
}

# Kill the sink between the INSERT and the barrier, which nobody has asked for yet: what the crash leaves in the table is written
# again by the restart. All of it, since the last checkpoint, before the restarted job's first barrier is asked for.
crash_the_sink() { # the last order that is covered
    local covered=$1 before
    before=$(newest 1)
    produced=$((covered + 200))
    produce orders $((covered + 1)) "$produced"
    wait_for rows_in orders "$produced"
    crash 1 ch-sink 0
    wait_for rows_in orders $((produced + 200))
    checkpoint 1
    restore=$(restored_record checkpoint) restored=$(restored_record next)
    [ "$restore" -eq "$before" ] && [ "$(interval_rows 1 "$restored")" -eq 200 ] && return
    echo "demo: restored from $restore, not $before, with $(interval_rows 1 "$restored") rows in its first interval" >&2
    return 1
}

main_incident() {
    echo "a job from a topic of 2 partitions to shop.orders, with a crash and a restart…"
    table orders 'MergeTree ORDER BY event_id SETTINGS non_replicated_deduplication_window = 100'
    kafka create-topic orders 2
    spec 1 orders orders
    "$root/pipelines/job" --spec="$work/1.json" --dir="$work/job-1" --parallelism=2 2>"$work/job-1.log" &
    runner=$!
    produce orders 1 500
    produce_aborted orders 900001 900100
    produce orders 501 1000
    wait_keys orders 1000
    checkpoint 1
    crash_the_sink 1000
    produce orders $((produced + 1)) $((produced + 120))
    wait_keys orders $((produced + 120))
    checkpoint 1
    # One of the later rows, and one of none.
    good=$(newest 1)
    checkpoint 1
    empty=$(newest 1)
    pack 1 incident "${whole[@]}" --epochs="1-999"
    pack 1 incident-bare --include-state --commit-confirmation=no
    kill -TERM "$runner"
    wait "$runner" 2>/dev/null || true
    runner=''
    replayed=$restored
    echo "  restored from $restore, first epoch $restored; checkpoint $good owes $(interval_rows 1 "$good") rows"
}

# A table without a deduplication window; the connection is cut after an INSERT was executed.
resend_incident() {
    echo "a job whose connection is cut after an INSERT was executed…"
    table orders_resent 'MergeTree ORDER BY event_id'
    kafka create-topic resent 2
    produce resent 1 300
    spec 2 resent orders_resent
    fault "when=after&match=$(insert_into orders_resent)"
    job 2 --stop-at-end
    pack 2 incident-resent "${whole[@]}" --epochs=1-999
    resent=$(first_with_rows 2)
}

first_with_rows() { # job
    local n
    for ((n = 1; n <= $(newest "$1"); n++)); do
        [ "$(interval_rows "$1" "$n")" -eq 0 ] || { echo "$n"; return; }
    done
}

evidence_incidents() {
    echo "jobs whose recorder is bounded too low, and not armed…"
    table orders_cut 'MergeTree ORDER BY event_id'
    kafka create-topic cut 2
    produce cut 1 200
    spec 3 cut orders_cut
    jq '.capture_records = 5' "$work/3.json" >"$work/3.json.new"
    mv "$work/3.json.new" "$work/3.json"
    job 3 --stop-at-end
    pack 3 incident-cut "${whole[@]}" --epochs=1-999
    table orders_unarmed 'MergeTree ORDER BY event_id'
    spec 4 cut orders_unarmed
    job 4 --stop-at-end --no-capture
    pack 4 incident-unarmed "${whole[@]}" --epochs=1-999
}

replacing_incident() {
    table orders_replacing 'ReplacingMergeTree ORDER BY event_id'
    spec 5 cut orders_replacing
    job 5 --stop-at-end
    pack 5 incident-replacing "${whole[@]}" --epochs=1-999
}
