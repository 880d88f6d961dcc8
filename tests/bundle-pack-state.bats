#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bundle-pack and state: every form of a participant's checkpoint, state roots elsewhere, stores, traces.
# shellcheck disable=SC2034,SC2154 # make-job uses job; bats sets stderr
bats_require_minimum_version 1.5.0
load make-job

setup_file() {
    make_job "$BATS_FILE_TMPDIR/job"
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    cp -a "$BATS_FILE_TMPDIR/job" job
    job=$PWD/job
    v1=job/ckpt/_state/1/v1
}

nothing_left() { [ -z "$(find . -maxdepth 1 \( -name 'out*' -o -name '.out*' \))" ]; }
of_role() { jq -r --arg r "$1" '.artifacts[] | select(.role == $r).path' out/manifest.json; }
forms() { jq -c '[.selection.participant_state[].form]' out/manifest.json; }
absent() { jq -r '.absent[] | "\(.what): \(.why)"' out/manifest.json; }

whole() { # every listed file is there with its digest, and nothing else
    jq -r '.artifacts[] | "\(.sha256)  \(.path)"' out/manifest.json >sums
    (cd out && sha256sum --quiet -c ../sums)
    [ "$(find out -type f ! -path out/manifest.json | wc -l)" -eq "$(wc -l <sums)" ]
}

# handle LOCATION FILE: one of a changelog.
handle() {
    printf '{"location":"%s","bytes":%s,"sha256":"%s"}' "$1" "$(stat -c %s "$2")" "$(digest "$2")"
}

# changelog SUBTASK CHECKPOINT [HANDLE…]: in place of the snapshot: positions from the materialization, two changes.
changelog() {
    local file=$v1/$1/changelog-$2.snap IFS=,
    rm -f "$v1/$1/checkpoint-$2.snap" "$v1/$1/checkpoint-$2.snap.meta"
    {
        printf '{"format":"owed-changelog","version":1,"job":"1","operator":"1","kind":"kafka-source","subtask":%s,"checkpoint":%s,"materializations":[%s],"changes":2}\n' \
            "$1" "$2" "${*:3}"
        printf '{"put":"positions","value":[{"partition":%s,"offset":17}]}\n{"put":"watermark","value":null}\n' "$1"
    } >"$file"
}

materialization() { # SUBTASK NAME
    mkdir -p "$v1/$1/materializations"
    jq -c . "$v1/$1/checkpoint-6.snap" >"$v1/$1/materializations/$2"
}

rocksdb() { # SUBTASK CHECKPOINT
    rm -f "$v1/$1/checkpoint-$2.snap" "$v1/$1/checkpoint-$2.snap.meta"
    mkdir -p "$v1/$1.cp-$2"
    echo MANIFEST-000005 >"$v1/$1.cp-$2/CURRENT"
    head -c 1000 /dev/urandom >"$v1/$1.cp-$2/000009.sst"
    echo m >"$v1/$1.cp-$2/MANIFEST-000005"
}

@test "a changelog is taken with the files that its handles name" {
    materialization 0 m-1.json
    materialization 0 unused.json
    changelog 0 7 "$(handle 1/v1/0/materializations/m-1.json "$v1/0/materializations/m-1.json")"
    run -0 --separate-stderr pack_job job out
    [ "$(forms)" = '["changelog","file"]' ]
    [ "$(of_role changelog)" = checkpoint/_state/1/v1/0/changelog-7.snap ]
    [ "$(of_role materialization)" = checkpoint/_state/1/v1/0/materializations/m-1.json ]
    whole
    run -0 "$bin/bundle-check" --profile=integrity out
    # Without state nothing of it is taken, and its form is recorded all the same.
    run -0 --separate-stderr "$bin/bundle-pack" --checkpoint-dir=job/ckpt --job=1 --ha-dir=job/ha --out=out2
    [ "$(jq -c '[.selection.participant_state[].form]' out2/manifest.json)" = '["changelog","file"]' ]
    [ "$(jq -c '[.artifacts[] | select(.role == "changelog" or .role == "materialization")]' out2/manifest.json)" = '[]' ]
}

@test "a materialization outside of the root is absent, with why; one that is gone refuses" {
    materialization 0 m-1.json
    mkdir -p job/ckpt/elsewhere/materializations
    cp "$v1/0/materializations/m-1.json" job/ckpt/elsewhere/materializations/
    m=$v1/0/materializations/m-1.json
    changelog 0 7 "$(handle 1/v1/0/materializations/m-1.json "$m")" "$(handle s3://u:hunter2@b/materializations/x "$m")" \
        "$(handle ../elsewhere/materializations/m-1.json "$m")" "$(handle /etc/materializations/passwd "$m")" "$(handle 1/v1/0/m-1.json "$m")"
    run -0 --separate-stderr pack_job job out
    [ "$(of_role materialization)" = checkpoint/_state/1/v1/0/materializations/m-1.json ]
    [ "$(absent | grep -c 'outside of the state root')" -eq 4 ]
    run -1 grep -r hunter2 out/manifest.json
    rm -r out "$m"
    run -1 --separate-stderr pack_job job out
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = participant-missing ]
    [[ $stderr == *materializations/m-1.json* ]]
    nothing_left
}

