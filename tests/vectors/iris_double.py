"""A stand-in for the driver of IRIS, and for a server that understands the sentences Carrel says to it.

The calls are those of `iris.dbapi` 5.4; the sentences are executed by SQLite, with Python's arithmetic for vectors. As
there, texts are compared without case, and a locked table stays so until its connection ends. It keeps what it was
asked, word for word.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Self

STATEMENTS: list[tuple[str, tuple[object, ...]]] = []
"""Everything that was executed."""
SERVERS: dict[str, Path] = {}
"""By name of the host: the file that is there; where there is none, nobody answers."""


_LOCKS: defaultdict[Path, Lock] = defaultdict(Lock)
_PATIENCE = 10
"""Seconds that a locked table is waited for, as IRIS does unless it is told otherwise."""


class Error(Exception): ...


class DatabaseError(Error): ...


class OperationalError(DatabaseError): ...


class ProgrammingError(DatabaseError): ...


_WORDS = (
    (r"\bRAG\.(\w+)", r"RAG_\1"),
    (r"VECTOR\(DOUBLE, (\d+)\)", r"TEXT CHECK (length_of_vector(embedding) = \1)"),
    (r"TO_VECTOR\(\?, DOUBLE\)", "to_vector(?)"),
    (r"POSITION\(\? IN (\w+)\)", r"instr(\1, ?)"),
    (r"\b(?:LONG)?VARCHAR(?:\(\d+\))?", "TEXT COLLATE NOCASE"),
)
_TOP = re.compile(r"SELECT TOP (\d+) (.*)", re.DOTALL)


def _translated(operation: str) -> str:
    for pattern, replacement in _WORDS:
        operation = re.sub(pattern, replacement, operation)
    top = _TOP.match(operation)
    return f"SELECT {top[2]} LIMIT {top[1]}" if top else operation


def _to_vector(text: str) -> str:
    return ",".join(str(float(value)) for value in text.split(","))


def _length(text: str) -> int:
    return len(text.split(","))


def _dot(one: str, other: str) -> float:
    values = [[float(value) for value in text.split(",")] for text in (one, other)]
    if len(values[0]) != len(values[1]):
        raise ValueError("vectors of different lengths")
    return float(sum(a * b for a, b in zip(*values, strict=True)))


class Cursor:
    def __init__(self, connection: IRISConnection) -> None:
        self._connection = connection
        self._cursor = connection.opened.cursor()

    @property
    def description(self) -> Any:
        return self._cursor.description

    def execute(self, operation: str, parameters: Sequence[object] | None = None) -> int:
        STATEMENTS.append((operation, tuple(parameters or ())))
        if operation.startswith("SET TRANSACTION"):
            return 0
        self._connection.has_begun = True
        if operation.startswith("LOCK TABLE"):
            self._connection.lock()
            return 0
        try:
            self._cursor.execute(_translated(operation), parameters or [])
        except sqlite3.Error as error:
            raise ProgrammingError(f"[SQLCODE: <-1>] {error}") from error
        return self._cursor.rowcount

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[object]]) -> tuple[object, ...]:
        return tuple(self.execute(operation, parameters) for parameters in seq_of_parameters)

    def fetchall(self) -> tuple[Any, ...]:
        return tuple(self._cursor.fetchall())

    def close(self) -> None:
        self._cursor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class IRISConnection:
    def __init__(self, hostname: str) -> None:
        self._hostname = hostname
        self._waits = _LOCKS[SERVERS[hostname]]
        self._has_locked = False
        self.has_begun = False
        """Whether there is a transaction that was neither committed nor rolled back."""
        self.opened = sqlite3.connect(SERVERS[hostname], check_same_thread=False, timeout=5)
        for name, arguments, function in (
            ("to_vector", 1, _to_vector),
            ("length_of_vector", 1, _length),
            ("VECTOR_DOT_PRODUCT", 2, _dot),
        ):
            self.opened.create_function(name, arguments, function, deterministic=True)
        self._is_closed = False

    def isClosed(self) -> bool:  # noqa: N802
        return self._is_closed

    def cursor(self) -> Cursor:
        if self._hostname not in SERVERS:
            raise OperationalError("<COMMUNICATION LINK ERROR> connection lost")
        return Cursor(self)

    def lock(self) -> None:
        if not self._has_locked and not self._waits.acquire(timeout=_PATIENCE):
            raise OperationalError("[SQLCODE: <-110>] Locking conflict in filing")
        self._has_locked = True

    def commit(self) -> None:
        self.opened.commit()
        self.has_begun = False

    def rollback(self) -> None:
        self.opened.rollback()
        self.has_begun = False

    def close(self) -> None:
        self._is_closed = True
        self.opened.close()
        if self._has_locked:
            self._waits.release()
            self._has_locked = False


def connect(
    *, hostname: str, port: int, namespace: str, username: str, password: str, timeout: int, **others: object
) -> IRISConnection:
    STATEMENTS.append((f"connect {username}@{hostname}:{port}/{namespace}", (timeout, *sorted(others.items()))))
    if hostname not in SERVERS:
        raise OperationalError("<COMMUNICATION LINK ERROR> Failed to connect to server; Details: Error code: -1")
    if password == "wrong":  # noqa: S105
        raise OperationalError("Access Denied")
    return IRISConnection(hostname)


def _install() -> None:
    package, module = ModuleType("iris"), ModuleType("iris.dbapi")
    for name in ("Error", "DatabaseError", "OperationalError", "ProgrammingError", "IRISConnection", "connect"):
        setattr(module, name, globals()[name])
    package.dbapi = module  # type: ignore[attr-defined]
    sys.modules.update({"iris": package, "iris.dbapi": module})


_install()
from carrel.vectors.iris import IrisVectors, VectorSet, _Asking  # noqa: E402

__all__ = ["SERVERS", "STATEMENTS", "IRISConnection", "IrisVectors", "VectorSet", "_Asking", "make"]


def make(path: Path, *, model: str = "model-a", dim: int = 8, namespace: str = "test") -> IrisVectors:
    """A store on a server of its own, which is a file."""
    host = f"host{abs(hash(str(path)))}"
    path.parent.mkdir(parents=True, exist_ok=True)
    SERVERS[host] = path
    return IrisVectors(f"//me@{host}:1972/USER", model=model, dim=dim, namespace=namespace)
