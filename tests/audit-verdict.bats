#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# verdict with a reference: what the answer says, and that nothing cut, moved or put in by hand makes it pass.
# shellcheck disable=SC2154 # bats sets output, stderr and lines
bats_require_minimum_version 1.5.0
load stream

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
}

decide() { # STATUS [ARGUMENT…]: of the stream as it was edited
    local want=$1
    shift
    run "-$want" --separate-stderr verdict "$@" <"${from:-edited}"
}
whole_() { from=stream decide "$@"; }

@test "an audit of all three relations passes, and says what it rests on" {
    compose selected
    whole_ 0
    [[ ${lines[0]} == "PASSED: every required check passed (exit 0)" ]]
    [[ $output == *"orders/0 offsets [651, 711): 60 records (1 null), 0 offsets not delivered, as the reference records"* ]]
    [[ $output == *"orders/1 offsets [651, 711): 57 records, 3 offsets not delivered (2 aborted, 1 markers or absent), as the reference records"* ]]
    [[ $output == *"reference     orders 1.0, 120 rows"* ]]
    [[ $output == *"coverage      120 selected keys; the rest of the table is not established"* ]]
    [[ $output == *"verified here"*"reference.scope"*"only recorded in the reference"*"computed by orders 1.0, reading with librdkafka 2.15.1"* ]]
    [[ $output == *"checked by its writer: topic id, position past each end"* ]]
    [[ $output == *'first offsets given by the operator: {"orders/0":651}'* ]]
    [[ $output == *"the audit adds"*"only as independent as that is"* ]]
    whole_ 0 --json
    jq -e '(.relations | map(.relation + " " + .status)) == ["transformation passed", "delivery passed", "reference-destination passed"] and
        .coverage == {of: "selected-keys", whole_table_established: false, keys: 120, rows: 120} and .failed_first == null and
        (.accounts | length) == 1 and .accounts[0].recorded.ranges[1].aborted == 2 and
        (.assumptions | map(select(test("not selected"))) | length) == 1' <<<"$output"
}

@test "the whole table is established with the operator's declaration among the assumptions" {
    compose complete
    whole_ 0
    [[ $output == *"coverage      the whole table, 120 rows"* ]]
    [[ $output == *"declared by the operator"*"this one run's writes and nothing else"* ]]
    [[ $output != *"any other key"* ]]
    whole_ 0 --json
    jq -e '.coverage == {of: "complete-table", whole_table_established: true, keys: 120, rows: 120} and
        (.assumptions | map(select(test("operator declares"))) | length) == 1' <<<"$output"
    table_rows='., (select(.[0] == "1210") | .[0] = "999999")' compose complete
    whole_ 1
    [[ ${lines[0]} == "FAILED: coverage: unexpected 1 rows of 1 keys (exit 1)" ]]
    [[ $output == *"the whole table was asked for and is not established"* && $output == *"event_id=999999"* ]]
}

@test "F15: a pass of selected keys says in its first lines that only those were looked at" {
    run -0 --separate-stderr verdict <"$BATS_TEST_DIRNAME/../fixtures/audit/the-same-against-the-rules-in-jq/8-rows-diff.ndjson"
    [ "${lines[0]}" = "PASSED: every required check passed (exit 0)" ]
    [ "${lines[1]}" = "        for the 360 keys that are owed; rows of other keys were not looked at" ]
    compose complete
    whole_ 0
    [[ $output != *"not looked at"* ]]
}

@test "a declared scope: what only a bundle shows, and each id not given, is not established" {
    compose declared
    whole_ 0
    [[ $output == *"does shop.orders hold exactly what these offsets owe it"* ]]
    [[ $output == *"declared by the operator"*"declared, not established: topic id of orders, table UUID of orders"* ]]
    [[ $output == *"not established"*"what only a bundle can show"* ]]
    [[ $output == *"audit of a declared range"* && $output != *"third"* && $output != *"the sink received"* ]]
    [[ $output == *"reconcile.scope: the declaration is whole"* ]]
    whole_ 0 --json
    [ "$(jq -r .declared_not_established <<<"$output")" = "topic id of orders, table UUID of orders" ]
}

@test "B10: evidence without a topic id does not show that the reference read the same topic" {
    compose selected
    whole_ 0
    [[ $output != *"that the job read"* ]]
    scope_edit='.sources[0].topic_id = null' compose selected
    whole_ 0
    [[ $output == *"not established"*"that the reference read the orders that the job read: the evidence has no topic id"* ]]
}

@test "a column of the table that the scope does not name was not compared" {
    compose declared
    whole_ 0
    [[ $output != *"were not compared"* ]]
    edit 'if .type == "observation" then .columns += [{name: "made\u001b[1m", type: "DateTime"}, {name: "c", type: "UInt8"}] else . end'
    decide 0
    [[ $output == *"not established"*"the table's columns that were not compared: made"*", c"$'\n'* && $output != *$'\e'* ]]
    edit 'if .type == "observation" then .columns += [range(12) | {name: "c\(.)", type: "UInt8"}] else . end'
    decide 0
    [[ $output == *"not compared: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more"$'\n'* ]]
}

@test "the relation that failed first heads the report, with what it means" {
    captured_rows='if .[0] == "1210" then .[2] = "1" else . end' table_rows='if .[0] == "1210" then .[2] = "1" else . end' compose selected
    whole_ 1
    [[ ${lines[0]} == "FAILED: transformation: changed 1 rows of 1 keys (exit 1)" ]]
    [[ ${lines[1]} == *"the job computed other rows than the reference, before any write; what it computed was delivered" ]]
    [[ $output == *"transformation: 120 rows of the reference, 120 received by the sink: 1 changed"*"delivery: 120 rows owed, 120 found: no difference"* ]]
    [ "$(verdict --json <stream | jq -r .failed_first)" = reference.capture ]
    table_rows='select(.[0] != "1210")' compose selected
    whole_ 1
    [[ ${lines[0]} == "FAILED: delivery: missing 1 rows of 1 keys (exit 1)" && ${lines[1]} == *"what it received is what the reference computes" ]]
    captured_rows='select(.[0] != "1212")' table_rows='select(.[0] != "1210" and .[0] != "1212")' compose selected
    whole_ 1
    [[ ${lines[0]} == "FAILED: transformation: missing 1"* && ${lines[1]} == *"and the table does not hold what it computed" ]]
    table_rows='., select(.[0] == "1210")' compose selected
    whole_ 1
    [[ ${lines[1]} == *"some more than once; nothing explains 1 of the 1 surplus copies; what it received is what the reference computes" ]]
}

@test "one lost batch is one line, and what may be late says so with what to do" {
    table_rows='select((.[0] | tonumber) % 2 == 1 or (.[0] | tonumber) < 1250 or (.[0] | tonumber) > 1270)' compose selected
    whole_ 1
    [ "$(grep -c '^    missing     orders/' <<<"$output")" -eq 2 ] # in delivery and in reference-destination
    grep -qE '^    missing     orders/0 offsets [0-9]+\.\.[0-9]+: 11 rows, such as event_id=1250$' <<<"$output"
    table_rows='select((.[0] | tonumber) < 1300 or (.[0] | tonumber) % 2 == 1)' compose declared
    whole_ 1
    [[ ${lines[0]} == "FAILED: reference-destination: missing "*"all that is missing is the newest stretch of orders/0"*"may not have landed yet, and no consumer group was looked at, which would say (exit 1)" ]]
    [[ ${lines[2]} == "        rows-late: name the writer's consumer group to log-look with --group"* ]]
}

