# SPDX-License-Identifier: Apache-2.0
"""Canonical cells, clink-canonical-cells-v1: what a value that is owed is in a column of a ClickHouse type.

A value is a str, a Decimal or an int, a bool, a list, a dict, bytes or None. What a column cannot hold exactly, or cannot mean at
all (a word for a number), is never rounded nor left out: its cell is {"unfit": …}. Only a fraction in a float column is its nearest
value, which is counted.
"""
import base64
import datetime
import decimal
import fractions
import json
import re

CELLS = "clink-canonical-cells-v1"
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
# No column holds a whole number of more digits, and none is expanded past it.
FAR = 200


class WrongKind(Exception):
    """A value that no column of the type can mean."""


class Unfit(Exception):
    """What a column cannot hold; str() is the text of its cell."""


class Count:
    """How many fractions were taken for the nearest value of their float column, having none of their own."""

    nearest = 0


def column_type(name):
    """(family, arguments, nullable) of a type's name; a family without cells is refused."""
    nullable = False
    while True:
        m = re.fullmatch(r"\s*(LowCardinality|Nullable)\s*\((.*)\)\s*", name, re.S)
        if not m:
            break
        nullable = nullable or m[1] == "Nullable"
        name = m[2]
    m = re.fullmatch(r"\s*([A-Za-z0-9]+)\s*(?:\((.*)\))?\s*", name, re.S)
    if not m:
        raise ValueError("not a type: " + name)
    family, arguments = m[1], [a.strip() for a in (m[2] or "").split(",") if a.strip()]
    digits = {"Decimal32": 9, "Decimal64": 18, "Decimal128": 38, "Decimal256": 76}
    if family in digits:
        family, arguments = "Decimal", [digits[family], arguments[0]]
    if not re.fullmatch(r"U?Int(8|16|32|64|128|256)|Float(32|64)|Decimal|Date|Date32|DateTime|DateTime64|Bool|String", family):
        raise ValueError("unsupported type " + name)
    return family, arguments, nullable


def plain(d):
    """A decimal without trailing zeros; past 80 digits its digits and an exponent."""
    sign, digits, exponent = d.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    cut = text.rstrip("0")
    exponent += len(text) - len(cut)
    if not cut:
        return "0"
    minus = "-" if sign else ""
    length = len(cut) + exponent if exponent >= 0 else max(len(cut), 1 - exponent)
    if length > 80:
        return f"{minus}{cut}e{exponent}"
    if exponent >= 0:
        return minus + cut + "0" * exponent
    cut = cut.rjust(1 - exponent, "0")
    return f"{minus}{cut[:exponent]}.{cut[exponent:]}"


def number(value):
    """A value read as a decimal, exactly."""
    if isinstance(value, bool) or value is None or isinstance(value, bytes):
        raise WrongKind("not a number")
    if isinstance(value, int):
        return decimal.Decimal(value)
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise WrongKind("not a finite number")
        return value
    if isinstance(value, str) and NUMBER.match(value):
        return decimal.Decimal(value)
    raise WrongKind("not a number")


def scaled(d, places):
    """d * 10^places as an int, or Unfit where that is no whole number."""
    sign, digits, exponent = d.as_tuple()
    text = "".join(map(str, digits)).strip("0")
    if not text:
        return 0
    exponent += places + len(digits) - len("".join(map(str, digits)).rstrip("0"))
    if exponent < 0 or exponent + len(text) > FAR:
        raise Unfit(plain(d))
    whole = int(text) * 10**exponent
    return -whole if sign else whole


def integer_cell(family, value):
    d = number(value)
    n = scaled(d, 0)
    bits = int(family.lstrip("UInt"))
    low, high = (0, 2**bits - 1) if family.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not low <= n <= high:
        raise Unfit(plain(d))
    return str(n)


def decimal_cell(arguments, value):
    d = number(value)
    n = scaled(d, int(arguments[1]) if len(arguments) > 1 else 0)
    if abs(n) >= 10 ** int(arguments[0]):
        raise Unfit(plain(d))
    return str(n)


def nearest(d, mantissa, low, high):
    """The nearest binary fraction of `mantissa` bits, ties to even, as (significand, exponent); None past `high`."""
    f = abs(fractions.Fraction(d))
    exponent = f.numerator.bit_length() - f.denominator.bit_length()
    while f >= fractions.Fraction(2) ** (exponent + 1):
        exponent += 1
    while f < fractions.Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent, low) - mantissa + 1
    n = round(f / fractions.Fraction(2) ** unit)
    if n >= 2**mantissa and unit + mantissa > high:
        return None
    if n == 2**mantissa:
        n, unit = n // 2, unit + 1
    return None if n and n.bit_length() + unit - 1 > high else (n, unit)


