# SPDX-License-Identifier: Apache-2.0
"""The orders job, from its specification: a record whose payload is a JSON object with an event_id that is not null and that is not
marked as a test is one row of the table, its members the columns of their names. Every other record that can be read owes nothing;
one whose payload is no JSON comes with the value None, and is counted as unreadable unless a row is made of it."""
NAME, VERSION = "orders", "1"
COLUMNS = ("event_id", "customer", "amount", "seen", "score", "note", "serial")


def rows(record, value):
    if isinstance(value, dict) and value.get("event_id") is not None and value.get("test") is not True:
        yield {name: value.get(name) for name in COLUMNS}