@test "nothing expected and an empty table pass whole, and not for selected keys" {
    export reference_rows=empty captured_rows=empty table_rows=empty
    compose complete
    whole_ 0
    [[ $output == *"no row is owed, and the table, read whole, holds none"* ]]
    compose selected
    whole_ 3
    [[ ${lines[0]} == "NOT DECIDED: delivery: nothing is owed and nothing was received"* && ${lines[1]} == "        empty: "* ]]
    compose declared
    whole_ 3
    [[ ${lines[0]} == "NOT DECIDED: reference-destination: no row names a key"* && ${lines[1]} == "        scope-empty: "* ]]
}

@test "a reference that says it is incomplete leaves the audit undecided, with the reason" {
    artifact_extra='{"complete": false, "reasons": ["orders/0: 122 offsets are gone"]}' compose selected
    whole_ 3
    [[ ${lines[0]} == "NOT DECIDED: reference.scope: the reference is incomplete: orders/0: 122 offsets are gone (exit 3)" ]]
    [[ $output == *"INCOMPLETE and not compared: orders/0: 122 offsets are gone"* ]]
    [[ $output == *"delivery: 120 rows owed, 120 found: no difference"* ]]
}

# ---- by hand ----

@test "what a passed audit rests on must be there: without it nothing is passed" {
    without() { # status, jq condition, words
        edit "select(($2) | not)"
        decide "$1"
        [[ ${lines[0]} != PASSED* && $stderr$output == *"$3"* ]] || { echo "$2: $stderr" >&2; return 1; }
    }
    for kind in selected complete declared; do
        compose $kind
        edit .
        decide 0
        without 3 '.type == "account"' "no account of a reference"
        without 3 '.type == "side" and .side == "reference"' "no side line of the reference's rows"
        without 3 '.type == "side" and .read == 2' "no side line of the destination's second read"
        without 3 '.type == "observation"' "no observation line"
        without 3 '.type == "scope"' "no scope line"
        without 3 '.type == "columns"' "no columns line"
        without 3 '.type == "summary" and .relation == "reference-destination"' "no summary of reference-destination"
        without 3 '.name == "reference.scope"' "no stage made this check"
        without 3 '.name == "reference.destination"' "no stage made this check"
        without 3 '.name == "reconcile.destination"' "no stage made this check"
        without 3 '.name == "reconcile.scope"' "no stage made this check"
        [ $kind != declared ] || continue
        without 3 '.type == "bundle"' "no bundle line"
        without 3 '.type == "side" and .side == "captured"' "no side line of the captured rows"
        without 3 '.type == "interval" and .epoch == 7 and .subtask == 1' "1 interval lines of the sink, and the scope has 2"
        without 3 '.type == "summary" and .relation == "transformation"' "no summary of transformation"
        without 3 '.name == "reference.capture"' "no stage made this check"
        without 3 '.name == "bundle.artifacts"' "no stage made this check"
        [ $kind != selected ] || continue
        without 3 '.type == "interval" and .epoch == 9 and .subtask == 1' "shows sink subtask 1 quiet for 2 barriers after checkpoint 7"
        without 3 '.name == "destination.coverage"' "no stage made this check"
        without 3 '.type == "summary" and .relation == "coverage"' "no summary of coverage"
    done
}

@test "a question is not made smaller by taking out its require line" {
    captured_rows='select(.[0] != "1212")' table_rows='select(.[0] != "1212")' compose selected
    edit 'select(.type != "require" or (.checks | index("reference.capture") | not))'
    decide 1
    edit 'select(.type != "require" or (.checks | index("reference.capture") | not)) | select(.type != "account")'
    decide 1
    table_rows='., (select(.[0] == "1210") | .[0] = "999999")' compose complete
    edit 'if .type == "require" then .checks -= ["destination.coverage"] else . end'
    decide 1
    table_rows='select(.[0] != "1210")' compose declared
    edit 'select(.type != "require")'
    decide 1
    # a declared scope that was never held against a reference establishes nothing
    compose declared
    edit 'select(.type != "account" and .type != "summary" and .side != "reference" and (.type != "check" or (.name | startswith("reference.") | not))) |
        if .type == "require" then .checks -= ["reference.scope", "reference.destination"] elif .type == "stream" then .stages |= map(select(.name != "ref-bind")) else . end'
    decide 3
    [[ $output == *"reference.destination"*"no stage made this check"* ]]
}

refuse_() { # jq filter, words
    edit "$1"
    run --separate-stderr verdict <edited
    [[ $status -eq 2 && ${lines[0]} == REFUSED* && $stderr == *"$2"* ]] || { echo "$1: $status, $stderr" >&2; return 1; }
}

