#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Audits without a bundle, of pipelines that nobody here wrote for it: ClickHouse's own ENGINE = Kafka tables and a consumer on
# public client libraries; and README's first audit, command by command.
bats_require_minimum_version 1.5.0

setup_file() {
    export root work=$BATS_FILE_TMPDIR lack=''
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    sources
    [ -x "${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python" ] || lack='no python clients (deps.sh python)'
    [ -n "$lack" ] || services_up 2>"$work/services.err" || lack=$(tail -n 1 "$work/services.err")
    [ -n "$lack" ] || {
        sql 'CREATE DATABASE shop'
        make_others
        # A test runner waits for whatever of these still runs.
        wait_for rows_in twice 72
        kill "$evictor"
        exec {evicting}<&-
        wait "$consumer"
    }
}

sources() {
    # shellcheck source=tests/programs.bash
    . "$root/tests/programs.bash"
    # shellcheck source=examples/stage.bash
    . "$root/examples/stage.bash"
    # shellcheck source=examples/destination-reconciliation/audit.bash
    . "$root/examples/destination-reconciliation/audit.bash"
    # shellcheck source=examples/destination-reconciliation/others.bash
    . "$root/examples/destination-reconciliation/others.bash"
    runner='' fixtures='' found=reference-destination
}

setup() {
    if [ -n "$lack" ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "$lack" >&2; return 1; }
        skip "$lack"
    fi
    sources
    services_env
    cd "$BATS_TEST_TMPDIR" || return 1
}

teardown_file() {
    . "$root/examples/stage.bash"
    services_down
}

# is STATUS CONDITION COMMAND…: the status, and a jq condition on the report.
is() {
    local want=$1 condition=$2 got=0
    shift 2
    "$@" || got=$?
    cat "$work/stderr" >&2
    [ "$got" -eq "$want" ] || { jq -c '[.made, .stops]' "$work/report.json" >&2; return 1; }
    jq -e "$condition" "$work/report.json" >/dev/null || { jq -c '[.summaries, .findings]' "$work/report.json" >&2; return 1; }
}

@test "an ENGINE = Kafka table with a view is whole; its newest stretch may be late, and is said to be; then it is whole again" {
    wait_for rows_in engine 180
    is 0 "$(summary "$found" 0 0 0 0) and $(checks reference.scope=passed reconcile.destination=passed reference.destination=passed)" declared engine
    is 1 "$(summary "$found" 18 0 0 0) and (.summaries[0].tail | .rows == 18 and .partitions == 2)" late
    jq -r '.made[] | select(.status == "failed") | .reason' "$work/report.json" | grep -F 'the newest stretch of engine/'
    is 0 "$(summary "$found" 0 0 0 0)" landed
}

@test "a message that it skips is missing, by its place" {
    wait_for rows_in purchases 179
    is 1 "$(summary "$found" 1 0 0 0) and (.findings[0] | .kind == \"missing\" and .key == [\"57\"] and .at == \"purchases/1/28\")" declared purchases
}

@test "a batch that it writes twice is duplicated, every row of it" {
    wait_for rows_in twice 72
    is 1 "$(summary "$found" 0 0 36 0)" declared twice
}

@test "B18: a consumer that commits before it writes loses a batch when it is killed, though its lag is zero" {
    is 1 "(.summaries[0] | .missing.rows > 0 and .missing.rows <= 25 and .changed.rows == 0 and .duplicated.surplus == 0) and .code == \"rows-passed-over\"" declared consumed --group=consumer-consumed
    sql "TRUNCATE TABLE shop.consumed"
    # The group has committed all of it.
    [ -z "$(consume consumed)" ]
    is 1 "$(summary "$found" 180 0 0 0) and .code == \"none-landed\"" declared consumed --group=consumer-consumed
}

