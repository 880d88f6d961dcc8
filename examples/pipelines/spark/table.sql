CREATE TABLE shop.readings (
    device UInt32,
    seq Int64,
    taken DateTime64(3, 'UTC'),
    celsius Float64,
    place LowCardinality(String)
) ENGINE = MergeTree ORDER BY (device, seq)
