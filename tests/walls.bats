#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The walls between modules: what each program may link, by its symbols and by its libraries.
bats_require_minimum_version 1.5.0
# bats file_tags=plain

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    bin=${OWED_BIN:-$root/bin}
}

symbols() { nm "$bin/$1" | awk '{print $NF}'; }
libraries() { ldd "$bin/$1" | awk '{print $1}'; }

no_module() { # program, module prefix
    if symbols "$1" | grep -E "^$2_"; then
        echo "$1 links the module $2" >&2
        return 1
    fi
}

@test "the reader of the destination holds nothing that writes" {
    no_module ch-read chwrite
}

@test "the sink holds neither the comparison's cells nor the reader's decoders" {
    no_module ch-sink cells
    no_module ch-sink chread
    symbols ch-sink | grep -q '^chwrite_'
}

@test "the reader of the log knows nothing of a job, of its evidence, or of a table" {
    for p in kafka-read log-look; do
        for m in evidence bundle cut ops chread chwrite http cells; do no_module $p $m; done
        run -1 grep libcurl <(libraries $p)
        run -1 grep -E '^(curl_easy_init|jq_init|snapshot_read)$' <(symbols $p)
        symbols $p | grep -q '^rd_kafka_new$'
    done
}

@test "the offline programs reach no network library" {
    for p in bundle-pack bundle-check scope-cut scope-declare rows-diff verdict cap-tee lane-join ckpt-mark ckpt-plan row-map; do
        run -1 grep -E 'libcurl|librdkafka|libssl' <(libraries $p)
        run -1 grep -E '^(rd_kafka_new|curl_easy_init)$' <(symbols $p)
        no_module $p http
        no_module $p kafka
    done
}

@test "the reference's programs hold nothing of the job and reach nothing" {
    for p in ref-run ref-seal ref-bind; do
        run -1 grep -E 'libcurl|librdkafka|libssl|libjq' <(libraries $p)
        for module in ops evidence bundle chread chwrite http kafka; do
            no_module $p $module
            run -1 grep -E "^USES_$p .*\\b$module\\b" "$root/GNUmakefile"
        done
        symbols $p | grep -qE '^(reference|program)_'
    done
}

@test "only what talks to the broker links its client, and only what talks to the server curl" {
    symbols kafka-tail | grep -q '^rd_kafka_new$'
    run -1 grep libcurl <(libraries kafka-tail)
    libraries ch-read | grep -q libcurl
    libraries table-look | grep -q libcurl
    no_module table-look chwrite
    libraries ch-sink | grep -q libcurl
    run -1 grep -E '^rd_kafka_new$' <(symbols ch-read)
    run -1 grep -E '^rd_kafka_new$' <(symbols table-look)
    run -1 grep -E '^rd_kafka_new$' <(symbols ch-sink)
}

@test "each program's modules are those that the build names, in the order of the table" {
    order=" $(sed -n 's/^MODULES = //p' "$root/GNUmakefile") "
    while read -r name uses; do
        last=99
        for m in $uses; do
            before=${order%% "$m" *}
            [ "$before" != "$order" ] || { echo "$name uses $m, which is no module" >&2; return 1; }
            at=$(wc -w <<<"$before")
            [ "$at" -lt "$last" ] || { echo "$name: $m stands out of order" >&2; return 1; }
            last=$at
        done
    done < <(sed -n 's/^USES_\([a-z-]*\) *= /\1 /p' "$root/GNUmakefile")
}

@test "no module reaches up: each includes only those before it" {
    modules=$(sed -n 's/^MODULES = //p' "$root/GNUmakefile")
    allowed=''
    for m in $modules; do
        allowed="$allowed $m"
        for f in "$root"/lib/"$m"/*.[ch]; do
            [ -e "$f" ] || continue
            while read -r used; do
                case " $allowed " in
                    *" $used "*) ;;
                    *) echo "$f includes $used" >&2; return 1 ;;
                esac
            done < <(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$f")
        done
    done
}
