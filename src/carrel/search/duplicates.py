"""Passages that say the same: one is shown, and names the others.

The same are a text that stands nearly word for word in two places, and what two versions of one work have in common.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from carrel.search.overlap import containment
from carrel.search.works import Works, works
from carrel.types import ChunkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from carrel.types import Matrix, Passage, Reference

    Records: TypeAlias = Callable[[Collection[str]], Sequence[Reference]]
    """Papers by id → what their records say."""

MOST = 200
"""Passages that are compared; those behind them stay as they are."""
_COPIED_TEXT = 0.95
"""How much two papers share where one has the other's passage. Less may be a form of words for another matter."""
_SAME_TEXT = 0.8
"""The same, within one paper."""
_REVISED_TEXT = 0.5
"""How much two versions of a work share where one passage became the other."""
_NOT_SPELT = re.compile(r"[\W_]+")
_AS_GOOD = 0.05
"""Of the span from the best passage to the last: scores nearer than this say nothing about which is better."""


def collapse(passages: Sequence[Passage], records: Records, *, by_paper: bool) -> tuple[list[Passage], Works]:
    """Of passages that are the same, only the better, which names the others; and which papers are one work.

    By paper, only passages of one work are the same: two papers that share a page are still two.
    """
    compared = passages[:MOST]
    shares = containment([passage.chunk.text for passage in compared])
    asked = {passage.chunk.paper_id for passage in passages} if by_paper else _in_doubt(compared, shares)
    known = works(records(asked)) if len(asked) > 1 else Works()
    same = _same(compared, shares, known, by_paper=by_paper)
    near = _AS_GOOD * _span(compared)
    kept = [_kept([compared[place] for place in group], known, near) for group in _groups(same)]
    return [*sorted(kept, key=lambda passage: passage.rank), *passages[MOST:]], known


def _span(passages: Sequence[Passage]) -> float:
    """Between the scores of the best and the last that can be compared with it."""
    comparable = [passage.score for passage in passages if _same_scale(passage, passages[0])]
    return max(comparable, default=0.0) - min(comparable, default=0.0)


def _in_doubt(passages: Sequence[Passage], shares: Matrix) -> set[str]:
    """The papers that may be one work with another, judged by what was found of them."""
    alike = (shares >= _REVISED_TEXT) & ~equal([passage.chunk.paper_id for passage in passages])
    shared = {passages[place].chunk.paper_id for place in np.flatnonzero(alike.any(axis=0)).tolist()}
    titles: dict[str, set[str]] = {}
    for passage in passages:
        titles.setdefault(_NOT_SPELT.sub("", passage.chunk.title.casefold()), set()).add(passage.chunk.paper_id)
    return shared.union(*(papers for papers in titles.values() if len(papers) > 1))


def _same(passages: Sequence[Passage], shares: Matrix, known: Works, *, by_paper: bool) -> NDArray[np.bool_]:
    kinds = [passage.chunk.kind for passage in passages]
    papers = [passage.chunk.paper_id for passage in passages]
    one_work = equal([known.of(paper_id) for paper_id in papers])
    versions = one_work & ~equal(papers)
    abstracts = np.array([kind == ChunkKind.ABSTRACT for kind in kinds], dtype=bool)
    # Two figures may have one caption and show different things.
    texts = np.array([kind != ChunkKind.EXHIBIT for kind in kinds], dtype=bool)
    same = shares >= np.where(one_work, _SAME_TEXT, _COPIED_TEXT)
    same |= versions & ((shares >= _REVISED_TEXT) | np.logical_and.outer(abstracts, abstracts))
    same &= np.logical_and.outer(texts, texts)
    return same & one_work if by_paper else same


def equal(names: Sequence[str]) -> NDArray[np.bool_]:
    """For each pair, whether they are the same."""
    first: dict[str, int] = {}
    places = np.array([first.setdefault(name, place) for place, name in enumerate(names)], dtype=np.intp)
    pairs: NDArray[np.bool_] = np.equal.outer(places, places)
    return pairs


def _groups(same: NDArray[np.bool_]) -> Iterator[list[int]]:
    """Each with the first that is left, and all that are like it."""
    np.fill_diagonal(same, val=True)
    alone = same.sum(axis=1) == 1
    left = np.ones(len(same), dtype=bool)
    for first in range(len(same)):
        if alone[first]:
            yield [first]
        elif left[first]:
            like = same[first] & left
            left &= ~like
            yield np.flatnonzero(like).tolist()


def _kept(group: Sequence[Passage], known: Works, near: float) -> Passage:
    """The best, or of those that are as good the one of the last version. Two with nothing between them are."""
    best = group[0]
    if len(group) == 1:
        return best
    as_good = [
        one
        for place, one in enumerate(group)
        if _same_scale(one, best) and (best.score - one.score <= near or one.rank - best.rank == place)
    ]
    kept = max(as_good, key=lambda passage: known.final(passage.chunk.paper_id))
    return replace(kept, duplicates=tuple(one.chunk.address for one in group if one is not kept))


def _same_scale(one: Passage, other: Passage) -> bool:
    return (one.probability is None) == (other.probability is None)
