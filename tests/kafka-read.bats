#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# kafka-read without a broker: which scopes and options it refuses, and what it says when nobody answers.
bats_require_minimum_version 1.5.0
load stream

stderr="" stderr_lines=() # run sets them

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    scope_of_sources "$(source_of orders c i read_committed 0:5-9 1:-7)" >scope.json
    scope_of_sources "$(source_of orders c i read_committed 0:5-9)" >known.json
}

read_() { kafka-read -b 127.0.0.1:1 --timeout-ms=200 --scope=known.json "$@"; }

refused() { # NAMED ARGUMENT…: exit 2, one line that names the place, a whole stream with one stop and no connection
    local named=$1
    shift
    run -2 --separate-stderr kafka-read -b 127.0.0.1:1 --timeout-ms=200 "$@"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "kafka-read: "*"$named"* ]] || { printf '%s\n' "$stderr" >&2; return 1; }
    [ "$(jq -c '[.type, .kind]' <<<"$output")" = $'["stream",null]\n["stop","refused"]\n["end",null]' ]
    [[ $output$stderr != *hunter2* ]]
}

changed() { # JQ: known.json changed so, with its fingerprint, as bad.json
    jq "$1" known.json | scope_print >bad.json
}

@test "unusable options and values" {
    refused "no scope"
    refused "'--bogus'" --scope=known.json --bogus=hunter2
    refused more --scope=known.json more
    for o in stable-wait-s=-1 stable-wait-s=x deadline-s=1h max-records=-1 max-records= max-bytes=1T timeout-ms=0; do
        refused "--${o%%=*}" --scope=known.json "--$o"
    done
    run -2 --separate-stderr kafka-read --scope=known.json
    [[ $stderr == "kafka-read: no broker is named" ]]
    [ "$(jq -r .type <<<"$output" | paste -sd' ')" = "stream scope stop end" ]
}

@test "a secret among the arguments is refused by its name, and never shown" {
    for p in sasl.password ssl.key.password ssl.key.pem sasl.oauthbearer.client.secret; do
        refused "$p" --scope=known.json -X "$p=hunter2"
    done
    refused NO_SUCH --scope=known.json -E sasl.password=NO_SUCH
    printf '\nno.such.thing=hunter2\n' >props
    refused "props: line 2" --scope=known.json -F props
    refused auto.offset.reset --scope=known.json -X auto.offset.reset=latest
    refused isolation.level --scope=known.json -X isolation.level=read_uncommitted
}

@test "what is no scope document, or one that was changed" {
    for f in . none; do
        run ! --separate-stderr kafka-read -b 127.0.0.1:1 --scope="$f"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "kafka-read: "*"$f"* ]]
        [ "$(jq -r .type <<<"$output" | paste -sd' ')" = "stream stop end" ]
    done
    echo '{"format":"clink-audit-scope"' >bad.json
    refused bad.json --scope=bad.json
    : >bad.json
    refused bad.json --scope=bad.json
    echo '{"format":"something","version":1}' >bad.json
    refused scope.format --scope=bad.json
    sed 's/"to":9/"to":10/' known.json >bad.json
    refused scope_sha256 --scope=bad.json
    { cat known.json; echo '{}'; } >bad.json
    refused bad.json --scope=bad.json
    changed '.sources = [] | .bundle.source_operators = []'
    refused "scope.sources: none" --scope=bad.json
    changed '.sources[0].topic = "a/b"'
    refused "scope.sources[0].topic" --scope=bad.json
    changed '.sources[0].topic = ""'
    refused "scope.sources[0].topic" --scope=bad.json
    changed '.sources[0].isolation = "serializable"'
    refused "scope.sources[0].isolation" --scope=bad.json
    changed '.sources[0].partitions[0].partition = 2147483648'
    refused "orders/2147483648" --scope=bad.json
    changed '.sources[0].partitions[0] |= (.from = null | .to = -1)'
    refused "orders/0" --scope=bad.json
    changed '.sources[0].partitions[0].from = 10'
    refused "backwards" --scope=bad.json
}

@test "a range without a first position needs the operator's, which must fit the scope" {
    refused "no first position of orders/1" --scope=scope.json
    refused "no first position of orders/1" --scope=scope.json --run-start-offset=orders/2=1
    for o in 1 1= =1 1=-1 ALL ALL=x x=1 1=1x all=1 orders/ALL=1 orders/=1; do
        refused "--run-start-offset is" --scope=scope.json --run-start-offset="$o"
    done
    refused "--run-start-offset=1=8: past the range's end 7" --scope=scope.json --run-start-offset=1=8
    refused "--run-start-offset=0=5: the scope has the first position of orders/0: 5" --scope=scope.json --run-start-offset=ALL=1 --run-start-offset=0=5
    refused "--run-start-offset=3=5: the scope has no such partition" --scope=scope.json --run-start-offset=ALL=1 --run-start-offset=3=5
    refused "--run-start-offset=other/1=5: the scope has no such partition" --scope=scope.json --run-start-offset=1=1 --run-start-offset=other/1=5
    scope_of_sources "$(source_of orders c i read_committed 0:-9)" "$(source_of returns c i read_committed 0:-9)" >two.json
    refused "no first position of orders/0" --scope=two.json --run-start-offset=0=5
    run -3 --separate-stderr kafka-read -b 127.0.0.1:1 --timeout-ms=100 --scope=two.json --run-start-offset=returns/0=5 --run-start-offset=ALL=2
    [ "$(jq -c 'select(.type == "account") | .recorded.run_start_offsets' <<<"$output")" = '{"orders/0":2,"returns/0":5}' ]
}

@test "nobody answers: 3, a whole stream without a stop, and an account that says what was not read" {
    run -3 --separate-stderr read_
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "kafka-read: orders: no broker answered in 200 ms: "*"127.0.0.1:1"* ]]
    [ "$(jq -r .type <<<"$output" | paste -sd' ')" = "stream scope account end" ]
    [ "$(jq -c 'select(.type == "scope") | .document' <<<"$output")" = "$(cat known.json)" ]
    [ "$(jq -c 'select(.type == "account") | [.stage, .complete, (.reasons | length), .delivered, .verified, .logs[0].topic_id]' <<<"$output")" = \
        '["kafka-read",false,1,0,[],null]' ]
    [ "$(jq -c 'select(.type == "account") | .ranges[0] | [.from, .to, .position, .offsets, .complete]' <<<"$output")" = '[5,9,5,0,false]' ]
    # the deadline bounds the first answer too
    SECONDS=0
    run -3 --separate-stderr kafka-read -b 127.0.0.1:1 --scope=known.json --deadline-s=1
    [ "$SECONDS" -lt 10 ]
}

@test "standard output that is full or closed: 3" {
    run -3 bash -c 'kafka-read -b 127.0.0.1:1 --timeout-ms=100 --scope=known.json >/dev/full'
    run -3 bash -c 'kafka-read -b 127.0.0.1:1 --timeout-ms=100 --scope=known.json >&-'
}
