"""An immutable run of rows on disk, opened by mapping it into memory.

vectors.f32       row i at i * dim * 4, little-endian float32
rows.npy          one record a row: where its address ends, and a code for each thing a filter may ask
addresses.utf8    all addresses, one after another
dictionary.json   what the codes stand for
codes             of large segments: the rows in a quarter of their size, see codes.py
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from carrel.files import flush, new_directory
from carrel.types import ANY_YEAR, Filter
from carrel.vectors import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from carrel.types import Chunk, Matrix
    from carrel.vectors.codes import Codes

    Mask = NDArray[np.bool_]

_CODED = ("paper", "kind", "venue", "topic", "tags")
_NUMBERS = ("year", "chapter", "section")
_RECORD = np.dtype([("address_end", "<u8"), *((name, "<u4") for name in _CODED), *((name, "<i8") for name in _NUMBERS)])
_COPY_ROWS = 8192
_CODES = "codes"
_CODED_ROWS = 4096
"""Of fewer, all are compared as quickly."""


@dataclass(frozen=True, eq=False)
class Segment:
    name: str
    vectors: Matrix
    rows: NDArray[Any]
    address_ends: NDArray[np.uint64]
    address_bytes: NDArray[np.uint8]
    dictionary: dict[str, list[Any]]
    codes: Codes | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    """Of its files."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def coded(self) -> Matrix | Codes:
        """What the nearest rows are looked for in."""
        return self.vectors if self.codes is None else self.codes

    def addresses_of(self, rows: NDArray[np.intp]) -> Iterator[str]:
        starts = np.where(rows > 0, self.address_ends[rows - 1], 0).tolist()
        for start, end in zip(starts, self.address_ends[rows].tolist(), strict=True):
            yield self.address_bytes[start:end].tobytes().decode()

    def rows_at(self, addresses: Collection[str]) -> Iterator[tuple[str, int]]:
        """The rows of those addresses that stand here."""
        for address in addresses:
            if (row := self._rows_by_address.get(address.encode("utf-8", "replace"))) is not None:
                yield address, row

    @cached_property
    def _rows_by_address(self) -> dict[bytes, int]:
        """Made by the first that asks: 30 ms for 100,000 rows."""
        spelt, ends = self.address_bytes.tobytes(), self.address_ends.tolist()
        return {spelt[start:end]: row for row, (start, end) in enumerate(zip([0, *ends], ends, strict=False))}

    def rows_of(self, paper_ids: Iterable[str]) -> Mask:
        wanted = set(paper_ids)
        return self._coded("paper", lambda paper_id: paper_id in wanted)

    def allowed(self, where: Filter) -> Mask:
        """Which rows a filter lets through."""
        mask = np.ones(len(self), dtype=bool)
        for column, accept in _tests_of_codes(where):
            mask &= self._coded(column, accept)
        if where.year_min is not None:
            mask &= self.rows["year"] >= where.year_min
        if where.year_max is not None:
            mask &= (self.rows["year"] <= where.year_max) & (self.rows["year"] > ANY_YEAR)
        if where.chapter is not None:
            mask &= self.rows["chapter"] == where.chapter
        if where.section is not None:
            mask &= self.rows["section"] == where.section
        return mask

    def _coded(self, column: str, accept: Callable[[Any], bool]) -> Mask:
        accepted = np.array([accept(value) for value in self.dictionary[column]], dtype=bool)
        mask: Mask = accepted[self.rows[column]]
        return mask


def _tests_of_codes(where: Filter) -> Iterator[tuple[str, Callable[[Any], bool]]]:
    if where.paper_ids:
        yield "paper", lambda paper_id: paper_id in where.paper_ids
    if where.kinds:
        yield "kind", lambda kind: kind in where.kinds
    if where.venue:
        yield "venue", where.allows_venue
    if where.topic:
        yield "topic", lambda topic: topic == where.topic
    if where.tags:
        yield "tags", lambda tags: not where.tags.isdisjoint(tags)


