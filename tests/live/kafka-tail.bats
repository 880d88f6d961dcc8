#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# kafka-tail on a real broker: what is read, what barriers promise, and going on from a checkpoint.
bats_require_minimum_version 1.5.0
load kafka
load ../answers

stderr="" stderr_lines=() # run sets them

setup_file() { kafka_up; }
teardown_file() { kafka_down; }

setup() {
    kafka_need broker
    cd "$BATS_TEST_TMPDIR" || exit 1
    topic=t-$BATS_TEST_NUMBER-$$
}

teardown() {
    [ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null || true
}

tail_() { kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic" "$@"; }
# The program itself in the background, as $pid: a function there would be a shell that outlives the kill.
start() {
    kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic" --checkpoint-dir=ck --job=1 "$@" 3>&- &
    pid=$!
}
# Wait for it; its exit status into $status. And the same after a signal.
ended() {
    status=0
    wait "$pid" || status=$?
    pid=
}
finish() {
    kill "${1:--TERM}" "$pid"
    ended
}
job() { tail_ --checkpoint-dir=ck --job=1 "$@"; }

# records PARTITION FIRST LAST: as many lines for kafka_tool produce.
records() { seq "$2" "$3" | sed "s/.*/{\"partition\":$1,\"key\":\"k&\",\"value\":\"{\\\\\"n\\\\\":&}\"}/"; }
marks() { jq -cR 'fromjson? | select(.type == "watermark") | del(.type)' "$1" | paste -sd' '; }
values() { jq -r 'select(.type == "record") | .payload | fromjson.n' "$@"; }
offsets() { jq -r 'select(.type == "record") | .offset' "$@"; }
positions() { jq -c '[.positions[] | [.partition, .offset]]' "ck/_state/1/v1/$1/$2.snap"; }

# What $pid has used of the processor's time, in clock ticks.
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

# recreate PARTITIONS: another topic of the same name; the broker may take a moment to let the old one go.
recreate() {
    local end=$((SECONDS + 120))
    kafka_tool delete-topic "$topic"
    until kafka_topic "$topic" "$1" 2>create.err; do
        [ "$SECONDS" -lt "$end" ] || { cat create.err; return 1; }
        sleep 0.1
    done
}

# until_in FILE TEXT: wait until a line of the file has it.
until_in() {
    local end=$((SECONDS + 120))
    until grep -q "$2" "$1" 2>/dev/null; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

@test "read_committed delivers what was committed, and the position passes markers and aborted records" {
    kafka_topic "$topic" 1
    { records 0 1 3; echo '{"end":"commit"}'; records 0 4 6; echo '{"end":"abort"}'; records 0 7 8; echo '{"end":"commit"}'
        records 0 9 9; } | kafka_tool --transactional-id="$topic" --abort produce "$topic"
    job --stop-at-end >out
    is_whole out
    [ "$(values out | paste -sd' ')" = "1 2 3 7 8" ]
    [ "$(offsets out | paste -sd' ')" = "0 1 2 8 9" ]
    # 9 records and 4 markers
    [ "$(positions 0 checkpoint-1)" = '[[0,13]]' ]
    # Snapshots are their owner's, and by --mode a group's.
    [ -z "$(find ck \( -type f ! -perm 600 -o -type d ! -perm 700 \) -printf '%m %p\n' | tee /dev/stderr)" ]
    rm -r ck
    job --stop-at-end --isolation=read_uncommitted --mode=0640 >out
    [ -z "$(find ck \( -type f ! -perm 640 -o -type d ! -perm 750 \) -printf '%m %p\n' | tee /dev/stderr)" ]
    [ "$(values out | paste -sd' ')" = "1 2 3 4 5 6 7 8 9" ]
    [ "$(positions 0 checkpoint-1)" = '[[0,13]]' ]
}

@test "an open transaction holds back what lies after it" {
    kafka_topic "$topic" 1
    mkfifo in
    kafka_tool --transactional-id="$topic" --commit --hold produce "$topic" <in >held &
    exec 7>in
    records 0 1 2 >&7
    until_in held '"delivered":2'
    records 0 3 4 | kafka_tool produce "$topic"
    job --stop-at-end >out
    [ -z "$(values out)" ]
    [ "$(positions 0 checkpoint-1)" = '[[0,0]]' ]
    exec 7>&-
    wait
    job --stop-at-end --restore=1 --first-epoch=4 >out
    [ "$(values out | paste -sd' ')" = "1 2 3 4" ]
}

@test "payloads: text, empty, null, bytes, headers, times" {
    kafka_topic "$topic" 1
    cat >in <<'LINES'
{"key":"é","value":"{\"n\": 1}","ts":1758000000000}
{"key":"","value":""}
{"key":null,"value":null}
{"key_b64":"/w==","value_b64":"AP8="}
{"value":"null","headers":[["a","1"],["a",null],["b","ü\u0000"]]}
{"value":"line\nquote\"\u0001\u007f"}
LINES
    kafka_tool produce "$topic" <in
    tail_ --stop-at-end >out
    is_whole out
    jq -c 'select(.type == "record") | del(.type, .topic, .partition, .tstype, .ts)' out >got
    diff got - <<'LINES'
{"offset":0,"key":"é","payload":"{\"n\": 1}"}
{"offset":1,"key":"","payload":""}
{"offset":2,"key":null,"payload":null}
{"offset":3,"key_b64":"/w==","payload_b64":"AP8="}
{"offset":4,"headers":["a","1","a",null,"b","ü\u0000"],"key":null,"payload":"null"}
{"offset":5,"key":null,"payload":"line\nquote\"\u0001\u007f"}
LINES
    [ "$(jq -c 'select(.offset == 0) | [.tstype, .ts]' out)" = '["create",1758000000000]' ]
    # byte for byte: only what must be escaped is
    grep -qF '"payload":"line\nquote\"\u0001'$'\x7f"' out
}

@test "event time is the declared field's, and the watermark waits for every partition of the lane" {
    kafka_topic "$topic" 2
    kafka_tool produce "$topic" <<'LINES'
{"partition":0,"value":"{\"seen\":1000}"}
{"partition":0,"value":"{\"seen\":\"3000\"}"}
{"partition":0,"value":"{\"seen\":2.5}"}
{"partition":0,"value":"{\"seen\":1,\"seen\":2}"}
{"partition":0,"value":null}
LINES
    job --stop-at-end --time-field=seen --watermark-lag-ms=100 >out
    [ "$(jq -c 'select(.type == "record") | .event_time' out | paste -sd' ')" = "1000 3000 null null null" ]
    [ -z "$(jq -c 'select(.type == "watermark")' out)" ]
    [ "$(jq -c '[.watermark, .partition_max]' ck/_state/1/v1/0/checkpoint-1.snap)" = '[null,[{"partition":0,"time":3000}]]' ]
    echo '{"partition":1,"value":"{\"seen\":2000}"}' | kafka_tool produce "$topic"
    job --stop-at-end --time-field=seen --watermark-lag-ms=100 --restore=3 --first-epoch=4 >out
    [ "$(jq -c 'select(.type == "watermark") | .ts' out)" = 1900 ]
    # the restored run says at once how far time had come
    job --stop-at-end --time-field=seen --watermark-lag-ms=100 --restore=6 --first-epoch=7 >out
    [ "$(sed -n 2p out)" = '{"type":"watermark","ts":1900}' ]
}

@test "two lanes: each its own partitions, and every barrier holds exactly what came before it" {
    kafka_topic "$topic" 3
    start --lane=l0 --lane=l1 --interval-ms=0
    until_in l1 '"type":"stream"'
    for n in $(seq 1 12); do
        for p in 0 1 2; do records $p $((n * 200 - 199)) $((n * 200)); done | kafka_tool produce "$topic"
        # Every other barrier is asked for as soon as one lane has a record of these, and falls wherever they are by then.
        [ $((n % 2)) -eq 0 ] || until_in l1 "\"key\":\"k$((n * 200))\""
        until_in l0 "\"key\":\"k$((n * 200 - 199))\""
        kill -USR1 "$pid"
        until_in l0 "\"checkpoint\":$n,"
        until_in l1 "\"checkpoint\":$n,"
    done
    finish
    # up to the last barrier that both lanes have
    last=$(for l in 0 1; do jq -r 'select(.type == "barrier") | .checkpoint' l$l | tail -n 1; done | sort -n | head -n 1)
    [ "$last" -ge 12 ]
    for l in 0 1; do
        jq -rR 'fromjson? | select(.type == "record" or .type == "barrier") | [.type, .partition, .offset, .checkpoint] | @tsv' l$l |
            awk -F'\t' -v lane=$l -v last="$last" '
                $1 == "record" && ($2 % 2 != lane || $3 != next_[$2]++) { print "out of place: " $0; exit 1 }
                $1 == "barrier" && $4 != ++n { print "barrier " $4 " after " n - 1; exit 1 }
                $1 == "barrier" && $4 <= last { for (p = lane; p < 3; p += 2) print $4, p, next_[p] + 0 }' >seen-$l
        for n in $(seq 1 "$last"); do
            jq -r '.checkpoint as $n | .positions[] | [$n, .partition, .offset] | join(" ")' "ck/_state/1/v1/$l/checkpoint-$n.snap"
        done >stored-$l
        diff seen-$l stored-$l
    done
    [ "$(cut -d' ' -f3 seen-1 | sort -u | wc -l)" -gt 3 ]
}

@test "SIGUSR1 asks for a barrier: none is lost, wherever it comes, and without one there is none" {
    kafka_topic "$topic" 2
    # Before the first record, and while nothing happens; the first as soon as the program can be told at all.
    start --lane=l0 --lane=l1 --interval-ms=0
    until [ $((0x$(sed -n 's/^SigBlk:[[:space:]]*//p' "/proc/$pid/status") & 0x200)) -ne 0 ]; do kill -0 "$pid"; done
    kill -USR1 "$pid"
    until_in l0 '"checkpoint":1,'
    kill -USR1 "$pid"
    until_in l1 '"checkpoint":2,'
    # Several at once are answered by one at least, and by what holds all that was read when they came.
    { records 0 1 5; records 1 6 9; } | kafka_tool produce "$topic"
    until_in l0 '"offset":4,'
    until_in l1 '"offset":3,'
    for _ in 1 2 3 4 5; do kill -USR1 "$pid"; done
    until_in l0 '"checkpoint":3,'
    until_in l1 '"checkpoint":3,'
    [ "$(positions 0 checkpoint-3)$(positions 1 checkpoint-3)" = '[[0,5]][[1,4]]' ]
    # While the program stands still, and with it whatever it is doing: it comes when it goes on.
    kill -STOP "$pid"
    n=$(jq -R 'fromjson? | select(.type == "barrier") | .checkpoint' l0 | tail -n 1)
    kill -USR1 "$pid"
    kill -CONT "$pid"
    until_in l0 "\"checkpoint\":$((n + 1)),"
    finish
    # And where nobody asked, there are those of the end alone.
    job --lane=m0 --lane=m1 --interval-ms=0 --stop-at-end
    [ "$(jq -c 'select(.type == "barrier") | .checkpoint' m0 | paste -sd' ')" = "1 2 3" ]
}

@test "SIGUSR1 beside an interval, and where no barriers are" {
    kafka_topic "$topic" 1
    records 0 1 5 | kafka_tool produce "$topic"
    start --lane=l0 --interval-ms=86400000
    until_in l0 '"offset":4,'
    kill -USR1 "$pid"
    until_in l0 '"checkpoint":1,'
    finish
    kafka-tail -b "$KAFKA_BOOTSTRAP" -t "$topic" >l1 3>&- &
    pid=$!
    until_in l1 '"offset":4,'
    kill -USR1 "$pid"
    records 0 6 6 | kafka_tool produce "$topic"
    until_in l1 '"offset":5,'
    finish
    run ! grep -q barrier l1
}

@test "a barrier that is asked for while the broker is away comes when it is back" {
    kafka_topic "$topic" 1
    records 0 1 5 | kafka_tool produce "$topic"
    start --lane=l0 --interval-ms=0 2>err
    until_in l0 '"offset":4,'
    "$OWED_ROOT/tests/services/kafka" kill --dir="$KAFKA_DIR"
    kill -USR1 "$pid"
    until_in err 'waiting for the broker'
    run ! grep -q barrier l0
    "$OWED_ROOT/tests/services/kafka" up --dir="$KAFKA_DIR" >/dev/null
    until_in l0 '"checkpoint":1,'
    finish
    [ "$(positions 0 checkpoint-1)" = '[[0,5]]' ]
}

@test "a barrier's line comes after its snapshot, and says what is in it" {
    kafka_topic "$topic" 1
    records 0 1 100 | kafka_tool produce "$topic"
    job --stop-at-end | while IFS= read -r line; do
        case $line in *'"type":"barrier"'*)
            f=ck/$(jq -r '.left[0].file' <<<"$line")
            [ "$(sha256sum <"$f" | cut -d' ' -f1)" = "$(jq -r '.left[0].sha256' <<<"$line")" ]
            [ "$(stat -c %s "$f")" = "$(jq -r '.left[0].bytes' <<<"$line")" ]
            grep -q '^payload_sha256=' "$f.meta"
            echo good >>seen
            ;;
        esac
    done
    [ "$(wc -l <seen)" -eq 3 ]
}

@test "the end: a barrier and two empty ones, at what the log held at the start" {
    kafka_topic "$topic" 2
    records 0 1 10 | kafka_tool produce "$topic"
    job --stop-at-end --lane=l0 --lane=l1
    is_whole l0 l1
    for l in l0 l1; do
        [ "$(jq -c 'select(.type == "barrier") | [.checkpoint, .previous]' $l | paste -sd' ')" = "[1,0] [2,1] [3,2]" ]
        [ "$(jq -c 'select(.type == "barrier") | .checkpoint' $l | tail -n 3 | paste -sd' ')" = "$(tail -n 4 $l | head -n 3 | jq .checkpoint | paste -sd' ')" ]
    done
    [ "$(jq -c .run ck/_state/1/v1/1/start-1.snap | jq -c 'del(.attempt)')" = '{"first_epoch":1,"restored_from":0}' ]
    [ "$(jq -c '[.checkpoint, .declared, .positions]' ck/_state/1/v1/1/start-1.snap)" = '[0,[1],[{"partition":1,"offset":0}]]' ]
}

@test "an idle lane says so, and says so when it is no longer" {
    kafka_topic "$topic" 2
    echo '{"partition":0,"value":"{\"n\":1}","ts":5000}' | kafka_tool produce "$topic"
    start --lane=l0 --lane=l1 --idle-ms=300 --interval-ms=200
    until_in l1 '"idle":true'
    until_in l1 '"checkpoint":3'
    echo '{"partition":1,"value":"{\"n\":2}","ts":6000}' | kafka_tool produce "$topic"
    until_in l1 '"ts":6000}$'
    until_in l0 '"idle":true'
    finish
    [ "$(marks l0)" = '{"ts":5000} {"idle":true}' ]
    [[ $(marks l1) == '{"idle":true} {"idle":false} {"ts":6000}'* ]]
}

@test "a lane without a partition is idle from the start" {
    kafka_topic "$topic" 1
    job --stop-at-end --lane=l0 --lane=l1 --idle-ms=0
    [ "$(sed -n 2p l1)" = '{"type":"watermark","idle":true}' ]
    [ "$(jq -c '[.positions, .declared]' ck/_state/1/v1/1/checkpoint-1.snap)" = '[[],[]]' ]
    is_whole l0 l1
}

@test "killed and restored: every record once up to each checkpoint, none lost" {
    kafka_topic "$topic" 2
    start --lane=a0 --lane=a1 --interval-ms=0
    until_in a1 '"type":"stream"'
    for n in 1 2 3 4 5; do
        for p in 0 1; do records $p $((n * 120 - 119 + p * 60)) $((n * 120 - 60 + p * 60)); done | kafka_tool produce "$topic"
        until_in a1 "\"key\":\"k$((n * 120))\""
        [ "$n" -lt 5 ] || break # killed with records behind the last barrier
        kill -USR1 "$pid"
        until_in a1 "\"checkpoint\":$n,"
    done
    finish -9
    job --lane=b0 --lane=b1 --stop-at-end --restore=4 --first-epoch=9
    is_whole b0 b1
    [ "$(jq -c 'select(.type == "barrier") | [.checkpoint, .previous]' b0 | head -n 1)" = "[9,0]" ]
    # what lay before barrier 4 in the first run, and all of the second: each record once
    for l in 0 1; do
        sed '/"checkpoint":4,/q' a$l | jq -r 'select(.type == "record") | .payload | fromjson.n'
        values b$l
    done | sort -n >got
    seq 1 600 | diff - got
    [ "$(jq -c .run.restored_from ck/_state/1/v1/0/start-9.snap)" = 4 ]
}

@test "a recreated topic is refused, and so are another isolation, other lanes and another job" {
    kafka_topic "$topic" 2
    records 0 1 5 | kafka_tool produce "$topic"
    job --stop-at-end --lane=l0 --lane=l1
    run -2 --separate-stderr job --stop-at-end --restore=3 --first-epoch=4 --isolation=read_uncommitted --lane=l0 --lane=l1
    [[ $stderr == *read_committed*read_uncommitted* ]]
    run -2 --separate-stderr job --stop-at-end --restore=3 --first-epoch=4
    [[ $stderr == *"/1/checkpoint-3.snap: the checkpoint is of more lanes"* ]]
    run --separate-stderr job --stop-at-end --restore=3 --first-epoch=4 --lane=l0 --lane=l1 --lane=l2
    [ "$status" -ne 0 ]
    [[ $stderr == *"/2/checkpoint-3.snap"* ]]
    recreate 2
    records 0 1 9 | kafka_tool produce "$topic"
    run -2 --separate-stderr job --stop-at-end --restore=3 --first-epoch=4 --lane=l0 --lane=l1
    [[ $stderr == *"$topic was recreated: its id was "*" and is "* ]]
    [ -z "$(values l0)" ]
    [ "$(jq -r .type l1 | paste -sd' ')" = "stream stop end" ]
    [ ! -e ck/_state/1/v1/0/checkpoint-4.snap ]
}

@test "a topic recreated while it is read ends the run before another barrier" {
    kafka_topic "$topic" 1
    records 0 1 5 | kafka_tool produce "$topic"
    start --lane=l0 --interval-ms=300 2>err
    until_in l0 '"checkpoint":2'
    recreate 1
    records 0 101 120 | kafka_tool produce "$topic"
    ended
    [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
    [ "$(wc -l <err)" -ge 1 ]
    for f in ck/_state/1/v1/0/checkpoint-*.snap; do
        [ "$(jq -c .positions "$f")" = '[{"partition":0,"offset":5}]' ] || [ "$(jq .checkpoint "$f")" = 1 ]
    done
    [ "$(jq -r .log.topic_id ck/_state/1/v1/0/*.snap | sort -u | wc -l)" -eq 1 ]
}

@test "a topic that gets more partitions ends the run, and the next one reads them from their beginning" {
    kafka_topic "$topic" 1
    records 0 1 5 | kafka_tool produce "$topic"
    start --lane=a0 --lane=a1 --interval-ms=200 2>err
    until_in a1 '"checkpoint":2'
    kafka_tool add-partitions "$topic" 2
    ended
    [ "$status" -eq 3 ]
    [[ $(cat err) == "kafka-tail: topic $topic: it has 2 partitions now, not 1: "* ]]
    records 1 6 9 | kafka_tool produce "$topic"
    job --lane=b0 --lane=b1 --stop-at-end --restore=2 --first-epoch=9
    [ -z "$(values b0)" ]
    [ "$(values b1 | paste -sd' ')" = "6 7 8 9" ]
}

@test "records removed before they were read end it with 3, naming them" {
    kafka_topic "$topic" 1
    records 0 1 5 | kafka_tool produce "$topic"
    job --stop-at-end >out
    records 0 6 10 | kafka_tool produce "$topic"
    kafka_tool delete-records "$topic" 0 8
    run -3 --separate-stderr job --stop-at-end --restore=3 --first-epoch=4
    [[ $stderr == *"partition 0: offsets 5 to 7 were removed before they were read"* ]]
}

@test "a broker that dies and comes back is waited for" {
    kafka_topic "$topic" 1
    records 0 1 50 | kafka_tool produce "$topic"
    start --lane=l0 --interval-ms=200 2>err
    until_in l0 '"checkpoint":2'
    "$OWED_ROOT/tests/services/kafka" kill --dir="$KAFKA_DIR"
    until_in err 'broker'
    # Waiting costs next to nothing: the library's own search for a broker would take most of a core.
    spent=$(ticks)
    sleep 2 # as long as the measurement takes
    [ "$(($(ticks) - spent))" -lt "$(getconf CLK_TCK)" ]
    "$OWED_ROOT/tests/services/kafka" up --dir="$KAFKA_DIR" >/dev/null
    m=$(($(jq -R 'fromjson? | select(.type == "barrier") | .checkpoint' l0 | tail -n 1) + 3))
    until_in l0 "\"checkpoint\":$m,"
    [ "$(wc -l <err)" -le 3 ]
    records 0 51 100 | kafka_tool produce "$topic"
    until_in l0 '"offset":99,'
    n=$(($(jq -R 'fromjson? | select(.type == "barrier") | .checkpoint' l0 | tail -n 1) + 1))
    until_in l0 "\"checkpoint\":$n,"
    finish
    jq -rR 'fromjson? | select(.type == "record") | .offset' l0 | diff - <(seq 0 99)
    [ "$(positions 0 "checkpoint-$n")" = '[[0,100]]' ]
}

@test "a checkpoint directory that cannot be written: no barrier, said once, and the records go on" {
    kafka_topic "$topic" 1
    records 0 1 5 | kafka_tool produce "$topic"
    : >ck
    run -0 --separate-stderr job --stop-at-end
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ "$(values <<<"$output" | paste -sd' ')" = "1 2 3 4 5" ]
    [ "$(jq -r 'select(.type == "end") | .lines.barrier' <<<"$output")" = null ]
}

@test "no consumer group is joined and nothing is committed" {
    kafka_topic "$topic" 1
    records 0 1 5 | kafka_tool produce "$topic"
    job --stop-at-end >out
    run ! grep -q __consumer_offsets <(kcat -b "$KAFKA_BOOTSTRAP" -L 2>/dev/null)
}

@test "a topic that is not there, and a broker that speaks otherwise" {
    run -3 --separate-stderr tail_ --stop-at-end
    [[ $stderr == "kafka-tail: topic $topic: "*"Unknown topic"* ]]
    kafka_topic "$topic" 1
    printf 'security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=hunter2\n' >props
    run -3 --separate-stderr tail_ --timeout-ms=3000 -F props
    [[ $stderr == "kafka-tail: topic $topic: "* ]]
    [[ $output$stderr != *hunter2* ]]
}

@test "the manual's examples run" {
    kafka_topic orders 2
    records 0 1 5 | kafka_tool produce orders
    echo "bootstrap.servers=$KAFKA_BOOTSTRAP" >broker.properties
    sed -e '1,/^\.Sh EXAMPLES/d' -e 's/\\e$/\\/' "$OWED_ROOT/man/kafka-tail.1" |
        awk '/live/ { on = 1 } /^\.Ed/ { on = 0 } on && !/^\./ { sub(/^\$ /, ""); print }' | sed "s/127.0.0.1:9092/$KAFKA_BOOTSTRAP/" >examples
    [ "$(grep -c kafka-tail examples)" -eq 2 ]
    run -0 --separate-stderr bash -e examples
    [ "$(values <<<"$output" | wc -l)" -eq 5 ]
    is_whole lane-0 lane-1
}
