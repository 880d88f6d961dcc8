#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Tables with a TTL on the real engine: what has expired on the server's clock and by its arithmetic is left out, and decides nothing
# until the operator says that it is of no matter.
# shellcheck disable=SC2154,SC2046,SC2086,SC2207 # bats sets stderr and stderr_lines; a list of values is words
bats_require_minimum_version 1.5.0
load services
load ../stream
load ../answers
load declared

now() { ch "SELECT toUnixTimestamp(now()) FORMAT TSV"; }
merge() {
    ch "SYSTEM START MERGES shop.orders"
    ch "OPTIMIZE TABLE shop.orders FINAL"
}
left_out() { jq -c 'select(.type == "excluded") | [.key[], .why]' read.ndjson | sort | tr -d '\n'; }
expiry_is() { jq -se "any(.[]; .type == \"observation\" and (.expiry | $1))" read.ndjson >/dev/null || { grep -a '"observation"' read.ndjson >&2; return 1; }; }
row() { printf '{"id":%d,"t":%d,"s":"x"}@t/0/%d ' "$1" "$2" "$1"; } # ID TIME

@test "what expired is left out whether it was merged away or stands, and what did not is owed all the same" {
    local t day=86400
    t=$(now)
    table 'id Int64, t DateTime, s String' 'MergeTree ORDER BY id TTL t + INTERVAL 30 DAY' \
        "(1, $((t - 40 * day)), 'x'), (2, $((t - 20 * day)), 'x'), (3, $((t - 30 * day)), 'x')" "(4, $((t - 30 * day + 7200)), 'x')"
    declare_ 0 --key=id --from=t:s
    rows=($(row 1 $((t - 40 * day))) $(row 2 $((t - 20 * day))) $(row 3 $((t - 30 * day))) $(row 4 $((t - 30 * day + 7200))))
    owes 0 "${rows[@]}"
    for state in stands merged; do
        [ $state = stands ] || merge
        for format in native rowbinary; do
            audit 3 --format=$format
            [ "$(left_out)" = '["1","expired"]["3","expired"]' ]
            jq -se 'any(.[]; .name == "reference.destination" and .status == "unavailable" and .code == "rows-expired")' diffed
            says "2 keys were left out: their rows are past the table's TTL, t + toIntervalDay(30), and a merge may take them away"
            says "rows-expired: ask about ranges whose rows the table still keeps"
            expiry_is '. == {ttl: "t + toIntervalDay(30)", rows: 2, keys: 2, mixed_keys: 0, ignored: false}'
        done
        audit 0 --expired=ignore
        says "for 2 of the 4 keys that are owed"
        says "assumed, not established: 2 keys whose rows are past the table's TTL, t + toIntervalDay(30), are of no matter (--expired=ignore)"
    done
    [ "$(ch 'SELECT groupArray(id) FROM shop.orders')" = '[2,4]' ]
    # Where the server does not say what has expired, nothing is decided.
    ch_fault "when=error&match=arrayStringConcat"
    audit 3 --expired=ignore
    jq -se 'any(.[]; .name == "reconcile.destination" and .status == "unavailable" and (.reason | startswith("asking when rows expire: ")))' read.ndjson
    ch_fault clear=1
    # A row that is lost is missing, whatever its neighbours are.
    rows+=($(row 5 $((t - day))))
    owes 0 "${rows[@]}"
    audit 1
    says "missing 1 rows of 1 keys; by the table's TTL, t + toIntervalDay(30), none of them had expired"
    says "a table keeps no record of partitions that were dropped, of a truncation and of an earlier TTL"
    audit 1 --expired=ignore
    [ "$(left_out)" = '["1","expired"]["3","expired"]' ]
    # Nothing else is owed: nothing is established.
    owes 0 "${rows[0]}" "${rows[2]}"
    audit 3
    says "every key is left out of the comparison"
    audit 3 --expired=ignore
    says "rows-expired: "
    # A report that leaves out what it counts, or whose word was put in by hand, is no report.
    owes 0 "${rows[0]}" "${rows[1]}"
    audit 0 --expired=ignore
    for filter in 'select(.type != "excluded")' 'if .type == "observation" then del(.expiry) else . end' \
        'if .type == "observation" then .expiry.ignored = false else . end' 'if .type == "observation" then .expiry.keys = 0 else . end' \
        'if .type == "observation" then .expiry.ttl = "t + toIntervalDay(20)" else . end' 'if .type == "observation" then .expiry.mixed_keys = 1 else . end' \
        'if .type == "observation" then .create_table_query |= sub("30"; "31") else . end' \
        'if .type == "observation" then .create_table_query |= sub(" TTL .*"; "") | .engine_full |= sub(" TTL .*"; "") else . end'; do
        edit "$filter" diffed
        run -2 --separate-stderr from edited "$bin/verdict" || { echo "$filter: $output" >&2; return 1; }
    done
}

