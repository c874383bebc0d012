"""The best sentences of what was found, and as much around them as a generator has room for."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.answer import evidence
from carrel.answer.quotable import quotable
from carrel.errors import ModelServerUnavailable
from carrel.testing import HashedWords
from carrel.types import Chunk, ChunkKind, Degradation, Excerpt, Fused, Matrix, Part, Passage, Span

ASPIRIN = (
    "Aspirin has been used for a century. We aimed to find out whether aspirin lowers the risk of colorectal cancer. "
    "In 1,200 patients aspirin lowered the risk of colorectal cancer by 24 %. Cats were not examined in this trial."
)


class Counting(HashedWords):
    """Says how many texts it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.asked += len(texts)
        return super().embed_passages(texts)


class Gone(HashedWords):
    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        raise ModelServerUnavailable("the server is gone")


def passage(rank: int, text: str, probability: float | None = 0.5, kind: ChunkKind = ChunkKind.ABSTRACT) -> Passage:
    chunk = Chunk(f"p{rank}/abstract", f"p{rank}", Part.ABSTRACT, kind, text, 0, len(text), title=f"T{rank}")
    return Passage(rank, chunk, probability or 0.1, Fused(chunk.address, 0.1, {}), probability)


def ranked(excerpts: Sequence[Excerpt]) -> list[str]:
    """The sentences, best first."""
    scored = [(-score, one.text[span.start : span.end]) for one in excerpts for span, score in one.sentences]
    return [text for _, text in sorted(scored)]


def test_the_sentence_that_says_what_was_found_comes_before_the_one_that_says_what_was_looked_for() -> None:
    excerpts = evidence.select(
        "Does aspirin lower the risk of colorectal cancer?", [passage(1, ASPIRIN)], HashedWords()
    )
    assert ranked(excerpts)[0].startswith("In 1,200 patients")


def test_sentences_stay_in_order_of_text_and_excerpts_keep_their_numbers() -> None:
    excerpts = evidence.select("aspirin", [passage(1, ASPIRIN), passage(2, "Ok."), passage(3, ASPIRIN)], HashedWords())
    assert [one.number for one in excerpts] == [1, 2, 3]
    assert [one.title for one in excerpts] == ["T1", "T2", "T3"]
    assert excerpts[1].sentences == ()
    starts = [span.start for span, _ in excerpts[0].sentences]
    assert starts == sorted(starts)
    assert len(starts) == 4


def test_a_sentence_of_a_likelier_passage_scores_more() -> None:
    first, second = evidence.select("aspirin", [passage(1, ASPIRIN, 0.9), passage(2, ASPIRIN, 0.2)], HashedWords())
    assert all(one > other for (_, one), (_, other) in zip(first.sentences, second.sentences, strict=True))


def test_where_a_number_is_asked_for_sentences_with_one_score_more() -> None:
    text = "The virus infected many people in the town. The virus infected 312 people in the town."
    (many,) = evidence.select(
        "How many people did the virus infect?", [passage(1, text, kind=ChunkKind.PASSAGE)], Gone()
    )
    (which,) = evidence.select("Which people did the virus infect?", [passage(1, text, kind=ChunkKind.PASSAGE)], Gone())
    assert many.sentences[1][1] - many.sentences[0][1] > which.sentences[1][1] - which.sentences[0][1]


@pytest.mark.parametrize(
    "nothing",
    [
        "# Results and discussion of this",
        "```\nfor i in range(10): print(i)\n```",
        "| a | table | of | four |",
        "[12] Smith J, Jones K. A study of rats. J Rats. 2004;12:33-40.",
        "3. Smith, J., Jones, K. A study of rats and their habits.",
        "© 2004 The Authors, who have written all of this.",
        "This is an open access article distributed under the terms of something.",
        "The authors declare that they have no competing interests at all.",
        "Keywords: rats, habits, study, sleep",
        "12.3 4.5 6.7 8.9 10.1 and 3 x",
        "Too short.",
        "word " * 300,
    ],
)
def test_what_no_reader_would_quote_is_not_offered(nothing: str) -> None:
    assert quotable(1, passage(1, nothing)) == []


def test_chinese_sentences_may_be_quoted() -> None:
    (one, two) = quotable(1, passage(1, "阿司匹林可降低结直肠癌的风险。它很便宜而且安全。"))
    assert one.text == "阿司匹林可降低结直肠癌的风险。"
    assert two.text == "它很便宜而且安全。"


def test_few_sentences_are_embedded_however_long_the_passages_are() -> None:
    long = " ".join(f"Sentence number {word} speaks of aspirin and risk." for word in "abcdefghijklmnopqrstuvwxyz" * 8)
    embedder, began = Counting(), time.perf_counter()
    excerpts = evidence.select("aspirin", [passage(rank, long) for rank in range(1, 6)], embedder)
    assert embedder.asked == 24
    assert len(excerpts[4].sentences) == 26 * 8
    assert time.perf_counter() - began < 10


