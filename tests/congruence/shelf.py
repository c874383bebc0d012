"""A real collection as a library: SciFact's abstracts, and claims to look for in them."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from carrel import Library
from carrel.references import jsonl
from carrel.types import Filter, Published, Reference
from tests.congruence.latent import Latent

COLLECTION = Path(__file__).parents[3] / "shared" / "data" / "retrieval" / "scifact"
FILE = "scifact.jsonl"
"""Of a library's folder: where its papers are listed."""
PAPERS = 160
FEW = 40
"""Where there is a graph of concepts, which takes longer to make than all the rest, and where a store is slow."""
MANY = 240
"""Where a library is taken in once, and every store filled from it."""
QUERIES = 10
_FITTED = 2000
_VENUES = ("Nature", "Science", "Cell", "The Lancet")
_TAGS = ("read", "to read", "method", "doubted")


def _records(name: str) -> Iterator[dict[str, Any]]:
    path = COLLECTION / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("SciFact is not here: shared/data/retrieval/scifact beside the repository")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@cache
def texts() -> tuple[tuple[str, str, str], ...]:
    """Id, title and abstract of every document."""
    return tuple((f"s{one['_id']}", one["title"], one["text"]) for one in _records("corpus"))


@cache
def queries() -> tuple[str, ...]:
    return tuple(one["text"] for one in _records("queries"))[:QUERIES]


@cache
def answered(count: int) -> tuple[str, ...]:
    """The claims of which the first so many documents have the evidence."""
    held, path = {paper_id for paper_id, *_ in texts()[:count]}, COLLECTION / "qrels.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        judged = [line.split("\t") for line in lines][1:]
    wanted = {claim for claim, document, _ in judged if f"s{document}" in held}
    return tuple(one["text"] for one in _records("queries") if one["_id"] in wanted)


@cache
def embedder() -> Latent:
    return Latent([f"{title}\n\n{abstract}" for _, title, abstract in texts()[:_FITTED]])


@cache
def papers() -> tuple[Reference, ...]:
    """With something to filter by, of which the collection has nothing."""
    chance = random.Random(10)  # noqa: S311
    return tuple(
        Reference(
            paper_id,
            title,
            abstract=abstract,
            venue=chance.choice(_VENUES),
            published=Published(chance.randint(1990, 2020)),
            tags=tuple(sorted(chance.sample(_TAGS, chance.choice((0, 1, 1, 2))))),
        )
        for paper_id, title, abstract in texts()[:MANY]
    )


@cache
def filters() -> tuple[Filter, ...]:
    chance = random.Random(20)  # noqa: S311
    return tuple(_filter(chance) for _ in range(12))


def _filter(chance: random.Random) -> Filter:
    some = frozenset(one.id for one in chance.sample(papers()[:FEW], chance.choice((1, 5, 30))))
    first = chance.randint(1988, 2018)
    return chance.choice(
        (
            Filter(paper_ids=some),
            Filter(year_min=first, year_max=first + chance.randint(0, 6)),
            Filter(venue=chance.choice(_VENUES).lower()),
            Filter(tags=frozenset(chance.sample(_TAGS, 1))),
            Filter(tags=frozenset({"read"}), venue="Cell", year_min=2000),
            Filter(paper_ids=some, year_max=2005),
        )
    )


def made(folder: Path, settings: Mapping[str, Any], count: int, *, like: Library | None = None) -> Library:
    """A library of so many papers, on stores that settings name; what another has embedded is not embedded again."""
    folder.mkdir(parents=True)
    library = Library.init(folder, embedder=embedder(), overrides=dict(settings))
    if like:
        shutil.copytree(like.layout.embeddings, library.layout.embeddings)
    lines = "".join(f"{jsonl.dump(one)}\n" for one in papers()[:count])
    (folder / FILE).write_text(lines, encoding="utf-8")
    report = library.add(folder / FILE)
    assert (report.failed, len(library.list())) == ((), count)
    return library
