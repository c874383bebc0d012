"""How far a library's probabilities can be trusted, and the threshold for its answers."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from carrel.answer import evidence
from carrel.answer.certainty import certainty
from carrel.errors import InvalidInput
from carrel.evaluate import calibrating, calibration_reports, collections
from carrel.evaluate.calibrating import Trial
from carrel.identifiers import slug
from carrel.search import LONGEST_QUERY
from carrel.settings import Answer, assign
from carrel.trials import own, shelves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.evaluate.calibration_reports import CalibrationReport
    from carrel.library import Library
    from carrel.settings import Settings
    from carrel.trials import Options
    from carrel.types import Filter, Progress, SearchResult

KEY = "answer.threshold"
CERTAINTY: float = Answer.model_fields["threshold"].default
"""How sure an answer has to be: what the threshold means where probabilities keep their word."""


@dataclass(frozen=True)
class _Question:
    name: str
    text: str
    papers: frozenset[str]
    """Those that hold the answer."""
    apart: frozenset[str] = frozenset()
    """Those that it is not asked of."""


def calibrate_own(
    library: Library, *, count: int = own.COUNT, seed: int = 0, progress: Progress | None = None
) -> CalibrationReport:
    """By questions of the library's own."""
    with own.prepared(library, count=count, seed=seed, progress=progress) as ready:
        asked = [_Question(one.id, one.text, one.papers, one.apart) for one in ready.drawn]
        trials = list(_trials(asked, ready.mirror.library({}), ready.mirror.papers, progress))
    name = library.layout.root.parent.resolve().name
    return _report(f"{name}: questions of its own", trials, library.settings, seed)


def calibrate(
    folder: Path, *, settings: Mapping[str, Any], options: Options, progress: Progress | None = None
) -> CalibrationReport:
    """By the queries of a test collection."""
    whole = collections.read(folder, part=options.part)
    collection = whole if options.queries is None else whole.sample(options.queries, options.seed)
    asked = [
        _Question(query, text, frozenset(collection.relevant[query]))
        for query, text in collection.queries.items()
        if len(text) <= LONGEST_QUERY
    ]
    papers = frozenset(document.id for document in collection.documents)
    with shelves.folder(options.work) as home, ExitStack() as opened:
        shelf = shelves.Shelf(home / slug(folder.resolve().name), settings, opened)
        library = shelf.library({})
        list(shelf.fill(collection.documents, progress))
        trials = list(_trials(asked, library, papers, progress))
        return _report(collection.name, trials, library.settings, options.seed)


def write(report: CalibrationReport, config: Path) -> float:
    """Put the fitted threshold into a library's config, with a word on where it comes from; returns it."""
    found = report.calibration
    if found.doubt:
        raise InvalidInput(f"nothing was written: {found.doubt}", hint="Ask more questions, or set it yourself.")
    today = datetime.now(UTC).date().isoformat()
    told = f"{found.threshold} fitted {today} by 'carrel eval --calibrate' on {report.figures}"
    assign(config, KEY, str(found.threshold), comment=told)
    return found.threshold


def _trials(
    asked: Sequence[_Question], library: Library, papers: frozenset[str], progress: Progress | None
) -> Iterator[Trial]:
    """Each question asked as `ask` would, twice. What is found is right if some of it is of a paper that holds the
    answer: an answer draws on all of it."""
    for number, one in enumerate(asked, start=1):
        first = _search(library, one.text, own.without(papers, one.apart))
        second = _search(library, one.text, own.without(papers, one.apart | one.papers))
        right = any(passage.chunk.paper_id in one.papers for passage in first.passages)
        yield Trial(one.name, _likely(first, library), right, _likely(second, library))
        if progress:
            progress("asking with and without the answers", number, len(asked))


def _search(library: Library, text: str, where: Filter) -> SearchResult:
    return library.search(text, limit=library.settings.answer.top_k, where=where)


def _likely(result: SearchResult, library: Library) -> float:
    """What `ask` would compare with the threshold. Where nothing can tell, it would not answer."""
    excerpts = evidence.select(result.query, result.passages, library.embedder)
    most = max(result.counts.values(), default=0)
    found = certainty(result.query, result.passages, excerpts, embedder=library.embedder.name, candidates=most)
    return found.probability or 0.0


def _report(name: str, trials: Sequence[Trial], chosen: Settings, seed: int) -> CalibrationReport:
    if not trials:
        raise InvalidInput("there is no question to calibrate by")
    found = calibrating.calibrate(trials, certainty=CERTAINTY, seed=seed)
    return calibration_reports.CalibrationReport(name, found, chosen.answer.threshold, seed)
