# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2154 # jq programs hold their own $; bin and job are set by each test
# A job whose operators can be replayed, made without a broker or a server: one lane, a map, and behind it a second map or a window.

# shellcheck source=tests/make-job.bash
. "$(dirname "${BASH_SOURCE[0]}")/make-job.bash"

program='{id: .id, twice: (.id * 2), name: "n\(.id)"}'

records() { # FROM TO
    awk -v o="$1" -v to="$2" 'BEGIN { for (; o < to; o++)
        printf "{\"type\":\"record\",\"topic\":\"orders\",\"partition\":0,\"offset\":%d,\"tstype\":\"create\",\"ts\":%d,\"headers\":[],\"key\":null,\"payload\":\"{\\\"id\\\":%d}\"}\n", o, 1000 + o, o }'
}

rows() { # FROM TO: what the program makes of them, by another hand
    awk -v o="$1" -v to="$2" 'BEGIN { for (; o < to; o++)
        printf "{\"type\":\"event\",\"at\":\"orders/0/%d\",\"ts\":%d,\"values\":{\"id\":%d,\"twice\":%d,\"name\":\"n%d\"}}\n", o, 1000 + o, o, 2 * o, o }'
}

# A job of one lane: a source, map 2, map 3 that takes its rows, the sink. Epochs 1 to 4, of 3, 2, 0 and 4 records.
chained() {
    job=$1
    local e from=0 n parameters
    parameters=$(jq -cn --arg p "$program" '{program: $p}')
    mkdir -p "$job/ha"
    op_json 2 0 map map first "$parameters"
    op_json 3 0 map map second '{"program":"."}'
    op_json 4 0 ch-sink clickhouse-sink sink '{"url":"http://127.0.0.1:8123"}'
    snap 0 0 0 1 0 a1
    e=0
    for n in 3 2 0 4; do
        e=$((e + 1))
        records $from $((from + n)) | capture 2 0 $e a1 $n
        rows $from $((from + n)) | capture 3 0 $e a1 $n
        rows $from $((from + n)) | capture 4 0 $e a1 $n
        op=4 interval 0 $e $((e - 1)) a1 $n
        from=$((from + n))
        snap 0 $e $from
        marker $e
        sed -i 's/^subtasks=.*/subtasks=0/' "$job/ckpt/_jobs/1/COMPLETED-$e"
    done
    graph 1 '[["1","2"],["2","3"],["3","4"]]'
}

graph() { # PARALLELISM EDGES
    jq -cn --arg p "$program" --argjson n "$1" --argjson e "$2" '{format: "owed-job", version: 1, job: "1", name: "orders", submitted_ms: 1,
        generation: 1, parallelism: $n, requires_commit_confirmation: false, alignment: "aligned", checkpoint_interval_ms: 1000, retain: 2,
        graph: {operators: [{id: "1", uid: "source", type: "kafka-source", parallelism: $n, parameters: {}},
            {id: "2", uid: "first", type: "map", parallelism: $n, parameters: {program: $p}},
            {id: "3", uid: "second", type: "map", parallelism: $n, parameters: {program: "."}},
            {id: "4", uid: "sink", type: "clickhouse-sink", parallelism: $n, parameters: {url: "http://127.0.0.1:8123"}}], edges: $e},
        delivery: {guarantee: "at-least-once"}}' >"$job/ha/job-1.json"
}

packed() { # JOB OUT
    pack_job "$1" "$2" --epochs=1-99 >packing
}

# Operator 3 is a window of 4 ms over the first map's rows; each epoch ends with the watermark at its last row.
windowed() { # [PARTITION_BY]
    rm -r job/capture/op-3 job/capture/op-4
    echo '{"size_ms":4,"allowed_lateness_ms":0,"partition_by":'"${1:-[]}"',"aggregates":[{"function":"count","as":"n"},{"function":"sum","column":"twice","as":"s"}]}' >window.json
    op_json 4 0 ch-sink clickhouse-sink sink '{"url":"http://127.0.0.1:8123"}'
    local e=0 from=0 n
    { for n in 3 2 0 4; do
        e=$((e + 1))
        rows $from $((from + n))
        from=$((from + n))
        watermark $((1000 + from - 1))
        barrier $e $((e - 1)) "$(snapshot 0 $e)"
    done; } | whole lane
    "$bin/cap-tee" --capture-dir=job/capture --job=1 --operator=3 --subtask=0 --attempt=a1 --name=window --kind=window --uid=second --parameters=window.json <lane |
        "$bin/row-window" --parameters=window.json --checkpoint-dir=job/ckpt --job=1 --operator=3 --participant=1 |
        "$bin/cap-tee" --capture-dir=job/capture --job=1 --operator=4 --subtask=0 --attempt=a1 --name=sink --kind=clickhouse-sink --uid=sink >windows
    for e in 1 2 3 4; do
        op=4 interval 0 $e $((e - 1)) a1 "$(jq -r 'select(.type == "barrier" and .checkpoint == '$e') | .left[] | select(.operator == "4" and .kind == "capture") | .stored' windows)"
        sed -i 's/^subtasks=.*/subtasks=0,1/' "job/ckpt/_jobs/1/COMPLETED-$e"
    done
    jq -c --slurpfile w window.json '(.graph.operators[] | select(.id == "3")) |= (.type = "window" | .parameters = $w[0])' job/ha/job-1.json >manifest
    mv manifest job/ha/job-1.json
}
