"""Dates as people and programs write them."""

from __future__ import annotations

import re

from carrel.types import Published

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ABROAD = {
    "maj": 5, "mai": 5, "mär": 3, "mrz": 3, "okt": 10, "dez": 12, "fév": 2, "avr": 4, "aoû": 8, "déc": 12, "ene": 1,
    "abr": 4, "dic": 12,
}  # fmt: skip
_NUMBERS = {**{name: number for number, name in enumerate(_MONTHS, start=1)}, **_ABROAD}
# 2019, 2019-05, 2019-05-21T12:00, 2019/5/21; unknown parts as 00, and the marks of doubt ~ ? %.
_ISO = re.compile(r"\s*(?P<year>\d{4})[~?%]*(?:[-/.](?P<month>\d{1,2})[~?%]*(?:[-/.](?P<day>\d{1,2}))?)?(?![\d.])")
_DAY_FIRST = re.compile(r"\s*(?P<first>\d{1,2})(?:[-/.](?P<second>\d{1,2}))?[-/. ](?P<year>\d{4})(?!\d)")
_OPEN = re.compile(r"\s*(?:\.\.|unknown|open)?/", re.IGNORECASE)
_BEFORE_CHRIST = re.compile(r"\s*-\d")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_VAGUE = re.compile(r"(?<![\d-])(\d{2,3})[xu]{1,2}(?!\w)", re.IGNORECASE)
_SHORT = re.compile(r"(?<![\d-])\d{1,3}(?!\d)")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_WORD = re.compile(r"[^\W\d_]{3,}")


def read(text: str, month: str = "", day: str = "") -> Published:
    """The first day a text speaks of; of a range its beginning, or its end when the beginning is open."""
    if _BEFORE_CHRIST.match(text):
        return Published()
    if open_range := _OPEN.match(text):
        text = text[open_range.end() :]
    if found := _ISO.match(text):
        return made(found["year"], found["month"] or month, found["day"] or day)
    if found := _DAY_FIRST.match(text):
        return _with_day_first(found)
    year = _YEAR.search(text)
    if year:
        rest = f"{text[: year.start()]} {text[year.end() :]}"
        return made(year.group(), month or rest, day)
    if vague := _VAGUE.search(text):
        return made(vague[1].ljust(4, "0"), month, day)
    short = _SHORT.search(text)
    return made(short.group() if short else 0, month, day)


def _with_day_first(found: re.Match[str]) -> Published:
    """`30/5/2011` and `12/21/2011` are plain; of `4/7/2014` nobody knows the month, so that only the year is kept."""
    first, second = int(found["first"]), int(found["second"] or 0)
    if not second:
        return made(found["year"], first)
    if first <= 12 and second <= 12 and first != second:
        return made(found["year"])
    return made(found["year"], min(first, second), max(first, second))


def made(year: str | int, month: str | int = "", day: str | int = "") -> Published:
    """A date of its parts; a day counts only in a month, a month only in a year."""
    number, in_month = _month(str(month))
    years = _number(str(year), 9999)
    days = _number(str(day), 31) or in_month
    return Published(years, number if years else 0, days if years and number else 0)


def _month(text: str) -> tuple[int, int]:
    """A month's number, and the day when it stands beside its name: `10~jan`, `OCT 1`."""
    for word in _WORD.findall(text):
        if number := _NUMBERS.get(word[:3].lower()):
            day = _DAY.search(text)
            return number, _number(day.group(), 31) if day else 0
    return _number(text, 12), 0


def _number(text: str, largest: int) -> int:
    """Zero for what is no number up to `largest`, as a season in place of a month."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 9 and int(digits) <= largest else 0
