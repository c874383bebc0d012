"""Numbers as they are written in papers, with their units."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_SYMBOL = r"[kMGTPmµμncpdh]?(?:mol|Hz|eV|Da|Pa|Gy|Sv|Bq|cal|bps|bp|IU|Ci|[gmlLMsWJVAKBUNFΩ])(?![\w])"
_WORD = (
    r"(?:percentage points?|per ?cent|mm ?Hg|(?:milli|micro|nano|kilo|centi)?(?:gram|met(?:er|re)|lit(?:er|re))s?"
    r"|years?|yrs?|months?|weeks?|wks?|days?|hours?|hrs?|h|minutes?|mins?|seconds?|secs?|folds?|times|thousand|million"
    r"|billion|trillion|points?|units?)\b"
)
UNIT = rf"(?:[%‰]|°\s?[CFK]?|{_WORD}|{_SYMBOL})(?:\s?/\s?[A-Za-zµμ]+|[²³]|(?<=m)[23]\b)*"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DIGITS = r"\d+(?:,\d{3}(?!\d))+(?:\.\d+)?|\d+(?:,\d+)+|\d+(?:\.\d+)?|\.\d+"
NUMBER = rf"(?<![\w.,])(?<![^\W\d]-)[-+]?(?:{_DIGITS})(?:\s?[×x]\s?10(?:[⁻⁰¹²³⁴-⁹]+|\^?\s?\(?-?\d+\)?)|[⁻⁰¹²³⁴-⁹]+)?"
_FOUND = re.compile(
    rf"(?P<value>{NUMBER}|(?<=\d-)(?:{_DIGITS}))"
    rf"(?:(?=(?:\s?-\s?|\s(?:to|and|or)\s)(?:{_DIGITS})[-\s]?(?P<shared>{UNIT}))|[-\s]?(?P<unit>{UNIT})|(?!\w|[.,]\d))"
)
_ONES = "two three four five six seven eight nine ten eleven twelve"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: str(value) for value, word in enumerate(_ONES.split(), start=2)}
_VALUES |= {word: str(10 * value) for value, word in enumerate(_TENS.split(), start=2)}
"""One is left out: it is a pronoun as often."""
_WRITTEN_OUT = re.compile(rf"\b({'|'.join(_VALUES)})\b(?!-)", re.IGNORECASE)
_RAISED_POINT = re.compile(r"(?<=\d)·(?=\d)")
_PLURAL = re.compile(r"(?<=\w{3})s$")
_SAME_UNIT = {
    "percent": "%", "per cent": "%", "hr": "hour", "h": "hour", "min": "minute", "sec": "second", "s": "second",
    "yr": "year", "wk": "week", "litre": "liter", "metre": "meter", "mm hg": "mmhg",
}  # fmt: skip


class Number(NamedTuple):
    value: str
    unit: str
    written: str


def numbers(text: str) -> Iterator[Number]:
    """In their order; those that are part of a name (`p53`) are not among them."""
    for match in _FOUND.finditer(_in_digits(text)):
        unit = match["unit"] or match["shared"] or ""
        yield Number(_value(match["value"]), _unit(unit), f"{match['value']} {unit}".strip())


def figures(text: str) -> list[str]:
    """Every run of digits, whatever it is part of."""
    return re.findall(r"\d+", _THOUSANDS.sub("", _in_digits(text)))


def _in_digits(text: str) -> str:
    return _WRITTEN_OUT.sub(lambda word: _VALUES[word[0].lower()], _RAISED_POINT.sub(".", text))


def _value(written: str) -> str:
    plain = _THOUSANDS.sub("", written).lstrip("+")
    try:
        # 0.50 is 0.5; a power stays as it is written.
        return f"{Decimal(plain).normalize():f}"
    except ArithmeticError:
        return "".join(plain.split())


@cache
def _unit(written: str) -> str:
    small = written if len(written) < 3 else written.lower()
    small = _PLURAL.sub("", small.replace("μ", "µ"))
    return "".join(_SAME_UNIT.get(small, small).split())
