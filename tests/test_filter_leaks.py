"""Nothing comes that a filter does not allow, and of what it allows nothing better is missing.

Truth is found by looking at everything: `Filter.matches` on each chunk says what is allowed, and an arm's word on all
chunks, without a filter, says how they rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from carrel import Library
from carrel.catalogs import Entry
from carrel.references import jsonl
from carrel.rerankers.fused import Fused
from carrel.search import Pipeline, arms, ranking, search
from carrel.search.arranging import Shape
from carrel.search.concepts import Concepts
from carrel.search.understanding import Understanding
from carrel.selecting import narrowed_by_fields
from carrel.settings import Search
from carrel.testing import HashedWords
from carrel.types import EVERYTHING, QUOTABLE, Chunk, Filter, Hit, Mode, Part, SearchResult
from tests.random_libraries import NAMES, TAGS, VENUES, YEARS, RandomLibrary
from tests.test_library import record, write_refs

if TYPE_CHECKING:
    from carrel.search.arms import Arm

LIBRARIES, PAIRS, PAPERS = 20, 500, 10
WHOLE = 20
"""One pair in so many goes through the whole search, too, each in another way."""
ALL = 1_000_000
NEAR = 2e-6
"""Cosines are rounded to six digits."""
FUSIONS = tuple(Search(fusion=name, candidates=12) for name in ("z_score", "rrf", "min_max"))
ARMS = ("vector", "keyword", "graph")
SILENT = ("keyword", "graph")
"""Arms for which what they do not name has a score of 0."""


@dataclass
class Truth:
    """What the arms of a library should say, found by brute force."""

    library: RandomLibrary
    known: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    """By arm and query: the scores of all chunks that the arm names."""

    def __post_init__(self) -> None:
        self.arms: dict[str, Arm] = {
            "vector": arms.vector_arm(self.library.meaning),
            "keyword": arms.keyword_arm(self.library.keywords),
            # Hops lead to no more than some passages of each concept: what these are depends on what is allowed.
            "graph": arms.graph_arm(Concepts(self.library.graph, hops=0)),
        }
        texts = [chunk.embedded_text for chunk in self.library.embedded]
        self.rows = self.library.meaning.embedder.embed_passages(texts).astype(np.float64)

    def allowed(self, where: Filter) -> set[str]:
        return {address for address, chunk in self.library.chunks.items() if where.matches(chunk)}

    def checked(self, name: str, query: str, limit: int, where: Filter, among: set[str]) -> list[Hit]:
        """What an arm finds: exactly the best of what is allowed."""
        hits = self.arms[name](query, limit, where)
        if (name, query) not in self.known:
            self.known[name, query] = self._cosines(query) if name == "vector" else everything(self.arms[name], query)
        if name == "vector" and not where.kinds:
            # A reader's own note is found only by those who ask for notes.
            among = {address for address in among if self.library.chunks[address].kind in QUOTABLE}
        check_best(hits, self.known[name, query], among, limit, NEAR * (name == "vector"))
        return hits

    def _cosines(self, query: str) -> dict[str, float]:
        vector = self.library.meaning.embedder.embed_query(query).astype(np.float64)
        return {chunk.address: float(row @ vector) for chunk, row in zip(self.library.embedded, self.rows, strict=True)}


def everything(arm: Arm, query: str) -> dict[str, float]:
    """What an arm says without any filter."""
    return {hit.address: hit.score for hit in arm(query, ALL, EVERYTHING)}


def check_best(hits: Sequence[Hit], scores: Mapping[str, float], among: set[str], limit: int, near: float) -> None:
    """In order, with their true scores, none that is not allowed, and none left out for a worse one."""
    found = {hit.address for hit in hits}
    assert found <= among, f"leaked: {found - among}"
    assert all(abs(hit.score - scores[hit.address]) <= near for hit in hits)
    left = sorted((-scores[address], address) for address in among.intersection(scores) - found)
    assert len(hits) == len(found) == min(limit, len(found) + len(left))
    order = [(-hit.score, "" if near else hit.address) for hit in hits]
    assert order == sorted(order)
    if hits and left:
        assert (hits[-1].score >= -left[0][0] - near) if near else (order[-1] < left[0])


def fused(rankings: Mapping[str, Sequence[Hit]], options: Search) -> dict[str, float]:
    """The score of each chunk after fusion, by the definitions alone."""
    total: dict[str, float] = {}
    for arm, hits in rankings.items():
        weight = options.weight_vector if arm == "feedback" else getattr(options, f"weight_{arm}")
        if arm == "vector" and "feedback" in rankings:
            weight = 0.0
        given = shares(np.array([hit.score for hit in hits]), options, padded=arm in SILENT) if hits else ()
        for hit, share in zip(hits, given, strict=True):
            total[hit.address] = total.get(hit.address, 0.0) + weight * float(share)
    return total


def shares(scores: NDArray[np.float64], options: Search, *, padded: bool) -> NDArray[np.float64]:
    if options.fusion == "rrf":
        return 1 / (60.0 + np.arange(1, len(scores) + 1))
    if options.fusion == "min_max":
        span = np.ptp(scores)
        return (scores - scores.min()) / span if span else np.ones(len(scores))
    usual = scores[: options.candidates]
    usual = np.append(usual, np.zeros(options.candidates - len(usual) if padded else 0))
    spread = usual.std()
    return (scores - usual.min()) / spread if spread > 1e-9 else np.zeros(len(scores))


def test_of_ten_thousand_filters_and_questions_none_leaks_or_loses_in_any_arm_or_fusion(tmp_path: Path) -> None:
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as processes:
        seen = sum(processes.map(partial(proved, tmp_path), range(LIBRARIES)), Counter[str]())
    assert seen["pairs"] == LIBRARIES * PAIRS == 10_000
    assert seen["whole"] == 500
    # Not for want of anything to find: each arm often finds more than is asked for, or less, or nothing.
    assert min(seen[f"{arm} {amount}"] for arm in ARMS for amount in ("cut", "all", "none")) > 250, seen
    assert min(seen["shown"], seen["page"], seen["fused"]) > 30, seen


def proved(folder: Path, seed: int) -> Counter[str]:
    """The pairs of one library, every one with its answer proved right; returns what was seen."""
    library, seen = RandomLibrary.make(folder / str(seed), seed, PAPERS), Counter[str]()
    truth = Truth(library)
    for query, where in pairs_of(library):
        limit, among = library.chance.choice((1, 3, 12)), truth.allowed(where)
        rankings = {arm: truth.checked(arm, query, limit, where, among) for arm in ARMS}
        for options in FUSIONS:
            ranked = [Hit(one.address, one.score) for one in ranking.fuse(rankings, options)]
            check_best(ranked, fused(rankings, options), among, ALL, near=1e-9)
        for arm, hits in rankings.items():
            seen[f"{arm} {'none' if not hits else 'cut' if len(hits) == limit else 'all'}"] += 1
        seen["pairs"] += 1
        if not seen["pairs"] % WHOLE:
            seen.update(check_whole(truth, query, where))
    library.close()
    return seen


def pairs_of(library: RandomLibrary) -> Iterator[tuple[str, Filter]]:
    """No two of which are the same."""
    questions, before = [library.question() for _ in range(25)], set[tuple[str, Filter]]()
    while len(before) < PAIRS:
        pair = library.chance.choice(questions), library.filter()
        if pair not in before:
            before.add(pair)
            yield pair


@dataclass
class Watched:
    """Arms of which every answer is compared with the truth, and remembered."""

    truth: Truth
    answers: dict[str, list[list[Hit]]] = field(default_factory=dict)
    query: str = ""
    """As it was understood."""

    def arms(self) -> dict[str, Arm]:
        return {name: partial(self._ask, name) for name in self.truth.arms}

    def adapted(self, arm: Arm) -> Arm:
        """One that a query's phrases or fields made, in the place of the keyword arm or of all."""

        def find(query: str, limit: int, where: Filter) -> list[Hit]:
            hits, among = arm(query, limit, where), self.truth.allowed(where)
            if query:
                check_best(hits, everything(arm, query), among, limit, near=0.0)
                self.answers.setdefault("keyword", []).append(hits)
            assert among.issuperset(hit.address for hit in hits)
            return hits

        return find

    def _ask(self, name: str, query: str, limit: int, where: Filter) -> list[Hit]:
        self.query = query
        hits = self.truth.checked(name, query, limit, where, self.truth.allowed(where))
        self.answers.setdefault(name, []).append(hits)
        return hits


