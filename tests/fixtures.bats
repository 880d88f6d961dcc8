#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The saved runs: each stage, run again on what the one before it wrote, gives what it gave, and the verdict is the one saved.
bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$root/fixtures" || exit 1
}

@test "the verdict of every saved run is the one that was saved" {
    n=0
    for d in */; do
        [ -e "$d/status" ] || continue
        n=$((n + 1))
        run "-$(cat "$d/status")" --separate-stderr "$bin/verdict" <"$d/8-rows-diff.ndjson"
        diff <(printf '%s\n' "$output") "$d/report.txt" || { echo "$d" >&2; return 1; }
    done
    [ "$n" -ge 30 ]
}

@test "README shows what the saved runs are: its reports, and what its first command prints" {
    for d in a-batch-of-20-records-lost audit/a-message-that-engine-kafka-skips; do
        # what stands before the line that says that there is more
        sed -n 's/^    //p; s/^$//p' "$root/README.md" | awk -v head="$(head -n 1 "$d/report.txt")" \
            '$0 == head { on = 1; text = "" } on && $0 == "…" { print text; on = 0 } on { text = text $0 "\n" }' | sed '/^$/d' >"$BATS_TEST_TMPDIR/shown"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/shown")" -ge 15 ]
        diff "$BATS_TEST_TMPDIR/shown" <(sed '/^$/d' "$d/report.txt" | head -n "$(wc -l <"$BATS_TEST_TMPDIR/shown")")
    done
    said=$(cd "$root" && PATH=$bin:$PATH bash -c "$(sed -n 's/^    \(rows-diff <fixtures.*\)/\1/p' README.md)")
    [ -n "$said" ]
    grep -qxF "    $said" "$root/README.md"
}

@test "rows-diff gives the same bytes again from what was read" {
    n=0
    for d in */; do
        [ -e "$d/7-ch-read.ndjson" ] || continue
        n=$((n + 1))
        "$bin/rows-diff" <"$d/7-ch-read.ndjson" >"$BATS_TEST_TMPDIR/again" 2>/dev/null || [ $? -le 3 ]
        diff "$BATS_TEST_TMPDIR/again" "$d/8-rows-diff.ndjson" || { echo "$d" >&2; return 1; }
    done
    [ "$n" -ge 30 ]
}

@test "the saved audits: the same verdict, and the same bytes from each stage that needs no server" {
    n=0
    for d in audit/*/; do
        n=$((n + 1))
        run "-$(cat "$d/status")" --separate-stderr "$bin/verdict" <"$d/8-rows-diff.ndjson"
        diff <(printf '%s\n' "$output") "$d/report.txt" || { echo "$d" >&2; return 1; }
        "$bin/rows-diff" <"$d/7-ch-read.ndjson" >"$BATS_TEST_TMPDIR/again" 2>/dev/null || [ $? -le 3 ]
        diff "$BATS_TEST_TMPDIR/again" "$d/8-rows-diff.ndjson" || { echo "$d" >&2; return 1; }
    done
    [ "$n" -ge 10 ]
}

@test "of the audit without a bundle every stage but those that look gives the same again, the artifact too" {
    cd audit/a-message-that-engine-kafka-skips || exit 1
    t=$BATS_TEST_TMPDIR
    "$bin/scope-declare" --key=event_id --range=ALL --from=seen:ms --out="$t/scope.json" <1-table-look.ndjson | diff - 2-scope-declare.ndjson
    diff "$t/scope.json" scope.json
    "$bin/ref-run" --strict -- jq -c -f "$root/examples/reference/orders.jq" <3-kafka-read.ndjson | diff - 4-ref-run.ndjson
    cp scope.json "$t"
    (cd "$t" && "$bin/ref-seal" --scope=scope.json --reference-name=orders.jq --reference-version=1 --out=reference.ndjson) <4-ref-run.ndjson | diff - 5-ref-seal.ndjson
    diff "$t/reference.ndjson" reference.ndjson
    "$bin/ref-bind" --reference=reference.ndjson <2-scope-declare.ndjson | diff - 6-ref-bind.ndjson
}

@test "bundle-check and scope-cut give the same again from the saved bundle" {
    "$bin/bundle-check" incident >"$BATS_TEST_TMPDIR/1"
    diff "$BATS_TEST_TMPDIR/1" the-table-untouched/1-bundle-check.ndjson
    checkpoint=$(jq -r 'select(.type == "scope") | .document.bundle.checkpoint' the-table-untouched/2-scope-cut.ndjson)
    "$bin/scope-cut" --checkpoint="$checkpoint" --key=event_id <"$BATS_TEST_TMPDIR/1" >"$BATS_TEST_TMPDIR/2"
    diff "$BATS_TEST_TMPDIR/2" the-table-untouched/2-scope-cut.ndjson
}

@test "no saved run names a password or the place where it was made" {
    run -1 grep -rliE --exclude-dir=job 'owed-demo|hunter2|password=' .
}
