"""What a paper contributes, as the rows that every store keeps."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from carrel import naming
from carrel.databases.sessions import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from carrel.types import Concept, Contribution, Mention, Triple

_LONGEST_KEY = 200
_LONGEST_START = 160
_UNITS = 1_000_000
"""Relevance is summed in millionths: whole numbers can be taken back without a trace."""


class Named(NamedTuple):
    """That a paper writes a name, or an alias, for a concept."""

    concept: str
    """Its key."""
    key: str
    """Of the spelling; the concept's own where this is its name."""
    spelling: str
    stated: bool
    """Whether the paper has it as a concept, and does not only mention or relate it."""
    definition: str = ""
    category: str = ""
    defined_at: str = ""


def bounded(value: str) -> str:
    """The same, or for what is too long for an index, its beginning and a digest of it all."""
    value = text(value)
    if len(value) <= _LONGEST_KEY:
        return value
    return value[:_LONGEST_START] + digest(value)


def digest(value: str) -> str:
    return blake2b(value.encode(), digest_size=16).hexdigest()


def key(name: str) -> str:
    """Nothing for what is no name."""
    return bounded(naming.key(text(name))) if name.strip() else ""


def named(contribution: Contribution) -> list[Named]:
    """One row for each concept and each alias of it; of several spellings of one key the first."""
    rows: dict[tuple[str, str], Named] = {}
    for row in _named(contribution):
        rows.setdefault((row.concept, row.key), row)
    return [row for row in rows.values() if row.concept and row.key]


def _named(contribution: Contribution) -> Iterator[Named]:
    for concept in contribution.concepts:
        yield _stated(concept)
        for alias in concept.aliases:
            if key(alias) != key(concept.name):
                yield Named(key(concept.name), key(alias), text(alias), stated=True)
    related = [name for triple in triples(contribution) for name in (triple.subject, triple.object)]
    for name in [*(mention.concept for mention in mentions(contribution)), *related]:
        yield Named(key(name), key(name), text(name), stated=False)


def _stated(concept: Concept) -> Named:
    told = (text(concept.definition), text(concept.category), text(concept.defined_at))
    return Named(key(concept.name), key(concept.name), text(concept.name), True, *told)  # noqa: FBT003


def mentions(contribution: Contribution) -> list[Mention]:
    return [mention for mention in contribution.mentions if key(mention.concept)]


def triples(contribution: Contribution) -> list[Triple]:
    return [triple for triple in contribution.triples if key(triple.subject) and key(triple.object)]


def units(relevance: float) -> int:
    return round(relevance * _UNITS)


def weight(units: int) -> float:
    return units / _UNITS
