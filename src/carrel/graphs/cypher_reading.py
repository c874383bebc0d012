"""What is read of the graph by Cypher, within one transaction."""

from __future__ import annotations

from collections import defaultdict
from itertools import starmap
from typing import TYPE_CHECKING, Protocol

from carrel.graphs import CURATED, cypher, retelling, said
from carrel.graphs.describing import concept_rows, statements
from carrel.graphs.meaning import Spelling
from carrel.graphs.spots import first, spot
from carrel.types import Predicate, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from carrel.databases.sessions import Row
    from carrel.types import ConceptRow, Contribution, Filter, Spot, Triple

_ANY_LENGTH = 1_000_000


class Asking(Protocol):
    """Asks a transaction of one library; all values are parameters."""

    def __call__(self, query: str, **values: object) -> list[Row]: ...


def contributed(ask: Asking, papers: Sequence[str]) -> list[Contribution]:
    documents, names, aliases, *claims = (ask(query, papers=list(papers)) for query in cypher.CONTRIBUTED)
    return retelling.contributions(documents, [(row[0], said.Named(*row[1:])) for row in (*names, *aliases)], *claims)


def find(ask: Asking, asked: str, limit: int) -> list[ConceptRow]:
    among = {"pieces": [asked], "shortest": 0, "longest": _ANY_LENGTH}
    rows = [*ask(cypher.ALL_NAMES, **among), *ask(cypher.ALL_ALIASES, **among)]
    exact = {meant for key, meant in rows if key == asked}
    found = sorted({meant for _, meant in rows})
    weights: dict[str, int] = dict(ask(cypher.UNITS_OF, keys=found))
    best_first = sorted(found, key=lambda key: (key not in exact, -weights.get(key, 0), key))[:limit]
    told = concepts(ask, best_first)
    return [told[key] for key in best_first if key in told]


def relations(ask: Asking, asked: set[str], kinds: str) -> list[Relation]:
    keys = sorted(asked)
    back = [row for row in ask(cypher.relations_to(kinds), keys=keys) if row[0] not in asked]
    rows = [*ask(cypher.relations(kinds), keys=keys), *back]
    return sorted(Relation(row[0], Predicate(row[1]), *row[2:]) for row in rows if row[0] != row[2])


def triples(ask: Asking, keys: Iterable[str], kinds: str) -> list[Triple]:
    rows = ask(cypher.triples(kinds), keys=sorted(set(keys)))
    named = concepts(ask, {end for row in rows for end in (row[0], row[2])})
    return statements(rows, named)


def spots(ask: Asking, keys: Iterable[str], limit: int, where: Filter) -> list[Spot]:
    allowed = _conditions(where)

    def fetch(keys: Sequence[str], read: int) -> tuple[dict[str, list[Spot]], set[str]]:
        found: dict[str, list[Spot]] = defaultdict(list)
        for row in ask(cypher.SPOTS, keys=list(keys), limit=read, **allowed):
            found[row[0]].append(spot(row))
        return found, {key for key, of_key in found.items() if len(of_key) == read}

    return first(fetch, keys, limit)


def _conditions(where: Filter) -> dict[str, object]:
    return {
        "papers": sorted(where.paper_ids) or None,
        "kinds": [str(kind) for kind in sorted(where.kinds)] or None,
        "tags": sorted(where.tags) or None,
        "venue": where.venue.casefold(),
        **{name: getattr(where, name) for name in ("year_min", "year_max", "topic", "chapter", "section")},
    }


def concepts(ask: Asking, keys: Iterable[str]) -> dict[str, ConceptRow]:
    meaning: dict[str, str] = dict(ask(cypher.MEANING, keys=sorted(set(keys))))
    meant, every = sorted({*meaning.values()}), sorted(meaning)
    papers: dict[str, int] = dict(ask(cypher.SAID_BY, keys=meant, curated=CURATED))
    chunks: dict[str, int] = dict(ask(cypher.CHUNKS_OF, keys=meant, curated=CURATED))
    units: dict[str, int] = dict(ask(cypher.UNITS_OF, keys=meant))
    totals = {key: (papers.get(key, 0), chunks.get(key, 0), said.weight(units.get(key, 0))) for key in meant}
    rows = [row for query in (cypher.NAMED, cypher.ALIASES) for row in ask(query, keys=every, curated=CURATED)]
    return concept_rows(totals, meaning, starmap(Spelling, rows), ask(cypher.TOLD, keys=every))
