CREATE MATERIALIZED VIEW shop.purchases_view TO shop.purchases AS
SELECT event_id, customer, amount, fromUnixTimestamp64Milli(seen) AS seen, score, note, serial
FROM shop.purchases_queue
WHERE NOT test
