from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import sentences
from carrel.types import Span


def texts(found: list[Span], text: str) -> list[str]:
    return [text[span.start : span.end] for span in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        (
            "As in Fig. 3, e.g. Smith et al. (2020) do so. Next.",
            ["As in Fig. 3, e.g. Smith et al. (2020) do so.", "Next."],
        ),
        ("It gained 3.5 points. Good.", ["It gained 3.5 points.", "Good."]),
        ("J. Smith wrote it. Then left.", ["J. Smith wrote it.", "Then left."]),
        ('He said "no." Then "yes."', ['He said "no."', 'Then "yes."']),
        ("第一句。第二句！第三句", ["第一句。", "第二句！", "第三句"]),
        ("One\n\nTwo", ["One", "Two"]),
        ("no stop at the end", ["no stop at the end"]),
        ("", []),
    ],
)
def test_a_text_is_split_where_its_sentences_end(text: str, expected: list[str]) -> None:
    assert texts(sentences.spans(text), text) == expected


@given(st.text(alphabet="ab .!?\n。A1\"'()", max_size=200))
def test_sentences_cover_all_but_white_space_in_order_and_without_overlap(text: str) -> None:
    found = sentences.spans(text)
    assert "".join("".join(piece.split()) for piece in texts(found, text)) == "".join(text.split())
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_prose_leaves_out_headings_code_formulas_tables_and_list_markers() -> None:
    text = (
        "## Heading here\nFirst sentence. Second one.\n\n```python\nx = 1. Y = 2.\n\nz = 3\n```\n\n$$\na. B\n$$\n\n"
        "| a. B | c |\n|---|---|\n\n- An item. It goes on\n  over a line.\n- Another item\n\n1. Numbered.\n\nLast."
    )
    assert texts(sentences.prose(text), text) == [
        "First sentence.",
        "Second one.",
        "An item.",
        "It goes on\n  over a line.",
        "Another item",
        "Numbered.",
        "Last.",
    ]


@pytest.mark.parametrize(
    ("text", "sentence", "whole"),
    [
        ("Rats sleep. It helps them.", "It helps them.", "Rats sleep. It helps them."),
        ("Rats sleep.\nHowever, cats do not.", "However, cats do not.", "Rats sleep.\nHowever, cats do not."),
        ("Rats sleep. In this way they rest.", "In this way they rest.", "Rats sleep. In this way they rest."),
        ("Rats sleep. In this paper we ask why.", "In this paper we ask why.", "In this paper we ask why."),
        ("Rats sleep. These results are new.", "These results are new.", "These results are new."),
        ("Rats sleep. Cats purr.", "Cats purr.", "Cats purr."),
        ("Rats sleep.\n\n# Next\n\nIt helps them.", "It helps them.", "It helps them."),
        ("It helps them. Rats sleep.", "It helps them.", "It helps them."),
        (f"{'Rats sleep and ' * 60}rest. It helps them.", "It helps them.", "It helps them."),
    ],
)
def test_a_sentence_that_leans_on_the_one_before_it_is_not_whole_alone(text: str, sentence: str, whole: str) -> None:
    start = text.index(sentence)
    found = sentences.whole(text, Span(start, start + len(sentence)))
    assert text[found.start : found.end] == whole
