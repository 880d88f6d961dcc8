#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Replicas of a table, on real engines and a real ZooKeeper: one that is read-only, one whose log went on without it, one without its
# metadata, and another one than the scope's are refused by what system.replicas shows. The embedded engine keeps every replica
# read-only, so that a current one, and one that is stale in a single way, are answers of system.replicas made for it (the fault `made`
# reads the view made.replicas in its place): no replica that took part in replication was ever read.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers

setup_file() {
    local out
    if ! out=$("$OWED_ROOT/tests/services/zookeeper" up --dir="$BATS_FILE_TMPDIR/zookeeper" 2>"$BATS_FILE_TMPDIR/zookeeper.err"); then
        CH_LACK=$(tail -n 1 "$BATS_FILE_TMPDIR/zookeeper.err")
        export CH_LACK
        return
    fi
    eval "$out"
    CH_DIR=$BATS_FILE_TMPDIR/second clickhouse_up ${OWED_CH_LINE:+--line="$OWED_CH_LINE"} --zookeeper="$ZOOKEEPER" --replica=r2
    export CH_SECOND=${CH_URL:-} CH_SECOND_PASSWORD=${CH_READER_PASSWORD:-}
    [ -z "$CH_LACK" ] || return 0
    CH_DIR=$BATS_FILE_TMPDIR/first
    clickhouse_up ${OWED_CH_LINE:+--line="$OWED_CH_LINE"} --zookeeper="$ZOOKEEPER" --replica=r1 --user=fixed:select:select_sequential_consistency==0
}

setup() {
    clickhouse_need
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    url=$CH_URL asked=(--user=reader --password-env=CH_READER_PASSWORD)
    ch "CREATE DATABASE IF NOT EXISTS shop"
    ch "CREATE DATABASE IF NOT EXISTS made"
    ch "DROP TABLE IF EXISTS shop.orders"
}

teardown() { [ -n "${CH_LACK:-}" ] || ch_fault clear=1; }

teardown_file() {
    local dir
    for dir in first second; do
        [ ! -d "$BATS_FILE_TMPDIR/$dir" ] || "$OWED_ROOT/tests/services/clickhouse" down --dir="$BATS_FILE_TMPDIR/$dir"
    done
    "$OWED_ROOT/tests/services/zookeeper" down --dir="$BATS_FILE_TMPDIR/zookeeper"
}

columns='id Int64, ver UInt64, s String'
owed=('{"id":1,"ver":2,"s":"a"}@t/0/0' '{"id":2,"ver":3,"s":"b"}@t/0/1')

# replica ENGINE VALUES: shop.orders of that engine with these rows, made a replica as a server makes one of a table that was none.
replica() {
    ch "CREATE TABLE shop.orders ($columns) ENGINE = $1"
    ch "INSERT INTO shop.orders VALUES $2"
    ch "DETACH TABLE shop.orders"
    ch "ATTACH TABLE shop.orders AS REPLICATED"
}

