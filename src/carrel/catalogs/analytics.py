"""What was asked, how it went, and what was thought of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from carrel.catalogs import QueryRecord
    from carrel.types.service import Feedback, Statistics


@runtime_checkable
class Analytics(Protocol):
    """Each method is one transaction."""

    def record(self, query: QueryRecord, *, keep_text: bool) -> None:
        """Keep a query's figures; its words only if that is wanted, else a salted hash. Its session begins with it."""
        ...

    def end_session(self, session_id: str) -> None: ...

    def has_query(self, query_id: str) -> bool: ...

    def rate(self, feedback: Feedback) -> bool:
        """Keep what was thought of an answer; False, and nothing changed, if something is kept already."""
        ...

    def feedback(self, query_id: str) -> Feedback | None: ...

    def statistics(self, days: int = 0) -> Statistics: ...

    def forget(self, days: int) -> int:
        """Forget queries older than this, and what hangs on them; returns how many."""
        ...
