#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# epoch-replay: each epoch twice from its start, against what the job handed on, and against an expectation; and what cannot be
# replayed is never passed.
# shellcheck disable=SC2016,SC2034,SC2154 # jq programs hold their own $; replay-job sets program and uses job; bats sets stderr
bats_require_minimum_version 1.5.0
load replay-job

setup_file() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_FILE_TMPDIR" || return 1
    chained "$BATS_FILE_TMPDIR/job"
    packed "$BATS_FILE_TMPDIR/job" "$BATS_FILE_TMPDIR/b"
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    cp -a "$BATS_FILE_TMPDIR/job" job
    job=job
}

# replayed STATUS OPTIONS…: of the job as it stands now, packed.
replayed() {
    rm -rf b
    packed job b
    run "-$1" --separate-stderr "$bin/epoch-replay" "${@:2}" b
}

check_of() { # name: "status code"
    jq -r --arg n "replay.$1" 'select(.type == "check" and .name == $n) | "\(.status) \(.code // "")"' <<<"$output"
}
reason_of() { jq -r --arg n "replay.$1" 'select(.type == "check" and .name == $n) | .reason' <<<"$output"; }
# The manifest lists the file as it is now. reseal BUNDLE PATH ROLE
reseal() {
    jq -c --arg path "$2" --arg role "$3" --argjson n "$(stat -c %s "$1/$2")" --arg sha "$(digest "$1/$2")" \
        '.artifacts |= (map(select(.path != $path)) + [{path: $path, role: $role, bytes: $n, sha256: $sha}] | sort_by(.path))' "$1/manifest.json" >sealed &&
        mv sealed "$1/manifest.json"
}
counts_of() {
    jq -r --arg n "replay.$1" 'select(.type == "check" and .name == $n) | .counts | "\(.selected) \(.checked) \(.passed) \(.failed) \(.unavailable) \(.unsupported) \(.omitted)"' <<<"$output"
}

@test "every epoch of the first map gives what it gave, and what the second received" {
    run -0 --separate-stderr "$bin/epoch-replay" --op=2 "$BATS_FILE_TMPDIR/b"
    [ "$(check_of determinism)" = 'passed ' ]
    [ "$(check_of recorded_output)" = 'passed ' ]
    [ "$(counts_of determinism)" = '4 4 4 0 0 0 0' ]
    # Without --op the second map is selected too, whose rows went to the sink.
    run -3 --separate-stderr "$bin/epoch-replay" "$BATS_FILE_TMPDIR/b"
    [ "$(check_of determinism)" = 'passed ' ]
    [ "$(check_of recorded_output)" = 'unsupported output-not-recorded' ]
    [ "$(counts_of recorded_output)" = '8 8 4 0 0 4 0' ]
}

@test "behind bundle-check the answer is one, and nothing is replayed where the files are not the manifest's" {
    cp -a "$BATS_FILE_TMPDIR/b" b
    "$bin/bundle-check" b | "$bin/epoch-replay" --op=2 >out
    [ "$(jq -c 'select(.type == "end").lines' out)" = '{"stream":1,"bundle":1,"check":9}' ]
    run -0 "$bin/verdict" --profile=replay <out
    sed -i 's/"id":1,/"id":7,/' b/capture/op-3/subtask-0/epoch-1.cap
    for through in "$bin/epoch-replay b" "$bin/bundle-check b | $bin/epoch-replay"; do
        run bash -c "$through"
        [ "$(check_of determinism)" = 'unavailable check-not-passed' ]
        [ "$(check_of recorded_output)" = 'unavailable check-not-passed' ]
    done
    # A stream in which the check was turned is not believed of what is read: each file is held against the manifest.
    "$bin/bundle-check" b | sed -E 's/("name":"bundle.artifacts",)"status":"failed","code":"[^"]*"(,"facts":\{[^}]*\})?/\1"status":"passed"/;
        s/,"counts":\{[^}]*\}//' >edited
    run -3 "$bin/epoch-replay" --op=2 <edited
    [ "$(check_of recorded_output)" = 'unavailable artifact-changed' ]
}