# grid TYPE UNIT INTERVAL VALUE…: a table with a row of each value, by its ticks; what a merge takes away is what is left out, to the
# row.
grid() {
    local type=$1 unit=$2 interval=$3 i=0 v values=() gone integer stored
    shift 3
    case $type in Date) integer=UInt16 ;; Date32) integer=Int32 ;; DateTime64*) integer=Int64 ;; *) integer=UInt32 ;; esac
    table "id Int64, t $type, s String" "MergeTree ORDER BY id TTL t$interval"
    rows=()
    for v; do
        i=$((i + 1))
        values+=("($i, $v)")
        rows+=("{\"id\":$i,\"t\":$v,\"s\":\"x\"}@t/0/$i")
    done
    stored="reinterpret(CAST(p.2, '$integer'), '${type//\'/\\\'}')"
    [ "$type" != Date32 ] || stored="CAST(toInt32(p.2), 'Date32')"
    ch "INSERT INTO shop.orders SELECT p.1, $stored, 'x' FROM (SELECT arrayJoin(CAST('[$(IFS=,; echo "${values[*]}")]', 'Array(Tuple(Int64, Int64))')) AS p)"
    declare_ 0 --key=id --from=t:"$unit"
    owes 0 "${rows[@]}"
    merge
    audit 3
    gone=$(ch "SELECT groupArray(id) FROM (SELECT number + 1 AS id FROM numbers($#) WHERE number + 1 NOT IN (SELECT id FROM shop.orders))")
    [ "$(jq -cs '[.[] | select(.type == "excluded") | .key[0] | tonumber] | sort' read.ndjson)" = "$gone" ] || {
        echo "$type $interval: merged away $gone, left out $(left_out)" >&2
        return 1
    }
    audit 0 --expired=ignore
}

@test "the server's arithmetic: zones, months, days and hours, and what wraps" {
    local t d day=86400
    t=$(now)
    d=$((t / day))
    near() { local x; for x in -40 -33 -31 -30 -29 -28 -27 -2 -1 0 1; do echo $((t + x * day - 3600)) $((t + x * day + 3600)); done; }
    seconds=$(near)
    grid DateTime ticks '' $seconds 4294967295
    grid DateTime ticks ' + toIntervalMonth(1)' $seconds 1 4294967295 4292000000 4291000000
    grid "DateTime('Asia/Tokyo')" ticks ' + toIntervalDay(30)' $seconds 1 4294967295 4292400000 4292300000
    grid "DateTime('America/New_York')" ticks ' + toIntervalQuarter(-1)' $seconds $((t + 80 * day)) $((t + 100 * day)) 10000000
    grid DateTime ticks ' + toIntervalSecond(5000000000)' $seconds $((t - 705032704 - 60)) $((t - 705032704 + 3600)) 1
    grid Date days ' + toIntervalMonth(1)' $(for x in {-33..-27} -1 0 1; do echo $((d + x)); done) 1 65535 65500
    grid Date days '' $((d - 2)) $((d - 1)) $((d + 1)) $((d + 2)) 65535
    grid Date days ' + toIntervalHour(48)' $(for x in {-4..1}; do echo $((d + x)); done) 65535
    grid Date32 days ' + toIntervalWeek(1)' $(for x in {-9..-5}; do echo $((d + x)); done) 0 1 -1 -20000 65535 120000
    grid Date32 days ' + toIntervalYear(-1)' $((d + 363)) $((d + 368)) 0 -20000 100000
    grid 'DateTime64(3)' ticks ' + toIntervalMinute(10)' $(for x in $seconds; do echo $((x * 1000 + 999)); done) 1 -1 -100000 4294967295000 9000000000000
    grid "DateTime64(9, 'Europe/Berlin')" ticks ' + toIntervalYear(1)' $(for x in $seconds; do echo $((x - 365 * day))000000001; done) -1 1
}

@test "a time that the server takes for none is left out: a merge takes it away with others that have expired" {
    local t
    t=$(now)
    table 'id Int64, t DateTime, s String' 'MergeTree ORDER BY id TTL t' "(1, 0, 'x')" "(2, $((t + 7200)), 'x')"
    declare_ 0 --key=id --from=t:s
    owes 0 $(row 1 0) $(row 2 $((t + 7200)))
    merge
    [ "$(ch 'SELECT groupArray(id) FROM shop.orders')" = '[1,2]' ]
    audit 3
    [ "$(left_out)" = '["1","expired"]' ]
    table 'id Int64, t DateTime, s String' 'MergeTree ORDER BY id TTL t' "(1, 0, 'x'), (2, $((t - 7200)), 'x')"
    merge
    [ "$(ch 'SELECT groupArray(id) FROM shop.orders')" = '[]' ]
}

@test "a key that owes a row which has expired and one which has not is no pass on anybody's word" {
    local t day=86400
    t=$(now)
    table 'id Int64, t DateTime, s String' 'MergeTree ORDER BY id TTL t + INTERVAL 1 DAY' "(1, $t, 'x'), (1, $((t - 3 * day)), 'x'), (2, $t, 'x')"
    declare_ 0 --key=id --from=t:s
    owes 0 $(row 1 $t) $(row 1 $((t - 3 * day))) $(row 2 $t)
    audit 3
    says "1 of them owe rows that have not expired too"
    audit 3 --expired=ignore
    says "rows-expired-in-part: take a --key that names one row"
    expiry_is '.rows == 1 and .keys == 1 and .mixed_keys == 1 and .ignored'
}

