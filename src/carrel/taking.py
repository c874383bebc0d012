"""The verbs of a library that take a document in step by step, each safe to be done again."""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from carrel import locking
from carrel.errors import LibraryBusy
from carrel.ingest import indexing, stepwise
from carrel.isolation.workers import Workers
from carrel.keeping import Keeping
from carrel.types.service import DocumentStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from carrel.ingest.adding import Workplace
    from carrel.ingest.stepwise import Taken, Wanted
    from carrel.parsers import Parser
    from carrel.types.service import Submission

    At = Callable[[str], None]
    """Told of every place at which the work may be stopped; to stop it, it raises."""

_PATIENCE = 1.0
"""Seconds between two looks at whether waiting is still wanted."""


class Taking(Keeping):
    """From a submission to a paper that every index has.

    Who writes elsewhere is waited for only where stores are written, never while a text is read or embedded.
    """

    def read_document(self, wanted: Wanted, at: At) -> Taken:
        """Read and cut a document, and tell the catalog: its paper is pending now."""
        if found := stepwise.held(wanted, self._desk):
            return found
        draft = stepwise.draft(wanted, self._desk)
        with self._turn(at):
            at("keep")
            return stepwise.keep(draft, wanted, self._desk)

    def embed_document(self, paper_id: str, tell: Callable[[int, int], None]) -> None:
        """Compute the vectors of a paper that are not in the cache."""
        indexing.check_model(self.stores)
        stepwise.embed(paper_id, self.stores, tell)

    def index_document(self, paper_id: str, at: At) -> None:
        """Put a paper into every index and declare it active."""
        if stepwise.is_indexed(paper_id, self.stores):
            return
        ready = indexing.prepare([paper_id], self.stores)
        with self._turn(at):
            at("write")
            indexing.check_model(self.stores)
            if self.stores.catalog.chunks_of([paper_id]) != ready.chunks:
                # Somebody gave the paper another text in the meantime.
                ready = indexing.prepare([paper_id], self.stores)
            indexing.put(ready, self.stores, at=at)
            self._curate()

    def withdraw_document(self, document: Submission) -> None:
        """Take the text of a document out of every store, and archive it."""
        with self._writing():
            stepwise.withdraw(document.paper_id, document.path, self.stores)
            self._curate()
            self._archive(document)

    def take_back_document(self, document: Submission, at: At) -> None:
        """Undo what was done for a document that is not to be taken in after all."""
        if document.paper_id:
            with self._turn(at):
                stepwise.take_back(document.paper_id, document.path, self.stores)

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
    def _turn(self, at: At) -> Iterator[None]:
        """Be the one who writes, as soon as nobody else does."""
        deadline = time.monotonic() + self.settings.jobs.step_seconds
        with ExitStack() as stack:
            while True:
                at("wait")
                try:
                    stack.enter_context(locking.held(self.layout.lock, timeout=_PATIENCE))
                    break
                except LibraryBusy:
                    if time.monotonic() > deadline:
                        raise
            yield
