# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # job sets spec, dir, here, parallelism, capture, traced and stop
# What pipelines/job makes of its spec: the stages' arguments, the job's manifest, one attempt's processes.

read_spec() { # file
    local wrong leaves
    if [ ! -r "$1" ] || [ -d "$1" ]; then die "cannot read the spec '$1'"; fi
    wrong=$(jq -rs -f "$here/job-spec.jq" "$1" 2>/dev/null) || die "the spec '$1' is no JSON"
    [ -z "$wrong" ] || die "the spec '$1': $wrong"
    # Of two members of one name jq drops the first without a word.
    leaves=$(jq -c 'tostream | select(length == 2)' "$1" | wc -l)
    [ "$(jq -c --stream 'select(length == 2)' "$1" | wc -l)" -eq "$leaves" ] || die "the spec '$1' holds two members of one name"
    filled=$(fill_spec)
    get() { jq -r "$1 // empty" <<<"$filled"; }
    job=$(get '.job')
    retain=$(get '.checkpoint.retain') records=$(get '.capture_records')
    source_args=()
    option source_args --bootstrap '.source.bootstrap'
    option source_args --topic '.source.topic'
    option source_args --isolation '.source.isolation'
    option source_args --time-field '.source.time_field'
    option source_args --watermark-lag-ms '.source.watermark_lag_ms'
    option source_args --idle-ms '.source.idle_ms'
    option source_args -F '.source.properties_file'
    option source_args --interval-ms '.checkpoint.interval_ms'
    read_operators
    sink_args=()
    option sink_args --url '.sink.url'
    option sink_args --database '.sink.database'
    option sink_args --table '.sink.table'
    option sink_args --user '.sink.user'
    option sink_args --password-env '.sink.password_env'
    option sink_args --password-file '.sink.password_file'
    option sink_args --cacert '.sink.cacert'
    option sink_args --client-cert '.sink.client_cert'
    option sink_args --client-key '.sink.client_key'
    option sink_args --batch-rows '.sink.batch_rows'
    option sink_args --batch-ms '.sink.batch_ms'
    while IFS= read -r from; do
        [ -z "$from" ] || sink_args+=(--from="$from")
    done < <(jq -r '.sink.from // {} | to_entries[] | "\(.key):\(.value)"' <<<"$filled")
}

