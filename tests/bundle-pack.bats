#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bundle-pack: what is collected and left out, the choice of checkpoint, refusals with their code, and nothing left behind.
# shellcheck disable=SC2034,SC2154 # make-job uses job; bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load make-job
load stop-at

setup_file() {
    make_job "$BATS_FILE_TMPDIR/job"
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    cp -a "$BATS_FILE_TMPDIR/job" job
    job=$PWD/job
}

nothing_left() {
    [ -z "$(find . -maxdepth 1 \( -name 'out*' -o -name '.out*' \))" ]
}

paths() { jq -r '.artifacts[].path' out/manifest.json; }

@test "a bundle holds the checkpoint's evidence, sizes and digests, sorted" {
    run -0 --separate-stderr pack_job job out
    [ -z "$stderr" ]
    [ "$(jq -c '[.format,.version,.job.id,.checkpoint]' out/manifest.json)" = \
        '["clink-incident-bundle",1,"1",{"id":7,"rule":"completed","rule_choice":7,"named":false,"generation":1,"subtasks":[0,1],"state_root":"checkpoint/_state"}]' ]
    [ "$(paths)" = "$(paths | LC_ALL=C sort)" ]
    jq -r '.artifacts[] | "\(.sha256)  \(.path)"' out/manifest.json >sums
    (cd out && sha256sum --quiet -c ../sums)
    [ "$(find out -type f ! -path out/manifest.json | wc -l)" -eq "$(wc -l <sums)" ]
    [ "$(sha256sum <out/manifest.json | cut -c1-64)" = "$(jq -r 'select(.type=="bundle").manifest_sha256' <<<"$output")" ]
}

@test "the job's manifest loses its credentials on the way" {
    run -0 --separate-stderr pack_job job out
    [ "$(jq -r '.graph.operators[2].parameters.password' out/job/manifest.json)" = '<redacted>' ]
    run -1 grep -r hunter2 out
}

@test "an operator's description loses them too, whoever wrote it; one that is no JSON is refused by name" {
    file=job/capture/op-3/subtask-1/op.json
    jq -c '.parameters = {url: "http://u:hunter2@h", api_key: "hunter3", table: "t"}' $file >described
    mv described $file
    run -0 --separate-stderr pack_job job out
    [ "$(jq -c .parameters out/capture/op-3/subtask-1/op.json)" = '{"url":"http://<redacted>@h","api_key":"<redacted>","table":"t"}' ]
    cmp job/capture/op-3/subtask-0/op.json out/capture/op-3/subtask-0/op.json
    run -0 "$bin/bundle-check" out
    echo '{' >$file
    run -1 --separate-stderr pack_job job out2
    [[ $stderr == *"op-3/subtask-1/op.json"* ]]
}

@test "an operator's program goes as it ran, whatever its words" {
    file=job/capture/op-2/subtask-0/op.json program='{token: .token, url: "http://a:b@h"}'
    jq -c --arg p "$program" '.parameters = {program: $p, password: "hunter2"}' $file >described
    mv described $file
    jq -c --arg p "$program" '(.graph.operators[] | select(.id == "2").parameters) = {program: $p, password: "hunter2"}' job/ha/job-1.json >manifest
    mv manifest job/ha/job-1.json
    run -0 --separate-stderr pack_job job out
    for parameters in "$(jq -c .parameters out/capture/op-2/subtask-0/op.json)" \
        "$(jq -c '.graph.operators[] | select(.id == "2").parameters' out/job/manifest.json)"; do
        [ "$(jq -r .program <<<"$parameters")" = "$program" ]
        [ "$(jq -r .password <<<"$parameters")" = '<redacted>' ]
    done
}

@test "without captures and state, only markers and sidecars; both are named absent" {
    run -0 --separate-stderr "$bin/bundle-pack" --checkpoint-dir=job/ckpt --job=1 --ha-dir=job/ha --out=out
    [ "$(paths | grep -cE 'capture|snap$')" -eq 0 ]
    [ "$(paths | grep -c 'checkpoint-7.snap.meta')" -eq 2 ]
    [ "$(jq -c '[.absent[].what]' out/manifest.json)" = '["state","captures"]' ]
    [ "$(jq -c .contains out/manifest.json)" = '{"job":true,"state":false,"captures":false,"traces":false}' ]
}