@test "a damaged changelog is evidence too: taken as it is, and what it names is absent" {
    materialization 0 m-1.json
    changelog 0 7 "$(handle 1/v1/0/materializations/m-1.json "$v1/0/materializations/m-1.json")"
    truncate -s -3 "$v1/0/changelog-7.snap"
    run -0 --separate-stderr pack_job job out
    [ "$(forms)" = '["changelog","file"]' ]
    [[ $(absent) == *"cut in the middle of its last line"* ]]
}

@test "a RocksDB checkpoint is taken with every file of it, at any depth" {
    rocksdb 1 7
    mkdir -p "$v1/1.cp-7/shared/blob"
    echo b >"$v1/1.cp-7/shared/blob/000011.blob"
    run -0 --separate-stderr pack_job job out
    [ "$(forms)" = '["file","rocksdb"]' ]
    [ "$(of_role rocksdb | wc -l)" -eq 4 ]
    of_role rocksdb | grep -qx checkpoint/_state/1/v1/1.cp-7/shared/blob/000011.blob
    whole
    run -0 "$bin/bundle-check" --profile=integrity out
    # Files that are hard links, as RocksDB makes them, are plain files.
    ln "$v1/1.cp-7/000009.sst" "$v1/1.cp-7/000010.sst"
    rm -r out
    run -0 --separate-stderr pack_job job out
    [ "$(of_role rocksdb | wc -l)" -eq 5 ]
    rm -r out "$v1/1.cp-7/CURRENT"
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"holds no CURRENT"* ]]
    nothing_left
}

@test "two checkpoints of one number, and a link or a fifo among a RocksDB checkpoint's files, are refused by name" {
    cp "$v1/1/checkpoint-7.snap" keep
    rocksdb 1 7
    cp keep "$v1/1/checkpoint-7.snap"
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"1.cp-7"*"one of two"* ]]
    rm "$v1/1/checkpoint-7.snap"
    ln -s /etc/passwd "$v1/1.cp-7/000012.sst"
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"1.cp-7/000012.sst"*"symbolic link"* ]]
    rm "$v1/1.cp-7/000012.sst"
    mkfifo "$v1/1.cp-7/000012.sst"
    run -1 --separate-stderr timeout 60 bash -c ". $BATS_TEST_DIRNAME/make-job.bash; bin=$bin; pack_job job out"
    [[ $stderr == *"1.cp-7/000012.sst"*"fifo"* ]]
    nothing_left
}

@test "a state root elsewhere is mirrored, whatever stands before its path" {
    mv job/ckpt/_state elsewhere
    v1=elsewhere/1/v1
    materialization 0 m-1.json
    changelog 0 7 "$(handle "$PWD/elsewhere/1/v1/0/materializations/m-1.json" "$v1/0/materializations/m-1.json")"
    rocksdb 1 7
    for scheme in '' file:// file://localhost rocksdb:// changelog+file://; do
        for c in 1 3 4 6 7; do marker $c; echo "state_root=$scheme$PWD/elsewhere" >>"job/ckpt/_jobs/1/COMPLETED-$c"; done
        run -0 --separate-stderr pack_job job out
        [ "$(jq -r .checkpoint.state_root out/manifest.json)" = checkpoint/_external/1 ]
        [ "$(forms)" = '["changelog","rocksdb"]' ]
        of_role materialization | grep -qx checkpoint/_external/1/1/v1/0/materializations/m-1.json
        of_role rocksdb | grep -qx checkpoint/_external/1/1/v1/1.cp-7/CURRENT
        of_role interval_state | grep -qx checkpoint/_external/1/1/v1/0/checkpoint-6.snap
        whole
        run -0 "$bin/bundle-check" --profile=integrity out
        rm -r out
    done
    rm -r elsewhere
    run -1 --separate-stderr pack_job job out
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = file-missing ]
    nothing_left
}

@test "a root elsewhere may be reached through a link; below it none is followed, and nothing but the job's state is taken" {
    mv job/ckpt/_state elsewhere
    ln -s elsewhere root
    touch elsewhere/notes elsewhere/1/v1/notes elsewhere/1/v1/0/notes
    for c in 1 3 4 6 7; do echo "state_root=$PWD/root" >>"job/ckpt/_jobs/1/COMPLETED-$c"; done
    run -0 --separate-stderr pack_job job out
    [ -f out/checkpoint/_external/1/1/v1/0/checkpoint-7.snap ]
    run -1 grep notes out/manifest.json
    mv elsewhere/1 behind
    ln -s "$PWD/behind" elsewhere/1
    run -1 --separate-stderr pack_job job out2
    [[ $stderr == *"1/v1/0/checkpoint-7.snap"*"symbolic link"* ]]
}

