"""What the graph's SQL asks of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

Row = tuple[Any, ...]

_MOST_VALUES = 500
"""In one list: what every database plans quickly."""


class Session(Protocol):
    """One transaction. Values stand at the question marks."""

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]: ...

    def each(self, sql: str, many: Sequence[Sequence[object]]) -> list[list[Row]]:
        """What the same query gives for each of these values."""
        ...

    def write(self, sql: str, many: Sequence[Sequence[object]]) -> None: ...


class Database(Protocol):
    def reading(self) -> AbstractContextManager[Session]:
        """All that is read inside is of one moment; of a database that is not there yet, nothing."""
        ...

    def writing(self) -> AbstractContextManager[Session]:
        """All that is written inside, or nothing; one writer at a time."""
        ...

    def close(self) -> None: ...


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    whole = sorted(set(values))
    for start in range(0, len(whole), _MOST_VALUES):
        yield whole[start : start + _MOST_VALUES]


def marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def gather(session: Session, sql: str, among: Iterable[str], *others: object) -> Iterator[Row]:
    """The rows of a query with `IN ({marks})`, of which the list may be long; other values come after it."""
    for batch in batches(among):
        yield from session.rows(sql.format(marks=marks(batch)), [*batch, *others])
