#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The manual: a page for every program, and every example on it run. In an EXAMPLES section a line that starts with `$ ` is
# a command (lines that start with `> ` continue it), run in a copy of fixtures/. A comment `exit N` before a display says what it
# exits with (0 where nothing is said), `live` that it needs services and is run among the live tests.
bats_require_minimum_version 1.5.0
load stream

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# Print `status<TAB>command` for each example of a page; live ones with the status "live".
examples() {
    awk '
        function out() { if (line != "") { gsub(/\\e/, "\\", line); print want "\t" line; line = "" } }
        /^\.Sh / { out(); inside = $2 == "EXAMPLES"; want = 0; next }
        !inside { next }
        /^\.\\" exit / { want = $3 }
        /^\.\\" live/ { want = "live" }
        /^\.Ed/ { out(); want = 0 }
        /^> / { line = line "\001" substr($0, 3); next }
        /^\$ / { out(); line = substr($0, 3); next }
        { out() }
        END { out() }
    ' "$1"
}

@test "a page for every program, and for the formats" {
    for s in "$root"/stages/*.c; do
        page=$root/man/$(basename "$s" .c).1
        [ -e "$page" ] || { echo "no page: $page" >&2; return 1; }
        for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES; do
            grep -q "^\.Sh $section" "$page" || { echo "$page: no $section" >&2; return 1; }
        done
        [ -n "$(examples "$page")" ] || { echo "$page: no example" >&2; return 1; }
    done
    for page in owed.7 owed-codes.7 owed-stream.5 owed-scope.5 owed-bundle.5 owed-case.5 owed-evidence.5 owed-job.5; do [ -e "$root/man/$page" ]; done
}

# The options, long and short, in a text, one a line; those that every program has are left out.
options_in() { { grep -oP -- '(?<![\w-])(--[a-z][a-z0-9-]*|-[A-Za-z])(?![\w-])' || true; } | { grep -vxE -- '--(help|version)|-[hV]' || true; } | sort -u; }

# What a page shows from its synopsis to the end of its options; what its synopsis and the heads of its lists show.
told() { mandoc -Tascii -O width=500 "$root/man/$1.1" | col -bx | sed -n '/^SYNOPSIS/,$p' | awk '/^[A-Z]/ && !/^(SYNOPSIS|DESCRIPTION|OPTIONS)/ { exit } { print }'; }
promised() {
    told "$1" | sed '/^DESCRIPTION/,$d'
    awk '/^\.It / { for (i = 2; i < NF; i++) if ($i == "Fl") print "-" $(i + 1) }' "$root/man/$1.1"
}

@test "every option that --help names stands on the page, and the other way round" {
    for s in "$root"/stages/*.c; do
        p=$(basename "$s" .c)
        "$bin/$p" --help | options_in >help
        told "$p" | options_in >shown
        promised "$p" | options_in >headed
        [ -s help ] && [ -s headed ]
        run -0 comm -23 help shown
        [ -z "$output" ] || { echo "$p: not on its page: $output" >&2; return 1; }
        run -0 comm -13 help headed
        [ -z "$output" ] || { echo "$p: on its page, and not in --help: $output" >&2; return 1; }
        # Each is one that the program knows.
        run -2 "$bin/$p" --no-such-option=1 </dev/null
        [[ $output == *": no such option"* ]]
        while read -r option; do
            run timeout 10 "$bin/$p" "$option" </dev/null
            [[ $output != *": no such option"* ]] || { echo "$p: $output" >&2; return 1; }
        done <headed
    done
}

# The statements are texts in lib/chread; a page that lists fewer tables lets a user grant too little.
@test "ch-read(1) lists every system table that ch-read reads, and no other" {
    diff <(grep -ohE 'FROM system\.[a-z_]+' "$root"/lib/chread/*.c | sed 's/^FROM //' | sort -u) \
        <(grep -oE 'system\.[a-z_]+' "$root/man/ch-read.1" | sort -u)
}

@test "the server lines that were tried are one list: in the source, the parts, the services of the tests, the pages and the README" {
    tried=$(grep '^#define HTTP_LINES_TESTED ' "$root/lib/http/lines.h" | grep -oE '[0-9]+\.[0-9]+' | paste -sd' ')
    [ -n "$tried" ]
    [ "$(grep -oE '^make_chdb-[0-9.]+' "$root/deps.sh" | grep -oE '[0-9.]+$' | paste -sd' ')" = "$tried" ]
    [ "$(grep -E '^ +[0-9.]+ \| [0-9.]+\) front ;;' "$root/tests/services/clickhouse" | grep -oE '[0-9]+\.[0-9]+' | paste -sd' ')" = "$tried" ]
    [ "$(grep -E 'on which this was tested: ' "$root/man/ch-sink.1" | grep -oE '[0-9]+\.[0-9]+' | paste -sd' ')" = "$tried" ]
    [ "$(grep -E '^The lines .* were read in tests' "$root/man/ch-read.1" | grep -oE '[0-9]+\.[0-9]+' | paste -sd' ')" = "$tried" ]
    [ "$(grep -oE 'engine of the .* lines' "$root/README.md" | grep -oE '[0-9]+\.[0-9]+' | paste -sd' ')" = "$tried" ]
}

@test "every example of the manual runs and exits as it says" {
    ran=0
    for page in "$root"/man/*.1; do
        while IFS=$'\t' read -r want command; do
            [ "$want" != live ] || continue
            rm -rf "$BATS_TEST_TMPDIR/work"
            cp -R "$root/fixtures" "$BATS_TEST_TMPDIR/work"
            got=0
            (cd "$BATS_TEST_TMPDIR/work" && PATH=$bin:$PATH bash -o pipefail -c "${command//$'\001'/$'\n'}" >out 2>err) || got=$?
            ran=$((ran + 1))
            if [ "$got" -ne "$want" ]; then
                printf '%s: exit %s, not %s: %s\n' "$(basename "$page")" "$got" "$want" "$command" >&2
                cat "$BATS_TEST_TMPDIR/work/err" >&2
                return 1
            fi
        done < <(examples "$page")
    done
    [ "$ran" -ge 10 ]
}

# The members that owed-report(5) lists, one a line, those of a member behind it and a point; * is any name.
members_listed() {
    awk '/^\.Bl / { depth++ } /^\.El/ { depth-- }
        /^\.It (Ql|Ar) / { name[depth] = $2 == "Ar" ? "*" : $3; path = name[1]
            for (i = 2; i <= depth; i++) path = path "." name[i]
            print path }' "$root/man/owed-report.5" | sort -u
}

# The members that reports on standard input have, in the same manner; not those of lines, which are the stream's.
members_had() {
    jq -r 'paths | map(select(type == "string")) | select(length == 1 or (length > 1 and (.[0] | IN($lines[]) | not))) |
        if .[-2:-1] == ["facts"] or .[0:-1] == ["verified"] then .[-1] = "*" else . end | join(".")' \
        --argjson lines '["stages","made","stops","bundles","scopes","columns","intervals","accounts","observations","sides","summaries","logs","findings"]' | sort -u
}

# Reports of all kinds of ends: of the saved runs, of one that was cut, of one with a line that is none, of two causes at once.
reports() {
    local saved
    for saved in "$root"/fixtures/*/*-rows-diff.ndjson "$root"/fixtures/audit/*/*-rows-diff.ndjson; do report <"$saved"; done
    head -n 5 "$saved" | report
    jq -c 'if .recorded.program then .recorded.program += {unreadable: 1, unreadable_records: ["t/0/1: x"], on_unreadable: "skip"} else . end' \
        "$root/fixtures/audit/a-message-that-engine-kafka-skips/8-rows-diff.ndjson" | report
    sed 's/^{"type":"side","side":"reference"/{"type":"absent","key":["1"],"why":"aborted"}\n&/' \
        "$root/fixtures/audit/a-message-that-engine-kafka-skips/8-rows-diff.ndjson" | report
    jq -c 'if .type == "observation" then .replica = {path: "/p", name: "r", max_delay_s: 0} else . end' \
        "$root/fixtures/audit/a-message-that-engine-kafka-skips/8-rows-diff.ndjson" | report
    sed 's/"side":"reference","rows":180/&,"nearest":3/' "$root/fixtures/audit/a-message-that-engine-kafka-skips/8-rows-diff.ndjson" | report
    { head -n 1 "$saved"; echo '{"type":"require","checks":["none.such"]}'; } | ended | report
    { head -n 1 "$saved"; echo '{"type":"require","checks":["bundle.manifest","reconcile.scope"]}'
        printf '{"type":"check","stage":"ch-read","name":"%s","status":"unavailable",%s,"reason":"r","evidence":[]}\n' \
            bundle.manifest '"code":"interrupted"' reconcile.scope '"code":"bound-passed","facts":{"option":"--max-line"}'; } | ended | report
}
report() { "$bin/verdict" --json || [ $? -le 3 ]; }

@test "every member of the report stands on its page, and every one that stands there is in a report" {
    reports >all 2>/dev/null
    [ "$(wc -l <all)" -ge 40 ]
    members_had <all >had
    members_listed >listed
    [ "$(wc -l <listed)" -ge 40 ]
    diff had listed || { echo "what reports have (<) and the page lists (>) differ" >&2; return 1; }
}

@test "every member that a line of the saved streams has stands at its type in owed-stream(5)" {
    awk '/^\.Ss Whole/ { exit } /^\.It / { n = split($0, types, /[ ,]+/); next }
        n && /^\.(Ql|Pq Ql) / { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z_0-9]+$/) for (t = 2; t <= n; t++) print types[t], $i }' "$root/man/owed-stream.5" | sort -u >listed
    find "$root/fixtures" \( -name '[0-9]*.ndjson' -o -path '*/lane/*.ndjson' -o -path '*/reference/*.ndjson' \) ! -name reference.ndjson -print0 |
        xargs -0 cat | jq -r 'select(.type) | .type as $type | keys_unsorted[] | select(. != "type") | "\($type) \(.)"' | sort -u >had
    [ "$(wc -l <had)" -ge 100 ]
    run -0 comm -23 had listed
    [ -z "$output" ] || { printf 'not on the page:\n%s\n' "$output" >&2; return 1; }
}
