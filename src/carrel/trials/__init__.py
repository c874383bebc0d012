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

    from carrel.evaluate.collections import Collection
    from carrel.evaluate.comparing import Comparison
    from carrel.evaluate.reports import Report, Scored
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
    saved = {name: reports.load(Path(name)) for name in (one, other) if Path(name).is_file()}
    wanted = {name: _changed(name) for name in (one, other) if name not in saved}
    if wanted and folder is None:
        raise InvalidInput(
            f"{next(iter(wanted))!r} is no saved report; to compare settings, a collection is needed",
            hint="As in 'carrel eval DIR --compare default reranker=none'.",
        )
    fresh = _fresh(Path(folder), wanted, settings or {}, options, progress) if wanted and folder else {}
    found = {**saved, **fresh}
    return comparing.compare(found[one], found[other], seed=options.seed)


def _fresh(
    folder: Path,
    wanted: Mapping[str, Mapping[str, Any]],
    settings: Mapping[str, Any],
    options: Options,
    progress: Progress | None,
) -> dict[str, Scored]:
    asked = [Way(name, changed) for name, changed in wanted.items()]
    report = _measured(folder, asked, settings, options, progress)
    return {
        row.name: reports.Scored(row.name, report.collection, report.fingerprint, row.scores) for row in report.rows
    }


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
    with shelves.folder(options.work) as home, ExitStack() as opened:
        shelf = shelves.Shelf(home / slug(folder.resolve().name), settings, opened)
        asked = [Asked(way, shelf.library(way.settings)) for way in wanted]
        remarks = _refused(list(shelf.fill(collection.documents, progress)))
        ask(collection, asked, shelf.forget, progress)
        chosen = told(shelf.library({}).settings)
    return _report(folder, collection, asked, remarks, chosen, options)


def _report(
    folder: Path,
    collection: Collection,
    asked: Sequence[Asked],
    remarks: Sequence[Remark],
    chosen: Mapping[str, Any],
    options: Options,
) -> Report:
    documents, queries = len(collection.documents), len(collection.queries)
    published = baselines.find(folder, documents=documents, queries=queries) if options.part == collections.TEST else ()
    return reports.Report(
        collection=collection.name,
        documents=documents,
        queries=queries,
        rows=tuple(
            reports.row(one.way.name, one.scores, seed=options.seed, settings=one.way.settings, is_arm=one.way.is_arm)
            for one in asked
        ),
        settings=chosen,
        published=published,
        remarks=(*collection.remarks, *remarks, *(remark for one in asked for remark in one.remarks)),
        seed=options.seed,
        fingerprint=collection.fingerprint,
    )


def _refused(problems: Sequence[tuple[str, Problem]]) -> list[Remark]:
    if not problems:
        return []
    examples = tuple(f"{embedder}, {problem.source}: {problem.reason}" for embedder, problem in problems[:_NAMED])
    return [Remark("documents that an embedder refused, found by words only", len(problems), examples)]
