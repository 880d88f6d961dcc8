#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# epoch-freeze and epoch-run: a case holds one epoch whole or is not written; run, it passes, or says in which row it does not; and
# an edited one is not believed.
# shellcheck disable=SC2016,SC2154 # jq programs hold their own $; replay-job sets program and bats sets output and stderr
bats_require_minimum_version 1.5.0
load replay-job

setup_file() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_FILE_TMPDIR" || return 1
    chained "$BATS_FILE_TMPDIR/job"
    packed "$BATS_FILE_TMPDIR/job" "$BATS_FILE_TMPDIR/b"
    mkdir win
    cp -a job win/job
    (cd win && windowed '["name"]' && packed job "$BATS_FILE_TMPDIR/w")
    "$bin/epoch-freeze" --op=2 --epoch=2 --out="$BATS_FILE_TMPDIR/case" b >froze
    "$bin/epoch-freeze" --op=3 --epoch=2 --out="$BATS_FILE_TMPDIR/wcase" w >>froze
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    cp -a "$BATS_FILE_TMPDIR/job" job
    job=job
    mkdir out
}

# refused CODE OPTIONS…: nothing is written, and nothing lies beside it.
refused() {
    run -1 --separate-stderr "$bin/epoch-freeze" --out=out/case "${@:2}"
    [ "$(jq -r 'select(.type == "stop") | "\(.kind) \(.code)"' <<<"$output")" = "refused $1" ] || { echo "$output" >&2; return 1; }
    [ -z "$(ls -A out)" ] || { ls -A out >&2; return 1; }
}
# The same of the job as it stands now, packed.
refuses() {
    rm -rf b
    packed job b
    refused "$@" b
}

# ran STATUS CASE [OPTIONS…]
ran() { run "-$1" --separate-stderr "$bin/epoch-run" "${@:3}" "$2"; }
golden() { jq -r 'select(.name == "replay.golden_output") | "\(.status) \(.code // "")"' <<<"$output"; }
why() { jq -r 'select(.name == "replay.golden_output") | .reason' <<<"$output"; }

# The case's words are those of its files as they are now, as who made the case would have them. resealed CASE
resealed() {
    local path
    for path in $(jq -r '.artifacts[].path' "$1/bundle/manifest.json"); do
        jq -c --arg path "$path" --argjson n "$(stat -c %s "$1/bundle/$path")" --arg sha "$(digest "$1/bundle/$path")" \
            '(.artifacts[] | select(.path == $path)) |= (.bytes = $n | .sha256 = $sha)' "$1/bundle/manifest.json" >sealed
        mv sealed "$1/bundle/manifest.json"
    done
    jq -c --arg m "$(digest "$1/bundle/manifest.json")" --arg g "$(digest "$1/golden.ndjson")" \
        --argjson n "$(stat -c %s "$1/golden.ndjson")" --argjson rows "$(wc -l <"$1/golden.ndjson")" \
        '.manifest_sha256 = $m | .golden = {rows: $rows, bytes: $n, sha256: $g}' "$1/case.json" >sealed
    mv sealed "$1/case.json"
}

@test "a case holds the epoch, its operator, its rows and what runs it, and is the same each time" {
    cp -a "$BATS_FILE_TMPDIR/case" case
    [ "$(cd case && find . -type f | sort | paste -sd' ')" = './README ./bundle/capture/op-2/subtask-0/epoch-2.cap ./bundle/capture/op-2/subtask-0/op.json ./bundle/manifest.json ./case.json ./epoch.bats ./golden.ndjson' ]
    rows 3 5 | diff - case/golden.ndjson
    cmp "$BATS_FILE_TMPDIR/b/capture/op-2/subtask-0/epoch-2.cap" case/bundle/capture/op-2/subtask-0/epoch-2.cap
    ran 0 case
    [ "$(golden)" = 'passed ' ]
    [ "$(jq -r .type <<<"$output" | paste -sd' ')" = 'stream bundle require check check end' ]
    run -0 "$bin/verdict" <<<"$output"
    run -0 --separate-stderr "$bin/epoch-freeze" --op=2 --subtask=0 --epoch=2 --out=again "$BATS_FILE_TMPDIR/b"
    diff -r case again
    run -0 bash -c "'$bin/bundle-check' --profile=integrity '$BATS_FILE_TMPDIR/b' | '$bin/epoch-freeze' --op=2 --epoch=2 --out=behind"
    diff -r case behind
}

