"""Conversations in the catalog's database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.catalogs.conversations import Session, Turn

if TYPE_CHECKING:
    from carrel.databases.sessions import Database

_SESSIONS = """
    SELECT session, count(*), min(asked_at), max(asked_at) AS latest
    FROM turns GROUP BY session ORDER BY latest DESC, session"""
_TURNS = "SELECT question, asked, answer, asked_at FROM turns WHERE session = ? ORDER BY number"
_NEXT = "SELECT coalesce(max(number), 0) + 1 FROM turns WHERE session = ?"
_ADD = "INSERT INTO turns (session, number, question, asked, answer, asked_at) VALUES (?, ?, ?, ?, ?, ?)"


class SqlConversations:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Session]:
        return [Session(*row) for row in self._database.rows(_SESSIONS)]

    def turns(self, name: str) -> list[Turn]:
        return [Turn(*row) for row in self._database.rows(_TURNS, [name])]

    def add(self, name: str, turn: Turn) -> int:
        with self._database.writing("turns") as session:
            number = int(session.rows(_NEXT, [name])[0][0])
            session.write(_ADD, [[name, number, turn.question, turn.asked, turn.answer, session.now()]])
        return number

    def remove(self, name: str) -> int:
        with self._database.writing() as session:
            return session.write("DELETE FROM turns WHERE session = ?", [[name]])
