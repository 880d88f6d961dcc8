#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bundle-pack against what goes wrong: input that is no plain file, files that change, bounds, signals, full disks, what killed
# collections leave. After each refusal nothing is left.
# shellcheck disable=SC2034,SC2154 # make-job uses job; bats sets stderr
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
    big=job/capture/op-2/subtask-0/epoch-7.cap
}

nothing_left() { [ -z "$(find . -maxdepth 1 \( -name 'out*' -o -name '.out*' \))" ]; }
code() { jq -r 'select(.type=="stop").code' <<<"$output"; }
temp() { find . -maxdepth 1 -name '.out.tmp-*'; }

# Starts a collection that stands still while its big file is being copied.
start_copying() {
    truncate -s +3000000 "$big"
    start_stopped /op-2/subtask-0/epoch-7.cap 3 "$bin/bundle-pack" --checkpoint-dir=job/ckpt --ha-dir=job/ha --capture-dir=job/capture --job=1 \
        --include-state --include-captures --out=out
    [ -s "$(temp)/capture/op-2/subtask-0/epoch-7.cap" ]
}

ended() { # expected status
    local got=0
    wait "$pid" || got=$?
    output=$(cat stdout) stderr=$(cat stderr)
    [ "$got" -eq "$1" ] || { echo "status $got: $stderr" >&2; return 1; }
}

@test "a link anywhere in the input is refused by name: of a file, of a directory, of a marker, of the state's root" {
    echo secret >elsewhere.txt
    mkdir elsewhere
    for at in capture/op-3/subtask-0/epoch-9.cap capture/unknown ckpt/_jobs/1/COMPLETED-9 ckpt/_jobs/1/RESTORED \
        ckpt/_state/1/v1/0/checkpoint-7.snap ckpt/_state/1/v1/0/start-7.snap ha/job-1.json; do
        rm -f "job/$at"
        ln -s "$PWD/elsewhere.txt" "job/$at"
        run -1 --separate-stderr pack_job job out
        [[ $stderr == *"${at##*/}"* ]]
        [ "$(code)" = evidence-malformed ]
        rm -r job
        cp -a "$BATS_FILE_TMPDIR/job" job
    done
    for at in capture/op-3 capture/op-3/subtask-1 ckpt/_jobs ckpt/_jobs/1 ckpt/_state ckpt/_state/1/v1 ckpt/_state/1/v1/1; do
        mv "job/$at" elsewhere/it
        ln -s "$PWD/elsewhere/it" "job/$at"
        run -1 --separate-stderr pack_job job out
        [[ $stderr == *"${at##*/}"*link* ]]
        rm -r job elsewhere/it
        cp -a "$BATS_FILE_TMPDIR/job" job
    done
    nothing_left
}

@test "fifos, sockets and devices are refused by their kind, and opened by nobody" {
    for at in capture/op-3/subtask-0/epoch-9.cap capture/op-3/subtask-2 ckpt/_state/1/v1/0/checkpoint-7.snap ckpt/_jobs/1/COMPLETED-9 \
        ckpt/_jobs/1/RESTORED ha/job-1.json; do
        rm -f "job/$at"
        mkfifo "job/$at"
        run -1 --separate-stderr timeout 60 "$bin/bundle-pack" --checkpoint-dir=job/ckpt --ha-dir=job/ha --capture-dir=job/capture \
            --job=1 --include-state --include-captures --out=out
        [[ $stderr == *"${at##*/}"* ]]
        [[ $stderr == *fifo* || $stderr == *"no regular file"* ]]
        rm -r job
        cp -a "$BATS_FILE_TMPDIR/job" job
    done
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("job/capture/op-3/s")'
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *"op-3/s"*socket* ]]
    nothing_left
}

