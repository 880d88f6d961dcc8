# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The one place where tests make streams: a function for each line that they write, scopes, lanes of a job, and what makes a stream
# of lines. What programs said of one is read by answers.bash.

# shellcheck source=tests/programs.bash
. "$(dirname "${BASH_SOURCE[0]}")/programs.bash"

# ---- streams ----

head='{"type":"stream","format":"owed-stream","version":1,"stages":[{"name":"t","version":"1"}]}'

# ended: the lines of standard input and the end that counts them. The type is a line's first member.
ended() {
    awk -F'"' '{ print; if (!lines[$4]++) type[++n] = $4 } END {
        printf "{\"type\":\"end\",\"lines\":{"
        for (i = 1; i <= n; i++) printf "%s\"%s\":%d", (i > 1 ? "," : ""), type[i], lines[type[i]]
        print "}}"
    }'
}

# end_of TYPE N…: an end that says so.
end_of() {
    local list
    printf -v list ',"%s":%s' "$@"
    printf '{"type":"end","lines":{%s}}\n' "${list#,}"
}

# whole [FILE]: the lines of standard input as a stream, in the file stream if none is named. Where row_columns holds columns, as
# JSON and comma separated, their line comes first.
whole() {
    {
        echo "$head"
        [ -z "${row_columns:-}" ] || columns_of "[$row_columns]"
        cat
    } | ended >"${1:-stream}.new"
    mv "${1:-stream}.new" "${1:-stream}"
}

# edit FILTER [FILE]: the stream in FILE (stream), each line through a jq filter that may give none or several, closed anew, in the file
# edited. A check that the filter leaves open gets a code where it has none.
edit() {
    jq -c 'select(.type != "end") | ('"$1"') |
        if .type == "check" and .status != "passed" and .code == null then .code = "server-failed" else . end' "${2:-stream}" | ended >edited
}

# ---- lines that any stream may have ----

require() { # CHECK…
    local list
    printf -v list ',"%s"' "$@"
    printf '{"type":"require","checks":[%s]}\n' "${list#,}"
}

# checked NAME STATUS [REASON [STAGE]]
checked() {
    local code=,\"code\":\"server-failed\"
    [ "$2" != passed ] || code=
    printf '{"type":"check","stage":"%s","name":"%s","status":"%s"%s,"reason":"%s","evidence":[]}\n' "${4:-t}" "$1" "$2" "$code" "${3-because}"
}

# stopped KIND [REASON [STAGE]]
stopped() { printf '{"type":"stop","stage":"%s","kind":"%s","code":"interrupted","reason":"%s"}\n' "${3:-t}" "$1" "${2-because}"; }

columns_of() { printf '{"type":"columns","cells":"%s","columns":%s}\n' "${2:-clink-canonical-cells-v1}" "$1"; } # JSON [CELLS]

# ---- rows ----

captured() { printf '{"type":"row","side":"captured","cells":%s%s%s}\n' "$1" "${2:+,\"at\":\"$2\"}" "${3:+,\"again\":\"$3\"}"; } # CELLS [AT [AGAIN]]
reference() { printf '{"type":"row","side":"reference","cells":%s%s%s}\n' "$1" "${2:+,\"at\":\"$2\"}" "${3:+,\"ts\":$3}"; }          # CELLS [AT [TS]]
table_row() { printf '{"type":"row","side":"destination","read":%s,"cells":%s}\n' "$1" "$2"; }                               # READ CELLS
side() { printf '{"type":"side","side":"%s",%s"rows":%s,"whole":true}\n' "$1" "${3:+\"read\":$3,}" "$2"; }                      # SIDE ROWS [READ]
open_side() { printf '{"type":"side","side":"%s","rows":%s,"whole":false,"reason":"%s"}\n' "$1" "$2" "$3"; }                   # SIDE ROWS WHY

