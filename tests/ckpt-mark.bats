#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ckpt-mark and ckpt-plan: markers only for whole checkpoints, retention, the restore rule, numbers never used twice.
bats_require_minimum_version 1.5.0
load stream

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; mkdir -p ckpt/_state/1/v1/0 ckpt/_state/1/v1/1; }

mark() { ckpt-mark --checkpoint-dir=ckpt --job=1 --parallelism=2 "$@"; }
plan() { ckpt-plan --checkpoint-dir=ckpt --job=1 --parallelism=2 "$@"; }
both() { printf '%s,%s' "$(snapshot 0 "$1")" "$(snapshot 1 "$1")"; }

# A restorable snapshot of each participant at a checkpoint.
snapshots() {
    local s body
    for s in 0 1; do
        body='{"format":"owed-state","version":1,"job":"1","operator":"1","kind":"kafka-source","subtask":'$s',"checkpoint":'$1',"log":{"topic":"t","cluster_id":"c","topic_id":"i"},"isolation":"read_committed","positions":[{"partition":'$s',"offset":5}],"declared":['$s'],"watermark":null,"partition_max":[]}'
        printf '%s\n' "$body" >"ckpt/_state/1/v1/$s/checkpoint-$1.snap"
        printf 'clink_checkpoint_meta=1\ncheckpoint_id=%s\npayload_bytes=%s\npayload_sha256=%s\n' "$1" "$((${#body} + 1))" \
            "$(sha256sum <"ckpt/_state/1/v1/$s/checkpoint-$1.snap" | cut -d' ' -f1)" >"ckpt/_state/1/v1/$s/checkpoint-$1.snap.meta"
        printf 'payload_crc32c=%s\n' "$(crc32c "ckpt/_state/1/v1/$s/checkpoint-$1.snap")" >>"ckpt/_state/1/v1/$s/checkpoint-$1.snap.meta"
    done
}

crc32c() {
    python3 - "$1" <<'PY'
import sys
crc = 0xffffffff
for b in open(sys.argv[1], 'rb').read():
    crc ^= b
    for _ in range(8):
        crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
print('%08x' % (crc ^ 0xffffffff))
PY
}

@test "a barrier that every participant stands behind becomes a marker before it goes on" {
    barrier 1 0 "$(both 1)" | whole lane
    run -0 --separate-stderr mark <lane
    [ "$(cat ckpt/_jobs/1/COMPLETED-1)" = $'job=1\ncheckpoint=1\ngeneration=1\nsubtasks=0,1' ]
    [ "$(jq -c 'select(.type == "barrier") | .checkpoint' <<<"$output")" = 1 ]
}

@test "a checkpoint without a participant's snapshot does not complete, and the next one does" {
    { barrier 1 0 "$(snapshot 0 1)"; barrier 2 1 "$(snapshot 1 2)"; barrier 3 2 "$(both 3)"; barrier 4 3 "$(both 4)"; } | whole lane
    run -0 --separate-stderr mark <lane
    [ "$(find ckpt/_jobs/1 -type f -printf '%f\n' | sort | tr '\n' ' ')" = 'COMPLETED-3 COMPLETED-4 ' ]
    [ "$stderr" = $'ckpt-mark: checkpoint 1 does not complete: participant 1 left no snapshot\nckpt-mark: checkpoint 3 completes again' ]
}

@test "a number that has a marker is never completed again" {
    barrier 1 0 "$(both 1)" | whole lane
    run -0 --separate-stderr mark <lane
    run ! mark <lane
}

@test "a cut lane completes nothing behind the cut" {
    { barrier 1 0 "$(both 1)"; barrier 2 1 "$(both 2)"; } | whole lane
    head -c -200 lane | head -n 2 >short
    run -3 --separate-stderr mark <short
    [ "$(ls ckpt/_jobs/1)" = COMPLETED-1 ]
}

@test "a marker that cannot be written stops the job" {
    barrier 1 0 "$(both 1)" | whole lane
    : >ckpt/_jobs
    run -3 --separate-stderr mark <lane
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop end " ]
}

