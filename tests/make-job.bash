# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # bin is set by each test
# A job's directories, made without a broker or a server. make_job DIR writes two subtasks (partition = subtask) with:
#   attempt a1: 1 rows, completed; 2 rows, triggered and never completed; 3 rows, completed, one INSERT of subtask 0 in doubt and
#               maybe twice; 4 no rows, completed; 5 rows, died before its marker
#   attempt a2, restored from 4: 6 rows (those of 5 again, then more), completed; 7 rows, completed

# shellcheck source=tests/stream.bash
. "$(dirname "${BASH_SOURCE[0]}")/stream.bash"

crc32c() { # FILE
    perl -e 'local $/; my $c = 0xffffffff;
        for (unpack "C*", <>) { $c ^= $_; $c = $c & 1 ? $c >> 1 ^ 0x82f63b78 : $c >> 1 for 1 .. 8 }
        printf "%08x", $c ^ 0xffffffff' "$1"
}

digest() { sha256sum <"$1" | cut -c1-64; }

# snap SUBTASK CHECKPOINT OFFSET [first_epoch restored_from attempt]: a snapshot, or a run's start, with its sidecar.
snap() {
    local s=$1 c=$2 offset=$3 run='' name=checkpoint-$2 file
    if [ $# -gt 3 ]; then
        name=start-$4
        run=",\"run\":{\"first_epoch\":$4,\"restored_from\":$5,\"attempt\":\"$6\"}"
    fi
    file=$job/ckpt/_state/1/v1/$s/$name.snap
    mkdir -p "${file%/*}"
    printf '{"format":"owed-state","version":1,"job":"1","operator":"1","kind":"kafka-source","subtask":%s,"checkpoint":%s,"log":{"topic":"orders","cluster_id":"%s","topic_id":"%s"},"isolation":"read_committed","positions":[{"partition":%s,"offset":%s}],"declared":[%s],"watermark":null,"partition_max":[]%s}\n' \
        "$s" "$c" "${cluster:-c1}" "${topic_id:-t1}" "$s" "$offset" "$s" "$run" >"$file"
    sidecar "$file" "$c"
}

sidecar() { # FILE CHECKPOINT
    printf 'clink_checkpoint_meta=1\ncheckpoint_id=%s\npayload_bytes=%s\npayload_crc32c=%s\npayload_sha256=%s\n' \
        "$2" "$(stat -c %s "$1")" "$(crc32c "$1")" "$(digest "$1")" >"$1.meta"
}

# capture OP SUBTASK EPOCH ATTEMPT COUNT [seen truncated]: lines on standard input.
capture() {
    local file=$job/capture/op-$1/subtask-$2/epoch-$3.cap
    mkdir -p "${file%/*}"
    {
        printf '%-510s}\n' "$(printf '{"format":"owed-capture","version":1,"job":"1","operator":"%s","subtask":%s,"epoch":%s,"attempt":"%s","seen":%s,"stored":%s,"control":2,"truncated":%s' \
            "$1" "$2" "$3" "$4" "${6:-$5}" "$5" "${7:-false}")"
        cat
        printf '{"type":"watermark","idle":true}\n{"type":"watermark","idle":false}\n'
    } >"$file"
}

columns_json='[{"name":"id","type":"Int64"},{"name":"name","type":"String"},{"name":"amount","type":"Decimal(18, 4)"},{"name":"seen","type":"DateTime64(6)","from":"ms"}]'

destination() {
    printf '{"endpoint":"http://127.0.0.1:8123","server_uuid":"s1","server_version":"26.5.3.1","server_host":"h","database":"shop","table":"%s","table_uuid":"u1","engine":"MergeTree","engine_full":"MergeTree ORDER BY id","create_table_query":"CREATE TABLE shop.%s (id Int64) ENGINE = MergeTree ORDER BY id","partition_key":"","dedup_window":"0","async_insert":"0","wait_for_async_insert":"1","columns":%s}' \
        "${table:-orders}" "${table:-orders}" "$columns_json"
}

# interval SUBTASK EPOCH PREVIOUS ATTEMPT COUNT [ledger]: the sink's evidence beside its capture.
interval() {
    local cap=$job/capture/op-${op:-3}/subtask-$1/epoch-$2.cap outcome=written ledger=${6:-}
    [ "$5" -gt 0 ] || outcome=empty
    if [ -z "$ledger" ] && [ "$5" -gt 0 ]; then
        ledger="{\"token\":\"t-$1-$2\",\"first\":0,\"rows\":$5,\"blocks\":1,\"attempts\":1,\"in_doubt\":false,\"resend\":\"none\"}"
    fi
    printf '{"format":"owed-sink-interval","version":1,"job":"1","operator":"%s","subtask":%s,"epoch":%s,"previous":%s,"attempt":"%s","capture":{"outcome":"%s","file":"epoch-%s.cap","bytes":%s,"sha256":"%s","seen":%s,"stored":%s,"truncated":false},"watermark":null,"destination":%s,"ledger":[%s]}\n' \
        "${op:-3}" "$1" "$2" "$3" "$4" "$outcome" "$2" "$(stat -c %s "$cap")" "$(digest "$cap")" "$5" "$5" "$(destination)" "$ledger" \
        >"${cap%.cap}.sink.json"
}

op_json() { # OP SUBTASK NAME KIND UID PARAMETERS
    mkdir -p "$job/capture/op-$1/subtask-$2"
    printf '{"format":"owed-operator","version":1,"job":"1","operator":"%s","name":"%s","kind":"%s","uid":"%s","parameters":%s}\n' "$1" "$3" "$4" "$5" "$6" \
        >"$job/capture/op-$1/subtask-$2/op.json"
}

marker() { # CHECKPOINT
    mkdir -p "$job/ckpt/_jobs/1"
    printf 'job=1\ncheckpoint=%s\ngeneration=1\nsubtasks=0,1\n' "$1" >"$job/ckpt/_jobs/1/COMPLETED-$1"
}

# epoch EPOCH PREVIOUS ATTEMPT FROM TO: both subtasks' captures, evidence and snapshots.
epoch() {
    local s
    for s in 0 1; do
        log_records $s "$4" "$5" | capture 2 $s "$1" "$3" $(($5 - $4))
        log_events $s "$4" "$5" | capture 3 $s "$1" "$3" $(($5 - $4))
        interval $s "$1" "$2" "$3" $(($5 - $4))
        snap $s "$1" "$5"
    done
}

job_manifest() { # TYPE of operator 2
    mkdir -p "$job/ha"
    printf '{"format":"owed-job","version":1,"job":"1","name":"orders","submitted_ms":1,"generation":1,"parallelism":2,"requires_commit_confirmation":false,"alignment":"aligned","checkpoint_interval_ms":1000,"retain":2,"graph":{"operators":[{"id":"1","uid":"source","type":"kafka-source","parallelism":2,"parameters":{}},{"id":"2","uid":"map","type":"%s","parallelism":2,"parameters":{"program":"."}},{"id":"3","uid":"sink","type":"clickhouse-sink","parallelism":2,"parameters":{"url":"http://127.0.0.1:8123","password":"hunter2"}}],"edges":[["1","2"],["2","3"]]},"delivery":{"guarantee":"at-least-once"}}\n' "$1" \
        >"$job/ha/job-1.json"
}

make_job() {
    job=$1
    local s
    mkdir -p "$job"
    job_manifest map
    for s in 0 1; do
        op_json 2 $s row-map map map '{"program":"."}'
        op_json 3 $s ch-sink clickhouse-sink sink '{"url":"http://127.0.0.1:8123","password":"<redacted>"}'
        snap $s 0 0 1 0 a1
        snap $s 5 10 6 4 a2
    done
    epoch 1 0 a1 0 3
    epoch 2 1 a1 3 6
    epoch 3 2 a1 6 10
    interval 0 3 2 a1 4 '{"token":"a","first":0,"rows":1,"blocks":1,"attempts":1,"in_doubt":false,"resend":"none"},{"token":"b","first":1,"rows":3,"blocks":1,"attempts":2,"in_doubt":true,"resend":"may_duplicate","tokens":2,"cut":0,"errors":1,"restarted":false}'
    epoch 4 3 a1 10 10
    epoch 5 4 a1 10 12
    epoch 6 0 a2 10 15
    epoch 7 6 a2 15 17
    marker 1
    marker 3
    marker 4
    marker 6
    marker 7
    printf 'job=1\ncheckpoint=4\nnext=6\n' >"$job/ckpt/_jobs/1/RESTORED"
}

# pack_job JOB OUT [options of bundle-pack]
pack_job() {
    local from=$1 to=$2
    shift 2
    "$bin/bundle-pack" --checkpoint-dir="$from/ckpt" --ha-dir="$from/ha" --capture-dir="$from/capture" --job=1 --include-state \
        --include-captures --out="$to" "$@"
}
