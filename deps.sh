#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh [part…]: what building and testing need, each part once.
# Debian's packages go into the system; everything else is kept outside the clone, in OWED_DEPS
# (default ~/.cache/owed), a folder a part, so that a second clone needs neither download nor build.
# A part is made in a folder beside its own and renamed into place, under a lock: it is whole or absent.
set -euo pipefail

OWED_DEPS=${OWED_DEPS:-${HOME:?}/.cache/owed}
HERE=$(cd "$(dirname "$0")" && pwd)
ALL=(debian jq rdkafka chdb-26.5 chdb-26.7 kafka zookeeper clickhouse-18.16 python node spark java)
RDKAFKA=2.15.1
KAFKA=4.2.0
ZOOKEEPER=3.9.3
ZOOKEEPER_CLI=1.5.0
PYTHON="kafka-python==3.0.12 confluent-kafka==2.16.1 clickhouse-connect==1.12.0"
NODE="kafkajs@2.2.4 @clickhouse/client@1.22.0"
SPARK=3.5.7
JDBC=0.9.4
JQ=1.8.2
JQ_PACKAGE=1.13.0 # PyPI's package jq, which has the program's sources in it
JQ_SHA256=71b8d6e8f5fe81f6c6d0d110e3892251f6ce76ed095abd315e26e6e1193af3af

