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

# Kill the sink between the INSERT and the barrier: what the crash leaves in the table is written again by the restart.
# Where a barrier came first, or the restart's first interval closed before it had read anything, it is done again.
crash_the_sink() {
    local before attempts tries
    produced=1000
    for ((tries = 0; tries < 10; tries++)); do
        wait_checkpoints 1 1
        before=$(newest 1)
        attempts=$(grep -c ': attempt' "$work/job-1.log")
        produce orders $((produced + 1)) $((produced + 200))
        produced=$((produced + 200))
        wait_keys orders $(($(keys_in orders) + 1)) || true
        sleep 0.15
        [ "$(newest 1)" -eq "$before" ] || continue
        kill -KILL "$(job_pids "$runner" ch-sink 0 | head -n 1)" || true
        until [ "$(grep -c ': attempt' "$work/job-1.log")" -gt $((attempts + 1)) ]; do sleep 0.05; done
        wait_keys orders "$produced"
        wait_checkpoints 1 1
        restore=$(restored_record checkpoint) restored=$(restored_record next)
        if [ "$restore" -eq "$before" ] && [ "$(interval_rows 1 "$restored")" -gt 0 ]; then return; fi
    done
    echo "demo: the crash never fell between an INSERT and its barrier" >&2
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
    crash_the_sink
    wait_checkpoints 1 1
    produce orders $((produced + 1)) $((produced + 120))
    wait_keys orders $((produced + 120))
    wait_checkpoints 1 2
    pack 1 incident "${whole[@]}" --epochs="1-999"
    pack 1 incident-bare --include-state --commit-confirmation=no
    kill -TERM "$runner"
    wait "$runner" 2>/dev/null || true
    runner=''
    # The checkpoint that the restored run's first rows belong to, one of later rows, and one of none.
    replayed=$restored good='' empty=''
    for ((n = restored; n <= $(newest 1); n++)); do
        [ -e "$work/incident/checkpoint/_jobs/1/COMPLETED-$n" ] || continue
        rows=$(interval_rows 1 "$n")
        if [ "$n" -gt "$restored" ] && [ "$rows" -ge 60 ]; then good=$n; fi
        [ "$rows" -ne 0 ] || [ "$n" -eq "$restored" ] || empty=$n
    done
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