@test "the two references agree on every row, and either decides" {
    log-look -b "$KAFKA_BOOTSTRAP" -t purchases |
        table-look --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --table=shop.purchases |
        scope-declare --key=event_id --range=ALL --from=seen:ms --out=scope.json >declared.ndjson
    kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" | ref-run --strict -- "${jq_rules[@]}" |
        ref-seal --scope=scope.json --reference-name=jq --out=jq.reference >sealed.ndjson
    reference scope.json python.reference
    # A scope that went through another writer binds as well.
    jq . scope.json >spaced.json
    reference spaced.json spaced.reference
    diff <(sed '1d;$d' jq.reference | sort) <(sed '1d;$d' python.reference | sort)
    [ "$(tail -n 1 jq.reference | jq .rows)" = 180 ]
    for r in jq python spaced; do
        run -1 --separate-stderr bash -c 'set -o pipefail; ref-bind --reference="$1.reference" <declared.ndjson |
            ch-read --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=10 | rows-diff | verdict' _ "$r"
        [[ $output == *"at purchases/1/28"* ]]
    done
}

@test "README's first audit, command by command" {
    sed -n '/^## A first audit/,/^## /p' "$root/README.md" | sed -n '/^    log-look/,/| verdict$/s/^    //p' |
        sed "s#http://127.0.0.1:8123#$CH_URL#; s#127.0.0.1:9092#$KAFKA_BOOTSTRAP#" >commands
    grep -q '^ref-bind' commands
    cp "$root/examples/reference/orders.jq" rules.jq
    CH_PASSWORD=$READER_PASSWORD run -1 --separate-stderr bash -euo pipefail commands
    [[ $output == "FAILED: reference-destination: missing 1 rows"* ]]
    [[ $output == *"event_id=57; owed 1, found 0  at purchases/1/28"* ]]
}

@test "the manuals' examples of both ends run" {
    for page in table-look scope-declare; do
        sed -e '1,/^\.Sh EXAMPLES/d' -e 's/\\e$/\\/' "$root/man/$page.1" | awk '/live$/ { on = 1 } /^\.Ed/ { on = 0 } on && !/^\./ { sub(/^[$>] /, ""); print }' |
            sed "s#http://127.0.0.1:8123#$CH_URL#; s#127.0.0.1:9092#$KAFKA_BOOTSTRAP#; s/reconciler/reader/; s/orders/purchases/; s/--key=id/--key=event_id/" >examples
        grep -q "^$page" examples
        CH_PASSWORD=$READER_PASSWORD run -0 --separate-stderr bash -o pipefail -e examples
        [ "$(jq -r 'select(.type == "check") | .name + " " + .status' <<<"$output")" = "reconcile.scope passed" ]
        [ "$(jq -c '[.sources[0].partitions[].to]' scope.json)" = '[100,100]' ]
        rm scope.json
    done
}

@test "a program that ends well before it has answered every record leaves the reference incomplete" {
    local rules='{at: "\(.topic)/\(.partition)/\(.offset)", values: (.value | {event_id, customer, amount, seen, score, note, serial})}'
    jq_rules=(sh -c "head -n 5 | jq -c '$rules'")
    is 3 "$(checks reference.scope=unavailable) and ([.made[].reason] | any(test(\"did not answer|before it had read\")))" declared purchases
}

@test "what the pipeline keeps: every stage's output, and no password" {
    is 1 "$(summary "$found" 1 0 0 0)" declared purchases --out=kept
    for f in 1-log-look 1-table-look 2-scope-declare 3-kafka-read 4-ref-run 5-ref-seal 6-ref-bind 7-ch-read 8-rows-diff; do
        [ "$(tail -n 1 "kept/$f.ndjson" | jq -r .type)" = end ]
    done
    [ "$(cat kept/status)" = 1 ]
    run -1 grep -rF "$READER_PASSWORD" kept
    rm kept/7-ch-read.ndjson
    is 1 "$(summary "$found" 1 0 0 0)" declared purchases --out=kept
}

# The cases' own table: two key columns of text, and a text that may be NULL.
cases_table() {
    sql "DROP TABLE IF EXISTS shop.$1"
    sql "CREATE TABLE shop.$1 (a String, b String, p Nullable(String), q String) ENGINE = MergeTree ORDER BY (a, b)"
    [ -z "${2:-}" ] || sql "INSERT INTO shop.$1 VALUES $2"
}

