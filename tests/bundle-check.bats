#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bundle-check: refusals before anything is read, every fault in one run, and what each check means.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
load make-job
load stop-at

setup_file() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    make_job "$BATS_FILE_TMPDIR/job"
    pack_job "$BATS_FILE_TMPDIR/job" "$BATS_FILE_TMPDIR/good" >"$BATS_FILE_TMPDIR/packed"
}

setup() {
    bin=${OWED_BIN:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    cp -a "$BATS_FILE_TMPDIR/good" b
}

edit() { # jq program over the manifest
    jq -c "$1" b/manifest.json >m && mv m b/manifest.json
}

# code_of NAME: of a check that did not pass, or with stop the stop's.
code_of() { jq -r --arg n "$1" 'select(.type == $n or (.type == "check" and .name == $n)) | .code' <<<"$output"; }

check_of() { # name: "status reason"
    jq -r --arg n "$1" 'select(.type=="check" and .name==$n) | "\(.status) \(.reason)"' <<<"$output"
}

refused() { # what standard error says
    run -2 --separate-stderr "$bin/bundle-check" b
    [[ $stderr == *"$1"* ]] || { echo "$stderr" >&2; return 1; }
    [ "$(jq -rs '[.[]|select(.type=="check")]|length' <<<"$output")" -eq 0 ]
    [ "$(jq -r 'select(.type=="stop").kind' <<<"$output")" = refused ]
}

@test "a whole bundle passes every check" {
    run -0 --separate-stderr "$bin/bundle-check" b
    [ "$(jq -rs '[.[]|select(.type=="check").status]|unique|.[]' <<<"$output")" = passed ]
    [ "$(jq -rs '[.[]|select(.type=="check")]|length' <<<"$output")" -eq 7 ]
    run -0 --separate-stderr "$bin/bundle-check" --profile=integrity b
    [ "$(jq -rs '[.[]|select(.type=="check").name]|join(" ")' <<<"$output")" = "bundle.manifest bundle.artifacts bundle.completeness" ]
}

@test "a manifest that is none of ours is refused" {
    edit '.format="other"'
    refused "manifest.json.format"
    [ "$(code_of stop)" = manifest-malformed ]
    cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
    edit '.version=2'
    refused "manifest.json.version"
    echo '{' >b/manifest.json
    refused "manifest.json"
    : >b/manifest.json
    refused "manifest.json"
    rm b/manifest.json
    refused "manifest.json"
    [ "$(code_of stop)" = bundle-missing ]
    ln -s "$BATS_FILE_TMPDIR/good/manifest.json" b/manifest.json
    refused "symbolic link"
    [ "$(code_of stop)" = bundle-unsafe ]
    rm b/manifest.json
    mkdir b/manifest.json
    refused "manifest.json"
}

@test "a field of the wrong type refuses by its place" {
    local path
    for path in path role bytes sha256; do
        cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
        edit ".artifacts[3].$path = []"
        refused "manifest.json.artifacts[3].$path"
    done
}

@test "a member given twice refuses" {
    sed -i 's/"version":1,/"version":1,"version":1,/' b/manifest.json
    refused "duplicate"
}

@test "paths that are not plain, leave the evidence directories or look alike refuse" {
    local p
    for p in ../x /etc/passwd checkpoint/../x checkpoint//x checkpoint/./x 'checkpoint/a\\b' checkpoint/ notes.txt checkpoint "checkpoint/a b" \
        "checkpoint/prem\\u00e8re" "checkpoint/a\\u0000b" "checkpoint/$(printf '%04200d' 0)"; do
        cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
        edit ".artifacts[0].path=\"$p\""
        refused "manifest.json.artifacts"
    done
    cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
    edit '.artifacts += [.artifacts[0]]'
    refused "listed twice"
    cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
    edit '.artifacts += [.artifacts[0] | .path |= sub("capture/op";"capture/OP")]'
    refused "other letters' case"
}

@test "a captured epoch not at its path refuses" {
    edit '.captured[0].epoch=6'
    refused "is not where this epoch lies"
    cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
    edit '.captured[0].operator="03"'
    refused "operator id"
}

@test "bounds of the reader: bytes, depth, artifacts" {
    { cat b/manifest.json; head -c 17000000 /dev/zero | tr '\0' ' '; } >m && mv m b/manifest.json
    refused "16777216"
    cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
    sed -i "s/\"delivery\":/\"deep\":$(printf '[%.0s' {1..70})$(printf ']%.0s' {1..70}),&/" b/manifest.json
    refused "manifest.json"
    cp "$BATS_FILE_TMPDIR/good/manifest.json" b/
    edit '.artifacts = [range(100001)|{path:"traces/\(.)",role:"trace",bytes:0,sha256:("0"*64)}]'
    refused "100000"
}

@test "statements that contradict each other fail bundle.manifest" {
    edit '.contains.captures=false | .checkpoint.rule_choice=6 | .artifacts[0].role="marker"'
    run -1 --separate-stderr "$bin/bundle-check" b
    local said
    said=$(check_of bundle.manifest)
    [ "$(code_of bundle.manifest)" = manifest-contradicts ]
    [[ $said == failed* && $said == *captures* && $said == *"chose 6"* && $said == *"cannot be a marker"* ]]
}

@test "every fault of the files is named in one run" {
    rm b/checkpoint/_jobs/1/COMPLETED-1
    echo x >>b/capture/op-3/subtask-0/epoch-7.cap
    truncate -s -1 b/capture/op-3/subtask-1/epoch-7.cap
    printf X | dd of=b/job/manifest.json bs=1 seek=5 conv=notrunc status=none
    echo x >b/capture/notes.txt
    rm b/checkpoint/_jobs/1/COMPLETED-4
    mkdir b/checkpoint/_jobs/1/COMPLETED-4
    ln -s x b/traces
    rm b/checkpoint/_jobs/1/COMPLETED-3
    mkfifo b/checkpoint/_jobs/1/COMPLETED-3
    touch b/capture/.DS_Store b/checkpoint/._x b/report.txt
    run -1 --separate-stderr timeout 60 "$bin/bundle-check" b
    local said
    said=$(check_of bundle.artifacts)
    [ "$(code_of bundle.artifacts)" = artifact-changed ]
    [[ $said == failed* ]]
    [[ $said == *"missing: 'checkpoint/_jobs/1/COMPLETED-1'"* ]]
    [[ $said == *"longer: 'capture/op-3/subtask-0/epoch-7.cap'"* ]]
    [[ $said == *"truncated: 'capture/op-3/subtask-1/epoch-7.cap': expected "*" bytes, got "* ]]
    [[ $said == *"another SHA-256: 'job/manifest.json'"* ]]
    [[ $said == *"unlisted: 'capture/notes.txt'"* ]]
    [[ $said == *"COMPLETED-4' (directory)"* ]]
    [[ $said == *"no regular file: 'traces' (symbolic link)"* ]]
    [ "$(jq -c 'select(.name=="bundle.artifacts").counts|del(.files,.bytes)' <<<"$output")" = '{"missing":1,"changed":5,"unlisted":2,"ignored":3}' ]
    [[ $said == *"COMPLETED-3' (fifo)"* ]]
    [[ $said == *"left out: report.txt; capture/.DS_Store; checkpoint/._x"* ]]
    # What stands behind does not read evidence that changed.
    for c in checkpoint.marker checkpoint.restore_rule checkpoint.participants state.decode; do [[ $(check_of $c) == unavailable* && $(code_of $c) == check-not-passed ]]; done
}

@test "what macOS leaves is no evidence: ignored, and named" {
    touch b/capture/.DS_Store b/job/._manifest.json
    run -0 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of bundle.artifacts) == "passed "*"capture/.DS_Store"*"job/._manifest.json"* ]]
}

