#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# pipelines/audit without a server: its options and where they go, the status it gives, what it keeps, and running one stage again.
bats_require_minimum_version 1.5.0
load stream

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export OWED_BIN=${OWED_BIN:-$root/bin}
    cd "$root/fixtures" || exit 1
    audit=$root/pipelines/audit
    checkpoint=$(jq -r 'select(.type == "scope") | .document.bundle.checkpoint' the-table-untouched/2-scope-cut.ndjson)
    bundle=(--bundle=incident --checkpoint="$checkpoint" --key=event_id --url=http://127.0.0.1:1)
    declared=(--topic=orders --table=shop.orders --key=event_id --range=ALL --url=http://127.0.0.1:1 --bootstrap=127.0.0.1:1 --stable-wait-s=1 --timeout-ms=500)
    out=$BATS_TEST_TMPDIR/out
}

# ---- options ----

# What a stage takes, as its --help says: --name= where a value follows; --name and -X before the words of a line, where it is none
# of a sentence.
options_of() { # stage
    local help
    help=$("$OWED_BIN/$1" --help)
    {
        grep -oE -- '--[a-z][a-z-]+=' <<<"$help"
        sed -nE '/^(usage:| +-)/{s/([^ ])  +.*/\1/;p}' <<<"$help" | grep -oE -- '(--[a-z][a-z-]+\b|-[XEF] )=?' | grep -v =
    } | tr -d ' ' | grep -vxE -- '--(help|version)' | sort -u
}

# What the audit hands to a stage, as the stage spells it.
handed_to() { # stage
    awk -v stage="$1" '{ for (i = 2; i <= NF; i++) { n = split($i, word, ":"); if (word[1] == stage && (n == 1 || word[2] != "")) print n == 1 ? $1 : word[2] } }' \
        "$BATS_TEST_TMPDIR/table" | sort
}

# The table in lines: an option and its stages.
read_table() {
    local option
    for option in "${!stages_of[@]}"; do printf '%s\n' "$option ${stages_of[$option]}"; done >"$BATS_TEST_TMPDIR/table"
}

chain=(bundle-check scope-cut log-look table-look scope-declare kafka-read ref-run ref-jq ref-seal ref-bind ch-read rows-diff verdict)

@test "every option of a stage is handed on or is the audit's own to say, and none goes to a stage that does not take it" {
    . "$root/pipelines/audit-options.bash"
    read_table
    # The audit names these files, looked at the topic and the table, and knows by an account what of the records is whole.
    declare -A own=([scope-cut]='--out=' [log-look]='--again' [table-look]='--first' [scope-declare]='--column= --first --out= --topic=' [kafka-read]='--scope='
        [ref-run]='--strict' [ref-jq]='--strict --rules= --rules-file=' [ref-seal]='--complete --out= --scope=' [ref-bind]='--reference=')
    for stage in "${chain[@]}"; do
        [ -n "$(handed_to "$stage")" ] || [ "$stage" = bundle-check ]
        diff <(options_of "$stage") <({ handed_to "$stage"; tr ' ' '\n' <<<"${own[$stage]:-}"; } | grep . | sort) || { echo "$stage" >&2; return 1; }
    done
    [ "$(for stage in "${chain[@]}"; do handed_to "$stage"; done | wc -l)" -ge 80 ]
    # log-look --again takes what log-look does, but what names a topic.
    diff <(handed_to log-again) <(handed_to log-look | grep -vxE -e '--(topic|group|since|until)=')
    run -1 grep -vxF "$(printf '%s\n' "${chain[@]}" log-again)" <<<"$(tr ' ' '\n' <<<"${stages_of[*]}" | sed 's/:.*//')"
}

# Stand-ins that leave what they were called with.
stand_ins() {
    mkdir "$BATS_TEST_TMPDIR/stages"
    export CALLED=$BATS_TEST_TMPDIR/called
    mkdir "$CALLED"
    for stage in "${chain[@]}"; do
        # shellcheck disable=SC2016
        printf '#!/bin/bash\nprintf "%%s\\n" "$@" >"$CALLED/${0##*/}"\necho "{\\"type\\":\\"scope\\"}"\n' >"$BATS_TEST_TMPDIR/stages/$stage"
        chmod +x "$BATS_TEST_TMPDIR/stages/$stage"
    done
}

# In the form of $request, whose stages are the arguments: every option reaches all of them that take it, and one of no stage that
# runs is refused. Those of the same stages are refused alike: one of them is given.
routes() { # stage…
    local option word given=() stage text
    local -A refused=()
    for option in "${!stages_of[@]}"; do
        text=$option
        case $option in --mode=) text+=0640 ;; *=) text+="a b" ;; -?) text+="x=a b" ;; esac
        for word in ${stages_of[$option]} none; do
            if [[ " $* " == *" ${word%%:*} "* ]]; then given+=("$text"); break; fi
        done
        [ "$word" != none ] || refused[${stages_of[$option]}]=$text
    done
    rm -f "$CALLED"/*
    OWED_BIN=$BATS_TEST_TMPDIR/stages run -0 "$audit" "${given[@]}" "${request[@]}"
    [ "$(ls "$CALLED")" = "$(printf '%s\n' "$@" | sort)" ]
    for stage; do
        for option in $(handed_to "$stage"); do
            if [ "$option" = --expected-out= ] && [ "$stage" = scope-cut ] && [ -e "$CALLED/ref-bind" ]; then continue; fi
            case $option in --mode=) text=${option}0640 ;; *=) text="${option}a b" ;; -?) text="${option}x=a b" ;; *) text=$option ;; esac
            grep -qxF -- "$text" "$CALLED/$stage" || { echo "$stage did not get $option" >&2; return 1; }
        done
    done
    for text in "${refused[@]}"; do
        run -2 --separate-stderr "$audit" "$text" "${request[@]}"
        case $text in --*) option=${text%%=*} ;; *) option=${text:0:2} ;; esac
        [[ $stderr == "audit: $option is an option of "*": no stage of an audit "* ]] || { echo "$text: $stderr" >&2; return 1; }
    done
}

@test "an option goes to every stage that takes it and runs, and one of a stage that does not run is refused by its name and the form's" {
    . "$root/pipelines/audit-options.bash"
    read_table
    stand_ins
    local judged=(ch-read rows-diff verdict) made=(kafka-read ref-run ref-seal) look=(log-look table-look scope-declare)
    request=(--bundle=b)
    routes bundle-check scope-cut "${judged[@]}"
    request=(--bundle=b --reference=r)
    routes bundle-check scope-cut ref-bind "${judged[@]}"
    request=(--bundle=b --bootstrap=b -- p)
    routes bundle-check scope-cut "${made[@]}" ref-bind "${judged[@]}"
    # The captured rows and the reference's would stand in one file.
    run -1 grep -- --expected-out "$CALLED/scope-cut"
    request=(--topic=t --table=t --bootstrap=b --reference=r)
    routes "${look[@]}" ref-bind "${judged[@]}"
    request=(--topic=t --table=t --bootstrap=b -- p)
    routes "${look[@]}" "${made[@]}" ref-bind "${judged[@]}"
    grep -qx -- '--reference-name=a b' "$CALLED/ref-seal"
    made=(kafka-read ref-jq ref-seal)
    request=(--topic=t --table=t --bootstrap=b --jq="my rules.jq")
    routes "${look[@]}" "${made[@]}" ref-bind "${judged[@]}"
    grep -qx -- '--rules-file=my rules.jq' "$CALLED/ref-jq"
    for other in --reference=r '-- p'; do
        # shellcheck disable=SC2086 # two words
        run -2 --separate-stderr "$audit" "${request[@]}" $other
        [[ $stderr == *"one of them makes the reference" ]]
    done
}

@test "bad usage is 2, on one line, and shows no value" {
    for bad in --nope=hunter2 --password=hunter2 stray --json=hunter2 --settle-ms --payload=hunter2 --url=http://reader:hunter2@127.0.0.1:1 \
        "--url=http://127.0.0.1:1/?password=hunter2"; do
        run -2 --separate-stderr "$audit" "${bundle[@]}" --out="$out" "$bad"
        [ -z "$output" ]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [[ $stderr != *hunter2* ]]
        [ ! -e "$out" ]
    done
    run -2 --separate-stderr "$audit"
    run -2 --separate-stderr "$audit" "${bundle[@]}" -- jq -c .
    [[ $stderr == *"--bootstrap"* ]]
    run -2 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=b --reference=r -- jq
    run -2 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=b --
    run -2 --separate-stderr "$audit" "${declared[@]}"
    [[ $stderr == *"--reference"* ]]
    run -2 --separate-stderr "$audit" "${declared[@]/--bootstrap=*/--job=1}" --reference=r
    run -2 --separate-stderr "$audit" "${bundle[@]}" --topic=t --reference=r
    [ "$stderr" = "audit: --topic is an option of log-look: no stage of an audit of a bundle with a --reference" ]
    run -2 --separate-stderr "$audit" "${bundle[@]}" --range=ALL
    [ "$stderr" = "audit: --range is an option of scope-declare: no stage of an audit of a bundle without a reference" ]
    run -2 --separate-stderr "$audit" "${declared[@]}" --repeats -- jq
    [ "$stderr" = "audit: --repeats is an option of scope-cut: no stage of an audit without a bundle with a program" ]
    run -2 --separate-stderr "$audit" "${bundle[@]}" --out="$BATS_TEST_TMPDIR/o ut"
    [[ $stderr == *"--out"* ]]
}

