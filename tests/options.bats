#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Options, over all programs: what several of them have is one option, and a refusal knows what else was given.
bats_require_minimum_version 1.5.0
load stream

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
    cd "$BATS_TEST_TMPDIR" || exit 1
    programs=$(cd "$root/stages" && echo *.c)
    programs=${programs//.c/}
}

# program<TAB>option<TAB>value<TAB>text of every option in every --help, the text on one line; a flag's value is "none".
catalogue() {
    for p in $programs; do
        "$bin/$p" --help | awk -v p="$p" '
            function out() { if (name != "") print p "\t" name "\t" value "\t" text; name = "" }
            /^usage: /  { next }
            /^exit: / || /--help, --version$/ { out(); next }
            /^ +(-[A-Za-z], )?--[a-z]/ || /^  -[A-Za-z] / {
                out()
                match($0, /(--[a-z-]+|-[A-Za-z] )[^ ]*/)
                head = substr($0, RSTART, RLENGTH); text = substr($0, RSTART + RLENGTH); sub(/^ +/, "", text)
                name = head; sub(/[[= ].*/, "", name)
                value = substr(head, length(name) + 1); if (value == "") value = "none"
                next
            }
            /^   / && name != "" { sub(/^ +/, ""); text = text == "" ? $0 : text " " $0 }
            END { out() }'
    done
}

# The numbers among them, as program and option.
numbers() { catalogue | awk -F '\t' '$3 == "=N" || $3 == "=SIZE" { print $1, $2 }'; }

# refused PROGRAM TEXT ARGUMENT…: with one line that names it, which is left in $stderr, and what else it says in $output; nothing is read.
# Without run and, in a loop, without bats's trap on every command, which would take longer than the hundreds of programs.
refused() {
    local p=$1 named=$2 status=0
    shift 2
    "$bin/$p" "$@" </dev/null >out 2>err || status=$?
    IFS= read -rd '' output <out || true
    IFS= read -rd '' stderr <err || true
    stderr=${stderr%$'\n'}
    if [ "$status" -ne 2 ] || [[ $stderr != "$p: "*"$named"* || $stderr == *$'\n'* ]]; then
        echo "$p $*: status $status: $stderr" >&2
        return 1
    fi
}

@test "an option that several programs have says the same in each" {
    # Where one does not: what is written, or bounded, is another thing (--out, --max-bytes); each has its own set to choose
    # from (--profile, --checkpoint, --topic); bundle-pack and scope-cut choose by what others are (--operator, --table,
    # --database); the job's manifest may say it (--commit-confirmation); and kafka-tail, which runs alone as well, has an --operator
    # and an --attempt by default. What --coverage=complete-table is taken from is the bundle's, or the operator's word.
    catalogue >all
    for differs in --out --max-bytes --profile --checkpoint --topic --operator --table --database --commit-confirmation --attempt --coverage; do
        [ "$(awk -F '\t' -v o="$differs" '$2 == o { print $3 "\t" $4 }' all | sort -u | wc -l)" -gt 1 ] || { echo "$differs is one: take it off the list" >&2; return 1; }
        sed -i "/\t$differs\t/d" all
    done
    [ "$(cut -f 2 all | sort | uniq -d | wc -l)" -ge 20 ]
    [ "$(awk -F '\t' '$2 == "--max-line"' all | wc -l)" -eq 21 ]
    cut -f 2- all | sort -u | cut -f 1 | uniq -d >twice
    [ ! -s twice ] || { grep -F -f twice all >&2; return 1; }
}

@test "an option that several programs have has the same bounds in each" {
    numbers >all
    [ "$(wc -l <all)" -ge 50 ]
    (
        trap - DEBUG
        while read -r p o; do
            refused "$p" "$o: 'x' is not a " "$o=x"
            [ "$o" = --max-bytes ] || echo "${stderr#*: }" >>bounds
        done
    ) <all
    sort -u bounds | cut -d : -f 1 | uniq -d >twice
    [ ! -s twice ] || { grep -F -f twice bounds | sort -u >&2; return 1; }
}

@test "a number out of bounds, with a sign or a tail, and none at all, is refused by the option's name" {
    numbers >all
    (
        trap - DEBUG
        while read -r p o; do
            for n in -1 '' 1x 18446744073709551616; do
                refused "$p" "$o: '$n' is not a " "$o=$n"
            done
            case $o in
                --max-line | --connect-timeout-ms | --query-timeout-ms | --timeout-ms | --generation | --parallelism | --retain | --checkpoint) ;;
                *) continue ;;
            esac
            refused "$p" "$o: '0' is not a " "$o=0"
            echo "$o" >>zeros
        done
    ) <all
    [ "$(sort -u zeros | wc -l)" -eq 8 ]
}

# A thousand refusals, each by what the programs share; that each option without a value is read safely, man.bats shows of the
# sanitized programs.
# bats test_tags=plain
@test "a value stands behind = or in the next argument, and an option is none" {
    catalogue >all
    (
        trap - DEBUG
        while IFS=$'\t' read -r p o value _; do
            case $value in
                none | '['*) continue ;;
                =N | =SIZE) refused "$p" "$o: 'x' is not a " "$o" x ;;
            esac
            for next in '' --help -- -h; do refused "$p" "'$o': its value is missing" "$o" ${next:+"$next"}; done
            echo >>tried
        done
    ) <all
    [ "$(wc -l <tried)" -ge 100 ]
}

