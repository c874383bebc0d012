"""The catalog by SQL that SQLite and PostgreSQL both understand."""

from __future__ import annotations

import time
from itertools import chain
from typing import TYPE_CHECKING

from carrel.catalogs import CitationRow, Embedding, Entry, ExhibitRow, PaperRow, Sizes, Unfinished
from carrel.catalogs import sql_papers as papers
from carrel.catalogs.citing import Known, doi_lookup, title_lookup
from carrel.catalogs.sql_analytics import SqlAnalytics
from carrel.catalogs.sql_conversations import SqlConversations
from carrel.catalogs.sql_credentials import SqlCredentials
from carrel.catalogs.sql_locations import SqlLocations
from carrel.catalogs.sql_submissions import SqlSubmissions
from carrel.databases.sessions import batches, gather, marks
from carrel.types import Chunk, Document, Part, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from carrel.databases.sessions import Database, Row, Session

_PUT_PAPER = """
    INSERT INTO papers (id, title, year, doi, doi_key, title_key, record, listed, state, added_at, updated_at, added)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, (SELECT coalesce(max(added), 0) + 1 FROM papers))
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, year = excluded.year, doi = excluded.doi,
        doi_key = excluded.doi_key, title_key = excluded.title_key, record = excluded.record,
        listed = excluded.listed, state = 'pending', updated_at = excluded.updated_at"""
_DROP_TEXT = "DELETE FROM texts WHERE paper_id = ? AND part = ?"
_PUT_TEXT = f"INSERT INTO texts ({', '.join(papers.TEXT)}) VALUES ({marks(papers.TEXT)})"
_PUT_CHUNK = f"INSERT INTO chunks ({', '.join(papers.CHUNK)}) VALUES ({marks(papers.CHUNK)})"
_PUT_EXHIBIT = f"INSERT INTO exhibits ({', '.join(papers.EXHIBIT)}) VALUES ({marks(papers.EXHIBIT)})"
_PUT_CITATION = f"INSERT INTO citations ({', '.join(papers.CITATION)}) VALUES ({marks(papers.CITATION)})"
_PUT_EMBEDDING = """
    INSERT INTO embedding_metadata (paper_id, model_name, abstract_hash, indexed_at) VALUES (?, ?, ?, ?)"""
_EMBEDDINGS = "SELECT paper_id, model_name, abstract_hash, indexed_at FROM embedding_metadata"
_SHOWN = "JOIN papers ON papers.id = {table}.paper_id AND papers.state <> 'retired'"
_EXHIBITS = f"""
    SELECT {", ".join(f"exhibits.{name}" for name in papers.EXHIBIT)}, chunks.start, chunks."end"
    FROM exhibits JOIN chunks ON chunks.address = exhibits.address {_SHOWN.format(table="exhibits")}
    WHERE exhibits.paper_id IN ({{marks}}) ORDER BY exhibits.paper_id, number"""
_CITATIONS = f"""
    SELECT citations.paper_id, position, text, citations.title, citations.doi, citations.year
    FROM citations {_SHOWN.format(table="citations")} {{where}} ORDER BY citations.paper_id, position"""
_ALL_CITATIONS = _CITATIONS.format(where="")
_CITATIONS_OF = _CITATIONS.format(where="WHERE citations.paper_id IN ({marks})")
# The paper's DOI may stand in any spelling inside of what an entry gives as its own.
_CITING = _CITATIONS.format(
    where="""JOIN (
        SELECT paper_id AS citer, part AS inside, position AS place FROM citations
            WHERE title_key = ? AND title_key <> ''
        UNION SELECT paper_id, part, position FROM citations WHERE doi <> '' AND lower(doi) LIKE ? ESCAPE '!'
    ) AS alike ON citations.paper_id = citer AND citations.part = inside AND position = place"""
)
_NAMED = "SELECT title, doi FROM papers WHERE id = ?"
_REMARKS = f"""
    SELECT texts.paper_id, texts.remarks FROM texts {_SHOWN.format(table="texts")}
    WHERE texts.remarks <> '[]' ORDER BY texts.paper_id, part"""
