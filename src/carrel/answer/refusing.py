"""The honest word that the evidence does not suffice, and how close the library came."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from carrel.types import Certainty, Passage

INSUFFICIENT = "The library does not hold sufficient evidence to answer this question."
NEAR_MISSES = 3
_LONGEST_QUESTION = 200
_LONGEST_TITLE = 100
_LONGEST_WORD = 40


def refusal(
    question: str, passages: Sequence[Passage], certainty: Certainty, threshold: float, *, unproved: int = 0
) -> str:
    """What was looked for, how near the nearest passages are, and what is missing.

    `unproved` counts the sentences that were said and not believed. Question and titles are foreign text, and shown
    as one line each.
    """
    asked = _quoted(question, _LONGEST_QUESTION)
    if not passages:
        return f"{INSUFFICIENT} No passage was found for {asked}. A filter, if one is set, may leave out what fits."
    parts = [INSUFFICIENT, _verdict(asked, certainty.probability, threshold, unproved), _nearest(passages)]
    if certainty.missing:
        listed = _listed([_quoted(word, _LONGEST_WORD) for word in certainty.missing], "or")
        parts.append(f"None of the passages found speaks of {listed}.")
    return " ".join(parts)


def _verdict(asked: str, probability: float | None, threshold: float, unproved: int) -> str:
    if unproved:
        said = "the one sentence" if unproved == 1 else f"any of the {unproved} sentences"
        return f"Passages were found for {asked}, but nothing in them proves {said} written about them."
    if probability is None:
        return f"Passages were found for {asked}, but nothing could tell how relevant they are."
    if probability >= threshold:
        return f"Passages were found for {asked}, but no answer in them."
    return (
        f"What was found for {asked} holds an answer with a probability of {probability:.2f}; "
        f"{threshold:.2f} is asked for."
    )


def _nearest(passages: Sequence[Passage]) -> str:
    """Titles with their scores; no score where no reranker has given one, as fusion's compare with nothing."""
    shown = [
        _quoted(one.chunk.title or one.chunk.paper_id, _LONGEST_TITLE)
        + (f" ({one.probability:.2f})" if one.probability is not None else "")
        for one in passages[:NEAR_MISSES]
    ]
    distinct = list(dict.fromkeys(shown))
    return f"Nearest {'is' if len(distinct) == 1 else 'are'} {_listed(distinct, 'and')}."


def _listed(names: Sequence[str], last: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _quoted(text: str, longest: int) -> str:
    return f"“{_cut(' '.join(_visible(text).split()), longest)}”"


def _visible(text: str) -> str:
    """Without what could move the cursor, turn the line around, or hide."""
    return "".join(_blank_or(character) for character in text)


def _blank_or(character: str) -> str:
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith("C") else character


def _cut(text: str, longest: int) -> str:
    """At a blank if there is one in the second half."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    blank = cut.rfind(" ")
    return f"{cut[:blank] if blank > longest // 2 else cut}…"
