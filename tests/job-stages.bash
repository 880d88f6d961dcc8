# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Lanes of a job for tests: lines on standard input become a whole stream.

# The programs of this tree, whatever else is installed.
PATH=${OWED_BIN:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/bin}:$PATH

head='{"type":"stream","format":"owed-stream","version":1,"stages":[{"name":"t","version":"1"}]}'

# whole FILE: the lines of standard input as a stream with its header and end.
whole() {
    { echo "$head"; cat; } >"$1.lines"
    { cat "$1.lines"; printf '{"type":"end","lines":{%s}}\n' "$(counts "$1.lines")"; } >"$1"
    rm "$1.lines"
}

counts() {
    jq -r .type "$1" | sort | uniq -c | awk '{printf "%s\"%s\":%s", sep, $2, $1; sep=","}'
}

event() { # offset
    printf '{"type":"event","at":"t/0/%s","ts":%s,"values":{"id":%s}}\n' "$1" "$1" "$1"
}

watermark() {
    printf '{"type":"watermark","ts":%s}\n' "$1"
}

idle() {
    echo '{"type":"watermark","idle":true}'
}

barrier() { # checkpoint previous [left entries, comma separated]
    printf '{"type":"barrier","job":"1","checkpoint":%s,"previous":%s,"attempt":"a","left":[%s]}\n' "$1" "$2" "${3:-}"
}

# snapshot SUBTASK CHECKPOINT: the entry that a source lane leaves.
snapshot() {
    printf '{"operator":"1","subtask":%s,"kind":"snapshot","file":"_state/1/v1/%s/checkpoint-%s.snap","bytes":1,"sha256":"%064d"}' "$1" "$1" "$2" 0
}