@test "lines that contradict a passed audit refuse it" {
    compose selected
    refuse_ 'if .type == "account" then .complete = false else . end' "account of ref-bind is not complete"
    refuse_ 'if .type == "account" then .reasons = ["a gap"] else . end' "account of ref-bind is not complete"
    refuse_ 'if .type == "account" then .rows = 119 else . end' "not of the 120 rows"
    refuse_ 'if .type == "account" then ., . else . end' "a second account"
    # an account of its own, by a stage of the header
    reader='if .type == "stream" then .stages += [{name: "kafka-read", version: "1"}] elif .type == "account" then ., {type: "account", stage: "kafka-read", role: "reader"'
    refuse_ "$reader, complete: false, reasons: [\"orders/0: gone\"]} else . end" "account of kafka-read is not complete"
    refuse_ 'if .type == "account" then ., {type: "account", stage: "kafka-read", role: "reader", complete: true, reasons: []} else . end' "'kafka-read', which is no stage"
    refuse_ 'if .type == "account" then .recorded.ranges[0].complete = false else . end' "account of orders/0 is not complete"
    refuse_ 'if .type == "account" then .recorded.ranges[1] += {to: 720, complete: null} else . end' "account of orders/1 is of another range"
    refuse_ 'if .type == "account" then .recorded.ranges[1] += {from: 652, offsets: 59, delivered: 56} else . end' "account of orders/1 is of another range"
    refuse_ 'if .type == "account" then .recorded.ranges[1] += {position: 700, offsets: 49, delivered: 46, complete: false} else . end' "account of orders/1 is not complete"
    for kept in '.recorded.reader' '.'; do
        log='{topic: "orders", cluster_id: "other", topic_id: null}'
        [ "$kept" = . ] && put="$reader, complete: true, reasons: []" || put="if .type == \"account\" then $kept = {stage: \"kafka-read\""
        refuse_ "$put, isolation: \"read_uncommitted\"} else . end" "under another isolation"
        refuse_ "$put, logs: [$log]} else . end" "read another orders"
        refuse_ "$put, logs: [$log | .cluster_id = null | .topic_id = \"other\"]} else . end" "read another orders"
        refuse_ "$put, ranges: [.recorded.ranges[0] | . + {position: 660, offsets: 9, delivered: 9, complete: false}]} else . end" "account of orders/0 is not complete"
        refuse_ "$put, ranges: [.recorded.ranges[0]]} else . end" "kafka-read gives no account of orders/1"
    done
    refuse_ 'if .type == "account" then .recorded.program = {rows: 121} else . end' "program counts other rows than the 120"
    refuse_ 'if .side == "reference" and .type == "side" then .whole = false else . end' "the reference's rows are not whole"
    refuse_ 'if .side == "reference" and .type == "side" then .rows = 119 else . end' "not of the 119 rows"
    refuse_ 'if .side == "captured" and .type == "side" then .rows = 121 else . end' "count 120 rows, and the captured side 121"
    refuse_ 'if .type == "interval" and .subtask == 0 and .capture then .capture += {seen: 119, stored: 119} | .ledger[0].rows = 119 else . end' "count 119 rows, and the captured side 120"
    refuse_ 'if .type == "interval" and .subtask == 0 and .capture then ., . else . end' "stands twice"
    refuse_ 'if .type == "side" and .read == 1 then .rows = 121 else . end' "does not count the rows"
    refuse_ 'if .type == "side" and .read == 2 then ., . else . end' "a second side line"
    refuse_ 'if .type == "side" and .read == 2 then .read = 3 else . end' "a side that is not known"
    refuse_ 'if .type == "observation" then .reads[1].rows = 121 else . end' "does not count the rows"
    refuse_ 'if .type == "observation" then .reads = .reads[:1] else . end' "not of two reads"
    refuse_ 'if .type == "observation" then .keys = 119 else . end' "119 keys were read and 120 compared"
    refuse_ 'if .type == "observation" then .stable = null else . end' "observation.stable: not true or false"
    refuse_ 'if .name == "reference.scope" then .status = "unavailable" else . end' "reference.scope is unavailable"
    refuse_ 'if .name == "reconcile.destination" then .status = "unsupported" else . end' "reconcile.destination is unsupported"
    for relation in transformation delivery reference-destination; do
        refuse_ 'if .relation == "'$relation'" then .missing.rows = 1 else . end' "counts differences"
        refuse_ 'if .relation == "'$relation'" then .undecided = true else . end' "does not decide"
        refuse_ 'if .relation == "'$relation'" then .unsupported_keys = 2 else . end' "does not decide"
        refuse_ 'if .relation == "'$relation'" then .owed_duplicate_keys = 61 else . end' "61 keys owed more than once in 120 rows"
        refuse_ 'if .relation == "'$relation'" then .tail.partitions = 1 else . end' "counts differences"
        refuse_ 'if .relation == "'$relation'" then .owed_rows = 119 else . end' "counts 119 and 120"
        refuse_ 'if .relation == "'$relation'" then del(.found_rows) else . end' "summary.found_rows: missing"
        refuse_ 'if .relation == "'$relation'" then ., . else . end' "counts 240 and 240"
        refuse_ 'if .relation == "'$relation'" then {type: "finding", relation: .relation, kind: "missing", key: ["1"], owed_copies: 1, found_copies: 0, rows: 1}, . else . end' "a finding of $relation"
        edit 'if .relation == "'$relation'" then .excluded_keys = 3 | .owed_rows = 117 | .found_rows = 117 else . end'
        decide 3
        [[ $stderr == *"3 keys were left out"* ]]
    done
    refuse_ 'if .relation == "delivery" then .owed_duplicate_keys = 1 else . end' "1 keys owed more than once in 120 rows of 120 keys"
    # rows that were read under keys that are owed and that no comparison found
    refuse_ 'if .type == "side" and .read then .rows = 121 elif .type == "observation" then .reads[].rows = 121
        elif .name == "reconcile.destination" then .counts.rows = 121 else . end' "counts 120 and 120 rows of 120 and 121"
    for name in reference.capture reconcile.rows reference.destination; do
        refuse_ 'if .name == "'$name'" then .counts.keys = 7 else . end' "counts other keys"
        refuse_ 'if .name == "'$name'" then .stage = "nobody" else . end' "'nobody'"
    done
    refuse_ 'if .type == "scope" then .document.bundle.checkpoint = 8 else . end' "scope"
}

# contradicted KIND: each line of standard input is TYPE (or NAME of a check)~FILTER~WORDS: of a stream that passed, with lines edited so.
contradicted() {
    local of what words
    compose "$1"
    edit .
    decide 0
    while IFS='~' read -r of what words; do
        refuse_ "if .type == \"$of\" or .name == \"$of\" then $what else . end" "$words"
    done
}

@test "an interval that does not fit the scope, its ledger or its neighbours refuses what was captured" {
    contradicted selected <<'CASES'
interval~if .capture and .subtask == 0 then .capture.truncated = true else . end~sink subtask 0, epoch 7 is truncated
interval~if .capture and .subtask == 0 then .capture.stored = 119 else . end~epoch 7 is truncated
interval~if .capture and .subtask == 0 then .capture = {outcome: "disarmed", seen: 120, stored: 120, truncated: false} else . end~epoch 7 was disarmed
interval~if .capture and .subtask == 1 then .capture = {outcome: "disarmed", seen: 0} else . end~sink subtask 1, epoch 7 was disarmed
interval~if .capture and .subtask == 1 then .subtask = 0 else . end~sink subtask 0, epoch 7 stands twice
interval~if .capture and .subtask == 1 then ., . else . end~sink subtask 1, epoch 7 stands twice
interval~if .capture and .subtask == 1 then .subtask = 5 else . end~is of a subtask that the scope does not have
interval~if .capture and .subtask == 1 then .attempt = "another" else . end~is of an attempt that the scope does not have
interval~if .capture and .subtask == 1 then ., (.epoch = 8 | .previous = 7) else . end~is of an epoch that the scope does not have
interval~if .capture and .subtask == 1 then .previous = 3 else . end~does not follow the one before it
interval~if .capture and .subtask == 0 then .ledger[0].rows = 119 else . end~has a ledger of other rows than it counts
interval~if .capture and .subtask == 0 then .ledger[0].first = 1 else . end~has a ledger of other rows than it counts
interval~if .capture and .subtask == 0 then .ledger = [] else . end~has a ledger of other rows than it counts
interval~if .capture and .subtask == 0 then .ledger += [.ledger[0] | .first = 120 | .rows = 0] else . end~has a ledger of other rows than it counts
interval~if .capture and .subtask == 0 then .ledger[0].blocks = 0 else . end~has a ledger that cannot be
interval~if .capture and .subtask == 0 then .ledger[0].attempts = 0 else . end~has a ledger that cannot be
interval~if .capture and .subtask == 0 then .ledger[0].in_doubt = true else . end~has a ledger that cannot be
interval~if .capture and .subtask == 0 then .ledger[0].resend = "may_duplicate" else . end~has a ledger that cannot be
interval~if .capture and .subtask == 1 then .operator = "9" else . end~an interval of operator '9', which is not in the scope
interval~if .from and .subtask == 0 then .to.positions[0].offset = 712 else . end~is of another range than the scope's
interval~if .from and .subtask == 0 then .from.positions[0].offset = 650 else . end~is of another range than the scope's
interval~if .from and .subtask == 1 then .to.positions[0].partition = 0 else . end~has a position that another one has too
interval~if .from and .subtask == 1 then .to.positions[0].partition = 7 else . end~is of a partition that the scope does not have
interval~if .from and .subtask == 1 then ., . else . end~has a position that another one has too
interval~if .from and .subtask == 1 then .subtask = 0 else . end~the interval of source subtask 0 stands twice
interval~if .from and .subtask == 1 then .to.log.topic_id = "other" else . end~is of another log than the scope's
interval~if .from and .subtask == 1 then .from.log.cluster_id = "other" else . end~is of another log than the scope's
interval~if .from and .subtask == 1 then .operator = "7" else . end~an interval of operator '7', which is not in the scope
CASES
    for gone in '.from and .subtask == 1' '.to and .subtask == 0'; do
        edit "select((.type == \"interval\" and $gone) | not)"
        decide 3
        [[ $stderr == *"no interval line shows where the source stood in orders/"* ]]
    done
    edit 'if .from then .from = null else . end'
    decide 3
}

