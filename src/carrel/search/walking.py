"""From the concepts that a question names to those that these lead to, and to the passages that speak of them.

A concept passes on what it has got, by each of its relations, times

    the relation's weight · its confidence · 0.5 for the hop / √(how many relations the concept has)

so that what is far counts less, and what is related to everything counts little anywhere. A concept that was reached is
not reached again. The best 64 of a hop go on, but for what everybody speaks of.

Beside the relations there is the passage that names two concepts: it leads from one to the other. Questions that no
single passage answers need it.

A passage has of each concept that it speaks of what that concept has got, times how central the concept is to the
passage, how few speak of it, and whether it is discussed or only named. The sum is its evidence.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from carrel.types import EVERYTHING, Predicate, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from carrel.graphs import GraphStore
    from carrel.search.specificity import Specificity
    from carrel.search.spotting import Seed
    from carrel.types import ConceptRow, Filter, Relation, Spot

WEIGHTS: Mapping[Predicate, float] = {
    Predicate.PART_OF: 0.8,
    Predicate.IMPLEMENTS: 0.8,
    Predicate.EXAMPLE_OF: 0.8,
    Predicate.PREREQUISITE: 0.7,
    Predicate.USES: 0.7,
    Predicate.COMPARED_TO: 0.5,
    Predicate.RELATED_TO: 0.4,
}
TOGETHER = 0.5
"""The weight of being named in the same passage."""
DECAY = 0.5
BEAM = 64
_FAMOUS, _COMMON = 500, 50
"""What more passages speak of, named in the question or not, leads anywhere: its relations are not followed."""
_BESIDE = 32
"""Concepts that are named beside the question's and gone on with."""
_PASSAGES = 20
"""Those whose other concepts are looked at."""
_NAMED = 200
"""Passages of a concept that the question names, or as many as are wanted."""
_SPOTS = 8
"""Passages of any other."""
_ROLES = {Role.DISCUSSES: 1.0, Role.CODE_EXAMPLE_FOR: 0.8, Role.FORMULA_FOR: 0.8, Role.MENTIONS: 0.6}


class Hop(NamedTuple):
    """A concept on the way, and how it was come to from the one before."""

    key: str
    predicate: Predicate | None = None
    is_forward: bool = True
    address: str = ""
    """Of the passage that names both, where no relation led here."""


class Reached(NamedTuple):
    strength: float
    trail: tuple[Hop, ...]
    """From a concept of the question; the best of the ways here."""


class Evidence(NamedTuple):
    """What speaks for a passage."""

    total: float
    best: float
    """The largest of what it is the sum of."""
    trail: tuple[Hop, ...]
    """Of the best."""
    role: Role


class Offer(NamedTuple):
    strength: float
    trail: tuple[Hop, ...]


class Found(NamedTuple):
    passages: Mapping[str, Evidence]
    rows: Mapping[str, ConceptRow]
    """The concepts on the ways."""


def walk(
    seeds: Sequence[Seed], graph: GraphStore, specificity: Specificity, *, hops: int, limit: int, where: Filter
) -> Found:
    """The passages that the named concepts lead to; nothing but what the filter allows.

    What leads there is the same whatever is allowed: a relation may be stated, and two concepts be named together,
    anywhere in the library.
    """
    rows = {seed.row.key: seed.row for seed in seeds}
    start = {seed.row.key: Reached(seed.weight, (Hop(seed.row.key),)) for seed in seeds}
    most = max(limit, _NAMED)
    direct = _spoken_of(graph.spots(start, limit=most, where=where), start, rows, specificity)
    if not hops:
        return Found(direct, rows)
    anywhere = direct
    if where != EVERYTHING:
        spots = graph.spots(start, limit=_PASSAGES, where=EVERYTHING)
        anywhere = _spoken_of(spots, start, rows, specificity)
    near = related(start, rows, graph, hops=hops)
    further = _strongest({**near.reached, **_beside(anywhere, graph, without=start)}, BEAM)
    rows = {**rows, **near.rows}
    rows |= graph.concepts(further.keys() - rows.keys())
    known = {key: reached for key, reached in further.items() if key in rows}
    spots = graph.spots(known, limit=_SPOTS, where=where) if known else []
    indirect = _spoken_of(spots, known, rows, specificity)
    both = {address: _both(direct[address], indirect[address]) for address in direct.keys() & indirect.keys()}
    return Found({**direct, **indirect, **both}, rows)


