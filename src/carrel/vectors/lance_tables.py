"""Where Lance keeps its tables, which of them is searched, and what its errors mean.

A pointer is a table of one row that names another one. To replace that row is one commit, in a folder and on an object
store alike; who reads looks at the pointer's version first, and so has the old table or the new one.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

# Before the import that reads it: what Lance would say on stderr of empty partitions is nobody's concern.
os.environ.setdefault("LANCEDB_LOG", "error")

import lancedb
import pyarrow as pa

from carrel.errors import ReadOnlyLibrary, StorageFull, StoreUnavailable
from carrel.files import storage_error, writing
from carrel.locking import held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lancedb.db import DBConnection
    from lancedb.table import Table

    from carrel.errors import CarrelError

LanceError = (RuntimeError, ValueError, OSError, pa.ArrowException)
"""What Lance raises. It has no errors of its own: what is meant stands in the message."""
_NO_TABLE = re.compile(r"^Table '.*' was not found")
_CROSSED = re.compile(r"conflict|concurrent", re.IGNORECASE)
"""Others committed first."""
_SWEPT = re.compile(r"not found|does not exist|no such file", re.IGNORECASE)
"""Others swept what nobody needed any more; or it is lost."""
_SYSTEM = re.compile(r"os error (\d+)")
_SERVED = {"connect_timeout": "1500ms", "timeout": "10s", "client_max_retries": "2", "client_retry_timeout": "5"}
"""An object store that is not there is not waited for."""
_POINTER = pa.schema([("table", pa.string()), ("model", pa.string()), ("dim", pa.int64())])
_PREFIX = "chunks_"
_KEPT = timedelta(minutes=1)
"""How long old rows of a pointer stay readable."""
_TURN = 3600.0
"""Seconds to wait for another's turn to write, in which it may have to make the index of millions of rows."""
_LONGEST = 300
_ABANDONED = 3600
"""Seconds after which a table that no pointer names was left behind, and is not being made."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a pointer says."""

    table: str
    model: str
    dim: int


class Place:
    """`lance` is a folder of the library; `lance:URI` a bucket or another folder, in which each library has its own."""

    def __init__(self, directory: Path, argument: str, namespace: str) -> None:
        self.is_served = "://" in argument
        folder = Path(argument) / namespace if argument else directory
        self.address = f"{argument.rstrip('/')}/{namespace}" if self.is_served else str(folder)
        self._opened: DBConnection | None = None

    def connection(self) -> DBConnection:
        if self._opened is None:
            self._opened = lancedb.connect(
                self.address,
                read_consistency_interval=timedelta(0),
                storage_options=dict(_SERVED) if self.is_served else None,
            )
        return self._opened

    def find(self, name: str) -> Table | None:
        # To look for a table would make the folder.
        if not self.is_served and not Path(self.address).exists():
            return None
        try:
            return self.connection().open_table(name)
        except (ValueError, FileNotFoundError) as error:
            if _NO_TABLE.search(str(error)):
                return None
            raise

    @contextmanager
    def turn(self) -> Iterator[None]:
        """In a folder one writes at a time. Elsewhere there are no locks, and who crosses another begins anew."""
        if self.is_served:
            yield
            return
        folder = Path(self.address)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with held(folder / "writing.lock", timeout=_TURN):
            yield

    def make(self, fields: pa.Schema) -> Table:
        """A table that nothing names yet."""
        return self.connection().create_table(f"{_PREFIX}{int(time.time()):011d}_{secrets.token_hex(4)}", schema=fields)

    def drop(self, name: str) -> None:
        """Others may have done so, or may still be reading it: they open another, then."""
        with suppress(*LanceError):
            self.connection().drop_table(name)

    def sweep(self, named: set[str]) -> None:
        """Drop what no pointer names, unless it was made just now and will be named soon."""
        with suppress(*LanceError):
            for name in self.connection().list_tables().tables:
                if name.startswith(_PREFIX) and name not in named and _age(name) > _ABANDONED:
                    self.drop(name)

    def close(self) -> None:
        self._opened = None

    @contextmanager
    def reporting(self) -> Iterator[None]:
        try:
            yield
        except LanceError as error:
            raise self._explained(error) from error

    def _explained(self, error: BaseException) -> CarrelError:
        if self.is_served:
            return StoreUnavailable(
                f"cannot use the vectors on {self.address!r}: {_reason(error)}",
                hint="See that it can be reached, and that the environment has what it asks for, such as "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; or set vectors = 'flat'.",
            )
        number = int(found[1]) if (found := _SYSTEM.search(str(error))) else errno.ENOENT
        refused = storage_error(OSError(number, os.strerror(number)), Path(self.address))
        if isinstance(refused, StorageFull | ReadOnlyLibrary):
            return refused
        if number != errno.ENOENT:
            return StoreUnavailable(
                f"the vector index in {self.address!r} cannot be used: {os.strerror(number)}",
                hint="Run `carrel doctor`.",
            )
        return StoreUnavailable(
            f"the vector index in {self.address!r} cannot be read: {_reason(error)}",
            hint="It is derived: delete that directory and run 'carrel index build'.",
        )


class Pointer:
    def __init__(self, place: Place, name: str) -> None:
        self._place = place
        self._name = name
        self._table: Table | None = None
        self._known: tuple[int, Named | None] = (0, None)

    def read(self) -> Named | None:
        table = self._found()
        if table is None:
            return None
        version, known = table.version, self._known
        if version != known[0]:
            self._known = known = (version, _named(table.to_arrow()))
        return known[1]

    def write(self, named: Named | None) -> None:
        """In one step, wherever it pointed to."""
        table = self._found()
        if table is None:
            self._place.connection().create_table(self._name, _row(named))
        else:
            table.add(_row(named), mode="overwrite")
            with suppress(*LanceError):
                table.optimize(cleanup_older_than=_KEPT)

    def begin(self, named: Named) -> None:
        """Where it points nowhere yet; of several that would be the first one is, the others fail or do nothing."""
        if self._found() is None:
            self._place.connection().create_table(self._name, _row(named))
        elif self.read() is None:
            self.write(named)

    def _found(self) -> Table | None:
        table = self._table
        if table is None:
            self._table = table = self._place.find(self._name)
        return table

    def forget(self) -> None:
        """What is known of it, so that it is looked at anew."""
        self._table = None
        self._known = (0, None)


def patience(error: BaseException) -> float:
    """For how many seconds to begin anew may help."""
    if _CROSSED.search(str(error)):
        return 30.0
    return 3.0 if _SWEPT.search(str(error)) else 0.0


def is_there_already(error: BaseException) -> bool:
    return "already exists" in str(error)


def _row(named: Named | None) -> pa.Table:
    if named is None:
        return _POINTER.empty_table()
    return pa.table({"table": [named.table], "model": [named.model], "dim": [named.dim]}).cast(_POINTER)


def _named(content: pa.Table) -> Named | None:
    found = content.to_pylist()
    return Named(**found[0]) if found else None


def _age(name: str) -> float:
    made = name.removeprefix(_PREFIX).partition("_")[0]
    return time.time() - int(made) if made.isdigit() else 0.0


def _reason(error: BaseException) -> str:
    """In one line: what is at the bottom of it, without where in Lance's own source it was seen."""
    told = " ".join(str(error).split()) or type(error).__name__
    innermost = re.findall(r'message: "([^"]+)"|<Message>([^<]+)<|(status: \d{3})', told)
    if innermost:
        return "".join(innermost[-1])
    return re.sub(r"^lance error: |LanceError\(\w+\): |,? ?/\S*\.rs:\d+:\d+", "", told)[:_LONGEST]