@test "a recorded destination that is not the scope's, or keeps rows otherwise, refuses what was captured" {
    cp "$BATS_TEST_DIRNAME/../fixtures/the-table-untouched/8-rows-diff.ndjson" stream
    edit .
    decide 0
    while IFS='~' read -r member value words; do
        refuse_ "if .capture and .subtask == 1 then .destination.$member = \"$value\" else . end" "sink subtask 1, epoch 15 $words"
    done <<'CASES'
server_uuid~other~is of another table than the scope's
database~other~is of another table than the scope's
table~other~is of another table than the scope's
table_uuid~other~is of another table than the scope's
engine~ReplacingMergeTree~is of a table of another engine than MergeTree
async_insert~1~is of INSERTs that may be acknowledged before they are stored
wait_for_async_insert~0~is of INSERTs that may be acknowledged before they are stored
CASES
}

@test "an observation that would have changed, hidden or not seen rows refuses what the table holds" {
    contradicted complete <<'CASES'
observation~.settings.final = "1"~made with final, which there changes the rows
observation~.settings.limit = "10"~made with limit, which there changes the rows
observation~.settings.offset = 1~made with offset, which there changes the rows
observation~.settings.additional_table_filters = "{'orders':'event_id > 1'}"~made with additional_table_filters, which
observation~.settings.apply_deleted_mask = "0"~made with apply_deleted_mask, which
observation~.settings.apply_patch_parts = "0"~made with apply_patch_parts, which
observation~.settings.read_overflow_mode = "break"~made with read_overflow_mode, which
observation~.settings.some_overflow_mode = "any"~made with some_overflow_mode, which
observation~.settings.readonly = "0"~made with readonly, which
observation~.settings.wait_end_of_query = "0"~made with wait_end_of_query, which
observation~.settings.max_rows_to_sample = "1"~made with max_rows_to_sample, a setting that is not known here
observation~.mutations = [{id: "m", command: "c", created: "x", done: false}]~shows a mutation that was running
observation~.unstable = ["the engine changed"]~does not say stable
observation~.engine = "ReplacingMergeTree"~is of another engine than MergeTree
observation~.engine = null~is of another engine than MergeTree
observation~.engine_full = "ReplacingMergeTree ORDER BY event_id"~is of another engine than MergeTree
observation~.create_table_query |= sub("ENGINE = MergeTree"; "ENGINE = ReplacingMergeTree")~two definitions of the table are of two engines
observation~.create_table_query |= sub("ENGINE = .*"; "")~two definitions of the table are of two engines
observation~.create_table_query |= sub(" ORDER BY .*"; " ORDER BY other")~two definitions of the table are of two engines
observation~.create_table_query += " TTL seen + INTERVAL 1 DAY"~is of a table with a TTL
observation~.columns = []~does not have the scope's column 'event_id'
observation~del(.columns)~does not have the scope's column 'event_id'
observation~.columns |= map(select(.name != "score"))~does not have the scope's column 'score'
observation~.columns[1].type = "LowCardinality(String)"~has another type of the scope's column 'customer'
observation~.columns += [.columns[0]]~has two columns of one name
observation~del(.finished)~does not say when it began and ended
observation~.finished.client_ms = .started.client_ms - 1~ends before it began
observation~.finished.server_ms = .started.server_ms - 1~ends before it began
observation~.reads[0].queries = 0~counts rows of no query
observation~.unfit_keys = 1~counts owed keys that no column can hold
observation~.parts.after = 4~parts stayed the same
CASES
    edit 'if .type == "observation" then del(.settings.final) else . end'
    decide 3
    [[ $stderr == *"does not say with which settings"* ]]
}

@test "a count or a total that is not what the stream shows refuses the check that passed" {
    contradicted complete <<'CASES'
bundle.artifacts~.counts.changed = 9~a check that passed, with 9 changed
bundle.artifacts~.counts.missing = 1~a check that passed, with 1 missing
bundle.artifacts~.counts.unlisted = "1"~a check that passed, with 1 unlisted
bundle.artifacts~.counts = [1]~check.counts: not an object
bundle.artifacts~.counts = "9 changed"~check.counts: not an object
bundle.artifacts~.counts.changed = {}~check.counts: not an object of whole numbers
reconcile.scope~.counts.rows = 855~reconcile.scope counts other rows than the 120 of the captured side
reconcile.scope~.counts.epochs = 2~reconcile.scope counts other epochs than the 1 of the scope
reconcile.scope~.counts.intervals = 3~reconcile.scope counts other intervals than the 2 of the scope
reconcile.destination~.counts.rows = 855~reconcile.destination counts other rows than the 120 of the observation
reconcile.destination~.counts.keys = 855~reconcile.destination counts other keys than the 120 of the observation
reconcile.destination~.counts.unfit_keys = 1~reconcile.destination counts other unfit_keys than the 0 of the observation
reference.scope~.counts.rows = 855~reference.scope counts other rows than the 120 of the reference's side
reconcile.rows~.counts.owed_rows = 855~reconcile.rows counts other owed_rows than its summary
summary~.missing.keys = 1~counts differences
summary~.duplicated.keys = 1~counts differences
summary~.explained.replayed = 1~counts differences
summary~.runs_total = 1~counts differences
summary~.tail.rows = 1~counts differences
summary~.listed = 1~counts differences
summary~del(.missing)~missing.keys: missing
summary~del(.keys)~summary.keys: missing
summary~if .relation == "delivery" then .keys = 119 else . end~the summary of delivery counts 119 keys of 120 rows
summary~if .relation == "transformation" then .keys = 121 else . end~the summary of transformation counts 121 keys of 120 rows
columns~.cells = "owed-cells-v2"~columns of types whose cells are clink-canonical-cells-v1
columns~.columns[0].type = "Int32"~the columns are not the scope's
columns~(.columns[0].type = "Int32"), .~the columns are not the scope's
CASES
    contradicted declared <<'CASES'
reconcile.scope~.counts = {topics: 2}~counts other topics than the 1 of the scope
reconcile.scope~.counts = {partitions: 3}~counts other partitions than the 2 of the scope
reconcile.scope~.counts = {offsets: 121}~counts other offsets than the 120 of the scope
CASES
}

@test "an account that contradicts the reference, or keeps less than was checked, refuses it" {
    # as ref-seal keeps them
    kept='if .type == "account" then .verified_by_writer = ["kafka-read: topic id", "ref-seal: the ranges read are the scope'"'"'s",
            "ref-seal: records delivered and records given to the program, by their counts", "ref-seal: rows of the program and rows sealed, by their counts"] |
        .recorded = {reader: {stage: "kafka-read", client: "c", logs: [], ranges: .recorded.ranges, delivered: 117},
            program: {stage: "ref-run", program: "jq", records: 117, rows: 120, skips: 0, without_row: 0, readable: 117, null_values: 0, unreadable: 0, exit: 0}} else . end'
    compose selected
    edit "$kept"
    decide 0
    mv edited stream
    while IFS='~' read -r what words; do
        refuse_ "if .type == \"account\" then $what else . end" "$words"
    done <<'CASES'
