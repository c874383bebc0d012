"""The catalog in one SQLite file, in WAL mode: readers never wait for the writer."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from carrel.catalogs import CitationRow, Embedding, Entry, ExhibitRow, PaperRow, QueryRecord, Unfinished
from carrel.catalogs import sqlite_papers as papers
from carrel.catalogs.citing import Known
from carrel.catalogs.sqlite_conversations import SqliteConversations
from carrel.catalogs.sqlite_locations import SqliteLocations
from carrel.databases import PATIENCE, connect, transaction
from carrel.errors import CarrelError, ReadOnlyLibrary, StorageFull, StoreUnavailable
from carrel.references import jsonl
from carrel.types import Chunk, ChunkKind, Document, Part, Place, facts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from carrel.types import Reference

_REMEMBERED = 1024
_PUT_PAPER = """
    INSERT INTO papers (id, title, year, doi, record, listed, state, added_at, updated_at)
    VALUES (:id, :title, :year, :doi, :record, :listed, 'pending', :now, :now)
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, year = excluded.year, doi = excluded.doi,
        record = excluded.record, listed = excluded.listed, state = 'pending', updated_at = excluded.updated_at"""
_PUT_DOCUMENT = """
    INSERT INTO documents (paper_id, part, text, digest, source, format, topic, places, remarks)
    VALUES (:paper_id, :part, :text, :digest, :source, :format, :topic, :places, :remarks)"""
_PUT_CHUNK = """
    INSERT INTO chunks (address, paper_id, part, kind, text, start, "end", position, chapter, section, section_path,
        language, token_count, has_code, has_formula, has_table, page_start, page_end, exhibits)
    VALUES (:address, :paper_id, :part, :kind, :text, :start, :end, :position, :chapter, :section, :section_path,
        :language, :token_count, :has_code, :has_formula, :has_table, :page_start, :page_end, :exhibits)"""
_PUT_EXHIBIT = """
    INSERT INTO exhibits (address, paper_id, part, number, kind, label, caption, description, image, box)
    VALUES (:address, :paper_id, :part, :number, :kind, :label, :caption, :description, :image, :box)"""
_PUT_CITATION = """
    INSERT INTO citations (paper_id, part, position, text, title, title_key, doi, year)
    VALUES (:paper_id, :part, :position, :text, :title, :title_key, :doi, :year)"""
_EXHIBITS_OF = """
    SELECT exhibits.*, chunks.start, chunks."end"
    FROM exhibits JOIN chunks ON chunks.address = exhibits.address
        JOIN papers ON papers.id = exhibits.paper_id AND papers.state <> 'retired'
    WHERE exhibits.paper_id IN (SELECT value FROM json_each(?)) ORDER BY exhibits.paper_id, number"""
_CITATIONS = """
    SELECT citations.* FROM citations JOIN papers ON papers.id = citations.paper_id AND papers.state <> 'retired'"""
_ALL_CITATIONS = f"{_CITATIONS} ORDER BY paper_id, position"
_CITATIONS_OF = f"{_CITATIONS} WHERE paper_id IN (SELECT value FROM json_each(?)) ORDER BY paper_id, position"
_ALL_REMARKS = """
    SELECT documents.paper_id, documents.remarks
    FROM documents JOIN papers ON papers.id = documents.paper_id AND papers.state <> 'retired'
    WHERE documents.remarks <> '[]' ORDER BY documents.paper_id, part"""
_NAMES = "SELECT id, title, doi FROM papers WHERE state <> 'retired' ORDER BY id"
_CHUNKS = """
    SELECT chunks.*, papers.record, documents.topic
    FROM chunks JOIN papers ON papers.id = chunks.paper_id AND papers.state <> 'retired'
        JOIN documents ON documents.paper_id = chunks.paper_id AND documents.part = chunks.part"""
_CHUNKS_AT = f"{_CHUNKS} WHERE chunks.address IN (SELECT value FROM json_each(?))"
_CHUNKS_OF = f"""{_CHUNKS} WHERE chunks.paper_id IN (SELECT value FROM json_each(?))
    ORDER BY chunks.paper_id, chunks.part, chunks.position"""
_ADDRESSES = "SELECT address FROM chunks JOIN papers ON papers.id = chunks.paper_id AND papers.state <> 'retired'"
_PENDING = """
    SELECT papers.id, coalesce(sum(length(chunks.text)), 0) AS characters
    FROM papers LEFT JOIN chunks ON chunks.paper_id = papers.id
    WHERE state = 'pending' GROUP BY papers.id ORDER BY papers.rowid"""
_PAPERS = """
    SELECT papers.record, papers.listed, papers.state, papers.rowid AS added,
        (SELECT json_group_array(part) FROM documents WHERE paper_id = papers.id) AS parts,
        (SELECT json_group_array(source) FROM documents WHERE paper_id = papers.id AND source <> '') AS sources,
        (SELECT count(*) FROM chunks WHERE paper_id = papers.id) AS chunk_count,
        (SELECT count(*) FROM exhibits WHERE paper_id = papers.id) AS figure_count
    FROM papers WHERE state <> 'retired'"""
_ALL_PAPERS = f"{_PAPERS} ORDER BY id"
_SOME_PAPERS = f"{_PAPERS} AND id IN (SELECT value FROM json_each(?)) ORDER BY id"
_SET_STATE = "UPDATE papers SET state = ? WHERE id IN (SELECT value FROM json_each(?))"
_FORGET_EMBEDDINGS = "DELETE FROM embedding_metadata WHERE paper_id IN (SELECT value FROM json_each(?))"
_DROPPED = "UPDATE papers SET state = 'pending', listed = listed AND ? <> 'abstract' WHERE id = ?"
_MOVE = "UPDATE documents SET source = moved.value FROM json_each(?) AS moved WHERE source = moved.key"
_REOPEN = "UPDATE papers SET state = 'pending' WHERE state = 'active'"
_REOPEN_SOME = f"{_REOPEN} AND id IN (SELECT value FROM json_each(?))"
_PUT_QUERY = """
    INSERT INTO rag_queries (id, timestamp, query_hash, query_text, execution_time_ms, vector_hits, keyword_hits,
        graph_hits, strategy_used)
    VALUES (:id, :now, :hash, :text, :execution_time_ms, :vector, :keyword, :graph, :strategy)"""
_METRICS = (
    "vector_search_ms", "vector_result_count", "vector_top_score", "vector_avg_score", "keyword_search_ms",
    "keyword_result_count", "graph_traversal_ms", "graph_result_count", "graph_max_depth", "concepts_found",
    "fusion_ms", "overlap_count", "rrf_top_score", "rerank_ms", "rerank_top_score", "confidence_threshold_met",
    "final_context_tokens", "citation_count",
)  # fmt: skip
_PUT_METRICS = f"""
    INSERT INTO retrieval_metrics (query_id, {", ".join(_METRICS)})
    VALUES (:query_id, {", ".join(f":{name}" for name in _METRICS)})"""


_SHORTLY = 0.2
"""Seconds."""


class SqliteCatalog:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.RLock()
        with self._reporting():
            self._connection = connect(path, _migrations())
        self._connection.row_factory = sqlite3.Row
        self.locations = SqliteLocations(self._all, self._transaction)
        self.conversations = SqliteConversations(self._all, self._transaction)

    def put(self, entries: Sequence[Entry]) -> None:
        now = _now()
        with self._transaction() as connection:
            connection.executemany(_PUT_PAPER, [_paper_values(entry, now) for entry in entries])
            connection.executemany(
                "DELETE FROM documents WHERE paper_id = ? AND part = ?",
                [(entry.document.paper_id, entry.document.part) for entry in entries],
            )
            connection.executemany(_PUT_DOCUMENT, [_document_values(entry) for entry in entries])
            connection.executemany(_PUT_CHUNK, [_chunk_values(chunk) for entry in entries for chunk in entry.chunks])
            connection.executemany(_PUT_EXHIBIT, [row for entry in entries for row in papers.exhibit_values(entry)])
            connection.executemany(_PUT_CITATION, [row for entry in entries for row in papers.citation_values(entry)])

    def activate(self, paper_ids: Collection[str], embeddings: Sequence[Embedding] = ()) -> None:
        now = int(time.time())
        with self._transaction() as connection:
            connection.execute(_FORGET_EMBEDDINGS, [_json(paper_ids)])
            rows = [(one.paper_id, one.model_name, now, one.abstract_hash) for one in embeddings]
            connection.executemany("INSERT INTO embedding_metadata VALUES (?, ?, ?, ?)", rows)
            connection.execute(_SET_STATE, ["active", _json(paper_ids)])

    def retire(self, paper_ids: Collection[str]) -> None:
        with self._transaction() as connection:
            connection.execute(_SET_STATE, ["retired", _json(paper_ids)])

    def remove(self, paper_ids: Collection[str]) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM papers WHERE id IN (SELECT value FROM json_each(?))", [_json(paper_ids)])

    def drop(self, paper_id: str, part: Part) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM documents WHERE paper_id = ? AND part = ?", [paper_id, part])
            connection.execute(_DROPPED, [part, paper_id])

    def move(self, sources: Mapping[str, str]) -> None:
        with self._transaction() as connection:
            connection.execute(_MOVE, [json.dumps(dict(sources))])

    def reopen(self, paper_ids: Collection[str] | None = None) -> None:
        with self._transaction() as connection:
            if paper_ids is None:
                connection.execute(_REOPEN)
            else:
                connection.execute(_REOPEN_SOME, [_json(paper_ids)])

    def unfinished(self) -> Unfinished:
        pending = {row["id"]: row["characters"] for row in self._all(_PENDING)}
        retired = self._all("SELECT id FROM papers WHERE state = 'retired' ORDER BY rowid")
        return Unfinished(pending, tuple(row["id"] for row in retired))

    def embeddings(self) -> dict[str, Embedding]:
        rows = self._all("SELECT * FROM embedding_metadata")
        return {row["paper_id"]: Embedding(**dict(row)) for row in rows}

    def digests(self) -> dict[tuple[str, Part], str]:
        rows = self._all("SELECT paper_id, part, digest FROM documents")
        return {(row["paper_id"], Part(row["part"])): row["digest"] for row in rows}

    def sources(self) -> dict[str, str]:
        rows = self._all("SELECT source, paper_id FROM documents WHERE source <> ''")
        return {row["source"]: row["paper_id"] for row in rows}

    def papers(self, paper_ids: Collection[str] | None = None) -> list[PaperRow]:
        rows = self._all(_ALL_PAPERS) if paper_ids is None else self._all(_SOME_PAPERS, _json(paper_ids))
        return [_paper(row) for row in rows]

    def chunks(self, addresses: Sequence[str]) -> list[Chunk]:
        found = {row["address"]: _chunk(row) for row in self._all(_CHUNKS_AT, _json(addresses))}
        return [found[address] for address in addresses if address in found]

    def chunks_of(self, paper_ids: Collection[str]) -> list[Chunk]:
        return [_chunk(row) for row in self._all(_CHUNKS_OF, _json(paper_ids))]

    def addresses(self) -> set[str]:
        return {row["address"] for row in self._all(_ADDRESSES)}

    def exhibits(self, paper_ids: Collection[str]) -> list[ExhibitRow]:
        return [papers.exhibit(row) for row in self._all(_EXHIBITS_OF, _json(paper_ids))]

    def places(self, paper_id: str, part: Part) -> tuple[Place, ...]:
        rows = self._all("SELECT places FROM documents WHERE paper_id = ? AND part = ?", paper_id, part)
        return papers.unpacked(rows[0]["places"]) if rows else ()

    def citations(self, paper_ids: Collection[str] | None = None) -> list[CitationRow]:
        rows = self._all(_ALL_CITATIONS) if paper_ids is None else self._all(_CITATIONS_OF, _json(paper_ids))
        known = Known((row["id"], row["title"], row["doi"]) for row in self._all(_NAMES))
        return [known.recognised(papers.citation(row)) for row in rows]

    def document(self, paper_id: str, part: Part) -> Document | None:
        rows = self._all("SELECT * FROM documents WHERE paper_id = ? AND part = ?", paper_id, part)
        return next((_document(row) for row in rows), None)

    def remarks(self, paper_ids: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
        asked, told = None if paper_ids is None else set(paper_ids), dict[str, tuple[str, ...]]()
        for row in self._all(_ALL_REMARKS):
            if asked is None or row["paper_id"] in asked:
                told[row["paper_id"]] = (*told.get(row["paper_id"], ()), *_words(row["remarks"]))
        return told

    def record_query(self, query: QueryRecord, *, keep_text: bool) -> None:
        with self._hurried():
            self._record(query, keep_text=keep_text)

    def close(self) -> None:
        self._connection.close()

    def _record(self, query: QueryRecord, *, keep_text: bool) -> None:
        values = {
            "id": query.id,
            "now": _now(),
            "hash": hashlib.sha256(f"{self._salt()}{query.text}".encode("utf-8", "replace")).hexdigest(),
            "text": query.text.encode("utf-8", "replace").decode() if keep_text else None,
            "execution_time_ms": query.execution_time_ms,
            "strategy": query.strategy,
            **{arm: query.hits.get(arm) for arm in ("vector", "keyword", "graph")},
        }
        with self._transaction() as connection:
            connection.execute(_PUT_QUERY, values)
            metrics = {name: query.metrics.get(name) for name in _METRICS}
            connection.execute(_PUT_METRICS, {"query_id": query.id, **metrics})

    def _salt(self) -> str:
        """Random, and this library's own, so that hashes of equal queries do not match across libraries."""
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('salt', ?)", [secrets.token_hex(16)])
        return str(self._all("SELECT value FROM meta WHERE key = 'salt'")[0]["value"])

    def _all(self, sql: str, *parameters: object) -> list[sqlite3.Row]:
        with self._turn, self._reporting():
            return self._connection.execute(sql, parameters).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # Threads share the connection, which has one transaction at a time.
        with self._turn, self._reporting(), transaction(self._connection):
            yield self._connection

    @contextmanager
    def _hurried(self) -> Iterator[None]:
        """What can be left undone does not wait long for another process that writes."""
        with self._turn, self._reporting():
            self._connection.execute(f"PRAGMA busy_timeout = {_SHORTLY * 1000:.0f}")
            try:
                yield
            finally:
                self._connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explained(error, self._path) from error


