"""A refusal says what was looked for, how close the library came, and what is missing."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from carrel.answer.refusing import INSUFFICIENT, refusal
from carrel.types import Certainty, Chunk, ChunkKind, Fused, Part, Passage


def passage(title: str, probability: float | None) -> Passage:
    chunk = Chunk("p/abstract", "p", Part.ABSTRACT, ChunkKind.ABSTRACT, "Text.", 0, 5, title=title)
    return Passage(1, chunk, probability or 3.0, Fused(chunk.address, 3.0, {}), probability)


TWO = (passage("On cats", 0.21), passage("On dogs", 0.04))


def test_it_names_the_question_the_nearest_passages_and_what_is_missing() -> None:
    told = refusal("Do horses purr?", TWO, Certainty(0.123, ("horses", "purr")), 0.4)
    assert told == (
        f"{INSUFFICIENT} What was found for “Do horses purr?” holds an answer with a probability of 0.12; 0.40 is "
        "asked for. Nearest are “On cats” (0.21) and “On dogs” (0.04). None of the passages found speaks of “horses” "
        "or “purr”."
    )


def test_where_nothing_is_missing_nothing_is_said_of_it() -> None:
    told = refusal("Do cats purr?", TWO[:1], Certainty(0.3), 0.4)
    assert told.endswith("Nearest is “On cats” (0.21).")


def test_nothing_found_at_all() -> None:
    told = refusal("Do horses purr?", (), Certainty(0.0, ("horses",)), 0.4)
    assert told == (
        f"{INSUFFICIENT} No passage was found for “Do horses purr?”. A filter, if one is set, may leave out what fits."
    )


def test_where_nothing_could_tell_no_score_is_invented() -> None:
    told = refusal("?", (passage("On cats", None),), Certainty(None), 0.4)
    assert told == (
        f"{INSUFFICIENT} Passages were found for “?”, but nothing could tell how relevant they are. "
        "Nearest is “On cats”."
    )


def test_sentences_that_could_not_be_proved_are_counted() -> None:
    one, many = (refusal("Do cats purr?", TWO, Certainty(0.9), 0.4, unproved=count) for count in (1, 7))
    assert "but nothing in them proves the one sentence written about them" in one
    assert "but nothing in them proves any of the 7 sentences written about them" in many
    assert "probability" not in one


def test_passages_of_one_paper_are_named_once_and_untitled_ones_by_their_paper() -> None:
    told = refusal("q", (passage("On cats", 0.2), passage("On cats", 0.2), passage("", 0.1)), Certainty(0.1), 0.4)
    assert "Nearest are “On cats” (0.20) and “p” (0.10)." in told


@given(st.text(max_size=500), st.text(max_size=500), st.lists(st.text(max_size=100), max_size=5))
def test_foreign_text_stays_on_its_line_within_bounds_and_cannot_steer_a_terminal(
    question: str, title: str, words: list[str]
) -> None:
    told = refusal(question, (passage(title, 0.1),) * 3, Certainty(0.1, tuple(words)), 0.4)
    assert told.startswith(INSUFFICIENT)
    assert not any(unicodedata.category(character).startswith("C") for character in told)
    assert len(told.splitlines()) == 1
    assert len(told) < 1000


def test_long_titles_are_cut_at_a_word() -> None:
    told = refusal("q", (passage("word " * 60, 0.1),), Certainty(0.1), 0.4)
    assert "word word…”" in told
