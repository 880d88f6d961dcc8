# SPDX-License-Identifier: Apache-2.0
# The orders job, from its specification, for ref-run: a record whose payload is an object with an event_id that is not null and that
# is not marked as a test is one row of the table; every other record that can be read owes nothing. One that cannot be read is no
# record that owes nothing: it is answered as what it is (and would be counted as that were it skipped).
{at: "\(.topic)/\(.partition)/\(.offset)"} +
if .value_error then {unreadable: .value_error}
elif (.value | type) == "object" and .value.event_id != null and .value.test != true
then {values: (.value | {event_id, customer, amount, seen, score, note, serial})}
else {skip: true} end
