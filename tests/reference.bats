#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The independent reference's own cells beside ref-seal's: the same rows from the same values, spelled apart.
bats_require_minimum_version 1.5.0
load stream

setup() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# column NAME TYPE [FROM], then a line a value: events for ref-seal, and their rows in both artifacts.
agree() { # type, unit, values as JSON, one a line on standard input
    local type=$1 unit=$2 n
    scope-declare --first --key=id --range=0:0-100 --topic=t --database=d --table=t --column=id:Int64 --column="v:$type" \
        ${unit:+--from=v:$unit} --out=scope.json >declared
    jq -Rc --slurp 'split("\n") | map(select(. != "")) | to_entries[] | .key as $k | "{\"type\":\"event\",\"at\":\"t/0/\($k)\",\"ts\":\([null, -1, 0, 1796000000123, 9007199254740992, 9007199254740994][$k % 6]),\"values\":{\"id\":\($k),\"v\":\(.value)}}"' -r >events
    n=$(wc -l <events)
    whole <events
    ref-seal --scope=scope.json --reference-name=x --complete --out=ours <stream >/dev/null
    PYTHONDONTWRITEBYTECODE=1 python3 - "$root/examples/reference" <<'PYTHON'
import decimal, json, sys
sys.path.insert(0, sys.argv[1])
import artifact
out = artifact.Artifact("theirs", json.load(open("scope.json")), "x", "1", None)
for text in open("events", encoding="utf-8"):
    event = json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)
    ts = event.get("ts")
    out.put(event["values"], event["at"], None if ts is None else int(ts))
out.finish([], [], {})
PYTHON
    diff <(sed '1d;$d' ours) <(sed '1d;$d' theirs)
    [ "$(sed '1d;$d' ours | wc -l)" -eq "$n" ]
}

@test "integers: by value, at their ends, and what does not fit" {
    printf '%s\n' 0 -0 1 -1 1e3 1.0 '"007"' '"+7"' 127 128 -128 -129 1.5 1e30 '"-1e-3"' 1e400 null 9007199254740993 | agree Int8 ''
    printf '%s\n' 0 18446744073709551615 18446744073709551616 -1 12345678901234567890123456789e-10 null | agree 'Nullable(UInt64)' ''
    printf '%s\n' 57896044618658097711785492504343953926634992332820282019728792003956564819967 \
        57896044618658097711785492504343953926634992332820282019728792003956564819968 1e76 1e77 | agree Int256 ''
}

@test "decimals: the scale and the precision" {
    printf '%s\n' 12.34 '"12.3400"' -0.00 0.00001 99999999999999.9999 100000000000000 1e-4 1e-5 '"123e-4"' 1e999999 \
        "0.$(printf '1%.0s' {1..90})" | agree 'Decimal(18, 4)' ''
}

@test "floats: nearest, ties to even, zeros with their sign, both ends" {
    printf '%s\n' 0 -0 0.1 1e400 -1e400 5e-324 2e-324 1e-400 1.7976931348623157e308 1.7976931348623159e308 9007199254740993 9007199254740992 1e22 1e23 123456789012345678e1 0.5 \
        '"nan"' '"inf"' '"-inf"' 0.30000000000000004 | agree Float64 ''
    printf '%s\n' 16777217 16777216 16777218 16777219 16777217.5 0.1 3.4028235e38 3.4028236e38 1e-45 7e-46 1.000000059604644775390625 1.0000000596046448 '"nan"' '"-inf"' -0.0 | agree Float32 ''
}

@test "times: every unit, ISO text, before 1970, past the precision" {
    printf '%s\n' 1758000000123 -1 0.5 0.0001 9223372036854775 | agree 'DateTime64(6)' ms
    printf '%s\n' '"2025-09-16T05:20:00.5+02:00"' '"1969-12-31T23:59:59.999Z"' '"2025-09-16 05:20Z"' '"2025-09-16T05:20:00.1234Z"' | agree "DateTime64(3, 'Europe/Berlin')" iso
    printf '%s\n' 0 4294967295 4294967296 -1 1.5 | agree DateTime s
    printf '%s\n' '"2149-06-06"' '"2149-06-07"' '"1970-01-01"' '"1969-12-31"' | agree Date iso
    printf '%s\n' 120529 120530 -25567 -25568 0 | agree Date32 days
    printf '%s\n' 1758000000123456789 1 | agree 'DateTime64(9)' ns
}

@test "values of the wrong kind: unfit, as they came" {
    printf '%s\n' '"12,5"' '" 1"' true '[1, 2.50]' '{"b":1,"a":"x\"y"}' '"é"' '""' | agree Int64 ''
    printf '%s\n' '"Infinity"' '"1,5"' false '[]' | agree Float64 ''
    printf '%s\n' '"yesterday"' '"2025-02-30T00:00:00Z"' 7 | agree 'DateTime64(3)' iso
    printf '%s\n' '"2025-01-01T00:00:00Z"' true | agree 'DateTime64(3)' ms
    printf '%s\n' 1 0 '"true"' | agree Bool ''
    printf '%s\n' 7 1.50 true '[]' | agree String ''
}

@test "fractions that are their nearest float are counted alike" {
    printf '%s\n' 0.1 0.5 0.25 3 1e-3 0.30000000000000004 '"nan"' null 16777217.5 | agree 'Nullable(Float32)' ''
    [ "$(tail -n 1 ours | jq .nearest)" = 4 ]
    [ "$(tail -n 1 theirs | jq .nearest)" = 4 ]
}

@test "text and truth" {
    printf '%s\n' '""' '"a\"\\\n\u0001\u007f\u2028\ud83d\ude00é"' '" padded "' null '"null"' | agree 'Nullable(String)' ''
    printf '%s\n' true false | agree Bool ''
}
