"""Exact search over memory-mapped segments: the embedded default, and the oracle of every other store.

A manifest names the segments and, for each, the file that marks its dead rows. Segments and marks are never
changed once written; a write adds files and then replaces the manifest, so a reader in another process holds
either the old state or the new one. Small segments are merged as they gather, like the digits of a counter, so
that n single puts leave about log n segments and every row is rewritten about log n times.
"""

from __future__ import annotations

import json
import secrets
import shutil
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from carrel.errors import StoreUnavailable
from carrel.files import cut_short, link_or_copy, stamp_of, write_atomically, writing
from carrel.types import EVERYTHING, Filter, Hit
from carrel.vectors import check_model, check_query, check_rows
from carrel.vectors.comparing import bound_all
from carrel.vectors.flat_segment import (
    Segment,
    open_segment,
    rows_of_chunks,
    rows_of_segment,
    write_segment,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from carrel.types import Chunk, Matrix, Vector
    from carrel.vectors import VectorStore
    from carrel.vectors.flat_segment import Mask, Rows

    Picked = NDArray[np.intp]
    """Rows of a segment."""

_FORMAT = 1
_MANIFEST = "manifest.json"
_TIE = 1e-6
"""Scores nearer than this are one score: a matrix product may differ in its last bits by row position."""
_FARTHEST = -1.1
"""Less than any cosine of unit vectors, rounding included, and more than that of a row left out."""
_GROUP = 32
_REOPENS = 5
_NONE = (0, 0, 0)
"""Stamp of a manifest that is not there."""


@dataclass(frozen=True, eq=False)
class _Live:
    """A segment with the marks of its rows that still count."""

    segment: Segment
    alive: Mask
    dead_file: str | None

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.alive))


