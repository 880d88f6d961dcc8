#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write cells_table.h: owed values and their cells, computed with exact fractions and nothing of lib/cells.

    tests/unit/cells_table.py > tests/unit/cells_table.h
"""
import ipaddress
import json
import random
import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

rng = random.Random(20261129)
rows = []


def plain(text):
    sign, digits, exp = Decimal(text).as_tuple()
    s = "".join(map(str, digits)).lstrip("0")
    while s.endswith("0"):
        s, exp = s[:-1], exp + 1
    if not s:
        return "0"
    minus = "-" if sign else ""
    if exp >= 0:
        p = s + "0" * exp if exp < 1000 else None
    else:
        s0 = s.rjust(1 - exp, "0") if exp > -1000 else None
        p = s0 and s0[:exp] + "." + s0[exp:]
    if p is None or sum(c.isdigit() for c in p) > 80:
        p = "%se%d" % (s, exp)
    return minus + p


def fraction(text):
    return Fraction(Decimal(text))


def unfit(s):
    return '{"unfit":"%s"}' % s


def integer(type_, text):
    v, bits = fraction(text), int(type_.lstrip("UInt"))
    lo, hi = (0, 2**bits - 1) if type_[0] == "U" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return '"%d"' % v if v.denominator == 1 and lo <= v <= hi else unfit(plain(text))


def decimal(p, s, text):
    v = fraction(text) * 10**s
    return '"%d"' % v if v.denominator == 1 and abs(v) < 10**p else unfit(plain(text))


nearest = set()  # (type, text) whose cell is of another value than theirs


WIDTHS = {16: (8, -133, 120), 32: (24, -149, 104), 64: (53, -1074, 971)}


def float_cell(bits, text):
    """The nearest value of the width, ties to even, by exact arithmetic; a whole number must be that value."""
    mant, emin, emax = WIDTHS[bits]
    v = fraction(text)
    neg, v = text.startswith("-"), abs(v)
    sign = 1 << (bits - 1) if neg else 0
    if v == 0:
        return '"%0*x"' % (bits // 4, sign)
    e = emin
    while v >= Fraction(2) ** (e + mant) and e <= emax + 2:
        e += 1
    q = v / Fraction(2) ** e
    n, rest = q.numerator // q.denominator, q - q.numerator // q.denominator
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n & 1):
        n += 1
    if n == 2**mant:
        n, e = n // 2, e + 1
    if e > emax or n == 0 or (v.denominator == 1 and n * Fraction(2) ** e != v):
        return unfit(plain(text))
    if n * Fraction(2) ** e != v:
        nearest.add(("%sFloat%d" % ("B" if bits == 16 else "", bits), text))
    if n < 2 ** (mant - 1):
        pattern = n
    else:
        pattern = (e - emin + 1 << mant - 1) + n - 2 ** (mant - 1)
    return '"%0*x"' % (bits // 4, sign | pattern)


UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
EPOCH = datetime(1970, 1, 1)


def utc(secs, date_only):
    whole = secs.numerator // secs.denominator
    rest = secs - whole
    try:
        t = EPOCH + timedelta(seconds=whole)
    except OverflowError:
        return None
    s = "%04d-%02d-%02d" % (t.year, t.month, t.day)
    if date_only and t.hour == t.minute == t.second == 0 and rest == 0:
        return s
    s += t.strftime("T%H:%M:%S")
    if rest:
        places = 0
        while (rest * 10**places).denominator != 1:
            places += 1
        s += "." + str(int(rest * 10**places)).rjust(places, "0")
    return s + "Z"


def time(type_, unit, text):
    days = type_ in ("Date", "Date32")
    p = int(type_[11:-1]) if type_.startswith("DateTime64") else 0
    v = fraction(text)
    if unit == "days" or (unit == "ticks" and days):
        secs = v * 86400
    else:
        secs = v / 10 ** (p if unit == "ticks" else UNITS[unit])
    ticks = secs / 86400 if days else secs * 10**p
    lo, hi = {"Date": (0, 65535), "Date32": (-25567, 120529), "DateTime": (0, 2**32 - 1)}.get(type_, (-(2**63), 2**63 - 1))
    if ticks.denominator == 1 and lo <= ticks <= hi:
        return '"%d"' % ticks
    shown = utc(secs, days)
    return unfit(shown if shown else "%s %s" % (plain(text), unit))


def add(type_, unit, value, cell):
    rows.append((type_, unit, value, cell))


def spellings(v):
    """A few texts of one integer value."""
    s = str(v)
    out = [s, s + ".0", s + "e0"]
    if v and v % 10 == 0:
        out.append("%de1" % (v // 10))
    out.append(s + "00E-2")
    return out


for bits in (8, 16, 32, 64, 128, 256):
    for type_ in ("Int%d" % bits, "UInt%d" % bits):
        for edge in (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 2**bits - 1, 0):
            for v in (edge - 1, edge, edge + 1):
                text = rng.choice(spellings(v))
                add(type_, "", text, integer(type_, text))
        for _ in range(6):
            text = rng.choice(spellings(rng.randrange(-(2**bits), 2**bits) >> rng.randrange(bits)))
            add(type_, "", text, integer(type_, text))
        for text in ("0.5", "-1e-3", "1e80", "12e-1", "-0.0", "1e2"):
            add(type_, "", text, integer(type_, text))

for p, s in ((9, 0), (9, 9), (18, 4), (10, 3), (38, 10), (38, 0), (76, 76), (76, 20), (1, 1)):
    type_ = "Decimal(%d, %d)" % (p, s)
    for k in (10**p - 1, 10**p, 1, 0, -(10**p) + 1, rng.randrange(10**p)):
        text = "%de-%d" % (k, s)
        if rng.random() < 0.7:
            text = format(Decimal(text), "f")
        add(type_, "", text, decimal(p, s, text))
    for _ in range(8):
        text = format(Decimal(rng.randrange(-(10**p), 10**p)).scaleb(-rng.randrange(0, s + 3)), "f")
        add(type_, "", text, decimal(p, s, text))

for bits in (32, 64, 16):
    type_ = "Float%d" % bits if bits > 16 else "BFloat16"
    mant, emin, emax = WIDTHS[bits]
    for _ in range(60):  # exact ties, and a hair to either side of them, which a double in between loses
        n = rng.randrange(2 ** (mant - 1), 2**mant)
        e = rng.choice((-mant, -mant + 1, -10, 0, 3)) if rng.random() < 0.8 else rng.choice((emin, emin + 1))
        half = (Fraction(2 * n + 1) * Fraction(2) ** (e - 1))
        places = max(0, 1 - e) + 1
        tie = int(half * 10**places)
        text = "%de-%d" % (tie, places)
        assert fraction(text) == half
        for hair in ("", "1", "-"):
            if hair == "1":
                t = "%d%s1e-%d" % (tie, "0" * 30, places + 31)
            elif hair == "-":
                t = "%d%se-%d" % (tie - 1, "9" * 31, places + 31)
            else:
                t = text
            if len(t) < 150:
                add(type_, "", t, float_cell(bits, t))
    top = Fraction(2**mant - 1) * 2**emax
    for text in ("0", "-0.0", "0.1", "1e-400", "-1e400", "3.4028235677973366e38", "3.40282356779733661637539395458142568447e38",
                 "3.40282356779733661637539395458142568448e38", "1.7976931348623157e308", "1.7976931348623159e308", "7e-46", "7.1e-46",
                 "2.4703282292062327e-324", "2.4703282292062328e-324", "1.401298464324817e-45", "5e-324", "16777217", "146.4748",
                 "9007199254740993", "9007199254740992", "16777216", "16777218", "16777217.0", "-16777217", "1677721.7e1", "1e22", "1e23", "1e10", "1e11",
                 "36893488147419103232", "36893488147419103233", "340282346638528859811704183484516925440", "3.4028235e38", "0.3", str(int(top)) if bits == 32 else "1e22", "123456789e-5"):
        add(type_, "", text, float_cell(bits, text))
    for _ in range(40):
        text = "%s%d.%de%d" % (rng.choice(("", "-")), rng.randrange(10), rng.randrange(10**rng.randrange(1, 25)), rng.randrange(-50, 45))
        add(type_, "", text, float_cell(bits, text))

for type_ in ("Date", "Date32", "DateTime", "DateTime64(0)", "DateTime64(3)", "DateTime64(6)", "DateTime64(9)"):
    for unit in ("s", "ms", "us", "ns", "ticks", "days"):
        for _ in range(9):
            kind = rng.randrange(6)
            per_day = 86400 * 10 ** UNITS.get(unit, 0) if unit not in ("days", "ticks") else 1
            if kind == 0:
                v = rng.choice((-25568, -25567, -1, 0, 1, 65535, 65536, 120529, 120530)) * per_day
            elif kind == 1:
                v = rng.choice((2**32 - 1, 2**32, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1))
            elif kind == 2:
                v = rng.choice((2**63, -(2**63), 2**63 - 1)) // 10 ** rng.randrange(0, 10)
            else:
                v = rng.randrange(-(10**6), 10 ** rng.choice((6, 10, 13, 16, 19)))
            text = rng.choice(spellings(v))
            if rng.random() < 0.25:
                text = "%d.%d" % (v, rng.randrange(1, 10**6))
            add(type_, unit, text, time(type_, unit, text))

for _ in range(120):
    type_ = rng.choice(("Date", "Date32", "DateTime", "DateTime64(3)", "DateTime64(6)", "DateTime64(9)"))
    year = rng.choice((rng.randrange(1, 10000), rng.randrange(1890, 2310), 1970))
    days = (datetime(year, 1, 1) - EPOCH).days + rng.randrange(365)
    secs = rng.choice((0, 0, rng.randrange(86400)))
    frac = rng.choice(("", "", "0", "5", "120", "000001", "123456789", "1234567891", "00"))
    local = EPOCH + timedelta(days=days, seconds=secs)
    offset = rng.choice((0, 0, 3600, -18000, 19800, 86340))
    try:
        instant = Fraction(days * 86400 + secs - offset) + (Fraction(int(frac), 10 ** len(frac)) if frac else 0)
        assert utc(instant, False)
    except AssertionError:
        continue
    zone = "Z" if offset == 0 else "%s%02d:%02d" % ("-" if offset < 0 else "+", abs(offset) // 3600, abs(offset) // 60 % 60)
    text = "%04d-%02d-%02dT%02d:%02d:%02d%s%s" % (local.year, local.month, local.day, local.hour, local.minute, local.second,
                                                   "." + frac if frac else "", zone)
    p = int(type_[11:-1]) if type_.startswith("DateTime64") else 0
    d = type_ in ("Date", "Date32")
    ticks = instant / 86400 if d else instant * 10**p
    lo, hi = {"Date": (0, 65535), "Date32": (-25567, 120529), "DateTime": (0, 2**32 - 1)}.get(type_, (-(2**63), 2**63 - 1))
    fits = ticks.denominator == 1 and lo <= ticks <= hi
    add(type_, "iso", text, '"%d"' % ticks if fits else unfit(utc(instant, d)))

for type_ in ("Time", "Time64(0)", "Time64(3)", "Time64(9)"):
    p = int(type_[7:-1]) if "(" in type_ else 0
    most = 3599999 * 10**p + 10**p - 1

    def clock(ticks, shown):
        return '"%d"' % ticks if ticks.denominator == 1 and abs(ticks) <= most else unfit(shown)

    for unit in ("s", "ms", "us", "ns", "ticks", "days"):
        scale = 10 ** (p if unit == "ticks" else UNITS.get(unit, 0)) / Fraction(86400 if unit == "days" else 1)
        edge = int(3599999 * scale)
        for v in (-edge - 1, -edge, -1, 0, 1, edge, edge + 1, rng.randrange(-edge, edge + 1), 10**25):
            text = rng.choice(spellings(v))
            add(type_, unit, text, clock(fraction(text) / scale * 10**p, "%s %s" % (plain(text), unit)))
        text = "0.%d" % rng.randrange(1, 10**4)
        add(type_, unit, text, clock(fraction(text) / scale * 10**p, "%s %s" % (plain(text), unit)))
    for text in ("-999:59:59", "999:59:59", "0:00", "-0:00:01", "12:34:56.5", "-12:34:56.123", "-0:00:00.001", "7:08:09.123456789",
                 "999:59:59.999999999", "-0:00:00.900"):
        sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
        part = (digits.split(":") + ["0"])[:3]
        secs = int(part[0]) * 3600 + int(part[1]) * 60 + fraction(part[2])
        add(type_, "iso", text, clock(sign * secs * 10**p, text))


# ---- values as JSON: what is no number, and what holds others ----

values = []


def string(text):
    return json.dumps(text, ensure_ascii=False)


def canonical(v):
    return json.dumps(v, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def ipv6_text(packed):
    """RFC 5952 by its rules: no leading zeros, lower case, the first of the longest runs of two and more zero groups."""
    if packed[:12] == bytes(10) + b"\xff\xff":
        return "::ffff:" + ".".join(map(str, packed[12:]))
    groups = ["%x" % (packed[i] << 8 | packed[i + 1]) for i in range(0, 16, 2)]
    runs = [(-n, at) for at in range(8) for n in range(2, 9 - at) if groups[at:at + n] == ["0"] * n]
    if not runs:
        return ":".join(groups)
    n, at = min(runs)
    return ":".join(groups[:at]) + "::" + ":".join(groups[at - n:])


ENUM = {"a": 1, "": -128, "it's": 127, "ж,(": 0}
ENUM_TYPE = "Enum8(%s)" % ", ".join("'%s' = %d" % (k.replace("'", "\\'"), v) for k, v in ENUM.items())


def scalar(type_):
    """A random owed value of the type, and its cell."""
    if type_ == "UUID":
        u = str(uuid.UUID(int=rng.getrandbits(128)))
        return rng.choice((u, u.upper())), string(u)
    if type_ == "IPv4":
        a = ".".join(str(rng.choice((0, 255, rng.randrange(256)))) for _ in range(4))
        return a, string(a)
    if type_ == "IPv6":
        packed = b"".join(rng.choice((bytes(2), bytes(2), rng.randbytes(2))) for _ in range(8))
        if rng.random() < 0.2:
            packed = bytes(10) + b"\xff\xff" + rng.randbytes(4)
        full = ":".join("%04X" % (packed[i] << 8 | packed[i + 1]) for i in range(0, 16, 2))
        return rng.choice((full, ipaddress.IPv6Address(packed).compressed)), string(ipv6_text(packed))
    if type_.startswith("FixedString"):
        n = int(type_[12:-1])
        text = rng.choice(("", "a", "ab\0", "ж", "abcd"))
        if len(text.encode()) > n:
            return text, None
        return text, string(text + "\0" * (n - len(text.encode())))
    if type_ == ENUM_TYPE:
        name = rng.choice(list(ENUM) + ["A", "b"])
        return name, string(name) if name in ENUM else None
    if type_ == "String":
        text = rng.choice(("", "x", '"\\\n', "жü", "\x1f\x7f"))
        return text, string(text)
    if type_ == "Bool":
        v = rng.random() < 0.5
        return v, '"true"' if v else '"false"'
    if type_ == "DateTime64(3)":
        v = rng.randrange(-(10**12), 10**13)
        return v, '"%d"' % v
    v = rng.randrange(-(2**8), 2**8)
    cell = integer(type_, str(v))
    return v, cell if cell[0] == '"' else None


SCALARS = ("UUID", "IPv4", "IPv6", "FixedString(3)", ENUM_TYPE, "String", "Bool", "DateTime64(3)", "Int8", "UInt64")


def made(depth):
    """A random type: its text, and a function that gives an owed value and its cell, None where it is unfit."""
    kind = rng.randrange(6 if depth > 0 else 1)
    if kind == 0:
        type_ = rng.choice(SCALARS)
        if rng.random() < 0.3:
            return "Nullable(%s)" % type_, lambda: (None, "null") if rng.random() < 0.3 else scalar(type_)
        return type_, lambda: scalar(type_)
    if kind == 1:
        inner, one = made(depth - 1)
        return "Array(%s)" % inner, lambda: whole([one() for _ in range(rng.randrange(4))])
    if kind == 2:
        parts = [made(depth - 1) for _ in range(rng.randrange(4))]
        return "Tuple(%s)" % ", ".join(t for t, _ in parts), lambda: whole([one() for _, one in parts])
    if kind == 3:
        names = rng.sample(("a", "b c", "ж", "d"), rng.randrange(1, 4))
        parts = [made(depth - 1) for _ in names]

        def named():
            got = [one() for _, one in parts]
            v, cell = whole(got)
            return (dict(sorted(zip(names, v), key=lambda _: rng.random())) if rng.random() < 0.7 else v), cell

        return "Tuple(%s)" % ", ".join("`%s` %s" % (n, t) for n, (t, _) in zip(names, parts)), named
    if kind == 4:
        key, value = rng.choice(("String", "UInt64", "UUID", "Int8")), made(depth - 1)

        def mapped():
            got = [(scalar(key), value[1]()) for _ in range(rng.randrange(4))]
            cells = [x[1] for pair in got for x in pair]
            cell = None if None in cells else "[%s]" % ",".join(
                sorted(("[%s,%s]" % (k[1], v[1]) for k, v in got), key=lambda x: x.encode()))
            if len({str(k[0]) for k, _ in got}) == len(got) and rng.random() < 0.5:
                return {str(k[0]): v[0] for k, v in got}, cell
            return [[k[0], v[0]] for k, v in got], cell

        return "Map(%s, %s)" % (key, value[0]), mapped
    names = rng.sample(("a", "b", "c"), rng.randrange(1, 4))
    parts = [made(depth - 1) for _ in names]

    def nested():
        n = rng.randrange(4)
        columns = [[one() for _ in range(n)] for _, one in parts]
        cell = whole([whole(c) for c in columns])[1]
        way = rng.randrange(3)
        if way == 0:
            return {name: [x[0] for x in c] for name, c in zip(names, columns)}, cell
        rows = [[c[i][0] for c in columns] for i in range(n)]
        return ([dict(zip(names, r)) for r in rows] if way == 1 else rows), cell

    return "Nested(%s)" % ", ".join("%s %s" % (n, t) for n, (t, _) in zip(names, parts)), nested


def whole(got):
    cells = [c for _, c in got]
    return [v for v, _ in got], None if None in cells else "[%s]" % ",".join(cells)


def shown(v):
    return v if isinstance(v, str) else canonical(v)


for type_ in SCALARS:
    for _ in range(12):
        v, cell = scalar(type_)
        values.append((type_, "ticks" if "Date" in type_ else "", json.dumps(v, ensure_ascii=False), cell or '{"unfit":%s}' % string(shown(v))))
for _ in range(120):
    type_, one = made(3)
    for _ in range(2):
        v, cell = one()
        values.append((type_, "ticks" if "Date" in type_ else "", json.dumps(v, ensure_ascii=False), cell or '{"unfit":%s}' % string(shown(v))))

print("/* SPDX-License-Identifier: Apache-2.0 */")
print("/*\n * Owed values and their cells, computed with exact fractions by cells_table.py,\n * which writes this file: column type, unit of time, decimal or ISO text, cell,\n * and whether it is that of the nearest float, the value having none of its own.\n */")
print("static const struct {\n    const char *type, *from, *value, *cell;\n    bool nearest;\n} cells_table[] = {")
seen = set()
for r in rows:
    if r not in seen:
        seen.add(r)
        print("    {%s, %s}," % (", ".join(json.dumps(x) for x in r), "true" if (r[0], r[2]) in nearest else "false"))
print("};")
print("/* Column type, unit of time, the value's JSON, cell. */")
print("static const struct {\n    const char *type, *from, *json, *cell;\n} cells_values[] = {")
for r in dict.fromkeys(values):
    print("    {%s}," % ", ".join(json.dumps(x, ensure_ascii=False).replace("\x7f", "\\177") for x in r))
print("};")
