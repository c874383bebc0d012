"""What was measured, as people and machines read it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from carrel import settings
from carrel.errors import InvalidInput
from carrel.evaluate import plots
from carrel.evaluate.intervals import Interval, bootstrap
from carrel.evaluate.metrics import MAIN, METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from carrel.evaluate.baselines import Published
    from carrel.evaluate.collections import Remark

MARGIN = 0.002
"""How far the whole may fall behind the better of its arms."""
HYBRID = "hybrid"
_DIGITS = 6


@dataclass(frozen=True)
class Scored:
    """What one way of searching scored on a collection's queries."""

    name: str
    collection: str
    fingerprint: str
    scores: Mapping[str, Mapping[str, float]]
    """Query → measure → score."""

    def mean(self, metric: str) -> float:
        return float(np.mean([one[metric] for one in self.scores.values()]))


@dataclass(frozen=True)
class Row:
    """One way of searching, and how it did."""

    name: str
    scores: Mapping[str, Mapping[str, float]]
    """Query → measure → score."""
    metrics: Mapping[str, float]
    """Measure → mean over the queries."""
    intervals: Mapping[str, Interval]
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What was set otherwise than for the whole report."""
    is_arm: bool = False


@dataclass(frozen=True)
class Report:
    """How a collection, or a library, was searched. The first row is what a user gets."""

    collection: str
    documents: int
    queries: int
    rows: tuple[Row, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    remarks: tuple[Remark, ...] = ()
    seed: int = 0
    fingerprint: str = ""

    @property
    def metrics(self) -> Mapping[str, float]:
        return self.rows[0].metrics

    def scored(self, row: Row) -> Scored:
        """One of its rows, to be compared."""
        return Scored(row.name, self.collection, self.fingerprint, row.scores)

    @property
    def best_arm(self) -> Row | None:
        """The arm that is best alone."""
        arms = [row for row in self.rows if row.is_arm]
        return max(arms, key=lambda row: row.metrics[MAIN], default=None)

    @property
    def holds(self) -> bool | None:
        """Whether the whole is as good as the better of its arms; None when no arm was asked alone."""
        best = self.best_arm
        return None if best is None else self.metrics[MAIN] >= best.metrics[MAIN] - MARGIN

    def as_dict(self, *, with_scores: bool = False) -> dict[str, Any]:
        best = self.best_arm
        told = {
            "collection": self.collection,
            "documents": self.documents,
            "queries": self.queries,
            "metrics": dict(self.metrics),
            "intervals": _listed(self.rows[0].intervals),
            "arms": {row.name: dict(row.metrics) for row in self.rows},
            "arm_intervals": {row.name: _listed(row.intervals) for row in self.rows},
            "arm_settings": {row.name: dict(row.settings) for row in self.rows},
            "published": {one.name: dict(one.metrics) for one in self.published},
            "best_arm": best.name if best else None,
            "holds": self.holds,
            "settings": dict(self.settings),
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "remarks": [str(remark) for remark in self.remarks],
        }
        return {**told, "scores": {row.name: row.scores for row in self.rows}} if with_scores else told

    def as_markdown(self) -> str:
        counts = f"{self.documents:,} documents, {self.queries:,} queries"
        paragraphs = [f"# {self.collection}", counts, table(self.rows, self.published), *_verdict(self)]
        if self.published:
            paragraphs.append("*(published)*: read from BASELINES.tsv, not measured here.")
        paragraphs.append("In brackets: 95 % confidence interval (bootstrap over the queries).")
        if self.remarks:
            paragraphs.append("\n".join(f"- {remark}" for remark in self.remarks))
        return "\n\n".join([*paragraphs, f"Settings: {_changed(self.settings)}; seed {self.seed}."]) + "\n"

    def as_svg(self) -> str:
        shown = [plots.Bar(row.name, row.metrics[MAIN], *row.intervals[MAIN]) for row in self.rows]
        shown += [plots.Bar(one.name, one.metrics[MAIN], measured=False) for one in self.published]
        return plots.bars(f"{self.collection}: {MAIN}", shown)


def row(
    name: str,
    scores: Mapping[str, Mapping[str, float]],
    *,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    is_arm: bool = False,
) -> Row:
    """The means of queries' scores, and how far they can be trusted."""
    if not scores:
        raise InvalidInput(f"{name!r} was asked no query")
    by_metric = {metric: [one[metric] for one in scores.values()] for metric in METRICS}
    means = {metric: round(float(np.mean(values)), _DIGITS) for metric, values in by_metric.items()}
    intervals = {metric: _rounded(bootstrap(values, seed=seed)) for metric, values in by_metric.items()}
    return Row(name, scores, means, intervals, settings or {}, is_arm)


def table(rows: Sequence[Row], published: Sequence[Published] = ()) -> str:
    """Every measure of every row, as Markdown."""
    lines = [["", *METRICS]]
    lines += [[row.name, *(cell(row, metric) for metric in METRICS)] for row in rows]
    lines += [[one.name, *(_figure(one.metrics.get(metric)) for metric in METRICS)] for one in published]
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """A table of which the first line is the head, in columns that line up as plain text too."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    ruled = [lines[0], ["-" * width for width in widths], *lines[1:]]
    return "\n".join(f"| {' | '.join(_padded(line, widths))} |" for line in ruled)


def load(path: Path) -> Scored:
    """A report that `carrel eval --out` has written."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        scores = next(iter(told["scores"].values()))
        checked = {query: {metric: _score(one[metric]) for metric in METRICS} for query, one in scores.items()}
        return Scored(str(path), str(told["collection"]), str(told["fingerprint"]), checked)
    except OSError as error:
        raise InvalidInput(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration, RecursionError) as error:
        raise InvalidInput(
            f"{str(path)!r} is no report with the scores of its queries",
            hint="Write one with 'carrel eval DIR --out FOLDER': it is FOLDER/report.json.",
        ) from error


def _score(value: Any) -> float:  # noqa: ANN401
    if not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no score")
    return float(value)


def _changed(chosen: Mapping[str, Any]) -> str:
    """The settings that are not as they come."""
    usual = {one.key: one.value for one in settings.listing(settings.Settings(), {})}
    told = [f"`{key} = {value}`" for key, value in chosen.items() if usual.get(key) != value]
    return ", ".join(told) or "the defaults"


def _verdict(report: Report) -> list[str]:
    best = report.best_arm
    if best is None:
        return []
    apart = report.metrics[MAIN] - best.metrics[MAIN]
    holds = "holds" if report.holds else "FAILS"
    return [
        f"{report.rows[0].name} against its better arm, {best.name}: {apart:+.4f} {MAIN}; "
        f"no worse than by {MARGIN}: {holds}."
    ]


def cell(row: Row, metric: str) -> str:
    low, high = row.intervals[metric]
    return f"{row.metrics[metric]:.4f} [{low:.3f} {high:.3f}]"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _padded(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]


def _rounded(interval: Interval) -> Interval:
    return Interval(round(interval.low, _DIGITS), round(interval.high, _DIGITS))


def _listed(intervals: Mapping[str, Interval]) -> dict[str, list[float]]:
    return {metric: list(interval) for metric, interval in intervals.items()}
