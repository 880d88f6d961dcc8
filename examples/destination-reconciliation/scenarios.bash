# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Audits of the jobs' bundles: of what the jobs compute, of faults of the table, of the whole table, of references that do not fit.

cut_scope() { # bundle, checkpoint, scope document, more options of scope-cut
    offline bundle-check "$1" | offline scope-cut --checkpoint="$2" --key=event_id --from-run-start --out="$3" "${@:4}" >/dev/null 2>"$work/stderr"
}

# Audit a job's bundle, over its whole run, against the reference in Python. Its artifact is made once a bundle and coverage.
audited() { # job, more options: those of the scope first
    local job=$1 bundle=${bundles[$1 - 1]} checkpoint cover=() made
    shift
    checkpoint=$(last_with_rows "$job")
    case ${1:-} in --coverage=*) cover=("$1" --max-table-rows=100000) && shift ;; esac
    made=$bundle${cover[0]:+-whole}
    if [ ! -e "$made.reference" ]; then
        cut_scope "$bundle" "$checkpoint" "$made.scope" "${cover[@]:0:1}" || true
        reference "$made.scope" "$made.reference" 2>"$work/stderr" || true
    fi
    audit --bundle="$bundle" --checkpoint="$checkpoint" --from-run-start "${cover[@]}" --reference="${REFERENCE:-$made.reference}" "$@"
}

job_scenarios() {
    local wrong=(reference.scope=passed reconcile.destination=passed reference.capture=failed reconcile.rows=passed reference.destination=failed)
    expect 'the job as specified' 0 "$(checks reference.scope=passed reference.capture=passed reconcile.rows=passed reference.destination=passed)" \
        "$relations" audited 1
    expect 'the same against the rules in jq' 0 "$(checks reference.capture=passed reference.destination=passed)" "$relations" \
        audit --bundle=orders --checkpoint="$(last_with_rows 1)" --from-run-start --bootstrap="$KAFKA_BOOTSTRAP" -- "${jq_rules[@]}"
    expect 'a wrong projection' 1 "$(checks "${wrong[@]}") and $(summary transformation 0 360 0 0)" "$relations" audited 2
    expect 'a filter that drops valid rows' 1 "$(checks "${wrong[@]}") and $(summary transformation 120 0 0 0)" "$relations" audited 3
    expect 'a filter that lets others through' 1 "$(checks "${wrong[@]}") and $(summary transformation 0 0 0 40)" "$relations" audited 4
    expect 'a projection that loses digits past 2^53' 1 "$(checks "${wrong[@]}") and ([.findings[].differ] | unique == [[\"serial\"]])" "$relations" audited 5
    expect 'equal counts and totals over different rows' 1 "$(checks "${wrong[@]}") and $(summary transformation 0 2 0 0)" "$relations" audited 6
}

# Run with a table changed by a statement; afterwards it is as before.
changed() { # table, statement, command
    local table=$1 status=0
    sql "CREATE TABLE shop.kept AS shop.$table ENGINE = MergeTree ORDER BY event_id"
    sql "INSERT INTO shop.kept SELECT * FROM shop.$table"
    sql "$2"
    "${@:3}" || status=$?
    sql "TRUNCATE TABLE shop.$table"
    sql "INSERT INTO shop.$table SELECT * FROM shop.kept"
    sql 'DROP TABLE shop.kept'
    return "$status"
}

table_scenarios() {
    local lost='DELETE WHERE event_id IN (11, 13, 15) SETTINGS mutations_sync = 1'
    expect 'faults of the table alone' 1 \
        "$(checks reference.capture=passed reconcile.rows=failed reference.destination=failed) and $(summary delivery 3 0 0 0)" "$relations" \
        changed orders "ALTER TABLE shop.orders $lost" audited 1
    expect 'of the job and of the table' 1 \
        "$(checks reference.capture=failed reconcile.rows=failed reference.destination=failed) and $(summary delivery 3 0 0 0)" "$relations" \
        changed projected "ALTER TABLE shop.projected $lost" audited 2
}