@test "the job ran with another program than op.json says" {
    op_json 2 0 map map first '{"program":"{id: .id, twice: (.id * 3), name: \"n\\(.id)\"}"}'
    replayed 1 --op=2
    [ "$(check_of determinism)" = 'passed ' ]
    [ "$(check_of recorded_output)" = 'failed output-differs' ]
    # Offset 0 gives the same by either; epoch 3 has no rows.
    [ "$(counts_of recorded_output)" = '4 4 1 3 0 0 0' ]
    [[ "$(reason_of recorded_output)" == *"'capture/op-3/subtask-0/epoch-1.cap', row 2: "*'"twice":2,'*' and the replay gives '*'"twice":3,'* ]]
}

@test "a row more, a row less and rows in another order are each found" {
    rows 0 2 | capture 3 0 1 a1 2
    replayed 1 --op=2 --epoch=1
    [[ "$(reason_of recorded_output)" == *'holds 2 rows, and the replay gives 3'* ]]
    { rows 0 3 && rows 2 3; } | capture 3 0 1 a1 4
    replayed 1 --op=2 --epoch=1
    [[ "$(reason_of recorded_output)" == *'row 4: the replay gives no such row'* ]]
    { rows 1 2 && rows 0 1 && rows 2 3; } | capture 3 0 1 a1 3
    replayed 1 --op=2 --epoch=1
    [ "$(check_of recorded_output)" = 'failed output-differs' ]
}

@test "a record at which the replay stops, which the job let pass, fails; the other epochs stand" {
    records 3 5 | sed '2s/{\\"id\\":4}/{\\"id\\":[]}/' | capture 2 0 2 a1 2
    replayed 1 --op=2
    [ "$(check_of determinism)" = 'failed replay-stopped' ]
    [ "$(counts_of determinism)" = '4 4 3 1 0 0 0' ]
    [[ "$(reason_of determinism)" == 'operator 2, subtask 0, epoch 2: '*orders/0/4* ]]
    [ "$(counts_of recorded_output)" = '4 4 3 0 1 0 0' ]
}

@test "what libjq aborts on ends one epoch" {
    op_json 2 0 map map first '{"program":"if .id == 4 then [limit(1; [.] | implode)] else . end | {id: .id}"}'
    replayed 1 --op=2
    [ "$(counts_of determinism)" = '4 4 3 1 0 0 0' ]
    [ "$(check_of determinism)" = 'failed replay-stopped' ]
}

# bats test_tags=plain
@test "a program that is no function of its records fails" {
    op_json 2 0 map map first '{"program":"{id: .id, day: (.id | strftime(\"%F\"))}"}'
    replayed 1 --op=2 --epoch=2
    [ "$(check_of determinism)" = 'passed ' ]
    run -1 env LD_PRELOAD="$BATS_TEST_DIRNAME/../build/tests/by-process.so" "$bin/epoch-replay" --op=2 --epoch=2 b
    [ "$(check_of determinism)" = 'failed replay-differs' ]
    [[ "$(reason_of determinism)" == *"'capture/op-2/subtask-0/epoch-2.cap' part at row 1: "*' and '* ]]
}

@test "a truncated capture, and one that was cut short, leave their epochs out" {
    records 0 2 | capture 2 0 1 a1 2 3 true
    replayed 3 --op=2
    [ "$(check_of determinism)" = 'unavailable capture-truncated' ]
    [ "$(counts_of determinism)" = '4 4 3 0 1 0 0' ]
    [[ "$(reason_of determinism)" == *'two replays gave the same rows'* ]]
    records 0 2 | capture 2 0 1 a1 3
    replayed 3 --op=2
    [ "$(check_of determinism)" = 'unavailable capture-malformed' ]
    [[ "$(reason_of determinism)" == *'was cut short'* ]]
    # The rows behind, of an epoch that is whole.
    records 0 3 | capture 2 0 1 a1 3
    rows 0 2 | capture 3 0 1 a1 2 3 true
    replayed 3 --op=2
    [ "$(check_of recorded_output)" = 'unavailable capture-truncated' ]
    rm job/capture/op-3/subtask-0/epoch-1.cap
    replayed 3 --op=2
    [ "$(check_of recorded_output)" = 'unavailable capture-missing' ]
}

