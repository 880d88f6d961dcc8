#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# scope-cut: the walk back, what makes a scope partial, unsupported or refused, and the rows with `at` and `again`.
# shellcheck disable=SC2034,SC2154 # make-job uses job and columns_json; bats sets stderr
bats_require_minimum_version 1.5.0
load make-job

setup_file() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    make_job "$BATS_FILE_TMPDIR/job"
    pack_job "$BATS_FILE_TMPDIR/job" "$BATS_FILE_TMPDIR/all" --epochs=1-9 >"$BATS_FILE_TMPDIR/packed"
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    cp -a "$BATS_FILE_TMPDIR/job" job
    job=$PWD/job
    all=$BATS_FILE_TMPDIR/all
}

scope_of() { # status, then arguments: over a bundle collected from the job as it is now
    local want=$1
    shift
    rm -rf b
    pack_job job b --epochs=1-9 --commit-confirmation=no >/dev/null
    run "-$want" --separate-stderr "$bin/scope-cut" --key=id "$@" b
}

of() { jq -c "select(.type==\"$1\")" <<<"$output"; }
document() { of scope | jq -c .document; }
ats() { of row | jq -r .at | paste -sd' '; }
check() { of check | jq -r 'select(.name=="reconcile.scope")|"\(.status) \(.reason)"'; }
code() { of check | jq -r 'select(.name=="reconcile.scope").code'; }

unavailable() { # what the reason says
    [[ $(check) == "unavailable"*"$1"* ]] || { check >&2; return 1; }
    [ "$(of side | jq .whole)" != true ]
}

@test "the scope of a checkpoint starts at the completed one before; an aborted one left its interval to it" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id "$all"
    [ "$(document | jq -c '.bundle | [.checkpoint,.since,.start,.epochs,.restored_from]')" = '[3,1,"checkpoint",[2,3],null]' ]
    [ "$(document | jq -c '.sources[0].partitions')" = '[{"partition":0,"from":3,"to":10},{"partition":1,"from":3,"to":10}]' ]
    [ "$(of row | wc -l)" -eq 14 ]
    [ "$(of side)" = '{"type":"side","side":"captured","rows":14,"whole":true}' ]
    [ "$(check)" = "passed " ]
    [ -z "$stderr" ]
}

@test "rows come as canonical cells, in the order received, with where they came from" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=1 --key=id "$all"
    [ "$(of row | head -1)" = '{"type":"row","side":"captured","cells":["0","n0","5000","1758000000000000"],"at":"orders/0/0"}' ]
    [ "$(ats)" = "orders/0/0 orders/0/1 orders/0/2 orders/1/0 orders/1/1 orders/1/2" ]
}

@test "a resend that may have landed twice marks its own rows alone, with the copies that its attempts can have made" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id "$all"
    [ "$(of row | jq -r 'select(.again=="resent").at' | paste -sd' ')" = "orders/0/7 orders/0/8 orders/0/9" ]
    [ "$(of row | jq -r 'select(.again!=null and .again!="resent").at' | wc -l)" -eq 0 ]
    sent() { printf '{"token":"%s","first":%s,"rows":1,"blocks":1,"attempts":%s,"in_doubt":true,"resend":"%s","tokens":%s,"cut":1,"errors":1,"restarted":%s}' "$@"; }
    interval 0 3 2 a1 4 "$(sent a 0 4 may_duplicate 2 false),$(sent b 1 2 may_duplicate 2 true),$(sent c 2 2 deduplicated 1 true),$(sent d 3 3 deduplicated 1 false)"
    scope_of 0 --checkpoint=3
    [ "$(of row | jq -r 'select(.at | startswith("orders/0/")) | .again' | tail -4 | paste -sd' ')" = "resent:3 resent kept null" ]
}

