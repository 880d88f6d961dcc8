#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Bundles that somebody made or damaged to deceive their reader: each case of tests/hostile by its exact status and reason,
# then what only happens while a bundle is being read, and the field's own cases by their numbers.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0

setup_file() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    mkdir "$BATS_FILE_TMPDIR/work"
    "$BATS_TEST_DIRNAME/hostile/run" "$bin/bundle-check" "$BATS_FILE_TMPDIR/work" >"$BATS_FILE_TMPDIR/results" || true
}

setup() {
    here=$BATS_TEST_DIRNAME
    bin=${OWED_BIN:-$(cd "$here/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    mkdir work
}

cases() { # pattern of names (extended), least number: every such case was run and holds
    local names
    names=$(grep -E "^(not )?ok ($1)(: |$)" "$BATS_FILE_TMPDIR/results")
    [ "$(wc -l <<<"$names")" -ge "$2" ] || { echo "too few: $names" >&2; return 1; }
    ! grep '^not ok' <<<"$names" >&2
}

good() { # directory [tag]: a bundle that passes
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here/hostile" python3 -c 'import sys, bundle; bundle.Bundle(*sys.argv[2:]).save(sys.argv[1])' "$@"
}

check_of() { # name: "status reason"
    jq -r --arg n "$1" 'select(.type=="check" and .name==$n) | "\(.status) \(.reason)"' <<<"$output"
}

@test "every field of the manifest mistyped, missing and doubled is refused" {
    cases 'bad-mistyped-.*' 200
    cases 'bad-missing-.*' 40
    cases 'bad-doubled-.*' 40
}

@test "every trick with a path is refused" {
    cases 'bad-path-.*' 30
    cases 'bad-(excluded|captured)-path-.*' 40
    cases 'bad-captured-other-.*' 6
}

@test "a manifest that is none, or past a bound, is refused" { cases 'bad-manifest-.*' 25; }
@test "good bundles pass, each check on its evidence" { cases 'good-.*' 10; }
@test "a byte flipped, appended and cut in every kind of file, and everything else in a file's place" {
    local role
    for role in job_manifest marker confirmed restored sidecar snapshot interval_state run_start capture operator interval trace changelog \
        materialization rocksdb; do
        cases "bad-$role-(byte-flipped|first-byte-flipped|byte-appended|last-byte-cut|half-cut|emptied|is-.*)" 10
    done
}

# bats test_tags=both
@test "state that would take a machine's memory is not supported, and takes none" {
    # The sanitizer's own addresses are more than any limit.
    [ -n "${ASAN_OPTIONS:-}" ] || ulimit -v 1500000
    run -0 "$here/hostile/run" "$bin/bundle-check" work 'unsupported-state-*'
    [[ $output == *"ok unsupported-state-of-many-values"*"ok unsupported-state-named-over-and-over"* ]]
}

@test "links, and what lies there unlisted" {
    cases 'bad-unlisted-.*' 15
    cases 'bad-link-.*' 7
}

@test "nothing that was run failed, and most of what was made is bad" {
    cases '.*' 600
    cases 'bad-.*' 500
    cases '(unavailable|unsupported)-.*' 9
}

@test "a runner of cases that could not fail would show nothing" {
    run -1 "$here/hostile/run" "$(type -P true)" work 'good-*'
    run -1 "$here/hostile/run" "$bin/bundle-check" work 'no-such-case-*'
}

@test "every case has a sentence, and there are enough of them" {
    run -0 "$here/hostile/run" --list
    [ "${#lines[@]}" -ge 60 ]
    run ! grep -vqE '^(good|bad|unavailable|unsupported)-[^ ]+: .{8,}' <<<"$output"
}

# A person who may not read everything: where the tests run as root, the program runs as somebody else.
@test "a directory without permission fails, by name" {
    local as=()
    good b
    chmod 755 . b
    if [ "$(id -u)" -eq 0 ]; then
        cp "$bin/bundle-check" "$BATS_TEST_TMPDIR/program"
        chmod 755 "$BATS_TEST_TMPDIR/program"
        as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        # The way down to here must be open to that somebody.
        "${as[@]}" test -x "$BATS_TEST_TMPDIR" || { mkdir -m 755 "/tmp/owed-perm.$$" && mv b program "/tmp/owed-perm.$$/" && cd "/tmp/owed-perm.$$"; }
    else
        cp "$bin/bundle-check" program
    fi
    chmod 000 b/traces
    run -1 --separate-stderr "${as[@]}" ./program b
    [[ $(check_of bundle.artifacts) == "failed "*"traces/kafka-tail.ndjson': Permission denied"*"cannot be listed in full: 'traces': Permission denied"* ]]
    chmod 755 b/traces
    chmod 000 b/job/manifest.json
    run -1 --separate-stderr "${as[@]}" ./program b
    [[ $(check_of bundle.artifacts) == "failed "*"job/manifest.json': Permission denied"* ]]
    chmod 644 b/job/manifest.json
    chmod 000 b/manifest.json
    run -3 --separate-stderr "${as[@]}" ./program b
    [[ $stderr == *"manifest.json': Permission denied"* ]]
    chmod 644 b/manifest.json
    run -0 --separate-stderr "${as[@]}" ./program b
    rm -rf "/tmp/owed-perm.$$"
}

@test "a file that changes while it is checked fails, and what stands behind is unavailable" {
    local action
    for action in append cut overwrite replace; do
        rm -rf work/b
        run -1 --separate-stderr "$here/hostile/meanwhile" "$bin/bundle-check" work $action
        [[ $(check_of bundle.artifacts) == "failed changed while it was read: 'traces/large.ndjson'"* ]] || { echo "$action: $output" >&2; return 1; }
        [[ $(check_of state.decode) == unavailable* ]]
    done
    rm -rf work/b
    run -0 --separate-stderr "$here/hostile/meanwhile" "$bin/bundle-check" work none
}

@test "a manifest swapped between two good bundles" {
    good a one
    good b two
    run -0 --separate-stderr "$bin/bundle-check" a
    grep -v '"type":"check"' <<<"$output" | sed 's/,"check":7//; s/bundle-check/bundle-pack/' >in
    run -0 --separate-stderr "$bin/bundle-check" b
    run -0 --separate-stderr "$bin/bundle-check" <in
    cp b/manifest.json a/
    run -2 --separate-stderr "$bin/bundle-check" <in
    [[ $stderr == *"its manifest is"*"the stream's bundle line says"* ]]
    run -1 --separate-stderr "$bin/bundle-check" a
    [[ $(check_of bundle.artifacts) == "failed another SHA-256: 'capture/op-3/subtask-0/epoch-7.sink.json'"* ]]
}

@test "D02: links, fifos and devices are named with their kind, and nothing is followed" {
    good b
    ln -s /tmp b/traces/x
    mkfifo b/traces/z
    ln -s /etc/passwd b/traces/y
    [ "$(id -u)" -ne 0 ] || mknod b/traces/w c 1 3
    run -1 --separate-stderr timeout 60 "$bin/bundle-check" b
    local said
    said=$(check_of bundle.artifacts)
    [[ $said == *"no regular file: 'traces/x' (symbolic link)"*"'traces/y' (symbolic link)"*"'traces/z' (fifo)"* ]]
    [ "$(id -u)" -ne 0 ] || [[ $said == *"'traces/w' (device)"* ]]
    mv b/traces/kafka-tail.ndjson elsewhere
    ln -s "$PWD/elsewhere" b/traces/kafka-tail.ndjson
    run -2 --separate-stderr "$bin/bundle-check" b
    [[ $stderr == *"symbolic link on a listed path: 'traces/kafka-tail.ndjson'"* ]]
}

@test "D05: a listed file that is missing fails, all of them in one run" {
    good b
    rm b/traces/kafka-tail.ndjson b/capture/op-3/subtask-0/epoch-7.cap b/checkpoint/_jobs/1/COMPLETED-3
    run -1 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of bundle.artifacts) == "failed missing: 'capture/op-3/subtask-0/epoch-7.cap'; missing: 'checkpoint/_jobs/1/COMPLETED-3'; missing: 'traces/kafka-tail.ndjson'" ]]
    [ "$(jq -c 'select(.name=="bundle.artifacts")|.counts.missing, .evidence' <<<"$output")" = "3
[\"capture/op-3/subtask-0/epoch-7.cap\",\"checkpoint/_jobs/1/COMPLETED-3\",\"traces/kafka-tail.ndjson\"]" ]
}