@test "a capture behind that is of another place or attempt is held against nothing" {
    for lie in '"epoch":1,/"epoch":2,' '"subtask":0/"subtask":1' '"operator":"3"/"operator":"2"' '"job":"1"/"job":"2"' '"attempt":"a1"/"attempt":"a2"'; do
        rows 0 3 | capture 3 0 1 a1 3
        sed -i "1s/$lie/" job/capture/op-3/subtask-0/epoch-1.cap
        replayed 3 --op=2 --epoch=1
        [ "$(check_of determinism)" = 'passed ' ]
        [ "$(check_of recorded_output)" = 'unavailable capture-malformed' ] || { echo "$lie" >&2; return 1; }
    done
}

@test "what ran more than once in an epoch, whatever the job is today, is not compared" {
    op_json 2 1 map map first "$(jq -cn --arg p "$program" '{program: $p}')"
    records 0 3 | capture 2 1 1 a1 3
    replayed 3 --op=2 --epoch=1
    [ "$(check_of recorded_output) $(counts_of recorded_output)" = 'unsupported output-not-recorded 2 2 0 0 0 2 0' ]
    rm -r job/capture/op-2/subtask-1
    op_json 3 1 map map second '{"program":"."}'
    rows 0 3 | capture 3 1 1 a1 3
    for _ in both one; do
        replayed 3 --op=2 --epoch=1
        [ "$(check_of recorded_output)" = 'unsupported output-not-recorded' ]
        rm -f job/capture/op-3/subtask-0/epoch-1.cap
    done
}

@test "an operator's description that the job's graph contradicts is of none of its operators" {
    jq -c '.graph.operators[1].type = "window"' job/ha/job-1.json >j && mv j job/ha/job-1.json
    replayed 3 --op=2
    [ "$(check_of recorded_output)" = 'unavailable job-unknown' ]
}

@test "a line that no stage hands on is the capture's fault, and not the operator's" {
    for line in '{"type":"record","topic":"orders"}' '{"type":"record",}' '{"type":"event","values":[]}' '{"type":"event","at":"orders/0/1"}'; do
        { records 0 2 && echo "$line"; } | capture 2 0 1 a1 3
        replayed 3 --op=2 --epoch=1
        [ "$(check_of determinism)" = 'unavailable capture-malformed' ] || { echo "$line" >&2; return 1; }
        [[ $(reason_of determinism) == *"'capture/op-2/subtask-0/epoch-1.cap', line 4: "* ]]
    done
    for line in '{"type":"watermark","ts":"soon"}' '{"type":"watermark","ts":1,"idle":true}' '{"type":"watermark",}'; do
        records 0 3 | capture 2 0 1 a1 3
        sed -i "\$ s/.*/$line/" job/capture/op-2/subtask-0/epoch-1.cap
        replayed 3 --op=2 --epoch=1
        [ "$(check_of determinism)" = 'unavailable capture-malformed' ] || { echo "$line" >&2; return 1; }
    done
}

@test "a run that is ended ends what it replays, and says so" {
    op_json 2 0 map map first '{"program":"def f: f; f"}'
    rm -rf b && packed job b
    mkfifo pipe
    for signal in TERM INT HUP; do
        # A shell's background command ignores INT.
        env --default-signal=INT "$bin/epoch-replay" --op=2 b >pipe &
        pid=$!
        cat pipe >out &
        reader=$!
        until [ "$(pgrep -c -P $pid)" -eq 2 ]; do sleep 0.05; done
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        [ $status -eq 3 ]
        # The pipe ends once nobody holds it: no replay is left.
        wait $reader
        [ "$(jq -r 'select(.name == "replay.determinism") | .code' out)" = interrupted ]
        [ "$(jq -r 'select(.type == "stop") | .code' out)" = interrupted ]
    done
}