@test "last rows with FINAL, and rows of many times asked for in several statements" {
    local t
    t=$(now)
    table 'id Int64, t DateTime, s String' 'ReplacingMergeTree(t) ORDER BY id TTL t + INTERVAL 1 HOUR' "(1, $((t - 10000)), 'x'), (2, $((t - 10000)), 'x')" "(1, $t, 'x')"
    declare_ 0 --key=id --final --from=t:s
    owes 0 $(row 1 $((t - 10000))) $(row 2 $((t - 10000))) $(row 1 $t)
    audit 3
    [ "$(left_out)" = '["2","expired"]' ]
    merge
    audit 0 --expired=ignore
    table 'id Int64, t DateTime, s String' 'MergeTree ORDER BY id TTL t + INTERVAL 1 DAY'
    ch "INSERT INTO shop.orders SELECT number, toDateTime($t - number), 'x' FROM numbers(120000)"
    declare_ 0 --key=id --from=t:s
    awk -v t="$t" 'BEGIN { for (i = 0; i < 120000; i++) printf "{\"type\":\"event\",\"at\":\"t/0/%d\",\"values\":{\"id\":%d,\"t\":%d,\"s\":\"x\"}}\n", i, i, t - i }' | whole events
    run -0 --separate-stderr from events "$bin/ref-seal" --scope=scope.json --reference-name=r --complete --out=reference
    merge
    audit 0 --expired=ignore
    expiry_is ".keys >= 33600 and .keys < 34600 and .rows == .keys"
    [ "$(jq -c 'select(.type == "excluded") | .key[0] | tonumber' read.ndjson | sort -n | awk 'NR == 1 { first = $1 } END { print NR + first }')" = 120000 ]
}

@test "a TTL that deletes nothing is of no matter, and every other form is unsupported by its name" {
    local ttl words
    while IFS='|' read -r ttl words; do
        table 'id Int64, t DateTime, s String' "MergeTree ORDER BY id TTL $ttl" "(1, 1, 'x')"
        if [ -z "$words" ]; then
            declare_ 0 --key=id --from=t:s
            owes 0 $(row 1 1)
            audit 0
            jq -se 'all(.[]; .type != "excluded" and .expiry == null)' read.ndjson
        else
            declare_ 3 --key=id --from=t:s
            [ "$(code reconcile.scope)" = table-expires ]
            [[ $(reason reconcile.scope) == *"$words"* ]] || { reason reconcile.scope >&2; return 1; }
        fi
    done <<'CASES'
t + INTERVAL 1 DAY RECOMPRESS CODEC(ZSTD(3)), t + INTERVAL 2 DAY TO DISK 'default'|
t + INTERVAL 1 DAY WHERE id > 5|its TTL has a WHERE
t + INTERVAL 9 DAY, t + INTERVAL 1 DAY WHERE id > 5|its TTL has a WHERE
t + INTERVAL 1 DAY GROUP BY id SET s = max(s)|its TTL has a GROUP BY
toDate(t) + INTERVAL 1 DAY|none of a column plus a constant
t + toIntervalDay(id)|none of a column plus a constant
t - INTERVAL 1 DAY|none of a column plus a constant
t + 86400|none of a column plus a constant
t + INTERVAL 1 DAY + INTERVAL 1 HOUR|none of a column plus a constant
CASES
    table 'id Int64, t DateTime, s String TTL t + INTERVAL 1 DAY' "MergeTree ORDER BY id TTL t + INTERVAL 2 DAY"
    declare_ 3 --key=id --from=t:s
    [[ $(reason reconcile.scope) == *"a column has a TTL, by which its values vanish"* ]]
    # The TTL's column must be among those that are owed.
    table 'id Int64, `a t` DateTime, s String' "MergeTree ORDER BY id TTL \`a t\` + INTERVAL 1 DAY" "(1, 1, 'x')"
    declare_ 3 --key=id --columns=id,s
    [ "$(code reconcile.scope)" = ttl-column-left-out ]
    # Nor where that came to be after the scope was declared.
    ch "ALTER TABLE shop.orders REMOVE TTL"
    from log "$bin/table-look" --url="$CH_URL" "${asked[@]}" --table=shop.orders >looked
    declare_ 0 --key=id --columns=id,s
    owes 0 '{"id":1,"s":"x"}@t/0/0'
    audit 0
    ch "ALTER TABLE shop.orders MODIFY TTL \`a t\` + INTERVAL 1 DAY SETTINGS materialize_ttl_after_modify = 0"
    audit 3
    jq -se 'any(.[]; .name == "reconcile.destination" and .code == "ttl-column-left-out" and .facts.column == "a t")' read.ndjson
    from log "$bin/table-look" --url="$CH_URL" "${asked[@]}" --table=shop.orders >looked
    declare_ 0 --key=id '--from=a t:s'
    owes 0 '{"id":1,"a t":1,"s":"x"}@t/0/0'
    audit 3
    [ "$(left_out)" = '["1","expired"]' ]
}
