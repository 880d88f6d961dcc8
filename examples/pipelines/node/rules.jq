# SPDX-License-Identifier: Apache-2.0
# What a payment's record owes: one row, but nothing where it is a test. No number of it is computed with.
{at: "\(.topic)/\(.partition)/\(.offset)"} +
if .value_error then {unreadable: .value_error}
elif .value.kind == "test" then {skip: true}
else {values: (.value | {id, account, amount, at, tags: (.tags // [])})} end
