# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats sets output
# Streams of rows for rows-diff, and what it wrote about them.

# A whole stream of the lines on standard input, with header and end.
whole() {
    {
        echo '{"type":"stream","format":"owed-stream","version":1,"stages":[]}'
        [ -z "$COLUMNS" ] || echo "{\"type\":\"columns\",\"cells\":\"clink-canonical-cells-v1\",\"columns\":[$COLUMNS]}"
        cat
    } >lines
    { cat lines; jq -sc '{type: "end", lines: (group_by(.type) | map({(.[0].type): length}) | add)}' lines; } >stream
}

# The scope of a bundle whose operator says that equal rows are meant.
repeats() {
    jq -cn --argjson columns "[$COLUMNS]" '{format: "clink-audit-scope", version: 1, origin: "bundle", job: "j", job_graph_sha256: null,
        sink: {operator: "3", attempts: ["a"], subtasks: [0]}, destination: {server_uuid: "s", server_version: "26.5", database: "d",
        table: "t", table_uuid: "u"}, checkpoint: 2, since: 0, start: "run", restored_from: null, from_run_start: true, epochs: [2],
        sources: [], columns: $columns, cells: "clink-canonical-cells-v1", coverage: "complete-table", repeats: true}' >document
    jq -c --arg sum "$(jq -cjS . document | sha256sum | cut -d' ' -f1)" '{type: "scope", document: (. + {scope_sha256: $sum})}' document
}

owed() { echo "{\"type\":\"row\",\"side\":\"captured\",\"cells\":$1${2:+,\"at\":\"$2\"}${3:+,\"again\":\"$3\"}}"; }
reference() { echo "{\"type\":\"row\",\"side\":\"reference\",\"cells\":$1${2:+,\"at\":\"$2\"}}"; }
row() { echo "{\"type\":\"row\",\"side\":\"destination\",\"read\":$1,\"cells\":$2}"; }
side() { echo "{\"type\":\"side\",\"side\":\"$1\",${3:+\"read\":$3,}\"rows\":$2,\"whole\":true}"; }
require() { echo "{\"type\":\"require\",\"checks\":[$1]}"; }

# rows_of MEMBERS CELLS…: a row for each, by one printf: a test runs each command of a loop under a trap.
rows_of() { [ $# -eq 1 ] || printf "{\"type\":\"row\",$1,\"cells\":%s}\n" "${@:2}"; }
# Both reads of the same rows, given as arguments, then their sides.
found() {
    for read in 1 2; do
        rows_of "\"side\":\"destination\",\"read\":$read" "$@"
        side destination $# $read
    done
}
# Whole owed sides of the rows given: captured_side CELLS…, reference_side CELLS…
captured_side() {
    rows_of '"side":"captured"' "$@"
    side captured $#
}
reference_side() {
    rows_of '"side":"reference"' "$@"
    side reference $#
}
# What ch-read says of a table that it read whole.
observed_whole() { echo '{"type":"observation","stable":true,"table_whole":true}'; }
# Captured rows p0 from the offset $1 to $2, each under its own key.
range() { seq "$1" "$2" | sed 's#.*#{"type":"row","side":"captured","cells":["k&","v"],"at":"t/0/&"}#'; }
keys() { [ $# -eq 0 ] || printf '["k%s","v"]\n' "$@"; }
diff_() { rows-diff "$@" <stream; }
# With little memory, under a limit that the system keeps. A sanitizer's own map of all memory would be past it.
bounded() {
    [ -n "${ASAN_OPTIONS:-}" ] || ulimit -v 200000
    diff_ --memory=16M --scratch=.
}
check() { jq -r 'select(.type == "check" and .name == "'"${1:-reconcile.rows}"'") | .status' <<<"$output"; }
reason() { jq -r 'select(.type == "check" and .name == "'"${1:-reconcile.rows}"'") | .reason' <<<"$output"; }
code() { jq -r 'select(.type == "check" and .name == "'"$1"'") | .code' <<<"$output"; }
# missing, changed, duplicated keys, surplus copies, unexpected
counts() {
    jq -r 'select(.type == "summary" and .relation == "'"${1:-delivery}"'") |
        "\(.missing.rows) \(.changed.rows) \(.duplicated.keys) \(.duplicated.surplus) \(.unexpected.rows)"' <<<"$output"
}
runs() { jq -c 'select(.type == "summary") | .runs[] | [.kind, .topic, .partition, .first, .last, .rows]' <<<"$output"; }
findings() { jq -c 'select(.type == "finding") | [.kind, .key, .owed, .found, .owed_copies, .found_copies, .at, .explained]' <<<"$output"; }
