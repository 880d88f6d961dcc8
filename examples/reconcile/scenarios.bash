# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Each scenario changes the live table (or the connection, or the request), reconciles, and puts the table back.

# The keys of the good checkpoint's scope, by their place in it.
key() { # n-th, from 1
    sed -n "$1p" "$work/keys"
}

# Run with the table changed by a statement; then the rows of the scope are put back from the copy.
with() { # statement, then reconcile's arguments
    sql "$1"
    shift
    local status=0
    reconcile "$@" || status=$?
    sql "ALTER TABLE shop.orders DELETE WHERE event_id >= $(key 1) SETTINGS mutations_sync = 1"
    sql "INSERT INTO shop.orders SELECT * FROM shop.keep WHERE event_id >= $(key 1)"
    return "$status"
}

run_scenarios() {
    sql 'CREATE TABLE shop.keep AS shop.orders ENGINE = MergeTree ORDER BY event_id'
    sql 'INSERT INTO shop.keep SELECT * FROM shop.orders'
    # A record's place is topic/partition/offset: the rows of partition 0 in offset order.
    offline bundle-check incident | offline scope-cut --checkpoint="$good" --key=event_id 2>/dev/null |
        jq -r 'select(.type == "row") | [(.at | split("/") | .[1], .[2] | tonumber), .cells[0]] | @tsv' | sort -k1,1n -k2,2n >"$work/places"
    cut -f3 "$work/places" | sort -n >"$work/keys"
    table_scenarios
    copy_scenarios
    verify_scenarios
    evidence_scenarios
    moment_scenarios
    connection_scenarios
    request_scenarios
    form_scenarios
}

alter() { # expression, condition: an ALTER UPDATE that is done when it returns
    printf 'ALTER TABLE shop.orders UPDATE %s WHERE %s SETTINGS mutations_sync = 1' "$1" "$2"
}

remove() { # condition
    printf 'ALTER TABLE shop.orders DELETE WHERE %s SETTINGS mutations_sync = 1' "$1"
}

table_scenarios() {
    local k batch zero
    k=$(key 7)
    batch=$(awk '$1 == 0' "$work/places" | sed -n '5,24p' | cut -f3 | paste -sd,)
    zero=$(awk '$1 % 10 == 0' "$work/keys" | head -n 1)
    expect 'the table untouched' 0 "$(counts 0 0 0 0)" "$kinds" reconcile incident "$good"
    expect 'a row deleted' 1 "$(counts 1 0 0 0)" "$kinds" with "$(remove "event_id = $k")" incident "$good"
    expect 'a batch of 20 records lost' 1 "$(counts 20 0 0 0) and (.runs | length == 1 and .[0].rows == 20)" \
        '.summaries[0].runs[0] | "one run: \(.topic)/\(.partition) offsets \(.first)..\(.last), \(.rows) rows"' \
        with "$(remove "event_id IN ($batch)")" incident "$good"
    expect 'one digit of a Decimal(18, 4)' 1 "$(counts 0 1 0 0)" "$kinds" \
        with "$(alter 'amount = amount + toDecimal64(0.0001, 4)' "event_id = $k")" incident "$good"
    expect 'one tick of a DateTime64(6)' 1 "$(counts 0 1 0 0)" "$kinds" \
        with "$(alter 'seen = addMicroseconds(seen, 1)' "event_id = $k")" incident "$good"
    expect 'the sign of a zero' 1 "$(counts 0 1 0 0)" "$kinds" with "$(alter 'score = -score' "event_id = $zero")" incident "$good"
    expect 'a row inserted twice, unexplained' 1 "$(counts 0 0 1 0) and .explained.unexplained == 1" "$kinds" \
        with "INSERT INTO shop.orders SELECT * FROM shop.keep WHERE event_id = $k LIMIT 1" incident "$good"
    expect 'a second row under an owed key' 1 "$(counts 0 0 0 1)" "$kinds" \
        with "INSERT INTO shop.orders SELECT event_id, 'other', amount, seen, score, note FROM shop.keep WHERE event_id = $k LIMIT 1" incident "$good"
    expect 'a row of another key' 0 "$(counts 0 0 0 0)" "$kinds" \
        with "INSERT INTO shop.orders SELECT 99000000, customer, amount, seen, score, note FROM shop.keep LIMIT 1" incident "$good"
    expect 'equal counts and totals over different rows' 1 "$(counts 0 2 0 0)" "$kinds" \
        with "$(alter "amount = if(event_id = $k, amount + 1, amount - 1)" "event_id IN ($k, $(key 9))")" incident "$good"
}

