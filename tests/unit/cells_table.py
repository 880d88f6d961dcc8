#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write cells_table.h: owed values and their cells, computed with exact fractions and nothing of lib/cells.

    tests/unit/cells_table.py > tests/unit/cells_table.h
"""
import json
import random
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


def float_cell(bits, text):
    """The nearest value of the width, ties to even, by exact arithmetic; a whole number must be that value."""
    mant, emin, emax = (24, -149, 104) if bits == 32 else (53, -1074, 971)
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
        nearest.add(("Float%d" % bits, text))
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

for bits in (32, 64):
    type_ = "Float%d" % bits
    mant, emin, emax = (24, -149, 104) if bits == 32 else (53, -1074, 971)
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

print("/* SPDX-License-Identifier: Apache-2.0 */")
print("/*\n * Owed values and their cells, computed with exact fractions by cells_table.py,\n * which writes this file: column type, unit of time, decimal or ISO text, cell,\n * and whether it is that of the nearest float, the value having none of its own.\n */")
print("static const struct {\n    const char *type, *from, *value, *cell;\n    bool nearest;\n} cells_table[] = {")
seen = set()
for r in rows:
    if r not in seen:
        seen.add(r)
        print("    {%s, %s}," % (", ".join(json.dumps(x) for x in r), "true" if (r[0], r[2]) in nearest else "false"))
print("};")
