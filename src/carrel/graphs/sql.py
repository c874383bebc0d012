"""The graph by SQL that SQLite and PostgreSQL both understand."""

from __future__ import annotations

from itertools import chain, product, starmap
from typing import TYPE_CHECKING

from carrel.databases.sessions import batches, gather, marks
from carrel.graphs import ALL_RELATIONS, CURATED, retelling, said
from carrel.graphs.describing import concept_rows, statements
from carrel.graphs.meaning import Spelling
from carrel.graphs.nearness import Near, nearest_first
from carrel.graphs.spots import best, first, spot
from carrel.graphs.sql_spots import Spots
from carrel.graphs.sql_writing import replace
from carrel.graphs.tables import CONTRIBUTED, DERIVED
from carrel.types import EVERYTHING, GraphSize, Relation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from carrel.databases.sessions import Database, Row, Session
    from carrel.types import ConceptRow, Contribution, Filter, Predicate, Spot, Triple

_MEAN = "SELECT key, meant FROM same WHERE meant IN ({marks})"
_MEANING = "SELECT key, meant FROM same WHERE key IN ({marks})"
_NEAR = "SELECT key, concept FROM spellings WHERE length(key) BETWEEN ? AND ?"
_HAS = "replace(key, ?, '') <> key"
_FIND = """SELECT same.meant FROM spellings JOIN same ON same.key = spellings.concept
    JOIN concepts ON concepts.key = same.meant WHERE replace(spellings.key, ?, '') <> spellings.key
    GROUP BY same.meant, concepts.units
    ORDER BY min(CASE WHEN spellings.key = ? THEN 0 ELSE 1 END), concepts.units DESC, same.meant LIMIT ?"""
_FIND_ALL = "SELECT key FROM concepts ORDER BY units DESC, key LIMIT ?"
_RELATIONS = """SELECT subject, predicate, object, max(confidence), count(*) FROM triples
    WHERE {end} = ? AND subject <> object GROUP BY {end}, predicate, {other}"""
_TRIPLES = """SELECT subject, predicate, object, confidence, address, evidence, starts, ends FROM triples
    WHERE subject IN ({subjects}) AND object IN ({objects})"""
_SPOKEN = """SELECT concept, mentions.address, count, relevance, role FROM mentions
    JOIN chunks ON chunks.address = mentions.address WHERE mentions.address IN ({marks})"""
_CITES = """SELECT cites.paper_id, papers.paper_id FROM cites JOIN papers ON papers.{known_by} = cites.{known_by}
    WHERE cites.{known_by} <> '' AND {unless} AND cites.paper_id <> papers.paper_id"""
_CITATIONS = (
    _CITES.format(known_by="doi", unless="1 = 1"),
    _CITES.format(known_by="title", unless="(cites.doi = '' OR papers.doi = '')"),
)
_TOTALS = "SELECT key, papers, chunks, units FROM concepts WHERE key IN ({marks})"
_SPELLINGS = "SELECT concept, key, spelling, papers, curated FROM spellings WHERE concept IN ({marks})"
_TOLD = "SELECT paper_id, concept, definition, defined_at, category FROM names WHERE"
_CURATED = f"{_TOLD} concept IN ({{marks}}) AND paper_id = ?"
_FIRST = f"{_TOLD} concept = ? AND {{column}} <> '' ORDER BY paper_id LIMIT 1"
_CONTRIBUTED = (
    "SELECT paper_id, doi, title FROM papers WHERE paper_id IN ({marks})",
    """SELECT paper_id, concept, key, spelling, stated, definition, category, defined_at FROM names
        WHERE paper_id IN ({marks})""",
    "SELECT paper_id, key, address, count, relevance, role FROM mentions WHERE paper_id IN ({marks})",
    """SELECT paper_id, subject_key, predicate, object_key, confidence, address, evidence, starts, ends FROM triples
        WHERE paper_id IN ({marks})""",
    "SELECT paper_id, doi, title FROM cites WHERE paper_id IN ({marks})",
)
_PAPERS = "SELECT paper_id FROM papers"
_SIZE = """SELECT (SELECT count(*) FROM concepts), coalesce(sum(mentions), 0), coalesce(sum(triples), 0),
    coalesce(sum(chunks), 0), count(CASE WHEN paper_id <> ? THEN 1 END) FROM papers"""


