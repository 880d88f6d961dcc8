#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# row-map: rows in the records' order, barriers and watermarks where they stood, and no barrier past a record that failed.
# shellcheck disable=SC2016,SC2154  # jq programs hold their own $; variables of bats and of stream
bats_require_minimum_version 1.5.0
load stream

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

at() { jq -r 'select(.type == "event") | .at' <<<"$output"; }

@test "events stand in the records' order, and everything else where it stood" {
    { record 1 '{"id":1}'; watermark 5; record 2 '{"id":2}'; barrier 1 0; record 3 '{"id":3}'; idle; barrier 2 1; } | whole lane
    run -0 --separate-stderr row-map --program='{id}' <lane
    [ -z "$stderr" ]
    diff <(sed '1d;$d' <<<"$output") <(
        echo '{"type":"event","at":"t/0/1","ts":101,"values":{"id":1}}'; watermark 5
        echo '{"type":"event","at":"t/0/2","ts":102,"values":{"id":2}}'; barrier 1 0
        echo '{"type":"event","at":"t/0/3","ts":103,"values":{"id":3}}'; idle; barrier 2 1)
    [ "$(tail -n 1 <<<"$output" | jq -c '.lines == {stream: 1, event: 3, watermark: 2, barrier: 2}')" = true ]
    [ "$(head -n 1 <<<"$output" | jq -r '.stages[-1].name')" = row-map ]
}

@test "a record may give no row or several" {
    { record 1 '{"rows":[]}'; record 2 '{"rows":[{"a":1},{"a":2},{"a":3}]}'; record 3 '{"rows":[{"a":4}]}'; } | whole lane
    run -0 --separate-stderr row-map --program='.rows[]' <lane
    [ "$(at | tr '\n' ' ')" = "t/0/2 t/0/2#1 t/0/2#2 t/0/3 " ]
}

@test "a map takes rows as it takes records: their values, their time, and their place where they have one" {
    { record 1 '{"id":1}'; echo '{"type":"event","at":"t/0/2","ts":7,"event_time":9,"values":{"id":2,"n":1}}'
        echo '{"type":"event","at":"t/0/2#1","ts":7,"values":{"id":3,"n":2}}'
        echo '{"type":"event","ts":null,"values":{"id":4,"n":2}}'; barrier 1 0; } | whole lane
    run -0 --separate-stderr row-map --program='range(.n // 1) as $i | {id: (.id * 10 + $i), at: $record.at}' <lane
    [ -z "$stderr" ]
    diff <(sed '1d;$d' <<<"$output") <(
        echo '{"type":"event","at":"t/0/1","ts":101,"values":{"id":10,"at":null}}'
        echo '{"type":"event","at":"t/0/2","ts":7,"values":{"id":20,"at":"t/0/2"}}'
        echo '{"type":"event","at":"t/0/2#1","ts":7,"values":{"id":30,"at":"t/0/2#1"}}'
        echo '{"type":"event","at":"t/0/2#2","ts":7,"values":{"id":31,"at":"t/0/2#1"}}'
        echo '{"type":"event","ts":null,"values":{"id":40,"at":null}}'
        echo '{"type":"event","ts":null,"values":{"id":41,"at":null}}'; barrier 1 0)
}

@test "a row that cannot be mapped stops the lane as a record does" {
    while IFS=@ read -r line said; do
        { echo "$line"; barrier 1 0; } | whole lane
        run -2 --separate-stderr row-map --program='{id: (.id | tonumber)}' <lane
        [[ $stderr == "row-map: "$said ]] || { echo "$line: $stderr" >&2; return 1; }
        [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop end " ]
        [ "$(jq -r 'select(.type == "stop").code' <<<"$output")" = record-not-mapped ]
    done <<'LINES'
{"type":"event","at":"t/0/2","ts":7,"values":{"id":"x"}}@t/0/2: the program failed: *
{"type":"event","ts":7,"values":{"id":"x"}}@a window's row: the program failed: *
{"type":"event","at":"t/0/2","ts":1.5,"values":{"id":"1"}}@t/0/2: event.ts: not a whole number of milliseconds
{"type":"event","at":"t/0/2","ts":7}@t/0/2: event.values: *
{"type":"event","at":"t/0","ts":7,"values":{}}@event.at: no place in a log
{"type":"event","at":"t/0/2","ts":7,"values":{"id":9007199254740993}}@t/0/2: values: field .id *
LINES
}

@test "a null value is null, and an annotation passes" {
    { jq -c '.payload = null' <(record 1 ''); echo '{"type":"note","x":1}'; } | whole lane
    run -0 --separate-stderr row-map --program='select(. != null)' <lane
    [ "$(tail -n 1 <<<"$output" | jq -c .lines)" = '{"stream":1,"note":1}' ]
    run -0 --separate-stderr row-map --program='{gone: (. == null), topic: $record.topic}' <lane
    [ "$(jq -c 'select(.type == "event") | .values' <<<"$output")" = '{"gone":true,"topic":"t"}' ]
}

@test "a program from a file, line by line in its messages" {
    printf '# rows\n{\n  id\n}\n' >good.jq
    printf '{\n  id: nope\n}\n' >bad.jq
    { record 1 '{"id":1}'; } | whole lane
    run -0 --separate-stderr row-map --program-file=good.jq <lane
    [ "$(at)" = t/0/1 ]
    run -2 --separate-stderr row-map --program-file=bad.jq <lane
    [ "$stderr" = "row-map: program, line 2: nope/0 is not defined" ]
}

@test "a record that fails stops the lane there: no event, no barrier, nothing after it" {
    for bad in '{"id":' '{"id":1,"id":2}' '{"id":9007199254740993}' '{"id":"\ud800"}' '"x"' ''; do
        { record 1 '{"id":1}'; barrier 1 0; record 2 "$bad"; watermark 7; record 3 '{"id":3}'; barrier 2 1; } | whole lane
        run -2 --separate-stderr row-map --program='{id: .id}, {id: .id}' <lane
        [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream event event barrier stop end " ]
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = refused ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "row-map: t/0/2: "* ]]
    done
}