@test "a window's case starts from what it had open, and its own test runs it" {
    cp -a "$BATS_FILE_TMPDIR/wcase" case
    # Ids 0 to 3, by hand: 0 to 2 came in epoch 1, and 3 closes their window in epoch 2.
    [ "$(jq -r '.values | "\(.name) \(.n) \(.s)"' case/golden.ndjson | paste -sd' ')" = 'n0 1 0 n1 1 2 n2 1 4 n3 1 6' ]
    [ -e case/bundle/checkpoint/_state/1/v1/1/checkpoint-1.snap ]
    ran 0 case
    run -0 env OWED_BIN="$bin" bats --tap case
    [[ ${lines[1]} == 'ok 1 operator 3, subtask 0, epoch 2'* ]]
    sed -i 's/"n":1/"n":2/' case/golden.ndjson
    run -1 env OWED_BIN="$bin" bats --tap case
}

@test "the first epoch of a restored run starts from what it was restored from" {
    job=windows
    cp -a "$BATS_FILE_TMPDIR/win/job" windows
    # Of a first run that died after checkpoint 2 a second one was restored from 1, and its first epoch is 3.
    snap 0 1 3 3 1 a1
    printf 'job=1\ncheckpoint=1\nnext=3\n' >windows/ckpt/_jobs/1/RESTORED
    rm windows/ckpt/_jobs/1/COMPLETED-2
    packed windows b
    run -0 --separate-stderr "$bin/epoch-freeze" --op=3 --epoch=3 --out=case b
    [ "$(cd case/bundle && find checkpoint -type f | sort | paste -sd' ')" = 'checkpoint/_jobs/1/RESTORED checkpoint/_state/1/v1/1/checkpoint-1.snap' ]
    ran 0 case
    # A later restore has RESTORED for itself, and the run's own start says it.
    printf 'job=1\ncheckpoint=3\nnext=4\n' >windows/ckpt/_jobs/1/RESTORED
    rm -r b && packed windows b
    run -0 --separate-stderr "$bin/epoch-freeze" --op=3 --epoch=3 --out=later b
    [ "$(cd later/bundle && find checkpoint -type f | sort | paste -sd' ')" = 'checkpoint/_state/1/v1/0/start-3.snap checkpoint/_state/1/v1/1/checkpoint-1.snap' ]
    ran 0 later
}

@test "what is not one whole epoch of a bundle that holds is refused, and leaves nothing" {
    refused epochs-not-collected --op=2 --epoch=9 "$BATS_FILE_TMPDIR/b"
    refused epochs-not-collected --op=4 --epoch=1 "$BATS_FILE_TMPDIR/b"
    refused epochs-not-collected --op=2 --subtask=1 --epoch=1 "$BATS_FILE_TMPDIR/b"
    records 0 2 | capture 2 0 1 a1 2 3 true
    refuses capture-truncated --op=2 --epoch=1
    records 0 2 | capture 2 0 1 a1 3
    refuses capture-malformed --op=2 --epoch=1
    # Another epoch of the same bundle is whole.
    run -0 --separate-stderr "$bin/epoch-freeze" --op=2 --epoch=2 --out=whole b
    sed -i 's/"id":1,/"id":7,/' b/capture/op-3/subtask-0/epoch-1.cap
    refused check-not-passed --op=2 --epoch=2 b
    op_json 2 1 map map first "$(jq -cn --arg p "$program" '{program: $p}')"
    records 0 3 | capture 2 1 1 a1 3
    refuses usage --op=2 --epoch=1
}