@test "a flag takes no value, and a name is given in full" {
    catalogue >all
    cut -f 1,2 all >names
    (
        trap - DEBUG
        while IFS=$'\t' read -r p o value _; do
            [ "$value" != none ] || { refused "$p" "'$o' takes no value" "$o=hunter2"; [[ $output$stderr != *hunter2* ]]; }
            [[ $o != --* ]] || grep -qxF "$p"$'\t'"${o%?}" names || refused "$p" "'${o%?}': no such option" "${o%?}=1"
        done
        for p in $programs; do
            refused "$p" "'--hel'" --hel
            refused "$p" "'--vers'" --vers
            refused "$p" "'--help'" --help=all
        done
    ) <all
}

@test "what is no option shows no secret: not behind =, not behind a letter, not in the next argument" {
    for p in $programs; do
        for bad in --password=hunter2 -phunter2 '--password hunter2' '--nope=1 --password=hunter2' '--nope -- --password=hunter2'; do
            read -ra list <<<"$bad"
            refused "$p" '' "${list[@]}"
            [[ $output$stderr != *hunter2* ]] || { echo "$p $bad: $stderr" >&2; return 1; }
        done
    done
}

@test "of an option that is not a list the last value counts" {
    { echo "$head"; end_of stream 1; } >empty
    run -3 --separate-stderr bash -c "'$bin/verdict' --show=x --show=1 <empty; '$bin/verdict' --max-line=1K --max-line=2K <empty"
    [[ $stderr == *"--show: 'x'"* ]]
    run -2 --separate-stderr "$bin/bundle-check" --profile=integrity --profile=none nowhere
    [[ $stderr == *"--profile: 'none' is not one of integrity|consistency"* ]]
    run -2 --separate-stderr "$bin/table-look" --first --url=http://127.0.0.1:1 --table=no --table=a.b --table=shop
    [[ $stderr == *"--table=shop is not DATABASE.TABLE"* ]]
}

@test "a filter that is refused reads its input, whatever an option's value looks like" {
    { captured '["1"]'; echo '{"type":"note","x":1}'; } | whole came
    while read -r p arguments; do
        read -ra list <<<"$arguments"
        run -2 --separate-stderr "$bin/$p" "${list[@]}" <came
        [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop note end " ] || { echo "$p $arguments: $output" >&2; return 1; }
    done <<'CASES'
scope-cut --key event_id --nope
scope-cut --nope --key event_id
scope-cut --key event_id --checkpoint 0
scope-cut --key --nope
bundle-check --profile consistency --nope
bundle-check --scratch dir --max-line x
epoch-replay --op x --max-line 1K
epoch-replay --op --nope
epoch-freeze --op 2 --epoch --nope
epoch-freeze --op 2 --epoch 1 --out
scope-declare --key id --table --first-of-all
scope-declare --key=--first --nope
table-look --table=--first
table-look --user --firs
ref-run --nope -- cat --first
CASES
}

@test "a program that begins a stream reads nothing when it is refused, wherever its file or --first stands" {
    mkfifo silent
    while read -r p arguments; do
        run -2 --separate-stderr bash -c "timeout 10 '$bin/$p' $arguments <>silent"
        [ "$(jq -r .type <<<"$output" | tr '\n' ' ')" = "stream stop end " ] || { echo "$p $arguments: $output" >&2; return 1; }
    done <<'CASES'
scope-cut --nope bundle
scope-cut bundle --nope
scope-cut --nope -- --bundle
scope-cut --checkpoint 0 --key id bundle
scope-cut bundle other
bundle-check --profile nothing bundle
epoch-replay --epoch 0 bundle
epoch-freeze --op=2 --epoch=1 bundle
epoch-run --nope case
epoch-run
scope-declare --nope --first
scope-declare --key --first
table-look --url --first
table-look --max-line=x --first --table=a.b
CASES
}

@test "on the manual's pages an option of a family is one text" {
    # As above; and what a page says of several options at once stands under all their names.
    for page in "$root"/man/*.1; do
        awk -v p="$(basename "$page" .1)" '
            function out() { if (name != "") print p "\t" name "\t" text; name = "" }
            /^\.Sh / { out(); inside = $2 == "OPTIONS"; next }
            /^\.El/ { out() }
            inside && /^\.It Fl/ { out(); name = $0; text = ""; next }
            name != "" { text = text $0 "\\n" }' "$page"
    done >all
    for family in max-line first scratch url user password-env cacert client-cert client-key connect-timeout-ms query-timeout-ms checkpoint-dir capture-dir job \
        generation parallelism operator subtask attempt table from isolation timeout-ms; do
        grep -E "^[a-z-]+	\.It Fl -$family( |	)" all >these || { echo "no page has --$family" >&2; return 1; }
        case $family in
            operator) sed -i '/^bundle-pack/d' these ;;
        esac
        [ "$(wc -l <these)" -ge 2 ] || { echo "--$family is on one page" >&2; return 1; }
        [ "$(cut -f 2- these | sort -u | wc -l)" -eq 1 ] || { echo "--$family:" >&2; cat these >&2; return 1; }
    done
    for letter in b X E F; do
        grep -E "^[a-z-]+	\.It Fl $letter " all >these
        [ "$(wc -l <these)" -eq 3 ]
        [ "$(cut -f 2- these | sort -u | wc -l)" -eq 1 ] || { cat these >&2; return 1; }
    done
}
