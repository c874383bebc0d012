"""From a question to passages: arms in parallel, fusion, reranking, and what is shown of it."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from carrel.errors import InvalidInput, StoreUnavailable
from carrel.queries.parsing import readable
from carrel.search import ranking
from carrel.search.arranging import PASSAGES, Arranger, Shape
from carrel.search.asking import reason_of
from carrel.search.begun import Begun
from carrel.search.finding import DEEPER, EVERY, Found, Pipeline, Request, find
from carrel.search.foreign import suited
from carrel.search.paging import digest, open_page
from carrel.search.understanding import Asked, plain
from carrel.telemetry import log, timed
from carrel.types import Degradation, Mode, SearchResult, Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from carrel.types import Filter, Named, Passage

__all__ = ["LONGEST_QUERY", "Pipeline", "check_filter", "check_query", "search", "strategy_of"]

LONGEST_QUERY = 2000
_LARGEST = 10**18
_NO_TEXT = re.compile(r"[\x00\ud800-\udfff]")
"""What no paper has: zeros, and the halves of characters that bytes from elsewhere leave on a command line."""
_DEEPEST = 25_600
_STRATEGIES = {
    frozenset({"vector"}): Strategy.VECTOR_ONLY,
    frozenset({"keyword"}): Strategy.KEYWORD_ONLY,
    frozenset({"graph"}): Strategy.GRAPH_ONLY,
}
_NOTHING = Found([], {}, [], is_everything=True)


def search(
    query: str,
    *,
    mode: Mode,
    limit: int | None,
    where: Filter,
    pipeline: Pipeline,
    shape: Shape = PASSAGES,
    tells: bool = True,
) -> SearchResult:
    """The passages that best fit a question, with every arm's word on each; all that match when the limit is 0.

    Unless it `tells`, it does not say how many match and which concepts the question names.
    """
    check_query(query)
    check_filter(where)
    timings: dict[str, float] = {}
    by_meaning = mode in (Mode.HYBRID, Mode.VECTOR) and pipeline.meaning
    with timed(timings, "total"):
        if by_meaning:
            # Most queries are understood as they stand, and their vector is what takes longest.
            by_meaning.begin(query)
        with timed(timings, "understanding"):
            asked = pipeline.understanding(query, where, mode) if pipeline.understanding else plain(query, where)
        able, foreign = suited(pipeline, asked.text, mode)
        request = _request(query, asked, mode, limit, where, able, shape)
        counted = _counted(able, asked, mode) if tells else None
        named = _named(request) if tells else None
        found, results = _enough(request, timings) if asked.where is not None else (_NOTHING, [])
        matched = _matched(counted, pipeline.options.arm_timeout) if "keyword" in found.rankings else None
    shown = [replace(one, rank=rank) for rank, one in enumerate(results[: request.limit or None], start=1)]
    more = len(results) > len(shown) or (bool(shown) and not found.is_everything)
    page, arranger = request.arranger.page, request.arranger
    counts = {name: len(hits) for name, hits in found.rankings.items()}
    concepts, no_concepts = _concepts(named, found, pipeline.options.arm_timeout) if named else ((), "")
    strategy = _strategy(frozenset(found.rankings or {mode.value}), found.degraded)
    log("search", logging.INFO, "searched", strategy=strategy.value, hits=counts, milliseconds=timings)
    return SearchResult(
        query=query,
        mode=mode,
        strategy=strategy,
        passages=tuple(shown),
        matched=matched,
        # What fails in the first round may fail in the second as well.
        degraded=tuple(dict.fromkeys(found.degraded)),
        timings=timings,
        counts=counts,
        where=request.where,
        understood=(*asked.steps, *foreign),
        concepts=concepts,
        no_concepts=no_concepts,
        by_paper=shape.by_paper,
        next_cursor=page.cursor(arranger.keys(shown), request.limit) if more and request.limit else None,
    )


def _named(request: Request) -> Begun[tuple[tuple[Named, ...], str]] | None:
    """What the query names of the graph, and why that is nothing: found out while passages are looked for."""
    graph, text = request.pipeline.concepts, request.asked.text
    return Begun(lambda: graph.told(text)) if graph and text and graph.has_a_say(request) else None


def _concepts(
    named: Begun[tuple[tuple[Named, ...], str]], found: Found, seconds: float
) -> tuple[tuple[Named, ...], str]:
    """The same, unless the graph had no part in the search or failed: if only now, that is said as well."""
    if not found.rankings or any(part.arm == "graph" for part in found.degraded):
        return (), ""
    try:
        return named.outcome(seconds)
    except Exception as error:  # A graph may be anybody's; the search does not fall with it.
        found.degraded.append(Degradation("graph", reason_of(error)))
        return (), ""


def _counted(pipeline: Pipeline, asked: Asked, mode: Mode) -> Begun[int | None] | None:
    """How many chunks match: counted while they are looked for."""
    understanding = pipeline.understanding
    if understanding is None or mode not in (Mode.HYBRID, Mode.KEYWORD) or not asked.text:
        return None
    return Begun(lambda: understanding.matches(asked))


def _matched(counted: Begun[int | None] | None, seconds: float) -> int | None:
    """None if nobody can tell, or not in time."""
    try:
        return counted.outcome(seconds) if counted else None
    except StoreUnavailable as error:
        log("search", logging.WARNING, "matches not counted", reason=error.message)
        return None


def _request(
    query: str, asked: Asked, mode: Mode, limit: int | None, where: Filter, pipeline: Pipeline, shape: Shape
) -> Request:
    options = pipeline.options
    diversity = options.diversity if shape.diversity is None else shape.diversity
    same = digest(query=query, mode=mode, where=shape.chosen_by or where, by_paper=shape.by_paper)
    page = open_page(shape.cursor, same)
    wanted = next(size for size in (limit, page.size, options.limit) if size is not None)
    if wanted < 0:
        raise InvalidInput(f"limit must not be negative, got {wanted}", hint="0 means all.")
    # Where everything is wanted, nothing is left out.
    collapse = options.collapse and wanted > 0
    vectors = pipeline.meaning.vectors if pipeline.meaning else None
    arranger = Arranger(shape.by_paper, diversity, collapse, page, pipeline.catalog, vectors)
    return Request(asked, mode, wanted, asked.where or where, pipeline, arranger)


def _enough(request: Request, timings: dict[str, float]) -> tuple[Found, list[Passage]]:
    """As many results as are needed, if there are: what was found first stays first, however deep it goes on."""
    ranked: dict[str, Passage] = {}
    found = _NOTHING
    for depth in _depths(request):
        found = find(request, depth, timings, found)
        for passage in found.passages:
            ranked.setdefault(passage.chunk.address, replace(passage, rank=len(ranked) + 1))
        with timed(timings, "arrange"):
            results = request.arranger.arrange(list(ranked.values()), found.degraded)
        if found.is_everything or (request.limit and len(results) >= request.limit):
            break
    return found, results


def _depths(request: Request) -> Iterator[int]:
    """Candidates to look at closely, the first always the same, so that no ranking begins otherwise than another."""
    depth = request.first_depth if request.limit else EVERY
    yield depth
    while depth < _DEEPEST:
        depth *= DEEPER
        yield depth


def strategy_of(mode: Mode) -> Strategy:
    """What a search of this mode does when nothing fails."""
    return _STRATEGIES.get(frozenset({mode.value}), Strategy.HYBRID)


def check_query(query: str) -> None:
    if not readable(query).strip():
        raise InvalidInput("Search query cannot be empty", hint="Give a few words or a question.")
    if len(query) > LONGEST_QUERY:
        raise InvalidInput(
            f"Query exceeds maximum length: {len(query)} > {LONGEST_QUERY} characters", hint="Shorten the query."
        )


def check_filter(where: Filter) -> None:
    """Refuse what no store can look for: it would fail in each of them in its own way."""
    for name in ("year_min", "year_max", "chapter", "section"):
        number = getattr(where, name)
        if number is not None and abs(number) >= _LARGEST:
            raise InvalidInput(f"{name} must have at most 18 digits, got {number}", hint="Give a smaller number.")
    texts = {"paper": where.paper_ids, "tag": where.tags, "venue": [where.venue], "topic": [where.topic]}
    for name, values in texts.items():
        if _NO_TEXT.search("".join(values)):
            wrong = next(value for value in values if _NO_TEXT.search(value))
            raise InvalidInput(f"{name} {wrong!r} is no text", hint="Type it again, in UTF-8.")


def _strategy(used: frozenset[str], degraded: Sequence[Degradation]) -> Strategy:
    if any(part.arm not in ("rerank", "diversity", ranking.FEEDBACK) for part in degraded):
        return Strategy.DEGRADED
    return _STRATEGIES.get(used, Strategy.HYBRID)