@test "an operator that reaches outside, is not known, or holds a credential is refused" {
    op_json 2 0 map http-lookup first '{}'
    refuses operator-outside --op=2 --epoch=1
    op_json 2 0 map plugin first '{}'
    refuses operator-unknown --op=2 --epoch=1
    op_json 2 0 map map first '{"program":".","api_key":"<redacted>"}'
    refuses operator-redacted --op=2 --epoch=1
    op_json 2 0 map map first '{"program":"{id: nope}"}'
    refuses operator-malformed --op=2 --epoch=1
    op_json 2 0 map map first '{"program":"def f: f; f"}'
    refuses time-passed --op=2 --epoch=1 --max-cpu-s=1
    records 0 3 | sed '2s/{\\"id\\":1}/{\\"id\\":[]}/' | capture 2 0 1 a1 3
    op_json 2 0 map map first "$(jq -cn --arg p "$program" '{program: $p}')"
    refuses replay-stopped --op=2 --epoch=1
}

@test "a credential that a bundle holds all the same goes into no case" {
    cp -a "$BATS_FILE_TMPDIR/b" b
    op=b/capture/op-2/subtask-0/op.json
    jq -c '.uid = "https://user:hunter2@example.org/"' $op >o && mv o $op
    jq -c --argjson n "$(stat -c %s $op)" --arg sha "$(digest $op)" \
        '(.artifacts[] | select(.path == "capture/op-2/subtask-0/op.json")) |= (.bytes = $n | .sha256 = $sha)' b/manifest.json >m && mv m b/manifest.json
    refused operator-redacted --op=2 --epoch=2 b
    [[ $output$stderr != *hunter2* ]]
}

@test "a window without the state that it starts from is refused" {
    job=windows
    cp -a "$BATS_FILE_TMPDIR/win/job" windows
    rm windows/ckpt/_state/1/v1/1/checkpoint-1.snap*
    packed windows b
    refused state-not-collected --op=3 --epoch=2 b
}

@test "a place within the bundle is refused, by whatever way it is named, and the bundle is as it was" {
    cp -R "$BATS_FILE_TMPDIR/b" b
    ln -s b/capture by-link
    find b | sort >before
    for out in b/case b/capture/op-2/../case/ by-link/case "$PWD/b/case"; do
        run -1 --separate-stderr "$bin/epoch-freeze" --op=2 --epoch=1 --out="$out" b
        [[ $stderr == *"--out=$out lies in the bundle"* ]]
    done
    (cd b/capture && run -1 --separate-stderr "$bin/epoch-freeze" --op=2 --epoch=1 --out=case ..)
    find b | sort | diff before -
}

@test "a place that is taken is refused and left as it is, and so is one that cannot be written" {
    mkdir out/case
    echo mine >out/case/file
    run -1 --separate-stderr "$bin/epoch-freeze" --op=2 --epoch=2 --out=out/case "$BATS_FILE_TMPDIR/b"
    [ "$(jq -r 'select(.type == "stop") | .code' <<<"$output")" = file-exists ]
    [ "$(ls -A out) $(cat out/case/file)" = 'case mine' ]
    run ! --separate-stderr "$bin/epoch-freeze" --op=2 --epoch=2 --out=nosuch/case "$BATS_FILE_TMPDIR/b"
    [ ! -e nosuch ]
    for bad in '--op=2 --epoch=2' '--op=2 --out=out/x' '--epoch=2 --out=out/x' '--op=x --epoch=2 --out=out/x' '--op=2 --epoch=0 --out=out/x'; do
        read -ra list <<<"$bad"
        run -2 --separate-stderr "$bin/epoch-freeze" "${list[@]}" "$BATS_FILE_TMPDIR/b"
    done
    run -2 --separate-stderr "$bin/epoch-freeze" --op=2 --epoch=2 --out=out/x nosuch
}

