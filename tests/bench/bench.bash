# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # the benchmarks use what is set here
# What the benchmarks share: they run with the programs of this tree, in a directory $work that is removed, on sizes from the
# environment. With TINY=1 the sizes are next to nothing, to see that all of it runs. Sourced from the root of the tree.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit
. tests/stream.bash
export LC_ALL=C PATH="$root/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
# Whoever runs one benchmark alone has its parts built too; they are built already where the tests run it.
[ "${TINY:-}" = 1 ] || make -s -j"$(nproc)" all benches tests-services >&2
work=$(mktemp -d "${TMPDIR:-/var/tmp}/owed-bench.XXXXXX")
trap 'bench_end' EXIT

bench_end() {
    [ ! -d "$work/ch" ] || "$root/tests/services/clickhouse" down --dir="$work/ch" >/dev/null 2>&1 || true
    [ ! -d "$work/kafka" ] || "$root/tests/services/kafka" down --dir="$work/kafka" >/dev/null 2>&1 || true
    rm -rf "$work"
}

# size VARIABLE USUAL TINY: what the environment says, else one of the two.
size() {
    local usual=$2
    [ "${TINY:-}" != 1 ] || usual=$3
    printf '%s\n' "${!1:-$usual}"
}
rounds=$(size RUNS 3 1)

# bench_lacks WHY: end without a figure, and say of what there is none.
bench_lacks() {
    echo "$(basename "$0"): not measured: $1"
    exit 77
}

# bench_services ch|kafka…: those, in $work as examples/stage.bash has them; what they print is set here.
bench_services() {
    local name
    for name; do
        "tests/services/${name/%ch/clickhouse}" up --dir="$work/$name" >"$work/$name.env" 2>"$work/$name.err" ||
            bench_lacks "$(tail -n 1 "$work/$name.err")"
        set -a
        # shellcheck disable=SC1090
        . "$work/$name.env"
        set +a
    done
    [ "${KAFKA_KIND:-broker}" = broker ] || bench_lacks "$(tail -n 1 "$work/kafka.err")"
}

# timed NAME COMMAND…: appends the wall, user and system seconds and the peak in KB to a file of that name.
timed() { /usr/bin/time -f '%e %U %S %M' -a -o "$work/$1.times" "${@:2}"; }

# best NAME: its quickest run, as wall, CPU, peak. cheapest NAME: the one of the least CPU. The clock ticks in hundredths: less is one.
best() { runs "$1" | sort -n | head -n 1; }
cheapest() { runs "$1" | sort -n -k 2 | head -n 1; }
runs() {
    awk '{ cpu = $2 + $3; print ($1 > 0 ? $1 : 0.01), (cpu > 0 ? cpu : 0.01), $4 }' "$work/$1.times"
}
