"""Conversations in the catalog's database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from carrel.catalogs.conversations import Session, Turn

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    Read = Callable[..., list[sqlite3.Row]]
    Transaction = Callable[[], AbstractContextManager[sqlite3.Connection]]

_SESSIONS = """
    SELECT session, count(*) AS turns, min(asked_at) AS began, max(asked_at) AS latest
    FROM turns GROUP BY session ORDER BY latest DESC, session"""
_TURNS = "SELECT question, asked, answer, asked_at FROM turns WHERE session = ? ORDER BY number"
_NEXT = "SELECT coalesce(max(number), 0) + 1 FROM turns WHERE session = ?"
_ADD = "INSERT INTO turns (session, number, question, asked, answer, asked_at) VALUES (?, ?, ?, ?, ?, ?)"


class SqliteConversations:
    def __init__(self, read: Read, transaction: Transaction) -> None:
        self._read = read
        self._transaction = transaction

    def all(self) -> list[Session]:
        return [Session(*row) for row in self._read(_SESSIONS)]

    def turns(self, name: str) -> list[Turn]:
        return [Turn(*row) for row in self._read(_TURNS, name)]

    def add(self, name: str, turn: Turn) -> int:
        with self._transaction() as connection:
            number = int(connection.execute(_NEXT, [name]).fetchone()[0])
            said = (turn.question, turn.asked, turn.answer)
            connection.execute(_ADD, [name, number, *map(_whole, said), datetime.now(UTC).isoformat()])
        return number

    def remove(self, name: str) -> int:
        with self._transaction() as connection:
            return connection.execute("DELETE FROM turns WHERE session = ?", [name]).rowcount


def _whole(text: str) -> str:
    """The text without the halves of characters that a shell may pass on."""
    return text.encode("utf-8", "replace").decode()