@test "a scope finds its source positions in a mirrored root as in the job's own" {
    run -0 --separate-stderr pack_job job own
    mv job/ckpt/_state elsewhere
    for c in 1 3 4 6 7; do echo "state_root=rocksdb://$PWD/elsewhere/" >>"job/ckpt/_jobs/1/COMPLETED-$c"; done
    run -0 --separate-stderr pack_job job out
    for b in own out; do
        run -0 --separate-stderr "$bin/scope-cut" --checkpoint=7 --key=id $b
        jq -c 'select(.type == "scope").document | del(.scope_sha256)' <<<"$output" >$b.scope
        [ "$(jq -c '[.sources[].partitions[] | [.from, .to]]' $b.scope)" = '[[15,17],[15,17]]' ]
    done
    cmp own.scope out.scope
    run -0 "$bin/bundle-check" out
}

@test "the checkpoint directory's own root by another name is not mirrored" {
    echo "state_root=file://$PWD/job/ckpt/_state/" >>job/ckpt/_jobs/1/COMPLETED-7
    run -0 --separate-stderr pack_job job out
    [ "$(jq -r .checkpoint.state_root out/manifest.json)" = checkpoint/_state ]
    [ "$(of_role snapshot | head -1)" = checkpoint/_state/1/v1/0/checkpoint-7.snap ]
    # Those of another root are named, never mixed in.
    [[ $(absent) == *"state of checkpoint 6: its marker names another state root"* ]]
}

@test "state in a store is absent, with why; a root that is no root is refused" {
    for root in s3://bucket/state remote+file:///x file://other/x; do
        marker 7
        echo "state_root=$root" >>job/ckpt/_jobs/1/COMPLETED-7
        run -0 --separate-stderr pack_job job out
        [ "$(forms)" = '["remote","remote"]' ]
        [ "$(jq -c '.checkpoint.state_root' out/manifest.json)" = null ]
        [ "$(absent | grep -c 'state of subtask . at checkpoint 7: .*object store')" -eq 2 ]
        [ "$(jq -c '[.contains.state,[.artifacts[].path|select(startswith("checkpoint/_state"))]]' out/manifest.json)" = '[false,[]]' ]
        rm -r out
    done
    for root in relative/x /a/../b file:///a//b //x; do
        marker 7
        echo "state_root=$root" >>job/ckpt/_jobs/1/COMPLETED-7
        run -1 --separate-stderr pack_job job out
        [[ $stderr == *COMPLETED-7*"state root"* ]]
        nothing_left
    done
}

@test "a participant that left nothing is missing, by name" {
    rm "$v1/1/checkpoint-7.snap" "$v1/1/checkpoint-7.snap.meta"
    run -1 --separate-stderr pack_job job out
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = participant-missing ]
    [[ $stderr == *"'_state/1/v1/1/checkpoint-7.snap' is not in '"*"/ckpt'"* ]]
    nothing_left
    mkdir elsewhere
    echo "state_root=$PWD/elsewhere" >>job/ckpt/_jobs/1/COMPLETED-7
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"'1/v1/0/checkpoint-7.snap' is not in '$PWD/elsewhere'"* ]]
}

@test "a named checkpoint stands beside the rule's own choice, in either family" {
    for n in 1 4 6; do cp job/ckpt/_jobs/1/COMPLETED-$n job/ckpt/_jobs/1/CONFIRMED-$n; done
    sed -i 's/"requires_commit_confirmation":false/"requires_commit_confirmation":true/' job/ha/job-1.json
    run -0 --separate-stderr pack_job job out --checkpoint=3
    [ "$(jq -c '.checkpoint|[.id,.rule,.rule_choice,.named]' out/manifest.json)" = '[3,"confirmed",6,true]' ]
    [ "$(of_role confirmed | wc -l)" -eq 3 ]
    run -1 --separate-stderr pack_job job out2 --commit-confirmation=no
    [[ $stderr == *"the job's manifest says yes"* ]]
    # Passed over: of the confirmed ones too.
    printf 'job=1\ncheckpoint=4\nnext=8\n' >job/ckpt/_jobs/1/RESTORED
    run -0 --separate-stderr pack_job job out2
    [ "$(jq -c '.checkpoint|[.id,.rule_choice,.named]' out2/manifest.json)" = '[4,4,false]' ]
}

@test "traces are one directory's ndjson files; what is not one of them stays" {
    mkdir -p traces/deeper
    echo '{"seq":1}' | tee traces/coordinator.ndjson >traces/worker-1.ndjson
    echo x | tee traces/notes.txt traces/.hidden.ndjson >traces/deeper/x.ndjson
    run -0 --separate-stderr pack_job job out --trace-dir=traces
    [ "$(of_role trace | paste -sd' ')" = "traces/coordinator.ndjson traces/worker-1.ndjson" ]
    [ "$(jq .contains.traces out/manifest.json)" = true ]
    whole
    rm -r out traces/*
    run -0 --separate-stderr pack_job job out --trace-dir=traces
    [[ $(absent) == *"traces: no *.ndjson file"* ]]
    mkfifo traces/a.ndjson
    run -1 --separate-stderr pack_job job out2 --trace-dir=traces
    [[ $stderr == *"'a.ndjson' of --trace-dir"*fifo* ]]
    rm traces/a.ndjson
    echo x >'traces/a b.ndjson'
    run -1 --separate-stderr pack_job job out2 --trace-dir=traces
    [[ $stderr == *"a b.ndjson"* ]]
}