@test "the first interval of a restored run starts at the restore point, and its rows are replays" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=6 --key=id "$all"
    [ "$(document | jq -c '.bundle | [.since,.start,.restored_from,.epochs,.sink.attempts]')" = '[0,"restore",4,[6],["a2"]]' ]
    [ "$(document | jq -c '.sources[0].partitions[0]')" = '{"partition":0,"from":10,"to":15}' ]
    [ "$(of row | jq -r .again | sort -u)" = replayed ]
    [ "$(of row | wc -l)" -eq 10 ]
}

@test "the run's start is no restore where nothing ran before" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=1 --key=id "$all"
    [ "$(document | jq -c '.bundle | [.since,.start,.restored_from]')" = '[0,"run",null]' ]
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=4 --from-run-start --key=id "$all"
    [ "$(document | jq -c '.bundle | [.since,.start,.from_run_start,.epochs]')" = '[0,"run",true,[1,2,3,4]]' ]
    [ "$(of row | wc -l)" -eq 20 ]
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=7 --from-run-start --key=id "$all"
    [ "$(document | jq -c '.bundle | [.start,.epochs]')" = '["restore",[6,7]]' ]
}

@test "a run that started again from nothing may repeat what the one before wrote" {
    printf 'job=1\ncheckpoint=0\nnext=6\n' >job/ckpt/_jobs/1/RESTORED
    for s in 0 1; do snap $s 5 0 6 0 a2; done
    scope_of 0 --checkpoint=6
    [ "$(document | jq -c '.bundle | [.start,.restored_from]')" = '["restore",0]' ]
    # Five numbers lie before this run's first: as many runs, and no more, can have been discarded.
    [ "$(of row | jq -r .again | sort -u)" = replayed:5 ]
}

@test "a scope with no rows establishes nothing" {
    run -3 --separate-stderr "$bin/scope-cut" --checkpoint=4 --key=id "$all"
    [[ $(check) == "unavailable the scope holds no rows"* ]]
    [ "$(document | jq .bundle.checkpoint)" -eq 4 ]
}

@test "the document: its fingerprint, --out, and the columns' keys" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id,name --out=scope.json "$all"
    [ "$(cat scope.json)" = "$(document)" ]
    [ "$(jq -cS 'del(.scope_sha256)' scope.json | tr -d '\n' | sha256sum | cut -c1-64)" = "$(jq -r .scope_sha256 scope.json)" ]
    [ "$(of columns | jq -c '[.columns[]|select(.key).name]')" = '["id","name"]' ]
    [ "$(of columns | jq -c .columns)" = "$(jq -c .columns scope.json)" ]
    [ "$(of require | jq -c .checks)" = '["bundle.manifest","bundle.artifacts","bundle.completeness","reconcile.scope","reconcile.destination","reconcile.rows"]' ]
}

@test "a request that does not fit the bundle is refused, naming both values" {
    local t
    for t in "--job=2|of job '1'" "--checkpoint=2|1, 3, 4, 6, 7" "--checkpoint=99|99" "--sink=4|3 (shop.orders)" "--database=other|3 (shop.orders)" \
        "--table=other|3 (shop.orders)" "--key=nothing|shop.orders" "--key=id|twice"; do
        run -2 --separate-stderr "$bin/scope-cut" --key=id --checkpoint=3 "${t%%|*}" --out=doc "$all"
        [[ $stderr == *"${t#*|}"* ]] || { echo "$t: $stderr" >&2; return 1; }
        [ "$(of stop | jq -r .kind)" = refused ]
        [ "$(of row | wc -l)" -eq 0 ]
        [ ! -e doc ]
    done
}

