"""Where concepts are spoken of: read in order of relevance, and only as far as is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel.types import Role, Spot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from carrel.databases.sessions import Row

    Fetch = Callable[[Sequence[str], int], tuple[dict[str, list[Spot]], set[str]]]
    """So many rows of each of these concepts, most relevant first, as spots; and of which there may be more."""


_ROLES = {str(role): role for role in Role}


def first(fetch: Fetch, keys: Iterable[str], limit: int) -> list[Spot]:
    """So many spots of each concept. Reads on where what it read was not allowed, or said twice."""
    found: dict[str, list[Spot]] = {}
    unread, read = sorted(set(keys)), limit
    while unread and read:
        spots, more = fetch(unread, read)
        found |= {key: best(spots.get(key, ())) for key in unread}
        unread = [key for key in unread if key in more and len(found[key]) < limit]
        read *= 4
    return [spot for key in sorted(found) for spot in found[key][:limit]]


def spot(row: Row) -> Spot:
    key, address, count, relevance, role = row
    return Spot(key, address, count, relevance, _ROLES[role])


def best(spots: Iterable[Spot]) -> list[Spot]:
    """The most relevant of each concept, chunk and role; by falling relevance, then address."""
    kept: dict[tuple[str, str, str], Spot] = {}
    for each in sorted(spots, key=lambda each: (-each.relevance, each.address, each.role, -each.count)):
        kept.setdefault((each.key, each.address, each.role), each)
    return list(kept.values())
