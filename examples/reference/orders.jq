# SPDX-License-Identifier: Apache-2.0
# The orders job, from its specification, for ref-run --json=text: a record whose payload is an object with an event_id that is
# not null is one row of the table; every other record owes nothing.
{at: "\(.topic)/\(.partition)/\(.offset)"} +
if (.value | type) == "object" and .value.event_id != null
then {values: (.value | {event_id, customer, amount, seen, score, note})}
else {skip: true} end