.recorded = {}~says 'topic id' of itself and keeps no account of the ranges read
del(.recorded)~says 'topic id' of itself and keeps no account of the ranges read
del(.recorded.reader)~keeps no account of the ranges read
.recorded.reader.ranges = []~says 'topic id' of itself and keeps no account of the ranges read
del(.recorded.reader.ranges)~says 'topic id' of itself and keeps no account of the ranges read
.recorded.reader.ranges |= .[1:]~account.recorded.reader.delivered: not what its ranges deliver
(.recorded.reader.ranges |= .[1:]) | .recorded.reader.delivered = 57~kafka-read gives no account of orders/0
.recorded.reader.delivered = 118~account.recorded.reader.delivered: not what its ranges deliver
.recorded.program += {records: 118, readable: 118}~kafka-read delivered 117 records and ref-run was given 118
.recorded.program.rows = 119~counts other rows than the 120 of the reference
del(.recorded.program)~keeps no account of the records delivered and given
.recorded.program.exit = 1~the program of ref-run ended with exit 1
.recorded.program.exit = null | .recorded.program.signal = 9~the program of ref-run ended with signal 9
.recorded.program += {without_row: 1, skips: 0} | .verified_by_writer += ["ref-run: every record that could be read was answered"]~keeps no account of an answer to each
.recorded.program.without_row = 118~account.recorded.program.records: fewer than those of one kind
.recorded.sealer = {failed_rows: 1}~sealer could not seal 1 rows
.recorded.reader.ranges[1].delivered = 60~its offsets are not those delivered and those not delivered
.recorded.reader.ranges[1].position = 650~its positions run backwards
.recorded.reader.ranges[1].offsets = 61~its offsets are not those from its first to its position
.recorded.reader.ranges[1].aborted = 3~its offsets not delivered are not those aborted and the others
.recorded.reader.ranges[0].null_values = 61~a part of its offsets is more than all of them
.recorded.reader.logs = [{topic: "orders"}, {topic: "orders"}]~account.recorded.reader.logs: two of orders
.excluded = 1~ref-bind left out 1 keys, and the stream names 0
del(.recorded.reader.logs)~the account of kafka-read has no logs
.recorded.reader.logs = null~the account of kafka-read has no logs
del(.recorded.reader.delivered) | .verified_by_writer |= .[:2]~the account of kafka-read has no delivered
del(.recorded.reader.ranges[1].null_values)~the account of kafka-read has no null_values
del(.recorded.reader.ranges[].not_delivered)~the account of kafka-read has no not_delivered
del(.recorded.reader.ranges[0].from)~the account of kafka-read has no from
del(.recorded.reader.ranges[0].to)~the account of kafka-read has no to
del(.recorded.reader.ranges[0].position)~the account of kafka-read has no position
del(.recorded.reader.ranges[0].offsets)~the account of kafka-read has no offsets
del(.recorded.reader.ranges[0].delivered)~the account of kafka-read has no delivered
del(.recorded.program | .readable, .null_values, .unreadable)~the account of ref-run has no readable
del(.recorded.program | .null_values)~the account of ref-run has no null_values
del(.recorded.program | .unreadable)~the account of ref-run has no unreadable
del(.recorded.program.skips)~the account of ref-run has no skips
del(.recorded.program.records) | .verified_by_writer |= .[:2]~records is not the sum of
del(.recorded.program | .records, .readable, .without_row) | .verified_by_writer |= .[:2]~the account of ref-run has no records
del(.recorded.program.rows) | .verified_by_writer |= .[:2]~the account of ref-run has no rows
del(.header_sha256)~the account of ref-bind has no header_sha256
del(.rows_sha256)~the account of ref-bind has no rows_sha256
.code = "reference-not-whole"~the account of ref-bind is not complete
CASES
    # What nobody claims is nobody's to give: it is said to be not established.
    edit 'if .type == "account" then .verified_by_writer = [] | .recorded = {} else . end'
    decide 0
    [[ $output == *"not established"*"that the reference's source was read whole: its file keeps no account of a reader's ranges"* ]]
}

@test "a key is left out only where the scope or the table as found makes it so" {
    local kind why words key='["1210"]'
    for kind in selected declared; do
        table_rows='if .[0] == "1210" then .[2] = "1" else . end' compose $kind
        whole_ 1
        while IFS='|' read -r why words told; do
            jq -c --argjson key "$key" --arg why "$why" 'if .type == "columns" then ., {type: "excluded", key: $key, why: $why} elif .type == "end" then empty else . end' as_read |
                ended >one_left
            { rows-diff <one_left || [ $? -le 3 ]; } >compared
            [ "$(jq -c 'select(.type == "summary" and .relation == "reference-destination") | .excluded_keys' compared)" = 1 ]
            from=compared decide 2
            [[ $stderr == *"1 keys are left out as '$why', and $words"* ]]
            # whatever the account of the reference counts
            edit 'if .type == "account" then .excluded = 1 else . end' compared
            decide 2
            [[ $stderr == *"1 keys are left out as '$why', and $words"* ]]
            [[ $output == *$'\n'"left out      1 keys $told"$'\n'* ]]
        done <<'CASES'
open|the scope has no windows|of a window that is open still
undetermined|neither windows of the scope nor the table's engine make it so|of which nobody can tell what the table must show
expired|the table has no TTL that makes it so|whose row the table's TTL may have taken away
moved-on|no position of a source is known|that the table shows later than the source was read
CASES
    done
}

