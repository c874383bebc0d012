"""One catalog's content into another, of whatever database: all of it, compared row by row, or nothing."""

from __future__ import annotations

from contextlib import closing
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from carrel.catalogs.tables import COLUMNS, key
from carrel.databases.sessions import clean, marks
from carrel.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from carrel.databases.sessions import Database, Row, Session
    from carrel.types import Progress


def copy(source: Database, target: Database, *, replace: bool, progress: Progress) -> dict[str, int]:
    """How many rows each table has. Nobody else writes to either meanwhile."""
    with source.together(), target.together(), source.writing(*COLUMNS) as old, target.writing(*COLUMNS) as new:
        _clear(new, replace=replace)
        counts = {table: _count(old, table) for table in COLUMNS}
        total, done = sum(counts.values()), 0
        for table, count in counts.items():
            _fill(old, new, table)
            _compare(old, new, table)
            done += count
            progress("Copying and comparing", done, total)
    return counts


def check_empty(target: Database) -> None:
    """Refuse a catalog that holds something already."""
    with target.reading() as session:
        _check_empty(_held(session))


def same(source: Database, target: Database) -> dict[str, int] | None:
    """How many rows each table has, if both have the same ones."""
    with source.reading() as old, target.reading() as new:
        if any(_difference(old, new, table) is not None for table in COLUMNS):
            return None
        return {table: _count(old, table) for table in COLUMNS}


def _clear(new: Session, *, replace: bool) -> None:
    held = _held(new)
    if not replace:
        _check_empty(held)
    for table in reversed(held):
        new.write(f"DELETE FROM {table}", [()])


def _held(session: Session) -> dict[str, int]:
    """How many rows the tables have that have any."""
    return {table: count for table in COLUMNS if (count := _count(session, table))}


def _check_empty(held: Mapping[str, int]) -> None:
    if held:
        told = ", ".join(f"{table} {count:,}" for table, count in held.items())
        raise InvalidInput(
            f"there is another catalog already, with rows in {told}", hint="'--force' replaces it with this one."
        )


def _count(session: Session, table: str) -> int:
    return int(session.rows(f"SELECT count(*) FROM {table}")[0][0])


def _fill(old: Session, new: Session, table: str) -> None:
    columns = COLUMNS[table]
    put = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks(columns)})"
    with closing(_stream(old, table)) as batches:
        for rows in batches:
            new.write(put, rows)


def _compare(old: Session, new: Session, table: str) -> None:
    if (row := _difference(old, new, table)) is not None:
        named = ", ".join(map(str, row[: len(key(table))]))
        raise StoreUnavailable(
            f"of {table}, {named} is not the same in both", hint="Nothing was copied; run the same command again."
        )


def _difference(old: Session, new: Session, table: str) -> Row | None:
    """The first row that one of them has and the other has not, or not so."""
    with closing(_stream(old, table)) as before, closing(_stream(new, table)) as after:
        for was, now in zip_longest(chain.from_iterable(before), chain.from_iterable(after)):
            if was is None or now is None or tuple(clean(was)) != now:
                found: Row = was or now
                return found
    return None


def _stream(session: Session, table: str) -> Generator[list[Row]]:
    yield from session.stream(f"SELECT {', '.join(COLUMNS[table])} FROM {table} ORDER BY {', '.join(key(table))}")