# Of a row whose INSERT was never in doubt.
one_more_copy() {
    local id
    id=$(sql 'SELECT event_id FROM shop.orders_resent GROUP BY event_id HAVING count() = 1 ORDER BY event_id LIMIT 1')
    sql "INSERT INTO shop.orders_resent SELECT * FROM shop.orders_resent WHERE event_id = $id"
    reconcile incident-resent "$resent"
}

copy_scenarios() {
    expect 'a resend that landed twice' 1 '.summaries[0] | .duplicated.surplus > 0 and .explained.resent == .duplicated.surplus' \
        '.summaries[0] | "\(.duplicated.surplus) surplus copies, \(.explained.resent) explained by the resend"' reconcile incident-resent "$resent"
    expect 'a copy that no evidence explains, beside them' 1 '.summaries[0] | .explained.unexplained == 1 and .explained.resent + 1 == .duplicated.surplus' \
        '.summaries[0] | "\(.duplicated.surplus) surplus copies, \(.explained.resent) explained, \(.explained.unexplained) not"' one_more_copy
    expect "a restore's replay" 1 '.summaries[0] | .duplicated.surplus > 0 and .explained.replayed == .duplicated.surplus and .missing.rows == 0 and .changed.rows == 0' \
        '.summaries[0] | "\(.duplicated.surplus) surplus copies, \(.explained.replayed) explained by the replay"' reconcile incident "$replayed"
}

# The bundle alone, elsewhere: nothing of the job and of its services is asked.
verified() { # bundle
    local status=0
    mkdir -p "$work/elsewhere" && cp -R "$1" "$work/elsewhere/"
    offline env -C "$work/elsewhere" "$root/pipelines/verify" "$1" --json >"$work/report.json" 2>"$work/stderr" || status=$?
    return "$status"
}

changed_bundle() {
    local file
    cp -R incident incident-changed
    file=$(find incident-changed/capture -name '*.cap' -size +1k | head -n 1)
    chmod u+w "$file" && printf '\n' >>"$file"
    verified incident-changed
}

verify_scenarios() {
    local consistent='[.checks[] | select(.status == "passed") | .name] | index("state.decode") and index("checkpoint.restore_rule")'
    local shown='"\([.checks[] | select(.status == "passed")] | length) checks passed with the network denied"'
    expect 'the bundle carried elsewhere and verified' 0 "$consistent" "$shown" verified incident
    expect 'a bundle in which one file has a line more' 1 '[.checks[] | select(.status == "failed") | .name] == ["bundle.artifacts"]' \
        "$reasons" changed_bundle
}

evidence_scenarios() {
    expect 'evidence missing' 3 "$(because 'captur|evidence')" "$reasons" reconcile incident-bare "$(newest_of incident-bare)"
    expect 'evidence truncated' 3 "$(because truncated)" "$reasons" reconcile incident-cut "$(first_with_rows 3)"
    expect 'evidence disarmed' 3 "$(because disarmed)" "$reasons" reconcile incident-unarmed "$(first_with_rows 4)"
    expect 'an interval without rows' 3 "$(because 'no row')" "$reasons" reconcile incident "$empty"
}

newest_of() { # bundle
    jq -r .checkpoint.id "$work/$1/manifest.json"
}

no_mutation() {
    [ "$(sql "SELECT count() FROM system.mutations WHERE table = 'orders' AND NOT is_done")" = 0 ]
}

pending_mutation() {
    sql 'SYSTEM STOP MERGES shop.orders'
    sql "ALTER TABLE shop.orders UPDATE customer = customer WHERE event_id = $(key 3) SETTINGS mutations_sync = 0"
    local status=0
    reconcile incident "$good" || status=$?
    sql 'SYSTEM START MERGES shop.orders'
    await 'the end of the mutation' no_mutation
    return "$status"
}

# The answer of the first read is kept back until the table is altered.
altered_between() {
    fault 'when=withhold&match=FROM%20%60shop%60.%60orders%60'
    (fault await=1 && sql 'ALTER TABLE shop.orders ADD COLUMN later UInt8'; fault release=1) &
    local status=0
    reconcile incident "$good" || status=$?
    wait $!
    sql 'ALTER TABLE shop.orders DROP COLUMN later SETTINGS mutations_sync = 1'
    return "$status"
}

moment_scenarios() {
    expect 'a mutation in progress' 3 "$(because mutation)" "$reasons" pending_mutation
    expect 'the table altered between the two reads' 3 "$(because 'definition|changed')" "$reasons" altered_between
}

