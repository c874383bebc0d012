"""Conversations in a dictionary."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from carrel.catalogs.conversations import Session, Turn


class MemoryConversations:
    def __init__(self) -> None:
        self._kept: dict[str, list[Turn]] = {}

    def all(self) -> list[Session]:
        sessions = [Session(name, len(turns), turns[0].time, turns[-1].time) for name, turns in self._kept.items()]
        in_order = sorted(sessions, key=lambda one: one.name)
        return sorted(in_order, key=lambda one: one.latest, reverse=True)

    def turns(self, name: str) -> list[Turn]:
        return list(self._kept.get(name, ()))

    def add(self, name: str, turn: Turn) -> int:
        turns = self._kept.setdefault(name, [])
        turns.append(replace(turn, time=datetime.now(UTC).isoformat()))
        return len(turns)

    def remove(self, name: str) -> int:
        return len(self._kept.pop(name, ()))