@test "operators that cannot be replayed are said by what they are" {
    op_json 2 0 map http-lookup first '{}'
    replayed 3 --op=2
    [ "$(check_of determinism)" = 'unsupported operator-outside' ]
    op_json 2 0 map plugin first '{}'
    replayed 3 --op=2
    [ "$(check_of determinism)" = 'unsupported operator-unknown' ]
    op_json 2 0 map map first '{"program":"{id: nope}"}'
    replayed 3 --op=2
    [ "$(check_of determinism)" = 'unavailable operator-malformed' ]
    op_json 2 0 map map first '{"program":".","api_key":"<redacted>"}'
    replayed 3 --op=2
    [ "$(check_of determinism)" = 'unavailable operator-redacted' ]
    rm job/capture/op-2/subtask-0/op.json
    replayed 3 --op=2
    [ "$(check_of determinism)" = 'unavailable operator-missing' ]
}

@test "rows that went elsewhere than to one operator of one input are not compared" {
    graph 2 '[["1","2"],["2","3"],["3","4"]]'
    replayed 3 --op=2
    [ "$(check_of recorded_output)" = 'unsupported output-not-recorded' ]
    for edges in '[["1","2"],["2","3"],["2","4"]]' '[["1","2"],["1","3"],["2","3"],["3","4"]]' '[["1","2"],["2","4"]]'; do
        graph 1 "$edges"
        replayed 3 --op=2
        [ "$(check_of recorded_output)" = 'unsupported output-not-recorded' ] || { echo "$edges" >&2; return 1; }
    done
    rm job/ha/job-1.json
    rm -rf b
    pack_job job b --epochs=1-99 --commit-confirmation=no >packing
    run -3 "$bin/epoch-replay" --op=2 b
    [ "$(check_of recorded_output)" = 'unavailable job-unknown' ]
    [ "$(check_of determinism)" = 'passed ' ]
}

@test "an operator without a uid is told by its type and parameters, and not where two are alike" {
    sed -i 's/,"uid":"[a-z]*"//' job/capture/op-*/subtask-0/op.json
    jq -c 'del(.graph.operators[].uid)' job/ha/job-1.json >j && mv j job/ha/job-1.json
    replayed 0 --op=2
    jq -c '.graph.operators[1].parameters = .graph.operators[2].parameters' job/ha/job-1.json >j && mv j job/ha/job-1.json
    op_json 2 0 map map first '{"program":"."}'
    sed -i 's/,"uid":"[a-z]*"//' job/capture/op-*/subtask-0/op.json
    replayed 3 --op=2
    [ "$(check_of recorded_output)" = 'unavailable job-unknown' ]
}

@test "the selection, its bound, and a selection of nothing" {
    run -0 --separate-stderr "$bin/epoch-replay" --op=2 --subtask=0 --epoch=4 "$BATS_FILE_TMPDIR/b"
    [ "$(counts_of determinism)" = '1 1 1 0 0 0 0' ]
    [ "$(jq -rc 'select(.name == "replay.determinism").evidence' <<<"$output")" = '["capture/op-2/subtask-0/epoch-4.cap"]' ]
    run -3 --separate-stderr "$bin/epoch-replay" --op=2 --max-replays=3 "$BATS_FILE_TMPDIR/b"
    [ "$(check_of determinism)" = 'unavailable replays-omitted' ]
    [ "$(counts_of determinism)" = '4 3 3 0 0 0 1' ]
    [[ "$(reason_of determinism)" == '1 epochs are past --max-replays=3'*'operator 2, subtask 0, epoch 4' ]]
    run -3 --separate-stderr "$bin/epoch-replay" --op=9 "$BATS_FILE_TMPDIR/b"
    [ "$(check_of determinism)" = 'unavailable epochs-not-collected' ]
    # Of the sink there is nothing to replay.
    run -3 --separate-stderr "$bin/epoch-replay" --op=4 "$BATS_FILE_TMPDIR/b"
    [ "$(counts_of determinism)" = '0 0 0 0 0 0 0' ]
    # One that failed is not hidden by those that were left out.
    op_json 2 0 map map first '{"program":"{id: (.id + 1)}"}'
    replayed 1 --op=2 --max-replays=1
    [ "$(check_of recorded_output)" = 'failed output-differs' ]
    [ "$(counts_of recorded_output)" = '4 1 0 1 0 0 3' ]
}