def test_an_embedder_that_fails_leaves_the_words_to_tell_and_that_is_told() -> None:
    question, degraded = "Does aspirin lower the risk of colorectal cancer?", list[Degradation]()
    excerpts = evidence.select(question, [passage(1, ASPIRIN)], Gone(), degraded)
    assert ranked(excerpts)[0].startswith("In 1,200 patients")
    assert [part.arm for part in degraded] == ["evidence"]


def test_a_question_in_a_script_that_the_embedder_does_not_know_is_not_embedded() -> None:
    embedder = Counting()
    embedder.languages = frozenset({"en"})  # type: ignore[attr-defined]
    evidence.select("阿司匹林可降低风险吗", [passage(1, ASPIRIN)], embedder)
    assert embedder.asked == 0


@pytest.mark.parametrize("question", ["", "?!", "the of and"])
def test_a_question_without_words_is_borne(question: str) -> None:
    (one,) = evidence.select(question, [passage(1, ASPIRIN)], HashedWords())
    assert all(np.isfinite(score) for _, score in one.sentences)


def test_nothing_found_is_no_evidence() -> None:
    assert evidence.select("aspirin", [], HashedWords()) == ()
    assert evidence.pack((), tokens=100) == ()


def excerpt(number: int, *sentences: tuple[str, float]) -> Excerpt:
    text = " ".join(sentence for sentence, _ in sentences)
    spans = [Span(text.index(sentence), text.index(sentence) + len(sentence)) for sentence, _ in sentences]
    scored = tuple((span, score) for span, (_, score) in zip(spans, sentences, strict=True))
    return Excerpt(number, f"T{number}", text, scored)


def test_what_fits_is_offered_whole() -> None:
    some = (excerpt(1, ("Aspirin lowers the risk of cancer.", 0.5)), excerpt(2, ("Cats purr at night.", 0.1)))
    assert evidence.pack(some, tokens=4096) == some


def test_where_room_is_short_the_best_sentences_are_offered_in_order_of_text() -> None:
    filler = ("Nothing of interest happened in the second year of the trial.", 0.0)
    one = excerpt(1, ("Aspirin lowers the risk of cancer.", 0.3), filler, ("It is also very cheap to make.", 0.1))
    two = excerpt(2, ("Aspirin prevents some of all tumours.", 0.4), (filler[0].replace("second", "third"), -0.1))
    first, second = evidence.pack((one, two), tokens=32)
    assert first.shown == "Aspirin lowers the risk of cancer."
    assert second.shown == "Aspirin prevents some of all tumours."
    assert (first.number, second.number, first.text) == (1, 2, one.text)


def test_a_sentence_that_leans_on_the_one_before_it_brings_that() -> None:
    one = excerpt(
        1,
        ("Nothing of interest happened in the second year of the trial in any of the groups.", 0.0),
        ("Aspirin was given to all patients.", 0.1),
        ("It lowered the risk of cancer by a quarter.", 0.9),
    )
    (packed,) = evidence.pack((one,), tokens=33)
    assert packed.shown == "Aspirin was given to all patients. It lowered the risk of cancer by a quarter."


def test_what_is_left_out_between_is_marked_and_neighbours_are_one_stretch() -> None:
    one = excerpt(
        1,
        ("Aspirin lowers the risk of cancer.", 0.9),
        ("Aspirin prevents some of all tumours.", 0.8),
        ("Nothing of interest happened in the second year of the trial in any of the groups.", 0.0),
        ("Patients on aspirin lived longer than others.", 0.7),
    )
    (packed,) = evidence.pack((one,), tokens=51)
    assert packed.offered is not None
    assert len(packed.offered) == 2
    assert packed.shown.count("[…]") == 1
    assert packed.shown.startswith("Aspirin lowers the risk of cancer. Aspirin prevents some of all tumours. […]")


def test_the_same_sentence_of_two_papers_fills_the_room_once() -> None:
    same = "Aspirin lowers the risk of colorectal cancer in all patients."
    filler = ("Nothing of interest happened in the second year of the trial in any of the groups.", 0.0)
    packed = evidence.pack((excerpt(1, (same, 0.9), filler), excerpt(2, (same, 0.8), filler)), tokens=44)
    assert [one.number for one in packed] == [1]


SENTENCES = st.lists(
    st.tuples(
        st.sampled_from(["Aspirin lowers it.", "It is cheap.", "这是一个句子。", "Cats purr.", "Rats sleep."]),
        st.floats(-1, 1),
    ),
    min_size=1,
    max_size=8,
)


@given(st.lists(SENTENCES, max_size=4), st.integers(0, 200))
def test_packing_never_exceeds_its_room_and_offers_only_what_is_there(
    texts: list[list[tuple[str, float]]], tokens: int
) -> None:
    some = []
    for number, sentences in enumerate(texts, start=1):
        text, spans = "", []
        for sentence, score in sentences:
            spans.append((Span(len(text), len(text) + len(sentence)), score))
            text += f"{sentence} "
        some.append(Excerpt(number, "T", text, tuple(spans)))
    packed = evidence.pack(some, tokens=tokens)
    assert sum(len(one.shown) for one in packed) <= max(4 * tokens, 0)
    for one in packed:
        for span in one.offered or ():
            assert 0 <= span.start < span.end <= len(one.text)