payload_is_a_row='{at: "\(.topic)/\(.partition)/\(.offset)"} + if .value then {values: .value} else {skip: true} end' in_process=()
case_audit() { # topic, more arguments: the rules are that a payload is a row
    local status=0 reference=("${in_process[@]}")
    [ ${#reference[@]} -gt 0 ] || reference=(-- jq -c "$payload_is_a_row")
    "$root/pipelines/audit" --key=a,b --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=10 --json --topic="$1" \
        --table="shop.$1" --range=ALL --bootstrap="$KAFKA_BOOTSTRAP" "${@:2}" "${reference[@]}" >"$work/report.json" 2>"$work/stderr" || status=$?
    return "$status"
}

case_records() { # payloads, one a line
    jq -Rc '{partition: 0, value: .}' | kafka produce "$@"
}

@test "keys and values are bytes: case, white space, NULL and where one column ends all tell rows apart" {
    kafka create-topic bytes 1
    printf '%s\n' '{"a":"a","b":"1","p":"ab","q":"c"}' '{"a":"A","b":"1","p":"ab","q":"c"}' '{"a":"é","b":"1","p":"ab","q":"c"}' \
        '{"a":"1","b":"23","p":"ab","q":"c"}' '{"a":"12","b":"3","p":"a b","q":"c"}' '{"a":"","b":"3","p":null,"q":"x"}' | case_records bytes
    cases_table bytes "('a','1','ab','c'),('A','1','ab','c'),('é','1','ab','c'),('1','23','ab','c'),('12','3','a b','c'),('','3',NULL,'x')"
    is 0 "$(summary "$found" 0 0 0 0)" case_audit bytes
    cases_table bytes "('a','1','a','bc'),('A','1','ab','c'),('é','1','ab','c'),('1','23','ab','c'),('12','3','ab','c'),('','3','','x')"
    is 1 "$(summary "$found" 0 3 0 0)" case_audit bytes
    cases_table bytes "('a','1','ab','c'),('a','1','ab','c'),('É','1','ab','c'),('12','3','a b','c'),('12','3','ab','c'),('','3',NULL,'x')"
    is 1 "$(summary "$found" 3 0 1 1)" case_audit bytes
    printf '%s\n' "$payload_is_a_row" >"$work/rules.jq"
    in_process=(--jq="$work/rules.jq")
    is 1 "$(summary "$found" 3 0 1 1)" case_audit bytes
    is 1 "$(summary "$found" 3 0 1 1)" case_audit bytes --out="$work/kept-jq"
    grep -q '"stage":"ref-jq"' "$work/kept-jq/4-ref-jq.ndjson"
}

@test "what a tombstone deletes must be gone, unless a later record owes it again" {
    kafka create-topic tombs 1
    printf '%s\n' '{"partition":0,"key":"1","value":"{\"q\":\"a\"}"}' '{"partition":0,"key":"2","value":"{\"q\":\"b\"}"}' '{"partition":0,"key":"1","value":null}' \
        '{"partition":0,"key":"2","value":null}' '{"partition":0,"key":"2","value":"{\"q\":\"c\"}"}' '{"partition":0,"key":"3","value":null}' | kafka produce tombs
    tombs() {
        local status=0
        "$root/pipelines/audit" --key=a --columns=a,q --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=10 --json --topic=tombs \
            --table=shop.tombs --range=ALL --bootstrap="$KAFKA_BOOTSTRAP" -- jq -c \
            '{at: "\(.topic)/\(.partition)/\(.offset)"} + if .payload == null then {absent: {a: .key}} else {values: {a: .key, q: .value.q}} end' >"$work/report.json" 2>"$work/stderr" ||
            status=$?
        return "$status"
    }
    cases_table tombs "('2','','','c')"
    is 0 "$(summary "$found" 0 0 0 0) and (.summaries[0] | .owed_rows == 1 and .keys == 3 and .absent_keys == 2 and .deleted_rows == 2)" tombs
    cases_table tombs "('1','','','a'),('2','','','c'),('3','','','x')"
    is 1 "$(summary "$found" 0 0 0 2) and ([.findings[] | [.key[0], .absent, .absent_at]] == [[\"1\", \"deleted\", \"tombs/0/2\"], [\"3\", \"deleted\", \"tombs/0/5\"]]) and
        (.checks[] | select(.name == \"reference.destination\") | .code == \"rows-not-deleted\")" tombs
    cases_table tombs "('2','','','b')"
    is 1 "$(summary "$found" 0 1 0 0)" tombs
}

@test "a whole table that the ranges alone are declared to have written: rows that nobody owed fail, and a log that went on leaves it unknown" {
    . "$root/tests/stream.bash"
    kafka create-topic alone 2
    { seq -f '{"partition":0,"value":"{\"a\":\"%g\",\"b\":\"x\",\"q\":\"y\"}"}' 1 5; seq -f '{"partition":1,"value":"{\"a\":\"%g\",\"b\":\"x\",\"q\":\"y\"}"}' 6 9; } | kafka produce alone
    cases_table alone "$(seq -f "('%g','x',NULL,'y')" 1 9 | paste -sd,)"
    local whole=(--coverage=complete-table --max-table-rows=1000)
    is 0 "$(summary "$found" 0 0 0 0) and $(checks destination.coverage=passed reference.destination=passed) and .coverage.whole_table_established and
        (.leads | any(contains(\"the table holds what these ranges owe and nothing else\")))" case_audit alone "${whole[@]}" --out=kept
    verdict <kept/8-rows-diff.ndjson | head -n 4 | grep -F 'assumed, not established: the table holds what these ranges owe and nothing else'
    [ "$(jq -c 'select(.type == "log") | .again' kept/7-log-again.ndjson)" = $'null\ntrue' ]
    # Without the looks that show it, or with ones of another end, no stream passes that says it did.
    for edit in 'select(.again | not)' 'select(.type != "log" or .again)' 'if .again then .partitions[0].stable += 1 else . end' 'if .again then .topic_id = "x" else . end' \
        'if .again then .partitions[1].low = 1 else . end' 'if .type == "observation" then .parts.after += 1 else . end' 'if .type == "observation" then del(.table_whole) else . end'; do
        edit "$edit" kept/8-rows-diff.ndjson
        run -2 --separate-stderr verdict <edited
    done
    # The keys alone are looked for without it, and the report says so; 25 rows that nobody owed are then not seen.
    sql "INSERT INTO shop.alone SELECT toString(number), 'ghost', NULL, '' FROM numbers(25)"
    is 0 "$(summary "$found" 0 0 0 0) and (.coverage.whole_table_established | not) and (.not_established | any(startswith(\"rows of any other key\")))" case_audit alone
    is 1 "$(checks destination.coverage=failed reference.destination=passed) and (.summaries[] | select(.relation == \"coverage\") | .unexpected == {keys: 25, rows: 25})" case_audit alone "${whole[@]}"
    # No bound on the rows, ranges that are not all, and a log that goes on while the table is read.
    cases_table alone "$(seq -f "('%g','x',NULL,'y')" 1 9 | paste -sd,)"
    is 3 "$(checks destination.coverage=unavailable)" case_audit alone --coverage=complete-table
    log-look -b "$KAFKA_BOOTSTRAP" -t alone | table-look --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --table=shop.alone >looked
    for range in 0:0-5 "0:0-5 --range=1:0-3" "0:1-5 --range=1:0-4" ALL; do
        # shellcheck disable=SC2086
        scope-declare --key=a,b --coverage=complete-table --range=$range --out=scope.json <looked >declared
        kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" | ref-run --strict -- jq -c '{at: "\(.topic)/\(.partition)/\(.offset)", values: .value}' |
            ref-seal --scope=scope.json --reference-name=x --out=reference >/dev/null
        ref-bind --reference=reference <declared | ch-read --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=10 --max-table-rows=100 >found.ndjson
        [ "$range" != ALL ] || kafka produce alone <<<'{"partition":0,"value":"{\"a\":\"late\",\"b\":\"x\",\"q\":\"y\"}"}'
        log-look --again -b "$KAFKA_BOOTSTRAP" <found.ndjson | { rows-diff || [ $? -le 3 ]; } >compared
        jq -r 'select(.name == "destination.coverage") | "\(.status) \(.code) \(.reason)"' compared
    done >codes
    [ "$(cut -d' ' -f1,2 codes)" = $'unavailable log-went-on\nunavailable log-went-on\nunavailable log-not-from-start\nunavailable log-went-on' ]
    grep -q 'alone/0 ended at 6 after the table was read, and the scope.s range of it at 5' codes
}

@test "a key that stands outside the range too is said to be one before a repair is; the whole log, or the records' places as key, tell its rows apart" {
    kafka create-topic updates 1
    printf '%s\n' '{"a":"1","q":"old"}' '{"a":"2","q":"x"}' '{"a":"1","q":"new"}' | case_records updates
    sql "CREATE TABLE shop.updates (a String, q String, kafka_partition Int32, kafka_offset Int64) ENGINE = MergeTree ORDER BY a"
    sql "INSERT INTO shop.updates VALUES ('1', 'old', 0, 0), ('2', 'x', 0, 1), ('1', 'new', 0, 2)"
    updates() { # OPTION…
        local status=0
        "$root/pipelines/audit" --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=10 --json --topic=updates --table=shop.updates \
            --bootstrap="$KAFKA_BOOTSTRAP" "$@" -- jq -c '{at: "\(.topic)/\(.partition)/\(.offset)",
                values: (.value + {kafka_partition: .partition, kafka_offset: .offset})}' >"$work/report.json" 2>"$work/stderr" || status=$?
        return "$status"
    }
    is 1 "$(summary "$found" 0 0 0 1) and (.checks[] | select(.name == \"reference.destination\") | .code == \"key-names-several\" and
        (.next | startswith(\"before the table is repaired, declare the whole log\")))" updates --key=a --range=0:0-2
    is 0 "$(summary "$found" 0 0 0 0)" updates --key=a --range=ALL
    is 0 "$(summary "$found" 0 0 0 0)" updates --key=kafka_partition,kafka_offset --range=0:0-2
    sql "INSERT INTO shop.updates VALUES ('1', 'old', 0, 0)"
    is 1 "$(summary "$found" 0 0 1 0) and (.checks[] | select(.name == \"reference.destination\") | .code == \"rows-duplicated\")" updates --key=a --range=ALL
}

@test "several topics into one table: each topic's rows are owed, and no others" {
    kafka create-topic east 1
    kafka create-topic west 2
    printf '%s\n' '{"a":"1","b":"e","q":"x"}' '{"a":"2","b":"e","q":"y"}' | case_records east
    { printf '%s\n' '{"partition":0,"value":"{\"a\":\"1\",\"b\":\"w\",\"q\":\"x\"}"}' '{"partition":1,"value":"{\"a\":\"2\",\"b\":\"w\",\"q\":\"y\"}"}'; } | kafka produce west
    printf '%s\n' '{"partition":0,"value":"{\"a\":\"9\",\"b\":\"w\",\"q\":\"z\"}"}' | kafka --transactional-id=west --abort produce west
    cases_table regions "('1','e',NULL,'x'),('2','e',NULL,'y'),('1','w',NULL,'x'),('2','w',NULL,'y')"
    regions() { # OPTION…
        local status=0
        "$root/pipelines/audit" --key=a,b --url="$CH_URL" --user=reader --password-env=READER_PASSWORD --settle-ms=10 --json --topic=east --topic=west \
            --table=shop.regions --bootstrap="$KAFKA_BOOTSTRAP" "$@" -- jq -c '{at: "\(.topic)/\(.partition)/\(.offset)", values: .value}' \
            >"$work/report.json" 2>"$work/stderr" || status=$?
        return "$status"
    }
    local both=(--range=east/ALL --range=west/ALL) whole=(--coverage=complete-table --max-table-rows=100)
    is 0 "$(summary "$found" 0 0 0 0) and .summaries[0].owed_rows == 4 and (.about.scope | length == 4)" regions "${both[@]}"
    is 0 "$(checks destination.coverage=passed) and .summaries[0].owed_rows == 4" regions "${both[@]}" "${whole[@]}" --aborted
    # One topic alone does not owe it all, and ALL is all of both.
    is 1 "$(checks destination.coverage=failed reference.destination=passed)" regions --range=west/ALL "${whole[@]}"
    is 0 "$(summary "$found" 0 0 0 0) and .summaries[0].owed_rows == 4" regions --range=ALL
    cases_table regions "('1','e',NULL,'x'),('2','e',NULL,'y'),('1','w',NULL,'x'),('9','w',NULL,'z')"
    is 1 "$(summary "$found" 1 0 0 1) and ([.findings[] | .at // .absent_at] == [\"west/1/0\", \"west/0/1\"])" regions "${both[@]}" --aborted
    is 2 true regions --range=0:0-1
    is 2 true regions "${both[@]}" --range=north/ALL
}

@test "one row five times is four surplus copies of one key" {
    kafka create-topic copies 1
    case_records copies <<<'{"a":"r","b":"1","p":"x","q":"y"}'
    cases_table copies "('r','1','x','y'),('r','1','x','y'),('r','1','x','y'),('r','1','x','y'),('r','1','x','y')"
    is 1 "$(summary "$found" 0 0 4 0) and .summaries[0].duplicated.keys == 1" case_audit copies
}

@test "what an aborted transaction wrote is owed only where the scope says read_uncommitted; a null value and the text null owe nothing" {
    kafka create-topic levels 1
    case_records levels <<<'{"a":"1","b":"1","p":"x","q":"y"}'
    jq -Rc '{partition: 0, value: .}' <<<'{"a":"2","b":"1","p":"x","q":"y"}' | kafka --transactional-id=levels --abort produce levels
    printf '%s\n' '{"partition":0,"value":null}' '{"partition":0,"value":"null"}' | kafka produce levels
    cases_table levels "('1','1','x','y'),('2','1','x','y')"
    is 0 "$(summary "$found" 0 0 0 0) and .summaries[0].owed_rows == 1" case_audit levels
    is 0 "$(summary "$found" 0 0 0 0) and .summaries[0].owed_rows == 2" case_audit levels --isolation=read_uncommitted
    # Looked for, the aborted row fails, where without --aborted both isolations pass.
    is 1 "$(summary "$found" 0 0 0 1) and .summaries[0].absent_keys == 1 and .must_be_absent.aborted == 1 and
        (.findings[0] | .kind == \"unexpected\" and .key == [\"2\", \"1\"] and .absent == \"aborted\" and .absent_at == \"levels/0/1\") and
        (.checks[] | select(.name == \"reference.destination\") | .code == \"rows-aborted\")" case_audit levels --aborted --out=kept
    # Nobody passes it by leaving the key out of the stream, or out of the accounts.
    . "$root/tests/stream.bash"
    for edit in 'if .type == "absent" then empty else . end' 'if .type == "absent" then empty elif .role == "binder" then del(.absent) else . end'; do
        jq -c "select(.type != \"end\" and .type != \"finding\") | ($edit)"' | if .type == "summary" then .unexpected = {keys: 0, rows: 0} | .listed = 0 |
            .found_rows = 1 | .keys = 1 | del(.absent_keys) elif .name == "reference.destination" then .status = "passed" | del(.code, .facts) | .reason = "" |
            .counts = {keys: 1, owed_rows: 1, found_rows: 1} else . end' kept/8-rows-diff.ndjson | ended >edited
        run -2 --separate-stderr verdict <edited
    done
    cases_table levels "('1','1','x','y')"
    is 0 "$(summary "$found" 0 0 0 0)" case_audit levels
    is 0 "$(summary "$found" 0 0 0 0) and .summaries[0].keys == 2 and (.about.absent[0] | startswith(\"1 rows of aborted records\"))" case_audit levels --aborted
    is 1 "$(summary "$found" 1 0 0 0)" case_audit levels --isolation=read_uncommitted
    # An empty value is neither: it is no JSON.
    kafka produce levels <<<'{"partition":0,"value":""}'
    is 3 '([.made[] | select(.name == "reference.scope") | .code] == ["records-unreadable"])' case_audit levels
    is 0 "$(summary "$found" 0 0 0 0)" case_audit levels --unreadable=skip
}