@test "a value that a stage refuses is refused before anything is written or run, and in the stage's words" {
    for bad in --checkpoint=x --keys-per-query=0 --list=-1 --profile=full --max-line=1; do
        run -2 --separate-stderr "$audit" "${bundle[@]}" --out="$out" "$bad"
        [[ -z $output && $stderr == *-*": ${bad%%=*}"* ]]
        [ "$(wc -l <<<"$stderr")" -eq 1 ]
        [ ! -e "$out" ]
    done
}

@test "a secret among -X or in the URL is refused before anything is written or run" {
    for property in sasl.password SSL.Key.Password ssl.key.pem ssl_key sasl.oauthbearer.client.secret sasl.oauthbearer.config; do
        run -2 --separate-stderr "$audit" "${declared[@]}" --out="$out" -X "$property=hunter2" -- jq -c .
        [[ $stderr$output != *hunter2* ]]
        [[ $stderr == *"$property"*"-F FILE"* ]]
        [ ! -e "$out" ]
        run -2 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=b --out="$out" -X "$property=hunter2" -- jq -c .
        [[ $stderr == *"$property"*"-F FILE"* && $stderr$output != *hunter2* ]]
        [ ! -e "$out" ]
    done
    # Where a secret lies and whose it is are none.
    for property in ssl.key.location sasl.username; do
        run -3 --separate-stderr "$audit" "${declared[@]}" -X "$property=there" -- jq -c .
    done
    for url in http://reader:hunter2@127.0.0.1:1 "http://127.0.0.1:1/?password=hunter2"; do
        run -2 --separate-stderr "$audit" "${declared[@]}" --url="$url" --out="$out" -- jq -c .
        [[ $stderr == *"--password-env"* && $stderr$output != *hunter2* ]]
        [ ! -e "$out" ]
    done
}

