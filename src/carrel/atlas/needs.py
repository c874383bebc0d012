"""Which concepts are to be known before another: as it is stated, or as can be concluded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from carrel.atlas.speaking import Spoken, spoken_of
from carrel.atlas.statements import strength
from carrel.types import EVERYTHING, Predicate, Relation, Role

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from carrel.catalogs import Catalog
    from carrel.graphs import GraphStore

DEPTH = 4
_BREADTH = 5
"""Needs of one concept that are followed, the surest first."""
_EVERYDAY = 7
"""What more than every seventh paper speaks of is everyday language, which nobody looks up."""
_FEW = 10
"""Papers, by which alone nothing is everyday language."""
_SPOTS = 5
_SPOKEN = 0.15
"""What it is worth at least that papers speak of a concept, and at most once more."""


class _Counts(NamedTuple):
    """What a relation says about order."""

    weight: float
    subject_first: bool


_COUNTING = {
    Predicate.PREREQUISITE: _Counts(1.0, subject_first=True),
    Predicate.USES: _Counts(0.6, subject_first=False),
    Predicate.EXAMPLE_OF: _Counts(0.4, subject_first=False),
    Predicate.PART_OF: _Counts(0.4, subject_first=True),
}
"""Who uses a thing has to know it, an example what it is one of, a whole its parts."""


@dataclass(frozen=True, slots=True)
class Need:
    """That one concept, by its key, comes before another."""

    before: str
    after: str
    worth: float
    """How far it is believed, in (0, 1)."""
    ground: Relation | Spoken

    @property
    def is_passing(self) -> bool:
        """Whether but one chunk shows it: enough to send a reader there, too little to go on from there."""
        return isinstance(self.ground, Spoken) and self.ground.count == 1

    @property
    def is_stated(self) -> bool:
        return isinstance(self.ground, Relation) and self.ground.predicate == Predicate.PREREQUISITE


def all_needs(target: str, graph: GraphStore, catalog: Catalog) -> list[Need]:
    """What a concept needs, what that needs, and so on, as far as a reader would go back."""
    everyday = max(_FEW, graph.size().papers / _EVERYDAY)
    found: list[Need] = []
    known, edge = {target}, {target}
    for _ in range(DEPTH):
        needs = _needs(edge, graph, catalog, everyday) if edge else []
        needs = [need for need in needs if need.after == target or not need.is_passing]
        found += needs
        edge = {need.before for need in needs} - known
        known |= edge
        edge = {key for key, row in graph.concepts(edge).items() if row.papers <= everyday}
    return found


def _needs(keys: Collection[str], graph: GraphStore, catalog: Catalog, everyday: float) -> list[Need]:
    """The surest needs of each of these: what is stated to come first or, where nothing is, what can be concluded."""
    related = [_related(one) for one in graph.relations(keys, predicates=_COUNTING) if one.subject != one.object]
    asked = [need for need in related if need.after in keys]
    stated = [need for need in asked if need.is_stated]
    unstated = set(keys) - {need.after for need in stated}
    concluded = [need for need in asked if need.after in unstated]
    topics = _topics({need.before for need in concluded}, graph, everyday)
    spoken = spoken_of(unstated, graph, catalog, most_papers=everyday) if unstated else []
    return _surest(
        [
            *stated,
            *(need for need in concluded if need.before in topics),
            *map(_spoken, spoken),
        ]
    )


def _related(relation: Relation) -> Need:
    weight, subject_first = _COUNTING[relation.predicate]
    ends = (relation.subject, relation.object) if subject_first else (relation.object, relation.subject)
    return Need(*ends, weight * strength(relation), relation)


def _spoken(spoken: Spoken) -> Need:
    return Need(spoken.other, spoken.concept, _SPOKEN * (1 + spoken.lead), spoken)


def _topics(keys: Collection[str], graph: GraphStore, everyday: float) -> set[str]:
    """Those of these concepts that one can read up: some chunk is about it, and it is no everyday word."""
    rare = [key for key, row in graph.concepts(keys).items() if row.papers <= everyday]
    return {spot.key for spot in graph.spots(rare, limit=_SPOTS, where=EVERYTHING) if spot.role == Role.DISCUSSES}


def _surest(needs: Iterable[Need]) -> list[Need]:
    """For each pair the best ground, and for each concept so many needs."""
    by_concept: dict[str, dict[str, Need]] = defaultdict(dict)
    for need in sorted(needs, key=_order):
        by_concept[need.after].setdefault(need.before, need)
    return [need for key in sorted(by_concept) for need in list(by_concept[key].values())[:_BREADTH]]


def _order(need: Need) -> tuple[float, str, str]:
    return -need.worth, need.before, need.after


def most_wanted(target: str, needs: Sequence[Need], limit: int) -> list[Need]:
    """The needs among the target and the concepts it needs most, directly or by way of others."""
    wanted = {target: 1.0}
    # Each round goes one step further back.
    for _ in range(DEPTH):
        for need in needs:
            score = wanted.get(need.after, 0.0) * need.worth
            wanted[need.before] = max(wanted.get(need.before, 0.0), score)
    nearest = sorted(wanted, key=lambda key: (key != target, -round(wanted[key], 6), key))[: limit + 1]
    return [need for need in needs if need.before in nearest and need.after in nearest]


def not_followed(needs: Sequence[Need], graph: GraphStore) -> list[Need]:
    """What else is stated of the concepts of these needs: it was too far back, or one too many of its concept."""
    followed = {(need.before, need.after) for need in needs}
    keys = {end for ends in followed for end in ends}
    stated = map(_related, graph.relations(keys, predicates=(Predicate.PREREQUISITE,)))
    return [
        need
        for need in sorted(stated, key=_order)
        if need.before != need.after and {need.before, need.after} <= keys and (need.before, need.after) not in followed
    ]


def without_circles(needs: Sequence[Need]) -> tuple[list[Need], list[Need]]:
    """What is left when each circle has lost the weakest of its needs, and what they lost."""
    kept, lost = list(needs), []
    while circular := [need for need in kept if need.after in _all_before(need.before, kept)]:
        weakest = max(circular, key=_order)
        kept.remove(weakest)
        lost.append(weakest)
    return kept, lost


def in_order(target: str, needs: Iterable[Need]) -> list[str]:
    """The target, after all that leads to it: each concept as soon as what it needs is known, the surest way first."""
    direct: dict[str, list[str]] = defaultdict(list)
    for need in sorted(needs, key=_order):
        direct[need.after].append(need.before)
    order: dict[str, None] = {}

    def visit(key: str) -> None:
        if key not in order:
            for before in direct[key]:
                visit(before)
            order[key] = None

    visit(target)
    return list(order)


def _all_before(key: str, needs: Iterable[Need]) -> set[str]:
    """Everything that a concept needs, directly or by way of others."""
    direct: dict[str, set[str]] = defaultdict(set)
    for need in needs:
        direct[need.after].add(need.before)
    found: set[str] = set()
    edge = {key}
    while edge:
        edge = {before for after in edge for before in direct[after]} - found
        found |= edge
    return found