@test "the default window is the checkpoint, two barriers after it and what the checkpoint completed" {
    run -0 --separate-stderr pack_job job out --checkpoint=3
    [ "$(jq -c '[.captured[].epoch]|unique' out/manifest.json)" = '[2,3,4,5]' ]
    [ "$(jq -c '.checkpoint|[.id,.named,.rule_choice]' out/manifest.json)" = '[3,true,7]' ]
    # Both ends of every interval: 1 is before 2, 3 after it, 6 after the last; 2 never completed, and 3 starts from it.
    for c in 1 2 3 4 6; do paths | grep -q "/0/checkpoint-$c.snap\$"; done
}

@test "the window reaches the first epoch of a run restored from the checkpoint, with its start" {
    run -0 --separate-stderr pack_job job out --checkpoint=4
    [ "$(jq -c '[.captured[].epoch]|unique' out/manifest.json)" = '[4,5,6,7]' ]
    [ "$(jq -r '.artifacts[]|select(.role=="run_start").path' out/manifest.json | head -1)" = checkpoint/_state/1/v1/0/start-6.snap ]
}

@test "--operator and --epochs choose captures; what they leave out is listed" {
    run -0 --separate-stderr pack_job job out --operator=3 --epochs=2-3
    [ "$(jq -c '[.captured[]|[.operator,.epoch]]|unique' out/manifest.json)" = '[["3",2],["3",3]]' ]
    jq -r '.selection.excluded[]|.path' out/manifest.json | grep -q op-2/subtask-0/epoch-2.cap
}

@test "the rule comes from the job's manifest, or from --commit-confirmation, or is not guessed" {
    rm job/ha/job-1.json
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"--commit-confirmation"* ]]
    nothing_left
    run -0 --separate-stderr pack_job job out --commit-confirmation=no
    [ "$(jq -r '.absent[0].what' out/manifest.json)" = job/manifest.json ]
    run -1 --separate-stderr pack_job job out2 --commit-confirmation=yes
    [[ $stderr == *"no confirmed checkpoint"* ]]
    run -0 --separate-stderr pack_job job out2 --checkpoint=6
    [ "$(jq -c '.checkpoint|[.rule,.rule_choice]' out2/manifest.json)" = '[null,null]' ]
}

@test "what the restore record passes over is not chosen" {
    printf 'job=1\ncheckpoint=4\nnext=8\n' >job/ckpt/_jobs/1/RESTORED
    run -0 --separate-stderr pack_job job out
    [ "$(jq .checkpoint.id out/manifest.json)" -eq 4 ]
}

@test "a name that is no marker is none" {
    echo x >job/ckpt/_jobs/1/COMPLETED-99.tmp
    echo x >job/ckpt/_jobs/1/.COMPLETED-98.tmp-7
    run -0 --separate-stderr pack_job job out
    [ "$(jq .checkpoint.id out/manifest.json)" -eq 7 ]
    [ "$(paths | grep -c 'COMPLETED-9')" -eq 0 ]
}

@test "a checkpoint without a marker, or none at all, has a code of its own" {
    run -1 --separate-stderr pack_job job out --checkpoint=99
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = checkpoint-not-completed ]
    rm job/ckpt/_jobs/1/COMPLETED-*
    run -1 --separate-stderr pack_job job out
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = checkpoint-not-completed ]
    nothing_left
}

@test "a sidecar that the checkpoint needs and that is not there refuses the collection" {
    rm job/ckpt/_state/1/v1/1/checkpoint-7.snap.meta
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"checkpoint-7.snap.meta"* ]]
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = participant-missing ]
    [ "$(jq -c 'select(.type=="stop")|has("refusal")' <<<"$output")" = false ]
    nothing_left
}

@test "a snapshot that retention removed is absent, with why" {
    rm job/ckpt/_state/1/v1/0/checkpoint-6.snap
    run -0 --separate-stderr pack_job job out
    [ "$(jq -r '.absent[0].what' out/manifest.json)" = checkpoint/_state/1/v1/0/checkpoint-6.snap ]
}

