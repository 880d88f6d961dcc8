#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ch-sink without a server: its options, and what it does before it may connect.
# shellcheck disable=SC2154  # bats sets stderr_lines
bats_require_minimum_version 1.5.0
load stream

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    mkdir cap
}

# Nothing listens on port 1: a program that tried to connect would say so.
sink() {
    ch-sink --url=http://127.0.0.1:1 --database=d --table=t --job=1 --operator=3 --subtask=0 --attempt=a --capture-dir=cap \
        --connect-timeout-ms=500 "$@"
}

refused() { # what, then options
    local what=$1
    shift
    run -2 --separate-stderr sink "$@" </dev/null
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "ch-sink: "*"$what"* ]] || { echo "$stderr" >&2; return 1; }
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = 'stream stop end ' ]
}

@test "options are checked before anything else, one line each" {
    run -2 --separate-stderr ch-sink </dev/null
    [[ $stderr == 'ch-sink: --url, --table, --job, --operator, --subtask and --attempt are needed'* ]]
    refused 'COLUMN:UNIT' --from=seen
    refused 'COLUMN:UNIT' --from=:ms
    refused 'no unit of time' --from=seen:weeks
    refused --batch-rows --batch-rows=0
    refused --batch-rows --batch-rows=12x
    refused --batch-rows --batch-rows=1000001
    refused --subtask --subtask=-1
    refused 'no job id' --job=../x
    refused 'no operator id' --operator=three
    refused 'is empty' --table=
    refused "--attempt: ''" --attempt=
    refused --query-timeout-ms --query-timeout-ms=0
    refused UTF-8 --table=$'\xff'
    refused '--password-env and --password-file' --password-env=A --password-file=B
    refused 'extra' extra
}

@test "a password comes from the environment or a file, and never from an option or the URL" {
    refused NO_SUCH_VARIABLE --password-env=NO_SUCH_VARIABLE
    refused '--password-file: its file cannot be opened: No such file' --password-file=/hunter2
    [[ $stderr$output != *hunter2* ]]
    run -2 --separate-stderr sink --password=hunter2 </dev/null
    [[ $stderr$output != *hunter2* ]]
    { event 1; barrier 1 0; } | whole lane
    run -2 --separate-stderr sink --url='http://audit:s3cr%21t@127.0.0.1:1/' <lane
    [[ $stderr$output != *s3cr* ]]
    [[ $stderr == *'user part'* ]]
    run -2 --separate-stderr sink --url='http://127.0.0.1:1/?password=hunter2' <lane
    [[ $stderr$output != *hunter2* ]]
}

@test "no server: 3, said in one line, and no barrier passes" {
    { event 1; barrier 1 0; } | whole lane
    run -3 --separate-stderr sink <lane
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "ch-sink: the table's identity: "* ]]
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = 'stream stop end ' ]
    [ -z "$(find cap -type f)" ]
}

@test "nothing is connected to before a line needs it, nor after a stop" {
    : | whole lane
    run -0 --separate-stderr sink <lane
    { watermark 1; idle; } | whole lane
    run -0 --separate-stderr sink <lane
    [ -z "$stderr" ]
    { stopped refused x row-map; } | whole lane
    run -3 --separate-stderr sink <lane
    [ -z "$stderr" ]
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = 'stream stop end ' ]
}

@test "an unfinished lane is 3, and one outside the contract 2" {
    watermark 1 | whole lane
    head -n 2 lane >cut.lane
    run -3 --separate-stderr sink <cut.lane
    [[ $stderr == *unfinished* ]]
    run -3 --separate-stderr sink </dev/null
    run -2 --separate-stderr sink <<<'{"type":"event","at":"t/0/1","values":{}}'
    { head -n 1 lane; echo '{"type":"watermark","ts":"x"}'; } >bad
    run -2 --separate-stderr sink <bad
    [[ $stderr == *watermark.ts* ]]
}
