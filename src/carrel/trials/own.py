"""A library measured by questions of its own, on a mirror of it; the library itself is only read."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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
    from carrel.evaluate.reports import Row
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
        rows = _rows(list(_ways(library)), ready, seed, progress)
    return own_reports.report(
        library.layout.root.parent.resolve().name,
        ready.made,
        ready.drawn,
        rows,
        settings=told(library.settings),
        remarks=_remarks(library, ready.made),
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


def _rows(wanted: Sequence[Way], ready: Prepared, seed: int, progress: Progress | None) -> list[Row]:
    """Question by question, so that the ways can share what they find."""
    libraries = [ready.mirror.library(way.settings) for way in wanted]
    scores: list[dict[str, Mapping[str, float]]] = [{} for _ in wanted]
    for number, question in enumerate(ready.drawn, start=1):
        for way, library, scored in zip(wanted, libraries, scores, strict=True):
            scored[question.id] = _scores(question, library, way, ready.mirror.papers)
        ready.mirror.forget()
        if progress:
            progress("searching", number, len(ready.drawn))
    return [
        reports.row(way.name, scored, seed=seed, settings=way.settings, is_arm=way.is_arm)
        for way, scored in zip(wanted, scores, strict=True)
    ]


def _scores(question: Question, library: Library, way: Way, papers: frozenset[str]) -> Mapping[str, float]:
    where = without(papers, question.apart)
    result = library.search(question.text, mode=way.mode, limit=DEPTH, where=where, by_paper=question.of_papers)
    ranked = question.ranked(passage.chunk for passage in result.passages)
    return metrics.scores(ranked, dict.fromkeys(question.relevant, 1))


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
    if library.stores.graph.count():
        remarks.append(Remark("concepts of the graph, which takes no part", library.stores.graph.count()))
    return remarks
