# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The demonstration's stage: services, a topic, a table, jobs and bundles. Everything lives under $work.

# By && since a caller that asks whether it worked takes errexit away from it.
services_up() { # options of tests/services/kafka up
    "$root/tests/services/clickhouse" up --dir="$work/ch" >"$work/ch.env" &&
        "$root/tests/services/kafka" up --dir="$work/kafka" "$@" >"$work/kafka.env" &&
        services_env
}

# What the services said of themselves, for this shell and its children.
services_env() {
    set -a
    # shellcheck disable=SC1091
    . "$work/ch.env"
    # shellcheck disable=SC1091
    . "$work/kafka.env"
    set +a
    export CH_PASSWORD READER_PASSWORD READONLY1_PASSWORD WRONG_PASSWORD=not-the-password
    READER_PASSWORD=$(cat "$work/ch/secret/reader")
    READONLY1_PASSWORD=$(cat "$work/ch/secret/readonly1")
}

services_down() {
    local d
    for d in "$work"/ch "$work"/ch-other "$work"/ch-old; do
        [ ! -d "$d" ] || "$root/tests/services/clickhouse" down --dir="$d" >/dev/null 2>&1 || true
    done
    [ ! -d "$work/kafka" ] || "$root/tests/services/kafka" down --dir="$work/kafka" >/dev/null 2>&1 || true
}

# One statement as the full user of the server at $1.
sql_at() { # url, directory of its secrets, statement
    curl -sS --fail-with-body "$1/" -K <(printf 'user = "default:%s"\n' "$(cat "$2/secret/default")") --data-binary "$3"
}

sql() {
    sql_at "$CH_URL" "$work/ch" "$1"
}

fault() { # parameters: a fault of the server's, or await=, release=, clear= (tests/services/clickhouse-front/fault.h)
    curl -sS --fail-with-body -o /dev/null -X POST "$CH_URL/__fault?$1" \
        -K <(printf 'user = "default:%s"\n' "$(cat "$work/ch/secret/default")")
}

# A table's INSERTs, as a fault's parameter.
insert_into() { # table
    printf 'INSERT%%20INTO%%20%%60shop%%60.%%60%s%%60' "$1"
}

# Processes of the job that pipelines/job runs as process $1, by program and, where it has one, subtask. By descent: a pattern
# would also find the jobs of others on this machine.
job_pids() { # pid, program, subtask (or nothing)
    ps -ww -eo pid=,ppid=,args= | awk -v job="$1" -v program="$2" -v subtask="${3:+--subtask=$3 }" '
        { pid = $1; parent[pid] = $2; called = $3; sub(".*/", "", called) }
        called == program && (subtask == "" || index($0 " ", " " subtask)) { found[++n] = pid }
        END { for (i = 1; i <= n; i++) { for (p = found[i]; p in parent && p != job;) p = parent[p]; if (p == job) print found[i] } }'
}

table() { # name, engine and settings
    sql "CREATE TABLE shop.$1 (event_id Int64, customer String, amount Decimal(18, 4), seen DateTime64(6), score Float64,
        note Nullable(String)) ENGINE = $2"
}

kafka() {
    "$root/build/tests/kafka-tool" -b "$KAFKA_BOOTSTRAP" "$@"
}

# Orders first to last: alternately in both partitions, every value a plain function of its number.
orders() { # first, last
    awk -v a="$1" -v b="$2" 'BEGIN {
        for (i = a; i <= b; i++)
            printf "{\"partition\":%d,\"key\":\"%d\",\"value\":\"{\\\"event_id\\\":%d,\\\"customer\\\":\\\"c%03d\\\",\\\"amount\\\":\\\"%d.%04d\\\",\\\"seen\\\":%.0f,\\\"score\\\":%s,\\\"note\\\":%s}\"}\n",
                i % 2, i, i, i % 97, i, i % 10000, 1758000000000 + i * 1000, i % 10 == 0 ? "0.0" : i / 8,
                i % 3 == 0 ? "null" : "\\\"n" i "\\\""
    }'
}

produce() { # topic, first, last
    orders "$2" "$3" | kafka produce "$1"
}

# The same through a transaction that is aborted: offsets that nobody is owed.
produce_aborted() { # topic, first, last
    orders "$2" "$3" | kafka --transactional-id="demo-$2" --abort produce "$1"
}

