"""One library whose every store is filled once, so that any of them can be put together without taking it in again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path

from carrel import Library
from carrel.migrating import Migrated, migrate
from carrel.types import EVERYTHING, Filter, Hit, Mode, Reference, SearchResult
from tests.congruence import shelf

NAME = "side_by_side"
EMBEDDER = "latent"
"""What the settings call it: `migrate` opens libraries by their settings."""
TOLD = {
    "embedder": EMBEDDER,
    # A machine that is slow is not what is looked for here.
    "search.arm_timeout": "120",
    **{f"{seam}_namespace": NAME for seam in ("catalog", "vectors", "keywords", "graph")},
}
LIMIT = 10
EVERY = 10 * shelf.MANY
"""More than there are chunks."""


@dataclass(frozen=True)
class Choice:
    """Of one store each, by what it is."""

    vectors: str
    keywords: str
    graph: str
    catalog: str

    @property
    def is_exact(self) -> bool:
        """Milvus weighs words by a BM25 of its own; so few vectors as here every store compares one by one."""
        return self.keywords != "milvus"

    def __str__(self) -> str:
        return f"{self.vectors}, {self.keywords}, {self.graph}, {self.catalog}"


EMBEDDED = Choice("flat", "tantivy", "sqlite", "sqlite")
CHOICES = tuple(
    Choice(*chosen)
    for chosen in product(
        ("flat", "lance", "pgvector", "milvus"),
        ("tantivy", "postgresql", "milvus"),
        ("sqlite", "postgresql", "bolt"),
        ("sqlite", "postgresql"),
    )
)


@dataclass(frozen=True)
class Places:
    """Where the servers are."""

    postgresql: str
    milvus: str
    milvus_lite: str
    """For words: the standalone server that can be had is older than BM25."""
    bolt: str

    def settings(self, choice: Choice) -> dict[str, str]:
        """What lives beside the catalog has no address of its own there, and needs one beside a catalog of files."""
        served = choice.catalog == "postgresql"
        by_name = {
            "vectors": {"pgvector": "pgvector" if served else self.postgresql, "milvus": f"{self.milvus}/{NAME}"},
            "keywords": {
                "postgresql": "postgresql" if served else self.postgresql,
                "milvus": f"{self.milvus_lite}/{NAME}",
            },
            "graph": {"postgresql": self.postgresql, "bolt": self.bolt},
            "catalog": {"postgresql": self.postgresql},
        }
        chosen = {seam: getattr(choice, seam) for seam in by_name}
        return {seam: by_name[seam].get(name, name) for seam, name in chosen.items()}


def fill(folder: Path, places: Places) -> list[Migrated]:
    """Every store that is not the embedded library's, from it."""

    def move(choice: Choice) -> Migrated:
        usual, to = (places.settings(one) for one in (EMBEDDED, choice))
        wanted = {seam: place for seam, place in to.items() if place != usual[seam]}
        return migrate(str(folder), TOLD, wanted, progress=lambda *_: None)

    return [
        move(Choice("pgvector", "postgresql", "postgresql", "postgresql")),
        move(Choice("milvus", "milvus", "bolt", "sqlite")),
        move(Choice("lance", "tantivy", "sqlite", "sqlite")),
    ]


@cache
def filters() -> tuple[Filter, ...]:
    some = frozenset(one.id for one in shelf.papers()[::7])
    return (
        EVERYTHING,
        Filter(year_min=2001, year_max=2009),
        Filter(tags=frozenset({"read", "doubted"})),
        Filter(venue="lancet"),
        Filter(paper_ids=some),
    )


def allows(where: Filter, paper: Reference) -> bool:
    """As the references have it, whatever a store or the catalog has made of them."""
    year = paper.published.year
    return (
        (not where.paper_ids or paper.id in where.paper_ids)
        and (where.year_min or year) <= year <= (where.year_max or year)
        and where.venue.lower() in paper.venue.lower()
        and (not where.tags or bool(where.tags & {*paper.tags}))
    )


@dataclass(frozen=True)
class Asked:
    claim: str
    mode: Mode
    where: Filter


@dataclass(frozen=True)
class Said:
    """What a library answers, and what its stores have for a claim and a filter: all of it."""

    found: Mapping[Asked, SearchResult]
    near: Mapping[Filter, Sequence[Hit]]
    worded: Mapping[Filter, Sequence[Hit]]


@cache
def questions() -> tuple[Asked, ...]:
    """Each filter with each way to search, and other claims for each."""
    claims = shelf.answered(shelf.MANY)
    ways = enumerate(product(filters(), Mode))
    return tuple(Asked(claims[number % len(claims)], mode, where) for number, (where, mode) in ways)


def one_of_each(turn: int) -> tuple[Asked, ...]:
    """Each way to search once, each with another filter, and in the next turn with the next one."""
    ways, count = len(Mode), len(filters())
    return tuple(questions()[ways * ((turn + number) % count) + number] for number in range(ways))


def said(library: Library, asked: Sequence[Asked], wheres: Sequence[Filter], *, threads: int = 6) -> Said:
    """By several at once: a server that lets each wait a little lets them wait together."""
    with ThreadPoolExecutor(threads) as pool:
        near, worded = (pool.map(partial(ask, library), wheres) for ask in (_near, _worded))
        found = pool.map(partial(_found, library), asked)
        return Said(
            dict(zip(asked, found, strict=True)),
            dict(zip(wheres, near, strict=True)),
            dict(zip(wheres, worded, strict=True)),
        )


def _found(library: Library, asked: Asked) -> SearchResult:
    return library.search(asked.claim, mode=asked.mode, where=asked.where, limit=LIMIT)


def _near(library: Library, where: Filter) -> list[Hit]:
    stores = library.stores
    return stores.vectors.search(stores.embedder.embed_query(_claim(where)), limit=EVERY, where=where)


def _worded(library: Library, where: Filter) -> list[Hit]:
    return library.stores.keywords.search(_claim(where), limit=EVERY, where=where)


def _claim(where: Filter) -> str:
    return next(one.claim for one in questions() if one.where == where)