def float_cell(family, value):
    wide = family == "Float64"
    mantissa, low, high, width = (53, -1022, 1023, 64) if wide else (24, -126, 127, 32)
    special = {"nan": None, "inf": 0, "-inf": 1}
    if isinstance(value, str) and value in special:
        if value == "nan":
            return "nan"
        bits = ((2 * high + 1) << (mantissa - 1)) | (special[value] << (width - 1))
        return f"{bits:0{width // 4}x}"
    d = number(value)
    sign = d.as_tuple().sign << (width - 1)
    if not d:
        return f"{sign:0{width // 4}x}"
    if abs(d.adjusted()) > 400:
        raise Unfit(plain(d))
    found = nearest(d, mantissa, low, high)
    if found is None or found[0] == 0:
        raise Unfit(plain(d))
    n, unit = found
    if n * fractions.Fraction(2) ** unit != abs(fractions.Fraction(d)):
        if d == d.to_integral_value():
            raise Unfit(plain(d))
        Count.nearest += 1
    biased = unit + mantissa - 1 + high
    bits = n if n < 2 ** (mantissa - 1) else (biased << (mantissa - 1)) | (n - 2 ** (mantissa - 1))
    return f"{bits | sign:0{width // 4}x}"


def iso_seconds(value, days):
    """Seconds since the epoch of an ISO text, exactly."""
    m = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
                     r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?([Zz]|[+-][0-9]{2}:[0-9]{2}))?", value)
    if not m or (m[4] is None and not days):
        raise WrongKind("not a time in ISO form with its zone")
    try:
        day = datetime.date(int(m[1]), int(m[2]), int(m[3])).toordinal() - datetime.date(1970, 1, 1).toordinal()
    except ValueError as e:
        raise WrongKind(str(e)) from None
    seconds = fractions.Fraction(day * 86400)
    if m[4] is not None:
        hour, minute, second = int(m[4]), int(m[5]), int(m[6] or 0)
        if hour > 23 or minute > 59 or second > 59:
            raise WrongKind("no such time of the day")
        seconds += hour * 3600 + minute * 60 + second
        if m[7]:
            seconds += fractions.Fraction(int(m[7]), 10 ** len(m[7]))
        if m[8] not in "Zz":
            zone = int(m[8][1:3]) * 3600 + int(m[8][4:6]) * 60
            seconds += zone if m[8][0] == "-" else -zone
    return seconds


def time_text(seconds, days):
    """An instant as UTC text."""
    whole = seconds.numerator // seconds.denominator
    rest = seconds - whole
    when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=whole)
    if days and rest == 0 and whole % 86400 == 0:
        return f"{when:%Y-%m-%d}".rjust(10, "0")
    fraction = ""
    if rest:
        places = 0
        while rest.denominator != 1:
            rest, places = rest * 10, places + 1
        fraction = "." + str(rest.numerator).rjust(places, "0")
    return f"{when.year:04d}-{when:%m-%dT%H:%M:%S}{fraction}Z"


def time_cell(family, arguments, unit, value):
    days = family in ("Date", "Date32")
    places = int(arguments[0]) if family == "DateTime64" and arguments else 3 if family == "DateTime64" else 0
    if unit == "iso":
        if not isinstance(value, str):
            raise WrongKind("not a time in ISO form")
        seconds = iso_seconds(value, days)
        shown = time_text(seconds, days)
    else:
        d = number(value)
        shown = f"{plain(d)} {unit}"
        if abs(d.adjusted()) > 40 and d:
            raise Unfit(shown)
        f = fractions.Fraction(d)
        if unit == "days" or (unit == "ticks" and days):
            seconds = f * 86400
        else:
            seconds = f / 10 ** (places if unit == "ticks" else UNITS[unit])
        try:
            shown = time_text(seconds, days)
        except (OverflowError, ValueError):
            pass
    ticks = seconds / 86400 if days else seconds * 10**places
    low, high = {"Date": (0, 65535), "Date32": (-25567, 120529), "DateTime": (0, 2**32 - 1)}.get(family, (-(2**63), 2**63 - 1))
    if ticks.denominator != 1 or not low <= ticks <= high:
        raise Unfit(shown)
    return str(ticks.numerator)


def string_cell(value):
    if isinstance(value, str):
        try:
            value = value.encode()
        except UnicodeEncodeError:
            raise WrongKind("a lone surrogate") from None
    if not isinstance(value, bytes):
        raise WrongKind("not a string")
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode()}


def cell(column, value):
    """The cell of a value in a column of the scope document, as an object to be written by text()."""
    family, arguments, nullable = column_type(column["type"])
    if value is None:
        return None if nullable else {"unfit": "null"}
    try:
        if family == "String":
            return string_cell(value)
        if family == "Bool":
            if not isinstance(value, bool):
                raise WrongKind("not true or false")
            return "true" if value else "false"
        if family.startswith("Float"):
            return float_cell(family, value)
        if family == "Decimal":
            return decimal_cell(arguments, value)
        if family.startswith("Date"):
            return time_cell(family, arguments, column["from"], value)
        return integer_cell(family, value)
    except Unfit as e:
        return {"unfit": str(e)}
    except WrongKind:
        return {"unfit": shown(value)}


def shown(value):
    """A value of the wrong kind as it came: text as it is, a number by value, a list or object as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool):
        return plain(decimal.Decimal(value))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=canonical)


def canonical(d):
    """A number within a list or object: an integer that a double holds as one, or its text."""
    return int(d) if d == d.to_integral_value() and abs(d) <= 2**53 else plain(d)


def text(cells):
    """A row's cells as they are written: no spaces, everything raw but what JSON must escape."""
    return json.dumps(cells, ensure_ascii=False, separators=(",", ":"))
