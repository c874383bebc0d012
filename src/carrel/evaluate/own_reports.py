"""What a library's own questions say of the ways of searching it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from carrel.evaluate import reports
from carrel.evaluate.collections import Remark
from carrel.evaluate.intervals import difference
from carrel.evaluate.metrics import MAIN
from carrel.evaluate.questions import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.evaluate.intervals import Difference
    from carrel.evaluate.own import Made
    from carrel.evaluate.questions import Question
    from carrel.evaluate.reports import Report, Row

MEASURES = (MAIN, "recall@10", "mrr@10")
"""Those that the depth of the search allows."""
SIGNIFICANT = 0.05
_FEW = 30
"""Questions below which hardly any difference can be told from chance."""
_MISSING = {
    Kind.TITLE: "no paper has a title of four words or more, and text beside it",
    Kind.DEFINITION: "no sentence says what something is",
    Kind.CAPTION: "no passage mentions a figure or table that has a caption",
    Kind.CITATION: "no sentence cites another paper of the library",
}


@dataclass(frozen=True)
class OwnReport:
    """The questions together, and by kind."""

    whole: Report
    kinds: Mapping[Kind, tuple[Row, ...]]
    """Of the kinds that were asked."""
    possible: Mapping[Kind, int]
    """How many questions of each kind there could have been."""
    advice: str
    examples: tuple[Question, ...]

    def as_dict(self, *, with_scores: bool = False) -> dict[str, Any]:
        return {
            **self.whole.as_dict(with_scores=with_scores),
            "kinds": {kind.value: self._kind(kind) for kind in Kind},
            "advice": self.advice,
            "examples": [
                {"kind": one.kind.value, "question": one.text, "answers": sorted(one.relevant)} for one in self.examples
            ],
        }

    def as_markdown(self) -> str:
        whole = self.whole
        asked = ", ".join(f"{self._asked(kind)} of {self.possible[kind]:,} {kind.value}s" for kind in Kind)
        totals = [["", *MEASURES], *([row.name, *(reports.cell(row, one) for one in MEASURES)] for row in whole.rows)]
        kinds = [[f"{MAIN} by kind", *self.kinds]]
        for place, row in enumerate(whole.rows):
            kinds.append([row.name, *(reports.cell(rows[place], MAIN) for rows in self.kinds.values())])
        paragraphs = [
            f"# {whole.collection}: questions of its own",
            f"{whole.documents:,} papers, {whole.queries:,} questions: {asked}",
            reports.aligned(totals),
            reports.aligned(kinds),
            self.advice,
            "In brackets: 95 % confidence interval (bootstrap over the questions).",
            *(["\n".join(f"- {remark}" for remark in whole.remarks)] if whole.remarks else []),
            "\n".join(f"- {one.kind}: {one.text} → {', '.join(sorted(one.relevant))}" for one in self.examples),
            f"Settings: {', '.join(f'`{key} = {value}`' for key, value in whole.settings.items())}, seed {whole.seed}",
        ]
        return "\n\n".join(paragraphs) + "\n"

    def as_svg(self) -> str:
        return self.whole.as_svg()

    def _asked(self, kind: Kind) -> int:
        return len(self.kinds[kind][0].scores) if kind in self.kinds else 0

    def _kind(self, kind: Kind) -> dict[str, Any]:
        rows = self.kinds.get(kind, ())
        return {
            "possible": self.possible[kind],
            "asked": self._asked(kind),
            "arms": {row.name: dict(row.metrics) for row in rows},
            "arm_intervals": {row.name: {name: list(one) for name, one in row.intervals.items()} for row in rows},
        }


def report(
    name: str,
    made: Made,
    drawn: Sequence[Question],
    rows: Sequence[Row],
    *,
    settings: Mapping[str, Any],
    remarks: Sequence[Remark] = (),
    seed: int = 0,
) -> OwnReport:
    """Rows of all questions, told apart by kind; the first is what a user gets."""
    kinds = {kind: [one.id for one in drawn if one.kind == kind] for kind in Kind}
    whole = reports.Report(
        collection=name,
        documents=made.papers,
        queries=len(drawn),
        rows=tuple(map(_measured, rows)),
        settings=settings,
        remarks=(*_missing(made), *remarks),
        seed=seed,
        fingerprint=_fingerprint(drawn),
    )
    return OwnReport(
        whole,
        {kind: tuple(_part(row, ids, seed) for row in rows) for kind, ids in kinds.items() if ids},
        {kind: len(possible) for kind, possible in made.questions.items()},
        advice(rows, seed=seed),
        tuple(next(one for one in drawn if one.kind == kind) for kind, ids in kinds.items() if ids),
    )


def advice(rows: Sequence[Row], *, seed: int) -> str:
    """What to set otherwise, if another way of searching is better than the user's beyond chance.

    Each of several ways has its chance to look better: their p are made larger for it, as Holm does.
    """
    mine, *others = rows
    if len(mine.scores) < _FEW:
        return f"{len(mine.scores)} questions are too few to tell one way of searching from another."
    apart = [(difference(_of(other), _of(mine), seed=seed), other) for other in others]
    proved = _proved(apart)
    better = [(found, row) for found, row in proved if found.mean > 0]
    if not better:
        worse = ", ".join(f"{row.name} ({found.mean:+.3f})" for found, row in proved)
        return "No other way of searching is better than your settings beyond chance" + (
            f"; proved to be worse: {worse}." if worse else "."
        )
    found, best = max(better, key=lambda pair: pair[0].mean)
    low, high = found.interval
    return (
        f"'{best.name}' is better than your settings by {found.mean:.3f} {MAIN} "
        f"[{low:.3f} {high:.3f}], p = {found.p:.4f}. {_how(best)}"
    )


def _proved(apart: Sequence[tuple[Difference, Row]]) -> list[tuple[Difference, Row]]:
    proved = []
    for place, (found, row) in enumerate(sorted(apart, key=lambda pair: pair[0].p)):
        if found.p * (len(apart) - place) >= SIGNIFICANT:
            break
        proved.append((found, row))
    return proved


def _how(row: Row) -> str:
    if row.is_arm:
        return f"Try 'carrel search --mode {row.name.split()[0]}'."
    told = "; ".join(f"carrel config set {key} {value}" for key, value in row.settings.items())
    warning = " But without a reranker, 'carrel ask' cannot tell how sure it is and gives no answer."
    return f"To set it: {told}.{warning if row.settings.get('reranker') == 'none' else ''}"


def _of(row: Row) -> list[float]:
    return [row.scores[question][MAIN] for question in sorted(row.scores)]


def _part(row: Row, ids: Sequence[str], seed: int) -> Row:
    scores = {question: row.scores[question] for question in ids}
    return _measured(reports.row(row.name, scores, seed=seed, settings=row.settings, is_arm=row.is_arm))


def _measured(row: Row) -> Row:
    return replace(
        row,
        metrics={name: row.metrics[name] for name in MEASURES},
        intervals={name: row.intervals[name] for name in MEASURES},
    )


def _missing(made: Made) -> list[Remark]:
    return [Remark(f"{kind} questions, as {_MISSING[kind]}", 0) for kind, found in made.questions.items() if not found]


def _fingerprint(drawn: Sequence[Question]) -> str:
    told = "\n".join(f"{one.id}\t{one.text}\t{sorted(one.relevant)}" for one in drawn)
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]