@test "several sinks and none named is refused; --sink or --table names one" {
    local s
    for s in 0 1; do
        op_json 4 $s ch-sink clickhouse-sink
        log_events $s 0 3 | capture 4 $s 1 a1 3
        table=audit op=4 interval $s 1 0 a1 3
    done
    sed -i 's/{"id":"3",/{"id":"4","type":"clickhouse-sink","parallelism":2},&/; s/\["2","3"\]/&,["2","4"]/' job/ha/job-1.json
    scope_of 2 --checkpoint=1
    [[ $stderr == *"several sinks"*"3 (shop.orders), 4 (shop.audit)"* ]]
    scope_of 0 --checkpoint=1 --sink=4
    [ "$(document | jq -r .destination.table)" = audit ]
    scope_of 0 --checkpoint=1 --table=orders
    [ "$(document | jq -r .bundle.sink.operator)" = 3 ]
}

@test "evidence of an interval that is missing: unavailable, by name, for every subtask" {
    rm job/capture/op-3/subtask-1/epoch-2.sink.json
    scope_of 3 --checkpoint=3
    unavailable "subtask 1, epoch 2: 'capture/op-3/subtask-1/epoch-2.sink.json' is not in the bundle"
    rm -r job/capture/op-3/subtask-1
    scope_of 3 --checkpoint=3
    unavailable "subtask 1, epoch 3"
}

@test "a subtask that only the graph knows of owes its evidence too" {
    sed -i 's/"type":"clickhouse-sink","parallelism":2/"type":"clickhouse-sink","parallelism":3/' job/ha/job-1.json
    scope_of 3 --checkpoint=3
    unavailable "subtask 2, epoch 3"
}

@test "an epoch left out of the collection: collect with --epochs" {
    pack_job job c --epochs=3-3 >/dev/null
    run -3 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id c
    unavailable "epoch 2"
    [ "$(code)" = epochs-not-collected ]
}

@test "a capture that is missing, truncated, disarmed or another: unavailable" {
    rm job/capture/op-3/subtask-0/epoch-3.cap
    scope_of 3 --checkpoint=3
    unavailable "epoch-3.cap' is not in the bundle"

    log_events 0 6 9 | capture 3 0 3 a1 3 4 true
    interval 0 3 2 a1 4
    sed -i 's/"stored":4,"truncated":false/"stored":3,"truncated":true/' job/capture/op-3/subtask-0/epoch-3.sink.json
    scope_of 3 --checkpoint=3
    unavailable "truncated: 3 of 4 rows"
    [ "$(code)" = capture-truncated ]

    sed -i 's/"outcome":"written","file":"epoch-3.cap","bytes":[0-9]*,"sha256":"[0-9a-f]*","seen":4,"stored":3,"truncated":true/"outcome":"disarmed","seen":4/' \
        job/capture/op-3/subtask-0/epoch-3.sink.json
    scope_of 3 --checkpoint=3
    unavailable "disarmed"

    log_events 0 6 10 | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    log_events 0 7 11 | capture 3 0 3 a1 4
    scope_of 3 --checkpoint=3
    unavailable "not the one that"
}

@test "a capture that was cut short, or counts otherwise than its header: unavailable" {
    log_events 0 6 9 | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    scope_of 3 --checkpoint=3
    unavailable "was cut short: it holds 3 records, its header counts 4"
    [ "$(of side | jq -c '[.rows,.whole]')" = '[13,false]' ]
    log_events 0 6 10 | capture 3 0 3 a9 4
    interval 0 3 2 a1 4
    scope_of 3 --checkpoint=3
    unavailable "another interval or attempt"
}

@test "a ledger must acknowledge exactly the recorded rows" {
    interval 0 3 2 a1 4 '{"token":"a","first":0,"rows":3,"blocks":1,"attempts":1,"in_doubt":false,"resend":"none"}'
    scope_of 3 --checkpoint=3
    unavailable "acknowledges 3 rows, the sink's input had 4"
    interval 0 3 2 a1 4 '{"token":"a","first":0,"rows":2,"blocks":1,"attempts":1,"in_doubt":false,"resend":"none"},{"token":"b","first":3,"rows":2,"blocks":1,"attempts":1,"in_doubt":false,"resend":"none"}'
    scope_of 3 --checkpoint=3
    unavailable "begins at row 3, the ones before end at 2"
}