# ---- the status ----

@test "without its server the answer is 3, by name, and not a pass" {
    run -3 --separate-stderr "$audit" "${bundle[@]}" --expected-out="$BATS_TEST_TMPDIR/expected" --scope-out="$BATS_TEST_TMPDIR/scope"
    [[ $output == "NOT DECIDED"* ]]
    [[ $output == *"Failed to connect to 127.0.0.1"* ]]
    diff "$BATS_TEST_TMPDIR/expected" <(jq -c 'select(.type == "row" and .side == "captured") | {cells, at}' the-table-untouched/2-scope-cut.ndjson)
    diff <(jq -c . "$BATS_TEST_TMPDIR/scope") <(jq -c 'select(.type == "scope") | .document' the-table-untouched/2-scope-cut.ndjson)
}

@test "without its broker a declared audit is 3, by name, and asks no server" {
    run -3 --separate-stderr timeout 60 "$audit" "${declared[@]}" -- jq -c .
    [[ $output == "NOT DECIDED"* ]]
    [[ $output == *"127.0.0.1:1"* ]]
}

@test "a reference that cannot be opened is 3, by name, and no server is asked" {
    run -3 --separate-stderr "$audit" "${bundle[@]}" --reference="$BATS_TEST_TMPDIR/none"
    [[ $output == "NOT DECIDED"*"cannot open the reference"*"none"* ]]
    [[ $output != *"Failed to connect"* ]]
}

@test "a refusal is 2, with --out too" {
    run -2 --separate-stderr "$audit" "${bundle[@]}" --job=other
    run -2 --separate-stderr "$audit" "${bundle[@]}" --job=other --out="$out"
    [ "$(cat "$out/status")" = 2 ]
}