def _migrations() -> list[str]:
    directory = resources.files("carrel.catalogs") / "migrations"
    files = sorted((file for file in directory.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [file.read_text(encoding="utf-8") for file in files]


def _explained(error: sqlite3.Error, path: Path) -> CarrelError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_FULL") or "disk is full" in str(error):
        return StorageFull(
            f"no space left to write {str(path)!r}", hint="Free some space and run the same command again."
        )
    if name.startswith("SQLITE_READONLY"):
        return ReadOnlyLibrary(f"cannot write to {str(path)!r}: it is read-only", hint="Make the directory writable.")
    return StoreUnavailable(f"cannot use catalog {str(path)!r}: {error}", hint="Run `carrel doctor`.")


def _paper_values(entry: Entry, now: str) -> dict[str, Any]:
    reference = entry.reference
    return {
        "id": reference.id,
        "title": reference.title,
        "year": reference.published.year,
        "doi": reference.doi,
        "record": jsonl.dump(reference),
        "listed": entry.listed,
        "now": now,
    }


def _document_values(entry: Entry) -> dict[str, Any]:
    document = entry.document
    return {
        "paper_id": document.paper_id,
        "part": document.part,
        "text": document.text,
        "digest": document.digest,
        "source": document.source,
        "format": document.format,
        "topic": entry.chunks[0].topic if entry.chunks else "",
        "places": papers.packed(entry.places),
        "remarks": json.dumps(document.remarks, ensure_ascii=False),
    }


_CHUNK_COLUMNS = (
    "address", "paper_id", "text", "start", "end", "position", "chapter", "section", "language", "token_count",
    "has_code", "has_formula", "has_table", "page_start", "page_end",
)  # fmt: skip


def _chunk_values(chunk: Chunk) -> dict[str, Any]:
    plain = {name: getattr(chunk, name) for name in _CHUNK_COLUMNS}
    return {**plain, "part": chunk.part, "kind": chunk.kind, **_lists(chunk)}


def _lists(chunk: Chunk) -> dict[str, str]:
    return {name: json.dumps(getattr(chunk, name)) for name in ("section_path", "exhibits")}


def _chunk(row: sqlite3.Row) -> Chunk:
    plain = {name: row[name] for name in _CHUNK_COLUMNS if not name.startswith("has_")}
    kind = ChunkKind(row["kind"])
    return Chunk(
        **plain,
        **_facts(row["record"], kind),
        part=Part(row["part"]),
        kind=kind,
        section_path=_words(row["section_path"]),
        exhibits=_words(row["exhibits"]),
        topic=row["topic"],
        has_code=bool(row["has_code"]),
        has_formula=bool(row["has_formula"]),
        has_table=bool(row["has_table"]),
    )


def _words(listed: str) -> tuple[str, ...]:
    return tuple(json.loads(listed)) if listed != "[]" else ()


@lru_cache(maxsize=_REMEMBERED)
def _facts(record: str, kind: ChunkKind) -> dict[str, Any]:
    return facts_of(_reference(record), kind)


@lru_cache(maxsize=_REMEMBERED)
def _reference(record: str) -> Reference:
    """The chunks of a paper share its record, and the same papers are found again and again."""
    return jsonl.from_own(json.loads(record))


def _document(row: sqlite3.Row) -> Document:
    values = {name: row[name] for name in ("paper_id", "text", "digest", "source", "format")}
    return Document(part=Part(row["part"]), remarks=_words(row["remarks"]), **values)


def _paper(row: sqlite3.Row) -> PaperRow:
    return PaperRow(
        reference=_reference(row["record"]),
        listed=bool(row["listed"]),
        indexed=row["state"] == "active",
        parts=tuple(Part(part) for part in json.loads(row["parts"])),
        sources=tuple(json.loads(row["sources"])),
        chunk_count=row["chunk_count"],
        figure_count=row["figure_count"],
        added=row["added"],
    )


def _json(values: Collection[str]) -> str:
    return json.dumps(list(values))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
