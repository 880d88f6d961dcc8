#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# pipelines/audit without a server: its arguments, the status it gives, what it keeps, and what becomes of a run that has no scope.
bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export OWED_BIN=${OWED_BIN:-$root/bin}
    cd "$root/fixtures" || exit 1
    audit=$root/pipelines/audit
    checkpoint=$(jq -r 'select(.type == "scope") | .document.checkpoint' the-table-untouched/2-scope-cut.ndjson)
    bundle=(--bundle=incident --checkpoint="$checkpoint" --key=event_id --url=http://127.0.0.1:1)
    declared=(--topic=orders --table=shop.orders --key=event_id --range=ALL --url=http://127.0.0.1:1 --bootstrap=127.0.0.1:1 --stable-wait-s=1 --timeout-ms=500)
}

@test "bad usage is 2, on one line, and shows no value" {
    for bad in --nope=hunter2 --password=hunter2 stray; do
        run -2 --separate-stderr "$audit" "${bundle[@]}" --reference=r "$bad"
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr != *hunter2* ]]
    done
    run -2 --separate-stderr "$audit"
    run -2 --separate-stderr "$audit" "${bundle[@]}"
    run -2 --separate-stderr "$audit" "${bundle[@]}" -- jq -c .
    [[ $stderr == *"--bootstrap"* ]]
    run -2 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=b --reference=r -- jq
    run -2 --separate-stderr "$audit" "${bundle[@]}" --topic=t --reference=r
    run -2 --separate-stderr "$audit" "${bundle[@]}" --range=ALL --reference=r
    run -2 --separate-stderr "$audit" "${declared[@]}" --coverage=complete-table --reference=r
    run -2 --separate-stderr "$audit" "${bundle[@]}" --reference=r --out="$BATS_TEST_TMPDIR/o ut"
}

@test "a secret among -X or in the URL is refused before anything is written or run" {
    for property in sasl.password SSL.Key.Password ssl.key.pem ssl_key sasl.oauthbearer.client.secret sasl.oauthbearer.config; do
        run -2 --separate-stderr "$audit" "${declared[@]}" --out="$BATS_TEST_TMPDIR/out" -X "$property=hunter2" -- jq -c .
        [[ $stderr$output != *hunter2* ]]
        [[ $stderr == *"$property"*"-F FILE"* ]]
        [ ! -e "$BATS_TEST_TMPDIR/out" ]
    done
    for url in http://reader:hunter2@127.0.0.1:1 "http://127.0.0.1:1/?password=hunter2"; do
        run -2 --separate-stderr "$audit" "${declared[@]}" --url="$url" --out="$BATS_TEST_TMPDIR/out" -- jq -c .
        [[ $stderr == *"--password-env"* && $stderr$output != *hunter2* ]]
        [ ! -e "$BATS_TEST_TMPDIR/out" ]
    done
}

@test "without its broker a declared audit is 3, by name, and asks no server" {
    run -3 --separate-stderr timeout 60 "$audit" "${declared[@]}" -- jq -c .
    [[ $output == "NOT DECIDED"* ]]
    [[ $output == *"127.0.0.1:1"* ]]
}

@test "a reference that cannot be opened is 3, by name, and no server is asked" {
    run -3 --separate-stderr "$audit" "${bundle[@]}" --reference="$BATS_TEST_TMPDIR/none"
    [[ $output == "NOT DECIDED"*"cannot open the reference"*"none"* ]]
    [[ $output != *"Failed to connect"* ]]
}

@test "a checkpoint that the bundle does not hold is 2, and no record is read" {
    run -2 --separate-stderr "$audit" "${bundle[@]/--checkpoint=*/--checkpoint=999999}" --bootstrap=127.0.0.1:1 -- jq -c .
    [[ $output == REFUSED* ]]
    [[ $output == *999999* ]]
    [[ $stderr != *kafka-read* ]]
}

