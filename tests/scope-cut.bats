#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# scope-cut: the walk back, what makes a scope partial, unsupported or refused, and the rows with `at` and `again`.
# shellcheck disable=SC2034,SC2154 # make-job uses job and columns_json; bats sets stderr
bats_require_minimum_version 1.5.0
load make-job
load answers

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

ats() { of row | jq -r .at | paste -sd' '; }
checked_scope() { of check '"stage":"scope-cut","name":"reconcile.scope"'; }
check() { checked_scope | jq -r '"\(.status) \(.reason)"'; }
code() { checked_scope | jq -r .code; }

unavailable() { # what the reason says
    [[ $(check) == "unavailable"*"$1"* ]] || { check >&2; return 1; }
    [[ $(of side) != *'"whole":true'* ]]
}

@test "a captured row has its event's time where the job's manifest shows that it is its record's" {
    event_ts=1796000000123 make_job "$PWD/timed"
    job=timed
    cut_it() { rm -rf b; pack_job timed b --epochs=1-9 --commit-confirmation=no >/dev/null; run "-${1:-0}" --separate-stderr "$bin/scope-cut" --from-run-start --checkpoint=1 --key=id --expected-out=rows b; }
    cut_it
    [ "$(of row | jq -c '[.ts, has("ts")]' | sort -u)" = '[1796000000123,true]' ]
    [ "$(of row | jq -c '{cells, at, ts}')" = "$(jq -c . rows)" ]
    # Its source's time may be another: a field of the payload.
    for parameters in '{"time_field":"seen"}' '{"time_field":null}'; do
        sed -i 's/"type":"kafka-source","parallelism":2,"parameters":{[^}]*}/"type":"kafka-source","parallelism":2,"parameters":'"$parameters"'/' timed/ha/job-1.json
        cut_it
        [ "$(of row | jq -c 'has("ts")' | sort -u)" = "$([ "$parameters" = '{"time_field":null}' ] && echo true || echo false)" ]
    done
    rm timed/ha/job-1.json
    cut_it
    [ "$(of row | jq -c 'has("ts")' | sort -u)" = false ]
    rm -r timed
    event_ts='"soon"' make_job "$PWD/timed"
    cut_it 3
    unavailable 'event.ts: not a whole number of milliseconds'
    [ "$(code)" = capture-malformed ]
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
    sent() { printf '{"token":"%s","first":%s,"rows":1,"blocks":1,"attempts":%s,"in_doubt":true,"resend":"%s","tokens":%s,"cut":1,"errors":0,"restarted":%s}' "$@"; }
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
    [ "$(of row | jq -r .again | sort -u)" = replayed ] # 2 to 5 are barriers of the one run before
}

@test "a capture that is whole and empty passes: what the job dropped is for a reference to say, and nothing passes by it alone" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=4 --key=id --out=doc "$all"
    [ "$(check)" = "passed " ]
    [ "$(of side)" = '{"type":"side","side":"captured","rows":0,"whole":true}' ]
    [ "$(jq .bundle.checkpoint doc)" -eq 4 ]
    run -3 --separate-stderr bash -c "'$bin/ch-read' --url=http://127.0.0.1:1 | '$bin/rows-diff' | '$bin/verdict'" <<<"$output"
    [[ $output == "NOT DECIDED"* && $output == *"unavailable   reconcile.rows"* ]]
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
        op_json 4 $s ch-sink clickhouse-sink audit '{}'
        log_events $s 0 3 | capture 4 $s 1 a1 3
        table=audit op=4 interval $s 1 0 a1 3
    done
    sed -i 's/{"id":"3",/{"id":"4","uid":"audit","type":"clickhouse-sink","parallelism":2,"parameters":{}},&/; s/\["2","3"\]/&,["2","4"]/' job/ha/job-1.json
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

