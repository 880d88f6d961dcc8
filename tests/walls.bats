#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The walls: what each program links is what the build names for it, by its symbols and its libraries, and who may link what;
# what a source may include; and what a program reads, shown where all else is away.
# shellcheck disable=SC2154 # bats sets output
bats_require_minimum_version 1.5.0
load stream
# bats file_tags=plain

setup_file() {
    export root bin modules
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=$root/bin
    modules=$(sed -n 's/^MODULES = //p' "$root/GNUmakefile")
    cd "$BATS_FILE_TMPDIR" || return 1
    # What each module alone defines; of which the programs hold what.
    for m in $modules; do
        nm --defined-only --extern-only "$root/build/lib/$m.a" | awk 'NF == 3 { print $3 }' | sort -u >"$m.defines"
    done
    sort ./*.defines | uniq -d >twice
    for p in $(programs); do
        nm --defined-only --extern-only "$bin/$p" | awk '{ print $3 }' | sort -u >"$p.symbols"
        nm --undefined-only "$bin/$p" | awk '{ print $NF }' | sed 's/@.*//' | sort -u >"$p.needs"
        for m in $modules; do
            [ -z "$(comm -12 "$m.defines" "$p.symbols" | head -n 1)" ] || echo "$m"
        done | sort >"$p.modules"
        readelf -d "$bin/$p" | sed -n 's/.*(NEEDED).*\[lib\(.*\)\.so.*/\1/p' | sort >"$p.libraries"
    done
}

setup() { cd "$BATS_FILE_TMPDIR" || exit 1; }

programs() { (cd "$root/stages" && printf '%s\n' *.c | sed 's/\.c$//'); }
uses() { sed -n "s/^USES_$1 *= //p" "$root/GNUmakefile" | tr ' ' '\n'; }
# The libraries of a program's modules, as the linker is told them.
may_need() {
    local m
    for m in $(uses "$1"); do sed -n "s/^LIBS_$m *= //p" "$root/GNUmakefile"; done | grep -o -- '-l[a-z0-9]*' | cut -c3- | sort -u
}

# holds PROGRAM WORD…: nothing of these modules and libraries, and none of these functions.
holds_none() {
    local p=$1 word
    shift
    for word; do
        if grep -qx "$word" "$p.modules" "$p.libraries" "$p.symbols"; then
            echo "$p holds $word" >&2
            return 1
        fi
    done
}
holds() {
    local p=$1 word
    shift
    for word; do grep -qxhe "$word" "$p.modules" "$p.libraries" "$p.symbols" || { echo "$p holds nothing of $word" >&2; return 1; }; done
}

online=(http kafka curl rdkafka ssl rd_kafka_new curl_easy_init)

@test "each program links the modules that the build names for it, all of them and no other" {
    [ ! -s twice ] || { echo "two modules define: $(paste -sd' ' twice)" >&2; return 1; }
    for p in $(programs); do
        [ -n "$(uses "$p")" ] || { echo "the build names no module for $p" >&2; return 1; }
        diff <(uses "$p" | sort) "$p.modules" >differ || { echo "$p: named (<) and linked (>) differ: $(paste -sd' ' differ)" >&2; return 1; }
    done
}