@test "rows that a killed server may have lost and kept the token of are named, and change no verdict" {
    older='{"token":"a","first":0,"rows":1,"blocks":1,"attempts":1,"in_doubt":false,"resend":"none"},{"token":"b","first":1,"rows":3,"blocks":1,"attempts":2,"in_doubt":true,"resend":"deduplicated"}'
    interval 0 3 2 a1 4 "$older"
    scope_of 0 --checkpoint=3
    reason=$(of check | jq -r 'select(.name == "reconcile.scope") | .reason')
    [[ $reason == "'capture/op-3/subtask-0/epoch-3.sink.json': rows 2 to 4 were in doubt and sent again under one token, and nothing shows that the server ran on"* ]]
    [[ $reason == *'a row of these that is missing is of this kind' ]]
    interval 0 3 2 a1 4 "${older%\}},\"tokens\":2,\"cut\":1,\"errors\":0,\"restarted\":true}"
    scope_of 0 --checkpoint=3
    [ "$(of check | jq -r 'select(.name == "reconcile.scope") | .reason')" = '' ]
}

@test "one attempt and one destination" {
    log_events 1 6 10 | capture 3 1 3 a9 4
    interval 1 3 2 a9 4
    scope_of 3 --checkpoint=3
    unavailable "of attempt 'a1'"
    log_events 1 6 10 | capture 3 1 3 a1 4
    table=other interval 1 3 2 a1 4
    scope_of 3 --checkpoint=3
    unavailable "table differs"
}

@test "evidence of a discarded run is never walked" {
    marker 5
    scope_of 3 --checkpoint=5
    unavailable "discarded"
    [ "$(of row | jq -r .at | grep -c '/1[2-9]')" -eq 0 ]
}

@test "source positions that are missing at an end: unavailable" {
    rm job/ckpt/_state/1/v1/1/checkpoint-1.snap
    scope_of 3 --checkpoint=3
    unavailable "positions are not whole"
    rm job/ckpt/_state/1/v1/0/start-6.snap
    scope_of 3 --checkpoint=6
    unavailable "start-6.snap"
}

@test "a marker at either end of the scope must be of its checkpoint, and name every subtask of the source" {
    local jobs=job/ckpt/_jobs/1
    cp $jobs/COMPLETED-1 $jobs/COMPLETED-2 # would make the scope narrower than it is
    scope_of 3 --checkpoint=3
    unavailable "COMPLETED-2' is the marker of checkpoint 1"
    rm $jobs/COMPLETED-2
    sed -i s/job=1/job=2/ $jobs/COMPLETED-1
    scope_of 3 --checkpoint=3
    unavailable "COMPLETED-1' is the marker of checkpoint 1 of job '2'"
    marker 1
    : >$jobs/COMPLETED-1
    scope_of 3 --checkpoint=3
    unavailable "COMPLETED-1 is empty"
    marker 1
    sed -i s/subtasks=0,1/subtasks=0/ $jobs/COMPLETED-3
    scope_of 3 --checkpoint=3
    unavailable "names 1 participants, and the job's source has 2 subtasks"
}

@test "an interval that names a barrier too early, or one before a restore, leaves rows out" {
    local sink=job/capture/op-3
    sed -i 's/"previous":2/"previous":1/' $sink/subtask-*/epoch-3.sink.json
    scope_of 3 --checkpoint=3
    unavailable "epoch-2.sink.json' lies within the scope"
    for previous in 4 5; do
        sed -i 's/"previous":[0-9]*/"previous":'$previous'/' $sink/subtask-*/epoch-6.sink.json
        scope_of 3 --checkpoint=6
        unavailable "a restore lies between them"
    done
    marker 5
    scope_of 3 --checkpoint=6
    unavailable "a restore lies between them"
}