killed_stage() {
    offline bundle-check incident | offline scope-cut --checkpoint="$good" --key=event_id |
        bash -c 'head -c 2000; kill -KILL $$' | offline rows-diff >"$work/last" 2>"$work/stderr" || true
    judge
}

connection_scenarios() {
    expect 'the server down' 3 "$(because connect)" "$reasons" reconcile incident "$good" --url=http://127.0.0.1:1
    expect 'a wrong password' 3 "$(because '516|password|authent')" "$reasons" reconcile incident "$good" --password-env=WRONG_PASSWORD
    expect 'a user who may not send settings' 3 "$(because 'setting')" "$reasons" \
        reconcile incident "$good" --user=readonly1 --password-env=READONLY1_PASSWORD
    expect 'a bound hit' 3 "$(because 'bound|396|max_result_rows|rows')" "$reasons" reconcile incident "$good" --max-rows-per-query=3
    expect 'a stage killed in the middle of the pipe' 3 '.input.kind == "unfinished" or (.stops | length > 0)' '[.stops[].reason] | unique | join("; ")' killed_stage
}

recreated() {
    sql 'RENAME TABLE shop.orders TO shop.aside'
    sql 'CREATE TABLE shop.orders AS shop.aside'
    sql 'INSERT INTO shop.orders SELECT * FROM shop.aside'
    local status=0
    reconcile incident "$good" || status=$?
    sql 'DROP TABLE shop.orders'
    sql 'RENAME TABLE shop.aside TO shop.orders'
    return "$status"
}

other_server() {
    "$root/tests/services/clickhouse" up --dir="$work/ch-other" >"$work/ch-other.env"
    local url password
    url=$(sed -n 's/^CH_URL=//p' "$work/ch-other.env")
    password=$(cat "$work/ch-other/secret/reader")
    sql_at "$url" "$work/ch-other" 'CREATE DATABASE shop'
    sql_at "$url" "$work/ch-other" "$(sql 'SHOW CREATE TABLE shop.orders FORMAT TSVRaw')"
    OTHER_PASSWORD=$password reconcile incident "$good" --url="$url" --password-env=OTHER_PASSWORD
}

old_server() {
    "$root/tests/services/clickhouse" up --line=18.16 --dir="$work/ch-old" >"$work/ch-old.env"
    local url user password
    url=$(sed -n 's/^CH_URL=//p' "$work/ch-old.env")
    user=$(sed -n 's/^CH_USER=//p' "$work/ch-old.env")
    password=$(sed -n 's/^CH_PASSWORD=//p' "$work/ch-old.env")
    OLD_PASSWORD=$password reconcile incident "$good" --url="$url" --user="$user" --password-env=OLD_PASSWORD
}

other_manifest() {
    offline bundle-check incident | sed '/"type":"bundle"/s/"manifest_sha256":"..../"manifest_sha256":"0000/' |
        offline scope-cut --checkpoint="$good" --key=event_id 2>"$work/stderr" |
        ch-read --url="$CH_URL" --user=reader --password-env=READER_PASSWORD 2>/dev/null | offline rows-diff >"$work/last" 2>/dev/null || true
    judge
}

request_scenarios() {
    expect 'the table recreated' 2 "$(because uuid)" "$reasons" recreated
    expect 'another server' 2 "$(because 'server')" "$reasons" other_server
    expect 'another job' 2 "$(because job)" "$reasons" reconcile incident "$good" --job=other
    expect 'a checkpoint that the bundle does not hold' 2 "$(because checkpoint)" "$reasons" reconcile incident 999999
    expect 'another manifest than the one checked' 2 "$(because manifest)" "$reasons" other_manifest
    expect 'a server of an old line' 3 "$(because '18.16|line')" "$reasons" old_server
}

form() { # statement, statement that undoes it
    sql "$1 SETTINGS mutations_sync = 1"
    local status=0
    reconcile incident "$good" || status=$?
    sql "$2 SETTINGS mutations_sync = 1"
    return "$status"
}

form_scenarios() {
    expect 'a table with a TTL' 3 "$(because TTL)" "$reasons" \
        form 'ALTER TABLE shop.orders MODIFY TTL toDateTime(seen) + INTERVAL 100 YEAR' 'ALTER TABLE shop.orders REMOVE TTL'
    expect 'a ReplacingMergeTree' 3 "$(because Replacing)" "$reasons" reconcile incident-replacing "$(first_with_rows 5)"
    expect 'a column type that has no cells' 3 "$(because 'FixedString|type')" "$reasons" \
        form 'ALTER TABLE shop.orders MODIFY COLUMN customer FixedString(40)' 'ALTER TABLE shop.orders MODIFY COLUMN customer String'
}