@test "an expectation is of all selected epochs together, whatever order and spelling" {
    rows 0 9 | jq -c '.values | {name, twice: "\(.twice)", id}' | sort -r >expected
    run -0 --separate-stderr "$bin/epoch-replay" --op=2 --expected=expected "$BATS_FILE_TMPDIR/b"
    [ "$(check_of expected_output)" = 'passed ' ]
    [ "$(jq -c 'select(.type == "require").checks' <<<"$output")" = '["replay.expected_output"]' ]
    # A row that nobody expects fails at once; one that is lacking only where all was replayed.
    rows 1 9 | jq -c .values >less
    run -1 --separate-stderr "$bin/epoch-replay" --op=2 --expected=less --max-replays=1 "$BATS_FILE_TMPDIR/b"
    [ "$(check_of expected_output)" = 'failed expectation-differs' ]
    run -1 --separate-stderr "$bin/epoch-replay" --op=2 --expected=less "$BATS_FILE_TMPDIR/b"
    [ "$(check_of expected_output)" = 'failed expectation-differs' ]
    { cat expected && head -n 1 expected; } >extra
    run -1 --separate-stderr "$bin/epoch-replay" --op=2 --expected=extra "$BATS_FILE_TMPDIR/b"
    [ "$(check_of expected_output)" = 'failed expectation-differs' ]
    run -3 --separate-stderr "$bin/epoch-replay" --op=2 --expected=expected --max-replays=2 "$BATS_FILE_TMPDIR/b"
    [ "$(check_of expected_output)" = 'unavailable replays-omitted' ]
    run -2 --separate-stderr "$bin/epoch-replay" --expected=expected "$BATS_FILE_TMPDIR/b"
    [[ $stderr == *'name one with --op'* ]]
    printf '[1]\n' >bad
    run -2 --separate-stderr "$bin/epoch-replay" --op=2 --expected=bad "$BATS_FILE_TMPDIR/b"
    [[ $stderr == *'bad: line 1 is no object'* ]]
    run -3 --separate-stderr "$bin/epoch-replay" --op=2 --expected=nosuch "$BATS_FILE_TMPDIR/b"
}

@test "an epoch that a restore passed over is left out of what is expected" {
    # Epoch 4 was triggered and died; the run that was restored from 2 begins with 5, and has its records again.
    rm job/ckpt/_jobs/1/COMPLETED-3 job/ckpt/_jobs/1/COMPLETED-4
    printf 'job=1\ncheckpoint=2\nnext=5\n' >job/ckpt/_jobs/1/RESTORED
    snap 0 2 5 5 2 a2
    records 5 9 | capture 2 0 5 a2 4
    rows 5 9 | capture 3 0 5 a2 4
    rows 5 9 | capture 4 0 5 a2 4
    op=4 interval 0 5 0 a2 4
    snap 0 5 9
    marker 5
    sed -i 's/^subtasks=.*/subtasks=0/' job/ckpt/_jobs/1/COMPLETED-5
    rows 0 9 | jq -c .values >expected
    replayed 0 --op=2 --expected=expected
    [ "$(check_of expected_output)" = 'passed ' ]
    [[ "$(reason_of expected_output)" == *'epoch 4 of subtask 0 is left out'* ]]
}

@test "a program that never ends is ended, and its epoch is not decided" {
    op_json 2 0 map map first '{"program":"def f: f; if .id == 3 then f else {id: .id, twice: (.id * 2), name: \"n\\(.id)\"} end"}'
    replayed 3 --op=2 --max-cpu-s=1
    [ "$(check_of determinism)" = 'unavailable time-passed' ]
    [ "$(counts_of determinism)" = '4 4 3 0 1 0 0' ]
}

