# SPDX-License-Identifier: Apache-2.0
"""The exact ranges of a scope, read with kafka-python: a client of its own, that shares nothing with librdkafka.

Under read_committed a range holds offsets that are never delivered (markers, aborted records), so a range is read when the
consumer's position has passed its end: never by count, never because a poll was empty.
"""
import base64
import time
import uuid

import kafka
from kafka.admin import ConfigResource, KafkaAdminClient

# What kcat's property=value lines are called here.
PROPERTIES = {"security.protocol": "security_protocol", "sasl.mechanism": "sasl_mechanism", "sasl.mechanisms": "sasl_mechanism",
              "sasl.username": "sasl_plain_username", "sasl.password": "sasl_plain_password", "ssl.ca.location": "ssl_cafile",
              "ssl.certificate.location": "ssl_certfile", "ssl.key.location": "ssl_keyfile", "ssl.key.password": "ssl_password"}


def properties(path):
    """The connection's options from a file of property=value lines."""
    options = {}
    with open(path, encoding="utf-8") as f:
        for text in f:
            name, equals, value = text.strip().partition("=")
            if not name or name.startswith("#"):
                continue
            if not equals or name not in PROPERTIES:
                raise ValueError(f"{path}: property '{name}' is not known here")
            options[PROPERTIES[name]] = value
    return options


def topic_id_bytes(text):
    """Either spelling of base64, since brokers' tools and libraries differ in it."""
    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "==")


class Count:
    """The records of a range, and the offsets without one held against them.

    A transaction ends once, after a record of its own, so that up to no offset there are more ends than records. That holds
    from where no transaction was open: from offset 0.
    """
    def __init__(self, start):
        self.next, self.records = start, 0
        self.without_end = 0  # records that may still have an end of their own
        self.excess, self.first = 0, None

    def passes(self, offset):
        """Nothing was delivered from the last record up to `offset`."""
        self.without_end -= offset - self.next
        self.next = offset
        if self.without_end < 0:
            if self.first is None:
                self.first = offset + self.without_end
            self.excess = max(self.excess, -self.without_end)

    def record(self, offset):
        self.passes(offset)
        self.next = offset + 1
        self.records += 1
        self.without_end += 1