_UNNAMED = "SELECT id, title, doi FROM papers WHERE title_key IS NULL"
_NAME = "UPDATE papers SET doi_key = ?, title_key = ? WHERE id = ?"
_BY_DOI = "SELECT id FROM papers WHERE doi_key IN ({marks})"
_BY_TITLE = "SELECT id FROM papers WHERE title_key IN ({marks})"
_NAMES = "SELECT id, title, doi FROM papers WHERE state <> 'retired'"
_SOME_NAMES = f"{_NAMES} AND id IN ({{marks}})"
_HOLDING = f"""
    SELECT texts.paper_id FROM texts {_SHOWN.format(table="texts")}
    WHERE texts.digest = ? AND texts.part = 'body' ORDER BY texts.paper_id DESC LIMIT 1"""
_SOURCES = "SELECT source, paper_id FROM texts WHERE source <> ''"
_CHUNKS = f"""
    SELECT {", ".join(f"chunks.{name}" for name in papers.CHUNK)}, papers.record, texts.topic
    FROM chunks {_SHOWN.format(table="chunks")}
        JOIN texts ON texts.paper_id = chunks.paper_id AND texts.part = chunks.part"""
_CHUNKS_AT = f"{_CHUNKS} WHERE chunks.address IN ({{marks}})"
_CHUNKS_OF = f"""{_CHUNKS} WHERE chunks.paper_id IN ({{marks}})
    ORDER BY chunks.paper_id, chunks.part, chunks.position"""
_ADDRESSES = f"SELECT address FROM chunks {_SHOWN.format(table='chunks')}"
_PENDING = """
    SELECT papers.id, coalesce(sum(length(chunks.text)), 0)
    FROM papers LEFT JOIN chunks ON chunks.paper_id = papers.id
    WHERE state = 'pending' GROUP BY papers.id ORDER BY papers.added"""
_PAPERS = """
    SELECT papers.record, papers.listed, papers.state, abstracts.source, bodies.source,
        (SELECT count(*) FROM chunks WHERE chunks.paper_id = papers.id),
        (SELECT count(*) FROM exhibits WHERE exhibits.paper_id = papers.id), papers.added
    FROM papers
        LEFT JOIN texts AS abstracts ON abstracts.paper_id = papers.id AND abstracts.part = 'abstract'
        LEFT JOIN texts AS bodies ON bodies.paper_id = papers.id AND bodies.part = 'body'
    WHERE state <> 'retired' {among} ORDER BY papers.id"""
_ALL_PAPERS = _PAPERS.format(among="")
_SOME_PAPERS = _PAPERS.format(among="AND papers.id IN ({marks})")
_CHANGES = "SELECT id, updated_at FROM papers WHERE state <> 'retired' ORDER BY id"
_GONE = "SELECT id FROM papers WHERE state = 'retired'"
_SIZES = f"""
    SELECT (SELECT count(*) FROM papers WHERE state <> 'retired'),
        (SELECT count(*) FROM chunks WHERE paper_id NOT IN ({_GONE})),
        (SELECT count(*) FROM exhibits WHERE paper_id NOT IN ({_GONE}))"""
_SET_STATE = "UPDATE papers SET state = ? WHERE id = ?"
_DROPPED = """
    UPDATE papers SET state = 'pending', listed = CASE WHEN ? = 'abstract' THEN 0 ELSE listed END WHERE id = ?"""
_FROM = "SELECT source, paper_id, part FROM texts WHERE source IN ({marks})"
_MOVE = "UPDATE texts SET source = ? WHERE paper_id = ? AND part = ?"
_REOPEN = "UPDATE papers SET state = 'pending' WHERE state = 'active'"