@test "modules are named in the order of the table, each using only those behind it" {
    n=0
    while read -r name used; do
        left=$modules
        for m in $(tr ' ' '\n' <<<"$used" | tac); do
            [[ " $left " == *" $m "* ]] || { echo "$name: $m is no module, or stands out of order" >&2; return 1; }
            left=" $left "
            left=${left#*" $m "}
        done
        n=$((n + 1))
    done < <(sed -n 's/^USES_\([a-z_-]*\) *= /\1 /p; s/^\(UNIT\|FUZZ\)_MODULES *= /\1 /p' "$root/GNUmakefile")
    [ "$n" -gt "$(programs | wc -l)" ]
}

@test "each program needs the libraries of its modules and no other" {
    for p in $(programs); do
        run -0 comm -13 <({ may_need "$p"; echo c; } | sort) "$p.libraries"
        [ -z "$output" ] || { echo "$p needs $output" >&2; return 1; }
    done
}

# What the sources of a directory include of others: file, module, header.
includes() { grep -Ho '^#include "[a-z]*/[a-z_]*\.h"' "$@" | sed 's/:#include "\([a-z]*\)\/\(.*\)"/ \1 \2/'; }

@test "a stage includes the headers of modules that it is said to use, and no module's own" {
    while read -r file m header; do
        p=$(basename "$file" .c)
        uses "$p" | grep -qx "$m" || { echo "$file includes $m/$header, and the build names no $m for it" >&2; return 1; }
        [ "$header" != internal.h ] || { echo "$file looks into $m" >&2; return 1; }
    done < <(includes "$root"/stages/*.c)
    [ "$(includes "$root"/stages/*.c | wc -l)" -gt "$(programs | wc -l)" ]
}

@test "no module reaches up, or into another: each includes only those before it" {
    allowed=''
    for m in $modules; do
        allowed="$allowed $m"
        while read -r file used header; do
            [[ " $allowed " == *" $used "* ]] || { echo "$file includes $used" >&2; return 1; }
            [ "$used" = "$m" ] || [ "$header" != internal.h ] || { echo "$file looks into $used" >&2; return 1; }
        done < <(includes "$root"/lib/"$m"/*.[ch])
    done
    [ "$(tr " " "\n" <<<"$modules" | sort)" = "$(cd "$root/lib" && printf '%s\n' *)" ]
}

@test "the readers of the destination hold nothing that writes" {
    for p in ch-read table-look; do
        holds $p curl chread http
        holds_none $p chwrite rdkafka rd_kafka_new
    done
}

@test "the sink holds neither the comparison's cells nor the reader's decoders" {
    holds ch-sink chwrite curl
    holds_none ch-sink cells chread rd_kafka_new
}

@test "the readers of the log know nothing of a job, of its evidence, or of a table" {
    for p in kafka-read log-look; do
        holds $p kafka rd_kafka_new
        holds_none $p evidence bundle pack cut ops lane chread chwrite http cells curl jq
    done
}

@test "the reference's programs hold nothing of the job, and ref-run nothing of the artifact" {
    for p in $(programs | grep '^ref-'); do
        holds_none "$p" ops lane evidence bundle pack cut chread chwrite "${online[@]}"
        [ "$p" = ref-jq ] || holds_none "$p" rules guard jq
    done
    # What decides which jq program may run is the map's too; what turns values is not.
    holds ref-jq rules guard program jq
    [ "$(comm -12 <(sort ref-jq.modules) <(sort row-map.modules) | paste -sd' ')" = 'base guard json stream' ]
    holds_none row-map rules program
    holds ref-run program
    holds_none ref-run reference
    holds ref-seal reference
    holds ref-bind reference
}

@test "whatever is not said to talk to the broker or the server reaches no network" {
    broker='kafka-tail kafka-read log-look' server='ch-read table-look ch-sink'
    n=0
    for p in $(programs); do
        [[ " $broker $server " != *" $p "* ]] || continue
        n=$((n + 1))
        holds_none "$p" "${online[@]}"
        run -1 grep -xE 'socket|socketpair|connect|bind|listen|accept4?|getaddrinfo|gethostbyname|send(to|msg)' "$p.needs"
    done
    [ "$n" -ge 14 ]
    for p in $broker; do holds_none "$p" http curl; done
    for p in $server; do holds_none "$p" kafka rd_kafka_new; done
}

# ---- what is read ----

# reads WANT COMMAND…: what the command opens beneath a copy of the fixtures, in which all that belongs to the run lies beside it, is
# what WANT (an extended expression) matches, and something of it where it is not empty.
reads() {
    local want=$1
    shift
    PATH=$bin:$PATH python3 "$root/tests/opened.py" timeout 60 "$@" >opened 2>said || [ $? -le 3 ] || { cat said >&2; return 1; }
    sed -i '/^$/d' opened
    [ -z "$want" ] || grep -qxE "$want" opened || { echo "$* opens nothing of $want" >&2; cat said >&2; return 1; }
    run -1 grep -vxE "${want:-nothing}" opened
    rm opened said
}

all_of_it() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp -R "$root/fixtures/incident" "$root"/fixtures/reference/*.ndjson "$root/fixtures/reference/scope.json" .
    checkpoint=$(jq .checkpoint.id incident/manifest.json)
}

@test "a program given a bundle, a scope or an artifact opens that" {
    all_of_it
    reads 'incident/.*' bundle-check incident
    reads 'incident/.*' trace-check incident
    reads 'incident/.*' scope-cut --key=event_id --checkpoint="$checkpoint" incident
    reads 'reference\.ndjson' ref-bind --reference=reference.ndjson <cut.ndjson
    reads 'scope\.json|#[0-9]+' ref-seal --scope=scope.json --reference-name=orders --out=sealed <events.ndjson
    reads 'scope\.json' kafka-read --scope=scope.json -b 127.0.0.1:1 --timeout-ms=200 --deadline-s=1
}

@test "behind its cut nothing opens the bundle, and the reference's programs open nothing of a job" {
    all_of_it
    grep -q '"type":"bundle","path":"incident"' cut.ndjson
    reads '' ref-run -- cat <records.ndjson
    reads '' ch-read --url=http://127.0.0.1:1 --connect-timeout-ms=200 <cut.ndjson
    reads '' rows-diff --scratch="$BATS_RUN_TMPDIR" <read.ndjson
    reads '' verdict <read.ndjson
}

@test "after a stop no program opens the bundle" {
    all_of_it
    { head -n 1 cut.ndjson; grep -m 1 '^{"type":"bundle"' cut.ndjson
        stopped refused r bundle-check; } | ended >halted
    reads '' bundle-check <halted
    reads '' trace-check <halted
    reads '' scope-cut --key=event_id --checkpoint="$checkpoint" <halted
    sed '/"type":"stop"/d; s/,"stop":1//' halted >going
    reads 'incident/.*' scope-cut --key=event_id --checkpoint="$checkpoint" <going
}

@test "a program given its bundle or its scope by name leaves standard input alone" {
    all_of_it
    while read -r command; do
        # shellcheck disable=SC2086
        { "$bin"/$command >out 2>said || [ $? -le 3 ]; cat; } <records.ndjson >rest
        cmp rest records.ndjson || { echo "$command" >&2; return 1; }
    done <<COMMANDS
bundle-check incident
trace-check incident
scope-cut --key=event_id --checkpoint=$checkpoint incident
kafka-read --scope=scope.json -b 127.0.0.1:1 --timeout-ms=200 --deadline-s=1
COMMANDS
}