@test "keys are left out as expired by the TTL that the table has, each counted, and on the operator's word alone" {
    local expiry what words
    for kind in selected declared; do
        compose $kind
        edit 'if .type == "observation" then (.create_table_query, .engine_full) |= sub(" SETTINGS"; " TTL seen + toIntervalDay(1) SETTINGS") |
            .expiry = {ttl: "seen + toIntervalDay(1)", rows: 0, keys: 0, mixed_keys: 0, ignored: false} else . end'
        decide 0
        [[ $output == *"plain MergeTree with the TTL seen + toIntervalDay(1)"* && $output == *"a TTL, seen + toIntervalDay(1): of the owed rows 0 had expired by the server's clock"* ]]
        [[ $output == *"for the 120 keys that are owed"* ]]
        decide 0 --json
        jq -e '.assumptions | any(.[]; contains("the table never had another TTL than seen + toIntervalDay(1)"))' <<<"$output"
        cp edited expiring
        while IFS='~' read -r what words; do
            edit "if .type == \"observation\" then $what else . end" expiring
            decide 2
            [[ $stderr == *"$words"* ]] || { echo "$what: $stderr" >&2; return 1; }
        done <<'CASES'
del(.expiry)~does not say what had expired by the table's own TTL
.expiry.ttl = "seen + toIntervalDay(2)"~does not say what had expired by the table's own TTL
.create_table_query |= sub("Day"; "Week")~a TTL by which nobody can tell what is gone
(.create_table_query, .engine_full) |= sub("[(]1[)]"; "(1) WHERE event_id > 1")~a TTL by which nobody can tell what is gone
(.create_table_query, .engine_full) |= sub(" TTL .*"; "")~does not say what had expired by the table's own TTL
(.create_table_query, .engine_full) |= sub(" TTL seen"; " TTL other") | .expiry.ttl |= sub("seen"; "other")~the column of the observation's TTL is none of the scope's
.expiry.keys = 1~counts 1 expired keys, and the stream names 0
.expiry.rows = 3~counts 3 expired rows, of 0 keys, 0 of these with others, which cannot be of what was owed
del(.expiry.ignored)~observation.expiry.ignored: missing
.expiry = []~observation.expiry: not an object
CASES
        # One key is left out, whatever stands under it.
        jq -c --slurpfile seen <(jq -c 'select(.type == "observation")' expiring) 'if .type == "columns" then ., {type: "excluded", key: ["1210"], why: "expired"}
            elif .type == "observation" then $seen[0] | .expiry |= . + {rows: 1, keys: 1, ignored: true} elif .type == "end" then empty else . end' as_read | ended >one_left
        rows-diff <one_left >stream
        whole_ 0
        [[ ${lines[*]:1:3} == *"for 119 of the 120 keys that are owed"*"assumed, not established: 1 keys whose rows are past the table's TTL, seen + toIntervalDay(1), are of no matter (--expired=ignore)"* ]]
        cp stream expired
        while IFS='~' read -r what words; do
            edit "$what" expired
            decide 2
            [[ $stderr == *"$words"* ]] || { echo "$what: $stderr" >&2; return 1; }
        done <<'CASES'
if .type == "observation" then .expiry.ignored = false else . end~1 keys are left out as expired, and nobody says that they are of no matter, and what the table holds passed
if .type == "observation" then .expiry.mixed_keys = 1 else . end~1 keys are left out as expired, some of them with rows that have not, and what the table holds passed
if .type == "observation" then .expiry.rows = 0 else . end~counts 0 expired rows, of 1 keys, 0 of these with others, which cannot be of what was owed
if .type == "observation" then .expiry.rows = 999 else . end~counts 999 expired rows, of 1 keys, 0 of these with others, which cannot be of what was owed
if .type == "observation" then .expiry.mixed_keys = 2 else . end~counts 1 expired rows, of 1 keys, 2 of these with others, which cannot be of what was owed
if .type == "excluded" then empty else . end~counts 1 expired keys, and the stream names 0
if .type == "excluded" then ., (.key = ["1211"]) else . end~counts 1 expired keys, and the stream names 2
if .type == "observation" then del(.expiry) else . end~does not say what had expired by the table's own TTL
if .type == "observation" then del(.expiry) | (.create_table_query, .engine_full) |= sub(" TTL .*"; "") else . end~the table has no TTL that makes it so
CASES
        jq -c 'if .type == "observation" then .expiry.ignored = false else . end | select(.type != "end")' one_left | ended >open
        { rows-diff <open || [ $? = 3 ]; } >stream
        whole_ 3
        [[ ${lines[*]:0:4} == *"NOT DECIDED: "*"1 keys were left out: their rows are past the table's TTL"*"rows-expired: "* ]]
    done
}

@test "the lines of another run, another kind of scope or another order refuse it" {
    compose selected
    cp stream selected
    captured_rows='select(.[0] != "1212")' table_rows='select(.[0] != "1212")' compose selected # this run's transformation failed
    edit '.' && decide 1
    # its failed check and summary, put in place of by those of the run that passed
    jq -c 'select(.relation == "transformation" or .name == "reference.capture")' selected >other
    { jq -c 'select(.type != "end" and .relation != "transformation" and .name != "reference.capture")' stream; cat other; } | ended >edited
    decide 2
    [[ $stderr == *"counts 120 and 120 rows of 120 and 119"* ]]
    # an order in which the keys of the reference were not looked for, or a check made before its sides
    cp selected stream
    moved() { # jq condition of the lines to go to the end (or, with "first", after the header), words
        if [ "${3:-}" = first ]; then
            { jq -c 'select(.type == "stream")' stream; jq -c "select($1)" stream; jq -c "select(.type != \"stream\" and .type != \"end\" and (($1) | not))" stream; } | ended >edited
        else
            { jq -c "select(.type != \"end\" and (($1) | not))" stream; jq -c "select($1)" stream; } | ended >edited
        fi
        decide 2
        [[ $stderr == *"$2"* ]] || { echo "$1: $stderr" >&2; return 1; }
    }
    moved '.type == "side" and .side == "reference"' "passed before what it rests on"
    moved '.type == "side" and .side == "captured"' "came after the table was read"
    moved '.name == "reference.destination"' "passed before what it rests on" first
    moved '.name == "reference.capture"' "passed before what it rests on" first
    moved '.type == "observation"' "passed before what it rests on"
    # a declared scope shows nothing of a bundle
    compose declared
    refuse_ 'if .type == "columns" then ., {type: "bundle", path: "incident", manifest_sha256: ("0" * 64), job: "1", checkpoint: 7} else . end' "there is a bundle line"
    refuse_ 'if .name == "reference.destination" then ., (.name = "reconcile.rows") else . end' "only a bundle can show"
    refuse_ 'if .name == "reference.destination" then ., (.name = "reference.capture") else . end' "only a bundle can show"
    refuse_ 'if .type == "observation" then .table = "other" else . end' "table is not the scope's"
    refuse_ 'if .type == "observation" then .server_uuid = "other" else . end' "server_uuid is not the scope's"
    edit 'if .type == "observation" then .table_uuid = "other" else . end' # which nobody declared
    decide 0
}

@test "the whole table does not pass on less than the whole table" {
    compose complete
    refuse_ 'if .type == "observation" then .table_whole = false else . end' "does not say table_whole"
    refuse_ 'if .type == "observation" then del(.table_whole) else . end' "does not say table_whole"
    edit 'if .type == "interval" and .epoch == 8 and .subtask == 0 then .capture += {outcome: "written", seen: 1, stored: 1} | .ledger = [{token: "t", first: 0, rows: 1,
        blocks: 1, attempts: 1, in_doubt: false, resend: "none"}] else . end'
    decide 2
    [[ $stderr == *"epoch 8 shows rows after the scope's checkpoint"* ]]
    edit 'if .type == "interval" and .epoch == 9 and .subtask == 0 then .previous = 7 else . end'
    decide 3
    refuse_ 'if .type == "observation" then .parts.same = false else . end' "parts stayed the same"
    refuse_ 'if .type == "observation" then del(.parts) else . end' "parts stayed the same"
    refuse_ 'if .type == "observation" then .max_table_rows = 119 else . end' "max_table_rows"
    refuse_ 'if .type == "observation" then del(.max_table_rows) else . end' "max_table_rows"
    refuse_ 'if .relation == "coverage" then .found_rows = 119 | .owed_rows = 119 else . end' "counts 119 and 119"
    edit 'if .name == "destination.coverage" then ., (.stage = "scope-cut" | .status = "unavailable" | .reason = "the run was still writing") else . end'
    decide 3
    [[ ${lines[0]} == "NOT DECIDED: coverage: the run was still writing (exit 3)" ]]
    # the same stream under a scope of selected keys
    jq -c --argjson document "$(document_of selected)" 'if .type == "scope" then .document = $document else . end' stream >as_selected
    edit . as_selected
    decide 2
    [[ $stderr == *"epoch 8 is of an epoch that the scope does not have"* ]]
    # nothing compared is no comparison
    reference_rows=empty captured_rows=empty table_rows=empty compose complete
    refuse_ 'if .type == "observation" then .table_whole = false else . end' "table_whole"
    edit 'if .type == "require" then .checks -= ["destination.coverage"] elif .name == "destination.coverage" or .relation == "coverage" then empty
        elif .type == "observation" then del(.table_whole) else . end'
    decide 2
    [[ $stderr == *"nothing was compared"* ]]
}

