"""What the rows of a store come to: the same for all of them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from carrel.graphs import CURATED
from carrel.graphs.meaning import best_spelling
from carrel.types import Concept, ConceptRow, Predicate, Triple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from carrel.databases.sessions import Row
    from carrel.graphs.meaning import Spelling


def concept_rows(
    totals: Mapping[str, tuple[int, int, float]],
    meaning: Mapping[str, str],
    spellings: Iterable[Spelling],
    told: Iterable[Row],
) -> dict[str, ConceptRow]:
    """By the papers, chunks and weight of each concept, what is written for the keys that mean it, and what they are
    told to be: rows of paper, key, definition, its place and category."""
    written: dict[str, list[Spelling]] = defaultdict(list)
    for spelling in spellings:
        written[meaning[spelling.concept]].append(spelling)
    described: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(told, key=lambda row: (row[0] != CURATED, row[0], row[1])):
        described[meaning[row[1]]].append(row)
    rows = [_concept_row(key, totals[key], written[key], described[key]) for key in totals]
    return {row.key: row for row in rows if row}


def _concept_row(
    key: str, totals: tuple[int, int, float], spellings: Sequence[Spelling], told: Sequence[Row]
) -> ConceptRow | None:
    """None of a concept that was taken out between two queries, by a server that gives no snapshots."""
    own = [spelling for spelling in spellings if spelling.concept == spelling.key == key]
    if not own:
        return None
    definition, defined_at = next(((row[2], row[3]) for row in told if row[2]), ("", ""))
    concept = Concept(
        name=best_spelling(own),
        aliases=tuple(sorted({s.text for s in spellings if s.key not in {s.concept, key}})),
        definition=definition,
        category=next((row[4] for row in told if row[4]), ""),
        defined_at=defined_at,
    )
    return ConceptRow(key, concept, *totals, curated=any(spelling.curated for spelling in own))


def statements(rows: Iterable[Row], named: Mapping[str, ConceptRow]) -> list[Triple]:
    """Triples under the names of the concepts that they are of, surest first; none of a concept with itself."""
    found = []
    for row in rows:
        subject, target = row[0], row[2]
        if subject != target and subject in named and target in named:
            names = (named[subject].concept.name, named[target].concept.name)
            order = (-row[3], subject, row[1], target, row[4], row[6], row[5])
            found.append((order, Triple(names[0], Predicate(row[1]), names[1], *row[3:])))
    return [triple for _, triple in sorted(found, key=lambda pair: pair[0])]
