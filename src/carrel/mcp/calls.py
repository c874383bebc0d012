"""A tool at work: what it has, and whom it tells how far it is."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from carrel.health import IndexState
from carrel.types import Filter
from carrel.types.service import IN_THE_LOG, LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from carrel.library import Library
    from carrel.mcp.wishes import Narrow
    from carrel.types import Author, Degradation
    from carrel.types.service import Caller

    Tell: TypeAlias = Callable[[str, float, float], None]
    """What is being done, how much of it, of how much; 0 where that is not known."""

_AUTHORS = 3
_AROUND = 250
"""Tokens for what is said of a whole result."""
_BEHIND = {
    IndexState.STALE: "the index is behind the papers: 'carrel index build' brings it up to date",
    IndexState.BUILDING: "the index is being built: not everything is found yet",
}


class Stopped(Exception):
    """Nobody waits for the result any longer. What was done is done."""


@dataclass(frozen=True)
class Call:
    library: Library
    caller: Caller
    tell: Tell
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits for the result any longer."""

    @property
    def tokens(self) -> int:
        """What a result may take."""
        return self.library.settings.mcp.result_tokens - _AROUND

    def where(self, wish: Narrow) -> Filter:
        """Papers may be named by their titles."""
        rows = self.library.find(*wish.papers) if wish.papers else ()
        return Filter(
            paper_ids=frozenset(row.reference.id for row in rows),
            tags=frozenset(wish.tags),
            year_min=wish.year_from,
            year_max=wish.year_to,
        )

    def notes(self, degraded: Iterable[Degradation] = ()) -> Iterator[str]:
        """What is to be known of anything that was searched for."""
        is_user = self.caller is LOCAL
        yield from (f"without {part.arm}: {part.reason if is_user else IN_THE_LOG}" for part in degraded)
        if behind := _BEHIND.get(self.library.index_state()):
            yield behind


def by(authors: Iterable[Author] | Iterable[str]) -> str | None:
    """A paper's authors on one line; None where nobody knows them."""
    names = [str(author) for author in authors]
    others = " et al." if len(names) > _AUTHORS else ""
    return f"{', '.join(names[:_AUTHORS])}{others}" if names else None
