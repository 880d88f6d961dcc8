#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# pipelines/job before anything runs: a spec or a directory that will not do is said in one line, and nothing is left.
# shellcheck disable=SC2154,SC2028  # bats sets stderr; the text is a script
bats_require_minimum_version 1.5.0
load stream

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    root=$BATS_TEST_DIRNAME/..
    good='{"job":"1","source":{"bootstrap":"127.0.0.1:1","topic":"orders"},"operators":[{"type":"map","program":"."}],
        "sink":{"url":"http://127.0.0.1:1","database":"shop","table":"orders"}}'
}

job() { "$root/pipelines/job" --spec=spec.json --dir=dir "$@"; }

# refused FILTER PATTERN: the spec changed so is refused, in one line that says what and repeats no value.
refused() {
    jq "$1" <<<"$good" >spec.json
    run -2 --separate-stderr job
    # shellcheck disable=SC2254  # a pattern
    case $stderr in $2) ;; *) echo "$1: $stderr" >&2; return 1 ;; esac
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [[ $stderr != *hunter2* ]]
    [ ! -e dir ]
}

@test "a spec's members are those that a job has, each of its kind" {
    refused 'del(.job)' '*does not name its job'
    refused 'del(.source.topic)' '*does not name its source.topic'
    refused 'del(.sink.url)' '*does not name its sink.url'
    refused '.job = "../../up"' '*job is no job id*'
    refused '.job = "a\"b"' '*job is no job id*'
    refused '.job = 7' '*job is no text'
    refused '.source.topic = ["a"]' '*source.topic is no text'
    refused '.sink.table = ""' '*sink.table is empty'
    refused '.sink.table = "a\n"' '*sink.table holds a control character'
    refused '.sink.from = {"a\nb": "ms"}' '*sink.from names a column that holds a control character'
    refused '.sink.batch_rows = 1.5' '*sink.batch_rows is no whole number'
    refused '.checkpoint.interval_ms = "1"' '*checkpoint.interval_ms is no whole number'
    refused '.checkpoint = []' '*checkpoint is no object'
    refused '.chekpoint = {}' '*"chekpoint" is no member of a spec'
    refused '.operators = {}' '*operators is no list'
    refused '.operators = []' '*operators names none'
    refused '.operators[0] = {type: "map"}' '*operators\[0\]: a map names one of program and program_file'
    refused '.operators[0].program_file = "x"' '*operators\[0\]: a map names one of program and program_file'
    refused '.operators[0].size = 1' '*operators\[0\]."size" is no member of a spec'
    refused '.operators[0].type = "hunter2"' '*operators\[0\].type is no operator that is known here (map, window)'
    refused 'del(.operators[0].type)' '*operators\[0\].type is no operator that is known here (map, window)'
    refused '.operators = [{type: "window", size_ms: 1, aggregates: [{}]}]' '*operators\[0\]: a window takes rows, and a source gives records*'
    refused '.operators += [{type: "window", size_ms: "1", aggregates: [{}]}]' '*operators\[1\].size_ms is no whole number'
    refused '.operators += [{type: "window", size_ms: 1, aggregates: []}]' '*operators\[1\].aggregates is empty'
    refused '.operators += [{type: "window", size_ms: 1, aggregates: [1]}]' '*operators\[1\].aggregates holds what is no object'
    refused '.operators += [{type: "window", size_ms: 1, aggregates: [{}], partition_by: [1]}]' '*operators\[1\].partition_by names a column that is no text'
    refused '.operators += [{type: "window", aggregates: [{}]}]' '*does not name its operators\[1\].size_ms'
    refused '.operators[0].uid = "sink"' '*operators\[0\].uid is the name of another operator'
    refused '.operators += [.operators[0] + {uid: "map"}, .operators[0]] | .operators[0].uid = "map"' '*two of its operators have one uid'
    refused '.operators = ["map"]' '*operators\[0\] is no object'
    refused '[.]' '*it is no object'
}

