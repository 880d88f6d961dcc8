# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats sets output
# Whole streams for verdict, made of a saved run by the programs themselves, and edited by hand afterwards.

saved=$BATS_TEST_DIRNAME/../fixtures/reference/read.ndjson

# Lines on standard input, closed by an end that counts them.
ended() {
    cat >closed
    cat closed
    jq -sc '{type: "end", lines: (group_by(.type) | map({(.[0].type): length}) | add)}' closed
}

# The saved scope's document as another kind: selected, complete or declared; and what the filter scope_edit makes of it.
document_of() {
    jq -c --arg kind "$1" 'select(.type == "scope") | .document | del(.scope_sha256) |
        if $kind == "complete" then .coverage = "complete-table" | .from_run_start = true | .start = "run" | .since = 0
        elif $kind == "declared" then .origin = "declared" | .job = null | .job_graph_sha256 = null | .sink = null | .checkpoint = null |
            .since = null | .start = "declared" | .epochs = [] | .sources[0].operator = null | .sources[0].topic_id = null |
            .destination.table_uuid = null
        else . end | '"${scope_edit:-.}" "$saved" >document
    jq -c --arg sum "$(jq -cjS . document | sha256sum | cut -d' ' -f1)" '. + {scope_sha256: $sum}' document
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

# compose KIND: the file stream, through ref-bind and rows-diff. The filters reference_rows, captured_rows and table_rows (jq, on an
# array of cells, which may give none or several) say what became of the saved run's rows on each side.
compose() {
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
        elif .type == "interval" and .capture then (.capture.seen = (if .subtask == 0 then $n else 0 end)),
            (if $kind == "complete" then (. + {capture: {outcome: "empty", seen: 0, stored: 0, truncated: false}, ledger: []} |
                (.epoch = 8 | .previous = 7), (.epoch = 9 | .previous = 8)) else empty end)
        else . end' --arg kind "$kind" upper | ended | { ref-bind --reference=reference >bound || [ $? -le 3 ]; }
    jq -c 'if .type == "end" then empty elif .type == "stream" then .stages += [{name: "ch-read", version: "0.1.0"}] else . end' bound >lines
    jq -c 'select(.type == "row" and .side == "destination") | .read as $read | .cells | ('"${table_rows:-.}"') |
        {type: "row", side: "destination", read: $read, cells: .}' "$saved" >>lines
    found=$(($(grep -c '"destination"' lines) / 2))
    jq -c --arg kind "$kind" --argjson n "$found" '
        if .type == "observation" then .reads[].rows = $n | if $kind == "complete" then . + {table_whole: true, max_table_rows: 1000000,
            parts: {before: 3, after: 3, same: true}} else . end
        elif .side == "destination" and .type == "side" then .rows = $n
        elif .type == "check" and .stage == "ch-read" then .
        else empty end' "$saved" >>lines
    ended <lines >as_read
    rows-diff <as_read >stream || [ $? -le 3 ]
}

# The file stream, edited by a jq filter that may give no line or several for one, and closed by an end that counts them. A check
# that the filter leaves open gets a code where it has none.
edit() {
    jq -cn 'foreach ((inputs | select(.type != "end") | ('"$1"') |
            if .type == "check" and .status != "passed" and .code == null then .code = "server-failed" else . end), null) as $line ({};
        if $line then .[$line.type] += 1 else . end; $line // {type: "end", lines: .})' "${2:-stream}" >edited
}

decide() { # expected status, arguments...
    local want=$1
    shift
    run "-$want" --separate-stderr verdict "$@" <"${from:-edited}"
}
