"""Whatever way a model writes, each of its statements is heard once, with what it rests on."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.answer.said import Said, read


def heard(text: str) -> list[Said]:
    return list(read([text]))


HARD = "Granite is hard."


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("Granite is hard. [1]", (1,)),
        ("Granite is hard [1].", (1,)),
        ("Granite is hard.[1]", (1,)),
        ("Granite is hard. [1] [3] [1]", (1, 3)),
        ("Granite is hard. [1][2]", (1, 2)),
        ("Granite is hard [1, 2].", (1, 2)),
        ("Granite is hard [1; 2 and 4].", (1, 2, 4)),
        ("Granite is hard. [1-3]", (1, 2, 3)),
        ("Granite is hard. [1–3]", (1, 2, 3)),
        ("Granite is hard. [[2]]", (2,)),
        ("Granite is hard. [^2]", (2,)),
        ("Granite is hard. 【2】", (2,)),
        ("Granite is hard. (2)", (2,)),
        ("Granite is hard (1, 2).", (1, 2)),
        ("Granite is hard [Excerpt 1].", (1,)),
        ("Granite is hard. [Source 2]", (2,)),
        ("Granite is hard. [Sources 2 and 3]", (2, 3)),
        ("Granite is hard. (Excerpt 3)", (3,)),
        ("Granite is hard.¹", (1,)),
        ("Granite is hard.²˒³", (2, 3)),
        ("Granite is hard. <sup>2</sup>", (2,)),
        ("Granite is hard. [1](https://example.org/page)", (1,)),
        ("Granite is hard.\n[1]", (1,)),
        ("Granite is hard.\n\n(Source 2)\n", (2,)),
        ("[2] Granite is hard.", (2,)),
        ("According to Excerpt 2, granite is hard.", (2,)),
        ("Based on the provided excerpts, granite is hard. [1]", (1,)),
        ("- Granite is hard. [1]", (1,)),
        ("* **Granite** is hard. [1]", (1,)),
        ("2. Granite is hard. [1]", (1,)),
        ("2) **Granite is hard.** [1]", (1,)),
        ("> Granite is hard. [1]", (1,)),
        ("Answer: Granite is hard. [1]", (1,)),
        ("The excerpt is: Granite is hard. [1]", (1,)),
        ("The answer is: Granite is hard. [1]", (1,)),
        ("**Answer:** Granite is hard. [1]", (1,)),
        ("Sure! Granite is hard. [1]", (1,)),
        ("Sure, here is the answer:\n\nGranite is hard. [1]\n", (1,)),
        ("# Hardness\n\n---\n**Findings**\nGranite is hard. [1]", (1,)),
        ("<think>It melts. [4]\nDoes it?</think>\nGranite is hard. [1]", (1,)),
        ("<Think>İİ: it melts. [4]</THINK>Granite is hard. [1]", (1,)),
        ("```\nGranite is hard. [1]\n```", (1,)),
        ("<p>Granite is hard. [1]</p><br/>", (1,)),
        ('{"answer": "Granite is hard. [1]"}', (1,)),
        ('{\n  "answer": "Granite is hard. [1]",\n  "confidence": 0.9\n}', (1,)),
        ('```json\n{"statements": [{"text": "Granite is hard.", "citations": [1, 2]}]}\n```', (1, 2)),
        ("\x1b[31mGranite\x1b[0m is \x07hard. [1]\x1b]0;title\x07", (1,)),
        ("Granite is hard. [1]<|im_end|>", (1,)),
        ("Granite is hard.", ()),
    ],
)
def test_a_statement_and_what_it_rests_on_are_told_apart_in_whatever_form(
    written: str, numbers: tuple[int, ...]
) -> None:
    assert heard(written) == [(HARD, numbers)]


@pytest.mark.parametrize(
    "written",
    [
        "Granite is hard. [1] Basalt is dark. [2]",
        "Granite is hard [1]. Basalt is dark [2].",
        "Granite is hard.[1] Basalt is dark.[2]",
        "Granite is hard. (1) Basalt is dark. (2)",
        "1. Granite is hard. [1]\n2. Basalt is dark. [2]",
        "Granite is hard.\n[1]\nBasalt is dark.\n[2]",
        "Granite is hard. [1]\r\nBasalt is dark. [2]",
    ],
)
def test_statements_are_parted_with_line_breaks_and_without(written: str) -> None:
    assert heard(written) == [(HARD, (1,)), ("Basalt is dark.", (2,))]


def test_sentences_with_marks_behind_the_last_are_one_statement_until_they_are_taken_apart() -> None:
    (said,) = read(["Granite is hard, e.g. in walls. It melts at 1.5 times that. [2]\n"])
    assert said == Said("Granite is hard, e.g. in walls. It melts at 1.5 times that.", (2,))
    assert said.parts == (Said("Granite is hard, e.g. in walls.", (2,)), Said("It melts at 1.5 times that.", (2,)))


def test_marks_within_a_sentence_stay_until_it_is_taken_apart() -> None:
    """They may be the source's own: `as shown in [12]`."""
    (said,) = read(["As shown in [12], granite is hard. [1]\n"])
    assert said == Said("As shown in [12], granite is hard.", (1,))
    assert said.parts == (Said("Granite is hard.", (12, 1)),)
    (said,) = read(["Granite [2] is hard, and dark (Source 3) too. [1]\n"])
    assert said.parts == (Said("Granite is hard, and dark too.", (2, 3, 1)),)


