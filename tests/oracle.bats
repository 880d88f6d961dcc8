#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# trace-check against its oracle: the model itself, searching for an order of what the traces tell (oracle.pml). They judge generated
# runs alike, and each with one event changed; and the oracle refuses what is forbidden too.
bats_require_minimum_version 1.5.0
# bats file_tags=plain

setup_file() {
    command -v spin >/dev/null || skip 'spin is not installed (./deps.sh debian)'
    cd "$BATS_FILE_TMPDIR" || return
    mkdir formal tests
    cp "$BATS_TEST_DIRNAME/../formal/checkpoint.pml" formal/
    cp "$BATS_TEST_DIRNAME/oracle.pml" tests/
    verifier
}

# verifier [DEFINE…]: the oracle, of the model with these.
verifier() {
    spin -a "$@" tests/oracle.pml >said || { cat said >&2; return 1; }
    gcc -O1 -w -DSAFETY -DNOREDUCE -o oracle pan.c
}

setup() { cd "$BATS_FILE_TMPDIR" || exit 1; }

says() { python3 "$BATS_TEST_DIRNAME/runs.py" "$1" --traces "${@:2}"; }

@test "trace-check and the oracle judge generated runs alike, and each with one event changed" {
    python3 "$BATS_TEST_DIRNAME/runs.py" ./oracle "${ROUNDS:-40}" >judged || { cat judged >&2; return 1; }
    # Every whole run is accepted; of the changed ones both verdicts were given.
    grep -qE '^whole: [1-9][0-9]* accepted, 0 refused$' judged
    for change in dropped doubled swapped renumbered cut; do grep -qE "^$change: [0-9]+ accepted, [1-9][0-9]* refused\$" judged; done
    for change in dropped cut; do grep -qE "^$change: [1-9]" judged; done
}

@test "the oracle accepts the traces of a whole job, and refuses each forbidden one" {
    python3 "$BATS_TEST_DIRNAME/traces.py" --each each
    says ./oracle each/* >said
    [ "$(grep -c '^refused .*_' said)" -ge 20 ]
    [ "$(grep -v '^refused .*_' said)" = $'accepted whole\naccepted windowed' ]
}

@test "its rules are the model's: with one broken there, what it forbids is accepted" {
    mv oracle unbroken
    verifier -DSENT_WITHOUT_STATE
    [ "$(says ./oracle each/forbidden_barrier_that_nothing_carries | cut -d' ' -f1)" = accepted ]
    mv unbroken oracle
}
