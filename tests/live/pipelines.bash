# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the suites of examples/pipelines share. In a suite:
#   setup_file()    { pipelines_up PART…; }    services, and the parts of deps.sh that the pipelines are made of
#   setup()         { pipelines_need; }
#   teardown()      { pipeline_end; }
#   teardown_file() { pipelines_down; }

pipelines_sources() {
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    # shellcheck source=tests/programs.bash
    . "$root/tests/programs.bash"
    deps=${OWED_DEPS:-$HOME/.cache/owed}
    # shellcheck source=examples/stage.bash
    . "$root/examples/stage.bash"
    # shellcheck source=examples/destination-reconciliation/audit.bash
    . "$root/examples/destination-reconciliation/audit.bash"
    # shellcheck source=examples/destination-reconciliation/others.bash
    . "$root/examples/destination-reconciliation/others.bash"
    runner='' fixtures=''
}

pipelines_up() { # PART…
    local part
    export work=$BATS_FILE_TMPDIR lack=''
    pipelines_sources
    for part; do [ -e "$deps/$part" ] || "$root/deps.sh" "$part" >&2 || lack="not installed (deps.sh $part)"; done
    [ -n "$lack" ] || services_up 2>"$work/services.err" || lack=$(tail -n 1 "$work/services.err")
    [ -n "$lack" ] || sql 'CREATE DATABASE shop'
}

pipelines_need() {
    if [ -n "$lack" ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "$lack" >&2; return 1; }
        skip "$lack"
    fi
    pipelines_sources
    services_env
    pipeline=''
    cd "$BATS_TEST_TMPDIR" || return 1
}

# After a kill of the server: the same one, with its data.
services_again() {
    services_up
    services_env
}

pipelines_down() {
    pipelines_sources
    services_down
}

# pipeline_begin COMMAND…: the pipeline, as its operator starts it; what it starts in its turn ends with it.
pipeline_begin() {
    setsid "$@" >>"$BATS_TEST_TMPDIR/pipeline.log" 2>&1 3>&- &
    pipeline=$!
}

# pipeline_end [SIGNAL]: it is over, and its status is returned where it was asked to end.
pipeline_end() {
    local pid=$pipeline
    pipeline=''
    [ -n "$pid" ] || return 0
    kill "-${1:-TERM}" -- "-$pid" 2>/dev/null || true
    wait "$pid" || [ "${1:-TERM}" = KILL ] || { tail -n 20 "$BATS_TEST_TMPDIR/pipeline.log" >&2; return 1; }
}

# killed_over_an_insert WHEN COMMAND…: begin the pipeline, and end it in the midst of its next INSERT, which the server executes only
# then (WHEN is hold) or has executed (withhold).
killed_over_an_insert() {
    fault "when=$1"
    pipeline_begin "${@:2}"
    fault await=1
    pipeline_end KILL
    fault release=1
}

# as_written PIPELINE NAME STATUS [EDIT]: the audit of the pipeline's README, word for word but for where the services are and for NAME
# in the place of the topic's and the table's. Its report is in $output and, as JSON, in report.json.
as_written() {
    local dir=$root/examples/pipelines/$1
    rm -f scope.json reference.ndjson
    cp "$dir/rules.jq" rules.jq 2>/dev/null || cp "$root/examples/reference/orders.jq" rules.jq
    sed -n '/^    log-look/,/| verdict$/s/^    //p' "$dir/README.md" |
        sed -E "s#http://127.0.0.1:8123#$CH_URL#; s#127.0.0.1:9092#$KAFKA_BOOTSTRAP#; s/--topic=[a-z_]+/--topic=$2/; s/--table=[a-z_.]+/--table=shop.$2/; s/--group=([a-z]+)-[a-z_]+/--group=\1-$2/
            s/rows-diff \| verdict/rows-diff | tee judged.ndjson | verdict/; ${4:-}" >commands
    grep -q '^ref-bind' commands
    CH_PASSWORD=$READER_PASSWORD run "-$3" --separate-stderr bash -uo pipefail commands
    printf '%s\n' "$output" "$stderr"
    verdict --json <judged.ndjson >report.json || true
}

# report CONDITION: what jq says of the report.
report() {
    jq -e "$1" report.json >/dev/null || { jq -c '[.made, .summaries, .findings[0:3]]' report.json >&2; return 1; }
}

found=reference-destination