class Related(NamedTuple):
    reached: Mapping[str, Reached]
    rows: Mapping[str, ConceptRow]
    """Of those that were gone on from, or might have been."""


def related(start: Mapping[str, Reached], rows: Mapping[str, ConceptRow], graph: GraphStore, *, hops: int) -> Related:
    """The concepts that relations lead to in so many hops."""
    reached, edge, known = dict(start), dict(start), dict(rows)
    for hop in range(hops):
        known |= graph.concepts(edge.keys() - known.keys()) if hop else {}
        most = _COMMON if hop else _FAMOUS
        edge = {key: one for key, one in edge.items() if key in known and known[key].chunks <= most}
        if not edge:
            break
        edge = _strongest(_sums(_passed_on(edge, graph.relations(edge), without=reached)), BEAM)
        reached |= edge
    return Related({key: one for key, one in reached.items() if key not in start}, known)


def _passed_on(
    edge: Mapping[str, Reached], relations: Sequence[Relation], *, without: Mapping[str, Reached]
) -> dict[str, list[Offer]]:
    fans = Counter(end for relation in relations for end in (relation.subject, relation.object))
    offers: dict[str, list[Offer]] = defaultdict(list)
    for relation in relations:
        ways = ((relation.subject, relation.object, True), (relation.object, relation.subject, False))
        for source, target, is_forward in ways:
            if source in edge and target not in without:
                share = WEIGHTS[relation.predicate] * relation.confidence * DECAY / math.sqrt(fans[source])
                hop = Hop(target, relation.predicate, is_forward)
                offers[target].append(Offer(edge[source].strength * share, (*edge[source].trail, hop)))
    return offers


def _beside(direct: Mapping[str, Evidence], graph: GraphStore, *, without: Mapping[str, Reached]) -> dict[str, Reached]:
    """The concepts that the best passages name beside those of the question."""
    best = sorted(direct, key=lambda address: (-direct[address].total, address))[:_PASSAGES]
    spots = [spot for spot in graph.spoken(best) if spot.key not in without] if best else []
    crowds = Counter(spot.address for spot in spots)
    offers: dict[str, list[Offer]] = defaultdict(list)
    for spot in spots:
        found = direct[spot.address]
        share = TOGETHER * DECAY * spot.relevance / math.sqrt(crowds[spot.address])
        trail = (*found.trail, Hop(spot.key, address=spot.address))
        offers[spot.key].append(Offer(min(1.0, found.total) * share, trail))
    return _strongest(_sums(offers), _BESIDE)


def _sums(offers: Mapping[str, Sequence[Offer]]) -> dict[str, Reached]:
    """Each by all that it was offered and the best way there."""
    return {
        key: Reached(min(1.0, sum(offer.strength for offer in given)), _best(given).trail)
        for key, given in offers.items()
    }


def _strongest(reached: Mapping[str, Reached], most: int) -> dict[str, Reached]:
    return dict(sorted(reached.items(), key=lambda pair: (-pair[1].strength, pair[0]))[:most])


def _best(offers: Iterable[Offer]) -> Offer:
    return min(offers, key=lambda offer: (-offer.strength, [hop.key for hop in offer.trail]))


def _spoken_of(
    spots: Iterable[Spot], reached: Mapping[str, Reached], rows: Mapping[str, ConceptRow], specificity: Specificity
) -> dict[str, Evidence]:
    worth = {key: one.strength * specificity.of(rows[key]) for key, one in reached.items()}
    shares: dict[tuple[str, str], Evidence] = {}
    for spot in spots:
        share = worth[spot.key] * spot.relevance * _ROLES[spot.role]
        place = (spot.key, spot.address)
        # A chunk may have a concept in several roles: it is one piece of evidence, by the best of them.
        if share > (shares[place].best if place in shares else 0.0):
            shares[place] = Evidence(share, share, reached[spot.key].trail, spot.role)
    found: dict[str, Evidence] = {}
    # In one order, whatever the order of the spots, for sums of the same numbers to be the same.
    for (_, address), one in sorted(shares.items(), key=lambda pair: pair[0]):
        found[address] = _both(found[address], one) if address in found else one
    return found


def _both(one: Evidence, other: Evidence) -> Evidence:
    best = one if one.best >= other.best else other
    return best._replace(total=one.total + other.total)