@test "what lies at the root beside the manifest and the evidence is named, and fails nothing" {
    echo x >b/report.txt
    mkdir -p b/captures/op-3
    echo x >b/captures/op-3/epoch-1.cap
    run -0 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of bundle.artifacts) == "passed "*"left out: captures (directory); report.txt" ]]
    [ "$(jq -c 'select(.name=="bundle.artifacts").counts.ignored' <<<"$output")" -eq 2 ]
}

@test "completeness: the marker, the sidecars and what the manifest claims" {
    local gone
    for gone in checkpoint/_jobs/1/COMPLETED-7 checkpoint/_state/1/v1/1/checkpoint-7.snap.meta checkpoint/_state/1/v1/0/checkpoint-7.snap \
        job/manifest.json capture/op-3/subtask-0/epoch-7.cap; do
        rm -rf b
        cp -a "$BATS_FILE_TMPDIR/good" b
        rm "b/$gone"
        edit ".artifacts |= map(select(.path != \"$gone\"))"
        run -1 --separate-stderr "$bin/bundle-check" b
        [[ $(check_of bundle.completeness) == "failed "*"$gone"* && $(code_of bundle.completeness) == artifact-not-listed ]]
        [[ $(check_of bundle.artifacts) == passed* ]]
    done
}

relist() { # path: the manifest lists the file as it is now
    edit "(.artifacts[]|select(.path==\"$1\")) |= (.bytes=$(stat -c %s "b/$1") | .sha256=\"$(digest "b/$1")\")"
}