@pytest.mark.parametrize(
    "written", ["An area of 10 m².", "In 2019 (see below) it was 5 mg.", "If a<b and c>d it holds."]
)
def test_what_only_looks_like_a_mark_or_tag_stays(written: str) -> None:
    assert heard(written) == [(written, ())]


@pytest.mark.parametrize(
    "written",
    ["", "\n\n", "[1]", "Here are the findings:", "# Only a heading", "<think>for ever and", "* * *", "```", "|a|b|"],
)
def test_what_is_no_statement_is_not_heard(written: str) -> None:
    assert heard(written) == []


def test_a_statement_is_heard_before_the_next_one_is_said() -> None:
    def stream() -> Iterator[str]:
        yield "Granite is hard. [1] B"
        raise AssertionError("asked for more")

    assert next(read(stream())) == Said(HARD, (1,))


def test_what_was_said_before_is_not_heard_again_and_who_repeats_himself_is_left() -> None:
    pulled = 0

    def stream() -> Iterator[str]:
        nonlocal pulled
        for _ in itertools.count():
            pulled += 1
            yield "Granite is hard. [1]\n"

    assert list(read(stream())) == [Said(HARD, (1,))]
    assert pulled < 10


@pytest.mark.parametrize(
    "endless", ["very ", "Granite is hard. ", "x", "[", "<", "Is it? [1] ", "\n", "<think>", "{", "¹"]
)
def test_who_never_comes_to_an_end_is_left_or_needs_no_room(endless: str) -> None:
    said = list(read(itertools.repeat(endless, 20_000)))
    assert len(said) <= 2
    assert sum(len(one.text) for one in said) <= 4000


PIECES = r"""Granite is hard|3.5 mg e.g. Basalt|.|. | [1]|[2, 3]|(Excerpt 4)|**|<think>|</think>"""
MORE = r"""¹|{|"answer": "|"|- |1. |<|。|】|[|# """
TEXT = st.lists(
    st.sampled_from([*PIECES.split("|"), *MORE.split("|"), "\n", "\x1b[1m", "x" * 700, " It was so. " * 60]),
    max_size=12,
)


@given(TEXT.map("".join), st.data())
def test_a_stream_cut_anywhere_says_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]
    assert list(read(pieces)) == list(read([text])) == list(read(text))


def test_a_thought_right_after_another_is_not_heard_either_wherever_the_stream_is_cut() -> None:
    text = "<think>It melts.</think><think>It melts late, or does it? [2]</think>Granite is hard. [1]"
    for cut in range(len(text)):
        assert list(read([text[:cut], text[cut:]])) == [Said(HARD, (1,))]


@given(st.text(max_size=300))
def test_nothing_that_is_heard_can_move_a_cursor_or_break_a_line(text: str) -> None:
    for said in read([text]):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", said.text)
        assert said.text == said.text.strip() != ""
