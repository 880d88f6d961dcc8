# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the demonstrations share: a work directory that nothing outlives, and one line a scenario, expected and observed.
# A demonstration sets root, sources this file, and runs the scenarios from $work.

export PATH="$root/bin:$PATH" LC_ALL=C
work=$(mktemp -d "${TMPDIR:-/tmp}/owed-demo.XXXXXX")
keep=${DEMO_KEEP:-}
# Where each scenario's stages leave what they wrote, for reviewers (fixtures/README says how).
fixtures=${DEMO_FIXTURES:-}
scenario=''
# What is to be ended with the demonstration: pids.
runner=''
failed=0
started=$SECONDS
# shellcheck source=examples/stage.bash
. "$root/examples/stage.bash"

cleanup() {
    local pid
    trap '' INT TERM # a second signal would end it in its midst
    for pid in $runner; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in $runner; do wait "$pid" 2>/dev/null || true; done
    services_down
    if [ -n "$keep" ]; then echo "kept: $work"; else rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# What needs no service runs with the network denied, which is proven each time, and here before anything is started.
offline() {
    if [ -n "${ALLOW_UNISOLATED:-}" ]; then "$@"; else "$root/pipelines/isolate" -- "$@"; fi
}

unisolated() { # true where that is so, and said
    [ -n "${ALLOW_UNISOLATED:-}" ] && echo "ALLOW_UNISOLATED is set: the offline steps have the network in this run, which therefore shows nothing"
}
unisolated || "$root/pipelines/isolate" --prove

# Hold what came against what was expected: the exit status, and a jq condition on the report.
expect() { # name, status, condition, what is shown of the report, then the command
    local name=$1 want=$2 condition=$3 show=$4 got=0 said verdict=ok
    shift 4
    scenario=$(tr -cs '[:alnum:]\n' - <<<"${name,,}" | sed 's/-$//')
    "$@" || got=$?
    said=$(jq -r "$show" "$work/report.json" 2>/dev/null | tr '\n' ' ') || said='no report'
    if [ "$got" -ne "$want" ] || ! jq -e "$condition" "$work/report.json" >/dev/null 2>&1; then
        verdict=WRONG
        failed=$((failed + 1))
        sed 's/^/    /' "$work/stderr" | head -n 5
        cp "$work/report.json" "$work/wrong-$failed.json" 2>/dev/null || true
    fi
    printf '%-5s  %-52s  expected %s, observed %s  %s\n' "$verdict" "$name" "$want" "$got" "$said"
}

kinds='.summaries[0] | "\(.missing.rows) missing, \(.changed.rows) changed, \(.duplicated.surplus) duplicated, \(.unexpected.rows) unexpected"'
counts() { # missing changed surplus unexpected: the condition that says exactly these
    printf '.summaries[0] | .missing.rows == %s and .changed.rows == %s and .duplicated.surplus == %s and .unexpected.rows == %s' "$@"
}
reasons='[.made[] | select(.status != "passed") | .reason, .stop] + [.stops[].reason] | map(select(. != null)) | unique | join("; ")[0:150]'
because() { # a word that the reasons must hold
    printf '[.made[] | select(.status != "passed") | .reason] + [.stops[].reason] | map(select(test("%s"; "i"))) | length > 0' "$1"
}

# The verdict of what a pipe left in $work/last, kept as the scenario's where runs are saved.
judge() {
    local status=0
    offline verdict --json <"$work/last" >"$work/report.json" 2>>"$work/stderr" || status=$?
    if [ -n "$fixtures" ]; then
        mkdir -p "$fixtures/$scenario"
        cp "$work/last" "$fixtures/$scenario/8-rows-diff.ndjson"
        echo "$status" >"$fixtures/$scenario/status"
    fi
    return "$status"
}

# The demonstration's last lines and its exit status.
finish() {
    echo
    echo "$((SECONDS - started)) seconds"
    [ "$failed" -eq 0 ] || { echo "$failed scenarios were not as expected"; exit 1; }
    echo "every scenario was as expected"
    if unisolated; then exit 3; fi
}
