"""Passages that a surer one names by their titles: the second step of a question that no single passage answers.

"Who was the first president of the association that publishes this journal?" The passage on the journal names the
association; the passage entitled with that name has the answer, and few of the question's words.

A passage rises by how sure the other is, times how few speak of the concept that joins them, never above the one that
led to it. What the question names itself joins nothing: words and meaning know of that already.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from carrel.types import ConceptPath, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from carrel.graphs import GraphStore
    from carrel.search.specificity import Specificity
    from carrel.types import ConceptRow, Passage, Spot

_SURE = 10
"""As many of the best lead to others."""
_MOST = 100
"""Passages that are looked at."""
_BACK = 0.5
"""The worth of a bridge to a passage that names what the surer one is entitled, beside one in the other direction."""
_NAMED = 0.5
"""The worth of being named at all; the rest is how centrally."""
_LONGEST_NAME = 8
"""Words. A title that is a sentence names no concept."""
_REMARK = re.compile(r"\s*\([^()]*\)\s*$")
SIGNAL = "bridge"


class Bridge(NamedTuple):
    """From a sure passage to another, by a concept that both speak of and one is entitled."""

    source: Passage
    worth: float
    key: str
    role: Role


def bridged(
    passages: Sequence[Passage],
    graph: GraphStore,
    specificity: Specificity,
    *,
    named: Callable[[Collection[str]], Collection[str]],
    weight: float,
) -> list[Passage]:
    """The same passages in their new order; `named` tells which of some concepts the question names."""
    scored = [one for one in passages[:_MOST] if one.probability is not None]
    entitled = _entitled(scored, graph) if len(scored) > 1 else {}
    titles = {key for keys in entitled.values() for key in keys}
    spots = _by_address(graph.spoken([one.chunk.address for one in scored], of=titles)) if titles else {}
    joining = {key for held in spots.values() for key in held}
    joining -= set(named(joining)) if joining else set()
    rows = graph.concepts(joining) if joining else {}
    bridges = _Bridges(spots, entitled, rows, specificity)
    risen = {one.chunk.address: bridges.risen(one, scored[:_SURE], weight) for one in scored}
    # Stable, so that what is led to stays behind what led to it.
    ordered = sorted((risen[one.chunk.address] for one in scored), key=lambda one: -(one.probability or 0.0))
    rest = [one for one in passages if one.chunk.address not in risen]
    return [replace(one, rank=rank) for rank, one in enumerate((*ordered, *rest), start=1)]


class _Bridges(NamedTuple):
    spots: Mapping[str, Mapping[str, Spot]]
    """By address and key."""
    entitled: Mapping[str, Collection[str]]
    """Address → keys of what the passage is called."""
    rows: Mapping[str, ConceptRow]
    """The concepts that may join two passages."""
    specificity: Specificity

    def risen(self, passage: Passage, sure: Sequence[Passage], weight: float) -> Passage:
        """With what the bridges to it are worth. What they lead to is no surer than where they come from."""
        found = [max(ways, key=_order) for source in sure if (ways := list(self._between(source, passage)))]
        before = passage.probability or 0.0
        if not found:
            return passage
        evidence = 1 - math.prod(1 - bridge.worth for bridge in found)
        best = max(found, key=_order)
        ceiling = max(bridge.source.probability or 0.0 for bridge in found)
        after = max(before, min(ceiling, _raised(before, weight * evidence)))
        path = ConceptPath(self.rows[best.key].concept.name, best.role, source=best.source.chunk.address)
        signals = {**passage.signals, SIGNAL: round(evidence, 4)}
        return replace(passage, score=after, probability=after, signals=signals, path=path)

    def _between(self, source: Passage, target: Passage) -> Iterator[Bridge]:
        sure = source.probability or 0.0
        if sure <= (target.probability or 0.0) or source.chunk.paper_id == target.chunk.paper_id:
            return
        here, there = source.chunk.address, target.chunk.address
        some, others = self.spots.get(here, {}), self.spots.get(there, {})
        for key in some.keys() & others.keys() & self.rows.keys():
            if key in self.entitled[there]:
                worth = _NAMED + (1 - _NAMED) * some[key].relevance
            elif key in self.entitled[here]:
                worth = _BACK * (_NAMED + (1 - _NAMED) * others[key].relevance)
            else:
                continue
            specific = self.specificity.of(self.rows[key])
            yield Bridge(source, sure * specific * worth, key, others[key].role)


def _order(bridge: Bridge) -> tuple[float, str]:
    return (bridge.worth, bridge.key)


def _by_address(spots: Sequence[Spot]) -> dict[str, dict[str, Spot]]:
    """Of a concept in several roles the most relevant, which comes first."""
    found: dict[str, dict[str, Spot]] = defaultdict(dict)
    for spot in spots:
        found[spot.address].setdefault(spot.key, spot)
    return found


def _entitled(passages: Sequence[Passage], graph: GraphStore) -> dict[str, set[str]]:
    """What each is called, by its title or its own heading, with and without a remark in brackets."""
    titles = {one.chunk.address: {one.chunk.title, *one.chunk.section_path[-1:]} for one in passages}
    called = {address: {*own, *(_REMARK.sub("", title) for title in own)} for address, own in titles.items()}
    keys = graph.resolve({title for own in called.values() for title in own if 0 < len(title.split()) <= _LONGEST_NAME})
    return {address: {keys[title] for title in own if title in keys} for address, own in called.items()}


def _raised(probability: float, by: float) -> float:
    """The probability whose logit is so much higher."""
    odds = probability * math.exp(by)
    return round(odds / (odds + 1 - probability), 6)
