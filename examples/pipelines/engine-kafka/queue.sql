-- What the topic's messages are read into. One that cannot be read is passed over, so that it does not stop the others.
CREATE TABLE shop.purchases_queue (
    event_id Int64,
    customer String,
    amount Decimal(18, 4),
    seen Int64,
    score Float64,
    note Nullable(String),
    serial UInt64,
    test Bool
) ENGINE = Kafka SETTINGS
    kafka_broker_list = '127.0.0.1:9092',
    kafka_topic_list = 'purchases',
    kafka_group_name = 'engine-purchases',
    kafka_format = 'JSONEachRow',
    kafka_poll_timeout_ms = 100,
    kafka_flush_interval_ms = 300,
    kafka_skip_broken_messages = 1
