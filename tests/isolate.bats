#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# pipelines/isolate: each result of its proof, by a mechanism and an endpoint of the test's own, and the real one where it is had.
bats_require_minimum_version 1.5.0

setup() {
    isolate=$(cd "$BATS_TEST_DIRNAME/.." && pwd)/pipelines/isolate
    cd "$BATS_TEST_TMPDIR" || exit 1
    unset ALLOW_UNISOLATED OWED_TEST_ISOLATION_MECHANISM OWED_TEST_ISOLATION_ENDPOINT
}

teardown() { [ -z "${listener:-}" ] || kill "$listener"; }

real() { "$isolate" --prove || skip "no user and network namespace can be made here"; }

# A program of the test's, in place of the mechanism or of the endpoint.
program() { # name; its text on standard input
    { echo '#!/usr/bin/env bash' && cat; } >"$1"
    chmod +x "$1"
}

proof() { # mechanism, endpoint
    export OWED_TEST_ISOLATION_MECHANISM=$1 OWED_TEST_ISOLATION_ENDPOINT=$2
    run -3 "$isolate" --prove
    [[ $output == *'(in a test: no proof)' ]]
    # Whatever the test's own parts show, nothing runs that is then called isolated.
    local said=$output
    run -3 "$isolate" -- touch ran
    output=$said
}

@test "enforced: the command runs with its arguments, its input and its status, and reaches nothing" {
    real
    run -7 "$isolate" -- bash -c '[ "$1" = "a  b" ] && exit 7' x 'a  b'
    [ "$(echo given | "$isolate" -- cat)" = given ]
    perl -MIO::Socket::INET -e '$| = 1; my $s = IO::Socket::INET->new(Listen => 8, LocalAddr => "127.0.0.1"); print $s->sockport, "\n"; sleep' >port 3>&- &
    listener=$!
    until [ -s port ]; do sleep 0.02; done
    exec 4<>"/dev/tcp/127.0.0.1/$(cat port)"
    exec 4>&-
    run ! "$isolate" -- bash -c "exec 3<>/dev/tcp/127.0.0.1/$(cat port)"
    run -0 "$isolate" -- awk 'NR > 2 { print $1 }' /proc/net/dev
    [ "$output" = lo: ]
}

@test "unavailable: there is no mechanism, it may not run, it runs nothing, or not what asks" {
    proof no-such-program ''
    [[ $output == 'unavailable: there is no no-such-program on this machine'* ]]
    [ ! -e ran ]
    echo 'echo "unshare: Operation not permitted" >&2; exit 1' | program refused
    proof ./refused ''
    [[ $output == 'unavailable: ./refused runs nothing here: unshare: Operation not permitted'* ]]
    proof true ''
    [[ $output == unavailable:* ]]
    echo '[ "$1" = echo ] && exec "$@"' | program once
    proof ./once ''
    [[ $output == 'unavailable: ./once did not run what asks the endpoint'* ]]
    [ ! -e ran ]
}

@test "not-enforced: the endpoint answers under what isolates nothing" {
    proof env ''
    [[ $output == not-enforced:* ]]
    [ ! -e ran ]
}

@test "inconclusive: no endpoint, one that says nothing or something else, and one that answers once" {
    for text in 'exit 0' 'echo no-port' 'echo 1'; do
        echo "$text" | program endpoint
        proof env ./endpoint
        [[ $output == inconclusive:* ]]
    done
    program stranger <<'END'
exec perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Listen => 8, LocalAddr => "127.0.0.1"); $| = 1;
    print $s->sockport, "\n"; while (my $c = $s->accept) { print $c "another word\n"; close $c; last }' </dev/null
END
    proof env ./stranger
    [[ $output == 'inconclusive: a local endpoint did not answer without isolation'* ]]
    # It is gone by the time that isolation is asked for, so that any wrapper would pass.
    program once <<'END'
exec perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Listen => 8, LocalAddr => "127.0.0.1"); $| = 1;
    print $s->sockport, "\n"; my $c = $s->accept; close $s; print $c "$ARGV[0]\n"; close $c;' "$1"
END
    proof env ./once
    [[ $output == 'inconclusive: the local endpoint no longer answered afterwards'* ]]
    [ ! -e ran ]
}

@test "a proof made with a test's own parts lets the command run and still ends with 3" {
    real
    export OWED_TEST_ISOLATION_MECHANISM='unshare --map-current-user --net --'
    run -3 "$isolate" -- touch ran
    [ -e ran ]
    [[ $output == *'in a test: no proof'* ]]
}

@test "ALLOW_UNISOLATED runs the command with the network, says so before and after, and never ends with 0" {
    export ALLOW_UNISOLATED=1
    run -3 "$isolate" -- echo between
    [[ ${lines[0]} == *'echo runs with the network' && ${lines[1]} == between && ${lines[2]} == *'nothing is proven'* ]]
    run -1 "$isolate" -- false
    run -3 "$isolate" -- bash -c 'exit 9'
    run -2 "$isolate" --prove
    ALLOW_UNISOLATED=yes run -2 "$isolate" -- true
}

@test "an open socket that the command would inherit, and bad usage, are refused" {
    program give <<'END'
exec perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0) or die; $^F = 9; open(my $t, "<&=", fileno $s);
    use Fcntl; fcntl($s, F_SETFD, 0); exec @ARGV' "$@"
END
    run -2 ./give "$isolate" -- true
    [[ $output == *'is an open socket'* ]]
    run -2 "$isolate"
    run -2 "$isolate" true
    run -2 "$isolate" --
    run -2 "$isolate" --prove true
    run -0 "$isolate" --help
}
