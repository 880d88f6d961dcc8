#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Payments from Kafka into ClickHouse: a batch is parsed and inserted, and then its offsets are committed. Runs until SIGTERM.
'use strict'

const { Kafka, logLevel } = require('kafkajs')
const { createClient } = require('@clickhouse/client')

const topic = process.env.TOPIC || 'payments'
const table = process.env.TABLE || 'shop.payments'

const kafka = new Kafka({ brokers: process.env.KAFKA_BOOTSTRAP.split(','), clientId: topic, logLevel: logLevel.WARN })
const consumer = kafka.consumer({ groupId: `node-${topic}`, sessionTimeout: 6000, heartbeatInterval: 1000 })
const clickhouse = createClient({ url: process.env.CH_URL, password: process.env.CH_PASSWORD })

function row(message) {
  let payment
  try {
    payment = JSON.parse(message.value.toString())
  } catch (error) {
    console.error(`skipped ${topic} ${message.offset}: ${error.message}`)
    return []
  }
  return payment.kind === 'test' ? [] : [{
    id: payment.id,
    account: payment.account,
    amount: payment.amount,
    at: payment.at,
    tags: payment.tags || [],
  }]
}

async function eachBatch({ batch }) {
  const values = batch.messages.flatMap(row)
  if (values.length > 0) {
    await clickhouse.insert({
      table, values, format: 'JSONEachRow', clickhouse_settings: { date_time_input_format: 'best_effort' },
    })
  }
}

async function stop() {
  await consumer.disconnect()
  await clickhouse.close()
}

async function main() {
  process.once('SIGTERM', stop)
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ eachBatch })
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