# No checkpoint by the clock: what lies in an interval is what the script put there.
spec() { # job, topic, table, more members of the sink
    jq -n --arg job "$1" --arg topic "$2" --arg table "$3" --arg b "$KAFKA_BOOTSTRAP" --arg url "$CH_URL" --argjson more "${4:-{\}}" '
        {job: $job, name: "orders", source: {bootstrap: $b, topic: $topic, time_field: "seen"},
         operators: [{type: "map", program: "select(.event_id != null)", numbers: "text"}],
         sink: ({url: $url, user: "default", password_env: "CH_PASSWORD", database: "shop", table: $table, from: {seen: "ms"},
                 batch_rows: 250, batch_ms: 100} + $more),
         checkpoint: {interval_ms: 0, retain: 8}}' >"$work/$1.json"
}

job() { # job, more arguments; runs to its end
    "$root/pipelines/job" --spec="$work/$1.json" --dir="$work/job-$1" --parallelism=2 "${@:2}" 2>>"$work/job-$1.log"
}

rows_in() { # table
    sql "SELECT count() FROM shop.$1"
}

keys_in() { # table: a row that stands twice counts once
    sql "SELECT count(DISTINCT event_id) FROM shop.$1"
}

# Wait for a state that is brought about by others, however slow the machine is just now.
await() { # what, then the command that tells whether it is so
    local end=$((SECONDS + 180))
    until "${@:2}"; do
        [ "$SECONDS" -lt "$end" ] || { echo "awaited, and it did not come: $1" >&2; return 1; }
        sleep 0.05
    done
}

at_least() { # number, then the command that prints one
    [ "$("${@:2}")" -ge "$1" ]
}

wait_for() { # rows_in or keys_in, table, at least
    await "$3 by $1 of shop.$2" at_least "$3" "$1" "$2"
}

wait_keys() { # table, at least
    wait_for keys_in "$@"
}

newest() { # job: its newest completed checkpoint, 0 before the first
    { echo 0; find "$work/job-$1/ckpt/_jobs/$1" -name 'COMPLETED-*' 2>/dev/null | sed 's/.*-//'; } | sort -n | tail -n 1
}

wait_checkpoints() { # job, how many more
    await "$2 more checkpoints of job $1" at_least $(($(newest "$1") + $2)) newest "$1"
}

attempts() { # job: how many have begun
    grep -c '^job: attempt [0-9]*: ' "$work/job-$1.log" || true
}

# Kill a process of the running job, and wait until the next attempt has begun.
crash() { # job, program, subtask (or nothing)
    local begun found
    begun=$(attempts "$1")
    await "the process ${*:2}" found job_pids "$runner" "$2" "${3:-}"
    kill -KILL "${found%%$'\n'*}"
    await "the next attempt of job $1" at_least $((begun + 1)) attempts "$1"
}

# The source of the job that runs as process $1, once it holds SIGUSR1 back as a request: before, the signal would end it.
source_of() {
    local pid held
    for pid in $(job_pids "$1" kafka-tail); do
        held=$(sed -n 's/^SigBlk:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null) || true
        [ $((0x${held:-0} & 1 << ($(kill -l USR1) - 1))) -eq 0 ] || echo "$pid"
    done
}

found() { # command: it prints something, which is kept in $found
    found=$("$@") && [ -n "$found" ]
}

ask_barrier() { # of the running job
    local found
    await 'the source of the job' found source_of "$runner"
    kill -USR1 "$found"
}

# A checkpoint of the running job, now; with interval_ms 0 there is none but these.
checkpoint() { # job
    local next=$(($(newest "$1") + 1))
    ask_barrier
    await "checkpoint $next of job $1" at_least "$next" newest "$1"
}

# Rows that the sink received in an interval, over its subtasks.
interval_rows() { # job, epoch
    cat "$work/job-$1/capture/op-3"/subtask-*/"epoch-$2.sink.json" 2>/dev/null | jq -s 'map(.capture.seen | tonumber) | add // 0'
}

# A bundle of a job that stands still: one that moves on during the copy would be refused as changed.
pack() { # job, bundle, more arguments
    bundle-pack --checkpoint-dir="$work/job-$1/ckpt" --job="$1" --ha-dir="$work/job-$1/ha" \
        --capture-dir="$work/job-$1/capture" --out="$work/$2" "${@:3}" >"$work/$2.ndjson" 2>"$work/$2.err" && return 0
    cat "$work/$2.err" >&2
    return 1
}

whole=(--include-state --include-captures --commit-confirmation=no)
