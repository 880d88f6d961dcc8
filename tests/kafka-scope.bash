# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Scope documents for tests of what reads a log, as a bundle gives them.

# The programs of this tree, whatever else is installed.
PATH=${OWED_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bin}:$PATH

# scope_print: the document on standard input with its fingerprint.
scope_print() {
    local document sum
    document=$(jq -c 'del(.scope_sha256)')
    sum=$(jq -cjS . <<<"$document" | sha256sum | cut -d' ' -f1)
    jq -c --arg sum "$sum" '. + {scope_sha256: $sum}' <<<"$document"
}

# source_of TOPIC CLUSTER TOPIC_ID ISOLATION RANGE…: one source; a range is P:FROM-TO, FROM empty where it is not known, and an id
# that is - is null.
source_of() {
    local ranges=("${@:5}")
    jq -cn --arg topic "$1" --arg cluster "$2" --arg id "$3" --arg isolation "$4" '
        def id: if . == "-" then null else . end;
        {operator: "1", topic: $topic, cluster_id: ($cluster | id), topic_id: ($id | id), isolation: $isolation,
         partitions: [$ARGS.positional[] | capture("^(?<p>[0-9]+):(?<f>[0-9]*)-(?<t>[0-9]+)$") |
            {partition: (.p | tonumber), from: (if .f == "" then null else (.f | tonumber) end), to: (.t | tonumber)}]}' --args "${ranges[@]}"
}

# scope_of_sources SOURCE…: the document over those sources.
scope_of_sources() {
    printf '%s\n' "$@" | jq -cs '{format: "clink-audit-scope", version: 1, origin: "bundle", job: "1", job_graph_sha256: null,
        sink: {operator: "3", attempts: ["a"], subtasks: [0]},
        destination: {server_uuid: "s", server_version: "26.5.3.1", database: "shop", table: "orders", table_uuid: "t"},
        checkpoint: 1, since: 0, start: "run", restored_from: null, from_run_start: false, epochs: [1], sources: .,
        columns: [{name: "id", type: "Int64", key: true}], cells: "clink-canonical-cells-v1", coverage: "selected-keys"}' | scope_print
}