@test "D06: files that are not listed fail by name; what macOS leaves is named and no evidence" {
    good b
    touch b/capture/._scope.json b/capture/notes.txt b/job/more b/capture/.DS_Store
    run -1 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of bundle.artifacts) == "failed unlisted: 'capture/notes.txt'; unlisted: 'job/more'; not evidence and left out: capture/.DS_Store; capture/._scope.json" ]]
    [ "$(jq -c 'select(.name=="bundle.artifacts").counts|.unlisted,.ignored' <<<"$output" | paste -sd' ')" = "2 2" ]
}

@test "D07: names that look alike, and two digests for one name" {
    cases 'bad-path-nf[cd]' 2
    cases 'bad-listed-(twice|in).*' 3
    cases 'bad-unlisted-name-in-.*' 3
}

# bats test_tags=both
@test "D09: limits are stated, and passing one names it and its value" {
    good b
    truncate -s 2G b/manifest.json
    run -2 --separate-stderr timeout 60 "$bin/bundle-check" b
    [[ $stderr == *16777216* ]]
    cases 'bad-manifest-.*(past|too-many).*' 4
    cases 'bad-manifest-nested-.*' 2
    # A hostile manifest of 16 MB costs memory in proportion to what is legal, not to what it holds.
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here/hostile" python3 -c 'open("b/manifest.json", "wb").write(b"[" + b"0," * 8000000 + b"0]")'
    if [ -z "${ASAN_OPTIONS:-}" ]; then
        run -2 --separate-stderr bash -c "ulimit -v 300000; exec '$bin/bundle-check' b"
        [[ $stderr == *"the bound is 2500000"* ]]
    fi
    # What is there without being listed is named up to a bound and counted past it.
    good c
    (cd c/traces && seq -f 'f%05g' 1200 | xargs touch)
    run -1 --separate-stderr "$bin/bundle-check" c
    [[ $(check_of bundle.artifacts) == *"'traces/f01000'; and 200 more" ]]
    [ "$(jq -c 'select(.name=="bundle.artifacts").counts.unlisted' <<<"$output")" = 1200 ]
}