say() { printf 'deps: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# What Debian packages this machine lacks. A newer node, java or mvn from elsewhere serves as well.
missing_packages() {
    local want=(gcc clang ccache clang-format clang-tidy cppcheck make pkg-config git jq libjq-dev libcurl4-openssl-dev
        libssl-dev libxxhash-dev libmicrohttpd-dev libcmocka-dev libyajl-dev zlib1g-dev libzstd-dev librocksdb-dev
        liblz4-dev libsasl2-dev bats shellcheck mandoc valgrind libclang-rt-14-dev kcat curl
        bsdextrautils ca-certificates openssl procps socat time spin)
    local p java
    command -v npm >/dev/null || want+=(nodejs npm)
    command -v mvn >/dev/null || want+=(maven)
    python3 -c 'import ensurepip, venv' 2>/dev/null || want+=(python3 python3-venv)
    java=$(java -version 2>&1 | sed -n '1s/.*version "\([0-9]*\).*/\1/p') || true
    [ "${java:-0}" -ge 17 ] || want+=(openjdk-17-jre-headless)
    for p in "${want[@]}"; do
        dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null | grep -q '^ii' || printf '%s\n' "$p"
    done
}

debian() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        die "this is not Debian; its packages are missing: $(missing_packages | tr '\n' ' ')"
    fi
    local lacking
    mapfile -t lacking < <(missing_packages)
    [ ${#lacking[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] || die "not root; these Debian packages are missing: ${lacking[*]}"
    say "installing ${lacking[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update || say "apt-get update failed; trying with the lists there are"
    apt-get -qq -y --no-install-recommends install "${lacking[@]}" >/dev/null ||
        die "apt-get could not install; still missing: $(missing_packages | tr '\n' ' ')"
}

# npm's own client checks the package against the registry's digest.
npm_unpack() { # PACKAGE@VERSION DIR
    command -v npm >/dev/null || die "npm is missing (part debian brings it)"
    (cd "$2" && npm pack --silent "$1" >/dev/null) || die "npm could not fetch $1"
    tar -xzf "$2"/*.tgz -C "$2" --no-same-owner
    rm "$2"/*.tgz
}

# pip_source DIR PACKAGE==VERSION: its source as the registry has it, unpacked in DIR.
pip_source() {
    { python3 -m venv "$1/venv" && "$1/venv/bin/python" -m pip -q --disable-pip-version-check download --no-deps \
        --no-binary :all: -d "$1" "$2"; } >"$1/pip.log" 2>&1 || {
        tail -n 20 "$1/pip.log" >&2
        die "pip could not fetch $2"
    }
    tar -xzf "$1/${2/==/-}.tar.gz" -C "$1" --no-same-owner
}

# A jq for the tests' own calls, some thousands in a run, which starts in a fifth of the time of Debian's.
make_jq() {
    local src=$1/jq-$JQ log=$1/build.log
    pip_source "$1" "jq==$JQ_PACKAGE"
    sha256sum --check --quiet - <<<"$JQ_SHA256  $1/jq-$JQ_PACKAGE/deps/jq-$JQ.tar.gz" || die "the sources of jq $JQ are not those known"
    tar -xzf "$1/jq-$JQ_PACKAGE/deps/jq-$JQ.tar.gz" -C "$1" --no-same-owner
    (cd "$src" && ./configure --disable-docs --disable-maintainer-mode --disable-shared --with-oniguruma=builtin CFLAGS=-O2 &&
        make -j2) >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        die "jq did not build"
    }
    install -d "$1/out/bin"
    install "$src/jq" "$1/out/bin"
    install -m 644 "$src/COPYING" "$1/out"
}

make_rdkafka() {
    local src=$1/package/deps/librdkafka out=$1/out log=$1/build.log
    npm_unpack @confluentinc/kafka-javascript@1.10.1 "$1"
    (cd "$src" && ./configure --disable-gssapi --disable-curl && make -j2 libs) >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        die "librdkafka did not build"
    }
    install -d "$out/include/librdkafka" "$out/lib"
    install -m 644 "$src"/src/rdkafka.h "$src"/src/rdkafka_mock.h "$out/include/librdkafka"
    install -m 644 "$src"/src/librdkafka.a "$out/lib"
    install -m 644 "$src"/LICENSE "$out"
    # Debian's shared library has the same SONAME, so only the static one is kept, and what it needs beside it.
    sed -n 's/^MKL_DYNAMIC_LIBS=[[:space:]]*//p' "$src"/Makefile.config >"$out/lib/LIBS"
}

make_chdb() { # TMP VERSION
    npm_unpack "@chdb/lib-linux-x64-gnu@$2" "$1"
    mkdir "$1/out"
    mv "$1"/package/libchdb.so "$1"/package/package.json "$1/out"
}
make_chdb-26.5() { make_chdb "$1" 26.5.3; }
make_chdb-26.7() { make_chdb "$1" 26.7.3-stable.1; }

# mvn_libs DIR WHAT: the dependencies on standard input, and what they need, into DIR/out/libs.
mvn_libs() {
    command -v mvn >/dev/null || die "mvn is missing (part debian brings it)"
    local dependencies
    dependencies=$(cat)
    cat >"$1/pom.xml" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>owed</groupId><artifactId>libs</artifactId><version>1</version>
  <dependencies>
$dependencies
  </dependencies>
</project>
POM
    mvn -q -B -f "$1/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
        -DoutputDirectory="$1/out/libs" >"$1/mvn.log" 2>&1 || {
        tail -n 20 "$1/mvn.log" >&2
        die "mvn could not fetch $2"
    }
}

make_kafka() {
    mvn_libs "$1" "kafka_2.13 $KAFKA" <<POM
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$KAFKA</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
POM
}

# What it calls provided it does not start without.
make_zookeeper() {
    mvn_libs "$1" "zookeeper $ZOOKEEPER" <<POM
    <dependency><groupId>org.apache.zookeeper</groupId><artifactId>zookeeper</artifactId><version>$ZOOKEEPER</version></dependency>
    <dependency><groupId>io.dropwizard.metrics</groupId><artifactId>metrics-core</artifactId><version>4.1.12.1</version></dependency>
    <dependency><groupId>org.xerial.snappy</groupId><artifactId>snappy-java</artifactId><version>1.1.10.5</version></dependency>
    <dependency><groupId>commons-cli</groupId><artifactId>commons-cli</artifactId><version>$ZOOKEEPER_CLI</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
POM
}

# Apache Spark as the package of PyPI has it, unpacked rather than installed, which would pack its 300 MB once more; and what its
# pipeline adds: its Kafka source without what Spark brings itself, and the JDBC driver with all it needs.
make_spark() {
    pip_source "$1" "pyspark==$SPARK"
    mvn_libs "$1" "Spark's source of Kafka $SPARK and clickhouse-jdbc $JDBC" <<POM
    <dependency><groupId>org.apache.spark</groupId><artifactId>spark-sql-kafka-0-10_2.12</artifactId><version>$SPARK</version><exclusions>
      <exclusion><groupId>org.apache.hadoop</groupId><artifactId>*</artifactId></exclusion>
      <exclusion><groupId>org.lz4</groupId><artifactId>*</artifactId></exclusion>
      <exclusion><groupId>org.xerial.snappy</groupId><artifactId>*</artifactId></exclusion>
      <exclusion><groupId>org.slf4j</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
    <dependency><groupId>com.clickhouse</groupId><artifactId>clickhouse-jdbc</artifactId><version>$JDBC</version><classifier>all</classifier>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>
POM
    mv "$1/pyspark-$SPARK/pyspark" "$1/out"
    mv "$1/pyspark-$SPARK"/deps/{bin,jars,licenses} "$1/out/pyspark"
    python3 -m zipfile -e "$1/pyspark-$SPARK"/lib/py4j-*-src.zip "$1/out"
    chmod +x "$1"/out/pyspark/bin/*
}

# What Java keeps of the classes of a broker and of a Spark job, so that the next ones start in half the time: made where their jars lie in
# their place, since it has their paths and Java's own version in it and is ignored where either is another.
make_java() {
    local kafka=$HERE/tests/services/kafka
    mkdir "$1/out"
    { REQUIRE_LIVE=1 KAFKA_CLASSES_TO=$1/out/kafka.jsa "$kafka" up --dir="$1/broker" && "$kafka" down --dir="$1/broker"; } >"$1/log" 2>&1 || {
        tail -n 20 "$1/log" >&2
        die "the broker did not run"
    }
    cat >"$1/job.py" <<'JOB'
from pyspark.sql import SparkSession, functions

spark = SparkSession.builder.getOrCreate()
spark.range(10).select(functions.from_json(functions.lit('{"a":1}'), "a int").a.alias("a")).groupBy("a").count().collect()
JOB
    SPARK_HOME=$OWED_DEPS/spark/pyspark PYTHONPATH=$OWED_DEPS/spark SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$1 "$OWED_DEPS/spark/pyspark/bin/spark-submit" \
        --master 'local[2]' --conf spark.ui.enabled=false --driver-java-options "-XX:+UseSerialGC -XX:ArchiveClassesAtExit=$1/out/spark.jsa" \
        "$1/job.py" >"$1/log" 2>&1 || {
        tail -n 20 "$1/log" >&2
        die "a Spark job did not run"
    }
}

# A real server of a line too old to support. Unpacked, not installed, with the libraries this machine lacks.
make_clickhouse-18.16() {
    local deb lacking get=(apt-get -qq -y --no-install-recommends --download-only
        -o "Dir::Cache::archives=$1/apt" -o APT::Sandbox::User=root install clickhouse-server clickhouse-common)
    command -v apt-get >/dev/null || die "clickhouse-18.16 needs apt-get"
    [ "$(id -u)" -eq 0 ] || die "not root: clickhouse-server 18.16 cannot be fetched"
    mkdir -p "$1/apt/partial" "$1/out"
    "${get[@]}" >/dev/null 2>&1 || { apt-get -qq update && "${get[@]}" >/dev/null; } ||
        die "apt-get could not fetch clickhouse-server"
    for deb in "$1"/apt/*.deb; do dpkg -x "$deb" "$1/out"; done
    [ -x "$1/out/usr/sbin/clickhouse-server" ] || die "clickhouse-server is installed on this system: remove it first"
    lacking=$(LD_LIBRARY_PATH=$1/out/usr/lib/x86_64-linux-gnu ldd "$1/out/usr/sbin/clickhouse-server" |
        sed -n 's/^[[:space:]]*\(.*\) => not found/\1/p' | tr '\n' ' ')
    [ -z "$lacking" ] || die "clickhouse-server 18.16 lacks $lacking"
}

# Client libraries other than ours, for the independent reference and the consumer of the examples.
make_python() {
    python3 -m venv "$1/out" || die "python3 -m venv failed (part debian brings it)"
    # shellcheck disable=SC2086  # one word a package
    "$1/out/bin/python" -m pip -q --disable-pip-version-check install $PYTHON >"$1/pip.log" 2>&1 || {
        tail -n 20 "$1/pip.log" >&2
        die "pip could not fetch $PYTHON"
    }
}

# The packages of the pipeline in Node; npm checks each against the registry's digest.
make_node() {
    command -v npm >/dev/null || die "npm is missing (part debian brings it)"
    # shellcheck disable=SC2086  # one word a package
    npm install --silent --ignore-scripts --no-audit --no-fund --prefix "$1/out" $NODE >"$1/npm.log" 2>&1 || {
        tail -n 20 "$1/npm.log" >&2
        die "npm could not fetch $NODE"
    }
}

# part NAME VERSION [FOLDER]: run make_NAME in a folder beside, then rename.
part() {
    local name=$1 version=$2 dir=$OWED_DEPS/${3:-$1}
    [ "$(cat "$dir/VERSION" 2>/dev/null)" != "$version" ] || return 0
    mkdir -p "$OWED_DEPS"
    exec 9>"$OWED_DEPS/.$name.lock"
    flock 9
    [ "$(cat "$dir/VERSION" 2>/dev/null)" != "$version" ] || return 0
    rm -rf "$OWED_DEPS/.$name.new."*
    tmp=$(mktemp -d "$OWED_DEPS/.$name.new.XXXXXX")
    trap 'rm -rf "$tmp"' EXIT
    say "making $name $version in $dir"
    "make_$name" "$tmp"
    printf '%s\n' "$version" >"$tmp/out/VERSION"
    rm -rf "$dir"
    mv -T "$tmp/out" "$dir"
    rm -rf "$tmp"
    trap - EXIT
    exec 9>&-
}

[ $# -gt 0 ] || set -- "${ALL[@]}"
for name; do
    case $name in
    debian) debian ;;
    jq) part jq "$JQ" ;;
    rdkafka) part rdkafka "$RDKAFKA" "librdkafka-$RDKAFKA" ;;
    chdb-26.5) part "$name" 26.5.3 ;;
    chdb-26.7) part "$name" 26.7.3-stable.1 ;;
    kafka) part kafka "$KAFKA" kafka-4 ;;
    java) part "$name" "$KAFKA $SPARK $(java -version 2>&1 | sed -n 1p)" ;;
    zookeeper) part "$name" "$ZOOKEEPER $ZOOKEEPER_CLI" ;;
    clickhouse-18.16) part "$name" 18.16.1 ;;
    python) part "$name" "$PYTHON" ;;
    node) part "$name" "$NODE" ;;
    spark) part "$name" "$SPARK $JDBC" ;;
    -h | --help) printf 'usage: deps.sh [part…]; parts: %s\n' "${ALL[*]}" ;;
    *) printf 'deps: no part %s; parts: %s\n' "$name" "${ALL[*]}" >&2; exit 2 ;;
    esac
done