# The spec with what it leaves to the programs said, so that what runs, what is recorded and what a replay takes are one: a
# default that changes would change none of them. null is as absent.
fill_spec() {
    jq -c 'def said: with_entries(select(.value != null));
        .source |= {isolation: "read_committed", watermark_lag_ms: 0, idle_ms: 1000} + said
        | .operators[] |= ({map: {numbers: "double"}}[.type] // {}) + said
        | .sink |= {batch_rows: 1000, batch_ms: 500} + said
        | .checkpoint |= {interval_ms: 1000, retain: 2} + ((. // {}) | said)' "$spec"
}

# The operators between source and sink, by id from 2 on, each with its parameters as it is opened and recorded: a program that
# stands in a file is read once, here.
read_operators() {
    local i file
    operators=$(jq -c '[.operators[] | del(.type)]' <<<"$filled")
    mapfile -t kinds < <(jq -r '.operators[].type' <<<"$filled")
    for i in "${!kinds[@]}"; do
        file=$(get ".operators[$i].program_file")
        [ -n "$file" ] || continue
        if [ ! -r "$file" ] || [ -d "$file" ]; then die "cannot read the program '$file'"; fi
        jq -jn --rawfile text "$file" '$text' | cmp -s - "$file" || die "the program '$file' is not UTF-8"
        operators=$(jq -c --argjson i "$i" --rawfile text "$file" '.[$i] |= (del(.program_file) | .program = $text)' <<<"$operators")
    done
    sink=$((${#kinds[@]} + 2))
}

option() { # array, option, path in the spec
    local -n into=$1
    local value
    value=$(get "$3")
    [ -n "$value" ] || return 0
    if [[ $2 == --* ]]; then into+=("$2=$value"); else into+=("$2" "$value"); fi
}

# The graph, the checkpoint settings, and what these settings promise: at least once, since a restore replays and an
# INSERT in doubt is sent again. A spec has no member for a credential (job-spec.jq); where one lies concerns no reader.
write_manifest() { # path
    local id
    jq -c --argjson p "$parallelism" --arg now "$(date +%s%3N)" --argjson operators "$operators" --argjson sink "$sink" '
        .operators as $spec |
        {format: "owed-job", version: 1, job: .job, name: (.name // .job), submitted_ms: ($now | tonumber), generation: 1,
         parallelism: $p, requires_commit_confirmation: false, alignment: "aligned",
         checkpoint_interval_ms: .checkpoint.interval_ms, retain: .checkpoint.retain,
         graph: {operators: [
             {id: "1", uid: "source", type: "kafka-source", parallelism: $p, parameters: .source},
             ($operators | keys[] | {id: "\(. + 2)", uid: $spec[.].type, type: $spec[.].type, parallelism: $p, parameters: $operators[.]}),
             {id: "\($sink)", uid: "sink", type: "clickhouse-sink", parallelism: $p, parameters: (.sink | del(.password_env, .password_file))}],
           edges: [range(1; $sink) | ["\(.)", "\(. + 1)"]]},
         delivery: {guarantee: "at-least-once",
           source: "Kafka positions are part of the checkpoint; a restore reads again what it did not cover",
           sink: "synchronous INSERTs, acknowledged before the barrier; one in doubt is sent again under its own token",
           why: "a restore writes again what the discarded run wrote after the restored checkpoint"}}' <<<"$filled" | publish "$1"
    for ((id = 2; id <= sink; id++)); do
        jq -c --arg id "$id" '.graph.operators[] | select(.id == $id).parameters' "$1" | publish "$dir/run/op-$id.json"
    done
}

# The manifest goes when the job ends; its terminal status stays.
end_manifest() { # path without .json, status
    printf '{"format":"owed-job-status","version":1,"job":"%s","status":"%s"}\n' "$job" "$2" | publish "$1.status.json"
    rm -f "$1.json"
}

publish() { # path: standard input becomes the file, whole and on disk
    { cat >"$1.tmp" && sync "$1.tmp" && mv "$1.tmp" "$1"; } || { rm -f "$1.tmp"; die "cannot write '$1'" 3; }
}

# A stage that refuses leaves a mark: the statuses of the others, which it took down, say nothing. One that fails is heard of
# at once: those beside it would notice only when they have something to write.
stage() {
    local rc=0
    "$@" || rc=$?
    [ "$rc" -ne 2 ] || : >"$run/refused"
    [ "$rc" -eq 0 ] || echo "$rc" 1<>"$run/failed"
    return "$rc"
}

# The recorder before an operator, which reads the lines that it passes in full.
tee_stage() { # operator, subtask
    local kind=${kinds[$1 - 2]:-clickhouse-sink} name=${kinds[$1 - 2]:-sink}
    stage cap-tee --capture-dir="$dir/capture" --job="$job" --operator="$1" --subtask="$2" --attempt="$attempt" --mode="$mode" --data-unchecked \
        --name="$name" --kind="$kind" --uid="$name" --parameters="$dir/run/op-$1.json" ${records:+--capture-records="$records"} "${traced[@]}"
}

operator_stage() { # operator, subtask
    local who=(--job="$job" --operator="$1" --subtask="$2" --attempt="$attempt" --mode="$mode")
    case ${kinds[$1 - 2]} in map) stage row-map --parameters="$dir/run/op-$1.json" "${who[@]}" "${traced[@]}" ;; esac
}

sink_stage() { # subtask
    stage ch-sink "${sink_args[@]}" --job="$job" --operator="$sink" --subtask="$1" --attempt="$attempt" --capture-dir="$dir/capture" --mode="$mode" "${traced[@]}"
}

recorded() { # operator, subtask, its stage…: without a recorder ch-sink calls itself disarmed
    if [ "$capture" -eq 1 ]; then tee_stage "$1" "$2" | "${@:3}"; else "${@:3}"; fi
}

# From what kafka-tail writes to what lane-join reads: this operator, and those behind it.
lane() { # subtask, operator
    set -o pipefail
    if [ "$2" -eq "$sink" ]; then
        recorded "$2" "$1" sink_stage "$1"
    else
        recorded "$2" "$1" operator_stage "$2" "$1" | lane "$1" $(($2 + 1))
    fi
}

planned() { # name, plan
    sed -n "s/^$1=//p" <<<"$2"
}

# All processes of one attempt. The status of the first that fails; 0 when every lane ended whole.
attempt() { # run directory, plan
    local run=$1 attempt generation s lanes=() outs=() status=0 listener
    trap - TERM INT EXIT
    attempt=$(planned attempt "$2") generation=$(planned generation "$2")
    exec 2>"$run/stderr.log"
    mkfifo "$run/failed"
    # Open for both, so that neither end waits for the other.
    { read -r status && exit "$status"; } <>"$run/failed" &
    listener=$!
    for ((s = 0; s < parallelism; s++)); do
        rm -f "$run/in-$s" "$run/out-$s"
        mkfifo "$run/in-$s" "$run/out-$s"
        lanes+=(--lane="$run/in-$s") outs+=("$run/out-$s")
        lane "$s" 2 <"$run/in-$s" >"$run/out-$s" &
    done
    (
        set -o pipefail
        stage lane-join --job="$job" --attempt="$attempt" --mode="$mode" "${traced[@]}" "${outs[@]}" |
            stage ckpt-mark --checkpoint-dir="$dir/ckpt" --job="$job" --parallelism="$parallelism" --generation="$generation" --attempt="$attempt" --mode="$mode" "${traced[@]}" \
                ${retain:+--retain="$retain"} >/dev/null
    ) &
    stage kafka-tail "${source_args[@]}" --checkpoint-dir="$dir/ckpt" --job="$job" --generation="$generation" --attempt="$attempt" --mode="$mode" \
        --restore="$(planned restore "$2")" --first-epoch="$(planned first_epoch "$2")" "${traced[@]}" "${lanes[@]}" "${stop[@]}" &
    for ((s = 0; s < parallelism + 2; s++)); do
        wait -n || status=$?
        [ "$status" -eq 0 ] || break
    done
    kill "$listener" 2>/dev/null || true
    # The first to fail need not be the one that refused: a stage behind it sees the stop before it has ended, and one before it
    # the closed pipe. Of one that another signal ended that is not so.
    for ((s = 0; status != 0 && s < 100; s++)); do
        if [ "$status" -gt 128 ] && [ "$status" -ne 141 ]; then break; fi
        if [ -e "$run/refused" ] || [ -z "$(jobs -rp)" ]; then break; fi
        sleep 0.05
    done
    rm -f "$run"/in-* "$run"/out-* "$run/failed"
    exit "$status"
}
