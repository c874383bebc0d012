"""One look at the library: the arms, their fusion, a second round drawn to the first's best, the reranking."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from carrel.errors import CarrelError, StoreUnavailable
from carrel.rerankers import is_costly
from carrel.search import grouping, listing, ranking
from carrel.search.asking import ask
from carrel.search.reranking import Bounds
from carrel.settings import Rerank
from carrel.telemetry import log, timed
from carrel.types import Degradation, Mode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from carrel.catalogs import Catalog
    from carrel.fusion import Usual
    from carrel.rerankers import Reranker
    from carrel.search.arms import Arm
    from carrel.search.arranging import Arranger
    from carrel.search.concepts import Concepts
    from carrel.search.meaning import Meaning, Near
    from carrel.search.understanding import Asked, Understanding
    from carrel.settings import Search as Options
    from carrel.types import Candidate, Chunk, Filter, Fused, Hit, Passage

EVERY = 2**31
"""More chunks than any library has."""
DEEPER = 4
"""How many times as many candidates are looked at when the first do not suffice."""


@dataclass(frozen=True)
class Pipeline:
    """What a search is made of."""

    arms: Mapping[str, Arm]
    catalog: Catalog
    reranker: Reranker | None
    options: Options
    understanding: Understanding | None = None
    """None takes queries as they stand."""
    rerank: Rerank = field(default_factory=Rerank)
    meaning: Meaning | None = None
    """Where the vectors are; without them there is no second round, and no telling how much two passages are alike."""
    concepts: Concepts | None = None
    """Where the graph is; without it no passage leads to another."""

    def bounds(self, limit: int) -> Bounds:
        """A lower limit than usual chooses from as many candidates, so that it gives the first of the usual ones."""
        return Bounds(self.rerank.overfetch * max(limit, self.options.limit), self.rerank.timeout)


@dataclass(frozen=True)
class Request:
    """A search with all that was left open decided."""

    asked: Asked
    mode: Mode
    limit: int
    where: Filter
    pipeline: Pipeline
    arranger: Arranger

    @property
    def needed(self) -> int:
        """Results that a ranking must have, for this page and those before it."""
        return self.limit + len(self.arranger.page.shown)

    @property
    def first_depth(self) -> int:
        """The shortlist; for a costly reranker no less than it may be given."""
        reranker, shortlist = self.pipeline.reranker, self.pipeline.options.shortlist
        if reranker and is_costly(reranker):
            return max(shortlist, self.pipeline.bounds(self.needed).candidates)
        return shortlist


@dataclass(frozen=True)
class Found:
    passages: Sequence[Passage]
    rankings: Mapping[str, Sequence[Hit]]
    degraded: list[Degradation]
    is_everything: bool
    """Whether a deeper look would find no more."""
    answers: Answers | None = None


class Answers(NamedTuple):
    """What the arms said."""

    limits: Mapping[str, int]
    """How much each was asked for."""
    rankings: Mapping[str, Sequence[Hit]]
    degraded: Sequence[Degradation]


def find(request: Request, depth: int, timings: dict[str, float], before: Found) -> Found:
    """The best of what the arms name, as many of them looked at closely as the depth says.

    What was found before at less depth spares asking the arms again for no more than they have said.
    """
    asked, pipeline = request.asked, request.pipeline
    if pipeline.understanding and not asked.text:
        return _listed(request, pipeline.understanding.listing_arm(), depth)
    arms = {name: arm for name, arm in _arms(request).items() if request.mode in (Mode.HYBRID, name)}
    limits = {name: _wanted(name, request, depth) for name in arms}
    answers = before.answers
    if answers is None or answers.limits != limits:
        seconds = pipeline.options.arm_timeout
        answers = Answers(limits, *ask(arms, asked.text, limits, request.where, seconds, timings))
    rankings, degraded = answers.rankings, [*asked.degraded, *answers.degraded]
    passages, named = _Rounds(request, depth, degraded, timings).passages(rankings)
    if named and not passages and not pipeline.catalog.addresses():
        raise StoreUnavailable(
            f"the catalog is empty, but the indexes name {named} passages for {asked.text!r}",
            hint="Run 'carrel index build' to take in refs.jsonl again, then 'carrel add' for the full texts.",
        )
    if pipeline.concepts:
        passages = pipeline.concepts.led(passages, request, rankings.get("graph", ()), degraded, timings)
    is_everything = named <= depth and all(len(hits) < limits[name] for name, hits in rankings.items())
    return Found(asked.lifted(passages), rankings, degraded, is_everything, answers)


def _wanted(arm: str, request: Request, depth: int) -> int:
    """What an arm is asked for. Everything is similar to a question: only words can be had to the last."""
    usual = request.pipeline.options.candidates
    if depth == EVERY:
        return EVERY if arm in ("keyword", request.mode) else usual
    return max(usual, depth)


def _arms(request: Request) -> Mapping[str, Arm]:
    arms, understanding = request.pipeline.arms, request.pipeline.understanding
    if understanding and request.asked.is_worded and "keyword" in arms:
        return {**arms, "keyword": understanding.keyword_arm(request.asked)}
    return arms


def _listed(request: Request, find: Arm, depth: int) -> Found:
    """The papers themselves, when a query names nothing else; no other arm has a say in that."""
    hits = find("", depth, request.where)
    passages = listing.unscored(hits, request.pipeline.catalog)
    return Found(passages, {}, [*request.asked.degraded], is_everything=len(hits) < depth)


@dataclass(frozen=True)
class _Rounds:
    """From rankings to passages, twice: the best of the first round say more of what is meant than the question."""

    request: Request
    depth: int
    degraded: list[Degradation]
    timings: dict[str, float]
    read: dict[str, Chunk] = field(default_factory=dict)
    """By address: the second round looks at most of what the first has looked at."""

    def passages(self, rankings: Mapping[str, Sequence[Hit]]) -> tuple[list[Passage], int]:
        """Those looked at closely, best first, and how many there were to choose from."""
        options, reranker = self.request.pipeline.options, self.request.pipeline.reranker
        with timed(self.timings, "fusion"):
            usual = ranking.usual_in(rankings, options)
            fused = ranking.fuse(rankings, options, usual)
        near = self._near(rankings, fused[: options.candidates])
        if near is None or not near.passages or not options.feedback or len(rankings) == 1:
            return self._reranked(self._candidates(fused, rankings, near, usual), reranker), len(fused)
        quick = None if reranker and is_costly(reranker) else reranker
        draft = self._reranked(self._candidates(fused, rankings, near, usual), quick)
        with timed(self.timings, "feedback"):
            hits = near.drawn_to(draft[: options.feedback], weight=options.feedback_weight)
            second = {ranking.FEEDBACK: hits}
            again, usual = {**rankings, **second}, {**usual, **ranking.usual_in(second, options)}
            fused = ranking.fuse(again, options, usual)
        return self._reranked(self._candidates(fused, again, near, usual), reranker), len(fused)

    def _near(self, rankings: Mapping[str, Sequence[Hit]], fused: Sequence[Fused]) -> Near | None:
        """The vectors of the question and of what was named, where there are any."""
        meaning = self.request.pipeline.meaning
        if meaning is None or "vector" not in rankings:
            return None
        with timed(self.timings, "feedback"):
            try:
                return meaning.near(self.request.asked.text, [one.address for one in fused])
            except CarrelError as error:
                log("search", logging.WARNING, "no second round", reason=error.message)
                self.degraded.append(Degradation(ranking.FEEDBACK, error.message))
                return None

    def _candidates(
        self,
        fused: Sequence[Fused],
        rankings: Mapping[str, Sequence[Hit]],
        near: Near | None,
        usual: Mapping[str, Usual],
    ) -> list[Candidate]:
        pipeline, chosen = self.request.pipeline, self._chosen(fused)
        with timed(self.timings, "catalog"):
            unread = [one.address for one in chosen if one.address not in self.read]
            self.read.update((chunk.address, chunk) for chunk in pipeline.catalog.chunks(unread))
            # An index is behind the catalog when tagging was interrupted: what the record says now is what counts.
            allowed = {address: chunk for address, chunk in self.read.items() if self.request.where.matches(chunk)}
            known = ranking.signals(rankings, near.similarities if near else {}, usual)
            return ranking.candidates(chosen, allowed, known)

    def _reranked(self, candidates: Sequence[Candidate], reranker: Reranker | None) -> list[Passage]:
        request = self.request
        with timed(self.timings, "rerank"):
            bounds = request.pipeline.bounds(request.needed)
            return ranking.rerank(request.asked.text, candidates, reranker, bounds, self.degraded)

    def _chosen(self, fused: Sequence[Fused]) -> Sequence[Fused]:
        """Those that are worth a closer look."""
        request, first = self.request, self.request.first_depth
        if not request.arranger.by_paper or self.depth in (first, EVERY):
            return fused[: self.depth]
        few = DEEPER * first + grouping.PER_PAPER * request.needed
        return list(grouping.thinned(fused))[:few]