@test "members of the evidence that nobody reads do not go into the stream" {
    sed -i 's/"outcome":/"note":"url(https:\/\/ops:hunter2@db)","outcome":/; s/"columns":\[{/"columns":[{"default":"hunter2",/; s/"ledger":\[{/"ledger":[{"note":"hunter2",/; s/"engine":/"other":"hunter2","engine":/' \
        job/capture/op-3/subtask-*/epoch-*.sink.json
    [ "$(grep -o hunter2 job/capture/op-3/subtask-0/epoch-3.sink.json | wc -l)" -eq 4 ]
    scope_of 0 --checkpoint=3
    [[ $output$stderr != *hunter2* ]]
    [ "$(check)" = "passed " ]
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
    unavailable "attempt: capture/op-3/subtask-0/epoch-3.sink.json says 'a1', capture/op-3/subtask-0/epoch-3.cap says 'a9'"
    [ "$(code)" = capture-changed ]
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
    unavailable "subtask-0/epoch-2.sink.json says 'a1', capture/op-3/subtask-1/epoch-3.sink.json says 'a9'"
    log_events 1 6 10 | capture 3 1 3 a1 4
    table=other interval 1 3 2 a1 4
    scope_of 3 --checkpoint=3
    unavailable "table: capture/op-3/subtask-0/epoch-2.sink.json says 'orders', capture/op-3/subtask-1/epoch-3.sink.json says 'other'"
    [ "$(code)" = runs-mixed ]
}

# lanes SED: an edit of the intervals' evidence of checkpoint 3's scope, in both lanes.
lanes() { sed -i "$1" job/capture/op-3/subtask-*/epoch-[23].sink.json; }

