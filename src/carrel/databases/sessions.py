"""What SQL that several databases understand asks of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

Row = tuple[Any, ...]

AT_ONCE = 500
"""Rows of a stream that are held in memory."""
_MOST_VALUES = 500
"""In one list: what every database plans quickly."""


class Session(Protocol):
    """One transaction. Values stand at the question marks."""

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]: ...

    def stream(self, sql: str, values: Sequence[object] = ()) -> Iterator[list[Row]]:
        """The rows of a query that may give many, a few hundred at a time."""
        ...

    def each(self, sql: str, many: Sequence[Sequence[object]]) -> list[list[Row]]:
        """What the same query gives for each of these values."""
        ...

    def write(self, sql: str, many: Sequence[Sequence[object]]) -> int:
        """How many rows that changed."""
        ...

    def now(self) -> str:
        """By the database's clock: UTC, to the microsecond, as ISO 8601 has it."""
        ...


class Database(Protocol):
    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """What one query gives that needs no other to be of the same moment."""
        ...

    def reading(self) -> AbstractContextManager[Session]:
        """All that is read inside is of one moment; of a database that is not there yet, nothing."""
        ...

    def writing(self, *alone: str, hurried: bool = False) -> AbstractContextManager[Session]:
        """All that is written inside, or nothing. Nobody else writes to these tables meanwhile.

        What is hurried fails soon where others keep it from being written.
        """
        ...

    def together(self) -> AbstractContextManager[None]:
        """What this thread writes inside is one transaction, where others can write meanwhile; else several."""
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


def clean(values: Sequence[object]) -> list[Any]:
    """What every database takes: whole numbers for what is so or not, texts as `text` has them."""
    return [_value(value) for value in values]


def _value(value: object) -> object:
    if isinstance(value, str):
        return text(value)
    return int(value) if isinstance(value, bool) else value


def text(value: str) -> str:
    """As long as before, without half characters and NUL."""
    if value.isascii() and "\0" not in value:
        # Of an enumeration its value, which is what a driver knows.
        return str(value)
    return value.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