def check_whole(truth: Truth, query: str, where: Filter) -> Iterator[str]:
    """The same pair in a whole search: with or without fields, a second round, a reranker, in one shape or another."""
    library, chance, watched = truth.library, truth.library.chance, Watched(truth)
    options = Search(
        fusion=chance.choice(("z_score", "rrf", "min_max")),
        feedback=chance.choice((0, 2)),
        candidates=chance.choice((5, 40)),
        shortlist=chance.choice((5, 40)),
        collapse=chance.random() < 0.3,
    )
    asked, means = with_field(library, query) if chance.random() < 0.4 else (query, lambda _: True)
    narrow = partial(narrowed_by_fields, references=lambda: library.references)
    understanding = Understanding(library.keywords, library.catalog, options, narrow, watched.adapted)
    reranker = chance.choice((None, Fused()))
    pipeline = Pipeline(
        watched.arms(), library.catalog, reranker, options, understanding=understanding, meaning=library.meaning
    )
    shape = Shape(by_paper=chance.random() < 0.2, diversity=chance.choice((0.0, 0.0, 0.0, 0.5)))
    mode = chance.choice((*[Mode.HYBRID] * 6, *Mode))
    find = partial(search, asked, mode=mode, limit=chance.choice((0, 3, 8)), where=where, pipeline=pipeline)
    result = find(shape=shape)
    check_shown(result, where, means, library)
    yield "whole"
    if result.passages:
        yield "shown"
    if mode == Mode.HYBRID and asked == query and not (reranker or options.collapse or shape != Shape(diversity=0.0)):
        yield "fused" if is_fused(result, watched, options) else "deeper"
    if result.next_cursor:
        following = find(shape=Shape(shape.by_paper, shape.diversity, result.next_cursor))
        check_shown(following, where, means, library)
        assert set(addresses(result)).isdisjoint(addresses(following))
        yield "page"