@test "what two pieces of evidence both say they say alike, each with its code" {
    local edit file code says
    while IFS='|' read -r code file says edit; do
        cp -a job kept
        sed -i "$edit" "job/$file"
        for f in job/ckpt/_state/1/v1/*/*.snap; do
            cmp -s "$f" "kept${f#job}" || sidecar "$f" "$(jq .checkpoint "$f")"
        done
        scope_of 3 --checkpoint=3
        unavailable "$says" || { echo "$file: $edit" >&2; return 1; }
        [ "$(code)" = "$code" ] || { echo "$file: $edit: $(code)" >&2; return 1; }
        rm -r job
        mv kept job
    done <<'END'
runs-mixed|capture/op-3/subtask-1/epoch-3.sink.json|async_insert: |s/"async_insert":"0"/"async_insert":"1"/
runs-mixed|capture/op-3/subtask-1/epoch-3.sink.json|engine: |s/"engine":"MergeTree"/"engine":"ReplacingMergeTree"/
runs-mixed|capture/op-3/subtask-1/epoch-3.sink.json|dedup_window: |s/"dedup_window":"0"/"dedup_window":"100"/
runs-mixed|capture/op-3/subtask-1/epoch-3.sink.json|partition_key: |s/"partition_key":""/"partition_key":"id"/
runs-mixed|capture/op-3/subtask-1/epoch-3.sink.json|create_table_query: |s/(id Int64)/(id Int32)/
runs-mixed|capture/op-3/subtask-1/epoch-3.sink.json|endpoint: |s/:8123"/:8124"/
runs-mixed|capture/op-3/subtask-1/epoch-3.sink.json|server_host: |s/"server_host":"h"/"server_host":"g"/
marker-other|ckpt/_jobs/1/COMPLETED-1|generation: checkpoint/_jobs/1/COMPLETED-1 says '2'|s/generation=1/generation=2/
marker-other|ckpt/_jobs/1/COMPLETED-1|participants: |s/subtasks=0,1/subtasks=0/
evidence-differs|ha/job-1.json|type: the job's graph says 'other', capture/op-2/subtask-0/op.json says 'map'|s/"type":"map"/"type":"other"/
evidence-differs|ha/job-1.json|endpoint: the job's graph says 'http://127.0.0.1:8124'|s/127.0.0.1:8123/127.0.0.1:8124/
evidence-differs|ha/job-1.json|table: the job's graph says 'other'|s/"password"/"table":"other",&/
evidence-differs|ha/job-1.json|generation: job/manifest.json says '3'|s/"generation":1/"generation":3/
evidence-differs|ha/job-1.json|source operator: |s/"id":"1"/"id":"9"/; s/\["1"/["9"/
evidence-differs|capture/op-3/subtask-1/op.json|uid: |s/"uid":"sink"/"uid":"other"/
evidence-differs|capture/op-2/subtask-1/op.json|parameters: |s/"program":"."/"program":"empty"/
job-unknown|capture/op-2/subtask-1/op.json|operator: capture/op-2/subtask-1/op.json says '3', its place says '2'|s/"operator":"2"/"operator":"3"/
positions-contradict|ckpt/_state/1/v1/0/checkpoint-3.snap|partitions: |s/"declared":.0./"declared":[]/
positions-contradict|ckpt/_state/1/v1/0/checkpoint-1.snap|cluster: |s/"cluster_id":"c1"/"cluster_id":"c2"/
positions-contradict|ckpt/_state/1/v1/0/checkpoint-3.snap|topic id: |s/"topic_id":"t1"/"topic_id":null/
ledger-differs|capture/op-3/subtask-0/epoch-3.sink.json|in_doubt: |s/"errors":1/"errors":0/
ledger-differs|capture/op-3/subtask-0/epoch-3.sink.json|attempts: |s/"attempts":2/"attempts":1/
capture-changed|capture/op-3/subtask-0/epoch-3.sink.json|capture: |s/"file":"epoch-3.cap"/"file":"epoch-2.cap"/
END
}

@test "a restored run begins where its restore point stood, and is the one that RESTORED has" {
    local path=checkpoint/_jobs/1/RESTORED
    pack_job job b --epochs=1-9 >/dev/null
    sed -i s/job=1/job=2/ b/$path
    jq -c --arg sha "$(digest b/$path)" '(.artifacts[]|select(.path=="'$path'"))|=(.sha256=$sha)' b/manifest.json >mended
    mv mended b/manifest.json
    run -3 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=id b
    unavailable "job: $path says '2', its place says '1'"
    [ "$(code)" = marker-other ]
    snap 0 5 9 6 4 a2
    scope_of 3 --checkpoint=6
    unavailable "start-6.snap says '0 at 9', checkpoint/_state/1/v1/0/checkpoint-4.snap says '0 at 10'"
    snap 0 5 10 6 3 a2
    scope_of 3 --checkpoint=6
    unavailable "restored checkpoint: "
    snap 0 5 10 6 4 a2
    printf 'job=1\ncheckpoint=4\nnext=5\n' >job/ckpt/_jobs/1/RESTORED
    scope_of 3 --checkpoint=6
    unavailable "RESTORED has the run of epoch 5 as the newest, and the scope's began at epoch 6"
}

@test "lanes that agree on what the contract leaves out are unsupported, and so is what nobody shows" {
    local edit code
    while IFS='|' read -r code edit; do
        lanes "$edit"
        scope_of 3 --checkpoint=3
        [[ $(check) == "unsupported "* && $(code) == "$code" ]] || { check >&2; return 1; }
        rm -r job
        cp -a "$BATS_FILE_TMPDIR/job" job
    done <<'END'
insert-asynchronous|s/"async_insert":"0"/"async_insert":"1"/
insert-asynchronous|s/"wait_for_async_insert":"1"/"wait_for_async_insert":"0"/
insert-asynchronous|s/"async_insert":"0",//
engine-unsupported|s/MergeTree/ReplacingMergeTree/g
END
    lanes 's/"engine":"MergeTree"/"engine":"Log"/'
    scope_of 3 --checkpoint=3
    unavailable "engine: "
}

@test "--database and --table are held against the scope's own intervals" {
    local s
    for s in 0 1; do sed -i 's/"table":"orders"/"table":"later"/' job/capture/op-3/subtask-$s/epoch-[67].sink.json; done
    scope_of 0 --checkpoint=6 --table=later
    scope_of 2 --checkpoint=6 --table=orders
    [[ $stderr == *"3 (shop.later)"* ]]
    scope_of 0 --checkpoint=3 --table=orders
    scope_of 2 --checkpoint=3 --table=later
    # Where they differ among themselves, neither name is all of theirs.
    for s in 0 1; do sed -i 's/"table":"orders"/"table":"later"/' job/capture/op-3/subtask-$s/epoch-2.sink.json; done
    scope_of 2 --checkpoint=3 --table=orders
    [[ $stderr == *"the scope's rows went to shop.later"* ]]
}

@test "what a bound of the collection left out is said with the bound" {
    local n
    for n in 22 26 30 34; do
        rm -rf b
        pack_job job b --epochs=1-9 --checkpoint=3 --max-files=$n >/dev/null
        run -3 --separate-stderr "$bin/scope-cut" --key=id b
        [ "$(code)" = left-out-by-bound ] || { echo "$n: $(check)" >&2; return 1; }
        [ "$(of check | jq -r 'select(.name=="reconcile.scope").facts.bound')" = --max-files ]
    done
}

@test "how often a replay can have written a row: by as many attempts as can have begun before" {
    again() { of row | jq -r .again | sort -u | paste -sd,; }
    # 5 is shown to be a barrier of the run before, so that no other run began in between.
    scope_of 0 --checkpoint=6
    [ "$(again)" = replayed ]
    rm job/capture/op-3/subtask-*/epoch-5.sink.json
    scope_of 0 --checkpoint=6
    [ "$(again)" = replayed:2 ]
    # From nothing: each of the numbers before can have begun a run, but 3, which the evidence shows to be a barrier.
    printf 'job=1\ncheckpoint=0\nnext=6\n' >job/ckpt/_jobs/1/RESTORED
    for s in 0 1; do snap $s 5 0 6 0 a2; done
    rm job/capture/op-3/subtask-*/epoch-[24].sink.json
    scope_of 0 --checkpoint=6
    [ "$(again)" = replayed:4 ]
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
    unavailable "checkpoint: checkpoint/_jobs/1/COMPLETED-2 says '1', its place says '2'"
    rm $jobs/COMPLETED-2
    sed -i s/job=1/job=2/ $jobs/COMPLETED-1
    scope_of 3 --checkpoint=3
    unavailable "job: checkpoint/_jobs/1/COMPLETED-1 says '2', its place says '1'"
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
    unavailable "checkpoint: checkpoint/_state/1/v1/0/checkpoint-3.snap says '1', its place says '3'"
    [ "$(of check | jq 'select(.name=="reconcile.scope").counts.outside')" = null ]
    cp $state/1/checkpoint-1.snap $state/0/checkpoint-1.snap
    sidecar $state/0/checkpoint-1.snap 1
    snap 0 3 10
    scope_of 3 --checkpoint=3
    unavailable "subtask: checkpoint/_state/1/v1/0/checkpoint-1.snap says '1', its place says '0'"
    snap 0 1 3
    sed -i 's/"positions":[^]]*]/"positions":[]/' $state/0/checkpoint-[13].snap
    for c in 1 3; do sidecar $state/0/checkpoint-$c.snap $c; done
    scope_of 3 --checkpoint=3
    unavailable "partitions: checkpoint/_state/1/v1/0/checkpoint-3.snap says '0', its list of positions says ''"
    snap 0 1 3
    snap 0 3 10
    sed -i 's/read_committed/read_uncommitted/' $state/*/checkpoint-1.snap
    for s in 0 1; do sidecar $state/$s/checkpoint-1.snap 1; done
    scope_of 3 --checkpoint=3
    unavailable "isolation: checkpoint/_state/1/v1/0/checkpoint-1.snap says 'read_uncommitted', checkpoint/_state/1/v1/0/checkpoint-3.snap says 'read_committed'"
    snap 0 1 3
    snap 1 1 3
    sed -i 's/"operator":"1"/"operator":"9"/' $state/0/checkpoint-3.snap
    sidecar $state/0/checkpoint-3.snap 3
    scope_of 3 --checkpoint=3
    unavailable "source operator: the job's graph says '1', checkpoint/_state/1/v1/0/checkpoint-3.snap says '9'"
    unavailable "source operator: checkpoint/_state/1/v1/0/checkpoint-1.snap says '1'"
}

@test "a row's record is one of the scope's log and ranges, past the row before, or the scope is none" {
    local at
    for at in '' 'a\\\\b' 'a\\"b' other/0/7 orders/7 orders/9/7 orders/1/7 orders/0/2 orders/0/10 orders/0/6 orders/0/8 orders/0/x 'orders/0/7#' \
        orders/0/18446744073709551615 /0/7; do
        log_events 0 6 10 | sed 's|"at":"orders/0/7"|"at":"'"$at"'"|' | capture 3 0 3 a1 4
        interval 0 3 2 a1 4
        scope_of 3 --checkpoint=3
        unavailable "is no record of the scope's ranges" || { echo "$at" >&2; return 1; }
        [ "$(code)" = rows-elsewhere ]
        [ "$(of check | jq -c 'select(.name=="reconcile.scope").counts.outside')" -ge 1 ]
    done
    # A row that a line cannot carry the place of has none.
    log_events 0 6 10 | sed 's|"at":"orders/0/7"|"at":"a\\"b"|' | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    scope_of 3 --checkpoint=3
    [ "$(of row | jq -r 'select(.cells[0] == "7") | has("at")')" = false ]
    # Several rows of a record count on; a row that says nothing of it is counted.
    log_events 0 6 10 | sed 's|"at":"orders/0/8"|"at":"orders/0/7#1"|; s|"at":"orders/0/9",||' | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    scope_of 0 --checkpoint=3
    [ "$(of check | jq -c 'select(.name=="reconcile.scope").counts')" = '{"intervals":4,"epochs":2,"rows":14,"without_at":1}' ]
}

@test "positions that leave no room for the rows that were captured between them" {
    local s
    for s in 0 1; do snap $s 1 10; done
    scope_of 3 --checkpoint=3
    unavailable "is said to be of \"orders/0/3\", which is no record of the scope's ranges"
    unavailable "14 rows are so"
    [ "$(document | jq -c '.sources[0].partitions[0]')" = '{"partition":0,"from":10,"to":10}' ]
}

@test "one run reads one log; another one behind a restore is said and changes no verdict" {
    local s
    for s in 0 1; do topic_id=t2 snap $s 3 10; done
    scope_of 3 --checkpoint=3
    unavailable "topic id: checkpoint/_state/1/v1/0/checkpoint-1.snap says 't1', checkpoint/_state/1/v1/0/checkpoint-3.snap says 't2'"
    [ "$(code)" = positions-contradict ]
    for s in 0 1; do
        snap $s 3 10
        topic_id=t2 snap $s 5 10 6 4 a2
        topic_id=t2 snap $s 6 15
    done
    scope_of 0 --checkpoint=6
    [[ $(check) == "passed the runs before and after the restore read different logs"*"id t1"*"id t2"* ]]
    [ "$(document | jq -c '.sources[0]|[.topic_id,.partitions[0].from]')" = '["t2",10]' ]
}

@test "an operator that is not record-wise leaves the reference unsupported, and the delivery is checked" {
    job_manifest tumbling-window
    for s in 0 1; do op_json 2 $s window tumbling-window map '{"program":"."}'; done
    scope_of 3 --checkpoint=3 --out=doc
    [ "$(check)" = "passed " ]
    [ "$(of check | jq -r 'select(.name|startswith("reference"))|"\(.name) \(.status) \(.code)"' | paste -sd,)" = \
        "reference.scope unsupported job-unsupported,reference.capture unsupported job-unsupported,reference.destination unsupported job-unsupported" ]
    [[ $(of check | jq -r 'select(.name=="reference.scope").reason') == *"operator 2 is of type 'tumbling-window'"* ]]
    [ ! -e doc ]
    [ "$(of row | wc -l)" -eq 14 ]
    [ "$(of side | jq .whole)" = true ]
    # Its rows may be of records before.
    log_events 0 2 6 | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    scope_of 3 --checkpoint=3
    [ "$(check)" = "passed " ]
    log_events 0 6 10 | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    for s in 0 1; do op_json 2 $s row-map map map '{"program":"."}'; done
    job_manifest map
    sed -i 's/"type":"clickhouse-sink"/"type":"other-sink"/' job/ha/job-1.json
    for s in 0 1; do op_json 3 $s x other-sink sink '{"url":"http://127.0.0.1:8123","password":"<redacted>"}'; done
    scope_of 3 --checkpoint=3
    [[ $(check) == "unsupported"*"no ClickHouse sink"* ]]
}

@test "without the job's manifest the operators speak for themselves" {
    rm job/ha/job-1.json
    scope_of 0 --checkpoint=3
    [ "$(document | jq .bundle.job_graph_sha256)" = null ]
    for s in 0 1; do op_json 2 $s w session-window map '{}'; done
    scope_of 3 --checkpoint=3
    [ "$(check)" = "passed " ]
    [[ $(of check | jq -r 'select(.name=="reference.scope").reason') == *"'session-window'"* ]]
    rm job/capture/op-2/subtask-*/op.json
    scope_of 3 --checkpoint=3
    unavailable "what the job is made of"
}

