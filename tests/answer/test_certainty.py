"""How sure the evidence makes us, and no surer than what is known of it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.answer import certainty as module
from carrel.answer.certainty import EMBEDDER, certainty, level
from carrel.types import Chunk, ChunkKind, Confidence, Excerpt, Fused, Part, Passage

QUESTION = "Does aspirin lower the risk of colorectal cancer?"
TEXT = "Aspirin lowered the risk of colorectal cancers by a quarter."
OF_FUSED = {"coverage": 0.5, "heading": 0.1}


def passage(probability: float | None, signals: Mapping[str, float] | None = None, text: str = TEXT) -> Passage:
    chunk = Chunk("p/abstract", "p", Part.ABSTRACT, ChunkKind.ABSTRACT, text, 0, len(text), title="On pain")
    return Passage(1, chunk, probability or 0.1, Fused(chunk.address, 0.1, {}), probability, signals or {})


def sure(*passages: Passage, near: float | None = None, embedder: str = EMBEDDER, candidates: int = 100) -> float:
    excerpts = [Excerpt(1, "T", TEXT, nearest=near)]
    found = certainty(QUESTION, passages, excerpts, embedder=embedder, candidates=candidates).probability
    assert found is not None
    return found


def test_likely_and_near_passages_make_sure_unlikely_and_distant_ones_do_not() -> None:
    assert sure(passage(0.95, OF_FUSED), near=0.9) > 0.9
    assert sure(passage(0.02, OF_FUSED), near=0.55) < 0.1


def test_all_passages_count_not_only_the_first() -> None:
    one = passage(0.4, OF_FUSED)
    assert sure(one, one, one, near=0.75) > sure(one, near=0.75)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_likelier_passage_never_makes_less_sure(one: float, other: float, near: float) -> None:
    low, high = (sure(passage(p, OF_FUSED), near=near) for p in sorted((one, other)))
    assert 0 <= low <= high <= 1


def test_without_a_reranker_no_more_is_claimed_than_nearness_and_words_support() -> None:
    assert sure(passage(None), near=0.9) > 0.6
    assert sure(passage(None), near=0.55) < 0.1


def test_what_another_reranker_says_can_only_make_less_sure() -> None:
    alone = sure(passage(None), near=0.8)
    assert sure(passage(0.999), near=0.8) == alone
    assert sure(passage(0.05), near=0.8) == 0.05


def test_the_numbers_of_one_embedder_are_not_used_for_another() -> None:
    one = passage(0.99, {**OF_FUSED, "similarity": 0.99})
    assert sure(one, near=0.99, embedder="another") == sure(passage(None), embedder="another")
    assert sure(one, near=0.99, embedder="another") < sure(one, near=0.99)


def test_among_few_candidates_none_of_which_can_stand_out_the_nearest_sentence_tells() -> None:
    one = passage(0.03, OF_FUSED)
    assert sure(one, near=0.9, candidates=9) == sure(passage(None), near=0.9)
    assert sure(one, near=0.9, candidates=9) > sure(one, near=0.9)
    assert sure(one, candidates=9) == sure(one)


def test_without_vectors_the_rerankers_word_still_counts() -> None:
    assert sure(passage(0.9, OF_FUSED), embedder="another") > sure(passage(0.1, OF_FUSED), embedder="another")


def test_words_alone_tell_something() -> None:
    assert sure(passage(None)) == 0.75
    assert sure(passage(None, text="Cats purr at night.")) < 0.1


def test_nothing_found_is_certainly_no_evidence() -> None:
    assert certainty(QUESTION, (), ()).probability == 0.0


def test_where_nothing_can_tell_nothing_is_claimed() -> None:
    assert certainty("?!", [passage(None)], ()).probability is None


def test_words_that_no_passage_has_in_any_form_are_missing_as_the_question_spells_them() -> None:
    found = certainty("Do aspirins cure Alzheimer's disease in Basel?", [passage(0.5)], ())
    assert found.missing == ("cure", "Alzheimer's", "disease", "Basel")
    assert certainty(QUESTION, [passage(0.5)], ()).missing == ()


def test_a_word_in_the_title_is_spoken_of() -> None:
    assert certainty("aspirin and pains", [passage(0.5)], ()).missing == ()


def test_what_is_missing_is_named_briefly() -> None:
    question = " ".join(f"word{number}" for number in range(50))
    assert len(certainty(question, [passage(0.5)], ()).missing) == 5


@pytest.mark.parametrize(
    ("probability", "word"),
    [
        (1.0, Confidence.HIGH),
        (0.8, Confidence.HIGH),
        (0.79, Confidence.MEDIUM),
        (0.6, Confidence.MEDIUM),
        (0.4, Confidence.LOW),
        (0.39, Confidence.INSUFFICIENT),
        (None, Confidence.INSUFFICIENT),
    ],
)
def test_levels(probability: float | None, word: Confidence) -> None:
    assert level(probability) == word


def test_every_case_has_its_numbers_and_no_evidence_counts_against_an_answer() -> None:
    models = module._models()
    assert {name: set(model.weights) for name, model in models.items()} == dict(module.MODELS)
    assert all(weight > 0 for model in models.values() for weight in model.weights.values())
