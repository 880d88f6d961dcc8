#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# kafka-read and log-look on a real broker: what exactly is in a range, how its end is known, and what makes it incomplete.
bats_require_minimum_version 1.5.0
load kafka
load ../stream
load ../answers
load agree

stderr="" stderr_lines=() # run sets them

setup_file() {
    kafka_up
    agree_up
}
teardown_file() {
    agree_down
    kafka_down
}

setup() {
    kafka_need broker
    cd "$BATS_TEST_TMPDIR" || exit 1
    topic=r-$BATS_TEST_NUMBER-$$
    held=() pid=
}

teardown() {
    local p
    for p in "${held[@]:-}" "${pid:-}"; do
        [ -z "$p" ] || { kill -9 "$p" && wait "$p"; } 2>/dev/null || true
    done
}

# records PARTITION FIRST LAST: as many lines for kafka_tool produce.
records() { seq "$2" "$3" | sed "s/.*/{\"partition\":$1,\"key\":\"k&\",\"value\":\"v&\"}/"; }
produce() { kafka_tool "$@" produce "$topic"; }
commit() { echo '{"end":"commit"}'; }
abort() { echo '{"end":"abort"}'; }
transactions() { produce --transactional-id="$topic" --abort; }

# an open transaction on descriptor FD, with as many records as come on standard input; closed by end_open FD.
open_transaction() { # FD NAME COMMIT|ABORT LINES
    local lines=$4
    mkfifo "$2.in"
    kafka_tool --transactional-id="$2-$topic" "--$3" --hold produce "$topic" <"$2.in" >"$2.out" 3>&- &
    held+=($!)
    eval "exec $1>$2.in"
    printf '%s\n' "$lines" >&"$1"
    until_in "$2.out" "\"delivered\":$(wc -l <<<"$lines")}"
}