@test "bounds: what is needed refuses, captures are left out" {
    run -1 --separate-stderr pack_job job out --max-files=3
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = bound-passed ]
    nothing_left
    run -0 --separate-stderr pack_job job out --max-files=12
    [ "$(jq '.artifacts|length' out/manifest.json)" -eq 12 ]
    [ "$(jq '[.selection.excluded[]|select(.why=="past --max-files")]|length' out/manifest.json)" -gt 0 ]
}

@test "a link in the input is refused by name and not followed" {
    echo secret >elsewhere.txt
    ln -s "$PWD/elsewhere.txt" job/capture/op-3/subtask-0/epoch-9.cap
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"op-3/subtask-0/epoch-9.cap"*"symbolic link"* ]]
    rm job/capture/op-3/subtask-0/epoch-9.cap
    mv job/capture/op-3/subtask-1 elsewhere
    ln -s ../../../elsewhere job/capture/op-3/subtask-1
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"symbolic link"* ]]
    rm job/capture/op-3/subtask-1
    mkfifo job/capture/op-3/subtask-0/epoch-9.cap
    run -1 --separate-stderr timeout 60 "$bin/bundle-pack" --checkpoint-dir=job/ckpt --job=1 --ha-dir=job/ha --capture-dir=job/capture \
        --include-captures --out=out
    [[ $stderr == *"fifo"* ]]
    rm job/capture/op-3/subtask-0/epoch-9.cap job/ha/job-1.json
    mkfifo job/ha/job-1.json
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"'job-1.json' is no regular file"* ]]
    nothing_left
}

@test "an --out that is there is never written over" {
    mkdir out
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"is there already"* ]]
    [ -z "$(ls -A out)" ]
    rmdir out
    ln -s nowhere out
    run -1 --separate-stderr pack_job job out
    [ -L out ]
}

@test "a checkpoint that completes in the meantime is a change" {
    start_stopped /epoch-7.cap 1 "$bin/bundle-pack" --checkpoint-dir=job/ckpt --ha-dir=job/ha --capture-dir=job/capture --job=1 \
        --include-state --include-captures --out=out
    cp job/ckpt/_jobs/1/COMPLETED-7 job/ckpt/_jobs/1/COMPLETED-8
    kill -CONT "$pid"
    status=0
    wait "$pid" || status=$?
    output=$(cat stdout)
    [ "$status" -eq 1 ]
    [ "$(jq -r 'select(.type=="stop").code' <<<"$output")" = evidence-moved ]
    nothing_left
}

@test "a signal leaves nothing" {
    start_stopped /epoch-7.cap 1 "$bin/bundle-pack" --checkpoint-dir=job/ckpt --job=1 --ha-dir=job/ha --capture-dir=job/capture \
        --include-captures --out=out
    kill -TERM "$pid"
    kill -CONT "$pid"
    local got=0
    wait "$pid" || got=$?
    [ $got -eq 143 ]
    run cat stderr
    [[ $output == *"interrupted by signal 15"* ]]
    [ ! -s stdout ]
    nothing_left
}

@test "a job's manifest of another job, and one that is no manifest, are refused" {
    sed -i 's/"job":"1"/"job":"2"/' job/ha/job-1.json
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"of job '2', not '1'"* ]]
    echo '{' >job/ha/job-1.json
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"job-1.json"* ]]
    nothing_left
}

@test "bad usage is 2, and still a stream" {
    for args in "" "--job=1 --out=x" "--checkpoint-dir=job/ckpt --job=../x --out=y" "--checkpoint-dir=job/ckpt --job=1 --out=y --epochs=3" \
        "--checkpoint-dir=job/ckpt --job=1 --out=y --epochs=3-2" "--checkpoint-dir=job/ckpt --job=1 --out=y --max-files=1x" \
        "--checkpoint-dir=job/ckpt --job=1 --out=y --include-captures" "--checkpoint-dir=job/ckpt --job=1 --out=y --operator=03" \
        "--checkpoint-dir=job/ckpt --job=1 --out=out"$'\xff'; do
        # shellcheck disable=SC2086
        run -2 --separate-stderr "$bin/bundle-pack" $args
        [ "$(jq -r .type <<<"$output" | paste -sd' ')" = "stream stop end" ]
        [ "${#stderr_lines[@]}" -eq 1 ]
    done
    nothing_left
}
