"""The verb `eval`: real libraries made of test collections, searched as users search, and measured.

report = trials.evaluate("scifact")
print(report.metrics["ndcg@10"], report.as_markdown())
print(trials.compare("default", "reranker=none", folder="scifact").verdict)
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput
from carrel.evaluate import baselines, collections, comparing, reports
from carrel.evaluate.collections import Remark
from carrel.identifiers import slug
from carrel.trials import shelves
from carrel.trials.asking import Asked, ask
from carrel.trials.ways import Way, told, ways

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.evaluate.baselines import Published
    from carrel.evaluate.collections import Collection
    from carrel.evaluate.comparing import Comparison
    from carrel.evaluate.reports import Report
    from carrel.types import Problem, Progress

DEFAULT = "default"
"""In a comparison: the settings as they are."""
_COMMA = re.compile(r",(?=[\w.]+\s*=)")
_NAMED = 3


@dataclass(frozen=True)
class Options:
    """How a collection is measured, beside the settings of the search."""

    part: str = collections.TEST
    queries: int | None = None
    """How many of its queries are asked, drawn by chance; None for all."""
    seed: int = 0
    work: Path | None = None
    """Where its libraries are kept for the next time; None for nowhere."""


_PLAIN = Options()


def evaluate(
    folder: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    beside: Sequence[str] = (),
    options: Options = _PLAIN,
    progress: Progress | None = None,
) -> Report:
    """How well a test collection is searched with these settings, whole and by each arm alone.

    `beside` are other embedders whose vectors alone are to be measured, too.
    """
    return _measured(Path(folder), list(ways(beside=beside)), settings or {}, options, progress)


def compare(
    one: str,
    other: str,
    *,
    folder: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    options: Options = _PLAIN,
    progress: Progress | None = None,
) -> Comparison:
    """Whether one is better than the other. Each is a saved report, or settings that differ from those given.

    Settings are written `search.rrf_k=20,reranker=none`, or `default`, and measured on the collection in the folder.
    """
    saved = {name: reports.load(Path(name)) for name in (one, other) if _is_saved(name)}
    wanted = {name: _changed(name) for name in (one, other) if name not in saved}
    if wanted and folder is None:
        raise InvalidInput(
            f"{next(iter(wanted))!r} is no saved report; to compare settings, a collection is needed",
            hint="As in 'carrel eval DIR --compare default reranker=none'.",
        )
    scored, remarks = dict(saved), tuple[Remark, ...]()
    if wanted and folder:
        asked = [Way(name, changed) for name, changed in wanted.items()]
        report = _measured(Path(folder), asked, settings or {}, options, progress)
        scored |= {row.name: report.scored(row) for row in report.rows}
        remarks = report.remarks
    return comparing.compare(scored[one], scored[other], seed=options.seed, remarks=remarks)


def _is_saved(name: str) -> bool:
    try:
        return name != DEFAULT and Path(name).is_file()
    except OSError:
        # Settings may be longer than any file's name.
        return False


def _changed(text: str) -> dict[str, str]:
    if text == DEFAULT:
        return {}
    pairs = [piece.partition("=") for piece in _COMMA.split(text)]
    if not all(equals and key.strip() for key, equals, _ in pairs):
        raise InvalidInput(
            f"{text!r} is neither a saved report nor settings",
            hint="As in report.json, search.rrf_k=20,reranker=none or default.",
        )
    return {key.strip(): value.strip() for key, _, value in pairs}


def _measured(
    folder: Path, wanted: Sequence[Way], settings: Mapping[str, Any], options: Options, progress: Progress | None
) -> Report:
    """All ways are opened before anything is indexed: what is set wrongly is told at once."""
    whole = collections.read(folder, part=options.part)
    collection = whole if options.queries is None else whole.sample(options.queries, options.seed)
    published = _published(folder, collection, options)
    with shelves.folder(options.work) as home, ExitStack() as opened:
        shelf = shelves.Shelf(home / slug(folder.resolve().name), settings, opened)
        asked = [Asked(way, shelf.library(way.settings)) for way in wanted]
        refused = _refused(list(shelf.fill(collection.documents, progress)))
        ask(collection, asked, shelf.forget, progress)
    return reports.Report(
        collection=collection.name,
        documents=len(collection.documents),
        queries=len(collection.queries),
        rows=tuple(one.row(options.seed) for one in asked),
        settings=told(asked[0].library.settings),
        published=published,
        remarks=(*collection.remarks, *refused, *(remark for one in asked for remark in one.remarks)),
        seed=options.seed,
        fingerprint=collection.fingerprint,
    )


def _published(folder: Path, collection: Collection, options: Options) -> tuple[Published, ...]:
    """Told of the test part, and of all its queries."""
    if options.part != collections.TEST:
        return ()
    return baselines.find(folder, documents=len(collection.documents), queries=len(collection.queries))


def _refused(problems: Sequence[tuple[str, Problem]]) -> list[Remark]:
    if not problems:
        return []
    examples = tuple(f"{embedder}, {problem.source}: {problem.reason}" for embedder, problem in problems[:_NAMED])
    return [Remark("documents that an embedder refused, found by words only", len(problems), examples)]
