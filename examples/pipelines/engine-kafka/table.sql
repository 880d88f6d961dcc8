CREATE TABLE shop.purchases (
    event_id Int64,
    customer String,
    amount Decimal(18, 4),
    seen DateTime64(6),
    score Float64,
    note Nullable(String),
    serial UInt64
) ENGINE = MergeTree ORDER BY event_id