@test "a program that stands in a file is read once, and what is recorded is what runs" {
    mkdir stages
    for s in cap-tee ch-sink ckpt-mark lane-join row-map; do printf '#!/bin/bash\ncat >/dev/null\n' >stages/$s; done
    printf '#!/bin/bash\nprintf "%%s=%%s\\n" attempt 1-a generation 1 restore 0 first_epoch 1\n' >stages/ckpt-plan
    printf '#!/bin/bash\ncp dir/ha/job-1.json manifest.json\nexit 2\n' >stages/kafka-tail
    chmod +x stages/*
    printf '# ☃\n{id}\n\n' >map.jq
    jq '.operators[0] |= (del(.program) | .program_file = "map.jq" | .numbers = "text")' <<<"$good" >spec.json
    OWED_BIN=$PWD/stages run -2 job --no-capture
    jq -e '. == {program: "# ☃\n{id}\n\n", numbers: "text"}' dir/run/op-2.json
    jq -e '.graph.operators[1].parameters == {program: "# ☃\n{id}\n\n", numbers: "text"} and .graph.edges == [["1","2"],["2","3"]]' manifest.json
    printf '{a: "\377"}' >map.jq
    run -2 --separate-stderr job
    [[ $stderr == *"'map.jq' is not UTF-8"* ]]
    rm map.jq
    run -2 --separate-stderr job
    [[ $stderr == *"cannot read the program 'map.jq'"* ]]
}

# A program's default, as its usage text has it.
says() { # PROGRAM OPTION VALUE
    "$root/bin/$1" --help | grep -A2 -- "--$2=" | grep -q "($3[);]" || { echo "$1 --$2 has another default than $3" >&2; return 1; }
}

@test "what a spec leaves to the programs is said to them, and stands in the manifest" {
    mkdir stages
    for s in cap-tee row-map ch-sink ckpt-mark lane-join; do
        # shellcheck disable=SC2016
        printf '#!/bin/bash\nprintf "%%s\\n" "$@" >"${0##*/}.called"\nfor a; do [ ! -p "$a" ] || cat "$a"; done; cat >/dev/null\n' >stages/$s
    done
    printf '#!/bin/bash\nprintf "%%s=%%s\\n" attempt 1-a generation 1 restore 0 first_epoch 1\n' >stages/ckpt-plan
    # shellcheck disable=SC2016
    printf '#!/bin/bash\nprintf "%%s\\n" "$@" >kafka-tail.called\ncp dir/ha/job-1.json manifest.json
        for a; do case $a in --lane=*) : >"${a#*=}" ;; esac; done
        for s in row-map ch-sink ckpt-mark; do until [ -s $s.called ]; do sleep 0.01; done; done; exit 2\n' >stages/kafka-tail
    chmod +x stages/*
    jq '.source.idle_ms = null | .sink.batch_ms = 7' <<<"$good" >spec.json
    OWED_BIN=$PWD/stages run -2 timeout 60 "$root/pipelines/job" --spec=spec.json --dir=dir --no-capture
    jq -e '[.graph.operators[].parameters] == [
        {isolation: "read_committed", watermark_lag_ms: 0, idle_ms: 1000, bootstrap: "127.0.0.1:1", topic: "orders"},
        {numbers: "double", program: "."},
        {batch_rows: 1000, batch_ms: 7, url: "http://127.0.0.1:1", database: "shop", table: "orders"}]
        and [.checkpoint_interval_ms, .retain] == [1000, 2]' manifest.json
    while read -r program option value; do
        says "$program" "$option" "$value"
        grep -qxF -- "--$option=$value" "$program.called" || { echo "$program was not told --$option=$value" >&2; return 1; }
    done <<'DEFAULTS'
kafka-tail isolation read_committed
kafka-tail watermark-lag-ms 0
kafka-tail idle-ms 1000
kafka-tail interval-ms 1000
ch-sink batch-rows 1000
ckpt-mark retain 2
DEFAULTS
    says ch-sink batch-ms 500
    grep -qxF -- --batch-ms=7 ch-sink.called
    "$root/bin/row-map" --help | grep -q -- 'double (the default)'
}

@test "the page names each member that a spec can have, and its example is one" {
    { echo job name capture_records source operators sink checkpoint
        jq -rn "$(sed -n '/^def parts:/,/;$/p; /^def operators:/,/;$/p' "$root/pipelines/job-spec.jq") parts, operators | .[][0] | keys[]"; } | tr ' ' '\n' | sort -u >members
    [ "$(wc -l <members)" -ge 30 ]
    while read -r member; do grep -qE "^\.(It )?Ql .*\b$member\b" "$root/man/owed-job.5" || { echo "not on the page: $member" >&2; return 1; }; done <members
    sed -n '/^\.Bd/,/^\.Ed/{/^\./d;p}' "$root/man/owed-job.5" >spec.json
    [ -z "$(jq -rs -f "$root/pipelines/job-spec.jq" spec.json)" ]
}

@test "a credential has no place in a spec, and none is repeated or kept" {
    refused '.sink.password = "hunter2"' '*sink."password" is no member of a spec'
    refused '.source["sasl.password"] = "hunter2"' '*source."sasl.password" is no member of a spec'
    refused '.sink.url = "http://u:hunter2@h/"' '*sink.url holds an @*'
}

@test "what is no one JSON document is refused" {
    for text in '' '{' "$good$good" '{"job":"1","job":"2"}'; do
        printf '%s' "$text" >spec.json
        run -2 --separate-stderr job
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
    done
    jq -c . <<<"$good" | sed 's/^{/{"sink":{"user":"x"},/' >spec.json
    run -2 --separate-stderr job
    [[ $stderr == *'two members of one name' ]]
    run -2 --separate-stderr "$root/pipelines/job" --spec=. --dir=dir
    run -2 --separate-stderr "$root/pipelines/job" --spec=none --dir=dir
    [ ! -e dir ]
}

@test "a directory that cannot be written is 3, in one line" {
    echo "$good" >spec.json
    : >dir
    run -3 --separate-stderr job
    [ "$stderr" = "job: cannot make the job's directories in './dir'" ]
    rm dir
    mkdir -p dir/lock
    run -3 --separate-stderr job
    [ "$stderr" = "job: cannot write in './dir'" ]
}

@test "names with quotes, blanks and signs of the shell reach the stages as they are" {
    mkdir stages
    # Stand-ins that tell what they were called with. kafka-tail opens its lane, lane-join its lane, and once all have told it is
    # refused.
    for s in cap-tee row-map ch-sink ckpt-mark lane-join kafka-tail; do
        # shellcheck disable=SC2016
        { echo '#!/bin/bash'; echo 'printf "%s\n" "$@" >"$CALLED/${0##*/}"'; } >stages/$s
    done
    # shellcheck disable=SC2016
    echo 'for a; do [[ $a == --* ]] || cat "$a"; done' >>stages/lane-join
    # shellcheck disable=SC2016
    echo 'for a; do case $a in --lane=*) : >"${a#*=}" ;; esac; done
        for s in cap-tee row-map ch-sink ckpt-mark lane-join; do until [ -s "$CALLED/$s" ]; do sleep 0.01; done; done; exit 2' >>stages/kafka-tail
    printf '#!/bin/bash\nprintf "%%s=%%s\\n" attempt 1-a generation 1 restore 0 first_epoch 1\n' >stages/ckpt-plan
    chmod +x stages/*
    # shellcheck disable=SC2016
    odd='it'\''s a "t`able`" $(touch ran) \ %n ☃ *'
    jq --arg odd "$odd" '.sink.table = $odd | .sink.database = $odd | .sink.from = {($odd): "ms"} | .operators[0].program = $odd + "\n.\n"
        | .sink.password_file = $odd | .checkpoint.interval_ms = 0' <<<"$good" >spec.json
    CALLED=$PWD OWED_BIN=$PWD/stages run -2 job
    grep -qxF -- "--table=$odd" ch-sink
    grep -qxF -- "--database=$odd" ch-sink
    grep -qxF -- "--from=$odd:ms" ch-sink
    grep -qxF -- "--password-file=$odd" ch-sink
    grep -qxF -- --parameters=./dir/run/op-2.json row-map
    jq -e --arg odd "$odd" '. == {program: ($odd + "\n.\n"), numbers: "double"}' dir/run/op-2.json
    grep -qx -- --interval-ms=0 kafka-tail
    for s in cap-tee row-map ch-sink ckpt-mark lane-join kafka-tail; do
        grep -qxF -- --trace-dir=./dir/traces $s && grep -qxF -- --attempt=1-a $s
    done
    [ ! -e ran ]
    [ "$(jq -r .status dir/ha/job-1.status.json)" = refused ]
}

# What the programs make of an operator's parameters on standard input, which takes credentials out by their names.
described() {
    cat >given.json
    rm -rf cap
    { echo "$head"; end_of stream 1; } |
        cap-tee --capture-dir=cap --job=1 --operator=3 --subtask=0 --attempt=a --parameters=given.json >/dev/null
    jq -cS .parameters cap/op-3/subtask-0/op.json
}

@test "a manifest's parameters are all that a spec can hold but what the programs take for a credential" {
    # Every member of the spec's own table, with a value of its kind.
    { sed -n '/^def parts:/,/;$/p; /^def operators:/,/;$/p' "$root/pipelines/job-spec.jq"
        echo '{text: "x", count: 7, program: ".", url: "http://127.0.0.1:1", units: {seen: "ms"}, uid: "first",
                    names: ["x"], objects: [{function: "count", as: "n"}]} as $value
            | parts | map_values(.[0] | map_values($value[.])) | {job: "1", source, sink, checkpoint,
                operators: [operators | .map, .window | .[0] | map_values($value[.])]}
            | .operators[0] |= (.type = "map" | del(.program_file)) | .operators[1] |= (.type = "window" | .uid = "second")'; } >fill.jq
    jq -n -f fill.jq >spec.json
    [ "$(jq '[.source, .operators[0], .sink | keys[]] | length' spec.json)" -ge 15 ]
    mkdir stages
    # Stand-ins: the manifest is gone when the job has ended.
    for s in cap-tee row-map row-window ch-sink ckpt-mark lane-join; do printf '#!/bin/bash\ncat >/dev/null\n' >stages/$s; done
    printf '#!/bin/bash\nprintf "%%s=%%s\\n" attempt 1-a generation 1 restore 0 first_epoch 1\n' >stages/ckpt-plan
    printf '#!/bin/bash\ncp dir/ha/job-1.json manifest.json\nexit 2\n' >stages/kafka-tail
    chmod +x stages/*
    OWED_BIN=$PWD/stages run -2 job --no-capture
    for part in source first second sink; do
        jq --arg n "$part" '.[$n] // (.operators[] | select(.uid == $n) | del(.type, .uid))' spec.json >"$part.given"
        described <"$part.given" >"$part"
        jq -cS 'with_entries(select(.value != "<redacted>"))' "$part" >"$part.clean"
        diff "$part.clean" <(jq -cS --arg n "$part" '.graph.operators[] | select(.uid == $n).parameters' manifest.json)
    done
    [ "$(jq -c 'with_entries(select(.value == "<redacted>")) | keys' sink)" = '["password_env","password_file"]' ]
    diff sink.clean <(jq -cS . dir/run/op-4.json)
}