def with_field(library: RandomLibrary, query: str) -> tuple[str, Callable[[Chunk], bool]]:
    """A query that asks something of the papers' records, and what that means."""
    chance = library.chance
    year, name = chance.choice(YEARS) or 2017, chance.choice(NAMES)
    tag = chance.choice([tag for tag in TAGS if any(map(str.isalnum, tag))])
    venue = chance.choice([venue for venue in VENUES if venue and "\n" not in venue])
    fields: list[tuple[str, Callable[[Chunk], bool]]] = [
        (f"year:{year}", lambda chunk: chunk.year == year),
        (f"year:>={year}", lambda chunk: chunk.year >= year),
        (f"year:2018-{year}", lambda chunk: min(2018, year) <= chunk.year <= max(2018, year)),
        (f'tag:"{tag}"', lambda chunk: tag in chunk.tags),
        (f'VENUE:"{venue}"', lambda chunk: venue.casefold() in chunk.venue.casefold()),
        (f'author:"{name}"', lambda chunk: f"Ada {name}" in chunk.authors),
    ]
    text, means = chance.choice(fields)
    return chance.choice((text, f"{query} {text}", f'{text} "{query}"')), means


def check_shown(result: SearchResult, where: Filter, means: Callable[[Chunk], bool], library: RandomLibrary) -> None:
    """Whatever is shown or named of a result is the library's own chunk, and allowed."""
    assert result.degraded == ()
    for address in addresses(result):
        assert where.matches(library.chunks[address])
        assert means(library.chunks[address])
    for passage in result.passages:
        assert passage.chunk is library.chunks[passage.chunk.address]


def addresses(result: SearchResult) -> list[str]:
    """Of all that is shown of a result, and of what is not shown for being the same."""
    shown = [one for passage in result.passages for one in (passage, *passage.others)]
    return [address for one in shown for address in (one.chunk.address, *one.duplicates)]


