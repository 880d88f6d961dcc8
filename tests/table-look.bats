#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# table-look without a server: its arguments, and how it says that nothing could be had.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load stream

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "nobody answers: a whole stream that stops, whether it is the first or not" {
    run -3 --separate-stderr "$bin/table-look" --first --url=http://127.0.0.1:1 --table=shop.orders
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop end " ]
    [[ ${#stderr_lines[@]} -eq 1 && $stderr == "table-look: connecting: "* ]]
    echo '{"type":"log","topic":"orders","partitions":[]}' | whole log
    run -3 --separate-stderr bash -c "'$bin/table-look' --url=http://127.0.0.1:1 --table=shop.orders <log"
    [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream log stop end " ]
    [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = unfinished ]
}

@test "--first reads no standard input" {
    mkfifo silent
    run -3 --separate-stderr bash -c "timeout 60 '$bin/table-look' --first --url=http://127.0.0.1:1 --table=shop.orders <>silent"
    run -2 --separate-stderr bash -c "timeout 60 '$bin/table-look' --first --nope <>silent"
}

@test "bad arguments are 2 with one line" {
    while IFS='|' read -r arguments text; do
        read -ra list <<<"$arguments"
        run -2 --separate-stderr "$bin/table-look" --first "${list[@]}"
        [[ ${#stderr_lines[@]} -eq 1 && $stderr == *"$text"* ]] || { echo "$arguments: $stderr" >&2; return 1; }
        [[ $output$stderr != *hunter2* ]]
    done <<'EOF'
--url=http://127.0.0.1:1|--table is missing
--table=a.b|--url is missing
--url=http://127.0.0.1:1 --table=orders|--table=orders is not DATABASE.TABLE
--url=http://127.0.0.1:1 --table=.orders|is not DATABASE.TABLE
--url=http://127.0.0.1:1 --table=a.|is not DATABASE.TABLE
--url=http://127.0.0.1:1 --table=a.b.c|give --database=NAME
--url=http://127.0.0.1:1 --table= --database=d|--table: its value is empty
--url=http://127.0.0.1:1 --table=a --database=|--database: its value is empty
--url=http://u:hunter2@127.0.0.1:1 --table=a.b|URL
--url=http://127.0.0.1:1 --table=a.b --password-env=OWED_NOT_SET|OWED_NOT_SET
--url=http://127.0.0.1:1 --table=a.b --query-timeout-ms=0|--query-timeout-ms
--url=http://127.0.0.1:1 --table=a.b stray|no such argument
EOF
}

@test "a stream in which a table was looked at already, or a scope was made, is refused" {
    for line in '{"type":"table"}' '{"type":"columns","columns":[]}' '{"type":"scope","document":{}}'; do
        echo "$line" | whole came
        run -2 --separate-stderr bash -c "'$bin/table-look' --url=http://127.0.0.1:1 --table=shop.orders <came"
        [[ $stderr == *"line 2: a table was looked at already"* ]]
    done
}