@test "D10: a file that was cut is told from a good one, with what was expected and what is there" {
    local f=capture/op-3/subtask-0/epoch-7.cap n cut
    good b
    n=$(stat -c %s b/$f)
    for cut in $((n - 1)) $((n / 2)) 0; do
        truncate -s "$cut" b/$f
        run -1 --separate-stderr "$bin/bundle-check" b
        [[ $(check_of bundle.artifacts) == "failed truncated: '$f': expected $n bytes, got $cut" ]]
    done
}

@test "D12: interrupted in the middle: the last words say that it is not finished" {
    local signal
    for signal in term int; do
        rm -rf work/b
        run -3 --separate-stderr "$here/hostile/meanwhile" "$bin/bundle-check" work $signal
        [[ $stderr == "bundle-check: not finished: interrupted by signal "*"is not checked to its end" ]]
        [ "$(jq -r 'select(.type=="stop").kind' <<<"$output")" = unfinished ]
        [[ $(check_of bundle.artifacts) == "unavailable interrupted before every file was checked" ]]
        [[ $(check_of state.decode) == "unavailable the check of the bundle's files did not end" ]]
        [ "$(tail -n 1 <<<"$output" | jq -r .type)" = end ]
        cat <<<"$output" >stream
        run -3 --separate-stderr "$bin/verdict" --profile=integrity <stream
        [[ $output == *"not finished: interrupted by signal"* ]] || { echo "$output" >&2; return 1; }
    done
}