class SqlCatalog:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.locations = SqlLocations(database)
        self.conversations = SqlConversations(database)
        self.submissions = SqlSubmissions(database)
        self.analytics = SqlAnalytics(database)
        self.credentials = SqlCredentials(database)

    def put(self, entries: Sequence[Entry]) -> None:
        with self.database.writing("papers") as session:
            now = session.now()
            unnamed = session.rows(_UNNAMED)
            session.write(_NAME, [(doi_lookup(doi), title_lookup(title), one) for one, title, doi in unnamed])
            session.write(_PUT_PAPER, [papers.paper_values(entry, now) for entry in entries])
            session.write(_DROP_TEXT, [(entry.document.paper_id, entry.document.part) for entry in entries])
            session.write(_PUT_TEXT, [papers.text_values(entry) for entry in entries])
            session.write(_PUT_CHUNK, [papers.chunk_values(chunk) for entry in entries for chunk in entry.chunks])
            session.write(_PUT_EXHIBIT, [row for entry in entries for row in papers.exhibit_values(entry)])
            session.write(_PUT_CITATION, [row for entry in entries for row in papers.citation_values(entry)])

    def activate(self, paper_ids: Collection[str], embeddings: Sequence[Embedding] = ()) -> None:
        now = int(time.time())
        rows = [(one.paper_id, one.model_name, one.abstract_hash, now) for one in embeddings]
        with self.database.writing("papers") as session:
            session.write("DELETE FROM embedding_metadata WHERE paper_id = ?", [(paper_id,) for paper_id in paper_ids])
            session.write(_PUT_EMBEDDING, rows)
            session.write(_SET_STATE, [("active", paper_id) for paper_id in paper_ids])

    def retire(self, paper_ids: Collection[str]) -> None:
        self._write(_SET_STATE, [("retired", paper_id) for paper_id in paper_ids])

    def remove(self, paper_ids: Collection[str]) -> None:
        self._write("DELETE FROM papers WHERE id = ?", [(paper_id,) for paper_id in paper_ids])

    def drop(self, paper_id: str, part: Part) -> None:
        with self.database.writing("papers") as session:
            session.write(_DROP_TEXT, [(paper_id, part)])
            session.write(_DROPPED, [(part, paper_id)])

    def move(self, sources: Mapping[str, str]) -> None:
        with self.database.writing("papers") as session:
            found = list(gather(session, _FROM, sources))
            session.write(_MOVE, [(sources[source], paper_id, part) for source, paper_id, part in found])

    def reopen(self, paper_ids: Collection[str] | None = None) -> None:
        if paper_ids is None:
            self._write(_REOPEN, [()])
        else:
            self._write(f"{_REOPEN} AND id = ?", [(paper_id,) for paper_id in paper_ids])

    def unfinished(self) -> Unfinished:
        with self.database.reading() as session:
            pending = {paper_id: int(characters) for paper_id, characters in session.rows(_PENDING)}
            retired = session.rows("SELECT id FROM papers WHERE state = 'retired' ORDER BY added")
        return Unfinished(pending, tuple(paper_id for (paper_id,) in retired))

    def embeddings(self) -> dict[str, Embedding]:
        return {row[0]: Embedding(*row) for row in self.database.rows(_EMBEDDINGS)}

    def digests(self) -> dict[tuple[str, Part], str]:
        rows = self.database.rows("SELECT paper_id, part, digest FROM texts")
        return {(paper_id, Part(part)): digest for paper_id, part, digest in rows}

    def sources(self, among: Collection[str] | None = None) -> dict[str, str]:
        some = None if among is None else self._among(f"{_SOURCES} AND source IN ({{marks}})", among)
        return dict(self.database.rows(_SOURCES) if some is None else some)

    def holding(self, digest: str) -> str:
        return next((paper_id for (paper_id,) in self.database.rows(_HOLDING, [digest])), "")

    def alike(self, *, titles: Collection[str] = (), dois: Collection[str] = ()) -> set[str]:
        with self.database.reading() as session:
            return _alike(session, titles, dois)

    def papers(self, paper_ids: Collection[str] | None = None) -> list[PaperRow]:
        rows = self.database.rows(_ALL_PAPERS) if paper_ids is None else self._among(_SOME_PAPERS, paper_ids)
        return [papers.paper(row) for row in rows]

    def changes(self) -> dict[str, str]:
        return dict(self.database.rows(_CHANGES))

    def sizes(self) -> Sizes:
        return Sizes(*self.database.rows(_SIZES)[0])

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        found = {chunk.address: chunk for chunk in map(papers.chunk, self._among(_CHUNKS_AT, addresses))}
        return [found[address] for address in addresses if address in found]

    def chunks_of(self, paper_ids: Collection[str]) -> list[Chunk]:
        return [papers.chunk(row) for row in self._among(_CHUNKS_OF, paper_ids)]

    def addresses(self) -> set[str]:
        return {address for (address,) in self.database.rows(_ADDRESSES)}

    def exhibits(self, paper_ids: Collection[str]) -> list[ExhibitRow]:
        return [papers.exhibit(row) for row in self._among(_EXHIBITS, paper_ids)]

    def places(self, paper_id: str, part: Part) -> tuple[Place, ...]:
        rows = self.database.rows("SELECT places FROM texts WHERE paper_id = ? AND part = ?", [paper_id, part])
        return papers.unpacked(rows[0][0]) if rows else ()

    def citations(self, paper_ids: Collection[str] | None = None) -> list[CitationRow]:
        with self.database.reading() as session:
            some = session.rows(_ALL_CITATIONS) if paper_ids is None else gather(session, _CITATIONS_OF, paper_ids)
            rows = [papers.citation(row) for row in some]
            names = session.rows(_NAMES) if paper_ids is None else _names(session, rows)
        known = Known(sorted(names))
        return [known.recognised(row) for row in rows]

    def citing(self, paper_id: str) -> list[CitationRow]:
        with self.database.reading() as session:
            named = session.rows(_NAMED, [paper_id])
            found = [row for title, doi in named for row in session.rows(_CITING, papers.alike(title, doi))]
            rows = [papers.citation(row) for row in found]
            known = Known(sorted(_names(session, rows)))
        told = map(known.recognised, rows)
        return [row for row in told if row.known_as == paper_id != row.paper_id]

    def document(self, paper_id: str, part: Part) -> Document | None:
        sql = f"SELECT {', '.join(papers.TEXT)} FROM texts WHERE paper_id = ? AND part = ?"
        return next(map(papers.document, self.database.rows(sql, [paper_id, part])), None)

    def remarks(self, paper_ids: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        asked, told = None if paper_ids is None else set(paper_ids), dict[str, tuple[str, ...]]()
        for paper_id, remarks in self.database.rows(_REMARKS):
            if asked is None or paper_id in asked:
                told[paper_id] = (*told.get(paper_id, ()), *papers.words(remarks))
        return told

    def together(self) -> AbstractContextManager[None]:
        return self.database.together()

    def close(self) -> None:
        self.database.close()

    def _among(self, sql: str, values: Collection[str]) -> Sequence[Row]:
        """The rows of a query with `IN ({marks})`, all of one moment."""
        some = list(batches(values))
        if len(some) == 1:
            return self.database.rows(sql.format(marks=marks(some[0])), some[0])
        with self.database.reading() as session:
            return list(gather(session, sql, values))

    def _write(self, sql: str, many: Sequence[Sequence[object]]) -> None:
        with self.database.writing("papers") as session:
            session.write(sql, many)


def _alike(session: Session, titles: Collection[str], dois: Collection[str]) -> set[str]:
    by_doi = gather(session, _BY_DOI, filter(None, map(doi_lookup, dois)))
    by_title = gather(session, _BY_TITLE, filter(None, map(title_lookup, titles)))
    return {paper_id for paper_id, *_ in chain(by_doi, by_title, session.rows(_UNNAMED))}


def _names(session: Session, rows: Sequence[CitationRow]) -> list[Row]:
    """Of those papers that these entries may be."""
    titles, dois = {row.cited.title for row in rows}, {row.cited.doi for row in rows}
    return [*gather(session, _SOME_NAMES, _alike(session, titles, dois))]