# bats test_tags=both
@test "a program that takes memory without end is ended, and its epoch is not decided; the other epochs stand" {
    # Sanitized, memory that is not there ends the program unless it is told otherwise.
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
    for taken in '[range(100000000)]' '("x" * 300000000)' 'reduce range(100000000) as $i ([]; [., $i])'; do
        op_json 2 0 map map first "$(jq -cn --arg t "$taken" '{program: "if .id == 3 then \($t) | {id: length} else {id: .id, twice: (.id * 2), name: \"n\\(.id)\"} end"}')"
        replayed 3 --op=2 --max-memory=100M
        [ "$(check_of determinism)" = 'unavailable bound-passed' ] || { echo "$taken: $output" >&2; return 1; }
        [ "$(counts_of determinism)" = '4 4 3 0 1 0 0' ]
        [ "$(counts_of recorded_output)" = '4 4 3 0 1 0 0' ]
        [ "$(jq -r 'select(.name == "replay.determinism").facts.option' <<<"$output")" = --max-memory ]
    done
    # What stops with much of it taken may be a library's word for there being none.
    op_json 2 0 map map first "$(jq -cn '{program: "if .id == 3 then [range(3000000)] | error(\"no\") else . end"}')"
    replayed 3 --op=2 --epoch=2 --max-memory=100M
    [ "$(check_of determinism)" = 'unavailable bound-passed' ]
    run -1 --separate-stderr "$bin/epoch-replay" --op=2 --epoch=2 --max-memory=8G b
    [ "$(check_of determinism)" = 'failed replay-stopped' ]
    # So much is enough for a program that takes little.
    run -0 --separate-stderr "$bin/epoch-replay" --op=2 --max-memory=100M "$BATS_FILE_TMPDIR/b"
}

@test "a window's epoch starts from what it had open, and without that it is not replayed" {
    windowed
    # Ids 0 to 3 and 4 to 7, by hand: epoch 2 closes the first, epoch 4 the second.
    echo '{"window_start":1000,"window_end":1004,"n":4,"s":12}' >expected
    # It feeds the sink, so that only the job's own record of its rows is out of reach.
    replayed 3 --op=3 --epoch=2 --expected=expected
    [ "$(check_of determinism)" = 'passed ' ]
    [ "$(check_of expected_output)" = 'passed ' ]
    run -3 --separate-stderr "$bin/epoch-replay" --op=3 b
    [ "$(counts_of determinism)" = '4 4 4 0 0 0 0' ]
    echo '{"window_start":1000,"window_end":1004,"n":2,"s":10}' >expected
    replayed 1 --op=3 --epoch=2 --expected=expected
    rm job/ckpt/_state/1/v1/1/checkpoint-1.snap*
    replayed 3 --op=3 --epoch=2
    [ "$(check_of determinism)" = 'unavailable state-not-collected' ]
    [[ $(reason_of determinism) == *"no state of operator 3 at checkpoint 1"* ]]
}

@test "what an epoch starts from is not known where the files do not agree, or cannot be read" {
    windowed
    snap 0 2 5 3 2 a1
    printf 'job=1\ncheckpoint=1\nnext=3\n' >job/ckpt/_jobs/1/RESTORED
    replayed 3 --op=3 --epoch=3
    [ "$(check_of determinism)" = 'unavailable start-unknown' ]
    [[ $(reason_of determinism) == *start-3.snap* ]]
    rm job/ckpt/_jobs/1/RESTORED
    for lie in 's/"first_epoch":3/"first_epoch":2/' 's/"job":"1"/"job":"2"/' 's/^{/[/'; do
        snap 0 2 5 3 2 a1
        sed -i "$lie" job/ckpt/_state/1/v1/0/start-3.snap
        sidecar job/ckpt/_state/1/v1/0/start-3.snap 2
        replayed 3 --op=3 --epoch=3
        [ "$(check_of determinism)" = 'unavailable start-unknown' ] || { echo "$lie" >&2; return 1; }
    done
    rm job/ckpt/_state/1/v1/0/start-3.snap*
    replayed 3 --op=3 --epoch=3
    [ "$(check_of determinism)" = 'passed ' ]
    # Nor which epochs came again, where RESTORED cannot be read.
    echo '{"window_start":1000,"window_end":1004,"n":4,"s":12}' >expected
    replayed 3 --op=3 --epoch=2 --expected=expected
    [ "$(check_of expected_output)" = 'passed ' ]
    printf 'job=1\ncheckpoint=1\nnext=\n' >b/checkpoint/_jobs/1/RESTORED
    reseal b checkpoint/_jobs/1/RESTORED restored
    run -3 --separate-stderr "$bin/epoch-replay" --op=3 --epoch=2 --expected=expected b
    [ "$(check_of determinism) $(check_of expected_output)" = 'unavailable start-unknown unavailable start-unknown' ]
}
