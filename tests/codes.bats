#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The one table of codes, the programs and owed-codes(7) say the same: every code is given somewhere and nothing gives another,
# every fact that an action asks for is one that some code is given with, and an action names only options that there are.
bats_require_minimum_version 1.5.0

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    table=$root/lib/stream/codes.h
    cd "$root" || exit 1
}

# ids: the table's, sorted; sources: the C files that give codes.
ids() { sed -n 's/^    X(\([A-Z_]*\), "[a-z-]*", \\$/\1/p' "$table" | sort; }
sources() { git -C "$root" ls-files --cached --others --exclude-standard 'lib/*.[ch]' 'stages/*.c' | grep -v '^lib/stream/codes\.h$'; }

@test "the page is the table, both ways" {
    [ "$(ids | wc -l)" -ge 100 ]
    diff <(man/make-codes) man/owed-codes.7
    diff <(sed -n 's/^    X([A-Z_]*, "\([a-z-]*\)", \\$/\1/p' "$table") <(sed -n 's/^\.It //p' man/owed-codes.7)
    [ "$(ids | sort -u | wc -l)" = "$(ids | wc -l)" ]
}

# That no program gives another one, the compiler sees to.
@test "every code is given by a program" {
    sources | xargs grep -ohP '(?<![A-Z_])CODE_[A-Z_]+' | sed 's/^CODE_//' | sort -u >"$BATS_TEST_TMPDIR/given"
    [ -z "$(comm -23 <(ids) "$BATS_TEST_TMPDIR/given")" ] || { comm -23 <(ids) "$BATS_TEST_TMPDIR/given" >&2; return 1; }
}

@test "every fact that an action asks for is one that a program gives" {
    # In a BECAUSE, a table of facts, or a cause_add; a statement of C ends at its semicolon.
    sources | xargs perl -0ne '
        for (/(?:BECAUSE\(|struct fact \w+\[\])[^;]*;/g) { print "$_\n" for /\{"([a-z]+)",/g }
        print "$_\n" for /cause_add\(\S+ "([a-z]+)"/g' | sort -u >"$BATS_TEST_TMPDIR/given"
    sed -n '/^#define CODE_TABLE/,/^$/p' "$table" | grep -oP '\{\K[a-z]+(?=\|)' | sort -u >"$BATS_TEST_TMPDIR/asked"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/asked")" -ge 15 ]
    [ -z "$(comm -23 "$BATS_TEST_TMPDIR/asked" "$BATS_TEST_TMPDIR/given")" ] || { comm -23 "$BATS_TEST_TMPDIR/asked" "$BATS_TEST_TMPDIR/given" >&2; return 1; }
}

@test "an action names only options that a program has, and pages that there are" {
    for p in "$bin"/*; do "$p" --help; done | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$BATS_TEST_TMPDIR/options"
    sed -n '/^#define CODE_TABLE/,/^$/p' "$table" | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$BATS_TEST_TMPDIR/named"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/named")" -ge 20 ]
    [ -z "$(comm -23 "$BATS_TEST_TMPDIR/named" "$BATS_TEST_TMPDIR/options")" ]
    while IFS= read -r page; do
        [ -e "man/${page/(/.}" ] || { echo "no page $page" >&2; return 1; }
    done < <(grep -oE '[a-z-]+\([157]' "$table" | sort -u)
}

@test "nothing decides by an error's text" {
    sources | xargs cat >"$BATS_TEST_TMPDIR/all"
    run -1 grep -nE '(strstr|strcmp|strncmp|memcmp|memmem)\([^;]*\b(\w*err\w*|why\w*|[a-z])(->|\.)(text|reason)\b|(strstr|strcmp|strncmp)\([^;]*strerror' "$BATS_TEST_TMPDIR/all"
}

@test "a bundle that is not there is not called one that must not be used" {
    run -2 --separate-stderr "$bin/bundle-check" "$BATS_TEST_TMPDIR/nosuch"
    [ "$(jq -r 'select(.type == "stop") | .code' <<<"$output")" = bundle-missing ]
    run -2 "$bin/verdict" <<<"$output"
    [[ $output == *"bundle-missing: name a bundle's directory"* && $output != *"do not use"* ]]
}

@test "verdict shows each open check's code and next action, with its facts, in the text and as JSON" {
    cd fixtures || exit 1
    run -3 --separate-stderr "$bin/verdict" <a-mutation-in-progress/8-rows-diff.ndjson
    [[ $output == *"unavailable   reconcile.destination  mutation-running"* ]]
    [[ ${lines[1]} == "        mutation-running: wait until mutation mutation_40.txt is done "* ]]
    run -3 --separate-stderr "$bin/verdict" --json <a-mutation-in-progress/8-rows-diff.ndjson
    [ "$(jq -r '.code, (.next | length > 20)' <<<"$output")" = $'mutation-running\ntrue' ]
    jq -e '.checks | all(if .status == "passed" then has("code") | not else (.code | length > 0) and (.next | length > 0) end)' <<<"$output"
    [ "$(jq -r '.checks[] | select(.name == "reconcile.destination") | .facts.mutation' <<<"$output")" = mutation_40.txt ]
}

@test "a line with a code that nobody knows, or an open check without one, is refused" {
    cd fixtures || exit 1
    for edit in 's/"code":"mutation-running"/"code":"no-such"/' 's/"code":"mutation-running",//' 's/"facts":{"mutation":"[^"]*"}/"facts":["x"]/' \
        's/"status":"passed"/"status":"passed","code":"usage"/'; do
        run -2 --separate-stderr "$bin/verdict" < <(sed "$edit" a-mutation-in-progress/8-rows-diff.ndjson)
        [[ $output == *"line-malformed: correct line "* ]]
    done
}