@test "a bundle that is damaged is 1, and the server is never asked" {
    cp -R incident "$BATS_TEST_TMPDIR/incident"
    cd "$BATS_TEST_TMPDIR" || exit 1
    printf x >>"$(find incident/capture -name '*.cap' | head -n 1)"
    run -1 --separate-stderr "$audit" "${bundle[@]}"
    [[ $output != *"Failed to connect"* ]]
}

@test "a checkpoint that the bundle does not hold is 2, and no record is read" {
    run -2 --separate-stderr "$audit" "${bundle[@]/--checkpoint=*/--checkpoint=999999}" --bootstrap=127.0.0.1:1 -- jq -c .
    [[ $output == REFUSED* ]]
    [[ $output == *999999* ]]
    [[ $stderr != *kafka-read* ]]
}

@test "--expected-out holds what the reference expects" {
    jq -c 'select(.type == "row" and .side == "reference") | {cells, at}' audit/faults-of-the-table-alone/7-ch-read.ndjson >"$BATS_TEST_TMPDIR/want"
    [ -s "$BATS_TEST_TMPDIR/want" ]
    "$OWED_BIN/scope-cut" incident --checkpoint="$checkpoint" --key=event_id --out="$BATS_TEST_TMPDIR/scope.json" >/dev/null
    jq -c '{type: "event", at, values: {event_id: .cells[0], customer: "c", amount: "1", seen: 0, score: 1, note: null}}' "$BATS_TEST_TMPDIR/want" |
        whole "$BATS_TEST_TMPDIR/rows"
    "$OWED_BIN/ref-seal" --complete --reference-name=mine --scope="$BATS_TEST_TMPDIR/scope.json" --out="$BATS_TEST_TMPDIR/reference" \
        <"$BATS_TEST_TMPDIR/rows" >/dev/null
    # The rows are not those of the job, and no server is there.
    run -1 "$audit" "${bundle[@]}" --reference="$BATS_TEST_TMPDIR/reference" --expected-out="$BATS_TEST_TMPDIR/expected"
    diff "$BATS_TEST_TMPDIR/expected" <(sed '1d;$d' "$BATS_TEST_TMPDIR/reference")
    [ "$(wc -l <"$BATS_TEST_TMPDIR/expected")" -eq "$(wc -l <"$BATS_TEST_TMPDIR/want")" ]
}

# ---- what --out keeps ----

@test "with --out every stage's output is kept, and the status is the same" {
    run -3 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    [[ $output == "NOT DECIDED"* ]]
    for f in 1-bundle-check 2-scope-cut 7-ch-read 8-rows-diff; do
        [ "$(tail -n 1 "$out/$f.ndjson" | jq -r .type)" = end ]
    done
    [ "$(cat "$out/status")" = 3 ]
    diff "$out/2-scope-cut.ndjson" the-table-untouched/2-scope-cut.ndjson
}

@test "a stage whose output was removed is run again, and only what stands behind it" {
    run -3 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    cp the-table-untouched/7-ch-read.ndjson "$out/7-ch-read.ndjson"
    rm "$out/8-rows-diff.ndjson"
    run -0 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    [[ $output == PASSED* ]]
}

@test "an answer of before is never given again as one of now" {
    run -3 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    cp the-table-untouched/7-ch-read.ndjson "$out/7-ch-read.ndjson"
    rm "$out/8-rows-diff.ndjson"
    run -0 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    run -2 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    [ -z "$output" ]
    [[ $stderr == *"holds this whole run already"* ]]
    # Another request: what does not fit it is made again.
    run -3 --separate-stderr "$audit" "${bundle[@]}" --user=other --out="$out"
    run -2 --separate-stderr "$audit" "${bundle[@]}" --user=other --job=other --out="$out"
    run -2 --separate-stderr "$audit" "${bundle[@]/incident/incident-gone}" --user=other --job=other --out="$out"
    [[ $output == *"incident-gone"* ]]
}

@test "what was read behind a reference is not what is asked without one, in the same place" {
    run -3 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    run -3 --separate-stderr "$audit" "${bundle[@]}" --reference=none --out="$out"
    [[ $output == "NOT DECIDED"*"cannot open the reference"* ]]
    run -3 --separate-stderr "$audit" "${bundle[@]}" --out="$out"
    [[ $output == "NOT DECIDED"*"Failed to connect"* && $output != *reference* ]]
}

