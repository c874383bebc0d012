"""Results fit, and their pages together are the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel import cursors, registry
from carrel.mcp import budget
from tests.mcp.conftest import LONG

TEXTS = st.text(st.characters(codec="utf-8"), max_size=400)


@given(TEXTS, st.integers(8, 60))
def test_the_pieces_of_a_text_fit_and_are_the_text(text: str, most: int) -> None:
    parts = budget.pieces(text, most)
    assert "".join(parts) == text
    assert all(budget.tokens(part) <= most for part in parts)


@given(TEXTS, st.integers(8, 60))
def test_what_is_cut_is_a_beginning_of_the_text(text: str, most: int) -> None:
    shown = budget.cut(text, most)
    assert shown == text or (shown.endswith(" […]") and text.startswith(shown.removesuffix(" […]")))
    assert budget.tokens(shown) <= most + 4


@given(st.lists(st.text("abc", min_size=1, max_size=30), max_size=40, unique=True), st.integers(1, 80))
def test_pages_that_fit_have_everything_once_in_order(names: list[str], most: int) -> None:
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = budget.fitted(cursors.opened(cursor, of="names"), names, str, budget.tokens, most)
        assert len(page.items) <= 1 or sum(map(budget.tokens, page.items)) <= most
        seen += page.items
        cursor = page.next_cursor
    assert seen == names


def test_an_excerpt_has_the_sentences_that_the_query_is_about() -> None:
    shown = budget.excerpt(LONG, "slate number 377 of layer 377", 200)
    assert "Layer 377 of the quarry" in shown
    assert shown.startswith("[…] ")
    assert shown.endswith(" […]")
    assert shown.removeprefix("[…] ").removesuffix(" […]") in LONG
    assert 120 < budget.tokens(shown) <= 206


def test_an_excerpt_of_a_text_without_sentences_is_its_beginning() -> None:
    assert budget.excerpt("x" * 1000, "y", 10) == f"{'x' * 36} […]"


@pytest.mark.parametrize("text", [LONG, '{"a":[1.25,-3.5e7,"x_{i}^2"]},' * 100], ids=["English", "JSON"])
def test_the_estimate_is_near_what_a_tokenizer_counts(text: str) -> None:
    [counted] = registry.make("embedders", "granite").count_tokens([text])
    assert 0.7 * counted < budget.tokens(text) < 1.7 * counted


def test_a_letter_of_another_script_counts_as_a_token() -> None:
    assert budget.tokens("岩石很硬。" * 200) == 1001