class FlatVectors:
    def __init__(self, directory: Path, *, model: str, dim: int) -> None:
        self._directory = directory
        self._wanted = (model, dim)
        self._stamp: tuple[int, int, int] | None = None
        self._loading = Lock()
        self._live: list[_Live] = []
        self.model, self.dim = model, dim
        # What is damaged is told to the first that asks: there is more in a library than its vectors.
        with suppress(StoreUnavailable):
            self._refresh()

    def put(self, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        if not chunks:
            return
        self._refresh()
        check_model(self, self._wanted)
        check_rows(chunks, vectors, self.dim)
        full, sparse = _apart(self._without({chunk.paper_id for chunk in chunks}))
        merged = _merge_from(full, len(chunks) + sum(live.count for live in sparse))
        sources = [rows_of_segment(live.segment, live.alive) for live in (*sparse, *full[merged:])]
        added = self._write([*sources, rows_of_chunks(chunks, vectors)])
        self._commit(full[:merged], added=added)

    def filling(self) -> AbstractContextManager[None]:
        return nullcontext()

    def delete(self, paper_ids: Collection[str]) -> None:
        self._refresh()
        kept = self._without(set(paper_ids))
        if sum(live.count for live in kept) == self.count():
            return
        full, sparse = _apart(kept)
        added = self._write([rows_of_segment(live.segment, live.alive) for live in sparse]) if sparse else None
        self._commit(full, added=added)

    def search(self, vector: Vector, *, limit: int, where: Filter = EVERYTHING) -> list[Hit]:
        self._refresh()
        check_query(vector, limit, self)
        # Taken once: another thread may refresh in between.
        every = self._live
        nearest = _near_enough(every, _nearest(every, vector, where, limit), vector, limit)
        hits: list[Hit] = []
        for live, (rows, similarities) in zip(every, nearest, strict=True):
            scores = similarities.astype(np.float64).clip(-1.0, 1.0).round(6).tolist()
            hits += map(Hit, live.segment.addresses_of(rows), scores)
        return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]

    def get(self, address: str) -> Vector | None:
        return self.many([address]).get(address)

    def many(self, addresses: Collection[str]) -> dict[str, Vector]:
        self._refresh()
        found: dict[str, Vector] = {}
        for live in self._live:
            rows = {address: row for address, row in live.segment.rows_at(addresses) if live.alive[row]}
            found.update(zip(rows, live.segment.vectors[list(rows.values())], strict=True))
        return found

    def count(self) -> int:
        self._refresh()
        return sum(live.count for live in self._live)

    def unindexed(self) -> int:
        return 0

    def addresses(self) -> set[str]:
        self._refresh()
        return {address for live in self._live for address in live.segment.addresses_of(np.flatnonzero(live.alive))}

    def clear(self, *, model: str, dim: int) -> None:
        self._commit([], added=None, named=(model, dim))

    def beside(self, *, model: str, dim: int) -> VectorStore:
        made = FlatVectors(self._beside, model=model, dim=dim)
        if (made.model, made.dim) != (model, dim):
            made.clear(model=model, dim=dim)
        return made

    def adopt(self, other: VectorStore) -> None:
        """The segments are here, too, before the manifest names them, and there until it does."""
        if not isinstance(other, FlatVectors) or other._directory != self._beside:
            raise ValueError("only what was made beside this store can be adopted")
        other._refresh()
        with writing(self._directory):
            for live in other._live:
                for name in filter(None, (live.segment.name, live.dead_file)):
                    link_or_copy(self._beside / name, self._directory / name)
        self._commit(other._live, added=None, named=(other.model, other.dim))
        other.close()
        shutil.rmtree(self._beside, ignore_errors=True)

    @property
    def _beside(self) -> Path:
        return self._directory.with_name(f"{self._directory.name}-beside")

    def close(self) -> None:
        with self._loading:
            self._stamp = None
            self._live = []

    def _without(self, paper_ids: set[str]) -> list[_Live]:
        """The live rows, those of some papers marked dead; segments left empty are dropped."""
        kept: list[_Live] = []
        for live in self._live:
            alive = live.alive & ~live.segment.rows_of(paper_ids)
            unchanged = np.array_equal(alive, live.alive)
            if alive.any():
                kept.append(_Live(live.segment, alive, live.dead_file if unchanged else None))
        return kept

    def _write(self, sources: Sequence[Rows]) -> tuple[str, int]:
        name = f"segment-{secrets.token_hex(8)}"
        return name, write_segment(self._directory / name, sources)

    def _commit(
        self, kept: Sequence[_Live], added: tuple[str, int] | None, named: tuple[str, int] | None = None
    ) -> None:
        """Write what is new, then the manifest that makes it count, then sweep what nothing names any more.

        Another model is `named`, and is this store's once the manifest says so.
        """
        with writing(self._directory):
            self._directory.mkdir(parents=True, exist_ok=True)
        segments = [
            {"name": live.segment.name, "rows": len(live.segment), "dead": live.dead_file or self._mark(live)}
            for live in kept
        ]
        if added:
            segments.append({"name": added[0], "rows": added[1], "dead": None})
        model, dim = named or (self.model, self.dim)
        manifest = {"format": _FORMAT, "model": model, "dim": dim, "segments": segments}
        write_atomically(self._directory / _MANIFEST, json.dumps(manifest, indent=1).encode())
        self._wanted = named or self._wanted
        self._refresh()
        self._sweep({str(entry[key]) for entry in segments for key in ("name", "dead")})

    def _mark(self, live: _Live) -> str | None:
        if live.alive.all():
            return None
        name = f"dead-{secrets.token_hex(8)}"
        write_atomically(self._directory / name, np.packbits(~live.alive).tobytes())
        return name

    def _sweep(self, named: set[str]) -> None:
        for path in self._directory.iterdir():
            if path.name in named or path.name == _MANIFEST:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def _refresh(self) -> None:
        """Follow the manifest when another process has replaced it."""
        if self._stamp_now() == self._stamp:
            self._check_whole()
            return
        # One thread at a time: what another read earlier must not replace what is newer.
        with self._loading:
            self._reload()

    def _stamp_now(self) -> tuple[int, int, int]:
        return stamp_of(self._directory / _MANIFEST) or _NONE

    def _reload(self) -> None:
        for attempt in range(1, _REOPENS + 1):
            stamp = self._stamp_now()
            if stamp == self._stamp:
                return
            try:
                self._load()
            except FileNotFoundError as error:
                # A writer swept a segment between our reading the manifest and opening it: read again.
                if attempt == _REOPENS:
                    raise self._damaged(error) from error
            except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
                raise self._damaged(error) from error
            else:
                self._stamp = stamp
                return

    def _check_whole(self) -> None:
        for live in self._live:
            if name := cut_short(self._directory / live.segment.name, live.segment.sizes):
                raise self._damaged(ValueError(f"{live.segment.name}/{name} was cut short"))

    def _load(self) -> None:
        path = self._directory / _MANIFEST
        if not path.exists():
            self._live = []
            self.model, self.dim = self._wanted
            return
        manifest = json.loads(path.read_bytes())
        if manifest["format"] != _FORMAT:
            raise ValueError(f"its format is {manifest['format']}, this program reads {_FORMAT}")
        self._live = [
            self._open(entry["name"], entry["rows"], entry["dead"], manifest["dim"]) for entry in manifest["segments"]
        ]
        self.model, self.dim = manifest["model"], manifest["dim"]

    def _open(self, name: str, rows: int, dead_file: str | None, dim: int) -> _Live:
        known = next((live for live in self._live if live.segment.name == name), None)
        segment = known.segment if known else open_segment(self._directory / name, rows, dim)
        alive = np.ones(rows, dtype=bool)
        if dead_file:
            bits = np.frombuffer((self._directory / dead_file).read_bytes(), dtype=np.uint8)
            if len(bits) != -(-rows // 8):
                raise ValueError(f"{dead_file} does not mark {rows} rows")
            alive = ~np.unpackbits(bits, count=rows).astype(bool)
        return _Live(segment, alive, dead_file)

    def _damaged(self, error: Exception) -> StoreUnavailable:
        return StoreUnavailable(
            f"the vector index in {str(self._directory)!r} cannot be read: {error}",
            hint="It is derived: delete that directory and run 'carrel index build'.",
        )


def _apart(kept: Sequence[_Live]) -> tuple[list[_Live], list[_Live]]:
    """Those that are at least half alive, and those that are better written anew."""
    full = [live for live in kept if live.count * 2 >= len(live.segment)]
    return full, [live for live in kept if live.count * 2 < len(live.segment)]


def _merge_from(kept: Sequence[_Live], incoming: int) -> int:
    """Index of the first segment to merge with the incoming rows: no segment is followed by as much as itself."""
    first, gathered = len(kept), incoming
    while first and kept[first - 1].count <= gathered:
        first -= 1
        gathered += kept[first].count
    return first


def _nearest(every: Sequence[_Live], vector: Vector, where: Filter, limit: int) -> list[Picked]:
    """The rows of each segment that may be among the nearest."""
    least, most = ([np.empty(len(live.segment), dtype=np.float32) for live in every] for _ in range(2))
    bound_all([(live.segment.coded, low, high) for live, low, high in zip(every, least, most, strict=True)], vector)
    for live, low, high in zip(every, least, most, strict=True):
        allowed = live.alive if where == EVERYTHING else live.alive & live.segment.allowed(where)
        if not allowed.all():
            # Nothing is as far away as a row that is dead or not allowed.
            low[~allowed] = high[~allowed] = -np.inf
    floor = max(_FARTHEST, _at_most_the_best(least, limit) - _TIE)
    return [np.flatnonzero(bound >= floor) for bound in most]


def _near_enough(
    every: Sequence[_Live], picked: Sequence[Picked], vector: Vector, limit: int
) -> list[tuple[Picked, Vector]]:
    """Those of the picked rows that are, ties included, and how near they are."""
    exact = [np.vecdot(live.segment.vectors[rows], vector) for live, rows in zip(every, picked, strict=True)]
    floor = _at_most_the_best(exact, limit) - _TIE
    return [(rows[near >= floor], near[near >= floor]) for rows, near in zip(picked, exact, strict=True)]


def _at_most_the_best(found: Sequence[Vector], limit: int) -> float:
    """A number that at least so many are not below, and hardly more."""
    everything = np.concatenate(found) if found else np.empty(0, dtype=np.float32)
    if len(everything) <= limit:
        return -np.inf
    groups = len(everything) // _GROUP
    if groups > _GROUP * limit:
        # The best of each group first: where so many groups have one, so many rows there are.
        everything = everything[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
    return float(np.partition(everything, -limit)[-limit])
