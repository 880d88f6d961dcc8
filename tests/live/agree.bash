# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The independent reader of examples/reference beside kafka-read: the same records of a scope, and complete where it is complete.

# agrees STATUS [OPTION…]: of what kafka-read left in `out` for scope.json. Bounds are kafka-read's own and end it early.
agrees() {
    local want=$1 option options=() reader=("${OWED_DEPS:-$HOME/.cache/owed}/python/bin/python" "$OWED_ROOT/examples/reference/reference")
    shift
    if [ ! -x "${reader[0]}" ]; then
        [ "${REQUIRE_LIVE:-}" != 1 ] || { echo "no ${reader[0]}" >&2; return 1; }
        return 0
    fi
    for option; do
        case $option in
            --max-* | --deadline-s=*) return 0 ;;
            # One topic is read, so that its name before the partition says nothing more.
            --run-start-offset=*) options+=("$(sed 's/=[^=]*\//=/' <<<"$option")") ;;
            --stable-wait-s=*) options+=("$option") ;;
        esac
    done
    "${reader[@]}" --scope=scope.json --bootstrap="$KAFKA_BOOTSTRAP" --deadline-s=60 --records "${options[@]}" >theirs 2>theirs.err || [ $? -eq "$want" ] ||
        { cat theirs.err >&2; return 1; }
    [ "$want" -ne 0 ] || [ ! -s theirs.err ] || { cat theirs.err >&2; return 1; }
    [ "$want" -eq 0 ] || [ -s theirs.err ] || { echo "the reference's reader finds it complete" >&2; return 1; }
    [ "$want" -ne 0 ] || diff <(ordered out) <(ordered theirs) >&2
}

# Records as one form, by partition and offset: what escapes a writer chose, and what partitions it mixed, is no matter.
ordered() {
    python3 -c '
import json, sys
lines = (json.loads(l) for l in open(sys.argv[1], encoding="utf-8") if "\"offset\"" in l)
records = [r for r in lines if r.pop("type", "record") == "record"]
for r in sorted(records, key=lambda r: (r["topic"], r["partition"], r["offset"])):
    print(json.dumps(r, sort_keys=True))' "$1"
}
