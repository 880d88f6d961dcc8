#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# ch-read without a server: its arguments, and that nothing is connected to before the input allows it.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
bats_require_minimum_version 1.5.0
load stream
load answers

columns='[{"name":"id","type":"Int64","key":true},{"name":"s","type":"String"}]'

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    {
        scope_of u1 t1 shop orders "$columns"
        columns_of "$columns"
        captured_side '["1","x"]' '["2","y"]'
    } >lines
    listen
}

teardown() {
    [ -z "${listener:-}" ] || kill "$listener" 2>/dev/null || true
}

# A socket on loopback that counts who connects, before it answers nobody.
listen() {
    python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], file=open("port.new", "w"))
__import__("os").rename("port.new", "port")
while True:
    c, _ = s.accept()
    print("connected", file=open("connections", "a"))
    c.close()
' 3>&- &
    listener=$!
    for _ in $(seq 6000); do
        [ ! -s port ] || break
        sleep 0.02
    done
    url=http://127.0.0.1:$(cat port)
}

connected() { [ -s connections ]; }

read_it() { # STATUS STREAM [ARGUMENT…]
    local want=$1 in=$2
    shift 2
    run "-$want" --separate-stderr from "$in" "$bin/ch-read" --url="$url" --settle-ms=0 "$@"
}

@test "the listener that counts is able to count" {
    { cat lines; checked reconcile.scope passed; } | whole in
    read_it 3 in
    connected
    check_is unavailable "connecting" answer-broken
    sides_whole false
    [ "${#stderr_lines[@]}" -eq 1 ]
}

@test "an input that ends early is not acted on" {
    { cat lines; checked reconcile.scope passed; } | whole in
    for n in 1 3 6; do
        head -n "$n" ./in >part
        read_it 3 part
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = unfinished ]
        [ -z "$(jq -c 'select(.type == "row" and .side == "destination")' <<<"$output")" ]
    done
    head -c -30 ./in >part
    read_it 3 part
    read_it 3 /dev/null
    run ! connected
}

@test "after a stop nothing is opened, and what came passes without its rows" {
    { cat lines; checked reconcile.scope passed; stopped unfinished r; } | whole in
    read_it 3 in
    run ! connected
}

@test "a bundle that failed a check is not read for" {
    { cat lines; checked bundle.artifacts failed; checked reconcile.scope passed; } | whole in
    read_it 3 in
    check_is unavailable "bundle.artifacts failed" check-not-passed
    sides_whole false
    run ! connected
}

@test "a scope that did not pass, or that nobody checked, is not read for" {
    for status in unavailable unsupported failed; do
        { cat lines; checked reconcile.scope passed; checked reconcile.scope "$status"; } | whole in
        read_it 3 in
        check_is unavailable "reconcile.scope did not pass" check-not-passed
    done
    whole in <lines
    read_it 3 in
    check_is unavailable "nobody made reconcile.scope" check-not-made
    run ! connected
}

@test "a whole reference is read for, whatever became of the scope; one that is not whole is not" {
    for status in passed unavailable failed; do
        { grep -v '"row"\|"side"' lines; captured '["7","x"]'; open_side captured 1 lost; reference '["7","x"]'; side reference 1; checked reconcile.scope "$status"; } | whole in
        read_it 3 in
        check_is unavailable "connecting" answer-broken
        connected
        rm connections
    done
    { grep -v '"row"\|"side"' lines; side captured 0; reference '["7","x"]'; open_side reference 1 gap; checked reconcile.scope unavailable; } | whole in
    read_it 3 in
    check_is unavailable "reconcile.scope did not pass" check-not-passed
    { grep -v '"row"\|"side"' lines; side captured 0; reference '["7","x"]'; side reference 2; checked reconcile.scope unavailable; } | whole in
    read_it 3 in
    check_is unavailable "reconcile.scope did not pass" check-not-passed
    run ! connected
}

@test "where no key is owed nothing is opened, and nothing owed and received is said so" {
    none() { grep -v '"row"\|"side"' lines; checked reconcile.scope passed; }
    { none; side captured 0; } | whole in
    read_it 3 in
    check_is unavailable "no row is owed" scope-empty
    { none; side captured 0; side reference 0; } | whole in
    read_it 3 in
    check_is unavailable "nothing is owed and nothing was received" empty
    { none; side captured 0; open_side reference 0 gap; } | whole in
    read_it 3 in
    check_is unavailable "no row is owed" scope-empty
    { none; } | whole in
    read_it 3 in
    check_is unavailable "nothing says what is owed" nothing-owed
    run ! connected
}

@test "a column without cells is unsupported by its name, and a key that cannot be one" {
    for pair in 'Array(Dynamic):String:Array(Dynamic)' 'String:Nullable(Int64):Nullable(Int64)'; do
        IFS=: read -r value key name <<<"$pair"
        cols=$(jq -cn --arg v "$value" --arg k "$key" '[{name: "id", type: $k, key: true}, {name: "s", type: $v, key: false}]')
        {
            scope_of u1 t1 shop orders "$cols"
            columns_of "$cols"
            checked reconcile.scope passed
        } | whole in
        read_it 3 in
        check_is unsupported "$name"
    done
    run ! connected
}

