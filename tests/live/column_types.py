#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of every type of owed-cells-v2, and the cells that their values have, computed here and by nothing of lib/.

    column_types.py DIR

writes into DIR: create.sql, insert-0.sql and insert-1.sql (the rows in two parts), columns.json and rows (cells, a row a
line) of a table of all types; keyNN.sql, keyNN-insert.sql, keyNN.json and keyNN of a table for each type that may be a key; stored.sql,
stored.bin (RowBinary), stored.json and stored of a row whose values a column stores and its type's range does not hold.
"""
import base64
import ipaddress
import json
import os
import struct
import sys

out = sys.argv[1]


def s(text):
    return json.dumps(text, ensure_ascii=False)


def n(v):
    return '"%d"' % v


def b(raw):
    try:
        return s(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return '{"b64":"%s"}' % base64.b64encode(raw).decode()


def arr(*cells):
    return "[" + ",".join(cells) + "]"


def pairs(*kv):
    return arr(*sorted((arr(k, v) for k, v in kv), key=lambda x: x.encode()))


def f64(v):
    return '"%s"' % struct.pack(">d", v).hex()


def bf16(v):
    return '"%s"' % struct.pack(">f", v).hex()[:4]


def ip6(text):
    a = ipaddress.IPv6Address(text)
    return s("::ffff:%s" % a.ipv4_mapped if a.ipv4_mapped else a.compressed)


def clock(h, m, sec, frac, digits, sign=1):
    return n(sign * ((h * 3600 + m * 60 + sec) * 10**digits + frac))


def point(x, y):
    return "(%r,%r)" % (x, y), arr(f64(x), f64(y))


def listed(items):
    return "[" + ",".join(i[0] for i in items) + "]", arr(*(i[1] for i in items))


NULL = ("NULL", "null")
uuids = [(f"'{u}'", s(u)) for u in ("00112233-4455-6677-8899-aabbccddeeff", "00000000-0000-0000-0000-000000000000",
                                     "ffffffff-ffff-ffff-ffff-ffffffffffff", "f0000000-0000-0001-8000-00000000000f")]
fixed4 = [("'ab'", b(b"ab\0\0")), ("'abcd'", b(b"abcd")), ("''", b(b"\0" * 4)), ("unhex('FF004100')", b(b"\xff\0A\0")), ("'жж'", s("жж"))]
enum8 = "Enum8('low' = -128, '' = 0, 'it\\'s, (x = 1' = 5, 'high' = 127)"
enum8v = [("'low'", s("low")), ("''", s("")), ("'it\\'s, (x = 1'", s("it's, (x = 1")), ("'high'", s("high"))]
enum16 = "Enum16('a' = -32768, 'ж' = 1, 'b\\\\\"' = 32767)"
enum16v = [("'a'", s("a")), ("'ж'", s("ж")), ("'b\\\\\"'", s('b\\"'))]
ip4 = [(f"'{i}'", s(i)) for i in ("0.0.0.0", "1.2.3.4", "255.255.255.255", "10.0.0.1")]
ip6v = [(f"'{i}'", ip6(i)) for i in ("::", "::1", "2001:db8::1", "::ffff:1.2.3.4", "2001:0:0:1::", "1:0:2:0:3:0:4:0", "::1.2.3.4",
                                     "1:0:0:2:0:0:0:3", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "0:1:2:3:4:5:6:7")]
times = [("'-999:59:59'", clock(999, 59, 59, 0, 0, -1)), ("'999:59:59'", clock(999, 59, 59, 0, 0)), ("'00:00:00'", n(0)), ("'-00:00:01'", n(-1))]
times3 = [("'-999:59:59.999'", clock(999, 59, 59, 999, 3, -1)), ("'999:59:59.999'", clock(999, 59, 59, 999, 3)), ("'-00:00:00.001'", n(-1)),
          ("'12:34:56.123'", clock(12, 34, 56, 123, 3))]
times9 = [("'-999:59:59.999999999'", clock(999, 59, 59, 999999999, 9, -1)), ("'00:00:00.000000001'", n(1))]
dt6 = [("'1969-12-31 23:59:59.999999'", n(-1)), ("'2024-03-10 07:00:00.000001'", n(1710054000000001)), ("'1970-01-01 00:00:00'", n(0))]
tokyo = [("'1970-01-01 09:00:00'", n(0)), ("'2106-02-07 15:28:15'", n(2**32 - 1))]
d32 = [("'1900-01-01'", n(-25567)), ("'2299-12-31'", n(120529)), ("'1969-12-31'", n(-1))]
floats = [("1.5", 1.5), ("-0.", -0.0), ("-inf", float("-inf"))]

TYPES = [
    ("UUID", uuids),
    ("FixedString(4)", fixed4),
    ("FixedString(1)", [("'x'", s("x")), ("unhex('80')", b(b"\x80")), ("'\\0'", s("\0"))]),
    ("FixedString(300)", [("repeat('ab', 150)", s("ab" * 150)), ("''", s("\0" * 300))]),
    (enum8, enum8v),
    (enum16, enum16v),
    ("IPv4", ip4),
    ("IPv6", ip6v),
    ("Time", times),
    ("Time64(3)", times3),
    ("Time64(9)", times9),
    ("BFloat16", [(t, bf16(v)) for t, v in floats] + [("nan", s("nan")), ("reinterpret(toUInt16(32639), 'BFloat16')", s("7f7f"))]),
    ("SimpleAggregateFunction(sum, UInt64)", [("0", n(0)), ("18446744073709551615", n(2**64 - 1))]),
    ("SimpleAggregateFunction(anyLast, Nullable(String))", [NULL, ("'x'", s("x"))]),
    ("SimpleAggregateFunction(any, LowCardinality(String))", [("'y'", s("y")), ("''", s(""))]),
    ("SimpleAggregateFunction(groupArrayArray, Array(Int8))", [("[1,-1]", arr(n(1), n(-1))), ("[]", "[]")]),
    ("Nullable(UUID)", [NULL] + uuids),
    ("Nullable(FixedString(4))", fixed4 + [NULL]),
    ("Nullable(%s)" % enum8, [NULL] + enum8v),
    ("Nullable(IPv6)", ip6v + [NULL]),
    ("Nullable(BFloat16)", [NULL, ("1.5", bf16(1.5))]),
    ("LowCardinality(UInt64)", [("0", n(0)), ("18446744073709551615", n(2**64 - 1))]),
    ("LowCardinality(UUID)", uuids),
    ("LowCardinality(Nullable(FixedString(4)))", [NULL] + fixed4),
    ("LowCardinality(Date)", [("'1970-01-01'", n(0)), ("'2149-06-06'", n(65535))]),
    ("LowCardinality(Nullable(Float64))", [NULL, ("1.5", f64(1.5))]),
    ("Array(String)", [("[]", "[]"), ("['a','','жü']", arr(s("a"), s(""), s("жü"))), ("[unhex('FF'),'\"']", arr(b(b"\xff"), s('"')))]),
    ("Array(Nullable(Int8))", [("[1,NULL,-128]", arr(n(1), "null", n(-128))), ("[NULL]", "[null]"), ("[]", "[]")]),
    ("Array(Array(UInt16))", [("[[1,65535],[],[3]]", arr(arr(n(1), n(65535)), "[]", arr(n(3)))), ("[[]]", "[[]]"), ("[]", "[]"),
                              ("[[7]]", arr(arr(n(7))))]),
    ("Array(LowCardinality(Nullable(String)))", [("['a',NULL,'a']", arr(s("a"), "null", s("a"))), ("[]", "[]")]),
    ("Array(LowCardinality(String))", [("['b','b']", arr(s("b"), s("b"))), ("['c']", arr(s("c")))]),
    ("Array(DateTime('Asia/Tokyo'))", [listed(tokyo), ("[]", "[]")]),
    ("Array(DateTime64(6, 'UTC'))", [listed(dt6)]),
    ("Array(UUID)", [listed(uuids), listed(uuids[:1])]),
    ("Array(Nullable(%s))" % enum8, [listed(enum8v + [NULL]), ("[]", "[]")]),
    ("Array(IPv6)", [listed(ip6v)]),
    ("Array(FixedString(4))", [listed(fixed4), ("[]", "[]")]),
    ("Array(Bool)", [("[true,false]", arr(s("true"), s("false")))]),
    ("Array(Tuple(a Int8, b Array(String)))", [("[(1,['x','y']),(2,[])]", arr(arr(n(1), arr(s("x"), s("y"))), arr(n(2), "[]"))), ("[]", "[]")]),
    ("Tuple(Int8, String)", [("(1,'x')", arr(n(1), s("x"))), ("(-128,'')", arr(n(-128), s("")))]),
    ("Tuple(a Nullable(Int8), `b \\`c` LowCardinality(String))", [("(NULL,'x')", arr("null", s("x"))), ("(5,'')", arr(n(5), s("")))]),
    ("Tuple(t DateTime('Asia/Tokyo'), u Tuple(v DateTime64(6, 'UTC'), w Date32))",
     [("(%s,(%s,%s))" % (tokyo[0][0], dt6[0][0], d32[0][0]), arr(tokyo[0][1], arr(dt6[0][1], d32[0][1]))),
      ("(%s,(%s,%s))" % (tokyo[1][0], dt6[1][0], d32[1][0]), arr(tokyo[1][1], arr(dt6[1][1], d32[1][1])))]),
    ("Map(String, UInt8)", [("map('b',1,'a',2,'b',1,'a',3)", pairs((s("b"), n(1)), (s("a"), n(2)), (s("b"), n(1)), (s("a"), n(3)))), ("map()", "[]"),
                            ("map('z',0,'',255)", pairs((s("z"), n(0)), (s(""), n(255))))]),
    ("Map(LowCardinality(String), Array(Nullable(UUID)))",
     [("map('k',[NULL,%s],'a',[])" % uuids[0][0], pairs((s("k"), arr("null", uuids[0][1])), (s("a"), "[]"))), ("map()", "[]")]),
    ("Map(UInt8, Map(FixedString(2), Int128))",
     [("{10:{'b':-1,'a':170141183460469231731687303715884105727},9:{}}",
       pairs((n(10), pairs((b(b"b\0"), n(-1)), (b(b"a\0"), n(2**127 - 1)))), (n(9), "[]"))), ("{}", "[]")]),
    ("Map(DateTime('Asia/Tokyo'), Decimal(18, 4))", [("map(%s,-1.5)" % tokyo[1][0], pairs((tokyo[1][1], n(-15000))))]),
    ("Nested(a LowCardinality(String), b UInt8, c Array(Int8))",
     [("[('x',1,[1]),('y',2,[])]", arr(arr(s("x"), s("y")), arr(n(1), n(2)), arr(arr(n(1)), "[]"))), ("[]", arr("[]", "[]", "[]")),
      ("[('z',255,[-1,2])]", arr(arr(s("z")), arr(n(255)), arr(arr(n(-1), n(2)))))]),
    ("Point", [point(1.5, -0.0), point(1e300, 0.1)]),
    ("Ring", [listed([point(0.0, 0.0), point(1.5, 2.5)]), ("[]", "[]")]),
    ("LineString", [listed([point(0.5, 0.0)]), ("[]", "[]")]),
    ("Polygon", [listed([listed([point(0.0, 0.0), point(1.0, 2.0)]), ("[]", "[]")]), ("[]", "[]")]),
    ("MultiLineString", [listed([listed([point(0.25, 0.0)])]), ("[]", "[]")]),
    ("MultiPolygon", [listed([listed([listed([point(0.0, 7.5)])]), ("[]", "[]")]), ("[]", "[]")]),
    ("DateTime('Asia/Tokyo')", tokyo),
]
KEYS = [
    ("UUID", uuids), ("FixedString(4)", fixed4), (enum8, enum8v), (enum16, enum16v), ("IPv4", ip4), ("IPv6", ip6v), ("Time", times),
    ("Time64(3)", times3), ("Time64(9)", times9), ("DateTime64(6, 'Asia/Tokyo')", [("toDateTime64(%s, 6, 'UTC')" % t, c) for t, c in dt6]),
    ("DateTime64(9)", [("fromUnixTimestamp64Nano(9223372036854775807)", n(2**63 - 1)), ("fromUnixTimestamp64Nano(-1)", n(-1))]),
    ("DateTime('Asia/Tokyo')", tokyo), ("Date", [("'1970-01-01'", n(0)), ("'2149-06-06'", n(65535))]), ("Date32", d32),
    ("Decimal(9, 2)", [("-9999999.99", n(-999999999)), ("0.01", n(1)), ("0", n(0))]),
    ("Decimal(76, 20)", [("'-1'", n(-(10**20))), ("'0.00000000000000000001'", n(1)), ("'%s'" % ("9" * 56 + "." + "9" * 20), n(10**76 - 1))]),
    ("Decimal(38, 10)", [("'-1234567890123456789012345678.0123456789'", n(-12345678901234567890123456780123456789)), ("0", n(0))]),
    ("Bool", [("true", s("true")), ("false", s("false"))]), ("LowCardinality(UUID)", uuids), ("LowCardinality(FixedString(4))", fixed4),
    ("LowCardinality(Date)", [("'1970-01-01'", n(0)), ("'2149-06-06'", n(65535))]),
]


def write(name, text, mode="w"):
    with open(os.path.join(out, name), mode) as f:
        f.write(text)


def is_time(t):
    return "Date" in t or "Time" in t


def column(name, t, key):
    return {"name": name, "type": t, "key": key} | ({"from": "ticks"} if is_time(t) else {})


def all_types():
    names = ["c%d" % i for i in range(len(TYPES))]
    most = max(len(v) for _, v in TYPES)
    rows = [(i, [v[i % len(v)] for _, v in TYPES]) for i in range(2 * most)]
    cols = ", ".join("`%s` %s" % (c, t) for c, (t, _) in zip(names, TYPES))
    write("create.sql", "CREATE TABLE shop.kinds (k Int64, %s) ENGINE = MergeTree ORDER BY k" % cols)
    for part in (0, 1):
        write("insert-%d.sql" % part, "INSERT INTO shop.kinds VALUES " + ", ".join(
            "(%d,%s)" % (i, ",".join(v[0] for v in values)) for i, values in rows[part * most:(part + 1) * most]))
    write("columns.json", json.dumps([column("k", "Int64", True)] + [column(c, t, False) for c, (t, _) in zip(names, TYPES)]))
    write("rows", "".join(arr(n(i), *(v[1] for v in values)) + "\n" for i, values in rows))


def keys():
    for i, (t, values) in enumerate(KEYS):
        name = "key%02d" % i
        write(name + ".sql", "CREATE TABLE shop.%s (k %s, v Int64) ENGINE = MergeTree ORDER BY k" % (name, t))
        write(name + "-insert.sql", "INSERT INTO shop.%s VALUES %s" % (name, ", ".join("(%s,%d)" % (v[0], j) for j, v in enumerate(values))))
        write(name + ".json", json.dumps([column("k", t, True), column("v", "Int64", False)]))
        write(name, "".join(arr(v[1], n(j)) + "\n" for j, v in enumerate(values)))


# A column, its bytes in RowBinary, its cell: what nobody's text would give, and RowBinary stores as it is.
STORED = [
    ("d Date32", struct.pack("<i", -30000), n(-30000)), ("f DateTime64(9)", struct.pack("<q", 2**62), n(2**62)),
    ("g DateTime64(3)", struct.pack("<q", -(2**63)), n(-(2**63))), ("e Enum8('a' = 1)", struct.pack("<b", 9), '{"unnamed":"9"}'),
    ("h Enum16('a' = 1)", struct.pack("<h", -32768), '{"unnamed":"-32768"}'), ("t Time", struct.pack("<i", -(2**31)), n(-(2**31))),
    ("u Time64(3)", struct.pack("<q", 2**63 - 1), n(2**63 - 1)), ("c Decimal(4, 2)", struct.pack("<i", 2**31 - 1), n(2**31 - 1)),
    ("a Array(Enum8('a' = 1))", bytes([2, 1, 7]), arr(s("a"), '{"unnamed":"7"}')),
    ("b Array(Date32)", bytes([1]) + struct.pack("<i", 2**31 - 1), arr(n(2**31 - 1))),
    ("l BFloat16", bytes.fromhex("ffff"), s("nan")),
]


def stored():
    write("stored.sql", "CREATE TABLE shop.stored (k Int64, %s) ENGINE = MergeTree ORDER BY k" % ", ".join(c for c, _, _ in STORED))
    write("stored.bin", struct.pack("<q", 1) + b"".join(raw for _, raw, _ in STORED), "wb")
    write("stored.json", json.dumps([column("k", "Int64", True)] + [column(*c.split(" ", 1), False) for c, _, _ in STORED]))
    write("stored", arr(n(1), *(cell for _, _, cell in STORED)) + "\n")


all_types()
keys()
stored()