ids() { log-look -b "$KAFKA_BOOTSTRAP" -t "$1" | jq -r 'select(.type == "log") | [.cluster_id, .topic_id] | @tsv'; }
# scope RANGE…: the scope of $topic as it is now, into scope.json
scope() {
    local cluster id
    read -r cluster id < <(ids "$topic")
    scope_of_sources "$(source_of "$topic" "$cluster" "$id" "${isolation:-read_committed}" "$@")" >scope.json
}
read_() { kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60 "$@"; }
start() { # the program itself, in the background, as $pid; it must not hold a transaction's FIFO open
    rm -f out err
    kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=600 --stable-wait-s=600 "$@" >out 2>err 3>&- 7>&- 8>&- &
    pid=$!
}
# The same into a pipe that nobody reads from until `go` is there, once the pipe is full.
start_slowly() {
    rm -f out err go pipe
    mkfifo pipe
    { until [ -e go ]; do sleep 0.05; done; cat; } <pipe >out 3>&- &
    reader=$!
    kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=600 "$@" >pipe 2>err 3>&- &
    pid=$!
    until [ "$(python3 -c 'import fcntl, struct, termios
print(struct.unpack("i", fcntl.ioctl(0, termios.FIONREAD, bytes(4)))[0])' <pipe)" -ge 40000 ]; do sleep 0.05; done
}
ended() { # its exit status into $status
    status=0
    wait "$pid" || status=$?
    pid=
}

# What a file holds: whole, then offsets, payloads, the account.
offsets() { jq -r "select(.type == \"record\" and .partition == ${2:-0}) | .offset" "$1" | paste -sd' '; }
payloads() { jq -r 'select(.type == "record") | .payload' "$1" | paste -sd' '; }
account() { grep '^{"type":"account"' "${1:-out}"; }
range() { account | jq -c ".ranges[] | select(.partition == ${2:-0}) | $1"; }
sums() { # every offset that was passed stands in the account, and every record line
    [ "$(account | jq '[.ranges[] | .offsets == .delivered + .not_delivered and .offsets == .position - .from and
        ((has("aborted") | not) or .not_delivered == .aborted + .marker_or_absent)] | all')" = true ]
    [ "$(account | jq .delivered)" = "$(grep -c '^{"type":"record"' out)" ]
}
complete() { # exit 0 and an account to match
    run -0 --separate-stderr bash -c 'kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60 "$@" >out' _ "$@"
    is_whole out
    sums
    [ "$(account | jq -c '[.complete, .reasons, ([.ranges[] | .complete and .position == .to and .reason == ""] | all), .verified]')" = \
        '[true,[],true,["cluster id","topic id","cleanup policy","log start before and after"]]' ]
    agrees 0 "$@"
}
# code_is CODE: of what the last account says first.
code_is() { [ "$(account | jq -r .code)" = "$1" ] || { account >&2; return 1; }; }
incomplete() { # REASON OPTION…: exit 3 without a stop, the reason in the account and on standard error
    alone "$@"
    shift
    agrees 3 "$@"
}
other_says() { # what the other client said of the last read, where it is there
    [ -z "$AGREE_PID" ] || grep -qF "$1" theirs.err || { cat theirs.err >&2; return 1; }
}
alone() { # the same, of what the other client does not look for
    local reason=$1
    shift
    run -3 --separate-stderr bash -c 'kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60 "$@" >out' _ "$@"
    says "$reason" "$stderr"
}
says() { # REASON STDERR
    is_whole out
    sums
    run ! grep -q '"stop"' out
    [ "$(account | jq .complete)" = false ]
    grep -qx ".It $(account | jq -r .code)" "$BATS_TEST_DIRNAME/../../man/owed-codes.7" || { account >&2; return 1; }
    [[ $(account | jq -r '.reasons[]') == *"$1"* ]] || { account >&2; return 1; }
    [[ $2 == *"kafka-read: "*"$1"* ]] || { printf '%s\n' "$2" >&2; return 1; }
}

until_in() {
    local end=$((SECONDS + 120))
    until grep -qs "$2" "$1"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

recreate() {
    local end=$((SECONDS + 120))
    kafka_tool delete-topic "$topic"
    until kafka_topic "$topic" "$1" 2>create.err; do
        [ "$SECONDS" -lt "$end" ] || { cat create.err; return 1; }
        sleep 0.1
    done
}

@test "committed, aborted and empty transactions: each offset of the range is accounted for" {
    kafka_topic "$topic" 2
    { records 0 1 3; commit; records 0 4 6; abort; records 0 7 8; commit; records 0 9 9; } | transactions
    scope 0:0-13 1:0-0
    complete
    [ "$(offsets out)" = "0 1 2 8 9" ]
    [ "$(payloads out)" = "v1 v2 v3 v7 v8" ]
    [ "$(range '[.offsets, .delivered, .null_values, .not_delivered, .aborted]')" = '[13,5,0,8,null]' ]
    complete --account
    [ "$(range '[.offsets, .delivered, .not_delivered, .aborted, .marker_or_absent]')" = '[13,5,8,4,4]' ]
    [ "$(range '[.offsets, .aborted, .marker_or_absent]' 1)" = '[0,0,0]' ]
    # a range that begins and ends inside transactions
    scope 0:2-9
    complete --account
    [ "$(offsets out)" = "2 8" ]
    [ "$(range '[.offsets, .delivered, .aborted, .marker_or_absent]')" = '[7,2,3,2]' ]
}

# brings PAYLOADS: with --aborted the records that are marked are these, and no other is marked; those that are not marked are what
# comes without. What read_uncommitted delivers is both together.
brings() {
    kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60 >out.plain
    kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60 --aborted >out
    is_whole out
    [ "$(jq -r 'select(.type == "record" and .aborted) | .payload' out | paste -sd' ')" = "$1" ]
    diff <(grep '^{"type":"record"' out.plain) <(grep '^{"type":"record"' out | grep -v '"aborted":true}$')
    [ "$(account | jq -c '[.complete, .aborted, ([.ranges[].aborted] | add)]')" = "[true,$(wc -w <<<"$1"),$(wc -w <<<"$1")]" ]
    jq '.sources[].isolation = "read_uncommitted"' scope.json | scope_print >both.json
    kafka-read --scope=both.json -b "$KAFKA_BOOTSTRAP" --deadline-s=60 >out.both
    diff <(jq -c 'select(.type == "record") | [.partition, .offset, .payload]' out.both | sort) \
        <(jq -c 'select(.type == "record") | [.partition, .offset, .payload]' out | sort)
}

@test "--aborted brings what aborted transactions wrote, each once and marked, and the account counts them" {
    kafka_topic "$topic" 2
    { records 0 1 3; commit; records 0 4 6; abort; records 0 7 8; commit; records 0 9 9; records 1 20 21; abort; records 1 22 22; commit; } | transactions
    scope 0:0-13 1:0-5
    brings "v4 v5 v6 v9 v20 v21"
    # a range that begins and ends inside transactions, and one without any
    scope 0:2-9
    brings "v4 v5 v6"
    scope 0:0-3 1:0-0
    brings ""
    # Under read_uncommitted they are owed as all others.
    isolation=read_uncommitted scope 0:0-13
    run -2 --separate-stderr kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --aborted
    [[ $stderr == *"--aborted: the scope is of read_uncommitted"* ]]
    # A bound counts them too.
    scope 0:0-13
    run -3 --separate-stderr bash -c 'kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" --aborted --max-records=6 >out'
    [ "$(account | jq -c '[.complete, .code, .aborted]')" = '[false,"bound-passed",1]' ]
}

@test "--aborted among transactions that interleave, and a thousand of them" {
    kafka_topic "$topic" 1
    open_transaction 7 a abort "$(records 0 1 2)"
    open_transaction 8 b commit "$(records 0 11 12)"
    records 0 3 3 >&7
    until_in a.out '"delivered":3'
    records 0 13 13 >&8
    until_in b.out '"delivered":3'
    exec 7>&- 8>&-
    wait "${held[@]}"
    scope 0:0-8
    brings "v1 v2 v3"
    topic=$topic-many
    kafka_topic "$topic" 1
    for i in $(seq 1 2 599); do records 0 "$i" "$i"; abort; records 0 $((i + 1)) $((i + 1)); commit; done | transactions
    scope 0:0-1200
    brings "$(seq -f v%g 1 2 599 | paste -sd' ')"
}

@test "interleaved transactions, one committed and one aborted" {
    kafka_topic "$topic" 1
    open_transaction 7 a abort "$(records 0 1 2)"
    open_transaction 8 b commit "$(records 0 11 12)"
    records 0 3 3 >&7
    until_in a.out '"delivered":3'
    records 0 13 13 >&8
    until_in b.out '"delivered":3'
    exec 7>&- 8>&-
    wait "${held[@]}"
    scope 0:0-8
    complete --account
    [ "$(payloads out)" = "v11 v12 v13" ]
    [ "$(range '[.delivered, .aborted, .marker_or_absent]')" = '[3,3,2]' ]
}

@test "B03: a marker at the range's last offset ends it, with nothing ever produced after" {
    kafka_topic "$topic" 1
    { records 0 1 95; commit; records 0 98 100; commit; } | transactions
    scope 0:96-100
    complete --account
    [ "$(offsets out)" = "96 97 98" ]
    [ "$(range '[.position, .delivered, .aborted, .marker_or_absent]')" = '[100,3,0,1]' ]
}

@test "B06: a thousand aborted records and one that was committed: silence is no end" {
    kafka_topic "$topic" 1
    { records 0 1 1000; abort; echo '{"value":"z"}'; commit; } | transactions
    scope 0:0-1003
    complete --account
    [ "$(payloads out)" = z ]
    [ "$(range '[.offsets, .delivered, .aborted, .marker_or_absent]')" = '[1003,1,1000,2]' ]
    # wholly aborted, its end in the midst of it and behind its marker
    scope 0:0-500
    complete --account
    [ "$(range '[.delivered, .aborted, .marker_or_absent]')" = '[0,500,0]' ]
    scope 0:10-1001
    complete --account
    [ "$(range '[.delivered, .aborted, .marker_or_absent]')" = '[0,990,1]' ]
}

@test "B05: the scope's isolation decides whether aborted records are owed" {
    kafka_topic "$topic" 1
    { echo '{"value":"20"}'; abort; } | transactions
    scope 0:0-2
    complete
    [ -z "$(payloads out)" ]
    [ "$(account | jq -r .isolation)" = read_committed ]
    isolation=read_uncommitted scope 0:0-2
    complete --account
    [ "$(payloads out)" = 20 ]
    [ "$(account | jq -r .isolation)" = read_uncommitted ]
    [ "$(range '[.aborted, .marker_or_absent]')" = '[0,1]' ]
}

@test "B01: an open transaction under the range's end is said at once, waited for so long, and what was read is printed" {
    kafka_topic "$topic" 1
    records 0 1 200 | produce
    open_transaction 7 a commit "$(records 0 201 202)"
    records 0 203 300 | produce
    scope 0:0-250
    start
    until_in err "$topic/0: last stable offset 200 < range end 250: open transaction"
    kill "$pid"
    wait "$pid" || true
    start --stable-wait-s=1 --account
    ended
    [ "$status" -eq 3 ]
    says "$topic/0: an open transaction holds the last stable offset at 200, under the range's end 250" "$(cat err)"
    [ "$(offsets out)" = "$(seq 0 199 | paste -sd' ')" ]
    [ "$(range '[.to, .position, .offsets, .delivered]')" = '[250,200,200,200]' ]
    # from past the last stable offset on, no answer of the broker ever says that an end was reached
    scope 0:220-250
    incomplete "an open transaction holds the last stable offset at 200" --stable-wait-s=1
    code_is transaction-open
    [ -z "$(offsets out)" ]
    # under read_uncommitted nothing is held back
    isolation=read_uncommitted scope 0:0-250
    complete
    # a transaction that ends in time
    scope 0:0-250
    start
    until_in err "open transaction"
    until_in out '"offset":199,'
    exec 7>&-
    ended
    [ "$status" -eq 0 ]
    [ "$(offsets out)" = "$(seq 0 249 | paste -sd' ')" ]
    [ "$(account | jq .complete)" = true ]
}

@test "B09: history that has expired: the offsets that are gone, and no record in their place" {
    kafka_topic "$topic" 2
    { records 0 1 510; records 1 1 5; } | produce
    scope 0:378-510 1:0-5
    kafka_tool delete-records "$topic" 0 500
    incomplete "$topic/0: first available offset 500 is past the range's start 378: 122 offsets are gone"
    code_is range-expired
    [ "$(account | jq -r .facts.partition)" = "$topic/0" ]
    [ -z "$(offsets out 0)" ]
    [ "$(range '[.complete, .position]' 0)" = '[false,378]' ]
    [ "$(range '[.complete, .delivered]' 1)" = '[true,5]' ]
    scope 0:500-510
    complete
}

@test "retention that passes the range's start, or the position, during the read" {
    kafka_topic "$topic" 1
    records 0 1 20 | produce
    open_transaction 7 a commit "$(records 0 21 22)"
    scope 0:0-22
    start
    until_in out '"offset":19,'
    kafka_tool delete-records "$topic" 0 5
    exec 7>&-
    ended
    [ "$status" -eq 3 ]
    says "retention passed its start while it was read: first available offset 5, past the range's start 0" "$(cat err)"
    [ "$(range .delivered)" = 22 ]
    # twenty megabytes do not fit into what lies between the broker and a reader that stands still
    topic=$topic-long
    kafka_topic "$topic" 1
    value=$(head -c 1000000 /dev/zero | tr '\0' x)
    seq 40 | while read -r _; do echo "{\"value\":\"$value\"}"; done | produce
    scope 0:0-40
    start_slowly
    kafka_tool delete-records "$topic" 0 39
    : >go
    ended
    wait "$reader"
    [ "$status" -eq 3 ]
    says "first available offset 39" "$(cat err)"
    [ "$(range .delivered)" -lt 39 ]
}

@test "B10: a topic recreated between scope and read is another topic: none of its records, both ids" {
    kafka_topic "$topic" 1
    records 0 1 110 | produce
    scope 0:100-110
    read -r _ before < <(ids "$topic")
    recreate 1
    records 0 1 500 | produce
    read -r _ after < <(ids "$topic")
    incomplete "$topic: another topic of this name: its id is $after here, $before in the scope"
    code_is topic-recreated
    [ -z "$(offsets out)" ]
    [ "$(account | jq -r '.logs[0].topic_id')" = "$after" ]
    [ "$(account | jq -c .verified)" = '[]' ]
    # without an id in the scope nobody can tell, and that is said
    jq '.sources[0].topic_id = null' scope.json | scope_print >s
    mv s scope.json
    run -0 --separate-stderr bash -c 'kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" >out'
    [[ $stderr == "kafka-read: $topic: topic id: not in the scope" ]]
    [ "$(account | jq -c '[.verified, .recorded.not_in_scope]')" = "[[\"cluster id\",\"cleanup policy\",\"log start before and after\"],[\"topic id of $topic\"]]" ]
}

@test "a topic recreated or deleted while it is read" {
    kafka_topic "$topic" 1
    records 0 1 20 | produce
    open_transaction 7 a commit "$(records 0 21 30)"
    scope 0:0-30
    start
    until_in out '"offset":19,'
    recreate 1
    records 0 101 200 | produce
    ended
    [ "$status" -eq 3 ]
    says "$topic: it was recreated while it was read: its id was $(jq -r '.sources[0].topic_id' scope.json) and is $(ids "$topic" | cut -f2)" "$(cat err)"
    exec 7>&-
    topic=$topic-gone
    kafka_topic "$topic" 1
    records 0 1 20 | produce
    open_transaction 7 b commit "$(records 0 21 30)"
    scope 0:0-30
    start
    until_in out '"offset":19,'
    kafka_tool delete-topic "$topic"
    ended
    [ "$status" -eq 3 ]
    says "$topic: it was deleted while it was read" "$(cat err)"
}

@test "a compacted topic is not read, nor believed when it became one meanwhile" {
    kafka_topic "$topic" 1 cleanup.policy=compact,delete
    records 0 1 5 | produce
    scope 0:0-5
    incomplete "$topic: it is compacted (cleanup.policy=compact,delete)"
    code_is topic-compacted
    [ "$(account | jq -r .facts.topic)" = "$topic" ]
    [ -z "$(offsets out)" ]
    kafka_tool alter-topic "$topic" cleanup.policy=delete
    open_transaction 7 a commit "$(records 0 6 6)"
    scope 0:0-6
    start
    until_in out '"offset":4,'
    kafka_tool alter-topic "$topic" cleanup.policy=compact
    exec 7>&-
    ended
    [ "$status" -eq 3 ]
    says "it is compacted (cleanup.policy=compact)" "$(cat err)"
}

# compact: $topic's older records of a key are removed, and it is read no more than before (cleanup.policy=delete).
compacted() { # how many records are left, at the most
    local end=$((SECONDS + 120))
    until [ "$(kcat -C -b "$KAFKA_BOOTSTRAP" -t "$topic" -p 0 -e -q -X isolation.level=read_uncommitted | wc -l)" -le "$1" ]; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
    kafka_tool alter-topic "$topic" cleanup.policy=delete
}
one_key() { yes '{"partition":0,"key":"k","value":"v"}' | head -n "$1"; }

@test "records that compaction removed, under read_uncommitted: more gaps than transactions, whatever the policy says now" {
    kafka_topic "$topic" 1 cleanup.policy=compact segment.ms=100 min.cleanable.dirty.ratio=0.001
    # A record of each of three keys stays; nine of one key become one. Then the active segment's, which is not cleaned.
    { records 0 1 3; commit; one_key 4; abort; one_key 9; commit; } | transactions
    sleep 0.2 && one_key 1 | produce
    sleep 0.2 && one_key 1 | produce
    compacted 8
    end=$(log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" | jq -r 'select(.type == "log") | .partitions[0].high')
    isolation=read_uncommitted scope "0:0-$end"
    incomplete "more gaps than transactions: "
    code_is more-gaps-than-transactions
    [ "$(account | jq -r '.facts.partition')" = "$topic/0" ]
    # counted by hand from what was delivered
    most=0 at=0 seen=0
    for ((o = 0; o < end; o++)); do
        if jq -se --argjson o "$o" 'any(.[]; .type == "record" and .offset == $o)' out >/dev/null; then seen=$((seen + 1)); continue; fi
        over=$((o + 1 - 2 * seen))
        [ "$over" -le 0 ] || [ "$most" -gt 0 ] || at=$o
        [ "$over" -le "$most" ] || most=$over
    done
    [ "$most" -gt 0 ]
    other_says "$topic/0: more gaps than transactions: $most offsets without a record cannot be ends of transactions, the first of them $at:"
    [ "$(account | jq -c '[.facts.count, .facts.offset]')" = "[\"$most\",\"$at\"]" ]
    [ "$(range .complete)" = false ]
    # one that begins later is counted from the log's start; the records stay written
    isolation=read_uncommitted scope "0:$at-$end"
    incomplete "more gaps than transactions: $most offsets"
    other_says "$topic/0: more gaps than transactions: $most offsets without a record cannot be ends of transactions, the first of them $at:"
    # and so is the second read of a committed one
    scope "0:0-$end"
    complete
    alone "the second read, for the account: more gaps than transactions" --account
    code_is more-gaps-than-transactions
}

@test "ends of transactions under read_uncommitted are no loss: interleaved, aborted, or of one that was open where the range begins" {
    kafka_topic "$topic" 1
    open_transaction 7 a commit "$(records 0 1 2)"
    open_transaction 8 b abort "$(records 0 3 3)"
    exec 7>&- 8>&-
    for p in "${held[@]}"; do wait "$p"; done
    { records 0 4 5; commit; records 0 6 6; abort; } | transactions
    isolation=read_uncommitted scope 0:0-10
    complete
    [ "$(range .not_delivered)" = 4 ]
    # It begins with two ends: both had their records before it.
    isolation=read_uncommitted scope 0:3-5
    complete --account
    [ "$(range '[.delivered, .not_delivered]')" = '[0,2]' ]
}

@test "another cluster, another topic's partitions, a log that ends early" {
    kafka_topic "$topic" 1
    records 0 1 150 | produce
    scope 0:0-150
    jq '.sources[0].cluster_id = "elsewhere"' scope.json | scope_print >s
    mv s scope.json
    incomplete "$topic: another cluster: its id is $(ids "$topic" | cut -f1) here, elsewhere in the scope"
    code_is cluster-other
    [ -z "$(offsets out)" ]
    scope 0:0-150 3:0-5
    incomplete "$topic/3: the topic has 1 partitions" --stable-wait-s=0
    [ "$(range '[.complete, .delivered]' 0)" = '[true,150]' ]
    scope 0:100-200
    incomplete "$topic/0: the log ends at 150, before the range's end 200: 50 offsets are not there" --account --stable-wait-s=0
    code_is range-beyond
    [ "$(range '[.position, .delivered]')" = '[150,50]' ]
    scope 0:180-200
    incomplete "the log ends at 150, before the range's start 180" --stable-wait-s=0
    # nothing is owed of an empty range, but its log must reach it
    scope 0:150-150
    complete
    scope 0:160-160
    incomplete "the log ends at 150" --stable-wait-s=0
    jq --arg t "none-$topic" '.sources[0].topic = $t' scope.json | scope_print >s
    mv s scope.json
    incomplete "none-$topic: Broker: Unknown topic"
    code_is topic-missing
}

@test "payloads: pretty-printed, not JSON, not UTF-8, duplicate names, empty, null, the text null, a megabyte" {
    kafka_topic "$topic" 1 max.message.bytes=4000000
    cat >in <<'LINES'
{"key":"é","value":"{\n  \"id\": 1,\n  \"n\": 9007199254740993\n}","ts":1758000000000}
{"key":"","value":"not json"}
{"key_b64":"/w==","value_b64":"AP/+"}
{"value":"{\"id\":1,\"id\":2}"}
{"value":""}
{"value":null}
{"value":"null","headers":[["a","1"],["a",null],["b","ü\u0000"]]}
{"value":"quote\" back\\ del\u007f nul\u0000 bell\u0007 high😀"}
LINES
    { cat in; printf '{"value":"%s"}\n' "$(head -c 1048576 /dev/zero | tr '\0' x)"; } | produce
    scope 0:0-9
    complete
    jq -c 'select(.type == "record" and .offset < 8) | del(.type, .topic, .partition, .tstype, .ts)' out >got
    diff got - <<'LINES'
{"offset":0,"key":"é","payload":"{\n  \"id\": 1,\n  \"n\": 9007199254740993\n}"}
{"offset":1,"key":"","payload":"not json"}
{"offset":2,"key_b64":"/w==","payload_b64":"AP/+"}
{"offset":3,"key":null,"payload":"{\"id\":1,\"id\":2}"}
{"offset":4,"key":null,"payload":""}
{"offset":5,"key":null,"payload":null}
{"offset":6,"headers":["a","1","a",null,"b","ü\u0000"],"key":null,"payload":"null"}
{"offset":7,"key":null,"payload":"quote\" back\\ del\u007f nul\u0000 bell\u0007 high😀"}
LINES
    [ "$(jq -c 'select(.type == "record" and .offset == 0) | [.tstype, .ts]' out)" = '["create",1758000000000]' ]
    [ "$(range '[.delivered, .null_values]')" = '[9,1]' ]
    [ "$(sed -n 11p out | wc -c)" -gt 1048576 ]
    # the same lines as kafka-tail's
    kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic" --stop-at-end | grep '"type":"record"' | cmp - <(grep '"type":"record"' out)
}

@test "a range that begins and ends inside a compressed batch" {
    kafka_topic "$topic" 1
    seq 1 1000 | kcat -P -b "$KAFKA_BOOTSTRAP" -t "$topic" -p 0 -z lz4
    scope 0:333-777
    complete
    [ "$(offsets out)" = "$(seq 333 776 | paste -sd' ')" ]
    [ "$(payloads out)" = "$(seq 334 777 | paste -sd' ')" ]
}

@test "several partitions and several topics: all are read, each in order" {
    kafka_topic "$topic" 3
    kafka_topic "$topic.b" 1
    { records 0 1 50; records 1 1 70; } | produce
    records 0 1 9 | kafka_tool produce "$topic.b"
    read -r cluster a < <(ids "$topic")
    read -r _ b < <(ids "$topic.b")
    scope_of_sources "$(source_of "$topic" "$cluster" "$a" read_committed 0:0-50 1:10-70 2:0-0)" \
        "$(source_of "$topic.b" "$cluster" "$b" read_committed 0:3-8)" >scope.json
    complete
    [ "$(jq -r --arg t "$topic" 'select(.type == "record" and .topic == $t and .partition == 1) | .offset' out | paste -sd' ')" = "$(seq 10 69 | paste -sd' ')" ]
    [ "$(jq -r --arg t "$topic.b" 'select(.type == "record" and .topic == $t) | .offset' out | paste -sd' ')" = "3 4 5 6 7" ]
    [ "$(account | jq -c '[.delivered, (.logs | map(.topic_id))]')" = "[115,[\"$a\",\"$b\"]]" ]
    # one of them gone: the other is read all the same
    kafka_tool delete-topic "$topic"
    incomplete "$topic: "
    [ "$(account | jq -c '[.ranges[] | .complete]')" = '[false,false,false,true]' ]
}

@test "first offsets that the scope does not have are the operator's, and recorded as such" {
    kafka_topic "$topic" 2
    { records 0 1 10; records 1 1 10; } | produce
    scope 0:-10 1:-5
    run -2 --separate-stderr bash -c 'kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP"'
    [[ $stderr == *"no first position of $topic/0"*--run-start-offset=0=OFFSET* ]]
    complete --run-start-offset=ALL=2 --run-start-offset="$topic/1=4"
    [ "$(offsets out 0)" = "2 3 4 5 6 7 8 9" ]
    [ "$(offsets out 1)" = 4 ]
    [ "$(account | jq -c .recorded.run_start_offsets)" = "{\"$topic/0\":2,\"$topic/1\":4}" ]
}

@test "bounds: more records, more bytes, more time than was allowed" {
    kafka_topic "$topic" 2
    { records 0 1 20; records 1 1 20; } | produce
    scope 0:0-20 1:0-20
    incomplete "--max-records=25 was reached" --max-records=25
    code_is bound-passed
    [ "$(grep -c '"type":"record"' out)" -eq 25 ]
    complete --max-records=40
    incomplete "--max-bytes=1024 was reached" --max-bytes=1K
    [ "$(grep '"type":"record"' out | wc -c)" -le 1024 ]
    complete --max-bytes="$(grep '"type":"record"' <(read_) | wc -c)"
    open_transaction 7 a commit "$(records 0 21 21)"
    scope 0:0-21
    SECONDS=0
    incomplete "the deadline passed" --deadline-s=1
    code_is read-timed-out
    [ "$SECONDS" -lt 10 ]
    [ "$(range '[.position, .delivered]')" = '[20,20]' ]
}

@test "a scope that went through another JSON program: the same document, on one line" {
    kafka_topic "$topic" 1
    records 0 1 3 | produce
    scope 0:0-3
    complete
    [ "$(grep -c '"type":"scope"' out)" -eq 1 ]
    printf '{"type":"scope","document":%s}\n' "$(cat scope.json)" | cmp - <(grep '"type":"scope"' out)
    cp scope.json given
    python3 -c 'import json,sys; print(json.dumps(json.load(sys.stdin), indent=2, sort_keys=True))' <given >scope.json
    complete
    [ "$(jq -S 'select(.type == "scope") | .document' out)" = "$(jq -S . given)" ]
}

@test "a broker killed and started again in the middle: every record once" {
    kafka_topic "$topic" 1
    seq 1 40000 | sed "s/$/ $(printf '%0400d' 0)/" | # more than what is read ahead
        kcat -P -b "$KAFKA_BOOTSTRAP" -t "$topic" -p 0
    scope 0:0-40000
    start_slowly -X reconnect.backoff.max.ms=500 # or up to ten seconds pass after the broker is back
    "$OWED_ROOT/tests/services/kafka" kill --dir="$KAFKA_DIR"
    : >go
    until_in err 'waiting for the broker'
    "$OWED_ROOT/tests/services/kafka" up --dir="$KAFKA_DIR" >/dev/null
    ended
    wait "$reader"
    [ "$status" -eq 0 ] || { cat err; account; false; } >&2
    [ "$(tail -n 1 out)" = '{"type":"end","lines":{"stream":1,"scope":1,"record":40000,"account":1}}' ]
    [ "$(account | jq -c '[.complete, .delivered]')" = '[true,40000]' ]
    grep '^{"type":"record"' out | cut -c-150 | sed 's/.*"offset":\([0-9]*\),.*"payload":"\([0-9]*\) .*/\1 \2/' |
        awk '$1 != NR - 1 || $2 != NR { exit 1 } END { exit NR != 40000 }'
}

@test "nobody there, a broker that speaks otherwise, and no secret in what is said" {
    kafka_topic "$topic" 1
    records 0 1 3 | produce
    scope 0:0-3
    SECONDS=0
    run -3 --separate-stderr bash -c 'kafka-read --scope=scope.json -b 127.0.0.1:1 --timeout-ms=300 >out'
    says "$topic: no broker answered in " "$stderr"
    printf 'bootstrap.servers=%s\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=hunter2\n' "$KAFKA_BOOTSTRAP" >props
    run -3 --separate-stderr bash -c 'kafka-read --scope=scope.json --timeout-ms=700 -F props >out'
    says "$topic: " "$stderr"
    [ "$SECONDS" -lt 15 ]
    run ! grep -q hunter2 out
    [[ $stderr != *hunter2* ]]
    run -3 --separate-stderr log-look -t "$topic" --timeout-ms=700 -F props
    [[ $stderr == "log-look: topic $topic: "* && $output$stderr != *hunter2* ]]
}

@test "a login that is refused ends it at once, one that is taken reads, and neither shows the password" {
    kafka_topic "$topic" 1
    records 0 1 3 | produce
    scope 0:0-3
    login=(-X security.protocol=SASL_PLAINTEXT -X sasl.mechanism=PLAIN -X sasl.username=reader)
    SECONDS=0
    PASSWORD=hunter2 run -3 --separate-stderr bash -c 'kafka-read --scope=scope.json -b "$KAFKA_SASL" "$@" >out' _ "${login[@]}" -E sasl.password=PASSWORD
    says "$topic: " "$stderr"
    [[ $stderr == *"Authentication failed"* && $stderr$(cat out) != *hunter2* ]]
    [ "$(range .delivered)" = 0 ]
    for program in log-look "kafka-tail --stop-at-end"; do
        # shellcheck disable=SC2086 # a program and its option
        PASSWORD=hunter2 run -3 --separate-stderr $program -b "$KAFKA_SASL" -t "$topic" "${login[@]}" -E sasl.password=PASSWORD
        [[ $stderr == *"$topic: "*"Authentication failed"* && $output$stderr != *hunter2* ]]
    done
    [ "$SECONDS" -lt 15 ]
    printf '%s\n' bootstrap.servers="$KAFKA_SASL" security.protocol=SASL_PLAINTEXT sasl.mechanism=PLAIN sasl.username=reader \
        sasl.password="$(cat "$KAFKA_DIR/secret/reader")" >props
    run -0 --separate-stderr bash -c 'kafka-read --scope=scope.json -F props >out'
    [ "$(offsets out)" = "0 1 2" ]
    run ! grep -qF "$(cat "$KAFKA_DIR/secret/reader")" out
}

@test "progress on a terminal: records, share, time left" {
    kafka_topic "$topic" 1
    records 0 1 20 | produce
    open_transaction 7 a commit "$(records 0 21 22)"
    scope 0:0-22
    run -3 script -qec "kafka-read --scope=scope.json -b $KAFKA_BOOTSTRAP --stable-wait-s=5 >out" /dev/null
    [[ $output == *"kafka-read: 20 records, 91%, "*" s left"* ]]
    [[ $output == *$'\r\e[K'"kafka-read: "* ]]
}

@test "log-look: ids, policy, and the three ends of each partition" {
    kafka_topic "$topic" 2
    records 0 1 20 | produce
    kafka_tool delete-records "$topic" 0 4
    open_transaction 7 a commit "$(records 0 21 22)"
    run -0 --separate-stderr log-look -b "$KAFKA_BOOTSTRAP" -t "$topic"
    [ -z "$stderr" ]
    printf '%s\n' "$output" >out
    is_whole out
    [ "$(jq -c 'select(.type == "log") | [.topic, .cleanup_policy, .partitions]' <<<"$output")" = \
        "[\"$topic\",\"delete\",[{\"partition\":0,\"low\":4,\"high\":22,\"stable\":20},{\"partition\":1,\"low\":0,\"high\":0,\"stable\":0}]]" ]
    [ "$(jq -r 'select(.type == "log") | .topic_id, .cluster_id' <<<"$output" | paste -sd' ')" = \
        "$(kafka_tool topic-info "$topic" | jq -r '(.topic_id | gsub("\\+"; "-") | gsub("/"; "_")), .cluster_id' | paste -sd' ')" ]
    run -3 --separate-stderr log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" -t "none-$topic"
    [[ $stderr == "log-look: topic none-$topic: "*"Unknown topic"* ]]
    [ "$(jq -r .type <<<"$output" | paste -sd' ')" = "stream log stop end" ]
}

@test "what log-look found makes a scope that is read whole, and ids that nobody gave are said" {
    kafka_topic "$topic" 2
    { records 0 1 20; records 1 1 5; } | produce
    kafka_tool delete-records "$topic" 0 4
    log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" |
        scope-declare --key=id --range=ALL --database=shop --table=orders --column=id:Int64 --out=scope.json >declared
    complete
    [ "$(account | jq -c '[.delivered, .recorded.not_in_scope]')" = '[21,[]]' ]
    [ "$(jq -c '.declared.gone | map([.partition, .offsets])' scope.json)" = '[[0,4]]' ]
    jq '.sources[0] |= (.cluster_id = null | .topic_id = null)' scope.json | scope_print >s
    mv s scope.json
    run -0 --separate-stderr bash -c 'kafka-read --scope=scope.json -b "$KAFKA_BOOTSTRAP" >out'
    [ "${#stderr_lines[@]}" -eq 2 ]
    [ "$(account | jq -c '[.complete, .verified, .recorded.not_in_scope]')" = \
        "[true,[\"cleanup policy\",\"log start before and after\"],[\"cluster id of $topic\",\"topic id of $topic\"]]" ]
}

@test "F25: a log of which nothing is left, and one that is empty, are looked at and declared: 3, each by its code" {
    declared() { # CODE RANGE
        run -3 --separate-stderr bash -c 'log-look -b "$KAFKA_BOOTSTRAP" -t "$0" |
            scope-declare --key=id --range="$1" --database=shop --table=orders --column=id:Int64' "$topic" "$2"
        is_whole /dev/stdin <<<"$output"
        [ "$(jq -r 'select(.type == "check") | .status + " " + .code' <<<"$output")" = "unavailable $1" ]
        run ! grep -q '"type":"scope"' <<<"$output"
    }
    kafka_topic "$topic" 1
    declared log-empty ALL
    records 0 1 4 | produce
    kafka_tool delete-records "$topic" 0 2
    declared range-expired 0:0-4
    log-look -b "$KAFKA_BOOTSTRAP" -t "$topic" |
        scope-declare --key=id --range=ALL --database=shop --table=orders --column=id:Int64 --out=scope.json >declared
    [ "$(jq -c '[.declared.gone[0].offsets, .sources[0].partitions]' scope.json)" = '[2,[{"partition":0,"from":2,"to":4}]]' ]
    complete
    [ "$(offsets out)" = "2 3" ]
    kafka_tool delete-records "$topic" 0 4
    declared log-expired ALL
    declared range-expired 0:0-4
}

@test "the manuals' examples run" {
    kafka_topic orders 2
    { records 0 1 5; records 1 1 5; } | kafka_tool produce orders
    topic=orders scope 0:0-5 1:0-5
    echo "bootstrap.servers=$KAFKA_BOOTSTRAP" >broker.properties
    for page in kafka-read log-look; do
        sed -e '1,/^\.Sh EXAMPLES/d' -e 's/\\e$/\\/' -e 's/\\e/\\/g' "$OWED_ROOT/man/$page.1" |
            awk '/live/ { on = 1 } /^\.Ed/ { on = 0 } on && !/^\./ { sub(/^[$>] /, ""); print }' |
            sed "s/127.0.0.1:9092/$KAFKA_BOOTSTRAP/" >examples
        [ "$(grep -c "$page" examples)" -ge 1 ]
        run -0 --separate-stderr bash -o pipefail -e examples
        [ "${#lines[@]}" -ge 1 ]
    done
}

@test "another Kafka client agreed with each of those reads" {
    agree_need
    [ "$(wc -l <"$BATS_FILE_TMPDIR/agreed")" -ge 30 ]
}
