#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every program alike: help, version, bad options, bad streams, a full or closed output, no secret in any message.
bats_require_minimum_version 1.5.0
load stream

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    programs=$(cd "$root/stages" && echo *.c)
    programs=${programs//.c/}
}

# The arguments under which a filter reads its stream at once.
arguments() {
    case $1 in
        scope-cut) echo --checkpoint=1 --key=id ;;
        ch-read) echo --url=http://127.0.0.1:1 ;;
        table-look) echo --url=http://127.0.0.1:1 --table=d.t ;;
        scope-declare) echo --key=id --range=0:0-1 --topic=t --table=d.t --column=id:Int64 ;;
        ch-sink) echo --url=http://127.0.0.1:1 --database=d --table=t --job=1 --operator=3 --subtask=0 --attempt=a --capture-dir=cap ;;
        row-map) echo --program=. ;;
        row-window) echo --parameters="$root/fixtures/lane/window.json" ;;
        cap-tee) echo --capture-dir=cap --job=1 --operator=3 --subtask=0 --attempt=a ;;
        ckpt-mark) echo --checkpoint-dir=ckpt --job=1 --parallelism=1 ;;
        lane-join) echo /dev/stdin ;;
        ref-run) echo -- cat ;;
        ref-jq) echo --rules=. ;;
        ref-seal) echo --reference-name=n --out=sealed ;;
        ref-bind) echo --reference=none ;;
        epoch-freeze) echo --op=3 --epoch=1 --out=case ;;
        bundle-check | epoch-replay | trace-check | rows-diff | verdict) ;;
        *) return 1 ;;
    esac
}

one_line() { # program: what stands on standard error is one line of its own
    [ "${#stderr_lines[@]}" -eq 1 ] || { printf '%s: %s\n' "$1" "$stderr" >&2; return 1; }
    [[ $stderr == "$1: "* ]]
}

@test "--help and --version answer on standard output and exit 0" {
    for p in $programs; do
        run -0 --separate-stderr "$bin/$p" --help
        [[ $output == "usage: $p"* ]] || { echo "$p: $output" >&2; return 1; }
        [ -z "$stderr" ]
        run -0 --separate-stderr "$bin/$p" --version
        [[ $output == "$p "[0-9]* ]] || { echo "$p: $output" >&2; return 1; }
        run -3 bash -c "'$bin/$p' --help >/dev/full"
    done
}

@test "an unknown option is 2, one line that shows no value" {
    for p in $programs; do
        for bad in --nope --password=hunter2 -Z; do
            run -2 --separate-stderr "$bin/$p" $bad </dev/null
            one_line "$p"
            [[ $stderr$output != *hunter2* ]]
        done
    done
}

@test "a program that writes a stream says its refusal in it" {
    for p in $programs; do
        case $p in verdict | ckpt-plan) continue ;; esac
        run -2 --separate-stderr "$bin/$p" --nope </dev/null
        [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop end " ] || { echo "$p: $output" >&2; return 1; }
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = refused ]
    done
}

@test "a filter that refuses its usage still passes what came, but rows" {
    { captured '["1"]'; echo '{"type":"note","x":1}'; stopped unfinished before; } | whole came
    for p in bundle-check epoch-replay epoch-freeze trace-check scope-cut table-look scope-declare ch-read ref-run ref-jq ref-seal ref-bind rows-diff; do
        run -2 --separate-stderr bash -c "'$bin/$p' --nope <came"
        [ "$(jq -r 'select(.type != "stream") | .type' <<<"$output" | tr '\n' ' ')" = "stop note stop end " ] || { echo "$p: $output" >&2; return 1; }
    done
}

@test "empty input, a cut stream and a stream that is none: never 0, one line, a whole output" {
    printf '%s\n{"type":"note"}\n' "$head" >short
    printf '%s\n{"type":"no' "$head" >short-line
    echo '{"type":"stream","format":"owed-stream","version":9,"stages":[]}' >newer
    echo '{"type":"stream","format":"kcat","version":1,"stages":[]}' >other
    printf '%s\n{"type":"note","a":1,"a":2}\n' "$head" >double
    printf '%s\n{"type":"note","a":"\xff"}\n' "$head" >utf8
    mkdir -p cap ckpt
    for p in $programs; do
        arguments "$p" >/dev/null || continue
        for in in /dev/null:3 short:3 short-line:3 newer:2 other:2 double:2 utf8:2; do
            run "-${in#*:}" --separate-stderr bash -c "'$bin/$p' $(arguments "$p") <${in%:*}"
            one_line "$p" || { echo "input ${in%:*}" >&2; return 1; }
            [ "$p" = verdict ] || [ "$(tail -n 1 <<<"$output" | jq -r .type)" = end ]
        done
    done
}

@test "a line past the limit is refused and named" {
    { echo "$head"; printf '{"type":"note","x":"'; head -c 100000000 /dev/zero | tr '\0' x; echo '"}'; } >long
    for p in bundle-check epoch-replay epoch-freeze trace-check scope-cut ch-read ref-run ref-jq ref-seal ref-bind rows-diff verdict cap-tee row-map row-window; do
        run -2 --separate-stderr bash -c "'$bin/$p' $(arguments "$p") <long"
        one_line "$p"
        [[ $stderr == *"line 2"* ]]
    done
}

@test "a full output and a closed one are 3" {
    echo '{"type":"note"}' | whole good
    mkdir -p cap ckpt
    for p in $programs; do
        arguments "$p" >/dev/null || continue
        run -3 bash -c "'$bin/$p' $(arguments "$p") <good >/dev/full"
        run -3 bash -c "'$bin/$p' $(arguments "$p") <good >&-"
    done
}

@test "a directory or a file that is not there, given as input" {
    for p in bundle-check epoch-replay epoch-freeze trace-check scope-cut; do
        read -ra given < <(arguments "$p") || true
        run ! --separate-stderr "$bin/$p" "$BATS_TEST_TMPDIR/none" "${given[@]}"
        one_line "$p"
    done
    run -3 --separate-stderr "$bin/lane-join" none
    one_line lane-join
    run ! --separate-stderr "$bin/lane-join" .
    one_line lane-join
}
