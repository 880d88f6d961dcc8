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
    values_of '.job, .checkpoint.retain, .capture_records'
    job=${values[0]} retain=${values[1]} records=${values[2]}
    options --bootstrap .source.bootstrap --topic .source.topic --isolation .source.isolation --time-field .source.time_field \
        --watermark-lag-ms .source.watermark_lag_ms --idle-ms .source.idle_ms -F .source.properties_file --interval-ms .checkpoint.interval_ms
    source_args=("${given[@]}")
    read_operators
    options --url .sink.url --database .sink.database --table .sink.table --user .sink.user --password-env .sink.password_env \
        --password-file .sink.password_file --cacert .sink.cacert --client-cert .sink.client_cert --client-key .sink.client_key \
        --batch-rows .sink.batch_rows --batch-ms .sink.batch_ms
    sink_args=("${given[@]}")
    while IFS= read -r from; do
        [ -z "$from" ] || sink_args+=(--from="$from")
    done < <(jq -r '.sink.from // {} | to_entries[] | "\(.key):\(.value)"' <<<"$filled")
}

# The spec with what it leaves to the programs said, so that what runs, what is recorded and what a replay takes are one: a
# default that changes would change none of them. null is as absent.
fill_spec() {
    jq -c 'def said: with_entries(select(.value != null));
        .source |= {isolation: "read_committed", watermark_lag_ms: 0, idle_ms: 1000} + said
        | .operators |= ([.[].type] as $types | to_entries | map(.key as $i | .value
            | {uid: (if [$types[] | select(. == $types[$i])] | length == 1 then .type else "\(.type)-\($i + 2)" end)}
                + ({map: {numbers: "double"}, window: {allowed_lateness_ms: 0, partition_by: []}}[.type] // {}) + said
            | if .aggregates then .aggregates[] |= (if .function == "sum" then {scale: 0} else {} end + said) else . end))
        | .sink |= {batch_rows: 1000, batch_ms: 500} + said
        | .checkpoint |= {interval_ms: 1000, retain: 2} + ((. // {}) | said)' "$spec"
}

# The operators behind the source, by id from 2 on, each with its parameters as it is opened and recorded: a program that stands
# in a file is read once, here. From the first window on the job runs once, and each window is a participant behind the lanes.
read_operators() {
    local i file
    operators=$(jq -c '[.operators[] | del(.type, .uid)]' <<<"$filled")
    mapfile -t kinds < <(jq -r '.operators[].type, "clickhouse-sink"' <<<"$filled")
    mapfile -t uids < <(jq -r '.operators[].uid, "sink"' <<<"$filled")
    sink=$((${#kinds[@]} + 1)) joined=0 windows=0 participants=()
    [ -z "$(printf '%s\n' "${uids[@]}" | sort | uniq -d)" ] || die "the spec '$spec': two of its operators have one uid"
    for i in "${!kinds[@]}"; do
        [ "${kinds[i]}" = window ] || continue
        [ "$joined" -ne 0 ] || joined=$((i + 2))
        participants[i + 2]=$((parallelism + windows)) windows=$((windows + 1))
    done
    [ "$joined" -ne 0 ] || joined=$((sink + 1))
    values_of '.operators[].program_file'
    for i in "${!kinds[@]}"; do
        file=${values[i]:-}
        [ -n "$file" ] || continue
        if [ ! -r "$file" ] || [ -d "$file" ]; then die "cannot read the program '$file'"; fi
        jq -jn --rawfile text "$file" '$text' | cmp -s - "$file" || die "the program '$file' is not UTF-8"
        operators=$(jq -c --argjson i "$i" --rawfile text "$file" '.[$i] |= (del(.program_file) | .program = $text)' <<<"$operators")
    done
}

# The array values: what stands at each of the paths in the spec, or nothing; of what is asked for here nothing has a line's end. All at
# once: a start of jq takes longer than what it does.
values_of() { # paths, comma separated
    mapfile -t values < <(jq -r "($1) | . // \"\"" <<<"$filled")
}

# The array given: each of the options, where the spec has something at its path.
options() { # option, path in the spec, option, path…
    local names=() paths='' i
    while [ $# -gt 0 ]; do
        names+=("$1") paths+=${paths:+, }$2
        shift 2
    done
    values_of "$paths"
    given=()
    for i in "${!names[@]}"; do
        [ -n "${values[i]}" ] || continue
        if [[ ${names[i]} == --* ]]; then given+=("${names[i]}=${values[i]}"); else given+=("${names[i]}" "${values[i]}"); fi
    done
}

# The graph, the checkpoint settings, and what these settings promise: at least once, since a restore replays and an
# INSERT in doubt is sent again. A spec has no member for a credential (job-spec.jq); where one lies concerns no reader.
write_manifest() { # path
    local id
    jq -c --argjson p "$parallelism" --arg now "$(date +%s%3N)" --argjson operators "$operators" --argjson sink "$sink" --argjson joined "$joined" '
        .operators as $spec | def runs($id): if $id < $joined then $p else 1 end;
        {format: "owed-job", version: 1, job: .job, name: (.name // .job), submitted_ms: ($now | tonumber), generation: 1,
         parallelism: $p, requires_commit_confirmation: false, alignment: "aligned",
         checkpoint_interval_ms: .checkpoint.interval_ms, retain: .checkpoint.retain,
         graph: {operators: [
             {id: "1", uid: "source", type: "kafka-source", parallelism: $p, parameters: .source},
             ($operators | keys[] | {id: "\(. + 2)", uid: $spec[.].uid, type: $spec[.].type, parallelism: runs(. + 2), parameters: $operators[.]}),
             {id: "\($sink)", uid: "sink", type: "clickhouse-sink", parallelism: runs($sink), parameters: (.sink | del(.password_env, .password_file))}],
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
    stage cap-tee --capture-dir="$dir/capture" --job="$job" --operator="$1" --subtask="$2" --attempt="$attempt" --mode="$mode" --data-unchecked \
        --name="${uids[$1 - 2]}" --kind="${kinds[$1 - 2]}" --uid="${uids[$1 - 2]}" --parameters="$dir/run/op-$1.json" ${records:+--capture-records="$records"} "${traced[@]}"
}

operator_stage() { # operator, subtask
    local who=(--job="$job" --operator="$1" --subtask="$2" --attempt="$attempt" --mode="$mode")
    case ${kinds[$1 - 2]} in
        map) stage row-map --parameters="$dir/run/op-$1.json" "${who[@]}" "${traced[@]}" ;;
        window) stage row-window --parameters="$dir/run/op-$1.json" "${who[@]}" --checkpoint-dir="$dir/ckpt" \
            --participant="${participants[$1]}" --generation="$generation" --restore="$restored_from" "${traced[@]}" ;;
        clickhouse-sink) stage ch-sink "${sink_args[@]}" "${who[@]}" --capture-dir="$dir/capture" "${traced[@]}" ;;
    esac
}

recorded() { # operator, subtask: without a recorder ch-sink calls itself disarmed
    if [ "$capture" -eq 1 ]; then tee_stage "$1" "$2" | operator_stage "$1" "$2"; else operator_stage "$1" "$2"; fi
}

# Operators one behind the other, each reading what the one before it writes.
chain() { # subtask, the first operator, the last
    set -o pipefail
    if [ "$2" -eq "$3" ]; then recorded "$2" "$1"; else recorded "$2" "$1" | chain "$1" $(($2 + 1)) "$3"; fi
}

mark_stage() {
    stage ckpt-mark --checkpoint-dir="$dir/ckpt" --job="$job" --parallelism="$parallelism" --windows="$windows" --generation="$generation" \
        --attempt="$attempt" --mode="$mode" "${traced[@]}" ${retain:+--retain="$retain"} >/dev/null
}

# From what lane-join writes on: the job's window and what is behind it, where it has one.
joined() {
    set -o pipefail
    if [ "$joined" -le "$sink" ]; then chain 0 "$joined" "$sink" | mark_stage; else mark_stage; fi
}

planned() { # name, plan
    sed -n "s/^$1=//p" <<<"$2"
}

# All processes of one attempt. The status of the first that fails; 0 when every lane ended whole.
attempt() { # run directory, plan
    local run=$1 attempt generation restored_from s lanes=() outs=() status=0 listener
    trap - TERM INT EXIT
    attempt=$(planned attempt "$2") generation=$(planned generation "$2") restored_from=$(planned restore "$2")
    exec 2>"$run/stderr.log"
    mkfifo "$run/failed"
    # Open for both, so that neither end waits for the other.
    { read -r status && exit "$status"; } <>"$run/failed" &
    listener=$!
    for ((s = 0; s < parallelism; s++)); do
        rm -f "$run/in-$s" "$run/out-$s"
        mkfifo "$run/in-$s" "$run/out-$s"
        lanes+=(--lane="$run/in-$s") outs+=("$run/out-$s")
        chain "$s" 2 $((joined - 1)) <"$run/in-$s" >"$run/out-$s" &
    done
    (
        set -o pipefail
        stage lane-join --job="$job" --attempt="$attempt" --mode="$mode" "${traced[@]}" "${outs[@]}" | joined
    ) &
    stage kafka-tail "${source_args[@]}" --checkpoint-dir="$dir/ckpt" --job="$job" --generation="$generation" --attempt="$attempt" --mode="$mode" \
        --restore="$restored_from" --first-epoch="$(planned first_epoch "$2")" "${traced[@]}" "${lanes[@]}" "${stop[@]}" &
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
