#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The line of progress: on a terminal, for work of more than two seconds, rewritten in its place, gone at the end; nothing in a pipe.
# shellcheck disable=SC2154 # bats sets output
bats_require_minimum_version 1.5.0
load stream

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
}

columns='[{"name":"id","type":"Int64","key":true}]'
rows() { # N
    {
        columns_of "$columns"
        awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "{\"type\":\"row\",\"side\":\"captured\",\"cells\":[\"%d\"],\"at\":\"t/0/%d\"}\n", i, i }'
        side captured "$1"
    } | whole in
}

on_terminal() { run python3 "$root/tests/terminal.py" "$@"; }

@test "a line that says what came, written again in its place at most twice a second, and gone at the end" {
    rows 2000
    on_terminal in "$bin/rows-diff"
    [[ $output =~ 'rows-diff: '[0-9,]+' rows\x1b[K\r' ]]
    # What is written last takes it away, and a message is not written into it.
    [[ $output == *'\r\x1b[K' || $output == *'\r\x1b[Krows-diff: '* ]] || { echo "$output" >&2; return 1; }
    [ "$(grep -o 'rows\\x1b' <<<"$output" | wc -l)" -le 3 ]
}

@test "the share of a file, and the time that is left" {
    { awk 'BEGIN { for (i = 0; i < 60000; i++) printf "{\"type\":\"record\",\"topic\":\"t\",\"partition\":0,\"offset\":%d,\"tstype\":\"create\",\"ts\":1,\"key\":null,\"payload\":\"{}\"}\n", i }'; } | whole in
    on_terminal --file in "$bin/ref-run" -- python3 -c 'import sys, time
while sys.stdin.buffer.read(200000): time.sleep(0.1)'
    [[ $output =~ 'ref-run: '[0-9]+,[0-9]{3}' records, '[0-9]+'%, '[0-9]+' s left\x1b[K\r' ]] || { echo "$output" >&2; return 1; }
}

@test "nothing in a pipe or a file, and nothing where the stream goes to the same terminal; the answer waits for its own" {
    rows 40
    (TERMINAL_SECONDS=3 python3 "$root/tests/terminal.py" in sh -c "\"$bin/rows-diff\" 2>said") >shown || true
    [ ! -s said ] || run ! grep -q ' rows' said
    [ "$(cat shown)" = '' ]
    TERMINAL_SECONDS=3 on_terminal --output in "$bin/rows-diff"
    [[ $output != *' rows\x1b'* && $output == *'"type":"end"'* ]]
    rows 2000
    on_terminal --output in "$bin/verdict"
    [[ $output =~ 'verdict: '[0-9,]+' rows\x1b[K\r' && $output == *'\r\x1b[K'*"NOT DECIDED"* ]] || { echo "$output" >&2; return 1; }
}

@test "what ends within two seconds shows nothing" {
    rows 3
    on_terminal --file in "$bin/rows-diff"
    [[ $output != *' rows\x1b'* ]]
}
