"""BM25 by tantivy.

Words are brought to their English stems whatever the language of their text: what that does to another language, it
does to its questions, too. Forms of their own for each language would be rare in a library of mostly one, and so weigh
more than they should: a short English title taken for Latin would come before everything that has the same words. Stop
words are indexed but not asked for, unless a query has nothing else ("The Who").
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import tantivy
from tantivy import Query

from carrel import words
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.files import cut_short, is_writable, stamp_of, storage_error, writing
from carrel.keywords import analysis, tantivy_queries
from carrel.types import EVERYTHING, Filter, Hit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from carrel.errors import CarrelError
    from carrel.files import Stamp
    from carrel.types import Chunk

_VERSION = "5"
"""Of the schema and analysis below; an index of another version is not opened."""
_HEAP = 64_000_000
_FIELDS = ("words", "authors")
_NUMBERS = ("year", "chapter", "section")


class TantivyKeywords:
    def __init__(self, directory: Path) -> None:
        self._directory = directory / f"v{_VERSION}"
        self._schema = _schema()
        self._analyzers = {"words": words.as_given(), "authors": words.plain()}
        self._opened: tantivy.Index | None = None
        self._stamp: Stamp | None = None
        self._sizes: dict[str, int] = {}
        self._mirror: tempfile.TemporaryDirectory[str] | None = None

    def put(self, chunks: Sequence[Chunk]) -> None:
        index = self._open() or self._create()
        searcher = index.searcher()
        by_paper = groupby(sorted(chunks, key=lambda chunk: chunk.paper_id), key=lambda chunk: chunk.paper_id)
        papers = {paper_id: list(group) for paper_id, group in by_paper}
        changed = [paper_id for paper_id in papers if self._differs(searcher, paper_id, papers[paper_id])]
        if changed:
            with self._writer(index) as writer:
                for paper_id in changed:
                    writer.delete_documents_by_term("paper", paper_id)
                    for chunk in papers[paper_id]:
                        writer.add_document(_document(chunk))

    def delete(self, paper_ids: Collection[str]) -> None:
        index = self._open()
        if index and paper_ids:
            with self._writer(index) as writer:
                for paper_id in paper_ids:
                    writer.delete_documents_by_term("paper", paper_id)

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
        index, query = self._open(), tantivy_queries.asking(self._schema, text, where, phrases, also)
        if not index or not query:
            return []
        with self._reporting():
            hits = _best(index.searcher(), query, min(limit, index.searcher().num_docs))
        return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]

    def matches(self, text: str, *, where: Filter = EVERYTHING, phrases: Sequence[str] = ()) -> int:
        index, query = self._open(), tantivy_queries.asking(self._schema, text, where, phrases)
        if not index or not query:
            return 0
        with self._reporting():
            # Not in the package's own stub.
            return int(index.searcher().search(query, 1).count)  # type: ignore[attr-defined]

    def frequencies(self, words: Sequence[str]) -> list[int]:
        index = self._open()
        if not index:
            return [0] * len(words)
        searcher = index.searcher()
        with self._reporting():
            return [max(_frequency(searcher, *form) for form in analysis.forms(word)) for word in words]

    def near(self, word: str, *, distance: int, beside: str, limit: int) -> list[str]:
        index, query = self._open(), tantivy_queries.spelled_like(self._schema, word, distance, beside)
        if not index or not query:
            return []
        searcher = index.searcher()
        with self._reporting():
            return [_stored(searcher, place, "address") for _, place in searcher.search(query, limit, count=False).hits]

    def count(self) -> int:
        index = self._open()
        return index.searcher().num_docs if index else 0

    def addresses(self) -> set[str]:
        index = self._open()
        if not index or not index.searcher().num_docs:
            return set()
        searcher = index.searcher()
        with self._reporting():
            everything = searcher.search(Query.all_query(), searcher.num_docs, count=False).hits
            return {_stored(searcher, place, "address") for _, place in everything}

    def clear(self) -> None:
        self.close()
        with writing(self._directory):
            shutil.rmtree(self._directory, ignore_errors=True)

    def close(self) -> None:
        self._opened = None
        if self._mirror is not None:
            self._mirror.cleanup()

    def _differs(self, searcher: tantivy.Searcher, paper_id: str, chunks: Sequence[Chunk]) -> bool:
        """Whether the index holds anything but exactly these chunks of a paper.

        Replacing equals by equals would leave deleted copies behind, which BM25 counts until they are merged
        away: a run that was interrupted and repeated would score otherwise than one that was not.
        """
        query = Query.term_query(self._schema, "paper", paper_id)
        places = [place for _, place in searcher.search(query, len(chunks) + 1, count=False).hits]
        held = {_stored(searcher, place, "address"): _stored(searcher, place, "digest") for place in places}
        return held != {chunk.address: _digest(chunk) for chunk in chunks}

    def _open(self) -> tantivy.Index | None:
        """The index as it is on disk now; None when there is none yet, or another process cleared it."""
        stamp = stamp_of(self._directory / "meta.json")
        if stamp is None:
            self._opened = None
        elif self._opened is None:
            self._opened = self._load()
        else:
            with self._reporting():
                if name := cut_short(self._directory, self._sizes):
                    raise ValueError(f"{name} was cut short")
                if stamp != self._stamp:
                    self._opened.reload()
        self._stamp = stamp
        return self._opened

    def _create(self) -> tantivy.Index:
        with writing(self._directory):
            self._directory.mkdir(parents=True, exist_ok=True)
        for other in self._directory.parent.glob("v*"):
            if other != self._directory:
                shutil.rmtree(other, ignore_errors=True)
        self._opened = self._load()
        return self._opened

    def _load(self) -> tantivy.Index:
        with self._reporting():
            index = tantivy.Index(self._schema, path=str(self._openable()), reuse=True)
        for name, analyzer in self._analyzers.items():
            index.register_tokenizer(name, analyzer)
        index.config_reader(reload_policy="manual")
        return index

    def _openable(self) -> Path:
        """The directory itself, or, as tantivy locks even to read, links to its files where that cannot be."""
        if is_writable(self._directory):
            return self._directory
        self._mirror = tempfile.TemporaryDirectory(prefix="carrel-")
        for file in self._directory.iterdir():
            if file.suffix != ".lock":
                (Path(self._mirror.name) / file.name).symlink_to(file.absolute())
        return Path(self._mirror.name)

    @contextmanager
    def _writer(self, index: tantivy.Index) -> Iterator[tantivy.IndexWriter]:
        """Everything written inside counts at once, at the end, or not at all."""
        with self._reporting():
            writer = index.writer(_HEAP, 1)
            yield writer
            writer.commit()
            writer.wait_merging_threads()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError) as error:
            raise self._unavailable(error) from error
        except BaseException as error:
            # Damaged files make the Rust side panic, which arrives as an exception that is no `Exception`.
            if type(error).__name__ != "PanicException":
                raise
            raise self._unavailable(error) from error

    def _unavailable(self, error: BaseException) -> CarrelError:
        for code in (errno.ENOSPC, errno.EROFS, errno.EACCES):
            if os.strerror(code) in str(error):
                return storage_error(OSError(code, os.strerror(code)), self._directory)
        return StoreUnavailable(
            f"the keyword index in {str(self._directory)!r} cannot be used: {error}",
            hint="It is derived: delete that directory and run 'carrel index build'.",
        )


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("address", "digest"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("paper", "kind", "venue", "tags", "topic"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in _FIELDS:
        builder.add_text_field(name, tokenizer_name=name, index_option="position")
    for name in _NUMBERS:
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


def _document(chunk: Chunk) -> tantivy.Document:
    return tantivy.Document(
        address=chunk.address,
        digest=_digest(chunk),
        paper=chunk.paper_id,
        kind=chunk.kind.value,
        venue=chunk.venue.casefold(),
        tags=list(chunk.tags),
        topic=chunk.topic,
        authors=analysis.indexed_authors(chunk),
        year=chunk.year,
        chapter=chunk.chapter,
        section=chunk.section,
        words=" ".join(analysis.indexed_words(chunk)),
    )


def _digest(chunk: Chunk) -> str:
    """Of all that `_document` writes."""
    facts = (chunk.kind, chunk.venue, chunk.tags, chunk.topic, chunk.authors, chunk.note)
    numbers = (chunk.year, chunk.chapter, chunk.section)
    return hashlib.sha256(repr((chunk.text_hash, *facts, *numbers)).encode("utf-8", "replace")).hexdigest()


def _best(searcher: tantivy.Searcher, query: Query, limit: int) -> list[Hit]:
    """The best hits and all that score as the last of them: among equals tantivy would pick any."""
    most = limit + 1
    while True:
        found = searcher.search(query, most, count=False).hits
        if len(found) < most or round(found[-1][0], 4) < round(found[limit - 1][0], 4):
            return [Hit(_stored(searcher, place, "address"), round(score, 4)) for score, place in found]
        most *= 4


def _frequency(searcher: tantivy.Searcher, field: str, terms: Sequence[str]) -> int:
    """Of the rarest of a word's terms: Chinese, Japanese and Korean words have several."""
    return min((searcher.doc_freq(field, term) for term in terms), default=0)


def _stored(searcher: tantivy.Searcher, place: tantivy.DocAddress, field: str) -> str:
    return str(searcher.doc(place).get_first(field))