@test "keys: a type that cannot be one; one that names two rows is found by whoever compares them" {
    run -0 --separate-stderr "$bin/scope-cut" --checkpoint=3 --key=amount,seen "$all"
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
    { log_events 0 6 9; log_events 0 8 9 | sed 's|orders/0/8|&#1|'; } | capture 3 0 3 a1 4
    interval 0 3 2 a1 4
    scope_of 0 --checkpoint=3
    [ "$(twice)" = "$(jq -c . <<<"${rows//7/8}" | sed 's|orders/0/8"|orders/0/8#1"|')" ]
    [ "$(twice --repeats)" = '["reconcile.rows","passed",""]' ]
    scope_of 0 --checkpoint=3 --repeats
    [ "$(document | jq -c .bundle.repeats)" = true ]
}

@test "a column type that is not compared, and a key of a type that cannot be one, are unsupported by name" {
    columns_json='[{"name":"id","type":"Int64"},{"name":"name","type":"Array(Dynamic)"},{"name":"amount","type":"Decimal(18, 4)"},{"name":"seen","type":"DateTime64(6)","from":"ms"}]'
    local s
    for s in 0 1; do interval $s 1 0 a1 3; done
    scope_of 3 --checkpoint=1
    [[ $(check) == "unsupported"*"'name' is Array(Dynamic)"* ]]
    columns_json=${columns_json/Array(Dynamic)/Nullable(String)}
    for s in 0 1; do interval $s 1 0 a1 3; done
    scope_of 3 --checkpoint=1 --key=name
    [[ $(check) == "unsupported"*"key column 'name' is Nullable(String): a scalar type, no float and not Nullable, is needed"* ]]
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

window_state() { # SUBTASK CHECKPOINT
    local file=job/ckpt/_state/1/v1/$1/checkpoint-$2.snap
    mkdir -p "${file%/*}"
    printf '{"format":"owed-state","version":1,"job":"1","operator":"2","kind":"window","subtask":%s,"checkpoint":%s,"state":{"parameters":{"size_ms":5,"allowed_lateness_ms":0,"partition_by":[],"aggregates":[{"function":"count","as":"n"}]},"watermark":null,"late":0,"windows":[]}}\n' "$1" "$2" >"$file"
    sidecar "$file" "$2"
}

@test "behind a window the sink has a subtask of its own, and the delivery is checked" {
    job_manifest window
    jq -c '(.graph.operators[] | select(.type != "kafka-source")).parallelism = 1' job/ha/job-1.json >manifest
    mv manifest job/ha/job-1.json
    op_json 2 0 window window map '{"program":"."}'
    rm -r job/capture/op-[23]/subtask-1
    for c in job/ckpt/_jobs/1/COMPLETED-*; do
        sed -i 's/^subtasks=.*/subtasks=0,1,2/' "$c"
        window_state 2 "${c##*-}"
    done
    scope_of 3 --checkpoint=3 --out=doc
    [ "$(check)" = "passed " ]
    [ "$(of check | jq -r 'select(.name|startswith("reference"))|"\(.status) \(.code)"' | sort -u)" = "unsupported job-unsupported" ]
    [ ! -e doc ]
    [ "$(document | jq -c '[.bundle.sink.subtasks, [.sources[0].partitions[].partition]]')" = '[[0],[0,1]]' ]
    # The job has ended, and op.json says what its operators were.
    mv job/ha/job-1.json kept
    scope_of 3 --checkpoint=3
    [ "$(check)" = "passed " ]
    [ "$(document | jq -c '[.bundle.sink.subtasks, [.sources[0].partitions[].partition]]')" = '[[0],[0,1]]' ]
    mv kept job/ha/job-1.json
    # A lane where the window stands would be left out of the ranges.
    mv job/ckpt/_state/1/v1/2 kept
    for c in job/ckpt/_jobs/1/COMPLETED-*; do snap 2 "${c##*-}" 0; done
    scope_of 3 --checkpoint=3
    [[ $(check) == "unavailable"*"participant 2 is a lane of the source by its state, and a window by its number"* ]]
    rm -r job/ckpt/_state/1/v1/2
    mv kept job/ckpt/_state/1/v1/2
    # A participant that nothing in the graph is.
    sed -i 's/^subtasks=.*/subtasks=0,1,2,3/' job/ckpt/_jobs/1/COMPLETED-3
    snap 3 3 0
    scope_of 3 --checkpoint=3
    [[ $(check) == "unavailable"*"4 participants, and the job's source has 2 subtasks, beside its window"* ]]
}