@test "an audit cut at any line is not passed" {
    compose selected
    local n lines_
    lines_=$(wc -l <stream)
    for ((n = 0; n < lines_; n++)); do
        head -n "$n" stream >edited
        decide 3
    done
}

@test "figures and words are found in the accounts that ref-seal keeps, too" {
    compose selected
    edit 'if .type == "account" then .recorded = {reader: {stage: "kafka-read", client: "librdkafka 2.15.1", logs: [], delivered: 117, ranges: .recorded.ranges, recorded: {run_start_offsets: {"orders/0": 651}}},
        sealer: {complete_by_the_operator: true, instead_of: ["program"]}} else . end'
    decide 0
    [[ $output == *"orders/1 offsets [651, 711): 57 records, 3 offsets not delivered (2 aborted, 1 markers or absent), as the reference records"* ]]
    [[ $output == *"reading with librdkafka 2.15.1"*"the operator's word"*'{"orders/0":651}'* ]]
    edit 'if .type == "account" then .recorded = {reader: {stage: "kafka-read", ranges: (.recorded.ranges | .[0].complete = false)}} else . end'
    decide 2
    # an account in the stream itself is no hearsay
    edit 'if .type == "stream" then .stages += [{name: "kafka-read", version: "1"}] elif .type == "account" then
        {type: "account", stage: "kafka-read", role: "reader", complete: true, reasons: [], logs: [], delivered: 117, ranges: .recorded.ranges}, (.recorded = {}) else . end'
    decide 0
    [[ $output == *"57 records, 3 offsets not delivered (2 aborted, 1 markers or absent)
"* ]]
}

@test "records that the reference's program gave no row for are said, and whether it had to answer each" {
    compose selected
    run_='.recorded.program = {stage: "ref-run", program: "jq", records: 135, rows: 120, skips: 0, without_row: 15, readable: 131, null_values: 4, unreadable: 0}'
    edit "if .type == \"account\" then $run_ else . end"
    decide 0
    [[ $output == *"135 records went to jq, 4 of them null, and it gave no row for 15 of them (0 skips)"* ]]
    [[ $output == *"not established"*"looked at every record: ref-run --strict was not asked for"* ]]
    edit "if .type == \"account\" then $run_ | .recorded.program.skips = 15 | .verified_by_writer += [\"ref-run: every record that could be read was answered\"] else . end"
    decide 0
    [[ $output != *"--strict was not asked for"* ]]
    edit "if .type == \"account\" then $run_ | .recorded.program.without_row = null | .implementation.version = \"\" else . end"
    decide 0
    [[ $output == *"reference     orders, 120 rows"*"135 records went to jq, 4 of them null; which of them have no row is not known"* ]]
}

@test "records that could not be read, and counts that cannot be: no check of the reference passes over them" {
    compose declared
    refused_as() { # edit of the program's account, words
        edit 'if .type == "account" then .recorded.program = ({stage: "ref-run", program: "jq", records: 135, rows: 120, skips: 0, without_row: 15,
            readable: 131, null_values: 2, unreadable: 2, on_unreadable: "skip", unreadable_records: ["orders/0/651: a", "orders/0/652: b"]} | '"$1"') else . end'
        decide "${3:-2}"
        [[ $stderr$output == *"$2"* ]] || { echo "$1: $stderr" >&2; return 1; }
    }
    refused_as . "assumed, not established: 2 records that could not be read owe nothing" 0
    refused_as 'del(.on_unreadable)' "ref-run counts 2 records that could not be read, nobody said that they owe nothing"
    refused_as '.unreadable = 1' "records is not the sum of readable, null_values and unreadable"
    refused_as '.records = 134' "records is not the sum"
    refused_as 'del(.readable)' "without those that could be read"
    refused_as '.without_row = 14' "fewer rows than records that have one"
    refused_as '.without_row = 135' "rows, and every record is without one"
    refused_as '.on_unreadable = "none"' "on_unreadable is not skip"
    refused_as '.unreadable_records = []' "unreadable_records names others"
    refused_as '.unreadable_records += ["c"]' "unreadable_records names others"
}

@test "names of a reference that drive a terminal are masked" {
    compose selected
    edit 'if .type == "account" then .implementation.name = "\u001b[31mred" | .verified_by_writer = ["\u0007"] else . end'
    decide 0
    [[ $output == *'\x1b[31mred'* && $output == *'\x07'* ]]
}

# The two texts that a server has of a table are of one engine.
alike='(.engine_full as $e | .create_table_query |= sub("ENGINE = .*"; "ENGINE = " + $e))'

@test "an observation that was not read as the scope's last rows are refuses what the table holds" {
    scope_edit='.declared.final = {engine: "ReplacingMergeTree", version: "seen", deleted: null, sign: null}'
    compose declared
    final='.engine = "ReplacingMergeTree" | .engine_full = "ReplacingMergeTree(seen) ORDER BY event_id" | .final = {undetermined_keys: 0, unpaired: 0} | '"$alike"
    observed="if .type == \"observation\" then $final else . end"
    edit "$observed"
    decide 0
    while IFS='~' read -r change words; do
        refuse_ "$observed | if .type == \"observation\" then $change else . end" "$words"
    done <<'CASES'
del(.final)~was not read with FINAL, and the scope is of the last row of each key
.engine_full = "ReplacingMergeTree(score) ORDER BY event_id"~engine is not that of the scope's last rows
.engine_full = "ReplacingMergeTree ORDER BY event_id"~engine is not that of the scope's last rows
.engine = "MergeTree" | .engine_full = "MergeTree ORDER BY event_id"~engine is not that of the scope's last rows
.engine = "SummingMergeTree" | .engine_full = "SummingMergeTree ORDER BY event_id"~is of another engine than MergeTree
.sorting_key = "event_id, seen"~sorting key is not the scope's key
.final.undetermined_keys = 1~counts 1 undetermined keys, and the stream names 0
.settings.do_not_merge_across_partitions_select_final = "1"~made with do_not_merge_across_partitions_select_final
CASES
    scope_edit=.
    compose declared
    refuse_ 'if .type == "observation" then .final = {undetermined_keys: 0, unpaired: 0} else . end' "was read with FINAL, and the scope is of every row"
}

