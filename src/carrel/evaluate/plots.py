"""Small pictures of figures, as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FIRST, _OTHER, _READ, _INK, _FAINT = "#0072b2", "#8fb8d6", "#c8c8c8", "#222222", "#dddddd"
_CURVES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c8c8c", "#56b4e9", "#e69f00")
"""Told apart by those who see fewer colours, too."""
_ROW, _LABELS, _WIDTH, _MARGIN = 26, 240, 400, 60
_SIDE = 300


class Bar(NamedTuple):
    label: str
    value: float
    low: float | None = None
    high: float | None = None
    """Where its whisker begins and ends, if it has one."""
    measured: bool = True


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of about one probability, and how many of them came true."""

    predicted: float
    observed: float
    count: int


class Line(NamedTuple):
    label: str
    points: tuple[tuple[float, float], ...]


def bars(title: str, shown: Sequence[Bar]) -> str:
    """Values from 0 to 1 as bars with whiskers, the first one stressed."""
    height = _MARGIN + _ROW * len(shown) + 30
    parts = [_text(_LABELS, 24, title, size=14, anchor="start"), *_scale(_LABELS, _WIDTH, _MARGIN - 20, height - 24)]
    for number, bar in enumerate(shown):
        parts += _bar(bar, _MARGIN - 10 + _ROW * number, first=number == 0)
    return _svg(_LABELS + _WIDTH + 80, height, parts)


def reliability(bins: Sequence[Bin]) -> str:
    """How often predictions came true beside how often they said they would; on the line they kept their word.

    A dot's area is the share of predictions that it stands for.
    """
    left, top = 60, 40
    middle = top + _SIDE / 2
    most = max((one.count for one in bins), default=1) or 1
    parts = [_text(left, 24, "reliability", size=14, anchor="start"), *_scale(left, _SIDE, top, top + _SIDE)]
    parts += [
        *_levels(left, left + _SIDE, top, _SIDE),
        f'<rect x="{left}" y="{top}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="{_INK}"/>',
        f'<line x1="{left}" y1="{top + _SIDE}" x2="{left + _SIDE}" y2="{top}" stroke="{_INK}" stroke-dasharray="4"/>',
        _text(left + _SIDE / 2, top + _SIDE + 36, "predicted", anchor="middle"),
        f'<g transform="rotate(-90 20 {middle:g})">{_text(20, middle, "observed", anchor="middle")}</g>',
    ]
    for one in bins:
        x, y = left + _SIDE * one.predicted, top + _SIDE * (1 - one.observed)
        radius = 2 + 10 * (one.count / most) ** 0.5
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_FIRST}" fill-opacity="0.7"/>')
    return _svg(left + _SIDE + 40, top + _SIDE + 50, parts)


def lines(title: str, below: str, shown: Sequence[Line]) -> str:
    """Curves between 0 and 1 either way, each named under the picture in its colour."""
    left, top = 60, 40
    parts = [_text(left, 24, title, size=14, anchor="start"), *_scale(left, _SIDE, top, top + _SIDE)]
    parts += [
        *_levels(left, left + _SIDE, top, _SIDE),
        _text(left + _SIDE / 2, top + _SIDE + 36, below, anchor="middle"),
    ]
    return _svg(left + _SIDE + 40, top + _SIDE + 60 + _ROW * len(shown), [*parts, *_curves(shown, left, top)])


def growth(title: str, below: str, shown: Sequence[Line]) -> str:
    """Curves over tenfold steps either way, each named under the picture in its colour."""
    left, top, points = 60, 40, [point for line in shown for point in line.points]
    across, up = (_Decades.of(values) for values in zip(*points, strict=True))
    parts = [_text(left, 24, title, size=14, anchor="start")]
    for value in across.marks:
        x = left + _SIDE * across.at(value)
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + _SIDE}" stroke="{_FAINT}"/>')
        parts.append(_text(x, top + _SIDE + 16, f"{value:,.9g}", anchor="middle"))
    for value in up.marks:
        y = top + _SIDE * (1 - up.at(value))
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + _SIDE}" y2="{y:.1f}" stroke="{_FAINT}"/>')
        parts.append(_text(left - 6, y + 4, f"{value:,.9g}", anchor="end"))
    parts.append(_text(left + _SIDE / 2, top + _SIDE + 36, below, anchor="middle"))
    scaled = [Line(line.label, tuple((across.at(x), up.at(y)) for x, y in line.points)) for line in shown]
    return _svg(left + _SIDE + 40, top + _SIDE + 60 + _ROW * len(shown), [*parts, *_curves(scaled, left, top)])


class _Decades(NamedTuple):
    """Powers of ten, from one to another."""

    first: int
    last: int

    @classmethod
    def of(cls, values: Sequence[float]) -> _Decades:
        first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(first, max(last, first + 1))

    @property
    def marks(self) -> list[float]:
        return [10.0**power for power in range(self.first, self.last + 1)]

    def at(self, value: float) -> float:
        """Where it stands, from 0 to 1."""
        return (math.log10(value) - self.first) / (self.last - self.first)


def _curves(shown: Sequence[Line], left: float, top: float) -> Iterator[str]:
    """Curves between 0 and 1 either way, and their names."""
    for number, line in enumerate(shown):
        colour = _CURVES[number % len(_CURVES)]
        points = [(left + _SIDE * x, top + _SIDE * (1 - y)) for x, y in line.points]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>'
        y = top + _SIDE + 60 + _ROW * number
        yield f'<rect x="{left}" y="{y - 9}" width="18" height="9" fill="{colour}"/>'
        yield _text(left + 26, y, line.label, anchor="start")


def _bar(bar: Bar, top: float, *, first: bool) -> list[str]:
    colour = _READ if not bar.measured else _FIRST if first else _OTHER
    middle, value = top + 9, max(0.0, min(1.0, bar.value))
    parts = [
        _text(_LABELS - 8, middle + 4, bar.label, anchor="end"),
        f'<rect x="{_LABELS}" y="{top}" width="{_WIDTH * value:.1f}" height="18" fill="{colour}"/>',
        _text(_LABELS + _WIDTH + 8, middle + 4, f"{bar.value:.3f}", anchor="start"),
    ]
    if bar.low is not None and bar.high is not None:
        low, high = _LABELS + _WIDTH * bar.low, _LABELS + _WIDTH * bar.high
        path = f"M{low:.1f} {middle - 4}v8M{low:.1f} {middle}H{high:.1f}M{high:.1f} {middle - 4}v8"
        parts.append(f'<path d="{path}" stroke="{_INK}" fill="none"/>')
    return parts


def _scale(left: float, width: float, top: float, bottom: float) -> list[str]:
    parts = []
    for step in range(6):
        x = left + width * step / 5
        parts.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="{_FAINT}"/>')
        parts.append(_text(x, bottom + 16, f"{step / 5:.1f}", anchor="middle"))
    return parts


def _levels(left: float, right: float, top: float, height: float) -> list[str]:
    parts = []
    for step in range(6):
        y = top + height * (1 - step / 5)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{_FAINT}"/>')
        parts.append(_text(left - 6, y + 4, f"{step / 5:.1f}", anchor="end"))
    return parts


def _text(x: float, y: float, text: str, *, anchor: str, size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{_INK}">{escape(text)}</text>'
    )


def _svg(width: float, height: float, parts: Iterable[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width:g}" height="{height:g}" fill="white"/>', *parts, "</svg>", ""])
