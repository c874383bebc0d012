"""Where concepts are spoken of, by SQL."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from carrel.databases.sessions import batches, marks
from carrel.graphs.spots import spot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from carrel.databases.sessions import Session
    from carrel.types import Filter, Spot

_SPOTS = """SELECT concept, mentions.address, count, relevance, role, chunks.paper_id FROM mentions
    JOIN chunks ON chunks.address = mentions.address WHERE concept = ? {conditions}
    ORDER BY relevance DESC, mentions.address, role, count DESC LIMIT ?"""
# The order of a cross join is kept by SQLite: from the few papers to what they mention.
_SPOTS_OF_PAPERS = """SELECT concept, mentions.address, count, relevance, role FROM chunks CROSS JOIN mentions
    WHERE mentions.address = chunks.address AND chunks.paper_id IN ({papers}) AND concept IN ({{marks}}) {conditions}"""
_HAS = "replace({column}, ?, '') <> {column}"
_FEW_PAPERS = 16
"""What so many papers mention is read whole; of more, what is most relevant is read until enough of it is theirs."""


def tag_line(tags: Iterable[str]) -> str:
    """All tags as one text, in which each can be looked for: no tag has a line's end of its own in JSON."""
    return "".join(f"\n{json.dumps(tag)}\n" for tag in tags)


class Spots:
    def __init__(self, session: Session, where: Filter) -> None:
        self._session = session
        self._papers = where.paper_ids
        conditions = list(_conditions(where))
        self._conditions = "".join(f" AND ({sql})" for sql, _ in conditions)
        self._values = [value for _, values in conditions for value in values]

    def fetch(self, keys: Sequence[str], read: int) -> tuple[dict[str, list[Spot]], set[str]]:
        if 0 < len(self._papers) <= _FEW_PAPERS:
            return self._of_papers(keys), set()
        sql = _SPOTS.format(conditions=self._conditions)
        rows = dict(zip(keys, self._session.each(sql, [(key, *self._values, read) for key in keys]), strict=True))
        spots = {key: [spot(row[:5]) for row in found if self._is_allowed(row[5])] for key, found in rows.items()}
        return spots, {key for key, found in rows.items() if len(found) == read}

    def _is_allowed(self, paper_id: str) -> bool:
        return not self._papers or paper_id in self._papers

    def _of_papers(self, keys: Sequence[str]) -> dict[str, list[Spot]]:
        papers = sorted(self._papers)
        sql = _SPOTS_OF_PAPERS.format(papers=marks(papers), conditions=self._conditions)
        found: dict[str, list[Spot]] = defaultdict(list)
        for batch in batches(keys):
            for row in self._session.rows(sql.format(marks=marks(batch)), [*papers, *batch, *self._values]):
                found[row[0]].append(spot(row))
        return found


def _conditions(where: Filter) -> Iterator[tuple[str, list[object]]]:
    """The filter, but for its papers, as SQL; each part with its values."""
    if where.kinds:
        yield f"kind IN ({marks(sorted(where.kinds))})", [str(kind) for kind in sorted(where.kinds)]
    if where.year_min is not None:
        yield "year >= ?", [where.year_min]
    if where.year_max is not None:
        yield "year BETWEEN 1 AND ?", [where.year_max]
    if where.venue:
        yield _HAS.format(column="venue"), [where.venue.casefold()]
    if where.tags:
        has_tag = _HAS.format(column="tags")
        yield " OR ".join([has_tag] * len(where.tags)), [tag_line([tag]) for tag in sorted(where.tags)]
    if where.topic:
        yield "topic = ?", [where.topic]
    if where.chapter is not None:
        yield "chapter = ?", [where.chapter]
    if where.section is not None:
        yield "section = ?", [where.section]