@test "a JSON is compared as its text, and the first lines say whose word that is; an observation that did not ask for the text is refused" {
    # note as a JSON, in the scope, its columns, and the table as it was observed
    saved_=$saved
    saved=$BATS_TEST_TMPDIR/saved
    jq -c 'def json: if .name == "note" then .type = "Nullable(JSON(a Int8))" else . end;
        def said: json | if .name == "note" then .from = "json-text" else . end;
        if .type == "columns" then .cells = "owed-cells-v2" | .columns[] |= said
        elif .type == "scope" then .document.cells = "owed-cells-v2" | .document.columns[] |= said
        elif .type == "observation" then .columns[] |= json | .settings.output_format_native_write_json_as_string = "1" else . end' "$saved_" >"$saved"
    compose declared
    edit .
    decide 0
    [[ $output == *"assumed, not established: column 'note' is compared as the text that the server prints of its JSON (--from=note:json-text)"* ]]
    decide 0 --json
    jq -e '.assumptions | any(. == "the operator takes the text that the server prints of column '"'note'"' for the JSON that was owed")' <<<"$output"
    while IFS='~' read -r change words; do
        refuse_ "if .type == \"observation\" then $change else . end" "$words"
    done <<'CASES'
del(.settings.output_format_native_write_json_as_string)~made without output_format_native_write_json_as_string, and a check of the destination passed
.settings.output_format_native_write_json_as_string = "0"~made with output_format_native_write_json_as_string, which there changes the rows
.format = "rowbinary"~made without output_format_binary_write_json_as_string
.settings.output_format_json_quote_64bit_integers = "1"~made with output_format_json_quote_64bit_integers, which
CASES
    # Without the word nothing of it is decided, by whichever stage.
    jq -c 'if .type == "columns" then .cells = "clink-canonical-cells-v1" | .columns[] |= del(select(.name == "note").from) else . end' as_read |
        jq -c 'select(.type != "end")' | ended >unsaid
    run -3 --separate-stderr rows-diff <unsaid
    [[ $output == *"column 'note' is Nullable(JSON(a Int8)), which is compared as text, and on the operator's word alone"* && $output == *'"code":"json-not-declared"'* ]]
}

@test "an observation of a Merge stands with the tables under it, each of which could be read alone" {
    compose declared
    one='{table: "orders_1", table_uuid: "8f83b4d8-9110-48b9-848e-7c900d13aa21", engine: "MergeTree", engine_full: "MergeTree ORDER BY event_id", create_table_query: "CREATE TABLE shop.orders_1 (event_id Int64) ENGINE = MergeTree ORDER BY event_id", partition_key: "", sorting_key: "event_id"}'
    merge='.engine = "Merge" | .engine_full = "Merge('"'shop', '^orders_'"')" | '"$alike"' | .tables = ['$one', ('$one' | .table = "orders_2" | .table_uuid = "9f83b4d8-9110-48b9-848e-7c900d13aa21")]'
    observed="if .type == \"observation\" then $merge else . end"
    edit "$observed"
    decide 0
    [[ $output == *"the table was read through a Merge of 2 tables: orders_1, orders_2"* ]]
    [[ $output == *"a Merge of plain MergeTrees without TTL that each have"*"and all of them stood still while it was read"* ]]
    decide 0 --json
    jq -e '.assumptions | any(. == "the tables that the Merge finds by their names are those that the operator means")' <<<"$output"
    while IFS='~' read -r change words; do
        refuse_ "$observed | if .type == \"observation\" then $change else . end" "$words"
    done <<'CASES'
del(.tables)~the observation is of a Merge without a table under it
.tables = []~the observation is of a Merge without a table under it
.engine = "MergeTree" | .engine_full = "MergeTree ORDER BY event_id"~the observation is of a table with others under it and no Merge
.engine_full = "Merge(REGEXP('^s'), '^orders_')"~is of another engine than MergeTree
.tables[1].engine = "ReplacingMergeTree" | .tables[1].engine_full = "ReplacingMergeTree ORDER BY event_id"~table 'orders_2' under the Merge is of another engine than MergeTree
.tables[0].engine_full = "ReplacingMergeTree ORDER BY event_id"~table 'orders_1' under the Merge is of another engine than MergeTree
.tables[0].create_table_query |= sub("ENGINE = MergeTree"; "ENGINE = SummingMergeTree")~table 'orders_1' under the Merge has two definitions, of two engines
.tables[1].create_table_query = "CREATE TABLE t (a Int8) ENGINE = MergeTree ORDER BY a TTL d + toIntervalDay(1)"~table 'orders_2' under the Merge has a TTL
.tables[1].table_uuid = .tables[0].table_uuid~table 'orders_2' under the Merge has no UUID of its own
.tables[1].table_uuid = (.tables[0].table_uuid | ascii_upcase)~table 'orders_2' under the Merge has no UUID of its own
.tables[1].table_uuid = "x"~table 'orders_2' under the Merge has no UUID of its own
.tables[1].table_uuid = .table_uuid~table 'orders_2' under the Merge has no UUID of its own
.tables[1].table = .tables[0].table~table 'orders_1' under the Merge is there twice
.tables[0].table_uuid = "00000000-0000-0000-0000-000000000000"~table 'orders_1' under the Merge has no UUID of its own
.tables[0] |= del(.engine)~observation.tables
.tables = {}~observation.tables: not an array
.mutations = [{id: "orders_1/mutation_2.txt", command: "DELETE WHERE 1", created: "2026-01-01T00:00:00.000Z", done: false}]~shows a mutation that was running
CASES
    # Under a bundle a Merge is no table that a job wrote.
    compose selected
    refuse_ "$observed" "is of another engine than MergeTree"
}

@test "what the check of the destination establishes is said of the table as it was observed" {
    local change words
    compose declared
    while IFS='~' read -r change words; do
        edit "if .type == \"observation\" then $change | $alike else . end"
        decide 0 --json
        jq -e --arg words "$words" '.checks[] | select(.name == "reconcile.destination").means | contains($words)' <<<"$output" || { echo "$change" >&2; return 1; }
    done <<'CASES'
.~, a plain MergeTree without TTL, its columns unchanged, and it stood still while it was read
.engine = "View" | .engine_full = ""~, a view, its columns unchanged, and its definition was the same before the reads and behind them
.engine = "ReplacingMergeTree" | .engine_full = "ReplacingMergeTree(seen) ORDER BY event_id"~, a ReplacingMergeTree(seen) without TTL, read with every row that stands, its columns
.engine_full |= sub(" SETTINGS"; " TTL seen TO VOLUME 'cold' SETTINGS") | .create_table_query |= sub(" SETTINGS"; " TTL seen TO VOLUME 'cold' SETTINGS")~, a plain MergeTree whose TTL deletes no rows,
CASES
}

@test "an observation of a replica shows a log that went on, an empty queue, and how far behind it may have been" {
    local change words now='{readonly: 0, expired: 0, queue: 0, inserts: 0, merges: 0, mutations: 0, checks: 0, log_max: 5, log_pointer: 6,
        delay_s: 0, lost_parts: 0, active: 2, replicas: 2, exception: "", queue_exception: ""}'
    compose declared
    edit 'if .type == "observation" then .engine = "ReplicatedMergeTree" | .engine_full = "ReplicatedMergeTree('"'/p', 'r'"') ORDER BY event_id" | '"$alike"' |
        .replica = {path: "/p", name: "r", max_delay_s: 0, before: '"$now"', after: '"$now"'} else . end'
    decide 0
    [[ $output == *"a ReplicatedMergeTree without TTL, its columns unchanged, the replica that was read held all that the table's log did,"* ]]
    [[ $output != *"s behind"* ]]
    cp edited stream
    edit 'if .type == "observation" then .replica.max_delay_s = 60 | .replica.before.delay_s = 7 else . end'
    decide 0
    [[ ${lines[*]:0:5} == *"the replica said that it was 7 s behind, and the operator allows 60"* ]]
    while IFS='~' read -r change words; do
        edit "if .type == \"observation\" then .replica |= ($change) else . end"
        decide 2
        [[ $stderr == *"$words"* ]] || { echo "$change: $stderr" >&2; return 1; }
    done <<'CASES'
.before.log_max = 9 | .before.log_pointer = 10~the table's log went back while it was read
.after.inserts = 4~after the last read 4 entries wait in its queue
.before.delay_s = 1~before the first read it is 1 s behind
CASES
}
