"""One transaction of a PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.databases.sessions import AT_ONCE, clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import psycopg

    from carrel.databases.sessions import Row

_NOW = """SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00'"""
_WRITTEN = 200
"""Rows that are sent before the server is heard again: one that indexes them as they come is busy for a while, and
would be taken for lost."""


class PostgresqlSession:
    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def rows(self, statement: str, values: Sequence[object] = (), *, binary: bool = False) -> list[Row]:
        """In binary form, a type that Python does not know comes as bytes."""
        return self._connection.execute(_text(statement), clean(values), binary=binary).fetchall()

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[list[Row]]:
        with self._connection.cursor("stream") as cursor:
            cursor.execute(_text(statement), clean(values))
            while rows := cursor.fetchmany(AT_ONCE):
                yield rows

    def each(self, statement: str, many: Sequence[Sequence[object]]) -> list[list[Row]]:
        if not many:
            return []
        with self._connection.cursor() as cursor:
            cursor.executemany(_text(statement), map(clean, many), returning=True)
            return [result.fetchall() for result in cursor.results()]

    def write(self, statement: str, many: Sequence[Sequence[object]]) -> int:
        if len(many) < 2:
            return sum(max(0, self._connection.execute(_text(statement), clean(values)).rowcount) for values in many)
        changed = 0
        with self._connection.cursor() as cursor:
            for start in range(0, len(many), _WRITTEN):
                cursor.executemany(_text(statement), map(clean, many[start : start + _WRITTEN]))
                changed += cursor.rowcount
        # After several that were sent at once, the server does not count how long it hears nothing more.
        self._connection.execute("")
        return changed

    def now(self) -> str:
        return str(self._connection.execute(_NOW).fetchall()[0][0])


def _text(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
