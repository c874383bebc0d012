"""BM25 by PostgreSQL's full text, beside the catalog and in one transaction with it, or on a server of its own.

It is given the very words that tantivy has, and scores as tantivy does. Only the server's index and its knowledge of
places are used: how often a chunk has a word is the number of covers that `ts_rank_cd` counts, with all weights 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.databases import facts
from carrel.databases.postgresql import kept_on
from carrel.errors import InvalidInput
from carrel.keywords import postgresql_tables as tables
from carrel.keywords import spelling
from carrel.keywords.analysis import beginnings, forms, terms
from carrel.keywords.postgresql_queries import (
    AUTHOR,
    LENGTH_WEIGHT,
    SATURATION,
    Asked,
    Part,
    Wish,
    asking,
    lexeme,
    rarities,
)
from carrel.types import EVERYTHING, Filter, Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from carrel.databases.sessions import Database, Row, Session
    from carrel.types import Chunk

_FEW_PAPERS = 64
"""What so many papers have is sooner scored than chosen from."""
_HOPED = (0.4, 0.2)
"""Of the highest score there could be, what the last hit is hoped to have."""
_DIGITS = 4
_TIE = 10**-_DIGITS

_SCORED = f"""
    SELECT address, score FROM (
        SELECT address, ({{score}}) AS score FROM keyword_chunks WHERE words @@ ?::tsquery AND {{allowed}} OFFSET 0
    ) AS scored ORDER BY round(score * 1e{_DIGITS}) DESC, address LIMIT ?"""
_SHORT = SATURATION * (1 - LENGTH_WEIGHT)
_ASKED = f"""
    SELECT wish, name,
        weight * times / (times + {_SHORT} + by_words * word_length + by_authors * author_length) AS share
    FROM (
        SELECT wish, name, weight, by_words, by_authors, ts_rank_cd('{{1, 1, 1, 1}}', words, query)::float8 AS times
        FROM unnest(?::tsquery[], ?::float8[], ?::float8[], ?::float8[], ?::int[], ?::int[])
            AS asked (query, weight, by_words, by_authors, wish, name)
        WHERE words @@ query OFFSET 0
    ) AS counted"""
_SUM = f"SELECT coalesce(sum(share), 0) FROM ({_ASKED}) AS shares"
_SUM_OF_BEST = f"""
    SELECT coalesce(sum(best), 0) FROM (
        SELECT max(share) AS best FROM (
            SELECT wish, sum(share) AS share FROM ({_ASKED}) AS shares GROUP BY wish, name
        ) AS names GROUP BY wish
    ) AS wishes"""
_MATCHES = "SELECT count(*) FROM keyword_chunks WHERE words @@ ?::tsquery AND {allowed}"
_SPELLED = "SELECT word FROM keyword_words WHERE length(word) BETWEEN ? AND ? AND chunks > 0"


class PostgresqlKeywords:
    """`postgresql`, beside the catalog, or `postgresql://user@host:5432/database`; a schema for each library."""

    def __init__(
        self, *, namespace: str, argument: str = "", password: str = "", database: Database | None = None
    ) -> None:
        address = f"postgresql:{argument}" if argument else ""
        self._server = kept_on(database, address, namespace, password, tables.TABLES)

    def put(self, chunks: Sequence[Chunk]) -> None:
        if chunks:
            with self._server.writing(tables.SUMS) as session:
                tables.put(session, chunks)

    def delete(self, paper_ids: Collection[str]) -> None:
        if paper_ids:
            with self._server.writing(tables.SUMS) as session:
                tables.drop(session, paper_ids)

    def search(
        self,
        text: str,
        *,
        limit: int,
        where: Filter = EVERYTHING,
        phrases: Sequence[str] = (),
        also: Sequence[tuple[str, str]] = (),
    ) -> list[Hit]:
        if limit < 1:
            raise InvalidInput(f"limit must be a positive integer, got {limit}")
        asked = asking(text, phrases, also)
        if not asked:
            return []
        with self._server.reading() as session:
            rows = _Search(session, asked, where).best(limit)
        return [Hit(address, round(score, _DIGITS)) for address, score in rows]

    def matches(self, text: str, *, where: Filter = EVERYTHING, phrases: Sequence[str] = ()) -> int:
        asked = asking(text, phrases)
        if not asked:
            return 0
        allowed, values = facts.allowed(where)
        return int(self._server.rows(_MATCHES.format(allowed=allowed), [asked.query, *values])[0][0])

    def frequencies(self, words: Sequence[str]) -> list[int]:
        asked = [[[lexeme(field, one) for one in found] for field, found in forms(word)] for word in words]
        with self._server.reading() as session:
            have = tables.frequencies(session, {one for found in asked for form in found for one in form})
        # Of the rarest of a word's terms: Chinese, Japanese and Korean words have several.
        return [max(min((have[one] for one in form), default=0) for form in found) for found in asked]

    def near(self, word: str, *, distance: int, beside: str, limit: int) -> list[str]:
        if (found := beginnings(word)) is None:
            return []
        with self._server.reading() as session:
            alike = tuple((Part((one,)),) for one in sorted(_spelled_like(session, *found, distance)))
            if not alike:
                return []
            ranked = tuple(Wish(((Part((lexeme(*term),)),),)) for term in terms(beside))
            asked = Asked(ranked, required=(Wish(alike),))
            return [address for address, _ in _Search(session, asked, EVERYTHING).best(limit)]

    def count(self) -> int:
        with self._server.reading() as session:
            return tables.sums(session).chunks

    def addresses(self) -> set[str]:
        return {address for (address,) in self._server.rows("SELECT address FROM keyword_chunks")}

    def clear(self) -> None:
        with self._server.writing(tables.SUMS) as session:
            for table in ("keyword_chunks", "keyword_words"):
                session.write(f"DELETE FROM {table}", [()])
            session.write("UPDATE keyword_sums SET chunks = 0, words = 0, authors = 0", [()])

    def close(self) -> None:
        self._server.close()


class _Search:
    """One question, at one moment."""

    def __init__(self, session: Session, asked: Asked, where: Filter) -> None:
        held = tables.frequencies(session, asked.lexemes)
        self._session = session
        self._asked = asked.of(held)
        self._where = where
        self._sums = tables.sums(session)
        self._rarity = rarities(held, self._sums.chunks)

    def best(self, limit: int) -> list[Row]:
        """Looked for first where a chunk has so many of the words that its score may be high.

        What has fewer of them cannot come before the last that was found there, or is looked at, too.
        """
        if not self._asked.query:
            return []
        if self._is_small(limit):
            return self.among(self._asked.query, limit)
        highest = sum(wish.most(self._rarity) for wish in self._asked.wishes)
        for share in _HOPED:
            rows = self.among(self._asked.above(share * highest, self._rarity), limit)
            if len(rows) == limit:
                reached = rows[-1][1] - _TIE
                is_enough = reached >= share * highest
                return rows if is_enough else self.among(self._asked.above(reached, self._rarity), limit)
        return self.among(self._asked.query, limit)

    def among(self, query: str, limit: int) -> list[Row]:
        """The best of those that a query names."""
        allowed, values = facts.allowed(self._where)
        has_names = any(len(wish.names) > 1 for wish in self._asked.wishes)
        sql = _SCORED.format(score=_SUM_OF_BEST if has_names else _SUM, allowed=allowed)
        return self._session.rows(sql, [*self._shares(), query, *values, limit])

    def _is_small(self, limit: int) -> bool:
        """Whether it is soon done to look at all."""
        is_narrow = 0 < len(self._where.paper_ids) <= _FEW_PAPERS
        return is_narrow or len(self._asked.wishes) <= 1 or limit >= self._sums.chunks

    def _shares(self) -> list[list[object]]:
        """Of all that is asked for: the query, its weight, what a length takes from it, and whose name it is."""
        by_words, by_authors = map(self._by_length, (self._sums.words, self._sums.authors))
        rows = [
            (part.query, part.weight(self._rarity), *((0.0, by_authors) if part.is_author else (by_words, 0.0)), *place)
            for place, part in self._asked.placed
        ]
        return [list(column) for column in zip(*rows, strict=True)] or [[]] * 6

    def _by_length(self, total: int) -> float:
        return SATURATION * LENGTH_WEIGHT * self._sums.chunks / total if total else 0.0


def _spelled_like(session: Session, whole: str, stems: Sequence[str], distance: int) -> set[str]:
    lengths = [len(whole), *map(len, stems)]
    longest = max(lengths) + distance + len(AUTHOR)
    held = [word for (word,) in session.rows(_SPELLED, [min(lengths) - distance, longest])]
    stemmed = [word for word in held if not word.startswith(AUTHOR)]
    authors = [word.removeprefix(AUTHOR) for word in held if word.startswith(AUTHOR)]
    found = {lexeme("authors", name) for name in spelling.near(authors, whole, [len(whole)], distance)}
    found.update(spelling.near(stemmed, whole, [len(stem) for stem in stems if whole.startswith(stem)], distance))
    for stem in stems:
        if not whole.startswith(stem):
            found.update(spelling.near(stemmed, stem, [len(stem)], distance))
    return found