@test "what a killed one left goes with the next one of the same place, and nothing else does" {
    mkdir -p out/.case.tmp-0123456789abcdef/bundle/capture out/.case.tmp-fedcba9876543210
    touch out/.case.tmp-0123456789abcdef/{golden.ndjson,case.json} out/.case.tmp-fedcba9876543210/mine
    run -0 --separate-stderr "$bin/epoch-freeze" --op=2 --epoch=2 --out=out/case "$BATS_FILE_TMPDIR/b"
    [[ $stderr == *"'.case.tmp-0123456789abcdef', left by a run that was killed, was removed"* ]]
    [ "$(find out -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | paste -sd' ')" = '.case.tmp-fedcba9876543210 case' ]
}

@test "one that is ended leaves nothing" {
    op_json 2 0 map map first '{"program":"def f: f; f"}'
    rm -rf b && packed job b
    "$bin/epoch-freeze" --op=2 --epoch=1 --out=out/case b >stream 3>&- &
    pid=$!
    until [ "$(pgrep -c -P $pid)" -eq 2 ]; do sleep 0.05; done
    kill $pid
    status=0
    wait $pid || status=$?
    [ $status -eq 3 ]
    [ -z "$(ls -A out)" ]
}

@test "other rows than the golden ones fail, by the first row that parts" {
    cp -a "$BATS_FILE_TMPDIR/case" case
    op=case/bundle/capture/op-2/subtask-0/op.json
    cp $op op.json
    for other in 'if .id == 4 then .id = 5 else . end | {id: .id, twice: (.id * 2), name: "n\(.id)"}|row 2: the case holds *"id":4,* and the replay gives *"id":5,*; 2 rows *, and 2 *' \
        'if .id == 4 then empty else {id: .id, twice: (.id * 2), name: "n\(.id)"} end|row 2: the case holds *"id":4,* and the replay gives no such row; 2 rows *, and 1 *' \
        '{id: .id, twice: (.id * 2), name: "n\(.id)"}, (select(.id == 4) | {id: 0})|row 3: the case holds no such row, and the replay gives *"id":0*; 2 rows *, and 3 *'; do
        jq -c --arg p "${other%|*}" '.parameters.program = $p' op.json >$op
        resealed case
        ran 1 case
        [ "$(golden)" = 'failed golden-differs' ]
        [[ $(why) == *${other##*|} ]] || { why >&2; return 1; }
        run -1 "$bin/verdict" <<<"$output"
    done
    jq -c '.parameters.program = "if .id == 4 then error(\"no\") else . end"' op.json >$op
    resealed case
    ran 1 case
    [ "$(golden)" = 'failed replay-stopped' ]
    # A row is shown by its beginning.
    jq -c '.parameters.program = "{id: (\"x\" * 100000)}"' op.json >$op
    resealed case
    ran 1 case
    [ "$(why | wc -c)" -lt 1200 ]
}

@test "a row of a window is named by its key" {
    cp -a "$BATS_FILE_TMPDIR/wcase" case
    sed -i '3s/"s":4/"s":5/' case/golden.ndjson
    resealed case
    ran 1 case
    where='operator 3, subtask 0, epoch 2: row 3, of the key "n2": the case holds '
    [[ $(why) == "$where"*'"s":5'*'and the replay gives '*'"s":4'* ]] || { why >&2; return 1; }
    # State that is another one, whoever vouches for it.
    cp -a "$BATS_FILE_TMPDIR/wcase" state
    sed -i 's/"n2"/"n2b"/' state/bundle/checkpoint/_state/1/v1/1/checkpoint-1.snap
    resealed state
    ran 1 state
    [ "$(golden)" = 'failed golden-differs' ]
}

@test "an edited case is not believed" {
    while IFS='|' read -r file edit; do
        rm -rf case
        cp -a "$BATS_FILE_TMPDIR/wcase" case
        sed -i "$edit" "case/$file"
        ran 3 case
        [ "$(golden)" = 'unavailable case-damaged' ] || { echo "$file $edit: $output" >&2; return 1; }
    done <<'EDITS'
golden.ndjson|s/"s":4/"s":5/
golden.ndjson|$d
golden.ndjson|$s/$/ /
case.json|s/"epoch":2/"epoch":1/
case.json|s/"operator":"3"/"operator":"2"/
case.json|s/"job":"1"/"job":"2"/
case.json|s/"rows":4/"rows":5/
case.json|s/"version":1/"version":2/
case.json|s/"format":"owed-case"/"format":"other"/
case.json|s/^{/{"more":1,/
case.json|s/^{/[/
case.json|s/"manifest_sha256":"./"manifest_sha256":"x/
case.json|d
bundle/manifest.json|s/"version":1/"version": 1/
bundle/manifest.json|d
bundle/capture/op-3/subtask-0/epoch-2.cap|s/n3/n4/
bundle/capture/op-3/subtask-0/op.json|s/"size_ms":4/"size_ms":8/
bundle/checkpoint/_state/1/v1/1/checkpoint-1.snap|s/n1/n9/
EDITS
}

@test "a case that lacks a file, has one more, or a link in its place, is not believed" {
    for damage in 'rm golden.ndjson' 'rm bundle/manifest.json' 'rm -r bundle' 'rm bundle/capture/op-3/subtask-0/epoch-2.cap' 'touch bundle/capture/x' \
        'mv golden.ndjson g && ln -s g golden.ndjson' 'mv bundle other && ln -s other bundle' 'rm golden.ndjson && mkfifo golden.ndjson' \
        'mv case.json c && ln -s c case.json' 'rm case.json && mkdir case.json'; do
        rm -rf case
        cp -a "$BATS_FILE_TMPDIR/wcase" case
        (cd case && eval "$damage")
        ran 3 case
        [ "$(golden)" = 'unavailable case-damaged' ] || { echo "$damage: $output" >&2; return 1; }
    done
    ran 2 nosuch
    [ "$(jq -r 'select(.type == "stop") | .code' <<<"$output")" = file-missing ]
    ran 2 "$BATS_FILE_TMPDIR/b"
    run -2 --separate-stderr "$bin/epoch-run"
}

@test "golden rows of another size are not copied, however large they are" {
    cp -a "$BATS_FILE_TMPDIR/case" case
    truncate -s 2G case/golden.ndjson
    run -3 --separate-stderr bash -c 'ulimit -f 1024; exec "$@"' _ "$bin/epoch-run" case
    [ "$(golden)" = 'unavailable case-damaged' ]
    [[ $(why) == *"2147483648 bytes, not "* ]]
}

@test "a case of an operator that this build does not replay, or past a bound, is not decided" {
    cp -a "$BATS_FILE_TMPDIR/case" case
    op=case/bundle/capture/op-2/subtask-0/op.json
    cp $op op.json
    for kind in 'plugin unsupported operator-unknown' 'http-lookup unsupported operator-outside' 'window unavailable operator-malformed'; do
        jq -c --arg k "${kind%% *}" '.kind = $k' op.json >$op
        resealed case
        ran 3 case
        [ "$(golden)" = "${kind#* }" ] || { echo "$output" >&2; return 1; }
    done
    jq -c '.parameters.program = "def f: f; f"' op.json >$op
    resealed case
    ran 3 case --max-cpu-s=1
    [ "$(golden)" = 'unavailable time-passed' ]
    # A start without its state.
    cp -a "$BATS_FILE_TMPDIR/wcase" state
    rm state/bundle/checkpoint/_state/1/v1/1/checkpoint-1.snap
    jq -c '.artifacts |= map(select(.role != "interval_state"))' state/bundle/manifest.json >m && mv m state/bundle/manifest.json
    resealed state
    ran 3 state
    [ "$(golden)" = 'unavailable state-not-collected' ]
}