@test "what is no stream of a scope is refused" {
    { checked reconcile.scope passed; } | whole in
    read_it 2 in
    { cat lines lines; } | whole in
    read_it 2 in
    { cat lines; table_row 1 '["1","x"]'; } | whole in
    read_it 2 in
    { cat lines; echo '{"type":"observation"}'; } | whole in
    read_it 2 in
    [[ $stderr == *"read already"* ]]
    for cells in '["1"]' '["1","x","y"]' '["01","x"]' '["1", "x"]' '[1,"x"]' '[null,"x"]' '["9223372036854775808","x"]' '[{"b64":"AA"},"x"]'; do
        { cat lines; captured "$cells"; checked reconcile.scope passed; } | whole in
        read_it 2 in
        [[ $stderr == *"line 7"* ]] || { echo "$cells: $stderr" >&2; return 1; }
    done
    { scope_of u1 t1 shop orders "$columns"; columns_of "${columns/String/Int8}"; checked reconcile.scope passed; } | whole in
    read_it 2 in
    { sed 's/"table_uuid":"t1"/"table_uuid":"t2"/' lines; checked reconcile.scope passed; } | whole in
    read_it 2 in
    [[ $stderr == *scope_sha256* ]]
    { captured '["1","x"]'; cat lines; } | whole in
    read_it 2 in
    run ! connected
}

@test "bad arguments are 2 with one line, and name what is wrong" {
    { cat lines; checked reconcile.scope passed; } | whole in
    while IFS='|' read -r argument text; do
        read_it 2 in "$argument"
        [ "${#stderr_lines[@]}" -eq 1 ]
        [[ $stderr == *"$text"* ]] || { echo "$argument: $stderr" >&2; return 1; }
        [ "$(jq -r 'select(.type == "stop") | .kind' <<<"$output")" = refused ]
        [ "$(tail -n 1 <<<"$output" | jq -r .type)" = end ]
        [ -z "$(jq -c 'select(.type == "row")' <<<"$output")" ]
    done <<'EOF'
--query-timeout-ms=0|--query-timeout-ms
--query-timeout-ms=1s|--query-timeout-ms
--max-rows-per-query=-1|--max-rows-per-query
--keys-per-query=|--keys-per-query
--settle-ms=99999999999|--settle-ms
--connect-timeout-ms=x|--connect-timeout-ms
--format=tsv|--format
--max-line=1|--max-line
--cacert=none.pem|none.pem
--password-env=OWED_NOT_SET|OWED_NOT_SET
--password-env=|--password-env: no environment variable is named
--password-file=hunter2|--password-file: its file cannot be opened: No such file
--password-file=.|--password-file: cannot read 'its file': it is a directory
--password-filehunter2|'--password-file...': no such option
--url=ftp://x|URL
extra|extra
EOF
    run -2 --separate-stderr "$bin/ch-read" --user=x <in
    [[ $stderr == *"--url is missing"* ]]
    run ! connected
}

@test "a credential in the URL is refused and shown nowhere" {
    { cat lines; checked reconcile.scope passed; } | whole in
    for bad in 'http://audit:s3cr%21t@127.0.0.1:1/' 'http://127.0.0.1:1/?password=s3cr%21t' 'https://s3cr%21t@h'; do
        run -2 --separate-stderr "$bin/ch-read" --url="$bad" <in
        [[ $output$stderr != *s3cr* ]]
    done
    run -2 --separate-stderr "$bin/ch-read" --url="$url" --password=s3cr <in
    [[ $output$stderr != *s3cr* ]]
}

@test "every line that came passes as the bytes it came as, in order" {
    { cat lines; echo '{"type":"note",  "x" : 1.0}'; checked reconcile.scope unavailable; } | whole in
    read_it 3 in
    diff <(sed '1d;$d' in) <(sed '1d' <<<"$output" | head -n $(($(wc -l <in) - 2)))
}

# A server with a certificate of its own, which answers every statement with status 503.
https_server() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" -addext "subjectAltName=$1" \
        -keyout key.pem -out cert.pem 2>/dev/null
    rm -f port
    kill "$listener"
    python3 -c '
import os, ssl
from http.server import BaseHTTPRequestHandler, HTTPServer
class Busy(BaseHTTPRequestHandler):
    def do_POST(self):
        print("connected", file=open("connections", "a"))
        self.send_error(503)
    def log_message(self, *a): pass
s = HTTPServer(("127.0.0.1", 0), Busy)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain("cert.pem", "key.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
print(s.server_port, file=open("port.new", "w"))
os.rename("port.new", "port")
s.serve_forever()
' 2>/dev/null 3>&- &
    listener=$!
    for _ in $(seq 6000); do
        [ ! -s port ] || break
        sleep 0.02
    done
    url=https://127.0.0.1:$(cat port)
}

@test "https: the certificate is verified, its name too, and --cacert says whom to trust" {
    { cat lines; checked reconcile.scope passed; } | whole in
    https_server IP:127.0.0.1
    read_it 3 in
    check_is unavailable certificate server-unreachable
    run ! connected
    read_it 3 in --cacert=cert.pem
    check_is unavailable "HTTP status 503" answer-broken
    connected
    rm connections
    https_server DNS:elsewhere
    read_it 3 in --cacert=cert.pem
    check_is unavailable "connecting"
    run ! connected
}

@test "no proxy is taken from the environment" {
    { cat lines; checked reconcile.scope passed; } | whole in
    export http_proxy=$url HTTP_PROXY=$url ALL_PROXY=$url
    url=http://127.0.0.1:1
    read_it 3 in
    check_is unavailable "connecting"
    run ! connected
}

@test "F15: a declared scope whose table is to be read whole is refused, and no program that needs a bundle is named" {
    { scope_of u1 t1 shop orders "$columns" | jq -c '.document | .origin = "declared" | del(.bundle) | .declared = {gone: []}' | scope_print |
        scope_line; tail -n +2 lines; } | whole in
    read_it 2 in --max-table-rows=10
    [[ $output == *"scope-declare --coverage=complete-table does"* && $output != *scope-cut* ]]
    run ! connected
}