class Ranges:
    """Reads a scope's ranges; afterwards `reasons` says why they are incomplete, `verified` what was looked at."""

    def __init__(self, scope, bootstrap, options, deadline_s=600, stable_wait_s=5, starts=None):
        self.scope, self.starts = scope, starts or {}
        self.common = dict(options, bootstrap_servers=bootstrap)
        self.deadline = time.monotonic() + deadline_s
        self.stable_wait = stable_wait_s
        self.reasons, self.verified, self.ranges = [], [], []
        self.first = {}  # the first offset that each log has

    def records(self):
        """Every record of every range, in offset order within a partition."""
        admin = KafkaAdminClient(**self.common)
        try:
            for source in self.scope["sources"]:
                if self.same_log(admin, source, "before"):
                    yield from self.source(source)
                    self.same_log(admin, source, "after")
        finally:
            admin.close()
        if not self.reasons:
            self.verified += ["log start before and after", "position past each range's end"]

    def same_log(self, admin, source, when):
        topic = source["topic"]
        cluster = admin.describe_cluster()["cluster_id"]
        if source["cluster_id"] is not None and cluster != source["cluster_id"]:
            return self.lack(f"cluster {cluster} is not the scope's {source['cluster_id']}")
        found = admin.describe_topics([topic])[0]
        if found["error_code"]:
            return self.lack(f"{topic}: no such topic {when} the read (error {found['error_code']})")
        here = uuid.UUID(str(found["topic_id"])).bytes
        if source["topic_id"] is not None and here != topic_id_bytes(source["topic_id"]):
            return self.lack(f"{topic}: the topic's id {when} the read is not the scope's: it was recreated")
        there = {p["partition_index"] for p in found["partitions"]}
        for p in source["partitions"]:
            if p["partition"] not in there:
                return self.lack(f"{topic}/{p['partition']}: the topic has {len(there)} partitions")
        resource = ConfigResource("TOPIC", topic)
        resource.configs = None
        config = admin.describe_configs([resource], config_filter="all")["topic"][topic]
        policy = config["cleanup.policy"]
        policy = policy["value"] if isinstance(policy, dict) else policy
        if "compact" in str(policy):
            return self.lack(f"{topic}: its cleanup policy is {policy}: a range of it cannot be judged row for row")
        if when == "before":
            self.verified += [f"{topic}: {what}" for what, given in (("cluster id", source["cluster_id"]), ("topic id", source["topic_id"]),
                                                                     ("cleanup policy", True)) if given is not None]
        return True

    def lack(self, reason):
        if reason not in self.reasons:
            self.reasons.append(reason)
        return False

    def source(self, source):
        isolation = source["isolation"]
        consumer = kafka.KafkaConsumer(**self.common, isolation_level=isolation, enable_auto_commit=False, group_id=None,
                                       auto_offset_reset="none", allow_auto_create_topics=False)
        try:
            wanted = {}
            for p in source["partitions"]:
                tp = kafka.TopicPartition(source["topic"], p["partition"])
                start = self.starts.get(p["partition"], self.starts.get("ALL")) if p["from"] is None else p["from"]
                if start is None:
                    self.lack(f"{tp.topic}/{tp.partition}: the scope has no first position")
                else:
                    wanted[tp] = [int(start), int(p["to"])]
            consumer.assign(list(wanted))
            if wanted and self.bounds(consumer, wanted):
                counts = {}
                yield from self.read(consumer, wanted, counts)
                self.ranges += [{"topic": tp.topic, "partition": tp.partition, "from": start, "to": end, "delivered": counts[tp].records,
                                 "not_delivered": end - start - counts[tp].records} for tp, (start, end) in wanted.items()]
                if isolation == "read_uncommitted":
                    self.gaps(consumer, wanted, counts)
                self.log_start(consumer, wanted, "after")
        finally:
            consumer.close()

    def log_start(self, consumer, wanted, when):
        for tp, low in consumer.beginning_offsets(list(wanted)).items():
            start = wanted[tp][0]
            self.first[tp] = low
            if low > start and start < wanted[tp][1]:
                self.lack(f"{tp.topic}/{tp.partition}: first available offset {low} {when} the read is past the range's start "
                          f"{start}: {low - start} offsets are gone")

    def bounds(self, consumer, wanted):
        """The ranges lie in the log, and under read_committed no transaction is open beneath their ends."""
        self.log_start(consumer, wanted, "before")
        patience = time.monotonic() + self.stable_wait
        while True:
            # Under read_committed this is the last stable offset.
            ends = consumer.end_offsets(list(wanted))
            short = {tp: end for tp, end in ends.items() if end < wanted[tp][1]}
            if not short or time.monotonic() > patience:
                break
            time.sleep(0.2)
        for tp, end in short.items():
            self.lack(f"{tp.topic}/{tp.partition}: the log's stable end is {end}, the range ends at {wanted[tp][1]}: "
                      "an open transaction, or a log that ends early")
        return not self.reasons

    def gaps(self, consumer, wanted, counts):
        """Offsets without a record that no transaction explains. Which were open where a range begins, only its log's start tells."""
        again = {tp: [0, wanted[tp][1]] for tp, c in counts.items() if c.excess and wanted[tp][0] > 0 and self.first[tp] == 0}
        if again and not self.reasons:
            for _ in self.read(consumer, again, counts):
                pass
        for tp, c in counts.items() if not self.reasons else []:
            if c.excess and (wanted[tp][0] == 0 or tp in again):
                self.lack(f"{tp.topic}/{tp.partition}: more gaps than transactions: {c.excess} offsets without a record cannot be ends of "
                          f"transactions, the first of them {c.first}: records were compacted or deleted")

    def read(self, consumer, wanted, counts):
        """The records of the ranges in `wanted`, each range counted anew in `counts`."""
        open_ranges = {tp: r for tp, r in wanted.items() if r[0] < r[1]}
        for tp, (start, _) in wanted.items():
            counts[tp] = Count(start)
            consumer.seek(tp, start)
            if tp in open_ranges:
                consumer.resume(tp)
            else:
                consumer.pause(tp)
        try:
            while open_ranges and time.monotonic() < self.deadline:
                for tp, batch in consumer.poll(timeout_ms=200).items():
                    for r in batch:
                        if tp in open_ranges and r.offset < open_ranges[tp][1]:
                            counts[tp].record(r.offset)
                            yield r
                for tp in [tp for tp in open_ranges if consumer.position(tp) >= open_ranges[tp][1]]:
                    consumer.pause(tp)
                    counts[tp].passes(open_ranges.pop(tp)[1])
        except kafka.errors.KafkaError as e:
            self.lack(f"reading: {e}")
        for tp in open_ranges:
            self.lack(f"{tp.topic}/{tp.partition}: read up to {consumer.position(tp)} of {open_ranges[tp][1]}")
