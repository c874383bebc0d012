"""The verbs of a library that answer questions."""

from __future__ import annotations

import logging
import time
from contextlib import nullcontext
from dataclasses import replace
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

    from carrel.bundles import Bundle
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
    query_id: str
    session_id: str
    user: str


_HOUR = 3600.0


class Asking(Conceptual):
    """What the papers say to a question, and whether they still say it."""

    _forgot_at = float("-inf")
    """When old queries were last forgotten, by the clock that only goes on."""

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
        query_id: str = "",
        session_id: str = "",
        user: str = "",
    ) -> Generator[Event]:
        """The same answer as it grows; the last event carries the whole. Who closes it stops the work.

        A `session` is a conversation that is kept under this name; `earlier` are the turns of one that is not kept.
        The answer is known by `query_id`, or by one made for it; by `session_id` and `user`, of whom a hash is kept,
        the history knows what belongs together.
        """
        wanted = self.settings.answer.top_k if top_k is None else top_k
        if wanted < 1:
            raise InvalidInput(f"top_k must be a positive integer, got {wanted}")
        asked = self.made_whole(question, session=session, earlier=earlier)
        parts = self._pipeline(Mode.HYBRID, graph=graph)
        result = searching.search(asked, mode=Mode.HYBRID, limit=wanted, where=where, pipeline=parts, tells=False)
        rephrased = asked if asked != question else ""
        for event in answering.answer(question, result, self._means, asked=rephrased, query_id=query_id):
            if isinstance(event, DoneEvent):
                self._remember(event.answer.query_id, result, event.answer, session_id=session_id, user=user)
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
        from carrel.bundles import files

        files.check_target(Path(path), force=force)
        files.write(Path(path), self._bundle(answer))

    def bundle(self, answer: Answer, suffix: str, *, for_others: bool = False) -> bytes:
        """What `save` would write into a file whose name ends so: `.json`, `.md` or `.html`.

        `for_others` leaves out the settings.
        """
        from carrel.bundles import files

        bundle = self._bundle(answer)
        if for_others:
            bundle = replace(bundle, made=replace(bundle.made, settings={}))
        return files.content(Path(f"answer{suffix}"), bundle)

    def verify(self, *answers: str | Path) -> Verified:
        """Check every quote of saved answers against the papers; without any, whether the library's stores agree."""
        from carrel import verifying
        from carrel.bundles import circumstances, files
        from carrel.verifying import answers as saved
        from carrel.verifying import stores

        if not answers:
            with self._writing() if is_writable(self.layout.home) else nullcontext():
                return stores.verify(self.layout, self._databases, lambda: self.stores, self._found())
        opened = [(str(path), files.read(Path(path))) for path in answers]
        now = circumstances.made(self.layout, self.settings, self.embedder, self.reranker)
        shelf = saved.Shelf(self.stores.catalog, self.standing, now)
        return verifying.together([saved.verify(name, one, shelf) for name, one in opened])

    @property
    def _databases(self) -> dict[str, Path]:
        """Those that are files of this library, where they are in use."""
        files = {"catalog": self.layout.database, "graph": self.layout.cache / "graph" / "graph.db"}
        return {seam: path for seam, path in files.items() if getattr(self.settings, seam) == "sqlite"}

    def _bundle(self, answer: Answer) -> Bundle:
        from carrel.bundles import circumstances, making

        made = circumstances.made(self.layout, self.settings, self.embedder, self.reranker, answer.generator)
        return making.bundle(answer, made, self.stores.catalog)

    def _remember(
        self, query_id: str, result: SearchResult, answer: Answer | None = None, *, session_id: str = "", user: str = ""
    ) -> None:
        """Keep the query's figures. History is a courtesy: failing to write it does not fail the query."""
        kept, threshold = self.settings.history, self.settings.answer.threshold
        query = history.record(query_id, result, answer=answer, threshold=threshold, session_id=session_id, user=user)
        for tell in self.observers:
            tell(query)
        if not kept.enabled:
            return
        try:
            self.stores.catalog.analytics.record(query, keep_text=kept.keep_text)
            if time.monotonic() - self._forgot_at > _HOUR:
                self.forget_old()
        except CarrelError as error:
            log("history", logging.WARNING, "query not recorded", reason=error.message)

    def forget_old(self) -> int:
        """Forget queries that are older than history.retention_days; returns how many. Asking does it now and then."""
        self._forgot_at = time.monotonic()
        days = self.settings.history.retention_days
        return self.stores.catalog.analytics.forget(days) if days else 0
