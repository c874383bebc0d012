"""The verbs of a library that take a document in step by step, each safe to be done again."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from carrel import curation
from carrel.errors import LibraryBusy
from carrel.ingest import indexing, stepwise
from carrel.isolation.workers import Workers
from carrel.keeping import Keeping
from carrel.types.service import DocumentStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from contextlib import AbstractContextManager

    from carrel.ingest.adding import Workplace
    from carrel.ingest.stepwise import Taken, Wanted
    from carrel.parsers import Parser
    from carrel.types.service import Submission

    At = Callable[[str], None]
    """Told of every place at which the work may be stopped; to stop it, it raises."""

_ALL = ""
_RECORDS = "records"
"""Which paper a document is, and the user's own part of the graph."""
_PATIENCE = 1.0
"""Seconds between two looks at whether waiting is still wanted."""


class Taking(Keeping):
    """From a submission to a paper that every index has.

    Who writes elsewhere is waited for only where stores are written, never while a text is read or embedded; and only
    who is at the same paper, where the stores can be written by several at once.
    """

    def read_document(self, wanted: Wanted, at: At, note: Callable[[str], object] = lambda _: None) -> Taken:
        """Read and cut a document, and tell the catalog: its paper is pending now.

        `note` is told of a paper that the library has no text of, before it gets this one.
        """
        if found := stepwise.held(wanted, self._desk):
            return found
        draft = stepwise.draft(wanted, self._desk)
        with self._turn(_ALL if draft.is_listed else _RECORDS, at) as still_at:
            still_at("keep")
            return stepwise.keep(draft, wanted, self._desk, self._further, note)

    def embed_document(self, paper_id: str, tell: Callable[[int, int], None]) -> None:
        """Compute the vectors of a paper that are not in the cache."""
        indexing.check_model(self.current)
        stepwise.embed(paper_id, self.stores, tell)

    def index_document(self, paper_id: str, at: At) -> None:
        """Put a paper into every index and declare it active."""
        if not stepwise.is_indexed(paper_id, self.stores):
            self._put_document(paper_id, at)
        self._curate_after(at)

    def _put_document(self, paper_id: str, at: At) -> None:
        stores = self.current
        ready = indexing.prepare([paper_id], stores)
        with self._turn(_paper(paper_id), at) as still_at:
            still_at("write")
            indexing.check_model(self.current)
            if self.stores is not stores or self.stores.catalog.chunks_of([paper_id]) != ready.chunks:
                # Somebody gave the paper another text in the meantime, or the index another model.
                ready = indexing.prepare([paper_id], self.stores)
            indexing.put(ready, self.stores, at=still_at)

    def withdraw_document(self, document: Submission) -> None:
        """Take the text of a document out of every store, and archive it."""
        paper_id = document.paper_id or self._unfinished(document)
        with self.lock.beside(_paper(paper_id), timeout=self.settings.lock_timeout):
            stepwise.withdraw(paper_id, document.path, self.stores)
            self._archive(document)
        self._curate_after(lambda _: None)

    def take_back_document(self, document: Submission, at: At) -> None:
        """Undo what was done for a document that is not to be taken in after all.

        A text that is to replace another stays pending, for the next who writes to finish, unless it was deleted.
        """
        is_deleted = document.status == DocumentStatus.ARCHIVED
        paper_id = document.paper_id or (self._unfinished(document) if is_deleted else "")
        if paper_id and (is_deleted or not document.ingested_at) and not self._is_shared(document):
            with self._turn(_paper(paper_id), at):
                stepwise.withdraw(paper_id, document.path, self.stores)

    def rest(self) -> None:
        """Let the processes go that documents were read in; the next document starts new ones."""
        self._readers.close()

    def close(self) -> None:
        self._readers.close()
        super().close()

    def _archive_papers(self, paper_ids: Collection[str]) -> None:
        """The documents whose papers are gone."""
        for paper_id in paper_ids:
            for document in self.stores.catalog.submissions.by_paper(paper_id):
                if document.status == DocumentStatus.ACTIVE:
                    self._archive(document)

    def _unfinished(self, document: Submission) -> str:
        """The paper whose text a document is about to replace: it has no name for it until that is done."""
        paper_id = self.stores.catalog.sources([document.path]).get(document.path, "") if document.path else ""
        return "" if any(row.indexed for row in self.stores.catalog.papers([paper_id])) else paper_id

    def _is_shared(self, document: Submission) -> bool:
        """Whether another document is made of the same file, and is in the library."""
        same = [one for one in self.stores.catalog.submissions.by_paper(document.paper_id) if one.id != document.id]
        return any(one.status == DocumentStatus.ACTIVE and one.path == document.path for one in same)

    def _archive(self, document: Submission) -> None:
        self.stores.catalog.submissions.change(document.id, status=DocumentStatus.ARCHIVED)
        self._discard(document)

    def _discard(self, document: Submission) -> None:
        """Delete the copy of a document that was handed over, unless another document is made of it."""
        path = (self.layout.root.parent / document.path).resolve() if document.path else self.layout.uploads
        same = self.stores.catalog.submissions.by_hash(document.file_hash)
        if path.is_relative_to(self.layout.uploads.resolve()) and path.is_file():
            if any(other.path == document.path and other.id != document.id for other in same):
                return
            path.unlink(missing_ok=True)
            if not any(path.parent.iterdir()):
                path.parent.rmdir()

    @cached_property
    def _readers(self) -> Workers:
        """Apart from those of `add`, which lets its own go when it is done."""
        return Workers(self._budget)

    @cached_property
    def _document_parsers(self) -> Mapping[str, Parser]:
        return self._parsers_in(self._readers)

    @property
    def _desk(self) -> Workplace:
        return replace(self._workplace, parsers=self._document_parsers)

    @contextmanager
    def _turn(self, name: str, at: At) -> Iterator[At]:
        """Be the one who is at something, as soon as nobody else is. To stop is also whoever has lost the turn."""
        deadline = time.monotonic() + self.settings.jobs.step_seconds
        with ExitStack() as stack:
            while True:
                at("wait")
                try:
                    check = stack.enter_context(self._taken(name))
                    break
                except LibraryBusy:
                    if time.monotonic() > deadline:
                        raise
            yield partial(_checked, check, at)

    def _taken(self, name: str) -> AbstractContextManager[Callable[[], None]]:
        lock = self.lock
        return lock.beside(name, timeout=_PATIENCE) if name else lock.alone(timeout=_PATIENCE)

    def _further(self, paper_id: str) -> AbstractContextManager[object]:
        return self.lock.further(_paper(paper_id), timeout=self.settings.jobs.step_seconds)

    def _curate_after(self, at: At) -> None:
        """The user's own part of the graph speaks of papers, too. One at a time, so that the last sees all of them."""
        if not curation.is_empty(self.layout):
            with self._turn(_RECORDS, at):
                self._curate()


def _paper(paper_id: str) -> str:
    return f"paper {paper_id}"


def _checked(check: Callable[[], None], at: At, point: str) -> None:
    check()
    at(point)
