"""Collections that replace each other under one name.

A name is an alias of `NAME_v1`; what is to replace that is built as `NAME_v2`, and the alias is then turned to it,
which is one step for whoever reads. Milvus has no other way to change a dimension. What a collection holds is said by
its properties.
"""

from __future__ import annotations

import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from carrel.databases.milvus import Gone
from carrel.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pymilvus import CollectionSchema
    from pymilvus.milvus_client import IndexParams

    from carrel.databases.milvus import MilvusServer

_PREFIX = "carrel."
_SETTLING = 10.0
"""Seconds after which every replica has what was written, as "bounded" reads are at most half as far behind."""
WRITING = 60.0
"""Seconds that a server may take to make a collection, or to load it, for one who writes."""
FEW = 4000
"""Rows that a server compares one by one, sealed or not."""
_SMALL = 1024
"""Rows of a sealed segment below which the server makes no index for it, and needs none."""


@dataclass(frozen=True)
class Version:
    """A collection, and what it says of itself."""

    name: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Columns:
    """What a collection is made of."""

    schema: CollectionSchema
    indexes: IndexParams


class Versions:
    def __init__(
        self,
        server: MilvusServer,
        name: str,
        columns: Callable[[Mapping[str, str]], Columns],
        *,
        marks: Collection[str],
    ) -> None:
        """The marks are facts by any of which a collection is known to be one of these, and not somebody else's."""
        self.server = server
        self.name = name
        self._columns = columns
        self._marks = frozenset(marks)
        self._written = ("", 0.0)

    def current(self) -> Version | None:
        """The one that the name stands for."""
        found = self.at(self.name)
        if found and (found.name == self.name or not self._is_ours(found)):
            raise StoreUnavailable(
                f"the collection {self.name!r} in {self.server.address!r} was not made by Carrel",
                hint="Name another collection after the server.",
            )
        return found

    def at(self, name: str) -> Version | None:
        try:
            said = self.server.call("describe_collection", name)
        except Gone:
            return None
        facts = said.get("properties") or {}
        held = {key.removeprefix(_PREFIX): value for key, value in facts.items() if key.startswith(_PREFIX)}
        return Version(said["collection_name"], held)

    def first(self, facts: Mapping[str, str]) -> Version:
        """The current one; the first, if there is none yet."""
        current = self.current()
        if current is None:
            # Not turned back to it where another process has since made one, and replaced it.
            self._name_first(self._made(self._numbered(1), facts))
            current = self.current()
        if current is None:
            raise Gone(f"the collection {self.name!r} in {self.server.address!r} was dropped just now")
        return current

    def beside(self, facts: Mapping[str, str]) -> Version:
        """One that is to replace the current one; what is there already counts, if it is of these facts."""
        others = self._others()
        for version in others:
            if facts.items() <= version.facts.items():
                # Whoever began it may have got no further.
                self._complete(version.name, self._columns(facts))
                return version
        made = self.another(facts)
        for version in others:
            self._drop(version.name)
        return made

    def another(self, facts: Mapping[str, str]) -> Version:
        self.current()
        names = map(self._numbered, count(max(self._numbers(), default=1) + 1))
        # Somebody else's alias is in no list.
        return self._made(next(name for name in names if self.at(name) is None), facts)

    def turn_to(self, version: Version) -> None:
        """Let the name stand for this one from now on."""
        if self.current() is None:
            self._name_first(version)
        current = self.current()
        if current and current.name != version.name:
            self.server.call("alter_alias", version.name, self.name)

    def _name_first(self, version: Version) -> None:
        try:
            self.server.call("create_alias", version.name, self.name)
        except StoreUnavailable:
            # Another process may have been quicker.
            if self.current() is None:
                raise

    def sweep(self) -> None:
        """Drop all but the current one."""
        for version in self._others():
            self._drop(version.name)

    def touch(self, version: Version, rows: int = 0) -> None:
        """Tell readers that something was written, and let the server seal it where that are many rows.

        Several writers may each count without the other: what matters is that somebody does.
        """
        unsealed = int(version.facts.get("unsealed") or 0) + rows
        if unsealed >= FEW and self._has_sealed(version, unsealed):
            unsealed = 0
        facts = {"written": secrets.token_hex(8), "unsealed": str(unsealed)}
        self.server.call("alter_collection_properties", version.name, _properties(facts))

    def seal(self, version: Version) -> None:
        """All that was written until now. A server that refuses it seals with the next write: nothing is lost by it."""
        with suppress(StoreUnavailable):
            self.server.call("flush", version.name, _async=True)
            self.server.call("alter_collection_properties", version.name, _properties({"unsealed": "0"}))

    def _has_sealed(self, version: Version, unsealed: int) -> bool:
        """Of rows that are not sealed, an index that the server makes by itself misses every tenth: so if they are a
        tenth of all. A server that was asked too often refuses it; it is asked again after the next write."""
        try:
            held = int(self.server.call("get_collection_stats", version.name)["row_count"])
            if 10 * unsealed < held:
                return False
            self.server.call("flush", version.name, _async=True, retry_on_rate_limit=False)
        except StoreUnavailable:
            return False
        return True

    def indexed(self, version: Version) -> int:
        """Rows that a search finds by the server's index, among them such as were deleted since.

        The server calls a segment indexed some seconds before its searches go by that: it is asked what they go by.
        """
        loaded = self.server.call("list_loaded_segments", version.name)
        by_index = (one for one in loaded if one.state_name == "Sealed" and (one.index_name or one.num_rows < _SMALL))
        return sum(one.num_rows for one in by_index)

    def level(self, version: Version) -> str:
        """How consistent a read must be to see all that was written.

        A "strong" read waits for the server's next tick, some 200 ms: it is needed as long as the last write is young.
        """
        stamp = f"{version.name}/{version.facts.get('written', '')}"
        known, since = self._written
        if stamp != known:
            since = time.monotonic()
            # Both at once: several threads ask.
            self._written = (stamp, since)
        return "Strong" if time.monotonic() - since < _SETTLING else "Bounded"

    def _made(self, name: str, facts: Mapping[str, str]) -> Version:
        columns = self._columns(facts)
        try:
            self._create(name, columns, _properties(facts))
        except StoreUnavailable:
            # Another process may have been quicker.
            found = self.at(name)
            if found is None:
                raise
            if found.name != name or not facts.items() <= found.facts.items():
                raise self._taken(name) from None
        self._complete(name, columns)
        return Version(name, facts)

    def _taken(self, name: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"cannot make the collection {name!r} in {self.server.address!r}: something else has that name",
            hint="Run 'carrel index build --force', which takes another; or name another collection after the server.",
        )

    def _create(self, name: str, columns: Columns, properties: Mapping[str, str]) -> None:
        self.server.call(
            "create_collection",
            name,
            schema=columns.schema,
            properties=properties,
            consistency_level="Strong",
            # With more than one, a reader could see some of a request's rows before the others.
            num_shards=1,
            timeout=WRITING,
        )

    def _complete(self, name: str, columns: Columns) -> None:
        """What a collection needs to be searched, as far as it is not there."""
        if not self.server.call("list_indexes", name):
            # Of no rows, an index is made at once; the client would look for it half a second later.
            self.server.call("create_index", name, columns.indexes, sync=False, timeout=WRITING)
        self.server.load(name, WRITING)

    def _drop(self, name: str) -> None:
        self.server.call("drop_collection", name)

    def _others(self) -> list[Version]:
        current = self.current()
        names = set(map(self._numbered, self._numbers())) - {current.name if current else ""}
        return [version for version in map(self.at, sorted(names)) if version and self._is_ours(version)]

    def _is_ours(self, version: Version) -> bool:
        return not self._marks.isdisjoint(version.facts)

    def _numbered(self, number: int) -> str:
        return f"{self.name}_v{number}"

    def _numbers(self) -> list[int]:
        pattern = re.compile(re.escape(self.name) + r"_v([1-9]\d{0,8})")
        names: list[Any] = self.server.call("list_collections")
        return [int(found[1]) for name in names if (found := pattern.fullmatch(name))]


def _properties(facts: Mapping[str, str]) -> dict[str, str]:
    return {f"{_PREFIX}{key}": value for key, value in facts.items()}