@test "a broker that is gone leaves the reference incomplete: 3, and every stage's output is kept" {
    run -3 --separate-stderr timeout 100 "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$out" -- jq -c .
    [[ $output == "NOT DECIDED"* ]]
    [[ $output == *"reference"*"incomplete"* ]]
    for f in 1-bundle-check 2-scope-cut 3-kafka-read 4-ref-run 5-ref-seal 6-ref-bind 7-ch-read 8-rows-diff; do
        [ "$(tail -n 1 "$out/$f.ndjson" | jq -r .type)" = end ]
    done
    [ "$(cat "$out/status")" = 3 ]
    [ "$(tail -n 1 "$out/reference.ndjson" | jq .complete)" = false ]
    # The same again is no answer for now; one stage removed, it and what stands behind it run again.
    run -2 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$out" -- jq -c .
    [[ $stderr == *"holds this whole run already"* ]]
    rm "$out/8-rows-diff.ndjson"
    touch -d '1 hour ago' "$out"/[1-7]-*
    run -3 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$out" -- jq -c .
    [ "$(stat -c %Y "$out/7-ch-read.ndjson")" -lt "$(stat -c %Y "$out/8-rows-diff.ndjson")" ]
    # What a stage leaves beside its output is needed further on.
    rm "$out/reference.ndjson"
    run -3 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$out" -- jq -c .
    [ -e "$out/reference.ndjson" ]
    [ "$(stat -c %Y "$out/4-ref-run.ndjson")" -lt "$(stat -c %Y "$out/5-ref-seal.ndjson")" ]
    rm "$out/scope.json"
    run -3 --separate-stderr "$audit" "${bundle[@]}" --bootstrap=127.0.0.1:1 --deadline-s=1 --out="$out" -- jq -c .
    [ -e "$out/scope.json" ]
    [ "$(stat -c %Y "$out/1-bundle-check.ndjson")" -lt "$(stat -c %Y "$out/2-scope-cut.ndjson")" ]
}

@test "names with spaces and what a shell reads in them" {
    cp -R incident "$BATS_TEST_TMPDIR/a b; touch owned"
    run -3 --separate-stderr "$audit" "${bundle[@]/incident/$BATS_TEST_TMPDIR/a b; touch owned}" --out="$out"
    [[ $output == *"Failed to connect to 127.0.0.1"* ]]
    run -3 --separate-stderr "$audit" "${bundle[@]/incident/$BATS_TEST_TMPDIR/a b; touch owned}" --reference="$BATS_TEST_TMPDIR/x; touch owned" --out="$out"
    [[ $output == *"x; touch owned"* ]]
    run -3 --separate-stderr "$audit" "${bundle[@]/incident/$BATS_TEST_TMPDIR/a b; touch owned}" --reference="$BATS_TEST_TMPDIR/x; touch owned"
    [[ $output == *"x; touch owned"* ]]
    [ ! -e owned ]
}

@test "a stage that dies is 3 with --out, and leaves nothing under a final name" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    cp "$OWED_BIN"/* "$BATS_TEST_TMPDIR/bin/"
    for dies in verdict:report.txt rows-diff:8-rows-diff.ndjson; do
        # shellcheck disable=SC2016
        printf '#!/bin/sh\n[ "$1" != --help ] || exit 0\nhead -c 100\nkill -9 $$\n' >"$BATS_TEST_TMPDIR/bin/${dies%%:*}"
        OWED_BIN=$BATS_TEST_TMPDIR/bin run -3 --separate-stderr "$audit" "${bundle[@]}" --out="$out-${dies%%:*}"
        [ -e "$out-${dies%%:*}/7-ch-read.ndjson" ]
        [ ! -e "$out-${dies%%:*}/${dies#*:}" ]
        [ ! -e "$out-${dies%%:*}/status" ]
    done
}

@test "a stage whose output could not be written is not kept, and runs again" {
    for reference in '' --reference=none; do
        # A limit on files, with its signal ignored, is a disk that is full.
        run -3 --separate-stderr bash -c 'trap "" XFSZ; ulimit -f 8; "$@"' - "$audit" "${bundle[@]}" $reference --out="$out"
        [[ $stderr == *"cannot write standard output"* ]]
        for f in "$out"/*.ndjson; do
            [ "$(tail -n 1 "$f" | jq -r .type)" = end ]
        done
        [ ! -e "$out/2-scope-cut.ndjson" ]
        run -3 --separate-stderr "$audit" "${bundle[@]}" $reference --out="$out"
        [[ $output == "NOT DECIDED"*"$([ -z "$reference" ] && echo 'Failed to connect' || echo 'cannot open the reference')"* ]]
    done
}
