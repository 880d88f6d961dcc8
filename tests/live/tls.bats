#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# TLS to the broker and to the server, under a private authority: a job and an audit through it, and each way in which a
# certificate does not do, refused with its cause and with nothing sent in the clear.
# shellcheck disable=SC2154 # bats sets stderr, the services what they print
bats_require_minimum_version 1.5.0
load job

setup_file() {
    jobs_up --tls
    command -v socat >/dev/null || lack='no socat'
    [ -z "$lack" ] || return 0
    export CERTIFICATES=$work/kafka/tls SERVERS=''
    for name in server elsewhere expired alone; do
        terminator "$name" "cert=$CERTIFICATES/$name.both,verify=0"
    done
    terminator client "cert=$CERTIFICATES/server.both,cafile=$CERTIFICATES/authority.pem,verify=1,openssl-max-proto-version=TLS1.2"
    table one 'MergeTree ORDER BY event_id'
}

# terminator NAME OPTIONS: TLS before the server, on a port that nobody has; exports HTTPS_<NAME> as its URL.
terminator() {
    local port
    for _ in 1 2 3; do
        port=$((10240 + (RANDOM * 32768 + RANDOM) % 20000))
        socat "OPENSSL-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork,$2" "TCP:${CH_URL#http://}" 3>&- 2>>"$work/socat.log" &
        until (exec 9<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do kill -0 $! 2>/dev/null || continue 2; done
        SERVERS+=" $!"
        export "HTTPS_${1^^}=https://127.0.0.1:$port"
        return 0
    done
    return 1
}

setup() {
    jobs_need
    cd "$BATS_TEST_TMPDIR" || return 1
    authority=$CERTIFICATES/authority.pem
}

teardown() { jobs_end; }

teardown_file() {
    # shellcheck disable=SC2086 # one word a process
    [ -z "$SERVERS" ] || kill $SERVERS 2>/dev/null || true
    jobs_down
}

# The broker at a listener, and the server at a URL, each under an authority.
broker() { # bootstrap, authority, more options
    log-look --bootstrap="$1" --topic=seen --timeout-ms=20000 -X security.protocol=ssl -X ssl.ca.location="$2" "${@:3}"
}
server() { # url, authority, more options
    table-look --first --url="$1" --cacert="$2" --user=reader --password-env=READER_PASSWORD --table=shop.one "${@:3}"
}

# refused TEXT COMMAND…: by its cause, undecided, and without a word of the password.
refused() {
    local why=$1
    shift
    run -3 --separate-stderr "$@"
    [[ $stderr == *"$why"* ]] || { echo "$stderr" >&2; return 1; }
    [[ $output$stderr != *"$READER_PASSWORD"* ]]
    [ "$(jq -r 'select(.type == "stop").kind' <<<"$output")" = unfinished ]
}

@test "a job and an audit of its table, all of it through TLS" {
    prepare 2 '' ".source.bootstrap = \"$KAFKA_TLS_SERVER\" | .source.properties_file = \"$PWD/kafka.conf\" |
        .sink.url = \"$HTTPS_SERVER\" | .sink.cacert = \"$authority\""
    printf 'security.protocol=ssl\nssl.ca.location=%s\n' "$authority" >kafka.conf
    produce "t$id" 1 300
    job "$id" --stop-at-end
    [ "$(rows_in "t$id")" -eq 300 ]
    run -0 --separate-stderr "$root/pipelines/audit" --topic="t$id" --table="shop.t$id" --key=event_id --range=ALL --from=seen:ms \
        --bootstrap="$KAFKA_TLS_SERVER" -X security.protocol=ssl -X ssl.ca.location="$authority" \
        --url="$HTTPS_SERVER" --cacert="$authority" --user=reader --password-env=READER_PASSWORD --settle-ms=0 --json \
        -- jq -c '{at: "\(.topic)/\(.partition)/\(.offset)", values: .value}'
    [ "$(jq -r .verdict <<<"$output")" = passed ]
    [ "$(jq '.summaries[0].keys' <<<"$output")" -eq 300 ]
}

@test "a server's certificate of another name, one that has expired, one signed by itself and one of a stranger" {
    run -0 server "$HTTPS_SERVER" "$authority"
    refused 'no alternative certificate subject name matches' server "$HTTPS_ELSEWHERE" "$authority"
    refused 'certificate has expired' server "$HTTPS_EXPIRED" "$authority"
    refused 'self-signed certificate' server "$HTTPS_ALONE" "$authority"
    refused 'unable to get local issuer certificate' server "$HTTPS_SERVER" "$CERTIFICATES/stranger.pem"
}

@test "a broker's certificate of another name, one that has expired, one signed by itself and one of a stranger" {
    kafka create-topic seen 1
    run -0 broker "$KAFKA_TLS_SERVER" "$authority"
    refused "the broker's certificate was refused: IP address mismatch" broker "$KAFKA_TLS_ELSEWHERE" "$authority"
    refused "the broker's certificate was refused: certificate has expired" broker "$KAFKA_TLS_EXPIRED" "$authority"
    refused "the broker's certificate was refused: self-signed certificate" broker "$KAFKA_TLS_ALONE" "$authority"
    refused "the broker's certificate was refused: unable to get local issuer certificate" broker "$KAFKA_TLS_SERVER" \
        "$CERTIFICATES/stranger.pem"
}

@test "a client's certificate, where one is asked for" {
    refused 'alert' server "$HTTPS_CLIENT" "$authority"
    run -0 server "$HTTPS_CLIENT" "$authority" --client-cert="$CERTIFICATES/client.pem" --client-key="$CERTIFICATES/client.key"
    cat "$CERTIFICATES/client.pem" "$CERTIFICATES/client.key" >both.pem
    run -0 server "$HTTPS_CLIENT" "$authority" --client-cert=both.pem
    # of another authority
    refused 'alert' server "$HTTPS_CLIENT" "$authority" --client-cert="$CERTIFICATES/alone.both"
    kafka create-topic asked 1
    refused 'alert' log-look --bootstrap="$KAFKA_TLS_CLIENT" --topic=asked --timeout-ms=5000 -X security.protocol=ssl \
        -X ssl.ca.location="$authority"
    run -0 log-look --bootstrap="$KAFKA_TLS_CLIENT" --topic=asked -X security.protocol=ssl -X ssl.ca.location="$authority" \
        -X ssl.certificate.location="$CERTIFICATES/client.pem" -X ssl.key.location="$CERTIFICATES/client.key"
}

# A listener that speaks no TLS: what it hears goes to the file heard, and it answers with what is in the file say.
listener() {
    port=$((10240 + (RANDOM * 32768 + RANDOM) % 20000))
    socat "TCP-LISTEN:$port,bind=127.0.0.1,reuseaddr,fork" SYSTEM:'cat say; cat >>heard' 3>&- 2>/dev/null &
    listening=$!
    until (exec 9<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do kill -0 "$listening"; done
}

@test "a handshake that breaks: refused, and nothing was said in the clear" {
    : >heard
    printf 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n1\n' >say
    listener
    refused 'SSL' server "https://127.0.0.1:$port" "$authority"
    # no line of it is an HTTP request, and no word of it is the login
    run -1 grep -aE 'HTTP/1|Authorization|X-ClickHouse|reader|SELECT' heard
    [ -s heard ]
    : >heard
    refused 'SSL' log-look --bootstrap="127.0.0.1:$port" --topic=seen --timeout-ms=5000 -X security.protocol=sasl_ssl \
        -X ssl.ca.location="$authority" -X sasl.mechanism=PLAIN -X sasl.username=reader -E sasl.password=READER_PASSWORD
    run -1 grep -aE 'reader|PLAIN|seen' heard
    [ -s heard ]
    kill "$listening"
    # a plain listener of the real broker
    refused 'SSL' broker "$KAFKA_BOOTSTRAP" "$authority" --timeout-ms=5000
}
