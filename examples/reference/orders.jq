# SPDX-License-Identifier: Apache-2.0
# The orders job, from its specification, for ref-run --json=text: a record whose payload is an object with an event_id that is
# not null and that is not marked as a test is one row of the table; every other record owes nothing.
{at: "\(.topic)/\(.partition)/\(.offset)"} +
if (.value | type) == "object" and .value.event_id != null and .value.test != true
then {values: (.value | {event_id, customer, amount, seen, score, note, serial})}
else {skip: true} end