# Background merges would change the table's parts while it is read.
still() { # table, command
    local status=0
    sql "SYSTEM STOP MERGES shop.$1"
    "${@:2}" || status=$?
    sql "SYSTEM START MERGES shop.$1"
    return "$status"
}

coverage_scenarios() {
    local stray="INSERT INTO shop.orders SELECT 99000000, customer, amount, seen, score, note, serial FROM shop.orders LIMIT 1"
    local whole_table=--coverage=complete-table
    expect 'a row of an unrelated key, selected keys' 0 "$(checks reference.destination=passed reconcile.rows=passed)" "$relations" \
        changed orders "$stray" audited 1
    expect 'a row of an unrelated key, whole table' 1 "$(checks destination.coverage=failed reference.destination=passed)" "$relations" \
        still orders changed orders "$stray" audited 1 "$whole_table"
    expect 'the job as specified, whole table' 0 "$(checks destination.coverage=passed reference.destination=passed)" "$relations" \
        still orders audited 1 "$whole_table"
    expect 'an empty output, selected keys' 3 "$(because 'nothing is owed and nothing was received')" "$reasons" audited 7
    expect 'an empty output, whole table' 0 "$(checks destination.coverage=passed reference.destination=passed)" "$relations" audited 7 "$whole_table"
    expect 'an empty output, and a row in the table' 1 "$(checks destination.coverage=failed)" "$relations" \
        still quiet changed quiet "${stray/INTO shop.orders/INTO shop.quiet}" audited 7 "$whole_table"
}

# The artifact with its header edited, and its hash put right: a whole reference for another scope.
forge() { # edit of the scope, in jq
    head -n 1 orders.reference | jq -c ".scope |= ($1)" >forged
    { cat forged; sed '1d;$d' orders.reference; tail -n 1 orders.reference | jq -c --arg h "$(sha256sum <forged | cut -d' ' -f1)" '.header_sha256 = $h'; } >forged.reference
    REFERENCE=forged.reference audited 1
}

of_checkpoint() { # the reference of another checkpoint
    cut_scope orders "$1" other.scope || true
    reference other.scope other.reference 2>"$work/stderr"
    REFERENCE=other.reference audited 1
}

unfinished() {
    sed '$d' orders.reference >unfinished.reference
    REFERENCE=unfinished.reference audited 1
}

recreated() {
    kafka delete-topic orders
    # The broker may take a moment to let the old one go.
    await 'the end of the deleted topic' kafka create-topic orders 2 2>/dev/null
    send_orders orders 1 400
    reference orders.scope orders.again 2>"$work/stderr" || true
    REFERENCE=orders.again audited 1
}

reference_scenarios() {
    expect 'a reference for another checkpoint' 2 "$(because 'checkpoint')" "$reasons" of_checkpoint "$(($(last_with_rows 1) + 1))"
    expect 'a reference for another run' 2 "$(because 'attempts')" "$reasons" forge '.bundle.sink.attempts[0] = "1-0123456789abcdef"'
    expect 'a reference for another topic of the name' 2 "$(because 'topic_id')" "$reasons" forge '.sources[0].topic_id = "AAAAAAAAAAAAAAAAAAAAAA"'
    expect 'a reference for another schema' 2 "$(because 'columns')" "$reasons" forge '.columns[2].type = "Decimal(18, 2)"'
    expect 'a reference that is unfinished' 2 "$(because 'end')" "$reasons" unfinished
    expect 'a reference that is incomplete' 3 "$(because 'max-records|bound')" "$reasons" \
        audit --bundle=orders --checkpoint="$(last_with_rows 1)" --from-run-start --bootstrap="$KAFKA_BOOTSTRAP" --max-records=10 -- "${jq_rules[@]}"
    expect 'the topic recreated before the reference was made' 3 "$(because 'recreated|id')" "$reasons" recreated
}
