#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The gate, with suites of this test's own: nothing runs before isolation is proven, nothing passes that did not run whole, and what
# would leave nothing qualified is refused.
bats_require_minimum_version 1.5.0

setup() {
    here=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    cd "$BATS_TEST_TMPDIR" || exit 1
    mkdir -p tests build/tests examples
    suite one 'true' 'true'
    suite two 'true'
    unit test_a 2 'OK OK'
    example 'echo "the example ran"'
}

# suite NAME BODY…: a test of each body.
suite() {
    local name=$1 body n=0
    shift
    { for body; do
        n=$((n + 1))
        printf '@test "case %s" {\n    %s\n}\n' "$n" "$body"
    done; } >"tests/$name.bats"
}

# unit NAME CASES 'OK OK…' [STATUS]: a program that speaks as a cmocka one, and announces so many cases.
unit() {
    local n=0 word
    { echo '#!/bin/bash'
        echo "echo '[==========] tests: Running $2 test(s).'"
        for word in $3; do
            n=$((n + 1))
            printf 'echo "[ %8s ] case_%s"\n' "$word" "$n"
        done
        echo "exit ${4:-0}"; } >"build/tests/$1"
    chmod +x "build/tests/$1"
}

example() {
    printf '#!/bin/bash\n%s\n' "$1" >examples/example
    chmod +x examples/example
}

# gated STATUS [COMMANDS]: the gate as it is, over the files of this test; the commands put faults in.
gated() {
    cat >run <<END
unset \${!BATS_@} \${!OWED_TEST_@} OWED_BIN ALLOW_UNISOLATED LD_PRELOAD TINY
. '$here/tests/gate'
root=$PWD
gate_suites=(one two) gate_outside=() gate_units=(test_a) gate_example=examples/example
gate_prove() { echo 'enforced: in a test'; }
gate_build() { echo built; }
gate_denied() { echo "denied \$*" >>ran; "\$@"; }
${2:-}
gate
END
    rm -f ran
    run "-$1" bash run
}

@test "all of it holds: the proof, every case, and the example" {
    gated 0
    [[ $output == 'gate: isolation: enforced: in a test'$'\n'built* ]]
    [[ $output == *'5 passed, 0 failed, 0 skipped'*'the example ran'*'gate: passed' ]]
    # Each suite and unit test ran under the denial.
    [ "$(sort ran | paste -sd' ')" = 'denied bats --tap tests/one.bats denied bats --tap tests/two.bats denied build/tests/test_a' ]
}

@test "nothing runs where isolation is not enforced, whatever the proof says or ends with" {
    for said in 'unavailable: x' 'not-enforced: x' 'inconclusive: x' '' 'is enforced: x'; do
        gated 1 "gate_prove() { echo '$said'; }"
        [[ $output == *'isolation is not enforced'* && $output != *built* && $output != *'the example ran'* ]]
        [ ! -e ran ]
    done
    gated 1 'gate_build() { false; }'
    [ ! -e ran ]
}

@test "a case that fails, is skipped, or did not run fails the gate, by its suite" {
    suite two 'false'
    gated 1
    [[ $output == *'gate: two: 0 of 1 cases passed, 1 failed, 0 were skipped'* && $output == *'gate: failed: two cases'* ]]
    # The example runs all the same: one run says all that is wrong.
    [[ $output == *'the example ran'* ]]
    suite two 'true' 'skip "no service"'
    gated 1
    [[ $output == *'gate: two: 1 of 2 cases passed, 0 failed, 1 were skipped'* ]]
    suite two 'true'
    suite one 'true' 'kill -9 $PPID; kill -9 $$'
    gated 1
    [[ $output == *'gate: one: '* ]]
    # Fewer than the file has, with a plan that agrees.
    suite one 'true' 'true'
    gated 1 'denied_suite() { bats --tap --filter "case 1" "tests/$1.bats"; }'
    [[ $output == *'gate: one: 1 of 2 cases passed'* ]]
}

@test "a suite or a unit test that is not there, is empty, or dies, fails the gate" {
    rm tests/two.bats
    gated 1
    [[ $output == *'gate: two: '* ]]
    : >tests/two.bats
    gated 1
    [[ $output == *'gate: two: '* ]]
    suite two 'true'
    unit test_a 2 'OK'
    gated 1
    [[ $output == *'gate: test_a: 1 of 2 cases passed'* ]] || { echo "$output"; return 1; }
    unit test_a 2 'OK SKIPPED'
    gated 1
    [[ $output == *'gate: test_a: 1 of 2 cases passed'* ]] || { echo "$output"; return 1; }
    unit test_a 2 'OK OK' 139
    gated 1
    [[ $output == *'gate: test_a: '* ]]
    rm build/tests/test_a
    gated 1
    [[ $output == *'gate: test_a: '* ]]
}

@test "the example must be there, and any status of it but 0 fails" {
    for ended in 1 2 3 77; do
        example "exit $ended"
        gated 1
        [[ $output == *"gate: examples/example ended with $ended"*'gate: failed: example' ]] || { echo "$output"; return 1; }
    done
    rm examples/example
    gated 1
    [[ $output == *'gate: the example examples/example is not there'* ]]
}

@test "what would leave nothing qualified is refused, by its name, and so is an argument" {
    for name in ALLOW_UNISOLATED OWED_TEST_ISOLATION_MECHANISM OWED_TEST_ISOLATION_ENDPOINT OWED_TEST_OF_TOMORROW OWED_BIN BATS_RUN_SKIPPED CMOCKA_XML_FILE TINY; do
        for value in 1 ''; do
            gated 2 "export $name=$value"
            [[ $output == "gate: refused: $name in the environment"* ]] || { echo "$name: $output" >&2; return 1; }
            [ ! -e ran ]
        done
    done
    gated 2 'gate() { :; }; . '"'$here/tests/gate'"'; root=$PWD; gate --fast; exit'
    # As it is called.
    run -2 env ALLOW_UNISOLATED=1 "$here/tests/gate"
    [[ $output == *ALLOW_UNISOLATED* ]]
}

@test "what it lists is there, and every stage of offline verification is in a suite of it" {
    cd "$here" || return 1
    run -0 bash -c '. tests/gate
        for name in "${gate_suites[@]}" "${gate_outside[@]}"; do ls "tests/$name.bats"; done
        for name in "${gate_units[@]}"; do ls "tests/unit/$name.c"; done'
    for stage in bundle-check epoch-replay epoch-freeze epoch-run trace-check verdict; do
        grep '\.bats$' <<<"$output" | xargs grep -lqF "$stage" || { echo "$stage" >&2; return 1; }
    done
}