def open_segment(directory: Path, rows: int, dim: int) -> Segment:
    """Map a segment; a file that is not as long as the manifest says raises ValueError or OSError."""
    dictionary = json.loads((directory / "dictionary.json").read_bytes())
    records = np.load(directory / "rows.npy", mmap_mode="r", allow_pickle=False)
    if records.shape != (rows,) or records.dtype != _RECORD:
        raise ValueError(f"{directory.name}: rows.npy does not hold {rows} records")
    address_bytes = np.memmap(directory / "addresses.utf8", dtype=np.uint8, mode="r")
    if len(address_bytes) != records["address_end"][-1]:
        raise ValueError(f"{directory.name}: addresses.utf8 is not as long as rows.npy says")
    return Segment(
        name=directory.name,
        # As plain arrays: the class that maps files is slow to index.
        vectors=np.asarray(np.memmap(directory / "vectors.f32", dtype="<f4", mode="r", shape=(rows, dim))),
        rows=np.asarray(records),
        address_ends=np.ascontiguousarray(records["address_end"]),
        address_bytes=np.asarray(address_bytes),
        dictionary=dictionary,
        codes=codes.open_codes(directory / _CODES, rows, dim),
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows on their way to disk: a vector source, and a chunk's or another segment's facts for each."""

    vectors: Matrix
    addresses: Sequence[str]
    facts: Sequence[tuple[Any, ...]]
    """(paper, kind, venue, topic, tags, year, chapter, section)"""
    picked: NDArray[np.intp]
    """Which rows of `vectors` are meant."""


def rows_of_chunks(chunks: Sequence[Chunk], vectors: Matrix) -> Rows:
    facts = [(c.paper_id, c.kind.value, c.venue, c.topic, c.tags, c.year, c.chapter, c.section) for c in chunks]
    return Rows(vectors, [chunk.address for chunk in chunks], facts, np.arange(len(chunks)))


def rows_of_segment(segment: Segment, alive: Mask) -> Rows:
    picked = np.flatnonzero(alive)
    decode = segment.dictionary
    facts = [
        (
            *(decode[column][record[column]] for column in _CODED),
            *(int(record[c]) for c in _NUMBERS),
        )
        for record in segment.rows[picked]
    ]
    return Rows(segment.vectors, list(segment.addresses_of(picked)), facts, picked)


def write_segment(directory: Path, sources: Sequence[Rows]) -> int:
    """Write the rows of all sources as one segment; returns how many."""
    with new_directory(directory) as temporary:
        records, dictionary = _encode([fact for rows in sources for fact in rows.facts])
        addresses = [address.encode() for rows in sources for address in rows.addresses]
        records["address_end"] = np.cumsum([len(address) for address in addresses])
        with (temporary / "vectors.f32").open("wb") as file:
            for rows in sources:
                for start in range(0, len(rows.picked), _COPY_ROWS):
                    picked = rows.picked[start : start + _COPY_ROWS]
                    file.write(np.ascontiguousarray(rows.vectors[picked], dtype="<f4").tobytes())
            flush(file)
        if len(records) >= _CODED_ROWS:
            vectors = np.memmap(temporary / "vectors.f32", dtype="<f4", mode="r").reshape(len(records), -1)
            codes.write_codes(temporary / _CODES, vectors)
        # On the disk before a manifest names them: addresses that are lost in a power cut would look like others.
        with (temporary / "rows.npy").open("wb") as file:
            np.save(file, records, allow_pickle=False)
            flush(file)
        for name, content in (
            ("addresses.utf8", b"".join(addresses)),
            ("dictionary.json", json.dumps(dictionary, ensure_ascii=False).encode()),
        ):
            with (temporary / name).open("wb") as file:
                file.write(content)
                flush(file)
    return len(records)


def _encode(facts: Sequence[tuple[Any, ...]]) -> tuple[NDArray[Any], dict[str, list[Any]]]:
    records = np.zeros(len(facts), dtype=_RECORD)
    dictionary: dict[str, list[Any]] = {}
    columns: list[tuple[Any, ...]] = list(zip(*facts, strict=True))
    for name, values in zip(_CODED, columns, strict=False):
        keys = [tuple(value) for value in values] if name == "tags" else values
        codes = {value: code for code, value in enumerate(dict.fromkeys(keys))}
        records[name] = [codes[key] for key in keys]
        dictionary[name] = list(codes)
    for name, values in zip(_NUMBERS, columns[len(_CODED) :], strict=True):
        records[name] = values
    return records, dictionary