@test "a snapshot is that of its subtask and checkpoint, with a position of all it declares" {
    local state=job/ckpt/_state/1/v1
    cp $state/0/checkpoint-1.snap $state/0/checkpoint-3.snap
    scope_of 3 --checkpoint=3
    unavailable "checkpoint-3.snap has 290 bytes, its sidecar says 291"
    sidecar $state/0/checkpoint-3.snap 3
    scope_of 3 --checkpoint=3
    unavailable "checkpoint-3.snap' is of job '1', subtask 0, checkpoint 1"
    cp $state/1/checkpoint-1.snap $state/0/checkpoint-1.snap
    sidecar $state/0/checkpoint-1.snap 1
    snap 0 3 10
    scope_of 3 --checkpoint=3
    unavailable "checkpoint-1.snap' is of job '1', subtask 1, checkpoint 1"
    snap 0 1 3
    sed -i 's/"positions":[^]]*]/"positions":[]/' $state/0/checkpoint-[13].snap
    for c in 1 3; do sidecar $state/0/checkpoint-$c.snap $c; done
    scope_of 3 --checkpoint=3
    unavailable "declares partition 0 and has no position of it"
    snap 0 1 3
    snap 0 3 10
    sed -i 's/read_committed/read_uncommitted/' $state/*/checkpoint-1.snap
    for s in 0 1; do sidecar $state/$s/checkpoint-1.snap 1; done
    scope_of 3 --checkpoint=3
    unavailable "reads read_uncommitted at the scope's start and read_committed at its end"
    snap 0 1 3
    snap 1 1 3
    sed -i 's/"operator":"1"/"operator":"9"/' $state/0/checkpoint-3.snap
    sidecar $state/0/checkpoint-3.snap 3
    scope_of 3 --checkpoint=3
    unavailable "of several operators"
}

@test "where a row came from is left out where a row cannot carry it" {
    for at in '' 'a\\\\b' 'a\\"b'; do
        log_events 0 6 10 | sed 's#"at":"orders/0/7"#"at":"'"$at"'"#' | capture 3 0 3 a1 4
        interval 0 3 2 a1 4
        scope_of 0 --checkpoint=3
        [ "$(of row | jq -r 'select(.cells[0] == "7") | has("at")')" = false ]
        run -3 "$bin/rows-diff" <<<"$output"
    done
}

@test "another log at the other end is said and changes no verdict" {
    local s
    for s in 0 1; do topic_id=t2 snap $s 3 10; done
    scope_of 0 --checkpoint=3
    [[ $(check) == "passed the ends of the scope are of different logs"*"id t1"*"id t2"* ]]
    [ "$(document | jq -c '.sources[0]|[.topic_id,.partitions[0].from]')" = '["t2",null]' ]
}

@test "a stateful or unknown operator is unsupported by its type, and has no document" {
    job_manifest tumbling-window
    scope_of 3 --checkpoint=3 --out=doc
    [[ $(check) == "unsupported"*"'tumbling-window'"* ]]
    [ ! -e doc ]
    [ "$(of row | wc -l)" -eq 0 ]
}

@test "without the job's manifest the operators speak for themselves" {
    rm job/ha/job-1.json
    scope_of 0 --checkpoint=3
    [ "$(document | jq .bundle.job_graph_sha256)" = null ]
    op_json 2 0 w window
    scope_of 3 --checkpoint=3
    [[ $(check) == "unsupported"*"'window'"* ]]
    rm job/capture/op-2/subtask-*/op.json
    scope_of 3 --checkpoint=3
    unavailable "what the job is made of"
}

