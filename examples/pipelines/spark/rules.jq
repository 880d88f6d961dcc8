# SPDX-License-Identifier: Apache-2.0
# What a sensor's record owes: one row of the reading that it holds.
{at: "\(.topic)/\(.partition)/\(.offset)"} +
if .value_error then {unreadable: .value_error}
else {values: (.value | {device, seq, taken, celsius, place})} end
