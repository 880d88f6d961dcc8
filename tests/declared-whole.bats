#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A whole table that ranges alone are declared to have written: what shows that they were all that the logs held, before the table
# was read and after it.
bats_require_minimum_version 1.5.0
load stream
load answers

setup() {
    cd "$BATS_TEST_TMPDIR" || exit 1
    row_columns='' ranges=(--range=0:0-10 --range=1:0-5)
}

# log [TOPIC] LOW-STABLE-HIGH… [again]: a partition each
log() {
    local list='' p=0 again='' topic=t bounds
    [[ $1 != [a-z]* ]] || { topic=$1; shift; }
    for bounds; do
        if [ "$bounds" = again ]; then again=',"again":true'; continue; fi
        IFS=- read -r low stable high <<<"$bounds"
        list+=",{\"partition\":$((p++)),\"low\":$low,\"high\":${high:-$stable},\"stable\":$stable}"
    done
    printf '{"type":"log","topic":"%s","cluster_id":"%s","topic_id":"%s","cleanup_policy":"delete","partitions":[%s]%s}\n' "$topic" "${cluster:-c}" "${id:-i-$topic}" "${list#,}" "$again"
}
declared() { # OPTION…
    scope-declare --coverage=complete-table --key=id --database=d --table=t --column=id:Int64 --column=v:String "${ranges[@]}" "$@"
}
# told BEFORE AFTER [ROWS…]: what rows-diff says of the scope with these looks, as $output; both are texts of log's arguments.
told() {
    local before=$1 after=$2
    shift 2
    # shellcheck disable=SC2086
    { [ -z "$before" ] || log $before; } | whole logs
    { declared "${options[@]}" <logs || [ $? -le 3 ]; } >scoped
    { jq -c 'select(.type != "stream" and .type != "end")' scoped; reference_side '["1","a"]'; observed_whole; found "${@:-[\"1\",\"a\"]}"
        # shellcheck disable=SC2086
        [ -z "$after" ] || log $after again; } | whole
    run --separate-stderr rows-diff <stream
}
covered() { printf '%s %s\n' "$(check destination.coverage)" "$(code destination.coverage)"; }

@test "established where log and range begin at 0, and the stable end is the range's, before and after" {
    options=(--topic=t --range=0:0-10) ranges=(--range=1:0-5)
    told "0-10 0-5" "0-10 0-5"
    [ "$status $(covered)" = "0 passed null" ]
    # The row that nobody owed (25 of them passed as `exactly` once).
    told "0-10 0-5" "0-10 0-5" '["1","a"]' '["2","ghost"]'
    [ "$status $(covered)" = "1 failed rows-unexpected" ]
    [ "$(jq -c 'select(.type == "summary" and .relation == "coverage") | .unexpected' <<<"$output")" = '{"keys":1,"rows":1}' ]
    # F15
    told "0-10 0-5" "0-10 0-5" '["1","a"]' '["3","ghost"]' '["4","ghost"]'
    [ "$(jq -c 'select(.type == "summary" and .relation == "coverage") | .unexpected' <<<"$output")" = '{"keys":2,"rows":2}' ]
    # What uncommitted transactions hold beyond the stable end is not there; a partition without any offset owes nothing.
    told "0-10-14 0-5 0-0" "0-10-14 0-5 0-0"
    [ "$(covered)" = "passed null" ]
    ranges=(--range=0:0-14 --range=1:0-5 --isolation=read_uncommitted) options=()
    told "0-10-14 0-5" "0-10-14 0-5"
    [ "$(covered)" = "passed null" ]
    told "0-10-14 0-5" "0-14-15 0-5"
    [ "$(covered)" = "unavailable log-went-on" ]
}