@test "a program that fails halfway hands on none of the record's rows" {
    { record 1 '{"id":1}'; } | whole lane
    run -2 --separate-stderr row-map --program='{id}, error("late")' <lane
    [ "$(at)" = "" ]
    [ "$stderr" = "row-map: t/0/1: the program failed: late" ]
}

@test "a literal that a double does not hold: named with its field and the remedy, and kept with numbers=text" {
    { record 8 '{"a":{"b":[0,12345678901234.5678]}}'; } | whole lane
    run -2 --separate-stderr row-map --program='{c: 1}' <lane
    [ "$stderr" = "row-map: t/0/8: payload: field .a.b[1] (byte 14): 12345678901234.5678 does not fit a double (the nearest is 12345678901234.568); declare numbers: text" ]
    run -0 --separate-stderr row-map --numbers=text --program='{c: .a.b[1]}' <lane
    [ "$(jq -c 'select(.type == "event") | .values' <<<"$output")" = '{"c":"12345678901234.5678"}' ]
}

@test "what reaches outside the record does not compile" {
    for p in now env '$ENV.HOME' input 'halt' 'include "m"; .' debug input_filename localtime; do
        run -2 --separate-stderr env SECRET_IN_ENV=hunter2 row-map --program="{a: 1} | $p" </dev/null
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "row-map: program"* && $stderr$output != *hunter2* ]]
        [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop end " ]
    done
}

@test "a stop that comes in goes on, and nothing after it" {
    { record 1 '{"id":1}'; stopped unfinished x; record 2 '{"id":2}'; barrier 1 0; } | whole lane
    run -3 --separate-stderr row-map --program='{id}' <lane
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream event stop end " ]
}

@test "a lane cut anywhere is unfinished" {
    { record 1 '{"id":1}'; barrier 1 0; } | whole lane
    size=$(wc -c <lane)
    for ((n = 0; n < size; n += 17)); do
        run -3 --separate-stderr row-map --program='{id}' < <(head -c "$n" lane)
        [ "$(jq -r .type <<<"$output" | tail -n 2 | tr '\n' ' ')" = "stop end " ]
    done
}

@test "what is held is written before the next read waits" {
    mkfifo in out
    row-map --program='{id}' <in >out 3>&- &
    pid=$!
    exec 8>in 9<out
    echo "$head" >&8
    record 1 '{"id":1}' >&8
    barrier 1 0 >&8
    read -r -t 10 line <&9
    [[ $line == *'"stream"'* ]]
    read -r -t 10 line <&9
    [ "$line" = '{"type":"event","at":"t/0/1","ts":101,"values":{"id":1}}' ]
    read -r -t 10 line <&9
    [ "$line" = "$(barrier 1 0)" ]
    exec 8>&- 9<&-
    wait "$pid" || true
}

@test "where libjq aborts, the record is named and the lane stays unfinished" {
    { record 1 '{"id":1}'; record 2 '{"id":[1,2]}'; } | whole lane
    run -3 --separate-stderr row-map --program='if .id == 1 then {id} else {a: (.id | .[nan:1])} end' <lane
    [ "${stderr_lines[-1]}" = "row-map: t/0/2: libjq aborted on this record" ]
    [[ $output != *'"end"'* ]]
}

@test "the operator opens from the parameters of its description, to the same rows" {
    printf '{"program":"{id: .id}","numbers":"text"}' >op.json
    { record 1 '{"id":9007199254740993}'; } | whole lane
    row-map --parameters=op.json <lane >got
    row-map --program='{id: .id}' --numbers=text <lane | diff - got
    grep -q '"values":{"id":"9007199254740993"}' got
    run -2 --separate-stderr row-map --parameters=op.json --numbers=text <lane
    run -2 --separate-stderr row-map --parameters=op.json --program=. <lane
    printf '{"program":".","size":3}' >op.json
    run -2 --separate-stderr row-map --parameters=op.json <lane
    [[ $stderr == *"map: unknown member size"* ]]
    printf '{"program":' >op.json
    run -2 --separate-stderr row-map --parameters=op.json <lane
    [[ $stderr == *op.json* ]]
    run -2 --separate-stderr row-map --program="$(printf '{a: "\377"}')" <lane
    [[ $stderr == *UTF-8* ]]
}

@test "bad usage" {
    run -2 --separate-stderr row-map </dev/null
    [[ $stderr == *"--program"* ]]
    run -2 --separate-stderr row-map --program=. --program-file=x </dev/null
    run -2 --separate-stderr row-map --program=. --numbers=decimal </dev/null
    [[ $stderr == *"neither double nor text"* ]]
    run -2 --separate-stderr row-map --program=. stray </dev/null
    run -2 --separate-stderr row-map --program=. --max-line=64Q </dev/null
    run -3 --separate-stderr row-map --program-file=none.jq </dev/null
    [[ $stderr == *none.jq* ]]
    run -2 --separate-stderr row-map --program-file=. </dev/null
}
