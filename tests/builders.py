"""Small things to test with, and the filters every store has to understand."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies

from carrel.types import Chunk, ChunkKind, Filter, Part

PAPERS = ("smith2020", "Smith2020", "o'neil/2021", "10.1000/x")
VENUES = ("", "Nature", "Nature Methods", "Proc. of A&B (C++) [#1]", "Zeitschrift für Öl", "100% *.\\d+\nline")
TAGS = ("graph", "read", "to read", "Öl")
TOPICS = ("", "retrieval", "Retrieval")
YEARS = (0, 1999, 2019, 2020, 2021)


def make_chunk(paper_id: str = "smith2020", number: int = 1, text: str = "A chunk of text.", **facts: Any) -> Chunk:
    """A passage of a paper's body, numbered from 1."""
    values: dict[str, Any] = {
        "address": f"{paper_id}/ch1/s1/p{number}",
        "part": Part.BODY,
        "kind": ChunkKind.PASSAGE,
        "start": 0,
        "end": len(text),
        "position": number - 1,
        **facts,
    }
    return Chunk(paper_id=paper_id, text=text, **values)


def varied_chunks(count: int, text: str = "A chunk of text.") -> list[Chunk]:
    """Chunks that differ in everything a filter may ask, the same ones every time."""
    chance = random.Random(7)  # noqa: S311
    return [
        make_chunk(
            chance.choice(PAPERS),
            number,
            text,
            kind=chance.choice(list(ChunkKind)),
            year=chance.choice(YEARS),
            venue=chance.choice(VENUES),
            tags=tuple(chance.sample(TAGS, chance.randrange(3))),
            topic=chance.choice(TOPICS),
            chapter=chance.randrange(3),
            section=chance.randrange(3),
        )
        for number in range(1, count + 1)
    ]


def some_of(values: tuple[Any, ...]) -> strategies.SearchStrategy[frozenset[Any]]:
    return strategies.one_of(
        strategies.just(frozenset()), strategies.frozensets(strategies.sampled_from(values), max_size=3)
    )


def maybe(values: tuple[int, ...]) -> strategies.SearchStrategy[int | None]:
    return strategies.one_of(strategies.none(), strategies.sampled_from(values))


FILTERS = strategies.builds(
    Filter,
    paper_ids=some_of((*PAPERS, "nobody")),
    kinds=some_of(tuple(ChunkKind)),
    year_min=maybe((*YEARS, 3000)),
    year_max=maybe((*YEARS, 3000)),
    venue=strategies.sampled_from((*VENUES, "nat", "öl", "(C++) [", ".*", "methods", "\n", "unknown")),
    tags=some_of((*TAGS, "unknown")),
    topic=strategies.sampled_from((*TOPICS, "unknown")),
    chapter=maybe((0, 1, 2, 9)),
    section=maybe((0, 1, 2, 9)),
)
"""Any of the fields, alone and together."""

SINGLE_FILTERS = (
    Filter(paper_ids=frozenset({"smith2020", "10.1000/x"})),
    Filter(kinds=frozenset({ChunkKind.ABSTRACT})),
    Filter(year_min=2019),
    Filter(year_min=0),
    Filter(year_max=2020),
    Filter(year_min=0, year_max=2020),
    Filter(year_min=2019, year_max=2020),
    Filter(year_min=2021, year_max=2019),
    Filter(venue="NATURE"),
    Filter(venue="methods"),
    Filter(venue="(c++) [#1]"),
    Filter(venue=".*"),
    Filter(venue="zeitschrift FÜR"),
    Filter(venue="\\d+\nline"),
    Filter(tags=frozenset({"read"})),
    Filter(tags=frozenset({"graph", "Öl"})),
    Filter(topic="retrieval"),
    Filter(chapter=0),
    Filter(section=2),
)
