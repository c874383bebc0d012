"""A library measured by questions of its own, on a mirror of it; the library itself is only read."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from carrel.errors import InvalidInput
from carrel.evaluate import metrics, own, own_reports, questions, reports
from carrel.evaluate.collections import Remark
from carrel.settings import Search
from carrel.trials import mirrors, shelves
from carrel.trials.ways import Way, told, ways
from carrel.types import EVERYTHING, Filter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from carrel.evaluate.own import Made
    from carrel.evaluate.own_reports import OwnReport
    from carrel.evaluate.questions import Question
    from carrel.library import Library
    from carrel.trials.mirrors import Mirror
    from carrel.types import Progress

COUNT = 200
FEWEST_PAPERS = 10
DEPTH = 20
"""Passages, or papers, that are looked at."""
_NONE = frozenset({""})


@dataclass(frozen=True)
class Prepared:
    """A library's own questions, and the mirror of which they are asked."""

    made: Made
    drawn: Sequence[Question]
    mirror: Mirror


def evaluate(library: Library, *, count: int = COUNT, seed: int = 0, progress: Progress | None = None) -> OwnReport:
    """How well the library's own questions are answered with its settings, and with others."""
    with prepared(library, count=count, seed=seed, progress=progress) as ready:
        asked = [_Asked(way, ready.mirror.library(way.settings)) for way in _ways(library)]
        _ask(asked, ready, progress)
    return own_reports.report(
        library.layout.root.parent.resolve().name,
        ready.made,
        ready.drawn,
        [
            reports.row(one.way.name, one.scores, seed=seed, settings=one.way.settings, is_arm=one.way.is_arm)
            for one in asked
        ],
        settings=told(library.settings),
        remarks=[*_remarks(library, ready.made), *(remark for one in asked for remark in one.remarks)],
        seed=seed,
    )


@contextmanager
def prepared(library: Library, *, count: int, seed: int, progress: Progress | None) -> Iterator[Prepared]:
    made = own.make(library.stores.catalog, seed=seed)
    if made.papers < FEWEST_PAPERS:
        raise InvalidInput(
            f"this library has {made.papers} papers with text; questions of its own need at least {FEWEST_PAPERS}",
            hint="Add papers, or name the folder of a test collection: 'carrel eval DIR'.",
        )
    drawn = questions.draw(made.questions, count, seed=seed)
    if not drawn:
        raise InvalidInput(
            "no question can be made of this library: its papers have neither titles of four words with text beside "
            "them, nor definitions, nor captions that passages mention, nor citations of each other",
            hint="Add full texts, or name the folder of a test collection: 'carrel eval DIR'.",
        )
    with shelves.folder(None) as scratch, ExitStack() as opened:
        yield Prepared(made, drawn, mirrors.mirror(library, questions.Removal(drawn), scratch, opened, progress))


def without(papers: frozenset[str], apart: frozenset[str]) -> Filter:
    """Everything but some papers; a filter that names none would allow all."""
    return Filter(paper_ids=papers - apart or _NONE) if apart else EVERYTHING


@dataclass
class _Asked:
    """What became of the questions in one way of searching."""

    way: Way
    library: Library
    scores: dict[str, Mapping[str, float]] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    """Why questions were answered without an arm or the reranker."""

    @property
    def remarks(self) -> list[Remark]:
        why = tuple(dict.fromkeys(self.degraded))[:1]
        return [Remark(f"{self.way.name}: questions answered in part", len(self.degraded), why)] if why else []

    def ask(self, question: Question, papers: frozenset[str]) -> None:
        where, by_paper = without(papers, question.apart), question.of_papers
        result = self.library.search(question.text, mode=self.way.mode, limit=DEPTH, where=where, by_paper=by_paper)
        self.degraded += [f"{part.arm}: {part.reason}" for part in result.degraded[:1]]
        ranked = question.ranked(passage.chunk for passage in result.passages)
        self.scores[question.id] = metrics.scores(ranked, dict.fromkeys(question.relevant, 1))


def _ask(asked: Sequence[_Asked], ready: Prepared, progress: Progress | None) -> None:
    """Question by question, so that the ways can share what they find."""
    for number, question in enumerate(ready.drawn, start=1):
        for one in asked:
            one.ask(question, ready.mirror.papers)
        ready.mirror.forget()
        if progress:
            progress("searching", number, len(ready.drawn))


def _ways(library: Library) -> Iterator[Way]:
    """Those of every collection, and the other fusions that can be set."""
    yield from ways()
    for name in get_args(Search.model_fields["fusion"].annotation):
        if name not in ("rrf", library.settings.search.fusion):
            yield Way(f"{name} fusion, not reranked", {"reranker": "none", "search.fusion": name})


def _remarks(library: Library, made: Made) -> list[Remark]:
    remarks = []
    if made.read < made.papers:
        remarks.append(Remark("papers that were read for questions, drawn by chance", made.read))
    if library.stores.graph.size().concepts:
        remarks.append(Remark("concepts of the graph, which takes no part", library.stores.graph.size().concepts))
    return remarks
