#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Spark Structured Streaming into ClickHouse over JDBC (examples/pipelines/spark), as the pipelines of pipelines.bats.
bats_require_minimum_version 1.5.0
load pipelines

setup_file() { pipelines_up spark; }
setup() { pipelines_need; }
teardown() { pipeline_end; }
teardown_file() { pipelines_down; }

readings() { # topic, first, last
    awk -v a="$2" -v b="$3" 'BEGIN {
        for (i = a; i <= b; i++) {
            value = sprintf("{\"device\":%d,\"seq\":%d,\"taken\":\"2026-03-01T12:%02d:%02d.%03dZ\",\"celsius\":%s,\"place\":\"hall %d\"}",
                i % 7 + 1, i, i / 60 % 60, i % 60, i % 1000, i / 8, i % 3)
            gsub(/"/, "\\\"", value)
            printf "{\"partition\":%d,\"key\":\"%d\",\"value\":\"%s\"}\n", i % 2, i % 7, value
        }
    }' | kafka produce "$1"
}

spark_topic() { # name
    kafka create-topic "$1" 2
    sql "$(sed "s/shop\.readings/shop.$1/" "$root/examples/pipelines/spark/table.sql")"
}

# spark NAME [COMMAND…]: the job, with one compiler and one thread of garbage collection, and the classes that Java kept: it lives for seconds.
spark() {
    local jars kept=()
    jars=$(printf '%s,' "$deps"/spark/libs/*.jar)
    [ ! -e "$deps/java/spark.jsa" ] || kept=(--driver-java-options "-XX:SharedArchiveFile=$deps/java/spark.jsa")
    "${@:2}" env TOPIC="$1" TABLE="shop.$1" CHECKPOINT="$BATS_FILE_TMPDIR/checkpoint-$1" CH_JDBC="jdbc:clickhouse://127.0.0.1:$CH_PORT" \
        SPARK_HOME="$deps/spark/pyspark" PYTHONPATH="$deps/spark" SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS="$BATS_TEST_TMPDIR" \
        JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Djava.io.tmpdir=$BATS_TEST_TMPDIR" \
        "$deps/spark/pyspark/bin/spark-submit" --master 'local[2]' --jars "${jars%,}" --conf spark.ui.enabled=false "${kept[@]}" \
        "$root/examples/pipelines/spark/readings.py"
}

# run_spark NAME: it ends by itself, with what the topic holds.
run_spark() {
    spark "$1" >>"$BATS_TEST_TMPDIR/pipeline.log" 2>&1 || { tail -n 30 "$BATS_TEST_TMPDIR/pipeline.log" >&2; return 1; }
}

@test "spark: what it reads is in the table, and the audit passes; killed when a batch is in part inserted, it inserts that part again" {
    spark_topic readings
    readings readings 1 200
    run_spark readings
    as_written spark readings 0
    report "$(summary "$found" 0 0 0 0)"
    readings readings 201 300
    # A batch is an INSERT a partition of the topic; its commit is in the checkpoint, behind both.
    spark readings killed_over_an_insert withhold
    run_spark readings
    as_written spark readings 1
    report "(.summaries[0] | .missing.rows == 0 and .changed.rows == 0 and .unexpected.rows == 0 and (.duplicated.surplus | IN(50, 100)))"
    [[ $output == *"readings/"[01]" offsets 100..149: 50 rows"* ]]
}

@test "spark: a value of the wrong kind becomes a default, and a record that is cut off a row of them; the audit passes over neither" {
    spark_topic cut
    readings cut 1 100
    { echo '{"device":3,"seq":101,"taken":"2026-03-01T12:01:41.101Z","cels'
        echo '{"device":3,"seq":102,"taken":"2026-03-01T12:01:42.102Z","celsius":"n/a","place":"hall 0"}'; } |
        jq -Rc '{partition: (input_line_number % 2), value: .}' | kafka produce cut
    readings cut 103 150
    run_spark cut
    [ "$(sql 'SELECT device, seq, toUnixTimestamp(taken), celsius, place FROM shop.cut WHERE device = 0')" = $'0\t0\t0\t0\t' ]
    as_written spark cut 1
    report "$(summary "$found" 0 1 0 0) and (.findings[0] | .at == \"cut/0/50\" and .differ == [\"celsius\"])"
    [[ $output == *'celsius owed n/a (does not fit), found 0'* ]]
    # Of the partition of the one that is cut off nothing is decided.
    as_written spark cut 3 's/--range=ALL/--range=1:0-75/'
    [[ $output == *"records-unreadable: look at cut/1/50"* ]]
    # The operator's word that nothing else fills the table, and that such a record owes nothing: then its row of defaults is found.
    sql 'SYSTEM STOP MERGES shop.cut'
    as_written spark cut 1 "s/--range=ALL/& --coverage=complete-table/; s/ref-run/& --unreadable=skip/
        s/ \\| rows-diff/ --max-table-rows=1000 | log-look --again --bootstrap=$KAFKA_BOOTSTRAP&/"
    report '(.summaries[] | select(.relation == "coverage") | .unexpected.rows == 1 and .changed.rows == 1 and .missing.rows == 0)'
    [[ $output == *'unexpected  device=0, seq=0'* ]]
}