@test "retention removes old snapshots, never markers, and keeps the restore point until the run can stand alone" {
    for n in 1 2 3; do snapshots $n; barrier $n $((n - 1)) "$(both $n)" | whole lane; mark <lane >/dev/null; done
    [ "$(find ckpt/_state/1/v1/0 -name '*.snap' | wc -l)" -eq 2 ]
    [ "$(find ckpt/_jobs/1 -name 'COMPLETED-*' | wc -l)" -eq 3 ]
    run -0 plan
    [[ $output == *"restore=3"*"first_epoch=4"* ]]
    snapshots 4; barrier 4 0 "$(both 4)" | whole lane; mark <lane >/dev/null
    [ -e ckpt/_state/1/v1/0/checkpoint-3.snap ]
    snapshots 5; barrier 5 4 "$(both 5)" | whole lane; mark <lane >/dev/null
    [ ! -e ckpt/_state/1/v1/0/checkpoint-3.snap ]
    [ -e ckpt/_state/1/v1/0/checkpoint-4.snap ]
}

@test "the plan of a first run starts from nothing and leaves no restore record" {
    run -0 plan
    [[ $output == *"restore=0"*"first_epoch=1"* ]]
    [ ! -e ckpt/_jobs/1/RESTORED ]
}

@test "a number that anything on disk names is not used again" {
    snapshots 3
    run -0 plan
    [[ $output == *"restore=0"*"first_epoch=4"* ]]
    [ "$(cat ckpt/_jobs/1/RESTORED)" = $'job=1\ncheckpoint=0\nnext=4' ]
    mkdir -p cap/op-3/subtask-0
    : >cap/op-3/subtask-0/epoch-9.cap
    run -0 plan --capture-dir=cap
    [[ $output == *"first_epoch=10"* ]]
    run -0 plan --capture-dir=cap
    [[ $output == *"first_epoch=10"* ]]
}

@test "what the restore passes over is not restored" {
    for n in 1 2; do snapshots $n; barrier $n $((n - 1)) "$(both $n)" | whole lane; mark <lane >/dev/null; done
    printf 'job=1\ncheckpoint=1\nnext=4\n' >ckpt/_jobs/1/RESTORED
    run -0 plan
    [[ $output == *"restore=1"* ]]
}

@test "where sinks confirm their commits only a confirmed checkpoint is restored, which a collection chooses too" {
    for n in 1 2 3; do snapshots $n; barrier $n $((n - 1)) "$(both $n)" | whole lane; mark --retain=9 <lane >/dev/null; done
    for n in 1 2; do cp ckpt/_jobs/1/COMPLETED-$n ckpt/_jobs/1/CONFIRMED-$n; done
    for given in yes=2 no=3; do
        run -0 bundle-pack --checkpoint-dir=ckpt --job=1 --commit-confirmation=${given%=*} --out="out-${given%=*}"
        [ "$(jq .checkpoint.id "out-${given%=*}/manifest.json")" -eq "${given#*=}" ]
    done
    cp -r ckpt before
    run -0 plan --commit-confirmation=yes
    [[ $output == *"restore=2"* ]]
    rm -r ckpt && mv before ckpt
    run -0 plan --commit-confirmation=no
    [[ $output == *"restore=3"* ]]
    run -2 --separate-stderr plan --commit-confirmation=maybe
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "a restore point with its state in another root is not restored from this one" {
    snapshots 1; barrier 1 0 "$(both 1)" | whole lane; mark <lane >/dev/null
    echo "state_root=/elsewhere" >>ckpt/_jobs/1/COMPLETED-1
    run -2 --separate-stderr plan
    [[ $stderr == *"root that its marker names"* ]]
    [ ! -e ckpt/_jobs/1/RESTORED ]
}

@test "a restore point that does not fit is refused or unavailable, by name" {
    snapshots 1; barrier 1 0 "$(both 1)" | whole lane; mark <lane >/dev/null
    run -2 --separate-stderr ckpt-plan --checkpoint-dir=ckpt --job=1 --parallelism=3
    [[ $stderr == *"parallelism"* ]]
    printf x >>ckpt/_state/1/v1/0/checkpoint-1.snap
    run ! plan
    rm ckpt/_state/1/v1/0/checkpoint-1.snap
    run -3 --separate-stderr plan
    [[ $stderr == *checkpoint-1.snap* ]]
}

@test "usage" {
    run -2 --separate-stderr ckpt-mark --checkpoint-dir=ckpt
    run -2 --separate-stderr mark --retain=0
    run -2 --separate-stderr ckpt-plan --job=../x --checkpoint-dir=ckpt --parallelism=1
    [ "${#stderr_lines[@]}" -eq 1 ]
}