@test "a name that is no text is said in text, and the refusal stays a stream" {
    mkfifo job/capture/$'x\xff\n'
    run -1 --separate-stderr pack_job job out
    [ "$(iconv -f UTF-8 -t UTF-8 <<<"$output" | jq -r 'select(.type=="stop").reason')" = "'x\xff\x0a' of --capture-dir is no regular file but a fifo" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    nothing_left
}

@test "a hard link is a plain file" {
    ln job/capture/op-3/subtask-0/epoch-7.cap other-name
    run -0 --separate-stderr pack_job job out
}

@test "a name that no manifest may list is refused by name" {
    mkdir -p job/ckpt/_state/1/v1/1.cp-7
    rm job/ckpt/_state/1/v1/1/checkpoint-7.snap*
    touch job/ckpt/_state/1/v1/1.cp-7/CURRENT $'job/ckpt/_state/1/v1/1.cp-7/a\nb'
    run -1 --separate-stderr pack_job job out
    [[ $stderr == *'1.cp-7/a\x0ab'* ]]
    nothing_left
}

@test "a file cut, grown, replaced or removed while it is copied is a change" {
    for how in 'truncate -s 1000000' 'truncate -s +1' 'cp --remove-destination /dev/null' 'touch -d 2001-01-01' rm; do
        start_copying
        # shellcheck disable=SC2086
        $how "$big"
        kill -CONT "$pid"
        ended 1
        [ "$(code)" = evidence-moved ]
        [[ $stderr == *epoch-7.cap* ]]
        nothing_left
        rm -rf job
        cp -a "$BATS_FILE_TMPDIR/job" job
    done
}

@test "a marker that goes, a restart and a confirmation in the meantime are changes" {
    for how in 'rm job/ckpt/_jobs/1/COMPLETED-1' 'cp job/ckpt/_jobs/1/COMPLETED-7 job/ckpt/_jobs/1/CONFIRMED-7' \
        'cp restored job/ckpt/_jobs/1/RESTORED' 'rm job/ckpt/_jobs/1/RESTORED'; do
        printf 'job=1\ncheckpoint=7\nnext=8\n' >restored
        start_copying
        $how
        kill -CONT "$pid"
        ended 1
        [ "$(code)" = evidence-moved ]
        [[ $stderr == *"collect again"* ]]
        nothing_left
        rm -rf job
        cp -a "$BATS_FILE_TMPDIR/job" job
    done
}

@test "what was copied and is replaced afterwards is a change; what retention removes is none" {
    for at in ckpt/_jobs/1/RESTORED ckpt/_state/1/v1/0 ckpt/_state/1/v1/1/checkpoint-6.snap.meta; do
        start_copying
        cp -a "job/$at" again
        mv "job/$at" before
        mv again "job/$at"
        kill -CONT "$pid"
        ended 1
        [ "$(code)" = evidence-moved ]
        [[ $stderr == *"${at#ckpt/}"*"collect again"* ]]
        nothing_left
        rm -r job before
        cp -a "$BATS_FILE_TMPDIR/job" job
    done
    start_copying
    rm job/ckpt/_state/1/v1/0/checkpoint-6.snap*
    kill -CONT "$pid"
    ended 0
    run -0 "$bin/bundle-check" out
}

@test "every signal leaves nothing, and is what the program dies of" {
    for signal in TERM INT HUP PIPE QUIT USR1 RTMIN; do
        start_copying
        kill -s $signal "$pid"
        kill -CONT "$pid"
        ended $((128 + $(kill -l $signal)))
        [ ! -s stdout ]
        nothing_left
        rm -r job
        cp -a "$BATS_FILE_TMPDIR/job" job
    done
}

@test "what a killed collection left goes with the next one of the same --out, which says so" {
    start_copying
    kill -KILL "$pid"
    ended 137
    left=$(temp)
    [ -d "$left" ] && [ ! -e out ]
    rm -r job
    cp -a "$BATS_FILE_TMPDIR/job" job
    run -0 --separate-stderr pack_job job out
    [[ $stderr == *"${left#./}"*"killed, was removed"* ]]
    [ -z "$(temp)" ]
}

@test "a directory that another collection fills, or that is nobody's leavings, is let alone" {
    start_copying
    cp -a "$BATS_FILE_TMPDIR/job" second
    run -0 --separate-stderr pack_job second out
    [[ $stderr == *"$(temp | sed 's|^\./||')"*"another run"* ]]
    kill -CONT "$pid"
    # Two of one --out: one publishes, the other is refused and writes over nothing.
    ended 1
    [[ $stderr == *"is there already"* ]]
    [ -z "$(temp)" ]
    mkdir .out2.tmp-1
    echo mine >.out2.tmp-1/letter
    run -0 --separate-stderr pack_job second out2
    [[ $stderr == *"'.out2.tmp-1'"*"left alone"* ]]
    [ "$(cat .out2.tmp-1/letter)" = mine ]
    ln -s "$PWD/second" .out3.tmp-1
    run -0 --separate-stderr pack_job second out3
    [ -d second/ckpt ]
}

@test "bounds and time, each with its code" {
    run -1 --separate-stderr pack_job job out --max-bytes=100
    [ "$(code)" = bound-passed ]
    run -0 --separate-stderr pack_job job out --max-bytes=6000
    [ "$(jq '[.artifacts[].bytes]|add <= 6000' out/manifest.json)" = true ]
    [ "$(jq '[.selection.excluded[]|select(.why=="past --max-bytes")]|length > 0' out/manifest.json)" = true ]
    rm -r out
    start_copying
    rm -r job
    kill -CONT "$pid"
    ended 1
    cp -a "$BATS_FILE_TMPDIR/job" job
    nothing_left
    truncate -s 60G "$big"
    run -1 --separate-stderr pack_job job out --timeout-s=1 --max-bytes=100G
    [ "$(code)" = time-passed ]
    nothing_left
}

@test "100,001 files: the bundle holds what a manifest may list, the others are counted" {
    mkdir -p many/op-3/subtask-0
    (cd many/op-3/subtask-0 && seq -f 'epoch-%.0f.cap' 1 100001 | xargs touch)
    run -0 --separate-stderr "$bin/bundle-pack" --checkpoint-dir=job/ckpt --ha-dir=job/ha --job=1 --capture-dir=many --include-captures \
        --epochs=1-200000 --max-files=100000 --out=out
    n=$(jq '.artifacts|length' out/manifest.json)
    [ "$(find out -type f ! -name manifest.json | wc -l)" -eq $((n - 1)) ]
    [ "$n" -gt 50000 ] && [ "$n" -le 100000 ]
    [ "$(jq '.selection.excluded|length' out/manifest.json)" -le 1001 ]
    [ "$(stat -c %s out/manifest.json)" -le $((16 << 20)) ]
    [ "$(jq -r '.selection.excluded[-1].why' out/manifest.json)" = "$((100001 - (n - 9) - 1000)) more files past what a manifest may list" ]
    run -0 "$bin/bundle-check" --profile=integrity out
}

@test "a disk that is full, a limit on a file's size and a directory that may not be written leave nothing" {
    truncate -s +30000000 "$big"
    run -1 --separate-stderr bash -c "ulimit -f 10000; . '$BATS_TEST_DIRNAME/make-job.bash'; bin='$bin'; pack_job job out"
    [ "$(code)" = io-failed ]
    [[ $stderr == *epoch-7.cap* ]]
    nothing_left
    unshare -rm true 2>/dev/null || skip "no user namespace to mount a small file system in"
    mkdir small
    # shellcheck disable=SC2016
    run -0 --separate-stderr unshare -rm bash -c '
        mount -t tmpfs -o size=8m none small || exit 9
        . "$1/make-job.bash"; bin=$2
        pack_job job small/out >stdout 2>stderr && exit 8
        [ -z "$(ls -A small)" ] && [ "$(df --output=used small | tail -n 1)" -eq 0 ] || exit 7
        mount -o remount,ro small || exit 6
        pack_job job small/out >stdout2 2>stderr2 && exit 5
        exit 0' _ "$BATS_TEST_DIRNAME" "$bin"
    [ "$(jq -r 'select(.type=="stop").code' stdout)" = space-full ]
    grep -q "No space left on device" stderr
    grep -q "Read-only file system" stderr2
}

@test "without permission: the place, the file or the directory is named" {
    as=()
    chmod 755 .
    if [ "$(id -u)" -eq 0 ]; then
        as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        chown -R 65534:65534 job
        install -d -o 65534 -g 65534 mine
        "${as[@]}" test -r job/ha/job-1.json -a -x "$bin/bundle-pack" || skip "another user cannot reach the test's files"
    else
        mkdir mine
    fi
    pack_as() { "${as[@]}" "$bin/bundle-pack" --checkpoint-dir=job/ckpt --ha-dir=job/ha --capture-dir=job/capture --job=1 --include-state \
        --include-captures --out="$1"; }
    chmod 000 job/capture/op-3/subtask-0/epoch-7.cap
    run -1 --separate-stderr pack_as mine/out
    [[ $stderr == *"op-3/subtask-0/epoch-7.cap"*"Permission denied"* ]]
    chmod 644 job/capture/op-3/subtask-0/epoch-7.cap
    chmod 000 job/capture/op-3/subtask-1
    run -1 --separate-stderr pack_as mine/out
    [[ $stderr == *"op-3/subtask-1"*"Permission denied"* ]]
    chmod 755 job/capture/op-3/subtask-1
    chmod 555 mine
    run -1 --separate-stderr pack_as mine/out
    [[ $stderr == *mine*"Permission denied"* ]]
    chmod 755 mine
    [ -z "$(ls -A mine)" ]
    run -0 --separate-stderr pack_as mine/out
}

@test "an --out without a parent, or that names nothing, is refused" {
    for out in nowhere/out / . .. ./ job/..; do
        run -1 --separate-stderr pack_job job "$out"
        [ -n "$stderr" ]
    done
    [ ! -e nowhere ]
    run -0 --separate-stderr pack_job job out///
    [ -e out/manifest.json ]
}
