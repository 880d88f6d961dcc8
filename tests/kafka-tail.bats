#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# kafka-tail without a broker: what it refuses, and that a refusal is a whole stream and shows no secret.
bats_require_minimum_version 1.5.0

stderr="" stderr_lines=() # run sets them
load programs

setup() { cd "$BATS_TEST_TMPDIR" || exit 1; }

tail_() { kafka-tail -b 127.0.0.1:1 -t orders --timeout-ms=200 "$@"; }

# refused NAMED ARGUMENT…: exit 2, one line that names the place, a whole stream with one stop.
refused() {
    local named=$1
    shift
    run -2 --separate-stderr "$@"
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "kafka-tail: "*"$named"* ]]
    [ "$(jq -c '[.type, .kind]' <<<"$output")" = $'["stream",null]\n["stop","refused"]\n["end",null]' ]
    [[ $output$stderr != *hunter2* ]]
}

@test "--help and --version" {
    run -0 kafka-tail --help
    [[ ${lines[0]} == "usage: kafka-tail"* ]]
    run -0 kafka-tail --version
    [[ $output == "kafka-tail "* ]]
    run -3 --separate-stderr bash -c 'kafka-tail --help >/dev/full'
    [[ $stderr == "kafka-tail: "* ]]
}

@test "unusable options" {
    refused "'--bogus'" tail_ --bogus=hunter2
    refused --interval-ms tail_ --interval-ms
    refused --stop-at-end tail_ --stop-at-end=1
    refused more tail_ more
    refused "no topic" kafka-tail -b 127.0.0.1:1
    refused "no broker" kafka-tail -t orders
}

@test "unusable values" {
    for o in interval-ms=-1 interval-ms=10s interval-ms=99999999999999999999 idle-ms=-1 watermark-ms=x watermark-lag-ms= timeout-ms=0 \
        generation=0 first-epoch=0 restore=x job=../x job= operator=x operator=18446744073709551616 isolation=serializable start=middle attempt=; do
        refused "${o%%=*}" tail_ --checkpoint-dir=ck --job=1 "--$o"
    done
    refused topic kafka-tail -b 127.0.0.1:1 -t 'a/b'
    refused topic kafka-tail -b 127.0.0.1:1 -t ''
    refused topic kafka-tail -b 127.0.0.1:1 -t $'\xff'
}

@test "options that contradict each other" {
    refused --job tail_ --checkpoint-dir=ck
    refused --checkpoint-dir tail_ --restore=1 --first-epoch=2
    refused --first-epoch=5 tail_ --checkpoint-dir=ck --job=1 --restore=5 --first-epoch=5
    refused --start=end tail_ --checkpoint-dir=ck --job=1 --start=end
    refused twice tail_ --lane=a --lane=a
    [ ! -e a ]
}

@test "a secret among the arguments is refused by its name, and never shown" {
    for p in sasl.password ssl.key.password ssl.keystore.password ssl.key.pem sasl.oauthbearer.client.secret sasl.oauthbearer.config; do
        refused "$p" tail_ -X "$p=hunter2"
    done
}

@test "properties from the environment and from files" {
    refused NO_SUCH tail_ -E sasl.password=NO_SUCH
    refused NAME=VARIABLE tail_ -E hunter2
    refused NAME=VARIABLE tail_ -E sasl.password=
    # a secret at the wrong property: its name is enough
    refused 'security.protocol: its value is not accepted' tail_ -X security.protocol=hunter2
    refused 'Unsupported SASL mechanism: *' tail_ -X security.protocol=sasl_plaintext -X sasl.mechanisms=hunter2
    printf 'client.id=x\nsasl.password hunter2\n' >props
    refused "props: line 2" tail_ -F props
    printf '\nno.such.thing=hunter2\n' >props
    refused "props: line 2" tail_ -F props
    refused group.id tail_ -X group.id=g
    refused isolation.level tail_ -X isolation.level=read_uncommitted
}

@test "a property file that cannot be read" {
    for f in absent .; do
        run --separate-stderr tail_ -F "$f"
        [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == *"$f"* ]]
    done
}

@test "nobody answers: 3, and why" {
    run -3 --separate-stderr tail_
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "kafka-tail: topic orders: no broker answered in 200 ms: "*"127.0.0.1:1"* ]]
    [ "$(jq -c 'select(.type == "stop") | .kind' <<<"$output")" = '"unfinished"' ]
}

@test "what accepts connections and never answers is waited for so long" {
    python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(60)' >port 3>&- &
    listener=$!
    until [ -s port ]; do sleep 0.05; done
    SECONDS=0
    for program in kafka-tail log-look; do
        run -3 --separate-stderr "$program" -b "127.0.0.1:$(cat port)" -t orders --timeout-ms=300
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == "$program: topic orders: no broker answered in 300 ms"* ]]
    done
    [ "$SECONDS" -lt 10 ]
    kill "$listener"
}

@test "a lane that cannot be opened: 3, naming it" {
    mkdir d
    run -3 --separate-stderr tail_ --lane=d
    [[ $stderr == *"--lane=d: "* ]]
}

@test "every lane hears of the stop" {
    run -3 --separate-stderr tail_ --lane=a --lane=b
    [ "${#stderr_lines[@]}" -eq 1 ]
    [ -z "$output" ]
    for f in a b; do
        [ "$(jq -r .type $f | paste -sd' ')" = "stream stop end" ]
    done
    [ "$(jq -c 'select(.type == "stop")' a)" = "$(jq -c 'select(.type == "stop")' b)" ]
}

@test "standard output that is full or closed: 3" {
    run -3 --separate-stderr bash -c 'kafka-tail -b 127.0.0.1:1 -t orders --timeout-ms=200 >/dev/full'
    [[ $stderr == *"cannot write"* || $stderr == *"No space"* ]]
    run -3 --separate-stderr bash -c 'kafka-tail -b 127.0.0.1:1 -t orders --timeout-ms=200 >&-'
}