# rows_of MEMBERS CELLS…: a row for each, by one printf: a test runs each command of a loop under a trap.
rows_of() { [ $# -eq 1 ] || printf "{\"type\":\"row\",$1,\"cells\":%s}\n" "${@:2}"; }
# Whole sides of the rows given: captured_side CELLS…, reference_side CELLS…; found CELLS…, both reads of the table.
captured_side() {
    rows_of '"side":"captured"' "$@"
    side captured $#
}
reference_side() {
    rows_of '"side":"reference"' "$@"
    side reference $#
}
found() {
    local read
    for read in 1 2; do
        rows_of "\"side\":\"destination\",\"read\":$read" "$@"
        side destination $# $read
    done
}
# Captured rows of partition 0 from the offset $1 to $2, each under its own key; and the cells of such keys.
range() { seq "$1" "$2" | sed 's#.*#{"type":"row","side":"captured","cells":["k&","v"],"at":"t/0/&"}#'; }
keys() { [ $# -eq 0 ] || printf '["k%s","v"]\n' "$@"; }

# What ch-read says of a table that stood still, with more members: observation [MEMBERS].
observation() { printf '{"type":"observation","stable":true%s}\n' "${1:+,$1}"; }
observed_whole() { observation '"table_whole":true'; }

# ---- scopes ----

# jq, which takes longer to start than most programs here to run, is asked once: for the document without its fingerprint, and for what
# that is of, the same with its members sorted.
printed='del(.scope_sha256) | ., walk(if type == "object" then to_entries | sort_by(.key) | from_entries else . end)'
fingerprinted() {
    local document sorted
    read -r document && read -r sorted || return
    printf '%s,"scope_sha256":"%.64s"}\n' "${document%\}}" "$(printf %s "$sorted" | sha256sum)"
}

# scope_print: the document on standard input with its fingerprint.
scope_print() { jq -c "$printed" | fingerprinted; }

# scope_made FILTER [jq ARGUMENT…]: a document cut from a bundle, changed so.
scope_made() {
    jq -cn '{format: "clink-audit-scope", version: 1, origin: "bundle",
        bundle: {job: "1", job_graph_sha256: null, sink: {operator: "3", attempts: ["a"], subtasks: [0]}, checkpoint: 1, since: 0, start: "run",
            restored_from: null, from_run_start: false, epochs: [1], source_operators: [], coverage: "selected-keys"},
        destination: {server_uuid: "s", server_version: "26.5.3.1", database: "shop", table: "orders", table_uuid: "t"},
        sources: [], columns: [{name: "id", type: "Int64", key: true}], cells: "clink-canonical-cells-v1"} |
        '"$1"' | .bundle.source_operators = [.sources[] | "1"] | '"$printed" "${@:2}" | fingerprinted
}
scope_line() { printf '{"type":"scope","document":%s}\n' "$(</dev/stdin)"; } # the line of the document on standard input

# source_of TOPIC CLUSTER TOPIC_ID ISOLATION RANGE…: one source; a range is P:FROM-TO, FROM empty where it is not known, and an id
# that is - is null.
source_of() {
    local ranges=("${@:5}")
    jq -cn --arg topic "$1" --arg cluster "$2" --arg id "$3" --arg isolation "$4" '
        def id: if . == "-" then null else . end;
        {topic: $topic, cluster_id: ($cluster | id), topic_id: ($id | id), isolation: $isolation,
         partitions: [$ARGS.positional[] | capture("^(?<p>[0-9]+):(?<f>[0-9]*)-(?<t>[0-9]+)$") |
            {partition: (.p | tonumber), from: (if .f == "" then null else (.f | tonumber) end), to: (.t | tonumber)}]}' --args "${ranges[@]}"
}

# scope_of_sources SOURCE…: the document over those sources.
scope_of_sources() { scope_made '.sources = $ARGS.positional' --jsonargs "$@"; }

# scope_of SERVER TABLE_UUID DATABASE TABLE COLUMNS [CELLS]: the line of a scope over ten offsets of orders; COLUMNS is a JSON array.
scope_of() {
    scope_made '.destination += {server_uuid: $server, table_uuid: $uuid, database: $database, table: $table} | .columns = $columns | .cells = $cells |
        .sources = [{topic: "orders", cluster_id: "c", topic_id: null, isolation: "read_committed", partitions: [{partition: 0, from: 0, to: 9}]}]' \
        --arg server "$1" --arg uuid "$2" --arg database "$3" --arg table "$4" --argjson columns "$5" --arg cells "${6:-clink-canonical-cells-v1}" | scope_line
}

# The line of a scope over the whole run whose operator says that equal rows are meant.
repeats() {
    scope_made '.columns = $columns | .bundle += {from_run_start: true, coverage: "complete-table", repeats: true}' --argjson columns "[$row_columns]" |
        scope_line
}

# ---- lanes of a job ----

event() { valued "$1" "{\"id\":$1}"; }                                                             # OFFSET
valued() { printf '{"type":"event","at":"t/0/%s","ts":%s,"values":%s}\n' "$1" "$1" "$2"; }         # OFFSET VALUES
event_of() { printf '{"type":"event",%s%s"values":%s}\n' "${2:+\"at\":\"$2\",}" "${3:+\"ts\":$3,}" "$1"; } # VALUES [AT [TS]]: a reference program's
record() { # OFFSET PAYLOAD, whose control characters are line ends and tabs
    local payload=${2//\\/\\\\}
    payload=${payload//\"/\\\"}
    payload=${payload//$'\t'/\\t}
    printf '{"type":"record","topic":"t","partition":0,"offset":%s,"tstype":"create","ts":%s,"headers":[],"key":null,"payload":"%s"}\n' \
        "$1" $(($1 + 100)) "${payload//$'\n'/\\n}"
}
# records N: of two partitions, with payloads of about 100 bytes.
records() {
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "{\"type\":\"record\",\"topic\":\"t\",\"partition\":%d,\"offset\":%d,\"payload\":\"{\\\"id\\\":%d,\\\"name\\\":\\\"%080d\\\"}\"}\n", i % 2, int(i / 2), i, i }'
}
watermark() { printf '{"type":"watermark","ts":%s}\n' "$1"; }
idle() { echo '{"type":"watermark","idle":true}'; }
barrier() { # CHECKPOINT PREVIOUS [ENTRIES of left, comma separated]
    printf '{"type":"barrier","job":"1","checkpoint":%s,"previous":%s,"attempt":"a","left":[%s]}\n' "$1" "$2" "${3:-}"
}
# snapshot SUBTASK CHECKPOINT: the entry that a source lane leaves.
snapshot() {
    printf '{"operator":"1","subtask":%s,"kind":"snapshot","file":"_state/1/v1/%s/checkpoint-%s.snap","bytes":1,"sha256":"%064d"}' "$1" "$1" "$2" 0
}

# What a job's operators get of a partition's offsets FROM to TO, less the last: by one awk, as above. event_ts: each event's time.
log_events() { # PARTITION FROM TO
    awk -v p="$1" -v o="$2" -v to="$3" -v ts="${event_ts:-null}" 'BEGIN {
        for (; o < to; o++)
            printf "{\"type\":\"event\",\"at\":\"orders/%d/%d\",\"ts\":%s,\"values\":{\"id\":%d,\"name\":\"n%d\",\"amount\":\"%d.5\",\"seen\":%.0f}}\n",
                p, o, ts, p * 100000 + o, o, o, 1758000000000 + o
    }'
}

log_records() { # PARTITION FROM TO
    awk -v p="$1" -v o="$2" -v to="$3" 'BEGIN {
        for (; o < to; o++)
            printf "{\"type\":\"record\",\"topic\":\"orders\",\"partition\":%d,\"offset\":%d,\"tstype\":\"create\",\"ts\":0,\"headers\":[],\"key\":null,\"payload\":\"{}\"}\n", p, o
    }'
}

# ---- a saved run, made anew ----

saved=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/fixtures/reference/read.ndjson

# The saved scope's document as another kind: selected, complete or declared; and what the filter scope_edit makes of it.
document_of() {
    jq -c --arg kind "$1" 'select(.type == "scope") | .document | del(.scope_sha256) |
        if $kind == "complete" then .bundle += {coverage: "complete-table", from_run_start: true, start: "run", since: 0}
        elif $kind == "declared" then .origin = "declared" | del(.bundle) | .declared = {gone: []} |
            .sources[0].topic_id = null | .destination.table_uuid = null
        else . end | '"${scope_edit:-.} | $printed" "$saved" | fingerprinted
}

# An artifact for the document $1 with the rows ({cells, at}) on standard input, in the file reference.
artifact() {
    local rows
    cat >rows
    rows=$(wc -l <rows)
    jq -cn --argjson scope "$1" '{format: "clink-reference-result", version: 1, scope: $scope,
        implementation: {name: "orders", version: "1.0", configuration: {currency: "EUR"}}}' >header
    {
        cat header rows
        jq -cn --argjson rows "$rows" --arg header "$(sha256sum <header | cut -d' ' -f1)" --arg rows_sha "$(sha256sum <rows | cut -d' ' -f1)" \
            --argjson extra "${artifact_extra:-{\}}" '{end: true, rows: $rows, header_sha256: $header, rows_sha256: $rows_sha, complete: true, reasons: [],
            verified: ["topic id", "position past each end"], recorded: {client: "librdkafka 2.15.1", run_start_offsets: {"orders/0": 651}, ranges: [
                {topic: "orders", partition: 0, from: 651, to: 711, position: 711, offsets: 60, delivered: 60, null_values: 1, not_delivered: 0, complete: true, reason: ""},
                {topic: "orders", partition: 1, from: 651, to: 711, position: 711, offsets: 60, delivered: 57, null_values: 0, not_delivered: 3, aborted: 2,
                 marker_or_absent: 1, complete: true, reason: ""}]}} + $extra'
    } >reference
}

# compose KIND: the file stream, through ref-bind and rows-diff, and what it is made of. The filters reference_rows, captured_rows and
# table_rows (jq, on an array of cells, which may give none or several) say what became of the saved run's rows on each side. What one
# test composed of the same another copies.
compose() {
    local made
    made=$BATS_FILE_TMPDIR/composed-$(sha256sum <<<"$1|$saved|${scope_edit:-}|${reference_rows:-}|${captured_rows:-}|${table_rows:-}|${artifact_extra:-}" | cut -c1-64)
    if [ ! -e "$made" ]; then
        rm -rf "$made.new"
        mkdir "$made.new"
        (cd "$made.new" || exit; composed "$1")
        mv "$made.new" "$made"
    fi
    cp "$made"/* .
}
composed() { # KIND
    local kind=$1 document found
    document=$(document_of "$kind")
    jq -c 'select(.type == "row" and .side == "captured") | .at as $at | .cells | ('"${reference_rows:-.}"') | {cells: ., at: $at}' "$saved" >owed
    artifact "$document" <owed
    jq -c --arg kind "$kind" --argjson document "$document" '
        if .type == "observation" or (.type == "check" and .stage == "ch-read") or .side == "destination" or .type == "end" then empty
        elif .type == "row" then .at as $at | .cells | ('"${captured_rows:-.}"') | {type: "row", side: "captured", cells: ., at: $at}
        elif .type == "scope" then .document = $document
        elif .type == "require" and $kind == "complete" then .checks += ["destination.coverage"]
        else . end |
        if $kind == "declared" then
            if .type == "bundle" or .type == "interval" or .type == "row" or .type == "side" or (.type == "check" and .stage == "bundle-check") then empty
            elif .type == "require" then .checks = ["reconcile.scope", "reconcile.destination"]
            else . end
        else . end' "$saved" >upper
    # One sink subtask has them all, so that the intervals count what is captured now.
    jq -c --argjson n "$(grep -c '"row"' upper)" 'if .type == "side" then .rows = $n
        elif .name == "reconcile.scope" then .counts.rows = $n
        elif .type == "interval" and .capture then (. as $was | (.capture += {outcome: "empty", seen: 0, stored: 0} | .ledger = []) as $empty |
            (if .subtask == 0 and $n > 0 then $was | .capture += {seen: $n, stored: $n} | .ledger = [.ledger[0] | .rows = $n] else $empty end),
            (if $kind == "complete" then $empty | (.epoch = 8 | .previous = 7), (.epoch = 9 | .previous = 8) else empty end))
        else . end' --arg kind "$kind" upper | ended | { ref-bind --reference=reference >bound || [ $? -le 3 ]; }
    jq -c 'if .type == "end" then empty elif .type == "stream" then .stages += [{name: "ch-read", version: "0.1.0"}] else . end' bound >lines
    jq -c 'select(.type == "row" and .side == "destination") | .read as $read | .cells | ('"${table_rows:-.}"') |
        {type: "row", side: "destination", read: $read, cells: .}' "$saved" >>lines
    found=$(($(grep -c '"destination"' lines) / 2))
    jq -c --arg kind "$kind" --argjson n "$found" '
        if .type == "observation" then .reads[].rows = $n | if $kind == "complete" then . + {table_whole: true, max_table_rows: 1000000,
            parts: {before: 3, after: 3, same: true}} else . end
        elif .side == "destination" and .type == "side" then .rows = $n
        elif .type == "check" and .stage == "ch-read" then .counts.rows = $n
        else empty end' "$saved" >>lines
    ended <lines >as_read
    rows-diff <as_read >stream || [ $? -le 3 ]
}