def is_fused(result: SearchResult, watched: Watched, options: Search) -> bool:
    """Whether what is shown was compared with the fusion of what the arms said, a second round included."""
    if any(len(answers) != 1 for answers in watched.answers.values()):
        return False
    rankings = {name: answers[0] for name, answers in watched.answers.items()}
    if options.feedback and (drawn := second_round(rankings, watched, options)):
        rankings["feedback"] = drawn
    shown = [Hit(passage.chunk.address, passage.score) for passage in result.passages]
    scores = fused(rankings, options)
    # The last digit of a cosine may differ, and is magnified where cosines are much alike.
    check_best(shown, scores, set(scores), len(shown), near=1e-3 if "feedback" in rankings else 1e-9)
    return True


def second_round(rankings: Mapping[str, list[Hit]], watched: Watched, options: Search) -> list[Hit]:
    """What was named, by its nearness to the question and the best of the first round."""
    meaning = watched.truth.library.meaning
    first = [one.address for one in ranking.fuse(rankings, options)][: options.candidates]
    rows = meaning.vectors.many(first)
    best = [rows[address] for address in first[: min(options.feedback, options.shortlist)] if address in rows]
    vector = meaning.of_question(watched.query).astype(np.float64)
    if best:
        vector += options.feedback_weight * np.mean(best, axis=0)
    similarities = {address: float(row @ vector / np.linalg.norm(vector)) for address, row in rows.items()}
    hits = [Hit(address, round(one, 6)) for address, one in similarities.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.address))


def test_pages_of_a_filtered_search_are_the_whole_of_it_and_nothing_else(tmp_path: Path) -> None:
    library = RandomLibrary.make(tmp_path, 4, papers=20)
    options = Search(collapse=False, candidates=10, shortlist=4)
    pipeline = Pipeline(Truth(library).arms, library.catalog, Fused(), options, meaning=library.meaning)
    pages = 0
    for where in (library.filter() for _ in range(40)):
        find = partial(search, "graph", mode=Mode.KEYWORD, where=where, pipeline=pipeline)
        result = find(limit=3)
        seen, pages = addresses(result), pages + 1
        while result.next_cursor:
            result = find(limit=3, shape=Shape(cursor=result.next_cursor))
            seen, pages = [*seen, *addresses(result)], pages + 1
        allowed = {address for address, chunk in library.chunks.items() if where.matches(chunk)}
        assert len(seen) == len(set(seen))
        assert set(seen) == allowed.intersection(everything(pipeline.arms["keyword"], "graph"))
    assert pages > 80
    library.close()


def test_a_tag_that_an_interrupted_run_took_away_finds_nothing_any_more(tmp_path: Path) -> None:
    """The catalog is told first: until the run is repeated, the indexes have the old tag."""
    with Library.init(tmp_path / "library", embedder=HashedWords()) as library:
        papers = [record(number, tags=["old"] if number < 3 else []) for number in range(6)]
        library.add(write_refs(tmp_path / "in.jsonl", papers))
        old = Filter(tags=frozenset({"old"}))
        assert {passage.chunk.paper_id for passage in library.search("subject", where=old).passages} == {
            *("paper0", "paper1", "paper2")
        }
        retag(library, "paper1", tags=("new",))
        for mode in Mode:
            for limit in (0, 1, 10):
                shown = library.search("subject1", mode=mode, where=old, limit=limit).passages
                assert all("old" in passage.chunk.tags for passage in shown), (mode, limit)
        retag(library, "paper0", tags=())
        retag(library, "paper2", tags=())
        assert library.search("subject1", where=old).passages == ()
        library.build_index()
        new = library.search("subject1", where=Filter(tags=frozenset({"new"}))).passages
        assert [passage.chunk.address for passage in new] == ["paper1/abstract"]


def retag(library: Library, paper_id: str, tags: tuple[str, ...]) -> None:
    """What a run leaves that was killed as soon as it had told the catalog."""
    catalog = library.stores.catalog
    (row,) = catalog.papers([paper_id])
    document = catalog.document(paper_id, Part.ABSTRACT)
    assert document is not None
    reference = replace(row.reference, tags=tags)
    chunks = tuple(chunk.with_facts(reference) for chunk in catalog.chunks_of([paper_id]))
    catalog.put([Entry(reference, document, chunks, listed=True)])
    jsonl.write(library.layout.refs, {paper_id: reference})
