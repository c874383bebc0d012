"""Pages of a list that may change between them.

A cursor names what was shown last: the next page begins after that, whatever came in before it meanwhile. If it has
left the list, the next page begins where it stood. Rankings, in which everything may move, have pages of their own kind
(`carrel.search.paging`).
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, urlsafe_b64encode
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")

_CHECK = 8
"""Bytes."""
_LARGEST = 10**9
_START_OVER = "Leave the cursor out to start from the beginning."


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    items: tuple[Item, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reader is in a list."""

    asked: str
    """Digest of what the list is of."""
    last: str = ""
    """The name of what was shown last; empty at the beginning."""
    shown: int = 0

    def page(self, items: Sequence[Item], name: Callable[[Item], str], *, limit: int, offset: int = 0) -> Page[Item]:
        """So many of the items from here on, or all for 0; of a long list, `shown + limit + 1` suffice.

        An `offset` is a place by itself, for who is at none yet.
        """
        start = offset or self._start([name(item) for item in items])
        end = start + limit if limit else len(items)
        taken = tuple(items[start:end])
        return Page(taken, self._sealed(name(taken[-1]), start + len(taken)) if taken and end < len(items) else None)

    def _start(self, names: list[str]) -> int:
        if not self.shown:
            return 0
        return names.index(self.last) + 1 if self.last in names else self.shown - 1

    def _sealed(self, last: str, shown: int) -> str:
        spelt = json.dumps([last, shown]).encode()
        return urlsafe_b64encode(_check(self.asked, spelt) + spelt).decode().rstrip("=")


def opened(cursor: str, **asked: Any) -> Place:  # noqa: ANN401
    """The place that a cursor names in the list that is asked for; its beginning for an empty one."""
    spelt = json.dumps(asked, sort_keys=True, default=_plain)
    of = hashlib.blake2b(spelt.encode(), digest_size=_CHECK).hexdigest()
    return Place(of, *_unsealed(cursor.strip(), of)) if cursor.strip() else Place(of)


def _unsealed(cursor: str, asked: str) -> tuple[str, int]:
    try:
        content = b64decode(cursor + "=" * (-len(cursor) % 4), altchars="-_", validate=True)
        check, spelt = content[:_CHECK], content[_CHECK:]
        last, shown = json.loads(spelt)
    except (ValueError, TypeError) as error:
        raise _wrong() from error
    if check != _check(asked, spelt) or not isinstance(last, str) or not 0 < shown <= _LARGEST:
        raise _wrong()
    return last, shown


def _check(asked: str, spelt: bytes) -> bytes:
    return hashlib.blake2b(spelt, digest_size=_CHECK, key=asked.encode(), person=b"carrel list 1").digest()


def _plain(value: Any) -> Any:  # noqa: ANN401
    return sorted(value) if isinstance(value, frozenset) else asdict(value)


def _wrong() -> InvalidInput:
    return InvalidInput(
        "this is no cursor of this list, or not a whole one",
        hint=f"Copy all of it, and repeat what it was given for. {_START_OVER}",
    )
