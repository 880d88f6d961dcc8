CREATE TABLE shop.payments (
    id Int64,
    account LowCardinality(String),
    amount Decimal(18, 2),
    at DateTime64(3, 'UTC'),
    tags Array(String)
) ENGINE = MergeTree ORDER BY id
