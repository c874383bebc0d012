"""Pages of a ranking that may change between them.

Scores are relative to what else is there, so no score marks a place in tomorrow's ranking. A cursor remembers what was
shown instead: the next page is the ranking as it is then, without that. Nothing comes twice, nothing that stays is
passed over, and new papers come where they belong among the rest.
"""

from __future__ import annotations

import hashlib
import json
import struct
from base64 import b64decode, urlsafe_b64encode
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrel.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 1000
"""Results that a cursor can remember."""
_FORMAT = 1
_MARK = 5
"""Bytes for each: after a thousand results, one in a thousand million others has the mark of one of them."""
_CHECK = 4
_LARGEST = 2**16 - 1
"""Page size that there is room for."""
_HEAD = struct.Struct(f">B8sHH{_CHECK}s")
"""Format, what the search is, page size, how many are shown, and the sum over all of it."""
_START_OVER = "Search without the cursor to start from the beginning."


@dataclass(frozen=True)
class Page:
    """Where a reader is in a ranking: what was shown already, and how many come at a time."""

    search: bytes
    """Digest of the search that the pages are of."""
    size: int | None = None
    shown: frozenset[bytes] = frozenset()

    def has_shown(self, key: str) -> bool:
        return bool(self.shown) and _mark(key) in self.shown

    def cursor(self, keys: Iterable[str], size: int) -> str:
        """Where the next page begins, once these have been shown as well."""
        shown = sorted(self.shown | {_mark(key) for key in keys})
        if len(shown) > MOST:
            return _sealed(self.search, min(size, _LARGEST), MOST + 1, b"")
        return _sealed(self.search, min(size, _LARGEST), len(shown), b"".join(shown))


def open_page(cursor: str, search: bytes) -> Page:
    """The page that a cursor leads to, in the search it was given for; the first page when it is empty."""
    if not cursor:
        return Page(search)
    given, size, count, marks = _unsealed(cursor.strip())
    if given != search:
        raise InvalidInput(
            "this cursor belongs to another search",
            hint=f"Repeat the query, mode, filters and grouping that it was given for. {_START_OVER}",
        )
    if count > MOST:
        raise InvalidInput(
            f"a search can be paged through for {MOST:,} results, and they have been shown",
            hint="Narrow the query, by --year, --author or --tag for instance; --limit 0 lists everything.",
        )
    return Page(search, size, frozenset(marks[at : at + _MARK] for at in range(0, len(marks), _MARK)))


def digest(**asked: Any) -> bytes:  # noqa: ANN401
    """A name for what was asked, the same whenever it is asked again."""
    spelt = json.dumps(asked, sort_keys=True, default=_plain).encode()
    return hashlib.blake2b(spelt, digest_size=8).digest()


def _plain(value: Any) -> Any:  # noqa: ANN401
    return sorted(value) if isinstance(value, frozenset) else asdict(value)


def _mark(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_MARK).digest()


def _sealed(search: bytes, size: int, count: int, marks: bytes) -> str:
    check = _check(search, size, count, marks)
    return _spelt(_HEAD.pack(_FORMAT, search, size, count, check) + marks)


def _unsealed(cursor: str) -> tuple[bytes, int, int, bytes]:
    try:
        content = b64decode(cursor + "=" * (-len(cursor) % 4), altchars="-_", validate=True)
        form, search, size, count, check = _HEAD.unpack_from(content)
    except (struct.error, ValueError) as error:
        raise _damaged() from error
    marks = content[_HEAD.size :]
    if form != _FORMAT or check != _check(search, size, count, marks) or _spelt(content) != cursor:
        raise _damaged()
    return search, size, count, marks


def _spelt(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _check(search: bytes, size: int, count: int, marks: bytes) -> bytes:
    spelt = b"%s %d %d %s" % (search, size, count, marks)
    return hashlib.blake2b(spelt, digest_size=_CHECK, person=b"carrel cursor 1").digest()


def _damaged() -> InvalidInput:
    return InvalidInput("this is not a cursor, or not a whole one", hint=f"Copy all of it. {_START_OVER}")