# shows NAME=VALUE…: from now on system.replicas is answered with these in place of what it holds, and else as of a current replica.
shows() {
    local one list=''
    local -A set=([is_readonly]=0 [log_max_index]=5 [log_pointer]=6 [absolute_delay]=0 [total_replicas]=2 [active_replicas]=2 [zookeeper_exception]="''")
    for one; do set[${one%%=*}]=${one#*=}; done
    for one in "${!set[@]}"; do list+=", ${set[$one]} AS $one"; done
    ch "CREATE OR REPLACE VIEW made.replicas AS SELECT * REPLACE (${list#, }) FROM system.replicas ${where:-}"
    ch_fault "when=made&n=99&match=system.replicas"
}

look() {
    echo '{"type":"log","topic":"t","cluster_id":"c","topic_id":"i","partitions":[{"partition":0,"low":0,"high":9,"stable":9}]}' | whole log
    run -0 --separate-stderr from log "$bin/table-look" --url="$url" "${asked[@]}" --table=shop.orders
    printf '%s\n' "$output" >looked
}

# declares [ARGUMENT…]: the table, looked at, and what is owed to it.
declares() {
    look
    run -0 --separate-stderr from looked "$bin/scope-declare" --range=ALL --out=scope.json --key=id "$@"
    printf '%s\n' "$output" >declared
    for one in "${owed[@]}"; do event_of "${one%@*}" "${one##*@}"; done | whole events
    run -0 --separate-stderr from events "$bin/ref-seal" --scope=scope.json --reference-name=r --complete --out=reference
}

# reads [ARGUMENT…]: what ch-read writes is in the file read.ndjson.
reads() {
    "$bin/ref-bind" --reference=reference <declared >bound 2>/dev/null || [ $? -le 3 ]
    "$bin/ch-read" --url="$url" "${asked[@]}" --settle-ms=0 "$@" <bound >read.ndjson 2>said || [ $? -le 3 ]
}

# audit STATUS [ARGUMENT…]: the report is in $output.
audit() {
    local want=$1
    shift
    reads "$@"
    "$bin/rows-diff" <read.ndjson >diffed 2>>said || [ $? -le 3 ]
    run "-$want" --separate-stderr from diffed "$bin/verdict" || { printf '%s\n' "$output" >&2; cat said >&2; return 1; }
}
says() { [[ $output == *"$1"* ]] || { printf 'not said: %s\n%s\n' "$1" "$output" >&2; return 1; }; }
# refused CODE TEXT: what ch-read said of the destination, without a row of it.
refused() {
    jq -se --arg code "$1" --arg text "$2" 'all(.[]; .type != "row" or .side != "destination") and
        any(.[]; .name == "reconcile.destination" and .status == "unavailable" and .code == $code and (.reason | contains($text)))' read.ndjson >/dev/null ||
        { jq -c 'select(.name == "reconcile.destination" or .type == "observation")' read.ndjson >&2; return 1; }
}

@test "a replica that is registered and read-only is refused before a row is read, and so is one without its metadata" {
    ch "CREATE TABLE shop.orders ($columns) ENGINE = ReplicatedReplacingMergeTree('/clickhouse/{shard}/readonly', '{replica}', ver) ORDER BY id"
    declares --final
    jq -e '.declared.final.engine == "ReplicatedReplacingMergeTree" and .declared.final.version == "ver" and
        .declared.replica == {path: "/clickhouse/01/readonly", name: "r1"}' scope.json
    audit 3
    refused replica-read-only "replica 'r1' of /clickhouse/01/readonly cannot stand for the table: it is read-only"
    says "replica-read-only: ask another replica than r1"
    jq -se 'any(.[]; .type == "observation" and .replica.before.readonly == 1 and .replica.after == null)' read.ndjson
    # Another replica wrote to the log since.
    "$OWED_ROOT/tests/services/zookeeper" create --dir="$BATS_FILE_TMPDIR/zookeeper" /clickhouse/01/readonly/log/log-0000000003
    audit 3
    refused replica-read-only "4 entries of the table's log are not in its queue"
    jq -se 'any(.[]; .type == "observation" and .replica.before.log_max == 3 and .replica.before.log_pointer == 0)' read.ndjson
    ch "DROP TABLE shop.orders"
    replica "MergeTree ORDER BY id" "(1, 2, 'a'), (2, 3, 'b')"
    declares
    audit 3
    refused replica-read-only "it could not ask the coordination service"
    refused replica-read-only "No node"
}

@test "another replica than the scope's is refused by name, on another server as on this one" {
    ch "CREATE TABLE shop.orders ($columns) ENGINE = ReplicatedMergeTree('/clickhouse/{shard}/other', '{replica}') ORDER BY id"
    declares
    (
        CH_URL=$CH_SECOND CH_DIR=$BATS_FILE_TMPDIR/second
        ch "CREATE DATABASE IF NOT EXISTS shop"
        ch "CREATE TABLE shop.orders ($columns) ENGINE = ReplicatedMergeTree('/clickhouse/{shard}/other', '{replica}') ORDER BY id"
    )
    url=$CH_SECOND CH_READER_PASSWORD=$CH_SECOND_PASSWORD audit 2
    says "the table that answers is replica 'r2' of /clickhouse/01/other, and the scope's is replica 'r1'"
    says "replica-other: connect to replica r1"
    ch "CREATE TABLE shop.third ($columns) ENGINE = ReplicatedMergeTree('/clickhouse/{shard}/other', 'r3') ORDER BY id"
    ch "EXCHANGE TABLES shop.orders AND shop.third"
    audit 2
    says "the table that answers is replica 'r3'"
    ch "DROP TABLE shop.third"
    # A server that holds no replica of it is another server, and a table in its place another table.
    ch "DROP TABLE shop.orders"
    ch "CREATE TABLE shop.orders ($columns) ENGINE = MergeTree ORDER BY id"
    audit 2
    says "server-other"
}

@test "of a replica that is shown to be current, by an answer made for it, the answer says which one it is" {
    replica "ReplacingMergeTree(ver) ORDER BY id" "(1, 2, 'a'), (2, 3, 'b')"
    shows
    for how in --final --columns=id,ver,s; do
        declares "$how"
        audit 0
        says "the answer is of replica r1 of /clickhouse/tables/"
        says "how replicas are read was never run on a server"
        says "select_sequential_consistency went with every statement that read rows"
        says "what the other replicas of the table hold: they were not read"
        "$bin/verdict" --json <diffed | jq -e '.destination.observed.replica.name == "r1"'
        jq -se 'any(.[]; .type == "observation" and .settings.select_sequential_consistency == "1" and .replica.before == .replica.after)' read.ndjson
    done
    # A row of it is missing all the same.
    owed+=('{"id":3,"ver":1,"s":"c"}@t/0/2')
    declares --final
    audit 1
    says "missing 1 rows of 1 keys"
    unset 'owed[2]'
    declares --final
    asked=(--user=fixed --password-env=CH_FIXED_PASSWORD)
    audit 0
    says "select_sequential_consistency was not sent"
    jq -se 'any(.[]; .type == "observation" and (.settings | has("select_sequential_consistency") | not))' read.ndjson
}

@test "a replica is refused for each thing that system.replicas shows it to lack, by answers made for it" {
    replica "MergeTree ORDER BY id" "(1, 2, 'a'), (2, 3, 'b')"
    shows
    declares
    while IFS='|' read -r shown code words; do
        ch_fault clear=1
        read -ra set <<<"$shown"
        shows "${set[@]}"
        reads
        refused "$code" "$words"
    done <<'CASES'
is_readonly=1|replica-read-only|it is read-only
is_session_expired=1|replica-expired|its session with the coordination service has expired
active_replicas=0|replica-expired|no replica of the table has a session
zookeeper_exception='gone'|replica-expired|it could not ask the coordination service: gone
last_queue_update_exception='bad'|replica-behind|its queue could not be brought up to date
queue_size=3|replica-behind|3 entries wait in its queue
parts_to_check=1|replica-behind|1 parts wait to be checked
log_pointer=5|replica-behind|1 entries of the table's log are not in its queue
log_pointer=0 log_max_index=0|replica-behind|it took no entry of the table's log yet
absolute_delay=7|replica-behind|it is 7 s behind
CASES
    audit 3
    says "replica-behind: wait until system.replicas shows of r1 queue_size 0"
    audit 0 --max-replica-delay-s=7
    audit 3 --max-replica-delay-s=6
    ch_fault clear=1
    where="WHERE table = 'nosuch'" shows
    reads
    refused replica-not-shown "system.replicas shows this user no replica"
}

@test "a replica that fell behind while it was read is no pass, and its report cannot be edited to one" {
    replica "MergeTree ORDER BY id" "(1, 2, 'a'), (2, 3, 'b')"
    shows
    declares
    ch_fault clear=1
    ch_fault "when=made&n=1&match=system.replicas"
    audit 3
    says "replica-read-only"
    jq -se 'any(.[]; .type == "observation" and .stable == false and .replica.after.readonly == 1)' read.ndjson
    ch_fault clear=1
    shows
    audit 0
    while IFS= read -r filter; do
        jq -c "if .type == \"observation\" then $filter else . end" diffed | jq -c 'select(.type != "end")' | ended >edited
        run -2 --separate-stderr from edited "$bin/verdict" || { printf '%s: %s\n' "$filter" "$output" >&2; return 1; }
        [[ $output == *evidence-contradicts* ]]
    done <<'FILTERS'
del(.replica)
.replica.before.readonly = 1
.replica.after.queue = 1
.replica.after.lost_parts = 1
.replica.name = "r2"
del(.replica.after)
.engine = "MergeTree" | .engine_full = "MergeTree ORDER BY id"
FILTERS
}