@test "else unavailable, by what is not so" {
    options=()
    told "0-10 0-5" ""
    [ "$(covered)" = "unavailable log-not-looked-at" ]
    told "0-11 0-5" "0-11 0-5"
    [ "$(covered)" = "unavailable log-went-on" ]
    told "0-10 0-5" "0-10 0-6"
    [ "$(covered)" = "unavailable log-went-on" ]
    [[ "$(reason destination.coverage)" == "t/1 ended at 6 after the table was read, and the scope's range of it at 5"* ]]
    told "0-10 0-5" "1-10 0-5"
    [ "$(covered)" = "unavailable log-not-from-start" ]
    told "0-10 0-5 0-1" "0-10 0-5 0-1"
    [ "$(covered)" = "unavailable log-went-on" ]
    told "0-10 0-5" "0-10 0-5 0-1"
    [ "$(covered)" = "unavailable log-went-on" ]
    told "0-10 0-5" "0-10"
    [ "$(covered)" = "unavailable log-not-looked-at" ]
    ranges=(--range=0:2-10 --range=1:0-5)
    told "0-10 0-5" "0-10 0-5"
    [ "$(covered)" = "unavailable log-not-from-start" ]
    # Retention took the beginning, and ALL is what is left.
    ranges=(--range=ALL)
    told "2-10 0-5" "2-10 0-5"
    [ "$(covered)" = "unavailable log-not-from-start" ]
    # Nobody looked before, or at another topic or cluster.
    ranges=(--range=0:0-10 --range=1:0-5 --topic=t --topic-id=i-t --cluster-id=c)
    told "" "0-10 0-5"
    [ "$(covered)" = "unavailable log-not-looked-at" ]
    told "0-10 0-5" "u 0-10 0-5"
    [ "$(covered)" = "unavailable log-not-looked-at" ]
    ranges=(--range=0:0-10 --range=1:0-5)
    told "0-10 0-5" "0-10 0-5"
    for other in '.topic_id = "x"=topic-recreated' '.topic_id = null=topic-id-unknown' '.cluster_id = "x"=cluster-other'; do
        edit "if .type == \"log\" and .again then ${other%=*} else . end"
        run -3 --separate-stderr rows-diff <edited
        [ "$(covered)" = "unavailable ${other##*=}" ]
    done
}

@test "the looks must stand around the read" {
    options=()
    told "0-10 0-5" "0-10 0-5"
    jq -c 'select(.type == "log" and .again)' stream >again
    # The second before the read, and the first behind it.
    jq -c 'select(.type != "end" and (.again | not))' stream | sed '/^{"type":"require"/r again' | ended >moved
    run -3 --separate-stderr rows-diff <moved
    [ "$(covered)" = "unavailable log-not-looked-at" ]
    { jq -c 'select(.type != "end" and .type != "log")' stream; jq -c 'select(.type == "log")' stream; } | ended >moved
    run -3 --separate-stderr rows-diff <moved
    [ "$(covered)" = "unavailable log-not-looked-at" ]
    # Twice the same.
    { jq -c 'select(.type != "end")' stream; cat again; } | ended >twice
    run -2 --separate-stderr rows-diff <twice
}

@test "it is in the document and its fingerprint, required, and no other scope's" {
    declared --first --topic=t --out=scope.json >made
    [ "$(jq -r .declared.coverage scope.json)" = complete-table ]
    [[ "$(jq -c 'select(.type == "require") | .checks' made)" == *'"destination.coverage"'* ]]
    sed 's/"coverage":"complete-table",//' scope.json >less
    run -2 --separate-stderr kafka-read --scope=less -b 127.0.0.1:1
    [[ $stderr == *scope_sha256* ]]
    sed 's/"complete-table"/"half"/' scope.json | scope_print >half
    run -2 --separate-stderr kafka-read --scope=half -b 127.0.0.1:1
    scope-declare --coverage=selected-keys --first --topic=t --key=id --database=d --table=t --column=id:Int64 "${ranges[@]}" --out=keys.json >selected
    [ "$(jq -c '.declared' keys.json)" = '{"gone":[]}' ]
    [[ "$(jq -c 'select(.type == "require") | .checks' selected)" != *'"destination.coverage"'* ]]
    # Its rows are those of the same ranges: an artifact of either binds.
    whole </dev/null
    scope-declare --first --topic=t --key=id --database=d --table=t --column=id:Int64 --column=v:String "${ranges[@]}" --out=keys.json >/dev/null
    ref-seal --scope=keys.json --complete --reference-name=x --out=art <stream >/dev/null
    run -0 --separate-stderr ref-bind --reference=art <made
}

@test "log-look --again reads a stream, and names no topic itself" {
    run -2 log-look --again -b 127.0.0.1:1 -t t </dev/null
    run -2 log-look --again -b 127.0.0.1:1 --group=g </dev/null
    run -3 log-look --again -b 127.0.0.1:1 </dev/null
    # After a stop nothing is connected to; without a log nothing is there to look at.
    stopped refused | whole
    run -3 --separate-stderr timeout 20 log-look --again -b 127.0.0.1:1 <stream
    whole </dev/null
    run -0 --separate-stderr timeout 20 log-look --again -b 127.0.0.1:1 <stream
    # What cannot be looked at leaves the whole table unknown.
    log 0-1 | whole
    run -3 --separate-stderr timeout 60 log-look --again -b 127.0.0.1:1 --timeout-ms=500 <stream
    [ "$(check destination.coverage)" = unavailable ]
    { log 0-1; log 0-1 again; } | whole
    run -2 --separate-stderr timeout 20 log-look --again -b 127.0.0.1:1 <stream
}
