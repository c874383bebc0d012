"""Tokens in a list."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from carrel.catalogs.times import earlier, now

if TYPE_CHECKING:
    from carrel.types.service import Token

_MINUTE = 60


class MemoryCredentials:
    def __init__(self) -> None:
        self._tokens: dict[str, Token] = {}
        self._lock = Lock()

    def put(self, token: Token) -> bool:
        with self._lock:
            taken = any(
                one.id == token.id or one.digest == token.digest or (one.name == token.name and not one.revoked_at)
                for one in self._tokens.values()
            )
            if not taken:
                self._tokens[token.id] = replace(token, created_at=token.created_at or now())
            return not taken

    def all(self) -> list[Token]:
        return sorted(self._tokens.values(), key=lambda one: (one.created_at, one.id))

    def by_digest(self, digest: str) -> Token | None:
        return next((one for one in self._tokens.values() if one.digest == digest), None)

    def used(self, token_id: str) -> None:
        with self._lock:
            token, at = self._tokens.get(token_id), now()
            if token and token.last_used_at < earlier(at, seconds=_MINUTE):
                self._tokens[token_id] = replace(token, last_used_at=at)

    def revoke(self, token_id: str) -> bool:
        with self._lock:
            token = self._tokens.get(token_id)
            if token is None or token.revoked_at:
                return False
            self._tokens[token_id] = replace(token, revoked_at=now())
            return True
