# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A broker, an engine and jobs for a file of live tests. In the file:
#   load job
#   setup_file()    { jobs_up; }
#   setup()         { jobs_need; }       sets id, of this test's own topic, table and job
#   teardown()      { jobs_end; }
#   teardown_file() { jobs_down; }
# Where no service can be had, jobs_need skips the test by name, or fails it when REQUIRE_LIVE=1.

jobs_up() { # options of tests/services/kafka up
    export root work=$BATS_FILE_TMPDIR lack=''
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    # shellcheck source=examples/stage.bash
    . "$root/examples/stage.bash"
    services_up "$@" 2>"$work/services.err" || lack=$(tail -n 1 "$work/services.err")
    [ -n "$lack" ] || sql 'CREATE DATABASE shop'
}

jobs_need() {
    if [ -n "$lack" ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "$lack" >&2; return 1; }
        skip "$lack"
    fi
    . "$root/examples/stage.bash"
    services_env
    # shellcheck source=tests/programs.bash
    . "$root/tests/programs.bash"
    id=$BATS_TEST_NUMBER
    runner=''
}

jobs_end() {
    jobs_stop
    tail -n 20 "$work/job-$id.log" "$work/job-$id"/run/attempt-*/stderr.log 2>/dev/null || true
}

jobs_down() {
    . "$root/examples/stage.bash"
    services_down
}

# This test's topic, table and spec, with checkpoints only where the test asks for one.
prepare() { # partitions, settings of the table, a filter over the spec
    kafka create-topic "t$id" "$1"
    table "t$id" "MergeTree ORDER BY event_id ${2:-}"
    spec "$id" "t$id" "t$id"
    jq "${3:-.}" "$work/$id.json" >"$work/$id.new"
    mv "$work/$id.new" "$work/$id.json"
}

every_300_ms='.checkpoint.interval_ms = 300'

start() { # more options of pipelines/job
    "$root/pipelines/job" --spec="$work/$id.json" --dir="$work/job-$id" --parallelism=2 "$@" 2>>"$work/job-$id.log" &
    runner=$!
}

held_back() { # the runner waits for a process of an earlier attempt
    pgrep -P "$runner" -x flock >/dev/null
}

# End the job that start started, where one runs.
jobs_stop() {
    [ -n "$runner" ] || return 0
    kill -TERM "$runner" 2>/dev/null || true
    wait "$runner" 2>/dev/null || true
    runner=''
}
