"""From passages to papers: the same said once, something new first, one result for each paper."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import Library
from carrel.errors import InvalidInput, StoreUnavailable
from carrel.search import diversity, duplicates
from carrel.search.overlap import containment
from carrel.search.works import works
from carrel.testing import HashedWords
from carrel.types import Author, ChunkKind, Fused, Part, Passage, Published, Reference
from tests.builders import make_chunk
from tests.searching import Shelf, addresses

CHANCE = random.Random(3)  # noqa: S311
WORDS = ["".join(CHANCE.choices("abcdefghijklmnopqrstuvwxyz", k=CHANCE.randint(2, 9))) for _ in range(2000)]


def prose(seed: int, words: int = 120) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))  # noqa: S311


def passage(rank: int, text: str, paper_id: str = "a", **facts: Any) -> Passage:
    """The score falls by 0.1 from rank to rank."""
    score = facts.pop("score", 1 - rank / 10)
    chunk = make_chunk(paper_id, rank, text, **facts)
    return Passage(rank, chunk, score, Fused(chunk.address, score, {}), score)


def reference(paper_id: str, title: str = "Attention is all you need", **fields: Any) -> Reference:
    year = fields.pop("year", 2017)
    return Reference(id=paper_id, title=title, authors=(Author("Yu"),), published=Published(year), **fields)


# What two texts share


def test_case_line_breaks_hyphens_and_punctuation_make_no_difference() -> None:
    text = prose(1)
    broken = text.upper().replace(" ", "-\n", 30).replace(" ", ", ", 30)
    assert containment([text, broken])[0, 1] == 1.0


def test_the_shorter_is_looked_for_in_the_longer() -> None:
    text = prose(1, 300)
    part, half = " ".join(text.split()[100:200]), f"{' '.join(text.split()[:100])} {prose(2, 100)}"
    shares = containment([text, part, half, prose(3, 300)])
    assert shares[0, 1] == 1.0
    assert 0.4 < shares[0, 2] < 0.6
    assert shares[0, 3] == shares[1, 2] == 0.0


def test_a_changed_word_here_and_there_is_a_small_difference() -> None:
    words = prose(1, 300).split()
    revised = [word if number % 60 else "changed" for number, word in enumerate(words)]
    assert 0.8 < containment([" ".join(words), " ".join(revised)])[0, 1] < 1.0


def test_languages_without_blanks_are_compared_too() -> None:
    text = "".join(random.Random(1).choices([chr(code) for code in range(0x4E00, 0x5000)], k=300))  # noqa: S311
    assert containment([text, text[:150] + "\n" + text[150:]])[0, 1] == 1.0


def test_a_text_of_a_few_words_is_like_no_other() -> None:
    assert containment(["Figure 1. Results.", "Figure 1. Results."])[0, 1] == 0.0


@given(st.lists(st.text(max_size=400) | st.just(prose(1)) | st.just("\ud800" * 300), max_size=6))
def test_any_texts_can_be_compared(texts: list[str]) -> None:
    shares = containment(texts)
    assert shares.shape == (len(texts), len(texts))
    assert ((shares >= 0) & (shares <= 1)).all()
    assert np.array_equal(shares, shares.T)


def test_two_hundred_passages_are_compared_in_no_time() -> None:
    texts = [prose(seed, 400) for seed in range(200)]
    start = time.process_time()
    containment(texts)
    assert time.process_time() - start < 0.5  # A few hundredths, but not on a busy machine.


# Which papers are one work


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (reference("a", year=2017), reference("b", title="ATTENTION is All You Need!", year=2019)),
        (reference("a", year=0), reference("b")),
        (
            reference("a", "One title", doi="10.1101/2020.01.02.123456v1"),
            reference("b", doi="10.1101/2020.01.02.123456"),
        ),
        (reference("a", "One title", arxiv_id="1706.03762v5"), reference("b", doi="10.48550/arXiv.1706.03762")),
        (reference("a", "One title", doi="10.1000/final", supersedes="10.1101/1"), reference("b", doi="10.1101/1")),
    ],
)
def test_versions_of_one_work_are_recognised(one: Reference, other: Reference) -> None:
    known = works([one, reference("c", "Something else entirely"), other])
    assert known.of("a") == known.of("b") != known.of("c")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (reference("a", year=2010), reference("b", year=2017)),
        (reference("a"), replace(reference("b"), authors=(Author("Ng"),))),
        (reference("a"), replace(reference("b"), authors=())),
        (reference("a", "Editorial"), reference("b", "Editorial")),
        (reference("a", "One title", doi="10.1000/1"), reference("b", doi="10.1000/12")),
        (reference("a", ""), reference("b", "")),
    ],
)
def test_papers_that_only_look_alike_are_two(one: Reference, other: Reference) -> None:
    known = works([one, other])
    assert known.of("a") != known.of("b")


@pytest.mark.parametrize(
    "preprint",
    [
        {"venue": "arXiv", "year": 2020},
        {"venue": "bioRxiv preprint", "doi": "10.1101/2020.01.02.123456", "year": 2021},
        {"doi": "10.48550/arXiv.1706.03762"},
        {"year": 2025},
    ],
)
def test_what_was_published_is_the_later_version(preprint: dict[str, Any]) -> None:
    known = works([reference("a", **preprint), reference("b", venue="Genome Research", doi="10.1101/gr.1234")])
    assert known.final("b") > known.final("a")


# The same said once


def collapse(passages: list[Passage], *references: Reference, by_paper: bool = False) -> list[tuple[str, list[str]]]:
    """What is kept, and what each stands for."""
    kept, _ = duplicates.collapse(passages, lambda ids: [r for r in references if r.id in ids], by_paper=by_paper)
    return [(one.chunk.address, list(one.duplicates)) for one in kept]


def test_the_better_of_two_equal_texts_is_kept_and_names_the_other() -> None:
    found = [passage(1, prose(1)), passage(2, prose(2)), passage(3, prose(1), "b"), passage(4, prose(3), "b")]
    assert collapse(found) == [("a/ch1/s1/p1", ["b/ch1/s1/p3"]), ("a/ch1/s1/p2", []), ("b/ch1/s1/p4", [])]


def test_an_abstract_that_stands_in_the_body_as_well_is_shown_once() -> None:
    abstract = passage(1, prose(1), kind=ChunkKind.ABSTRACT, address="a/abstract", part=Part.ABSTRACT)
    body = passage(2, f"{prose(1)} {prose(2)}")
    assert collapse([abstract, body]) == [("a/abstract", ["a/ch1/s1/p2"])]


def test_of_two_versions_that_fit_equally_the_published_one_is_kept_where_its_own_score_puts_it() -> None:
    preprint, published = reference("a", venue="arXiv", year=2020), reference("b", venue="ACL", year=2021)
    found = [
        passage(1, prose(1), "a", score=0.9),
        passage(2, prose(2), "c", score=0.89),
        passage(3, prose(1), "b", score=0.88),
        passage(4, prose(3), "c", score=0.1),
    ]
    assert collapse(found, preprint, published) == [
        ("c/ch1/s1/p2", []),
        ("b/ch1/s1/p3", ["a/ch1/s1/p1"]),
        ("c/ch1/s1/p4", []),
    ]


def test_a_preprint_that_fits_better_is_kept() -> None:
    preprint, published = reference("a", venue="arXiv"), reference("b", venue="ACL")
    found = [passage(1, prose(1), "a"), passage(2, prose(2), "c"), passage(3, prose(1), "b")]
    assert collapse(found, preprint, published)[0] == ("a/ch1/s1/p1", ["b/ch1/s1/p3"])


def test_a_revised_passage_is_the_same_in_two_versions_of_a_work_and_two_in_two_works() -> None:
    revised = f"{' '.join(prose(1).split()[:80])} {prose(2, 40)}"
    found = [passage(1, prose(1), "a", title="T"), passage(2, revised, "b", title="T")]
    assert collapse(found, reference("a"), reference("b")) == [("a/ch1/s1/p1", ["b/ch1/s1/p2"])]
    assert len(collapse(found, reference("a"), reference("b", "Quite another title"))) == 2


def test_a_form_of_words_for_another_matter_is_not_the_same() -> None:
    form = prose(1, 60)
    found = [
        passage(1, f"David Scofield, born in 1840. {form}", "a"),
        passage(2, f"Ulric Crocker of 1843. {form}", "b"),
    ]
    assert len(collapse(found, reference("a", "David Scofield"), reference("b", "Ulric Crocker"))) == 2
    assert len(collapse([found[0], replace(found[1], chunk=replace(found[1].chunk, paper_id="a"))])) == 1


def test_abstracts_of_two_versions_are_one_however_they_were_rewritten() -> None:
    facts: dict[str, Any] = {"kind": ChunkKind.ABSTRACT, "part": Part.ABSTRACT, "title": "Attention is all you need"}
    found = [
        passage(1, prose(1), "a", address="a/abstract", **facts),
        passage(2, prose(2), "b", address="b/abstract", **facts),
        passage(3, prose(3), "b"),
    ]
    assert collapse(found, reference("a"), reference("b")) == [("a/abstract", ["b/abstract"]), ("b/ch1/s1/p3", [])]


def test_two_figures_with_one_caption_are_two() -> None:
    found = [passage(1, prose(1), kind=ChunkKind.EXHIBIT), passage(2, prose(1), "b", kind=ChunkKind.EXHIBIT)]
    assert len(collapse(found)) == 2


def test_nothing_is_lost_and_the_rest_keeps_its_order() -> None:
    found = [passage(rank, prose(rank % 7), f"p{rank % 3}", score=1 / rank) for rank in range(1, 260)]
    kept = collapse(found)
    everything = [address for one, others in kept for address in (one, *others)]
    assert sorted(everything) == sorted(one.chunk.address for one in found)
    assert [address for address, _ in kept[-59:]] == [one.chunk.address for one in found[200:]]


# Something new first


def test_the_next_is_the_most_relevant_that_is_not_like_one_before() -> None:
    found = [passage(1, "x"), passage(2, "x"), passage(3, "x")]
    rows = np.array([[1, 0, 0], [0.99, 0.14, 0], [0, 1, 0]], dtype=np.float32)
    vectors = {one.chunk.address: row for one, row in zip(found, rows, strict=True)}
    spread = diversity.spread(found, vectors, 0.5)
    assert [(one.rank, one.probability) for one in spread] == [(1, 0.9), (3, 0.7), (2, 0.8)]
    assert diversity.spread(found, vectors, 0.0) == found


def test_without_vectors_a_passage_is_like_those_of_its_paper() -> None:
    found = [passage(1, "x", "a"), passage(2, "x", "a"), passage(3, "x", "b")]
    assert [one.rank for one in diversity.spread(found, {}, 0.5)] == [1, 3, 2]


def test_scores_of_two_kinds_are_not_weighed_against_each_other() -> None:
    found = [passage(1, "x"), passage(2, "x"), replace(passage(3, "x", "b", score=40.0), probability=None)]
    assert [one.rank for one in diversity.spread(found, {}, 0.9)] == [1, 2, 3]


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abc"), st.booleans()), max_size=12), st.floats(0, 1))
def test_every_passage_stays_and_the_best_stays_first(drawn: list[tuple[float, str, bool]], weight: float) -> None:
    scores = sorted((score for score, _, _ in drawn), reverse=True)
    found = [passage(n, "x", paper, score=s) for n, (s, (_, paper, _)) in enumerate(zip(scores, drawn, strict=True), 1)]
    row = np.ones(2, dtype=np.float32) / np.float32(np.sqrt(2))
    vectors = {one.chunk.address: row for one, (_, _, held) in zip(found, drawn, strict=True) if held}
    spread = diversity.spread(found, vectors, weight)
    assert sorted(one.rank for one in spread) == [one.rank for one in found]
    assert spread[:1] == found[:1]


@pytest.mark.parametrize("wrong", [-0.1, 1.5, float("nan")])
def test_diversity_is_between_0_and_1(wrong: float) -> None:
    with pytest.raises(InvalidInput, match="diversity must be between 0 and 1"):
        Shelf().search(diversity=wrong)


def test_a_vector_store_that_fails_costs_the_diversity_and_not_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf()
    shelf.put(reference("a"), {make_chunk("a", n): 1 / n for n in (1, 2)})

    def fail(_: object) -> None:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(shelf.vectors, "many", fail)
    result = shelf.search(diversity=0.5)
    assert addresses(result.passages) == ["a/ch1/s1/p1", "a/ch1/s1/p2"]
    assert [(part.arm, part.reason) for part in result.degraded] == [("diversity", "gone")]
    assert result.strategy.value == "keyword_only"


# One result for each paper


def test_a_papers_best_passage_stands_for_it_and_the_others_are_under_it() -> None:
    shelf = Shelf()
    shelf.put(reference("a", "First title of all"), {make_chunk("a", 1): 5.0, make_chunk("a", 2): 2.0})
    shelf.put(reference("b", "Second title of all"), {make_chunk("b", 1): 3.0})
    result = shelf.search(by_paper=True)
    shown = result.as_dict()["results"]
    assert [(one["rank"], one["address"]) for one in shown] == [(1, "a/ch1/s1/p1"), (2, "b/ch1/s1/p1")]
    assert [one["address"] for one in shown[0]["passages"]] == ["a/ch1/s1/p2"]
    assert shown[0]["score"] > shown[1]["score"] > shown[0]["passages"][0]["score"]
    assert "rank" not in shown[0]["passages"][0]
    assert shown[1]["passages"] == []
    assert result.as_dict()["by_paper"]


def test_a_book_that_fills_all_candidates_does_not_hide_the_other_papers() -> None:
    shelf = Shelf()
    shelf.put(reference("book", "A very long book"), {make_chunk("book", n): 1000.0 - n for n in range(1, 301)})
    for number in range(12):
        shelf.put(reference(f"p{number:02}", f"Paper {number} of twelve"), {make_chunk(f"p{number:02}"): 12.0 - number})
    assert {one.chunk.paper_id for one in shelf.search(limit=100).passages} == {"book"}
    shelf.depths.clear()
    result = shelf.search(by_paper=True, limit=10)
    assert [one.chunk.paper_id for one in result.passages] == ["book", *(f"p{number:02}" for number in range(9))]
    assert shelf.depths == [200, 480]


def test_a_search_that_goes_deeper_begins_as_one_that_does_not() -> None:
    shelf = Shelf()
    shelf.put(reference("book"), {make_chunk("book", n): 1000.0 - n for n in range(1, 1001)})
    few, many = shelf.search(limit=10), shelf.search(limit=700)
    assert addresses(many.passages)[:10] == addresses(few.passages)
    assert len(many.passages) == 700
    assert shelf.depths == [200, 200, 480, 1920]


def test_a_library_with_fewer_papers_is_asked_no_more_than_it_has() -> None:
    shelf = Shelf()
    shelf.put(reference("book"), {make_chunk("book", n): 1000.0 - n for n in range(1, 301)})
    result = shelf.search(by_paper=True)
    assert (len(result.passages), len(result.passages[0].others)) == (1, 29)
    assert (shelf.depths, result.next_cursor) == ([200, 480], None)


def test_two_versions_are_one_paper_and_two_papers_that_share_a_page_are_two() -> None:
    shelf = Shelf()
    shelf.put(reference("preprint", venue="arXiv"), {make_chunk("preprint", 1, prose(1)): 3.0})
    published = {make_chunk("published", 1, prose(1)): 3.0, make_chunk("published", 2, prose(2)): 2.0}
    shelf.put(reference("published", venue="ACL"), published)
    shelf.put(reference("thesis", "A thesis that has it all"), {make_chunk("thesis", 1, prose(1)): 1.0})
    best, thesis = shelf.search(by_paper=True).passages
    assert (best.chunk.address, best.duplicates) == ("published/ch1/s1/p1", ("preprint/ch1/s1/p1",))
    assert addresses(best.others) == ["published/ch1/s1/p2"]
    assert (thesis.chunk.paper_id, thesis.duplicates) == ("thesis", ())
    assert [one.chunk.paper_id for one in shelf.search(by_paper=True, collapse=False).passages] == [
        "preprint",
        "published",
        "thesis",
    ]


def test_where_everything_is_asked_for_nothing_is_left_out() -> None:
    shelf = Shelf()
    shelf.put(reference("a"), {make_chunk("a", 1, prose(1)): 3.0, make_chunk("a", 2, prose(1)): 2.0})
    assert [one.duplicates for one in shelf.search().passages] == [("a/ch1/s1/p2",)]
    everything = shelf.search(limit=0)
    assert addresses(everything.passages) == ["a/ch1/s1/p1", "a/ch1/s1/p2"]
    assert everything.next_cursor is None


# On a real library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A preprint, its publication, and another paper, all about the same."""
    abstract = f"Sparse retrieval beats dense retrieval on rare words. {prose(1, 60)}"
    records = [
        {"id": "pre", "title": "Sparse retrieval of rare words", "abstract": abstract, "venue": "arXiv"},
        {"id": "pub", "title": "Sparse retrieval of rare words", "abstract": abstract, "venue": "ACL"},
        {"id": "other", "title": "Dense retrieval", "abstract": f"Dense retrieval needs many examples. {prose(2, 60)}"},
    ]
    lines = [{**one, "authors": [{"first": "Ada", "last": "Yu"}], "published": {"year": 2020}} for one in records]
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    made = Library.init(tmp_path / "library", embedder=HashedWords())
    made.add(tmp_path / "in.jsonl")
    return made


def test_a_preprint_and_its_publication_are_one_result(library: Library) -> None:
    shown = library.search("sparse retrieval of rare words").as_dict()["results"]
    assert [(one["address"], one["duplicates"]) for one in shown] == [
        ("pub/abstract", ["pre/abstract"]),
        ("other/abstract", []),
    ]
    papers = library.search("sparse retrieval of rare words", by_paper=True, diversity=0.3)
    assert [one.chunk.paper_id for one in papers.passages] == ["pub", "other"]


def test_an_answer_does_not_cite_both_as_if_they_were_two(library: Library, tmp_path: Path) -> None:
    both = Library.open(tmp_path / "library", embedder=HashedWords(), overrides={"answer.threshold": 0.0})
    cited = {citation.chunk.paper_id for citation in both.ask("Does sparse retrieval beat dense retrieval?").citations}
    assert "pub" in cited
    assert "pre" not in cited