@test "the marker must be of this job, checkpoint, generation and participants" {
    local m=checkpoint/_jobs/1/COMPLETED-7
    printf 'job=2\ncheckpoint=8\ngeneration=2\nsubtasks=0\n' >b/$m
    relist $m
    run -1 --separate-stderr "$bin/bundle-check" b
    local said
    said=$(check_of checkpoint.marker)
    [[ $said == failed*"job '2'"*"checkpoint 8"*"generation 2"*participants* ]]
}

@test "the restore rule is computed again" {
    local r=checkpoint/_jobs/1/RESTORED
    printf 'job=1\ncheckpoint=4\nnext=8\n' >b/$r
    relist $r
    run -1 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of checkpoint.restore_rule) == "failed the rule chooses 4"* && $(code_of checkpoint.restore_rule) == restore-rule-differs ]]
    edit '.checkpoint.named=true | .checkpoint.rule=null | .checkpoint.rule_choice=null'
    run -3 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of checkpoint.restore_rule) == unavailable* && $(code_of checkpoint.restore_rule) == restore-rule-unknown ]]
}

@test "a snapshot that is not its sidecar's fails the participants; and the state, which no restart reads so" {
    local s=checkpoint/_state/1/v1/0/checkpoint-7.snap
    sed -i 's/"offset":17/"offset":18/' b/$s
    relist $s
    run -1 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of checkpoint.participants) == "failed "*CRC32C* ]]
    [[ $(check_of state.decode) == "failed "*CRC32C* ]]
}

@test "no state in the bundle leaves state.decode unavailable" {
    rm -rf b
    "$bin/bundle-pack" --checkpoint-dir="$BATS_FILE_TMPDIR/job/ckpt" --ha-dir="$BATS_FILE_TMPDIR/job/ha" --job=1 --out=b >/dev/null
    run -3 --separate-stderr "$bin/bundle-check" b
    [[ $(check_of state.decode) == unavailable* && $(code_of state.decode) == state-not-collected ]]
    run -0 --separate-stderr "$bin/bundle-check" --profile=integrity b
}

@test "from a stream: the bundle line's manifest and no other" {
    sed "s|$BATS_FILE_TMPDIR/good|b|" "$BATS_FILE_TMPDIR/packed" >in
    run -0 --separate-stderr "$bin/bundle-check" <in
    [ "$(jq -rs '.[0].stages|map(.name)|join(" ")' <<<"$output")" = "bundle-pack bundle-check" ]
    echo >>b/manifest.json
    run -2 --separate-stderr "$bin/bundle-check" <in
    [[ $stderr == *"its manifest is"* ]]
    grep -v '"type":"bundle"' in | sed 's/,"bundle":1//' >none
    run -2 --separate-stderr "$bin/bundle-check" <none
    [[ $stderr == *"no bundle line"* ]]
}

@test "no bundle there: refused by name" {
    run -2 --separate-stderr "$bin/bundle-check" nowhere
    [[ $stderr == *"nowhere"* ]]
    run -2 --separate-stderr "$bin/bundle-check" /etc/passwd
    run -2 --separate-stderr "$bin/bundle-check" b c
    mv b $'b\xff'
    run -2 --separate-stderr "$bin/bundle-check" $'b\xff'
    [ "$(jq -r .type <<<"$output" | paste -sd' ')" = "stream stop end" ]
    [[ $stderr == *"not UTF-8"* ]]
}

@test "a signal in the middle: the last words say so" {
    truncate -s 3M b/capture/zeros
    edit ".artifacts += [{path:\"capture/zeros\",role:\"capture\",bytes:3145728,sha256:\"$(digest b/capture/zeros)\"}]"
    start_stopped /capture/zeros 2 "$bin/bundle-check" b
    kill -TERM "$pid"
    kill -CONT "$pid"
    local got=0
    wait "$pid" || got=$?
    # Inconsistent roles fail the manifest; what was interrupted is not decided.
    [ $got -eq 1 ]
    [ "$(jq -r 'select(.name=="bundle.artifacts").status' stdout)" = unavailable ]
    [ "$(jq -r 'select(.type=="stop").kind' stdout)" = unfinished ]
    [ "$(tail -1 stdout | jq -r .type)" = end ]
}
