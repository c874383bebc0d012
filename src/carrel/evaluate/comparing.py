"""Two ways of searching on the same queries: which is better, and could it be chance?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput
from carrel.evaluate.intervals import LEVEL, difference
from carrel.evaluate.metrics import MAIN, METRICS
from carrel.evaluate.reports import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from carrel.evaluate.collections import Remark
    from carrel.evaluate.intervals import Difference
    from carrel.evaluate.reports import Scored

CHANCE = 0.05
"""A difference that chance makes more often than this is none."""
_PERCENT = f"{100 * LEVEL:g} %"


@dataclass(frozen=True)
class Comparison:
    one: Scored
    other: Scored
    differences: Mapping[str, Difference]
    """Measure → the one less the other."""
    seed: int
    remarks: tuple[Remark, ...] = ()

    @property
    def verdict(self) -> str:
        """By the main measure."""
        found = self.differences[MAIN]
        if found.p >= CHANCE:
            return f"A and B cannot be told apart: A − B is {_told(found)}."
        if found.mean < 0:
            return f"B is better than A by {_told(found.reversed)}."
        return f"A is better than B by {_told(found)}."

    def as_dict(self) -> dict[str, Any]:
        return {
            "collection": self.one.collection,
            "queries": len(self.one.scores),
            "a": self.one.name,
            "b": self.other.name,
            "metrics": {metric: self._figures(metric) for metric in METRICS},
            "verdict": self.verdict,
            "seed": self.seed,
            "remarks": [str(remark) for remark in self.remarks],
        }

    def as_markdown(self) -> str:
        head = ["measure", "A", "B", "A − B", f"{_PERCENT} interval", "p", "A better", "B better", "equal"]
        return "\n\n".join(
            [
                f"# {self.one.collection}: A and B on {len(self.one.scores):,} queries",
                f"- A: {self.one.name}\n- B: {self.other.name}",
                aligned([head, *(self._line(metric) for metric in METRICS)]),
                self.verdict,
                *(["\n".join(f"- {remark}" for remark in self.remarks)] if self.remarks else []),
                "p: how often chance alone makes a difference as large, by a paired randomisation test. The verdict is "
                f"by {MAIN}; the other measures are for orientation. Seed {self.seed}.",
                "",
            ]
        )

    def _figures(self, metric: str) -> dict[str, Any]:
        found = self.differences[metric]
        return {
            "a": round(self.one.mean(metric), 6),
            "b": round(self.other.mean(metric), 6),
            "difference": round(found.mean, 6),
            "interval": [round(end, 6) for end in found.interval],
            "p": round(found.p, 6),
            "a_better": found.better,
            "b_better": found.worse,
            "equal": found.equal,
        }

    def _line(self, metric: str) -> list[str]:
        told = self._figures(metric)
        low, high = told["interval"]
        means = [f"{told[key]:.4f}" for key in ("a", "b")]
        counts = [str(told[key]) for key in ("a_better", "b_better", "equal")]
        return [
            metric,
            *means,
            f"{told['difference']:+.4f}",
            f"{low:+.4f} … {high:+.4f}",
            f"{told['p']:.4f}",
            *counts,
        ]


def compare(one: Scored, other: Scored, *, seed: int = 0, remarks: tuple[Remark, ...] = ()) -> Comparison:
    """Query by query, which only two runs over the same queries and documents allow."""
    if one.collection != other.collection:
        raise InvalidInput(
            f"{one.name} is of {one.collection!r}, {other.name} of {other.collection!r}",
            hint="Compare two runs over one collection.",
        )
    if one.fingerprint != other.fingerprint or one.scores.keys() != other.scores.keys():
        raise InvalidInput(
            f"{one.name} and {other.name} were not asked the same queries of the same documents: "
            f"{len(one.scores)} and {len(other.scores)} queries",
            hint="Measure both with the same collection, --part, --queries and --seed.",
        )
    pairs = {
        metric: (
            [one.scores[query][metric] for query in one.scores],
            [other.scores[query][metric] for query in one.scores],
        )
        for metric in METRICS
    }
    return Comparison(
        one, other, {metric: difference(*pair, seed=seed) for metric, pair in pairs.items()}, seed, remarks
    )


def _told(found: Difference) -> str:
    low, high = found.interval
    return f"{found.mean:.4f} {MAIN} ({_PERCENT} {low:.4f} … {high:.4f}), p = {found.p:.4f}"
