#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Evidence, bundles and what an audit keeps hold records: nobody else reads them, whatever the user's mask, unless --mode says so.
# shellcheck disable=SC2154  # bats sets output and stderr
bats_require_minimum_version 1.5.0
load make-job

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    umask 022
    root=$BATS_TEST_DIRNAME/..
    events=$root/fixtures/reference/events.ndjson
}

# each_is FILES DIRECTORIES PATH…: all that lies there and below.
each_is() {
    local found
    found=$(find "${@:3}" \( -type f ! -perm "$1" -o -type d ! -perm "$2" \) -printf '%m %p\n')
    [ -z "$found" ] || { echo "$found" >&2; return 1; }
}

# barriers [--mode=…]: a barrier through the stages that leave evidence of it.
barriers() {
    { event 1; barrier 1 0 "$(snapshot 0 1)"; } | whole lane
    mkdir -m 755 job
    cap-tee "$@" --capture-dir=job/capture --job=1 --operator=3 --subtask=0 --attempt=a <lane >teed
    ckpt-mark "$@" --checkpoint-dir=job/ckpt --job=1 --parallelism=1 <lane >marked
    { echo '{"type":"event","at":"t/0/1","ts":1,"values":{"status":"a","amount":1}}'; barrier 1 0; } | whole lane
    row-window "$@" --parameters="$root/fixtures/lane/window.json" --checkpoint-dir=job/ckpt --job=1 --operator=3 --participant=1 <lane >windowed
}

@test "a job's evidence is its owner's, and by --mode a group's" {
    barriers
    each_is 600 700 job/capture job/ckpt
    rm -r job
    barriers --mode=0640
    each_is 640 750 job/capture job/ckpt
    rm -r job
    barriers --mode=664
    each_is 664 775 job/capture job/ckpt
    rm -r job
    make_job job
    rm job/ckpt/_jobs/1/RESTORED
    ckpt-plan --mode=0640 --checkpoint-dir=job/ckpt --job=1 --parallelism=2 >plan
    each_is 640 755 job/ckpt/_jobs/1/RESTORED
}

@test "a bundle, and what is written beside a stream" {
    make_job job
    bundle-pack --checkpoint-dir=job/ckpt --capture-dir=job/capture --job=1 --commit-confirmation=no --include-state --include-captures --out=b >packed
    each_is 600 700 b
    bundle-pack --mode=0640 --checkpoint-dir=job/ckpt --capture-dir=job/capture --job=1 --commit-confirmation=no --include-state --include-captures --out=g >packed
    each_is 640 750 g
    run ! grep -q '"stop"' packed
    epoch-freeze --op=2 --subtask=0 --epoch=7 --out=case b >froze
    each_is 600 700 case
    epoch-freeze --mode=0640 --op=2 --subtask=0 --epoch=7 --out=shared b >froze
    each_is 640 750 shared
    scope-cut --key=id --out=scope --expected-out=rows b >stream || [ $? -eq 3 ]
    ref-seal --reference-name=orders --out=artifact <"$events" >sealed || [ $? -eq 3 ]
    verdict --report=report <sealed >text || [ $? -le 3 ]
    each_is 600 700 scope rows artifact report
    ref-seal --mode=0644 --reference-name=orders --out=artifact <"$events" >sealed || [ $? -eq 3 ]
    each_is 644 755 artifact
}

@test "a mode that is none, or keeps its owner out, is refused" {
    for mode in '' 0440 0755 888 rw 0600x 1600 -1; do
        run -2 --separate-stderr ref-seal --mode="$mode" --reference-name=orders --out=artifact <"$events"
        [[ $stderr == *--mode* ]]
        [ ! -e artifact ]
    done
}

@test "the program that ref-run runs has the user's mask" {
    umask 027
    run -0 --separate-stderr ref-run -- sh -c 'umask >mask; cat' <"$root/fixtures/reference/records.ndjson"
    [ "$(cat mask)" = 0027 ]
}

@test "the workflows hand the mode on" {
    run -2 --separate-stderr "$root/pipelines/job" --spec=x --dir=y --mode=755
    [[ $stderr == *--mode* ]]
    run -2 --separate-stderr "$root/pipelines/audit" --bundle=b --key=id --url=http://127.0.0.1:1 --mode=755
    [[ $stderr == *--mode* ]]
    make_job job
    bundle-pack --checkpoint-dir=job/ckpt --capture-dir=job/capture --job=1 --commit-confirmation=no --include-state --include-captures --out=b >packed
    run "$root/pipelines/audit" --bundle=b --key=id --url=http://127.0.0.1:1 --out=kept
    each_is 600 700 kept
    run "$root/pipelines/audit" --bundle=b --key=id --url=http://127.0.0.1:1 --out=shared --mode=0640
    each_is 640 750 shared
}
