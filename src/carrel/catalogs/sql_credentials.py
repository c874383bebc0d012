"""Who may use the service, in the catalog's database."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING

from carrel.catalogs.times import earlier, now
from carrel.databases.sessions import marks
from carrel.errors import CarrelError
from carrel.types.service import Scope, Token

if TYPE_CHECKING:
    from carrel.databases.sessions import Database, Row

_COLUMNS = tuple(field.name for field in fields(Token))
_PUT = f"INSERT INTO tokens ({', '.join(_COLUMNS)}) VALUES ({marks(_COLUMNS)}) ON CONFLICT DO NOTHING"
_TOKENS = f"SELECT {', '.join(_COLUMNS)} FROM tokens"
_STALE = "SELECT 1 FROM tokens WHERE id = ? AND last_used_at < ?"
_USED = "UPDATE tokens SET last_used_at = ? WHERE id = ? AND last_used_at < ?"
_MINUTE = 60


class SqlCredentials:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, token: Token) -> bool:
        with self._database.writing() as session:
            made = replace(token, created_at=token.created_at or session.now())
            return session.write(_PUT, [astuple(made)]) > 0

    def all(self) -> list[Token]:
        return [_token(row) for row in self._database.rows(f"{_TOKENS} ORDER BY created_at, id")]

    def by_digest(self, digest: str) -> Token | None:
        return next(map(_token, self._database.rows(f"{_TOKENS} WHERE digest = ?", [digest])), None)

    def used(self, token_id: str) -> None:
        if not self._database.rows(_STALE, [token_id, earlier(now(), seconds=_MINUTE)]):
            return
        # A courtesy: who may ask is not turned away because somebody writes, or nobody can.
        with suppress(CarrelError), self._database.writing(hurried=True) as session:
            at = session.now()
            session.write(_USED, [[at, token_id, earlier(at, seconds=_MINUTE)]])

    def revoke(self, token_id: str) -> bool:
        with self._database.writing() as session:
            sql = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at = ''"
            return session.write(sql, [[session.now(), token_id]]) > 0


def _token(row: Row) -> Token:
    values = dict(zip(_COLUMNS, row, strict=True))
    return Token(**{**values, "scope": Scope(values["scope"])})