@test "a broker that is gone leaves the reference incomplete: 3, and every stage's output is kept" {
    run -3 --separate-stderr timeout 100 "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$BATS_TEST_TMPDIR/out" -- jq -c .
    [[ $output == "NOT DECIDED"* ]]
    [[ $output == *"reference"*"incomplete"* ]]
    for f in 1-bundle-check 2-scope-cut 3-kafka-read 4-ref-run 5-ref-seal 6-ref-bind 7-ch-read 8-rows-diff; do
        [ "$(tail -n 1 "$BATS_TEST_TMPDIR/out/$f.ndjson" | jq -r .type)" = end ]
    done
    [ "$(cat "$BATS_TEST_TMPDIR/out/status")" = 3 ]
    [ "$(tail -n 1 "$BATS_TEST_TMPDIR/out/reference.ndjson" | jq .complete)" = false ]
    # The same again is no answer for now; one stage removed, it and what stands behind it run again.
    run -2 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$BATS_TEST_TMPDIR/out" -- jq -c .
    [[ $stderr == *"holds this whole run already"* ]]
    rm "$BATS_TEST_TMPDIR/out/8-rows-diff.ndjson"
    touch -d '1 hour ago' "$BATS_TEST_TMPDIR"/out/[1-7]-*
    run -3 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$BATS_TEST_TMPDIR/out" -- jq -c .
    [ "$(stat -c %Y "$BATS_TEST_TMPDIR/out/7-ch-read.ndjson")" -lt "$(stat -c %Y "$BATS_TEST_TMPDIR/out/8-rows-diff.ndjson")" ]
}

@test "--expected-out holds what the reference expects" {
    jq -c 'select(.type == "row" and .side == "reference") | {cells, at}' audit/faults-of-the-table-alone/7-ch-read.ndjson >"$BATS_TEST_TMPDIR/want"
    [ -s "$BATS_TEST_TMPDIR/want" ]
    "$OWED_BIN/scope-cut" incident --checkpoint="$checkpoint" --key=event_id --out="$BATS_TEST_TMPDIR/scope.json" >/dev/null
    jq -c '{type: "event", at, values: {event_id: .cells[0], customer: "c", amount: "1", seen: 0, score: 1, note: null}}' "$BATS_TEST_TMPDIR/want" | {
        echo '{"type":"stream","format":"owed-stream","version":1,"stages":[{"name":"mine","version":"1"}]}'
        cat
        echo "{\"type\":\"end\",\"lines\":{\"stream\":1,\"event\":$(wc -l <"$BATS_TEST_TMPDIR/want")}}"
    } | "$OWED_BIN/ref-seal" --complete --reference-name=mine --scope="$BATS_TEST_TMPDIR/scope.json" --out="$BATS_TEST_TMPDIR/reference" >/dev/null
    # The rows are not those of the job, and no server is there.
    run -1 "$audit" "${bundle[@]}" --reference="$BATS_TEST_TMPDIR/reference" --expected-out="$BATS_TEST_TMPDIR/expected"
    diff "$BATS_TEST_TMPDIR/expected" <(sed '1d;$d' "$BATS_TEST_TMPDIR/reference")
    [ "$(wc -l <"$BATS_TEST_TMPDIR/expected")" -eq "$(wc -l <"$BATS_TEST_TMPDIR/want")" ]
}

@test "names with spaces and what a shell reads in them" {
    cp -R incident "$BATS_TEST_TMPDIR/a b; touch owned"
    run -3 --separate-stderr "$audit" "${bundle[@]/incident/$BATS_TEST_TMPDIR/a b; touch owned}" --reference="$BATS_TEST_TMPDIR/x; touch owned" --out="$BATS_TEST_TMPDIR/out"
    [[ $output == *"x; touch owned"* ]]
    [ ! -e owned ]
}

@test "a stage whose output could not be written is not kept, and runs again" {
    # A limit on files, with its signal ignored, is a disk that is full.
    run -3 --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 8; "$@"' - "$audit" "${bundle[@]}" --reference=none --out="$BATS_TEST_TMPDIR/out"
    [[ $stderr == *"cannot write standard output"* ]]
    for f in "$BATS_TEST_TMPDIR"/out/*.ndjson; do
        [ "$(tail -n 1 "$f" | jq -r .type)" = end ]
    done
    [ ! -e "$BATS_TEST_TMPDIR/out/2-scope-cut.ndjson" ]
    run -3 --separate-stderr "$audit" "${bundle[@]}" --reference=none --out="$BATS_TEST_TMPDIR/out"
    [[ $output == "NOT DECIDED"*"cannot open the reference"* ]]
}
