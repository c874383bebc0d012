"""Rows of papers in a collection that another may replace at any moment."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from carrel.databases.milvus import PATIENCE, Gone, Late, NotLoaded, both, one_of, quoted
from carrel.databases.milvus_versions import WRITING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from carrel.databases.milvus_versions import Version, Versions
    from carrel.types import Hit

Told = TypeVar("Told")
MOST = 16_384
"""Rows that Milvus finds at most."""
AT_ONCE = 10_000
"""Values that one expression names at most."""
_MORE = 20
"""Rows that are fetched beyond those asked for: those that follow may have the same score."""
_BY_KEY = {"iterator": "True", "reduce_stop_for_best": "True"}
"""Asks for the first rows by their key, and not for any."""
_TRIES = 4


class Found(NamedTuple):
    row: dict[str, Any]
    score: float
    """As the server has it."""


class Rows:
    def __init__(self, versions: Versions, look: Callable[[], Version | None]) -> None:
        self.server = versions.server
        self._versions = versions
        self._look = look

    def reading(self, ask: Callable[[Version], Told], nothing: Told) -> Told:
        """What comes of asking the collection; nothing if there is none yet."""

        def asking() -> Told:
            version = self._look()
            return nothing if version is None else ask(version)

        return self.insisting(asking)

    def insisting(self, attempt: Callable[[], Told]) -> Told:
        """Once more where another process has put another collection in this one's place meanwhile."""
        for _ in range(_TRIES):
            with suppress(Gone):
                return attempt()
        return attempt()

    def put(self, version: Version, rows: Sequence[dict[str, Any]], size: int) -> None:
        """Replace all that their papers had, so many rows in one request."""
        for some in _whole_papers(rows, size):
            before = self.addresses_of(version, {row["paper_id"] for row in some})
            self.server.call("upsert", version.name, some, timeout=WRITING)
            self._remove(version, before - {row["chunk_id"] for row in some})
        self._versions.touch(version, len(rows))

    def forget(self, version: Version, paper_ids: Collection[str]) -> None:
        for some in groups(sorted(paper_ids), AT_ONCE):
            self._remove(version, self.addresses_of(version, some))
        self._versions.touch(version)

    def addresses_of(self, version: Version, paper_ids: Iterable[str]) -> set[str]:
        return {row["chunk_id"] for row in self.latest(version, one_of("paper_id", paper_ids), ["chunk_id"])}

    def latest(self, version: Version, said: str, fields: Sequence[str]) -> list[Any]:
        """As one asks who is about to write: all that was written until now, and however long it takes."""
        options = {"filter": said, "output_fields": list(fields), "consistency_level": "Strong"}
        return list(self._asked(version, "query", options, patience=WRITING))

    def _remove(self, version: Version, addresses: Collection[str]) -> None:
        for some in groups(sorted(addresses), AT_ONCE):
            self.server.call("delete", version.name, filter=one_of("chunk_id", some), timeout=WRITING)

    def addresses(self, version: Version) -> set[str]:
        return {row["chunk_id"] for page in self.pages(version, "", [], AT_ONCE) for row in page}

    def count(self, version: Version, said: str = "", **options: object) -> int:
        return int(self.query(version, said, ["count(*)"], **options)[0]["count(*)"])

    def query(self, version: Version, said: str, fields: Sequence[str], **options: object) -> list[Any]:
        level = self._versions.level(version)
        asked = {"filter": said, "output_fields": list(fields), "consistency_level": level, **options}
        return list(self._asked(version, "query", asked))

    def pages(self, version: Version, said: str, fields: Sequence[str], size: int) -> Iterator[list[Any]]:
        """Every row that matches, so many at a time, by rising address.

        The client's own iterator puts the last address into its next question without escaping it.
        """
        options = {"output_fields": sorted({"chunk_id", *fields}), "limit": size, **_BY_KEY}
        after = said
        while rows := list(self._asked(version, "query", {"filter": after, **options})):
            yield rows
            after = both(said, f"chunk_id > {quoted(max(row['chunk_id'] for row in rows))}")

    def search(
        self, version: Version, likes: Sequence[object], said: str, limit: int, **options: object
    ) -> list[list[Found]]:
        """The rows that are most like each of these."""
        level = self._versions.level(version)
        asked = {"filter": said, "limit": limit, "consistency_level": level, **options}
        found = self._asked(version, "search", asked, list(likes))
        return [[Found(hit["entity"], hit["distance"]) for hit in hits] for hits in found]

    def _asked(
        self, version: Version, verb: str, options: Mapping[str, object], *values: object, patience: float = PATIENCE
    ) -> Any:  # noqa: ANN401
        try:
            return self.server.call(verb, version.name, *values, **options)
        except NotLoaded:
            pass
        except Late:
            # Of a collection that was released just now, some servers say nothing at all.
            if patience == PATIENCE and self.server.has_loaded(version.name):
                raise
        self.server.load(version.name, patience)
        return self.server.call(verb, version.name, *values, timeout=patience, **options)


class Best(NamedTuple):
    hits: list[Hit]
    is_all: bool
    """Whether no hit can be missing: the server finds only so many rows at a time."""


def best(
    fetch: Callable[[int], list[Found]],
    judge: Callable[[Sequence[Found]], list[Hit]],
    *,
    limit: int,
    most: int,
    tie: float,
) -> Best:
    """The best hits of those that are found, as many more of which are fetched as it takes.

    They suffice if the last that was fetched is behind the last that is wanted by more than scores may be wrong.
    """
    fetched = min(limit + _MORE, most)
    while True:
        found = fetch(fetched)
        hits = judge(found)
        enough = len(hits) >= limit and hits[limit - 1].score - found[-1].score > tie
        if enough or len(found) < fetched or fetched == most:
            return Best(hits[:limit], enough or len(found) < fetched)
        fetched = min(4 * fetched, most)


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.address))


def groups(values: Sequence[str], size: int) -> list[Sequence[str]]:
    return [values[first : first + size] for first in range(0, len(values), size)]


def _whole_papers(rows: Sequence[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    """So many rows at a time, or those of one paper if it alone has more."""
    group: list[dict[str, Any]] = []
    ordered = sorted(rows, key=lambda row: str(row["paper_id"]))
    for _, of_paper in groupby(ordered, key=lambda row: row["paper_id"]):
        paper = list(of_paper)
        if group and len(group) + len(paper) > size:
            yield group
            group = []
        group += paper
    if group:
        yield group
