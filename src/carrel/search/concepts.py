"""The graph of concepts, as a search asks it."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, IndexNotFound, StoreUnavailable
from carrel.search import bridging, walking
from carrel.search.asking import reason_of
from carrel.search.begun import within
from carrel.search.specificity import Specificity
from carrel.search.spotting import said, spot
from carrel.telemetry import log, timed
from carrel.types import ConceptPath, Degradation, Hit, Link, Mode, Named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from carrel.graphs import GraphStore
    from carrel.search.finding import Request
    from carrel.search.spotting import Seed
    from carrel.search.walking import Evidence, Hop
    from carrel.types import ConceptRow, Filter, GraphSize, Passage

EMPTY = "the graph of concepts is empty; 'carrel index build' builds it"
NONE_NAMED = "no concept of the graph is named in the question"
_REMEMBERED = 8
_HOPS = 2


class Concepts:
    """One library's graph. What a question names is looked up once, whoever wants to know."""

    def __init__(
        self, graph: GraphStore, *, hops: int = _HOPS, nearly: bool = True, chunks: Callable[[], int] | None = None
    ) -> None:
        """`chunks` counts those of the library where that is quicker than to ask the graph."""
        self.graph = graph
        self.hops = hops
        self._nearly = nearly
        self._chunks = chunks or (lambda: self.size.chunks)
        self.named_in = lru_cache(maxsize=_REMEMBERED)(self._named_in)
        self._found: dict[str, tuple[Evidence, Mapping[str, ConceptRow]]] = {}
        """What the last hits were found by, and the concepts on the way."""

    @cached_property
    def size(self) -> GraphSize:
        return self.graph.size()

    @property
    def is_empty(self) -> bool:
        """A graph that cannot tell is not: it is asked, so that the search says why it goes without."""
        try:
            return not self.size.concepts
        except CarrelError:
            return False

    def may_lead(self, seconds: float) -> bool:
        """Whether it is worth asking. One that does not say so in time is asked, too."""
        try:
            return not within(seconds, lambda: self.is_empty)
        except StoreUnavailable:
            return True

    @cached_property
    def specificity(self) -> Specificity:
        try:
            return Specificity(self._chunks())
        except CarrelError:
            return Specificity(self.size.chunks)

    def _named_in(self, query: str) -> tuple[Seed, ...]:
        return spot(query, self.graph, self.specificity, nearly=self._nearly)

    def hits(self, query: str, limit: int, where: Filter) -> list[Hit]:
        """By evidence, each with the best of the ways that lead to it."""
        if self.is_empty:
            raise IndexNotFound("The graph of concepts is empty. Run 'carrel index build' first")
        seeds = self.named_in(query)
        if not seeds:
            return []
        found = walking.walk(seeds, self.graph, self.specificity, hops=self.hops, limit=limit, where=where)
        self._found |= {address: (evidence, found.rows) for address, evidence in found.passages.items()}
        hits = [Hit(address, _score(evidence)) for address, evidence in found.passages.items()]
        return sorted(hits, key=lambda hit: (-hit.score, hit.address))[:limit]

    def path(self, address: str) -> ConceptPath:
        """How a hit was come to."""
        return _path(*self._found[address])

    def has_a_say(self, request: Request) -> bool:
        """Whether such a search is to ask the graph, empty or not."""
        options = request.pipeline.options
        return request.mode == Mode.GRAPH or (
            request.mode == Mode.HYBRID and bool(options.weight_graph or options.weight_bridge)
        )

    def told(self, query: str) -> tuple[tuple[Named, ...], str]:
        """What the question names, and why the graph has nothing to say, if so."""
        seeds = self.named_in(query)
        if not seeds:
            return (), EMPTY if self.is_empty else NONE_NAMED
        return tuple(Named(seed.said, seed.row.concept.name, seed.match) for seed in seeds), ""

    def led(
        self,
        passages: list[Passage],
        request: Request,
        hits: Sequence[Hit],
        degraded: list[Degradation],
        timings: dict[str, float],
    ) -> list[Passage]:
        """Each with the way that leads to it, and those that a surer one leads to behind that."""
        found = {hit.address for hit in hits}
        shown = [replace(one, path=self.path(at)) if (at := one.chunk.address) in found else one for one in passages]
        options = request.pipeline.options
        failed = any(part.arm == "graph" for part in degraded)
        if request.mode != Mode.HYBRID or not options.weight_bridge or failed:
            return shown
        with timed(timings, "bridges"):
            try:
                return within(
                    options.arm_timeout, lambda: self._bridged(shown, request.asked.text, options.weight_bridge)
                )
            except Exception as error:  # A graph may be anybody's; the search does not fall with it.
                degraded.append(Degradation("graph", reason_of(error)))
                log("search", logging.WARNING, "no bridges", reason=degraded[-1].reason)
                return shown

    def _bridged(self, passages: Sequence[Passage], query: str, weight: float) -> list[Passage]:
        named = partial(said, query, self.graph)
        return bridging.bridged(passages, self.graph, self.specificity, named=named, weight=weight)


def _score(evidence: Evidence) -> float:
    """Above 0, and 1 at most, however much speaks for it."""
    return max(1e-6, round(1 - math.exp(-evidence.total), 6))


def _path(evidence: Evidence, rows: Mapping[str, ConceptRow]) -> ConceptPath:
    first, *others = evidence.trail
    return ConceptPath(rows[first.key].concept.name, evidence.role, tuple(_link(hop, rows) for hop in others))


def _link(hop: Hop, rows: Mapping[str, ConceptRow]) -> Link:
    name = rows[hop.key].concept.name if hop.key in rows else hop.key
    return Link(name, hop.predicate, hop.is_forward, hop.address)