@test "keys: a type that cannot be one; one that names two rows is found by whoever compares them" {
    run -3 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=amount "$all"
    [[ $(check) == "unsupported"*"'amount' is Decimal(18, 4)"* ]]
    log_events 0 6 10 | sed '3s/"id":8/"id":7/' | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    scope_of 0 --checkpoint=3
    [ "$(of row | wc -l)" -eq 14 ]
    rows='["reconcile.rows", "unsupported", "1 keys are held twice by the captured rows and cannot be compared, the first of them [\"7\"] at orders/0/7 and orders/0/8"]'
    twice() { # arguments of scope-cut…: what rows-diff says where the table holds what was captured
        "$bin/scope-cut" --checkpoint=3 --key=id "$@" b >once
        { jq -c 'select(.type != "end")' once
            for read in 1 2; do
                jq -c --argjson read "$read" 'select(.type == "row") | {type, side: "destination", read: $read, cells}' once
                jq -c --argjson read "$read" 'select(.type == "side") | {type, side: "destination", read: $read, rows, whole}' once
            done; } | ended >both
        "$bin/rows-diff" <both | jq -c 'select(.type == "check" and .name == "reconcile.rows") | [.name, .status, .reason]'
    }
    [ "$(twice)" = "$(jq -c . <<<"$rows")" ]
    [ "$(twice --repeats)" = "$(jq -c . <<<"$rows")" ]
    # The same row twice is said to be meant, or is as little a key's own.
    { log_events 0 6 9; log_events 0 8 9; } | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    scope_of 0 --checkpoint=3
    [ "$(twice)" = "$(jq -c . <<<"${rows//7/8}")" ]
    [ "$(twice --repeats)" = '["reconcile.rows","passed",""]' ]
    scope_of 0 --checkpoint=3 --repeats
    [ "$(document | jq -c .bundle.repeats)" = true ]
}

@test "a column type that is not compared is unsupported by name" {
    columns_json='[{"name":"id","type":"Int64"},{"name":"name","type":"Array(String)"},{"name":"amount","type":"Decimal(18, 4)"},{"name":"seen","type":"DateTime64(6)","from":"ms"}]'
    local s
    for s in 0 1; do interval $s 1 0 a1 3; done
    scope_of 3 --checkpoint=1
    [[ $(check) == "unsupported"*"'name' is Array(String)"* ]]
}

@test "values that do not fit are unfit in their row; a column that the sink did not write is told" {
    log_events 0 0 3 | sed '1s/"0.5"/"0.00005"/; 2s/"name":"n1"/"name":null/; 3s/,"seen":[0-9]*//' | capture 3 0 1 a1 3
    interval 0 1 0 a1 3
    scope_of 0 --checkpoint=1
    [ "$(of row | head -3 | jq -c '.cells[1:]' | paste -sd' ')" = \
        '["n0",{"unfit":"0.00005"},"1758000000000000"] [{"unfit":"null"},"15000","1758000000001000"] ["n2","25000",{"unfit":"null"}]' ]
    log_events 0 0 3 | sed '2s/"name"/"extra":1,"name"/' | capture 3 0 1 a1 3
    interval 0 1 0 a1 3
    scope_of 3 --checkpoint=1
    unavailable "'extra'"
}

@test "integers past 2^53 keep every digit" {
    log_events 0 0 3 | sed '1s/"id":0/"id":9007199254740993/; 2s/"id":1/"id":"-9223372036854775808"/' | capture 3 0 1 a1 3
    interval 0 1 0 a1 3
    scope_of 0 --checkpoint=1
    [ "$(of row | head -2 | jq -r '.cells[0]' | paste -sd' ')" = "9007199254740993 -9223372036854775808" ]
}

@test "a directory alone is checked whole, as behind bundle-check, before anything of it is used" {
    local damage
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id "$all"
    [ "$(of check | jq -r '"\(.stage) \(.name) \(.status)"' | head -3 | paste -sd,)" = \
        "scope-cut bundle.manifest passed,scope-cut bundle.artifacts passed,scope-cut bundle.completeness passed" ]
    # None of these is a file that the scope of 3 uses.
    for damage in 'echo x >b/capture/op-2/subtask-0/epoch-7.cap' 'rm b/capture/op-3/subtask-1/epoch-6.sink.json' 'echo x >b/capture/unlisted' \
        "sed -i 's/n15/x15/' b/capture/op-3/subtask-0/epoch-7.cap"; do
        cp -a "$all" b
        eval "$damage"
        run -1 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id --out=doc b
        [ "$(of check | jq -r 'select(.name=="bundle.artifacts").status')" = failed ]
        unavailable "the bundle was not read: bundle.artifacts failed"
        [ "$(of row | wc -l)" -eq 0 ] && [ ! -e doc ]
        rm -r b
    done
    # A stream whose bundle nobody checked is no other.
    sed "s|$all|b|" "$BATS_FILE_TMPDIR/packed" >packed
    cp -a "$all" b
    echo x >b/capture/unlisted
    run -1 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id <packed
    unavailable "bundle.artifacts failed"
}

@test "a file that is not what the manifest lists fails bundle.artifacts before it is judged by what it holds" {
    local damage cap=b/capture/op-3/subtask-0/epoch-3
    for damage in "sed -i 's/\"n7\"/\"x7\"/' $cap.cap" "truncate -s -70 $cap.cap" "truncate -s 100 $cap.cap" "echo '{' >>$cap.cap" "sed -i 's/\"seen\":4/\"seen\":5/' $cap.cap" \
        "truncate -s 100 $cap.sink.json" "truncate -s 10 b/checkpoint/_state/1/v1/0/checkpoint-1.snap"; do
        rm -rf b
        cp -a "$all" b
        sed "s|$all|b|" "$BATS_FILE_TMPDIR/packed" | "$bin/bundle-check" >checked
        eval "$damage"
        run -1 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id <checked
        [ "$(of check | jq -r 'select(.stage=="scope-cut" and .name=="bundle.artifacts")|.status+" "+.code')" = "failed artifact-changed" ] || { echo "$damage: $output" >&2; return 1; }
        [ "$(of side | jq .whole)" != true ]
    done
}

@test "without --key: a document for a reference that brings its own, and nothing that could be compared by none" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --out=scope.json "$all"
    [ "$(check)" = "passed " ]
    [ "$(jq -c '[.columns[]|select(.key)]' scope.json)" = '[]' ]
    [ "$(jq -cS 'del(.scope_sha256)' scope.json | tr -d '\n' | sha256sum | cut -c1-64)" = "$(jq -r .scope_sha256 scope.json)" ]
    run -2 --separate-stderr "$bin/rows-diff" <<<"$output"
    [[ $stderr == *"name no key"* ]]
}

@test "from a stream: after bundle-check, and not after one that failed" {
    cp -a "$all" b
    sed "s|$all|b|" "$BATS_FILE_TMPDIR/packed" >packed
    run -0 --separate-stderr "$bin/bundle-check" <packed
    echo "$output" >checked
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id <checked
    [ "$(jq -rs '.[0].stages|map(.name)|join(" ")' <<<"$output")" = "bundle-pack bundle-check scope-cut" ]
    [ "$(of row | wc -l)" -eq 14 ]
    echo x >b/capture/unlisted
    run -1 --separate-stderr "$bin/bundle-check" <packed
    echo "$output" >failed
    run -3 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id <failed
    unavailable "bundle.artifacts failed"
    [ "$(of scope | wc -l)" -eq 0 ]
    rm b/capture/unlisted
    echo >>b/manifest.json
    run -2 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id <checked
    [[ $stderr == *"its manifest is"* ]]
}

@test "an input that was cut is passed on as unfinished and opens no bundle" {
    head -c -30 "$BATS_FILE_TMPDIR/packed" >half
    run -3 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id <half
    [ "$(of stop | jq -r .kind)" = unfinished ]
    [ "$(of scope | wc -l)" -eq 0 ]
}

@test "no secret of the job is in the stream" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id "$all"
    [[ $output$stderr != *hunter2* ]]
}
