"""From passages to papers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.identifiers import paper_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.search.works import Works
    from carrel.types import Fused, Passage

PER_PAPER = 5
"""Passages of one paper that are looked at when papers are sought far down."""


def by_paper(passages: Sequence[Passage], known: Works) -> list[Passage]:
    """The best passage of each work, with the others that were found of it, in the order in which works come up."""
    found: dict[str, list[Passage]] = {}
    for passage in passages:
        found.setdefault(known.of(passage.chunk.paper_id), []).append(passage)
    grouped = (sorted(group, key=lambda passage: passage.rank) for group in found.values())
    return [replace(best, others=tuple(others)) for best, *others in grouped]


def thinned(fused: Sequence[Fused]) -> Iterator[Fused]:
    """The first few of each paper, so that no book takes the place of all others."""
    taken: dict[str, int] = {}
    for one in fused:
        paper_id = paper_of(one.address)
        taken[paper_id] = taken.get(paper_id, 0) + 1
        if taken[paper_id] <= PER_PAPER:
            yield one