class SqlGraph:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, contributions: Sequence[Contribution]) -> None:
        latest = {contribution.paper_id: contribution for contribution in contributions}
        if latest:
            with self._database.writing("papers") as session:
                replace(session, list(latest), list(latest.values()))

    def delete(self, paper_ids: Collection[str]) -> None:
        # Nothing is locked, nor made, where there is nothing to take out.
        with self._database.reading() as session:
            gone = [paper for (paper,) in gather(session, f"{_PAPERS} WHERE paper_id IN ({{marks}})", paper_ids)]
        if gone:
            with self._database.writing("papers") as session:
                replace(session, sorted(gone), [])

    def papers(self) -> set[str]:
        with self._database.reading() as session:
            return {paper for (paper,) in session.rows(_PAPERS)}

    def contributed(self, paper_ids: Collection[str]) -> list[Contribution]:
        with self._database.reading() as session:
            papers, names, *claims = ([*gather(session, sql, paper_ids)] for sql in _CONTRIBUTED)
        told = [(paper, said.Named._make((*row[:3], bool(row[3]), *row[4:]))) for paper, *row in names]
        return retelling.contributions(papers, told, *claims)

    def resolve(self, names: Collection[str]) -> dict[str, str]:
        keys = {name: said.key(name) for name in names}
        with self._database.reading() as session:
            found: dict[str, str] = dict(gather(session, _MEANING, keys.values()))
        return {name: found[key] for name, key in keys.items() if key in found}

    def near(self, name: str, *, edits: int, limit: int) -> list[str]:
        near = Near(said.key(name), edits)
        has_piece = f" AND ({' OR '.join([_HAS] * len(near.pieces))})" if near.pieces else ""
        with self._database.reading() as session:
            rows = session.rows(_NEAR + has_piece, [near.shortest, near.longest, *near.pieces])
            found = near.nearest((key, concept) for key, concept in rows)
            meaning: dict[str, str] = dict(gather(session, _MEANING, found))
        return nearest_first([(found[concept], meant) for concept, meant in meaning.items()], limit)

    def concepts(self, keys: Collection[str]) -> dict[str, ConceptRow]:
        bounded = {key: said.bounded(key) for key in keys}
        with self._database.reading() as session:
            rows = _concepts(session, bounded.values())
        return {key: rows[own] for key, own in bounded.items() if own in rows}

    def find(self, text: str, *, limit: int) -> list[ConceptRow]:
        asked = said.key(text)
        with self._database.reading() as session:
            found = session.rows(_FIND, [asked, asked, limit]) if asked else session.rows(_FIND_ALL, [limit])
            keys = [key for (key,) in found]
            rows = _concepts(session, keys)
        return [rows[key] for key in keys]

    def relations(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Relation]:
        asked = {said.bounded(key) for key in keys}
        keys_alone = [(key,) for key in sorted(asked)]
        with self._database.reading() as session:
            out = session.each(_RELATIONS.format(end="subject", other="object"), keys_alone)
            back = session.each(_RELATIONS.format(end="object", other="subject"), keys_alone)
        rows = [*chain(*out), *(row for row in chain(*back) if row[0] not in asked)]
        wanted = {str(predicate): predicate for predicate in predicates}
        return [Relation(row[0], wanted[row[1]], *row[2:]) for row in sorted(rows) if row[1] in wanted]

    def triples(self, keys: Collection[str], *, predicates: Collection[Predicate] = ALL_RELATIONS) -> list[Triple]:
        with self._database.reading() as session:
            rows = [row for row in _statements(session, map(said.bounded, keys)) if row[1] in predicates]
            named = _concepts(session, {end for row in rows for end in (row[0], row[2])})
        return statements(rows, named)

    def spots(self, keys: Collection[str], *, limit: int, where: Filter = EVERYTHING) -> list[Spot]:
        with self._database.reading() as session:
            return first(Spots(session, where).fetch, map(said.bounded, keys), limit)

    def spoken(self, addresses: Collection[str], *, of: Collection[str] | None = None) -> list[Spot]:
        wanted = None if of is None else {said.bounded(key) for key in of}
        with self._database.reading() as session:
            rows = gather(session, _SPOKEN, addresses)
            spots = best(spot(row) for row in rows if wanted is None or row[0] in wanted)
        return sorted(spots, key=lambda found: (found.address, -found.relevance, found.key, found.role))

    def citations(self, paper_ids: Collection[str] | None = None) -> set[tuple[str, str]]:
        found: set[tuple[str, str]] = set()
        with self._database.reading() as session:
            for sql in _CITATIONS:
                if paper_ids is None:
                    found.update((citing, cited) for citing, cited in session.rows(sql))
                    continue
                for end in ("cites", "papers"):
                    rows = gather(session, f"{sql} AND {end}.paper_id IN ({{marks}})", paper_ids)
                    found.update((citing, cited) for citing, cited in rows)
        return found

    def size(self) -> GraphSize:
        with self._database.reading() as session:
            return GraphSize(*map(int, session.rows(_SIZE, [CURATED])[0]))

    def clear(self) -> None:
        if self.papers():
            with self._database.writing("papers") as session:
                for table in (*CONTRIBUTED, *DERIVED):
                    session.write(f"DELETE FROM {table}", [()])

    def close(self) -> None:
        self._database.close()


def _meaning(session: Session, keys: Iterable[str]) -> dict[str, str]:
    """What is said of these concepts is said under these keys; and which concept each of them means."""
    return dict(gather(session, _MEAN, keys))


def _statements(session: Session, keys: Iterable[str]) -> Iterator[Row]:
    some = list(batches(keys))
    for subjects, objects in product(some, some):
        sql = _TRIPLES.format(subjects=marks(subjects), objects=marks(objects))
        yield from session.rows(sql, [*subjects, *objects])


def _concepts(session: Session, keys: Iterable[str]) -> dict[str, ConceptRow]:
    totals = {
        key: (int(papers), int(chunks), said.weight(int(units)))
        for key, papers, chunks, units in gather(session, _TOTALS, keys)
    }
    meaning = _meaning(session, totals)
    spellings = starmap(Spelling, gather(session, _SPELLINGS, meaning))
    told = [*gather(session, _CURATED, meaning, CURATED)]
    for column in ("definition", "category"):
        firsts = session.each(_FIRST.format(column=column), [(concept,) for concept in meaning])
        told += [row for rows in firsts for row in rows]
    return concept_rows(totals, meaning, spellings, told)
