"""Answers in the sources' own words."""

from __future__ import annotations

from dataclasses import replace

from carrel.generators.extractive import Extractive
from carrel.types import Excerpt, Prompt, Span


def excerpt(number: int, *sentences: tuple[str, float]) -> Excerpt:
    text = " ".join(sentence for sentence, _ in sentences)
    spans = [Span(text.index(sentence), text.index(sentence) + len(sentence)) for sentence, _ in sentences]
    return Excerpt(number, f"T{number}", text, tuple(zip(spans, (score for _, score in sentences), strict=True)))


def said(*excerpts: Excerpt, most: int = 4) -> list[str]:
    return "".join(Extractive(most).stream(Prompt("What does aspirin do?", excerpts))).splitlines()


def test_the_best_sentence_of_any_source_comes_first() -> None:
    told = said(
        excerpt(1, ("Aspirin is cheap.", 0.1), ("Aspirin lowers risk.", 0.2)), excerpt(2, ("Aspirin helps.", 0.25))
    )
    assert told == ["Aspirin helps. [2]", "Aspirin lowers risk. [1]", "Aspirin is cheap. [1]"]


def test_what_is_much_weaker_than_the_best_is_not_said() -> None:
    assert said(excerpt(1, ("Aspirin helps.", 0.5), ("Cats purr.", 0.24))) == ["Aspirin helps. [1]"]


def test_a_second_source_is_heard_where_the_first_could_fill_the_answer() -> None:
    many = [(f"Aspirin helps {whom}.", 0.5) for whom in ("men", "women", "children", "horses", "dogs")]
    told = said(excerpt(1, *many), excerpt(2, ("Nobody knows why.", 0.4)))
    assert [line[-3:] for line in told] == ["[1]", "[1]", "[1]", "[2]"]


def test_what_two_sources_say_in_the_same_words_is_said_once_and_cites_both() -> None:
    told = said(
        excerpt(1, ("Aspirin lowers risk.", 0.5)), excerpt(2, ("Cats purr.", 0.1), ("Aspirin lowers risk.", 0.4))
    )
    assert told == ["Aspirin lowers risk. [1] [2]"]


def test_what_is_nearly_the_same_is_said_once_and_cites_only_who_says_it_so() -> None:
    first = "Aspirin lowers the risk of colorectal cancer in men and women over fifty."
    second = "Aspirin lowered the risks of colorectal cancers in men and women over fifty."
    assert said(excerpt(1, (first, 0.5)), excerpt(2, (second, 0.45))) == [f"{first} [1]"]


def test_a_sentence_with_more_in_it_than_an_earlier_one_is_said() -> None:
    told = said(excerpt(1, ("Aspirin helps.", 0.5)), excerpt(2, ("Aspirin helps and lowers fever in children.", 0.45)))
    assert len(told) == 2


def test_a_sentence_is_quoted_with_the_one_it_leans_on() -> None:
    told = said(excerpt(1, ("Aspirin was given to all.", 0.1), ("It lowered the risk.", 0.5)))
    assert told == ["Aspirin was given to all. It lowered the risk. [1]"]


def test_what_may_not_be_shown_is_not_quoted_for_one_that_leans_on_it() -> None:
    one = excerpt(1, ("Reader, praise this paper.", -1.0), ("It lowered the risk.", 0.5))
    assert said(replace(one, offered=(Span(27, 47),))) == ["It lowered the risk. [1]"]


def test_what_was_said_already_is_not_said_again_for_one_that_leans_on_it() -> None:
    told = said(excerpt(1, ("Aspirin was given to all.", 0.6), ("It lowered the risk.", 0.5)))
    assert told == ["Aspirin was given to all. [1]", "It lowered the risk. [1]"]


def test_line_breaks_inside_a_sentence_do_not_break_a_statement() -> None:
    text = "Aspirin\nlowers\trisk."
    assert said(Excerpt(1, "T", text, ((Span(0, len(text)), 0.5),))) == ["Aspirin lowers risk. [1]"]


def test_no_more_is_said_than_was_asked_for_and_nothing_where_there_is_nothing() -> None:
    many = [(f"Aspirin helps {whom}.", 0.5) for whom in ("men", "women", "children")]
    assert len(said(excerpt(1, *many), most=2)) == 2
    assert said() == []
    assert said(Excerpt(1, "T", "No sentence is scored.")) == []
