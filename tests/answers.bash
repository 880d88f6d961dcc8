# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154 # bats sets output
# What programs said of the streams that stream.bash makes, out of $output.

# from FILE COMMAND…: the command with the file as its standard input.
from() {
    local in=$1
    shift
    "$@" <"$in"
}

# is_whole FILE…: each ends, and its end counts what came.
is_whole() {
    local f
    for f; do
        jq -es '(.[:-1] | group_by(.type) | map({(.[0].type): length}) | add) == .[-1].lines' "$f" >/dev/null || { echo "$f is not whole" >&2; return 1; }
    done
}

# of TYPE [MEMBERS]: the lines of a type, which is a line's first member, and if so be with the members that come next as they are
# written. A start of jq would take longer than most programs here.
of() { sed -n "/^{\"type\":\"$1\"${2:+,$2}[,}]/p" <<<"$output"; }
document() { of scope | sed 's/^{"type":"scope","document":\(.*\)}$/\1/'; }

# ---- checks ----

check() { jq -r 'select(.type == "check" and .name == "'"${1:-reconcile.rows}"'") | .status' <<<"$output"; }
reason() { jq -r 'select(.type == "check" and .name == "'"${1:-reconcile.rows}"'") | .reason' <<<"$output"; }
code() { jq -r 'select(.type == "check" and .name == "'"$1"'") | .code' <<<"$output"; }

# check_is STATUS TEXT [CODE]: the check reconcile.destination in $output.
check_is() {
    jq -se --arg status "$1" --arg text "$2" --arg code "${3:-}" '
        [.[] | select(.type == "check" and .name == "reconcile.destination")] | length == 1 and
        .[0].status == $status and (.[0].reason | contains($text)) and ($code == "" or .[0].code == $code)' <<<"$output" >/dev/null ||
        { grep -a '"reconcile.destination"' <<<"$output" >&2; return 1; }
}

# ---- rows ----

# read_rows N: the cells of the destination's read N, in $output.
read_rows() {
    jq -c --argjson read "$1" 'select(.type == "row" and .read == $read) | .cells' <<<"$output"
}

sides_whole() { # true|false
    [ "$(jq -c 'select(.type == "side" and .side == "destination") | [.read, .whole]' <<<"$output" | tr -d '\n')" = "[1,$1][2,$1]" ]
}

# ---- rows-diff ----

diff_() { rows-diff "$@" <stream; }
# With little memory, under a limit that the system keeps. A sanitizer's own map of all memory would be past it.
bounded() {
    [ -n "${ASAN_OPTIONS:-}" ] || ulimit -v 200000
    diff_ --memory=16M --scratch=.
}
# missing, changed, duplicated keys, surplus copies, unexpected
counts() {
    jq -r 'select(.type == "summary" and .relation == "'"${1:-delivery}"'") |
        "\(.missing.rows) \(.changed.rows) \(.duplicated.keys) \(.duplicated.surplus) \(.unexpected.rows)"' <<<"$output"
}
runs() { jq -c 'select(.type == "summary") | .runs[] | [.kind, .topic, .partition, .first, .last, .rows]' <<<"$output"; }
findings() { jq -c 'select(.type == "finding") | [.kind, .key, .owed, .found, .owed_copies, .found_copies, .at, .explained]' <<<"$output"; }
