# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats sets output
# Streams for ch-read: a scope, its columns and owed rows, as scope-cut writes them.
load "${BATS_TEST_DIRNAME:+${BATS_TEST_DIRNAME/%\/live/}/}job-stages"

# scope_of SERVER TABLE_UUID DATABASE TABLE COLUMNS: the scope line; COLUMNS is a JSON array.
scope_of() {
    local document sum
    document=$(jq -cn --arg server "$1" --arg uuid "$2" --arg database "$3" --arg table "$4" --argjson columns "$5" '
        {format: "clink-audit-scope", version: 1, origin: "bundle", job: "1", job_graph_sha256: null,
         sink: {operator: "3", attempts: ["a"], subtasks: [0]},
         destination: {server_uuid: $server, server_version: "26.5.1.1", database: $database, table: $table, table_uuid: $uuid},
         checkpoint: 1, since: 0, start: "run", restored_from: null, from_run_start: false, epochs: [1],
         sources: [{operator: "1", topic: "orders", cluster_id: "c", topic_id: null, isolation: "read_committed",
                    partitions: [{partition: 0, from: 0, to: 9}]}],
         columns: $columns, cells: "clink-canonical-cells-v1", coverage: "selected-keys"}')
    sum=$(jq -cjS . <<<"$document" | sha256sum | cut -d' ' -f1)
    jq -c --arg sum "$sum" '{type: "scope", document: (. + {scope_sha256: $sum})}' <<<"$document"
}

columns_of() { # COLUMNS
    jq -cn --argjson columns "$1" '{type: "columns", cells: "clink-canonical-cells-v1", columns: $columns}'
}

# owed CELLS…: a captured row each, then their side.
owed() {
    [ $# -eq 0 ] || printf '{"type":"row","side":"captured","cells":%s}\n' "$@"
    printf '{"type":"side","side":"captured","rows":%s,"whole":true}\n' $#
}

check() { # NAME STATUS
    local code=,\"code\":\"server-failed\"
    [ "$2" != passed ] || code=
    printf '{"type":"check","stage":"t","name":"%s","status":"%s"%s,"reason":"","evidence":[]}\n' "$1" "$2" "$code"
}

# check_is STATUS TEXT [CODE]: the check reconcile.destination in $output.
check_is() {
    jq -se --arg status "$1" --arg text "$2" --arg code "${3:-}" '
        [.[] | select(.type == "check" and .name == "reconcile.destination")] | length == 1 and
        .[0].status == $status and (.[0].reason | contains($text)) and ($code == "" or .[0].code == $code)' <<<"$output" >/dev/null ||
        { grep -a '"reconcile.destination"' <<<"$output" >&2; return 1; }
}

# read_rows N: the cells of the destination's read N, in $output.
read_rows() {
    jq -c --argjson read "$1" 'select(.type == "row" and .read == $read) | .cells' <<<"$output"
}

sides_whole() { # true|false
    [ "$(jq -c 'select(.type == "side" and .side == "destination") | [.read, .whole]' <<<"$output" | tr -d '\n')" = "[1,$1][2,$1]" ]
}

# from FILE COMMAND…: the command with the file as its standard input.
from() {
    local in=$1
    shift
    "$@" <"$in"
}
