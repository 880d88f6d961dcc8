#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bundle-check built with librocksdb, in a build directory of its own: what the usual build must call unsupported is read here.
# shellcheck disable=SC2154 # bats sets stderr
bats_require_minimum_version 1.5.0
# bats file_tags=plain

setup_file() {
    local root
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    [ -e /usr/include/rocksdb/c.h ] || return 0
    make -C "$root" -s WITH_ROCKSDB=1 B=build/rocksdb BIN=build/rocksdb/bin build/rocksdb/bin/bundle-check
}

setup() {
    if [ ! -e /usr/include/rocksdb/c.h ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "librocksdb-dev is not installed" >&2; return 1; }
        skip "librocksdb-dev is not installed"
    fi
    here=$BATS_TEST_DIRNAME
    bin=$(cd "$here/.." && pwd)/build/rocksdb/bin
    cd "$BATS_TEST_TMPDIR" || exit 1
    mkdir work scratch
}

rocks_bundle() { # directory: a bundle whose state is the saved database
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$here/hostile" python3 -c 'import sys, bundles
next(b for name, _, b, *_ in bundles.rocks(True) if name == "good-rocksdb").save(sys.argv[1])' "$1"
}

@test "RocksDB checkpoints are read: good and damaged ones" {
    run -0 "$here/hostile/run" "$bin/bundle-check" work '*rocksdb*'
    [ "${output%% *}" = ok ] || { echo "$output" >&2; return 1; }
    grep -qx 'ok good-rocksdb' <<<"$output"
    [ "$(grep -c '^ok bad-rocksdb-' <<<"$output")" -ge 14 ]
}

@test "the database is opened as a copy, which is gone afterwards; the bundle is not touched" {
    rocks_bundle b
    find b -type f -exec sha256sum {} + | sort >before
    run -0 --separate-stderr "$bin/bundle-check" --scratch=scratch b
    find b -type f -exec sha256sum {} + | sort >after
    cmp before after
    [ -z "$(ls -A scratch)" ]
    [[ $(jq -r 'select(.name=="state.decode").evidence[0]' <<<"$output") == "checkpoint/_state/1/v1/0.cp-7 (kafka-source version 1, "* ]]
}

@test "without scratch the state is unavailable, and so says the reason" {
    rocks_bundle b
    run -3 --separate-stderr "$bin/bundle-check" --scratch=nowhere b
    [[ $(jq -r 'select(.name=="state.decode")|"\(.status) \(.reason)"' <<<"$output") == "unavailable cannot make scratch 'nowhere/"* ]]
}
