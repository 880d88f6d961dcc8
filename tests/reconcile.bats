#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# pipelines/reconcile without a server: its arguments, the status it gives, what it keeps, and running one stage again.
bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export OWED_BIN=${OWED_BIN:-$root/bin}
    cd "$root/fixtures" || exit 1
    reconcile=$root/pipelines/reconcile
    request=(--bundle=incident --checkpoint="$(jq .checkpoint.id incident/manifest.json)" --key=event_id --url=http://127.0.0.1:1)
    request[1]=--checkpoint=$(jq -r 'select(.type == "scope") | .document.checkpoint' the-table-untouched/2-scope-cut.ndjson)
}

@test "without its server the answer is 3, by name, and not a pass" {
    run -3 --separate-stderr "$reconcile" "${request[@]}" --expected-out="$BATS_TEST_TMPDIR/expected"
    [[ $output == "NOT DECIDED"* ]]
    [[ $output == *"Failed to connect to 127.0.0.1"* ]]
    diff "$BATS_TEST_TMPDIR/expected" <(jq -c 'select(.type == "row" and .side == "captured") | {cells, at}' the-table-untouched/2-scope-cut.ndjson)
}

@test "with --out every stage's output is kept, and the status is the same" {
    run -3 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    [[ $output == "NOT DECIDED"* ]]
    for f in 1-bundle-check 2-scope-cut 3-ch-read 4-rows-diff; do
        [ "$(tail -n 1 "$BATS_TEST_TMPDIR/out/$f.ndjson" | jq -r .type)" = end ]
    done
    [ "$(cat "$BATS_TEST_TMPDIR/out/status")" = 3 ]
    diff "$BATS_TEST_TMPDIR/out/2-scope-cut.ndjson" the-table-untouched/2-scope-cut.ndjson
}

@test "a stage whose output was removed is run again, and only what stands behind it" {
    run -3 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    cp the-table-untouched/3-ch-read.ndjson "$BATS_TEST_TMPDIR/out/3-ch-read.ndjson"
    rm "$BATS_TEST_TMPDIR/out/4-rows-diff.ndjson"
    run -0 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    [[ $output == PASSED* ]]
}

@test "an answer of before is never given again as one of now" {
    run -3 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    cp the-table-untouched/3-ch-read.ndjson "$BATS_TEST_TMPDIR/out/3-ch-read.ndjson"
    rm "$BATS_TEST_TMPDIR/out/4-rows-diff.ndjson"
    run -0 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    run -2 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    [ -z "$output" ]
    [[ $stderr == *"holds this whole run already"* ]]
    # Another request: what does not fit it is made again.
    run -3 --separate-stderr "$reconcile" "${request[@]}" --user=other --out="$BATS_TEST_TMPDIR/out"
    run -2 --separate-stderr "$reconcile" "${request[@]}" --user=other --job=other --out="$BATS_TEST_TMPDIR/out"
    run -2 --separate-stderr "$reconcile" "${request[@]/incident/incident-gone}" --user=other --job=other --out="$BATS_TEST_TMPDIR/out"
    [[ $output == *"incident-gone"* ]]
}

@test "names with spaces and what a shell reads in them" {
    cp -R incident "$BATS_TEST_TMPDIR/a b; touch owned"
    run -3 --separate-stderr "$reconcile" "${request[@]/incident/$BATS_TEST_TMPDIR/a b; touch owned}" --out="$BATS_TEST_TMPDIR/out"
    [[ $output == *"Failed to connect to 127.0.0.1"* ]]
    [ ! -e owned ]
    run -2 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/o ut"
    [[ $stderr == *"--out"* ]]
}

@test "a stage that dies is 3 with --out, and leaves nothing under a final name" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    cp "$OWED_BIN"/* "$BATS_TEST_TMPDIR/bin/"
    for dies in verdict:report.txt rows-diff:4-rows-diff.ndjson; do
        printf '#!/bin/sh\nhead -c 100\nkill -9 $$\n' >"$BATS_TEST_TMPDIR/bin/${dies%%:*}"
        OWED_BIN=$BATS_TEST_TMPDIR/bin run -3 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out-${dies%%:*}"
        [ ! -e "$BATS_TEST_TMPDIR/out-${dies%%:*}/${dies#*:}" ]
        [ ! -e "$BATS_TEST_TMPDIR/out-${dies%%:*}/status" ]
    done
}

@test "a refusal is 2, with --out too" {
    run -2 --separate-stderr "$reconcile" "${request[@]}" --job=other
    run -2 --separate-stderr "$reconcile" "${request[@]}" --job=other --out="$BATS_TEST_TMPDIR/out"
}

@test "a bundle that is damaged is 1, and the server is never asked" {
    cp -R incident "$BATS_TEST_TMPDIR/incident"
    cd "$BATS_TEST_TMPDIR" || exit 1
    printf x >>"$(find incident/capture -name '*.cap' | head -n 1)"
    run -1 --separate-stderr "$reconcile" "${request[@]}"
    [[ $output != *"Failed to connect"* ]]
}

@test "bad usage is 2 and shows no value" {
    for bad in --password=hunter2 --nope stray --url=http://reader:hunter2@127.0.0.1:1 "--url=http://127.0.0.1:1/?password=hunter2"; do
        run -2 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out" "$bad"
        [[ $stderr$output != *hunter2* ]]
        [ ! -e "$BATS_TEST_TMPDIR/out" ]
    done
    run -2 --separate-stderr "$reconcile"
}

@test "a stage whose output could not be written is not kept, and runs again" {
    # A limit on files, with its signal ignored, is a disk that is full.
    run -3 --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 8; "$@"' - "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    [[ $stderr == *"cannot write standard output"* ]]
    for f in "$BATS_TEST_TMPDIR"/out/*.ndjson; do
        [ "$(tail -n 1 "$f" | jq -r .type)" = end ]
    done
    [ ! -e "$BATS_TEST_TMPDIR/out/2-scope-cut.ndjson" ]
    run -3 --separate-stderr "$reconcile" "${request[@]}" --out="$BATS_TEST_TMPDIR/out"
    [[ $output == "NOT DECIDED"*"Failed to connect"* ]]
}
