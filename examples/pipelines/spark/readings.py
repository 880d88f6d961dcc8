#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sensor readings from Kafka into ClickHouse: every micro-batch is parsed and appended over JDBC. Ends with what the topic holds."""
import os

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, from_json

SCHEMA = "device INT, seq BIGINT, taken TIMESTAMP, celsius DOUBLE, place STRING"

topic = os.environ.get("TOPIC", "readings")
table = os.environ.get("TABLE", "shop.readings")
spark = SparkSession.builder.appName(topic).config("spark.sql.session.timeZone", "UTC").getOrCreate()

records = (spark.readStream.format("kafka")
           .option("kafka.bootstrap.servers", os.environ["KAFKA_BOOTSTRAP"])
           .option("subscribe", topic)
           .option("startingOffsets", "earliest")
           .option("maxOffsetsPerTrigger", 100)
           .load())
readings = records.select(from_json(col("value").cast("string"), SCHEMA).alias("reading")).select("reading.*")


def append(batch, _):
    (batch.write.format("jdbc").mode("append")
     .option("driver", "com.clickhouse.jdbc.ClickHouseDriver")
     .option("url", os.environ["CH_JDBC"])
     .option("user", "default")
     .option("password", os.environ["CH_PASSWORD"])
     .option("dbtable", table)
     .save())


(readings.writeStream.foreachBatch(append)
 .option("checkpointLocation", os.environ["CHECKPOINT"])
 .trigger(availableNow=True)
 .start().awaitTermination())
