"""The verbs of a library that answer questions."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from carrel import answer as answering
from carrel import conversing, history
from carrel import search as searching
from carrel.catalogs.conversations import Turn
from carrel.conceptual import Conceptual
from carrel.errors import CarrelError, InvalidInput, NotFound
from carrel.files import is_writable
from carrel.telemetry import log
from carrel.types import EVERYTHING, DoneEvent, Mode

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from carrel.catalogs.conversations import Session
    from carrel.types import Answer, Event, Filter, SearchResult
    from carrel.verifying import Verified


class Wishes(TypedDict, total=False):
    """How a question is to be answered: the options of `stream`."""

    top_k: int | None
    where: Filter
    graph: bool
    session: str
    earlier: Sequence[Turn]


class Asking(Conceptual):
    """What the papers say to a question, and whether they still say it."""

    def ask(self, question: str, **wishes: Unpack[Wishes]) -> Answer:
        """An answer in which every statement is proved, or the word that the library does not have one."""
        return answering.collect(self.stream(question, **wishes))

    def stream(
        self,
        question: str,
        *,
        top_k: int | None = None,
        where: Filter = EVERYTHING,
        graph: bool = True,
        session: str = "",
        earlier: Sequence[Turn] = (),
    ) -> Generator[Event]:
        """The same answer as it grows; the last event carries the whole. Who closes it stops the work.

        A `session` is a conversation that is kept under this name; `earlier` are the turns of one that is not kept.
        """
        wanted = self.settings.answer.top_k if top_k is None else top_k
        if wanted < 1:
            raise InvalidInput(f"top_k must be a positive integer, got {wanted}")
        asked = self.made_whole(question, session=session, earlier=earlier)
        parts = self._pipeline(Mode.HYBRID, graph=graph)
        result = searching.search(asked, mode=Mode.HYBRID, limit=wanted, where=where, pipeline=parts, tells=False)
        for event in answering.answer(question, result, self._means, asked=asked if asked != question else ""):
            if isinstance(event, DoneEvent):
                self._remember(event.answer.query_id, result, event.answer)
                if session:
                    self.stores.catalog.conversations.add(session, Turn(question, asked, event.answer.answer))
            yield event

    def made_whole(self, question: str, *, session: str = "", earlier: Sequence[Turn] = ()) -> str:
        """The question as it is searched for: with what earlier ones were about, if it depends on them."""
        return conversing.standalone(question, self.turns(session) if session else earlier)

    def sessions(self) -> list[Session]:
        """The conversations that are kept, the latest first."""
        return self.stores.catalog.conversations.all()

    def turns(self, session: str) -> Sequence[Turn]:
        """What was asked and answered in a conversation, in order; nothing yet where it is to begin."""
        return self.stores.catalog.conversations.turns(conversing.checked_name(session))

    def forget_session(self, name: str) -> int:
        """Forget a conversation; returns how many questions it had."""
        removed = self.stores.catalog.conversations.remove(name)
        if not removed:
            raise NotFound(f"there is no session {name!r}", hint="'carrel sessions' lists them.")
        return removed

    def save(self, answer: Answer, path: str | Path, *, force: bool = False) -> None:
        """Write an answer with all it takes to check it later, as .json, .md or .html by the name's end.

        A file that is there already is replaced only by `force`.
        """
        from carrel.bundles import circumstances, files, making

        files.check_target(Path(path), force=force)
        made = circumstances.made(self.layout, self.settings, self.embedder, self.reranker, answer.generator)
        files.write(Path(path), making.bundle(answer, made, self.stores.catalog))

    def verify(self, *answers: str | Path) -> Verified:
        """Check every quote of saved answers against the papers; without any, whether the library's stores agree."""
        from carrel import verifying
        from carrel.bundles import circumstances, files
        from carrel.verifying import answers as saved
        from carrel.verifying import stores

        if not answers:
            with self._writing() if is_writable(self.layout.home) else nullcontext():
                return stores.verify(self.layout, lambda: self.stores, self._found())
        opened = [(str(path), files.read(Path(path))) for path in answers]
        now = circumstances.made(self.layout, self.settings, self.embedder, self.reranker)
        shelf = saved.Shelf(self.stores.catalog, self.standing, now)
        return verifying.together([saved.verify(name, one, shelf) for name, one in opened])

    def _remember(self, query_id: str, result: SearchResult, answer: Answer | None = None) -> None:
        """Keep the query's figures. History is a courtesy: failing to write it does not fail the query."""
        kept = self.settings.history
        if not kept.enabled:
            return
        query = history.record(query_id, result, answer=answer, threshold=self.settings.answer.threshold)
        try:
            self.stores.catalog.record_query(query, keep_text=kept.keep_text)
        except CarrelError as error:
            log("history", logging.WARNING, "query not recorded", reason=error.message)
