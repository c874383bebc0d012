"""What keeps a Lance table small and quick: dead rows, small files, old versions, and indexes.

Each commit adds files and a version. Upkeep is due whenever the version passes a multiple of some number, whoever wrote
it: that survives restarts, and with several writers somebody always passes it.
"""

from __future__ import annotations

import logging
import secrets
import time
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from carrel.telemetry import log
from carrel.vectors.lance_rows import LIVE, VECTOR, quoted
from carrel.vectors.lance_tables import LanceError, patience

if TYPE_CHECKING:
    from lancedb.table import Table

INDEXED_FROM = 10_000
"""Rows from which on there are indexes: fewer are compared one by one in the time that a search takes anyway."""
_COMMITS = 128
_BEHIND = 32
"""One in so many rows may be in no index yet."""
_KEPT, _KEPT_ELSEWHERE = 0.5, 600.0
"""Seconds that an old version stays readable, in a folder and on an object store; who reads longer begins anew.

Who writes to an object store, beside others, must not take longer: of two that cross each other Lance finds out by the
versions in between, and sees nothing where they were swept.
"""
_TURNS = 3
_STAGED = 3600
"""Seconds after which rows that are still coming belong to a put that was interrupted."""
_A_PARTITION = 8192
"""Rows of it, as Lance itself has it: it divides those that have grown."""
_SEGMENTS = 24
"""Of an index, to which Lance adds one each time and keeps the rows of each apart: then it is made anew, of one."""
EVERY = 2**31 - 1
"""More partitions than there are: Lance looks into all of them. Fewer miss some and save a third (docs/lance.md)."""
_INDEX = f"{VECTOR}_idx"


def stamp() -> str:
    """Of a put that begins now; in the order of time."""
    return f"{int(time.time()):011d}-{secrets.token_hex(8)}"


def is_due(table: Table, before: int) -> bool:
    """Whether to tidy up after the commits since a version, or for all the rows that no index has."""
    if before // _COMMITS != table.version // _COMMITS:
        return True
    index = table.index_stats(_INDEX)
    if index is None:
        return table.count_rows() >= INDEXED_FROM
    return index.num_unindexed_rows >= max(INDEXED_FROM, index.num_indexed_rows // _BEHIND)


def tidy(table: Table, *, is_served: bool) -> None:
    """Whatever comes in between, it will be done next time: what was put is there already.

    Each step by itself: where no index can be made files are joined and old ones swept, all the same.
    """
    for step in (_bury, _index, partial(_optimize, is_served=is_served)):
        try:
            step(table)
        except LanceError as error:
            level = logging.INFO if patience(error) else logging.WARNING
            log("vectors", level, "not tidied", table=table.name, reason=str(error))


def _optimize(table: Table, *, is_served: bool) -> None:
    """Until there is nothing to do: what was just written, or written anew, would be there twice until next time."""
    kept = _KEPT_ELSEWHERE if is_served else _KEPT
    for _ in range(_TURNS):
        before = table.version
        table.optimize(cleanup_older_than=timedelta(seconds=kept))
        if is_served or (table.version == before and len(table.list_versions()) == 1):
            return
        time.sleep(kept)


def _bury(table: Table) -> None:
    interrupted = quoted(f"{int(time.time()) - _STAGED:011d}")
    dead = f"NOT {LIVE} AND (NOT coming OR put < {interrupted})"
    if table.count_rows(dead):
        table.delete(dead)


def _index(table: Table) -> None:
    from lancedb.index import Bitmap, BTree, IvfSq, LabelList

    rows = table.count_rows()
    if rows < INDEXED_FROM:
        return
    kinds: dict[str, BTree | Bitmap | LabelList | IvfSq] = {
        "chunk_id": BTree(),
        "paper_id": BTree(),
        "year": BTree(),
        "kind": Bitmap(),
        "topic": Bitmap(),
        "chapter_idx": Bitmap(),
        "section_idx": Bitmap(),
        LIVE: Bitmap(),
        "tags": LabelList(),
        VECTOR: IvfSq(distance_type="cosine", num_partitions=max(1, rows // _A_PARTITION)),
    }
    good = {index.name for index in table.list_indices() if (index.num_segments or 0) < _SEGMENTS}
    for column, kind in kinds.items():
        if f"{column}_idx" not in good:
            table.create_index(column, config=kind, name=f"{column}_idx", replace=True)


def is_indexed(table: Table) -> bool:
    return any(index.name == _INDEX for index in table.list_indices())
